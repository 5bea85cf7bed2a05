# Methods for results of which_zeros(): print, sums by zeros, sites and taxa, explanations.

# Numbers are withheld if not estimated: functions and figures of numbers stop there.
need_numbers <- function(w) {
  if (!is.null(w$reason)) {
    stop_input(
      "`%s` has no number of undetected presences, because %s: only its ranking can be used, as by as.data.frame().",
      "x", w$reason
    )
  }
  if (anyNA(w$ratios$log)) stop_input("`x` must hold numbers: its `ratios` do not. Was the result edited?")
}

# The table of the result, or the surveys, may be gone or changed where update() is called. If sites were left out, the
# call holds the whole table.
#' @export
update.which_zeros <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  changes <- named_changes(match.call(expand.dots = FALSE)$...)
  whole <- all(vapply(object$call[c("leave_out", "visits", "groups")], is.null, NA)) && !"visits" %in% names(changes)
  own <- object$inputs$given$counts %||% object$x
  updated_call(object, changes, list(x = if (whole) own), evaluate, parent.frame())
}

#' @rdname as.data.frame.which_zeros
#' @export
print.which_zeros <- function(x, n = 5L, ..., by = c("missed", "probability")) {
  check_dots(...)
  n <- check_shown(n)
  by <- check_choice(by, "by", c("missed", "probability"))
  writeLines(wrap_text(paste("Which zeros are false absences?", title_words(x)), exdent = 2))
  if (is.null(x$reason)) {
    print_numbers(number_table(x))
    writeLines(wrap_text(c(years_sentence(x), inside_sentence(x), decided_sentence(x)), exdent = 2))
  } else {
    writeLines(wrap_text(c(no_number_sentence(x$reason), format_evidence(x)), exdent = 2))
  }
  print_zeros(as.data.frame(x, n = n, by = by), axis_words(x), x$dims, sum(x$candidate))
  print_quality(x)
  invisible(x)
}

#' @rdname as.data.frame.which_zeros
#' @export
format.which_zeros <- function(x, what = c("answer", "quality"), ...) {
  check_dots(...)
  what <- check_choice(what, "what", c("answer", "quality"))
  if (what == "answer") answer_sentences(x) else quality_sentences(x)
}

# Describes the result in sentences: the table, the number of undetected presences, and further findings.
answer_sentences <- function(w) {
  c(
    table = table_sentence(w), gaps = gaps_sentence(w),
    missed = if (is.null(w$reason)) {
      total_sentence(w$total, w$source, axis_words(w), w$more)
    } else {
      no_number_sentence(w$reason)
    },
    years = years_sentence(w),
    inside = if (is.null(w$reason)) inside_sentence(w), decided = if (is.null(w$reason)) decided_sentence(w),
    other = format_evidence(w)
  )
}

table_sentence <- function(w) {
  sprintf(
    "%s, %s%s%s", size_words(w), count_words(sum(w$candidate), "zero"), if (w$restricted) " that can be false" else "",
    reference_words(w)
  )
}

# The same where the zeros are counted further down.
title_words <- function(w) if (w$restricted) table_sentence(w) else paste0(size_words(w), reference_words(w))

size_words <- function(w) {
  size <- table_words(c(sum(wz_scored(w)), w$dims[["m"]]), axis_words(w))
  paste0(size, ", ", count_words(w$presences, "presence"))
}

# given: the arguments that give a number by themselves.
no_number_sentence <- function(reason, given = "repeated visits in `visits` or a known `completeness`") {
  sprintf(
    "No number of undetected presences is estimated, because %s. More data may allow one, and so may %s.", reason, given
  )
}

# Reports that more changes between years than between visits; NULL if visits do not look like years.
years_sentence <- function(w) {
  years <- w$visits$years
  if (!is.null(years)) {
    sprintf(
      "Visits look like years (%s), between which %s come and go: then the 90 %% interval is %s.",
      show_names(w$visits$labels, 3L, quoted = FALSE), axis_words(w)[2L], show_ends(years[[1L]], years[[2L]])
    )
  }
}

# Reports the gaps of a series, which are certain; NULL without any.
gaps_sentence <- function(w) {
  gaps <- sum(w$candidate[w$gaps])
  if (gaps > 0) {
    taxon <- singular_word(axis_words(w)[2L])
    sprintf("Undetected for certain: %s, in gaps between presences of their %s.", format_big(gaps), taxon)
  }
}

# Reports how many of these lie within the known ages of their taxa; NULL without ages.
inside_sentence <- function(w) {
  inside <- missed_inside(w)
  if (is.null(inside)) {
    return(NULL)
  }
  percent <- function(part) paste(whole_percent(part / max(w$total[["missed"]], 1e-12)), "%")
  sprintf(
    "Of the %s, within known age ranges: %s%s%s.", show_count(w$total[["missed"]]), percent(inside[["inside"]]),
    if (is.na(inside[["sure"]])) {
      ""
    } else {
      sprintf(" by mid-ages, %s for certain", percent(inside[["sure"]]))
    },
    if (inside[["undated"]] > 0) {
      sprintf("; %s at %s without an age", percent(inside[["undated"]]), axis_words(w)[1L])
    } else {
      ""
    }
  )
}

# Counts the zeros that were probably missed, and the undecided ones.
decided_sentence <- function(w) {
  states <- count_states(w)
  sprintf(
    "Zeros probably missed (interval above one half): %s; undecided: %s.", format_big(states[["missed"]]),
    format_big(states[["undecided"]])
  )
}

count_states <- function(w, threshold = 0.5) {
  states <- numeric(4L)
  scan_zeros(w, function(cells) {
    states <<- states + tabulate(states_of(cells$missed_low, cells$missed_high, threshold), 4L)
  }, numbers = wz_missed)
  c(missed = states[2L], undecided = states[3L])
}

# Formats estimates by other evidence, which are of other quantities.
format_evidence <- function(w) {
  others <- w$how_many[-1L, ]
  if (!nrow(others)) {
    return(NULL)
  }
  ends <- ifelse(is.na(others$high), "", sprintf(" (%s)", show_ends(others$low, others$high)))
  sprintf(
    "Other evidence, which estimates another quantity (?how_many): %s.",
    paste0(others$evidence, ": ", show_count(others$missed), ends, collapse = "; ")
  )
}

