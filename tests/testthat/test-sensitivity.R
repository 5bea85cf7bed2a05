# What the answer of which_zeros() depends on.

x <- simulated_sites$x[1:40, ]

test_that("each change is one answer, the first the answer as it is", {
  w <- which_zeros(x, age = 40:1, quick = TRUE, seed = 1)
  set.seed(8)
  before <- .Random.seed
  found <- sensitivity(w, first = 20, progress = FALSE)
  expect_identical(.Random.seed, before)
  table <- found$table
  expect_identical(nrow(table), 10L)
  expect_identical(table$change[1L], "as it is")
  # A quick answer has two copies, so that it is the same one again.
  expect_equal(table$missed[1L], w$total[["missed"]])
  expect_identical(table$kept[1L], 20L)
  expect_true(all(table$kept >= 0 & table$kept <= 20))
  lower <- table$missed[table$change == "completeness at its lower end"]
  upper <- table$missed[table$change == "completeness at its upper end"]
  expect_gt(lower, upper)
  expect_gte(lower, table$missed[1L])
  expect_lte(upper, table$missed[1L])
  ranges <- table[table$change == "only zeros within known ranges", ]
  expect_identical(ranges$zeros, sum(range_through(x, 40:1)))
  expect_identical(table$zeros[1L], sum(x == 0))
  expect_false(identical(table$missed[table$change == "another seed"], table$missed[1L]))
  expect_identical(as.data.frame(found), table)
  printed <- utils::capture.output(print(found))
  expect_true(any(grepl("over 9 changes", printed)) && max(nchar(printed)) <= 110)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_s3_class(plot(found), "ggplot")
  found$table$kept <- NULL
  expect_error(print(found), "is damaged", class = "multicause_input_error")
})

test_that("where the answer has more copies than the changes, its own number is told", {
  w <- which_zeros(x, copies = 3, seed = 1)
  said <- paste(utils::capture.output(print(sensitivity(w, progress = FALSE))), collapse = " ")
  expect_match(said, sprintf("the answer itself, from 3, has %s.", show_count(w$total[["missed"]])), fixed = TRUE)
})

test_that("without ages there are fewer changes, and a restricted answer is set free", {
  within <- matrix(TRUE, 40, ncol(x))
  within[1:10, ] <- FALSE
  w <- which_zeros(x, within = within, completeness = 0.8, quick = TRUE, seed = 1)
  table <- as.data.frame(sensitivity(w, progress = FALSE))
  expect_identical(nrow(table), 9L)
  free <- table[table$change == "all zeros can be false", ]
  expect_gt(free$missed, table$missed[1L])
  expect_identical(free$zeros, sum(x == 0))
  # A completeness that is one number has no ends.
  ends <- table$missed[startsWith(table$change, "completeness")]
  expect_equal(ends, rep(table$missed[1L], 2L), tolerance = 1e-6)
})

test_that("wrong input", {
  expect_error(sensitivity(), "`w`", class = "multicause_input_error")
  expect_error(sensitivity(1), "`w` must come from which_zeros", class = "multicause_input_error")
})
