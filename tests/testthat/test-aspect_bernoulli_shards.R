# The aspect Bernoulli model of shards against that of the table: plain, with `effort`, with `smooth`.

skip_on_cran()

# A table whose phantom depends on effort: list(x, effort).
shards_effort_case <- function() {
  x <- planted_table()
  set.seed(4)
  effort <- round(stats::rnorm(nrow(x), 2), 1) # some rows have the same
  x[stats::runif(length(x)) < stats::plogis(1 - effort)[row(x)] & !is.na(x)] <- 0
  list(x = x, effort = effort)
}

# Ages in random order, so that neighbours lie in all shards. Two sites are far from all others.
shards_smooth_case <- function() {
  x <- planted_table()
  set.seed(5)
  age <- stats::setNames(sample(seq_len(nrow(x))), rownames(x))
  age[c(7, 200)] <- c(2000, 3000)
  list(x = x, near = smooth_over(age = age, bandwidth = c(age = 2), strength = 4, recording = 6, most = 5))
}

# list(x, args, phantoms = those tested)
shards_cases <- function() {
  effort <- shards_effort_case()
  list(
    plain = list(x = planted_table(), phantoms = c("free", "white")),
    effort = list(x = effort$x, args = list(effort = effort$effort), phantoms = "white"),
    smooth = list(
      x = planted_table(), args = list(smooth = shards_smooth_case()$near), phantoms = c("free", "white")
    )
  )
}

# Applies short_fit() to a case's table or to its shards.
fit_case <- function(case, x, k, phantom = "white", ...) {
  do.call(short_fit, c(list(x, k, phantom = phantom, ...), case$args))
}

test_that("a fit to shards is that of the table in memory from the same start, whatever the iterations", {
  cases <- shards_cases()
  for (name in names(cases)) {
    case <- cases[[name]]
    shard <- shards(case$x, tempfile(), size = 80)
    tried <- expand.grid(
      algorithm = c("em", if (name != "effort") line_iterations, "newton", if (name == "plain") "sparse"),
        phantom = case$phantoms,
      estimate = c("map", "ml"), accelerate = c(TRUE, FALSE), stringsAsFactors = FALSE
    )
    for (i in seq_len(nrow(tried))) {
      with <- tried[i, ]
      start <- start_of_shards(case$x, 4, with$phantom == "white")
      fit <- function(x) {
        fit_case(
          case, x, 4, with$phantom, estimate = with$estimate, start = start,
          prior = list(aspects = c(1.2, 2), membership = 1.03),
          control = fit_control(algorithm = with$algorithm, max_iter = 30, tol = 1e-10, accelerate = with$accelerate)
        )
      }
      here <- fit(case$x)
      there <- fit(shard)
      hold_to_memory(there, here)
      expect_equal(there$param$aspects, here$param$aspects, tolerance = 1e-7)
      expect_equal(predict(there, type = "membership"), here$param$membership, tolerance = 1e-7)
      expect_identical(there$algorithm, here$algorithm)
      expect_equal(there$effort, here$effort, tolerance = 1e-7)
    }
  }
})

