test_that("quantiles of rows are those of quantile()", {
  set.seed(1)
  x <- matrix(sample(9, 60, TRUE) / 7, 6)
  x[1, ] <- NA
  x[2, -1] <- NA
  x[3:6, c(2, 5)] <- NA
  want <- apply(x, 1, stats::quantile, probs = 0.05, na.rm = TRUE, names = FALSE)
  expect_equal(row_quantiles(x, 0.05), want, tolerance = 1e-15)
  expect_identical(row_quantiles(x[1:2, 1, drop = FALSE], 0.05), want[1:2])
})

test_that("a grid whose best is at an end goes on, and says where that did not help", {
  half <- function(at, sign) at * 2^sign
  tried_of <- function(values, loss) {
    out <- search_grid(values, half, function(value) list(value = value, loss = loss(value)))
    c(out, list(values = vapply(out$tried, function(each) each$value, 0), best = best_setting(out$tried)))
  }
  low <- tried_of(c(1, 2, 4), function(value) (log2(value) + 2)^2)
  expect_identical(low$values, c(1, 2, 4, 1 / 2, 1 / 4, 1 / 8))
  expect_identical(low$values[low$best], 1 / 4)
  expect_identical(low$at_edge, NA_character_)
  high <- tried_of(c(1, 2, 4), function(value) -value)
  expect_identical(high$values, 2^(0:8))
  expect_identical(high$at_edge, "most")
  expect_identical(tried_of(c(1, 2, 4), identity)$at_edge, "least")
  none <- tried_of(c(0, 3, 10), identity)
  expect_identical(none[c("values", "at_edge")], list(values = c(0, 3, 10), at_edge = NA_character_))
  expect_identical(tried_of(c(1, 2, 4), function(value) 5)$values, c(1, 2, 4, 1 / 2)) # all equal: no more values
  # Losses of two folds; the bandwidth as a multiple of the typical distance, 1.
  smooth <- smooth_over(age = 1:30)
  one <- typical_distance(smooth)[["age"]]
  tried <- try_settings(smooth, function(bandwidth, strength) rep(bandwidth[["age"]] / one - strength, 2))
  expect_identical(attr(tried, "at_edge"), c(bandwidth = "least", strength = "most"))
  expect_equal(cv_table(tried)$bandwidth_age / one, c(1, 2, 4, 8, 2^-(1:6), rep(2^-6, 9)))
  expect_equal(cv_table(tried)$strength, c(rep(10, 10), 0, 3, 30, 100, 300, 1000, 3000, 10000, 30000))
})

test_that("a choice at the end of what was tried is told, by a message and in the result", {
  smooth <- smooth_over(age = 1:30)
  end <- function(loss) suppressMessages(take_best(smooth, try_settings(smooth, loss)))
  narrow <- function(bandwidth, strength) rep(bandwidth[["age"]] + (strength - 10)^2, 2)
  expect_message(
    take_best(smooth, try_settings(smooth, narrow)),
    "the smallest bandwidth that was tried is best: a smaller one", class = "multicause_message"
  )
  expect_identical(end(narrow)$at_edge, c(bandwidth = "least"))
  expect_output(print(end(narrow)), "the smallest bandwidth of those tried is the best")
  strong <- function(bandwidth, strength) rep((bandwidth[["age"]] - typical_distance(smooth) * 2)^2 - strength, 2)
  expect_identical(end(strong)$at_edge, c(strength = "most"))
  inside <- function(bandwidth, strength) rep((bandwidth[["age"]] - typical_distance(smooth) * 2)^2 + strength, 2)
  expect_silent(chosen <- take_best(smooth, try_settings(smooth, inside)))
  expect_null(chosen$at_edge)
  expect_identical(chosen$strength, 0)
})
