# Numerical versions of the papers' figures.

skip_on_cran()

# Four clusters of a hundred points in the triangle of distributions over three attributes; see the vignette.
simplex_data <- function() {
  half <- sqrt(0.136 * sqrt(3) / 2 / 1.3) / 2
  corner <- rep(1:4, each = 100)
  x <- 1 / 3 + outer(1.3 * half * c(-1, 1, 1, -1)[corner] + rnorm(400, 0, 0.0413), c(-1, 1, 0) / sqrt(2)) +
    outer(half * c(-1, -1, 1, 1)[corner] + rnorm(400, 0, 0.0413), c(-1, -1, 2) / sqrt(6))
  x <- pmax(x, 0.001)
  x / rowSums(x)
}

hull_area <- function(p) {
  p <- cbind(p[, 2] + p[, 3] / 2, p[, 3] * sqrt(3) / 2)
  h <- p[grDevices::chull(p), ]
  i <- c(seq_len(nrow(h))[-1], 1)
  abs(sum(h[, 1] * h[i, 2] - h[i, 1] * h[, 2])) / 2 / (sqrt(3) / 4)
}

test_that("hulls grow with k and shrink with sparsity, as in Figure 3", {
  set.seed(1)
  x <- simplex_data()
  area <- function(k, beta) {
    mean(vapply(1:20, function(seed) {
      set.seed(seed)
      fit <- suppressWarnings(plsa(x, k, sparsity = c(membership = beta), control = plain_iterations(400)))
      hull_area(fit$param$basis)
    }, 0))
  }
  got <- c(area(3, 0), area(7, 0), area(10, 0), area(7, 0.01), area(7, 0.05), area(7, 0.3))
  want <- c(0.470, 0.629, 0.695, 0.348, 0.263, 0.089)
  expect_lt(max(abs(got / want - 1)), 0.15)
})

# Kick, snare and hi-hat, three seconds at 8 kHz: magnitudes by frequency and time, total 1000.
drum_spectrogram <- function(rate = 8000) {
  t <- seq(0, 0.5, by = 1 / rate)
  kick <- sin(2 * pi * cumsum(120 - 70 * pmin(t / 0.15, 1)) / rate) * exp(-t / 0.15)
  snare <- (0.6 * sin(2 * pi * 180 * t) + 0.5 * rnorm(length(t))) * exp(-t / 0.1)
  hat <- 0.4 * c(0, 0, diff(rnorm(length(t)), differences = 2)) * exp(-t / 0.03)
  sound <- numeric(3 * rate + length(t))
  add <- function(sound, hit, times) {
    for (at in times) sound[round(at * rate) + seq_along(t)] <- sound[round(at * rate) + seq_along(t)] + hit
    sound
  }
  sound <- add(add(add(sound, kick, c(0, 1, 1.25, 2)), snare, c(0.5, 1.5, 2.5)), hat, seq(0, 2.75, 0.25))
  window <- 0.5 - 0.5 * cos(2 * pi * (0:511) / 512)
  at <- seq(1, 3 * rate - 511, by = 128)
  v <- abs(stats::mvfft(vapply(at, function(i) sound[i + 0:511] * window, numeric(512))))[1:257, ]
  1000 * v / sum(v)
}

test_that("priors on drums do what Figures 3.2 and 4.3 show", {
  set.seed(1)
  v <- drum_spectrogram()
  set.seed(2)
  start <- list(weights = rep(1 / 12, 12), marginals = list(ref_simplex(12, 257), ref_simplex(12, 184)))
  groups <- rep(1:6, each = 2)
  same <- outer(groups, groups, "==") & !diag(12)
  measure <- function(between, within = 0, ...) {
    prior <- cross_entropy(groups = groups, strength = c(between = between, within = within), dims = 2, ...)
    fit <- plca(v, 12, prior = prior, start = start, control = plain_iterations(60))
    d <- divergences(fit, dims = 2)[[1]]
    c(kl = fit$kl, between = mean(d[!same & !diag(12)]), within = mean(d[same]))
  }
  none <- measure(0)
  for (method in c("paper", "js")) {
    apart <- list(measure(0.2, -0.2, method = method), measure(5, -5, method = method))
    alike <- list(measure(-0.2, 0.2, method = method), measure(-5, 5, method = method))
    path <- vapply(c(rev(alike), list(none), apart), `[[`, 0, "between")
    expect_true(all(diff(path) > 0))
    # The stronger the prior, the worse the fit.
    expect_true(apart[[2]][["kl"]] > none[["kl"]] && alike[[2]][["kl"]] > none[["kl"]])
    within <- measure(0, 5, method = method)
    both <- measure(1, 5, method = method)
    expect_lt(within[["within"]], none[["within"]] / 2)
    expect_gt(both[["between"]], 1.5 * none[["between"]])
    expect_lt(both[["within"]], none[["within"]] / 2)
  }
})
