# Independent tasks (starts, folds, replicates, chains): one after another or as futures, with the same result. A failed
# task is reported without losing the others; an interrupt may keep finished tasks, which may be stored.

# Upper limit of tasks in one call, which bounds what is allocated for each before work starts.
most_tasks <- 1e6

# Tests for a future plan other than sequential.
plan_is_parallel <- function() {
  isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")
}

# Runs f(task, common, tick) for every task; f must not draw the session's random numbers. Returns a list with NULL for
# a task that failed or, after an interrupt with `on_interrupt = "keep"` (then the attribute "interrupted" is TRUE), was
# not reached. If all failed, the first error is signalled. If some did, the attribute "failed" has their numbers and
# messages.
#   f        a function of the package: all it works on is in its arguments
#   common   what the tasks share: sent once to each worker
#   tick     what f calls in the middle of a task, as a kernel's on_tick; NULL where nobody looks
#   name     function(i): a task in a message
#   running  how they are run, from task_running()
map_tasks <- function(tasks, f, common, label, name = function(i) paste("task", i), running = task_running()) {
  keep <- identical(running$control$on_interrupt, "keep")
  store <- running$store
  done <- stored_tasks(store, length(tasks))
  todo <- which(vapply(done, is.null, NA))
  jobs <- lapply(todo, function(i) list(i = i, task = tasks[[i]]))
  step <- progress_signal(length(jobs))
  if (running$parallel && plan_is_parallel() && length(jobs) > 1L) {
    out <- run_as_futures(jobs, f, common, step, keep, store)
  } else {
    bar <- if (isTRUE(running$control$progress)) progress_bar(label, length(tasks), todo)
    out <- run_in_turn(jobs, f, common, step, keep, store, bar)
  }
  done[todo] <- out$done
  done <- settle_failures(done, tolower(label), name, running$need_all)
  if (isTRUE(out$interrupted)) attr(done, "interrupted") <- TRUE
  done
}

# Settings of a run of tasks.
#   control  whether to show progress, and whether an interrupt keeps what is finished; NULL: neither
#   store    where finished tasks are stored on disk, see checkpoint_store(); or NULL
#   parallel whether to use futures, if there is a plan
#   need_all whether one failure is an error
task_running <- function(control = NULL, store = NULL, parallel = TRUE, need_all = FALSE) {
  list(control = control, store = store, parallel = parallel, need_all = need_all)
}

was_interrupted <- function(done) isTRUE(attr(done, "interrupted"))

is_done <- function(done) !vapply(done, is.null, NA)

# Without a finished task there is nothing to keep.
need_some <- function(done) if (length(done) && !any(is_done(done))) signal_interrupt() else done

# Warns that an interrupt left tasks out, of `n` in all.
tell_interrupted <- function(done, what, n = length(done)) {
  if (was_interrupted(done)) {
    warning(warningCondition(
      sprintf("Interrupted: %d of %d %s are kept.", sum(is_done(done)), n, what),
      class = "multicause_interrupted", call = NULL
    ))
  }
}

run_in_turn <- function(jobs, f, common, step, keep, store, bar) {
  done <- vector("list", length(jobs))
  if (!is.null(bar)) on.exit(bar$close())
  interrupted <- FALSE
  for (at in seq_along(jobs)) {
    job <- jobs[[at]]
    value <- if (keep) {
      tryCatch(run_task(job, f, common, step, store, bar$tick), interrupt = function(e) interrupted <<- TRUE)
    } else {
      run_task(job, f, common, step, store, bar$tick)
    }
    if (interrupted) break
    done[at] <- list(value)
    if (!is.null(bar)) bar$step()
  }
  list(done = done, interrupted = interrupted)
}

# Runs one task, here or on a worker, and returns its result or the condition of its error.
run_task <- function(job, f, common, step = NULL, store = NULL, tick = NULL) {
  if (is_cancelled(store)) {
    return(NULL)
  }
  failed <- function(e) {
    if (inherits(e, "multicause_empty_rows")) stop(e) # of a table that is the same for all tasks
    structure(list(error = e), class = "task_failure")
  }
  value <- catch_error(f(job$task, common, tick), failed)
  if (!inherits(value, "task_failure")) store_task(store, job$i, value)
  if (!is.null(step)) step()
  value
}

