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
  expect_equal(got$kind_of_age, "observation")
  expect_equal(age_profile(fit, c(2, 3, 6, NA)), got)
  expect_message(got <- age_profile(fit, c(NA, 3, 6, 1)), "1 of 3 attributes have no age")
  expect_equal(got$age, c(a = 2, b = 4.5))
  sparse <- fit
  sparse$x <- Matrix::Matrix(x, sparse = TRUE)
  expect_equal(age_profile(sparse, c(2, 3, 6, NA), of = "observation")$age, c(a = 2.5, b = 4.5, c = 2))
})

test_that("whose ages they are is not guessed where it cannot be known", {
  set.seed(3)
  fit <- fit_with(binary(5, 5), matrix(0.5, 5, 2), matrix(runif(10), 2))
  expect_error(age_profile(fit, 1:5), "`of` must say", class = "multicause_input_error")
  expect_error(age_profile(fit, 1:4), "each of the 5 observations", class = "multicause_input_error")
  expect_equal(age_profile(fit, 1:5, of = "attribute")$age, stats::setNames(as.double(1:5), 1:5))
})

test_that("print and plot", {
  set.seed(4)
  fit <- profile_fit(matrix(runif(24), 2))
  got <- age_profile(fit, stats::setNames(round(runif(12, 2, 20), 1), letters[1:12]))
  expect_snapshot(got)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(got, main = "Ages"), got)
  one <- age_profile(profile_fit(matrix(runif(12), 1)), stats::setNames(1:12, letters[1:12]))
  expect_equal(nrow(one$tests), 0L)
  expect_output(print(one), "Ages of 12 attributes")
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
