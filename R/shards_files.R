# Files of shards(): cells, which kernels read, and the rows' names and covariates beside them. Arrays are binary, names
# lines of UTF-8, so that reading a folder of any origin creates no executable R object. Each file ends with its
# checksum, which includes the file's name, so that no file passes for another. It is written beside its place and
# renamed, so that a file of that name is complete. Tests: test-shards.R.

shard_mark <- charToRaw("MCSHARD1")

# Writes vectors of integers or doubles, one after another, each after its length.
write_vectors <- function(vectors, file) {
  write_summed(file, function(con) {
    writeBin(shard_mark, con)
    for (vector in vectors) {
      writeBin(c(if (is.double(vector)) 2L else 1L, length(vector)), con, endian = "little")
      writeBin(as.vector(vector), con, endian = "little")
    }
  })
}

# Writes a named list of text: each part's name and number of lines, and its lines.
write_texts <- function(texts, file) {
  lines <- unlist(Map(function(name, text) {
    c(sprintf("%s\t%d", name, length(text)), to_lines(text))
  }, names(texts), texts))
  write_summed(file, function(con) writeBin(charToRaw(paste0(lines, "\n", collapse = "")), con))
}

# Converts text to one line each; NA is \N, as databases write it.
to_lines <- function(text) {
  out <- as_utf8(enc2utf8(as.character(text)))
  odd <- grep("[\\\\\n\r]", out)
  for (mark in names(line_marks)) out[odd] <- gsub(line_marks[[mark]], mark, out[odd], fixed = TRUE)
  replace(out, is.na(text), "\\N")
}

from_lines <- function(lines) {
  odd <- grep("\\", lines, fixed = TRUE)
  out <- lines
  for (mark in rev(names(line_marks))) out[odd] <- gsub(mark, line_marks[[mark]], out[odd], fixed = TRUE)
  replace(out, odd[lines[odd] == "\\N"], NA)
}

# The backslash is escaped first, and unescaped last.
line_marks <- c("\\s" = "\\", "\\n" = "\n", "\\r" = "\r")

# Writes by write(con) and appends the checksum, which is returned.
write_summed <- function(file, write) {
  part <- tempfile(paste0(basename(file), "-"), dirname(file), ".part") # workers may write the same file at a time
  on.exit(remove_files(part))
  write_part <- function() {
    size <- write_to(part, "wb", function(con) {
      write(con)
      seek(con)
    })
    written <- file.size(part) == size
    sum <- named_sum(file, read_sum(part, size)$sum)
    write_to(part, "ab", function(con) writeBin(charToRaw(sum), con))
    if (written && file.size(part) == size + nchar(sum) && file.rename(part, file)) sum
  }
  # R warns of a full disk when it closes a file, before the size shows it.
  sum <- catch_error(suppressWarnings(write_part()), function(e) NULL)
  if (is.null(sum)) stop_unwritten(file)
  sum
}

# Returns the checksum of the first `size` bytes of a file, and the bytes that follow. Reads in pieces: a file may be
# larger than a vector of bytes should be.
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

# A full disk shows in the size of the file, but not reliably in errors of writing or closing.
append_bytes <- function(bytes, file, name = file) {
  size <- sum(file.size(file), length(bytes), na.rm = TRUE)
  catch_error(suppressWarnings(write_to(file, "ab", function(con) writeBin(bytes, con))), function(e) NULL)
  if (!identical(file.size(file), size)) stop_unwritten(name)
}

stop_unwritten <- function(file) {
  stop("the file ", dQuote(file, FALSE), " could not be written whole: is the disk full?", call. = FALSE)
}

# Returns the number of bytes before a file's checksum, which must be right. `sum`: the required one, or NULL.
summed_size <- function(file, sum = NULL) {
  size <- file.size(file)
  if (is.na(size)) stop_lost_file(file)
  body <- size - nchar(cli::hash_md5(""))
  if (body < 0) stop_shard_file(file, "was cut off")
  found <- read_sum(file, body)
  own <- named_sum(file, found$sum)
  whole <- identical(found$rest, charToRaw(own)) && (is.null(sum) || identical(own, sum))
  if (!whole) stop_shard_file(file, "was cut off or changed after it was written")
  body
}

