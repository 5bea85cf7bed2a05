# Starts and folds as independent tasks: in turn or as futures, with failures named and results kept at interrupts.
# Tests also R/starts.R, R/base_random.R.

skip_on_cran()

table_of_two <- function(n = 30, m = 8) {
  set.seed(1)
  outer(seq_len(n), seq_len(m), function(i, j) (2 * i <= n) == (2 * j <= m)) * matrix(stats::rbinom(n * m, 1, 0.7), n)
}

several <- function(...) fit_control(n_start = 5, n_finish = 2, screen = 5, n_polish = 1, progress = FALSE, ...)

# Results of starts and folds with a user-defined model that needs a function of the workspace.
run_jobs <- function(x) {
  set.seed(4)
  fit <- aspect_bernoulli(x, 2, phantom = "white", control = several())
  sources <- noisy_or(x, 2, control = several())
  mine <- function(x, k, control) bernoulli_mixture(twice_in_workspace(x), k, control = control) # nolint.
  environment(mine) <- globalenv()
  folds <- cross_validate(x, 1:2, list(own = mine, pca = logistic_pca), folds = 3, control = several())
  fits <- select_k(x, 1:2, nmf, "aic", control = several(), loss = "kl")
  list(fit$param, fit$starts, fit$trace, sources$param, folds$folds, folds$results, fits$table, stats::runif(2))
}

# Starting values of a mixture of two components: rows, and random numbers.
problem_of_two <- function(x) {
  structure(
    list(data = check_data(x, "binary"), k = 2L, pseudo = c(0, 0, 0)),
    class = c("bernoulli_mixture_problem", "multicause_problem")
  )
}

with_helper <- function(code) {
  assign("twice_in_workspace", function(x) x, globalenv())
  on.exit(rm("twice_in_workspace", envir = globalenv()))
  force(code)
}

test_that("two multisession workers and a cluster of two Rscripts give the results of one process", {
  skip_if_not_installed("future")
  skip_if_not_installed_here()
  x <- table_of_two()
  with_helper({
    alone <- run_jobs(x)
    old <- future::plan(future::multisession, workers = 2)
    on.exit(future::plan(old), add = TRUE)
    expect_identical(run_jobs(x), alone)
    workers <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
    on.exit(parallel::stopCluster(workers), add = TRUE, after = FALSE)
    future::plan(future::cluster, workers = workers)
    expect_identical(run_jobs(x), alone)
  })
})

test_that("a worker gets the data once, and nothing that is not needed", {
  skip_if_not_installed("future")
  x <- table_of_two(400, 100)
  sent <- numeric()
  size <- function(value) length(serialize(value, NULL))
  data <- check_data(x, "binary")
  note_size <- function(jobs, f, common, step, keep, store) {
    expect_true(isNamespace(environment(f)))
    sent <<- c(sent, size(common))
    list(done = lapply(jobs, run_task, f = f, common = common), interrupted = FALSE)
  }
  fit <- function() {
    set.seed(1)
    bernoulli_mixture(x, 2, control = several())
  }
  alone <- fit()
  bind_in_namespace("run_as_futures", note_size)
  bind_in_namespace("plan_is_parallel", function() TRUE)
  expect_identical(fit()$param, alone$param)
  expect_length(sent, 2L) # screening, finishing
  expect_true(all(sent < 1.1 * (size(data$x) + size(data$view)) + 1e5))
})

test_that("a start that fails is named and does not lose the others", {
  x <- table_of_two()
  problem <- problem_of_two(x)
  bind_in_namespace("random_unit", function(...) stop("no such start"))
  for (screen in c(TRUE, FALSE)) {
    control <- fit_control(n_start = 3, n_finish = 2, screen = screen, progress = FALSE)
    expect_warning(
      done <- run_starts(problem, control),
      "1 of 3 starts failed.*start 2 \\(uniform\\): no such", class = "multicause_task_failed"
    )
    expect_identical(is.na(done$starts$objective), c(FALSE, TRUE, FALSE))
    expect_identical(done$starts$finished, c(TRUE, FALSE, TRUE))
    expect_identical(done$best$outcome$status, "converged")
  }
  bind_in_namespace("mixture_prototypes", function(...) stop("no start"))
  expect_error(run_starts(problem, control), "no start")
})

