# Tests also R/base_held_out.R, R/base_tuning.R, R/held_out.R, R/select_k.R, R/compare_models.R.

skip_on_cran()

few <- quiet_control(n_start = 2, max_iter = 200)

test_that("cell folds hide every observed cell at most once and leave no row or column bare", {
  set.seed(1)
  for (trial in 1:20) {
    observed <- matrix(runif(40) < 0.4, 8, 5)
    folds <- cell_folds(observed, 3)
    cells <- unlist(folds)
    expect_false(anyDuplicated(cells) > 0)
    expect_true(all(observed[cells]))
    for (held in folds) {
      left <- observed
      left[held] <- FALSE
      expect_true(all(rowSums(left)[rowSums(observed) > 0] > 0))
      expect_true(all(colSums(left)[colSums(observed) > 0] > 0))
    }
  }
  full <- cell_folds(matrix(TRUE, 30, 20), 5)
  expect_identical(sort(unlist(full)), 1:600)
  expect_identical(lengths(full), rep(120L, 5))
})

test_that("losses of single cells and rows are what the definitions say", {
  set.seed(2)
  x <- binary_matrix(12, 6, missing = 0.1)
  fit <- aspect_bernoulli(x, 2, control = few)
  held <- which(!is.na(x))[1:9]
  p <- pmin(pmax(fitted(fit)[held], 1e-3), 1 - 1e-3)
  cells <- cell_loss(fit, held, x[held], "bernoulli", 1e-3)
  expect_equal(as.vector(cells), -log(ifelse(x[held] == 1, p, 1 - p)))
  expect_equal(attr(cells, "clipped"), sum(fitted(fit)[held] != p))

  new <- binary_matrix(4, 6, missing = 0.2)
  rows <- row_losses(fit, new, "bernoulli", 1e-3)
  expect_equal(rows, -as.vector(test_loglik(fit, new, floor = 1e-3)))
  none <- row_losses(nmf(x, 2, control = few), new, "bernoulli", 1e-3)
  expect_true(is.na(none))
  expect_match(attr(none, "why"), "Squared error is no likelihood")
  kl <- nmf(x, 2, loss = "kl", control = few)
  expect_equal(presence_probability(kl), 1 - exp(-fitted(kl)))
})

test_that("a result is a mean over folds, common to all models, and depends on the seed alone", {
  set.seed(3)
  x <- binary_matrix(20, 8)
  run <- function() {
    set.seed(4)
    cross_validate(x, 1:2, list(mixture = bernoulli_mixture, pca = logistic_pca), folds = 3, control = few)
  }
  cv <- run()
  expect_identical(cv, run())
  expect_identical(nrow(cv$results), 4L)
  expect_equal(cv$results$loss[1], mean(cv$folds$loss[cv$folds$setting == 1]))
  expect_true(all(cv$folds$n %in% 53:54))
  rows <- cross_validate(x, 1, list(mixture = bernoulli_mixture, nmf = nmf), "rows", folds = 4, control = few)
  expect_identical(is.na(rows$results$loss), c(FALSE, TRUE))
  one <- cross_validate(x, 1, bernoulli_mixture, folds = 4, replicates = 2, control = few)
  means <- colMeans(x)
  expect_lt(abs(one$results$loss + mean(log(ifelse(x == 1, means[col(x)], 1 - means[col(x)])))), 0.1)
})

test_that("models of counts are judged by rows, of counts and of presences", {
  set.seed(3)
  x <- binary_matrix(20, 8)
  kl <- function(x, k, control) nmf(x, k, loss = "kl", control = control)
  models <- list(mixture = bernoulli_mixture, kl = kl, plsa = plsa, plca = plca)
  rows <- cross_validate(x, 2, models, "rows", folds = 3, control = few)
  expect_true(all(is.finite(rows$results$loss)))
  counts <- matrix(rpois(160, 3), 20)
  rows <- cross_validate(counts, 1, models[-1], "rows", folds = 3, control = few)
  expect_identical(rows$family, "poisson")
  alone <- -mean(rowSums(dpois(counts, mean(counts), log = TRUE)))
  expect_true(all(abs(rows$results$loss - alone) < 2))
  refused <- function(expr, why) expect_error(expr, why, class = "multicause_input_error")
  refused(cross_validate(x, 2, nmf, "rows", folds = 2, control = few), "Squared error is no likelihood")
  refused(cross_validate(counts + 0.5, 1, kl, "rows", folds = 2, control = few), "not counts .* hold out cells")
})

