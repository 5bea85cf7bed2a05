# Tests also R/plca_methods.R, R/plca_plot.R, R/cross_entropy.R, R/modes.R.

golden_matrices <- function(values) {
  if (is.list(values)) {
    return(lapply(values, function(q) if (is.list(q)) do.call(rbind, q) else q))
  }
  lapply(seq_len(dim(values)[1]), function(d) values[d, , ])
}

test_that("golden states are met, plain and with priors", {
  cases <- read_golden_counts("plca")
  for (name in names(cases)) {
    case <- cases[[name]]
    x <- array(case$V_colmajor, case$dim)
    weights <- lapply(case$weights, function(a) if (length(a)) a)
    prior <- cross_entropy(
      strength = weights, method = case$method, floor = if (case$eps > 0) case$eps else 1e-4, anneal = case$anneal
    )
    for (state in case$states) {
      fit <- plca(x, length(case$pz0),
        prior = prior, start = list(weights = case$pz0, marginals = golden_matrices(case$fac0)),
        control = plain_iterations(state$sweeps)
      )
      tolerance <- if (state$sweeps <= 10) 1e-10 else 1e-7
      expect_equal(unname(fit$param$weights), state$pz, tolerance = tolerance)
      Map(function(got, want) expect_lt(max(abs(unname(got) - want)), tolerance), fit$param$marginals,
        golden_matrices(state$fac))
      expect_equal(fit$loglik, state$loglik, tolerance = 1e-12)
      expect_equal(fit$kl, state$kl, tolerance = 1e-10)
      value <- if (is.null(fit$prior)) 0 else fit$prior$value
      want <- switch(as.character(state$prior), "NaN" = NA_real_, "Inf" = Inf, state$prior)
      expect_equal(value, want, tolerance = 1e-9)
    }
  }
})

random_array <- function(extent, mean = 2) array(stats::rpois(prod(extent), mean), extent)

plca_start <- function(k, extent) {
  list(weights = drop(ref_simplex(1, k)), marginals = lapply(extent, function(d) ref_simplex(k, d)))
}

test_that("one iteration equals the transcription of eqs. (3)-(4), for arrays of any order", {
  set.seed(1)
  for (extent in list(c(5, 4), c(4, 3, 5), c(3, 2, 2, 4))) {
    x <- random_array(extent)
    start <- plca_start(3, extent)
    fit <- plca(x, 3, estimate = "ml", start = start, control = plain_iterations(1))
    want <- ref_plca_pass(x, start$weights, start$marginals)
    expect_equal(unname(fit$param$weights), want$weights, tolerance = 1e-12)
    expect_equal(lapply(unname(fit$param$marginals), unname), want$marginals, tolerance = 1e-12)
  }
})

test_that("one iteration over three blocks of each kind of cells equals the transcription", {
  set.seed(7)
  extent <- c(25, 24, 26) # more than 2 x 2 048 cells with counts, zeros and unknown ones
  x <- random_array(extent, 0.7)
  x[sample(length(x), 5000)] <- NA
  expect_gt(min(table(cut(x, c(-1, 0, Inf)), useNA = "always")[c(1, 2, 3)]), 2 * 2048)
  start <- plca_start(3, extent)
  for (prior in list(NULL, list(membership = 1.5, basis = 1.2))) {
    estimate <- if (is.null(prior)) "ml" else "map"
    fit <- plca(x, 3, estimate = estimate, prior = prior, start = start, control = plain_iterations(1))
    alpha <- if (is.null(prior)) 1 else prior$membership
    eta <- rep(if (is.null(prior)) 1 else prior$basis, 3)
    want <- ref_plca_pass(x, start$weights, start$marginals, alpha, eta)
    expect_equal(unname(fit$param$weights), want$weights, tolerance = 1e-12)
    expect_equal(lapply(unname(fit$param$marginals), unname), want$marginals, tolerance = 1e-12)
    expect_equal(fit$loglik, ref_plca_objective(x, want$weights, want$marginals), tolerance = 1e-12)
  }
})

