# The experiments of the paper with bmf(): bars, handwritten digits, gene expression. Results: bmf.md, and
# figures build/bmf_*.png. About an hour on one core; name parts to run fewer: Rscript bench/bmf_experiments.R bars
# The bars follow the paper's modified bars problem: 200 images of 6 x 6, ten bars, half of the images without their
# bottom half. Sizes are ours: the paper's numbers are not legible in the copy we have.

library(multicause)
source("data-raw/experiments.R") # nearest()
parts <- commandArgs(TRUE)
wanted <- function(part) !length(parts) || part %in% parts
data_folder <- Sys.getenv("MULTICAUSE_DATA", file.path("..", "shared", "data"))
quiet <- function(expr) {
  withCallingHandlers(expr, multicause_chains_disagree = function(w) invokeRestart("muffleWarning"))
}
agreement <- function(fit) paste(round(tapply(fit$trace$objective, fit$trace$chain, mean)), collapse = " ")

bars <- function(seed, n = 200, k = 6, side = 6, n_bar = 5) {
  set.seed(seed)
  bar <- function(at) matrix(at, side, side)
  lines <- lapply(seq_len(n_bar), function(b) c(bar(row(diag(side)) == b)))
  stripes <- lapply(seq_len(n_bar), function(b) c(bar(col(diag(side)) == b)))
  columns <- do.call(cbind, c(lines, stripes)) + 0
  rows <- matrix(rbinom(n * k, 1, 0.5), n)
  mean <- rows %*% matrix(rnorm(k * ncol(columns)), k) %*% t(columns)
  x <- mean + rnorm(length(mean), 0, 0.5)
  half <- sample(n, n / 2)
  missing <- matrix(FALSE, n, side^2)
  missing[half, c(row(diag(side))) > side / 2] <- TRUE
  x[missing] <- NA
  list(x = x, mean = mean, columns = columns, missing = missing, half = half)
}

if (wanted("bars")) {
  cat("\nModified bars: mean squared error of the missing cells against the noise-free images, defaults\n\n")
  cat("seed  nearest  V fixed  seconds  V inferred  seconds  row features  column features\n")
  for (seed in 1:10) {
    b <- bars(seed)
    error <- function(mean) mean((mean - b$mean)[b$missing]^2)
    set.seed(seed)
    time <- system.time(fixed <- quiet(bmf(b$x, l = 0, fixed = list(columns = b$columns))))[[3]]
    set.seed(seed)
    time <- c(time, system.time(fit <- quiet(bmf(b$x)))[[3]])
    cat(sprintf(
      "%4d  %7.3f  %7.4f  %7.0f  %10.4f  %7.0f  %12.1f  %15.1f\n", seed, error(nearest(b$x, b$half)),
      error(fitted(fixed)), time[1], error(fitted(fit)), time[2], mean(fit$trace$row_features),
      mean(fit$trace$column_features)
    ))
  }
}

