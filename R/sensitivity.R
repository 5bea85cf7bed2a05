# Sensitivity of a which_zeros() result to its assumptions.

#' How far a result depends on its settings and assumptions
#'
#' Repeats [which_zeros()] with one thing changed at a time: the number of components, the estimate and the prior,
#' neighbours, the seed, the evidence for the number missed, and which zeros can be false. The result is a table and a
#' figure for the paper.
#'
#' @details
#' The row "as it is" is `fit` itself. Each other row changes one thing, and keeps the other settings, the seed and the
#' number of copies of `fit`:
#' * half as many components, and 1.5 times as many, in all models;
#' * `estimate = "ml"`, and a stronger prior (`aspects = c(1.5, 4)`, `membership = 1.2`), instead of the default;
#' * no ages, places and distances, where there are any;
#' * another seed;
#' * `assume = "phantom"`, or, if `fit` assumes that, presence-absence data alone; if `completeness` is a range, all
#'   sites at its lower end, and all at its upper end;
#' * if ages are known: only zeros within the known range of their taxon, its ends included, can be false
#'   ([range_through()] with `ties = "include"`, by mid-ages); if `within` was supplied: all zeros can.
#'
#' The smallest and the largest number are not the ends of an interval: other changes are possible, and these are not
#' equally likely. All rows assume that presences are never errors. `plot(fit, "how_many")` shows the estimates of other
#' evidence.
#'
#' @param fit a result of [which_zeros()].
#' @param ... must be empty.
#' @param n how many zeros, from the top of the list, to compare.
#' @param control settings from [fit_control()] of how the job is run: `n_threads`, and `progress`, a bar with the time
#'   left.
#' @return A list of class `which_zeros_sensitivity`: `table`, a data frame with a row for `fit` and for each change:
#'   `change`; `missed`, the expected number of undetected presences, `low` and `high` (90 %); `zeros`, how many can be
#'   false; `kept`, how many of the first `n` zeros of `fit` are among the first `n` of this row; `n`; and `source`, the
#'   evidence of the number. An interrupt keeps the rows that are finished. It has `print()`, `plot()`,
#'   [as.data.frame()]. Cost: seven to nine times that of `fit`, because changes of evidence and of `within` share one;
#'   in parallel where a [future::plan()] is set. For a first look take a result with `quick = TRUE`.
#' @seealso [which_zeros()], [identifiability()], which shows what the data cannot decide, [multicause-glossary]
#' @examples
#' w <- which_zeros(simulated_sites$x[1:30, 1:20], quick = TRUE, seed = 1)
#' sensitivity(w)
#' @export
sensitivity <- function(fit, ..., n = 50, control = fit_control()) {
  check_dots(...)
  check_answer(fit)
  need_numbers(fit)
  n <- check_count(n, "n", 1L)
  control <- check_control(control, for_many = TRUE)
  refuse_checkpoint(control)
  refuse_settings(control, c("n_threads", "progress"))
  control$on_interrupt <- "keep"
  changes <- wz_changes(fit)
  common <- list(w = fit, control = inner_control(control))
  done <- map_tasks(changes, answer_again, common, "Results", function(i) names(changes)[i], task_running(control))
  if (!any(is_done(done))) signal_interrupt()
  tell_interrupted(done, "results")
  answers <- c(list(short_answer(fit, "as it is")), unlist(done[is_done(done)], recursive = FALSE))
  top <- utils::head(answers[[1L]]$cells, n)
  table <- data.frame(
    change = vapply(answers, function(one) one$change, ""), t(vapply(answers, function(one) one$total, numeric(3))),
    zeros = vapply(answers, function(one) length(one$cells), 0L),
    kept = vapply(answers, function(one) sum(top %in% utils::head(one$cells, n)), 0L)
  )
  structure(list(table = table, n = length(top), source = fit$source), class = "which_zeros_sensitivity")
}

# Reduces a result to what sensitivity() compares.
short_answer <- function(w, change) {
  list(change = change, total = w$total[c("missed", "low", "high")], cells = ranked_cells(w))
}

# Settings of learners, by the change. The first are those of the result, for changes that need no refit.
wz_changes <- function(w) {
  how <- function(scale = 1, ...) utils::modifyList(as_usual(w$quick), list(scale = scale, args = list(...)))
  changes <- list(
    `other assumptions` = list(how = how(), given = other_assumptions(w)),
    `half as many components` = list(how = how(0.5)), `1.5 times as many components` = list(how = how(1.5)),
    `maximum likelihood` = list(how = how(estimate = "ml")),
    `stronger prior` = list(how = how(prior = list(aspects = c(1.5, 4), membership = 1.2))),
    `another seed` = list(how = how(), seed = as.integer((w$seed + 1) %% .Machine$integer.max))
  )
  if (!is.null(w$inputs$near)) changes$`no neighbours` <- list(how = how(), alone = TRUE)
  changes <- Map(function(change, name) c(change, name = name), changes, names(changes))
  changes[lengths(lapply(changes, `[[`, "given")) > 0L | names(changes) != "other assumptions"]
}

