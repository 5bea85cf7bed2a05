# Neighbours in the Bernoulli mixture and in PLSA. Lists of neighbours are tested in test-smooth.R.

skip_on_cran()

# Sites of a few communities, each of one age; richness decreases to a few taxa.
communities <- function(n = 90, m = 24, k = 4, found = c(0.1, 0.7)) {
  age <- sort(stats::runif(n, 0, 10), decreasing = TRUE)
  label <- pmin(k, 1L + floor(k * (10 - age) / 10))
  prototype <- matrix(0.05, k, m)
  for (c in seq_len(k)) prototype[c, seq_len(m) %% k + 1L == c] <- 0.7
  p <- prototype[label, ] * stats::runif(n, found[1L], found[2L]) / 0.7
  list(x = matrix(stats::rbinom(n * m, 1, p), n, m), age = age, label = label, p = p)
}

counts_of <- function(data, total = 5) {
  t(apply(data$p, 1L, function(p) stats::rmultinom(1L, stats::rpois(1L, total), p)))
}

weights_of <- function(near) {
  lists <- smooth_lists(near)
  w <- matrix(0, near$n, near$n)
  w[cbind(rep(seq_len(near$n), diff(lists$start)), lists$neighbour + 1L)] <- lists$weight
  w
}

# Objective of neighbourhood EM, slow version.
ref_agreement <- function(x, param, weight, strength) {
  q <- unname(param$membership)
  joint <- vapply(seq_len(ncol(q)), function(c) {
    b <- matrix(param$prototypes[c, ], nrow(x), ncol(x), byrow = TRUE)
    log(param$weights[[c]]) + rowSums(ifelse(is.na(x), 0, ifelse(x == 1, log(b), log(1 - b))))
  }, numeric(nrow(x)))
  dim(joint) <- dim(q)
  sum(ifelse(q > 0, q * (joint - log(q)), 0)) + strength / 2 * sum(weight * tcrossprod(q))
}

test_that("the mixture's objective is that of neighbourhood EM", {
  set.seed(1)
  data <- communities(20, 8, 2)
  data$x[sample(160, 20)] <- NA
  data$x[3, ] <- NA
  data$age[5] <- NA
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 2.5)
  start <- list(
    weights = c(0.2, 0.5, 0.3), prototypes = matrix(runif(24, 0.1, 0.9), 3),
    membership = simplex_start(20, 1, 3, FALSE)$membership
  )
  at_start <- hush(bernoulli_mixture(
    data$x, 3, estimate = "ml", smooth = near, start = start,
    control = fit_control(n_start = 1, max_iter = 0, progress = FALSE)
  ))
  expect_named(at_start$objective, "smoothed_log_likelihood")
  expect_equal(at_start$objective[[1L]], ref_agreement(data$x, start, weights_of(near), 2.5), tolerance = 1e-10)
  fit <- hush(bernoulli_mixture(data$x, 3, estimate = "map", smooth = near, control = brief()))
  prior <- sum(0.2 * log(fit$param$prototypes) + log(1 - fit$param$prototypes))
  expect_equal(
    fit$objective[[1L]], ref_agreement(data$x, fit$param, weights_of(near), 2.5) + prior, tolerance = 1e-8
  )
  at_end <- fit_control(max_iter = 0, n_start = 1)
  plain <- update(fit, smooth = NULL, start = lapply(fit$param, unname)[1:2], control = at_end)
  expect_equal(fit$loglik, plain$loglik, tolerance = 1e-10)
})

test_that("the mixture's objective never falls, in many random problems", {
  for (seed in 1:60) {
    set.seed(seed)
    n <- sample(1:25, 1)
    m <- sample(2:12, 1)
    x <- matrix(rbinom(n * m, 1, runif(1, 0.1, 0.6)), n, m)
    if (seed %% 3 == 0) x[sample(n * m, (n * m) %/% 5)] <- NA
    age <- sample(c(round(runif(n, 0, 5), 1), NA), n, TRUE)
    near <- smooth_over(
      age = age, bandwidth = runif(1, 0.1, 3), strength = 10^runif(1, -1, 2), most = sample(c(1, 5, 30), 1)
    )
    fit <- hush(bernoulli_mixture(
      x, sample(1:5, 1), estimate = if (seed %% 2) "ml" else "map", smooth = near,
      control = brief(accelerate = seed %% 5 != 0)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-9 * max(1, abs(fit$objective)))
    expect_equal(unname(rowSums(fit$param$membership)), rep(1, n), tolerance = 1e-9)
  }
})

test_that("a converged mixture is the fixed point of neighbourhood EM", {
  set.seed(2)
  data <- communities(40, 12, 3)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 3)
  control <- fit_control(n_start = 2, max_iter = 20000, tol = 1e-14, progress = FALSE)
  fit <- hush(bernoulli_mixture(data$x, 3, estimate = "map", smooth = near, control = control))
  plain <- bm_labels(data_view(data$x), lapply(fit$param, unname))$param$membership
  w <- weights_of(near)
  odds <- 3 * ((w + t(w)) / 2) %*% unname(fit$param$membership)
  want <- plain * exp(odds)
  expect_equal(unname(fit$param$membership), want / rowSums(want), tolerance = 1e-5)
})

