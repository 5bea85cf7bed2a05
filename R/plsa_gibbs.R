# Gibbs sampling for plsa() (src/plsa/gibbs.h): estimate = "gibbs". What a chain does, in steps that can be saved and
# resumed; chains.R runs it. A state is that of the kernel: the component of every single count, and the priors'
# parameters.

bytes_a_count <- 35 # that a sampler needs while it draws the component of each count (measured)

# What all chains share: data, model, prior, settings.
plsa_gibbs_problem <- function(data, k, settings, control) {
  view <- data$view
  if (!is_whole(view)) {
    stop_input("`x` must hold whole numbers with `estimate = \"gibbs\"`, which draws the component of each count.")
  }
  if (!is.null(view$na_start) && settings$missing == "conditional") {
    stop_input(paste(
      "Unknown cells go with `estimate = \"gibbs\"` under `missing = \"paper\"` alone: take that, or",
      "`estimate = \"vb\"`."
    ))
  }
  counts <- sum(data$margins$row_sum)
  instead <- "take `estimate = \"vb\"`, which draws none"
  if (counts > .Machine$integer.max) {
    stop_input("`x` must hold fewer than 2^31 counts with `estimate = \"gibbs\"`: %s.", instead)
  }
  what <- sprintf("`estimate = \"gibbs\"`, for %s,", count_words(counts, "count"))
  check_memory(bytes_a_count * counts, what, instead)
  structure(
    list(data = data, dim = dim(data$x), k = k, settings = settings, control = control, probe = probe_cells(data$x)),
    class = "plsa_gibbs_problem"
  )
}

plsa_gibbs_sweeps <- function(problem, state, n_sweep, thin = 0L, learn = FALSE, on_tick = NULL) {
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(thin), learn = learn, probe = problem$probe, on_tick = on_tick
  )
  out <- .Call(mc_c_plsa_gibbs_run, problem$data$view, state, plan)
  out$state <- out[c("topic", "prior")]
  out
}

new_job.plsa_gibbs_problem <- function(problem, stream, state = NULL) {
  job <- c(NextMethod(), list(sums = NULL))
  if (is.null(state$topic)) job$phase <- "start"
  job
}

step_job.plsa_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = plsa_gibbs_start(job, problem),
    warmup = warm_up(job, problem$control, gibbs_segment, function(job, n) {
      plsa_gibbs_sweeps(problem, job$state, n, on_tick = on_tick)
    }),
    draws = plsa_gibbs_draws(job, problem, on_tick)
  )
}

# Each chain begins at components drawn from a posterior mode of its own, or from nothing.
plsa_gibbs_start <- function(job, problem) {
  control <- problem$control
  k <- problem$k
  if (!is.null(job$state)) {
    param <- job$state
  } else if (control$init == "prior") {
    param <- list(membership = matrix(1 / k, problem$dim[1L], k), basis = matrix(1, k, problem$dim[2L]))
  } else {
    settings <- problem$settings
    settings$prior <- plsa_kernel_prior(plsa_default_prior("map", TRUE), k)
    mode <- structure(
      list(data = problem$data, values = "nonnegative", k = k, settings = settings),
      class = c("plsa_problem", "multicause_problem")
    )
    started <- run_starts(mode, plsa_gibbs_start_control(control))
    job$starts <- started$starts
    param <- started$best$param
    # Chains do not swap labels that a prior tells apart: the largest component begins with the largest parameter.
    at <- order(-colSums(param$membership * problem$data$margins$row_sum))
    at[order(-rep_len(problem$settings$dirichlet$membership, k))] <- at
    param <- plsa_permute(param, at)
  }
  job$state <- plsa_gibbs_state(param, problem)
  job$phase <- "warmup"
  job
}

plsa_gibbs_start_control <- function(control) {
  fit_control(
    n_start = if (is.null(control$n_start)) 2 else control$n_start, max_pass = 100, tol = 1e-5, n_finish = 1,
    n_polish = 0, n_threads = control$n_threads, progress = FALSE
  )
}

# The prior that all chains have where it is learnt: of a chain of its own, whose length is that of a warm-up. Learning
# waits for components to take shape, and what it says in the second half is averaged. It depends on the data alone, so
# that chains can go on from a checkpoint.
plsa_gibbs_learn <- function(problem) {
  control <- problem$control
  n <- ceiling(max(control$warmup, 1L) / 20)
  job <- with_seed(1L, {
    job <- plsa_gibbs_start(list(), problem)
    job$priors <- NULL
    for (part in 1:20) {
      out <- plsa_gibbs_sweeps(problem, job$state, n, learn = part > 4L)
      if (out$stopped) signal_interrupt()
      job$state <- out$state
      if (part > 10L) job$priors <- rbind(job$priors, out$prior)
    }
    job
  })
  prior <- colMeans(job$priors)
  k <- problem$k
  list(membership = sort(prior[seq_len(k)], decreasing = TRUE), basis = prior[k + 1L])
}

