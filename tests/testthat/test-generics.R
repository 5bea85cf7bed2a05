# R's generics on fits: R/generics.R, R/base_generics.R.

skip_on_cran()

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
  refuses(deviance(fit), "supply the data as `x`")
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
    visits_bernoulli = c("vcov", "confint"), bernoulli_mixture = c("anova", "confint", "vcov"), noisy_or = "anova",
    bmf = "confint", vb = "confint"
  )
  for (name in names(fits)) {
    fit <- fits[[name]]
    for (generic in setdiff(c("vcov", "confint", "anova"), unlist(own[c(name, class(fit))]))) {
      refuses(match.fun(generic)(fit), paste0("^", generic, "\\(\\) is not there for a fit of "))
    }
    expect_true(any(paste0("simulate.", class(fit)) %in% as.character(utils::methods("simulate"))))
  }
})

test_that("explain(), tidy() and the like work whatever else is attached, in either order", {
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
    # An argument that requires a table reports it.
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

# Every class of tables of results that the package makes: the first word of `c("class", "data.frame")`.
classes_of_tables <- function() {
  namespace <- asNamespace("multicause")
  made_of <- function(f) {
    calls <- list()
    visit <- function(e) {
      if (is.call(e) && identical(e[[1L]], quote(c)) && any(vapply(as.list(e), identical, NA, "data.frame"))) {
        calls <<- c(calls, list(e[[2L]]))
      }
      if (is.call(e)) for (each in as.list(e)) if (!missing(each)) visit(each)
    }
    visit(body(f))
    calls
  }
  functions <- Filter(is.function, mget(ls(namespace, all.names = TRUE), namespace))
  found <- unlist(lapply(functions, made_of))
  unique(vapply(found, function(e) if (is.character(e)) e else deparse1(e), ""))
}

tables_of_results <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- make_tables_of_results()
    made
  }
})

make_tables_of_results <- function() {
  set.seed(1)
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)
  x <- simulated_sites$x[1:40, ]
  suppressWarnings(suppressMessages({
    w <- which_zeros(x, quick = TRUE, seed = 1, control = fit_control(progress = FALSE))
    fit <- aspect_bernoulli(x, 3, phantom = "white", control = few)
    visits <- lapply(1:3, function(v) x[, 1:10] * stats::rbinom(400, 1, 0.6))
    survey <- visits_bernoulli(visits, 1, detection = ~1, control = few)
    list(
      which_zeros_sums = by_site(w), sums_of_fit = by_taxon(fit),
      which_zeros_contrast = contrast(w, groups = rep(1:3, length.out = 40)), phantoms = phantoms(fit),
      false_absences = false_absences(fit), false_presences = false_presences(fit),
      of_visits = false_absences(survey), noisy_or_sources = sources(noisy_or(x, 2, control = few)),
      coherence = coherence(bernoulli_mixture(x, 2, control = few), n = 4), visits_needed = visits_needed(survey),
      visit_richness = occupied(survey), richness_of_taxa = occupied(survey, "taxon"),
      predictive_check = predictive_check(survey, nsim = 10)
    )
  }))
}

# The table without each of its columns, with each alone, renamed, of another type or unknown; without rows, without
# columns, and with a row of NA.
parts_of_table <- function(table) {
  each <- lapply(names(table), function(column) {
    other <- text <- unknown <- table
    names(other)[names(other) == column] <- "other"
    text[[column]] <- as.character(text[[column]])
    unknown[[column]] <- NA
    list(table[setdiff(names(table), column)], table[column], other, text, unknown)
  })
  c(unlist(each, recursive = FALSE), list(
    table[0L, ], table[character()], table[0L, 1L, drop = FALSE], table[c(1L, NA), ], utils::head(table, 0L),
    subset(table, FALSE), table[order(table[[1L]]), ]
  ))
}

test_that("tables of results print whatever is left of them", {
  tables <- tables_of_results()
  known <- classes_of_tables()
  expect_gt(length(known), 9L)
  expect_setequal(setdiff(known, c("anova", "paste0(\"false_\", of)")), setdiff(
    names(tables), c("sums_of_fit", "false_absences", "false_presences", "of_visits", "richness_of_taxa")
  ))
  for (name in names(tables)) {
    parts <- c(list(tables[[name]]), parts_of_table(utils::head(tables[[name]], 4L)))
    for (i in seq_along(parts)) {
      expect_silent(said <- utils::capture.output(back <- print(parts[[i]])))
      expect_identical(back, parts[[i]], info = name)
      expect_gt(length(said), 0L)
    }
  }
})

