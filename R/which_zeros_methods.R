# What users do with the answer of which_zeros(): print it, take it apart by zeros, sites and taxa, ask why.

wz_words <- list(
  phantom = "if the part of a site that makes only zeros (its phantom) is what was missed",
  completeness = "if completeness is as you gave it", effort = "if what was missed follows effort",
  cell = "by the model of the repeated visits"
)

wz_range <- c(
  phantom = "90 % of draws of weights and fits, all under that assumption", completeness = "90 % range",
  effort = "90 % of draws of weights and fits, all under that assumption", cell = "90 % of draws of weights and fits"
)

# The table that the answer was made from, or repeated surveys, may be gone or changed where update() is called. Where
# sites were left out, the call holds the whole table.
#' @export
update.which_zeros <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  changes <- named_changes(match.call(expand.dots = FALSE)$...)
  whole <- is.null(object$call$leave_out) && is.null(object$call$visits) && !"visits" %in% names(changes)
  updated_call(object, changes, list(x = if (whole) object$x), evaluate, parent.frame())
}

#' @export
print.which_zeros <- function(x, n = 5L, ...) {
  check_dots(...)
  n <- check_shown(n)
  said <- answer_sentences(x)
  writeLines(wrap_text(c(
    paste("Which zeros are false?", said[["table"]]), sprintf("%s (%s).", said[["missed"]], said[["range"]]),
    said[["bound"]], wz_bound_sentences(x)
  ), exdent = 2))
  zeros <- utils::head(as.data.frame(x, n = max(n, 1)), n)
  print_zeros(zeros, axis_words(x))
  writeLines(wrap_text(c(complete_sentence(zeros, x), quality_sentences(x)), exdent = 2))
  invisible(x)
}

# The answer in words: the table, how many were missed, between which ends, and what the table allows.
answer_sentences <- function(w) {
  c(
    table = sprintf(
      "%s, %s, %s%s%s", table_words(c(sum(wz_scored(w)), w$dims[["m"]]), axis_words(w)),
      count_words(w$finds, "find"), count_words(sum(w$candidate), "zero"),
      if (w$restricted) " that can be false" else "",
      reference_words(w)
    ),
    total_sentences(w$total, w$source, axis_words(w))
  )
}

total_sentences <- function(total, source, words) {
  c(
    missed = sprintf(
      if (total[["missed"]] < 1) "Less than one (%s) of them was missed, %s" else "About %s of them were missed, %s",
      show_count(total[["missed"]]), wz_words[[source]]
    ),
    range = sprintf("%s to %s, %s", show_count(total[["low"]]), show_count(total[["high"]]), wz_range[[source]]),
    bound = bound_sentence(total, words, source == "completeness")
  )
}

# Given completeness, sites with fewer finds than expected have lower chances, which allow more.
bound_sentence <- function(total, words, given = FALSE) {
  says <- if (given) "and that completeness allow" else "alone allows"
  most <- show_count(total[["most"]])
  unlike <- show_count(total[["unlike"]])
  alike <- sprintf("all %s of a %s are recorded equally well", words[2L], singular_word(words[1L]))
  if (most == unlike) {
    sprintf("The table %s 0 to %s, whether or not %s.", says, most, alike)
  } else {
    sprintf("The table %s 0 to %s where %s, up to %s where not.", says, most, alike, unlike)
  }
}

# Which sites of an answer are scored.
wz_scored <- function(w) scored_sites(w$inputs$given$reference, w$dims[["n"]])

reference_words <- function(w) {
  others <- sum(!wz_scored(w))
  if (others > 0L) paste("; for reference:", count_side(others, axis_words(w)[1L])) else ""
}

