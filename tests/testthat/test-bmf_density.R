test_that("densities equal the reference answers", {
  for (name in bmf_golden_cases) {
    case <- bmf_golden(name)
    g <- case$golden
    for (density in c("labelled", "lof", "buffet")) {
      out <- bmf_log_density(
        case$x, case$state, case$family, case$prior, density = density, k = case$k, l = case$l
      )
      of <- function(p) if (is.null(p[[density]])) p$labelled else p[[density]]
      expect_equal(out[["rows"]], of(g$log_prior_U), tolerance = 1e-12, label = paste(name, density, "rows"))
      expect_equal(out[["columns"]], of(g$log_prior_V), tolerance = 1e-12)
      expect_equal(out[["weights"]], g$log_prior_W, tolerance = 1e-12)
      expect_equal(out[["likelihood"]], g$log_lik, tolerance = 1e-12)
      expect_equal(out[["alpha_rows"]], g$log_hyper$alphaU, tolerance = 1e-12)
      expect_equal(out[["alpha_columns"]], g$log_hyper$alphaV, tolerance = 1e-12)
      expect_equal(out[["weight_precision"]], g$log_hyper$phi, tolerance = 1e-12)
      if (case$family == "gaussian") expect_equal(out[["noise_precision"]], g$log_hyper$lambda, tolerance = 1e-12)
      if (density == "labelled") expect_equal(out[["total"]], g$log_joint_labelled, tolerance = 1e-12)
    }
  }
})

test_that("conditionals equal the reference answers", {
  for (name in bmf_golden_cases) {
    case <- bmf_golden(name)
    g <- case$golden
    look <- bmf_look(case$x, case$state, case$family, case$prior, case$k, case$l, 2)
    expect_equal(plogis(look$rows), golden_matrix(g$cond_prob_U1), tolerance = 1e-10, label = name)
    expect_equal(plogis(look$columns), golden_matrix(g$cond_prob_V1), tolerance = 1e-10, label = name)
    if (!is.null(g$alphaU_posterior_shape_rate)) {
      expect_equal(look$laws[, 1], g$alphaU_posterior_shape_rate, tolerance = 1e-12)
    }
    if (!is.null(g$alphaV_posterior_shape_rate)) {
      expect_equal(look$laws[, 2], g$alphaV_posterior_shape_rate, tolerance = 1e-12)
    }
    expect_equal(look$laws[, 3], g$phi_posterior_shape_rate, tolerance = 1e-12)
    if (case$family == "gaussian") {
      expect_equal(look$laws[, 4], g$lambda_posterior_shape_rate, tolerance = 1e-12)
    }
  }
})

# The kernel's weight (c, l) stands at c L + l, the reference's at c + l K.
by_columns <- function(k, l) as.vector(matrix(seq_len(k * l), k, l, byrow = TRUE))

test_that("posterior moments of the weights equal the reference answers", {
  for (name in bmf_golden_cases[1:3]) {
    case <- bmf_golden(name)
    g <- if (case$family == "gaussian") case$golden else case$golden$given_omega
    omega <- if (case$family == "bernoulli") golden_matrix(g$omega)
    look <- bmf_look(case$x, case$state, case$family, case$prior, case$k, case$l, omega = omega)
    q <- look$weight_q
    q[upper.tri(q)] <- t(q)[upper.tri(q)]
    order <- by_columns(ncol(case$state$rows), ncol(case$state$columns))
    covariance <- solve(q)
    mean <- drop(covariance %*% look$weight_h)[order]
    expect_equal(mean, as.vector(golden_matrix(g$W_posterior_mean)), tolerance = 1e-10, label = name)
    expect_equal(covariance[order, order], golden_matrix(g$W_posterior_cov_vec_columnwise), tolerance = 1e-10)
  }
  case <- bmf_golden(bmf_golden_cases[4])
  look <- bmf_look(case$x, case$state, case$family, case$prior, case$k, case$l)
  exposure <- matrix(look$weight_h, ncol(case$state$rows), byrow = TRUE)
  expect_equal(exposure, golden_matrix(case$golden$exposure_KxL))
})

test_that("expected cells, births and the marginal likelihood equal the reference answers", {
  for (name in bmf_golden_cases) {
    case <- bmf_golden(name)
    g <- case$golden
    eta <- case$state$rows %*% case$state$weights %*% t(case$state$columns)
    mean <- switch(case$family, gaussian = eta, bernoulli = plogis(eta), poisson = g$r0 + eta)
    expect_equal(mean, golden_matrix(g$posterior_predictive_mean_at_state), tolerance = 1e-12)
  }
  case <- bmf_golden(bmf_golden_cases[1])
  look <- bmf_look(case$x, case$state, case$family, case$prior, case$k, case$l, 2)
  expect_equal(diff(look$births), diff(case$golden$newfeat_row2$log_marginal_b0to3), tolerance = 1e-10)
})
