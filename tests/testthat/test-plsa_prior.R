# Dirichlet priors of plsa(): posterior modes.

mode_of <- function(x, k, prior, ...) keeping_empty_rows(plsa(x, k, estimate = "map", prior = prior, ...))

test_that("one iteration to the posterior mode equals the transcription, and the objective is its own", {
  set.seed(1)
  for (alpha in list(1.3, c(1, 1.5, 3))) {
    x <- matrix(rpois(7 * 5, 1.5), 7, 5)
    x[3, ] <- 0
    x[, 2] <- 0
    start <- list(membership = ref_simplex(7, 3), basis = ref_simplex(3, 5))
    prior <- list(membership = alpha, basis = 1.2)
    want <- ref_lda_map_pass(x, start$membership, start$basis, rep_len(alpha, 3), 1.2)
    for (form in list(x, Matrix::Matrix(x, sparse = TRUE))) {
      fit <- mode_of(form, 3, prior, start = start, control = plain_iterations(1))
      expect_equal(lapply(fit$param, unname), want, tolerance = 1e-12)
      expect_equal(fit$loglik, ref_plsa_loglik(x, want$membership, want$basis), tolerance = 1e-12)
      beside <- ref_lda_log_prior(want$membership, want$basis, rep_len(alpha, 3), 1.2)
      expect_equal(unname(fit$objective), fit$loglik + beside, tolerance = 1e-12)
    }
  }
})

test_that("a flat prior is maximum likelihood, and missing cells are imputed as there", {
  set.seed(2)
  x <- replace(ref_counts(12, 6)$x, c(2, 30, 31), NA)
  start <- list(membership = ref_simplex(12, 3), basis = ref_simplex(3, 6))
  flat <- list(membership = 1, basis = 1)
  expect_identical(
    mode_of(x, 3, flat, start = start, control = plain_iterations(20))$param,
    plsa(x, 3, estimate = "ml", start = start, control = plain_iterations(20))$param
  )
  # A row with a single known cell has the mode of the prior, if the prior has far more weight.
  fit <- mode_of(x, 3, list(membership = c(1e5, 2e5, 1e5), basis = 1), start = start, control = plain_iterations(3))
  expect_equal(unname(fit$param$membership[1, ]), c(1, 2, 1) / 4, tolerance = 1e-3)
})

test_that("the objective never falls, and ends where no parameter gains", {
  set.seed(3)
  x <- replace(ref_counts(25, 8)$x, sample(200, 20), NA)
  for (accelerate in c(TRUE, FALSE)) {
    for (missing in c("conditional", "paper")) {
      control <- quiet_control(n_start = 1, max_iter = 80, tol = 0, accelerate = accelerate)
      fit <- mode_of(x, 4, list(membership = 1.1, basis = 1.3), missing = missing, control = control)
      expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
    }
  }
  x <- ref_counts(25, 8)$x
  fit <- mode_of(x, 2, list(membership = 1.5, basis = 1.2), control = quiet_control(n_start = 2, tol = 1e-14))
  value <- function(z) {
    membership <- cbind(plogis(z[1:25]), plogis(-z[1:25]))
    basis <- exp(cbind(matrix(z[-(1:25)], 2), 0))
    basis <- basis / rowSums(basis)
    ref_plsa_loglik(x, membership, basis) + ref_lda_log_prior(membership, basis, c(1.5, 1.5), 1.2)
  }
  at <- c(qlogis(fit$param$membership[, 1]), log(fit$param$basis[, -8] / fit$param$basis[, 8]))
  expect_equal(value(at), unname(fit$objective), tolerance = 1e-10)
  found <- stats::optim(at, value, method = "BFGS", control = list(fnscale = -1))
  expect_lt(found$value - value(at), 1e-6)
})

test_that("new rows are folded in under the prior, as those of training are", {
  set.seed(4)
  x <- ref_counts(30, 8)$x
  tight <- quiet_control(n_start = 1, max_iter = 20000, tol = 1e-14)
  for (prior in list(list(membership = 1.4, basis = 1.1), list(membership = c(1.1, 2, 1.3), basis = 1))) {
    fit <- mode_of(x, 3, prior, control = tight)
    expect_equal(predict(fit, x, type = "membership", control = tight), fit$param$membership, tolerance = 1e-4,
      ignore_attr = "loglik")
    held <- plsa(x, 3, prior = prior, fixed = "basis", start = list(basis = fit$param$basis), control = tight)
    expect_equal(held$param$membership, fit$param$membership, tolerance = 1e-4)
  }
  # Few counts: half of them predict the other half better with the prior than without.
  few <- function(n) ref_counts(n, 20, 6)$x
  train <- few(200)
  new <- few(100)
  told <- vapply(c("map", "ml"), function(estimate) {
    fit <- plsa(train, 4, estimate = estimate, control = quiet_control(n_start = 2))
    with_seed(1, document_completion(fit, new))$perplexity
  }, 0)
  expect_lt(told[["map"]], 0.9 * told[["ml"]])
})

test_that("what is not given follows from the data and the rest of the call", {
  set.seed(5)
  x <- ref_counts(20, 6)$x
  prior_of <- function(...) plsa(..., control = plain_iterations(2))$prior
  expect_identical(prior_of(x, 2), list(membership = 1.1, basis = 1.1))
  expect_identical(prior_of(x / 40, 2), list(membership = 1, basis = 1)) # shares are no counts
  expect_null(prior_of(x, 2, estimate = "ml"))
  expect_null(suppressWarnings(prior_of(x, 2, sparsity = c(basis = 0.1))))
  expect_null(prior_of(x, 2, sparsity = c(basis = 0)))
  # Components that the prior distinguishes keep its order.
  fit <- mode_of(x, 3, list(membership = c(1, 5, 50), basis = 1.1), control = quiet_control(n_start = 3))
  expect_identical(order(colMeans(fit$param$membership)), 1:3)
  expect_identical(update(fit, k = 3, prior = NULL)$prior, list(membership = 1.1, basis = 1.1))
})

