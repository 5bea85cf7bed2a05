# Runs chains of any sampler: random number streams, checkpoints, progress. The sampler defines a class for its problem,
# with these methods.

# Returns a chain before its first step; `state`: its initial state, NULL to draw starts. A list with at least `stream`,
# `phase` ("done" at the end), `stopped`, `sweeps` and `n_draw`.
new_job <- function(problem, stream, state = NULL) UseMethod("new_job")

new_job.default <- function(problem, stream, state = NULL) {
  list(
    stream = stream, phase = if (is.null(state)) "start" else "warmup", state = state, starts = NULL, n_warm = 0L,
    n_draw = 0L, note = NULL, stopped = FALSE, sweeps = 0
  )
}

# Runs the next step of a chain; on_tick: for the kernel, function(iteration, objective), or NULL.
step_job <- function(problem, job, on_tick = NULL) UseMethod("step_job")

# Counts the sweeps of a whole chain, for the progress bar.
total_sweeps <- function(problem, started) UseMethod("total_sweeps")

total_sweeps.default <- function(problem, started) {
  as.double(problem$control$warmup) + problem$control$draws * problem$control$thin
}

# Updates a chain after sweeps of its kernel, out = list(state, n_done, stopped, ...).
after_sweeps <- function(job, out) {
  job$state <- out$state
  job$sweeps <- job$sweeps + out$n_done
  job$stopped <- out$stopped
  job
}

# Runs the chain's next sweeps of warm-up, at most `most`, by sweep(job, n), which notes every `warmup_noted`-th; after
# the last it switches to draws.
warm_up <- function(job, control, most, sweep) {
  n <- min(most, control$warmup - job$n_warm)
  if (n > 0L) job <- after_warmup(job, sweep(job, n), warmup_noted)
  if (job$n_warm == control$warmup) job$phase <- "draws"
  job
}

warmup_noted <- 5L

# Updates a chain after sweeps of warm-up of which every `thin`-th was noted. `warmup` has a column for each note that
# is kept: the number of the sweep, then what the kernel notes of a draw.
after_warmup <- function(job, out, thin) {
  job <- after_sweeps(job, out)
  every <- warmup_noted %/% thin
  at <- seq_len(out$n_draw %/% every) * every
  job$warmup <- cbind(job$warmup, rbind(job$n_warm + at * thin, out$note[, at, drop = FALSE]))
  job$n_warm <- job$n_warm + out$n_done
  job
}

# Computes the number of draws per step, a multiple of the draws between two kept states, such that a chain takes about
# `parts` steps: list(n, every).
next_draws <- function(control, n_draw, parts) {
  every <- as.integer(ceiling(control$draws / control$keep))
  list(n = min(every * ceiling(control$draws / (parts * every)), control$draws - n_draw), every = every)
}

# Appends the latest notes to those of n draws (one per column), in a matrix that doubles when it is full.
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

# Draws one L'Ecuyer stream per chain, from one draw of the session's generator. The attribute `seed` is the
# session_state() before it.
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

# Runs a chain to its end or to an interrupt, seen by the kernel or by R. `file`: its checkpoint, or NULL.
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
  on_tick <- if (!is.null(on_progress)) function(iteration, objective) on_progress(job$sweeps + iteration)
  step <- with_stream(job$stream, function() step_job(problem, job, on_tick))
  if (!is.null(on_progress) && !step$value$stopped) on_progress(step$value$sweeps)
  step$value$stream <- step$stream
  step$value
}

# Identifies data, model and settings as far as the chain depends on them.
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

# Returns the saved chain if it belongs to this call.
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

