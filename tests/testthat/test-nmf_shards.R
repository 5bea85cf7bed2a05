# Non-negative matrix factorisation of shards against that of the table.

nmf_start <- function(x, k) {
  start <- start_of_shards(x, k)
  list(coefficients = 2 * start$membership, basis = start$aspects)
}

test_that("a fit of NMF to shards is that of the table in memory from the same start", {
  for (missing in c(0, 60)) {
    x <- planted_table(missing = missing)
    x[2:240, 7] <- NA
    shard <- shards(x, tempfile(), size = 80)
    for (accelerate in c(TRUE, FALSE)) {
      control <- fit_control(algorithm = "em", accelerate = accelerate, max_pass = 40, tol = 0)
      here <- nmf(x, 4, loss = "kl", start = nmf_start(x, 4), control = control)
      there <- nmf(shard, 4, loss = "kl", start = nmf_start(x, 4), control = control)
      hold_to_memory(there, here)
      expect_equal(there$param$basis, here$param$basis, tolerance = 1e-6)
      expect_equal(predict(there, type = "coefficients"), here$param$coefficients, tolerance = 1e-6)
      expect_equal(fitted(there), fitted(here), tolerance = 1e-6)
    }
  }
})

test_that("multiplicative passes may be accelerated in memory, too", {
  x <- planted_table(missing = 0)
  fit <- function(...) {
    nmf(x, 3, loss = "kl", start = nmf_start(x, 3), control = fit_control(max_pass = 60, tol = 0, ...))
  }
  em <- fit(algorithm = "em")
  plain <- fit(accelerate = FALSE)
  expect_equal(em$trace$objective[1], plain$trace$objective[1], tolerance = 1e-12)
  expect_gt(em$objective, plain$objective)
  expect_false(is.unsorted(em$trace$objective))
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  start <- nmf_start(x, 3)
  control <- fit_control(algorithm = "em", max_pass = 30, tol = 0)
  here <- nmf(x, 3, loss = "kl", start = start, control = control)
  there <- nmf(shards(x, tempfile(), size = 80), 3, loss = "kl", start = start, control = control)
  hold_verbs(there, here, "coefficients")
  expect_equal(logLik(there), logLik(here), tolerance = 1e-10)
  expect_equal(predict(there, x[1:12, ]), predict(here, x[1:12, ]), tolerance = 1e-4)
})

test_that("without a start the fit goes on from the best of a sample, in the unique form", {
  x <- planted_table()
  fit <- function(x) {
    set.seed(1)
    nmf(x, 3, loss = "kl", control = fit_control(n_start = 4, algorithm = "em"))
  }
  there <- fit(shards(x, tempfile(), size = 80))
  here <- fit(x)
  expect_true(there$converged)
  expect_gt(there$objective, here$objective - 0.01 * abs(here$objective))
  expect_equal(unname(rowSums(there$param$basis)), rep(1, 3))
  expect_false(is.unsorted(-colSums(predict(there, type = "coefficients"))))
  expect_equal(sum(log(fitted(there))[which(x == 1)]) - sum(fitted(there)[which(!is.na(x))]), unname(there$objective),
    tolerance = 1e-8)
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    nmf(shard, 2)
    nmf(shard, 2, loss = "kl", start = list(basis = matrix(-1, 2, 40)))
  })
})

test_that("streaming and workers give the same bits, and a fit goes on from its checkpoint", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  hold_workers(x, function(shard, control) {
    nmf(shard, 4, loss = "kl", start = nmf_start(x, 4), control = control)
  })
})
