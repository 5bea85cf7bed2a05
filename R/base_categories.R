# Tables whose cells hold one of several values: codes from 0, an integer matrix with the values as an attribute.

most_values <- 50L # more are counts or measurements
own_codes_advice <- paste(
  " If each column has codes of its own, number them:",
  "`x[] <- lapply(x, function(column) match(column, sort(unique(column))))`."
)

#' Tables of several values
#'
#' Makes a table whose cells hold one of several values, such as ratings, cover classes, or certain, `cf.` and absent:
#' what [aspect_categorical()] fits, and [cross_validate()] and [select_k()] take. A long table, with a row for each
#' record, becomes one with a row for each site and a column for each feature.
#'
#' @details
#' All features share one set of values; a feature may use only some of them.
#'
#' **Long tables.** With `site`, `taxon` and `value`, `x` is a data frame of records. A cell without a record is
#' unknown, `NA`: nobody recorded which of the feature's values holds there. Where no record means a value, such as
#' absent, set those cells to it. Records that contradict each other are an error.
#'
#' `indicator_matrix()` makes a column of 0 and 1 for each value of each feature, for models of presences such as
#' [bmf()]: a site without a record of a feature is `NA` in all of its columns.
#'
#' @param x a matrix or data frame of text, factors (ordered or not), numbers or logical values: sites as rows, taxa or
#'   other features as columns, `NA` unknown (its first column may hold row names); or a long table.
#' @param values the values in their order, 2 to 50; the first one is taken as absence, if any is. `NULL`: the levels of
#'   factors, else those found, sorted. Numbers that are not finite are values only if given here.
#' @param ... must be empty.
#' @param site,taxon,value `NULL`, or the names of the columns of a long table that hold sites, taxa (features) and
#'   values.
#' @return An integer matrix of class `category_table`: the place of each value, from 0, with the `values` as attribute.
#'   It can be subset and bound as matrices are. Cells are taken out as text, compared with values (`x == "absent"`)
#'   and replaced by them (`x[is.na(x)] <- "absent"`). `as.data.frame()` gives factors. `indicator_matrix()`: a matrix
#'   of 0, 1 and `NA` whose columns are named as in `"rock=shale"`. Wrong input is an error of class
#'   `multicause_input_error`.
#' @seealso [aspect_categorical()]; [occurrence_matrix()] for tables of presences.
#' @examples
#' names <- list(c("plot1", "plot2"), c("Poa", "Carex", "Salix"))
#' cover <- matrix(c("-", "+", "1", NA, "2", "-"), 2, dimnames = names)
#' category_table(cover, values = c("-", "+", "1", "2"))
#' records <- data.frame(
#'   site = c("a", "a", "b"), feature = c("rock", "grain", "rock"),
#'   state = c("sandstone", "coarse", "shale")
#' )
#' states <- category_table(records, site = "site", taxon = "feature", value = "state")
#' states
#' indicator_matrix(states)
#' @export
category_table <- function(x, values = NULL, ..., site = NULL, taxon = NULL, value = NULL) {
  check_dots(...)
  if (missing(x)) stop_missing("x")
  long <- list(site = site, taxon = taxon, value = value)
  if (any(lengths(long))) {
    read_long_categories(x, values, long)
  } else {
    read_categories(x, values)
  }
}

#' @rdname category_table
#' @export
indicator_matrix <- function(x, ...) {
  check_dots(...)
  if (missing(x)) stop_missing("x")
  x <- read_categories(x)
  values <- category_values(x)
  code <- matrix(as.vector(x), nrow(x))
  each <- lapply(seq_len(ncol(x)), function(j) {
    held <- sort(unique(code[, j]))
    out <- outer(code[, j], held, `==`) + 0L
    dimnames(out) <- list(rownames(x), sprintf("%s=%s", side_labels(x)[[2L]][j], values[held + 1L]))
    out
  })
  out <- do.call(cbind, each)
  if (!length(out)) stop_input("`x` must have a known cell.")
  out
}

is_category_table <- function(x) inherits(x, "category_table")

