# Gibbs sampling for plsa() (src/plsa/gibbs.h): estimate = "gibbs". A chain is a sequence of steps that can be saved and
# resumed; chains.R runs it. The state, that of the kernel, is the component of every count and the priors' parameters.

bytes_a_count <- 35 # that a sampler needs while it draws the component of each count (measured)

# Collects what all chains share: data, model, prior, settings.
plsa_gibbs_problem <- function(data, k, settings, control, class = NULL) {
  if (length(data$view$value) && is_whole(data$view)) data$view$value <- round(data$view$value)
  view <- data$view
  if (!is_whole(view)) {
    stop_input("`x` must hold whole numbers with `estimate = \"gibbs\"`, which draws the component of each count.")
  }
  if (!is.null(view$na_start) && settings$missing == "conditional") {
    stop_input(paste(
      "Unknown cells go with `estimate = \"gibbs\"` under `missing = \"paper\"` alone: take that%s."
    ), if (is.null(settings$covariates)) ", or `estimate = \"vb\"`" else "")
  }
  counts <- sum(data$margins$row_sum)
  instead <- if (is.null(settings$covariates)) {
    "take `estimate = \"vb\"`, which draws none"
  } else {
    "take a part of the sites, or shares of fewer counts"
  }
  if (counts > .Machine$integer.max) {
    stop_input("`x` must hold fewer than 2^31 counts with `estimate = \"gibbs\"`: %s.", instead)
  }
  what <- sprintf("`estimate = \"gibbs\"`, for %s,", count_words(counts, "count"))
  check_memory(bytes_a_count * counts, what, instead)
  structure(
    list(data = data, dim = dim(data$x), k = k, settings = settings, control = control, probe = probe_cells(data$x)),
    class = c(class, "plsa_gibbs_problem")
  )
}

plsa_gibbs_sweeps <- function(problem, state, n_sweep, thin = 0L, learn = FALSE, on_tick = NULL) {
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(thin), learn = learn, probe = problem$probe, on_tick = on_tick,
    regression = problem$settings$covariates[c("design", "ridge", "rate")]
  )
  out <- .Call(mc_c_plsa_gibbs_run, problem$data$view, state, plan)
  out$state <- Filter(Negate(is.null), out[c("topic", "prior", "effects", "concentration")])
  out
}

new_job.plsa_gibbs_problem <- function(problem, stream, state = NULL) {
  job <- c(NextMethod(), list(sums = NULL, kept = list()))
  if (is.null(state$topic)) job$phase <- "start"
  job
}

step_job.plsa_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = plsa_gibbs_start(job, problem),
    warmup = warm_up(job, problem$control, gibbs_segment, function(job, n) {
      plsa_gibbs_sweeps(problem, job$state, n, warmup_noted, on_tick = on_tick)
    }),
    draws = plsa_gibbs_draws(job, problem, on_tick)
  )
}

# Each chain starts at components drawn from its own posterior mode, or with equal probabilities.
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
    # Chains do not swap labels that a prior distinguishes: the largest component starts with the largest parameter.
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
    n_start = if (is.null(control$n_start)) 2 else control$n_start, max_iter = 100, tol = 1e-5, n_finish = 1,
    n_polish = 0, n_threads = control$n_threads, progress = FALSE
  )
}

# Learns the prior of all chains in a separate chain as long as a warm-up. Learning waits for components to form, and
# the second half is averaged. It depends on the data alone, so that chains can resume from a checkpoint.
plsa_gibbs_learn <- function(problem) {
  control <- problem$control
  n <- ceiling(max(control$warmup, 1L) / 20)
  problem$settings$covariates <- NULL # the prior that is learnt is the same for all sites
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

# Draws the components of all counts from these memberships and this basis.
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
  by <- problem$settings$covariates
  c(
    list(
      topic = if (length(topic)) unlist(topic, use.names = FALSE) else integer(), prior = plsa_gibbs_prior(problem)
    ),
    if (!is.null(by)) {
      prior <- problem$settings$dirichlet
      list(effects = start_effects(by, param$membership), concentration = sum(rep_len(prior$membership, k)))
    }
  )
}

# Returns the prior in the kernel's form: k + 1 numbers.
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
  if (!is.null(out$regression)) job$regression <- append_notes(job$regression, job$n_draw, out$regression)
  job$n_draw <- job$n_draw + out$n_draw
  sums <- out[c("sum_membership", "sum_basis", "sum_share")]
  job$sums <- if (is.null(job$sums)) sums else Map(`+`, job$sums, sums)
  if (out$n_draw && length(job$kept) < plsa_gibbs_most(problem)) {
    job$kept <- c(job$kept, list(plsa_gibbs_counts(out, problem)))
  }
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

plsa_most_kept <- 1e8 # bytes of what all chains keep for predictions

