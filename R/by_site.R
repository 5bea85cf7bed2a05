# What was missed, by site, by taxon or by group: of answers of which_zeros() and of fits.

#' Undetected presences by site or by taxon: where to look next
#'
#' Sums the probability that a zero is a false absence over sites, over taxa, or over groups of them such as time
#' slices, regions or families, with 90 % intervals. For a result of [which_zeros()] from presence-absence data alone
#' these are the presences that two more surveys of equal effort would add: the sites to revisit and the taxa to ask for
#' in collections come first in the print. Where most of a taxon or a site is missing, do not conclude anything from its
#' absences.
#'
#' @param fit a result of [which_zeros()]; a fit that [false_absences()] takes; or, without `groups`, a result of
#'   [which_zeros()] of shards.
#' @param ... must be empty.
#' @param groups `NULL`, or a vector that says the group of each site (of each taxon): sums over groups. `NA` is left
#'   out.
#' @param site,within of fits, names or numbers of the sites to sum over, and which zeros can be false at all, as in
#'   [false_absences()]; `NULL` is all. Others count nowhere.
#' @param kinds,phantom_convention see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param draws for ranges of fits: `NULL`, 100 draws where the fit has a posterior (`estimate` `"vb"` or `"gibbs"`),
#'   else none; a number of them, 0 for none; or a list of fits to data of the same shape, such as [posterior_draws()]
#'   or [bootstrap_draws()].
#' @param level coverage of the ranges of fits, between 0 and 1.
#' @return A data frame of class `which_zeros_sums`, in the order of the table, so that `cbind(sites, by_site(w))` is
#'   right; groups are in the order of their levels. Sites that were left out or are for reference have no row.
#'   `print()` and `plot()` show those of which most was missed first. It has the columns
#'   \item{`site`, `taxon` or `group`}{what is summed over.}
#'   \item{`finds`, `zeros`}{how many there are; zeros are those that can be false. Unknown cells count nowhere, nor do,
#'     of answers, zeros of taxa that were found at no site.}
#'   \item{`missed`, `low`, `high`}{the expected number of false absences, and the central 90 % (`level`) of that
#'     number; of answers whole numbers. Of an answer the interval is that of the total, with the scatter that was
#'     measured about the sums (a coefficient of variation of .25), and what is random in the number itself; `NA` where
#'     no number is estimated. Of a fit it is there where there are draws.}
#'   \item{`most`}{of fits of one table: the largest expected number that the table alone allows, where all taxa of a
#'     site are recorded equally well. Ranges end there, except those of averages of variational fits ([ensemble()]).}
#'   \item{`share`, `share_low`, `share_high`}{missed / (missed + finds), in \[0, 1\], `NA` where that is 0 / 0.}
#'
#'   Sums over groups use the same draws for all sites. So a range is that of the sum, not the sum of ranges. Of a fit
#'   without a white phantom nothing is missed, and a message says so. With draws the attribute `total` has the two ends
#'   for the whole table, which the print gives. Draws of a posterior are made from a seed of their own: ranges are the
#'   same each time, and the session's random numbers stay as they are. They are of the model: where it is wrong, those
#'   of one fit are too narrow. [ensemble()] with `estimate = "vb"` averages over `k` and priors, and tells how often
#'   its ranges held; those of taxa may be too wide there, as the print says.
#'
#'   The total of an answer is shared out to zeros by their probabilities: over the table, within each site if
#'   completeness is known by site, and within each taxon if `visits` give its occupancy.
#'
#'   Cost: a few passes over the zeros of an answer; O(n m k) a draw of a fit, by blocks of rows.
#' @inherit which_zeros references
#' @seealso [which_zeros()], [false_absences()], [contrast()], [multicause-glossary] for the words of the print
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' print(by_site(w), n = 3)
#' by_site(w, groups = rep(c("old", "young"), each = 60))
#' set.seed(1)
#' print(by_taxon(aspect_bernoulli(simulated_sites$x, k = 4, phantom = "white")), n = 3)
#' @name by_site
#' @order 1
NULL

#' @rdname by_site
#' @export
by_site.default <- function(fit, ..., groups = NULL) {
  check_dots(...)
  sums_of(fit, 1L, groups)$table
}

#' @rdname by_site
#' @export
by_taxon.default <- function(fit, ..., groups = NULL) {
  check_dots(...)
  sums_of(fit, 2L, groups)$table
}

#' @rdname by_site
#' @export
by_site.multicause <- function(fit, ..., groups = NULL, site = NULL, within = NULL, draws = NULL, level = 0.9,
                               kinds = NULL, x = NULL, phantom_convention = c("fitted", "minimal", "maximal")) {
  check_dots(...)
  asked <- list(
    site = site, within = within, kinds = kinds, x = x, convention = phantom_convention, draws = draws, level = level
  )
  sums_of(fit, match(.Generic, c("by_site", "by_taxon")), groups, asked)$table # nolint: object_usage_linter.
}

