# Memberships shared among neighbours, and visits held out.

# Sites along an age gradient, poorly searched: two of three visits, with detection probability 0.35.
gradual_visits <- function(n = 60, m = 20) {
  set.seed(31)
  age <- sort(stats::runif(n, 0, 10), decreasing = TRUE)
  present <- matrix(stats::rbinom(n * m, 1L, exp(-outer(age, seq(10, 0, length.out = m), "-")^2 / 4)), n)
  cell <- array(stats::rbinom(n * m * 3, 1L, 0.35 * as.vector(present)), c(n, m, 3))
  dimnames(cell) <- list(site = paste0("s", 1:n), species = paste0("t", 1:m), visit = 1:3)
  for (i in seq_len(n)) cell[i, , i %% 3 + 1] <- NA
  list(visits = cell, age = age, present = present)
}
case <- gradual_visits()
near <- smooth_over(age = case$age, bandwidth = 1, strength = 10)

test_that("visits that miss nothing: memberships and objective are those of the plain model with neighbours", {
  x <- matrix(as.integer(apply(case$visits, 1:2, max, na.rm = TRUE)), 60)
  single <- array(x, c(60, 20, 1), list(site = NULL, species = NULL, visit = NULL))
  set.seed(1)
  start <- random_start(60, 20, 3)
  begin <- c(start, list(missed = matrix(0, 1, 1), added = 0))
  for (estimate in c("ml", "map")) {
    # The plain model updates aspects conditional on the new memberships, that of visits conditional on the old ones.
    for (iterations in 0:1) {
      one <- plain(iterations)
      plain_fit <- hush(aspect_bernoulli(x, 3, estimate = estimate, smooth = near, start = start, control = one))
      fit <- hush(visits_bernoulli(
        single, 3,
        estimate = estimate, prior = list(aspects = c(1.2, 2), membership = 1), missed_by = "visit", smooth = near,
        start = begin, control = one
      ))
      expect_equal(fit$param$membership, plain_fit$param$membership, tolerance = 1e-10)
      if (iterations == 0) expect_equal(fit$objective, plain_fit$objective, tolerance = 1e-12)
      if (iterations == 0) expect_equal(fit$loglik, plain_fit$loglik, tolerance = 1e-12)
    }
  }
})

test_that("the objective never falls, neighbours become alike, threads change nothing, and its loglik is the data's", {
  for (detection in list(NULL, ~visit)) {
    set.seed(2)
    args <- list(case$visits, 3, smooth = near, control = fit_control(n_start = 1))
    args <- c(args, if (is.null(detection)) list(missed_by = "visit") else list(detection = detection))
    fit <- hush(do.call(visits_bernoulli, args))
    expect_true(all(diff(fit$trace$objective) > -1e-7))
    expect_named(fit$objective, "smoothed_log_posterior")
    set.seed(2)
    rough <- hush(do.call(visits_bernoulli, replace(args, "smooth", list(NULL))))
    jump <- function(fit) mean(abs(diff(fit$param$membership)))
    expect_lt(jump(fit), 0.7 * jump(rough))
    truth <- case$present
    found <- rough$x %in% 1
    loss <- function(fit) mean((fitted(fit) - truth)[!found]^2)
    expect_lt(loss(fit), loss(rough))
  }
  once <- function(threads) {
    set.seed(3)
    hush(visits_bernoulli(
      case$visits, 3,
      missed_by = "visit", smooth = near, control = fit_control(n_start = 1, max_iter = 40, n_threads = threads)
    ))$param
  }
  expect_identical(once(1), once(2))
})

test_that("bandwidth and strength are chosen by visits held out", {
  set.seed(4)
  chosen <- hush(visits_bernoulli(
    case$visits, 3,
    missed_by = "visit", smooth = smooth_over(age = case$age, bandwidth = 1, folds = 3),
    control = fit_control(n_start = 1)
  ))
  expect_gt(chosen$smooth$strength, 0)
  expect_true(all(is.finite(chosen$smooth$cv$loss)))
  by_site <- hush(visits_bernoulli(
    case$visits, 2,
    missed_by = "site", smooth = smooth_over(age = case$age, bandwidth = 1, folds = 2),
    control = fit_control(n_start = 1)
  ))
  expect_true(all(is.finite(by_site$smooth$cv$loss)))
})

