skip_on_cran()

test_that("coef, nobs, logLik and names of the objective", {
  set.seed(1)
  x <- binary(10, 6, missing = 0.1)
  fit <- aspect_bernoulli(x, 2, estimate = "ml")
  expect_identical(coef(fit), fit$param)
  expect_equal(nobs(fit), sum(!is.na(x)))
  likelihood <- logLik(fit)
  expect_equal(as.numeric(likelihood), fit$loglik)
  expect_equal(attributes(likelihood), list(df = 10 + 12, nobs = NA_real_, class = "logLik"))
  expect_equal(AIC(fit), -2 * fit$loglik + 2 * 22)
  expect_equal(aic_paper(fit), AIC(fit) / 2)
})

test_that("logLik() is the likelihood at the estimate, of penalised fits too; AIC and BIC follow from it", {
  set.seed(1)
  x <- outer(1:16, 1:6, function(i, j) (i <= 8) == (j <= 3)) * matrix(stats::rbinom(96, 1, 0.8), 16)
  few <- quiet_control(n_start = 2)
  near <- smooth_over(age = 1:16, bandwidth = 3, strength = 2)
  counts <- array(stats::rpois(60, 2), c(6, 5, 2))
  held <- suppressWarnings(suppressMessages(list(
    prior = aspect_bernoulli(x, 2, control = few), prior = bernoulli_mixture(x, 2, control = few),
    prior = noisy_or(x, 2, inference = "exact", control = few),
    prior = visits_bernoulli(list(x, x * stats::rbinom(96, 1, 0.8)), k = 2, control = few),
    prior = plsa(counts[, , 1L], 2, sparsity = c(basis = 0.2), control = few),
    prior = plca(counts, 2, prior = cross_entropy(strength = c(between = -0.2)), control = few),
    penalty = logistic_pca(x, 1, penalty = 1, control = few),
    smoothing = aspect_bernoulli(x, 2, estimate = "ml", smooth = near, control = few),
    `prior and smoothing` = bernoulli_mixture(x, 2, smooth = near, control = few),
    smoothing = plsa(3 * x, 2, estimate = "ml", smooth = near, control = few)
  )))
  for (i in seq_along(held)) {
    fit <- held[[i]]
    counted <- if (is.null(why_no_bic(fit))) nobs(fit) else NA_real_
    expect_identical(attributes(logLik(fit)), list(df = fit$df, nobs = counted, class = "logLik"))
    expect_equal(AIC(fit), 2 * fit$df - 2 * fit$loglik, info = model_name(fit))
    expect_false(isTRUE(all.equal(fit$loglik, unname(fit$objective))), info = model_name(fit))
    expect_match(summary(fit)$criteria_note, sprintf("although the %s hold", names(held)[i]))
    expect_equal(glance(fit)$BIC, if (is.na(counted)) NA_real_ else BIC(fit))
    expect_equal(glance(fit)$AIC, if (is.na(counted)) NA_real_ else AIC(fit))
  }
  # The prior is not part of it: the likelihood of the Bernoulli mixture itself.
  mixture <- held[[2L]]
  rows <- exp(x %*% t(log(mixture$param$prototypes)) + (1 - x) %*% t(log1p(-mixture$param$prototypes)))
  expect_equal(as.numeric(logLik(mixture)), sum(log(rows %*% mixture$param$weights)))
  free <- bernoulli_mixture(x, 2, estimate = "ml", control = few)
  expect_gte(as.numeric(logLik(free)), as.numeric(logLik(mixture)))
  expect_null(summary(free)$criteria_note)
  for (none in list(nmf(x, 2, control = few), aspect_bernoulli(x, 2, estimate = "vb", control = few))) {
    expect_error(logLik(none), "not its likelihood", class = "multicause_input_error")
    expect_null(summary(none)$criteria_note)
  }
})

