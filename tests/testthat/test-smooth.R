# The equations of smooth.h, slow version: the terms of the objective besides the log-posterior.

skip_on_cran()

ref_smooth <- function(membership, white, weight, strength, recording) {
  content <- membership[, !white, drop = FALSE]
  u <- rowSums(content)
  t <- content / u
  share <- cbind(u, membership[, white])
  strength * sum(log(rowSums(sqrt(t * (weight %*% t))))) +
    recording * sum(log(rowSums(sqrt(share * rep(colMeans(share), each = nrow(share)))))) +
    recording * sum(log(colMeans(share)))
}

test_that("the objective is the transcription of its formula, NA and ties included", {
  set.seed(1)
  few <- c(1, 1, 1.5, 2, NA, 3, NA, 1)
  for (age in list(few, sample(c(few, 4:9), three_blocks(64), TRUE))) {
    n <- length(age)
    x <- matrix(rbinom(n * 5, 1, 0.5), n)
    start <- simplex_start(n, 5, 3, TRUE)
    near <- smooth_over(age = age, bandwidth = 2, strength = 7, recording = 4, most = n)
    none <- fit_control(n_start = 1, max_iter = 0, progress = FALSE)
    fit <- aspect_bernoulli(
      x, 3, estimate = "ml", phantom = "white", smooth = near, start = start, control = none
    )
    p <- start$membership %*% start$aspects
    loglik <- sum(log(ifelse(x == 1, p, 1 - p)))
    more <- ref_smooth(start$membership, c(FALSE, FALSE, TRUE), ref_weights(age, 2), 7, 4)
    expect_equal(unname(fit$objective), loglik + more, tolerance = 1e-12)
    expect_named(fit$objective, "smoothed_log_likelihood")
    expect_equal(fit$loglik, loglik, tolerance = 1e-12)
  }
})

test_that("the objective never falls, in many random problems", {
  for (seed in 1:60) {
    set.seed(seed)
    n <- sample(1:25, 1)
    m <- sample(2:12, 1)
    k <- sample(2:5, 1)
    white <- seed %% 2 == 0
    x <- matrix(rbinom(n * m, 1, runif(1, 0.1, 0.6)), n, m)
    if (seed %% 3 == 0) x[sample(n * m, (n * m) %/% 5)] <- NA
    low <- sample(c(round(runif(n, 0, 5), 1), NA), n, TRUE)
    near <- smooth_over(
      age = cbind(low + ifelse(runif(n) < 0.5, 0, runif(n)), low), bandwidth = runif(1, 0.1, 3),
      strength = 10^runif(1, -1, 2),
      recording = sample(c(0, 10, 50), 1), most = sample(c(1, 5, 30), 1)
    )
    fit <- hush(aspect_bernoulli(
      x, k, estimate = if (seed %% 4 < 2) "ml" else "map", phantom = if (white) "white" else "free", smooth = near,
      start = simplex_start(n, m, k, white), control = brief(accelerate = seed %% 5 != 0)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-9 * max(1, abs(fit$objective)))
    expect_equal(unname(rowSums(fit$param$membership)), rep(1, n), tolerance = 1e-9)
  }
})

test_that("a converged fit is stationary: no small step along a row's simplex gains", {
  set.seed(3)
  data <- turnover(25, 8)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 5, recording = 5)
  control <- fit_control(n_start = 1, max_iter = 20000, tol = 1e-14, progress = FALSE)
  fit <- hush(aspect_bernoulli(data$x, 3, estimate = "map", phantom = "white", smooth = near, control = control))
  lists <- smooth_lists(near)
  weight <- matrix(0, 25, 25)
  weight[cbind(rep(1:25, diff(lists$start)), lists$neighbour + 1L)] <- lists$weight
  objective <- function(s) {
    p <- s %*% fit$param$aspects
    sum(log(ifelse(data$x == 1, p, 1 - p))) + ref_smooth(s, c(FALSE, FALSE, TRUE), weight, 5, 5)
  }
  s <- unname(fit$param$membership)
  at <- objective(s)
  for (i in c(1, 9, 25)) {
    for (c in 1:3) {
      moved <- s
      moved[i, ] <- (1 - 1e-3) * s[i, ]
      moved[i, c] <- moved[i, c] + 1e-3
      expect_lt(objective(moved) - at, 1e-5)
    }
  }
})

