# Runs starts: seeds are drawn first, then starts are independent tasks (tasks.R), in turn or as futures.

# Translates a kernel's outcome into errors for the user.
check_outcome <- function(outcome) {
  switch(outcome$status,
    impossible_start = stop_input(
      "`start` has probability 0 for an observed cell: move its parameters away from exact 0 and 1."
    ),
    not_finite = stop("the objective became non-finite: please report this with the data at hand", call. = FALSE)
  )
  outcome
}

# The starts of a model work on a *problem*: a list of class c("<model>_problem", "multicause_problem") that holds the
# data and all settings, and nothing else. Its methods define the model's starting values. Random numbers are drawn in
# draw_start() and shake_start() only.

# Returns the kind of each start, character.
start_kinds <- function(problem, control) UseMethod("start_kinds")

# Draws starting values.
draw_start <- function(problem, kind) UseMethod("draw_start")

# Runs the kernel once: list(param, outcome); outcome as outcome() in src/glue/glue.c returns it.
run_start <- function(problem, start, control) UseMethod("run_start")

# Draws starting values near a solution; NULL for a model without polishing.
shake_start <- function(problem, param) UseMethod("shake_start")

shake_start.default <- function(problem, param) NULL

# Returns the settings of a start before the best are chosen: list(max_iter = , tol = ).
screening <- function(problem, control) UseMethod("screening")

screening.default <- function(problem, control) {
  list(max_iter = if (isTRUE(control$screen)) 100L else as.integer(control$screen), tol = control$tol)
}

# Returns a named list of further columns for a finished start.
mark_start <- function(problem, param) UseMethod("mark_start")

mark_start.default <- function(problem, param) NULL

refuse_cluster <- function(control) {
  if (!is.null(control$cluster)) {
    stop_input("`cluster` of fit_control() is for shards(): set a future::plan() to run other jobs on workers.")
  }
}

refuse_checkpoint <- function(control) {
  if (!is.null(control$checkpoint)) {
    stop_input("`checkpoint` of fit_control() has no effect here: ?fit_control lists the calls that keep results.")
  }
}

# Runs all starts of a problem, or the user's starting values, `problem$start`. Returns list(best = list(param,
# outcome), starts = data frame, traces = list, params = list or NULL, seed = session_state() before any draw, NULL for
# the user's).
run_starts <- function(problem, control) {
  refuse_cluster(control)
  refuse_checkpoint(control)
  given <- !is.null(problem$start)
  kinds <- if (given) "given" else start_kinds(problem, control)
  n <- length(kinds)
  seed <- if (!given) session_state()
  tasks <- Map(list, kind = kinds, seed = draw_seeds(n), polish_seed = draw_seeds(n))
  first <- screening(problem, control)
  screened <- !isFALSE(control$screen) && n > control$n_finish && first$max_iter < control$max_iter
  if (given) control$n_polish <- 0L
  name <- function(i) sprintf("start %d (%s)", i, kinds[i])
  problem$n_threads <- control$n_threads # of what is fitted to draw a start
  common <- list(problem = problem, control = control, screening = first)
  # A single start needs no tasks unless progress is shown.
  if (n == 1L && !isTRUE(control$progress)) {
    task <- tasks[[1L]]
    task$result <- checked_run(problem, start_values(task, problem), control)
    done <- list(polish_start(task, problem, control))
    return(c(starts_table(done, kinds, TRUE, problem, control), list(seed = seed)))
  }
  running <- task_running(control)
  done <- map_tasks(tasks, if (screened) screen_start else whole_start, common, "Starts", name, running)
  need_some(done)
  finished <- is_done(done) & !screened
  if (screened && !was_interrupted(done)) {
    best <- utils::head(order(-objectives(done)), control$n_finish)
    best <- best[is_done(done)[best]]
    chosen <- lapply(best, function(i) c(tasks[[i]], list(result = done[[i]])))
    name_best <- function(i) name(best[i])
    more <- map_tasks(chosen, finish_start, common, "Finishing", name_best, running)
    finished[best] <- is_done(more)
    done[best[is_done(more)]] <- more[is_done(more)]
    if (was_interrupted(more)) attr(done, "interrupted") <- TRUE
  }
  tell_interrupted(done, "starts")
  c(starts_table(done, kinds, finished, problem, control), list(seed = seed))
}

# Tasks of run_starts(): the first iterations of a start; a start from its values to its end; the remaining iterations
# of a screened one.
screen_start <- function(task, common, tick) {
  control <- common$control
  control$on_tick <- tick
  control[c("max_iter", "tol")] <- common$screening[c("max_iter", "tol")]
  result <- checked_run(common$problem, start_values(task, common$problem), control)
  near <- control$tol > common$control$tol && result$outcome$status == "converged"
  if (near) result$outcome$status <- "max_iter" # there is more to climb
  result
}

whole_start <- function(task, common, tick) {
  control <- common$control
  control$on_tick <- tick
  task$result <- checked_run(common$problem, start_values(task, common$problem), control)
  polish_start(task, common$problem, control)
}

start_values <- function(task, problem) {
  if (is.null(problem$start)) with_seed(task$seed, draw_start(problem, task$kind)) else problem$start
}

# Iterates from the end of screening to convergence, then polishes.
finish_start <- function(task, common, tick) {
  control <- common$control
  control$on_tick <- tick
  task$result <- go_on(task$result, task$result$param, common$problem, control)
  polish_start(task, common$problem, control)
}

