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
  text <- catch_error(as.character(column), function(e) NULL) # of a class that may have no words for it
  if (length(text) != length(column)) {
    return(NULL)
  }
  if (is_text(column) || is.object(column) || length(labels) && all(labels %in% text)) text else name_values(column)
}

tell_key <- function(key, argument) {
  if (!is.null(key$column)) {
    inform("Rows of `%s` matched by its column %s.", argument, dQuote(key$column, FALSE))
  } else if (isTRUE(key$numbered)) {
    inform("Rows of `%s` matched by their numbers.", argument)
  }
}

# The rows of a data frame of covariates in the order of the sites, without a column that only names these.
by_key_column <- function(table, argument, labels) {
  key <- covariate_key(table, argument, labels)
  if (is.null(key)) {
    return(table)
  }
  tell_key(key, argument)
  names_only <- vapply(unclass(table), function(value) identical(key_values(value, labels), key$values), NA)
  if (sum(!names_only) >= least_columns(table, argument)) table <- table[!names_only]
  at <- name_order(key$values, labels, argument, others = TRUE)
  if (!is.null(at)) table <- table[at, , drop = FALSE]
  if (nrow(table) == length(labels)) rownames(table) <- labels
  table
}

# What names the rows of such a table. A column of numbers is no key where it is needed as a covariate.
covariate_key <- function(table, argument, labels) {
  key <- find_key(table, labels)
  column <- key$column
  wanted <- !is.null(column) && !is_text(table[[column]]) &&
    (ncol(table) <= least_columns(table, argument) || anyDuplicated(key$values[key$values %in% labels]))
  if (is.null(key) || wanted) nearest_key(table, labels) else key
}

covariate_frame_by_name <- function(table, argument, labels) {
  table <- plain_covariate(table, argument)
  if (is.null(labels)) table else by_key_column(table, argument, labels)
}

# A data frame of covariates without what a class adds to its columns. Points of package sf are the places themselves.
plain_covariate <- function(table, argument) {
  if (grepl("place$", argument) && inherits(table, "sf")) table else plain_frame(table)
}

# Columns that a place needs and any other covariate; `argument` may be a part of a list, as "along$place".
least_columns <- function(table, argument) if (grepl("place$", argument) && !inherits(table, "sf")) 2L else 1L

# Where no names are all there: the column of text, or the numbers of rows, that has most, if that is more than half;
# name_order() says what it lacks. NULL: rows are taken in their order.
nearest_key <- function(table, labels) {
  known <- vapply(unclass(table), function(column) {
    if (is_text(column)) sum(labels %in% as.character(column)) else 0L
  }, 0L)
  if (any(2 * known > length(labels))) {
    key <- which.max(known)
    return(list(values = as.character(table[[key]]), column = names(table)[key]))
  }
  rows <- frame_row_names(table)
  if (!is.character(attr(table, "row.names")) && 2 * sum(labels %in% rows) > length(labels)) {
    list(values = rows, numbered = TRUE)
  }
}
