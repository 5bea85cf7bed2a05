# Gibbs sampling for the aspect Bernoulli model (src/aspect_bernoulli/gibbs.h): aspect_bernoulli(estimate = "gibbs").
# What a chain does, in steps that can be saved and resumed; chains.R runs it.

gibbs_note_names <- c(
  "objective", "log_likelihood", "white_share", "black_share", "false_absences", "false_presences"
)

# What all chains share: data, model, prior, settings.
gibbs_problem <- function(data, pinned, prior, control) {
  problem <- list(
    data = data, dim = dim(data$x), pinned = pinned, prior = prior, control = control,
    probe = probe_cells(data$x)
  )
  structure(problem, class = "ab_gibbs_problem")
}

# Calls the kernel from a state.
#   record  what is kept of the sweeps: list(thin, keep_every, reference, kind), the last what each component is, whose
#           sums over cells are wanted; what is not there is not recorded
gibbs_sweeps <- function(problem, state, n_sweep, record = list(), on_tick = NULL) {
  kind <- record$kind
  every <- function(n) if (is.null(n)) 0L else as.integer(n)
  pinned <- problem$pinned
  param <- list(
    membership = state$membership, aspects = state$aspects,
    pinned = unname(c(free = 0L, white = -1L, black = 1L)[pinned])
  )
  code <- if (is.null(kind)) integer(length(pinned)) else unname(c(content = 0L, white = 1L, black = 2L)[kind])
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = every(record$thin), keep_every = every(record$keep_every),
    reference = record$reference, kind = code, probe = problem$probe,
    n_stat = if (is.null(kind)) 0L else if (any(code > 0L)) 6L else 2L,
    on_tick = on_tick
  )
  out <- .Call(mc_c_ab_gibbs_run, problem$data$view, param, prior_parameters(problem$prior, pinned), plan)
  out$state <- out[c("membership", "aspects")]
  out
}