test_that("strength 0 and no smoothing are the same bits", {
  set.seed(4)
  data <- turnover()
  fits <- lapply(list(NULL, smooth_over(age = data$age, bandwidth = 1, strength = 0)), function(near) {
    set.seed(9)
    prior <- list(aspects = c(1.2, 2), membership = 1.05) # the default depends on `smooth`
    aspect_bernoulli(data$x, 3, phantom = "white", prior = prior, smooth = near, control = brief())
  })
  expect_identical(fits[[1L]]$param, fits[[2L]]$param)
  expect_identical(fits[[1L]]$objective, fits[[2L]]$objective)
})

test_that("rows may come in any order, threads in any number", {
  set.seed(5)
  data <- turnover()
  rownames(data$x) <- names(data$age) <- sprintf("site %d", 1:60)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 8)
  start <- simplex_start(60, 20, 4, TRUE)
  fit_rows <- function(at, ...) {
    given <- list(membership = start$membership[at, ], aspects = start$aspects)
    aspect_bernoulli(data$x[at, ], 4, phantom = "white", smooth = near, start = given, control = brief(...))
  }
  at <- sample(60)
  fit <- fit_rows(1:60)
  expect_equal(fit_rows(at)$param$membership, fit$param$membership[at, ], tolerance = 1e-6)
  expect_identical(fit_rows(1:60, n_threads = 2)$param, fit$param)
})

test_that("neighbours are those of the formulas", {
  age <- c(0, 1, 1, 4, NA)
  near <- smooth_over(age = age, bandwidth = 1, strength = 1)
  lists <- smooth_lists(near)
  expect_identical(diff(lists$start), c(3L, 3L, 3L, 3L, 0L))
  of <- function(i) stats::setNames(lists$weight, lists$neighbour + 1L)[seq(lists$start[i] + 1L, lists$start[i + 1L])]
  expect_equal(of(1), stats::setNames(exp(-c(1, 1, 4)) / sum(exp(-c(1, 1, 4))), c("2", "3", "4")))
  # ranges: the kernel averaged over both, by brute force
  grid <- expand.grid(s = seq(0.0005, 0.9995, 0.001) * 2, t = 1 + seq(0.0005, 0.9995, 0.001) * 3)
  brute <- mean(exp(-abs(grid$s - grid$t)))
  wide <- smooth_over(age = rbind(c(0, 2), c(1, 4), c(9, 9)), bandwidth = 1, strength = 1)
  mine <- smooth_lists(wide)
  far <- mean(exp(-(9 - seq(0.0005, 0.9995, 0.001) * 2)))
  expect_equal(mine$weight[1L], brute / (brute + if (far / brute < 0.01) 0 else far), tolerance = 1e-4)
  # great circles: a quarter of the equator and of a meridian
  place <- cbind(lng = c(0, 90, 0), lat = c(0, 0, 90))
  d <- sphere_distance(check_place(place))
  expect_equal(unname(d[1L, 2:3]), rep(6371.0088 * pi / 2, 2))
  # the nearest only, ties kept
  one <- smooth_lists(smooth_over(age = age, bandwidth = 1, strength = 1, most = 1))
  expect_identical(diff(one$start), c(2L, 1L, 1L, 2L, 0L))
})

test_that("neighbour lists, weights and distances say the same where they are the same", {
  set.seed(6)
  data <- turnover(20, 8)
  start <- simplex_start(20, 8, 3, TRUE)
  fit <- function(...) {
    near <- smooth_over(..., strength = 4)
    aspect_bernoulli(data$x, 3, phantom = "white", smooth = near, start = start, control = brief())$param$membership
  }
  w <- ref_weights(data$age, 50)
  by_age <- fit(age = data$age, bandwidth = 50)
  expect_equal(fit(neighbours = w), by_age, tolerance = 1e-8)
  expect_equal(fit(distance = stats::dist(data$age), bandwidth = 50), by_age, tolerance = 1e-8)
  chain <- lapply(1:20, function(i) setdiff(c(i - 1L, i + 1L), c(0L, 21L)))
  expect_equal(fit(neighbours = chain), fit(neighbours = 1 * (abs(outer(1:20, 1:20, "-")) == 1)), tolerance = 1e-10)
})

