# Models on shards against the same passes in memory, and which_zeros() of shards against that of the table; results in
# shards_models.md.
#   Rscript bench/shards_models.R models|answers [seeds of tables = 21 22 23]
# models: seconds of the processor for a pass, and the objectives. Tables are drawn: sites of mixtures of faunas.

arguments <- commandArgs(TRUE)
what <- c(arguments, "models")[1]
seeds <- if (length(arguments) > 1) as.integer(arguments[-1]) else 21:23
library(multicause)

drawn <- function(seed, n, m, k, mean) {
  set.seed(seed)
  membership <- matrix(rexp(n * k)^2, n)
  aspects <- matrix(rgamma(k * m, 0.3), k)
  p <- (membership / rowSums(membership)) %*% aspects
  p <- pmin(p * mean / mean(p), 0.95)
  at <- which(matrix(runif(n * m) < p, n), arr.ind = TRUE)
  Matrix::sparseMatrix(at[, 1], at[, 2], x = 1, dims = c(n, m))
}

cpu <- function(expr) sum(system.time(suppressWarnings(expr))[1:2])

models <- function(seed) {
  x <- drawn(seed, 20000, 500, 6, 0.01)
  shard <- shards(x, tempfile(), size = 25000)
  k <- 6
  set.seed(seed)
  rows <- matrix(rexp(nrow(x) * k), nrow(x))
  rows <- rows / rowSums(rows)
  share <- Matrix::colMeans(x) + 1e-4
  columns <- matrix(runif(k * ncol(x), 0.5, 1.5), k) * rep(share, each = k)
  calls <- list(
    plsa = function(x, control) {
      plsa(x, k, start = list(membership = rows, basis = columns / rowSums(columns)), control = control)
    },
    bernoulli_mixture = function(x, control) {
      bernoulli_mixture(x, k, start = list(weights = rep(1 / k, k), prototypes = columns), control = control)
    },
    nmf = function(x, control) {
      nmf(x, k, loss = "kl", start = list(coefficients = rows, basis = columns), control = control)
    },
    logistic_pca = function(x, control) {
      start <- list(scores = rows, loadings = 10 * columns, intercept = qlogis(share))
      logistic_pca(x, k, start = start, control = control)
    }
  )
  for (name in names(calls)) {
    passes <- if (name == "logistic_pca") c(1, 5) else c(5, 205)
    run <- function(x, passes) calls[[name]](x, fit_control(algorithm = "em", max_pass = passes, tol = 0))
    fit <- NULL
    millions <- sum(shard$shards$ones) / 1e6
    time <- function(x) (cpu(fit <<- run(x, passes[2])) - cpu(run(x, passes[1]))) / diff(passes) / millions
    there <- time(shard)
    far <- fit$objective
    here <- time(x)
    apart <- abs(far - fit$objective) / abs(fit$objective)
    cat(sprintf("| %s | %.3f | %.3f | %.1e |\n", name, there, here, apart))
  }
  # What the passes that shards lack are worth: from the same start to the end.
  for (name in c("plsa", "nmf")) {
    end <- function(x, algorithm) {
      time <- cpu(fit <- calls[[name]](x, fit_control(algorithm = algorithm, max_pass = 3000)))
      c(objective = unname(fit$objective), time = time)
    }
    em <- end(shard, "em")
    newton <- end(x, "auto")
    cat(sprintf("%s to the end: shards %.1f (%.0f CPU s), in memory by Newton's passes %.1f (%.0f CPU s)\n", name,
      em[1], em[2], newton[1], newton[2]))
  }
}

answers <- function(seed) {
  x <- as.matrix(drawn(seed, 600, 80, 5, 0.06))
  dimnames(x) <- list(sprintf("s%04d", seq_len(nrow(x))), sprintf("t%03d", seq_len(ncol(x))))
  x <- x[, colSums(x) > 0]
  shard <- shards(x, tempfile(), size = 1000)
  time <- c(cpu(there <- which_zeros(shard, n = 50, copies = 2, seed = 1)),
    cpu(here <- which_zeros(x, copies = 2, seed = 1)))
  q <- there$quality
  cat(sprintf(
    "| %d | %.1f (%.1f) | %.1f (%.1f) | %.1f | %.1f | %.1f (%.1f) | %.1f (%.1f) | %.2f | %.0f | %.0f |\n", seed,
    100 * q["stack", "auc"], 100 * q["stack", "auc_se"], 100 * q["stack", "auc_within"],
    100 * q["stack", "auc_within_se"], 100 * q["free", "auc"], 100 * q["companions", "auc"],
    100 * here$quality["stack", "auc"], 100 * here$quality["stack", "auc_se"],
    100 * here$quality["stack", "auc_within"], 100 * here$quality["stack", "auc_within_se"], there$slope,
    time[1], time[2]
  ))
}

cat("load at the start:", readLines("/proc/loadavg"), "\n")
for (seed in seeds) get(what)(seed)