test_that("two-way PLCA is PLSA", {
  set.seed(2)
  x <- random_array(c(9, 6))
  start <- plca_start(3, dim(x))
  joint <- t(start$weights * start$marginals[[1]])
  for (iterations in c(1, 25)) {
    fit <- plca(x, 3, estimate = "ml", start = start, control = plain_iterations(iterations))
    other <- plsa(x, 3,
      estimate = "ml", start = list(membership = joint / rowSums(joint), basis = start$marginals[[2]]),
      control = plain_iterations(iterations)
    )
    expect_equal(predict(fit, type = "membership"), other$param$membership, tolerance = 1e-11, ignore_attr = TRUE)
    expect_equal(fit$param$marginals[[2]], other$param$basis, tolerance = 1e-11)
    rows <- rowSums(x)
    expect_equal(fit$loglik, other$loglik + sum(rows * log(rows / sum(rows))), tolerance = 1e-10)
    expect_equal(fitted(fit), fitted(other), tolerance = 1e-9)
  }
})

test_that("arrays, sparse matrices and index tables are the same data", {
  set.seed(3)
  x <- random_array(c(4, 5, 3), 0.8)
  x[4, 5, 3] <- 2
  x[2, 2, 2] <- NA
  start <- plca_start(2, dim(x))
  at <- which(is.na(x) | x > 0, arr.ind = TRUE)
  table <- data.frame(site = at[, 1], taxon = at[, 2], time = at[, 3], count = x[at])
  one <- plca(x, 2, start = start, control = plain_iterations(5))
  other <- plca(table[sample(nrow(table)), ], 2, start = start, control = plain_iterations(5))
  expect_equal(unname(other$param$marginals), unname(one$param$marginals), tolerance = 1e-12)
  expect_named(other$param$marginals, c("site", "taxon", "time"))
  expect_equal(unname(fitted(other)), unname(fitted(one)), tolerance = 1e-12)
  table$taxon <- letters[table$taxon]
  named <- plca(table, 2, start = start, control = plain_iterations(5))
  expect_identical(colnames(named$param$marginals$taxon), letters[1:5])
  dim(x) <- c(site = 4, taxon = 5, time = 3)
  labelled <- plca(x, 2, start = start, control = plain_iterations(5))
  expect_equal(labelled$param$marginals, stats::setNames(one$param$marginals, c("site", "taxon", "time")))
  m <- matrix(rpois(20, 1), 5)
  start <- plca_start(2, dim(m))
  expect_equal(
    plca(Matrix::Matrix(m, sparse = TRUE), 2, start = start, control = plain_iterations(4))$param,
    plca(m, 2, start = start, control = plain_iterations(4))$param
  )
})

test_that("missing cells are conditioned on: the likelihood over them never falls and they are found", {
  set.seed(4)
  q <- list(ref_simplex(2, 6), ref_simplex(2, 5), ref_simplex(2, 4))
  p <- 0.3 * q[[1]][1, ] %o% q[[2]][1, ] %o% q[[3]][1, ] + 0.7 * q[[1]][2, ] %o% q[[2]][2, ] %o% q[[3]][2, ]
  holes <- sample(length(p), 15)
  x <- 1e4 * p
  x[holes] <- NA
  fit <- plca(x, 2, control = fit_control(n_start = 3, tol = 1e-13, max_iter = 5000, progress = FALSE))
  expect_equal(fitted(fit)[holes], 1e4 * p[holes], tolerance = 1e-2)
  expect_equal(sum(fitted(fit)[-holes]), sum(x, na.rm = TRUE))
  expect_equal(impute(fit), replace(x, holes, fitted(fit)[holes]))
  by_hand <- fitted(fit) / sum(fitted(fit)[-holes])
  expect_equal(fit$loglik, sum((x * log(by_hand))[-holes]), tolerance = 1e-10)
})

