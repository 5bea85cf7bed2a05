counts_matrix <- function(n, m, missing = 0) {
  x <- matrix(rpois(n * m, 1.5), n, m, dimnames = list(paste0("site", seq_len(n)), paste0("taxon", seq_len(m))))
  x[sample(n * m, round(missing * n * m))] <- NA
  x
}

test_that("multiplicative iterations equal the equations, with and without missing cells", {
  set.seed(1)
  shapes <- list(c(9, 6), c(three_blocks(), 8), c(8, three_blocks()))
  for (loss in c("euclidean", "kl")) {
    for (shape in shapes) {
      x <- counts_matrix(shape[1], shape[2], if (max(shape) > 9) 0.1 else 0)
      if (max(shape) > 9) x <- x + 1 # no row of zeros, of which the reference has 0 / 0
      start <- list(coefficients = matrix(runif(2 * shape[1]), ncol = 2), basis = matrix(runif(2 * shape[2]), 2))
      ref <- start
      for (iteration in 1:3) ref <- ref_nmf_pass(x, ref$coefficients, ref$basis, loss)
      fit <- nmf(x, 2, loss = loss, start = start, control = plain_control(3))
      expect_equal(unname(fit$param$coefficients), unname(ref$coefficients), tolerance = 1e-11)
      expect_equal(unname(fit$param$basis), unname(ref$basis), tolerance = 1e-11)
      loglik <- sum(dpois(x, fitted(fit), log = TRUE), na.rm = TRUE)
      expect_equal(unname(fit$objective), if (loss == "kl") loglik else -ref$loss, tolerance = 1e-11)
    }
  }
})

test_that("coordinate descent never raises the loss, sparse or dense, and ends where no gradient is left", {
  set.seed(2)
  for (loss in c("euclidean", "kl")) {
    for (p in c(0.05, 0.6)) {
      x <- binary_matrix(60, 25, p, missing = 0.05) * 3
      fit <- suppressMessages(nmf(
        x, 3, loss = loss, control = quiet_control(n_start = 1, tol = 1e-16, max_iter = 3000)
      ))
      expect_gte(min(diff(fit$trace$objective)), -1e-9)
      expect_true(fit$converged)
      expect_lt(fit$residual, 1e-15)
      start <- list(coefficients = unname(fit$param$coefficients), basis = unname(fit$param$basis))
      expect_lt(ref_nmf_gradient(x, fit), 1e-4)
      slow <- suppressMessages(nmf(
        x, 3, loss = loss, start = start, control = quiet_control(accelerate = FALSE, max_iter = 50, tol = 0)
      ))
      expect_equal(slow$objective, fit$objective, tolerance = 1e-6)
    }
  }
})

test_that("KL iterations never raise the loss, and rows end at the optimum of a general solver", {
  skip_on_cran()
  set.seed(41)
  for (i in 1:200) {
    x <- random_counts()
    n <- nrow(x)
    m <- ncol(x)
    k <- sample.int(6, 1)
    x[sample(n * m, n * m %/% 8)] <- NA
    if (all(is.na(x))) next
    start <- list(coefficients = matrix(runif(n * k), n), basis = matrix(runif(k * m), k))
    fit <- suppressMessages(nmf(x, k, loss = "kl", start = start, control = quiet_control(max_iter = 60, tol = 0)))
    expect_gte(min(diff(fit$trace$objective)), -1e-12 * (1 + abs(unname(fit$objective))))
    rows <- nm_run(data_view(x), start, "kl", quiet_control(max_iter = 500, tol = 1e-20), fixed_basis = TRUE)
    loss <- vapply(seq_len(n), function(i) {
      seen <- which(!is.na(x[i, ]))
      ones <- seen[x[i, seen] > 0]
      if (!length(ones)) return(0)
      v <- x[i, ones]
      linear <- rowSums(start$basis[, seen, drop = FALSE])
      sum(v * log(v) - v) - ref_poisson_best(v, start$basis[, ones, drop = FALSE], linear)
    }, 0)
    expect_lte(-rows$outcome$objective, sum(loss) + 1e-8 * (1 + sum(loss)))
  }
})

test_that("the residual of an iteration is how far its rows are from the conditions of an optimum, over three blocks", {
  set.seed(42)
  x <- counts_matrix(three_blocks(), 8, 0.1)
  start <- list(coefficients = matrix(rexp(2 * nrow(x)), ncol = 2), basis = matrix(rexp(16), 2))
  seen <- !is.na(x)
  known <- replace(x, !seen, 0)
  mean <- start$coefficients %*% start$basis
  for (loss in c("euclidean", "kl")) {
    run <- nm_run(data_view(x), start, loss, quiet_control(n_start = 1, max_iter = 1, tol = 0), fixed_basis = TRUE)
    if (loss == "euclidean") {
      size <- known %*% t(start$basis)
      gradient <- (seen * mean) %*% t(start$basis) - size
      scale <- rowSums(start$basis^2)
    } else {
      size <- seen %*% t(start$basis)
      gradient <- size - (known / mean) %*% t(start$basis)
      scale <- rowSums(start$basis) / colMeans(start$coefficients)
    }
    off <- pmin(sweep(start$coefficients, 2, scale, "*"), gradient)
    expect_equal(run$residual, sum(off^2) / sum(size^2), tolerance = 1e-10)
  }
})