test_that("degenerate tables work: one site, all ages unknown or equal, one component", {
  x <- matrix(rep(c(1, 0, 1, 0), 3), 3, byrow = TRUE)
  for (age in list(5, c(2, 2, 2), rep(NA_real_, 3))) {
    near <- smooth_over(age = age, bandwidth = 1, strength = 3)
    for (phantom in c("white", "both", "free")) {
      some <- x[seq_along(age), , drop = FALSE]
      fit <- hush(aspect_bernoulli(some, 3, estimate = "map", phantom = phantom, smooth = near, control = brief()))
      expect_true(all(is.finite(fit$param$membership)))
    }
  }
  near <- smooth_over(age = 1:3, bandwidth = 1, strength = 3)
  fit <- hush(aspect_bernoulli(x, 1, smooth = near, control = brief()))
  expect_equal(unname(fit$param$membership), matrix(1, 3, 1))
  x[2, ] <- NA
  fit <- hush(aspect_bernoulli(x, 3, phantom = "white", smooth = near, control = brief()))
  expect_true(all(is.finite(fitted(fit))))
})

test_that("neighbours find planted omissions, and the choice by held-out cells prefers them", {
  set.seed(7)
  data <- turnover(100, 30)
  planted <- corrupt(data$x, omit = c(0, 0.4))
  near <- smooth_over(age = data$age, folds = 3)
  control <- fit_control(n_start = 2, max_iter = 300, tol = 1e-7, progress = FALSE, n_polish = 0)
  fit <- function(smooth) {
    set.seed(8)
    hush(aspect_bernoulli(planted$x, 6, estimate = "map", phantom = "white", smooth = smooth, control = control))
  }
  with <- fit(near)
  expect_gt(with$smooth$strength, 0)
  expect_true(all(c("bandwidth_age", "strength", "loss", "gain", "gain_se") %in% names(with$smooth$cv)))
  expect_gt(recovery(fitted(with), planted)$summary$auc, recovery(fitted(fit(NULL)), planted)$summary$auc)
  expect_identical(fit(near)$param, with$param)
  expect_lt(as.numeric(logLik(with)), as.numeric(logLik(fit(NULL))))
  expect_output(print(summary(with)), "Log-likelihood at the estimate")
})

test_that("held-out cells choose no smoothing where neighbours mislead", {
  set.seed(13)
  label <- rep(1:3, 20)
  x <- matrix(rbinom(60 * 30, 1, ifelse(outer(label, rep(1:3, 10), "=="), 0.9, 0.1)), 60)
  unlike <- lapply(1:60, function(i) sample(which(label != label[i]), 6))
  near <- smooth_over(neighbours = unlike, folds = 3, recording = 0)
  control <- fit_control(n_start = 3, max_iter = 200, tol = 1e-7, progress = FALSE)
  for (fit in list(
    hush(aspect_bernoulli(x, 4, estimate = "map", phantom = "white", smooth = near, control = control)),
    hush(bernoulli_mixture(x, 3, estimate = "map", smooth = near, control = control))
  )) {
    expect_identical(fit$smooth$strength, 0)
    expect_true(all(fit$smooth$cv$gain[fit$smooth$cv$strength > 0] < 0))
    expect_false(grepl("smoothed", names(fit$objective)))
  }
})

test_that("a fixed phantom does not shrink to nothing", {
  skip_if_not(exists("early_tetrapods"))
  sites <- early_tetrapods$sites
  near <- smooth_over(
    age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")], bandwidth = c(age = 4, place = 1000),
    strength = 10
  )
  control <- fit_control(n_start = 4, max_iter = 400, tol = 1e-6, progress = FALSE)
  for (k in c(3, 13)) {
    for (estimate in c("ml", "map")) {
      set.seed(1)
      fit <- hush(aspect_bernoulli(
        early_tetrapods$x, k, estimate = estimate, phantom = "white", smooth = near, control = control
      ))
      expect_gt(mean(fit$param$membership[, k]), 0.15)
    }
  }
})

