# Sites that may be one site recorded twice.

test_that("a list that is there twice is told, at one place and age as far as these are known", {
  x <- simulated_sites$x
  rownames(x) <- sprintf("s%d", seq_len(nrow(x)))
  from <- which(rowSums(x) >= 6)[1L]
  twice <- rbind(x, again = x[from, ])
  ask <- function(...) which_zeros(twice, ..., quick = TRUE, seed = 1)
  told <- sprintf("twice: of \"s%d\" and \"again\"[.]", from)
  expect_message(ask(), told)
  set.seed(2)
  place <- cbind(lng = runif(nrow(x), 0, 50), lat = runif(nrow(x), 0, 50))
  expect_message(ask(place = rbind(place, place[from, ])), told)
  expect_no_message(ask(place = rbind(place, place[from, ] + 1)))
  age <- simulated_sites$sites$age
  expect_message(ask(age = c(age, age[from])), told)
  expect_no_message(ask(age = c(age, age[from] + 1)))
  expect_no_message(which_zeros(x, quick = TRUE, seed = 1))
})

test_that("short lists, sites of unknown places and lists of few taxa are not taken for one", {
  found <- diag(40) == 1
  found[1:2, 1:4] <- TRUE
  found[3:4, ] <- col(found)[3:4, ] %in% 5:7
  found[1:2, 5:40] <- FALSE
  expect_identical(nrow(same_sites(found, list(place = matrix(NA_real_, 40, 2)))), 0L)
  expect_equal(unname(same_sites(found, list(place = matrix(0, 40, 2)))), cbind(1, 2))
  expect_equal(unname(same_sites(found, list())), cbind(1, 2))
  # All lists of five taxa, four times each: one in 32 has each by chance.
  every <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), 5)))[rep(1:32, 4), ]
  expect_equal(unname(same_by_chance(every)), rep(127 / 32, 128))
  expect_identical(nrow(same_sites(every, list())), 0L)
})
