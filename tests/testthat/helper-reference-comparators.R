# Slow plain R versions of the comparators' equations.

# One EM iteration of a Bernoulli mixture, cell by cell; NA cells drop out, as do rows without observed cells.
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

plain_control <- function(max_iter) {
  quiet_control(n_start = 1, max_iter = max_iter, tol = 0, accelerate = FALSE, screen = FALSE)
}

# One iteration of alternating ridge regressions on the Jaakkola bound, observation by observation.
ref_lp_pass <- function(x, scores, loadings, intercept, penalty) {
  weight <- function(theta) ifelse(abs(theta) < 1e-6, 0.25, tanh(theta / 2) / (2 * theta))
  link <- function() sweep(scores %*% loadings, 2, intercept, "+")
  k <- ncol(scores)
  w <- weight(link())
  for (i in seq_len(nrow(x))) {
    seen <- which(!is.na(x[i, ]))
    v <- loadings[, seen, drop = FALSE]
    slope <- x[i, seen] - 0.5 - w[i, seen] * intercept[seen]
    scores[i, ] <- solve(v %*% (w[i, seen] * t(v)) + penalty * diag(k), v %*% slope)
  }
  w <- weight(link())
  for (j in seq_len(ncol(x))) {
    seen <- which(!is.na(x[, j]))
    u <- cbind(scores[seen, , drop = FALSE], 1)
    both <- solve(t(u) %*% (w[seen, j] * u) + penalty * diag(c(rep(1, k), 0)), t(u) %*% (x[seen, j] - 0.5))
    loadings[, j] <- both[seq_len(k)]
    intercept[j] <- both[k + 1]
  }
  theta <- link()
  loglik <- sum(x * theta - log1p(exp(theta)), na.rm = TRUE)
  list(
    scores = scores, loadings = loadings, intercept = intercept, loglik = loglik,
    objective = loglik - penalty / 2 * (sum(scores^2) + sum(loadings^2))
  )
}

# One iteration of Lee and Seung's updates, coefficients first; missing cells have no weight.
ref_nmf_pass <- function(x, coefficients, basis, loss) {
  seen <- !is.na(x)
  x[!seen] <- 0
  if (loss == "euclidean") {
    mean <- seen * (coefficients %*% basis)
    coefficients <- coefficients * (x %*% t(basis)) / (mean %*% t(basis))
    mean <- seen * (coefficients %*% basis)
    basis <- basis * (t(coefficients) %*% x) / (t(coefficients) %*% mean)
  } else {
    mean <- coefficients %*% basis
    coefficients <- coefficients * ((x / mean) %*% t(basis)) / (seen %*% t(basis))
    mean <- coefficients %*% basis
    basis <- basis * (t(coefficients) %*% (x / mean)) / (t(coefficients) %*% seen)
  }
  list(coefficients = coefficients, basis = basis, loss = ref_nmf_loss(x, seen, coefficients %*% basis, loss))
}

ref_nmf_loss <- function(x, seen, mean, loss) {
  if (loss == "euclidean") {
    return(sum(((x - mean)^2)[seen]) / 2)
  }
  sum((ifelse(x > 0, x * log(x / mean), 0) - x + mean)[seen])
}

# Squared length of the gradient components of both factors that could still decrease the loss.
ref_nmf_gradient <- function(x, fit) {
  seen <- !is.na(x)
  x[!seen] <- 0
  mean <- fit$param$coefficients %*% fit$param$basis
  slope <- seen * if (fit$loss == "euclidean") mean - x else 1 - ifelse(x > 0, x / mean, 0)
  gradient <- list(slope %*% t(fit$param$basis), t(fit$param$coefficients) %*% slope)
  max(abs(pmin(gradient[[1]], fit$param$coefficients)), abs(pmin(gradient[[2]], fit$param$basis)))
}
