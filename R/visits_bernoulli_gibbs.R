# Gibbs sampling of the model of visits with detection by covariates (src/visits_bernoulli/gibbs.h):
# visits_bernoulli(estimate = "gibbs"). A chain is a sequence of steps; chains.R runs it.

# Collects what all chains share: visits, model, prior, settings.
visits_gibbs_problem <- function(cell, data, k, settings, control) {
  structure(
    list(cell = cell, data = data, k = k, settings = settings, control = control, dim = dim(cell)),
    class = "visits_gibbs_problem"
  )
}

# Returns the sharing of slopes in the kernel's form.
gibbs_sharing <- function(settings) {
  at <- match("(Intercept)", settings$by$terms)
  list(
    shared = settings$sharing == "partial", taxon = settings$by$taxon + 0,
    intercept = if (is.na(at)) -1L else at - 1L, center_sd = settings$prior$detection
  )
}

visits_sweeps <- function(problem, state, n_sweep, thin = 0L, keep_every = 0L, on_tick = NULL) {
  settings <- problem$settings
  share <- list(mean = state$center, spread = state$spread)
  if (settings$sharing != "partial") share <- settings$share
  param <- detected_param(c(state, list(added = rep(0, problem$dim[3L]))), settings$by, share)
  param$communities <- settings$communities[c("design", "ridge")]
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(thin), keep_every = as.integer(keep_every), on_tick = on_tick,
    sharing = gibbs_sharing(settings)
  )
  out <- .Call(
    mc_c_ab_visits_gibbs, problem$cell, param, prior_parameters(settings$prior, rep("free", problem$k)), plan
  )
  out$state <- out[c(
    "membership", "aspects", "slopes", "center", "spread", "beta", if (!is.null(out$effects)) "effects"
  )]
  out
}

new_job.visits_gibbs_problem <- function(problem, stream, state = NULL) {
  c(NextMethod(), list(parts = list()))
}

step_job.visits_gibbs_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = visits_step_start(job, problem),
    warmup = warm_up(job, problem$control, gibbs_segment, function(job, n) {
      visits_sweeps(problem, job$state, n, warmup_noted, on_tick = on_tick)
    }),
    draws = visits_step_draws(job, problem, on_tick)
  )
}

# Each chain starts at a draw around its own mode, or from the prior.
visits_step_start <- function(job, problem) {
  control <- problem$control
  settings <- problem$settings
  d <- nrow(settings$by$design)
  share <- start_sharing(settings$by, settings)
  if (control$init == "prior") {
    job$state <- visits_prior_state(problem)
  } else {
    mode <- visits_problem(problem$cell, problem$data, problem$k, settings)
    mode$settings$prior$aspects <- pmax(settings$prior$aspects, 1)
    mode$settings$prior$membership <- max(settings$prior$membership, 1)
    started <- run_starts(mode, fit_control(
      n_start = if (is.null(control$n_start)) 2 else control$n_start, max_iter = 200, tol = 1e-6, n_finish = 1,
      n_polish = 0, n_threads = control$n_threads, progress = FALSE
    ))
    job$starts <- started$starts
    best <- started$best$param
    near <- gibbs_random_state(list(
      membership = 1 + problem$dim[2L] * best$membership / 2,
      one = 1 + 10 * best$aspects, zero = 1 + 10 * (1 - best$aspects)
    ), rep("free", problem$k))
    slopes <- best$slopes
    slopes[] <- pmax(-5, pmin(5, slopes)) + stats::rnorm(length(slopes), 0, 0.2)
    job$state <- c(near, list(slopes = slopes, center = share$mean + stats::rnorm(length(share$mean), 0, 0.2),
      spread = rep(1, d), beta = as.double(settings$prior$aspects)))
    if (!is.null(best$effects)) {
      job$state$effects <- best$effects + stats::rnorm(length(best$effects), 0, 0.2)
      job$state$membership <- multinomial_shares(settings$communities$design, job$state$effects)
    }
  }
  job$phase <- "warmup"
  job
}