# What print() has of numbers: a data frame of `label`, `missed`, `low`, `high`.
number_table <- function(w) {
  row <- function(label, values) {
    data.frame(label = label, missed = values[[1L]], low = values[[2L]], high = values[[3L]])
  }
  taxon <- singular_word(axis_words(w)[2L])
  gaps <- sum(w$candidate[w$gaps])
  two <- w$more[w$more$surveys == 2, ]
  others <- w$how_many[-1L, ]
  own <- if (w$source != "curve") {
    list(row(wz_words[[w$source]], w$total))
  } else {
    one <- w$more[w$more$surveys == 1, ]
    eight <- w$more[w$more$surveys == 8, ]
    list(
      row("found by 1 more survey of equal effort", one[2:4]), row("found by 2", two[2:4]),
      row("found by 2 in other years or by other methods", two[c("missed", "unlike_low", "unlike_high")]),
      row("found by 8", eight[2:4])
    )
  }
  if (gaps > 0) {
    own <- c(list(row(sprintf("in gaps between presences of a %s, certain", taxon), c(gaps, NA, NA))), own)
    if (w$source == "curve") own <- c(own, list(row("in gaps, or found elsewhere by 2", w$total)))
  }
  do.call(rbind, c(own, if (nrow(others)) list(data.frame(
    label = sprintf("%s: %s", others$evidence, others$of), others[c("missed", "low", "high")]
  ))))
}

print_numbers <- function(table) {
  ends <- ifelse(is.na(table$high), "", show_ends(table$low, table$high))
  labels <- lapply(table$label, strwrap, width = 50L, indent = 2L, exdent = 4L)
  # A label of several lines has its numbers beside the last line.
  last <- function(values) unlist(Map(function(lines, value) c(rep("", length(lines) - 1L), value), labels, values))
  print_aligned(list(
    `Undetected presences expected` = unlist(labels), estimate = last(show_count(table$missed)),
    `90 % interval` = last(ends)
  ))
}

# Returns the parts of the number within known ages; NULL without ages.
missed_inside <- function(w) {
  age <- w$inputs$near$given$age
  if (is.null(age) || w$restricted) {
    return(NULL)
  }
  no_age <- is.na(answer_ages(w))
  undated <- 0
  scan_zeros(w, function(cells) undated <<- undated + sum(cells$missed[no_age[cells$row]]))
  within <- function(known) {
    sum <- 0
    scan_zeros(w, function(cells) sum <<- sum + sum(cells$missed[known[cbind(cells$row, cells$column)]]))
    sum
  }
  inside <- within(inside_known_ages(w))
  c(
    inside = inside, outside = w$total[["missed"]] - inside - undated, undated = undated,
    sure = if (any(age[, 1L] != age[, 2L], na.rm = TRUE)) within(inside_known_ages(w, age, "exclude")) else NA
  )
}

# Marks zeros between the first and the last presence of their taxon, or as old as one of these: by mid-ages, or, by
# bounds, those certain in range_through().
inside_known_ages <- function(w, ages = answer_ages(w), ties = "include") {
  as.matrix(suppressMessages(range_through(unname(as.matrix(w$x)), unname(ages), ties)))
}

# Marks the sites of a result that are scored.
wz_scored <- function(w) scored_sites(w$inputs$given$reference, w$dims[["n"]])

reference_words <- function(w) {
  others <- sum(!wz_scored(w))
  if (others > 0L) paste("; for reference:", count_side(others, axis_words(w)[1L])) else ""
}

# Prints the first zeros; without an estimated number, only with the probability of a record.
print_zeros <- function(zeros, words, size, all, kept = all) {
  if (!nrow(zeros)) {
    return(invisible())
  }
  two <- function(x) sprintf("%.2f", x)
  shown <- zeros[c("site", "taxon")]
  names(shown) <- singular_word(words)
  if (anyNA(zeros$missed)) {
    shown$`probability of a record` <- two(zeros$probability)
  } else {
    shown$`missed (90 % interval)` <- sprintf(
      "%s (%s to %s)", two(zeros$missed), two(zeros$missed_low), two(zeros$missed_high)
    )
  }
  cat("\n")
  print_aligned(shown, left = 1:2)
  if (all > nrow(zeros)) {
    has <- if (kept < all) paste("the first", format_big(kept)) else "all"
    cat(sprintf("... (n = %s of %s zeros; as.data.frame() has %s)\n", format_big(nrow(zeros)), format_big(all), has))
  }
}

# Prints the AUCs of held-out presences beside those of the best simple rule.
print_quality <- function(w) {
  q <- w$quality["stack", ]
  if (!is.na(q$auc)) {
    rule <- w$gain$rule
    three <- function(x) ifelse(is.na(x), "-", sprintf("%.3f", x))
    rows <- rbind(
      unlist(q[c("auc", "auc_se", "auc_within", "auc_within_se")]),
      c(unlist(w$quality[rule[1L], c("auc", "auc_se")]), unlist(w$quality[rule[2L], c("auc_within", "auc_within_se")]))
    )
    if (all(is.na(rule))) rows <- rows[1L, , drop = FALSE]
    of <- c("  this result", "  best simple rule")[seq_len(nrow(rows))]
    shown <- c(list(of), apply(rows, 2L, three, simplify = FALSE))
    names(shown) <- c(
      sprintf(
        "Held-out presences (%s in %s%s)", format_big(w$curve$summary$changed),
        count_words(w$copies, "copy"), if (w$quick) ", quick" else ""
      ), "AUC", "SE",
      paste("within", axis_words(w)[1L]), "SE"
    )
    cat("\n")
    print_aligned(shown)
  }
  writeLines(wrap_text(few_quality_sentences(w), exdent = 2))
}

# Replaces the summary() of lists: the result, and the sites and taxa with most undetected presences.
#' @export
summary.which_zeros <- function(object, ...) {
  check_dots(...)
  structure(list(answer = object), class = "summary.which_zeros")
}

#' @export
print.summary.which_zeros <- function(x, n = 5L, ...) {
  n <- check_shown(n)
  w <- x$answer
  print(w, n = n)
  line <- w$curve$summary
  words <- axis_words(w)
  writeLines(wrap_text(c(
    "", rule_sentence(w$gain, w$quality, line$changed, words),
    unlike_auc_sentence(w$quality["stack", ]), slope_sentence(line$slope, line$slope_se, line$changed),
    run_sentences(w)
  ), exdent = 2))
  if (is.null(w$reason)) {
    for (side in 1:2) {
      cat("\n")
      print(utils::head(most_first(list(by_site, by_taxon)[[side]](w)), n))
    }
  }
  invisible(x)
}

few_hidden <- 200L # fewer held-out presences do not distinguish the answer from a rule
few_for_slope <- 100L # of fewer, neither the slope nor its standard error is known well

slope_sentence <- function(...) sprintf("Calibration slope (1: calibrated): %s.", slope_words(...))

