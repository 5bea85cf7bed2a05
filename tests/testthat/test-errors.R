# Wrong calls and their messages. Snapshots: _snaps/errors.md. Tests R/check.R, R/fit_control.R.

said <- function(expr) {
  tryCatch(
    {
      suppressMessages(expr)
      "NO ERROR"
    },
    multicause_input_error = function(e) conditionMessage(e),
    error = function(e) paste("OTHER ERROR:", conditionMessage(e))
  )
}

x <- matrix(c(1, 0, 0, 1, 1, 1), 3, dimnames = list(c("a", "b", "c"), c("t1", "t2")))
start <- list(membership = matrix(0.5, 3, 2), aspects = matrix(c(0.2, 0.8, 0.7, 0.3), 2))
ab <- function(...) aspect_bernoulli(...)
cells <- function(value, at = 2) {
  x[at] <- value
  x
}

test_that("wrong data", {
  expect_snapshot({
    writeLines(said(ab("a", 2)))
    writeLines(said(ab(1:3, 2)))
    writeLines(said(ab(list(1), 2)))
    writeLines(said(ab(x[0, ], 2)))
    writeLines(said(ab(array(0, c(2, 2, 2)), 2)))
    writeLines(said(ab(matrix(c("0", "1"), 1), 2)))
    writeLines(said(ab(cells(2), 2)))
    writeLines(said(ab(cells(0.5), 2)))
    writeLines(said(ab(cells(-1), 2)))
    writeLines(said(ab(cells(Inf), 2)))
    writeLines(said(ab(unname(cells(7)), 2)))
    writeLines(said(ab(Matrix::Matrix(cells(3), sparse = TRUE), 2)))
    writeLines(said(ab(x[c(1, 1, 2), ], 2)))
    writeLines(said(ab(x[, c(1, 1)], 2)))
    writeLines(said(ab(structure(x, dimnames = list(c("a", "", "c"), NULL)), 2)))
    writeLines(said(ab(data.frame(t1 = 0:1, t2 = c("x", "y")), 2)))
    writeLines(said(ab(data.frame(site = c("u", "u"), t1 = 0:1), 2)))
    writeLines(said(ab(data.frame(t1 = factor(0:1), t2 = factor(0:1)), 2)))
    writeLines(said(ab(data.frame(t1 = 0:1, t2 = c("0", " 1")), 2)))
    writeLines(said(ab(matrix(c("0", "1"), 2, 2), 2)))
  })
})

test_that("wrong settings of a model", {
  expect_snapshot({
    writeLines(said(ab(x, 0)))
    writeLines(said(ab(x, 1.5)))
    writeLines(said(ab(x, "2")))
    writeLines(said(ab(x, c(2, 3))))
    writeLines(said(ab(x, NA)))
    writeLines(said(ab(x, 1, phantom = "white")))
    writeLines(said(ab(x, 2, phantom = "both")))
    writeLines(said(ab(x, 2, phantom = "grey")))
    writeLines(said(ab(x, 2, estimate = "bayes")))
    writeLines(said(ab(x, 2, n_start = 4)))
    writeLines(said(ab(x, 2, 3)))
    writeLines(said(ab(x, 2, control = list(n_start = 4))))
    writeLines(said(ab(x, 2, estimate = "map", prior = c(1, 1))))
    writeLines(said(ab(x, 2, estimate = "map", prior = list(aspects = c(0.5, 2), membership = 1))))
    writeLines(said(ab(x, 2, estimate = "map", prior = list(aspects = c(1, 2), membership = 0))))
    writeLines(said(fit_control(n_start = 0)))
    writeLines(said(fit_control(tol = -1)))
    writeLines(said(fit_control(max_iter = Inf)))
    writeLines(said(fit_control(accelerate = "yes")))
    writeLines(said(fit_control(init = "none")))
    writeLines(said(fit_control(iterations = 10)))
  })
})

test_that("unknown arguments are told, with the nearest that there is", {
  w <- function(...) which_zeros(x, ...)
  expect_snapshot({
    writeLines(said(ab(x, 2, chains = 4)))
    writeLines(said(ab(x, 2, sedd = 1, seed = 1)))
    writeLines(said(ab(x, 2, phnatom = "white")))
    writeLines(said(ab(x, 2, phantom = "whit")))
    writeLines(said(w(agee = 1:3)))
    writeLines(said(explain(w(quick = TRUE, seed = 1), site = 1, taxa = 1)))
  })
})

