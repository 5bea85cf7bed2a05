# What each model assumes of the data (R/bernoulli_mixture.R and those of the other models), and how a user sees that
# the data are otherwise: the signs that the help pages name.

skip_on_cran()

brief <- quiet_control(n_start = 3)
brief_chains <- mcmc_control(chains = 2, warmup = 100, draws = 200, n_start = 2, progress = FALSE)
silent <- function(call) suppressWarnings(suppressMessages(call))

counts_of_two <- function() {
  membership <- matrix(rgamma(80, 0.5), 40)
  basis <- rbind(c(5, 4, 1, 0, 0, 1), c(0, 1, 3, 4, 2, 1))
  shares <- (membership / rowSums(membership)) %*% (basis / rowSums(basis))
  t(apply(shares, 1, function(p) rmultinom(1, 40, p)))
}

test_that("sites that mix faunas are predicted better by a mixture of each site than by one component", {
  set.seed(1)
  faunas <- rbind(rep(c(0.9, 0.05), each = 10), rep(c(0.05, 0.9), each = 10))
  share <- runif(200)
  models <- list(mixture = bernoulli_mixture, aspect = aspect_bernoulli)
  compared <- function(share) {
    x <- random_bernoulli(cbind(share, 1 - share) %*% faunas)
    table <- silent(compare_models(x, 2, models, "cells", folds = 5, control = brief))$table
    table[table$model == "mixture", ]
  }
  mixed <- compared(share)
  expect_gt(mixed$behind, mixed$behind_se)
  pure <- compared(round(share))
  expect_true(pure$behind == 0 || pure$behind < pure$behind_se)
})

test_that("columns that repeat each other make memberships look more certain", {
  set.seed(2)
  x <- random_bernoulli(0.2 + 0.4 * outer(rep(0:1, each = 30), rep(1, 8)))
  spread <- function(model, ...) {
    each <- function(x) mean(silent(model(x, 2, ..., estimate = "gibbs", control = brief_chains))$spread$membership)
    each(x[, rep(1:8, 4)]) / each(x)
  }
  expect_lt(spread(aspect_categorical, values = 0:1), 0.65)
  expect_lt(spread(aspect_bernoulli), 0.65)
})

test_that("counts that are clumped or scaled have large Pearson residuals", {
  set.seed(3)
  x <- counts_of_two()
  dispersion <- function(fit) sum(residuals(fit, "pearson")^2) / (240 - 40 - 40 - 2 * 5)
  models <- list(plsa, plca, function(x, k, control) nmf(x, k, loss = "kl", control = control))
  for (model in models) {
    expect_lt(abs(dispersion(silent(model(x, 2, control = brief))) - 1), 0.5)
    expect_gt(dispersion(silent(model(5 * x, 2, control = brief))), 3)
  }
  # The sampler takes them for five times the data, so intervals are narrower by about the root of five.
  spread <- function(x) mean(silent(plsa(x, 2, estimate = "gibbs", control = brief_chains))$spread$basis)
  expect_lt(spread(5 * x), 0.65 * spread(x))
})

test_that("a column in larger units takes the components of nmf() and bmf()", {
  set.seed(4)
  x <- counts_of_two()
  large <- x
  large[, 4] <- 100 * x[, 4]
  expect_gt(silent(nmf(large, 2, control = brief))$param$basis[1, 4], 0.9)
  expect_lt(max(silent(nmf(x, 2, control = brief))$param$basis[, 4]), 0.6)
  rows <- cbind(rep(1:0, each = 15), rep(c(0, 1, 1), 10))
  columns <- cbind(rep(1:0, 5), rep(0:1, each = 5))
  truth <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns)
  x <- truth + rnorm(300, sd = 0.3)
  chains <- mcmc_control(chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE)
  found <- function(x) max(apply(fitted(silent(bmf(x, control = chains)))[, -10], 2, stats::sd))
  expect_gt(found(x), 1)
  x[, 10] <- 100 * x[, 10]
  expect_lt(found(x), 0.1)
})

