# Noisy-OR with some known sources: `activation` of noisy_or() and predict(), and most probable or drawn sources
# (R/noisy_or.R, R/noisy_or_methods.R); the equations are ref_nor_*() of helper-noisy_or.R with `known`.

known_problem <- function(..., share = 0.4, recorded = FALSE) {
  p <- nor_problem(...)
  p$known <- matrix(stats::rbinom(nrow(p$x) * p$k, 1L, 0.5), ncol = p$k)
  p$known[stats::runif(length(p$known)) > share] <- NA
  if (recorded) {
    p$start$recorded_share <- stats::runif(10) + 0.05
    p$start$recorded_share <- p$start$recorded_share / sum(p$start$recorded_share)
    p$start$recorded_taxon <- stats::runif(ncol(p$x), 0.3, 0.95)
  }
  p
}

known_fit <- function(p, iterations = 1, estimate = "ml", inner = 1, ...) {
  quietly(noisy_or(
    p$x, p$k, estimate = estimate, start = p$start, activation = p$known, inner = inner, ...,
    control = nor_plain(iterations)
  ))
}

test_that("one iteration with known sources equals the transcription", {
  set.seed(1)
  map <- unlist(noisy_or_prior(), use.names = FALSE) - 1
  for (inference in c("exact", "truncated")) {
    for (recorded in c(FALSE, TRUE)) {
      for (estimate in c("ml", "map")) {
        p <- known_problem(missing = if (estimate == "ml") 0.2 else 0, recorded = recorded)
        pseudo <- if (estimate == "map") map else numeric(9)
        want <- if (recorded) {
          ref_nor_recorded_pass(p$x, p$start, pseudo, p$known)
        } else {
          ref_nor_pass(p$x, p$start, 1L, pseudo, p$known)
        }
        fit <- known_fit(p, 1, estimate, inference = inference, missed_by = if (recorded) "both" else "none")
        for (part in names(want)) expect_close(fit$param[[part]], want[[part]])
        loglik <- if (recorded) ref_nor_recorded_loglik else ref_nor_loglik
        expect_close(fit$loglik, sum(loglik(p$x, want, p$known)))
        expect_identical(fit$param$activation[!is.na(p$known)], p$known[!is.na(p$known)] + 0)
        expect_identical(unname(fit$known), p$known)
      }
    }
  }
})

test_that("a known source is one that is part of the leak, or none", {
  set.seed(2)
  for (inference in c("exact", "truncated", "variational")) {
    for (recorded in if (inference == "variational") FALSE else c(FALSE, TRUE)) {
      p <- known_problem(n = 6, m = 5, k = 4, missing = 0.1, recorded = recorded)
      by <- if (recorded) "both" else "none"
      fit <- quietly(noisy_or(
        p$x, 4, inference = inference, estimate = "ml", missed_by = by, start = p$start, control = nor_plain(0)
      ))
      known <- c(NA, 1, 0, 1)
      rest <- p$start
      rest$leak <- 1 - (1 - rest$leak) * (1 - rest$links[2, ]) * (1 - rest$links[4, ])
      rest[c("prior", "links")] <- list(rest$prior[1], rest$links[1, , drop = FALSE])
      small <- quietly(noisy_or(
        p$x, 1, inference = inference, estimate = "ml", missed_by = by, start = rest, control = nor_plain(0)
      ))
      given <- matrix(known, 6, 4, byrow = TRUE)
      on <- predict(fit, p$x, "activation", activation = given)
      # The bound is not a posterior: with known sources, those of a variational fit are computed from its parameters.
      small$inference <- if (inference == "variational") "exact" else inference
      expect_close(on[, 1], predict(small, p$x, "activation"))
      expect_identical(unname(on[, 2:4]), given[, 2:4])
      expect_close(predict(fit, activation = given), predict(small, p$x))
      expect_close(predict(fit, type = "present", activation = given), predict(small, p$x, "present"))
      cell <- predict(fit, type = "cell", activation = given)
      leak <- predict(small, p$x, "cell")[, , 2] / rep(rest$leak, each = 6)
      expect_close(cell[, , 1][p$x %in% 1], predict(small, p$x, "cell")[, , 1][p$x %in% 1])
      expect_close(cell[, , 2][p$x %in% 1], (leak * rep(p$start$links[2, ], each = 6))[p$x %in% 1])
      expect_close(cell[, , 5][p$x %in% 1], (leak * rep(p$start$leak, each = 6))[p$x %in% 1])
      expect_true(all(cell[, , 3][p$x %in% 1] == 0))
    }
  }
})