test_that("strength 0 is the plain model, bit for bit, and a small one is near it", {
  set.seed(3)
  data <- communities(50, 12, 3)
  x <- list(data$x, counts_of(data))
  models <- list(bernoulli_mixture, function(...) keeping_empty_rows(plsa(..., estimate = "ml")))
  for (i in 1:2) {
    fits <- lapply(list(NULL, 0, 1e-7), function(strength) {
      set.seed(4)
      near <- if (!is.null(strength)) smooth_over(age = data$age, bandwidth = 1, strength = strength)
      control <- fit_control(n_start = 2, max_iter = 5000, tol = 1e-12, progress = FALSE)
      hush(models[[i]](x[[i]], 3, smooth = near, control = control))
    })
    expect_identical(fits[[1L]]$param, fits[[2L]]$param)
    expect_identical(fits[[1L]]$objective, fits[[2L]]$objective)
    expect_equal(unname(fits[[3L]]$objective), unname(fits[[1L]]$objective), tolerance = 1e-4)
    expect_identical(as.numeric(logLik(fits[[3L]])), fits[[3L]]$loglik)
  }
})

test_that("PLSA's objective is the transcription of its formula and never falls", {
  for (seed in 1:40) {
    set.seed(seed)
    n <- sample(2:20, 1)
    m <- sample(2:10, 1)
    x <- matrix(rpois(n * m, runif(1, 0.5, 4)), n, m)
    if (seed %% 3 == 0) x[sample(n * m, (n * m) %/% 6)] <- NA
    near <- smooth_over(age = sample(c(runif(n, 0, 5), NA), n), bandwidth = 1, strength = 10^runif(1, -1, 2))
    fit <- hush(plsa(
      x, sample(1:4, 1), smooth = near, missing = if (seed %% 2) "conditional" else "paper",
      sparsity = c(membership = 0.05 * (seed %% 4 == 0)), control = brief(accelerate = seed %% 5 != 0)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-9 * max(1, abs(fit$objective)))
  }
  set.seed(5)
  data <- communities(25, 9, 3)
  x <- counts_of(data)
  near <- smooth_over(age = replace(data$age, 4, NA), bandwidth = 1, strength = 6)
  fit <- hush(plsa(x, 3, estimate = "ml", smooth = near, control = brief()))
  g <- unname(fit$param$membership)
  p <- g %*% unname(fit$param$basis)
  w <- weights_of(near)
  w[4, -4] <- 1 / 24
  more <- 6 * sum(log(rowSums(sqrt(g * (w %*% g)))))
  expect_equal(unname(fit$objective), sum(ifelse(x > 0, x * log(p), 0)) + more, tolerance = 1e-6)
  expect_equal(fit$loglik, sum(ifelse(x > 0, x * log(p), 0)), tolerance = 1e-8)
})

test_that("neighbours bring the truth nearer: labels, probabilities, held-out cells", {
  gain <- vapply(1:4, function(seed) {
    set.seed(seed)
    data <- communities(80, 24, 4, found = c(0.05, 0.4))
    near <- smooth_over(age = data$age, bandwidth = 0.5, strength = 4)
    control <- fit_control(n_start = 6, max_iter = 500, tol = 1e-8, progress = FALSE)
    fits <- lapply(list(NULL, near), function(smooth) {
      hush(bernoulli_mixture(data$x, 4, estimate = "map", smooth = smooth, control = control))
    })
    right <- vapply(fits, function(fit) {
      overlap <- table(data$label, factor(max.col(fit$param$membership), 1:4))
      sum(apply(overlap, 1L, max)) / 80
    }, 0)
    x <- counts_of(data)
    counts <- lapply(list(NULL, near), function(smooth) hush(plsa(x, 4, smooth = smooth, control = control)))
    true <- data$p / rowSums(data$p)
    off <- vapply(counts, function(fit) mean(abs(fit$param$membership %*% fit$param$basis - true)), 0)
    c(right[2L] - right[1L], off[1L] - off[2L])
  }, c(0, 0))
  expect_gt(mean(gain[1L, ]), 0.02)
  expect_true(all(gain[2L, ] > 0))
})

test_that("bandwidth and strength are chosen by held-out cells, 0 included", {
  set.seed(6)
  data <- communities(60, 30, 3, found = c(0.3, 0.6))
  noise <- sample(data$age)
  control <- fit_control(n_start = 2, max_iter = 200, tol = 1e-7, progress = FALSE)
  for (model in c("bernoulli_mixture", "plsa")) {
    x <- if (model == "plsa") counts_of(data) else data$x
    fit <- function(age) {
      set.seed(7)
      hush(get(model)(x, 3, smooth = smooth_over(age = age, folds = 3), control = control))
    }
    with <- fit(data$age)
    expect_gt(with$smooth$strength, 0)
    expect_true(all(c("bandwidth_age", "strength", "loss", "gain", "gain_se") %in% names(with$smooth$cv)))
    without <- fit(noise)
    expect_lte(without$smooth$strength, with$smooth$strength)
    expect_lt(min(with$smooth$cv$loss), min(without$smooth$cv$loss))
  }
})

test_that("new sites are predicted by their neighbours, with or without a record", {
  set.seed(8)
  data <- communities(90, 24, 3)
  rownames(data$x) <- names(data$age) <- sprintf("s%d", 1:90)
  colnames(data$x) <- sprintf("t%d", 1:24)
  near <- smooth_over(age = data$age, bandwidth = 0.7, strength = 6)
  control <- fit_control(n_start = 4, max_iter = 500, progress = FALSE)
  top <- function(p) order(-p)[1:6] %% 3L + 1L
  for (fit in list(
    hush(bernoulli_mixture(data$x, 3, estimate = "map", smooth = near, control = control)),
    hush(plsa(counts_of(data, 30), 3, smooth = near, control = control))
  )) {
    p <- predict(fit, along = list(age = c(9.5, 5, 0.5, NA)))
    expect_identical(dim(p), c(4L, 24L))
    for (i in 1:3) expect_gte(sum(top(p[i, ]) == i), 5L)
    bare <- hush(predict(fit, matrix(0, 1, 24), type = "membership", along = list(age = 9.5)))
    expect_equal(rowSums(bare), 1, ignore_attr = TRUE)
    expect_identical(which.max(bare), which.max(hush(predict(fit, along = list(age = 9.5), type = "membership"))))
    some <- data$x[c(3, 88), ]
    both <- predict(fit, some, type = "membership", along = list(age = data$age[c(3, 88)]))
    expect_equal(
      predict(fit, some, type = "membership", along = list(age = data$age[c(3, 88)]), rows = 2),
      both[2, , drop = FALSE], ignore_attr = TRUE, tolerance = 1e-6
    )
    expect_identical(dim(predict(fit, some, type = "cell", along = list(age = c(NA, 3)))), c(2L, 24L, 3L))
    expect_error(predict(fit, some, along = list(age = 1)), class = "multicause_input_error")
    expect_error(predict(fit, some, along = list(place = 1:2)), class = "multicause_input_error")
  }
})

test_that("new sites may be known by place, or by age and place", {
  set.seed(12)
  data <- communities(60, 24, 3)
  place <- cbind(lng = 20 * data$label + runif(60, 0, 5), lat = runif(60, 40, 45))
  control <- fit_control(n_start = 4, max_iter = 300, progress = FALSE)
  top <- function(p) order(-p)[1:6] %% 3L + 1L
  for (covariates in list(list(place = place), list(age = data$age, place = place))) {
    bandwidth <- c(age = 1, place = 300)[names(covariates)]
    near <- do.call(smooth_over, c(covariates, list(bandwidth = bandwidth, strength = 6)))
    new <- list(age = c(9, 1), place = rbind(c(22, 42), c(62, 42)))[names(covariates)]
    for (fit in list(
      hush(bernoulli_mixture(data$x, 3, estimate = "map", smooth = near, control = control)),
      hush(plsa(counts_of(data, 30), 3, smooth = near, control = control))
    )) {
      p <- predict(fit, along = new)
      expect_gte(sum(top(p[1, ]) == 1), 5L)
      expect_gte(sum(top(p[2, ]) == 3), 5L)
    }
  }
})

test_that("rows in any order, threads in any number, update() and unfit smooths", {
  set.seed(9)
  data <- communities(40, 12, 3)
  x <- counts_of(data)
  rownames(x) <- rownames(data$x) <- names(data$age) <- sprintf("s%d", 1:40)
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 3)
  at <- sample(40)
  plain <- brief(accelerate = FALSE)
  mixture <- function(rows, ...) {
    start <- list(weights = rep(1 / 3, 3), prototypes = matrix(seq(0.1, 0.9, length.out = 36), 3))
    hush(bernoulli_mixture(data$x[rows, ], 3, smooth = near, start = start, control = plain))$param$membership
  }
  expect_equal(mixture(at), mixture(1:40)[at, ], tolerance = 1e-8)
  shares <- function(n, k) simplex_start(n, 1, k, FALSE)$membership
  start <- list(membership = shares(40, 3), basis = shares(3, 12))
  counted <- function(rows, ...) {
    start$membership <- start$membership[rows, ]
    control <- brief(accelerate = FALSE, ...)
    hush(plsa(x[rows, ], 3, smooth = near, start = start, control = control))$param$membership
  }
  expect_equal(counted(at), counted(1:40)[at, ], tolerance = 1e-8)
  expect_identical(counted(1:40, n_threads = 2), counted(1:40))
  fit <- hush(plsa(x, 3, smooth = near, control = brief()))
  expect_identical(update(fit, k = 2)$smooth, fit$smooth)
  expect_null(update(fit, smooth = NULL)$smooth)
  for (model in list(bernoulli_mixture, plsa)) {
    expect_error(model(data$x, 2, smooth = 3), class = "multicause_input_error")
    expect_error(model(unname(data$x), 2, smooth = smooth_over(age = 1:3)), class = "multicause_input_error")
  }
})

