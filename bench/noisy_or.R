# Speed and memory of noisy_or(): time a pass against n and k for the three inferences, the exact one against the limit
# of the BLAS and against the same algorithms in R, and fifty sources on 20 000 x 500 sparse data.
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

fit_passes <- function(p, inference, passes) {
  control <- fit_control(n_start = 1, max_pass = passes, tol = 0, accelerate = FALSE)
  noisy_or(p$x, p$k, inference = inference, estimate = "ml", inner = 1, start = p$start, control = control)
}

# Seconds a pass: what `passes` more of them cost beyond one.
pass_seconds <- function(p, inference, passes) {
  least <- function(n) min(vapply(1:3, function(i) seconds(fit_passes(p, inference, n)), 0))
  (least(1 + passes) - least(1)) / passes
}

# ---- The algorithms in R -----------------------------------------------------------------------------------------

# Exact: matrix products over all states, the activation M-step.
r_exact <- function(x, par, passes) {
  k <- length(par$prior)
  states <- as.matrix(expand.grid(rep(list(0:1), k)))
  zero <- 1 - x
  for (pass in seq_len(passes)) {
    theta <- -log(1 - par$links)
    y <- states %*% theta + rep(-log(1 - par$leak), each = nrow(states))
    one <- 1 - exp(-y)
    joint <- x %*% t(log(one)) - zero %*% t(y) +
      rep(states %*% log(par$prior) + (1 - states) %*% log(1 - par$prior), each = nrow(x))
    top <- apply(joint, 1L, max)
    r <- exp(joint - top)
    sums <- rowSums(r)
    loglik <- sum(top + log(sums))
    r <- r / sums
    on <- colSums(r %*% states)
    v <- crossprod(r, x) / one
    links <- par$links * crossprod(states, v) / on
    # Kept off 0 and 1, where 0 times an infinite logarithm is no number.
    inside <- function(p) pmin(pmax(p, 1e-12), 1 - 1e-12)
    par <- list(prior = on / nrow(x), links = inside(links), leak = inside(par$leak * colSums(v) / nrow(x)))
  }
  list(par = par, before = loglik)
}

# Truncated: row by row, neighbours of the three best states, the sixteen best of all kept.
r_truncated <- function(x, par, passes, lists = rep(list(matrix(0, 1, length(par$prior))), nrow(x))) {
  k <- length(par$prior)
  flips <- diag(k)
  for (pass in seq_len(passes)) {
    fired <- matrix(0, k, ncol(x))
    leak <- numeric(ncol(x))
    on <- numeric(k)
    bound <- 0
    odds <- log(par$prior / (1 - par$prior))
    off <- sum(log(1 - par$prior))
    theta <- -log(1 - par$links)
    theta0 <- -log(1 - par$leak)
    for (i in seq_len(nrow(x))) {
      ones <- x[i, ] == 1
      value <- function(states) {
        y <- states %*% theta + rep(theta0, each = nrow(states))
        as.vector(states %*% odds) + off + rowSums(log(1 - exp(-y[, ones, drop = FALSE]))) -
          rowSums(y[, !ones, drop = FALSE])
      }
      states <- lists[[i]]
      rounds <- if (nrow(states) == 1L) k else 1L
      for (round in seq_len(rounds)) {
        best <- states[order(-value(states))[seq_len(min(3L, nrow(states)))], , drop = FALSE]
        near <- do.call(rbind, lapply(seq_len(nrow(best)), function(b) abs(rep(best[b, ], each = k) - flips)))
        all <- unique(rbind(states, matrix(near, ncol = k)))
        value_all <- value(all)
        keep <- order(-value_all)[seq_len(min(16L, nrow(all)))]
        states <- all[keep, , drop = FALSE]
      }
      lists[[i]] <- states
      joint <- value_all[keep]
      top <- max(joint)
      r <- exp(joint - top)
      bound <- bound + top + log(sum(r))
      r <- r / sum(r)
      p <- 1 - exp(-(states %*% theta[, ones, drop = FALSE] + rep(theta0[ones], each = nrow(states))))
      v <- r / p
      fired[, ones] <- fired[, ones] + crossprod(states, v)
      leak[ones] <- leak[ones] + colSums(v)
      on <- on + colSums(r * states)
    }
    par <- list(prior = on / nrow(x), links = par$links * fired / on, leak = par$leak * leak / nrow(x))
  }
  list(par = par, before = bound)
}

