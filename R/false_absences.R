#' False absences and false presences by one model
#'
#' `false_absences()` ranks the zeros of a table by how probably each is a *false absence*: the taxon was there, but was
#' not recorded. `false_presences()` ranks the ones by how probably each is a *false presence*, a wrong record.
#'
#' @details
#' **The four numbers** of an observed zero:
#' \describe{
#'   \item{`probability`}{the probability of a presence in this cell, \eqn{p}, as `fitted()` gives it.}
#'   \item{`present`}{that probability without the white phantom: if content, the components that are not phantoms, made
#'     the cell.}
#'   \item{`missed`}{the probability that the phantom made the zero *and* content would have made a presence: a false
#'     absence. The sum of `missed` is the expected number of them. In [which_zeros()] `missed` is another quantity.}
#'   \item{`phantom`}{the probability that the phantom made the zero, whether the taxon was there or not.}
#' }
#'
#' **Which one to rank by.** Within one site the four rank (almost) alike.
#' * `"probability"`, the default, is the ranking for a whole table. In tables with a large phantom, such as those of
#'   fossils, it found planted false absences best.
#' * `"missed"` estimates how probably this zero is false. It ranks better if the phantom is the loss itself (a table
#'   that was complete before).
#' * `"present"` disregards how poor a site is.
#' * `"phantom"` is the published score. It puts the zeros of the poorest sites first, so use it within one site only
#'   (`per = "site"`).
#'
#' **How sure.** The data alone do not fix `missed`: other decompositions of the table have the same likelihood. Their
#' values are between 0 (no phantom) and `missed_most`, an outer bound for phantoms as white as this one, at the fitted
#' probabilities. [identifiability()] has the bounds for an exact phantom, and those that are attained. `missed` is
#' calibrated only with `estimate = "vb"`, flat priors, and tables drawn from the model; other estimates are too sure.
#'
#' **Repeated visits.** For fits of repeated visits `probability` and `present`, equal and printed once, are the
#' probability that the taxon is there before the visits to this cell are considered. Given that none of them found it,
#' `missed` is the probability that it is there, and `phantom` that all visits would miss it, whether or not it is
#' there; use `missed`. There is no `missed_most`, because visits decide.
#'
#' **Recording.** For [noisy_or()] with `missed_by`, `probability` is that of a record, `present` that the taxon is
#' there, both given the other taxa of the site and this zero; `missed` that it is there and was not recorded, `phantom`
#' that it would not have been recorded.
#'
#' **False presences** mirror this: `absent` is the probability of an absence if content made the cell, `added` the
#' probability that a black phantom made the presence and content would have made an absence, at most `added_most`.
#' `"probability"` may rank worse than chance, because wrong records make a site look rich. `"absent"`, the default
#' there, needs no black phantom: with planted additions its AUC was .64 to .95, that of `"probability"` .47 to .90
#' (`bench/additions.md` in the sources).
#'
#' **Cost.** O(n m k), by blocks of rows; memory for the cells returned and one block.
#' @param fit a fit of [aspect_bernoulli()], [visits_bernoulli()] or [visits_occupancy()], of [noisy_or()] with
#'   `missed_by`, or to [shards()] (without `within`, `site_data`, `x` and `phantom_convention`).
#' @param n how many cells to return: a whole number of at least 1, or `Inf` for all; with `per`, for each site
#'   or taxon.
#' @param by which number to rank by, see Details; the first is the default.
#' @param ... must be empty.
#' @param per `"table"` ranks all cells together, `"site"` and `"taxon"` rank within each.
#' @param site,taxon names or numbers of those to look at; `NULL` is all.
#' @param within which cells to look at: a logical matrix (or logical sparse matrix) of the shape of the data, such as
#'   one made by a rule on the ages of sites and taxa; `NULL` is all.
#' @param site_data a data frame on the sites, whose columns are added. Its row names are matched to those of the
#'   data; where it has none but numbers, or they do not match, the first column that holds all of them is used, and
#'   numbers of rows only where no column does (a message reports which). For data without row names it must have a row
#'   for each site, in the same order. Columns that are named as one of the result's get the prefix `site_`.
#' @param kinds what each component is: a result of [phantoms()], for a rule of your own, or a character vector of
#'   `"content"`, `"white"` and `"black"`; `NULL` is `phantoms(fit)`.
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param phantom_convention of all decompositions that fit equally well by rescaling, which to report: as `"fitted"`,
#'   the one with the least phantom (`"minimal"`) or the one with the most (`"maximal"`); see [identifiability()]. The
#'   two conventions need a fit with phantoms of one kind.
#' @return A data frame of class `false_absences` (`false_presences`), likeliest first: `site`, `taxon`
#'   (names, or numbers where the data have none), `probability`, `present`, `missed`, `phantom`, `missed_most`
#'   (`probability`, `absent`, `added`, `phantom`, `added_most`), all within \[0, 1\], and the columns of `site_data`.
#'   Equal cells come in the order of rows, then columns. Fits with `estimate = "gibbs"` add `missed_low` and
#'   `missed_high`
#'   (`added_low`, `added_high`): the central 90 % of `missed` over the posterior, by the Beta distribution with the
#'   mean and standard deviation of its draws. Its attributes `n_cells`, `expected` and `expected_most` are the number
#'   of zeros (ones) looked at, how many of them are expected to be false, and how many at most in decompositions with
#'   the same probabilities and a phantom as white (black).
#' @concept zero-inflated
#' @concept excess zeros
#' @concept false negative
#' @concept false positive
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [phantoms()], [by_site()] for sums by taxon and by site, [denoise()], [multicause-glossary] for the
#'   words of the print.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, rep(runif(40, 0.2, 1), 12))
#' dimnames(x) <- list(paste0("site", 1:40), paste0("genus", 1:12))
#' fit <- aspect_bernoulli(x, k = 3)
#' false_absences(fit, n = 10)
#' false_absences(fit, n = 2, by = "missed", per = "site", site = c("site3", "site30"))
#' @export
false_absences <- function(fit, n = 50, by = c("probability", "missed", "present", "phantom"), ...,
                           per = c("table", "site", "taxon"), site = NULL, taxon = NULL,
                           within = NULL, site_data = NULL, kinds = NULL, x = NULL,
                           phantom_convention = c("fitted", "minimal", "maximal")) {
  check_given(fit)
  check_dots(...)
  by <- check_choice(by)
  asked <- list(n = n, per = per, site = site, taxon = taxon, within = within)
  false_cells(fit, "absences", by, asked, site_data, kinds, x, phantom_convention)
}

