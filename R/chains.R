# Chains of any sampler: random number streams, checkpoints, progress. What a chain does is the sampler's: its
# problem has a class of its own, with these methods.

# A chain before its first step; `state`: where it begins, NULL for starts of its own. A list with at least `stream`,
# `phase` ("done" at the end), `stopped`, `sweeps` and `n_draw`.
new_job <- function(problem, stream, state = NULL) UseMethod("new_job")

new_job.default <- function(problem, stream, state = NULL) {
  list(
    stream = stream, phase = if (is.null(state)) "start" else "warmup", state = state, starts = NULL, n_warm = 0L,
    n_draw = 0L, note = NULL, stopped = FALSE, sweeps = 0
  )
}

# One more step of it; on_tick: for the kernel, function(pass, objective), or NULL.
step_job <- function(problem, job, on_tick = NULL) UseMethod("step_job")

# Sweeps of a whole chain, for the progress bar.
total_sweeps <- function(problem, started) UseMethod("total_sweeps")

total_sweeps.default <- function(problem, started) {
  as.double(problem$control$warmup) + problem$control$draws * problem$control$thin
}

# A chain after sweeps of its kernel, out = list(state, n_done, stopped, ...).
after_sweeps <- function(job, out) {
  job$state <- out$state
  job$sweeps <- job$sweeps + out$n_done
  job$stopped <- out$stopped
  job
}

# Its next sweeps of warm-up, at most `most`, by sweep(job, n), and draws after the last of them.
warm_up <- function(job, control, most, sweep) {
  n <- min(most, control$warmup - job$n_warm)
  if (n > 0L) {
    out <- sweep(job, n)
    job <- after_sweeps(job, out)
    job$n_warm <- job$n_warm + out$n_done
  }
  if (job$n_warm == control$warmup) job$phase <- "draws"
  job
}

# How many draws a step makes, so that a chain takes about `parts` of them, whole numbers of those between two kept
# states: list(n, every).
next_draws <- function(control, n_draw, parts) {
  every <- as.integer(ceiling(control$draws / control$keep))
  list(n = min(every * ceiling(control$draws / (parts * every)), control$draws - n_draw), every = every)
}

# The notes of n draws (one a column) and of the latest, in a matrix that has room for as many again where it grows.
append_notes <- function(all, n, latest) {
  after <- n + seq_len(ncol(latest))
  if (is.null(all) || n + ncol(latest) > ncol(all)) {
    more <- matrix(NA_real_, nrow(latest), n + max(n, ncol(latest)))
    if (n) more[, seq_len(n)] <- all[, seq_len(n)]
    all <- more
  }
  all[, after] <- latest
  all
}

# One L'Ecuyer stream a chain, from one draw of the session's generator.
# The attribute `seed`: session_state() before it.
draw_streams <- function(n) {
  before <- session_state()
  seed <- draw_seeds(1L)
  put_back <- keep_generator()
  on.exit(put_back())
  set.seed(seed, kind = "L'Ecuyer-CMRG", normal.kind = "Inversion", sample.kind = "Rejection")
  streams <- list(get(".Random.seed", globalenv()))
  for (i in seq_len(n - 1L)) streams[[i + 1L]] <- parallel::nextRNGStream(streams[[i]])
  structure(streams, seed = before)
}

# Runs a chain to its end or to an interrupt, which the kernel or R itself may see. `file`: its checkpoint, or NULL.
run_chain <- function(job, problem, file = NULL, on_progress = NULL) {
  saved <- proc.time()[["elapsed"]]
  while (job$phase != "done" && !job$stopped) {
    job <- step_or_stop(job, problem, on_progress)
    late <- proc.time()[["elapsed"]] - saved >= problem$control$checkpoint_seconds
    if (!is.null(file) && !job$stopped && (late || job$phase == "done")) {
      save_checkpoint(job, problem, file)
      saved <- proc.time()[["elapsed"]]
    }
  }
  job
}

step_or_stop <- function(job, problem, on_progress = NULL) {
  tryCatch(one_step(job, problem, on_progress), interrupt = function(e) {
    job$stopped <- TRUE
    job
  })
}