test_that("uneven effort becomes a component of logistic_pca()", {
  set.seed(5)
  follows <- function(p) {
    x <- random_bernoulli(p)
    abs(cor(coef(silent(logistic_pca(x, 1, control = brief)))$scores[, 1], rowSums(x)))
  }
  expect_gt(follows(outer(runif(80, 0.05, 0.9), runif(20, 0.5, 0.9))), 0.85)
  expect_lt(follows(ifelse(outer(1:80, 1:20, function(i, j) (i <= 40) == (j <= 10)), 0.8, 0.1)), 0.6)
})

test_that("sources of noisy_or() that exclude each other are correlated", {
  set.seed(6)
  links <- rbind(rep(c(0.8, 0), each = 6), rep(c(0, 0.8), each = 6))
  correlation <- function(on) {
    x <- random_bernoulli(1 - (1 - outer(on[, 1], links[1, ])) * (1 - outer(on[, 2], links[2, ])))
    cor(silent(noisy_or(x, 2, control = quiet_control(n_start = 10)))$param$activation)[1, 2]
  }
  one <- rep(1:0, each = 40)
  expect_lt(correlation(cbind(one, 1 - one)), -0.8)
  expect_lt(abs(correlation(cbind(one, rep(0:1, 40)))), 0.4)
})

test_that("taxa that come and go between visits count as missed", {
  set.seed(7)
  lives <- random_bernoulli(matrix(0.5, 60, 10))
  closed <- rep(list(lives), 3)
  open <- lapply(1:3, function(visit) random_bernoulli(matrix(0.5, 60, 10))) # nothing is missed on a visit
  by_occupancy <- function(x) silent(visits_occupancy(x, uneven = 0))$total[["missed"]]
  by_components <- function(x) sum(silent(false_absences(visits_bernoulli(x, 1, control = brief), n = Inf))$missed)
  for (missed in list(by_occupancy, by_components)) {
    expect_lt(missed(closed), 1)
    expect_gt(missed(open), 20)
  }
})

test_that("sites entered twice and wrong presences move the number of which_zeros()", {
  set.seed(8)
  lives <- outer(1:60, 1:20, function(i, j) (i <= 30) == (j <= 10))
  x <- random_bernoulli(ifelse(lives, 0.5, 0.02))
  of <- function(x) silent(which_zeros(x, quick = TRUE, seed = 1))
  one <- of(x)
  expect_warning(suppressMessages(which_zeros(rbind(x, x), quick = TRUE, seed = 1)),
    class = "multicause_repeated_sites")
  twice <- of(rbind(x, x))
  expect_true(!is.null(twice$reason) || twice$total[["missed"]] < one$total[["missed"]] / 2)
  wrong <- x
  wrong[sample(which(!lives & x == 0), 40)] <- 1
  kept <- which(!lives & x == 0 & wrong == 0)
  errors <- of(wrong)
  expect_gt(mean(errors$probability[kept]), 2 * mean(one$probability[kept]))
  expect_gt(errors$total[["missed"]], one$total[["missed"]])
  expect_match(of(random_bernoulli(matrix(0.5, 60, 20)))$reason, "better than by chance")
})

test_that("where near sites are not alike, their mean predicts no better than frequencies", {
  set.seed(9)
  models <- list(near = function(x) neighbours_mean(x), frequencies = function(x) logistic_pca(x, 0, control = brief))
  loss <- function(x) {
    results <- silent(cross_validate(x, model = models, folds = 3, control = brief))$results
    stats::setNames(results$loss, results$model)
  }
  noise <- loss(random_bernoulli(matrix(0.5, 60, 20)))
  expect_gt(noise[["near"]], noise[["frequencies"]] - 0.005)
  alike <- loss(random_bernoulli(ifelse(outer(1:60, 1:20, function(i, j) (i <= 30) == (j <= 10)), 0.8, 0.1)))
  expect_lt(alike[["near"]], alike[["frequencies"]] - 0.1)
})
