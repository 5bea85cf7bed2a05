# Predictability of presences: probabilities of presences and zeros alike, each from the rest of the table, never from
# the cell itself.

# What the regression takes: sites with so many presences, and so many of their zeros, both evenly spaced. kappa then
# moved by .0023 at most (bench/which_zeros_time.md).
most_fair <- c(presences = 2e4, zeros = 1e5)

# A taxon found at nearly every site has no more to be found: its presences, all well predicted, would mask poor
# predictions of the others.
everywhere <- 0.95
found_nearly_everywhere <- function(sums, n_known) sums >= everywhere * pmax(n_known, 1)

# Computes the predictability: list(kappa, the mean probability of a presence given the rest of the table; presences,
# their number), both without taxa found nearly everywhere. A logistic regression over all known cells combines means
# over other sites, weighted by similarity and by distance, companions, and the numbers of presences of taxon and site.
# For a presence, each is computed as if the presence were held out.
#   near    a smooth_over() with bandwidths, or NULL
predictability <- function(x, near, n_threads = 1) {
  table <- nbm_table(x)
  counted <- !found_nearly_everywhere(table$sums, table$n_known)
  share <- most_fair[["presences"]] / max(1, sum(table$sums))
  rows <- spaced(seq_len(nrow(x)), max(1, share * nrow(x)))
  found <- as.matrix(some_rows(table$found, rows))
  known <- !is.na(as.matrix(some_rows(x, rows)))
  presences <- which(known & found == 1)
  zeros <- which(known & found == 0)
  at <- c(presences, spaced(zeros, most_fair[["zeros"]]))
  design <- do.call(cbind, fair_scores(table, near, n_threads, rows, at))
  found <- rep(c(TRUE, FALSE), c(length(presences), length(at) - length(presences)))
  probability <- fitted_logistic(design, found, ifelse(found, 1, length(zeros) / sum(!found)), n_threads)
  mean <- mean(probability[counted[(presences - 1L) %/% length(rows) + 1L]])
  list(kappa = if (is.nan(mean)) 1 else mean, presences = sum(table$sums[counted]))
}

# Computes the scores as vectors over the cells `at` of some rows.
fair_scores <- function(table, near, n_threads = 1, rows = seq_along(table$size),
                        at = seq_len(length(rows) * length(table$sums))) {
  place <- as.double(at)
  odds <- function(p) score_odds(p, place, n_threads = n_threads)
  mean_by <- function(near, similarity) odds(nbm_rows(near, similarity, table, rows, n_threads))
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

# Returns for the cells `at` of some rows: row (of all), column and whether each is a presence, 0 or 1.
fair_cells <- function(table, rows = seq_along(table$size), at = seq_len(length(rows) * length(table$sums))) {
  i <- (at - 1L) %% length(rows) + 1L
  found <- as.matrix(some_rows(table$found, rows))[at]
  list(rows = rows, at = at, row = rows[i], column = (at - 1L) %/% length(rows) + 1L, found = found)
}

spaced <- function(at, most) if (length(at) <= most) at else at[round(seq(1, length(at), length.out = most))]

# Computes logs of the numbers of other presences of taxon and site, and their squares. If no site is empty, one other
# presence is the least: a site without any would reveal that the cell is a presence.
fair_margins <- function(table, cells) {
  taxon <- log(table$sums[cells$column] - cells$found + 0.5)
  others <- table$size[cells$row] - cells$found
  site <- log((if (any(table$size == 0)) others else pmax(others, 1)) + 0.5)
  list(taxon, taxon^2, site, site^2)
}

# Computes Beals' mean over the other presences of a site of the share of other sites with that presence which have the
# taxon; one site is added to each share, and to the mean one presence with the taxon's mean elsewhere. Vectors over
# cells from fair_cells().
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

# Computes probabilities of presences by logistic regression on columns of equal spread, with the smallest ridge that
# keeps them finite.
fitted_logistic <- function(design, found, weight, n_threads = 1L) {
  even <- equal_spread(design, n_threads)
  used <- c(TRUE, is.finite(even$spread))
  design <- if (all(used)) even$design else even$design[, used, drop = FALSE]
  penalty <- diag(c(0, rep(1e-3, ncol(design) - 1L)), ncol(design))
  fit <- logistic_regression(design, found, 0, penalty, weight, n_threads = n_threads)
  stats::plogis(as.vector(design[found, , drop = FALSE] %*% fit$beta))
}

most_repeated <- 0.25 # in 178 tables of surveys at most .22 (bench/how_many.md)

# Computes the share of sites with five presences or more (at least twenty such) with exactly the taxa of another site,
# minus that share if presences were independent given the totals of sites and taxa. Sites entered twice predict each
# other, so that the table seems nearly complete. NA if there are too few such sites.
repeated_share <- function(x) {
  found <- as.matrix(found_table(x)) == 1
  found <- found[rowSums(found) >= 5, , drop = FALSE]
  if (nrow(found) < 20L) {
    return(NA_real_)
  }
  share <- function(found) {
    lists <- apply(found, 1L, function(row) paste(which(row), collapse = " "))
    mean(duplicated(lists) | duplicated(lists, fromLast = TRUE))
  }
  own <- share(found)
  # The draws can only reduce it.
  if (own <= most_repeated) own else own - with_seed(1L, share(independent_rows(found)))
}

# Draws as many rows with as many presences each, from logit P = a[sum of the row] + b[j] with the observed sums of rows
# and columns. Rows with equal sums are drawn together.
independent_rows <- function(found, iterations = 30L, tries = 100L) {
  wanted <- rowSums(found)
  of <- sort(unique(wanted))
  many <- tabulate(match(wanted, of))
  of_column <- colSums(found)
  a <- numeric(length(of))
  b <- stats::qlogis((of_column + 0.5) / (nrow(found) + 1))
  probability <- function() stats::plogis(outer(a, b, "+"))
  for (iteration in seq_len(iterations)) {
    p <- probability()
    a <- a + (pmin(of, ncol(found) - 0.5) - rowSums(p)) / pmax(rowSums(p * (1 - p)), 0.5)
    p <- probability()
    b <- b + (pmin(of_column, nrow(found) - 0.5) - colSums(many * p)) / pmax(colSums(many * p * (1 - p)), 0.5)
  }
  p <- probability()
  do.call(rbind, lapply(seq_along(of), function(i) rows_of_sum(p[i, ], of[i], many[i], tries * many[i])))
}

# Draws rows from independent presences until `many` have the sum, or `tries` rows are drawn; what then lacks is of any
# sum.
rows_of_sum <- function(p, sum, many, tries) {
  kept <- matrix(FALSE, 0L, length(p))
  while (nrow(kept) < many) {
    at_once <- as.integer(min(10 * (many - nrow(kept)) + 10, ceiling(1e6 / length(p)))) # some 12 MB
    drawn <- matrix(stats::runif(at_once * length(p)) < rep(p, each = at_once), at_once)
    tries <- tries - at_once
    kept <- rbind(kept, if (tries > 0) drawn[rowSums(drawn) == sum, , drop = FALSE] else drawn)
  }
  kept[seq_len(many), , drop = FALSE]
}

warn_repeated <- function(x) {
  if (length(x) > most_kept) {
    return(invisible())
  }
  share <- repeated_share(x)
  if (isTRUE(share > most_repeated)) {
    message <- sprintf(
      paste(
        "%.0f %% of the sites with five presences or more repeat the list of another site beyond chance. If sites were",
        "entered twice, they predict each other and too few presences are expected: leave the copies out."
      ), 100 * share
    )
    warning(warningCondition(message, class = "multicause_repeated_sites"))
  }
}