one_step <- function(job, problem, on_progress) {
  on_tick <- if (!is.null(on_progress)) function(pass, objective) on_progress(job$sweeps + pass)
  step <- with_stream(job$stream, function() step_job(problem, job, on_tick))
  if (!is.null(on_progress) && !step$value$stopped) on_progress(step$value$sweeps)
  step$value$stream <- step$stream
  step$value
}

# Data, model and settings, as far as the chain depends on them.
fingerprint <- function(problem) {
  problem$control <- problem$control[setdiff(
    names(problem$control), c("progress", "checkpoint", "checkpoint_seconds", "n_threads")
  )]
  fingerprint_of(problem)
}

save_checkpoint <- function(job, problem, file) {
  write_whole(list(fingerprint = problem$fingerprint, job = job), file)
}

checkpoint_file <- function(checkpoint, chain) if (!is.null(checkpoint)) sprintf("%s-%d.rds", checkpoint, chain)

# The saved chain where there is one, and it is one of this call.
resume_checkpoint <- function(job, problem, file) {
  if (!is.null(file)) remove_part(file)
  saved <- read_checkpoint(file, problem$fingerprint, "job")
  if (is.null(saved)) {
    return(job)
  }
  saved$job$stopped <- FALSE
  saved$job
}

chain_task <- function(task, problem, tick) run_chain(task$job, problem, task$file)

# The jobs of all chains, done or as far as an interrupt let them. on_first: called with the first chain's job after its
# first step, or NULL.
run_chains <- function(problem, streams, states = NULL, on_first = NULL) {
  control <- problem$control
  problem$fingerprint <- if (!is.null(control$checkpoint)) fingerprint(problem)
  jobs <- lapply(seq_along(streams), function(chain) {
    file <- checkpoint_file(control$checkpoint, chain)
    job <- resume_checkpoint(new_job(problem, streams[[chain]], states[[chain]]), problem, file)
    # All chains' streams are on disk before the first one runs.
    if (!is.null(file) && !file.exists(file)) save_checkpoint(job, problem, file)
    job
  })
  if (!is.null(on_first) && jobs[[1L]]$phase != "done") {
    jobs[[1L]] <- step_or_stop(jobs[[1L]], problem)
    if (jobs[[1L]]$stopped) {
      return(jobs)
    }
    on_first(jobs[[1L]])
  }
  files <- lapply(seq_along(jobs), checkpoint_file, checkpoint = control$checkpoint)
  if (plan_is_parallel() && length(jobs) > 1L) {
    tasks <- Map(list, job = jobs, file = files)
    done <- map_tasks(tasks, chain_task, problem, label = "Chains", name = function(i) sprintf("chain %d", i))
    return(done[is_done(done)])
  }
  total <- total_sweeps(problem, !is.null(states))
  bar <- if (control$progress) cli::cli_progress_bar("Chains", total = total * length(jobs))
  for (chain in seq_along(jobs)) {
    show_sweeps <- if (control$progress) {
      function(sweeps) cli::cli_progress_update(set = min(total, sweeps) + (chain - 1) * total, id = bar)
    }
    jobs[[chain]] <- run_chain(jobs[[chain]], problem, files[[chain]], show_sweeps)
    if (jobs[[chain]]$stopped) break
  }
  if (control$progress) cli::cli_progress_done(id = bar)
  jobs
}

# Chains with draws, all of them unless an interrupt came; a warning says so then.
drawn_jobs <- function(jobs) {
  stopped <- any(vapply(jobs, function(job) job$stopped, NA))
  jobs <- Filter(function(job) job$n_draw > 0L, jobs)
  if (!length(jobs)) signal_interrupt()
  if (stopped) {
    warning(warningCondition(
      sprintf("Interrupted: %s draws of %s are kept.",
        paste(vapply(jobs, function(job) job$n_draw, 0L), collapse = ", "), count_words(length(jobs), "chain")),
      class = "multicause_interrupted", call = NULL
    ))
  }
  jobs
}

# Do chains agree, and how much do they tell? Vehtari et al. (2021), doi:10.1214/20-BA1221.

