# Fits and results as plain long tables: tidy(), as.data.frame(). The names of `param` determine its dimensions, so one
# function serves every model.

#' Fits and results as data frames
#'
#' Methods for `tidy()`, `glance()` and `augment()` and for [as.data.frame()], for every model and for what
#' [select_k()], [cross_validate()], [compare_models()], [recovery()] and other verbs return.
#'
#' @details
#' The generics are those of package generics, as in broom. `as.data.frame()` gives what `tidy()` gives, as a plain data
#' frame.
#'
#' **Standard errors.** If a fit has them there is a column `std.error`: the standard deviations over draws of fits with
#' `estimate = "gibbs"`, those of the approximate posterior with `"vb"` (less than the true ones), and those of
#' [vcov()][vcov.visits_bernoulli] of [visits_bernoulli()] (components: by the delta method). With `conf.int = TRUE`
#' there are `conf.low` and `conf.high`, too: the central posterior interval, or that of `confint()`. Of
#' [bernoulli_mixture()] all three come from the bootstrap of [confint()][confint.bernoulli_mixture], with its cost, so
#' `std.error` is given only with `conf.int = TRUE` (with covariates always). Where a part has no interval, `conf.int =
#' TRUE` is an error.
#'
#' **Matrices.** `matrix` names one part of `coef(fit)`; the default is the one that shows what the components are:
#'
#' | model | default | others |
#' | --- | --- | --- |
#' | [aspect_bernoulli()] | `"aspects"` | `"membership"`; `"effort"` (with `effort`) |
#' | [aspect_categorical()] | `"profiles"`: component, taxon, value | `"membership"` |
#' | [visits_bernoulli()] | `"aspects"`, `"detection"` | `"membership"`, `"missed"`, `"added"`, `"communities"` |
#' | [visits_occupancy()] | both of `"presence"`, `"detection"`, see [tidy()][tidy.visits_occupancy] | |
#' | [bernoulli_mixture()] | `"prototypes"` | `"weights"`, `"membership"`; `"effects"`, `"log_odds"` |
#' | [logistic_pca()] | `"loadings"` | `"scores"`, `"intercept"` |
#' | [nmf()] | `"basis"` | `"coefficients"` |
#' | [plsa()] | `"basis"` (also `"beta"`) | `"membership"` (also `"gamma"`); `"effects"`, `"log_odds"` |
#' | [plca()] | `"marginals"`: component, dimension, level | `"weights"` |
#' | [noisy_or()] | `"links"` | `"prior"`, `"leak"`, `"activation"` |
#' | [bmf()] | `"effects"` | `"rows"`, `"columns"`, `"weights"`, `"hyper"`, `"quantities"` |
#'
#' For [visits_bernoulli()] with `detection` the default is both parts, stacked, and a column `matrix` names them.
#' Effects of covariates (argument `membership` of the model) sum to 0 over components; `"log_odds"` are those against
#' the first component, with errors as of `vcov()`. `matrix = "beta"` and `"gamma"` give basis and membership with the
#' columns of package tidytext: `topic` (a number), `term` and `beta`, or `document`, `topic` and `gamma`.
#'
#' Sampled fits also have `"quantities"`, a summary of all draws. The other parts of [bmf()] are of the draw of the
#' largest log joint density; its `"effects"` are what a row feature adds to a column, in units of the linear predictor.
#'
#' @param x a fit of any model of this package, or a result of the functions under `table`.
#' @param matrix which part of a fit, see Details; `NULL`: the default.
#' @param table which table of a result: of [select_k()] `"table"`, `"best"`; of [cross_validate()] `"results"`,
#'   `"folds"`; of [compare_models()] `"table"`, `"cells"`, `"rows"`, `"omissions"`; of [recovery()] `"summary"`,
#'   `"precision"`, `"roc"`, `"pr"`, `"calibration"`, `"by_site"`; of [modes()] `"modes"`, `"starts"`; of
#'   [age_profile()] `"aspects"`, `"tests"`; of [identifiability()] `"share"`, `"expected"`, `"sites"`, `"taxa"`,
#'   `"unlike"`, `"components"`, `"sampling"`; of [align_components()] `"match"`; of [divergences()] `"table"`; of
#'   [which_zeros()] `"zeros"`, `"quality"`, `"weights"`. `NULL`: the first.
#' @param conf.int,conf.level whether to add the ends of intervals, and their probability.
#' @param data for `augment()`, the data, where the fit was made with `keep_x = FALSE`.
#' @param newdata for `augment()`, new sites as the `predict()` of the model takes them, in place of the fit's own.
#' @param rows for `augment()`, names or numbers of the sites wanted; `NULL`: all. Not for [plca()].
#' @param row.names,optional ignored: they belong to the generic.
#' @param ... must be empty; for `augment()` with `newdata`, further arguments of the model's `predict()`.
#' @return A tibble if package tibble is installed, else a data frame; `as.data.frame()`: plain data frames.
#'
#' `tidy()` and `as.data.frame()` of a fit: a row for every entry of the matrix: what it belongs to, such as
#' `component` and `taxon` (names, or numbers where the data have none), and `estimate`, on the scale of `param`, with
#' `std.error`, `conf.low` and `conf.high` as in Details.
#'
#' `glance()` of a fit: one row: `model`, `n`, `m`, `k`, `nobs` ([observations][multicause-package]), `objective` and
#' its value `value`, `logLik`, `df`, `AIC`, `BIC` (`NA` where they have no meaning), `converged`, `iterations` (draws,
#' of samplers), `starts` and `reached_best`, the number of finished starts that came near the best. Of a result: one
#' row with what was chosen. Of a result of [which_zeros()]: sizes, the total with its range, and how well held-out
#' presences were found.
#'
#' `augment()` of a fit: a row for every cell, site by site: `site`, `taxon` (for [plca()] one column a dimension),
#' `observed`, `.fitted`, `.resid` (observed less fitted), and for [aspect_bernoulli()] `.present` and `.false`. The
#' first is the probability of a presence if no phantom makes the cell, the second the probability that the 0 or 1 on
#' record is false (as in [false_absences()] and [false_presences()]; `NA` for unknown cells). Of a result of
#' [which_zeros()]: `.fitted` is the probability of a record and `.missed` the probability that at least one of two
#' more surveys of equal effort would find the taxon (its `missed`), both at zeros. Over 1 GB is refused: take some
#' `rows`.
#'
#' Wrong input is an error of class `multicause_input_error`.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(480, 1, 0.6)
#' fit <- aspect_bernoulli(x, k = 3, phantom = "white", control = fit_control(n_start = 3))
#' head(as.data.frame(fit))
#' head(tidy(fit, matrix = "membership"))
#' glance(fit)
#' head(augment(fit))
#' @name tidiers
NULL

