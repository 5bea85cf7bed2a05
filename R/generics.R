# Generics of R and of package generics that fits, answers and tables of what is missed have.

#' How far a fit is from its data
#'
#' `deviance()` is the sum of squared deviance residuals, `residuals(fit, type = "deviance")`, over known cells: 0 where
#' the fitted means are the data. `df.residual()` is `nobs()`, the number of observations, less that of parameters, and
#' `extractAIC()` what [AIC()] rests on. `case.names()` and `variable.names()` are the names of sites and of
#' taxa.
#'
#' @details
#' Of 0/1 data the deviance is -2 times the log-likelihood that the fitted means give to the cells, each by itself. In
#' [aspect_bernoulli()] by maximum likelihood that is -2 `logLik()`. It is not in [bernoulli_mixture()] and
#' [noisy_or()], where the cells of a site hang together, nor in [visits_bernoulli()], whose residuals
#' are those of what any visit found. Of counts it is the Poisson deviance, of real values and `loss = "euclidean"` the
#' sum of squares.
#'
#' `vcov()`, `confint()`, `anova()` and `simulate()` of a model that has none are errors that say what to use.
#'
#' @param object,fit a fit of any model of this package.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @param scale is not used.
#' @param k nats per two parameters: 2 for AIC.
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

# logLik() of a fit, or its refusal in the name of a generic that needs it.
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

# What users of glm() try first, where a model has none.

#' @export
vcov.multicause <- function(object, ...) stop_lacks(object, "vcov", spread_words(object))

#' @export
confint.multicause <- function(object, parm, level, ...) stop_lacks(object, "confint", spread_words(object))

# What shows how sure a fit is: those verbs that take it.
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

# R's own would take the deviance of all cells for a variance.
#' @export
sigma.multicause <- function(object, ...) {
  stop_lacks(object, "sigma", "no spread of residuals is part of it; deviance() says how far it is from the data.")
}

#' @export
explain.multicause <- function(x, ...) stop_lacks(x, "explain", "it takes zeros of a result of which_zeros() apart.")

# Answers.

#' @export
head.which_zeros <- function(x, n = 6L, ...) {
  check_dots(...)
  utils::head(as.data.frame(x, n = if (is.numeric(n) && isTRUE(n < 0)) Inf else n), n)
}

#' @export
tail.which_zeros <- function(x, n = 6L, ...) {
  check_dots(...)
  utils::tail(as.data.frame(x), n)
}

# The chance of a record at each zero, as augment() has it, and what was observed there less that.
#' @export
fitted.which_zeros <- function(object, ...) {
  check_dots(...)
  object$probability
}

#' @export
residuals.which_zeros <- function(object, ...) as.matrix(object$x) - fitted(object, ...)

# Of the log-odds: what learners and numbers of finds weigh.
#' @export
coef.which_zeros <- function(object, ...) {
  check_dots(...)
  c(`(Intercept)` = object$stack$intercept, object$stack$weights)
}

#' @export
case.names.which_zeros <- case.names.multicause # nolint: object_name_linter.

#' @export
variable.names.which_zeros <- variable.names.multicause # nolint: object_name_linter.

# Known cells.
#' @export
nobs.which_zeros <- function(object, ...) sum(!is.na(object$x))

#' @exportS3Method ggplot2::fortify
fortify.which_zeros <- function(model, data, ...) as.data.frame(model) # nolint: object_name_linter.

# Packages that have generics of our verbs' names find ours for our classes, whichever was attached last.

# Some rows or columns of a table of results, as of subset(): its attributes stay, which data frames drop.
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

# Found whichever package was attached last.
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
