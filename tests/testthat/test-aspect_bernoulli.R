# Tests also R/aspect_bernoulli_methods.R, R/aspect_bernoulli_run.R.

test_that("golden cases are reached to 1e-9 on parameters and 1e-11 on the log-likelihood", {
  for (name in c("p1_plain", "p2_na", "p3_absorbing")) {
    g <- golden(file.path("aspect_bernoulli", name))
    start <- list(membership = g$S0, aspects = g$A0)
    for (at in seq_along(g$states$sweeps)) {
      fit <- quiet(g$X, g$K, start = start, control = plain(g$states$sweeps[at]))
      expect_equal(nrow(fit$trace), g$states$sweeps[at])
      expect_lt(max(abs(fit$param$membership - g$states$S[[at]])), 1e-9)
      expect_lt(max(abs(fit$param$aspects - g$states$A[[at]])), 1e-9)
      expect_lt(abs(fit$loglik / g$states$loglik[at] - 1), 1e-11)
    }
  }
})

test_that("golden criteria, posteriors, held-out likelihood and fold-in are reached", {
  for (name in c("p1_plain", "p2_na", "p3_absorbing")) {
    g <- golden(file.path("aspect_bernoulli", name))
    extra <- g$extras_at_last_state
    fit <- quiet(g$X, g$K, start = list(membership = g$S0, aspects = g$A0), control = plain(200))
    expect_equal(fit$df, extra$npar)
    expect_equal(aic_paper(fit), extra$aic_eq27, tolerance = 1e-11)
    expect_equal(AIC(fit), extra$aic_standard, tolerance = 1e-11)
    seen <- !is.na(extra$q_aspect1)
    q <- predict(fit, type = "cell")[, , 1]
    expect_lt(max(abs(q - extra$q_aspect1)[seen]), 1e-9)
    all_rows <- seq_len(g$N)
    eq_23 <- function(floor) as.vector(test_loglik(fit, extra$Xtest, floor = floor, training = all_rows))
    expect_equal(eq_23(0), extra$eb_eq23_eps0, tolerance = 1e-11)
    expect_equal(eq_23(1e-6), extra[["eb_eq23_eps1e-6"]], tolerance = 1e-11)
    a <- pmin(pmax(fit$param$aspects, extra$foldin_A_clip), 1 - extra$foldin_A_clip)
    s <- predict(fit, extra$Xtest, type = "membership", control = fit_control(max_iter = 5000, tol = 1e-12))
    expect_equal(ref_loglik(extra$Xtest, s, a), extra$foldin_loglik_total, tolerance = 1e-9)
  }
})

test_that("an iteration equals the transcription of eqs. (7)-(9), with missing cells and priors", {
  set.seed(1)
  for (missing in c(0, 0.2)) {
    n <- if (missing) three_blocks() else 7
    x <- binary(n, 5, missing = missing)
    start <- random_start(n, 5, 3)
    fit <- aspect_bernoulli(x, 3, estimate = "ml", start = start, control = plain(1))
    expect_equal(unname(fit$param$membership), ref_pass(x, start)$membership, tolerance = 1e-12)
    expect_equal(unname(fit$param$aspects), ref_pass(x, start)$aspects, tolerance = 1e-12)
    expect_equal(fit$loglik, ref_loglik(x, fit$param$membership, fit$param$aspects), tolerance = 1e-12)
    prior <- list(aspects = c(1.5, 3), membership = 1.2)
    map <- aspect_bernoulli(x, 3, estimate = "map", prior = prior, start = start, control = plain(1))
    want <- ref_pass(x, start, c(0.5, 2, 0.2))
    expect_equal(unname(map$param$membership), want$membership, tolerance = 1e-12)
    expect_equal(unname(map$param$aspects), want$aspects, tolerance = 1e-12)
    log_posterior <- ref_log_posterior(x, want$membership, want$aspects, c(0.5, 2, 0.2))
    expect_equal(map$objective, c(log_posterior = log_posterior), tolerance = 1e-12)
    expect_equal(map$loglik, ref_loglik(x, want$membership, want$aspects), tolerance = 1e-12)
  }
})

