# The sampler against exact results: short forms of tests/validate/bmf_*.R. Tests the chain in R/bmf.R.

skip_on_cran()

test_that("short runs hit the exact finite posteriors", {
  for (name in bmf_golden_cases) {
    z <- bmf_exact_finite_z(name, 4000, 1)
    expect_lt(max(abs(z)), 4.5, label = name)
  }
})

test_that("short runs hit the exact infinite posterior", {
  for (name in bmf_golden_cases[1:2]) {
    z <- bmf_exact_infinite_z(name, 4000, 2)
    expect_lt(max(abs(z)), 4.5, label = name)
  }
})

test_that("sweeps leave exact posterior draws as they were, for every family and move", {
  for (name in names(bmf_settings())) {
    set.seed(1)
    z <- bmf_invariance(bmf_settings()[[name]], 400)
    expect_lt(max(abs(z)), 4.5, label = name)
    expect_gte(length(z), 18)
  }
})

test_that("Polya-Gamma draws have the right moments", {
  # E = tanh(z / 2) / (2 z), observed through the precision of a weight of a single cell.
  set.seed(3)
  for (eta in c(0, 0.7, 3, 30)) {
    state <- list(rows = matrix(1), columns = matrix(1), weights = matrix(eta), alpha_rows = 1, alpha_columns = 1)
    prior <- bmf_prior(weight_precision = 1e-9)
    omega <- replicate(4000, bmf_look(matrix(1), state, "bernoulli", prior, 1, 1)$weight_q[1]) - 1e-9
    mean <- if (eta == 0) 1 / 4 else tanh(eta / 2) / (2 * eta)
    variance <- if (eta == 0) 1 / 24 else (sinh(eta) - eta) / (4 * eta^3 * cosh(eta / 2)^2)
    expect_lt(abs(mean(omega) - mean) / sqrt(variance / 4000), 4)
    expect_equal(var(omega), variance, tolerance = 0.15)
  }
})

# Returns whether feature a of a side can be recoded, in plain R; the state is list(rows, columns, weights).
has_recoding <- function(on, a, b, kind, family, infinite) {
  seen <- function(x, y) any(on[, a] == x & on[, b] == y)
  if (!any(on[, b] == 1)) return(FALSE)
  after <- (on[, a] + on[, b]) %% 2
  ok <- if (kind == "complement") family != "poisson" && !seen(1, 0) else !seen(1, 1) || !seen(0, 1)
  ok && (!infinite || any(after == 1))
}

# Counts the recodings of a state and checks each. recoded(state, side, a, b, kind) returns one or NULL, total(state)
# the log density.
hold_recodings <- function(state, recoded, total, family, infinite) {
  n_found <- 0
  for (side in 1:2) for (kind in c("shift", "complement")) {
    on <- state[[side]]
    for (a in seq(3 - side, ncol(on))) for (b in setdiff(seq_len(ncol(on)), a)) {
      to <- recoded(state, side, a, b, kind)
      expect_identical(!is.null(to), has_recoding(on, a, b, kind, family, infinite))
      if (is.null(to)) next
      if (family == "poisson" && any(to$state$weights < 0)) {
        expect_identical(to$log_ratio, -Inf)
        next
      }
      n_found <- n_found + 1
      expect_equal(bmf_eta(to$state), bmf_eta(state), tolerance = 1e-12)
      expect_identical(to$count, as.integer(colSums(to$state[[side]])[a]))
      expect_equal(to$log_ratio, total(to$state) - total(state), tolerance = 1e-10)
      back <- recoded(to$state, side, a, b, kind)
      expect_equal(back$state, state, tolerance = 1e-12)
      expect_equal(back$log_ratio, -to$log_ratio, tolerance = 1e-10)
    }
  }
  n_found
}

test_that("another coding leaves the linear predictor, has the ratio of densities, and is its own inverse", {
  set.seed(4)
  rows <- cbind(1, rep(1:0, each = 3), +(1:6 == 4), +(1:6 == 1), c(1, 1, 0, 1, 0, 0), rep(1:0, each = 3))
  columns <- cbind(c(1, 1, 0, 0), c(0, 0, 1, 0), c(1, 1, 1, 0))
  n_found <- 0
  for (family in c("gaussian", "bernoulli", "poisson")) for (k in c(5, Inf)) {
    weights <- matrix(rgamma(18, 2), 6)
    weights[2, ] <- weights[3, ] + 0.1 # a difference above 0, for Poisson
    hyper <- list(alpha_rows = 1.3, alpha_columns = 0.8, weight_precision = 0.7, fixed = c(1, 0))
    state <- c(list(rows = rows, columns = columns, weights = weights), hyper)
    x <- draw_bmf_data(list(family = family, n = 6, m = 4, missing = 2),
      list(rows = rows, columns = columns, weights = weights, hyper = c(1.3, 0.8, 0, 0.7, 1, 2, 0.5)))
    prior <- bmf_prior(weight_mean = if (family == "poisson") 0 else 0.3, weight_shape = 2, background = 0.5)
    l <- if (is.finite(k)) 3 else Inf
    total <- function(state) bmf_log_density(x, state, family, prior, k, l)[["total"]]
    recoded <- function(state, ...) bmf_recoded(x, state, family, prior, k, l, ...)
    n_found <- n_found + hold_recodings(state, recoded, total, family, is.infinite(k))
  }
  expect_gt(n_found, 60)
})

test_that("a group and its complement take turns in a chain, as they fit alike", {
  set.seed(5)
  block <- outer(rep(1:0, each = 8), rep(1:0, 6))
  x <- matrix(rbinom(length(block), 1, 0.15 + 0.7 * block), 16)
  control <- bmf_quick(warmup = 100, draws = 1000, keep = 200)
  fit <- bmf_quietly(bmf(x, k = 1, l = 1, control = control))
  for (chain in fit$kept) {
    has <- mean(vapply(chain, function(state) as.integer(state$rows[1, 2]), 0L))
    expect_gt(has, 0.1)
    expect_lt(has, 0.9)
  }
})