test_that("a fold that fails is named and does not lose the others", {
  x <- table_of_two()
  picky <- function(x, k, control) {
    if (k == 2) stop("not today")
    bernoulli_mixture(x, k, estimate = "ml", control = control)
  }
  expect_warning(
    tried <- cross_validate(x, 1:3, list(picky = picky), folds = 2, control = several()),
    "2 of 6 folds failed.*picky, k = 2, replicate 1, fold 1: not today", class = "multicause_task_failed"
  )
  expect_identical(is.na(tried$results$loss), c(FALSE, TRUE, FALSE))
  expect_warning(
    chosen <- select_k(x, 1:3, picky, "aic", control = several()), "1 of 3 fits failed",
    class = "multicause_task_failed"
  )
  expect_identical(names(chosen$fits), c("1", "3"))
  expect_true(chosen$k %in% c(1L, 3L))
  never <- function(x, k, control) stop("never")
  expect_error(cross_validate(x, 1, list(a = never), folds = 2, control = several()), "\"a\" fails: never$")
})

test_that("futures name failures, too", {
  skip_if_not_installed("future")
  skip_if_not_installed_here()
  x <- table_of_two()
  picky <- function(x, k, control) {
    if (k == 2) stop("not today")
    multicause::bernoulli_mixture(x, k, control = control)
  }
  environment(picky) <- globalenv()
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  expect_warning(
    tried <- cross_validate(x, 1:3, list(picky = picky), folds = 2, control = several()), "picky, k = 2",
    class = "multicause_task_failed"
  )
  expect_identical(is.na(tried$results$loss), c(FALSE, TRUE, FALSE))
})

interrupt_now <- function() signal_interrupt()

suppress_not_converged <- function(expr) suppressWarnings(expr, classes = "multicause_not_converged")

test_that("an interrupt keeps finished starts when asked, and stops otherwise", {
  x <- table_of_two()
  calls <- 0L
  checked <- checked_run
  control <- several(on_interrupt = "keep")
  starts <- function(last, control) {
    calls <<- 0L
    bind_in_namespace("checked_run", function(...) {
      calls <<- calls + 1L
      if (calls > last) interrupt_now()
      checked(...)
    })
    run_starts(problem_of_two(x), control)
  }
  expect_warning(done <- starts(2, control), "2 of 5 starts are kept", class = "multicause_interrupted")
  expect_identical(done$starts$finished, rep(FALSE, 5))
  expect_identical(which.max(done$starts$objective), which(done$starts$objective == done$best$outcome$objective)[1L])
  expect_warning(done <- starts(6, control), class = "multicause_interrupted")
  expect_identical(sum(done$starts$finished), 1L)
  expect_identical(tryCatch(starts(0, control), interrupt = function(e) "stopped"), "stopped")
  expect_identical(tryCatch(starts(2, several()), interrupt = function(e) "stopped"), "stopped")
})

test_that("an interrupt while starts are screened leaves a fit that every verb takes, for every model", {
  x <- table_of_two()
  checked <- checked_run
  calls <- 0L
  bind_in_namespace("checked_run", function(...) {
    calls <<- calls + 1L
    if (calls > 2L) interrupt_now()
    checked(...)
  })
  control <- several(on_interrupt = "keep", keep_starts = TRUE)
  fitters <- list(
    function() aspect_bernoulli(x, 2, control = control),
    function() aspect_bernoulli(x, 2, phantom = "white", effort = rep(1:3, 10), control = control),
    function() aspect_bernoulli(x, 2, estimate = "vb", control = control),
    function() visits_bernoulli(list(x, x), k = 2, estimate = "ml", missed_by = "visit", control = control),
    function() bernoulli_mixture(x, 2, control = control), function() logistic_pca(x, 2, control = control),
    function() nmf(x, 2, control = control), function() plsa(x, 2, control = control),
    function() plca(x, 2, control = control), function() noisy_or(x, 2, control = control)
  )
  for (fitter in fitters) {
    calls <- 0L
    expect_warning(
      fit <- suppress_not_converged(fitter()), "2 of 5 starts are kept", class = "multicause_interrupted"
    )
    expect_identical(fit$starts$finished, rep(FALSE, 5))
    expect_identical(sum(fit$starts$reached_best), 0L)
    # noisy_or() post-processes its best start.
    expect_gte(unname(fit$objective), max(fit$starts$objective, na.rm = TRUE))
    expect_length(fit$start_params, 2L)
    expect_match(print_words(fit), "best of 5 starts, 0 finished", fixed = TRUE)
    expect_output(print(summary(fit)))
    if (!inherits(fit, c("plca", "noisy_or"))) expect_identical(modes(fit)$starts$start, 1:2)
  }
})

