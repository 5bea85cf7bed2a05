# Tests also R/base_corrupt.R, R/base_ranking.R.

test_that("corrupt() plants what it says", {
  set.seed(1)
  x <- binary_matrix(200, 40, 0.3)
  planted <- corrupt(x, omit = c(0, 0.4))
  expect_identical(planted$x == 0 & x == 1, planted$omitted)
  expect_false(any(planted$added))
  expect_true(all(planted$rates$omit >= 0 & planted$rates$omit <= 0.4))
  share <- rowSums(planted$omitted) / pmax(rowSums(x), 1)
  expect_gt(cor(share, planted$rates$omit), 0.6)
  both <- corrupt(x, omit = 0.2, add = 0.1)
  expect_identical(both$x == 1 & x == 0, both$added)
  expect_identical(both$x == 0 & x == 1, both$omitted)
  expect_equal(mean(both$added[x == 0]), 0.1, tolerance = 0.1)
  expect_equal(mean(both$omitted[x == 1]), 0.2 * 0.9, tolerance = 0.1)
  given <- corrupt(x, add = rep(c(0, 1), 100))
  expect_true(all(given$x[c(FALSE, TRUE), ] == 1))
  expect_identical(given$x[c(TRUE, FALSE), ], x[c(TRUE, FALSE), ] + 0)
  cells <- corrupt(x, omit = c(0, 0.4), per = "cell")
  expect_true(all(is.na(cells$rates$omit)))
  x[1, 1] <- NA
  expect_identical(is.na(corrupt(x, add = 1)$x), is.na(x))
})

test_that("areas, precision and removal equal their definitions", {
  set.seed(2)
  truth <- matrix(runif(60) < 0.3, 6, 10)
  scores <- matrix(round(runif(60), 1), 6, 10)
  found <- recovery(scores, truth, n = c(5, 20))
  pairs <- outer(scores[truth], scores[!truth], function(a, b) (a > b) + (a == b) / 2)
  expect_equal(found$summary$auc, mean(pairs))
  within <- sapply(1:6, function(i) {
    mean(outer(scores[i, truth[i, ]], scores[i, !truth[i, ]], function(a, b) (a > b) + (a == b) / 2))
  })
  expect_equal(found$summary$auc_within, mean(within, na.rm = TRUE))
  expect_equal(found$summary$fp, mean(scores[!truth] > 0.5))
  expect_equal(found$summary$removal, 1 - (mean(scores[!truth] > 0.5) + mean(scores[truth] <= 0.5)) / 2)
  distinct <- matrix(sample(60), 6, 10) / 60
  found <- recovery(distinct, truth, n = c(5, 20))
  best <- order(-distinct)
  expect_equal(found$precision$precision, c(mean(truth[best[1:5]]), mean(truth[best[1:20]])))
  expect_equal(found$summary$ap, mean((cumsum(truth[best]) / 1:60)[truth[best]]))
  expect_equal(found$roc$true_positive[61], 1)
  perfect <- recovery(truth + 0, truth)
  expect_equal(c(perfect$summary$auc, perfect$summary$ap, perfect$summary$removal), c(1, 1, 1))
})

test_that("candidates are zeros for omissions and ones for additions; lost ones are counted", {
  set.seed(3)
  x <- binary_matrix(30, 10, 0.5)
  planted <- corrupt(x, omit = 0.3, add = 0.1)
  scores <- matrix(runif(300), 30)
  expect_equal(recovery(scores, planted)$summary$candidates, sum(planted$x == 0))
  expect_equal(recovery(scores, planted, "additions")$summary$changed, sum(planted$added))
  expect_equal(recovery(scores, planted)$summary$lost, mean(scores[planted$x == 1] < 0.5))
  expect_true(is.na(recovery(10 * scores, planted)$summary$slope))
})

test_that("calibrated scores have slope 1", {
  set.seed(4)
  p <- matrix(rbeta(2e4, 1, 3), 200)
  truth <- matrix(runif(2e4) < p, 200)
  line <- recovery(p, truth)$summary
  expect_equal(line$slope, 1, tolerance = 0.1)
  expect_equal(line$intercept, 0, tolerance = 0.1)
  expect_lt(recovery(plogis(2 * qlogis(p)), truth)$summary$slope, 0.6)
})

test_that("print, plot and messages", {
  x <- matrix(c(1, 0, 1, 0, 1, 1, 0, 0, 1), 3)
  planted <- structure(
    list(
      x = 0 * x, omitted = x == 1, added = x > 1, original = x,
      rates = data.frame(omit = c(1, 1, 1), add = c(0, 0, 0))
    ),
    class = "corruption"
  )
  scores <- matrix(seq(0.1, 0.9, 0.1), 3)
  expect_snapshot({
    print(planted)
    print(recovery(scores, planted, n = 3))
  })
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(recovery(scores, planted)))
  expect_snapshot(error = TRUE, {
    corrupt(x, omit = 2)
    corrupt(x, omit = c(0.4, 0.2))
    corrupt(x, add = c(0.1, 0.2, 0.3, 0.4))
    recovery(scores, x)
    recovery(scores, planted, "additions")
    recovery(scores + NA, planted)
  })
})

test_that("scores of cells are matched by name, and refused under names that the truth has not", {
  set.seed(1)
  planted <- corrupt(matrix(rep(0:1, c(12, 12)), 6, 4, dimnames = list(letters[1:6], LETTERS[1:4])), omit = 0.5)
  scores <- matrix(runif(24), 6, dimnames = dimnames(planted$x))
  expect_s3_class(recovery(scores, planted), "recovery")
  expect_s3_class(recovery(unname(scores), planted), "recovery")
  expect_identical(recovery(scores[6:1, 4:1], planted), recovery(scores, planted))
  rownames(scores)[2] <- "z"
  expect_error(recovery(scores, planted), "the data have no \"z\"", class = "multicause_input_error")
})

test_that("the calibration line is that of logistic regression, and unknown where scores do not differ", {
  set.seed(7)
  score <- rbeta(2000, 1, 9)
  hit <- runif(2000) < score^1.2
  fit <- suppressWarnings(stats::glm(hit ~ stats::qlogis(score), family = stats::binomial()))
  line <- calibration_line(score, hit)
  expect_equal(unname(line[1:2]), unname(stats::coef(fit)), tolerance = 1e-6)
  expect_equal(line[["slope_se"]], sqrt(stats::vcov(fit)[2L, 2L]), tolerance = 1e-3)
  expect_named(line, c("intercept", "slope", "slope_se"))
  for (alike in list(rep(0.3, 2000), 1e-13 * score, 0.3 * (1 + 4e-16 * (score > 0.1)), 0)) {
    unknown <- c(intercept = NA_real_, slope = NA_real_, slope_se = NA_real_)
    expect_identical(calibration_line(alike, hit[seq_along(alike)]), unknown)
  }
})

test_that("scores that are no probabilities have curves, and few candidates no precision", {
  set.seed(41)
  truth <- matrix(FALSE, 10, 6)
  truth[1:3] <- TRUE
  expect_s3_class(ggplot2::autoplot(recovery(matrix(runif(60) * 10, 10), truth)), "ggplot")
  few <- capture.output(print(recovery(matrix(c(0.3, 0.2), 1), matrix(c(TRUE, FALSE), 1))))
  expect_false(any(grepl("Precision of the first", few)))
})
