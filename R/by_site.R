# Undetected presences by site, by taxon or by group, of which_zeros() results and of fits.

#' Undetected presences by site or by taxon: where to look next
#'
#' Sums the probabilities of undetected presences (`missed`) over sites, over taxa, or over groups of them such as time
#' slices, regions or families, with 90 % intervals. The print begins with the sites to revisit, or the taxa to look for
#' in collections. For a result of [which_zeros()] from presence-absence data alone, the sums are the presences that two
#' more surveys of equal effort would add.
#'
#' @details
#' Where `share` is above about one half, draw no conclusion from the absences of that taxon or site.
#' @param fit a result of [which_zeros()]; a fit that [false_absences()] takes; or, without `groups`, a result of
#'   [which_zeros()] of shards.
#' @param ... must be empty.
#' @param groups `NULL`, or a vector with the group of each site (of each taxon): sums over groups. `NA` is left
#'   out.
#' @param site,within of fits, names or numbers of the sites to sum over, and which zeros can be false at all, as in
#'   [false_absences()]; `NULL` is all. Other cells are not counted.
#' @param kinds,phantom_convention see [false_absences()].
#' @param x the data, if the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param draws for intervals of fits: `NULL`, 100 draws if the fit has a posterior (`estimate` `"vb"` or `"gibbs"`, or
#'   of [visits_occupancy()]), else none; a number of them, 0 for none; or a list of fits to data of the same shape,
#'   such as [posterior_draws()] or [bootstrap_draws()].
#' @param level coverage of the intervals of fits, between 0 and 1.
#' @return A data frame of class `which_zeros_sums`, in the order of the table, so that `cbind(sites, by_site(w))` is
#'   right unless sites were left out or are for reference, which have no row; groups are in the order of their levels.
#'   `print()` and `plot()` begin with the rows of which most was missed, groups in their own order. It has the columns
#'   \item{`site`, `taxon` or `group`}{what is summed over.}
#'   \item{`presences`, `zeros`}{their numbers; zeros are those that can be false. Unknown cells are not counted, nor
#'     are zeros of taxa that were found at no site in results of [which_zeros()].}
#'   \item{`missed`, `low`, `high`}{the expected number of false absences with its 90 % (`level`) interval, whose ends
#'     are whole numbers for results of [which_zeros()]. For these the interval combines that of the total, the measured
#'     scatter of sums (a coefficient of variation of 0.25) and the random variation of a count; `NA` if no total is
#'     estimated. A fit has an interval if there are draws.}
#'   \item{`most`}{of fits of one table: an upper bound of the expected number if all taxa of a site are recorded
#'     equally well. Intervals do not exceed it, except those of averages of variational fits ([ensemble()]).}
#'   \item{`share`, `share_low`, `share_high`}{missed / (missed + presences), in \[0, 1\], `NA` where that is 0 / 0.}
#'
#'   Sums over groups use the same draws for all sites, so an interval is that of the sum, not the sum of intervals. A
#'   fit without a white phantom (a component without presences) expects nothing to be missed, and a message says so.
#'   With draws the attribute `total` has the two ends for the whole table, which the print gives. Draws of a posterior
#'   have a seed of their own: intervals are the same each time, and the session's random numbers stay as they are. The
#'   intervals of one fit assume its model, and are too narrow if the model is wrong. [ensemble()] with `estimate =
#'   "vb"` averages over `k` and priors, and shows how often its intervals held; those of taxa may be too wide there, as
#'   the print reports.
#'
#'   The total of a result is divided among the zeros by their probabilities: over the table, within each site if
#'   completeness is known by site, and within each taxon if `visits` give its occupancy.
#'
#'   Cost: a few times the zeros of a result; O(n m k) a draw of a fit, by blocks of rows.
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

# Sums a result or a fit, in the order of the table: list(table, group, drawn: groups x draws, or NULL). `asked`, for
# fits: list(site, within, kinds, x, convention, draws, level), arguments of the methods.
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
    bounds = if (of_fit) bound_sentences(fit),
    total = sums$total, level = sums$level, held = sums$held
  )
  sums
}

# Coverage (%) of 90 % intervals of averages of variational fits, over kinds of tables (bench/bayes.md).
sums_held <- list(site = c(86, 98), taxon = c(87, 99))

averages_vb <- function(fit) {
  inherits(fit, "multicause_ensemble") && all(member_estimates(fit) %in% "vb") && length(unique(fit$weights)) > 1L
}

tell_no_phantom <- function(fit, kinds) {
  if (!has_noise(fit, kinds, "absences")) inform("The fit has no white phantom: nothing is expected to be missed.")
}

# Sums presences, observed zeros and expected false absences by row or by column, over all cells or over `rows` and the
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

# Draws the number of undetected presences for each draw of the parameters, attributes or observations x draws, with
# normal noise of the number's own variance.
missed_draws <- function(draws, x, by, ...) {
  each <- lapply(draws, function(draw) sum_missed(draw$fit, x, draw$kinds, by, ...))
  missed <- vapply(each, function(sums) sums$missed, each[[1L]]$missed)
  spread <- sqrt(vapply(each, attr, each[[1L]]$missed, "variance"))
  missed <- with_seed(1L, missed + stats::rnorm(length(missed)) * spread)
  matrix(missed, ncol = length(draws))
}

