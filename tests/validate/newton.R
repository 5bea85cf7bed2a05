# Newton halves of aspect Bernoulli on many small random tables (missing cells, fixed phantoms, priors, empty rows and
# columns, probabilities at 0 and 1, duplicated components, more components than rows), in the dense form and, with
# columns of small aspects, in the sparse one: no iteration falls by more than rounding, and a half solved to the end is
# the optimum of its concave problem, by the gap of its best vertex.
#   Rscript tests/validate/newton.R [tables = 1000] [halves = 200]
library(multicause)
args <- as.integer(c(commandArgs(TRUE), "1000", "200")[1:2])
if (length(commandArgs(TRUE)) == 1L) args[2L] <- 200L
tests <- if (dir.exists("tests/testthat")) "tests/testthat" else "../testthat"
here <- new.env(parent = asNamespace("multicause"))
sys.source(file.path(tests, "helper-reference.R"), here)
for (part in parse(file.path(tests, "test-aspect_bernoulli_newton.R"))) {
  if (!identical(part[[1L]], as.name("test_that"))) eval(part, here)
}
here$args <- args
local(envir = here, {
  worst <- 0
  for (seed in seq_len(args[1L])) {
    for (form in c("newton", "sparse")) {
      p <- hard_problem(seed, light = form == "sparse")
      for (accelerate in c(FALSE, TRUE)) {
        trace <- run_newton(p$x, p$start, p$fixed, p$pseudo, newton(40L, accelerate, algorithm = form))$outcome$trace
        worst <- max(worst, -diff(c(log_posterior(p, p$start), trace)) / (1 + abs(trace[1L])))
      }
    }
  }
  cat(sprintf("%d tables: the deepest fall of an iteration is %.2g of the objective\n", args[1L], worst))
  gap <- 0
  seeds <- seq_len(args[2L])
  for (seed in seeds) {
    for (form in c("newton", "sparse")) {
      p <- hard_problem(seed, light = form == "sparse")
      for (side in c("membership", "aspects")) {
        scale <- 1 + sum(p$pseudo) * length(p$start[[side]])
        gap <- max(gap, half_gap(p, run_half(p, side, 1000L, form), side) / scale)
      }
    }
  }
  cat(sprintf("%d tables, both halves: the widest gap from the optimum is %.2g nats\n", length(seeds), gap))
  stopifnot(worst < 1e-9, gap < 1e-8)
})
