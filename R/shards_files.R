# Files of shards(): cells, which kernels read, and the rows' names and covariates beside them. Each file ends with a
# checksum, of cells with the file's name, so that none passes for another. It is written beside its place and renamed,
# so that what has its name is whole. Tests: test-shards.R.

shard_mark <- charToRaw("MCSHARD1")

# Vectors of integers or doubles, one after another, each after its length; the checksum last.
write_vectors <- function(vectors, file) {
  part <- tempfile(paste0(basename(file), "-"), dirname(file), ".part") # workers may write the same file at a time
  on.exit(remove_files(part))
  write <- function() {
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
    if (written && file.size(part) == size + nchar(sum) && file.rename(part, file)) sum
  }
  # R warns of a full disk when it closes a file, before the size tells.
  sum <- catch_error(suppressWarnings(write()), function(e) NULL)
  if (is.null(sum)) stop_unwritten(file)
  sum
}

# The checksum of the first `size` bytes of a file, and the bytes that follow. In pieces: a file may be larger than a
# vector of bytes should be.
read_sum <- function(file, size) {
  con <- file(file, "rb")
  on.exit(close(con))
  sums <- character()
  while (size > 0) {
    piece <- readBin(con, "raw", min(size, 2^24))
    if (!length(piece)) break
    sums <- c(sums, cli::hash_raw_md5(piece))
    size <- size - length(piece)
  }
  list(sum = cli::hash_md5(paste(sums, collapse = "")), rest = readBin(con, "raw", 100L))
}

named_sum <- function(file, sum) cli::hash_md5(paste(basename(file), sum))

# Neither writing nor closing is sure to tell that a disk is full: the size of the file does.
append_bytes <- function(bytes, file, name = file) {
  size <- sum(file.size(file), length(bytes), na.rm = TRUE)
  catch_error(suppressWarnings(write_to(file, "ab", function(con) writeBin(bytes, con))), function(e) NULL)
  if (!identical(file.size(file), size)) stop_unwritten(name)
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
  if (!identical(readBin(con, "raw", length(shard_mark)), shard_mark)) stop_foreign_file(file)
  left <- body - length(shard_mark)
  vectors <- lapply(seq_len(n), function(i) {
    head <- readBin(con, "integer", 2L, endian = "little")
    size <- if (identical(head[1L], 2L)) 8L else 4L
    left <<- left - 8 - size * as.double(head[2L])
    if (!head[1L] %in% 1:2 || !isTRUE(head[2L] >= 0L && left >= 0)) stop_foreign_file(file)
    readBin(con, if (size == 8L) "double" else "integer", head[2L], size, endian = "little")
  })
  if (left != 0) stop_foreign_file(file)
  vectors
}

# The checksum is right, so nothing happened to it: it was made otherwise than by this package.
stop_foreign_file <- function(file, what = "other data") {
  stop_shard_file(file, sprintf("has the right checksum, but holds %s", what))
}