# Runs jobs on workers, each of which stores every result where this session can read it, so that finished results are
# kept at an interrupt, or if a worker is lost, whose jobs then run here.
run_as_futures <- function(jobs, f, common, step, keep, store) {
  if (is.null(store)) store <- temporary_store()
  watch <- new.env(parent = emptyenv()) # nolint: object_usage_linter. Used within work().
  work <- function() {
    watch$runs <- start_runs(jobs, f, common, step, store)
    collect_runs(watch, jobs, store)
    out <- finish_runs(watch, jobs, f, common, step, keep, store)
    stopped <- any(vapply(watch$runs, function(run) identical(run$state, "stopped"), NA))
    if (stopped || out$interrupted) cancel_tasks(store) else if (isTRUE(store$temporary)) forget_store(store)
    out
  }
  if (!keep) {
    return(work())
  }
  tryCatch(work(), interrupt = function(e) {
    cancel_tasks(store)
    numbers <- vapply(jobs, function(job) job$i, 0L)
    list(done = stored_tasks(store, max(numbers))[numbers], interrupted = TRUE)
  })
}

do_run <- function(jobs, f, common, step, store) {
  lapply(jobs, run_task, f = f, common = common, step = step, store = store)
}

# Starts a run for each worker: list(at = its jobs, future, or why = the reason why there is none, state = "open",
# "done", "lost" or "stopped", heard = when a job of it last finished, finished = the number of these).
start_runs <- function(jobs, f, common, step, store) {
  packages <- setdiff(.packages(), c("base", "methods", "datasets", "utils", "grDevices", "graphics", "stats"))
  n <- min(length(jobs), future::nbrOfWorkers())
  globals <- session_globals(common)
  shared <- list(.do_run = do_run, .f = f, .common = common, .step = step, .store = store)
  expr <- quote(.do_run(.jobs, .f, .common, .step, .store))
  start <- function(jobs) {
    future::future(
      expr, substitute = FALSE, globals = c(globals, shared, list(.jobs = jobs)), seed = NULL,
      packages = union("multicause", packages)
    )
  }
  lapply(unname(split(seq_along(jobs), ceiling(seq_along(jobs) * n / length(jobs)))), function(at) {
    run <- catch_error(list(future = start(jobs[at])), worker_failure)
    c(run, list(at = at, state = if (is.null(run$why)) "open" else "lost", heard = proc.time()[[3L]], finished = 0L))
  })
}

# Errors of package future are those of a worker; others are those of its job.
worker_failure <- function(e) if (inherits(e, "FutureError")) list(why = conditionMessage(e)) else stop(e)

# Waits until all runs are done or lost. If all remaining runs are silent for `silent_seconds` and for three times the
# longest job so far, their workers have stopped.
silent_seconds <- 60
collect_runs <- function(watch, jobs, store) {
  longest <- 0
  repeat {
    open <- which(vapply(watch$runs, function(run) run$state == "open", NA))
    silent <- numeric()
    for (i in open) {
      run <- look_at_run(watch$runs[[i]], jobs, store)
      now <- proc.time()[[3L]]
      if (run$state == "done" || run$finished > watch$runs[[i]]$finished) {
        longest <- max(longest, now - run$heard)
        run$heard <- now
      }
      silent <- c(silent, now - run$heard)
      watch$runs[[i]] <- run
    }
    if (!length(open)) break
    if (longest > 0 && all(silent > max(silent_seconds, 3 * longest))) {
      for (i in open) watch$runs[[i]]$state <- "stopped"
      break
    }
    Sys.sleep(0.01)
  }
}

look_at_run <- function(run, jobs, store) {
  got <- catch_error(
    if (future::resolved(run$future)) list(value = future::value(run$future)), worker_failure
  )
  if (is.null(got)) {
    run$finished <- sum(file.exists(vapply(jobs[run$at], function(job) task_file(store, job$i), "")))
    return(run)
  }
  run$state <- if (is.null(got$why)) "done" else "lost"
  run[c("value", "future")] <- list(got$value, NULL)
  run
}

# Collects all results: those of finished runs, the results that others have stored, and the remainder, which runs here.
finish_runs <- function(watch, jobs, f, common, step, keep, store) {
  done <- vector("list", length(jobs))
  lost <- vapply(watch$runs, function(run) run$state != "done", NA)
  for (run in watch$runs[!lost]) done[run$at] <- run$value
  out <- list(done = done, interrupted = FALSE)
  if (any(lost)) {
    at <- unlist(lapply(watch$runs[lost], `[[`, "at"))
    numbers <- vapply(jobs[at], function(job) job$i, 0L)
    out$done[at] <- stored_tasks(store, max(numbers))[numbers]
    left <- at[!is_done(out$done[at])]
    here <- run_in_turn(jobs[left], f, common, step, keep, store, NULL)
    out$done[left] <- here$done
    out$interrupted <- here$interrupted
    tell_lost_runs(watch$runs[lost], length(left))
  }
  out
}

