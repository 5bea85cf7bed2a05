# The equations of noisy-OR in plain R, slow and obvious, and small problems to hold the kernels to them.

# All 2^k states, source 1 as the fastest.
ref_nor_states <- function(k) as.matrix(expand.grid(rep(list(0:1), k)))

# log P(x[i, ], state), n x 2^k.
ref_nor_joint <- function(x, par) {
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
  }
  out
}

ref_nor_loglik <- function(x, par) apply(ref_nor_joint(x, par), 1L, function(l) max(l) + log(sum(exp(l - max(l)))))

ref_nor_posterior <- function(x, par) {
  joint <- ref_nor_joint(x, par)
  exp(joint - ref_nor_loglik(x, par))
}

# One EM pass; pseudo-counts as c(prior, links, leak), two each.
ref_nor_pass <- function(x, par, inner = 1L, pseudo = numeric(6)) {
  states <- ref_nor_states(length(par$prior))
  posterior <- ref_nor_posterior(x, par)
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

quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# ---- With chances that presences are recorded, eqs. (R1) to (R4) of src/noisy_or/noisy_or.h ----------------------

ref_nor_chances <- function(par) {
  outer(par$recorded_site, if (is.null(par$recorded_taxon)) rep(1, length(par$leak)) else par$recorded_taxon)
}

# P(y[, j] = 1 | state), 2^k x m.
ref_nor_present <- function(par) {
  states <- ref_nor_states(length(par$prior))
  t(apply(states, 1L, function(z) 1 - (1 - par$leak) * apply((1 - par$links)^z, 2L, prod)))
}

ref_nor_recorded_joint <- function(x, par) {
  states <- ref_nor_states(length(par$prior))
  present <- ref_nor_present(par)
  rho <- ref_nor_chances(par)
  out <- matrix(0, nrow(x), nrow(states))
  for (i in seq_len(nrow(x))) {
    for (s in seq_len(nrow(states))) {
      one <- rho[i, ] * present[s, ]
      cells <- log(ifelse(x[i, ] == 1, one, 1 - one))
      out[i, s] <- sum(log(ifelse(states[s, ] == 1, par$prior, 1 - par$prior))) + sum(cells, na.rm = TRUE)
    }
  }
  out
}

ref_nor_recorded_loglik <- function(x, par) {
  apply(ref_nor_recorded_joint(x, par), 1L, function(l) max(l) + log(sum(exp(l - max(l)))))
}

# P(y = 1 | x), n x m; a missing cell is in it as one more unknown.
ref_nor_missed <- function(x, par) {
  posterior <- exp(ref_nor_recorded_joint(x, par) - ref_nor_recorded_loglik(x, par))
  present <- ref_nor_present(par)
  rho <- ref_nor_chances(par)
  out <- x
  for (i in seq_len(nrow(x))) {
    for (j in seq_len(ncol(x))) {
      hidden <- if (is.na(x[i, j])) present[, j] else (1 - rho[i, j]) * present[, j] / (1 - rho[i, j] * present[, j])
      if (!x[i, j] %in% 1) out[i, j] <- sum(posterior[i, ] * hidden)
    }
  }
  out
}

ref_nor_recorded_pass <- function(x, par, pseudo = numeric(10)) {
  states <- ref_nor_states(length(par$prior))
  posterior <- exp(ref_nor_recorded_joint(x, par) - ref_nor_recorded_loglik(x, par))
  present <- ref_nor_present(par)
  rho <- ref_nor_chances(par)
  on <- posterior %*% states
  taxon <- if (is.null(par$recorded_taxon)) rep(1, ncol(x)) else par$recorded_taxon
  site <- rbind(rep(0, nrow(x)), 0)
  by_taxon <- rbind(rep(0, ncol(x)), 0)
  out <- par
  for (j in seq_len(ncol(x))) {
    fired <- numeric(length(par$prior))
    leak <- 0
    for (i in which(!is.na(x[, j]))) {
      hidden <- if (x[i, j] == 1) 1 else (1 - rho[i, j]) * present[, j] / (1 - rho[i, j] * present[, j])
      weight <- posterior[i, ] * hidden # of a state with a presence
      fired <- fired + colSums(weight * states / present[, j]) * par$links[, j]
      leak <- leak + sum(weight / present[, j]) * par$leak[j]
      through <- c(1, 1)
      if (x[i, j] == 0) {
        through <- c(par$recorded_site[i] * (1 - taxon[j]), taxon[j] * (1 - par$recorded_site[i])) / (1 - rho[i, j])
      }
      site[, i] <- site[, i] + sum(weight) * c(through[1], 1)
      by_taxon[, j] <- by_taxon[, j] + sum(weight) * c(through[2], 1)
    }
    observed <- !is.na(x[, j])
    trials <- colSums(on[observed, , drop = FALSE])
    out$links[, j] <- (fired + pseudo[3]) / (trials + pseudo[3] + pseudo[4])
    out$leak[j] <- (leak + pseudo[5]) / (sum(observed) + pseudo[5] + pseudo[6])
  }
  out$prior <- (colSums(on) + pseudo[1]) / (nrow(x) + pseudo[1] + pseudo[2])
  out$recorded_site <- (site[1, ] + pseudo[7]) / (site[2, ] + pseudo[7] + pseudo[8])
  if (!is.null(par$recorded_taxon)) {
    out$recorded_taxon <- (by_taxon[1, ] + pseudo[9]) / (by_taxon[2, ] + pseudo[9] + pseudo[10])
  }
  out
}
