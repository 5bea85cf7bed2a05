# The outer bound of identifiability() against 1000 random re-fits of simulated tables: those that reach the best
# log-likelihood to 1e-6 with the same probabilities must keep to the bound. The ends that rescaling attains,
# beside what re-fits happen on.
library(multicause)
control <- fit_control(n_start = 1, tol = 1e-12, max_iter = 20000, progress = FALSE)

random_refit <- function(x, k) {
  membership <- matrix(runif(nrow(x) * k, 0.1, 1), nrow(x))
  aspects <- rbind(matrix(runif((k - 1) * ncol(x), 0.05, 0.95), k - 1), 0)
  start <- list(membership = membership / rowSums(membership), aspects = aspects)
  suppressWarnings(aspect_bernoulli(x, k, estimate = "ml", phantom = "white", start = start, control = control))
}

# What is outside the bound, how many re-fits were equal to the best, and how far off the ends' log-likelihoods are.
check_table <- function(label, x, k, n_fit) {
  fits <- lapply(seq_len(n_fit), function(i) random_refit(x, k))
  loglik <- vapply(fits, function(fit) fit$loglik, 0)
  best <- fits[[which.max(loglik)]]
  equal <- Filter(function(fit) fit$loglik > max(loglik) - 1e-6 && max(abs(fitted(fit) - fitted(best))) < 1e-4, fits)
  sure <- identifiability(best, kinds = c(rep("content", k - 1), "white"))
  share <- vapply(equal, function(fit) fit$param$membership[, k], numeric(nrow(x)))
  shown <- function(bound) {
    row <- sure$share[sure$share$bound == bound, ]
    sprintf("%.4f to %.4f", row$least, row$most)
  }
  cat(sprintf(
    "| %s | %d of %d | %.4f to %.4f | %s | %s |\n", label, length(equal), n_fit, min(colMeans(share)),
    max(colMeans(share)), shown("inner"), shown("outer")
  ))
  ends <- sure$share[sure$share$bound == "inner", c("loglik_least", "loglik_most")]
  list(
    outside = sum(share > sure$sites$outer_most + 1e-4), equal = length(equal),
    apart = max(abs(unlist(ends) - best$loglik))
  )
}

draw_table <- function(seed, n, m, k, content) {
  set.seed(seed)
  s <- matrix(rexp(n * k), n)
  s <- s / rowSums(s)
  matrix(rbinom(n * m, 1, s %*% rbind(content(k - 1, m), 0)), n)
}

cat("Mean share of the phantom\n\n| table | re-fits as good as the best | among them | inner | outer |\n")
cat("| --- | --- | --- | --- | --- |\n")
extreme <- function(k, m) matrix(rbeta(k * m, 0.5, 0.8), k)
middling <- function(k, m) matrix(0.2 + 0.6 * rbeta(k * m, 1, 1), k)
result <- list(
  check_table("14 x 8, two contents", draw_table(20, 14, 8, 3, extreme), 3, 500),
  check_table("60 x 8, one content", draw_table(3, 60, 8, 2, middling), 2, 500)
)

apart <- max(vapply(result, function(table) table$apart, 0))
cat(sprintf("\nLog-likelihoods of the ends: at most %.1e nats from that of the fit\n", apart))
good <- c(
  within_outer = all(vapply(result, function(table) table$outside == 0, NA)),
  enough = all(vapply(result, function(table) table$equal > 100, NA)), same = apart < 1e-9
)
cat(sprintf("= %d passed, %d failed, 0 skipped\n", sum(good), sum(!good)))
stopifnot(good)
