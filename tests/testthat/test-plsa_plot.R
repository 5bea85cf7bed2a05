# Pictures of count models: every view is drawn, with what it should show.

plca_fit <- local({
  set.seed(3)
  x <- array(stats::rpois(15 * 6 * 4, 3), c(site = 15, taxon = 6, time = 4))
  x[2, 3, 1] <- NA
  plca(x, 3, control = fit_control(n_start = 1, progress = FALSE))
})

test_that("plca: marginals as lines and as images, reconstruction, divergences, trace", {
  for (what in c("marginals", "reconstruction", "divergences", "trace")) {
    expect_silent(on_paper(plot(plca_fit, what)))
    expect_silent(on_paper(plot(plca_fit, what, main = "A title")))
  }
  expect_silent(on_paper(plot(plca_fit, "reconstruction", dims = c("taxon", "time"))))
  view <- plot_view(plca_fit, "reconstruction", c("taxon", "time"))
  filled <- replace(plca_fit$x, is.na(plca_fit$x), 0)
  expect_equal(as.vector(view$tables[[1]])^2, as.vector(apply(filled, 2:3, sum)))
  expect_equal(as.vector(view$tables[[2]])^2, as.vector(apply(fitted(plca_fit), 2:3, sum)))
  expect_error(plot(plca_fit, "reconstruction", dims = 1), "two dimensions", class = "multicause_input_error")
  expect_error(plot(plca_fit, main = 1:2), "`main`", class = "multicause_input_error")
})

test_that("plsa: basis, membership, simplex and trace", {
  set.seed(4)
  x <- matrix(stats::rpois(60, 4), 20, dimnames = list(NULL, c("a", "b", "c")))
  x[3, 1] <- NA
  fit <- plsa(x, 4, control = fit_control(n_start = 1, progress = FALSE))
  for (what in c("basis", "membership", "simplex", "trace")) expect_silent(on_paper(plot(fit, what)))
  view <- plot_view(fit, "simplex")
  expect_equal(nrow(view$observations), 19) # but the one with an unknown cell
  corner <- simplex_points(diag(3))
  expect_equal(as.vector(stats::dist(corner)), rep(1, 3))
  expect_error(plot(plsa(x[, 1:2], 2), "simplex"), "3 attributes, not 2", class = "multicause_input_error")
})
