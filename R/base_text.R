# Reads and writes text: encodings, numbers, dates, csv.

# Dates as text: the year first or last, possibly followed by a time.
date_patterns <- c(
  first = "^[0-9]{4}([-/.])[0-9]{1,2}\\1[0-9]{1,2}(?![0-9])",
  last = "^[0-9]{1,2}([-/.])[0-9]{1,2}\\1([0-9]{2}|[0-9]{4})(?![0-9])"
)

# Returns text in a known encoding: UTF-8, or else Latin-1, as of older exports.
as_utf8 <- function(text) {
  old <- which(!validUTF8(text))
  Encoding(text) <- "UTF-8"
  Encoding(text[old]) <- "latin1"
  enc2utf8(text)
}

reads_as_number <- function(text) grepl("^[-+]?([0-9]+[.]?|[0-9]*[.][0-9]+)([eE][-+]?[0-9]+)?$", text)

# Tests whether all known values of a column are numbers with decimal points, or with commas; and whether one of the
# commas cannot separate thousands.
number_style <- function(value) {
  values <- unique(value[!is.na(value)])
  commas <- sub(",", ".", replace(values, grepl(".", values, fixed = TRUE), ""), fixed = TRUE)
  c(
    points = all(reads_as_number(values)), commas = all(reads_as_number(commas)),
    decimal = any(grepl(",", values, fixed = TRUE) & !grepl("^[-+]?[1-9][0-9]{0,2},[0-9]{3}$", values))
  )
}

# Advises on text that holds numbers with decimal commas; "" if it does not.
comma_advice <- function(text) {
  text <- as.character(text)
  if (any(is_unreadable(text))) {
    return("")
  }
  style <- number_style(trimws(text))
  if (!style[["commas"]] || !style[["decimal"]]) {
    return("")
  }
  " It has decimal commas: read the file by read.csv2(), or use `as.numeric(sub(\",\", \".\", column))`."
}

# Writes a data frame as csv lines, as bytes in UTF-8 in any session encoding.
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
is_date_text <- function(text) {
  grepl(date_patterns[["first"]], text, perl = TRUE) | grepl(date_patterns[["last"]], text, perl = TRUE)
}

check_file_name <- function(x, name) {
  if (!is.null(x) && (!is.character(x) || length(x) != 1L || is.na(x) || !nzchar(x))) {
    stop_input("`%s` must be a file name or NULL, not %s.", name, show_value(x))
  }
  x
}

split_columns <- function(age) lapply(seq_len(ncol(age)), function(column) age[, column])

name_stem <- function(names) sub("[._ -]?[0-9]+$", "", names)

# Words for an absence under any column name; and those that negate the column's name.
absence_words <- c(
  "absent", "absence", "undetected", "nondetected", "nondetection", "unobserved",
  paste0("not", c("present", "detected", "observed", "found", "seen", "recorded"))
)
no_words <- c("no", "n", "false", "f", "none", "nil", "negative")

# Accepts NULL or text: `count` strings, or any number of them.
check_text <- function(x, name, count = NULL) {
  if (!is.null(x) && (!is.character(x) || anyNA(x) || !length(x) %in% c(count, if (is.null(count)) length(x)))) {
    stop_input("`%s` must be %s or NULL, not %s.", name, if (is.null(count)) "text" else "one string", show_value(x))
  }
  if (any(is_unreadable(as.character(x)))) {
    stop_input("`%s` must be text that can be read: convert it by iconv() from the encoding that it has.", name)
  }
}

# Converts times that R stores as lists to vectors.
plain_times <- function(data) {
  parts <- vapply(unclass(data), inherits, NA, "POSIXlt")
  for (column in names(data)[parts]) data[[column]] <- as.POSIXct(data[[column]])
  data
}

# Returns "one", "one and two", "one, two and three".
and_words <- function(words) {
  last <- length(words)
  paste(c(if (last > 1L) paste(words[-last], collapse = ", "), words[last]), collapse = " and ")
}
