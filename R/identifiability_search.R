# A search among decompositions with the same probabilities that rescaling cannot reach, because they mix the content
# components: moves that change one component's aspect at a time,
#   a_k <- (a_k + sum_{j != k} w_j a_j) / (1 - w_k),   s_j <- s_j - w_j s_k (j != k),   s_k <- (1 - w_k) s_k,
# which leave s a as it is for every w, and are allowed where
#   0 <= a_k + sum_{j != k} w_j a_j <= 1 - w_k,   s_j >= w_j s_k,   sum_j w_j >= -min_i (1 - u_i) / s_ik.
# All of that is linear in w, and content's share u_i changes by -s_ik sum_j w_j: so the best move of a component is a
# linear program in K unknowns. Moves of all components in turn climb to an end that no single one improves.

# The move of component k that is best for `gain` . w, cut back where rounding left the polytope; NULL: there is none.
best_move <- function(s, a, k, gain) {
  with_k <- s[, k] > least_content
  if (!any(with_k)) {
    return(NULL)
  }
  share <- s[with_k, , drop = FALSE]
  upper <- apply(share / share[, k], 2L, min)
  upper[k] <- 1 - 1e-6
  lowest_sum <- -min((1 - pmin(rowSums(share), 1)) / share[, k])
  mix <- a
  mix[k, ] <- 0
  # Rows: a' >= 0; a' <= 1 - w_k; the sum. In y = upper - w >= 0.
  rate <- rbind(-t(mix), t(mix), rep(-1, nrow(a)))
  rate[ncol(a) + seq_len(ncol(a)), k] <- 1
  most <- c(a[k, ], 1 - a[k, ], -lowest_sum)
  program <- lpSolve::lp("min", gain, -rate, rep("<=", length(most)), most - as.vector(rate %*% upper))
  if (program$status != 0L) {
    return(NULL)
  }
  w <- pmin(upper - program$solution, upper)
  used <- as.vector(rate %*% w)
  w * min(1, (most / used)[used > most & used > 0])
}

move_component <- function(factors, k, w) {
  s <- factors$s
  a <- factors$a
  others <- seq_along(w)[-k]
  a[k, ] <- (a[k, ] + colSums(w[others] * a[others, , drop = FALSE])) / (1 - w[k])
  s[, others] <- s[, others] - outer(s[, k], w[others])
  s[, k] <- s[, k] * (1 - w[k])
  list(s = pmax(s, 0), a = pmin(pmax(a, 0), 1))
}

# The rescaling of all components together with the largest (smallest) mean share of content.
rescale_best <- function(factors, sign) {
  polytope <- scale_polytope(factors)
  d <- if (sign < 0) polytope$lower else largest_scale(polytope, colMeans(factors$s))
  rescale_factors(factors, d)
}

# Rescalings and moves of all components in random order until the mean share of content rises (falls) no more.
climb <- function(factors, sign, most_rounds = 30L) {
  k <- ncol(factors$s)
  for (round in seq_len(most_rounds)) {
    before <- sum(factors$s)
    factors <- rescale_best(factors, sign)
    for (c in sample.int(k)) {
      w <- best_move(factors$s, factors$a, c, rep(-sign, k))
      if (!is.null(w)) factors <- move_component(factors, c, w)
    }
    if (abs(sum(factors$s) - before) < 1e-7 * nrow(factors$s)) break
  }
  factors
}

# Some random moves, each a random part of the way to a random corner.
wander <- function(factors, steps = ncol(factors$s)) {
  k <- ncol(factors$s)
  for (c in sample.int(k, steps, replace = TRUE)) {
    w <- best_move(factors$s, factors$a, c, stats::rnorm(k))
    if (!is.null(w)) factors <- move_component(factors, c, w * stats::runif(1L))
  }
  factors
}

# Climbs both ways from the fit and from n_start places near it. Returns every decomposition met whose probabilities
# are those of the fit.
search_decompositions <- function(factors, n_start) {
  p <- factors$s %*% factors$a
  met <- list()
  for (start in seq_len(n_start)) {
    from <- if (start == 1L) factors else wander(factors)
    for (found in list(from, climb(from, 1), climb(from, -1))) {
      if (max(abs(found$s %*% found$a - p)) < 1e-10) met <- c(met, list(found))
    }
  }
  met
}