# The components of all counts, drawn from these memberships and this basis.
plsa_gibbs_state <- function(param, problem) {
  view <- problem$data$view
  k <- problem$k
  row <- rep(seq_len(problem$dim[1L]), diff(view$start))
  value <- if (is.null(view$value)) rep(1, length(row)) else view$value
  pieces <- split(seq_along(row), (seq_along(row) - 1L) %/% 2^16)
  topic <- lapply(pieces, function(at) {
    p <- param$membership[row[at], , drop = FALSE] * t(param$basis[, view$column[at] + 1L, drop = FALSE])
    for (c in seq_len(k)[-1L]) p[, c] <- p[, c] + p[, c - 1L]
    cell <- rep(seq_along(at), value[at])
    as.integer(rowSums(stats::runif(length(cell)) * p[cell, k] >= p[cell, -k, drop = FALSE]))
  })
  list(
    topic = if (length(topic)) unlist(topic, use.names = FALSE) else integer(), prior = plsa_gibbs_prior(problem)
  )
}

# As the kernel has it: k + 1 numbers.
plsa_gibbs_prior <- function(problem) {
  prior <- problem$settings$dirichlet
  c(rep_len(prior$membership, problem$k), prior$basis)
}

plsa_gibbs_draws <- function(job, problem, on_tick) {
  control <- problem$control
  step <- next_draws(control, job$n_draw, gibbs_parts)
  out <- plsa_gibbs_sweeps(problem, job$state, step$n * control$thin, control$thin, on_tick = on_tick)
  job <- after_sweeps(job, out)
  job$note <- append_notes(job$note, job$n_draw, out$note)
  job$n_draw <- job$n_draw + out$n_draw
  sums <- out[c("sum_membership", "sum_basis", "sum_share")]
  job$sums <- if (is.null(job$sums)) sums else Map(`+`, job$sums, sums)
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

# From chains to a fit.

plsa_gibbs <- function(problem, start, call) {
  data <- problem$data
  control <- problem$control
  states <- if (inherits(start, "plsa_gibbs")) {
    plsa_gibbs_last(start, problem)
  } else if (!is.null(start)) {
    start <- plsa_check_start(start, data, problem$k, "none")
    rep(list(start), control$chains)
  }
  if (problem$settings$learn) {
    problem$settings$dirichlet <- if (inherits(start, "plsa_gibbs")) start$prior else plsa_gibbs_learn(problem)
  }
  streams <- draw_streams(control$chains)
  fit <- plsa_gibbs_fit(run_chains(problem, streams, states), problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Chains go on where those of another fit stopped, in turn where there are more, under the prior that is given.
plsa_gibbs_last <- function(fit, problem) {
  same <- all(fit$dims[c("n", "m", "k")] == c(problem$dim, problem$k)) &&
    identical(fit$names, dimnames_of(problem$data$x)) &&
    length(fit$last[[1L]]$topic) == sum(problem$data$margins$row_sum)
  if (!same) {
    stop_input("`start`, a fit, must be of the same table, with names in the same order, and with the same `k`.")
  }
  lapply(rep_len(fit$last, problem$control$chains), function(state) {
    if (!problem$settings$learn) state$prior <- plsa_gibbs_prior(problem)
    state
  })
}

plsa_gibbs_fit <- function(jobs, problem, call) {
  jobs <- drawn_jobs(jobs)
  data <- problem$data
  settings <- problem$settings
  k <- problem$k
  names <- dimnames_of(data$x)
  joint <- vapply(jobs, function(job) mean(job$note[1L, seq_len(job$n_draw)]), 0)
  chains <- plsa_gibbs_match(lapply(jobs, plsa_gibbs_moments, problem), which.max(joint), problem)
  draws <- vapply(jobs, function(job) job$n_draw, 0L)
  mean_of <- function(part) Reduce(`+`, Map(function(chain, n) n / sum(draws) * chain[[part]], chains, draws))
  labels <- component_names(k)
  sides <- list(membership = list(names[[1L]], labels), basis = list(labels, names[[2L]]))
  moments <- lapply(stats::setNames(nm = names(sides)), function(part) {
    mean <- structure(mean_of(part), dimnames = sides[[part]])
    mean <- mean / rowSums(mean) # 1 up to rounding
    list(mean = mean, sd = sqrt(pmax(mean_of(paste0(part, "_square")) - mean^2, 0)))
  })
  param <- lapply(moments, `[[`, "mean")
  trace <- note_frame(jobs, seq_len(1L + ncol(problem$probe)), c("objective", probe_names(problem$probe, names)))
  fit <- new_multicause(
    param = param, objective = c(log_joint = max(trace$objective)), df = NA_real_,
    loglik = plsa_loglik(data$view, param, settings),
    dims = c(n = problem$dim[1L], m = problem$dim[2L], k = k, observed = sum(data$margins$row_observed)),
    trace = trace, starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = lapply(moments, `[[`, "sd"), last = lapply(jobs, `[[`, "state"), estimate = "gibbs",
    prior = settings$dirichlet, missing = settings$missing, mstep = settings$mstep, fixed = settings$fixed,
    sparsity = list(given = settings$given, scale = settings$scale, effective = c(membership = 0, basis = 0)),
    perplexity = perplexity(param$membership), row_scale = plsa_row_scale(data$view, param, data$margins$row_sum),
    margins = data$margins, class = c("plsa_gibbs", "plsa")
  )
  fit$converged <- chains_agree(fit)
  validate_plsa(fit)
}

# Of one chain: posterior means of memberships, basis and their squares, from the kernel's sums.
plsa_gibbs_moments <- function(job, problem) {
  n <- problem$dim[1L]
  m <- problem$dim[2L]
  k <- problem$k
  alpha <- job$state$prior[seq_len(k)]
  eta <- job$state$prior[k + 1L]
  sums <- lapply(job$sums, function(sum) sum / job$n_draw)
  total <- sum(alpha) + problem$data$margins$row_sum
  rows <- array(sums$sum_membership, c(n, k, 2L))
  count <- matrix(rows[, , 1L], n)
  square <- matrix(rows[, , 2L], n) + sweep(count, 2L, 2 * alpha + 1, "*")
  columns <- array(sums$sum_basis, c(k, m, 2L))
  share <- matrix(sums$sum_share, k)
  list(
    membership = sweep(count, 2L, alpha, "+") / total,
    membership_square = sweep(square, 2L, alpha * (alpha + 1), "+") / (total * (total + 1)),
    basis = matrix(columns[, , 1L], k) + eta * share[, 1L],
    basis_square = matrix(columns[, , 2L], k) + eta * (eta + 1) * share[, 2L]
  )
}

# Components of all chains in the order of the best one's, which is that of their shares of the counts, or of a prior
# that tells them apart. Chains keep to such a prior's order if it was given; one that was learnt knows of no order.
plsa_gibbs_match <- function(chains, best, problem) {
  settings <- problem$settings
  apart <- length(unique(settings$dirichlet$membership)) > 1L
  if (apart && !settings$learn) {
    return(chains)
  }
  reference <- chains[[best]]$basis
  if (!apart) {
    reference <- reference[order(-colSums(chains[[best]]$membership * problem$data$margins$row_sum)), , drop = FALSE]
  }
  lapply(chains, function(chain) {
    at <- match_components(chain$basis, reference)
    list(
      membership = chain$membership[, at, drop = FALSE],
      membership_square = chain$membership_square[, at, drop = FALSE],
      basis = chain$basis[at, , drop = FALSE], basis_square = chain$basis_square[at, , drop = FALSE]
    )
  })
}

# Posterior means of the memberships of new rows, the basis held.
plsa_gibbs_fold_in <- function(fit, data, basis) {
  alpha <- rep_len(as.double(fit$prior$membership), nrow(basis))
  .Call(mc_c_plsa_gibbs_fold_in, data$view, list(basis = basis, alpha = alpha))
}

# Methods.

is_sampled.plsa_gibbs <- function(fit) TRUE

#' @export
summary.plsa_gibbs <- function(object, ...) {
  check_dots(...)
  structure(
    list(
      title = c(found_sentences(object), known_by(object), fit_sentences(object)), quantities = quantity_table(object),
      seed = object$seed
    ),
    class = "summary.plsa_gibbs"
  )
}

#' @export
print.summary.plsa_gibbs <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  write_sentences(x$title)
  print_sampled(x, digits)
  invisible(x)
}

#' Intervals of what components make of taxa
#'
#' Central posterior intervals of the probabilities in the basis of a fit of [plsa()] with `estimate = "gibbs"`.
#'
#' Each is that of the Beta distribution with the mean and the standard deviation of the probability over all draws,
#' `spread` of the fit, in which the basis given a draw of all components is integrated out. Of probabilities next to 0
#' the lower end is too high: on 40 simulated sites intervals of 90 % held 79 to 90 % of the draws of such, and 89 to
#' 91 % of those above 0.1. Where chains found different solutions, the intervals are of both, and wide.
#'
#' @param object a fit of [plsa()] with `estimate = "gibbs"`.
#' @param parm names of parameters or of taxa; missing: all.
#' @param level probability of an interval, between 0 and 1.
#' @param ... must be empty.
#' @return A matrix with a row for each parameter, `basis[A1, taxon]` to `basis[Ak, taxon]`, and the two ends as
#'   columns.
#' @seealso [top_terms()] and [tidy()][tidiers], whose tables have them, too
#' @examples
#' set.seed(1)
#' x <- t(rmultinom(30, 20, c(5, 3, 2)))
#' few <- mcmc_control(chains = 2, warmup = 50, draws = 100, progress = FALSE)
#' fit <- suppressWarnings(plsa(x, k = 2, estimate = "gibbs", control = few))
#' confint(fit, "basis[A1, 1]")
#' @export
confint.plsa_gibbs <- function(object, parm, level = 0.95, ...) {
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  basis <- object$param$basis
  taxa <- rep(variable.names(object), each = nrow(basis))
  names <- sprintf("basis[%s, %s]", rownames(basis), taxa)
  wanted <- wanted_parameters(if (!missing(parm)) parm, names, taxa)
  ends <- lapply(part_spread(object, "basis", level), `[`, wanted)
  structure(cbind(ends$lower, ends$upper), dimnames = list(names[wanted], end_names(level)))
}

part_spread.plsa_gibbs <- function(fit, name, level = NULL) drawn_spread(fit, name, level)

# Variational Bayes for plsa() (src/plsa/vb.h): estimate = "vb". The state of a run is that of the kernel: the counts
# that each component is expected to have made, by row and by taxon, and the priors' parameters.

run_start.plsa_vb_problem <- function(problem, start, control) {
  plsa_vb_run(problem$data, start, problem$settings, control)
}

# A run from means, as starts are drawn, or from a state: list(param, outcome); param holds the means and the state.
plsa_vb_run <- function(data, start, settings, control) {
  fixed <- settings$fixed == "basis"
  state <- if (is.null(start$state)) plsa_vb_state(start, data, settings) else start$state
  param <- c(state, list(
    fixed_basis = fixed, learn = settings$learn, missing = match(settings$missing, c("conditional", "paper")) - 1L
  ))
  out <- .Call(mc_c_plsa_vb_fit, data$view, param, NULL, unclass(control))
  state <- out[c("rows", "basis", "prior")]
  means <- plsa_vb_posterior(state)
  basis <- if (fixed) start$basis else means$basis / rowSums(means$basis)
  list(
    param = list(membership = means$membership / rowSums(means$membership), basis = basis, state = state),
    outcome = out$outcome
  )
}

# As if every count had been made by the means; a basis that is held is known.
plsa_vb_state <- function(start, data, settings) {
  k <- nrow(start$basis)
  rows <- start$membership * data$margins$row_sum
  prior <- settings$dirichlet
  list(
    rows = rows, basis = if (settings$fixed == "basis") start$basis else colSums(rows) * start$basis,
    prior = c(rep_len(prior$membership, k), prior$basis)
  )
}

# Parameters of the Dirichlets.
plsa_vb_posterior <- function(state) {
  k <- ncol(state$rows)
  list(membership = sweep(state$rows, 2L, state$prior[seq_len(k)], "+"), basis = state$basis + state$prior[k + 1L])
}

plsa_vb_permute <- function(param, at) {
  k <- length(at)
  state <- param$state
  state <- list(
    rows = state$rows[, at, drop = FALSE], basis = state$basis[at, , drop = FALSE], prior = state$prior[c(at, k + 1L)]
  )
  c(plsa_permute(param, at), list(state = state))
}

# exp(E log basis), which new rows see of it.
plsa_vb_weights <- function(fit) {
  basis <- unname(fit$posterior$basis)
  pmax(exp(digamma(basis) - digamma(rowSums(basis))), 1e-150)
}

# Memberships of new rows, the posterior of the basis held.
plsa_vb_fold_in <- function(fit, data, control) {
  k <- fit$dims[["k"]]
  known <- fit$fixed == "basis" || is.null(fit$posterior)
  basis <- if (known) unname(fit$param$basis) else plsa_vb_weights(fit)
  settings <- list(fixed = "basis", learn = FALSE, missing = fit$missing, dirichlet = fit$prior)
  plsa_vb_run(data, list(membership = matrix(1 / k, nrow(data$x), k), basis = basis), settings, control)
}

part_spread.plsa <- function(fit, name, level = NULL) {
  now <- fit$posterior[[name]]
  if (!is.null(now) && !(name == "basis" && fit$fixed == "basis")) beta_spread(now, rowSums(now) - now, level)
}
