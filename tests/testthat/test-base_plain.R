# Numbers of package bit64, which are stored in the memory of doubles, made without it: low and high halves.
long <- function(low, high = 0L * low) {
  values <- readBin(writeBin(as.vector(rbind(low, high)), raw(), endian = "little"), "double", length(low),
    endian = "little")
  structure(values, class = "integer64")
}
as_long <- function(values) long(as.integer(values))
quietly <- function(x) suppressMessages(x, classes = "multicause_message")
few <- fit_control(n_start = 1, progress = FALSE)

test_that("numbers of 64 bits are numbers of R, those that doubles do not have excepted", {
  expect_identical(plain_values(long(c(5L, -1L, 0L, NA), c(0L, -1L, 1L, 1L))), c(5, -1, 2^32, 2^32 + 2^31))
  expect_identical(plain_values(long(c(1L, 0L), c(0L, NA))), c(1, NA))
  expect_identical(plain_values(long(-1L, 2097151L)), 2^53 - 1)
  expect_identical(plain_values(long(1L, 2097152L)), long(1L, 2097152L))
  named <- structure(as_long(1:4), dim = c(2L, 2L), dimnames = list(c("a", "b"), NULL))
  expect_identical(plain_values(named), matrix(c(1, 2, 3, 4), 2, dimnames = list(c("a", "b"), NULL)))
  expect_identical(plain_values(structure(as_long(1:2), names = c("a", "b"))), c(a = 1, b = 2))
})

test_that("units and labels go, names and shape stay, and classes of R stay as they are", {
  length <- structure(matrix(c(0, 2, 2, 0), 2), units = "m", class = "units")
  expect_identical(plain_values(length), matrix(c(0, 2, 2, 0), 2))
  labelled <- structure(c(a = 1, b = 0), labels = c(yes = 1), class = c("haven_labelled", "vctrs_vctr", "double"))
  expect_identical(plain_values(labelled), c(a = 1, b = 0))
  for (value in list(as.Date("2020-01-01"), factor("a"), Sys.time(), 1:3, "a")) {
    expect_identical(plain_values(value), value)
  }
})

test_that("covariates, groups and tables of 64 bits are read as the numbers that they are", {
  set.seed(1)
  x <- outer(1:24, 1:12, function(i, j) (i <= 12) == (j <= 6)) * matrix(rbinom(288, 1, 0.7), 24)
  dimnames(x) <- list(paste0("s", 1:24), paste0("t", 1:12))
  depth <- rpois(24, 30)
  near <- function(...) smooth_over(..., bandwidth = 1, strength = 1)$given
  expect_equal(near(environment = as_long(depth)), near(environment = depth))
  frame <- data.frame(site = rownames(x))
  frame$depth <- as_long(depth)
  expect_equal(quietly(near(environment = frame)$environment), quietly(near(environment =
    data.frame(site = rownames(x), depth = depth))$environment))
  expect_equal(near(age = as_long(depth)), near(age = depth))
  metres <- structure(as.matrix(stats::dist(depth)), units = "m", class = "units")
  expect_equal(near(distance = metres), near(distance = as.matrix(stats::dist(depth))))
  expect_identical(match_effort(as_long(depth), 24, rownames(x)), as.double(depth))
  expect_identical(
    levels(group_factor(as_long(rep(1:2, 12)), 24, 1L, rep(TRUE, 24), rownames(x))), c("1", "2")
  )
  table <- as.data.frame(x)
  table$t3 <- as_long(x[, 3])
  expect_identical(as_plain_matrix(table, "x"), x + 0)
})

test_that("predictions for covariates of 64 bits are those of their numbers", {
  set.seed(2)
  surveys <- data.frame(site = 1:30, y = matrix(rbinom(120, 1, 0.5), 30), depth = 1:30)
  fit <- quietly(visits_occupancy(surveys, ~depth, control = few))
  new <- data.frame(depth = c(0, NA, 9))
  long_new <- data.frame(depth = 1:3)
  long_new$depth <- long(c(0L, 0L, 9L), c(0L, NA, 0L))
  expect_identical(predict(fit, long_new), predict(fit, new))
})

test_that("a table of counts with the geometry of its sites is the table", {
  set.seed(3)
  x <- matrix(rbinom(40, 1, 0.5), 8, dimnames = list(paste0("s", 1:8), paste0("t", 1:5)))
  places <- as.data.frame(x)
  places$geometry <- structure(lapply(1:8, function(i) c(i, i)), class = c("sfc_POINT", "sfc"))
  class(places) <- c("sf", "data.frame")
  attr(places, "sf_column") <- "geometry"
  expect_message(plain <- as_plain_matrix(places, "x"), "Left out of `x`: the geometry \"geometry\"", fixed = TRUE)
  expect_identical(plain, x)
  expect_no_message(as_plain_matrix(as.data.frame(x), "x"))
})

test_that("units and labels that a table loses are told once by a model", {
  set.seed(4)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  marked <- as.data.frame(x)
  marked$B <- structure(as.numeric(marked$B), units = "m", class = "units")
  marked$D <- structure(marked$D, labels = c(no = 0L, yes = 1L), class = "haven_labelled")
  few <- fit_control(n_start = 1, progress = FALSE)
  told <- testthat::capture_messages(fit <- nmf(marked, 2, control = few))
  expect_identical(
    grep("units", told, value = TRUE), "Columns of `x` are taken without their units or labels: \"B\", \"D\".\n"
  )
  expect_equal(fit$x, x)
})

test_that("columns of a class whose package is not at hand are the numbers that they hold", {
  skip_if_not_installed("tibble") # loads vctrs, whose values become text only by their own package
  set.seed(5)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  table <- tibble::as_tibble(as.data.frame(x))
  labelled <- function(values) {
    structure(as.double(values), labels = c(no = 0, yes = 1), class = c("haven_labelled", "vctrs_vctr", "double"))
  }
  table$B <- labelled(x[, "B"])
  expect_identical(dim(quietly(occurrence_matrix(table, site = "B", taxon = "C", present = NULL))), c(2L, 2L))
  table$C <- structure(as.double(x[, "C"]), class = c("percent", "vctrs_vctr"))
  expect_error(as.character(table$C), "percent")
  expect_identical(unname(quietly(as_plain_matrix(table, "x"))), unname(x) + 0)
  fit <- function(x) unname(fitted(quietly(nmf(x, 1, control = few))))
  expect_equal(fit(table), fit(x))
})
