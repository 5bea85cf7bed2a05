# tidy(), glance(), augment(), as.data.frame() and vegan's scores() of every model and every result. Tests also
# R/base_spread.R.

skip_on_cran()

test_that("tidy() has a row for each component and attribute of every model", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), "plca")) {
    fit <- fits[[name]]
    table <- tidy(fit, if (name == "visits") "aspects")
    expect_identical(setdiff(names(table), "std.error"), c("component", "taxon", "estimate"), info = name)
    of_fit <- if (name == "bmf") bmf_effects(fit) else component_matrix(fit)
    expect_identical(table$estimate, unname(as.vector(t(of_fit))), info = name)
    expect_identical(unique(table$taxon), paste0("taxon", 1:8), info = name)
    expect_identical(unique(table$component), rownames(of_fit), info = name)
    expect_identical(as.data.frame(fit), as.data.frame(tidy(fit)), info = name)
    expect_identical(class(as.data.frame(fit)), "data.frame")
  }
  marginals <- tidy(fits$plca)
  expect_identical(names(marginals), c("component", "dimension", "level", "estimate"))
  one <- marginals[marginals$dimension == "taxon" & marginals$component == "A2", ]
  expect_equal(one$estimate, as.vector(fits$plca$param$marginals$taxon["A2", ]))
})

test_that("tidy() gives every other part of the parameters", {
  fits <- fits_of_all()
  for (name in names(fits)) {
    for (part in setdiff(names(fits[[name]]$param), "marginals")) {
      table <- tidy(fits[[name]], matrix = part)
      expect_identical(nrow(table), length(fits[[name]]$param[[part]]), info = paste(name, part))
      expect_equal(sum(table$estimate), sum(fits[[name]]$param[[part]]), info = paste(name, part))
    }
  }
  membership <- tidy(fits$plsa, matrix = "membership")
  expect_identical(membership$estimate[membership$site == "site7"],
    unname(fits$plsa$param$membership["site7", ]))
  expect_identical(tidy(fits$effort, matrix = "effort")$term, c("intercept", "slope"))
  expect_identical(nrow(tidy(fits$bmf, matrix = "quantities")), length(quantities(fits$bmf)))
  by_site <- suppressMessages(visits_bernoulli(fits$visits$visits, 2, missed_by = "site"))
  expect_identical(names(tidy(by_site, matrix = "missed")), c("site", "visit", "estimate"))
  expect_error(tidy(fits$nmf, matrix = "aspects"), "`matrix` must be one of \"basis\", \"coefficients\"",
    class = "multicause_input_error")
  expect_error(tidy(fits$nmf, mtrix = "basis"), "mtrix", class = "multicause_input_error")
})

test_that("glance() is one row with the same columns for every model", {
  rows <- lapply(fits_of_all(), glance)
  expect_true(all(vapply(rows, nrow, 0L) == 1L))
  table <- as.data.frame(do.call(rbind, rows))
  fit <- fits_of_all()$bernoulli_mixture
  rownames(table) <- names(rows)
  expect_equal(table["bernoulli_mixture", "AIC"], AIC(fit))
  expect_equal(table["bernoulli_mixture", "nobs"], 20)
  expect_true(all(is.na(table[c("bmf", "vb", "nmf"), "AIC"])))
  expect_identical(table["logistic_pca", "AIC"], NA_real_) # its parameters grow with the table
  expect_false(anyNA(table$value))
})

test_that("augment() has a row for each cell, observation by observation", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), "plca")) {
    fit <- fits[[name]]
    table <- augment(fit)
    expect_identical(nrow(table), 160L, info = name)
    cell <- table[table$site == "site4" & table$taxon == "taxon6", ]
    expect_equal(cell$.fitted, fitted(fit)["site4", "taxon6"], info = name)
    expect_equal(cell$observed, as.numeric(fit$x["site4", "taxon6"]), info = name)
    expect_equal(table$.resid, table$observed - table$.fitted, info = name)
    expect_true(is.na(table$observed[11]), info = name)
    expect_equal(augment(fit, rows = "site4"), table[25:32, ], ignore_attr = TRUE, info = name)
  }
  table <- augment(fits$aspect_bernoulli)
  likeliest <- false_absences(fits$aspect_bernoulli, n = 5, by = "missed")
  at <- match(paste(likeliest$site, likeliest$taxon), paste(table$site, table$taxon))
  expect_equal(table$.false[at], likeliest$missed)
  expect_equal(table$.present[at], likeliest$present)
  array <- augment(fits$plca)
  expect_equal(array$.fitted[array$site == 3 & array$taxon == 5 & array$time == 2], fitted(fits$plca)[3, 5, 2])
  expect_equal(array$observed[array$site == 3 & array$taxon == 5 & array$time == 2], fits$plca$x[3, 5, 2])
  expect_error(augment(fits$plca, rows = 1), "plca", class = "multicause_input_error")
  no_data <- fits$nmf
  no_data$x <- NULL
  expect_error(augment(no_data), "keep_x", class = "multicause_input_error")
  expect_identical(augment(no_data, data = fits$nmf$x), augment(fits$nmf))
})