print_zeros <- function(zeros, words) {
  if (!nrow(zeros)) {
    return(invisible())
  }
  two <- function(x) sprintf("%.2f", x)
  shown <- data.frame(
    rank = zeros$rank, site = zeros$site, taxon = zeros$taxon, chance = two(zeros$chance),
    missed = sprintf("%s (%s to %s)", two(zeros$missed), two(zeros$missed_low), two(zeros$missed_high)),
    most = two(zeros$missed_most)
  )
  names(shown)[2:3] <- singular_word(words)
  print.data.frame(shown, row.names = FALSE)
  writeLines(wrap_text(
    "chance: of a record; missed: it was there and was missed (range); most: what the table alone allows", exdent = 2
  ))
}

seems_complete <- 0.1 # missed at most with this part of the chance of a record, under the phantom's assumption

# A high chance and next to nothing missed look like a contradiction: why they are none. NULL where none is shown.
complete_sentence <- function(zeros, w) {
  if (w$source != "phantom" || !any(zeros$missed_high < seems_complete * zeros$chance)) {
    return(NULL)
  }
  site <- singular_word(axis_words(w)[1L])
  sprintf(
    paste(
      "Where `missed` is next to 0, the %s has next to no phantom: that assumption takes its list for complete. The",
      "rank goes by `chance`, which needs no assumption; `most` is what the table allows."
    ), site
  )
}

# Not what summary() makes of any list: the answer, and the sites and taxa of which most was missed.
#' @export
summary.which_zeros <- function(object, ...) {
  check_dots(...)
  structure(list(answer = object), class = "summary.which_zeros")
}

#' @export
print.summary.which_zeros <- function(x, n = 5L, ...) {
  n <- check_shown(n)
  print(x$answer, n = n)
  words <- axis_words(x$answer)
  for (side in 1:2) {
    cat(sprintf("\n%s of which most was missed\n", capital(words[side])))
    print(utils::head(most_first(list(by_site, by_taxon)[[side]](x$answer)), n))
  }
  invisible(x)
}

few_hidden <- 200L # fewer hidden finds do not tell the answer from a rule
few_for_slope <- 100L # of fewer, neither the slope nor its standard error is known well

slope_sentence <- function(...) sprintf("Calibration slope of the chances (1 is right): %s.", slope_words(...))

# What the slope of calibration says of chances: that they are off where that is beyond its standard error, that they
# are right where it leaves no room for much else.
slope_words <- function(slope, se, hidden) {
  if (is.na(slope)) {
    return("could not be measured")
  }
  surely <- function(holds) hidden >= few_for_slope && isTRUE(holds)
  said <- if (surely(slope < 0.8 && slope + 2 * se < 1)) {
    "so they are too sure"
  } else if (surely(slope > 1.25 && slope - 2 * se > 1)) {
    "so they are too careful"
  } else if (surely(slope >= 0.8 && slope <= 1.25 && se <= 0.1)) {
    "so they can be taken as chances"
  } else {
    "of too few hidden finds to say more"
  }
  sprintf("%.2f%s, %s", slope, error_words(se, "%.2f"), said)
}

# " (s.e. 0.4)", or nothing where it is not known.
error_words <- function(se, digits = "%.1f") if (is.na(se)) "" else sprintf(paste0(" (s.e. ", digits, ")"), se)

# How good the answer is on this table, in words.
quality_sentences <- function(w) {
  q <- w$quality["stack", ]
  line <- w$curve$summary
  words <- axis_words(w)
  c(
    hidden_sentence(q, line$changed, words), rule_sentence(w$gain, w$quality, line$changed, words),
    weak_sentence(q, line$changed, words),
    slope_sentence(line$slope, line$slope_se, line$changed),
    if (w$quick) {
      sprintf("A first look: few fits, %s. Leave out `quick` for the answer.", count_words(w$wanted, "copy"))
    },
    if (w$copies < w$wanted) sprintf("Stopped early: %d of %d copies are done.", w$copies, w$wanted)
  )
}