test_that("an unknown argument that is a setting is sent to `control`, by the function that has it", {
  counts <- matrix(2, 6, 4)
  refuses <- function(expr, way) {
    expect_error(expr, sprintf(": it is a setting, `control = %s`.", way), fixed = TRUE,
      class = "multicause_input_error")
  }
  for (setting in setdiff(names(formals(fit_control)), "...")) {
    for (model in list(ab, plsa, nmf, bernoulli_mixture, which_zeros, visits_bernoulli)) {
      refuses(do.call(model, c(list(x, 2), stats::setNames(list(1), setting))),
        sprintf("fit_control(%s = )", setting))
    }
  }
  for (model in list(ab, plsa, bmf)) refuses(model(counts, k = 2, draws = 5), "mcmc_control(draws = )")
  refuses(bmf(counts, n_threads = 2), "mcmc_control(n_threads = )")
  for (model in list(nmf, logistic_pca)) { # which have no chains
    expect_error(model(counts, 2, draws = 5), "this function takes", class = "multicause_input_error")
  }
})

test_that("counts that are nothing beside any sum are refused, wherever they are", {
  counts <- matrix(1:20, 5)
  for (tiny in c(5e-324, 1e-310, 1e-150)) {
    for (model in list(plsa, nmf, plca)) {
      expect_error(
        model(replace(counts, 7, tiny), 2), "must have no values between 0 and 1e-100", class = "multicause_input_error"
      )
    }
  }
})

test_that("wrong starts", {
  with <- function(...) utils::modifyList(start, list(...))
  expect_snapshot({
    writeLines(said(ab(x, 2, start = 1)))
    writeLines(said(ab(x, 2, start = list(membership = start$membership))))
    writeLines(said(ab(x, 3, start = start)))
    writeLines(said(ab(x, 2, start = with(aspects = t(start$aspects)[, 1, drop = FALSE]))))
    writeLines(said(ab(x, 2, start = with(membership = start$membership * 1.1))))
    writeLines(said(ab(x, 2, start = with(aspects = start$aspects + 0.5))))
    writeLines(said(ab(x, 2, start = with(aspects = start$aspects * NA))))
    writeLines(said(ab(x, 2, start = with(aspects = start$aspects * 0))))
    writeLines(said(ab(x, 2, phantom = "white", start = start)))
  })
})

test_that("weights of a start that are no numbers, a prior without names", {
  x <- matrix(0:1, 4, 2)
  for (weights in list(NULL, mean, "a", 1)) {
    start <- list(weights = weights, prototypes = matrix(0.5, 2, 2))
    words <- "`start$weights` must be 2 numbers"
    expect_error(bernoulli_mixture(x, 2, start = start), words, class = "multicause_input_error", fixed = TRUE)
  }
  expect_error(noisy_or(x, 2, prior = as.list(1:8)), "noisy_or_prior\\(\\)", class = "multicause_input_error")
})

test_that("wrong calls of what takes a fit", {
  fit <- suppressMessages(ab(x, 2, start = start, control = plain(5)))
  expect_snapshot({
    writeLines(said(phantoms(x)))
    writeLines(said(phantoms(fit, white = 1)))
    writeLines(said(phantoms(fit, limit = 0.1)))
    writeLines(said(false_absences(x)))
    writeLines(said(false_absences(fit, n = 0)))
    writeLines(said(false_absences(fit, by = "p")))
    writeLines(said(false_absences(fit, per = "cell")))
    writeLines(said(false_absences(fit, top = 3)))
    writeLines(said(false_absences(fit, site = "z")))
    writeLines(said(false_absences(fit, taxon = 3)))
    writeLines(said(false_absences(fit, within = x)))
    writeLines(said(false_absences(fit, within = x[, 1, drop = FALSE] == 1)))
    writeLines(said(false_absences(fit, within = `rownames<-`(x == 1, c("a", "b", "z")))))
    writeLines(said(false_absences(fit, site_data = 1:3)))
    writeLines(said(false_absences(fit, site_data = data.frame(age = 1:3))))
    writeLines(said(false_absences(fit, site_data = data.frame(name = c("a", "b", "c", "b")))))
    writeLines(said(false_absences(fit, kinds = "white")))
    writeLines(said(false_presences(fit, by = "missed")))
    writeLines(said(denoise(fit, drop = "grey")))
    writeLines(said(denoise(fit, keep = "all")))
    writeLines(said(age_profile(fit)))
    writeLines(said(age_profile(fit, letters)))
    writeLines(said(age_profile(fit, 1:7)))
    writeLines(said(age_profile(fit, c(a = 1, b = Inf, c = 2))))
    writeLines(said(age_profile(fit, c(t1 = 1), of = "taxon")))
    writeLines(said(age_profile(fit, c(NA, 1), of = "taxon")))
    writeLines(said(predict(fit, type = "link")))
    writeLines(said(predict(fit, x[, 1, drop = FALSE])))
    writeLines(said(predict(fit, cells(2))))
    writeLines(said(predict(fit, rows = 4)))
    writeLines(said(predict(fit, newdata = x, n = 3)))
    writeLines(said(fitted(fit, type = "cell")))
    writeLines(said(residuals(fit, "working")))
    writeLines(said(simulate(fit, nsim = 0)))
    writeLines(said(simulate(fit, seed = "a")))
    writeLines(said(test_loglik(fit)))
    writeLines(said(test_loglik(fit, x, floor = 2)))
    writeLines(said(test_loglik(fit, x[, c(1, 1)])))
    writeLines(said(summary(fit, digits = 3)))
    writeLines(said(coef(fit, 1)))
  })
})

