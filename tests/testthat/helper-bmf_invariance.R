# The main test of the sampler: a state and data drawn jointly from the model make the state an exact posterior draw
# given the data, so sweeps must leave its distribution unchanged. Replicates are independent and differences paired,
# which avoids estimating an autocorrelation.

bmf_laws <- list(
  alpha_rows = c(shape = 2, rate = 1.25), alpha_columns = c(shape = 3, rate = 2), weight_mean = 0.3,
  weight_precision = c(shape = 4, rate = 3), noise_precision = c(shape = 4, rate = 3), weight_shape = 1.5,
  background = c(shape = 4, rate = 8)
)

# Builds bmf_prior() from distributions by their names; those of `alpha` may be omitted.
prior_of_laws <- function(laws, beta) {
  flat <- c(shape = 1, rate = 1)
  sides <- list(rows = laws$alpha_rows %||% flat, columns = laws$alpha_columns %||% flat)
  laws[c("alpha_rows", "alpha_columns")] <- NULL
  do.call(bmf_prior, c(laws, list(alpha = sides, beta = beta)))
}

# k, l: numbers or Inf; fixed: numbers of fixed columns of ones on each side; moves: as in the kernel's plan.
bmf_setting <- function(family, k = Inf, l = Inf, n = 4, m = 3, missing = 2, fixed = c(0, 0), laws = list(),
                        block = FALSE, multi = FALSE, split_merge = 0L, collapsed = FALSE, columns = NULL,
                        beta = c(rows = 1, columns = 1)) {
  laws <- utils::modifyList(bmf_laws, laws)
  prior <- prior_of_laws(laws, beta)
  if (!is.null(columns)) {
    m <- nrow(columns)
    l <- 0
    fixed[2] <- ncol(columns)
  }
  list(
    family = family, k = k, l = l, n = n, m = m, missing = missing, fixed = fixed, prior = prior, columns = columns,
    model = bmf_kernel_model(family, prior, k, l, fixed),
    plan = list(
      n_sweep = 1L, thin = 0L, power = NULL, block = block, multi = multi, split_merge = as.integer(split_merge),
      collapsed = collapsed, probe = integer(), want_mean = FALSE, want_best = FALSE, best_joint = -Inf, n_threads = 1L
    )
  )
}

draw_features <- function(n, k, alpha, beta, n_fixed, given = NULL) {
  fixed <- if (is.null(given)) matrix(1, n, n_fixed) else given
  if (is.finite(k)) {
    free <- matrix(0, n, k)
    for (c in seq_len(k)) free[, c] <- rbinom(n, 1, rbeta(1, alpha / k, beta))
    return(cbind(fixed, free))
  }
  free <- matrix(0, n, 0)
  for (i in seq_len(n)) {
    if (ncol(free)) free[i, ] <- rbinom(ncol(free), 1, colSums(free) / (beta + i - 1))
    born <- rpois(1, alpha / (beta + i - 1))
    more <- matrix(0, n, born)
    more[i, ] <- 1
    free <- cbind(free, more)
  }
  cbind(fixed, free)
}

# Draws a state and data from the model.
draw_bmf <- function(s) {
  hyper <- vapply(unclass(s$prior)[bmf_hyper_names], function(law) {
    if (is_law(law)) rgamma(1, law[["shape"]], law[["rate"]]) else law
  }, 0)
  rows <- draw_features(s$n, s$k, hyper[["alpha_rows"]], s$prior$beta[["rows"]], s$fixed[1])
  columns <- draw_features(s$m, s$l, hyper[["alpha_columns"]], s$prior$beta[["columns"]], s$fixed[2], s$columns)
  size <- ncol(rows) * ncol(columns)
  weights <- if (s$family == "poisson") {
    rgamma(size, hyper[["weight_shape"]], hyper[["weight_precision"]])
  } else {
    rnorm(size, hyper[["weight_mean"]], 1 / sqrt(hyper[["weight_precision"]]))
  }
  state <- list(
    rows = as_raw_matrix(rows), columns = as_raw_matrix(columns), weights = matrix(weights, ncol(rows), ncol(columns)),
    hyper = unname(hyper)
  )
  list(state = state, x = draw_bmf_data(s, state))
}

bmf_eta <- function(state) {
  as_number_matrix(state$rows) %*% state$weights %*% t(as_number_matrix(state$columns))
}

