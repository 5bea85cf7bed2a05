test_that("what a prior adds is laid out by component", {
  prior <- list(membership = 1.5, aspects = c(1.25, 2))
  expect_identical(mode_counts(prior, c("free", "white")), rbind(c(0.25, 1, 0.5), c(0.25, 1, 0.5)))
  expect_identical(mode_counts(NULL, "free"), matrix(0, 1, 3))
  expect_identical(prior_parameters(list(aspects = 1:2, membership = 3L), "free"), rbind(c(1, 2, 3)))
  expect_identical(membership_prior(prior)$aspects, c(1, 1))
  expect_null(membership_prior(NULL))
})

test_that("each component has its own prior in both kinds of iterations", {
  set.seed(1)
  x <- binary(12, 9, 0.4, 0.2)
  fixed <- c("free", "free", "white")
  start <- random_start(12, 9, 3)
  start$aspects[3, ] <- 0
  counts <- cbind(c(0.3, 0.1, 1), c(0.2, 0.6, 1), c(0.1, 0.4, 2.5))
  log_posterior <- function(param) {
    a <- param$aspects[1:2, ]
    ref_loglik(x, param$membership, param$aspects) + sum(counts[1:2, 1] * log(a)) +
      sum(counts[1:2, 2] * log(1 - a)) + sum(log(param$membership) %*% counts[, 3])
  }
  for (algorithm in c("em", "newton")) {
    control <- unclass(fit_control(max_iter = 3000, tol = 1e-13, accelerate = FALSE, algorithm = algorithm))
    got <- .Call(mc_c_ab_fit, data_view(x), ab_kernel_param(start, fixed), counts, control)
    expect_equal(got$outcome$objective, log_posterior(got), tolerance = 1e-12)
    expect_gte(min(diff(got$outcome$trace)), -1e-10)
    gap <- .Call(mc_c_ab_certify, data_view(x), ab_kernel_param(got[1:2], fixed), counts)
    expect_lt(max(gap), 1e-3)
    # Gradient over memberships, within the simplex, by finite differences.
    towards <- function(step) {
      moved <- got$membership
      moved[2, c(1, 3)] <- moved[2, c(1, 3)] + c(step, -step)
      log_posterior(list(membership = moved, aspects = got$aspects))
    }
    expect_lt(abs(towards(1e-5) - towards(-1e-5)) / 2e-5, 1e-2)
  }
})

test_that("cells written are expected counts without what the prior adds", {
  set.seed(2)
  x <- planted(40, 12)$x
  fit <- aspect_bernoulli(x, 3, prior = list(aspects = c(1.2, 2), membership = 1.5), control = fit_control(n_start = 2))
  expect_equal(rowSums(written_cells(fit)), rep(12, 40), ignore_attr = TRUE)
  expect_gte(min(written_cells(fit)), -1e-6)
})

test_that("the log-likelihood of a posterior mode is its objective less the prior's log-density", {
  set.seed(2)
  x <- matrix(rbinom(600, 1, 0.3), 40)
  x[3, 4] <- NA
  few <- fit_control(n_start = 2, progress = FALSE)
  prior <- list(aspects = c(1.5, 3), membership = 2)
  for (phantom in c("free", "white", "both")) {
    for (effort in list(NULL, if (phantom == "white") seq(0.1, 1, length.out = 40))) {
      fit <- suppressWarnings(aspect_bernoulli(x, 3, phantom = phantom, prior = prior, effort = effort, control = few))
      p <- fit$param$membership %*% fit$param$aspects
      expect_equal(fit$loglik, sum(dbinom(x, 1, p, log = TRUE), na.rm = TRUE), tolerance = 1e-10)
    }
  }
})
