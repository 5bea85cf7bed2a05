#' Compare models under one protocol
#'
#' Every model sees the same held-out cells and the same held-out rows; the number of components of each is chosen by
#' held-out cells; then each is fitted to all data, timed. Models may be of other packages ([comparators]).
#'
#' @details
#' The table has a row for every model at its chosen `k`: the loss per held-out cell, the paired difference from the
#' best model with its standard error, the loss per held-out row (see [cross_validate()]; `NA` for least-squares models,
#' which have no likelihood), and what the fit to all data cost. The choice of `k` and the loss shown come from the same
#' folds, which slightly favours models with more values of `k` to choose from. Starts are drawn by fold, so that a
#' model has the same numbers whatever it is compared with. Times are of one fit in this session; memory is the peak of
#' R during it, less what R held before. With `"omissions"` the table also has the measures of deleted presences, the
#' same for all models.
#'
#' @inheritParams cross_validate
#' @param k numbers of components to try: one vector for all models, or a list with a vector for each, named as
#'   `model`. Functions without an argument `k` need none.
#' @param model a named list of models of this package and of other functions, as in [cross_validate()].
#' @param loss loss of held-out cells, by which `k` is chosen, as in [cross_validate()]: `NULL`, `"squared"`,
#'   `"absolute"` or a function of values and predictions. Rows and omissions keep theirs.
#' @param criterion what is held out: `"cells"`, by which `k` is chosen; `"rows"` and `"omissions"`, which are reported
#'   as well.
#' @return A list of class `multicause_comparison`: `table`, a data frame with `model`, `k`, `cells`, `cells_se`,
#'   `behind` (difference to the best model over common folds), `behind_se`, `rows`, `rows_se`, `seconds`, `megabytes`,
#'   `converged` and, if requested, `auc`, `auc_within` and `ap` of planted omissions; `cells`, `rows` and
#'   `omissions`, the results of [cross_validate()] behind it; `fits`, one fit to all data for every model, for
#'   `fitted()`. It has `print` and `plot` methods.
#' @seealso [select_k()], [comparators]
#' @examples
#' set.seed(1)
#' present <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6))
#' x <- present * rbinom(360, 1, 0.7)
#' compare_models(
#'   x, list(mixture = bernoulli_mixture, pca = logistic_pca),
#'   k = 1:2, folds = 3, control = fit_control(n_start = 2)
#' )
#' @export
compare_models <- function(x, k = 1:6, model, criterion = c("cells", "rows"), ..., folds = 5, replicates = 1,
                           loss = NULL, floor = 1e-6, control = fit_control()) {
  check_given(x)
  x <- open_table(x)
  tell_unknown_to_judge(x)
  models <- check_models(model, substitute(model))
  control <- check_control(control, for_many = TRUE)
  criterion <- check_compared(criterion)
  check_table_scheme(x, criterion)
  floor <- check_floor(floor)
  loss <- check_loss(loss, substitute(loss))
  tried <- check_k_list(k, models)
  settings <- unlist(Map(function(name) {
    make_settings(models[name], tried[[name]], list(...), NULL)
  }, names(models)), recursive = FALSE, use.names = FALSE)
  parts <- list("compare_models", x, settings, criterion, folds, replicates, floor, settings_that_count(control), loss)
  judging <- list(
    criterion = criterion, folds = folds, replicates = replicates, loss = loss, floor = floor, control = control
  )
  with_checkpoint(check_checkpoint(control$checkpoint), parts, function(store) {
    compare_settings(x, names(models), settings, judging, store)
  })
}

# Returns the criteria besides cells.
check_compared <- function(criterion) {
  if (!is.character(criterion) || !"cells" %in% criterion || !all(criterion %in% c("cells", "rows", "omissions"))) {
    stop_input(
      '`criterion` must hold "cells" and may hold "rows" and "omissions", not be %s.', show_value(criterion)
    )
  }
  setdiff(criterion, "cells")
}

