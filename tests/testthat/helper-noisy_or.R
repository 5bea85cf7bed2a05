# Slow plain R versions of the equations of noisy-OR, and small problems for comparison with the kernels.

# All 2^k states, source 1 as the fastest.
ref_nor_states <- function(k) as.matrix(expand.grid(rep(list(0:1), k)))

# Selects the states that agree with the known sources of site i.
ref_nor_agrees <- function(states, known, i) {
  apply(states, 1L, function(z) is.null(known) || all(is.na(known[i, ]) | known[i, ] == z))
}

# log P(x[i, ], state), n x 2^k; known: n x k, NA for unknown sources.
ref_nor_joint <- function(x, par, known = NULL) {
  states <- ref_nor_states(length(par$prior))
  out <- matrix(0, nrow(x), nrow(states))
  for (i in seq_len(nrow(x))) {
    for (s in seq_len(nrow(states))) {
      z <- states[s, ]
      sum <- sum(log(ifelse(z == 1, par$prior, 1 - par$prior)))
      for (j in which(!is.na(x[i, ]))) {
        zero <- (1 - par$leak[j]) * prod((1 - par$links[, j])^z)
        sum <- sum + log(if (x[i, j] == 1) 1 - zero else zero)
      }
      out[i, s] <- sum
    }
    out[i, !ref_nor_agrees(states, known, i)] <- -Inf
  }
  out
}

ref_nor_loglik <- function(x, par, known = NULL) {
  apply(ref_nor_joint(x, par, known), 1L, function(l) max(l) + log(sum(exp(l - max(l)))))
}

ref_nor_posterior <- function(x, par, known = NULL) {
  exp(ref_nor_joint(x, par, known) - ref_nor_loglik(x, par, known))
}

# One EM iteration; pseudo-counts as c(prior, links, leak), two each.
ref_nor_pass <- function(x, par, inner = 1L, pseudo = numeric(6), known = NULL) {
  states <- ref_nor_states(length(par$prior))
  posterior <- ref_nor_posterior(x, par, known)
  on <- posterior %*% states
  for (step in seq_len(inner)) {
    old <- par
    for (j in seq_len(ncol(x))) {
      observed <- !is.na(x[, j])
      fired <- numeric(length(par$prior))
      leak <- 0
      for (i in which(x[, j] == 1)) {
        for (s in seq_len(nrow(states))) {
          z <- states[s, ]
          one <- 1 - (1 - old$leak[j]) * prod((1 - old$links[, j])^z)
          fired <- fired + posterior[i, s] * z * old$links[, j] / one
          leak <- leak + posterior[i, s] * old$leak[j] / one
        }
      }
      trials <- colSums(on[observed, , drop = FALSE])
      par$links[, j] <- (fired + pseudo[3]) / (trials + pseudo[3] + pseudo[4])
      par$leak[j] <- (leak + pseudo[5]) / (sum(observed) + pseudo[5] + pseudo[6])
    }
  }
  par$prior <- (colSums(on) + pseudo[1]) / (nrow(x) + pseudo[1] + pseudo[2])
  par
}

# Random data and starting values.
nor_problem <- function(n = 12, m = 6, k = 3, missing = 0, density = 0.4) {
  x <- matrix(stats::rbinom(n * m, 1L, density), n, m)
  x[stats::runif(n * m) < missing] <- NA
  list(
    x = x, k = k, start = list(
      prior = stats::runif(k, 0.1, 0.6), links = matrix(stats::runif(k * m, 0.05, 0.9), k, m),
      leak = stats::runif(m, 0.02, 0.3)
    )
  )
}

nor_plain <- function(iterations, ...) fit_control(n_start = 1, max_iter = iterations, tol = 0, accelerate = FALSE, ...)

# Overlapping blocks: four sources on twelve attributes.
nor_planted <- function(n, seed, prior = 0.25, link = 0.9, leak = 0.03) {
  set.seed(seed)
  links <- matrix(0, 4, 12)
  for (c in 1:4) links[c, (3 * c - 3 + 0:4) %% 12 + 1] <- link
  on <- matrix(stats::rbinom(n * 4, 1L, prior), n)
  x <- matrix(stats::rbinom(n * 12, 1L, 1 - exp(on %*% log(1 - links)) * (1 - leak)), n)
  dimnames(x) <- list(paste0("site", seq_len(n)), paste0("taxon", 1:12))
  list(x = x, links = links, on = on)
}

