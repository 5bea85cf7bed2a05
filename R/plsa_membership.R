# Topics by covariates: plsa(membership = ~ ...), drawn by the sampler of plsa_gibbs.R, whose problem and fit have the
# classes `plsa_regression_problem` and `plsa_regression`. Memberships are Dirichlet with parameters a s_i, the
# concentration a times shares by covariates, see base_memberships.R and src/plsa/gibbs.h.

# Checks what `membership` goes with and adds to the settings: `covariates`, as of membership_design() with the `ridge`
# of effects and the `rate` of the prior of the concentration, `dirichlet` and `learn`.
plsa_follow <- function(settings, membership, site_data, data, k, prior, smooth) {
  if (settings$estimate != "gibbs") {
    stop_input("`membership` goes with `estimate = \"gibbs\"`, whose draws give effects their intervals.")
  }
  if (settings$sparse) stop_input("`membership` and `sparsity` cannot both be given: memberships have one prior.")
  if (settings$fixed == "basis") stop_input("`membership` does not go with `fixed`.")
  by <- membership_covariates(membership, site_data, data$x, smooth)
  prior <- plsa_regression_prior(prior, k)
  by$ridge <- 1 / prior$effects^2
  by$rate <- 1 / prior$concentration
  settings$covariates <- by
  settings$learn <- is.null(prior$basis)
  settings$dirichlet <- c(
    list(membership = prior$concentration / k, basis = prior$basis %||% plsa_eb_start$basis),
    prior[c("effects", "concentration")]
  )
  settings
}

# Checks list(effects = standard deviation, concentration = mean, basis = a number, or learnt where it is left out).
# `membership`, which the prior of a fit has, follows from effects.
plsa_regression_prior <- function(prior, k) {
  known <- c("effects", "concentration", "basis", "membership")
  if (identical(prior, "eb")) prior <- NULL
  if (!is.null(prior) && (!is.list(prior) || is.null(names(prior)) || !all(names(prior) %in% known))) {
    stop_input(
      "`prior` must be a list of %s with `membership`, not %s.", show_names(known[1:3]), show_value(prior)
    )
  }
  number <- function(name, default, least, most) {
    if (is.null(prior[[name]])) default else check_number(prior[[name]], paste0("prior$", name), least, most)
  }
  list(
    effects = number("effects", 1.65, 1e-6, 1e6), concentration = number("concentration", min(k, 1e3), 1e-3, 1e3),
    basis = if (!is.null(prior$basis)) check_dirichlet(prior$basis, "prior$basis", 1L, "a number", TRUE)
  )
}

learnt_prior.plsa_regression_problem <- function(problem, learnt) {
  now <- problem$settings$dirichlet
  now$basis <- learnt$basis
  now
}

# The kernel adds moments of memberships, whose priors change from draw to draw.
plsa_gibbs_moments.plsa_regression_problem <- function(problem, job) {
  n <- problem$dim[1L]
  k <- problem$k
  rows <- array(job$sums$sum_membership / job$n_draw, c(n, k, 2L))
  d <- length(problem$settings$covariates$terms)
  draws <- job$regression[, seq_len(job$n_draw), drop = FALSE]
  c(
    list(membership = matrix(rows[, , 1L], n), membership_square = matrix(rows[, , 2L], n)),
    basis_moments(problem, job),
    list(
      regression = array(draws[seq_len(d * k), ], c(d, k, job$n_draw)), concentration = draws[d * k + 1L, ]
    )
  )
}

complete_gibbs.plsa_regression_problem <- function(problem, fit, chains) {
  by <- problem$settings$covariates
  k <- problem$k
  draws <- do.call(cbind, lapply(chains, function(chain) matrix(chain$regression, ncol = dim(chain$regression)[3L])))
  fit$draws <- list(
    effects = effect_draws(draws, by, k, component_names(k)),
    concentration = unlist(lapply(chains, `[[`, "concentration"), use.names = FALSE)
  )
  fit$param$effects <- rowMeans(fit$draws$effects, dims = 2L)
  fit$param$concentration <- c(concentration = mean(fit$draws$concentration))
  fit$trace$concentration <- fit$draws$concentration
  fit$covariates <- by[c("formula", "terms", "design", "basis", "frame")]
  mean_share <- colMeans(over_effects(fit, function(effects) multinomial_shares(by$design, effects)))
  fit$prior$membership <- unname(fit$param$concentration * mean_share)
  class(fit) <- c("plsa_regression", "membership_regression", class(fit))
  fit
}

