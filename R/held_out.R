#' Held-out likelihood of new sites
#'
#' Log-likelihood of each new site under a fitted model: how well the model predicts rows it has not seen.
#'
#' @details
#' This is eq. (23) of the paper: the training rows serve as equally likely components, each with the probabilities that
#' the fit gives its cells, and the likelihood of a new row's observed cells is averaged over them (in logarithms,
#' without underflow). Nothing is fitted to the new row. [cross_validate()] with `criterion = "rows"` sums the same
#' numbers. Two models have components of their own in place of the training rows: [bernoulli_mixture()] its own (eq.
#' 26), and [noisy_or()] the states of its sources (on or off), summed out exactly up to 16 sources and beyond by
#' importance sampling.
#'
#' The probability that a component gives to what is seen in a cell, whether 1 or 0, counts as at least `floor`: maximum
#' likelihood puts cells at exact 0 or 1, and one impossible cell would make the whole row impossible. The value depends
#' on the floor, so compare models under the same one.
#'
#' Models of counts ([nmf()] with `loss = "kl"`, [plsa()], [plca()] of a matrix, [bmf()] with `family = "poisson"`) give
#' Poisson probabilities with the means of the training rows, at least `floor`; with `family = "bernoulli"` they are
#' judged as the others, by the probability of at least one. With `family = "multinomial"` they are judged as in eq.
#' (24), by the share that each column has in a row's mean: the likelihood is the product of the shares of the presences
#' (of a count, to its power), without a factor for their order. Zeros do not count there, so the value cannot be
#' compared with that of another family. A training row without any count is no component, and `newdata` may have no
#' `NA`.
#'
#' A fit of [visits_bernoulli()], of [nmf()] by squared error, of [plca()] to an array, and of [bmf()] with `family =
#' "gaussian"` has no such likelihood: an error names what to use instead.
#'
#' Cost: O(m) for each component, and O(number of ones) for each pair of a component and a new row; O(k m) more for each
#' training row of [aspect_bernoulli()]. Components are \eqn{2^k} states of a [noisy_or()]; by importance sampling it
#' takes O(k m) a draw.
#'
#' @param fit a fit of a model of this package.
#' @param newdata new sites, columns matched by name or by place, `NA` allowed.
#' @param ... arguments of the model:
#' \describe{
#'   \item{`training`}{(where training rows are the components) their names or numbers; `NULL` is all but those with
#'     nothing observed, whose memberships are those of the start.}
#'   \item{`nsim`}{(`noisy_or()` with more than 16 sources) draws of a row's sources, at least 100; default 2000.}
#' }
#' @param floor number from 0 to 0.5, the least probability of what is seen in a cell, see Details; 0 is the model as it
#'   is.
#' @param family `NULL`: the model's own. `"bernoulli"` judges models of counts by 0/1 rows, `"multinomial"` by the
#'   shares of columns, see Details.
#' @return A numeric vector of class `test_loglik`: nats for each row, with row names, `NA` for rows with nothing
#'   observed. Attributes `floor`, `total` (sum over rows) and `mean` (per row, as in the paper's Fig. 3), both without
#'   those rows; where rows were sampled also `effective`, the effective number of draws of each.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(600, 1, 0.3), 60, 10)
#' fit <- aspect_bernoulli(x[1:50, ], k = 2)
#' test_loglik(fit, x[51:60, ])
#' @export
test_loglik <- function(fit, newdata, ..., family = NULL, floor = 1e-6) {
  check_fit(fit)
  floor <- check_number(floor, "floor", 0, 0.5)
  if (missing(newdata)) stop_input("`newdata` must be supplied: rows that the model was not fitted to.")
  own <- row_family(fit)
  known <- unique(c(own, "bernoulli", if (own == "poisson") "multinomial"))
  family <- if (is.null(family)) own else check_choice(family, "family", known)
  # Evaluated late: a model without a likelihood reports that before new data are checked.
  delayedAssign("data", new_row_data(fit, newdata, family))
  value <- held_out_rows(fit, data, floor, family, ...)
  effective <- attr(value, "effective")
  bare <- data$margins$row_observed == 0
  value[bare] <- NA
  if (any(bare)) {
    inform("No likelihood (NA) for %s of `newdata` with nothing observed.", count_words(sum(bare), "row"))
  }
  never <- sum(value == -Inf, na.rm = TRUE)
  if (never) inform("-Inf for %s of `newdata`, impossible under the model.", count_words(never, "row"))
  structure(
    stats::setNames(as.vector(value), rownames(data$x)),
    class = "test_loglik", floor = floor, total = sum(value[!bare]), mean = mean(value[!bare]), effective = effective
  )
}

#' @export
print.test_loglik <- function(x, digits = max(3L, getOption("digits") - 3L), n = 10L, ...) {
  digits <- check_digits(digits)
  n <- check_shown(n)
  write_sentences(sprintf(
    "Log-likelihood of %s: %s, %s per row (probabilities at least %s)", count_words(sum(!is.na(x)), "new row"),
    format(attr(x, "total"), digits = digits), format(attr(x, "mean"), digits = digits), format(attr(x, "floor"))
  ))
  values <- stats::setNames(as.vector(x), names(x))
  print(utils::head(values, n), digits = digits)
  if (length(values) > n) cat(sprintf("... and %d more\n", length(values) - n))
  invisible(x)
}
