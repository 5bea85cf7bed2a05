skip_on_cran()

test_that("fitted values and the posterior of single cells", {
  set.seed(1)
  x <- binary(7, 5, missing = 0.2)
  dimnames(x) <- list(letters[1:7], LETTERS[1:5])
  start <- random_start(7, 5, 3)
  fit <- fit_with(x, start$membership, start$aspects)
  expect_equal(unname(fitted(fit)), start$membership %*% start$aspects)
  expect_equal(dimnames(fitted(fit)), dimnames(x))
  expect_identical(predict(fit), fitted(fit))
  expect_identical(predict(fit, type = "membership"), fit$param$membership)
  cell <- predict(fit, type = "cell")
  expect_equal(dimnames(cell), list(letters[1:7], LETTERS[1:5], c("A1", "A2", "A3")))
  for (i in 1:7) {
    for (j in 1:5) {
      want <- ref_cell(x[i, j], start$membership[i, ], start$aspects[, j])
      expect_equal(unname(cell[i, j, ]), want)
    }
  }
  expect_equal(predict(fit, type = "cell", rows = c("c", "a")), cell[c("c", "a"), , ])
  expect_equal(predict(fit, rows = 4), fitted(fit)[4, , drop = FALSE])
})

test_that("new rows are folded in to the optimum, certified", {
  case <- small_fit()
  set.seed(2)
  new <- binary(6, 8, missing = 0.15)
  got <- predict(case$fit, new, type = "membership", control = fit_control(max_iter = 5000, tol = 1e-12))
  a <- pmin(pmax(case$fit$param$aspects, 1e-10), 1 - 1e-10)
  want <- ref_fold_in(new, a, 3000)
  gap <- attr(got, "certificate")
  expect_named(gap, c("membership_gap", "worst_row"))
  expect_lt(gap[["membership_gap"]], 1e-5)
  expect_gt(ref_loglik(new, got, a), ref_loglik(new, want, a) - 1e-5)
  expect_lt(ref_loglik(new, want, a), ref_loglik(new, got, a) + gap[["membership_gap"]] + 1e-9)
  expect_equal(unname(rowSums(got)), rep(1, 6))
  expect_equal(predict(case$fit, new), unname(matrix(got, 6) %*% a), ignore_attr = TRUE, tolerance = 1e-4)
  cell <- predict(case$fit, new, type = "cell", rows = 2)
  expect_equal(cell[1, 3, ], ref_cell(new[2, 3], got[2, ], a[, 3]), tolerance = 1e-5)
})

test_that("the training rows come back where they were fitted well", {
  case <- small_fit()
  again <- predict(case$fit, case$x, type = "membership")
  expect_lt(attr(again, "certificate")[["membership_gap"]], 1e-3)
  a <- case$fit$param$aspects
  expect_gt(ref_loglik(case$x, again, pmin(pmax(a, 1e-10), 1 - 1e-10)), case$fit$loglik - 1e-3)
  expect_equal(again, case$fit$param$membership, tolerance = 0.01, ignore_attr = TRUE)
})

test_that("columns are matched by name, any form of data will do", {
  case <- small_fit()
  new <- case$x[1:5, ]
  base <- predict(case$fit, new)
  expect_equal(predict(case$fit, new[, 8:1]), base[, 8:1], ignore_attr = "certificate")
  expect_equal(predict(case$fit, as.data.frame(new)), base)
  expect_equal(
    predict(case$fit, Matrix::Matrix(new[, c(3:8, 1:2)], sparse = TRUE)), base[, c(3:8, 1:2)],
    ignore_attr = "certificate"
  )
  expect_equal(predict(case$fit, unname(new)), unname(base), ignore_attr = TRUE)
  expect_error(predict(case$fit, new[, -2]), "lacks 1 column.*genus2", class = "multicause_input_error")
  wrong <- new
  colnames(wrong)[1] <- "yeti"
  expect_error(predict(case$fit, wrong), "lacks 1 column", class = "multicause_input_error")
  more <- cbind(new, yeti = 0)
  expect_error(predict(case$fit, more), "unknown to the fit: \"yeti\"", class = "multicause_input_error")
})

