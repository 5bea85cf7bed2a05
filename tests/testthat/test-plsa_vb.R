# Variational Bayes for plsa().

lda <- function(x, k, prior, ...) keeping_empty_rows(plsa(x, k, estimate = "vb", prior = prior, ...))

# State in the format of the reference.
state_of <- function(fit) {
  alpha <- rep_len(fit$prior$membership, fit$dims[["k"]])
  list(
    rows = unname(sweep(fit$posterior$membership, 2L, alpha)), basis = unname(fit$posterior$basis) - fit$prior$basis,
    alpha = alpha, eta = fit$prior$basis
  )
}

test_that("iterations equal the transcription, with priors given and learnt, sparse and with missing cells", {
  set.seed(1)
  for (learn in c(FALSE, TRUE)) {
    for (missing in c("none", "conditional", "paper")) {
      n <- if (missing == "none") 7 else three_blocks()
      x <- matrix(rpois(n * 5, 1.5), n, 5)
      x[3, ] <- 0
      if (missing != "none") x[c(1, 9, 15, 16, n + 23)] <- NA
      start <- list(membership = ref_simplex(n, 3), basis = ref_simplex(3, 5))
      rows <- start$membership * rowSums(x, na.rm = TRUE)
      want <- list(rows = rows, basis = colSums(rows) * start$basis, alpha = c(0.3, 0.3, 0.3), eta = 0.1)
      rule <- if (missing == "none") "conditional" else missing
      if (!learn) want[c("alpha", "eta")] <- list(c(0.2, 0.7, 1.4), 0.3)
      prior <- if (learn) "eb" else list(membership = want$alpha, basis = want$eta)
      for (iteration in 1:3) {
        want <- ref_lda_vb_pass(x, want, want$alpha, want$eta, learn, rule == "conditional")
        for (form in list(x, Matrix::Matrix(x, sparse = TRUE))) {
          fit <- lda(form, 3, prior, missing = rule, start = start, control = plain_iterations(iteration))
          expect_equal(state_of(fit), want, tolerance = 1e-10)
          expect_equal(unname(fit$objective), tolerance = 1e-10,
            ref_lda_bound(x, want, want$alpha, want$eta, rule == "conditional"))
        }
      }
      means <- lapply(fit$posterior, function(p) p / rowSums(p))
      expect_equal(fit$param, means, tolerance = 1e-14)
      expect_equal(fit$loglik, tolerance = 1e-12,
        ref_plsa_loglik(x, fit$param$membership, fit$param$basis, rule == "conditional"))
    }
  }
})

test_that("the bound is below the evidence, by enumeration, and equal to it with one component", {
  set.seed(2)
  for (i in 1:4) {
    x <- matrix(sample(c(0, 0, 1, 2), 9, TRUE), 3)
    x[1] <- 2
    prior <- list(membership = runif(2, 0.1, 2), basis = runif(1, 0.1, 2))
    fit <- lda(x, 2, prior, control = quiet_control(n_start = 3, tol = 1e-13))
    evidence <- ref_lda_evidence(x, prior$membership, prior$basis)
    expect_lt(fit$objective, evidence)
    expect_gt(fit$objective, evidence - 3)
    one <- lda(x, 1, list(membership = 1, basis = prior$basis), control = quiet_control(n_start = 1))
    expect_equal(unname(one$objective), ref_lda_evidence(x, 1, prior$basis), tolerance = 1e-12)
  }
  # Missing cells, one row and one component: observed counts are multinomial with a Dirichlet over the observed cells.
  x <- c(3, 1, NA, 2)
  fit <- lda(rbind(x), 1, list(membership = 1, basis = 0.4), control = quiet_control(n_start = 1, tol = 1e-13))
  evidence <- ref_lda_evidence(rbind(x[!is.na(x)]), 1, 0.4)
  expect_lt(fit$objective, evidence)
  expect_gt(fit$objective, evidence - 1)
})

test_that("the bound never falls, and priors that are learnt leave nothing to gain", {
  set.seed(3)
  x <- replace(ref_counts(40, 8)$x, sample(320, 20), NA)
  for (accelerate in c(TRUE, FALSE)) {
    control <- quiet_control(n_start = 1, max_iter = 80, tol = 0, accelerate = accelerate)
    for (prior in list("eb", list(membership = 0.5, basis = 0.2))) {
      fit <- lda(x, 3, prior, control = control)
      expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
    }
  }
  fit <- lda(x, 3, "eb", control = quiet_control(n_start = 2, max_iter = 20000, tol = 1e-14))
  state <- state_of(fit)
  q <- list(rows = fit$posterior$membership, basis = fit$posterior$basis)
  bound <- function(logs) -ref_dirichlet_kl(q$rows, exp(logs[1:3])) - ref_dirichlet_kl(q$basis, rep(exp(logs[4]), 8))
  at <- log(c(state$alpha, state$eta))
  expect_lt(stats::optim(at, function(z) -bound(z), method = "BFGS")$value, -bound(at) + 1e-12)
  expect_gt(stats::optim(at, function(z) -bound(z), method = "BFGS")$value, -bound(at) - 1e-3)
})

test_that("the bound never falls where a learnt prior ends its range, and the last iteration is the best", {
  at_end <- 0L
  for (seed in c(1, 2, 6)) {
    set.seed(seed)
    for (x in list(t(stats::rmultinom(30, 40, 1:8)), 50 * diag(8))) {
      fit <- lda(x, 3, "eb", control = quiet_control(n_start = 3, max_iter = 3000, tol = 1e-9))
      at_end <- at_end + (min(fit$prior$membership) < 2e-3)
      expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
    }
  }
  expect_gt(at_end, 2L)
})

test_that("learnt priors tell common components from rare ones", {
  set.seed(4)
  basis <- rbind(rep(c(6, 1, 1), each = 4), rep(c(1, 6, 1), each = 4), rep(c(1, 1, 6), each = 4)) / 32
  shares <- matrix(rgamma(900, rep(c(2, 0.5, 0.1), each = 300)), 300)
  shares <- shares / rowSums(shares)
  x <- t(apply(shares %*% basis, 1, function(p) rmultinom(1, 60, p)))
  fit <- lda(x, 3, "eb", control = quiet_control(n_start = 3))
  expect_identical(order(-fit$prior$membership), 1:3)
  expect_gt(cor(c(fit$param$membership), c(shares)), 0.9)
  expect_gt(cor(c(fit$param$basis), c(basis)), 0.9)
})

test_that("new rows are folded in as those of training are, the posterior of the basis held", {
  set.seed(5)
  x <- replace(ref_counts(30, 8)$x, c(3, 50), NA)
  tight <- quiet_control(n_start = 1, max_iter = 20000, tol = 1e-14)
  for (prior in list("eb", list(membership = 0.5, basis = 0.2))) {
    fit <- lda(x, 3, prior, control = tight)
    expect_equal(predict(fit, x, type = "membership", control = tight), fit$param$membership, tolerance = 1e-3,
      ignore_attr = "loglik")
  }
  # A fixed basis is known, and has no posterior.
  basis <- unname(fit$param$basis)
  held <- lda(x, 3, prior, fixed = "basis", start = list(basis = basis), control = tight)
  expect_identical(names(held$posterior), "membership")
  expect_identical(unname(held$param$basis), basis)
  expect_equal(predict(held, x, type = "membership", control = tight), held$param$membership, tolerance = 1e-4,
    ignore_attr = "loglik")
  expect_output(print(held), "lower bound")
  expect_output(print(summary(fit)), "Dirichlet priors: 0.5 for memberships, 0.2 for the basis")
})
