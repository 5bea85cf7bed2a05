# Memberships that depend on covariates of the observations.

skip_on_cran()

quiet <- function(expr) suppressWarnings(suppressMessages(expr))

# 80 x 25 x 3 visits, three communities along two covariates.
following_table <- function(n = 80, m = 25) {
  set.seed(21)
  kind <- rep(c("wood", "meadow"), length.out = n)
  site <- data.frame(elev = stats::rnorm(n), kind = kind, row.names = paste0("s", 1:n))
  w <- cbind(1, site$elev, site$kind == "wood")
  effects <- cbind(c(0.5, 1.2, 0), c(0, -1.2, 0.8), c(-0.5, 0, -0.8))
  s <- ref_shares(effects, w)
  aspects <- matrix(stats::rbeta(3 * m, 0.4, 0.8), 3)
  present <- matrix(stats::rbinom(n * m, 1L, s %*% aspects), n)
  date <- matrix(stats::rnorm(n * 3), n)
  cell <- array(0L, c(n, m, 3), list(site = rownames(site), species = paste0("t", 1:m), visit = 1:3))
  ease <- stats::rnorm(m, 0, 0.5)
  for (v in 1:3) {
    probability <- stats::plogis(outer(0.4 * date[, v], ease, "+"))
    cell[, , v] <- present * stats::rbinom(n * m, 1L, probability)
  }
  cell[3, , 2] <- NA
  cell[4, , ] <- NA
  list(visits = cell, site = site, date = date, shares = s, probability = s %*% aspects, effects = effects)
}
case <- following_table()
follow <- function(..., k = 3, estimate = "map", control = fit_control(n_start = 2)) {
  quiet(visits_bernoulli(
    case$visits, k, communities = ~ elev + kind, site_data = case$site, estimate = estimate, ..., control = control
  ))
}

test_that("one iteration makes the Newton step of the expected counts", {
  set.seed(1)
  start <- c(random_start(80, 25, 3), list(communities = centred_effects(matrix(rnorm(9, 0, 0.4), 3))))
  for (estimate in c("ml", "map")) {
    fit <- follow(estimate = estimate, missed_by = "visit", start = start, control = plain(1))
    by <- fit$communities
    w <- t(by$design)
    before <- solve(by$basis, start$communities)
    s <- ref_shares(before, w)
    begin <- list(membership = s, aspects = start$aspects, missed = matrix(0.4, 1, 3), added = rep(0, 3))
    x <- case$visits
    counts <- 0 * s
    for (i in seq_len(nrow(x))) counts[i, ] <- ref_visit_counts(x, begin, i)
    want <- matrix(ref_effects_step(before, w, counts, by$ridge), 3)
    expect_gt(
      ref_counts_objective(want, w, counts, by$ridge), ref_counts_objective(before, w, counts, by$ridge)
    )
    expect_equal(unname(fit$param$communities), by$basis %*% want, tolerance = 1e-8)
    expect_equal(unname(fit$param$membership), ref_shares(want, w), tolerance = 1e-8)
  }
})

test_that("the objective never falls, and ends no lower than by EM; effects sum to 0, threads change nothing", {
  for (estimate in c("ml", "map")) {
    set.seed(2)
    fit <- follow(detection = ~date, visit_data = list(date = case$date), estimate = estimate)
    expect_true(all(diff(fit$trace$objective) > -1e-8))
    expect_equal(unname(rowSums(fit$param$communities)), numeric(3), tolerance = 1e-8)
    set.seed(2)
    em <- follow(
      detection = ~date, visit_data = list(date = case$date), estimate = estimate,
      control = fit_control(n_start = 2, algorithm = "em")
    )
    expect_gt(max(fit$starts$objective), max(em$starts$objective) - 1e-3)
    expect_lt(sum(fit$starts$iterations), sum(em$starts$iterations))
  }
  expect_named(fit$objective, "log_posterior")
  again <- function(threads) {
    set.seed(3)
    follow(missed_by = "visit", control = fit_control(n_start = 1, n_threads = threads))$param
  }
  expect_identical(again(1), again(2))
  expect_equal(fit$df, 3 * 2 + 3 * 25 + 2 * 25)
})

test_that("planted effects come back, within their standard errors", {
  set.seed(4)
  fit <- follow(missed_by = "visit", estimate = "ml")
  s <- case$shares
  at <- match_components(fit$param$aspects, solve(crossprod(s), crossprod(s, case$probability)))
  off <- fit$param$communities[, at] - (case$effects - rowMeans(case$effects))
  error <- matrix(sqrt(diag(vcov(fit, "communities"))), 3, dimnames = dimnames(fit$param$communities))[, at]
  expect_lt(sqrt(mean((off[2:3, ] / error[2:3, ])^2)), 3)
  expect_gt(cor(as.vector(fitted(fit)), as.vector(case$probability)), 0.85)
  # A site without visits is predicted from its covariates.
  expect_equal(unname(fitted(fit)[4, ]), as.vector(predict(fit, type = "membership", rows = 4) %*% fit$param$aspects))
})

