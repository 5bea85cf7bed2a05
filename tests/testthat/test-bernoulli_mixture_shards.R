# The Bernoulli mixture of shards against that of the table.

mixture_start <- function(x, k) list(weights = rep(1 / k, k), prototypes = start_of_shards(x, k)$aspects)

test_that("a fit of the mixture to shards is that of the table in memory from the same start", {
  for (missing in c(0, 60)) {
    x <- planted_table(missing = missing)
    x[5, ] <- NA
    x[1:239, 7] <- NA # next to nothing is left of this column, of some shards nothing
    shard <- suppressMessages(shards(x, tempfile(), size = 80))
    for (estimate in c("map", "ml")) {
      for (accelerate in c(TRUE, FALSE)) {
        fit <- function(x) {
          control <- fit_control(accelerate = accelerate, max_pass = 30, tol = 0)
          prior <- list(prototypes = c(1.3, 2), weights = 1.5)
          bernoulli_mixture(x, 4, estimate = estimate, prior = prior, start = mixture_start(x, 4), control = control)
        }
        here <- suppressMessages(fit(x))
        there <- fit(shard)
        hold_to_memory(there, here)
        expect_equal(there$param[c("weights", "prototypes")], here$param[c("weights", "prototypes")], tolerance = 1e-6)
        expect_equal(predict(there, type = "membership"), here$param$membership, tolerance = 1e-6)
      }
    }
  }
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  start <- mixture_start(x, 3)
  control <- fit_control(max_pass = 30, tol = 0)
  here <- bernoulli_mixture(x, 3, start = start, estimate = "ml", control = control)
  there <- bernoulli_mixture(shards(x, tempfile(), size = 80), 3, start = start, estimate = "ml", control = control)
  hold_verbs(there, here, "membership")
  expect_equal(logLik(there), logLik(here), tolerance = 1e-10)
  expect_equal(predict(there, x[1:12, ]), predict(here, x[1:12, ]), tolerance = 1e-6)
  expect_length(list.files(there$folder, "membership"), 0L)
})

test_that("without a start the fit goes on from the best of a sample", {
  x <- planted_table()
  fit <- function(x) {
    set.seed(1)
    bernoulli_mixture(x, 3, control = fit_control(n_start = 4))
  }
  there <- fit(shards(x, tempfile(), size = 80))
  here <- fit(x)
  expect_true(there$converged)
  expect_false(is.unsorted(-there$param$weights))
  expect_gt(there$objective, here$objective - 0.01 * abs(here$objective))
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    bernoulli_mixture(shard, 2, smooth = smooth_over(age = 1:240))
    bernoulli_mixture(shard, 2, prior = "cv")
    bernoulli_mixture(shard, 2, start = list(weights = 1, prototypes = matrix(0.5, 2, 40)))
    bernoulli_mixture(shard, 2, control = fit_control(algorithm = "sparse"))
  })
})

test_that("streaming and workers give the same bits, and a fit goes on from its checkpoint", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  hold_workers(x, function(shard, control) {
    bernoulli_mixture(shard, 4, start = mixture_start(x, 4), control = control)
  })
})
