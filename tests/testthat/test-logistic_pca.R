start_lp <- function(n, m, k) {
  list(scores = matrix(rnorm(n * k), n, k), loadings = matrix(rnorm(k * m), k, m), intercept = rnorm(m))
}

test_that("iterations equal the ridge regressions, with and without missing cells", {
  set.seed(1)
  for (missing in c(0, 0.2)) {
    n <- if (missing) three_blocks() else 9
    x <- binary_matrix(n, 6, missing = missing)
    start <- start_lp(n, 6, 2)
    ref <- start
    for (iteration in 1:3) ref <- ref_lp_pass(x, ref$scores, ref$loadings, ref$intercept, 0.7)
    fit <- logistic_pca(x, 2, penalty = 0.7, start = start, control = plain_control(3))
    expect_equal(unname(fit$param$scores), ref$scores, tolerance = 1e-11)
    expect_equal(unname(fit$param$loadings), ref$loadings, tolerance = 1e-11)
    expect_equal(unname(fit$param$intercept), ref$intercept, tolerance = 1e-11)
    expect_equal(unname(fit$objective), ref$objective, tolerance = 1e-12)
    expect_equal(fit$loglik, ref$loglik, tolerance = 1e-12)
  }
})

test_that("the objective never falls, over many row blocks too", {
  set.seed(2)
  x <- binary_matrix(700, 60, missing = 0.1)
  for (accelerate in c(TRUE, FALSE)) {
    fit <- suppressWarnings(logistic_pca(
      x, 3, control = quiet_control(n_start = 2, accelerate = accelerate, max_iter = 60, screen = FALSE)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-9 * abs(fit$objective))
  }
})

test_that("the unique form is orthogonal, ordered, balanced, and leaves the probabilities alone", {
  set.seed(3)
  x <- binary_matrix(30, 12, missing = 0.1)
  fit <- logistic_pca(x, 3, penalty = 0.5, control = quiet_control(n_start = 2))
  u <- crossprod(fit$param$scores)
  v <- tcrossprod(fit$param$loadings)
  expect_lt(max(abs(u - v)), 1e-8)
  expect_lt(max(abs(u[upper.tri(u)])), 1e-8)
  expect_false(is.unsorted(rev(diag(u))))
  expect_lt(max(abs(colMeans(fit$param$scores))), 1e-10)
  expect_true(all(apply(fit$param$loadings, 1, function(row) row[which.max(abs(row))]) > 0))
  p <- fitted(fit)
  expect_equal(sum(log(ifelse(x == 1, p, 1 - p)), na.rm = TRUE), fit$loglik, tolerance = 1e-10)
  param <- list(scores = fit$param$scores %*% rbind(c(2, 1, 0), c(0, 1, 1), c(1, 0, 1)))
  param$loadings <- solve(rbind(c(2, 1, 0), c(0, 1, 1), c(1, 0, 1)), fit$param$loadings)
  param$scores <- param$scores + 1
  param$intercept <- fit$param$intercept - colSums(param$loadings)
  again <- lp_rotate(param)
  expect_equal(again$scores, unname(fit$param$scores), tolerance = 1e-7, ignore_attr = TRUE)
  expect_equal(again$loadings, unname(fit$param$loadings), tolerance = 1e-7, ignore_attr = TRUE)
})

test_that("the fit is a stationary point of the penalised likelihood", {
  set.seed(4)
  x <- binary_matrix(25, 8)
  fit <- logistic_pca(x, 2, penalty = 1, control = quiet_control(n_start = 2, tol = 1e-14, max_iter = 20000))
  slope <- x - fitted(fit)
  expect_lt(max(abs(slope %*% t(fit$param$loadings) - fit$param$scores)), 1e-4)
  expect_lt(max(abs(t(fit$param$scores) %*% slope - fit$param$loadings)), 1e-4)
  expect_lt(max(abs(colSums(slope))), 1e-4)
})

test_that("degenerate shapes are legal", {
  few <- quiet_control(n_start = 1)
  set.seed(5)
  x <- binary_matrix(8, 5)
  none <- logistic_pca(x, 0, control = quiet_control(n_start = 1, tol = 1e-12))
  expect_equal(unname(fitted(none)[1, ]), unname(colMeans(x)), tolerance = 1e-5)
  expect_s3_class(logLik(none), "logLik")
  # Intercepts of constant attributes have no finite maximum: the fit may report non-convergence.
  constant <- function(...) suppressWarnings(logistic_pca(...), classes = "multicause_not_converged")
  expect_message(constant(x[1, , drop = FALSE], 2, control = few), "smaller side")
  expect_message(logistic_pca(x[, 1, drop = FALSE], 2, control = few), "smaller side")
  expect_message(zero <- constant(0 * x, 2, control = few), "all of its cells are 0")
  expect_lt(max(fitted(zero)), 1e-3)
  expect_message(one <- constant(0 * x + 1, 2, control = few), "all of its cells are 1")
  expect_gt(min(fitted(one)), 1 - 1e-3)
  expect_message(
    constant(x, 7, penalty = 0, control = quiet_control(n_start = 1, max_iter = 50)), "reproduce the data"
  )
  gaps <- x
  gaps[3, ] <- NA
  gaps[, 2] <- NA
  fit <- suppressMessages(logistic_pca(gaps, 2, control = few))
  expect_lt(max(abs(fit$param$loadings[, 2])), 1e-12)
  expect_false(anyNA(fitted(fit)))
  expect_identical(unname(residuals(fit)[3, 1]), NA_real_)
})

test_that("threads and sparse storage change nothing", {
  set.seed(6)
  x <- binary_matrix(600, 80)
  fit <- function(data, threads) {
    set.seed(7)
    suppressWarnings(logistic_pca(data, 2, control = quiet_control(n_start = 1, max_iter = 20, n_threads = threads)))
  }
  one <- fit(x, 1)
  expect_identical(fit(x, 2)$param, one$param)
  expect_identical(fit(Matrix::Matrix(x, sparse = TRUE), 1)$param, one$param)
})

test_that("predict on the training data repeats the fit; rows do not depend on their company", {
  set.seed(8)
  x <- binary_matrix(20, 10, missing = 0.1)
  fit <- logistic_pca(x, 2, control = quiet_control(n_start = 2, tol = 1e-14, max_iter = 20000))
  expect_equal(predict(fit, x[, 10:1]), fitted(fit)[, 10:1], tolerance = 1e-4)
  alone <- predict(fit, x[3, , drop = FALSE], type = "scores")
  expect_equal(alone, predict(fit, x, type = "scores")[3, , drop = FALSE], tolerance = 1e-4)
  unknown <- predict(fit, matrix(NA_real_, 1, 10), type = "scores")
  expect_lt(max(abs(unknown)), 1e-12)
})

test_that("the likelihood agrees with logisticSVD where the ridge is out of play", {
  skip_if_not_installed("logisticPCA")
  set.seed(9)
  x <- unname(binary_matrix(20, 6))
  fit <- logistic_pca(x, 0, control = quiet_control(n_start = 1, tol = 1e-14))
  mean <- pmin(pmax(colMeans(x), 0), 1)
  expect_equal(fit$loglik, sum(log(ifelse(x == 1, mean[col(x)], 1 - mean[col(x)]))), tolerance = 1e-8)
  peer <- suppressWarnings(
    getExportedValue("logisticPCA", "logisticSVD")(x, k = 1, max_iters = 200, conv_criteria = 1e-4)
  )
  p <- fitted(peer, type = "response")
  free <- suppressWarnings(logistic_pca(x, 1, penalty = 0, control = quiet_control(n_start = 3, max_iter = 2000)))
  expect_gte(free$loglik, sum(log(ifelse(x == 1, p, 1 - p))) - 0.05)
})

test_that("messages", {
  set.seed(10)
  x <- binary_matrix(6, 4)
  fit <- logistic_pca(x, 1, control = quiet_control(n_start = 1))
  expect_snapshot(error = TRUE, {
    logistic_pca(x, 1, start = list(scores = 1))
    logistic_pca(x, 1, start = list(scores = matrix(0, 2, 1), loadings = matrix(0, 1, 4), intercept = numeric(4)))
  })
})

test_that("print", {
  set.seed(11)
  fit <- logistic_pca(binary_matrix(6, 4), 1, control = quiet_control(n_start = 1))
  expect_snapshot(print(fit), transform = hide_passes)
})

test_that("a fit without components prints no table of them", {
  fit <- suppressMessages(logistic_pca(matrix(rbinom(60, 1, 0.4), 12), 0))
  expect_no_warning(lines <- utils::capture.output(print(fit)))
  expect_length(grep("share", lines), 0L)
  expect_error(plot(fit, "top"), "no components to plot", class = "multicause_input_error")
})
