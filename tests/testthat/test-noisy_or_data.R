# Real data, if available.

test_that("citations fall into communities, as in the paper's analysis of another such table", {
  data <- utils::read.csv(shared_data("nips_author_citations", "nips40.csv"))
  x <- as.matrix(data[, -(1:2)])
  set.seed(1)
  fit <- noisy_or(x, 5)
  strongest <- apply(fit$param$links, 1L, function(p) list(names(sort(p, decreasing = TRUE))[1:4]))
  strongest <- lapply(strongest, unlist)
  together <- function(...) any(vapply(strongest, function(names) all(c(...) %in% names), NA))
  expect_true(together("Sutton_R", "Barto_A", "Singh_S"))
  expect_true(together("LeCun_Y", "Denker_J"))
  expect_true(together("Vapnik_V", "Haussler_D"))
  expect_equal(sum(fit$sources$in_use), 5)
})