new_category_table <- function(code, values, names = dimnames(code)) {
  structure(
    matrix(as.integer(code), nrow(code), ncol(code), dimnames = names), values = values, class = "category_table"
  )
}

# Any table of values as a category_table.
read_categories <- function(x, values = NULL, name = "x") {
  if (is_category_table(x)) {
    return(recode_categories(x, values, name))
  }
  if (inherits(x, "Matrix")) x <- as.matrix(x)
  values <- check_values_given(values)
  x <- if (is.data.frame(x)) category_frame(x, values, name) else category_columns(x, name)
  if (!length(x$columns) || !length(x$columns[[1L]])) {
    stop_input("`%s` must have at least one row and one column.", name)
  }
  x$columns <- alike_numbers(x$columns)
  values <- values %||% values_in(x$columns)
  text <- vapply(x$columns, as.character, character(length(x$columns[[1L]])))
  text <- matrix(text, length(x$columns[[1L]]), length(x$columns), dimnames = x$names)
  check_dimnames(text, name)
  encode_values(text, values, name)
}

# list(columns, names) of a matrix.
category_columns <- function(x, name) {
  if (length(dim(x)) != 2L || !is.atomic(x) || is.complex(x) || is.raw(x)) {
    stop_input("`%s` must be a matrix or data frame with a row for each site and a column for each taxon, not %s.",
      name, show_value(x))
  }
  list(columns = lapply(seq_len(ncol(x)), function(j) as.vector(x[, j])), names = dimnames(x))
}

# Likewise of a data frame, whose first column may hold row names: text that is different in every row, and of which no
# other column has any, nor `values`, if they are known.
category_frame <- function(x, values, name) {
  tell_lost_classes(x, name)
  columns <- unclass(plain_frame(x))
  labels <- names(columns)
  rows <- frame_row_names(x)
  plain <- vapply(columns, function(column) {
    is.atomic(column) && is.null(dim(column)) && !is.complex(column) && !is.raw(column)
  }, NA)
  if (!all(plain)) stop_input("Columns of `%s` must be plain: %s is not.", name, show_names(labels[!plain][1L]))
  first <- if (length(columns) > 1L && is_text(columns[[1L]])) as.character(columns[[1L]])
  others <- unlist(lapply(columns[-1L], function(column) {
    if (is.factor(column)) levels(column) else unique(as.character(column))
  }))
  if (length(first) > 1L && !anyDuplicated(first) && !anyNA(first) && !any(first %in% c(others, values))) {
    inform("Row names taken from the first column of `%s`, %s.", name, dQuote(labels[1L], FALSE))
    rows <- first
    columns <- columns[-1L]
    labels <- labels[-1L]
  }
  list(columns = unname(columns), names = list(if (is.character(rows)) rows, labels))
}

# Columns of numbers of several types, and of logical values, as numbers of one type: text of equal ones is then equal.
alike_numbers <- function(columns) {
  plain <- all(vapply(columns, function(column) is.numeric(column) || is.logical(column), NA))
  if (!plain || length(unique(vapply(columns, typeof, ""))) == 1L) {
    return(columns)
  }
  lapply(columns, as.double)
}

# The values of columns in their order: levels of factors, else sorted.
values_in <- function(columns) {
  if (all(vapply(columns, is.factor, NA))) {
    return(unique(unlist(lapply(columns, levels))))
  }
  is_number <- all(vapply(columns, function(column) is.numeric(column) || is.logical(column), NA))
  plain <- function(column) if (is.factor(column)) as.character(column) else column
  found <- unique(unlist(lapply(columns, function(column) unique(plain(column)))))
  found <- sort(found[if (is_number) is.finite(found) else !is.na(found)], method = "radix")
  if (is_number && length(found) > most_values) {
    each <- max(vapply(columns, function(column) length(unique(column[!is.na(column)])), 0L))
    stop_input("`x` must hold at most %s, not %d: put counts and measurements into classes by cut().%s",
      count_words(most_values, "different value"), length(found), if (each <= most_values) own_codes_advice else "")
  }
  if (!is_number && length(found) > 1L) {
    inform("Values are in the order of the alphabet, and %s counts as absence: `values` gives another order.",
      dQuote(found[1L], FALSE))
  }
  as.character(found)
}