test_that("summary() says all that print() says, of every model", {
  fits <- fits_of_all()
  few <- quiet_control(n_start = 1)
  x <- fits$bernoulli_mixture$x
  fits$neighbours <- suppressMessages(neighbours_mean(x, similarity = 2))
  fits$gibbs <- aspect_bernoulli(x, 2, estimate = "gibbs", control = mcmc_control(1, 5, 5, progress = FALSE))
  fits$missing <- plsa(x, 2, sparsity = c(basis = 0.1), control = few)
  fits$prior <- plca(fits$plca$x, 2, prior = cross_entropy(strength = c(between = -0.1)), control = few)
  fits$shards <- suppressMessages(bernoulli_mixture(shards(x, tempfile(), size = 10), 2, control = few))
  for (name in names(fits)) {
    said <- capture.output(print(fits[[name]]))
    expect_identical(setdiff(said, capture.output(print(summary(fits[[name]])))), character(), info = name)
  }
})

test_that("update() works inside functions, with data and settings that are gone", {
  make <- function(table, components) {
    kind <- "map"
    strength <- list(aspects = c(2, 2), membership = 1)
    settings <- fit_control(n_start = 2, max_iter = 40)
    aspect_bernoulli(table, components, estimate = kind, prior = strength, control = settings)
  }
  quietly <- function(expr) suppressWarnings(suppressMessages(expr))
  set.seed(2)
  x <- binary(12, 6)
  fit <- quietly(make(x, 2))
  change <- function(object, components) update(object, k = components)
  set.seed(3)
  more <- quietly(change(fit, 3))
  expect_equal(more$dims[["k"]], 3L)
  expect_equal(more$prior, fit$prior)
  expect_named(more$objective, "log_posterior")
  expect_equal(more$control, fit$control)
  set.seed(3)
  expect_equal(quietly(update(fit, k = 3))$param, more$param)
  local({
    other <- binary(9, 6)
    expect_equal(quietly(update(fit, x = other))$dims[["n"]], 9L)
    looser <- fit_control(n_start = 1, max_iter = 5)
    expect_equal(nrow(quietly(update(fit, control = looser))$trace), 5L)
  })
  expect_equal(quietly(update(fit, estimate = "ml"))$estimate, "ml")
  expect_type(update(fit, k = 3, evaluate = FALSE), "language")
})

test_that("settings and priors left out, or NULL, are those of the estimate, also of another by update()", {
  quietly <- function(expr) suppressWarnings(suppressMessages(expr))
  set.seed(1)
  x <- binary(12, 6)
  few <- mcmc_control(chains = 1, warmup = 5, draws = 10, n_start = 1, progress = FALSE)
  made <- function(prior = NULL, control = NULL, estimate = "map", model = aspect_bernoulli, ...) {
    quietly(model(x, 2, estimate = estimate, prior = prior, control = control, ...))
  }
  fits <- lapply(list(made, function() quietly(aspect_bernoulli(x, 2))), function(make) {
    set.seed(2)
    make()
  })
  expect_identical(fits[[1]]$param, fits[[2]]$param)
  expect_identical(fits[[1]]$prior, list(aspects = c(1.2, 2), membership = 1.1))
  expect_identical(made(estimate = "vb")$prior, list(aspects = c(0.5, 0.5), membership = 0.5))
  expect_identical(made(control = few, estimate = "gibbs")$control, few)
  for (fit in fits) {
    expect_identical(quietly(update(fit, estimate = "vb"))$prior, vb_default_prior)
    expect_identical(quietly(update(fit, estimate = "gibbs", control = few))$prior, vb_default_prior)
    chains <- update(fit, estimate = "gibbs", evaluate = FALSE)
    expect_null(chains$control)
  }
  visits <- list(x, x)
  surveyed <- quietly(visits_bernoulli(visits, 1, prior = NULL, control = NULL))
  sampled <- quietly(update(surveyed, estimate = "gibbs", control = few))
  expect_identical(sampled$prior$aspects, c(1.2, 2))
  refused <- function(expr, ...) expect_error(quietly(expr), ..., class = "multicause_input_error")
  for (model in c(aspect_bernoulli, visits_bernoulli)) {
    data <- if (identical(model, visits_bernoulli)) visits else x
    refused(model(data, 2, estimate = "gibbs", control = fit_control()), "must come from mcmc_control\\(\\)")
    refused(model(data, 2, control = few), "must come from fit_control\\(\\)")
    refused(model(data, 2, control = 5), "must come from fit_control\\(\\)")
    for (estimate in c("map", "ml")) refused(model(data, 2, estimate = estimate, prior = 5), "`prior` must be list")
  }
  refused(ensemble(x, k = 2, control = few), "must come from fit_control\\(\\)")
  refused(update(made(control = fit_control()), estimate = "gibbs"), "must come from mcmc_control\\(\\)")
})

