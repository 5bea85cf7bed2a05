#' Which absences are false?
#'
#' `false_absences()` ranks the zeros of a table by how likely each is a *false absence*: the taxon was there, but was
#' not recorded. `false_presences()` ranks the ones by how likely each is a *false presence*: a wrong record.
#'
#' @details
#' **The four numbers**, for an observed zero of site \eqn{i} and taxon \eqn{j}:
#' \describe{
#'   \item{`probability`}{the chance of a presence in this cell, \eqn{p}, as `fitted()` gives it.}
#'   \item{`present`}{the chance of a presence if content, not a phantom, made the cell: \eqn{p} without the white
#'     phantom. A site that is all phantom (its content is below 1e-12) has no content of its own; the mean
#'     content of the table is taken.}
#'   \item{`missed`}{the chance that the phantom made the zero *and* content would have made a presence: what the
#'     model itself calls a false absence. It sums to the expected number of them.}
#'   \item{`phantom`}{the chance that the phantom made the zero, whether the taxon was there or not.}
#' }
#' The data alone do not fix `missed`. Other decompositions of the table fit equally well and give other values. They go
#' from 0 (there is no phantom) up to `missed_most`. That is the most in all decompositions whose phantom is as white as
#' this one: it has no taxon more often. A less white phantom may give more; [identifiability()] has a bound for
#' that. As a chance, `missed` is right on average only with `estimate = "vb"`, flat priors, and tables drawn from the
#' model. [aspect_bernoulli()] says how far off it is on other tables. Other estimates are too sure.
#'
#' **Repeated visits.** In a fit of [visits_bernoulli()] visits can miss a taxon. `probability` and `present` are both
#' the chance that the taxon is there, before a look at the visits to this cell. `missed` is that chance after all
#' of them. `phantom` is the chance that these visits would have missed the taxon, whether it is there or not, so it
#' is never below `missed`. `added` and `phantom` of a presence mirror this. There is no `missed_most`: visits decide.
#'
#' **Recording.** In a fit of [noisy_or()] with `missed_by`, `probability` is the chance of a record, and `present` the
#' chance that the taxon is there, both given the other taxa of the site and this zero; `missed` is the chance that it
#' is there and was not recorded, and `phantom` that it would not have been recorded, there or not. There is no
#' `missed_most`. Of repeated visits a record is a find by any of those made to the cell.
#'
#' Two white phantoms add up. Without a white phantom `present` is `probability`, and `missed` and `phantom` are 0. For
#' false presences all is mirrored: `probability` is the chance of an absence, and `absent` the chance of an absence if
#' content made the cell. `added` is the chance that a black phantom made the presence and content would have made an
#' absence (at most `added_most`). `phantom` is the chance that a black phantom made it.
#'
#' **Which one to rank by.** Within one site the four rank (almost) alike. They differ in how sites are
#' pooled:
#' * `"probability"`, the default, is the ranking to use over a whole table. In tables with a large phantom, such as
#'   those of fossils, it found planted omissions best.
#' * `"missed"` answers "how likely is this zero false?". As a ranking it is better than `"probability"` where the
#'   phantom stands for the loss itself (a table that was complete before).
#' * `"present"` disregards how poor a site is.
#' * `"phantom"` is the published score. It puts the zeros of the poorest sites first, for every taxon. So use it
#'   within one site only (`per = "site"`).
#'
#' For false presences `"probability"` puts those of poor sites first. But wrong records make a site look rich, so it
#' may rank them worse than chance. `"absent"`, the default there, looks at the composition of the site alone and needs
#' no black phantom. On tables with planted additions (`bench/additions.md`, few replicates) the area under its ROC
#' curve was .64 to .95, and nowhere below that of `"probability"` (.47 to .90). Where a black phantom was found and
#' 40 % of the sites had additions, `"added"` was better still (.88 to .97, against .82 to .95); where all had,
#' it was worse.
#'
#' **Cost.** O(n m k), by blocks of rows; memory for the cells returned and one block.
#'
#' @param fit a fit of [aspect_bernoulli()], of [noisy_or()] with `missed_by`, or to [shards()] (without `within`,
#'   `site_data`, `x` and `phantom_convention`).
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
#'   numbers of rows only where no column does (a message says which). For data without row names it must have a row for
#'   each site, in the same order. Columns that are named as one of the result's get the prefix `site_`.
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
  score <- names(score_names[[of]])[match(by, score_names[[of]])]
  new_false_cells(moved$fit, rank_cells(moved$fit, scope, score, of), scope, by, of, site_data)
}

