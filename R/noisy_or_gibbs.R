# Gibbs sampling for noisy_or() (src/noisy_or/gibbs.h): estimate = "gibbs". What a chain does, in steps that can be
# saved and resumed; chains.R runs it. A state is that of the kernel: parameters, sources that are on (k x n) and, with
# recording, the grid point of each site, from 0.

nor_gibbs_notes <- c(
  "objective", "log_likelihood", "sources_on", "missed", "recorded", "effort_intercept", "effort_slope"
)
nor_gibbs_parts <- c("prior", "links", "leak", "recorded_share", "recorded_taxon")

# Collects what all chains share: data, model (`mode`: pseudo-counts for the modes that chains start at), settings.
nor_gibbs_problem <- function(data, k, model, control) {
  stats <- if (model$missed_by == "none") 2 else 6
  refuse_large(stats * prod(as.double(dim(data$x))), "What is summed up for the cells", "use `estimate = \"map\"`")
  data <- c(data[c("x", "view", "margins", "known", "effort", "visits", "cell")])
  structure(
    list(data = data, dim = dim(data$x), k = k, model = model, control = control, probe = probe_cells(data$x)),
    class = "noisy_or_gibbs_problem"
  )
}

nor_gibbs_sweeps <- function(problem, state, n_sweep, thin = 0L, on_tick = NULL) {
  plan <- list(n_sweep = as.integer(n_sweep), thin = as.integer(thin), probe = problem$probe, on_tick = on_tick)
  settings <- nor_settings(utils::modifyList(problem$model, list(inference = "truncated")), problem$data)
  out <- .Call(mc_c_nor_gibbs, problem$data$view, state, settings, plan)
  out$state <- out[c(nor_gibbs_parts, "coef", "on", "grid")]
  out
}

new_job.noisy_or_gibbs_problem <- function(problem, stream, state = NULL) {
  job <- c(NextMethod(), list(sums = NULL, kept = list()))
  if (is.null(state$on)) job$phase <- "start"
  job
}

step_job.noisy_or_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = nor_gibbs_start(job, problem),
    warmup = warm_up(job, problem$control, gibbs_segment, function(job, n) {
      nor_gibbs_sweeps(problem, job$state, n, warmup_noted, on_tick)
    }),
    draws = nor_gibbs_draws(job, problem, on_tick)
  )
}

# Each chain begins at a posterior mode of its own, or at a draw from the prior; the first sweep draws grid points
# before it reads them.
nor_gibbs_start <- function(job, problem) {
  control <- problem$control
  data <- problem$data
  model <- problem$model
  param <- job$state
  if (is.null(param) && control$init == "prior") param <- nor_gibbs_prior_param(problem)
  if (is.null(param)) {
    model$pseudo <- model$mode
    started <- run_starts(nor_problem(data, problem$k, 0L, model, NULL, control), fit_control(
      n_start = if (is.null(control$n_start)) 2 else control$n_start, max_iter = 100, tol = 1e-5, n_finish = 1,
      n_polish = 0, n_threads = control$n_threads, progress = FALSE
    ))
    job$starts <- started$starts
    param <- nor_reorder_free(started$best$param, model, data)
  }
  job$state <- nor_gibbs_state(param, problem)
  job$phase <- "warmup"
  job
}

# Components that a mask or known activations distinguish stay in their places.
nor_reorder_free <- function(param, model, data) {
  if (is.null(model$mask) && is.null(data$known)) nor_reorder(param) else param
}

nor_gibbs_prior_param <- function(problem) {
  k <- problem$k
  m <- problem$dim[2L]
  beta <- matrix(problem$model$pseudo[1:8] + 1, 2L)
  draw <- function(n, part) stats::rbeta(n, beta[1L, part], beta[2L, part])
  share <- stats::rgamma(recorded_grid, problem$model$pseudo[9L] + 1)
  by <- problem$model$missed_by
  list(
    prior = draw(k, 1L), links = matrix(draw(k * m, 2L), k), leak = draw(m, 3L),
    recorded_share = if (by != "none") share / sum(share), recorded_taxon = if (by == "both") draw(m, 4L),
    coef = if (!is.null(problem$data$effort)) stats::rnorm(2L, 0, nor_coef_sd)
  )
}

nor_coef_sd <- 1.5 # NOR_COEF_SD of src/noisy_or/gibbs.h

