# Chooses a setting of a model by its loss on held-out cells.

penalty_grid <- c(0.3, 1, 2, 3, 5, 8)

# Tests whether the prior is to be chosen: "cv", or an unnamed list of several. One prior is a named list.
wants_tuning <- function(prior) {
  identical(prior, "cv") || (is.list(prior) && is.null(names(prior)) && length(prior) > 0L)
}

# Returns the prior of a fit, chosen by tune() among several: list(value, cv). check() refuses an invalid prior; `grid`
# holds the priors that "cv" tries.
choose_prior <- function(prior, grid, check, tune) {
  if (!wants_tuning(prior)) {
    return(list(value = prior, cv = NULL))
  }
  tried <- if (identical(prior, "cv")) grid else prior
  lapply(tried, check)
  tune(tried)
}

# Priors for prior = "cv", from none to strong, the mean of the Beta prior decreasing with its strength. `second`: the
# Dirichlet's parameter in each of them.
prior_grid <- function(names, second = 1) {
  tried <- list(c(1, 1), c(1.05, 1.5), c(1.2, 2), c(1.2, 4), c(1.2, 4), c(1.5, 6))
  unique(Map(function(beta, other) stats::setNames(list(beta, other), names), tried, rep_len(second, length(tried))))
}

# Returns the least loss, and the least k whose loss is within one standard error of it.
cv_choice <- function(results) {
  best <- which.min(results$loss)
  within <- which(results$loss <= results$loss[best] + max(results$se[best], 0, na.rm = TRUE))
  c(best = best, one_se = within[which.min(results$k[within])])
}

# Chooses the value of the argument `name` with the least loss on held-out cells: list(value, cv). Folds are drawn
# first, so that the fit that follows starts from the same random numbers whatever was tried.
tune_by_cells <- function(x, model, k, name, values, args, control) {
  light <- control
  light$n_start <- min(control$n_start, 3L)
  light$keep_starts <- FALSE
  light$n_polish <- 0L
  light$on_interrupt <- "stop"
  grid <- stats::setNames(list(as.list(values)), name)
  settings <- make_settings(list(model = model), k, args, check_grid(grid))
  cv <- validate_settings(open_table(x), settings, "cells", 5, 1, 1e-6, check_control(light, for_many = TRUE))
  list(value = values[[cv_choice(cv$results)[["best"]]]], cv = cv)
}