# How well hidden finds are found; q: the answer's row of `quality`.
hidden_sentence <- function(q, hidden, words) {
  above <- function(auc, se, what = "") sprintf("above %.1f %%%s%s", 100 * auc, what, error_words(100 * se))
  was <- paste(count_words(hidden, "find"), if (hidden == 1) "was" else "were")
  if (is.na(q$auc)) {
    return(sprintf("How good here is not known: %s hidden, too few to look for.", was))
  }
  site <- singular_word(words[1L])
  within <- if (is.na(q$auc_within)) {
    sprintf("how it stands within its %s could not be measured", site)
  } else {
    sprintf("within its %s %s", site, above(q$auc_within, q$auc_within_se))
  }
  sprintf(
    "How good here: %s hidden, a tenth at a time; such a find stands %s, %s.", was,
    above(q$auc, q$auc_se, " of the other zeros"), within
  )
}

# The answer against the best simple rule, over the table and within sites, which may be another rule and the other way
# round. NULL where neither could be measured.
rule_sentence <- function(gain, quality, hidden, words) {
  known <- !is.na(gain$difference)
  if (!any(known)) {
    return(NULL)
  }
  measure <- sprintf(c("over the table", "within %s"), words[1L])
  auc <- sprintf("%.1f", 100 * c(quality[gain$rule[1L], "auc"], quality[gain$rule[2L], "auc_within"]))
  rule <- quality[gain$rule, "learner"]
  best <- if (all(known) && gain$rule[1L] == gain$rule[2L]) {
    sprintf("The best simple rule, the %s, has %s and %s %%", rule[1L], auc[1L], auc[2L])
  } else {
    each <- sprintf("%s the %s, with %s %%", measure, rule, auc)[known]
    sprintf("The best simple rule is %s", paste(each, collapse = ", "))
  }
  verdict <- if (hidden < few_hidden) {
    "; too few were hidden to tell them apart."
  } else {
    rule_verdict(gain, measure, known)
  }
  paste0(best, verdict)
}

# Which of them is better by which measure, beyond the standard error.
rule_verdict <- function(gain, measure, known) {
  ahead <- c("the rule is better", "neither is surely better", "the answer is better")
  says <- ahead[2L + mapply(surely_ahead, gain$difference, gain$se, gain$copies)][known]
  each <- paste(measure[known], says)
  if (length(unique(says)) < length(says)) each <- paste0(paste(measure, collapse = " and "), ", ", says[1L])
  by <- sprintf("%.1f%s", 100 * gain$difference, vapply(100 * gain$se, error_words, ""))[known]
  sprintf(": %s. The answer less the rule: %s.", paste(each, collapse = ", "), paste(by, collapse = " and "))
}

# 1, -1, or 0 where a difference is within its error: Student's t, as two copies tell little of their spread.
surely_ahead <- function(difference, se, copies) {
  if (is.na(difference) || is.na(se) || copies < 2L) {
    return(0)
  }
  sign(difference) * (abs(difference) > stats::qt(0.975, copies - 1) * se)
}

# Where an AUC is not surely above .6: nobody should act on such ranks. Of h hidden finds its standard error is at most
# the root of auc (1 - auc) / h, and few copies may agree by chance.
weak_sentence <- function(q, hidden, words) {
  weak <- function(auc, se) {
    is.na(auc) || auc - 2 * max(se, sqrt(auc * (1 - auc) / hidden), na.rm = TRUE) < 0.6
  }
  table <- weak(q$auc, q$auc_se)
  within <- weak(q$auc_within, q$auc_within_se)
  if (!table && !within) {
    return(NULL)
  }
  sprintf(
    "Ranks drawn by lot have 50 %%: this table says little about which zeros are false%s.",
    if (table) "" else paste(" within one of the", words[1L])
  )
}

