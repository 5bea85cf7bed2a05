# Slow plain R versions of the equations, for comparison with the kernels. Bingham, Kaban & Fortelius (2009).

# Random 0/1 table with some cells unknown.
binary <- function(n, m, density = 0.4, missing = 0) {
  x <- matrix(rbinom(n * m, 1, density), n, m)
  x[runif(n * m) < missing] <- NA
  x
}

random_start <- function(n, m, k) {
  s <- matrix(runif(n * k, 0.1, 1), n, k)
  list(membership = s / rowSums(s), aspects = matrix(runif(k * m, 0.05, 0.95), k, m))
}

# Number of rows (or columns) that a kernel with blocks of `rows` scans in three blocks, that is, strips with separate
# sums (src/num/blocks.h). No kernel's blocks have more than 256.
three_blocks <- function(rows = 256L) 2L * rows + 8L

# Plain iterations of the published algorithm, exactly as many as requested.
plain <- function(iterations) {
  fit_control(n_start = 1, max_iter = iterations, tol = 0, accelerate = FALSE, algorithm = "em")
}

# Maximum likelihood by default, because the equations above are those of maximum likelihood.
quiet <- function(..., estimate = "ml") suppressMessages(aspect_bernoulli(..., estimate = estimate))

# Posterior of each component for one cell, eq. (7), by Bayes' rule over the k values of z.
ref_cell <- function(x, s, a) {
  written <- if (is.na(x)) rep(1, length(s)) else if (x == 1) a else 1 - a
  s * written / sum(s * written)
}

# Eq. (6): the log-likelihood, cell by cell.
ref_loglik <- function(x, s, a) {
  total <- 0
  for (i in seq_len(nrow(x))) {
    for (j in seq_len(ncol(x))) {
      if (is.na(x[i, j])) next
      total <- total + log(if (x[i, j] == 1) sum(s[i, ] * a[, j]) else sum(s[i, ] * (1 - a[, j])))
    }
  }
  total
}

# Eq. (8): memberships from the posteriors, with pseudo-counts of a Dirichlet prior.
ref_memberships <- function(x, s, a, pseudo = 0) {
  new <- s
  for (i in seq_len(nrow(x))) {
    counts <- rep(pseudo, ncol(s))
    for (j in which(!is.na(x[i, ]))) counts <- counts + ref_cell(x[i, j], s[i, ], a[, j])
    if (sum(counts) > 0) new[i, ] <- counts / sum(counts)
  }
  new
}

# Eq. (9): aspects from the posteriors under the new memberships, with pseudo-counts of a Beta prior.
ref_aspects <- function(x, s, a, one = 0, zero = 0) {
  new <- a
  for (j in seq_len(ncol(x))) {
    ones <- rep(one, nrow(a))
    zeros <- rep(zero, nrow(a))
    for (i in which(!is.na(x[, j]))) {
      q <- ref_cell(x[i, j], s[i, ], a[, j])
      if (x[i, j] == 1) ones <- ones + q else zeros <- zeros + q
    }
    known <- ones + zeros > 0
    new[known, j] <- (ones / (ones + zeros))[known]
  }
  new
}

ref_pass <- function(x, start, pseudo = c(0, 0, 0)) {
  s <- ref_memberships(x, start$membership, start$aspects, pseudo[3])
  list(membership = s, aspects = ref_aspects(x, s, start$aspects, pseudo[1], pseudo[2]))
}

