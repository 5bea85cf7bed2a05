# Truncated noisy-OR of shards against that of the table.

start_of_sources <- function(x, k) {
  set.seed(3)
  list(
    prior = stats::runif(k, 0.1, 0.5), links = matrix(stats::runif(k * ncol(x), 0.02, 0.6), k),
    leak = stats::runif(ncol(x), 0.01, 0.1)
  )
}

nor_short <- function(x, k, ..., algorithm = "em") {
  noisy_or(x, k, inference = "truncated", inner = 1, start = start_of_sources(x, k),
    control = fit_control(algorithm = algorithm, tol = 0, ...))
}

test_that("a truncated fit to shards is that of the table in memory from the same start", {
  for (missing in c(0, 60)) {
    x <- planted_table(missing = missing)
    shard <- shards(x, tempfile(), size = 80)
    for (accelerate in c(TRUE, FALSE)) {
      here <- nor_short(x, 5, accelerate = accelerate, max_pass = 40)
      there <- nor_short(shard, 5, accelerate = accelerate, max_pass = 40)
      hold_to_memory(there, here)
      expect_equal(there$trace$objective, here$trace$objective, tolerance = 1e-10)
      expect_equal(there$param$links, here$param$links, tolerance = 1e-7)
      expect_equal(there$param$prior, here$param$prior, tolerance = 1e-7)
      expect_equal(there$param$leak, here$param$leak, tolerance = 1e-7)
    }
  }
})

test_that("lists of more than 64 components travel whole, as do a mask and a flat prior", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  hold_to_memory(nor_short(shard, 70, max_pass = 6), nor_short(x, 70, max_pass = 6))
  mask <- matrix(rep(c(1, 0, 1, 1), 30), 3, 40)
  start <- start_of_sources(x, 3)
  start$links <- start$links * mask
  fit <- function(x) {
    noisy_or(x, 3, inference = "truncated", estimate = "ml", inner = 1, mask = mask, start = start,
      control = fit_control(max_pass = 15, tol = 0))
  }
  hold_to_memory(fit(shard), fit(x))
  expect_true(all(coef(fit(shard))$links[mask == 0] == 0))
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  x[1:3, ] <- 0
  shard <- shards(x, tempfile(), size = 80)
  here <- nor_short(x, 4, max_pass = 40)
  there <- nor_short(shard, 4, max_pass = 40)
  hold_verbs(there, here, "activation")
  expect_equal(predict(there, rows = 5:9, type = "map"), predict(here, type = "map")[5:9, ], tolerance = 1e-6)
  expect_equal(predict(there, x[1:12, ], type = "activation"), predict(here, x[1:12, ], type = "activation"),
    tolerance = 1e-6)
  expect_output(print(there), "Noisy-OR component analysis .* of shards: 240 sites x 40 taxa, 4 components")
  expect_error(logLik(there), "no meaning", class = "multicause_input_error")
})

test_that("without a start the fit goes on from the best of a sample", {
  x <- planted_table(missing = 0)
  shard <- shards(x, tempfile(), size = 80)
  set.seed(1)
  there <- noisy_or(shard, 4, control = fit_control(n_start = 4))
  expect_identical(there$dims[["k"]], 4)
  expect_identical(nrow(there$starts), 4L)
  set.seed(1)
  here <- noisy_or(x, 4, inference = "truncated", control = fit_control(n_start = 4))
  expect_gt(there$objective, here$objective - 0.01 * abs(here$objective))
  expect_false(is.unsorted(-there$param$prior * rowSums(there$param$links)))
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    noisy_or(shard, 2, inference = "exact")
    noisy_or(shard, 2, inference = "variational")
    noisy_or(shard, 2, inner = 3)
    noisy_or(shard, 2, surplus = 1)
    noisy_or(shard, 2, start = list(prior = c(0.1, 0.2), links = matrix(0.5, 2, 3), leak = rep(0.1, 40)))
  })
})

test_that("streaming and workers give the same bits, and a fit goes on from its checkpoint", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  hold_workers(x, function(shard, control) {
    noisy_or(shard, 4, start = start_of_sources(x, 4), control = control)
  })
})