test_that("curves and plots of mixtures and PLSA say what they show", {
  set.seed(10)
  data <- communities(60, 9, 3)
  colnames(data$x) <- letters[1:9]
  place <- cbind(lng = runif(60, 0, 20), lat = runif(60, 40, 50))
  near <- smooth_over(age = data$age, place = place, bandwidth = c(age = 1, place = 1000), strength = 5)
  counts <- counts_of(data, 20)
  counts[1, ] <- 0
  fits <- list(
    hush(bernoulli_mixture(data$x, 3, estimate = "map", smooth = near, control = brief())),
    hush(plsa(counts, 3, smooth = near, control = brief()))
  )
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  for (fit in fits) {
    value <- if (inherits(fit, "plsa")) "share" else "present"
    out <- curves(fit, at = c(9, 1), taxon = c(1, 9))
    expect_named(out, c("age", "taxon", value, "lower", "upper", "recorded", "n_effective"))
    expect_true(all(out$recorded >= 0 & out$recorded <= 1))
    expect_equal(as.vector(tapply(curves(fit, "component")$share, curves(fit, "component")$age, sum)), rep(1, 60))
    expect_silent(plot(fit, "curves"))
    expect_silent(plot(fit, "map", slices = 3))
    expect_error(plot(update(fit, smooth = NULL), "curves"), class = "multicause_input_error")
  }
  expect_error(plot(hush(nmf(data$x, 2)), "map"), class = "multicause_input_error")
  grDevices::dev.off()
  unlink(file)
})