# Of src/aspect_bernoulli/line.h: the line through 1 / (1 - p) at the two Chebyshev points of [0, .4], its integral, the
# log-likelihood with that in the place of -log(1 - p) at zeros, cell by cell, and the iteration of it. There a zero has
# weight (1 - a) f(p), and a row's expected cells are scaled to those observed.
ref_line_points <- 0.2 * (1 + c(-1, 1) * sqrt(0.5))
ref_line_slope <- diff(1 / (1 - ref_line_points)) / diff(ref_line_points)
ref_line <- function(p) 1 / (1 - ref_line_points[1]) + ref_line_slope * (p - ref_line_points[1])
ref_line_loglik <- function(x, s, a) {
  p <- s %*% a
  integral <- p * (ref_line(0) + ref_line(p)) / 2
  sum(log(p[x %in% 1])) - sum(integral[x %in% 0])
}
ref_line_pass <- function(x, start, pseudo = c(0, 0, 0)) {
  s <- start$membership
  a <- start$aspects
  wrote <- function(x, s, a, p) {
    if (is.na(x)) 0 * s else if (x == 1) s * a / p else s * (1 - a) * ref_line(p)
  }
  new <- s
  for (i in seq_len(nrow(x))) {
    counts <- 0
    for (j in seq_len(ncol(x))) counts <- counts + wrote(x[i, j], s[i, ], a[, j], sum(s[i, ] * a[, j]))
    known <- sum(!is.na(x[i, ]))
    if (known > 0) counts <- counts / sum(counts) * known
    if (known + pseudo[3] > 0) new[i, ] <- (counts + pseudo[3]) / sum(counts + pseudo[3])
  }
  aspects <- a
  for (j in seq_len(ncol(x))) {
    one <- pseudo[1]
    zero <- pseudo[2]
    for (i in seq_len(nrow(x))) {
      cells <- wrote(x[i, j], new[i, ], a[, j], sum(new[i, ] * a[, j]))
      if (x[i, j] %in% 1) one <- one + cells
      if (x[i, j] %in% 0) zero <- zero + cells
    }
    known <- one + zero > 0
    aspects[known, j] <- (one / (one + zero))[known]
  }
  list(membership = new, aspects = aspects)
}

# Log-posterior up to a constant: Beta(one + 1, zero + 1), Dirichlet(membership + 1).
ref_log_posterior <- function(x, s, a, pseudo) {
  ref_loglik(x, s, a) + pseudo[1] * sum(log(a)) + pseudo[2] * sum(log(1 - a)) + pseudo[3] * sum(log(s))
}

# Eq. (23): log of the mean over training rows of the likelihood of one new row.
ref_test_loglik <- function(new, s, a, floor) {
  apply(new, 1, function(x) {
    likelihood <- apply(s, 1, function(row) {
      p <- colSums(row * a)
      prod(pmax(ifelse(x == 1, p, 1 - p), floor)[!is.na(x)])
    })
    log(mean(likelihood))
  })
}

# Eq. (24): log of the mean over training rows (rows of p, each summing to 1) of the product of p over the presences.
ref_share_loglik <- function(new, p, floor) {
  apply(new, 1L, function(x) log(mean(apply(p, 1L, function(q) prod(pmax(q, floor)^x)))))
}

# Fold-in by many plain iterations of eq. (8), with fixed aspects.
ref_fold_in <- function(x, a, iterations = 20000) {
  a <- pmin(pmax(a, 1e-10), 1 - 1e-10)
  s <- matrix(1 / nrow(a), nrow(x), nrow(a))
  for (p in seq_len(iterations)) s <- ref_memberships(x, s, a)
  s
}

# Scores of one cell, by summing over the component that generated it and the value that content would have generated:
# "kinds" of components as in phantoms().
ref_scores <- function(s, a, kinds) {
  content <- kinds == "content"
  white <- kinds == "white"
  p <- sum(s * a)
  present <- sum(s[content] * a[content]) / sum(s[content])
  by_phantom <- sum(s[white] * (1 - a[white])) / (1 - p)
  c(probability = p, present = present, missed = by_phantom * present, phantom = by_phantom)
}

# A table with known truth: two faunas, and sites that lose a share of their presences, every sixth none (otherwise the
# share lost could not be distinguished from probabilities of a presence below 1).
planted <- function(n = 120, m = 40, seed = 1) {
  set.seed(seed)
  fauna <- rep(1:2, length.out = n)
  lives <- outer(fauna, rep(1:2, length.out = m), "==") * 1
  lost <- ifelse(seq_len(n) %% 12 %in% 1:2, 0, runif(n, 0, 0.9))
  x <- lives * matrix(rbinom(n * m, 1, 1 - lost), n, m)
  dimnames(x) <- list(paste0("site", seq_len(n)), paste0("genus", seq_len(m)))
  list(x = x, lives = lives, lost = lost, fauna = fauna)
}

# A fit with the supplied parameters, after zero iterations.
fit_with <- function(x, membership, aspects, ...) {
  start <- list(membership = membership, aspects = aspects)
  quiet(x, nrow(aspects), start = start, control = plain(0), ...)
}