# Names the sides (rows and columns, or entries) of a part of `param`.
part_sides <- function(fit, name, values) UseMethod("part_sides")

part_sides.default <- function(fit, name, values) {
  switch(name,
    membership = c("site", "component"), basis = c("component", "taxon"), weights = "component",
    if (is.matrix(values)) c("row", "column") else "term"
  )
}

# Returns the parts of a fit that tidy() supports, by name; absent ones are NULL.
param_parts <- function(fit) UseMethod("param_parts")

param_parts.default <- function(fit) lapply(fit$param, function(values) values)

is_sampled.default <- function(fit) FALSE

# Orders the parts: that of components first, quantities of a sampler last.
ordered_parts <- function(fit) {
  parts <- param_parts(fit)
  if (is_sampled(fit)) parts <- c(parts, list(quantities = NULL))
  first <- stats::na.omit(first_of(fit, parts, "component"))
  c(parts[first], parts[setdiff(names(parts), first)])
}

# Returns the name of the first part with a row per component, or observation.
first_of <- function(fit, parts, what) {
  sides <- Map(function(name, values) part_sides(fit, name, values), names(parts), parts)
  names(Filter(function(side) length(side) == 2L && side[1L] == what, sides))[1L]
}

tidy_fit <- function(x, matrix, level = NULL) {
  parts <- ordered_parts(x)
  if (!length(parts) || is.null(names(parts))) {
    stop_input("`x` has no parameters of its own: an average of fits has those of its members, `x$fits`.")
  }
  matrix <- if (is.null(matrix)) default_parts(x, names(parts)) else check_choice(matrix, "matrix", names(parts))
  tables <- lapply(matrix, function(part) {
    if (part == "quantities") quantity_table(x, level) else tidy_part(x, part, parts[[part]], level)
  })
  if (length(tables) == 1L) tables[[1L]] else stack_parts(tables, matrix)
}

# Returns the default parts of tidy(), among these.
default_parts <- function(fit, parts) UseMethod("default_parts")

default_parts.default <- function(fit, parts) parts[1L]

