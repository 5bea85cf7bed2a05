#' Fill in unknown cells
#'
#' Puts the model's answer into the cells that are `NA`; observed cells stay as they are.
#'
#' @param fit a fit of a model of this package whose `predict()` gives every cell its probability or mean.
#' @param newdata observations with unknown cells, columns matched by name or place; missing: the data of the fit.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns in any order, matched by name.
#' @return A matrix like the data, its unknown cells filled: with the probability of a 1 in 0/1 models, with the
#'   expected count or value in others. Cells that the model cannot answer (impossible rows of [noisy_or()]) stay `NA`.
#' @examples
#' x <- early_tetrapods$x
#' x[1, 2] <- NA
#' impute(bernoulli_mixture(x, k = 2))[1, 1:3]
#' @export
impute <- function(fit, newdata, ...) UseMethod("impute")

#' @rdname impute
#' @export
impute.multicause <- function(fit, newdata, ..., x = NULL) {
  check_whole(fit, "fit")
  check_dots(...)
  own <- missing(newdata)
  x <- if (own) fit_data(fit, x) else new_rows(fit, newdata)
  if (own) fit$x <- x
  out <- as.matrix(x) + 0
  unknown <- is.na(out)
  if (any(unknown)) {
    answer <- if (own) fitted(fit) else predict(fit, out)
    out[unknown] <- answer[unknown]
  }
  out
}

#' @export
impute.default <- function(fit, newdata, ...) check_fit(fit)
