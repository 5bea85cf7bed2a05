# Values given for sites, taxa or both, in the order of the data. Where both have names, names alone decide, and each
# must be there once; where one side has none, values are taken in their order. Arguments that say some of them, by
# names, numbers or TRUE and FALSE, go through pick().

# Names of the entries of a vector or of what tapply() and table() make of one factor, or of the rows of a table. The
# numbers that every data frame has are none.
given_names <- function(x) {
  if (is.data.frame(x)) {
    if (is.character(attr(x, "row.names"))) attr(x, "row.names")
  } else if (length(dim(x)) == 2L) {
    dimnames(x)[[1L]]
  } else if (is_line(x) && (is.atomic(x) || is.list(x))) {
    names(x)
  }
}

# Row numbers that as.matrix() and dist() make names of are no names, unless the data have some of them.
is_numbering <- function(labels, known) {
  identical(labels, as.character(seq_along(labels))) && !any(labels %in% known)
}

# Where each of `known`, the names of the data, is among `labels`, the names of what was given; NULL: taken in order.
#   others  whether values of others may be there, too, as covariates of sites that were left out
#   what    what messages call the names
name_order <- function(labels, known, argument, others = FALSE, what = "Names") {
  if (is.null(labels) || is.null(known) || identical(labels, known) || is_numbering(labels, known)) {
    return(NULL)
  }
  twice <- unique(labels[duplicated(labels)])
  wrong <- list(
    "they lack %s" = setdiff(known, labels),
    "they have %s twice" = if (others) intersect(twice, known) else twice,
    "the data have no %s" = if (!others) setdiff(labels, known)
  )
  wrong <- wrong[lengths(wrong) > 0L]
  if (length(wrong)) {
    stop_input(
      "%s of `%s` must be those of the data, each once: %s.", what, argument,
      paste(mapply(sprintf, names(wrong), lapply(wrong, show_names)), collapse = ", ")
    )
  }
  match(known, labels)
}

# A vector, or a table with a row for each.
by_name <- function(x, known, argument, others = FALSE) {
  at <- name_order(given_names(x), known, argument, others, if (is_line(x)) "Names" else "Row names")
  if (is.null(at)) x else if (is_line(x)) x[at] else x[at, , drop = FALSE]
}

# A table of sites and taxa; known: the names of its rows and of its columns, or NULL.
by_names <- function(x, known, argument) {
  if (length(dim(x)) != 2L) {
    return(x)
  }
  x <- by_name(x, known[[1L]], argument)
  at <- name_order(colnames(x), known[[2L]], argument, what = "Column names")
  if (is.null(at)) x else x[, at, drop = FALSE]
}

# A number for all, a range of two, or a value for each: numbers that are named for what they are, such as c(low = ,
# high = ), are not of sites.
by_name_unless_range <- function(x, known, argument) {
  of_all <- is_line(x) && length(x) <= 2L && !any(given_names(x) %in% known)
  if (of_all) x else by_name(x, known, argument)
}
