#' How many presences are missing, by taxon or by site
#'
#' Sums the chance that a zero is a false absence (`missed` of [false_absences()]) over each attribute or observation,
#' and sets it against what was recorded: taxa, or sites, of which most is missing are too noisy to conclude from.
#'
#' @param fit a fit of [aspect_bernoulli()], or an answer of [which_zeros()].
#' @param by `"attribute"` (taxa) or `"observation"` (sites).
#' @param ... must be empty.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param phantom_convention see [false_absences()].
#' @return A data frame of class `deficiency`, the largest share first: `attribute` or `observation`; `recorded`, the
#'   number of ones; `zeros`, the number of observed zeros (unknown cells count nowhere); `missed`, the expected number
#'   of false absences among them; `share`, missed / (missed + recorded), in \[0, 1\], `NA` where that is 0 / 0. Without
#'   a white phantom nothing is missed, and a message says so. Of an answer of [which_zeros()]: what [by_taxon()] or
#'   [by_site()] say, the largest share first. Cost: O(n m k), by blocks of rows.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [false_absences()], [multicause-glossary] for the words of the print
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, rep(runif(40, 0.2, 1), 12))
#' deficiency(aspect_bernoulli(x, k = 3), by = "observation")
#' @export
deficiency <- function(fit, by = c("attribute", "observation"), ...) {
  if (missing(fit)) stop_missing("fit")
  UseMethod("deficiency")
}

#' @rdname deficiency
#' @export
deficiency.which_zeros <- function(fit, by = c("attribute", "observation"), ...) {
  check_dots(...)
  by <- check_choice(by, "by", c("attribute", "observation"))
  sums <- if (by == "attribute") by_taxon(fit) else by_site(fit)
  sums <- sums[order(-sums$share, -sums$missed), ]
  rownames(sums) <- NULL
  sums
}

#' @rdname deficiency
#' @export
deficiency.default <- function(fit, by = c("attribute", "observation"), ..., kinds = NULL, x = NULL,
                               phantom_convention = c("fitted", "minimal", "maximal")) {
  check_dots(...)
  check_fit(fit)
  by <- check_choice(by, "by", c("attribute", "observation"))
  moved <- use_convention(fit, kinds, phantom_convention, x)
  fit <- moved$fit
  kinds <- moved$kinds
  x <- fit_data(fit, x)
  if (!has_noise(fit, kinds, "absences")) inform("The fit has no white phantom: nothing is expected to be missed.")
  sums <- sum_missed(fit, x, kinds, by)
  side <- if (by == "observation") 1L else 2L
  name <- if (is.null(fit$names[[side]])) seq_along(sums$recorded) else fit$names[[side]]
  table <- data.frame(name, sums)
  names(table)[1L] <- by
  table$share <- ifelse(table$missed + table$recorded > 0, table$missed / (table$missed + table$recorded), NA)
  table <- table[order(-table$share, -table$missed), ]
  rownames(table) <- NULL
  structure(table, class = c("deficiency", "data.frame"))
}

# Recorded ones, observed zeros and expected false absences, by row or by column.
sum_missed <- function(fit, x, kinds, by) {
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    observed <- dense_rows(x, rows)
    missed <- cell_scores(fit, rows, kinds)$missed
    missed[!observed %in% 0] <- 0
    add <- if (by == "observation") rowSums else colSums
    cbind(add(observed == 1, na.rm = TRUE), add(observed == 0, na.rm = TRUE), add(missed))
  })
  total <- if (by == "observation") do.call(rbind, blocks) else Reduce(`+`, blocks)
  list(recorded = as.integer(total[, 1L]), zeros = as.integer(total[, 2L]), missed = total[, 3L])
}

#' @export
print.deficiency <- function(x, digits = 3L, n = 20L, ...) {
  check_whole(x, "x")
  digits <- check_digits(digits)
  shown <- utils::head(x, check_shown(n))
  what <- names(x)[1L]
  missed <- sum(x$missed)
  cat(sprintf(
    "%d %ss: %.0f recorded, about %s more expected but missed (%s %% of all)\n", nrow(x), what, sum(x$recorded),
    format(signif(missed, 3L)), format(100 * missed / max(1, missed + sum(x$recorded)), digits = 2L)
  ))
  print.data.frame(round_columns(shown, digits), row.names = FALSE)
  if (nrow(x) > nrow(shown)) cat(sprintf("... and %d more\n", nrow(x) - nrow(shown)))
  cat("share: of the presences of this ", what, ", how much was missed\n", sep = "")
  invisible(x)
}
