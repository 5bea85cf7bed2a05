test_that("degenerate shapes are fitted", {
  control <- fit_control(n_start = 2, max_iter = 50)
  shapes <- list(
    matrix(1, 1, 1), matrix(0, 1, 4), matrix(c(0, 1, 1, 0), 4, 1), matrix(0, 6, 3), matrix(1, 6, 3),
    cbind(1, 0, c(0, 1, NA, 1)), rbind(NA, c(1, 0, 1))
  )
  for (x in shapes) {
    for (inference in c("exact", "truncated", "variational")) {
      for (k in c(1, 3)) {
        for (estimate in c("ml", "map")) {
          fit <- quietly(noisy_or(x, k, inference = inference, estimate = estimate, control = control))
          expect_true(is.finite(fit$objective))
          expect_false(anyNA(unlist(fit$param)))
        }
      }
    }
  }
})

test_that("a row that only two sources together explain is possible", {
  start <- list(prior = c(0.3, 0.4), links = rbind(c(0.8, 0, 0), c(0, 0.7, 0)), leak = c(0, 0, 0))
  x <- rbind(c(1, 1, 0), c(0, 0, 0))
  for (inference in c("exact", "truncated")) {
    fit <- noisy_or(x, 2, inference = inference, estimate = "ml", start = start, control = nor_plain(0))
    expect_equal(fit$loglik, sum(ref_nor_loglik(x, start)))
  }
})

test_that("links and leaks of exact 0 and 1 are legal", {
  set.seed(13)
  p <- nor_problem(n = 12, m = 5, k = 2)
  links <- rbind(c(1, 0.5, 0, 0.2, 0.9), c(0.3, 1, 0.4, 0, 1))
  start <- list(prior = c(0.4, 0.3), links = links, leak = c(0.1, 0.2, 0, 0.3, 0.2))
  x <- p$x
  x[, 3] <- 0
  x[1, ] <- NA
  for (inference in c("exact", "truncated")) {
    fit <- quietly(noisy_or(x, 2, inference = inference, estimate = "ml", start = start, control = nor_plain(0)))
    want <- apply(ref_nor_joint(x, start), 1L, function(l) log(sum(exp(l))))
    expect_equal(fit$loglik, sum(want), tolerance = 1e-12)
  }
})

test_that("iterations before a source was dropped or absorbed are counted", {
  set.seed(17)
  x <- nor_problem(n = 30, m = 8, k = 3)$x
  control <- fit_control(n_start = 1, screen = FALSE, n_polish = 0, max_iter = 30, tol = 1e-15)
  expect_warning(fit <- noisy_or(x, 2, surplus = 1, control = control), "^Not converged after 41 iterations:")
  expect_identical(fit$trace$iteration, 41L)
  expect_identical(glance(fit)$iterations, 41L)
  expect_output(print(fit), "after 41 iterations, NOT converged", fixed = TRUE)
  control$tol <- 1e-4
  control$max_iter <- 5000
  fit <- noisy_or(x, 2, surplus = 1, control = control)
  expect_gt(fit$trace$iteration[1L], fit$starts$iterations)
  expect_identical(diff(fit$trace$iteration), rep(1L, nrow(fit$trace) - 1L))
  expect_warning(noisy_or(x, 2, control = fit_control(n_start = 1, max_iter = 1)), "^Not converged after 1 iteration:")
})

test_that("many sources run by truncated inference only", {
  set.seed(16)
  x <- matrix(stats::rbinom(100 * 40, 1, 0.1), 100)
  fit <- quietly(noisy_or(x, 70, control = fit_control(n_start = 1, max_iter = 5)))
  expect_equal(fit$inference, "truncated")
  expect_true(all(diff(fit$trace$objective) > -1e-8))
})

test_that("a source that is all but surely off leaves the shares of its ones finite", {
  x <- rbind(rep(c(1, 0), c(1, 39)), 1)
  start <- list(prior = 0.5, links = matrix(1 - 1e-8, 1, 40), leak = rep(0.1, 40), q = array(1, c(2, 40, 1)))
  control <- fit_control(max_iter = 3, tol = 0, accelerate = FALSE, progress = FALSE)
  fit <- quietly(noisy_or(x, 1, inference = "variational", estimate = "ml", start = start, control = control))
  expect_true(is.finite(fit$objective))
  expect_true(all(is.finite(fit$param$q[, , 1][x == 1])))
})

test_that("shares that fall to nothing do not send their links there", {
  set.seed(4)
  shapes <- matrix(rbinom(8 * 40, 1, 0.3), 8)
  on <- matrix(rbinom(300 * 8, 1, 0.15), 300)
  x <- matrix(rbinom(300 * 40, 1, 1 - 0.97 * exp(on %*% log(1 - 0.9 * shapes))), 300)
  start <- list(prior = rep(0.15, 8), links = 0.05 + 0.7 * shapes, leak = rep(0.05, 40))
  for (estimate in c("ml", "map")) {
    control <- fit_control(max_iter = 15, tol = 0, accelerate = FALSE, progress = FALSE)
    fit <- quietly(noisy_or(x, 8, inference = "variational", estimate = estimate, start = start, control = control))
    expect_gte(min(diff(fit$trace$objective)), -1e-8 * abs(fit$objective))
    expect_gt(min(fit$param$links[shapes == 1]), 0.5)
  }
})