# Empirical Bayes for the chains: the hyperparameters of a variational fit.
gibbs_empirical_prior <- function(data, pinned, prior, control) {
  problem <- ab_problem(data, pinned, "vb", prior)
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

# Each chain has variational fits of its own, and begins at a draw from the best of them.
gibbs_step_start <- function(job, problem) {
  pinned <- problem$pinned
  if (problem$control$init == "prior") {
    job$state <- gibbs_random_state(prior_state(problem$prior, pinned, problem$dim[1L], problem$dim[2L]), pinned)
  } else {
    vb <- ab_problem(problem$data, pinned, "vb", problem$prior)
    started <- run_starts(vb, gibbs_start_control(problem$control))
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
    record <- if (last) list(thin = 1L, reference = job$state$aspects) else list()
    out <- gibbs_sweeps(problem, job$state, n, record, on_tick)
    job <- after_sweeps(job, out)
    job$n_warm <- job$n_warm + out$n_done
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
  job$kind <- phantom_measures(param, data_density(data), pinned, data$margins$column_observed > 0)$kind
  # What phantoms miss is said in terms of content: where all would be phantoms, those that are free are content.
  if (all(job$kind != "content")) job$kind[pinned == "free"] <- "content"
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

# From chains to a fit of aspect_bernoulli(estimate = "gibbs"), and what its verbs do otherwise than those of others.

ab_gibbs <- function(problem, start, call) {
  data <- problem$data
  control <- problem$control
  k <- length(problem$pinned)
  refuse_large(9 * prod(as.double(dim(data$x))), "What is summed up for the cells", "use `estimate = \"vb\"`")
  if (k > 256L) stop_input("`k` must be at most 256 with `estimate = \"gibbs\"`, not %d.", k)
  states <- if (inherits(start, "aspect_bernoulli_gibbs")) {
    gibbs_last_states(start, problem)
  } else if (!is.null(start)) {
    rep(list(ab_check_start(start, data, k, problem$pinned)), control$chains)
  }
  streams <- draw_streams(control$chains)
  fit <- ab_gibbs_fit(run_chains(problem, streams, states), problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Chains go on where those of another fit stopped, in turn where there are more.
gibbs_last_states <- function(fit, problem) {
  last <- fit$last
  if (any(fit$dims[c("n", "m", "k")] != c(problem$dim, length(problem$pinned))) ||
    !identical(unname(fit$pinned), problem$pinned)) {
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
  labels <- component_names(length(problem$pinned))
  sides <- list(membership = list(names[[1L]], labels), aspects = list(labels, names[[2L]]))
  n_draw <- sum(vapply(jobs, function(job) job$n_draw, 0L))
  moments <- gibbs_moments(jobs, n_draw, sides)
  trace <- gibbs_trace(jobs, problem, names)
  fit <- new_multicause(
    param = moments$mean, objective = c(log_joint = max(trace$objective)), df = NA_real_,
    loglik = ab_loglik(data$view, lapply(moments$mean, unname), problem$pinned),
    dims = c(
      n = problem$dim[1L], m = problem$dim[2L], k = length(problem$pinned),
      observed = sum(data$margins$row_observed)
    ),
    trace = trace, starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = moments$sd, cells = gibbs_cells(jobs, n_draw, problem), kinds = kinds,
    kept = lapply(jobs, function(job) job$kept), last = lapply(jobs, function(job) job$state),
    certificate = no_certificate,
    pinned = stats::setNames(problem$pinned, labels), estimate = "gibbs", prior = problem$prior,
    density = data_density(data), margins = data$margins, class = c("aspect_bernoulli_gibbs", "aspect_bernoulli")
  )
  fit$converged <- chains_agree(fit)
  validate_aspect_bernoulli(fit)
}

# Components of all chains in the order of the best one's; pinned ones are in their places.
gibbs_match <- function(jobs, best, problem) {
  free <- which(problem$pinned == "free")
  means <- lapply(jobs, function(job) gibbs_means(job$sums, job$n_draw, problem)$aspects)
  Map(function(job, mean) {
    at <- seq_along(problem$pinned)
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

# Means and standard deviations of the parameters over all draws.
gibbs_moments <- function(jobs, n_draw, sides) {
  each <- lapply(stats::setNames(names(sides), names(sides)), function(name) {
    dim <- dim(jobs[[1L]]$state[[name]])
    total <- Reduce(`+`, lapply(jobs, function(job) job$sums[[paste0("sum_", name)]]))
    half <- seq_len(prod(dim))
    mean <- total[half] / n_draw
    sd <- sqrt(pmax(total[-half] / n_draw - mean^2, 0))
    lapply(list(mean = mean, sd = sd), matrix, dim[1L], dim[2L], dimnames = sides[[name]])
  })
  # The means of rows sum to 1 up to rounding.
  each$membership$mean <- each$membership$mean / rowSums(each$membership$mean)
  each$aspects$mean <- pmin(each$aspects$mean, 1)
  list(mean = lapply(each, function(part) part$mean), sd = lapply(each, function(part) part$sd))
}

# Means of the scores of cells, n x m each, with standard deviations of two of them; of the probability alone where no
# chain has a phantom. In a chain without one what is present is what is found, and nothing is missed.
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
  note_frame(jobs, at, c(gibbs_note_names[notes], probe_names(problem$probe, names)))
}

# From the sums over all draws; for phantoms other than those the chains went by, from the kept states.
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

# Methods for fits of aspect_bernoulli(estimate = "gibbs").

fit_sentences.aspect_bernoulli_gibbs <- function(fit, digits = 4L) sampled_sentences(fit)

#' @export
summary.aspect_bernoulli_gibbs <- function(object, ...) {
  check_dots(...)
  structure(
    list(
      fit = object[c("dims", "objective", "converged", "starts", "trace", "names", "estimate")], seed = object$seed,
      quantities = quantity_table(object), phantoms = phantoms(object), expected_false = expected_numbers(object),
      n_missing = object$dims[["n"]] * object$dims[["m"]] - object$dims[["observed"]],
      allowed = allowed_bounds(object), sentences = found_sentences(object),
      title = c(known_by(object), fit_sentences(object))
    ),
    class = "summary.aspect_bernoulli_gibbs"
  )
}

#' @export
print.summary.aspect_bernoulli_gibbs <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  write_sentences(c(x$sentences, if (!is.null(x$allowed)) allowed_sentences(x$allowed), x$title))
  if (x$n_missing > 0) cat(sprintf("%s unknown\n", count_words(x$n_missing, "cell")))
  print_sampled(x, digits)
  cat("\n")
  print(x$phantoms)
  invisible(x)
}

#' @export
logLik.aspect_bernoulli_gibbs <- function(object, ...) {
  stop_input(paste(
    "`estimate = \"gibbs\"` samples a posterior and maximises nothing, so logLik(), AIC() and BIC() have no meaning",
    "for it; `fit$trace$log_likelihood` has the log-likelihood of each draw."
  ))
}

#' @rdname predict.aspect_bernoulli
#' @export
predict.aspect_bernoulli_gibbs <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
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
    return(predict.aspect_bernoulli(object, newdata, type, ..., rows = rows))
  }
  out <- predict.aspect_bernoulli(object, type = type, ..., rows = rows)
  if (type != "response") {
    return(out)
  }
  at <- pick(rows, object$dims[["n"]], object$names[[1L]], "rows")
  cells <- lapply(object$cells$probability, function(part) {
    structure(part[at, , drop = FALSE], dimnames = dimnames(out))
  })
  if (is.null(level)) cells$mean else c(cells["mean"], beta_interval(cells$mean, cells$sd, level))
}

is_sampled.aspect_bernoulli_gibbs <- function(fit) TRUE

part_spread.aspect_bernoulli_gibbs <- function(fit, name, level = NULL) drawn_spread(fit, name, level)

# The means over draws of the cells' probabilities, as fitted() gives them.
row_cells.aspect_bernoulli_gibbs <- function(fit, family) row_cells.default(fit, family)
