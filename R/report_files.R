# The files of a report: made in a folder of their own, looked at, and put in place whole or not at all.

# A document rendered: list(html: its bytes, tables: those of its csv files, by name). Nothing a user named is a word of
# pandoc's command line, which goes through a shell.
render_report <- function(page, params, tables) {
  work <- tempfile("report")
  dir.create(work)
  attached <- search()
  on.exit({
    remove_folders(work)
    for (each in setdiff(search(), attached)) detach(each, character.only = TRUE)
  })
  folder <- file.path(work, "tables")
  if (tables) params$tables <- folder
  # A document draws no random numbers of the session's.
  path <- with_seed(1L, with_usual_numbers(rmarkdown::render(
    page, output_file = "report.html", output_dir = work, quiet = TRUE, intermediates_dir = work, knit_root_dir = work,
    envir = new.env(parent = globalenv()), params = params
  )))
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  expect_whole(any(grepl("id=\"end-of-report\"", lines, fixed = TRUE)), any(grepl("</html>", lines, fixed = TRUE)))
  csv <- list.files(folder, full.names = TRUE)
  list(
    html = charToRaw(enc2utf8(paste0(lines, "\n", collapse = ""))),
    tables = stats::setNames(lapply(csv, function(file) readBin(file, "raw", file.size(file))), basename(csv))
  )
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

# Files by their paths in a folder, which is made.
in_folder <- function(files, folder) {
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE, showWarnings = FALSE)) {
    stop_input("`tables` must be a folder that can be made: %s cannot.", dQuote(folder, FALSE))
  }
  stats::setNames(files, file.path(folder, names(files)))
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
  on.exit(remove_files(parts))
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
