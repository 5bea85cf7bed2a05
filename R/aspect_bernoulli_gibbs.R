# Gibbs sampling for the aspect Bernoulli model (src/aspect_bernoulli/gibbs.h): aspect_bernoulli(estimate = "gibbs"). A
# chain is a sequence of steps that can be saved and resumed; chains.R runs it.

gibbs_notes_of_kinds <- c("white_share", "black_share", "false_absences", "false_presences")
gibbs_note_names <- c("objective", "log_likelihood", gibbs_notes_of_kinds)

# Collects what all chains share: data, model, prior, settings.
gibbs_problem <- function(data, fixed, prior, control) {
  problem <- list(
    data = data, dim = dim(data$x), fixed = fixed, prior = prior, control = control,
    probe = probe_cells(data$x)
  )
  structure(problem, class = "ab_gibbs_problem")
}

# Runs the kernel from a state.
#   record  which sums and states to keep: list(thin, keep_every, reference, kind); `kind` classifies the components and
#           requests sums over cells; absent entries are not recorded
gibbs_sweeps <- function(problem, state, n_sweep, record = list(), on_tick = NULL) {
  kind <- record$kind
  every <- function(n) if (is.null(n)) 0L else as.integer(n)
  fixed <- problem$fixed
  param <- list(
    membership = state$membership, aspects = state$aspects,
    fixed = unname(c(free = 0L, white = -1L, black = 1L)[fixed])
  )
  code <- if (is.null(kind)) integer(length(fixed)) else unname(c(content = 0L, white = 1L, black = 2L)[kind])
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = every(record$thin), keep_every = every(record$keep_every),
    reference = record$reference, kind = code, probe = problem$probe,
    n_stat = if (is.null(kind)) 0L else if (any(code > 0L)) 6L else 2L,
    on_tick = on_tick
  )
  out <- .Call(mc_c_ab_gibbs_run, problem$data$view, param, prior_parameters(problem$prior, fixed), plan)
  out$state <- out[c("membership", "aspects")]
  out
}

# Estimates the chains' hyperparameters by a variational fit (empirical Bayes).
gibbs_empirical_prior <- function(data, fixed, prior, control) {
  problem <- ab_problem(data, fixed, "vb", prior)
  control <- gibbs_start_control(control)
  vb_empirical(run_starts(problem, control), problem, control)$prior
}

new_job.ab_gibbs_problem <- function(problem, stream, state = NULL) {
  c(NextMethod(), list(n_kept = 0L, reference = NULL, kind = NULL, sums = NULL, kept = list()))
}

step_job.ab_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = gibbs_step_start(job, problem),
    warmup = gibbs_step_warmup(job, problem, on_tick),
    draws = gibbs_step_draws(job, problem, on_tick)
  )
}

# Each chain runs separate variational fits and starts at a draw from the best of them.
gibbs_step_start <- function(job, problem) {
  fixed <- problem$fixed
  if (problem$control$init == "prior") {
    job$state <- gibbs_random_state(prior_state(problem$prior, fixed, problem$dim[1L], problem$dim[2L]), fixed)
  } else {
    vb <- ab_problem(problem$data, fixed, "vb", problem$prior)
    started <- run_starts(vb, gibbs_start_control(problem$control))
    job$starts <- started$starts
    job$state <- gibbs_random_state(started$best$param$state, fixed)
  }
  job$phase <- "warmup"
  job
}

# Draws memberships from Dirichlet and aspects from Beta distributions.
gibbs_random_state <- function(posterior, fixed) {
  membership <- draw_dirichlet(posterior$membership)
  aspects <- posterior$one
  aspects[] <- stats::rbeta(length(aspects), posterior$one, posterior$zero)
  aspects[fixed == "white", ] <- 0
  aspects[fixed == "black", ] <- 1
  list(membership = membership, aspects = aspects)
}