# Interprets the slope of calibration: probabilities are miscalibrated if it deviates by more than its standard error,
# and calibrated if its error excludes a relevant deviation.
slope_words <- function(slope, se, hidden) {
  if (is.na(slope) || isTRUE(se > 1)) { # held-out presences that all rank above the others tell no slope
    return("it could not be measured")
  }
  surely <- function(holds) hidden >= few_for_slope && isTRUE(holds)
  said <- if (surely(slope < 0.8 && slope + 2 * se < 1)) {
    "so the probabilities are too extreme"
  } else if (surely(slope > 1.25 && slope - 2 * se > 1)) {
    "so the probabilities are too cautious"
  } else if (surely(slope >= 0.8 && slope <= 1.25 && se <= 0.1)) {
    sure <- if (slope + 2 * se < 1) "slightly too extreme" else if (slope - 2 * se > 1) "slightly too cautious"
    paste("so the probabilities are", if (is.null(sure)) "calibrated" else sure)
  } else {
    "from too few held-out presences for a verdict"
  }
  sprintf("%.2f%s, %s", slope, error_words(se, "%.2f"), said)
}

# Returns " (SE 0.004)", or nothing if unknown.
error_words <- function(se, digits = "%.3f") if (is.na(se)) "" else sprintf(paste0(" (SE ", digits, ")"), se)

# Describes the quality of the result on this table.
quality_sentences <- function(w) {
  q <- w$quality["stack", ]
  line <- w$curve$summary
  words <- axis_words(w)
  c(
    hidden_sentence(q, line$changed, words), rule_sentence(w$gain, w$quality, line$changed, words),
    weak_sentence(q, line$changed, words, w$source), within_sentence(w), unlike_auc_sentence(q),
    slope_sentence(line$slope, line$slope_se, line$changed), run_sentences(w)
  )
}

# What print() adds to its table of AUCs: a verdict without numbers, and what to expect of later surveys.
# Says that the AUC is of the whole table where only some zeros can be false; NULL otherwise.
within_sentence <- function(w) {
  if (w$restricted) {
    sprintf("AUCs are over all zeros of the table, not only the %s that can be false.", format_big(sum(w$candidate)))
  }
}

# With visits the list is ordered by what they say, which copies of the table have no part in.
visits_sentence <- function(w) {
  if (w$source == "visits") {
    "AUCs are of the ranking by `probability`, without visits; the list is ordered by `missed`."
  }
}

few_quality_sentences <- function(w) {
  q <- w$quality["stack", ]
  line <- w$curve$summary
  words <- axis_words(w)
  known <- !is.na(w$gain$difference)
  ahead <- mapply(surely_ahead, w$gain$difference, w$gain$se, w$gain$copies)[known]
  verdict <- if (!any(known)) {
    NULL
  } else if (line$changed < few_hidden || all(ahead == 0)) {
    few <- isTRUE(any((w$gain$copies == 2L & abs(w$gain$difference) > 2 * w$gain$se)[known]))
    if (few) "Two copies are too few to compare with the rule" else "Not distinguishable from the rule"
  } else if (any(ahead < 0)) {
    "Worse than the rule by at least one measure"
  }
  c(
    if (is.na(q$auc)) hidden_sentence(q, line$changed, words),
    if (is.null(w$reason)) {
      c(
        weak_sentence(q, line$changed, words, w$source), later_sentence(q, verdict), visits_sentence(w),
        within_sentence(w)
      )
    } else if (!is.null(verdict)) {
      paste0(verdict, ".")
    },
    if (is.na(q$auc) || w$copies < w$wanted) run_sentences(w)
  )
}

run_sentences <- function(w) {
  c(
    if (w$quick) {
      sprintf("A first look with few fits and %s; `quick = FALSE` gives the result.", count_words(w$wanted, "copy"))
    },
    if (w$copies < w$wanted) sprintf("It was stopped early: %d of %d copies are done.", w$copies, w$wanted)
  )
}

# Later detections were ranked less well than held-out presences (bench/how_many.md).
auc_lower <- c(alike = 0.05, unlike = 0.1)
later_sentence <- function(q, verdict = NULL) {
  if (is.na(q$auc)) {
    return(if (!is.null(verdict)) paste0(verdict, "."))
  }
  if (is.null(verdict)) {
    sprintf("AUCs in later surveys are usually about %.2f lower (?how_many).", auc_lower[["alike"]])
  } else {
    sprintf("%s; AUCs in later surveys: about %.2f lower.", verdict, auc_lower[["alike"]])
  }
}

# The same with surveys in other years or by other methods.
unlike_auc_sentence <- function(q) {
  if (!is.na(q$auc)) {
    sprintf(
      "Later surveys usually have AUCs about %.2f lower, in other years or by other methods %.1f lower.",
      auc_lower[["alike"]], auc_lower[["unlike"]]
    )
  }
}

# Reports the AUC of held-out presences; q: the result's row of `quality`.
hidden_sentence <- function(q, hidden, words) {
  if (is.na(q$auc)) {
    few <- paste(count_words(hidden, "presence"), if (hidden == 1) "was" else "were")
    return(sprintf("The quality of the ranking is unknown: %s held out, too few to measure it.", few))
  }
  within <- if (is.na(q$auc_within)) {
    sprintf("within %s not measured", words[1L])
  } else {
    sprintf("within %s %.3f%s", words[1L], q$auc_within, error_words(q$auc_within_se))
  }
  sprintf(
    "Held-out presences (%s) are ranked with AUC %.3f%s, %s.", format_big(hidden), q$auc, error_words(q$auc_se), within
  )
}

# Compares the result with the best simple rule, over the table and within sites, which may be different rules with
# opposite outcomes. NULL if neither could be measured.
rule_sentence <- function(gain, quality, hidden, words) {
  known <- !is.na(gain$difference)
  if (!any(known)) {
    return(NULL)
  }
  measure <- c("over the table", paste("within", words[1L]))
  auc <- sprintf("%.3f", c(quality[gain$rule[1L], "auc"], quality[gain$rule[2L], "auc_within"]))
  rule <- quality[gain$rule, "learner"]
  best <- if (all(known) && gain$rule[1L] == gain$rule[2L]) {
    sprintf("The best simple rule (%s) has %s and %s.", rule[1L], auc[1L], auc[2L])
  } else {
    sprintf("The best simple rule has %s.", paste(sprintf("%s %s (%s)", auc, measure, rule)[known], collapse = " and "))
  }
  verdict <- if (hidden < few_hidden) {
    "Too few presences were held out to distinguish the result from it."
  } else {
    rule_verdict(gain, measure, known)
  }
  paste(best, verdict)
}

