# Checkpoints of select_k(), cross_validate(), compare_models() and which_zeros(): complete files, one call each, the
# same result.

skip_on_cran()

two_blocks <- function() {
  set.seed(1)
  outer(1:24, 1:8, function(i, j) (i <= 12) == (j <= 4)) * matrix(stats::rbinom(192, 1, 0.7), 24)
}

# Returns the value of `expr`, which must not raise a condition of this class.
expect_no_condition_of <- function(expr, class) {
  seen <- FALSE
  value <- withCallingHandlers(expr, condition = function(c) if (inherits(c, class)) seen <<- TRUE)
  expect_false(seen)
  value
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
    control <- quick_fit(checkpoint = checkpoint, ...)
    select_k(x, 1:3, bernoulli_mixture, c("aic", "cells", "rows"), folds = 2, control = control)
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
      cross_validate(x, 1:3, list(a = counted), folds = 2, control = quick_fit(checkpoint = checkpoint))
    },
    function(checkpoint) {
      control <- quick_fit(checkpoint = checkpoint)
      compare_models(x, 1:2, list(a = counted, b = bernoulli_mixture), folds = 2, control = control)
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
    "few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, checkpoint = checkpoint)",
    "one <- select_k(x, 1:3, slow, c(\"aic\", \"cells\"), folds = 3, control = few)",
    "cat(\"answer\", sprintf(\"%.15g\", one$table$value), \"\\n\")"
  )
  code <- function(checkpoint) c(sprintf("checkpoint <- %s", deparse(checkpoint)), script)
  answer <- function(output) grep("^answer", output, value = TRUE)
  alone <- answer(run_child(code(NULL)))
  expect_length(alone, 1L)
  # Killed after about a third, then after two thirds, then run to the end.
  for (wanted in c(4L, 8L)) {
    child <- start_child(code(file))
    patience <- Sys.time() + 30
    while (length(parts_of(file)) < wanted && Sys.time() < patience) Sys.sleep(0.02)
    tools::pskill(child, tools::SIGKILL)
    Sys.sleep(0.2)
    expect_gte(length(parts_of(file)), wanted)
    expect_lt(length(parts_of(file)), 12L)
    expect_false(any(vapply(lapply(parts_of(file), read_list, "value"), is.null, NA)))
  }
  expect_identical(answer(run_child(code(file))), alone)
})

test_that("which_zeros() goes on where it stopped", {
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function(checkpoint = NULL, ...) {
    control <- fit_control(checkpoint = checkpoint)
    suppressWarnings(which_zeros(x, age = seq_len(nrow(x)), copies = 2, control = control, ...))
  }
  set.seed(4)
  alone <- run()
  set.seed(4)
  first <- run(checkpoint = file)
  expect_length(parts_of(file), 3L)
  expect_identical(first[c("seed", "probability", "total", "draws")], alone[c("seed", "probability", "total", "draws")])
  unlink(parts_of(file)[2L])
  stamps <- file.mtime(parts_of(file))
  set.seed(99)
  again <- run(checkpoint = file)
  expect_identical(again[c("seed", "probability", "total")], first[c("seed", "probability", "total")])
  expect_length(parts_of(file), 3L)
  expect_identical(file.mtime(parts_of(file))[c(1L, 3L)], stamps)
  expect_error(run(checkpoint = file, seed = 5), "not of this call", class = "multicause_input_error")
})

test_that("a checkpoint of another call is refused", {
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function(x, k = 1:2, model = bernoulli_mixture, ...) {
    cross_validate(x, k, model, folds = 2, control = quick_fit(checkpoint = file), ...)
  }
  run(x)
  refused <- function(expr) expect_error(expr, "not of this call", class = "multicause_input_error")
  refused(run(1 - x))
  refused(run(x, 1:3))
  refused(run(x, model = logistic_pca))
  refused(run(x, criterion = "rows"))
  refused(run(x, floor = 1e-3))
  refused(select_k(x, 1:2, bernoulli_mixture, "cells", folds = 2, control = quick_fit(checkpoint = file)))
  writeLines("no checkpoint", file)
  expect_error(run(x), "damaged, or no checkpoint", class = "multicause_input_error")
})

