# One iteration of variational Bayes in plain R: causes of cells, then Dirichlets and Betas; and the bound at the start.

skip_on_cran()

ref_vb_pass <- function(x, state, prior, fixed) {
  log_s <- digamma(state$membership) - digamma(rowSums(state$membership))
  log_one <- digamma(state$one) - digamma(state$one + state$zero)
  log_zero <- digamma(state$zero) - digamma(state$one + state$zero)
  log_one[fixed == "white", ] <- -Inf
  log_zero[fixed == "white", ] <- 0
  membership <- matrix(prior$membership, nrow(x), ncol(log_s))
  one <- matrix(prior$aspects[1], ncol(log_s), ncol(x))
  zero <- matrix(prior$aspects[2], ncol(log_s), ncol(x))
  bound <- 0
  for (i in seq_len(nrow(x))) {
    for (j in which(!is.na(x[i, ]))) {
      joint <- exp(log_s[i, ] + if (x[i, j] == 1) log_one[, j] else log_zero[, j])
      bound <- bound + log(sum(joint))
      cause <- joint / sum(joint)
      membership[i, ] <- membership[i, ] + cause
      if (x[i, j] == 1) one[, j] <- one[, j] + cause else zero[, j] <- zero[, j] + cause
    }
  }
  log_b <- function(a) sum(lgamma(a)) - lgamma(sum(a))
  for (i in seq_len(nrow(x))) {
    alpha <- state$membership[i, ]
    bound <- bound + log_b(alpha) - log_b(rep(prior$membership, length(alpha))) -
      sum((alpha - prior$membership) * log_s[i, ])
  }
  for (c in which(fixed == "free")) {
    for (j in seq_len(ncol(x))) {
      ends <- c(state$one[c, j], state$zero[c, j])
      bound <- bound + log_b(ends) - log_b(prior$aspects) -
        sum((ends - prior$aspects) * c(log_one[c, j], log_zero[c, j]))
    }
  }
  list(membership = membership, one = one, zero = zero, bound = bound)
}

vb_once <- function(x, start, fixed, prior, iterations) {
  ab_vb_run(data_view(x), start, fixed, prior, unclass(plain(iterations)))
}

test_that("one iteration and the bound equal the reference, missing cells and a fixed phantom too", {
  set.seed(1)
  prior <- list(aspects = c(0.7, 1.3), membership = 0.4)
  for (fixed in list(rep("free", 3), c("free", "free", "white"))) {
    n <- if (any(fixed == "white")) three_blocks() else 11
    x <- binary(n, 6, 0.4, 0.1)
    start <- random_start(n, 6, 3)
    start$aspects[3, ] <- 0
    state <- vb_state(start, fixed, prior)
    before <- ab_vb_run(data_view(x), list(state = state), fixed, prior, unclass(plain(0)))
    want <- ref_vb_pass(x, state, prior, fixed)
    expect_equal(before$outcome$objective, want$bound, tolerance = 1e-12)
    got <- ab_vb_run(data_view(x), list(state = state), fixed, prior, unclass(plain(1)))$param$state
    expect_equal(got$membership, want$membership, tolerance = 1e-12)
    free <- fixed == "free"
    expect_equal(got$one[free, ], want$one[free, ], tolerance = 1e-12)
    expect_equal(got$zero[free, ], want$zero[free, ], tolerance = 1e-12)
  }
})

# Log evidence by enumeration over the causes of all cells.
ref_evidence <- function(x, k, prior) {
  causes <- as.matrix(expand.grid(rep(list(seq_len(k)), length(x))))
  log_b <- function(a) sum(lgamma(a)) - lgamma(sum(a))
  each <- apply(causes, 1, function(z) {
    z <- matrix(z, nrow(x))
    flat <- log_b(rep(prior$membership, k))
    rows <- sum(apply(z, 1, function(row) log_b(prior$membership + tabulate(row, k)) - flat))
    cells <- 0
    for (c in seq_len(k)) {
      for (j in seq_len(ncol(x))) {
        mine <- x[z[, j] == c, j]
        cells <- cells + log_b(prior$aspects + c(sum(mine == 1), sum(mine == 0))) - log_b(prior$aspects)
      }
    }
    rows + cells
  })
  max(each) + log(sum(exp(each - max(each))))
}

