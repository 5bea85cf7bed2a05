#' The entropic M-step: a distribution with counts and a taste for (un)evenness
#'
#' The most probable distribution \eqn{\theta} given expected counts \eqn{\omega} and an entropic prior
#' \eqn{\exp(\beta \sum_i \theta_i \log \theta_i)}{exp(beta sum theta log theta)}. It is the step by which [plsa()]
#' makes its rows sparse.
#'
#' @details
#' Maximises \deqn{f(\theta) = \sum_i \omega_i \log \theta_i + \beta \sum_i \theta_i \log \theta_i}{
#' f(theta) = sum omega log theta + beta sum theta log theta} over the simplex: eqs. (7) and (8) of the paper.
#' \eqn{\beta > 0} favours few large shares, \eqn{\beta < 0} even ones, \eqn{\beta = 0} gives
#' \eqn{\omega / \sum \omega}{omega / sum(omega)}.
#'
#' The paper's solution puts every share on the branch \eqn{W_{-1}} of the Lambert W function. That is not always the
#' maximum and need not exist: where \eqn{\beta} exceeds the largest count, the largest share may stand on \eqn{W_0}.
#' `"global"` takes the better of all maxima, `"first"` the one with the smallest largest share, which is the paper's
#' where that exists. They differ only for \eqn{\beta} above the largest of many nearly equal counts.
#'
#' W is never evaluated at its argument, which would overflow, but through the logarithm of it, so counts and `beta` may
#' have any finite magnitude. Only their ratio matters: `entropic_mstep(s * omega, s * beta)` is the same for all s > 0.
#'
#' **Special cases.** A count of 0 gives a share of exact 0 for \eqn{\beta \ge 0}{beta >= 0} and a positive one for
#' \eqn{\beta < 0}; a positive count always gets a share above 0. Of several largest counts the first becomes the
#' largest share. Nothing counted at all: all mass on the first for \eqn{\beta > 0}, else equal shares.
#'
#' **Cost.** O(K) Lambert W evaluations for each of some 5 to 10 Newton steps.
#'
#' @param omega expected counts, finite and at least 0: a vector, or a matrix with one problem in each row.
#' @param beta strength of the prior, in counts: one finite number, or one for each row of a matrix.
#' @param method `"global"` or `"first"`; see Details.
#' @return Shares that sum to 1: a vector or matrix of the shape and names of `omega`.
#' @references Shashanka M, Raj B, Smaragdis P (2007). Sparse overcomplete latent variable decomposition of counts
#'   data. *Advances in Neural Information Processing Systems* 20.
#'
#'   Brand M (1999). Pattern discovery via entropy minimization. *Uncertainty 99 (AISTATS 99)*.
#'
#'   Corless RM, Gonnet GH, Hare DEG, Jeffrey DJ, Knuth DE (1996). On the Lambert W function. *Advances in
#'   Computational Mathematics* 5, 329-359. \doi{10.1007/BF02124750}
#' @examples
#' omega <- c(dog = 5, cat = 3, eel = 0)
#' entropic_mstep(omega, 0)
#' entropic_mstep(omega, 4) # sparser
#' entropic_mstep(omega, -4) # more even
#' @export
entropic_mstep <- function(omega, beta, method = c("global", "first")) {
  method <- check_choice(method, "method", c("global", "first"))
  check_given(omega, beta)
  if (!is.numeric(omega) || !length(omega)) {
    stop_input("`omega` must be a numeric vector or matrix with at least one value, not %s.", show_value(omega))
  }
  as_rows <- if (is.matrix(omega)) omega else matrix(omega, 1L)
  bad <- which(is.na(as_rows) | as_rows < 0 | is.infinite(as_rows))
  if (length(bad)) {
    stop_input("`omega` must hold finite values of at least 0: value %d is %s.", bad[1L], format(as_rows[bad[1L]]))
  }
  if (!is.numeric(beta) || !length(beta) %in% c(1L, nrow(as_rows)) || anyNA(beta) || any(is.infinite(beta))) {
    stop_input("`beta` must be one finite number, or one for each row of `omega`, not %s.", show_value(beta))
  }
  counts <- t(as_rows) + 0
  dimnames(counts) <- NULL
  share <- .Call(mc_c_entropic, counts, rep_len(as.double(beta), nrow(as_rows)), entropic_rule(method))
  if (!is.matrix(omega)) {
    return(stats::setNames(drop(share), names(omega)))
  }
  share <- t(share)
  dimnames(share) <- dimnames(omega)
  share
}

# As num_entropic_rule in src/num_simplex.h.
entropic_rule <- function(method) match(method, c("cccp", "global", "first")) - 1L
