# Tests of R/base_effort.R and of its use in models.

# A table whose phantom depends on effort.
effort_table <- function(n = 200, m = 40, slope = -1.2) {
  set.seed(3)
  effort <- stats::rnorm(n, 2)
  share <- stats::plogis(1.5 + slope * effort)
  s <- matrix(stats::rexp(n * 3), n)
  present <- (s / rowSums(s)) %*% matrix(stats::rbeta(3 * m, 0.4, 0.8), 3)
  list(x = matrix(stats::rbinom(n * m, 1L, (1 - share) * present), n), effort = effort, share = share)
}

# One iteration in plain R: counts of each component by eq. (8), the curve by glm(), the other shares in proportion, eq.
# (9).
ref_effort_pass <- function(x, s, a, effort) {
  k <- ncol(s)
  counts <- ref_memberships(x, s, a) * rowSums(!is.na(x))
  curve <- suppressWarnings(stats::glm.fit(
    cbind(1, effort), counts[, k] / rowSums(counts), rowSums(counts),
    family = stats::binomial(), control = stats::glm.control(1e-14, 100)
  ))
  share <- as.vector(stats::plogis(cbind(1, effort) %*% curve$coefficients))
  s <- unname(cbind((1 - share) * counts[, -k] / rowSums(counts[, -k]), share))
  list(membership = unname(s), aspects = ref_aspects(x, s, a), coef = unname(curve$coefficients))
}

test_that("one iteration is EM of the constrained model", {
  set.seed(1)
  for (n in c(12, three_blocks())) {
    x <- binary(n, 7, 0.4, 0.1)
    start <- random_start(n, 7, 3)
    start$aspects[3, ] <- 0
    effort <- stats::rnorm(n, 5, 2)
    z <- scale_effort(effort)
    # from shares on a curve, as in the kernel
    share <- stats::plogis(0.3 - 0.2 * z)
    start$membership <- unname(
      cbind((1 - share) * start$membership[, 1:2] / rowSums(start$membership[, 1:2]), share)
    )
    start$coef <- c(0.3, -0.2)
    problem <- ab_problem(check_data(x, "binary"), c("free", "free", "white"), "ml", NULL, effort)
    got <- run_start(problem, start, plain(1))$param
    want <- ref_effort_pass(x, start$membership, start$aspects, z)
    expect_equal(got, want, tolerance = 1e-8)
  }
})

test_that("the objective never falls and the shares follow the curve", {
  case <- effort_table(60, 15)
  quick <- fit_control(n_start = 1)
  for (prior in list(list(aspects = c(1, 1), membership = 1), list(aspects = c(1.2, 2), membership = 1.3))) {
    set.seed(2)
    fit <- aspect_bernoulli(case$x, 3, estimate = "map", prior = prior, effort = case$effort, control = quick)
    expect_true(all(diff(fit$trace$objective) > -1e-8))
    curve <- fit$effort$coefficients
    share <- stats::plogis(curve[["intercept"]] + curve[["slope"]] * case$effort)
    expect_equal(unname(fit$param$membership[, 3]), share, tolerance = 1e-9)
    expect_equal(unname(rowSums(fit$param$membership)), rep(1, 60))
  }
})

test_that("a planted effect is recovered, better than without effort", {
  case <- effort_table()
  set.seed(4)
  fit <- aspect_bernoulli(case$x, 4, estimate = "ml", effort = case$effort, control = fit_control(n_start = 4))
  expect_equal(fit$effort$coefficients[["slope"]], -1.2, tolerance = 0.25)
  expect_gt(cor(fit$param$membership[, 4], case$share), 0.99)
  set.seed(4)
  bare <- aspect_bernoulli(case$x, 4, estimate = "ml", phantom = "white", control = fit_control(n_start = 4))
  error <- function(fit) mean((fit$param$membership[, 4] - case$share)^2)
  expect_lt(error(fit), error(bare) / 4)
  expect_equal(bare$df - fit$df, 200 - 2)
  expect_equal(unname(summary(fit)$certificate[["membership_gap"]]), NA_real_)
})

test_that("effort is matched by name; threads do not matter; update() keeps it", {
  case <- effort_table(40, 12)
  dimnames(case$x) <- list(paste0("s", 1:40), paste0("t", 1:12))
  quick <- fit_control(n_start = 2, max_iter = 200)
  run <- function(effort, control = quick) {
    set.seed(5)
    suppressWarnings(aspect_bernoulli(case$x, 3, estimate = "ml", effort = effort, control = control))
  }
  fit <- run(case$effort)
  named <- stats::setNames(case$effort, rownames(case$x))
  expect_identical(run(rev(named))$param, fit$param)
  expect_identical(run(case$effort, fit_control(n_start = 2, max_iter = 200, n_threads = 2))$param, fit$param)
  set.seed(5)
  expect_identical(suppressWarnings(update(fit))$param, fit$param)
  expect_s3_class(identifiability(fit), "identifiability")
  expect_s3_class(false_absences(fit), "false_absences")
})

test_that("the print says what effort does; wrong effort is told", {
  case <- effort_table(40, 12)
  set.seed(6)
  two <- fit_control(n_start = 2)
  fit <- suppressWarnings(aspect_bernoulli(case$x, 3, estimate = "ml", effort = case$effort, control = two))
  expect_output(print(fit), "The phantom's share follows effort")
  expect_snapshot(error = TRUE, {
    aspect_bernoulli(case$x, 3, effort = rep(1, 40))
    aspect_bernoulli(case$x, 3, effort = c(NA, 2:40))
    aspect_bernoulli(case$x, 3, effort = case$effort, phantom = "black")
    aspect_bernoulli(case$x, 1, effort = case$effort)
  })
})

test_that("effort may be a table by site, of more sites than the data have", {
  set.seed(5)
  x <- matrix(rbinom(80, 1, 0.5), 10, dimnames = list(letters[1:10], NULL))
  effort <- tapply(rpois(60, 3) + 0.1, rep(c(letters[10:1], "other", "more"), 5), sum)
  one <- fit_control(n_start = 1, max_iter = 20)
  fit <- function(effort) suppressWarnings(aspect_bernoulli(x, 2, estimate = "ml", effort = effort, control = one))
  expect_equal(fit(effort)$effort$values, as.vector(effort[letters[1:10]]))
  expect_error(fit(effort[-1]), "they lack \"a\"", class = "multicause_input_error")
  expect_error(fit(c(effort[letters[1:10]], a = 3)), "they have \"a\" twice", class = "multicause_input_error")
})
