# Slow plain R versions of the equations of PLSA and PLCA, for comparison with the kernels.

ref_simplex <- function(n, k) {
  rows <- matrix(stats::runif(n * k, 0.1, 1.1), n, k)
  rows / rowSums(rows)
}

# A small table of counts, or of non-integer numbers, with random means; x[1] is above 0.
random_counts <- function() {
  n <- sample(2:12, 1)
  m <- sample(2:9, 1)
  x <- matrix(stats::rpois(n * m, stats::rexp(n * m)), n) * sample(c(1, 0.01, 50), 1)
  x[1] <- max(x[1], 1)
  x
}

# Runs plsa() as folds do, also with rows without counts, which it refuses from users.
keeping_empty_rows <- function(expr) {
  withCallingHandlers(expr, multicause_empty_rows = function(e) invokeRestart("hidden_by_us"))
}

# One maximum-likelihood EM iteration of the asymmetric form, eqs. (2)-(3); rows without counts are unchanged.
ref_plsa_pass <- function(x, membership, basis) {
  p <- membership %*% basis
  ratio <- ifelse(x > 0, x / p, 0)
  omega <- membership * (ratio %*% t(basis))
  xi <- basis * (t(membership) %*% ratio)
  counted <- rowSums(omega) > 0
  membership[counted, ] <- omega[counted, ] / rowSums(omega)[counted]
  list(membership = membership, basis = xi / rowSums(xi))
}

# EM iteration of the truncated multinomial: missing cells at their expected counts.
ref_plsa_conditional_pass <- function(x, membership, basis) {
  p <- membership %*% basis
  observed <- !is.na(x)
  total <- rowSums(x, na.rm = TRUE)
  filled <- ifelse(observed, x, total / rowSums(p * observed) * p)
  ref_plsa_pass(filled, membership, basis)
}

ref_plsa_loglik <- function(x, membership, basis, conditional = TRUE) {
  p <- membership %*% basis
  if (conditional) p <- p / rowSums(p * !is.na(x))
  sum(ifelse(!is.na(x) & x > 0, x * log(p), 0))
}

entropy_term <- function(p) sum(ifelse(p > 0, p * log(p), 0))

# Objective of the entropic M-step, scaled so that any magnitudes are allowed.
ref_entropic <- function(theta, omega, beta) {
  scale <- max(omega, abs(beta))
  sum((omega / scale * log(theta))[omega > 0]) + beta / scale * entropy_term(theta)
}

# Best of several runs of a general optimiser, over theta = softmax(z).
ref_entropic_best <- function(omega, beta, n_start = 4L) {
  scale <- max(omega, abs(beta))
  a <- omega / scale
  b <- beta / scale
  at <- if (beta >= 0) which(a > 0) else seq_along(a)
  softmax <- function(z) {
    z <- z - max(z)
    z - log(sum(exp(z)))
  }
  value <- function(z) {
    logs <- softmax(z)
    sum((a[at] * logs)[a[at] > 0]) + b * sum(exp(logs) * logs)
  }
  slope <- function(z) {
    logs <- softmax(z)
    theta <- exp(logs)
    g <- b * theta * (logs + 1)
    a[at] - sum(a[at]) * theta + g - sum(g) * theta
  }
  spike <- replace(numeric(length(at)), which.max(a[at]), 6)
  starts <- c(list(numeric(length(at)), log(pmax(a[at], 1e-10)), spike),
    replicate(n_start - 3L, stats::rnorm(length(at), 0, 3), simplify = FALSE))
  runs <- vapply(starts, function(z) {
    control <- list(fnscale = -1, maxit = 500, reltol = 1e-14)
    run <- try(stats::optim(z, value, slope, method = "BFGS", control = control), TRUE)
    if (inherits(run, "try-error")) -Inf else run$value
  }, 0)
  max(runs)
}

# Maximum of f(x) = sum v log(x'held) - sum linear x over x >= 0, a row of a Poisson factorisation, by a general solver:
# Newton's method on the barrier f(x) + mu sum log x, with decreasing mu.
ref_poisson_best <- function(v, held, linear) {
  x <- rep(sum(v) / sum(linear), length(linear))
  value <- function(x, mu) {
    p <- drop(x %*% held)
    if (any(x <= 0) || any(p <= 0)) -Inf else sum(v * log(p)) - sum(linear * x) + mu * sum(log(x))
  }
  for (mu in 10^seq(0, -12, -0.5)) {
    for (step in 1:200) {
      p <- drop(x %*% held)
      slope <- drop(held %*% (v / p)) - linear + mu / x
      bend <- held %*% (t(held) * (v / p^2)) + diag(mu / x^2, length(x))
      scale <- sqrt(diag(bend))
      d <- solve(bend / outer(scale, scale), slope / scale, tol = 0) / scale
      gain <- sum(slope * d)
      if (gain < 1e-14) break
      t <- 1
      while (value(x + t * d, mu) < value(x, mu) + 1e-4 * t * gain && t > 1e-12) t <- t / 2
      x <- x + t * d
    }
  }
  value(x, 0)
}