test_that("verbs work on smoothed fits", {
  set.seed(10)
  data <- turnover(40, 12)
  rownames(data$x) <- names(data$age) <- paste0("s", 1:40)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 5)
  fit <- aspect_bernoulli(data$x, 4, estimate = "map", phantom = "white", smooth = near, control = brief())
  expect_s3_class(false_absences(fit), "false_absences")
  expect_identical(update(fit, k = 3)$smooth, fit$smooth)
  expect_null(update(fit, smooth = NULL)$smooth)
  cv <- hush(cross_validate(
    data$x, k = 3, aspect_bernoulli, phantom = "white", grid = list(smooth = list(NULL, near)), folds = 2,
    control = brief()
  ))
  expect_identical(nrow(cv$results), 2L)
  rows <- hush(cross_validate(
    data$x, k = 3, aspect_bernoulli, criterion = "rows", smooth = near, folds = 2, control = brief()
  ))
  expect_true(is.finite(rows$results$loss))
  chosen <- hush(select_k(data$x, 2:3, smooth = near, criterion = "cells", folds = 2, control = brief()))
  expect_s3_class(chosen, "multicause_selection")
  both <- hush(compare_models(data$x, k = 3, list(
    with = function(x, k, control) aspect_bernoulli(x, k, smooth = near, control = control), without = aspect_bernoulli
  ), folds = 2, control = brief()))
  expect_identical(nrow(both$table), 2L)
  planted <- corrupt(data$x, omit = c(0, 0.4))
  again <- function(x) {
    hush(aspect_bernoulli(x, 4, estimate = "map", phantom = "white", smooth = near, control = brief()))
  }
  expect_gt(recovery(fitted(again(planted$x)), planted)$summary$auc, 0.5)
  several <- hush(ensemble(
    data$x, k = 3:4, members = 1, estimate = "map", phantom = "white", smooth = near, control = brief()
  ))
  expect_identical(dim(fitted(several)), dim(data$x))
  new <- list(age = c(9, NA))
  members <- lapply(several$fits, predict, along = new)
  expect_equal(predict(several, along = new), (members[[1L]] + members[[2L]]) / 2, ignore_attr = TRUE)
  expect_identical(dim(hush(predict(several, data$x[1:2, ], along = new))), c(2L, 12L))
  parts <- lapply(several$fits, curves, at = c(8, 2), taxon = 1:3)
  mean <- curves(several, at = c(8, 2), taxon = 1:3)
  expect_equal(mean$present, (parts[[1L]]$present + parts[[2L]]$present) / 2)
  expect_true(all(mean$lower <= mean$present & mean$present <= mean$upper))
  expect_error(curves(several, "component"), class = "multicause_input_error")
})

test_that("new sites are predicted by their neighbours, with or without a record", {
  set.seed(11)
  data <- turnover(80, 20)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 10)
  control <- fit_control(n_start = 2, max_iter = 500, progress = FALSE)
  fit <- hush(aspect_bernoulli(data$x, 6, estimate = "map", phantom = "white", smooth = near, control = control))
  p <- predict(fit, along = list(age = c(9.5, 0.5, NA)))
  expect_identical(dim(p), c(3L, 20L))
  expect_lt(which.max(p[1, ]), 8)
  expect_gt(which.max(p[2, ]), 13)
  bare <- hush(predict(fit, matrix(0, 2, 20), along = list(age = c(9.5, 0.5))))
  expect_lt(which.max(bare[1, ]), 8)
  expect_equal(
    hush(predict(fit, data$x[3:5, ], along = list(age = data$age[3:5]), rows = 2)),
    hush(predict(fit, data$x[4, , drop = FALSE], along = list(age = data$age[4]))), ignore_attr = TRUE, tolerance = 1e-6
  )
  expect_error(predict(fit, data$x[1:3, ], along = list(age = 1:2)), class = "multicause_input_error")
  expect_error(predict(fit, data$x[1:3, ], along = list(place = 1:3)), class = "multicause_input_error")
})