check_values_given <- function(values) {
  if (is.null(values)) {
    return(NULL)
  }
  if (is.factor(values)) values <- levels(values)
  text <- if (is.atomic(values)) as.character(values)
  if (anyNA(text) || anyDuplicated(text) || !length(text) %in% 2:most_values) {
    stop_input("`values` must be 2 to %s in their order, not %s.", count_words(most_values, "different value"),
      show_value(values))
  }
  text
}

# Codes text by the values, and refuses others.
encode_values <- function(text, values, name) {
  code <- match(text, values) - 1L
  odd <- which(is.na(code) & !is.na(text))
  if (length(odd)) {
    at <- arrayInd(odd[1L], dim(text))
    stop_input("`%s` must hold only %s or NA: %s, %s is %s.", name, show_names(values, 10L),
      place_words(text, 1L, at[1L]), place_words(text, 2L, at[2L]), dQuote(text[odd[1L]], FALSE))
  }
  if (length(values) < 2L) {
    stop_input("`%s` must hold at least two values: %s. Give all there are as `values`.", name,
      if (length(values)) sprintf("all its known cells are %s", dQuote(values, FALSE)) else "no cell is known")
  }
  if ("" %in% values) {
    stop_input("`%s` must have no blank cells: use `%s[%s %%in%% \"\"] <- NA`, or the value that they stand for.", name,
      name, name)
  }
  if (length(values) > most_values) {
    each <- max(apply(text, 2L, function(column) length(unique(column[!is.na(column)]))))
    stop_input("`%s` must hold at most %s, not %d.%s", name, count_words(most_values, "different value"),
      length(values), if (each <= most_values) own_codes_advice else "")
  }
  new_category_table(matrix(code, nrow(text), ncol(text)), values, dimnames(text))
}

recode_categories <- function(x, values, name) {
  own <- category_values(x)
  values <- check_values_given(values)
  if (is.null(values) || identical(values, own)) {
    return(x)
  }
  encode_values(category_text(x), values, name)
}

category_values <- function(x) attr(x, "values")

# The table's values as text, n x m.
category_text <- function(x) {
  matrix(category_values(x)[as.vector(x) + 1L], nrow(x), ncol(x), dimnames = dimnames(x))
}

read_long_categories <- function(x, values, columns) {
  if (!is.data.frame(x)) stop_input("`x` must be a data frame of records with `site`, `taxon` and `value`.")
  for (arg in names(columns)) {
    if (!is_string(columns[[arg]]) || !columns[[arg]] %in% names(x)) {
      stop_input("`%s` must be the name of a column of `x`, not %s.", arg, show_value(columns[[arg]]))
    }
  }
  held <- lapply(columns, function(column) x[[column]])
  side <- lapply(held[c("site", "taxon")], function(column) {
    factor(column, if (is.factor(column)) levels(droplevels(column)) else sort(unique(column), method = "radix"))
  })
  text <- matrix(NA_character_, nlevels(side$site), nlevels(side$taxon), dimnames = lapply(unname(side), levels))
  cell <- cbind(as.integer(side$site), as.integer(side$taxon))
  said <- as.character(held$value)
  used <- which(!is.na(cell[, 1L]) & !is.na(cell[, 2L]) & !is.na(said))
  text[cell[rev(used), , drop = FALSE]] <- said[rev(used)] # the first record of a cell
  other <- used[text[cell[used, , drop = FALSE]] != said[used]]
  if (length(other)) {
    at <- other[1L]
    stop_input(
      "`x` must have one value for each site and taxon: row %d has %s for %s and %s, a row before it %s.", at,
      dQuote(said[at], FALSE), dQuote(as.character(side$site[at]), FALSE), dQuote(as.character(side$taxon[at]), FALSE),
      dQuote(text[cell[at, , drop = FALSE]], FALSE)
    )
  }
  if (!length(used)) stop_input("`x` must have a record with a site, a taxon and a value.")
  encode_values(text, check_values_given(values) %||% values_in(list(held$value[used])), "x")
}

