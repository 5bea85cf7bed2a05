# impute(): values of every model for unknown cells.

test_that("unknown cells get the fit's answer, observed ones stay, for every model", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), c("plca", "plsa"))) {
    fit <- fits[[name]]
    x <- fit_data(fit)
    filled <- impute(fit)
    known <- which(!is.na(x))
    expect_identical(dim(filled), dim(x), info = name)
    expect_equal(filled[known], x[known] + 0, info = name)
    expect_equal(filled[-known], fitted(fit)[-known], info = name)
  }
})

test_that("new observations are folded in; columns are matched by name", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), c("plca", "visits", "effort"))) {
    fit <- fits[[name]]
    new <- fit_data(fit)[c(1, 12), , drop = FALSE]
    new[1, 5] <- NA
    set.seed(1)
    answer <- predict(fit, new)
    set.seed(1)
    filled <- impute(fit, new)
    expect_identical(which(is.na(new)), 9L)
    expect_equal(filled[9], answer[9], info = name)
    expect_equal(filled[-9], unname(new[-9] + 0), info = name)
    set.seed(1)
    expect_equal(impute(fit, new[, 8:1])[, colnames(new)], filled, info = name, tolerance = 1e-6)
  }
})

test_that("what cannot be filled in is refused", {
  fit <- fits_of_all()$nmf
  fit["x"] <- list(NULL)
  expect_error(impute(fit), "keep_x", class = "multicause_input_error")
  expect_error(impute(fit, type = "mean"), "type", class = "multicause_input_error")
  expect_error(impute(list()), "`fit`", class = "multicause_input_error")
})

test_that("fitted and predicted probabilities lie within 0 and 1, however many cells are unknown", {
  few <- fit_control(n_start = 1, n_polish = 0, max_iter = 50, progress = FALSE)
  draws <- mcmc_control(
    chains = 1, warmup = 10, draws = 20, n_start = 1, n_reheat = 1, keep = 5, progress = FALSE
  )
  along <- function(x) smooth_over(age = seq_len(nrow(x)))
  models <- list(
    ml = function(x) aspect_bernoulli(x, 2, control = few),
    map = function(x) aspect_bernoulli(x, 2, estimate = "map", phantom = "white", smooth = along(x), control = few),
    vb = function(x) aspect_bernoulli(x, 2, estimate = "vb", control = few),
    gibbs = function(x) aspect_bernoulli(x, 2, estimate = "gibbs", control = draws),
    mixture = function(x) bernoulli_mixture(x, 2, estimate = "ml", control = few),
    pca = function(x) logistic_pca(x, 2, control = few), noisy = function(x) noisy_or(x, 2, control = few),
    variational = function(x) noisy_or(x, 2, inference = "variational", control = few),
    bmf = function(x) bmf(x, family = "bernoulli", control = draws), all = function(x) neighbours_mean(x),
    plain = function(x) neighbours_mean(x, similarity = 0), near = function(x) neighbours_mean(x, smooth = along(x)),
    members = function(x) ensemble(x, k = 2:3, control = few)
  )
  for (seed in 1:8) {
    set.seed(seed)
    n <- sample(5:14, 1)
    x <- matrix(rbinom(n * 6, 1, runif(1, 0.1, 0.9)), n)
    x[sample(length(x), length(x) * runif(1, 0, 0.7))] <- NA
    for (name in names(models)) {
      fit <- quiet_fit(models[[name]](x))$value
      p <- c(fitted(fit), quiet_fit(predict(fit, x[3:1, ]))$value)
      expect_true(all(p >= 0 & p <= 1), label = paste(name, "of seed", seed))
    }
  }
})
