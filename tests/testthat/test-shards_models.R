# Models of shards against those of the table, except aspect_bernoulli(), which has separate files: R/nmf_shards.R,
# R/bernoulli_mixture_shards.R, R/logistic_pca_shards.R, R/noisy_or_shards.R, R/plsa_shards.R.

skip_on_cran()

# fit(x, k, ...), start(x, k), own: the rows' parameters, args: arguments tested, spoiled(x): a table in which a row or
# a column is nearly unknown.
shard_models <- list(
  bernoulli_mixture = list(
    fit = function(x, k, ...) bernoulli_mixture(x, k, ...), own = "membership",
    start = function(x, k) list(weights = rep(1 / k, k), prototypes = start_of_shards(x, k)$aspects),
    args = list(
      list(estimate = "map", prior = list(prototypes = c(1.3, 2), weights = 1.5)), list(estimate = "ml")
    ),
    spoiled = function(x) replace(replace(x, cbind(5, 1:40), NA), cbind(1:239, 7), NA)
  ),
  nmf = list(
    fit = function(x, k, ...) nmf(x, k, loss = "kl", ...), own = "coefficients",
    start = function(x, k) {
      start <- start_of_shards(x, k)
      list(coefficients = 2 * start$membership, basis = start$aspects)
    },
    args = list(list()), spoiled = function(x) replace(x, cbind(2:240, 7), NA)
  ),
  logistic_pca = list(
    fit = function(x, k, ...) logistic_pca(x, k, ...), own = "scores",
    start = function(x, k) {
      set.seed(4)
      list(
        scores = matrix(stats::rnorm(nrow(x) * k, sd = 0.5), nrow(x)),
        loadings = matrix(stats::rnorm(k * ncol(x), sd = 0.5), k), intercept = rep(-2, ncol(x))
      )
    },
    args = list(list(penalty = 0.5), list(penalty = 4)), spoiled = function(x) replace(x, cbind(5, 1:40), NA)
  ),
  plsa = list(
    fit = function(x, k, ...) keeping_empty_rows(plsa(x, k, ...)), own = "membership", start = start_of_counts,
    args = list(
      list(missing = "conditional", estimate = "ml"), list(missing = "conditional", estimate = "map"),
      list(missing = "paper", estimate = "ml"), list(missing = "paper", estimate = "map")
    )
  ),
  noisy_or = list(
    fit = function(x, k, ...) noisy_or(x, k, inference = "truncated", inner = 1, ...), own = "activation",
    start = function(x, k) {
      set.seed(3)
      list(
        prior = stats::runif(k, 0.1, 0.5), links = matrix(stats::runif(k * ncol(x), 0.02, 0.6), k),
        leak = stats::runif(ncol(x), 0.01, 0.1)
      )
    },
    args = list(list())
  )
)

em_iterations <- function(model, ...) {
  fit_control(algorithm = if (model %in% c("nmf", "plsa")) "em" else "auto", tol = 0, ...)
}

test_that("a fit to shards is that of the table in memory from the same start", {
  for (name in names(shard_models)) {
    model <- shard_models[[name]]
    for (missing in c(0, 60)) {
      x <- planted_table(missing = missing)
      if (!is.null(model$spoiled)) x <- model$spoiled(x)
      shard <- suppressMessages(shards(x, tempfile(), size = 80))
      for (args in model$args) {
        for (accelerate in c(TRUE, FALSE)) {
          control <- em_iterations(name, accelerate = accelerate, max_iter = 30)
          fit <- function(x) {
            suppressMessages(do.call(model$fit, c(list(x, 4, start = model$start(x, 4), control = control), args)))
          }
          here <- fit(x)
          there <- fit(shard)
          hold_to_memory(there, here)
          close <- if (name %in% c("plsa", "noisy_or")) 1e-7 else 1e-6
          expect_equal(there$param, here$param[names(there$param)], tolerance = close, info = name)
          expect_equal(predict(there, type = model$own), here$param[[model$own]], tolerance = 1e-6, info = name)
          expect_equal(fitted(there), fitted(here), tolerance = 1e-6, info = name)
        }
      }
    }
  }
})

test_that("verbs on shards say what they say of the table", {
  x <- planted_table()
  x[1:3, ] <- 0
  shard <- shards(x, tempfile(), size = 80)
  for (name in names(shard_models)) {
    model <- shard_models[[name]]
    fit <- function(x, start) model$fit(x, 3, start = start, control = em_iterations(name, max_iter = 30))
    here <- fit(x, model$start(x, 3))
    there <- fit(shard, model$start(x, 3))
    hold_verbs(there, here, model$own)
    expect_equal(predict(there, x[1:12, ], type = model$own), predict(here, x[1:12, ], type = model$own),
      tolerance = 1e-5, ignore_attr = TRUE, info = name)
    if (name != "noisy_or") {
      expect_equal(logLik(there), logLik(here), tolerance = if (name == "logistic_pca") 1e-6 else 1e-10)
      expect_equal(predict(there, x[1:12, ]), predict(here, x[1:12, ]), tolerance = 1e-4)
    } else {
      expect_error(logLik(there), "no meaning", class = "multicause_input_error")
      expect_equal(predict(there, rows = 5:9, type = "map"), predict(here, type = "map")[5:9, ], tolerance = 1e-6)
    }
    if (name == "bernoulli_mixture") expect_length(list.files(there$folder, "membership"), 0L)
    if (name == "plsa") {
      expect_equal(unname(there$shares$weight), unname(colMeans(here$param$membership)), tolerance = 1e-6)
      expect_identical(shards_table(there)$share, component_facts(here)$share)
      expect_match(print_words(there), "Latent Dirichlet allocation of shards: 240 sites x 40 taxa, k = 3")
    }
    if (name == "noisy_or") {
      expect_match(print_words(there), "Noisy-OR component analysis of shards: 240 sites x 40 taxa, k = 3")
    }
  }
})

