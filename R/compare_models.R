#' Compare models under one protocol
#'
#' Every model sees the same held-out cells and the same held-out rows; the number of components of each is chosen by
#' held-out cells; then each is fitted to all data, timed.
#'
#' @details
#' The table has a row for every model at its chosen `k`: the loss per held-out cell, the paired difference from the
#' best model with its standard error, the loss per held-out row (see [cross_validate()]; `NA` for least-squares models,
#' which have no likelihood), and what the fit to all data cost. The choice of `k` and the loss shown come from the same
#' folds, which favours models with more values of `k` to choose from, a little. Times are of one fit in the session at
#' hand, memory is the most that R held during it beyond what it held before.
#'
#' @inheritParams cross_validate
#' @param k numbers of components to try: one vector for all models, or a list with a vector for each, named as
#'   `model`.
#' @param model a named list of models, or of functions `f(x, k, control = )` that return a fit of this package.
#' @param criterion what is held out: `"cells"`, by which `k` is chosen, and `"rows"` beside them.
#' @return A list of class `multicause_comparison`: `table`, a data frame with `model`, `k`, `cells`, `cells_se`,
#'   `behind` (difference to the best model over common folds), `behind_se`, `rows`, `rows_se`, `seconds`, `megabytes`,
#'   `converged`; `cells` and `rows`, the results of [cross_validate()] behind it; `fits`, one fit to all data for every
#'   model. It has `print` and `plot` methods.
#' @seealso [select_k()]
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
                           floor = 1e-6, control = fit_control()) {
  check_given(x)
  models <- check_models(model, substitute(model))
  control <- check_control(control, for_many = TRUE)
  rows <- check_compared(criterion)
  if (rows) check_row_scheme(x)
  floor <- check_floor(floor)
  tried <- check_k_list(k, names(models))
  settings <- unlist(Map(function(name) {
    make_settings(models[name], tried[[name]], list(...), NULL)
  }, names(models)), recursive = FALSE, use.names = FALSE)
  parts <- list("compare_models", x, settings, rows, folds, replicates, floor, settings_that_count(control))
  judging <- list(rows = rows, folds = folds, replicates = replicates, floor = floor, control = control)
  with_checkpoint(check_checkpoint(control$checkpoint), parts, function(store) {
    compare_settings(x, names(models), settings, judging, store)
  })
}

# Whether rows are held out, too.
check_compared <- function(criterion) {
  if (!is.character(criterion) || !"cells" %in% criterion || !all(criterion %in% c("cells", "rows"))) {
    stop_input('`criterion` must be "cells", or c("cells", "rows"), not %s.', show_value(criterion))
  }
  "rows" %in% criterion
}

# How they are judged: list(rows, folds, replicates, floor, control).
compare_settings <- function(x, models, settings, judging, store) {
  floor <- judging$floor
  control <- judging$control
  plan <- fold_plan(x, "cells", judging$folds, judging$replicates)
  done <- run_folds(plan, settings, floor, control, store)
  interrupted <- was_interrupted(done)
  cells <- new_cv(done, settings, plan, floor)
  chosen <- vapply(models, function(name) {
    mine <- which(cells$results$model == name & !is.na(cells$results$loss))
    if (length(mine)) mine[cv_choice(cells$results[mine, ])[["best"]]] else NA_integer_
  }, 0L)
  # Models of which no fold is finished cannot be compared.
  chosen <- chosen[!is.na(chosen)]
  by_rows <- NULL
  if (judging$rows && !interrupted) {
    plan <- fold_plan(x, "rows", judging$folds, judging$replicates)
    done <- run_folds(plan, settings[chosen], floor, control, store)
    interrupted <- was_interrupted(done)
    by_rows <- new_cv(done, settings[chosen], plan, floor)
  }
  fits <- vector("list", length(chosen))
  if (!interrupted) fits <- timed_fits(plan$x, settings[chosen], control, store)
  new_comparison(cells, by_rows, chosen, fits)
}

# One after another, so that times compare.
timed_fits <- function(x, settings, control, store) {
  common <- list(x = x, settings = settings, control = inner_control(control))
  name <- function(i) setting_name(settings[[i]])
  running <- task_running(control, checkpoint_store(store, "fit"), parallel = FALSE)
  fits <- map_tasks(setting_tasks(settings), timed_fit, common, "Fits", name, running)
  tell_interrupted(fits, "fits")
  fits
}

check_k_list <- function(k, names) {
  if (!is.list(k)) {
    k <- check_counts(k, "k", 0L)
    return(stats::setNames(rep(list(k), length(names)), names))
  }
  if (!setequal(names(k), names)) {
    stop_input("`k` must be a vector, or a list with an entry for every model: %s.", show_names(names, length(names)))
  }
  Map(function(each, name) check_counts(each, sprintf("k$%s", name), 0L), k[names], names)
}

# list(fit, seconds, megabytes)
timed_fit <- function(task, common, tick) {
  before <- sum(gc(reset = TRUE)[, 2L])
  seconds <- system.time(fit <- fit_setting(task, common))[["elapsed"]]
  list(fit = fit, seconds = seconds, megabytes = sum(gc()[, 6L]) - before)
}

new_comparison <- function(cells, rows, chosen, fits) {
  # By fold, so that differences are paired; an interrupt or a failure may have left some out.
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
  table <- data.frame(
    model = names(chosen), k = cells$results$k[chosen], cells = cells$results$loss[chosen],
    cells_se = cells$results$se[chosen], behind = vapply(behind, mean, 0),
    behind_se = vapply(behind, function(d) stats::sd(d) / sqrt(length(d)), 0),
    rows = if (is.null(rows)) NA_real_ else rows$results$loss,
    rows_se = if (is.null(rows)) NA_real_ else rows$results$se,
    seconds = vapply(fits, function(f) if (is.null(f)) NA_real_ else f$seconds, 0),
    megabytes = vapply(fits, function(f) if (is.null(f)) NA_real_ else f$megabytes, 0),
    converged = vapply(fits, function(f) if (is.null(f)) NA else f$fit$converged, NA), row.names = NULL
  )
  structure(
    list(
      table = table, cells = cells, rows = rows, fits = stats::setNames(lapply(fits, function(f) f$fit), names(chosen))
    ),
    class = "multicause_comparison"
  )
}

#' @export
print.multicause_comparison <- function(x, digits = 4L, ...) {
  digits <- check_digits(digits)
  cat(sprintf(
    "%s, %d-fold held-out cells%s, %s (chances are at least %s)\n", count_words(nrow(x$table), "model"),
    x$cells$n_folds,
    if (is.null(x$rows)) "" else " and rows", loss_words(x$cells), format(x$cells$floor)
  ))
  shown <- x$table[order(x$table$cells), ]
  number <- function(value, se) ifelse(is.na(value), "-", sprintf("%s (%s)", signif(value, digits), signif(se, 2L)))
  table <- data.frame(
    model = shown$model, k = shown$k, cells = number(shown$cells, shown$cells_se),
    behind = ifelse(shown$behind == 0, "best", number(shown$behind, shown$behind_se)),
    rows = number(shown$rows, shown$rows_se), seconds = signif(shown$seconds, 3L), MB = signif(shown$megabytes, 3L)
  )
  if (!all(shown$converged %in% TRUE)) table$converged <- shown$converged
  print.data.frame(table, row.names = FALSE)
  cat("Standard errors in brackets; smaller is better\n")
  if (length(x$rows$no_likelihood)) cat(paste0("rows -: ", x$rows$no_likelihood, "\n"), sep = "")
  invisible(x)
}
