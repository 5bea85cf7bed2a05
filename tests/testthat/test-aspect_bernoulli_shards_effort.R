# The aspect Bernoulli model of shards with `effort` against that of the table.

# A table of shards whose phantom follows effort: list(x, effort, along).
shards_effort_case <- function() {
  x <- planted_table()
  set.seed(4)
  effort <- round(stats::rnorm(nrow(x), 2), 1) # some rows have the same
  x[stats::runif(length(x)) < stats::plogis(1 - effort)[row(x)] & !is.na(x)] <- 0
  list(x = x, effort = effort)
}

test_that("with effort a fit to shards is that of the table, whatever the passes", {
  case <- shards_effort_case()
  shard <- shards(case$x, tempfile(), size = 80)
  start <- start_of_shards(case$x, 4, white = TRUE)
  for (algorithm in c("em", "newton")) {
    for (estimate in c("map", "ml")) {
      for (accelerate in c(TRUE, FALSE)) {
        fit <- function(x) {
          short_fit(
            x, 4, estimate = estimate, effort = case$effort, start = start,
            prior = list(aspects = c(1.2, 2), membership = 1.03),
            control = fit_control(algorithm = algorithm, max_pass = 30, tol = 1e-10, accelerate = accelerate)
          )
        }
        here <- fit(case$x)
        there <- fit(shard)
        hold_aspects_to_memory(there, here)
        expect_equal(there$effort, here$effort, tolerance = 1e-7)
      }
    }
  }
})

test_that("streaming and workers give the same bits with effort, and so does a fit that goes on after a stop", {
  skip_on_cran()
  skip_if_not_installed_here()
  case <- shards_effort_case()
  start <- start_of_shards(case$x, 3, white = TRUE)
  # Each pass has a look and a scan.
  hold_workers(case$x, kills = c(3, 15, 25), function(shard, control) {
    short_fit(shard, 3, effort = case$effort, start = start, control = control)
  })
})

test_that("a worker does not take the effort of an earlier fit in the same folder for that of this one", {
  skip_on_cran()
  skip_if_not_installed_here()
  case <- shards_effort_case()
  shard <- shards(case$x, tempfile(), size = 60)
  start <- start_of_shards(case$x, 3, white = TRUE)
  folder <- tempfile()
  fit <- function(effort, ...) {
    short_fit(shard, 3, effort = effort, start = start, control = fit_control(max_pass = 3, tol = 0, ...))
  }
  cluster <- parallel::makePSOCKcluster(1, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster))
  fit(case$effort, cluster = cluster, checkpoint = folder)
  unlink(folder, recursive = TRUE)
  again <- fit(rev(case$effort), cluster = cluster, checkpoint = folder)
  expect_identical(numbers_of(again), numbers_of(fit(rev(case$effort))))
})

test_that("effort may have traveled along, in the order of the shards, or be matched by name", {
  case <- shards_effort_case()
  records <- as_records(case$x)
  records$effort <- case$effort[records$effort]
  shard <- shards_of(records, size = 80)
  order <- site_table(shard)$site
  fit <- function(x, effort) {
    short_fit(x, 3, effort = effort, start = start, control = fit_control(max_pass = 10, tol = 0))
  }
  start <- start_of_shards(case$x, 3, white = TRUE)["aspects"]
  named <- stats::setNames(case$effort, rownames(case$x))
  one <- fit(shard, "effort")
  expect_identical(fit(shard, named)[c("param", "effort")], one[c("param", "effort")])
  expect_identical(fit(shard, unname(named[order]))$param, one$param)
  expect_identical(one$effort$values, unname(named[order]))
  whole <- case$x[order, colnames(shard[1, ])]
  start$membership <- matrix(1 / 3, nrow(whole), 3)
  hold_to_memory(one, fit(whole, named))
})