test_that("the objective never falls, for every setting that claims it", {
  set.seed(5)
  x <- random_array(c(8, 6, 5))
  holed <- replace(x, sample(length(x), 20), NA)
  for (method in c("js", "mm")) for (weights in list(c(3, 0), c(0, 5), c(2, 6), c(-4, -3), c(60, 80))) {
    for (accelerate in c(TRUE, FALSE)) for (dims in list(1, 2:3)) {
      prior <- cross_entropy(
        groups = c(1, 1, 2, 2), strength = c(between = weights[1], within = weights[2]), dims = dims, method = method
      )
      fit <- suppressWarnings(plca(if (accelerate) x else holed, 4,
        prior = prior,
        control = fit_control(n_start = 1, max_iter = 80, tol = 0, accelerate = accelerate, progress = FALSE)
      ))
      expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
      expect_equal(unname(fit$objective), fit$loglik + fit$prior$value, tolerance = 1e-10)
    }
  }
})

# 2 JS of a pair of distributions.
js <- function(p, q) {
  mid <- (p + q) / 2
  sum(ifelse(p > 0, p * log(p / mid), 0) + ifelse(q > 0, q * log(q / mid), 0))
}

test_that("a prior by eq. (7) that takes all probability of a cell with counts says so", {
  set.seed(1)
  x <- array(stats::rpois(120, 3), c(6, 5, 4))
  prior <- cross_entropy(strength = c(between = 20), method = "paper")
  expect_error(
    suppressWarnings(plca(x, 4, prior = prior, control = fit_control(n_start = 2, progress = FALSE))),
    "`prior` leaves cells with counts without any probability",
    class = "multicause_input_error"
  )
})

test_that("the prior's value is what its name says", {
  set.seed(6)
  x <- random_array(c(5, 4))
  start <- plca_start(3, dim(x))
  a <- matrix(c(0, 2, -1, 2, 0, 0.5, -1, 0.5, 0), 3)
  q <- start$marginals[[2]]
  h <- function(p, q, floor) -sum(p * log(q + floor))
  pair_sum <- function(f) a[1, 2] * f(q[1, ], q[2, ]) + a[1, 3] * f(q[1, ], q[3, ]) + a[2, 3] * f(q[2, ], q[3, ])
  value <- function(method, floor = 1e-4) {
    prior <- cross_entropy(strength = list(NULL, a), method = method, floor = floor)
    plca(x, 3, prior = prior, start = start, control = plain_iterations(0))$prior$value
  }
  expect_equal(value("js"), pair_sum(js))
  expect_equal(value("mm", 0.01), pair_sum(function(p, q) h(p, q, 0.01) + h(q, p, 0.01)))
  expect_equal(value("paper"), pair_sum(function(p, q) h(p, q, 0) + h(q, p, 0)))
})

test_that("priors drive marginals apart and together, as asked and where asked", {
  set.seed(7)
  x <- random_array(c(20, 15), 5)
  start <- plca_start(4, dim(x))
  mean_kl <- function(prior, which = 1) {
    control <- fit_control(max_iter = 200, progress = FALSE)
    fit <- suppressWarnings(plca(x, 4, prior = prior, start = start, control = control))
    d <- divergences(fit, dims = 2)[[1]]
    same <- outer(c(1, 1, 2, 2), c(1, 1, 2, 2), "==")
    c(between = mean(d[!same]), within = mean(d[same & !diag(4)]))[[which]]
  }
  flat <- list(membership = 1, basis = 1)
  for (method in c("js", "paper", "mm")) {
    free <- mean_kl(flat)
    expect_gt(mean_kl(cross_entropy(strength = c(between = 20), dims = 2, method = method)), free)
    other <- if (method == "mm") "js" else method
    expect_lt(mean_kl(cross_entropy(strength = c(between = -20), dims = 2, method = other)), free)
    grouped <- cross_entropy(
      groups = c("a", "a", "b", "b"), strength = c(within = 30), dims = 2, method = if (method == "mm") "js" else method
    )
    expect_lt(mean_kl(grouped, "within"), mean_kl(flat, "within"))
  }
})