test_that("results are data frames, too", {
  set.seed(1)
  x <- outer(1:30, 1:8, function(i, j) (i <= 15) == (j <= 4)) * matrix(stats::rbinom(240, 1, 0.7), 30)
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, keep_starts = TRUE)
  chosen <- select_k(x, 1:2, bernoulli_mixture, c("aic", "cells"), folds = 2, control = few)
  expect_identical(as.data.frame(tidy(chosen)), as.data.frame(chosen))
  expect_identical(tidy(chosen)$k, c(1L, 2L, 1L, 2L))
  expect_identical(glance(chosen)$k, chosen$k)
  tried <- cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = few)
  expect_identical(as.data.frame(tidy(tried)), tried$results)
  expect_identical(nrow(tidy(tried, table = "folds")), 4L)
  expect_identical(glance(tried)$loss, min(tried$results$loss))
  compared <- compare_models(x, 1, list(a = bernoulli_mixture, b = logistic_pca), folds = 2, control = few)
  expect_identical(tidy(compared)$model, c("a", "b"))
  expect_identical(nrow(glance(compared)), 1L)
  planted <- corrupt(x, omit = c(0, 0.3))
  fit <- bernoulli_mixture(planted$x, 2, control = few)
  found <- recovery(fitted(fit), planted)
  expect_identical(tidy(found)$value[3], found$summary$auc)
  expect_identical(as.data.frame(glance(found)), found$summary)
  expect_identical(as.data.frame(found, table = "roc"), found$roc, ignore_attr = TRUE)
  expect_identical(tidy(modes(fit))$mode[1], 1L)
  expect_identical(nrow(tidy(align_components(fit, fit))), 2L)
  apart <- tidy(divergences(fits_of_all()$plca))
  expect_identical(names(apart), c("dimension", "p", "q", "divergence"))
  expect_identical(nrow(apart), 12L)
  expect_error(tidy(found, table = "auc"), "`table` must be one of", class = "multicause_input_error")
})

test_that("vegan's scores() has sites and species on the same components", {
  skip_if_not_installed("vegan")
  fits <- fits_of_all()
  for (name in names(fits)) {
    both <- vegan::scores(fits[[name]])
    expect_identical(names(both), c("sites", "species"), info = name)
    expect_identical(ncol(both$sites), ncol(both$species), info = name)
    expect_identical(nrow(both$species), 8L, info = name)
    expect_identical(vegan::scores(fits[[name]], "species"), both$species, info = name)
  }
  one <- vegan::scores(fits$logistic_pca, "sites", choices = 2)
  expect_identical(one, fits$logistic_pca$param$scores[, 2, drop = FALSE])
  expect_error(vegan::scores(fits$nmf, "species", choices = 3), "choices", class = "multicause_input_error")
  expect_error(vegan::scores(fits$nmf, "plots"), "`display`", class = "multicause_input_error")
  unplaced <- fits$nmf
  unplaced$param <- unplaced$param["basis"]
  expect_error(vegan::scores(unplaced), "`x` has no positions of sites", class = "multicause_input_error")
  near <- neighbours_mean(fits$nmf$x, smooth = smooth_over(age = 1:20))
  expect_error(vegan::scores(near), "`x` has no components: it is a fit of neighbours_mean()",
    fixed = TRUE, class = "multicause_input_error"
  )
})

test_that("the package loads without anything but its imports", {
  skip_if_not_installed_here()
  code <- "suppressPackageStartupMessages(library(multicause)); cat(loadedNamespaces())"
  loaded <- run_child(code, c(R_DEFAULT_PACKAGES = "NULL"))
  loaded <- strsplit(loaded[length(loaded)], " ")[[1L]]
  imports <- c("cli", "generics", "lpSolve", "Matrix")
  depends <- tools::package_dependencies(imports, utils::installed.packages(), recursive = TRUE)
  base <- rownames(utils::installed.packages(priority = "base"))
  expect_true("multicause" %in% loaded)
  expect_identical(setdiff(loaded, c("multicause", imports, unlist(depends), base)), character())
  # Matrix takes time to load and is called only where needed.
  expect_false("Matrix" %in% loaded)
})

