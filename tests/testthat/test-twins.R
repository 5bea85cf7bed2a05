# Printed numbers against their definitions in slow R. Those of recovery() are in test-recovery.R, kappa in
# test-neighbours_mean.R, ranks of one table in test-which_zeros.R.

skip_on_cran()

x <- simulated_sites$x[1:60, ]
x <- x[, colSums(x) > 0]

# Share of pairs of a hit and another cell in which the hit is above, ties counted half; DeLong's standard error.
ref_auc <- function(score, hit) {
  above <- outer(score[hit], score[!hit], function(a, b) (a > b) + (a == b) / 2)
  c(mean(above), sqrt(stats::var(rowMeans(above)) / nrow(above) + stats::var(colMeans(above)) / ncol(above)))
}

# Measures of each column of scores for one copy: AUC with its standard error, both within sites, average precision.
ref_judge <- function(copy, scores, n) {
  hit <- copy$deleted
  site <- (copy$at - 1) %% n + 1
  apply(scores, 2, function(score) {
    both <- Filter(function(i) any(hit[site == i]) && !all(hit[site == i]), unique(site))
    within <- vapply(both, function(i) ref_auc(score[site == i], hit[site == i])[1], 0)
    precision <- vapply(score[hit], function(s) mean(hit[score >= s]), 0)
    c(ref_auc(score, hit), mean(within), stats::sd(within) / sqrt(length(within)), mean(precision))
  })
}

test_that("the quality of a result is that of its copies, each with weights from the others", {
  judge <- judge_stack
  taken <- NULL
  bind_in_namespace("judge_stack", function(copies, stack, ...) {
    taken <<- list(copies = copies, stack = stack)
    judge(copies, stack, ...)
  })
  w <- which_zeros(x, age = 60:1, quick = TRUE, seed = 1)
  copies <- taken$copies
  scores <- lapply(seq_along(copies), function(i) {
    fit <- fit_stack(copies[-i], taken$stack)
    odds <- copies[[i]]$odds
    cbind(fit$intercept + odds %*% fit$weights, odds[, setdiff(colnames(odds), c("presences", "presences_squared"))])
  })
  each <- simplify2array(Map(ref_judge, copies, scores, nrow(x)))
  several <- length(copies)
  of_mean <- function(se) sqrt(rowSums(se^2)) / several
  want <- cbind(
    auc = rowMeans(each[1, , ]), auc_se = of_mean(each[2, , ]), auc_within = rowMeans(each[3, , ]),
    auc_within_se = of_mean(each[4, , ]), ap = rowMeans(each[5, , ]),
    ap_se = apply(each[5, , ], 1, stats::sd) / sqrt(several)
  )
  expect_equal(unname(as.matrix(w$quality[colnames(want)])), unname(want), tolerance = 1e-10)
  # Against the best simple rule: the mean difference over copies.
  simple <- match(simple_learners, rownames(w$quality))
  for (measure in 1:2) {
    values <- each[c(1, 3)[measure], , ]
    best <- simple[which.max(rowMeans(values[simple, ]))]
    gain <- values[1, ] - values[best, ]
    expect_equal(w$gain$rule[measure], rownames(w$quality)[best])
    expect_equal(w$gain$difference[measure], mean(gain))
    expect_equal(w$gain$se[measure], stats::sd(gain) / sqrt(several))
  }
  # Calibration: logistic regression of held-out presences on their log-odds.
  eta <- unlist(Map(function(copy, score) score[, 1] + log(copy$rate / copy$fraction), copies, scores))
  hit <- unlist(lapply(copies, `[[`, "deleted"))
  line <- stats::glm(hit ~ eta, family = stats::binomial())
  expect_equal(w$curve$summary$slope, stats::coef(line)[["eta"]], tolerance = 1e-5)
  expect_equal(w$curve$summary$slope_se, sqrt(stats::vcov(line)[2, 2]), tolerance = 1e-3)
  expect_equal(w$curve$summary$changed, sum(hit))
  # Means, and the share of held-out presences, by tenths of the probability of a record.
  probability <- stats::plogis(unlist(lapply(scores, function(score) score[, 1])))
  tenth <- pmin(floor(10 * probability), 9)
  mean_of <- function(values) as.vector(tapply(values, tenth, mean))
  expect_equal(w$curve$calibration$score, mean_of(stats::plogis(eta)))
  expect_equal(w$curve$calibration$share, mean_of(hit))
  expect_equal(w$curve$calibration$probability, mean_of(probability))
  expect_identical(w$curve$calibration$cells, as.vector(table(tenth)))
  # The printed numbers are these.
  shown <- gsub("\\s+", " ", paste(utils::capture.output(print(summary(w))), collapse = " "))
  expect_match(shown, sprintf("this result %.3f", want[1, "auc"]), fixed = TRUE)
  expect_match(shown, sprintf("%.3f", want[1, "auc_se"]), fixed = TRUE)
  expect_match(shown, sprintf("%.3f", want[1, "auc_within"]), fixed = TRUE)
  expect_match(shown, sprintf("%.2f", stats::coef(line)[["eta"]]), fixed = TRUE)
})

