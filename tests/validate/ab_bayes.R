# Long checks of aspect_bernoulli(estimate = "gibbs") and "vb", about 20 minutes: exact answers, Geweke's joint test,
# simulation-based calibration, and held-out cells by ml, map and vb. MULTICAUSE_VALIDATE_SCALE=0.05 makes it short,
# MULTICAUSE_VALIDATE_ONLY names the parts wanted. Results are kept in bench/bayes.md.

library(multicause)
Sys.setenv(NOT_CRAN = "true")
scale <- as.numeric(Sys.getenv("MULTICAUSE_VALIDATE_SCALE", "1"))
only <- Sys.getenv("MULTICAUSE_VALIDATE_ONLY", "exact geweke sbc held_out")
# Helpers of the tests, and internals of the package, by name.
helpers <- new.env(parent = asNamespace("multicause"))
for (file in c("helper-data.R", "helper-gibbs.R")) sys.source(file.path("tests", "testthat", file), helpers)
wanted <- function(part) grepl(part, only, fixed = TRUE)
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
failed <- passed <- 0L
judge <- function(ok) {
  if (ok) passed <<- passed + 1L else failed <<- failed + 1L
  if (ok) "yes" else "NO"
}
weak <- list(aspects = c(0.5, 0.5), membership = 0.5)
uneven <- list(aspects = c(0.8, 1.3), membership = 0.6)
flat <- list(aspects = c(1, 1), membership = 1)

cat("# Bayesian aspect Bernoulli: validation\n\n")
cat(sprintf("%s, %s; scale %s.\n", format(Sys.Date()), R.version.string, scale))

if (wanted("exact")) {
  sweeps <- ceiling(2e5 * scale)
  cat(sprintf(paste0(
    "\n## Exact posteriors by enumeration over the causes of all cells\n\n%d sweeps against as many independent draws ",
    "from the exact posterior; batch means of 40 batches; must be |z| < 4.\n\n"
  ), sweeps))
  row("table", "k", "phantom", "statistics", "largest absolute z", "rms z", "within")
  row("---", "---", "---", "---", "---", "---", "---")
  x <- matrix(c(1, 0, 1, 0, 0, 1), 3)
  gap <- replace(x, 5, NA)
  wide <- matrix(c(1, 0, 0, 1, 1, 1, 0, 0), 2)
  cases <- list(
    list("3 x 2", x, 2, "free", weak), list("3 x 2, one missing", gap, 2, "free", uneven),
    list("2 x 4", wide, 2, "free", uneven), list("3 x 2, one missing", gap, 2, "white", uneven),
    list("3 x 2", x, 3, "both", flat), list("2 x 4", wide, 2, "black", weak), list("3 x 2", x, 3, "white", weak)
  )
  set.seed(1)
  for (case in cases) {
    z <- helpers$gibbs_exact_z(case[[2]], case[[3]], case[[5]], case[[4]], sweeps, sweeps)$z
    row(
      case[[1]], case[[3]], case[[4]], length(z), sprintf("%.2f", max(abs(z))), sprintf("%.2f", sqrt(mean(z^2))),
      judge(max(abs(z)) < 4)
    )
  }
}

if (wanted("geweke")) {
  sweeps <- ceiling(1e5 * scale)
  cat(sprintf(paste0(
    "\n## Geweke's joint test\n\n%d sweeps, each followed by fresh data, against as many draws from the model; batch ",
    "means of 40 batches; must be |z| < 4.\n\n"
  ), sweeps))
  row("table", "k", "phantom", "statistics", "largest absolute z", "rms z", "within")
  row("---", "---", "---", "---", "---", "---", "---")
  set.seed(2)
  for (case in list(
    list(4, 3, 2, "free", weak), list(6, 5, 3, "white", uneven), list(3, 6, 3, "black", flat),
    list(5, 5, 4, "both", weak)
  )) {
    z <- helpers$gibbs_geweke_z(case[[1]], case[[2]], case[[3]], case[[5]], case[[4]], sweeps)
    row(
      sprintf("%d x %d", case[[1]], case[[2]]), case[[3]], case[[4]], length(z), sprintf("%.2f", max(abs(z))),
      sprintf("%.2f", sqrt(mean(z^2))), judge(max(abs(z)) < 4)
    )
  }
}