draw_bmf_data <- function(s, state) {
  eta <- bmf_eta(state)
  x <- switch(s$family,
    gaussian = rnorm(length(eta), eta, 1 / sqrt(state$hyper[5])),
    bernoulli = rbinom(length(eta), 1, plogis(eta)), poisson = rpois(length(eta), state$hyper[7] + eta)
  )
  x <- matrix(x, s$n, s$m)
  if (s$missing) x[c(1, length(x) - 1, 6)[seq_len(s$missing)]] <- NA
  x
}

sweep_bmf <- function(s, state, x, n_sweep = 1L) {
  s$plan$n_sweep <- as.integer(n_sweep)
  .Call(mc_c_bmf_run, data_view(x), data_view(t(x)), s$model, state, s$plan)$state
}

# Label-invariant, bounded or light-tailed statistics of state and data.
bmf_statistics <- function(s, state, x) {
  rows <- as_number_matrix(state$rows)
  columns <- as_number_matrix(state$columns)
  rows <- rows[, seq_len(ncol(rows)) > s$fixed[1], drop = FALSE]
  columns <- columns[, seq_len(ncol(columns)) > s$fixed[2], drop = FALSE]
  eta <- bmf_eta(state)
  error <- tanh((x - eta) / 2)
  together <- function(u) {
    n <- nrow(u)
    u <- tcrossprod(u)
    c(u[1, 2], u[n - 1, n], u[1, n], sum(diag(u)), sum(u))
  }
  k <- sum(colSums(rows) > 0)
  l <- sum(colSums(columns) > 0)
  w <- tanh(state$weights)
  c(
    k = k, k1 = k == 1, k2 = k^2, u = together(rows), l = l, l1 = l == 1, l2 = l^2, v = together(columns),
    h = log(state$hyper[s$model$learned]), w = sum(w), w2 = sum(w^2), e = sum(tanh(eta)), e2 = sum(tanh(eta)^2),
    e11 = tanh(eta[1, 1]), x = sum(error, na.rm = TRUE), x2 = sum(error^2, na.rm = TRUE),
    xe = sum(tanh(x / 2) * tanh(eta / 2), na.rm = TRUE), xk = mean(x > 1, na.rm = TRUE) * k,
    xl = mean(abs(x) > 1, na.rm = TRUE) * l, same = tanh(eta[2, 1] * eta[3, 2])
  )
}

# z of every statistic over `replicates` independent pairs.
bmf_invariance <- function(s, replicates, n_sweep = 4L) {
  difference <- replicate(replicates, {
    drawn <- draw_bmf(s)
    after <- sweep_bmf(s, drawn$state, drawn$x, n_sweep)
    bmf_statistics(s, after, drawn$x) - bmf_statistics(s, drawn$state, drawn$x)
  })
  spread <- apply(difference, 1, stats::sd)
  moved <- spread > 1e-12
  rowMeans(difference)[moved] / (spread[moved] / sqrt(replicates))
}

bmf_settings <- function() {
  list(
    gaussian_infinite = bmf_setting("gaussian"),
    gaussian_finite = bmf_setting("gaussian", 3, 2, beta = c(rows = 2, columns = 0.5)),
    gaussian_mixed_bias = bmf_setting("gaussian", Inf, 2, fixed = c(1, 1)),
    gaussian_complete = bmf_setting("gaussian", missing = 0),
    gaussian_block = bmf_setting("gaussian", block = TRUE),
    gaussian_multi = bmf_setting("gaussian", multi = TRUE),
    gaussian_split = bmf_setting("gaussian", split_merge = 6),
    gaussian_split_finite = bmf_setting("gaussian", 3, 3, split_merge = 2),
    gaussian_all = bmf_setting("gaussian", block = TRUE, multi = TRUE, split_merge = 2),
    gaussian_collapsed = bmf_setting("gaussian", missing = 0, laws = list(weight_mean = 0), collapsed = TRUE),
    gaussian_scan = bmf_setting("gaussian",
      n = 3, columns = matrix(c(1, 1, 0, 1), 2), missing = 0, collapsed = TRUE,
      laws = list(alpha_rows = 2, weight_mean = 0, weight_precision = 1.2, noise_precision = 8)
    ),
    gaussian_collapsed_finite =
      bmf_setting("gaussian", 3, 2, missing = 0, laws = list(weight_mean = 0), collapsed = TRUE),
    bernoulli_infinite = bmf_setting("bernoulli"),
    bernoulli_finite = bmf_setting("bernoulli", 3, 2),
    bernoulli_block = bmf_setting("bernoulli", block = TRUE),
    bernoulli_multi = bmf_setting("bernoulli", multi = TRUE),
    bernoulli_split = bmf_setting("bernoulli", split_merge = 4),
    bernoulli_split_finite = bmf_setting("bernoulli", 3, 3, split_merge = 2),
    bernoulli_all = bmf_setting("bernoulli", fixed = c(1, 1), block = TRUE, multi = TRUE, split_merge = 2),
    poisson_infinite = bmf_setting("poisson"),
    poisson_finite = bmf_setting("poisson", 3, 2, laws = list(weight_shape = c(shape = 6, rate = 4))),
    poisson_block = bmf_setting("poisson", block = TRUE),
    poisson_multi = bmf_setting("poisson", 3, Inf, multi = TRUE),
    poisson_all = bmf_setting("poisson", block = TRUE, multi = TRUE, fixed = c(1, 0))
  )
}