gibbs_step_warmup <- function(job, problem, on_tick) {
  n <- min(gibbs_segment, problem$control$warmup - job$n_warm)
  last <- job$n_warm + n == problem$control$warmup
  param <- job$state
  if (n > 0L) {
    # The last sweeps are averaged: they define the labels of the draws and which components are phantoms.
    record <- if (last) list(thin = 1L, reference = job$state$aspects) else list(thin = warmup_noted)
    out <- gibbs_sweeps(problem, job$state, n, record, on_tick)
    out$note[match(gibbs_notes_of_kinds, gibbs_note_names), ] <- NA # not known before
    job <- after_warmup(job, out, record$thin)
    if (last && out$n_draw) param <- gibbs_means(out, out$n_draw, problem)
  }
  if (job$n_warm == problem$control$warmup) job <- gibbs_label(job, problem, param)
  job
}

# Computes the means of the parameters from the kernel's sums.
gibbs_means <- function(sums, n_draw, problem) {
  k <- length(problem$fixed)
  first <- function(x, n_row, n_column) matrix(x[seq_len(n_row * n_column)] / n_draw, n_row, n_column)
  list(
    membership = first(sums$sum_membership, problem$dim[1L], k), aspects = first(sums$sum_aspects, k, problem$dim[2L])
  )
}

gibbs_label <- function(job, problem, param) {
  fixed <- problem$fixed
  data <- problem$data
  at <- ab_order(param, fixed, data)
  param <- ab_permute(param, at)
  job$state <- ab_permute(job$state, at)
  job$reference <- param$aspects
  job$kind <- phantom_measures(param, data_density(data), fixed, data$margins$column_observed > 0)$kind
  # Missed presences are defined by content: if all components are phantoms, the free ones count as content.
  if (all(job$kind != "content")) job$kind[fixed == "free"] <- "content"
  job$phase <- "draws"
  job
}

