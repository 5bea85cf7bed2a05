# An interrupt reaches the kernel between blocks of rows and leaves the session unchanged.

skip_on_cran()

test_that("an interrupt in the middle of an iteration comes back at once and changes nothing", {
  skip_on_os("windows")
  set.seed(1)
  x <- matrix(stats::rbinom(2e7, 1, 0.02), 20000)
  kind <- RNGkind()
  settings <- options()
  threads <- test_entry("test_blas_threads", 2L)
  on.exit(test_entry("test_blas_threads", threads))
  set.seed(2)
  before <- .Random.seed
  # A busy machine may delay the process: the best of a few attempts counts, in CPU time of the process.
  took <- Inf
  for (attempt in 1:5) {
    note <- tempfile()
    send_interrupt(2, note)
    result <- tryCatch(
      aspect_bernoulli(x, 8, control = fit_control(n_start = 10, n_threads = 2, max_iter = 60, screen = FALSE)),
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

# Kernels whose outcome does not report a stop, or whose caller ignores it: long runs, interrupted after a second.
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
  set.seed(1)
  x <- matrix(stats::rbinom(4e5, 1, 0.1), 20000)
  data <- check_data(x, "binary")
  start <- mixture_start(data, 3, 1L)
  expect_interrupted(mixture_start(data, 3, 1e6L))
  expect_interrupted(repeat ab_loglik(data$view, start, rep("free", 3)))
  expect_interrupted(repeat ab_certify(data$view, start, rep("free", 3), NULL))
  fit <- suppressWarnings(aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 2)))
  expect_interrupted(test_loglik(fit, x))
  long <- fit_control(n_start = 1, max_iter = 1e6, tol = 0, progress = FALSE)
  expect_interrupted(plsa(x + 1, 3, control = long))
  expect_interrupted(nmf(x + 0, 3, loss = "kl", control = long))
})

test_that("an interrupt ends a long count of pairs, which takes ten seconds of the processor", {
  skip_on_os("windows")
  view <- check_data(matrix(1, 2000, 2000), "binary")$view
  before <- proc.time()[["user.self"]]
  expect_interrupted(.Call(mc_c_view_pairs, view))
  expect_lt(proc.time()[["user.self"]] - before, 4)
})