# A small table of counts, or of non-integer numbers, with random means; x[1] is above 0.
random_counts <- function() {
  n <- sample(2:12, 1)
  m <- sample(2:9, 1)
  x <- matrix(stats::rpois(n * m, stats::rexp(n * m)), n) * sample(c(1, 0.01, 50), 1)
  x[1] <- max(x[1], 1)
  x
}

# Probability of every cell of an array (row) and component (column), eq. (1).
ref_plca_joint <- function(weights, marginals) {
  index <- as.matrix(expand.grid(lapply(marginals, function(q) seq_len(ncol(q)))))
  vapply(seq_along(weights), function(c) {
    p <- rep(weights[c], nrow(index))
    for (d in seq_along(marginals)) p <- p * marginals[[d]][c, index[, d]]
    p
  }, numeric(nrow(index)))
}

# Maximum over the simplex of sum omega log theta + sum linear theta + weight sum theta log theta, stationary where
#   omega / theta + weight (log theta + 1) + linear = mu,
# eq. (7) of Shashanka and others (2007) with a linear term: the best of several runs of a general optimiser, then
# Newton's method on log theta and mu. With weight >= 0 cells without counts are 0.
ref_simplex_best <- function(omega, linear = 0 * omega, weight = 0) {
  at <- if (weight >= 0) which(omega > 0) else seq_along(omega)
  a <- omega[at]
  b <- linear[at]
  softmax <- function(z) z - max(z) - log(sum(exp(z - max(z))))
  value <- function(z) sum(a * softmax(z)) + sum(exp(softmax(z)) * (b + weight * softmax(z)))
  starts <- list(0 * a, log(pmax(a, 1e-10)), replace(0 * a, which.max(a), 6))
  runs <- lapply(starts, function(z) {
    stats::optim(z, value, method = "BFGS", control = list(fnscale = -1, maxit = 1000, reltol = 1e-13))
  })
  z <- softmax(runs[[which.max(vapply(runs, `[[`, 0, "value"))]]$par)
  mu <- sum(a + exp(z) * (weight * (z + 1) + b))
  for (step in 1:20) {
    theta <- exp(z)
    slope <- theta * (weight * (z + 1) + b - mu)
    jacobian <- rbind(cbind(diag(slope + weight * theta, length(z)), -theta), c(theta, 0))
    change <- solve(jacobian, -c(a + slope, sum(theta) - 1), tol = 0)
    z <- z + change[seq_along(z)]
    mu <- mu + change[length(change)]
  }
  replace(0 * omega, at, exp(z))
}

# M-step of component i in one dimension: omega its counts, q all marginals, a its row of A, beta its entropic prior.
# Terms that are not concave in q_i are replaced by bounds that touch at the old q_i, spec plca.md section 4.
ref_plca_block <- function(omega, q, i, a, beta, method, floor) {
  if (all(a == 0)) {
    return(ref_simplex_best(omega, weight = beta))
  }
  old <- q[i, ]
  linear <- 0 * old
  weight <- min(beta, 0)
  for (other in which(a != 0)) {
    partner <- q[other, ]
    mid <- (old + partner) / 2
    if (method == "js") {
      linear <- linear + if (a[other] > 0) a[other] * log(old / mid) else -a[other] * log(mid)
      weight <- weight + min(a[other], 0)
    } else {
      linear <- linear - a[other] * log(partner + floor)
      if (a[other] > 0) linear <- linear - a[other] * partner / (old + floor)
      if (a[other] < 0) omega <- omega - a[other] * partner * old / (old + floor)
    }
  }
  if (beta > 0) linear <- linear + beta * log(old)
  ref_simplex_best(omega, linear, weight)
}

ref_no_priors <- list(alpha = 1, eta = 1, beta_weights = 0, beta = 0, pairs = list(), method = "js", floor = 1e-4)

