#' Cross-validation by cells, by rows, by visits or by planted omissions
#'
#' Measures how well models predict held-out data: cells drawn at random, whole sites, whole visits, or presences that
#' were deleted. It takes models of this package and of others ([comparators]).
#'
#' @details
#' What is held out is the test data, and the rest of the table the training data, which is all that a model sees.
#'
#' **Cells.** The observed cells are divided at random into `folds` groups; each group is held out (`NA`) in turn, and
#' the loss is averaged over its cells. Each row and column keeps an observed cell. For 0/1 tables the loss is the
#' negative log of the probability of the cell's value, in nats, within \[`floor`, 1 - `floor`\]; models of counts give
#' the probability of at least one. For other whole numbers it is the Poisson loss of the fitted mean, else the squared
#' error.
#'
#' **A loss of your own.** `loss = function(x, p)` takes the values of the held-out cells of a fold and the
#' probabilities (for data other than 0/1: the means) that the model predicts for them. It returns a number for each
#' cell, or one for the fold, such as 1 - AUC. Smaller must be better. `floor` is then ignored.
#'
#' **Rows.** The sites are divided at random into `folds` groups; the loss is the mean negative log-likelihood of the
#' sites left out, in nats each, as [test_loglik()] gives it (eqs. 23, 25, 26 of Bingham and others 2009). A model
#' without a likelihood of rows (`nmf()` by squared error) has `NA`.
#'
#' **Arrays and repeated visits.** [plca()] and [visits_bernoulli()] are judged by cells. A cell of repeated visits is
#' the record of one taxon on one of them; its probability is that given the records of the other visits.
#'
#' **Visits.** Each of the repeated visits is held out with all of its records in one fold; at least one visit to the
#' site stays. The loss is that of a record. It is known what a visit found and what it did not, so this loss, unlike
#' that of cells of one table, neither rewards nor punishes a model for taking zeros for absences. Models with
#' `missed_by = "site"` are refused.
#'
#' **Omissions.** Presences of 0/1 tables are deleted by `corrupt(x, omit = c(0, 0.4))`, in `folds` tables for each
#' replicate. The loss is 1 - AUC of the held-out presences among the zeros, ranked by `fitted()`; `auc`, `auc_within`
#' and `ap` are those of [recovery()].
#'
#' **Folds** are drawn once and are the same for all models and `k`, so differences are paired. `se`, the standard error
#' of the mean over folds and replicates, is too small, because training sets overlap.
#'
#' **Long jobs.** With `checkpoint` each finished fit has a small file beside the one named
#' (`<checkpoint>-<stage>-<number>.rds`). After a crash or an interrupt the same call resumes, with the same result. A
#' file of another call is refused; a file of a fit that was cut off raises a warning of class
#' `multicause_checkpoint_damaged`, and the fit is run again. Delete the files for a new run. A fit that fails raises a
#' warning of class `multicause_task_failed`, and its loss is `NA`. `fit_control(on_interrupt = "keep")` returns what is
#' finished.
#'
#' **Cost.** `folds` times `replicates` fits for each model, `k` and row of `grid`, in parallel under a
#' [future::plan()], with the same result.
#' @param x data, as the models take them: a table, repeated visits or an array.
#' @param k numbers of components to try; may be missing if no model has an argument `k`.
#' @param model a model of this package, such as `aspect_bernoulli`; or a function of `x` and, where it has them, `k`
#'   and `control`, that returns such a fit or a matrix of probabilities or means, see [comparators]; or a named list of
#'   several.
#' @param criterion what is held out: `"cells"`, `"rows"`, `"omissions"` or, for repeated visits, `"visits"`.
#' @param ... further arguments of the models, the same for all of them.
#' @param grid data frame or named list of vectors or lists: arguments of the models to try in all combinations, such as
#'   `list(penalty = c(0.3, 1, 3))`, at most 10,000. A value with a name, as in `list(prior = list(weak = a, strong =
#'   b))`, is printed by it.
#' @param folds number of groups, at least 2.
#' @param replicates how often the folds are drawn, from 1 to a million.
#' @param loss loss of held-out cells, or of the records of visits: `NULL` is that of Details; `"squared"` (of 0/1
#'   tables, the Brier score) or `"absolute"` error; or a function, see Details.
#' @param floor smallest probability (or mean) given to a held-out cell, above 0 and at most 0.5.
#' @param control settings of each fit, from [fit_control()]; `progress` shows one bar for all, and `checkpoint` is a
#'   file name, whose folder must exist, or `NULL`; see Details. Models that are sampled need [mcmc_control()] instead:
#'   supply a function that sets it, such as `function(x, k, control) bmf(x, k, control = mcmc_control(draws = 500))`.
#' @return A list of class `multicause_cv`: `results`, a data frame with a row for every model, k and row of the grid:
#'   `model`, `k`, the grid's columns, `loss` (mean, smaller is better), `se`, of omissions their measures,
#'   `not_converged` (fits of those made);
#'   `folds`, the losses of the single folds (`n`: how many were held out, the other known ones being the training data;
#'   `clipped`: cells whose probability was moved to the floor); `criterion`, `family` (of the data), `loss` (in words;
#'   `NULL` by default), `floor`, `n_folds`, `replicates`; `no_likelihood`, why losses are `NA`, or `NULL`; `failed`, a
#'   data frame with the fold and `message` of each fit that failed, or `NULL`. It has `print` and `plot` methods.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [select_k()], [compare_models()], [comparators]
#' @examples
#' set.seed(1)
#' present <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6))
#' x <- present * rbinom(360, 1, 0.7)
#' few <- fit_control(n_start = 2)
#' cross_validate(x, k = 1:3, bernoulli_mixture, folds = 3, control = few)
#' far_off <- function(x, p) mean(abs(x - p) > 0.5)
#' cross_validate(x, k = 1:3, bernoulli_mixture, folds = 3, loss = far_off, control = few)
#' @export
cross_validate <- function(x, k, model, criterion = c("cells", "rows", "visits", "omissions"), ..., grid = NULL,
                           folds = 5, replicates = 1, loss = NULL, floor = 1e-6, control = fit_control()) {
  check_given(x)
  x <- open_table(x)
  tell_unknown_to_judge(x)
  models <- check_models(model, substitute(model))
  scheme <- check_choice(criterion)
  control <- check_control(control, for_many = TRUE)
  if (missing(k) && !any(vapply(models, takes, NA, name = "k"))) k <- 0
  settings <- make_settings(models, check_counts(k, "k", 0L), list(...), check_grid(grid))
  floor <- check_floor(floor)
  loss <- check_loss(loss, substitute(loss))
  if (!is.null(loss) && scheme %in% c("rows", "omissions")) {
    stop_input("`loss` must be NULL where %s are held out: it is for cells and visits.", scheme)
  }
  validate_settings(x, settings, scheme, folds, replicates, floor, control, own_empty_rows, loss)
}

