# Parametric bootstrap for models whose observations are draws from the fit: tests of k, intervals of parameters. (In
# models with memberships of every observation, such as aspect_bernoulli(), tables drawn from a maximum likelihood fit
# have too extreme zeros and ones: see phantom_test().)

#' Does one more component gain more than chance?
#'
#' `anova()` compares fits of one model by maximum likelihood that differ in k alone. Twice the gain in log-likelihood
#' has no chi-squared distribution here, since the smaller model lies on the boundary of the larger one, so tables are
#' drawn from the smaller fit and both models are fitted to each (McLachlan 1987).
#' @details
#' The p-value is (1 + number of tables with at least the observed gain) / (1 + `nsim`). Sites are drawn again from the
#' weights of [bernoulli_mixture()] (the prior of the sources of [noisy_or()]); unknown cells stay unknown. Every fit to
#' a drawn table has the settings of `control`. Fewer starts than those of the compared fits would make the gains on
#' drawn tables too small, and p too small with them. Each fit is compared with the one of the next larger k.
#'
#' With two true groups, k = 3 was preferred at the 5 % level in 7 % of 292 tables of 60 x 10, and in 4 % of 201 of 200
#' x 10 (`bench/bootstrap.md` in the sources): do not trust a p just below 0.05 on a small table.
#'
#' Models with memberships of every site, such as [aspect_bernoulli()] and [plsa()], have no such test: their number of
#' parameters grows with the table, and tables drawn from a fit are unlike the data. Use the held-out cells of
#' [select_k()].
#'
#' Cost: 2 `nsim` fits a pair, which run in parallel where a [future::plan()] is set, with the same result.
#'
#' @param object,... two or more fits of [bernoulli_mixture()], or of [noisy_or()], with `estimate = "ml"`, to the same
#'   data.
#' @param nsim number of tables drawn for each pair.
#' @param control settings of every fit, from [fit_control()]; `NULL`: those of the larger fit of a pair.
#' @param x the data, where the fits were made with `keep_x = FALSE`.
#' @return A data frame of class `anova` with a row for each fit, by k: `k`, `Df` (parameters), `logLik`, `LR` (twice
#'   the gain over the row before, nats) and `Pr(>LR)`; its attribute `null` holds the drawn gains of each pair.
#' @references McLachlan GJ (1987). On bootstrapping the likelihood ratio test statistic for the number of components in
#'   a normal mixture. *Applied Statistics* 36, 318-324. \doi{10.2307/2347790}
#' @seealso [select_k()], [phantom_test()], [confint()][confint.bernoulli_mixture]
#' @examples
#' set.seed(1)
#' group <- rep(1:2, each = 30)
#' x <- matrix(rbinom(600, 1, c(0.2, 0.7)[group]), 60)
#' quick <- fit_control(n_start = 2, progress = FALSE)
#' fits <- lapply(1:3, function(k) bernoulli_mixture(x, k, estimate = "ml", control = quick))
#' anova(fits[[1]], fits[[2]], fits[[3]], nsim = 19)
#' @name anova.bernoulli_mixture
NULL

#' @rdname anova.bernoulli_mixture
#' @export
anova.bernoulli_mixture <- function(object, ..., nsim = 99, control = NULL, x = NULL) {
  fits <- list(object, ...)
  check_nested(fits)
  for (fit in fits) check_maximum_likelihood(fit)
  nsim <- check_count(nsim, "nsim", 1L, most_tasks)
  if (!is.null(control)) control <- check_control(control)
  fits <- fits[order(vapply(fits, function(fit) fit$dims[["k"]], 0))]
  data <- fit_data(fits[[1L]], x)
  for (fit in fits[-1L]) {
    other <- fit_data(fit, x)
    same <- isTRUE(all.equal(as.matrix(other), as.matrix(data)))
    if (!same) stop_input("`...` must be fits to the data of `object`.")
  }
  k <- vapply(fits, function(fit) fit$dims[["k"]], 0)
  if (anyDuplicated(k)) stop_input("`object` and `...` must differ in k: two have %.0f.", k[anyDuplicated(k)])
  loglik <- vapply(fits, function(fit) fit$loglik, 0)
  gain <- c(NA, pmax(0, 2 * diff(loglik)))
  null <- lapply(seq_along(fits)[-1L], function(i) null_gains(fits[[i - 1L]], fits[[i]], nsim, control, data))
  p <- c(NA, mapply(function(gains, seen) (1 + sum(gains >= seen)) / (1 + length(gains)), null, gain[-1L]))
  model <- model_name(fits[[1L]])
  structure(
    data.frame(k = k, Df = vapply(fits, function(fit) fit$df, 0), logLik = loglik, LR = gain, `Pr(>LR)` = p,
      check.names = FALSE),
    heading = c(
      sprintf("Fits of %s() with k components: likelihood ratios by parametric bootstrap", model),
      sprintf("(%s drawn from the smaller fit of each pair)\n", count_words(nsim, "table"))
    ),
    null = null, class = c("anova", "data.frame")
  )
}

