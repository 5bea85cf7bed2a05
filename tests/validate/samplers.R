# Calibration by simulation of the five samplers at three sizes, by calibration() as users call it, and mistakes that it
# must catch: truths from another prior, data of another model, taxa in another order.
# MULTICAUSE_VALIDATE_SCALE=0.1 makes it short. A page for bench/samplers.md is printed.
library(multicause)
scale <- as.numeric(Sys.getenv("MULTICAUSE_VALIDATE_SCALE", "1"))
n_table <- ceiling(300 * scale)
chains <- function(...) {
  mcmc_control(chains = 2, warmup = 300, draws = 600, thin = 4, keep = 20, n_start = 1, progress = FALSE, ...)
}
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
binary <- function(n, m) matrix(rbinom(n * m, 1, 0.4), n)
models <- list(
  `aspect_bernoulli()` = function(n, m, k) {
    aspect_bernoulli(binary(n, m), k + 1, phantom = "white", estimate = "gibbs", control = chains())
  },
  `plsa()` = function(n, m, k) {
    prior <- list(membership = 0.5, basis = 0.5)
    plsa(matrix(rpois(n * m, 2) + 1, n), k, prior = prior, estimate = "gibbs", control = chains())
  },
  `noisy_or(missed_by =)` = function(n, m, k) {
    noisy_or(binary(n, m), k, missed_by = "both", estimate = "gibbs", control = chains())
  },
  `bmf()` = function(n, m, k) bmf(binary(n, m), family = "bernoulli", control = chains(n_reheat = 1)),
  `visits_bernoulli()` = function(n, m, k) {
    visits_bernoulli(list(binary(n, m), binary(n, m)), k = k, estimate = "gibbs", control = chains())
  }
)
sizes <- list(`8 x 4` = c(8, 4, 1), `14 x 6` = c(14, 6, 2), `25 x 8` = c(25, 8, 3))
failed <- 0L

report <- function(model, case, result, wanted) {
  p <- result$table$p
  worst <- which.min(p)
  ok <- (p[worst] > 0.01 / length(p)) == wanted
  failed <<- failed + !ok
  cat(sprintf(
    "| `%s` | %s | %d | %d | %s, %.2g | %s |\n", model, case, nrow(result$ranks), length(p),
    result$table$quantity[worst], p[worst], if (ok) "yes" else "NO"
  ))
}

# Mistakes are methods for a class of their own, before that of the fit.
as_wrong <- function(fit, kind) structure(fit, class = c(kind, class(fit)))
space <- asNamespace("multicause")
right_draw <- function(fit) eval(quote(prior_draw(fit)), list(fit = fit), space)
plain <- function(fit, kind) structure(fit, class = setdiff(class(fit), kind))
registerS3method("prior_draw", "other_prior", function(fit) {
  fit <- plain(fit, "other_prior")
  if (inherits(fit, "bmf")) fit$prior$weight_precision <- c(shape = 8, rate = 1)
  if (inherits(fit, "noisy_or")) fit$model$pseudo[3L] <- fit$model$pseudo[3L] + 2
  if (inherits(fit, "plsa")) fit$prior$basis <- 4 * fit$prior$basis
  if (inherits(fit, "aspect_bernoulli")) fit$prior$aspects <- fit$prior$aspects + c(1, 0)
  # The scale of this prior is learned, so a small change of it is none.
  if (inherits(fit, "visits_bernoulli")) fit$prior$aspects <- fit$prior$aspects * c(10, 1)
  right_draw(fit)
}, space)
registerS3method("prior_draw", "other_data", function(fit) {
  as_wrong(right_draw(plain(fit, "other_data")), "other_data")
}, space)
# A tenth of the cells is what the model does not draw.
registerS3method("prior_draw", "other_order", function(fit) {
  as_wrong(right_draw(plain(fit, "other_order")), "other_order")
}, space)
registerS3method("simulate", "other_order", function(object, nsim = 1, seed = NULL, ...) {
  x <- stats::simulate(plain(object, "other_order"), nsim, seed)[[1L]]
  x[] <- if (length(dim(x)) == 3L) x[, rev(seq_len(ncol(x))), ] else x[, rev(seq_len(ncol(x)))]
  list(x)
}, asNamespace("stats"))
registerS3method("simulate", "other_data", function(object, nsim = 1, seed = NULL, ...) {
  x <- stats::simulate(plain(object, "other_data"), nsim, seed)[[1L]]
  at <- which(!is.na(x) & stats::runif(length(x)) < 0.15)
  x[at] <- if (max(x, na.rm = TRUE) > 1) x[rev(at)] else 1L
  list(x)
}, asNamespace("stats"))

cat("| sampler | case | tables | quantities | smallest p | as it should be |\n| --- | --- | --- | --- | --- | --- |\n")
asked <- commandArgs(TRUE) # names of samplers; none: all
for (model in if (length(asked)) asked else names(models)) {
  for (size in names(sizes)) {
    set.seed(1)
    at <- sizes[[size]]
    fit <- quiet(models[[model]](at[1], at[2], at[3]))
    report(model, size, calibration(fit, n_table), TRUE)
  }
  fit <- quiet(models[[model]](14, 6, 2))
  report(model, "truths from another prior", calibration(as_wrong(fit, "other_prior"), n_table), FALSE)
  report(model, "data of another model", calibration(as_wrong(fit, "other_data"), n_table), FALSE)
  report(model, "taxa in another order", calibration(as_wrong(fit, "other_order"), n_table), FALSE)
}
if (failed) stop(failed, " check(s) not as they should be")
