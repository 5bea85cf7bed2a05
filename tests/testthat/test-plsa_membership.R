# Topics by covariates: plsa(membership = ~ ...), Dirichlet-multinomial regression (R/plsa_membership.R).

skip_on_cran()

drawn_topics <- function(n, total, slope, concentration, seed, m = 20) {
  set.seed(seed)
  z <- data.frame(depth = stats::rnorm(n), wet = rep(c("no", "yes"), length.out = n))
  effects <- cbind(c(0.3, slope, -0.2), c(-0.3, -slope, 0.2))
  share <- ref_shares(effects, cbind(1, z$depth, z$wet == "yes"))
  membership <- matrix(stats::rgamma(2 * n, concentration * share), n)
  membership <- membership / rowSums(membership)
  basis <- matrix(stats::rgamma(2 * m, 0.2), 2)
  basis <- basis / rowSums(basis)
  x <- t(vapply(seq_len(n), function(i) stats::rmultinom(1L, total, membership[i, ] %*% basis)[, 1L], integer(m)))
  list(x = x, z = z, effects = effects, basis = basis)
}

quick_chains <- function(...) mcmc_control(chains = 2, warmup = 100, draws = 200, ..., progress = FALSE)

# Fits of so few draws warn that chains disagree, which is no matter here.
topics_of <- function(...) suppressWarnings(suppressMessages(plsa(...)))

topics_problem <- function(x, k, formula, z, effects = 1.65, concentration = k, eta = 0.1) {
  settings <- list(
    given = check_sparsity(NULL), sparse = FALSE, scale = "relative", missing = "paper", mstep = "cccp",
    fixed = "none", estimate = "gibbs", learn = FALSE
  )
  data <- check_data(x, "nonnegative", quiet = TRUE)
  prior <- list(effects = effects, concentration = concentration, basis = eta)
  settings <- plsa_follow(settings, formula, z, data, k, prior, NULL)
  plsa_gibbs_problem(data, k, settings, mcmc_control(progress = FALSE), "plsa_regression_problem")
}

test_that("draws of the regression are those of its posterior, if the components of all counts are known", {
  # Two taxa that are two components: an intercept-only regression of known counts.
  set.seed(2)
  n <- 15
  share <- stats::rbeta(n, 1.2, 0.6)
  one <- stats::rbinom(n, 12, share)
  x <- unname(cbind(one, 12 - one))
  problem <- topics_problem(x, 2, ~1, data.frame(none = one), effects = 0.9, concentration = 3, eta = 1e-6)
  expect_identical(problem$settings$covariates$terms, "(Intercept)")
  topic <- as.integer(unlist(lapply(seq_len(n), function(i) rep(0:1, x[i, ]))))
  state <- list(topic = topic, prior = c(1, 1, 1e-6), effects = matrix(0, 1, 2), concentration = 1)
  set.seed(3)
  out <- plsa_gibbs_sweeps(problem, state, 6000, thin = 1L)
  expect_identical(out$topic, topic)
  draws <- out$regression[, -(1:100)]
  # Posterior of half the difference of effects, with standard deviation 0.9 / sqrt(2), and of the concentration.
  at <- expand.grid(delta = seq(-1.5, 2.5, 0.02), log_a = seq(-3, 3.5, 0.02))
  a <- exp(at$log_a)
  p <- stats::plogis(2 * at$delta)
  density <- stats::dnorm(at$delta, 0, 0.9 / sqrt(2), log = TRUE) + at$log_a - a / 3
  for (count in one) {
    density <- density + lbeta(count + a * p, 12 - count + a * (1 - p)) - lbeta(a * p, a * (1 - p))
  }
  weight <- exp(density - max(density))
  weight <- weight / sum(weight)
  moments <- function(values) c(sum(weight * values), sqrt(sum(weight * values^2) - sum(weight * values)^2))
  delta <- (draws[1, ] - draws[2, ]) / 2
  expect_equal(c(mean(delta), stats::sd(delta)), moments(at$delta), tolerance = 0.05)
  log_a <- log(draws[3, ])
  expect_equal(c(mean(log_a), stats::sd(log_a)), moments(at$log_a), tolerance = 0.05)
  # the sum of effects has no likelihood
  expect_equal(stats::sd(draws[1, ] + draws[2, ]), 0.9 * sqrt(2), tolerance = 0.05)
})

