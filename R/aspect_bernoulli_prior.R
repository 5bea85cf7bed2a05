# Prior of aspect_bernoulli() and visits_bernoulli(): only this file interprets its parts. Kernels get a row of numbers
# per component (src/aspect_bernoulli/prior.h), so that priors by component need no change there.

# Checks list(aspects, membership). Variational Bayes and Gibbs sampling (`bayes`) accept parameters below 1.
ab_check_prior <- function(prior, bayes = FALSE) check_prior(prior, c("aspects", "membership"), bayes)

vb_default_prior <- list(aspects = c(0.5, 0.5), membership = 0.5)

# With neighbours (`smoothed`) the shares need no further prior.
ab_default_prior <- function(estimate, smoothed) {
  if (estimate %in% c("vb", "gibbs")) {
    return(vb_default_prior)
  }
  list(aspects = c(1.2, 2), membership = if (smoothed) 1 else 1.1)
}

# Returns the parameters of the densities, k x 3: two of the Beta of a component's aspects, one of the rows' Dirichlet.
prior_parameters <- function(prior, fixed) {
  matrix(as.double(c(prior$aspects, prior$membership)), length(fixed), 3L, byrow = TRUE)
}

# Returns the prior of n rows and m columns in the form of the `posterior` of variational Bayes.
prior_state <- function(prior, fixed, n, m) {
  k <- length(fixed)
  at <- prior_parameters(prior, fixed)
  list(membership = matrix(at[, 3L], n, k, byrow = TRUE), one = matrix(at[, 1L], k, m), zero = matrix(at[, 2L], k, m))
}

# Returns the pseudo-counts that a posterior mode adds to the expected counts; 0 without a prior (maximum likelihood).
mode_counts <- function(prior, fixed) {
  if (is.null(prior)) matrix(0, length(fixed), 3L) else prior_parameters(prior, fixed) - 1
}

# Computes the log-density of a posterior mode's prior up to a constant, as ab_log_prior() in
# src/aspect_bernoulli/prior.c.
mode_log_prior <- function(prior, fixed, param) {
  counts <- mode_counts(prior, fixed)
  sum_log <- function(count, values) if (count > 0) count * sum(log(values)) else 0
  sum(vapply(seq_along(fixed), function(c) {
    free <- fixed[c] == "free"
    sum_log(counts[c, 3L], param$membership[, c]) + if (free) {
      sum_log(counts[c, 1L], param$aspects[c, ]) + sum_log(counts[c, 2L], 1 - param$aspects[c, ])
    } else {
      0
    }
  }, 0))
}

# Returns the prior of a fit by posterior mode, otherwise NULL.
mode_prior <- function(fit) if (identical(fit$estimate, "map")) fit$prior

# Drops the density of the aspects, which is constant if they are fixed.
membership_prior <- function(prior) {
  if (!is.null(prior)) prior$aspects <- c(1, 1)
  prior
}

# Computes the cells that each component is expected to have written, n x k: memberships are shares of an observation's
# cells plus the pseudo-counts of the prior, which are subtracted.
written_cells <- function(fit) {
  bayes <- fit$estimate %in% c("vb", "gibbs")
  counts <- if (bayes) prior_parameters(fit$prior, fit$fixed) else mode_counts(mode_prior(fit), fit$fixed)
  added <- counts[, 3L]
  sweep(fit$param$membership * (fit$margins$row_observed + sum(added)), 2L, added)
}

# Empirical Bayes: maximises the part of the variational bound that depends on the hyperparameters, their log-likelihood
# for the expected logs of memberships and aspects, concave in each of the two groups.
eb_prior <- function(state, fixed, prior) {
  n <- nrow(state$membership)
  k <- ncol(state$membership)
  log_share <- sum(digamma(state$membership)) - k * sum(digamma(rowSums(state$membership)))
  rows <- function(alpha) n * (lgamma(k * alpha) - k * lgamma(alpha)) + alpha * log_share
  if (k > 1L) prior$membership <- eb_climb(prior$membership, rows)
  free <- fixed == "free"
  one <- state$one[free, , drop = FALSE]
  zero <- state$zero[free, , drop = FALSE]
  base <- sum(digamma(one + zero))
  logs <- c(sum(digamma(one)) - base, sum(digamma(zero)) - base)
  cells <- function(ends) sum(ends * logs) - length(one) * lbeta(ends[1L], ends[2L])
  if (any(free)) prior$aspects <- eb_climb(prior$aspects, cells)
  prior
}

eb_range <- c(1e-3, 1e3)

# Maximises `value` from `from`; the result is never worse than `from`.
eb_climb <- function(from, value) {
  bound <- log(eb_range)
  found <- stats::optim(
    pmin(pmax(log(from), bound[1L]), bound[2L]), function(x) -value(exp(x)), method = "L-BFGS-B", lower = bound[1L],
    upper = bound[2L], control = list(factr = 1e4)
  )
  if (isTRUE(-found$value > value(from))) exp(found$par) else from
}