#' @rdname anova.bernoulli_mixture
#' @export
anova.noisy_or <- anova.bernoulli_mixture

check_nested <- function(fits) {
  for (fit in fits) check_fit(fit, name = "...")
  if (length(fits) < 2L) stop_input("`...` must hold a fit with another k: select_k() chooses from scratch.")
  model <- model_name(fits[[1L]])
  asked <- function(fit) {
    call <- as.list(fit$call)[-1L]
    call <- call[setdiff(names(call), c("k", "control", "start", "x", ""))]
    lapply(call[order(names(call))], function(each) {
      value <- eval(each)
      if (inherits(value, "formula")) deparse1(value) else value
    })
  }
  for (fit in fits[-1L]) {
    if (model_name(fit) != model || !identical(asked(fit), asked(fits[[1L]]))) {
      stop_input(
        "`...` must be fits of %s() that differ from `object` in k alone; compare_models() compares others.",
        model_name(fits[[1L]])
      )
    }
  }
}

# With a prior the gain is not that of the likelihood, nor comparable to that on tables drawn from the smaller fit.
check_maximum_likelihood <- function(fit) {
  if (!is_maximum_likelihood(fit)) {
    stop_input(
      "anova() needs fits that maximised their likelihood, as with `estimate = \"ml\"`: one maximised its %s.",
      objective_words(fit)
    )
  }
}

# Computes twice the gain of the larger model on tables drawn from the smaller fit.
null_gains <- function(small, large, nsim, control, data) {
  if (is.null(control)) control <- large$control
  common <- list(
    small = small, large = large, unknown = is.na(dense_rows(data, seq_len(nrow(data)))),
    control = judging_control(control)
  )
  done <- map_tasks(draw_seeds(nsim), null_gain, common, "Tables", running = task_running(control))
  tell_interrupted(need_some(done), "tables", nsim)
  unlist(done)
}

null_gain <- function(seed, common, tick) {
  with_seed(seed, {
    drawn <- new_table(common$small)
    drawn[common$unknown] <- NA
    loglik <- vapply(common[c("small", "large")], function(fit) fit_to(fit, drawn, common$control)$loglik, 0)
  })
  max(0, 2 * (loglik[["large"]] - loglik[["small"]]))
}

fit_to <- function(fit, x, control, start = NULL) {
  quiet_fit(stats::update(fit, x = x, control = control, start = start))$value
}

# Draws a table of new observations, n x m, from the model.
new_table <- function(fit) UseMethod("new_table")

new_table.default <- function(fit) simulate(fit)[[1L]]

# Draws new observations of a mixture, not those of the fit with their memberships.
new_table.bernoulli_mixture <- function(fit) {
  component <- drawn_components(fit)
  out <- random_bernoulli(fit$param$prototypes[component, , drop = FALSE])
  dimnames(out) <- name_sides(fit$names)
  out
}