test_that("wrong names of checkpoints are told, and wrong calls leave none", {
  x <- two_blocks()
  run <- function(file, ...) cross_validate(x, 1, bernoulli_mixture, control = quick_fit(checkpoint = file), ...)
  expect_error(run(1), "`checkpoint` must be a file name", class = "multicause_input_error")
  expect_error(run(file.path(tempfile(), "a")), "folder of `checkpoint`", class = "multicause_input_error")
  file <- make_folder(new_checkpoint())
  expect_error(run(file, folds = 1e6), "folds", class = "multicause_input_error")
  expect_false(file.exists(file))
  dir.create(paste0(file, ".part")) # blocks the folder
  expect_error(run(file, folds = 2), "could not be written")
})

test_that("a failed write leaves the old file", {
  file <- make_folder(new_checkpoint())
  write_whole(1, file)
  dir.create(paste0(file, ".part"))
  expect_error(write_whole(2, file), "could not be written")
  expect_identical(readRDS(file), 1)
})

cut_off <- function(file, size) writeBin(readBin(file, "raw", size), file)

test_that("a file that was cut off, wherever, or is no list with these parts is not read", {
  file <- make_folder(new_checkpoint())
  value <- list(fingerprint = "a", value = c(1.5, 2))
  write_whole(value, file)
  expect_identical(readRDS(file), value)
  expect_identical(read_list(file, "value"), value)
  expect_null(read_list(file, "seed"))
  for (shorter in seq(file.size(file) - 1, 0)) {
    cut_off(file, shorter)
    expect_null(read_list(file, "value"))
  }
})

test_that("a damaged checkpoint is called that; what damaged parts of it held is computed again", {
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function() cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = quick_fit(checkpoint = file))
  set.seed(2)
  first <- run()
  parts <- parts_of(file)
  writeLines("no result", parts[1L])
  cut_off(parts[3L], 50)
  expect_warning(
    again <- run(), "^Damaged or cut off.*: 2 files of the checkpoint, \"job-cells-1.rds\", \"job-cells-3.rds\"",
    class = "multicause_checkpoint_damaged"
  )
  expect_identical(again, first)
  expect_identical(expect_no_condition_of(run(), "multicause_checkpoint_damaged"), first)
  cut_off(file, 40)
  expect_error(run(), "is damaged", class = "multicause_input_error")
  # Without its own file the job starts again, because its parts were computed under another seed.
  unlink(file)
  set.seed(3)
  other <- run()
  set.seed(3)
  expect_identical(other, cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = quick_fit()))
})

test_that("results of any kind are kept", {
  store <- list(file = tempfile(), fingerprint = "a", stage = "task")
  store_task(store, 1L, function(x) x)
  store_task(store, 2L, stats::setNames(1:2, c("a", "b")))
  expect_identical(lapply(stored_tasks(store, 3L), class), list("function", "integer", "NULL"))
})

test_that("a damaged checkpoint of chains is called that, and nothing half written stays", {
  set.seed(1)
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  control <- function(...) {
    mcmc_control(chains = 2, warmup = 20, draws = 20, checkpoint = file, checkpoint_seconds = 0, progress = FALSE, ...)
  }
  jobs <- list(
    function() bmf(x, family = "bernoulli", control = control()),
    function() aspect_bernoulli(x, 2, estimate = "gibbs", control = control())
  )
  for (job in jobs) {
    unlink(parts_of(file))
    set.seed(2)
    suppressWarnings(first <- job())
    parts <- parts_of(file)
    expect_length(parts, 2L)
    writeLines("left by a kill", part_of(parts[2L]))
    set.seed(2)
    suppressWarnings(again <- job())
    expect_identical(again$param, first$param)
    expect_length(Sys.glob(paste0(file, "*.part")), 0L)
    cut_off(parts[2L], file.size(parts[2L]) %/% 2)
    expect_error(job(), "job-2.rds\" is damaged", class = "multicause_input_error")
  }
})

