# The generator's state before a fit is stored, and reproduces the fit.

skip_on_cran()

test_that("fits keep the state from which their starts were drawn, and give themselves again from it", {
  few <- fit_control(n_start = 3, progress = FALSE)
  chains <- mcmc_control(chains = 2, warmup = 10, draws = 20, progress = FALSE)
  set.seed(11)
  x <- matrix(rbinom(300, 1, 0.4), 30, 10)
  made <- list(
    function(x) aspect_bernoulli(x, 2, control = few), function(x) bernoulli_mixture(x, 2, control = few),
    function(x) logistic_pca(x, 2, control = few), function(x) nmf(x, 2, control = few),
    function(x) plsa(x, 2, control = few), function(x) noisy_or(x, 2, control = few),
    function(x) aspect_bernoulli(x, 2, estimate = "gibbs", control = chains), function(x) bmf(x, control = chains)
  )
  copy <- unserialize(serialize(x, NULL))
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  for (make in made) {
    set.seed(5)
    fit <- suppressWarnings(suppressMessages(make(x)))
    expect_identical(x, copy)
    set.seed(5)
    expect_identical(fit$seed, get(".Random.seed", globalenv()))
    expect_false(any(grepl("Random numbers", utils::capture.output(print(summary(fit))))))
    expect_identical(suppressWarnings(suppressMessages(make(sparse)))$param, fit$param)
    stats::runif(7)
    assign(".Random.seed", fit$seed, globalenv())
    again <- suppressWarnings(suppressMessages(update(fit)))
    expect_identical(again$param, fit$param)
    expect_identical(again$seed, fit$seed)
  }
  given <- bernoulli_mixture(x, 2, start = list(weights = c(0.5, 0.5), prototypes = rbind(x[1, ], x[2, ]) * 0.8 + 0.1))
  expect_null(given$seed)
})

test_that("a session without a state of its generator keeps the kind that it had", {
  old <- RNGkind()
  state <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit({
    suppressWarnings(RNGkind(old[1L], old[2L], old[3L]))
    if (!is.null(state)) assign(".Random.seed", state, globalenv())
  })
  RNGkind("Wichmann-Hill")
  rm(".Random.seed", envir = globalenv())
  with_seed(1, stats::runif(1L))
  expect_identical(RNGkind()[1L], "Wichmann-Hill")
  expect_null(get0(".Random.seed", globalenv(), inherits = FALSE))
  set.seed(1, kind = "L'Ecuyer-CMRG")
  stream <- get(".Random.seed", globalenv())
  RNGkind("Wichmann-Hill")
  rm(".Random.seed", envir = globalenv())
  with_stream(stream, function() stats::runif(1L))
  expect_identical(RNGkind()[1L], "Wichmann-Hill")
  expect_null(get0(".Random.seed", globalenv(), inherits = FALSE))
})

test_that("what is called back from a sampler may draw, and changes no draw of the sampler", {
  data <- check_data(simulated_sites$x[1:60, 1:20], "binary", quiet = TRUE)
  prior <- list(membership = 1, aspects = c(1, 1))
  problem <- gibbs_problem(data, rep("free", 3), prior, mcmc_control(progress = FALSE))
  set.seed(3)
  state <- list(membership = random_simplex(60, 3), aspects = random_unit(3, 20))
  run <- function(on_tick) {
    set.seed(4)
    out <- gibbs_sweeps(problem, state, 2000, on_tick = on_tick)$state
    list(out, stats::runif(1))
  }
  ticks <- 0
  drawing <- run(function(iteration, objective) {
    ticks <<- ticks + 1
    stats::rnorm(3)
    RNGkind("Wichmann-Hill")
  })
  expect_gt(ticks, 0)
  expect_identical(drawing, run(NULL))
})
