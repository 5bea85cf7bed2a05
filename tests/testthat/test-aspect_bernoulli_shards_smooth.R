# The aspect Bernoulli model of shards with `smooth` against that of the table.

# Ages in an order of their own: neighbours lie in all shards. Two sites are far from all others.
shards_smooth_case <- function() {
  x <- planted_table()
  set.seed(5)
  age <- stats::setNames(sample(seq_len(nrow(x))), rownames(x))
  age[c(7, 200)] <- c(2000, 3000)
  list(x = x, near = smooth_over(age = age, bandwidth = c(age = 2), strength = 4, recording = 6, most = 5))
}

test_that("with neighbours a fit to shards is that of the table, whatever the passes and phantoms", {
  case <- shards_smooth_case()
  shard <- shards(case$x, tempfile(), size = 80)
  for (phantom in c("free", "white")) {
    start <- start_of_shards(case$x, 3, white = phantom == "white")
    for (algorithm in c("em", "newton")) {
      for (estimate in c("map", "ml")) {
        for (accelerate in c(TRUE, FALSE)) {
          fit <- function(x) {
            short_fit(
              x, 3, estimate = estimate, phantom = phantom, smooth = case$near, start = start,
              prior = list(aspects = c(1.2, 2), membership = 1.03),
              control = fit_control(algorithm = algorithm, max_pass = 30, tol = 1e-10, accelerate = accelerate)
            )
          }
          here <- fit(case$x)
          there <- fit(shard)
          hold_aspects_to_memory(there, here)
        }
      }
    }
  }
})

test_that("streaming and workers give the same bits with neighbours, and so does a fit that goes on after a stop", {
  skip_on_cran()
  skip_if_not_installed_here()
  case <- shards_smooth_case()
  start <- start_of_shards(case$x, 3, white = TRUE)
  hold_workers(case$x, function(shard, control) {
    short_fit(shard, 3, phantom = "white", smooth = case$near, start = start, control = control)
  })
})

test_that("neighbours are matched by name, or are those of the rows as they stand; none of strength 0", {
  case <- shards_smooth_case()
  shard <- shards_of(as_records(case$x), size = 80)
  start <- start_of_shards(case$x, 3)["aspects"]
  fit <- function(near, ...) {
    short_fit(shard, 3, smooth = near, start = start, control = fit_control(max_pass = 10, tol = 0, ...))
  }
  over <- function(age, strength = 4) smooth_over(age = age, bandwidth = c(age = 2), strength = strength, most = 5)
  age <- stats::setNames(case$near$given$age[, 1L], rownames(case$x))
  named <- fit(over(age))
  expect_identical(fit(over(unname(age[site_table(shard)$site])))$param, named$param)
  expect_identical(named$smooth$names, site_table(shard)$site)
  weights <- list_weights(find_neighbours(named$smooth), c(240, 240))
  given <- smooth_over(neighbours = weights, strength = 4)
  expect_equal(fit(given)$objective, named$objective, tolerance = 1e-12)
  none <- fit(over(age, 0))
  expect_identical(names(none$objective), "log_posterior")
  expect_null(none$smooth)
  # What was sent is not left behind.
  folder <- tempfile()
  fit(over(age), checkpoint = folder)
  expect_identical(list.files(folder, "^sent"), character())
})

test_that("verbs on shards with neighbours say what they say of the table", {
  case <- shards_smooth_case()
  start <- start_of_shards(case$x, 3, white = TRUE)
  fit <- function(x) {
    control <- fit_control(max_pass = 60, tol = 0)
    short_fit(x, 3, estimate = "ml", phantom = "white", smooth = case$near, start = start, control = control)
  }
  here <- fit(case$x)
  there <- fit(shards(case$x, tempfile(), size = 80))
  expect_equal(summary(there)$certificate, summary(here)$certificate, tolerance = 1e-5)
  expect_identical(summary(there)$certificate[["membership_gap"]], NA_real_)
  expect_equal(logLik(there), logLik(here), tolerance = 1e-6)
  expect_error(predict(there, case$x[1:2, ]), "no neighbours", class = "multicause_input_error")
  expect_equal(fitted(there), fitted(here), tolerance = 1e-7)
  expect_equal(
    false_absences(there, n = 20, by = "missed")$missed, false_absences(here, n = 20, by = "missed")$missed,
    tolerance = 1e-6
  )
  expect_output(print(there), "smoothed log-likelihood", fixed = TRUE)
  again <- suppressWarnings(update(there, control = fit_control(max_pass = 2, tol = 0)))
  expect_identical(again$smooth, there$smooth)
})

test_that("without a start a sample begins, and neighbours are heard after it", {
  case <- shards_smooth_case()
  shard <- shards(case$x, tempfile(), size = 80)
  fit <- function(x) {
    set.seed(2)
    short_fit(x, 3, phantom = "white", smooth = case$near, control = fit_control(n_start = 2, max_pass = 300))
  }
  there <- fit(shard)
  expect_identical(numbers_of(fit(shard)), numbers_of(there))
  expect_gt(there$objective, fit(case$x)$objective - 2e-3 * abs(there$objective))
})

test_that("rows of unknown age, unknown cells, shards of few rows and rows alike change nothing of that", {
  case <- shards_smooth_case()
  x <- replace(case$x, cbind(1:40, 3), NA)[1:60, ]
  age <- case$near$given$age[1:60, 1L]
  ages <- list(some = replace(age, 11:25, NA), none = replace(age, TRUE, NA), one = rep(5, 60))
  start <- start_of_shards(x, 2)
  for (which in names(ages)) {
    near <- smooth_over(
      age = ages[[which]], bandwidth = c(age = 2), strength = 4, recording = 0, most = if (which == "some") 1 else 5
    )
    fit <- function(x) {
      short_fit(x, 2, smooth = near, start = start, control = fit_control(max_pass = 20, tol = 1e-10))
    }
    hold_to_memory(fit(shards(x, tempfile(), size = 5)), fit(x))
  }
})

test_that("a fit does not go on from what another strength left", {
  case <- shards_smooth_case()
  shard <- shards(case$x, tempfile(), size = 80)
  folder <- tempfile()
  fit <- function(strength) {
    near <- smooth_over(age = case$near$given$age[, 1L], bandwidth = c(age = 2), strength = strength, most = 5)
    control <- fit_control(max_pass = 5, tol = 0, checkpoint = folder)
    short_fit(shard, 2, smooth = near, start = start_of_shards(case$x, 2)["aspects"], control = control)
  }
  fit(4)
  expect_error(fit(5), "checkpoint")
})

test_that("wrong neighbours of shards are told", {
  case <- shards_smooth_case()
  shard <- shards(case$x, tempfile())
  expect_snapshot(error = TRUE, {
    aspect_bernoulli(shard, 3, smooth = smooth_over(age = 1:240))
    aspect_bernoulli(shard, 3, smooth = smooth_over(age = 1:240, bandwidth = c(age = 2)))
    aspect_bernoulli(shard, 3, smooth = smooth_over(age = 1:10, bandwidth = c(age = 2), strength = 1))
    aspect_bernoulli(shard, 3, smooth = 1:240)
    aspect_bernoulli(shard, 3, smooth = case$near, effort = 1:240)
  })
})
