# Noisy-OR whose probability of recording depends on the effort of sites (R/noisy_or_recording.R).

# Shares of the grid points as a function of the sites' effort.
ref_nor_effort_shares <- function(coef, effort) {
  t(vapply(effort, function(e) stats::dbinom(0:9, 9L, stats::plogis(-coef[1L] - coef[2L] * e)), numeric(10)))
}

test_that("with effort the likelihood sums over each site's own probabilities, and logistic regression climbs it", {
  set.seed(12)
  p <- recorded_problem(n = 9, missing = 0.1)
  effort <- stats::rnorm(9, 3)
  scaled <- scale_effort(effort)
  p$start$recorded_share <- rep(1, 10) # shares are those of sites
  joint <- ref_nor_recorded_joint(p$x, p$start)
  start <- p$start[c("prior", "links", "leak", "recorded_taxon")]
  for (inference in c("exact", "truncated", "variational")) {
    fit <- function(iterations, ...) {
      quietly(noisy_or(
        p$x, 3, inference = inference, estimate = "ml", effort = effort, missed_by = "both", inner = 1, start = start,
        control = fit_control(n_start = 1, max_iter = iterations, tol = 0, ...)
      ))
    }
    value <- function(fit, joint) {
      shares <- ref_nor_effort_shares(fit$model$coef, scaled)
      joint <- joint + aperm(array(log(shares), c(9, 10, 8)), c(1, 3, 2))
      list(loglik = sum(log(apply(exp(joint), 1L, sum))), posterior = apply(exp(joint), c(1L, 3L), sum))
    }
    none <- fit(0, accelerate = FALSE)
    want <- value(none, joint)
    expect_close(none$loglik, want$loglik)
    posterior <- want$posterior / rowSums(want$posterior)
    expect_close(none$param$recorded_site, posterior %*% (1:10 / 10)^2)
    if (inference != "variational") {
      misses <- posterior %*% (9:0)
      curve <- quietly(stats::glm.fit(cbind(1, scaled), misses / 9, rep(9, 9), family = stats::binomial()))
      expect_equal(fit(1, accelerate = FALSE)$model$coef, unname(curve$coefficients), tolerance = 1e-6)
    }
    long <- fit(40)
    expect_gte(min(diff(long$trace$objective)), -1e-10 * abs(long$objective))
    expect_lte(long$objective, long$loglik + 1e-9)
    expect_identical(fit(20, n_threads = 2)$param, fit(20)$param)
  }
})

test_that("shares of three blocks of rows are added up before the logistic regression", {
  set.seed(13)
  n <- three_blocks()
  p <- recorded_problem(n = n, m = 4, missing = 0.1)
  effort <- stats::rnorm(n, 3)
  start <- p$start[c("prior", "links", "leak", "recorded_taxon")]
  p$start$recorded_share <- rep(1, 10)
  joint <- exp(ref_nor_recorded_joint(p$x, p$start))
  for (inference in c("exact", "truncated")) {
    fit <- function(iterations) {
      quietly(noisy_or(
        p$x, 3, inference = inference, estimate = "ml", effort = effort, missed_by = "both", inner = 1, start = start,
        control = nor_plain(iterations)
      ))
    }
    shares <- ref_nor_effort_shares(fit(0)$model$coef, scale_effort(effort))
    posterior <- apply(joint, c(1L, 3L), sum) * shares
    misses <- posterior %*% (9:0) / rowSums(posterior)
    curve <- quietly(stats::glm.fit(cbind(1, scale_effort(effort)), misses / 9, rep(9, n), family = stats::binomial()))
    expect_equal(fit(1)$model$coef, unname(curve$coefficients), tolerance = 1e-6)
  }
})

test_that("an effort that governs what is missed is found, and helps to find what was missed", {
  p <- recorded_planted(300, 3)
  set.seed(3)
  effort <- stats::setNames(stats::rnorm(300, 2), rownames(p$x))
  probability <- stats::plogis(1.3 * (effort - 2))
  p$x[] <- p$present * stats::rbinom(length(p$x), 1L, probability)
  rows <- rep(1:150, 2) # few cells a site: half of the taxa are unknown there
  p$x[cbind(rows, rep(1:15, each = 20))] <- NA
  fit <- function(...) {
    set.seed(1)
    quietly(noisy_or(p$x, 4, missed_by = "site", control = fit_control(n_start = 4), ...))
  }
  with <- fit(effort = rev(effort)) # by name
  without <- fit()
  expect_lt(with$effort$coefficients[["slope"]], -0.5)
  expect_identical(with$effort$values, unname(effort))
  expect_gt(stats::cor(with$param$recorded_site, probability), stats::cor(without$param$recorded_site, probability))
  zero <- which(p$x == 0)
  hidden <- p$present[zero] == 1
  area <- function(fit) rank_auc(predict(fit, type = "present")[zero], hidden)
  expect_gt(area(with), area(without))
  expect_identical(with$df, 4 + 120 + 30 + 2)
  expect_output(print(summary(with)), "probability of a record follows effort")
  expect_output(print(summary(with)), "depends on effort")
  expect_equal(mean(unlist(simulate(with, 50, seed = 1))), mean(fitted(with)), tolerance = 0.1)
  expect_equal(predict(with)[3:4, ], predict(with, rows = 3:4))
  expect_true(all(is.finite(predict(with, p$x[1:3, ]))))
  expect_equal(sum(by_site(with)$missed), with$missed, tolerance = 1e-8)
  expect_identical(quietly(update(with, k = 2))$effort$values, with$effort$values)
  expect_error(identifiability(with), "without `effort`")
  expect_error(noisy_or(p$x, 2, effort = effort), "needs `missed_by`")
  expect_error(noisy_or(p$x, 2, effort = rep(1, 300), missed_by = "site"), "must differ")
  expect_error(
    noisy_or(p$x, 2, effort = replace(effort, 3, NA), missed_by = "site"), rownames(p$x)[3L],
    class = "multicause_input_error"
  )
})