test_that("repeated visits and arrays are judged by cells", {
  set.seed(3)
  there <- outer(1:20, 1:6, function(i, j) (i <= 10) == (j <= 3))
  visits <- array(rbinom(360, 1, 0.6), c(20, 6, 3)) * as.vector(there)
  tables <- lapply(1:3, function(v) visits[, , v])
  cv <- function(x) {
    set.seed(4)
    cross_validate(x, 1:2, visits_bernoulli, missed_by = "visit", folds = 3, control = few)
  }
  found <- cv(visits)
  expect_lt(found$results$loss[2], found$results$loss[1])
  expect_equal(cv(tables)$results, found$results)
  counts <- array(rpois(120, 2), c(5, 6, 4))
  expect_lt(cross_validate(counts, 1, plca, folds = 3, control = few)$results$loss, 2.5)
  for (x in list(visits, tables)) {
    expect_error(
      cross_validate(x, 1, visits_bernoulli, "rows"), "hold out cells", class = "multicause_input_error"
    )
    expect_error(select_k(x, 1, visits_bernoulli), "hold out cells", class = "multicause_input_error")
  }
  chosen <- select_k(visits, 1:2, visits_bernoulli, c("aic", "cells"), estimate = "ml", folds = 2, control = few)
  expect_false(anyNA(chosen$table$value))
})

test_that("a visit's record is told by the other visits", {
  set.seed(5)
  visits <- array(rbinom(36, 1, 0.5), c(4, 3, 3))
  visits[2, 1, 3] <- NA
  fit <- visits_bernoulli(visits, 1, missed_by = "taxon", added = TRUE, control = few)
  p <- fitted(fit)[2, 1]
  missed <- fit$param$missed[1, ]
  added <- fit$param$added
  seen <- visits[2, 1, 1:2]
  probability <- function(by) prod(ifelse(seen == 1, by[1:2], 1 - by[1:2]))
  there <- p * probability(1 - missed) / (p * probability(1 - missed) + (1 - p) * probability(added))
  expect_equal(recorded_probability(fit)[2, 1, 3], there * (1 - missed[[3]]) + (1 - there) * added[[3]])
})

test_that("futures give the same result", {
  skip_if_not_installed("future")
  set.seed(5)
  x <- binary_matrix(15, 6)
  run <- function() {
    set.seed(6)
    cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = few)
  }
  here <- run()
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  expect_equal(run(), here)
})

test_that("a loss of one's own judges held-out cells, by name or function", {
  set.seed(3)
  x <- binary_matrix(20, 8)
  run <- function(...) {
    set.seed(4)
    cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = few, ...)
  }
  brier <- function(x, p) (x - p)^2
  by_hand <- list()
  collect <- function(x, p) {
    by_hand[[length(by_hand) + 1L]] <<- list(x = x, p = p)
    mean((x - p)^2)
  }
  named <- run(loss = "squared")
  expect_equal(run(loss = brier)$results, named$results)
  expect_equal(run(loss = collect)$results, named$results)
  expect_length(by_hand, 4L)
  expect_identical(sort(unlist(lapply(by_hand[1:2], `[[`, "x"))), sort(as.vector(x)))
  expect_true(all(unlist(lapply(by_hand, `[[`, "p")) >= 0 & unlist(lapply(by_hand, `[[`, "p")) <= 1))
  p <- unlist(lapply(by_hand, `[[`, "p"))
  expect_equal(sum(named$folds$loss * named$folds$n), sum((unlist(lapply(by_hand, `[[`, "x")) - p)^2))
  expect_equal(run(loss = "absolute")$folds$loss[1], mean(abs(by_hand[[1]]$x - by_hand[[1]]$p)))
  # The default's own loss, written out, is the default.
  log_loss <- function(x, p) -log(ifelse(x == 1, pmax(p, 1e-6), pmax(1 - p, 1e-6)))
  expect_equal(run(loss = log_loss)$results, run()$results)
  expect_output(print(run(loss = brier)), "loss: mean of `brier`")
  expect_output(print(named), "loss: mean squared error of a held-out cell")
  both <- compare_models(x, 1:2, list(a = bernoulli_mixture, b = aspect_bernoulli), "cells", folds = 2,
    loss = brier, control = few)
  expect_output(print(both), "loss: mean of `brier`")
  expect_lt(max(both$table$cells), 0.5)
  visits <- array(rbinom(160, 1, 0.4), c(10, 4, 4))
  cv <- cross_validate(visits, 1, visits_bernoulli, "visits", folds = 2, loss = "squared", control = few)
  expect_output(print(cv), "mean squared error of a record of a\\s+held-out visit")
})