# z of averages over a chain, with batch-means standard errors.
batch_means_z <- function(draws, exact, n_batch = 40L) {
  size <- nrow(draws) %/% n_batch
  draws <- draws[seq_len(size * n_batch), , drop = FALSE]
  batch <- apply(draws, 2, function(d) colMeans(matrix(d, size)))
  error <- apply(batch, 2, stats::sd) / sqrt(n_batch)
  z <- (colMeans(draws) - exact) / error
  z[error > 1e-12]
}

# A tiny reference case as a setting with all hyperparameters fixed, its data and starting values.
bmf_exact_case <- function(name, infinite) {
  case <- bmf_golden(name)
  e <- case$golden[[if (infinite) "exact_infinite" else "exact_finite"]]
  x <- golden_matrix(case$golden$exact_finite$X)
  laws <- list(
    alpha_rows = e$alphaU, weight_mean = e$w0, weight_precision = e$phi,
    alpha_columns = if (infinite) 1 else e$alphaV, noise_precision = if (is.null(e$lambda)) 1 else e$lambda,
    weight_shape = if (is.null(e$aw)) 1 else e$aw, background = if (is.null(e$r0)) 1 else e$r0
  )
  beta <- c(rows = e$beta_U, columns = if (infinite) 1 else e$beta_V)
  list(case = case, exact = e, x = x, laws = laws, beta = beta)
}

bmf_chain_draws <- function(s, state, x, n_sweep, statistic) {
  view <- data_view(x)
  transposed <- data_view(t(x))
  s$plan$n_sweep <- 1L
  t(vapply(seq_len(n_sweep), function(t) {
    state <<- .Call(mc_c_bmf_run, view, transposed, s$model, state, s$plan)$state
    statistic(state)
  }, statistic(state)))
}

bmf_exact_finite_z <- function(name, n_sweep, seed, ...) {
  case <- bmf_exact_case(name, FALSE)
  e <- case$exact
  s <- do.call(bmf_setting, c(
    list(case$case$family, e$K, e$L, n = nrow(case$x), m = ncol(case$x), laws = case$laws, beta = case$beta), list(...)
  ))
  statistic <- function(state) {
    u <- as_number_matrix(state$rows)
    v <- as_number_matrix(state$columns)
    uu <- tcrossprod(u)
    vv <- tcrossprod(v)
    c(uu[upper.tri(uu, TRUE)], vv[upper.tri(vv, TRUE)], seq(0, e$K) == sum(colSums(u) > 0))
  }
  upper <- function(m) m[upper.tri(m, TRUE)]
  exact <- c(upper(golden_matrix(e$E_UUt)), upper(golden_matrix(e$E_VVt)), e$P_nonzero_columns_U_0toK)
  set.seed(seed)
  batch_means_z(bmf_chain_draws(s, draw_bmf(s)$state, case$x, n_sweep, statistic), exact)
}

# Averages are conditional on at most eight features, as in the reference.
bmf_exact_infinite_z <- function(name, n_sweep, seed, ...) {
  case <- bmf_exact_case(name, TRUE)
  e <- case$exact
  s <- do.call(bmf_setting, c(
    list(case$case$family, Inf, 0, n = nrow(case$x), laws = case$laws, beta = case$beta,
      columns = golden_matrix(e$V_fixed)), list(...)
  ))
  statistic <- function(state) {
    u <- as_number_matrix(state$rows)
    uu <- tcrossprod(u)
    c(uu[upper.tri(uu, TRUE)], seq(0, 7) == ncol(u), ncol(u))
  }
  uu <- golden_matrix(e$E_UUt)
  exact <- c(uu[upper.tri(uu, TRUE)], e$P_K_0to8[1:8], e$E_K)
  set.seed(seed)
  draws <- bmf_chain_draws(s, draw_bmf(s)$state, case$x, n_sweep, statistic)
  draws <- draws[draws[, ncol(draws)] <= 8, ]
  batch_means_z(draws, exact)
}
