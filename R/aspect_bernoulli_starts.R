# Initial values of the aspect Bernoulli model. "mixture": a few EM steps of a Bernoulli mixture; "mixture_phantom":
# the same with one component fewer plus an aspect near zero; "uniform": random numbers, the paper's way.

start_kinds.aspect_bernoulli_problem <- function(problem, control) {
  k <- length(problem$pinned)
  if (k == 1L) {
    return("uniform")
  }
  free <- any(problem$pinned != "free") || control$init == "free" || k == 2L
  cycle <- if (free) {
    c("mixture", "mixture", "uniform")
  } else {
    c("mixture", "mixture_phantom", "mixture", "mixture_phantom", "uniform")
  }
  rep_len(cycle, control$n_start)
}

# Never exact 0 or 1 but in a pinned phantom: those values could not move.
ab_draw <- function(data, kind, pinned) {
  k <- length(pinned)
  n_pinned <- sum(pinned != "free")
  n_blank <- n_pinned + (kind == "mixture_phantom")
  content <- if (kind == "uniform") {
    list(membership = random_simplex(nrow(data$x), k - n_blank), aspects = random_unit(k - n_blank, ncol(data$x)))
  } else {
    mixture_start(data, k - n_blank)
  }
  if (kind == "mixture_phantom") content <- add_aspect(content, 0.001)
  for (pin in pinned[pinned != "free"]) content <- add_aspect(content, if (pin == "white") 0 else 1)
  content
}

random_unit <- function(n_row, n_column) matrix(stats::runif(n_row * n_column, 0.05, 0.95), n_row, n_column)

random_simplex <- function(n_row, n_column) {
  s <- matrix(stats::runif(n_row * n_column, 0.1, 1), n_row, n_column)
  s / rowSums(s)
}

# Half of every row goes to one more aspect, constant over attributes.
add_aspect <- function(start, probability) {
  share <- if (probability == 1) 0.1 else 0.5
  list(
    membership = cbind((1 - share) * start$membership, share),
    aspects = rbind(start$aspects, probability)
  )
}

mixture_start <- function(data, k, n_pass = 15L) {
  plain <- list(max_pass = n_pass, tol = 0, accelerate = FALSE, n_threads = 1L)
  param <- list(weights = rep(1 / k, k), prototypes = mixture_prototypes(data, k))
  fit <- .Call(mc_c_bm_fit, data$view, param, c(0, 0, 0), plain)
  list(
    membership = 0.6 * fit$membership + 0.4 / k,
    aspects = pmin(pmax(2 * fit$prototypes, 0.01), 0.95)
  )
}

# Each prototype: column means pulled towards a row drawn at random, plus noise.
mixture_prototypes <- function(data, k) {
  n <- nrow(data$x)
  m <- ncol(data$x)
  means <- (data$margins$column_sum + data_density(data)) / (data$margins$column_observed + 1)
  rows <- as.matrix(data$x[sample.int(n, k, replace = k > n), , drop = FALSE]) + 0
  means <- matrix(means, k, m, byrow = TRUE)
  rows[is.na(rows)] <- means[is.na(rows)]
  noise <- matrix(stats::runif(k * m), k, m)
  unname(pmin(pmax(0.5 * means + 0.3 * rows + 0.2 * means * noise, 0.001), 0.999))
}

# A solution with a fifth of its parameters replaced by random numbers, low ones for the aspects; pinned ones stay.
ab_shake <- function(param, pinned, share = 0.2) {
  free <- pinned == "free"
  noise <- random_simplex(nrow(param$membership), length(pinned))
  param$membership <- (1 - share) * param$membership + share * noise
  param$aspects[free, ] <- (1 - share) * param$aspects[free, ] +
    share * 0.1 * random_unit(sum(free), ncol(param$aspects))
  param
}
