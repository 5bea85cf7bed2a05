#' How many components?
#'
#' Fits a model for several numbers of components and judges each by information criteria, by held-out cells and by
#' held-out rows. No single criterion is right: held-out cells come first for prediction and for false absences.
#'
#' @details
#' `"aic"` is the usual Akaike criterion, -2 L + 2 P; `"aic_paper"` is half of it, -L + P, for [aspect_bernoulli()]: eq.
#' (27) of Bingham et al. (2009), with the same minimum. `"bic"` counts sites as observations. It is meaningful for
#' [bernoulli_mixture()], [noisy_or()] and some fits of [visits_bernoulli()]: in other models the number of parameters
#' grows with that of sites ([multicause-package]). There it is `NA`, with the reason, or left out where `criterion` is
#' not supplied. All three count every parameter as free, although many end at a bound.
#'
#' For fits with a prior or a penalty, such as those of `estimate = "map"`, the likelihood is that at the estimate. The
#' prior restricts parameters that are counted as free, so AIC and BIC penalise such fits too much: compare them among
#' fits of one prior. `"aic_paper"` is defined for maximum likelihood: if `estimate` is not supplied, all fits are then
#' made with `estimate = "ml"`, and a message reports it. Criteria are `NA` for fits that did not maximise a likelihood,
#' such as [bmf()] or Euclidean [nmf()].
#'
#' `"cells"`, `"rows"`, `"omissions"` and `"visits"` are explained in [cross_validate()]; arrays have `"cells"` only.
#' Repeated visits have `"visits"`, which is the best criterion for them. Held-out rows may keep improving with k for
#' models that average over the training sites.
#'
#' For the held-out losses the result has two choices: the `k` of the least loss, and the smallest `k` whose loss is
#' within one standard error of it.
#'
#' @inheritParams cross_validate
#' @param model a model of this package, or a function of `x`, `k` and, where it has it, `control`, as in
#'   [cross_validate()].
#' @param criterion which criteria, one or more of `"aic"`, `"aic_paper"`, `"bic"`, `"cells"`, `"rows"`, `"omissions"`
#'   and, for repeated visits, `"visits"`.
#' @return A list of class `multicause_selection`: `table`, a data frame with `criterion`, `k`, `value` (smaller is
#'   better), `se` and `not_converged`; `best`, a data frame with `criterion`, `k` of the minimum and `k_one_se`; `k`,
#'   that of the minimum of the first criterion; `fits`, the fits to all data if information criteria were requested,
#'   else `NULL`. It has `print` and `plot` methods.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' present <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6))
#' x <- present * rbinom(360, 1, 0.7)
#' few <- fit_control(n_start = 2)
#' select_k(
#'   x, k = 1:3, model = bernoulli_mixture, criterion = c("cells", "aic"), folds = 3, control = few
#' )
#' @export
select_k <- function(x, k = 1:10, model = aspect_bernoulli, criterion = c("cells", "rows", "aic", "bic"), ...,
                     folds = 5, replicates = 1, floor = 1e-6, control = fit_control()) {
  check_given(x)
  x <- open_table(x)
  tell_unknown_to_judge(x)
  models <- check_models(model, substitute(model))
  if (length(models) > 1L) stop_input("`model` must be one model: compare_models() takes several.")
  if (!takes(models[[1L]], "k")) {
    stop_input("`model` must have an argument `k` to choose: cross_validate() judges a model without components.")
  }
  by_default <- missing(criterion)
  criterion <- check_criteria(criterion)
  args <- estimate_for(criterion, models[[1L]], list(...))
  check_table_scheme(x, criterion)
  control <- check_control(control, for_many = TRUE)
  settings <- make_settings(models, sort(check_counts(k, "k", 0L)), args, NULL)
  floor <- check_floor(floor)
  parts <- list("select_k", x, settings, criterion, folds, replicates, floor, settings_that_count(control))
  judging <- list(criterion = criterion, folds = folds, replicates = replicates, floor = floor, control = control)
  with_checkpoint(check_checkpoint(control$checkpoint), parts, function(store) {
    judged <- judge_settings(x, settings, judging, store)
    if (by_default && all(is.na(judged$tables$bic$value))) judged$tables$bic <- NULL
    table <- do.call(rbind, unname(judged$tables))
    new_selection(table, names(judged$tables), judged$fits, names(models), folds, replicates, floor)
  })
}