# Draws that a chain keeps, one of each call of the kernel for draws.
plsa_gibbs_most <- function(problem) {
  room <- plsa_most_kept / (4 * problem$k * sum(as.double(problem$dim)) * problem$control$chains)
  max(1, min(gibbs_parts, floor(room)))
}

# Of a draw, the numbers of counts of each component by row and by attribute.
plsa_gibbs_counts <- function(out, problem) {
  view <- problem$data$view
  k <- problem$k
  value <- if (is.null(view$value)) rep(1, length(view$column)) else view$value
  row <- rep(rep(seq_len(problem$dim[1L]) - 1L, diff(view$start)), value)
  column <- rep(view$column, value)
  table <- function(at, n_row, n_column) matrix(tabulate(at + 1L, n_row * n_column), n_row)
  c(list(
    rows = table(row + problem$dim[1L] * out$topic, problem$dim[1L], k),
    columns = table(out$topic + k * column, k, problem$dim[2L])
  ), Filter(Negate(is.null), out[c("effects", "concentration")]))
}

# Makes a fit from chains.

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
    learnt <- if (inherits(start, "plsa_gibbs")) start$prior else plsa_gibbs_learn(problem)
    problem$settings$dirichlet <- learnt_prior(problem, learnt)
  }
  streams <- draw_streams(control$chains)
  jobs <- run_chains(problem, streams, states)
  fit <- plsa_gibbs_fit(jobs, problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Chains resume from the last states of another fit, recycled if there are more chains, under the current prior.
plsa_gibbs_last <- function(fit, problem) {
  same <- all(fit$dims[c("n", "m", "k")] == c(problem$dim, problem$k)) &&
    identical(fit$names, dimnames_of(problem$data$x)) &&
    identical(dim(fit$last[[1L]]$effects), plsa_effects_dim(problem)) &&
    length(fit$last[[1L]]$topic) == sum(problem$data$margins$row_sum)
  if (!same) {
    stop_input(paste(
      "`start`, a fit, must be of the same table, with names in the same order, and with the same `k` and",
      "`membership`."
    ))
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
  moments_of <- function(job) plsa_gibbs_moments(problem, job)
  chains <- plsa_gibbs_match(lapply(jobs, moments_of), which.max(joint), problem)
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
  trace <- note_frames(jobs, seq_len(1L + ncol(problem$probe)), c("objective", probe_names(problem$probe, names)))
  fit <- new_multicause(
    param = param, objective = c(log_joint = max(trace$draws$objective)), df = NA_real_,
    loglik = plsa_loglik(data$view, param, settings),
    dims = c(n = problem$dim[1L], m = problem$dim[2L], k = k, observed = sum(data$margins$row_observed)),
    trace = trace$draws, warmup = trace$warmup,
    starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = lapply(moments, `[[`, "sd"), last = lapply(jobs, `[[`, "state"), estimate = "gibbs",
    prior = settings$dirichlet, missing = settings$missing, mstep = settings$mstep, fixed = settings$fixed,
    sparsity = list(given = settings$given, scale = settings$scale, effective = c(membership = 0, basis = 0)),
    perplexity = perplexity(param$membership), kept = lapply(chains, `[[`, "kept"),
    margins = data$margins, class = c("plsa_gibbs", "plsa")
  )
  fit <- complete_gibbs(problem, fit, chains)
  fit$row_scale <- plsa_mean_scale(data$view, plsa_states(fit), data$margins$row_sum)
  fit$converged <- chains_agree(fit)
  validate_plsa(fit)
}

# Computes posterior means of one chain's memberships, basis and their squares, from the kernel's sums.
plsa_gibbs_moments <- function(problem, job) UseMethod("plsa_gibbs_moments")

plsa_gibbs_moments.plsa_gibbs_problem <- function(problem, job) {
  n <- problem$dim[1L]
  k <- problem$k
  alpha <- job$state$prior[seq_len(k)]
  total <- sum(alpha) + problem$data$margins$row_sum
  rows <- array(job$sums$sum_membership / job$n_draw, c(n, k, 2L))
  count <- matrix(rows[, , 1L], n)
  square <- matrix(rows[, , 2L], n) + sweep(count, 2L, 2 * alpha + 1, "*")
  c(list(
    membership = sweep(count, 2L, alpha, "+") / total,
    membership_square = sweep(square, 2L, alpha * (alpha + 1), "+") / (total * (total + 1))
  ), basis_moments(problem, job))
}

basis_moments <- function(problem, job) {
  k <- problem$k
  eta <- job$state$prior[k + 1L]
  columns <- array(job$sums$sum_basis / job$n_draw, c(k, problem$dim[2L], 2L))
  share <- matrix(job$sums$sum_share / job$n_draw, k)
  list(
    basis = matrix(columns[, , 1L], k) + eta * share[, 1L],
    basis_square = matrix(columns[, , 2L], k) + eta * (eta + 1) * share[, 2L], kept = job$kept
  )
}

# The prior of all chains, from one that was learnt without covariates.
learnt_prior <- function(problem, learnt) UseMethod("learnt_prior")

learnt_prior.plsa_gibbs_problem <- function(problem, learnt) learnt

# Shape of the effects of covariates; NULL without.
plsa_effects_dim <- function(problem) {
  by <- problem$settings$covariates
  if (!is.null(by)) c(length(by$terms), problem$k)
}

# Adds what a fit has beside memberships and basis; `chains`: those of plsa_gibbs_match().
complete_gibbs <- function(problem, fit, chains) UseMethod("complete_gibbs")

complete_gibbs.plsa_gibbs_problem <- function(problem, fit, chains) fit

# Matches the components of all chains to those of the best chain, ordered by their shares of the counts, or by a prior
# that distinguishes them. Chains keep the order of a supplied prior; a learnt prior defines none.
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
    permute_chain(chain, match_components(chain$basis, reference))
  })
}