# Number of true sources matched one to one with a correlation above `least`.
nor_found <- function(links, truth, least = 0.9) {
  r <- suppressWarnings(stats::cor(t(links), t(truth)))
  r[is.na(r)] <- -1
  found <- 0
  while (length(r) && max(r) > least) {
    at <- arrayInd(which.max(r), dim(r))
    r <- r[-at[1L], -at[2L], drop = FALSE]
    found <- found + 1
  }
  found
}

# Compares relative to `tolerance`; numbers below 1e-3 with the absolute precision of 1 - (1 - p).
expect_close <- function(got, want, tolerance = 1e-12) {
  got <- as.vector(got)
  want <- as.vector(want)
  worst <- max(abs(got - want) / pmax(abs(want), 1e-3))
  expect_lte(worst, tolerance)
}

quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# ---- With probabilities that presences are recorded, eqs. (R1) to (R5) of src/noisy_or/noisy_or.h
# ----------------------

# Probabilities of a grid point, 10 x m.
ref_nor_probabilities <- function(par) {
  outer((1:10 / 10)^2, if (is.null(par$recorded_taxon)) rep(1, length(par$leak)) else par$recorded_taxon)
}

# P(y[, j] = 1 | state), 2^k x m.
ref_nor_there <- function(par) {
  states <- ref_nor_states(length(par$prior))
  t(apply(states, 1L, function(z) 1 - (1 - par$leak) * apply((1 - par$links)^z, 2L, prod)))
}

# log P(x[i, ], state, grid point), n x 2^k x 10.
ref_nor_recorded_joint <- function(x, par, known = NULL) {
  states <- ref_nor_states(length(par$prior))
  there <- ref_nor_there(par)
  rho <- ref_nor_probabilities(par)
  out <- array(0, c(nrow(x), nrow(states), 10))
  prior <- colSums(log(ifelse(t(states) == 1, par$prior, 1 - par$prior)))
  for (i in seq_len(nrow(x))) {
    for (g in 1:10) {
      one <- rho[g, ] * t(there) # m x 2^k
      cells <- log(ifelse(matrix(x[i, ] == 1, nrow(one), ncol(one)), one, 1 - one))
      out[i, , g] <- log(par$recorded_share[g]) + prior + colSums(cells, na.rm = TRUE)
    }
    out[i, !ref_nor_agrees(states, known, i), ] <- -Inf
  }
  out
}

ref_nor_recorded_loglik <- function(x, par, known = NULL) {
  apply(ref_nor_recorded_joint(x, par, known), 1L, function(l) max(l) + log(sum(exp(l - max(l)))))
}

ref_nor_recorded_posterior <- function(x, par, known = NULL) {
  exp(ref_nor_recorded_joint(x, par, known) - ref_nor_recorded_loglik(x, par, known))
}

