#' Cross-validation by cells, by rows, by visits or by planted omissions
#'
#' How well models predict what they have not seen: cells hidden at random, whole sites, whole visits, or finds that
#' were deleted. It takes models of this package and of others ([comparators]).
#'
#' @details
#' **Cells.** The observed cells are dealt at random to `folds` groups; each group is hidden (`NA`) in turn, the model
#' is fitted to the rest, and the loss is averaged over the hidden cells. Every row and column keeps at least one
#' observed cell in each fold: a cell whose loss would leave none is never hidden. For 0/1 tables the loss is the
#' negative log of the probability given to the cell's value, in nats, with probabilities kept within \[`floor`, 1 -
#' `floor`\]; the mean of a Poisson model (`nmf(loss = "kl")`, `plsa()`) counts as the chance of at least one, and a
#' mean of Euclidean `nmf()` is cut to \[0, 1\]. For other whole numbers it is the Poisson loss of the fitted mean, else
#' the squared error.
#'
#' **Rows.** The sites are dealt to `folds` groups; the loss is the mean negative log-likelihood of the
#' sites left out, in nats each, as [test_loglik()] gives it: the training sites' probabilities are
#' equally likely components, or a mixture's own components (eqs. 23, 25, 26 of Bingham et al. 2009). In 0/1 tables
#' models of counts give the chance of at least one, in tables of counts Poisson probabilities. A model without a
#' likelihood of rows (`nmf()` by squared error) has `NA`, and the print says why; where no model has one, it is an
#' error.
#'
#' **Arrays and repeated visits.** [plca()] of an array and [visits_bernoulli()] are judged by cells. A cell of repeated
#' visits is the record of one taxon on one of them; its probability is that given the records of the other visits.
#'
#' **Visits.** Of repeated visits to sites, each is held out with all of its records in one fold; the other
#' visits to the site stay, and one visit at least. The loss is that of a record, as for cells. What was found on
#' a visit is known, and so is what was not: unlike the loss of a cell of one table, this one neither rewards nor
#' punishes a model for taking zeros for absences. If misses depend on the site (`missed_by = "site"`),
#' nothing is known of a visit that was held out; such a model is refused.
#'
#' **Omissions.** From 0/1 tables finds are deleted, as `corrupt(x, omit = c(0, 0.4))` does it, in `folds` tables for
#' each replicate. The loss is 1 - AUC of the deleted finds among the zeros, ranked by `fitted()`; `auc`,
#' `auc_within` and `ap` are those of [recovery()].
#'
#' **Folds** are drawn once and are the same for every model and every `k`, so differences are paired. `se` is the
#' standard error of the mean over folds and replicates. It is a little too small, because training sets overlap.
#'
#' **Cost.** `folds` times `replicates` fits for each model, `k` and row of `grid`. They run in parallel where a
#' [future::plan()] is set, with the same result for any plan; the data are sent to each worker once.
#'
#' **Long jobs.** With `checkpoint`, every finished fit's result is kept in a small file beside the one named
#' (`<checkpoint>-<stage>-<number>.rds`), and the random numbers with which the job began in that one. After a crash or
#' an interrupt the same call goes on where it was and ends with the same answer, whatever the session's random numbers
#' are. A file of another call (other data, models or settings) is refused. Every file has a checksum: where the file of
#' a fit was cut off or changed, a warning of class `multicause_checkpoint_damaged` names it and the fit is run again; a
#' damaged `checkpoint` itself is an error. Delete the files for a new run. On several machines the folder must be one
#' that all of them see. A fit that fails is named in a warning of class `multicause_task_failed` and does not lose the
#' others; what it would have added is `NA`, or left out of the means. `fit_control(on_interrupt = "keep")` returns what
#' is finished at an interrupt in the same way. A time limit ([setTimeLimit()]) ends the whole job as an error.
#'
#' @param x data, as the models take them: a table, repeated visits or an array.
#' @param k numbers of components to try.
#' @param model a model of this package, such as `aspect_bernoulli`; or a function of `x` and, where it has them, `k`
#'   and `control`, that returns such a fit or a matrix of chances or means, see [comparators]; or a named list of
#'   several.
#' @param criterion what is held out: `"cells"`, `"rows"`, `"omissions"` or, for repeated visits, `"visits"`.
#' @param ... further arguments of the models, the same for all of them.
#' @param grid data frame or named list of vectors or lists: arguments of the models to try in all combinations, such as
#'   `list(penalty = c(0.3, 1, 3))`, at most 10,000.
#' @param folds number of groups, at least 2.
#' @param replicates how often the folds are drawn again, from 1 to a million.
#' @param floor smallest probability (or mean) given to a held-out cell, above 0 and at most 0.5.
#' @param control settings of each fit, from [fit_control()]; `progress` shows one bar for all, and `checkpoint` is a
#'   file name, whose folder must exist, or `NULL`; see Details. Models that are sampled need [mcmc_control()] instead:
#'   give them as a function that has its own, such as
#'   `function(x, k, control) bmf(x, k, control = mcmc_control(draws = 500))`.
#' @return A list of class `multicause_cv`: `results`, a data frame with a row for every model, k and row of the grid:
#'   `model`, `k`, the grid's columns, `loss` (mean, smaller is better), `se`, of omissions their measures,
#'   `not_converged` (fits of those made);
#'   `folds`, the losses of the single folds (`clipped`: cells whose chance was moved to the floor); `criterion`,
#'   `family` (of the loss), `floor`, `n_folds`, `replicates`; `no_likelihood`, why losses are `NA`, or `NULL`;
#'   `failed`, a data frame with the fold and `message` of each fit that failed, or `NULL`. It has `print` and `plot`
#'   methods.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [select_k()], [compare_models()], [comparators]
#' @examples
#' set.seed(1)
#' present <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6))
#' x <- present * rbinom(360, 1, 0.7)
#' cross_validate(x, k = 1:3, bernoulli_mixture, folds = 3, control = fit_control(n_start = 2))
#' @export
cross_validate <- function(x, k, model, criterion = c("cells", "rows", "visits", "omissions"), ..., grid = NULL,
                           folds = 5, replicates = 1, floor = 1e-6, control = fit_control()) {
  check_given(x)
  x <- open_table(x)
  models <- check_models(model, substitute(model))
  scheme <- check_choice(criterion)
  control <- check_control(control, for_many = TRUE)
  settings <- make_settings(models, check_counts(k, "k", 0L), list(...), check_grid(grid))
  floor <- check_floor(floor)
  parts <- list("cross_validate", x, settings, scheme, folds, replicates, floor, settings_that_count(control))
  with_checkpoint(check_checkpoint(control$checkpoint), parts, function(store) {
    plan <- fold_plan(x, scheme, folds, replicates)
    out <- new_cv(run_folds(plan, settings, floor, control, store), settings, plan, floor)
    if (length(out$no_likelihood) && all(is.na(out$folds$loss))) stop_input("%s", out$no_likelihood[1L])
    out
  })
}

