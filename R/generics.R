# Generics of R for fits of every model: a meaning where there is one, else a refusal that leads on.

#' How far a fit is from its data
#'
#' `deviance()` is the sum of squared deviance residuals, `residuals(fit, type = "deviance")`, over known cells: 0 where
#' the fitted means are the data. `df.residual()` is the number of known cells less that of parameters, and
#' `extractAIC()` what [AIC()] rests on. `case.names()` and `variable.names()` are the names of observations and of
#' attributes.
#'
#' @details
#' Of 0/1 data the deviance is -2 times the log-likelihood that the fitted means give to the cells, each by itself. In
#' [aspect_bernoulli()] by maximum likelihood that is -2 `logLik()`. It is not in [bernoulli_mixture()] and
#' [noisy_or()], where the cells of an observation hang together, nor in [visits_bernoulli()], whose residuals
#' are those of what any visit found. Of counts it is the Poisson deviance, of real values and `loss = "euclidean"` the
#' sum of squares.
#'
#' All other generics that users of `glm()` know are errors of class `multicause_input_error` which say what to use:
#' the table in [multicause-package].
#'
#' @param object,fit a fit of any model of this package.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @param scale is not used.
#' @param k nats per two parameters: 2 for AIC.
#' @return `deviance()` and `df.residual()`: a number; `df.residual()` may be below 0. `extractAIC()`: the number of
#'   parameters and the criterion. `case.names()`, `variable.names()`: text, numbers where the data have no names.
#'   Where no likelihood was maximised, `df.residual()` and `extractAIC()` are errors.
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
  object <- maximised(object, "df.residual")
  attr(object, "nobs") - attr(object, "df")
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
    stop_input("%s() needs a fit that maximised its likelihood. %s", generic, conditionMessage(e))
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

side_names <- function(fit, side, ...) {
  check_whole(fit, "object")
  check_dots(...)
  if (is.null(fit$names[[side]])) as.character(seq_len(fit$dims[[side]])) else fit$names[[side]]
}

no_table <- paste(
  "it is no table. fitted(fit) has the chance or mean of each cell, `fit$x` the data,",
  "predict(fit, type = \"membership\") the shares of components."
)

say <- function(generics, instead) stats::setNames(rep(instead, length(generics)), generics)

no_frame <- paste(
  "it is no data frame. tidy(fit), augment(fit) and as.data.frame(fit) are; coef(fit) is the list of parameters."
)
no_tree <- paste(
  "it is no tree. hclust(dist(fitted(fit))) is one of the sites by the fit, hclust(dist(t(fitted(fit)))) of the taxa."
)
no_order <- "the order of components says nothing; align_components() brings those of two fits into one."

# Generics of package stats that have no meaning for fits, with what leads on; the table in ?multicause has the same.
# Classes with a method of their own, as vcov() of fits of visits, do not come here.
no_meaning <- c(
  say(c("vcov", "confint", "profile", "sigma"), paste(
    "bootstrap_draws() tells how far chance in the table moves a fit (where it refuses: simulate() and update()),",
    "identifiability() how far the data decide, posterior_draws() of a fit with `estimate = \"gibbs\"` how far a",
    "posterior spreads, which_zeros() gives ranges."
  )),
  say("anova", paste(
    "select_k() chooses the number of components, compare_models() compares models; bernoulli_mixture() and",
    "noisy_or() have a bootstrap test of k."
  )),
  say(c("add1", "drop1"), "there are no terms to add or drop; select_k() chooses the number of components."),
  say(
    c("formula", "model.frame", "model.matrix", "labels", "alias", "dummy.coef", "effects", "proj"),
    "no formula made it; `fit$x` holds the data, coef(fit) the parameters, `fit$call` the call."
  ),
  say("terms", "no formula made it; top_terms(fit) has the terms of each component, plot(fit, \"top\") shows them."),
  say("family", "the table of models in ?multicause says which data each is for."),
  say(
    c("hatvalues", "influence", "cooks.distance", "dfbeta", "dfbetas"),
    "there is no design whose leverage could be told; test_loglik() and cross_validate() judge by unseen data."
  ),
  say(c("rstandard", "rstudent"), "residuals(fit, type = \"pearson\") and \"deviance\" are on a scale of their own."),
  say("biplot", "plot(fit, \"scores\") shows sites and taxa on two components."),
  say("screeplot", "select_k() shows what each number of components gains."),
  say(c(
    "mean", "median", "quantile", "t", "as.matrix", "density", "scale", "as.table", "cut", "xtfrm", "as.double",
    "as.integer", "as.logical"
  ), no_table),
  say(c(
    "with", "within", "subset", "transform", "aggregate", "merge", "sort", "rev", "unique",
    "duplicated", "split", "by"
  ), no_frame),
  say(c("as.hclust", "as.dendrogram"), no_tree),
  say(c("reorder", "relevel"), no_order),
  say(
    c("hist", "barplot", "boxplot", "image", "lines", "points", "text", "pairs", "contour", "persp"),
    "plot(fit) has its figures; their `what` says of what."
  )
)

elsewhere_for_shards <- paste(
  "predict(), fitted(), coef(), tidy(), update() and summary() are there, of aspect_bernoulli() also false_absences(),",
  "false_presences(), phantoms() and certificate(); for the rest fit some rows, `x[i, ]`, which fit into memory."
)

