#' How well are missing presences found?
#'
#' Compares a result of [which_zeros()] with later surveys, or any scores of cells with presences that [corrupt()]
#' deleted (omissions) or added (additions). It measures whether the changed cells have the highest scores (ROC and
#' precision-recall curves; recall is the share of all changed cells that are at or above a rank), and whether scores
#' are right as probabilities (calibration). It also counts what is gained and lost if cells with a score above 0.5 are
#' corrected.
#' @details
#' The cells that are judged are the candidates. For omissions these are the zeros of the corrupted table: a high score
#' should mean "a presence is missing here". For additions these are its ones: a high score should mean "this presence
#' is not real". Some absences of the original table may be false themselves. They count as real absences, so the
#' measures are lower than they should be.
#'
#' `auc` is the probability that a cell that was changed has a higher score than one that was not (ties count half),
#' `ap` the average precision. `"pooled"` ranks all cells together; `"within"` ranks within each site that has both
#' kinds, and averages over those sites. Precision at n is the share of changed cells among the n highest scores.
#'
#' Calibration takes scores as probabilities (`NA` where they leave \[0, 1\]). Candidates are grouped by score into
#' tenths of \[0, 1\]. Each group has a mean score and a share of changed cells. `slope` and `intercept` are those of a
#' logistic regression of the truth on the log-odds of the score. 1 and 0 are ideal; a slope below 1 means that scores
#' are too extreme, above 1 too cautious. With a result of [which_zeros()] the score is `missed`, so calibration needs
#' two later surveys.
#'
#' The noise removal rate of Bingham et al. (2009) is 1 - (fp + fn) / 2 at a cut of 0.5. Here fp is the share of
#' unchanged cells that would be corrected, and fn the share of changed cells that would not. For omissions, `lost` is
#' the share of the table's presences whose own score is below 0.5, which the same rule would delete.
#'
#' @param scores n x m matrix of scores, one for every cell, such as `fitted(fit)`, with the names of
#'   `truth` where both have names; a sparse matrix is made dense. Or a fit, whose probabilities are taken. Or a model,
#'   such as `aspect_bernoulli` or any function of a table that returns a fit or such a matrix ([comparators]): it is
#'   fitted to the corrupted table. Or a result of [which_zeros()], which is compared with later surveys.
#' @param truth a result of [corrupt()]; or a logical n x m matrix, `TRUE` where the cell was changed, `NA` where it is
#'   no candidate. With a result of [which_zeros()]: a later table of the same sites, or an array of sites by taxa by
#'   surveys, as 0/1 or counts, `NA` where nothing was surveyed. Sites and taxa are matched by name; those that only one
#'   of the tables has are not compared.
#' @param of `"omissions"` or `"additions"`; not needed for a logical `truth`.
#' @param n numbers of cells for the precision, at least 1.
#' @param ... arguments of the model, such as `k`, if `scores` is one; else must be empty.
#' @return A list of class `recovery`: `summary`, a data frame with one row (`candidates`, `changed`, `auc`,
#'   `auc_within`, `auc_within_se`, `ap`, `ap_within`, `slope`, `intercept`, `removal`, `fp`, `fn`, `lost`);
#'   `precision`, a data frame with `n` and `precision`; `roc` (`false_positive`, `true_positive`), `pr` (`recall`,
#'   `precision`) and `calibration`, data frames to draw; `by_site`, AUC, average precision and numbers of each site.
#'   `calibration` has a row for each tenth of \[0, 1\] that holds a score: the mean score, `probability` (`score` is a
#'   copy of it), the `share` of changed cells, and the number of `cells`. The class has `print` and `plot` methods.
#'
#'   With a result of [which_zeros()] the list also has the class `which_zeros_later` and further elements: `later`,
#'   a data frame with the numbers of sites, taxa and surveys compared, of presences `gained` at zeros, and the AUCs
#'   beside those of the held-out presences; `curve`, the presences expected at these zeros from 1, 2, 4 and 8 more
#'   surveys, with 90 % intervals; `first`, the mean `missed` of the first 20 zeros and the share of them that was
#'   found.
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
#' # A survey against later ones. Misses are random here, so that the later AUC is not lower.
#' there <- outer(runif(60), runif(25), function(site, taxon) abs(site - taxon) < 0.2)
#' visits <- replicate(3, there * rbinom(1500, 1, 0.6))
#' recovery(which_zeros(visits[, , 1], quick = TRUE, seed = 1), visits[, , 2:3])
#' @export
recovery <- function(scores, truth, of = c("omissions", "additions"), n = c(10, 50, 100, 500), ...) {
  if (missing(scores)) stop_missing("scores")
  UseMethod("recovery")
}

#' @export
recovery.default <- function(scores, truth, of = c("omissions", "additions"), n = c(10, 50, 100, 500), ...) {
  of <- check_choice(of)
  n <- sort(check_counts(n, "n"))
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

# Returns a logical matrix, NA if a cell is no candidate.
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

#' @export
print.recovery <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  s <- x$summary
  show <- function(value) ifelse(is.na(value), "-", format(value, digits = digits))
  write_sentences(sprintf(
    "Recovery of %s among %s", count_words(s$changed, "changed cell"), count_words(s$candidates, "candidate")
  ))
  print_aligned(list(
    Ranking = c("  AUC", "  average precision"), `all cells` = c(show(s$auc), show(s$ap)),
    `within rows` = c(
      sprintf("%s (SE %s)", show(s$auc_within), format(s$auc_within_se, digits = 2L)), show(s$ap_within)
    )
  ), left = c(1L, 3L))
  known <- x$precision[!is.na(x$precision$precision), ]
  if (nrow(known)) write_sentences(sprintf(
    "Precision of the first %s.", paste(sprintf("%s: %s", vapply(known$n, format_big, ""), show(known$precision)),
      collapse = ", ")
  ))
  if (!is.na(s$slope)) cat(sprintf("Calibration: slope %s, intercept %s.\n", show(s$slope), show(s$intercept)))
  if (!is.na(s$removal)) {
    write_sentences(sprintf(
      "Threshold 0.5: noise removal rate %s (false positives %s, false negatives %s)%s.", show(s$removal), show(s$fp),
      show(s$fn),
      if (is.na(s$lost)) "" else sprintf(", presences lost %s", show(s$lost))
    ))
  }
  invisible(x)
}

#' @export
print.corruption <- function(x, ...) {
  ones <- sum(x$original == 1, na.rm = TRUE)
  cat(sprintf("Corrupted table: %s\n", table_words(dim(x$x), axis_words(x))))
  cat(sprintf(
    "Omitted: %s of %s presences; added: %s of %s absences\n", format_big(sum(x$omitted)), format_big(ones),
    format_big(sum(x$added)), format_big(sum(x$original == 0, na.rm = TRUE))
  ))
  invisible(x)
}