test_that("a row with nothing observed gets the mean membership, and a message", {
  case <- small_fit()
  new <- rbind(case$x[1, ], NA)
  expect_message(got <- predict(case$fit, new, type = "membership"), "The mean membership goes to 1 row of .*: \"2\"")
  expect_equal(got[2, ], colMeans(case$fit$param$membership))
})

test_that("rows that exact zeros and ones make impossible are predicted all the same", {
  x <- cbind(binary(12, 4), 0, 1)
  set.seed(3)
  fit <- quiet(x, 2, start = random_start(12, 6, 2), control = plain(3))
  got <- predict(fit, matrix(c(1, 0, 1, 0, 1, 0), 1), type = "cell")
  expect_true(all(is.finite(got)))
  expect_equal(apply(got, 1:2, sum), matrix(1, 1, 6), ignore_attr = TRUE)
})

test_that("a MAP fit folds in with its prior", {
  set.seed(4)
  x <- binary(15, 6)
  fit <- aspect_bernoulli(x, 2, estimate = "map", prior = list(aspects = c(1.2, 2), membership = 2))
  got <- predict(fit, x[1:3, ], type = "membership")
  s <- matrix(0.5, 3, 2)
  for (p in 1:3000) s <- ref_memberships(x[1:3, ], s, fit$param$aspects, 1)
  expect_equal(got, s, tolerance = 1e-5, ignore_attr = TRUE)
})

test_that("results over 1 GB are refused with advice", {
  # The result is large, not the fit.
  n <- 400000L
  fit <- small_fit()$fit
  fit$dims[c("n", "m", "k", "observed")] <- c(n, 400L, 2L, 1L)
  fit$param <- list(membership = matrix(0.5, n, 2), aspects = matrix(0.5, 2, 400))
  fit$fixed <- c("free", "free")
  fit$margins <- list(
    row_sum = numeric(n), column_sum = numeric(400), row_observed = numeric(n), column_observed = numeric(400)
  )
  fit["x"] <- list(NULL)
  fit$names <- list(NULL, NULL)
  expect_error(predict(fit), "1.2 GB.*`rows`", class = "multicause_input_error")
  expect_error(predict(fit, type = "cell"), "2.4 GB.*`rows`", class = "multicause_input_error")
})

test_that("simulate() keeps its contract", {
  case <- small_fit()
  set.seed(5)
  before <- .Random.seed
  first <- simulate(case$fit, nsim = 2)
  expect_identical(attr(first, "seed"), before)
  expect_named(first, c("sim_1", "sim_2"))
  expect_equal(dimnames(first[[1]]), dimnames(case$x))
  expect_type(first[[1]], "integer")
  expect_false(identical(first[[1]], first[[2]]))
  here <- .Random.seed
  second <- simulate(case$fit, seed = 7)
  expect_identical(.Random.seed, here)
  expect_identical(simulate(case$fit, seed = 7), second)
  expect_equal(attr(second, "seed"), structure(7, kind = as.list(RNGkind())))
  many <- Reduce(`+`, simulate(case$fit, nsim = 2000, seed = 1)) / 2000
  expect_lt(max(abs(many - fitted(case$fit))), 5 * sqrt(0.25 / 2000))
})

test_that("residuals of all types", {
  case <- small_fit()
  p <- fitted(case$fit)
  expect_equal(residuals(case$fit), case$x - p)
  pearson <- residuals(case$fit, "pearson")
  expect_equal(pearson[case$x != p], ((case$x - p) / sqrt(p * (1 - p)))[case$x != p])
  expect_equal(sum(residuals(case$fit, "deviance")^2), -2 * case$fit$loglik)
})

test_that("predict() of every model gives the response unless told otherwise", {
  methods <- grep("^predict[.]", ls(asNamespace("multicause")), value = TRUE)
  # The first forwards its arguments; results of which_zeros() have no other type.
  others <- c("predict.visits_bernoulli", "predict.which_zeros", "predict.which_zeros_shards")
  for (name in setdiff(methods, others)) {
    expect_identical(eval(formals(name, asNamespace("multicause"))$type)[1L], "response", info = name)
  }
  fits <- fits_of_all()
  for (name in names(fits)) expect_identical(dim(predict(fits[[name]])), dim(fitted(fits[[name]])), info = name)
})