tell_lost_runs <- function(runs, n_left) {
  stopped <- vapply(runs, function(run) run$state == "stopped", NA)
  why <- c(
    if (!all(stopped)) sprintf("%s ended", count_words(sum(!stopped), "worker")),
    if (any(stopped)) sprintf("%s did not answer", count_words(sum(stopped), "worker"))
  )
  warning(warningCondition(
    sprintf(
      "Of the workers of `future::plan()`, %s: %s computed in this session. Set the plan again for new workers.",
      paste(why, collapse = " and "), if (n_left == 1L) "1 task was" else sprintf("%d tasks were", n_left)
    ),
    class = "multicause_worker_lost", call = NULL
  ))
}

settle_failures <- function(done, what, name, need_all) {
  failed <- which(vapply(done, inherits, NA, "task_failure"))
  if (!length(failed)) {
    return(done)
  }
  if (need_all || length(failed) == sum(is_done(done))) stop_failed(done[[failed[1L]]]$error)
  said <- vapply(failed, function(i) sprintf("%s: %s", name(i), conditionMessage(done[[i]]$error)), "")
  more <- if (length(said) > 5L) sprintf("; and %d more", length(said) - 5L) else ""
  warning(warningCondition(
    sprintf(
      "%d of %d %s failed and are left out. %s%s", length(failed), length(done), what,
      paste(utils::head(said, 5L), collapse = "; "), more
    ),
    class = "multicause_task_failed", call = NULL
  ))
  messages <- vapply(done[failed], function(each) conditionMessage(each$error), "")
  done[failed] <- list(NULL)
  structure(done, failed = data.frame(task = failed, message = messages))
}

# Signals the error of a job without any result.
stop_failed <- function(e) {
  if (inherits(e, "multicause_model_failed")) {
    stop_input(
      "`model` must be a model, or a function of a table that returns a fit or a matrix of its shape. %s fails: %s",
      show_names(e$model), conditionMessage(e)
    )
  }
  stop(e)
}

is_local <- function(frame) {
  !is.null(frame) && !identical(frame, globalenv()) && !isNamespace(frame) && !identical(frame, emptyenv()) &&
    !identical(frame, baseenv()) && is.null(attr(frame, "name"))
}

top_of <- function(frame) {
  while (is_local(frame)) frame <- parent.env(frame)
  frame
}

names_wanted <- function(f) {
  setdiff(c(all.names(body(f)), unlist(lapply(formals(f), all.names))), names(formals(f)))
}

# Collects the workspace objects that a user's functions, such as models to compare, use by name: in any part of a
# value, and in the environments of its functions.
session_globals <- function(value) {
  found <- list()
  seen <- list()
  visit <- function(value) {
    if (is.list(value)) {
      for (each in value) if (is.function(each) || is.list(each)) visit(each)
    }
    if (!is.function(value)) {
      return(invisible())
    }
    home <- environment(value)
    if (identical(top_of(home), globalenv())) add(names_wanted(value))
    if (!is_local(home) || any(vapply(seen, identical, NA, home))) {
      return(invisible())
    }
    seen[[length(seen) + 1L]] <<- home
    # Missing arguments have no value.
    for (name in ls(home)) visit(catch_error(get(name, home), function(e) NULL))
  }
  add <- function(names) {
    for (name in setdiff(names, names(found))) {
      if (!exists(name, globalenv(), inherits = FALSE)) next
      value <- get(name, globalenv())
      found[name] <<- list(value)
      visit(value)
    }
  }
  visit(value)
  found
}

# Shows a bar with the remaining time, which a long task moves by its iterations; `todo` of n tasks remain.
progress_bar <- function(label, n, todo) {
  done <- n - length(todo)
  bar <- cli::cli_progress_bar(
    label, total = n, .auto_close = FALSE, .envir = topenv(),
    format = "{cli::pb_name}{cli::pb_bar} {cli::pb_current}/{cli::pb_total} | {cli::pb_eta_str} {cli::pb_status}"
  )
  update <- function(...) cli::cli_progress_update(..., id = bar, .envir = topenv())
  if (done) update(set = done)
  list(
    tick = function(iteration, objective) {
      update(set = done, status = sprintf("iteration %d: %s", iteration, format(objective, digits = 8L)))
    },
    step = function() {
      done <<- done + 1L
      update(set = done, status = "")
    },
    close = function() cli::cli_progress_done(id = bar, .envir = topenv())
  )
}

# Returns the function to call after each task for progressr, NULL without it.
progress_signal <- function(n) {
  if (!isNamespaceLoaded("progressr") || n < 1L) {
    return(NULL)
  }
  progressr::progressor(steps = n, on_exit = FALSE)
}

remembered <- function(memory, name, make) {
  if (is.null(memory)) {
    return(make())
  }
  if (is.null(memory[[name]])) memory[[name]] <- make()
  memory[[name]]
}

# Signals R's own interrupt; kernels that the user interrupted call it: glue_end_stopped() in src/glue/glue.h.
signal_interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
  invokeRestart("abort")
}