#' @rdname by_site
#' @export
by_taxon.multicause <- by_site.multicause

# Sums of an answer or of a fit, in the order of the table: list(table, group, drawn: groups x draws, or NULL). What
# is `asked` of fits: list(site, within, kinds, x, convention, draws, level), each as the methods have it.
sums_of <- function(fit, side, groups, asked = list()) {
  of_fit <- inherits(fit, "multicause")
  of_shards <- inherits(fit, "which_zeros_shards")
  sums <- if (of_fit) {
    fit_sums(fit, side, groups, asked)
  } else if (of_shards) {
    shards_sums(fit, side, groups)
  } else {
    wz_sums(fit, side, groups)
  }
  table <- sums$table
  names(table)[1L] <- if (is.null(groups)) c("site", "taxon")[side] else "group"
  if (is.factor(groups)) table[[1L]] <- factor(table[[1L]], levels(sums$group))
  rownames(table) <- table[[1L]]
  sums$table <- structure(
    table, class = c("which_zeros_sums", "data.frame"), assumption = sums$assumption,
    words = if (of_shards) c("sites", "taxa") else axis_words(fit),
    bounds = if (of_fit && !is.null(fit[["missed_by"]])) bound_sentences(fit),
    total = sums$total, level = sums$level, held = sums$held
  )
  sums
}

# How often 90 % ranges of averages of variational fits held, from kind to kind of table (bench/bayes.md).
sums_held <- list(site = c(86, 98), taxon = c(87, 99))

averages_vb <- function(fit) {
  inherits(fit, "multicause_ensemble") && all(member_estimates(fit) %in% "vb") && length(unique(fit$weights)) > 1L
}

tell_no_phantom <- function(fit, kinds) {
  if (!has_noise(fit, kinds, "absences")) inform("The fit has no white phantom: nothing is expected to be missed.")
}

# Recorded ones, observed zeros and expected false absences, by row or by column, of all cells or of `rows` and of the
# zeros `within`.
sum_missed <- function(fit, x, kinds, by, cells = list(rows = seq_len(fit$dims[["n"]]))) {
  blocks <- lapply(row_blocks(cells$rows, fit$dims[["m"]]), function(rows) {
    observed <- dense_rows(x, rows)
    observed[observed %in% 0 & !can_be_false(observed, cells$within, rows)] <- NA
    missed <- cell_scores(fit, rows, kinds)$missed
    missed[!observed %in% 0] <- 0
    add <- if (by == "site") rowSums else colSums
    cbind(add(observed == 1, na.rm = TRUE), add(observed == 0, na.rm = TRUE), add(missed), add(missed * (1 - missed)))
  })
  total <- if (by == "site") do.call(rbind, blocks) else Reduce(`+`, blocks)
  structure(
    list(recorded = as.integer(total[, 1L]), zeros = as.integer(total[, 2L]), missed = total[, 3L]),
    variance = total[, 4L]
  )
}

# The numbers missed in draws, attributes or observations x draws, the number's own variance added.
missed_draws <- function(draws, x, by, ...) {
  each <- lapply(draws, function(draw) sum_missed(draw$fit, x, draw$kinds, by, ...))
  missed <- vapply(each, function(sums) sums$missed, each[[1L]]$missed)
  spread <- sqrt(vapply(each, attr, each[[1L]]$missed, "variance"))
  missed <- with_seed(1L, missed + stats::rnorm(length(missed)) * spread)
  matrix(missed, ncol = length(draws))
}

# by_site(), by_taxon() and contrast() of a fit: list(table, drawn, group), of sums_of(); `drawn` is NULL without draws.
fit_sums <- function(fit, side, groups, asked) {
  check_fit(fit)
  level <- check_number(asked$level %||% 0.9, "level", 0, 1, open = TRUE)
  draws <- own_draws(fit, asked$draws)
  convention <- asked$convention %||% "fitted"
  moved <- use_convention(fit, asked$kinds, convention, asked$x)
  x <- fit_data(moved$fit, asked$x)
  cells <- list(
    rows = sort(unique(pick(asked$site, fit$dims[["n"]], fit$names[[1L]], "site"))),
    within = check_within(asked$within, fit)
  )
  tell_no_phantom(moved$fit, moved$kinds)
  size <- fit$dims[[c("n", "m")[side]]]
  at <- if (side == 1L) cells$rows else seq_len(size)
  all_groups <- group_factor(groups, size, side, seq_len(size) %in% at, fit$names[[side]])
  group <- all_groups[at]
  known <- !is.na(group)
  add <- function(values) rowsum(as.matrix(values)[known, , drop = FALSE], as.integer(group)[known])
  by <- c("site", "taxon")[side]
  found <- sum_missed(moved$fit, x, moved$kinds, by, cells)
  sums <- add(cbind(found$recorded, found$zeros, found$missed))
  # Of repeated visits there is no bound: visits decide.
  most <- if (!has_detection(fit)) add(sum_most(moved$fit, x, moved$kinds, by, cells))[, 1L]
  drawn <- if (length(draws)) {
    each <- lapply(draws, function(draw) use_convention(draw, draw_kinds(draw, moved$kinds), convention, x))
    missed_draws(each, x, by, cells)
  }
  ranges <- if (length(draws)) pmax(add(drawn), 0)
  ends <- if (length(draws)) ends_of_draws(ranges, level)
  label <- if (is.null(groups)) label_of(as.integer(levels(group)), fit$names[[side]]) else levels(group)
  # How often ranges of such averages hold was measured as they are (sums_held).
  cap <- if (averages_vb(fit) || is.null(most)) sums[, 2L] else most
  list(
    table = sums_table(label, sums[, 1L], sums[, 2L], sums[, 3L], ends, most, cap), drawn = ranges, group = all_groups,
    assumption = if (!has_detection(fit)) wz_words[[if (is.null(fit$effort)) "phantom" else "effort"]],
    total = if (length(draws)) range(central_range(pmax(colSums(drawn), 0), level), sum(found$missed)), level = level,
    held = if (is.null(asked$draws) && level == 0.9 && averages_vb(fit)) sums_held[[by]]
  )
}

