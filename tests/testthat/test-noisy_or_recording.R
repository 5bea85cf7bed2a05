# Noisy-OR with a probability that a presence is recorded; ref_nor_recorded_*() are in helper-noisy_or.R.

skip_on_cran()

test_that("one iteration with recording equals the transcription", {
  set.seed(1)
  map <- unlist(noisy_or_prior(), use.names = FALSE) - 1
  for (inference in c("exact", "truncated")) {
    for (by in c("site", "both")) {
      for (estimate in c("ml", "map")) {
        p <- recorded_problem(by, missing = if (estimate == "ml") 0.2 else 0)
        want <- ref_nor_recorded_pass(p$x, p$start, if (estimate == "map") map else numeric(9))
        fit <- quietly(noisy_or(
          p$x, 3, inference = inference, estimate = estimate, missed_by = by, inner = 1, start = p$start,
          control = nor_plain(1)
        ))
        for (part in names(want)) expect_close(fit$param[[part]], want[[part]])
        expect_close(fit$loglik, sum(ref_nor_recorded_loglik(p$x, want)))
      }
    }
  }
})

test_that("one iteration with recording over three blocks of rows equals the transcription", {
  set.seed(13)
  for (inference in c("exact", "truncated")) { # blocks of 64 rows: of 2 560 states, and of lists of a few
    p <- recorded_problem(n = three_blocks(64), m = 9, k = if (inference == "exact") 8 else 3, missing = 0.2)
    want <- ref_nor_recorded_pass(p$x, p$start)
    fit <- quietly(noisy_or(
      p$x, p$k, inference = inference, estimate = "ml", missed_by = "both", inner = 1, start = p$start,
      control = nor_plain(1)
    ))
    for (part in names(want)) expect_close(fit$param[[part]], want[[part]])
    loglik <- sum(ref_nor_recorded_loglik(p$x, want))
    expect_close(fit$loglik, loglik)
    expect_close(fit$objective, loglik)
  }
})

# If all presences are recorded, the equations are those of the model without recording.
variational_problem <- function(n, k, recorded) {
  p <- recorded_problem(n = n, k = k, missing = 0.15)
  q <- array(stats::runif(n * 6 * k, 0.2, 1), c(n, 6, k))
  q <- q / as.vector(apply(q, 1:2, sum))
  if (!recorded) p$start[c("recorded_share", "recorded_taxon")] <- list(rep(0:1, c(9, 1)), rep(1, 6))
  theta <- -log1p(-p$start$links)
  state <- list(theta = theta, leak = -log1p(-p$start$leak), q = q, on = array(p$start$prior, c(k, 10, n)))
  p$state <- c(state, p$start[c("prior", "recorded_share", "recorded_taxon")])
  p$start$q <- q
  if (!recorded) p$start[c("recorded_share", "recorded_taxon")] <- NULL
  p
}

test_that("variational iterations over three blocks of rows equal the transcription", {
  set.seed(12)
  for (recorded in c(TRUE, FALSE)) {
    p <- variational_problem(three_blocks(64), 2, recorded)
    fit <- quietly(noisy_or(
      p$x, 2, inference = "variational", estimate = "ml", missed_by = if (recorded) "both" else "none", inner = 1,
      q_rule = "damped", start = p$start, control = nor_plain(1)
    ))
    want <- ref_nor_variational_pass(p$x, p$state)
    for (part in intersect(names(fit$param), c("prior", "recorded_share", "recorded_taxon"))) {
      expect_close(fit$param[[part]], want[[part]])
    }
    expect_close(fit$param$links, -expm1(-want$theta), 1e-9)
    expect_close(fit$param$leak, -expm1(-want$leak), 1e-9)
    expect_close(fit$objective, sum(ref_nor_variational_rows(p$x, want)$bound))
  }
})

test_that("variational iterations with recording equal the transcription, and no bound exceeds the likelihood", {
  set.seed(11)
  for (k in c(1, 2, 4)) {
    p <- variational_problem(8, k, TRUE)
    state <- p$state
    for (iterations in 0:3) {
      fit <- quietly(noisy_or(
        p$x, k, inference = "variational", estimate = "ml", missed_by = "both", inner = 1, q_rule = "damped",
        start = p$start, control = nor_plain(iterations)
      ))
      expect_close(fit$objective, sum(ref_nor_variational_rows(p$x, state)$bound))
      for (part in c("prior", "recorded_share", "recorded_taxon")) expect_close(fit$param[[part]], state[[part]])
      expect_close(fit$param$links, -expm1(-state$theta), 1e-9)
      expect_close(fit$param$leak, -expm1(-state$leak), 1e-9)
      exact <- sum(ref_nor_recorded_loglik(p$x, fit$param))
      expect_close(fit$loglik, exact)
      expect_lte(fit$objective, exact + 1e-10)
      state <- ref_nor_variational_pass(p$x, state)
    }
  }
})

