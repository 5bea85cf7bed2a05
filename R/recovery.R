#' How well are planted omissions or additions found?
#'
#' Compares scores of cells with the truth. Do high scores come first (ROC and precision-recall curves)? Are scores
#' right as chances (calibration)? What is gained and lost if cells are put right where the score is above 0.5?
#'
#' @details
#' For omissions the zeros of the corrupted table are judged: a high score should mean "a presence is missing here". For
#' additions its ones are: a high score should mean "this presence is not real". Some absences of the original table may
#' be false themselves. They count as true ones, so that the measures are lower than they should be.
#'
#' `auc` is the chance that a cell that was changed has a higher score than one that was not (ties count half), `ap` the
#' average precision. `"pooled"` ranks all cells together; `"within"` ranks within each site that has both
#' kinds, and averages over those sites. Precision at n is the share of changed cells among the n highest scores.
#'
#' Calibration takes scores as probabilities (`NA` where they leave \[0, 1\]). Candidates are put into ten groups of
#' equal size by score. Each group has a mean score and a share of changed cells. `slope` and `intercept` are those of a
#' logistic regression of the truth on the log-odds of the score. 1 and 0 are ideal; a slope below 1 means that scores
#' are too sure.
#'
#' The noise removal rate of Bingham et al. (2009) is 1 - (fp + fn) / 2 at a cut of 0.5. Here fp is the share of
#' unchanged candidates that would be turned, and fn the share of changed ones that would not. For omissions, `lost` is
#' the share of the table's presences whose own score is below 0.5. Such a rule would delete them.
#'
#' @param scores n x m matrix of scores, one for every cell, such as `fitted(fit)`, with the names of
#'   `truth` where both have names; a sparse matrix is made dense. Or a fit, whose chances are taken. Or a model, such
#'   as `aspect_bernoulli` or any function of a table that returns a fit or such a matrix ([comparators]): it is fitted
#'   to the corrupted table. Or a result of [which_zeros()], which is compared with later surveys.
#' @param truth a result of [corrupt()]; or a logical n x m matrix, `TRUE` where the cell was changed, `NA` where it is
#'   no candidate. With a result of [which_zeros()]: a later table of the same sites, or an array of sites by taxa by
#'   surveys, as 0/1 or counts, `NA` where nothing was surveyed. Sites and taxa are matched by name; those of one table
#'   alone are not compared.
#' @param of `"omissions"` or `"additions"`; not needed for a logical `truth`.
#' @param n numbers of cells for the precision, at least 1.
#' @param ... arguments of the model, such as `k`; else must be empty.
#' @return A list of class `recovery`: `summary`, a data frame with one row (`candidates`, `changed`, `auc`,
#'   `auc_within`, `auc_within_se`, `ap`, `ap_within`, `slope`, `intercept`, `removal`, `fp`, `fn`, `lost`);
#'   `precision`, a data frame with `n` and `precision`; `roc` (`false_positive`, `true_positive`), `pr` (`recall`,
#'   `precision`) and `calibration`, data frames to draw; `by_site`, AUC, average precision and numbers of each site.
#'   `calibration` has a row for each tenth of \[0, 1\] that holds a score: mean `chance` and `score`, here the same,
#'   the `share` of changed cells, and how many `cells` there are. It has `print` and `plot` methods.
#'
#'   With a result of [which_zeros()] it has class `which_zeros_later` before, and further elements: `later`, a data
#'   frame with the numbers of sites, taxa and surveys compared, presences `gained` at zeros, and AUCs beside those of
#'   the held-out presences; `curve`, the presences expected at these zeros by 1, 2, 4 and 8 more surveys, with 90 %
#'   intervals; `first`, the mean probability of the first 20 zeros and the share of them found.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78, section 3.6. \doi{10.1007/s10044-007-0096-4}
#' @seealso [corrupt()]
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6)) + 0
#' planted <- corrupt(present, omit = c(0, 0.4))
#' fit <- aspect_bernoulli(planted$x, k = 3)
#' found <- recovery(fitted(fit), planted)
#' found
#' plot(found)
#' recovery(bernoulli_mixture, planted, k = 2)$summary
#'
#' # A survey against later ones of the same sites
#' there <- outer(runif(60), runif(25), function(site, taxon) abs(site - taxon) < 0.2)
#' visits <- replicate(3, there * rbinom(1500, 1, 0.6))
#' recovery(which_zeros(visits[, , 1], quick = TRUE, seed = 1), visits[, , 2:3])
#' @export
recovery <- function(scores, truth, of = c("omissions", "additions"), n = c(10, 50, 100, 500), ...) {
  if (missing(scores)) stop_missing("scores")
  of <- check_choice(of)
  n <- sort(check_counts(n, "n"))
  if (inherits(scores, "which_zeros")) {
    check_dots(...)
    if (missing(truth)) stop_missing("truth")
    return(later_recovery(scores, truth, n))
  }
  changed <- check_truth(truth, of)
  if (is.function(scores)) {
    if (!inherits(truth, "corruption")) {
      stop_input("`truth` must be a result of corrupt() where `scores` is a model, which is fitted to its table.")
    }
    scores <- scores(truth$x, ...)
  } else {
    check_dots(...)
  }
  if (inherits(scores, "multicause")) scores <- presence_probability(scores)
  scores <- check_scores(scores, changed)
  candidate <- !is.na(changed)
  score <- scores[candidate]
  hit <- changed[candidate]
  if (!any(hit) || all(hit)) stop_input("`truth` must have changed and unchanged cells among its candidates.")
  each <- within_rows(scores, changed)
  all <- ranking(score, hit)
  steps <- descend_scores(score, hit)
  both <- !is.na(each$auc)
  cut <- removal_at_half(score, hit)
  ones <- if (inherits(truth, "corruption") && of == "omissions") scores[which(truth$x == 1)]
  line <- calibration_line(score, hit)
  structure(
    list(
      summary = data.frame(
        candidates = length(hit), changed = sum(hit), auc = all$auc[2L], auc_within = mean(each$auc[both]),
        auc_within_se = stats::sd(each$auc[both]) / sqrt(sum(both)), ap = all$ap[2L],
        ap_within = mean(each$ap[both]), slope = line[["slope"]], intercept = line[["intercept"]],
        removal = 1 - (cut[["fp"]] + cut[["fn"]]) / 2, fp = cut[["fp"]], fn = cut[["fn"]],
        lost = if (length(ones)) mean(ones < 0.5) else NA_real_
      ),
      precision = data.frame(n = n, precision = precision_at(steps, n)), roc = roc_curve(steps),
      pr = pr_curve(steps), calibration = calibration_curve(score, hit), by_site = each, of = of
    ),
    class = c("recovery", "multicause_result")
  )
}

