# Methods of generics of R and package generics for fits, results and tables of false absences.

#' How far a fit is from its data
#'
#' `deviance()` is the sum of squared deviance residuals, `residuals(fit, type = "deviance")`, over known cells: 0 where
#' the fitted means are the data. `df.residual()` is `nobs()`, the number of observations, minus the number of
#' parameters. `extractAIC()` gives the number of parameters and the AIC, and `case.names()` and `variable.names()` are
#' the names of sites and of taxa.
#' @details
#' For 0/1 data the deviance is -2 times the log-likelihood of the cells given the fitted means, as if they were
#' independent. For [aspect_bernoulli()] by maximum likelihood it is -2 `logLik()`. It is not for [bernoulli_mixture()]
#' and [noisy_or()], where the cells of a site are dependent, nor for [visits_bernoulli()], whose residuals are those of
#' the presences found by any visit. Of counts it is the Poisson deviance, of real values and `loss = "euclidean"` the
#' sum of squares.
#'
#' `vcov()`, `confint()`, `anova()` and `simulate()` of a model that has none are errors that say what to use.
#'
#' @param object,fit a fit of any model of this package.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @param scale is not used.
#' @param k penalty for each parameter, added to -2 times the log-likelihood: 2 for AIC.
#' @return `deviance()` and `df.residual()`: a number; `df.residual()` may be below 0. `extractAIC()`: the number of
#'   parameters and the criterion. `case.names()`, `variable.names()`: text, numbers where the data have no names.
#'   Where neither a likelihood nor a posterior was maximised, `df.residual()` and `extractAIC()` are errors.
#' @seealso [multicause-package] for the number of parameters
#' @examples
#' set.seed(1)
#' x <- early_tetrapods$x[1:30, ]
#' fit <- aspect_bernoulli(x, 2, estimate = "ml", control = fit_control(n_start = 2))
#' deviance(fit)
#' df.residual(fit)
#' @name deviance.multicause
NULL

#' @rdname deviance.multicause
#' @export
deviance.multicause <- function(object, ..., x = NULL) {
  check_dots(...)
  sum(residuals(object, type = "deviance", x = x)^2, na.rm = TRUE)
}

#' @rdname deviance.multicause
#' @export
df.residual.multicause <- function(object, ...) { # nolint: object_name_linter.
  check_dots(...)
  nobs(object) - attr(maximised(object, "df.residual"), "df")
}

#' @rdname deviance.multicause
#' @export
extractAIC.multicause <- function(fit, scale = 0, k = 2, ...) { # nolint: object_name_linter.
  check_dots(...)
  k <- check_number(k, "k", 0)
  value <- maximised(fit, "extractAIC")
  c(attr(value, "df"), -2 * as.numeric(value) + k * attr(value, "df"))
}

# Returns logLik() of a fit, or an error that names the generic which needs it.
maximised <- function(fit, generic) {
  tryCatch(logLik(fit), multicause_input_error = function(e) {
    stop_input("%s() needs a fit that maximised its likelihood or a posterior. %s", generic, conditionMessage(e))
  })
}

#' @rdname deviance.multicause
#' @export
case.names.multicause <- function(object, ...) { # nolint: object_name_linter.
  side_names(object, 1L, ...)
}

#' @rdname deviance.multicause
#' @export
variable.names.multicause <- function(object, ...) { # nolint: object_name_linter.
  side_names(object, 2L, ...)
}

# Functions that users of glm() try first, for models without them.

#' @export
vcov.multicause <- function(object, ...) stop_lacks(object, "vcov", spread_words(object))

#' Posterior intervals of the parameters of a fit
#'
#' Central intervals from the posterior of a fit with `estimate = "gibbs"` or `"vb"` and of [bmf()].
#'
#' @details
#' Numbers that each draw records, such as the number of false absences, have quantiles of their draws. Probabilities
#' have the ends of the Beta distributions with the mean and the standard deviation of their draws, `spread` of the fit.
#' Of probabilities next to 0 the lower end is too high. If chains found different solutions, the intervals cover both,
#' and are wide. On simulated tables of 100 x 20, intervals of 90 % held 88 to 90 % of the true probabilities of
#' [aspect_bernoulli()], and 86 % of those of [plsa()], which learns its prior from the table.
#'
#' With `estimate = "vb"` the posterior is approximated by independent distributions, which are far too narrow: 90 %
#' intervals held 40 to 66 % of the same probabilities of [aspect_bernoulli()], 20 to 62 % of [plsa()]
#' (`bench/samplers.md` in the sources).
#'
#' Features of [bmf()] have other labels in each draw, so intervals are those of quantities that do not depend on
#' labels: numbers of features and entries, and the parameters of the priors.
#'
#' @param object a fit with `estimate` `"gibbs"` or `"vb"` of [aspect_bernoulli()], with either of [plsa()], with
#'   `"gibbs"` of [noisy_or()], or a fit of [bmf()].
#' @param parm names of parameters or of taxa; missing: all.
#' @param level probability of an interval, between 0 and 1.
#' @param ... must be empty.
#' @return A matrix with a row for each parameter and the two ends as columns. Rows are `false_absences` and others of
#'   `fit$trace`, `aspects[A1, taxon]`, `basis[A1, taxon]`, or `missed`, `prior[A1]`, `leak[taxon]`,
#'   `recorded_taxon[taxon]` and `links[A1, taxon]`.
#' @seealso [tidy()][tidiers], which has memberships, too; [posterior_draws()] for intervals of anything else;
#'   [confint.visits_occupancy()], [vcov.visits_bernoulli()] and [confint.bernoulli_mixture()] for those models.
#' @examples
#' set.seed(1)
#' x <- t(rmultinom(30, 20, c(5, 3, 2)))
#' few <- mcmc_control(chains = 2, warmup = 50, draws = 100, progress = FALSE)
#' fit <- suppressWarnings(plsa(x, k = 2, estimate = "gibbs", control = few))
#' confint(fit, "basis[A1, 1]")
#' @export
confint.multicause <- function(object, parm, level = 0.95, ...) {
  parts <- interval_parts(object)
  if (is.null(parts)) stop_lacks(object, "confint", spread_words(object))
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  posterior_intervals(object, parts, if (!missing(parm)) parm, level)
}