test_that("where no taxon has two components the variational bound is the likelihood", {
  x <- recorded_planted(40, 1, "both", m = 9)$x
  mask <- diag(3)[, rep(1:3, 3)]
  start <- list(prior = c(0.3, 0.4, 0.5), links = 0.7 * mask, leak = rep(0.05, 9))
  fit <- function(iterations) {
    quietly(noisy_or(
      x, 3, inference = "variational", estimate = "ml", missed_by = "both", mask = mask, start = start,
      control = fit_control(n_start = 1, max_iter = iterations, tol = 0)
    ))
  }
  for (iterations in c(2, 50)) {
    got <- fit(iterations)
    expect_close(got$objective, sum(ref_nor_recorded_loglik(x, lapply(got$param, unname))), 1e-10)
  }
})

test_that("many components are found under the variational bound, and what was missed", {
  set.seed(1)
  links <- matrix(stats::rbinom(16 * 80, 1L, 0.12) * 0.85, 16)
  on <- matrix(stats::rbinom(400 * 16, 1L, 0.2), 400)
  present <- matrix(stats::rbinom(400 * 80, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), 400)
  probability <- stats::rbeta(400, 2, 2)
  x <- present * stats::rbinom(400 * 80, 1L, rep(probability, 80))
  fit <- function(by) {
    quietly(noisy_or(x, 16, inference = "variational", missed_by = by, control = fit_control(n_start = 2)))
  }
  recorded <- fit("site")
  plain <- fit("none")
  hidden <- present[x == 0] == 1
  area <- rank_auc(predict(recorded, type = "present")[x == 0], hidden)
  expect_gt(area, rank_auc(fitted(plain)[x == 0], hidden) + 0.01)
  expect_gt(stats::cor(recorded$param$recorded_site, probability), 0.55)
  expect_gt(nor_found(recorded$param$links, links), nor_found(plain$param$links, links))
  again <- predict(recorded, x[1:20, ], type = "activation")
  expect_gt(stats::cor(as.vector(again), as.vector(recorded$param$activation[1:20, ])), 0.9)
})

test_that("likelihood and predictions are sums over components, probabilities and presences", {
  set.seed(2)
  p <- recorded_problem(n = 3, m = 3, k = 2)
  p$x[] <- c(1, 0, NA, 0, 1, 0, 0, NA, 1) # a zero in every row
  par <- p$start
  hidden <- as.matrix(expand.grid(c(rep(list(0:1), 5), list(1:10)))) # z, y, and the site's probability
  probability <- (1:10 / 10)^2
  for (inference in c("exact", "truncated")) {
    fit <- quietly(noisy_or(
      p$x, 2, inference = inference, estimate = "ml", missed_by = "both", start = par, control = nor_plain(0)
    ))
    scores <- multicause:::cell_scores(fit, 1:3, NULL)
    loglik <- 0
    for (i in 1:3) {
      joint <- apply(hidden, 1L, function(h) {
        z <- h[1:2]
        there <- 1 - (1 - par$leak) * apply((1 - par$links)^z, 2L, prod)
        y <- h[3:5]
        one <- y * probability[h[6]] * par$recorded_taxon
        seen <- ifelse(p$x[i, ] == 1, one, 1 - one)
        prod(
          par$prior^z * (1 - par$prior)^(1 - z), there^y * (1 - there)^(1 - y), seen[!is.na(p$x[i, ])],
          par$recorded_share[h[6]]
        )
      })
      loglik <- loglik + log(sum(joint))
      joint <- joint / sum(joint)
      expect_close(predict(fit, type = "present")[i, ], colSums(joint * hidden[, 3:5]))
      expect_close(fit$param$activation[i, ], colSums(joint * hidden[, 1:2]))
      expect_close(fit$param$recorded_site[i], sum(joint * probability[hidden[, 6]]))
      zero <- which(p$x[i, ] %in% 0)
      rho <- outer(probability[hidden[, 6]], par$recorded_taxon)
      gap <- hidden[, 3:5] + (1 - hidden[, 3:5]) * (1 - rho) # not recorded, or would not have been
      expect_close(scores$phantom[i, zero], colSums(joint * gap)[zero])
      expect_close(scores$missed[i, zero], colSums(joint * hidden[, 3:5])[zero])
    }
    expect_close(fit$loglik, loglik)
  }
})

