random_fit <- function(aspects, weights = rep(1 / nrow(aspects), nrow(aspects)), density = 0.5) {
  set.seed(1)
  x <- matrix(rep_len(c(1, 0), 10 * ncol(aspects)), 10)
  if (density != 0.5) x <- matrix(rep_len(c(rep(1, 10 * density), rep(0, 10 - 10 * density)), length(x)), 10)
  fit_with(x, matrix(weights, 10, length(weights), byrow = TRUE), aspects)
}

test_that("the rule is relative to the density, and every component is listed", {
  aspects <- rbind(rep(0.09, 4), rep(0.11, 4), c(0.9, 0.1, 0.5, 0.5), rep(0.91, 4))
  table <- phantoms(random_fit(aspects))
  expect_s3_class(table, c("phantoms", "data.frame"))
  expect_equal(table$component, paste0("A", 1:4))
  expect_equal(table$kind, c("white", "content", "content", "black"))
  expect_equal(table$mean, c(0.09, 0.11, 0.5, 0.91))
  expect_equal(table$min[3], 0.1)
  expect_equal(table$max[3], 0.9)
  expect_equal(table$white_ratio, table$mean / 0.5)
  expect_equal(table$black_ratio, (1 - table$mean) / 0.5)
  expect_equal(table$weight, rep(0.25, 4))
  expect_equal(phantoms(random_fit(aspects), white = 0.22)$kind[2], "white")
  expect_equal(phantoms(random_fit(aspects), white = 0.1, black = 0.1)$kind, rep("content", 4))
})

test_that("a mean at exactly the rule counts, a component that writes nothing does not", {
  aspects <- rbind(rep(0.1, 4), c(0.9, 0.1, 0.5, 0.5))
  expect_equal(phantoms(random_fit(aspects))$kind[1], "white")
  light <- random_fit(aspects, c(0.001, 0.999))
  expect_equal(phantoms(light)$kind[1], "content")
  expect_equal(phantoms(light, min_weight = 0)$kind[1], "white")
})

test_that("two white ones, pinned ones of no weight, and a sparse table's phantom with a large maximum", {
  aspects <- rbind(rep(0, 4), rep(0.01, 4), c(0.9, 0.1, 0.5, 0.5))
  expect_equal(phantoms(random_fit(aspects))$kind, c("white", "white", "content"))
  x <- matrix(rep(c(1, 1, 0, 0, 1), 4), 10, 2)
  start <- list(membership = matrix(c(1, 0), 10, 2, byrow = TRUE), aspects = rbind(c(0.6, 0.5), 0))
  pinned <- quiet(x, 2, phantom = "white", start = start, control = plain(0))
  expect_equal(phantoms(pinned)$kind, c("content", "white"))
  expect_equal(phantoms(pinned)$pinned, c(FALSE, TRUE))
})

test_that("attributes with nothing observed do not count", {
  set.seed(2)
  x <- cbind(matrix(rep_len(c(1, 0), 40), 10), NA)
  aspects <- rbind(c(rep(0.05, 4), 0.95), rep(0.5, 5))
  fit <- fit_with(x, matrix(0.5, 10, 2), aspects)
  expect_equal(phantoms(fit)$kind, c("white", "content"))
  expect_equal(phantoms(fit)$max[1], 0.05)
})

test_that("starts tell which of them found a phantom", {
  truth <- planted(60, 16)
  set.seed(3)
  fit <- aspect_bernoulli(truth$x, 3, control = fit_control(n_start = 5, n_finish = 2))
  expect_type(fit$starts$phantom, "logical")
  expect_equal(is.na(fit$starts$phantom), !fit$starts$finished)
  expect_true(any(fit$starts$phantom, na.rm = TRUE))
  pinned <- aspect_bernoulli(truth$x, 4, phantom = "white", control = fit_control(n_start = 1, max_pass = 400))
  expect_false(pinned$starts$phantom) # only what was not pinned is found
})

test_that("other models are told why not, and print says the rule", {
  expect_error(phantoms(1), "must be a model of this package", class = "multicause_input_error")
  other <- structure(list(), class = c("nmf", "multicause"))
  expect_error(phantoms(other), "components can be phantoms.*not of nmf", class = "multicause_input_error")
  expect_snapshot(phantoms(random_fit(rbind(rep(0.0912345, 4), c(0.9, 0.1, 0.5, 0.5)))))
})