# Lists the functions that quantify the uncertainty of this fit.
spread_words <- function(fit) {
  taken <- function(check) {
    catch_error({
      check(fit)
      TRUE
    }, function(e) FALSE)
  }
  verbs <- c(
    if (taken(check_refit)) "bootstrap_draws() refits tables drawn from it",
    if (has_draws(fit)) "posterior_draws() draws from its posterior",
    if (taken(check_bounds)) "identifiability() bounds what the data leave open"
  )
  if (length(verbs)) {
    return(paste0(paste(verbs, collapse = "; "), "."))
  }
  if (inherits(fit, "user_model")) "it is a number for each cell." else resample_words(fit)
}

#' @export
simulate.multicause <- function(object, nsim, seed, ...) {
  stop_lacks(object, "simulate", "fitted() has what the model expects in each cell.")
}

#' @export
anova.multicause <- function(object, ...) {
  stop_lacks(object, "anova", "select_k() chooses the number of components, compare_models() compares models.")
}

# The default would treat the deviance of all cells as a variance.
#' @export
sigma.multicause <- function(object, ...) {
  stop_lacks(object, "sigma", "no spread of residuals is part of it; deviance() measures its distance from the data.")
}

#' @export
explain.multicause <- function(x, ...) stop_lacks(x, "explain", "it takes zeros of a result of which_zeros() apart.")

# Results of which_zeros().

#' @export
head.which_zeros <- function(x, n = 6L, ...) {
  check_dots(...)
  check_extent(n)
  utils::head(as.data.frame(x, n = if (isTRUE(n >= 0)) n else Inf), n)
}

#' @export
tail.which_zeros <- function(x, n = 6L, ...) {
  check_dots(...)
  check_extent(n)
  utils::tail(as.data.frame(x), n)
}

#' @export
head.which_zeros_shards <- function(x, n = 6L, ...) {
  check_dots(...)
  check_extent(n)
  utils::head(as.data.frame(x), n)
}

#' @export
tail.which_zeros_shards <- tail.which_zeros

# Rows, or rows and columns, of which NA is all.
check_extent <- function(n) {
  if (!is.numeric(n) || !length(n) %in% 1:2 || all(is.na(n))) {
    stop_input("`n` must be a number of rows, or of rows and columns, not %s.", show_value(n))
  }
}

# Returns the probability of a record at each zero, as in augment(); residuals are the observed value minus it.
#' @export
fitted.which_zeros <- function(object, ...) {
  check_dots(...)
  object$probability
}

#' @export
residuals.which_zeros <- function(object, ...) as.matrix(object$x) - fitted(object, ...)

# Coefficients of the log-odds: weights of learners and of the numbers of presences.
#' @export
coef.which_zeros <- function(object, ...) {
  check_dots(...)
  c(`(Intercept)` = object$stack$intercept, object$stack$weights)
}

#' @export
case.names.which_zeros <- case.names.multicause # nolint: object_name_linter.

#' @export
variable.names.which_zeros <- variable.names.multicause # nolint: object_name_linter.

# Counts the observed cells.
#' @export
nobs.which_zeros <- function(object, ...) sum(!is.na(object$x))

#' @exportS3Method ggplot2::fortify
fortify.which_zeros <- function(model, data, ...) as.data.frame(model) # nolint: object_name_linter.

# Selects rows or columns of a table of results, as subset() does, and keeps attributes that data frames drop.
#' @export
`[.false_absences` <- function(x, ...) {
  out <- NextMethod()
  if (!is.data.frame(out)) {
    return(out)
  }
  lost <- attributes(x)[setdiff(names(attributes(x)), names(attributes(out)))]
  attributes(out) <- c(attributes(out), lost)
  out
}

#' @export
`[.false_presences` <- `[.false_absences`

#' @export
`[.which_zeros_contrast` <- `[.false_absences`

#' @export
`[.which_zeros_sums` <- `[.false_absences`

#' @export
`[.phantoms` <- `[.false_absences`

#' @export
`[.noisy_or_sources` <- `[.false_absences`

#' @export
`[.coherence` <- `[.false_absences`

#' @export
`[.visits_needed` <- `[.false_absences`

#' @export
`[.visit_richness` <- `[.false_absences`

#' @export
`[.predictive_check` <- `[.false_absences`

# Re-exports generics, so that they are found whichever package was attached last.
#' @importFrom generics tidy glance augment explain explore
#' @export explain
#' @export explore
NULL

#' @export
generics::tidy

#' @export
generics::glance

#' @export
generics::augment