# States which is better by which measure, beyond the standard error.
rule_verdict <- function(gain, measure, known) {
  ahead <- mapply(surely_ahead, gain$difference, gain$se, gain$copies)[known]
  by <- sprintf("%.3f%s", abs(round(gain$difference, 3)) + 0, vapply(gain$se, error_words, ""))[known] # no -0.000
  words <- c("worse than the best simple rule by", "not distinguishable from the best simple rule, difference",
    "better than the best simple rule by")[2L + ahead]
  each <- if (length(unique(ahead)) == 1L) {
    paste(words[1L], paste(by, measure[known], collapse = " and "))
  } else {
    paste(words, by, measure[known], collapse = "; ")
  }
  copies <- max(gain$copies, na.rm = TRUE)
  if (all(ahead == 0) && copies == 2L) {
    return(sprintf("Two copies are too few to compare with it (difference %s).",
      paste(sprintf("%.3f", gain$difference[known]), measure[known], collapse = " and ")))
  }
  why <- if (copies == 2L) "two copies are too few" else sprintf("t test over %s", count_words(copies, "copy"))
  sprintf("%s%s.", capital(each), if (any(ahead == 0) && copies > 1L) sprintf(" (%s)", why) else "")
}

# Returns 1, -1, or 0 if a difference is within its error, by Student's t because copies are few.
surely_ahead <- function(difference, se, copies) {
  if (is.na(difference) || is.na(se) || copies < 2L) {
    return(0)
  }
  sign(difference) * (abs(difference) > stats::qt(0.975, copies - 1) * se)
}

# Warns if an AUC is not certainly above .6: such ranks should not be acted on. With h held-out presences its standard
# error is at most the root of auc (1 - auc) / h, and few copies may agree by chance.
weak_sentence <- function(q, hidden, words, source = "") {
  weak <- function(auc, se) {
    is.na(auc) || auc - 2 * max(se, sqrt(auc * (1 - auc) / hidden), na.rm = TRUE) < 0.6
  }
  table <- weak(q$auc, q$auc_se)
  within <- weak(q$auc_within, q$auc_within_se)
  if (!table && !within) {
    return(NULL)
  }
  sprintf(
    "AUCs are not clearly above 0.6 (random ranks: 0.5), so this table hardly distinguishes false from true zeros%s%s.",
    if (table) "" else paste(" within", words[1L]),
    if (source == "visits") ". The number rests on the visits, not on this ranking" else ""
  )
}

#' The zeros of a result, as a data frame or printed
#'
#' @param x a result of [which_zeros()].
#' @param row.names,optional as in [as.data.frame()], not used.
#' @param n how many zeros, from the top of the list: a whole number, or `Inf` for all.
#' @param by sorts by `"missed"` or by `"probability"`, the probability of a record. The orders differ if the number
#'   missed is known by site or by taxon, and in a series; if no number is estimated, both are that of `"probability"`.
#' @param site,taxon names or numbers of those to look at; `NULL` is all. Ranks stay those over the whole table.
#' @param what `"answer"`, the number of undetected presences, or `"quality"`, how good the ranking is.
#' @param ... must be empty.
#' @return `format()`: sentences. Else a data frame in that order: `rank`, `site`, `taxon` (names, or numbers where the
#'   table has none), and the numbers that [which_zeros()] explains, all within \[0, 1\]: `probability`, `missed`,
#'   `missed_low`, `missed_high`, the last three `NA` where no number is estimated. Zeros of equal probability come in
#'   the order of rows, then columns. Cost: one sort of the zeros. `subset(w, missed > 0.9)`, `w[1:3, ]` and dplyr's
#'   `filter()`, `select()`, `arrange()` and `mutate()` take a result as this data frame.
#' @inherit which_zeros references
#' @seealso [which_zeros()], [by_site()], [by_taxon()], [multicause-glossary] for the words
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' as.data.frame(w, n = 3)
#' @export
as.data.frame.which_zeros <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name_linter.
                                      n = Inf, site = NULL, taxon = NULL,
                                      by = c("missed", "probability"), ...) {
  check_frame_dots(...)
  by <- check_choice(by, "by", c("missed", "probability"))
  same <- !is.null(x$reason) || (x$ratios$side == 0L && !length(x$gaps)) # both orders are that of the probability
  n <- check_shown(n)
  rows <- pick(site, x$dims[["n"]], x$names[[1L]], "site")
  columns <- pick(taxon, x$dims[["m"]], x$names[[2L]], "taxon")
  at <- which(x$candidate)
  main <- if (by == "missed" && !same) unlist(missed_by_column(x)) else x$probability[at]
  if (is.null(site) && is.null(taxon) && n > 0 && n < length(at)) { # of many, the others need no order
    first <- main >= sort(main, partial = length(at) - n + 1)[length(at) - n + 1]
    at <- at[first]
    main <- main[first]
  }
  row <- (at - 1L) %% x$dims[["n"]] + 1L
  at <- at[order(-main, -x$probability[at], row, at)]
  wanted <- ((at - 1L) %% x$dims[["n"]] + 1L) %in% rows & ((at - 1L) %/% x$dims[["n"]] + 1L) %in% columns
  rank <- utils::head(which(wanted), n)
  cells <- wz_missed(x, at[rank])
  data.frame(
    rank = rank, site = label_of(cells$row, x$names[[1L]]), taxon = label_of(cells$column, x$names[[2L]]),
    cells[c("probability", "missed", "missed_low", "missed_high")]
  )
}

missed_by_column <- function(w) {
  out <- list()
  scan_zeros(w, function(cells) out[[length(out) + 1L]] <<- cells$missed)
  out
}

most_first <- function(sums) {
  sums[order(-sums$missed), ]
}

# Groups stay in the order of their levels.
in_shown_order <- function(sums) if ("group" %in% names(sums)) sums else most_first(sums)

check_answer <- function(fit) {
  if (missing(fit)) stop_missing("fit")
  if (inherits(fit, "which_zeros_shards")) {
    stop_input("`fit` must not be a result of shards: %s", answer_of_rows)
  }
  if (!inherits(fit, "which_zeros")) stop_input("`fit` must come from which_zeros(), not be %s.", show_value(fit))
}

# Returns the group of each site or taxon, a factor; by default each is its own. Reference sites are in none.
wz_group <- function(w, side, groups) {
  size <- w$dims[[side]]
  group_factor(groups, size, side, if (side == 1L) wz_scored(w) else rep(TRUE, size), w$names[[side]])
}

# Sums draws of the numbers missed by group, groups x draws.
group_draws <- function(w, side, group) {
  known <- !is.na(group)
  rowsum(w$draws[[c("sites", "taxa")[side]]][known, , drop = FALSE], group[known])
}