# Reads n vectors.
read_vectors <- function(file, n, sum = NULL) {
  left <- summed_size(file, sum) - length(shard_mark)
  con <- file(file, "rb")
  on.exit(close(con))
  if (!identical(readBin(con, "raw", length(shard_mark)), shard_mark)) stop_foreign_file(file)
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

read_texts <- function(file, sum = NULL) {
  size <- summed_size(file, sum)
  bytes <- readBin(file, "raw", size)
  if (any(bytes == 0L)) stop_foreign_file(file)
  lines <- strsplit(rawToChar(bytes), "\n", fixed = TRUE, useBytes = TRUE)[[1L]]
  Encoding(lines) <- "UTF-8"
  if (!all(validUTF8(lines))) stop_foreign_file(file)
  texts <- list()
  at <- 0L
  while (at < length(lines)) {
    head <- strsplit(lines[at + 1L], "\t", fixed = TRUE)[[1L]]
    n <- if (length(head) == 2L && grepl("^[0-9]{1,9}$", head[2L])) as.integer(head[2L]) else length(lines)
    if (at + 1L + n > length(lines)) stop_foreign_file(file)
    texts[[head[1L]]] <- from_lines(lines[at + 1L + seq_len(n)])
    at <- at + 1L + n
  }
  texts
}

# The checksum is right, so the file is intact but was not made by this package.
stop_foreign_file <- function(file, what = "other data") {
  stop_shard_file(file, sprintf("has the right checksum, but holds %s", what))
}

# A faulty file is faulty wherever it is read, so no other worker is tried.
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
  file.path(path, sprintf("%s-%05d.%s", what, i, if (what == "rows") "txt" else "bin"))
}

# Writes one shard: view as of data_view(), rows = list(names, along).
write_shard <- function(run, i, view, rows) {
  cells <- list(view$dim, view$start, view$column, view$na_start, view$na_column)
  cells <- lapply(cells, function(part) if (is.null(part)) integer() else part)
  along <- Map(pack_column, as.list(rows$along), names(rows$along))
  numbers <- Filter(Negate(is.null), lapply(along, `[[`, "numbers"))
  texts <- lapply(along, `[[`, "text")
  names(texts) <- sprintf("column %d", seq_along(texts))
  texts <- c(list(names = rows$names, columns = names(along), kinds = vapply(along, `[[`, "", "kind")), texts)
  check_run(run)
  data.frame(
    shard = i, rows = view$dim[1L], ones = length(view$column), missing = length(view$na_column),
    cells = write_vectors(cells, shard_file(run$folder, i, "cells")),
    names = write_texts(texts, shard_file(run$folder, i, "rows")),
    along = if (length(numbers)) write_vectors(numbers, shard_file(run$folder, i, "along")) else ""
  )
}

# Reads the cells of shard i of x, or of a list with the `path`, `dims` and `shards` of one.
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

# Checks indices because kernels use them unchecked. `dim` and `size`, of ones and missing cells, are the manifest's.
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
  if (!fits) stop_foreign_file(file, "other numbers of cells than in its manifest")
  wrong <- .Call(mc_c_view_wrong_row, view)
  if (wrong > 0L) stop_foreign_file(file, sprintf("cells of row %d that are not in order or not in the table", wrong))
}

# Returns the kind of a column that can be stored; "" if it cannot.
column_kind <- function(x) {
  if (length(dim(x)) > 1L) {
    return("")
  }
  if (is.object(x)) {
    return(c(intersect(column_classes, class(x)), "")[1L])
  }
  if (is.numeric(x)) "numeric" else if (typeof(x) %in% c("logical", "character")) typeof(x) else ""
}

column_classes <- c("ordered", "factor", "Date", "POSIXct", "difftime")
column_kinds <- c("numeric", "logical", "character", column_classes)

# Packs a column of covariates as list(kind, text, numbers), of which either may be NULL.
pack_column <- function(x, name) {
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (inherits(x, "AsIs")) class(x) <- setdiff(class(x), "AsIs")
  kind <- column_kind(x)
  if (kind == "") {
    stop_input(
      "`site_data` must be columns of numbers, text, TRUE or FALSE, factors, dates or times: %s is %s.",
      dQuote(name, FALSE), show_value(x)
    )
  }
  text <- switch(kind, character = x, ordered = , factor = levels(x), POSIXct = attr(x, "tzone"), difftime = units(x))
  numbers <- as.vector(unclass(x))
  list(kind = kind, text = text, numbers = switch(kind, character = NULL, logical = as.integer(numbers), numbers))
}

# Unpacks the column; NULL if text and numbers cannot be those of n rows.
unpack_column <- function(kind, text, numbers, n) {
  values <- if (kind == "character") text else numbers
  if (length(values) != n || (kind %in% c("ordered", "factor") && !are_levels(numbers, length(text)))) {
    return(NULL)
  }
  switch(kind,
    numeric = , character = values, logical = as.logical(values),
    factor = structure(values, levels = text, class = "factor"),
    ordered = structure(values, levels = text, class = c("ordered", "factor")),
    Date = structure(values, class = "Date"),
    POSIXct = structure(values, class = c("POSIXct", "POSIXt"), tzone = if (length(text)) text),
    difftime = structure(values, units = text[1L], class = "difftime")
  )
}