test_that("standard errors are those of the likelihood's own curvature", {
  set.seed(5)
  fit <- follow(missed_by = "visit", estimate = "map", control = fit_control(n_start = 1, tol = 1e-12, max_iter = 5000))
  by <- fit$communities
  w <- t(by$design)
  basis <- kronecker(qr.Q(qr(contr.sum(3))), diag(1, 3))
  at <- as.vector(crossprod(basis, as.vector(solve(by$basis, fit$param$communities))))
  value <- function(free) {
    effects <- matrix(basis %*% free, 3)
    trial <- fit
    trial$param$membership <- ref_shares(effects, w)
    none <- fit_control(max_iter = 0, n_start = 1)
    visits_run(fit$visits, visit_param(trial), NULL, none)$outcome$objective - by$ridge * sum(effects^2) / 2
  }
  h <- 1e-3
  step <- function(e) replace(numeric(6), e, h)
  hessian <- outer(1:6, 1:6, Vectorize(function(a, b) {
    both <- step(a) + step(b)
    apart <- step(a) - step(b)
    (value(at + both) - value(at + apart) - value(at - apart) + value(at - both)) / (4 * h^2)
  }))
  own <- kronecker(diag(1, 3), by$basis) %*% basis
  expect_equal(unname(vcov(fit, "communities")), own %*% solve(-hessian) %*% t(own), tolerance = 1e-3)
  gradient <- vapply(1:6, function(e) (value(at + step(e)) - value(at - step(e))) / (2 * h), 0)
  expect_lt(max(abs(gradient)), 1e-2)
})

test_that("the sampler has the exact law: Geweke's joint test, calibration, short", {
  set.seed(6)
  cell <- array(0L, c(4, 3, 2))
  cell[2, , 2] <- NA
  cell[3, 1, ] <- NA
  prior <- list(aspects = c(0.8, 1.3), membership = 1, detection = 0.9, communities = 0.8)
  site <- data.frame(elev = c(-1, 0.2, 1, 0.4))
  for (k in 2:3) {
    problem <- visits_test_problem(cell, k, prior, "none", ~1, communities = ~elev, site = site)
    expect_lt(max(abs(visits_geweke_z(problem, 4000))), 4)
  }
  p <- rank_p(visits_sbc_ranks(problem, n_set = 60, warmup = 100, thin = 10), 19)
  expect_gt(min(p), 1e-4 / length(p))
})

test_that("of sites without visits, effects are drawn from their prior, whose tails proposals do not have", {
  set.seed(9)
  prior <- list(aspects = c(0.8, 1.3), membership = 1, detection = 0.9, communities = 0.8)
  problem <- visits_test_problem(
    array(0L, c(4, 3, 2)), 3, prior, "none", ~1, communities = ~elev, site = data.frame(elev = c(-1, 0.2, 1, 0.4))
  )
  problem$cell[] <- NA
  scaled <- visits_sweeps(problem, visits_prior_state(problem), 4000, 1L)$all_effects / 0.8
  expect_lt(max(abs(rowMeans(scaled) / batch_error(scaled))), 4)
  expect_lt(max(abs((rowMeans(scaled^2) - 1) / batch_error(scaled^2))), 4)
})

test_that("draws of effects are those of the memberships; a fit says what it goes by", {
  few <- mcmc_control(chains = 2, warmup = 50, draws = 100, keep = 20, progress = FALSE)
  set.seed(7)
  drawn <- follow(detection = ~date, visit_data = list(date = case$date), estimate = "gibbs", control = few)
  expect_equal(dim(drawn$draws$communities), c(3L, 3L, 200L))
  expect_equal(unname(colSums(drawn$param$membership)) / 80, unname(colMeans(drawn$param$membership)))
  state <- drawn$kept[[1]][[1]]
  expect_equal(
    unname(multinomial_shares(drawn$communities$design, solve(drawn$communities$basis, state$communities))),
    unname(state$membership), tolerance = 1e-10
  )
  expect_equal(dim(vcov(drawn, "communities")), c(9L, 9L))
  more <- follow(
    detection = ~date, visit_data = list(date = case$date), estimate = "gibbs", control = few, start = drawn
  )
  expect_s3_class(more, "visits_bernoulli_gibbs")
  set.seed(8)
  fit <- follow(missed_by = "visit")
  expect_output(print(summary(fit)), "Memberships depend on ~elev \\+ kind")
  columns <- c("term", "component", "estimate", "std.error")
  expect_named(tidy(fit, "communities"), columns)
  expect_s3_class(quiet(update(fit, k = 2)), "visits_bernoulli")
  # Every kept start is a complete fit.
  kept <- follow(
    detection = ~date, visit_data = list(date = case$date), control = fit_control(n_start = 3, keep_starts = TRUE)
  )
  expect_identical(names(kept$start_params[[1]]), names(kept$param))
  expect_length(start_fits(kept, "kept"), nrow(kept$starts[kept$starts$finished, ]))
  expect_identical(dim(follow(k = 1, missed_by = "visit")$param$communities), c(3L, 1L))
})

test_that("what communities cannot go by is refused", {
  run <- function(...) quiet(visits_bernoulli(case$visits, 2, missed_by = "visit", ...))
  unknown <- case$site
  unknown$elev[2] <- NA
  expect_snapshot(error = TRUE, {
    run(communities = ~elev)
    run(communities = elev ~ kind, site_data = case$site)
    run(communities = ~date, visit_data = list(date = case$date))
    run(communities = ~ elev + mass, site_data = case$site, taxon_data = data.frame(mass = 1:25))
    run(communities = ~elev, site_data = unknown)
    run(communities = ~ elev + I(2 * elev), site_data = case$site)
    run(communities = ~ elev + offset(elev), site_data = case$site)
    run(communities = ~elev, site_data = case$site, prior = list(aspects = c(1, 1), membership = 2))
    vcov(run(), "communities")
  })
})
