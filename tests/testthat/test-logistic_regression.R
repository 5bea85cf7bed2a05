test_that("the logistic regression is that of its equations, from any start", {
  set.seed(4)
  n <- 700 # two strips and a part of one
  design <- cbind(1, matrix(rnorm(3 * n), n))
  weight <- runif(n, 0.5, 3)
  offset <- rnorm(n)
  y <- rbinom(n, 1, plogis(offset + design %*% c(-1, 2, 0, -0.5)))
  penalty <- diag(c(0, 1, 5, 2))
  penalty[2, 3] <- penalty[3, 2] <- -1
  want <- ref_logistic_regression(design, y, offset, penalty, weight = weight)
  have <- logistic_regression(design, y, offset, penalty, weight)
  expect_equal(have$beta, want$beta, tolerance = 1e-9)
  far <- logistic_regression(design, y, offset, penalty, weight, start = c(3, -6, 4, 9))
  expect_equal(far$beta, want$beta, tolerance = 1e-6)
  p <- plogis(as.vector(design %*% have$beta) + offset)
  expect_equal(have$hessian, crossprod(design, design * (weight * p * (1 - p))) + penalty, tolerance = 1e-12)
  expect_lt(max(abs(crossprod(design, weight * (y - p)) - penalty %*% have$beta)), 1e-3)
  # Where a column tells all hits, it ends, with finite numbers.
  sure <- logistic_regression(design, as.double(design[, 2] > 0))
  expect_true(all(is.finite(sure$beta)))
  expect_gt(sure$beta[2L], 10)
})

test_that("the logistic regression does not depend on the number of threads", {
  set.seed(5)
  n <- 9000 # more than sixteen strips
  design <- cbind(1, matrix(rnorm(4 * n), n))
  y <- rbinom(n, 1, plogis(design %*% c(-2, 1, 0, 0.5, -1)))
  one <- logistic_regression(design, y)
  expect_identical(logistic_regression(design, y, n_threads = 2), one)
  expect_equal(one$beta, unname(stats::coef(stats::glm.fit(design, y, family = stats::binomial()))), tolerance = 1e-6)
})