test_that("the bound is below the log evidence, and near it", {
  set.seed(2)
  prior <- list(aspects = c(0.8, 1.1), membership = 0.6)
  for (x in list(matrix(c(1, 0, 1, 1, 0, 0), 3), matrix(c(0, 1, 1, 0, 1, 1, 0, 0), 2))) {
    fit <- quiet(x, 2, estimate = "vb", prior = prior, control = fit_control(n_start = 5))
    evidence <- ref_evidence(x, 2, prior)
    expect_lt(fit$objective, evidence)
    expect_gt(fit$objective, evidence - 3)
  }
  # One component: no approximation.
  x <- binary(6, 4)
  fit <- aspect_bernoulli(x, 1, estimate = "vb", prior = prior, control = fit_control(n_start = 1))
  want <- sum(lbeta(0.8 + colSums(x), 1.1 + colSums(1 - x)) - lbeta(0.8, 1.1))
  expect_equal(unname(fit$objective), want)
})

test_that("the bound never falls; threads do not matter; components are reordered with their state", {
  truth <- planted(60, 16)
  run <- function(threads = 1) {
    set.seed(3)
    aspect_bernoulli(truth$x, 3, estimate = "vb", control = fit_control(n_start = 3, n_threads = threads))
  }
  fit <- run()
  expect_named(fit$objective, "lower_bound")
  expect_true(all(diff(fit$trace$objective) > -1e-8))
  expect_identical(run(2)$posterior, fit$posterior)
  means <- vb_means(fit$posterior, fit$fixed)
  expect_equal(unname(fit$param$membership), means$membership)
  expect_equal(unname(fit$param$aspects), means$aspects)
  expect_equal(fit$loglik, ref_loglik(truth$x, fit$param$membership, fit$param$aspects))
  expect_equal(phantoms(fit)$kind[3], "white")
  set.seed(3)
  expect_identical(update(fit)$posterior, fit$posterior)
})

test_that("draws are fits around the means", {
  case <- small_fit(estimate = "vb")
  set.seed(6)
  draws <- posterior_draws(case$fit, 200)
  share <- vapply(draws, function(draw) mean(draw$param$membership[, 3]), 0)
  expect_equal(mean(share), mean(case$fit$param$membership[, 3]), tolerance = 0.03)
  expect_true(all(draws[[1]]$param$aspects[3, ] == 0))
  expect_equal(draws[[1]]$loglik, ref_loglik(case$x, draws[[1]]$param$membership, draws[[1]]$param$aspects))
  sure <- identifiability(case$fit, draws = draws[1:20])
  expect_equal(sure$n_draws, 20L)
  expect_snapshot(error = TRUE, {
    posterior_draws(small_fit()$fit)
    aspect_bernoulli(case$x, 2, estimate = "vb", prior = list(aspects = c(0, 1), membership = 1))
    aspect_bernoulli(case$x, 2, estimate = "vb", effort = 1:24)
    logLik(case$fit)
  })
})

# Short form of tests/validate/calibration.R.
test_that("with flat priors probabilities of false absences are calibrated and the upper ends cover the truth", {
  quick <- fit_control(n_start = 2, max_iter = 400, tol = 1e-7, progress = FALSE)
  flat <- list(aspects = c(1, 1), membership = 1)
  found <- vapply(1:3, function(seed) {
    set.seed(seed)
    s <- matrix(stats::rexp(900)^2, 300)
    share <- stats::rbeta(300, 1, 1.5)
    a <- matrix(stats::rbeta(240, 0.3, 0.9), 3)
    present <- (s / rowSums(s)) %*% (a / apply(a, 1, max))
    planted <- corrupt(matrix(stats::rbinom(24000, 1, present), 300), omit = share)
    truth <- share * present / (1 - (1 - share) * present)
    fit <- suppressWarnings(
      aspect_bernoulli(planted$x, 4, estimate = "vb", prior = flat, phantom = "white", control = quick)
    )
    sure <- identifiability(fit, draws = posterior_draws(fit, 20), cells = TRUE)
    at <- cbind(sure$cells$site, sure$cells$taxon)
    score <- 0 * planted$x
    score[at] <- sure$cells$missed
    c(recovery(score, planted)$summary$slope, mean(sure$cells$draws_most >= truth[at] - 1e-9))
  }, numeric(2))
  expect_lt(abs(mean(found[1, ]) - 1), 0.1)
  expect_gt(mean(found[2, ]), 0.9)
})

