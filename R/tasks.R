# Independent tasks (starts, folds, replicates, chains): one after another or as futures, with the same result. One that
# fails is named and does not lose the others; an interrupt may keep what is finished; finished ones may be stored.

# Is there a future plan other than "one after another"?
plan_is_parallel <- function() {
  isNamespaceLoaded("future") && requireNamespace("future.apply", quietly = TRUE) &&
    !inherits(future::plan(), "sequential")
}

# lapply() over tasks that draw no random numbers of the session's: a list with NULL where a task failed or, after an
# interrupt that was to be kept (then the attribute "interrupted" is TRUE), was not reached. If all failed, the error of
# the first.
#   name     function(i): a task in a message
#   keep     does an interrupt keep what is finished?
#   store    where finished tasks are kept on disk, see checkpoint_store(); or NULL
#   on_tick  f takes a second argument: what to call in the middle of a task, or NULL
#   need_all is one failure an error?
map_tasks <- function(tasks, f, progress = FALSE, label = "Working", name = function(i) paste("task", i), keep = FALSE,
                      store = NULL, on_tick = FALSE, parallel = TRUE, need_all = FALSE) {
  done <- stored_tasks(store, length(tasks))
  todo <- which(vapply(done, is.null, NA))
  jobs <- lapply(todo, function(i) list(i = i, task = tasks[[i]]))
  step <- progress_signal(length(jobs))
  if (parallel && plan_is_parallel() && length(jobs) > 1L) {
    out <- run_as_futures(jobs, f, step, keep, store, on_tick)
  } else {
    out <- run_in_turn(jobs, f, step, keep, store, if (progress) progress_bar(label, length(tasks), todo), on_tick)
  }
  done[todo] <- out$done
  done <- settle_failures(done, tolower(label), name, need_all)
  if (isTRUE(out$interrupted)) attr(done, "interrupted") <- TRUE
  done
}

was_interrupted <- function(done) isTRUE(attr(done, "interrupted"))

is_done <- function(done) !vapply(done, is.null, NA)

# Where nothing is finished there is nothing to keep.
need_some <- function(done) if (length(done) && !any(is_done(done))) signal_interrupt() else done

# Tells that an interrupt left tasks out.
tell_interrupted <- function(done, what) {
  if (was_interrupted(done)) {
    warning(warningCondition(
      sprintf("Interrupted: %d of %d %s are kept.", sum(is_done(done)), length(done), what),
      class = "multicause_interrupted", call = NULL
    ))
  }
}

run_in_turn <- function(jobs, f, step, keep, store, bar, on_tick) {
  done <- vector("list", length(jobs))
  if (!is.null(bar)) on.exit(bar$close())
  interrupted <- FALSE
  for (at in seq_along(jobs)) {
    run <- function() run_task(jobs[[at]], f, step, store, on_tick, bar$tick)
    value <- if (keep) tryCatch(run(), interrupt = function(e) interrupted <<- TRUE) else run()
    if (interrupted) break
    done[at] <- list(value)
    if (!is.null(bar)) bar$step()
  }
  list(done = done, interrupted = interrupted)
}

# One task, here or on a worker: its result, or the condition of its error.
run_task <- function(job, f, step = NULL, store = NULL, on_tick = FALSE, tick = NULL) {
  if (is_cancelled(store)) {
    return(NULL)
  }
  failed <- function(e) structure(list(error = e), class = "task_failure")
  value <- tryCatch(if (on_tick) f(job$task, tick) else f(job$task), error = failed)
  if (!inherits(value, "task_failure")) store_task(store, job$i, value)
  if (!is.null(step)) step()
  value
}

# Everything a task needs goes out once for each worker, with what it does not need taken out of its closure. To keep
# what is finished at an interrupt, workers store each result where this session can read it.
run_as_futures <- function(jobs, f, step, keep, store, on_tick) {
  f <- lean_closure(f)
  packages <- setdiff(.packages(), c("base", "methods", "datasets", "utils", "grDevices", "graphics", "stats"))
  if (keep && is.null(store)) store <- temporary_store()
  map <- function() {
    future.apply::future_lapply(
      jobs, run_task, f = f, step = step, store = store, on_tick = on_tick, future.seed = NULL,
      future.globals = session_globals(f), future.packages = union("multicause", packages)
    )
  }
  if (!keep) {
    return(list(done = map(), interrupted = FALSE))
  }
  tryCatch({
    done <- map()
    if (isTRUE(store$temporary)) unlink(dirname(store$file), recursive = TRUE)
    list(done = done, interrupted = FALSE)
  }, interrupt = function(e) {
    cancel_tasks(store)
    numbers <- vapply(jobs, function(job) job$i, 0L)
    list(done = stored_tasks(store, max(numbers))[numbers], interrupted = TRUE)
  })
}

