# One chain of bmf(): starts, warm-up, draws, in steps that can be saved and resumed.

bmf_power_low <- 0.05 # of the likelihood, where annealing begins
bmf_settle <- 30L # sweeps with the number of features free, before starts are compared
bmf_steady <- 50L # sweeps of warm-up with the concentrations held
bmf_segment <- 25L # sweeps of warm-up between two looks
bmf_reheat_power <- c(0.05, 0.1, 0.2, 0.4)
bmf_reheat_more <- 2L # features that a reheat adds
bmf_group_power <- c(0.2, 1, 0.5) # of the likelihood, where annealing from groups begins

# What all chains share: data, model, prior, settings.
bmf_problem <- function(data, family, k, l, fixed, prior, control) {
  prior <- bmf_scale_prior(prior, family, data)
  n_fixed <- vapply(fixed, ncol, 0L)
  n_cell <- as.double(nrow(data$x)) * ncol(data$x)
  fewer <- function(most) max(2L, min(most, as.integer(most * sqrt(1e5 / n_cell))))
  if (is.null(control$n_start)) control$n_start <- fewer(8L)
  if (is.null(control$n_reheat)) control$n_reheat <- fewer(12L)
  problem <- list(
    x = data$x, view = data$view, transposed = data$transposed, dim = dim(data$x), family = family, size = c(k, l),
    fixed = fixed, n_fixed = n_fixed, prior = prior, model = bmf_kernel_model(family, prior, k, l, n_fixed),
    control = control, probe = probe_cells(data$x)
  )
  structure(problem, class = "bmf_problem")
}

# Calls the kernel from a state.
#   heat     of starts and warm-up: list(power, size, hold): powers of the likelihood, a sweep each; other numbers of
#            features than the model's; are concentrations held?
#   record   what is kept of the sweeps: list(thin, best_joint): a draw every so many; with the latter also the mean of
#            draws, and the best state if it is better than that
bmf_sweeps <- function(problem, state, n_sweep, heat = list(), record = list(), on_tick = NULL) {
  model <- problem$model
  model$infinite <- is.infinite(if (is.null(heat$size)) problem$size else heat$size)
  if (isTRUE(heat$hold)) model$learned[1:2] <- FALSE
  control <- problem$control
  wanted <- !is.null(record$best_joint)
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(if (is.null(record$thin)) n_sweep else record$thin),
    power = heat$power, block = "block" %in% control$moves, multi = "multi" %in% control$moves,
    split_merge = if ("split_merge" %in% control$moves) control$tries else 0L,
    collapsed = "collapsed" %in% control$moves && is.null(heat$power), probe = problem$probe, want_mean = wanted,
    want_best = wanted, best_joint = if (wanted) record$best_joint else -Inf, n_threads = control$n_threads,
    on_tick = on_tick
  )
  .Call(mc_c_bmf_run, problem$view, problem$transposed, model, state, plan)
}

# Features of one side: the fixed ones and k of a coin's.
bmf_random_features <- function(fixed, k, probability = 0.5) {
  cbind(fixed, as_raw_matrix(matrix(stats::runif(nrow(fixed) * k) < probability, nrow(fixed), k)))
}

bmf_random_weights <- function(problem, n_row, n_column, hyper) {
  draws <- if (problem$family == "poisson") {
    stats::rgamma(n_row * n_column, hyper[6L], hyper[4L])
  } else {
    stats::rnorm(n_row * n_column, hyper[3L], 1 / sqrt(hyper[4L]))
  }
  matrix(draws, n_row, n_column)
}

# A state with so many free features; concentrations at 1 where they are learned.
bmf_random_state <- function(problem, k, l, probability = 0.5) {
  hyper <- unname(bmf_first_hyper(problem$prior))
  hyper[1:2][problem$model$learned[1:2]] <- 1
  rows <- bmf_random_features(problem$fixed$rows, k, probability)
  columns <- bmf_random_features(problem$fixed$columns, l, probability)
  list(rows = rows, columns = columns, weights = bmf_random_weights(problem, ncol(rows), ncol(columns), hyper),
    hyper = hyper)
}

# Anneals from a state with a finite number of features, then frees that number.
bmf_anneal <- function(problem, state, low, n_sweep, on_tick) {
  size <- c(ncol(state$rows), ncol(state$columns)) - problem$n_fixed
  ramp <- exp(seq(log(low), 0, length.out = n_sweep))
  out <- bmf_sweeps(problem, state, n_sweep, list(power = ramp, size = size, hold = TRUE), on_tick = on_tick)
  if (out$stopped) {
    return(out)
  }
  bmf_sweeps(problem, out$state, bmf_settle, list(hold = TRUE), list(thin = bmf_settle %/% 3L), on_tick)
}

# Every other start is of random features, cooled down from far up; the others begin with groups, less hot.
bmf_first_start <- function(problem, at, on_tick) {
  features <- problem$control$start_features
  size <- ifelse(is.finite(problem$size), problem$size, features[sample.int(length(features), 2L, TRUE)])
  random <- at %% 2L == 0L || any(size == 0)
  state <- bmf_random_state(problem, size[1L], size[2L])
  if (!random) state <- bmf_group_state(problem, state, size)
  low <- if (random) bmf_power_low else bmf_group_power[1L + (at %/% 2L) %% length(bmf_group_power)]
  bmf_anneal(problem, state, low, problem$control$start_sweeps, on_tick)
}