test_that("components come by falling weight, phantoms last, in every model that weighs them by size", {
  truth <- rbind(rep(c(0.9, 0.1), c(4, 8)), rep(c(0.1, 0.9, 0.1), c(4, 4, 4)), rep(c(0.1, 0.9), c(8, 4)))
  set.seed(6)
  x <- matrix(rbinom(1440, 1, truth[rep(1:3, c(20, 30, 70)), ]), 120)
  counts <- x * 2 + (rowSums(x) == 0)
  few <- quiet_control(n_start = 4)
  share <- function(fit) colMeans(fit$param$membership)
  weights <- list(
    share(aspect_bernoulli(x, 3, control = few)), share(aspect_bernoulli(x, 4, phantom = "white", control = few))[1:3],
    share(aspect_bernoulli(x, 3, estimate = "vb", control = few)),
    share(visits_bernoulli(list(x, x), 3, detection = ~1, control = few)),
    share(aspect_categorical(x, 3, values = 0:1, control = few)), bernoulli_mixture(x, 3, control = few)$param$weights,
    colSums(nmf(counts, 3, control = few)$param$coefficients), plca(counts, 3, control = few)$param$weights,
    colSums(plsa(counts, 3, control = few)$param$membership * rowSums(counts)),
    colSums(logistic_pca(x, 3, control = few)$param$scores^2)
  )
  for (weight in weights) {
    expect_length(weight, 3L)
    expect_false(is.unsorted(-weight))
  }
})

test_that("a fit survives saveRDS() and a new session", {
  case <- small_fit()
  sparse <- update(case$fit, x = Matrix::Matrix(case$x, sparse = TRUE))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(sparse, file)
  expect_equal(readRDS(file), sparse)
  script <- sprintf(
    "library(multicause); fit <- readRDS('%s'); invisible(capture.output(print(fit)))
     x <- fitted(fit); top <- false_absences(fit, n = 3); new <- predict(fit, fit$x[1:2, ], type = 'membership')
     cat('Matrix attached:', 'package:Matrix' %%in%% search(), '\n')
     cat(sprintf('%%.12f', c(sum(x[1:3]), top$missed, new[1:4])), sep = '\n')", file
  )
  run <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(script)), stdout = TRUE, stderr = TRUE)
  want <- c(
    sum(fitted(sparse)[1:3]), false_absences(sparse, n = 3)$missed,
    predict(sparse, sparse$x[1:2, ], type = "membership")[1:4]
  )
  expect_equal(run, c("Matrix attached: FALSE ", sprintf("%.12f", want)))
})