#' The zeros of an answer as a data frame
#'
#' @param x a result of [which_zeros()].
#' @param row.names,optional as in [as.data.frame()], not used.
#' @param n how many zeros, likeliest first: a whole number, or `Inf` for all.
#' @param site,taxon names or numbers of those to look at; `NULL` is all. Ranks stay those over the whole table.
#' @param ... must be empty.
#' @return A data frame, likeliest first: `rank`, `site`, `taxon` (names, or numbers where the table has none), and the
#'   numbers that [which_zeros()] explains, all within \[0, 1\]: `chance`, `present`, `missed`, `missed_low`,
#'   `missed_high`, `missed_most`. Equal zeros come in the order of rows, then columns. Cost: one sort of the zeros.
#' @inherit which_zeros references
#' @seealso [which_zeros()], [by_site()], [by_taxon()], [multicause-glossary] for the words
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' as.data.frame(w, n = 3)
#' @export
as.data.frame.which_zeros <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name_linter.
                                      n = Inf, site = NULL, taxon = NULL,
                                      ...) {
  check_frame_dots(...)
  if (!identical(n, Inf)) n <- check_count(n, "n", 1L)
  rows <- pick(site, x$dims[["n"]], x$names[[1L]], "site")
  columns <- pick(taxon, x$dims[["m"]], x$names[[2L]], "taxon")
  at <- which(x$candidate)
  row <- (at - 1L) %% x$dims[["n"]] + 1L
  at <- at[order(-x$probability[at], row, at)]
  wanted <- ((at - 1L) %% x$dims[["n"]] + 1L) %in% rows & ((at - 1L) %/% x$dims[["n"]] + 1L) %in% columns
  rank <- utils::head(which(wanted), n)
  cells <- wz_missed(x, at[rank])
  data.frame(
    rank = rank, site = label_of(cells$row, x$names[[1L]]), taxon = label_of(cells$column, x$names[[2L]]),
    cells[c("chance", "present", "missed", "missed_low", "missed_high", "missed_most")]
  )
}

#' How many were missed, by site or by taxon
#'
#' Sums of an answer of [which_zeros()] over sites, over taxa, or over groups of them such as time slices, regions or
#' families. Each sum has its range and its assumption.
#'
#' @param w a result of [which_zeros()]; a fit that [deficiency()] takes; or, without `groups`, a result of
#'   [which_zeros_shards()].
#' @param ... must be empty.
#' @param groups `NULL`, or a vector that says the group of each site (of each taxon): sums over groups. `NA` is left
#'   out.
#' @param draws for fits, as in [deficiency()]: where a fit has no posterior, [bootstrap_draws()].
#' @return A data frame of class `which_zeros_sums`, in the order of the table, so that `cbind(sites, by_site(w))` is
#'   right; groups are in the order of their levels. Sites that were left out or are for reference have no row.
#'   `print()` and `plot()` show those of which most was missed first. It has the columns
#'   \item{`site`, `taxon` or `group`}{what is summed over.}
#'   \item{`finds`, `zeros`}{how many there are; zeros are those that can be false.}
#'   \item{`missed`, `low`, `high`}{the expected number of false absences, and the central 90 % of that number. The
#'     range is over weights, fits and completeness, and over what is random in the number itself. It holds `missed` and
#'     ends at `most`.}
#'   \item{`most`}{the largest expected number that the table alone allows, where all taxa of a site are recorded
#'     equally well. Fits to repeated visits do not have this column, because visits decide.}
#'   \item{`share`, `share_low`, `share_high`}{missed / (missed + finds), in \[0, 1\].}
#'
#'   Sums over groups use the same draws for all sites. So a range is that of the sum, not the sum of ranges. Cost: a
#'   few passes over the zeros.
#' @inherit which_zeros references
#' @seealso [which_zeros()], [multicause-glossary] for the words of the print
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' print(by_site(w), n = 3)
#' by_site(w, groups = rep(c("old", "young"), each = 60))
#' @export
by_site <- function(w, ..., groups = NULL, draws = NULL) {
  check_dots(...)
  sums_of(w, 1L, groups, draws)$table
}

#' @rdname by_site
#' @export
by_taxon <- function(w, ..., groups = NULL, draws = NULL) {
  check_dots(...)
  sums_of(w, 2L, groups, draws)$table
}