test_that("an interrupt keeps finished folds, fits and criteria when asked", {
  x <- table_of_two()
  calls <- 0L
  model_until <- function(last) {
    calls <<- 0L
    function(x, k, control) {
      calls <<- calls + 1L
      if (calls > last) interrupt_now()
      bernoulli_mixture(x, k, estimate = "ml", control = control)
    }
  }
  keep <- several(on_interrupt = "keep")
  interrupted <- function(expr) expect_warning(expr, class = "multicause_interrupted")
  interrupted(tried <- cross_validate(x, 1:3, list(a = model_until(5)), folds = 2, control = keep))
  expect_identical(nrow(tried$folds), 5L)
  expect_false(anyNA(tried$results$loss))
  expect_output(print(tried), "2-fold")
  interrupted(tried <- cross_validate(x, 1:3, list(a = model_until(3)), folds = 2, control = keep))
  expect_identical(is.na(tried$results$loss), c(FALSE, FALSE, TRUE))
  interrupted(chosen <- select_k(x, 1:3, model_until(2), c("aic", "cells"), folds = 2, control = keep))
  expect_identical(chosen$best$criterion, "aic")
  expect_identical(is.na(chosen$table$value), c(FALSE, FALSE, TRUE))
  expect_output(print(chosen), "AIC")
  interrupted(chosen <- select_k(x, 1:2, model_until(4), c("aic", "cells"), folds = 2, control = keep))
  expect_identical(chosen$best$criterion, c("aic", "cells"))
  two <- list(a = bernoulli_mixture, b = model_until(3))
  interrupted(compared <- compare_models(x, 1, two, folds = 2, control = keep))
  expect_identical(compared$table$model, c("a", "b"))
  expect_true(all(is.na(compared$table$seconds)))
  expect_output(print(compared), "2 models")
  stops <- function() cross_validate(x, 1:3, list(a = model_until(3)), folds = 2, control = several())
  expect_identical(tryCatch(stops(), interrupt = function(e) "stopped"), "stopped")
})

test_that("a real Ctrl-C in the middle of a fit keeps what is finished", {
  skip_on_os("windows")
  set.seed(1)
  x <- matrix(stats::rbinom(2e5, 1, 0.1), 1000)
  keep <- fit_control(
    n_start = 1000, max_iter = 40, tol = 0, screen = FALSE, n_polish = 0, progress = FALSE, on_interrupt = "keep"
  )
  fit <- interrupt_run(after = 1.5, function() {
    expect_warning(
      fit <- aspect_bernoulli(x, 4, control = keep), "of 1000 starts are kept", class = "multicause_interrupted"
    )
    fit
  })
  expect_gt(sum(fit$starts$finished), 0L)
  expect_lt(sum(fit$starts$finished), 1000L)
  expect_identical(unname(fit$objective), max(fit$starts$objective, na.rm = TRUE))
})

test_that("progressr hears of every task", {
  skip_if_not_installed("progressr")
  old <- options(progressr.enable = TRUE)
  on.exit(options(old))
  loadNamespace("progressr")
  x <- table_of_two()
  heard <- 0L
  withCallingHandlers(
    cross_validate(x, 1:2, bernoulli_mixture, folds = 3, control = several()),
    progression = function(p) {
      if (p$type == "update") heard <<- heard + 1L
    }
  )
  expect_gte(heard, 6L)
})

test_that("a kernel reports its passes to the bar", {
  set.seed(1)
  x <- matrix(stats::rbinom(4e5, 1, 0.1), 2000)
  seen <- integer()
  control <- fit_control(n_start = 1, max_iter = 40, tol = 0, progress = FALSE)
  control$on_tick <- function(iteration, objective) seen <<- c(seen, iteration)
  start <- ab_draw(check_data(x, "binary"), "uniform", rep("free", 5))
  ab_run(data_view(x), start, rep("free", 5), NULL, control)
  expect_gt(length(seen), 1L)
  expect_false(is.unsorted(seen))
})

test_that("the bar counts starts", {
  old <- options(cli.progress_show_after = 0, cli.progress_handlers_only = "logger")
  on.exit(options(old))
  said <- utils::capture.output(
    bernoulli_mixture(table_of_two(), 2, control = fit_control(n_start = 3, n_polish = 0, progress = TRUE))
  )
  expect_match(said, "created", all = FALSE)
  expect_match(said, "updated", all = FALSE)
  expect_match(said, "terminated", all = FALSE)
})