# The scores' names in cell_scores() and in what users see.
score_names <- list(
  absences = c(probability = "probability", present = "present", missed = "missed", phantom = "phantom"),
  presences = c(probability = "probability", present = "absent", missed = "added", phantom = "phantom")
)

# Which cells to look at and how many to keep, asked = list(n, per, observation, attribute, within) checked.
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

# The best cells, with the number of cells looked at and the expected number of false ones. Of each block only those
# that can still be among the first n are kept; where all of its own are wanted, they wait for one sort at the end.
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
    refuse_large(7 * n_kept, sprintf("All %s", of), "give `n`, or `site` or `taxon`")
  }
  list(
    cells = keep_best(do.call(rbind, parts), by, scope), n_cells = n_cells, expected = expected,
    expected_most = expected_most
  )
}

# The observed zeros (ones) of a block of rows with their scores, those that rank below `least` left out.
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

# The first n of the table, or of each row or column, best first; ties in the order of rows, then columns.
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
  if (!has_detection(fit)) table[[paste0(score_names[[of]][["missed"]], "_most")]] <- cells$most
  if (!is.null(site_data)) table <- cbind(table, site_columns(site_data, fit, cells$row, names(table)))
  rownames(table) <- NULL
  structure(
    table,
    class = c(paste0("false_", of), if (!is.null(fit$param$added)) "of_visits", "data.frame"),
    n_cells = ranked$n_cells, expected = ranked$expected,
    expected_most = if (!has_detection(fit)) ranked$expected_most, n_ranked = nrow(table), by = by, per = scope$per,
    has_phantom = has_noise(fit, scope$kinds, of), rare = if (any(fit$rare)) label(which(fit$rare), fit$names[[2L]]),
    bounds = if (has_detection(fit)) bound_sentences(fit),
    words = axis_words(fit)
  )
}

#' @export
print.false_absences <- function(x, digits = 3L, n = 20L, ...) {
  digits <- check_digits(digits)
  legend <- c(
    probability = "chance that a find would be recorded here",
    present = "chance that the taxon lived here, the site's gaps in recording set aside",
    missed = "chance that it lived here and was missed",
    phantom = "chance that this zero is a gap in the record (a phantom's), whether it lived here or not",
    missed_low = "5 % end of `missed` over the posterior", missed_high = "95 % end of `missed` over the posterior",
    missed_most = "the most in other fits that describe the table equally well (see identifiability())"
  )
  if (inherits(x, "of_visits")) {
    legend[score_names$absences] <- c(
      "chance that the taxon lives here, before a look at this cell's own visits", "the same",
      "chance that it lives here and all visits missed it",
      "chance that these visits would have missed it, whether it lives here or not"
    )
  }
  print_false_cells(x, digits, n, "absences", legend)
}

#' @export
print.false_presences <- function(x, digits = 3L, n = 20L, ...) {
  digits <- check_digits(digits)
  legend <- c(
    probability = "chance that nothing would be recorded here",
    absent = "chance that the taxon did not live here, wrong records set aside",
    added = "chance that it did not live here and this presence is a wrong record",
    phantom = "chance that this presence is a wrong record (a phantom's), whether it lived here or not",
    added_low = "5 % end of `added` over the posterior", added_high = "95 % end of `added` over the posterior",
    added_most = "the most in other fits that describe the table equally well (see identifiability())"
  )
  if (inherits(x, "of_visits")) {
    legend[score_names$presences] <- c(
      "chance that the taxon does not live here, before a look at this cell's own visits", "the same",
      "chance that it does not live here and what visits found is wrong",
      "chance that these visits would have reported it, whether it lives here or not"
    )
  }
  print_false_cells(x, digits, n, "presences", legend)
}

