# Tests also R/base_likelihood.R.

test_that("it is eq. (23), floor and missing cells included", {
  set.seed(1)
  x <- binary(9, 5)
  start <- random_start(9, 5, 2)
  start$aspects[1, 1:2] <- c(1e-9, 1 - 1e-9)
  fit <- fit_with(x, start$membership, start$aspects)
  new <- binary(6, 5, missing = 0.2)
  for (floor in c(0, 1e-6, 0.01)) {
    got <- test_loglik(fit, new, floor = floor)
    expect_equal(as.vector(got), ref_test_loglik(new, start$membership, start$aspects, floor), tolerance = 1e-11)
    expect_equal(attr(got, "total"), sum(got))
    expect_equal(attr(got, "mean"), mean(as.vector(got)))
    expect_equal(attr(got, "floor"), floor)
  }
})

test_that("an impossible row has -Inf without a floor, and a number with one", {
  fit <- fit_with(matrix(c(1, 1, 0, 0), 2), matrix(1, 2, 1), rbind(c(1, 0)))
  expect_equal(as.vector(test_loglik(fit, rbind(c(1, 1)))), log(1e-6))
  expect_message(never <- test_loglik(fit, rbind(c(1, 1)), floor = 0), "-Inf for 1 row of .* impossible")
  expect_equal(as.vector(never), -Inf)
})

test_that("rows with nothing observed: no likelihood if new, no component if trained on", {
  set.seed(2)
  x <- rbind(binary(6, 4), NA)
  start <- random_start(7, 4, 2)
  fit <- fit_with(x, start$membership, start$aspects)
  new <- rbind(r1 = c(1, 0, 0, 1), r2 = NA)
  expect_message(got <- test_loglik(fit, new), "No likelihood [(]NA[)] for 1 row of")
  expect_equal(is.na(as.vector(got)), c(FALSE, TRUE))
  expect_equal(names(got), c("r1", "r2"))
  known <- ref_test_loglik(new[1, , drop = FALSE], start$membership[1:6, ], start$aspects, 1e-6)
  expect_equal(attr(got, "total"), known[[1]])
  all_rows <- suppressMessages(test_loglik(fit, new, training = 1:7))
  expect_equal(all_rows[[1]], ref_test_loglik(new[1, , drop = FALSE], start$membership, start$aspects, 1e-6)[[1]])
})

test_that("columns are matched by name, sparse data allowed", {
  case <- small_fit()
  new <- case$x[1:4, ]
  base <- test_loglik(case$fit, new)
  expect_equal(test_loglik(case$fit, new[, 8:1]), base)
  expect_equal(test_loglik(case$fit, Matrix::Matrix(new, sparse = TRUE)), base)
})

test_that("the print states the floor", {
  case <- mixed_fit(c("content", "content", "white"), named = TRUE)
  expect_snapshot(test_loglik(case$fit, case$x))
})

# Log of the weighted mean over components (rows of p) of the probability of each new row, by definition.
ref_mixture_loglik <- function(new, p, weight, floor) {
  apply(new, 1, function(x) {
    each <- apply(p, 1, function(q) prod(pmax(ifelse(x == 1, q, 1 - q), floor)[!is.na(x)]))
    log(sum(weight * each))
  })
}

test_that("every model of presences has it, under one rule of the floor", {
  set.seed(3)
  x <- binary_matrix(14, 6, missing = 0.1)
  new <- binary_matrix(5, 6, missing = 0.2)
  few <- quiet_control(n_start = 2, max_iter = 60, tol = 0)
  chains <- mcmc_control(chains = 1, warmup = 5, draws = 20, n_start = 1, progress = FALSE)
  same <- function(fit, p, weight = rep(1 / nrow(p), nrow(p)), ...) {
    for (floor in c(0, 1e-6, 0.02)) {
      got <- suppressMessages(test_loglik(fit, new, floor = floor, ...))
      expect_equal(as.vector(got), unname(ref_mixture_loglik(new, p, weight, floor)), tolerance = 1e-8)
    }
  }
  for (estimate in c("ml", "map", "vb")) {
    fit <- aspect_bernoulli(x, 2, estimate = estimate, control = few)
    same(fit, fitted(fit))
  }
  sampled <- aspect_bernoulli(x, 2, estimate = "gibbs", control = chains)
  same(sampled, fitted(sampled))
  for (estimate in c("ml", "map")) {
    mixture <- bernoulli_mixture(x, 2, estimate = estimate, control = few)
    same(mixture, mixture$param$prototypes, mixture$param$weights)
    causes <- noisy_or(x, 2, estimate = estimate, control = few)
    on <- as.matrix(expand.grid(0:1, 0:1))
    p <- 1 - exp(on %*% log(pmax(1 - causes$param$links, 1e-300))) * rep(1 - causes$param$leak, each = 4)
    prior <- causes$param$prior
    same(causes, p, apply(on, 1, function(z) prod(ifelse(z == 1, prior, 1 - prior))))
  }
  pca <- logistic_pca(x, 2, control = few)
  same(pca, fitted(pca))
  groups <- bmf(x, 2, 2, family = "bernoulli", control = chains)
  same(groups, fitted(groups))
  kl <- nmf(x, 2, loss = "kl", control = few)
  same(kl, 1 - exp(-fitted(kl)), family = "bernoulli")
  shares <- plsa(x, 2, control = few)
  same(shares, 1 - exp(-fitted(shares)), family = "bernoulli")
  joint <- plca(x, 2, control = few)
  same(joint, 1 - exp(-fitted(joint)), family = "bernoulli")
  average <- ensemble(list(pca, kl))
  same(average, fitted(average))
})