# Draws of one quantity, iterations x chains; chains of unequal length are cut to the shortest.
draws_by_chain <- function(fit, name) {
  parts <- split(fit$trace[[name]], fit$trace$chain)
  n <- min(lengths(parts))
  # A single draw would come back as a vector.
  matrix(vapply(parts, function(part) part[seq_len(n)], numeric(n)), n)
}

# Each chain in two halves; iterations x (2 chains).
split_chains <- function(draws) {
  draws <- as.matrix(draws)
  half <- nrow(draws) %/% 2L
  if (half < 1L) {
    return(draws)
  }
  cbind(draws[seq_len(half), , drop = FALSE], draws[nrow(draws) - half + seq_len(half), , drop = FALSE])
}

# Normal scores of the ranks over all chains.
rank_normal <- function(draws) {
  score <- stats::qnorm((rank(draws) - 0.375) / (length(draws) + 0.25))
  array(score, dim(draws))
}

plain_rhat <- function(draws) {
  n <- nrow(draws)
  within <- mean(apply(draws, 2L, stats::var))
  between <- n * stats::var(colMeans(draws))
  sqrt(((n - 1) / n * within + between / n) / within)
}

# Rank-normalised split R-hat, the larger of that of location and of spread; NA for what is constant.
split_rhat <- function(draws) {
  halves <- split_chains(draws)
  if (nrow(halves) < 2L || ncol(halves) < 2L || !all(is.finite(halves)) || length(unique(c(halves))) == 1L) {
    return(NA_real_)
  }
  folded <- abs(halves - stats::median(halves))
  tail <- if (length(unique(c(folded))) > 1L) plain_rhat(rank_normal(folded)) else NA_real_
  max(plain_rhat(rank_normal(halves)), tail, na.rm = TRUE)
}

autocovariances <- function(x) {
  n <- length(x)
  size <- stats::nextn(2L * n)
  x <- c(x - mean(x), numeric(size - n))
  Re(stats::fft(Mod(stats::fft(x))^2, inverse = TRUE))[seq_len(n)] / (size * n)
}

# Effective sample size of the mean, by Geyer's initial monotone sequence over all chains.
plain_ess <- function(draws) {
  n <- as.double(nrow(draws))
  m <- ncol(draws)
  if (n < 4L || !all(is.finite(draws)) || length(unique(c(draws))) == 1L) {
    return(NA_real_)
  }
  gamma <- apply(draws, 2L, autocovariances)
  within <- mean(gamma[1L, ]) * n / (n - 1)
  total <- within * (n - 1) / n
  if (m > 1L) total <- total + stats::var(colMeans(draws))
  rho <- 1 - (within - rowMeans(gamma) * n / (n - 1)) / total
  rho[1L] <- 1
  pairs <- rho[seq(1L, n - 1L, 2L)] + rho[seq(2L, n, 2L)]
  last <- which(pairs < 0)[1L]
  if (!is.na(last)) pairs <- pairs[seq_len(max(1L, last - 1L))]
  tau <- max(-1 + 2 * sum(cummin(pairs)), 1 / log10(n * m))
  n * m / tau
}

bulk_ess <- function(draws) plain_ess(rank_normal(split_chains(draws)))

tail_ess <- function(draws) {
  halves <- split_chains(draws)
  at <- stats::quantile(halves, c(0.05, 0.95))
  ess <- c(plain_ess((halves <= at[1L]) + 0), plain_ess((halves <= at[2L]) + 0))
  if (all(is.na(ess))) NA_real_ else min(ess, na.rm = TRUE)
}

rhat_agree <- 1.1 # R-hat up to which chains are said to agree

# The quantities on which chains are to agree: by name, one or more matrices iterations x chains.
judged_draws <- function(fit) UseMethod("judged_draws")

judged_draws.default <- function(fit) {
  lapply(stats::setNames(nm = quantities(fit)), function(name) list(draws_by_chain(fit, name)))
}

# Do all chains agree on them? A warning says on which they do not. NA for a single chain, and where halves of chains
# have no variance yet.
chains_agree <- function(fit) {
  draws <- table(fit$trace$chain)
  if (length(draws) < 2L || min(draws) < 4L) {
    return(NA)
  }
  apart <- rhat_apart(fit)
  if (length(apart)) tell_disagreement(fit, apart)
  !length(apart)
}