# Parameters off 0 and 1, where nothing could be drawn, with sources drawn given them.
nor_gibbs_state <- function(param, problem) {
  data <- problem$data
  inside <- function(p) pmin(pmax(p, 1e-6), 1 - 1e-6)
  mask <- problem$model$mask
  state <- list(
    prior = inside(param$prior), links = inside(param$links) * (if (is.null(mask)) 1 else mask),
    leak = inside(param$leak)
  )
  if (problem$model$missed_by != "none") {
    state <- nor_first_recorded(c(state, param[intersect(names(param), c(
      "recorded_share", "recorded_taxon", "coef"
    ))]), problem$dim[2L], problem$model)
    state$recorded_share <- pmax(state$recorded_share, 1e-6)
    state$recorded_share <- state$recorded_share / sum(state$recorded_share)
    if (!is.null(state$recorded_taxon)) state$recorded_taxon <- inside(state$recorded_taxon)
  }
  model <- problem$model
  how <- nor_posterior_kind(model$inference, problem$k)
  on <- t(nor_report(data, state, model, "drawn", how)$drawn)
  on[is.na(on)] <- 0
  if (!is.null(data$known)) on[!is.na(data$known)] <- data$known[!is.na(data$known)]
  storage.mode(on) <- "integer"
  state <- lapply(stats::setNames(nm = c(nor_gibbs_parts, "coef")), function(part) state[[part]])
  c(state, list(on = on, grid = if (model$missed_by != "none") integer(problem$dim[1L])))
}

