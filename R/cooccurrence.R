# Which items belong together, whatever the features are called.

#' How often rows, or columns, have features in common
#'
#' Averages over the draws of a fit, which do not depend on the labels of features.
#'
#' @param fit a fit of [bmf()].
#' @param of `"site"` (the rows) or `"taxon"` (the columns).
#' @param what `"shared"`: the mean number of features that two of them share (on the diagonal: that one has);
#'   `"any"`: the posterior probability that they share at least one.
#' @param ... must be empty.
#' @param site,taxon which sites (which taxa), by number or name, if `of` is these; `NULL`: all.
#' @param nsim most kept states used, evenly spaced over all chains.
#' @return A symmetric matrix of those sites or taxa, user-fixed features left out. Over 1 GB is refused: choose some.
#' @inherit bmf_prior references
#' @examples
#' set.seed(1)
#' x <- outer(rep(1:0, each = 10), rep(c(2, 0), 4)) + rnorm(160, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' round(cooccurrence(fit, "taxon"), 2)
#' @export
cooccurrence <- function(fit, of = c("site", "taxon"), what = c("shared", "any"), ..., nsim = 400, site = NULL,
                         taxon = NULL) {
  check_dots(...)
  check_fit(fit, "bmf")
  of <- check_choice(of)
  what <- check_choice(what)
  s <- match(of, c("site", "taxon"))
  chosen <- list(site = site, taxon = taxon)
  if (!is.null(chosen[[3L - s]])) stop_input("`%1$s` goes with `of = \"%1$s\"`.", names(chosen)[3L - s])
  names <- fit$names[[s]]
  items <- pick(chosen[[s]], fit$dims[[c("n", "m")[s]]], names, of)
  refuse_large(as.double(length(items))^2, "The result", sprintf("choose some with `%s`", of))
  n_fixed <- ncol(fit$fixed[[s]])
  total <- 0
  kept <- bmf_states(fit, check_count(nsim, "nsim"))
  for (state in kept) {
    on <- as_number_matrix(state[[c("rows", "columns")[s]]][items, , drop = FALSE])
    shared <- tcrossprod(on[, seq_len(ncol(on)) > n_fixed, drop = FALSE])
    total <- total + if (what == "any") shared > 0 else shared
  }
  out <- total / length(kept)
  dimnames(out) <- if (!is.null(names)) list(names[items], names[items])
  out
}