# Sums of an answer or of a fit, in the order of the table: list(table, group, drawn: groups x draws).
sums_of <- function(w, side, groups, draws) {
  check_given(w)
  of_fit <- inherits(w, "multicause")
  if (!of_fit && !is.null(draws)) stop_input("`draws` are for fits: an answer of which_zeros() has its own.")
  of_shards <- inherits(w, "which_zeros_shards")
  sums <- if (of_fit) {
    fit_sums(w, side, groups, draws)
  } else if (of_shards) {
    shards_sums(w, side, groups)
  } else {
    wz_sums(w, side, groups)
  }
  table <- sums$table
  names(table)[1L] <- if (is.null(groups)) c("site", "taxon")[side] else "group"
  if (is.factor(groups)) table[[1L]] <- factor(table[[1L]], levels(sums$group))
  rownames(table) <- NULL
  sums$table <- structure(
    table, class = c("which_zeros_sums", "data.frame"), assumption = sums$assumption,
    words = if (of_shards) c("sites", "taxa") else axis_words(w), bounds = answer_bounds(w)
  )
  sums
}

# Sums as they are shown: by what may have been missed where what was missed is not known.
most_first <- function(sums) {
  known <- !anyNA(sums$missed) || is.null(sums$most)
  sums[order(-(if (known) sums$missed else sums$most)), ]
}

check_answer <- function(w) {
  if (missing(w)) stop_missing("w")
  if (!inherits(w, "which_zeros")) stop_input("`w` must come from which_zeros(), not be %s.", show_value(w))
}

# The group of each site or taxon, a factor; without groups each is its own. Sites for reference are in none.
wz_group <- function(w, side, groups) {
  size <- w$dims[[side]]
  group_factor(groups, size, side, if (side == 1L) wz_scored(w) else rep(TRUE, size), w$names[[side]])
}

group_factor <- function(groups, size, side, used, names) {
  if (is.null(groups)) {
    return(factor(ifelse(used, seq_len(size), NA)))
  }
  groups <- by_name(groups, names, "groups")
  if (!is_line(groups) || !is.atomic(groups) || length(groups) != size) {
    stop_input("`groups` must name the group of each of the %.0f %s, not be %s.", size,
      c("sites", "taxa")[side], show_value(groups))
  }
  groups[!used] <- NA
  if (is.factor(groups)) droplevels(groups) else factor(as.vector(groups))
}

# Numbers missed by group, groups x draws.
group_draws <- function(w, side, group) {
  known <- !is.na(group)
  rowsum(w$draws[[c("sites", "taxa")[side]]][known, , drop = FALSE], group[known])
}

wz_sums <- function(w, side, groups) {
  check_answer(w)
  group <- wz_group(w, side, groups)
  label <- if (is.null(groups)) label_of(as.integer(levels(group)), w$names[[side]]) else levels(group)
  cells <- wz_missed(w)
  index <- factor(group[if (side == 1L) cells$row else cells$column], levels(group))
  sum_cells <- function(value) as.vector(tapply(value, index, sum, default = 0))
  found <- found_table(w$x) * wz_scored(w)
  finds <- if (side == 1L) Matrix::rowSums(found) else Matrix::colSums(found)
  finds <- as.vector(tapply(finds, group, sum, default = 0))
  most <- sum_cells(cells$missed_most)
  drawn <- pmin(group_draws(w, side, group), most)
  table <- sums_table(
    label, finds, sum_cells(rep(1, nrow(cells))), sum_cells(cells$missed), ends_of_draws(drawn), most
  )
  list(table = table, drawn = drawn, group = group, assumption = wz_words[[w$source]])
}

# The central range of what was drawn, a row each.
ends_of_draws <- function(drawn) t(apply(drawn, 1L, central_range))

# Numbers missed with their ranges, and shares; `most` may be NULL. Where nothing was found, all that was there was
# missed, however little that is.
sums_table <- function(label, finds, zeros, missed, ends, most) {
  share <- function(value) ifelse(missed + finds > 0, ifelse(value + finds > 0, value / (value + finds), 1), NA_real_)
  ends <- coherent_ends(ends, missed, most)
  out <- data.frame(label, finds = finds, zeros = zeros, missed = missed, ends)
  out$most <- most
  out[c("share", "share_low", "share_high")] <- list(share(missed), share(out$low), share(out$high))
  out
}