test_that("components are sorted by weight unless the prior distinguishes them", {
  set.seed(3)
  x <- array(rpois(120, rep(c(1, 6), c(80, 40))), c(6, 5, 4))
  weights <- function(groups, seed) {
    set.seed(seed)
    prior <- cross_entropy(groups, strength = c(between = 2), dims = 2)
    unname(quietly(plca(x, 3, prior = prior, control = fit_control(n_start = 1, max_iter = 50)))$param$weights)
  }
  for (seed in 1:6) {
    own <- weights(NULL, seed)
    expect_false(is.unsorted(-own))
  }
  grouped <- lapply(1:6, weights, groups = c(1, 1, 2))
  expect_true(any(vapply(grouped, function(w) is.unsorted(-w), NA)))
})

test_that("the printed update settles although nothing is ascended", {
  set.seed(19)
  x <- random_array(c(20, 15), 5)
  prior <- cross_entropy(strength = c(between = -10), dims = 2, method = "paper")
  fit <- plca(x, 4, prior = prior, control = fit_control(n_start = 2))
  expect_true(fit$converged)
  expect_named(fit$objective, "unpenalised_log_likelihood")
  more <- plca(x, 4, prior = fit$prior$given, start = fit$param, control = plain_iterations(200))
  expect_equal(more$loglik, fit$loglik, tolerance = 1e-4)
})

test_that("annealing follows its multipliers and can end in maximum likelihood", {
  expect_equal(cross_entropy(strength = c(between = 1), anneal = 4)$anneal, c(1, 0.75, 0.5, 0.25, 0))
  set.seed(8)
  x <- random_array(c(8, 6))
  fit <- plca(x, 3,
    prior = cross_entropy(strength = c(between = 5), dims = 2, anneal = 20),
    control = fit_control(n_start = 2, tol = 1e-10, progress = FALSE)
  )
  expect_named(fit$objective, "log_likelihood")
  expect_equal(fit$prior$value, 0)
  again <- plca(x, 3, estimate = "ml", start = fit$param, control = plain_iterations(1))
  expect_lt(unname(again$objective - fit$objective), 1e-3)
  expect_gt(nrow(fit$trace), 21)
})

test_that("degenerate shapes are legal", {
  control <- fit_control(n_start = 2, max_iter = 3000, tol = 1e-8, progress = FALSE)
  set.seed(9)
  two <- plca(matrix(c(1, 3), 1), 1, estimate = "ml", control = control)
  expect_equal(unname(two$param$marginals[[2]]), matrix(c(0.25, 0.75), 1))
  expect_false(anyNA(unlist(plca(array(0, c(2, 3, 2)), 2, control = control)$param)))
  expect_s3_class(plca(array(1:4, c(2, 2, 1)), 6, control = control), "plca")
  apart <- cross_entropy(strength = c(between = 500), method = "paper")
  spiky <- plca(diag(4) * 10, 4, prior = apart, control = control)
  expect_true(is.na(spiky$prior$value) || spiky$prior$value > 0)
  holes <- plca(array(c(NA, 2, 3, 4, 5, NA, 7, 8), c(2, 2, 2)), 2, control = control)
  expect_equal(nobs(holes), 6)
})

test_that("threads, seeds and arguments", {
  set.seed(10)
  x <- random_array(c(30, 20, 12))
  start <- plca_start(3, dim(x))
  copy <- unserialize(serialize(start, NULL))
  fits <- lapply(1:2, function(n) {
    prior <- cross_entropy(strength = c(between = 2))
    plca(x, 3, prior = prior, start = start, control = plain_iterations(5, n_threads = n))
  })
  expect_identical(fits[[1]]$param, fits[[2]]$param)
  expect_identical(start, copy)
})

