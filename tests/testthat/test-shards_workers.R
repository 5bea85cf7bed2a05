# Workers that scan shards: the tree of sums, jobs, workers that are lost.

test_that("sums are the same for every way of sharing out", {
  set.seed(1)
  for (n in c(1, 2, 3, 7, 8, 13)) {
    values <- lapply(seq_len(n), function(i) stats::rnorm(3) * 10^stats::runif(1, -8, 8))
    whole <- NULL
    for (n_workers in seq_len(n)) {
      runs <- share_shards(stats::runif(n, 0.5, 1), n_workers)
      expect_identical(sort(unlist(runs)), seq_len(n))
      nodes <- lapply(runs, function(run) Reduce(function(nodes, i) add_node(nodes, i, values[[i]]), run, list()))
      nodes <- sample(unlist(nodes, recursive = FALSE))
      total <- add_nodes(nodes, n)
      if (is.null(whole)) whole <- total
      expect_identical(total, whole)
    }
    expect_equal(whole, Reduce(`+`, values))
  }
})

local_workers <- function(n, frame = parent.frame()) {
  cluster <- parallel::makePSOCKcluster(n, rscript_envs = NULL)
  stop <- function(node) try(parallel::stopCluster(node), silent = TRUE)
  do.call(on.exit, list(bquote(for (i in seq_along(.(cluster))) .(stop)(.(cluster)[i])), add = TRUE), envir = frame)
  cluster
}

pids <- function(cluster) unlist(parallel::clusterCall(cluster, Sys.getpid))

some_jobs <- function(n) lapply(seq_len(n), function(i) list(worker = i, number = i))
square <- function(job) list(number = job$number, value = job$number^2, pid = Sys.getpid())
environment(square) <- baseenv()
is_square <- function(value, job) identical(value$number, job$number)

test_that("every worker has its own job, and the cluster can be used on", {
  skip_on_cran()
  skip_if_not_installed_here()
  cluster <- local_workers(2)
  workers <- open_workers(cluster, 30)
  for (round in 1:3) {
    workers_heard(workers)
    got <- run_on_workers(workers, some_jobs(2), square, is_square)
    expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4))
    expect_identical(vapply(got, `[[`, 0L, "pid"), pids(cluster))
  }
})

test_that("a worker that has ended, hangs or returns something else is named, and its job goes to another", {
  skip_on_cran()
  skip_if_not_installed_here()
  jobs <- some_jobs(3)
  run <- function(cluster, f = square, patience = 30) {
    workers <- open_workers(cluster, patience)
    workers_heard(workers)
    on.exit(tell_losses(workers))
    run_on_workers(workers, jobs, f, is_square)
  }
  cluster <- local_workers(3)
  tools::pskill(pids(cluster)[2], tools::SIGKILL)
  expect_warning(got <- run(cluster), "worker 2 .* is lost: its (process has ended|connection is closed)",
    class = "multicause_worker_lost")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4, 9))
  if (!is.na(tools::SIGSTOP)) { # no process is stopped on Windows
    cluster <- local_workers(3)
    hung <- pids(cluster)[1]
    tools::pskill(hung, tools::SIGSTOP)
    expect_warning(got <- run(cluster, patience = 2), "worker 1 .* was silent for 2 seconds",
      class = "multicause_worker_lost")
    tools::pskill(hung, tools::SIGKILL)
    expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4, 9))
  }
  cluster <- local_workers(3)
  liar <- pids(cluster)[3]
  wrong <- eval(bquote(function(job) {
    list(number = if (Sys.getpid() == .(liar)) 0L else job$number, value = job$number^2)
  }), baseenv())
  expect_warning(got <- run(cluster, wrong), "worker 3 .* what it returned is not what was asked",
    class = "multicause_worker_lost")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4, 9))
  failing <- eval(quote(function(job) stop("no such disk")), baseenv())
  expect_error(suppressWarnings(run(cluster, failing)), "All workers are lost.*no such disk",
    class = "multicause_worker_lost")
})

test_that("a worker that has another version of the package, or none, is told from a broken one", {
  job <- list(version = "0.0.9", path = tempfile())
  expect_match(scan_shards_there(job)$why, "it has [0-9.]+ of multicause, not 0.0.9: install the same")
  skip_on_cran()
  skip_if_not_installed_here()
  cluster <- local_workers(2)
  other <- pids(cluster)[2]
  answer <- eval(bquote(function(job) {
    if (Sys.getpid() == .(other)) return(structure(list(why = "it has 1 of it"), class = "unfit_worker"))
    list(number = job$number, value = job$number^2)
  }), baseenv())
  workers <- open_workers(cluster, 30)
  workers_heard(workers)
  got <- run_on_workers(workers, some_jobs(2), answer, is_square)
  expect_warning(tell_losses(workers), "worker 2 .* is lost: it has 1 of it", class = "multicause_worker_lost")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4))
})

test_that("a cluster must be one that is known", {
  expect_error(fit_control(cluster = 2), "must be a cluster of parallel::makeCluster", class = "multicause_input_error")
  expect_error(
    fit_control(cluster = structure(list(list(rank = 1)), class = c("MPIcluster", "cluster"))),
    "must be of sockets or of MPI", class = "multicause_input_error"
  )
  expect_error(
    aspect_bernoulli(diag(4), 2, control = fit_control(checkpoint = tempfile())), "is not for this call",
    class = "multicause_input_error"
  )
})

test_that("a silent worker is named, and patience follows the longest scan so far", {
  skip_on_cran()
  skip_on_os("windows") # no process is stopped there
  skip_if_not_installed_here()
  cluster <- local_workers(2)
  workers <- open_workers(cluster, 3600)
  workers_heard(workers)
  expect_identical(workers_patience(workers), 3600) # no scan is done
  run_on_workers(workers, some_jobs(2), square, is_square)
  expect_identical(workers_patience(workers), 60)
  workers$longest <- 7.2
  expect_identical(workers_patience(workers), 72)
  workers$longest <- 1e4
  expect_identical(workers_patience(workers), 3600)
  workers$longest <- 0.15
  bind_in_namespace("silent_seconds", 1)
  hung <- pids(cluster)[1]
  tools::pskill(hung, tools::SIGSTOP)
  told <- character()
  withCallingHandlers(
    got <- run_on_workers(workers, some_jobs(2), square, is_square),
    multicause_message = function(m) told <<- c(told, conditionMessage(m))
  )
  tools::pskill(hung, tools::SIGKILL)
  expect_match(told, "No word for 1 second from worker 1 .*, which counts as lost after 2 seconds")
  expect_length(told, 1L)
  expect_match(workers$losses, "worker 1 .* silent for 2 seconds")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4))
})

test_that("an error value of mirai, which is a number, has its words", {
  skip_if_not_installed("mirai")
  loadNamespace("mirai")
  expect_identical(failure_words(structure(19L, class = "errorValue")), "it failed: Connection reset")
  expect_identical(failure_words(structure("no such file", class = "try-error")), "it failed: no such file")
})
