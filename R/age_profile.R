#' When did the taxa of each component live?
#'
#' Describes each content component (one that is not a phantom) by the ages of its taxa, weighted by the component's
#' probabilities: quantiles for box plots, and a test for every pair of components of whether their ages differ.
#' Components that follow time have narrow, separate boxes.
#'
#' @details
#' **Ages of taxa.** Given ages of the sites, the age of a taxon is the mean age of the sites it occurs in. Ages that
#' are `NA` are left out, and so are taxa without one; a message reports how many. Phantoms are left out: they have no
#' age. So are *empty* components, which a fit with a large `k` and a prior or neighbours may have: those that made less
#' than one cell of every site, and less than 1 % of the table, not counting the share that the prior gives to each.
#' Where all are empty, all stay.
#'
#' **Box plots.** Taxon \eqn{j} enters component \eqn{c} with weight \eqn{a_{cj}}{a[c,j]}. A weighted quantile is the
#' age at which the running weight, in order of age, reaches its share of the total, the mean of two neighbouring ages
#' where it falls between them (`quantile(type = 2)` for equal weights). Whiskers end at the 5 % and 95 % quantiles,
#' since most taxa have some tiny weight in every component.
#'
#' **Tests.** The paper tests pairs of these weighted distributions by Wilcoxon's rank sum test without saying how
#' weights enter. Here the statistic is the difference between the two components' weighted mean ranks,
#' \eqn{\sum_j (w_j - v_j) R_j}{sum_j (w[j] - v[j]) R[j]}, with \eqn{R} the mid-ranks of the ages and the weights
#' \eqn{w}, \eqn{v} of the two components scaled to sum to 1. Under the hypothesis that age has nothing to do with the
#' two components every assignment of the ages to the taxa is equally likely; its mean is then 0 and its variance
#' \eqn{\sum (w_j - v_j)^2 \sum (R_j - \bar R)^2 / (m - 1)}{sum (w - v)^2 sum (R - mean(R))^2 / (m - 1)}, both exact,
#' and the p-value takes it as normal. Where each taxon belongs wholly to one of the two components this is Wilcoxon's
#' test (normal approximation, ties corrected, no continuity correction). A taxon both components share alike does not
#' count twice. Nothing is tested (`NA`) where there is only rounding error: between components whose weights
#' differ by less than 1e-8 in all, and where all ages are equal. Ages count as equal to 12 digits. A small p-value does
#' not prove that two components are distinct, because they were fitted to the same data.
#'
#' @param fit a fit of [aspect_bernoulli()].
#' @param age ages as [smooth_over()] takes them, the middle of bounds, in any unit: of the taxa or of the
#'   sites, matched by name where there are names, else in the order of the data.
#' @param of whose ages these are; `"guess"` decides by the names, or by the length.
#' @param ... must be empty.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where ages of sites are given and the fit was made with `keep_x = FALSE`.
#' @param draws,level for intervals of the medians, as in [by_site()].
#' @return `age_profile()`: a list of class `age_profile`:
#' \describe{
#'   \item{`aspects`}{data frame, a row for each content component: `component`, weighted `lower` (5 %), `q1`, `median`,
#'     `q3`, `upper` (95 %) and `mean` age, and `n_effective`, the number of taxa it rests on, (sum of weights)^2 / sum
#'     of squares; with draws `median_low` and `median_high`, the central `level` of the median over them.}
#'   \item{`tests`}{data frame, a row for each pair: `first`, `second`, `difference` of median ages (first - second),
#'     `statistic` (standardised, positive where the first is older in larger numbers), `p_value` (two-sided) and
#'     `p_adjusted` (Holm); the last three `NA` where there is nothing to test.}
#'   \item{`age`, `weights`}{the ages of the taxa used and the content components (components x taxa).}
#'   \item{`empty`}{names of the components left out as empty.}
#'   \item{`kind_of_age`, `k`}{whose ages were given; number of components, phantoms included.}
#' }
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' age <- sort(runif(40, 2, 20))
#' first <- runif(15, 2, 20)
#' x <- outer(age, first, function(a, f) (a < f + 2 & a > f - 2) * rbinom(600, 1, 0.6))
#' x <- x[rowSums(x) > 0, colSums(x) > 0]
#' fit <- aspect_bernoulli(x, k = 3)
#' profile <- age_profile(fit, age = seq(20, 2, length.out = nrow(x)), of = "site")
#' profile
#' plot(profile)
#' @export
age_profile <- function(fit, age, of = c("guess", "taxon", "site"), ..., draws = NULL, level = 0.9,
                        kinds = NULL, x = NULL) {
  check_dots(...)
  check_fit(fit)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  of <- check_choice(of)
  if (missing(age)) stop_input("`age` must be supplied: the ages of the taxa or of the sites.")
  unit <- unit_of_ages(age)
  age <- middle_ages(age)
  if (is.null(fit$param$aspects)) stop_no_phantoms(fit)
  kinds <- component_kinds(fit, kinds)
  if (!any(kinds == "content")) stop_input("`fit` must have a content component: all are phantoms.")
  of <- whose_age(age, of, fit)
  side <- if (of == "site") 1L else 2L
  age <- match_age(age, fit$names[[side]], fit$dims[[c("n", "m")[side]]], side_word(fit, of))
  if (!any(!is.na(age))) stop_input("`age` must hold ages: all are unknown.")
  if (of == "site") age <- taxon_age(fit, age, x)
  names(age) <- if (is.null(fit$names[[2L]])) seq_along(age) else fit$names[[2L]]
  dated <- !is.na(age)
  taxa <- axis_words(fit)[2L]
  if (sum(dated) < 2L) stop_input("`age` must hold an age for at least two %s, not %d.", taxa, sum(dated))
  if (!all(dated)) inform("%d of %d %s have no age and are left out.", sum(!dated), length(dated), taxa)
  content <- kinds == "content"
  used <- content & !empty_aspects(fit)
  if (!any(used)) used <- content
  weights <- fit$param$aspects[used, dated, drop = FALSE]
  out <- new_age_profile(age[dated], weights, of, fit$dims[["k"]], component_names(fit$dims[["k"]])[content & !used])
  attr(out, "words") <- axis_words(fit)
  attr(out, "unit") <- unit
  # Members of an average have different components, and so have their draws: no intervals unless requested.
  drawn <- own_draws(fit, if (is.null(draws) && inherits(fit, "multicause_ensemble")) 0 else draws)
  if (length(drawn)) out$aspects[c("median_low", "median_high")] <- median_ends(drawn, age[dated], used, dated, level)
  out
}