test_that("undetected presences of sites and taxa are sums over their zeros", {
  w <- which_zeros(x, age = 60:1, quick = TRUE, seed = 1)
  cells <- as.data.frame(w)
  for (by in c("site", "taxon")) {
    sums <- if (by == "site") by_site(w) else by_taxon(w)
    here <- factor(cells[[by]], sums[[by]])
    expect_equal(sums$missed, as.vector(tapply(cells$missed, here, sum, default = 0)))
    expect_equal(sums$zeros, as.vector(table(here)))
    found <- if (by == "site") rowSums(x) else colSums(x)
    expect_equal(sums$presences, as.vector(found[as.character(sums[[by]])]))
    expect_equal(sums$share, sums$missed / (sums$missed + sums$presences))
  }
  half <- rep(c("old", "young"), each = 30)
  both <- by_site(w, groups = half)
  each <- tapply(cells$missed, half[match(cells$site, rownames(x))], sum)
  expect_equal(both$missed, as.vector(each[both$group]))
})

test_that("the total by gaps extrapolates the share of gaps between the first and the last presence", {
  set.seed(2)
  table <- matrix(stats::rbinom(20 * 12, 1, rep(stats::runif(12, 0, 0.6), each = 20)), 20)
  table[, 1] <- 0 # no presence; one; the first and the last alone
  table[, 2] <- replace(numeric(20), 7, 1)
  table[, 3] <- replace(numeric(20), c(4, 9), 1)
  inside <- gaps <- 0
  for (j in seq_len(12)) {
    at <- which(table[, j] == 1)
    if (length(at) < 2) next
    between <- seq_len(20) > min(at) & seq_len(20) < max(at)
    inside <- inside + sum(table[between, j] == 1)
    gaps <- gaps + sum(table[between, j] == 0)
  }
  expect_identical(length(gaps_of_series(table, 20:1)), as.integer(gaps))
  expect_equal(total_by_gaps(table, gaps), sum(table) * gaps / inside)
})

test_that("each copy holds out a tenth of the presences at reference sites, and a tenth of the others", {
  set.seed(3)
  for (reference in list(seq_len(60) <= 20, seq_len(60) %% 3 == 0)) {
    deleted <- deal_presences(x, 10, reference)
    expect_identical(sort(unlist(deleted)), which(x == 1))
    at_reference <- vapply(deleted, function(at) sum(reference[row(x)[at]]), 0L)
    expect_lte(diff(range(at_reference)), 1L)
    expect_lte(diff(range(lengths(deleted) - at_reference)), 1L)
  }
})

test_that("draws of undetected presences have the variance of independent zeros", {
  case <- small_fit()
  kinds <- component_kinds(case$fit, NULL)
  draws <- rep(list(list(fit = case$fit, kinds = kinds)), 4000)
  cells <- false_absences(case$fit, n = Inf)
  for (by in c("site", "taxon")) {
    drawn <- missed_draws(draws, case$x, by)
    labels <- if (by == "site") rownames(case$x) else colnames(case$x)
    here <- factor(cells[[by]], labels)
    mean <- as.vector(tapply(cells$missed, here, sum, default = 0))
    variance <- as.vector(tapply(cells$missed * (1 - cells$missed), here, sum, default = 0))
    expect_lt(max(abs(rowMeans(drawn) - mean) - 4 * sqrt(variance / 4000)), 1e-12)
    expect_equal(apply(drawn, 1, stats::var), variance, tolerance = 0.1)
  }
})

test_that("the range of a zero combines those of its log-odds and of the total", {
  for (series in c(FALSE, TRUE)) {
    w <- which_zeros(x, age = 60:1, series = series, quick = TRUE, seed = 1)
    gaps <- if (series) range_through(x, 60:1) else 0 * x
    cells <- as.data.frame(w)
    want <- vapply(seq_len(nrow(cells)), function(cell) {
      i <- match(cells$site[cell], rownames(x))
      j <- match(cells$taxon[cell], colnames(x))
      if (gaps[i, j]) return(c(1, 1, 1))
      eta <- stats::qlogis(w$probability[i, j])
      at <- function(z, total) stats::plogis(0.8 * (eta + z * w$se[i, j]) + w$ratios$log[1L, total])
      missed <- at(0, 1)
      c(min(at(-1.645, 2), missed), missed, max(at(1.645, 3), missed))
    }, numeric(3))
    expect_equal(unname(as.matrix(cells[c("missed_low", "missed", "missed_high")])), t(want), tolerance = 1e-10)
  }
})

test_that("a loss is the mean over folds, and its standard error that of such a mean", {
  few <- fit_control(n_start = 1, max_iter = 30, progress = FALSE)
  set.seed(1)
  cv <- cross_validate(x[1:30, ], 1:3, bernoulli_mixture, folds = 4, replicates = 2, control = few)
  each <- split(cv$folds$loss, cv$folds$setting)
  expect_identical(unname(lengths(each)), rep(8L, 3))
  expect_equal(cv$results$loss, vapply(each, function(loss) sum(loss) / 8, 0), ignore_attr = TRUE)
  squares <- vapply(each, function(loss) sum((loss - sum(loss) / 8)^2), 0)
  expect_equal(cv$results$se, sqrt(squares / 7 / 8), ignore_attr = TRUE)
  shown <- paste(utils::capture.output(print(cv, digits = 5)), collapse = " ")
  for (value in cv$results$loss) expect_match(shown, format(signif(value, 5)), fixed = TRUE)
  for (value in cv$results$se) expect_match(shown, paste0(" ", format(signif(value, 2)), " "), fixed = TRUE)
})
