# Parametric bootstrap of k and of parameters.

skip_on_cran()

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
  table <- with_seed(1, anova(fits[[3]], fits[[1]], fits[[2]], nsim = 39))
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
  expect_identical(with_seed(1, anova(fits[[1]], fits[[2]], fits[[3]], nsim = 39)), table)
  expect_identical(.Random.seed, before)
  expect_output(print(table), "parametric bootstrap.*Pr\\(>LR\\)")
})

test_that("a gain under the null is the likelihood ratio of a table drawn from the smaller fit", {
  unknown <- matrix(FALSE, 80, 8)
  unknown[c(3, 90, 400)] <- TRUE
  common <- list(small = fits[[1]], large = fits[[2]], unknown = unknown, control = judging_control(few))
  want <- with_seed(7L, {
    drawn <- replace(new_table(fits[[1]]), unknown, NA)
    each <- lapply(1:2, function(k) suppressMessages(bernoulli_mixture(drawn, k, estimate = "ml", control = few)))
    2 * (as.numeric(logLik(each[[2]])) - as.numeric(logLik(each[[1]])))
  })
  expect_equal(null_gain(7L, common, NULL), want)
})

test_that("what cannot be compared is refused", {
  refuses <- function(expr, word) expect_error(expr, word, class = "multicause_input_error")
  refuses(anova(fits[[1]]), "another k")
  refuses(anova(fits[[1]], fits[[1]]), "differ in k")
  refuses(anova(fits[[1]], bernoulli_mixture(two_groups, 2, control = few)), "k alone")
  refuses(anova(fits[[1]], bernoulli_mixture(1 - two_groups, 2, estimate = "ml", control = few)), "data of `object`")
  refuses(anova(fits[[1]], 2), "`...`")
  map <- lapply(1:2, function(k) bernoulli_mixture(two_groups, k, control = few))
  refuses(anova(map[[1]], map[[2]], nsim = 1), "maximised their likelihood, .* one maximised its log-posterior")
})

test_that("unknown cells stay unknown in drawn tables, and noisy_or() has the test, too", {
  x <- two_groups[1:40, 1:6]
  x[cbind(1:12, rep(1:6, 2))] <- NA
  known <- !is.na(x)
  own <- lapply(1:2, function(k) {
    suppressWarnings(noisy_or(x, k, estimate = "ml", inference = "exact", control = few))
  })
  table <- suppressWarnings(with_seed(1, anova(own[[1]], own[[2]], nsim = 3, control = few)))
  expect_true(all(table$`Pr(>LR)`[2] %in% ((1:4) / 4)))
  expect_identical(fit_to(fits[[1]], replace(two_groups, 1:5, NA), few)$dims[["observed"]], 635)
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
  all <- with_seed(1, confint(fit, nsim = 59))
  expect_identical(dim(all), c(18L, 2L))
  expect_identical(colnames(all), c("2.5 %", "97.5 %"))
  expect_true(all(all[, 1] < all[, 2] & all >= 0 & all <= 1))
  numbers <- mixture_numbers(fit$param)
  expect_identical(names(numbers), rownames(all))
  expect_equal(numbers[["prototypes[A2, t3]"]], fit$param$prototypes[2, 3])
  expect_gt(mean(all[, 1] <= numbers & numbers <= all[, 2]), 0.8)
  expect_equal(with_seed(1, confint(fit, "t3", nsim = 59))[, 1], all[c("prototypes[A1, t3]", "prototypes[A2, t3]"), 1])
  large <- bernoulli_mixture(unname(two_groups[rep(1:80, 4), ]), 2, control = few)
  narrow <- with_seed(1, confint(large, nsim = 59))
  expect_lt(median(narrow[, 2] - narrow[, 1]), 0.7 * median(all[, 2] - all[, 1]))
  expect_match(attr(all, "method"), "59 parametric bootstrap")
  refuses <- function(expr, word) expect_error(expr, word, class = "multicause_input_error")
  refuses(confint(fit, "t9"), "t9")
  refuses(confint(fit, nsim = 5), "`nsim`")
  refuses(confint(fit, level = 1), "`level`")
})

