# Long checks of visits_bernoulli(estimate = "gibbs"), about 7 processor minutes: a grid, Geweke's joint test,
# simulation-based calibration, with memberships free and by covariates, and whether rare attributes' presences are
# without bias. MULTICAUSE_VALIDATE_SCALE=0.05 makes it short; below 0.1 chains of Geweke's test may be too short for
# their errors to be known.
library(multicause)
scale <- as.numeric(Sys.getenv("MULTICAUSE_VALIDATE_SCALE", "1"))
helpers <- new.env(parent = asNamespace("multicause"))
for (file in c("helper-data.R", "helper-gibbs.R", "helper-visits.R")) {
  sys.source(file.path("tests", "testthat", file), helpers)
}
prior <- list(aspects = c(0.8, 1.3), membership = 0.6, detection = 0.9)
sys.source(file.path("tests", "validate", "shared", "judge_z.R"), environment())
set.seed(1)
cell <- array(c(1L, 0L, 0L, NA, 0L, 0L, 0L, NA, 1L, 0L, NA, NA), c(4, 1, 3))
problem <- helpers$visits_test_problem(cell, 1, prior, "none", ~1)
ns <- asNamespace("multicause")
out <- ns$visits_sweeps(problem, ns$visits_prior_state(problem), ceiling(4e5 * scale), 1L, 1L)
a <- as.vector(out$kept_aspects)
q <- plogis(as.vector(out$all_slopes))
chain <- rbind(a = a, q = q, missed = out$note[3, ], loglik = out$note[2, ], both = a * q)
exact <- helpers$visits_grid(cell, prior$aspects, prior$detection)
judge("grid, one attribute", (rowMeans(chain) - exact) / helpers$batch_error(chain))
cell <- array(0L, c(4, 3, 2))
cell[2, , 2] <- NA
cell[3, 1, ] <- NA
data <- list(date = matrix(c(-1, 0.5, 1, -0.5, 1, 0, 0.3, -1), 4))
taxon <- data.frame(mass = c(-1, 0, 1))
make <- helpers$visits_test_problem
cases <- list(
  `shared, covariate of taxa, k = 2` = make(cell, 2, prior, "partial", ~ date + mass, data, taxon),
  `shared, k = 3` = make(cell, 3, prior, "partial", ~date, data),
  `not shared, k = 2` = make(cell, 2, prior, "none", ~date, data)
)
follow_prior <- list(aspects = c(0.8, 1.3), membership = 1, detection = 0.9, communities = 0.8)
site <- data.frame(elev = c(-1, 0.2, 1, 0.4))
for (k in 2:3) {
  cases[[sprintf("communities by a covariate, k = %d", k)]] <- make(
    cell, k, follow_prior, "partial", ~date, data,
    communities = ~elev, site = site
  )
}
for (name in names(cases)) judge(paste("Geweke:", name), helpers$visits_geweke_z(cases[[name]], ceiling(1e5 * scale)))
for (name in names(cases)) {
  ranks <- helpers$visits_sbc_ranks(cases[[name]], n_set = ceiling(1000 * scale), warmup = 200, thin = 20)
  p <- helpers$rank_p(ranks, 19)
  ok <- min(p) > 1e-3 / length(p)
  failed <- failed + !ok
  cat(sprintf("| calibration: %s | %d | smallest p %.4f | | %s |\n", name, length(p), min(p), if (ok) "yes" else "NO"))
}
set.seed(2)
many <- make(
  array(0L, c(30, 8, 3)), 2, list(aspects = c(0.4, 0.8), membership = 1, detection = 1), "none", ~date,
  list(date = matrix(rnorm(90), 30))
)
rare <- helpers$visits_rare_errors(many, ceiling(1000 * scale), 200, 400)
judge(
  sprintf("presences of rare attributes, bias %.3f of %.3f a set", mean(rare[, "error"]), mean(rare[, "truth"])),
  mean(rare[, "error"]) / (sd(rare[, "error"]) / sqrt(nrow(rare)))
)
if (failed) stop(failed, " check(s) failed")
