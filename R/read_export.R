# What read_pbdb() and read_now() share: finding the table in a text export, and reading it without guesses.

# Reads the table whose header is the first line that is_header() accepts: list(table, metadata), the table all text,
# with NA for blanks, metadata the lines above the header. what and hint are for the message if there is none.
read_export <- function(file, what, is_header, hint) {
  if (missing(file)) stop_missing("file")
  if (!is.character(file) || length(file) != 1L || is.na(file)) {
    stop_input("`file` must be the path of %s, not %s.", what, show_value(file))
  }
  if (!file.exists(file) || dir.exists(file)) {
    stop_input("`file` must be the path of %s: there is no file %s.", what, show_names(file))
  }
  if (is_utf16(file)) {
    stop_input("`file` must be text in UTF-8 or Latin-1: %s is UTF-16; save it as UTF-8.", show_names(basename(file)))
  }
  lines <- catch_error(
    suppressWarnings(readLines(file, n = 1000L, warn = FALSE, skipNul = TRUE)),
    function(e) {
      stop_input("`file` must be text: %s cannot be read (%s).", show_names(basename(file)), conditionMessage(e))
    }
  )
  lines <- sub("^\ufeff", "", as_utf8(lines)) # byte order mark
  found <- find_header(lines, is_header)
  if (is.null(found)) {
    stop_input("`file` must be %s: %s %s.", what, show_names(basename(file)), hint(lines))
  }
  if (grepl("REQUEST RETURNED NO RECORDS", lines[found$at + 1L], fixed = TRUE)) { # what the PBDB sends for no rows
    stop_input("`file` must hold occurrences: %s says that the request found none.", show_names(basename(file)))
  }
  table <- refuse_swallowed(read_rows(file, found), file, found)
  if (nrow(table) == 0L) {
    stop_input("`file` must hold occurrences: %s ends after its header.", show_names(basename(file)))
  }
  table[] <- lapply(table, function(value) bare_text(as_utf8(value)))
  coded <- setdiff(names(table), "cc") # there "NA" is Namibia
  table[coded] <- lapply(table[coded], function(value) replace(value, value %in% "NA", NA)) # as write.csv() has it
  list(table = table, metadata = lines[seq_len(found$at - 1L)], line = function(row) row_lines(file, found)[row])
}

# Text without control characters and white space around it, NA where nothing is left.
bare_text <- function(text) {
  text <- without_controls(text)
  wide <- grep("^[[:space:]]|[[:space:]]$", text)
  text[wide] <- trimws(text[wide])
  replace(text, text %in% "", NA)
}

# UTF-8 with control characters as blanks, of several in a row as one: line breaks (the separators of Unicode, too) and
# what only terminals and printers know. Few texts have any, and a search of bytes finds them twenty times as fast.
without_controls <- function(text) {
  odd <- grep("[\\x01-\\x1f\\x7f]|\\xc2[\\x80-\\x9f]|\\xe2\\x80[\\xa8\\xa9]", text, perl = TRUE, useBytes = TRUE)
  text[odd] <- gsub("[\u0001-\u001f\u007f-\u009f\u2028\u2029]+", " ", text[odd])
  text
}

# Whether a file begins with the byte order mark of UTF-16, as spreadsheets save "Unicode text".
is_utf16 <- function(file) {
  con <- file(file, "rb")
  on.exit(close(con))
  list(readBin(con, "raw", 2L)) %in% list(as.raw(c(0xff, 0xfe)), as.raw(c(0xfe, 0xff)))
}

# The rows below a header. read.table() goes on with a warning where a file ends inside quotation marks or inside a
# line, and has then swallowed rows: for us these are errors.
read_rows <- function(file, found) {
  broken <- vapply(
    c("EOF within quoted string", "number of items read is not a multiple of the number of columns"), gettext, "",
    domain = "R"
  )
  catch_error(
    withCallingHandlers(
      utils::read.table(
        file,
        sep = found$sep, quote = found$quote, skip = found$at, col.names = found$names, check.names = FALSE,
        colClasses = "character", na.strings = c("", "\\N"), strip.white = TRUE, comment.char = "", fill = FALSE
      ),
      warning = function(w) {
        if (conditionMessage(w) %in% broken) {
          stop_fields(found, cut_off)
        }
        if (is_last_line(w, file)) invokeRestart("muffleWarning")
      }
    ),
    function(e) {
      if (inherits(e, "multicause_input_error")) stop(e)
      stop_fields(found, broken_line(file, found, conditionMessage(e)))
    }
  )
}

# A file whose last line has no end is whole.
is_last_line <- function(warning, file) {
  identical(
    conditionMessage(warning), gettextf("incomplete final line found by readTableHeader on '%s'", file, domain = "R")
  )
}

