# Tests of the Gibbs sampler of the aspect Bernoulli model against exact results: enumeration over the causes of all
# cells, Geweke's joint test, simulation-based calibration.

gibbs_test_problem <- function(x, k, prior, phantom = "free") {
  data <- check_data(x, "binary", quiet = TRUE)
  fixed <- c(rep("free", k - length(ab_pins(phantom))), ab_pins(phantom))
  gibbs_problem(data, fixed, prior, mcmc_control(progress = FALSE))
}

gibbs_prior_state <- function(n, m, prior, fixed) {
  k <- length(fixed)
  gibbs_random_state(list(
    membership = matrix(prior$membership, n, k), one = matrix(prior$aspects[1], k, m),
    zero = matrix(prior$aspects[2], k, m)
  ), fixed)
}

# Statistics of a state that depend on no labels except fixed ones.
gibbs_statistics <- function(state, x, fixed) {
  p <- state$membership %*% state$aspects
  seen <- !is.na(x)
  kind <- ifelse(fixed == "free", "content", fixed)
  fit <- list(param = state)
  scores <- cell_scores.aspect_bernoulli(fit, seq_len(nrow(x)), kind)
  c(
    p = p, square = p[1, ]^2, loglik = sum(log(ifelse(x == 1, p, 1 - p))[seen]),
    spread = sum(state$membership^2), aspects = sum(state$aspects^2),
    share = if (any(kind != "content")) colMeans(state$membership)[kind != "content"],
    missed = if (any(kind == "white")) sum(scores$missed[seen & x == 0]),
    present = if (any(kind != "content")) mean(scores$present)
  )
}

# Independent posterior draws: causes of all cells from their exact probabilities, then parameters conditional on them.
gibbs_exact_draws <- function(x, prior, fixed, n_draw) {
  k <- length(fixed)
  cells <- which(!is.na(x))
  causes <- as.matrix(expand.grid(rep(list(seq_len(k)), length(cells))))
  row <- row(x)[cells]
  column <- col(x)[cells]
  tables <- function(z) {
    count <- function(keep) matrix(tabulate((column[keep] - 1) * k + z[keep], k * ncol(x)), k)
    list(
      rows = matrix(tabulate((z - 1) * nrow(x) + row, k * nrow(x)), nrow(x)), one = count(x[cells] == 1),
      zero = count(x[cells] == 0)
    )
  }
  free <- fixed == "free"
  weight <- apply(causes, 1, function(z) {
    n <- tables(z)
    if (any(n$one[fixed == "white", ] > 0) || any(n$zero[fixed == "black", ] > 0)) return(-Inf)
    sum(lgamma(prior$membership + n$rows)) +
      sum(lbeta(prior$aspects[1] + n$one[free, ], prior$aspects[2] + n$zero[free, ]))
  })
  picked <- sample.int(length(weight), n_draw, TRUE, exp(weight - max(weight)))
  lapply(picked, function(z) {
    n <- tables(causes[z, ])
    gibbs_random_state(list(
      membership = prior$membership + n$rows, one = prior$aspects[1] + n$one, zero = prior$aspects[2] + n$zero
    ), fixed)
  })
}

batch_error <- function(draws, n_batch = 40L) {
  size <- ncol(draws) %/% n_batch
  batch <- apply(draws[, seq_len(size * n_batch), drop = FALSE], 1, function(d) colMeans(matrix(d, size)))
  sqrt(apply(batch, 2, stats::var) / n_batch)
}

# z of every statistic: the chain's mean minus that of independent posterior draws.
gibbs_exact_z <- function(x, k, prior, phantom = "free", n_sweep = 20000, n_exact = 20000) {
  problem <- gibbs_test_problem(x, k, prior, phantom)
  fixed <- problem$fixed
  state <- gibbs_prior_state(nrow(x), ncol(x), prior, fixed)
  out <- gibbs_sweeps(problem, state, n_sweep, list(thin = 1, keep_every = 1))
  chain <- vapply(gibbs_kept(out, problem), gibbs_statistics, gibbs_statistics(state, x, fixed), x, fixed)
  exact <- vapply(
    gibbs_exact_draws(x, prior, fixed, n_exact), gibbs_statistics, gibbs_statistics(state, x, fixed), x, fixed
  )
  error <- sqrt(batch_error(chain)^2 + apply(exact, 1, stats::var) / n_exact)
  list(z = ((rowMeans(chain) - rowMeans(exact)) / error)[error > 1e-12], out = out, chain = chain)
}

draw_gibbs_data <- function(state, missing) {
  p <- state$membership %*% state$aspects
  x <- matrix(stats::rbinom(length(p), 1, p), nrow(p))
  x[missing] <- NA
  x
}