# One EM iteration; pseudo-counts as c(prior, links, leak, taxon), two each, and one for share; hold as in eq. (R6).
ref_nor_recorded_pass <- function(x, par, pseudo = numeric(9), known = NULL, hold = NULL) {
  states <- ref_nor_states(length(par$prior))
  posterior <- ref_nor_recorded_posterior(x, par, known)
  there <- ref_nor_there(par)
  rho <- ref_nor_probabilities(par)
  on <- apply(posterior, 1:2, sum) %*% states
  out <- par
  ones <- zeros <- numeric(ncol(x))
  for (j in seq_len(ncol(x))) {
    fired <- numeric(length(par$prior))
    leak <- through <- all <- 0
    for (i in which(!is.na(x[, j]))) {
      for (g in 1:10) {
        hidden <- if (x[i, j] == 1) 1 else (1 - rho[g, j]) * there[, j] / (1 - rho[g, j] * there[, j])
        hidden[is.nan(hidden)] <- 0
        weight <- posterior[i, , g] * hidden # of states with a presence
        fired <- fired + colSums(weight * states / there[, j]) * par$links[, j]
        leak <- leak + sum(weight / there[, j]) * par$leak[j]
        v <- if (x[i, j] == 1) 1 else (rho[g, j] / (g / 10)^2 - rho[g, j]) / (1 - rho[g, j])
        all <- all + sum(weight)
        if (sum(weight) > 0) through <- through + sum(weight) * v
      }
    }
    observed <- !is.na(x[, j])
    trials <- colSums(on[observed, , drop = FALSE])
    out$links[, j] <- (fired + pseudo[3]) / (trials + pseudo[3] + pseudo[4])
    out$leak[j] <- (leak + pseudo[5]) / (sum(observed) + pseudo[5] + pseudo[6])
    if (!is.null(par$recorded_taxon)) {
      out$recorded_taxon[j] <- (through + pseudo[7]) / (all + pseudo[7] + pseudo[8])
    }
    ones[j] <- through + pseudo[7]
    zeros[j] <- all - through + pseudo[8]
  }
  out$prior <- (colSums(on) + pseudo[1]) / (nrow(x) + pseudo[1] + pseudo[2])
  out$recorded_share <- (apply(posterior, 3L, sum) + pseudo[9]) / (nrow(x) + 10 * pseudo[9])
  if (is.null(hold)) out else ref_nor_hold(out, apply(posterior, 3L, sum) + pseudo[9], ones, zeros, hold)
}

ref_nor_scale <- function(par, hold) {
  site <- sum(par$recorded_share * (1:10 / 10)^2)
  hold[2] * site + if (is.null(par$recorded_taxon)) 0 else hold[3] * mean(par$recorded_taxon)
}

# Eqs. (R7) and (R8), with the multiplier of eq. (R6) by bisection.
ref_nor_hold <- function(par, points, ones, zeros, hold) {
  r <- (1:10 / 10)^2
  root <- function(f, from, to) stats::uniroot(f, c(from, to), tol = 1e-16, maxiter = 10000L)$root
  at <- function(t) {
    pull <- t * hold[2] * r
    lambda <- root(function(l) sum(points / (l + pull - min(pull))) - 1, 1e-14, sum(points) + 1)
    par$recorded_share <- points / (lambda + pull - min(pull))
    if (is.null(par$recorded_taxon)) {
      return(par)
    }
    for (j in seq_along(ones)) {
      slope <- function(v) ones[j] * (1 - v) - zeros[j] * v - t * hold[3] / length(ones) * v * (1 - v)
      par$recorded_taxon[j] <- root(slope, 0, 1)
    }
    par
  }
  at(root(function(t) ref_nor_scale(at(t), hold) - hold[1], -500, 500))
}

# Eq. (I1) of R/identifiability_noisy_or.R.
ref_nor_rescale <- function(par, t) {
  for (c in seq_along(par$prior)) {
    alone <- 1 - (1 - par$leak) * (1 - par$links[c, ])
    par$links[c, ] <- 1 - (1 - t * alone) / (1 - t * par$leak)
  }
  par$leak <- t * par$leak
  par$recorded_taxon <- par$recorded_taxon / t
  par
}

# ---- Variational inference with recording, eqs. (R9) to (R14) ------------------------------------------------------

# Eq. (R11) for a column: on, theta of k sources.
ref_nor_point <- function(on, theta) {
  at <- sort(c(0, theta))
  above <- vapply(at, function(t) sum(on * pmin(theta, t)) - t, 0)
  if (sum(on[theta > 0]) <= 1) {
    return(0)
  }
  last <- max(which(above > 0)) # the root is in the next piece, or beyond the largest link
  small <- theta <= at[last]
  sum((on * theta)[small]) / (1 - sum(on[!small]))
}

