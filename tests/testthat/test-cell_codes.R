# Codes of presences in tables of other programs, and the messages about them.

told <- function(code) tryCatch(code, multicause_input_error = conditionMessage)

few <- fit_control(n_start = 1, max_iter = 5)

presences <- matrix(c(1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0), 4, dimnames = list(letters[1:4], c("Aa bb", "Cc dd", "Ee")))

test_that("a table of 1 and NA is asked about by every model, and by which_zeros()", {
  x <- presences
  x[x == 0] <- NA
  models <- list(
    function(x) aspect_bernoulli(x, 2, control = few), function(x) bernoulli_mixture(x, 2, control = few),
    function(x) nmf(x, 2, control = few), function(x) plsa(x, 2, control = few),
    function(x) logistic_pca(x, 2, control = few), function(x) noisy_or(x, 2, control = few),
    function(x) bmf(x, family = "bernoulli"), function(x) neighbours_mean(x),
    which_zeros, function(x) range_through(x, 1:4), function(x) shards(x, tempfile()),
    function(x) plca(x, 2, control = few), function(x) cross_validate(x, 2, nmf, control = few),
    function(x) ensemble(x, 2, control = few)
  )
  for (model in models) {
    expect_identical(
      told(model(x)), "`x` must have a zero: all its cells are 1 or NA. Are blanks zeros? Then use `x[is.na(x)] <- 0`."
    )
  }
  expect_identical(told(check_data(as.data.frame(x), "binary")), told(check_data(x, "binary")))
  expect_identical(dim(check_data(matrix(1, 3, 2), "binary")$x), c(3L, 2L)) # nothing was blank
  expect_identical(dim(check_data(matrix(c(1, NA), 1), "binary", "newdata", quiet = TRUE)$x), 1:2)
})

test_that("a fold that hides all zeros is no such table", {
  x <- replace(matrix(1, 6, 4), 3L, 0)
  cv <- suppressWarnings(cross_validate(x, 1, aspect_bernoulli, folds = 2, control = few))
  expect_true(all(is.finite(cv$results$loss)))
})

test_that("counts without a zero are asked about where most cells are NA, and taken", {
  x <- matrix(c(1, NA, NA, 4, NA, NA, NA, 2), 4)
  expect_message(check_data(x, "count"), "No cell of `x` is 0, and 5 are NA. Are blanks zeros?", fixed = TRUE)
  expect_no_message(check_data(x + 0.5, "nonnegative"))
  expect_no_message(check_data(replace(x + 1, 1, NA), "nonnegative"), message = "blanks")
  expect_no_message(check_data(cbind(x, 0), "count"))
})

test_that("crosses and words are told how to become numbers, and the advice does it", {
  for (sign in list(c("x", ""), c("X", NA), c("+", "-"), c("present", "absent"), c("TRUE", "FALSE"), c("\u25cf", ""))) {
    x <- matrix(ifelse(presences == 1, sign[1L], sign[2L]), 4, dimnames = dimnames(presences))
    for (x in list(x, data.frame(site = rownames(x), x), data.frame(site = rownames(x), x, stringsAsFactors = TRUE))) {
      said <- told(check_data(x, "binary"))
      made <- eval(parse(text = sub("^.* as in `(.*)`;.*$", "\\1", said)))
      expect_identical(unname(made %in% 1), as.vector(presences == 1), info = said)
    }
  }
  expect_match(told(check_data(matrix(c("Equus", "Bison"), 2), "binary")), "occurrence_matrix()", fixed = TRUE)
})

test_that("codes of numbers are told what they may be", {
  said <- function(values, kind = "binary") {
    sub("^`x` must [^:]*: row [0-9]+, column [0-9]+ is [^ ]+\\. ?", "", told(check_data(matrix(values, 2), kind)))
  }
  two <- "If 2 stands for a presence and 1 for none, use `x - 1`; if 1 does and 2 for none, `2 - x`."
  expect_identical(said(c(1, 2, 2, 1)), two)
  expect_identical(said(c(1, 2, 9, 1)), paste("If 9 is unknown, use `x[x == 9] <- NA`.", two))
  expect_identical(
    said(c(0, 1, 99, 1)), "If 99 is unknown, use `x[x == 99] <- NA`. For counts, use `(x > 0) + 0`."
  )
  for (code in c(-9, -999, -9999)) {
    expect_identical(said(c(0, 1, code, 1)), sprintf("If %d is unknown, use `x[x == %d] <- NA`.", code, code))
    expect_identical(said(c(0, 7, code, 1), "count"), sprintf("If %d is unknown, use `x[x == %d] <- NA`.", code, code))
  }
  expect_identical(said(c(0, 1, 5, 3)), "For counts, use `(x > 0) + 0`.")
  expect_identical(said(c(0, 1, 0.5, 1)), "") # doubtful records
  amounts <- "For amounts, such as percentages or cover, use `(x > 0) + 0`."
  expect_identical(said(c(0, 15.1, 0, 7)), amounts)
  expect_identical(said(c(0, 0.11, 0.2, 0.29, 0.4, 0.05)), amounts)
  # By `x > 0` all zeros of a table that was computed would be presences.
  rounding <- "Its values are 0 and 1 but for rounding: use `round(x)`."
  expect_identical(said(c(1e-16, 1, 0, 1 - 1e-12)), rounding)
  expect_identical(said(c(-1e-16, 1, 1e-17, 1)), rounding)
  expect_identical(said(c(0, 15.1, 1e-16, 7)), amounts)
})

test_that("a column that is no taxon is named", {
  x <- cbind(diag(4) * 3, depth = c(1.5, 0, 2, 3), 0)
  expect_match(codes_advice(x, "x"), 'only "depth" holds fractions or values below 0', fixed = TRUE)
  expect_match(codes_advice(unname(x), "x"), 'only "5" holds', fixed = TRUE)
  below <- cbind(diag(4) * 3, temperature = c(1, 0, -2, 3), 0)
  expect_match(codes_advice(below, "x"), 'only "temperature" holds fractions or values below 0. Leave out what',
    fixed = TRUE)
  expect_match(codes_advice(x[, 4:6], "x"), "For amounts", fixed = TRUE)
  # Among columns of 0 and 1 only, half may be unlike them; among those of larger numbers a quarter.
  placed <- cbind(diag(5), easting = 1:5 / 2, northing = 1:5 / 4, height = 1:5 / 8)
  expect_match(codes_advice(placed, "x"), 'only "easting", "northing", "height" hold values other', fixed = TRUE)
  expect_match(codes_advice(cbind(2 * diag(5), placed[, 6:8]), "x"), "For amounts", fixed = TRUE)
  expect_match(codes_advice(cbind(placed, 1:5 / 16, 1:5 / 32, 1:5 / 64), "x"), "For amounts", fixed = TRUE)
  cold <- cbind(diag(5) * 3, -2:2)
  colnames(cold) <- c(letters[1:5], "temperature")
  expect_error(check_data(cold, "nonnegative"), class = "multicause_input_error",
    '"temperature"\\) is -2. Of all columns only "temperature" holds fractions.*Leave out of `x` what is no taxon')
})
