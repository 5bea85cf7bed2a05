test_that("iterations equal the EM equations, with and without missing cells and a prior", {
  set.seed(1)
  for (missing in c(0, 0.2)) {
    x <- binary_matrix(if (missing) three_blocks(64) else 9, 10, missing = missing)
    start <- list(weights = c(0.2, 0.5, 0.3), prototypes = matrix(runif(30, 0.1, 0.9), 3, 10))
    ref <- start
    for (iteration in 1:3) ref <- ref_bm_pass(x, ref$weights, ref$prototypes)
    fit <- bernoulli_mixture(x, 3, estimate = "ml", start = start, control = plain_control(3))
    expect_equal(unname(fit$param$weights), ref$weights, tolerance = 1e-12)
    expect_equal(unname(fit$param$prototypes), ref$prototypes, tolerance = 1e-12)
    last <- ref_bm_pass(x, ref$weights, ref$prototypes)
    expect_equal(unname(fit$param$membership), last$posterior, tolerance = 1e-12)
    expect_equal(unname(fit$objective), last$loglik, tolerance = 1e-12)

    map <- ref_bm_pass(x, start$weights, start$prototypes, 0.2, 1, 0.5)
    prior <- list(prototypes = c(1.2, 2), weights = 1.5)
    fit <- bernoulli_mixture(x, 3, estimate = "map", prior = prior, start = start, control = plain_control(1))
    expect_equal(unname(fit$param$prototypes), map$prototypes, tolerance = 1e-12)
    expect_equal(unname(fit$param$weights), map$weights, tolerance = 1e-12)
    after <- ref_bm_pass(x, map$weights, map$prototypes, 0.2, 1, 0.5)
    expect_equal(unname(fit$objective), after$loglik + after$prior, tolerance = 1e-12)
    expect_equal(fit$loglik, after$loglik, tolerance = 1e-12)
  }
})

test_that("the objective never falls", {
  set.seed(2)
  x <- binary_matrix(40, 12, missing = 0.1)
  for (accelerate in c(TRUE, FALSE)) {
    for (estimate in c("ml", "map")) {
      fit <- bernoulli_mixture(
        x, 4,
        estimate = estimate, control = quiet_control(n_start = 2, accelerate = accelerate, screen = FALSE)
      )
      expect_gte(min(diff(fit$trace$objective)), -1e-9)
      expect_true(fit$converged)
    }
  }
})

test_that("prototypes reach exact 0 and 1 under maximum likelihood and stay possible", {
  x <- rbind(matrix(rep(c(1, 1, 0, 0), each = 5), 5), matrix(rep(c(0, 0, 1, 1), each = 5), 5))
  fit <- bernoulli_mixture(x, 2, estimate = "ml", control = quiet_control(n_start = 4))
  expect_setequal(round(as.vector(fit$param$prototypes), 6), c(0, 1))
  expect_equal(fit$loglik, 10 * log(0.5), tolerance = 1e-6)
  start <- list(weights = c(0.5, 0.5), prototypes = rbind(c(1, 1, 0, 0), c(0, 0, 1, 1)))
  exact <- bernoulli_mixture(x, 2, estimate = "ml", start = start, control = plain_control(2))
  expect_identical(unname(exact$param$prototypes), start$prototypes)
  expect_equal(unname(exact$objective), 10 * log(0.5), tolerance = 1e-14)
  x[1, 1] <- NA
  expect_equal(
    unname(bernoulli_mixture(x, 2, estimate = "ml", start = start, control = plain_control(2))$objective),
    10 * log(0.5),
    tolerance = 1e-14
  )
  x[1, 1] <- 0
  expect_error(
    bernoulli_mixture(x, 2, estimate = "ml", start = start, control = plain_control(2)), "probability 0",
    class = "multicause_input_error"
  )
})

test_that("planted classes are found, and how many starts found them is told", {
  set.seed(3)
  truth <- rbind(c(0.9, 0.9, 0.9, 0.1, 0.1, 0.1), c(0.1, 0.1, 0.1, 0.9, 0.9, 0.9))
  class <- rep(1:2, c(120, 80))
  x <- random_bernoulli(truth[class, ])
  fit <- bernoulli_mixture(x, 2, estimate = "ml", control = quiet_control(n_start = 6, screen = FALSE))
  expect_equal(unname(fit$param$weights), c(0.6, 0.4), tolerance = 0.1)
  expect_lt(max(abs(fit$param$prototypes - truth)), 0.12)
  expect_equal(sum(fit$starts$reached_best), 6L)
  expect_gt(mean(max.col(fit$param$membership) == class), 0.95)
})

