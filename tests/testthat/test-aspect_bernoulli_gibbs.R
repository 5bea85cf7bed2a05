# Tests also R/aspect_bernoulli_gibbs.R, R/chains.R.

skip_on_cran()

few <- function(...) {
  settings <- list(chains = 2, warmup = 40, draws = 60, n_start = 2, keep = 20, progress = FALSE)
  do.call(mcmc_control, utils::modifyList(settings, list(...)))
}

gibbs <- function(x, k, ...) {
  withCallingHandlers(
    aspect_bernoulli(x, k, estimate = "gibbs", ...),
    multicause_chains_disagree = function(w) invokeRestart("muffleWarning")
  )
}

test_that("the sampler has the exact posterior of tiny tables", {
  set.seed(1)
  prior <- list(aspects = c(0.8, 1.3), membership = 0.6)
  x <- matrix(c(1, 0, 1, 0, 0, 1), 3)
  gap <- replace(x, 5, NA)
  for (case in list(list(x, 2, "free"), list(gap, 2, "white"), list(x, 3, "both"), list(t(gap), 2, "black"))) {
    got <- gibbs_exact_z(case[[1]], case[[2]], prior, case[[3]], n_sweep = 4000, n_exact = 4000)
    expect_lt(max(abs(got$z)), 4)
    expect_lt(sqrt(mean(got$z^2)), 2)
  }
})

test_that("Geweke's joint test and simulation-based calibration, short", {
  set.seed(2)
  prior <- list(aspects = c(0.8, 1.3), membership = 0.6)
  expect_lt(max(abs(gibbs_geweke_z(4, 3, 3, prior, "white", 1500))), 4)
  expect_lt(max(abs(gibbs_geweke_z(4, 3, 2, prior, "free", 1500))), 4)
  p <- rank_p(gibbs_sbc_ranks(8, 4, 2, prior, n_set = 60, warmup = 100, thin = 10), 19)
  expect_gt(min(p), 1e-4 / length(p))
})

test_that("what the kernel sums up of cells and draws is what plain R makes of the states", {
  set.seed(3)
  x <- binary(9, 6, 0.4, 0.1)
  prior <- list(aspects = c(0.7, 1.1), membership = 0.4)
  for (phantom in c("free", "white", "both")) {
    problem <- gibbs_test_problem(x, 4, prior, phantom)
    fixed <- problem$fixed
    kind <- ifelse(fixed == "free", "content", fixed)
    state <- gibbs_prior_state(9, 6, prior, fixed)
    out <- gibbs_sweeps(problem, state, 12, list(thin = 2, keep_every = 1, kind = kind))
    states <- gibbs_kept(out, problem)
    expect_length(states, 6)
    expect_identical(states[[6]], out$state)
    note <- matrix(out$note, ncol = 6)
    scores <- lapply(states, function(s) {
      zeros <- cell_scores.aspect_bernoulli(list(param = s), 1:9, kind)
      ones <- cell_scores.aspect_bernoulli(list(param = s), 1:9, kind, "presences")
      for (part in c("missed", "phantom")) zeros[[part]][which(x == 1)] <- ones[[part]][which(x == 1)]
      zeros
    })
    sums <- array(out$cell, c(6, length(out$cell) / 54, 9))
    total <- function(part, power = 1) Reduce(`+`, lapply(scores, function(score) score[[part]]^power))
    expect_equal(t(sums[, 1, ]), total("probability"))
    expect_equal(t(sums[, 2, ]), total("probability", 2))
    if (phantom != "free") {
      expect_equal(t(sums[, 3, ]), total("missed"))
      expect_equal(t(sums[, 4, ]), total("missed", 2))
      expect_equal(t(sums[, 5, ]), total("present"))
      expect_equal(t(sums[, 6, ]), total("phantom"))
    }
    loglik <- vapply(states, function(s) ref_loglik(x, s$membership, s$aspects), 0)
    expect_equal(note[2, ], loglik)
    free <- fixed == "free"
    log_prior <- vapply(states, function(s) {
      9 * (lgamma(4 * 0.4) - 4 * lgamma(0.4)) + sum((0.4 - 1) * log(s$membership)) +
        sum(dbeta(s$aspects[free, ], 0.7, 1.1, log = TRUE))
    }, 0)
    expect_equal(note[1, ], loglik + log_prior)
    expect_equal(note[3, ], vapply(states, function(s) sum(s$membership[, kind == "white"]) / 9, 0))
    expect_equal(note[4, ], vapply(states, function(s) sum(s$membership[, kind == "black"]) / 9, 0))
    missed <- function(value) vapply(scores, function(score) sum(score$missed[which(x == value)]), 0)
    expect_equal(note[5:6, ], rbind(missed(0), missed(1)))
    at <- t(problem$probe) + 1L
    expect_equal(note[-(1:6), ], vapply(states, function(s) (s$membership %*% s$aspects)[at], numeric(nrow(at))))
    sum_of <- function(part) Reduce(`+`, lapply(states, function(s) s[[part]]))
    expect_equal(gibbs_means(out, 1, problem), list(membership = sum_of("membership"), aspects = sum_of("aspects")))
  }
})