test_that("columns of data frames are plain numbers, or said not to be", {
  frame <- data.frame(a = c(1, 0, 1), b = c(0, 1, 1))
  long <- structure(c(0, 4.940656e-324, 0), class = "integer64")
  twice <- data.frame(site = c("u", "v", "w"), a = c(1, 0, 1), a = c(0, 1, 1), check.names = FALSE)
  inside <- frame
  inside$both <- as.matrix(frame)
  expect_snapshot({
    writeLines(said(ab(structure(cbind(long, long), class = "integer64"), 2)))
    writeLines(said(ab(twice, 2)))
    writeLines(said(ab(inside, 2)))
    writeLines(said(ab(data.frame(site = c("u", NA, "w"), frame), 2)))
    writeLines(said(ab(cbind(frame, site = c("u", "v", "w")), 2)))
  })
})

test_that("an argument that was not given is named", {
  ours <- getNamespaceExports("multicause")
  generics <- c("tidy", "glance", "augment", "explain", "explore") # of package generics
  without <- c(
    generics, "fit_control", "mcmc_control", "bmf_prior", "cross_entropy", "noisy_or_prior", "smooth_over",
    "report_format"
  )
  for (name in setdiff(ours, without)) {
    expect_error(get(name)(), "must be supplied", class = "multicause_input_error", info = name)
  }
  for (model in list(plsa, plca, noisy_or)) {
    expect_error(model(x), "`k` must be supplied", class = "multicause_input_error")
  }
  expect_error(cross_validate(x, model = nmf), "`k` must be supplied", class = "multicause_input_error")
  expect_error(cross_validate(x), "`model` must be supplied", class = "multicause_input_error")
})

test_that("a start that is no list, a number too large, features that are no numbers", {
  expect_error(bernoulli_mixture(x, 2, start = 1), "`start` must be list", class = "multicause_input_error")
  expect_error(ab(x, 1e10), "from 1 to 2147483647", class = "multicause_input_error")
  expect_error(select_k(x, 1e10), "different whole numbers", class = "multicause_input_error")
  expect_error(bmf(x, fixed = list(rows = "a")), "vector or matrix of 0 and 1", class = "multicause_input_error")
})

test_that("arguments of a wrong kind, and data beyond all sums, are told in words of ours", {
  age <- array(c(1, 2, 3), c(3, 1, 1))
  twice <- data.frame(site = c("u", "u"), taxon = "t", n = 1e308)
  expect_snapshot({
    writeLines(said(range_through(x, age)))
    writeLines(said(range_through(x, data.frame(a = I(cbind(1:3, 1:3))))))
    writeLines(said(smooth_over(age = 1:3, bandwidth = function(x) x)))
    writeLines(said(nmf(1e300 * x, 2)))
    writeLines(said(nmf(1e-200 * x, 2)))
    writeLines(said(plsa(1e300 * x, 2)))
    writeLines(said(plca(1e300 * x, 2)))
    writeLines(said(logistic_pca(x, 2, penalty = c(1, NA))))
    writeLines(said(logistic_pca(x, 2, penalty = c(1, -1))))
    writeLines(said(logistic_pca(x, 2, penalty = c(1, 1))))
    writeLines(said(ab(x, 2, estimate = "map", prior = list(list(aspects = c(1, 2), membership = 0)))))
    writeLines(said(occurrence_matrix(twice, "site", "taxon", count = "n")))
  })
})