# One or several model functions, named.
check_models <- function(model, expression) {
  if (missing(model)) stop_missing("model")
  models <- if (is.function(model)) list(model) else model
  ok <- is.list(models) && length(models) && all(vapply(models, is.function, NA))
  if (!ok) {
    stop_input(
      "`model` must be a model such as `aspect_bernoulli`, or a named list of them, not %s.", show_value(model)
    )
  }
  if (is.function(model)) names(models) <- if (is.symbol(expression)) as.character(expression) else "model"
  if (!is_named(models)) {
    stop_input("A list of models in `model` must have unique names, as in list(ab = aspect_bernoulli).")
  }
  models
}

check_counts <- function(x, name, min = 1L) {
  if (missing(x)) stop_missing(name)
  whole <- function(x) all(x == floor(x) & x >= min & x <= .Machine$integer.max)
  ok <- is.numeric(x) && length(x) && !anyNA(x) && whole(x) && !anyDuplicated(x)
  if (!ok) stop_input("`%s` must hold different whole numbers of at least %d, not %s.", name, min, show_value(x))
  as.integer(x)
}

check_floor <- function(floor) {
  floor <- check_number(floor, "floor", 0, 0.5)
  if (floor == 0) stop_input("`floor` must be above 0: one impossible cell would decide everything.")
  floor
}

