# Long checks of the sampler of bmf(), about an hour: exact answers, invariance, Geweke's joint test, and mutants of
# the kernel that must fail. MULTICAUSE_VALIDATE_SCALE=0.05 makes it short. Results are kept in bench/bmf.md.

library(multicause)
Sys.setenv(NOT_CRAN = "true")
scale <- as.numeric(Sys.getenv("MULTICAUSE_VALIDATE_SCALE", "1"))
only <- Sys.getenv("MULTICAUSE_VALIDATE_ONLY", "exact invariance geweke mutants")
# Helpers of the tests, and internals of the package, by name.
helpers <- new.env(parent = asNamespace("multicause"))
for (file in c("helper-data.R", "helper-bmf.R", "helper-bmf_invariance.R", "helper-bmf_geweke.R")) {
  sys.source(file.path("tests", "testthat", file), helpers)
}
wanted <- function(part) grepl(part, only, fixed = TRUE)
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
strongest <- function(z, n = 3L) {
  at <- utils::head(order(-abs(z)), n)
  paste(sprintf("%s %.2f", names(z)[at], z[at]), collapse = ", ")
}
failed <- passed <- 0L
judge <- function(ok) {
  if (ok) passed <<- passed + 1L else failed <<- failed + 1L
  if (ok) "yes" else "NO"
}

cat(sprintf("# Validation of the sampler of bmf()\n\n%s, %s; scale %s.\n", format(Sys.Date()), R.version.string, scale))

if (wanted("exact")) {
  sweeps <- ceiling(50000 * scale)
  cat(sprintf(
    "\n## Exact posteriors by enumeration\n\n%d sweeps, batch means of 40 batches; must be |z| < 4.\n\n", sweeps
  ))
  row("case", "moves", "statistics", "largest absolute z", "within")
  row("---", "---", "---", "---", "---")
  runs <- list(
    list(1, "finite", list()), list(1, "finite", list(block = TRUE, multi = TRUE, split_merge = 2)),
    list(2, "finite", list()), list(2, "finite", list(block = TRUE, split_merge = 2)),
    list(3, "finite", list()), list(3, "finite", list(block = TRUE, split_merge = 2)),
    list(4, "finite", list()), list(4, "finite", list(block = TRUE, multi = TRUE)),
    list(1, "infinite", list()), list(1, "infinite", list(block = TRUE, multi = TRUE, split_merge = 2)),
    list(2, "infinite", list()), list(2, "infinite", list(block = TRUE, split_merge = 2))
  )
  for (run in runs) {
    name <- helpers$bmf_golden_cases[run[[1]]]
    z <- do.call(helpers[[paste0("bmf_exact_", run[[2]], "_z")]], c(list(name, sweeps, 10 * run[[1]]), run[[3]]))
    moves <- if (length(run[[3]])) paste(names(run[[3]]), collapse = " + ") else "flips, births, weights"
    row(paste(name, run[[2]]), moves, length(z), sprintf("%.2f", max(abs(z))), judge(max(abs(z)) < 4))
  }
}

if (wanted("invariance")) {
  replicates <- ceiling(20000 * scale)
  cat(sprintf(paste0(
    "\n## Invariance\n\n",
    "State and data drawn together from the model, 4 sweeps, paired differences over %d independent ",
    "replicates; must be |z| < 4.\n\n"
  ), replicates))
  row("setting", "statistics", "largest absolute z", "rms z", "strongest", "within")
  row("---", "---", "---", "---", "---", "---")
  settings <- helpers$bmf_settings()
  for (name in names(settings)) {
    set.seed(20)
    z <- helpers$bmf_invariance(settings[[name]], replicates)
    row(name, length(z), sprintf("%.2f", max(abs(z))), sprintf("%.2f", sqrt(mean(z^2))), strongest(z),
      judge(max(abs(z)) < 4))
  }
}

if (wanted("geweke")) {
  sweeps <- ceiling(100000 * scale) # the slowest statistics have a few hundred effective draws in 20000
  cat(sprintf(paste0(
    "\n## Geweke's joint test\n\n",
    "A chain of %d sweeps, the data drawn anew after each, against independent draws from the ",
    "model; batch means; must be |z| < 4.\n\n"
  ), sweeps))
  row("setting", "statistics", "largest absolute z", "rms z", "strongest", "within")
  row("---", "---", "---", "---", "---", "---")
  settings <- helpers$bmf_settings()
  for (name in names(settings)) {
    set.seed(30)
    z <- helpers$bmf_geweke(settings[[name]], sweeps)
    row(name, length(z), sprintf("%.2f", max(abs(z))), sprintf("%.2f", sqrt(mean(z^2))), strongest(z),
      judge(max(abs(z)) < 4))
  }
}

if (wanted("mutants")) source(file.path("tests", "validate", "mutants", "bmf.R"), local = TRUE)

cat(sprintf("\n= %d passed, %d failed, 0 skipped\n", passed, failed))
quit(status = as.integer(failed > 0))
