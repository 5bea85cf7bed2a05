# Generics of R on fits: R/generics.R.

refuses <- function(expr, ...) expect_error(expr, ..., class = "multicause_input_error")

test_that("deviance() is that of the fitted cells, for every model", {
  fits <- fits_of_all()
  for (name in names(fits)) {
    fit <- fits[[name]]
    expect_equal(deviance(fit), sum(residuals(fit, type = "deviance")^2, na.rm = TRUE), info = name)
    expect_gte(deviance(fit), 0)
  }
  expect_error(deviance(fits[[1L]], newdata = 1), "newdata", class = "multicause_input_error")
})

test_that("deviance(), df.residual() and extractAIC() agree with logLik()", {
  truth <- planted(30, 8)
  set.seed(1)
  fit <- aspect_bernoulli(truth$x, 2, estimate = "ml", control = fit_control(n_start = 2, keep_x = FALSE))
  expect_equal(deviance(fit, x = truth$x), -2 * as.numeric(logLik(fit)), tolerance = 1e-8)
  expect_equal(df.residual(fit), nobs(fit) - fit$df)
  expect_equal(extractAIC(fit), c(fit$df, AIC(fit)))
  expect_equal(extractAIC(fit, k = 3)[2L], AIC(fit, k = 3))
  refuses(deviance(fit), "give the data as `x`")
  map <- update(fit, x = truth$x, estimate = "map")
  expect_equal(df.residual(map), df.residual(fit))
  expect_equal(extractAIC(map), c(map$df, AIC(map)))
  vb <- update(fit, x = truth$x, estimate = "vb")
  refuses(df.residual(vb), "df.residual\\(\\) needs a fit that maximised its likelihood")
  refuses(extractAIC(vb), "extractAIC\\(\\) needs")
})

test_that("case.names() and variable.names() are those of the table", {
  x <- matrix(c(1, 0, 0, 1, 1, 1), 3, dimnames = list(c("a", "b", "c"), c("t1", "t2")))
  fit <- suppressMessages(bernoulli_mixture(x, 1, control = fit_control(n_start = 1)))
  expect_equal(case.names(fit), rownames(x))
  expect_equal(variable.names(fit), colnames(x))
  expect_equal(case.names(suppressMessages(bernoulli_mixture(unname(x), 1))), c("1", "2", "3"))
})

test_that("what a model has none of says what to use", {
  fits <- fits_of_all()
  own <- list(
    visits_bernoulli = c("vcov", "confint"), bernoulli_mixture = c("anova", "confint", "vcov"), noisy_or = "anova"
  )
  for (fit in fits) {
    for (generic in setdiff(c("vcov", "confint", "anova"), unlist(own[class(fit)]))) {
      refuses(match.fun(generic)(fit), paste0("^", generic, "\\(\\) is not there for a fit of "))
    }
    expect_true(any(paste0("simulate.", class(fit)) %in% as.character(utils::methods("simulate"))))
  }
})

test_that("explain(), tidy() and the like work whatever else is attached, in either order", {
  skip_on_cran()
  skip_if_not_installed_here()
  packages <- Filter(function(package) nzchar(system.file(package = package)), c("generics", "dplyr"))
  said <- run_child(c(
    "library(multicause)",
    "w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)",
    "first <- as.data.frame(w, n = 1)",
    "of <- function() cat(class(explain(w, first$site, first$taxon)), class(tidy(w)), class(glance(w)), fill = TRUE)",
    sprintf("for (package in c(%s)) {", paste(dQuote(packages, FALSE), collapse = ", ")),
    "  suppressMessages(library(package, character.only = TRUE)); of()",
    "  detach(\"package:multicause\"); suppressMessages(library(multicause)); of()",
    "}"
  ))
  table <- paste(class(as_tidy(data.frame(a = 1))), collapse = " ")
  expect_identical(said, rep(paste("zero_explained", table, table), 2L * length(packages)))
})

test_that("update() takes no formula", {
  fit <- fits_of_all()
  refuses(update(fit$bernoulli_mixture, . ~ .), "Models here have no formula.*update\\(fit, k = 3\\)")
  refuses(update(fit$bmf, . ~ . - t1), "no formula")
  refuses(update(fit$bernoulli_mixture, 3), "by name")
})

test_that("a fit is a list without dimensions, whoever asks", {
  for (fit in fits_of_all()) {
    expect_null(dim(fit))
    expect_null(nrow(fit))
    expect_false(is.matrix(fit))
    expect_identical(NROW(fit), length(unclass(fit)))
    expect_identical(names(head(fit, 2)), names(fit)[1:2])
    expect_output(str(fit, max.level = 1, give.attr = FALSE), "param")
    expect_gt(nrow(as.data.frame(fit)), 0)
    # An argument that wants a table says so itself.
    refuses(aspect_bernoulli(fit, 2), "`x` must be a matrix or data frame")
  }
})

test_that("what R's own generics would get wrong is right, or says why not", {
  fits <- fits_of_all()
  for (fit in fits) {
    refuses(sigma(fit), "^sigma\\(\\) is not there for a fit of ")
  }
  set.seed(2)
  quick <- mcmc_control(chains = 1, warmup = 30, draws = 60, n_start = 2, n_reheat = 1, progress = FALSE)
  noisy <- outer(rep(0:1, each = 15), rep(c(0, 2), 5)) + stats::rnorm(300, sd = 0.3)
  expect_equal(sigma(bmf(noisy, control = quick)), 0.3, tolerance = 0.2)
})

test_that("an answer of which_zeros() has what generics ask for", {
  w <- which_zeros(simulated_sites$x[1:60, ], quick = TRUE, seed = 1)
  each <- augment(w)
  expect_identical(as.vector(t(fitted(w))), each$.fitted)
  expect_identical(as.vector(residuals(w)), as.vector(w$x - fitted(w)))
  odds <- coef(w)[["(Intercept)"]] + sum(coef(w)[names(w$odds)] * unlist(cell_columns(w$odds, 1L, 60L)))
  expect_equal(unname(stats::plogis(odds)), unname(fitted(w)[1L]))
  expect_equal(nobs(w), sum(!is.na(w$x)))
  whole <- as.data.frame(w)
  for (n in c(4, 0, 3 - nrow(whole))) {
    expect_identical(head(w, n), head(whole, n))
    expect_identical(tail(w, n), tail(whole, n))
  }
  expect_identical(as.data.frame(w, n = 0), whole[0, ])
})

test_that("a fit to shards has what needs nothing of the cells as a fit in memory", {
  x <- planted_table(60, 12, missing = 0)
  few <- fit_control(n_start = 2, progress = FALSE)
  set.seed(1)
  fit <- bernoulli_mixture(shards(x, tempfile("shards-"), size = 20), 2, control = few)
  expect_identical(as.data.frame(fit), as.data.frame(tidy(fit)))
  refuses(sigma(fit), "^sigma\\(\\) is not there")
  for (verb in c("augment", "explore", "plot")) {
    refuses(match.fun(verb)(fit), paste0("^", verb, "\\(\\) is not there for a fit to shards: fit some rows"))
  }
})
