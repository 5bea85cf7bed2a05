test_that("it is eq. (23), floor and missing cells included", {
  set.seed(1)
  x <- binary(9, 5)
  start <- random_start(9, 5, 2)
  start$aspects[1, 1:2] <- c(1e-9, 1 - 1e-9)
  fit <- fit_with(x, start$membership, start$aspects)
  new <- binary(6, 5, missing = 0.2)
  for (floor in c(0, 1e-6, 0.01)) {
    got <- test_loglik(fit, new, floor = floor)
    expect_equal(as.vector(got), ref_test_loglik(new, start$membership, start$aspects, floor), tolerance = 1e-11)
    expect_equal(attr(got, "total"), sum(got))
    expect_equal(attr(got, "mean"), mean(as.vector(got)))
    expect_equal(attr(got, "floor"), floor)
  }
})

test_that("an impossible row has -Inf without a floor, and a number with one", {
  fit <- fit_with(matrix(c(1, 1, 0, 0), 2), matrix(1, 2, 1), rbind(c(1, 0)))
  expect_equal(as.vector(test_loglik(fit, rbind(c(1, 1)))), log(1e-6))
  expect_lt(as.vector(test_loglik(fit, rbind(c(1, 1)), floor = 0)), -600)
})

test_that("rows with nothing observed: no likelihood if new, no component if trained on", {
  set.seed(2)
  x <- rbind(binary(6, 4), NA)
  start <- random_start(7, 4, 2)
  fit <- fit_with(x, start$membership, start$aspects)
  new <- rbind(r1 = c(1, 0, 0, 1), r2 = NA)
  expect_message(got <- test_loglik(fit, new), "1 row.*no likelihood")
  expect_equal(is.na(as.vector(got)), c(FALSE, TRUE))
  expect_equal(names(got), c("r1", "r2"))
  known <- ref_test_loglik(new[1, , drop = FALSE], start$membership[1:6, ], start$aspects, 1e-6)
  expect_equal(attr(got, "total"), known[[1]])
  all_rows <- suppressMessages(test_loglik(fit, new, training = 1:7))
  expect_equal(all_rows[[1]], ref_test_loglik(new[1, , drop = FALSE], start$membership, start$aspects, 1e-6)[[1]])
})

test_that("columns are matched by name, sparse data allowed", {
  case <- small_fit()
  new <- case$x[1:4, ]
  base <- test_loglik(case$fit, new)
  expect_equal(test_loglik(case$fit, new[, 8:1]), base)
  expect_equal(test_loglik(case$fit, Matrix::Matrix(new, sparse = TRUE)), base)
})

test_that("the print states the floor", {
  case <- mixed_fit(c("content", "content", "white"), named = TRUE)
  expect_snapshot(test_loglik(case$fit, case$x))
})