test_that("verbs on shards with effort say what they say of the table", {
  case <- shards_effort_case()
  start <- start_of_shards(case$x, 3, white = TRUE)
  fit <- function(x) {
    control <- fit_control(max_pass = 60, tol = 0)
    short_fit(x, 3, estimate = "ml", effort = case$effort, start = start, control = control)
  }
  here <- fit(case$x)
  there <- fit(shards(case$x, tempfile(), size = 80))
  expect_equal(summary(there)$certificate, summary(here)$certificate, tolerance = 1e-5)
  expect_identical(summary(there)$certificate[["membership_gap"]], NA_real_)
  expect_equal(phantoms(there), phantoms(here), tolerance = 1e-7)
  expect_equal(logLik(there), logLik(here), tolerance = 1e-10)
  expect_equal(fitted(there), fitted(here), tolerance = 1e-7)
  expect_equal(predict(there, rows = c(200, 3)), predict(here, rows = c(200, 3))[c(1, 2), ], tolerance = 1e-7)
  new <- case$x[c(5, 1, 9), ]
  expect_equal(predict(there, new), predict(here, new), tolerance = 1e-5)
  of_table <- attributes(false_absences(here, n = 20, by = "missed"))[c("n_cells", "expected")]
  of_shards <- false_absences(there, n = 20, by = "missed")
  expect_equal(attributes(of_shards)[c("n_cells", "expected")], of_table, tolerance = 1e-7)
  expect_equal(of_shards$missed, false_absences(here, n = 20, by = "missed")$missed, tolerance = 1e-6)
  expect_equal(false_presences(there, n = 5), false_presences(here, n = 5), tolerance = 1e-6)
  expect_output(print(there), effort_sentence(here), fixed = TRUE)
  again <- suppressWarnings(update(there, control = fit_control(max_pass = 2, tol = 0)))
  expect_identical(again$effort$values, case$effort)
  # What is left without any pass follows the curve, too.
  none <- short_fit(there$shards, 3, effort = case$effort, start = start, control = fit_control(max_pass = 0))
  expect_equal(diff(range(predict(none, type = "membership")[, 3])), 0, tolerance = 1e-12)
})

test_that("without a start a sample begins, and its curve is in the units of the table", {
  case <- shards_effort_case()
  shard <- shards(case$x, tempfile(), size = 80)
  quick <- fit_control(n_start = 2, max_pass = 300)
  fit <- function(x, ...) {
    set.seed(2)
    short_fit(x, 3, ..., control = quick)
  }
  there <- fit(shard, effort = case$effort)
  expect_identical(numbers_of(fit(shard, effort = case$effort)), numbers_of(there))
  here <- fit(case$x, effort = case$effort)
  expect_gt(there$objective, here$objective - 1e-3 * abs(here$objective))
  expect_lt(there$effort$coefficients[["slope"]], -0.5)
  expect_identical(there$pinned[["A3"]], "white")
  # The curve of a sample, in its own units, is that of the table; of equal effort there is none.
  model <- function(values) {
    shard_model(
      class(there$model), 3L,
      pinned = there$model$pinned, estimate = "ml", phantom = "white", here = list(values = values)
    )
  }
  from <- function(values) {
    control <- fit_control(n_start = 1, max_pass = 20)
    quiet_fit(fit_sample(model(values), case$x[1:80, ], 1:80, control))$value
  }
  half <- from(case$effort)
  coef <- sampled_shared(model(case$effort), half, rep(0.1, 40))$coef
  expect_equal(effort_curve(coef, case$effort)$coefficients, half$effort$coefficients)
  even <- from(rep(1:2, c(80, 160)))
  expect_null(even$effort)
  expect_identical(sampled_shared(model(rep(1:2, c(80, 160))), even, rep(0.1, 40))$coef[2L], 0)
})

test_that("wrong effort of shards is told", {
  case <- shards_effort_case()
  shard <- shards(case$x, tempfile(), site_data = data.frame(days = case$effort, place = "here"))
  expect_snapshot(error = TRUE, {
    aspect_bernoulli(shard, 3, effort = "hours")
    aspect_bernoulli(shard, 3, effort = "place")
    aspect_bernoulli(shard, 3, effort = 1:3)
    aspect_bernoulli(shard, 3, effort = c(NA, case$effort[-1]))
    aspect_bernoulli(shard, 3, effort = rep(1, 240))
    aspect_bernoulli(shard, 3, effort = "days", phantom = "black")
    aspect_bernoulli(shard, 1, effort = "days")
    aspect_bernoulli(shard, 3, effort = "days", smooth = smooth_over(age = 1:240))
    aspect_bernoulli(shard, 3, effort = "days", estimate = "vb")
  })
  folder <- tempfile()
  fit <- function(effort) short_fit(shard, 3, effort = effort, control = control)
  control <- fit_control(n_start = 1, max_pass = 3, checkpoint = folder)
  fit("days")
  expect_error(fit(rev(case$effort)), "is not of this call", class = "multicause_input_error")
  file <- known_file(folder, 1L)
  bytes <- readBin(file, "raw", 1e6)
  bytes[40] <- xor(bytes[40], as.raw(1))
  writeBin(bytes, file)
  expect_error(fit("days"), "known-00001.rds", class = "multicause_shard_damaged")
})