# The paper's criterion requires maximum likelihood, which becomes the default of `estimate`.
estimate_for <- function(criterion, model, args) {
  has_it <- identical(model, aspect_bernoulli) || identical(model, visits_bernoulli)
  if ("aic_paper" %in% criterion && has_it && is.null(args$estimate)) {
    inform('"aic_paper" is of maximum likelihood: all fits are with `estimate = "ml"`. Use `estimate` for others.')
    args$estimate <- "ml"
  }
  args
}

# Evaluates settings by judging = list(criterion, folds, replicates, floor, control): list(tables by criterion, fits);
# criteria not reached before an interrupt are absent.
judge_settings <- function(x, settings, judging, store) {
  criterion <- judging$criterion
  control <- judging$control
  tables <- list()
  fits <- NULL
  interrupted <- FALSE
  if (any(names(information_criteria) %in% criterion)) {
    fits <- fit_settings(x, settings, control, store)
    interrupted <- was_interrupted(fits)
    for (which in intersect(criterion, names(information_criteria))) {
      tables[[which]] <- information_table(fits, settings, which)
    }
    fits <- fits[is_done(fits)]
  }
  for (scheme in intersect(criterion, names(held_out_words))) {
    if (interrupted) break
    plan <- fold_plan(x, scheme, judging$folds, judging$replicates)
    done <- run_folds(plan, settings, judging$floor, control, store, own_empty_rows)
    interrupted <- was_interrupted(done)
    results <- new_cv(done, settings, plan, judging$floor)$results
    tables[[scheme]] <- data.frame(
      criterion = scheme, k = results$k, value = results$loss, se = results$se, not_converged = results$not_converged
    )
  }
  list(tables = tables[intersect(criterion, names(tables))], fits = fits)
}

check_criteria <- function(criterion) {
  known <- names(criterion_words)
  if (!is.character(criterion) || !length(criterion) || anyDuplicated(criterion) || !all(criterion %in% known)) {
    stop_input("`criterion` must hold some of %s, not %s.", show_names(known, length(known)), show_value(criterion))
  }
  criterion
}

# Fits each setting `members` times, one after the other, NULL if a fit failed or was not reached. Timed fits run one
# after another.
fit_settings <- function(x, settings, control, store = NULL, timed = FALSE, members = 1L) {
  settings <- rep(settings, each = members)
  common <- list(
    x = x, settings = settings, control = inner_control(control), refusal = own_empty_rows(x, settings)
  )
  name <- function(i) setting_name(settings[[i]])
  running <- task_running(control, checkpoint_store(store, "fit"), parallel = !timed)
  # Settings have the same seeds, so that the same model twice has the same fit; members of a setting have their own.
  tasks <- Map(list, setting = seq_along(settings), seed = rep_len(draw_seeds(members), length(settings)))
  fits <- map_tasks(tasks, if (timed) timed_fit else fit_setting, common, "Fits", name, running)
  tell_interrupted(if (timed) fits else need_some(fits), "fits")
  names(fits) <- vapply(settings, function(setting) as.character(setting$k), "")
  fits
}

information_criteria <- list(
  aic = function(fit) stats::AIC(fit), aic_paper = function(fit) aic_paper(fit), bic = function(fit) stats::BIC(fit)
)

information_table <- function(fits, settings, which) {
  f <- information_criteria[[which]]
  value <- vapply(fits, function(fit) if (is.null(fit)) NA_real_ else safe_value(fit, f), 0)
  # A criterion without meaning for some fits compares none of them.
  if (anyNA(value[!vapply(fits, is.null, NA)])) value[] <- NA_real_
  data.frame(
    criterion = which, k = vapply(settings, function(setting) setting$k, 0L), value = value, se = NA_real_,
    not_converged = vapply(fits, function(fit) if (is.null(fit)) 0L else as.integer(!fit$converged), 0L),
    row.names = NULL
  )
}