# A small table and its fit with one white phantom, the same in every test.
small_fit <- function(..., estimate = "ml") {
  truth <- planted(24, 8)
  set.seed(11)
  fit <- aspect_bernoulli(truth$x, 3, estimate = estimate, phantom = "white", control = fit_control(n_start = 4), ...)
  list(x = truth$x, fit = fit)
}

# A fit with random parameters and components of the requested kinds, identical on every machine because no iteration is
# made.
mixed_fit <- function(kinds, missing = 0, named = FALSE) {
  set.seed(length(kinds))
  x <- binary(12, 7, 0.4, missing)
  if (named) dimnames(x) <- list(paste0("site", 1:12), paste0("genus", 1:7))
  start <- random_start(12, 7, length(kinds))
  start$aspects[kinds == "white", ] <- runif(7 * sum(kinds == "white"), 0, 0.02)
  start$aspects[kinds == "black", ] <- runif(7 * sum(kinds == "black"), 0.98, 1)
  list(x = x, fit = fit_with(x, start$membership, start$aspects))
}

# One half of a Newton iteration, spec iterations.md section 2, unit by unit; the quadratic problem by trying every set
# of bounds. argmin d'Hd / 2 - g'd, low <= d <= high, sum(d) = 0 if balanced: the best feasible point among the
# solutions of all problems with some unknowns at a bound and the others free. Only for a few components and for
# problems with one solution: sets of free unknowns without one are skipped.
ref_quadratic <- function(h, g, low, high, balanced) {
  k <- length(g)
  states <- as.matrix(expand.grid(rep(list(-1:1), k)))
  best <- list(value = Inf)
  for (s in seq_len(nrow(states))) {
    free <- states[s, ] == 0
    d <- ifelse(states[s, ] < 0, low, high)
    if (any(!is.finite(d[!free]))) next
    d[free] <- 0
    n <- sum(free)
    if (n) {
      system <- h[free, free, drop = FALSE]
      wish <- (g - h %*% d)[free]
      if (balanced) {
        system <- rbind(cbind(system, 1), c(rep(1, n), 0))
        wish <- c(wish, -sum(d))
      }
      if (rcond(system) < 1e-14) next
      d[free] <- solve(system, wish)[seq_len(n)]
    }
    feasible <- all(is.finite(d)) && all(d >= low - 1e-9) && all(d <= high + 1e-9) && (!balanced || abs(sum(d)) < 1e-9)
    if (!feasible) next
    value <- sum(d * (h %*% d)) / 2 - sum(g * d)
    if (value < best$value - 1e-13) best <- list(value = value, d = pmin(pmax(d, low), high))
  }
  best$d
}

# Step length along d: 1 if the bound of the gain of a full step is at least a quarter of its slope, else the maximiser
# of the bound. Logs besides the likelihood: count[i] log(1 + t change[i]).
ref_step <- function(slope, lambda, count, change) {
  bound <- function(t) t * slope + t * lambda + log1p(-t * lambda) + sum(count * log1p(t * change))
  tilt <- function(t) slope - t * lambda^2 / (1 - t * lambda) + sum(count * change / (1 + t * change))
  most <- min(1, 1 / lambda, -1 / change[change < 0])
  if (tilt(0) <= 0) return(0)
  if (most >= 1 && bound(1) >= tilt(0) / 4) return(1)
  end <- most * (1 - 1e-12)
  if (tilt(end) >= 0) return(end)
  uniroot(tilt, c(0, end), tol = 1e-14)$root
}

# A unit's new weights: x its cells, v their vectors (k x cells), `ones` and `zeros` the pseudo-counts of logs of the
# weights and of one minus the weights.
ref_newton_unit <- function(x, weights, v, simplex, ones = 0, zeros = 0, held = rep(FALSE, length(weights))) {
  seen <- which(!is.na(x))
  p <- colSums(weights * v)
  g <- numeric(length(weights))
  h <- matrix(0, length(weights), length(weights))
  for (j in seen) {
    g <- g + if (x[j] == 1) v[, j] / p[j] else -v[, j] / (1 - p[j])
    h <- h + tcrossprod(v[, j]) / (if (x[j] == 1) p[j] else 1 - p[j])^2
  }
  count <- rep(c(ones, zeros), each = sum(!held))
  inside <- which(!held)
  slope <- g
  data_h <- h
  for (c in inside) {
    if (ones > 0) g[c] <- g[c] + ones / weights[c]
    if (zeros > 0) g[c] <- g[c] - zeros / (1 - weights[c])
    if (ones > 0) h[c, c] <- h[c, c] + ones / weights[c]^2
    if (zeros > 0) h[c, c] <- h[c, c] + zeros / (1 - weights[c])^2
  }
  low <- ifelse(held, 0, -weights)
  high <- if (simplex) rep(Inf, length(weights)) else ifelse(held, 0, 1 - weights)
  if (all(g == 0) || !length(inside)) return(weights)
  d <- ref_quadratic(h, g, low, high, simplex)
  change <- c(d[inside] / weights[inside], -d[inside] / (1 - weights[inside]))
  use <- count > 0
  t <- ref_step(sum(slope * d), sqrt(sum(d * (data_h %*% d))), count[use], change[use])
  pmin(pmax(weights + t * d, 0), 1)
}

