# Workers that scan shards: the tree of sums, jobs, lost workers.

skip_on_cran()

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

# Compute profiles with one daemon each, ended with the calling test.
local_profiles <- function(n, frame = parent.frame()) {
  testthat::skip_on_cran()
  testthat::skip_if_not_installed("mirai")
  skip_if_not_installed_here()
  profiles <- basename(tempfile(rep("profile", n)))
  with_environment(child_environment(), for (profile in profiles) mirai::daemons(1, .compute = profile))
  stop <- function() for (profile in profiles) mirai::daemons(0, .compute = profile)
  do.call(on.exit, list(bquote(.(stop)()), add = TRUE), envir = frame)
  profiles
}

pids <- function(profiles) vapply(profiles, function(profile) mirai::mirai(Sys.getpid(), .compute = profile)[], 0L)

some_jobs <- function(n) lapply(seq_len(n), function(i) list(worker = i, number = i))
square <- function(job) list(number = job$number, value = job$number^2, pid = Sys.getpid())
environment(square) <- baseenv()
is_square <- function(value, job) identical(value$number, job$number)

test_that("every worker has its own job, and can be used on", {
  profiles <- local_profiles(2)
  workers <- open_workers(profiles, 30)
  for (round in 1:3) {
    workers_heard(workers)
    got <- run_on_workers(workers, some_jobs(2), square, is_square)
    expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4))
    expect_identical(vapply(got, `[[`, 0L, "pid"), unname(pids(profiles)))
  }
})

test_that("a worker that has ended, hangs or returns something else is named, and its job goes to another", {
  jobs <- some_jobs(3)
  run <- function(profiles, f = square, patience = 30) {
    workers <- open_workers(profiles, patience)
    on.exit(tell_losses(workers))
    run_on_workers(workers, jobs, f, is_square)
  }
  profiles <- local_profiles(3)
  tools::pskill(pids(profiles)[2], tools::SIGKILL)
  expect_warning(got <- run(profiles, patience = 2), "worker 2 .* is lost: it (failed|was silent)",
    class = "multicause_worker_lost")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4, 9))
  if (!is.na(tools::SIGSTOP)) { # no process is stopped on Windows
    profiles <- local_profiles(3)
    hung <- pids(profiles)[1]
    tools::pskill(hung, tools::SIGSTOP)
    expect_warning(got <- run(profiles, patience = 2), "worker 1 .* was silent for 2 seconds",
      class = "multicause_worker_lost")
    tools::pskill(hung, tools::SIGKILL)
    expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4, 9))
  }
  profiles <- local_profiles(3)
  liar <- pids(profiles)[3]
  wrong <- eval(bquote(function(job) {
    list(number = if (Sys.getpid() == .(liar)) 0L else job$number, value = job$number^2)
  }), baseenv())
  expect_warning(got <- run(profiles, wrong), "worker 3 .* its result is not of the requested kind",
    class = "multicause_worker_lost")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4, 9))
  failing <- eval(quote(function(job) stop("no such disk")), baseenv())
  expect_error(suppressWarnings(run(profiles, failing)), "are lost: the last one because .*no such disk",
    class = "multicause_worker_lost")
})

test_that("a worker that has another version of the package, or none, is told from a broken one", {
  job <- list(version = "0.0.9", path = tempfile())
  expect_match(do_job(job)$why, "it has [0-9.]+ of multicause, not 0.0.9: install the same")
  profiles <- local_profiles(2)
  other <- pids(profiles)[2]
  answer <- eval(bquote(function(job) {
    if (Sys.getpid() == .(other)) return(structure(list(why = "it has 1 of it"), class = "unfit_worker"))
    list(number = job$number, value = job$number^2)
  }), baseenv())
  workers <- open_workers(profiles, 30)
  got <- run_on_workers(workers, some_jobs(2), answer, is_square)
  expect_warning(tell_losses(workers), "worker 2 .* is lost: it has 1 of it", class = "multicause_worker_lost")
  expect_identical(vapply(got, `[[`, 0, "value"), c(1, 4))
})

test_that("a node of a cluster that fails, has ended or returns something else is an error that names it", {
  skip_if_not_installed_here()
  cluster <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
  on.exit(for (i in 1:2) try(parallel::stopCluster(cluster[i]), silent = TRUE))
  pids <- unlist(parallel::clusterCall(cluster, Sys.getpid))
  run <- function(f) run_on_nodes(cluster, some_jobs(2), f, is_square)
  expect_identical(vapply(run(square), `[[`, 0L, "pid"), pids)
  lost <- function(f, why) expect_error(run(f), paste0("are lost: ", why), class = "multicause_worker_lost")
  lost(eval(quote(function(job) stop("no such disk")), baseenv()), ".*no such disk. Make new ones: with `checkpoint`")
  lost(eval(quote(function(job) list(number = 1L)), baseenv()), "of node 2, its result is not of the requested kind")
  # A pending scan of an interrupted call.
  job <- list(mark = "one", shards = 1:2, what = "iteration", to = 3L)
  expect_true(is_scan(list(of = job, nodes = list()), job))
  expect_false(is_scan(list(of = replace(job, "mark", "another"), nodes = list()), job))
  tools::pskill(pids[2], tools::SIGKILL)
  lost(square, ".*(connection|SIGPIPE)")
})

test_that("a cluster must be one that is known", {
  expect_error(fit_control(cluster = 2), "must be a cluster of parallel::makeCluster", class = "multicause_input_error")
  expect_error(
    fit_control(cluster = structure(list(), class = "cluster")), "must be a cluster of parallel::makeCluster",
    class = "multicause_input_error"
  )
  expect_error(
    aspect_bernoulli(diag(4), 2, control = fit_control(checkpoint = tempfile())), "has no effect here",
    class = "multicause_input_error"
  )
})

test_that("a silent worker is named, and patience follows the longest scan so far", {
  skip_on_os("windows") # no process is stopped there
  profiles <- local_profiles(2)
  workers <- open_workers(profiles, 3600)
  expect_identical(workers_patience(workers), 3600) # no scan is done
  run_on_workers(workers, some_jobs(2), square, is_square)
  expect_identical(workers_patience(workers), 60)
  workers$longest <- 7.2
  expect_identical(workers_patience(workers), 72)
  workers$longest <- 1e4
  expect_identical(workers_patience(workers), 3600)
  workers$longest <- 0.15
  bind_in_namespace("silent_seconds", 1)
  hung <- pids(profiles)[1]
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