test_that("losses differ: log loss punishes a certainty that absolute error rewards", {
  set.seed(5)
  x <- matrix(rbinom(400, 1, 0.8), 20)
  models <- list(
    calibrated = function(x) matrix(0.8, nrow(x), ncol(x)), certain = function(x) matrix(1, nrow(x), ncol(x))
  )
  best <- vapply(list(log = NULL, squared = "squared", absolute = "absolute"), function(loss) {
    results <- cross_validate(x, 0, models, folds = 2, loss = loss)$results
    results$model[which.min(results$loss)]
  }, "")
  expect_identical(best, c(log = "calibrated", squared = "calibrated", absolute = "certain"))
})

test_that("a loss that is none is refused by name", {
  x <- binary_matrix(20, 8)
  refused <- function(loss, text, ...) {
    expect_error(cross_validate(x, 1, bernoulli_mixture, loss = loss, folds = 2, control = few, ...), text,
      class = "multicause_input_error")
  }
  refused("kl", "`loss` must be NULL, .*goes into a function")
  refused(2, "`loss` must be NULL")
  refused(function(x) 1, "must take two arguments")
  refused(function(x, p) 1:2, "must return one number, or one for each of the 80 held-out cells")
  refused(function(x, p) NA_real_, "no NA")
  refused(function(x, p) "a", "must return one number")
  refused(function(x, p) stop("no such thing"), "`loss\\(x, p\\)` failed: no such thing")
  refused("squared", "`loss` must be NULL where rows are held out", criterion = "rows")
})

test_that("a grid tries all combinations; counts and sparse tables have losses too", {
  set.seed(7)
  x <- binary_matrix(20, 8)
  cv <- cross_validate(x, 1, logistic_pca, grid = list(penalty = c(0.3, 3)), folds = 2, control = few)
  expect_identical(cv$results$penalty, c("0.3", "3"))
  expect_identical(grid_words(list(prior = list(c(1.1, 2), 3)))[["prior"]], "1.1, 2, 3")
  counts <- matrix(rpois(160, 3), 20)
  named <- cross_validate(x, 1, logistic_pca, grid = list(penalty = list(weak = 0.3, 3)), folds = 2, control = few)
  expect_identical(named$results$penalty, c("weak", "3"))
  cv <- cross_validate(counts, 1:2, nmf, grid = list(loss = "kl"), folds = 2, control = few)
  expect_identical(cv$family, "poisson")
  expect_lt(cv$results$loss[1], 3)
  expect_identical(cross_validate(counts + 0.5, 1, nmf, folds = 2, control = few)$family, "squared")
  set.seed(8)
  dense <- cross_validate(x, 2, bernoulli_mixture, folds = 2, control = few)
  set.seed(8)
  sparse <- cross_validate(Matrix::Matrix(x, sparse = TRUE), 2, bernoulli_mixture, folds = 2, control = few)
  expect_equal(sparse$results, dense$results)
})

test_that("select_k() finds planted components and applies the one-standard-error rule", {
  set.seed(9)
  truth <- rbind(rep(c(0.9, 0.1, 0.1), each = 5), rep(c(0.1, 0.9, 0.1), each = 5), rep(c(0.1, 0.1, 0.9), each = 5))
  x <- random_bernoulli(truth[rep(1:3, 40), ])
  chosen <- select_k(x, 1:5, bernoulli_mixture, estimate = "ml", folds = 3, control = few)
  expect_identical(chosen$best$criterion, c("cells", "rows", "aic", "bic"))
  expect_true(all(chosen$best$k[c(1, 3, 4)] == 3))
  expect_true(all(chosen$best$k_one_se[1:2] <= chosen$best$k[1:2]))
  expect_identical(chosen$k, 3L)
  cv <- data.frame(k = 1:4, loss = c(3.3, 3.1, 3, 3.2), se = 0.2)
  expect_identical(unname(cv_choice(cv)), c(3L, 2L))
  map <- select_k(x, 1:2, aspect_bernoulli, c("aic", "cells"), estimate = "map", folds = 2, control = few)
  expect_false(anyNA(map$best$k))
  expect_equal(map$table$value[1:2], unname(vapply(map$fits, AIC, 0)))
})

