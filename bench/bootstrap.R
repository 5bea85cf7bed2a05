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

# Profiles beside percentiles, on the same tables; a second kind of table has probabilities of 0.02 and 0.9, so that
# many shares are 0 by maximum likelihood.
cat("\n| probabilities | sites x taxa | tables | estimate | percentiles | profiles |\n", strrep("| --- ", 6), "|\n",
  sep = "")
sharp <- rbind(rep(c(0.02, 0.9), 5), rep(c(0.9, 0.02), 5))
for (truth in list(prototypes, sharp)) {
  prototypes <- truth
  for (estimate in c("map", "ml")) {
    hit <- vapply(seq_len(20L), function(table) {
      set.seed(50000 + table)
      fit <- bernoulli_mixture(drawn(50L), 2, estimate = estimate, control = few)
      at <- inside$match_components(prototypes, fit$param$prototypes)
      true <- inside$mixture_numbers(list(weights = weights[at], prototypes = prototypes[at, ]))
      held <- function(ends) mean(ends[, 1L] <= true & true <= ends[, 2L])
      c(held(confint(fit, nsim = 99)), held(confint(fit, method = "profile")))
    }, numeric(2L))
    cat(sprintf("| %s | 50 x 10 | %d | %s | %s | %s |\n", paste(sort(unique(c(truth))), collapse = ", "), ncol(hit),
      estimate, share(hit[1L, ]), share(hit[2L, ])))
  }
}

# The slope of effort over bootstrap_draws(): a phantom's share with log-odds 1.5 - 0.8 effort, two groups of sites.
cat("\n| sites x taxa | tables | estimate | slope, -0.8 is right | in 90 % of percentiles |\n")
cat(strrep("| --- ", 5), "|\n", sep = "")
for (n in c(60L, 200L)) {
  for (estimate in c("map", "ml")) {
    found <- vapply(8000 + 1:24, function(seed) {
      set.seed(seed)
      effort <- runif(n, 0, 4)
      p <- rbind(rep(c(0.9, 0.1), 10), rep(c(0.2, 0.8), 10))[sample(2, n, TRUE), ]
      x <- matrix(rbinom(n * 20, 1, p * (1 - plogis(1.5 - 0.8 * effort))), n)
      fit <- aspect_bernoulli(x, 3, estimate = estimate, effort = effort, control = fit_control(n_start = 3))
      slope <- function(fit) fit$effort$coefficients[["slope"]]
      ends <- quantile(vapply(bootstrap_draws(fit, 99), slope, 0), c(0.05, 0.95))
      c(slope(fit), ends[1] <= -0.8 && -0.8 <= ends[2])
    }, numeric(2L))
    cat(sprintf("| %d x 20 | %d | %s | %.2f (s.d. %.2f) | %.0f |\n", n, ncol(found), estimate, mean(found[1L, ]),
      sd(found[1L, ]), sum(found[2L, ])))
  }
}
