# The outer bound of identifiability() against 1000 random re-fits: simulated data, fits from random starts; those that
# reach the best log-likelihood to 1e-6 with the same probabilities must keep to the bound. Then decompositions met by
# the search, all with the same log-likelihood.
library(multicause)
set.seed(20)
n <- 14
m <- 8
s <- matrix(rexp(n * 3), n)
s <- s / rowSums(s)
a <- rbind(matrix(rbeta(2 * m, 0.5, 0.8), 2), 0)
x <- matrix(rbinom(n * m, 1, s %*% a), n)
control <- fit_control(n_start = 1, tol = 1e-12, max_pass = 20000, progress = FALSE)
fits <- lapply(1:1000, function(i) {
  s <- matrix(runif(n * 3, 0.1, 1), n)
  start <- list(membership = s / rowSums(s), aspects = rbind(matrix(runif(2 * m, 0.05, 0.95), 2), 0))
  suppressWarnings(aspect_bernoulli(x, 3, phantom = "white", start = start, control = control))
})
loglik <- vapply(fits, function(fit) fit$loglik, 0)
best <- fits[[which.max(loglik)]]
equal <- Filter(function(fit) fit$loglik > max(loglik) - 1e-6 && max(abs(fitted(fit) - fitted(best))) < 1e-4, fits)
outer <- identifiability(best, n_search = 0)$observations$outer_most
share <- vapply(equal, function(fit) fit$param$membership[, 3], numeric(n))
outside <- sum(share > outer + 1e-4)
cat(sprintf(
  "%d of 1000 re-fits reach the best log-likelihood; their phantom's mean share is %.4f to %.4f; outer bound %.4f\n",
  length(equal), min(colMeans(share)), max(colMeans(share)), mean(outer)
))
cat(sprintf("= %d passed, %d failed, 0 skipped\n", length(equal) - (outside > 0), as.integer(outside > 0)))
stopifnot(outside == 0)