# A logical matrix, NA where a cell is no candidate.
check_truth <- function(truth, of) {
  if (missing(truth)) stop_missing("truth")
  if (inherits(truth, "corruption")) {
    changed <- if (of == "omissions") truth$omitted else truth$added
    changed[is.na(truth$x) | truth$x != (of == "additions")] <- NA
    return(changed)
  }
  if (!is.matrix(truth) || !is.logical(truth)) {
    stop_input("`truth` must be a result of corrupt() or a logical matrix, not %s.", show_value(truth))
  }
  truth
}

check_scores <- function(scores, changed) {
  if (missing(scores)) stop_missing("scores")
  if (inherits(scores, "Matrix")) scores <- as.matrix(check_valid(scores, "scores"))
  scores <- by_names(scores, dimnames_of(changed), "scores")
  if (!is.numeric(scores) || !identical(dim(scores), dim(changed))) {
    stop_input("`scores` must be a numeric matrix of %d x %d, as `truth` is.", nrow(changed), ncol(changed))
  }
  bad <- which(is.na(scores) & !is.na(changed))
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(scores))
    stop_input("`scores` must have a number for every candidate: row %d, column %d has none.", at[1L], at[2L])
  }
  scores
}

# How well scores tell hits, of each of n rows and, last, of all: list(auc, se, ap), see src/num/ranking.h. Of several
# scores, columns of a matrix, a column each.
ranking <- function(score, hit, row = rep(1L, length(hit)), n = 1L, n_threads = 1L) {
  several <- is.matrix(score)
  if (!several) score <- matrix(as.double(score))
  told <- .Call(mc_c_ranking, unname(score), hit, row, n, as.double(n_threads))
  if (several) told else lapply(told, as.vector)
}

