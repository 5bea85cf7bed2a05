# Every kernel at 100 000 x 1000 with 1 % ones: seconds per iteration on one thread, beside a lower bound from its
# arithmetic: counts (flops in BLAS products, flops at nonzeros, divisions, exponentials, bytes) over the rates below.
# Slow kernels have fewer rows, as noted: their cost is linear in them.
#
#   OPENBLAS_NUM_THREADS=1 Rscript bench/kernels.R [name ...]
#
# Prints the table of kernels.md.
library(multicause)

only <- commandArgs(trailingOnly = TRUE)
m <- 1000L
k <- 10L

processor <- function(expr) {
  time <- system.time(expr)
  sum(time[c("user.self", "sys.self")])
}
best_of <- function(times, code) min(vapply(seq_len(times), function(i) code(), 0))

# Rates of the machine per second, on one thread. Products are measured. The others are those of a 2.5 GHz processor
# with vectors of four, because R's own loops are slower: a division of four in 8 cycles, an exponential or logarithm in
# 15, 4 flops per cycle on short vectors scattered in the second-level cache, 10 GB of memory.
rates <- function() {
  a <- matrix(stats::runif(2000 * 500), 2000)
  b <- matrix(stats::runif(2000 * 500), 500)
  c(
    products = 2 * 500 * 2000 * 500 / best_of(5L, function() processor(for (i in 1:10) b %*% a) / 10),
    vectors = 4 * 2.5e9, divisions = 2.5e9 / 2, exponentials = 2.5e9 / 15, bytes = 1e10
  )
}

# A table of two faunas with about 1 % ones, sparse as is usual at this size.
draw_table <- function(n) {
  set.seed(1)
  basis <- 0.02 * rbind(stats::rbeta(m, 0.6, 0.6), stats::rbeta(m, 0.6, 0.6))
  group <- sample.int(2L, n, TRUE)
  column <- lapply(seq_len(m), function(j) which(stats::runif(n) < basis[group, j]))
  Matrix::sparseMatrix(unlist(column), rep(seq_len(m), lengths(column)), x = 1, dims = c(n, m))
}

# Seconds per iteration: the difference of a long and a short run, which share everything else.
pass_seconds <- function(fit, iterations) {
  once <- function(p) processor(suppressWarnings(suppressMessages(fit(p))))
  (best_of(2L, function() once(iterations[2L])) - best_of(2L, function() once(iterations[1L]))) / diff(iterations)
}
# Any positive tolerance lets the sparse form leave zeros unscanned.
settings <- function(iterations, ...) {
  fit_control(n_start = 1, max_iter = iterations, tol = 1e-300, progress = FALSE, keep_x = FALSE, screen = FALSE, ...)
}
simplex <- function(n, k) {
  s <- matrix(stats::runif(n * k, 0.1, 1.1), n)
  s / rowSums(s)
}

