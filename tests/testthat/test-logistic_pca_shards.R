# Logistic principal components of shards against those of the table.

scores_start <- function(x, k) {
  set.seed(4)
  list(
    scores = matrix(stats::rnorm(nrow(x) * k, sd = 0.5), nrow(x)),
    loadings = matrix(stats::rnorm(k * ncol(x), sd = 0.5), k), intercept = rep(-2, ncol(x))
  )
}

test_that("a fit of logistic components to shards is that of the table in memory from the same start", {
  for (missing in c(0, 60)) {
    x <- planted_table(missing = missing)
    x[5, ] <- NA
    shard <- suppressMessages(shards(x, tempfile(), size = 80))
    for (penalty in c(0.5, 4)) {
      for (accelerate in c(TRUE, FALSE)) {
        control <- fit_control(accelerate = accelerate, max_pass = 25, tol = 0)
        here <- suppressMessages(logistic_pca(x, 3, penalty = penalty, start = scores_start(x, 3), control = control))
        there <- logistic_pca(shard, 3, penalty = penalty, start = scores_start(x, 3), control = control)
        hold_to_memory(there, here)
        expect_equal(there$param, here$param[c("loadings", "intercept")], tolerance = 1e-6)
        expect_equal(predict(there, type = "scores"), here$param$scores, tolerance = 1e-6)
        expect_equal(predict(there, type = "link"), predict(here, type = "link"), tolerance = 1e-6)
      }
    }
  }
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  start <- scores_start(x, 3)
  control <- fit_control(max_pass = 20, tol = 0)
  here <- logistic_pca(x, 3, start = start, control = control)
  there <- logistic_pca(shards(x, tempfile(), size = 80), 3, start = start, control = control)
  hold_verbs(there, here, "scores")
  expect_equal(logLik(there), logLik(here), tolerance = 1e-6)
  expect_equal(predict(there, x[1:12, ]), predict(here, x[1:12, ]), tolerance = 1e-6)
})

test_that("without a start the fit has the unique form of one in memory", {
  x <- planted_table()
  fit <- function(x) {
    set.seed(1)
    logistic_pca(x, 2, control = fit_control(n_start = 3, max_pass = 3000, tol = 1e-10))
  }
  there <- fit(shards(x, tempfile(), size = 80))
  here <- fit(x)
  expect_gt(there$objective, here$objective - 0.01 * abs(here$objective))
  scores <- predict(there, type = "scores")
  same <- lp_rotate(list(scores = scores, loadings = there$param$loadings, intercept = there$param$intercept))
  expect_equal(unname(scores), unname(same$scores), tolerance = 1e-6)
  expect_equal(unname(there$param$loadings), unname(same$loadings), tolerance = 1e-6)
  expect_equal(unname(colMeans(scores)), c(0, 0), tolerance = 1e-6)
  observed <- which(!is.na(x))
  loglik <- sum(stats::dbinom(x[observed], 1, fitted(there)[observed], log = TRUE))
  expect_equal(there$loglik, loglik, tolerance = 1e-9)
  expect_equal(unname(there$objective), loglik - sum(scores^2) - sum(there$param$loadings^2), tolerance = 1e-9)
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    logistic_pca(shard, 2, penalty = "cv")
    logistic_pca(shard, 0)
    logistic_pca(shard, 2, start = list(loadings = matrix(0, 2, 3), intercept = rep(0, 40)))
  })
})

test_that("streaming and workers give the same bits, and a fit goes on from its checkpoint", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  hold_workers(x, function(shard, control) {
    logistic_pca(shard, 3, start = scores_start(x, 3), control = control)
  })
})
