# Tests also R/noisy_or_problem.R, R/noisy_or_kernel.R.

golden_nor <- function(name) golden(file.path("noisy_or", name))

cases <- c("plain", "na", "edge")

test_that("the golden cases of exact inference are met", {
  for (case in cases) {
    g <- golden_nor(case)
    start <- list(prior = g$pri, links = g$p, leak = g$p0)
    fit <- quietly(noisy_or(g$X, g$K, inference = "exact", estimate = "ml", start = start, control = nor_plain(0)))
    expect_close(fit$objective, g$loglik)
    expect_close(fit$loglik, g$loglik)
    expect_close(fit$param$activation, g$post)
    expect_identical(as.vector(predict(fit, type = "map")), as.vector(g$map) + 0)
    rows <- quietly(test_loglik(fit, g$X, floor = 0))
    bare <- rowSums(!is.na(g$X)) == 0
    expect_close(rows[!bare], g$loglik_rows[!bare])
    for (inner in c(1, 5)) {
      for (iterations in c("1", "2", "10")) {
        want <- g[[paste0("em_exact_inner", inner)]][[iterations]]
        control <- nor_plain(as.integer(iterations))
        fit <- quietly(noisy_or(
          g$X, g$K, inference = "exact", estimate = "ml", inner = inner, start = start, control = control
        ))
        expect_close(fit$param$links, want$p)
        expect_close(fit$param$leak, want$p0)
        expect_close(fit$param$prior, want$pri)
        expect_close(fit$objective, want$loglik)
      }
    }
  }
})

test_that("the golden cases with Beta priors are met", {
  prior <- noisy_or_prior(prior = c(1.5, 2), links = c(1.2, 1.5), leak = c(1.1, 3))
  for (case in cases) {
    g <- golden_nor(case)
    start <- list(prior = g$pri, links = g$p, leak = g$p0)
    for (iterations in c("1", "2", "10")) {
      want <- g$em_exact_map[[iterations]]
      fit <- quietly(noisy_or(
        g$X, g$K, inference = "exact", prior = prior, inner = 1, start = start,
          control = nor_plain(as.integer(iterations))
      ))
      expect_named(fit$objective, "log_posterior")
      expect_close(fit$param$links, want$p)
      expect_close(fit$param$leak, want$p0)
      expect_close(fit$param$prior, want$pri)
      expect_close(fit$loglik, want$loglik)
      expect_close(fit$objective, want$objective)
    }
  }
})

test_that("the golden cases of variational inference are met", {
  for (case in cases) {
    g <- golden_nor(case)
    start <- list(prior = g$pri, links = g$p, leak = g$p0, q = g$q)
    fit <- function(iterations, ...) {
      control <- nor_plain(iterations)
      quietly(noisy_or(g$X, g$K, inference = "variational", estimate = "ml", start = start, control = control, ...))
    }
    none <- fit(0)
    expect_close(none$objective, g$jj_bound)
    expect_close(none$param$activation, g$jj_post)
    ones <- rep(g$X %in% 1, g$K)
    for (rule in c("damped", "paper")) {
      q <- fit(1, inner = 1, q_rule = rule)$param$q
      expect_close(q[ones], g[[paste0("jj_q_after_1_", rule)]][ones])
      expect_true(all(is.na(q[!ones])))
    }
    for (iterations in c("1", "2", "10")) {
      want <- g$em_jj[[iterations]]
      got <- fit(as.integer(iterations), q_rule = "damped")
      expect_named(got$objective, "lower_bound")
      expect_close(got$param$links, want$p, 1e-8)
      expect_close(got$param$leak, want$p0, 1e-8)
      expect_close(got$param$prior, want$pri, 1e-8)
      expect_close(got$objective, want$bound, 1e-8)
      expect_close(got$param$activation, want$post, 1e-8)
      expect_close(got$loglik, want$loglik, 1e-8)
    }
  }
})

test_that("an EM step gives the golden gradient", {
  # A plain step multiplies a link by fired / trials, and the gradient for theta is fired - trials.
  for (case in c("plain", "na")) {
    g <- golden_nor(case)
    start <- list(prior = g$pri, links = g$p, leak = g$p0)
    fit <- quietly(noisy_or(
      g$X, g$K, inference = "exact", estimate = "ml", inner = 1, start = start, control = nor_plain(1)
    ))
    seen <- !is.na(g$X)
    expect_close(crossprod(g$post, seen) * (fit$param$links / g$p - 1), g$gradient$theta, 1e-11)
    expect_close(colSums(seen) * (fit$param$leak / g$p0 - 1), g$gradient$theta0, 1e-11)
    expect_close(colSums(g$post) - nrow(g$X) * g$pri, g$gradient$logit_pri, 1e-11)
  }
})