if (wanted("sbc")) {
  sets <- ceiling(2000 * scale)
  cat(sprintf(paste0(
    "\n## Simulation-based calibration\n\n%d data sets drawn with their parameters from the prior, chains from ",
    "another draw of the prior, rank of the truth among 19 draws 30 sweeps apart after 500; chi-squared over 5 bins; ",
    "the least p value must be above 0.001 over the number of statistics.\n\n"
  ), sets))
  row("table", "k", "phantom", "statistics", "least p", "share below 0.05", "within")
  row("---", "---", "---", "---", "---", "---", "---")
  set.seed(3)
  for (case in list(list(12, 6, 2, "free", weak), list(20, 10, 3, "white", uneven), list(15, 8, 3, "free", flat))) {
    ranks <- helpers$gibbs_sbc_ranks(
      case[[1]], case[[2]], case[[3]], case[[5]], case[[4]], sets, thin = 30, warmup = 500
    )
    p <- helpers$rank_p(ranks, 19)
    row(
      sprintf("%d x %d", case[[1]], case[[2]]), case[[3]], case[[4]], length(p), format(min(p), digits = 2),
      sprintf("%.3f", mean(p < 0.05)), judge(min(p) > 0.001 / length(p))
    )
  }
}

if (wanted("held_out")) {
  folds <- max(2, ceiling(10 * scale))
  # Three contents and a white phantom, as in calibration.R; and four contents without one.
  simulate_table <- function(n, m, k, phantom) {
    s <- matrix(rexp(n * k)^2, n)
    share <- if (phantom) rbeta(n, 1, 1.5) else rep(0, n)
    a <- matrix(rbeta(k * m, 0.3, 0.9), k)
    matrix(rbinom(n * m, 1, ((1 - share) * s / rowSums(s)) %*% a), n)
  }
  set.seed(4)
  tables <- list(
    "simulated, 3 + phantom (300 x 80)" = simulate_table(300, 80, 3, TRUE),
    "simulated, 4 contents (200 x 60)" = simulate_table(200, 60, 4, FALSE)
  )
  now <- tryCatch(helpers$now_2003("g10s2")$x, condition = function(e) NULL)
  if (!is.null(now)) tables <- c(list("g10s2 (501 x 139)" = now), tables)
  cat(sprintf(paste0(
    "\n## Held-out cells\n\n%d folds, the same for all; mean loss in nats a cell (standard error over folds), ",
    "probabilities kept within [1e-6, 1 - 1e-6]. Default priors. Best of 2 starts, 300 iterations at most.\n\n"
  ), folds))
  row("table", "k", "ml", "map", "vb", "better than ml")
  row("---", "---", "---", "---", "---", "---")
  quick <- fit_control(
    n_start = 2, max_iter = 300, tol = 1e-7, screen = 50, n_finish = 1, n_polish = 0, progress = FALSE
  )
  for (name in names(tables)) {
    set.seed(5)
    cv <- suppressWarnings(cross_validate(
      tables[[name]], 2:10, aspect_bernoulli, grid = list(estimate = c("ml", "map", "vb")), folds = folds,
      control = quick
    ))$results
    for (k in 2:10) {
      at <- cv[cv$k == k, ]
      at <- at[match(c("ml", "map", "vb"), at$estimate), ]
      row(
        name, k, paste(sprintf("%.4f (%.4f)", at$loss, at$se), collapse = " | "),
        judge(min(at$loss[-1]) <= at$loss[1])
      )
    }
  }
}

cat(sprintf("\n%d of %d within.\n", passed, passed + failed))
if (failed > 0) quit(status = 1)
