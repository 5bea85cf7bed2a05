# Losses and likelihoods of cells and rows, shared by models and verbs.

# Signals a separate condition: cross_validate() shows NA with the reason.
stop_no_likelihood <- function(...) {
  stop(errorCondition(sprintf(...), class = c("multicause_no_likelihood", "multicause_input_error"), call = NULL))
}

# Computes log sum_r weight_r P(row | r) for every row of a view, components by blocks.
mixture_loglik <- function(view, cells, log_weight, floor, rows = seq_along(log_weight)) {
  out <- -Inf
  for (at in row_blocks(seq_along(rows), view$dim[2L])) {
    said <- cells(rows[at])
    mixture <- c(list(log_weight = log_weight[at]), cell_terms(said, floor))
    out <- log_add(out, .Call(mc_c_row_mixture, view, mixture))
  }
  # Eq. (24) lacks this factor.
  constant <- if (is.null(view$value) || !is.null(said$share)) 0 else row_constants(view)
  out + constant
}

# Applies the floor, everywhere the same: an observed value, or its mean, has at least that probability. For the format
# of the kernel see src/engine/row_mixture.h.
cell_terms <- function(cells, floor) {
  if (!is.null(cells$mean)) {
    mean <- pmax(cells$mean, floor)
    return(list(empty = -mean, slope = log(mean)))
  }
  if (!is.null(cells$share)) {
    return(list(empty = 0 * cells$share, slope = log(pmax(cells$share, floor))))
  }
  one <- log(pmax(cells$one, floor))
  zero <- log(pmax(cells$zero, floor))
  list(empty = zero, slope = ifelse(zero == -Inf, one, one - zero))
}

log_add <- function(a, b) {
  top <- pmax(a, b)
  ifelse(top == -Inf, -Inf, top + log1p(exp(pmin(a, b) - top)))
}

# Constant part of a Poisson likelihood: minus the sum of log x!.
row_constants <- function(view) {
  row <- factor(rep(seq_len(view$dim[1L]), diff(view$start)), seq_len(view$dim[1L]))
  -vapply(split(lgamma(view$value + 1), row), sum, 0, USE.NAMES = FALSE)
}

loss_family <- function(view) {
  range <- .Call(mc_c_view_range, view)
  if (is.null(range$not_binary)) "bernoulli" else if (is.null(range$not_whole)) "poisson" else "squared"
}

loss_of_mean <- function(presence, mean, value, family, floor) {
  if (family == "bernoulli") {
    p <- pmin(pmax(presence, floor), 1 - floor)
    return(-log(ifelse(value == 1, p, 1 - p)))
  }
  if (family == "poisson") -stats::dpois(value, pmax(mean, floor), log = TRUE) else (value - mean)^2
}

# Fits a logistic regression by Newton's method; the first column of the design is 1. The objective is the
# log-likelihood minus half of beta' penalty beta. If a column separates hits from others, beta stops when an iteration
# gains nothing that counts. `start`: NULL starts at the mean of y. Returns list(beta, hessian); see
# src/num/logistic_regression.h.
logistic_regression <- function(design, y, offset = 0, penalty = 0 * diag(ncol(design)), weight = 1, iterations = 50L,
                                start = NULL, n_threads = 1L) {
  cases <- cbind(as.double(y), offset, weight, deparse.level = 0L)
  if (is.null(start)) {
    share <- (sum(cases[, 3L] * cases[, 1L]) + 0.5) / (sum(cases[, 3L]) + 1)
    start <- c(stats::qlogis(share) - mean(offset), rep(0, ncol(design) - 1L))
  }
  limits <- as.integer(c(iterations, n_threads))
  found <- .Call(mc_c_logistic_regression, unname(design), cases, penalty, matrix(start), limits)
  found$beta <- as.vector(found$beta)
  found
}

# Computes row totals over P(observed), which scale a row's distribution to expected counts.
plsa_row_scale <- function(view, param, row_total) {
  observed <- rep(1, length(row_total))
  if (!is.null(view$na_start)) {
    n_missing <- diff(view$na_start)
    row <- rep(seq_along(n_missing), n_missing)
    for (at in split(seq_along(row), (seq_along(row) - 1L) %/% 2^16)) {
      p <- rowSums(param$membership[row[at], , drop = FALSE] * t(param$basis[, view$na_column[at] + 1L, drop = FALSE]))
      observed <- observed - tabulate_sums(p, row[at], length(observed))
    }
    observed[n_missing == view$dim[2L]] <- NA
  }
  stats::setNames(row_total / pmax(observed, .Machine$double.eps), rownames(param$membership))
}

# Are the values of a view of the data counts, but for rounding? Values that would all be 0 are those of another unit.
is_whole <- function(view) {
  value <- view$value
  is.null(value) || !length(value) || any(value > 0.5) && all(abs(value - round(value)) <= 1e-8 * pmax(1, value))
}
