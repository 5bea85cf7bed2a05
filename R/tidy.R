# Fits and results as plain long tables: tidy(), as.data.frame(). The names of `param` say what its parts run over, so
# one piece of code serves every model.

#' Fits and results as data frames
#'
#' Methods for the generics `tidy()`, `glance()` and `augment()` (packages generics and broom) and for
#' [as.data.frame()], for every model and for what [select_k()], [cross_validate()], [compare_models()], [recovery()]
#' and other verbs return.
#'
#' @details
#' The generics live in packages that need not be installed: methods are there as soon as one of them is loaded, as
#' by `library(broom)` or `generics::tidy(fit)`. `as.data.frame()` needs no package and gives what `tidy()` gives.
#'
#' **Matrices.** `matrix` names one part of `coef(fit)`; the default is the one that says what the components are:
#'
#' | model | default | others |
#' | --- | --- | --- |
#' | [aspect_bernoulli()] | `"aspects"` | `"membership"`; `"missed"`, `"added"` (`visits`), `"effort"` (`effort`) |
#' | [bernoulli_mixture()] | `"prototypes"` | `"weights"`, `"membership"` |
#' | [logistic_pca()] | `"loadings"` | `"scores"`, `"intercept"` |
#' | [nmf()] | `"basis"` | `"coefficients"` |
#' | [plsa()] | `"basis"` | `"membership"` |
#' | [plca()] | `"marginals"`: component, dimension, level | `"weights"` |
#' | [noisy_or()] | `"links"` | `"prior"`, `"leak"`, `"activation"` |
#' | [bmf()] | `"effects"` | `"rows"`, `"columns"`, `"weights"`, `"hyper"`, `"quantities"` |
#'
#' Those of [bmf()] are of the best draw, but for `"quantities"`, which summarise all draws; `"effects"` are what a row
#' feature adds to a column, in units of the linear predictor.
#'
#' @param x a fit of any model of this package; or a result of the verbs above.
#' @param matrix which part of a fit, see Details; `NULL`: the default.
#' @param table which table of a result: of [select_k()] `"table"`, `"best"`; of [cross_validate()] `"results"`,
#'   `"folds"`; of [compare_models()] `"table"`, `"cells"`, `"rows"`; of [recovery()] `"summary"`, `"precision"`,
#'   `"roc"`, `"pr"`, `"calibration"`, `"by_observation"`; of [modes()] `"modes"`, `"starts"`; of [age_profile()]
#'   `"aspects"`, `"tests"`; of [identifiability()] `"share"`, `"expected"`, `"observations"`, `"attributes"`,
#'   `"unlike"`, `"components"`, `"sampling"`; of [align_components()] `"match"`; of [divergences()] `"table"`.
#'   `NULL`: the first.
#' @param data for `augment()`, the data, where the fit was made with `keep_x = FALSE`.
#' @param rows for `augment()`, names or numbers of the observations wanted; `NULL`: all. Not for [plca()].
#' @param row.names,optional ignored: they belong to the generic.
#' @param ... must be empty.
#' @return Plain data frames.
#'
#' `tidy()` and `as.data.frame()` of a fit: a row for every entry of the matrix: what it belongs to, such as
#' `component` and `attribute` (names, or numbers where the data have none), and `estimate`, on the scale of `param`.
#'
#' `glance()` of a fit: one row: `model`, `n`, `m`, `k`, `nobs` (observed cells), `objective` and its value `value`,
#' `logLik`, `df`, `AIC`, `BIC` (`NA` where they have no meaning), `converged`, `passes` (draws, of samplers), `starts`
#' and `reached_best`, the number of finished starts that came near the best. Of a result: one row with what was chosen.
#'
#' `augment()` of a fit: a row for every cell, observation by observation: `observation`, `attribute` (for [plca()] one
#' column a dimension), `observed`, `.fitted`, `.resid` (observed less fitted), and for [aspect_bernoulli()] `.present`,
#' the chance of a presence if no phantom writes the cell, and `.false`, the chance that the 0 or 1 on record is false
#' (as in [false_absences()] and [false_presences()]; `NA` for unknown cells). Over 1 GB is refused: take some `rows`.
#'
#' Wrong input is an error of class `multicause_input_error`.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(480, 1, 0.6)
#' fit <- aspect_bernoulli(x, k = 3, phantom = "white", control = fit_control(n_start = 3))
#' head(as.data.frame(fit))
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   print(head(generics::tidy(fit, matrix = "membership")))
#'   print(generics::glance(fit))
#'   print(head(generics::augment(fit)))
#' }
#' @name tidiers
NULL

# What the rows and columns (or the entries) of each part of `param` are.
param_sides <- list(
  membership = c("observation", "component"), aspects = c("component", "attribute"),
  prototypes = c("component", "attribute"), scores = c("observation", "component"),
  loadings = c("component", "attribute"), intercept = "attribute", coefficients = c("observation", "component"),
  basis = c("component", "attribute"), links = c("component", "attribute"), leak = "attribute", prior = "component",
  activation = c("observation", "component"), weights = "component", added = "visit", effort = "term",
  effects = c("component", "attribute"), rows = c("observation", "row_feature"),
  columns = c("attribute", "column_feature"), hyper = "term"
)

# The parts of a fit that tidy() knows, that of components first: functions without arguments, by name.
param_parts <- function(fit) {
  parts <- lapply(fit$param, function(values) values)
  if (!is.null(fit$effort)) parts$effort <- fit$effort$coefficients
  if (inherits(fit, "bmf")) {
    effects <- bmf_effects(fit)
    parts <- c(list(effects = effects), parts)
  }
  if (is_sampled(fit)) parts <- c(parts, list(quantities = NULL))
  default <- intersect(c("effects", "aspects", "prototypes", "loadings", "basis", "links", "marginals"), names(parts))
  c(parts[default[1L]], parts[setdiff(names(parts), default[1L])])
}

