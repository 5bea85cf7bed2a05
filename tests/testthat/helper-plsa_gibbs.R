# Tests of the collapsed Gibbs sampler of plsa() against exact results: a slow version, enumeration over the components
# of all counts, Geweke's joint test, simulation-based calibration. `z` has the component of every count, from 1, in the
# kernel's order: row by row, column by column.

lda_counts <- function(x) {
  x <- replace(x, is.na(x), 0)
  cells <- which(t(x) > 0)
  times <- t(x)[cells]
  list(row = rep((cells - 1) %/% ncol(x) + 1, times), column = rep((cells - 1) %% ncol(x) + 1, times))
}

lda_tables <- function(z, counts, n, m, k) {
  list(
    rows = matrix(tabulate((z - 1) * n + counts$row, n * k), n),
    basis = matrix(tabulate((counts$column - 1) * k + z, k * m), k)
  )
}

# Griffiths and Steyvers (2004), eq. (5): distribution of one count's component conditional on all others.
ref_lda_conditional <- function(t, z, counts, n, m, alpha, eta) {
  others <- lda_tables(z[-t], list(row = counts$row[-t], column = counts$column[-t]), n, m, length(alpha))
  p <- (others$rows[counts$row[t], ] + alpha) * (others$basis[, counts$column[t]] + eta) /
    (rowSums(others$basis) + m * eta)
  p / sum(p)
}

# Eqs. (2) and (3).
ref_lda_log_joint <- function(z, counts, n, m, alpha, eta) {
  at <- lda_tables(z, counts, n, m, length(alpha))
  rows <- sweep(at$rows, 2L, alpha, "+")
  basis <- at$basis + eta
  sum(lgamma(rows)) - sum(lgamma(rowSums(rows))) - n * (sum(lgamma(alpha)) - lgamma(sum(alpha))) +
    sum(lgamma(basis)) - sum(lgamma(rowSums(basis))) - length(alpha) * (m * lgamma(eta) - lgamma(m * eta))
}

# Minka (2000), eq. (55).
ref_lda_learn <- function(at, alpha, eta) {
  rows <- sweep(at$rows, 2L, alpha, "+")
  basis <- at$basis + eta
  gain <- colSums(sweep(digamma(rows), 2L, digamma(alpha)))
  all <- sum(digamma(rowSums(rows)) - digamma(sum(alpha)))
  m <- ncol(basis)
  totals <- m * sum(digamma(rowSums(basis)) - digamma(m * eta))
  within <- function(x) pmin(pmax(x, 1e-3), 1e3)
  list(alpha = within(alpha * gain / all), eta = within(eta * sum(digamma(basis) - digamma(eta)) / totals))
}

lda_problem <- function(x, k, alpha, eta, learn = FALSE) {
  settings <- list(
    given = check_sparsity(NULL), sparse = FALSE, scale = "relative", missing = "paper", mstep = "cccp",
    fixed = "none", estimate = "gibbs", dirichlet = list(membership = alpha, basis = eta), learn = learn
  )
  plsa_gibbs_problem(check_data(x, "nonnegative", quiet = TRUE), k, settings, mcmc_control(progress = FALSE))
}

lda_state <- function(z, alpha, eta) list(topic = as.integer(z - 1L), prior = c(alpha, eta))

# Statistics that depend on no labels unless the prior has them.
lda_statistics <- function(z, counts, n, m, alpha, eta) {
  at <- lda_tables(z, counts, n, m, length(alpha))
  membership <- sweep(at$rows, 2L, alpha, "+") / (rowSums(at$rows) + sum(alpha))
  basis <- (at$basis + eta) / (rowSums(at$basis) + m * eta)
  p <- membership %*% basis
  c(
    p = p, square = p[1, ]^2, joint = ref_lda_log_joint(z, counts, n, m, alpha, eta), rows = sum(at$rows^2),
    basis = sum(at$basis^2), sizes = sum(rowSums(at$basis)^2), common = if (diff(range(alpha)) > 0) rowSums(at$basis)
  )
}

# States of `n_sweep` consecutive sweeps, components from 1. A call with more sweeps gives other draws, because the
# kernel lists components anew at every call.
lda_chain <- function(problem, z, alpha, eta, n_sweep) {
  state <- lda_state(z, alpha, eta)
  lapply(seq_len(n_sweep), function(t) {
    state <<- plsa_gibbs_sweeps(problem, state, 1)$state
    state$topic + 1L
  })
}