# What answers of which_zeros() have no meaning for: these, what takes a fit apart, and what takes rows of a table.
taken_apart <- paste(
  "as.data.frame() has the chance of each zero with its range; by_site(), by_taxon(), contrast() and explain() take",
  "the answer apart."
)
no_meaning_of_answers <- local({
  more <- c(
    "logLik", "nobs", "deviance", "df.residual", "extractAIC", "coef", "fitted", "residuals", "predict", "simulate",
    "weights"
  )
  names <- setdiff(c(names(no_meaning), more), c("with", "subset"))
  stats::setNames(rep(taken_apart, length(names)), names)
})

# Parts of a list are taken by one index; two are for a table.
#' @export
`[.multicause` <- function(x, ...) {
  if (nargs() > 2L) stop_no_meaning(x, "[i, j]", no_table)
  NextMethod()
}

#' @export
`[.which_zeros` <- function(x, ...) {
  if (nargs() > 2L) stop_no_meaning(x, "[i, j]", taken_apart)
  NextMethod()
}

# sum(), range(), log(), `+` and the like.
#' @export
Summary.multicause <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  stop_no_meaning(..1, .Generic, no_table) # nolint: object_usage_linter.
}

#' @export
Math.multicause <- function(x, ...) stop_no_meaning(x, .Generic, no_table)

#' @export
Ops.multicause <- function(e1, e2) {
  stop_no_meaning(if (inherits(e1, "multicause")) e1 else e2, .Generic, no_table) # nolint: object_usage_linter.
}

#' @export
Math.which_zeros <- function(x, ...) stop_no_meaning(x, .Generic, taken_apart)

#' @export
Ops.which_zeros <- function(e1, e2) {
  stop_no_meaning(if (inherits(e1, "which_zeros")) e1 else e2, .Generic, taken_apart) # nolint: object_usage_linter.
}

#' @export
Summary.which_zeros <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  stop_no_meaning(..1, .Generic, taken_apart) # nolint: object_usage_linter.
}

#' @export
head.which_zeros <- function(x, n = 6L, ...) {
  check_dots(...)
  as.data.frame(x, n = check_count(n, "n"))
}

#' @export
tail.which_zeros <- function(x, n = 6L, ...) {
  check_dots(...)
  utils::tail(as.data.frame(x), check_count(n, "n"))
}

# As of the data frame of zeros.
#' @export
with.which_zeros <- function(data, expr, ...) {
  check_dots(...)
  eval(substitute(expr), as.data.frame(data), parent.frame())
}

#' @export
subset.which_zeros <- function(x, ...) {
  call <- match.call(expand.dots = TRUE)
  call[[1L]] <- quote(base::subset)
  call[[2L]] <- as.data.frame(x)
  eval(call, parent.frame())
}

#' @exportS3Method ggplot2::fortify
fortify.which_zeros <- function(model, data, ...) as.data.frame(model) # nolint: object_name_linter.

#' @exportS3Method ggplot2::fortify
fortify.multicause <- function(model, data, ...) { # nolint: object_name_linter.
  stop_no_meaning(
    model, "fortify", "autoplot(fit) has its figures, tidy(fit) and augment(fit) its numbers as data frames."
  )
}

#' @export
coef.summary.multicause <- function(object, ...) {
  stop_input("coef() has no meaning for a summary: coef(fit) has all parameters.")
}

# What fits to shards do not have.
no_meaning_of_shards <- local({
  names <- c(names(no_meaning), "residuals", "simulate", "deviance", "df.residual", "extractAIC")
  stats::setNames(rep(elsewhere_for_shards, length(names)), names)
})

# A method with the arguments of its generic that refuses.
refusal <- function(generic, instead, where = asNamespace("stats")) {
  arguments <- formals(args(get(generic, where)))
  said <- bquote(stop_no_meaning(.(as.name(names(arguments)[1L])), .(generic), .(instead)))
  as.function(c(arguments, said), envir = topenv())
}

words_of <- function(object) {
  if (inherits(object, "which_zeros")) {
    "an answer of which_zeros()"
  } else if (inherits(object, "multicause_ensemble")) {
    "an average of fits"
  } else if (inherits(object, "multicause_shards")) {
    "a fit to shards"
  } else if (inherits(object, "shards")) {
    "shards of a table"
  } else if (is.data.frame(object)) {
    "a table of what is missed"
  } else if (!inherits(object, "multicause")) {
    sprintf("a result of class %s", class(object)[1L])
  } else {
    sprintf("a fit of %s()", model_name(object))
  }
}

stop_no_meaning <- function(object, generic, instead) {
  called <- if (grepl("^[[:alpha:]]", generic)) paste0(generic, "()") else sprintf("`%s`", generic)
  lacks <- if (inherits(object, "multicause_shards")) "is not there" else "has no meaning"
  stop_input("%s %s for %s: %s", called, lacks, words_of(object), instead)
}

.onLoad <- function(libname, pkgname) { # nolint: object_name_linter.
  refused <- list(
    multicause = no_meaning, which_zeros = no_meaning_of_answers, multicause_shards = no_meaning_of_shards,
    shards = no_meaning_of_files
  )
  refused[table_classes] <- list(no_meaning_of_tables)
  for (class in names(refused)) refuse(refused[[class]], class, "stats")
  for (package in names(met_elsewhere)) when_loaded(package, met_elsewhere[[package]])
}
