# The parametric bootstrap of models whose observations are draws from the fit: tests of k, intervals of parameters.
# (In models with memberships of every observation, such as aspect_bernoulli(), tables drawn from a maximum likelihood
# fit are too sure of their zeros and ones: see phantom_test().)

#' Does one more component gain more than chance?
#'
#' `anova()` compares fits of one model by maximum likelihood that differ in k alone. Twice the gain in log-likelihood
#' has no chi-squared distribution here, since the smaller model lies on the boundary of the larger one. So tables are
#' drawn from the smaller fit, and both models are fitted to each (McLachlan 1987).
#'
#' @details
#' The p-value is (1 + number of tables with at least the observed gain) / (1 + `nsim`). Observations are drawn anew
#' from the weights of [bernoulli_mixture()] (the prior of the sources of [noisy_or()]); unknown cells stay unknown.
#' Every fit to a drawn table has the settings of `control`: fewer starts than the fits compared had would make the
#' gains on drawn tables too small, and p with them. Pairs of neighbours in k are compared, each by itself.
#'
#' Where two groups were right, k = 3 was taken for better at the 5 % level on 7 % of 292 tables of 60 x 10, and on 4 %
#' of 201 of 200 x 10 (`bench/bootstrap.md` in the sources): do not lean on a p just below 0.05 on a small table.
#'
#' Models with memberships of every observation, such as [aspect_bernoulli()] and [plsa()], have no such test: their
#' number of parameters grows with the table, and tables drawn from a fit are unlike the data. [select_k()] has held-out
#' cells for these.
#'
#' Cost: 2 `nsim` fits a pair, which run in parallel where a [future::plan()] is set, with the same result.
#'
#' @param object,... two or more fits of [bernoulli_mixture()], or of [noisy_or()], with `estimate = "ml"`, to the same
#'   data.
#' @param nsim number of tables drawn for each pair.
#' @param seed `NULL` to go on with the session's random numbers, or a number for [set.seed()] that leaves them as they
#'   were.
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
#' anova(fits[[1]], fits[[2]], fits[[3]], nsim = 19, seed = 1)
#' @name anova.bernoulli_mixture
NULL

#' @rdname anova.bernoulli_mixture
#' @export
anova.bernoulli_mixture <- function(object, ..., nsim = 99, seed = NULL, control = NULL, x = NULL) {
  bootstrap_anova(list(object, ...), nsim, seed, control, x)
}

#' @rdname anova.bernoulli_mixture
#' @export
anova.noisy_or <- function(object, ..., nsim = 99, seed = NULL, control = NULL, x = NULL) {
  bootstrap_anova(list(object, ...), nsim, seed, control, x)
}

bootstrap_anova <- function(fits, nsim, seed, control, x) {
  check_nested(fits)
  nsim <- check_count(nsim, "nsim")
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
  loglik <- vapply(fits, function(fit) as.numeric(maximised(fit, "anova")), 0)
  gain <- c(NA, pmax(0, 2 * diff(loglik)))
  null <- draw_seeded(function() {
    lapply(seq_along(fits)[-1L], function(i) null_gains(fits[[i - 1L]], fits[[i]], nsim, control, data))
  }, seed)$value
  p <- c(NA, mapply(function(gains, seen) (1 + sum(gains >= seen)) / (1 + length(gains)), null, gain[-1L]))
  structure(
    data.frame(k = k, Df = vapply(fits, function(fit) fit$df, 0), logLik = loglik, LR = gain, `Pr(>LR)` = p,
      check.names = FALSE),
    heading = c(
      sprintf("%ss of k components: likelihood ratios by parametric bootstrap", model_title(fits[[1L]])),
      sprintf("(%d tables drawn from the smaller fit of each pair)\n", nsim)
    ),
    null = null, class = c("anova", "data.frame")
  )
}

check_nested <- function(fits) {
  for (fit in fits) check_fit(fit, name = "...")
  if (length(fits) < 2L) stop_input("`...` must hold a fit with another k: select_k() chooses from scratch.")
  model <- class(fits[[1L]])[1L]
  asked <- function(fit) {
    call <- as.list(fit$call)[-1L]
    call <- call[setdiff(names(call), c("k", "control", "start", "x", ""))]
    call[order(names(call))]
  }
  for (fit in fits[-1L]) {
    if (class(fit)[1L] != model || !identical(lapply(asked(fit), eval), lapply(asked(fits[[1L]]), eval))) {
      stop_input(
        "`...` must be fits of %s() that differ from `object` in k alone; compare_models() compares others.",
        model_name(fits[[1L]])
      )
    }
  }
}

# Twice the gains of the larger model on tables drawn from the smaller fit.
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

# A table of new observations, n x m, as the model has them.
new_table <- function(fit) UseMethod("new_table")

#' @export
new_table.default <- function(fit) simulate(fit)[[1L]]

# Observations of a mixture anew, not those of the fit with their memberships.
#' @export
new_table.bernoulli_mixture <- function(fit) {
  component <- sample.int(fit$dims[["k"]], fit$dims[["n"]], replace = TRUE, prob = fit$param$weights)
  out <- random_bernoulli(fit$param$prototypes[component, , drop = FALSE])
  dimnames(out) <- name_sides(fit$names)
  out
}

