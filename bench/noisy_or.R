# Speed and memory of noisy_or(): time an iteration against n and k for the three inferences, the exact one against the
# limit of the BLAS, and fifty sources on 20 000 x 500 sparse data.
#
#   OPENBLAS_NUM_THREADS=1 Rscript bench/noisy_or.R [large]
#
# One thread; processor seconds, which other jobs on the machine disturb least. Prints the tables of noisy_or.md.
library(multicause)

seconds <- function(expr) sum(system.time(expr)[1:2])

# Patterns of the image problem: eight overlapping shapes of 8 x 8 pixels and a leak.
draw_problem <- function(n, m, k, seed = 1) {
  set.seed(seed)
  links <- matrix(stats::rbinom(k * m, 1L, 0.25) * 0.9, k)
  on <- matrix(stats::rbinom(n * k, 1L, min(0.15, 1.2 / k)), n)
  x <- matrix(stats::rbinom(n * m, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), n)
  start <- list(
    prior = rep(min(0.15, 1.2 / k), k), links = 0.7 * links + 0.1 + matrix(stats::runif(k * m, 0, 0.1), k),
    leak = rep(0.03, m)
  )
  list(x = x, k = k, start = start)
}

fit_iterations <- function(p, inference, iterations) {
  control <- fit_control(n_start = 1, max_iter = iterations, tol = 0, accelerate = FALSE)
  noisy_or(p$x, p$k, inference = inference, estimate = "ml", inner = 1, start = p$start, control = control)
}

# Seconds per iteration: the cost of `iterations` more than one, divided by their number.
pass_seconds <- function(p, inference, iterations) {
  least <- function(n) min(vapply(1:3, function(i) seconds(fit_iterations(p, inference, n)), 0))
  (least(1 + iterations) - least(1)) / iterations
}

cat("\n## Milliseconds an iteration (one M-step; variational: ten steps of q), m = 100\n\n")
cat(sprintf("%6s %4s %10s %10s %12s\n", "n", "k", "exact", "truncated", "variational"))
for (n in c(500, 2000, 5000)) {
  for (k in c(5, 8, 10, 12, 20, 40)) {
    if (n != 2000 && k != 10) next
    p <- draw_problem(n, 100, k)
    exact <- if (k <= 12) pass_seconds(p, "exact", if (k <= 8) 20 else 5) else NA
    cat(sprintf(
      "%6d %4d %10.2f %10.2f %12.2f\n", n, k, 1e3 * exact, 1e3 * pass_seconds(p, "truncated", 5),
      1e3 * pass_seconds(p, "variational", 3)
    ))
  }
}

cat("\n## Exact iteration against the BLAS, k = 10, n = 5000, m = 100\n\n")
p <- draw_problem(5000, 100, 10)
iteration <- pass_seconds(p, "exact", 10)
b <- 128L
a <- matrix(stats::rnorm(1024 * 100), 1024)
x_block <- matrix(as.double(stats::runif(100 * b) < 0.3), 100)
logs <- matrix(stats::rnorm(1024 * b), 1024)
products <- min(replicate(5, seconds(for (i in seq_len(ceiling(5000 / b))) {
  a %*% x_block
  tcrossprod(logs, x_block)
})))
cat(sprintf(
  "its two products alone %.1f ms (%.0f GFlop/s), an iteration %.1f ms: %.2f of the limit\n", 1e3 * products,
  4 * 5000 * 1024 * 100 / products / 1e9, 1e3 * iteration, products / iteration
))

if ("large" %in% commandArgs(TRUE)) {
  cat("\n## Fifty sources, truncated, 20 000 x 500 sparse\n\n")
  set.seed(1)
  links <- matrix(0, 50, 500)
  for (c in 1:50) links[c, sample(500, 20)] <- stats::runif(20, 0.3, 0.9)
  on <- matrix(stats::rbinom(20000 * 50, 1L, 0.03), 20000)
  columns <- lapply(1:500, function(j) {
    which(stats::runif(20000) < 1 - exp(on %*% log(1 - links[, j])) * 0.998)
  })
  x <- Matrix::sparseMatrix(unlist(columns), rep(1:500, lengths(columns)), x = 1, dims = c(20000, 500))
  control <- fit_control(n_start = 5, screen = 20, n_finish = 1, progress = FALSE)
  took <- seconds(fit <- noisy_or(x, 50, control = control))
  memory <- grep("VmHWM", if (file.exists("/proc/self/status")) readLines("/proc/self/status"), value = TRUE)
  cat(sprintf(
    "%.1f %% ones; 5 starts of 20 iterations, one finished (%d iterations): %.0f s; peak memory of the session %s\n",
    100 * Matrix::mean(x), nrow(fit$trace), took, sub("VmHWM:\\s*", "", memory)
  ))
}