# One EM iteration over an array, eqs. (3)-(4), to the mode under Dirichlet priors with alpha (weights) and eta
# (marginals, one number per dimension), and the other priors of ref_no_priors; counts of missing cells are imputed at
# their conditional mean.
ref_plca_pass <- function(x, weights, marginals, alpha = 1, eta = rep(1, length(marginals)), others = list()) {
  priors <- replace(ref_no_priors, names(others), others)
  index <- as.matrix(expand.grid(lapply(dim(x), seq_len)))
  joint <- ref_plca_joint(weights, marginals)
  seen <- !is.na(as.vector(x))
  ratio <- ifelse(seen, as.vector(x) / rowSums(joint), sum(x, na.rm = TRUE) / sum(joint[seen, ]))
  counts <- ratio * joint
  added <- colSums(counts) + alpha - 1
  beta <- rep_len(priors$beta, length(marginals))
  sparse <- priors$beta_weights
  list(
    weights = if (sparse == 0) added / sum(added) else ref_simplex_best(added, weight = sparse),
    marginals = lapply(seq_along(marginals), function(d) {
      sums <- t(rowsum(counts, index[, d])) + eta[d] - 1
      dimnames(sums) <- NULL
      pairs <- if (d <= length(priors$pairs)) priors$pairs[[d]]
      if (is.null(pairs) && beta[d] == 0) {
        return(sums / rowSums(sums))
      }
      if (is.null(pairs)) pairs <- matrix(0, length(weights), length(weights))
      q <- marginals[[d]]
      for (i in seq_along(weights)) {
        q[i, ] <- ref_plca_block(sums[i, ], q, i, pairs[i, ], beta[d], priors$method, priors$floor)
      }
      q
    })
  )
}

# D of a pair of components, eq. (5) or one of its substitutes in src/plca/plca.h.
ref_plca_pair <- function(p, q, method, floor) {
  mid <- (p + q) / 2
  if (method == "mm") -sum(p * log(q + floor) + q * log(p + floor)) else sum(p * log(p / mid) + q * log(q / mid))
}

# Log-posterior without constants.
ref_plca_objective <- function(x, weights, marginals, alpha = 1, eta = rep(1, length(marginals)), others = list()) {
  priors <- replace(ref_no_priors, names(others), others)
  p <- rowSums(ref_plca_joint(weights, marginals))
  seen <- !is.na(as.vector(x))
  v <- as.vector(x)[seen]
  logs <- function(parameter, p) if (all(parameter == 1)) 0 else sum((parameter - 1) * log(p))
  value <- sum(ifelse(v > 0, v * log(p[seen] / sum(p[seen])), 0)) + logs(alpha, weights) +
    sum(mapply(logs, eta, marginals)) + priors$beta_weights * entropy_term(weights) +
    sum(rep_len(priors$beta, length(marginals)) * vapply(marginals, entropy_term, 0))
  for (d in seq_along(priors$pairs)) for (i in seq_along(weights)) for (j in seq_len(i - 1L)) {
    a <- priors$pairs[[d]][i, j]
    q <- marginals[[d]]
    if (length(a) && a != 0) value <- value + a * ref_plca_pair(q[i, ], q[j, ], priors$method, priors$floor)
  }
  value
}

# Draws counts of two overlapping faunas.
ref_counts <- function(n, m, total = 40) {
  basis <- rbind(stats::dexp(seq_len(m), 0.3), rev(stats::dexp(seq_len(m), 0.3)))
  basis <- basis / rowSums(basis)
  share <- stats::runif(n)
  draw <- function(s) stats::rmultinom(1L, total, s * basis[1, ] + (1 - s) * basis[2, ])[, 1L]
  x <- t(vapply(share, draw, integer(m)))
  list(x = x, basis = basis, membership = cbind(share, 1 - share, deparse.level = 0))
}

plain_iterations <- function(n_iter, ...) {
  fit_control(n_start = 1, max_iter = n_iter, tol = 0, accelerate = FALSE, progress = FALSE, ...)
}

read_golden_counts <- function(name) golden(file.path("plca", name), simplifyDataFrame = FALSE)