# Upper bound of the gain from better memberships, or aspects: both problems are concave, so the gradient of the
# log-posterior at the best vertex bounds it. p: a table x, its pseudo-counts and pins; each: per row, not summed.
ref_gap <- function(p, param, side, each = FALSE) {
  x <- p$x
  q <- param$membership %*% param$aspects
  ratio <- ifelse(is.na(x), 0, ifelse(x == 1, 1 / q, -1 / (1 - q)))
  if (side == "membership") {
    s <- param$membership
    gradient <- tcrossprod(ratio, param$aspects) + if (p$pseudo[3] > 0) p$pseudo[3] / s else 0
    gap <- apply(gradient, 1, max) - rowSums(s * gradient)
    return(if (each) gap else sum(gap))
  }
  a <- param$aspects
  gradient <- crossprod(param$membership, ratio)
  if (p$pseudo[1] > 0) gradient <- gradient + p$pseudo[1] / a
  if (p$pseudo[2] > 0) gradient <- gradient - p$pseudo[2] / (1 - a)
  sum(pmax(gradient * (1 - a), -gradient * a)[p$fixed == "free", ])
}

# The prior whose mode corresponds to these pseudo-counts: two for aspects, one for memberships.
prior_of <- function(pseudo) list(aspects = 1 + pseudo[1:2], membership = 1 + pseudo[3])

# One iteration: all rows given the aspects, then all columns given the new memberships.
ref_newton_pass <- function(x, start, pseudo = c(0, 0, 0), held = rep(FALSE, ncol(start$membership))) {
  s <- start$membership
  a <- start$aspects
  for (i in seq_len(nrow(x))) s[i, ] <- ref_newton_unit(x[i, ], s[i, ], start$aspects, TRUE, pseudo[3])
  for (j in seq_len(ncol(x))) a[, j] <- ref_newton_unit(x[, j], a[, j], t(s), FALSE, pseudo[1], pseudo[2], held)
  list(membership = s, aspects = a)
}

# ---- How many were missed (R/which_zeros_how_many.R) ----

# Chao's lower bound f1^2 / (2 f2) for each column of counts, with f1 and f2 shrunk towards the ratio of the table.
reference_chao_shrunk <- function(counts) {
  f1 <- f2 <- numeric(ncol(counts))
  for (j in seq_len(ncol(counts))) {
    f1[j] <- sum(counts[, j] == 1, na.rm = TRUE)
    f2[j] <- sum(counts[, j] == 2, na.rm = TRUE)
  }
  ratio <- (sum(f1) + 1) / (sum(f2) + 1)
  f1 * (f1 + 2 * ratio) / (2 * (f2 + 2))
}

# num/logistic_regression.h: Newton's method with halved steps; the first column of the design is 1.
ref_logistic_regression <- function(design, y, offset = 0, penalty = 0 * diag(ncol(design)), iterations = 50L,
                                    weight = rep(1, length(y))) {
  share <- (sum(weight * y) + 0.5) / (sum(weight) + 1)
  beta <- c(stats::qlogis(share) - mean(offset), rep(0, ncol(design) - 1L))
  value <- function(beta) {
    eta <- as.vector(design %*% beta) + offset
    sum(weight * (y * eta - pmax(eta, 0) - log1p(exp(-abs(eta))))) - sum(beta * (penalty %*% beta)) / 2
  }
  now <- value(beta)
  for (iteration in seq_len(iterations)) {
    p <- stats::plogis(as.vector(design %*% beta) + offset)
    hessian <- crossprod(design, design * (weight * p * (1 - p))) + penalty
    gradient <- crossprod(design, weight * (y - p)) - penalty %*% beta
    step <- solve(hessian + diag(1e-9, ncol(design)), gradient)
    while ((new <- value(beta + step)) < now && max(abs(step)) > 1e-10) step <- step / 2
    beta <- as.vector(beta + step)
    gain <- new - now
    now <- new
    if (gain < 1e-8 * (abs(now) + 1)) break
  }
  list(beta = beta, hessian = hessian)
}

