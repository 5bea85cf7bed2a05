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
  # With complete separation by a column it terminates, with finite numbers.
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

test_that("the ridge regression is the one of glm() where nothing is drawn together", {
  set.seed(1)
  z <- cbind(a = rnorm(400), b = rnorm(400, sd = 3))
  offset <- rep(-1, 400)
  y <- rbinom(400, 1, plogis(-0.5 + z %*% c(0.8, 0.3)))
  data <- stack_bind(list(list(z = z, y = y, offset = offset)))
  mine <- ridge_logistic(data, 1:2, 0)
  more <- blind_presences / sum(y)
  shrunk <- (y + more * mean(y)) / (1 + more)
  glm <- stats::glm(shrunk ~ z, stats::quasibinomial(), weights = rep(1 + more, 400), offset = offset)
  expect_equal(mine$coefficients, unname(stats::coef(glm)), tolerance = 1e-3)
  expect_equal(unname(mine$covariance), unname(summary(glm)$cov.unscaled), tolerance = 1e-2)
  # A strong ridge: equal weights for columns of equal spread.
  strong <- ridge_logistic(data, 1:2, 1e8)$coefficients[-1L] * apply(z, 2L, stats::sd)
  expect_equal(strong[[1L]], strong[[2L]], tolerance = 1e-4)
})

test_that("few held-out presences that learners tell without error give no weights without end", {
  deleted <- rep(c(TRUE, FALSE), c(3, 40))
  copy <- list(
    odds = cbind(a = ifelse(deleted, 1, -1), b = ifelse(deleted, 2, -1), presences = 0, presences_squared = 0),
    deleted = deleted, fraction = 1, rate = 0.1
  )
  stack <- fit_stack(list(copy, copy))
  eta <- stack_odds(stack, copy$odds)
  expect_lt(eta[1L] - eta[43L], 8)
  line <- calibrate_probabilities(log_odds_bins(eta[!deleted]), eta[c(1:3, 1:3)], 30)
  expect_lt(line[2L] * (eta[1L] - eta[43L]), 12)
  # A first estimate also holds out a hundred presences, if the table has them.
  expect_identical(usual_copies(TRUE, 20), 10L)
  expect_identical(vapply(c(150, 400, 5000, 6e4), usual_copies, 0L, quick = TRUE), c(7L, 3L, 2L, 2L))
  # A full one holds out all of few presences, and a thousand of many.
  in_full <- vapply(c(100, 2000, 2001, 3000, 2e4, 6e4), usual_copies, 0L, quick = FALSE)
  expect_identical(in_full, c(6L, 6L, 5L, 4L, 3L, 2L))
  plan <- function(copies, quick = FALSE) list(copies = copies, quick = quick)
  expect_identical(parts_of_presences(plan(6L), 100), 6L)
  expect_identical(parts_of_presences(plan(2L), 100), 6L)
  expect_identical(parts_of_presences(plan(10L), 100), 10L)
  expect_identical(c(parts_of_presences(plan(2L, TRUE), 100), parts_of_presences(plan(3L), 2001)), c(10L, 10L))
})