are_levels <- function(x, n) is.integer(x) && all(is.na(x) | (x >= 1L & x <= n))

# Reads names and covariates of a shard's rows: list(names, along), each NULL without.
read_shard_rows <- function(x, i) {
  at <- match(i, x$shards$shard)
  n <- x$shards$rows[at]
  file <- shard_file(x$path, i, "rows")
  text <- read_texts(file, x$shards$names[at])
  kinds <- text$kinds
  if (!all(kinds %in% column_kinds)) stop_foreign_file(file, "columns of kinds that are not known")
  has_numbers <- kinds != "character"
  numbers <- vector("list", length(kinds))
  if (any(has_numbers)) {
    numbers[has_numbers] <- read_vectors(shard_file(x$path, i, "along"), sum(has_numbers), x$shards$along[at])
  }
  ours <- length(text$names) %in% c(0L, n) && identical(text$columns, as.character(x$along)) &&
    length(kinds) == length(text$columns)
  along <- if (ours) {
    lapply(seq_along(kinds), function(j) {
      unpack_column(kinds[j], text[[sprintf("column %d", j)]], numbers[[j]], n)
    })
  }
  if (!ours || any(lengths(along) != n)) stop_foreign_file(file, "no names and covariates of its rows")
  list(
    names = if (length(text$names)) text$names,
    along = if (length(along)) structure(along, names = text$columns, row.names = seq_len(n), class = "data.frame")
  )
}

# Returns the names of all rows, or NULL.
shard_names <- function(x) unlist(lapply(x$shards$shard, function(s) read_shard_rows(x, s)$names))

# Returns the cells of a shard as a sparse matrix, missing ones NA, with names.
shard_matrix <- function(x, i) {
  view <- read_shard_view(x, i)
  rows <- function(start) rep.int(seq_len(view$dim[1L]), diff(start))
  Matrix::sparseMatrix(
    i = c(rows(view$start), if (!is.null(view$na_start)) rows(view$na_start)),
    j = c(view$column, view$na_column) + 1L, x = rep(c(1, NA), c(length(view$column), length(view$na_column))),
    dims = view$dim, dimnames = list(read_shard_rows(x, i)$names, x$attributes)
  )
}

# Collects rows by number or name, in the requested order: f(s, own) returns those at positions `own` of shard s.
over_rows <- function(x, i, f) {
  parts <- shard_rows(x, i)
  out <- do.call(rbind, lapply(which(lengths(parts) > 0L), function(s) f(s, parts[[s]])))
  out[match(i, unlist(attr(parts, "key"))), , drop = FALSE]
}

# Rows by number, if they are asked for by flags, factors or named numbers, as pick() has them; else as they are.
rows_by_name <- function(x, i, argument) {
  plain <- is.character(i) || (is.numeric(i) && is.null(names(i)))
  if (plain) i else pick(i, x$dims[["n"]], shard_names(x), argument)
}

# Returns the positions of rows in each shard; `key`: the same rows as requested.
shard_rows <- function(x, i) if (is.character(i)) named_rows(x, i) else numbered_rows(x, i)

# Returns the numbers of a shard's rows in the whole table.
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

manifest_file <- function(path) file.path(path, "manifest.txt")

# File of an unfinished folder that names the call which writes for it.
unfinished_file <- function(path) file.path(path, "unfinished")

shards_format <- 3L

# Opens a folder that shards() has finished.
open_shards <- function(path) {
  file <- manifest_file(path)
  if (!file.exists(file)) {
    stop_input(
      "%s must be a folder that shards() has finished: it has no manifest%s.", dQuote(path, FALSE),
      if (file.exists(unfinished_file(path))) {
        ", because writing it is still running or was interrupted. If no process is at it, make it anew"
      } else {
        ""
      }
    )
  }
  text <- read_texts(file)
  if (!identical(text$format, as.character(shards_format))) {
    stop_input("%s was written in format %s of shards(), this version reads %d: make it anew.", dQuote(path, FALSE),
      show_value(text$format), shards_format)
  }
  manifest <- manifest_of(text, function(name) {
    stop_foreign_file(file, sprintf("`%s` that is none of a manifest", name))
  })
  new_shards(path, manifest)
}