test_that("a draw's records are what plain R makes of its state", {
  made <- drawn_topics(12, 15, 1, 2, 4, m = 6)
  made$x[3, 2] <- NA
  problem <- topics_problem(made$x, 3, ~ depth + wet, made$z)
  counts <- lda_counts(made$x)
  set.seed(5)
  state <- list(
    topic = sample.int(3, sum(made$x, na.rm = TRUE), TRUE) - 1L, prior = c(1, 1, 1, 0.1), effects = matrix(0, 3, 3),
    concentration = 2
  )
  out <- plsa_gibbs_sweeps(problem, state, 1, thin = 1L)
  expect_identical(out$regression[, 1], c(out$effects, out$concentration))
  expect_gt(max(abs(out$effects)), 0)
  at <- lda_tables(out$topic + 1L, counts, 12, 6, 3)
  alpha <- out$concentration * ref_shares(out$effects, t(problem$settings$covariates$design))
  rows <- at$rows + alpha
  total <- rowSums(rows)
  got <- array(out$sum_membership, c(12, 3, 2))
  expect_equal(got[, , 1], rows / total)
  expect_equal(got[, , 2], rows * (rows + 1) / (total * (total + 1)))
  # Eqs. (2) and (3) with a prior of each row, and the densities of effects and concentration.
  basis <- at$basis + 0.1
  joint <- sum(lgamma(rows) - lgamma(alpha)) - sum(lgamma(total) - lgamma(out$concentration)) + sum(lgamma(basis)) -
    sum(lgamma(rowSums(basis))) - 3 * (6 * lgamma(0.1) - lgamma(0.6)) - sum(out$effects^2) / (2 * 1.65^2) -
    out$concentration / 3
  expect_equal(out$note[1, 1], joint)
  cell <- problem$probe[, 1] + 1
  inside <- sum(rows[cell[1], ] / total[cell[1]] * basis[, cell[2]] / rowSums(basis))
  expect_equal(out$note[2, 1], inside)
})

test_that("planted effects lie within their intervals", {
  inside <- vapply(1:8, function(seed) {
    made <- drawn_topics(80, 30, 0.8, 3, 200 + seed)
    fit <- topics_of(made$x, 2, membership = ~ depth + wet, site_data = made$z, control = quick_chains())
    ends <- confint(fit, "effects[A1, depth]", level = 0.9)
    same <- sum(abs(fit$param$basis[1, ] - made$basis[1, ])) < sum(abs(fit$param$basis[1, ] - made$basis[2, ]))
    truth <- if (same) 0.8 else -0.8
    ends[1] <= truth && truth <= ends[2]
  }, NA)
  expect_gte(sum(inside), 5L) # of 8 at 90 %: fewer with probability .005
})