test_that("an interrupt keeps what workers have finished", {
  skip_on_os("windows")
  skip_if_not_installed("future")
  skip_if_not_installed_here()
  slow <- function(x, k, control) {
    Sys.sleep(0.3)
    multicause::bernoulli_mixture(x, k, control = control)
  }
  environment(slow) <- globalenv()
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  x <- table_of_two()
  # Workers are started before the clock.
  future::value(lapply(1:2, function(i) future::future(loadNamespace("multicause"), seed = NULL)))
  tried <- interrupt_run(after = 3, function() {
    expect_warning(
      tried <- cross_validate(x, 1:10, list(slow = slow), folds = 5, control = several(on_interrupt = "keep")),
      "of 50 folds are kept", class = "multicause_interrupted"
    )
    tried
  })
  expect_gt(nrow(tried$folds), 0L)
  expect_lt(nrow(tried$folds), 50L)
  expect_output(print(tried), "Stopped early: [0-9]+ of 50 folds are done")
})

test_that("numbers of tasks, tables and draws that would fill the memory are refused before it is taken", {
  most <- .Machine$integer.max
  x <- table_of_two()
  refused <- function(expr, words) expect_error(expr, words, class = "multicause_input_error")
  refused(fit_control(n_start = most), "`n_start` must be one whole number from 1 to 1000000")
  refused(fit_control(n_polish = most), "`n_polish` must be one whole number from 0 to 1000000")
  refused(ensemble(x, 2, members = most), "`members` must be one whole number from 1 to 1000000")
  refused(cross_validate(x, 2, nmf, replicates = most), "`replicates` must be one whole number from 1 to 1000000")
  wide <- matrix(1:2 %% 2, 300, 10)
  refused(cross_validate(wide, 2, nmf, replicates = 1e6), "would take .* GB, and 1 GB is the limit: use fewer")
  fit <- aspect_bernoulli(x, 2, estimate = "vb", control = several())
  refused(posterior_draws(fit, most), "1 GB is the limit")
  plain <- aspect_bernoulli(x, 2, phantom = "white", control = several())
  refused(identifiability(plain, nsim = most), "1 GB is the limit")
  fits <- list(
    plain, bernoulli_mixture(x, 2, control = several()), logistic_pca(x, 1, control = several()),
    nmf(x, 2, loss = "kl", control = several()), plsa(x, 2, control = several()), plca(x, 2, control = several()),
    noisy_or(x, 1, control = several()), visits_bernoulli(list(x, x), k = 2, control = several())
  )
  for (fit in fits) refused(simulate(fit, most), "1 GB is the limit: draw fewer")
})

test_that("where a worker of the plan ends or hangs, what is left is done here, once, and told", {
  skip_on_os("windows") # no process is stopped there
  skip_if_not_installed("future")
  skip_if_not_installed_here()
  bind_in_namespace("silent_seconds", 1)
  # Returns the number squared; on a worker, task 5 first gets a signal.
  f <- function(task, common, tick) {
    cat(task, "\n", file = common$log, append = TRUE)
    if (task == 5 && Sys.getpid() != common$main) {
      cat(Sys.getpid(), file = common$pid)
      tools::pskill(Sys.getpid(), common$signal)
      Sys.sleep(0.1)
    }
    task^2
  }
  environment(f) <- baseenv()
  for (keep in c("stop", "keep")) for (signal in c(tools::SIGKILL, tools::SIGSTOP)) {
    old <- future::plan(future::multisession, workers = 2)
    common <- list(main = Sys.getpid(), signal = signal, log = tempfile(), pid = tempfile())
    running <- task_running(fit_control(on_interrupt = keep, progress = FALSE))
    told <- character()
    got <- withCallingHandlers(
      map_tasks(as.list(1:6), f, common, "Squares", running = running),
      multicause_worker_lost = function(w) {
        told <<- c(told, conditionMessage(w))
        invokeRestart("muffleWarning")
      }
    )
    tools::pskill(as.integer(readLines(common$pid, warn = FALSE)), tools::SIGKILL)
    future::plan(old)
    expect_identical(got, as.list((1:6)^2))
    expect_match(told, if (signal == tools::SIGKILL) "1 worker ended: 2 tasks" else "1 worker did not answer: 2 tasks")
    expect_length(told, 1L)
    expect_identical(sort(as.integer(readLines(common$log))), c(1:5, 5:6)) # finished tasks are not repeated
  }
})

test_that("workers of shards are refused for other jobs", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10)
  control <- fit_control()
  control$cluster <- "profile"
  expect_error(aspect_bernoulli(x, 2, control = control),
    "`cluster` of fit_control() is for shards(): set a future::plan() to run other jobs on workers.", fixed = TRUE,
    class = "multicause_input_error")
})

test_that("an objective that is no number is an error to report", {
  expect_error(check_outcome(list(status = "not_finite")),
    "the objective became non-finite: please report this with the data at hand", fixed = TRUE)
})
