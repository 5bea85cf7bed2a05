#' How many presences are missing, by taxon or by site
#'
#' Sums the chance that a zero is a false absence (`missed` of [false_absences()]) over each taxon or site,
#' and compares it with what was recorded. Where most of a taxon or a site is missing, do not conclude anything from its
#' absences.
#'
#' @param fit a fit of [aspect_bernoulli()], or an answer of [which_zeros()].
#' @param by `"taxon"` or `"site"`.
#' @param ... must be empty.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param phantom_convention see [false_absences()].
#' @param site,within names or numbers of the sites to sum over, and which zeros can be false at all, as
#'   in [false_absences()]; `NULL` is all. Others count nowhere.
#' @param draws for intervals: `NULL`, 100 draws where the fit has a posterior (`estimate` `"vb"` or `"gibbs"`); a
#'   number of them, 0 for none; or a list of fits to data of the same shape, such as [posterior_draws()] or
#'   [bootstrap_draws()].
#' @param level coverage of the intervals, between 0 and 1.
#' @return A data frame of class `deficiency`, the largest share first: `taxon` or `site`; `recorded`, the
#'   number of ones; `zeros`, the number of observed zeros (unknown cells count nowhere); `missed`, the expected number
#'   of false absences among them; `share`, missed / (missed + recorded), in \[0, 1\], `NA` where that is 0 / 0. Without
#'   a white phantom nothing is missed, and a message says so. Of an answer of [which_zeros()]: what [by_taxon()] or
#'   [by_site()] say, the largest share first.
#'
#'   With draws there are also `low` and `high`, the central `level` of the number missed over draws. They include what
#'   is random in the number itself, given the chances. `share_low` and `share_high` are the same of `share`. The
#'   attribute `total` has the two ends for the whole table, which the print gives. Draws are made from a seed of their
#'   own: the intervals are the same each time, and the session's random numbers stay as they are. They are of the
#'   model: where it is wrong, those of one fit are too narrow. [ensemble()] with `estimate = "vb"` averages over `k`
#'   and priors, and tells how often its intervals held; those of taxa may be too wide there, as the print says.
#'
#'   Cost: O(n m k) a draw, by blocks of rows.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [false_absences()], [multicause-glossary] for the words of the print
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, rep(runif(40, 0.2, 1), 12))
#' deficiency(aspect_bernoulli(x, k = 3), by = "site")
#' @export
deficiency <- function(fit, by = c("taxon", "site"), ...) {
  if (missing(fit)) stop_missing("fit")
  UseMethod("deficiency")
}

#' @rdname deficiency
#' @export
deficiency.which_zeros <- function(fit, by = c("taxon", "site"), ...) {
  given <- intersect(c("site", "within"), names(list(...)))
  if (length(given)) {
    stop_input("`%s` is for fits: %s.", given[1L], if (given[1L] == "within") {
      "which zeros can be false is said to which_zeros(within = )"
    } else {
      "by_site() has each site, by_site(groups = ) sums over some"
    })
  }
  check_dots(...)
  by <- check_choice(by, "by", c("taxon", "site"))
  sums <- if (by == "taxon") by_taxon(fit) else by_site(fit)
  sums <- sums[order(-sums$share, -sums$missed), ]
  rownames(sums) <- NULL
  sums
}