test_that("a visit's records are held out together, and no site loses all of its visits", {
  set.seed(5)
  cell <- case$visits
  cell[1, , 2:3] <- NA
  cell[1, , 1] <- 0L
  cell[2, 3, 1] <- NA
  folds <- visit_folds(cell, 3)
  for (at in folds) {
    held <- array(FALSE, dim(cell))
    held[at] <- TRUE
    expect_false(anyNA(cell[at]))
    whole <- apply(held, c(1, 3), any)
    expect_identical(whole & apply(!is.na(cell), c(1, 3), any), apply(held | is.na(cell), c(1, 3), all) & whole)
    expect_true(all(apply(!is.na(cell) & !held, 1, any)))
  }
  expect_identical(anyDuplicated(unlist(folds)), 0L)
  expect_identical(length(unlist(folds)), sum(!is.na(cell)) - 20L)
})

test_that("what neighbours do not go with is refused", {
  site <- data.frame(age = case$age)
  expect_snapshot(error = TRUE, {
    visits_bernoulli(case$visits, 2, smooth = near, communities = ~age, site_data = site)
    visits_bernoulli(case$visits, 2, smooth = near, estimate = "gibbs", detection = ~1)
    visits_bernoulli(case$visits, 2, smooth = case$age)
    visits_bernoulli(case$visits, 2, smooth = smooth_over(age = case$age[-1]))
  })
})

test_that("k is chosen by visits held out, the same visits for all; what cannot be so judged is refused", {
  few <- fit_control(n_start = 2)
  # Two communities without shared taxa.
  set.seed(7)
  there <- outer(1:50, 1:20, function(i, j) (i <= 25) == (j <= 10)) * rbinom(1000, 1, 0.8)
  cell <- array(rbinom(3000, 1, 0.5 * as.vector(there)), c(50, 20, 3))
  dimnames(cell) <- list(site = NULL, species = NULL, visit = NULL)
  cell[7, , 2] <- NA
  run <- function(x, ...) hush(cross_validate(x, 1:3, visits_bernoulli, "visits", folds = 3, ..., control = few))
  set.seed(6)
  found <- run(cell, missed_by = "visit")
  expect_identical(which.min(found$results$loss), 2L)
  # One fold by hand.
  set.seed(6)
  plan <- fold_plan(cell, "visits", 3, 1)
  expect_identical(plan$held[[1]], with_seed(with_seed(6, draw_seeds(1)), visit_folds(plan$x, 3)))
  tables <- lapply(1:3, function(v) cell[, , v])
  set.seed(6)
  expect_equal(run(tables, missed_by = "visit")$results$loss, found$results$loss)
  date <- matrix(stats::rnorm(150), 50)
  chosen <- hush(select_k(
    cell, 1:2, visits_bernoulli, "visits",
    detection = ~date, visit_data = list(date = date), folds = 3, control = few
  ))
  expect_identical(chosen$k, 2L)
  expect_output(print(chosen), "loss per record of a held-out visit: k = 2")
  expect_output(
    print(found),
    "3-fold cross-validation by visits; loss: mean negative log-likelihood of a\\s+record of a held-out visit"
  )
  expect_s3_class(ggplot2::autoplot(found), "ggplot")
  expect_s3_class(ggplot2::autoplot(chosen), "ggplot")
  x <- cell[, , 1]
  x[is.na(x)] <- 0L
  one_table <- function(x, k, control) aspect_bernoulli(any_visit(x), k, control = control)
  expect_snapshot(error = TRUE, {
    run(cell, missed_by = "site")
    run(x)
    cross_validate(cell, 2, one_table, "visits")
    select_k(cell, 1:2, visits_bernoulli, "rows")
  })
})
