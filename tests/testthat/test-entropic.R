entropic_mstep <- function(omega, beta, method = "global") {
  test_entry("test_entropic", as.double(omega), as.double(beta), match(method, c("cccp", "global", "first")) - 1L)
}

test_that("the Lambert functions and the M-step equal the golden values", {
  golden <- read_golden_counts("mstep")
  near <- function(got, want) expect_lt(max(abs(got - want) / abs(pmax(want, 1e-320))), 1e-12)
  near(test_entry("test_lambert", as.double(golden$lambert$m1_E), 0L), golden$lambert$m1_u)
  near(test_entry("test_lambert", as.double(golden$lambert$pos_L), 1L), golden$lambert$pos_w)
  for (case in golden$mstep) {
    zero <- case$omega == 0 & case$beta >= 0
    for (method in c("first", "global")) {
      theta <- entropic_mstep(case$omega, case$beta, method)
      expect_identical(theta[zero], rep(0, sum(zero)))
      near(theta[!zero], case[[method]][!zero])
    }
  }
})

# All kinds of problems: flat, skewed, with zeros and ties, of any magnitude, beta of both signs.
random_problem <- function(kind) {
  k <- sample.int(20, 1)
  omega <- switch(kind,
    stats::rexp(k), stats::rgamma(k, 0.2), round(3 * stats::rexp(k)), 1 + 1e-4 * stats::rexp(k), rep(1, k),
    10^stats::runif(k, -300, 300), 10^stats::runif(k, -5, 5) * 10^stats::runif(1, -290, 290)
  )
  if (all(omega == 0)) omega[1] <- 1
  beta <- sample(c(-1, 1, 1), 1) * if (kind == 6) {
    10^stats::runif(1, -300, 300)
  } else if (kind %in% 4:5) {
    max(omega) * stats::runif(1, 0.5, k + 1)
  } else {
    10^stats::runif(1, -3, 1.5) * sum(omega)
  }
  list(omega = omega, beta = beta)
}

# Legal shares: on the simplex, above 0 where there are counts, 0 where there are none (beta >= 0).
is_legal <- function(theta, problem) {
  counted <- problem$omega > 0
  !anyNA(theta) && abs(sum(theta) - 1) < 1e-12 && all(theta[counted] > 0) &&
    (problem$beta < 0 || all(theta[!counted] == 0))
}

test_that("the M-step is never worse than a general optimiser, on 1000 problems", {
  skip_on_cran()
  set.seed(1)
  for (i in 1:1000) {
    problem <- random_problem(1 + i %% 7)
    theta <- entropic_mstep(problem$omega, problem$beta)
    first <- entropic_mstep(problem$omega, problem$beta, "first")
    value <- ref_entropic(theta, problem$omega, problem$beta)
    rival <- suppressWarnings(ref_entropic_best(problem$omega, problem$beta))
    rounding <- 1e-12 * abs(value)
    ok <- is_legal(theta, problem) && is_legal(first, problem) && is.finite(value) &&
      value >= ref_entropic(first, problem$omega, problem$beta) - rounding && value >= rival - 1e-9 * max(1, abs(value))
    if (!ok) fail(sprintf("problem %d", i))
  }
  succeed()
})

test_that("only the ratio of beta to the counts matters, and the order of counts is kept", {
  omega <- c(5, 1, 3, 0.2)
  for (beta in c(-20, -1, 0.5, 4, 30)) {
    theta <- entropic_mstep(omega, beta)
    for (scale in c(1e-200, 1e-3, 1e200)) {
      expect_equal(entropic_mstep(scale * omega, scale * beta), theta, tolerance = 1e-12)
    }
    expect_identical(order(theta), order(omega))
  }
})

test_that("special cases are as documented", {
  expect_identical(entropic_mstep(7, 3), 1)
  expect_identical(entropic_mstep(c(0, 4, 0), 2), c(0, 1, 0))
  expect_equal(entropic_mstep(c(1, 3), 0), c(0.25, 0.75))
  for (beta in c(1, -1)) expect_null(entropic_mstep(c(0, 0), beta))
  expect_true(all(entropic_mstep(c(4, 0), -1) > 0))
  expect_equal(entropic_mstep(c(1, 1), 1), c(0.5, 0.5))
  expect_identical(which.max(entropic_mstep(c(1, 1, 1), 5)), 1L)
})