# Binds tables by rows after a column `matrix`; missing columns are NA, and numbers come last.
stack_parts <- function(tables, matrix) {
  columns <- unique(unlist(lapply(tables, names)))
  numbers <- c("estimate", "std.error", "conf.low", "conf.high")
  columns <- c(setdiff(columns, numbers), intersect(numbers, columns))
  whole <- Map(function(table, name) {
    table[setdiff(columns, names(table))] <- NA
    data.frame(matrix = name, table[columns], check.names = FALSE)
  }, tables, matrix)
  do.call(rbind, unname(whole))
}

# Returns a row per entry of a part of a fit; level: NULL, or the probability of intervals.
tidy_part <- function(fit, name, values, level) UseMethod("tidy_part")

tidy_part.default <- function(fit, name, values, level) {
  sides <- part_sides(fit, name, values)
  spread <- part_spread(fit, name, level)
  if (!is.null(level) && is.null(spread)) {
    stop_input(
      "`conf.int` must be FALSE for `matrix = \"%s\"`: this fit of %s() has no intervals of it.", name, model_name(fit)
    )
  }
  if (is.matrix(values) && length(sides) == 1L) values <- values[1L, ]
  out <- long_table(values, sides)
  shape <- dim(values) %||% length(values)
  out[spread_columns[names(spread)]] <- lapply(spread, function(part) as.vector(aperm(array(part, shape))))
  out
}

spread_columns <- c(error = "std.error", lower = "conf.low", upper = "conf.high")

part_spread.default <- function(fit, name, level = NULL) NULL

# Returns the tables of a result, the first being that of tidy().
result_tables <- function(x) UseMethod("result_tables")

result_tables.multicause_selection <- function(x) x[c("table", "best")]

result_tables.multicause_cv <- function(x) x[c("results", "folds")]

result_tables.multicause_comparison <- function(x) {
  list(table = x$table, cells = x$cells$results, rows = x$rows$results, omissions = x$omissions$results)
}

result_tables.recovery <- function(x) {
  measures <- data.frame(measure = names(x$summary), value = unlist(x$summary, use.names = FALSE))
  c(list(summary = measures), x[c("precision", "roc", "pr", "calibration", "by_site")])
}

result_tables.calibration <- function(x) x["table"]

result_tables.modes <- function(x) x[c("modes", "starts")]

result_tables.age_profile <- function(x) x[c("aspects", "tests")]

result_tables.identifiability <- function(x) {
  x[c("share", "expected", "sites", "taxa", "unlike", "components", "sampling")]
}

result_tables.alignment <- function(x) x["match"]

result_tables.divergences <- function(x) list(table = long_divergences(x))

result_tables.which_zeros <- function(x) c(list(zeros = as.data.frame(x)), x[c("quality", "weights")])

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
#' @export
tidy.multicause <- function(x, matrix = NULL, ..., conf.int = FALSE, conf.level = 0.95) {
  check_dots(...)
  level <- check_number(conf.level, "conf.level", 0, 1, open = TRUE)
  if (!check_flag(conf.int, "conf.int")) level <- NULL
  as_tidy(part_table(x, matrix, level))
}

#' @export
tidy.multicause_shards <- tidy.multicause

tidytext_parts <- c(beta = "basis", gamma = "membership")

# A part of `param` by its name, or by package tidytext's, with the columns of the latter.
part_table <- function(fit, matrix, level = NULL) {
  asked <- if (is.character(matrix) && length(matrix) == 1L) tidytext_parts[matrix]
  if (isTRUE(asked %in% names(param_parts(fit)))) {
    as_tidytext(tidy_fit(fit, asked[[1L]], level), matrix)
  } else {
    tidy_fit(fit, matrix, level)
  }
}

# Renames columns as package tidytext does for topic models.
as_tidytext <- function(table, matrix) {
  words <- c(component = "topic", taxon = "term", site = "document", estimate = matrix)
  known <- names(table) %in% names(words)
  names(table)[known] <- words[names(table)[known]]
  if ("topic" %in% names(table)) table$topic <- match(table$topic, unique(table$topic))
  first <- if (matrix == "gamma") c("document", "topic") else c("topic", "term")
  table[c(intersect(first, names(table)), setdiff(names(table), first))]
}

#' @rdname tidiers
#' @export
as.data.frame.multicause <- function(x, row.names = NULL, optional = FALSE, ..., matrix = NULL) {
  check_frame_dots(...)
  part_table(x, matrix)
}

#' @export
as.data.frame.multicause_shards <- as.data.frame.multicause

#' @rdname tidiers
#' @export
tidy.multicause_result <- function(x, table = NULL, ...) as_tidy(tidy_result(x, table, ...))

