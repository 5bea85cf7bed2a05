# Starts: seeds up front, run as independent tasks (tasks.R), the same result in turn or as futures.

# Evaluates `expr` under its own seed and leaves the session's generator and its kind as they were.
with_seed <- function(seed, expr) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", old, globalenv()))
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  expr
}

draw_seeds <- function(n) sample.int(.Machine$integer.max, n)

# R's own interrupt; kernels that the user interrupted call this: glue_end_stopped() in src/glue.h.
signal_interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
  invokeRestart("abort")
}

# What a kernel's outcome means to the user.
check_outcome <- function(outcome) {
  switch(outcome$status,
    impossible_start = stop_input(
      "`start` gives probability 0 to an observed cell: move its parameters away from exact 0 and 1."
    ),
    not_finite = stop("the objective became non-finite: please report this with the data at hand", call. = FALSE)
  )
  outcome
}

# Runs all starts of a model.
#   kinds  character, the kind of each start
#   draw   function(kind): start values
#   run    function(start, control): list(param, outcome); outcome as glue_outcome() in src/glue.c gives it
#   shake  function(param): start values near a solution, or NULL for a model without polishing
#   mark   function(param): named list of what else to note of a finished start, or NULL
# Random numbers are drawn in draw() and shake() only. Returns list(best = list(param, outcome), starts = data frame,
# traces = list, params = list or NULL).
run_starts <- function(kinds, draw, run, control, shake = NULL, mark = NULL) {
  n <- length(kinds)
  tasks <- Map(list, kind = kinds, seed = draw_seeds(n), polish_seed = draw_seeds(n))
  screening <- control$screen && n > control$n_finish && control$screen_pass < control$max_pass
  if (is.null(shake)) control$n_polish <- 0L
  keep <- control$on_interrupt == "keep"
  name <- function(i) sprintf("start %d (%s)", i, kinds[i])
  done <- map_tasks(tasks, function(task, tick) {
    control$on_tick <- tick
    start <- with_seed(task$seed, draw(task$kind))
    if (!screening) {
      return(finish(list(param = start, outcome = NULL), task, run, shake, control))
    }
    control$max_pass <- control$screen_pass
    checked_run(run, start, control)
  }, control$progress, "Starts", name, keep, on_tick = TRUE)
  need_some(done)
  finished <- is_done(done) & !screening
  if (screening && !was_interrupted(done)) {
    best <- utils::head(order(-objectives(done)), control$n_finish)
    best <- best[is_done(done)[best]]
    chosen <- lapply(best, function(i) list(result = done[[i]], task = tasks[[i]]))
    more <- map_tasks(chosen, function(chosen, tick) {
      control$on_tick <- tick
      finish(chosen$result, chosen$task, run, shake, control)
    }, control$progress, "Finishing", function(i) name(best[i]), keep, on_tick = TRUE)
    finished[best] <- is_done(more)
    done[best[is_done(more)]] <- more[is_done(more)]
    if (was_interrupted(more)) attr(done, "interrupted") <- TRUE
  }
  tell_interrupted(done, "starts")
  finish_starts(done, kinds, finished, control, mark)
}

# One start, given by the user.
run_given <- function(start, run, control, mark = NULL) {
  control$screen <- FALSE
  run_starts("given", function(kind) start, run, control, mark = mark)
}

# Components in the order that order_of(param) gives, in the best start and in every start that is kept.
reorder_runs <- function(run, order_of, permute) {
  reorder <- function(param) permute(param, order_of(param))
  run$best$param <- reorder(run$best$param)
  if (!is.null(run$params)) run$params <- lapply(run$params, reorder)
  run
}

# NA for a start that failed or was not reached.
objectives <- function(results) {
  vapply(results, function(result) if (is.null(result)) NA_real_ else result$outcome$objective, 0)
}

checked_run <- function(run, start, control) {
  result <- run(start, control)
  check_outcome(result$outcome)
  result
}

# From where screening stopped (or the start values) to convergence, then polished: a solution that the passes can no
# longer leave, for want of a coordinate that came too near to its bound, is shaken and run again, and kept if better.
finish <- function(result, task, run, shake, control) {
  result <- continue(result, result$param, run, control)
  for (seed in with_seed(task$polish_seed, draw_seeds(control$n_polish))) {
    if (result$outcome$status != "converged" || result$outcome$n_pass >= control$max_pass) break
    result <- continue(result, with_seed(seed, shake(result$param)), run, control)
  }
  result
}

# More passes from `start`; passes add up, and the trace holds the best objective so far.
continue <- function(result, start, run, control) {
  before <- result$outcome
  control$max_pass <- control$max_pass - if (is.null(before)) 0L else before$n_pass
  more <- checked_run(run, start, control)
  if (is.null(before)) {
    return(more)
  }
  better <- more$outcome$objective > before$objective
  out <- if (better) more else result
  out$outcome$trace <- c(before$trace, pmax(before$objective, more$outcome$trace))
  out$outcome$n_pass <- before$n_pass + more$outcome$n_pass
  if (before$status != "converged") out$outcome$status <- more$outcome$status
  out
}

finish_starts <- function(done, kinds, finished, control, mark) {
  objective <- objectives(done)
  # An interrupt may have left none that is finished.
  eligible <- if (any(finished)) finished else is_done(done)
  best <- which(eligible)[which.max(objective[eligible])]
  starts <- data.frame(
    start = seq_along(done), init = kinds, objective = objective,
    passes = vapply(done, function(result) if (is.null(result)) 0L else result$outcome$n_pass, 0L),
    finished = finished, converged = vapply(done, function(result) identical(result$outcome$status, "converged"), NA),
    reached_best = eligible & objective >= objective[best] - control$reach
  )
  if (!is.null(mark)) {
    marks <- lapply(done[finished], function(result) data.frame(mark(result$param)))
    marks <- do.call(rbind, marks)[match(seq_along(done), which(finished)), , drop = FALSE]
    starts <- data.frame(starts, marks, row.names = NULL)
  }
  list(
    best = done[[best]], starts = starts, traces = lapply(done, function(result) result$outcome$trace),
    params = if (control$keep_starts) lapply(done[finished], function(result) result$param)
  )
}

trace_frame <- function(outcome) {
  data.frame(pass = seq_len(outcome$n_pass), objective = outcome$trace)
}