test_that("curves and plots are drawn, and say what they lack", {
  set.seed(12)
  data <- turnover(50, 9)
  colnames(data$x) <- letters[1:9]
  place <- cbind(lng = runif(50, 0, 20), lat = runif(50, 40, 50))
  near <- smooth_over(age = data$age, place = place, bandwidth = c(age = 1, place = 1000), strength = 5)
  fit <- hush(aspect_bernoulli(data$x, 4, estimate = "map", phantom = "white", smooth = near, control = brief()))
  out <- curves(fit, at = c(9, 5), taxon = c("a", "i"))
  expect_named(out, c("age", "taxon", "present", "lower", "upper", "recorded", "n_effective"))
  expect_true(all(out$lower <= out$present & out$present <= out$upper & out$lower >= 0 & out$upper <= 1))
  expect_gt(out$present[out$age == 9 & out$taxon == "a"], out$present[out$age == 5 & out$taxon == "a"])
  shares <- curves(fit, "component", at = c(9, 5))
  expect_equal(as.vector(tapply(shares$share, shares$age, sum)), c(1, 1))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  expect_silent(plot(fit, "curves"))
  expect_silent(plot(fit, "curves", taxon = "b"))
  expect_silent(plot(fit, "map", slices = 3))
  grDevices::dev.off()
  unlink(file)
  plain <- hush(aspect_bernoulli(data$x, 3, control = brief()))
  expect_error(curves(plain), class = "multicause_input_error")
  expect_error(plot(plain, "map"), class = "multicause_input_error")
})

test_that("wrong input is named", {
  bad <- function(...) expect_error(smooth_over(...), class = "multicause_input_error")
  bad()
  bad(age = "old")
  bad(age = c(1, Inf))
  bad(age = 1:3, place = cbind(lng = 1:2, lat = 1:2), bandwidth = c(age = 1, place = 1))
  bad(place = cbind(lng = 1, lat = 91))
  bad(place = cbind(lng = 181:361, lat = 0))
  bad(distance = matrix(1:4, 2))
  bad(neighbours = list(2, 3))
  bad(neighbours = list(2, 1), age = 1:2)
  bad(age = 1:2, bandwidth = 0)
  bad(age = 1:2, bandwidth = c(place = 1))
  bad(age = 1:2, strength = -1)
  bad(age = 1:2, most = 0)
  bad(age = 1:2, width = 1)
  x <- matrix(c(1, 0, 1, 0), 2)
  expect_error(aspect_bernoulli(x, 1, smooth = 1), class = "multicause_input_error")
  expect_error(aspect_bernoulli(x, 1, smooth = smooth_over(age = 1:3, bandwidth = 1)), class = "multicause_input_error")
  expect_snapshot(print(smooth_over(age = 1:3, strength = 2)))
})

test_that("a row that ends as all phantom keeps its composition, and the objective its value", {
  x <- rbind(c(0, 1), c(1, 1), c(NA, 0), c(0, 1))
  start <- list(
    membership = cbind(c(0.9, 0.1, 1e-3, 0.99), c(0.1, 0.9, 0.999, 0.01)), aspects = rbind(c(0.7, 1), c(0, 0))
  )
  near <- smooth_over(age = c(1, 2, 1.2, 1.5), bandwidth = 1, strength = 1, recording = 0)
  for (accelerate in c(TRUE, FALSE)) {
    fit <- lapply(c(em = "em", newton = "newton"), function(algorithm) {
      hush(aspect_bernoulli(
        x, 2, estimate = "ml", phantom = "white", smooth = near, start = start,
        control = brief(accelerate = accelerate, algorithm = algorithm)
      ))
    })
    for (trace in lapply(fit, function(fit) fit$trace$objective)) {
      expect_true(all(is.finite(trace)))
      expect_gte(min(diff(trace)), -1e-9)
    }
    expect_equal(unname(fit$em$param$membership[3, ]), c(0, 1))
  }
})

test_that("covariates of new rows are those of the fit, by name", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, smooth = smooth_over(age = 1:10, bandwidth = 2),
    control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  refused <- function(along, text) {
    expect_error(predict(fit, x[1:2, ], along = along), text, fixed = TRUE, class = "multicause_input_error")
  }
  refused(1, "`along` must be a list of \"age\", not 1.")
  refused(list(place = 1:2), "`along` must be a list of \"age\", as `smooth` was supplied: it has \"place\".")
  refused(list(1:2), "`along` must be a list of \"age\", as `smooth` was supplied: it has no names.")
})