test_that("a factorisation that exists is found", {
  set.seed(3)
  w <- matrix(rexp(40 * 3) * rbinom(120, 1, 0.6), 40)
  h <- matrix(rexp(3 * 15) * rbinom(45, 1, 0.6), 3)
  x <- w %*% h
  for (loss in c("euclidean", "kl")) {
    fit <- suppressMessages(nmf(x, 3, loss = loss, control = quiet_control(n_start = 5, tol = 1e-14, max_iter = 5000)))
    expect_lt(max(abs(fitted(fit) - x)), 1e-3 * max(x))
  }
})

test_that("the basis sums to one, components come by total, and a KL fit keeps row sums", {
  set.seed(4)
  x <- counts_matrix(20, 8)
  fit <- nmf(x, 3, loss = "kl", control = quiet_control(n_start = 2))
  expect_equal(unname(rowSums(fit$param$basis)), rep(1, 3), tolerance = 1e-12)
  expect_false(is.unsorted(-colSums(fit$param$coefficients)))
  expect_equal(rowSums(fitted(fit)), rowSums(x), tolerance = 1e-3)
  expect_equal(attr(logLik(fit), "df"), 3 * (20 + 8 - 1))
  expect_error(logLik(nmf(x, 2, control = quiet_control(n_start = 1))), class = "multicause_input_error")
})

test_that("degenerate shapes are legal", {
  few <- quiet_control(n_start = 1)
  set.seed(5)
  x <- counts_matrix(8, 5)
  for (loss in c("euclidean", "kl")) {
    expect_message(nmf(x[1, , drop = FALSE], 2, loss = loss, control = few), "smaller side")
    expect_message(nmf(x[, 1, drop = FALSE], 2, loss = loss, control = few), "smaller side")
    expect_message(zero <- nmf(0 * x, 2, loss = loss, control = few), "all of its cells are 0")
    expect_lt(max(fitted(zero)), 1e-6)
    gaps <- x
    gaps[3, ] <- NA
    gaps[, 2] <- NA
    gaps[5, ] <- 0
    fit <- suppressMessages(nmf(gaps, 2, loss = loss, control = few))
    expect_false(anyNA(fitted(fit)))
  }
})

test_that("threads and sparse storage change nothing", {
  set.seed(6)
  x <- binary_matrix(700, 60, 0.1) + 0
  for (loss in c("euclidean", "kl")) {
    fit <- function(data, threads) {
      set.seed(7)
      control <- quiet_control(n_start = 1, max_iter = 15, n_threads = threads)
      suppressWarnings(nmf(data, 3, loss = loss, control = control))
    }
    one <- fit(x, 1)
    expect_identical(fit(x, 2)$param, one$param)
    expect_identical(fit(Matrix::Matrix(x, sparse = TRUE), 1)$param, one$param)
  }
})

test_that("predict, residuals and simulate agree with the parameters", {
  set.seed(8)
  x <- counts_matrix(20, 10, 0.1)
  for (loss in c("euclidean", "kl")) {
    fit <- nmf(x, 2, loss = loss, control = quiet_control(n_start = 2, tol = 1e-15, max_iter = 5000))
    expect_equal(predict(fit, x[, 10:1]), fitted(fit)[, 10:1], tolerance = 1e-4)
    expect_equal(
      predict(fit, x[3, , drop = FALSE], type = "coefficients"), fit$param$coefficients[3, , drop = FALSE],
      tolerance = 1e-3
    )
    expect_identical(is.na(residuals(fit, "deviance")), is.na(x))
  }
  draws <- simulate(fit, 2, seed = 1)
  expect_identical(draws, simulate(fit, 2, seed = 1))
  expect_identical(dimnames(draws[[1]]), dimnames(x))
})

test_that("losses agree with NMF and RcppML", {
  set.seed(9)
  x <- counts_matrix(30, 12) + 0.1
  ours <- nmf(x, 3, control = quiet_control(n_start = 8, screen = FALSE, tol = 1e-12, max_iter = 5000))
  skip_if_not_installed("RcppML")
  peers <- vapply(1:8, function(seed) {
    peer <- getExportedValue("RcppML", "nmf")(x, 3, tol = 1e-10, maxit = 5000, seed = seed, verbose = FALSE)
    -sum((x - peer$w %*% diag(peer$d) %*% peer$h)^2) / 2
  }, 0)
  expect_gte(unname(ours$objective), max(peers) - 1e-3 * abs(max(peers)))
})