test_that("a write that fails or is interrupted leaves nothing half written, and a killed one goes at the next run", {
  x <- two_blocks()
  # Wildcards in a name are ordinary characters.
  file <- file.path(dirname(make_folder(new_checkpoint())), "job[1]*")
  run <- function() cross_validate(x, 1, bernoulli_mixture, folds = 2, control = quick_fit(checkpoint = file))
  half <- function() list.files(dirname(file), "part$")
  set.seed(1)
  first <- run()
  task <- file.path(dirname(file), "job[1]*-cells-2.rds")
  expect_true(file.exists(task))
  for (left in part_of(c(file, task))) writeLines("half", left)
  expect_identical(run(), first)
  expect_identical(half(), character())
  stop_in <- function(condition) {
    bind_in_namespace("write_rds", function(object, file) {
      writeLines("half", file)
      stop(condition)
    })
    write_whole(1, file)
  }
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
  expect_identical(tryCatch(stop_in(interrupt), interrupt = function(e) "stopped"), "stopped")
  expect_identical(half(), character())
  expect_error(stop_in(simpleError("no space")), "could not be written to .*: no space")
  expect_identical(half(), character())
  expect_identical(run(), first)
})

test_that("a full disk is told, and leaves the old file", {
  skip_on_os("windows")
  skip_if_not_installed_here()
  file <- make_folder(new_checkpoint())
  # A limit on the size of files simulates a full disk. A file may end within a buffer's length or long before its end.
  code <- c(
    sprintf("file <- %s", deparse(file)), "write <- multicause:::write_whole", "probe <- tempfile()",
    "suppressWarnings(try(writeLines(strrep(0, 1e5), probe), silent = TRUE))",
    "write(rep(0.5, 10), file)", "most <- (file.size(probe) - file.size(file)) %/% 8 + 10", "write(\"old\", file)",
    "for (n in c(most + c(1, 5, 10, 100), 1e5))",
    "  cat(tryCatch(write(rep(0.5, n), file), error = conditionMessage), \"\\n\")",
    "write(rep(0.5, most), paste0(file, 2))"
  )
  script <- tempfile(fileext = ".R")
  writeLines(code, script)
  said <- with_environment(child_environment(), system2(
    "sh", c("-c", shQuote(sprintf(
      "trap '' XFSZ; ulimit -f 2; %s --no-init-file %s", shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script)
    ))), stdout = TRUE, stderr = FALSE
  ))
  expect_length(grep("could not be written", said), 5L)
  expect_identical(list.files(dirname(file)), c("job", "job2"))
  expect_identical(readRDS(file), "old")
})

test_that("equal values have one fingerprint", {
  f <- function(x) x + 1
  before <- fingerprint_of(list(f, 1:3))
  for (i in 1:5) f(i) # so that it is compiled by now
  expect_identical(fingerprint_of(list(f, c(1L, 2L, 3L))), before)
  expect_false(identical(fingerprint_of(list(function(x) x + 2, 1:3)), before))
})

test_that("a checkpoint under a future plan is that of one process", {
  skip_if_not_installed("future")
  skip_if_not_installed_here()
  x <- two_blocks()
  file <- make_folder(new_checkpoint())
  run <- function(checkpoint) {
    cross_validate(x, 1:2, bernoulli_mixture, folds = 3, control = quick_fit(checkpoint = checkpoint))
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

test_that("a file that is shorter than what was written is no checkpoint", {
  bind_in_namespace("write_to", function(...) 9)
  file <- tempfile()
  expect_error(write_whole(1, file), paste0("results could not be written to ", file, ": not all of it could be"),
    fixed = TRUE)
})
