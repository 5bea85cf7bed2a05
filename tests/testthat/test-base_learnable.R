# What a table cannot tell is said by all models alike.

skip_on_cran()

of_binary <- list(
  aspect_bernoulli = function(x, k) aspect_bernoulli(x, k, control = brief()),
  bernoulli_mixture = function(x, k) bernoulli_mixture(x, k, control = brief()),
  logistic_pca = function(x, k) logistic_pca(x, k, control = brief()),
  noisy_or = function(x, k) noisy_or(x, k, control = brief()),
  nmf = function(x, k) nmf(x, k, control = brief()),
  bmf = function(x, k) {
    bmf(x, k, k, family = "bernoulli", control = mcmc_control(chains = 2, warmup = 5, draws = 10, progress = FALSE))
  },
  visits_bernoulli = function(x, k) {
    y <- array(x, c(dim(x), 2L))
    names <- lapply(dim(y), seq_len)
    visits_bernoulli(structure(y, dimnames = stats::setNames(names, c("site", "taxon", "visit"))), k, control = brief())
  },
  plca = function(x, k) plca(x, k, control = brief())
)
of_counts <- list(plsa = function(x, k) plsa(x, k, control = brief()))
brief <- function() fit_control(n_start = 2, n_polish = 0, max_iter = 20, progress = FALSE)