test_that("empirical Bayes raises the bound, and its hyperparameters are stationary", {
  x <- planted(60, 16)$x
  control <- fit_control(n_start = 2, max_iter = 2000, tol = 1e-11)
  for (phantom in c("free", "white")) {
    run <- function(prior) {
      set.seed(7)
      aspect_bernoulli(x, 3, estimate = "vb", phantom = phantom, prior = prior, control = control)
    }
    fit <- run("eb")
    plain <- run(list(aspects = c(0.5, 0.5), membership = 0.5))
    expect_gt(fit$objective, plain$objective)
    expect_true(all(diff(fit$trace$objective) > -1e-8))
    # The bound at its parameters is that of a fit with these hyperparameters fixed, and no others are better.
    bound <- function(prior) {
      start <- list(state = fit$posterior)
      ab_vb_run(data_view(x), start, unname(fit$fixed), prior, unclass(plain(0)))$outcome$objective
    }
    expect_equal(bound(fit$prior), unname(fit$objective))
    for (factor in c(0.9, 1.1)) {
      expect_lt(bound(utils::modifyList(fit$prior, list(membership = factor * fit$prior$membership))), fit$objective)
      expect_lt(bound(utils::modifyList(fit$prior, list(aspects = c(factor, 1) * fit$prior$aspects))), fit$objective)
      expect_lt(bound(utils::modifyList(fit$prior, list(aspects = c(1, factor) * fit$prior$aspects))), fit$objective)
    }
  }
  set.seed(8)
  sampled <- suppressWarnings(aspect_bernoulli(
    x, 3, estimate = "gibbs", prior = "eb", control = mcmc_control(chains = 1, warmup = 5, draws = 5, n_start = 1)
  ))
  expect_false(identical(sampled$prior$aspects, c(0.5, 0.5)))
  set.seed(7)
  fit <- aspect_bernoulli(x, 2, estimate = "vb", prior = "eb", control = fit_control(n_start = 2))
  set.seed(7)
  expect_identical(update(fit)$posterior, fit$posterior)
  expect_error(aspect_bernoulli(x, 2, estimate = "map", prior = "eb"), class = "multicause_input_error")
})

test_that("the prior can be chosen by held-out cells", {
  x <- planted(40, 12)$x
  set.seed(9)
  quick <- fit_control(n_start = 2, max_iter = 100, tol = 1e-6)
  tried <- list(list(aspects = c(0.5, 0.5), membership = 0.5), list(aspects = c(1, 1), membership = 1))
  fit <- suppressWarnings(aspect_bernoulli(x, 2, estimate = "vb", prior = tried, control = quick))
  expect_s3_class(fit$tuning, "multicause_cv")
  expect_true(list(fit$prior) %in% tried)
})

test_that("new rows are folded in by the model's own updates, the posterior of the aspects held", {
  set.seed(9)
  x <- binary(12, 8, 0.4, 0.1)
  tight <- fit_control(n_start = 2, max_iter = 20000, tol = 1e-13)
  prior <- list(aspects = c(0.7, 1.3), membership = 0.8)
  fit <- suppressMessages(aspect_bernoulli(x, 3, estimate = "vb", phantom = "white", prior = prior, control = tight))
  new <- binary(5, 8, 0.4, 0.1)
  got <- predict(fit, new, type = "membership", control = tight)
  state <- lapply(fit$posterior, unname)
  state$membership <- matrix(1, 5, 3)
  for (iteration in 1:3000) state$membership <- ref_vb_pass(new, state, prior, fit$fixed)$membership
  want <- state$membership / rowSums(state$membership)
  expect_equal(unname(unclass(got)), want, tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(predict(fit, new, control = tight), want %*% unname(fit$param$aspects), tolerance = 1e-6,
               ignore_attr = TRUE)
  expect_identical(attr(got, "certificate"), c(membership_gap = NA_real_, worst_row = NA_real_))
  expect_warning(predict(fit, new, control = fit_control(max_iter = 1)),
    "Memberships of new rows not converged after 1 iteration[.]$")
  held <- vb_fold_in(fit, check_data(new, "binary"), unclass(tight))$param$state
  expect_identical(held[c("one", "zero")], lapply(fit$posterior[c("one", "zero")], unname))
  expect_message(bare <- predict(fit, rbind(new, NA), type = "membership"), "nothing observed")
  expect_equal(bare[6, ], colMeans(fit$param$membership))
})

test_that("the data of the fit come back as they were fitted", {
  tight <- fit_control(n_start = 2, max_iter = 20000, tol = 1e-13, progress = FALSE)
  for (prior in list(list(aspects = c(0.5, 0.5), membership = 0.5), list(aspects = c(1, 1), membership = 1))) {
    for (phantom in c("free", "white")) {
      set.seed(1)
      fit <- suppressWarnings(aspect_bernoulli(
        simulated_sites$x, 4, estimate = "vb", prior = prior, phantom = phantom, control = tight
      ))
      for (type in c("response", "membership", "cell")) {
        again <- predict(fit, simulated_sites$x, type = type, control = tight)
        expect_equal(again, predict(fit, type = type), tolerance = 1e-5, ignore_attr = "certificate")
      }
    }
  }
  # After a change of decomposition the parameters are no longer a posterior.
  moved <- predict(fit, simulated_sites$x, type = "membership", phantom_convention = "maximal", control = tight)
  expect_false(anyNA(attr(moved, "certificate")))
  expect_equal(rowSums(moved), rep(1, nrow(moved)), ignore_attr = TRUE)
})