test_that("simulate() goes by its seed, and more than memory holds is refused at once, by every model", {
  for (fit in fits_of_all()) {
    if (inherits(fit, "nmf")) next # Euclidean: nothing to simulate from
    drawn <- simulate(fit, 2, seed = 1)
    expect_identical(drawn, simulate(fit, 2, seed = 1))
    if (!inherits(fit, "visits_bernoulli")) expect_identical(dimnames(drawn[[1L]]), dimnames(fit$x))
    expect_error(simulate(fit, nsim = .Machine$integer.max), "GB, and 1 GB", class = "multicause_input_error")
  }
})

test_that("`newdata = NULL` is the data of the fit, for every model", {
  fits <- fits_of_all()
  both <- ensemble(fits[c("aspect_bernoulli", "bernoulli_mixture")])
  for (fit in c(fits, list(both, neighbours_mean(fits$nmf$x)))) {
    expect_identical(predict(fit, NULL), predict(fit), info = class(fit)[1L])
    if (fit$dims[["observed"]] < prod(fit$dims[c("n", "m")])) expect_identical(impute(fit, NULL), impute(fit))
  }
})

test_that("new sites are predicted by a fit without another fit, by every model", {
  fits <- fits_of_all()
  fits$neighbours_mean <- neighbours_mean(fits$nmf$x)
  refuse <- quote(stop("a model is fitted"))
  for (run in c("run_starts", "run_chains")) {
    suppressMessages(trace(run, refuse, print = FALSE, where = asNamespace("multicause")))
  }
  on.exit(for (run in c("run_starts", "run_chains")) {
    suppressMessages(untrace(run, where = asNamespace("multicause")))
  })
  expect_error(bernoulli_mixture(fits$nmf$x, 2), "a model is fitted")
  for (name in setdiff(names(fits), c("visits", "plca"))) { # of visits and arrays new data are of another shape
    new <- predict(fits[[name]], fits$nmf$x[c(3, 1), ])
    expect_identical(dimnames(new), dimnames(fits$nmf$x[c(3, 1), ]), info = name)
    expect_false(anyNA(new), info = name)
  }
})

test_that("what would make a large sparse table dense is refused with advice, by every model and verb", {
  refused <- function(expr) expect_error(expr, "and 1 GB is the limit", class = "multicause_input_error")
  n <- 40000L
  x <- Matrix::sparseMatrix(i = seq_len(n), j = rep_len(1:4000, n), x = 1)
  for (model in list(bernoulli_mixture, logistic_pca, nmf, plsa, plca)) {
    fit <- suppressWarnings(model(x, 1, control = fit_control(n_start = 1, max_iter = 1)))
    refused(fitted(fit))
    refused(residuals(fit))
    if (!inherits(fit, "plsa")) refused(impute(fit))
    if (!inherits(fit, "plca")) refused(predict(fit, x))
  }
  refused(cross_validate(rbind(x, x), 1, nmf))
})

test_that("answers of all models have the taxa in the order of the new data", {
  turned <- c(3:8, 2:1)
  fits <- fits_of_all()
  fits$visits <- suppressMessages(update(fits$visits, detection = ~1))
  names <- list(site = letters[1:6], taxon = LETTERS[1:8], time = paste0("t", 1:4))
  counts <- array(rep(1:3, 64), c(6, 8, 4), names)
  fits$plca <- plca(counts, 2, control = fit_control(n_start = 1, progress = FALSE))
  for (name in names(fits)) {
    fit <- fits[[name]]
    new <- switch(name, plca = counts[1:4, , ], visits = fit$visits[1:4, , ], fit$x[1:4, ])
    turn <- function(x) {
      if (length(dim(x)) == 2L) x[, turned] else if (name == "plca") x[, turned, 4:1] else x[, turned, ]
    }
    ask <- function(verb, newdata) {
      set.seed(1)
      out <- suppressMessages(verb(fit, newdata))
      attr(out, "certificate") <- attr(out, "loglik") <- NULL
      out
    }
    expect_equal(ask(predict, turn(new)), turn(ask(predict, new)), info = name)
    expect_identical(dimnames(ask(predict, turn(new)))[-1L], dimnames(turn(new))[if (name == "visits") 2L else -1L])
    if (name != "visits") expect_equal(ask(impute, turn(new)), turn(ask(impute, new)), info = name)
  }
})

