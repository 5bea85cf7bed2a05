# Initial values of a noisy-OR model. All links equal would be a saddle from which sources never part, so each source
# starts from a row of the data. Exact zeros could not move.

nor_draw <- function(data, distinct, k, model, control) {
  n <- nrow(data$x)
  m <- ncol(data$x)
  density <- max(data_density(data), 1 / (n * m))
  means <- (data$margins$column_sum + density) / (data$margins$column_observed + 1)
  rows <- nor_start_rows(data, k, means)
  noise <- matrix(stats::runif(k * m), k, m)
  links <- 0.5 * rows + (0.2 + 0.6 * noise) * 0.5 * matrix(means, k, m, byrow = TRUE)
  param <- list(
    prior = rep(min(0.25, 2 / k), k), links = pmin(links, 0.95), leak = pmin(pmax(0.25 * means, 0.02 * density), 0.5)
  )
  if (!is.null(model$mask)) param$links <- param$links * model$mask
  if (model$inference == "variational") param <- nor_warm(param, distinct, model, control)
  param
}

# k different rows with at least one 1, where there are that many; unknown cells get the mean of their column.
nor_start_rows <- function(data, k, means) {
  with_one <- which(data$margins$row_sum > 0)
  if (!length(with_one)) with_one <- seq_len(nrow(data$x))
  at <- with_one[sample.int(length(with_one), k, replace = k > length(with_one))]
  rows <- dense_rows(data$x, at)
  means <- matrix(means, k, ncol(rows), byrow = TRUE)
  rows[is.na(rows)] <- means[is.na(rows)]
  rows
}

nor_warm_passes <- 20L

# The bound's own starts lead to poor maxima: start where a few exact or truncated passes end.
nor_warm <- function(param, distinct, model, control) {
  model$inference <- nor_posterior_kind("variational", length(param$prior))
  control$max_pass <- nor_warm_passes
  warm <- nor_run(distinct, model, param, control)
  check_outcome(warm$outcome)
  param <- nor_take_sources(warm$param, seq_along(param$prior))
  param$q <- nor_posterior_q(param, distinct, model)
  param$hidden <- nor_hidden_q(param)
  param
}

# A solution's commonest fault is one source for the union of two, and another that is idle: the least useful source
# (or, to try others as well, a random one) starts again from a row of the data.
nor_shake <- function(param, data, model) {
  k <- length(param$prior)
  if (k == 1L) {
    return(nor_take_sources(param, 1L))
  }
  useful <- param$prior * rowSums(param$links)
  c <- if (stats::runif(1L) < 0.5) which.min(useful) else sample.int(k, 1L)
  density <- max(data_density(data), 1 / length(data$x))
  means <- (data$margins$column_sum + density) / (data$margins$column_observed + 1)
  row <- nor_start_rows(data, 1L, means)
  links <- 0.5 * row + (0.2 + 0.6 * stats::runif(ncol(row))) * 0.5 * means
  if (!is.null(model$mask)) links <- links * model$mask[c, ]
  param <- nor_take_sources(param, seq_len(k))
  param$links[c, ] <- pmin(links, 0.95)
  param$prior[c] <- min(0.25, 2 / k)
  param
}