# Where a quotation mark is not closed on its line, the next one closes it, which may be rows below. What lies between
# is then the text of one field, or lost by read.table() where that happens in its first lines, and no number of fields
# need tell. Lines that are neither rows nor parts of a field are lost; text that has as many separators as rows of its
# number of lines would have is no remark of several lines.
refuse_swallowed <- function(table, file, found) {
  within <- lines_within(table, found)
  below <- count_lines(file, found)
  lost <- max(below$n - nrow(table) - within[["breaks"]], 0) + within[["swallowed"]]
  if (lost > 0) {
    stop_input(
      "`file` must close each quotation mark in its field: %s does not in line %s, and %s would be lost.",
      show_names(basename(file)), if (is.na(below$open)) "?" else format(below$open, scientific = FALSE),
      count_words(lost, "row")
    )
  }
  table
}

# How many lines end within fields, and how many of these lines were rows.
lines_within <- function(table, found) {
  occurs <- function(what, text) {
    vapply(gregexpr(what, text, fixed = TRUE, useBytes = TRUE), function(at) sum(at > 0L), 0L)
  }
  out <- c(breaks = 0, swallowed = 0)
  for (value in table) {
    text <- value[grep("\n", value, fixed = TRUE, useBytes = TRUE)]
    broken <- occurs("\n", text)
    out <- out + c(sum(broken), sum(broken[occurs(found$sep, text) >= broken * (length(found$names) - 1L)]))
  }
  out
}

# The number of lines below the header that are not blank, and the first with a quotation mark that opens a field and is
# not closed there; read in parts, as files may be large.
count_lines <- function(file, found) {
  con <- file(file, "r")
  on.exit(close(con))
  sep <- found$sep
  whole <- sprintf("(^|%s) *\"([^\"]|\"\")*\" *(?=%s|$)", sep, sep)
  at <- n <- 0
  open <- NA_real_
  while (length(lines <- suppressWarnings(readLines(con, 100000L, warn = FALSE, skipNul = TRUE)))) {
    below <- which(at + seq_along(lines) > found$at)
    n <- n + sum(grepl("[^ \t\r]", lines[below], useBytes = TRUE))
    if (nzchar(found$quote) && is.na(open)) {
      left <- gsub(whole, "\\1", lines[below], perl = TRUE, useBytes = TRUE)
      open <- at + below[grep(sprintf("(^|%s) *\"", sep), left, useBytes = TRUE)[1L]]
    }
    at <- at + length(lines)
  }
  list(n = n, open = open)
}

# The line, as an editor counts them, on which each row ends.
row_lines <- function(file, found) {
  n_field <- suppressWarnings(
    utils::count.fields(file, found$sep, found$quote, blank.lines.skip = FALSE, comment.char = "")
  )
  n_field[seq_len(found$at)] <- 0L
  which(n_field > 0L) # NA on all lines of a row but its last
}

# Which line, as an editor counts them, has another number of fields than the header; `otherwise` where none has.
broken_line <- function(file, found, otherwise) {
  n_field <- suppressWarnings(
    utils::count.fields(file, found$sep, found$quote, blank.lines.skip = FALSE, comment.char = "")
  )
  n_field[seq_len(found$at)] <- NA
  line <- which(n_field > 0L & n_field != length(found$names))[1L]
  if (is.na(line)) {
    otherwise
  } else if (line > length(suppressWarnings(readLines(file, skipNul = TRUE)))) { # what an open quotation mark leaves
    cut_off
  } else {
    sprintf("line %d has %d", line, n_field[line])
  }
}

cut_off <- "a quotation mark is not closed, or the file is cut off"

stop_fields <- function(found, why) {
  stop_input("`file` must have %s in each line, as in its header: %s.", count_words(length(found$names), "field"), why)
}

# The first line that splits into the names of a header, by tab, comma or semicolon.
find_header <- function(lines, is_header) {
  for (at in seq_along(lines)) {
    for (sep in c("\t", ",", ";")) {
      if (!grepl(sep, lines[at], fixed = TRUE)) next
      names <- split_fields(lines[at], sep)
      if (is_header(names)) {
        # Exports by tab that do not quote have stray quotation marks in their remarks.
        quote <- if (sep == "\t" && !grepl('"', lines[at], fixed = TRUE)) "" else "\""
        names[!nzchar(names)] <- "X" # as read.csv() calls the numbers of rows that write.csv() adds
        return(list(at = at, sep = sep, quote = quote, names = make.unique(names)))
      }
    }
  }
  NULL
}

split_fields <- function(line, sep) {
  suppressWarnings( # of quotation marks that are not closed: of any text, before it is known for a table
    scan(text = line, what = "", sep = sep, quote = "\"", quiet = TRUE, strip.white = TRUE, comment.char = "")
  )
}

# Text whose encoding is known: UTF-8, or else Latin-1, as of older exports.
as_utf8 <- function(text) {
  old <- which(!validUTF8(text))
  Encoding(text) <- "UTF-8"
  Encoding(text[old]) <- "latin1"
  enc2utf8(text)
}