test_that("predictions and simulations have the right shape and sums", {
  set.seed(11)
  x <- random_array(c(6, 5, 4))
  dimnames(x) <- list(site = letters[1:6], taxon = LETTERS[1:5], time = NULL)
  fit <- plca(x, 2, control = fit_control(n_start = 3, tol = 1e-13, progress = FALSE))
  expect_equal(sum(fitted(fit)), sum(x))
  expect_identical(dimnames(fitted(fit))[1:2], dimnames(x)[1:2])
  expect_equal(apply(predict(fit, type = "cell"), 1:3, sum), array(1, dim(x)), ignore_attr = TRUE)
  expect_equal(unname(rowSums(predict(fit, type = "membership"))), rep(1, 6))
  folded <- predict(fit, x[2:3, 5:1, ], type = "membership")
  expect_equal(folded, predict(fit, type = "membership")[2:3, ], tolerance = 1e-2)
  expect_equal(sum(predict(fit, x[2:3, , ])), sum(x[2:3, , ]))
  expect_identical(dim(residuals(fit)), dim(x))
  drawn <- simulate(fit, 2, seed = 1)
  expect_equal(sum(drawn[[2]]), sum(x))
  expect_identical(dim(drawn[[1]]), dim(x))
  expect_equal(attr(logLik(fit), "df"), 1 + 2 * (5 + 4 + 3))
  expect_s3_class(update(fit, k = 3, control = plain_iterations(2)), "plca")
})

test_that("each new level is judged by its own cells alone, missing ones and all", {
  set.seed(3)
  for (extent in list(c(12, 8), c(12, 4, 3))) {
    x <- array(stats::rpois(prod(extent), rep(c(0.3, 4, 1, 6), each = 3)), extent)
    for (estimate in c("map", "ml")) {
      fit <- suppressWarnings(plca(x, 3, estimate = estimate, control = plain_iterations(200)))
      new <- array(x[slice.index(x, 1L) %in% c(2, 5, 7, 9)], c(4L, extent[-1L]))
      new[c(1, 5, 6, 10, 14, 18)] <- NA
      tight <- fit_control(max_iter = 5000, tol = 1e-13, progress = FALSE)
      level <- function(x, i) array(x[slice.index(x, 1L) == i], c(1L, dim(x)[-1L]))
      for (type in c("response", "membership", "cell")) {
        all <- suppressWarnings(predict(fit, new, type = type, control = tight))
        for (i in 1:4) {
          alone <- suppressWarnings(predict(fit, level(new, i), type = type, control = tight))
          expect_equal(level(all, i), level(alone, 1L), tolerance = 1e-12)
        }
      }
    }
  }
})

test_that("levels of which nothing was counted, or nothing observed, have memberships; only the first have counts", {
  set.seed(3)
  x <- matrix(stats::rpois(60, 2), 10)
  for (estimate in c("map", "ml")) {
    fit <- suppressWarnings(plca(x, 2, estimate = estimate, control = plain_iterations(50)))
    new <- x[1:3, ]
    new[2, ] <- 0
    new[3, ] <- NA
    expected <- if (estimate == "map") c(0.5, 0.5) else unname(fit$param$weights)
    membership <- predict(fit, new, type = "membership")
    expect_equal(unname(membership[2:3, ]), rbind(expected, expected), ignore_attr = TRUE)
    expect_equal(unname(rowSums(predict(fit, new))), c(sum(new[1, ]), 0, NA))
    expect_false(anyNA(predict(fit, new, type = "cell")))
    expect_identical(is.na(impute(fit, new)), row(new) == 3)
  }
})

