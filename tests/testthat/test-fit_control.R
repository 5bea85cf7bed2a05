# Guarantees of fit_control() about threads, iterations and memory.

skip_on_cran()

test_that("processes forked after a fit with two threads do their fits, too", {
  skip_on_os("windows") # it has no fork
  skip_if_not_installed_here()
  code <- "
    library(multicause)
    options(multicause.quiet = TRUE) # rows that happen to be equal are told on stderr, which run_child() reads
    set.seed(1)
    x <- matrix(stats::rbinom(40000, 1, 0.3), 2000)
    fit <- function(i) {
      set.seed(i)
      control <- fit_control(n_threads = 2, n_start = 1, max_iter = 5, tol = 0, progress = FALSE)
      gibbs <- mcmc_control(
        chains = 1, warmup = 2, draws = 4, n_start = 1, n_reheat = 0, start_sweeps = 2, n_threads = 2, progress = FALSE
      )
      c(
        aspect_bernoulli(x, 3, control = control)$loglik, plca(x, 3, control = control)$loglik,
        bmf(x, 2, 2, family = \"bernoulli\", control = gibbs)$loglik
      )
    }
    want <- lapply(1:2, function(i) suppressWarnings(fit(i)))
    # Jobs that wait for good are ended: they would outlive this process.
    jobs <- lapply(1:2, function(i) parallel::mcparallel(suppressWarnings(fit(i)), silent = TRUE))
    got <- parallel::mccollect(jobs, wait = FALSE, timeout = 20)
    more <- if (length(got) < 2L) parallel::mccollect(jobs[!vapply(jobs, function(job) job$pid, 0L) %in% names(got)],
      wait = FALSE, timeout = 10)
    for (job in jobs) tools::pskill(job$pid, tools::SIGKILL)
    got <- c(got, more)
    if (length(got) < 2L) quit(status = 1L)
    same <- identical(unname(got[order(as.integer(names(got)))]), want)
    apply <- parallel::mclapply(1:2, function(i) suppressWarnings(fit(i)), mc.cores = 2L)
    cat(same, identical(apply, want), identical(suppressWarnings(fit(1)), want[[1L]]), '\\n')
  "
  expect_identical(run_child(code), "TRUE TRUE TRUE ")
})

test_that("iterations and draws that are allowed cost nothing, those that are made do", {
  set.seed(1)
  x <- matrix(stats::rbinom(60, 1, 0.5), 10)
  most_memory <- function(code) {
    gc(reset = TRUE)
    force(code)
    gc()["Vcells", 6L]
  }
  before <- most_memory(NULL)
  many <- fit_control(max_iter = 3e7, n_start = 1, tol = 1e-6)
  for (model in list(aspect_bernoulli, bernoulli_mixture, nmf, plsa, plca, noisy_or)) {
    expect_lt(most_memory(suppressWarnings(model(x, 2, control = many))) - before, 100)
  }
})

test_that("the notes of draws take the memory of those made, and keep their order", {
  all <- NULL
  for (n in c(0L, 3L, 4L, 9L)) all <- append_notes(all, n, rbind(n + 1:5, 7))
  expect_identical(all[1L, 1:14], as.double(c(1:3, 4, 5:9, 10:14)))
  expect_lte(ncol(all), 28)
  expect_identical(append_notes(all, 14L, all[, 0L]), all)
})

test_that("a k that no table needs, or no machine can hold, is refused at once", {
  set.seed(1)
  x <- matrix(stats::rbinom(60, 1, 0.5), 10)
  quick <- fit_control(n_start = 1, max_iter = 1)
  short <- mcmc_control(chains = 1, warmup = 1, draws = 1, n_start = 1, n_reheat = 0, start_sweeps = 2)
  huge <- .Machine$integer.max
  models <- list(
    function(k) aspect_bernoulli(x, k, control = quick), function(k) bernoulli_mixture(x, k, control = quick),
    function(k) visits_bernoulli(list(x, x), k = k, estimate = "ml", control = quick),
    function(k) nmf(x, k, control = quick),
    function(k) plsa(x, k, control = quick), function(k) plca(x, k, control = quick),
    function(k) logistic_pca(x, k, control = quick), function(k) noisy_or(x, k, control = quick),
    function(k) aspect_bernoulli(x, k, estimate = "vb", control = quick),
    function(k) aspect_bernoulli(x, k, estimate = "gibbs", control = short),
    function(k) bmf(x, k, control = short)
  )
  took <- system.time(for (model in models) {
    expect_error(model(huge), "^`k` must be at most 1000 for a table of 10 x 6.*, not 2147483647\\.$",
      class = "multicause_input_error")
  })
  expect_lt(sum(took[1:2]), 5) # of the processor: other processes may keep the machine busy
  expect_error(bmf(x, 2, huge, control = short), "^`l` must be at most 1000", class = "multicause_input_error")
  expect_error(select_k(x, c(huge, huge - 1L), control = quick), "must be at most 1000")
  expect_true(is.na(machine_memory()) || machine_memory() > 1e7)
  bind_in_namespace("machine_memory", function() 1e6)
  expect_identical(check_k(133, c(100, 50)), 133L) # .8 of it, the most that one call may take, are 133.3 components
  expect_error(check_k(134, c(100, 50)), "this machine has 0.001", class = "multicause_input_error")
  expect_error(check_k(900, c(100, 50)), "^`k` = 900, for a table of 100 x 50, would need 0.0054 GB of memory",
    class = "multicause_input_error")
  expect_error(bmf(x, 300, 300, control = short), "`k` = 300 and `l` = 300, for a table of 10 x 6, would need",
    class = "multicause_input_error")
  bind_in_namespace("machine_memory", function() NA_real_)
  expect_identical(check_k(900, c(100, 50)), 900L)
})

test_that("a run of more sweeps than anybody waits for is told", {
  told <- "1 000 000 100 sweeps, `warmup` \\+ `draws` x `thin`"
  expect_message(mcmc_control(warmup = 1e9, draws = 10, thin = 10), told)
  expect_message(mcmc_control(draws = 2e6, thin = 100), "200 000 500 sweeps")
  expect_no_message(mcmc_control(draws = 1e5, thin = 10))
})

test_that("the warning of chains that disagree can be silenced alone, and chains go on until they agree", {
  set.seed(1)
  present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
  x <- present * rbinom(480, 1, 0.6)
  chains <- function(draws) mcmc_control(chains = 2, warmup = 0, draws = draws, init = "prior", progress = FALSE)
  sample <- function() suppressMessages(aspect_bernoulli(x, 2, estimate = "gibbs", control = chains(10)))
  expect_warning(sample(), class = "multicause_chains_disagree")
  expect_no_warning(fit <- suppressWarnings(sample(), classes = "multicause_chains_disagree"))
  expect_false(fit$converged)
  while (!fit$converged && nrow(fit$trace) < 2e4) {
    fit <- suppressWarnings(
      suppressMessages(update(fit, start = fit, control = chains(nrow(fit$trace)))),
      classes = "multicause_chains_disagree"
    )
  }
  expect_true(fit$converged)
})

test_that("every model reaches one optimum by all of its algorithms, and models differ by each algorithm", {
  set.seed(2)
  x <- random_bernoulli(ifelse(outer(1:60, 1:12, function(i, j) (i <= 35) == (j <= 6)), 0.8, 0.15))
  counts <- 3 * x + 1
  models <- list(
    ml = function(control) aspect_bernoulli(x, 2, estimate = "ml", control = control),
    map = function(control) aspect_bernoulli(x, 2, control = control),
    white = function(control) aspect_bernoulli(x, 3, phantom = "white", estimate = "ml", control = control),
    plsa = function(control) plsa(counts, 2, estimate = "ml", control = control),
    nmf = function(control) nmf(counts, 2, loss = "kl", control = control)
  )
  tried <- expand.grid(
    model = names(models), algorithm = c("em", "newton", "sparse", "auto"), accelerate = c(TRUE, FALSE),
    stringsAsFactors = FALSE
  )
  tried <- subset(tried, grepl("ml|map|white", model) | algorithm %in% c("em", "auto"))
  tried <- subset(tried, accelerate | algorithm %in% c("em", "auto"))
  tried$objective <- vapply(seq_len(nrow(tried)), function(i) {
    set.seed(3)
    control <- quiet_control(
      n_start = 5, max_iter = 20000, tol = 1e-11, algorithm = tried$algorithm[i], accelerate = tried$accelerate[i]
    )
    suppressWarnings(suppressMessages(models[[tried$model[i]]](control)))$objective
  }, 0)
  spans <- vapply(split(tried$objective, tried$model), function(at) diff(range(at)), 0)
  expect_lt(max(spans), 0.01)
  apart <- vapply(split(tried$objective, tried$algorithm), function(at) min(dist(unique(round(at, 1)))), 0)
  expect_gt(min(apart), 0.05)
})