# The mean over draws of the effects, on columns of the design; of one mode where there are no draws.
over_effects <- function(fit, of) {
  draws <- fit$draws$effects
  if (is.null(draws)) {
    return(of(scaled_effects(fit)))
  }
  shown <- unique(round(seq(1, dim(draws)[3L], length.out = min(dim(draws)[3L], 200L))))
  over_states(shown, function(s) of(solve(fit$covariates$basis, matrix(draws[, , s], dim(draws)[1L]))))
}

dirichlet_states.plsa_regression <- function(fit, n, rows = seq_len(fit$dims[["n"]])) {
  by <- fit$covariates
  lapply(kept_states(fit, n), function(draw) {
    share <- multinomial_shares(by$design[, rows, drop = FALSE], draw$effects)
    list(
      membership = draw$rows[rows, , drop = FALSE] + draw$concentration * share,
      basis = draw$columns + fit$prior$basis, effects = by$basis %*% centred_effects(draw$effects),
      concentration = draw$concentration
    )
  })
}

prior_draw.plsa_regression <- function(fit) {
  k <- fit$dims[["k"]]
  by <- fit$covariates
  effects <- matrix(stats::rnorm(length(by$terms) * k, 0, fit$prior$effects), length(by$terms))
  repeat {
    concentration <- stats::rexp(1L, 1 / fit$prior$concentration)
    if (concentration > 1e-3 && concentration < 1e3) break
  }
  plsa_draw_from(without_draws(fit), list(
    membership = concentration * multinomial_shares(by$design, effects),
    basis = matrix(fit$prior$basis, k, fit$dims[["m"]]), effects = by$basis %*% centred_effects(effects),
    concentration = concentration
  ))
}

compared_quantities.plsa_regression <- function(fit, cells) {
  c(
    NextMethod(), concentration = fit$param$concentration[[1L]],
    `effects, sum of squares` = sum(centred_effects(scaled_effects(fit))^2)
  )
}

part_spread.plsa_regression <- function(fit, name, level = NULL) {
  if (!name %in% c("effects", "concentration", "log_odds")) {
    return(NextMethod())
  }
  if (is.null(fit$draws)) {
    return(NULL)
  }
  draws <- switch(name,
    effects = fit$draws$effects, log_odds = log_odds_draws(fit), concentration = t(fit$draws$concentration)
  )
  spread <- quantile_spread(draws, level)
  if (name == "concentration") spread else lapply(spread, array, utils::head(dim(draws), 2L))
}

# Log-odds of components against the first, terms x (k - 1) x draws.
log_odds_draws <- function(fit) {
  draws <- fit$draws$effects
  if (is.null(draws) || dim(draws)[2L] == 1L) {
    return(NULL)
  }
  first <- array(draws[, 1L, ], c(dim(draws)[1L], 1L, dim(draws)[3L]))
  draws[, -1L, , drop = FALSE] - first[, rep(1L, dim(draws)[2L] - 1L), , drop = FALSE]
}

interval_parts.plsa_regression <- function(fit) {
  c(if (!is.null(fit$draws)) list(effects = c("term", "component")), NextMethod())
}

#' @export
vcov.plsa_regression <- function(object, ...) {
  check_dots(...)
  draws <- object$draws$effects
  if (is.null(draws)) stop_input("`object` must be a sampled fit: one draw of it has no variances.")
  names <- sprintf(
    "effects[%s, %s]", rep(component_names(dim(draws)[2L]), each = dim(draws)[1L]), object$covariates$terms
  )
  structure(stats::cov(t(matrix(draws, length(names)))), dimnames = list(names, names))
}

membership_curve.plsa_regression <- function(fit, design, level) {
  draws <- fit$draws$effects
  if (is.null(draws)) stop_input("`object` must have its draws, for intervals.")
  shares <- vapply(seq_len(dim(draws)[3L]), function(s) {
    multinomial_shares(design, solve(fit$covariates$basis, matrix(draws[, , s], dim(draws)[1L])))
  }, matrix(0, ncol(design), dim(draws)[2L]))
  shares <- array(shares, c(ncol(design), dim(draws)[2L], dim(draws)[3L]))
  end <- function(p) apply(shares, 1:2, stats::quantile, p, names = FALSE)
  list(mean = rowMeans(shares, dims = 2L), lower = end((1 - level) / 2), upper = end((1 + level) / 2))
}

#' @rdname autoplot.bernoulli_mixture_regression
#' @aliases plot.plsa_regression
#' @exportS3Method ggplot2::autoplot
autoplot.plsa_regression <- function(object, # nolint: object_name_linter.
                                     what = c(
                                       "basis", "membership", "structure", "simplex", "top", "scores", "trace",
                                       "density", "curves", "map"
                                     ), covariate = NULL, ..., level = 0.95) {
  if (check_choice(what) == "membership") membership_figure(object, covariate, level, ...) else NextMethod()
}