#' Intervals of a Bernoulli mixture
#'
#' Intervals of weights and prototypes, by bootstrap (quantiles over fits to tables drawn from the fit) or by profile
#' (values at which the data are still well explained when all other parameters are fitted again). With covariates
#' (`membership`), intervals of effects and prototypes by the observed information. `vcov()` is the covariance over the
#' bootstrap fits, with covariates the inverse of that information.
#' @details
#' **Bootstrap.** The parametric bootstrap with percentile intervals (Efron and Tibshirani 1993, chapter 13). Each fit
#' begins at the fit's own parameters, moved 0.01 off 0 and 1, and its components are matched to those of the fit, so
#' intervals are of one solution: [modes()] shows whether there are others. A probability of 0 or 1, as maximum
#' likelihood makes them, never varies in the tables drawn. Its interval ends where the likelihood, with all other
#' parameters fixed, is (1 - `level`) / 2 of its maximum: for a group known to hold n sites that is the interval of
#' Clopper and Pearson for n of n.
#'
#' Intervals of 95 % held the true weights and prototypes of two groups in 92 % (50 x 10), 93 % (100 x 10) and 95 % (400
#' x 10) of cases with `estimate = "map"` (`bench/bootstrap.md` in the sources). On 20 tables of 50 x 10, intervals by
#' profile held 93 to 95 %, percentiles 91 to 92 %; by maximum likelihood with many estimates of 0, 96 % and 67 %.
#'
#' **Profile.** One parameter is fixed at a value, and all others are fitted again by EM, from the estimates of the fit.
#' The interval holds the values at which twice the loss of log-likelihood is at most the quantile of the chi-squared
#' distribution with one degree of freedom (Venzon and Moolgavkar 1988); it may reach 0 or 1. With `estimate = "map"`
#' the log-posterior takes the place of the log-likelihood. Like the bootstrap it concerns one solution, and does not
#' show whether k is right.
#'
#' Cost: `nsim` fits from one start, which run in parallel where a [future::plan()] is set, with the same result; for a
#' profile some 30 runs of EM for each parameter.
#'
#' **Covariates.** For a fit with `membership`, `confint()` and `vcov()` rest on the observed information of `effects`
#' and `prototypes` (these on the logit scale for intervals), with that of the prior. A probability of 0 or 1 is fixed.
#' With `"scores"` it is the sum of products of the sites' scores, as in package poLCA, whose standard errors these are;
#' with `"curvature"` minus the matrix of second derivatives (Louis 1982). `NULL` takes scores if there are five sites
#' for each parameter, else curvature. On 120 simulated tables each (`"ml"` and `"map"`), with 7 to 11 sites for each
#' parameter, 95 % intervals held the effects in 93 to 97 % (scores) and 93 to 96 % (curvature). With 1.4 sites, scores
#' held them in 100 %, with intervals 1.6 to 2 times as wide; curvature in 95 % (`bench/membership.md` in the sources).
#'
#' @param object a fit of [bernoulli_mixture()] without `smooth`.
#' @param parm names of parameters or of taxa; missing: all.
#' @param level coverage, between 0 and 1.
#' @param ... must be empty.
#' @param method `"bootstrap"` or `"profile"`; of a fit with `membership` `"scores"`, `"curvature"` or `NULL`.
#' @param nsim number of tables drawn, at least 19.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @return `confint()`: a matrix with a row for each parameter, `weights[A1]` to `prototypes[Ak, taxon]`, and the two
#'   ends as columns (with `membership`: `effects[A1, term]` to `prototypes[Ak, taxon]`). `vcov()`: their covariances.
#'   The attribute `method` shows how they were made.
#' @references Efron B, Tibshirani RJ (1993). *An Introduction to the Bootstrap*. Chapman and Hall.
#'   \doi{10.1201/9780429246593}
#'
#'   Louis TA (1982). Finding the observed information matrix when using the EM algorithm. *Journal of the Royal
#'   Statistical Society B* 44, 226-233. \doi{10.1111/j.2517-6161.1982.tb01203.x}
#'
#'   Venzon DJ, Moolgavkar SH (1988). A method for computing profile-likelihood-based confidence intervals. *Applied
#'   Statistics* 37, 87-94. \doi{10.2307/2347496}
#' @seealso [anova()][anova.bernoulli_mixture]
#' @examples
#' set.seed(1)
#' group <- rep(1:2, each = 30)
#' x <- matrix(rbinom(360, 1, c(0.2, 0.7)[group]), 60, dimnames = list(NULL, letters[1:6]))
#' fit <- bernoulli_mixture(x, 2)
#' confint(fit, c("weights[A1]", "b"), nsim = 39)
#' confint(fit, "weights[A1]", method = "profile")
#' @export
confint.bernoulli_mixture <- function(object, parm, level = 0.95, ..., method = c("bootstrap", "profile"), nsim = 199,
                                      x = NULL) {
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  method <- check_choice(method)
  nsim <- check_count(nsim, "nsim", 19L, most_tasks)
  refuse_neighbours(object, "confint")
  estimate <- mixture_numbers(object$param)
  taxa <- c(rep(NA, object$dims[["k"]]), rep(variable.names(object), each = object$dims[["k"]]))
  wanted <- wanted_parameters(if (!missing(parm)) parm, names(estimate), taxa)
  labels <- list(names(estimate)[wanted], end_names(level))
  if (method == "profile") {
    out <- profile_ends(object, which(wanted), stats::qchisq(level, 1) / 2, x)
    return(structure(out, dimnames = labels, method = "profiles of the objective"))
  }
  drawn <- mixture_draws(object, nsim, x)
  structure(
    mixture_ends(object, drawn, which(wanted), level, x), dimnames = labels,
    method = sprintf("percentiles of %d parametric bootstrap fits, likelihood at 0 and 1", ncol(drawn))
  )
}

