profile_fit <- function(aspects, x = NULL) {
  m <- ncol(aspects)
  if (is.null(x)) x <- matrix(rep_len(c(1, 0, 1), 9 * m), 9, m, dimnames = list(NULL, letters[seq_len(m)]))
  fit_with(x, matrix(1 / nrow(aspects), nrow(x), nrow(aspects)), aspects)
}

test_that("equal weights give the ordinary quantiles, and 0/1 weights Wilcoxon's test", {
  set.seed(1)
  age <- c(round(runif(9, 2, 8)), round(runif(11, 5, 12))) # with ties
  first <- rep(1:0, c(9, 11))
  fit <- profile_fit(rbind(0.8 * first, 0.4 * (1 - first)))
  names(age) <- letters[1:20]
  got <- age_profile(fit, age)
  shares <- c(0.05, 0.25, 0.5, 0.75, 0.95)
  for (c in 1:2) {
    ages <- age[first == 2 - c]
    want <- stats::quantile(ages, shares, type = 2)
    expect_equal(unlist(got$aspects[c, c("lower", "q1", "median", "q3", "upper")]), want, ignore_attr = TRUE)
    expect_equal(got$aspects$mean[c], mean(ages))
    expect_equal(got$aspects$n_effective[c], length(ages))
  }
  wilcoxon <- suppressWarnings(stats::wilcox.test(age[1:9], age[10:20], exact = FALSE, correct = FALSE))
  expect_equal(got$tests$p_value, wilcoxon$p.value)
  expect_equal(got$tests$difference, median(age[1:9]) - median(age[10:20]))
  expect_lt(got$tests$statistic, 0)
})

test_that("the statistic has mean 0 and variance 1 over all assignments of ages to taxa", {
  aspects <- rbind(c(0.9, 0.5, 0.1, 0.3, 0.7), c(0.2, 0.2, 0.8, 0.6, 0.1))
  fit <- profile_fit(aspects)
  age <- c(a = 1, b = 2, c = 4, d = 4, e = 9)
  orders <- as.matrix(expand.grid(rep(list(1:5), 5)))
  orders <- orders[apply(orders, 1, function(o) !anyDuplicated(o)), ]
  statistic <- apply(orders, 1, function(o) age_profile(fit, stats::setNames(age[o], names(age)))$tests$statistic)
  expect_equal(mean(statistic), 0)
  expect_equal(mean(statistic^2), 1)
})

test_that("aspects that share their taxa alike do not differ, phantoms are left out", {
  set.seed(2)
  a <- runif(12, 0.3, 1)
  fit <- profile_fit(rbind(a, 0.5 * a, 0, rev(a)))
  age <- stats::setNames(runif(12), letters[1:12])
  got <- age_profile(fit, age)
  expect_equal(got$aspects$component, c("A1", "A2", "A4"))
  expect_equal(nrow(got$tests), 3L)
  expect_equal(got$tests$p_adjusted, stats::p.adjust(got$tests$p_value, "holm"))
  expect_equal(got$aspects[1, -1], got$aspects[2, -1], ignore_attr = TRUE)
})

test_that("ages of sites give mean ages of taxa, unknown ages drop out", {
  x <- rbind(s1 = c(1, 0, 1), s2 = c(1, 1, 0), s3 = c(0, 1, 0), s4 = c(1, NA, 0))
  colnames(x) <- c("a", "b", "c")
  fit <- profile_fit(rbind(c(0.8, 0.5, 0.3), c(0.2, 0.5, 0.9)), x)
  got <- age_profile(fit, c(s3 = 6, s1 = 2, s4 = NA, s2 = 3))
  expect_equal(got$age, c(a = 2.5, b = 4.5, c = 2))
  expect_equal(got$kind_of_age, "site")
  expect_equal(age_profile(fit, c(2, 3, 6, NA)), got)
  expect_message(got <- age_profile(fit, c(NA, 3, 6, 1)), "1 of 3 taxa have no age")
  expect_equal(got$age, c(a = 2, b = 4.5))
  sparse <- fit
  sparse$x <- Matrix::Matrix(x, sparse = TRUE)
  expect_equal(age_profile(sparse, c(2, 3, 6, NA), of = "site")$age, c(a = 2.5, b = 4.5, c = 2))
})

