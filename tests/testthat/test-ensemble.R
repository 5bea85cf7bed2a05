# Tests also R/modes.R.

few <- quiet_control(n_start = 1, n_polish = 0, max_iter = 200, tol = 1e-6)

test_that("an ensemble averages cells, and of aspect Bernoulli fits is one itself", {
  set.seed(1)
  x <- binary_matrix(20, 8, missing = 0.05)
  several <- ensemble(x, k = 2:3, members = 2, control = few)
  p <- Reduce(`+`, lapply(several$fits, fitted)) / 8
  differ <- vapply(1:4, function(i) max(abs(fitted(several$fits[[2 * i]]) - fitted(several$fits[[2 * i - 1]]))), 0)
  expect_true(all(differ > 0)) # members of a setting have their own starts
  expect_equal(fitted(several), p)
  expect_equal(several$param$membership %*% several$param$aspects, p, ignore_attr = TRUE)
  expect_equal(unname(rowSums(several$param$membership)), rep(1, 20))
  cells <- false_absences(several, n = 5)
  expect_equal(cells$probability, sort(p[which(x == 0)], decreasing = TRUE)[1:5])
  expect_s3_class(phantoms(several), "phantoms")
  expect_identical(dim(predict(several, x[1:3, ])), c(3L, 8L))
  expect_identical(is.na(residuals(several)), is.na(x))
  expect_error(logLik(several), class = "multicause_input_error")
})

test_that("the members are the recommended ones, unless something is said of them", {
  x <- binary_matrix(20, 8)
  prior <- list(aspects = c(1.2, 2), membership = 1.03)
  set.seed(5)
  default <- ensemble(x, k = 2:3, members = 1, control = few)
  set.seed(5)
  spelt <- ensemble(x, k = 2:3, members = 1, grid = list(estimate = c("ml", "map")), prior = prior, control = few)
  expect_identical(fitted(default), fitted(spelt))
  expect_setequal(vapply(default$fits, function(fit) fit$estimate, ""), c("ml", "map"))
  for (one in list(list(estimate = "map"), list(model = aspect_bernoulli), list(prior = prior))) {
    several <- do.call(ensemble, c(list(x, k = 2:3, members = 1, control = few), one))
    expect_length(unique(vapply(several$fits, function(fit) fit$estimate, "")), 1L)
  }
})

test_that("starts and lists of fits of any models can be averaged", {
  set.seed(2)
  x <- binary_matrix(20, 8)
  kept <- aspect_bernoulli(x, 2, control = quiet_control(n_start = 3, screen = FALSE, keep_starts = TRUE, n_polish = 0))
  several <- ensemble(kept)
  expect_length(several$fits, 3L)
  expect_equal(fitted(several$fits[[which.max(kept$starts$objective)]]), fitted(kept))
  mixed <- ensemble(list(kept, logistic_pca(x, 1, control = few)), weights = c(1, 3))
  expect_equal(mixed$weights, c(0.25, 0.75))
  expect_equal(fitted(mixed), 0.25 * fitted(mixed$fits[[1]]) + 0.75 * fitted(mixed$fits[[2]]))
  expect_false(inherits(mixed, "aspect_bernoulli"))
})

test_that("held-out weights find the better group", {
  p <- cbind(c(0.9, 0.8, 0.7), c(0.1, 0.2, 0.3))
  expect_equal(stack_em(p), c(1, 0), tolerance = 1e-6)
  both <- cbind(c(0.9, 0.1), c(0.1, 0.9))
  expect_equal(stack_em(both), c(0.5, 0.5))
  set.seed(3)
  truth <- rbind(rep(c(0.95, 0.05), each = 6), rep(c(0.05, 0.95), each = 6))
  x <- random_bernoulli(truth[rep(1:2, 20), ])
  several <- ensemble(
    x,
    k = 1:2, model = bernoulli_mixture, members = 1, weights = "held_out", folds = 3, control = few
  )
  expect_gt(several$weights[2], 0.9)
  expect_equal(sum(several$weights), 1)
  # No fit of a third setting was finished.
  weights <- lapply(list(1:2, c(1L, 3L)), function(group) {
    set.seed(1)
    member_weights("held_out", several$fits, group, 3, 1e-6, x)
  })
  expect_identical(weights[[2L]], weights[[1L]])
})

