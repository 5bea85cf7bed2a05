# The model of visits with covariates of detection, cell by cell.

# 30 x 5 x 3 visits with a covariate of visits and one of sites; some visits were not made.
detected_table <- function(n = 30, m = 5, n_visit = 3) {
  set.seed(11)
  date <- matrix(stats::runif(n * n_visit, -1, 1), n)
  size <- stats::rnorm(n)
  present <- matrix(stats::rbinom(n * m, 1L, 0.6), n)
  slopes <- rbind(stats::rnorm(m, 0.2, 0.4), stats::rnorm(m, 0.8, 0.4), stats::rnorm(m, 0, 0.2))
  visits <- array(0L, c(n, m, n_visit), list(site = paste0("s", 1:n), species = paste0("t", 1:m), visit = NULL))
  for (v in 1:n_visit) {
    p <- stats::plogis(cbind(1, date[, v], size) %*% slopes)
    visits[, , v] <- stats::rbinom(n * m, 1L, p) * present
  }
  visits[2, , 2] <- NA
  visits[4, 3, 1] <- NA
  visits[5, , ] <- NA
  date[2, 2] <- NA
  list(visits = visits, date = date, size = size, present = present, slopes = slopes)
}

# Log-likelihood of one attribute's cells; t = c(logit aspects, slopes), design n x visits x d.
ref_detected <- function(t, membership, x, design, added = numeric(ncol(x))) {
  k <- ncol(membership)
  p <- as.vector(membership %*% stats::plogis(t[seq_len(k)]))
  total <- 0
  for (i in seq_len(nrow(x))) {
    made <- which(!is.na(x[i, ]))
    if (!length(made)) next
    q <- stats::plogis(as.vector(matrix(design[i, made, ], length(made)) %*% t[-seq_len(k)]))
    found <- x[i, made] == 1
    total <- total + log(
      p[i] * prod(ifelse(found, q, 1 - q)) + (1 - p[i]) * prod(ifelse(found, added[made], 1 - added[made]))
    )
  }
  total
}

# One iteration: the posterior of presence; slopes by a Newton step of their weighted logistic regression, all other
# parameters in closed form.
ref_detected_pass <- function(x, par, design, mean, ridge) {
  d <- dim(design)[3]
  s <- par$membership
  a <- par$aspects
  p <- s %*% a
  tau <- one <- zero <- matrix(0, nrow(x), ncol(x))
  slopes <- par$slopes
  for (j in seq_len(ncol(x))) {
    weight <- y <- rows <- NULL
    for (i in seq_len(nrow(x))) {
      made <- which(!is.na(x[i, j, ]))
      if (!length(made)) next
      at <- matrix(design[i, made, ], length(made))
      q <- stats::plogis(as.vector(at %*% par$slopes[, j]))
      found <- x[i, j, made] == 1
      present <- prod(ifelse(found, q, 1 - q))
      absent <- 1 * !any(found)
      total <- p[i, j] * present + (1 - p[i, j]) * absent
      one[i, j] <- present / total
      zero[i, j] <- absent / total
      tau[i, j] <- p[i, j] * present / total
      weight <- c(weight, rep(tau[i, j], length(made)))
      y <- c(y, found)
      rows <- rbind(rows, at)
    }
    q <- stats::plogis(as.vector(rows %*% par$slopes[, j]))
    gradient <- crossprod(rows, weight * (y - q)) - ridge * (par$slopes[, j] - mean[, j])
    hessian <- crossprod(rows, weight * q * (1 - q) * rows) + diag(ridge, d)
    step <- solve(hessian, gradient)
    reach <- max(abs(rows %*% step))
    slopes[, j] <- par$slopes[, j] + step * if (reach > 1) log(1 + reach) / reach else 1
  }
  expected <- s * (one %*% t(a) + zero %*% t(1 - a))
  seen <- rowSums(expected) > 0
  s[seen, ] <- (expected / rowSums(expected))[seen, ]
  ones <- a * (t(par$membership) %*% one)
  zeros <- (1 - a) * (t(par$membership) %*% zero)
  list(membership = s, aspects = ones / (ones + zeros), slopes = slopes)
}

