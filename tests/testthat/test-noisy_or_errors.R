test_that("wrong calls are refused with a clear message", {
  planted <- nor_planted(20, 1)
  x <- planted$x
  start <- list(prior = c(0.2, 0.3), links = matrix(0.3, 2, 12), leak = rep(0.1, 12))
  change <- function(...) utils::modifyList(start, list(...))
  count <- x
  count[2, 3] <- 2
  old <- options(multicause.quiet = TRUE) # equal rows and columns, told before many an error
  on.exit(options(old))
  expect_snapshot(error = TRUE, {
    noisy_or(count, 2)
    noisy_or("a", 2)
    noisy_or(x, 0)
    noisy_or(x, 2.5)
    noisy_or(x, 17, inference = "exact")
    noisy_or(x, 2, inference = "gibbs")
    noisy_or(x, 2, 3)
    noisy_or(x, 2, prioor = NULL)
    noisy_or(x, 2, prior = 1)
    noisy_or(x, 2, prior = list(links = c(0.5, 1)))
    noisy_or(x, 2, prior = list(link = c(1, 1)))
    noisy_or_prior(leak = 1)
    noisy_or(x, 2, inner = 0)
    noisy_or(x, 2, q_rule = "full")
    noisy_or(x, 2, mask = matrix(1, 3, 12))
    noisy_or(x, 2, mask = matrix(0.5, 2, 12))
    noisy_or(x, 2, surplus = -1)
    noisy_or(x, 2, surplus = 1, mask = matrix(1, 2, 12))
    noisy_or(x, 2, start = 1)
    noisy_or(x, 2, start = start[-1])
    noisy_or(x, 2, start = change(prior = c(0.2, 1.2)))
    noisy_or(x, 2, start = change(leak = 0.1))
    noisy_or(x, 2, start = change(links = matrix(-0.1, 2, 12)))
    noisy_or(x, 2, start = change(theta = 1))
    noisy_or(x, 2, start = change(q = 1))
    noisy_or(x, 2, inference = "variational", start = change(q = 1))
    noisy_or(x, 2, inference = "variational", start = change(q = array(1, c(20, 12, 2))))
    noisy_or(x, 2, mask = matrix(0:1, 2, 12), start = start)
    noisy_or(x, 2, estimate = "ml", start = change(links = matrix(0, 2, 12), leak = numeric(12)))
    noisy_or(x, 2, control = list())
  })
})

test_that("wrong questions to a fit are refused with a clear message", {
  planted <- nor_planted(20, 1)
  fit <- quietly(noisy_or(planted$x, 2, control = fit_control(n_start = 1, max_iter = 5, keep_x = FALSE)))
  x <- planted$x
  expect_snapshot(error = TRUE, {
    predict(fit, type = "membership")
    predict(fit, type = "map")
    predict(fit, x[, -1])
    predict(fit, x + 1)
    predict(fit, rows = 21)
    predict(fit, rows = "nowhere")
    fitted(fit)
    impute(fit)
    impute(fit, x, type = "mean")
    test_loglik(fit)
    test_loglik(fit, x, floor = 1)
    test_loglik(fit, x, nsim = 1)
    sources(1)
    sources(fit, min_prior = 2)
    simulate(fit, 0)
    plot(fit, "image")
    plot(fit, "images")
    plot(fit, dim = c(5, 5))
  })
})

test_that("sources, effort and starts that do not go together are refused", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  fit <- noisy_or(x, 2, control = brief)
  refused(predict(fit, type = "map", sources = "drawn"), "`sources` cannot be \"drawn\" where `type` is \"map\".")
  refused(noisy_or(x, 2, effort = rep(1, 10)), "`effort` needs `missed_by`: \"site\", or \"both\".")
  start <- list(prior = c(0.5, 0.5), links = matrix(0.5, 2, 6), leak = rep(0.1, 6), recorded_share = rep(0.2, 10))
  refused(noisy_or(x, 2, missed_by = "site", start = start), "`start$recorded_share` must sum to 1, not to 2.")
  fit$param$leak[] <- 0
  fit$param$links[] <- 0
  new <- rbind(u = x[1, ] | TRUE, v = x[1, ] & FALSE) + 0
  expect_message(predict(fit, new, type = "activation"),
    "No posterior for 1 row of `newdata`, impossible under the model: \"u\".", fixed = TRUE,
    class = "multicause_message")
})

test_that("shards are refused with what is known of sites", {
  x <- shards(planted_table(30, 8, missing = 0), tempfile(), size = 100)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(noisy_or(x, 2, missed_by = "site"), "`missed_by` must be \"none\" for shards(), not \"site\".")
  refused(noisy_or(x, 2, effort = 1:30), "`effort` must be NULL for shards().")
  refused(noisy_or(x, 2, activation = matrix(1, 30, 2)), "`activation` must be NULL for shards().")
})