# A chain's components in this order. By columns are all but the basis and a draw's counts by column.
permute_chain <- function(chain, at) {
  by_row <- c("basis", "basis_square", "columns")
  for (name in names(chain)) {
    part <- chain[[name]]
    chain[[name]] <- if (name == "kept") {
      lapply(part, permute_chain, at)
    } else if (name == "regression") {
      array(part, c(dim(part)[1L], length(at), dim(part)[3L]))[, at, , drop = FALSE]
    } else if (name == "concentration") {
      part
    } else if (name %in% by_row) {
      part[at, , drop = FALSE]
    } else {
      part[, at, drop = FALSE]
    }
  }
  chain
}

# Memberships of these rows, and the basis, given each draw that was kept: a product of posterior means is not the mean
# of the products, since what a component is hangs together with who has it.
plsa_states.plsa_gibbs <- function(fit, rows = seq_len(fit$dims[["n"]])) {
  lapply(dirichlet_states(fit, Inf, rows), function(state) {
    lapply(state[c("membership", "basis")], function(at) at / rowSums(at))
  })
}

# Computes posterior mean memberships of new rows with the basis fixed.
plsa_gibbs_fold_in <- function(fit, data, basis) {
  alpha <- rep_len(as.double(fit$prior$membership), nrow(basis))
  .Call(mc_c_plsa_gibbs_fold_in, data$view, list(basis = basis, alpha = alpha))
}


is_sampled.plsa_gibbs <- function(fit) TRUE

#' @export
summary.plsa_gibbs <- function(object, ...) sampled_summary(object, ...)

interval_parts.plsa <- function(fit) {
  known <- !is_sampled(fit) && (is.null(fit$posterior) || fit$fixed == "basis")
  if (!known) list(basis = c("component", "taxon"))
}

part_spread.plsa_gibbs <- function(fit, name, level = NULL) drawn_spread(fit, name, level)

# The parameters of the Dirichlets that memberships of some rows, and the basis, follow given each of `n` draws of all
# components.
dirichlet_states <- function(fit, n, rows = seq_len(fit$dims[["n"]])) UseMethod("dirichlet_states")

dirichlet_states.plsa_gibbs <- function(fit, n, rows = seq_len(fit$dims[["n"]])) {
  alpha <- rep_len(fit$prior$membership, fit$dims[["k"]])
  lapply(kept_states(fit, n), function(draw) {
    list(
      membership = sweep(draw$rows[rows, , drop = FALSE], 2L, alpha, "+"), basis = draw$columns + fit$prior$basis
    )
  })
}

# Those of "vb" are the same for each draw.
dirichlet_states.default <- function(fit, n, rows = seq_len(fit$dims[["n"]])) {
  one <- fit$posterior
  one$membership <- one$membership[rows, , drop = FALSE]
  rep(list(one), n)
}

prior_draw.plsa_gibbs <- function(fit) {
  k <- fit$dims[["k"]]
  alpha <- rep_len(fit$prior$membership, k)
  plsa_draw_from(without_draws(fit), list(
    membership = matrix(alpha, fit$dims[["n"]], k, byrow = TRUE), basis = matrix(fit$prior$basis, k, fit$dims[["m"]])
  ))
}

with_data.plsa <- function(fit, x) {
  view <- data_view(x)
  fit$loglik <- plsa_loglik(view, fit$param, fit)
  fit$row_scale <- plsa_row_scale(view, lapply(fit$param, unname), fit$margins$row_sum)
  NextMethod()
}