test_that("whose ages they are is not guessed where it cannot be known", {
  set.seed(3)
  fit <- fit_with(binary(5, 5), matrix(0.5, 5, 2), matrix(runif(10), 2))
  expect_error(age_profile(fit, 1:5), "`of` must state", class = "multicause_input_error")
  expect_error(age_profile(fit, 1:4), "each of the 5 sites", class = "multicause_input_error")
  expect_equal(age_profile(fit, 1:5, of = "taxon")$age, stats::setNames(as.double(1:5), 1:5))
})

test_that("print and plot", {
  set.seed(4)
  fit <- profile_fit(matrix(runif(24), 2))
  got <- age_profile(fit, stats::setNames(round(runif(12, 2, 20), 1), letters[1:12]))
  expect_snapshot(got)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_s3_class(plot(got), "ggplot")
  one <- age_profile(profile_fit(matrix(runif(12), 1)), stats::setNames(1:12, letters[1:12]))
  expect_equal(nrow(one$tests), 0L)
  expect_output(print(one), "Ages of the components: 12 taxa")
  plot(one)
})

test_that("ages may come as tapply() makes them", {
  case <- small_fit()
  x <- `dimnames<-`(case$x, list(sprintf("s%02d", 1:24), NULL))
  fit <- update(case$fit, x = x)
  age <- stats::setNames(seq(24, 1), rownames(x))
  table <- tapply(rep(age, 2), rep(names(age), 2), mean)
  expect_length(dim(table), 1)
  expect_equal(age_profile(fit, table), age_profile(fit, age))
  expect_equal(range_through(x, table), range_through(x, age))
  expect_equal(smooth_over(age = table)$given, smooth_over(age = age)$given)
  expect_error(age_profile(fit, matrix(age)), "numeric vector", class = "multicause_input_error")
})

test_that("rounding error is not tested", {
  set.seed(5)
  a <- runif(12, 0.3, 1)
  age <- stats::setNames(runif(12, 2, 20), letters[1:12])
  fit <- profile_fit(rbind(a, a + 1e-15 * rnorm(12), 0.3 * a, rev(a)))
  tests <- age_profile(fit, age)$tests
  same <- tests$first != "A4" & tests$second != "A4"
  expect_true(all(is.na(tests[same, c("statistic", "p_value", "p_adjusted")])))
  expect_false(anyNA(tests[!same, ]))
  expect_equal(tests$p_adjusted[!same], pmin(1, 3 * tests$p_value[!same]))
  # Sites of one age: the mean ages of taxa in one and in three of them differ in the last bit.
  x <- matrix(1, 3, 12, dimnames = list(NULL, letters[1:12]))
  x[2:3, 1:6] <- 0
  one <- age_profile(profile_fit(rbind(a, rev(a)), x), rep(0.1, 3), of = "site")
  expect_gt(diff(range(one$age)), 0)
  expect_identical(one$tests$p_value, NA_real_)
})

test_that("aspects that wrote nothing are left out of tables, tests and boxes", {
  fit <- suppressWarnings(drawn_fit(60, 20, 4, estimate = "map", phantom = "white"))
  aspects <- fit$param$aspects
  age <- stats::setNames(1:20, colnames(aspects))
  plain <- age_profile(fit, age)
  expect_identical(plain$empty, character())
  # The same fit with two more aspects, both empty; the phantom is the last.
  more <- fit
  at <- c(1:3, 1, 2, 4)
  more$param$aspects <- `rownames<-`(aspects[at, ], component_names(6))
  more$param$membership <- `colnames<-`(fit$param$membership[, at], component_names(6))
  more$param$membership[, 4:5] <- 1e-9
  more$fixed <- stats::setNames(fit$fixed[at], component_names(6))
  more$dims[["k"]] <- 6L
  got <- age_profile(more, age)
  expect_identical(got$empty, c("A4", "A5"))
  expect_equal(got[c("aspects", "tests", "age")], plain[c("aspects", "tests", "age")])
  expect_output(print(got), "Left out \\(empty\\): A4, A5")
  expect_equal(nrow(ggplot2::autoplot(got)$data), 3)
  # A rare aspect, present at a single site, is not empty.
  more$param$membership[7, ] <- c(0, 0, 0, 1, 0, 0)
  expect_identical(age_profile(more, age)$empty, "A5")
  none <- more
  none$param$membership[] <- rep(c(0, 0, 0, 0, 0, 1), each = 60)
  expect_equal(nrow(age_profile(none, age)$aspects), 5)
})

