# Information of a table about the probability of recording in noisy-OR; ref_nor_hold() and ref_nor_rescale() are in
# helper-noisy_or.R.

skip_on_cran()

held_run <- function(p, hold, iterations, pseudo = numeric(9), inference = "exact", accelerate = FALSE) {
  by <- if (is.null(p$start$recorded_taxon)) "site" else "both"
  model <- list(
    inference = inference, pseudo = pseudo, mask = NULL, inner = 1L, q_steps = 1L, q_rule = "paper", missed_by = by
  )
  data <- check_data(p$x, "binary", quiet = TRUE)
  control <- fit_control(n_start = 1, max_iter = iterations, tol = 0, accelerate = accelerate)
  nor_run(multicause:::nor_problem(data, p$k, 0L, model, NULL, NULL)$distinct, model, p$start, control, hold)
}

test_that("one iteration with the scale held equals the transcription", {
  set.seed(1)
  map <- unlist(noisy_or_prior(), use.names = FALSE) - 1
  for (inference in c("exact", "truncated")) {
    for (by in c("site", "both")) {
      for (pseudo in list(numeric(9), map)) {
        p <- recorded_problem(by, missing = 0.2)
        hold <- c(0, stats::runif(1, 0.3, 1), if (by == "both") stats::runif(1, 0.3, 1) else 0)
        hold[1] <- ref_nor_scale(p$start, hold)
        want <- ref_nor_recorded_pass(p$x, p$start, pseudo, hold = hold)
        got <- held_run(p, hold, 1, pseudo, inference)$param
        for (part in names(want)) expect_close(got[[part]], want[[part]], 1e-10)
      }
    }
  }
})

test_that("a scale that is held stays, the objective never falls, and free it is best", {
  set.seed(2)
  for (run in 1:30) {
    by <- if (run %% 2) "both" else "site"
    p <- recorded_problem(by, n = sample(2:25, 1), m = sample(1:8, 1), k = sample(1:4, 1), missing = run %% 3 / 10)
    hold <- c(0, 1, if (by == "both") stats::runif(1) else 0)
    hold[1] <- stats::runif(1, 0.05, 0.9) * sum(hold)
    for (inference in c("exact", "truncated")) {
      out <- held_run(p, hold, 40, inference = inference, accelerate = run %% 3 == 0)
      expect_gte(min(diff(out$outcome$trace)), -1e-9 * max(1, abs(out$outcome$objective)))
      expect_equal(ref_nor_scale(out$param, hold), hold[1], tolerance = 1e-10)
      expect_equal(sum(out$param$recorded_share), 1, tolerance = 1e-12)
    }
  }
  p <- list(x = recorded_planted(60, 1, "both", m = 10)$x, k = 2)
  p$start <- recorded_problem("both", n = 60, m = 10, k = 2)$start
  free <- held_run(p, NULL, 3000, accelerate = TRUE)
  own <- nor_own_scale(free$param)
  p$start <- free$param
  expect_equal(held_run(p, own, 200)$outcome$objective, free$outcome$objective, tolerance = 1e-9)
  expect_lt(held_run(p, own * c(0.6, 1, 1), 2000)$outcome$objective, free$outcome$objective)
})

