# Chains of any sampler: random number streams, checkpoints, progress. What a chain does is the sampler's: its
# problem has a class of its own, with these methods.

# A chain before its first step; `state`: where it begins, NULL for starts of its own. A list with at least `stream`,
# `phase` ("done" at the end), `stopped`, `sweeps` and `n_draw`.
new_job <- function(problem, stream, state = NULL) UseMethod("new_job")

# One more step of it; on_tick: for the kernel, function(pass, objective), or NULL.
step_job <- function(problem, job, on_tick = NULL) UseMethod("step_job")

# Sweeps of a whole chain, for the progress bar.
total_sweeps <- function(problem, started) UseMethod("total_sweeps")

# Evaluates f() with the generator at `stream`; list(value, stream after). The session's generator stays as it was.
with_stream <- function(stream, f) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", old, globalenv()))
  assign(".Random.seed", stream, globalenv())
  value <- f()
  list(value = value, stream = get(".Random.seed", globalenv()))
}

# One L'Ecuyer stream a chain, from one draw of the session's generator.
draw_streams <- function(n) {
  seed <- draw_seeds(1L)
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(assign(".Random.seed", old, globalenv()))
  set.seed(seed, kind = "L'Ecuyer-CMRG", normal.kind = "Inversion", sample.kind = "Rejection")
  streams <- list(get(".Random.seed", globalenv()))
  for (i in seq_len(n - 1L)) streams[[i + 1L]] <- parallel::nextRNGStream(streams[[i]])
  streams
}

# Runs a chain to its end or to an interrupt, which the kernel or R itself may see. `file`: its checkpoint, or NULL.
run_chain <- function(job, problem, file = NULL, on_progress = NULL) {
  saved <- proc.time()[["elapsed"]]
  while (job$phase != "done" && !job$stopped) {
    job <- tryCatch(one_step(job, problem, on_progress), interrupt = function(e) {
      job$stopped <- TRUE
      job
    })
    late <- proc.time()[["elapsed"]] - saved >= problem$control$checkpoint_seconds
    if (!is.null(file) && !job$stopped && (late || job$phase == "done")) {
      save_checkpoint(job, problem, file)
      saved <- proc.time()[["elapsed"]]
    }
  }
  job
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
  saved <- read_checkpoint(file, problem$fingerprint)
  if (is.null(saved)) {
    return(job)
  }
  saved$job$stopped <- FALSE
  saved$job
}

# The jobs of all chains, done or as far as an interrupt let them.
run_chains <- function(problem, streams, states = NULL) {
  control <- problem$control
  problem$fingerprint <- if (!is.null(control$checkpoint)) fingerprint(problem)
  jobs <- lapply(seq_along(streams), function(chain) {
    file <- checkpoint_file(control$checkpoint, chain)
    job <- resume_checkpoint(new_job(problem, streams[[chain]], states[[chain]]), problem, file)
    # All chains' streams are on disk before the first one runs.
    if (!is.null(file) && !file.exists(file)) save_checkpoint(job, problem, file)
    job
  })
  run <- function(chain, on_progress = NULL) {
    run_chain(jobs[[chain]], problem, checkpoint_file(control$checkpoint, chain), on_progress)
  }
  if (plan_is_parallel() && length(jobs) > 1L) {
    done <- map_tasks(seq_along(jobs), run, label = "Chains", name = function(i) sprintf("chain %d", i))
    return(done[is_done(done)])
  }
  total <- total_sweeps(problem, !is.null(states))
  bar <- if (control$progress) cli::cli_progress_bar("Chains", total = total * length(jobs))
  for (chain in seq_along(jobs)) {
    report <- if (control$progress) {
      function(sweeps) cli::cli_progress_update(set = min(total, sweeps) + (chain - 1) * total, id = bar)
    }
    jobs[[chain]] <- run(chain, report)
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
      sprintf("Interrupted: %s draws of %d chain(s) are kept.",
        paste(vapply(jobs, function(job) job$n_draw, 0L), collapse = ", "), length(jobs)),
      class = "multicause_interrupted", call = NULL
    ))
  }
  jobs
}

check_mcmc_control <- function(control) {
  if (!inherits(control, "multicause_mcmc_control")) {
    stop_input("`control` must come from mcmc_control(), not be %s.", show_value(control))
  }
  control
}
