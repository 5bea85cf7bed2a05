# Checkpoints of select_k(), cross_validate() and compare_models(): whole files, one call each, the same answer.

two_blocks <- function() {
  set.seed(1)
  outer(1:24, 1:8, function(i, j) (i <= 12) == (j <= 4)) * matrix(stats::rbinom(192, 1, 0.7), 24)
}

quick_fit <- function(...) fit_control(n_start = 2, n_polish = 0, progress = FALSE, ...)

new_checkpoint <- function() file.path(tempfile("checkpoints"), "job")

make_folder <- function(file) {
  dir.create(dirname(file))
  file
}

parts_of <- function(file) Sys.glob(paste0(file, "-*.rds"))

test_that("with a checkpoint the answer is that without, and a finished job is only read", {
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function(checkpoint = NULL, ...) {
    select_k(x, 1:3, bernoulli_mixture, c("aic", "cells", "rows"), folds = 2, control = quick_fit(...),
      checkpoint = checkpoint)
  }
  set.seed(2)
  alone <- run()
  set.seed(2)
  first <- run(file)
  set.seed(99)
  kind <- RNGkind()
  before <- .Random.seed
  again <- run(file, n_threads = 2, on_interrupt = "keep")
  expect_identical(.Random.seed, before)
  expect_identical(RNGkind(), kind)
  expect_identical(first$table, alone$table)
  expect_identical(again$table, alone$table)
  expect_identical(again$fits[["2"]]$param, alone$fits[["2"]]$param)
  expect_length(parts_of(file), 3L + 6L + 6L)
  stamps <- file.mtime(parts_of(file))
  run(file)
  expect_identical(file.mtime(parts_of(file)), stamps)
})

test_that("a job that stopped half-way goes on, whatever the session's random numbers are", {
  x <- two_blocks()
  calls <- 0L
  stop_after <- Inf
  counted <- function(x, k, control) {
    counter() # does not belong to the call's text
    bernoulli_mixture(x, k, control = control)
  }
  counter <- function() {
    calls <<- calls + 1L
    if (calls > stop_after) signal_interrupt()
  }
  jobs <- list(
    function(checkpoint) {
      cross_validate(x, list(a = counted), 1:3, folds = 2, control = quick_fit(), checkpoint = checkpoint)
    },
    function(checkpoint) {
      compare_models(x, list(a = counted, b = bernoulli_mixture), 1:2, folds = 2, control = quick_fit(),
        checkpoint = checkpoint)
    }
  )
  for (job in jobs) {
    calls <- 0L
    stop_after <- Inf
    set.seed(3)
    alone <- job(NULL)
    total <- calls
    file <- make_folder(new_checkpoint())
    calls <- 0L
    stop_after <- 3L
    set.seed(3)
    expect_identical(tryCatch(job(file), interrupt = function(e) "stopped"), "stopped")
    set.seed(4)
    calls <- 0L
    stop_after <- Inf
    resumed <- job(file)
    expect_identical(calls, total - 3L)
    timing <- c("seconds", "megabytes")
    drop <- function(result) if (is.null(result$table)) result else result$table[setdiff(names(result$table), timing)]
    expect_identical(drop(resumed), drop(alone))
  }
})

test_that("a job that is killed goes on and ends with the same answer", {
  skip_on_os("windows")
  skip_on_cran()
  skip_if_not_installed_here()
  file <- make_folder(new_checkpoint())
  script <- c(
    "suppressMessages(library(multicause))",
    "set.seed(1)",
    "x <- outer(1:24, 1:8, function(i, j) (i <= 12) == (j <= 4)) * matrix(rbinom(192, 1, 0.7), 24)",
    "slow <- function(x, k, control) {",
    "  Sys.sleep(0.1)",
    "  bernoulli_mixture(x, k, control = control)",
    "}",
    "few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)",
    "one <- select_k(x, 1:3, slow, c(\"aic\", \"cells\"), folds = 3, control = few, checkpoint = checkpoint)",
    "cat(\"answer\", sprintf(\"%.15g\", one$table$value), \"\\n\")"
  )
  code <- function(checkpoint) c(sprintf("checkpoint <- %s", deparse(checkpoint)), script)
  answer <- function(output) grep("^answer", output, value = TRUE)
  alone <- answer(run_child(code(NULL)))
  expect_length(alone, 1L)
  # Killed after about a third, then after two thirds, then left alone.
  for (wanted in c(4L, 8L)) {
    child <- start_child(code(file))
    patience <- Sys.time() + 30
    while (length(parts_of(file)) < wanted && Sys.time() < patience) Sys.sleep(0.02)
    tools::pskill(child, tools::SIGKILL)
    Sys.sleep(0.2)
    expect_gte(length(parts_of(file)), wanted)
    expect_lt(length(parts_of(file)), 12L)
    expect_false(any(vapply(parts_of(file), function(part) is.null(read_whole(part)), NA)))
  }
  expect_identical(answer(run_child(code(file))), alone)
})

test_that("a checkpoint of another call is refused", {
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function(x, k = 1:2, model = bernoulli_mixture, ...) {
    cross_validate(x, model, k, folds = 2, control = quick_fit(), checkpoint = file, ...)
  }
  run(x)
  refused <- function(expr) expect_error(expr, "not of this call", class = "multicause_input_error")
  refused(run(1 - x))
  refused(run(x, 1:3))
  refused(run(x, model = logistic_pca))
  refused(run(x, scheme = "rows"))
  refused(run(x, floor = 1e-3))
  refused(select_k(x, 1:2, bernoulli_mixture, "cells", folds = 2, control = quick_fit(), checkpoint = file))
  writeLines("no checkpoint", file)
  refused(run(x))
})

test_that("wrong names of checkpoints are told, and wrong calls leave none", {
  x <- two_blocks()
  run <- function(file, ...) cross_validate(x, bernoulli_mixture, 1, control = quick_fit(), checkpoint = file, ...)
  expect_error(run(1), "`checkpoint` must be a file name", class = "multicause_input_error")
  expect_error(run(file.path(tempfile(), "a")), "folder of `checkpoint`", class = "multicause_input_error")
  file <- make_folder(new_checkpoint())
  expect_error(run(file, folds = 1e6), "folds", class = "multicause_input_error")
  expect_false(file.exists(file))
  dir.create(paste0(file, ".part")) # stands in the way
  expect_error(run(file, folds = 2), "could not be written")
})

test_that("a failed write leaves the old file", {
  file <- make_folder(new_checkpoint())
  write_whole(1, file)
  dir.create(paste0(file, ".part"))
  expect_error(write_whole(2, file), "could not be written")
  expect_identical(read_whole(file), 1)
})

test_that("equal values have one fingerprint", {
  f <- function(x) x + 1
  before <- fingerprint_of(list(f, 1:3))
  for (i in 1:5) f(i) # compiled by now
  expect_identical(fingerprint_of(list(f, c(1L, 2L, 3L))), before)
  expect_false(identical(fingerprint_of(list(function(x) x + 2, 1:3)), before))
})

test_that("a checkpoint under a future plan is that of one process", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  skip_if_not_installed_here()
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function(checkpoint) {
    cross_validate(x, bernoulli_mixture, 1:2, folds = 3, control = quick_fit(), checkpoint = checkpoint)
  }
  set.seed(5)
  alone <- run(NULL)
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  set.seed(5)
  expect_identical(run(file), alone)
  unlink(parts_of(file)[c(1, 4)])
  expect_identical(run(file), alone)
})
