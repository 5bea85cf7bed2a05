# Four faunas through time in each of two provinces; taxon z lives only in the youngest zone, in both. Tests also
# R/smooth_plot.R.

skip_on_cran()

provinces <- function(n = 120, m = 32) {
  zone <- rep_len(1:12, n)
  north <- stats::rbinom(n, 1, 0.5)
  fauna <- findInterval(zone, c(1, 2, 6, 10)) + 4 * north
  present <- outer(fauna, rep_len(1:8, m), "==") * 0.9
  present <- cbind(present, ifelse(zone == 1, 0.9, 0))
  x <- matrix(stats::rbinom(length(present), 1, present * stats::runif(n, 0.6, 1)), n)
  colnames(x) <- c(paste0("t", seq_len(m)), "z")
  list(x = x, age = 3 * zone, place = cbind(lng = stats::runif(n), lat = 60 * north))
}

test_that("curves go by a bandwidth of age alone: no taxon spreads to times where it is not", {
  set.seed(3)
  data <- provinces()
  near <- smooth_over(age = data$age, place = data$place, bandwidth = c(age = 12, place = 300), strength = 5)
  control <- fit_control(n_start = 2, max_iter = 400, n_polish = 0, progress = FALSE)
  fit <- hush(aspect_bernoulli(data$x, 9, estimate = "map", phantom = "white", smooth = near, control = control))
  at <- sort(unique(data$age))
  z <- curves(fit, at = at, taxon = "z")
  joint <- curves(fit, at = at, taxon = "z", bandwidth = 12)
  # Far from the presences the curve is that of the sites' composition; near them it is not smoothed away.
  expected <- as.vector(composition_of(fit) %*% content_components(fit)[, "z"])
  off <- abs(cbind(alone = z$present, joint = joint$present) - as.vector(tapply(expected, data$age, mean)))
  expect_lt(max(off[at >= 12, "alone"]), 0.01)
  expect_gt(max(off[at >= 12, "joint"]), 0.03)
  expect_lt(off[1, "alone"], 0.5 * off[1, "joint"])
  expect_lt(attr(z, "bandwidth"), 3)
  expect_identical(attr(joint, "bandwidth"), 12)
  w <- exp(-abs(at[6] - data$age) / 12)
  expect_equal(joint$present[6], sum(w * expected) / sum(w), tolerance = 1e-6)
  # The same for the memberships, without the data, and where ages alone were supplied.
  bare <- fit
  bare$x <- NULL
  expect_equal(curves(bare, at = at, taxon = "z")$present, z$present)
  expect_identical(attr(curves(fit, "component", at = at), "bandwidth"), attr(z, "bandwidth"))
  alone <- hush(aspect_bernoulli(data$x, 3, smooth = smooth_over(age = data$age, bandwidth = 7, strength = 5),
                                 control = brief()))
  expect_identical(attr(curves(alone, at = 5), "bandwidth"), 7)
  expect_error(curves(fit, bandwidth = 0), class = "multicause_input_error")
})

test_that("the bandwidth of age is found where the ages of some sites, or all but one, are unknown or alike", {
  set.seed(4)
  data <- provinces(60, 8)
  fit_with_ages <- function(age) {
    near <- smooth_over(age = age, place = data$place, bandwidth = c(age = 5, place = 300), strength = 5)
    hush(aspect_bernoulli(data$x, 3, smooth = near, control = brief()))
  }
  some <- curves(fit_with_ages(replace(data$age, 1:30, NA)), taxon = "z")
  expect_false(anyNA(some$present))
  for (age in list(rep(3, 60), replace(rep(NA, 60), 7, 3))) {
    expect_false(anyNA(curves(fit_with_ages(age), taxon = "z")$present))
  }
  ranges <- fit_with_ages(cbind(data$age - 1, data$age + 1))
  expect_false(anyNA(curves(ranges, taxon = "z")$present))
})

test_that("no point of the record is left off the plot of its curve", {
  set.seed(12)
  data <- turnover(50, 9)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 5)
  fit <- hush(aspect_bernoulli(data$x, 4, estimate = "map", phantom = "white", smooth = near, control = brief()))
  fit$x[, 1] <- as.integer(data$age >= sort(data$age, decreasing = TRUE)[4]) # contradicts the curve
  share <- tapply(fit$x[, 1], age_bins(data$age), mean)
  expect_gt(max(share), 0.5)
  panels <- ggplot2::ggplot_build(ggplot2::autoplot(fit, "curves", taxon = 1))
  points <- panels$data[[5L]]
  expect_equal(points$y, as.vector(share))
  limits <- panels$layout$panel_params[[2L]]$y.range
  expect_true(limits[1L] <= min(share) && limits[2L] >= max(share))
})