test_that("predictions given some sources are sums over the others", {
  set.seed(3)
  for (inference in c("exact", "truncated")) {
    for (k in c(3, 6)) { # all states are listed, and not
      p <- known_problem(n = 12, m = 5, k = k, missing = 0.15)
      fit <- known_fit(p, 3, inference = inference)
      par <- lapply(fit$param, unname)
      posterior <- ref_nor_posterior(p$x, par, p$known)
      states <- ref_nor_states(k)
      one <- 1 - exp(states %*% log(1 - par$links)) * rep(1 - par$leak, each = 2^k)
      new <- quietly(noisy_or(p$x, k, inference = inference, start = par[1:3], control = nor_plain(0)))
      some <- k > 4 && inference == "truncated" # of the states, the best
      tolerance <- if (some) 0.05 else 1e-12
      expect_lt(max(abs(fit$param$activation - posterior %*% states)), tolerance)
      expect_lt(max(abs(predict(fit) - posterior %*% one)), tolerance)
      expect_equal(predict(new, activation = p$known), predict(fit), tolerance = 1e-10)
      best <- states[apply(posterior, 1L, which.max), ]
      expect_equal(unname(predict(new, p$x, "map", activation = p$known)), unname(best), ignore_attr = TRUE)
    }
  }
})

test_that("the objective never falls where sources are known", {
  set.seed(4)
  for (run in 1:15) {
    p <- known_problem(n = 15, m = 5, k = 3, missing = sample(c(0, 0.2), 1))
    for (inference in c("exact", "truncated")) {
      fit <- quietly(noisy_or(
        p$x, 3, inference = inference, start = p$start, activation = p$known, estimate = if (run %% 2) "ml" else "map",
        control = fit_control(n_start = 1, max_iter = 30, tol = 0, accelerate = run %% 3 == 0)
      ))
      expect_gte(min(diff(fit$trace$objective)), -1e-10 * max(1, abs(fit$objective)))
    }
  }
})

test_that("many sources, all of them known, are counted", {
  set.seed(5)
  on <- matrix(stats::rbinom(40 * 70, 1L, 0.1), 40)
  x <- (on[, 1:20] | on[, 51:70]) + 0 # 2 words of bits
  start <- list(
    prior = rep(0.1, 70), leak = rep(0.01, 20), links = rbind(diag(0.5, 20), matrix(0.01, 30, 20), diag(0.5, 20))
  )
  fit <- quietly(noisy_or(x, 70, start = start, activation = on, estimate = "ml", control = nor_plain(1)))
  expect_identical(unname(fit$param$activation), on + 0)
  expect_close(fit$param$prior, colMeans(on))
  want <- 1 - exp(on %*% log(1 - fit$param$links)) * rep(1 - fit$param$leak, each = 40)
  expect_close(fitted(fit), want, 1e-10)
  log_prior <- stats::dbinom(on, 1, rep(fit$param$prior, each = 40), log = TRUE)
  expect_close(fit$loglik, sum(stats::dbinom(x, 1, want, log = TRUE)) + sum(log_prior), 1e-10)
})

test_that("sites whose causes are known teach the others", {
  planted <- nor_planted(150, 3, leak = 0.1)
  known <- planted$on
  known[-(1:40), ] <- NA
  set.seed(1)
  fit <- quietly(noisy_or(planted$x, 4, activation = known, control = fit_control(n_start = 1)))
  expect_gt(min(diag(stats::cor(t(fit$param$links), t(planted$links)))), 0.95) # in the supplied order
  hidden <- 41:150
  expect_lt(mean(abs(fit$param$activation - planted$on)[hidden, ]), 0.1)
  expect_output(print(summary(fit)), "Supplied: which components are on, 160 of 600")
})

test_that("sources are drawn from their posterior, by R's random numbers", {
  set.seed(6)
  for (inference in c("exact", "truncated", "variational")) {
    for (recorded in if (inference == "variational") FALSE else c(FALSE, TRUE)) {
      p <- known_problem(n = 4, m = 5, k = 3, missing = 0.1, recorded = recorded)
      fit <- quietly(noisy_or(
        p$x, 3, inference = inference, start = p$start, missed_by = if (recorded) "both" else "none",
        control = nor_plain(2)
      ))
      many <- rep(1:4, each = 4000)
      new <- p$x[many, ]
      z <- with_seed(1, predict(fit, new, "activation", sources = "drawn"))
      expect_true(all(z %in% 0:1))
      expect_identical(with_seed(1, predict(fit, new, "activation", sources = "drawn")), z)
      state <- as.vector(z %*% c(1, 2, 4)) + 1
      got <- t(vapply(1:4, function(i) tabulate(state[many == i], 8) / 4000, numeric(8)))
      par <- lapply(fit$param, unname)
      want <- if (inference == "variational") {
        on <- unname(predict(fit, p$x, "activation"))
        t(apply(on, 1L, function(a) apply(ref_nor_states(3), 1L, function(z) prod(a^z * (1 - a)^(1 - z)))))
      } else if (recorded) {
        apply(ref_nor_recorded_posterior(p$x, par), 1:2, sum)
      } else {
        ref_nor_posterior(p$x, par)
      }
      expect_lt(max(abs(got - want)), 4.5 * sqrt(0.25 / 4000))
      drawn <- with_seed(1, predict(fit, new, sources = "drawn"))
      expect_equal(drawn, predict(fit, new, activation = z), tolerance = 1e-12)
      if (inference == "variational") next
      mean <- t(vapply(1:4, function(i) colMeans(drawn[many == i, ]), numeric(5)))
      expect_lt(max(abs(mean - predict(fit))), 4.5 * sqrt(0.25 / 4000))
    }
  }
})