# Perturbs and reruns a solution that may be trapped because a coordinate came too near its bound, and keeps the better.
polish_start <- function(task, problem, control) {
  result <- task$result
  for (seed in with_seed(task$polish_seed, draw_seeds(control$n_polish))) {
    if (result$outcome$status != "converged" || result$outcome$n_iter >= control$max_iter) break
    shaken <- with_seed(seed, shake_start(problem, result$param))
    if (is.null(shaken)) break
    result <- go_on(result, shaken, problem, control)
  }
  result
}

# Reorders components by order_of(param), in the best start and in every start that is kept.
reorder_runs <- function(run, order_of, permute) {
  reorder <- function(param) permute(param, order_of(param))
  run$best$param <- reorder(run$best$param)
  if (!is.null(run$params)) run$params <- lapply(run$params, reorder)
  run
}

# Returns the objectives, NA for a start that failed or was not reached.
objectives <- function(results) {
  vapply(results, function(result) if (is.null(result)) NA_real_ else result$outcome$objective, 0)
}

checked_run <- function(problem, start, control) {
  force(start) # what draws it would else run inside the kernel's call
  result <- run_start(problem, start, control)
  check_outcome(result$outcome)
  result
}

# Runs further iterations from `start`; see add_iterations().
go_on <- function(result, start, problem, control) {
  if (!is.null(result$outcome)) control$max_iter <- control$max_iter - result$outcome$n_iter
  more <- checked_run(problem, start, control)
  add_iterations(result, more)
}

# Appends further iterations to a result: iterations add up, and the trace holds the best objective so far.
add_iterations <- function(result, more) {
  before <- result$outcome
  if (is.null(before)) {
    return(more)
  }
  better <- more$outcome$objective > before$objective
  out <- if (better) more else result
  out$outcome$trace <- c(before$trace, pmax(before$objective, more$outcome$trace))
  out$outcome$n_iter <- before$n_iter + more$outcome$n_iter
  if (before$status != "converged") out$outcome$status <- more$outcome$status
  out
}

# Distance from the best objective, in nats, within which a finished start counts as having reached it.
near_best <- 0.5

starts_table <- function(done, kinds, finished, problem, control) {
  objective <- objectives(done)
  starts <- data.frame(
    start = seq_along(done), init = kinds, objective = objective,
    iterations = vapply(done, function(result) if (is.null(result)) 0L else result$outcome$n_iter, 0L),
    finished = finished, converged = vapply(done, function(result) identical(result$outcome$status, "converged"), NA)
  )
  usable <- usable_starts(starts)
  best <- usable[which.max(objective[usable])]
  starts$reached_best <- finished & objective >= objective[best] - near_best
  marks <- lapply(done[usable], function(result) mark_start(problem, result$param))
  if (length(marks[[1L]])) {
    marks <- do.call(Map, c(f = c, marks))
    starts <- data.frame(starts, lapply(marks, function(mark) mark[match(seq_along(done), usable)]))
  }
  list(
    best = done[[best]], starts = starts, traces = lapply(done, function(result) result$outcome$trace),
    params = if (control$keep_starts) lapply(done[usable], function(result) result$param)
  )
}

# Selects the starts for a fit: the finished ones or, after an early interrupt, all with parameters.
usable_starts <- function(starts) which(if (any(starts$finished)) starts$finished else !is.na(starts$objective))

# Iterations before the first one of the trace count, too.
trace_frame <- function(outcome) {
  traced <- length(outcome$trace)
  data.frame(iteration = outcome$n_iter - traced + seq_len(traced), objective = outcome$trace)
}

count_iterations <- function(fit) max(0L, fit$trace$iteration)

warn_not_converged <- function(outcome, what = "Not converged", advice = "") {
  warning(warningCondition(
    sprintf("%s after %s%s.", what, count_words(outcome$n_iter, "iteration"), advice),
    class = "multicause_not_converged", call = NULL
  ))
}

# Returns NA if no start of a kind has an objective: all failed, or an interrupt came first.
best_of_kind <- function(objective) if (all(is.na(objective))) NA_real_ else max(objective, na.rm = TRUE)

summarise_starts <- function(starts) {
  by <- split(starts, factor(starts$init, unique(starts$init)))
  data.frame(
    init = names(by), starts = vapply(by, nrow, 0L),
    finished = vapply(by, function(kind) sum(kind$finished), 0L),
    reached_best = vapply(by, function(kind) sum(kind$reached_best), 0L),
    best_objective = vapply(by, function(kind) best_of_kind(kind$objective), 0), row.names = NULL
  )
}

# Draws prototypes: column means shrunk towards a random row, plus noise.
mixture_prototypes <- function(data, k) {
  n <- nrow(data$x)
  m <- ncol(data$x)
  means <- (data$margins$column_sum + data_density(data)) / (data$margins$column_observed + 1)
  rows <- as.matrix(data$x[sample.int(n, k, replace = k > n), , drop = FALSE]) + 0
  means <- matrix(means, k, m, byrow = TRUE)
  rows[is.na(rows)] <- means[is.na(rows)]
  noise <- matrix(stats::runif(k * m), k, m)
  unname(pmin(pmax(0.5 * means + 0.3 * rows + 0.2 * means * noise, 0.001), 0.999))
}