# Variational: all ones at once, Newton for all links, then for all leaks, at once.
r_variational <- function(x, par, passes, q_steps = 10) {
  at <- which(x == 1, arr.ind = TRUE)
  k <- length(par$prior)
  theta <- -log(1 - par$links)
  theta0 <- -log(1 - par$leak)
  prior <- par$prior
  q <- matrix(1 / k, nrow(at), k)
  f <- function(y) log(-expm1(-y))
  slope <- function(y) 1 / expm1(y)
  sums <- function(value, group, n) {
    out <- matrix(0, n, NCOL(value))
    found <- rowsum(value, group)
    out[as.integer(rownames(found)), ] <- found
    out
  }
  by_column <- function(value) sums(value, at[, 2], ncol(x))
  newton <- function(start, low, ones, zeros) {
    for (round in 1:60) {
      here <- ones(start)
      step <- ifelse(here$derivative < 0, (here$value - zeros) / here$derivative, Inf)
      new <- pmin(pmax(start - step, low), 30)
      done <- max(abs(new - start)) < 1e-10
      start <- new
      if (done) break
    }
    start
  }
  for (pass in seq_len(passes)) {
    link <- t(theta)[at[, 2], ]
    leak <- theta0[at[, 2]]
    over <- function(link) ifelse(link == 0, 0, link / q)
    g <- q * (f(leak + over(link)) - f(leak))
    a <- -(1 - x) %*% t(theta) + sums(g, at[, 1], nrow(x))
    logit <- a + rep(log(prior / (1 - prior)), each = nrow(x))
    on <- 1 / (1 + exp(-logit))
    bound <- sum(f(leak)) - sum((1 - x) %*% theta0) + sum(log(1 - prior)) * nrow(x) + sum(log1p(exp(logit)))
    s <- on[at[, 1], ]
    for (step in seq_len(q_steps)) {
      u <- over(link)
      rise <- pmax(s * (f(leak + u) - ifelse(is.finite(u), u * slope(leak + u), 0) - f(leak)), 0)
      new <- q * if (step %% 2) sqrt(rise) else rise
      total <- rowSums(new)
      q[total > 0, ] <- (new / total)[total > 0, ]
    }
    zeros <- crossprod(on, 1 - x)
    link_ones <- function(theta) {
      d <- slope(leak + over(t(theta)[at[, 2], ]))
      dd <- s * d * (1 + d) / q
      dd[q <= 0] <- 0
      list(value = t(by_column(s * d)), derivative = -t(by_column(dd)))
    }
    moved <- newton(theta, 1e-12, link_ones, zeros)
    theta <- ifelse(theta == 0 | moved <= 1e-12, 0, moved)
    link <- t(theta)[at[, 2], ]
    leak_ones <- function(theta0) {
      leak <- theta0[at[, 2]]
      with <- slope(leak + over(link))
      bare <- slope(leak)
      d <- q * (s * with + (1 - s) * bare)
      dd <- q * (s * with * (1 + with) + (1 - s) * bare * (1 + bare))
      list(value = by_column(rowSums(d))[, 1], derivative = -by_column(rowSums(dd))[, 1])
    }
    theta0 <- newton(theta0, 1e-6, leak_ones, colSums(1 - x))
    prior <- colMeans(on)
  }
  list(par = list(prior = prior, links = 1 - exp(-theta), leak = 1 - exp(-theta0)), before = bound)
}

