# An interrupt reaches the kernel between blocks of rows; nothing of the session is left changed.

test_that("an interrupt in the middle of a pass comes back at once and changes nothing", {
  skip_on_os("windows")
  skip_on_cran()
  set.seed(1)
  x <- matrix(stats::rbinom(2e7, 1, 0.02), 20000)
  kind <- RNGkind()
  settings <- options()
  threads <- test_entry("test_blas_threads", 2L)
  on.exit(test_entry("test_blas_threads", threads))
  set.seed(2)
  before <- .Random.seed
  # A busy machine may hold the process back: the best of a few attempts counts, and the process's own seconds.
  took <- Inf
  for (attempt in 1:5) {
    note <- tempfile()
    send_interrupt(2, note)
    result <- tryCatch(
      aspect_bernoulli(x, 8, control = fit_control(n_start = 10, n_threads = 2, max_pass = 60, screen = FALSE)),
      interrupt = function(condition) "interrupted"
    )
    took <- min(took, seconds_since(note))
    expect_identical(result, "interrupted")
    if (took < 0.5) break
  }
  expect_lt(took, 0.5)
  expect_identical(RNGkind(), kind)
  expect_identical(options(), settings)
  if (threads > 0L) expect_identical(test_entry("test_blas_threads", 2L), 2L)
  set.seed(2)
  expect_identical(.Random.seed, before)
})

# Kernels that have no outcome to tell of a stop, or whose caller does not look: run long, interrupted after a second.
expect_interrupted <- function(code) {
  ended <- FALSE
  send_interrupt(1, tempfile())
  caught <- tryCatch({
    force(code)
    ended <- TRUE
    Sys.sleep(60)
    FALSE
  }, interrupt = function(e) TRUE)
  expect_true(caught)
  expect_false(ended)
}

test_that("an interrupt is not lost in what leads to a fit or follows it", {
  skip_on_os("windows")
  skip_on_cran()
  set.seed(1)
  x <- matrix(stats::rbinom(4e5, 1, 0.1), 20000)
  data <- check_data(x, "binary")
  start <- mixture_start(data, 3, 1L)
  expect_interrupted(mixture_start(data, 3, 1e6L))
  expect_interrupted(repeat ab_loglik(data$view, start, rep("free", 3)))
  expect_interrupted(repeat ab_certify(data$view, start, rep("free", 3), NULL))
  fit <- suppressWarnings(aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_pass = 2)))
  expect_interrupted(test_loglik(fit, x))
  long <- fit_control(n_start = 1, max_pass = 1e6, tol = 0, progress = FALSE)
  expect_interrupted(plsa(x + 1, 3, control = long))
  expect_interrupted(nmf(x + 0, 3, loss = "kl", control = long))
})

test_that("an interrupt ends a long count of pairs, which takes ten seconds of the processor", {
  skip_on_os("windows")
  skip_on_cran()
  view <- check_data(matrix(1, 2000, 2000), "binary")$view
  before <- proc.time()[["user.self"]]
  expect_interrupted(.Call(mc_c_view_pairs, view))
  expect_lt(proc.time()[["user.self"]] - before, 4)
})

# The error of R's own when a time limit is reached; it has no class.
time_limit <- function() simpleError(gettext("reached elapsed time limit", domain = "R"))

# What becomes of `job` when its time is up after `seconds`. Without the compiler, which swallows the error where it
# strikes while a function is compiled.
limited <- function(job, seconds = 0.5) {
  jit <- compiler::enableJIT(0)
  on.exit(compiler::enableJIT(jit))
  setTimeLimit(elapsed = seconds, transient = TRUE)
  on.exit(setTimeLimit(), add = TRUE)
  tryCatch(job(), error = conditionMessage, interrupt = function(e) "interrupted")
}

# The value of `expr`, which must not write anything, not even to where R's own errors go.
expect_silent_output <- function(expr) {
  expect_identical(utils::capture.output(said <- utils::capture.output(value <- expr, type = "message")), character())
  expect_identical(said, character())
  value
}

