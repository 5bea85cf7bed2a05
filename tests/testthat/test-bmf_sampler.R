# The sampler against exact answers: short forms of tests/validate/bmf_*.R.
# Of R/bmf_chain.R.

test_that("short runs hit the exact finite posteriors", {
  skip_on_cran()
  for (name in bmf_golden_cases) {
    z <- bmf_exact_finite_z(name, 4000, 1)
    expect_lt(max(abs(z)), 4.5, label = name)
  }
})

test_that("short runs hit the exact infinite posterior", {
  skip_on_cran()
  for (name in bmf_golden_cases[1:2]) {
    z <- bmf_exact_infinite_z(name, 4000, 2)
    expect_lt(max(abs(z)), 4.5, label = name)
  }
})

test_that("sweeps leave exact posterior draws as they were, for every family and move", {
  skip_on_cran()
  for (name in names(bmf_settings())) {
    set.seed(1)
    z <- bmf_invariance(bmf_settings()[[name]], 400)
    expect_lt(max(abs(z)), 4.5, label = name)
    expect_gte(length(z), 18)
  }
})

test_that("Polya-Gamma draws have the right moments", {
  # E = tanh(z / 2) / (2 z); a weight of a single cell sees them through its precision.
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
