test_that("print says in plain words what was found", {
  white <- mixed_fit(c("content", "content", "white"))$fit
  both <- mixed_fit(c("content", "white", "white", "black"))$fit
  fixed <- fit_with(white$x, white$param$membership, rbind(white$param$aspects[1:2, ], 0), phantom = "white")
  none <- mixed_fit("content")$fit
  partial <- fit_with(white$x, white$param$membership, rbind(white$param$aspects[1:2, ], 0.1))
  expect_snapshot({
    partial
    white
    both
    fixed
    none
  })
})

test_that("summary has criteria, starts, phantoms and certificate", {
  truth <- planted(60, 16)
  set.seed(2)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "ml", control = fit_control(screen = FALSE))
  got <- summary(fit)
  expect_s3_class(got, "summary.aspect_bernoulli")
  expect_equal(AIC(fit), 2 * got$criteria[["AIC_paper"]])
  expect_identical(got$criteria[["AIC"]], NA_real_) # without a meaning, as BIC
  expect_equal(got$criteria[["df"]], 60 * 2 + 3 * 16)
  expect_identical(got$criteria[["BIC"]], NA_real_)
  free <- fit$starts[fit$starts$finished & fit$starts$init != "mixture_phantom", ]
  expect_equal(got$free_starts, c(finished = nrow(free), found = sum(free$phantom)))
  expect_equal(sum(got$starts$starts), 10L)
  expect_equal(sum(got$starts$finished), 10L)
  expect_identical(got$certificate, fit_certificate(fit))
})

test_that("the summary prints", {
  fit <- mixed_fit(c("content", "content", "white"), missing = 0.1)$fit
  fit$starts <- data.frame(
    start = 1:4, init = c("mixture", "mixture", "mixture_phantom", "uniform"), objective = c(-40.1, -40.2, -41.25, -50),
    iterations = 100L, finished = c(TRUE, TRUE, TRUE, FALSE), converged = TRUE,
    reached_best = c(TRUE, TRUE, FALSE, FALSE),
    phantom = c(TRUE, FALSE, TRUE, NA)
  )
  expect_snapshot(summary(fit))
})

test_that("a MAP fit has the AIC of its likelihood at the estimate, and says what it means", {
  set.seed(3)
  x <- binary(10, 5, missing = 0.1)
  x[4, ] <- NA
  fit <- suppressMessages(aspect_bernoulli(x, 2, estimate = "map"))
  df <- 10 + 2 * 5
  p <- fit$param$membership %*% fit$param$aspects
  loglik <- sum(ifelse(x == 1, log(p), log1p(-p)), na.rm = TRUE)
  expect_equal(as.numeric(logLik(fit)), loglik)
  expect_equal(AIC(fit), 2 * df - 2 * loglik)
  expect_equal(aic_paper(fit), df - loglik)
  expect_equal(unname(summary(fit)$criteria[c("AIC", "BIC", "AIC_paper")]), c(NA, NA, aic_paper(fit)))
  said <- print_words(summary(fit))
  expect_match(said, "Log-likelihood at the estimate -[0-9.]+ with 20 parameters Every site has parameters of its own")
  expect_false(grepl("AIC [0-9]", said)) # its parameters grow with the table
  mixture <- suppressMessages(bernoulli_mixture(x, 2, estimate = "map"))
  expect_match(print_words(summary(mixture)), "AIC [0-9.]+, BIC [0-9.]+ AIC and BIC count every parameter as free")
  expect_output(print(summary(fit)), "cells unknown; 1 row and 0 columns with nothing observed")
})

test_that("no bound is below what the fit says, also where its phantom is not exact", {
  set.seed(1)
  aspects <- rbind(c(1, 0.5, 0.3, 0.2), c(0.05, 0, 0, 0)) # the second writes presences, too
  x <- matrix(rbinom(48, 1, 0.5), 12)
  fit <- fit_with(x, random_simplex(12, 2), aspects)
  kinds <- phantoms(fit)$kind
  expect_identical(kinds, c("content", "white"))
  allowed <- summary(fit)$allowed
  expect_gte(allowed$share_most, mean(rowSums(fit$param$membership[, kinds == "white", drop = FALSE])))
  ranked <- false_absences(fit, n = 1)
  expect_equal(allowed$expected_most, attr(ranked, "expected_most"))
  expect_gte(allowed$expected_most, attr(ranked, "expected"))
})
