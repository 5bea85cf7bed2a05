skip_on_cran()

quick_test <- function(x, k, nsim = 9) {
  control <- fit_control(n_start = 2, max_iter = 150, tol = 1e-6, n_polish = 0, screen = FALSE, progress = FALSE)
  fit <- suppressWarnings(suppressMessages(aspect_bernoulli(x, k, estimate = "ml", control = control)))
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
  expect_output(print(none), "p = .*The level is approximate")
})

test_that("tables are drawn from the posterior itself, which is wider than its approximation", {
  set.seed(3)
  s <- stats::runif(30)
  x <- matrix(rbinom(360, 1, cbind(s, 1 - s) %*% matrix(stats::rbeta(24, 0.6, 0.9), 2)), 30)
  control <- fit_control(n_start = 2, max_iter = 300, tol = 1e-6, progress = FALSE)
  sampled <- sample_null(x, 2L, 5L, control, 40)
  expect_length(sampled$states, 40)
  drawn <- vapply(sampled$states, function(state) fitted(kept_draw(sampled$fit, state, NULL)), matrix(0, 30, 12))
  flat <- list(aspects = c(1, 1), membership = 1)
  approximate <- suppressWarnings(aspect_bernoulli(x, 2, estimate = "vb", prior = flat, control = control))
  approximate <- vapply(posterior_draws(approximate, 40), fitted, matrix(0, 30, 12))
  spread <- function(p) mean(apply(p, 1:2, stats::sd))
  expect_gt(spread(drawn), 1.15 * spread(approximate)) # 1.3 to 1.4 for other tables
  one <- sample_null(x, 1L, 5L, control, 3)
  expect_equal(one$states[[1]]$membership, matrix(1, 30, 1), ignore_attr = TRUE)
  expect_length(sample_null(x, 1L, 5L, control, 2000)$states, 1000)
})

test_that("fits that cannot be tested are refused", {
  case <- small_fit()
  expect_error(phantom_test(case$fit, 0), class = "multicause_input_error")
  expect_error(phantom_test(small_fit(estimate = "map")$fit), "estimate", class = "multicause_input_error")
  expect_error(phantom_test(quiet(case$x, 1)), "at least 2", class = "multicause_input_error")
})

test_that("any number of tables may be asked for: none is laid out before its turn, and an interrupt is heard", {
  skip_on_os("windows")
  control <- fit_control(
    n_start = 1, max_iter = 20, tol = 1e-3, n_polish = 0, screen = FALSE, progress = FALSE, on_interrupt = "keep"
  )
  set.seed(1)
  fit <- quiet(matrix(stats::rbinom(200, 1, 0.5), 20), 2)
  gc(reset = TRUE)
  before <- sum(gc()[, 6L])
  send_interrupt(4, tempfile())
  expect_warning(
    found <- phantom_test(fit, .Machine$integer.max, control = control), "of 2147483647 tables are kept",
    class = "multicause_interrupted"
  )
  expect_gt(found$nsim, 0)
  expect_lt(sum(gc()[, 6L]) - before, 300) # megabytes
})

test_that("tables drawn in batches are as many as asked for, and failures have their own numbers", {
  bind_in_namespace("null_statistic", function(seed, ...) if (seed[1L] %% 7 == 0) stop("seven") else seed[2L])
  set.seed(1)
  seeds <- c(draw_seeds(4), draw_seeds(4), draw_seeds(4), draw_seeds(4), draw_seeds(2), draw_seeds(2))
  first <- c(seeds[1:4], seeds[9:12], seeds[17:18])
  second <- c(seeds[5:8], seeds[13:16], seeds[19:20])
  bad <- which(first %% 7 == 0)
  set.seed(1)
  said <- character()
  drawn <- withCallingHandlers(null_statistics(10L, NULL, fit_control(), batch = 4L), warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_identical(drawn, second[setdiff(1:10, bad)])
  expect_match(paste(said, collapse = " "), paste(sprintf("table %d: seven", bad), collapse = ".*"))
})