with_start.plsa <- function(fit, param) {
  if (!is.null(fit$posterior)) {
    fit$posterior <- like_named(plsa_vb_posterior(param$state)[names(fit$posterior)], fit$posterior)
  }
  fit$perplexity <- perplexity(fit$param$membership)
  NextMethod()
}

compared_quantities.plsa <- function(fit, cells) {
  p <- rowSums(fit$param$membership[cells[, 1L], , drop = FALSE] * t(fit$param$basis[, cells[, 2L], drop = FALSE]))
  c(
    named_by_cell(p, "cell", cells), `log-likelihood` = fit$loglik,
    `memberships, sum of squares` = sum(fit$param$membership^2), `basis, sum of squares` = sum(fit$param$basis^2)
  )
}

# A fit whose memberships and basis are drawn from Dirichlets with these parameters.
plsa_draw_from <- function(fit, dirichlet) {
  for (part in intersect(c("effects", "concentration"), names(dirichlet))) fit$param[[part]][] <- dirichlet[[part]]
  for (part in intersect(c("membership", "basis"), names(dirichlet))) {
    fit$param[[part]][] <- draw_dirichlet(dirichlet[[part]])
  }
  fit$loglik <- NA_real_
  fit$row_scale <- fit$margins$row_sum
  fit$perplexity <- perplexity(fit$param$membership)
  fit
}

#' @export
posterior_draws.plsa <- function(fit, nsim = 100, ...) { # nolint: object_name_linter.
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  if (!has_draws(fit)) stop_no_posterior()
  refuse_large(as.double(nsim) * sum(lengths(fit$param)), "The draws", "take fewer with `nsim`")
  states <- dirichlet_states(fit, nsim)
  fit <- without_draws(fit)
  fit$posterior <- NULL
  fit$converged <- NA # it is that of the chains or of the approximation
  lapply(states, function(state) {
    draw <- plsa_draw_from(fit, state)
    if (is.null(fit$x)) draw else with_data(draw, fit$x)
  })
}

# Computes the standard deviation of P(j | i) = sum_c theta_c phi_cj. Given a draw of the components of all counts,
# theta is Dirichlet(a) with sum A and mean m, and phi_cj a Beta variable of mean u_c and variance v_c, so that
#   E (sum_c theta_c phi_c)^2 = [A (sum_c m_c u_c)^2 + sum_c m_c u_c^2 + sum_c (A m_c^2 + m_c) v_c] / (A + 1).
plsa_share_error <- function(fit, rows, share) {
  states <- dirichlet_states(fit, Inf, rows)
  square <- over_states(states, function(state) {
    a <- state$membership
    total <- rowSums(a)
    m <- a / total
    size <- rowSums(state$basis)
    u <- state$basis / size
    v <- u * (1 - u) / (size + 1)
    (total * (m %*% u)^2 + m %*% u^2 + (total * m^2 + m) %*% v) / (total + 1)
  })
  sqrt(pmax(square - unname(share)^2, 0))
}

# Variational Bayes for plsa() (src/plsa/vb.h): estimate = "vb". The state of a run, that of the kernel, is the expected
# counts of each component, by row and by taxon, and the priors' parameters.

run_start.plsa_vb_problem <- function(problem, start, control) {
  plsa_vb_run(problem$data, start, problem$settings, control)
}

# Runs from means, as starting values are drawn, or from a state: list(param, outcome); param holds means and state.
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

# Returns the state as if every count had been made by the means; a fixed basis is known.
plsa_vb_state <- function(start, data, settings) {
  k <- nrow(start$basis)
  rows <- start$membership * data$margins$row_sum
  prior <- settings$dirichlet
  list(
    rows = rows, basis = if (settings$fixed == "basis") start$basis else colSums(rows) * start$basis,
    prior = c(rep_len(prior$membership, k), prior$basis)
  )
}

# Returns the parameters of the Dirichlets.
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

# Returns exp(E log basis), by which new rows are estimated.
plsa_vb_weights <- function(fit) {
  basis <- unname(fit$posterior$basis)
  pmax(exp(digamma(basis) - digamma(rowSums(basis))), 1e-150)
}

# Memberships of new rows, the posterior of the basis held.
plsa_vb_fold_in <- function(fit, data, control, basis) {
  k <- fit$dims[["k"]]
  if (fit$fixed != "basis" && !is.null(fit$posterior)) basis <- plsa_vb_weights(fit)
  settings <- list(fixed = "basis", learn = FALSE, missing = fit$missing, dirichlet = fit$prior)
  plsa_vb_run(data, list(membership = matrix(1 / k, nrow(data$x), k), basis = basis), settings, control)
}

part_spread.plsa <- function(fit, name, level = NULL) {
  now <- fit$posterior[[name]]
  if (!is.null(now) && !(name == "basis" && fit$fixed == "basis")) beta_spread(now, rowSums(now) - now, level)
}