# Each kernel: rows, a run of p iterations, and the operations of an iteration. `x` is the table, n its rows, ones its
# ones. products: flops of BLAS products; vectors: flops at nonzeros or of short vectors; divisions, exponentials (and
# logarithms); bytes: memory traffic beyond the caches.
cells <- function(n) as.double(n) * m
bernoulli <- function(algorithm, ...) {
  function(x, p) {
    set.seed(2)
    start <- list(membership = simplex(nrow(x), k), aspects = matrix(stats::runif(k * m, 0.001, 0.03), k))
    control <- settings(p, algorithm = algorithm, accelerate = algorithm != "em")
    aspect_bernoulli(x, k, start = start, control = control, ...)
  }
}
kernels <- list(
  `aspect_bernoulli, EM` = list(n = 1e5, fit = bernoulli("em"), needs = function(n, ones) {
    list(products = 8 * cells(n) * k, divisions = cells(n) / 4, bytes = 16 * n * k)
  }),
  `aspect_bernoulli, EM, zeros not visited` = list(n = 1e5, fit = bernoulli("line"), needs = function(n, ones) {
    list(products = 4 * (n + m) * k^2, vectors = 10 * ones * k, divisions = 2 * ones, bytes = 16 * n * k + 8 * ones)
  }),
  `aspect_bernoulli, Newton` = list(n = 1e5, fit = bernoulli("newton"), needs = function(n, ones) {
    list(products = cells(n) * (8 * k + 2 * k^2), divisions = cells(n) / 2, bytes = 16 * n * k)
  }),
  `aspect_bernoulli, sparse Newton` = list(n = 1e5, fit = bernoulli("sparse"), iterations = c(15L, 27L),
    needs = function(n, ones) {
      list(
        products = 2 * (n + m) * k^2 * (k + 1) / 2 * 2, vectors = 2 * ones * (4 * k + k^2), divisions = 2 * ones,
        bytes = 16 * n * k + 24 * ones
      )
    }),
  `bernoulli_mixture` = list(n = 1e5, iterations = c(2L, 12L), fit = function(x, p) {
    set.seed(2)
    start <- list(weights = rep(1 / k, k), prototypes = matrix(stats::runif(k * m, 0.001, 0.03), k))
    bernoulli_mixture(x, k, start = start, control = settings(p, accelerate = FALSE))
  }, needs = function(n, ones) {
    list(vectors = 2 * ones * k, exponentials = n * (2 * k + 1), bytes = 16 * n * k + 8 * ones)
  }),
  `plsa, EM` = list(n = 1e5, iterations = c(2L, 12L), fit = function(x, p) {
    set.seed(2)
    start <- list(membership = simplex(nrow(x), k), basis = simplex(k, m))
    plsa(x, k, estimate = "ml", start = start, control = settings(p, accelerate = FALSE))
  }, needs = function(n, ones) {
    list(vectors = 6 * ones * k, divisions = ones, exponentials = ones, bytes = 16 * n * k + 16 * ones)
  }),
  `plsa, Newton` = list(n = 1e5, iterations = c(23L, 35L), fit = function(x, p) {
    set.seed(2)
    start <- list(membership = simplex(nrow(x), k), basis = simplex(k, m))
    plsa(x, k, estimate = "ml", start = start, control = settings(p))
  }, needs = function(n, ones) {
    list(
      vectors = 8 * ones * k, products = 2 * ones * k^2 / 2, divisions = 2 * ones, exponentials = ones,
      bytes = 16 * n * k * 4 + 32 * ones
    )
  }),
  `nmf, Euclidean` = list(n = 1e5, iterations = c(3L, 15L), fit = function(x, p) nmf_run(x, p, "euclidean"),
    needs = function(n, ones) {
      list(vectors = 4 * ones * k + 2 * 8 * n * k^2, bytes = 16 * n * k * 4 + 24 * ones)
    }),
  `nmf, Kullback-Leibler` = list(n = 1e5, iterations = c(13L, 25L), fit = function(x, p) nmf_run(x, p, "kl"),
    needs = function(n, ones) {
      list(
        vectors = 8 * ones * k, products = 2 * ones * k^2 / 2, divisions = 2 * ones, exponentials = ones,
        bytes = 16 * n * k * 4 + 32 * ones
      )
    }),
  `logistic_pca` = list(n = 2e4, fit = function(x, p) {
    set.seed(2)
    start <- list(
      scores = matrix(stats::rnorm(nrow(x) * k), nrow(x)), loadings = matrix(stats::rnorm(k * m, 0, 0.1), k),
      intercept = rep(-4, m)
    )
    logistic_pca(x, k, penalty = 1, start = start, control = settings(p, accelerate = FALSE))
  }, needs = function(n, ones) {
    pairs <- (k + 1) * (k + 2) / 2
    list(products = 4 * cells(n) * (k + 1 + pairs), exponentials = 2 * cells(n), divisions = 2 * cells(n))
  }),
  `noisy_or, exact, k = 8` = list(n = 2e4, fit = function(x, p) nor_run(x, p, 8L, "exact"), needs = function(n, ones) {
    list(vectors = 4 * ones * 2^8, exponentials = n * 2^8 + m * 2^8, bytes = 8 * n * 2^8)
  }),
  `noisy_or, truncated` = list(n = 2e4, fit = function(x, p) nor_run(x, p, k, "truncated"), needs = function(n, ones) {
    list(vectors = 2 * ones * 16 * k * 2, exponentials = 16 * ones + 16 * n)
  }),
  `noisy_or, variational` = list(n = 5e3, fit = function(x, p) nor_run(x, p, k, "variational"),
    needs = function(n, ones) {
      list(vectors = 2 * 10 * ones * k * 4, exponentials = 10 * ones * k, divisions = 10 * ones * k)
    }),
  `smooth iteration (aspect_bernoulli, EM)` = list(n = 1e5, fit = function(x, p) {
    set.seed(2)
    near <- smooth_over(age = seq_len(nrow(x)), bandwidth = 5, strength = 10, most = 30)
    bernoulli("em", estimate = "map", smooth = near)(x, p)
  }, needs = function(n, ones) {
    list(
      products = 8 * cells(n) * k, divisions = cells(n) / 4 + n * k, vectors = 2 * 2 * 30 * n * k, bytes = 64 * n * k
    )
  })
)

nmf_run <- function(x, p, loss) {
  set.seed(2)
  start <- list(coefficients = matrix(stats::runif(nrow(x) * k), nrow(x)), basis = matrix(stats::runif(k * m), k))
  nmf(x, k, loss = loss, start = start, control = settings(p))
}
nor_run <- function(x, p, k, inference) {
  set.seed(2)
  start <- list(prior = rep(0.2, k), links = matrix(stats::runif(k * m, 0.001, 0.03), k), leak = rep(0.002, m))
  noisy_or(x, k, inference = inference, start = start, control = settings(p, accelerate = FALSE))
}

rate <- rates()
cat("Rates, billions a second: ", paste(names(rate), signif(rate / 1e9, 3), collapse = ", "), "\n\n", sep = "")
cat("| kernel | rows | s an iteration | least | ratio | of it: |\n| --- | --- | --- | --- | --- | --- |\n")
for (name in grep(paste(c(only, if (!length(only)) "."), collapse = "|"), names(kernels), value = TRUE)) {
  kernel <- kernels[[name]]
  x <- draw_table(kernel$n)
  iterations <- if (is.null(kernel$iterations)) c(1L, 4L) else kernel$iterations
  seconds <- pass_seconds(function(p) kernel$fit(x, p), iterations)
  needs <- unlist(kernel$needs(kernel$n, length(x@x)))
  least <- needs / rate[names(needs)]
  cat(sprintf("| %s | %g | %.3g | %.3g | %.1f | %s |\n", name, kernel$n, seconds, sum(least), seconds / sum(least),
    paste(names(least), signif(least, 2), collapse = ", ")))
}
