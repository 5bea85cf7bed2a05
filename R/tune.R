# Strength of a prior or ridge chosen by held-out cells.

# The priors tried by prior = "cv": from none to strong, the mean of the Beta prior falling with its strength.
prior_grid <- function(first, second) {
  tried <- list(c(1, 1), c(1.05, 1.5), c(1.2, 2), c(1.2, 4), c(1.5, 6))
  lapply(tried, function(beta) stats::setNames(list(beta, 1), c(first, second)))
}

penalty_grid <- c(0.3, 1, 2, 3, 5, 8)

# Is the argument a request to choose: "cv", or several values? Priors are lists, so several of them are an unnamed list.
wants_tuning <- function(value) {
  identical(value, "cv") || (is.numeric(value) && length(value) > 1L) ||
    (is.list(value) && is.null(names(value)) && length(value) > 0L)
}

# The value of the argument `name` with the least loss on held-out cells: list(value, cv). Folds are drawn first, so that
# the fit that follows starts from the same random numbers whatever was tried.
tune_by_cells <- function(x, model, k, name, values, args, control) {
  light <- control
  light$n_start <- min(control$n_start, 3L)
  light$keep_starts <- FALSE
  light$n_polish <- 0L
  grid <- stats::setNames(list(as.list(values)), name)
  cv <- do.call(cross_validate, c(list(x, model, k), args, list(grid = grid, control = light)))
  list(value = values[[cv_choice(cv$results)[["best"]]]], cv = cv)
}
