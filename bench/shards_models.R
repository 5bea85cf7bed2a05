# Models on shards against the same passes in memory, and which_zeros() of shards against that of the table; results in
# shards.md.
#   Rscript bench/shards_models.R models|answers [seeds of tables = 21 22 23]
#   Rscript bench/shards_models.R large [millions of records = 1.86]
# models: seconds of the processor for a pass, and the objectives. Tables are drawn: sites of mixtures of faunas.
# large: one answer from records, 7 of them a list, of the faunas of vignette "large", with its seconds and peak memory.

arguments <- commandArgs(TRUE)
what <- c(arguments, "models")[1]
seeds <- if (length(arguments) > 1) as.numeric(arguments[-1]) else if (what == "large") 1.86 else 21:23
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
      plsa(x, k, estimate = "ml", start = list(membership = rows, basis = columns / rowSums(columns)), control = control)
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

large <- function(millions) {
  set.seed(1)
  species <- sprintf("species%03d", 1:300)
  fauna <- matrix(rgamma(4 * 300, 0.15), 4)
  piece <- 0
  # Each piece has half a million records of lists of its own, the last piece fewer.
  draw_records <- function(n) {
    size <- min(5e5, millions * 1e6 - piece * 5e5)
    if (size <= 0) return(NULL)
    list <- sample(ceiling(size / 7), size, TRUE)
    home <- list %% 4 + 1
    taxon <- integer(size)
    for (g in 1:4) taxon[home == g] <- sample(300, sum(home == g), TRUE, fauna[g, ])
    piece <<- piece + 1
    data.frame(list = sprintf("p%02d_%06d", piece, list), species = species[taxon])
  }
  peak <- function() {
    as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024^2
  }
  folder <- tempfile()
  time <- system.time(x <- shards(draw_records, folder, site = "list", taxon = "species"))
  cat(sprintf("made: %.0f CPU s, %.0f s by the clock, peak %.2f GB\n", sum(time[1:2]), time[3], peak()))
  print(x)
  time <- system.time(w <- which_zeros(x, n = 100, seed = 1))
  cat(sprintf("answer: %.0f CPU s, %.0f s by the clock, peak %.2f GB\n", sum(time[1:2]), time[3], peak()))
  print(w)
}

cat("load at the start:", readLines("/proc/loadavg"), "\n")
for (seed in seeds) get(what)(seed)