# Computes percentiles of bootstrap fits for the parameters `which`. Tables drawn from a fit at a bound do not vary
# there, so that end comes from the likelihood with all other parameters fixed; the loss from fixing them is of second
# order at a bound.
mixture_ends <- function(fit, drawn, which, level, x) {
  ends <- c((1 - level) / 2, (1 + level) / 2)
  out <- t(apply(drawn[which, , drop = FALSE], 1L, stats::quantile, probs = ends, names = FALSE))
  fixed <- edge_side(mixture_numbers(fit$param)[which], 1e-4) != 0
  if (any(fixed)) out[fixed, ] <- profile_ends(fit, which[fixed], -log((1 - level) / 2), x, iterations = 0L)
  out
}

part_spread.bernoulli_mixture <- function(fit, name, level = NULL) {
  if (is.null(level) || !name %in% c("weights", "prototypes") || is_smoothed(fit)) {
    return(NULL)
  }
  k <- fit$dims[["k"]]
  at <- if (name == "weights") seq_len(k) else k + seq_along(fit$param$prototypes)
  drawn <- mixture_draws(fit, 199L, NULL)
  ends <- mixture_ends(fit, drawn, at, level, NULL)
  values <- list(error = apply(drawn[at, , drop = FALSE], 1L, stats::sd), lower = ends[, 1L], upper = ends[, 2L])
  lapply(values, array, dim(fit$param[[name]]) %||% k)
}

#' @rdname confint.bernoulli_mixture
#' @export
vcov.bernoulli_mixture <- function(object, ..., nsim = 199, x = NULL) {
  check_dots(...)
  nsim <- check_count(nsim, "nsim", 19L, most_tasks)
  refuse_neighbours(object, "vcov")
  drawn <- mixture_draws(object, nsim, x)
  structure(stats::cov(t(drawn)), method = sprintf("covariances over %d parametric bootstrap fits", ncol(drawn)))
}

refuse_neighbours <- function(fit, generic) {
  if (is_smoothed(fit)) {
    stop_input("%s() has no meaning for a mixture with `smooth`: its rows are no draws of their own.", generic)
  }
}

# Fits the mixture to tables drawn from it and returns parameters x tables.
mixture_draws <- function(fit, nsim, x) {
  data <- fit_data(fit, x)
  common <- list(fit = fit, unknown = is.na(dense_rows(data, seq_len(nrow(data)))))
  done <- map_tasks(draw_seeds(nsim), mixture_again, common, "Tables", running = task_running(fit$control))
  tell_interrupted(need_some(done), "tables", nsim)
  drawn <- do.call(cbind, done[is_done(done)])
  rownames(drawn) <- names(mixture_numbers(fit$param))
  drawn
}