test_that("draws are labelled as the reference nearest to them", {
  set.seed(4)
  x <- planted(60, 16)$x
  problem <- gibbs_test_problem(x, 4, list(aspects = c(0.5, 0.5), membership = 0.5), "white")
  state <- gibbs_sweeps(problem, gibbs_prior_state(60, 16, problem$prior, problem$fixed), 200)$state
  at <- c(3, 1, 2, 4)
  out <- gibbs_sweeps(problem, state, 1, list(thin = 1, reference = state$aspects[at, ]))
  expect_identical(match_components(out$state$aspects, state$aspects[at, ]), 1:4)
  set.seed(5)
  plain <- gibbs_sweeps(problem, state, 1, list(thin = 1))$state
  set.seed(5)
  labelled <- gibbs_sweeps(problem, state, 1, list(thin = 1, reference = state$aspects[at, ]))$state
  expect_identical(labelled, ab_permute(plain, at))
})

test_that("a fit is one that every verb takes", {
  set.seed(6)
  x <- planted(60, 16)$x
  dimnames(x) <- list(paste0("site", 1:60), paste0("taxon", 1:16))
  x[cbind(1:5, 2:6)] <- NA
  fit <- gibbs(x, 3, phantom = "white", control = few())
  own <- c("aspect_bernoulli_gibbs", "aspect_bernoulli", "aspect_model_gibbs", "aspect_model", "multicause")
  expect_s3_class(fit, own, exact = TRUE)
  expect_identical(dimnames(fitted(fit)), dimnames(x))
  expect_identical(dimnames(coef(fit)$aspects), list(c("A1", "A2", "A3"), colnames(x)))
  expect_equal(nobs(fit), 955)
  expect_true(all(fit$param$aspects["A3", ] == 0))
  expect_equal(fit$loglik, ref_loglik(x, fit$param$membership, fit$param$aspects))
  absent <- false_absences(fit, Inf, by = "missed")
  expect_true(all(absent$missed_low <= absent$missed & absent$missed <= absent$missed_high))
  expect_equal(attr(absent, "expected"), mean(fit$trace$false_absences))
  expect_true(all(absent$missed <= absent$missed_most))
  states <- posterior_draws(fit, 40)
  expect_true(is.na(states[[1L]]$objective)) # not that of the best draw
  expect_length(states, 40)
  expect_s3_class(states[[1]], c("aspect_bernoulli", "aspect_model", "multicause"), exact = TRUE)
  expect_equal(fitted(states[[3]]), fit$kept[[1]][[3]]$membership %*% fit$kept[[1]][[3]]$aspects, ignore_attr = TRUE)
  # User-defined phantoms, over the kept states.
  by_states <- false_absences(fit, Inf, kinds = c("white", "content", "white"))
  each <- lapply(states, false_absences, n = Inf, kinds = c("white", "content", "white"))
  expect_equal(attr(by_states, "expected"), mean(vapply(each, function(f) attr(f, "expected"), 0)))
  band <- predict(fit, level = 0.9)
  expect_identical(band$mean, fitted(fit))
  expect_true(all(band$lower <= band$mean & band$mean <= band$upper))
  expect_equal(dim(predict(fit, x[1:2, 16:1])), c(2, 16))
  expect_identical(predict(fit, rows = "site2"), fitted(fit)["site2", , drop = FALSE])
  expect_equal(dim(predict(fit, type = "cell", rows = 1:2)), c(2, 16, 3))
  expect_equal(sum(by_taxon(fit)$missed), attr(absent, "expected"))
  expect_s3_class(denoise(fit), "denoised")
  expect_s3_class(identifiability(fit, draws = states[1:5]), "identifiability")
  # Also if no component is a phantom: one with share 0 is added.
  none <- rep("content", 3)
  expect_s3_class(identifiability(fit, kinds = none), "identifiability")
  expect_true(all(c("objective", "white_share") %in% summary(fit)$quantities$quantity))
  expect_error(AIC(fit), class = "multicause_input_error")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_no_error(plot(fit))
  expect_s3_class(plot(fit, "trace"), "ggplot")
})