test_that("a fit without data asks for them", {
  case <- small_fit()
  fit <- case$fit
  fit$x <- NULL
  for (verb in list(by_taxon, denoise, false_absences, false_presences, residuals)) {
    expect_error(verb(fit), "keep_x = FALSE", class = "multicause_input_error")
  }
  expect_equal(by_taxon(fit, x = case$x), by_taxon(case$fit))
  expect_equal(denoise(fit, x = case$x), denoise(case$fit))
  expect_error(by_taxon(fit, x = case$x[-1, ]), "must have the 24 rows", class = "multicause_input_error")
  expect_error(age_profile(fit, 1:24), "keep_x = FALSE", class = "multicause_input_error")
  expect_error(predict(fit, type = "cell"), "keep_x = FALSE", class = "multicause_input_error")
  expect_equal(residuals(fit, x = case$x), residuals(case$fit))
  expect_equal(age_profile(fit, 1:24, x = case$x), age_profile(case$fit, 1:24))
  expect_equal(predict(fit, type = "cell", x = case$x), predict(case$fit, type = "cell"))
  expect_equal(fitted(fit), fitted(case$fit))
  expect_output(print(fit), "white phantom")
})

test_that("data given to a fit without them are those of the fit, in any order", {
  case <- small_fit()
  dimnames(case$x) <- list(paste("site", 1:24), paste0("taxon", seq_len(ncol(case$x))))
  fit <- update(case$fit, x = case$x)
  bare <- fit
  bare$x <- NULL
  mixed <- case$x[24:1, rev(seq_len(ncol(case$x)))]
  expect_equal(false_absences(bare, x = mixed), false_absences(fit))
  expect_equal(residuals(bare, x = as.data.frame(mixed)), residuals(fit))
  expect_equal(impute(bare, x = Matrix::Matrix(mixed, sparse = TRUE)), impute(fit))
  refused <- function(x, said) {
    for (verb in list(by_taxon, denoise, false_absences, residuals)) {
      expect_error(verb(bare, x = x), said, class = "multicause_input_error")
    }
  }
  refused(3 * case$x, "hold only 0, 1 or NA")
  refused(`rownames<-`(case$x, c("elsewhere", paste("site", 2:24))), "1 row unknown to the fit: \"elsewhere\"")
  refused(case$x[c(1, 1, 3:24), ], "must be unique")
  refused(replace(case$x, 1:3, NA), "observed cells")
  # Matches by position without names.
  expect_equal(residuals(bare, x = unname(case$x)), residuals(fit))
})

test_that("every model takes its own data back, in any order", {
  set.seed(1)
  x <- matrix(rbinom(80, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:8]))
  fits <- list(
    bernoulli_mixture(x, 2), logistic_pca(x, 1), nmf(x + 0.5, 2), plsa(x + 1, 2), noisy_or(x, 2), plca(x + 1, 2),
    bmf(x, control = mcmc_control(chains = 1, warmup = 5, draws = 5, n_start = 1, progress = FALSE))
  )
  for (fit in fits) {
    bare <- fit
    bare$x <- NULL
    expect_equal(residuals(bare, x = fit$x[10:1, 8:1]), residuals(fit), info = class(fit)[1L])
    expect_error(residuals(bare, x = fit$x[, -1]), "lacks 1", class = "multicause_input_error", info = class(fit)[1L])
    expect_equal(impute(bare, x = fit$x), impute(fit), info = class(fit)[1L])
    expect_equal(augment.multicause(bare, fit$x[10:1, ]), augment.multicause(fit), info = class(fit)[1L])
  }
  counts <- array(rpois(60, 2), c(3, 4, 5), list(letters[1:3], letters[1:4], NULL))
  bare <- plca(counts, 2, control = fit_control(keep_x = FALSE))
  expect_equal(unname(impute(bare, x = counts[3:1, 4:1, ])), unname(counts))
})

test_that("the objective is named in words", {
  fit <- small_fit()$fit
  names(fit$objective) <- "smoothed_log_posterior"
  expect_output(print(fit), "smoothed log-posterior")
  names(fit$objective) <- "lower_bound"
  expect_error(logLik(fit), "maximised its lower bound, .* `fit\\$loglik` holds")
  loss <- nmf(fit$x, 2)
  expect_error(logLik(loss), "minimised its loss, not its likelihood, so .* no meaning for it\\.$")
})