wz_sums <- function(w, side, groups) {
  check_answer(w)
  group <- wz_group(w, side, groups)
  label <- if (is.null(groups)) label_of(as.integer(levels(group)), w$names[[side]]) else levels(group)
  missed <- zeros <- numeric(w$dims[[side]])
  scan_zeros(w, function(cells) {
    index <- if (side == 1L) cells$row else cells$column
    missed <<- missed + tabulate_sums(cells$missed, index, length(missed))
    zeros <<- zeros + tabulate(index, length(zeros))
  })
  found <- found_table(w$x)
  presences <- if (side == 1L) row_sums(found) else column_sums(if (all(wz_scored(w))) found else
    found[wz_scored(w), , drop = FALSE])
  sum_group <- function(value) as.vector(tapply(value, group, sum, default = 0))
  zeros <- sum_group(zeros)
  drawn <- pmin(group_draws(w, side, group), zeros)
  table <- sums_table(label, sum_group(presences), zeros, sum_group(missed), outward_ends(ends_of_draws(drawn)), NULL)
  list(
    table = table, drawn = drawn, group = group,
    assumption = if (is.null(w$reason)) wz_words[[w$source]] else paste("not estimated, because", w$reason)
  )
}

# Computes central ranges of draws, one per row, as central_range() does for one: blocks of rows are sorted together,
# since quantile() of each takes as long as everything else for sums of sites.
ends_of_draws <- function(drawn, level = 0.9) {
  if (anyNA(drawn)) {
    return(matrix(NA_real_, nrow(drawn), 2L))
  }
  at <- 1 + (ncol(drawn) - 1) * round(c(1 - level, 1 + level) / 2, 12L)
  ends <- lapply(row_blocks(seq_len(nrow(drawn)), ncol(drawn), cells_at_a_time), function(rows) {
    some <- drawn[rows, , drop = FALSE]
    sorted <- matrix(some[order(row(some), some, method = "radix")], ncol(some))
    vapply(at, function(at) {
      below <- sorted[floor(at), ]
      above <- sorted[ceiling(at), ]
      weight <- at - floor(at)
      ifelse(above == below, below, (1 - weight) * below + weight * above)
    }, numeric(length(rows))) |> matrix(ncol = 2L)
  })
  do.call(rbind, c(list(matrix(0, 0L, 2L)), ends))
}

# Rounds outwards.
outward_ends <- function(ends) cbind(low = floor(ends[, 1L]), high = ceiling(ends[, 2L]))

# Tabulates numbers missed with their ranges, at most `cap`, and shares; `ends` and `most` may be NULL. Without
# presences everything present was missed, however little that is.
sums_table <- function(label, presences, zeros, missed, ends, most, cap = most %||% zeros) {
  share <- function(value) {
    ifelse(missed + presences > 0, ifelse(value + presences > 0, value / (value + presences), 1), NA_real_)
  }
  out <- data.frame(label, presences = presences, zeros = zeros, missed = missed)
  if (!is.null(ends)) {
    out[c("low", "high")] <- as.data.frame(coherent_ends(as.matrix(ends), missed, cap))
  }
  out$most <- most
  out$share <- share(missed)
  if (!is.null(ends)) out[c("share_low", "share_high")] <- list(share(out$low), share(out$high))
  out
}

#' Why is this zero thought false, or true?
#'
#' Explains one zero of a result of [which_zeros()]: what each learner (model or rule) adds to its log-odds, which
#' neighbouring sites have the taxon, and how often the taxon is found together with the presences of this site.
#'
#' @param x a result of [which_zeros()].
#' @param site,taxon a name or a number, one each.
#' @param ... must be empty.
#' @param n how many neighbours and companions of each kind to print, and parts of each kind to draw.
#' @return A list of class `zero_explained`: `cell`, a data frame with a row as [as.data.frame.which_zeros()] has it;
#'   `event`, what its `missed` is the probability of;
#'   `score`, a data frame of `part` and `log_odds`; `neighbours`, a data frame of `site`, `weight` (they sum to 1) and
#'   `found`; `companions`, a data frame of `taxon` (the presences of the site), `share`, the share of the other sites
#'   with that presence that have the taxon, and `rate`, the share of all sites; `visits`, `NULL` without them, else a
#'   list of `each`, a data frame of `visit` (those made to the site) and `found`, the probability that it finds the
#'   taxon where the taxon is, and `silent`, the probability that all of them miss it. They are means over draws and
#'   over values of `uneven` in [visits_occupancy()], so that `silent` is above the product of `1 - found`.
#'
#'   The parts of `score` sum to the log-odds of the probability of a record. They are the mean over all zeros, what
#'   each learner adds to it, and how often the taxon was found. `score` is `NULL` in tables of more than 5 million
#'   cells. The weights of neighbours with the taxon sum to the neighbours' mean, before it is shrunk towards the mean
#'   of the table. The mean of `share` is the score of the learner companions. Cost: O(f), f the presences of the table.
#' @inherit which_zeros references
#' @seealso [which_zeros()], [multicause-glossary] for the words of the print
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' first <- as.data.frame(w, n = 1)
#' explain(w, first$site, first$taxon)
#' @aliases explain
#' @export
#' @rawNamespace S3method(dplyr::explain, which_zeros)
#' @rawNamespace S3method(DALEX::explain, which_zeros)
#' @rawNamespace S3method(lime::explain, which_zeros)
explain.which_zeros <- function(x, site, taxon, ..., n = 5) {
  check_dots(...)
  w <- x
  check_given(site, taxon)
  n <- check_count(n, "n", 1L)
  i <- unique(pick(site, w$dims[["n"]], w$names[[1L]], "site"))
  j <- unique(pick(taxon, w$dims[["m"]], w$names[[2L]], "taxon"))
  tell_position(site, w$names[[1L]], "site")
  tell_position(taxon, w$names[[2L]], "taxon")
  if (length(i) != 1L || length(j) != 1L) stop_input("`site` and `taxon` must be one each.")
  if (!w$candidate[i, j]) {
    value <- dense_rows(w$x, i)[1L, j]
    why <- if (wz_scored(w)[i]) "`within` excludes this zero" else "this site is for reference"
    if (is.na(value)) why <- "this cell is unknown, or its taxon was found at no site"
    if (value %in% 1) why <- "this is a presence"
    stop_input("`site` and `taxon` must be of a zero: %s.", why)
  }
  structure(
    list(
      cell = as.data.frame(w, site = i, taxon = j), ages = cell_ages(w, i, j), score = score_parts(w, i, j),
      neighbours = near_parts(w, i, j), companions = companion_parts(w, i, j), visits = visit_parts(w, i, j), n = n,
      all = sum(w$candidate), words = axis_words(w),
      event = if (w$source == "curve") "at least one of two more surveys finds it" else missed_event(w)
    ),
    class = "zero_explained"
  )
}

