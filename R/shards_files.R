# Files of shards(): cells, which kernels read, and the rows' names and covariates beside them. Each file ends with a
# checksum, of cells with the file's name, so that none passes for another. It is written beside its place and renamed,
# so that what has its name is whole. Tests: test-shards.R.

shard_mark <- charToRaw("MCSHARD1")

# Vectors of integers or doubles, one after another, each after its length; the checksum last.
write_vectors <- function(vectors, file) {
  part <- tempfile(paste0(basename(file), "-"), dirname(file), ".part") # workers may write the same file at a time
  on.exit(unlink(part))
  write_to(part, "wb", function(con) {
    writeBin(shard_mark, con)
    for (vector in vectors) {
      writeBin(c(if (is.double(vector)) 2L else 1L, length(vector)), con, endian = "little")
      writeBin(as.vector(vector), con, endian = "little")
    }
  })
  size <- length(shard_mark) + sum(8 + lengths(vectors) * ifelse(vapply(vectors, is.double, NA), 8, 4))
  written <- file.size(part) == size
  sum <- named_sum(file, read_sum(part, size)$sum)
  write_to(part, "ab", function(con) writeBin(charToRaw(sum), con))
  if (!written || file.size(part) != size + nchar(sum) || !file.rename(part, file)) stop_unwritten(file)
  sum
}

named_sum <- function(file, sum) cli::hash_md5(paste(basename(file), sum))

# Neither writing nor closing is sure to tell that a disk is full: the size of the file does.
append_bytes <- function(bytes, file) {
  size <- sum(file.size(file), length(bytes), na.rm = TRUE)
  catch_error(suppressWarnings(write_to(file, "ab", function(con) writeBin(bytes, con))), function(e) NULL)
  if (!identical(file.size(file), size)) stop_unwritten(file)
}

stop_unwritten <- function(file) {
  stop("the file ", dQuote(file, FALSE), " could not be written whole: is the disk full?", call. = FALSE)
}

# `sum`: the checksum it must have; NULL: its own.
read_vectors <- function(file, n, sum = NULL) {
  size <- file.size(file)
  if (is.na(size)) stop_lost_file(file)
  body <- size - nchar(cli::hash_md5(""))
  if (body < length(shard_mark)) stop_shard_file(file, "was cut off")
  found <- read_sum(file, body)
  own <- named_sum(file, found$sum)
  whole <- identical(found$rest, charToRaw(own)) && (is.null(sum) || identical(own, sum))
  if (!whole) stop_shard_file(file, "was cut off or changed after it was written")
  con <- file(file, "rb")
  on.exit(close(con))
  readBin(con, "raw", length(shard_mark))
  lapply(seq_len(n), function(i) {
    head <- readBin(con, "integer", 2L, endian = "little")
    readBin(con, if (head[1L] == 2L) "double" else "integer", head[2L], endian = "little")
  })
}

# What is wrong with a file is wrong wherever it is read: no other worker is asked.
stop_shard_file <- function(file, what, remedy = "make the shards, or the fit, anew") {
  stop(errorCondition(
    sprintf("The file %s %s: %s.", dQuote(file, FALSE), what, remedy),
    class = "multicause_shard_damaged", call = NULL
  ))
}

stop_lost_file <- function(file) {
  stop_shard_file(
    file, "is not there", "put it back, or make the shards or the fit anew; workers must see the same folders"
  )
}

shard_file <- function(path, i, what) {
  file.path(path, sprintf("%s-%05d.%s", what, i, if (what == "rows") "rds" else "bin"))
}

# One shard: view as of data_view(), rows = list(names, along).
write_shard <- function(path, i, view, rows) {
  cells <- list(view$dim, view$start, view$column, view$na_start, view$na_column)
  cells <- lapply(cells, function(part) if (is.null(part)) integer() else part)
  md5 <- write_vectors(cells, shard_file(path, i, "cells"))
  file <- shard_file(path, i, "rows")
  write_whole(rows, file)
  n_missing <- length(view$na_column)
  data.frame(
    shard = i, rows = view$dim[1L], ones = length(view$column), missing = n_missing, cells = md5,
    names = unname(tools::md5sum(file))
  )
}

read_shard_view <- function(path, i, sum) {
  parts <- read_vectors(shard_file(path, i, "cells"), 5L, sum)
  names(parts) <- c("dim", "start", "column", "na_start", "na_column")
  view <- c(parts[1:3], list(value = NULL), parts[4:5])
  if (!length(view$na_start)) view[c("na_start", "na_column")] <- list(NULL)
  view
}

