skip_on_cran()

test_that("densities equal the reference answers", {
  for (name in bmf_golden_cases) {
    case <- bmf_golden(name)
    g <- case$golden
    out <- bmf_log_density(case$x, case$state, case$family, case$prior, case$k, case$l)
    of <- function(p) if (is.null(p$labelled)) p else p$labelled
    expect_equal(out[["rows"]], of(g$log_prior_U), tolerance = 1e-12, label = paste(name, "rows"))
    expect_equal(out[["columns"]], of(g$log_prior_V), tolerance = 1e-12)
    expect_equal(out[["weights"]], g$log_prior_W, tolerance = 1e-12)
    expect_equal(out[["likelihood"]], g$log_lik, tolerance = 1e-12)
    expect_equal(out[["alpha_rows"]], g$log_hyper$alphaU, tolerance = 1e-12)
    expect_equal(out[["alpha_columns"]], g$log_hyper$alphaV, tolerance = 1e-12)
    expect_equal(out[["weight_precision"]], g$log_hyper$phi, tolerance = 1e-12)
    if (case$family == "gaussian") expect_equal(out[["noise_precision"]], g$log_hyper$lambda, tolerance = 1e-12)
    expect_equal(out[["total"]], g$log_joint_labelled, tolerance = 1e-12)
    parts <- c("rows", "columns", "weights", "likelihood")
    expect_equal(sum(out[parts]), g$log_joint_no_hyper, tolerance = 1e-12)
  }
})