test_that("a table of phantoms without their kinds does not count them", {
  table <- tables_of_results()$phantoms
  expect_match(print_words(table), "Phantoms: 1 white")
  expect_no_match(print_words(table[setdiff(names(table), "kind")]), "phantom")
})

test_that("rows and columns of tables of results keep the words of the data", {
  x <- simulated_sites$x[1:40, 1:10]
  names(dimnames(x)) <- c("lake", "bird")
  set.seed(1)
  survey <- visits_bernoulli(list(x, x * stats::rbinom(400, 1, 0.7)), 1, missed_by = "visit",
    control = fit_control(n_start = 1, progress = FALSE))
  expect_match(print_words(occupied(survey)[1:3, c("site", "found")]), "lake +found")
})

test_that("figures of tables of results name the columns that they lack", {
  table <- tables_of_results()$visit_richness
  for (column in c("found", "expected", "low", "high")) {
    refuses(ggplot2::autoplot(table[setdiff(names(table), column)]), sprintf("it lacks \"%s\"", column))
  }
})

test_that("what users of data frames and of models try on a result of which_zeros() works or says what does", {
  w <- which_zeros(simulated_sites$x[1:40, ], quick = TRUE, seed = 1, control = fit_control(progress = FALSE))
  zeros <- as.data.frame(w)
  least <- 0.3
  expect_identical(subset(w, missed > least, c(site, missed)), subset(zeros, missed > least, c(site, missed)))
  expect_identical(subset(x = w, missed > least), subset(zeros, missed > least))
  expect_identical(subset(select = site, x = w), subset(zeros, select = site))
  expect_identical(w[1:3, ], zeros[1:3, ])
  expect_identical(w[2, "site"], zeros[2, "site"])
  expect_identical(w["presences"], list(presences = w$presences))
  expect_identical(w$prob, w$probability)
  expect_identical(predict(w), fitted(w))
  expect_identical(case.names(w), rownames(w$x))
  expect_identical(variable.names(w), colnames(w$x))
  expect_equal(dim(residuals(w)), c(40L, 40L))
  expect_equal(nobs(w), sum(!is.na(w$x)))
  expect_identical(dim(predict(w, w$x[1:2, ])), c(2L, 40L))
  for (column in setdiff(names(zeros), names(w))) {
    refuses(do.call(`$`, list(w, column)), sprintf("as\\.data\\.frame\\(w\\)\\$%s has it", column))
    refuses(w[[column]], "is a column of the zeros")
  }
  lacking <- list(
    confint = confint, vcov = vcov, logLik = logLik, deviance = deviance, df.residual = df.residual, sigma = sigma,
    anova = anova, extractAIC = extractAIC, simulate = simulate
  )
  shards <- structure(list(zeros = zeros), class = "which_zeros_shards")
  for (generic in names(lacking)) {
    refuses(lacking[[generic]](w), paste0("^", generic, "\\(\\) is not there for a result of which_zeros"))
    refuses(lacking[[generic]](shards), paste0("^", generic, "\\(\\) is not there for a result of which_zeros"))
  }
  for (generic in list(predict, fitted, residuals, coef)) refuses(generic(shards), "`files` has the probabilities")
  refuses(shards$missed, "is a column of the zeros")
  expect_identical(shards$zeros, zeros)
  # What names no part; and the reason is given once.
  for (part in list(character(), quote(f(x)), list(1), 1e3)) {
    refuses(w[[part]], "`[[` takes one part of the result, by its name or number", fixed = TRUE)
    refuses(shards[[part]], "`[[` takes one part of the result, by its name or number", fixed = TRUE)
  }
  refuses(w[w$missed > 0.5, ], "^`missed` is a column of the zeros")
  refuses(do.call(as.data.frame, list(w, site_data = 1)), "Unknown argument `site_data`", fixed = TRUE)
  part <- structure(list(dims = 1), class = c("nmf", "multicause"))
  for (verb in list(augment, glance)) refuses(verb(part), "a whole fit")
  refuses(tail(w, 1:3), "`n` must be", fixed = TRUE)
  refuses(AIC(w), "no likelihood")
  refuses(BIC(w), "no likelihood")
  expect_identical(subset(shards, missed > least), subset(zeros, missed > least))
  skip_if_not_installed("dplyr")
  verb <- function(name) getExportedValue("dplyr", name)
  expect_identical(verb("filter")(w, missed > least), verb("filter")(zeros, missed > least))
  expect_identical(verb("arrange")(w, site), verb("arrange")(zeros, site))
  expect_identical(verb("select")(w, site), verb("select")(zeros, site))
  expect_identical(verb("mutate")(w, a = rank), verb("mutate")(zeros, a = rank))
})