test_that("the profile of a single component is the likelihood interval of a binomial share", {
  set.seed(4)
  x <- cbind(a = rbinom(30, 1, 0.3), b = rbinom(30, 1, 0.6), never = 0, always = 1)
  x[1:4, "a"] <- NA
  fit <- suppressMessages(bernoulli_mixture(x, 1, estimate = "ml", control = few))
  ends <- confint(fit, method = "profile", level = 0.9)
  expect_identical(dim(ends), c(5L, 2L))
  expect_identical(unname(ends["weights[A1]", ]), c(1, 1))
  for (taxon in colnames(x)) {
    ones <- sum(x[, taxon], na.rm = TRUE)
    n <- sum(!is.na(x[, taxon]))
    loglik <- function(p) dbinom(ones, n, p, log = TRUE)
    lost <- function(p) loglik(ones / n) - loglik(p) - qchisq(0.9, 1) / 2
    low <- if (ones == 0) 0 else uniroot(lost, c(1e-9, ones / n), tol = 1e-9)$root
    high <- if (ones == n) 1 else uniroot(lost, c(ones / n, 1 - 1e-9), tol = 1e-9)$root
    expect_equal(unname(ends[sprintf("prototypes[A1, %s]", taxon), ]), c(low, high), tolerance = 1e-4)
  }
  expect_gt(ends["prototypes[A1, never]", 2], 0.01)
  # The bootstrap interval is that of Clopper and Pearson for n of n, and 0 of n.
  ends <- with_seed(1, confint(fit, level = 0.9, nsim = 19))
  expect_equal(ends["prototypes[A1, always]", ], c(qbeta(0.05, 30, 1), 1), tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(ends["prototypes[A1, never]", ], c(0, qbeta(0.95, 1, 30)), tolerance = 1e-3, ignore_attr = TRUE)
  expect_identical(unname(ends["weights[A1]", ]), c(1, 1))
})

test_that("at the ends of a profile the best of all else has lost what it should", {
  for (estimate in c("ml", "map")) {
    set.seed(1)
    fit <- bernoulli_mixture(two_groups, 2, estimate = estimate, control = quiet_control(n_start = 4, tol = 1e-12))
    wanted <- c("weights[A1]", "prototypes[A2, t3]")
    ends <- confint(fit, wanted, method = "profile")
    numbers <- mixture_numbers(fit$param)
    expect_true(all(ends[, 1] < numbers[wanted] & numbers[wanted] < ends[, 2]))
    problem <- list(view = check_data(two_groups, "binary", quiet = TRUE)$view, pseudo = fit$pseudo)
    free <- mixture_beside(lapply(fit$param, unname), problem)
    expect_equal(free$objective, fit$objective[[1]], tolerance = 1e-6)
    for (i in 1:2) {
      for (end in ends[i, ]) {
        at <- match(wanted[i], names(numbers))
        held <- mixture_beside(free$param, problem, at, end)
        expect_equal(unname(mixture_numbers(held$param)[at]), end)
        expect_equal(free$objective - held$objective, qchisq(0.95, 1) / 2, tolerance = 0.01)
      }
    }
  }
  expect_match(attr(ends, "method"), "profile")
  near <- smooth_over(age = seq_len(nrow(two_groups)), bandwidth = 5, strength = 1)
  smoothed <- suppressWarnings(bernoulli_mixture(two_groups, 2, smooth = near, control = few))
  for (generic in list(confint, vcov)) {
    expect_error(generic(smoothed), "no meaning for a mixture with `smooth`", class = "multicause_input_error")
  }
  expect_error(confint(fit, method = "wald"), "`method`", class = "multicause_input_error")
})

test_that("vcov() is the covariance over bootstrap fits", {
  fit <- bernoulli_mixture(two_groups, 2, control = few)
  v <- with_seed(1, vcov(fit, nsim = 59))
  expect_identical(rownames(v), names(mixture_numbers(fit$param)))
  expect_true(isSymmetric(v) && min(eigen(v, TRUE, TRUE)$values) > -1e-10)
  expect_equal(v["weights[A1]", "weights[A2]"], -v["weights[A1]", "weights[A1]"], tolerance = 1e-8) # they sum to 1
  # A weight's standard error is at least about that of a binomial share, because the groups are unknown.
  share <- fit$param$weights[[1]]
  expect_gt(sqrt(v[1, 1]), 0.7 * sqrt(share * (1 - share) / nrow(two_groups)))
  ends <- with_seed(1, confint(fit, "weights[A1]", nsim = 59, level = 0.68))
  expect_lt(abs(sqrt(v[1, 1]) / (diff(c(ends)) / 2) - 1), 0.5)
})

# Methods of draws supported by each model.
drawn_by <- list(
  bootstrap = c(
    "aspect_bernoulli", "effort", "visits", "bernoulli_mixture", "plsa", "logistic_pca", "plca", "noisy_or"
  ),
  posterior = c("vb", "bmf"), none = "nmf"
)

test_that("every model has draws, or a sentence that says where there are", {
  fits <- fits_of_all()
  expect_setequal(unlist(drawn_by), names(fits))
  groups <- rep(1:2, 10)
  for (model in drawn_by$bootstrap) {
    fit <- fits[[model]]
    draws <- with_seed(2, bootstrap_draws(fit, 6))
    expect_length(draws, 6L)
    expect_identical(lapply(with_seed(2, bootstrap_draws(fit, 2)), coef), lapply(draws[1:2], coef))
    for (draw in draws) {
      expect_identical(class(draw), class(fit))
      expect_identical(lapply(coef(draw), dim), lapply(coef(fit), dim))
    }
    expect_false(identical(coef(draws[[1]]), coef(draws[[2]])))
    if (!inherits(fit, "aspect_model")) {
      expect_error(by_taxon(fit, draws = draws), class = "multicause_input_error")
      next
    }
    sums <- by_taxon(fit, draws = draws)
    expect_true(all(sums$low <= sums$missed & sums$missed <= sums$high))
    expect_true(all(c("low", "high") %in% names(by_site(fit, draws = draws))))
    expect_true(all(c("low", "high") %in% names(contrast(fit, groups, draws = draws))))
    expect_true("median_low" %in% names(age_profile(fit, age = 20:1, draws = draws)$aspects))
    expect_error(posterior_draws(fit), "bootstrap_draws", class = "multicause_input_error")
  }
  for (model in drawn_by$posterior) {
    expect_error(bootstrap_draws(fits[[model]]), "posterior_draws", class = "multicause_input_error")
    expect_length(posterior_draws(fits[[model]], 3), 3L)
  }
  for (model in drawn_by$none) {
    way <- "update(fit, x = )" # its loss has no distribution
    expect_error(bootstrap_draws(fits[[model]]), way, fixed = TRUE, class = "multicause_input_error")
  }
  expect_error(identifiability(fits$vb, nsim = 2), "posterior_draws", class = "multicause_input_error")
})

test_that("draws of visits are of the visits that were made", {
  fit <- fits_of_all()$visits
  draws <- with_seed(3, bootstrap_draws(fit, 20))
  found <- apply(fit$visits == 1, 1:2, any, na.rm = TRUE)
  for (draw in draws[1:3]) {
    expect_identical(draw$visits, fit$visits)
    expect_true(all(cell_scores(draw, 1:20, draw_kinds(draw))$missed[found] > 0.5))
  }
  sums <- by_taxon(fit, draws = draws)
  expect_lt(max(sums$high), 20)
})

test_that("bootstrap fits are spread about as parameters are known", {
  set.seed(4)
  x <- matrix(stats::rbinom(3000, 1, 0.4), 300)
  fit <- bernoulli_mixture(x, 1, estimate = "ml")
  draws <- with_seed(1, bootstrap_draws(fit, 60))
  spread <- vapply(draws, function(draw) as.vector(draw$param$prototypes), numeric(10))
  expect_equal(mean(apply(spread, 1, stats::sd)), sqrt(0.24 / 300), tolerance = 0.12)
})

test_that("bootstrap fits of counts are spread as their totals are", {
  set.seed(5)
  x <- matrix(stats::rpois(400, 3), 40)
  for (fit in list(nmf(x, 1, loss = "kl"), plca(x, 1, estimate = "ml"))) {
    draws <- with_seed(1, bootstrap_draws(fit, 100))
    shares <- vapply(draws, function(draw) colSums(fitted(draw)) / sum(fitted(draw)), numeric(10))
    p <- colSums(x) / sum(x)
    expect_equal(mean(apply(shares, 1, stats::sd)), mean(sqrt(p * (1 - p) / sum(x))), tolerance = 0.12)
  }
  many <- plca(array(stats::rpois(60, 4), 3:5), 2)
  expect_identical(lapply(bootstrap_draws(many, 2)[[1L]]$param$marginals, dim), lapply(many$param$marginals, dim))
})

test_that("a draw of a posterior is not refitted", {
  set.seed(1)
  x <- matrix(rbinom(600, 1, 0.3), 30)
  few <- mcmc_control(chains = 1, warmup = 5, draws = 5, n_start = 1, progress = FALSE)
  fit <- suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, estimate = "gibbs", control = few)))
  expect_error(bootstrap_draws(posterior_draws(fit, 1)[[1L]], 2), "not a draw", class = "multicause_input_error")
})