r_forms <- list(exact = r_exact, truncated = r_truncated, variational = r_variational)

# ---- The tables --------------------------------------------------------------------------------------------------

cat("\n## Equal results\n\n")
cat("Largest difference of a parameter after 3 passes, R form against package, 200 x 64, k = 6.\n\n")
small <- draw_problem(200, 64, 6)
for (inference in names(r_forms)) {
  ours <- fit_passes(small, inference, 3)$param
  theirs <- r_forms[[inference]](small$x, small$start, 3)$par
  gap <- max(abs(ours$links - theirs$links), abs(ours$leak - theirs$leak), abs(ours$prior - theirs$prior))
  cat(sprintf("%-12s %.1e\n", inference, gap))
}

cat("\n## Milliseconds a pass (one M-step; variational: ten steps of q), m = 100\n\n")
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

cat("\n## Exact pass against the BLAS, k = 10, n = 5000, m = 100\n\n")
p <- draw_problem(5000, 100, 10)
pass <- pass_seconds(p, "exact", 10)
b <- 128L
a <- matrix(stats::rnorm(1024 * 100), 1024)
x_block <- matrix(as.double(stats::runif(100 * b) < 0.3), 100)
logs <- matrix(stats::rnorm(1024 * b), 1024)
products <- min(replicate(5, seconds(for (i in seq_len(ceiling(5000 / b))) {
  a %*% x_block
  tcrossprod(logs, x_block)
})))
cat(sprintf(
  "its two products alone %.1f ms (%.0f GFlop/s), a pass %.1f ms: %.2f of the limit\n", 1e3 * products,
  4 * 5000 * 1024 * 100 / products / 1e9, 1e3 * pass, products / pass
))

cat("\n## Against the R forms, milliseconds a pass, n = 500, m = 64, k = 8\n\n")
image <- draw_problem(500, 64, 8)
for (inference in names(r_forms)) {
  passes <- c(exact = 20, truncated = 1, variational = 3)[[inference]]
  form <- r_forms[[inference]]
  first <- if (inference == "truncated") seconds(form(image$x, image$start, 1)) else 0
  theirs <- if (inference == "truncated") {
    seconds(form(image$x, image$start, 1 + passes)) - first
  } else {
    seconds(form(image$x, image$start, passes)) / passes
  }
  ours <- pass_seconds(image, inference, 20)
  cat(sprintf("%-12s R %8.2f, package %6.2f: %5.1f times faster\n", inference, 1e3 * theirs, 1e3 * ours, theirs / ours))
}

# How long both take from the same start to the level the R form reaches after so many plain passes.
race <- function(inference, form, passes, seed) {
  p <- draw_problem(500, 64, 8, seed)
  theirs <- seconds(far <- form(p$x, p$start, passes))
  target <- far$before - 0.01
  tried <- 3
  repeat {
    control <- fit_control(n_start = 1, max_pass = tried, tol = 0)
    ours <- seconds(fit <- noisy_or(p$x, 8, inference = inference, estimate = "ml", start = p$start, control = control))
    if (fit$objective >= target || tried > 3 * passes) break
    tried <- tried + 3
  }
  cat(sprintf(
    "%-12s start %d: R %6.2f s, package %.3f s (%d accelerated passes): %.0f times faster\n", inference, seed, theirs,
    ours, tried, theirs / ours
  ))
}

cat("\n## To the same objective from the same start (what 200 passes of the R form reach, less 0.01 nats)\n\n")
for (seed in 1:3) race("exact", r_exact, 200, seed)
for (seed in 1:3) race("variational", r_variational, 200, seed)

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
    "%.1f %% ones; 5 starts of 20 passes, one finished (%d passes): %.0f s; peak memory of the session %s\n",
    100 * Matrix::mean(x), nrow(fit$trace), took, sub("VmHWM:\\s*", "", memory)
  ))
}