test_that("a data frame is a list of cells by its column `count` or by names, else it is asked about", {
  asks <- function(x, way) {
    expect_error(plca(x, 1), sprintf("or use a table, `%s`", way), fixed = TRUE, class = "multicause_input_error")
  }
  wide <- data.frame(sp1 = 1:5, sp2 = c(2, 1, 4, 3, 5), sp3 = 3)
  asks(wide, "as.matrix(x)")
  asks(wide + 0.5, "as.matrix(x)")
  asks(wide - 1, "as.matrix(x)")
  asks(cbind(site = letters[1:5], wide), "as.matrix(x[-1L])")
  expect_error(predict(plca(as.matrix(wide), 1), wide), "as.matrix(newdata)", fixed = TRUE)
  list <- data.frame(site = c("u", "u", "v"), taxon = c("a", "b", "a"), n = 1:3)
  expect_identical(plca(list, 1)$extent, c(2L, 2L))
  expect_identical(plca(data.frame(site = c(1, 1, 2), taxon = c(1, 2, 1), count = 1:3), 1)$extent, c(2L, 2L))
})

test_that("divergences are Kullback-Leibler's, floored", {
  set.seed(12)
  fit <- plca(random_array(c(4, 5)), 3, control = plain_iterations(5))
  d <- divergences(fit, floor = 0)
  p <- fit$param$marginals[[2]]
  expect_equal(d[[2]][1, 3], sum(p[1, ] * log(p[1, ] / p[3, ])))
  spikes <- plsa(diag(3), 3, fixed = "basis", estimate = "ml", start = list(basis = diag(3)),
    control = plain_iterations(1))
  expect_identical(unname(divergences(spikes, floor = 0)[[1]][1, 2]), Inf)
  expect_equal(unname(divergences(spikes)[[1]][1, 2]), -log(1e-6), tolerance = 1e-5)
})

test_that("a fit prints itself, and errors say what is wrong", {
  set.seed(13)
  x <- random_array(c(6, 5, 4))
  names(dimnames(x)) <- NULL
  fit <- plca(x, 2,
    prior = cross_entropy(strength = c(between = 2), dims = 1), start = plca_start(2, dim(x)),
    control = plain_iterations(10)
  )
  hide <- function(lines) gsub("-?[0-9]+\\.[0-9]+", "<number>", lines)
  expect_snapshot(fit, transform = hide)
  expect_snapshot(divergences(fit, dims = 2), transform = hide)
  expect_snapshot(
    cross_entropy(groups = c(1, 1, 2), strength = c(between = 1), dims = "time", method = "mm", anneal = 20)
  )
  table <- data.frame(a = c(1, 1), b = c(2, 2), count = 1)
  expect_snapshot(error = TRUE, {
    plca(1:3, 2)
    plca(table, 2)
    plca(data.frame(a = 1, count = 2), 2)
    plca(data.frame(a = 0.5, b = 1, count = 2), 2)
    plca(x, 2, prior = list(between = 1))
    plca(x, 2, prior = cross_entropy(groups = 1:3, strength = c(between = 1)))
    plca(x, 2, prior = cross_entropy(strength = list(diag(2))))
    plca(x, 2, prior = cross_entropy(strength = list(matrix(1:4, 2), NULL, NULL)))
    plca(x, 2, start = list(weights = 1))
    cross_entropy(1:2, strength = list(NULL))
    cross_entropy(anneal = -1)
    predict(fit, x[, 1:2, ])
  })
})

test_that("the probability of what was observed is no rounding error where nearly all is missing", {
  share <- 1e-20
  start <- list(
    weights = c(share, 1 - share),
    marginals = list(rbind(c(1, 1, 0), c(0, 0, 1)) / c(2, 1), rbind(c(1, 1), c(1, 1)) / 2, rbind(c(1, 0), c(0, 1)))
  )
  for (second in c(4, 0)) {
    x <- array(c(8, second, NA, 6, 4, NA, rep(NA, 6)), c(3, 2, 2))
    fit <- suppressWarnings(plca(x, 2, estimate = "ml", start = start, control = plain_iterations(0)))
    expect_equal(unname(fit$objective), (18 + second) * log(1 / 4), tolerance = 1e-10)
    fit <- suppressWarnings(plca(x, 2, estimate = "ml", start = start, control = plain_iterations(3)))
    expect_true(all(is.finite(fit$trace$objective)))
    expect_gte(min(diff(fit$trace$objective)), 0)
  }
  expect_equal(fit$p_observed, share, tolerance = 0.5)
})