#' @rdname false_absences
#' @export
false_presences <- function(fit, n = 50, by = c("absent", "added", "probability", "phantom"), ...,
                            per = c("table", "site", "taxon"), site = NULL, taxon = NULL,
                            within = NULL, site_data = NULL, kinds = NULL, x = NULL,
                            phantom_convention = c("fitted", "minimal", "maximal")) {
  check_given(fit)
  check_dots(...)
  by <- check_choice(by)
  asked <- list(n = n, per = per, site = site, taxon = taxon, within = within)
  false_cells(fit, "presences", by, asked, site_data, kinds, x, phantom_convention)
}

false_cells.default <- function(fit, of, by, asked, site_data, kinds, x, convention) {
  check_fit(fit)
  moved <- use_convention(fit, kinds, convention, x)
  scope <- cell_scope(moved$fit, by, asked, moved$kinds, x)
  if (is.null(moved$fit$x)) moved$fit$x <- scope$x
  score <- names(score_names[[of]])[match(by, score_names[[of]])]
  new_false_cells(moved$fit, rank_cells(moved$fit, scope, score, of), scope, by, of, site_data)
}

# Names of the scores in cell_scores() and in results.
score_names <- list(
  absences = c(probability = "probability", present = "present", missed = "missed", phantom = "phantom"),
  presences = c(probability = "probability", present = "absent", missed = "added", phantom = "phantom")
)

# Checks which cells to score and how many to keep, asked = list(n, per, observation, attribute, within).
cell_scope <- function(fit, by, asked, kinds, x) {
  n <- check_shown(asked$n, 1L)
  per <- check_choice(asked$per, "per", c("table", "site", "taxon"))
  kinds <- component_kinds(fit, kinds)
  if (by == "phantom" && per != "site" && length(asked$site) != 1L) {
    inform("Over several sites, `phantom` ranks the poorest ones first: use `per = \"site\"`.")
  }
  list(
    n = n, per = per, kinds = kinds, x = fit_data(fit, x),
    rows = sort(unique(pick(asked$site, fit$dims[["n"]], fit$names[[1L]], "site"))),
    columns = sort(unique(pick(asked$taxon, fit$dims[["m"]], fit$names[[2L]], "taxon"))),
    within = check_within(asked$within, fit)
  )
}