# More are made by mistake, as of a long vector that was meant as one value.
most_settings <- 1e4

# A list of named argument lists, all combinations; one without arguments for NULL.
check_grid <- function(grid) {
  if (is.null(grid)) {
    return(NULL)
  }
  if (!is_named(grid) || (is.object(grid) && !is.data.frame(grid)) || any(lengths(grid) == 0L)) {
    stop_input("`grid` must be a data frame or a list of vectors with a name each, not %s.", show_value(grid))
  }
  size <- if (is.data.frame(grid)) nrow(grid) else prod(lengths(grid))
  if (size > most_settings) {
    stop_input("`grid` must make at most %.0f settings, not %s: give fewer values.", most_settings, format(size))
  }
  if (is.data.frame(grid)) {
    return(lapply(seq_len(nrow(grid)), function(i) lapply(grid, function(column) column[[i]])))
  }
  index <- expand.grid(lapply(grid, seq_along))
  lapply(seq_len(nrow(index)), function(i) Map(function(values, at) values[[at]], grid, index[i, ]))
}

make_settings <- function(models, k, args, grid) {
  twice <- intersect(names(args), names(grid[[1L]]))
  if (length(twice)) stop_input("Arguments must be given once, by name or in `grid`, not both: %s.", show_names(twice))
  taken <- intersect(c("x", "k", "control"), c(names(args), names(grid[[1L]])))
  if (length(taken)) {
    stop_input("`grid` and `...` must hold further arguments of the models, not %s.", show_names(taken))
  }
  at_grid <- seq_len(max(1L, length(grid)))
  combinations <- expand.grid(grid = at_grid, k = k, model = names(models), stringsAsFactors = FALSE)
  # A model without an argument `k` is fitted once, as one without components.
  combinations$k[!vapply(models, takes, NA, name = "k")[combinations$model]] <- 0L
  combinations <- unique(combinations)
  lapply(seq_len(nrow(combinations)), function(i) {
    at <- combinations[i, ]
    list(
      name = at$model, model = models[[at$model]], k = at$k, args = c(args, grid[[at$grid]]),
      grid = vapply(grid[[at$grid]], show_setting, "")
    )
  })
}

show_setting <- function(x) paste(format(unlist(x), digits = 4L, trim = TRUE, drop0trailing = TRUE), collapse = ", ")

# What is held out: the data, and for every replicate and fold the cells or rows.
fold_plan <- function(x, scheme, folds, replicates) {
  folds <- check_count(folds, "folds", 2L)
  replicates <- check_count(replicates, "replicates", 1L, most_tasks)
  check_table_scheme(x, scheme)
  data <- if (scheme == "visits") visit_fold_data(x) else fold_data(x)
  if (scheme == "omissions" && data$family != "bernoulli") {
    stop_input("Omissions can be planted in tables of 0 and 1 only: hold out cells of `x`.")
  }
  observed <- data$observed
  units <- if (scheme == "rows") sum(rowSums(observed) > 0) else sum(observed)
  if (folds > units) stop_input("`folds` must be at most the number of observed %s, %d, not %d.", scheme, units, folds)
  refuse_large(replicates * as.double(units) / 2, "What is held out", "use fewer `replicates`")
  draw <- switch(scheme,
    cells = cell_folds, rows = row_folds, visits = function(observed, folds) visit_folds(data$x, folds),
    omissions = function(observed, folds) omission_folds(data$x, folds)
  )
  held <- lapply(draw_seeds(replicates), function(seed) with_seed(seed, draw(observed, folds)))
  list(x = data$x, scheme = scheme, family = data$family, folds = folds, replicates = replicates, held = held)
}