# Hits and candidates down to each distinct score, highest first; of several scores, columns of a matrix, a list.
descend_scores <- function(score, hit, n_threads = 1L) {
  several <- is.matrix(score)
  if (!several) score <- matrix(as.double(score))
  steps <- .Call(mc_c_descend, unname(score), hit, as.double(n_threads))
  if (several) steps else steps[[1L]]
}

# Expected share of hits among the n highest, ties drawn at random.
precision_at <- function(steps, n) stats::approx(c(0, steps$cells), c(0, steps$hits), n)$y / n

most_points <- 1000L

thin_curve <- function(curve, most = most_points) {
  size <- length(curve[[1L]])
  at <- unique(round(seq(1, size, length.out = min(size, most))))
  data.frame(lapply(curve, function(column) column[at]))
}

# Curves of what descend_scores() tells.
roc_curve <- function(steps) {
  hits <- steps$hits[length(steps$hits)]
  others <- steps$cells[length(steps$cells)] - hits
  at <- thin_curve(list(cells = c(0, steps$cells), hits = c(0, steps$hits)))
  data.frame(false_positive = (at$cells - at$hits) / others, true_positive = at$hits / hits)
}

# `each`: how many cells one that is no hit stands for.
pr_curve <- function(steps, each = 1) {
  hits <- steps$hits[length(steps$hits)]
  others <- each * (steps$cells - steps$hits)
  thin_curve(list(recall = steps$hits / hits, precision = steps$hits / (steps$hits + others)))
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

is_probability <- function(score) all(score >= 0 & score <= 1)

# Of the candidates in each tenth of the chances from 0 to 1, the share of changed cells, observed and by the scores.
calibration_curve <- function(score, hit, chance = score) {
  if (!is_probability(score)) {
    return(data.frame(chance = numeric(), score = numeric(), share = numeric(), cells = integer()))
  }
  sums <- rowsum(cbind(chance, score, hit, 1), pmin(floor(10 * chance), 9))
  cells <- sums[, 4L]
  data.frame(
    chance = sums[, 1L] / cells, score = sums[, 2L] / cells, share = sums[, 3L] / cells, cells = as.integer(cells),
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

removal_at_half <- function(score, hit) {
  if (!is_probability(score)) {
    return(c(fp = NA_real_, fn = NA_real_))
  }
  c(fp = mean(score[!hit] > 0.5), fn = mean(score[hit] <= 0.5))
}

#' @export
print.recovery <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  s <- x$summary
  show <- function(value) format(value, digits = digits)
  write_sentences(sprintf(
    "Recovery of %s among %s", count_words(s$changed, "changed cell"), count_words(s$candidates, "candidate")
  ))
  write_sentences(sprintf(
    "AUC %s (chance that a changed cell ranks above another), %s within its row (s.e. %s)", show(s$auc),
    show(s$auc_within), show(s$auc_within_se)
  ))
  write_sentences(sprintf(
    "Average precision %s, %s within a row (share of changed cells among those ranked first)", show(s$ap),
    show(s$ap_within)
  ))
  known <- x$precision[!is.na(x$precision$precision), ]
  write_sentences(sprintf("Precision at %s", paste(sprintf("%d: %s", known$n, show(known$precision)), collapse = ", ")))
  if (!is.na(s$slope)) cat(sprintf("Calibration: slope %s, intercept %s\n", show(s$slope), show(s$intercept)))
  if (!is.na(s$removal)) {
    write_sentences(sprintf(
      "At 0.5: noise removal rate %s (false positives %s, false negatives %s)%s", show(s$removal), show(s$fp),
      show(s$fn),
      if (is.na(s$lost)) "" else sprintf(", presences lost %s", show(s$lost))
    ))
  }
  invisible(x)
}

#' Plant omissions and additions at known rates
#'
#' Deletes presences from a 0/1 table at random, and adds others. It remembers which: this is the truth for
#' [recovery()].
#'
#' @details
#' A presence is deleted with the probability that `omit` gives. Then every cell is set to 1 with the probability that
#' `add` gives. Where a 1 stands already nothing changes, so the share of new ones is a little smaller (as in Bingham et
#' al. 2009). A deleted presence may be added back; it then counts as neither.
#'
#' Of a range of two numbers, rates are drawn uniformly. With `per = "site"` (the paper's way) every site
#' has a rate of its own. With `"cell"` every cell has one, which is the same as the mean rate everywhere. A single
#' number is the rate itself. A vector with a number for every site gives each its rate.
#'
#' @param x a complete or incomplete 0/1 table, as [aspect_bernoulli()] takes it. Unknown cells stay unknown.
#' @param omit,add rates within \[0, 1\]: one number, a range of two, or one for each of the n sites; 0 plants
#'   none. (For a table of two sites a pair is read as a range.)
#' @param per who has a rate of its own where a range is given.
#' @param ... must be empty.
#' @return A list of class `corruption`: `x`, the corrupted table; `omitted` and `added`, logical n x m matrices, true
#'   where a presence was deleted or an absence turned into a presence; `original`, the table given; `rates`, a data
#'   frame with the rates `omit` and `add` of each site (`NA` where every cell has its own).
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78, section 3.6. \doi{10.1007/s10044-007-0096-4}
#' @seealso [recovery()]
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.4), 20, 10)
#' planted <- corrupt(x, omit = c(0, 0.4))
#' planted
#' fit <- aspect_bernoulli(planted$x, k = 2)
#' recovery(fitted(fit), planted)
#' @export
corrupt <- function(x, omit = 0, add = 0, per = c("site", "cell"), ...) {
  check_dots(...)
  per <- check_choice(per)
  data <- check_data(x, "binary", quiet = TRUE)
  original <- as.matrix(data$x) + 0
  n <- nrow(original)
  omit <- draw_rates(omit, "omit", original, per)
  add <- draw_rates(add, "add", original, per)
  deleted <- original == 1 & matrix(stats::runif(length(original)), n) < omit
  deleted[is.na(deleted)] <- FALSE
  out <- original
  out[deleted] <- 0
  raised <- !is.na(out) & matrix(stats::runif(length(original)), n) < add
  out[raised] <- 1
  structure(
    list(
      x = out, omitted = deleted & !raised, added = raised & !is.na(original) & original == 0, original = original,
      rates = data.frame(omit = shared_rate(omit), add = shared_rate(add), row.names = rownames(original))
    ),
    class = "corruption"
  )
}