check_within <- function(within, fit) {
  if (is.null(within)) {
    return(NULL)
  }
  check_valid(within, "within")
  if (inherits(within, "nMatrix")) within <- methods::as(within, "lMatrix")
  sparse <- inherits(within, "lMatrix")
  if (!sparse && !(is.matrix(within) && is.logical(within))) {
    stop_input("`within` must be a logical matrix of the shape of the data, not %s.", show_value(within))
  }
  if (anyNA(within)) {
    at <- arrayInd(which(as.vector(is.na(within)))[1L], dim(within))
    stop_input("`within` must be TRUE or FALSE for each cell: row %d, column %d is NA.", at[1L], at[2L])
  }
  if (!has_dims(within, fit, c("n", "m"))) {
    stop_input(
      "`within` must have the shape of the data, %d x %d, not %d x %d.",
      fit$dims[["n"]], fit$dims[["m"]], nrow(within), ncol(within)
    )
  }
  by_names(within, fit$names, "within")
}

# Ranks cells and returns the best, the number of cells scored and the expected number of false ones. Of each block only
# cells that can still be among the first n are kept; if all are requested, they are sorted once at the end.
rank_cells <- function(fit, scope, by, of) {
  parts <- list()
  n_cells <- expected <- expected_most <- 0
  least <- -Inf
  compete <- is.finite(scope$n) && scope$per != "site"
  for (rows in row_blocks(scope$rows, fit$dims[["m"]])) {
    block <- block_cells(fit, scope, rows, by, of, least)
    n_cells <- n_cells + block$n_cells
    expected <- expected + block$expected
    expected_most <- expected_most + block$expected_most
    parts <- c(parts, list(if (is.finite(scope$n)) keep_best(block$cells, by, scope) else block$cells))
    if (compete) parts <- list(keep_best(do.call(rbind, parts), by, scope))
    if (scope$per == "table" && nrow(parts[[1L]]) >= scope$n) least <- min(parts[[1L]][[by]])
    n_kept <- sum(vapply(parts, nrow, 0L))
    refuse_large(7 * n_kept, sprintf("All %s", of), "use `n`, or `site` or `taxon`")
  }
  list(
    cells = keep_best(do.call(rbind, parts), by, scope), n_cells = n_cells, expected = expected,
    expected_most = expected_most
  )
}

# Scores the observed zeros (ones) of a block of rows, without those that rank below `least`.
block_cells <- function(fit, scope, rows, by, of, least) {
  cells <- dense_rows(scope$x, rows)
  wanted <- cells == (if (of == "absences") 0 else 1)
  if (!is.null(scope$within)) wanted <- wanted & dense_rows(scope$within, rows) == 1
  wanted[, -scope$columns] <- FALSE
  at <- which(wanted)
  scores <- cell_scores(fit, rows, scope$kinds, of)
  scores$most <- largest_missed(fit, scores, !is.na(cells), scope$kinds, of)
  scores$bare <- NULL # of rows, not of cells
  out <- list(n_cells = length(at), expected = sum(scores$missed[at]), expected_most = sum(scores$most[at]))
  scores$spread <- score_spread(fit, rows, scope$kinds, of)
  if (is.finite(least)) at <- at[which(scores[[by]][at] >= least)]
  out$cells <- data.frame(
    row = rows[(at - 1L) %% length(rows) + 1L], column = (at - 1L) %/% length(rows) + 1L,
    lapply(scores, function(score) score[at])
  )
  out
}

# Returns the first n of the table, or of each row or column, best first; ties in the order of rows, then columns.
keep_best <- function(cells, by, scope) {
  n <- scope$n
  score <- cells[[by]]
  if (scope$per == "table") {
    if (nrow(cells) > n && !anyNA(score)) {
      cells <- cells[which(score >= -sort(-score, partial = n)[n]), , drop = FALSE]
    }
    return(cells[utils::head(order(-cells[[by]], cells$row, cells$column), n), , drop = FALSE])
  }
  group <- if (scope$per == "site") cells$row else cells$column
  at <- order(group, -score, cells$row, cells$column)
  place <- sequence(rle(group[at])$lengths)
  cells[at[place <= n], , drop = FALSE]
}