test_that("with sparsity beside it, one iteration equals the transcription, and the objective has all terms", {
  set.seed(6)
  for (strength in list(c(2, 0), c(0, 3), c(1, 4), c(-2, -1))) for (alpha in list(1, c(1, 1.5, 3))) {
    x <- matrix(rpois(7 * 5, 1.5), 7, 5) + 1
    start <- list(membership = ref_simplex(7, 3), basis = ref_simplex(3, 5))
    fit <- plsa(x, 3,
      sparsity = c(membership = strength[1], basis = strength[2]), sparsity_scale = "counts", mstep = "global",
      prior = list(membership = alpha, basis = 1.2), start = start, control = plain_iterations(1)
    )
    alpha <- rep_len(alpha, 3)
    want <- ref_lda_map_pass(x, start$membership, start$basis, alpha, 1.2, strength[1], strength[2])
    expect_equal(lapply(fit$param, unname), want, tolerance = 1e-10)
    beside <- ref_lda_log_prior(want$membership, want$basis, alpha, 1.2) +
      strength[1] * entropy_term(want$membership) + strength[2] * entropy_term(want$basis)
    expect_named(fit$objective, "log_posterior")
    expect_equal(unname(fit$objective), ref_plsa_loglik(x, want$membership, want$basis) + beside, tolerance = 1e-10)
  }
})

test_that("with sparsity beside it the objective never falls, and neither 0 nor a flat prior changes a bit", {
  set.seed(7)
  x <- replace(ref_counts(25, 8)$x, sample(200, 20), NA)
  x[, 3] <- ifelse(is.na(x[, 3]), NA, 0)
  for (mstep in c("cccp", "global", "first")) for (accelerate in c(TRUE, FALSE)) for (strength in c(-0.3, 0.05, 1)) {
    fit <- suppressWarnings(plsa(x, 4,
      sparsity = c(membership = strength, basis = strength / 2), prior = list(membership = 1.1, basis = 1.3),
      mstep = mstep, control = quiet_control(n_start = 2, max_iter = 60, tol = 0, accelerate = accelerate)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
  }
  start <- list(membership = ref_simplex(25, 3), basis = ref_simplex(3, 8))
  fit_of <- function(...) plsa(x, 3, ..., start = start, control = plain_iterations(20))[c("param", "objective")]
  prior <- list(membership = 1.2, basis = 1.1)
  expect_identical(fit_of(sparsity = c(membership = 0), prior = prior), fit_of(prior = prior))
  flat <- list(membership = 1, basis = 1)
  some <- c(membership = 0.05, basis = 0.02)
  expect_identical(fit_of(sparsity = some, prior = flat), fit_of(sparsity = some))
})

test_that("sparse memberships and a basis without zeros go together, in fits and for new rows", {
  set.seed(8)
  x <- ref_counts(30, 8)$x
  x[, 4] <- 0
  few <- quiet_control(n_start = 2)
  prior <- list(membership = 1, basis = 1.2)
  fit <- plsa(x, 3, sparsity = c(membership = 0.04), prior = prior, control = few)
  expect_lt(median(fit$perplexity), median(plsa(x, 3, prior = prior, control = few)$perplexity))
  expect_gt(min(fit$param$basis), 0)
  expect_identical(fit$prior, prior)
  expect_match(capture.output(print(fit))[1], "Latent Dirichlet allocation with entropic prior")
  # The fold-in has the Dirichlet prior alone.
  flat <- plsa(x, 3, prior = prior, fixed = "basis", start = list(basis = fit$param$basis), control = few)
  expect_equal(predict(fit, x, type = "membership"), flat$param$membership, tolerance = 1e-3, ignore_attr = "loglik")
})

test_that("a prior that cannot be is refused", {
  x <- ref_counts(6, 4)$x
  expect_snapshot(error = TRUE, {
    plsa(x, 2, prior = 1.1)
    plsa(x, 2, prior = "eb")
    plsa(x, 2, prior = list(membership = 1, basis = NA))
    plsa(x, 2, estimate = "vb", prior = list(membership = 0, basis = 1))
    plsa(x, 2, estimate = "ml", prior = list(membership = 1, basis = 1))
    plsa(x, 2, estimate = "ml", sparsity = c(membership = 0.1))
    plsa(x, 2, sparsity = c(membership = 0.1), prior = "eb")
    plsa(x, 2, estimate = "vb", smooth = smooth_over(age = 1:6))
  })
})

test_that("a prior that lacks a part, or has another one, is refused by the name of the part", {
  x <- matrix(rep(0:1, 30), 10)
  refused <- function(call, message) {
    expect_error(suppressMessages(call), message, fixed = TRUE, class = "multicause_input_error")
  }
  refused(plsa(x + 1, 2, prior = list(basis = 1)), "basis = a number): it lacks `membership`.")
  refused(aspect_bernoulli(x, 2, prior = list(aspects = c(1, 1))), "membership = one number): it lacks `membership`.")
  refused(bernoulli_mixture(x, 2, prior = list(weights = 1)), "it lacks `prototypes`.")
  refused(aspect_categorical(x, 2, prior = list(profiles = 1)), "it lacks `membership`.")
  refused(noisy_or(x, 2, prior = list(aspects = 1)), "or a list with its names, without `aspects`.")
  refused(noisy_or(x, 2, prior = list(c(1, 2))), "each part must have a name of its own.")
})
