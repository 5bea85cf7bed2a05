# Fits, results and settings that were edited or damaged are refused by every verb, and the part is named. A small fixed
# part of tests/validate/hostile_calls.R.
# Also of R/check_results.R.

first_matrix <- function(param) which(vapply(param, is.matrix, NA))[1L]

damages <- list(
  `\\$param` = function(fit) {
    fit$param <- NULL
    fit
  },
  `\\$param` = function(fit) {
    fit$param[[1L]][[1L]] <- NaN
    fit
  },
  `\\$param` = function(fit) {
    at <- first_matrix(fit$param)
    if (is.na(at)) fit$param$marginals[[2L]] <- fit$param$marginals[[2L]][, -1L]
    if (!is.na(at)) fit$param[[at]] <- fit$param[[at]][-1L, , drop = FALSE]
    fit
  },
  `\\$param` = function(fit) {
    fit$param[] <- lapply(fit$param, as.character)
    fit
  },
  `\\$dims` = function(fit) {
    fit$dims <- fit$dims["n"]
    fit
  },
  `\\$names` = function(fit) {
    fit$names <- "a"
    fit
  },
  `\\$control` = function(fit) {
    fit$control[[1L]] <- "a"
    fit
  },
  `\\$trace` = function(fit) {
    fit$trace <- fit$trace["pass"]
    fit
  },
  `\\$starts` = function(fit) {
    fit$starts <- NULL
    fit
  },
  `\\$call` = function(fit) {
    fit$call <- NULL
    fit
  }
)

verbs <- list(
  print = print, summary = summary, plot = plot, coef = coef, fitted = fitted, predict = predict,
  residuals = residuals, simulate = simulate, nobs = nobs, logLik = logLik, update = update, impute = impute,
  as.data.frame = as.data.frame,
  false_absences = false_absences, false_presences = false_presences, denoise = denoise, deficiency = deficiency,
  modes = modes, ensemble = ensemble, report = function(fit) report(fit, file.path(tempdir(), "report.html"))
)
verbs <- c(verbs, tidy = tidy, glance = glance, augment = augment)

test_that("sound fits of every model and variant pass", {
  for (fit in fits_of_all()) {
    expect_silent(check_fit(fit))
    expect_silent(check_fit(unserialize(serialize(fit, NULL))))
  }
})

test_that("every verb refuses every damaged fit and names the part", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fits <- fits_of_all()
  for (name in names(fits)) {
    for (at in seq_along(damages)) {
      broken <- damages[[at]](fits[[name]])
      told <- vapply(verbs, function(verb) {
        tryCatch(
          {
            verb(broken)
            "no error"
          },
          multicause_input_error = conditionMessage, error = function(e) paste("of R:", conditionMessage(e))
        )
      }, "")
      wrong <- names(told)[!grepl("is damaged, or was changed", told) | !grepl(names(damages)[at], told)]
      expect_identical(wrong, character(), info = paste(name, names(damages)[at], at))
    }
  }
})

test_that("verbs of some models only refuse them, too", {
  fits <- fits_of_all()
  refused <- function(expr) expect_error(expr, "is damaged", class = "multicause_input_error")
  broken <- lapply(fits, damages[[2L]])
  for (fit in broken[c("aspect_bernoulli", "effort", "visits", "vb")]) {
    refused(phantoms(fit))
    refused(identifiability(fit))
    refused(phantom_test(fit))
    refused(aic_paper(fit))
    refused(posterior_draws(fit))
    refused(test_loglik(fit, fits$vb$x))
  }
  refused(sources(broken$noisy_or))
  refused(cooccurrence(broken$bmf))
  refused(divergences(broken$plca))
  refused(curves(broken$vb))
  refused(align_components(broken$vb, fits$vb))
  refused(age_profile(broken$vb, 1:20))
  refused(ensemble(list(fits$vb, broken$vb)))
  average <- ensemble(list(fits$vb, fits$aspect_bernoulli))
  average$fits[[2L]]$param$aspects[1L] <- 2
  refused(print(average))
})