# Bound of the zeros for one probability of recording, eq. (R10): its value, slopes of z, and the derivatives used by
# (R12).
ref_nor_zeros <- function(on, theta, leak, rho) {
  height <- function(y) log(1 - rho + rho * exp(-y))
  steep <- function(y) rho * exp(-y) / (1 - rho + rho * exp(-y))
  point <- ref_nor_point(on, theta)
  none <- height(leak + point) + steep(leak + point) * point
  big <- theta > point
  weight <- ifelse(big, steep(leak + theta), steep(leak + point))
  list(
    none = none, slope = ifelse(big, height(leak + theta) - none, -steep(leak + point) * theta), weight = on * weight,
    all = (1 - sum(on[big])) * steep(leak + point) + sum((on * weight)[big])
  )
}

# E-step. state: prior, recorded_share, recorded_taxon; theta, leak as -log(1 - p); q, n x m x k; on, k x 10 x n.
ref_nor_variational_rows <- function(x, state) {
  r <- (1:10 / 10)^2
  bound <- numeric(nrow(x))
  weight <- matrix(0, nrow(x), 10)
  for (i in seq_len(nrow(x))) {
    gain <- numeric(length(state$prior))
    for (j in which(x[i, ] == 1)) {
      gain <- gain + state$q[i, j, ] * (ref_nor_f(state$leak[j] + ref_nor_share(state$theta[, j], state$q[i, j, ])) -
        ref_nor_f(state$leak[j]))
    }
    ones <- which(x[i, ] == 1)
    value <- numeric(10)
    for (g in 1:10) {
      rho <- r[g] * state$recorded_taxon
      odds <- stats::qlogis(state$prior) + gain
      value[g] <- log(state$recorded_share[g]) + sum(ref_nor_f(state$leak[ones]) + log(rho[ones]))
      for (j in which(x[i, ] == 0)) {
        zeros <- ref_nor_zeros(state$on[, g, i], state$theta[, j], state$leak[j], rho[j])
        odds <- odds + zeros$slope
        value[g] <- value[g] + zeros$none
      }
      value[g] <- value[g] + sum(log1p(-state$prior)) + sum(log1p(exp(odds)))
      state$on[, g, i] <- stats::plogis(odds)
    }
    bound[i] <- max(value) + log(sum(exp(value - max(value))))
    weight[i, ] <- exp(value - bound[i])
  }
  c(state[setdiff(names(state), c("bound", "weight"))], list(bound = bound, weight = weight))
}

ref_nor_f <- function(y) log(-expm1(-y))
ref_nor_share <- function(theta, q) replace(theta / q, theta == 0 & q == 0, 0)

# One maximum-likelihood iteration, with one damped step of q.
ref_nor_variational_pass <- function(x, state) {
  state <- new <- ref_nor_variational_rows(x, state)
  k <- length(state$prior)
  r <- (1:10 / 10)^2
  on <- vapply(seq_len(nrow(x)), function(i) colSums(t(matrix(state$on[, , i], k)) * state$weight[i, ]), numeric(k))
  on <- matrix(on, ncol = k, byrow = TRUE)
  rise <- function(y, leak) ref_nor_f(y) - ifelse(is.finite(y), (y - leak) / expm1(y), 0) - ref_nor_f(leak)
  for (j in seq_len(ncol(x))) {
    ones <- which(x[, j] == 1)
    for (i in ones) {
      y <- state$leak[j] + ref_nor_share(state$theta[, j], state$q[i, j, ])
      q <- state$q[i, j, ] * sqrt(pmax(on[i, ] * rise(y, state$leak[j]), 0))
      if (sum(q) > 0) new$q[i, j, ] <- q / sum(q)
    }
    off <- numeric(k)
    all <- 0
    through <- length(ones)
    for (i in which(x[, j] == 0)) {
      for (g in 1:10) {
        rho <- r[g] * state$recorded_taxon[j]
        zeros <- ref_nor_zeros(state$on[, g, i], state$theta[, j], state$leak[j], rho)
        off <- off + state$weight[i, g] * zeros$weight
        all <- all + state$weight[i, g] * zeros$all
        kept <- if (rho < 1) (state$recorded_taxon[j] - rho) / (1 - rho) else 0
        through <- through + state$weight[i, g] * (zeros$all + (1 - zeros$all) * kept)
      }
    }
    new$recorded_taxon[j] <- through / sum(!is.na(x[, j]))
    root <- function(slope, least) {
      if (slope(least) <= 0) {
        return(least)
      }
      if (slope(30) >= 0) 30 else stats::uniroot(slope, c(least, 30), tol = 1e-14)$root
    }
    fired <- function(leak, theta, q) (q > 0) / expm1(leak + ref_nor_share(theta, q))
    for (c in seq_len(k)) {
      new$theta[c, j] <- root(function(t) sum(on[ones, c] * fired(state$leak[j], t, new$q[ones, j, c])) - off[c], 0)
    }
    new$leak[j] <- root(function(t) {
      each <- vapply(seq_len(k), function(c) {
        q <- new$q[ones, j, c]
        sum(q * (on[ones, c] * fired(t, new$theta[c, j], q) + (1 - on[ones, c]) / expm1(t)))
      }, 0)
      sum(each) - all
    }, 1e-6)
  }
  new$prior <- colMeans(on)
  new$recorded_share <- colMeans(state$weight)
  new
}