test_that("the objective of a fit is the density of its best state", {
  set.seed(11)
  x <- bmf_blocks()$x
  fit <- bmf_quietly(bmf(x, control = bmf_quick()))
  state <- fit$param
  known <- as.list(state$hyper[c("alpha_rows", "alpha_columns", "weight_precision", "noise_precision")])
  density <- bmf_log_density(x, c(state[c("rows", "columns", "weights")], known))
  expect_equal(density[["total"]], unname(fit$objective), tolerance = 1e-10)
  expect_equal(density[["likelihood"]], fit$loglik, tolerance = 1e-10)
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

# The kernel's weight (c, l) is at c L + l, the reference's at c + l K.
by_columns <- function(k, l) as.vector(matrix(seq_len(k * l), k, l, byrow = TRUE))

test_that("posterior moments of the weights equal the reference answers", {
  for (name in bmf_golden_cases[1:3]) {
    case <- bmf_golden(name)
    g <- if (case$family == "gaussian") case$golden else case$golden$given_omega
    omega <- if (case$family == "bernoulli") golden_matrix(g$omega)
    look <- bmf_look(case$x, case$state, case$family, case$prior, case$k, case$l, omega = omega)
    order <- by_columns(ncol(case$state$rows), ncol(case$state$columns))
    covariance <- solve(whole(look$weight_q))
    mean <- drop(covariance %*% look$weight_h)[order]
    expect_equal(mean, as.vector(golden_matrix(g$W_posterior_mean)), tolerance = 1e-10, label = name)
    expect_equal(covariance[order, order], golden_matrix(g$W_posterior_cov_vec_columnwise), tolerance = 1e-10)
  }
  case <- bmf_golden(bmf_golden_cases[4])
  look <- bmf_look(case$x, case$state, case$family, case$prior, case$k, case$l)
  exposure <- matrix(look$weight_h, ncol(case$state$rows), byrow = TRUE)
  expect_equal(exposure, golden_matrix(case$golden$exposure_KxL))
})

test_that("expected cells equal the reference answers", {
  for (name in bmf_golden_cases) {
    case <- bmf_golden(name)
    g <- case$golden
    eta <- case$state$rows %*% case$state$weights %*% t(case$state$columns)
    mean <- switch(case$family, gaussian = eta, bernoulli = plogis(eta), poisson = g$r0 + eta)
    expect_equal(mean, golden_matrix(g$posterior_predictive_mean_at_state), tolerance = 1e-12)
  }
})

test_that("births of a row equal the reference answers", {
  for (name in bmf_golden_cases[c(1, 3, 4)]) {
    case <- bmf_golden(name)
    g <- case$golden$newfeat_row2
    state <- case$state
    single <- colSums(state$rows) == 1 & state$rows[2, ] == 1 & seq_along(state$rows[2, ]) > state$fixed[1]
    expect_identical(which(single), as.integer(g$setB_1based), label = name)
    look <- bmf_look(case$x, state, case$family, case$prior, case$k, case$l, 2, added = g$b_star * g$w_star)
    expect_equal(look$birth_rate, g$poisson_mean, tolerance = 1e-14)
    # The paper's proposal replaces the row's own features; the likelihood decides.
    then <- state
    then$rows <- cbind(state$rows[, !single], replace(matrix(0, nrow(state$rows), g$b_star), 2, 1))
    then$weights <- rbind(state$weights[!single, ], g$w_star)
    density <- function(state) bmf_log_density(case$x, state, case$family, case$prior, case$k, case$l)
    ratio <- density(then)[["likelihood"]] - density(state)[["likelihood"]]
    expect_equal(ratio, g$log_accept_ratio_prior_proposal, tolerance = 1e-10)
    if (case$family == "poisson") expect_equal(look$births, g$log_accept_ratio_prior_proposal, tolerance = 1e-10)
    if (!is.null(g$log_marginal_b0to3)) {
      expect_equal(diff(look$births), diff(g$log_marginal_b0to3), tolerance = 1e-10)
    }
  }
})

test_that("the marginal likelihood equals the reference answers", {
  for (name in bmf_golden_cases[1:2]) {
    case <- bmf_golden(name)
    out <- bmf_log_marginal(case, case$state)
    expect_equal(out, case$golden$log_marginal_X_given_UV, tolerance = 1e-12, label = name)
  }
})

test_that("the collapsed sampler's marginal likelihood is that of the weights' moments", {
  set.seed(1)
  for (name in bmf_golden_cases[1:2]) {
    case <- bmf_golden(name)
    case$x[is.na(case$x)] <- rnorm(sum(is.na(case$x)))
    case$prior$weight_mean <- 0
    look <- bmf_look(case$x, case$state, "gaussian", case$prior, case$k, case$l)
    expect_equal(look$marginal, rep(bmf_log_marginal(case, case$state), 2), tolerance = 1e-12, label = name)
  }
})

test_that("posteriors by enumeration of the package's densities are the reference's", {
  bits <- function(n) as.matrix(expand.grid(rep(list(0:1), n)))
  for (name in bmf_golden_cases[1:2]) {
    exact <- bmf_exact_case(name, FALSE)
    e <- exact$exact
    case <- list(
      x = exact$x, k = e$K, l = e$L, prior = prior_of_laws(exact$laws, exact$beta)
    )
    n <- nrow(case$x)
    m <- ncol(case$x)
    states <- Map(
      function(u, v) {
        state <- list(rows = matrix(u, n), columns = matrix(v, m), weights = matrix(0, e$K, e$L))
        prior <- bmf_log_density(case$x, state, "gaussian", case$prior, k = e$K, l = e$L)[c("rows", "columns")]
        list(rows = tcrossprod(state$rows), columns = tcrossprod(state$columns),
          log = sum(prior) + bmf_log_marginal(case, state))
      },
      asplit(bits(n * e$K)[rep(seq_len(2^(n * e$K)), 2^(m * e$L)), ], 1),
      asplit(bits(m * e$L)[rep(seq_len(2^(m * e$L)), each = 2^(n * e$K)), , drop = FALSE], 1)
    )
    log_p <- vapply(states, function(s) s$log, 0)
    evidence <- max(log_p) + log(sum(exp(log_p - max(log_p))))
    expect_equal(evidence, e$log_evidence, tolerance = 1e-10, label = name)
    average <- function(side) Reduce(`+`, Map(function(s, p) p * s[[side]], states, exp(log_p - evidence)))
    expect_equal(average("rows"), golden_matrix(e$E_UUt), tolerance = 1e-10)
    expect_equal(average("columns"), golden_matrix(e$E_VVt), tolerance = 1e-10)
  }
})

test_that("the likelihood of values far from 0 keeps their small errors", {
  set.seed(3)
  error <- matrix(rnorm(12), 4)
  error[2, 3] <- NA
  state <- list(rows = matrix(1, 4, 1), columns = matrix(1, 3, 1), weights = matrix(1e8), noise_precision = 1)
  out <- bmf_log_density(1e8 + error, state, k = 1, l = 1)
  expect_equal(out[["likelihood"]], sum(dnorm(error, log = TRUE), na.rm = TRUE), tolerance = 1e-6)
})

test_that("likelihood and squared errors are those of all rows, in three blocks, with unknown cells", {
  set.seed(12)
  n <- three_blocks(64)
  state <- list(
    rows = matrix(stats::rbinom(2 * n, 1, 0.5), n), columns = matrix(stats::rbinom(12, 1, 0.5), 6),
    weights = matrix(stats::rnorm(4), 2), alpha_rows = 1, alpha_columns = 1, weight_precision = 1, noise_precision = 2
  )
  mean <- state$rows %*% state$weights %*% t(state$columns)
  x <- mean + stats::rnorm(length(mean), sd = 0.7)
  x[sample(length(x), 60)] <- NA
  prior <- bmf_prior(noise_precision = c(shape = 2, rate = 3))
  density <- bmf_log_density(x, state, prior = prior)
  expect_equal(density[["likelihood"]], sum(stats::dnorm(x, mean, sqrt(1 / 2), log = TRUE), na.rm = TRUE))
  look <- bmf_look(x, state, "gaussian", prior, Inf, Inf, 1)
  expect_equal(look$laws[, 4], c(2 + sum(!is.na(x)) / 2, 3 + sum((x - mean)^2, na.rm = TRUE) / 2))
})