# What is wrong with a file is wrong wherever it is read: no other worker is asked.
stop_shard_file <- function(file, what, remedy = "make the shards, or the fit, anew") {
  stop(errorCondition(
    sprintf("The file %s %s: %s.", dQuote(file, FALSE), what, remedy),
    class = c("multicause_shard_damaged", "multicause_input_error"), call = NULL
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
write_shard <- function(run, i, view, rows) {
  cells <- list(view$dim, view$start, view$column, view$na_start, view$na_column)
  cells <- lapply(cells, function(part) if (is.null(part)) integer() else part)
  file <- shard_file(run$folder, i, "rows")
  check_run(run)
  write_whole(rows, file)
  md5 <- write_vectors(cells, shard_file(run$folder, i, "cells"))
  n_missing <- length(view$na_column)
  data.frame(
    shard = i, rows = view$dim[1L], ones = length(view$column), missing = n_missing, cells = md5,
    names = unname(tools::md5sum(file))
  )
}

# The cells of shard i of x, or of a list with the `path`, `dims` and `shards` of one.
read_shard_view <- function(x, i) {
  at <- match(i, x$shards$shard)
  file <- shard_file(x$path, i, "cells")
  parts <- read_vectors(file, 5L, x$shards$cells[at])
  names(parts) <- c("dim", "start", "column", "na_start", "na_column")
  view <- c(parts[1:3], list(value = NULL), parts[4:5])
  if (!length(view$na_start)) view[c("na_start", "na_column")] <- list(NULL)
  dim <- as.integer(c(x$shards$rows[at], x$dims[["m"]]))
  check_read_view(view, file, dim, c(x$shards$ones[at], x$shards$missing[at]))
  view
}

# Kernels follow the indices wherever they point. `dim` and `size`, of ones and missing cells, are the manifest's.
check_read_view <- function(view, file, dim, size) {
  if (!identical(view$dim, dim)) {
    stop_foreign_file(file, sprintf("another table than the %d x %d cells of its manifest", dim[1L], dim[2L]))
  }
  is_run <- function(start, column, size) {
    is.integer(start) && is.integer(column) && length(column) == size && length(start) == dim[1L] + 1L &&
      identical(start[length(start)], length(column))
  }
  none_missing <- is.null(view$na_start) && is.null(view$na_column) && size[2L] == 0
  fits <- is_run(view$start, view$column, size[1L]) &&
    (none_missing || is_run(view$na_start, view$na_column, size[2L]))
  if (!fits) stop_foreign_file(file, "other numbers of cells than its manifest says")
  wrong <- .Call(mc_c_view_wrong_row, view)
  if (wrong > 0L) stop_foreign_file(file, sprintf("cells of row %d that are not in order or not in the table", wrong))
}

# Names and covariates of a shard's rows.
read_shard_rows <- function(x, i) {
  file <- shard_file(x$path, i, "rows")
  if (!file.exists(file)) stop_lost_file(file)
  at <- match(i, x$shards$shard)
  if (!identical(unname(tools::md5sum(file)), x$shards$names[at])) {
    stop_shard_file(file, "was cut off or changed after it was written")
  }
  rows <- read_list(file, c("names", "along"))
  if (!are_shard_rows(rows, x$shards$rows[at], x$along)) stop_foreign_file(file, "no names and covariates of its rows")
  rows
}

are_shard_rows <- function(rows, n, along) {
  if (!is_bare(rows, "list") || !identical(names(rows), c("names", "along"))) {
    return(FALSE)
  }
  named <- is.null(rows$names) || (is_bare(rows$names, "character") && length(rows$names) == n)
  covariates <- if (is.null(rows$along)) {
    !length(along)
  } else {
    inherits(rows$along, "data.frame") && identical(attr(rows$along, "names"), along) &&
      .row_names_info(rows$along, 2L) == n
  }
  named && covariates
}

# Names of all rows, or NULL.
shard_names <- function(x) unlist(lapply(x$shards$shard, function(s) read_shard_rows(x, s)$names))

# The cells of a shard as a sparse matrix, missing ones NA, with names.
shard_matrix <- function(x, i) {
  view <- read_shard_view(x, i)
  rows <- function(start) rep.int(seq_len(view$dim[1L]), diff(start))
  Matrix::sparseMatrix(
    i = c(rows(view$start), if (!is.null(view$na_start)) rows(view$na_start)),
    j = c(view$column, view$na_column) + 1L, x = rep(c(1, NA), c(length(view$column), length(view$na_column))),
    dims = view$dim, dimnames = list(read_shard_rows(x, i)$names, x$attributes)
  )
}

# Rows by number or name, in the order asked for: f(s, own) gives those of shard s, `own` being where they stand in it.
over_rows <- function(x, i, f) {
  parts <- shard_rows(x, i)
  out <- do.call(rbind, lapply(which(lengths(parts) > 0L), function(s) f(s, parts[[s]])))
  out[match(i, unlist(attr(parts, "key"))), , drop = FALSE]
}

# Where they stand in each shard; `key`: the same, as they were asked for.
shard_rows <- function(x, i) if (is.character(i)) named_rows(x, i) else numbered_rows(x, i)

# Numbers of a shard's rows, in the whole table.
row_numbers <- function(x, shard) sum(as.double(x$shards$rows[seq_len(shard - 1L)])) + seq_len(x$shards$rows[shard])

numbered_rows <- function(x, i) {
  n <- x$dims[["n"]]
  ok <- is.numeric(i) && length(i) && !anyNA(i) && all(i == floor(i) & i >= 1 & i <= n)
  if (!ok) stop_input("`i` must hold names or whole numbers from 1 to %.0f, not %s.", n, show_value(i))
  last <- cumsum(as.double(x$shards$rows))
  shard <- findInterval(i - 1, c(0, last), rightmost.closed = FALSE)
  key <- lapply(seq_along(last), function(s) unique(i[shard == s]))
  parts <- Map(function(own, before) as.integer(own - before), key, c(0, last[-length(last)]))
  structure(parts, key = key)
}

named_rows <- function(x, i) {
  parts <- lapply(seq_len(nrow(x$shards)), function(s) {
    at <- match(unique(i), read_shard_rows(x, s)$names)
    stats::setNames(at, unique(i))[!is.na(at)]
  })
  key <- lapply(parts, names)
  unknown <- setdiff(i, unlist(key))
  if (length(unknown)) stop_input("`i` must hold names that are in the data, and %s is not.", show_names(unknown))
  structure(lapply(parts, unname), key = key)
}

manifest_file <- function(path) file.path(path, "manifest.rds")

# In a folder that is not finished: says which call writes for it.
unfinished_file <- function(path) file.path(path, "unfinished")

shards_format <- 2L

# Opens a folder that shards() has finished.
open_shards <- function(path) {
  file <- manifest_file(path)
  if (!file.exists(file)) {
    stop_input(
      "%s must be a folder that shards() has finished: it has no manifest%s.", dQuote(path, FALSE),
      if (file.exists(unfinished_file(path))) {
        ", because writing it goes on or was interrupted. If no process is at it, make it anew"
      } else {
        ""
      }
    )
  }
  manifest <- read_list(file, "format")
  if (is.null(manifest)) stop_shard_file(file, "was cut off or changed after it was written, or is no manifest")
  if (!identical(manifest$format, shards_format)) {
    stop_input("%s was written in format %s of shards(), this version reads %d: make it anew.", dQuote(path, FALSE),
      show_value(manifest$format), shards_format)
  }
  wrong <- wrong_in_manifest(manifest)
  if (length(wrong)) stop_foreign_file(file, sprintf("`%s` that is none of a manifest", wrong[1L]))
  new_shards(path, manifest[names(manifest_rules)])
}

# A value of this type without a class: nothing that is done with it calls a method.
is_bare <- function(x, type) typeof(x) %in% type && !is.object(x)

is_sum <- function(x, n) is_bare(x, "character") && length(x) == n && all(grepl("^[0-9a-f]{32}$", x))

# Numbers of cells or rows, n of them, none above `most`.
are_counts <- function(x, n, most = Inf) {
  is_bare(x, c("integer", "double")) && length(x) == n && isTRUE(all(x >= 0 & x <= most & x == floor(x)))
}

# What each part of a manifest must be, given the parts before it, `shards` first.
manifest_rules <- list( # nolint: cyclocomp_linter. Several functions.
  format = function(x, m) is_bare(x, "integer"),
  version = function(x, m) is_bare(x, "character") && length(x) == 1L,
  dims = function(x, m) {
    are_counts(x, 2L, .Machine$integer.max^2) && identical(names(x), c("n", "m")) && is.double(x) &&
      all(x >= 1) && x[["m"]] <= .Machine$integer.max && x[["n"]] == sum(as.double(m$shards$rows))
  },
  attributes = function(x, m) is.null(x) || (is_bare(x, "character") && length(x) == m$dims[["m"]]),
  shards = function(x, m) {
    n <- .row_names_info(x, 2L)
    most <- .Machine$integer.max
    inherits(x, "data.frame") && identical(attr(x, "names"), shard_columns) && n >= 1L &&
      identical(as.vector(unclass(x)$shard), seq_len(n)) && all(vapply(unclass(x)[2:4], are_counts, NA, n, most)) &&
      is_sum(x$cells, n) && is_sum(x$names, n)
  },
  column_sum = function(x, m) {
    are_counts(x, m$dims[["m"]], m$dims[["n"]]) && sum(x) == sum(as.double(m$shards$ones))
  },
  column_missing = function(x, m) {
    are_counts(x, m$dims[["m"]], m$dims[["n"]]) && sum(x) == sum(as.double(m$shards$missing)) &&
      all(x + m$column_sum <= m$dims[["n"]])
  },
  along = function(x, m) is.null(x) || (is_bare(x, "character") && !anyNA(x))
)

shard_columns <- c("shard", "rows", "ones", "missing", "cells", "names")

# Names of parts that are not what a manifest has.
wrong_in_manifest <- function(manifest) {
  parts <- c("shards", setdiff(names(manifest_rules), "shards"))
  if (!setequal(names(manifest), parts)) {
    return(c(setdiff(parts, names(manifest)), setdiff(names(manifest), parts)))
  }
  # Rules are asked in turn: each relies on the parts before it.
  for (name in parts) if (!isTRUE(manifest_rules[[name]](manifest[[name]], manifest))) return(name)
  character()
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

# A call of shards() writes into a folder of its own beside `path`, which becomes `path` in one step when all is there.
# Until then `path` holds a mark that says whose turn it is: that of the call that began last, which may follow one that
# was killed. A call that finds another mark ends. A run is list(path, folder, mark, made = whether `path` was).

# write(run), which ends with finish_run(). Where another call has taken over, it has removed the folder: that is why
# writing failed, whatever the error says.
with_run <- function(path, write) {
  run <- begin_run(path)
  on.exit(leave_run(run))
  catch_error(write(run), function(e) {
    check_run(run)
    stop(e)
  })
}

begin_run <- function(path) {
  refuse_finished(path)
  mine <- basename(unfinished_file(path))
  if (length(other <- setdiff(list.files(path, all.files = TRUE, no.. = TRUE), mine))) {
    stop_input("`path` must be a new or empty folder: %s holds other files, %s.", dQuote(path, FALSE),
      show_names(other))
  }
  made <- !dir.exists(path)
  make_folder(path, "path")
  path <- normalizePath(path)
  if (identical(path, catch_error(normalizePath(getwd()), function(e) NULL))) {
    stop_input("`path` must be a folder that can be replaced, not the working directory.")
  }
  before <- run_mark(path)
  run <- list(path = path, mark = basename(tempfile("")), made = made || length(before) == 1L)
  run$folder <- run_folder(path, run$mark)
  if (!dir.create(run$folder, showWarnings = FALSE)) {
    if (made) remove_folders(path)
    stop_input("`path` must be a folder beside which another can be made: may you write in %s?",
      dQuote(dirname(path), FALSE))
  }
  kept <- FALSE
  on.exit(if (!kept) leave_run(run))
  if (!can_mark(run)) stop_input("`path` must be a folder that can be written to: %s cannot.", dQuote(path, FALSE))
  if (length(before) == 1L) remove_folders(run_folder(path, before))
  refuse_finished(path) # by another call, meanwhile
  kept <- TRUE
  run
}

run_folder <- function(path, mark) paste0(path, "-unfinished-", mark)

# The mark in a folder: of letters and digits alone, as it says which folder is removed.
run_mark <- function(path) {
  lines <- catch_error(suppressWarnings(readLines(unfinished_file(path), 1L)), function(e) character())
  grep("^[0-9a-zA-Z]{1,40}$", lines, value = TRUE)
}

can_mark <- function(run) {
  write <- function() writeLines(run$mark, unfinished_file(run$path))
  catch_error(suppressWarnings(write()), function(e) NULL)
  is_mine(run)
}

is_mine <- function(run) identical(run_mark(run$path), run$mark)

refuse_finished <- function(path) {
  if (file.exists(manifest_file(path))) {
    stop_input("`path` must be a new folder: %s holds shards already. shards(%s) opens them.", dQuote(path, FALSE),
      dQuote(path, FALSE))
  }
}

check_run <- function(run) {
  if (is_mine(run)) {
    return(invisible())
  }
  refuse_finished(run$path)
  stop_input("`path` must be the folder of one call of shards() at a time: another has begun in %s.",
    dQuote(run$path, FALSE))
}

# What a call that does not finish leaves: nothing of its own.
leave_run <- function(run) {
  remove_folders(run$folder)
  if (length(run_mark(run$path)) && !is_mine(run)) { # a mark that could not be written is nobody's
    return(invisible())
  }
  remove_files(unfinished_file(run$path))
  if (run$made && !length(list.files(run$path, all.files = TRUE, no.. = TRUE))) remove_folders(run$path)
}

bucket_folder <- function(path) file.path(path, "buckets")

# The manifest comes last: what has one is whole.
finish_run <- function(run, tables, attributes, margins, along) {
  table <- do.call(rbind, tables)
  manifest <- list(
    format = shards_format, version = as.character(utils::packageVersion("multicause")),
    dims = c(n = sum(as.double(table$rows)), m = length(margins$sum)), attributes = attributes, shards = table,
    column_sum = margins$sum, column_missing = margins$missing, along = along
  )
  remove_folders(bucket_folder(run$folder))
  check_run(run)
  write_whole(manifest, manifest_file(run$folder))
  check_run(run)
  settle_run(run)
  new_shards(run$path, manifest)
}

# An empty folder is replaced by a whole one. One that another call has marked, or finished, is not empty.
settle_run <- function(run) {
  remove_files(unfinished_file(run$path))
  if (.Platform$OS.type == "windows") remove_folders(run$path) # there nothing is replaced
  if (suppressWarnings(file.rename(run$folder, run$path))) {
    return(invisible())
  }
  if (length(list.files(run$path))) check_run(run)
  # Such as where a disk is mounted. The work is not lost.
  whole <- sub("-unfinished-", "-", run$folder, fixed = TRUE)
  kept <- file.rename(run$folder, whole) && can_mark(run)
  stop_input("`path` must be a folder that can be replaced: %s cannot. The shards are whole in %s.",
    dQuote(run$path, FALSE), dQuote(if (kept) whole else run$folder, FALSE))
}