# Reports that a zero lies outside the ages of all presences of its taxon; NULL if it does not, or if ages are unknown.
cell_ages <- function(w, i, j) {
  ages <- answer_ages(w)
  if (is.null(ages) || is.na(ages[i])) {
    return(NULL)
  }
  found <- range(ages[which(as.matrix(w$x)[, j] == 1)], na.rm = TRUE, finite = TRUE)
  if (!all(is.finite(found)) || (ages[i] >= found[1L] && ages[i] <= found[2L])) {
    return(NULL)
  }
  given <- w$inputs$near$given$age
  sprintf(
    "Outside the known ages of the %s%s: this %s is of %s, all presences are of %s%s.",
    singular_word(axis_words(w)[2L]),
    if (any(given[, 1L] < given[, 2L], na.rm = TRUE)) " by the middles of age bounds" else "",
    singular_word(axis_words(w)[1L]), format(ages[i], digits = 4L),
    paste(unique(vapply(found, format, "", digits = 4L)), collapse = " to "),
    if (is.null(w$inputs$near$age_unit)) "" else paste0(" ", w$inputs$near$age_unit)
  )
}

# Returns the detection probability of each visit to a present taxon, and that of none; NULL without visits.
visit_parts <- function(w, i, j) {
  if (is.null(w$visits)) {
    return(NULL)
  }
  made <- !is.na(w$inputs$given$cell[i, j, ])
  found <- visits_with_presence(w$visits, i, j, made)
  list(
    each = data.frame(visit = w$visits$labels[made], found = found$each), silent = found$silent,
    words = singular_word(axis_words(w))
  )
}

score_parts <- function(w, i, j) {
  if (is.null(w$odds)) {
    return(NULL)
  }
  weights <- w$stack$weights
  n <- w$dims[["n"]]
  centre <- vapply(cell_columns(w$odds, which(w$candidate), n), mean, 0)
  part <- weights * (unlist(cell_columns(w$odds, i + (j - 1L) * n, n)) - centre)
  used <- rownames(w$weights)[w$weights$weight > 0]
  data.frame(
    part = c("the mean zero of the table", unname(learner_names[used]), "how often the taxon was found"),
    log_odds = c(
      w$stack$intercept + sum(weights * centre), unname(part[used]), sum(part[!names(part) %in% rownames(w$weights)])
    )
  )
}

near_parts <- function(w, i, j) {
  table <- nbm_table(w$x)
  near <- chosen_neighbours(w, "near_alike")
  lists <- near_lists(near, i)
  base <- replace(rep(1, w$dims[["n"]]), i, 0)
  if (length(lists$weight)) base <- replace(0 * base, lists$neighbour + 1L, lists$weight)
  overlap <- as.vector(table$found %*% as.vector(table$found[i, ]))
  length <- sqrt(table$size[i] * table$size)
  length[length == 0] <- 1
  weight <- base * (overlap / length + likeness_floor)^(if (is.null(near)) 2 else w$near$similarity)
  weight <- weight * !is.na(w$x[, j])
  out <- data.frame(
    site = label_of(seq_along(weight), w$names[[1L]]), weight = weight / sum(weight), found = table$found[, j] == 1,
    row.names = NULL
  )
  out <- out[out$weight > 0, ]
  out <- out[order(-out$weight), ]
  rownames(out) <- NULL
  out
}

companion_parts <- function(w, i, j) {
  table <- nbm_table(w$x)
  presences <- which(table$found[i, ] == 1)
  out <- data.frame(
    taxon = label_of(presences, w$names[[2L]]), share = unname(companion_table(table, j)[presences, ]),
    rate = rep(unname(table$sums[j] / table$n_known[j]), length(presences)), row.names = NULL
  )
  out <- out[order(-out$share), ]
  rownames(out) <- NULL
  out
}

#' @export
print.zero_explained <- function(x, ...) {
  check_dots(...)
  cell <- x$cell
  verdict <- if (is.na(cell$missed)) {
    sprintf("probability of a record %.2f", cell$probability)
  } else {
    sprintf(
      "%s, %s with probability %.2f (90 %% interval %.2f to %.2f)",
      cell_states[states_of(cell$missed_low, cell$missed_high, 0.5)], x$event, cell$missed, cell$missed_low,
      cell$missed_high
    )
  }
  writeLines(wrap_text(c(
    sprintf(
      "%s at %s: %s; rank %s of %s", clip(cell$taxon), clip(cell$site), verdict, format_big(cell$rank),
      format_big(x$all)
    ),
    x$ages, if (!is.null(x$visits)) silent_sentence(x$visits)
  ), exdent = 2))
  near <- x$neighbours
  with <- x$companions
  usual <- with$share > rep(with$rate[1L], nrow(with))
  say_wrapped("for", c(similar_words(near[near$found, ], "have it", x), companion_words(with[usual, ], x)))
  say_wrapped(
    "against", c(similar_words(near[!near$found, ], "lack it", x), companion_words(with[rev(which(!usual)), ], x))
  )
  if (nrow(with)) {
    writeLines(wrap_text(sprintf(
      "companions: found here; in brackets the share of their %s with this %s (of all %1$s %.0f %%)", x$words[1L],
      singular_word(x$words[2L]), 100 * with$rate[1L]
    ), exdent = 2))
  }
  if (!is.null(x$score)) {
    cat("What each learner adds to the log-odds of a record: `$score`\n")
  }
  invisible(x)
}

# Reports the visits without a detection and their probability if the taxon is present; of many visits, the range.
silent_sentence <- function(visits) {
  number <- nrow(visits$each)
  two <- sprintf("%.2f", visits$each$found)
  each <- if (length(unique(two)) == 1L) {
    two[1L]
  } else if (number > 6L) {
    paste(sprintf("%.2f", range(visits$each$found)), collapse = " to ")
  } else {
    paste(sprintf("%s (%s)", two, clip(visits$each$visit)), collapse = ", ")
  }
  sprintf(
    "Visits: %s to this %s. Where the %s is, %s finds it with probability %s, and %s with probability %.2f.",
    format_big(number), visits$words[1L], visits$words[2L], if (number == 1L) "that visit" else "a visit", each,
    if (number == 1L) "misses it" else "all miss it", visits$silent
  )
}

