# Long checks of noisy_or(estimate = "gibbs"): simulation-based calibration without recording, with recording by site,
# by both and by effort, at three sizes, and mistakes that it must catch. MULTICAUSE_VALIDATE_SCALE=0.1 makes it short.
library(multicause)
scale <- as.numeric(Sys.getenv("MULTICAUSE_VALIDATE_SCALE", "1"))
helpers <- new.env(parent = asNamespace("multicause"))
for (file in c("helper-gibbs.R", "helper-noisy_or.R")) sys.source(file.path("tests", "testthat", file), helpers)
failed <- 0L
set.seed(1)

held <- function(title, ranks, wanted) {
  p <- apply(ranks, 1, function(r) {
    unit <- (r + stats::runif(length(r))) / 20
    min(1, 2 * min(suppressWarnings(stats::ks.test(unit, "punif")$p.value),
      suppressWarnings(stats::chisq.test(tabulate(r %/% 4 + 1, 5))$p.value)))
  })
  ok <- (min(p) > 1e-2 / length(p)) == wanted
  failed <<- failed + !ok
  cat(sprintf(
    "| %s | %d | %d | %s, %.2g | %s |\n", title, ncol(ranks), length(p), names(p)[which.min(p)], min(p),
    if (ok) "yes" else "NO"
  ))
}

cat("| check | tables | quantities | smallest p | as it should be |\n| --- | --- | --- | --- | --- |\n")
sizes <- list(`8 x 4, k = 1` = c(8, 4, 1), `14 x 6, k = 2` = c(14, 6, 2), `25 x 8, k = 3` = c(25, 8, 3))
n_set <- ceiling(1000 * scale)
for (size in names(sizes)) {
  at <- sizes[[size]]
  for (by in c("none", "site", "both")) {
    ranks <- helpers$nor_gibbs_ranks(at[1], at[2], at[3], by, n_set, thin = 30, warmup = 500)
    if (by == "none") ranks <- ranks[setdiff(rownames(ranks), c("missed", "recorded")), ]
    held(paste(size, by, sep = ", "), ranks, TRUE)
  }
}
effort <- (1:14 - 7.5) / stats::sd(1:14)
held("14 x 5, k = 2, effort", helpers$nor_gibbs_ranks(14, 5, 2, "site", n_set, thin = 30, warmup = 500,
  effort = effort),
  TRUE)

# Mistakes: the sampler's calls with something wrong about them.
sweeps <- get("nor_gibbs_sweeps", asNamespace("multicause"))
wrong <- list(
  `links under another prior` = function(problem, state, n, thin) {
    problem$model$pseudo[3:4] <- problem$model$pseudo[3:4] + 1
    sweeps(problem, state, n, thin)
  },
  `leaks under another prior` = function(problem, state, n, thin) {
    problem$model$pseudo[5L] <- problem$model$pseudo[5L] + 1
    sweeps(problem, state, n, thin)
  },
  `taxa that count each presence twice` = function(problem, state, n, thin) {
    if (is.null(problem$data$visits)) {
      x <- t(problem$data$x)
      problem$data$visits <- list(
        made = structure(2L * !is.na(x), dim = dim(x)), found = structure(2L * (x %in% 1), dim = dim(x))
      )
    }
    sweeps(problem, state, n, thin)
  }
)
for (mistake in names(wrong)) {
  ranks <- helpers$nor_gibbs_ranks(14, 6, 2, "both", ceiling(400 * min(scale * 2, 1)), thin = 10,
    sweep = wrong[[mistake]])
  held(mistake, ranks, FALSE)
}
if (failed) stop(failed, " check(s) failed")
