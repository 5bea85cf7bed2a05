# Surveys whose second half of sites was visited late, when little is found.
late_visits <- function() {
  set.seed(51)
  present <- outer(1:60, 1:12, function(i, j) (i %% 2 == 0) == (j <= 6)) * matrix(rbinom(720, 1, 0.7), 60)
  day <- matrix(runif(180, 0, 1), 60) + rep(c(0, 1.5), each = 30)
  cell <- array(0L, c(60, 12, 3), list(site = paste0("s", 1:60), species = paste0("t", 1:12), visit = 1:3))
  for (v in 1:3) cell[, , v] <- present * rbinom(720, 1, plogis(1.2 - 1.6 * day[, v]))
  recorded <- 1 - Reduce(`*`, lapply(1:3, function(v) 1 - plogis(1.2 - 1.6 * day[, v])))
  list(visits = cell, day = day, wet = rep(0:1, 30), recorded = recorded)
}
case <- late_visits()

test_that("what visits miss goes by covariates", {
  by_day <- which_zeros(
    visits = case$visits, detection = ~day, visit_data = list(day = case$day), communities = ~wet,
    site_data = data.frame(wet = case$wet), quick = TRUE, seed = 1
  )
  expect_equal(by_day$completeness$estimate, case$recorded, tolerance = 0.15)
  plain_answer <- which_zeros(visits = case$visits, quick = TRUE, seed = 1)
  off <- function(w) mean(abs(w$completeness$estimate - case$recorded))
  expect_lt(off(by_day), off(plain_answer))
  # A list as package spOccupancy has it brings its covariates along; sites can be left out.
  packed <- list(
    y = aperm(case$visits, c(2, 1, 3)), det.covs = list(day = case$day), occ.covs = data.frame(wet = case$wet)
  )
  short <- which_zeros(visits = packed, detection = ~day, leave_out = 1:5, quick = TRUE, seed = 1)
  expect_identical(short$dims[["n"]], 55L)
  expect_gt(cor(short$completeness$estimate, case$recorded[-(1:5)]), 0.9)
})

test_that("the share that visits miss is what the fit's own rates say", {
  given <- list(cell = suppressMessages(check_visits(case$visits)))
  control <- fit_control(n_start = 1, progress = FALSE)
  set.seed(2)
  share <- unrecorded_share(given, 2, control)
  set.seed(2)
  fit <- suppressWarnings(suppressMessages(visits_bernoulli(case$visits, 2, control = control)))
  expect_equal(share, unname(apply(fit$param$missed, 1, prod)))
})

test_that("covariates without visits, or without a formula, are refused", {
  x <- apply(case$visits, 1:2, max)
  expect_snapshot(error = TRUE, {
    which_zeros(x, detection = ~day)
    which_zeros(x, site_data = data.frame(wet = case$wet))
    which_zeros(visits = case$visits, visit_data = list(day = case$day))
    which_zeros(visits = case$visits, detection = ~night, visit_data = list(day = case$day))
    which_zeros(visits = case$visits, communities = ~day, visit_data = list(day = case$day))
  })
})

test_that("how visits are taken is said of them, and advises no argument that is not there", {
  visits <- unname(case$visits)
  dimnames(visits) <- NULL
  said <- tryCatch(which_zeros(visits = visits, quick = TRUE), message = conditionMessage)
  expect_match(said, "`visits` is taken as 60 sites x 12 taxa x 3 visits")
  expect_match(said, "names(dimnames(visits))", fixed = TRUE)
  expect_no_match(said, "`sides", fixed = TRUE)
})
