# Gibbs sampling for the aspect Bernoulli model (src/model_ab_gibbs.h): aspect_bernoulli(estimate = "gibbs"). What a
# chain does, in steps that can be saved and resumed; chains.R runs it.

gibbs_segment <- 100L # sweeps of warm-up between two looks
gibbs_parts <- 10L # calls of the kernel for the draws of a chain
gibbs_note_names <- c(
  "objective", "log_likelihood", "white_share", "black_share", "false_absences", "false_presences"
)

# What all chains share: data, model, prior, settings.
gibbs_problem <- function(data, pinned, prior, phantom, control) {
  start <- gibbs_start_control(control)
  problem <- list(
    data = data, dim = dim(data$x), pinned = pinned, prior = prior, control = control, start = start,
    kinds = ab_kinds(length(pinned), phantom, start), probe = probe_cells(data$x)
  )
  structure(problem, class = "ab_gibbs_problem")
}

# How the variational fits are run that chains begin at.
gibbs_start_control <- function(control) {
  fit_control(
    n_start = if (is.null(control$n_start)) 4 else control$n_start, max_pass = 500, tol = 1e-7, n_finish = 1,
    n_polish = 0, screen_pass = 50, n_threads = control$n_threads, progress = FALSE
  )
}

# Calls the kernel from a state; `kind`: what each component is, whose sums over cells are wanted, else NULL.
gibbs_sweeps <- function(problem, state, n_sweep, thin = 0L, keep_every = 0L, reference = NULL, kind = NULL,
                         on_tick = NULL) {
  pinned <- problem$pinned
  param <- list(
    membership = state$membership, aspects = state$aspects,
    pinned = unname(c(free = 0L, white = -1L, black = 1L)[pinned])
  )
  code <- if (is.null(kind)) integer(length(pinned)) else unname(c(content = 0L, white = 1L, black = 2L)[kind])
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(thin), keep_every = as.integer(keep_every), reference = reference,
    kind = code, probe = problem$probe, n_stat = if (is.null(kind)) 0L else if (any(code > 0L)) 6L else 2L,
    on_tick = on_tick
  )
  prior <- as.double(c(problem$prior$aspects, problem$prior$membership))
  out <- .Call(mc_c_ab_gibbs_run, problem$data$view, param, prior, plan)
  out$state <- out[c("membership", "aspects")]
  out
}

# Empirical Bayes for the chains: the hyperparameters of a variational fit.
gibbs_empirical_prior <- function(data, pinned, prior, phantom, control) {
  problem <- gibbs_problem(data, pinned, prior, phantom, control)
  vb_empirical(gibbs_start_fits(problem), data$view, pinned, prior, problem$start)$prior
}

gibbs_start_fits <- function(problem) {
  run <- function(start, control) ab_vb_run(problem$data$view, start, problem$pinned, problem$prior, control)
  run_starts(problem$kinds, function(kind) ab_draw(problem$data, kind, problem$pinned), run, problem$start)
}

#' @export
new_job.ab_gibbs_problem <- function(problem, stream, state = NULL) {
  list(
    stream = stream, phase = if (is.null(state)) "start" else "warmup", state = state, starts = NULL, n_warm = 0L,
    n_draw = 0L, n_kept = 0L, note = NULL, reference = NULL, kind = NULL, sums = NULL, kept = list(), stopped = FALSE,
    sweeps = 0
  )
}

#' @export
total_sweeps.ab_gibbs_problem <- function(problem, started) {
  as.double(problem$control$warmup) + problem$control$draws * problem$control$thin
}

#' @export
step_job.ab_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = gibbs_step_start(job, problem),
    warmup = gibbs_step_warmup(job, problem, on_tick),
    draws = gibbs_step_draws(job, problem, on_tick)
  )
}

# Each chain has variational fits of its own, and begins at a draw from the best of them.
gibbs_step_start <- function(job, problem) {
  pinned <- problem$pinned
  k <- length(pinned)
  if (problem$control$init == "prior") {
    job$state <- gibbs_random_state(
      list(
        membership = matrix(problem$prior$membership, problem$dim[1L], k),
        one = matrix(problem$prior$aspects[1L], k, problem$dim[2L]),
        zero = matrix(problem$prior$aspects[2L], k, problem$dim[2L])
      ), pinned
    )
  } else {
    started <- gibbs_start_fits(problem)
    job$starts <- started$starts
    job$state <- gibbs_random_state(started$best$param$state, pinned)
  }
  job$phase <- "warmup"
  job
}

