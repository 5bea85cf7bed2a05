# The Gibbs sampler of the aspect Bernoulli model against exact answers: enumeration over the causes of all cells,
# Geweke's joint test, simulation-based calibration.

gibbs_test_problem <- function(x, k, prior, phantom = "free") {
  data <- check_data(x, "binary", quiet = TRUE)
  pinned <- c(rep("free", k - length(ab_pins(phantom))), ab_pins(phantom))
  gibbs_problem(data, pinned, prior, mcmc_control(progress = FALSE))
}

gibbs_prior_state <- function(n, m, prior, pinned) {
  k <- length(pinned)
  gibbs_random_state(list(
    membership = matrix(prior$membership, n, k), one = matrix(prior$aspects[1], k, m),
    zero = matrix(prior$aspects[2], k, m)
  ), pinned)
}

# What is compared of a state: nothing that depends on labels beyond those pinned.
gibbs_statistics <- function(state, x, pinned) {
  p <- state$membership %*% state$aspects
  seen <- !is.na(x)
  kind <- ifelse(pinned == "free", "content", pinned)
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

# Independent draws from the posterior: causes of all cells by their exact probabilities, parameters given them.
gibbs_exact_draws <- function(x, prior, pinned, n_draw) {
  k <- length(pinned)
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
  free <- pinned == "free"
  weight <- apply(causes, 1, function(z) {
    n <- tables(z)
    if (any(n$one[pinned == "white", ] > 0) || any(n$zero[pinned == "black", ] > 0)) return(-Inf)
    sum(lgamma(prior$membership + n$rows)) +
      sum(lbeta(prior$aspects[1] + n$one[free, ], prior$aspects[2] + n$zero[free, ]))
  })
  picked <- sample.int(length(weight), n_draw, TRUE, exp(weight - max(weight)))
  lapply(picked, function(z) {
    n <- tables(causes[z, ])
    gibbs_random_state(list(
      membership = prior$membership + n$rows, one = prior$aspects[1] + n$one, zero = prior$aspects[2] + n$zero
    ), pinned)
  })
}

batch_error <- function(draws, n_batch = 40L) {
  size <- ncol(draws) %/% n_batch
  batch <- apply(draws[, seq_len(size * n_batch), drop = FALSE], 1, function(d) colMeans(matrix(d, size)))
  sqrt(apply(batch, 2, stats::var) / n_batch)
}

# z of every statistic: the chain's mean less that of independent draws from the posterior.
gibbs_exact_z <- function(x, k, prior, phantom = "free", n_sweep = 20000, n_exact = 20000) {
  problem <- gibbs_test_problem(x, k, prior, phantom)
  pinned <- problem$pinned
  state <- gibbs_prior_state(nrow(x), ncol(x), prior, pinned)
  out <- gibbs_sweeps(problem, state, n_sweep, list(thin = 1, keep_every = 1))
  chain <- vapply(gibbs_kept(out, problem), gibbs_statistics, gibbs_statistics(state, x, pinned), x, pinned)
  exact <- vapply(
    gibbs_exact_draws(x, prior, pinned, n_exact), gibbs_statistics, gibbs_statistics(state, x, pinned), x, pinned
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

# Sweeps alternate with fresh data: the joint distribution of the model must come out.
gibbs_geweke_z <- function(n, m, k, prior, phantom = "free", n_sweep = 5000, missing = 2) {
  pinned <- gibbs_test_problem(matrix(0, n, m), k, prior, phantom)$pinned
  state <- gibbs_prior_state(n, m, prior, pinned)
  x <- draw_gibbs_data(state, missing)
  like <- gibbs_statistics(state, x, pinned)
  chain <- vapply(seq_len(n_sweep), function(t) {
    problem <- gibbs_test_problem(x, k, prior, phantom)
    state <<- gibbs_sweeps(problem, state, 1)$state
    x <<- draw_gibbs_data(state, missing)
    gibbs_statistics(state, x, pinned)
  }, like)
  model <- vapply(seq_len(n_sweep), function(t) {
    state <- gibbs_prior_state(n, m, prior, pinned)
    gibbs_statistics(state, draw_gibbs_data(state, missing), pinned)
  }, like)
  error <- sqrt(batch_error(chain)^2 + apply(model, 1, stats::var) / n_sweep)
  ((rowMeans(chain) - rowMeans(model)) / error)[error > 1e-12]
}

# Ranks of what data were drawn from among thinned draws given the data, 0 .. n_draw; one row a statistic.
gibbs_sbc_ranks <- function(n, m, k, prior, phantom = "free", n_set = 100, n_draw = 19, thin = 20, warmup = 300) {
  pinned <- gibbs_test_problem(matrix(0, n, m), k, prior, phantom)$pinned
  one <- function(set) {
    truth <- gibbs_prior_state(n, m, prior, pinned)
    x <- draw_gibbs_data(truth, 2)
    problem <- gibbs_test_problem(x, k, prior, phantom)
    state <- gibbs_sweeps(problem, gibbs_prior_state(n, m, prior, pinned), warmup)$state
    out <- gibbs_sweeps(problem, state, thin * n_draw, list(thin = thin, keep_every = 1))
    at <- gibbs_statistics(truth, x, pinned)
    rowSums(vapply(gibbs_kept(out, problem), gibbs_statistics, at, x, pinned) < at)
  }
  vapply(seq_len(n_set), one, gibbs_statistics(gibbs_prior_state(n, m, prior, pinned), matrix(0, n, m), pinned))
}

# Are ranks uniform? p values, one a statistic.
rank_p <- function(ranks, n_draw, bins = 5) {
  apply(ranks, 1, function(r) {
    suppressWarnings(stats::chisq.test(tabulate(r %/% ((n_draw + 1) / bins) + 1, bins))$p.value)
  })
}

# The seed alone decides: sparse tables, checkpoints, a chain cut off in its draws, workers. run(x, ...): a fit after
# set.seed(9), `...` for mcmc_control(); problem(): what its chains share; other: another table.
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
  # A chain cut off in its draws goes on as if nothing had happened.
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

# Draws of one chain that is interrupted after some sweeps.
interrupted_chain <- function(problem) {
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
  job <- run_chain(
    new_job(problem, draw_streams(1)[[1]]), problem, NULL, function(sweeps) if (sweeps > 800) stop(interrupt)
  )
  expect_true(job$stopped)
  job
}
