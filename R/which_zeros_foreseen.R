# How well finds are foreseen: chances of finds and zeros alike, each from the rest of the table, never from itself.

most_fair <- c(finds = 4e4, zeros = 2e5) # that the regression takes: of sites, and of their zeros, evenly spaced

# The mean chance of a find, kappa. Means over other sites, weighed by how alike lists and how near sites are,
# companions and how often taxon and site have finds are put together by a logistic regression over all known cells. Of
# a find, each is what it would be if the find were hidden.
#   near    a smooth_over() with bandwidths, or NULL
mean_foreseen <- function(x, near, n_threads = 1) {
  table <- nbm_table(x)
  share <- most_fair[["finds"]] / max(1, sum(table$sums))
  rows <- spaced(seq_len(nrow(x)), max(1, share * nrow(x)))
  found <- as.matrix(some_rows(table$found, rows))
  known <- !is.na(as.matrix(some_rows(x, rows)))
  finds <- which(known & found == 1)
  zeros <- which(known & found == 0)
  at <- c(finds, spaced(zeros, most_fair[["zeros"]]))
  design <- do.call(cbind, fair_scores(table, near, n_threads, rows, at))
  found <- rep(c(TRUE, FALSE), c(length(finds), length(at) - length(finds)))
  mean(fitted_logistic(design, found, ifelse(found, 1, length(zeros) / sum(!found)), n_threads))
}

# Vectors, of the cells `at` of some rows.
fair_scores <- function(table, near, n_threads = 1, rows = seq_along(table$size),
                        at = seq_len(length(rows) * length(table$sums))) {
  place <- as.double(at)
  odds <- function(p) score_odds(p, place, n_threads = n_threads)
  mean_by <- function(near, likeness) odds(nbm_rows(near, likeness, table, rows, n_threads))
  scores <- list(mean_by(NULL, 2), mean_by(NULL, 6))
  if (!is.null(near)) {
    wide <- near
    wide$bandwidth <- 2 * near$bandwidth # the root of the weights
    scores <- c(scores, list(mean_by(near, 0), mean_by(near, 2), mean_by(wide, 4)))
  }
  cells <- fair_cells(table, rows, at)
  scores <- c(scores, list(score_odds(fair_companions(table, cells, n_threads), n_threads = n_threads)))
  c(scores, fair_margins(table, cells), lapply(utils::tail(scores, 2L), `^`, 2))
}

# Of the cells `at` of some rows: row (of all), column and whether each is a find, 0 or 1.
fair_cells <- function(table, rows = seq_along(table$size), at = seq_len(length(rows) * length(table$sums))) {
  i <- (at - 1L) %% length(rows) + 1L
  found <- as.matrix(some_rows(table$found, rows))[at]
  list(rows = rows, at = at, row = rows[i], column = (at - 1L) %/% length(rows) + 1L, found = found)
}

spaced <- function(at, most) if (length(at) <= most) at else at[round(seq(1, length(at), length.out = most))]

# Logs of how many other finds taxon and site have, and their squares. Where no site is empty, one other find is the
# least: that a site has none would tell that the cell is a find.
fair_margins <- function(table, cells) {
  taxon <- log(table$sums[cells$column] - cells$found + 0.5)
  others <- table$size[cells$row] - cells$found
  site <- log((if (any(table$size == 0)) others else pmax(others, 1)) + 0.5)
  list(taxon, taxon^2, site, site^2)
}

# Beals' mean over the other finds of a site of how many of the other sites with that find have the taxon; to each share
# one site, to the mean one find with the taxon's own mean elsewhere is added. Vectors, of cells as of fair_cells().
fair_companions <- function(table, cells = fair_cells(table), n_threads = 1) {
  j <- cells$column
  view <- nbm_view(table, cells$rows)
  per <- 1 / (pmax(table$sums - 1, 0.5) + 1)
  mean <- (table$sums[j] - cells$found + 0.2) / (table$n_known[j] - 1 + 0.4)
  weight <- as.vector(view_times(view, per))[match(cells$row, cells$rows)] - cells$found * per[j]
  both <- companion_sums(table, cells$rows, per, n_threads)[cells$at]
  share <- both - cells$found * (per * table$sums)[j] + (mean - cells$found) * weight
  (share + mean) / (table$size[cells$row] - cells$found + 1)
}

# Chances of finds by logistic regression on columns of equal spread, with as little of a ridge as keeps them finite.
fitted_logistic <- function(design, found, weight, n_threads = 1L) {
  even <- equal_spread(design, n_threads)
  used <- c(TRUE, is.finite(even$spread))
  design <- if (all(used)) even$design else even$design[, used, drop = FALSE]
  penalty <- diag(c(0, rep(1e-3, ncol(design) - 1L)), ncol(design))
  fit <- logistic_regression(design, found, 0, penalty, weight, n_threads = n_threads)
  stats::plogis(as.vector(design[found, , drop = FALSE] %*% fit$beta))
}
