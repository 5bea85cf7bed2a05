# The equations of noisy-OR in plain R, slow and obvious, and small problems to hold the kernels to them.

# All 2^k states, source 1 as the fastest.
ref_nor_states <- function(k) as.matrix(expand.grid(rep(list(0:1), k)))

# Which states agree with what is known of the sources of site i.
ref_nor_agrees <- function(states, known, i) {
  apply(states, 1L, function(z) is.null(known) || all(is.na(known[i, ]) | known[i, ] == z))
}

# log P(x[i, ], state), n x 2^k; known: n x k, NA where a source is not.
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

# One EM pass; pseudo-counts as c(prior, links, leak), two each.
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

# Random data and start values.
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

nor_plain <- function(passes, ...) fit_control(n_start = 1, max_pass = passes, tol = 0, accelerate = FALSE, ...)

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

# How many true sources are matched one to one with a correlation above `least`.
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

# Relative to `tolerance`; numbers below 1e-3 to the absolute precision of 1 - (1 - p).
expect_close <- function(got, want, tolerance = 1e-12) {
  got <- as.vector(got)
  want <- as.vector(want)
  worst <- max(abs(got - want) / pmax(abs(want), 1e-3))
  expect_lte(worst, tolerance)
}

quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# ---- With chances that presences are recorded, eqs. (R1) to (R5) of src/noisy_or/noisy_or.h ----------------------

# Chances of a grid point, 10 x m.
ref_nor_chances <- function(par) {
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
  rho <- ref_nor_chances(par)
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

# One EM pass; pseudo-counts as c(prior, links, leak, taxon), two each, and one of share; hold as in eq. (R6).
ref_nor_recorded_pass <- function(x, par, pseudo = numeric(9), known = NULL, hold = NULL) {
  states <- ref_nor_states(length(par$prior))
  posterior <- ref_nor_recorded_posterior(x, par, known)
  there <- ref_nor_there(par)
  rho <- ref_nor_chances(par)
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

# Eqs. (R7), (R8), the multiplier by bisection of eq. (R6).
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

# Eq. (R11) of a column: on, theta of k sources.
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

# The zeros' bound given a chance of recording, eq. (R10): its value, slopes of z, and the derivatives that (R12) takes.
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

# The E-step. state: prior, recorded_share, recorded_taxon; theta, leak as -log(1 - p); q, n x m x k; on, k x 10 x n.
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

# A pass, of maximum likelihood, with one damped step of q.
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

# Sites that are searched more or less well: four causes, what is there, what is on record.
recorded_planted <- function(n, seed, by = "site", m = 30) {
  set.seed(seed)
  links <- matrix(stats::rbinom(4 * m, 1L, 0.35) * 0.85, 4)
  on <- matrix(stats::rbinom(n * 4, 1L, 0.4), n)
  present <- matrix(stats::rbinom(n * m, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), n)
  chance <- stats::rbeta(n, 2, 2)
  taxon <- if (by == "both") stats::rbeta(m, 6, 2) else rep(1, m)
  x <- present * stats::rbinom(n * m, 1L, outer(chance, taxon))
  dimnames(x) <- list(paste0("site", seq_len(n)), paste0("taxon", seq_len(m)))
  list(x = x, present = present, chance = chance, taxon = taxon)
}
