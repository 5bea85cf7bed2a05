# plsa() beside other packages that minimise the same divergence: fastTopics (Poisson NMF by coordinate descent) and
# NMF (the KL rules of Lee and Seung). All start from the same values; the time to the same likelihood is compared.
# RcppML minimises squared error and topicmodels a variational bound: there is no common objective to race to.
#
#   OPENBLAS_NUM_THREADS=1 Rscript bench/plsa.R [small] [large]
#
# One thread; processor seconds, which other jobs on the machine disturb least. Prints the tables of plsa.md.
library(multicause)

k <- 20L
close <- 1e-4 # nats a count: how near is the same likelihood

# Counts of n observations from k sparse components, `total` each.
draw_counts <- function(n, m, total, seed) {
  set.seed(seed)
  basis <- matrix(stats::rgamma(k * m, 0.1), k)
  share <- matrix(stats::rgamma(n * k, 0.3), n)
  row <- rep(seq_len(n), each = total)
  component <- unlist(lapply(seq_len(n), function(i) sample.int(k, total, TRUE, share[i, ])))
  column <- integer(n * total)
  for (c in seq_len(k)) column[component == c] <- sample.int(m, sum(component == c), TRUE, basis[c, ])
  x <- Matrix::sparseMatrix(row, column, x = rep(1, n * total), dims = c(n, m))
  x[, Matrix::colSums(x) > 0]
}

draw_start <- function(x, seed) {
  set.seed(seed)
  rows <- function(n, m) {
    s <- matrix(stats::runif(n * m, 0.1, 1.1), n)
    s / rowSums(s)
  }
  list(membership = rows(nrow(x), k), basis = rows(k, ncol(x)))
}

processor <- function(expr) {
  time <- system.time(expr)
  sum(time[c("user.self", "sys.self")])
}

loglik <- function(x, membership, basis) {
  row <- x@i + 1L
  column <- rep(seq_len(ncol(x)), diff(x@p))
  sum(x@x * log(rowSums(membership[row, ] * t(basis)[column, ])))
}

run_plsa <- function(x, start, iterations) {
  fit <- NULL
  seconds <- processor(fit <- plsa(x, k, estimate = "ml",
    start = start, control = fit_control(n_start = 1, max_iter = iterations, tol = 0, progress = FALSE, keep_x = FALSE)
  ))
  list(seconds = seconds, trace = fit$trace$objective, iterations = iterations)
}

# The likelihood after every iteration; seconds of the run up to it.
run_fasttopics <- function(x, start, iterations) {
  if (!requireNamespace("fastTopics", quietly = TRUE)) {
    return(NULL)
  }
  first <- fastTopics::init_poisson_nmf(x, L = start$membership * Matrix::rowSums(x), F = t(start$basis))
  fit <- NULL
  seconds <- processor(fit <- fastTopics::fit_poisson_nmf(x,
    fit0 = first, numiter = iterations, method = "scd", verbose = "none",
    control = list(nc = 1, extrapolate = TRUE)
  ))
  trace <- utils::tail(fit$progress$loglik.multinom, iterations)
  # It adds a constant, determined from the likelihood of its own solution.
  topics <- fastTopics::poisson2multinom(fit)
  list(seconds = seconds, trace = trace - trace[iterations] + loglik(x, topics$L, t(topics$F)), iterations = iterations)
}

run_nmf <- function(x, start, iterations) {
  if (!requireNamespace("NMF", quietly = TRUE)) {
    return(NULL)
  }
  suppressPackageStartupMessages(loadNamespace("NMF"))
  dense <- as.matrix(x)
  model <- NMF::nmfModel(W = start$membership * rowSums(dense), H = start$basis)
  fit <- NULL
  never <- function(strategy, i, target, data, ...) FALSE
  seconds <- processor(
    fit <- NMF::nmf(dense, model, method = "KL", .options = "-p", .stop = never, maxIter = iterations)
  )
  w <- NMF::basis(fit)
  h <- NMF::coef(fit)
  w <- w * rep(rowSums(h), each = nrow(w))
  list(seconds = seconds, iterations = iterations, final = loglik(x, w / rowSums(w), h / rowSums(h)))
}

first_at <- function(trace, target) match(TRUE, trace >= target)

compare <- function(title, x, our_iterations, iterations, with_nmf, seed) {
  start <- draw_start(x, seed)
  counts <- sum(x@x)
  cat(sprintf(
    "\n### %s: %d x %d, %.1f %% full, %.0f counts, k = %d, start %d\n\n", title, nrow(x), ncol(x),
    100 * length(x@x) / prod(dim(x)), counts, k, seed
  ))
  ours <- run_plsa(x, start, our_iterations)
  topics <- run_fasttopics(x, start, iterations)
  if (!is.null(topics)) {
    best <- c(max(ours$trace), max(topics$trace))
    # The lower of the two solutions is reachable by both.
    target <- min(best) - close * counts
    need <- c(first_at(ours$trace, target), first_at(topics$trace, target))
    timed <- c(run_plsa(x, start, need[1L])$seconds, run_fasttopics(x, start, need[2L])$seconds)
    table <- data.frame(
      package = c("multicause", "fastTopics (scd, extrapolated)"), iterations = need, seconds = timed,
      "nats a count in the end" = best / counts, check.names = FALSE
    )
    cat(sprintf("To %.5f nats a count, %g below the lower of the two solutions:\n\n", target / counts, close))
    print(table, row.names = FALSE, digits = 6)
    cat(sprintf("\nfastTopics takes %.2f times as long.\n", timed[2L] / timed[1L]))
  }
  if (with_nmf) {
    nmf <- run_nmf(x, start, 100)
    if (!is.null(nmf)) {
      need <- first_at(ours$trace, nmf$final)
      cat(sprintf("\nNMF (KL) reaches %.5f nats a count after 100 iterations, %.1f s; ",
        nmf$final / counts, nmf$seconds))
      if (is.na(need)) {
        cat("multicause ends in a lower maximum from this start.\n")
      } else {
        seconds <- run_plsa(x, start, need)$seconds
        cat(sprintf(
          "multicause after %d iterations, %.2f s: %.0f times faster.\n", need, seconds, nmf$seconds / seconds
        ))
      }
    }
  }
}

parts <- commandArgs(trailingOnly = TRUE)
if (!length(parts)) parts <- c("small", "large")
if ("small" %in% parts) {
  x <- draw_counts(4000, 500, 60, 1)
  for (seed in 2:4) compare("Small", x, 150, 80, TRUE, seed)
}
if ("large" %in% parts) {
  x <- draw_counts(20000, 5000, 60, 1)
  for (seed in 2:4) compare("Large", x, 100, 20, FALSE, seed)
}