#' Bootstrap intervals of a Bernoulli mixture
#'
#' How far weights and prototypes would vary over other tables like this one: tables are drawn from the fit, the mixture
#' is fitted to each, and the ends are quantiles over these fits.
#'
#' @details
#' The parametric bootstrap with percentile intervals (Efron and Tibshirani 1993, chapter 13). Each fit begins at the
#' fit's own parameters, moved 0.01 off 0 and 1, and its components are matched to those of the fit, so intervals are of
#' one solution: [modes()] tells whether there are others. A probability that is exactly 0 or 1, as maximum likelihood
#' makes them, gets an interval without width, which is too sure; `estimate = "map"` has none of these.
#'
#' Intervals of 95 % held the true weights and prototypes of two groups in 92 % (50 x 10), 93 % (100 x 10) and 95 %
#' (400 x 10) of cases with `estimate = "map"` (`bench/bootstrap.md` in the sources).
#'
#' Cost: `nsim` fits from one start, which run in parallel where a [future::plan()] is set, with the same result.
#'
#' @param object a fit of [bernoulli_mixture()] without `smooth`.
#' @param parm names of parameters or of attributes; missing: all.
#' @param level coverage, between 0 and 1.
#' @param ... must be empty.
#' @param nsim number of tables drawn, at least 19.
#' @param seed `NULL` to go on with the session's random numbers, or a number for [set.seed()] that leaves them as they
#'   were.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @return A matrix with a row for each parameter, `weights[A1]` to `prototypes[Ak, attribute]`, and the two ends as
#'   columns. Its attribute `method` says how they were made.
#' @references Efron B, Tibshirani RJ (1993). *An Introduction to the Bootstrap*. Chapman and Hall.
#'   \doi{10.1201/9780429246593}
#' @seealso [anova()][anova.bernoulli_mixture]
#' @examples
#' set.seed(1)
#' group <- rep(1:2, each = 30)
#' x <- matrix(rbinom(360, 1, c(0.2, 0.7)[group]), 60, dimnames = list(NULL, letters[1:6]))
#' fit <- bernoulli_mixture(x, 2)
#' confint(fit, c("weights[A1]", "b"), nsim = 39, seed = 1)
#' @export
confint.bernoulli_mixture <- function(object, parm, level = 0.95, ..., nsim = 199, seed = NULL, x = NULL) {
  check_whole(object, "object")
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  nsim <- check_count(nsim, "nsim", 19L)
  if (is_smoothed(object)) {
    stop_input("confint() has no meaning for a mixture with `smooth`: its observations are no draws of their own.")
  }
  estimate <- mixture_numbers(object$param)
  taxa <- c(rep(NA, object$dims[["k"]]), rep(variable.names(object), each = object$dims[["k"]]))
  wanted <- if (missing(parm)) rep(TRUE, length(estimate)) else names(estimate) %in% parm | taxa %in% parm
  unknown <- if (!missing(parm)) setdiff(parm, c(names(estimate), taxa))
  if (length(unknown)) {
    stop_input("`parm` must be names of parameters, as %s, or of attributes: %s is not.",
      show_names(names(estimate)[c(1L, length(estimate))]), show_names(as.character(unknown)))
  }
  data <- fit_data(object, x)
  common <- list(fit = object, unknown = is.na(dense_rows(data, seq_len(nrow(data)))))
  seeds <- draw_seeded(function() draw_seeds(nsim), seed)$value
  done <- map_tasks(seeds, mixture_again, common, "Tables", running = task_running(object$control))
  tell_interrupted(need_some(done), "tables", nsim)
  drawn <- do.call(cbind, done[is_done(done)])
  ends <- c((1 - level) / 2, (1 + level) / 2)
  out <- t(apply(drawn, 1L, stats::quantile, probs = ends, names = FALSE))
  dimnames(out) <- list(names(estimate), paste(format(100 * ends, trim = TRUE, digits = 3L), "%"))
  structure(out[wanted, , drop = FALSE], method = sprintf("percentiles of %d parametric bootstrap fits", ncol(drawn)))
}

# Weights and prototypes as one vector with names.
mixture_numbers <- function(param) {
  components <- component_names(length(param$weights))
  taxa <- as.character(label_of(seq_len(ncol(param$prototypes)), colnames(param$prototypes)))
  stats::setNames(c(param$weights, param$prototypes), c(
    sprintf("weights[%s]", components),
    sprintf("prototypes[%s, %s]", rep(components, length(taxa)), rep(taxa, each = length(components)))
  ))
}

mixture_again <- function(seed, common, tick) {
  fit <- common$fit
  drawn <- with_seed(seed, new_table(fit))
  drawn[common$unknown] <- NA
  weights <- unname(pmax(fit$param$weights, 0.01))
  start <- list(weights = weights / sum(weights), prototypes = unname(pmin(pmax(fit$param$prototypes, 0.01), 0.99)))
  again <- fit_to(fit, drawn, fit_control(max_pass = 1000, progress = FALSE), start)$param
  at <- match_components(again$prototypes, fit$param$prototypes)
  mixture_numbers(bm_permute(again, at))
}