test_that("a control that was edited is checked as it was when it was made", {
  edit <- function(...) {
    control <- fit_control(n_start = 1, progress = FALSE)
    control[...names()] <- list(...)
    control
  }
  short <- mcmc_control(chains = 1, warmup = 1, draws = 2, progress = FALSE)
  short$draws <- -1
  expect_snapshot({
    writeLines(said(ab(x, 2, control = edit(tol = NULL))))
    writeLines(said(ab(x, 2, control = edit(tol = NaN))))
    writeLines(said(ab(x, 2, control = edit()["n_start"])))
    writeLines(said(ab(x, 2, control = structure(edit()[-1], class = "multicause_control"))))
    writeLines(said(ab(x, 2, control = edit(n_start = "a"))))
    writeLines(said(ab(x, 2, control = edit(iteration = 3))))
    writeLines(said(ab(x, 2, control = structure(1, class = "multicause_control"))))
    writeLines(said(bmf(x, control = short)))
  })
})

test_that("values of a wrong type are told by their type", {
  expect_error(ab(x, factor(2)), "`k` must be one whole number of at least 1, not a factor of length 1.", fixed = TRUE,
    class = "multicause_input_error")
  expect_error(ab(x, 2, estimate = factor("ml")), "not a factor of length 1.", fixed = TRUE,
    class = "multicause_input_error")
  visits <- list(site = c("a", "b"), taxon = c("c", "d"), visit = 1:2)
  expect_error(visits_bernoulli(array(1i, c(2, 2, 2), visits), 1), "not a complex array of 2 x 2 x 2.", fixed = TRUE,
    class = "multicause_input_error")
})

test_that("what is no data is told of, never evaluated", {
  for (features in list(globalenv(), sum, list(1), "a", array(1, c(2, 2, 2)))) {
    expect_error(bmf(x, fixed = list(rows = features)), "must be a vector or matrix", class = "multicause_input_error")
  }
  control <- fit_control()
  control$tol <- quote(stop("evaluated"))
  expect_error(ab(x, 2, control = control), "`tol` must be one number", class = "multicause_input_error")
  few <- fit_control(n_start = 1, progress = FALSE)
  average <- suppressMessages(ensemble(list(nmf = ab(x, 1, control = few), ab(x, 1, control = few))))
  expect_error(predict(average, quote(stop("evaluated"))), "`newdata` must be", class = "multicause_input_error")
  expect_error(smooth_over(neighbours = 1), "`neighbours` must be a list or a square", class = "multicause_input_error")
})

test_that("long names and texts are cut in messages", {
  many <- strrep("n", 1e5)
  expect_lt(nchar(said(ab(many, 2))), 300)
  expect_lt(nchar(said(ab(x, 2, estimate = many))), 300)
  expect_lt(nchar(said(ab(matrix(2, 1, 1, dimnames = list(many, many)), 2))), 400)
  expect_lt(nchar(said(ab(matrix(0, 2, 1, dimnames = list(c(many, many), "a")), 2))), 300)
})

test_that("names that R cannot read are refused where they come in", {
  named <- function(name) matrix(c(1, 0, 1, 1), 2, dimnames = list(NULL, c("a", name)))
  bytes <- "caf\xe9"
  Encoding(bytes) <- "bytes"
  expect_match(said(ab(named(bytes), 1)), "must be text that can be read: that of column 2 is not")
  presences <- data.frame(site = c("a", "b"), taxon = c("x", bytes))
  expect_match(said(occurrence_matrix(presences, "site", "taxon")), "row 2 of \"taxon\" cannot", fixed = TRUE)
  skip_if_not(l10n_info()[["UTF-8"]], "not UTF-8")
  expect_match(said(ab(named("caf\xe9"), 1)), "that of column 2 is not")
})

test_that("text that cannot be read is no choice, and no near one", {
  expect_length(near_words("a", c("caf\xe9", "b\xff")), 0)
  skip_if_not(l10n_info()[["UTF-8"]], "not UTF-8")
  expect_match(said(corrupt(x, 0.1, per = "caf\xe9")), "^`per` must be one of \"site\", \"cell\", not ")
  expect_match(said(nmf(x, 1, loss = "caf\xe9")), "^`loss` must be one of ")
})