#' Do groups of sites differ in what was missed?
#'
#' Compares time slices, regions, formations or other groups of sites of an answer of [which_zeros()], two by two, with
#' intervals: the share of what was there that was missed, the number missed, or the number of taxa a site held once the
#' missed ones are added to the finds.
#'
#' @details
#' Both groups of a pair are taken from the same draws of weights, fits and completeness, so that what they share
#' cancels. Where completeness comes from the phantom, its assumption is behind the difference as it is behind the
#' totals.
#' Many pairs are many chances to find a difference; the intervals are not widened for that.
#'
#' @param w a result of [which_zeros()], or a fit that [deficiency()] takes.
#' @param groups the group of each site, a vector, in the order of the sites or with their names; `NA` is left out. At
#'   least two groups.
#' @param ... must be empty.
#' @param draws for fits, as in [by_site()].
#' @param of what is compared: `"share"`, missed / (missed + found), in \[0, 1\]; `"missed"`, the expected number of
#'   false absences; `"richness"`, (missed + found) / number of sites.
#' @return A data frame of class `which_zeros_contrast` with a row for each pair of groups: `group`, `other`; `value`
#'   and `other_value`, what is compared; `difference`, of the first less the second; `low`, `high`, its central 90 %
#'   over draws; `above`, the share of draws in which it is above 0. Cost: a few passes over the zeros.
#' @inherit which_zeros references
#' @seealso [by_site()], which has the groups one by one, [multicause-glossary] for the words of the print
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' contrast(w, rep(c("old", "middle", "young"), each = 40))
#' @export
contrast <- function(w, groups, ..., of = c("share", "missed", "richness"), draws = NULL) {
  check_dots(...)
  check_given(w, groups)
  of <- check_choice(of, "of", c("share", "missed", "richness"))
  if (!inherits(w, "multicause")) check_answer(w)
  found <- sums_of(w, 1L, groups, draws)
  group <- found$group
  if (nlevels(group) < 2L) stop_input("`groups` must have at least two groups, not %d.", nlevels(group))
  sums <- found$table[match(levels(group), found$table$group), ]
  size <- as.vector(table(group))
  value <- function(missed) {
    there <- missed + sums$finds
    switch(of, share = missed / pmax(there, 1e-300), missed = missed, richness = there / size)
  }
  here <- value(sums$missed)
  drawn <- value(found$drawn)
  pairs <- utils::combn(nlevels(group), 2L)
  difference <- drawn[pairs[1L, ], , drop = FALSE] - drawn[pairs[2L, ], , drop = FALSE]
  middle <- here[pairs[1L, ]] - here[pairs[2L, ]]
  ends <- coherent_ends(ends_of_draws(difference), middle)
  structure(
    data.frame(
      group = levels(group)[pairs[1L, ]], other = levels(group)[pairs[2L, ]], value = here[pairs[1L, ]],
      other_value = here[pairs[2L, ]], difference = middle, ends, above = rowMeans(difference > 0)
    ),
    class = c("which_zeros_contrast", "data.frame"), of = of, assumption = found$assumption
  )
}

#' @export
print.which_zeros_contrast <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  check_dots(...)
  print.data.frame(round_columns(x, digits), row.names = FALSE)
  what <- c(
    share = "missed of all that was there", missed = "number missed", richness = "taxa a site, missed ones added"
  )[attr(x, "of")]
  cat(sprintf(
    "value: %s%s;\nlow, high: 90 %% of draws of the difference; above: share of them above 0\n",
    if (length(what)) what else "as of contrast()",
    if (is.null(attr(x, "assumption"))) "" else paste(",", attr(x, "assumption"))
  ))
  invisible(x)
}