test_that("degenerate shapes and unobserved rows and columns are legal", {
  one <- quiet_control(n_start = 2)
  set.seed(4)
  x <- binary_matrix(8, 5)
  k1 <- bernoulli_mixture(x, 1, estimate = "ml", control = one)
  expect_equal(k1$param$prototypes[1, ], colMeans(x), tolerance = 1e-9)
  expect_message(bernoulli_mixture(x[1, , drop = FALSE], 2, estimate = "ml", control = one), "smaller side")
  expect_message(bernoulli_mixture(x[, 1, drop = FALSE], 2, estimate = "ml", control = one), "smaller side")
  expect_equal(bernoulli_mixture(0 * x, 2, estimate = "ml", control = one)$loglik, 0, tolerance = 1e-6)
  expect_equal(bernoulli_mixture(0 * x + 1, 2, estimate = "ml", control = one)$loglik, 0, tolerance = 1e-6)
  gaps <- x
  gaps[3, ] <- NA
  gaps[, 2] <- NA
  expect_message(expect_message(fit <- bernoulli_mixture(gaps, 2, estimate = "ml", control = one), "site3"), "taxon2")
  expect_equal(unname(fit$param$membership[3, ]), unname(fit$param$weights), tolerance = 1e-12)
  without <- suppressMessages(bernoulli_mixture(
    gaps[-3, ], 2,
    estimate = "ml", start = lapply(fit$param[c("weights", "prototypes")], unname), control = plain_control(0)
  ))
  expect_equal(without$loglik, fit$loglik, tolerance = 1e-12)
  expect_false(anyNA(fitted(fit)))
})

test_that("predict, fitted, residuals and simulate agree with the parameters", {
  set.seed(7)
  x <- binary_matrix(15, 6, missing = 0.1)
  fit <- bernoulli_mixture(x, 2, estimate = "ml", control = quiet_control(n_start = 3))
  expect_equal(fitted(fit), fit$param$membership %*% fit$param$prototypes)
  expect_equal(predict(fit, x[, 6:1]), fitted(fit)[, 6:1], tolerance = 1e-9)
  expect_equal(predict(fit, x[4, , drop = FALSE], type = "membership"), fit$param$membership[4, , drop = FALSE],
    tolerance = 1e-9
  )
  cells <- predict(fit, type = "cell", rows = c("site2", "site5"))
  expect_identical(dim(cells), c(2L, 6L, 2L))
  expect_equal(unname(cells[1, 3, ]), unname(fit$param$membership["site2", ]))
  expect_identical(is.na(residuals(fit)), is.na(x))
  expect_equal(attr(logLik(fit), "df"), 1 + 2 * 6)
  impossible <- fit
  impossible$param$prototypes[] <- 0
  expect_false(anyNA(predict(impossible, matrix(1, 1, 6), type = "membership")))
})

test_that("mixtures agree with poLCA", {
  skip_if_not_installed("poLCA")
  set.seed(8)
  x <- random_bernoulli(rbind(c(0.9, 0.8, 0.7, 0.2, 0.1), c(0.2, 0.3, 0.1, 0.8, 0.9))[rep(1:2, 60), ])
  colnames(x) <- letters[1:5]
  fit <- bernoulli_mixture(x, 2, estimate = "ml", control = quiet_control(n_start = 6))
  peer <- getExportedValue("poLCA", "poLCA")(
    cbind(a, b, c, d, e) ~ 1, as.data.frame(x + 1), nclass = 2, nrep = 5, verbose = FALSE
  )
  expect_equal(fit$loglik, peer$llik, tolerance = 1e-6)
})

test_that("messages", {
  set.seed(9)
  x <- binary_matrix(6, 4)
  fit <- bernoulli_mixture(x, 2, estimate = "ml", control = quiet_control(n_start = 2))
  expect_snapshot(error = TRUE, {
    bernoulli_mixture(x, 2, estimate = "map", prior = list(prototypes = 1, weights = 1))
    bernoulli_mixture(x, 2, estimate = "map", prior = list(aspects = c(1, 1)))
    bernoulli_mixture(x, 2, start = list(weights = 1))
    bernoulli_mixture(x, 2, start = list(weights = c(0.5, 0.6), prototypes = matrix(0.5, 2, 4)))
  })
})

test_that("print", {
  set.seed(10)
  fit <- bernoulli_mixture(binary_matrix(6, 4), 1, estimate = "ml", control = quiet_control(n_start = 1))
  expect_snapshot(print(fit), transform = hide_passes)
})