test_that("a column that numbers the rows is told from counts", {
  numbered <- data.frame(plot = 1:6, a = c(0, 1, 1, 0, 1, 1), b = 1)
  expect_match(said(ab(numbered, 1)), "number the rows? Then leave it out, `x[, colnames(x) != \"plot\"]`.",
    fixed = TRUE)
  expect_match(said(ab(as.matrix(numbered) * 2, 1)), "leave it out", fixed = TRUE)
  expect_match(said(ab(cbind(a = c(0, 1, 2, 3, 4, 5)), 1)), "For counts", fixed = TRUE)
  # Counts of pots that happen to be distinct and positive, in the first column and in another.
  pots <- data.frame(a = c(57, 116, 27, 28, 60), b = c(2, 5, 3, 1, 9), c = c(0, 4, 2, 0, 2))
  expect_match(said(ab(pots, 1)), "is 57. For counts", fixed = TRUE)
  expect_match(said(ab(cbind(c = pots$c > 0, pots[1:2]), 1)), "is 57. For counts", fixed = TRUE)
  graves <- cbind(type = c(2, 4, 5, 7, 8), pots)
  expect_match(said(ab(graves, 1)), "Then leave it out, `x[, colnames(x) != \"type\"]`", fixed = TRUE)
  expect_match(said(ab(methods::as(as.matrix(pots), "dgCMatrix"), 1)), "is 57. For counts", fixed = TRUE)
})

test_that("amounts and visits are told what to do with them", {
  percent <- cbind(birch = c(15.1, 0, 3), pine = c(0, 51.8, 2))
  expect_match(said(ab(percent, 1)), "For amounts, such as percentages or cover", fixed = TRUE)
  expect_no_match(said(ab(cbind(birch = c(-1.5, 0, 3)), 1)), "For amounts", fixed = TRUE)
  expect_match(said(which_zeros(array(0, c(3, 2, 2)))), "which_zeros(visits = )", fixed = TRUE)
})

test_that("a unit or a title is text that can be read", {
  expect_match(said(check_text("a\xff", "unit", 1L)), "^`unit` must be text that can be read: convert it by iconv")
  expect_identical(said(check_text(c("\u00e9", "a"), "notes")), "NO ERROR")
  expect_match(said(check_text(2, "unit", 1L)), "^`unit` must be one string or NULL, not 2")
})

test_that("names that other packages use lead to the argument, and long lists of arguments stay in the help", {
  expect_match(said(ab(x, 1, maxit = 5)), "it is a setting, `control = fit_control\\(max_iter = \\)`")
  expect_match(said(ab(x, 1, n_start = 5)), "it is a setting, `control = fit_control\\(n_start = \\)`")
  expect_identical(said(fit_control(maxiter = 5)), "Unknown argument `maxiter`: did you mean `max_iter`?")
  expect_match(said(mcmc_control(chains = 2^31 - 1)), "`chains` must be one whole number from 1 to 1000000")
  mixture <- suppressMessages(bernoulli_mixture(x, 1))
  expect_match(said(vcov(mixture, nsim = 2^31 - 1)), "`nsim` must be one whole number from 19 to 1000000")
  expect_identical(said(nmf(x, 2, seed = 1)), "Unknown argument `seed`: call `set.seed()` before.")
  expect_match(said(which_zeros(x, k = 4)), "`k`: the number of components is chosen by the function itself.")
  expect_match(said(which_zeros(x, foo_bar = 4)), "the help page lists the arguments.")
})

test_that("more sweeps than can be counted are refused", {
  expect_error(mcmc_control(draws = 1e6, thin = 1e6),
    "`draws` times `thin` must be at most 2147483647, not 1000000000000.", fixed = TRUE,
    class = "multicause_input_error")
})

test_that("compute profiles are refused without package mirai", {
  without_packages("mirai")
  expect_error(fit_control(cluster = "profile"), "Compute profiles as `cluster` need package mirai.", fixed = TRUE,
    class = "multicause_input_error")
})

test_that("a screen is a flag or a number of iterations", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(fit_control(screen = "no"), "`screen` must be TRUE, FALSE or a number of iterations, not \"no\".")
})
