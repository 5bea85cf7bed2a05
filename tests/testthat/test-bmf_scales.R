# Edge cases of bmf(): empty tables, values on any scale, flat and informative priors. Tests R/bmf_prior.R.

skip_on_cran()

test_that("degenerate tables and numbers of features are legal", {
  set.seed(3)
  small <- bmf_quick(draws = 6, warmup = 4, start_sweeps = 5)
  for (x in list(matrix(1.5), matrix(rnorm(5), 1), matrix(rnorm(5), 5), matrix(0, 4, 3), matrix(NA_real_, 3, 2))) {
    fit <- suppressMessages(bmf_quietly(bmf(x, control = small)))
    expect_true(all(is.finite(fitted(fit))))
  }
  for (x in list(matrix(0, 4, 3), matrix(1, 4, 3))) {
    expect_true(all(is.finite(fitted(bmf_quietly(bmf(x, family = "bernoulli", control = small))))))
    expect_true(all(is.finite(fitted(bmf_quietly(bmf(x, family = "poisson", control = small))))))
  }
  x <- matrix(rnorm(20), 5)
  for (size in list(c(0, 0), c(0, Inf), c(2, 0), c(2, 3), c(Inf, 1))) {
    fit <- bmf_quietly(bmf(x, size[1], size[2], control = small))
    expect_true(all(is.finite(fitted(fit))))
    if (is.finite(size[1])) expect_equal(ncol(fit$param$rows), size[1])
  }
})

test_that("vague priors, whose draws underflow, and data on any scale leave finite chains", {
  set.seed(2)
  x <- matrix(stats::rnorm(30), 6)
  short <- bmf_quick(chains = 1, warmup = 10, draws = 20, n_start = 2, start_sweeps = 10)
  vague <- c(shape = 1e-3, rate = 1)
  expect_finite <- function(...) {
    set.seed(3)
    fit <- bmf(..., control = short)
    expect_true(all(is.finite(as.matrix(fit$trace))))
    expect_true(all(is.finite(fit$mean)))
    expect_lt(max(fit$trace$row_features), 50)
  }
  expect_finite(x, prior = bmf_prior(alpha = vague))
  expect_finite(x, prior = bmf_prior(weight_precision = vague))
  expect_finite(x, 0, 0, prior = bmf_prior(weight_precision = vague, noise_precision = vague))
  counts <- matrix(stats::rpois(30, 2), 6)
  expect_finite(0 * counts, family = "poisson", prior = bmf_prior(background = vague))
  expect_finite(counts, family = "poisson", prior = bmf_prior(vague, weight_precision = vague,
    weight_shape = vague, background = vague))
  expect_finite((x > 0) + 0, 0, 0, family = "bernoulli", prior = bmf_prior(weight_precision = vague))
  for (scale in c(1e-160, 1e-90, 1e90)) expect_finite(x * scale)
  expect_error(bmf(x * 1e160, control = short), "rescaled", class = "multicause_input_error")
  expect_error(bmf(x, prior = bmf_prior(weight_precision = 1e-300), control = short), "no digit left",
    class = "multicause_input_error")
})

test_that("births follow the prior where one row alone expects many features", {
  prior <- bmf_prior(alpha = list(rows = 150, columns = c(shape = 1, rate = 1)))
  for (moves in list("block", "collapsed")) {
    set.seed(4)
    many <- bmf_quick(chains = 1, warmup = 5, draws = 100, init = "prior", moves = moves)
    fit <- bmf(matrix(c(0.5, -1), 1), l = 0, prior = prior, control = many)
    expect_lt(abs(mean(fit$trace$row_features) - 150), 4 * sqrt(150 / 100))
  }
})

test_that("default priors know the variance of values far from 0, dense or sparse", {
  x <- matrix(c(0, 2, 1, 3), 2)
  rate <- function(x) {
    bmf_scale_prior(bmf_prior(), "gaussian", bmf_data(x, "gaussian", quiet = TRUE))$noise_precision[["rate"]]
  }
  expect_equal(rate(x), 1.25)
  expect_equal(rate(x + 1e9), 1.25)
  expect_equal(rate(Matrix::Matrix(x, sparse = TRUE)), 1.25)
})

test_that("a side without features is legal for every family and move", {
  set.seed(15)
  none <- function(n) matrix(1, n, 0)
  for (family in c("gaussian", "bernoulli", "poisson")) {
    moves <- c("block", "multi", if (family != "poisson") "split_merge")
    control <- bmf_quick(draws = 10, warmup = 10, start_sweeps = 10, moves = moves, tries = 3)
    x <- matrix(rbinom(40, 1, 0.4), 8)
    for (size in list(c(3, 0), c(0, 3), c(0, Inf), c(Inf, 0))) {
      fit <- bmf_quietly(bmf(
        x, size[1], size[2],
        family = family, fixed = list(rows = none(8), columns = none(5)), control = control
      ))
      expect_true(all(is.finite(fitted(fit))))
    }
  }
})

test_that("update() scales default priors to the data and family it is given", {
  set.seed(15)
  x <- matrix(stats::rnorm(30), 6)
  own <- bmf_prior(noise_precision = 2)
  fit <- bmf(x, 1, 1, prior = own, control = bmf_quick(chains = 1, draws = 5, warmup = 5))
  rm(own)
  again <- update(fit, x = 1000 * x)
  expect_identical(again$prior$noise_precision, 2)
  expect_equal(again$prior$weight_precision[["rate"]], 1e6 * fit$prior$weight_precision[["rate"]])
  expect_identical(update(fit)$prior, fit$prior)
  counts <- matrix(stats::rpois(30, 3), 6)
  expect_equal(update(fit, x = counts, family = "poisson")$prior$background, 0.01 * mean(counts))
})
