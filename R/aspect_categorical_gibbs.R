# Gibbs sampling of the aspect model of several values (src/aspect_categorical/gibbs.h): estimate = "gibbs". A chain is
# a sequence of steps that can be saved and resumed; chains.R runs it.

ac_gibbs_problem <- function(data, fixed, prior, control) {
  structure(
    list(
      data = data, dim = dim(data$x), values = category_values(data$x), fixed = fixed, prior = prior,
      control = control, probe = probe_cells(unclass(data$x))
    ),
    class = "ac_gibbs_problem"
  )
}

# Runs the kernel from a state, list(membership, profiles).
ac_gibbs_sweeps <- function(problem, state, n_sweep, thin = 0L, keep_every = 0L, on_tick = NULL) {
  k <- length(problem$fixed)
  n_value <- length(problem$values)
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(thin), keep_every = as.integer(keep_every), probe = problem$probe,
    on_tick = on_tick
  )
  prior <- matrix(ac_kernel_prior(problem$prior, k, n_value, less = 0))
  out <- .Call(mc_c_ac_gibbs_run, problem$data$view, ac_kernel_param(state, problem$fixed), prior, plan)
  out$state <- list(membership = out$membership, profiles = array(out$profiles, dim(state$profiles)))
  out
}

new_job.ac_gibbs_problem <- function(problem, stream, state = NULL) {
  c(NextMethod(), list(sums = NULL, kept = list()))
}

step_job.ac_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = ac_gibbs_start(job, problem),
    warmup = warm_up(job, problem$control, gibbs_segment, function(job, n) {
      ac_gibbs_sweeps(problem, job$state, n, warmup_noted, on_tick = on_tick)
    }),
    draws = ac_gibbs_draws(job, problem, on_tick)
  )
}

# Each chain starts at a posterior mode of its own, or from the prior.
ac_gibbs_start <- function(job, problem) {
  control <- problem$control
  fixed <- problem$fixed
  if (control$init == "prior") {
    job$state <- ac_prior_state(problem$prior, fixed, problem$dim, problem$values)
  } else {
    mode <- ac_problem(problem$data, fixed, "map", ac_default_prior("map"))
    few <- fit_control(
      n_start = if (is.null(control$n_start)) 4 else control$n_start, max_iter = 200, tol = 1e-6, n_finish = 1,
      n_polish = 0, n_threads = control$n_threads, progress = FALSE
    )
    started <- run_starts(mode, few)
    job$starts <- started$starts
    job$state <- ac_permute(started$best$param, ac_order(started$best$param, fixed))
  }
  job$phase <- "warmup"
  job
}

# Draws memberships and profiles from the prior.
ac_prior_state <- function(prior, fixed, dim, values) {
  k <- length(fixed)
  draw <- function(alpha, n_row, n_column) draw_dirichlet(matrix(alpha, n_row, n_column, byrow = TRUE))
  profiles <- array(draw(prior$profiles, k * dim[2L], length(values)), c(k, dim[2L], length(values)))
  profiles[fixed != "free", , ] <- ac_fixed_profiles(fixed, dim[2L], values)
  list(membership = draw(prior$membership, dim[1L], k), profiles = profiles)
}