print_false_cells <- function(x, digits, n, of, legend) {
  shown <- utils::head(x, check_shown(n))
  words <- singular_word(kept_words(x))
  if (is.null(attr(x, "n_cells")) || !isTRUE(nrow(x) <= attr(x, "n_ranked"))) { # a table that was put together anew
    cat(sprintf("False %s\n", of))
  } else {
    print_false_header(x, of)
  }
  scores <- intersect(c(
    score_names[[of]], paste0(score_names[[of]][["missed"]], c("_low", "_high", "_most"))
  ), names(shown))
  scores <- scores[vapply(unclass(shown)[scores], is.numeric, NA)]
  shown[scores] <- lapply(shown[scores], function(score) format(round(score, digits), nsmall = digits))
  rare <- intersect(attr(x, "rare"), shown$taxon)
  side <- match(c("site", "taxon"), names(shown))
  if (!anyNA(side)) names(shown)[side] <- words
  if (nrow(x)) print.data.frame(shown, row.names = FALSE)
  if (nrow(x) > nrow(shown)) cat(sprintf("... and %d more\n", nrow(x) - nrow(shown)))
  legend <- legend[names(legend) %in% names(x)]
  if (identical(attr(x, "has_phantom"), FALSE)) {
    legend <- sub("a phantom as (white|black)", "an exactly \\1 phantom", legend)
  }
  if (nrow(x)) write_sentences(sprintf("%s: %s", names(legend), legend))
  if (nrow(x) && !anyNA(side) && !identical(words, c("site", "taxon"))) {
    cat(sprintf("%s: columns `site`, `taxon`\n", paste(words, collapse = ", ")))
  }
  if (length(rare)) {
    write_sentences(sprintf(
      "Found too seldom for these chances to rest on its own record: %s.", show_names(as.character(rare))
    ))
  }
  if (!is.null(attr(x, "bounds"))) writeLines(wrap_text(attr(x, "bounds"), exdent = 2))
  invisible(x)
}

print_false_header <- function(x, of) {
  n_cells <- attr(x, "n_cells")
  per <- attr(x, "per")
  if (identical(as.double(n_cells), 0)) {
    cat(sprintf("No %s to rank: what was asked for holds none.\n", of))
    return(invisible())
  }
  part <- nrow(x) < attr(x, "n_ranked") # head() or a filter took it: which rows it has is not known here
  write_sentences(sprintf(
    "%s %d of %s %s with the highest `%s`%s", if (part) sprintf("%d of the", nrow(x)) else "The",
    attr(x, "n_ranked"), format_big(n_cells), of, attr(x, "by"), if (per == "table") "" else
      sprintf(" within each %s", singular_word(kept_words(x))[match(per, c("site", "taxon"))])
  ))
  if (!attr(x, "has_phantom")) {
    write_sentences(sprintf("This fit has no phantom of %s: no %s is expected to be false.", of, sub("s$", "", of)))
  } else if (!is.na(attr(x, "expected"))) {
    expected <- attr(x, "expected")
    most <- attr(x, "expected_most")
    write_sentences(sprintf(
      "Expected to be false: %s of %s (%s %%)%s.", format_expected(expected),
      if (part) paste("all", format_big(n_cells)) else "them", format_percent(expected / max(1, n_cells)),
      if (is.null(most)) "" else sprintf(
        "; other fits that describe the table equally well give up to %s", format_big(signif(most, 3L))
      )
    ))
    # A cell may rank high and yet be no gap: the fit takes what was recorded there for whole.
    false <- x[[score_names[[of]][["missed"]]]]
    if (is.numeric(false) && any(false < 0.005, na.rm = TRUE)) {
      none <- sum(false < 0.005, na.rm = TRUE)
      write_sentences(sprintf("Not expected to be false, whatever their rank: %d of these.", none))
    }
  }
}
