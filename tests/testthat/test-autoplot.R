# Every view of plot() as a ggplot2 object that can be drawn. Also of R/result_plots.R.

views_of <- function(fit) {
  views <- eval(formals(getS3method("autoplot", intersect(class(fit), c(
    "aspect_bernoulli", "noisy_or", "plsa", "plca", "bmf", "multicause"
  ))[1L], envir = asNamespace("ggplot2")))$what)
  setdiff(views, c("curves", "map", "images", "simplex", if (all(fit$pinned == "free")) "phantom"))
}

test_that("autoplot() has the views of plot(), for every model", {
  fits <- fits_of_all()
  for (name in names(fits)) {
    views <- views_of(fits[[name]])
    expect_gt(length(views), 1L)
    for (what in views) drawn(ggplot2::autoplot(fits[[name]], what), list(c(4, 3)))
  }
  drawn(ggplot2::autoplot(fits$aspect_bernoulli, "phantom"))
  drawn(ggplot2::autoplot(fits$noisy_or, dim = c(2, 4)))
  drawn(ggplot2::autoplot(fits$bmf, "features", shape = c(2, 4)))
  drawn(ggplot2::autoplot(fits$aspect_bernoulli, age = stats::setNames(1:8, paste0("taxon", 1:8))))
  expect_error(ggplot2::autoplot(fits$nmf, "aspects"), "`what`", class = "multicause_input_error")
  expect_error(ggplot2::autoplot(fits$nmf, color = 1), "color", class = "multicause_input_error")
})

test_that("autoplot() has the views of smoothed fits and of three attributes", {
  set.seed(1)
  x <- outer(1:30, 1:6, function(i, j) (i <= 15) == (j <= 3)) * matrix(stats::rbinom(180, 1, 0.7), 30)
  near <- smooth_over(age = 30:1, place = cbind(stats::runif(30), stats::runif(30)), strength = 5)
  quick <- fit_control(n_start = 1, max_pass = 50, tol = 1e-4, progress = FALSE)
  fit <- aspect_bernoulli(x, 2, estimate = "map", smooth = near, control = quick)
  drawn(ggplot2::autoplot(fit, "curves"))
  drawn(ggplot2::autoplot(fit, "map", slices = 2))
  counts <- t(stats::rmultinom(20, 30, c(5, 3, 2)))
  drawn(ggplot2::autoplot(plsa(counts, 3, control = fit_control(n_start = 1, progress = FALSE)), "simplex"))
})

test_that("autoplot() of results", {
  set.seed(1)
  x <- outer(1:30, 1:8, function(i, j) (i <= 15) == (j <= 4)) * matrix(stats::rbinom(240, 1, 0.7), 30)
  few <- fit_control(n_start = 3, n_polish = 0, progress = FALSE, keep_starts = TRUE, screen = FALSE)
  drawn(ggplot2::autoplot(select_k(x, 1:2, bernoulli_mixture, c("aic", "cells"), folds = 2, control = few)))
  drawn(ggplot2::autoplot(cross_validate(x, bernoulli_mixture, 1:2, folds = 2, control = few)))
  two <- list(a = bernoulli_mixture, b = logistic_pca)
  drawn(ggplot2::autoplot(compare_models(x, two, 1, folds = 2, control = few)))
  planted <- corrupt(x, omit = c(0, 0.3))
  fit <- aspect_bernoulli(planted$x, 3, phantom = "white", control = few)
  drawn(ggplot2::autoplot(recovery(fitted(fit), planted)))
  drawn(ggplot2::autoplot(modes(fit)))
  drawn(ggplot2::autoplot(identifiability(fit)))
  drawn(ggplot2::autoplot(age_profile(fit, age = 8:1, of = "attribute")))
  drawn(ggplot2::autoplot(divergences(fits_of_all()$plca)))
  drawn(ggplot2::autoplot(ensemble(x, k = 2, members = 2)))
})

test_that("saved pictures have a background", {
  set.seed(1)
  fit <- quietly(nmf(matrix(rpois(60, 2), 10), 2, control = fit_control(n_start = 1, progress = FALSE)))
  expect_identical(ggplot2::autoplot(fit)$theme$plot.background$fill, "white")
})

test_that("a selection without any value is told", {
  set.seed(1)
  x <- matrix(rbinom(200, 1, 0.4), 20, 10)
  few <- fit_control(n_start = 1, max_pass = 20, n_polish = 0, progress = FALSE)
  unknown <- suppressWarnings(select_k(x, 1:2, criterion = "aic", estimate = "map", control = few))
  expect_error(plot(unknown), "all of its criteria are unknown", class = "multicause_input_error")
})