# A matrix of rates, of the shape of x.
draw_rates <- function(rate, name, x, per) {
  n <- nrow(x)
  m <- ncol(x)
  rate <- by_name_unless_range(rate, rownames(x), name)
  ok <- is.numeric(rate) && !anyNA(rate) && all(rate >= 0 & rate <= 1) && length(rate) %in% c(1L, 2L, n)
  if (!ok) {
    stop_input(
      "`%s` must be one rate, a range of two or one rate for each of the %d rows, within 0 and 1, not %s.", name, n,
      show_value(rate)
    )
  }
  if (length(rate) != 2L) {
    return(matrix(rate, n, m))
  }
  if (rate[1L] > rate[2L]) {
    stop_input("`%s` must rise where it is a range, not fall from %s to %s.", name, rate[1L], rate[2L])
  }
  draws <- stats::runif(if (per == "site") n else as.double(n) * m, rate[1L], rate[2L])
  matrix(draws, n, m)
}

shared_rate <- function(rates) if (all(rates == rates[, 1L])) rates[, 1L] else NA_real_

#' @export
print.corruption <- function(x, ...) {
  ones <- sum(x$original == 1, na.rm = TRUE)
  cat(sprintf("Corrupted table: %s\n", table_words(dim(x$x), axis_words(x))))
  cat(sprintf(
    "%d of %d presences omitted, %d of %d absences turned into presences\n", sum(x$omitted), ones, sum(x$added),
    sum(x$original == 0, na.rm = TRUE)
  ))
  invisible(x)
}