#' @export
tidy.which_zeros <- tidy.multicause_result

#' @export
tidy.which_zeros_shards <- function(x, ...) {
  check_dots(...)
  as_tidy(as.data.frame(x))
}

# Returns results that are data frames already, without their print class.
tidy_rows <- function(x, ...) {
  check_dots(...)
  as_tidy(as.data.frame(as.list(x), optional = TRUE))
}

#' @export
tidy.phantoms <- tidy_rows

#' @export
tidy.false_absences <- tidy_rows

#' @export
tidy.false_presences <- tidy_rows

#' @export
tidy.which_zeros_sums <- tidy_rows

#' @export
tidy.which_zeros_contrast <- tidy_rows

#' @export
tidy.visit_richness <- tidy_rows

#' @export
tidy.visits_needed <- tidy_rows

# Accepts `stringsAsFactors`, which data.frame() passes on.
check_frame_dots <- function(...) if (!identical(...names(), "stringsAsFactors")) check_dots(...)

#' @rdname tidiers
#' @export
as.data.frame.multicause_result <- function(x, row.names = NULL, optional = FALSE, ..., table = NULL) {
  check_frame_dots(...)
  tidy_result(x, table)
}

# nolint end

# One row per fit, one row per cell, and the ordination of vegan: glance(), augment(), scores().

# Methods of generics that lintr does not know.
# nolint start: object_name_linter.

#' @rdname tidiers
#' @export
glance.multicause <- function(x, ...) {
  check_dots(...)
  check_whole(check_fit(x, c("multicause", "multicause_shards"), "x"))
  d <- x$dims
  number <- function(value) if (is.null(value)) NA_real_ else unname(as.double(value))
  criteria <- fit_criteria(x)
  as_tidy(data.frame(
    model = class(x)[1L], n = d[["n"]], m = d[["m"]], k = d[["k"]], nobs = as.double(nobs(x)),
    objective = if (is.null(x$objective)) NA_character_ else names(x$objective), value = number(x$objective),
    logLik = number(x$loglik), df = number(x$df), AIC = criteria[["AIC"]],
    BIC = criteria[["BIC"]], converged = if (is.null(x$converged)) NA else x$converged,
    iterations = if (is.null(x$trace)) NA_integer_ else if (is_sampled(x)) nrow(x$trace) else count_iterations(x),
    starts = if (is.null(x$starts)) NA_integer_ else nrow(x$starts),
    reached_best = if (is.null(x$starts$reached_best)) NA_integer_ else sum(x$starts$reached_best)
  ))
}

#' @export
glance.multicause_shards <- glance.multicause

#' @export
glance.multicause_selection <- function(x, ...) {
  check_dots(...)
  as_tidy(data.frame(model = x$model, x$best[1L, ], folds = x$n_folds, replicates = x$replicates, row.names = NULL))
}

#' @export
glance.multicause_cv <- function(x, ...) {
  check_dots(...)
  best <- x$results[cv_choice(x$results)[["best"]], , drop = FALSE]
  if (!nrow(best)) best <- x$results[NA_integer_, ][1L, ]
  as_tidy(data.frame(
    best, criterion = x$criterion, family = x$family, folds = x$n_folds, replicates = x$replicates, row.names = NULL
  ))
}

#' @export
glance.multicause_comparison <- function(x, ...) {
  check_dots(...)
  as_tidy(data.frame(x$table[which.min(x$table$cells), ], models = nrow(x$table), row.names = NULL))
}

#' @export
glance.recovery <- function(x, ...) {
  check_dots(...)
  as_tidy(x$summary)
}

#' @rdname tidiers
#' @export
augment.multicause <- function(x, data = NULL, newdata = NULL, ..., rows = NULL) {
  if (!is.null(newdata)) {
    if (!is.null(data) || !is.null(rows)) stop_input("`data` and `rows` must be NULL with `newdata`.")
    return(augment_new(x, newdata, ...))
  }
  check_dots(...)
  check_whole(check_fit(x, c("multicause", "multicause_shards"), "x"))
  rows <- pick(rows, x$dims[["n"]], x$names[[1L]], "rows")
  refuse_cells(7, rows, x)
  x$x <- fit_data(x, data)
  observed <- dense_rows(x$x, rows)
  mean <- unname(take_side(fitted(x), 1L, rows))
  augment_cells(x, rows, c(augment_means(x, observed, mean), augment_scores(x, rows, observed)))
}

check_whole <- function(x) {
  if (!all(c("n", "m", "k") %in% names(x$dims))) stop_input("`x` must be a whole fit: it lacks its sizes, `x$dims`.")
}

