# bernoulli_mixture(), logistic_pca() and nmf() side by side with the packages that users know: the same data, the same
# start where the peer takes one, one thread. A peer runs to its own stopping rule; ours runs on to its own, and is
# timed up to the pass where it reached the peer's objective. Results are kept in bench/comparators.md.
# Peers that are not installed are skipped.
#   Rscript bench/comparators.R [repeats = 3]
library(multicause)
repeats <- as.integer(c(commandArgs(TRUE), "3")[1L])
file <- file.path(Sys.getenv("MULTICAUSE_DATA", "../shared/data"), "now_2003", "g10s2_occ.csv")
set.seed(1)
if (file.exists(file)) {
  occ <- utils::read.csv(file)
  x <- matrix(0, max(occ$site_id), max(occ$genus_id))
  x[cbind(occ$site_id, occ$genus_id)] <- 1
  name <- "now_2003 g10s2"
} else {
  x <- matrix(rbinom(501 * 139, 1, 0.05), 501)
  x <- x[rowSums(x) > 0, colSums(x) > 0]
  name <- "random table of the paper's size"
}
n <- nrow(x)
m <- ncol(x)
dimnames(x) <- list(paste0("s", seq_len(n)), paste0("g", seq_len(m)))
cat(sprintf("%s: %d x %d, density %.4f; one thread; medians of %d runs\n\n", name, n, m, mean(x), repeats))
one <- fit_control(n_start = 1, screen = FALSE, n_polish = 0, progress = FALSE)
hush <- function(expr) suppressWarnings(suppressMessages(expr))

results <- NULL
# peer(): its objective (larger is better); ours(): a fit whose trace is on the same scale.
race <- function(package, task, ours, peer) {
  if (!requireNamespace(package, quietly = TRUE)) {
    message(package, " is not installed: skipped")
    return(invisible())
  }
  clock <- function(f) {
    runs <- lapply(seq_len(repeats), function(i) {
      time <- sum(system.time(value <- hush(f()))[1:2]) # of the processor: the machine may be busy
      list(time = time, value = value)
    })
    list(time = stats::median(vapply(runs, function(r) r$time, 0)), value = runs[[1L]]$value)
  }
  theirs <- clock(peer)
  mine <- clock(ours)
  trace <- mine$value$trace$objective
  # Another start may end in another optimum, and never come to the peer's: then our whole run counts.
  hit <- which(trace >= theirs$value - 1e-9 * abs(theirs$value))[1L]
  if (is.na(hit)) hit <- length(trace)
  to_theirs <- mine$time * hit / length(trace)
  results <<- rbind(results, data.frame(
    package, task, peer_objective = theirs$value, our_objective = unname(mine$value$objective),
    peer_seconds = theirs$time, our_seconds = mine$time, seconds_to_theirs = to_theirs,
    times_faster = theirs$time / to_theirs, times_faster_converged = theirs$time / mine$time
  ))
}

# Bernoulli mixtures, k = 4, from the same memberships.
k <- 4L
soft <- matrix(stats::rexp(n * k), n, k)
soft <- soft / rowSums(soft)
mixture <- list(weights = colMeans(soft), prototypes = t(soft) %*% x / colSums(soft))
fit_mixture <- function() bernoulli_mixture(x, k, estimate = "ml", start = lapply(mixture, unname), control = one)
race("flexmix", "Bernoulli mixture, k = 4", fit_mixture, function() {
  data <- list(x = x)
  control <- list(iter.max = 2000, minprior = 0, tolerance = 1e-8)
  model <- flexmix::FLXMCmvbinary()
  fit <- flexmix::flexmix(x ~ 1, data = data, k = k, cluster = soft, model = model, control = control)
  as.numeric(flexmix::logLik(fit))
})
race("poLCA", "Bernoulli mixture, k = 4", fit_mixture, function() {
  data <- as.data.frame(x + 1)
  f <- stats::as.formula(sprintf("cbind(%s) ~ 1", paste(names(data), collapse = ", ")))
  start <- lapply(seq_len(m), function(j) cbind(1 - mixture$prototypes[, j], mixture$prototypes[, j]))
  fit <- poLCA::poLCA(
    f, data, nclass = k, maxiter = 5000, tol = 1e-8, probs.start = start, calc.se = FALSE, verbose = FALSE
  )
  fit$llik
})

# Logistic PCA, k = 2, unpenalised as logisticSVD is, from the same scores and loadings.
pca <- list(
  scores = matrix(stats::rnorm(n * 2, sd = 0.1), n), loadings = matrix(stats::rnorm(2 * m, sd = 0.1), 2),
  intercept = unname(stats::qlogis(colMeans(x)))
)
loglik <- function(p) sum(log(ifelse(x == 1, p, 1 - p)))
race("logisticPCA", "logistic PCA (logisticSVD), k = 2, no ridge", function() {
  logistic_pca(x, 2, penalty = 0, start = pca, control = fit_control(
    n_start = 1, screen = FALSE, max_pass = 3000, progress = FALSE
  ))
}, function() {
  fit <- logisticPCA::logisticSVD(
    x, k = 2, max_iters = 2000, conv_criteria = 1e-6, start_A = pca$scores, start_B = t(pca$loadings),
    start_mu = pca$intercept
  )
  loglik(stats::fitted(fit, type = "response"))
})

# Non-negative factors, k = 5, from the same factors.
k <- 5L
start <- list(coefficients = matrix(stats::runif(n * k), n) * mean(x), basis = matrix(stats::runif(k * m), k))
squares <- function(w, h) -sum((x - w %*% h)^2) / 2
fit_nmf <- function() nmf(x, k, start = start, control = one)
race("RcppML", "NMF, Euclidean, k = 5", fit_nmf, function() {
  RcppML::setRcppMLthreads(1)
  fit <- RcppML::nmf(x, k, tol = 1e-6, maxit = 5000, verbose = FALSE, seed = 1) # takes no start
  squares(fit$w %*% diag(fit$d), fit$h)
})
race("NMF", "NMF, Euclidean (lee), k = 5", fit_nmf, function() {
  suppressPackageStartupMessages(loadNamespace("NMF"))
  seed <- NMF::nmfModel(W = start$coefficients, H = start$basis)
  fit <- NMF::nmf(x, k, method = "lee", seed = seed, .stop = "stationary", .opt = "-p")
  squares(NMF::basis(fit), NMF::coef(fit))
})
# (NMF's KL method, brunet, ends in NaN on this table.)
results[-(1:2)] <- lapply(results[-(1:2)], signif, 4L)
print(results, row.names = FALSE, width = 250)
