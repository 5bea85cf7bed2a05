# Precomputes what vignettes/articles/overlapping-groups.Rmd shows: bmf() on the early tetrapods, and held-out cells
# against the aspect Bernoulli model. About two minutes on one core; run from the package's folder, writes
# vignettes/articles/overlapping-groups.rds.

library(multicause)
x <- early_tetrapods$x

# A tenth of the cells is hidden, in rows and columns where something is left.
set.seed(1)
hidden <- sort(sample(length(x), round(0.1 * length(x))))
masked <- replace(x, hidden, NA)
control <- mcmc_control(chains = 2, warmup = 200, draws = 300, n_start = 4, n_reheat = 4, keep = 50, progress = FALSE)
quiet <- function(expr) {
  withCallingHandlers(expr, multicause_chains_disagree = function(w) invokeRestart("muffleWarning"),
    multicause_message = function(m) invokeRestart("muffleMessage"))
}

# Mean log-score and area under the curve of hidden cells.
score <- function(p) {
  p <- pmin(pmax(p[hidden], 1e-4), 1 - 1e-4)
  y <- x[hidden]
  ranks <- rank(p)
  auc <- (sum(ranks[y == 1]) - sum(y) * (sum(y) + 1) / 2) / (sum(y) * sum(1 - y))
  c(log_score = mean(y * log(p) + (1 - y) * log(1 - p)), auc = auc)
}

set.seed(2)
held_out <- quiet(bmf(masked, family = "bernoulli", control = control))
scores <- list("bmf()" = score(fitted(held_out)))
for (k in c(2, 4, 6, 8, 12)) {
  set.seed(3)
  fit <- quiet(aspect_bernoulli(
    masked, k = k, prior = list(aspects = c(1.2, 2), membership = 1), control = fit_control(progress = FALSE)
  ))
  scores[[sprintf("aspect_bernoulli(k = %d, \"map\")", k)]] <- score(fitted(fit))
}
rates <- outer(rowMeans(masked, na.rm = TRUE), colMeans(masked, na.rm = TRUE)) / mean(masked, na.rm = TRUE)
scores[["rows and columns alone"]] <- score(rates)

set.seed(4)
fit <- quiet(bmf(x, family = "bernoulli", control = control))
fit$kept <- lapply(fit$kept, function(chain) chain[seq(1, length(chain), length.out = 10)])
saveRDS(
  list(fit = fit, held_out = do.call(rbind, scores), shared = round(cooccurrence(fit, "taxon"), 3)),
  file.path("vignettes", "articles", "overlapping-groups.rds"), compress = "xz"
)
print(do.call(rbind, scores))
print(fit)
print(file.size(file.path("vignettes", "articles", "overlapping-groups.rds")))