# A state is kept at the end of each call of the kernel.
nor_gibbs_draws <- function(job, problem, on_tick) {
  control <- problem$control
  every <- next_draws(control, job$n_draw, gibbs_parts)$every
  n <- min(every, control$draws - job$n_draw)
  out <- nor_gibbs_sweeps(problem, job$state, n * control$thin, control$thin, on_tick)
  job <- after_sweeps(job, out)
  if (out$n_draw) job$note <- append_notes(job$note, job$n_draw, out$note)
  job$n_draw <- job$n_draw + out$n_draw
  sums <- out[grep("^sum_", names(out), value = TRUE)]
  job$sums <- if (is.null(job$sums)) sums else Map(function(a, b) if (!is.null(a)) a + b, job$sums, sums)
  if (out$n_draw) job$kept <- c(job$kept, list(out$state))
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

# Makes a fit from chains.

nor_gibbs <- function(problem, start, call) {
  control <- problem$control
  states <- if (inherits(start, "noisy_or_gibbs")) {
    nor_gibbs_last(start, problem)
  } else if (!is.null(start)) {
    rep(list(start), control$chains)
  }
  streams <- draw_streams(control$chains)
  jobs <- run_chains(problem, streams, states)
  fit <- nor_gibbs_fit(jobs, problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Chains go on where those of another fit stopped, in turn where there are more.
nor_gibbs_last <- function(fit, problem) {
  same <- all(fit$dims[c("n", "m", "k")] == c(problem$dim, problem$k)) &&
    identical(fit$names, dimnames_of(problem$data$x)) &&
    identical(fit$missed_by %||% "none", problem$model$missed_by) &&
    is.null(fit$effort) == is.null(problem$data$effort)
  if (!same) {
    stop_input(paste(
      "`start`, a fit, must be of a table with the same names, in the same order, and with the same `k`, `missed_by`",
      "and `effort` or none."
    ))
  }
  rep_len(fit$last, problem$control$chains)
}

nor_gibbs_fit <- function(jobs, problem, call) {
  jobs <- drawn_jobs(jobs)
  data <- problem$data
  model <- problem$model
  k <- problem$k
  names <- dimnames_of(data$x)
  jobs <- nor_gibbs_match(jobs, problem)
  n_draw <- sum(vapply(jobs, function(job) job$n_draw, 0L))
  moments <- nor_gibbs_moments(jobs, n_draw, problem, names)
  trace <- nor_gibbs_trace(jobs, problem, names)
  draws <- trace$draws
  recorded <- model$missed_by != "none"
  if (!is.null(data$effort)) model$coef <- c(mean(draws$effort_intercept), mean(draws$effort_slope))
  fit <- new_multicause(
    param = moments$mean, objective = c(log_joint = max(draws$objective)), loglik = mean(draws$log_likelihood),
    df = NA_real_, dims = c(n = problem$dim[1L], m = problem$dim[2L], k = k, observed = sum(data$margins$row_observed)),
    trace = draws, warmup = trace$warmup,
    starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = moments$sd, cells = nor_gibbs_cells(jobs, n_draw, problem),
    kept = lapply(jobs, function(job) job$kept), last = lapply(jobs, function(job) job$state),
    inference = model$inference, estimate = "gibbs", prior = model$prior, model = model,
    missed_by = if (recorded) model$missed_by, absorbed = 0L,
    effort = if (!is.null(model$effort)) effort_curve(model$coef, model$effort),
    density = data_density(data), margins = data$margins, visits = data$cell, class = c("noisy_or_gibbs", "noisy_or")
  )
  if (!is.null(data$known)) fit$known <- structure(t(data$known), dimnames = dimnames(fit$param$activation))
  if (recorded) fit$missed <- mean(draws$missed)
  fit$sources <- source_table(fit)
  fit$converged <- chains_agree(fit)
  validate_noisy_or(fit)
}


# Components of all chains in the order of the best one's, which is that of the ones they write.
nor_gibbs_match <- function(jobs, problem) {
  if (problem$k == 1L || !is.null(problem$model$mask) || !is.null(problem$data$known)) {
    return(jobs)
  }
  joint <- vapply(jobs, function(job) mean(job$note[1L, seq_len(job$n_draw)]), 0)
  means <- lapply(jobs, function(job) {
    half_moments(job$sums$sum_links, job$n_draw, c(problem$k, problem$dim[2L]))$mean
  })
  best <- which.max(joint)
  prior <- half_moments(jobs[[best]]$sums$sum_prior, jobs[[best]]$n_draw, problem$k)$mean
  reference <- means[[best]][order(-prior * rowSums(means[[best]])), , drop = FALSE]
  Map(function(job, mean) {
    at <- match_components(mean, reference)
    if (is.unsorted(at)) nor_gibbs_permute(job, at, problem) else job
  }, jobs, means)
}

nor_gibbs_permute <- function(job, at, problem) {
  k <- problem$k
  turn <- function(state) {
    utils::modifyList(state, list(
      prior = state$prior[at], links = state$links[at, , drop = FALSE], on = state$on[at, , drop = FALSE]
    ))
  }
  sums <- job$sums
  job$sums$sum_prior <- as.vector(matrix(sums$sum_prior, k)[at, ])
  job$sums$sum_links <- as.vector(array(sums$sum_links, c(k, problem$dim[2L], 2L))[at, , ])
  job$sums$sum_on <- as.vector(matrix(sums$sum_on, ncol = k)[, at])
  job$kept <- lapply(job$kept, turn)
  job$state <- turn(job$state)
  job
}

nor_gibbs_moments <- function(jobs, n_draw, problem, names) {
  labels <- component_names(problem$k)
  sides <- list(
    prior = list(labels), links = list(labels, names[[2L]]), leak = names[2L],
    recorded_share = list(format(recorded_grid_probabilities())), recorded_taxon = names[2L]
  )
  extent <- list(
    prior = problem$k, links = c(problem$k, problem$dim[2L]), leak = problem$dim[2L], recorded_share = recorded_grid,
    recorded_taxon = problem$dim[2L]
  )
  label <- function(part, values) {
    if (part == "links") structure(values, dimnames = sides[[part]]) else
      stats::setNames(as.vector(values), sides[[part]][[1L]])
  }
  own <- c(
    "prior", "links", "leak", nor_recorded_parts(problem$model)
  )
  each <- lapply(stats::setNames(nm = own), function(part) {
    total <- sum_jobs(jobs, sub("recorded_", "", part))
    lapply(half_moments(total, n_draw, extent[[part]]), label, part = part)
  })
  on <- matrix(sum_jobs(jobs, "on"), ncol = problem$k, dimnames = list(names[[1L]], labels)) / n_draw
  mean <- c(lapply(each, `[[`, "mean"), list(activation = on))
  if (length(nor_recorded_parts(problem$model))) {
    mean$recorded_site <- stats::setNames(sum_jobs(jobs, "site") / n_draw, names[[1L]])
  }
  list(mean = mean, sd = lapply(each, `[[`, "sd"))
}

# Means of the scores of cells, n x m each, with standard deviations of two of them.
nor_gibbs_cells <- function(jobs, n_draw, problem) {
  n_cell <- prod(problem$dim)
  total <- sum_jobs(jobs, "cell")
  part <- function(s) matrix(total[(s - 1) * n_cell + seq_len(n_cell)], problem$dim[1L])
  moments <- function(s) half_moments(c(part(s), part(s + 1)), n_draw, problem$dim)
  out <- list(probability = moments(1))
  if (length(total) == 2 * n_cell) {
    return(out)
  }
  c(out, list(missed = moments(3), present = list(mean = part(5) / n_draw), phantom = list(mean = part(6) / n_draw)))
}

nor_gibbs_trace <- function(jobs, problem, names) {
  notes <- c(1:3, if (problem$model$missed_by != "none") 4:5, if (!is.null(problem$data$effort)) 6:7)
  at <- c(notes, length(nor_gibbs_notes) + seq_len(ncol(problem$probe)))
  note_frames(jobs, at, c(nor_gibbs_notes[notes], probe_names(problem$probe, names)))
}