# Mean and spread of slopes among attributes by EM, attribute by attribute: b_j ~ N(M_j mean, diag(spread^2)), with
# evidence exp(shift'b - b'precision b / 2), the mean integrated out.
ref_sharing <- function(evidence, means, sharing, ridge, rounds) {
  d <- nrow(means[[1]])
  for (round in seq_len(rounds)) {
    w <- diag(1 / sharing$spread^2, d)
    left <- diag(ridge, ncol(means[[1]]))
    right <- 0
    for (j in seq_along(evidence)) {
      v <- solve(evidence[[j]]$precision + w)
      left <- left + t(means[[j]]) %*% (w - w %*% v %*% w) %*% means[[j]]
      right <- right + t(means[[j]]) %*% w %*% v %*% evidence[[j]]$shift
    }
    covariance <- solve(left)
    mean <- covariance %*% right
    squares <- 0
    for (j in seq_along(evidence)) {
      v <- solve(evidence[[j]]$precision + w)
      off <- v %*% (evidence[[j]]$shift + w %*% means[[j]] %*% mean) - means[[j]] %*% mean
      lead <- (v %*% w - diag(1, d)) %*% means[[j]]
      squares <- squares + as.vector(off)^2 + diag(v) + diag(lead %*% covariance %*% t(lead))
    }
    sharing <- list(mean = as.vector(mean), spread = sqrt(squares / length(evidence)), covariance = covariance)
  }
  sharing
}

# Memberships by covariates: the multinomial logistic regression of expected counts, with its own derivatives.
ref_shares <- function(effects, w) {
  eta <- exp(w %*% effects)
  eta / rowSums(eta)
}

ref_counts_objective <- function(effects, w, counts, ridge) {
  sum(counts * log(ref_shares(effects, w))) - ridge * sum(effects^2) / 2
}

# Newton step in the contrasts of components, where the solution is unique.
ref_effects_step <- function(effects, w, counts, ridge) {
  d <- nrow(effects)
  k <- ncol(effects)
  s <- ref_shares(effects, w)
  gradient <- as.vector(t(w) %*% (counts - rowSums(counts) * s)) - ridge * as.vector(effects)
  hessian <- diag(ridge, d * k)
  for (i in seq_len(nrow(w))) {
    curve <- sum(counts[i, ]) * (diag(s[i, ], k) - outer(s[i, ], s[i, ]))
    hessian <- hessian + kronecker(curve, outer(w[i, ], w[i, ]))
  }
  basis <- kronecker(qr.Q(qr(stats::contr.sum(k))), diag(1, d))
  as.vector(effects) + basis %*% solve(t(basis) %*% hessian %*% basis, t(basis) %*% gradient)
}

# Tests of the sampler against exact results: a grid, Geweke's joint test, simulation-based calibration.

visits_test_problem <- function(cell, k, prior, sharing = "partial", formula = ~date, data = list(), taxon = NULL,
                                communities = NULL, site = NULL) {
  cell <- suppressMessages(check_visits(cell, c("site", "species", "visit")))
  given <- list(visit = data, site = site, taxon = taxon)
  settings <- list(
    estimate = "gibbs", prior = prior, missed_by = "model", sharing = sharing, added = FALSE, rare = 0L
  )
  settings <- check_detection(formula, cell, given, settings)
  if (!is.null(communities)) settings$communities <- check_communities(communities, cell, given, settings)
  data <- list(x = any_visit(unclass(cell)))
  visits_gibbs_problem(cell, data, k, settings, mcmc_control(progress = FALSE))
}

# Draws new records of the existing visits, from new presences.
draw_records <- function(problem, state) {
  cell <- problem$cell
  d <- dim(cell)
  present <- matrix(stats::rbinom(d[1] * d[2], 1L, mixed(state$membership, state$aspects)), d[1])
  probability <- stats::plogis(crossprod(problem$settings$by$design, state$slopes))
  for (v in seq_len(d[3])) {
    found <- present * stats::rbinom(d[1] * d[2], 1L, probability[(v - 1) * d[1] + seq_len(d[1]), ])
    cell[, , v] <- ifelse(is.na(cell[, , v]), NA, as.integer(found))
  }
  problem$cell <- cell
  problem$present <- present
  problem
}

