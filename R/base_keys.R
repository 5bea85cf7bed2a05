# Finds the column of a user's table that names its sites.

# Finds the site names of a table, list(values, column, numbered), if they hold all `labels`: row names of text, else a
# column of text or numbers (preferably with each once), else row names that are numbers other than the default 1, 2, 3.
# No column: row names; `numbered`: these are such numbers. NULL: there are none.
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

# Returns the values of a column as names, NULL if it holds no plain values: whole numbers in full, or, if these are the
# labels, as R writes them (1e+05).
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

# Orders the rows of a data frame of covariates by site and drops a column that only names sites.
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

# Finds the key of such a table. A column of numbers is no key if it is needed as a covariate.
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

# Strips classes from a data frame of covariates. Points of package sf are the places themselves.
plain_covariate <- function(table, argument) {
  if (grepl("age$", argument)) table <- ages_without_units(table, argument)
  if (grepl("place$", argument) && inherits(table, "sf")) table else plain_frame(table)
}

# Minimum number of columns of a place and of any other covariate; `argument` may be part of a list, as "along$place".
least_columns <- function(table, argument) if (grepl("place$", argument) && !inherits(table, "sf")) 2L else 1L

# If no names hold all labels: the column of text, or the row numbers, with most of them, if more than half;
# name_order() reports what it lacks. NULL: rows are taken in their order.
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