test_that("more presences, fewer of them recorded: the likelihood is the same where no taxon has two causes", {
  set.seed(8)
  p <- recorded_problem("both", n = 15, m = 6, k = 2, missing = 0.1)
  apart <- p$start
  apart$links <- apart$links * rbind(c(1, 1, 1, 0, 0, 0), c(0, 0, 0, 1, 1, 0)) # taxon 6 is in the leak alone
  one <- utils::modifyList(p$start, list(prior = 0.4, links = p$start$links[1, , drop = FALSE]))
  for (start in list(one, apart)) {
    alone <- apply(1 - (1 - start$links) * rep(1 - start$leak, each = nrow(start$links)), 2L, max)
    for (t in list(start$recorded_taxon, 1 / alone)) {
      other <- ref_nor_rescale(start, t)
      expect_close(ref_nor_recorded_loglik(p$x, other), ref_nor_recorded_loglik(p$x, start))
    }
  }
  # If all links, and all leaks, are equal, only the number of detected taxa is informative, not which they are.
  equal <- utils::modifyList(p$start, list(links = matrix(0.3, 2, 6), leak = rep(0.1, 6), recorded_taxon = NULL))
  shuffled <- t(apply(p$x, 1L, sample))
  expect_close(ref_nor_recorded_loglik(shuffled, equal), ref_nor_recorded_loglik(p$x, equal))
  # Two causes without a leak simultaneously: rho a b (t - 1) fewer presences.
  both <- utils::modifyList(p$start, list(leak = numeric(6), links = p$start$links / 2))
  t <- 1.4
  presences <- function(par) ref_nor_there(par)[4, ] * par$recorded_taxon
  fewer <- both$recorded_taxon * both$links[1, ] * both$links[2, ] * (t - 1)
  expect_close(presences(both) - presences(ref_nor_rescale(both, t)), fewer)
  expect_gt(max(abs(ref_nor_recorded_loglik(p$x, both) - ref_nor_recorded_loglik(p$x, ref_nor_rescale(both, t)))), 1e-4)
})

test_that("one component: all numbers of false absences have the same likelihood, and it is said", {
  set.seed(3)
  x <- recorded_planted(80, 5, m = 8)$x
  fit <- quietly(noisy_or(x, 1, missed_by = "both", control = fit_control(n_start = 2)))
  sure <- identifiability(fit, nsim = 0)
  same <- range(sure$profile$missed[sure$profile$change > -1e-3])
  expect_gt(same[2], 2 * same[1])
  expect_output(print(summary(fit)), "One component does not distinguish")
  same <- recorded_problem("both", n = 15, m = 6, k = 2)
  same$start$links[] <- 0.3
  equal <- quietly(noisy_or(same$x, 2, missed_by = "both", start = same$start, control = nor_plain(0)))
  expect_output(print(summary(equal)), "All links are about equal")
})

test_that("ranges hold what is planted, where the fit alone has too few", {
  inside <- 0
  for (seed in 1:3) {
    p <- recorded_planted(150, seed, m = 25)
    set.seed(seed)
    fit <- quietly(noisy_or(p$x, 4, missed_by = "site", control = fit_control(n_start = 3)))
    sure <- identifiability(fit, nsim = 10)
    hidden <- sum(p$present == 1 & p$x == 0)
    drawn <- sure$expected[sure$expected$bound == "draws", ]
    expect_lt(fit$missed, hidden)
    inside <- inside + (drawn$least <= hidden && hidden <= drawn$most)
  }
  expect_gte(inside, 2)
  expect_true(all(diff(sure$profile$recorded) > 0) && max(sure$profile$change) == 0)
  expect_identical(sure$expected$least[sure$expected$bound == "fitted"], fit$missed)
  expect_equal(sure$n_cells, sum(p$x == 0))
  expect_output(print(sure), "of tables drawn alike .* [0-9 ]+ to [0-9 ]+\n")
  expect_output(print(summary(sure)), "Profile")
  expect_identical(names(tidy(sure))[1:4], c("phantom", "bound", "least", "most"))
  expect_identical(as.data.frame(tidy(sure, "profile")), sure$profile)
  if (requireNamespace("ggplot2", quietly = TRUE)) expect_s3_class(ggplot2::autoplot(sure), "ggplot")
})