test_that("zeros that are not scanned are not in shards either", {
  set.seed(5)
  x <- matrix(stats::rbinom(400 * 300, 1, 0.02), 400)
  start <- start_of_shards(x, 4)
  control <- fit_control(algorithm = "sparse", max_iter = 120)
  here <- short_fit(x, 4, start = start, control = control)
  there <- short_fit(shards(x, tempfile(), size = 500), 4, start = start, control = control)
  expect_lt(abs(there$objective - here$objective), 1e-10 * abs(here$objective))
  expect_equal(there$param$aspects, here$param$aspects, tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(nrow(there$trace), nrow(here$trace))
})

test_that("verbs on shards say what they say of the table", {
  cases <- shards_cases()
  cases$plain$x[1:10, ] <- 0
  for (name in names(cases)) {
    case <- cases[[name]]
    x <- case$x
    start <- start_of_shards(x, 4, TRUE)
    control <- fit_control(max_iter = 60, tol = 0)
    fit <- function(x) fit_case(case, x, 4, estimate = "ml", start = start, control = control)
    here <- fit(x)
    there <- fit(shards(x, tempfile(), size = 80))
    expect_equal(summary(there)$certificate, summary(here)$certificate, tolerance = 1e-5, info = name)
    expect_identical(is.na(summary(there)$certificate[["membership_gap"]]), name != "plain")
    expect_equal(logLik(there), logLik(here), tolerance = if (name == "smooth") 1e-6 else 1e-10, info = name)
    expect_equal(coef(there)$aspects, coef(here)$aspects, tolerance = 1e-7)
    expect_equal(phantoms(there), phantoms(here), tolerance = 1e-7)
    for (per in c("table", "site", "taxon")) {
      one <- false_absences(there, n = 3, by = "missed", per = per)
      other <- false_absences(here, n = 3, by = "missed", per = per)
      # Rows that are equal except for rounding may change places.
      expect_equal(one$missed, other$missed, tolerance = 1e-6)
      expect_equal(attributes(one)[c("n_cells", "expected")], attributes(other)[c("n_cells", "expected")],
        tolerance = 1e-7)
      expect_gt(mean(one$site == other$site), 0.9)
    }
    expect_equal(false_presences(there, n = 5), false_presences(here, n = 5), tolerance = 1e-6)
    some <- c("s200", "s003")
    expect_equal(
      false_absences(there, site = some, taxon = "t01"),
      false_absences(here, site = some, taxon = "t01"), tolerance = 1e-6
    )
    expect_equal(fitted(there), fitted(here), tolerance = 1e-7)
    expect_equal(predict(there, rows = c(200, 3)), predict(here, rows = c(200, 3))[c(1, 2), ], tolerance = 1e-7)
    new <- x[c(5, 1, 9), ]
    if (name == "smooth") {
      expect_error(predict(there, new), "no neighbours", class = "multicause_input_error")
      expect_match(print_words(there), "smoothed log-likelihood", fixed = TRUE)
    } else {
      expect_equal(predict(there, new), predict(here, new), tolerance = 1e-5)
    }
    again <- suppressWarnings(update(there, control = fit_control(max_iter = 2, tol = 0)))
    expect_identical(again$smooth, there$smooth)
    if (name == "effort") {
      expect_match(print_words(there), effort_sentence(here), fixed = TRUE)
      expect_identical(again$effort$values, case$args$effort)
      # Starting values also follow the curve, without any iteration.
      none <- fit_case(case, there$shards, 4, start = start, control = fit_control(max_iter = 0))
      expect_equal(diff(range(predict(none, type = "membership")[, 4])), 0, tolerance = 1e-12)
    }
  }
  expect_error(false_absences(there, within = is.na(x)), "do not go with a fit to shards")
  expect_error(by_taxon(there), "aspect_bernoulli_shards")
  expect_identical(summary(there)$components, phantoms(there))
  expect_output(print(summary(there)), "Memberships lie in")
  for (generic in list(plot, residuals, simulate, vcov)) {
    expect_error(generic(there), "is not there for a fit to shards", class = "multicause_input_error")
  }
  expect_error(select_k(there$shards, 1:2), "in shards", class = "multicause_input_error")
})

test_that("fits to shards have tidiers", {
  fit <- short_fit(shards(planted_table(), tempfile(), size = 80), 2, control = fit_control(max_iter = 5))
  aspects <- tidy(fit)
  expect_identical(names(aspects), c("component", "taxon", "estimate"))
  expect_equal(aspects$estimate, as.vector(t(coef(fit)$aspects)))
  expect_identical(glance(fit)$nobs, as.double(nobs(fit)))
})

test_that("answers are written by shard", {
  x <- planted_table()
  made <- shards(x, tempfile(), size = 80)
  fit <- short_fit(made, 3, start = start_of_shards(x, 3), control = fit_control(max_iter = 5))
  files <- predict(fit, path = tempfile())
  expect_length(files, nrow(fit$shards$shards))
  got <- do.call(rbind, lapply(files, utils::read.csv, row.names = 1, check.names = FALSE))
  expect_equal(as.matrix(got), predict(fit), tolerance = 1e-12)
  expect_error(predict(fit, path = dirname(files[1])), "new or empty folder", class = "multicause_input_error")
  skip_if_not_installed("nanoparquet")
  files <- predict(fit, type = "membership", path = tempfile(), format = "parquet")
  got <- do.call(rbind, lapply(files, nanoparquet::read_parquet))
  expect_identical(got$row, rownames(x))
  expect_equal(unname(as.matrix(as.data.frame(got)[-1])), unname(predict(fit, type = "membership")))
})

test_that("without a start the fit goes on from the best of a sample", {
  cases <- shards_cases()
  for (name in names(cases)) {
    case <- cases[[name]]
    shard <- shards(case$x, tempfile(), size = 80)
    fit <- function(x) {
      set.seed(1)
      fit_case(case, x, 3, control = fit_control(n_start = 3, max_iter = 2000))
    }
    one <- fit(shard)
    expect_identical(numbers_of(one), numbers_of(fit(shard)))
    expect_identical(nrow(one$starts), 3L)
    expect_true(one$converged)
    expect_false(is.unsorted(-one$shares$weight[1:2]))
    expect_identical(one$fixed[["A3"]], "white")
    expect_gt(one$objective, fit(case$x)$objective - 0.005 * abs(one$objective))
    expect_output(print(one), "Aspect Bernoulli model of shards: 240 sites x 40 taxa, k = 3")
    expect_output(print(one), "A3 +[0-9.]+ +white phantom")
    if (name == "effort") expect_lt(one$effort$coefficients[["slope"]], -0.5)
  }
})

test_that("the curve of a sample is in the units of the table; of equal effort there is none", {
  case <- shards_effort_case()
  model <- function(values) {
    shard_model(
      c("effort_on_shards", "aspect_bernoulli_on_shards"), 3L,
      fixed = c("free", "free", "white"), estimate = "ml", phantom = "white", here = list(values = values)
    )
  }
  from <- function(values) {
    control <- fit_control(n_start = 1, max_iter = 20)
    quiet_fit(fit_sample(model(values), case$x[1:80, ], 1:80, control))$value
  }
  half <- from(case$effort)
  coef <- sampled_shared(model(case$effort), half, rep(0.1, 40))$coef
  expect_equal(effort_curve(coef, case$effort)$coefficients, half$effort$coefficients)
  even <- from(rep(1:2, c(80, 160)))
  expect_null(even$effort)
  expect_identical(sampled_shared(model(rep(1:2, c(80, 160))), even, rep(0.1, 40))$coef[2L], 0)
})

test_that("streaming, 1, 2 and 4 workers give the same bits, and a fit goes on when one was killed", {
  skip_if_not_installed_here()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  start <- start_of_shards(x, 4)
  fit <- function(cluster = NULL, ..., max_iter = 40) {
    control <- fit_control(algorithm = "sparse", max_iter = max_iter, tol = 0, cluster = cluster, ...)
    short_fit(shard, 4, start = start, control = control)
  }
  alone <- fit()
  cluster <- parallel::makePSOCKcluster(4, rscript_envs = NULL)
  on.exit(for (i in 1:4) try(parallel::stopCluster(cluster[i]), silent = TRUE))
  for (n in c(1, 2, 4)) expect_identical(numbers_of(fit(cluster[seq_len(n)])), numbers_of(alone))
  victim <- parallel::clusterCall(cluster[2], Sys.getpid)[[1L]]
  folder <- tempfile()
  dir.create(folder)
  start_child(kill_when(folder, "^membership-00001-0000[1-9]", victim))
  expect_error(fit(cluster[1:3], checkpoint = folder, max_iter = 1e5), "are lost: .* with `checkpoint` the same call",
    class = "multicause_worker_lost")
  iterations <- readRDS(file.path(folder, "state.rds"))$iterations
  expect_gt(iterations, 5)
  rest <- fit(checkpoint = folder, max_iter = 30)
  begun <- fit(max_iter = iterations)
  expect_gt(rest$objective, begun$objective - 1e-9 * abs(begun$objective))
})

test_that("mirai's compute profiles are workers, too, and one that is killed changes no bit", {
  skip_if_not_installed("mirai")
  skip_if_not_installed_here()
  profiles <- c("shards_one", "shards_two")
  # Daemons load mirai from there.
  with_environment(child_environment(), for (profile in profiles) mirai::daemons(1, .compute = profile))
  on.exit(for (profile in profiles) mirai::daemons(0, .compute = profile))
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  fit <- function(cluster, max_iter = 12, ...) {
    control <- fit_control(algorithm = "sparse", max_iter = max_iter, tol = 0, cluster = cluster, ...)
    short_fit(shard, 4, start = start_of_shards(x, 4), control = control)
  }
  expect_identical(numbers_of(fit(profiles)), numbers_of(fit(NULL)))
  victim <- mirai::mirai(Sys.getpid(), .compute = profiles[2])[]
  folder <- tempfile()
  dir.create(folder)
  start_child(kill_when(folder, "^membership-00001-0000[1-9]", victim))
  expect_warning(
    hurt <- fit(profiles, max_iter = 400, checkpoint = folder, patience = 5), "worker 2 .* is lost",
    class = "multicause_worker_lost"
  )
  expect_identical(numbers_of(hurt), numbers_of(fit(NULL, max_iter = 400)))
})

test_that("a fit whose driver was killed goes on from its checkpoint, on other workers", {
  skip_if_not_installed_here()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  folder <- tempfile()
  start <- tempfile()
  saveRDS(start_of_shards(x, 4), start)
  child <- start_child(sprintf("
    library(multicause)
    control <- fit_control(algorithm = 'sparse', max_iter = 1e5, tol = 0, checkpoint = %s)
    aspect_bernoulli(shards(%s), 4, start = readRDS(%s), control = control)
  ", deparse(folder), deparse(shard$path), deparse(start)))
  patience <- Sys.time() + 30
  far <- "^membership-00001-0000[3-9]"
  while (!length(list.files(folder, far)) && Sys.time() < patience) Sys.sleep(0.02)
  tools::pskill(child, tools::SIGKILL)
  Sys.sleep(0.2)
  state <- readRDS(file.path(folder, "state.rds"))
  expect_gt(state$iterations, 20)
  go_on <- function(folder, cluster = NULL, k = 4) {
    control <- fit_control(algorithm = "sparse", max_iter = 30, tol = 0, checkpoint = folder, cluster = cluster)
    short_fit(shard, k, start = readRDS(start), control = control)
  }
  copy <- tempfile()
  dir.create(copy)
  file.copy(list.files(folder, full.names = TRUE), copy)
  # Files that a kill during writing leaves behind.
  writeLines("half", file.path(copy, "state.rds.part"))
  writeLines("half", file.path(copy, "membership-00001-000099.bin-1.part"))
  one <- go_on(folder)
  cluster <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster))
  expect_identical(numbers_of(go_on(copy, cluster)), numbers_of(one))
  fresh <- short_fit(
    shard, 4, start = readRDS(start), control = fit_control(algorithm = "sparse", max_iter = state$iterations, tol = 0)
  )
  expect_gt(one$objective, fresh$objective - 1e-9 * abs(fresh$objective))
  expect_error(go_on(folder, k = 3), "is not of this call|must be a numeric matrix", class = "multicause_input_error")
  # The fit's own memberships are checked as well.
  file <- list.files(folder, "^membership-00002", full.names = TRUE)
  bytes <- readBin(file, "raw", 1e6)
  bytes[200] <- xor(bytes[200], as.raw(1))
  writeBin(bytes, file)
  expect_error(fitted(one), "was cut off or changed", class = "multicause_shard_damaged")
  expect_error(go_on(folder), "was cut off or changed", class = "multicause_shard_damaged")
  unlink(file)
  expect_error(fitted(one), "has lost its memberships", class = "multicause_input_error")
  writeBin(readBin(state_file(copy), "raw", 100), state_file(copy))
  expect_error(go_on(copy), "is damaged", class = "multicause_input_error")
})

test_that("a fit that goes on after a stop is, to the last bit, the one that was not stopped, here and on workers", {
  skip_if_not_installed_here()
  cases <- shards_cases()
  for (name in c("effort", "smooth")) {
    case <- cases[[name]]
    start <- start_of_shards(case$x, 3, white = TRUE)
    fit <- function(shard, control) fit_case(case, shard, 3, start = start, control = control)
    # With effort each iteration has an evaluation and a scan.
    hold_workers(case$x, fit, kills = if (name == "effort") c(3, 15, 25) else c(3, 7, 12))
  }
  shard <- shards(cases$plain$x, tempfile(), size = 60)
  start <- start_of_shards(cases$plain$x, 4)
  for (algorithm in c("em", "newton")) {
    hold_resumed(function(..., max_iter = 25) {
      control <- fit_control(algorithm = algorithm, max_iter = max_iter, tol = 0, ...)
      short_fit(shard, 4, start = start, control = control)
    })
  }
})

test_that("a damaged shard stops the fit and is named, here and on workers", {
  skip_if_not_installed_here()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  file <- file.path(shard$path, "cells-00002.bin")
  bytes <- readBin(file, "raw", 1e6)
  writeBin(bytes[seq_len(length(bytes) - 8)], file)
  fit <- function(cluster) {
    aspect_bernoulli(shard, 3, start = start_of_shards(x, 3), control = fit_control(cluster = cluster))
  }
  expect_error(fit(NULL), "cells-00002.bin", class = "multicause_shard_damaged")
  cluster <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster))
  expect_error(fit(cluster), "cells-00002.bin", class = "multicause_shard_damaged")
  expect_identical(lengths(parallel::clusterCall(cluster, Sys.getpid)), c(1L, 1L))
})