#' @export
print.which_zeros_sums <- function(x, digits = 3L, n = 20L, ...) {
  digits <- check_digits(digits)
  n <- check_shown(n)
  sorted <- if ("missed" %in% names(x)) most_first(x) else x
  shown <- utils::head(sorted, n)
  side <- match(names(shown)[1L], c("site", "taxon"))
  if (!is.na(side)) names(shown)[1L] <- singular_word(kept_words(x))[side]
  print.data.frame(round_columns(shown, digits), row.names = FALSE)
  if (nrow(x) > nrow(shown)) cat(sprintf("... and %d more\n", nrow(x) - nrow(shown)))
  if (!identical(rownames(sorted), rownames(x))) cat("shown: most missed first; its rows are in the table's order\n")
  assumed <- attr(x, "assumption")
  cat(
    "missed (low to high, 90 % of draws): ", if (is.null(assumed)) "expected number" else assumed, ";\n",
    if ("most" %in% names(x)) "most: the largest expected number that the table alone allows; ",
    "share: missed of all that was there\n", sep = ""
  )
  if (!is.null(attr(x, "bounds"))) writeLines(wrap_text(attr(x, "bounds"), exdent = 2))
  invisible(x)
}

#' Why is this zero thought false, or true?
#'
#' Takes one zero of an answer of [which_zeros()] apart: what each learner adds to its log-odds, which neighbouring
#' sites have the taxon, and which of the site's finds are its companions. The numbers of each part add up.
#'
#' @param x a result of [which_zeros()].
#' @param site,taxon a name or a number, one each.
#' @param ... must be empty.
#' @param n how many neighbours and companions of each kind to print.
#' @return A list of class `zero_explained`: `cell`, a data frame with a row as [as.data.frame.which_zeros()] has it;
#'   `score`, a data frame of `part` and `log_odds`; `neighbours`, a data frame of `site`, `weight` (they sum to 1) and
#'   `found`; `companions`, a data frame of `taxon` (the finds of the site), `share`, how many of the other sites with
#'   that find have the taxon, and `rate`, how many of all.
#'
#'   The parts of `score` sum to the log-odds of the chance of a record. They are the mean over all zeros, what each
#'   learner adds to it, and how often the taxon was found. `score` is `NULL` in tables of more than 5 million cells.
#'   The weights of neighbours with the taxon sum to the neighbours' mean, before it is pulled towards the mean of the
#'   table. The mean of `share` is the chance by companions. Cost: O(f), f the finds of the table.
#' @inherit which_zeros references
#' @seealso [which_zeros()], [multicause-glossary] for the words of the print
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' first <- as.data.frame(w, n = 1)
#' explain(w, first$site, first$taxon)
#' @export
#' @rawNamespace S3method(dplyr::explain, which_zeros)
#' @rawNamespace S3method(DALEX::explain, which_zeros)
#' @rawNamespace S3method(lime::explain, which_zeros)
explain.which_zeros <- function(x, site, taxon, ..., n = 5) {
  check_dots(...)
  w <- x
  check_given(site, taxon)
  n <- check_count(n, "n", 1L)
  i <- pick(site, w$dims[["n"]], w$names[[1L]], "site")
  j <- pick(taxon, w$dims[["m"]], w$names[[2L]], "taxon")
  if (length(i) != 1L || length(j) != 1L) stop_input("`site` and `taxon` must be one each.")
  if (!w$candidate[i, j]) {
    value <- w$x[i, j]
    why <- if (wz_scored(w)[i]) "`within` excludes this zero" else "this site is for reference"
    if (is.na(value)) why <- "this cell is unknown"
    if (value %in% 1) why <- "this is a find"
    stop_input("`site` and `taxon` must be of a zero: %s.", why)
  }
  structure(
    list(
      cell = as.data.frame(w, site = i, taxon = j), score = score_parts(w, i, j), neighbours = near_parts(w, i, j),
      companions = companion_parts(w, i, j), n = n
    ),
    class = "zero_explained"
  )
}

