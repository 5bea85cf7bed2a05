# Models from outside the package, under the same protocol as its own.

skip_on_cran()

few <- quiet_control(n_start = 2, max_iter = 200)

recipes <- local({
  here <- new.env()
  sys.source(system.file("examples", "comparators.R", package = "multicause"), here)
  here$comparators
})

# Two groups of sites with a taxon list each, in which some presences are missing.
two_lists <- function(n = 40) {
  present <- outer(seq_len(n), 1:12, function(i, j) (i <= n / 2) == (j <= 6))
  x <- random_bernoulli(ifelse(present, 0.7, 0.1))
  dimnames(x) <- list(paste0("s", seq_len(n)), paste0("t", 1:12))
  x
}

means <- function(x) {
  p <- colMeans(x, na.rm = TRUE)
  matrix(p[col(x)], nrow(x))
}

test_that("a function that returns what a fit says has the losses of that model", {
  set.seed(1)
  x <- two_lists()
  as_matrix <- function(x, k, control) fitted(bernoulli_mixture(x, k, control = control))
  for (criterion in c("cells", "rows", "omissions")) {
    models <- list(fit = bernoulli_mixture, matrix = as_matrix)
    if (criterion == "rows") models$fit <- logistic_pca # a mixture's own components are other ones
    if (criterion == "rows") models$matrix <- function(x, k, control) fitted(logistic_pca(x, k, control = control))
    loss <- lapply(models, function(model) {
      with_seed(2, cross_validate(x, 2:3, model, criterion, folds = 3, control = few)$results$loss)
    })
    expect_equal(loss$matrix, loss$fit)
  }
  rows <- function(x) x
  expect_error(cross_validate(array(0, c(3, 3, 3)), 1, rows, "omissions"), "planted in a table only")
  expect_error(cross_validate(x + 1, 1, rows, "omissions"), "tables of 0 and 1 only", class = "multicause_input_error")
})

test_that("what is hidden does not hang on what else is compared", {
  x <- with_seed(6, two_lists())
  judged <- function(models) {
    with_seed(7, compare_models(x, 2, models, c("cells", "omissions"), folds = 2, control = few))$table
  }
  alone <- judged(list(means = means))
  both <- judged(list(mixture = bernoulli_mixture, means = means))
  kept <- c("cells", "auc", "auc_within", "ap")
  expect_equal(alone[alone$model == "means", kept], both[both$model == "means", kept], ignore_attr = TRUE)
})

test_that("planted omissions are judged by recovery(), and hidden from the model", {
  set.seed(3)
  x <- two_lists()
  seen <- list()
  spy <- function(x) {
    seen[[length(seen) + 1L]] <<- x
    means(x) * 7 # any numbers: only their order counts
  }
  cv <- with_seed(4, cross_validate(x, 1, spy, "omissions", folds = 2, replicates = 2))
  expect_length(seen, 4L)
  found <- lapply(seen, function(each) {
    expect_true(all(x[each == 1] == 1))
    recovery(means(each), replace(x == 1 & each == 0, each == 1, NA))$summary
  })
  for (name in c("auc", "auc_within", "ap")) {
    expect_equal(cv$folds[[name]], vapply(found, function(one) one[[name]], 0))
    expect_equal(cv$results[[name]], mean(cv$folds[[name]]))
  }
  expect_equal(cv$folds$loss, 1 - cv$folds$auc)
})

test_that("arguments are those that a function has; without `k` it is fitted once", {
  set.seed(5)
  x <- two_lists()
  calls <- NULL
  bare <- function(x) {
    calls <<- c(calls, "bare")
    means(x)
  }
  full <- function(data, ..., k, control) {
    calls <<- c(calls, paste(k, control$n_start))
    means(data)
  }
  cv <- cross_validate(x, 1:3, list(bare = bare, full = full), folds = 2, control = few)
  expect_identical(cv$results$k, c(0L, 1:3))
  expect_identical(c(table(calls)), c(`1 2` = 2L, `2 2` = 2L, `3 2` = 2L, bare = 2L))
  expect_equal(cv$results$loss, rep(cv$results$loss[1], 4))
  compared <- compare_models(x, list(full = 2), list(bare = bare, full = full), folds = 2, control = few)
  expect_identical(compared$table$k, c(0L, 2L))
  expect_identical(fitted(compared$fits$bare), means(x))
  expect_equal(residuals(compared$fits$bare), x - means(x), ignore_attr = TRUE)
  expect_match(print_words(compared$fits$bare), "bare: 40 sites x 12 taxa a number for each cell")
})

test_that("names say which cell is which, and counts and arrays have means", {
  set.seed(6)
  x <- two_lists()
  turned <- function(x) {
    p <- means(x)
    dimnames(p) <- dimnames(x)
    data.frame(p[rev(seq_len(nrow(x))), 12:1])
  }
  cv <- with_seed(7, cross_validate(x, 1, list(a = means, b = turned), folds = 2))
  expect_equal(cv$results$loss[1], cv$results$loss[2])
  counts <- array(rpois(120, 3), c(5, 6, 4))
  three <- cross_validate(counts, 1, function(x) array(3, dim(x)), folds = 2)
  expect_equal(three$family, "poisson")
  expect_equal(three$results$loss, mean(-dpois(counts, 3, log = TRUE)), tolerance = 1e-6)
  sure <- function(x) replace(x, is.na(x), Inf)
  refused <- "cell \\[[1-5], [1-6], [1-4]\\] has Inf"
  expect_error(cross_validate(counts, 1, sure, folds = 2), refused, class = "multicause_input_error")
})