# The data of a model: as check_data() has them for other tables.
check_categories <- function(x, values = NULL, name = "x", quiet = FALSE) {
  x <- read_categories(x, values, name)
  view <- data_view(unclass(x))
  data <- list(x = x, view = view, margins = .Call(mc_c_view_margins, view))
  held <- unique(as.vector(x)[!is.na(x)])
  if (!quiet && length(held) < 2L) {
    what <- if (length(held)) paste("known cells are", dQuote(category_values(x)[held + 1L], FALSE)) else "cells are NA"
    inform("Nothing can be learnt from `%s`: all of its %s.", name, what)
  } else if (!quiet) {
    tell_unobserved(data)
    tell_unknown(unclass(x), data$margins, name)
    tell_alike_lines(unclass(x), name, "Equal") # values other than 0 and 1 have no inverse
    tell_nameless(dimnames(x), c("rows", "columns"), name)
  }
  data
}

# What is no table any more is text, as it is compared and replaced.
#' @export
`[.category_table` <- function(x, ...) {
  out <- NextMethod()
  if (length(dim(out)) == 2L) {
    return(structure(out, values = category_values(x), class = "category_table"))
  }
  stats::setNames(category_values(x)[as.vector(out) + 1L], names(out))
}

# Cells are replaced by values, not by their codes.
#' @export
`[<-.category_table` <- function(x, ..., value) {
  values <- category_values(x)
  text <- if (is_category_table(value)) category_text(value) else as.character(value)
  code <- match(text, values) - 1L
  odd <- which(is.na(code) & !is.na(text))
  if (length(odd)) {
    stop_input("Cells must be replaced by values of the table, %s, or NA, not by %s.", show_names(values, 10L),
      dQuote(text[odd[1L]], FALSE))
  }
  cells <- unclass(x)
  cells[...] <- code
  new_category_table(cells, values)
}

#' @export
`==.category_table` <- function(e1, e2) cells_as_text(e1) == cells_as_text(e2) # nolint: object_name_linter.

#' @export
`!=.category_table` <- function(e1, e2) cells_as_text(e1) != cells_as_text(e2) # nolint: object_name_linter.

cells_as_text <- function(x) if (is_category_table(x)) category_text(x) else x

#' @export
rbind.category_table <- function(..., deparse.level = 1) bind_categories(rbind, list(...)) # nolint: object_name_linter.

#' @export
cbind.category_table <- function(..., deparse.level = 1) bind_categories(cbind, list(...)) # nolint: object_name_linter.

bind_categories <- function(bind, tables) {
  tables <- unname(tables[lengths(tables) > 0L])
  values <- category_values(tables[[1L]])
  same <- vapply(tables, function(x) is_category_table(x) && identical(category_values(x), values), NA)
  if (!all(same)) {
    stop_input("Tables must be category_table()s of the same values to be bound: argument %d is not.",
      which(!same)[1L])
  }
  new_category_table(do.call(bind, lapply(tables, unclass)), values)
}

#' @export
as.data.frame.category_table <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint: object_name_linter.
  text <- category_text(x)
  columns <- lapply(seq_len(ncol(x)), function(j) factor(text[, j], category_values(x)))
  names(columns) <- side_labels(x)[[2L]]
  data.frame(columns, row.names = rownames(x), check.names = FALSE)
}

#' @export
print.category_table <- function(x, ..., n = 10L) {
  check_dots(...)
  n <- check_shown(n)
  cat(sprintf("Table of values: %s; %s\n", table_words(dim(x)), paste(category_values(x), collapse = ", ")))
  shown <- utils::head(category_text(x), n)
  print(shown, quote = FALSE, na.print = "NA")
  if (nrow(x) > n) cat(sprintf("... and %s\n", count_words(nrow(x) - n, "row")))
  invisible(x)
}