test_that("a phantom that was not fixed is told by the labels, presences are mirrored", {
  set.seed(7)
  truth <- planted(150, 40)
  fit <- gibbs(truth$x, 3, control = few(warmup = 100))
  expect_identical(fit$kinds, c("content", "content", "white"))
  expect_identical(phantoms(fit)$kind, fit$kinds)
  expect_gt(attr(false_absences(fit), "expected"), 10)
  set.seed(7)
  flipped <- gibbs(1 - truth$x, 3, phantom = "black", control = few())
  added <- false_presences(flipped, 5)
  expect_true(all(c("added_low", "added_high", "added_most") %in% names(added)))
  expect_equal(attr(added, "expected"), mean(flipped$trace$false_presences))
})

test_that("intervals of cells are near the quantiles of their draws", {
  set.seed(8)
  fit <- gibbs(planted(30, 10)$x, 3, phantom = "white", control = few(draws = 500, keep = 500))
  p <- vapply(kept_states(fit), function(s) as.vector(s$membership %*% s$aspects), numeric(300))
  expect_equal(as.vector(fitted(fit)), rowMeans(p))
  band <- predict(fit, level = 0.9)
  inside <- rowMeans(p >= as.vector(band$lower) & p <= as.vector(band$upper))
  expect_equal(mean(inside), 0.9, tolerance = 0.02)
  expect_gt(min(inside), 0.8)
})

test_that("quantiles of Beta distributions next to 0 and 1 come without warnings", {
  for (p in c(0.05, 0.25, 0.5, 0.95)) {
    expect_silent(steep <- beta_quantile(p, c(0.003, 100, 1e-6, 1e-6, 2), c(100, 0.003, 1e-7, 10, 3)))
    expect_equal(steep[5], stats::qbeta(p, 2, 3))
    expect_equal(steep[1:2], c(0, 1), tolerance = 1e-6)
    expect_equal(steep[3:4], c(as.numeric(p > 1 / 11), 0))
  }
})

test_that("the seed alone decides: plans, storage, resuming", {
  x <- planted(40, 12)$x
  run <- function(x, ...) {
    set.seed(9)
    gibbs(x, 3, phantom = "white", control = few(...))
  }
  hold_chains(run, x, 1 - x, function(fit) {
    prior <- list(aspects = c(0.5, 0.5), membership = 0.5)
    gibbs_problem(check_data(x, "binary"), c("free", "free", "white"), prior, few())
  })
})

test_that("chains go on from another fit, from a start, from the prior", {
  set.seed(10)
  x <- planted(40, 12)$x
  fit <- gibbs(x, 3, phantom = "white", control = few())
  more <- gibbs(x, 3, phantom = "white", start = fit, control = few(warmup = 0, chains = 3))
  expect_identical(unique(more$starts$init), "given")
  expect_equal(more$trace$log_likelihood[1], tail(fit$trace$log_likelihood[1:60], 1), tolerance = 0.2)
  started <- gibbs(x, 3, start = fit$param[c("membership", "aspects")], control = few(warmup = 0))
  expect_s3_class(started, "aspect_bernoulli_gibbs")
  expect_s3_class(gibbs(x, 2, control = few(init = "prior", chains = 1)), "aspect_bernoulli_gibbs")
  again <- suppressWarnings(update(fit, k = 2))
  expect_identical(again$dims[["k"]], 2)
})

test_that("degenerate tables are legal, and one component is exact", {
  set.seed(11)
  tables <- list(
    matrix(1), matrix(0:1, 1), matrix(0:1, 2), matrix(0, 4, 3), matrix(1, 4, 3), matrix(NA_real_, 3, 2),
    replace(binary(5, 4), c(1, 6, 11, 16), NA)
  )
  for (x in tables) {
    for (k in 1:3) {
      fit <- suppressMessages(gibbs(x, k, control = few(draws = 6, warmup = 5)))
      expect_true(all(is.finite(fitted(fit)) & fitted(fit) >= 0 & fitted(fit) <= 1))
      expect_output(print(fit))
    }
  }
  x <- binary(20, 5)
  fit <- gibbs(x, 1, prior = list(aspects = c(2, 3), membership = 1), control = few(draws = 2000))
  expect_equal(unname(fitted(fit)[1, ]), (2 + colSums(x)) / 25, tolerance = 0.02)
  tiny <- gibbs(x, 3, prior = list(aspects = c(0.01, 0.01), membership = 1e-3), control = few())
  expect_true(all(is.finite(fitted(tiny))))
})