# Alternative inputs beside the table, by the change: evidence for the number, and which zeros can be false.
other_assumptions <- function(w) {
  given <- w$inputs$given
  out <- list()
  if (is.null(given$assume)) {
    out$`all that was there, by a phantom's share` <- without_evidence(given, assume = "phantom")
  } else {
    out$`as two more surveys would find` <- without_evidence(given)
  }
  ends <- given$completeness
  if (!is.null(ends) && any(ends[, 1L] < ends[, 2L])) {
    out$`completeness at its lower end` <- replace_part(given, "completeness", ends[, c(1L, 1L), drop = FALSE])
    out$`completeness at its upper end` <- replace_part(given, "completeness", ends[, c(2L, 2L), drop = FALSE])
  }
  age <- w$inputs$near$given$age
  if (!is.null(given$within)) {
    out$`all zeros can be false` <- replace_part(given, "within", NULL)
  } else if (!is.null(age)) {
    ranges <- inside_known_ages(w)
    if (any(ranges)) out$`only zeros within known ranges` <- replace_part(given, "within", ranges)
  }
  out
}

replace_part <- function(given, name, value) {
  given[name] <- list(value)
  given
}

# Removes all evidence but the table and the assumption.
without_evidence <- function(given, assume = NULL) {
  given[c("completeness", "effort", "cell", "pooled", "counts")] <- list(NULL)
  replace_part(given, "assume", assume)
}

# Recomputes a result under one change of settings, as a list; a result stopped early has its first copies only.
answer_again <- function(change, common, tick) {
  w <- common$w
  plan <- list(
    quick = w$quick, copies = w$wanted, first = w$copies, seed = if (is.null(change$seed)) w$seed else change$seed,
    how = change$how
  )
  given <- if (is.null(change$given)) stats::setNames(list(w$inputs$given), change$name) else change$given
  assumed <- any(vapply(given, function(each) !is.null(each$assume), NA))
  asked <- list(
    x = w$x, near = if (is.null(change$alone)) w$inputs$near,
    given = replace_part(w$inputs$given, "assume", if (assumed) "phantom"), plan = plan,
    running = list(seconds = Inf, control = common$control)
  )
  judged <- judged_taxa(asked$x)
  learnt <- wz_learn(wz_of_taxa(asked, judged))
  unname(Map(function(given, name) {
    asked$given <- given
    of_judged <- wz_of_taxa(asked, judged)
    own <- replace_part(learnt, "share", wz_share(of_judged, learnt))
    w <- suppressMessages(wz_answer(of_judged, own, wz_cells(of_judged, own), NULL))
    short_answer(put_back_taxa(w, asked, judged), name)
  }, given, names(given)))
}

# Ranks cells that can be false, most probable first.
ranked_cells <- function(w) {
  at <- which(w$candidate)
  main <- if (is.null(w$reason)) unlist(missed_by_column(w)) else w$probability[at]
  at[order(-main, -w$probability[at], (at - 1L) %% w$dims[["n"]], at)]
}

#' @export
format.which_zeros_sensitivity <- function(x, ...) {
  check_dots(...)
  sensitivity_sentence(x)
}

#' @export
print.which_zeros_sensitivity <- function(x, ...) {
  check_dots(...)
  table <- x$table
  same <- unmoved(x)
  shown <- table[!same | seq_len(nrow(table)) == 1L, ]
  writeLines(wrap_text(sprintf("Undetected presences (%s), under %s", wz_words[[x$source]], count_words(
    nrow(table) - 1L, "change"
  )), exdent = 2))
  bare <- is.na(shown$missed)
  columns <- list(
    change = shown$change, missed = ifelse(bare, "no number", show_count(shown$missed)),
    `90 % interval` = ifelse(bare, "", show_ends(shown$low, shown$high)),
    sprintf("%.0f", shown$kept)
  )
  names(columns)[4L] <- paste("first", count_words(x$n, "zero"), "kept")
  print_aligned(columns)
  writeLines(wrap_text(same_sentence(x)))
  invisible(x)
}

# Which changes leave the number as it is.
unmoved <- function(x) (abs(x$table$missed - x$table$missed[1L]) <= 1e-6 * x$table$missed[1L]) %in% TRUE

sensitivity_sentence <- function(x) {
  table <- x$table
  changed <- table[-1L, ]
  low <- which.min(table$missed)
  high <- which.max(table$missed)
  paste(c(
    sprintf("Undetected presences: %s, %s.", show_count(table$missed[1L]), wz_words[[x$source]]),
    if (low == high) {
      sprintf("%s do not change the number.", capital(count_words(nrow(changed), "change")))
    } else {
      sprintf(
        "%s give %s (%s) to %s (%s).", capital(count_words(nrow(changed), "change")), show_count(table$missed[low]),
        table$change[low], show_count(table$missed[high]), table$change[high]
      )
    },
    sprintf("%s of the first %.0f are kept.", paste(unique(range(changed$kept)), collapse = " to "), x$n),
    same_sentence(x)
  ), collapse = " ")
}

# An unchanged number is no sign of robustness if it does not depend on what was changed.
same_sentence <- function(x) {
  same <- unmoved(x)
  same[1L] <- FALSE
  if (!any(same)) {
    return(NULL)
  }
  kept <- unique(range(x$table$kept[same]))
  sprintf(
    "The number%s does not change with %s; of the list %s of the first %s are kept.",
    if (x$source %in% c("curve", "groups", "visits")) {
      sprintf(", which is estimated from %s,", evidence_words[[x$source]])
    } else {
      ""
    },
    and_words(x$table$change[same]), paste(sprintf("%.0f", kept), collapse = " to "), count_words(x$n, "zero")
  )
}

#' @export
as.data.frame.which_zeros_sensitivity <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  x$table
}