ac_gibbs_draws <- function(job, problem, on_tick) {
  control <- problem$control
  step <- next_draws(control, job$n_draw, gibbs_parts)
  out <- ac_gibbs_sweeps(problem, job$state, step$n * control$thin, control$thin, step$every, on_tick)
  job <- after_sweeps(job, out)
  job$note <- append_notes(job$note, job$n_draw, out$note)
  job$n_draw <- job$n_draw + out$n_draw
  sums <- out[c("sum_membership", "sum_profiles")]
  job$sums <- if (is.null(job$sums)) sums else Map(`+`, job$sums, sums)
  job$kept <- c(job$kept, ac_gibbs_kept(out))
  # An interrupt may come before the first state is due to be kept.
  if (out$stopped && job$n_draw && !length(job$kept)) job$kept <- list(out$state)
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

ac_gibbs_kept <- function(out) {
  size <- lengths(out$state)
  lapply(seq_len(out$n_kept), function(s) {
    list(
      membership = matrix(out$kept_membership[(s - 1) * size[1L] + seq_len(size[1L])], nrow(out$state$membership)),
      profiles = array(out$kept_profiles[(s - 1) * size[2L] + seq_len(size[2L])], dim(out$state$profiles))
    )
  })
}

ac_gibbs <- function(problem, start, call) {
  control <- problem$control
  k <- length(problem$fixed)
  states <- if (inherits(start, "aspect_categorical_gibbs")) {
    ac_gibbs_last(start, problem)
  } else if (!is.null(start)) {
    rep(list(ac_check_start(start, problem$data, k, problem$fixed)), control$chains)
  }
  streams <- draw_streams(control$chains)
  fit <- ac_gibbs_fit(run_chains(problem, streams, states), problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Chains resume from the last states of another fit, recycled if there are more chains.
ac_gibbs_last <- function(fit, problem) {
  same <- all(fit$dims[c("n", "m", "k")] == c(problem$dim, length(problem$fixed))) &&
    identical(unname(fit$fixed), problem$fixed) && identical(fit$values, problem$values) &&
    identical(fit$names, dimnames_of(problem$data$x))
  if (!same) {
    stop_input("`start`, a fit, must be of a table with the same names and values, with the same `k` and `phantom`.")
  }
  rep_len(fit$last, problem$control$chains)
}

# Matches the components of all chains to those of the best chain, ordered by weight; fixed ones keep their places.
ac_gibbs_match <- function(jobs, best, fixed) {
  free <- which(fixed == "free")
  means <- lapply(jobs, function(job) lapply(chain_moments(list(job), c("membership", "profiles")), `[[`, "mean"))
  flat <- function(mean, at) matrix(mean$profiles[at, , ], length(at))
  order <- ac_order(means[[best]], fixed)
  reference <- flat(means[[best]], order[seq_along(free)])
  Map(function(job, mean) {
    at <- seq_along(fixed)
    if (length(free)) at[free] <- free[match_components(flat(mean, free), reference)]
    ac_gibbs_permute(job, at)
  }, jobs, means)
}

ac_gibbs_permute <- function(job, at) {
  n <- nrow(job$state$membership)
  shape <- dim(job$state$profiles)
  job$sums$sum_membership <- as.vector(array(job$sums$sum_membership, c(n, length(at), 2L))[, at, ])
  job$sums$sum_profiles <- as.vector(array(job$sums$sum_profiles, c(shape, 2L))[at, , , ])
  job$kept <- lapply(job$kept, ac_permute, at)
  job$state <- ac_permute(job$state, at)
  job
}

ac_gibbs_fit <- function(jobs, problem, call) {
  jobs <- drawn_jobs(jobs)
  data <- problem$data
  k <- length(problem$fixed)
  joint <- vapply(jobs, function(job) mean(job$note[1L, seq_len(job$n_draw)]), 0)
  jobs <- ac_gibbs_match(jobs, which.max(joint), problem$fixed)
  names <- dimnames_of(data$x)
  moments <- ac_gibbs_moments(jobs)
  notes <- c("objective", "log_likelihood", probe_names(problem$probe, names))
  trace <- note_frames(jobs, seq_along(notes), notes)
  fit <- new_multicause(
    param = ac_name_param(moments$mean, names, problem$values), objective = c(log_joint = max(trace$draws$objective)),
    df = NA_real_, loglik = ac_loglik(data$view, moments$mean, problem$fixed),
    dims = c(n = problem$dim[1L], m = problem$dim[2L], k = k, observed = sum(data$margins$row_observed)),
    trace = trace$draws, warmup = trace$warmup,
    starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = ac_name_param(moments$sd, names, problem$values),
    kept = lapply(jobs, function(job) job$kept), last = lapply(jobs, function(job) job$state),
    fixed = stats::setNames(problem$fixed, component_names(k)), values = problem$values, estimate = "gibbs",
    prior = problem$prior, margins = data$margins, class = c("aspect_categorical_gibbs", "aspect_categorical")
  )
  fit$converged <- chains_agree(fit)
  validate_aspect_categorical(fit)
}

# Means and standard deviations of the parameters over the draws of all chains.
ac_gibbs_moments <- function(jobs) {
  each <- chain_moments(jobs, c("membership", "profiles"))
  mean <- lapply(each, `[[`, "mean")
  mean$membership <- mean$membership / rowSums(mean$membership) # 1 up to rounding
  mean$profiles <- mean$profiles / as.vector(apply(mean$profiles, 1:2, sum))
  list(mean = mean, sd = lapply(each, `[[`, "sd"))
}

is_sampled.aspect_categorical_gibbs <- function(fit) TRUE

estimator_words.aspect_categorical_gibbs <- function(fit) "Gibbs"

reached_sentence.aspect_categorical_gibbs <- function(fit, digits = 4L) sampled_sentence(fit)

found_sentences.aspect_categorical_gibbs <- function(fit, digits = 4L) disagreement_sentence(fit)

detail_sentences.aspect_categorical_gibbs <- function(fit, digits = 4L) trust_sentence(fit)

#' @export
summary.aspect_categorical_gibbs <- function(object, ...) sampled_summary(object, ...)

#' @export
posterior_draws.aspect_categorical <- function(fit, nsim = 100, ...) { # nolint: object_name_linter.
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  if (!has_draws(fit)) stop_no_posterior()
  states <- kept_states(fit, nsim)
  fit <- without_draws(fit)
  lapply(states, function(state) {
    fit$param <- ac_name_param(state, fit$names, fit$values)
    if (is.null(fit$x)) fit else with_data(fit, fit$x)
  })
}

interval_parts.aspect_categorical <- function(fit) {
  if (is_sampled(fit)) list(profiles = c("component", "taxon", "value"))
}

part_spread.aspect_categorical_gibbs <- function(fit, name, level = NULL) drawn_spread(fit, name, level)

prior_draw.aspect_categorical_gibbs <- function(fit) {
  draw <- without_draws(fit)
  state <- ac_prior_state(fit$prior, unname(fit$fixed), fit$dims[c("n", "m")], fit$values)
  draw$param <- ac_name_param(state, fit$names, fit$values)
  draw$loglik <- NA_real_
  draw
}

with_data.aspect_categorical <- function(fit, x) {
  fit$loglik <- ac_loglik(data_view(unclass(x)), fit$param, unname(fit$fixed))
  NextMethod()
}

compared_quantities.aspect_categorical <- function(fit, cells) {
  c(
    named_by_cell(presence_probability(fit)[cells], "cell", cells), `log-likelihood` = fit$loglik,
    `memberships, sum of squares` = sum(fit$param$membership^2),
    `profiles, sum of squares` = sum(fit$param$profiles^2)
  )
}