# The R-hats above rhat_agree, by quantity (the largest of its matrices), the largest first.
rhat_apart <- function(fit) {
  rhat <- vapply(judged_draws(fit), function(draws) {
    each <- vapply(draws, split_rhat, 0)
    if (all(is.na(each))) NA_real_ else max(each, na.rm = TRUE)
  }, 0)
  sort(rhat[!is.na(rhat) & rhat > rhat_agree], decreasing = TRUE)
}

agreement_words <- function(fit) {
  if (!is.na(fit$converged)) {
    if (fit$converged) "they agree" else "they do not agree yet"
  } else if (length(unique(fit$trace$chain)) < 2L) {
    "one chain alone shows nothing about agreement"
  } else {
    "too few draws to see whether they agree"
  }
}

# Which answers to trust, which not, and what to do then; NULL where chains agree.
disagreement_sentence <- function(fit) {
  if (!isFALSE(fit$converged)) {
    return(NULL)
  }
  apart <- rhat_apart(fit)
  agreed <- setdiff(names(judged_draws(fit)), names(apart))
  wrap_text(sprintf(
    "%s %s (R-hat above %s), where answers depend on the chain. %s",
    if (length(agreed)) sprintf("Trust %s, on which the chains agree; not", judged_words(agreed)) else "Do not trust",
    judged_words(names(apart)), format(rhat_agree), what_to_change(fit, apart)
  ), exdent = 2L)
}

judged_words <- function(names) show_names(names, 6L, FALSE)

far_longer <- 20 # times as many draws: beyond that chains are taken to stay where they began
enough_effective <- 400 # effective draws that Vehtari et al. ask for

# For averages of n draws R-hat^2 - 1 is about the autocorrelation time by n, so it falls as chains get longer; where
# chains stay apart it only says that they do.
times_as_long <- function(apart) (max(apart)^2 - 1) / (rhat_agree^2 - 1)

# Inf where there are too few draws to tell.
fewest_effective <- function(fit, names) {
  ess <- vapply(unlist(judged_draws(fit)[names], FALSE), bulk_ess, 0)
  min(ess, Inf, na.rm = TRUE)
}

what_to_change <- function(fit, apart) {
  times <- times_as_long(apart)
  far <- times > far_longer
  fewest <- fewest_effective(fit, names(apart))
  call <- gsub(" ", "\001", better_chains(fit, far, max(times, enough_effective / fewest)), fixed = TRUE)
  if (far) {
    return(sprintf(
      paste(
        "They are at different solutions, and longer chains would stay there: read answers as the mean over these,",
        "or try more %s: `%s`."
      ), if (has_annealed(fit)) "starts" else "chains", call
    ))
  }
  effective <- if (is.finite(fewest)) sprintf("%.0f", fewest) else "too few to count"
  sprintf(
    "Of these the fewest effective draws are %s; for %d, make longer chains: `%s`.", effective, enough_effective, call
  )
}

has_annealed <- function(fit) "anneal" %in% fit$starts$init

# The call for chains that tell more, at least as long as by default: so many times as long, or, where they are far
# apart, with twice as many starts, or twice as many chains.
better_chains <- function(fit, far, times) {
  usual <- mcmc_control()
  given <- fit$control
  chains <- max(length(unique(fit$trace$chain)), usual$chains)
  most <- .Machine$integer.max %/% given$thin
  more_starts <- far && has_annealed(fit)
  sprintf(
    "update(fit, control = mcmc_control(chains = %d, warmup = %.0f, draws = %.0f%s))",
    if (far && !more_starts) 2L * chains else chains, max(as.double(given$warmup), usual$warmup),
    min(most, max(if (far) as.double(given$draws) else signif(ceiling(times * given$draws), 2L), usual$draws)),
    if (more_starts) sprintf(", n_start = %d, n_reheat = %d", 2L * given$n_start, 2L * given$n_reheat) else ""
  )
}