score_parts <- function(w, i, j) {
  if (is.null(w$odds)) {
    return(NULL)
  }
  weights <- w$stack$weights
  part <- weights * (vapply(w$odds, function(z) z[i, j], 0) - w$centre)
  used <- rownames(w$weights)[w$weights$weight > 0]
  data.frame(
    part = c("the mean zero of the table", unname(learner_names[used]), "how often the taxon was found"),
    log_odds = c(
      w$stack$intercept + sum(weights * w$centre), unname(part[used]), sum(part[!names(part) %in% rownames(w$weights)])
    )
  )
}

near_parts <- function(w, i, j) {
  table <- nbm_table(w$x)
  near <- w$near$near_alike
  lists <- near_lists(near, i)
  base <- replace(rep(1, w$dims[["n"]]), i, 0)
  if (length(lists$weight)) base <- replace(0 * base, lists$neighbour + 1L, lists$weight)
  overlap <- as.vector(Matrix::tcrossprod(table$found[i, , drop = FALSE], table$found))
  length <- sqrt(table$size[i] * table$size)
  length[length == 0] <- 1
  weight <- base * (overlap / length + likeness_floor)^(if (is.null(near)) 2 else w$near$likeness)
  if (!is.null(table$observed)) weight <- weight * table$observed[, j]
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
  finds <- which(table$found[i, ] == 1)
  out <- data.frame(
    taxon = label_of(finds, w$names[[2L]]), share = unname(companion_table(table)[finds, j]),
    rate = rep(unname(table$sums[j] / table$n_known[j]), length(finds)), row.names = NULL
  )
  out <- out[order(-out$share), ]
  rownames(out) <- NULL
  out
}

#' @export
print.zero_explained <- function(x, ...) {
  check_dots(...)
  cell <- x$cell
  cat(sprintf(
    "%s at %s: chance of a record %.2f, rank %s among the zeros\n", cell$taxon, cell$site, cell$chance,
    format_big(cell$rank)
  ))
  cat(sprintf(
    "Missed: %.2f (%.2f to %.2f); the table alone allows up to %.2f\n", cell$missed, cell$missed_low,
    cell$missed_high, cell$missed_most
  ))
  if (!is.null(x$score)) {
    cat(sprintf("\nIts log-odds, %.2f, are the sum of\n", sum(x$score$log_odds)))
    cat(sprintf("  %6.2f  %s\n", x$score$log_odds, x$score$part), sep = "")
  }
  near <- x$neighbours
  has <- near[near$found, ]
  cat(sprintf("\nNeighbours: sites with the taxon have %.0f %% of the weight\n", 100 * sum(has$weight)))
  say_near("for", has, x$n)
  say_near("against", near[!near$found, ], x$n)
  with <- x$companions
  if (nrow(with)) {
    cat(sprintf(
      "\nCompanions: of the sites with a find of this site, %.0f %% have the taxon on average; of all sites, %.0f %%\n",
      100 * mean(with$share), 100 * with$rate[1L]
    ))
    say_companions("for", with[with$share > with$rate, ], x$n)
    say_companions("against", with[rev(which(with$share <= with$rate)), ], x$n)
  } else {
    cat("\nCompanions: the site has no finds\n")
  }
  invisible(x)
}

say_near <- function(side, sites, n) {
  if (nrow(sites)) {
    shown <- utils::head(sites, n)
    say_wrapped(side, sprintf("%s (%.0f\001%%)", shown$site, 100 * shown$weight), nrow(sites) - nrow(shown))
  }
}

say_companions <- function(side, taxa, n) {
  if (nrow(taxa)) {
    shown <- utils::head(taxa, n)
    say_wrapped(side, sprintf("%s (%.0f\001%%)", shown$taxon, 100 * shown$share), nrow(taxa) - nrow(shown))
  }
}

say_wrapped <- function(side, items, more) {
  text <- sprintf("%s: %s%s", side, paste(items, collapse = ", "), if (more > 0L) sprintf(" and %d more", more) else "")
  writeLines(wrap_text(text, indent = 2, exdent = 4))
}