# Interprets the text of a manifest; wrong(name) stops at an invalid part.
manifest_of <- function(text, wrong) {
  lengths_are <- function(names, n) for (name in names) if (length(text[[name]]) != n) wrong(name)
  counts <- function(name, most = .Machine$integer.max) {
    x <- suppressWarnings(as.numeric(text[[name]]))
    if (!isTRUE(all(x >= 0 & x <= most & x == floor(x)))) wrong(name)
    x
  }
  n_shards <- length(text$rows)
  m <- length(text$column_sum)
  if (!n_shards) wrong("rows")
  if (!m) wrong("column_sum")
  lengths_are(c("ones", "missing", "cells", "names", "covariates"), n_shards)
  lengths_are("column_missing", m)
  lengths_are("version", 1L)
  if (length(text$attributes)) lengths_are("attributes", m)
  table <- data.frame(
    shard = seq_len(n_shards), rows = as.integer(counts("rows")), ones = as.integer(counts("ones")),
    missing = as.integer(counts("missing")), cells = text$cells, names = text$names, along = text$covariates
  )
  n <- sum(as.double(table$rows))
  sums <- list(ones = counts("column_sum", n), missing = counts("column_missing", n))
  if (any(sums$ones + sums$missing > n) || sum(sums$ones) != sum(as.double(table$ones))) wrong("column_sum")
  if (sum(sums$missing) != sum(as.double(table$missing))) wrong("column_missing")
  list(
    format = shards_format, version = text$version, dims = c(n = n, m = m),
    attributes = if (length(text$attributes)) text$attributes, shards = table, column_sum = sums$ones,
    column_missing = sums$missing, along = if (length(text$along)) text$along
  )
}

new_shards <- function(path, manifest) {
  sizes <- file.size(shard_file(path, manifest$shards$shard, "cells"))
  if (anyNA(sizes)) stop_lost_file(shard_file(path, which(is.na(sizes))[1L], "cells"))
  structure(c(list(path = normalizePath(path)), manifest), class = "shards")
}

# Makes a folder unless it exists; `name`: of the argument that names it.
make_folder <- function(path, name) {
  if (!dir.exists(path) && !dir.create(path, showWarnings = FALSE)) {
    why <- if (file.exists(path)) "is a file"
    if (!dir.exists(dirname(path))) why <- sprintf("cannot, as there is no folder %s", dQuote(dirname(path), FALSE))
    if (is.null(why)) why <- "cannot: may you write there?"
    stop_input("`%s` must be a folder that can be made: %s %s.", name, dQuote(path, FALSE), why)
  }
}

# A call of shards() writes into its own folder beside `path`, which becomes `path` in one step when complete. Until
# then `path` holds a mark that names the call that started last, which may follow one that was killed. A call that
# finds another mark stops. A run is list(path, folder, mark, made = whether `path` was).

# Runs write(run), which ends with finish_run(). If another call has taken over, it has removed the folder: then that is
# the cause of any error in writing.
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

# Reads the mark in a folder: letters and digits only, because it names the folder to remove.
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

# Removes what an unfinished call has written.
leave_run <- function(run) {
  remove_folders(run$folder)
  if (length(run_mark(run$path)) && !is_mine(run)) { # a mark that could not be written is nobody's
    return(invisible())
  }
  remove_files(unfinished_file(run$path))
  if (run$made && !length(list.files(run$path, all.files = TRUE, no.. = TRUE))) remove_folders(run$path)
}

bucket_folder <- function(path) file.path(path, "buckets")

# Writes the manifest last: a folder that has one is complete.
finish_run <- function(run, tables, attributes, margins, along) {
  table <- do.call(rbind, tables)
  digits <- function(x) sprintf("%.0f", as.double(x))
  manifest <- list(
    format = shards_format, version = as.character(utils::packageVersion("multicause")), attributes = attributes,
    along = along, rows = digits(table$rows), ones = digits(table$ones), missing = digits(table$missing),
    cells = table$cells, names = table$names, covariates = table$along, column_sum = digits(margins$sum),
    column_missing = digits(margins$missing)
  )
  remove_folders(bucket_folder(run$folder))
  check_run(run)
  write_texts(manifest, manifest_file(run$folder))
  check_run(run)
  settle_run(run)
  open_shards(run$path)
}

# Replaces an empty folder by a complete one. A folder that another call has marked, or finished, is not empty.
settle_run <- function(run) {
  remove_files(unfinished_file(run$path))
  if (.Platform$OS.type == "windows") remove_folders(run$path) # there nothing is replaced
  if (suppressWarnings(file.rename(run$folder, run$path))) {
    return(invisible())
  }
  if (length(list.files(run$path))) check_run(run)
  # A mount point cannot be replaced, for example. The work is not lost.
  whole <- sub("-unfinished-", "-", run$folder, fixed = TRUE)
  kept <- file.rename(run$folder, whole) && can_mark(run)
  stop_input("`path` must be a folder that can be replaced: %s cannot. The shards are whole in %s.",
    dQuote(run$path, FALSE), dQuote(if (kept) whole else run$folder, FALSE))
}
