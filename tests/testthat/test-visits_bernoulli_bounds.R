# A sparse survey: two taxa found once each in 31 sites x 2 visits, eight never; and one whose visits all agree.
sparse <- array(0L, c(31, 10, 2), list(site = paste0("s", 1:31), taxon = paste0("t", 1:10), visit = 1:2))
sparse[3, 1, 1] <- sparse[9, 9, 2] <- 1L
quick <- fit_control(n_start = 1)
fit_of <- function(x, ...) suppressMessages(visits_bernoulli(x, 1, estimate = "ml", control = quick, ...))

test_that("a taxon put at all sites and hardly ever found is at the bound", {
  for (fit in list(fit_of(sparse, missed_by = "visit"), fit_of(sparse, detection = ~1, sharing = "none"))) {
    bounds <- visit_bounds(fit)
    expect_identical(which(bounds$everywhere), c(1L, 9L))
    expect_equal(sum(bounds$missed[c(1, 9)]), 60, tolerance = 0.01)
    expect_identical(which(bounds$silent), setdiff(1:10, c(1L, 9L)))
    expect_false(any(bounds$sure))
    expect_true(all(occupied(fit, "taxon")$bound))
    expect_output(print(fit), "At a bound \\(occupancy 1, .* \"t1\", \"t9\"")
    expect_output(print(occupied(fit)), "so without\\s+meaning")
    expect_output(print(false_absences(fit)), "At a bound")
  }
  expect_true(all(visits_needed(fit)$bound))
  expect_match(print_words(visits_needed(fit)), "bound: the estimate is at its bound")
})

test_that("visits that agree put detection at the bound of 1", {
  set.seed(2)
  once <- matrix(rbinom(310, 1, 0.3), 31)
  agreed <- array(once, c(31, 10, 2), dimnames(sparse))
  agreed[, 1, ] <- rbinom(62, 1, 0.5)
  fit <- fit_of(agreed, missed_by = "taxon")
  expect_identical(which(visit_bounds(fit)$sure), 2:10)
  expect_match(print_words(fit), "Detection is estimated at its bound of 1 for \"t2\"")
  by_site <- fit_of(agreed[, -1, ], missed_by = "site")
  expect_length(visit_bounds(by_site)$sure, 31L)
  expect_output(print(by_site), "Detection is estimated at its bound of 1 at \"s")
})

test_that("a well surveyed table has nothing at a bound, nor have draws", {
  set.seed(3)
  present <- matrix(rbinom(400, 1, 0.5), 40)
  good <- array(0L, c(40, 10, 3), list(site = NULL, taxon = NULL, visit = NULL))
  for (v in 1:3) good[, , v] <- present * rbinom(400, 1, 0.6)
  fit <- fit_of(good, missed_by = "taxon")
  expect_false(any(bound_taxa(visit_bounds(fit), 10)))
  expect_null(bound_sentences(fit))
  # Present everywhere and detected by two thirds of the visits: the number of misses is known.
  good[, 1, ] <- rbinom(120, 1, 0.65)
  fit <- fit_of(good, missed_by = "visit")
  expect_false(visit_bounds(fit)$everywhere[1])
  # The mode with a prior comes as near to 1 as its prior permits.
  fit <- suppressMessages(visits_bernoulli(sparse, 1, missed_by = "visit", control = quick))
  expect_gt(occupancy_edge(fit), 0.01)
  fit$visits <- NULL
  expect_null(visit_bounds(fit))
})

test_that("one species whose misses differ by site gets the advice to let them differ by visit", {
  # Found on one visit of three at each of a few sites: site-specific misses explain that by an occupancy of 1.
  once <- data.frame(y.1 = rep(c(1, 0, 0, 0, 0), 8), y.2 = rep(c(1, 1, 0, 0, 0), 8), y.3 = rep(c(0, 1, 0, 0, 0), 8))
  fit <- function(...) suppressMessages(visits_bernoulli(once, 1, ...))
  advice <- "One species does not distinguish misses that differ by site from absence: use `missed_by = \"visit\"`."
  expect_match(print_words(fit(missed_by = "site")), advice, fixed = TRUE)
  expect_no_match(capture.output(print(fit())), "One species does not")
  expect_no_match(capture.output(print(fit(missed_by = "visit"))), "One species does not")
})

test_that("many visits are told by the range of their probabilities", {
  expect_identical(probabilities_by_visit(c(0.2, seq(0.3, 0.39, 0.01)), NULL),
    "a visit with probability 0.2 to 0.39 (11 visits)")
  expect_identical(probabilities_by_visit(rep(0.2, 11), NULL), "a visit with probability 0.2 (11 visits)")
  expect_match(probabilities_by_visit(c(0.2, 0.3), NULL), "visit 1 with probability 0.2, visit 2 with probability 0.3")
})