test_that("order, missing columns, known components, masks and kept data change no profile", {
  p <- recorded_planted(60, 4, m = 10)
  set.seed(1)
  short <- fit_control(n_start = 2, max_iter = 60)
  fit <- quietly(noisy_or(p$x, 2, missed_by = "site", control = short))
  ends <- function(fit, ...) identifiability(fit, nsim = 0, ...)$expected[1, -(1:2)]
  again <- function(x, ...) {
    start <- lapply(fit$param[c("prior", "links", "leak", "recorded_share")], unname)
    start$links <- start$links[, match(colnames(x), colnames(p$x))]
    start$leak <- start$leak[match(colnames(x), colnames(p$x))]
    quietly(noisy_or(x, 2, missed_by = "site", start = start, ..., control = nor_plain(0)))
  }
  want <- ends(again(p$x))
  expect_equal(ends(again(p$x[60:1, 10:1])), want, tolerance = 0.01) # where EM stops
  some <- p$x
  some[2:9, 1:3] <- NA
  open <- identifiability(again(some), nsim = 0)
  expect_equal(open$n_cells, sum(some == 0, na.rm = TRUE))
  nothing <- matrix(NA_real_, 60, 2)
  expect_equal(ends(again(p$x, activation = nothing)), want, tolerance = 0.01)
  known <- replace(nothing, 1:5, 1)
  set.seed(2)
  sure <- identifiability(again(p$x, activation = known), nsim = 10)
  expect_true(all(is.finite(unlist(sure$profile))))
  tables <- simulate(again(p$x, activation = replace(nothing, seq_along(nothing), 0)), 20, seed = 1)
  expect_lt(mean(unlist(tables)), max(fit$param$leak) + 0.02) # none is on
  off <- again(p$x)
  off$x <- NULL
  expect_equal(ends(off, x = p$x), want)
  expect_error(identifiability(off), "keep_x")
})

test_that("what identifiability() of noisy-OR cannot take is refused", {
  p <- nor_problem()
  plain <- quietly(noisy_or(p$x, 2, control = fit_control(n_start = 1)))
  expect_error(identifiability(plain), "missed_by", class = "multicause_input_error")
  fit <- quietly(noisy_or(p$x, 2, missed_by = "site", control = fit_control(n_start = 1)))
  expect_error(identifiability(fit, nsim = 3), "0 or at least 10", class = "multicause_input_error")
  expect_error(identifiability(fit, level = 1), "level", class = "multicause_input_error")
  expect_error(identifiability(fit, n_start = 3), class = "multicause_input_error")
})

test_that("the print has the range of the tables drawn, and compares numbers as they are printed", {
  x <- recorded_planted(60, 1, "site", m = 10)$x
  fit <- quietly(noisy_or(x, 2, missed_by = "site", control = fit_control(n_start = 2)))
  sure <- identifiability(fit, nsim = 10)
  expect_match(print_words(sure), "Range over 10 tables drawn from this fit: [0-9 ]+ to [0-9 ]+ of [0-9 ]+ zeros.")
  other <- "Other priors can give numbers outside it: compare `estimate = \"gibbs\"`."
  expect_match(print_words(sure), other, fixed = TRUE)
  alone <- print_words(identifiability(fit, nsim = 0))
  expect_match(alone, "False absences for which the log-likelihood is lower by at most 2: ", fixed = TRUE)
  at <- function(bound) sure$expected$bound == bound
  below <- "The estimate is below this range, because the prior favours weak links."
  sure$expected$least[at("fitted")] <- sure$expected$most[at("fitted")] <- 476.9
  sure$expected[at("draws"), c("least", "most")] <- c(477.2, 665)
  expect_no_match(print_words(sure), "below this range")
  sure$expected$least[at("draws")] <- 477.6
  expect_match(print_words(sure), below, fixed = TRUE)
  sure$weak_links <- FALSE
  expect_match(print_words(sure), "The estimate is below this range.", fixed = TRUE)
})

test_that("print() and identifiability() have one mean probability of a record", {
  for (by in c("site", "both")) {
    x <- recorded_planted(40, 1, by, m = 8)$x
    fit <- quietly(noisy_or(x, 2, missed_by = by, control = fit_control(n_start = 1)))
    expected <- identifiability(fit, nsim = 0)$expected
    own <- expected$recorded_least[expected$bound == "fitted"]
    expect_match(print_words(fit), sprintf("recorded with probability %.2f on average", own), info = by)
  }
})

test_that("few tables are refused: the profile needs its scales", {
  set.seed(1)
  x <- matrix(rbinom(120, 1, 0.5), 12, dimnames = list(letters[1:12], LETTERS[1:10]))
  fit <- noisy_or(x, 2, missed_by = "site", control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  expect_error(identifiability(fit, nsim = 3), "`nsim` must be 0 or at least 10, not 3.", fixed = TRUE,
    class = "multicause_input_error")
})