test_that("verbs work on smoothed mixtures and PLSA fits", {
  set.seed(11)
  data <- communities(40, 12, 3)
  rownames(data$x) <- names(data$age) <- sprintf("s%d", 1:40)
  # Without neighbours plsa() accepts no empty rows.
  data$age <- data$age[rowSums(data$x) > 0]
  data$x <- data$x[names(data$age), ]
  near <- smooth_over(age = data$age, bandwidth = 1, strength = 3)
  planted <- corrupt(data$x, omit = c(0, 0.4))
  mixture <- function(...) bernoulli_mixture(..., estimate = "ml")
  models <- list(mixture = mixture, counts = plsa)
  for (model in models) {
    fit <- hush(model(planted$x, 3, smooth = near, control = brief()))
    expect_gt(recovery(presence_probability(fit), planted)$summary$auc, 0.5)
    cv <- hush(cross_validate(
      data$x, k = 3, model, grid = list(smooth = list(NULL, near)), folds = 2, control = brief()
    ))
    expect_true(all(is.finite(cv$results$loss)))
    expect_lt(cv$results$loss[2L], cv$results$loss[1L])
    chosen <- hush(select_k(
      data$x, 2:3, model, smooth = near, criterion = "cells", folds = 2, control = brief()
    ))
    expect_s3_class(chosen, "multicause_selection")
    several <- hush(ensemble(data$x, k = 2:3, model = model, members = 1, smooth = near, control = brief()))
    expect_identical(dim(fitted(several)), dim(data$x))
  }
  both <- hush(compare_models(data$x, k = 3, list(
    with = function(x, k, control) bernoulli_mixture(x, k, smooth = near, control = control),
    without = bernoulli_mixture
  ), folds = 2, control = brief()))
  expect_identical(nrow(both$table), 2L)
  rows <- hush(cross_validate(
    data$x, k = 3, bernoulli_mixture, criterion = "rows", smooth = near, folds = 2, control = brief()
  ))
  expect_true(is.finite(rows$results$loss))
})