test_that("messages", {
  set.seed(10)
  x <- counts_matrix(6, 4)
  fit <- nmf(x, 1, control = quiet_control(n_start = 1))
  expect_snapshot(error = TRUE, {
    nmf(-x, 2)
    nmf(x, 1, start = list(basis = 1))
    nmf(x, 1, start = list(coefficients = matrix(-1, 6, 1), basis = matrix(1, 1, 4)))
    nmf(x, 1, start = list(coefficients = matrix(0, 6, 1), basis = matrix(1, 1, 4)), loss = "kl")
    logLik(fit)
    simulate(fit)
  })
})

test_that("print", {
  set.seed(11)
  x <- counts_matrix(6, 4)
  expect_snapshot({
    print(nmf(x, 1, control = quiet_control(n_start = 1)))
    print(nmf(x, 1, loss = "kl", control = quiet_control(n_start = 1)))
  }, transform = hide_passes)
})

# Few rows, many components, random missing cells: differences of sums of squares are often dominated by rounding.
crowded <- function(seed) {
  set.seed(seed)
  n <- sample(3:7, 1)
  m <- sample(3:7, 1)
  x <- matrix(rpois(n * m, 3), n, m)
  x[runif(n * m) < 0.25] <- NA
  small <- runif(n * m) < 0.3
  x[small] <- x[small] * 1e-8
  list(x = x, k = sample(4:7, 1), start = list(matrix(runif(49), 7), matrix(runif(49), 7)))
}

hush_nmf <- function(...) suppressMessages(suppressWarnings(nmf(...)))

test_that("missing cells leave no rounding behind: losses are those of the parameters, and never rise", {
  for (seed in 1:60) {
    case <- crowded(seed)
    start <- list(
      coefficients = case$start[[1]][seq_len(nrow(case$x)), seq_len(case$k), drop = FALSE],
      basis = case$start[[2]][seq_len(case$k), seq_len(ncol(case$x)), drop = FALSE]
    )
    fit <- hush_nmf(case$x, case$k, start = start, control = quiet_control(max_iter = 200))
    squares <- sum(case$x^2, na.rm = TRUE)
    expect_lt(abs(fit$objective + sum((case$x - fitted(fit))^2, na.rm = TRUE) / 2), 1e-10 * squares)
    expect_gte(min(diff(fit$trace$objective), 0), -1e-12 * squares)
  }
})

test_that("a new row without the attributes of a component does not make it enormous", {
  x <- rbind(c(2, 0, 0), c(0, 3, 0), c(0, 0, 4), c(1, 2, 0))
  start <- list(coefficients = x, basis = diag(3))
  for (loss in c("euclidean", "kl")) {
    fit <- nmf(x, 3, loss = loss, start = start, control = quiet_control())
    new <- predict(fit, rbind(c(NA, 2, 1), c(NA, NA, NA)))
    expect_equal(new[1, 2:3], c(2, 1), tolerance = 1e-6)
    expect_lt(max(new), 10)
  }
})

test_that("predictions scale with the data, and with no size of the basis", {
  set.seed(5)
  x <- counts_matrix(12, 6, 0.1)
  for (loss in c("euclidean", "kl")) {
    start <- list(coefficients = matrix(runif(24), 12), basis = matrix(runif(12), 2))
    few <- quiet_control(max_iter = 100)
    fit <- nmf(x, 2, loss = loss, start = start, control = few)
    large <- list(coefficients = start$coefficients * 1e-14, basis = start$basis * 1e14)
    again <- nmf(x, 2, loss = loss, start = large, control = few)
    expect_equal(predict(again, x), predict(fit, x), tolerance = 1e-5)
    nothing <- matrix(NA_real_, 1, 6)
    tiny <- nmf(x * 1e-9, 2, loss = loss, control = quiet_control(n_start = 1))
    expect_lt(max(predict(tiny, nothing)), 10 * max(x, na.rm = TRUE) * 1e-9)
  }
})

test_that("multiplicative iterations may be accelerated in memory, too", {
  x <- planted_table(missing = 0)
  start <- list(coefficients = 2 * start_of_shards(x, 3)$membership, basis = start_of_shards(x, 3)$aspects)
  fit <- function(...) {
    nmf(x, 3, loss = "kl", start = start, control = fit_control(max_iter = 60, tol = 0, ...))
  }
  em <- fit(algorithm = "em")
  plain <- fit(accelerate = FALSE)
  expect_equal(em$trace$objective[1], plain$trace$objective[1], tolerance = 1e-12)
  expect_gt(em$objective, plain$objective)
  expect_false(is.unsorted(em$trace$objective))
})