test_that("variational fits are averaged over k and priors by held-out cells, with draws of their members", {
  set.seed(7)
  x <- simulated_sites$x[1:50, 1:20]
  few <- quiet_control(n_start = 1, n_polish = 0, max_iter = 80, tol = 1e-5)
  several <- suppressWarnings(ensemble(x, k = 2:3, estimate = "vb", phantom = "white", folds = 2, control = few))
  expect_length(several$fits, 8L)
  expect_identical(unique(vapply(several$fits, function(fit) fit$estimate, "")), "vb")
  expect_length(unique(lapply(several$fits, function(fit) fit$prior)), 4L)
  expect_gt(length(unique(several$weights)), 1L) # not equal: by held-out cells
  # Messages are stored.
  said <- suppressWarnings(
    ensemble(x, k = 2, members = 2, estimate = "vb", weights = "equal", phantom = "white", control = few)
  )
  expect_identical(said$weights, rep(1 / 8, 8))
  given <- ensemble(several$fits[1:2], weights = c(9, 1))
  expect_equal(given$draw_weights, c(0.9, 0.1))
  set.seed(1)
  draws <- posterior_draws(several, 200)
  k <- vapply(draws, function(draw) draw$dims[["k"]], 0)
  # Proportional to square roots of the weights, which come from held-out cells.
  weights <- sqrt(several$weights) / sum(sqrt(several$weights))
  share <- sum(weights[vapply(several$fits, function(fit) fit$dims[["k"]], 0) == 2])
  expect_equal(several$draw_weights, weights)
  expect_lt(abs(mean(k == 2) - share), 0.15)
  expect_equal(unname(rowSums(draws[[1]]$param$membership)), rep(1, 50))
  # Totals averaged over k and priors: ranges over these draws, by hand.
  sums <- by_taxon(several, draws = draws)
  expect_equal(sum(sums$missed), sum(false_absences(several, Inf)$missed))
  missed <- vapply(draws, function(draw) {
    cells <- false_absences(draw, Inf, kinds = unname(ifelse(draw$fixed == "free", "content", draw$fixed)), x = x)
    sum(cells$missed[cells$taxon == sums$taxon[3]])
  }, 0)
  expect_lt(sums$low[3], mean(missed))
  expect_gt(sums$high[3], mean(missed))
  expect_gte(sums$high[3] - sums$low[3], diff(quantile(missed, c(0.05, 0.95)))[[1]] * 0.9)
  expect_true(all(c("low", "high") %in% names(by_taxon(several))))
  expect_output(print(by_taxon(several)), "contained 87 to 99 % of the true numbers")
  expect_output(print(by_site(several)), "contained 86 to 98 % of the true numbers")
  for (other in list(sums, by_taxon(several, level = 0.8), by_taxon(said), by_taxon(several$fits[[1]]))) {
    expect_false(any(grepl("true numbers", capture.output(print(other)))))
  }
  sure <- identifiability(several$fits[[1]], draws = draws[1:20], cells = TRUE)
  expect_true(all(sure$cells$draws_most >= 0 & sure$cells$draws_most <= 1))
  # Each member's expected numbers equal those of the member alone.
  found <- summary(several)
  expect_equal(found$missed[2], sum(false_absences(several$fits[[2]], Inf)$missed), tolerance = 1e-8)
  expect_equal(nrow(age_profile(several, age = 1:20)$aspects), several$dims[["k"]] - 8)
  others <- ensemble(list(bernoulli_mixture(x, 2, control = few)))
  expect_error(posterior_draws(others), class = "multicause_input_error")
  expect_error(posterior_draws(suppressWarnings(ensemble(x, k = 2, members = 1, control = few))), "no posterior")
})

test_that("fits are averaged over estimates, too, by held-out cells", {
  set.seed(8)
  x <- simulated_sites$x[1:40, 1:15]
  few <- quiet_control(n_start = 1, n_polish = 0, max_iter = 60, tol = 1e-5)
  flat <- list(aspects = c(1, 1), membership = 1)
  chains <- mcmc_control(chains = 2, warmup = 20, draws = 40, n_start = 1, progress = FALSE)
  fits <- suppressWarnings(suppressMessages(list(
    aspect_bernoulli(x, 3, estimate = "ml", phantom = "white", control = few),
    aspect_bernoulli(x, 3, estimate = "map", phantom = "white", control = few),
    aspect_bernoulli(x, 3, estimate = "vb", phantom = "white", control = few),
    aspect_bernoulli(x, 3, estimate = "gibbs", prior = flat, phantom = "white", control = chains)
  )))
  several <- suppressWarnings(ensemble(fits, weights = "held_out", folds = 2))
  expect_identical(summary(several)$estimate, c("ml", "map", "vb", "gibbs"))
  expect_equal(sum(several$weights), 1)
  expect_gt(length(unique(several$weights)), 1L)
  expect_output(print(several), "gibbs +3 +1 .*map +3 +1 .*ml +3 +1 .*vb +3 +1 ")
  expect_equal(sum(by_taxon(several)$missed), sum(several$weights * summary(several)$missed), tolerance = 0.05)
  total <- attr(by_taxon(several), "total")
  expect_lt(total[1], total[2])
  # A member without a posterior contributes its point estimate.
  mixed <- ensemble(fits[c(1, 3)], weights = c(1, 1))
  set.seed(1)
  draws <- posterior_draws(mixed, 20)
  as_fitted <- vapply(draws, function(draw) identical(draw$param$membership, fits[[1]]$param$membership), NA)
  expect_true(any(as_fitted) && !all(as_fitted))
})

