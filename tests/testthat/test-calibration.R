skip_on_cran()

quick_chains <- function(...) {
  mcmc_control(chains = 2, warmup = 100, draws = 300, thin = 3, keep = 20, progress = FALSE, ...)
}

small_sampled <- function(model, ...) {
  x <- matrix(rbinom(40, 1, 0.4), 8, dimnames = list(paste0("site", 1:8), paste0("taxon", 1:5)))
  if (model == "visits_bernoulli") {
    x <- list(x, matrix(rbinom(40, 1, 0.4), 8, dimnames = dimnames(x)))
  } else {
    x[2, 3] <- NA
  }
  if (model == "plsa") x <- (x + 1) * 2
  control <- if (model == "bmf") quick_chains(n_start = 1, n_reheat = 1) else quick_chains(n_start = 1)
  suppressWarnings(suppressMessages(match.fun(model)(x, ..., control = control)))
}

test_that("ranks of the truth are uniform for every sampler, and say which quantity they are of", {
  fits <- with_seed(1, list(
    aspect_bernoulli = small_sampled("aspect_bernoulli", k = 2, phantom = "white", estimate = "gibbs"),
    plsa = small_sampled("plsa", k = 2, estimate = "gibbs", missing = "paper"),
    noisy_or = small_sampled("noisy_or", k = 2, missed_by = "both", estimate = "gibbs"),
    bmf = small_sampled("bmf", family = "bernoulli"), visits_bernoulli = small_sampled("visits_bernoulli", k = 2,
      estimate = "gibbs")
  ))
  shared <- list(
    aspect_bernoulli = "false absences", plsa = "basis, sum of squares", noisy_or = "false absences",
    bmf = "row features", visits_bernoulli = "undetected presences"
  )
  for (name in names(fits)) {
    result <- with_seed(2, calibration(fits[[name]], nsim = 20))
    expect_identical(dim(result$ranks), c(20L, nrow(result$table)), info = name)
    expect_true(all(result$ranks > 0 & result$ranks < 1), info = name)
    expect_gt(min(result$table$p), 1e-3)
    expect_true(shared[[name]] %in% result$table$quantity, info = name)
    expect_equal(result$table$rank, unname(colMeans(result$ranks)))
    expect_match(print_words(result), "Calibration by simulation: 20 tables drawn from the prior")
  }
})

test_that("a sampler under another prior than the tables' is caught", {
  fit <- with_seed(3, small_sampled("aspect_bernoulli", k = 2, estimate = "gibbs"))
  right <- with_seed(4, calibration(fit, nsim = 40))
  expect_gt(min(right$table$p), 1e-4)
  right$table$p[] <- 0.5
  expect_match(print_words(right), "Ranks are as uniform as chance lets them be: the smallest p of 7 is 0.5")
  registerS3method("prior_draw", "of_wrong_prior", function(fit) {
    class(fit) <- setdiff(class(fit), "of_wrong_prior")
    fit$prior$aspects <- fit$prior$aspects + c(2, 0)
    prior_draw(fit)
  }, asNamespace("multicause"))
  class(fit) <- c("of_wrong_prior", class(fit))
  wrong <- with_seed(4, calibration(fit, nsim = 40))
  expect_lt(min(wrong$table$p), 1e-4)
  expect_match(print_words(wrong), "Ranks are not uniform: the smallest p of [0-9] is .* \\(")
})

test_that("ranks are those of one's own quantity, the same in parallel and for the same seed", {
  fit <- with_seed(5, small_sampled("plsa", k = 2, estimate = "gibbs", missing = "paper"))
  own <- function(fit) c(entropy = mean(fit$perplexity), loglik = fit$loglik)
  one <- with_seed(6, calibration(fit, nsim = 10, quantity = own))
  expect_identical(one$table$quantity, c("entropy", "loglik"))
  expect_identical(one, with_seed(6, calibration(fit, nsim = 10, quantity = own)))
  figure <- ggplot2::autoplot(replace(one, "table", list(transform(one$table, p = 0.5))))
  expect_identical(gsub("\n", " ", figure$labels$title), "No departure from uniform ranks in 10 tables")
  figure <- ggplot2::autoplot(replace(one, "table", list(transform(one$table, p = 0))))
  expect_identical(gsub("\n", " ", figure$labels$title), "Ranks of the truth are not uniform in 10 tables")
  plain <- suppressMessages(plsa(fit$x, 2, estimate = "map", control = fit_control(n_start = 1, progress = FALSE)))
  for (call in list(
    quote(calibration(plain)), quote(calibration(fit, nsim = 5)), quote(calibration(fit, quantity = 1)),
    quote(calibration(fit, 10, 3)), quote(calibration(1))
  )) {
    expect_error(eval(call), class = "multicause_input_error")
  }
})

test_that("two tests of uniformity are those of ranks by hand", {
  ranks <- (seq_len(20) - 0.5) / 20
  expect_identical(uniform_p(ranks), 1)
  low <- ranks / 2
  wanted <- min(stats::ks.test(low, "punif")$p.value, suppressWarnings(stats::chisq.test(c(8, 8, 4, 0, 0)))$p.value)
  expect_equal(uniform_p(low), 2 * wanted)
  expect_identical(spaced_cells(c(n = 2, m = 1), 4L), cbind(1:2, c(1, 1)) + 0)
})

test_that("tidy() of a calibration is its table", {
  fit <- with_seed(3, small_sampled("aspect_bernoulli", k = 2, estimate = "gibbs"))
  result <- with_seed(4, calibration(fit, nsim = 10))
  expect_equal(as.data.frame(tidy(result))[names(result$table)], result$table, ignore_attr = "row.names")
})

test_that("without data the draws are of the prior", {
  x <- matrix(NA_real_, 6, 5)
  prior <- list(aspects = c(2, 3), membership = 1.5)
  control <- mcmc_control(chains = 2, warmup = 100, draws = 2000, keep = 500, n_start = 1, progress = FALSE)
  fit <- with_seed(7, suppressMessages(aspect_bernoulli(x, 3, estimate = "gibbs", prior = prior, control = control)))
  drawn <- posterior_draws(fit, 1000)
  aspects <- unlist(lapply(drawn, function(draw) draw$param$aspects))
  shares <- unlist(lapply(drawn, function(draw) draw$param$membership))
  expect_gt(length(aspects), 5000L)
  expect_equal(c(mean(aspects), stats::var(aspects)), c(0.4, 0.04), tolerance = 0.05)
  expect_equal(c(mean(shares), stats::var(shares)), c(1 / 3, 2 / 9 / 5.5), tolerance = 0.05)
  at <- c(0.1, 0.25, 0.5, 0.75, 0.9)
  expect_equal(unname(stats::quantile(aspects, at)), stats::qbeta(at, 2, 3), tolerance = 0.05)
})
