# noisy_or(estimate = "gibbs"): R/noisy_or_gibbs.R, R/noisy_or_gibbs_methods.R, src/noisy_or/gibbs.c.

skip_on_cran()

test_that("a sweep is the equations', draw by draw", {
  prior <- nor_default_prior("gibbs")
  for (by in c("none", "site", "both")) {
    set.seed(match(by, c("none", "site", "both")))
    drawn <- nor_gibbs_draw(14, 7, 3, by, prior)
    x <- replace(drawn$x, c(3, 20, 41), NA)
    problem <- nor_gibbs_test_problem(x, 3, drawn)
    state <- nor_gibbs_test_state(drawn)
    for (known in list(NULL, matrix(rep_len(c(NA, 1L, NA, 0L, NA), 42), 3))) {
      problem$data$known <- known
      if (!is.null(known)) state$on[!is.na(known)] <- known[!is.na(known)]
      set.seed(99)
      got <- nor_gibbs_sweeps(problem, state, 1L, 1L)
      set.seed(99)
      want <- ref_nor_sweep(x, state, drawn$model$pseudo, known = known)
      for (part in setdiff(names(state), "coef")) {
        expect_equal(got$state[[part]], want$state[[part]], tolerance = 1e-10, info = paste(by, part))
      }
      if (by != "none") expect_identical(got$note[4L], want$missed)
    }
  }
})

test_that("a sweep of repeated visits is the equations'", {
  set.seed(5)
  drawn <- nor_gibbs_draw(12, 6, 2, "both", nor_default_prior("gibbs"))
  cell <- array(stats::rbinom(12 * 6 * 3, 1, 0.5) * rep(drawn$present, 3), c(12, 6, 3))
  cell[1:20] <- NA
  data <- nor_check_data(cell, "auto", "both", mcmc_control(progress = FALSE))
  problem <- nor_gibbs_test_problem(data$x, 2, drawn)
  problem$data <- data
  state <- nor_gibbs_test_state(drawn)
  set.seed(9)
  got <- nor_gibbs_sweeps(problem, state, 1L, 1L)
  set.seed(9)
  want <- ref_nor_sweep(as.matrix(data$x), state, drawn$model$pseudo, lapply(data$visits, t))
  for (part in setdiff(names(state), "coef")) {
    expect_equal(got$state[[part]], want$state[[part]], tolerance = 1e-10, info = part)
  }
})

test_that("what is noted of a draw is what its parameters say", {
  set.seed(2)
  drawn <- nor_gibbs_draw(9, 5, 2, "both", nor_default_prior("gibbs"))
  problem <- nor_gibbs_test_problem(drawn$x, 2, drawn)
  # All is known and nothing is drawn of rows but g: the note is of the parameters that went in.
  problem$data$known <- structure(as.integer(drawn$on), dim = dim(drawn$on))
  out <- nor_gibbs_sweeps(problem, nor_gibbs_test_state(drawn), 1L, 1L)
  rho <- recorded_probabilities(drawn$par, recorded_grid_probabilities()[out$grid + 1L])
  there <- 1 - exp(crossprod(drawn$on, log1p(-drawn$par$links))) * rep(1 - drawn$par$leak, each = 9)
  one <- rho * there
  loglik <- sum(stats::dbinom(drawn$x, 1, one, log = TRUE))
  expect_equal(out$note[2L], loglik)
  expect_equal(out$note[5L], mean(rho))
  expect_equal(out$note[-(1:7)], one[t(problem$probe + 1L)])
  beta <- function(p, at) sum(drawn$model$pseudo[at] * log(p) + drawn$model$pseudo[at + 1] * log1p(-p))
  par <- drawn$par
  expect_equal(
    out$note[1L],
    loglik + sum(stats::dbinom(drawn$on, 1, par$prior, log = TRUE)) + sum(log(par$recorded_share[out$grid + 1L])) +
      beta(par$prior, 1) + beta(par$links, 3) + beta(par$leak, 5) + beta(par$recorded_taxon, 7) +
      drawn$model$pseudo[9] * sum(log(par$recorded_share))
  )
  cells <- array(out$sum_cell, c(9, 5, 6))
  expect_equal(cells[, , 1], one)
  expect_equal(cells[, , 2], one^2)
  missed <- (1 - rho) * there / (1 - rho * there)
  expect_equal(cells[, , 3], missed)
  expect_equal(cells[, , 4], missed^2)
  expect_equal(cells[, , 5], there)
  expect_equal(cells[, , 6], (1 - rho) / (1 - rho * there))
})