test_that("fits made with variables and under names that are gone can be updated", {
  set.seed(6)
  x <- matrix(rbinom(120, 1, 0.5), 15, 8)
  few <- quiet_control(n_start = 1, max_iter = 20)
  seeded <- function(expr) {
    set.seed(7)
    suppressWarnings(expr)
  }
  made <- local({
    model <- noisy_or
    prior <- noisy_or_prior(links = c(1, 2))
    share <- c(basis = 0.1)
    kind <- "bernoulli"
    short <- mcmc_control(chains = 1, warmup = 5, draws = 5, n_start = 1, progress = FALSE)
    begin <- list(weights = c(0.5, 0.5), prototypes = matrix(0.5, 2, 8))
    groups <- cross_entropy(c(1, 2), strength = c(between = 1))
    list(
      seeded(model(x, 2, prior = prior, control = few)), seeded(plsa(x, 2, sparsity = share, control = few)),
      seeded(bmf(x, family = kind, control = short)), seeded(bernoulli_mixture(x, 2, start = begin, control = few)),
      seeded(plca(x, 2, prior = groups, control = few))
    )
  })
  # The same call after the same seed gives the same fit; without the seed, numbers of sampled features differ.
  for (fit in made) {
    again <- seeded(update(fit))
    expect_identical(class(again), class(fit))
    expect_identical(again$dims, fit$dims)
    expect_identical(again$param, fit$param)
    expect_identical(again$objective, fit$objective)
  }
  expect_identical(made[[1]]$prior, noisy_or_prior(links = c(1, 2)))
  expect_identical(names(suppressWarnings(update(made[[1]], k = 1))$objective), names(made[[1]]$objective))
  expect_identical(suppressWarnings(update(made[[3]]))$family, "bernoulli")
})

test_that("starts with the names of the data may have them in another order", {
  set.seed(7)
  x <- matrix(rbinom(80, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:8]))
  none <- quiet_control(max_iter = 0, n_start = 1)
  start <- list(membership = random_simplex(10, 2), aspects = matrix(runif(16), 2))
  dimnames(start$membership) <- list(rownames(x), NULL)
  dimnames(start$aspects) <- list(NULL, colnames(x))
  mixed <- list(membership = start$membership[10:1, ], aspects = start$aspects[, 8:1])
  fit <- function(start) aspect_bernoulli(x, 2, start = start, control = none)
  expect_equal(fit(mixed)$param, fit(start)$param)
  basis <- random_simplex(2, 8)
  colnames(basis) <- colnames(x)
  held <- function(basis) plsa(x, 2, start = list(basis = basis), fixed = "basis", control = quiet_control())
  expect_equal(held(basis[, 8:1])$param, held(basis)$param, tolerance = 1e-6)
  short <- mcmc_control(chains = 1, warmup = 3, draws = 3, n_start = 1, progress = FALSE)
  gibbs <- function(x, ...) aspect_bernoulli(x, 2, estimate = "gibbs", control = short, ...)
  begun <- gibbs(x)
  expect_error(gibbs(x[10:1, ], start = begun), "the same names, in the same order", class = "multicause_input_error")
})