# Geweke's test: alternating sweeps and new data must reproduce the joint distribution of the model.
gibbs_geweke_z <- function(n, m, k, prior, phantom = "free", n_sweep = 5000, missing = 2) {
  fixed <- gibbs_test_problem(matrix(0, n, m), k, prior, phantom)$fixed
  state <- gibbs_prior_state(n, m, prior, fixed)
  x <- draw_gibbs_data(state, missing)
  like <- gibbs_statistics(state, x, fixed)
  chain <- vapply(seq_len(n_sweep), function(t) {
    problem <- gibbs_test_problem(x, k, prior, phantom)
    state <<- gibbs_sweeps(problem, state, 1)$state
    x <<- draw_gibbs_data(state, missing)
    gibbs_statistics(state, x, fixed)
  }, like)
  model <- vapply(seq_len(n_sweep), function(t) {
    state <- gibbs_prior_state(n, m, prior, fixed)
    gibbs_statistics(state, draw_gibbs_data(state, missing), fixed)
  }, like)
  error <- sqrt(batch_error(chain)^2 + apply(model, 1, stats::var) / n_sweep)
  ((rowMeans(chain) - rowMeans(model)) / error)[error > 1e-12]
}

# Ranks (0 .. n_draw) of the parameters that generated the data among thinned posterior draws; one row per statistic.
gibbs_sbc_ranks <- function(n, m, k, prior, phantom = "free", n_set = 100, n_draw = 19, thin = 20, warmup = 300) {
  fixed <- gibbs_test_problem(matrix(0, n, m), k, prior, phantom)$fixed
  one <- function(set) {
    truth <- gibbs_prior_state(n, m, prior, fixed)
    x <- draw_gibbs_data(truth, 2)
    problem <- gibbs_test_problem(x, k, prior, phantom)
    state <- gibbs_sweeps(problem, gibbs_prior_state(n, m, prior, fixed), warmup)$state
    out <- gibbs_sweeps(problem, state, thin * n_draw, list(thin = thin, keep_every = 1))
    at <- gibbs_statistics(truth, x, fixed)
    rowSums(vapply(gibbs_kept(out, problem), gibbs_statistics, at, x, fixed) < at)
  }
  vapply(seq_len(n_set), one, gibbs_statistics(gibbs_prior_state(n, m, prior, fixed), matrix(0, n, m), fixed))
}

# p values of a test for uniform ranks, one per statistic.
rank_p <- function(ranks, n_draw, bins = 5) {
  apply(ranks, 1, function(r) {
    suppressWarnings(stats::chisq.test(tabulate(r %/% ((n_draw + 1) / bins) + 1, bins))$p.value)
  })
}

# Checks that only the seed determines the chains: sparse tables, checkpoints, a chain interrupted in its draws,
# workers. run(x, ...): a fit after set.seed(9), `...` for mcmc_control(); problem(): settings common to its chains;
# other: another table.
hold_chains <- function(run, x, other, problem) {
  one <- run(x)
  same <- function(fit) {
    for (part in c("trace", "param", "cells", "spread", "prior")) expect_identical(fit[[part]], one[[part]])
  }
  same(run(Matrix::Matrix(x, sparse = TRUE)))
  file <- tempfile("run")
  on.exit(unlink(paste0(file, "-", 1:2, ".rds")))
  same(run(x, checkpoint = file, checkpoint_seconds = 0))
  expect_true(file.exists(paste0(file, "-2.rds")))
  # A chain interrupted in its draws resumes without a difference.
  saved <- readRDS(paste0(file, "-1.rds"))
  own <- problem(one)
  set.seed(9)
  job <- new_job(own, draw_streams(2)[[1]])
  for (step in 1:4) job <- one_step(job, own, NULL)
  expect_gt(job$n_draw, 0)
  saved$job <- job
  write_whole(saved, paste0(file, "-1.rds"))
  same(run(x, checkpoint = file))
  expect_error(run(other, checkpoint = file), class = "multicause_input_error")
  testthat::skip_on_cran()
  testthat::skip_if_not_installed("future")
  future::plan(future::multisession, workers = 2)
  on.exit(future::plan(future::sequential), add = TRUE)
  same(run(x))
}

# Draws of one chain interrupted after some sweeps.
interrupted_chain <- function(problem) {
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
  job <- run_chain(
    new_job(problem, draw_streams(1)[[1]]), problem, NULL, function(sweeps) if (sweeps > 800) stop(interrupt)
  )
  expect_true(job$stopped)
  job
}