# Runs all chains, to the end or to an interrupt. on_first: function of the first chain's job after its first step.
run_chains <- function(problem, streams, states = NULL, on_first = NULL) {
  control <- problem$control
  problem$fingerprint <- if (!is.null(control$checkpoint)) fingerprint(problem)
  jobs <- lapply(seq_along(streams), function(chain) {
    file <- checkpoint_file(control$checkpoint, chain)
    job <- resume_checkpoint(new_job(problem, streams[[chain]], states[[chain]]), problem, file)
    # All chains' streams are saved before the first chain runs.
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

# Returns the chains with draws, all of them unless interrupted, with a warning then.
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

# Convergence of chains and effective sample sizes: Vehtari et al. (2021), doi:10.1214/20-BA1221.

# Returns the draws of one quantity, iterations x chains; chains of unequal length are cut to the shortest.
draws_by_chain <- function(fit, name) {
  parts <- split(fit$trace[[name]], fit$trace$chain)
  n <- min(lengths(parts))
  # A single draw would become a vector.
  matrix(vapply(parts, function(part) part[seq_len(n)], numeric(n)), n)
}

# Splits each chain in two halves; iterations x (2 chains).
split_chains <- function(draws) {
  draws <- as.matrix(draws)
  half <- nrow(draws) %/% 2L
  if (half < 1L) {
    return(draws)
  }
  cbind(draws[seq_len(half), , drop = FALSE], draws[nrow(draws) - half + seq_len(half), , drop = FALSE])
}

# Computes normal scores of the ranks over all chains.
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

# Computes the rank-normalised split R-hat, the larger of location and spread; NA for a constant quantity.
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

# Computes the effective sample size of the mean by Geyer's initial monotone sequence over all chains.
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

rhat_agree <- 1.1 # R-hat above which chains are said to disagree
rhat_converged <- 1.01 # R-hat up to which they have converged, with enough effective draws (Vehtari et al. 2021)

# Returns the quantities by which convergence is judged, by name: one or more matrices iterations x chains.
judged_draws <- function(fit) UseMethod("judged_draws")

judged_draws.default <- function(fit) {
  lapply(stats::setNames(nm = quantities(fit)), function(name) list(draws_by_chain(fit, name)))
}

# Have the chains converged on them? A warning says on which they disagree. NA for a single chain, and where halves of
# chains have no variance yet.
chains_agree <- function(fit) {
  draws <- table(fit$trace$chain)
  if (length(draws) < 2L || min(draws) < 4L) {
    return(NA)
  }
  apart <- rhat_apart(fit)
  if (length(apart)) tell_disagreement(fit, apart)
  !length(apart) && have_converged(fit)
}

have_converged <- function(fit) {
  !length(rhat_apart(fit, rhat_converged)) && fewest_effective(fit, names(judged_draws(fit))) >= enough_effective
}

# The R-hats above `most`, by quantity (the largest of its matrices), the largest first.
rhat_apart <- function(fit, most = rhat_agree) {
  rhat <- vapply(judged_draws(fit), function(draws) {
    each <- vapply(draws, split_rhat, 0)
    if (all(is.na(each))) NA_real_ else max(each, na.rm = TRUE)
  }, 0)
  sort(rhat[!is.na(rhat) & rhat > most], decreasing = TRUE)
}

agreement_words <- function(fit) {
  if (!is.na(fit$converged)) {
    if (fit$converged) "converged" else if (length(rhat_apart(fit))) "NOT converged" else "nearly converged"
  } else if (length(unique(fit$trace$chain)) < 2L) {
    "one chain alone shows nothing about convergence"
  } else {
    "too few draws to judge convergence"
  }
}

# Describes what has not converged and what to run next; NULL if chains agree.
disagreement_sentence <- function(fit) {
  if (!isFALSE(fit$converged)) {
    return(NULL)
  }
  apart <- rhat_apart(fit)
  if (!length(apart)) {
    return(nearly_sentence(fit))
  }
  fewest <- fewest_effective(fit, names(apart))
  c(
    sprintf(
      "Chains have not converged: R-hat above %s for %d of %s (worst %s%s).", format(rhat_agree), length(apart),
      count_words(length(judged_draws(fit)), judged_noun), format(max(apart), digits = 2L),
      if (is.finite(fewest)) sprintf(", fewest effective draws %.0f", fewest) else ""
    ),
    what_to_change(fit, apart)
  )
}

judged_noun <- "quantity"

# On which quantities the chains agree, and on which not; NULL where they agree on all.
trust_sentence <- function(fit) {
  if (isFALSE(fit$converged)) {
    apart <- names(rhat_apart(fit))
    agreed <- setdiff(names(judged_draws(fit)), apart)
    if (length(apart)) {
      sprintf(
        "%sThe chains differ on %s.",
        if (length(agreed)) sprintf("The chains agree on %s. ", judged_words(agreed)) else "", judged_words(apart)
      )
    }
  }
}

# Describes chains that do not disagree but have not converged.
nearly_sentence <- function(fit) {
  fewest <- fewest_effective(fit, names(judged_draws(fit)))
  rhat <- rhat_apart(fit, 0)[1L]
  times <- max(enough_effective / fewest, (rhat^2 - 1) / (rhat_converged^2 - 1), na.rm = TRUE)
  call <- gsub(" ", "\001", better_chains(fit, FALSE, times), fixed = TRUE)
  sprintf(
    paste(
      "Nearly converged: largest R-hat %.3f (should be at most %s), smallest effective number of draws %.0f",
      "(at least %d). Run longer: %s."
    ), rhat, format(rhat_converged), fewest, enough_effective, call
  )
}

judged_words <- function(names) show_names(names, 6L, FALSE)

far_longer <- 20 # times as many draws: beyond that chains are taken to stay where they began
enough_effective <- 400 # effective draws that Vehtari et al. ask for

# For averages of n draws R-hat^2 - 1 is about the autocorrelation time over n, so it decreases with the length of
# chains; if chains stay in different modes it measures no more than that.
times_as_long <- function(apart) (max(apart)^2 - 1) / (rhat_agree^2 - 1)

# Returns the smallest effective sample size, Inf if there are too few draws.
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
    sprintf(
      "They are at different solutions, where longer chains would stay. Run more %s: %s.",
      if (has_annealed(fit)) "starts" else "chains", call
    )
  } else {
    sprintf("Run longer: %s.", call)
  }
}

has_annealed <- function(fit) "anneal" %in% fit$starts$init

# Writes the call for better chains, at least as long as by default: `times` as long, or, if chains are far apart, with
# twice as many starts or twice as many chains.
better_chains <- function(fit, far, times) {
  usual <- mcmc_control()
  given <- fit$control
  chains <- max(length(unique(fit$trace$chain)), usual$chains)
  most <- .Machine$integer.max %/% given$thin
  more_starts <- far && has_annealed(fit)
  sprintf(
    "update(fit, control = mcmc_control(chains = %d, warmup = %.0f, draws = %.0f%s%s))",
    if (far && !more_starts) 2L * chains else chains, max(as.double(given$warmup), usual$warmup),
    min(most, max(if (far) as.double(given$draws) else round_up(times * given$draws), usual$draws)),
    if (given$thin > usual$thin) sprintf(", thin = %.0f", given$thin) else "", # a new control forgets the old one's
    if (more_starts) sprintf(", n_start = %d, n_reheat = %d", 2L * given$n_start, 2L * given$n_reheat) else ""
  )
}

# Rounds a number of draws up to two digits: rounded down, the advice could be shorter than what was run.
round_up <- function(draws) {
  unit <- max(1, 10^(floor(log10(draws)) - 1))
  ceiling(draws / unit) * unit
}

#   apart  rhat_apart(), not empty
tell_disagreement <- function(fit, apart) {
  warning(warningCondition(
    sprintf(
      paste(
        "The chains do not agree (R-hat above %s) on %s (%d of %d quantities). Mean log joint density of each: %s.",
        "%s See summary()."
      ),
      format(rhat_agree), judged_words(names(apart)), length(apart), length(judged_draws(fit)),
      paste(format(round(tapply(fit$trace$objective, fit$trace$chain, base::mean), 1)), collapse = ", "),
      gsub("\001", " ", what_to_change(fit, apart), fixed = TRUE)
    ),
    class = "multicause_chains_disagree", call = NULL
  ))
}

# Selects a few cells whose expected value every draw records, by the data alone: missing ones if there are any.
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

# Builds data frames from rows `at` of the notes of all chains, under these names: list(draws, warmup), with a row for
# each draw and for each noted sweep of the warm-up.
note_frames <- function(jobs, at, columns) {
  bind <- function(rows_of) do.call(rbind, Map(rows_of, jobs, seq_along(jobs)))
  frame <- function(chain, iteration, note) {
    note <- t(note[at, , drop = FALSE])
    colnames(note) <- columns
    cbind(data.frame(chain = rep(chain, length(iteration)), iteration = iteration), note)
  }
  list(
    draws = bind(function(job, chain) {
      frame(chain, seq_len(job$n_draw), job$note[, seq_len(job$n_draw), drop = FALSE])
    }),
    warmup = bind(function(job, chain) {
      if (!is.null(job$warmup)) frame(chain, as.integer(job$warmup[1L, ]), job$warmup[-1L, , drop = FALSE])
    })
  )
}

# Returns the names of quantities that do not depend on the numbering of components.
quantities <- function(fit) setdiff(names(fit$trace), c("chain", "iteration"))

# Summarises the quantities, with `level` including their intervals.
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

gibbs_segment <- 100L # sweeps of warm-up between two looks
gibbs_parts <- 10L # calls of the kernel for the draws of a chain

# Sums of a part over chains.
sum_jobs <- function(jobs, part) Reduce(`+`, lapply(jobs, function(job) job$sums[[paste0("sum_", part)]]))

# Means of the parts of a sum with squares: the first half, and the standard deviations.
half_moments <- function(total, n_draw, shape) {
  half <- seq_len(length(total) / 2)
  mean <- total[half] / n_draw
  list(mean = array(mean, shape), sd = array(sqrt(pmax(total[-half] / n_draw - mean^2, 0)), shape))
}

# Means and standard deviations of parts of the state over all draws.
chain_moments <- function(jobs, parts) {
  n_draw <- sum(vapply(jobs, function(job) job$n_draw, 0L))
  lapply(stats::setNames(nm = parts), function(part) {
    half_moments(sum_jobs(jobs, part), n_draw, dim(jobs[[1L]]$state[[part]]))
  })
}

gibbs_starts <- function(jobs) {
  frames <- Map(function(job, chain) if (!is.null(job$starts)) cbind(chain = chain, job$starts), jobs, seq_along(jobs))
  out <- do.call(rbind, frames)
  if (is.null(out)) data.frame(chain = seq_along(jobs), start = 1L, init = "given") else out
}

sampled_sentence <- function(fit) {
  sprintf(
    "%s of %s, %s", count_words(nrow(fit$trace), "draw"), count_words(length(unique(fit$trace$chain)), "chain"),
    agreement_words(fit)
  )
}

# The summary of a sampled fit whose print needs no more than the quantities of its draws.
sampled_summary <- function(fit, ...) {
  check_dots(...)
  structure(
    list(
      screen = fit_screen(fit), details = detail_sentences(fit), quantities = quantity_table(fit), seed = fit$seed
    ),
    class = "summary.multicause_sampled"
  )
}

#' @export
print.summary.multicause_sampled <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print_screen(x$screen, Inf)
  write_sentences(x$details)
  print_sampled(x, digits)
  invisible(x)
}

print_sampled <- function(x, digits) {
  cat("\nQuantities that do not depend on the numbering of components:\n")
  print_quantities(x$quantities, digits)
  few <- x$quantities$quantity[which(x$quantities$ess_bulk < 100)]
  if (length(few)) {
    write_sentences(sprintf("Fewer than 100 effective draws of %s: use more draws or thin more.", show_names(few)))
  }
}

# Prints each number with as many digits as it needs, so that the table fits a line of 80.
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

# Selects the first four quantities of the trace, with titles.
gibbs_shown <- function(fit) {
  names <- utils::head(quantities(fit), 4L)
  titles <- c(objective = "log joint density", log_likelihood = "log-likelihood")
  stats::setNames(ifelse(names %in% names(titles), titles[names], sub("_", " ", names)), names)
}
