# The aspect Bernoulli model of shards against that of the table.

test_that("a fit to shards is that of the table in memory from the same start", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  for (algorithm in c("em", "newton", "sparse")) {
    for (white in c(FALSE, TRUE)) {
      start <- start_of_shards(x, 4, white)
      for (estimate in c("map", "ml")) {
        fit <- function(x, ...) {
          short_fit(
            x, 4, estimate = estimate, phantom = if (white) "white" else "free", start = start,
            prior = list(aspects = c(1.2, 2), membership = 1.03),
            control = fit_control(algorithm = algorithm, max_pass = 30, tol = 1e-10, ...)
          )
        }
        here <- fit(x)
        there <- fit(shard)
        expect_lt(abs(there$objective - here$objective), 1e-10 * abs(here$objective))
        expect_lt(abs(there$loglik - here$loglik), 1e-10 * abs(here$loglik))
        expect_equal(there$param$aspects, here$param$aspects, tolerance = 1e-7)
        expect_equal(predict(there, type = "membership"), here$param$membership, tolerance = 1e-7)
        expect_identical(there$trace$pass, here$trace$pass)
        expect_identical(there$df, here$df)
        plain <- fit(shard, accelerate = FALSE)
        expect_equal(plain$objective, fit(x, accelerate = FALSE)$objective, tolerance = 1e-10)
      }
    }
  }
})

