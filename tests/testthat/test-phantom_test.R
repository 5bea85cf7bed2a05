quick_test <- function(x, k, nsim = 9) {
  control <- fit_control(n_start = 2, max_pass = 150, tol = 1e-6, n_polish = 0, screen = FALSE, progress = FALSE)
  fit <- suppressWarnings(suppressMessages(aspect_bernoulli(x, k, control = control)))
  phantom_test(fit, nsim, control = control)
}

test_that("a table with a phantom is told from one without", {
  set.seed(1)
  a <- rbind(rep(c(0.9, 0.1), 8), rep(c(0.2, 0.7), 8))
  s <- stats::runif(50)
  content <- cbind(s, 1 - s) %*% a
  with <- matrix(rbinom(800, 1, content * stats::runif(50, 0.05, 1)), 50)
  set.seed(2)
  found <- quick_test(with, 3)
  expect_equal(found$p_value, 0.1)
  expect_gt(found$statistic, max(found$null))
  expect_length(found$null, 9)
  without <- matrix(rbinom(800, 1, content), 50)
  set.seed(2)
  none <- quick_test(without, 3)
  expect_gt(none$p_value, 0.1)
  set.seed(2)
  expect_identical(quick_test(without, 3), none)
  expect_output(print(none), "p = ")
})

test_that("fits that cannot be tested are refused", {
  case <- small_fit()
  expect_error(phantom_test(case$fit, 0), class = "multicause_input_error")
  expect_error(phantom_test(small_fit(estimate = "map")$fit), "estimate", class = "multicause_input_error")
  expect_error(phantom_test(quiet(case$x, 1)), "at least 2", class = "multicause_input_error")
})