test_that("a worker does not take the effort of an earlier fit in the same folder for that of this one", {
  skip_if_not_installed_here()
  case <- shards_effort_case()
  shard <- shards(case$x, tempfile(), size = 60)
  start <- start_of_shards(case$x, 3, white = TRUE)
  folder <- tempfile()
  fit <- function(effort, ...) {
    short_fit(shard, 3, effort = effort, start = start, control = fit_control(max_iter = 3, tol = 0, ...))
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
    short_fit(x, 3, effort = effort, start = start, control = fit_control(max_iter = 10, tol = 0))
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

test_that("neighbours are matched by name, or are those of the rows as they stand; none of strength 0", {
  case <- shards_smooth_case()
  shard <- shards_of(as_records(case$x), size = 80)
  start <- start_of_shards(case$x, 3)["aspects"]
  fit <- function(near, ...) {
    short_fit(shard, 3, smooth = near, start = start, control = fit_control(max_iter = 10, tol = 0, ...))
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
  # Temporary files are removed.
  folder <- tempfile()
  fit(over(age), checkpoint = folder)
  expect_identical(list.files(folder, "^sent"), character())
  expect_error(fit(over(age, 5), checkpoint = folder), "is not of this call", class = "multicause_input_error")
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
      short_fit(x, 2, smooth = near, start = start, control = fit_control(max_iter = 20, tol = 1e-10))
    }
    hold_to_memory(fit(shards(x, tempfile(), size = 5)), fit(x))
  }
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    aspect_bernoulli(shard, 2, estimate = "vb")
    aspect_bernoulli(shard, 2, prior = "cv")
    aspect_bernoulli(shard, 2, start = list(aspects = matrix(0.5, 2, 3)))
    aspect_bernoulli(shard, 2, phantom = "white", start = list(aspects = matrix(0.5, 2, 40)))
  })
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
  control <- fit_control(n_start = 1, max_iter = 3, checkpoint = folder)
  fit("days")
  expect_error(fit(rev(case$effort)), "is not of this call", class = "multicause_input_error")
  file <- known_file(folder, 1L)
  writeBin(readBin(file, "raw", 40), file)
  expect_error(fit("days"), "known-00001.rds", class = "multicause_shard_damaged")
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

test_that("rows are named, numbered or flagged as in memory, and dates are no effort", {
  set.seed(74)
  x <- matrix(rbinom(72, 1, 0.5), 12, dimnames = list(paste0("s", 1:12), letters[1:6]))
  pieces <- shards(x, tempfile(), site_data = data.frame(d = Sys.Date() + 1:12))
  few <- fit_control(max_iter = 5, progress = FALSE)
  fit <- suppressWarnings(suppressMessages(aspect_bernoulli(pieces, 2, control = few)))
  expect_identical(rownames(predict(fit, rows = c(s3 = 1))), "s3")
  expect_identical(rownames(predict(fit, rows = rep(c(TRUE, FALSE), 6)))[2], "s3")
  expect_true(all(false_absences(fit, n = Inf, site = c(s3 = 1))$site == "s3"))
  expect_error(aspect_bernoulli(pieces, 2, effort = "d"), "effort", class = "multicause_input_error")
})