is_sampled <- function(fit) inherits(fit, c("bmf", "aspect_bernoulli_gibbs"))

part_sides <- function(fit, name, values) {
  if (name == "missed") {
    return(c(if (nrow(values) > 1L) fit$missed_by, "visit"))
  }
  if (name == "weights" && is.matrix(values)) {
    return(c("row_feature", "column_feature"))
  }
  if (name %in% names(param_sides)) {
    return(param_sides[[name]])
  }
  if (is.matrix(values)) c("row", "column") else "term"
}

# A row for each entry of a vector, matrix or array, the first side slowest.
long_table <- function(values, sides, name = "estimate") {
  if (length(sides) == 1L) values <- array(values, length(values), list(names(values)))
  extent <- dim(values)
  labels <- if (is.null(dimnames(values))) vector("list", length(extent)) else dimnames(values)
  at <- rev(expand.grid(lapply(rev(extent), seq_len)))
  columns <- Map(function(index, label) if (is.null(label)) index else label[index], at, labels)
  out <- stats::setNames(data.frame(columns, row.names = NULL, check.names = FALSE), sides)
  out[[name]] <- unname(as.vector(aperm(values)))
  out
}

tidy_fit <- function(x, matrix) {
  parts <- param_parts(x)
  if (!length(parts) || is.null(names(parts))) {
    stop_input("`x` has no parameters of its own: an average of fits has those of its members, `x$fits`.")
  }
  matrix <- if (is.null(matrix)) names(parts)[1L] else check_choice(matrix, "matrix", names(parts))
  if (matrix == "quantities") {
    return(quantity_table(x))
  }
  values <- parts[[matrix]]
  if (matrix == "marginals") {
    return(long_marginals(values))
  }
  sides <- part_sides(x, matrix, values)
  if (is.matrix(values) && length(sides) == 1L) values <- values[1L, ]
  long_table(values, sides)
}

long_marginals <- function(marginals) {
  titles <- dimension_names(names(marginals), seq_along(marginals))
  each <- Map(function(q, title) {
    out <- long_table(q, c("component", "level"))
    data.frame(out["component"], dimension = title, level = as.character(out$level), out["estimate"])
  }, marginals, titles)
  do.call(rbind, unname(each))
}

# The tables of a result, the first one is what tidy() gives.
result_tables <- function(x) {
  switch(class(x)[1L],
    multicause_selection = x[c("table", "best")],
    multicause_cv = x[c("results", "folds")],
    multicause_comparison = list(table = x$table, cells = x$cells$results, rows = x$rows$results),
    recovery = c(
      list(summary = data.frame(measure = names(x$summary), value = unlist(x$summary, use.names = FALSE))),
      x[c("precision", "roc", "pr", "calibration", "by_observation")]
    ),
    modes = x[c("modes", "starts")],
    age_profile = x[c("aspects", "tests")],
    identifiability = x[c("share", "expected", "observations", "attributes", "unlike", "components", "sampling")],
    alignment = x["match"],
    divergences = list(table = long_divergences(x))
  )
}

long_divergences <- function(x) {
  titles <- dimension_names(names(x), attr(x, "at"))
  each <- Map(function(d, title) data.frame(dimension = title, long_table(d, c("p", "q"), "divergence")), x, titles)
  do.call(rbind, unname(each))
}

tidy_result <- function(x, table = NULL, ...) {
  check_dots(...)
  tables <- Filter(Negate(is.null), result_tables(x))
  table <- if (is.null(table)) names(tables)[1L] else check_choice(table, "table", names(tables))
  out <- as.data.frame(unclass(tables[[table]]), check.names = FALSE)
  rownames(out) <- NULL
  out
}

# Methods of generics that lintr does not know.
# nolint start: object_name_linter.

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.multicause <- function(x, matrix = NULL, ...) {
  check_dots(...)
  tidy_fit(x, matrix)
}

#' @rdname tidiers
#' @export
as.data.frame.multicause <- function(x, row.names = NULL, optional = FALSE, ..., matrix = NULL) {
  check_dots(...)
  tidy_fit(x, matrix)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.multicause_selection <- tidy_result
#' @exportS3Method generics::tidy
tidy.multicause_cv <- tidy_result
#' @exportS3Method generics::tidy
tidy.multicause_comparison <- tidy_result
#' @exportS3Method generics::tidy
tidy.recovery <- tidy_result
#' @exportS3Method generics::tidy
tidy.modes <- tidy_result
#' @exportS3Method generics::tidy
tidy.age_profile <- tidy_result
#' @exportS3Method generics::tidy
tidy.identifiability <- tidy_result
#' @exportS3Method generics::tidy
tidy.alignment <- tidy_result
#' @exportS3Method generics::tidy
tidy.divergences <- tidy_result

frame_of_result <- function(x, row.names = NULL, optional = FALSE, ..., table = NULL) {
  tidy_result(x, table, ...)
}

#' @rdname tidiers
#' @export
as.data.frame.multicause_selection <- frame_of_result
#' @export
as.data.frame.multicause_cv <- frame_of_result
#' @export
as.data.frame.multicause_comparison <- frame_of_result
#' @export
as.data.frame.recovery <- frame_of_result
#' @export
as.data.frame.modes <- frame_of_result
#' @export
as.data.frame.age_profile <- frame_of_result
#' @export
as.data.frame.identifiability <- frame_of_result
#' @export
as.data.frame.alignment <- frame_of_result
#' @export
as.data.frame.divergences <- frame_of_result
# nolint end