#' @rdname deficiency
#' @export
deficiency.default <- function(fit, by = c("taxon", "site"), ..., site = NULL, within = NULL,
                               kinds = NULL, x = NULL, phantom_convention = c("fitted", "minimal", "maximal"),
                               draws = NULL, level = 0.9) {
  check_dots(...)
  check_fit(fit)
  by <- check_choice(by, "by", c("taxon", "site"))
  level <- check_number(level, "level", 0, 1, open = TRUE)
  drawn <- own_draws(fit, draws)
  moved <- use_convention(fit, kinds, phantom_convention, x)
  fit <- moved$fit
  kinds <- moved$kinds
  x <- fit_data(fit, x)
  cells <- list(
    rows = sort(pick(site, fit$dims[["n"]], fit$names[[1L]], "site")), within = check_within(within, fit)
  )
  tell_no_phantom(fit, kinds)
  sums <- sum_missed(fit, x, kinds, by, cells)
  side <- if (by == "site") 1L else 2L
  name <- label_of(if (side == 1L) cells$rows else seq_along(sums$recorded), fit$names[[side]])
  table <- data.frame(name, sums[c("recorded", "zeros", "missed")])
  names(table)[1L] <- by
  share <- function(missed) ifelse(missed + sums$recorded > 0, missed / (missed + sums$recorded), NA)
  table$share <- share(table$missed)
  total <- NULL
  if (length(drawn)) {
    drawn <- lapply(drawn, function(draw) use_convention(draw, draw_kinds(draw, kinds), phantom_convention, x))
    ends <- missed_ends(drawn, x, by, level, cells)
    table[c("low", "high")] <- list(pmin(ends$each[1L, ], sums$missed), pmax(ends$each[2L, ], sums$missed))
    total <- range(ends$total, sum(sums$missed))
    table[c("share_low", "share_high")] <- list(share(table$low), share(table$high))
  }
  table <- table[order(-table$share, -table$missed), ]
  rownames(table) <- NULL
  structure(
    table, class = c("deficiency", "data.frame"), words = axis_words(fit), total = total, level = level,
    held = if (is.null(draws) && level == 0.9 && averages_vb(fit)) sums_held[[by]]
  )
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
    if (!is.null(cells$within)) {
      observed[observed %in% 0 & !as.matrix(cells$within[rows, , drop = FALSE]) %in% TRUE] <- NA
    }
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

# Draws of a fit's posterior, by a seed of their own; those given; or none.
own_draws <- function(fit, draws) {
  if (!is.null(draws) && !is.numeric(draws)) {
    return(check_draws(draws, fit))
  }
  n <- if (is.null(draws)) 100L else check_count(draws, "draws", 0L)
  has_posterior <- has_draws(fit)
  if (n > 0L && !has_posterior && !is.null(draws)) {
    stop_input(
      "`draws` must be 0 or a list of fits, such as bootstrap_draws(fit): this fit has no posterior to draw from."
    )
  }
  if (n > 0L && has_posterior) with_seed(1L, posterior_draws(fit, n)) else list()
}

# The numbers missed in draws, attributes or observations x draws, the number's own variance added.
missed_draws <- function(draws, x, by, ...) {
  each <- lapply(draws, function(draw) sum_missed(draw$fit, x, draw$kinds, by, ...))
  missed <- vapply(each, function(sums) sums$missed, each[[1L]]$missed)
  spread <- sqrt(vapply(each, attr, each[[1L]]$missed, "variance"))
  missed <- with_seed(1L, missed + stats::rnorm(length(missed)) * spread)
  matrix(missed, ncol = length(draws))
}

# Their ends: each (2 x attributes or observations) and total.
missed_ends <- function(draws, x, by, level, cells) {
  missed <- missed_draws(draws, x, by, cells)
  ends <- function(numbers) stats::quantile(numbers, c((1 - level) / 2, (1 + level) / 2), names = FALSE)
  list(each = apply(pmax(missed, 0), 1L, ends), total = ends(pmax(colSums(missed), 0)))
}

# by_site(), by_taxon() and contrast() of a fit: the sums of which_zeros_sums, in the order of the groups, and `drawn`,
# the numbers missed, groups x draws.
fit_sums <- function(fit, side, groups, draws) {
  check_fit(fit)
  kinds <- component_kinds(fit)
  drawn <- own_draws(fit, draws)
  if (!length(drawn)) {
    stop_input(paste(
      "`draws` must be given for ranges, as from bootstrap_draws(fit): this fit has no posterior.",
      "deficiency() needs none."
    ))
  }
  tell_no_phantom(fit, kinds)
  x <- fit_data(fit)
  by <- c("site", "taxon")[side]
  size <- fit$dims[[c("n", "m")[side]]]
  group <- group_factor(groups, size, side, rep(TRUE, size), fit$names[[side]])
  known <- !is.na(group)
  add <- function(values) rowsum(values[known, , drop = FALSE], as.integer(group)[known])
  sums <- sum_missed(fit, x, kinds, by)
  # Of repeated visits there is no bound: visits decide.
  found <- add(cbind(sums$recorded, sums$zeros, sums$missed, if (is.null(fit$missed_by)) sum_most(fit, x, kinds, by)))
  missed <- add(missed_draws(lapply(drawn, function(draw) list(fit = draw, kinds = draw_kinds(draw, kinds))), x, by))
  missed <- pmax(missed, 0)
  label <- if (is.null(groups)) label_of(as.integer(levels(group)), fit$names[[side]]) else levels(group)
  most <- if (ncol(found) > 3L) found[, 4L]
  table <- sums_table(label, found[, 1L], found[, 2L], found[, 3L], ends_of_draws(missed), most)
  source <- if (!is.null(fit$missed_by)) "cell" else if (!is.null(fit$effort)) "effort" else "phantom"
  list(table = table, drawn = missed, group = group, assumption = wz_words[[source]])
}

# The most that may be missed, by row or by column, as `missed_most` of false_absences() has it.
sum_most <- function(fit, x, kinds, by) {
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    observed <- dense_rows(x, rows)
    most <- largest_missed(fit, cell_scores(fit, rows, kinds), !is.na(observed), kinds, "absences")
    most[!observed %in% 0] <- 0
    if (by == "site") rowSums(most) else colSums(most)
  })
  if (by == "site") unlist(blocks) else Reduce(`+`, blocks)
}

#' @export
print.deficiency <- function(x, digits = 3L, n = 20L, ...) {
  digits <- check_digits(digits)
  shown <- utils::head(x, check_shown(n))
  side <- if (names(x)[1L] == "site") 1L else 2L
  what <- singular_word(kept_words(x)[side])
  names(shown)[1L] <- what
  missed <- sum(x$missed)
  cat(sprintf(
    "%d %s: %.0f recorded, about %s more expected but missed (%s %% of all)\n", nrow(x), kept_words(x)[side],
    sum(x$recorded), format_big(signif(missed, 3L)),
    format(100 * missed / max(1, missed + sum(x$recorded)), digits = 2L)
  ))
  total <- attr(x, "total")
  if (!is.null(total) && total[2L] > 0) {
    level <- format(100 * attr(x, "level"))
    cat(sprintf("%s %% of draws are within %s to %s missed\n", level, show_count(total[1L]), show_count(total[2L])))
  }
  print.data.frame(round_columns(shown, digits), row.names = FALSE)
  if (nrow(x) > nrow(shown)) cat(sprintf("... and %d more\n", nrow(x) - nrow(shown)))
  cat("share: of the presences of this ", what, ", how much was missed\n", sep = "")
  if (what != names(x)[1L]) cat(sprintf("%s: column `%s`\n", what, names(x)[1L]))
  if (!is.null(x$low)) cat("low, high: of the number missed over draws of the fit's posterior, or the fits given\n")
  held <- attr(x, "held")
  if (!is.null(held)) {
    cat(sprintf(
      "On simulated tables such ranges held %.0f to %.0f %% of the true numbers, where 90 %% are wanted%s\n", held[1L],
      held[2L], if (side == 2L) ": they may be too wide" else ""
    ))
  }
  invisible(x)
}
