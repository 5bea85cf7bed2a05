#' Zeros inside the age range of a taxon
#'
#' Marks the zeros of a taxon at sites of an age between an older and a younger presence (*range-through* or *Lazarus*
#' gaps), which are gaps of the record if the taxon lived at that place at all. This classical rule uses ages alone.
#' @param x A matrix of sites by taxa as every model takes it: 0/1, logical or counts, data frame or
#'   sparse; above 0 is a presence, `NA` an unknown cell.
#' @param age The ages of the sites, in the order of the rows of `x`, in any unit and direction: a numeric
#'   vector, or a matrix or data frame of two numeric columns with the two bounds of each age (in either order, such
#'   as `max_ma` and `min_ma`). Named ages (vector) or ages with row names that are the row names of `x` are matched
#'   by name.
#' @param ties What counts as inside. `"exclude"`: ages strictly between those of the oldest and the youngest presence.
#'   `"include"`: also the age of the oldest and of the youngest presence itself. `"order"`: every site
#'   between the first and the last presence in the order of age. Sites of equal age then are in the order of the rows
#'   of `x`: it is for tables whose rows are in stratigraphic order, and not for ages with bounds.
#'
#' @details
#' With bounds, only what is certain counts. For ages before the present, a taxon surely lived from its largest
#' `min_ma` to its smallest `max_ma`: it appeared no later than the first and disappeared no earlier than the second. A
#' site is surely inside when both of its bounds are. So coarse dating can only reduce the number of gaps. Equal bounds
#' give the same as single ages. A taxon with all of its presences in intervals that overlap has no certain range.
#'
#' `"include"` and `"order"` differ for sites of equal age. With `"include"` all of them are inside when one holds
#' the oldest presence. A taxon found once then has gaps at all other sites of that age; with `"exclude"` or `"order"`
#' it has none. With `"order"`, rows are taken to run from old to young if ages mostly decrease from the first row to
#' the last, else from young to old.
#'
#' A site without an age is never inside and extends no range. A message of class `multicause_message` reports how many
#' there are. Take care with ages that come from the fossils themselves, as most land-mammal ages do. The result is then
#' circular: a range is drawn through sites that were dated by the taxa of the table.
#'
#' Cost: proportional to the cells of `x`.
#'
#' @param ... Must be empty.
#' @return A logical matrix of the shape and names of `x`, `TRUE` at zeros inside the range of their taxon and
#'   `FALSE` elsewhere, also at presences and unknown cells; for sparse `x` a sparse `lgCMatrix`. Wrong input is an
#'   error of class `multicause_input_error`.
#'
#' @references
#' Foote M (2000). Origination and extinction components of taxonomic diversity: general problems. *Paleobiology*
#' 26(S4), 74-102. \doi{10.1017/S0094837300026890}
#'
#' @seealso [occurrence_matrix()]
#' @examples
#' x <- early_tetrapods$x
#' sites <- early_tetrapods$sites
#'
#' gaps <- range_through(x, sites$age)
#' sum(gaps) / sum(x == 0) # share of the zeros that are gaps
#' head(sort(colSums(gaps), decreasing = TRUE))
#'
#' # certain gaps, whatever the true ages within their bounds
#' sum(range_through(x, sites[c("max_ma", "min_ma")]))
#' @export
range_through <- function(x, age, ties = c("exclude", "include", "order"), ...) {
  check_dots(...)
  data <- check_data(x, "nonnegative", quiet = TRUE)
  check_blank_cells(data)
  x <- data$x
  ties <- check_choice(ties)
  if (missing(age)) {
    stop_input("`age` must be supplied: the ages of the rows of `x`.")
  }
  age <- check_age(age, x)
  if (ties == "order") {
    age <- age_ranks(age)
  }
  undated <- sum(is.na(age$old))
  if (undated > 0L) {
    inform("No range goes through rows of `x` without an age: %d of %d.", undated, nrow(x))
  }
  gaps <- if (inherits(x, "dgCMatrix")) range_gaps_sparse else range_gaps_dense
  gaps(x, age, inclusive = ties == "include")
}