test_that("one iteration equals the transcription of the activation EM", {
  set.seed(1)
  pseudo <- unlist(noisy_or_prior(), use.names = FALSE) - 1
  for (missing in c(0, 0.2)) {
    for (inner in c(1, 3)) {
      p <- nor_problem(missing = missing)
      want <- ref_nor_pass(p$x, p$start, inner)
      got <- quietly(noisy_or(
        p$x, 3, inference = "exact", estimate = "ml", inner = inner, start = p$start, control = nor_plain(1)
      ))
      expect_close(got$param$links, want$links)
      expect_close(got$param$leak, want$leak)
      expect_close(got$param$prior, want$prior)
      expect_close(got$loglik, sum(ref_nor_loglik(p$x, want)))
      want <- ref_nor_pass(p$x, p$start, inner, pseudo)
      got <- quietly(noisy_or(p$x, 3, inference = "exact", inner = inner, start = p$start, control = nor_plain(1)))
      expect_close(got$param$links, want$links)
      expect_close(got$param$prior, want$prior)
    }
  }
})

test_that("one iteration over three blocks of rows equals the transcription", {
  set.seed(14)
  pseudo <- unlist(noisy_or_prior(), use.names = FALSE) - 1
  p <- nor_problem(n = three_blocks(), m = 14, k = 2, missing = 0.2)
  for (estimate in c("ml", "map")) {
    want <- ref_nor_pass(p$x, p$start, 1, if (estimate == "map") pseudo else numeric(6))
    for (inference in c("exact", "truncated")) {
      got <- quietly(noisy_or(
        p$x, 2, inference = inference, estimate = estimate, inner = 1, start = p$start, control = nor_plain(1)
      ))
      for (part in names(want)) expect_close(got$param[[part]], want[[part]])
      loglik <- sum(ref_nor_loglik(p$x, want))
      expect_close(got$loglik, loglik)
      if (estimate == "ml") expect_close(got$objective, loglik) # lists have all four states
      expect_close(got$param$activation, ref_nor_posterior(p$x, want) %*% ref_nor_states(2))
    }
  }
})

test_that("truncated inference is exact where its lists hold every state that matters", {
  set.seed(2)
  p <- nor_problem(n = 30, m = 8, k = 3)
  run <- function(inference) {
    noisy_or(p$x, 3, inference = inference, estimate = "ml", inner = 1, start = p$start, control = nor_plain(30))
  }
  expect_equal(run("truncated")$objective[[1L]], run("exact")$objective[[1L]], tolerance = 1e-3)
})

test_that("no objective ever falls, and no bound exceeds the likelihood", {
  set.seed(3)
  for (run in 1:100) {
    p <- nor_problem(n = sample(2:25, 1), m = sample(1:8, 1), k = sample(1:5, 1), missing = sample(c(0, 0.2), 1))
    estimate <- if (run %% 2) "ml" else "map"
    control <- fit_control(n_start = 1, max_iter = 30, tol = 0, accelerate = run %% 3 == 0)
    for (inference in c("exact", "truncated", "variational")) {
      fit <- quietly(noisy_or(
        p$x, p$k, inference = inference, estimate = estimate, start = p$start, control = control,
        inner = if (run %% 4) NULL else sample(4, 1), q_rule = sample(c("alternate", "damped", "paper"), 1)
      ))
      steps <- diff(fit$trace$objective)
      expect_gte(min(steps), -1e-10 * max(1, abs(fit$objective)))
      exact <- sum(ref_nor_loglik(p$x, fit$param))
      expect_lte(abs(fit$loglik - exact), 1e-10 * max(1, abs(exact)))
      if (estimate == "ml" && inference != "exact") expect_lte(fit$objective, exact + 1e-9)
    }
  }
})

test_that("the gradient vanishes at convergence", {
  planted <- nor_planted(80, 1)
  control <- fit_control(n_start = 2, tol = 1e-15, max_iter = 20000)
  fit <- quietly(noisy_or(planted$x, 3, inference = "exact", prior = noisy_or_prior(), control = control))
  start <- lapply(fit$param[c("prior", "links", "leak")], unname)
  again <- noisy_or(planted$x, 3, inference = "exact", inner = 1, start = start, control = nor_plain(1))
  for (part in names(start)) expect_lt(max(abs(again$param[[part]] - start[[part]])), 1e-6)
  set.seed(4)
  objective <- function(par) {
    pseudo <- fit$model$pseudo
    log_beta <- function(v, a) sum(a[1] * log(v) + a[2] * log1p(-v))
    sum(ref_nor_loglik(planted$x, par)) + log_beta(par$prior, pseudo[1:2]) + log_beta(par$links, pseudo[3:4]) +
      log_beta(par$leak, pseudo[5:6])
  }
  inside <- which(start$links > 0.05 & start$links < 0.95)
  for (at in sample(inside, 3)) {
    up <- down <- start
    up$links[at] <- up$links[at] + 1e-5
    down$links[at] <- down$links[at] - 1e-5
    expect_lt(abs(objective(up) - objective(down)) / 2e-5, 1e-3)
  }
})