test_that("the sampler is calibrated, and mistakes are caught", {
  set.seed(4)
  ranks <- nor_gibbs_ranks(12, 5, 2, "site", n_set = 150)
  expect_gt(min(rank_p(ranks, 19)), 1e-3 / nrow(ranks))
  set.seed(1)
  wrong <- function(problem, state, n, thin) {
    problem$model$pseudo[3:4] <- problem$model$pseudo[3:4] + 1 # another prior of links
    nor_gibbs_sweeps(problem, state, n, thin)
  }
  expect_lt(min(rank_p(nor_gibbs_ranks(12, 5, 2, "site", n_set = 150, sweep = wrong), 19)), 1e-6)
})

recorded_table <- function(seed, n = 40, m = 12) {
  set.seed(seed)
  links <- rbind(rep(c(0.8, 0), c(7, 5)), rep(c(0, 0.8), c(5, 7)))
  on <- matrix(stats::rbinom(2 * n, 1, 0.5), n)
  there <- 1 - exp(on %*% log(1 - links)) * 0.95
  present <- matrix(stats::rbinom(n * m, 1, there), n)
  x <- present * matrix(stats::rbinom(n * m, 1, rep(stats::runif(n, 0.2, 1), m)), n)
  dimnames(x) <- list(paste0("site", seq_len(n)), paste0("taxon", seq_len(m)))
  list(x = x, present = present)
}
chains <- function(...) mcmc_control(chains = 2, warmup = 100, draws = 100, progress = FALSE, ...)
sampled <- function(x, ...) suppressWarnings(noisy_or(x, 2, estimate = "gibbs", control = chains(), ...))

test_that("answers are means over draws", {
  set.seed(1)
  x <- recorded_table(3)$x
  fit <- sampled(x, missed_by = "site")
  expect_equal(fit$missed, mean(fit$trace$missed))
  expect_identical(fitted(fit), predict(fit))
  ends <- predict(fit, level = 0.8, rows = 2:3)
  expect_true(all(ends$lower <= ends$mean & ends$mean <= ends$upper))
  expect_identical(ends$mean, fitted(fit)[2:3, ])
  present <- predict(fit, type = "present")
  expect_true(all(present[x == 1] == 1))
  expect_equal(sum(present[x == 0]), fit$missed, tolerance = 0.1)
  expect_equal(range(rowSums(predict(fit, type = "activation"))) <= 2, c(TRUE, TRUE))
  # New sites: the mean of what the draws say.
  draws <- posterior_draws(fit, 1000)
  expect_length(draws, 200)
  each <- lapply(draws, predict, x[1:3, 12:1])
  expect_equal(predict(fit, x[1:3, 12:1]), Reduce(`+`, each) / length(each))
  expect_equal(dim(predict(fit, type = "cell", rows = 1:2)), c(2L, 12L, 3L))
  expect_error(predict(fit, x[1:3, ], level = 0.9), class = "multicause_input_error")
  expect_equal(confint(fit, "missed", level = 0.9)[1L, ], unname(stats::quantile(fit$trace$missed, c(0.05, 0.95))),
    ignore_attr = TRUE)
  expect_identical(nrow(confint(fit)), 3L + 2L + 12L + 24L) # quantities, prior, leak, links
  expect_identical(rownames(confint(fit, "taxon3")), c("leak[taxon3]", "links[A1, taxon3]", "links[A2, taxon3]"))
  ends <- round(confint(fit, "missed", level = 0.9)[1L, ])
  expect_output(print(fit), sprintf("90 %% interval %d to %d", ends[1L], ends[2L]))
  expect_output(print(summary(fit)), "ess_bulk")
  expect_identical(dim(simulate(fit, 2, seed = 1)$sim_2), dim(x))
  ranked <- false_absences(fit)
  expect_true(all(c("missed_low", "missed_high") %in% names(ranked)))
  loss <- test_loglik(fit, x[1:4, ])
  by_hand <- vapply(draws[round(seq(1, 200, length.out = 100))], function(one) {
    as.vector(test_loglik(one, x[1:4, ]))
  }, numeric(4))
  expect_equal(as.vector(loss), log(rowMeans(exp(by_hand))))
  for (verb in list(logLik, identifiability, bootstrap_draws)) expect_error(verb(fit), class = "multicause_input_error")
})