#   apart  rhat_apart(), not empty
tell_disagreement <- function(fit, apart) {
  warning(warningCondition(
    sprintf(
      paste(
        "The chains do not agree (R-hat above %s) on %s (%d of %d quantities): their mean log joint densities are %s.",
        "%s See summary()."
      ),
      format(rhat_agree), judged_words(names(apart)), length(apart), length(judged_draws(fit)),
      paste(format(round(tapply(fit$trace$objective, fit$trace$chain, base::mean), 1)), collapse = ", "),
      gsub("\001", " ", what_to_change(fit, apart), fixed = TRUE)
    ),
    class = "multicause_chains_disagree", call = NULL
  ))
}

# A few cells whose expected value every draw notes: missing ones where there are any; fixed by the data alone.
probe_cells <- function(x, most = 8L) {
  missing <- if (inherits(x, "dgCMatrix")) integer() else which(is.na(x))
  cells <- if (length(missing)) missing else seq_len(min(prod(dim(x)), .Machine$integer.max))
  at <- unique(cells[round(seq(1, length(cells), length.out = most + 2L))[-c(1L, most + 2L)]])
  t(arrayInd(at, dim(x))) - 1L
}

probe_names <- function(probe, names) {
  label <- function(side) {
    i <- probe[side, ] + 1L
    if (is.null(names[[side]])) i else names[[side]][i]
  }
  sprintf("cell[%s,%s]", label(1L), label(2L))
}

# The trace: rows `at` of the notes of all chains, under these names.
note_frame <- function(jobs, at, columns) {
  frames <- Map(function(job, chain) {
    note <- t(job$note[at, seq_len(job$n_draw), drop = FALSE])
    colnames(note) <- columns
    cbind(data.frame(chain = chain, pass = seq_len(job$n_draw)), note)
  }, jobs, seq_along(jobs))
  do.call(rbind, frames)
}

# Quantities that do not depend on labels.
quantities <- function(fit) setdiff(names(fit$trace), c("chain", "pass"))

# With the ends of intervals of probability `level`, or without.
quantity_table <- function(fit, level = NULL) {
  rows <- lapply(quantities(fit), function(name) {
    draws <- draws_by_chain(fit, name)
    out <- data.frame(
      quantity = name, mean = mean(draws), sd = stats::sd(draws), q5 = stats::quantile(draws, 0.05),
      q95 = stats::quantile(draws, 0.95), rhat = split_rhat(draws), ess_bulk = bulk_ess(draws),
      ess_tail = tail_ess(draws), row.names = NULL
    )
    if (!is.null(level)) {
      out[c("conf.low", "conf.high")] <- as.list(stats::quantile(draws, c(1 - level, 1 + level) / 2, names = FALSE))
    }
    out
  })
  do.call(rbind, rows)
}

#' Draws of a sampled fit for packages posterior, coda and bayesplot
#'
#' The label-invariant quantities of `fit$trace`, as draws objects of these packages. Package bayesplot takes the fit
#' itself: `bayesplot::mcmc_trace(fit)`.
#'
#' @details
#' Fits that are not sampled have no draws, and are refused. So are functions that need a formula or a
#' posterior predictive distribution of responses: those of package insight, and `bayesplot::pp_check()`.
#' [tidy()][tidiers] has the parameters of a fit, [simulate()] draws tables, and [predictive_check()] compares them with
#' the data.
#'
#' @param x a fit of [bmf()], or of [aspect_bernoulli()], [plsa()] or [visits_bernoulli()] with `estimate = "gibbs"`.
#' @param ... must be empty.
#' @return For [posterior::as_draws()] a `draws_array` (iterations x chains x quantities), for [coda::as.mcmc()] and
#'   [coda::as.mcmc.list()] an `mcmc.list`, for `as.array()` and `as.matrix()` an array (iterations x chains x
#'   quantities) or a matrix (draws x quantities). Chains of unequal length, after an interrupt, are cut to the
#'   shortest.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60), 10)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 20, draws = 20, n_start = 2, n_reheat = 1, progress = FALSE
#' )
#' fit <- suppressWarnings(bmf(x, k = 1, l = 1, control = quick))
#' if (requireNamespace("posterior", quietly = TRUE)) posterior::as_draws(fit)
#' if (requireNamespace("coda", quietly = TRUE)) summary(coda::as.mcmc(fit))$statistics
#' @name bmf_draws
NULL

