# Plants omissions and additions in tables.

#' Plant omissions and additions at known rates
#'
#' Deletes presences from a 0/1 table at random, and adds others. It remembers which: this is the truth for
#' [recovery()].
#'
#' @details
#' A presence is deleted with the probability that `omit` gives. Then every cell is set to 1 with the probability that
#' `add` gives. Where a 1 stands already nothing changes, so the share of new ones is a little smaller (as in Bingham et
#' al. 2009). A deleted presence may be added back; it then counts as neither.
#'
#' From a range of two numbers, rates are drawn uniformly: one for every site with `per = "site"` (as in Bingham et al.
#' 2009), one for every cell with `"cell"`, which has the same distribution as the mean rate everywhere.
#'
#' @param x a complete or incomplete 0/1 table, as [aspect_bernoulli()] takes it. Unknown cells stay unknown.
#' @param omit,add rates within \[0, 1\]: one number, a range of two, or one for each of the n sites; 0 plants
#'   none. (For a table of two sites a pair is read as a range.)
#' @param per whether rates from a range are drawn for each site or each cell.
#' @param ... must be empty.
#' @return A list of class `corruption`: `x`, the corrupted table; `omitted` and `added`, logical n x m matrices, true
#'   where a presence was deleted or an absence turned into a presence; `original`, the table `x`; `rates`, a data frame
#'   with the rates `omit` and `add` of each site (`NA` where every cell has its own).
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78, section 3.6. \doi{10.1007/s10044-007-0096-4}
#' @seealso [recovery()]
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.4), 20, 10)
#' planted <- corrupt(x, omit = c(0, 0.4))
#' planted
#' fit <- aspect_bernoulli(planted$x, k = 2)
#' recovery(fitted(fit), planted)
#' @export
corrupt <- function(x, omit = 0, add = 0, per = c("site", "cell"), ...) {
  check_dots(...)
  per <- check_choice(per)
  data <- check_data(x, "binary", quiet = TRUE)
  original <- as.matrix(data$x) + 0
  n <- nrow(original)
  omit <- draw_rates(omit, "omit", original, per)
  add <- draw_rates(add, "add", original, per)
  deleted <- original == 1 & matrix(stats::runif(length(original)), n) < omit
  deleted[is.na(deleted)] <- FALSE
  out <- original
  out[deleted] <- 0
  raised <- !is.na(out) & matrix(stats::runif(length(original)), n) < add
  out[raised] <- 1
  structure(
    list(
      x = out, omitted = deleted & !raised, added = raised & !is.na(original) & original == 0, original = original,
      rates = data.frame(omit = shared_rate(omit), add = shared_rate(add), row.names = rownames(original))
    ),
    class = "corruption"
  )
}

shared_rate <- function(rates) if (all(rates == rates[, 1L])) rates[, 1L] else NA_real_

# Returns a matrix of rates of the shape of x.
draw_rates <- function(rate, name, x, per) {
  n <- nrow(x)
  m <- ncol(x)
  rate <- by_name_unless_range(rate, rownames(x), name)
  ok <- is.numeric(rate) && !anyNA(rate) && all(rate >= 0 & rate <= 1) && length(rate) %in% c(1L, 2L, n)
  if (!ok) {
    stop_input(
      "`%s` must be one rate, a range of two or one rate for each of the %d rows, within 0 and 1, not %s.", name, n,
      show_value(rate)
    )
  }
  if (length(rate) != 2L) {
    return(matrix(rate, n, m))
  }
  if (rate[1L] > rate[2L]) {
    stop_input("`%s` must rise where it is a range, not fall from %s to %s.", name, rate[1L], rate[2L])
  }
  draws <- stats::runif(if (per == "site") n else as.double(n) * m, rate[1L], rate[2L])
  matrix(draws, n, m)
}