test_that("a site that records everything is a site of the model without recording", {
  set.seed(3)
  for (inference in c("exact", "truncated", "variational")) {
    p <- nor_problem(n = 20, m = 7, k = 3, missing = 0.1)
    all <- c(p$start, list(recorded_share = rep(0:1, c(9, 1)), recorded_taxon = rep(1, 7)))
    fit <- function(by, start) {
      quietly(noisy_or(
        p$x, 3, inference = inference, estimate = "ml", missed_by = by, start = start, control = nor_plain(20)
      ))
    }
    plain <- fit("none", p$start)
    recorded <- fit("both", all)
    expect_close(recorded$param$recorded_site, rep(1, 20))
    expect_close(recorded$objective, plain$objective, 1e-12)
    for (part in names(plain$param)) expect_close(recorded$param[[part]], plain$param[[part]], 1e-10)
    expect_close(fitted(recorded), fitted(plain), 1e-10)
    expect_identical(recorded$missed, 0)
  }
})

test_that("the objective never falls with recording, and its gradient vanishes where it ends", {
  set.seed(4)
  for (run in 1:40) {
    p <- recorded_problem(n = sample(2:25, 1), m = sample(1:8, 1), k = sample(1:5, 1), missing = sample(c(0, 0.2), 1))
    control <- fit_control(n_start = 1, max_iter = 30, tol = 0, accelerate = run %% 3 == 0)
    for (inference in c("exact", "truncated", "variational")) {
      fit <- quietly(noisy_or(
        p$x, p$k, inference = inference, estimate = if (run %% 2) "ml" else "map", missed_by = "both",
        start = p$start, control = control, inner = if (run %% 4) NULL else sample(4, 1)
      ))
      expect_gte(min(diff(fit$trace$objective)), -1e-10 * max(1, abs(fit$objective)))
    }
  }
  x <- recorded_planted(60, 1, "both", m = 10)$x
  control <- fit_control(n_start = 2, tol = 1e-15, max_iter = 20000)
  fit <- quietly(noisy_or(x, 2, missed_by = "both", control = control))
  par <- lapply(fit$param[c("prior", "links", "leak", "recorded_taxon", "recorded_share")], unname)
  a <- fit$model$pseudo
  objective <- function(par) {
    parts <- par[c("prior", "links", "leak", "recorded_taxon")]
    log_beta <- function(i) sum(a[2 * i - 1] * log(parts[[i]]) + a[2 * i] * log1p(-parts[[i]]))
    sum(ref_nor_recorded_loglik(x, par)) + sum(vapply(1:4, log_beta, 0)) + a[9] * sum(log(par$recorded_share))
  }
  expect_equal(objective(par), fit$objective[[1L]], tolerance = 1e-10)
  again <- ref_nor_recorded_pass(x, par, a)
  for (part in names(par)) expect_lt(max(abs(again[[part]] - par[[part]])), 1e-6)
  for (part in names(par)[1:4]) {
    inside <- which(par[[part]] > 0.02 & par[[part]] < 0.98)
    for (at in utils::head(inside, 2)) {
      up <- down <- par
      up[[part]][at] <- up[[part]][at] + 1e-5
      down[[part]][at] <- down[[part]][at] - 1e-5
      expect_lt(abs(objective(up) - objective(down)) / 2e-5, 1e-3)
    }
  }
})

test_that("order, missing cells, equal rows and threads change nothing with recording", {
  set.seed(5)
  p <- recorded_problem(n = 150, m = 7, k = 3, missing = 0.1)
  rows <- sample(150)
  columns <- sample(7)
  at <- c(3, 1, 2)
  moved <- list(
    prior = p$start$prior[at], links = p$start$links[at, columns], leak = p$start$leak[columns],
    recorded_share = p$start$recorded_share, recorded_taxon = p$start$recorded_taxon[columns]
  )
  wide <- p$start
  wide$links <- cbind(wide$links, 0.5)
  wide[c("leak", "recorded_taxon")] <- list(c(wide$leak, 0.5), c(wide$recorded_taxon, 0.5))
  for (inference in c("exact", "truncated", "variational")) {
    fit <- function(x, start, threads = 1, estimate = "ml", iterations = 10) {
      quietly(noisy_or(
        x, 3, inference = inference, estimate = estimate, missed_by = "both", start = start,
        control = nor_plain(iterations, n_threads = threads)
      ))
    }
    a <- fit(p$x, p$start)
    b <- fit(p$x[rows, columns], moved)
    expect_equal(b$objective, a$objective, tolerance = 1e-10)
    expect_equal(unname(b$param$links), unname(a$param$links[at, columns]), tolerance = 1e-8)
    expect_equal(unname(b$param$recorded_site), unname(a$param$recorded_site[rows]), tolerance = 1e-8)
    with <- fit(cbind(p$x, NA), wide)
    expect_equal(with$objective, a$objective, tolerance = 1e-11)
    expect_equal(unname(with$param$recorded_taxon[8]), 0.5)
    expect_identical(fit(p$x, p$start, 2)$param, a$param)
    twice <- fit(rbind(p$x, p$x), p$start)
    expect_equal(twice$loglik, 2 * a$loglik, tolerance = 1e-10)
    expect_equal(twice$param$links, a$param$links, tolerance = 1e-8)
  }
})