# z of every statistic: the chain's mean minus the exact one, by enumeration.
lda_exact_z <- function(x, alpha, eta, n_sweep) {
  n <- nrow(x)
  m <- ncol(x)
  k <- length(alpha)
  counts <- lda_counts(x)
  ways <- as.matrix(expand.grid(rep(list(seq_len(k)), length(counts$row))))
  joint <- apply(ways, 1L, ref_lda_log_joint, counts, n, m, alpha, eta)
  weight <- exp(joint - max(joint))
  exact <- drop(apply(ways, 1L, lda_statistics, counts, n, m, alpha, eta) %*% (weight / sum(weight)))
  states <- lda_chain(lda_problem(x, k, alpha, eta), ways[1L, ], alpha, eta, n_sweep)
  chain <- vapply(states, lda_statistics, exact, counts, n, m, alpha, eta)
  error <- batch_error(chain)
  ((rowMeans(chain) - exact) / error)[error > 1e-12]
}

# Draws components and counts from the model: each row has `total` counts. list(x, z)
lda_draw <- function(total, m, alpha, eta) {
  dirichlet <- function(a) {
    g <- stats::rgamma(length(a), a)
    g / sum(g)
  }
  basis <- t(vapply(alpha, function(a) dirichlet(rep(eta, m)), numeric(m)))
  lda_fresh(lapply(total, function(size) sample.int(length(alpha), size, TRUE, dirichlet(alpha))), basis)
}

# Draws attributes of counts with known components, row by row.
lda_fresh <- function(z, basis) {
  m <- ncol(basis)
  each <- lapply(z, function(own) {
    column <- vapply(own, function(c) sample.int(m, 1L, TRUE, basis[c, ]), 0L)
    list(x = tabulate(column, m), z = own[order(column)])
  })
  list(x = do.call(rbind, lapply(each, `[[`, "x")), z = unlist(lapply(each, `[[`, "z")))
}

# Geweke's test: sweeps alternate with new counts, with the basis drawn and integrated out again; the joint distribution
# must be reproduced.
lda_geweke_z <- function(total, m, alpha, eta, n_sweep) {
  n <- length(total)
  k <- length(alpha)
  at <- lda_draw(total, m, alpha, eta)
  like <- lda_statistics(at$z, lda_counts(at$x), n, m, alpha, eta)
  row <- rep(seq_along(total), total)
  chain <- vapply(seq_len(n_sweep), function(t) {
    z <- lda_chain(lda_problem(at$x, k, alpha, eta), at$z, alpha, eta, 1)[[1L]]
    basis <- lda_tables(z, lda_counts(at$x), n, m, k)$basis + eta
    basis[] <- stats::rgamma(length(basis), basis)
    at <<- lda_fresh(split(z, factor(row, seq_along(total))), basis / rowSums(basis))
    lda_statistics(at$z, lda_counts(at$x), n, m, alpha, eta)
  }, like)
  model <- vapply(seq_len(n_sweep), function(t) {
    at <- lda_draw(total, m, alpha, eta)
    lda_statistics(at$z, lda_counts(at$x), n, m, alpha, eta)
  }, like)
  error <- sqrt(batch_error(chain)^2 + apply(model, 1, stats::var) / n_sweep)
  ((rowMeans(chain) - rowMeans(model)) / error)[error > 1e-12]
}

# Ranks (0 .. n_draw) of the true values among posterior draws; ties are broken at random.
lda_sbc_ranks <- function(total, m, alpha, eta, n_set, n_draw = 19, thin = 10, warmup = 100) {
  n <- length(total)
  k <- length(alpha)
  like <- lda_statistics(seq_len(sum(total)) %% k + 1, lda_counts(matrix(total, n, m)), n, m, alpha, eta)
  vapply(seq_len(n_set), function(set) {
    truth <- lda_draw(total, m, alpha, eta)
    counts <- lda_counts(truth$x)
    problem <- lda_problem(truth$x, k, alpha, eta)
    state <- lda_state(sample.int(k, sum(total), TRUE), alpha, eta)
    state <- plsa_gibbs_sweeps(problem, state, warmup)$state
    draws <- vapply(seq_len(n_draw), function(d) {
      state <<- plsa_gibbs_sweeps(problem, state, thin)$state
      lda_statistics(state$topic + 1L, counts, n, m, alpha, eta)
    }, like)
    at <- lda_statistics(truth$z, counts, n, m, alpha, eta)
    near <- abs(draws - at) < 1e-9
    rowSums(draws < at & !near) + vapply(rowSums(near), function(ties) sample.int(ties + 1L, 1L) - 1, 0)
  }, like)
}
