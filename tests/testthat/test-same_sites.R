# Sites that may be one, written down twice.

test_that("a list that is there twice is told, and a part of another's at one place and age", {
  x <- simulated_sites$x
  rownames(x) <- sprintf("s%d", seq_len(nrow(x)))
  from <- which(rowSums(x) >= 6)[1:2]
  part <- replace(x[from[2L], ], which(x[from[2L], ] == 1)[1:2], 0)
  twice <- rbind(x, again = x[from[1L], ], part = part)
  ask <- function(...) which_zeros(twice, ..., quick = TRUE, seed = 1)
  expect_message(ask(), sprintf("1 pair of sites may be one site twice: \"s%d\" and \"again\" hold the same", from[1L]))
  set.seed(2)
  place <- cbind(lng = runif(nrow(x), 0, 50), lat = runif(nrow(x), 0, 50))
  place <- rbind(place, place[from, ])
  expect_message(ask(place = place), sprintf("2 pairs of .*; all that \"part\" holds is at \"s%d\", too", from[2L]))
  age <- simulated_sites$sites$age
  expect_message(ask(place = place, age = c(age, age[from[1L]], age[from[2L]] + 1)), "1 pair of")
  expect_no_message(ask(place = place, age = c(age, age[from] + 1)))
  expect_no_message(which_zeros(x, quick = TRUE, seed = 1))
  # What the shorter list lacks stands high.
  gone <- names(which(x[from[2L], ] == 1)[1:2])
  rank <- suppressMessages(as.data.frame(ask(place = place), site = "part", taxon = gone)$rank)
  expect_lt(min(rank), 0.05 * sum(twice == 0))
})

test_that("sites of unknown places are not taken for one", {
  found <- rbind(c(1, 1, 1, 1, 0), c(1, 1, 1, 1, 0), c(1, 1, 1, 0, 0)) == 1
  expect_identical(nrow(same_sites(found, list(place = matrix(NA_real_, 3, 2)))), 0L)
  expect_identical(nrow(same_sites(found, list(place = matrix(0, 3, 2)))), 3L)
  expect_identical(same_sites(found, list())$whole, 2L)
})