# More than 2^31 cells, few of them ones: counts of cells exceed integers, and every model is affected separately.
test_that("tables of more than 2^31 cells are counted in doubles", {
  set.seed(1)
  n <- 70000
  m <- 40000
  x <- Matrix::sparseMatrix(i = sample(n, 300), j = sample(m, 300), x = 1, dims = c(n, m))
  documents <- Matrix::sparseMatrix(i = seq_len(n), j = sample(m, n, TRUE), x = 1, dims = c(n, m)) # none is empty
  cells <- n * m
  once <- fit_control(n_start = 1, max_iter = 1, n_polish = 0, progress = FALSE)
  three <- data.frame(site = c(1, n), taxon = c(1, m), layer = c(1, 3), count = 2:1)
  quietly <- function(expr) suppressWarnings(suppressMessages(expr), classes = "multicause_not_converged")
  fits <- list(
    quietly(bernoulli_mixture(x, 2, control = once)), quietly(nmf(x, 2, control = once)),
    quietly(plsa(documents, 2, control = once)), quietly(plca(x, 2, control = once)),
    quietly(plca(three, 2, estimate = "ml", control = once)),
    quietly(noisy_or(x, 1, control = once))
  )
  # These visit every cell in every iteration, which takes minutes; all dims are set in one place.
  small <- matrix(stats::rbinom(200, 1, 0.5), 20)
  for (model in list(aspect_bernoulli, logistic_pca)) {
    expect_type(quietly(model(small, 2, control = fit_control(n_start = 1)))$dims, "double")
  }
  for (fit in fits) {
    size <- if (length(fit$extent) == 3L) 3 * cells else cells
    rows <- inherits(fit, c("bernoulli_mixture", "noisy_or"))
    expect_identical(nobs(fit), if (rows) 70000 else size)
    expect_identical(fit$dims[["observed"]], size)
    expect_identical(prod(fit$dims[c("n", "m")]), size)
    expect_true(is.finite(fit$df))
    glance <- glance(fit)
    expect_identical(glance$nobs, nobs(fit))
    if (rows) expect_equal(BIC(fit), fit$df * log(70000) - 2 * fit$loglik)
    if (identical(names(fit$objective), "log_likelihood")) {
      expect_equal(glance$AIC, if (rows) 2 * fit$df - 2 * fit$loglik else NA_real_)
    }
    expect_output(print(fit), "70 000")
    said <- summary(fit)
    if (!is.null(said$n_missing)) expect_identical(said$n_missing, 0)
    expect_output(print(said), "70 000")
  }
})

test_that("fits from before, whose counts were integers, still work together with new ones", {
  set.seed(1)
  fits <- lapply(1:2, function(i) aspect_bernoulli(matrix(stats::rbinom(200, 1, 0.5), 20), 2, control = fit_control(2)))
  storage.mode(fits[[1L]]$dims) <- "integer"
  expect_s3_class(ensemble(fits), "multicause_ensemble")
  expect_s3_class(validate_aspect_bernoulli(fits[[1L]]), "aspect_bernoulli")
})

test_that("the function that makes a fit is the first of its classes that is one", {
  of_class <- function(...) structure(list(), class = c(..., "multicause"))
  expect_identical(model_name(of_class("visits_bernoulli", "aspect_bernoulli")), "visits_bernoulli")
  expect_identical(model_name(of_class("aspect_bernoulli_gibbs", "aspect_bernoulli")), "aspect_bernoulli")
  expect_identical(model_name(of_class()), NA_character_)
})

test_that("a fit to nothing observed has a summary, without AIC and BIC, which says why", {
  x <- matrix(NA_real_, 4, 3)
  models <- list(
    plsa = plsa, mixture = function(...) bernoulli_mixture(..., estimate = "ml"),
    aspects = function(...) aspect_bernoulli(..., estimate = "ml")
  )
  for (model in models) {
    fit <- suppressMessages(model(x, 2))
    expect_identical(unname(summary(fit)$criteria[c("AIC", "BIC")]), c(NA_real_, NA_real_))
    expect_output(print(summary(fit)), "12 cells unknown")
    expect_output(print(summary(fit)), "no AIC or BIC, as no cell is known", fixed = TRUE)
    expect_identical(unlist(glance(fit)[c("AIC", "BIC")], use.names = FALSE), c(NA_real_, NA_real_))
  }
})

test_that("a dense table is answered without package Matrix, whose loading takes longer than a first look", {
  skip_if_not_installed_here()
  run <- run_child(c(
    "library(multicause)",
    "w <- which_zeros(early_tetrapods$x, age = early_tetrapods$sites[c('max_ma', 'min_ma')], quick = TRUE, seed = 1)",
    "invisible(capture.output(print(w), print(by_site(w)), print(explain(w, 1, 2))))",
    "cat('loaded:', 'Matrix' %in% loadedNamespaces(), '\\n')"
  ))
  expect_equal(utils::tail(run, 1L), "loaded: FALSE ")
})

