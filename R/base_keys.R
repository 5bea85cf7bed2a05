# Which column of a table of the user's names its sites.

# The names of sites that a table has, list(values, column, numbered), if they hold all `labels`: row names of text,
# else a column, of text or of numbers, that has each once if there is one, else row names that are numbers but not the
# usual 1, 2, 3. No column: row names; `numbered`: these are such numbers. NULL: it has none.
find_key <- function(table, labels) {
  rows <- attr(table, "row.names")
  if (is.character(rows) && all(labels %in% rows)) {
    return(list(values = rows))
  }
  values <- lapply(unclass(table), key_values, labels)
  holds <- which(vapply(values, function(value) all(labels %in% value), NA))
  if (length(holds)) {
    twice <- vapply(values[holds], function(value) anyDuplicated(value[value %in% labels]) > 0L, NA)
    best <- holds[order(twice, !vapply(unclass(table)[holds], is_text, NA))[1L]]
    return(list(values = values[[best]], column = names(table)[best]))
  }
  if (.row_names_info(table) > 0L && all(labels %in% rows)) list(values = as.character(rows), numbered = TRUE)
}

# Values of a column as names, NULL where it holds no plain values: whole numbers in full, or, if these are the labels,
# as R writes them (1e+05).
key_values <- function(column, labels = NULL) {
  if (!is.atomic(column) || length(dim(column)) > 1L) {
    return(NULL)
  }
  text <- as.character(column)
  if (is_text(column) || is.object(column) || length(labels) && all(labels %in% text)) text else name_values(column)
}

tell_key <- function(key, argument) {
  if (!is.null(key$column)) {
    inform("Rows of `%s` matched by its column %s.", argument, dQuote(key$column, FALSE))
  } else if (isTRUE(key$numbered)) {
    inform("Rows of `%s` matched by their numbers.", argument)
  }
}
