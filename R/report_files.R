# The files of a report: made in a folder of their own, looked at, and put in place whole or not at all.

# The report as the bytes of one HTML file, from a page of inst/report. Nothing a user named is a file here or a word of
# pandoc's command line, which goes through a shell.
render_report <- function(page, params) {
  work <- tempfile("report")
  on.exit(unlink(work, recursive = TRUE))
  sources <- list.files(system.file("report", package = "multicause"), full.names = TRUE)
  dir.create(work)
  file.copy(sources, work)
  expect_whole(identical(file.size(file.path(work, basename(sources))), file.size(sources)))
  path <- with_usual_numbers(rmarkdown::render(
    file.path(work, page), output_file = "report.html", output_dir = work, quiet = TRUE,
    intermediates_dir = work, knit_root_dir = work, envir = new.env(parent = asNamespace("multicause")), params = params
  ))
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  expect_whole(any(grepl("id=\"end-of-report\"", lines, fixed = TRUE)), any(grepl("</html>", lines, fixed = TRUE)))
  pictures <- list.files(work, "[.]png$", full.names = TRUE, recursive = TRUE)
  expect_whole(all(vapply(pictures, is_whole_png, NA)))
  at <- grep("<title>", lines, fixed = TRUE)[1L]
  lines[at] <- paste0("<title>", html_escape(params$title), "</title>")
  charToRaw(enc2utf8(paste0(lines, "\n", collapse = "")))
}

# R's own connections and devices say nothing where a disk is full.
expect_whole <- function(...) {
  if (!all(...)) {
    stop("The report could not be made: is the disk of tempdir() full? No file was written.", call. = FALSE)
  }
}

# Whether a picture has its last chunk.
is_whole_png <- function(path) {
  end <- as.raw(c(0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82))
  bytes <- readBin(path, "raw", file.size(path))
  identical(utils::tail(bytes, length(end)), end)
}

# The bytes of csv files, named by their paths in a folder, which is made.
table_files <- function(tables, folder) {
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE, showWarnings = FALSE)) {
    stop_input("`tables` must be a folder that can be made: %s cannot.", dQuote(folder, FALSE))
  }
  tables <- Filter(Negate(is.null), tables)
  stats::setNames(lapply(tables, csv_bytes), file.path(folder, paste0(names(tables), ".csv")))
}

csv_bytes <- function(table) {
  table <- as.data.frame(unclass(table), check.names = FALSE)
  text <- !vapply(table, function(column) is.numeric(column) || is.logical(column), NA)
  table[text] <- lapply(table[text], function(column) defuse_formula(as.character(column)))
  names(table) <- defuse_formula(names(table))
  csv_text(table)
}

# The lines of a data frame, as bytes in UTF-8 whatever the session's encoding is.
csv_text <- function(table, header = TRUE) {
  as_native <- function(text) {
    text <- enc2utf8(text)
    Encoding(text) <- "unknown"
    text
  }
  text <- vapply(table, is.character, NA)
  table[text] <- lapply(table[text], as_native)
  names(table) <- as_native(names(table))
  con <- rawConnection(raw(), "wb")
  on.exit(close(con))
  utils::write.table(table, con, sep = ",", qmethod = "double", row.names = FALSE, col.names = header)
  rawConnectionValue(con)
}

# Spreadsheets take a cell that begins with one of these, blanks before it left out, for a formula, which may start
# programs; with an apostrophe before it they take it for text. Numbers may keep their sign.
defuse_formula <- function(text) {
  text <- as_utf8(enc2utf8(text))
  formula <- grepl("^([\t\r\n]|[[:space:]]*[-=+@\uff0d\uff1d\uff0b\uff20])", text) & !reads_as_number(text)
  text[formula] <- paste0("'", text[formula])
  text
}

# Writes bytes to the files that name them: each beside its place first, and all of them before the first is put there,
# so that a full disk leaves what was there before.
write_files <- function(contents) {
  paths <- names(contents)
  parts <- vapply(dirname(paths), function(folder) tempfile(".multicause-", folder), "")
  on.exit(unlink(parts))
  for (i in seq_along(paths)) {
    protected <- file.exists(paths[i]) && file.access(paths[i], 2L) < 0L
    if (protected || !is_written(contents[[i]], parts[i])) stop_write(paths[i])
  }
  for (i in seq_along(paths)) {
    if (!suppressWarnings(file.rename(parts[i], paths[i]))) stop_write(paths[i])
  }
}

# Writes a file and reads it again: neither writing nor closing is sure to say that a disk is full.
is_written <- function(bytes, path) {
  write_bytes <- function() {
    con <- file(path, "wb")
    on.exit(close(con))
    writeBin(bytes, con)
  }
  catch_error(suppressWarnings({
    write_bytes()
    identical(readBin(path, "raw", length(bytes) + 1), bytes)
  }), function(e) FALSE)
}

stop_write <- function(path) {
  stop(sprintf(
    "%s could not be written: is the disk full, or the file or its folder protected?", dQuote(path, FALSE)
  ), call. = FALSE)
}