new_false_cells <- function(fit, ranked, scope, by, of, site_data) {
  label <- function(index, names) if (is.null(names)) index else names[index]
  cells <- ranked$cells
  table <- data.frame(
    site = label(cells$row, fit$names[[1L]]), taxon = label(cells$column, fit$names[[2L]]),
    stats::setNames(cells[names(score_names[[of]])], score_names[[of]])
  )
  if (!is.null(cells$spread)) {
    ends <- beta_interval(cells$missed, cells$spread)
    table[paste0(score_names[[of]][["missed"]], c("_low", "_high"))] <- ends
  }
  table[[paste0(score_names[[of]][["missed"]], "_most")]] <- cells$most
  if (!is.null(site_data)) table <- cbind(table, site_columns(site_data, fit, cells$row, names(table)))
  rownames(table) <- NULL
  structure(
    table,
    class = c(paste0("false_", of), if (visits_decide(fit)) "of_visits", "data.frame"),
    n_cells = ranked$n_cells, expected = ranked$expected,
    expected_most = if (!is.null(cells$most)) ranked$expected_most, n_ranked = nrow(table), by = by, per = scope$per,
    has_phantom = has_noise(fit, scope$kinds, of), rare = if (any(fit$rare)) label(which(fit$rare), fit$names[[2L]]),
    bounds = bound_sentences(fit), words = axis_words(fit)
  )
}

#' @export
print.false_absences <- function(x, digits = 3L, n = 10L, ...) print_false_cells(x, digits, n, "absences")

#' @export
print.false_presences <- function(x, digits = 3L, n = 10L, ...) print_false_cells(x, digits, n, "presences")

print_false_cells <- function(x, digits, n, of) {
  digits <- check_digits(digits)
  shown <- as.data.frame(utils::head(x, check_shown(n)))
  words <- singular_word(kept_words(x))
  if (is.null(attr(x, "n_cells")) || !isTRUE(nrow(x) <= attr(x, "n_ranked"))) { # a table that was put together anew
    cat(sprintf("False %s\n", of))
  } else {
    print_false_header(x, of)
  }
  # With visits `present` is `probability`.
  by_content <- score_names[[of]][["present"]]
  if (inherits(x, "of_visits") && !identical(attr(x, "by"), by_content)) shown[[by_content]] <- NULL
  false <- score_names[[of]][["missed"]]
  scores <- intersect(c(score_names[[of]], paste0(false, c("_low", "_high", "_most"))), names(shown))
  scores <- scores[vapply(unclass(shown)[scores], is.numeric, NA)]
  # With an interval two decimals are enough, and all the line holds.
  shown[scores] <- lapply(shown[scores], function(score) {
    sprintf("%.*f", if (any(grepl("_low$", scores))) min(digits, 2L) else digits, score)
  })
  shown <- with_range(shown, false, paste0(false, c("_low", "_high")), identity)
  rare <- intersect(attr(x, "rare"), shown$taxon)
  side <- match(c("site", "taxon"), names(shown))
  if (!anyNA(side)) names(shown)[side] <- words
  if (nrow(x)) print_rows(shown)
  if (nrow(x) > nrow(shown)) cat(sprintf("... (%d of %d)\n", nrow(shown), nrow(x)))
  writeLines(wrap_text(c(
    if (length(rare)) {
      sprintf("Rare, and estimated mostly from the others: %s.", show_names(as.character(rare), quoted = FALSE))
    },
    attr(x, "bounds"), if (nrow(x)) sprintf("Columns: ?false_%s.", of)
  ), exdent = 2))
  invisible(x)
}

print_false_header <- function(x, of) {
  n_cells <- attr(x, "n_cells")
  per <- attr(x, "per")
  if (identical(as.double(n_cells), 0)) {
    cat(sprintf("No %s among the requested cells\n", of))
    return(invisible())
  }
  expected <- attr(x, "expected")
  most <- attr(x, "expected_most")
  write_sentences(c(
    if (!attr(x, "has_phantom")) {
      sprintf("False %s: none expected, because this fit has no phantom of %s", of, of)
    } else if (!is.na(expected)) {
      sprintf(
        "False %s: %s of %s expected (%s %%)%s", of, show_expected(expected), format_big(n_cells),
        format_percent(expected / max(1, n_cells)),
        if (is.null(most)) "" else sprintf("; at most %s for this fit", format_big(signif(most, 3L)))
      )
    },
    sprintf(
      "%s `%s`%s:", if (nrow(x) < attr(x, "n_ranked")) {
        sprintf("%d of the %d returned, by", nrow(x), attr(x, "n_ranked"))
      } else {
        sprintf("The %s with the highest", format_big(nrow(x)))
      }, attr(x, "by"), if (per == "table") "" else
        sprintf(" within each %s", singular_word(kept_words(x))[match(per, c("site", "taxon"))])
    )
  ))
}