test_that("arrays of posteriors, tables of sparse form and data frames are turned, too", {
  fit <- fits_of_all()$aspect_bernoulli
  new <- fit$x[3:6, ]
  turned <- 8:1
  cell <- predict(fit, new[, turned], type = "cell")
  expect_equal(cell, predict(fit, new, type = "cell")[, turned, ], ignore_attr = "certificate")
  frame <- data.frame(site = rownames(new), new[, turned])
  expect_equal(predict(fit, frame), predict(fit, new)[, turned], ignore_attr = "certificate")
  expect_identical(predict(fit, new[, turned], type = "membership"), predict(fit, new, type = "membership"))
})

test_that("rows come as they are asked for, also more than once", {
  asked <- c(5, 2, 2)
  for (fit in fits_of_all()) {
    if (!"rows" %in% names(formals(utils::getS3method("predict", class(fit)[1L], TRUE) %||% identity))) next
    expect_equal(predict(fit, rows = asked), predict(fit)[asked, ], info = class(fit)[1L])
    if (inherits(fit, "visits_bernoulli")) next
    one <- predict(fit, fit$x, rows = c(2, 5))
    expect_equal(predict(fit, fit$x, rows = asked)[, ], one[c(2, 1, 1), ], info = class(fit)[1L])
  }
  fit <- fits_of_all()$plsa
  expect_length(attr(predict(fit, fit$x, rows = asked), "loglik"), 3L)
  expect_identical(augment(fit, rows = c(2, 2))$site, rep("site2", 16L))
  # Sums count each site once.
  fit <- fits_of_all()$aspect_bernoulli
  expect_equal(by_taxon(fit, site = asked)$missed, by_taxon(fit, site = c(2, 5))$missed)
})

test_that("new rows are predicted alike whichever rows come along, missing cells and all", {
  set.seed(1)
  counts <- matrix(stats::rpois(200, rep(c(0.3, 4, 1, 6, 2), each = 40)), 20)
  present <- (counts > 1) + 0
  few <- fit_control(n_start = 1, n_polish = 0, progress = FALSE)
  chain <- mcmc_control(chains = 1, warmup = 20, draws = 40, progress = FALSE)
  fits <- suppressWarnings(suppressMessages(list(
    plsa(counts, 3, control = few), plsa(counts, 3, estimate = "vb", control = few),
    plsa(counts, 3, estimate = "gibbs", control = chain), nmf(counts, 3, control = few),
    nmf(counts, 3, loss = "euclidean", control = few), plca(counts, 3, control = few),
    aspect_bernoulli(present, 3, control = few), aspect_bernoulli(present, 3, estimate = "vb", control = few),
    aspect_bernoulli(present, 3, estimate = "gibbs", control = chain), noisy_or(present, 3, control = few),
    bernoulli_mixture(present, 3, control = few), logistic_pca(present, 2, control = few), neighbours_mean(present)
  )))
  for (fit in fits) {
    new <- fit_data(fit)[c(3, 7, 11, 15), ]
    new[1, 2] <- new[2, 3:5] <- NA
    all <- suppressMessages(predict(fit, new))
    for (i in 1:4) {
      alone <- suppressMessages(predict(fit, new[i, , drop = FALSE]))
      expect_lt(max(abs(all[i, ] - alone[1, ])), 1e-5)
    }
  }
})

test_that("update() uses the model of the fit, whatever name it was made under", {
  set.seed(61)
  x <- matrix(rbinom(72, 1, 0.4), 12)
  few <- fit_control(n_start = 1, max_iter = 20, progress = FALSE)
  models <- list(mixture = bernoulli_mixture, pca = logistic_pca)
  fits <- quietly(lapply(models, function(m) m(x, 2, control = few)))
  m <- logistic_pca
  expect_s3_class(quietly(update(fits$mixture, k = 3)), "bernoulli_mixture")
})
