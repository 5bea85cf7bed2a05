# Measures how well scores rank the changed cells: AUC, average precision, calibration.

is_probability <- function(score) all(score >= 0 & score <= 1)

thin_curve <- function(curve, most = most_points) {
  size <- length(curve[[1L]])
  at <- unique(round(seq(1, size, length.out = min(size, most))))
  data.frame(lapply(curve, function(column) column[at]))
}

most_points <- 1000L

# Computes the ranking of hits in each of n rows and, last, over all: list(auc, se, ap), see src/num/ranking.h. Several
# scores, columns of a matrix, have a column each.
ranking <- function(score, hit, row = rep(1L, length(hit)), n = 1L, n_threads = 1L) {
  several <- is.matrix(score)
  if (!several) score <- matrix(as.double(score))
  told <- .Call(mc_c_ranking, unname(score), hit, row, n, as.double(n_threads))
  if (several) told else lapply(told, as.vector)
}

within_rows <- function(scores, changed) {
  n <- nrow(scores)
  at <- which(!is.na(changed))
  each <- ranking(scores[at], changed[at], (at - 1L) %% n + 1L, n)
  both <- !is.nan(each$auc[seq_len(n)])
  data.frame(
    site = if (is.null(rownames(changed))) seq_len(n) else rownames(changed),
    candidates = as.double(rowSums(!is.na(changed))), changed = as.double(rowSums(changed, na.rm = TRUE)),
    auc = ifelse(both, each$auc[seq_len(n)], NA), ap = ifelse(both, each$ap[seq_len(n)], NA), row.names = NULL
  )
}

# Curves from the result of descend_scores().
roc_curve <- function(steps) {
  hits <- steps$hits[length(steps$hits)]
  others <- steps$cells[length(steps$cells)] - hits
  at <- thin_curve(list(cells = c(0, steps$cells), hits = c(0, steps$hits)))
  data.frame(false_positive = (at$cells - at$hits) / others, true_positive = at$hits / hits)
}

# Points are the hits, of which the first are the top of the list. `each`: how many cells one non-hit stands for.
pr_curve <- function(steps, each = 1) {
  at <- which(diff(c(0, steps$hits)) > 0)
  hits <- steps$hits[at]
  others <- each * (steps$cells[at] - hits)
  thin_curve(list(recall = hits / hits[length(hits)], precision = hits / (hits + others)))
}

# Counts hits and candidates down to each distinct score, highest first; for columns of scores, a list.
descend_scores <- function(score, hit, n_threads = 1L) {
  several <- is.matrix(score)
  if (!several) score <- matrix(as.double(score))
  steps <- .Call(mc_c_descend, unname(score), hit, as.double(n_threads))
  if (several) steps else steps[[1L]]
}

# Expected share of hits among the n highest, with ties in random order.
precision_at <- function(steps, n) stats::approx(c(0, steps$cells), c(0, steps$hits), n)$y / n

removal_at_half <- function(score, hit) {
  if (!is_probability(score)) {
    return(c(fp = NA_real_, fn = NA_real_))
  }
  c(fp = mean(score[!hit] > 0.5), fn = mean(score[hit] <= 0.5))
}

# Computes, in each tenth of the probabilities from 0 to 1, the share of candidates changed, observed and predicted.
calibration_curve <- function(score, hit, probability = score) {
  if (!is_probability(score)) {
    return(data.frame(probability = numeric(), score = numeric(), share = numeric(), cells = integer()))
  }
  sums <- rowsum(cbind(probability, score, hit, 1), pmin(floor(10 * probability), 9))
  cells <- sums[, 4L]
  data.frame(
    probability = sums[, 1L] / cells, score = sums[, 2L] / cells, share = sums[, 3L] / cells, cells = as.integer(cells),
    row.names = NULL
  )
}

calibration_line <- function(score, hit) {
  unknown <- c(intercept = NA_real_, slope = NA_real_, slope_se = NA_real_)
  if (!is_probability(score)) {
    return(unknown)
  }
  odds <- stats::qlogis(pmin(pmax(score, 1e-12), 1 - 1e-12))
  spread <- stats::sd(odds)
  if (!isTRUE(spread > 1e-8)) {
    return(unknown)
  }
  centre <- mean(odds)
  fit <- logistic_regression(cbind(1, (odds - centre) / spread), hit)
  beta <- fit$beta
  covariance <- solve(fit$hessian + diag(1e-9, 2L))
  c(
    intercept = beta[1L] - beta[2L] * centre / spread, slope = beta[2L] / spread,
    slope_se = sqrt(covariance[2L, 2L]) / spread
  )
}

# Computes the measures of a ranking over the whole table and within its rows.
ranked_measures <- function(scores, changed) {
  candidate <- !is.na(changed)
  all <- ranking(scores[candidate], changed[candidate])
  list(auc = all$auc[2L], auc_within = mean(within_rows(scores, changed)$auc, na.rm = TRUE), ap = all$ap[2L])
}
