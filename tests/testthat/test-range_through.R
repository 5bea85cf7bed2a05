# The rule, cell by cell.
ref_range_through <- function(x, old, young = old, inclusive = FALSE) {
  out <- matrix(FALSE, nrow(x), ncol(x), dimnames = dimnames(x))
  for (j in seq_len(ncol(x))) {
    found <- which(!is.na(x[, j]) & x[, j] > 0 & !is.na(old))
    if (!length(found)) next
    first <- max(young[found])
    last <- min(old[found])
    for (i in seq_len(nrow(x))) {
      if (is.na(old[i]) || is.na(x[i, j]) || x[i, j] > 0) next
      out[i, j] <- if (inclusive) old[i] <= first && young[i] >= last else old[i] < first && young[i] > last
    }
  }
  out
}

named <- function(x) {
  dimnames(x) <- list(paste0("s", seq_len(nrow(x))), paste0("t", seq_len(ncol(x))))
  x
}

test_that("gaps are the zeros between the oldest and the youngest presence", {
  x <- named(cbind(c(1, 0, 0, 1, 0), c(0, 1, 0, 0, 1), c(0, 0, 1, 0, 0), 0))
  gaps <- range_through(x, c(50, 40, 30, 20, 10))
  expect_identical(which(gaps), c(2L, 3L, 8L, 9L))
  expect_identical(dimnames(gaps), dimnames(x))
  expect_identical(range_through(x, -c(50, 40, 30, 20, 10)), gaps)
  expect_identical(range_through(x == 1, 5:1), gaps)
  expect_identical(range_through(3 * x, 5:1), gaps)
  expect_identical(range_through(as.data.frame(x), 5:1), gaps)
})

test_that("ties follow the rule that was asked for", {
  x <- named(cbind(c(0, 1, 0, 0, 1, 0), c(0, 1, 0, 0, 0, 0)))
  age <- c(9, 9, 9, 5, 2, 2)
  expect_identical(which(range_through(x, age)), 4L)
  expect_identical(which(range_through(x, age, ties = "include")), c(1L, 3L, 4L, 6L, 7L, 9L))
  expect_identical(which(range_through(x, age, ties = "order")), 3:4)
  # young to old: the order of the rows is reversed, and so are the gaps
  expect_identical(range_through(x, -age, ties = "order"), range_through(x, age, ties = "order"))
  expect_identical(range_through(x[6:1, ], age[6:1], ties = "order")[6:1, ], range_through(x, age, ties = "order"))
})

test_that("with bounds only what is certain counts, and more coarse dating never adds gaps", {
  set.seed(1)
  x <- named(matrix(rbinom(30 * 8, 1, 0.3), 30))
  age <- round(runif(30, 1, 9))
  wide <- runif(30, 0, 2)
  for (ties in c("exclude", "include")) {
    inclusive <- ties == "include"
    expect_identical(range_through(x, age, ties), ref_range_through(x, age, inclusive = inclusive))
    gaps <- range_through(x, cbind(age + wide, age - wide), ties)
    expect_identical(gaps, ref_range_through(x, age + wide, age - wide, inclusive))
    expect_false(any(gaps & !range_through(x, age, ties)))
    expect_identical(range_through(x, data.frame(min = age - wide, max = age + wide), ties), gaps)
    expect_identical(range_through(x, cbind(age, age), ties), range_through(x, age, ties))
  }
})

test_that("unknown cells and sites without an age are neither gaps nor ends of a range", {
  x <- named(cbind(c(1, 0, NA, 0, 1)))
  expect_identical(which(range_through(x, 5:1)), c(2L, 4L))
  expect_message(gaps <- range_through(x, c(NA, 4, 3, 2, 1)), "without an age: 1 of 5[.]", class = "multicause_message")
  expect_identical(which(gaps), integer())
  for (ties in c("exclude", "include", "order")) {
    expect_message(gaps <- range_through(named(cbind(c(1, 0, 0, 1))), c(4, NA, 2, 1), ties))
    expect_identical(which(gaps), 3L)
  }
  expect_message(gaps <- range_through(x, rep(NA_real_, 5)))
  expect_false(any(gaps))
})

test_that("sparse input gives the same, sparse", {
  set.seed(2)
  x <- named(matrix(rbinom(40 * 10, 1, 0.2), 40))
  x[5, 3] <- NA
  age <- round(runif(40, 1, 9))
  for (ties in c("exclude", "include", "order")) {
    gaps <- range_through(Matrix::Matrix(x, sparse = TRUE), age, ties)
    expect_s4_class(gaps, "lgCMatrix")
    expect_identical(as.matrix(gaps), range_through(x, age, ties))
  }
})

test_that("degenerate shapes have no gaps", {
  expect_identical(range_through(matrix(1, 1, 1), 3), matrix(FALSE, 1, 1))
  expect_false(any(range_through(matrix(0, 4, 3), 1:4)))
  expect_false(any(range_through(matrix(1, 4, 3), 1:4)))
  expect_false(any(range_through(named(diag(4)), rep(1, 4))))
  expect_identical(sum(range_through(named(diag(4)), rep(1, 4), "include")), 12L)
})

test_that("ages are matched by name where there are names", {
  x <- named(cbind(c(1, 0, 0, 1), c(0, 1, 0, 1)))
  age <- c(s1 = 4, s2 = 3, s3 = 2, s4 = 1)
  expect_identical(range_through(x, age[c(3, 1, 4, 2)]), range_through(x, unname(age)))
  sites <- data.frame(max_ma = age, min_ma = age)
  expect_identical(range_through(x, sites[4:1, ]), range_through(x, unname(age)))
})

test_that("the zeros of the NOW tables lie where the files say", {
  # data/now_2003/PROVENANCE.md: in the order of the file, and strictly by age
  expected <- list(g10s2 = c(23475L, 20707L), g10s10 = c(3936L, 3294L))
  for (set in names(expected)) {
    now <- now_2003(set)
    age <- now$sites$age_ma
    expect_identical(sum(range_through(now$x, age, ties = "order")), expected[[set]][1L])
    expect_identical(sum(range_through(now$x, seq_along(age))), expected[[set]][1L])
    expect_identical(sum(range_through(now$x, age)), expected[[set]][2L])
  }
})

test_that("wrong calls are told what is wrong", {
  x <- named(diag(3))
  expect_snapshot(error = TRUE, range_through(1:3, 1:3))
  expect_snapshot(error = TRUE, range_through(-x, 1:3))
  expect_snapshot(error = TRUE, range_through(x))
  expect_snapshot(error = TRUE, range_through(x, c("a", "b", "c")))
  expect_snapshot(error = TRUE, range_through(x, 1:2))
  expect_snapshot(error = TRUE, range_through(x, c(1, Inf, 2)))
  expect_snapshot(error = TRUE, range_through(x, data.frame(a = 1:3, b = 1:3, c = 1:3)))
  expect_snapshot(error = TRUE, range_through(x, c(s1 = 1, s2 = 2, s4 = 3)))
  expect_snapshot(error = TRUE, range_through(x, 1:3, ties = "first"))
  expect_snapshot(error = TRUE, range_through(x, cbind(2:4, 1:3), ties = "order"))
  expect_error(range_through(x, list(1, 2, 3)), class = "multicause_input_error")
})

test_that("rows without an age are counted", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  expect_message(range_through(x, age = c(NA, 1:9)),
    "No range goes through rows of `x` without an age: 1 of 10.", fixed = TRUE, class = "multicause_message")
})
