# From chains to a fit of aspect_bernoulli(estimate = "gibbs"), and what its verbs do otherwise than those of others.

ab_gibbs <- function(data, k, pinned, prior, phantom, start, control, call) {
  refuse_large(9 * prod(as.double(dim(data$x))), "What is summed up for the cells", "use `estimate = \"vb\"`")
  if (k > 256L) stop_input("`k` must be at most 256 with `estimate = \"gibbs\"`, not %d.", k)
  problem <- gibbs_problem(data, pinned, prior, phantom, control)
  states <- if (inherits(start, "aspect_bernoulli_gibbs")) {
    gibbs_last_states(start, problem)
  } else if (!is.null(start)) {
    rep(list(ab_check_start(start, data, k, pinned)), control$chains)
  }
  jobs <- run_chains(problem, draw_streams(control$chains), states)
  ab_gibbs_fit(jobs, problem, call)
}

# Chains go on where those of another fit stopped, in turn where there are more.
gibbs_last_states <- function(fit, problem) {
  last <- fit$last
  if (!identical(unname(fit$dims[c("n", "m", "k")]), c(problem$dim, length(problem$pinned))) ||
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
  trace <- gibbs_trace(jobs, problem, names, kinds)
  fit <- new_multicause(
    param = moments$mean, objective = c(log_joint = max(trace$objective)), df = NA_real_,
    loglik = ab_loglik(data$view, lapply(moments$mean, unname), problem$pinned),
    dims = c(
      n = problem$dim[1L], m = problem$dim[2L], k = length(problem$pinned),
      observed = as.integer(sum(data$margins$row_observed))
    ),
    trace = trace, starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = names, spread = moments$sd, cells = gibbs_cells(jobs, n_draw, problem, names), kinds = kinds,
    kept = lapply(jobs, function(job) job$kept), last = lapply(jobs, function(job) job$state),
    certificate = c(membership_gap = NA_real_, aspects_gap = NA_real_, worst_row = NA_real_),
    pinned = stats::setNames(problem$pinned, labels), estimate = "gibbs", prior = problem$prior, pseudo = c(0, 0, 0),
    density = data_density(data), margins = data$margins, class = c("aspect_bernoulli_gibbs", "aspect_bernoulli")
  )
  fit$converged <- chains_agree(fit, quantities(fit))
  if (isFALSE(fit$converged)) tell_disagreement(fit)
  fit$expected_false <- list(
    absences = expected_false(fit, data$x, kinds), presences = expected_false(fit, data$x, kinds, "presences")
  )
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
gibbs_cells <- function(jobs, n_draw, problem, names) {
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

gibbs_trace <- function(jobs, problem, names, kinds) {
  has <- function(kind) any(vapply(jobs, function(job) any(job$kind == kind), NA))
  notes <- c(1:2, if (has("white")) c(3L, 5L), if (has("black")) c(4L, 6L))
  at <- c(notes, length(gibbs_note_names) + seq_len(ncol(problem$probe)))
  note_frame(jobs, at, c(gibbs_note_names[notes], probe_names(problem$probe, names)))
}

gibbs_starts <- function(jobs) {
  frames <- Map(function(job, chain) if (!is.null(job$starts)) cbind(chain = chain, job$starts), jobs, seq_along(jobs))
  out <- do.call(rbind, frames)
  if (is.null(out)) data.frame(chain = seq_along(jobs), start = 1L, init = "given") else out
}

# Kept states of all chains, at most so many, evenly spaced.
kept_states <- function(fit, most = Inf) {
  all <- do.call(c, fit$kept)
  all[unique(round(seq(1, length(all), length.out = min(most, length(all)))))]
}

# From the sums over all draws; for phantoms other than those the chains went by, from the kept states.
#' @export
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
    total <- if (is.null(total)) scores else Map(`+`, total, scores)
  }
  lapply(total, function(sum) sum / length(states))
}

# How far `missed` spreads over the draws, as standard deviation; NULL where a fit has no draws.
score_spread <- function(fit, rows, kinds, of) UseMethod("score_spread")

#' @export
score_spread.default <- function(fit, rows, kinds, of) NULL

#' @export
score_spread.aspect_bernoulli_gibbs <- function(fit, rows, kinds, of) {
  noise <- if (of == "absences") "white" else "black"
  if (!identical(kinds, fit$kinds) || !any(kinds == noise)) {
    return(NULL)
  }
  fit$cells$missed$sd[rows, , drop = FALSE]
}

# qbeta() without its trouble next to 1 and with tiny shapes, where the distribution is that of a coin.
beta_quantile <- function(p, a, b) {
  out <- (p > b / (a + b)) + 0
  low <- which(a <= b & a >= 1e-3)
  high <- which(a > b & b >= 1e-3)
  out[low] <- stats::qbeta(p, a[low], b[low])
  out[high] <- 1 - stats::qbeta(p, b[high], a[high], lower.tail = FALSE)
  out
}

# Central interval of the Beta distribution with this mean and standard deviation: what is kept of a cell's draws.
beta_interval <- function(mean, sd, level = 0.9) {
  size <- mean * (1 - mean) / sd^2 - 1
  bound <- function(p) {
    out <- mean
    wide <- which(sd > 1e-9 & mean > 0 & mean < 1)
    # A spread as large as it can be is that of a coin: then the Beta distribution has its mass at both ends.
    at <- pmax(size[wide], 0.01)
    out[wide] <- beta_quantile(p, mean[wide] * at, (1 - mean[wide]) * at)
    out
  }
  list(lower = bound((1 - level) / 2), upper = bound((1 + level) / 2))
}