test_that("a fit has effects, log-odds, curves, draws, and new sites by covariates", {
  made <- drawn_topics(60, 25, 1, 3, 6)
  dimnames(made$x) <- list(paste0("s", 1:60), paste0("t", 1:20))
  rownames(made$z) <- rownames(made$x)
  turned <- made$z[sample(60), ]
  fit <- topics_of(made$x, 2, membership = ~ depth + wet, site_data = turned, control = quick_chains())
  expect_s3_class(fit, c("plsa_regression", "plsa_gibbs", "plsa"), exact = FALSE)
  effects <- fit$param$effects
  expect_identical(dimnames(effects), list(c("(Intercept)", "depth", "wetyes"), c("A1", "A2")))
  expect_equal(rowSums(effects), c(0, 0, 0), ignore_attr = TRUE)
  expect_gt(abs(effects[2, 1]), 0.4)
  expect_equal(fit$param$effects, apply(fit$draws$effects, 1:2, mean))
  expect_equal(fit$param$concentration[[1]], mean(fit$trace$concentration))
  table <- tidy(fit, "effects", conf.int = TRUE)
  ends <- confint(fit)
  expect_equal(table$conf.low, unname(ends[sprintf("effects[%s, %s]", table$component, table$term), 1]))
  expect_equal(table$std.error, unname(sqrt(diag(vcov(fit)))[sprintf("effects[%s, %s]", table$component, table$term)]))
  odds <- tidy(fit, "log_odds")
  expect_equal(odds$estimate, unname(effects[, 2] - effects[, 1]))
  expect_equal(odds$std.error[2], stats::sd(fit$draws$effects[2, 2, ] - fit$draws$effects[2, 1, ]))
  expect_gt(tidy(fit, "concentration", conf.int = TRUE)$conf.low, 0)
  rows <- plot(fit, "membership", "depth")$data
  expect_equal(as.vector(tapply(rows$membership, rows$at, sum)), rep(1, 101))
  expect_true(all(rows$low <= rows$membership & rows$membership <= rows$high))
  expect_s3_class(plot(fit), "ggplot")
  new <- predict(fit, site_data = data.frame(depth = c(-1, NA, 1), wet = "no"), type = "membership")
  expect_identical(is.na(new[, 1]), c(FALSE, TRUE, FALSE))
  expect_identical(new[[3, 1]] > new[[1, 1]], effects[2, 1] > 0)
  expect_equal(dim(predict(fit, site_data = made$z[1:2, ])), c(2L, 20L))
  expect_equal(rowSums(predict(fit, made$x[1:4, ], type = "membership")), rep(1, 4), ignore_attr = TRUE)
  draws <- posterior_draws(fit, 4)
  expect_gt(stats::sd(vapply(draws, function(draw) draw$param$effects[2, 1], 0)), 0)
  each <- vapply(draws, function(draw) predict(draw, site_data = made$z[1, ], type = "membership")[[1]], 0)
  expect_gt(stats::sd(each), 0)
  expect_false("std.error" %in% names(tidy(draws[[1]], "effects")))
  expect_error(predict(draws[[1]], level = 0.9), "one draw of it", class = "multicause_input_error")
  expect_error(vcov(draws[[1]]), "one draw of it", class = "multicause_input_error")
  shown <- capture.output(print(summary(fit)))
  expect_length(grep("^A2 +depth ", shown), 1L)
  set.seed(8)
  again <- topics_of(made$x, 2, membership = ~ depth + wet, site_data = made$z, start = fit,
    control = mcmc_control(chains = 2, warmup = 0, draws = 20, progress = FALSE))
  expect_lt(max(abs(again$param$effects - effects)), 0.5)
  set.seed(8)
  same <- topics_of(made$x, 2, membership = ~ depth + wet, site_data = made$z, start = fit,
    control = mcmc_control(chains = 2, warmup = 0, draws = 20, progress = FALSE))
  expect_identical(same$param, again$param)
})

test_that("few components, sites and counts are legal, and the sampler is calibrated", {
  made <- drawn_topics(10, 8, 1, 3, 11, m = 5)
  one <- topics_of(made$x, 1, membership = ~depth, site_data = made$z, control = quick_chains())
  expect_equal(unname(one$param$effects), matrix(0, 2, 1))
  expect_no_error(c(capture.output(print(summary(one))), plot(one, "membership")))
  two <- topics_of(made$x[1:2, ], 2, membership = ~1, site_data = made$z[1:2, ], control = quick_chains())
  expect_true(all(is.finite(two$param$effects)))
  fit <- topics_of(made$x, 2, membership = ~depth, site_data = made$z, prior = list(basis = 0.3),
    control = mcmc_control(chains = 1, warmup = 100, draws = 100, thin = 3, progress = FALSE, init = "prior"))
  set.seed(12)
  ranks <- suppressWarnings(calibration(fit, 30))
  expect_true("effects, sum of squares" %in% ranks$table$quantity)
  expect_gt(min(ranks$table$p), 1e-4)
})