refuse_cells <- function(columns, rows, x) {
  refuse_large(
    columns * as.double(length(rows)) * x$dims[["m"]], "The result", "take fewer rows at a time by `rows`"
  )
}

# Returns the columns of cells on which all models say the like: the observed value, the mean and the difference, each a
# matrix.
augment_means <- function(fit, observed, mean) UseMethod("augment_means")

augment_means.default <- function(fit, observed, mean) {
  list(observed = observed, .fitted = mean, .resid = observed - mean)
}

# Returns a row per cell: names, and a column per matrix of scores of the observations in `rows`.
augment_cells <- function(x, rows, scores) {
  m <- x$dims[["m"]]
  name <- function(side, at) if (is.null(x$names[[side]])) at else x$names[[side]][at]
  as_tidy(data.frame(
    site = rep(name(1L, rows), each = m), taxon = rep(name(2L, seq_len(m)), length(rows)),
    lapply(scores, function(score) as.vector(t(score)))
  ))
}

# Returns the cells of new sites, with taxa in the order of the model's predict().
augment_new <- function(fit, newdata, ...) {
  mean <- stats::predict(fit, newdata, ...)
  observed <- new_observed(fit, newdata)
  if (is.null(observed)) observed <- NA * mean
  if (!is.null(colnames(mean)) && !is.null(colnames(observed))) {
    observed <- observed[, match(colnames(mean), colnames(observed)), drop = FALSE]
  }
  shape <- list(dims = c(n = nrow(mean), m = ncol(mean)), names = dimnames_of(mean))
  augment_cells(shape, seq_len(nrow(mean)), augment_means(fit, unname(observed), unname(mean)))
}

# Returns the records of new sites, n x m; NULL if only their covariates are known.
new_observed <- function(fit, newdata) UseMethod("new_observed")

new_observed.default <- function(fit, newdata) {
  x <- check_newdata(fit, newdata, data_kind(fit))$x
  dense <- dense_rows(x, seq_len(nrow(x)))
  dimnames(dense) <- list(rownames(x), fit$names[[2L]])
  dense
}

# Returns a model's scores of cells beside the mean, by the name of the column: matrices of the observations in `rows`.
augment_scores <- function(fit, rows, observed) UseMethod("augment_scores")

augment_scores.default <- function(fit, rows, observed) list()

#' Scores for ordination diagrams of vegan
#'
#' Methods for the generic `scores()` of package vegan: the positions of sites and species on the components.
#'
#' @param x a fit of any model with components over taxa; for [plca()] sites and species are the first two
#'   dimensions.
#' @param display `"sites"`, `"species"` or both.
#' @param choices names or numbers of components; `NULL`: all.
#' @param ... must be empty.
#' @return A matrix of n x k (sites: memberships, scores, coefficients or activations) or m x k (species: their
#'   probabilities, loadings or weights in each component, on the scale of `coef(x)`), or, for both, a list of `sites`
#'   and `species`. For [plca()]: the share of each component in each level.
#' @examples
#' set.seed(1)
#' fit <- logistic_pca(matrix(rbinom(200, 1, 0.4), 20, 10), k = 2)
#' if (requireNamespace("vegan", quietly = TRUE)) {
#'   print(head(vegan::scores(fit, display = "sites")))
#'   str(vegan::scores(fit))
#' }
#' @exportS3Method vegan::scores
scores.multicause <- function(x, display = c("sites", "species"), choices = NULL, ...) {
  check_dots(...)
  known <- c("sites", "species")
  if (!is.character(display) || !length(display) || !all(display %in% known)) {
    stop_input("`display` must hold some of %s, not %s.", show_names(known), show_value(display))
  }
  if (x$dims[["k"]] == 0L) stop_input("`x` has no components: it is a fit of %s().", class(x)[1L])
  both <- ordination(x)
  choices <- pick(choices, ncol(both$sites), colnames(both$sites), "choices")
  both <- lapply(both[unique(display)], function(part) part[, choices, drop = FALSE])
  if (length(both) == 1L) both[[1L]] else both
}

# nolint end

ordination.default <- function(fit) {
  parts <- ordered_parts(fit)
  if (is.null(names(parts))) {
    stop_input("`x` has no components of its own: it is an average of fits, `x$fits`.")
  }
  sites <- first_of(fit, parts, "site")
  if (is.na(sites)) stop_input("`x` has no positions of sites: no part of it has a row for each site.")
  list(sites = parts[[sites]], species = t(parts[[1L]]))
}
