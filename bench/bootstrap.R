# The level of anova() of Bernoulli mixtures, and the coverage of their bootstrap intervals, on drawn tables of two
# groups. Results are kept in bench/bootstrap.md.
library(multicause)
few <- fit_control(n_start = 4, progress = FALSE)
weights <- c(0.6, 0.4)
prototypes <- rbind(rep(c(0.2, 0.7), 5), rep(c(0.8, 0.3), 5))
drawn <- function(n) {
  group <- sample(2, n, TRUE, weights)
  matrix(rbinom(n * 10, 1, prototypes[group, ]), n)
}
share <- function(x) sprintf("%.1f %% (s.e. %.1f)", 100 * mean(x), 100 * sd(x) / sqrt(length(x)))

cat("| sites x taxa | tables | p <= 0.05 | p <= 0.10 | mean p |\n| --- | --- | --- | --- | --- |\n")
for (n in c(60L, 200L)) {
  set.seed(n)
  p <- replicate(100L, {
    x <- drawn(n)
    fits <- lapply(2:3, function(k) bernoulli_mixture(x, k, estimate = "ml", control = few))
    anova(fits[[1L]], fits[[2L]], nsim = 39)[2L, "Pr(>LR)"]
  })
  cat(sprintf("| %d x 10 | %d | %s | %s | %.3f |\n", n, length(p), share(p <= 0.05), share(p <= 0.1), mean(p)))
}

cat("\n| sites x taxa | tables | estimate | coverage of 95 % |\n| --- | --- | --- | --- |\n")
inside <- asNamespace("multicause")
for (n in c(50L, 100L, 400L)) {
  for (estimate in c("map", "ml")) {
    set.seed(n)
    hit <- replicate(40L, {
      fit <- bernoulli_mixture(drawn(n), 2, estimate = estimate, control = few)
      at <- inside$match_components(prototypes, fit$param$prototypes)
      true <- inside$mixture_numbers(list(weights = weights[at], prototypes = prototypes[at, ]))
      ends <- confint(fit, nsim = 99)
      mean(ends[, 1L] <= true & true <= ends[, 2L])
    })
    cat(sprintf("| %d x 10 | %d | %s | %s |\n", n, length(hit), estimate, share(hit)))
  }
}
