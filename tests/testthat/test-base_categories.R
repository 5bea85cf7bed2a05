refuses <- function(expr, ...) expect_error(suppressMessages(expr), ..., class = "multicause_input_error")

test_that("tables of text, factors, numbers and flags are read with their values in order", {
  text <- matrix(c("b", "a", NA, "c"), 2, dimnames = list(c("s1", "s2"), c("t1", "t2")))
  x <- category_table(text)
  expect_identical(attr(x, "values"), c("a", "b", "c"))
  expect_identical(unclass(x)[1:2, 1:2], matrix(c(1L, 0L, NA, 2L), 2, dimnames = dimnames(text)))
  expect_identical(attr(category_table(text, values = c("c", "b", "a", "d")), "values"), c("c", "b", "a", "d"))
  expect_identical(as.vector(category_table(text, values = c("c", "b", "a"))), c(1L, 2L, NA, 0L))
  expect_identical(category_table(x), x)
  expect_identical(as.vector(category_table(x, values = c("c", "b", "a"))), c(1L, 2L, NA, 0L))
  expect_identical(attr(category_table(matrix(c(10, 9, 1, 10), 2)), "values"), c("1", "9", "10"))
  expect_identical(attr(category_table(matrix(c(TRUE, FALSE), 1)), "values"), c("FALSE", "TRUE"))
  cover <- c("low", "mid", "high")
  frame <- data.frame(t1 = factor(c("low", "high"), cover), t2 = factor(c("mid", NA), cover))
  y <- category_table(frame)
  expect_identical(attr(y, "values"), c("low", "mid", "high"))
  expect_identical(as.data.frame(y)$t1, frame$t1)
  expect_message(named <- category_table(cbind(plot = c("p1", "p2"), frame)), "Row names taken from the first column")
  expect_identical(rownames(named), c("p1", "p2"))
  expect_identical(as.vector(category_table(Matrix::Matrix(c(0, 2, 0, 1), 2, sparse = TRUE))), c(0L, 2L, 0L, 1L))
})

test_that("rows, columns and cells of a table are those of a matrix", {
  x <- category_table(matrix(c("b", "a", NA, "c"), 2, dimnames = list(c("s1", "s2"), c("t1", "t2"))))
  expect_s3_class(x["s2", , drop = FALSE], "category_table")
  expect_identical(attr(x[2:1, ], "values"), c("a", "b", "c"))
  expect_identical(x[1, 1], "b")
  expect_identical(x[c(1, 4)], c("b", "c"))
  expect_identical(x["s2", ], c(t1 = "a", t2 = "c"))
  x[1, 1] <- NA
  expect_s3_class(x, "category_table")
  expect_snapshot(print(x))
})

test_that("cells are replaced by values, compared with them, and bound with their like", {
  x <- category_table(matrix(c("b", "a", NA, "c"), 2))
  x[is.na(x)] <- "c"
  expect_identical(x, category_table(matrix(c("b", "a", "c", "c"), 2)))
  expect_identical(x == "c", matrix(c(FALSE, FALSE, TRUE, TRUE), 2))
  expect_identical(x != x, matrix(FALSE, 2, 2))
  ratings <- category_table(matrix(c(1, NA, 3, 2), 2), values = 1:3)
  ratings[is.na(ratings)] <- 1
  expect_identical(as.vector(ratings), c(0L, 0L, 2L, 1L))
  ratings[1, ] <- ratings[2, ]
  expect_identical(as.vector(ratings[1, , drop = FALSE]), c(0L, 1L))
  refuses(ratings[1, 1] <- 7, "not by \"7\"")
  turned <- rbind(ratings[2, , drop = FALSE], ratings[1, , drop = FALSE])
  expect_identical(turned, ratings[2:1, ])
  expect_identical(cbind(ratings[, 1, drop = FALSE], NULL, ratings[, 2, drop = FALSE]), ratings)
  refuses(rbind(ratings, x), "argument 2 is not")
})

test_that("known values are no row names, types of numbers are one, and geometry is no column", {
  frame <- data.frame(a = c("absent", "certain"), b = c("cf.", "cf."))
  expect_identical(dim(category_table(frame, values = c("absent", "cf.", "certain"))), c(2L, 2L))
  mixed <- category_table(data.frame(a = c(TRUE, FALSE, TRUE), b = c(0, 1, 1)))
  expect_identical(as.vector(mixed), c(1L, 0L, 1L, 0L, 1L, 1L))
  large <- category_table(data.frame(a = c(100000L, 1L, 1L), b = c(0.5, 1, 1)))
  expect_identical(as.vector(large), c(2L, 1L, 1L, 0L, 1L, 1L))
  frame <- data.frame(a = c("x", "y"), b = c("y", "x"))
  frame$geometry <- structure(list(1, 2), class = c("sfc_POINT", "sfc"))
  expect_message(table <- category_table(frame), "the geometry \"geometry\"", fixed = TRUE)
  expect_identical(colnames(table), c("a", "b"))
})