test_that("that probability is summed over three blocks of cells with counts, and of zeros", {
  set.seed(8)
  # All probability except 1e-5 belongs to one cell, which is unknown; half of the others have counts.
  extent <- c(100, 90)
  side <- function(size) {
    rare <- ref_simplex(2, size - 1L) * 1e-5
    cbind(1 - rowSums(rare), rare)
  }
  start <- list(weights = c(0.3, 0.7), marginals = lapply(extent, side))
  x <- matrix(rbinom(prod(extent), 1, 0.5), extent[1])
  x[1] <- NA
  expect_gt(min(table(x)), 2 * 2048)
  fit <- plca(x, 2, estimate = "ml", start = start, control = plain_iterations(0))
  expect_equal(fit$p_observed, sum(ref_plca_joint(start$weights, start$marginals)[-1, ]), tolerance = 1e-9)
  expect_equal(fit$loglik, ref_plca_objective(x, start$weights, start$marginals), tolerance = 1e-9)
})

test_that("named levels of new data may come in any order, and all of them must", {
  set.seed(2)
  x <- matrix(rpois(60, 3), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- plca(x, 2)
  mixed <- x[1:3, 6:1]
  mixed[1, "B"] <- NA
  filled <- impute(fit, mixed)
  expect_equal(filled[!is.na(mixed)], mixed[!is.na(mixed)])
  expect_equal(filled[1, "B"], predict(fit, mixed)[1, "B"])
  expect_error(predict(fit, x[1:3, -2]), "lacks 1 level of dimension 2", class = "multicause_input_error")
  expect_error(predict(fit, x[1:3, c(1, 1:6)]), "unique", class = "multicause_input_error")
  expect_error(predict(fit, cbind(x, Z = 1)), "unknown to the fit: \"Z\"", class = "multicause_input_error")
})

test_that("tables whose dimensions have no names, or not all of them", {
  set.seed(3)
  at <- list(sample(letters[1:4], 60, TRUE), sample(LETTERS[1:3], 60, TRUE))
  bare <- plca(unclass(table(at[[1]], at[[2]])), 2)
  expect_null(bare$labels)
  expect_output(print(divergences(bare)), "dimension 2")
  half <- plca(table(site = at[[1]], at[[2]]), 2)
  expect_identical(half$labels, c("site", "dimension 2"))
  expect_named(coef(half)$marginals, c("site", "dimension 2"))
  for (what in c("marginals", "reconstruction", "divergences", "trace")) {
    expect_silent(on_paper(plot(bare, what)))
    expect_silent(on_paper(plot(half, what)))
  }
  expect_identical(plca(table(a = at[[1]], a = at[[1]]), 2)$labels, c("a", "a.1"))
})

test_that("arrays without counts are fitted, those without observed cells are not", {
  expect_no_match(capture.output(print(plca(matrix(0, 3, 4), 2))), "NA")
  expect_error(plca(matrix(NA_real_, 3, 4), 2), "must have observed cells", class = "multicause_input_error")
})

test_that("levels have names of their own, and counts are numbers that R knows", {
  refused <- function(x, words) expect_error(plca(x, 2), words, class = "multicause_input_error", fixed = TRUE)
  x <- table(a = c("u", "v", NA), b = c("p", "q", "q"), useNA = "ifany")
  refused(x, "Level names of `x` in dimension 1 must not be empty: level 3 has none.")
  cube <- array(1, c(2, 2, 2), list(NULL, NULL, c("a", "a")))
  refused(cube, "Level names of `x` in dimension 3 must be unique: \"a\" names levels 1 and 2.")
  refused(structure(matrix(1, 2, 2), class = "integer64"), "of class \"integer64\". Use as.integer() on it.")
  counts <- data.frame(a = 1:2, b = 1:2, count = 1:2)
  class(counts$count) <- "integer64"
  refused(counts, "a numeric column of counts")
})

test_that("counts of any size are drawn at once", {
  set.seed(1)
  x <- array(rpois(24, 3), c(2, 3, 4))
  fit <- suppressWarnings(plca(x * 1e9, 2, control = fit_control(n_start = 1, progress = FALSE)))
  drawn <- simulate(fit, 1, seed = 1)[[1L]]
  expect_identical(sum(drawn), sum(x) * 1e9)
  expect_equal(as.vector(drawn), as.vector(fitted(fit)), tolerance = 1e-3)
  expect_identical(draw_multinomial(0, c(0, 0)), integer(2))
})

test_that("divergences of a single component have no mean", {
  fit <- suppressMessages(plsa(matrix(1:12, 4), 1, control = fit_control(n_start = 1, progress = FALSE)))
  expect_output(print(divergences(fit)), "basis (nats)\n", fixed = TRUE)
})

test_that("new cells go to the dimensions by their names", {
  set.seed(6)
  cells <- expand.grid(site = 1:6, taxon = 1:6)
  cells$count <- rpois(36, 1 + 2 * (cells$site <= 3) * (cells$taxon <= 3))
  fit <- suppressMessages(plca(cells, 2, control = fit_control(n_start = 2)))
  some <- cells[cells$site <= 2, ]
  expect_equal(predict(fit, some[c("taxon", "site", "count")]), predict(fit, some))
})

test_that("dimensions of a prior are numbers or names", {
  expect_error(cross_entropy(dims = sum), "`dims` must be numbers or names", class = "multicause_input_error")
})

test_that("one component is independence, as loglin() fits it to the hair and eye colours of R's data sets", {
  fit <- plca(datasets::HairEyeColor, 1, estimate = "ml", control = quiet_control(n_start = 1))
  reference <- stats::loglin(datasets::HairEyeColor, list(1, 2, 3), fit = TRUE, print = FALSE)
  expect_equal(fitted(fit), unclass(reference$fit), ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(deviance(fit), reference$lrt, tolerance = 1e-10)
  expect_equal(fit$df, prod(dim(reference$fit)) - reference$df - 1)
})

test_that("arrays, labels and views that a fit cannot have are refused", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(plca(array(1, rep(1, 16)), 1), "`x` must have at most 15 dimensions, not 16.")
  refused(plca(array(1, c(2, 0, 2)), 1), "`x` must have no dimension of length 0.")
  refused(plca(data.frame(a = c("u", NA), b = c("v", "w"), count = 1:2), 1),
    "Column \"a\" of `x` must not be NA: row 2 is.")
  refused(cross_entropy(strength = 1), "`strength` must be c(between = , within = ), finite, or a list, not 1.")
  refused(cross_entropy(strength = c(between = Inf)), "finite, or a list, not Inf.")
  counts <- array(1:60, 5:3, list(a = letters[1:5], b = LETTERS[1:4], c = c("x", "y", "z")))
  counts[, , 3] <- 0
  fit <- suppressMessages(plca(counts, 2, estimate = "ml", control = fit_control(n_start = 1, max_iter = 5, tol = 0)))
  refused(augment(fit, rows = 1:2), "`rows` must be NULL for a fit of plca(), whose data are an array.")
  refused(ggplot2::autoplot(fit, "reconstruction", dims = 1),
    "`dims` must name two dimensions for the reconstruction, not 1.")
  new <- replace(counts, 60, 7)
  suppressWarnings(expect_message(predict(fit, new), "Left out 1 cell of levels without counts in training.",
    fixed = TRUE, class = "multicause_message"))
})

test_that("groups and strengths of cross-entropy that are none are refused", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(cross_entropy(groups = NA), "`groups` must be a vector with the group of each component, without NA, not NA.")
  refused(cross_entropy(strength = list(1)),
    "`strength` must hold a k x k matrix or NULL for each dimension of the array.")
})