# Computes the ends of profiles, parameters x 2, at which the objective has lost `margin`; parameters are numbered as in
# mixture_numbers().
profile_ends <- function(fit, which, margin, x, iterations = 2000L) {
  problem <- list(view = check_data(fit_data(fit, x), "binary", quiet = TRUE)$view, pseudo = fit$pseudo)
  best <- mixture_beside(lapply(fit$param, unname), problem)
  if (best$objective > fit$objective[[1L]] + 0.1) {
    inform(
      "The fit was %s below a maximum; intervals are about that. Refit with smaller `tol` in fit_control().",
      sprintf("%.2g nats", best$objective - fit$objective[[1L]])
    )
  }
  ends <- lapply(which, function(at) {
    vapply(c(-1, 1), function(side) profile_end(best, problem, at, margin, side, iterations), 0)
  })
  do.call(rbind, ends)
}

# Finds where the profile of a parameter has lost `margin`, below (side -1) or above the best value; 0 or 1 if nowhere.
# Without iterations all other parameters are fixed.
profile_end <- function(best, problem, at, margin, side, iterations) {
  k <- length(best$param$weights)
  value <- c(best$param$weights, best$param$prototypes)[at]
  limit <- if (side < 0) 0 else 1
  # The weight of a single component is 1.
  if (value == limit || (at == 1L && k == 1L)) {
    return(value)
  }
  near <- best$param
  loss <- function(value) {
    found <- mixture_beside(near, problem, at, value, iterations)
    if (iterations > 0L) near <<- found$param
    best$objective - found$objective - margin
  }
  far <- limit - side * 1e-9
  lost <- loss(far)
  if (lost <= 0) {
    return(limit)
  }
  near <- best$param
  between <- c(value, far)[order(c(value, far))]
  at_ends <- c(-margin, lost)[order(c(value, far))]
  stats::uniroot(loss, between, f.lower = at_ends[1L], f.upper = at_ends[2L], tol = 1e-5)$root
}

# Maximises a mixture's objective by EM from `param`, with parameter `at` fixed at `value` (NULL: none): list(param,
# objective).
mixture_beside <- function(param, problem, at = NULL, value = NULL, iterations = 2000L) {
  k <- length(param$weights)
  # A fixed parameter may have moved others to a bound, which EM cannot leave.
  param <- lapply(param[c("weights", "prototypes")], function(p) pmin(pmax(p, 1e-10), 1 - 1e-10))
  if (!is.null(at) && at <= k) {
    param$weights[-at] <- (1 - value) * param$weights[-at] / sum(param$weights[-at])
    param$weights[at] <- value
  } else if (!is.null(at)) {
    param$prototypes[at - k] <- value
  }
  control <- fit_control(max_iter = iterations, tol = 1e-11, n_start = 1)
  out <- bm_run(problem$view, param, problem$pseudo, control, held = at)
  list(param = out$param, objective = out$outcome$objective)
}

mixture_again <- function(seed, common, tick) {
  fit <- common$fit
  drawn <- with_seed(seed, new_table(fit))
  drawn[common$unknown] <- NA
  weights <- unname(pmax(fit$param$weights, 0.01))
  start <- list(weights = weights / sum(weights), prototypes = unname(pmin(pmax(fit$param$prototypes, 0.01), 0.99)))
  again <- fit_to(fit, drawn, fit_control(max_iter = 1000, progress = FALSE), start)$param
  at <- match_components(again$prototypes, fit$param$prototypes)
  mixture_numbers(bm_permute(again, at))
}

