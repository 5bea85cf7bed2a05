# PLSA of shards against that of the table.

test_that("a fit of PLSA to shards is that of the table in memory from the same start", {
  for (missing in c(0, 60)) {
    x <- planted_table(missing = missing)
    shard <- shards(x, tempfile(), size = 80)
    start <- start_of_counts(x, 4)
    for (rule in c("conditional", "paper")) {
      for (estimate in c("ml", "map")) {
        accelerate <- estimate == "map"
        control <- fit_control(algorithm = "em", accelerate = accelerate, max_pass = 40, tol = 0)
        fit <- function(x) plsa(x, 4, missing = rule, estimate = estimate, start = start, control = control)
        here <- fit(x)
        there <- fit(shard)
        hold_to_memory(there, here)
        expect_equal(there$param$basis, here$param$basis, tolerance = 1e-7)
        expect_equal(predict(there, type = "membership"), here$param$membership, tolerance = 1e-6)
        expect_equal(fitted(there), fitted(here), tolerance = 1e-6)
      }
    }
  }
})

test_that("passes of EM may be asked for in memory, too", {
  x <- planted_table(missing = 0)
  start <- start_of_counts(x, 3)
  fit <- function(algorithm, max_pass) {
    control <- fit_control(algorithm = algorithm, tol = 0, max_pass = max_pass)
    plsa(x, 3, estimate = "ml", start = start, control = control)
  }
  # Shares that only Newton's passes make exactly 0.
  expect_identical(sum(fit("em", 200)$param$membership == 0), 0L)
  expect_gt(sum(fit("auto", 200)$param$membership == 0), 0L)
  # An average of fits of this model is made as before: of its own passes.
  set.seed(1)
  control <- fit_control(n_start = 1, max_pass = 200)
  some <- ensemble(x, k = 2, model = plsa, estimate = "ml", members = 1, control = control)
  expect_gt(sum(some$fits[[1L]]$param$membership == 0), 0L)
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  x[1:3, ] <- 0
  shard <- shards(x, tempfile(), size = 80)
  start <- start_of_counts(x, 3)
  control <- fit_control(algorithm = "em", max_pass = 30, tol = 0)
  here <- plsa(x, 3, start = start, control = control)
  there <- plsa(shard, 3, start = start, control = control)
  hold_verbs(there, here, "membership")
  expect_equal(logLik(there), logLik(here), tolerance = 1e-10)
  expect_equal(predict(there, x[1:12, ], type = "membership"), predict(here, x[1:12, ], type = "membership"),
    tolerance = 1e-5, ignore_attr = TRUE)
  expect_equal(unname(there$shares$weight), unname(colMeans(here$param$membership)), tolerance = 1e-6)
  expect_output(print(there), "Latent Dirichlet allocation of shards: 240 sites x 40 taxa, 3 components")
})

test_that("without a start the fit goes on from the best of a sample", {
  x <- planted_table(missing = 0)
  shard <- shards(x, tempfile(), size = 80)
  fit <- function(x) {
    set.seed(1)
    suppressMessages(plsa(x, 3, control = fit_control(n_start = 5, algorithm = "em")))
  }
  there <- fit(shard)
  expect_true(there$converged)
  expect_identical(nrow(there$starts), 5L)
  here <- fit(x)
  expect_gt(there$objective, here$objective - 0.01 * abs(here$objective))
  counted <- colSums(predict(there, type = "membership") * rowSums(x))
  expect_false(is.unsorted(-counted))
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    plsa(shard, 2, estimate = "vb")
    plsa(shard, 2, sparsity = c(membership = 0.1))
    plsa(shard, 2, fixed = "basis", start = list(basis = matrix(1 / 40, 2, 40)))
    plsa(shard, 2, smooth = smooth_over(age = 1:240))
    plsa(shard, 2, control = fit_control(algorithm = "newton"))
    plsa(shard, 2, start = list(basis = matrix(0.5, 2, 3)))
  })
})

test_that("streaming and workers give the same bits, and a fit goes on from its checkpoint", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  hold_workers(x, function(shard, control) plsa(shard, 4, start = start_of_counts(x, 4), control = control))
})