if (wanted("digits") && file.exists(file.path(data_folder, "usps", "usps_train.csv.gz"))) {
  digits <- read.csv(gzfile(file.path(data_folder, "usps", "usps_train.csv.gz")))
  set.seed(1)
  rows <- unlist(lapply(1:3, function(d) sample(which(digits[[1]] == d), 50)))
  truth <- (as.matrix(digits[rows, -1]) >= 128) + 0
  dimnames(truth) <- NULL
  half <- sort(sample(150, 20))
  x <- truth
  x[half, 129:256] <- NA
  hidden <- is.na(x)
  # Many short chains: chosen on 20 other digits, whose bottom halves were hidden as well (bmf.md).
  control <- mcmc_control(
    chains = 8, warmup = 100, draws = 200, n_start = 4, n_reheat = 2, start_sweeps = 60, progress = FALSE
  )
  set.seed(2)
  time <- system.time(fit <- quiet(bmf(x, family = "bernoulli", control = control)))[[3]]
  score <- function(p) {
    y <- truth[hidden]
    p <- p[hidden]
    clipped <- pmin(pmax(p, 0.005), 0.995)
    c(mean(y * log(clipped) + (1 - y) * log(1 - clipped)), mean((p - y)^2), mean((p > 0.5) != y))
  }
  cat("\nUSPS digits 1, 2, 3 (50 each, 16 x 16, binarised), 20 without their bottom half: missing pixels\n")
  cat("(log-score: probabilities clipped to [0.005, 0.995], as 0 and 1 of neighbours need it)\n\n")
  means <- matrix(colMeans(x, na.rm = TRUE), 150, 256, byrow = TRUE)
  guesses <- list(
    "pixel means" = means, "nearest neighbour" = nearest(x, half), "mean of 5 nearest" = nearest(x, half, 5),
    "bmf()" = fitted(fit)
  )
  cat(sprintf("%-18s  %9s  %13s  %10s\n", "", "log-score", "squared error", "mode error"))
  for (name in names(guesses)) {
    s <- score(guesses[[name]])
    cat(sprintf("%-18s  %9.4f  %13.4f  %9.1f%%\n", name, s[1], s[2], 100 * s[3]))
  }
  cat(sprintf(
    "%.0f s, %d chains (mean log joint %s), %.1f row and %.1f column features\n", time, control$chains, agreement(fit),
    mean(fit$trace$row_features), mean(fit$trace$column_features)
  ))
  png(file.path("build", "bmf_digits.png"), 1400, 620, res = 110)
  shown <- list(
    "complete" = truth, "given" = x, "mean" = fitted(fit), "mode" = (fitted(fit) > 0.5) + 0,
    "nearest" = nearest(x, half)
  )
  par(mfrow = c(5, 20), mar = c(0.1, 0.1, 0.1, 0.1), oma = c(0, 5, 0, 0))
  for (name in names(shown)) {
    for (i in half) {
      picture <- matrix(shown[[name]][i, ], 16, byrow = TRUE)
      picture[is.na(picture)] <- 0.3
      plot.new()
      plot.window(0:1, 0:1, asp = 1)
      rasterImage(as.raster(1 - picture), 0, 0, 1, 1, interpolate = FALSE)
      if (i == half[1]) mtext(name, 2, las = 1, line = 0.3, cex = 0.7)
    }
  }
  invisible(dev.off())
  png(file.path("build", "bmf_digits_features.png"), 1400, 900, res = 110)
  plot(fit, "features", shape = c(16, 16), most = 20, main = "Row features (what they add) and column features")
  invisible(dev.off())
}

if (wanted("genes") && requireNamespace("multtest", quietly = TRUE)) {
  loaded <- new.env()
  data("golub", package = "multtest", envir = loaded)
  golub <- loaded$golub
  leukaemia <- loaded$golub.cl
  spread <- apply(golub, 1, sd)
  genes <- golub[order(-spread)[1:300], ]
  genes <- (genes - rowMeans(genes)) / apply(genes, 1, sd)
  dimnames(genes) <- list(NULL, paste0(ifelse(leukaemia == 0, "ALL", "AML"), seq_along(leukaemia)))
  control <- mcmc_control(chains = 2, warmup = 200, draws = 200, n_start = 8, n_reheat = 8, progress = FALSE)
  cat("\nLeukaemia gene expression (golub, 300 most variable genes x 38 patients, standardised by gene), 10 gene and\n")
  cat("6 patient features\n\n")
  set.seed(3)
  time <- system.time(fit <- quiet(bmf(genes, 10, 6, control = control)))[[3]]
  right <- apply(fit$param$columns, 2, function(v) max(mean(v == leukaemia), mean(v != leukaemia)))
  shared <- cooccurrence(fit, "taxon")
  tree <- cutree(hclust(as.dist(max(shared) - shared), "average"), 2)
  agree <- max(mean((tree == 1) == (leukaemia == 0)), mean((tree == 1) != (leukaemia == 0)))
  cat(sprintf(
    paste0(
      "%.0f s, %d chains (mean log joint %s), %.1f row and %.1f column features\nthe patient feature nearest to the ",
      "classes (ALL, AML) agrees for %.0f of 38 patients; two clusters of the co-occurrence for %.0f\n"
    ), time, control$chains, agreement(fit), mean(fit$trace$row_features), mean(fit$trace$column_features),
    38 * max(right), 38 * agree
  ))
  png(file.path("build", "bmf_genes.png"), 1200, 800, res = 110)
  plot(fit, main = "Leukaemia: 300 genes x 38 patients")
  invisible(dev.off())
}
