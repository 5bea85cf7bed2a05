# Dirichlet and entropic priors of plca(), also beside cross-entropy.

table_of <- function(extent, mean = 2) array(stats::rpois(prod(extent), mean), extent)

start_of <- function(k, extent) {
  list(weights = drop(ref_simplex(1, k)), marginals = lapply(extent, function(d) ref_simplex(k, d)))
}

bare <- function(fit) lapply(unname(fit$param$marginals), unname)

# Converts points on simplices to log ratios to the last entry, and back.
pack <- function(param) {
  rows <- c(list(rbind(param$weights)), bare(list(param = param)))
  unlist(lapply(rows, function(q) log(q / q[, ncol(q)])[, -ncol(q)]))
}
unpack <- function(z, k, extent) {
  rows <- function(z, k) {
    q <- exp(cbind(matrix(z, k), 0))
    q / rowSums(q)
  }
  size <- c(k - 1L, k * (extent - 1L))
  parts <- split(z, rep(seq_along(size), size))
  list(weights = drop(rows(parts[[1L]], 1L)), marginals = lapply(parts[-1L], rows, k = k))
}

test_that("one iteration to the mode equals the transcription, for arrays of any order, and the objective is its own", {
  set.seed(1)
  for (extent in list(c(5, 4), c(4, 3, 5), c(3, 2, 2, 4))) for (alpha in list(1.4, c(1, 1.5, 4))) {
    for (holes in list(integer(), c(2, 7, 11))) {
      x <- replace(table_of(extent), holes, NA)
      eta <- 1 + seq_along(extent) / 10
      start <- start_of(3, extent)
      prior <- list(membership = alpha, basis = eta)
      fit <- plca(x, 3, prior = prior, start = start, control = plain_iterations(1))
      want <- ref_plca_pass(x, start$weights, start$marginals, alpha, eta)
      expect_equal(unname(fit$param$weights), want$weights, tolerance = 1e-12)
      expect_equal(bare(fit), want$marginals, tolerance = 1e-12)
      value <- function(...) ref_plca_objective(x, want$weights, want$marginals, ...)
      expect_equal(unname(fit$objective), value(alpha, eta), tolerance = 1e-12)
      expect_equal(fit$loglik, value(), tolerance = 1e-12)
      expect_equal(fit$prior$value, value(alpha, eta) - value(), tolerance = 1e-10)
    }
  }
})

test_that("a flat prior is maximum likelihood to the bit, alone and beside cross-entropy", {
  set.seed(2)
  x <- replace(table_of(c(8, 6, 5)), c(2, 30, 31), NA)
  start <- start_of(3, dim(x))
  flat <- list(membership = 1, basis = 1)
  between <- cross_entropy(strength = c(between = 2))
  for (control in list(plain_iterations(20), quiet_control(n_start = 1, max_iter = 5000))) {
    with_and_without <- list(
      plca(x, 3, prior = flat, start = start, control = control),
      plca(x, 3, estimate = "ml", start = start, control = control)
    )
    beside <- list(
      plca(x, 3, prior = c(flat, list(cross_entropy = between)), start = start, control = control),
      plca(x, 3, prior = between, start = start, control = control)
    )
    for (fits in list(with_and_without, beside)) {
      expect_identical(fits[[1]][c("param", "objective", "loglik")], fits[[2]][c("param", "objective", "loglik")])
    }
  }
})

