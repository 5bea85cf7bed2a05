# Collapsed Gibbs sampling for plsa().

skip_on_cran()

few <- function(...) {
  settings <- list(chains = 2, warmup = 40, draws = 60, n_start = 1, progress = FALSE)
  do.call(mcmc_control, utils::modifyList(settings, list(...)))
}

lda <- function(x, k, ...) {
  withCallingHandlers(
    plsa(x, k, estimate = "gibbs", ...),
    multicause_chains_disagree = function(w) invokeRestart("muffleWarning")
  )
}

test_that("one count is drawn from the transcription of eq. (5)", {
  set.seed(1)
  for (k in c(3, 14)) {
    x <- rbind(c(2, 0, 1, 0), c(0, 3, 0, 0), c(1, 2, 0, 1))
    alpha <- runif(k, 0.2, 1.5)
    counts <- lda_counts(x)
    z <- sample.int(k, sum(x), TRUE)
    problem <- lda_problem(x, k, alpha, 0.3)
    drawn <- t(replicate(4000, plsa_gibbs_sweeps(problem, lda_state(z, alpha, 0.3), 1)$state$topic + 1L))
    first <- tabulate(drawn[, 1], k)
    p <- ref_lda_conditional(1, z, counts, 3, 4, alpha, 0.3)
    expect_gt(chisq.test(first, p = p, simulate.p.value = TRUE)$p.value, 1e-3)
    # The second count conditional on the first.
    for (c in order(-first)[1:2]) {
      now <- replace(z, 1, c)
      second <- tabulate(drawn[drawn[, 1] == c, 2], k)
      p <- ref_lda_conditional(2, now, counts, 3, 4, alpha, 0.3)
      expect_gt(chisq.test(second, p = p, simulate.p.value = TRUE)$p.value, 1e-3)
    }
  }
})

test_that("the sampler has the exact posterior of tiny tables", {
  set.seed(2)
  cases <- list(
    list(rbind(c(2, 1, 0), c(0, 2, 1)), c(0.4, 0.4), 0.3),
    list(rbind(c(1, 1), c(2, 0), c(0, 2)), c(1.5, 0.3, 0.7), 0.8),
    list(rbind(c(3, NA, 1), c(NA, 2, 1)), c(0.2, 1), 0.1), list(rbind(c(2, 2)), rep(0.3, 4), 0.5)
  )
  for (case in cases) {
    z <- lda_exact_z(case[[1]], case[[2]], case[[3]], 4000)
    expect_lt(max(abs(z)), 4)
    expect_lt(sqrt(mean(z^2)), 2)
  }
})

test_that("Geweke's joint test and simulation-based calibration, short", {
  set.seed(3)
  expect_lt(max(abs(lda_geweke_z(c(3, 5, 2), 3, c(0.5, 0.5), 0.4, 1500))), 4)
  expect_lt(max(abs(lda_geweke_z(c(4, 4), 4, rep(0.3, 14), 0.4, 1000))), 4)
  p <- rank_p(lda_sbc_ranks(c(6, 6, 8, 8, 5), 4, c(0.7, 0.3), 0.5, 60), 19)
  expect_gt(min(p), 1e-4 / length(p))
})

test_that("what the kernel sums up of draws, and learns, is what plain R makes of the states", {
  set.seed(4)
  x <- ref_counts(9, 6)$x
  x[2, ] <- 0
  x[3, 1] <- 60
  counts <- lda_counts(x)
  for (k in c(3, 14)) {
    alpha <- runif(k, 0.1, 1)
    problem <- lda_problem(x, k, alpha, 0.3)
    z <- sample.int(k, sum(x), TRUE)
    states <- lapply(1:4, function(n) {
      set.seed(5)
      plsa_gibbs_sweeps(problem, lda_state(z, alpha, 0.3), n)$state$topic + 1L
    })
    set.seed(5)
    out <- plsa_gibbs_sweeps(problem, lda_state(z, alpha, 0.3), 4, thin = 2L)
    expect_identical(out$state$topic + 1L, states[[4]])
    job <- list(state = out$state, sums = out[c("sum_membership", "sum_basis", "sum_share")], n_draw = out$n_draw)
    expect_identical(job$n_draw, 2L)
    got <- plsa_gibbs_moments(problem, job)
    each <- lapply(states[c(2, 4)], function(z) {
      at <- lda_tables(z, counts, 9, 6, k)
      q <- list(membership = sweep(at$rows, 2L, alpha, "+"), basis = at$basis + 0.3)
      c(
        lapply(q, function(a) a / rowSums(a)),
        lapply(q, function(a) a * (a + 1) / (rowSums(a) * (rowSums(a) + 1)))
      )
    })
    want <- lapply(1:4, function(part) (each[[1]][[part]] + each[[2]][[part]]) / 2)
    expect_equal(unname(got[c("membership", "basis", "membership_square", "basis_square")]), want, tolerance = 1e-12)
    joint <- vapply(states[c(2, 4)], ref_lda_log_joint, 0, counts, 9, 6, alpha, 0.3)
    cells <- vapply(each, function(q) (q[[1]] %*% q[[2]])[t(problem$probe) + 1L], numeric(ncol(problem$probe)))
    expect_equal(out$note, unname(rbind(joint, cells)), tolerance = 1e-12, ignore_attr = TRUE)
    set.seed(5)
    learnt <- plsa_gibbs_sweeps(problem, lda_state(z, alpha, 0.3), 1, learn = TRUE)$state
    want <- ref_lda_learn(lda_tables(states[[1]], counts, 9, 6, k), alpha, 0.3)
    expect_identical(learnt$topic + 1L, states[[1]])
    expect_equal(learnt$prior, c(want$alpha, want$eta), tolerance = 1e-12)
  }
})