#' Fits to tables drawn from a fit
#'
#' The parametric bootstrap: how far sampling error moves a fit that has no posterior. For [aspect_bernoulli()] the
#' result can be the argument `draws` of [by_site()], [by_taxon()], [contrast()], [curves()], [age_profile()] and
#' [identifiability()].
#'
#' @details
#' Tables are drawn from the fit as [simulate()] draws them, every site with its own memberships; unknown cells
#' stay unknown. The model is fitted to each with the same prior, effort and neighbours, whose bandwidth and strength
#' stay. Every fit begins at the fit's own parameters, moved off 0 and 1, so components keep their order, and the
#' intervals are of one solution.
#'
#' They show sampling error alone, if the model holds. They do not show what no table can decide, such as the share of a
#' phantom: see [identifiability()]. Maximum likelihood estimates many probabilities too near 0 and 1, so tables drawn
#' from such fits vary too little. Where there is a posterior (`estimate = "vb"` or `"gibbs"`), [posterior_draws()] is
#' the better choice, and the draws of an [ensemble()] of such fits differ in the number of components, too.
#'
#' They do not correct a biased estimate. On 24 tables of 60 x 20 with a slope of `effort` of -0.8, 90 % percentile
#' intervals never held it: the mean estimate was -1.5 by `"map"` and -1.1 by `"ml"` (`bench/bootstrap.md` in the
#' sources). So there is no `confint()` of that slope.
#'
#' @param fit a fit of any model that draws tables, without a posterior: not of [bmf()], [visits_occupancy()],
#'   [neighbours_mean()] or [nmf()] with `loss = "euclidean"`, and not with `estimate` `"vb"` or `"gibbs"`.
#' @param nsim number of tables, at least 1.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @return A list of `nsim` fits. Cost: `nsim` fits from one start, which run in parallel where a [future::plan()] is
#'   set, with the same result.
#' @references Efron B, Tibshirani RJ (1993). *An Introduction to the Bootstrap*. Chapman and Hall.
#'   \doi{10.1201/9780429246593}
#' @seealso [posterior_draws()], [confint.bernoulli_mixture()]
#' @examples
#' set.seed(1)
#' few <- fit_control(n_start = 2, progress = FALSE)
#' fit <- aspect_bernoulli(simulated_sites$x[1:40, ], 3, phantom = "white", control = few)
#' print(by_taxon(fit, draws = bootstrap_draws(fit, 20)), n = 3)
#' @export
bootstrap_draws <- function(fit, nsim = 100, ..., x = NULL) {
  check_dots(...)
  check_fit(fit)
  nsim <- check_count(nsim, "nsim")
  refit <- check_refit(fit)
  refuse_large(as.double(nsim) * (prod(fit$dims[c("n", "m")]) + sum(lengths(fit$param))), "The draws", "lower `nsim`")
  bootstrap_fits(fit, nsim, fit_data(fit, x), refit)
}

# Returns the function of a fit and a table that refits the model to a table drawn from it.
check_refit <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    stop_input(
      "`fit` must be a single fit, not an average: take draws of its members%s.",
      if (has_draws(fit)) ", or posterior_draws() of it" else ""
    )
  }
  refit_table(fit)
}

refit_table <- function(fit) UseMethod("refit_table")

refit_table.default <- function(fit) {
  stop_input("bootstrap_draws() is not for fits of %s(): %s", model_name(fit), resample_words(fit))
}

refit_table.nmf <- function(fit) {
  if (fit$loss == "euclidean") refit_table.default(fit)
  refit_call
}

refit_table.logistic_pca <- function(fit) refit_call

refit_table.plca <- function(fit) refit_call

refit_table.noisy_or <- function(fit) {
  refuse_sampled(fit)
  function(fit, drawn) refit_call(fit, drawn, surplus = 0) # the components are those of the fit
}

refuse_sampled <- function(fit) {
  if (has_draws(fit)) stop_input("`fit` has a posterior, of which posterior_draws(fit) has draws.")
  if (any(fit$estimate %in% c("gibbs", "vb"))) {
    stop_input("`fit` must be a fit, not a draw of a posterior: the other draws show how far it is known.")
  }
}

refit_table.aspect_model <- function(fit) {
  refuse_sampled(fit)
  refit_aspects
}

refit_table.visits_bernoulli <- function(fit) {
  NextMethod()
  refit_call
}