# Draws all parameters from their prior.
visits_prior_state <- function(problem) {
  settings <- problem$settings
  m <- problem$dim[2L]
  d <- nrow(settings$by$design)
  beta <- as.double(settings$prior$aspects)
  if (settings$sharing == "partial") beta <- beta * exp(stats::rnorm(2L))
  own <- utils::modifyList(settings$prior, list(aspects = beta))
  state <- gibbs_random_state(
    prior_state(own, rep("free", problem$k), problem$dim[1L], m), rep("free", problem$k)
  )
  center <- stats::rnorm(d + ncol(settings$by$taxon), 0, settings$prior$detection)
  spread <- abs(stats::rcauchy(d))
  shared <- settings$sharing == "partial"
  mean <- if (shared) prior_means(settings$by, center) else matrix(0, d, m)
  sd <- if (shared) spread else settings$share$spread
  state <- c(state, list(slopes = mean + sd * stats::rnorm(d * m), center = center, spread = spread, beta = beta))
  by <- settings$communities
  if (!is.null(by)) {
    state$effects <- matrix(
      stats::rnorm(nrow(by$design) * problem$k, 0, settings$prior$communities), nrow(by$design)
    )
    state$membership <- multinomial_shares(by$design, state$effects)
  }
  state
}

visits_step_draws <- function(job, problem, on_tick) {
  control <- problem$control
  step <- next_draws(control, job$n_draw, gibbs_parts)
  out <- visits_sweeps(problem, job$state, step$n * control$thin, control$thin, step$every, on_tick)
  job <- after_sweeps(job, out)
  job$n_draw <- job$n_draw + out$n_draw
  # An interrupt leaves columns without draws.
  drawn <- lapply(out[c("note", "richness", "sites", "all_slopes", "all_effects")], function(part) {
    part[, seq_len(out$n_draw), drop = FALSE]
  })
  kept <- lapply(seq_len(out$n_kept), function(s) {
    state <- list(
      membership = matrix(out$kept_membership[, s], ncol = problem$k),
      aspects = matrix(out$kept_aspects[, s], problem$k),
      slopes = matrix(out$all_slopes[, s * step$every], nrow(out$slopes))
    )
    if (nrow(out$all_effects)) state$effects <- matrix(out$all_effects[, s * step$every], ncol = problem$k)
    state
  })
  job$parts <- c(job$parts, list(c(drawn, out[c("cell", "sum_membership", "sum_aspects")], list(kept = kept))))
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

# Builds the fit from its chains.

visits_gibbs <- function(problem, start, call) {
  refuse_large(4 * prod(problem$dim[1:2]), "What is summed up for the cells", "use `estimate = \"map\"`")
  per_draw <- sum(problem$dim[1:2]) + prod(dim(visit_rates(problem$cell, problem$settings)$slopes))
  refuse_large(
    as.double(problem$control$chains) * problem$control$draws * per_draw, "The draws",
    "draw fewer, or thin them, in mcmc_control()"
  )
  states <- NULL
  if (inherits(start, "visits_bernoulli_gibbs")) {
    states <- rep_len(start$last, problem$control$chains)
    same <- vapply(states, function(state) {
      identical(dim(state$membership), c(problem$dim[1L], problem$k)) && ncol(state$slopes) == problem$dim[2L] &&
        nrow(state$slopes) == nrow(problem$settings$by$design) &&
        identical(nrow(state$effects), nrow(problem$settings$communities$design))
    }, NA)
    if (!all(same)) {
      stop_input("`start`, a fit, must be of data of the same shape, with the same `k`, `detection` and `communities`.")
    }
  } else if (!is.null(start)) {
    stop_input("`start` must be a fit with `estimate = \"gibbs\"`, whose chains are resumed, or NULL.")
  }
  streams <- draw_streams(problem$control$chains)
  jobs <- run_chains(problem, streams, states)
  fit <- visits_gibbs_fit(jobs, problem, call)
  fit$seed <- attr(streams, "seed")
  fit
}

visits_gibbs_fit <- function(jobs, problem, call) {
  jobs <- drawn_jobs(jobs)
  data <- problem$data
  settings <- problem$settings
  k <- problem$k
  n <- problem$dim[1L]
  m <- problem$dim[2L]
  chains <- lapply(jobs, visits_chain)
  joint <- vapply(chains, function(chain) mean(chain$note[1L, ]), 0)
  chains <- match_visit_chains(chains, which.max(joint), k, m)
  n_draw <- sum(vapply(jobs, function(job) job$n_draw, 0L))
  mean_of <- function(part) Reduce(`+`, lapply(chains, `[[`, part)) / n_draw
  draws <- visit_draws(chains, problem)
  kept <- visit_states(chains, settings)
  settings$share <- drawn_sharing(chains, settings)
  trace <- visit_trace(jobs, chains, settings)
  follows <- settings$communities
  fit <- new_multicause(
    param = drawn_means(mean_of, draws, problem), objective = c(log_joint = max(trace$draws$objective)),
    loglik = NA_real_, df = NA_real_, dims = c(n = n, m = m, k = k, observed = sum(data$margins$row_observed)),
    trace = trace$draws, warmup = trace$warmup,
    starts = gibbs_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    names = dimnames_of(data$x), spread = visit_spread(kept, n, m, k), cells = visit_cells(mean_of("cell"), n, m),
    kinds = rep("content", k), kept = kept, last = lapply(jobs, function(job) job$state), certificate = no_certificate,
    fixed = stats::setNames(rep("free", k), component_names(k)), estimate = "gibbs", prior = settings$prior,
    density = data_density(data), margins = data$margins, missed_by = "model", visits = problem$cell,
    detection = detection_answer(settings$by, settings), rare = rare_attributes(as.matrix(data$x), settings$rare),
    draws = draws, communities = if (!is.null(follows)) communities_answer(follows),
    class = c("visits_bernoulli_gibbs", "visits_bernoulli", "aspect_model_gibbs", "aspect_model")
  )
  fit$loglik <- visits_run(
    problem$cell, visit_param(fit), NULL, fit_control(max_iter = 0, n_start = 1)
  )$outcome$objective
  fit$converged <- chains_agree(fit)
  validate_aspect_bernoulli(fit)
}

# Collects all chains' draws of sites and taxa, and the coefficients on the covariates' scale.
visit_draws <- function(chains, problem) {
  by <- problem$settings$by
  follows <- problem$settings$communities
  all <- function(part) do.call(cbind, lapply(chains, `[[`, part))
  slopes <- all("all_slopes")
  own <- by$basis %*% matrix(slopes, nrow(by$design))
  list(
    richness = all("richness"), sites = all("sites"),
    detection = array(
      own, c(nrow(by$design), problem$dim[2L], ncol(slopes)), list(by$terms, dimnames_of(problem$data$x)[[2L]], NULL)
    ),
    communities = if (!is.null(follows)) {
      effect_draws(all("all_effects"), follows, problem$k, component_names(problem$k))
    }
  )
}

# Computes the means of the parameters; mean_of(part): of a sum over the chains.
drawn_means <- function(mean_of, draws, problem) {
  k <- problem$k
  names <- dimnames_of(problem$data$x)
  labels <- component_names(k)
  membership <- matrix(mean_of("sum_membership"), ncol = k)
  c(list(
    membership = structure(membership / rowSums(membership), dimnames = list(names[[1L]], labels)),
    aspects = structure(pmin(matrix(mean_of("sum_aspects"), k), 1), dimnames = list(labels, names[[2L]])),
    detection = rowMeans(draws$detection, dims = 2L),
    added = stats::setNames(rep(0, problem$dim[3L]), dimnames(problem$cell)[[3L]])
  ), if (!is.null(draws$communities)) list(communities = rowMeans(draws$communities, dims = 2L)))
}

# Returns the rows of a chain's notes for the mean and the spread of slopes among taxa.
sharing_notes <- function(by) {
  n_mean <- nrow(by$design) + ncol(by$taxon)
  list(mean = 4L + seq_len(n_mean), spread = 4L + n_mean + seq_len(nrow(by$design)))
}

drawn_sharing <- function(chains, settings) {
  if (settings$sharing != "partial") {
    return(settings$share)
  }
  notes <- do.call(cbind, lapply(chains, `[[`, "note"))
  lapply(sharing_notes(settings$by), function(rows) rowMeans(notes[rows, , drop = FALSE]))
}

visit_trace <- function(jobs, chains, settings) {
  by <- settings$by
  quantity <- c(
    "objective", "log_likelihood", "missed", "presences", sprintf("mean[%s]", c(by$terms, colnames(by$taxon))),
    sprintf("spread[%s]", by$terms)
  )
  for (i in seq_along(jobs)) jobs[[i]]$note <- chains[[i]]$note
  used <- if (settings$sharing == "partial") seq_along(quantity) else 1:4
  note_frames(jobs, used, quantity[used])
}

# Returns the states that each chain kept, with coefficients on the covariates' scale.
visit_states <- function(chains, settings) {
  by <- settings$by
  follows <- settings$communities
  lapply(chains, function(chain) {
    lapply(chain$kept, function(state) {
      own <- list(detection = by$basis %*% state$slopes)
      if (!is.null(follows)) own$communities <- follows$basis %*% centred_effects(state$effects)
      c(state[c("membership", "aspects")], own)
    })
  })
}

# Joins the parts of a chain.
visits_chain <- function(job) {
  bind <- function(name) do.call(cbind, lapply(job$parts, `[[`, name))
  add <- function(name) Reduce(`+`, lapply(job$parts, `[[`, name))
  drawn <- c("note", "richness", "sites", "all_slopes", "all_effects")
  sums <- c("cell", "sum_membership", "sum_aspects")
  kept <- do.call(c, lapply(job$parts, `[[`, "kept"))
  parts <- intersect(names(job$state), c("membership", "aspects", "slopes", "effects"))
  if (!length(kept)) kept <- list(job$state[parts])
  c(
    lapply(stats::setNames(nm = drawn), bind), lapply(stats::setNames(nm = sums), add),
    list(kept = kept, n_draw = job$n_draw)
  )
}

# Matches the components of all chains to those of the best chain.
match_visit_chains <- function(chains, best, k, m) {
  means <- lapply(chains, function(chain) matrix(chain$sum_aspects, k, m) / chain$n_draw)
  Map(function(chain, mean) {
    at <- if (k > 1L) match_components(mean, means[[best]]) else 1L
    if (is.unsorted(at)) {
      chain$sum_membership <- matrix(chain$sum_membership, ncol = k)[, at]
      chain$sum_aspects <- matrix(chain$sum_aspects, k)[at, ]
      extent <- dim(chain$all_effects)
      chain$all_effects[] <- array(chain$all_effects, c(extent[1L] / k, k, extent[2L]))[, at, ]
      chain$kept <- lapply(chain$kept, visits_permute, at)
    }
    chain
  }, chains, means)
}

# Computes standard deviations of memberships and aspects over the kept states.
visit_spread <- function(kept, n, m, k) {
  states <- do.call(c, kept)
  sd_of <- function(part, n_row, n_column) {
    values <- vapply(states, function(state) as.vector(state[[part]]), numeric(n_row * n_column))
    values <- matrix(values, n_row * n_column)
    matrix(sqrt(pmax(rowMeans(values^2) - rowMeans(values)^2, 0)), n_row, n_column)
  }
  list(membership = sd_of("membership", n, k), aspects = sd_of("aspects", k, m))
}

# Computes for every cell the probability of a presence before its visits and after them, over all draws.
visit_cells <- function(mean, n, m) {
  part <- array(mean, c(n, m, 4L))
  moments <- function(at) {
    list(mean = matrix(part[, , at], n), sd = matrix(sqrt(pmax(part[, , at + 1L] - part[, , at]^2, 0)), n))
  }
  before <- moments(3L)
  list(probability = before, missed = moments(1L), present = before["mean"])
}

cell_scores.visits_bernoulli_gibbs <- function(fit, rows, kinds, of = "absences") {
  present <- fit$cells$probability$mean[rows, , drop = FALSE]
  after <- fit$cells$missed$mean[rows, , drop = FALSE]
  if (of == "presences") {
    return(list(probability = 1 - present, present = 1 - present, missed = 1 - after, phantom = 0 * after))
  }
  silent <- probability_of_silence(fit, rows)
  list(probability = present, present = present, missed = after, phantom = after + (1 - after) * silent)
}

prior_draw.visits_bernoulli_gibbs <- function(fit) {
  by <- fit$detection
  settings <- list(
    by = by, sharing = by$sharing, share = by[c("mean", "spread")], prior = fit$prior, communities = fit$communities
  )
  state <- visits_prior_state(list(settings = settings, dim = dim(fit$visits), k = fit$dims[["k"]]))
  kept_draw(fit, visit_states(list(list(kept = list(state))), settings)[[1L]][[1L]], NULL)
}

with_start.visits_bernoulli <- function(fit, param) fit

with_data.visits_bernoulli <- function(fit, x) {
  fit$visits <- x
  fit$x <- any_visit(unclass(x))
  fit
}

compared_quantities.visits_bernoulli <- function(fit, cells) {
  p <- mixed(unname(fit$param$membership), unname(fit$param$aspects))
  at <- unique(cells[, 2L])
  c(
    named_by_cell(p[cells], "presence", cells), `presences, mean` = mean(p),
    stats::setNames(fit$param$detection[1L, at], sprintf("detection[%d]", at)),
    `detection, mean` = mean(fit$param$detection[1L, ]),
    `undetected presences` = sum(visit_posterior(fit, seq_len(fit$dims[["n"]]))[any_visit(unclass(fit$visits)) %in% 0])
  )
}

score_spread.visits_bernoulli_gibbs <- function(fit, rows, kinds, of) {
  fit$cells$missed$sd[rows, , drop = FALSE]
}

# Predicts each visit's record over the kept draws; a held-out one is predicted from the other visits to the cell.
recorded_probability.visits_bernoulli_gibbs <- function(fit) {
  states <- kept_states(fit)
  total <- 0
  for (state in states) {
    one <- kept_draw(fit, state, NULL)
    total <- total + recorded_probability(one)
  }
  total / length(states)
}

#' @export
vcov.visits_bernoulli_gibbs <- function(object, what = c("detection", "all", "communities"), ...) {
  check_dots(...)
  what <- check_choice(what)
  if (what == "all") {
    stop_input("`what` must be \"detection\" or \"communities\" for a fit with `estimate = \"gibbs\"`.")
  }
  if (what == "communities") {
    return(drawn_effects_covariance(object))
  }
  stats::cov(t(coefficient_draws(object)))
}

part_spread.visits_bernoulli_gibbs <- function(fit, name, level = NULL) {
  if (name %in% c("detection", "communities")) quantile_spread(fit$draws[[name]], level) else
    drawn_spread(fit, name, level)
}

coefficient_limits.visits_bernoulli_gibbs <- function(fit, ends) {
  t(apply(coefficient_draws(fit), 1L, stats::quantile, ends, names = FALSE))
}

# Returns coefficients x draws, named as in vcov().
coefficient_draws <- function(fit) {
  own <- fit$draws$detection
  taxa <- side_names(fit, 2L)
  names <- paste(rep(taxa, each = dim(own)[1L]), rep(fit$detection$terms, length(taxa)), sep = ":")
  matrix(own, length(names), dimnames = list(names, NULL))
}

#' How many were there, found or missed, by site or by taxon
#'
#' Site richness, and the number of sites of each taxon, of a fit of [visits_bernoulli()]: what visits found and what
#' there was, with intervals.
#'
#' @details
#' With `estimate = "gibbs"` the intervals are those of the posterior. Those of other fits with `detection` include the
#' random variation of presences and the [standard errors][vcov.visits_bernoulli] of components and detection, but take
#' memberships and the spread among taxa as known. On 30 simulated surveys of 100 sites and 30 taxa with three visits,
#' 90 % intervals held the number of sites of 91 % of taxa and the richness of 92 % of sites with one community, of 86 %
#' and 88 % with three (`bench/visits.md` in the sources). Where there are no standard errors (`missed_by`), or an
#' estimate is at a bound, there is no interval (`NA`).
#'
#' **Taxa that are seldom found** may be at few sites and found there, or at many and hardly ever found. The posterior
#' of their number of sites has a long upper tail: the mean, `expected`, lies above the `median`. Means add up to the
#' mean of the sum; medians do not. The estimate for such taxa depends mostly on the other taxa. In simulated surveys
#' sums of their means by `"gibbs"` were 5 to 31 % too high, and 28 % too low where presences followed gradients; 90 %
#' intervals held the number of sites of 88 to 95 % of these taxa (`bench/visits.md` in the sources). Keep taxa in the
#' table that were looked for and never found: they show how rare taxa can be.
#'
#' @param fit a fit of [visits_bernoulli()].
#' @param of `"site"`: richness of each; `"taxon"`: its number of sites.
#' @param level least probability of the interval, which is the shortest such range of whole numbers.
#' @param ... must be empty.
#' @return A data frame of class `visit_richness` with a row for each: its name (number), as `site` or `taxon`, `found`,
#'   `expected` (the mean), `median`, `low` and `high`, and for taxa `rare`, whether it was found too seldom for a
#'   reliable estimate of its own, and `bound`, whether its estimate is at a bound and must not be used (see
#'   [visits_bernoulli()]). Cells that were not visited count by their probability. `plot()` draws it.
#' @examples
#' set.seed(1)
#' present <- matrix(rbinom(200, 1, 0.6), 20)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(200, 1, 0.5), 20))
#' head(occupied(visits_bernoulli(visits, 1, missed_by = "visit")))
#' @export
occupied <- function(fit, of = c("site", "taxon"), ..., level = 0.9) {
  check_dots(...)
  check_fit(fit, "visits_bernoulli")
  of <- check_choice(of)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  side <- match(of, c("site", "taxon"))
  found <- (if (side == 1L) rowSums else colSums)(fit_data(fit) == 1, na.rm = TRUE)
  if (inherits(fit, "visits_bernoulli_gibbs")) {
    draws <- fit$draws[[c("richness", "sites")[side]]]
    expected <- (if (side == 1L) rowSums else colSums)(fit$cells$missed$mean)
    limits <- apply(draws, 1L, function(drawn) {
      from <- min(drawn)
      whole_limits(tabulate(drawn - from + 1) / length(drawn), from, level)
    })
  } else {
    probability <- pmin(pmax(visit_posterior(fit, seq_len(fit$dims[["n"]])), 0), 1)
    expected <- (if (side == 1L) rowSums else colSums)(probability)
    limits <- mode_limits(fit, probability, side, level)
  }
  names <- fit$names[[side]] %||% seq_along(found)
  out <- data.frame(names, found, expected, limits["median", ], limits["low", ], limits["high", ])
  names(out) <- c(c("site", "taxon")[side], "found", "expected", "median", "low", "high")
  bounds <- visit_bounds(fit)
  if (side == 2L) {
    out$rare <- unname(fit$rare)
    out$bound <- bound_taxa(bounds, nrow(out))
    out[out$bound, c("low", "high")] <- NA
  }
  rownames(out) <- NULL
  structure(
    out, class = c("visit_richness", "data.frame"), level = level, words = axis_words(fit),
    bounds = bound_sentences(fit, bounds)
  )
}

#' @export
print.visit_richness <- function(x, digits = 3L, n = 20L, ...) {
  words <- kept_words(x)
  if ("taxon" %in% names(x)) words <- rev(words)
  has_ends <- !nrow(x) || !all(is.na(x$high))
  title <- sprintf(
    "%s per %s: found by any visit, and expected%s", capital(words[2L]), singular_word(words[1L]),
    if (has_ends) sprintf(" (median, %s %% interval)", format(100 * (attr(x, "level") %||% 0.9))) else ""
  )
  print_visit_table(x, digits, n, title, visit_legend)
  if (!has_ends && "high" %in% names(x)) {
    writeLines("low, high: unknown, because fits without `detection` have no standard errors")
  }
  if (!is.null(attr(x, "bounds"))) writeLines(wrap_text(attr(x, "bounds"), exdent = 2))
  invisible(x)
}

# Computes limits of the sums of the probabilities of presences over rows (side 1) or columns (side 2) of a mode.
mode_limits <- function(fit, probability, side, level) {
  steps <- if (identical(fit$missed_by, "model")) sum_steps(fit, probability, side)
  vapply(seq_len(dim(probability)[side]), function(at) {
    one <- function(values) if (side == 1L) values[at, ] else values[, at]
    out <- sum_limits(one(probability), level, if (!is.null(steps)) one(steps) else 0 * one(probability))
    if (is.null(steps)) out[c("low", "high")] <- NA
    out
  }, c(low = 0, median = 0, high = 0))
}

# Computes limits of the number of successes of independent trials whose log-odds move together, by `step` for each
# standard error of the number: a mixture over equally probable values of a normal variable.
sum_limits <- function(p, level, step = 0 * p) {
  if (anyNA(step)) {
    return(replace(sum_limits(p, level), c("low", "high"), NA))
  }
  free <- p > 0 & p < 1
  at <- if (any(step[free] != 0)) stats::qnorm((seq_len(21L) - 0.5) / 21) else 0
  each <- lapply(at, function(t) number_mass(stats::plogis(stats::qlogis(p[free]) + t * step[free])))
  whole_limits(Reduce(`+`, each) / length(each), sum(p == 1), level)
}

# Computes the distribution of a number of successes, 0 to length(p): exact, or normal if its variance is large.
number_mass <- function(p) {
  variance <- sum(p * (1 - p))
  if (variance > 100) {
    return(diff(stats::pnorm(c(-Inf, seq_along(p) - 0.5, Inf), sum(p), sqrt(variance))))
  }
  mass <- 1
  for (one in p) mass <- c(mass, 0) * (1 - one) + c(0, mass) * one
  mass
}

# Computes the move of the log-odds of each presence with one standard error of its row's (side 1) or column's (side 2)
# sum, n x m. With l the gradient of log-odds by a taxon's parameters, V their covariance and g = sum p (1 - p) l that
# of the sum, whose standard error is sqrt(g' V g), it is l' V g / sqrt(g' V g). NA for a taxon without a covariance.
sum_steps <- function(fit, probability, side) {
  weight <- probability * (1 - probability)
  taxa <- presence_gradients(fit)
  column <- function(f) vapply(seq_along(taxa), f, numeric(nrow(probability)))
  if (side == 2L) {
    return(matrix(column(function(j) {
      of <- taxa[[j]]
      toward <- (of$covariance + tcrossprod(of$reach)) %*% colSums(weight[, j] * of$gradient)
      error <- sqrt(max(0, sum(colSums(weight[, j] * of$gradient) * toward)))
      if (!is.na(error) && error == 0) 0 * weight[, j] else as.vector(of$gradient %*% toward) / error
    }), nrow(probability)))
  }
  # The uncertainty of the mean that taxa share moves all taxa of a site, the remainder each taxon separately.
  taxa <- lapply(taxa, function(taxon) lapply(taxon, function(part) replace(part, is.na(part), 0)))
  own <- matrix(column(function(j) {
    rowSums((taxa[[j]]$gradient %*% taxa[[j]]$covariance) * taxa[[j]]$gradient)
  }), nrow(probability))
  shared <- lapply(taxa, function(taxon) taxon$gradient %*% taxon$reach)
  all <- Reduce(`+`, Map(function(one, j) weight[, j] * one, shared, seq_along(shared)))
  error <- sqrt(rowSums(weight^2 * own) + rowSums(all^2))
  steps <- weight * own + matrix(column(function(j) rowSums(shared[[j]] * all)), nrow(probability))
  steps / ifelse(error > 0, error, Inf)
}

# Returns for each taxon the gradient of the log-odds of its presences after the visits, n x (k + d), by the log-odds of
# its components and its coefficients, with their covariance, see coefficient_blocks(). Components at 0 or 1 are fixed.
presence_gradients <- function(fit) {
  d <- dim(fit$visits)
  n <- d[1L]
  rows <- function(v) (v - 1L) * n + seq_len(n)
  to_own <- solve(fit$detection$basis)
  design <- lapply(seq_len(d[3L]), function(v) crossprod(fit$detection$design[, rows(v), drop = FALSE], to_own))
  # The record minus its expectation if the taxon is present; 0 without a visit.
  residual <- lapply(seq_len(d[3L]), function(v) {
    record <- matrix(fit$visits[, , v], n) - (1 - visit_missed(fit, v))
    replace(record, is.na(record), 0)
  })
  membership <- unname(fit$param$membership)
  aspects <- unname(fit$param$aspects)
  before <- mixed(membership, aspects)
  Map(function(block, j) {
    aspect <- aspects[, j]
    room <- before[, j] * (1 - before[, j])
    by_aspects <- sweep(membership, 2L, aspect * (1 - aspect), "*") / ifelse(room > 0, room, Inf)
    by_slopes <- Reduce(`+`, Map(function(record, x) record[, j] * x, residual, design))
    held <- replace(rep(FALSE, nrow(block$covariance)), -block$slope, is.na(diag(block$covariance)[-block$slope]))
    covariance <- block$covariance
    covariance[held, ] <- covariance[, held] <- 0
    list(gradient = cbind(by_aspects, by_slopes), covariance = covariance, reach = block$reach)
  }, coefficient_blocks(fit), seq_len(d[2L]))
}

# Computes the median of a whole number that is `from`, `from` + 1, ... with probabilities `mass`, and the shortest
# range that holds at least `level`; of several equally short ones, the most probable. Quantiles 0.05 and 0.95 of a
# number with few values hold far more than 90 %.
whole_limits <- function(mass, from, level) {
  below <- c(0, cumsum(mass))
  for (width in seq_along(mass)) {
    held <- round(diff(below, width), 12)
    if (max(held) >= level) break
  }
  low <- which.max(held)
  from - 1 + c(low = low, median = which(below[-1L] >= 0.5 - 1e-12)[1L], high = low + width - 1)
}

#' How the model of repeated visits is estimated: algorithm, sampling, neighbours, cost
#'
#' What the arguments `estimate`, `prior`, `smooth` and `control` of [visits_bernoulli()] do. The page of the call is
#' [visits_bernoulli()].
#'
#' @details
#' **Algorithm.** EM with updates in closed form, except for a Newton step of the coefficients of `detection` and
#' `communities`; accelerated by default. With `detection`, without `added` and `smooth`, Newton steps of all parameters
#' replace it for up to 12 components; `fit_control(algorithm = "em")` leaves them out. With `sharing = "partial"`
#' coefficients are normal among taxa, on covariates of mean 0 and standard deviation 1, by the Laplace approximation.
#' Covariates of taxa, such as body size, move the mean of the intercept. Effects of `communities` are normal with mean
#' 0 and standard deviation `prior$communities`.
#'
#' **Sampling.** `estimate = "gibbs"` draws true states and all parameters (Polya-Gamma augmentation; Polson and others
#' 2013). Memberships are Dirichlet and components Beta as in `prior`; mean coefficients have the prior
#' `prior$detection`, and their spreads among taxa a half-Cauchy prior of scale 1. With `sharing = "partial"` the
#' parameters of the Beta are drawn as well, about `prior$aspects`. Effects of `communities` are drawn together, by
#' Metropolis and Hastings, about their mode. A taxon that is seldom found may be rare or hard to detect: both are moved
#' together, by a slice with the true states summed out (Neal 2003), which needs an intercept in `detection`.
#' [mcmc_control()] sets up the chains, which begin near modes of their own. `summary()` has R-hat and effective sample
#' sizes; its `objective` is the log joint density up to a constant. [occupied()], [false_absences()],
#' `predict(level = )` and `confint()` have intervals. Components are matched between chains, not within them. In 900
#' tables drawn from the prior, ranks of the true values did not depart from uniform ([calibration()]).
#'
#' **Neighbours.** `smooth` shrinks the memberships of each site towards those of its neighbours, as in
#' [aspect_bernoulli()]; [smooth_over()] has the objective. Where bandwidth or strength is chosen, whole visits are held
#' out (single records if misses depend on the `"site"`). It cannot be combined with `communities` or `"gibbs"`.
#'
#' **Cost.** An iteration takes O(n m (k + visits)), with d coefficients of detection O(n m visits d^2) more, with w
#' terms of `communities` O(n k^2 w^2), and Newton steps O(n m k^2) more. A draw takes O(n m (k + visits)) and a random
#' number for each visit to a presence.
#'
#' @name visits_bernoulli_estimation
#' @seealso [visits_bernoulli()], [fit_control()], [mcmc_control()]
#' @references Neal RM (2003). Slice sampling. *Annals of Statistics* 31, 705-767. \doi{10.1214/aos/1056562461}
#'
#' Polson NG, Scott JG, Windle J (2013). Bayesian inference for logistic models using Polya-Gamma latent variables.
#' *Journal of the American Statistical Association* 108, 1339-1349. \doi{10.1080/01621459.2013.829001}
#' @examples
#' visits <- simulated_surveys$later[, 1:6, 1:3]
#' chains <- mcmc_control(chains = 2, warmup = 150, draws = 300, progress = FALSE)
#' fit <- visits_bernoulli(visits, k = 1, estimate = "gibbs", control = chains)
#' head(occupied(fit, "taxon"), 3)
NULL
