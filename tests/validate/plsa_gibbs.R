# Long checks of plsa(estimate = "gibbs"): exact posteriors by enumeration over the components of all counts, Geweke's
# joint test, simulation-based calibration. MULTICAUSE_VALIDATE_SCALE=0.05 makes it short. The kernel lists all
# components of every attribute up to 12, and above only those that it has: there are cases of both.
library(multicause)
scale <- as.numeric(Sys.getenv("MULTICAUSE_VALIDATE_SCALE", "1"))
helpers <- new.env(parent = asNamespace("multicause"))
for (file in c("helper-data.R", "helper-gibbs.R", "helper-plsa_gibbs.R")) {
  sys.source(file.path("tests", "testthat", file), helpers)
}
sys.source(file.path("tests", "validate", "shared", "judge_z.R"), environment())

set.seed(1)
tables <- list(
  `2 x 3, k = 2` = list(rbind(c(2, 1, 0), c(0, 2, 1)), c(0.4, 0.4), 0.3),
  `3 x 2, k = 3, unequal prior` = list(rbind(c(1, 1), c(2, 0), c(0, 2)), c(1.5, 0.3, 0.7), 0.8),
  `2 x 3, k = 2, unknown cells` = list(rbind(c(3, NA, 1), c(NA, 2, 1)), c(0.2, 1), 0.1),
  `1 x 2, k = 4` = list(rbind(c(2, 2)), rep(0.3, 4), 0.5),
  `2 x 2, k = 13` = list(rbind(c(1, 1), c(0, 2)), rep(0.2, 13), 0.4)
)
for (name in names(tables)) {
  case <- tables[[name]]
  judge(paste("exact:", name), helpers$lda_exact_z(case[[1]], case[[2]], case[[3]], ceiling(1e5 * scale)))
}

cases <- list(
  `3 x 3, k = 2` = list(c(3, 5, 2), 3, c(0.5, 0.5), 0.4), `2 x 4, k = 14` = list(c(4, 4), 4, rep(0.3, 14), 0.4),
  `4 x 5, k = 3, unequal prior` = list(c(6, 1, 0, 9), 5, c(1.2, 0.5, 0.2), 0.2)
)
for (name in names(cases)) {
  judge(paste("Geweke:", name), do.call(helpers$lda_geweke_z, c(cases[[name]], ceiling(4e4 * scale))))
}

cases <- list(
  `5 x 4, k = 2, unequal prior` = list(c(6, 6, 8, 8, 5), 4, c(0.7, 0.3), 0.5),
  `12 x 6, k = 3` = list(rep(c(5, 10, 20), 4), 6, rep(0.5, 3), 0.4),
  `8 x 10, k = 15` = list(rep(c(10, 20), 4), 10, rep(0.2, 15), 0.3)
)
for (name in names(cases)) {
  ranks <- do.call(helpers$lda_sbc_ranks, c(cases[[name]], ceiling(1000 * scale), thin = 30, warmup = 500))
  p <- helpers$rank_p(ranks, 19)
  ok <- min(p) > 1e-3 / length(p)
  failed <- failed + !ok
  cat(sprintf("| calibration: %s | %d | smallest p %.4f | | %s |\n", name, length(p), min(p), if (ok) "yes" else "NO"))
}
if (failed) stop(failed, " check(s) failed")