# Statistics that depend on no labels and have a mean.
visits_statistics <- function(state, problem) {
  p <- state$membership %*% state$aspects
  shared <- problem$settings$sharing == "partial"
  c(
    p = p[1:2, ], square = mean(p^2), spread = sum(state$membership^2), aspects = sum(state$aspects^2),
    slopes = stats::plogis(state$slopes), product = mean(p) * mean(stats::plogis(state$slopes[1, ])),
    beta = if (shared) state$beta / (1 + state$beta), center = if (shared) state$center,
    width = if (shared) state$spread / (1 + state$spread),
    pull = if (shared) mean(stats::plogis(state$slopes[1, ])) * state$spread[1] / (1 + state$spread[1]),
    effects = if (!is.null(state$effects)) rowSums(centred_effects(state$effects)^2)
  )
}

visits_geweke_z <- function(problem, n_sweep) {
  n_stat <- length(visits_statistics(visits_prior_state(problem), problem))
  free <- vapply(seq_len(n_sweep), function(i) visits_statistics(visits_prior_state(problem), problem), numeric(n_stat))
  state <- visits_prior_state(problem)
  chain <- vapply(seq_len(n_sweep), function(i) {
    problem <- draw_records(problem, state)
    state <<- visits_sweeps(problem, state, 1L)$state
    visits_statistics(state, problem)
  }, numeric(n_stat))
  error <- sqrt(apply(free, 1, stats::var) / n_sweep + batch_error(chain)^2)
  (rowMeans(chain) - rowMeans(free)) / error
}

# Ranks of the truth among thinned draws, statistics x data sets.
visits_sbc_ranks <- function(problem, n_set, warmup, thin, n_keep = 19) {
  vapply(seq_len(n_set), function(s) {
    truth <- visits_prior_state(problem)
    own <- draw_records(problem, truth)
    state <- visits_sweeps(own, visits_prior_state(own), warmup)$state
    draws <- vapply(seq_len(n_keep), function(i) {
      state <<- visits_sweeps(own, state, thin)$state
      visits_statistics(state, own)
    }, visits_statistics(truth, problem))
    rowSums(draws < visits_statistics(truth, problem))
  }, visits_statistics(visits_prior_state(problem), problem))
}

# Number of presences of rare attributes (found at 1 to 4 observations) together, in data drawn from the prior: the
# posterior mean minus the truth, set by set. The chain starts at the truth, which is a posterior draw, so it needs no
# warm-up and the mean of these errors is 0.
visits_rare_errors <- function(problem, n_set, warmup, n_sweep) {
  one <- function(s) {
    truth <- visits_prior_state(problem)
    own <- draw_records(problem, truth)
    found <- colSums(any_visit(own$cell), na.rm = TRUE)
    rare <- found > 0 & found < 5
    state <- visits_sweeps(own, truth, warmup)$state
    drawn <- visits_sweeps(own, state, n_sweep, 2L)$sites
    if (any(rare)) c(error = sum(rowMeans(drawn)[rare]) - sum(own$present[, rare]), truth = sum(own$present[, rare]))
  }
  do.call(rbind, lapply(seq_len(n_set), one))
}

# One attribute, one component, an intercept: posterior means, over a grid, of the probability of a presence a, of
# detection q, of the number of undetected presences and of the log-likelihood.
visits_grid <- function(cell, prior, sd) {
  x <- matrix(cell[, 1, ], dim(cell)[1])
  a <- seq(0.0005, 0.9995, length.out = 1000)
  b <- seq(-8 * sd, 8 * sd, length.out = 2000)
  made <- rowSums(!is.na(x))
  found <- rowSums(x == 1, na.rm = TRUE)
  q <- stats::plogis(b)
  log_post <- outer(stats::dbeta(a, prior[1], prior[2], log = TRUE), stats::dnorm(b, 0, sd, log = TRUE), "+")
  loglik <- missed <- 0
  for (i in which(made > 0)) {
    present <- outer(a, q^found[i] * (1 - q)^(made[i] - found[i]))
    absent <- if (found[i]) 0 * present else matrix(1 - a, length(a), length(b))
    loglik <- loglik + log(present + absent)
    if (!found[i]) missed <- missed + present / (present + absent)
  }
  w <- exp(log_post + loglik - max(log_post + loglik))
  w <- w / sum(w)
  c(
    a = sum(rowSums(w) * a), q = sum(colSums(w) * q), missed = sum(w * missed), loglik = sum(w * loglik),
    both = sum(w * outer(a, q))
  )
}