# Computes the interval of each aspect's weighted median age over draws.
median_ends <- function(draws, age, used, dated, level) {
  medians <- vapply(draws, function(draw) {
    if (nrow(draw$param$aspects) != length(used)) stop_input("`draws` must have the components of the fit.")
    apply(draw$param$aspects[used, dated, drop = FALSE], 1L, function(weight) weighted_quantile(age, weight, 0.5))
  }, numeric(sum(used)))
  medians <- matrix(medians, sum(used))
  lapply(c((1 - level) / 2, (1 + level) / 2), function(end) {
    apply(medians, 1L, stats::quantile, probs = end, names = FALSE, na.rm = TRUE)
  })
}

# Components with almost no expected cells. In an average of fits each component has only part of the weight.
empty_aspects <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    return(rep(FALSE, fit$dims[["k"]]))
  }
  written <- written_cells(fit)
  apply(written, 2L, max) < 1 & colSums(written) < 0.01 * sum(fit$margins$row_observed)
}

new_age_profile <- function(age, weights, of, k, empty = character()) {
  boxes <- lapply(seq_len(nrow(weights)), function(c) weighted_box(age, weights[c, ]))
  aspects <- data.frame(component = rownames(weights), do.call(rbind, boxes))
  structure(
    list(
      aspects = aspects, tests = age_tests(age, weights, aspects), age = age, weights = weights, empty = empty,
      kind_of_age = of, k = k
    ),
    class = c("age_profile", "multicause_result")
  )
}

weighted_box <- function(age, weight) {
  q <- weighted_quantile(age, weight, c(0.05, 0.25, 0.5, 0.75, 0.95))
  data.frame(
    lower = q[1L], q1 = q[2L], median = q[3L], q3 = q[4L], upper = q[5L],
    mean = sum(weight * age) / sum(weight), n_effective = sum(weight)^2 / sum(weight^2)
  )
}

# Returns the value at which the cumulative weight passes each share of the total; if it equals a share exactly, the
# midpoint to the next value.
weighted_quantile <- function(value, weight, share) {
  use <- weight > 0
  if (!any(use)) {
    return(rep(NA_real_, length(share)))
  }
  at <- order(value[use])
  value <- value[use][at]
  running <- cumsum(weight[use][at]) / sum(weight[use])
  vapply(share, function(q) {
    low <- which(running >= q - 1e-12)[1L]
    high <- which(running > q + 1e-12)[1L]
    mean(value[c(low, if (is.na(high)) length(value) else high)])
  }, 0)
}

# Aspects whose compositions differ by no more than this (of at most 2) count as equal: a test would see rounding only.
least_contrast <- 1e-8

age_tests <- function(age, weights, aspects) {
  k <- nrow(weights)
  if (k < 2L) {
    pairs <- matrix(0L, 2L, 0L)
  } else {
    pairs <- utils::combn(k, 2L)
  }
  share <- weights / rowSums(weights)
  rank <- rank(signif(age, 12L)) # means of the same ages may differ by rounding
  spread <- sum((rank - mean(rank))^2) / (length(rank) - 1)
  statistic <- vapply(seq_len(ncol(pairs)), function(i) {
    differ <- share[pairs[1L, i], ] - share[pairs[2L, i], ]
    if (spread == 0 || !isTRUE(sum(abs(differ)) >= least_contrast)) {
      return(NA_real_)
    }
    sum(differ * rank) / sqrt(sum(differ^2) * spread)
  }, 0)
  p_value <- 2 * stats::pnorm(-abs(statistic))
  data.frame(
    first = aspects$component[pairs[1L, ]], second = aspects$component[pairs[2L, ]],
    difference = aspects$median[pairs[1L, ]] - aspects$median[pairs[2L, ]], statistic = statistic,
    p_value = p_value, p_adjusted = stats::p.adjust(p_value, "holm")
  )
}

#' @export
print.age_profile <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  write_sentences(sprintf(
    "Ages of the components: %d %s%s, weighted by their probabilities", length(x$age), kept_words(x)[2L],
    if (x$kind_of_age == "site") sprintf(" (mean age of the %s they occur in)", kept_words(x)[1L]) else ""
  ))
  print_rows(round_columns(x$aspects, digits))
  if (length(x$empty)) cat(sprintf("Left out (empty): %s\n", show_names(x$empty, quoted = FALSE)))
  if (nrow(x$tests)) {
    cat("\nDifferences between components (weighted rank sum tests, Holm)\n")
    tests <- round_columns(x$tests, digits)
    for (column in c("p_value", "p_adjusted")) tests[[column]] <- format.pval(x$tests[[column]], digits, eps = 1e-4)
    print_rows(tests)
  }
  invisible(x)
}