test_that("an interrupt keeps the draws made so far", {
  set.seed(12)
  problem <- gibbs_test_problem(planted(40, 12)$x, 3, list(aspects = c(0.5, 0.5), membership = 0.5), "white")
  jobs <- list(interrupted_chain(problem))
  expect_warning(fit <- ab_gibbs_fit(jobs, problem, quote(f())), class = "multicause_interrupted")
  expect_lt(nrow(fit$trace), 1000)
  expect_equal(unname(fitted(fit)), unname(fit$cells$probability$mean))
})

test_that("an interrupt before the first state that is kept leaves one; no more than `keep` are kept", {
  set.seed(12)
  x <- planted(40, 12)$x
  problem <- gibbs_test_problem(x, 3, list(aspects = c(0.5, 0.5), membership = 0.5), "white")
  problem$control[c("warmup", "draws", "keep")] <- list(0L, 1e5L, 1L)
  job <- new_job(problem, NULL, gibbs_prior_state(40, 12, problem$prior, problem$fixed))
  job <- step_job(problem, job)
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
  job <- step_job(problem, job, function(iteration, objective) if (iteration > 5) stop(interrupt))
  expect_true(job$stopped)
  expect_gt(job$n_draw, 0)
  expect_lt(job$n_draw, 1e5)
  expect_length(job$kept, 1)
  fit <- gibbs(x, 2, control = few(draws = 39))
  expect_length(fit$kept[[1]], 19)
})

test_that("draws convert; what disagrees is said; wrong input is refused", {
  set.seed(13)
  x <- planted(40, 12)$x
  fit <- gibbs(x, 2, control = few())
  if (requireNamespace("posterior", quietly = TRUE)) expect_equal(dim(posterior::as_draws(fit))[1:2], c(60, 2))
  if (requireNamespace("coda", quietly = TRUE)) expect_length(coda::as.mcmc(fit), 2)
  apart <- list(membership = matrix(c(0.99, 0.01), 40, 2, byrow = TRUE), aspects = matrix(0.5, 2, 12))
  job <- function(level) {
    list(
      stream = 1, phase = "done", state = apart, starts = NULL, n_draw = 10L, kind = rep("content", 2), kept = list(),
      note = matrix(rnorm(140, level), 14),
      sums = list(cell = numeric(2 * 480), sum_membership = rep(c(0.5, 0.25), each = 80) * 10,
        sum_aspects = rep(c(0.5, 0.25), each = 24) * 10), stopped = FALSE
    )
  }
  problem <- gibbs_test_problem(x, 2, list(aspects = c(0.5, 0.5), membership = 0.5))
  expect_warning(ab_gibbs_fit(list(job(0), job(50)), problem, quote(f())), class = "multicause_chains_disagree")
  expect_snapshot(error = TRUE, {
    aspect_bernoulli(x, 2, estimate = "gibbs", control = fit_control())
    aspect_bernoulli(x, 2, estimate = "gibbs", effort = 1:40)
    aspect_bernoulli(x, 2, estimate = "gibbs", prior = list(aspects = c(0, 1), membership = 1))
    aspect_bernoulli(x, 3, estimate = "gibbs", start = fit)
    predict(fit, x[1:2, ], level = 0.9)
    logLik(fit)
  })
})

test_that("conventions are those of the posterior means", {
  set.seed(14)
  fit <- gibbs(planted(60, 16)$x, 3, phantom = "white", control = few())
  at_means <- without_draws(fit)
  for (convention in c("minimal", "maximal")) {
    expect_equal(
      false_absences(fit, Inf, phantom_convention = convention),
      false_absences(at_means, Inf, phantom_convention = convention)
    )
    expect_equal(
      predict(fit, type = "membership", phantom_convention = convention),
      predict(at_means, type = "membership", phantom_convention = convention)
    )
  }
  expect_identical(predict(fit, phantom_convention = "maximal"), fitted(fit))
  expect_error(predict(fit, nonsense = 1), class = "multicause_input_error")
})

test_that("the print has the interval of the number of false absences that summary() and confint() have", {
  set.seed(1)
  x <- matrix(rbinom(240, 1, 0.4), 20)
  few <- mcmc_control(chains = 2, warmup = 50, draws = 100, progress = FALSE)
  fit <- suppressWarnings(suppressMessages(
    aspect_bernoulli(x, 3, phantom = "white", estimate = "gibbs", control = few)
  ))
  ends <- round(confint(fit, "false_absences", level = 0.9))
  expect_match(print_words(fit), sprintf("%%, 90 %% interval %.0f to %.0f).", ends[1L], ends[2L]), fixed = TRUE)
  expect_no_match(print_words(posterior_draws(fit, 1)[[1L]]), "90 % interval")
})
