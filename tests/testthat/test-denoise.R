test_that("the table is what content would have written, rounded", {
  set.seed(3)
  x <- binary(24, 8)
  start <- random_start(24, 8, 2)
  case <- list(x = x, fit = fit_with(x, cbind(0.6 * start$membership, 0.4), rbind(start$aspects, 0.001)))
  clean <- denoise(case$fit)
  want <- start$membership %*% start$aspects
  expect_equal(clean$probability, want)
  expect_identical(clean$x, ifelse(want > 0.5 | case$x == 1, 1L, 0L))
  expect_identical(denoise(case$fit, keep = "replace")$x, ifelse(want > 0.5, 1L, 0L))
  expect_equal(clean$dropped, "A3")
  expect_equal(clean$counts[["filled"]], sum(want > 0.5 & case$x == 0))
  expect_equal(clean$counts[["lost"]], sum(want <= 0.5 & case$x == 1))
  expect_equal(clean$counts[["zeros"]] + clean$counts[["ones"]], length(case$x))
})

test_that("exactly one half becomes zero", {
  fit <- fit_with(matrix(c(1, 0, 1, 0), 2), matrix(1, 2, 1), matrix(0.5, 1, 2))
  clean <- suppressMessages(denoise(fit, keep = "replace"))
  expect_equal(clean$x, matrix(0L, 2, 2))
  expect_equal(clean$counts[["lost"]], 2)
  expect_equal(suppressMessages(denoise(fit))$x, matrix(c(1L, 0L, 1L, 0L), 2))
})

test_that("rows without content, unknown cells and picked rows", {
  set.seed(1)
  x <- binary(6, 5, missing = 0.2)
  x[2, ] <- c(0, 0, NA, 0, 0)
  s <- cbind(c(0.5, 0, 0.2, 0.3, 0.6, 0.1), c(0.3, 0, 0.5, 0.2, 0.1, 0.1), 0)
  s[, 3] <- 1 - rowSums(s)
  a <- rbind(runif(5), runif(5), 0)
  rownames(x) <- letters[1:6]
  fit <- fit_with(x, s, a)
  clean <- denoise(fit)
  expect_equal(clean$all_phantom, "b")
  overall <- colSums(s[, 1:2]) / sum(s[, 1:2])
  expect_equal(unname(clean$probability["b", ]), colSums(overall * a[1:2, ]))
  expect_equal(clean$counts[["unknown"]], sum(is.na(x)))
  expect_equal(clean$counts[["unknown_filled"]], sum(clean$x[is.na(x)]))
  expect_false(anyNA(clean$x))
  part <- denoise(fit, site = c("d", "b"))
  expect_equal(part$x, clean$x[c("d", "b"), ])
  expect_equal(part$probability, clean$probability[c("d", "b"), ])
})

test_that("one kind may stay, and a fit without phantoms says so", {
  truth <- planted(30, 10)
  set.seed(2)
  control <- fit_control(n_start = 1, max_iter = 200)
  fit <- suppressWarnings(aspect_bernoulli(truth$x, 4, phantom = "both", control = control))
  white <- denoise(fit, drop = "white")
  expect_equal(white$dropped, "A3")
  s <- fit$param$membership[, c(1, 2, 4)]
  own <- !rownames(truth$x) %in% white$all_phantom
  expect_equal(white$probability[own, ], ((s / rowSums(s)) %*% fit$param$aspects[c(1, 2, 4), ])[own, ])
  expect_equal(denoise(fit)$dropped, c("A3", "A4"))
  none <- aspect_bernoulli(truth$x, 1)
  expect_message(clean <- denoise(none), "no white or black phantom")
  expect_equal(clean$probability, fitted(none))
  expect_equal(clean$dropped, character())
})

test_that("the print counts what was filled and lost", {
  case <- mixed_fit(c("content", "content", "white"), missing = 0.1, named = TRUE)
  s <- case$fit$param$membership
  s[2, ] <- c(0, 0, 1)
  fit <- fit_with(case$x, s, case$fit$param$aspects)
  expect_snapshot({
    denoise(fit)
    denoise(fit, keep = "replace")
  })
})

test_that("a fit without the phantom to drop is told", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 0))
  for (drop in list("black", c("white", "black"))) {
    expect_message(denoise(fit, drop = drop),
      sprintf("Nothing to take out: the fit has no %s phantom.", paste(drop, collapse = " or ")), fixed = TRUE,
      class = "multicause_message")
  }
})