# Three components with little overlap, few of them per site.
planted_counts <- function(n) {
  basis <- rbind(rep(c(6, 0, 1), each = 4), rep(c(1, 6, 0), each = 4), rep(c(0, 1, 6), each = 4)) / 28
  shares <- matrix(rgamma(3 * n, 0.3), n)
  shares <- shares / rowSums(shares)
  list(basis = basis, shares = shares, x = t(apply(shares %*% basis, 1, function(p) rmultinom(1, 30, p))))
}

test_that("planted components are found, with intervals that hold them, and a learnt prior", {
  set.seed(6)
  truth <- planted_counts(200)
  fit <- lda(truth$x, 3, control = few(chains = 4, warmup = 200, draws = 300))
  expect_length(rhat_apart(fit), 0) # they agree, with fewer draws than convergence asks for
  expect_true(all(abs(fit$prior$membership - 0.3) < 0.15))
  at <- match_components(truth$basis, fit$param$basis)
  expect_gt(cor(c(fit$param$membership), c(truth$shares[, at])), 0.97)
  band <- confint(fit, level = 0.95)
  expect_identical(rownames(band)[c(1, 36)], c("basis[A1, 1]", "basis[A3, 12]"))
  held <- band[, 1] <= c(truth$basis[at, ]) & c(truth$basis[at, ]) <= band[, 2]
  expect_gt(mean(held[c(truth$basis[at, ]) > 0]), 0.8)
  expect_true(all(band[, 1] <= c(fit$param$basis) & c(fit$param$basis) <= band[, 2]))
  expect_identical(confint(fit, "basis[A2, 5]", 0.95), band["basis[A2, 5]", , drop = FALSE])
  expect_identical(rownames(confint(fit, "5")), sprintf("basis[A%d, 5]", 1:3))
  expect_error(confint(fit, "5x"), class = "multicause_input_error")

  tidied <- tidy(fit, conf.int = TRUE, conf.level = 0.95)
  at <- sprintf("basis[%s, %s]", tidied$component, tidied$taxon)
  expect_identical(tidied$conf.low, unname(band[at, 1]))
  expect_identical(tidied$conf.high, unname(band[at, 2]))
  expect_named(tidy(fit, matrix = "beta"), c("topic", "term", "beta", "std.error"))
  shares <- tidy(fit, matrix = "gamma", conf.int = TRUE)
  expect_named(shares, c("document", "topic", "gamma", "std.error", "conf.low", "conf.high"))
  expect_true(all(shares$conf.low < shares$gamma & shares$gamma < shares$conf.high))
  top <- top_terms(fit, 4, level = 0.8)
  narrow <- confint(fit, sprintf("basis[%s, %s]", top$component, top$term), level = 0.8)
  at <- sprintf("basis[%s, %s]", top$component, top$term)
  expect_identical(top$lower, unname(narrow[at, 1]))
  expect_identical(top$upper, unname(narrow[at, 2]))
  expect_error(top_terms(fit, level = 1), "`level`", class = "multicause_input_error")
  expect_null(top_terms(plsa(truth$x, 3, control = fit_control(n_start = 1)))$lower)
})

test_that("intervals are near the quantiles of their draws", {
  set.seed(7)
  x <- planted_counts(40)$x
  alpha <- c(0.5, 0.3, 0.4)
  fit <- lda(x, 3, prior = list(membership = alpha, basis = 0.4), control = few(chains = 1, warmup = 200, draws = 2000))
  states <- lda_chain(lda_problem(x, 3, alpha, 0.4), fit$last[[1]]$topic + 1L, alpha, 0.4, 2000)
  draws <- vapply(states, function(z) {
    w <- lda_tables(z, lda_counts(x), 40, 12, 3)$basis + 0.4
    w[] <- rgamma(36, w)
    c(w / rowSums(w))
  }, numeric(36))
  band <- confint(fit, level = 0.9)
  inside <- rowMeans(draws >= band[, 1] & draws <= band[, 2])
  expect_equal(mean(inside[fit$param$basis > 0.1]), 0.9, tolerance = 0.02)
  expect_gt(min(inside), 0.75) # lower ends next to 0 are too high
  expect_equal(mean(draws > band[, 2]), 0.05, tolerance = 0.1)
  expect_equal(c(fit$param$basis), rowMeans(draws), tolerance = 0.03)
  expect_equal(c(fit$spread$basis), apply(draws, 1, sd), tolerance = 0.1)
})

