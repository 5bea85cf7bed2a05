# Which items belong together, whatever the features are called.

#' How often rows, or columns, have features in common
#'
#' Averages over the draws of a fit, which do not depend on the labels of features.
#'
#' @param fit a fit of [bmf()].
#' @param side `"rows"` or `"columns"`.
#' @param what `"shared"`: the mean number of features that two items share (on the diagonal: that one has);
#'   `"any"`: the posterior probability that they share at least one.
#' @param items which rows (columns), by number or name; `NULL`: all.
#' @param states most kept states used, evenly spaced over all chains.
#' @return A symmetric matrix, items x items, user-fixed features left out. Over 1 GB is refused: choose `items`.
#' @inherit bmf_prior references
#' @examples
#' set.seed(1)
#' x <- outer(rep(1:0, each = 10), rep(c(2, 0), 4)) + rnorm(160, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' round(cooccurrence(fit, "columns"), 2)
#' @export
cooccurrence <- function(fit, side = c("rows", "columns"), what = c("shared", "any"), items = NULL, states = 400) {
  check_fit(fit, "bmf")
  side <- check_choice(side, "side", c("rows", "columns"))
  what <- check_choice(what, "what", c("shared", "any"))
  s <- match(side, c("rows", "columns"))
  names <- fit$names[[s]]
  items <- pick(items, fit$dims[[c("n", "m")[s]]], names, "items")
  refuse_large(as.double(length(items))^2, "The result", "choose some with `items`")
  n_fixed <- ncol(fit$fixed[[s]])
  total <- 0
  kept <- bmf_states(fit, check_count(states, "states"))
  for (state in kept) {
    on <- as_number_matrix(state[[side]][items, , drop = FALSE])
    shared <- tcrossprod(on[, seq_len(ncol(on)) > n_fixed, drop = FALSE])
    total <- total + if (what == "any") shared > 0 else shared
  }
  out <- total / length(kept)
  dimnames(out) <- if (!is.null(names)) list(names[items], names[items])
  out
}
