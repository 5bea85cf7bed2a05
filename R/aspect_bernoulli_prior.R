# The prior of aspect_bernoulli() and visits_bernoulli(): what its parts mean is known here, others hand it on whole.
# Kernels get a row of numbers for each component (src/aspect_bernoulli/prior.h), so that a part which treats some of
# them otherwise needs no change there.

# As given: list(aspects, membership). Variational Bayes and Gibbs sampling (`bayes`) take parameters below 1, too.
ab_check_prior <- function(prior, bayes = FALSE) check_prior(prior, c("aspects", "membership"), bayes)

vb_default_prior <- list(aspects = c(0.5, 0.5), membership = 0.5)

# What neighbours say of the shares is enough (`smoothed`).
ab_default_prior <- function(estimate, smoothed) {
  if (estimate %in% c("vb", "gibbs")) {
    return(vb_default_prior)
  }
  list(aspects = c(1.2, 2), membership = if (smoothed) 1 else 1.1)
}

# Parameters of the densities, k x 3: two of the Beta of a component's aspects, then its one of the rows' Dirichlet.
prior_parameters <- function(prior, pinned) {
  matrix(as.double(c(prior$aspects, prior$membership)), length(pinned), 3L, byrow = TRUE)
}

# The densities of n rows and m columns, as the `posterior` of variational Bayes.
prior_state <- function(prior, pinned, n, m) {
  k <- length(pinned)
  at <- prior_parameters(prior, pinned)
  list(membership = matrix(at[, 3L], n, k, byrow = TRUE), one = matrix(at[, 1L], k, m), zero = matrix(at[, 2L], k, m))
}

# What a posterior mode adds to the expected counts; without a prior (maximum likelihood) nothing.
mode_counts <- function(prior, pinned) {
  if (is.null(prior)) matrix(0, length(pinned), 3L) else prior_parameters(prior, pinned) - 1
}

# Log-density of a posterior mode's prior, up to a constant, as ab_log_prior() in src/aspect_bernoulli/prior.c has it.
mode_log_prior <- function(prior, pinned, param) {
  counts <- mode_counts(prior, pinned)
  sum_log <- function(count, values) if (count > 0) count * sum(log(values)) else 0
  sum(vapply(seq_along(pinned), function(c) {
    free <- pinned[c] == "free"
    sum_log(counts[c, 3L], param$membership[, c]) + if (free) {
      sum_log(counts[c, 1L], param$aspects[c, ]) + sum_log(counts[c, 2L], 1 - param$aspects[c, ])
    } else {
      0
    }
  }, 0))
}

# The prior whose mode a fit is, if it is one.
mode_prior <- function(fit) if (identical(fit$estimate, "map")) fit$prior

# The same where aspects are held, whose density is then no matter.
membership_prior <- function(prior) {
  if (!is.null(prior)) prior$aspects <- c(1, 1)
  prior
}

# Memberships are shares of an observation's cells and of what the prior adds for each component: without the latter,
# the cells that a component is expected to have written, n x k.
written_cells <- function(fit) {
  bayes <- fit$estimate %in% c("vb", "gibbs")
  counts <- if (bayes) prior_parameters(fit$prior, fit$pinned) else mode_counts(mode_prior(fit), fit$pinned)
  added <- counts[, 3L]
  sweep(fit$param$membership * (fit$margins$row_observed + sum(added)), 2L, added)
}

# Empirical Bayes: the part of the bound of variational Bayes that depends on the hyperparameters is their
# log-likelihood for the expected logs of memberships and aspects, concave in each of the two groups.
eb_prior <- function(state, pinned, prior) {
  n <- nrow(state$membership)
  k <- ncol(state$membership)
  log_share <- sum(digamma(state$membership)) - k * sum(digamma(rowSums(state$membership)))
  rows <- function(alpha) n * (lgamma(k * alpha) - k * lgamma(alpha)) + alpha * log_share
  if (k > 1L) prior$membership <- eb_climb(prior$membership, rows)
  free <- pinned == "free"
  one <- state$one[free, , drop = FALSE]
  zero <- state$zero[free, , drop = FALSE]
  base <- sum(digamma(one + zero))
  logs <- c(sum(digamma(one)) - base, sum(digamma(zero)) - base)
  cells <- function(ends) sum(ends * logs) - length(one) * lbeta(ends[1L], ends[2L])
  if (any(free)) prior$aspects <- eb_climb(prior$aspects, cells)
  prior
}

eb_range <- c(1e-3, 1e3)

# Never worse than where it begins.
eb_climb <- function(from, value) {
  bound <- log(eb_range)
  found <- stats::optim(
    pmin(pmax(log(from), bound[1L]), bound[2L]), function(x) -value(exp(x)), method = "L-BFGS-B", lower = bound[1L],
    upper = bound[2L], control = list(factr = 1e4)
  )
  if (isTRUE(-found$value > value(from))) exp(found$par) else from
}