test_that("the mode of a matrix is that of plsa(), with n times the pseudo-counts for weights, and so are new rows", {
  set.seed(3)
  x <- table_of(c(9, 6))
  new <- table_of(c(5, 6), 1) + diag(5)[, c(1:5, 1)]
  tight <- quiet_control(n_start = 1, max_iter = 1e5, tol = 1e-15)
  fit <- plca(x, 3, prior = list(membership = 1 + 9 * 0.3, basis = c(1.3, 1.2)), control = tight)
  start <- list(membership = predict(fit, type = "membership"), basis = fit$param$marginals[[2]])
  # It is a fixed point of plsa(), and its limit from nearby starting values.
  prior <- list(membership = 1.3, basis = 1.2)
  stays <- plsa(x, 3, prior = prior, start = start, control = plain_iterations(1))
  expect_equal(stays$param, start, tolerance = 1e-7, ignore_attr = TRUE)
  start$membership <- 0.9 * start$membership + 0.1 / 3
  other <- plsa(x, 3, prior = prior, start = start, control = tight)
  expect_equal(predict(fit, type = "membership"), other$param$membership, tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(fit$param$marginals[[2]], other$param$basis, tolerance = 1e-6)
  totals <- rowSums(x) + 3 * 0.3
  expect_equal(unname(fit$objective - other$objective), sum(totals * log(totals / sum(totals))), tolerance = 1e-10)
  folded <- predict(fit, new, type = "membership", control = tight)
  expect_equal(folded, predict(other, new, type = "membership", control = tight), tolerance = 1e-6, ignore_attr = TRUE)
  # Training rows are reproduced, also each row separately.
  again <- predict(fit, x, type = "membership", control = tight)
  expect_equal(again, predict(fit, type = "membership"), tolerance = 1e-6)
  alone <- predict(fit, new[2, , drop = FALSE], type = "membership", control = tight)
  expect_equal(alone, folded[2, , drop = FALSE], tolerance = 1e-9)
  without <- plca(x, 3, estimate = "ml", start = fit$param, control = plain_iterations(0))
  expect_gt(max(abs(folded - predict(without, new, type = "membership"))), 0.01)
})

test_that("the mode is a fixed point of counts by enumeration of who made each count", {
  set.seed(4)
  at <- rbind(c(1, 1, 1), c(1, 1, 2), c(2, 1, 2), c(2, 2, 2), c(2, 2, 2), c(1, 2, 1), c(2, 2, 1))
  x <- array(0, c(2, 2, 2))
  for (e in seq_len(nrow(at))) x[at[e, , drop = FALSE]] <- x[at[e, , drop = FALSE]] + 1
  prior <- list(membership = c(1.5, 2), basis = c(1.1, 1.2, 1.3))
  fit <- plca(x, 2, prior = prior, control = quiet_control(n_start = 5, tol = 1e-15, max_iter = 1e5))
  made <- as.matrix(expand.grid(rep(list(1:2), nrow(at))))
  log_joint <- apply(made, 1, function(z) {
    each <- vapply(1:3, function(d) log(fit$param$marginals[[d]][cbind(z, at[, d])]), numeric(nrow(at)))
    sum(log(fit$param$weights[z]), each)
  })
  expect_equal(log(sum(exp(log_joint))), fit$loglik, tolerance = 1e-12)
  share <- exp(log_joint) / sum(exp(log_joint))
  counts <- vapply(1:2, function(c) colSums(share * (made == c)), numeric(nrow(at)))
  weights <- colSums(counts) + prior$membership - 1
  expect_equal(unname(fit$param$weights), weights / sum(weights), tolerance = 1e-6)
  for (d in 1:3) {
    want <- t(rowsum(counts, at[, d])) + prior$basis[d] - 1
    expect_equal(fit$param$marginals[[d]], want / rowSums(want), tolerance = 1e-6, ignore_attr = TRUE)
  }
})

test_that("of one component the mode is known", {
  x <- array(c(3, 0, 1, 2, 0, 4), c(3, 2, 1))
  fit <- plca(x, 1, prior = list(membership = 5, basis = 2), control = plain_iterations(1))
  expect_equal(unname(fit$param$weights), 1)
  expect_equal(bare(fit), list(rbind(c(6, 1, 6) / 13), rbind(c(5, 7) / 12), matrix(1)))
})

test_that("the objective never falls, and ends where no parameter gains, with other priors and without", {
  set.seed(5)
  x <- table_of(c(8, 6, 5))
  holed <- replace(x, sample(length(x), 20), NA)
  dirichlet <- list(membership = 1.5, basis = c(1.1, 1.3, 1.2))
  betweens <- list(NULL)
  for (method in c("js", "mm")) for (strength in c(3, -4, 60)) {
    betweens <- c(betweens, list(cross_entropy(strength = c(between = strength), dims = 2:3, method = method)))
  }
  for (between in betweens) for (accelerate in c(TRUE, FALSE)) {
    control <- quiet_control(n_start = 1, max_iter = 80, tol = 0, accelerate = accelerate)
    prior <- c(dirichlet, list(cross_entropy = between)[!is.null(between)])
    fit <- suppressWarnings(plca(if (accelerate) x else holed, 4, prior = prior, control = control))
    expect_named(fit$objective, "log_posterior")
    expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
    expect_equal(unname(fit$objective), fit$loglik + fit$prior$value, tolerance = 1e-10)
  }
  for (strength in c(0, 4, -4)) for (beta in c(0, 2, -3)) {
    others <- list(beta_weights = beta, beta = beta, pairs = rep(list(strength * (1 - diag(2))), 3))
    value <- function(z) {
      param <- unpack(z, 2L, dim(x))
      ref_plca_objective(holed, param$weights, param$marginals, 1.5, dirichlet$basis, others)
    }
    fit <- plca(holed, 2,
      prior = c(dirichlet, list(cross_entropy = cross_entropy(strength = c(between = strength)))),
      sparsity = c(membership = beta, basis = beta), sparsity_scale = "counts",
      control = quiet_control(n_start = 2, tol = 1e-15, max_iter = 1e5)
    )
    z <- pack(fit$param)
    expect_equal(value(z), unname(fit$objective), tolerance = 1e-10)
    slope <- vapply(seq_along(z), function(e) {
      step <- replace(0 * z, e, 1e-4)
      (value(z + step) - value(z - step)) / 2e-4
    }, 0)
    expect_lt(max(abs(slope)), 1e-4)
  }
})

test_that("neither the order of levels, of dimensions nor of components matters", {
  set.seed(6)
  x <- replace(table_of(c(6, 5, 4)), c(3, 50), NA)
  start <- start_of(3, dim(x))
  fit_of <- function(x, start, alpha, eta) {
    plca(x, 3, prior = list(membership = alpha, basis = eta), start = start, control = plain_iterations(15))
  }
  alpha <- c(1.2, 1.5, 2)
  eta <- c(1.1, 1.2, 1.3)
  fit <- fit_of(x, start, alpha, eta)
  at <- list(sample(6), sample(5), sample(4))
  levels <- fit_of(x[at[[1]], at[[2]], at[[3]]], replace(start, "marginals", list(Map(function(q, a) q[, a],
    start$marginals, at))), alpha, eta)
  expect_equal(bare(levels), Map(function(q, a) q[, a], bare(fit), at), tolerance = 1e-10)
  sides <- c(3, 1, 2)
  turned <- fit_of(aperm(x, sides), replace(start, "marginals", list(start$marginals[sides])), alpha, eta[sides])
  expect_equal(bare(turned), bare(fit)[sides], tolerance = 1e-10)
  other <- c(2, 3, 1)
  swapped <- list(weights = start$weights[other], marginals = lapply(start$marginals, function(q) q[other, ]))
  swapped <- fit_of(x, swapped, alpha[other], eta)
  expect_equal(bare(swapped), lapply(bare(fit), function(q) q[other, ]), tolerance = 1e-10)
})

test_that("hidden cells and new levels are told better, and verbs hand the prior on", {
  set.seed(7)
  q <- lapply(c(40, 15, 3), function(d) ref_simplex(3, d)^2)
  mean <- array(rowSums(ref_plca_joint(c(0.5, 0.3, 0.2), q)), c(40, 15, 3))
  x <- array(stats::rpois(length(mean), 900 * mean / sum(mean)), dim(mean))
  prior <- list(membership = 1.1, basis = 1.1)
  loss <- vapply(c("map", "ml"), function(estimate) {
    few <- quiet_control(n_start = 2)
    cv <- suppressWarnings(with_seed(1, cross_validate(x, 5, plca, estimate = estimate, folds = 3, control = few)))
    cv$results$loss
  }, 0)
  expect_lt(loss[["map"]], 0.9 * loss[["ml"]])
  fit <- plca(x, 3, control = quiet_control(n_start = 2))
  expect_identical(fit$prior$given, prior)
  expect_true(all(unlist(fit$param) > 0))
  expect_identical(order(-fit$param$weights), 1:3)
  stronger <- update(fit, prior = list(membership = 2, basis = 3))
  expect_identical(update(stronger, k = 2)$prior$given, list(membership = 2, basis = 3))
  expect_identical(update(stronger, prior = NULL)$prior$given, prior)
  expect_null(update(fit, estimate = "ml")$prior)
  expect_null(plca(x / 40, 3, control = quiet_control(n_start = 2))$prior) # shares are no counts
  # A level without counts has the mode of its prior; other levels have no influence.
  new <- x[1:3, , ]
  new[2, , ] <- 0
  folded <- predict(fit, new, type = "membership")
  expect_equal(unname(folded[2, ]), rep(1, 3) / 3, tolerance = 1e-6)
  expect_equal(predict(fit, new[1, , , drop = FALSE], type = "membership"), folded[1, , drop = FALSE], tolerance = 1e-4)
  # Components that the prior distinguishes keep its order.
  apart <- plca(x, 3, prior = list(membership = c(1, 500, 5000), basis = 1.1), control = quiet_control(n_start = 2))
  expect_identical(order(apart$param$weights), 1:3)
})

test_that("annealed cross-entropy leaves the Dirichlet priors", {
  set.seed(8)
  x <- table_of(c(8, 6))
  between <- cross_entropy(strength = c(between = 5), dims = 2, anneal = 20)
  prior <- list(membership = 1.1, basis = 1.2, cross_entropy = between)
  tight <- quiet_control(n_start = 1, tol = 1e-14, max_iter = 1e5)
  fit <- plca(x, 3, prior = prior, control = tight)
  expect_named(fit$objective, "log_posterior")
  start <- list(weights = unname(fit$param$weights), marginals = bare(fit))
  again <- ref_plca_pass(x, start$weights, start$marginals, 1.1, c(1.2, 1.2))
  expect_equal(again, start, tolerance = 1e-6)
})

# Settings of sparsity (in counts) beside cross-entropy: the arguments of plca() and those of the transcription.
sparse_settings <- function(k, n_dim) {
  a <- matrix(c(0, 3, -4, 3, 0, 0, -4, 0, 0), 3)[seq_len(k), seq_len(k)]
  none <- vector("list", n_dim)
  pairs <- list(alone = NULL, elsewhere = replace(none, n_dim, list(a)), same = rep(list(a), n_dim))
  strengths <- list(c(6, 0), c(-5, 4), c(8, -3), c(0, 5))
  settings <- list()
  for (name in names(pairs)) for (strength in strengths) for (method in c("js", "mm")) {
    beta <- strength[2] * (name != "elsewhere" | seq_len(n_dim) < n_dim)
    between <- if (!is.null(pairs[[name]])) cross_entropy(strength = pairs[[name]], method = method, floor = 0.01)
    settings <- c(settings, list(list(
      sparsity = list(membership = strength[1], basis = beta),
      between = list(cross_entropy = between)[!is.null(between)],
      others = list(
        beta_weights = strength[1], beta = beta, pairs = as.list(pairs[[name]]), method = method, floor = 0.01
      )
    )))
  }
  settings
}

test_that("one iteration with sparsity equals the transcription, beside Dirichlet priors and cross-entropy", {
  set.seed(10)
  for (extent in list(c(5, 4), c(4, 3, 3))) for (s in sparse_settings(3, length(extent))) {
    x <- replace(table_of(extent, 4) + 1, 3, NA)
    start <- start_of(3, extent)
    for (flat in c(TRUE, FALSE)) {
      alpha <- if (flat) 1 else c(1, 1.5, 4)
      eta <- if (flat) rep(1, length(extent)) else 1 + seq_along(extent) / 10
      fit <- plca(x, 3,
        sparsity = s$sparsity, sparsity_scale = "counts", start = start, control = plain_iterations(1),
        prior = c(list(membership = alpha, basis = eta), s$between)
      )
      want <- ref_plca_pass(x, start$weights, start$marginals, alpha, eta, s$others)
      expect_equal(unname(fit$param$weights), want$weights, tolerance = 1e-10)
      expect_equal(bare(fit), want$marginals, tolerance = 1e-10)
      value <- function(...) ref_plca_objective(x, want$weights, want$marginals, ...)
      expect_named(fit$objective, "log_posterior")
      expect_equal(unname(fit$objective), value(alpha, eta, s$others), tolerance = 1e-10)
      expect_equal(fit$loglik, value(), tolerance = 1e-10)
      expect_equal(fit$prior$value, value(alpha, eta, s$others) - value(), tolerance = 1e-9)
    }
  }
})

test_that("the objective with sparsity never falls, rows stay on the simplex, also with zeros and unknown cells", {
  set.seed(11)
  x <- table_of(c(8, 6, 5))
  x[, 2, ] <- 0
  x[3, , ] <- NA
  holed <- replace(x, sample(length(x), 20), NA)
  for (s in sparse_settings(3, 3L)) for (accelerate in c(TRUE, FALSE)) for (strong in c(1, 30)) {
    dirichlet <- if (accelerate) list(membership = 1.5, basis = c(1.1, 1, 1.2)) else list(membership = 1, basis = 1)
    fit <- suppressWarnings(plca(if (accelerate) x else holed, 3,
      sparsity = lapply(s$sparsity, `*`, strong), sparsity_scale = "counts", prior = c(dirichlet, s$between),
      control = quiet_control(n_start = 1, max_iter = 60, tol = 0, accelerate = accelerate)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
    expect_equal(unname(fit$objective), fit$loglik + fit$prior$value, tolerance = 1e-10)
    for (q in c(list(rbind(fit$param$weights)), bare(fit))) expect_equal(rowSums(q), rep(1, nrow(q)))
  }
  expect_s3_class(plca(array(0, c(2, 3, 2)), 2, sparsity = list(basis = 0.1), control = plain_iterations(3)), "plca")
  one <- plca(matrix(c(1, 3), 1), 1, sparsity = list(membership = 0.1), control = plain_iterations(3))
  expect_equal(bare(one), list(matrix(1), matrix(c(0.25, 0.75), 1)))
})

test_that("sparsity of 0, and a flat prior beside sparsity, change no bit", {
  set.seed(12)
  x <- replace(table_of(c(8, 6, 5)), c(2, 30, 31), NA)
  start <- start_of(3, dim(x))
  between <- list(cross_entropy = cross_entropy(strength = c(between = 2), dims = 2))
  fit_of <- function(...) {
    plca(x, 3, ..., start = start, control = plain_iterations(20))[c("param", "objective", "loglik")]
  }
  zero <- list(membership = 0, basis = 0)
  flat <- list(membership = 1, basis = 1)
  expect_identical(fit_of(sparsity = zero), fit_of(estimate = "ml"))
  expect_identical(fit_of(sparsity = zero, estimate = "ml"), fit_of(estimate = "ml"))
  for (prior in list(list(membership = 1.2, basis = 1.1), between$cross_entropy, c(flat, between))) {
    expect_identical(fit_of(sparsity = zero, prior = prior), fit_of(prior = prior))
  }
  some <- c(membership = 0.1, basis = 0.05)
  expect_identical(fit_of(sparsity = some, prior = flat), fit_of(sparsity = some))
  expect_identical(
    fit_of(sparsity = some, prior = c(flat, between)), fit_of(sparsity = some, prior = between$cross_entropy)
  )
  n <- sum(x, na.rm = TRUE)
  counts <- list(membership = 0.1 * n, basis = 0.05 * n / 3)
  expect_equal(fit_of(sparsity = counts, sparsity_scale = "counts"), fit_of(sparsity = some))
})

test_that("sparsity of weights leaves the planted components, with a Dirichlet basis and cross-entropy beside it", {
  set.seed(13)
  sides <- list(rep(1:3, each = 6), rep(1:3, 4), rep(1:3, each = 2))
  q <- lapply(sides, function(group) {
    rows <- t(t(ifelse(outer(1:3, group, "=="), 1, 0.05)) * stats::runif(length(group), 0.5, 1.5))
    rows / rowSums(rows)
  })
  weights <- c(0.5, 0.3, 0.2)
  p <- rowSums(ref_plca_joint(weights, q))
  x <- array(stats::rmultinom(1, 20000, p), lengths(sides))
  prior <- list(membership = 1, basis = 1.1, cross_entropy = cross_entropy(strength = c(between = 5), dims = 2))
  control <- quiet_control(n_start = 4, max_iter = 5000)
  without <- suppressWarnings(with_seed(1, plca(x, 6, prior = prior, control = control)))
  fit <- suppressWarnings(with_seed(1, plca(x, 6, sparsity = c(membership = 0.05), prior = prior, control = control)))
  expect_identical(sum(fit$param$weights > 0.01), 3L)
  expect_gt(sum(without$param$weights > 0.01), 3L)
  expect_equal(unname(fit$param$weights[1:3]), weights, tolerance = 0.15)
  for (d in 1:3) expect_lt(max(abs(bare(fit)[[d]][1:3, ] - q[[d]])), 0.03)
})

test_that("a fit says its priors, and those that cannot be are refused", {
  set.seed(9)
  x <- table_of(c(site = 4, taxon = 3, time = 2))
  hide <- function(lines) gsub("-?[0-9]+\\.[0-9]{2,}(e-[0-9]+)?|-[0-9]+\\.[0-9]", "<number>", lines)
  start <- start_of(2, dim(x))
  prior <- list(membership = c(1.1, 2), basis = c(time = 1.3, site = 1.1, taxon = 1.2))
  by_name <- plca(x, 2, prior = prior, start = start, control = plain_iterations(10))
  expect_identical(by_name$prior$dirichlet$basis, c(1.1, 1.2, 1.3))
  expect_snapshot(by_name, transform = hide)
  both <- c(prior, list(cross_entropy = cross_entropy(strength = c(between = 1))))
  expect_snapshot(plca(x, 2, prior = both, start = start, control = plain_iterations(10)), transform = hide)
  sparsity <- list(membership = 0.1, basis = c(taxon = 0.1, site = 0, time = 0))
  all <- plca(x, 2, sparsity = sparsity, prior = both, start = start, control = plain_iterations(10))
  expect_snapshot(summary(all), transform = hide)
  expect_snapshot(error = TRUE, {
    plca(x, 2, prior = 1.1)
    plca(x, 2, estimate = "ml", prior = list(membership = 1.1, basis = 1.1))
    plca(x, 2, prior = list(membership = 1.1))
    plca(x, 2, prior = list(membership = 0.5, basis = 1))
    plca(x, 2, prior = list(membership = 1, basis = 1, cross_entropy = 2))
    plca(x, 2, prior = list(membership = 1, basis = 1, cross_entropy = cross_entropy(method = "paper")))
    plca(x, 2, sparsity = list(basis = 1), prior = cross_entropy(method = "paper"))
    plca(x, 2, sparsity = 0.1)
    plca(x, 2, sparsity = list(basis = c(0.1, 0.2)))
    plca(x, 2, sparsity = list(membership = 0.1), estimate = "ml")
  })
})