test_that("models of counts have Poisson rows", {
  set.seed(4)
  x <- matrix(rpois(60, 2), 10)
  x[3, 2] <- NA
  new <- matrix(rpois(18, 2), 3)
  new[2, 1] <- NA
  few <- quiet_control(n_start = 2, max_iter = 60, tol = 0)
  chains <- mcmc_control(chains = 1, warmup = 5, draws = 20, n_start = 1, progress = FALSE)
  fits <- list(
    nmf(x, 2, loss = "kl", control = few), plsa(x, 2, control = few), plca(x, 2, control = few),
    bmf(x, 2, 2, family = "poisson", control = chains)
  )
  for (fit in fits) {
    mean <- pmax(fitted(fit), 1e-3)
    slow <- apply(new, 1, function(row) {
      log(mean(apply(mean, 1, function(mu) exp(sum(dpois(row, mu, log = TRUE), na.rm = TRUE)))))
    })
    expect_equal(as.vector(test_loglik(fit, new, floor = 1e-3)), slow, tolerance = 1e-10)
  }
})

test_that("shares of the training rows give eq. (24), in which zeros do not count", {
  set.seed(6)
  x <- binary_matrix(12, 5)
  x[4, ] <- 0 # its shares are unknown: no component
  new <- rbind(a = c(1, 0, 1, 0, 0), b = 0, c = c(0, 1, 1, 1, 1))
  few <- quiet_control(n_start = 2, max_iter = 60, tol = 0)
  topics <- suppressMessages(keeping_empty_rows(plsa(x, 2, control = few)))
  shares <- with(topics$param, membership %*% basis)[-4, ]
  for (floor in c(0, 1e-6, 0.05)) {
    got <- suppressMessages(test_loglik(topics, new, floor = floor, family = "multinomial"))
    expect_equal(as.vector(got), unname(ref_share_loglik(new, shares, floor)), tolerance = 1e-10)
  }
  expect_equal(got[["b"]], 0)
  counts <- matrix(rpois(60, 2) + 1, 12)
  new <- matrix(rpois(15, 2), 3)
  for (model in list(plsa, plca, function(...) nmf(..., loss = "kl"))) {
    fit <- suppressMessages(model(counts, 2, control = few))
    expect_equal(
      as.vector(test_loglik(fit, new, floor = 0, family = "multinomial")),
      ref_share_loglik(new, fitted(fit) / rowSums(fitted(fit)), 0), tolerance = 1e-10
    )
  }
  expect_snapshot(error = TRUE, {
    test_loglik(topics, rbind(c(1, NA, 0, 0, 1)), family = "multinomial")
  })
})

test_that("a model without such a likelihood says why and what to do", {
  set.seed(5)
  x <- binary_matrix(10, 4)
  few <- quiet_control(n_start = 1, max_iter = 20, tol = 0)
  chains <- mcmc_control(chains = 1, warmup = 5, draws = 5, n_start = 1, progress = FALSE)
  expect_snapshot(error = TRUE, {
    test_loglik(nmf(x, 2, control = few), x)
    test_loglik(suppressMessages(visits_bernoulli(list(x, x), 1, control = few)), x)
    test_loglik(plca(array(rpois(24, 2), 4:2), 1, control = few), array(1, 4:2))
    test_loglik(bmf(x + 0.5, 1, 1, control = chains), x)
    test_loglik(logistic_pca(x, 1, control = quiet_control(keep_x = FALSE, n_start = 1)), x)
  })
})

test_that("rows that a model cannot make are counted", {
  x <- matrix(c(1, 0, 2, 2, 1, 0, 0, 0, 0), 3, dimnames = list(letters[1:3], LETTERS[1:3]))
  fit <- suppressMessages(plsa(x, 1, estimate = "ml", control = fit_control(n_start = 1)))
  new <- rbind(u = c(A = 0, B = 1, C = 1), v = c(1, 1, 0))
  expect_message(value <- test_loglik(fit, new, floor = 0),
    "-Inf for 1 row of `newdata`, impossible under the model.", fixed = TRUE, class = "multicause_message")
  expect_identical(as.vector(value == -Inf), c(TRUE, FALSE))
})