#' @rdname bmf_draws
#' @exportS3Method posterior::as_draws
as_draws.multicause <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  posterior::as_draws_array(draws_array(x))
}

#' @rdname bmf_draws
#' @exportS3Method posterior::as_draws_array
as_draws_array.multicause <- as_draws.multicause # nolint: object_name_linter.

#' @rdname bmf_draws
#' @exportS3Method coda::as.mcmc
as.mcmc.multicause <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  draws <- draws_array(x)
  chains <- lapply(seq_len(dim(draws)[2L]), function(chain) {
    coda::mcmc(matrix(draws[, chain, ], dim(draws)[1L], dimnames = dimnames(draws)[c(1L, 3L)]), thin = x$control$thin)
  })
  coda::as.mcmc.list(chains)
}

#' @rdname bmf_draws
#' @exportS3Method coda::as.mcmc.list
as.mcmc.list.multicause <- as.mcmc.multicause # nolint: object_name_linter.

# Generics of these packages that have no default, or one that stops with a message about something else.

#' @exportS3Method coda::HPDinterval
HPDinterval.multicause <- function(obj, ...) { # nolint: object_name_linter.
  coda::HPDinterval(as.mcmc.multicause(obj), ...)
}

#' @exportS3Method coda::autocorr.diag
autocorr.diag.multicause <- function(mcmc.obj, ...) { # nolint: object_name_linter.
  coda::autocorr.diag(as.mcmc.multicause(mcmc.obj), ...)
}

#' @exportS3Method coda::rejectionRate
rejectionRate.multicause <- function(x) coda::rejectionRate(as.mcmc.multicause(x)) # nolint: object_name_linter.

# nolint start: object_name_linter. Methods of other packages' generics.
#' @exportS3Method posterior::niterations
niterations.multicause <- function(x) posterior::niterations(as_draws.multicause(x))

#' @exportS3Method posterior::nchains
nchains.multicause <- function(x) posterior::nchains(as_draws.multicause(x))

#' @exportS3Method posterior::nvariables
nvariables.multicause <- function(x, ...) posterior::nvariables(as_draws.multicause(x), ...)

#' @exportS3Method posterior::variables
variables.multicause <- function(x, ...) posterior::variables(as_draws.multicause(x), ...)

#' @exportS3Method posterior::subset_draws
subset_draws.multicause <- function(x, ...) {
  posterior::subset_draws(as_draws.multicause(x), ...)
}

# R-hat of each quantity, by name: both packages have such a generic.
#' @exportS3Method posterior::rhat
#' @rawNamespace S3method(bayesplot::rhat, multicause)
rhat.multicause <- function(x, ...) {
  table <- drawn_quantities(x)
  stats::setNames(table$rhat, table$quantity)
}

# nolint end
#' @exportS3Method posterior::ess_bulk
ess_bulk.multicause <- function(x, ...) { # nolint: object_name_linter.
  table <- drawn_quantities(x)
  stats::setNames(table$ess_bulk, table$quantity)
}

#' @exportS3Method posterior::ess_tail
ess_tail.multicause <- function(x, ...) { # nolint: object_name_linter.
  table <- drawn_quantities(x)
  stats::setNames(table$ess_tail, table$quantity)
}

drawn_quantities <- function(fit) {
  check_sampled(fit)
  quantity_table(fit)
}

# Package bayesplot asks for the array.
#' @rdname bmf_draws
#' @export
as.array.multicause <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  draws_array(x)
}

#' @rdname bmf_draws
#' @export
as.matrix.multicause <- function(x, ...) { # nolint: object_name_linter.
  draws <- as.array(x, ...)
  matrix(draws, ncol = dim(draws)[3L], dimnames = list(NULL, dimnames(draws)[[3L]]))
}

#' @exportS3Method bayesplot::pp_check
pp_check.multicause <- function(object, ...) { # nolint: object_name_linter.
  stop_lacks(object, "pp_check", "simulate() draws tables, and predictive_check() compares surveys with the data.")
}

