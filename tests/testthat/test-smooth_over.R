# What smooth_over() takes, and what it says.

test_that("bandwidths print without padding, and `along` says what it has", {
  near <- smooth_over(age = 1:6, distance = dist(1:6), bandwidth = c(age = 3, distance = 300), strength = 5)
  expect_output(print(near), "bandwidth: age 3, distance 300\n", fixed = TRUE)
  fit <- aspect_bernoulli(matrix(rbinom(30, 1, 0.5), 6), 2, smooth = near, control = fit_control(n_start = 1))
  expect_error(predict(fit, along = list(age = 3)), "it has \"age\"", class = "multicause_input_error")
})

test_that("bandwidths of two covariates are asked for by name, and dates and factors are called what they are", {
  place <- cbind(lng = 1:3, lat = 4:6)
  expect_error(
    smooth_over(age = 1:3, place = place, bandwidth = c(1, 2)), "positive numbers named \"age\", \"place\"",
    class = "multicause_input_error"
  )
  expect_error(smooth_over(age = as.Date("2020-01-01") + 1:3), "not an object of class \"Date\"")
  expect_error(smooth_over(age = factor(1:3)), "not an object of class \"factor\"")
})

test_that("distances of a data frame without names, which dist() numbers, go by order", {
  x <- early_tetrapods$x
  places <- data.frame(x = 1000 * early_tetrapods$sites$lng, y = 1000 * early_tetrapods$sites$lat)
  expect_error(smooth_over(place = places), "Projected coordinates go in by `distance = dist[(][)]`")
  few <- fit_control(n_start = 1, max_pass = 5, progress = FALSE)
  fit_with <- function(distance, x) {
    set.seed(1)
    near <- smooth_over(distance = distance, bandwidth = 5000, strength = 5)
    suppressWarnings(aspect_bernoulli(x, 2, smooth = near, control = few))$param
  }
  named <- as.matrix(dist(places))
  dimnames(named) <- list(rownames(x), rownames(x))
  expect_identical(fit_with(dist(places), x), fit_with(named, x))
  expect_error(fit_with(dist(places), x[-1, ]), "must be of the 128 rows of `x`, not of 129 observations")
  rownames(x) <- seq_len(nrow(x)) # names that are numbers are names
  expect_identical(dim(fit_with(dist(places), x[-1, ])$membership), c(128L, 2L))
})