recorded_problem <- function(by = "both", ...) {
  p <- nor_problem(...)
  p$start$recorded_share <- stats::runif(10)
  p$start$recorded_share <- p$start$recorded_share / sum(p$start$recorded_share)
  if (by == "both") p$start$recorded_taxon <- stats::runif(ncol(p$x), 0.3, 0.95)
  p
}

# Simulates sites with varying search effort: four causes, true presences, records.
recorded_planted <- function(n, seed, by = "site", m = 30) {
  set.seed(seed)
  links <- matrix(stats::rbinom(4 * m, 1L, 0.35) * 0.85, 4)
  on <- matrix(stats::rbinom(n * 4, 1L, 0.4), n)
  present <- matrix(stats::rbinom(n * m, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), n)
  probability <- stats::rbeta(n, 2, 2)
  taxon <- if (by == "both") stats::rbeta(m, 6, 2) else rep(1, m)
  x <- present * stats::rbinom(n * m, 1L, outer(probability, taxon))
  dimnames(x) <- list(paste0("site", seq_len(n)), paste0("taxon", seq_len(m)))
  list(x = x, present = present, probability = probability, taxon = taxon)
}

# ---- Gibbs sampling, eqs. (G1) to (G4) of src/noisy_or/gibbs.h --------------------------------------------------

# log P(x[i,] | z, g) of a site for all g, without recording of one g; visits: list(made, found), n x m each.
ref_nor_row <- function(x, i, z, par, visits) {
  none <- (1 - par$leak) * apply((1 - par$links)^z, 2L, prod)
  rho <- if (is.null(par$recorded_share)) matrix(1, 1L, ncol(x)) else ref_nor_probabilities(par)
  seen <- which(!is.na(x[i, ]))
  apply(rho, 1L, function(r) {
    q <- 1 - (1 - r)^visits$made[i, ]
    found <- visits$found[i, ]
    missed <- visits$made[i, ] - found
    one <- log(1 - none) + found * log(r) + ifelse(missed > 0, missed * log(1 - r), 0)
    sum(ifelse(x[i, ] == 1, one, log(1 - q + q * none))[seen])
  })
}

# Which of these causes of a presence fired.
ref_nor_fire <- function(p) {
  fired <- logical(length(p))
  for (s in seq_along(p)) {
    some <- 1 - prod(1 - p[s:length(p)])
    fired[s] <- stats::runif(1L) < if (any(fired)) p[s] else p[s] / some
  }
  fired
}