# Returns NA if the criterion has no meaning for the fit.
safe_value <- function(fit, f) tryCatch(f(fit), multicause_input_error = function(e) NA_real_)

new_selection <- function(table, criterion, fits, model, folds, replicates, floor) {
  best <- lapply(criterion, function(which) {
    mine <- table[table$criterion == which, ]
    if (all(is.na(mine$value))) {
      return(data.frame(criterion = which, k = NA_integer_, k_one_se = NA_integer_))
    }
    at <- cv_choice(data.frame(k = mine$k, loss = mine$value, se = mine$se))
    one_se <- if (is.na(mine$se[at[["best"]]])) NA_integer_ else mine$k[at[["one_se"]]]
    data.frame(criterion = which, k = mine$k[at[["best"]]], k_one_se = one_se)
  })
  best <- do.call(rbind, best)
  structure(
    list(
      table = table, best = best, k = best$k[1L], fits = fits, model = model, n_folds = as.integer(folds),
      replicates = as.integer(replicates), floor = floor
    ),
    class = c("multicause_selection", "multicause_result")
  )
}

#' @export
print.multicause_selection <- function(x, digits = 5L, ...) {
  digits <- check_digits(digits)
  cat(sprintf("Number of components of %s()\n", x$model))
  if (any(names(held_out_words) %in% x$table$criterion)) {
    cat(sprintf(
      "%s, %s\n", count_words(x$n_folds, "fold"), count_words(x$replicates, "replicate")
    ))
  }
  for (i in seq_len(nrow(x$best))) {
    which <- x$best$criterion[i]
    mine <- x$table[x$table$criterion == which, ]
    if (is.na(x$best$k[i])) {
      none <- sprintf("%s %s", criterion_words[[which]], no_value_words(which, x$fits))
      writeLines(c("", wrap_text(none, exdent = 2L)))
      next
    }
    cat(sprintf("\n%s: ", criterion_words[[which]]))
    within <- sprintf("; smallest within one standard error: k = %d", x$best$k_one_se[i])
    cat(sprintf("k = %d%s\n", x$best$k[i], if (is.na(x$best$k_one_se[i])) "" else within))
    shown <- rbind(k = format(mine$k), value = format(mine$value, digits = digits))
    if (!all(is.na(mine$se))) shown <- rbind(shown, se = format(mine$se, digits = 2L))
    if (any(mine$not_converged > 0, na.rm = TRUE)) shown <- rbind(shown, not_converged = format(mine$not_converged))
    cat(aligned_rows(shown), sep = "\n")
  }
  invisible(x)
}

# Explains why a criterion has no value for some of these fits; NULL if no fit was kept.
no_value_words <- function(which, fits) {
  fit <- fits[1L][[1L]]
  if (which == "aic_paper" && !inherits(fit, "aspect_model")) {
    return("is of aspect_bernoulli(); of other models take AIC")
  }
  why <- if (!is.null(fit)) paste("each", what_it_did(fit))
  if (!is.null(fit) && has_likelihood(fit)) {
    why <- if (which == "bic") unlist(lapply(fits, function(fit) why_no_bic(fit)))[1L]
  }
  paste0(c("has no meaning for these fits", why), collapse = ": ")
}

# Formats a character matrix with row names as lines, broken at the width of the page.
aligned_rows <- function(shown) {
  width <- apply(nchar(shown), 2L, max)
  label <- format(rownames(shown))
  room <- max(1L, (getOption("width") - nchar(label[1L])) %/% (max(width) + 1L))
  parts <- split(seq_len(ncol(shown)), (seq_len(ncol(shown)) - 1L) %/% room)
  unlist(lapply(parts, function(at) {
    cells <- vapply(at, function(j) formatC(shown[, j], width = width[j]), character(nrow(shown)))
    paste(label, apply(matrix(cells, nrow(shown)), 1L, paste, collapse = " "))
  }), use.names = FALSE)
}