test_that("draws of an average are wider in memberships than those of its members, with the same mean", {
  x <- simulated_sites$x[1:40, 1:15]
  few <- quiet_control(n_start = 1, n_polish = 0, max_iter = 60, tol = 1e-5)
  set.seed(9)
  fit <- suppressWarnings(aspect_bernoulli(x, 3, estimate = "vb", phantom = "white", control = few))
  shares <- function(of) vapply(posterior_draws(of, 200), function(draw) draw$param$membership[1:10, 1], numeric(10))
  alone <- shares(fit)
  averaged <- shares(ensemble(list(fit)))
  # Dirichlets with a quarter of the data's weight have nearly twice the spread.
  ratio <- mean(apply(averaged, 1, sd)) / mean(apply(alone, 1, sd))
  expect_gt(ratio, 1.3)
  expect_lt(ratio, 2)
  expect_lt(max(abs(rowMeans(averaged) - rowMeans(alone))), 0.15)
})

test_that("members that disagree about what was missed are warned of, others are not", {
  x <- simulated_sites$x[1:40, 1:12]
  few <- quiet_control(n_start = 1, n_polish = 0, max_iter = 60, tol = 1e-5)
  fit <- suppressWarnings(aspect_bernoulli(x, 3, estimate = "vb", phantom = "white", control = few))
  # The same content, with a small and with a large share of the phantom.
  moved <- function(share) {
    fit$param$membership[, 1:2] <- (1 - share) * fit$param$membership[, 1:2] / rowSums(fit$param$membership[, 1:2])
    fit$param$membership[, 3] <- share
    fit
  }
  shown <- function(...) paste(utils::capture.output(ensemble(list(...), weights = c(0.45, 0.55))), collapse = " ")
  expect_match(shown(moved(0.02), moved(0.6)), "Warning: the members estimate .* may be far off")
  expect_no_match(shown(moved(0.5), moved(0.55)), "Warning")
  expect_match(shown(moved(0.5), moved(0.55)), "members estimate .* zeros to be false\\.")
  apart <- members_apart(ensemble(list(moved(0.02), moved(0.6)), weights = c(0.45, 0.55)))
  each <- log(c(sum(false_absences(moved(0.02), Inf)$missed), sum(false_absences(moved(0.6), Inf)$missed)))
  expect_equal(apart$spread, sqrt(0.45 * 0.55) * abs(diff(each)), tolerance = 1e-8)
})

test_that("components are matched by the assignment problem", {
  set.seed(4)
  x <- binary_matrix(40, 8)
  fit <- bernoulli_mixture(x, 3, control = few)
  mixed <- reorder_components(fit, c(3, 1, 2))
  expect_equal(fitted(mixed), fitted(fit))
  expect_equal(unname(mixed$param$weights), unname(fit$param$weights[c(3, 1, 2)]))
  back <- align_components(mixed, fit)
  expect_identical(back$permutation, c(2L, 3L, 1L))
  expect_equal(back$fit$param, fit$param)
  expect_equal(back$match$distance, c(0, 0, 0))
  fewer <- align_components(fit, fit$param$prototypes[2, , drop = FALSE])
  expect_identical(fewer$permutation, c(2L, 1L, 3L))
  more <- align_components(bernoulli_mixture(x, 2, control = few), fit)
  expect_identical(sum(is.na(more$match$component)), 1L)
  for (model in list(logistic_pca, nmf, aspect_bernoulli)) {
    other <- model(x, 2, control = few)
    expect_equal(fitted(reorder_components(other, 2:1)), fitted(other))
  }
})

test_that("modes() groups starts by what they say of the cells", {
  set.seed(5)
  truth <- rbind(rep(c(0.95, 0.05), each = 6), rep(c(0.05, 0.95), each = 6))
  x <- random_bernoulli(truth[rep(1:2, 30), ])
  kept <- quiet_control(n_start = 6, screen = FALSE, keep_starts = TRUE)
  one <- modes(bernoulli_mixture(x, 2, control = kept))
  expect_identical(nrow(one$modes), 1L)
  expect_identical(one$modes$starts, 6L)
  several <- modes(bernoulli_mixture(x, 5, control = kept), tol = 1e-3)
  expect_identical(sum(several$modes$starts), 6L)
  expect_identical(several$modes$behind[1], 0)
  expect_false(is.unsorted(several$modes$behind))
  expect_identical(several$distances, t(several$distances))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(several))
  expect_output(print(several), "Solutions: ")
})

