#' How a fit is run
#'
#' Settings shared by every model that is fitted by passes of an EM-like algorithm.
#'
#' Fits start from several sets of initial values, because the likelihood has many local maxima. With
#' `screen = TRUE` each start runs `screen_pass` passes, and the best `n_finish` go on to convergence; `fit$starts`
#' tells what became of each. A pass is one full update of all parameters, accelerated or not.
#'
#' `accelerate = TRUE` uses SQUAREM (Varadhan and Roland 2008) as cycles of three passes that never lower the
#' objective from one accepted point to the next. `accelerate = FALSE, tol = 0, n_start = 1` with a `start` runs
#' exactly `max_pass` passes of the published algorithm.
#'
#' **Long jobs.** A bar shows the time left, where `progress` is on and the job takes more than a moment; package
#' progressr, if it is in use, hears of every start. A start that fails does not lose the others: a warning of class
#' `multicause_task_failed` names it, `fit$starts` has `NA` for its objective, and only if all fail is it an error.
#'
#' **Several processors.** Starts run as futures where a [future::plan()] is set (package future.apply is needed): other
#' R processes on this machine (`multisession`), on others (`cluster`), or jobs of a queue (`future.batchtools`). The
#' data go to each worker once for screening and once for finishing the starts.
#'
#' Results depend on [set.seed()] alone: the same seed gives the same result for any `n_threads` and any
#' `future::plan()`. All random draws are made from task seeds that are drawn up front.
#'
#' @param n_start number of starts, at least 1. Ignored where `start` is given or where one start decides.
#' @param max_pass most passes a start may take, at least 0.
#' @param tol relative tolerance: a start has converged when two accelerated cycles in a row (without
#'   acceleration: one pass) gain less than `tol` times the absolute objective; 0 means never.
#' @param accelerate `TRUE` or `FALSE`.
#' @param n_threads threads inside a pass (OpenMP), at least 1. The result does not depend on it.
#' @param progress show a progress bar for long jobs.
#' @param keep_x keep the data in the fit. With `FALSE`, verbs that need them ask for them.
#' @param keep_starts keep the parameters of every finished start, in `fit$start_params`.
#' @param init `"mixed"`: all kinds of starts that the model knows; `"free"`: only those that impose no phantom.
#' @param screen `FALSE` finishes every start.
#' @param screen_pass passes of every start before the best are chosen, at least 1.
#' @param n_finish how many starts are finished, at least 1.
#' @param n_polish how often each finished start is polished: a fifth of its parameters is replaced by random numbers
#'   and the passes are run again, within `max_pass`; kept when better. It frees solutions in which a probability came
#'   so near to 0 that no pass could raise it again. Not done where `start` is given.
#' @param reach a finished start has reached the best when its objective is within this many nats of it.
#' @param on_interrupt what Ctrl-C does to several starts, or to the fits of [select_k()], [cross_validate()] and
#'   [compare_models()]: `"stop"`, as everywhere in R; `"keep"`: what is finished so far is returned, with a warning of
#'   class `multicause_interrupted`. Where nothing is finished yet, it stops.
#' @param ... must be empty: an unknown name is an error.
#' @return A list of class `multicause_control`.
#' @references Varadhan R, Roland C (2008). Simple and globally convergent methods for accelerating the convergence
#'   of any EM algorithm. *Scandinavian Journal of Statistics* 35, 335-353. \doi{10.1111/j.1467-9469.2007.00585.x}
#' @examples
#' fit_control(n_start = 30, progress = FALSE)
#' @export
fit_control <- function(n_start = 10, max_pass = 5000, tol = 1e-9, accelerate = TRUE, n_threads = 1,
                        progress = interactive(), keep_x = TRUE, keep_starts = FALSE,
                        init = c("mixed", "free"), screen = TRUE, screen_pass = 100, n_finish = 3,
                        n_polish = 3, reach = 0.5, on_interrupt = c("stop", "keep"), ...) {
  check_dots(...)
  structure(
    list(
      n_start = check_count(n_start, "n_start"),
      max_pass = check_count(max_pass, "max_pass", 0L),
      tol = check_number(tol, "tol", 0, 1),
      accelerate = check_flag(accelerate, "accelerate"),
      n_threads = check_count(n_threads, "n_threads", 1L, 1024L),
      progress = check_flag(progress, "progress"),
      keep_x = check_flag(keep_x, "keep_x"),
      keep_starts = check_flag(keep_starts, "keep_starts"),
      init = check_choice(init, "init", c("mixed", "free")),
      screen = check_flag(screen, "screen"),
      screen_pass = check_count(screen_pass, "screen_pass"),
      n_finish = check_count(n_finish, "n_finish"),
      n_polish = check_count(n_polish, "n_polish", 0L),
      reach = check_number(reach, "reach", 0),
      on_interrupt = check_choice(on_interrupt, "on_interrupt", c("stop", "keep"))
    ),
    class = "multicause_control"
  )
}

#' @export
print.multicause_control <- function(x, ...) {
  cat("<multicause_control>\n")
  cat(sprintf("  %s = %s\n", format(names(x)), vapply(x, format, "")), sep = "")
  invisible(x)
}

# OpenBLAS' own number of threads: sets it, returns what it was (0 where another BLAS is at work).
blas_threads <- function(n) .Call(mc_c_blas_threads, as.integer(n))