test_that("a component that hardly has a row with an attribute observed learns from those it has", {
  x <- rbind(c(1, 1, 0, 1), c(NA, 1, 0, 0), c(1, 1, 0, 1), c(0, 0, 0, NA), c(NA, 0, NA, 1))
  start <- list(
    weights = c(0.05, 0.95), prototypes = rbind(c(0.19, 0.35, 0.28, 0.99), c(0.06, 0.92, 1 - 1e-14, 0.25))
  )
  ref <- start
  for (iterations in 1:4) {
    ref <- ref_bm_pass(x, ref$weights, ref$prototypes)
    fit <- bernoulli_mixture(x, 2, estimate = "ml", start = start, control = plain_control(iterations))
    expect_equal(unname(fit$param$prototypes), ref$prototypes, tolerance = 1e-9)
    expect_equal(unname(fit$param$weights), ref$weights, tolerance = 1e-9)
  }
})

test_that("with more sites the prototypes come nearer to the truth", {
  truth <- rbind(rep(c(0.8, 0.1), each = 6), rep(c(0.1, 0.8), each = 6))
  error <- vapply(c(30, 300, 3000), function(n) {
    set.seed(2)
    x <- matrix(rbinom(12 * n, 1, truth[rep(1:2, length.out = n), ]), n)
    found <- bernoulli_mixture(x, 2, control = quiet_control(n_start = 3))$param$prototypes
    found <- found[order(-found[, 1L]), ]
    sqrt(mean((found - truth)^2))
  }, 0)
  expect_false(is.unsorted(-error))
  expect_lt(error[3L], error[1L] / 3)
})

test_that("components come in order of weight, whatever the seed, in mixtures and in plca()", {
  truth <- rbind(rep(c(0.9, 0.1), c(4, 8)), rep(c(0.1, 0.9, 0.1), c(4, 4, 4)), rep(c(0.1, 0.9), c(8, 4)))
  set.seed(3)
  x <- matrix(rbinom(2400, 1, truth[rep(1:3, c(110, 60, 30)), ]), 200)
  control <- quiet_control(n_start = 5)
  leading <- function(fit, by_taxon) apply(by_taxon(fit$param), 1L, function(p) (which.max(p) - 1L) %/% 4L + 1L)
  for (seed in 1:4) {
    set.seed(seed)
    mixture <- bernoulli_mixture(x, 3, control = control)
    expect_identical(unname(leading(mixture, function(param) param$prototypes)), 1:3)
    joint <- plca(x, 3, control = control)
    expect_identical(unname(leading(joint, function(param) param$marginals[[2L]])), 1:3)
    expect_false(is.unsorted(-mixture$param$weights))
    expect_false(is.unsorted(-joint$param$weights))
  }
})

test_that("a held weight or prototype keeps its value, and all others are at their best", {
  set.seed(3)
  k <- 3L
  x <- matrix(rbinom(60 * 5, 1, matrix(runif(k * 5), k)[sample.int(k, 60, TRUE), ]), 60)
  x[sample.int(300, 20)] <- NA
  pseudo <- c(0.3, 0.6, 0.4)
  objective <- function(param) {
    rows <- apply(x, 1, function(row) {
      sum(param$weights * apply(param$prototypes, 1, function(p) prod(dbinom(row, 1, p), na.rm = TRUE)))
    })
    p <- param$prototypes
    sum(log(rows)) + sum(pseudo[1] * log(p) + pseudo[2] * log1p(-p)) + pseudo[3] * sum(log(param$weights))
  }
  start <- list(weights = c(0.2, 0.3, 0.5), prototypes = matrix(runif(k * 5, 0.2, 0.8), k))
  view <- check_data(x, "binary", quiet = TRUE)$view
  control <- fit_control(n_start = 1, max_iter = 5000, tol = 1e-14)
  for (held in c(2L, 3L, k + 4L)) {
    run <- bm_run(view, start, pseudo, control, held = held)
    found <- run$param[c("weights", "prototypes")]
    expect_equal(unlist(found)[[held]], unlist(start)[[held]], tolerance = 1e-12)
    expect_equal(run$outcome$objective, objective(found), tolerance = 1e-12)
    # Slopes along every parameter that is free; those of the weights keep their sum.
    free <- if (held <= k) seq_len(k)[-held] else seq_len(k)
    for (at in setdiff(seq_len(k + k * 5), held)) {
      slope <- vapply(c(-1e-5, 1e-5), function(by) {
        moved <- unlist(found)
        moved[at] <- moved[at] + by
        if (at <= k) moved[setdiff(free, at)[1]] <- moved[setdiff(free, at)[1]] - by
        objective(list(weights = moved[seq_len(k)], prototypes = matrix(moved[-seq_len(k)], k)))
      }, 0)
      expect_lt(abs(diff(slope) / 2e-5), 1e-3)
    }
  }
})
