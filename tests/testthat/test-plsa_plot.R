# Plots of count models: every view is drawn, with the expected contents.

skip_on_cran()

plca_fit <- local({
  set.seed(3)
  x <- array(stats::rpois(15 * 6 * 4, 3), c(site = 15, taxon = 6, time = 4))
  x[2, 3, 1] <- NA
  plca(x, 3, control = fit_control(n_start = 1, progress = FALSE))
})

test_that("plca: marginals as lines and as images, reconstruction, divergences, trace", {
  for (what in c("marginals", "reconstruction", "divergences", "trace")) {
    drawn(ggplot2::autoplot(plca_fit, what))
  }
  figure <- ggplot2::autoplot(plca_fit, "reconstruction", dims = c("taxon", "time"))
  shown <- split(figure$data$value, figure$data$panel)
  filled <- replace(plca_fit$x, is.na(plca_fit$x), 0)
  expect_equal(shown$data^2, as.vector(apply(filled, 2:3, sum)))
  expect_equal(shown$fit^2, as.vector(apply(fitted(plca_fit), 2:3, sum)))
  expect_error(plot(plca_fit, "reconstruction", dims = 1), "two dimensions", class = "multicause_input_error")
})

test_that("plsa: basis, membership, simplex and trace", {
  set.seed(4)
  x <- matrix(stats::rpois(60, 4), 20, dimnames = list(NULL, c("a", "b", "c")))
  x[3, 1] <- NA
  fit <- plsa(x, 4, control = fit_control(n_start = 1, progress = FALSE))
  for (what in c("basis", "structure", "simplex", "trace")) drawn(ggplot2::autoplot(fit, what))
  figure <- ggplot2::autoplot(fit, "simplex")
  expect_equal(sum(figure$data$kind == "sites"), 19) # but the one with an unknown cell
  lift <- ggplot2::autoplot(fit)$data
  all <- colMeans(fit$param$membership %*% fit$param$basis)
  b <- lift[lift$row == "b" & lift$column == "A2", "value"]
  expect_equal(2^b, max(fit$param$basis[["A2", "b"]] / all[["b"]], 1))
  corner <- simplex_points(diag(3))
  expect_equal(as.vector(stats::dist(corner)), rep(1, 3))
  expect_error(plot(plsa(x[, 1:2], 2), "simplex"), "3 columns, not 2", class = "multicause_input_error")
})

# Data of the bars and lines, and the labels of each panel's axis.
plot_layers <- function(fit) {
  figure <- ggplot2::autoplot(fit)
  of <- function(geom) {
    at <- Filter(function(layer) inherits(layer$geom, geom), figure$layers)
    if (length(at)) at[[1L]]$data
  }
  panels <- ggplot2::ggplot_build(figure)$layout$panel_params
  labels <- lapply(panels, function(panel) trimws(stats::na.omit(panel$x$get_labels())))
  list(bars = of("GeomCol"), lines = of("GeomLine"), labels = lapply(labels, as.vector))
}

test_that("levels with names are bars that bear them, and numbers lines along them", {
  set.seed(5)
  x <- array(stats::rpois(4 * 30 * 5, 2), c(4, 30, 5), list(
    site = c("upper", "middle", "lower", "base"), taxon = paste0("genus", 1:30), age = c(10, 12, 20, 35, 60)
  ))
  fit <- plca(x, 2, control = quiet_control(n_start = 1))
  figure <- plot_layers(fit)
  expect_setequal(as.character(figure$bars$dimension), c("site", "taxon: 16 of 30, the most probable"))
  expect_identical(unique(as.character(figure$lines$dimension)), "age")
  expect_equal(diff(sort(unique(figure$lines$at))), diff(c(10, 12, 20, 35, 60)))
  expect_identical(figure$labels[[1L]], c("upper", "middle", "lower", "base"))
  largest <- apply(fit$param$marginals[[2L]], 2L, max) # of many names those with the largest probabilities
  expect_identical(figure$labels[[2L]], paste0("genus", sort(order(-largest)[1:16])))
  expect_true(all(figure$labels[[3L]] %in% seq(0, 70, 10)))
  bare <- plot_layers(plca(unname(x), 2, control = quiet_control(n_start = 1)))
  expect_null(bare$bars)
  expect_true(all(bare$labels[[2L]] %in% 0:30))
})
