# Dependence of the which_zeros() result on its assumptions.

skip_on_cran()

x <- simulated_sites$x[1:40, ]

test_that("each change is one answer, the first the answer as it is", {
  w <- which_zeros(x, age = 40:1, quick = TRUE, seed = 1)
  set.seed(8)
  before <- .Random.seed
  found <- sensitivity(w, n = 20)
  expect_identical(.Random.seed, before)
  table <- found$table
  expect_identical(nrow(table), 9L)
  expect_identical(table$change[1L], "as it is")
  expect_identical(unlist(table[1L, c("missed", "low", "high")]), w$total[c("missed", "low", "high")])
  expect_identical(table$kept[1L], 20L)
  expect_true(all(table$kept >= 0 & table$kept <= 20))
  phantom <- unlist(table[table$change == "all that was there, by a phantom's share", c("missed", "low", "high")])
  expect_equal(phantom, update(w, assume = "phantom")$total)
  ranges <- table[table$change == "only zeros within known ranges", ]
  expect_identical(ranges$zeros, sum(range_through(x, 40:1)))
  expect_identical(table$zeros[1L], sum(x[, colSums(x) > 0] == 0))
  other <- table[table$change == "another seed", c("missed", "low", "high")]
  expect_equal(unlist(other), update(w, seed = 2)$total[c("missed", "low", "high")])
  expect_identical(as.data.frame(found), table)
  printed <- utils::capture.output(print(found))
  expect_true(grepl("under 8 +changes", paste(printed, collapse = " ")) && max(nchar(printed)) <= 110)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_s3_class(plot(found), "ggplot")
})

test_that("changes are answered with the copies of the answer, also where it was stopped early", {
  w <- suppressWarnings(which_zeros(x, quick = TRUE, copies = 5, seconds = 0, seed = 1))
  expect_identical(c(w$copies, w$wanted), c(2L, 5L))
  change <- wz_changes(w)$`other assumptions`
  change$given <- list(same = w$inputs$given)
  again <- answer_again(change, list(w = w, control = fit_control()), NULL)[[1L]]
  expect_equal(again$total, w$total[c("missed", "low", "high")])
  expect_identical(again$cells, short_answer(w, "as it is")$cells)
})

test_that("without ages there are fewer changes, and a restricted answer is set free", {
  within <- matrix(TRUE, 40, ncol(x))
  within[1:10, ] <- FALSE
  w <- which_zeros(x, within = within, completeness = 0.8, quick = TRUE, seed = 1)
  table <- as.data.frame(sensitivity(w))
  expect_identical(nrow(table), 8L)
  free <- table[table$change == "all zeros can be false", ]
  expect_gt(free$missed, table$missed[1L])
  expect_identical(free$zeros, sum(x[, colSums(x) > 0] == 0))
  # A completeness that is a single number has no ends, a range has two.
  expect_false(any(startsWith(table$change, "completeness")))
  ranged <- other_assumptions(update(w, completeness = c(0.6, 0.9)))
  expect_equal(ranged$`completeness at its lower end`$completeness[1L, ], c(0.6, 0.6))
  other <- other_assumptions(update(w, completeness = NULL, assume = "phantom"))
  expect_null(other$`as two more searches would show`$assume)
})

test_that("wrong input", {
  expect_error(sensitivity(), "`fit`", class = "multicause_input_error")
  expect_error(sensitivity(1), "`fit` must come from which_zeros", class = "multicause_input_error")
})

test_that("changes that cannot move the number are said to be none", {
  table <- data.frame(
    change = c("as it is", "a", "b", "c"), missed = c(10, 10, 10, 12), low = 1, high = 20, zeros = 30, kept = 5
  )
  x <- structure(list(table = table, n = 5, source = "curve"), class = "which_zeros_sensitivity")
  expect_match(format(x),
    "The number, which is estimated from predictability of the presences, does not change with a and b; of the list 5")
  x$source <- "phantom"
  expect_no_match(format(x), "which is estimated")
})

test_that("the zeros compared are the first ones that are printed", {
  # Completeness by site moves zeros past others that have a larger probability of a record.
  w <- which_zeros(x, completeness = rep(c(0.3, 0.9), 20), quick = TRUE, seed = 1)
  first <- as.data.frame(w, n = 20)
  at <- match(first$site, rownames(x)) + (match(first$taxon, colnames(x)) - 1L) * nrow(x)
  expect_equal(short_answer(w, "")$cells[1:20], at)
  expect_false(identical(order(-first$probability), 1:20))
})