test_that("sources, rows and columns may come in any order", {
  set.seed(5)
  p <- nor_problem(n = 20, m = 7, k = 3, missing = 0.1)
  rows <- sample(20)
  columns <- sample(7)
  at <- c(3, 1, 2)
  moved <- list(prior = p$start$prior[at], links = p$start$links[at, columns], leak = p$start$leak[columns])
  for (inference in c("exact", "truncated", "variational")) {
    fit <- function(x, start) {
      quietly(noisy_or(x, 3, inference = inference, start = start, control = nor_plain(10)))
    }
    a <- fit(p$x, p$start)
    b <- fit(p$x[rows, columns], moved)
    expect_equal(b$objective, a$objective, tolerance = 1e-10)
    expect_equal(unname(b$param$links), unname(a$param$links[at, columns]), tolerance = 1e-8)
    expect_equal(unname(b$param$activation), unname(a$param$activation[rows, at]), tolerance = 1e-8)
  }
})

test_that("a missing cell is a cell that was never there", {
  set.seed(6)
  p <- nor_problem(n = 15, m = 6, k = 2)
  x <- cbind(p$x, NA)
  start <- p$start
  start$links <- cbind(start$links, 0.5)
  start$leak <- c(start$leak, 0.5)
  for (inference in c("exact", "truncated", "variational")) {
    fit <- function(x, start) {
      quietly(noisy_or(x, 2, inference = inference, estimate = "ml", start = start, control = nor_plain(8)))
    }
    with <- fit(x, start)
    expect_equal(with$objective, fit(p$x, p$start)$objective, tolerance = 1e-11)
    expect_equal(unname(with$param$links[, 7]), c(0.5, 0.5))
    expect_equal(unname(with$param$leak[7]), 0.5)
  }
})

test_that("probabilities of all rows sum to one, and one missing cell sums over it", {
  set.seed(7)
  p <- nor_problem(n = 10, m = 6, k = 3)
  fit <- noisy_or(p$x, 3, start = p$start, control = nor_plain(3))
  all_rows <- as.matrix(expand.grid(rep(list(0:1), 6)))
  loglik <- test_loglik(fit, all_rows, floor = 0)
  expect_equal(sum(exp(loglik)), 1, tolerance = 1e-12)
  pair <- all_rows[1:2, ]
  one <- pair[1, , drop = FALSE]
  one[1, 1] <- NA
  expect_equal(as.vector(test_loglik(fit, one, floor = 0)), log(sum(exp(loglik[1:2]))), tolerance = 1e-12)
})

test_that("an iteration over few ones, which visits no zero, equals the transcription, too", {
  set.seed(9)
  p <- nor_problem(n = 8, m = 200, k = 4, missing = 0.05, density = 0)
  p$x[cbind(1:8, seq(5, 75, 10))] <- 1
  p$start$links <- p$start$links / 20
  p$start$links[1, 5] <- 1 # no zero may stand there while the source is on
  want <- ref_nor_pass(p$x, p$start)
  got <- quietly(noisy_or(
    p$x, 4, inference = "exact", estimate = "ml", inner = 1, start = p$start, control = nor_plain(1)
  ))
  expect_close(got$param$links, want$links)
  expect_close(got$param$leak, want$leak)
  expect_close(got$param$prior, want$prior)
  expect_close(got$trace$objective, sum(ref_nor_loglik(p$x, want)))
  expect_close(got$param$activation, ref_nor_posterior(p$x, want) %*% ref_nor_states(4))
})

test_that("equal rows count as often as they stand there", {
  set.seed(8)
  p <- nor_problem(n = 6, m = 5, k = 2, missing = 0.2)
  x <- p$x[c(1, 2, 2, 3, 1, 4, 5, 6, 1), ]
  fit <- quietly(noisy_or(
    x, 2, inference = "exact", estimate = "ml", inner = 1, start = p$start, control = nor_plain(1)
  ))
  want <- ref_nor_pass(x, p$start)
  expect_close(fit$param$links, want$links)
  expect_close(fit$param$prior, want$prior)
  expect_identical(fit$param$activation[2, ], fit$param$activation[3, ])
})

test_that("planted sources are found by every inference", {
  planted <- nor_planted(300, 9)
  for (inference in c("exact", "truncated", "variational")) {
    set.seed(1)
    fit <- noisy_or(planted$x, 4, inference = inference, control = fit_control(screen = 20))
    expect_equal(nor_found(fit$param$links, planted$links), 4)
    expect_true(fit$converged)
    expect_true(all(fit$sources$in_use))
  }
})

