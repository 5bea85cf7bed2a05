# Tables and fits for the tests of shards.

planted_table <- function(n = 240, m = 40, k = 3, missing = 60) {
  set.seed(8)
  membership <- matrix(stats::rexp(n * k)^2, n)
  probability <- (membership / rowSums(membership)) %*% matrix(stats::rbeta(k * m, 0.3, 4), k)
  x <- matrix(
    stats::rbinom(n * m, 1, probability), n, m,
    dimnames = list(sprintf("s%03d", seq_len(n)), sprintf("t%02d", seq_len(m)))
  ) + 0
  x[sample(n * m, missing)] <- NA
  x
}

# The same cells as records, in random order, some twice; a site without presences has a record as well.
as_records <- function(x) {
  at <- which(is.na(x) | x == 1, arr.ind = TRUE)
  records <- data.frame(site = rownames(x)[at[, 1L]], taxon = colnames(x)[at[, 2L]], found = x[at])
  records <- rbind(records, data.frame(site = rownames(x), taxon = NA, found = 0))
  set.seed(9)
  records <- rbind(records, records[1:20, ])
  records <- records[sample(nrow(records)), ]
  records$effort <- match(records$site, rownames(x))
  rownames(records) <- NULL
  records
}

shards_of <- function(records, ...) {
  shards(records, tempfile("shards-"), site = "site", taxon = "taxon", present = "found", site_data = "effort", ...)
}

start_of_shards <- function(x, k, white = FALSE) {
  set.seed(3)
  membership <- matrix(stats::runif(nrow(x) * k, 0.1, 1), nrow(x))
  aspects <- matrix(stats::runif(k * ncol(x), 0.02, 0.3), k)
  if (white) aspects[k, ] <- 0
  list(membership = membership / rowSums(membership), aspects = aspects)
}

# A fit with few iterations, without the warning of non-convergence.
short_fit <- function(x, k, ...) {
  withCallingHandlers(
    aspect_bernoulli(x, k, ...), multicause_not_converged = function(w) invokeRestart("muffleWarning")
  )
}

numbers_of <- function(fit) fit[c("param", "shares", "objective", "loglik", "trace", "converged")]

# Starting values of models whose basis is a distribution over the columns.
start_of_counts <- function(x, k) {
  start <- start_of_shards(x, k)
  list(membership = start$membership, basis = start$aspects / rowSums(start$aspects))
}

# Compares a fit to shards with that of the table, from the same starting values and with the same iterations.
hold_to_memory <- function(there, here) {
  expect_lt(abs(there$objective - here$objective), 1e-10 * abs(here$objective))
  expect_lt(abs(there$loglik - here$loglik), 1e-10 * abs(here$loglik))
  expect_identical(there$trace$iteration, here$trace$iteration)
  expect_equal(there$trace$objective, here$trace$objective, tolerance = 1e-10)
  expect_identical(there$df, here$df)
  expect_identical(names(there$objective), names(here$objective))
  expect_identical(nobs(there), nobs(here))
}

# Checks common to all fits to shards; own: the predict() type of the rows' parameters.
hold_verbs <- function(there, here, own) {
  expect_equal(coef(there)[[1L]], coef(here)[[names(coef(there))[1L]]], tolerance = 1e-6)
  expect_equal(predict(there, rows = c(200, 3)), predict(here)[c(200, 3), ], tolerance = 1e-6)
  expect_equal(predict(there, rows = "s017", type = own), predict(here, type = own)["s017", , drop = FALSE],
    tolerance = 1e-6)
  files <- predict(there, type = own, path = tempfile())
  expect_length(files, nrow(there$shards$shards))
  got <- do.call(rbind, lapply(files, utils::read.csv, row.names = 1, check.names = FALSE))
  expect_equal(as.matrix(got), predict(there, type = own), tolerance = 1e-12)
  expect_output(print(summary(there)), "of shards: ")
  for (generic in list(plot, residuals, simulate)) {
    expect_error(generic(there), "is not there for a fit to shards", class = "multicause_input_error")
  }
  expect_error(false_absences(there), class = "multicause_input_error")
  expect_identical(update(there)$trace, there$trace)
  expect_identical(nrow(update(there, control = fit_control(max_iter = 4, tol = 0))$trace), 4L)
  first <- names(coef(there))[1L]
  expect_equal(tidy(there, first)$estimate, tidy(here, first)$estimate, tolerance = 1e-6)
  expect_identical(glance(there)$iterations, nrow(there$trace))
}

# Compares streaming, 1 and 2 workers, and a fit that resumes after its driver was killed, on two workers or in one
# process.
hold_workers <- function(x, fit, kills = c(3, 7, 12)) {
  shard <- shards(x, tempfile(), size = 60)
  run <- function(..., max_iter = 20) fit(shard, fit_control(max_iter = max_iter, tol = 0, ...))
  alone <- run()
  cluster <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster))
  for (n in 1:2) expect_identical(numbers_of(run(cluster = cluster[seq_len(n)])), numbers_of(alone))
  hold_resumed(run, cluster, kills)
}

# Checks that a killed fit resumes without a difference, also elsewhere.
hold_resumed <- function(run, cluster = NULL, kills = c(3, 7, 12)) {
  for (accelerate in c(TRUE, FALSE)) {
    whole <- run(accelerate = accelerate)
    for (scans in kills) {
      folder <- tempfile()
      stop_after(scans, run(accelerate = accelerate, checkpoint = folder))
      iterations <- readRDS(file.path(folder, "state.rds"))$iterations
      if (scans > 3) expect_gt(iterations, 2)
      copy <- tempfile()
      dir.create(copy)
      file.copy(list.files(folder, full.names = TRUE), copy)
      left <- nrow(whole$trace) - iterations
      rest <- run(accelerate = accelerate, checkpoint = folder, max_iter = left)
      same <- c("param", "shares", "objective", "loglik")
      expect_identical(rest[same], whole[same])
      expect_identical(rest$trace$objective, utils::tail(whole$trace$objective, left))
      if (!is.null(cluster) && scans == kills[2L]) {
        there <- run(accelerate = accelerate, checkpoint = copy, max_iter = left, cluster = cluster)
        expect_identical(numbers_of(there), numbers_of(rest))
      }
    }
  }
}

# Evaluates a fit that is stopped, as if killed, in its n-th scan.
stop_after <- function(n, fit) {
  count <- 0
  trace_scans <- function(...) {
    count <<- count + 1
    if (count > n) stop("killed")
    scan(...)
  }
  scan <- scan_shards
  bind_in_namespace("scan_shards", trace_scans)
  expect_error(fit, "killed")
}

# Learners of which_zeros() and its result, with few iterations.
small_learners <- function(x, k = c(2, 3)) {
  quick <- fit_control(n_start = 1, n_polish = 0, max_iter = 20, tol = 0)
  shards_learners(shards(x, tempfile(), size = 80), k, 1, quick)
}

answer <- function(x, ..., control = fit_control(n_start = 1, n_polish = 0, max_iter = 30, tol = 1e-6)) {
  which_zeros(x, k = c(2, 3), seed = 1, control = control, ...)
}
