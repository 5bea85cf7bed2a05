# Sites with ages, and weights of neighbours by formula, for the tests of smooth_over().
brief <- function(...) {
  fit_control(n_start = 1, max_iter = 60, tol = 0, progress = FALSE, n_polish = 0, screen = FALSE, ...)
}
hush <- function(expr) suppressMessages(suppressWarnings(expr))

# A gradual turnover: sites of similar age have similar communities; some are poorly recorded.
turnover <- function(n = 60, m = 20) {
  age <- sort(stats::runif(n, 0, 10), decreasing = TRUE)
  middle <- seq(10, 0, length.out = m)
  present <- exp(-outer(age, middle, "-")^2 / 4)
  x <- matrix(stats::rbinom(n * m, 1, present * stats::runif(n, 0.3, 1)), n, m)
  list(x = x, age = age)
}

simplex_start <- function(n, m, k, white) {
  s <- matrix(stats::runif(n * k, 0.1, 1), n, k)
  a <- matrix(stats::runif(k * m, 0.05, 0.95), k, m)
  if (white) a[k, ] <- 0
  list(membership = s / rowSums(s), aspects = a)
}

ref_weights <- function(age, bandwidth) {
  w <- exp(-abs(outer(age, age, "-")) / bandwidth)
  diag(w) <- 0
  w[is.na(w)] <- 0
  w <- w / rowSums(w)
  n <- length(age)
  w[is.na(age), ] <- (1 - diag(n))[is.na(age), ] / (n - 1)
  w
}
