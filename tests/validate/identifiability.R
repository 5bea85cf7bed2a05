# The outer bound of identifiability() against 1000 random re-fits: simulated data, fits from random starts; those that
# reach the best log-likelihood to 1e-6 with the same probabilities must keep to the bound. Then the ends that rescaling
# and mixing attain, and a table where only mixing attains anything.
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
# The inner set and the search, beside what the re-fits happen to reach; every end with the same log-likelihood.
sure <- identifiability(best, n_search = 20)
ends <- sure$share[sure$share$bound %in% c("inner", "reached"), ]
cat(sprintf("%s %.4f to %.4f\n", ends$bound, ends$least, ends$most), sep = "")
apart <- max(abs(unlist(ends[c("loglik_least", "loglik_most")]) - best$loglik))
cat(sprintf("log-likelihood of the ends: at most %.1e from the fit's\n", apart))

# Where rescaling can do nothing and mixing can: both contents reach probability 1, and a row is all content.
set.seed(8)
s <- matrix(runif(24, 0.1, 0.45), 12)
s[1, ] <- c(0.4, 0.6)
a <- matrix(runif(16, 0.2, 0.8), 2)
a[1, 1] <- a[2, 2] <- 1
start <- list(membership = cbind(s, pmax(1 - rowSums(s), 0)), aspects = rbind(a, 0))
start$membership <- start$membership / rowSums(start$membership)
given <- fit_control(n_start = 1, max_pass = 0, tol = 0, progress = FALSE)
x <- matrix(rbinom(96, 1, s %*% a), 12)
stuck <- suppressWarnings(aspect_bernoulli(x, 3, phantom = "white", start = start, control = given))
mixed <- identifiability(stuck, n_search = 20)$share
cat("two mixing components:", sprintf("%s %.4f to %.4f,", mixed$bound, mixed$least, mixed$most), "\n")
good <- c(
  within_outer = outside == 0, enough = length(equal) > 1, same = apart < 1e-9,
  mixing = diff(unlist(mixed[mixed$bound == "reached", c("least", "most")])) > 0.01
)
cat(sprintf("= %d passed, %d failed, 0 skipped\n", sum(good), sum(!good)))
stopifnot(good)