test_that("what has no plot says what has", {
  fit <- aspect_bernoulli(simulated_sites$x[1:40, 1:10], 2, phantom = "white", control = quiet_control(n_start = 1))
  refuses(plot(phantoms(fit)), "shows the components")
  refuses(plot(smooth_over(age = as.numeric(1:10))), "Neighbours have no plot")
  refuses(plot(denoise(fit)), "plot\\(fit\\) draws the components")
  planted <- corrupt(fit$x, omit = 0.2)
  refuses(plot(planted), "plot\\(recovery\\(fit, x\\)\\) draws how well")
  expect_s3_class(ggplot2::autoplot(recovery(fit, planted)), "ggplot")
  refuses(plot(coherence(fit, n = 3)), "plot\\(fit, \"top\"\\) draws")
  records <- data.frame(site = rep(c("a", "b"), each = 2), taxon = c("t1", "t2", "t2", "t3"))
  refuses(plot(shards(records, tempfile(), site = "site", taxon = "taxon")), "Shards have no plot")
})

test_that("rows of other results are those of their tables", {
  set.seed(1)
  cv <- suppressMessages(cross_validate(
    simulated_sites$x[1:40, ], 1:3, bernoulli_mixture, folds = 2, control = fit_control(n_start = 1, progress = FALSE)
  ))
  expect_identical(subset(cv, k > 1), subset(as.data.frame(cv), k > 1))
  expect_identical(cv[2:3, "loss"], as.data.frame(cv)[2:3, "loss"])
})

# Verbs named in a message, if they take only a fit.
verbs_named <- function(message) {
  named <- regmatches(message, gregexpr("[a-z_]+(?=\\()", message, perl = TRUE))[[1L]]
  takes_fit <- function(name) {
    namespace <- asNamespace("multicause")
    exists(name, namespace) && identical(names(formals(name, envir = namespace))[1L], "fit")
  }
  Filter(function(name) name == "simulate" || takes_fit(name), named)
}

test_that("confint() and vcov() of a model name no verb that refuses its fits", {
  set.seed(1)
  x <- simulated_sites$x[1:30, 1:12]
  quick <- mcmc_control(chains = 1, warmup = 20, draws = 40, progress = FALSE)
  few <- fit_control(n_start = 1, n_polish = 0, progress = FALSE)
  more <- suppressWarnings(suppressMessages(list(
    gibbs = aspect_bernoulli(x, 2, estimate = "gibbs", control = quick),
    plsa_vb = plsa(x, 2, estimate = "vb", control = few),
    plsa_gibbs = plsa(x, 2, estimate = "gibbs", control = quick), neighbours = neighbours_mean(x),
    recorded = noisy_or(x, 2, missed_by = "site", control = few),
    ensemble = ensemble(list(aspect_bernoulli(x, 1, control = few), aspect_bernoulli(x, 2, control = few)))
  )))
  fits <- c(fits_of_all(), more)
  named <- character()
  for (name in names(fits)) {
    for (generic in list(confint, vcov)) {
      said <- tryCatch(generic(fits[[name]]), multicause_input_error = conditionMessage)
      if (!is.character(said)) next
      for (verb in verbs_named(said)) {
        named <- c(named, verb)
        few_draws <- list(nsim = if (verb == "identifiability") 0 else 2)
        said_by <- suppressMessages(suppressWarnings(tryCatch(
          do.call(verb, c(list(fits[[name]]), few_draws)), error = conditionMessage
        )))
        expect_false(is.character(said_by), info = paste(name, verb, if (is.character(said_by)) said_by))
      }
    }
  }
  expect_setequal(named, c("bootstrap_draws", "posterior_draws", "identifiability", "simulate"))
})

test_that("draws from a posterior print, of one chain, too", {
  set.seed(1)
  quick <- mcmc_control(chains = 1, warmup = 20, draws = 40, progress = FALSE)
  fit <- suppressWarnings(suppressMessages(
    aspect_bernoulli(simulated_sites$x[1:30, 1:12], 2, estimate = "gibbs", control = quick)
  ))
  expect_match(print_words(posterior_draws(fit, 1)[[1L]]), "one draw from the posterior, log-likelihood -[0-9]")
})