test_that("a fit is one that every verb takes", {
  set.seed(8)
  x <- ref_counts(40, 8)$x
  dimnames(x) <- list(paste0("site", 1:40), paste0("taxon", 1:8))
  fit <- lda(x, 3, control = few())
  expect_s3_class(fit, c("plsa_gibbs", "plsa", "multicause"), exact = TRUE)
  expect_equal(fit$loglik, ref_plsa_loglik(x, fit$param$membership, fit$param$basis))
  expect_identical(dimnames(fitted(fit)), dimnames(x))
  expect_equal(rowSums(predict(fit, x[1:3, 8:1], type = "membership")), rep(1, 3), ignore_attr = TRUE)
  expect_s3_class(document_completion(fit, x), "document_completion")
  expect_s3_class(test_loglik(fit, x[1:3, ]), "test_loglik")
  expect_error(AIC(fit), class = "multicause_input_error")
  expect_output(print(fit), "draws of 2 chains")
  expect_output(print(summary(fit)), "Quantities that do not depend on the numbering of components")
  expect_true("objective" %in% tidy(fit, "quantities")$quantity)
  expect_s3_class(plot(fit, "trace"), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  skip_if_not_installed("posterior")
  expect_equal(dim(posterior::as_draws(fit))[1:2], c(60, 2), ignore_attr = TRUE)
})

test_that("predictions are means over draws of products", {
  set.seed(4)
  x <- replace(ref_counts(12, 6)$x, 5, NA)
  fit <- lda(x, 2, missing = "paper", control = few())
  expect_identical(lengths(fit$kept), c(10L, 10L))
  states <- lapply(do.call(c, fit$kept), function(draw) {
    rows <- sweep(draw$rows, 2, fit$prior$membership, "+")
    columns <- draw$columns + fit$prior$basis
    list(membership = rows / rowSums(rows), basis = columns / rowSums(columns))
  })
  expect_true(all(vapply(do.call(c, fit$kept), function(draw) sum(draw$rows) == sum(x, na.rm = TRUE), NA)))
  shares <- Reduce(`+`, lapply(states, function(state) state$membership %*% state$basis)) / 20
  scale <- rowSums(x, na.rm = TRUE) / rowSums(replace(shares, 5, 0))
  expect_equal(unname(fitted(fit)), scale * shares)
  expect_equal(impute(fit)[5], fitted(fit)[5])
  # Rows of one count have exact posterior means given a basis.
  new <- diag(6)
  each <- lapply(states, function(state) {
    joint <- fit$prior$membership * state$basis
    membership <- t(sweep(joint, 2, colSums(joint), "/") + fit$prior$membership) / (1 + sum(fit$prior$membership))
    list(membership = membership, p = membership %*% state$basis)
  })
  mean_of <- function(part) Reduce(`+`, lapply(each, `[[`, part)) / 20
  told <- predict(fit, new)
  expect_equal(unname(told), mean_of("p"), ignore_attr = TRUE)
  expect_equal(unname(attr(told, "loglik")), log(diag(mean_of("p"))))
  expect_equal(unname(predict(fit, new, type = "membership")), mean_of("membership"), ignore_attr = TRUE)
  cells <- predict(fit, type = "cell", rows = 1)
  expect_equal(sum(cells[1, 2, ]), 1)
  expect_identical(dim(simulate(fit, 1, seed = 1)[[1]]), dim(x))
})

test_that("memberships of new sites are near their exact posterior means", {
  set.seed(9)
  fit <- lda(ref_counts(60, 6)$x, 2, prior = list(membership = 0.5, basis = 0.5), control = few(draws = 300))
  basis <- plsa_states(fit)[[3]]$basis
  new <- rbind(c(2, 0, 1, 0, 0, 0), c(0, 0, 3, 1, 2, 0), c(1, 0, 0, 0, 0, 0))
  exact <- t(apply(new, 1, function(x) {
    ways <- as.matrix(expand.grid(rep(list(1:2), sum(x))))
    column <- rep(seq_along(x), x)
    rows <- t(apply(ways, 1, tabulate, 2))
    weight <- apply(ways, 1, function(z) prod(basis[cbind(z, column)])) * exp(rowSums(lgamma(rows + 0.5)))
    colSums((rows + 0.5) * weight) / sum(weight) / (sum(x) + 1)
  }))
  told <- plsa_gibbs_fold_in(fit, check_data(new, "nonnegative"), basis)
  expect_lt(max(abs(told - exact)), 0.05)
  expect_equal(told[3, ], exact[3, ], tolerance = 1e-9)
  # Fixed point of CVB0, cell by cell.
  for (i in 1:2) {
    n <- told[i, ] * (sum(new[i, ]) + 1) - 0.5
    for (iteration in 1:200) {
      if (iteration == 1) g <- matrix(n / sum(n), 2, 6)
      g <- basis * (n - g + 0.5)
      g <- sweep(g, 2, colSums(g), "/")
    }
    expect_equal(drop(g %*% new[i, ]), n, tolerance = 1e-7)
  }
  gone <- replace(new, 4, NA)
  expect_equal(rowSums(predict(fit, gone, type = "membership")), rep(1, 3), ignore_attr = TRUE)
})

test_that("the seed alone decides: plans, storage, resuming", {
  x <- ref_counts(30, 8)$x
  run <- function(x, ...) {
    set.seed(9)
    lda(x, 3, control = few(...))
  }
  hold_chains(run, x, x + 1, function(fit) {
    problem <- lda_problem(x, 3, plsa_eb_start$membership, plsa_eb_start$basis, learn = TRUE)
    problem$settings$missing <- "conditional"
    problem$control <- few()
    problem$settings$dirichlet <- plsa_gibbs_learn(problem)
    expect_identical(problem$settings$dirichlet, fit$prior)
    problem
  })
})

test_that("chains go on from another fit, from a start, from nothing; an interrupt keeps draws", {
  set.seed(11)
  x <- ref_counts(30, 8)$x
  fit <- lda(x, 3, control = few())
  more <- lda(x, 3, start = fit, control = few(warmup = 0, chains = 3))
  expect_identical(unique(more$starts$init), "given")
  expect_identical(more$prior$basis, fit$prior$basis)
  expect_s3_class(lda(x, 3, start = fit$param, control = few(warmup = 0)), "plsa_gibbs")
  expect_s3_class(lda(x, 2, control = few(init = "prior", chains = 1)), "plsa_gibbs")
  expect_identical(suppressWarnings(update(fit, k = 2))$dims[["k"]], 2)
  expect_error(lda(x[-1, ], 3, start = fit), class = "multicause_input_error")
  problem <- lda_problem(x, 3, rep(0.5, 3), 0.5)
  jobs <- list(interrupted_chain(problem))
  expect_warning(fit <- plsa_gibbs_fit(jobs, problem, quote(f())), class = "multicause_interrupted")
  expect_lt(nrow(fit$trace), 1000)
})

test_that("degenerate tables are legal, one component is exact, and input is checked", {
  set.seed(12)
  tables <- list(
    matrix(3), matrix(c(0, 2), 1), matrix(c(1, 2), 2), matrix(0, 4, 3), matrix(NA_real_, 3, 2),
    replace(ref_counts(5, 4)$x, c(1, 6, 11, 16), NA)
  )
  for (x in tables) {
    for (k in c(1, 3)) {
      fit <- suppressMessages(keeping_empty_rows(lda(x, k, missing = "paper", control = few(draws = 6, warmup = 5))))
      expect_true(all(is.finite(fit$param$basis)))
      expect_output(print(fit))
    }
  }
  x <- ref_counts(10, 5)$x
  one <- lda(x, 1, prior = list(membership = 1, basis = 0.7), control = few(draws = 6))
  expect_equal(unname(one$param$basis[1, ]), (colSums(x) + 0.7) / (sum(x) + 3.5), tolerance = 1e-12)
  expect_error(lda(x + 0.5, 2), class = "multicause_input_error")
  expect_error(lda(replace(x, 1, NA), 2), class = "multicause_input_error")
  expect_error(lda(x, 2, sparsity = c(membership = 0.1)), class = "multicause_input_error")
  expect_error(lda(x, 2, fixed = "basis", start = one$param), class = "multicause_input_error")
  expect_error(lda(x, 2, control = fit_control()), class = "multicause_input_error")
  expect_error(plsa(x, 2, prior = "eb"), "\"vb\" and \"gibbs\"", class = "multicause_input_error")
})

test_that("more counts than memory holds are refused, with what can be done", {
  x <- matrix(c(6e8, 2, 3, 4), 2)
  bind_in_namespace("machine_memory", function() 1e10)
  expect_error(plsa(x, 2, estimate = "gibbs"), "600 000 009 counts, would need 21 GB .* this machine has 10; .*\"vb\"",
    class = "multicause_input_error")
})