test_that("values that a model cannot have are refused, whatever their shape", {
  fits <- fits_of_all()
  refused <- function(fit, what) expect_error(coef(fit), what, class = "multicause_input_error")
  fit <- fits$vb
  fit$param$membership[1L, ] <- fit$param$membership[1L, ] * 0.9
  refused(fit, "membership` must be .* within 0 and 1|its rows with sum 1")
  fit <- fits$vb
  fit$param$aspects[1L] <- 1.5
  refused(fit, "aspects` must be a matrix of 2 x 8 with finite numbers within 0 and 1")
  fit <- fits$plsa
  fit$row_scale <- fit$row_scale[-1L]
  refused(fit, "row_scale` must be 20 finite numbers of at least 0")
  fit <- fits$nmf
  fit$loss <- "l1"
  refused(fit, "loss` must be one of \"euclidean\", \"kl\"")
  fit <- fits$bmf
  fit$kept[[1L]][[1L]]$rows <- fit$kept[[1L]][[1L]]$rows[-1L, , drop = FALSE]
  refused(fit, "kept` must be")
  fit <- fits$vb
  fit$x[1L] <- 7L
  expect_error(residuals(fit), "`fit\\$x` must hold only 0, 1 or NA", class = "multicause_input_error")
  class(fit) <- "multicause"
  refused(fit, "must be a fit of a model of this package")
})

test_that("the trace of chains holds known numbers, those that print() tells among them", {
  for (change in list(list(row_features = NULL), list(weight_precision = NA), list(column_features = NA))) {
    fit <- fits_of_all()$bmf
    fit$trace[names(change)] <- change
    expect_error(print(fit), "`x$trace` must be a data frame", class = "multicause_input_error", fixed = TRUE)
  }
})

test_that("starts of a noisy-OR fit are fits of their own, and damaged ones are refused", {
  x <- fits_of_all()$noisy_or$x
  set.seed(3)
  for (inference in c("exact", "variational")) {
    control <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, keep_starts = TRUE)
    fit <- noisy_or(x, 2, inference = inference, control = control)
    found <- modes(fit)
    # Sources may come in another order than in the fit.
    on <- found$fits[[1L]]$param$activation
    expect_equal(unname(sort(colSums(on))), unname(sort(colSums(fit$param$activation))), tolerance = 1e-3)
    expect_equal(on, predict(found$fits[[1L]], x, "activation"), ignore_attr = TRUE, tolerance = 1e-8)
    fit$start_params[[2L]]$links <- NULL
    expect_error(modes(fit), "start_params\\[\\[2\\]\\]", class = "multicause_input_error")
  }
})

test_that("results and settings that were edited are refused by their methods", {
  refused <- function(expr) expect_error(expr, "is damaged", class = "multicause_input_error")
  fit <- fits_of_all()$aspect_bernoulli
  damage <- corrupt(matrix(1:0, 10, 6), 0.3)
  found <- recovery(matrix(seq(0, 1, length.out = 60), 10), damage)
  found$summary$slope <- NULL
  refused(print(found))
  refused(glance(found))
  refused(as.data.frame(found))
  damage$omitted <- NULL
  refused(print(damage))
  refused(recovery(matrix(0.5, 10, 6), damage))
  prior <- bmf_prior()
  prior$weight_shape <- -1
  refused(bmf(fit$x, prior = prior))
  refused(print(prior))
  near <- smooth_over(age = 1:20)
  near$given$age <- near$given$age[-1L, ]
  refused(aspect_bernoulli(fit$x, 2, smooth = near))
  told <- summary(fit)
  told$criteria <- NULL
  refused(print(told))
  prior <- cross_entropy()
  prior$anneal <- NULL
  refused(plca(array(1:8, c(2, 2, 2)), 1, prior = prior))
  # Tables are users' own: a column that is gone is not printed.
  absent <- false_absences(fit, 3)
  absent$missed <- "?"
  expect_output(print(absent[-3L]), "site")
})
