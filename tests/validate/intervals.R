# How often 90 % intervals of confint() hold the components that made a table, of samplers and of variational Bayes.
# Tables are drawn with memberships from a Dirichlet(0.5, ...) and components from Beta(0.5, 1) (aspect Bernoulli) or a
# Dirichlet(0.5, ...) (LDA, 60 counts a site); fits know neither, and have their defaults. Components are matched to the
# truth by their distance. Usage: OPENBLAS_NUM_THREADS=1 Rscript tests/validate/intervals.R [tables]   (default 40)
library(multicause)
n_table <- as.integer(c(commandArgs(TRUE), 40)[1])
dirichlet <- function(n, alpha) {
  g <- matrix(rgamma(n * length(alpha), rep(alpha, each = n)), n)
  g / rowSums(g)
}
made <- list(
  aspect_bernoulli = function(n, m, k) {
    truth <- matrix(rbeta(k * m, 0.5, 1), k)
    list(truth = truth, x = matrix(rbinom(n * m, 1, dirichlet(n, rep(0.5, k)) %*% truth), n))
  },
  plsa = function(n, m, k) {
    truth <- dirichlet(k, rep(0.5, m))
    list(truth = truth, x = t(apply(dirichlet(n, rep(0.5, k)) %*% truth, 1, function(p) rmultinom(1, 60, p))))
  }
)
few <- fit_control(progress = FALSE)
chains <- mcmc_control(progress = FALSE)
held <- function(model, estimate, n, m, k) {
  drawn <- made[[model]](n, m, k)
  fit <- suppressWarnings(suppressMessages(
    match.fun(model)(drawn$x, k, estimate = estimate, control = if (estimate == "gibbs") chains else few)
  ))
  part <- c(aspect_bernoulli = "aspects", plsa = "basis")[[model]]
  at <- multicause:::match_components(fit$param[[part]], drawn$truth)
  truth <- drawn$truth
  truth[] <- drawn$truth[order(at), ]
  ends <- confint(fit, level = 0.9)
  ends <- ends[startsWith(rownames(ends), part), ]
  inside <- ends[, 1] <= c(truth) & c(truth) <= ends[, 2]
  c(all = mean(inside), inner = mean(inside[c(truth) > 0.05 & c(truth) < 0.95]))
}
set.seed(20261129)
cat("| model | estimate | table | k | tables | of all | of those from .05 to .95 |\n|---|---|---|---|---|---|---|\n")
for (model in names(made)) {
  for (estimate in c("vb", "gibbs")) {
    for (size in list(c(100, 20, 2), c(100, 20, 4))) {
      each <- replicate(n_table, held(model, estimate, size[1], size[2], size[3]))
      cat(sprintf(
        "| `%s()` | %s | %d x %d | %d | %d | %.2f | %.2f |\n", model, estimate, size[1], size[2], size[3], n_table,
        mean(each[1, ]), mean(each[2, ], na.rm = TRUE)
      ))
    }
  }
}