# The most that may be missed, by row or by column, as `missed_most` of false_absences() has it.
sum_most <- function(fit, x, kinds, by, cells) {
  blocks <- lapply(row_blocks(cells$rows, fit$dims[["m"]]), function(rows) {
    observed <- dense_rows(x, rows)
    most <- largest_missed(fit, cell_scores(fit, rows, kinds), !is.na(observed), kinds, "absences")
    most[!can_be_false(observed, cells$within, rows)] <- 0
    if (by == "site") rowSums(most) else colSums(most)
  })
  if (by == "site") unlist(blocks) else Reduce(`+`, blocks)
}

# Which zeros of some rows may be false.
can_be_false <- function(observed, within, rows) {
  zero <- observed %in% 0
  if (is.null(within)) zero else zero & as.matrix(within[rows, , drop = FALSE]) %in% TRUE
}

#' @export
print.which_zeros_sums <- function(x, n = 20L, ..., digits = 2L) {
  check_dots(...)
  n <- check_shown(n)
  digits <- check_digits(digits)
  numbers <- c("missed", "low", "high", "share", "share_low", "share_high")
  if (print_as_frame(x, digits, formatted = numbers)) {
    return(invisible(x))
  }
  has_missed <- "missed" %in% names(x)
  shown <- as.data.frame(utils::head(if (has_missed) in_shown_order(x) else x, n))
  side <- match(names(shown)[1L], c("site", "taxon"))
  if (!is.na(side)) names(shown)[1L] <- singular_word(kept_words(x))[side]
  shown <- with_range(shown, "missed", c("low", "high"), function(x) show_count(x, digits))
  shown <- with_range(shown, "share", c("share_low", "share_high"), function(x) sprintf("%.*f", digits, x))
  print.data.frame(round_columns(shown, digits + 1L), row.names = FALSE)
  if (nrow(x) > nrow(shown)) {
    fewer <- if (has_missed && !"group" %in% names(x)) " with fewer undetected presences" else ""
    cat(sprintf("... and %d more%s\n", nrow(x) - nrow(shown), fewer))
  }
  percent <- format(100 * (attr(x, "level") %||% 0.9))
  ranges <- if ("low" %in% names(x)) sprintf("with its %s %% interval", percent)
  said <- c(
    if (has_missed) paste(c("missed: expected number", attr(x, "assumption"), ranges), collapse = ", "),
    if ("most" %in% names(x)) "most: the largest expected number that the table alone allows",
    if ("share" %in% names(x)) "share: missed of all that was there"
  )
  writeLines(wrap_text(c(if (length(said)) paste(said, collapse = "; "), attr(x, "bounds")), exdent = 2))
  print_total(attr(x, "total"), percent, attr(x, "held"), side)
  invisible(x)
}

# A number and its ends in one column, where all of them are there.
with_range <- function(shown, name, ends, show) {
  if (all(c(name, ends) %in% names(shown))) {
    each <- lapply(shown[c(name, ends)], show)
    known <- !is.na(shown[[name]])
    shown[[name]] <- ifelse(known, sprintf("%s (%s to %s)", each[[1L]], each[[2L]], each[[3L]]), "not known")
    shown[ends] <- NULL
  }
  shown
}

# What is said of the whole table, of a fit with draws.
print_total <- function(total, percent, held, side) {
  if (!is.null(total) && total[2L] > 0) {
    ends <- show_count(total)
    cat(sprintf("In all: %s %% of draws are within %s to %s missed\n", percent, ends[1L], ends[2L]))
  }
  if (!is.null(held)) {
    cat(sprintf(
      "On simulated tables such ranges held %.0f to %.0f %% of the true numbers, where 90 %% are wanted%s\n", held[1L],
      held[2L], if (side %in% 2L) ": they may be too wide" else ""
    ))
  }
}
