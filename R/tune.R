# Strength of a prior or ridge chosen by held-out cells.

# The priors tried by prior = "cv": from none to strong, the mean of the Beta prior falling with its strength.
prior_grid <- function(first, second) {
  tried <- list(c(1, 1), c(1.05, 1.5), c(1.2, 2), c(1.2, 4), c(1.5, 6))
  lapply(tried, function(beta) stats::setNames(list(beta, 1), c(first, second)))
}

penalty_grid <- c(0.3, 1, 2, 3, 5, 8)

# Is the prior a request to choose: "cv", or an unnamed list of several? One prior is a named list.
wants_tuning <- function(prior) {
  identical(prior, "cv") || (is.list(prior) && is.null(names(prior)) && length(prior) > 0L)
}

# The value of the argument `name` with the least loss on held-out cells: list(value, cv). Folds are drawn first, so
# that the fit that follows starts from the same random numbers whatever was tried.
tune_by_cells <- function(x, model, k, name, values, args, control) {
  light <- control
  light$n_start <- min(control$n_start, 3L)
  light$keep_starts <- FALSE
  light$n_polish <- 0L
  light$on_interrupt <- "stop"
  grid <- stats::setNames(list(as.list(values)), name)
  cv <- do.call(cross_validate, c(list(x, model, k), args, list(grid = grid, control = light)))
  list(value = values[[cv_choice(cv$results)[["best"]]]], cv = cv)
}

# The prior of a fit with estimate = "map", chosen first where that is asked for: list(value, cv).
choose_prior <- function(prior, estimate, x, model, k, names, args, control) {
  if (estimate == "ml" || !wants_tuning(prior)) {
    return(list(value = prior, cv = NULL))
  }
  values <- if (identical(prior, "cv")) prior_grid(names[1L], names[2L]) else prior
  tune_by_cells(x, model, k, "prior", values, c(list(estimate = estimate), args), control)
}