# "17 similar sites have it: Arroyo (12 % of the weight), ..."; NULL without any.
similar_words <- function(sites, what, x) {
  if (nrow(sites)) {
    shown <- utils::head(sites, x$n)
    items <- sprintf("%s (%s\001%%)", clip(shown$site), whole_percent(shown$weight))
    sprintf(
      "%s similar %s %s, %s\001%% of the weight: %s", format_big(nrow(sites)),
      if (nrow(sites) == 1L) singular_word(x$words[1L]) else x$words[1L],
      if (nrow(sites) == 1L) sub("have", "has", sub("lack", "lacks", what)) else what,
      whole_percent(sum(sites$weight)),
      listed_words(items, nrow(sites) - nrow(shown))
    )
  }
}

companion_words <- function(taxa, x) {
  if (nrow(taxa)) {
    shown <- utils::head(taxa, x$n)
    items <- sprintf("%s (%s\001%%)", clip(shown$taxon), whole_percent(shown$share))
    paste("companions", listed_words(items, nrow(taxa) - nrow(shown)))
  }
}

listed_words <- function(items, more) {
  paste0(paste(items, collapse = ", "), if (more > 0L) sprintf(" and %s more", format_big(more)))
}

say_wrapped <- function(side, texts) {
  if (length(texts)) {
    lines <- wrap_text(texts, getOption("width") - 11L, exdent = 2)
    cat(sprintf("  %-8s %s\n", c(side, rep("", length(lines) - 1L)), lines), sep = "")
  }
}

# ---- Generics of data frames and of models ----

# Evaluates a user's call with the zeros as a data frame in place of the result, so that column names refer to it.
on_frame <- function(call, verb, x, frame) {
  call[[1L]] <- verb
  call[[match("x", names(call), nomatch = 2L)]] <- as.data.frame(x)
  eval(call, frame)
}

#' @export
subset.which_zeros <- function(x, ...) on_frame(sys.call(), base::subset, x, parent.frame())

#' @export
subset.which_zeros_shards <- subset.which_zeros

#' @export
subset.which_zeros_sensitivity <- subset.which_zeros

#' @export
subset.multicause_result <- subset.which_zeros

# Rows and columns of the data frame; by one index, parts of the result.
#' @export
`[.which_zeros` <- function(x, i, j, ...) {
  call <- sys.call()
  of_result <- nargs() < 3L
  from <- parent.frame()
  catch_error(if (of_result) unclass(x)[i] else suppressWarnings(on_frame(call, `[`, x, from)), function(e) {
    if (inherits(e, "multicause_input_error")) stop(e)
    stop_input("`[` takes parts of the result, `w[i]`, or rows and columns, `w[i, j]`: %s.", conditionMessage(e))
  })
}

#' @export
`[.which_zeros_shards` <- `[.which_zeros`

#' @export
`[.which_zeros_sensitivity` <- `[.which_zeros`

#' @export
`[.multicause_result` <- `[.which_zeros`

# Columns of the data frame are no parts of the result: NULL would be mistaken for "none".
#' @export
`$.which_zeros` <- function(x, name) part_of_answer(x, name, exact = FALSE)

#' @export
`[[.which_zeros` <- function(x, i, ...) part_of_answer(x, i, ...)

#' @export
`$.which_zeros_shards` <- `$.which_zeros`

#' @export
`[[.which_zeros_shards` <- `[[.which_zeros`

part_of_answer <- function(x, name, ...) {
  value <- catch_error(.subset2(x, name, ...), function(e) {
    stop_input("`[[` takes one part of the result, by its name or number: there is none %s.", show_value(name))
  })
  if (is.null(value) && is.character(name) && length(name) == 1L && name %in% zero_columns) {
    stop_input(
      "`%s` is a column of the zeros, not a part of the result: as.data.frame(w)$%s has it, of a result `w`.",
      name, name
    )
  }
  value
}

zero_columns <- c("rank", "site", "taxon", "missed", "missed_low", "missed_high")

#' @exportS3Method dplyr::filter
filter.which_zeros <- function(.data, ...) { # nolint: object_name_linter.
  getExportedValue("dplyr", "filter")(as.data.frame(.data), ...)
}

#' @exportS3Method dplyr::select
select.which_zeros <- function(.data, ...) { # nolint: object_name_linter.
  getExportedValue("dplyr", "select")(as.data.frame(.data), ...)
}

#' @exportS3Method dplyr::arrange
arrange.which_zeros <- function(.data, ...) { # nolint: object_name_linter.
  getExportedValue("dplyr", "arrange")(as.data.frame(.data), ...)
}

#' @exportS3Method dplyr::mutate
mutate.which_zeros <- function(.data, ...) { # nolint: object_name_linter.
  getExportedValue("dplyr", "mutate")(as.data.frame(.data), ...)
}

#' Further sites by a result of which_zeros()
#'
#' Gives the probability of a record at the zeros of sites that were not in the table.
#'
#' The learners of [which_zeros()] run once on the table with the new sites below it, and the weights and the
#' calibration of the result turn their scores into probabilities. No presence is held out again, so it takes about a
#' third of the time of the result. A result with neighbours (`age`, `place`, `near`) or from visits is refused, because
#' `newdata` has no such data: append the sites to the table, and call [which_zeros()] again.
#'
#' @param object a result of [which_zeros()].
#' @param newdata a table of further sites, 0 and 1, `NA` unknown, with the taxa of the result: by name, or in its order
#'   if they have no names. `NULL`: the sites of the table.
#' @param ... must be empty.
#' @return A matrix, sites x taxa, of probabilities of a record given the rest of the table; `NA` at presences, and for
#'   taxa found at no site. Wrong input is an error of class `multicause_input_error`.
#' @seealso [which_zeros()] with `reference`, where further sites are to be judged with intervals.
#' @examples
#' x <- simulated_surveys$x
#' w <- which_zeros(x[1:100, ], quick = TRUE, seed = 1)
#' further <- predict(w, x[101:120, ])
#' further[1:3, 1:5]
#' @export
predict.which_zeros <- function(object, newdata = NULL, ...) {
  check_dots(...)
  if (is.null(newdata)) {
    return(fitted(object))
  }
  lacks <- c(if (!is.null(object$inputs$near)) "neighbours", if (!is.null(object$inputs$given$cell)) "visits")
  if (length(lacks)) {
    stop_input(paste(
      "`newdata` cannot be predicted from a result with %s, of which it has no data: append its sites to the table,",
      "and call which_zeros() again."
    ), and_words(lacks))
  }
  new <- check_data(new_rows(object, newdata), "binary", "newdata")$x
  all <- rbind(object$x, new)
  dimnames(all) <- list(NULL, NULL) # sites may have names in common
  effort <- if (object$quick) quick_effort else table_effort
  how <- c(as_usual(object$quick), n_threads = 1)
  learnt <- with_seed(object$seed, learn_table(all, NULL, effort, how))
  eta <- stack_cells(learnt$odds, object$stack, how$n_threads)
  p <- matrix(stats::plogis(eta), nrow(all))[-seq_len(object$dims[["n"]]), , drop = FALSE]
  p[cells_that_hold(new, 1)] <- NA
  p[, presence_sums(all) == 0] <- NA # no probability, as in the result
  dimnames(p) <- name_sides(list(rownames(new), object$names[[2L]]))
  p
}