test_that("missed presences of planted sites are found, about as many as there are", {
  for (by in c("site", "both")) {
    p <- recorded_planted(300, 1, by)
    set.seed(1)
    control <- fit_control(n_start = 4)
    fit <- noisy_or(p$x, 4, missed_by = by, control = control)
    plain <- noisy_or(p$x, 4, control = control)
    zero <- p$x == 0
    missed <- predict(fit, type = "present")
    hidden <- p$present[zero] == 1
    expect_gt(rank_auc(missed[zero], hidden), 0.83)
    expect_gt(rank_auc(missed[zero], hidden), rank_auc(fitted(plain)[zero], hidden))
    expect_gt(stats::cor(fit$param$recorded_site, p$probability), 0.5)
  }
})

test_that("verbs know what recording is", {
  p <- recorded_planted(80, 2, "both", m = 12)
  set.seed(1)
  fit <- quietly(noisy_or(p$x, 3, missed_by = "both", control = fit_control(n_start = 2, tol = 1e-12, max_iter = 5000)))
  cells <- false_absences(fit, n = Inf, by = "missed")
  present <- predict(fit, type = "present")
  expect_equal(cells$missed, present[cbind(cells$site, cells$taxon)], tolerance = 1e-12)
  expect_equal(attr(cells, "expected"), fit$missed, tolerance = 1e-12)
  expect_equal(cells$probability, fitted(fit)[cbind(cells$site, cells$taxon)], tolerance = 1e-12)
  expect_true(all(cells$phantom >= cells$missed & cells$present >= cells$probability))
  expect_snapshot(print(fit))
  expect_snapshot(print(utils::head(cells, 3)))
  expect_snapshot(phantoms(fit))
  sums <- by_site(fit)
  expect_equal(sum(sums$missed), fit$missed, tolerance = 1e-8)
  expect_true(all(false_presences(fit, n = 5)$added == 0))
  expect_equal(predict(fit, p$x[1:9, ], "activation"), fit$param$activation[1:9, ], tolerance = 1e-10)
  expect_equal(fitted(fit)[3, ], predict(fit, p$x[3, , drop = FALSE])[1, ], tolerance = 1e-10)
  all_rows <- as.matrix(expand.grid(rep(list(0:1), 12)))
  colnames(all_rows) <- colnames(p$x)
  expect_equal(sum(exp(test_loglik(fit, all_rows, floor = 0))), 1, tolerance = 1e-10)
  expect_identical(fit$df, 3 + 36 + 12 + 9 + 12)
  tables <- simulate(fit, 200, seed = 1)
  par <- lapply(fit$param, unname)
  state <- apply(ref_nor_states(3), 1L, function(z) prod(par$prior^z * (1 - par$prior)^(1 - z)))
  mean_probability <- sum(par$recorded_share * (1:10 / 10)^2) * par$recorded_taxon
  expect_equal(mean(unlist(tables)), mean(state %*% ref_nor_there(par) * mean_probability), tolerance = 0.02)
})

test_that("what recording does not go with is refused", {
  p <- nor_problem()
  expect_error(noisy_or(p$x, 3, start = c(p$start, list(recorded_taxon = rep(1, 6)))), "recorded_taxon")
  expect_error(noisy_or(p$x, 3, missed_by = "site", start = c(p$start, list(recorded_share = rep(1, 10)))), "sum to 1")
  expect_error(phantoms(quietly(noisy_or(p$x, 2))), "missed_by")
  fit <- function(...) quietly(noisy_or(p$x, 2, missed_by = "site", control = fit_control(n_start = 1, ...)))
  expect_error(denoise(fit()), "can be phantoms")
  expect_error(age_profile(fit(), 1:12), "phantom")
  expect_error(false_absences(fit(keep_x = FALSE)), "keep_x = FALSE", class = "multicause_input_error")
  choice <- quietly(select_k(p$x, 1:2, model = noisy_or, criterion = "cells", missed_by = "site", folds = 2))
  expect_true(all(is.finite(choice$table$value)))
})