test_that("prints and messages", {
  set.seed(6)
  x <- binary_matrix(10, 5)
  fit <- bernoulli_mixture(x, 2, control = few)
  expect_snapshot(print(ensemble(list(fit, fit))))
  expect_snapshot(error = TRUE, {
    ensemble(list())
    ensemble(list(fit, 1))
    ensemble(list(fit, bernoulli_mixture(x[, 5:1], 2, control = few)))
    ensemble(list(fit), weights = c(1, 2))
    ensemble(fit)
    ensemble(x, k = 0)
    ensemble(list(fit), folds = 3, members = 2)
    modes(fit)
    align_components(fit, 1)
    align_components(fit, matrix(0, 2, 3))
    logLik(ensemble(list(fit)))
  })
})

test_that("components are matched by the least sum of squared distances, also where one side has more", {
  set.seed(6)
  orders <- as.matrix(expand.grid(rep(list(1:4), 4)))
  orders <- orders[apply(orders, 1, anyDuplicated) == 0, ]
  for (try in 1:20) {
    few <- random_unit(3, 5)
    many <- random_unit(4, 5)
    cost <- apply(orders[, 1:3], 1, function(at) sum((few - many[at, ])^2))
    best <- unname(orders[which.min(cost), 1:3])
    expect_identical(match_components(many, few), best)
    expect_identical(match_components(few, many), match(1:4, best))
  }
})

test_that("members from the starts of one fit have posteriors, likelihoods and curves of their own", {
  set.seed(71)
  x <- matrix(rbinom(300, 1, 0.4), 30)
  kept <- fit_control(keep_starts = TRUE, n_start = 4, n_finish = 4, n_polish = 0, progress = FALSE)
  quiet <- function(expr) suppressWarnings(suppressMessages(expr))
  of_data <- function(fit) sum(stats::dbinom(x, 1, fitted(fit), log = TRUE))
  vb <- ensemble(quiet(aspect_bernoulli(x, 3, estimate = "vb", control = kept)))$fits
  for (fit in vb) {
    now <- fit$posterior
    expect_equal(fit$param$aspects, now$one / (now$one + now$zero), ignore_attr = TRUE, tolerance = 1e-6)
    expect_equal(fit$loglik, of_data(fit), tolerance = 1e-8)
  }
  ml <- ensemble(quiet(aspect_bernoulli(x, 3, estimate = "ml", control = kept)))$fits
  for (fit in ml) expect_equal(as.numeric(logLik(fit)), of_data(fit), tolerance = 1e-6)
  curves <- vapply(
    ensemble(quiet(aspect_bernoulli(x, 3, effort = 1:30, phantom = "white", control = kept)))$fits,
    function(fit) stats::cor(fit$effort$coefficients[[2]] * 1:30, stats::qlogis(fit$param$membership[, 3])), 0
  )
  expect_gt(min(curves), 0.999)
  topics <- ensemble(quiet(plsa(x + 1, 2, estimate = "vb", control = kept)))$fits
  for (fit in topics) {
    expect_equal(fit$param$basis, fit$posterior$basis / rowSums(fit$posterior$basis), ignore_attr = TRUE,
      tolerance = 1e-6)
  }
})

test_that("an average of models of counts predicts presences of new rows, as of its own", {
  set.seed(4)
  x <- matrix(rpois(72, 2), 12, 6, dimnames = list(paste0("s", 1:12), paste0("t", 1:6)))
  control <- fit_control(n_start = 2)
  fits <- suppressMessages(list(plsa(x, 2, control = control), nmf(x, 2, loss = "kl", control = control)))
  both <- ensemble(fits)
  p <- predict(both, x)
  expect_true(all(p >= 0 & p <= 1))
  expect_equal(p, fitted(both), tolerance = 1e-3)
  expect_error(simulate(both), "fit of ensemble\\(\\)", class = "multicause_input_error")
})

test_that("modes need a distance above 0", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- bernoulli_mixture(x, 2,
    control = fit_control(n_start = 2, max_iter = 2, tol = 0, keep_starts = TRUE, screen = FALSE))
  expect_error(modes(fit, tol = 0), "`tol` must be above 0.", fixed = TRUE, class = "multicause_input_error")
})

test_that("an average is not updated", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  average <- ensemble(list(aspect_bernoulli(x, 2, control = brief), aspect_bernoulli(x, 3, control = brief)))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(update(average, x = x), "An average of fits cannot be updated: update its members and average them again.")
})
