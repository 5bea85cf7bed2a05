# Degenerate shapes, and every edge case of the model's table.

impossible <- "probability 0 for an observed cell"

test_that("one component is the column means, whatever the rest", {
  set.seed(1)
  x <- binary(15, 6, missing = 0.1)
  fit <- aspect_bernoulli(x, 1, estimate = "ml")
  expect_equal(unname(fit$param$aspects[1, ]), colMeans(x, na.rm = TRUE), tolerance = 1e-12)
  expect_equal(unname(fit$param$membership[, 1]), rep(1, 15))
  expect_equal(nrow(fit$starts), 1L)
  expect_equal(fit$df, 6)
})

test_that("an all-zero and an all-one aspect make the row-mean Bernoulli", {
  set.seed(2)
  x <- binary(10, 8)
  fit <- aspect_bernoulli(x, 2,
    estimate = "ml", start = list(membership = matrix(0.5, 10, 2), aspects = rbind(rep(0, 8), 1)), control = plain(1)
  )
  expect_equal(unname(fit$param$membership[, 2]), rowMeans(x), tolerance = 1e-12)
  expect_identical(unname(fit$param$aspects), rbind(rep(0, 8), 1))
})

test_that("single rows and columns", {
  set.seed(3)
  row <- matrix(c(1, 0, 1, 1), 1)
  expect_equal(suppressWarnings(quiet(row, 2))$loglik, 0, tolerance = 1e-6)
  column <- matrix(c(1, 0, 0, 1, 0), 5)
  fit <- suppressWarnings(quiet(column, 2))
  expect_equal(fit$loglik, 0, tolerance = 1e-6)
  expect_equal(dim(fitted(fit)), c(5L, 1L))
  expect_equal(quiet(matrix(1, 1, 1), 1)$loglik, 0)
  expect_equal(quiet(matrix(0, 1, 1), 1)$loglik, 0)
})

test_that("tables of zeros and of ones are fitted exactly, and no phantom is seen in them", {
  for (value in 0:1) {
    x <- matrix(value, 6, 4)
    fit <- suppressWarnings(quiet(x, 2))
    expect_equal(fit$loglik, 0, tolerance = 1e-6)
    expect_equal(phantoms(fit)$kind, c("content", "content"))
    expect_equal(unname(fitted(fit)), x + 0, tolerance = 1e-6)
    expect_s3_class(summary(fit), "summary.aspect_bernoulli")
  }
})

test_that("with as many components as distinct rows the data are repeated exactly", {
  set.seed(4)
  x <- binary(8, 6)[c(1:8, 1:3), ]
  distinct <- unique(x)
  k <- nrow(distinct)
  pattern <- function(x) apply(x, 1, paste, collapse = "")
  start <- list(
    membership = 0.9 * outer(pattern(x), pattern(distinct), "==") + 0.1 / k,
    aspects = 0.8 * distinct + 0.1
  )
  fit <- aspect_bernoulli(x, k, estimate = "ml", start = start, control = fit_control(tol = 1e-12))
  expect_gt(fit$loglik, -1e-4)
  expect_message(suppressWarnings(aspect_bernoulli(distinct, k, estimate = "ml")), "reproduce the data")
})

test_that("impossible starts are refused, in both directions", {
  x <- matrix(c(1, 0, 1, 1, 0, 1), 3)
  s <- matrix(0.5, 3, 2)
  for (a in list(matrix(c(0, 0, 0.5, 0.5), 2), matrix(c(0.5, 0.5, 1, 1), 2))) {
    expect_error(quiet(x, 2, start = list(membership = s, aspects = a)), impossible, class = "multicause_input_error")
  }
})

test_that("probabilities of exactly 0 and 1 at cells that agree are fine", {
  x <- matrix(c(1, 1, 1, 0, 0, 0, 1, 0, 1), 3)
  start <- list(membership = matrix(0.5, 3, 2), aspects = rbind(c(1, 0, 0.5), c(1, 0, 0.3)))
  fit <- quiet(x, 2, start = start, control = plain(5))
  expect_true(all(is.finite(unlist(fit$param))))
  expect_equal(fit$loglik, ref_loglik(x, fit$param$membership, fit$param$aspects), tolerance = 1e-12)
  expect_true(all(is.finite(predict(fit, type = "cell"))))
  expect_true(all(is.finite(false_absences(fit, n = Inf)$phantom)))
})

test_that("a fixed phantom is exact after 2000 iterations, and what was not fixed moves", {
  truth <- planted(40, 10)
  set.seed(5)
  control <- fit_control(n_start = 1, max_iter = 2000, tol = 0)
  white <- aspect_bernoulli(truth$x, 3, estimate = "ml", phantom = "white", control = control)
  expect_identical(unname(white$param$aspects[3, ]), rep(0, 10))
  expect_equal(unname(white$fixed), c("free", "free", "white"))
  expect_equal(white$df, 40 * 2 + 2 * 10)
  both <- aspect_bernoulli(truth$x, 4, estimate = "ml", phantom = "both", control = control)
  expect_identical(unname(both$param$aspects[3:4, ]), rbind(rep(0, 10), 1))
  expect_equal(phantoms(both)$kind[3:4], c("white", "black"))
  expect_match(print_words(both), "k = 4, white phantom fixed, black phantom fixed log")
})