gibbs_step_draws <- function(job, problem, on_tick) {
  control <- problem$control
  step <- next_draws(control, job$n_draw, gibbs_parts)
  record <- list(thin = control$thin, keep_every = step$every, reference = job$reference, kind = job$kind)
  out <- gibbs_sweeps(problem, job$state, step$n * control$thin, record, on_tick)
  job <- after_sweeps(job, out)
  job$note <- append_notes(job$note, job$n_draw, out$note)
  job$n_draw <- job$n_draw + out$n_draw
  sums <- out[c("cell", "sum_membership", "sum_aspects")]
  job$sums <- if (is.null(job$sums)) sums else Map(`+`, job$sums, sums)
  job$kept <- c(job$kept, gibbs_kept(out, problem))
  # An interrupt may come before the first state is due to be kept.
  if (out$stopped && job$n_draw && !length(job$kept)) job$kept <- list(out$state)
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

gibbs_kept <- function(out, problem) {
  k <- length(problem$fixed)
  size <- c(problem$dim[1L], problem$dim[2L]) * k
  lapply(seq_len(out$n_kept), function(s) {
    list(
      membership = matrix(out$kept_membership[(s - 1) * size[1L] + seq_len(size[1L])], ncol = k),
      aspects = matrix(out$kept_aspects[(s - 1) * size[2L] + seq_len(size[2L])], k)
    )
  })
}

# Builds the fit of aspect_bernoulli(estimate = "gibbs") from its chains; its methods follow.

ab_gibbs <- function(problem, start, call) {
  data <- problem$data
  control <- problem$control
  k <- length(problem$fixed)
  refuse_large(9 * prod(as.double(dim(data$x))), "What is summed up for the cells", "use `estimate = \"vb\"`")
  if (k > 256L) stop_input("`k` must be at most 256 with `estimate = \"gibbs\"`, not %d.", k)
  states <- if (inherits(start, "aspect_bernoulli_gibbs")) {
    gibbs_last_states(start, problem)
  } else if (!is.null(start)) {
    rep(list(ab_check_start(start, data, k, problem$fixed)), control$chains)
  }
  streams <- draw_streams(control$chains)
  jobs <- run_chains(problem, streams, states)
  fit <- ab_gibbs_fit(jobs, problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Chains resume from the last states of another fit, which are recycled if there are more chains.
gibbs_last_states <- function(fit, problem) {
  last <- fit$last
  if (any(fit$dims[c("n", "m", "k")] != c(problem$dim, length(problem$fixed))) ||
    !identical(unname(fit$fixed), problem$fixed)) {
    stop_input("`start`, a fit, must be of data of the same shape, with the same `k` and `phantom`.")
  }
  if (!identical(fit$names, dimnames_of(problem$data$x))) {
    stop_input("`start`, a fit, must be of data with the same names, in the same order.")
  }
  rep_len(last, problem$control$chains)
}

ab_gibbs_fit <- function(jobs, problem, call) {
  jobs <- drawn_jobs(jobs)
  data <- problem$data
  joint <- vapply(jobs, function(job) mean(job$note[1L, seq_len(job$n_draw)]), 0)
  jobs <- gibbs_match(jobs, which.max(joint), problem)
  kinds <- jobs[[which.max(joint)]]$kind
  names <- dimnames_of(data$x)
  labels <- component_names(length(problem$fixed))
  sides <- list(membership = list(names[[1L]], labels), aspects = list(labels, names[[2L]]))
  n_draw <- sum(vapply(jobs, function(job) job$n_draw, 0L))
  moments <- gibbs_moments(jobs, sides)
  trace <- gibbs_trace(jobs, problem, names)
  fit <- new_multicause(
    param = moments$mean, objective = c(log_joint = max(trace$draws$objective)), df = NA_real_,
    loglik = ab_loglik(data$view, lapply(moments$mean, unname), problem$fixed),
    dims = c(
      n = problem$dim[1L], m = problem$dim[2L], k = length(problem$fixed),
      observed = sum(data$margins$row_observed)
    ),
    trace = trace$draws, warmup = trace$warmup,
    starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = moments$sd, cells = gibbs_cells(jobs, n_draw, problem), kinds = kinds,
    kept = lapply(jobs, function(job) job$kept), last = lapply(jobs, function(job) job$state),
    certificate = no_certificate,
    fixed = stats::setNames(problem$fixed, labels), estimate = "gibbs", prior = problem$prior,
    density = data_density(data), margins = data$margins,
    class = c("aspect_bernoulli_gibbs", "aspect_bernoulli", "aspect_model_gibbs", "aspect_model")
  )
  fit$converged <- chains_agree(fit)
  validate_aspect_bernoulli(fit)
}

# Matches the components of all chains to those of the best chain; fixed ones keep their places.
gibbs_match <- function(jobs, best, problem) {
  free <- which(problem$fixed == "free")
  means <- lapply(jobs, function(job) gibbs_means(job$sums, job$n_draw, problem)$aspects)
  Map(function(job, mean) {
    at <- seq_along(problem$fixed)
    if (length(free) > 1L) {
      at[free] <- free[match_components(mean[free, , drop = FALSE], means[[best]][free, , drop = FALSE])]
    }
    if (is.unsorted(at)) gibbs_permute(job, at, problem) else job
  }, jobs, means)
}

gibbs_permute <- function(job, at, problem) {
  k <- length(at)
  sums <- job$sums
  job$sums$sum_membership <- as.vector(array(sums$sum_membership, c(problem$dim[1L], k, 2L))[, at, ])
  job$sums$sum_aspects <- as.vector(array(sums$sum_aspects, c(k, problem$dim[2L], 2L))[at, , ])
  job$kept <- lapply(job$kept, ab_permute, at)
  job$state <- ab_permute(job$state, at)
  job$kind <- job$kind[at]
  job
}

# Computes means and standard deviations of the parameters over all draws.
gibbs_moments <- function(jobs, sides) {
  moments <- chain_moments(jobs, names(sides))
  each <- Map(function(part, side) lapply(part, structure, dimnames = side), moments, sides)
  # Means of rows sum to 1 only up to rounding.
  each$membership$mean <- each$membership$mean / rowSums(each$membership$mean)
  each$aspects$mean <- pmin(each$aspects$mean, 1)
  list(mean = lapply(each, function(part) part$mean), sd = lapply(each, function(part) part$sd))
}

# Computes mean scores of cells, n x m each, with standard deviations of two of them; of the probability alone if no
# chain has a phantom. In a chain without one nothing is missed: a taxon is present where it is found.
gibbs_cells <- function(jobs, n_draw, problem) {
  totals <- lapply(jobs, function(job) {
    n_stat <- length(job$sums$cell) / prod(problem$dim)
    sums <- array(job$sums$cell, c(problem$dim[2L], n_stat, problem$dim[1L]))
    part <- lapply(seq_len(n_stat), function(s) t(matrix(sums[, s, ], problem$dim[2L])))
    if (n_stat == 2) c(part, list(0, 0), part[1L], list(0)) else part
  })
  total <- Reduce(function(a, b) Map(`+`, a, b), totals)
  moments <- function(at) {
    mean <- total[[at]] / n_draw
    list(mean = mean, sd = sqrt(pmax(total[[at + 1L]] / n_draw - mean^2, 0)))
  }
  out <- list(probability = moments(1L))
  if (!is.matrix(total[[4L]])) {
    return(out)
  }
  c(out, list(
    missed = moments(3L), present = list(mean = total[[5L]] / n_draw), phantom = list(mean = total[[6L]] / n_draw)
  ))
}

gibbs_trace <- function(jobs, problem, names) {
  has <- function(kind) any(vapply(jobs, function(job) any(job$kind == kind), NA))
  notes <- c(1:2, if (has("white")) c(3L, 5L), if (has("black")) c(4L, 6L))
  at <- c(notes, length(gibbs_note_names) + seq_len(ncol(problem$probe)))
  note_frames(jobs, at, c(gibbs_note_names[notes], probe_names(problem$probe, names)))
}

# Scores cells from the sums over all draws; for phantoms other than those of the chains, from the kept states.
cell_scores.aspect_bernoulli_gibbs <- function(fit, rows, kinds, of = "absences") {
  if (!identical(kinds, fit$kinds)) {
    return(gibbs_scores_of_states(fit, rows, kinds, of))
  }
  part <- function(name) fit$cells[[name]]$mean[rows, , drop = FALSE]
  p <- part("probability")
  present <- if (all(kinds == "content")) p else part("present")
  if (of == "presences") {
    p <- 1 - p
    present <- 1 - present
  }
  none <- 0 * p
  noise <- any(kinds == if (of == "absences") "white" else "black")
  list(
    probability = p, present = present, missed = if (noise) part("missed") else none,
    phantom = if (noise) part("phantom") else none
  )
}

gibbs_scores_of_states <- function(fit, rows, kinds, of) {
  states <- kept_states(fit)
  total <- NULL
  for (state in states) {
    fit$param <- state
    scores <- cell_scores.aspect_bernoulli(fit, rows, kinds, of)
    scores$bare <- NULL # of one state
    total <- if (is.null(total)) scores else Map(`+`, total, scores)
  }
  lapply(total, function(sum) sum / length(states))
}

score_spread.aspect_bernoulli_gibbs <- function(fit, rows, kinds, of) {
  noise <- if (of == "absences") "white" else "black"
  if (!identical(kinds, fit$kinds) || !any(kinds == noise)) {
    return(NULL)
  }
  fit$cells$missed$sd[rows, , drop = FALSE]
}

estimator_words.aspect_model_gibbs <- function(fit) "Gibbs"

reached_sentence.aspect_model_gibbs <- function(fit, digits = 4L) sampled_sentence(fit)

found_sentences.aspect_bernoulli_gibbs <- function(fit, digits = 4L) c(NextMethod(), disagreement_sentence(fit))

detail_sentences.aspect_bernoulli_gibbs <- function(fit, digits = 4L) c(NextMethod(), trust_sentence(fit))

#' @export
summary.aspect_model_gibbs <- function(object, ...) {
  check_dots(...)
  structure(
    list(
      fit = object[c("dims", "objective", "converged", "starts", "trace", "names", "estimate")], seed = object$seed,
      quantities = quantity_table(object), phantoms = summarised_phantoms(object),
      expected_false = expected_numbers(object),
      n_missing = object$dims[["n"]] * object$dims[["m"]] - object$dims[["observed"]],
      allowed = allowed_bounds(object), screen = fit_screen(object), details = detail_sentences(object)
    ),
    class = "summary.aspect_bernoulli_gibbs"
  )
}

#' @export
print.summary.aspect_bernoulli_gibbs <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print_screen(x$screen, Inf)
  write_sentences(c(x$details, if (!is.null(x$allowed)) allowed_sentences(x$allowed)))
  if (x$n_missing > 0) cat(sprintf("%s unknown\n", count_words(x$n_missing, "cell")))
  print_sampled(x, digits)
  print_phantoms_below(x)
  invisible(x)
}

#' @export
logLik.aspect_model_gibbs <- function(object, ...) {
  stop_input(paste(
    "`estimate = \"gibbs\"` samples a posterior and maximises nothing, so logLik(), AIC() and BIC() have no meaning",
    "for it; `fit$trace$log_likelihood` has the log-likelihood of each draw."
  ))
}

#' @rdname predict.aspect_bernoulli
#' @export
predict.aspect_model_gibbs <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                                       rows = NULL, level = NULL) {
  type <- check_choice(type)
  own <- is.null(newdata)
  if (!is.null(level)) {
    level <- check_number(level, "level", 0, 1, open = TRUE)
    if (!own || type != "response") {
      stop_input(
        "`level` is for the probabilities of the data's own cells: without `newdata`, `type = \"response\"`."
      )
    }
  }
  if (!own) {
    return(predict.aspect_model(object, newdata, type, ..., rows = rows))
  }
  out <- predict.aspect_model(object, type = type, ..., rows = rows)
  if (type != "response") {
    return(out)
  }
  at <- pick(rows, object$dims[["n"]], object$names[[1L]], "rows")
  cells <- lapply(object$cells$probability, function(part) {
    structure(part[at, , drop = FALSE], dimnames = dimnames(out))
  })
  if (is.null(level)) cells$mean else c(cells["mean"], beta_interval(cells$mean, cells$sd, level))
}

is_sampled.aspect_model_gibbs <- function(fit) TRUE

prior_draw.aspect_bernoulli_gibbs <- function(fit) {
  fixed <- unname(fit$fixed)
  kept_draw(fit, gibbs_random_state(prior_state(fit$prior, fixed, fit$dims[["n"]], fit$dims[["m"]]), fixed), NULL)
}

with_data.aspect_bernoulli <- function(fit, x) {
  fit$loglik <- ab_loglik(data_view(x), lapply(fit$param, unname), unname(fit$fixed))
  NextMethod()
}

with_start.aspect_bernoulli <- function(fit, param) {
  if (!is.null(fit$posterior)) fit$posterior <- like_named(param$state[names(fit$posterior)], fit$posterior)
  if (!is.null(fit$effort)) fit$effort <- effort_curve(param$coef, fit$effort$values)
  NextMethod()
}

compared_quantities.aspect_bernoulli <- function(fit, cells) {
  c(
    named_by_cell(fitted(fit)[cells], "cell", cells), `log-likelihood` = fit$loglik,
    `memberships, sum of squares` = sum(fit$param$membership^2), `components, sum` = sum(fit$param$aspects),
    if (any(fit$fixed == "white")) {
      kinds <- ifelse(fit$fixed == "free", "content", fit$fixed)
      c(`false absences` = expected_false(fit, fit$x, kinds)[["expected"]])
    }
  )
}

interval_parts.aspect_model <- function(fit) {
  if (!is.null(fit$posterior) || is_sampled(fit)) list(aspects = c("component", "taxon"))
}

part_spread.aspect_bernoulli_gibbs <- function(fit, name, level = NULL) drawn_spread(fit, name, level)

# Returns the mean probabilities of cells over draws, as fitted() does.
row_cells.aspect_model_gibbs <- function(fit, family) row_cells.default(fit, family)