# Columns that hold nothing but numbers become numbers, integers where they fit; never the columns in text.
convert_numbers <- function(table, text) {
  table <- decimal_points(table, text)
  for (column in setdiff(names(table), text)) {
    value <- table[[column]]
    if (all(is.na(value)) || !all(reads_as_number(value[!is.na(value)]))) next
    table[[column]] <- utils::type.convert(value, as.is = TRUE)
  }
  table
}

# What a spreadsheet saves where 12.5 is written 12,5. With a point in one of these columns a comma may be anything.
decimal_points <- function(table, text) {
  sure <- unlist(table[intersect(c("max_ma", "min_ma", "lng", "lat"), names(table))])
  if (!any(grepl(",", sure, fixed = TRUE)) || any(grepl(".", sure, fixed = TRUE))) {
    return(table)
  }
  inform("The file has decimal commas.")
  for (column in setdiff(names(table), text)) {
    value <- sub(",", ".", table[[column]], fixed = TRUE)
    if (all(reads_as_number(value) | is.na(value))) table[[column]] <- value
  }
  table
}

reads_as_number <- function(text) grepl("^[-+]?([0-9]+[.]?|[0-9]*[.][0-9]+)([eE][-+]?[0-9]+)?$", text)

# Ages and coordinates that cannot be become unknown, with a warning that says how many and where.
check_plausible <- function(table, file, line) {
  wrong <- which(table$min_ma > table$max_ma | table$min_ma < 0 | table$max_ma < 0)
  if (length(wrong)) {
    warn_implausible(
      wrong, file, line, "ages below 0 or a `min_ma` above `max_ma`, and count as undated",
      sprintf("max_ma %s, min_ma %s", format(table$max_ma[wrong[1L]]), format(table$min_ma[wrong[1L]]))
    )
    table[wrong, c("max_ma", "min_ma")] <- NA
  }
  if (!all(c("lat", "lng") %in% names(table))) {
    return(table)
  }
  # Longitudes may run from -180 to 180 or from 0 to 360.
  away <- which(abs(table$lat) > 90 | table$lng < -180 | table$lng > 360)
  if (length(away)) {
    warn_implausible(
      away, file, line, "a latitude beyond 90 or a longitude beyond -180 and 360, and count as without coordinates",
      sprintf("lat %s, lng %s", format(table$lat[away[1L]]), format(table$lng[away[1L]]))
    )
    table[away, c("lat", "lng")] <- NA
  }
  table
}

warn_implausible <- function(rows, file, line, what, first) {
  warning(warningCondition(
    sprintf(
      "%s of %s %s %s: %s %s (%s).", count_words(length(rows), "occurrence"), show_names(basename(file)),
      if (length(rows) == 1L) "has" else "have", what, noun(length(rows), "line"), show_lines(line(rows)), first
    ),
    class = "multicause_implausible", call = NULL
  ))
}

show_lines <- function(at) if (length(at) == 1L) as.character(at) else show_places(at)

# Keeps the rows that are identified and dated, and says how many are not.
keep_usable <- function(table, file, rank) {
  unknown <- if (rank == "any") rep(FALSE, nrow(table)) else is.na(table[[rank]])
  undated <- is.na(table$max_ma) | is.na(table$min_ma)
  lines <- sprintf("Read %s from %s.", count_words(nrow(table), "occurrence"), show_names(basename(file)))
  if (any(unknown | undated)) {
    why <- c(
      if (any(unknown)) sprintf("%s not identified to a %s", format_big(sum(unknown)), rank),
      if (any(undated)) sprintf("%s without ages", format_big(sum(undated)))
    )
    lines <- c(lines, sprintf(
      "Left out %s: %s. Kept %s.", format_big(sum(unknown | undated)), paste(why, collapse = ", "),
      format_big(sum(!unknown & !undated))
    ))
  }
  if (all(unknown | undated)) {
    stop_input("`file` must hold usable occurrences. %s", paste(lines, collapse = " "))
  }
  inform("%s", paste(lines, collapse = " "))
  table <- table[!(unknown | undated), , drop = FALSE]
  rownames(table) <- NULL
  table
}

need_columns <- function(table, columns, file, advice) {
  missing <- setdiff(columns, names(table))
  if (length(missing)) {
    stop_input("`file` must have the %s %s: %s has not. %s", noun(length(missing), "column"),
      show_names(missing), show_names(basename(file)), advice)
  }
}

need_numbers <- function(table, columns) {
  for (column in intersect(columns, names(table))) {
    if (!is.numeric(table[[column]]) && !all(is.na(table[[column]]))) {
      wrong <- which(!reads_as_number(table[[column]]) & !is.na(table[[column]]))[1L]
      stop_input("`file` must have numbers in column %s: row %d is %s.",
        show_names(column), wrong, show_value(table[[column]][wrong]))
    }
  }
}