test_that("an aspect that starts at exact zero stays there, not_fixed as well", {
  truth <- planted(30, 8)
  start <- random_start(30, 8, 2)
  start$aspects[1, ] <- 0
  start$membership[3, ] <- c(0, 1)
  fit <- aspect_bernoulli(truth$x, 2, estimate = "ml", start = start, control = plain(2000))
  expect_identical(unname(fit$param$aspects[1, ]), rep(0, 8))
  expect_identical(unname(fit$param$membership[3, ]), c(0, 1))
})

test_that("long runs leave no number below 1e-150 but exact zeros", {
  truth <- planted(60, 12)
  set.seed(6)
  slow <- fit_control(n_start = 1, max_iter = 6000, tol = 0, accelerate = FALSE)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "ml", control = slow)
  values <- unlist(fit$param)
  expect_true(all(values == 0 | values >= 1e-150))
  expect_true(any(values < 1e-100))
})

test_that("columns of only zeros and only ones are at 0 and 1 after one iteration, and can be predicted", {
  set.seed(7)
  x <- cbind(binary(12, 5), 0, 1)
  fit <- quiet(x, 2, start = random_start(12, 7, 2), control = plain(1))
  expect_identical(unname(fit$param$aspects[, 6:7]), cbind(c(0, 0), c(1, 1)))
  surprise <- rbind(c(1, 0, 1, 0, 0, 1, 0))
  expect_true(is.finite(as.vector(test_loglik(fit, surprise))))
  expect_true(all(is.finite(predict(fit, surprise, type = "membership"))))
  expect_true(all(is.finite(predict(fit, surprise, type = "cell"))))
})

test_that("rows and columns with nothing observed are named, once, and change nothing", {
  x <- matrix(c(1, NA, 0, 1, NA, 1, NA, NA, NA, 0, NA, 1), 3, dimnames = list(c("a", "b", "c"), paste0("t", 1:4)))
  messages <- capture_messages(fit <- aspect_bernoulli(x, 2, estimate = "ml", start = random_start(3, 4, 2)))
  expect_length(messages, 2)
  expect_match(messages[1], "1 row.*\"b\"")
  expect_match(messages[2], "1 column.*\"t3\"")
  expect_equal(summary(fit)$unobserved, c(rows = 1L, columns = 1L))
  expect_equal(summary(fit)$n_missing, 6)
})

test_that("the prior keeps MAP fits inside, and the objective is its own", {
  truth <- planted(40, 10)
  set.seed(8)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "map", prior = list(aspects = c(1.2, 2), membership = 1.05))
  expect_true(all(unlist(fit$param) > 0 & unlist(fit$param) < 1))
  expect_named(fit$objective, "log_posterior")
  flat <- aspect_bernoulli(truth$x, 3,
    estimate = "map", prior = list(aspects = c(1, 1), membership = 1), start = random_start(40, 10, 3),
    control = plain(5)
  )
  expect_equal(unname(flat$objective), flat$loglik)
  # a prior that raises the phantom above the rule's limit: recognised with a wider rule
  strong <- aspect_bernoulli(truth$x, 3, estimate = "map", prior = list(aspects = c(4, 8), membership = 1))
  expect_true(all(phantoms(strong)$kind == "content"))
  expect_equal(sum(phantoms(strong, white = 0.6)$kind == "white"), 1L)
  ranked <- false_absences(strong, n = 5, kinds = phantoms(strong, white = 0.6))
  expect_gt(max(ranked$missed), 0)
})

test_that("fits depend on the seed alone and leave the session's generator going", {
  truth <- planted(30, 8)
  fit_of <- function(seed, ...) {
    set.seed(seed, ...)
    suppressWarnings(aspect_bernoulli(truth$x, 2, estimate = "ml", control = fit_control(n_start = 3, max_iter = 20)))
  }
  first <- fit_of(1)
  after <- runif(1)
  expect_identical(fit_of(1)$param, first$param)
  expect_identical(runif(1), after)
  expect_false(identical(fit_of(2)$param, first$param))
})

test_that("probabilities never exceed 1, and residuals are numbers", {
  third <- rep(1 / 3, 3)
  membership <- rbind(third, c(0.1, 0.2, 0.7), c(0.3, 0.3, 0.4) + c(0, 0, 2e-16))
  fit <- fit_with(matrix(1, 3, 2), membership, matrix(1, 3, 2))
  fit$param$membership <- membership * (1 + 4e-16)
  scores <- cell_scores(fit, 1:3, c("white", "content", "content"))
  for (p in list(fitted(fit), scores$present, denoise(fit)$probability)) {
    expect_true(all(p <= 1))
  }
  for (type in c("response", "pearson", "deviance")) expect_false(anyNA(residuals(fit, type)))
})

test_that("sampled fits of tables that are all phantom, or of one cell, have all methods", {
  short <- mcmc_control(chains = 2, warmup = 5, draws = 6, n_start = 1, progress = FALSE)
  for (x in list(matrix(1, 1, 1), matrix(c(1, 1, 1, 1, 1, 0), 6))) {
    set.seed(1)
    fit <- suppressWarnings(aspect_bernoulli(x, 2, estimate = "gibbs", phantom = "white", control = short))
    expect_false(anyNA(as.matrix(fit$trace)))
    expect_output(print(summary(fit)), "draws")
    expect_s3_class(false_absences(fit), "false_absences")
    expect_s3_class(by_taxon(fit), "which_zeros_sums")
    expect_equal(nrow(augment.multicause(fit)), length(x))
    expect_silent(on_paper(plot(fit, "trace")))
  }
})