test_that("what cannot be is refused", {
  made <- drawn_topics(10, 8, 1, 3, 13, m = 5)
  refused <- function(..., pattern) {
    expect_error(plsa(made$x, 2, ...), pattern, class = "multicause_input_error")
  }
  refused(membership = ~depth, site_data = made$z, estimate = "map", pattern = "goes with `estimate = \"gibbs\"`")
  refused(membership = ~age, site_data = made$z, pattern = "names \"age\"")
  refused(site_data = made$z, pattern = "`membership` alone")
  refused(membership = ~depth, site_data = made$z, sparsity = c(membership = 0.1), pattern = "cannot both")
  refused(membership = ~depth, site_data = made$z, smooth = smooth_over(age = 1:10, bandwidth = 1, strength = 1),
    pattern = "cannot both")
  refused(membership = ~depth, site_data = made$z, prior = list(alpha = 1), pattern = "must be a list of \"effects\"")
  refused(membership = ~depth, site_data = data.frame(depth = c(NA, 2:10)), pattern = "must be known for every site")
  fit <- topics_of(made$x, 2, membership = ~depth, site_data = made$z, control = quick_chains())
  expect_error(predict(fit, made$x, site_data = made$z), "without `newdata`", class = "multicause_input_error")
  expect_error(
    plsa(made$x, 2, estimate = "gibbs", start = fit), "the same `k` and `membership`", class = "multicause_input_error"
  )
})

test_that("a formula of unknown covariates is refused with the argument that supplies them", {
  x <- matrix(1:12, 4, dimnames = list(letters[1:4], LETTERS[1:3]))
  expect_error(plsa(x, 2, membership = ~age), "there are none. Supply a data frame with that column as `site_data`.",
    fixed = TRUE, class = "multicause_input_error")
  visits <- array(rep(0:1, 12), c(4, 3, 2))
  expect_error(visits_occupancy(visits, presence = ~elev), "Supply a data frame with that column as `site_data`.",
    fixed = TRUE, class = "multicause_input_error")
  expect_error(visits_occupancy(visits, detection = ~wind), "Supply \"wind\" in `visit_data` or `site_data`.",
    fixed = TRUE, class = "multicause_input_error")
})

test_that("one draw has no variances and no intervals, and an unknown prior is refused", {
  set.seed(1)
  x <- matrix(rpois(60, 3), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  sites <- data.frame(a = rnorm(10), row.names = letters[1:10])
  few <- mcmc_control(chains = 1, warmup = 2, draws = 4, n_start = 1, progress = FALSE)
  fit <- function(...) suppressWarnings(plsa(x, 2, estimate = "gibbs", membership = ~a, site_data = sites, ...))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(fit(prior = list(effect = 1), control = few),
    "`prior` must be a list of \"effects\", \"concentration\", \"basis\" with `membership`, not ")
  draw <- posterior_draws(fit(control = few), 1)[[1]]
  refused(vcov(draw), "`object` must be a sampled fit: one draw of it has no variances.")
  refused(ggplot2::autoplot(draw, "membership"), "`object` must have its draws, for intervals.")
  refused(predict(draw, level = 0.9), "`level` goes with a sampled fit: one draw of it has no intervals.")
})

test_that("memberships have one prior, and no fixed rows", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  sites <- data.frame(a = rnorm(10), row.names = letters[1:10])
  fit <- function(...) plsa(x, 2, estimate = "gibbs", membership = ~a, site_data = sites, ...)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(fit(sparsity = c(membership = 0.1)),
    "`membership` and `sparsity` cannot both be given: memberships have one prior.")
  refused(fit(fixed = "basis", start = 1), "`membership` does not go with `fixed`.")
})