# One sweep, by R's random numbers in the order of the kernel's; state: par with on (k x n) and grid (n, from 0);
# pseudo as in ref_nor_recorded_pass(), less 1. Returns the state and the number missed.
ref_nor_sweep <- function(x, state, pseudo, visits = list(made = !is.na(x), found = x %in% 1), known = NULL) {
  visits <- lapply(visits, function(count) matrix(as.numeric(count), nrow(x)))
  k <- length(state$prior)
  recorded <- !is.null(state$recorded_share)
  log_share <- if (recorded) log(state$recorded_share) else 0
  counts <- list(fired = matrix(0, k + 1L, ncol(x)), present = numeric(ncol(x)), missed = 0)
  counts$trials <- counts$fired
  counts$through <- counts$present
  all_g <- function(i, z) {
    logs <- log_share + ref_nor_row(x, i, z, state, visits)
    max(logs) + log(sum(exp(logs - max(logs))))
  }
  for (i in seq_len(nrow(x))) {
    for (c in seq_len(k)) { # (G1)
      if (!is.null(known) && !is.na(known[c, i])) next
      off <- on <- state$on[, i]
      off[c] <- 0
      on[c] <- 1
      odds <- log(state$prior[c] / (1 - state$prior[c])) + all_g(i, on) - all_g(i, off)
      state$on[c, i] <- (stats::runif(1L) < 1 / (1 + exp(-odds))) + 0L
    }
    z <- state$on[, i]
    if (recorded) { # (G2)
      weight <- exp(log_share + ref_nor_row(x, i, z, state, visits))
      state$grid[i] <- min(9L, sum(cumsum(weight) <= stats::runif(1L) * sum(weight)))
    }
    counts <- ref_nor_presences(counts, x, i, state, visits)
  }
  list(state = ref_nor_parameters(counts, state, pseudo, nrow(x)), missed = counts$missed)
}

# (G3) of row i: presences that zeros hide, the causes that fired, and the detections they are counted by.
ref_nor_presences <- function(counts, x, i, state, visits) {
  recorded <- !is.null(state$recorded_share)
  z <- state$on[, i]
  rho <- if (recorded) ref_nor_probabilities(state)[state$grid[i] + 1L, ] else rep(1, ncol(x))
  there <- 1 - (1 - state$leak) * apply((1 - state$links)^z, 2L, prod)
  q <- 1 - (1 - rho)^visits$made[i, ]
  for (j in c(which(x[i, ] == 1), which(x[i, ] == 0))) {
    counts$trials[, j] <- counts$trials[, j] + c(z, 1)
    if (x[i, j] == 0) {
      if (!recorded || stats::runif(1L) >= (1 - q[j]) * there[j] / (1 - q[j] * there[j])) next
      counts$missed <- counts$missed + 1
    }
    causes <- c(length(z) + 1L, which(z == 1))
    counts$fired[causes, j] <- counts$fired[causes, j] + ref_nor_fire(c(state$leak[j], state$links[z == 1, j]))
    if (is.null(state$recorded_taxon)) next
    silent <- visits$made[i, j] - visits$found[i, j]
    v <- state$recorded_taxon[j]
    r <- ((state$grid[i] + 1) / 10)^2
    counts$present[j] <- counts$present[j] + visits$made[i, j]
    counts$through[j] <- counts$through[j] + visits$found[i, j]
    if (silent > 0) counts$through[j] <- counts$through[j] + stats::rbinom(1L, silent, v * (1 - r) / (1 - r * v))
  }
  counts
}

# (G4): all parameters given these counts.
ref_nor_parameters <- function(counts, state, pseudo, n) {
  k <- length(state$prior)
  beta <- function(part, one, all) {
    stats::rbeta(1L, pseudo[2L * part - 1L] + 1 + one, pseudo[2L * part] + 1 + all - one)
  }
  for (c in seq_len(k)) state$prior[c] <- beta(1L, sum(state$on[c, ]), n)
  for (j in seq_along(state$leak)) {
    for (c in seq_len(k)) state$links[c, j] <- beta(2L, counts$fired[c, j], counts$trials[c, j])
    state$leak[j] <- beta(3L, counts$fired[k + 1L, j], counts$trials[k + 1L, j])
    if (!is.null(state$recorded_taxon)) state$recorded_taxon[j] <- beta(4L, counts$through[j], counts$present[j])
  }
  if (!is.null(state$recorded_share)) {
    share <- vapply(0:9, function(g) stats::rgamma(1L, pseudo[9L] + 1 + sum(state$grid == g)), 0)
    state$recorded_share <- share / sum(share)
  }
  state
}