test_that("links outside the mask stay at zero", {
  planted <- nor_planted(150, 10)
  mask <- planted$links > 0
  for (inference in c("exact", "truncated", "variational")) {
    set.seed(1)
    fit <- noisy_or(planted$x, 4, inference = inference, mask = mask, control = fit_control(n_start = 2))
    expect_true(all(fit$param$links[!mask] == 0))
    expect_gt(stats::cor(as.vector(fit$param$links), as.vector(planted$links)), 0.95)
    expect_equal(fit$df, 4 + sum(mask) + 12)
  }
})

test_that("a source that is always on becomes leak", {
  set.seed(11)
  n <- 300
  always <- c(0.6, 0.6, 0.6, 0, 0, 0)
  links <- rbind(c(0, 0, 0, 0.9, 0.9, 0.9))
  on <- stats::rbinom(n, 1, 0.3)
  x <- matrix(stats::rbinom(n * 6, 1, 1 - exp(on %*% log(1 - links)) * rep(1 - always, each = n)), n)
  fit <- noisy_or(x, 2, estimate = "ml", control = fit_control(n_start = 5, tol = 1e-10))
  again <- noisy_or(x, 1, estimate = "ml", control = fit_control(n_start = 5, tol = 1e-10))
  expect_gte(fit$loglik, again$loglik - 1e-4)
  start <- list(prior = c(0.3, 1), links = rbind(links, always), leak = rep(0.01, 6))
  given <- noisy_or(x, 2, estimate = "ml", start = start, control = nor_plain(5))
  expect_equal(given$absorbed, 0)
  expect_equal(given$dims[["k"]], 2)
  stay <- function(distinct, model, start, control) {
    list(param = start, outcome = list(status = "converged", n_iter = 1L))
  }
  bind_in_namespace("nor_run", stay)
  problem <- structure(list(data = list(x = x)), class = "noisy_or_problem")
  absorbed <- nor_absorb(stay(start = start), problem, nor_plain(1))
  expect_equal(absorbed$absorbed, 1)
  expect_length(absorbed$result$param$prior, 1)
  start$prior[2] <- 1 - 1e-15
  expect_equal(ref_nor_loglik(x, absorbed$result$param), ref_nor_loglik(x, start), tolerance = 1e-8)
})

test_that("surplus sources are dropped until k are left", {
  planted <- nor_planted(200, 12)
  fit <- noisy_or(planted$x, 4, surplus = 2, control = fit_control(n_start = 3))
  expect_equal(fit$dims[["k"]], 4)
  expect_equal(nor_found(fit$param$links, planted$links), 4)
})

test_that("arguments are left as they were, and threads change nothing", {
  planted <- nor_planted(150, 14)
  x <- planted$x + 0
  start <- list(prior = rep(0.2, 4), links = planted$links * 0.5 + 0.1, leak = rep(0.1, 12))
  copy <- unserialize(serialize(list(x, start), NULL))
  for (inference in c("exact", "truncated", "variational")) {
    fit <- function(threads) {
      control <- fit_control(n_threads = threads, max_iter = 30, tol = 0)
      noisy_or(x, 4, inference = inference, start = start, control = control)
    }
    a <- quietly(fit(1))
    b <- quietly(fit(2))
    expect_identical(a$param, b$param)
    expect_identical(a$trace, b$trace)
  }
  expect_identical(list(x, start), copy)
})

test_that("sparse, logical and dense input give the same fit, and the seed decides", {
  planted <- nor_planted(60, 15)
  fit <- function(x, inference) {
    set.seed(1)
    noisy_or(x, 3, inference = inference, control = fit_control(n_start = 3, max_iter = 60, screen = 10))
  }
  for (inference in c("exact", "truncated")) {
    a <- quietly(fit(planted$x, inference))
    b <- quietly(fit(Matrix::Matrix(planted$x, sparse = TRUE), inference))
    c <- quietly(fit(planted$x == 1, inference))
    expect_identical(a$param, b$param)
    expect_identical(a$param, c$param)
    expect_identical(dimnames(a$param$activation), list(rownames(planted$x), component_names(3)))
    expect_identical(colnames(a$param$links), colnames(planted$x))
    expect_named(a$param$leak, colnames(planted$x))
  }
})

test_that("the log-likelihood of an exact fit is exact beyond the components of \"auto\"", {
  set.seed(1)
  x <- matrix(rbinom(20 * 5, 1, 0.4), 20)
  once <- fit_control(n_start = 1, max_iter = 2)
  fit <- quietly(noisy_or(x, 13, inference = "exact", estimate = "ml", control = once))
  expect_equal(fit$loglik, unname(fit$objective), tolerance = 1e-12)
})