# Expected cells of each component for one observation; nothing is added, misses are by visit.
ref_visit_counts <- function(x, par, i) {
  out <- 0 * par$membership[i, ]
  for (j in seq_len(dim(x)[2])) {
    made <- which(!is.na(x[i, j, ]))
    if (!length(made)) next
    found <- x[i, j, made] == 1
    one <- par$membership[i, ] * par$aspects[, j] * prod(ifelse(found, 1 - par$missed[1, made], par$missed[1, made]))
    zero <- par$membership[i, ] * (1 - par$aspects[, j]) * !any(found)
    out <- out + (one + zero) / sum(one + zero)
  }
  out
}

# Occupancy of one taxon, site by site, eqs. (1) to (3) of src/visits_occupancy/taxon.h. y: n x visits; x: n x terms; w:
# a list of n x terms, one per visit. Returns list(loglik, present) for each site, NA without a visit.
ref_occupancy_sites <- function(y, x, w, theta, uneven = 0) {
  nodes <- if (uneven > 0) normal_nodes else list(at = 0, weight = 1)
  b <- theta[seq_len(ncol(x))]
  d <- theta[-seq_len(ncol(x))]
  one <- function(i) {
    made <- which(!is.na(y[i, ]))
    if (!length(made)) {
      return(c(NA, NA))
    }
    psi <- plogis(sum(x[i, ] * b))
    each <- vapply(nodes$at, function(u) {
      p <- plogis(vapply(made, function(v) sum(w[[v]][i, ] * d), 0) + uneven * u)
      prod(ifelse(y[i, made] == 1, p, 1 - p))
    }, 0)
    here <- psi * sum(nodes$weight * each)
    all <- if (any(y[i, made] == 1)) here else here + 1 - psi
    c(log(all), here / all)
  }
  out <- vapply(seq_len(nrow(y)), one, numeric(2))
  list(loglik = out[1, ], present = out[2, ])
}

# Update of center and spread from modes (size x m) and their variances, eqs. (4) and (5) of em.h: the maximum over each
# by a search.
ref_occupancy_sharing <- function(theta, variance, center, spread, prior) {
  for (e in seq_along(center)) {
    q <- function(at, s) {
      -sum((theta[e, ] - at)^2 + variance[e, ]) / (2 * s^2) - ncol(theta) * log(s)
    }
    center[e] <- optimize(function(at) q(at, spread[e]) - at^2 / (2 * prior$center_sd[e]^2), c(-10, 10),
      maximum = TRUE, tol = 1e-10)$maximum
    spread[e] <- optimize(function(s) {
      q(center[e], s) - log(s) - prior$spread_prior[e] / (2 * s^2) - s^2 / (2 * prior$spread_sd[e]^2)
    }, c(0.01, 20), maximum = TRUE, tol = 1e-10)$maximum
  }
  list(center = center, spread = spread)
}

# One Newton step of attribute j with fixed memberships: its columns of aspects and slopes afterwards, see
# visits_bernoulli/inform.h.
ref_polish_step <- function(cell, param, prior, j) {
  k <- nrow(param$aspects)
  now <- visits_inform(cell, param, prior)
  aspect <- param$aspects[, j]
  free <- c(aspect > 1e-6 & aspect < 1 - 1e-6, rep(TRUE, nrow(param$slopes)))
  information <- as.matrix(now$information[free, free, j])
  ridges <- c(0, 10^(-6:2)) * max(abs(diag(information)))
  definite <- vapply(ridges, function(ridge) min(eigen(information + diag(ridge, sum(free)))$values) > 0, NA)
  step <- numeric(length(free))
  step[free] <- solve(information + diag(ridges[definite][1L], sum(free)), now$gradient[free, j])
  step <- step * min(1, 5 / max(abs(step)))
  best <- param
  for (half in 0:12) {
    trial <- param
    trial$aspects[free[1:k], j] <- plogis(qlogis(aspect) + step[1:k] / 2^half)[free[1:k]]
    trial$slopes[, j] <- param$slopes[, j] + step[-(1:k)] / 2^half
    if (visits_inform(cell, trial, prior)$value[j] > now$value[j]) {
      best <- trial
      break
    }
  }
  list(aspects = best$aspects[, j], slopes = best$slopes[, j], half = half, ridge = which(definite)[1L])
}