settle_failures <- function(done, what, name, need_all) {
  failed <- which(vapply(done, inherits, NA, "task_failure"))
  if (!length(failed)) {
    return(done)
  }
  if (need_all || length(failed) == sum(is_done(done))) stop(done[[failed[1L]]]$error)
  said <- vapply(failed, function(i) sprintf("%s: %s", name(i), conditionMessage(done[[i]]$error)), "")
  more <- if (length(said) > 5L) sprintf("; and %d more", length(said) - 5L) else ""
  warning(warningCondition(
    sprintf(
      "%d of %d %s failed and are left out. %s%s", length(failed), length(done), what,
      paste(utils::head(said, 5L), collapse = "; "), more
    ),
    class = "multicause_task_failed", call = NULL
  ))
  done[failed] <- list(NULL)
  done
}

# A function with no more of its surroundings than it names, so that what goes to a worker is the data once and not
# whatever else the functions that made it had at hand. Functions from the same frame share their copy of it.
lean_closure <- function(f) {
  frames <- new.env()
  frames$pairs <- list()
  lean_value(f, frames)
}

lean_value <- function(value, frames) {
  if (is.function(value)) {
    return(lean_function(value, frames))
  }
  if (is.list(value) && !is.object(value)) value[] <- lapply(value, lean_value, frames)
  value
}

lean_function <- function(f, frames) {
  home <- environment(f)
  # The user's own functions stay as they are: who knows how they find their values.
  if (!is_local(home) || !identical(top_of(home), topenv())) {
    return(f)
  }
  f <- utils::removeSource(f)
  environment(f) <- lean_frame(home, frames)
  for (name in names_used(f)) {
    frame <- home
    while (is_local(frame) && !exists(name, frame, inherits = FALSE)) frame <- parent.env(frame)
    if (is_local(frame)) copy_lean(name, frame, lean_frame(frame, frames), frames)
  }
  f
}

lean_frame <- function(home, frames) {
  for (pair in frames$pairs) if (identical(pair$from, home)) return(pair$to)
  outer <- parent.env(home)
  to <- new.env(parent = if (is_local(outer)) lean_frame(outer, frames) else outer)
  frames$pairs <- c(frames$pairs, list(list(from = home, to = to)))
  to
}

copy_lean <- function(name, from, to, frames) {
  if (exists(name, to, inherits = FALSE)) {
    return(invisible())
  }
  assign(name, NULL, to) # seen: functions may name each other
  copy <- function() assign(name, lean_value(get(name, from, inherits = FALSE), frames), to)
  # An argument that was not given has no value to take along.
  tryCatch(copy(), error = function(e) rm(list = name, envir = to))
}

is_local <- function(frame) {
  !is.null(frame) && !identical(frame, globalenv()) && !isNamespace(frame) && !identical(frame, emptyenv()) &&
    !identical(frame, baseenv()) && is.null(attr(frame, "name"))
}

top_of <- function(frame) {
  while (is_local(frame)) frame <- parent.env(frame)
  frame
}

names_used <- function(f) unique(c(all.names(body(f)), unlist(lapply(formals(f), all.names))))

names_wanted <- function(f) setdiff(names_used(f), names(formals(f)))

# What functions of the user's own, anywhere in the surroundings of f, take from the workspace, by name.
session_globals <- function(f) {
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
    # Arguments that were not given have no value.
    for (name in ls(home)) visit(tryCatch(get(name, home), error = function(e) NULL))
  }
  add <- function(names) {
    for (name in setdiff(names, names(found))) {
      if (!exists(name, globalenv(), inherits = FALSE)) next
      value <- get(name, globalenv())
      found[name] <<- list(value)
      visit(value)
    }
  }
  visit(f)
  found
}

# A bar with the time left, which a long task moves by its passes; `todo` of n tasks are ahead.
progress_bar <- function(label, n, todo) {
  done <- n - length(todo)
  bar <- cli::cli_progress_bar(
    label, total = n, .auto_close = FALSE, .envir = topenv(),
    format = "{cli::pb_name}{cli::pb_bar} {cli::pb_current}/{cli::pb_total} | {cli::pb_eta_str} {cli::pb_status}"
  )
  update <- function(...) cli::cli_progress_update(..., id = bar, .envir = topenv())
  if (done) update(set = done)
  list(
    tick = function(pass, objective) {
      update(set = done, status = sprintf("pass %d: %s", pass, format(objective, digits = 8L)))
    },
    step = function() {
      done <<- done + 1L
      update(set = done, status = "")
    },
    close = function() cli::cli_progress_done(id = bar, .envir = topenv())
  )
}

# What to call after each task for those who listen by progressr, NULL where nobody can.
progress_signal <- function(n) {
  if (!isNamespaceLoaded("progressr") || n < 1L) {
    return(NULL)
  }
  progressr::progressor(steps = n, on_exit = FALSE)
}