refit_table.bernoulli_mixture <- function(fit) refit_call

refit_table.plsa <- function(fit) {
  refuse_sampled(fit)
  refit_call
}

refit_aspects <- function(fit, drawn) {
  run <- run_on(fit, fit$param, unname(fit$fixed), drawn, bootstrap_control(), least = 1e-3)
  for (name in names(fit$param)) fit$param[[name]][] <- run[[name]]
  if (!is.null(fit$effort)) fit$effort <- effort_curve(run$coef, fit$effort$values)
  fit$objective[] <- NA # with its prior
  fit$posterior <- NULL # as all that was of the table that was observed
  fit$certificate <- no_certificate
  data <- check_data(drawn, "binary", quiet = TRUE)
  fit$margins <- data$margins
  fit$density <- data_density(data)
  with_data(fit, drawn)
}

bootstrap_control <- function() fit_control(progress = FALSE, max_iter = 500, tol = 1e-8)

# Refits by the call of the fit, starting at its parameters.
refit_call <- function(fit, drawn, ...) {
  rows <- list(membership = 1L, basis = 1L, weights = 0L) # what sums to 1, by row or in all
  start <- fit$param
  for (name in names(start)) {
    value <- unname(start[[name]])
    if (is.null(value) || !is.numeric(value)) next
    if (name %in% names(rows)) {
      value <- pmax(value, 1e-3)
      value <- if (rows[[name]] == 1L) value / rowSums(value) else value / sum(value)
    } else if (name %in% c("aspects", "prototypes", "links", "leak", "prior")) {
      value <- pmin(pmax(value, 1e-3), 1 - 1e-3)
    }
    start[[name]] <- value
  }
  if (!is.null(fit$model$mask)) start$links <- start$links * fit$model$mask # absent links stay 0
  changed <- list(object = fit, x = drawn, start = start, control = bootstrap_control(), ...)
  if (!is.null(fit$smooth)) changed$smooth <- fit$smooth # its bandwidth and strength stay
  again <- quiet_fit(do.call(stats::update, changed, quote = TRUE))$value
  again$call <- fit$call
  if (!is.null(fit$visits)) again <- of_own_visits(again, fit)
  again
}

# The visits made determine the probability of an undetected presence at a cell. A fit at a bound may exclude them.
of_own_visits <- function(again, fit) {
  again[c("visits", "x", "margins")] <- fit[c("visits", "x", "margins")]
  for (name in intersect(c("aspects", "missed"), names(again$param))) {
    again$param[[name]][] <- pmin(pmax(again$param[[name]], 1e-6), 1 - 1e-6)
  }
  again
}

# Fits tables drawn from a fit, each starting from its parameters by `refit`; missing cells stay missing.
bootstrap_fits <- function(fit, n, x, refit = refit_aspects) {
  unknown <- unknown_cells(fit, x)
  common <- list(fit = fit, unknown = unknown, refit = refit)
  fits <- map_tasks(draw_seeds(n), bootstrap_fit, common, "Tables", function(i) sprintf("table %d", i))
  fits[is_done(fits)]
}

unknown_cells.default <- function(fit, x) {
  if (is.array(x) && length(dim(x)) > 2L) {
    is.na(x)
  } else if (is.null(fit$visits) && !is.data.frame(x)) {
    is.na(dense_rows(x, seq_len(fit$dims[["n"]])))
  }
}

bootstrap_fit <- function(seed, common, tick) {
  drawn <- with_seed(seed, simulate(common$fit)[[1L]])
  if (!is.null(common$unknown)) drawn[common$unknown] <- NA
  common$refit(common$fit, drawn)
}

# Advises how to assess the uncertainty of a fit by resampling.
resample_words <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    "its members, `fit$fits`, have what there is."
  } else if (has_draws(fit)) {
    "posterior_draws(fit) draws from its posterior."
  } else if (identical(fit$loss, "euclidean")) {
    "fit samples of the rows by update(fit, x = )." # its loss names no distribution
  } else {
    "draw tables by simulate() and fit them by update(fit, x = )."
  }
}