# Iterations that do not visit zeros, and their trace.
line_run <- function(x, start, fixed, pseudo, max_iter, ...) {
  control <- unclass(fit_control(n_start = 1, max_iter = max_iter, algorithm = line_iterations, ...))
  view <- suppressMessages(check_data(x, "binary"))$view
  ab_run(view, start, fixed, prior_of(pseudo), control)
}

test_that("an iteration that does not visit zeros equals the reference, with missing cells, priors and phantoms", {
  for (seed in 1:12) {
    set.seed(seed)
    n <- if (seed == 1) three_blocks() else 9
    k <- 2 + seed %% 4
    x <- binary(n, 7, 0.3, if (seed %% 2) 0.2 else 0)
    x[3, ] <- if (seed %% 2) NA else 1
    x[, 2] <- if (seed %% 3) 1 else NA
    start <- random_start(n, 7, k)
    fixed <- rep("free", k)
    if (seed %% 3 == 0) fixed[k] <- if (seed %% 2) "white" else "black"
    if (fixed[k] != "free") start$aspects[k, ] <- fixed[k] == "black"
    pseudo <- list(c(0, 0, 0), c(0.2, 1, 0), c(0.2, 1, 0.03))[[seed %% 3 + 1]]
    out <- line_run(x, start, fixed, pseudo, 2, tol = 0, accelerate = FALSE)
    want <- start
    for (iteration in 1:2) {
      next_one <- ref_line_pass(x, want, pseudo)
      next_one$aspects[fixed != "free", ] <- want$aspects[fixed != "free", ]
      want <- next_one
    }
    expect_equal(out$param$membership, want$membership, tolerance = 1e-12)
    expect_equal(out$param$aspects, want$aspects, tolerance = 1e-12)
    if (all(pseudo == 0)) {
      # What was climbed is above the objective, to which the last iterations are cut.
      expect_equal(out$outcome$objective, ref_loglik(x, want$membership, want$aspects), tolerance = 1e-12)
    }
  }
})

test_that("what such iterations climb never falls while probabilities are small, and ends at the objective's own end", {
  set.seed(3)
  truth <- random_start(60, 30, 3)
  x <- matrix(rbinom(1800, 1, truth$membership %*% (0.3 * truth$aspects)), 60)
  start <- random_start(60, 30, 4)
  start$aspects <- 0.3 * start$aspects
  climbed <- vapply(1:30, function(iterations) {
    param <- line_run(x, start, rep("free", 4), c(0, 0, 0), iterations, tol = 0, accelerate = FALSE)$param
    ref_line_loglik(x, param$membership, param$aspects)
  }, 0)
  expect_gt(min(diff(climbed)), 0)
  pseudo <- c(0.2, 1, 0.03)
  run <- line_run(x, start, rep("free", 4), pseudo, 4000, tol = 1e-10)
  expect_identical(run$outcome$status, "converged")
  gap <- ab_certify(check_data(x, "binary")$view, run$param, rep("free", 4), prior_of(pseudo))
  expect_lt(gap[3], 1e-2)
  expect_lt(sum(gap[1:2]), 0.1)
  want <- ref_log_posterior(x, run$param$membership, run$param$aspects, pseudo)
  expect_equal(run$outcome$objective, want, tolerance = 1e-12)
  expect_gte(min(diff(run$outcome$trace)), 0)
  twice <- lapply(1:2, function(threads) line_run(x, start, rep("free", 4), pseudo, 20, n_threads = threads))
  expect_identical(twice[[1]], twice[[2]])
})

test_that("sums of strips are added up to the last of many columns", {
  set.seed(7)
  x <- binary(280, 180, 0.3, 0.1) # blocks of 136 rows; 2 x 3 x 180 sums, which are added up 1 024 at a time
  start <- random_start(280, 180, 3)
  fit <- aspect_bernoulli(x, 3, estimate = "ml", start = start, control = plain(1))
  want <- ref_pass(x, start)
  expect_equal(unname(fit$param$membership), want$membership, tolerance = 1e-12)
  expect_equal(unname(fit$param$aspects), want$aspects, tolerance = 1e-12)
})

