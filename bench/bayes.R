# Effective draws per second of the probabilities of cells: aspect_bernoulli(estimate = "gibbs") against Rlda's Gibbs
# sampler of the same likelihood (latent Dirichlet allocation for presences and absences), on g10s2 (501 x 139), where
# it is at hand, and on a simulated table of that size. One chain each, one thread, starts and warm-up included in the
# time; processor time, since others may be using the machine. Prints bench/bayes.md. MULTICAUSE_BENCH_DRAWS:
# iterations.
#
# Rlda is no longer on CRAN but in its archive. mixedMem (archived, too) and sirt's gom.em() maximise a bound or the
# likelihood: they draw nothing, so there is nothing to count. Rlda's prior of memberships is a truncated stick-breaking
# one, ours a symmetric Dirichlet; aspects have Beta(0.5, 0.5) in both.

library(multicause)
Sys.setenv(NOT_CRAN = "true") # the real data are for those who have them
k <- 4
draws <- as.numeric(Sys.getenv("MULTICAUSE_BENCH_DRAWS", "1000"))
warmup <- draws %/% 4
more <- 3 # times as many iterations of ours, which still take the least time
helpers <- new.env(parent = asNamespace("multicause"))
sys.source(file.path("tests", "testthat", "helper-data.R"), helpers)

simulate_table <- function(n, m) {
  s <- matrix(rexp(n * 3)^2, n)
  share <- rbeta(n, 3, 1.2)
  p <- ((1 - share) * s / rowSums(s)) %*% matrix(rbeta(3 * m, 0.3, 1.2), 3)
  matrix(rbinom(n * m, 1, p), n)
}

# Draws x cells, for cells spread over the table.
cells_of_table <- function(x) cbind(rep_len(seq_len(nrow(x)), 200), sample.int(ncol(x), 200, TRUE))

run_ours <- function(x, at) {
  time <- system.time(fit <- suppressWarnings(aspect_bernoulli(
    x, k, estimate = "gibbs",
    control = mcmc_control(
      chains = 1, warmup = warmup, draws = more * draws - warmup, keep = more * draws, progress = FALSE
    )
  )))
  p <- vapply(fit$kept[[1L]], function(s) rowSums(s$membership[at[, 1L], ] * t(s$aspects[, at[, 2L]])), numeric(200))
  list(time = time[[1L]] + time[[2L]], p = t(p), loglik = fit$trace$log_likelihood)
}

run_rlda <- function(x, at, sampler) {
  data <- as.data.frame(x)
  time <- system.time(utils::capture.output(fit <- sampler(data)))
  kept <- seq(warmup + 1L, draws)
  p <- 0
  for (c in seq_len(k)) {
    theta <- fit$Theta[kept, (c - 1L) * nrow(x) + at[, 1L]]
    p <- p + theta * fit$Phi[kept, rlda_phi(fit, x, c, at[, 2L])]
  }
  list(time = time[[1L]] + time[[2L]], p = p, loglik = fit$logLikelihood[kept])
}

# Phi has k x m columns; whether components or attributes run first is told by what explains the data.
rlda_phi <- function(fit, x, c, j) {
  n <- nrow(x)
  last <- nrow(fit$Theta)
  theta <- matrix(fit$Theta[last, ], n)
  loglik <- function(phi) {
    p <- pmin(pmax(theta %*% phi, 1e-9), 1 - 1e-9)
    sum(log(ifelse(x == 1, p, 1 - p)))
  }
  first <- loglik(matrix(fit$Phi[last, ], k)) > loglik(matrix(fit$Phi[last, ], k, byrow = TRUE))
  if (first) (j - 1L) * k + c else (c - 1L) * ncol(x) + j
}

row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
# One line of the table; returns the median and the 5 % quantile of effective draws a second over cells.
row_of <- function(table, name, run, ours = NULL) {
  ess <- apply(run$p, 2L, function(d) multicause:::bulk_ess(cbind(d)))
  rate <- stats::quantile(ess, c(0.5, 0.05), names = FALSE) / run$time
  row(
    table, name, nrow(run$p), sprintf("%.1f", run$time), sprintf("%.0f", mean(run$loglik)),
    sprintf("%.1f", stats::median(ess)), sprintf("%.2f", rate[1L]), sprintf("%.3f", rate[2L]),
    if (is.null(ours)) "" else sprintf("%.0f; %.0f", ours[1L] / rate[1L], ours[2L] / rate[2L])
  )
  rate
}

samplers <- list()
if (requireNamespace("Rlda", quietly = TRUE)) {
  suppressPackageStartupMessages(library(Rlda))
  samplers <- list(
    "Rlda rlda.bernoulli" = function(data) rlda.bernoulli(data, k, 0.5, 0.5, 0.5, draws, TRUE, FALSE),
    "Rlda rlda.fastbernoulli" = function(data) {
      rlda.fastbernoulli(data.frame(loc.id = seq_len(nrow(data)), data), "loc.id", k, 0.5, 0.5, 0.5, draws, TRUE, FALSE)
    }
  )
} else {
  message("Rlda is not installed: skipped")
}

set.seed(1)
tables <- list("simulated" = simulate_table(501, 139))
now <- tryCatch(helpers$now_2003("g10s2")$x, condition = function(e) NULL)
if (!is.null(now)) tables <- c(list("g10s2" = unname(now)), tables)

cat("# Effective draws per second of the probabilities of cells\n\n")
cat(sprintf(
  paste0(
    "%s, %s; 501 x 139, k = %d, %.0f iterations (ours %.0f), the first %.0f thrown away; 200 cells; ESS after Vehtari ",
    "and others (2021).\n\n"
  ),
  format(Sys.Date()), R.version.string, k, draws, more * draws, warmup
))
row(
  "table", "sampler", "draws", "processor seconds", "mean log-likelihood", "median ESS", "median ESS a second",
  "5 % quantile of it", "ours over it (median; 5 %)"
)
row("---", "---", "---", "---", "---", "---", "---", "---", "---")
for (name in names(tables)) {
  x <- tables[[name]]
  set.seed(2)
  at <- cells_of_table(x)
  ours <- row_of(name, "multicause", run_ours(x, at))
  for (sampler in names(samplers)) {
    run <- tryCatch(run_rlda(x, at, samplers[[sampler]]), error = function(e) {
      message(sampler, ": ", conditionMessage(e))
      NULL
    })
    if (!is.null(run)) row_of(name, sampler, run, ours)
  }
}
