# The parametric bootstrap of k and of parameters.

few <- fit_control(n_start = 3, progress = FALSE)
two_groups <- local({
  set.seed(3)
  p <- rbind(rep(c(0.15, 0.8), 4), rep(c(0.8, 0.2), 4))
  matrix(rbinom(80 * 8, 1, p[rep(1:2, each = 40), ]), 80, dimnames = list(paste0("s", 1:80), paste0("t", 1:8)))
})
fits <- lapply(1:3, function(k) {
  set.seed(k)
  bernoulli_mixture(two_groups, k, estimate = "ml", control = few)
})

test_that("anova() tells the planted number of groups, whatever the order of the fits", {
  table <- anova(fits[[3]], fits[[1]], fits[[2]], nsim = 39, seed = 1)
  expect_s3_class(table, "anova")
  expect_identical(table$k, c(1, 2, 3))
  expect_equal(table$logLik, vapply(fits, function(fit) as.numeric(logLik(fit)), 0))
  expect_equal(table$LR[-1], 2 * diff(table$logLik))
  expect_equal(table$`Pr(>LR)`[2], 1 / 40)
  expect_gt(table$`Pr(>LR)`[3], 0.05)
  null <- attr(table, "null")
  expect_identical(lengths(null), c(39L, 39L))
  expect_true(all(unlist(null) >= 0))
  expect_equal(table$`Pr(>LR)`[3], (1 + sum(null[[2]] >= table$LR[3])) / 40)
  set.seed(9)
  before <- .Random.seed
  expect_identical(anova(fits[[1]], fits[[2]], fits[[3]], nsim = 39, seed = 1), table)
  expect_identical(.Random.seed, before)
  expect_output(print(table), "parametric bootstrap.*Pr\\(>LR\\)")
})

test_that("what cannot be compared is refused", {
  refuses <- function(expr, word) expect_error(expr, word, class = "multicause_input_error")
  refuses(anova(fits[[1]]), "another k")
  refuses(anova(fits[[1]], fits[[1]]), "differ in k")
  refuses(anova(fits[[1]], bernoulli_mixture(two_groups, 2, control = few)), "k alone")
  refuses(anova(fits[[1]], bernoulli_mixture(1 - two_groups, 2, estimate = "ml", control = few)), "data of `object`")
  refuses(anova(fits[[1]], 2), "`...`")
  map <- lapply(1:2, function(k) bernoulli_mixture(two_groups, k, control = few))
  refuses(anova(map[[1]], map[[2]], nsim = 1), "maximised its likelihood")
})

test_that("unknown cells stay unknown in drawn tables, and noisy_or() has the test, too", {
  x <- two_groups[1:40, 1:6]
  x[cbind(1:12, rep(1:6, 2))] <- NA
  known <- !is.na(x)
  own <- lapply(1:2, function(k) {
    suppressWarnings(noisy_or(x, k, estimate = "ml", inference = "exact", control = few))
  })
  table <- suppressWarnings(anova(own[[1]], own[[2]], nsim = 3, seed = 1, control = few))
  expect_true(all(table$`Pr(>LR)`[2] %in% ((1:4) / 4)))
  expect_identical(nobs(fit_to(fits[[1]], replace(two_groups, 1:5, NA), few)), 635)
  expect_identical(sum(known), 228L)
})

test_that("observations of a mixture are drawn by the weights, not kept", {
  set.seed(2)
  drawn <- new_table(fits[[2]])
  expect_identical(dimnames(drawn), dimnames(two_groups))
  many <- replicate(200, colMeans(new_table(fits[[2]])))
  expect_equal(rowMeans(many), colSums(fits[[2]]$param$weights * fits[[2]]$param$prototypes), tolerance = 0.02)
})

test_that("intervals hold the estimate's neighbourhood, narrow as tables grow, and can be picked", {
  fit <- bernoulli_mixture(two_groups, 2, control = few)
  all <- confint(fit, nsim = 59, seed = 1)
  expect_identical(dim(all), c(18L, 2L))
  expect_identical(colnames(all), c("2.5 %", "97.5 %"))
  expect_true(all(all[, 1] < all[, 2] & all >= 0 & all <= 1))
  numbers <- mixture_numbers(fit$param)
  expect_identical(names(numbers), rownames(all))
  expect_equal(numbers[["prototypes[A2, t3]"]], fit$param$prototypes[2, 3])
  expect_gt(mean(all[, 1] <= numbers & numbers <= all[, 2]), 0.8)
  expect_equal(confint(fit, "t3", nsim = 59, seed = 1)[, 1], all[c("prototypes[A1, t3]", "prototypes[A2, t3]"), 1])
  large <- bernoulli_mixture(unname(two_groups[rep(1:80, 4), ]), 2, control = few)
  narrow <- confint(large, nsim = 59, seed = 1)
  expect_lt(median(narrow[, 2] - narrow[, 1]), 0.7 * median(all[, 2] - all[, 1]))
  expect_match(attr(all, "method"), "59 parametric bootstrap")
  refuses <- function(expr, word) expect_error(expr, word, class = "multicause_input_error")
  refuses(confint(fit, "t9"), "t9")
  refuses(confint(fit, nsim = 5), "`nsim`")
  refuses(confint(fit, level = 1), "`level`")
})