test_that("averages of fits keep all aspects", {
  fit <- drawn_fit(20, 8, 3, phantom = "white")
  several <- suppressWarnings(ensemble(fit$x, k = 2:3, members = 1, control = fit_control(n_start = 1)))
  got <- age_profile(several, stats::setNames(1:8, colnames(fit$x)))
  expect_identical(got$empty, character())
  expect_equal(nrow(got$aspects), sum(phantoms(several)$kind == "content"))
})

test_that("what a prior gives to every aspect does not make it used", {
  x <- unname(early_tetrapods$x)
  set.seed(1)
  few <- fit_control(n_start = 1, max_iter = 300, n_polish = 0, progress = FALSE)
  fit <- suppressWarnings(aspect_bernoulli(x, 14, estimate = "vb", phantom = "white", control = few))
  got <- age_profile(fit, early_tetrapods$sites$age, of = "site")
  used <- match(got$aspects$component, component_names(14))
  # Posterior counts beyond the prior show which components are used.
  written <- fit$posterior$membership - fit$prior$membership
  expect_true(all(apply(written[, used], 2, max) >= 1))
  expect_gt(length(got$empty), 2)
  expect_true(all(apply(written[, match(got$empty, component_names(14))], 2, max) < 1))
  expect_lt(max(colMeans(fit$param$membership)[got$empty]), min(colMeans(fit$param$membership)[used]))
})

test_that("ages may be a data frame of one column, or of two bounds", {
  case <- small_fit()
  age <- seq(24, 1)
  expect_equal(age_profile(case$fit, data.frame(a = age)), age_profile(case$fit, age))
  expect_equal(age_profile(case$fit, data.frame(max = age + 1, min = age - 1)), age_profile(case$fit, age))
  named <- data.frame(max = age + 1, min = age - 1, row.names = sprintf("s%02d", 24:1))
  expect_identical(middle_ages(named), stats::setNames(as.numeric(age), sprintf("s%02d", 24:1)))
  expect_error(age_profile(case$fit, rep(NA_real_, 24)), "all are unknown", class = "multicause_input_error")
})

test_that("taxa without an age are counted, and ages that are all unknown are refused", {
  fit <- profile_fit(rbind(c(0.9, 0.5, 0.1), c(0.2, 0.2, 0.8)))
  for (of in c("taxon", "site")) {
    expect_error(age_profile(fit, rep(NA_real_, if (of == "taxon") 3 else 9), of = of),
      "`age` must hold ages: all are unknown.", fixed = TRUE, class = "multicause_input_error")
  }
  expect_message(age_profile(fit, c(NA, 1, 2), of = "taxon"), "1 of 3 taxa have no age and are left out.", fixed = TRUE,
    class = "multicause_message")
})

test_that("phantoms alone, and draws of other components, are refused", {
  fit <- profile_fit(rbind(c(0.9, 0.5, 0.1), c(0.2, 0.2, 0.8)))
  more <- profile_fit(rbind(c(0.9, 0.5, 0.1), c(0.2, 0.2, 0.8), c(0.1, 0.3, 0.3)))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(age_profile(fit, 1:3, kinds = c("white", "white")), "`fit` must have a content component: all are phantoms.")
  refused(age_profile(fit, 1:3, draws = list(more)), "`draws` must have the components of the fit.")
})