test_that("select_k() has the paper's criterion, of the model that has it", {
  set.seed(9)
  x <- binary(12, 6)
  both <- select_k(x, 1:2, criterion = c("aic", "aic_paper"), estimate = "ml", control = few)
  by <- split(both$table$value, both$table$criterion)
  expect_equal(by$aic_paper, by$aic / 2)
  expect_output(print(both), "the paper's -L [+] P")
  expect_message(paper <- select_k(x, 1:2, criterion = "aic_paper", control = few), 'with `estimate = "ml"`')
  expect_false(anyNA(paper$table$value))
  for (fit in paper$fits) expect_named(fit$objective, "log_likelihood")
  map <- select_k(x, 1:2, criterion = "aic_paper", estimate = "map", control = few)
  for (fit in map$fits) expect_named(fit$objective, "log_posterior")
  expect_equal(map$table$value, unname(vapply(map$fits, AIC, 0) / 2))
  other <- select_k(x, 1:2, bernoulli_mixture, "aic_paper", control = few)
  expect_true(all(is.na(other$table$value)))
  expect_output(print(other), "is of aspect_bernoulli(); of other models take AIC", fixed = TRUE)
  euclidean <- select_k(x, 1:2, nmf, "aic", control = few)
  expect_match(print_words(euclidean), "AIC has no meaning for these fits: each minimised its loss", fixed = TRUE)
})

test_that("compare_models() puts every model under one protocol", {
  set.seed(10)
  x <- binary_matrix(25, 8)
  models <- list(ab = aspect_bernoulli, mixture = bernoulli_mixture, pca = logistic_pca, nmf = nmf)
  result <- compare_models(x, k = list(ab = 2, mixture = 1, pca = 1, nmf = 1), models, folds = 2, control = few)
  expect_identical(result$table$model, names(models))
  expect_identical(sum(result$table$behind == 0), 1L)
  expect_identical(is.na(result$table$rows), c(FALSE, FALSE, FALSE, TRUE))
  expect_true(all(result$table$seconds >= 0))
  expect_s3_class(result$fits$pca, "logistic_pca")
  expect_output(print(result), "rows -: Squared error is no likelihood")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(result))
  expect_invisible(plot(result$cells))
})

test_that("a model has the same numbers in every place of a list, whatever it is compared with", {
  set.seed(10)
  x <- 4 * binary_matrix(25, 8)
  x <- x[rowSums(x) > 0, ] # required by plsa()
  compare <- function(models, ...) {
    set.seed(1)
    compare_models(x, 2:3, models, folds = 2, control = fit_control(n_start = 1, n_polish = 0, progress = FALSE))
  }
  shown <- c("k", "cells", "cells_se", "behind", "converged")
  twice <- compare(list(nmf = nmf, again = nmf))
  expect_equal(twice$table[2L, shown], twice$table[1L, shown], ignore_attr = TRUE)
  expect_identical(twice$fits$again$param, twice$fits$nmf$param)
  beside <- compare(list(plsa = plsa, nmf = nmf))
  expect_identical(beside$fits$nmf$param, twice$fits$nmf$param)
  folds <- function(result, at) result$cells$folds[result$cells$folds$setting %in% at, c("fold", "loss")]
  expect_equal(folds(twice, 3:4), folds(twice, 1:2), ignore_attr = TRUE)
  expect_equal(folds(beside, 3:4), folds(twice, 1:2), ignore_attr = TRUE)
  set.seed(1)
  chosen <- select_k(x, 2, nmf, "cells", folds = 2, control = fit_control(n_start = 1, n_polish = 0, progress = FALSE))
  set.seed(1)
  more <- select_k(x, 1:2, nmf, "cells", folds = 2, control = fit_control(n_start = 1, n_polish = 0, progress = FALSE))
  expect_equal(more$table$value[2L], chosen$table$value)
})

test_that("prints and plots", {
  set.seed(11)
  x <- binary_matrix(12, 5)
  cv <- cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = few)
  cv$results$loss <- c(0.7, 0.65)
  cv$results$se <- c(0.02, 0.06)
  expect_snapshot(print(cv))
  chosen <- new_selection(
    data.frame(criterion = rep(c("aic", "cells"), each = 2), k = c(1:2, 1:2), value = c(80, 82, 0.7, 0.65),
      se = c(NA, NA, 0.02, 0.06), not_converged = 0L),
    c("aic", "cells"), NULL, "bernoulli_mixture", 2L, 1L, 1e-6
  )
  expect_snapshot(print(chosen))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(chosen))
})