test_that("answers of which_zeros() have tidy(), glance() and augment()", {
  w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
  expect_identical(as.data.frame(tidy(w)), as.data.frame(w))
  expect_identical(tidy(w, "quality")$auc, w$quality$auc)
  one <- glance(w)
  expect_identical(nrow(one), 1L)
  expect_identical(one$missed, w$total[["missed"]])
  expect_true(one$low <= one$missed && one$missed <= one$high)
  cells <- augment(w, rows = 2:3)
  expect_identical(nrow(cells), 2L * ncol(simulated_sites$x))
  expect_equal(is.na(cells$.fitted), cells$observed == 1)
  first <- as.data.frame(w, site = 2, n = 1)
  same <- cells$site == first$site & cells$taxon == first$taxon
  expect_equal(c(cells$.fitted[same], cells$.missed[same]), c(first$probability, first$missed))
})

test_that("tables are tibbles where package tibble is there, and plain data frames where not", {
  without <- as_tidy
  environment(without) <- list2env(list(requireNamespace = function(...) FALSE), parent = environment(as_tidy))
  expect_identical(class(without(data.frame(a = 1))), "data.frame")
  skip_if_not_installed("tibble")
  w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
  fit <- fits_of_all()$plca
  starts <- nmf(w$x, 2, control = fit_control(n_start = 2, keep_starts = TRUE, progress = FALSE))
  tables <- list(
    tidy(w), glance(w), augment(w), tidy(fit), glance(fit), augment(fit),
    tidy(false_absences(fits_of_all()$aspect_bernoulli, n = 20)), tidy(by_site(w)), tidy(modes(starts)),
    tidy(suppressMessages(occupied(fits_of_all()$visits)))
  )
  for (table in tables) {
    expect_s3_class(table, "tbl_df")
    expect_lt(length(capture.output(print(table))), 30L)
  }
})

test_that("standard errors and intervals are those of vcov(), confint() and the draws", {
  fits <- fits_of_all()
  counts <- 3 * replace(fits$nmf$x, is.na(fits$nmf$x), 0)
  quick <- mcmc_control(chains = 2, warmup = 20, draws = 40, progress = FALSE)
  sampled <- suppressWarnings(suppressMessages(list(
    aspects = aspect_bernoulli(fits$nmf$x, 2, estimate = "gibbs", control = quick),
    visits = visits_bernoulli(fits$visits$visits, 1, estimate = "gibbs", control = quick),
    plsa = plsa(counts, 2, estimate = "gibbs", control = quick)
  )))
  for (fit in sampled) {
    table <- tidy(fit, conf.int = TRUE, conf.level = 0.8)
    expect_true(all(table$std.error >= 0 & table$conf.low <= table$conf.high))
    expect_gt(mean(table$conf.low <= table$estimate & table$estimate <= table$conf.high), 0.8)
    wider <- tidy(fit, conf.int = TRUE)
    expect_true(all(wider$conf.high - wider$conf.low >= table$conf.high - table$conf.low))
    expect_false(any(c("conf.low", "lower") %in% names(tidy(fit))))
    shares <- tidy(fit, "membership", conf.int = TRUE)
    expect_equal(shares$std.error, as.vector(t(fit$spread$membership)))
  }
  expect_equal(
    tidy(sampled$plsa, conf.int = TRUE)$conf.low, as.vector(t(matrix(confint(sampled$plsa)[, 1L], 2L)))
  )
  fit <- sampled$visits
  coefficients <- tidy(fit, "detection", conf.int = TRUE)
  by_taxon <- coefficients[order(match(coefficients$taxon, colnames(fit$param$detection))), ]
  expect_equal(cbind(by_taxon$conf.low, by_taxon$conf.high), confint(fit), ignore_attr = TRUE)
  expect_equal(by_taxon$std.error, sqrt(diag(vcov(fit))), ignore_attr = TRUE)
  table <- tidy(fits$bmf, "quantities", conf.int = TRUE, conf.level = 0.9)
  expect_equal(table$conf.low, table$q5)
  # The approximate posterior of "vb" consists of Betas.
  table <- tidy(fits$vb, conf.int = TRUE)
  beta <- fits$vb$posterior
  expect_equal(table$conf.high, as.vector(t(qbeta(0.975, beta$one, beta$zero))))
  for (name in c("aspect_bernoulli", "logistic_pca", "nmf", "plsa", "plca", "noisy_or")) {
    expect_error(
      tidy(fits[[name]], conf.int = TRUE), "`conf.int` must be FALSE", class = "multicause_input_error"
    )
  }
  expect_error(tidy(fits$nmf, conf.level = 2), "`conf.level`", class = "multicause_input_error")
})