# Features of a random state become groups of like rows and of like columns, and the weights what these expect of cells,
# on the scale of the linear predictor.
bmf_group_state <- function(problem, state, size) {
  cells <- bmf_filled_cells(problem)
  state$rows <- bmf_group_features(problem$fixed$rows, cells, size[1L])
  state$columns <- bmf_group_features(problem$fixed$columns, t(cells), size[2L])
  left <- as_number_matrix(state$rows)
  right <- as_number_matrix(state$columns)
  if (problem$family == "bernoulli") cells <- 4 * cells - 2 # the logit at 1/2, in its linear part
  inverse <- function(features) solve(crossprod(features) + diag(0.5, ncol(features)))
  state$weights <- inverse(left) %*% (t(left) %*% cells %*% right) %*% inverse(right)
  if (problem$family == "poisson") state$weights <- pmax(state$weights, 0.01 * max(mean(cells), 1e-3))
  state
}

# Missing cells at what rows and columns alone would have there.
bmf_filled_cells <- function(problem) {
  x <- as.matrix(problem$x)
  missing <- is.na(x)
  if (!any(missing)) {
    return(x)
  }
  means <- function(by) ifelse(is.finite(by), by, 0)
  additive <- outer(means(rowMeans(x, na.rm = TRUE)), means(colMeans(x, na.rm = TRUE)), `+`) -
    means(mean(x, na.rm = TRUE))
  x[missing] <- additive[missing]
  x
}

# The fixed features, and k of like items: each with the nearest of k items, then with the nearest mean.
bmf_group_features <- function(fixed, items, k) {
  centres <- items[sample.int(nrow(items), min(k, nrow(items))), , drop = FALSE]
  for (pass in 1:4) {
    nearness <- 2 * tcrossprod(items, centres) - rep(rowSums(centres^2), each = nrow(items))
    group <- max.col(nearness, "first")
    centres <- rowsum(items, group) / tabulate(group)[sort(unique(group))]
  }
  on <- outer(group, seq_len(k), `==`)
  cbind(fixed, as_raw_matrix(on + 0))
}

# Heats the best start up, with a few more features to spare.
bmf_reheat <- function(problem, state, at, on_tick) {
  more <- ifelse(is.finite(problem$size), 0L, bmf_reheat_more)
  k <- ncol(state$rows)
  l <- ncol(state$columns)
  state$rows <- bmf_random_features(state$rows, more[1L], 0)
  state$columns <- bmf_random_features(state$columns, more[2L], 0)
  weights <- bmf_random_weights(problem, k + more[1L], l + more[2L], state$hyper)
  weights[seq_len(k), seq_len(l)] <- state$weights
  state$weights <- weights
  low <- bmf_reheat_power[1L + at %% length(bmf_reheat_power)]
  bmf_anneal(problem, state, low, ceiling(0.6 * problem$control$start_sweeps), on_tick)
}

new_job.bmf_problem <- function(problem, stream, state = NULL) {
  list(
    stream = stream, phase = if (is.null(state)) "start" else "warmup", at = 0L, state = state, start_joint = -Inf,
    starts = NULL, n_warm = 0L, n_draw = 0L, note = NULL, mean = NULL, kept = list(), best = NULL, best_joint = -Inf,
    stopped = FALSE, sweeps = 0
  )
}

step_job.bmf_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = bmf_step_start(job, problem, on_tick),
    warmup = warm_up(job, problem$control, bmf_segment, function(job, n) {
      bmf_sweeps(problem, job$state, n, list(hold = job$n_warm < bmf_steady), on_tick = on_tick)
    }),
    draws = bmf_step_draws(job, problem, on_tick)
  )
}

bmf_step_start <- function(job, problem, on_tick) {
  control <- problem$control
  if (control$init == "prior") {
    size <- ifelse(is.finite(problem$size), problem$size, 1L + stats::rpois(2L, log(problem$dim + 1)))
    job$state <- bmf_random_state(problem, size[1L], size[2L])
    job$phase <- "warmup"
    return(job)
  }
  job$at <- job$at + 1L
  first <- job$at <= control$n_start
  out <- if (first) bmf_first_start(problem, job$at, on_tick) else bmf_reheat(problem, job$state, job$at, on_tick)
  job$stopped <- out$stopped
  if (out$stopped) {
    return(job)
  }
  joint <- mean(out$note[1L, ])
  job$starts <- rbind(job$starts, data.frame(
    start = job$at, init = if (first) "anneal" else "reheat", objective = joint,
    row_features = ncol(out$state$rows) - problem$n_fixed[[1L]],
    column_features = ncol(out$state$columns) - problem$n_fixed[[2L]]
  ))
  if (is.null(job$state) || joint > job$start_joint) {
    job$state <- out$state
    job$start_joint <- joint
  }
  job$sweeps <- job$sweeps + if (first) control$start_sweeps else ceiling(0.6 * control$start_sweeps)
  if (job$at == control$n_start + control$n_reheat) job$phase <- "warmup"
  job
}

# As many draws as lie between two kept states.
bmf_step_draws <- function(job, problem, on_tick) {
  control <- problem$control
  n <- min(ceiling(control$draws / control$keep), control$draws - job$n_draw)
  record <- list(thin = control$thin, best_joint = job$best_joint)
  out <- bmf_sweeps(problem, job$state, n * control$thin, record = record, on_tick = on_tick)
  job <- after_sweeps(job, out)
  job$note <- append_notes(job$note, job$n_draw, out$note)
  job$n_draw <- job$n_draw + out$n_draw
  job$mean <- if (is.null(job$mean)) out$mean else job$mean + out$mean
  job$best_joint <- out$best_joint
  if (!is.null(out$best)) job$best <- out$best
  if (out$n_draw) job$kept <- c(job$kept, list(out$state))
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

total_sweeps.bmf_problem <- function(problem, started) {
  control <- problem$control
  start <- if (started || control$init == "prior") {
    0
  } else {
    control$n_start * control$start_sweeps + control$n_reheat * ceiling(0.6 * control$start_sweeps)
  }
  start + NextMethod()
}