test_that("zeros that are not scanned are not in shards either", {
  set.seed(5)
  x <- matrix(stats::rbinom(400 * 300, 1, 0.02), 400)
  start <- start_of_shards(x, 4)
  control <- fit_control(algorithm = "sparse", max_pass = 120)
  here <- short_fit(x, 4, start = start, control = control)
  there <- short_fit(shards(x, tempfile(), size = 500), 4, start = start, control = control)
  expect_lt(abs(there$objective - here$objective), 1e-10 * abs(here$objective))
  expect_equal(there$param$aspects, here$param$aspects, tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(nrow(there$trace), nrow(here$trace))
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  x[1:10, ] <- 0
  shard <- shards(x, tempfile(), size = 80)
  start <- start_of_shards(x, 4, TRUE)
  fit <- function(x) {
    short_fit(x, 4, estimate = "ml", phantom = "white", start = start, control = fit_control(max_pass = 60))
  }
  here <- fit(x)
  there <- fit(shard)
  expect_equal(summary(there)$certificate, summary(here)$certificate, tolerance = 1e-5)
  expect_equal(logLik(there), logLik(here), tolerance = 1e-10)
  expect_identical(nobs(there), nobs(here))
  expect_equal(coef(there)$aspects, coef(here)$aspects, tolerance = 1e-7)
  expect_equal(phantoms(there), phantoms(here), tolerance = 1e-7)
  for (per in c("table", "site", "taxon")) {
    one <- false_absences(there, n = 3, by = "missed", per = per)
    other <- false_absences(here, n = 3, by = "missed", per = per)
    # Rows that are equal but for rounding may change places.
    expect_equal(one$missed, other$missed, tolerance = 1e-6)
    expect_equal(attributes(one)[c("n_cells", "expected")], attributes(other)[c("n_cells", "expected")])
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
  expect_equal(predict(there, x[1:12, ]), predict(here, x[1:12, ]), tolerance = 1e-5)
  expect_error(false_absences(there, within = is.na(x)), "do not go with a fit to shards")
  expect_error(by_taxon(there), "aspect_bernoulli_shards")
  expect_identical(summary(there)$components, phantoms(there))
  expect_output(print(summary(there)), "Memberships lie in")
  for (generic in list(plot, residuals, simulate, vcov)) {
    expect_error(generic(there), "is not there for a fit to shards", class = "multicause_input_error")
  }
  expect_error(select_k(shard, 1:2), "in shards", class = "multicause_input_error")
})

test_that("fits to shards have tidiers", {
  fit <- short_fit(shards(planted_table(), tempfile(), size = 80), 2, control = fit_control(max_pass = 5))
  aspects <- tidy(fit)
  expect_identical(names(aspects), c("component", "taxon", "estimate"))
  expect_equal(aspects$estimate, as.vector(t(coef(fit)$aspects)))
  expect_identical(glance(fit)$nobs, as.double(nobs(fit)))
})

test_that("answers are written by shard", {
  x <- planted_table()
  made <- shards(x, tempfile(), size = 80)
  fit <- short_fit(made, 3, start = start_of_shards(x, 3), control = fit_control(max_pass = 5))
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
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  fit <- function(seed) {
    set.seed(seed)
    aspect_bernoulli(shard, 3, phantom = "white", control = fit_control(n_start = 3))
  }
  one <- fit(1)
  expect_identical(numbers_of(one), numbers_of(fit(1)))
  expect_identical(nrow(one$starts), 3L)
  expect_true(one$converged)
  expect_false(is.unsorted(-one$shares$weight[1:2]))
  expect_identical(one$pinned[["A3"]], "white")
  set.seed(1)
  whole <- aspect_bernoulli(x, 3, phantom = "white", control = fit_control(n_start = 3))
  expect_gt(one$objective, whole$objective - 0.01 * abs(whole$objective))
  expect_output(print(one), "Aspect Bernoulli model of shards: 240 sites x 40 taxa, 3 components")
  expect_output(print(one), "White phantom: A3 \\(held")
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

test_that("streaming, 1, 2 and 4 workers give the same bits, and one that is killed changes none", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  start <- start_of_shards(x, 4)
  fit <- function(cluster = NULL, ..., max_pass = 40) {
    control <- fit_control(algorithm = "sparse", max_pass = max_pass, tol = 0, cluster = cluster, ...)
    short_fit(shard, 4, start = start, control = control)
  }
  alone <- fit()
  cluster <- parallel::makePSOCKcluster(4, rscript_envs = NULL)
  on.exit(for (i in 1:4) try(parallel::stopCluster(cluster[i]), silent = TRUE))
  for (n in c(1, 2, 4)) expect_identical(numbers_of(fit(cluster[seq_len(n)])), numbers_of(alone))
  victim <- parallel::clusterCall(cluster[2], Sys.getpid)[[1L]]
  folder <- tempfile()
  dir.create(folder)
  wait <- "(until ls %s/membership-00001-0000[1-9]* >/dev/null 2>&1; do sleep 0.02; done; kill -9 %d)"
  system(sprintf(wait, shQuote(folder), victim), wait = FALSE)
  long <- fit(max_pass = 400)
  expect_warning(
    hurt <- fit(cluster[1:3], checkpoint = folder, max_pass = 400), "worker 2 .* is lost",
    class = "multicause_worker_lost"
  )
  expect_identical(numbers_of(hurt), numbers_of(long))
})

test_that("mirai's compute profiles are workers, too", {
  skip_on_cran()
  skip_if_not_installed("mirai")
  skip_if_not_installed_here()
  old <- Sys.getenv("R_LIBS", NA)
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep)) # daemons load mirai from there
  on.exit(if (is.na(old)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = old))
  profiles <- c("shards_one", "shards_two")
  for (profile in profiles) mirai::daemons(1, .compute = profile)
  on.exit(for (profile in profiles) mirai::daemons(0, .compute = profile), add = TRUE)
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  fit <- function(cluster) {
    short_fit(shard, 3, start = start_of_shards(x, 3), control = fit_control(max_pass = 12, cluster = cluster))
  }
  expect_identical(numbers_of(fit(profiles)), numbers_of(fit(NULL)))
})

test_that("a fit whose driver was killed goes on from its checkpoint, on other workers", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  folder <- tempfile()
  start <- tempfile()
  saveRDS(start_of_shards(x, 4), start)
  child <- start_child(sprintf("
    library(multicause)
    control <- fit_control(algorithm = 'sparse', max_pass = 1e5, tol = 0, checkpoint = %s)
    aspect_bernoulli(shards(%s), 4, start = readRDS(%s), control = control)
  ", deparse(folder), deparse(shard$path), deparse(start)))
  patience <- Sys.time() + 30
  far <- "^membership-00001-0000[3-9]"
  while (!length(list.files(folder, far)) && Sys.time() < patience) Sys.sleep(0.02)
  tools::pskill(child, tools::SIGKILL)
  Sys.sleep(0.2)
  state <- readRDS(file.path(folder, "state.rds"))[[1L]]
  expect_gt(state$passes, 20)
  go_on <- function(folder, cluster = NULL, k = 4) {
    control <- fit_control(algorithm = "sparse", max_pass = 30, tol = 0, checkpoint = folder, cluster = cluster)
    short_fit(shard, k, start = readRDS(start), control = control)
  }
  copy <- tempfile()
  dir.create(copy)
  file.copy(list.files(folder, full.names = TRUE), copy)
  # What a kill in the middle of writing leaves.
  writeLines("half", file.path(copy, "state.rds.part"))
  writeLines("half", file.path(copy, "membership-00001-000099.bin-1.part"))
  one <- go_on(folder)
  cluster <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster))
  expect_identical(numbers_of(go_on(copy, cluster)), numbers_of(one))
  fresh <- short_fit(
    shard, 4, start = readRDS(start), control = fit_control(algorithm = "sparse", max_pass = state$passes, tol = 0)
  )
  expect_gt(one$objective, fresh$objective - 1e-9 * abs(fresh$objective))
  expect_error(go_on(folder, k = 3), "is not of this call|must be a numeric matrix", class = "multicause_input_error")
  # The fit's own memberships are there, too, until they are not.
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

test_that("a fit that goes on after a stop is, to the last bit, the one that was not stopped", {
  skip_on_cran()
  skip_if_not_installed_here()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  start <- start_of_shards(x, 4)
  for (algorithm in c("em", "newton")) {
    hold_resumed(function(..., max_pass = 25) {
      control <- fit_control(algorithm = algorithm, max_pass = max_pass, tol = 0, ...)
      short_fit(shard, 4, start = start, control = control)
    })
  }
})

test_that("a damaged shard stops the fit and is named, here and on workers", {
  skip_on_cran()
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