# A draw of memberships and aspects from Dirichlets and Betas.
gibbs_random_state <- function(posterior, pinned) {
  membership <- posterior$membership
  membership[] <- pmax(stats::rgamma(length(membership), membership), 1e-300)
  aspects <- posterior$one
  aspects[] <- stats::rbeta(length(aspects), posterior$one, posterior$zero)
  aspects[pinned == "white", ] <- 0
  aspects[pinned == "black", ] <- 1
  list(membership = membership / rowSums(membership), aspects = aspects)
}

gibbs_step_warmup <- function(job, problem, on_tick) {
  n <- min(gibbs_segment, problem$control$warmup - job$n_warm)
  last <- job$n_warm + n == problem$control$warmup
  param <- job$state
  if (n > 0L) {
    # The last sweeps are averaged: what the labels of the draws go by, and which components are phantoms.
    out <- gibbs_sweeps(
      problem, job$state, n, thin = last + 0L, reference = if (last) job$state$aspects, on_tick = on_tick
    )
    job$state <- out$state
    job$n_warm <- job$n_warm + out$n_done
    job$sweeps <- job$sweeps + out$n_done
    job$stopped <- out$stopped
    if (last && out$n_draw) param <- gibbs_means(out, out$n_draw, problem)
  }
  if (job$n_warm == problem$control$warmup) job <- gibbs_label(job, problem, param)
  job
}

# Means of the parameters, from the kernel's sums.
gibbs_means <- function(sums, n_draw, problem) {
  k <- length(problem$pinned)
  first <- function(x, n_row, n_column) matrix(x[seq_len(n_row * n_column)] / n_draw, n_row, n_column)
  list(
    membership = first(sums$sum_membership, problem$dim[1L], k), aspects = first(sums$sum_aspects, k, problem$dim[2L])
  )
}

gibbs_label <- function(job, problem, param) {
  pinned <- problem$pinned
  data <- problem$data
  at <- ab_order(param, pinned, data)
  param <- ab_permute(param, at)
  job$state <- ab_permute(job$state, at)
  job$reference <- param$aspects
  job$kind <- phantom_table(param, data_density(data), pinned, data$margins$column_observed > 0)$kind
  # What phantoms miss is said in terms of content: where all would be phantoms, those that are free are content.
  if (all(job$kind != "content")) job$kind[pinned == "free"] <- "content"
  job$phase <- "draws"
  job
}

gibbs_step_draws <- function(job, problem, on_tick) {
  control <- problem$control
  every <- as.integer(ceiling(control$draws / control$keep))
  n <- min(every * ceiling(control$draws / (gibbs_parts * every)), control$draws - job$n_draw)
  out <- gibbs_sweeps(
    problem, job$state, n * control$thin, control$thin, every, job$reference, job$kind, on_tick
  )
  job$state <- out$state
  job$sweeps <- job$sweeps + out$n_done
  job$stopped <- out$stopped
  note <- matrix(out$note, length(gibbs_note_names) + ncol(problem$probe))
  if (is.null(job$note)) job$note <- matrix(NA_real_, nrow(note), control$draws)
  got <- seq_len(out$n_draw)
  job$note[, job$n_draw + got] <- note[, got]
  job$n_draw <- job$n_draw + out$n_draw
  sums <- out[c("cell", "sum_membership", "sum_aspects")]
  job$sums <- if (is.null(job$sums)) sums else Map(`+`, job$sums, sums)
  job$kept <- c(job$kept, gibbs_kept(out, problem))
  # An interrupt may come before the first state that is to be kept.
  if (out$stopped && job$n_draw && !length(job$kept)) job$kept <- list(out$state)
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

gibbs_kept <- function(out, problem) {
  k <- length(problem$pinned)
  size <- c(problem$dim[1L], problem$dim[2L]) * k
  lapply(seq_len(out$n_kept), function(s) {
    list(
      membership = matrix(out$kept_membership[(s - 1) * size[1L] + seq_len(size[1L])], ncol = k),
      aspects = matrix(out$kept_aspects[(s - 1) * size[2L] + seq_len(size[2L])], k)
    )
  })
}