test_that("a time limit ends a job as the user's error, wherever it strikes", {
  skip_on_cran()
  set.seed(1)
  x <- matrix(stats::rbinom(4e5, 1, 0.1), 2000)
  long <- function(...) fit_control(n_start = 100, max_pass = 1000, tol = 0, progress = FALSE, ...)
  chains <- mcmc_control(chains = 2, draws = 1e5, progress = FALSE)
  slow <- function(x, k, control) repeat bernoulli_mixture(x[1:50, ], k, control = control)
  jobs <- list(
    function() aspect_bernoulli(x, 4, control = long()),
    function() aspect_bernoulli(x, 4, control = long(screen = FALSE, on_interrupt = "keep")),
    function() noisy_or(x, 4, control = long()),
    function() aspect_bernoulli(x, 4, estimate = "gibbs", control = chains),
    function() plsa(x, 4, estimate = "gibbs", prior = list(membership = 0.1, basis = 0.1), control = chains),
    function() plsa(x, 4, estimate = "gibbs", control = mcmc_control(warmup = 1e5, progress = FALSE)),
    function() suppressMessages(bmf(x[1:200, ], family = "bernoulli", control = chains)), # it tells what it does
    function() cross_validate(x, 2, slow, control = fit_control(on_interrupt = "keep"))
  )
  for (job in jobs) {
    said <- expect_silent_output(limited(job))
    expect_identical(said, conditionMessage(time_limit()))
  }
})

test_that("a time limit is no failed task, no damaged file and no other error", {
  limit <- time_limit()
  is_limit <- function(expr) expect_identical(tryCatch(expr, error = identity), limit)
  is_limit(catch_error(stop(limit), function(e) "caught"))
  expect_identical(catch_error(stop("another"), conditionMessage), "another")
  for (keep in c(TRUE, FALSE)) {
    control <- list(on_interrupt = if (keep) "keep" else "stop")
    fails <- function(task, common, tick) if (task == 2) stop(limit)
    is_limit(map_tasks(1:3, fails, NULL, "Tasks", running = task_running(control)))
  }
  file <- tempfile()
  write_whole(1, file)
  bind_in_namespace("read_sum", function(...) stop(limit))
  is_limit(read_whole(file))
  is_limit(write_whole(2, file))
  is_limit(store_task(temporary_store(), 1L, 2))
  data <- data.frame(site = c("a", "b"), taxon = c("x", "y"), age = 1:2)
  is_limit(occurrence_matrix(data, "site", "taxon", summarise = list(age = function(x) stop(limit))))
})

test_that("errors are caught in one place, which lets time limits pass", {
  catches <- function(f) {
    found <- FALSE
    visit <- function(e) {
      if (is.call(e)) {
        error <- identical(e[[1L]], quote(tryCatch)) && any(c("error", "condition") %in% names(e))
        if (error || identical(e[[1L]], quote(try))) found <<- TRUE
      }
      if (is.call(e) || is.pairlist(e)) for (part in as.list(e)) if (!missing(part)) visit(part)
    }
    visit(body(f))
    found
  }
  space <- environment(run_in_turn)
  functions <- Filter(is.function, mget(ls(space, all.names = TRUE), space))
  expect_identical(names(Filter(catches, functions)), "catch_error")
})

test_that("a time limit ends a job of several processes", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if_not_installed_here()
  slow <- function(x, k, control) {
    Sys.sleep(0.1)
    multicause::bernoulli_mixture(x, k, control = control)
  }
  # The limit of a worker's own.
  out_of_time <- function(x, k, control) stop(simpleError(gettext("reached elapsed time limit", domain = "R")))
  environment(slow) <- environment(out_of_time) <- globalenv()
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  future::value(lapply(1:2, function(i) future::future(loadNamespace("multicause"), seed = NULL)))
  x <- matrix(stats::rbinom(200, 1, 0.5), 20)
  for (keep in c("stop", "keep")) {
    control <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, on_interrupt = keep)
    run <- function(model, k) cross_validate(x, k, list(a = model), folds = 5, control = control)
    expect_identical(tryCatch(run(out_of_time, 1), error = conditionMessage), conditionMessage(time_limit()))
    expect_identical(limited(function() run(slow, 1:20), 2), conditionMessage(time_limit()))
  }
})