# Computes by_site(), by_taxon() and contrast() of a fit: list(table, drawn, group), see sums_of(); `drawn` may be NULL.
fit_sums <- function(fit, side, groups, asked) {
  check_fit(fit)
  level <- check_number(asked$level %||% 0.9, "level", 0, 1, open = TRUE)
  draws <- own_draws(fit, asked$draws)
  convention <- asked$convention %||% "fitted"
  moved <- use_convention(fit, asked$kinds, convention, asked$x)
  if (length(moved$kinds) && !any(moved$kinds == "content")) draws <- NULL # nothing is defined
  x <- fit_data(moved$fit, asked$x)
  if (is.null(moved$fit$x)) moved$fit$x <- x
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
  # Repeated visits have no such bound: the visits identify the number.
  most <- sum_most(moved$fit, x, moved$kinds, by, cells)
  if (!is.null(most)) most <- add(most)[, 1L]
  drawn <- if (length(draws)) {
    each <- lapply(draws, function(draw) use_convention(draw, draw_kinds(draw, moved$kinds), convention, x))
    missed_draws(each, x, by, cells)
  }
  ranges <- if (length(draws)) pmax(add(drawn), 0)
  ends <- if (length(draws)) ends_of_draws(ranges, level)
  label <- if (is.null(groups)) label_of(as.integer(levels(group)), fit$names[[side]]) else levels(group)
  # The coverage of intervals of such averages was measured without the bound (sums_held).
  cap <- if (averages_vb(fit) || is.null(most)) sums[, 2L] else most
  list(
    table = sums_table(label, sums[, 1L], sums[, 2L], sums[, 3L], ends, most, cap), drawn = ranges, group = all_groups,
    assumption = if (!is.null(most)) wz_words[[if (is.null(fit$effort)) "phantom" else "effort"]],
    total = whole_ends(fit, asked, level) %||% if (length(draws)) {
      range(pmin(central_range(pmax(colSums(drawn), 0), level), sum(cap)), sum(found$missed))
    }, level = level,
    held = if (is.null(asked$draws) && is_ninety(level) && averages_vb(fit)) sums_held[[by]]
  )
}

# Returns the interval of the whole table that the fit itself prints; NULL if only a part of it is summed.
whole_ends <- function(fit, asked, level) {
  if (all(vapply(asked[c("site", "within", "draws", "x")], is.null, NA))) printed_ends(fit, level)
}

# Computes the largest number of false absences by row or by column, the `missed_most` of false_absences(); NULL where
# there is none.
sum_most <- function(fit, x, kinds, by, cells) {
  blocks <- lapply(row_blocks(cells$rows, fit$dims[["m"]]), function(rows) {
    observed <- dense_rows(x, rows)
    most <- largest_missed(fit, cell_scores(fit, rows, kinds), !is.na(observed), kinds, "absences")
    if (is.null(most)) {
      return(NULL)
    }
    most[!can_be_false(observed, cells$within, rows)] <- 0
    if (by == "site") rowSums(most) else colSums(most)
  })
  if (by == "site" || is.null(blocks[[1L]])) unlist(blocks) else Reduce(`+`, blocks)
}

# Marks the zeros of some rows that may be false.
can_be_false <- function(observed, within, rows) {
  zero <- observed %in% 0
  if (is.null(within)) zero else zero & as.matrix(within[rows, , drop = FALSE]) %in% TRUE
}

#' @export
print.which_zeros_sums <- function(x, n = 15L, ..., digits = 2L) {
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
  one <- if (is.na(side)) names(shown)[1L] else singular_word(kept_words(x))[side]
  if (length(shown)) names(shown)[1L] <- one
  percent <- format(100 * (attr(x, "level") %||% 0.9))
  if (has_missed) {
    writeLines(wrap_text(sprintf(
      "Undetected presences per %s%s%s", one, paste(c("", attr(x, "assumption")), collapse = ", "),
      if ("low" %in% names(x)) sprintf(" (%s %% intervals)", percent) else ""
    ), exdent = 2))
  }
  shown <- with_range(shown, "missed", c("low", "high"), function(x) show_count(x, digits))
  shown <- with_range(shown, "share", c("share_low", "share_high"), function(x) sprintf("%.*f", digits, x))
  print_rows(round_columns(shown, digits + 1L))
  if (nrow(x) > nrow(shown)) {
    cat(sprintf(
      "... (%s of %s%s; as.data.frame() has all)\n", format_big(nrow(shown)), format_big(nrow(x)),
      if (has_missed && !"group" %in% names(x)) ", most undetected first" else ""
    ))
  }
  if ("most" %in% names(x)) cat("most: the outer bound (?identifiability)\n")
  if (!is.null(attr(x, "bounds"))) writeLines(wrap_text(attr(x, "bounds"), exdent = 2))
  print_total(attr(x, "total"), percent, attr(x, "held"))
  invisible(x)
}

# What is said of the whole table, of a fit with draws.
print_total <- function(total, percent, held) {
  if (!is.null(total) && total[2L] > 0) {
    holds <- paste(c("", attr(total, "holds")), collapse = ", ")
    cat(sprintf("In all: %s (%s %% interval%s)\n", show_ends(total[[1L]], total[[2L]]), percent, holds))
  }
  if (!is.null(held)) {
    cat(sprintf(
      "On simulated tables such 90 %% intervals contained %.0f to %.0f %% of the true numbers\n", held[1L], held[2L]
    ))
  }
}