# Refuses generics of a model with a likelihood.

stop_answer_lacks <- function(generic, instead) {
  stop_input("%s() is not there for a result of which_zeros(): %s", generic, instead)
}

answer_ranges <- "as.data.frame() has a 90 % interval for each zero, by_site() and by_taxon() for sites and taxa."
answer_quality <- "it has no likelihood; `quality` in it has the AUC of held-out presences."

#' @export
confint.which_zeros <- function(object, parm, level, ...) stop_answer_lacks("confint", answer_ranges)

#' @export
vcov.which_zeros <- function(object, ...) stop_answer_lacks("vcov", answer_ranges)

#' @export
logLik.which_zeros <- function(object, ...) stop_answer_lacks("logLik", answer_quality)

#' @export
deviance.which_zeros <- function(object, ...) stop_answer_lacks("deviance", answer_quality)

#' @export
df.residual.which_zeros <- function(object, ...) { # nolint: object_name_linter.
  stop_answer_lacks("df.residual", answer_quality)
}

#' @export
sigma.which_zeros <- function(object, ...) stop_answer_lacks("sigma", answer_quality)

#' @export
anova.which_zeros <- function(object, ...) stop_answer_lacks("anova", answer_quality)

#' @export
extractAIC.which_zeros <- function(fit, scale, k, ...) { # nolint: object_name_linter.
  stop_answer_lacks("extractAIC", answer_quality)
}

#' @export
simulate.which_zeros <- function(object, nsim = 1, seed = NULL, ...) {
  stop_answer_lacks("simulate", "tables are drawn from fits of a model, such as aspect_bernoulli().")
}

# Shards: fitted probabilities are on disk.

answer_of_shards <- "of shards, `files` has the probabilities where `path` was supplied; as.data.frame() has the first."
answer_of_rows <- "some rows of the shards, `which_zeros(x[i, ])`, have one that it takes."

#' @export
predict.which_zeros_shards <- function(object, ...) stop_answer_lacks("predict", answer_of_shards)

#' @export
update.which_zeros_shards <- function(object, ..., evaluate = TRUE) {
  changes <- named_changes(match.call(expand.dots = FALSE)$...)
  updated_call(object, changes, list(x = object$shards), check_flag(evaluate, "evaluate"), parent.frame())
}

#' @export
plot.which_zeros_shards <- function(x, ...) stop_answer_lacks("plot", answer_of_shards)

#' @export
summary.which_zeros_shards <- function(object, ...) { # the print has all of it
  check_dots(...)
  object
}

#' @export
augment.which_zeros_shards <- function(x, ...) stop_answer_lacks("augment", answer_of_shards)

#' @export
explain.which_zeros_shards <- function(x, ...) stop_answer_lacks("explain", answer_of_rows)

#' @export
explore.which_zeros_shards <- function(x, ...) stop_answer_lacks("explore", answer_of_rows)

#' @export
glance.which_zeros_shards <- function(x, ...) {
  check_dots(...)
  answer <- x$quality["stack", ]
  as_tidy(data.frame(
    n = x$dims[["n"]], m = x$dims[["m"]], presences = x$presences, zeros = x$n_zeros, as.list(x$total),
    auc = answer$auc, auc_within = answer$auc_within, slope = x$slope
  ))
}

#' @export
fitted.which_zeros_shards <- function(object, ...) stop_answer_lacks("fitted", answer_of_shards)

#' @export
residuals.which_zeros_shards <- function(object, ...) stop_answer_lacks("residuals", answer_of_shards)

#' @export
coef.which_zeros_shards <- function(object, ...) stop_answer_lacks("coef", answer_of_shards)

#' @export
confint.which_zeros_shards <- confint.which_zeros

#' @export
vcov.which_zeros_shards <- vcov.which_zeros

#' @export
logLik.which_zeros_shards <- logLik.which_zeros

#' @export
deviance.which_zeros_shards <- deviance.which_zeros

#' @export
df.residual.which_zeros_shards <- df.residual.which_zeros # nolint: object_name_linter.

#' @export
sigma.which_zeros_shards <- sigma.which_zeros

#' @export
anova.which_zeros_shards <- anova.which_zeros

#' @export
extractAIC.which_zeros_shards <- extractAIC.which_zeros # nolint: object_name_linter.

#' @export
simulate.which_zeros_shards <- simulate.which_zeros

# Returns the mean ages of the sites of a result; NULL without ages.
answer_ages <- function(w) {
  age <- w$inputs$near$given$age
  if (!is.null(age)) rowMeans(age)
}

need_ages <- function(w, what) {
  ages <- answer_ages(w)
  if (is.null(ages)) stop_input("`what = \"%s\"` needs the ages of the sites: which_zeros(age = ).", what)
  ages
}

# What is known of a cell.
cell_states <- c("found", "probably missed", "undecided", "probably not missed", "left out or unknown")

# Returns the numbers in cell_states of zeros whose probability of having been missed is between `low` and `high`:
# probably missed if both are above the threshold, undecided if the range includes it. The page of explore() uses the
# same rule.
states_of <- function(low, high, threshold) 4L - (low > threshold) - (high > threshold)

#' @export
augment.which_zeros <- function(x, ..., rows = NULL) {
  check_dots(...)
  rows <- pick(rows, x$dims[["n"]], x$names[[1L]], "rows")
  refuse_cells(5, rows, x)
  false <- matrix(NA_real_, x$dims[["n"]], x$dims[["m"]])
  false[x$candidate] <- wz_missed(x)$missed
  scores <- list(.fitted = unname(x$probability), .missed = false)
  observed <- list(observed = dense_rows(x$x, rows))
  augment_cells(x, rows, c(observed, lapply(scores, function(score) score[rows, , drop = FALSE])))
}

#' @export
glance.which_zeros <- function(x, ...) {
  check_dots(...)
  answer <- x$quality["stack", ]
  simple <- x$quality[x$gain$rule[1L], ]
  as_tidy(data.frame(
    n = x$dims[["n"]], m = x$dims[["m"]], presences = x$presences, zeros = sum(x$candidate), as.list(x$total),
    auc = answer$auc, auc_within = answer$auc_within, slope = x$curve$summary$slope, best_simple = simple$learner,
    best_simple_auc = simple$auc, copies = x$copies
  ))
}