# Names and covariates of a shard's rows.
read_shard_rows <- function(x, i) {
  file <- shard_file(x$path, i, "rows")
  if (!file.exists(file)) stop_lost_file(file)
  if (!identical(unname(tools::md5sum(file)), x$shards$names[i])) {
    stop_shard_file(file, "was cut off or changed after it was written")
  }
  read_whole(file)
}

# Names of all rows, or NULL.
shard_names <- function(x) unlist(lapply(x$shards$shard, function(s) read_shard_rows(x, s)$names))

# The cells of a shard as a sparse matrix, missing ones NA, with names.
shard_matrix <- function(x, i) {
  view <- read_shard_view(x$path, i, x$shards$cells[i])
  rows <- function(start) rep.int(seq_len(view$dim[1L]), diff(start))
  Matrix::sparseMatrix(
    i = c(rows(view$start), if (!is.null(view$na_start)) rows(view$na_start)),
    j = c(view$column, view$na_column) + 1L, x = rep(c(1, NA), c(length(view$column), length(view$na_column))),
    dims = view$dim, dimnames = list(read_shard_rows(x, i)$names, x$attributes)
  )
}

manifest_file <- function(path) file.path(path, "manifest.rds")
unfinished_file <- function(path) file.path(path, "unfinished")

shards_format <- 2L

# Opens a folder that shards() has finished.
open_shards <- function(path) {
  if (!file.exists(manifest_file(path))) {
    stop_input(
      "%s must be a folder that shards() has finished: it has no manifest%s.", dQuote(path, FALSE),
      if (file.exists(unfinished_file(path))) ", because writing it was interrupted. Make it anew" else ""
    )
  }
  manifest <- read_whole(manifest_file(path))
  if (is_damaged(manifest)) stop_shard_file(manifest_file(path), "was cut off or changed after it was written")
  if (!identical(manifest$format, shards_format)) {
    stop_input("%s was written in format %s of shards(), this version reads %d: make it anew.", dQuote(path, FALSE),
      format(manifest$format), shards_format)
  }
  new_shards(path, manifest)
}

new_shards <- function(path, manifest) {
  sizes <- file.size(shard_file(path, manifest$shards$shard, "cells"))
  if (anyNA(sizes)) stop_lost_file(shard_file(path, which(is.na(sizes))[1L], "cells"))
  structure(c(list(path = normalizePath(path)), manifest), class = "shards")
}

# Makes a folder where there is none; `name`: of the argument that names it.
make_folder <- function(path, name) {
  if (!dir.exists(path) && !dir.create(path, showWarnings = FALSE)) {
    why <- if (file.exists(path)) "is a file"
    if (!dir.exists(dirname(path))) why <- sprintf("cannot, as there is no folder %s", dQuote(dirname(path), FALSE))
    if (is.null(why)) why <- "cannot: may you write there?"
    stop_input("`%s` must be a folder that can be made: %s %s.", name, dQuote(path, FALSE), why)
  }
}

# An empty folder for shards: what was begun there and not finished is removed, and nothing else.
prepare_folder <- function(path) {
  if (file.exists(manifest_file(path))) {
    stop_input("`path` must be a new folder: %s holds shards already. shards(%s) opens them.", dQuote(path, FALSE),
      dQuote(path, FALSE))
  }
  if (dir.exists(path) && file.exists(unfinished_file(path))) {
    unlink(bucket_folder(path), recursive = TRUE)
    ours <- list.files(path, "^(cells|rows)-[0-9]+[.](bin|rds)|[.]part$|^unfinished$")
    unlink(file.path(path, ours))
  }
  if (length(other <- list.files(path, all.files = TRUE, no.. = TRUE))) {
    stop_input("`path` must be a new or empty folder: %s holds other files, %s.", dQuote(path, FALSE),
      show_names(other))
  }
  make_folder(path, "path")
  if (!file.create(unfinished_file(path), showWarnings = FALSE)) {
    stop_input("`path` must be a folder that can be written to: %s cannot.", dQuote(path, FALSE))
  }
}

bucket_folder <- function(path) file.path(path, "buckets")

# The manifest comes last: what has one is whole.
finish_folder <- function(path, tables, attributes, margins, along) {
  shards <- do.call(rbind, tables)
  manifest <- list(
    format = shards_format, version = as.character(utils::packageVersion("multicause")),
    dims = c(n = sum(as.double(shards$rows)), m = length(margins$sum)), attributes = attributes, shards = shards,
    column_sum = margins$sum, column_missing = margins$missing, along = along
  )
  unlink(bucket_folder(path), recursive = TRUE)
  write_whole(manifest, manifest_file(path))
  unlink(unfinished_file(path))
  new_shards(path, manifest)
}