# The aspect model of several values (src/aspect_categorical/em.h), codes from 0: the same equations with a probability
# for each value. `profiles` is an array k x m x L.
ref_categorical_cell <- function(value, s, profile) {
  written <- if (is.na(value)) rep(1, length(s)) else profile[, value + 1]
  s * written / sum(s * written)
}

ref_categorical_loglik <- function(x, s, profiles) {
  total <- 0
  for (i in seq_len(nrow(x))) {
    for (j in which(!is.na(x[i, ]))) total <- total + log(sum(s[i, ] * profiles[, j, x[i, j] + 1]))
  }
  total
}

# One iteration; pseudo: those of memberships (one number) and of values (L numbers).
ref_categorical_pass <- function(x, start, pseudo_row = 0, pseudo_value = 0) {
  s <- start$membership
  profiles <- start$profiles
  cell <- function(i, j) {
    ref_categorical_cell(x[i, j], s[i, ], matrix(start$profiles[, j, ], dim(profiles)[1L]))
  }
  new <- s
  for (i in seq_len(nrow(x))) {
    counts <- rep(pseudo_row, ncol(s))
    for (j in which(!is.na(x[i, ]))) counts <- counts + cell(i, j)
    if (sum(counts) > 0) new[i, ] <- counts / sum(counts)
  }
  s <- new
  for (j in seq_len(ncol(x))) {
    counts <- matrix(pseudo_value, ncol(s), dim(profiles)[3L], byrow = TRUE)
    for (i in which(!is.na(x[, j]))) counts[, x[i, j] + 1] <- counts[, x[i, j] + 1] + cell(i, j)
    known <- rowSums(counts) > 0
    profiles[known, j, ] <- (counts / rowSums(counts))[known, ]
  }
  list(membership = s, profiles = profiles)
}

# The same log-likelihood as a sum over the components of all cells: P(x) = sum_z prod P(z) P(x | z).
ref_categorical_enumerated <- function(x, s, profiles) {
  cells <- which(!is.na(x), arr.ind = TRUE)
  z <- as.matrix(expand.grid(rep(list(seq_len(ncol(s))), nrow(cells))))
  log(sum(apply(z, 1L, function(each) {
    prod(s[cbind(cells[, 1L], each)] * profiles[cbind(each, cells[, 2L], x[cells] + 1)])
  })))
}

# Exact posterior means of the cells' probabilities, n x m x L, with Dirichlet priors of these parameters: components of
# all cells enumerated, memberships and profiles integrated out.
ref_categorical_posterior <- function(x, k, row, value) {
  cells <- which(!is.na(x), arr.ind = TRUE)
  n_value <- length(value)
  z <- as.matrix(expand.grid(rep(list(seq_len(k)), nrow(cells))))
  each <- apply(z, 1L, function(of) {
    rows <- matrix(row, nrow(x), k)
    columns <- array(rep(value, each = k * ncol(x)), c(k, ncol(x), n_value))
    for (t in seq_along(of)) {
      rows[cells[t, 1L], of[t]] <- rows[cells[t, 1L], of[t]] + 1
      at <- cbind(of[t], cells[t, 2L], x[cells[t, , drop = FALSE]] + 1)
      columns[at] <- columns[at] + 1
    }
    totals <- as.vector(apply(columns, 1:2, sum))
    weight <- sum(lgamma(rows)) - sum(lgamma(rowSums(rows))) + sum(lgamma(columns)) - sum(lgamma(totals))
    theta <- rows / rowSums(rows)
    phi <- matrix(columns / totals, k)
    c(weight, theta %*% phi)
  })
  weight <- exp(each[1L, ] - max(each[1L, ]))
  array(each[-1L, ] %*% weight / sum(weight), c(dim(x), n_value))
}
