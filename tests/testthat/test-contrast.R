# Comparison of groups: the range is that of the difference between many such sites. See also test-which_zeros.R.

test_that("of sites dealt into groups at random few ranges leave out 0", {
  sites <- early_tetrapods$sites
  w <- which_zeros(early_tetrapods$x, age = sites[c("max_ma", "min_ma")], quick = TRUE, seed = 1)
  set.seed(5)
  out <- replicate(40, {
    groups <- sample(rep(c("a", "b"), c(40, 89)))
    vapply(c("share", "richness"), function(of) {
      pair <- contrast(w, groups, of = of)
      pair$low > 0 || pair$high < 0
    }, NA)
  })
  # With 40 trials and probability .1, 9 or more occur once in 70 times; with .25 or more, as with draws of the total
  # alone, fewer than 9 are as rare.
  expect_lt(max(rowSums(out)), 9)
  # Groups that do differ are still distinguished.
  rich <- rowSums(early_tetrapods$x) > 6
  expect_lt(contrast(w, ifelse(rich, "rich", "poor"), of = "richness")$above, 0.01)
})

test_that("the scatter of sites is in the range, by hand", {
  sites <- data.frame(presences = c(4, 6, 5, 1, 2, 3, 9), missed = c(1, 2, 1.5, 3, 1, 2, 0.5))
  group <- factor(c("a", "a", "a", "b", "b", "b", NA))
  sums <- data.frame(presences = c(15, 6), missed = c(4.5, 6))
  drawn <- cbind(sums$missed, sums$missed) # a known total
  told <- compare_pairs(group, sums, sites, drawn, "richness")
  there <- (sites$presences + sites$missed)[1:6]
  squares <- c(sum((there[1:3] - mean(there[1:3]))^2), sum((there[4:6] - mean(there[4:6]))^2))
  each <- (squares + 5 * sum(squares) / 4) / 7 / 3
  df <- sum(each)^2 / sum(each^2 / 7)
  middle <- mean(there[1:3]) - mean(there[4:6])
  expect_equal(told$difference, middle)
  expect_equal(told$high - middle, sqrt(sum(each)) * qt(0.95, df), tolerance = 0.04)
  expect_equal(told$low - middle, sqrt(sum(each)) * qt(0.05, df), tolerance = 0.04)
  none <- compare_pairs(group, sums, sites, 0 * drawn, "missed")
  expect_identical(c(none$low, none$high > 0), c(-1.5, FALSE)) # possibly nothing was missed
  expect_true(all(abs(unlist(compare_pairs(group, sums, sites, drawn, "share")[c("low", "high")])) <= 1))
})

test_that("sites that are each a group of their own tell nothing of what sites scatter", {
  w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
  expect_error(contrast(w, 1:120), "two sites at least", class = "multicause_input_error")
})

test_that("a single draw has the range of sites alone", {
  set.seed(1)
  x <- matrix(rbinom(360, 1, 0.4), 30)
  fit <- suppressWarnings(aspect_bernoulli(x, 2, phantom = "white", control = fit_control(n_start = 1, max_iter = 20)))
  one <- contrast(fit, rep(1:2, 15), draws = list(fit))
  expect_true(one$low < one$difference && one$high > one$difference)
})

test_that("groups that are none, and draws beside those of a result, are refused", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  fit <- aspect_bernoulli(x, 2, control = brief)
  w <- suppressMessages(which_zeros(simulated_sites$x[1:60, ], quick = TRUE, seed = 1))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(contrast(fit, groups = NULL), "`groups` must be the group of each site, not NULL.")
  refused(contrast(w, rep(1:2, 30), draws = list(1)), "`draws` are for fits: a result of which_zeros() has its own.")
})