# Evaluates the models by these criteria: list(criterion, folds, replicates, loss, floor, control).
compare_settings <- function(x, models, settings, judging, store) {
  floor <- judging$floor
  control <- judging$control
  plan <- fold_plan(x, "cells", judging$folds, judging$replicates, judging$loss)
  done <- run_folds(plan, settings, floor, control, store, own_empty_rows)
  interrupted <- was_interrupted(done)
  cells <- new_cv(done, settings, plan, floor)
  chosen <- vapply(models, function(name) {
    mine <- which(cells$results$model == name & !is.na(cells$results$loss))
    if (length(mine)) mine[cv_choice(cells$results[mine, ])[["best"]]] else NA_integer_
  }, 0L)
  # Models without a finished fold cannot be compared.
  chosen <- chosen[!is.na(chosen)]
  by <- list()
  for (scheme in judging$criterion) {
    if (interrupted) break
    plan <- fold_plan(x, scheme, judging$folds, judging$replicates)
    done <- run_folds(plan, settings[chosen], floor, control, store, own_empty_rows)
    interrupted <- was_interrupted(done)
    by[[scheme]] <- new_cv(done, settings[chosen], plan, floor)
  }
  fits <- vector("list", length(chosen))
  if (!interrupted) fits <- fit_settings(plan$x, settings[chosen], control, store, timed = TRUE)
  new_comparison(cells, by, chosen, fits)
}

# A list needs no entry for models without an argument `k`.
check_k_list <- function(k, models) {
  names <- names(models)
  if (!is.list(k)) k <- stats::setNames(rep(list(check_counts(k, "k", 0L)), length(names)), names)
  free <- names[!vapply(models, takes, NA, name = "k")]
  k[setdiff(free, names(k))] <- 0L
  if (!setequal(names(k), names)) {
    stop_input("`k` must be a vector, or a list with an entry for every model: %s.", show_names(names, length(names)))
  }
  Map(function(each, name) check_counts(each, sprintf("k$%s", name), 0L), k[names], names)
}

# by: list(rows, omissions), as far as requested.
new_comparison <- function(cells, by, chosen, fits) {
  # Differences are paired by fold; an interrupt or a failure may have left some out.
  key <- paste(cells$folds$replicate, cells$folds$fold)
  losses <- lapply(chosen, function(at) {
    mine <- cells$folds$setting == at
    stats::setNames(cells$folds$loss[mine], key[mine])
  })
  best <- losses[[which.min(vapply(losses, mean, 0))]]
  behind <- lapply(losses, function(loss) {
    both <- intersect(names(loss), names(best))
    loss[both] - best[both]
  })
  of_rows <- function(what) if (is.null(by$rows)) NA_real_ else by$rows$results[[what]]
  table <- data.frame(
    model = names(chosen), k = cells$results$k[chosen], cells = cells$results$loss[chosen],
    cells_se = cells$results$se[chosen], behind = vapply(behind, mean, 0),
    behind_se = vapply(behind, function(d) stats::sd(d) / sqrt(length(d)), 0),
    rows = of_rows("loss"), rows_se = of_rows("se"),
    seconds = vapply(fits, function(f) if (is.null(f)) NA_real_ else f$seconds, 0),
    megabytes = vapply(fits, function(f) if (is.null(f)) NA_real_ else f$megabytes, 0),
    converged = vapply(fits, function(f) if (is.null(f)) NA else f$fit$converged, NA), row.names = NULL
  )
  if (!is.null(by$omissions)) table <- cbind(table, by$omissions$results[omission_measures])
  structure(
    list(
      table = table, cells = cells, rows = by$rows, omissions = by$omissions,
      fits = stats::setNames(lapply(fits, function(f) f$fit), names(chosen))
    ),
    class = c("multicause_comparison", "multicause_result")
  )
}