test_that("without a start the fit goes on from the best of a sample, in the form of one in memory", {
  x <- planted_table(missing = 0)
  shard <- shards(x, tempfile(), size = 80)
  for (name in names(shard_models)) {
    model <- shard_models[[name]]
    control <- fit_control(
      n_start = 4, algorithm = if (name %in% c("nmf", "plsa")) "em" else "auto",
      tol = if (name == "logistic_pca") 1e-10 else 1e-8, max_iter = 3000
    )
    fit <- function(x) {
      set.seed(1)
      suppressMessages(model$fit(x, 3, control = control))
    }
    there <- fit(shard)
    expect_true(there$converged, info = name)
    expect_identical(nrow(there$starts), 4L)
    expect_gt(there$objective, fit(x)$objective - 0.01 * abs(there$objective))
    param <- there$param
    own <- if (name != "noisy_or") predict(there, type = model$own)
    decreasing <- switch(name,
      bernoulli_mixture = param$weights, nmf = colSums(own), logistic_pca = colSums(own^2),
      plsa = colSums(own * rowSums(x)), noisy_or = param$prior * rowSums(param$links)
    )
    expect_false(is.unsorted(-decreasing), info = name)
    if (name == "nmf") {
      expect_equal(unname(rowSums(param$basis)), rep(1, 3))
      loglik <- sum(log(fitted(there))[x == 1]) - sum(fitted(there))
      expect_equal(unname(there$objective), loglik, tolerance = 1e-8)
    }
    if (name == "logistic_pca") {
      same <- lp_rotate(list(scores = own, loadings = param$loadings, intercept = param$intercept))
      expect_equal(unname(own), unname(same$scores), tolerance = 1e-6)
      expect_equal(unname(param$loadings), unname(same$loadings), tolerance = 1e-6)
      expect_equal(unname(colMeans(own)), numeric(3), tolerance = 1e-6)
      loglik <- sum(stats::dbinom(x, 1, fitted(there), log = TRUE))
      expect_equal(there$loglik, loglik, tolerance = 1e-9)
      expect_equal(unname(there$objective), loglik - sum(own^2) - sum(param$loadings^2), tolerance = 1e-9)
    }
  }
})

test_that("lists of more than 64 components travel whole, as do a mask and a flat prior", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  sources <- shard_models$noisy_or
  start <- sources$start(x, 70)
  many <- function(x) sources$fit(x, 70, start = start, control = fit_control(max_iter = 6, tol = 0))
  hold_to_memory(many(shard), many(x))
  mask <- matrix(rep(c(1, 0, 1, 1), 30), 3, 40)
  start <- sources$start(x, 3)
  start$links <- start$links * mask
  fit <- function(x) {
    sources$fit(x, 3, estimate = "ml", mask = mask, start = start, control = fit_control(max_iter = 15, tol = 0))
  }
  hold_to_memory(fit(shard), fit(x))
  expect_true(all(coef(fit(shard))$links[mask == 0] == 0))
})

test_that("what does not go with shards is refused with the reason", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    bernoulli_mixture(shard, 2, smooth = smooth_over(age = 1:240))
    bernoulli_mixture(shard, 2, prior = "cv")
    bernoulli_mixture(shard, 2, start = list(weights = 1, prototypes = matrix(0.5, 2, 40)))
    bernoulli_mixture(shard, 2, control = fit_control(algorithm = "sparse"))
    nmf(shard, 2)
    nmf(shard, 2, loss = "kl", start = list(basis = matrix(-1, 2, 40)))
    logistic_pca(shard, 2, penalty = "cv")
    logistic_pca(shard, 0)
    logistic_pca(shard, 2, start = list(loadings = matrix(0, 2, 3), intercept = rep(0, 40)))
    plsa(shard, 2, estimate = "vb")
    plsa(shard, 2, sparsity = c(membership = 0.1))
    plsa(shard, 2, fixed = "basis", start = list(basis = matrix(1 / 40, 2, 40)))
    plsa(shard, 2, smooth = smooth_over(age = 1:240))
    plsa(shard, 2, start = list(basis = matrix(0.5, 2, 3)))
    noisy_or(shard, 2, inference = "exact")
    noisy_or(shard, 2, inner = 3)
    noisy_or(shard, 2, surplus = 1)
    noisy_or(shard, 2, start = list(prior = c(0.1, 0.2), links = matrix(0.5, 2, 3), leak = rep(0.1, 40)))
  })
})

test_that("streaming and workers give the same bits, and a fit goes on from its checkpoint", {
  skip_if_not_installed_here()
  x <- planted_table()
  for (model in shard_models) {
    start <- model$start(x, 4)
    hold_workers(x, function(shard, control) model$fit(shard, 4, start = start, control = control))
  }
})