# The messages of a call, and its error where it ends in one of ours.
said_by <- function(call) {
  said <- character()
  error <- withCallingHandlers(
    tryCatch({
      suppressWarnings(call)
      NULL
    }, multicause_input_error = conditionMessage),
    message = function(m) {
      said <<- c(said, conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  )
  c(said, error)
}

test_that("a table of which nothing can be learnt is told or refused by every model", {
  constant <- list(
    "all of its cells are 0" = matrix(0, 6, 5), "all of its cells are 1" = matrix(1, 6, 5),
    "all of its cells are NA" = matrix(NA_real_, 6, 5), "it has 1 cell" = matrix(1, 1, 1)
  )
  for (why in names(constant)) {
    for (model in names(of_binary)) {
      said <- said_by(of_binary[[model]](constant[[why]], 2))
      expect_match(said, "(Nothing|only its detection) can be learnt|must (have|hold|be at most)", all = FALSE,
        label = paste(model, why))
    }
  }
  for (why in names(constant)[c(1, 3)]) {
    said <- said_by(of_counts$plsa(constant[[why]], 2))
    expect_match(said, "Nothing can be learnt|must have", all = FALSE, label = paste("plsa", why))
  }
  said <- said_by(aspect_bernoulli(constant[[1L]], 2, control = brief()))
  expect_identical(grep("Nothing", said, value = TRUE), "Nothing can be learnt from `x`: all of its cells are 0.\n")
  said <- said_by(which_zeros(cbind(a = c(1, 0), b = 0:1), quick = TRUE, seed = 1))
  expect_no_match(paste(c("", said), collapse = " "), "learnt")
})

test_that("as many components as rows or columns are told by every model, whatever it does with them", {
  set.seed(1)
  x <- matrix(c(0, 1, rbinom(46, 1, 0.5)), 8)
  x[rowSums(x) == 0, 1] <- 1
  for (model in names(of_binary)) {
    said <- said_by(of_binary[[model]](x, 6))
    expect_match(said, "`[kl]` = 6 is not below the smaller side of the table \\(6\\)", all = FALSE, label = model)
    expect_no_match(paste(c("", said_by(of_binary[[model]](x, 5))), collapse = " "), "smaller side", label = model)
  }
  expect_match(said_by(of_counts$plsa(x, 6)), "so many components may reproduce the data exactly\\.", all = FALSE)
  # An array is repeated by components of two of its sides alone if these have as many pairs.
  three <- array(rpois(60, 3), c(5, 6, 2))
  expect_no_match(paste(c("", said_by(plca(three, 4, control = brief()))), collapse = " "), "reproduce the data")
})

test_that("unknown cells are counted once, and NaN among them", {
  set.seed(2)
  x <- matrix(rbinom(60, 1, 0.5), 10) + 0
  x[1, 1] <- 1
  expect_no_match(paste(c("", said_by(nmf(x, 2, control = brief()))), collapse = " "), "unknown")
  x[2:3, 2] <- NA
  x[4, 3] <- NaN
  for (model in setdiff(names(of_binary), "visits_bernoulli")) {
    said <- said_by(of_binary[[model]](x, 2))
    expect_identical(
      grep("unknown", said, value = TRUE), "3 of 60 cells of `x` are unknown: 2 NA, and 1 NaN, which is taken as NA.\n",
      label = model
    )
  }
  expect_match(said_by(of_binary$visits_bernoulli(x, 2)), "must hold only 0, 1 or NA: row 4, .* is NaN")
  sparse <- Matrix::Matrix(replace(x, 4 + 20, 0), sparse = TRUE)
  expect_match(said_by(nmf(sparse, 2, control = brief())), "^2 of 60 cells of `x` are unknown \\(NA\\)", all = FALSE)
})

test_that("unknown cells are told once where many models are judged", {
  set.seed(2)
  x <- matrix(rbinom(80, 1, 0.5), 10) + 0
  x[2:3, 2] <- NA
  x[4, 3] <- NaN
  judges <- list(
    cross_validate = function(x) cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = brief()),
    compare_models = function(x) {
      compare_models(x, 1:2, list(a = bernoulli_mixture, b = nmf), "cells", folds = 2, control = brief())
    },
    select_k = function(x) select_k(x, 1:2, bernoulli_mixture, c("cells", "bic"), folds = 2, control = brief())
  )
  for (verb in names(judges)) {
    expect_identical(
      grep("unknown", said_by(judges[[verb]](x)), value = TRUE),
      "3 of 80 cells of `x` are unknown: 2 NA, and 1 NaN, which is taken as NA.\n", label = verb
    )
  }
  expect_no_match(paste(c("", said_by(judges$select_k(replace(x, is.na(x), 0)))), collapse = " "), "unknown")
})

test_that("taxa found at the same sites, and at all others, are told, and so are equal lists", {
  set.seed(3)
  x <- matrix(rbinom(400, 1, 0.5), 20, dimnames = list(sprintf("s%02d", 1:20), sprintf("t%02d", 1:20)))
  expect_identical(alike_pairs(x), list())
  x[, 7] <- x[, 4]
  x[, 9] <- 1 - x[, 2]
  x <- rbind(x, s21 = x[5, ])
  said <- paste(said_by(bernoulli_mixture(x, 2, control = brief())), collapse = "")
  expect_match(said, "Equal columns of `x`: \"t04\" and \"t07\".", fixed = TRUE)
  told <- "Inverse columns of `x`: \"t02\" and \"t09\" (1 where the other has 0: check the coding)."
  expect_match(said, told, fixed = TRUE)
  expect_match(said, "Equal rows of `x`: \"s05\" and \"s21\".", fixed = TRUE)
  expect_identical(alike_pairs(Matrix::Matrix(x, sparse = TRUE)), alike_pairs(x))
  # Few presences are alike by chance.
  rare <- matrix(0, 20, 6)
  rare[1:3, 1:2] <- 1
  expect_identical(alike_pairs(rare), list())
  # Columns that differ in one unknown cell are not equal.
  x[1, 7] <- NA
  expect_no_match(paste(said_by(bernoulli_mixture(x, 2, control = brief())), collapse = ""), "Equal columns")
})

test_that("equal columns and rows of several values are told", {
  set.seed(3)
  x <- matrix(sample(c("-", "+", "1"), 400, TRUE), 20, dimnames = list(sprintf("s%02d", 1:20), sprintf("t%02d", 1:20)))
  values <- c("-", "+", "1")
  told <- function(x) {
    said <- said_by(aspect_categorical(x, 2, values = values, control = brief()))
    grep("Equal|Inverse", said, value = TRUE)
  }
  expect_identical(told(x), character())
  x[, 9] <- ifelse(x[, 2] == "-", "+", "-") # the inverse of a table of two values, but not of three
  expect_identical(told(x), character())
  x[, 7] <- x[, 4]
  x <- rbind(x, s21 = x[5, ])
  expect_identical(
    told(x), c("Equal columns of `x`: \"t04\" and \"t07\".\n", "Equal rows of `x`: \"s05\" and \"s21\".\n")
  )
})

test_that("equal and inverse levels of an array are told by plca()", {
  set.seed(6)
  x <- matrix(rbinom(400, 1, 0.5), 20)
  x[, 7] <- x[, 4]
  x[, 9] <- 1 - x[, 2]
  said <- said_by(plca(x, 2, control = brief()))
  expect_match(said, "Equal columns of `x`: \"4\" and \"7\".", fixed = TRUE, all = FALSE)
  told <- "Inverse columns of `x`: \"2\" and \"9\" (1 where the other has 0: check"
  expect_match(said, told, fixed = TRUE, all = FALSE)
  three <- array(rbinom(480, 1, 0.5), c(10, 8, 6), list(site = letters[1:10], taxon = LETTERS[1:8], time = NULL))
  three[, 5, ] <- three[, 2, ]
  three[4, , ] <- 1 - three[3, , ]
  said <- said_by(plca(three, 2, control = brief()))
  expect_match(said, "Equal levels of taxon of `x`: \"B\" and \"E\".", fixed = TRUE, all = FALSE)
  expect_match(said, "Inverse levels of site of `x`: \"c\" and \"d\" (1 where", fixed = TRUE, all = FALSE)
  expect_length(grep("levels", said), 2L)
  expect_match(said, "`x` has no names of time: results call them by their numbers", fixed = TRUE, all = FALSE)
})

test_that("missing names of rows and columns are told once by every model", {
  set.seed(7)
  x <- matrix(rbinom(120, 1, 0.5), 12)
  for (model in setdiff(names(of_binary), "visits_bernoulli")) {
    expect_identical(
      grep("no names", said_by(of_binary[[model]](x, 2)), value = TRUE),
      "`x` has no names of rows and columns: results call them by their numbers.\n", label = model
    )
  }
  colnames(x) <- letters[1:10]
  said <- said_by(aspect_bernoulli(as.data.frame(x), 2, control = brief()))
  expect_identical(
    grep("no names", said, value = TRUE), "`x` has no names of rows: results call them by their numbers.\n"
  )
  rownames(x) <- LETTERS[1:12]
  expect_no_match(paste(c("", said_by(aspect_bernoulli(x, 2, control = brief()))), collapse = " "), "no names")
  expect_no_match(paste(c("", said_by(aspect_bernoulli(x, 2, control = brief()))), collapse = " "), "where there are")
  filled <- data.frame(unname(x), row.names = rownames(x))
  expect_match(said_by(nmf(filled, 2, control = brief())), all = FALSE, fixed = TRUE,
    "Names of columns of `x`, \"X1\" to \"X10\", are those that R gives where there are none.")
  expect_match(said_by(nmf(as.data.frame(unname(x)), 2, control = brief())), "\"V1\" to \"V10\"", all = FALSE)
  expect_length(grep("no names", said_by(which_zeros(unname(x), quick = TRUE, seed = 1))), 1L)
})

test_that("trivial noise changes no fit: every model, and plsa() keeps its prior", {
  set.seed(4)
  x <- 3 * matrix(rpois(96, 1), 12)
  x[, 1] <- 3
  noisy <- x + 1e-15
  plain <- fit_control(n_start = 1, n_polish = 0, max_iter = 30, tol = 0, accelerate = FALSE, progress = FALSE)
  fit_of <- function(model, x, ...) {
    set.seed(5)
    suppressWarnings(suppressMessages(model(x, 2, ..., control = plain)))
  }
  for (model in list(plsa, plca, nmf)) {
    expect_equal(fit_of(model, noisy)$objective, fit_of(model, x)$objective, tolerance = 1e-9)
    expect_equal(fitted(fit_of(model, noisy)), fitted(fit_of(model, x)), tolerance = 1e-7)
  }
  expect_equal(fit_of(plsa, noisy, estimate = "vb")$objective, fit_of(plsa, x, estimate = "vb")$objective,
    tolerance = 1e-9)
  # Values within the rounding of large counts are whole; small ones are not taken for zeros alone.
  expect_true(is_whole(list(value = c(0.1 * 30, 7e8 + 1e-7))))
  expect_false(is_whole(list(value = c(1e-12, 3e-12))))
  expect_false(is_whole(list(value = c(1, 2.001))))
  # Models of 0 and 1 take no other values.
  for (model in names(of_binary)[1:4]) {
    expect_error(of_binary[[model]](pmin(x, 1) + 1e-9, 2), "0, 1 or NA", class = "multicause_input_error")
  }
})

test_that("plsa() samples counts that differ from whole numbers by rounding alone as these", {
  set.seed(6)
  x <- matrix(rpois(60, 3), 10)
  x[1, 1] <- 3
  control <- mcmc_control(chains = 1, warmup = 5, draws = 10, progress = FALSE)
  draw <- function(x) {
    set.seed(7)
    suppressWarnings(suppressMessages(plsa(x, 2, estimate = "gibbs", control = control)))$param$basis
  }
  expect_identical(draw(x - 1e-13 * (x > 0)), draw(x))
})

test_that("an option silences messages", {
  x <- matrix(c(NA, 0, 1, 1, 0, 1, 1, 0, 0, 1), 5)
  expect_message(nmf(x, 1, control = brief()), "unknown")
  old <- options(multicause.quiet = TRUE)
  on.exit(options(old))
  expect_no_message(nmf(x, 1, control = brief()))
})

test_that("plot() of what has no picture says where pictures are", {
  near <- smooth_over(age = 1:5, bandwidth = 1, strength = 1)
  expect_error(plot(near), "plot\\(fit, \"curves\"\\)", class = "multicause_input_error")
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  pieces <- suppressMessages(shards(simulated_sites$x, folder, size = 60))
  expect_error(plot(pieces), "plot a fit to them", class = "multicause_input_error")
  fit_of <- function(...) suppressWarnings(suppressMessages(aspect_bernoulli(..., control = brief())))
  kinds <- phantoms(fit_of(simulated_sites$x, 2, phantom = "white"))
  expect_error(plot(kinds), "a table: plot\\(fit\\)", class = "multicause_input_error")
})

test_that("rows and columns that are sums of all others are told, of counts and of what is made of them", {
  set.seed(1)
  y <- matrix(rpois(800, 0.5), 40, 20, dimnames = list(paste0("s", 1:40), paste("Genus", letters[1:20])))
  told <- function(x, kind) paste(testthat::capture_messages(check_data(x, kind)), collapse = " ")
  row <- rbind(y, Total = colSums(y))
  column <- cbind(y, Total = rowSums(y))
  both <- rbind(column, All = colSums(column))
  for (as in list(identity, function(x) methods::as(x, "CsparseMatrix"))) {
    expect_match(told(as(row), "count"), 'Row "Total" of `x` is the sum of the others. Leave it out: `x[-41, ]`.',
      fixed = TRUE)
    expect_match(told(as(column), "count"), 'Column "Total" of `x` is the sum of the others. Leave it out: `x[, -21]`.',
      fixed = TRUE)
    expect_match(told(as(both), "nonnegative"), 'Row "All".*Column "Total"')
    expect_match(told(as((row > 0) + 0), "binary"), 'Row "Total" of `x` is 1 in all columns, other rows')
    expect_match(told(as((column > 0) + 0), "binary"), 'Column "Total" of `x` is 1 in all rows, other columns')
  }
  for (silent in list(y, (y > 0) + 0, y[1:2, ])) expect_no_match(told(silent, "count"), "is the sum|is 1 in")
  expect_no_match(told(rbind((y > 0) + 0, a = 1, b = 1), "binary"), "is 1 in")
})

test_that("names with commas stay whole where equal lines are named", {
  set.seed(1)
  x <- matrix(rbinom(450, 1, 0.4), 30, 15, dimnames = list(paste0("Core, ", 1:30), letters[1:15]))
  x[2, ] <- x[1, ]
  expect_message(check_data(x, "binary"), 'Equal rows of `x`: "Core, 1" and "Core, 2".', fixed = TRUE)
})