test_that("explain() of a fit says what it is for", {
  for (fit in fits_of_all()) refuses(explain(fit), "zeros of a result of which_zeros")
})

test_that("edges of verbs: one taxon, named kinds, integer ages, data that were not kept", {
  set.seed(63)
  x <- matrix(rbinom(72, 1, 0.4), 12, dimnames = list(paste0("s", 1:12), paste0("t", 1:6)))
  few <- fit_control(n_start = 1, max_iter = 30, n_polish = 0, progress = FALSE)
  quiet <- function(expr) suppressWarnings(suppressMessages(expr))
  one <- quiet(logistic_pca(x[, 1, drop = FALSE], 1, control = few))
  expect_s3_class(align_components(one, one), "alignment")
  refuses(plot(align_components(one, one)), "has no figure: `plot\\(object\\$fit\\)`")
  expect_identical(nrow(coherence(quiet(logistic_pca(x * 0, 1, control = few)))), 0L)
  fit <- quiet(aspect_bernoulli(x, 2, control = few))
  missed <- function(kinds) sum(false_absences(fit, Inf, kinds = kinds)$missed)
  expect_equal(missed(c(A2 = "content", A1 = "white")), missed(c("white", "content")))
  near <- quiet(aspect_bernoulli(x, 2, smooth = smooth_over(age = 1:12, bandwidth = 3, strength = 5), control = few))
  expect_equal(curves(near, at = 1:3), curves(near, at = c(1, 2, 3)))
  apart <- quiet(bernoulli_mixture(x, 2, control = few,
    smooth = smooth_over(distance = dist(1:12), bandwidth = 1, strength = 5)))
  expect_identical(dim(predict(apart, along = list(distance = matrix(1:12, 1)))), c(1L, 6L))
  ages <- cbind(max = 1:12 + 1, min = 1:12)
  expect_equal(age_profile(fit, ages, of = "site"), age_profile(fit, rowMeans(ages), of = "site"))
  recorded <- quiet(noisy_or(x, 2, missed_by = "site", control = few))
  bare <- quiet(noisy_or(x, 2, missed_by = "site", control = fit_control(n_start = 1, keep_x = FALSE,
    progress = FALSE, max_iter = 30, n_polish = 0)))
  expect_identical(nrow(false_absences(bare, x = x)), nrow(false_absences(recorded)))
  expect_s3_class(by_site(bare, x = x), "data.frame")
})

test_that("bootstrap tables keep absent links and unknown cells", {
  set.seed(64)
  x <- matrix(rbinom(72, 1, 0.4), 12)
  quiet <- function(expr) suppressWarnings(suppressMessages(expr))
  few <- fit_control(n_start = 1, max_iter = 30, n_polish = 0, progress = FALSE)
  mask <- rbind(c(1, 1, 1, 0, 0, 0), c(0, 0, 0, 1, 1, 1))
  again <- quiet(bootstrap_draws(noisy_or(x, 2, mask = mask, control = few), 1))
  expect_true(all(again[[1]]$param$links[mask == 0] == 0))
  cells <- as.data.frame.table(array(rpois(60, 3), c(5, 4, 3)), responseName = "count")
  cells$count[4] <- NA
  fit <- quiet(plca(cells, 2, control = few))
  expect_equal(quiet(bootstrap_draws(fit, 1))[[1]]$dims[["observed"]], fit$dims[["observed"]])
  one <- matrix(0, 4, 3)
  one[2, 2] <- 1
  start <- list(prior = c(0.2, 0.2), links = matrix(0.3, 2, 3), leak = rep(0.1, 3), q = array(0.5, c(4, 3, 2)))
  expect_s3_class(quiet(noisy_or(one, 2, inference = "variational", start = start, control = few)), "noisy_or")
})

test_that("a generic that a fit lacks names another", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  fit <- aspect_bernoulli(x, 2, control = brief)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(sigma(fit), paste(
    "sigma() is not there for a fit of aspect_bernoulli(): no spread of residuals is part of it; deviance() measures",
    "its distance from the data."
  ))
  refused(vcov(plsa(x, 2, control = brief)),
    "vcov() is not there for a fit of plsa(): bootstrap_draws() refits tables drawn from it.")
  refused(confint(nmf(x, 2, loss = "euclidean", control = brief)),
    "confint() is not there for a fit of nmf(): fit samples of the rows by update(fit, x = ).")
})