test_that("a long table has a column for each feature, unknown where nobody recorded it", {
  records <- data.frame(
    place = c("b", "a", "a", "b", "c", "b"), feature = c("rock", "rock", "grain", "grain", "rock", "rock"),
    state = c("shale", "sand", "coarse", NA, NA, "shale")
  )
  x <- category_table(records, site = "place", taxon = "feature", value = "state")
  expect_identical(dimnames(x), list(c("a", "b", "c"), c("grain", "rock")))
  expect_identical(attr(x, "values"), c("coarse", "sand", "shale"))
  expect_identical(as.vector(x), c(0L, NA, NA, 1L, 2L, NA))
  each <- indicator_matrix(x)
  expect_identical(colnames(each), c("grain=coarse", "rock=sand", "rock=shale"))
  expect_identical(unname(each["b", ]), c(NA, 0L, 1L))
  expect_identical(unname(each["c", ]), rep(NA_integer_, 3))
  refuses(indicator_matrix(x[3, , drop = FALSE]), "known cell")
  records$state[6] <- "sand"
  refuses(category_table(records, site = "place", taxon = "feature", value = "state"),
    "row 6 has \"sand\" for \"b\" and \"rock\", a row before it \"shale\"")
  refuses(category_table(records, site = "place", taxon = "feature"), "`value` must be the name of a column")
  refuses(category_table(as.matrix(records), site = "place"), "data frame of records")
})

test_that("what is no table of values is refused", {
  text <- matrix(c("b", "a", "", "c"), 2)
  refuses(category_table(text), "no blank cells")
  refuses(category_table(text, values = c("a", "b", "c")), "row 1, column 2 is \"\"")
  refuses(category_table(matrix("a", 2, 2)), "at least two values: all its known cells are \"a\"")
  refuses(category_table(matrix(NA, 2, 2)), "no cell is known")
  refuses(category_table(matrix(1:60, 6)), "at most 50 different values, not 60")
  refuses(category_table(1:3), "must be a matrix or data frame")
  refuses(category_table(list(1)), "must be a matrix or data frame")
  refuses(category_table(text, values = "a"), "`values` must be 2 to 50")
  refuses(category_table(text, c("a", "a")), "`values` must be 2 to 50")
  refuses(category_table(), "`x` must be supplied")
  refuses(category_table(data.frame(a = I(list(1)), b = 1)), "must be plain: \"a\"")
  refuses(category_table(matrix(c(1, 2), 1, dimnames = list(NULL, c("t", "t")))), "unique")
  twice <- suppressMessages(category_table(matrix(c("a", "b"), 2)))
  refuses(nmf(twice, 1), "several values")
})

test_that("numbers that are not finite are no values, unless they are among those given", {
  x <- matrix(c(1, 2, 3, 1), 2)
  for (odd in c(Inf, -Inf, NaN)) {
    expect_error(category_table(replace(x, 3, odd)), sprintf('row 1, column 2 is "%s"', odd), fixed = TRUE,
      class = "multicause_input_error")
  }
  expect_identical(category_values(category_table(replace(x, 3, Inf), values = c(1, 2, Inf))), c("1", "2", "Inf"))
})

test_that("values of kinds that have no order are refused", {
  refuses(category_table(data.frame(a = 1i * 1:4)), "must be plain: \"a\" is not")
  refuses(category_table(matrix(as.raw(1:4), 2)), "must be a matrix or data frame")
  refuses(aspect_categorical(matrix(c(0, 1, 1, 2, 0, 1), 3), 2, phantom = methods::new("className", "a")), "phantom")
  refuses(category_table(matrix(1:4, 2), values = quote(a)), "`values` must be 2 to")
})

test_that("tables without a value, or with blank cells, say what they lack", {
  refused <- function(expr, text) {
    expect_error(suppressMessages(expr), text, fixed = TRUE, class = "multicause_input_error")
  }
  refused(indicator_matrix(category_table(matrix(NA_character_, 2, 2), values = c("a", "b"))),
    "`x` must have a known cell.")
  refused(category_table(matrix(c("a", "", "b", "a"), 2)),
    "`x` must have no blank cells: use `x[x %in% \"\"] <- NA`, or the value that they stand for.")
  records <- data.frame(site = c("s", NA), taxon = c(NA, "t"), value = c("u", "v"))
  refused(category_table(records, site = "site", taxon = "taxon", value = "value"),
    "`x` must have a record with a site, a taxon and a value.")
})
