#' Held-out likelihood of new observations
#'
#' Log-likelihood of each new observation under a fitted model: how well the model predicts rows it has not seen.
#'
#' @details
#' For the aspect Bernoulli model this is eq. (23) of the paper: the memberships of the training rows serve as equally
#' likely components, and the likelihood of a new row's observed cells is averaged over them (in logarithms, without
#' underflow). No membership is fitted to the new row. The probability of what is seen in a cell, be it 1 or 0, counts
#' as at least `floor`: maximum likelihood puts cells at exact 0 or 1, and one impossible cell would make the whole row
#' impossible. The value depends on the floor, which is why it is printed: compare models under the same one. Cost:
#' O(k m) for each training row, and O(number of ones) for each pair of a training and a new row.
#'
#' For [noisy_or()] the sources of the new row are summed out: exactly up to 16 sources, \eqn{O(2^k m)} a row, beyond by
#' importance sampling, O(k m) a draw. The leak counts as at least `floor`, links and leak as at most 1 - `floor`.
#'
#' @param fit a fit of [aspect_bernoulli()] or [noisy_or()]; any other is an error of class `multicause_input_error`.
#' @param newdata new observations, columns matched by name or by place, `NA` allowed.
#' @param ... must be empty.
#' @param floor number from 0 to 0.5, how far probabilities are kept off 0 and 1, see Details; 0 is the model as it is.
#' @param training names or numbers of the training rows that serve as components; `NULL` is all but those with nothing
#'   observed, whose memberships are those of the start.
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
test_loglik <- function(fit, newdata, ...) UseMethod("test_loglik")

#' @export
test_loglik.default <- function(fit, newdata, ...) {
  check_fit(fit)
  stop_input("`fit` must be of a model with a held-out likelihood, not of %s().", class(fit)[1L])
}

#' @rdname test_loglik
#' @export
test_loglik.aspect_bernoulli <- function(fit, newdata, ..., floor = 1e-6, training = NULL) {
  check_dots(...)
  floor <- check_number(floor, "floor", 0, 0.5)
  if (!is.null(fit$missed_by)) {
    stop_input("A fit with `visits` has no likelihood for new observations: fit them together with the others.")
  }
  if (missing(newdata)) stop_input("`newdata` must be given: observations the model was not fitted to.")
  data <- check_data(new_rows(fit, newdata), "binary", "newdata", quiet = TRUE)
  trained <- which(fit$margins$row_observed > 0)
  if (!is.null(training)) trained <- pick(training, fit$dims[["n"]], fit$names[[1L]], "training")
  param <- list(membership = unname(fit$param$membership[trained, , drop = FALSE]), aspects = unname(fit$param$aspects))
  value <- .Call(mc_c_ab_test_loglik, data$view, param, floor)
  bare <- data$margins$row_observed == 0
  value[bare] <- NA
  if (any(bare)) inform("%d row(s) of `newdata` with nothing observed have no likelihood: NA.", sum(bare))
  structure(
    stats::setNames(value, rownames(data$x)),
    class = "test_loglik", floor = floor, total = sum(value[!bare]), mean = mean(value[!bare])
  )
}

#' @export
print.test_loglik <- function(x, digits = max(3L, getOption("digits") - 3L), n = 10L, ...) {
  cat(sprintf(
    "Held-out log-likelihood of %d rows: %s nats in all, %s per row (probabilities floored at %s)\n", sum(!is.na(x)),
    format(attr(x, "total"), digits = digits), format(attr(x, "mean"), digits = digits), format(attr(x, "floor"))
  ))
  values <- stats::setNames(as.vector(x), names(x))
  print(utils::head(values, n), digits = digits)
  if (length(values) > n) cat(sprintf("... and %d more\n", length(values) - n))
  invisible(x)
}