#' @export
print.multicause_comparison <- function(x, digits = 4L, ...) {
  digits <- check_digits(digits)
  write_sentences(sprintf(
    "Comparison of %s by %d-fold held-out cells%s; loss: %s", count_words(nrow(x$table), "model"), x$cells$n_folds,
    if (is.null(x$rows)) "" else " and rows", loss_words(x$cells)
  ))
  shown <- x$table[order(x$table$cells), ]
  number <- function(value, se) ifelse(is.na(value), "-", sprintf("%s (%s)", signif(value, digits), signif(se, 2L)))
  table <- data.frame(
    model = shown$model, k = shown$k, cells = number(shown$cells, shown$cells_se),
    behind = ifelse(shown$behind == 0, "best", number(shown$behind, shown$behind_se)),
    rows = number(shown$rows, shown$rows_se), seconds = signif(shown$seconds, 3L), MB = signif(shown$megabytes, 3L)
  )
  if (is.null(x$rows)) table$rows <- NULL
  if (!is.null(x$omissions)) {
    table[c("auc", "within", "ap")] <- signif(shown[omission_measures], 3L)
  }
  # Models from outside this package do not report convergence.
  if (any(shown$converged %in% FALSE)) table$converged <- shown$converged
  print_rows(table)
  cat("Standard errors in brackets; behind: difference from the best\n")
  if (!is.null(x$omissions)) cat("auc, within (sites), ap: of planted omissions\n")
  if (length(x$rows$no_likelihood)) cat(paste0("rows -: ", x$rows$no_likelihood, "\n"), sep = "")
  failed <- unlist(lapply(x[c("cells", "rows", "omissions")], failed_sentences))
  writeLines(as.character(c(clipped_sentence(x$cells), failed)))
  invisible(x)
}

#' Models of other packages, and of one's own
#'
#' [cross_validate()], [select_k()], [compare_models()], [ensemble()] and [recovery()] take any model, written as a
#' function of the table in a few lines. Here is what such a function must do, and recipes for models with which those
#' of this package are often compared.
#'
#' @details
#' **A model** is `function(x, k)`, or `function(x)` where it has no components. It returns a fit of this package, or a
#' numeric matrix in the shape of `x`: for a table of 0 and 1 the probability of a presence in every cell, for counts
#' and other numbers its mean. Rows and columns with names may come in any order. Held-out cells of `x` are `NA`. A
#' model that takes no `NA` must replace them: 0 is simple, but makes every probability too low. `x` is a matrix; it is
#' sparse where the data are.
#'
#' A function that has an argument `control`, or `...`, is given the [fit_control()] too; further arguments of the verb
#' (`...`, `grid`) go to all models. A function without an argument `k` is fitted once and stands as `k = 0`. It must
#' use the data through `x` alone, since nothing is held out elsewhere.
#'
#' **Scores.** Held-out cells need probabilities within 0 and 1; a matrix of another shape, with `NA` or with other
#' values is an error that names model, place and value. Probabilities of exactly 0 or 1 are moved to `floor`, and the
#' print reports in how many cells. Held-out rows are judged as those of other models (see [cross_validate()]): the rows
#' of the matrix are equally likely components. Planted omissions take any numbers, since only their order counts.
#'
#' **Failures.** A model that fails in one fold, or in all of them, is shown as failed, with its message, and the others
#' are compared without it.
#'
#' @eval c(
#'   "@section Recipes:",
#'   "`source(system.file(\"examples\", \"comparators.R\", package = \"multicause\"))` defines this list.",
#'   "\\preformatted{", gsub("%", "\\\\%", readLines("inst/examples/comparators.R")[-(1:2)]), "}"
#' )
#' @name comparators
#' @seealso [compare_models()]; the article *How it compares* of the site has ten tables.
#' @examples
#' source(system.file("examples", "comparators.R", package = "multicause"))
#' set.seed(1)
#' present <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6))
#' x <- present * rbinom(360, 1, 0.7)
#' means <- function(x) matrix(colMeans(x, na.rm = TRUE), nrow(x), ncol(x), byrow = TRUE)
#' models <- c(list(mixture = bernoulli_mixture, means = means), comparators["pca"])
#' compare_models(
#'   x, models, k = 1:2, criterion = c("cells", "omissions"), folds = 3,
#'   control = fit_control(n_start = 2)
#' )
#' planted <- corrupt(x, omit = c(0, 0.4))
#' recovery(comparators$pca, planted, k = 2)
NULL

#' @export
fitted.user_model <- function(object, ...) object$value

#' @export
update.user_model <- function(object, x, control, ...) call_model(object$setting, x, control)

model_title.user_model <- function(fit) fit$setting$name

shape_words.user_model <- function(fit) table_words(fit$dims, axis_words(fit))

fit_table.user_model <- function(fit, digits = 4L) NULL

reached_sentence.user_model <- function(fit, digits = 4L) "a number for each cell"
