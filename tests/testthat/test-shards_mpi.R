# Workers of MPI that scan shards (R/shards_workers.R). MPI cannot be started twice in one process, and ends with it:
# all is in jobs of mpirun.

skip_if_no_mpi <- function() {
  skip_on_cran()
  skip_on_os("windows") # whose MPI has another mpirun
  skip_if_not_installed_here()
  skip_if_not(nzchar(Sys.which("mpirun")), "mpirun is not installed")
  for (package in c("Rmpi", "snow")) {
    skip_if_not(nzchar(system.file(package = package)), sprintf("package %s is not installed", package))
  }
  loads <- run_child("cat(requireNamespace('Rmpi', quietly = TRUE))", root_may_mpi)
  skip_if_not(identical(loads[length(loads)], "TRUE"), "package Rmpi does not load")
  started <- with_environment(root_may_mpi, suppressWarnings(system2(
    "mpirun", c("--oversubscribe", "-np", 2, "true"), stdout = FALSE, stderr = FALSE, timeout = 60
  )))
  skip_if_not(started == 0L, "mpirun starts no jobs here")
}

root_may_mpi <- c(OMPI_ALLOW_RUN_AS_ROOT = "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1", TMPDIR = tempdir())

# Runs code with `cluster` of n workers; `x` and `shard` are at hand. What it leaves as `out`, or NULL, with what was
# printed and the status.
run_mpi <- function(n, shard, code) {
  file <- tempfile(fileext = ".R")
  result <- tempfile(fileext = ".rds")
  writeLines(c(
    "library(multicause)",
    sprintf("source(%s)", deparse(normalizePath(test_path("helper-shards.R")))),
    "cluster <- snow::getMPIcluster()",
    sprintf("shard <- shards(%s)", deparse(shard$path)),
    "x <- planted_table()",
    code,
    sprintf("saveRDS(out, %s)", deparse(result))
  ), file)
  printed <- with_environment(c(child_environment(), root_may_mpi, R_TESTS = ""), suppressWarnings(system2(
    "mpirun", c("--oversubscribe", "-np", n + 1, shQuote(system.file("RMPISNOW", package = "snow")), "--no-echo",
      sprintf("--file=%s", shQuote(file))), stdout = TRUE, stderr = TRUE, timeout = 300
  )))
  list(out = if (file.exists(result)) readRDS(result), printed = printed, status = attr(printed, "status"))
}

test_that("ranks of MPI are workers, and one that hangs is named", {
  skip_if_no_mpi()
  shard <- shards(planted_table(), tempfile(), size = 60)
  got <- run_mpi(2, shard, "
    fit <- function(cluster, ...) {
      control <- fit_control(algorithm = 'sparse', max_pass = 12, tol = 0, cluster = cluster, ...)
      numbers_of(short_fit(shard, 4, start = start_of_shards(x, 4), control = control))
    }
    topics <- function(cluster) {
      numbers_of(plsa(shard, 3, start = start_of_counts(x, 3), control = fit_control(max_pass = 8, tol = 0,
        cluster = cluster)))
    }
    out <- list(alone = fit(NULL), one = fit(cluster[1]), two = fit(cluster), topics_alone = topics(NULL),
      topics = topics(cluster))
    hung <- parallel::clusterCall(cluster[2], Sys.getpid)[[1]]
    tools::pskill(hung, tools::SIGSTOP)
    withCallingHandlers(out$hurt <- fit(cluster, patience = 5), multicause_worker_lost = function(w) {
      out$warning <<- conditionMessage(w)
      invokeRestart('muffleWarning')
    })
    tools::pskill(hung, tools::SIGCONT)
    out$again <- fit(cluster)
    out$is_answered <- unlist(parallel::clusterCall(cluster, function() 7))
  ")
  expect_null(got$status, info = got$printed)
  out <- got$out
  expect_length(out$alone$trace$pass, 12)
  for (name in c("one", "two", "hurt", "again")) expect_identical(out[[name]], out$alone)
  expect_identical(out$topics, out$topics_alone)
  expect_match(out$warning, "worker 2 \\(rank 2\\) is lost: it was silent for 5 seconds. Its shards went to others")
  expect_identical(out$is_answered, c(7, 7))
})

test_that("a job that MPI ended, as one of its ranks was killed, goes on from its checkpoint", {
  skip_if_no_mpi()
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  folder <- tempfile()
  dir.create(folder)
  got <- run_mpi(2, shard, sprintf("
    victim <- parallel::clusterCall(cluster[2], Sys.getpid)[[1]]
    source(%2$s)
    start_child(kill_when('%1$s', '^membership-00001-0000[1-9]', victim))
    control <- fit_control(algorithm = 'sparse', max_pass = 1e5, tol = 0, cluster = cluster, checkpoint = '%1$s')
    out <- short_fit(shard, 4, start = start_of_shards(x, 4), control = control)
  ", folder, deparse(normalizePath(test_path("helper-child.R")))))
  expect_null(got$out)
  expect_gt(got$status, 0)
  passes <- readRDS(file.path(folder, "state.rds"))[[1L]]$passes
  expect_gt(passes, 5)
  fit <- function(max_pass, checkpoint = NULL) {
    control <- fit_control(algorithm = "sparse", max_pass = max_pass, tol = 0, checkpoint = checkpoint)
    short_fit(shard, 4, start = start_of_shards(x, 4), control = control)
  }
  expect_gt(fit(30, folder)$objective, fit(passes)$objective - 1e-9 * abs(fit(passes)$objective))
})