test_that("reconstruction from the likeliest sources is what they lead to", {
  planted <- nor_planted(60, 1)
  set.seed(1)
  fit <- quietly(noisy_or(planted$x, 4, control = fit_control(n_start = 4)))
  z <- predict(fit, type = "map")
  want <- 1 - exp(z %*% log(1 - fit$param$links)) * rep(1 - fit$param$leak, each = 60)
  expect_close(predict(fit, sources = "mode"), want)
  expect_identical(predict(fit, type = "activation", sources = "mode"), z)
  expect_identical(dimnames(predict(fit, sources = "mode")), dimnames(planted$x))
  error <- function(p) mean(abs(planted$x - p))
  expect_lt(error(predict(fit, sources = "mode")), 0.15)
})

test_that("known sources are matched by name, kept by the fit and by its verbs", {
  planted <- nor_planted(50, 2)
  start <- list(prior = rep(0.25, 4), links = pmax(planted$links * 0.8, 0.05), leak = rep(0.05, 12))
  known <- matrix(NA, 50, 4, dimnames = list(rownames(planted$x), component_names(4)))
  known["site7", "A2"] <- TRUE
  known["site8", 1:4] <- FALSE
  fit <- quietly(noisy_or(planted$x, 4, activation = known[50:1, ], start = start, control = nor_plain(3)))
  expect_identical(fit$known["site7", ], c(A1 = NA, A2 = 1L, A3 = NA, A4 = NA))
  expect_identical(unname(fit$param$activation["site8", ]), numeric(4))
  expect_equal(predict(fit, rows = "site8")["site8", ], fit$param$leak, tolerance = 1e-12)
  expect_equal(predict(fit, activation = known[50:1, 4:1]), predict(fit), tolerance = 1e-12)
  expect_equal(predict(fit, planted$x[7:8, ], activation = known[8:7, ]), predict(fit)[7:8, ], tolerance = 1e-10)
  gap <- planted$x
  gap["site8", 3] <- NA
  fit <- quietly(noisy_or(gap, 4, activation = known, start = start, control = nor_plain(3)))
  expect_equal(impute(fit)["site8", 3], fit$param$leak[[3]], tolerance = 1e-12)
  expect_identical(update(fit, control = nor_plain(1))$known, fit$known)
  recorded <- quietly(noisy_or(
    planted$x, 4, activation = known, missed_by = "site", start = start, control = nor_plain(3)
  ))
  cells <- false_absences(recorded, n = Inf, by = "missed")
  expect_equal(sum(cells$missed), recorded$missed, tolerance = 1e-10)
  present <- predict(recorded, type = "present")
  expect_equal(cells$missed, present[cbind(cells$site, cells$taxon)], tolerance = 1e-12)
})

test_that("what cannot be known is refused", {
  p <- nor_problem()
  fit <- quietly(noisy_or(p$x, 3, start = p$start, estimate = "ml", control = nor_plain(0)))
  wrong <- matrix(NA_real_, 12, 3)
  expect_error(noisy_or(p$x, 3, activation = wrong[-1, ]), "`activation` must be a numeric matrix of 12 x 3")
  expect_error(predict(fit, p$x[1:2, ], activation = wrong), "`activation` must be a numeric matrix of 2 x 3")
  expect_error(noisy_or(p$x, 3, activation = as.raw(1)), "`activation` must be a numeric matrix of 12 x 3")
  wrong[5, 2] <- 0.5
  expect_error(noisy_or(p$x, 3, activation = wrong), "only 0, 1 and NA: row 5, column 2 is 0.5", fixed = TRUE)
  expect_error(noisy_or(p$x, 3, activation = 0 * wrong, inference = "variational"), "`activation` goes with")
  expect_error(noisy_or(p$x, 2, activation = wrong[, 1:2] * 0, surplus = 1), "surplus")
  expect_error(predict(fit, type = "map", sources = "drawn"), "sources")
  never <- p$start
  never$prior[1] <- 0
  fit <- quietly(noisy_or(p$x, 3, start = never, estimate = "ml", control = nor_plain(0)))
  for (sources in c("mean", "mode", "drawn")) {
    given <- rbind(c(1, NA, NA), matrix(NA, 11, 3))
    expect_message(out <- predict(fit, activation = given, sources = sources), "No posterior")
    expect_identical(which(is.na(rowSums(out))), 1L)
  }
})