test_that("fits that are not nested, or of other data, are refused", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 5, tol = 0)
  fit <- function(x, k) bernoulli_mixture(x, k, estimate = "ml", control = brief)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(anova(fit(x, 2)), "`...` must hold a fit with another k: select_k() chooses from scratch.")
  refused(anova(fit(x, 2), aspect_bernoulli(x, 3, control = brief)), paste(
    "`...` must be fits of bernoulli_mixture() that differ from `object` in k alone; compare_models() compares others."
  ))
  refused(anova(fit(x, 2), fit(1 - x, 3), nsim = 2), "`...` must be fits to the data of `object`.")
  refused(anova(fit(x, 2), fit(x, 2), nsim = 2), "`object` and `...` must differ in k: two have 2.")
})

test_that("models that no table can be drawn from, and averages, are refused", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 2, max_iter = 5, tol = 0, keep_starts = TRUE, screen = FALSE)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(bootstrap_draws(nmf(x, 2, loss = "euclidean", control = brief)),
    "bootstrap_draws() is not for fits of nmf(): fit samples of the rows by update(fit, x = ).")
  refused(bootstrap_draws(ensemble(aspect_bernoulli(x, 2, control = brief))),
    "`fit` must be a single fit, not an average: take draws of its members")
})

test_that("profiles of a fit below its maximum say so", {
  set.seed(1)
  x <- matrix(rbinom(120, 1, 0.5), 12, dimnames = list(letters[1:12], LETTERS[1:10]))
  rough <- bernoulli_mixture(x, 2, control = fit_control(n_start = 1, max_iter = 1, tol = 0))
  told <- "^The fit was [0-9.]+ nats below a maximum; intervals are about that[.] Refit with smaller `tol` in "
  expect_message(confint(rough, method = "profile"), told, class = "multicause_message")
})