test_that("messages", {
  x <- binary_matrix(8, 4)
  expect_snapshot(error = TRUE, {
    cross_validate(x, 2, "aspect_bernoulli")
    cross_validate(x, 2, list(bernoulli_mixture))
    cross_validate(x, c(1, 1), bernoulli_mixture)
    cross_validate(x, 1, bernoulli_mixture, "rows", folds = 9)
    cross_validate(x, 1, bernoulli_mixture, floor = 0)
    cross_validate(x, 1, bernoulli_mixture, grid = 3)
    cross_validate(x, 1, bernoulli_mixture, grid = structure(list(dims = 1:3), class = "multicause"))
    cross_validate(x, 1, nmf, grid = list(loss = 1:200, start = 1:100))
    cross_validate(x, 1, bernoulli_mixture, penalty = 3, control = quiet_control(n_start = 1))
    cross_validate(x, 1, function(x, k, control) 1)
    select_k(x, 1:2, bernoulli_mixture, "dic")
    select_k(x, 1:2, list(a = nmf, b = bernoulli_mixture))
    compare_models(x, k = list(b = 1), list(a = nmf))
  })
})

test_that("priors and ridges are chosen by held-out cells", {
  set.seed(12)
  x <- binary_matrix(20, 8)
  pca <- logistic_pca(x, 1, penalty = c(0.1, 3), control = few)
  expect_true(pca$penalty %in% c(0.1, 3))
  expect_identical(pca$tuning$results$penalty, c("0.1", "3"))
  expect_identical(which.min(pca$tuning$results$loss), match(pca$penalty, c(0.1, 3)))
  mixture <- bernoulli_mixture(x, 2, estimate = "map", prior = "cv", control = few)
  expect_identical(nrow(mixture$tuning$results), 5L)
  priors <- list(list(aspects = c(1, 1), membership = 1), list(aspects = c(2, 3), membership = 1))
  aspects <- suppressWarnings(aspect_bernoulli(x, 2, estimate = "map", prior = priors, control = few))
  expect_true(list(aspects$prior) %in% priors)
})

test_that("what is judged and thrown away may be asked for its data, whatever is kept of the rest", {
  set.seed(13)
  x <- binary_matrix(20, 8)
  bare <- quiet_control(n_start = 1, keep_x = FALSE)
  kept <- quiet_control(n_start = 1)
  same <- function(f) expect_equal(with_seed(1, f(bare)), with_seed(1, f(kept)))
  same(function(control) cross_validate(x, 2, aspect_bernoulli, "rows", folds = 2, control = control)$results)
  same(function(control) cross_validate(x, 2, noisy_or, folds = 2, control = control)$results)
  same(function(control) ensemble(x, 2:3, weights = "held_out", folds = 2, control = control)$weights)
  compared <- compare_models(x, 2, list(a = aspect_bernoulli, b = bernoulli_mixture), folds = 2, control = bare)
  expect_null(compared$fits$a$x)
})

test_that("sampled models are judged by way of a function", {
  set.seed(14)
  x <- binary_matrix(12, 6)
  short <- mcmc_control(chains = 1, warmup = 5, draws = 5, n_start = 1, progress = FALSE)
  sampled <- function(x, k, control) bmf(x, k, control = short)
  expect_s3_class(cross_validate(x, 2, sampled, folds = 2), "multicause_cv")
  for (verb in list(cross_validate, select_k, compare_models)) {
    expect_error(verb(x, model = bmf, k = 2, control = short), "supply a model that is sampled as a function")
  }
})

test_that("arguments are given once", {
  x <- binary_matrix(12, 6)
  expect_error(
    cross_validate(x, 2, aspect_bernoulli, phantom = "white", grid = list(phantom = c("free", "white"))),
    "not both: \"phantom\"", class = "multicause_input_error"
  )
  expect_error(
    cross_validate(x, 2, aspect_bernoulli, grid = list(k = 1:2)), "not \"k\"", class = "multicause_input_error"
  )
})

test_that("criteria of many k are printed in lines of the page", {
  shown <- rbind(k = as.character(1:30), value = format(seq(1000, 1029)))
  old <- options(width = 60)
  on.exit(options(old))
  lines <- aligned_rows(shown)
  expect_lte(max(nchar(lines)), 60)
  expect_identical(lines[1:2], c(
    paste("k    ", paste(formatC(1:11, width = 4), collapse = " ")),
    paste("value", paste(1000:1010, collapse = " "))
  ))
})

