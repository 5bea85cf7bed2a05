# Slow and obvious versions of the comparators' equations, in plain R.

# One EM pass of a Bernoulli mixture, cell by cell; NA cells drop out, rows with nothing observed too.
ref_bm_pass <- function(x, weights, prototypes, one = 0, zero = 0, weight = 0) {
  k <- length(weights)
  joint <- matrix(0, nrow(x), k)
  for (i in seq_len(nrow(x))) {
    for (c in seq_len(k)) {
      p <- weights[c]
      for (j in which(!is.na(x[i, ]))) p <- p * if (x[i, j] == 1) prototypes[c, j] else 1 - prototypes[c, j]
      joint[i, c] <- p
    }
  }
  posterior <- joint / rowSums(joint)
  used <- rowSums(!is.na(x)) > 0
  new <- prototypes
  for (c in seq_len(k)) {
    for (j in seq_len(ncol(x))) {
      seen <- !is.na(x[, j]) & used
      ones <- sum(posterior[seen, c] * x[seen, j]) + one
      all <- sum(posterior[seen, c]) + one + zero
      if (all > 0) new[c, j] <- ones / all
    }
  }
  counts <- colSums(posterior[used, , drop = FALSE]) + weight
  list(
    weights = counts / sum(counts), prototypes = new, posterior = posterior,
    loglik = sum(log(rowSums(joint))[used]),
    prior = sum(one * log(prototypes)) + sum(zero * log(1 - prototypes)) + sum(weight * log(weights))
  )
}

binary_matrix <- function(n, m, p = 0.4, missing = 0) {
  x <- matrix(rbinom(n * m, 1, p), n, m, dimnames = list(paste0("site", seq_len(n)), paste0("taxon", seq_len(m))))
  x[sample(n * m, round(missing * n * m))] <- NA
  x
}

quiet_control <- function(...) fit_control(progress = FALSE, ...)

plain_control <- function(max_pass) {
  quiet_control(n_start = 1, max_pass = max_pass, tol = 0, accelerate = FALSE, screen = FALSE)
}