# Parameters from their prior, and a table, sources and grid points from these.
nor_gibbs_draw <- function(n, m, k, by, prior, effort = NULL) {
  model <- list(pseudo = nor_pseudo_counts(prior, "gibbs"), missed_by = by)
  par <- nor_gibbs_prior_param(list(k = k, dim = c(n, m), model = model, data = list(effort = effort)))
  on <- matrix(stats::rbinom(n * k, 1L, par$prior), k)
  there <- 1 - exp(crossprod(on, log1p(-par$links))) * rep(1 - par$leak, each = n)
  present <- matrix(stats::rbinom(n * m, 1L, there), n)
  grid <- if (!is.null(effort)) {
    stats::rbinom(n, 9L, 1 - stats::plogis(par$coef[1L] + par$coef[2L] * effort))
  } else if (by != "none") {
    sample(0:9, n, TRUE, par$recorded_share)
  }
  rho <- if (is.null(grid)) matrix(1, n, m) else recorded_probabilities(par, recorded_grid_probabilities()[grid + 1L])
  list(
    par = par, on = on, grid = grid, present = present, x = present * matrix(stats::rbinom(n * m, 1L, rho), n),
    one = rho * there, rho = rho, model = model
  )
}

nor_gibbs_test_problem <- function(x, k, drawn, control = mcmc_control(progress = FALSE), effort = NULL) {
  data <- check_data(x, "binary", quiet = TRUE)
  data$effort <- effort
  model <- utils::modifyList(drawn$model, list(inference = "exact", inner = 1L, q_steps = 1L, q_rule = "alternate"))
  nor_gibbs_problem(data, k, model, control)
}

nor_gibbs_test_state <- function(drawn) {
  state <- lapply(stats::setNames(nm = c(nor_gibbs_parts, "coef")), function(part) drawn$par[[part]])
  c(state, list(
    on = structure(as.integer(drawn$on), dim = dim(drawn$on)),
    grid = if (!is.null(drawn$grid)) as.integer(drawn$grid)
  ))
}

# Ranks of what tables were drawn from among thinned draws given them, 0 to n_draw; one row a statistic, ties broken at
# random. sweep(problem, state, n, thin) is the sampler, so that mistakes can be planted.
nor_gibbs_ranks <- function(n, m, k, by, n_set = 100, n_draw = 19, thin = 10, warmup = 200, effort = NULL,
                            prior = nor_default_prior("gibbs"), sweep = nor_gibbs_sweeps) {
  of_state <- function(state) {
    c(
      links = sum(state$links^2), leak = sum(state$leak), prior = sum(state$prior),
      taxon = if (by == "both") sum(state$recorded_taxon), slope = if (!is.null(effort)) state$coef[2L]
    )
  }
  one <- function(set) {
    truth <- nor_gibbs_draw(n, m, k, by, prior, effort)
    x <- replace(truth$x, sample.int(n * m, 2L), NA)
    problem <- nor_gibbs_test_problem(x, k, truth, effort = effort)
    cells <- t(problem$probe + 1L)
    likelihood <- sum(stats::dbinom(x, 1L, truth$one, log = TRUE), na.rm = TRUE)
    want <- c(
      of_state(truth$par), loglik = likelihood, on = mean(colSums(truth$on)),
      missed = sum(truth$present[x %in% 0]), recorded = mean(truth$rho), cell = truth$one[cells][1:2]
    )
    state <- sweep(problem, nor_gibbs_test_state(nor_gibbs_draw(n, m, k, by, prior, effort)), warmup, 0L)$state
    drawn <- vapply(seq_len(n_draw), function(s) {
      out <- sweep(problem, state, thin, thin)
      state <<- out$state
      c(of_state(out$state), out$note[c(2:5, 8:9), 1L])
    }, want)
    below <- rowSums(drawn < want - 1e-9)
    equal <- rowSums(abs(drawn - want) <= 1e-9)
    below + floor(stats::runif(length(want)) * (equal + 1))
  }
  vapply(seq_len(n_set), one, numeric(9L + (by == "both") + !is.null(effort)))
}