test_that("what is no probability is refused by model, place and value", {
  x <- with_seed(8, two_lists(6))
  judge <- function(f) cross_validate(x, 1, list(mine = f), folds = 2)
  expect_snapshot(error = TRUE, {
    judge(function(x) x[-1, ])
    judge(function(x) list(1))
    judge(function(x) replace(means(x), 14, NA))
    judge(function(x) replace(means(x), 14, 1.25))
    judge(function(x) 1:2 + "a")
    recovery(means, x == 1)
  })
})

test_that("a model that fails loses nothing of the others and is shown; so are probabilities at the floor", {
  set.seed(9)
  x <- two_lists()
  times <- 0
  once <- function(x) {
    times <<- times + 1
    if (times == 2) stop("no memory left")
    means(x)
  }
  never <- function(x, k) stop("of no use")
  sure <- function(x) round(means(x))
  run <- function() compare_models(x, 1, list(once = once, never = never, sure = sure), folds = 3, control = few)
  expect_warning(compared <- run(), class = "multicause_task_failed")
  expect_identical(compared$table$model, c("once", "sure"))
  expect_identical(compared$cells$failed$model, c("once", rep("never", 3)))
  expect_identical(compared$cells$failed$message, c("no memory left", rep("of no use", 3)))
  expect_identical(compared$cells$folds$clipped, rep(c(0, 160), 2:3))
  expect_match(print_words(compared), "lowered to 1 minus it: sure 100 %", fixed = TRUE)
  lost <- "FAILED: never, 3 fits to folds by cells: of no use\nFAILED: once, 1 fit"
  expect_output(print(compared), lost, fixed = TRUE)
  expect_output(print(compared$cells), "FAILED: once, 1 fit to folds by cells: no memory left", fixed = TRUE)
})

test_that("other verbs take them too", {
  set.seed(10)
  x <- two_lists()
  chosen <- select_k(x, 1:2, recipes$pca, c("cells", "omissions", "aic"), folds = 2)
  expect_identical(chosen$best$criterion, c("cells", "omissions", "aic"))
  expect_match(print_words(chosen), "AIC has no meaning for these fits")
  stacked <- ensemble(x, 1:2, recipes$pca, members = 1, weights = "held_out", folds = 2)
  parts <- lapply(1:2, function(k) recipes$pca(x, k))
  expect_equal(fitted(stacked), stacked$weights[1] * parts[[1]] + stacked$weights[2] * parts[[2]])
  expect_output(print(stacked), "Average of 2 fits")
  planted <- corrupt(x, omit = c(0, 0.4))
  expect_equal(recovery(recipes$pca, planted, k = 2), recovery(recipes$pca(planted$x, 2), planted))
  fit <- with_seed(11, bernoulli_mixture(planted$x, 2, control = few))
  expect_equal(with_seed(11, recovery(bernoulli_mixture, planted, k = 2, control = few)), recovery(fit, planted))
})

test_that("independent components turn principal ones", {
  skip_if_not_installed("fastICA")
  x <- with_seed(12, two_lists())
  expect_equal(unname(with_seed(1, recipes$ica(x, 2))), unname(recipes$pca(x, 2)), tolerance = 1e-6)
})

packages <- c(
  pca = "stats", ica = "fastICA", lda = "topicmodels", forest = "ranger", soft = "softImpute", reco = "recosystem",
  lca = "poLCA", gllvm = "gllvm", hmsc = "Hmsc", lfjsdm = "spOccupancy", beals = "vegan", dark = "DarkDiv"
)

test_that("every recipe has a package", {
  expect_setequal(names(packages), names(recipes))
})

for (name in names(packages)) {
  test_that(paste("the recipe", name, "finds two lists of taxa"), {
    skip_if_not_installed(packages[[name]])
    set.seed(13)
    x <- two_lists()
    x[3, ] <- 0
    x[, 5] <- 0
    cv <- cross_validate(x, 2, list(recipe = recipes[[name]], means = means), "omissions", folds = 3)
    expect_gt(cv$results$auc[1], cv$results$auc[2] + 0.1)
    expect_true(is.finite(cross_validate(x, 2, recipes[[name]], folds = 2)$results$loss))
  })
}

test_that("a function that is no model is refused by argument and name where nothing is left to compare", {
  x <- with_seed(8, two_lists(6))
  refused <- function(expr, said) expect_error(expr, said, class = "multicause_input_error", fixed = TRUE)
  wish <- paste(
    "`model` must be a model, or a function of a table that returns a fit or a matrix of its shape. \"mine\" fails:", ""
  )
  refused(compare_models(x, 1, list(mine = sum), folds = 2), paste0(wish, "invalid 'type' (list) of argument"))
  refused(cross_validate(x, 1, list(mine = function(x) stop("of no use")), folds = 2), paste0(wish, "of no use"))
  refused(select_k(x, 1, list(mine = function(x, k) stop("of no use")), "cells", folds = 2), paste0(wish, "of no use"))
  # Errors of the package's own models are unchanged.
  refused(compare_models(x, 1, list(mine = function(x, k) bernoulli_mixture(x, "two")), folds = 2), "`k` must be")
})