test_that("the certificate is the gap of the gradients, over three blocks of rows", {
  set.seed(6)
  n <- three_blocks()
  for (pseudo in list(c(0, 0, 0), c(0.5, 2, 0.2))) {
    for (worst in c(1, n)) { # the row that could gain most is in the first block, and in the last
      x <- binary(n, 5, 0.4, 0.1)
      x[worst, ] <- 1
      start <- random_start(n, 5, 3)
      start$aspects[1, ] <- 0.99
      start$membership[worst, ] <- c(0.01, 0.98, 0.01)
      p <- list(x = x, fixed = c("free", "white", "free"), pseudo = pseudo)
      start$aspects[2, ] <- 0
      got <- ab_certify(data_view(x), start, p$fixed, if (any(pseudo > 0)) prior_of(pseudo))
      gap <- ref_gap(p, start, "membership", each = TRUE)
      relative <- gap / (rowSums(!is.na(x)) + 3 * pseudo[3])
      expect_identical(which.max(relative), as.integer(worst))
      expect_equal(got, c(sum(gap), ref_gap(p, start, "aspects"), max(relative)), tolerance = 1e-10, ignore_attr = TRUE)
    }
  }
})

test_that("the objective never falls and rows stay on the simplex: ml and map, plain and accelerated", {
  set.seed(2)
  x <- binary(40, 15, 0.3, 0.1)
  for (estimate in c("ml", "map")) {
    for (accelerate in c(FALSE, TRUE)) {
      control <- fit_control(n_start = 1, max_iter = 300, tol = 0, accelerate = accelerate)
      fit <- aspect_bernoulli(x, 3,
        estimate = estimate, prior = list(aspects = c(1.2, 2), membership = 1.1),
        start = random_start(40, 15, 3), control = control
      )
      expect_equal(fit$trace$iteration, 1:300)
      expect_gt(min(diff(fit$trace$objective)), -1e-9)
      expect_equal(unname(rowSums(fit$param$membership)), rep(1, 40), tolerance = 1e-12)
      expect_true(all(unlist(fit$param) >= 0) && all(fit$param$aspects <= 1))
      expect_equal(tail(fit$trace$objective, 1), unname(fit$objective))
    }
  }
})

test_that("acceleration reaches at least what plain iterations reach, and both certify it", {
  skip_on_cran()
  set.seed(3)
  x <- binary(30, 10)
  start <- random_start(30, 10, 2)
  slow <- aspect_bernoulli(x, 2, estimate = "ml", start = start, control = plain(3000))
  fast <- aspect_bernoulli(x, 2, estimate = "ml", start = start, control = fit_control(max_iter = 3000, tol = 1e-12))
  expect_gt(fast$loglik, slow$loglik - 0.01)
  expect_true(fast$converged)
  expect_lt(summary(fast)$certificate[["membership_gap"]], 1)
  expect_lt(summary(fast)$certificate[["worst_row"]], 0.1)
  # the certificates bound the possible gain of each block alone
  s <- ref_fold_in(x, fast$param$aspects, 2000)
  gain <- ref_loglik(x, s, pmin(pmax(fast$param$aspects, 1e-10), 1 - 1e-10)) - fast$loglik
  expect_lt(gain, summary(fast)$certificate[["membership_gap"]] + 1e-6)
})

test_that("a planted phantom and planted faunas are found", {
  truth <- planted(240, 60)
  set.seed(4)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "ml")
  table <- phantoms(fit)
  expect_equal(table$kind, c("content", "content", "white"))
  expect_gt(cor(fit$param$membership[, 3], truth$lost), 0.95)
  content <- fit$param$aspects[1:2, ]
  lives <- truth$lives[1:2, ]
  if (cor(content[1, ], lives[1, ]) < 0) content <- content[2:1, ]
  expect_gt(min(content[lives == 1]), 0.9)
  expect_lt(max(content[lives == 0]), 0.01)
  # the expected number of false absences is the number of planted ones
  expect_equal(expected_numbers(fit)$absences[["expected"]], sum(truth$lives - truth$x), tolerance = 0.05)
  expect_equal(expected_numbers(fit)$absences[["cells"]], sum(truth$x == 0))
})

