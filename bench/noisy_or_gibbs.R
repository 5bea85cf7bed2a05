# noisy_or(estimate = "gibbs") on tables of its own model: how many were missed, its range, and the ranking of the
# zeros, beside posterior modes and which_zeros().
#
#   OPENBLAS_NUM_THREADS=1 Rscript bench/noisy_or_gibbs.R [tables of each size [number of one size]]
#
# Tables are drawn with links Beta(.5, 1.1), leaks Beta(1, 25) and probabilities of recording of sites as the sampler
# has them beforehand, components on with probability .2 to .5. Prints a section of noisy_or.md.
library(multicause)
given <- commandArgs(TRUE)
n_table <- if (length(given)) as.integer(given[1]) else 40L
hush <- function(expr) suppressWarnings(suppressMessages(expr))
area <- function(score, truth) {
  (sum(rank(score)[truth]) - sum(truth) * (sum(truth) + 1) / 2) / (sum(truth) * sum(!truth))
}
drawn_table <- function(n, m, k) {
  links <- matrix(rbeta(k * m, 0.5, 1.1), k)
  on <- matrix(rbinom(n * k, 1, rep(runif(k, 0.2, 0.5), each = n)), n)
  present <- matrix(rbinom(n * m, 1, 1 - exp(on %*% log1p(-links)) * rep(1 - rbeta(m, 1, 25), each = n)), n)
  share <- rgamma(10, 3)
  recorded <- (sample(10, n, TRUE, share) / 10)^2
  list(x = present * matrix(rbinom(n * m, 1, recorded), n), present = present)
}
one <- function(seed, n, m, k) {
  set.seed(seed)
  table <- drawn_table(n, m, k)
  zero <- table$x == 0
  truth <- table$present[zero] == 1
  control <- fit_control(n_start = 5, progress = FALSE)
  modes <- list(
    map = noisy_or_prior(), flat = noisy_or_prior(links = c(1.05, 1.05))
  )
  modes <- lapply(modes, function(prior) {
    hush(noisy_or(table$x, k, missed_by = "site", prior = prior, control = control))
  })
  chains <- mcmc_control(progress = FALSE)
  seconds <- system.time(fit <- hush(noisy_or(table$x, k, missed_by = "site", estimate = "gibbs", control = chains)))
  range <- quantile(fit$trace$missed, c(0.05, 0.95), names = FALSE)
  rhat <- summary(fit)$quantities
  rhat <- rhat[rhat$quantity == "missed", ]
  ranked <- hush(which_zeros(table$x, quick = TRUE))$probability
  c(
    missed = sum(truth), map = modes$map$missed, flat = modes$flat$missed, gibbs = fit$missed, low = range[1],
    high = range[2], rhat = rhat$rhat, ess = rhat$ess_bulk, seconds = sum(seconds[1:2]),
    auc_map = area(predict(modes$map, type = "present")[zero], truth),
    auc_flat = area(predict(modes$flat, type = "present")[zero], truth),
    auc_gibbs = area(predict(fit, type = "present")[zero], truth), auc_which_zeros = area(ranked[zero], truth)
  )
}
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
row(
  "sites x taxa", "k", "map", "flat", "gibbs", "held", "width", "AUC map", "flat", "gibbs", "which_zeros()",
  "R-hat > 1.1", "s"
)
row(paste(rep("---", 13L), collapse = " | "))
sizes <- list(c(60, 15, 2), c(150, 25, 3))
for (size in if (length(given) > 1L) sizes[as.integer(given[2])] else sizes) {
  all <- vapply(seq_len(n_table), one, numeric(13L), size[1], size[2], size[3])
  ratio <- function(part) {
    value <- all[part, ] / all["missed", ]
    sprintf("%.2f (%.2f to %.2f)", median(value), quantile(value, 0.1), quantile(value, 0.9))
  }
  held <- all["low", ] <= all["missed", ] & all["missed", ] <= all["high", ]
  auc <- rowMeans(all[grep("^auc", rownames(all)), ])
  row(
    sprintf("%d x %d", size[1], size[2]), size[3], ratio("map"), ratio("flat"), ratio("gibbs"),
    sprintf("%d of %d", sum(held), n_table), sprintf("%.2f", median((all["high", ] - all["low", ]) / all["missed", ])),
    paste(sprintf("%.3f", auc), collapse = " | "), sum(all["rhat", ] > 1.1), sprintf("%.1f", median(all["seconds", ]))
  )
  cat(sprintf("\nToo small of map %d, of flat %d, of gibbs %d; effective draws of the number missed %.0f (median).\n",
    sum(all["map", ] < all["missed", ]), sum(all["flat", ] < all["missed", ]), sum(all["gibbs", ] < all["missed", ]),
    median(all["ess", ])))
}