# Latent Dirichlet allocation (src/plsa/plsa.h, src/plsa/vb.h). One EM iteration to the posterior mode; x without NA.
# Entropic priors of each row (rows) and each component (component), in counts: eqs. (7)-(8) of Shashanka and others
# (2007) with the Dirichlets' pseudo-counts.
ref_lda_map_pass <- function(x, membership, basis, alpha, eta, rows = 0, component = 0) {
  ratio <- ifelse(x > 0, x / (membership %*% basis), 0)
  omega <- sweep(membership * (ratio %*% t(basis)), 2L, alpha - 1, "+")
  xi <- basis * (t(membership) %*% ratio) + eta - 1
  m_step <- function(counts, beta) {
    beta <- rep_len(beta, nrow(counts))
    t(vapply(seq_along(beta), function(i) ref_simplex_best(counts[i, ], weight = beta[i]), counts[1, ]))
  }
  list(
    membership = if (all(rows == 0)) omega / rowSums(omega) else m_step(omega, rows),
    basis = if (component == 0) xi / rowSums(xi) else m_step(xi, component)
  )
}

ref_lda_log_prior <- function(membership, basis, alpha, eta) {
  times_log <- function(count, p) sum(ifelse(count == 0, 0, count * log(p)))
  times_log(matrix(alpha - 1, nrow(membership), ncol(membership), byrow = TRUE), membership) +
    times_log(0 * basis + eta - 1, basis)
}

ref_mean_log <- function(counts) digamma(counts) - digamma(rowSums(counts))

# KL divergence of Dirichlet(q[r, ]) from Dirichlet(p), summed over rows r.
ref_dirichlet_kl <- function(q, p) {
  p <- matrix(p, nrow(q), ncol(q), byrow = TRUE)
  sum(lgamma(rowSums(q)) - rowSums(lgamma(q)) - lgamma(rowSums(p)) + rowSums(lgamma(p))) +
    sum((q - p) * ref_mean_log(q))
}

# The bound, and an iteration of variational Bayes: counts of the state (rows, basis), alpha and eta.
ref_lda_bound <- function(x, state, alpha, eta, conditional = TRUE) {
  q <- list(rows = sweep(state$rows, 2L, alpha, "+"), basis = state$basis + eta)
  p <- exp(ref_mean_log(q$rows)) %*% exp(ref_mean_log(q$basis))
  total <- rowSums(x, na.rm = TRUE)
  gone <- if (conditional) sum(total * log(1 - rowSums(p * is.na(x)))) else 0
  sum(ifelse(!is.na(x) & x > 0, x * log(p), 0)) - gone - ref_dirichlet_kl(q$rows, alpha) -
    ref_dirichlet_kl(q$basis, rep(eta, ncol(x)))
}

ref_lda_vb_pass <- function(x, state, alpha, eta, learn = FALSE, conditional = TRUE) {
  logs <- list(rows = ref_mean_log(sweep(state$rows, 2L, alpha, "+")), basis = ref_mean_log(state$basis + eta))
  g <- exp(logs$rows)
  w <- exp(logs$basis)
  p <- g %*% w
  ratio <- ifelse(is.na(x), 0, x / p)
  if (conditional) ratio <- ratio + is.na(x) * rowSums(x, na.rm = TRUE) / (1 - rowSums(p * is.na(x)))
  state <- list(rows = g * (ratio %*% t(w)), basis = w * (t(g) %*% ratio))
  if (learn) {
    at <- function(y) stats::uniroot(function(log_a) digamma(exp(log_a)) - y, c(-7, 7), tol = 1e-14)$root
    alpha <- vapply(digamma(sum(alpha)) + colMeans(logs$rows), function(y) exp(at(y)), 0)
    eta <- exp(at(digamma(ncol(x) * eta) + mean(logs$basis)))
  }
  c(state, list(alpha = alpha, eta = eta))
}

# Log evidence, and the posterior mean of P_i(j), by enumeration of the components of all counts, k^sum(x) of them.
ref_lda_evidence <- function(x, alpha, eta) {
  k <- length(alpha)
  row <- rep(row(x), x)
  column <- rep(col(x), x)
  ways <- as.matrix(expand.grid(rep(list(seq_len(k)), sum(x))))
  log_joint <- apply(ways, 1L, function(z) {
    rows <- unclass(table(factor(row, seq_len(nrow(x))), factor(z, seq_len(k))))
    basis <- unclass(table(factor(z, seq_len(k)), factor(column, seq_len(ncol(x)))))
    sum(lgamma(sweep(rows, 2L, alpha, "+"))) - nrow(x) * sum(lgamma(alpha)) + nrow(x) * lgamma(sum(alpha)) -
      sum(lgamma(rowSums(rows) + sum(alpha))) +
      sum(lgamma(basis + eta)) - k * ncol(x) * lgamma(eta) + k * lgamma(ncol(x) * eta) -
      sum(lgamma(rowSums(basis) + ncol(x) * eta))
  })
  max(log_joint) + log(sum(exp(log_joint - max(log_joint))))
}