# Coloured components of a figure, with some colours.
coloured <- function(figure) {
  scales <- ggplot2::ggplot_build(figure)$plot$scales
  sub(" .*", "", as.vector(scales$get_scales("fill")$get_breaks()))
}

test_that("components of which nothing is drawn are not in the legend", {
  set.seed(12)
  data <- turnover(50, 9)
  place <- cbind(lng = runif(50, 0, 20), lat = runif(50, 40, 50))
  near <- smooth_over(age = data$age, place = place, bandwidth = c(age = 1, place = 1000), strength = 5)
  fit <- hush(aspect_bernoulli(data$x, 7, estimate = "map", phantom = "white", smooth = near, control = brief()))
  fit$param$membership[, 4:6] <- 1e-12
  fit$param$membership[3, 6] <- 1
  fit$param$membership <- fit$param$membership / rowSums(fit$param$membership)
  expect_identical(coloured(ggplot2::autoplot(fit, "map")), c("A1", "A2", "A3", "A6"))
  fit$smooth$given$place[3, ] <- NA # a site that is not on the map
  expect_identical(coloured(ggplot2::autoplot(fit, "map")), c("A1", "A2", "A3"))
  expect_identical(coloured(ggplot2::autoplot(fit, "curves")), c("A1", "A2", "A3", "A6"))
})

test_that("draws give a curve its ends, for every model with neighbours", {
  fits <- fits_of_all()
  x <- fits$aspect_bernoulli$x
  x[is.na(x)] <- 0
  near <- smooth_over(age = 20:1, bandwidth = 3, strength = 2)
  few <- quiet_control(n_start = 1, n_polish = 0)
  again <- x * matrix(stats::rbinom(160, 1, 0.8), 20)
  smoothed <- suppressWarnings(list(
    aspect_bernoulli(x, 3, phantom = "white", smooth = near, control = few),
    plsa(3 * x, 2, smooth = near, control = few),
    bernoulli_mixture(x, 2, smooth = near, control = few),
    visits_bernoulli(list(x, again), 2, smooth = near, control = few)
  ))
  for (fit in smoothed) {
    draws <- with_seed(1, bootstrap_draws(fit, 8))
    kept <- c("bandwidth", "strength")
    for (draw in draws[1:2]) expect_identical(draw$smooth[kept], fit$smooth[kept])
    plain <- curves(fit, at = c(18, 3), taxon = 1:2)
    got <- curves(fit, at = c(18, 3), taxon = 1:2, draws = draws, level = 0.5)
    expect_identical(got[names(plain)], plain, ignore_attr = TRUE)
    value <- plain[[3]]
    each <- vapply(draws, function(draw) curves(draw, at = c(18, 3), taxon = 1:2)[[3]], value)
    expect_equal(got$low, pmin(apply(each, 1, quantile, 0.25), value))
    expect_equal(got$high, pmax(apply(each, 1, quantile, 0.75), value))
    expect_true(all(c("low", "high") %in% names(curves(fit, "component", at = 10, draws = draws))))
  }
  expect_error(curves(smoothed[[1]], draws = 5), "bootstrap_draws", class = "multicause_input_error")
  expect_error(curves(smoothed[[1]], draws = list(smoothed[[2]])), class = "multicause_input_error")
})

test_that("ages that are not finite, or all unknown, and draws of another size are refused", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- function(age, rows = 1:10) {
    aspect_bernoulli(x[rows, ], 2, smooth = smooth_over(age = age, bandwidth = 2),
      control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  }
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(curves(fit(1:10), at = Inf), "`at` must be finite ages, not Inf.")
  refused(curves(fit(rep(NA_real_, 10))), "`fit` must have ages: those of `smooth` are all unknown.")
  refused(curves(fit(1:10), draws = list(fit(1:5, 1:5))), "`draws` must have the 10 x 6 cells of the fit.")
  bare <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  refused(curves(fit(1:10), draws = list(bare)),
    "`draws` must be made with the ages of the sites, `smooth = smooth_over(age = )`, as `fit` was.")
})

test_that("draws of other components, and components of an average, are refused", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  fit <- function(k) aspect_bernoulli(x, k, smooth = smooth_over(age = 1:10, bandwidth = 2), control = brief)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(curves(fit(2), of = "component", draws = list(fit(3))), "`draws` must have the components of the fit.")
  refused(curves(ensemble(list(fit(2), fit(3))), of = "component"),
    "`of` must be \"taxon\" for an average of fits, because its members differ in their components.")
})