test_that("a mixture's standard errors and intervals are of one bootstrap", {
  fit <- fits_of_all()$bernoulli_mixture
  expect_false("std.error" %in% names(tidy(fit)))
  table <- with_seed(1, tidy(fit, conf.int = TRUE, conf.level = 0.9))
  ends <- with_seed(1, confint(fit, level = 0.9))[-(1:2), ]
  expect_equal(cbind(table$conf.low, table$conf.high), ends[as.vector(t(matrix(1:16, 2))), ], ignore_attr = TRUE)
  expect_equal(table$std.error, sqrt(diag(with_seed(1, vcov(fit))))[-(1:2)][as.vector(t(matrix(1:16, 2)))],
    ignore_attr = TRUE)
  expect_true(all(table$conf.high - table$conf.low > 0.01))
})

test_that("tidy() of visits has components and detection coefficients, each with its standard error", {
  visits <- fits_of_all()$visits$visits
  fit <- suppressMessages(visits_bernoulli(visits, 1, control = fit_control(n_start = 1, progress = FALSE)))
  table <- tidy(fit, conf.int = TRUE)
  expect_identical(unique(table$matrix), c("aspects", "detection"))
  expect_setequal(table$term, c(NA, rownames(fit$param$detection)))
  all <- sqrt(diag(vcov(fit, "all")))
  own <- table[table$matrix == "aspects", ]
  p <- own$estimate
  expect_equal(own$std.error, unname(all[paste0(own$taxon, ":A1")]) * p * (1 - p))
  expect_equal(own$conf.high, plogis(qlogis(p) + qnorm(0.975) * unname(all[paste0(own$taxon, ":A1")])))
  own <- table[table$matrix == "detection", ]
  expect_equal(cbind(own$conf.low, own$conf.high), confint(fit)[paste(own$taxon, own$term, sep = ":"), ],
    ignore_attr = TRUE)
  site <- data.frame(wet = rep(0:1, 10))
  follows <- suppressMessages(
    visits_bernoulli(visits, 2, communities = ~wet, site_data = site, control = fit_control(n_start = 1))
  )
  effects <- tidy(follows, "communities")
  expect_equal(effects$std.error, unname(sqrt(diag(vcov(follows, "communities")))[paste(
    effects$component, effects$term, sep = ":"
  )]))
})

test_that("augment() takes new sites, in any order of their taxa", {
  fits <- fits_of_all()
  x <- replace(fits$nmf$x, is.na(fits$nmf$x), 0)[1:3, 8:1]
  for (name in setdiff(names(fits), c("plca", "visits"))) {
    new <- if (name == "plsa") 3 * x else x
    table <- with_seed(1, augment(fits[[name]], newdata = new))
    mean <- with_seed(1, predict(fits[[name]], new))
    expect_equal(table$.fitted, as.vector(t(mean)), info = name)
    expect_identical(table$taxon, rep(colnames(x), 3), info = name)
    expect_identical(table$observed, as.vector(t(new)), info = name)
    expect_equal(table$.resid, table$observed - table$.fitted, info = name)
  }
  visits <- fits$visits$visits[1:3, , ]
  expect_identical(augment(fits$visits, newdata = visits)$observed, as.vector(t(apply(visits, 1:2, max))) + 0)
  expect_error(augment(fits$plca, newdata = fits$plca$x), "predict(fit, newdata)", fixed = TRUE,
    class = "multicause_input_error")
  expect_error(augment(fits$nmf, newdata = x, rows = 1), "must be NULL", class = "multicause_input_error")
})

test_that("cells of new data come without others, and a fit that was cut says so", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(augment(fit, data = x, newdata = x), "`data` and `rows` must be NULL with `newdata`.")
  refused(augment(fit, newdata = x, rows = 1), "`data` and `rows` must be NULL with `newdata`.")
  fit$dims <- NULL
  for (verb in list(augment, glance)) refused(verb(fit), "`x` must be a whole fit: it lacks its sizes, `x$dims`.")
})