# Agresti (2002), Categorical Data Analysis, table 13.1: seven pathologists on 118 slides of carcinoma. Packages poLCA
# and others report these numbers.
carcinoma <- function() {
  patterns <- c(
    "0000000" = 34, "0000100" = 2, "0100000" = 6, "0100001" = 1, "0100100" = 4, "0100101" = 5, "1000000" = 2,
    "1010101" = 1, "1100000" = 2, "1100001" = 1, "1100100" = 2, "1100101" = 7, "1100111" = 1, "1101001" = 1,
    "1101101" = 2, "1101111" = 3, "1110101" = 13, "1110111" = 5, "1111101" = 10, "1111111" = 16
  )
  do.call(rbind, lapply(strsplit(rep(names(patterns), patterns), ""), as.numeric))
}

test_that("BIC() of a mixture counts sites, as latent class analysis does, and chooses its three classes", {
  x <- carcinoma()
  set.seed(1)
  fits <- lapply(2:4, function(k) {
    bernoulli_mixture(x, k, estimate = "ml", control = quiet_control(n_start = 20, tol = 1e-10))
  })
  expect_equal(vapply(fits, BIC, 0), c(706.0739, 697.1357, 726.4629), tolerance = 1e-5)
  expect_identical(vapply(fits, nobs, 0), rep(118, 3))
  expect_identical(df.residual(fits[[1L]]), 103)
  expect_equal(BIC(fits[[1L]], fits[[2L]])$BIC, c(706.0739, 697.1357), tolerance = 1e-5)
  expect_equal(glance(fits[[2L]])$BIC, BIC(fits[[2L]]))
  expect_output(print(summary(fits[[2L]])), "BIC 697.13")
  chosen <- select_k(x, 2:4, bernoulli_mixture, "bic", estimate = "ml", control = quiet_control(n_start = 20))
  expect_identical(chosen$k, 3L)
  # A site without known cells is not an observation.
  more <- bernoulli_mixture(rbind(x, NA), 2, estimate = "ml", start = fits[[1L]]$param[1:2], control = quiet_control())
  expect_identical(nobs(more), 118)
})

test_that("where every site has parameters of its own there is no BIC, and every verb gives the reason", {
  few <- quiet_control(n_start = 1)
  fits <- fits_of_all()
  x <- fits$nmf$x
  counts <- replace(x, is.na(x), 0)
  free <- suppressWarnings(suppressMessages(list(
    fits$aspect_bernoulli, fits$effort, fits$visits, fits$logistic_pca, fits$plsa, fits$plca,
    nmf(counts, 1, loss = "kl", control = few), aspect_bernoulli(x, 1, control = few),
    visits_bernoulli(fits$visits$visits, 1, missed_by = "site", control = few),
    bernoulli_mixture(x, 2, smooth = smooth_over(age = 1:20, bandwidth = 3, strength = 1), control = few),
    aspect_bernoulli(shards(x, tempfile(), size = 10), 2, control = few)
  )))
  for (fit in free) {
    expect_error(BIC(fit), "BIC() has no meaning for this fit of", fixed = TRUE, class = "multicause_input_error")
    expect_true(is.na(attr(logLik(fit), "nobs")) && is.na(BIC(logLik(fit))), info = model_name(fit))
    expect_true(is.finite(AIC(fit)))
    expect_identical(glance(fit)$BIC, NA_real_)
    if (inherits(fit, "multicause_shards")) next
    expect_match(print_words(summary(fit)), "select_k\\(\\) compares fits by held-out cells, not by AIC")
  }
  expect_warning(AIC(fits$aspect_bernoulli, fits$bernoulli_mixture), NA)
  expect_error(BIC(fits$bernoulli_mixture, fits$plsa), "plsa", class = "multicause_input_error")
  one <- suppressMessages(visits_bernoulli(fits$visits$visits, 1, estimate = "ml", control = few))
  by_site <- data.frame(wet = rep(0:1, 10))
  follows <- suppressMessages(
    visits_bernoulli(fits$visits$visits, 2, communities = ~wet, site_data = by_site, control = few)
  )
  exact <- noisy_or(x, 1, inference = "exact", control = few)
  in_shards <- bernoulli_mixture(shards(x, tempfile(), size = 10), 2, control = few)
  for (fit in list(one, follows, exact, in_shards)) {
    expect_identical(nobs(fit), 20)
    expect_equal(BIC(fit), log(20) * fit$df - 2 * as.numeric(logLik(fit)))
  }
  # With one component there would be a value, but nothing to compare it with.
  chosen <- suppressMessages(select_k(fits$visits$visits, 1:2, visits_bernoulli, "bic", control = few))
  expect_true(all(is.na(chosen$table$value)))
  expect_output(print(chosen), "BIC .* no meaning for these fits: every\\s+site has memberships of its\\s+own")
  by_default <- select_k(counts, 1:2, folds = 2, control = few)
  expect_identical(by_default$best$criterion, c("cells", "rows", "aic"))
})