# All folds of all settings, as independent tasks: a data frame with a row for each.
run_folds <- function(plan, settings, floor, control, store = NULL) {
  tasks <- expand.grid(fold = seq_len(plan$folds), replicate = seq_len(plan$replicates), setting = seq_along(settings))
  # Draws one seed of the session, and from it one for each fold: neither later folds nor the fits of a model depend on
  # what it is compared with, and the same model twice has the same numbers.
  tasks$seed <- with_seed(draw_seeds(1L), draw_seeds(plan$folds * plan$replicates))
  common <- list(plan = plan, settings = settings, floor = floor, control = judging_control(control))
  name <- function(i) {
    sprintf("%s, replicate %d, fold %d", setting_name(settings[[tasks$setting[i]]]), tasks$replicate[i], tasks$fold[i])
  }
  each <- split(tasks, seq_len(nrow(tasks)))
  running <- task_running(control, checkpoint_store(store, plan$scheme))
  done <- map_tasks(each, run_fold, common, "Folds", name, running)
  tell_interrupted(need_some(done), "folds")
  ok <- is_done(done)
  out <- data.frame(tasks[ok, c("setting", "replicate", "fold")], do.call(rbind, done[ok]), row.names = NULL)
  if (was_interrupted(done)) attr(out, "interrupted") <- TRUE
  attr(out, "why") <- unique(unlist(lapply(done[ok], attr, "why")))
  failed <- attr(done, "failed")
  if (!is.null(failed)) {
    model <- vapply(settings[tasks$setting[failed$task]], function(setting) setting$name, "")
    attr(out, "failed") <- data.frame(
      model, tasks[failed$task, c("setting", "replicate", "fold")], message = failed$message, row.names = NULL
    )
  }
  out
}

run_fold <- function(task, common, tick) {
  plan <- common$plan
  held <- plan$held[[task$replicate]][[task$fold]]
  setting <- common$settings[[task$setting]]
  with_seed(task$seed, hold_out(plan$x, setting, plan$scheme, held, plan$family, common$floor, common$control))
}

# Of fits within a larger job, which shows the progress and keeps what is finished.
inner_control <- function(control) {
  control$progress <- FALSE
  control$on_interrupt <- "stop"
  control["checkpoint"] <- list(NULL)
  control
}

# Of fits that are judged and thrown away: judging them asks for their data.
judging_control <- function(control) {
  if (inherits(control, "multicause_mcmc_control")) { # chains have no starts to keep
    control$progress <- FALSE
    return(control)
  }
  control <- inner_control(control)
  control$keep_x <- TRUE
  control$keep_starts <- FALSE
  control
}

setting_name <- function(setting) sprintf("%s, k = %d", paste(c(setting$name, setting$grid), collapse = " "), setting$k)

new_cv <- function(folds, settings, plan, floor) {
  each <- split(folds, factor(folds$setting, seq_along(settings)))
  results <- data.frame(model = vapply(settings, function(s) s$name, ""), k = vapply(settings, function(s) s$k, 0L))
  for (name in names(settings[[1L]]$grid)) {
    # An argument may be called as one of the columns, such as nmf()'s `loss`.
    column <- if (name %in% c("model", "k", "loss", "se", "not_converged")) paste0("arg_", name) else name
    results[[column]] <- vapply(settings, function(s) s$grid[[name]], "", USE.NAMES = FALSE)
  }
  # Settings without a finished fold have no loss.
  results$loss <- vapply(each, function(f) if (nrow(f)) mean(f$loss) else NA_real_, 0)
  results$se <- vapply(each, function(f) stats::sd(f$loss) / sqrt(nrow(f)), 0)
  for (name in intersect(omission_measures, names(folds))) {
    results[[name]] <- vapply(each, function(f) if (nrow(f)) mean(f[[name]]) else NA_real_, 0)
  }
  results$not_converged <- vapply(each, function(f) sum(!f$converged), 0L)
  structure(
    list(
      results = results, folds = folds, criterion = plan$scheme, family = plan$family, floor = floor,
      n_folds = plan$folds, replicates = plan$replicates, no_likelihood = attr(folds, "why"),
      failed = attr(folds, "failed")
    ),
    class = c("multicause_cv", "multicause_result")
  )
}

# The least loss, and the least k whose loss is within one standard error of it.
cv_choice <- function(results) {
  best <- which.min(results$loss)
  within <- which(results$loss <= results$loss[best] + results$se[best])
  c(best = best, one_se = within[which.min(results$k[within])])
}