test_that("symmetries: rows, columns, components and the exchange of 0 and 1", {
  set.seed(5)
  x <- binary(20, 8, missing = 0.1)
  start <- random_start(20, 8, 3)
  base <- quiet(x, 3, start = start, control = plain(50))
  run <- function(x, s, a) quiet(x, 3, start = list(membership = s, aspects = a), control = plain(50))
  rows <- sample(20)
  columns <- sample(8)
  parts <- c(2, 3, 1)
  moved <- run(x[rows, columns], start$membership[rows, parts], start$aspects[parts, columns])
  expect_equal(unname(moved$param$membership), unname(base$param$membership[rows, parts]), tolerance = 1e-9)
  expect_equal(unname(moved$param$aspects), unname(base$param$aspects[parts, columns]), tolerance = 1e-9)
  flipped <- run(1 - x, start$membership, 1 - start$aspects)
  expect_equal(flipped$loglik, base$loglik, tolerance = 1e-11)
  expect_equal(flipped$param$aspects, 1 - base$param$aspects, tolerance = 1e-9)
})

test_that("missing cells drop out", {
  set.seed(6)
  x <- binary(12, 6)
  start <- random_start(14, 8, 2)
  padded <- rbind(cbind(x, NA, NA), NA, NA)
  fit <- quiet(padded, 2, start = start, control = plain(30))
  inner <- list(membership = start$membership[1:12, ], aspects = start$aspects[, 1:6])
  alone <- quiet(x, 2, start = inner, control = plain(30))
  expect_equal(fit$loglik, alone$loglik, tolerance = 1e-12)
  expect_equal(fit$param$membership[1:12, ], alone$param$membership, tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(unname(fit$param$membership[13:14, ]), start$membership[13:14, ])
  expect_equal(unname(fit$param$aspects[, 7:8]), start$aspects[, 7:8])
  expect_equal(nobs(fit), 72L)
})

test_that("all forms of input give the same fit, and names travel", {
  truth <- planted(40, 12)
  x <- truth$x
  control <- fit_control(n_start = 2, max_iter = 60)
  fit_of <- function(x) {
    set.seed(7)
    suppressWarnings(quiet(x, 3, control = control))
  }
  base <- fit_of(x)
  frame <- data.frame(site = rownames(x), x)
  same <- list(
    logical = x == 1, integer = x + 0L, table = as.table(x), frame = as.data.frame(x), named_frame = frame,
    sparse = Matrix::Matrix(x, sparse = TRUE), pattern = Matrix::Matrix(x == 1, sparse = TRUE),
    triplet = methods::as(Matrix::Matrix(x, sparse = TRUE), "TsparseMatrix")
  )
  for (form in same) {
    other <- fit_of(form)
    expect_identical(other$param, base$param)
    expect_identical(other$starts, base$starts)
  }
  expect_equal(dimnames(base$param$membership), list(rownames(x), c("A1", "A2", "A3")))
  expect_equal(dimnames(base$param$aspects), list(c("A1", "A2", "A3"), colnames(x)))
})

test_that("arguments are not modified, and threads do not change the result", {
  set.seed(8)
  x <- binary(60, 10, 0.3)
  start <- random_start(60, 10, 3)
  before <- serialize(list(x, start), NULL)
  one <- aspect_bernoulli(x, 3, estimate = "ml", start = start, control = fit_control(max_iter = 50, tol = 0))
  expect_identical(serialize(list(x, start), NULL), before)
  big <- binary(3000, 120, 0.1)
  start <- random_start(3000, 120, 4)
  fits <- lapply(1:2, function(n_threads) {
    aspect_bernoulli(
      big, 4, estimate = "ml", start = start, control = fit_control(max_iter = 12, tol = 0, n_threads = n_threads)
    )
  })
  expect_identical(fits[[1]]$param, fits[[2]]$param)
  expect_identical(fits[[1]]$trace, fits[[2]]$trace)
})

test_that("?aspect_bernoulli has the numbers of false absences that estimates give, and their bounds", {
  skip_on_cran()
  stated <- c(map = 843, ml = 1000, vb = 2585)
  bounds <- c(map = 1510, ml = 1230, vb = 3240)
  for (estimate in names(stated)) {
    fit <- with_seed(1, aspect_bernoulli(early_tetrapods$x, k = 4, phantom = "white", estimate = estimate))
    first <- false_absences(fit, 1)
    expect_equal(attr(first, "expected"), stated[[estimate]], tolerance = 0.005, info = estimate)
    expect_equal(attr(first, "expected_most"), bounds[[estimate]], tolerance = 0.005, info = estimate)
  }
})