test_that("update() names an argument whose object is gone", {
  fit <- suppressWarnings(bernoulli_mixture(simulated_sites$x, 2, control = fit_control(n_start = 1, max_iter = 5)))
  fit$call$start <- quote(mine) # as of a fit from another fit
  words <- "`start` of the call is `mine`, which is not known here: give it, as in `update\\(object, start = "
  expect_error(update(fit, k = 3), words, class = "multicause_input_error")
  expect_identical(suppressWarnings(update(fit, start = NULL))$dims, fit$dims)
})

test_that("confint() of a fit without draws names the estimate that has them, where the model has it", {
  fits <- fits_of_all()
  hint <- "fit with `estimate = \"gibbs\"`"
  for (name in c("aspect_bernoulli", "plsa", "noisy_or")) {
    expect_error(confint(fits[[name]]), hint, fixed = TRUE, class = "multicause_input_error", info = name)
  }
  for (name in c("nmf", "logistic_pca", "plca")) {
    said <- expect_error(confint(fits[[name]]), class = "multicause_input_error", info = name)
    expect_no_match(conditionMessage(said), "gibbs", info = name)
  }
})

test_that("no model returns an unknown or infinite value, though the tables have unknown cells", {
  set.seed(2)
  x <- replace(fits_of_all()$nmf$x, 5, NA)
  few <- fit_control(n_start = 1, n_polish = 0, max_iter = 50, progress = FALSE)
  fits <- suppressWarnings(suppressMessages(c(fits_of_all(), list(
    neighbours_mean = neighbours_mean(x), aspect_categorical = aspect_categorical(x + 1, 2, control = few),
    visits_occupancy = visits_occupancy(list(x, replace(x, 30, NA)), control = few)
  ))))
  missed <- as.data.frame(suppressMessages(which_zeros(replace(simulated_sites$x, 5, NA), quick = TRUE, seed = 1)))
  expect_false(anyNA(missed))
  expect_true(all(is.finite(unlist(missed[c("probability", "missed", "missed_low", "missed_high")]))))
  for (model in names(fits)) {
    fit <- fits[[model]]
    values <- list(param = unlist(fit$param), fitted = fitted(fit), objective = fit$objective)
    for (part in names(values)) expect_true(all(is.finite(values[[part]])), label = paste(model, part))
    each <- length(residuals(fit)) / length(fit$x) # of several values a cell has one for each
    expect_equal(sum(is.na(residuals(fit))), sum(is.na(fit$x)) * each, label = model)
  }
})

test_that("few iterations are told, with what to raise", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  expect_warning(aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 1)),
    "Not converged after 1 iteration: raise `max_iter` in fit_control() for a firmer answer.", fixed = TRUE,
    class = "multicause_not_converged")
})