# Returns one or several model functions as a named list.
check_models <- function(model, expression) {
  if (missing(model)) stop_missing("model")
  models <- if (is.function(model)) list(model) else model
  ok <- is.list(models) && length(models) && all(vapply(models, is.function, NA))
  if (!ok) {
    stop_input(
      "`model` must be a model such as `aspect_bernoulli`, or a named list of them, not %s.", show_value(model)
    )
  }
  from_package <- is.call(expression) && length(expression) == 3L && is.symbol(expression[[1L]]) &&
    as.character(expression[[1L]]) %in% c("::", ":::")
  if (from_package) expression <- expression[[3L]]
  if (is.function(model)) names(models) <- if (is.symbol(expression)) as.character(expression) else "model"
  if (!is_named(models)) {
    stop_input("A list of models in `model` must have unique names, as in list(ab = aspect_bernoulli).")
  }
  models
}

check_floor <- function(floor) {
  floor <- check_number(floor, "floor", 0, 0.5)
  if (floor == 0) stop_input("`floor` must be above 0: one impossible cell would decide everything.")
  floor
}

loss_words <- function(cv) {
  if (cv$criterion == "rows") {
    return("mean negative log-likelihood of a held-out row")
  }
  if (!is.null(cv$loss)) {
    return(if (cv$criterion == "visits") sub("held-out cell", "record of a held-out visit", cv$loss) else cv$loss)
  }
  if (cv$criterion == "visits") {
    return("mean negative log-likelihood of a record of a held-out visit")
  }
  if (cv$criterion == "omissions") {
    return("1 - AUC of planted omissions")
  }
  switch(cv$family,
    bernoulli = , categorical = "mean negative log-likelihood of a held-out cell",
    poisson = "mean Poisson loss of a held-out cell",
    squared = "mean squared error of a held-out cell"
  )
}

#' @export
print.multicause_cv <- function(x, digits = 4L, ...) {
  digits <- check_digits(digits)
  write_sentences(sprintf(
    "%d-fold cross-validation by %s%s; loss: %s", x$n_folds, x$criterion,
    if (x$replicates > 1L) paste(",", count_words(x$replicates, "replicate")) else "", loss_words(x)
  ))
  shown <- x$results
  if (isTRUE(all(shown$not_converged == 0))) shown$not_converged <- NULL
  rounded <- intersect(names(shown), c("loss", "se", omission_measures))
  shown[rounded] <- lapply(shown[rounded], signif, digits)
  shown$se <- signif(shown$se, 2L)
  print_rows(shown)
  wanted <- nrow(x$results) * x$n_folds * x$replicates
  if (nrow(x$folds) + NROW(x$failed) < wanted) {
    cat(sprintf("Stopped early: %d of %d folds are done\n", nrow(x$folds), wanted))
  }
  if (length(x$no_likelihood)) cat(paste0("NA: ", x$no_likelihood, "\n"), sep = "")
  writeLines(as.character(c(clipped_sentence(x), failed_sentences(x))))
  invisible(x)
}

# Reports the models whose probabilities were raised to the floor, with the share of held-out cells.
clipped_sentence <- function(cv) {
  if (is.null(cv$folds$clipped)) {
    return(NULL)
  }
  model <- cv$results$model[cv$folds$setting]
  model <- factor(model, unique(model))
  share <- tapply(cv$folds$clipped, model, sum) / tapply(cv$folds$n, model, sum)
  share <- share[share > 0]
  if (length(share)) {
    shown <- paste(sprintf("%s %s %%", names(share), format(100 * share, digits = 2L, trim = TRUE)), collapse = ", ")
    moved <- if (identical(cv$family, "poisson")) {
      sprintf("mean was below %s and raised to it", format(cv$floor))
    } else {
      sprintf("probability was raised to %s, or lowered to 1 minus it", format(cv$floor))
    }
    wrap_text(sprintf("Held-out cells whose fitted %s: %s.", moved, shown), exdent = 2L)
  }
}

# Reports models that failed in some or all folds, with their first error.
failed_sentences <- function(cv) {
  if (!is.null(cv$failed)) {
    times <- table(cv$failed$model)
    first <- cv$failed$message[match(names(times), cv$failed$model)]
    said <- sprintf("FAILED: %s, %s to folds by %s: %s", names(times), count_words(times, "fit"), cv$criterion, first)
    unlist(lapply(said, wrap_text, exdent = 2L))
  }
}