test_that("arrays with names are counts, lists of cells are sent to xtabs(), and factors in a grid are their labels", {
  set.seed(62)
  few <- fit_control(n_start = 1, max_iter = 30, n_polish = 0, progress = FALSE)
  sides <- list(site = paste0("s", 1:5), taxon = paste0("t", 1:4), time = paste0("p", 1:3))
  counts <- array(rpois(60, 2), c(5, 4, 3), sides)
  cv <- suppressMessages(suppressWarnings(cross_validate(counts, 1, plca, folds = 2, control = few)))
  expect_identical(cv$family, "poisson")
  cells <- cbind(expand.grid(site = 1:5, taxon = 1:4), count = rpois(20, 3))
  expect_error(cross_validate(cells, 1, plca, folds = 2), "xtabs", class = "multicause_input_error")
  wide <- data.frame(a = rbinom(20, 1, 0.5), b = rbinom(20, 1, 0.5), count = rbinom(20, 1, 0.5))
  expect_identical(suppressMessages(cross_validate(wide, 1, nmf, folds = 2, control = few))$family, "bernoulli")
  x <- matrix(rbinom(72, 1, 0.4), 12)
  grid <- expand.grid(loss = c("kl", "euclidean"))
  cv <- suppressMessages(cross_validate(x, 1, multicause::nmf, folds = 2, grid = grid, control = few))
  expect_identical(nrow(cv$results), 2L)
  expect_match(print_words(cv), "nmf")
  # A call whose arguments are quoted, as do.call() makes it.
  quoted <- list(x, 1, nmf, folds = 2, grid = grid, control = few)
  expect_identical(suppressMessages(do.call(cross_validate, quoted, quote = TRUE))$results$model, c("model", "model"))
  one <- x[, 1, drop = FALSE]
  few_cells <- function(expr) expect_error(suppressMessages(expr), "too few cells", class = "multicause_input_error")
  few_cells(cross_validate(one, 1, bernoulli_mixture))
  few_cells(logistic_pca(one, 1, penalty = "cv"))
  few_cells(aspect_bernoulli(one, 1, smooth = smooth_over(age = 1:12)))
})

test_that("models without components need no `k`, and have none to choose", {
  x <- matrix(rep(c(1, 1, 0, 1, 0), 12), 12, dimnames = list(letters[1:12], LETTERS[1:5]))
  means <- function(x) matrix(colMeans(x, na.rm = TRUE), nrow(x), ncol(x), byrow = TRUE)
  judge <- function(...) with_seed(1, cross_validate(x, ..., model = means, folds = 2)$results)
  expect_identical(judge(), judge(0))
  both <- list(means = means, pca = logistic_pca)
  expect_error(cross_validate(x, model = both), "`k` must be supplied", class = "multicause_input_error")
  expect_error(select_k(x, 1:2, means), "`model` must have an argument `k`", class = "multicause_input_error")
})

test_that("settings given twice, and those of the function itself, are refused", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  refused <- function(text, ...) {
    expect_error(cross_validate(x, 2, aspect_bernoulli, ..., folds = 2), text, fixed = TRUE,
      class = "multicause_input_error")
  }
  refused("Arguments must be supplied once, by name or in `grid`, not both: \"phantom\".", phantom = "free",
    grid = list(phantom = c("free", "white")))
  refused("`grid` and `...` must hold further arguments of the models, not \"control\".",
    grid = list(control = list(fit_control(), fit_control())))
})

test_that("tables with too few cells or presences to hold out are refused", {
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  refused <- function(x, text, ...) {
    expect_error(suppressMessages(cross_validate(x, 2, bernoulli_mixture, ..., control = brief)), text, fixed = TRUE,
      class = "multicause_input_error")
  }
  x <- matrix(NA, 4, 4)
  diag(x) <- 1
  x[1, -1] <- 0
  refused(x, paste(
    "`x` has too few cells that can be held out for 5 folds: each row and column keeps an observed one."
  ), folds = 5)
  x <- matrix(0, 20, 6, dimnames = list(letters[1:20], LETTERS[1:6]))
  x[cbind(1:2, 1:2)] <- 1
  set.seed(1)
  refused(x, "`x` has too few presences for planted omissions.", "omissions", folds = 20)
})

test_that("models are compared by cells, and by more", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(compare_models(x, 2, list(ab = aspect_bernoulli, mixture = bernoulli_mixture), criterion = "rows"),
    "`criterion` must hold \"cells\" and may hold \"rows\" and \"omissions\", not be \"rows\".")
})
