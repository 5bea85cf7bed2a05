# Results of the paper for its fossil data, and known results of this model.

skip_on_cran()

now_fit <- function(k, ...) {
  x <- now_2003("g10s2")$x
  set.seed(k)
  suppressWarnings(aspect_bernoulli(x, k, estimate = "ml", control = fit_control(...)))
}

test_that("the paper's criterion is least at k = 4", {
  criterion <- vapply(3:6, function(k) aic_paper(now_fit(k, n_start = 5, n_finish = 2)), 0)
  expect_equal(which.min(criterion), 2L)
  expect_equal(criterion[2], 11068, tolerance = 3e-4)
})

test_that("the log-likelihood at k = 4 is at least -9010, and the verbs read the fit as the paper does", {
  now <- now_2003("g10s2")
  fit <- now_fit(4, n_start = 30)
  expect_gt(fit$loglik, -9010)
  table <- phantoms(fit)
  expect_equal(table$kind, c("content", "content", "content", "white"))
  expect_lt(cor(fit$param$membership[, 4], rowSums(now$x)), -0.85)
  # no row depends only on the ridge of the scale: every content aspect reaches 1
  expect_true(all(table$max[1:3] > 0.999))
  # aspects follow time (Fig. 5b)
  age <- age_profile(fit, stats::setNames(now$sites$age_ma, now$sites$site))
  expect_true(all(age$tests$p_value < 0.0201))
  expect_gt(min(abs(diff(sort(age$aspects$median)))), 3)
  # the expected false absences are the same, however they are summed
  all_zeros <- false_absences(fit, n = Inf)
  expect_equal(nrow(all_zeros), 501 * 139 - 3537)
  expect_equal(sum(all_zeros$missed), attr(all_zeros, "expected"))
  expect_equal(sum(by_taxon(fit)$missed), sum(all_zeros$missed))
  expect_equal(sum(by_site(fit)$missed), summary(fit)$expected_false$absences[["expected"]])
})

test_that("free starts find a white phantom", {
  fit <- now_fit(4, n_start = 30, init = "free", screen = FALSE, keep_starts = TRUE)
  expect_true(all(fit$starts$finished))
  expect_false("mixture_phantom" %in% fit$starts$init)
  white <- vapply(unname(fit$start_params), function(p) min(rowMeans(p$aspects)) <= 0.2 * fit$density, NA)
  expect_gte(sum(white), 28)
  expect_identical(fit$starts$phantom, white)
  expect_equal(summary(fit)$free_starts, c(finished = 30, found = sum(white)))
})
