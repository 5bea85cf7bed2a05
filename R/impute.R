#' Fill in unknown cells
#'
#' Puts the model's answer into the cells that are `NA`; observed cells stay as they are.
#'
#' @param fit a fit of a model of this package whose `predict()` gives every cell its probability or mean.
#' @param newdata sites with unknown cells, columns matched by name or place; `NULL`: the data of the fit.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns in any order, matched by name.
#' @return A matrix like the data, its unknown cells filled: with the probability of a 1 in 0/1 models, with the
#'   expected count or value in others. Cells that the model cannot answer (impossible rows of [noisy_or()]) stay `NA`.
#' @examples
#' x <- early_tetrapods$x
#' x[1, 2] <- NA
#' impute(bernoulli_mixture(x, k = 2))[1, 1:3]
#' @export
impute <- function(fit, newdata = NULL, ...) UseMethod("impute")

#' @rdname impute
#' @export
impute.multicause <- function(fit, newdata = NULL, ..., x = NULL) {
  check_dots(...)
  own <- is.null(newdata)
  x <- if (own) fit_data(fit, x) else new_rows(fit, newdata)
  if (own) fit$x <- x
  out <- dense_copy(x)
  unknown <- is.na(out)
  if (any(unknown)) {
    answer <- if (own) fitted(fit) else predict(fit, out)
    out[unknown] <- answer[unknown]
  }
  in_given_order(out, newdata)
}

# A table to fill in, where it fits into memory.
dense_copy <- function(x) {
  refuse_large(prod(dim(x)), "The result", "give fewer rows at a time as `newdata`")
  as.matrix(x) + 0
}

#' @export
impute.default <- function(fit, newdata = NULL, ...) check_fit(fit)
