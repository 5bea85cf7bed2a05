# identifiability() of every kind of fit, and the fits it returns; helpers as in test-identifiability.R.
given_fit <- function(seed, k, phantom = "white", top = 0.9) {
  set.seed(seed)
  s <- matrix(stats::rexp(16 * (k + 1)), 16)
  s <- s / rowSums(s)
  a <- matrix(stats::rbeta(k * 9, 0.5, 0.8), k) * top
  if (phantom == "black") a <- 1 - a
  a <- rbind(a, phantom == "black")
  fit_with(matrix(stats::rbinom(16 * 9, 1L, s %*% a), 16), s, a, phantom = phantom)
}

expected_of <- function(fit, phantom) {
  if (phantom == "white") sum(by_taxon(fit)$missed) else sum(false_presences(fit, Inf)$added)
}

quick <- fit_control(n_start = 2, max_iter = 150, tol = 1e-7, n_polish = 0, progress = FALSE)
quick_fit <- function(...) suppressMessages(suppressWarnings(aspect_bernoulli(..., control = quick)))

test_that("the ends are attained: fits with the same probabilities and log-likelihood to 1e-9", {
  for (phantom in c("white", "black")) {
    for (k in 1:3) {
      fit <- given_fit(20 + k, k, phantom)
      set.seed(1)
      sure <- identifiability(fit)
      expect_named(sure$fits, c("minimal", "maximal"))
      for (name in names(sure$fits)) {
        end <- sure$fits[[name]]
        expect_lt(max(abs(fitted(end) - fitted(fit))), 1e-10)
        expect_lt(abs(end$loglik - fit$loglik), 1e-9)
        expect_true(all(end$param$aspects >= 0 & end$param$aspects <= 1 & all(end$param$membership >= 0)))
        bound <- sure$share[sure$share$bound == "inner", ]
        side <- if (name == "minimal") "least" else "most"
        expect_equal(mean(end$param$membership[, k + 1]), bound[[side]], tolerance = 1e-9)
        expect_identical(bound[[paste0("loglik_", side)]], end$loglik)
      }
      rows <- sure$sites
      expect_true(all(rows$inner_least <= rows$inner_most + 1e-9 & rows$inner_most <= rows$outer_most + 1e-9))
      of <- if (phantom == "white") "absences" else "presences"
      told <- sure$fits$maximal$expected_false[[of]][["expected"]]
      expect_equal(told, expected_of(sure$fits$maximal, phantom))
      expect_equal(told, sure$expected$most[sure$expected$bound == "inner"])
    }
  }
})

test_that("the conventions of the verbs are the fits at the ends", {
  fit <- given_fit(5, 2, top = 0.7)
  sure <- identifiability(fit)
  for (end in c("minimal", "maximal")) {
    at <- sure$fits[[end]]
    expect_equal(predict(fit, type = "membership", phantom_convention = end), predict(at, type = "membership"))
    expect_equal(predict(fit, type = "cell", phantom_convention = end), predict(at, type = "cell"))
    expect_equal(predict(fit, phantom_convention = end), fitted(fit))
    expect_equal(by_taxon(fit, phantom_convention = end), by_taxon(at))
    expect_equal(denoise(fit, phantom_convention = end), denoise(at))
    expect_equal(false_absences(fit, Inf, phantom_convention = end), false_absences(at, Inf))
  }
})

test_that("smoothed fits have the bounds of their probabilities, and the print says so", {
  truth <- planted(40, 10)
  set.seed(3)
  near <- smooth_over(age = seq_len(40), bandwidth = 5, strength = 2)
  smoothed <- quick_fit(truth$x, 3, estimate = "map", phantom = "white", smooth = near)
  set.seed(4)
  sure <- identifiability(smoothed, nsim = 2)
  plain <- fit_with(truth$x, smoothed$param$membership, smoothed$param$aspects, phantom = "white")
  set.seed(4)
  bare <- identifiability(plain)
  expect_equal(sure$share, bare$share)
  expect_equal(sure$sites[names(bare$sites)], bare$sites)
  expect_output(print(summary(sure)), "bounds of the likelihood")
  expect_true(all(sure$sampling$most >= sure$sampling$least))
})

test_that("bootstrap fits are fits of the same model", {
  truth <- planted(40, 10)
  effort <- 1 - truth$lost
  set.seed(5)
  with_effort <- quick_fit(truth$x, 3, effort = effort)
  refit <- bootstrap_fits(with_effort, 1, truth$x)[[1]]
  odds <- stats::qlogis(unname(refit$param$membership[, 3]))
  expect_lt(max(abs(stats::residuals(stats::lm(odds ~ effort)))), 1e-6)
  bayes <- quick_fit(truth$x, 3, estimate = "vb", phantom = "white")
  refit <- bootstrap_fits(bayes, 1, truth$x)[[1]]
  expect_true(all(refit$param$aspects[1:2, ] > 0 & refit$param$aspects[1:2, ] < 1))
  expect_false(identical(refit$x, bayes$x))
  averaged <- ensemble(truth$x, k = 3, members = 2, control = quick)
  expect_s3_class(identifiability(averaged), "identifiability")
  expect_error(identifiability(averaged, nsim = 2), "`nsim` cannot fit", class = "multicause_input_error")
})

test_that("posterior draws give the ends of their own probabilities, with the components of the fit", {
  truth <- planted(40, 10)
  set.seed(6)
  for (phantom in c("white", "free")) {
    fit <- quick_fit(truth$x, 3, estimate = "vb", phantom = phantom)
    draws <- posterior_draws(fit, 6)
    sure <- identifiability(fit, draws = draws, level = 0.8, cells = TRUE)
    expect_equal(sure$n_draws, 6L)
    if (phantom == "white") {
      tops <- vapply(draws, function(draw) 1 - apply(fitted(draw), 1, max), numeric(40))
      expect_equal(sure$sites$draws_most, unname(apply(tops, 1, quantile_of, 0.9)))
      expect_equal(sure$sampling$most[1], quantile_of(colMeans(tops), 0.9))
    }
    expect_true(all(sure$cells$draws_most >= 0 & sure$cells$draws_most <= 1))
  }
  expect_output(print(summary(sure)), "Over 6 draws \\(80 %\\)")
})

test_that("both phantoms fixed: outer bounds only, over draws too; decided is said of the draws as well", {
  truth <- planted(40, 10)
  set.seed(7)
  both <- quick_fit(truth$x, 4, phantom = "both")
  sure <- identifiability(both, nsim = 3, narrow = 0.99)
  expect_setequal(sure$share$bound, c("outer", "fitted"))
  expect_identical(sure$sampling$bound, c("outer", "outer"))
  expect_identical(sure$sampling$phantom, c("white", "black"))
  expect_true(all(is.finite(sure$sites$black_draws_most)))
  expect_null(sure$fits)
  expect_output(print(summary(sure)), "Log-likelihood of the fit")
  bound <- max(sure$share$most, sure$sampling$most)
  expect_true(sure$decided)
  expect_false(identifiability(both, draws = list(both), narrow = bound / 2)$decided)
})