loss_words <- function(cv) {
  if (cv$criterion == "rows") {
    return("mean negative log-likelihood of a held-out row")
  }
  if (cv$criterion == "visits") {
    return("mean negative log-likelihood of a record of a held-out visit")
  }
  if (cv$criterion == "omissions") {
    return("1 - AUC of planted omissions")
  }
  switch(cv$family,
    bernoulli = "mean negative log-likelihood of a held-out cell", poisson = "mean Poisson loss of a held-out cell",
    squared = "mean squared error of a held-out cell"
  )
}

#' @export
print.multicause_cv <- function(x, digits = 4L, ...) {
  digits <- check_digits(digits)
  write_sentences(sprintf(
    "%d-fold cross-validation by %s%s: %s, smaller is better (chances are at least %s)", x$n_folds, x$criterion,
    if (x$replicates > 1L) paste(",", count_words(x$replicates, "replicate")) else "", loss_words(x), format(x$floor)
  ))
  shown <- x$results
  if (isTRUE(all(shown$not_converged == 0))) shown$not_converged <- NULL
  rounded <- intersect(names(shown), c("loss", "se", omission_measures))
  shown[rounded] <- lapply(shown[rounded], signif, digits)
  print.data.frame(shown, row.names = FALSE)
  wanted <- nrow(x$results) * x$n_folds * x$replicates
  if (nrow(x$folds) + NROW(x$failed) < wanted) {
    cat(sprintf("Stopped early: %d of %d folds are done\n", nrow(x$folds), wanted))
  }
  if (length(x$no_likelihood)) cat(paste0("NA: ", x$no_likelihood, "\n"), sep = "")
  writeLines(as.character(c(clipped_sentence(x), failed_sentences(x))))
  invisible(x)
}

# Of which models chances had to be moved to the floor, and in what share of the held-out cells.
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
    wrap_text(paste("Held-out cells whose chance was moved to the floor:", shown), exdent = 2L)
  }
}

# Models that failed in some or all folds, with what they said first.
failed_sentences <- function(cv) {
  if (!is.null(cv$failed)) {
    times <- table(cv$failed$model)
    first <- cv$failed$message[match(names(times), cv$failed$model)]
    said <- sprintf("FAILED: %s, %s to folds by %s: %s", names(times), count_words(times, "fit"), cv$criterion, first)
    unlist(lapply(said, wrap_text, exdent = 2L))
  }
}

# Strength of a prior or ridge chosen by held-out cells.

# The priors tried by prior = "cv": from none to strong, the mean of the Beta prior falling with its strength. `second`:
# the Dirichlet's parameter in each of them.
prior_grid <- function(names, second = 1) {
  tried <- list(c(1, 1), c(1.05, 1.5), c(1.2, 2), c(1.2, 4), c(1.2, 4), c(1.5, 6))
  unique(Map(function(beta, other) stats::setNames(list(beta, other), names), tried, rep_len(second, length(tried))))
}

penalty_grid <- c(0.3, 1, 2, 3, 5, 8)

# Is the prior a request to choose: "cv", or an unnamed list of several? One prior is a named list.
wants_tuning <- function(prior) {
  identical(prior, "cv") || (is.list(prior) && is.null(names(prior)) && length(prior) > 0L)
}

# The value of the argument `name` with the least loss on held-out cells: list(value, cv). Folds are drawn first, so
# that the fit that follows starts from the same random numbers whatever was tried.
tune_by_cells <- function(x, model, k, name, values, args, control) {
  light <- control
  light$n_start <- min(control$n_start, 3L)
  light$keep_starts <- FALSE
  light$n_polish <- 0L
  light$on_interrupt <- "stop"
  grid <- stats::setNames(list(as.list(values)), name)
  cv <- do.call(cross_validate, c(list(x, k, model), args, list(grid = grid, control = light)))
  list(value = values[[cv_choice(cv$results)[["best"]]]], cv = cv)
}

# The prior of a fit with a prior, by tune() where there are several to choose from: list(value, cv). check() refuses
# what is none; `grid` are the priors that "cv" tries.
choose_prior <- function(prior, grid, check, tune) {
  if (!wants_tuning(prior)) {
    return(list(value = prior, cv = NULL))
  }
  tried <- if (identical(prior, "cv")) grid else prior
  lapply(tried, check)
  tune(tried)
}