# Package insight looks for a formula and one vector of coefficients.
no_formula <- function(generic) {
  force(generic)
  function(x, ...) {
    stop_lacks(x, generic, "it has no formula and no vector of coefficients; tidy() has its parameters.")
  }
}

#' @exportS3Method insight::get_parameters
get_parameters.multicause <- no_formula("get_parameters") # nolint: object_name_linter.

#' @exportS3Method insight::get_statistic
get_statistic.multicause <- no_formula("get_statistic") # nolint: object_name_linter.

#' @exportS3Method insight::get_predicted
get_predicted.multicause <- no_formula("get_predicted") # nolint: object_name_linter.

#' @exportS3Method insight::get_priors
get_priors.multicause <- no_formula("get_priors") # nolint: object_name_linter.

#' @exportS3Method insight::get_modelmatrix
get_modelmatrix.multicause <- no_formula("get_modelmatrix") # nolint: object_name_linter.

#' @exportS3Method insight::find_parameters
find_parameters.multicause <- no_formula("find_parameters") # nolint: object_name_linter.

draws_array <- function(fit) {
  check_sampled(fit)
  names <- quantities(fit)
  parts <- lapply(names, function(name) draws_by_chain(fit, name))
  array(
    unlist(parts), c(dim(parts[[1L]]), length(names)),
    dimnames = list(iteration = NULL, chain = NULL, variable = names)
  )
}

check_sampled <- function(fit) {
  if (!is_sampled(fit)) {
    stop_input("`x` must be a sampled fit, of bmf() or with `estimate = \"gibbs\"`: this one %s.", what_it_did(fit))
  }
}

# Kept states of all chains, at most so many, evenly spaced.
kept_states <- function(fit, most = Inf) {
  all <- do.call(c, fit$kept)
  states <- all[unique(round(seq(1, length(all), length.out = min(most, length(all)))))]
  states
}

gibbs_segment <- 100L # sweeps of warm-up between two looks
gibbs_parts <- 10L # calls of the kernel for the draws of a chain

gibbs_starts <- function(jobs) {
  frames <- Map(function(job, chain) if (!is.null(job$starts)) cbind(chain = chain, job$starts), jobs, seq_along(jobs))
  out <- do.call(rbind, frames)
  if (is.null(out)) data.frame(chain = seq_along(jobs), start = 1L, init = "given") else out
}

sampled_sentences <- function(fit) {
  chains <- length(unique(fit$trace$chain))
  c(
    sprintf("%s: %s", model_title(fit), shape_words(fit)),
    sprintf(
      "%s of %s of a Gibbs sampler; %s", count_words(nrow(fit$trace), "draw"), count_words(chains, "chain"),
      agreement_words(fit)
    ),
    disagreement_sentence(fit)
  )
}

print_sampled <- function(x, digits) {
  cat("\nQuantities that do not depend on labels:\n")
  print_quantities(x$quantities, digits)
  few <- x$quantities$quantity[which(x$quantities$ess_bulk < 100)]
  if (length(few)) {
    write_sentences(sprintf("Fewer than 100 effective draws of %s: give more draws or thin more.", show_names(few)))
  }
}

# Each number in as many digits as it needs, so that the table fits a line of 80.
print_quantities <- function(table, digits) {
  for (column in 2:5) table[[column]] <- vapply(table[[column]], format_quantity, "", digits = digits)
  table$rhat <- round(table$rhat, 3)
  table$ess_bulk <- round(table$ess_bulk)
  table$ess_tail <- round(table$ess_tail)
  print.data.frame(table, row.names = FALSE)
}

format_quantity <- function(x, digits) {
  format(if (is.na(x) || abs(x) >= 1) signif(x, digits) else if (abs(x) >= 0.001) round(x, digits) else signif(x, 2L))
}

# The first four quantities of the trace, with titles.
gibbs_shown <- function(fit) {
  names <- utils::head(quantities(fit), 4L)
  titles <- c(objective = "log joint density", log_likelihood = "log-likelihood")
  stats::setNames(ifelse(names %in% names(titles), titles[names], sub("_", " ", names)), names)
}