test_that("repeated visits, effort, masks and known sources", {
  set.seed(1)
  drawn <- recorded_table(4)
  visits <- lapply(1:3, function(v) drawn$present * matrix(stats::rbinom(480, 1, 0.6), 40))
  fit <- sampled(visits, missed_by = "both")
  expect_identical(dim(recorded_probability(fit)), c(40L, 12L, 3L))
  any <- Reduce(pmax, visits)
  expect_true(all(predict(fit, type = "present")[any == 1] == 1))
  expect_lt(abs(fit$missed - sum(drawn$present[any == 0])), 40)
  effort <- rowSums(drawn$x)
  fit <- sampled(drawn$x, missed_by = "site", effort = effort)
  expect_named(fit$effort$coefficients, c("intercept", "slope"))
  expect_lt(fit$effort$coefficients[["slope"]], 0)
  expect_equal(sum(fit$param$recorded_share), 1)
  mask <- matrix(1, 2, 12)
  mask[1, 3] <- 0
  known <- matrix(NA, 40, 2)
  known[2, ] <- c(1, 0)
  x <- replace(drawn$x, 5, NA)
  fit <- sampled(x, mask = mask, activation = known)
  expect_identical(unname(fit$param$links[1, 3]), 0)
  expect_identical(unname(fit$param$activation[2, ]), c(1, 0))
  expect_gt(impute(fit)[5], 0)
  expect_null(fit$missed)
  expect_error(sampled(drawn$x, surplus = 1), class = "multicause_input_error")
  expect_error(noisy_or(drawn$x, 2, prior = noisy_or_prior(links = c(0.5, 1))), "at least 1")
})

test_that("the seed alone decides, and chains go on", {
  x <- recorded_table(6)$x
  hold_chains(
    function(x, ...) {
      set.seed(9)
      quietly(noisy_or(x, 2, missed_by = "both", estimate = "gibbs", control = chains(...)))
    }, x, recorded_table(7)$x, function(one) {
      data <- check_data(x, "binary", quiet = TRUE)
      model <- one$model
      nor_gibbs_problem(data, 2L, model, one$control)
    }
  )
  set.seed(1)
  fit <- sampled(x, missed_by = "site")
  more <- quietly(update(fit, start = fit, control = chains()))
  expect_identical(more$starts$init, rep("given", 2L))
  expect_error(quietly(update(fit, start = fit, missed_by = "both")), class = "multicause_input_error")
})

test_that("the print of a mode reports that its number is probably too low, and why", {
  x <- recorded_table(8)$x
  few <- fit_control(n_start = 2)
  low <- function(...) print_words(noisy_or(x, 2, missed_by = "site", control = few, ...))
  expect_match(low(), "probably too low: the prior favours weak links.", fixed = TRUE)
  expect_match(low(prior = list(links = c(1.05, 1.05))), "probably too low (?noisy_or_recording).", fixed = TRUE)
  expect_false(any(grepl("too low", found_sentences(noisy_or(
    x, 2, missed_by = "site", effort = rowSums(x), control = few
  )))))
})