# Returns the older and the younger bound of each row of x; greater values are older.
check_age <- function(age, x) {
  if (is.data.frame(age)) age <- plain_frame(ages_without_units(age))
  if (is.data.frame(age) && !is.null(rownames(x))) age <- by_key_column(age, "age", rownames(x))
  age <- by_name(read_ages(age), rownames(x), "age", others = TRUE)
  table <- if (is.data.frame(age)) {
    unclass(age)
  } else if (is_line(age)) {
    list(age)
  } else if (length(dim(age)) == 2L) {
    split_columns(age)
  }
  if (!length(table) %in% 1:2 || !all(vapply(table, function(side) is.numeric(side) && is_line(side), NA))) {
    stop_input("`age` must be a numeric vector or a table of one or two numeric columns, not %s.", show_value(age))
  }
  if (length(table[[1L]]) != nrow(x)) {
    stop_input("`age` must have one age for each of the %d rows of `x`, not %d.", nrow(x), length(table[[1L]]))
  }
  old <- do.call(pmax, unname(table))
  young <- do.call(pmin, unname(table))
  wrong <- which(is.infinite(old) | is.infinite(young))
  if (length(wrong)) {
    stop_input("`age` must hold finite numbers or NA: %s is infinite.", place_words(x, 1L, wrong[1L]))
  }
  list(old = as.double(old), young = as.double(young))
}

# Ranks places by age. Rows of equal age keep the order of the table, which is read as running from old to young if ages
# decrease along it overall, else from young to old.
age_ranks <- function(age) {
  if (any(age$old != age$young, na.rm = TRUE)) {
    stop_input("`age` must be one number for each row of `x` if `ties` is \"order\": its two bounds differ.")
  }
  row <- seq_along(age$old)[!is.na(age$old)]
  falling <- sum((row - mean(row)) * age$old[row]) < 0
  sign <- if (falling) -1 else 1
  place <- rank(sign * age$old, na.last = "keep", ties.method = "first")
  list(old = place, young = place)
}

# Computes the certain range of each column: from the greatest younger bound to the least older bound of its presences.
# Of values assigned to one place the last stays: the greatest, or the least.
certain_range <- function(i, j, m, age) {
  dated <- !is.na(age$old[i])
  i <- i[dated]
  j <- j[dated]
  first <- rep(-Inf, m)
  last <- rep(Inf, m)
  up <- order(age$young[i])
  first[j[up]] <- age$young[i][up]
  down <- order(age$old[i], decreasing = TRUE)
  last[j[down]] <- age$old[i][down]
  list(first = first, last = last)
}

range_gaps_dense <- function(x, age, inclusive) {
  found <- which(x > 0)
  range <- certain_range((found - 1L) %% nrow(x) + 1L, (found - 1L) %/% nrow(x) + 1L, ncol(x), age)
  first <- rep(range$first, each = nrow(x))
  last <- rep(range$last, each = nrow(x))
  gap <- x %in% 0 & if (inclusive) age$old <= first & age$young >= last else age$old < first & age$young > last
  gap[is.na(gap)] <- FALSE # no age
  matrix(gap, nrow(x), ncol(x), dimnames = dimnames(x))
}

range_gaps_sparse <- function(x, age, inclusive) {
  column <- rep(seq_len(ncol(x)), diff(x@p))
  found <- which(x@x > 0)
  range <- certain_range(x@i[found] + 1L, column[found], ncol(x), age)
  other <- is.na(x@x) | x@x != 0
  taken <- split(x@i[other] + 1L, factor(column[other], levels = seq_len(ncol(x))))
  rows <- lapply(seq_len(ncol(x)), function(j) {
    first <- range$first[j]
    last <- range$last[j]
    inside <- if (inclusive) age$old <= first & age$young >= last else age$old < first & age$young > last
    setdiff(which(inside), taken[[j]])
  })
  gap <- Matrix::sparseMatrix(
    unlist(rows), rep(seq_along(rows), lengths(rows)),
    x = rep(TRUE, sum(lengths(rows))), dims = dim(x), dimnames = dimnames(x)
  )
  gap
}
