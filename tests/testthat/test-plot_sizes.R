# Long names and few or many attributes: everything is drawn without warnings of the device.

skip_on_cran()

long_names <- function(m) {
  paste(rep_len(c("Pseudopalaeotherium longissimum", "Eryops", "Diplocaulus magnicornis var. texensis"), m), seq_len(m))
}

test_that("heat maps hold few and many rows and columns", {
  for (shape in list(c(5, 2), c(500, 5), c(12, 5), c(60, 50), c(200, 500))) {
    values <- matrix(seq(0, 1, length.out = prod(shape)), shape[1L], shape[2L])
    dimnames(values) <- list(long_names(shape[1L]), long_names(shape[2L]))
    figure <- heat_figure(values, "A title", "A heat map.")
    drawn(figure)
    expect_identical(nrow(figure$data), as.integer(prod(shape)))
  }
})

test_that("bars hold few and many sites, and their labels stand on their component", {
  for (n in c(1, 2, 40, 700)) {
    shares <- prop.table(cbind(rev(seq_len(n)), seq_len(n), 0.1), 1)
    labels <- c("A1", "A2", "A3 white")
    colnames(shares) <- c("A1", "A2", "A3")
    group <- factor(if (n > 2L) sort(rep_len(long_names(3L), n)) else rep(1, n))
    figure <- bars_figure(shares, "A title", "Bars.", labels, component_colours(3), "sites", group)
    drawn(figure)
    labels <- ggplot2::layer_data(figure, 2L)
    bars <- ggplot2::layer_data(figure, 1L)
    for (i in seq_len(nrow(labels))) {
      across <- bars$xmin <= labels$x[i] & bars$xmax >= labels$x[i]
      under <- bars[across & bars$ymin <= labels$y[i] & bars$ymax >= labels$y[i], ]
      expect_true(labels$label[i] %in% c("A1", "A2", "A3")[under$group])
    }
  }
})

test_that("curves of losses with several long labels are drawn", {
  set.seed(2)
  x <- matrix(rbinom(200, 1, 0.4), 20, 10)
  few <- fit_control(n_start = 1, max_iter = 20, progress = FALSE)
  models <- list(`Bernoulli mixture with a weak prior` = bernoulli_mixture, `logistic PCA with a ridge` = logistic_pca)
  cv <- suppressWarnings(cross_validate(x, k = 1:2, models, folds = 3, control = few))
  drawn(ggplot2::autoplot(cv))
})

test_that("texts that cover each other or run off the page are found", {
  rows <- data.frame(x = 1, y = long_names(60))
  crowded <- new_figure(rows, gg_aes(x = "x", y = "y"), "t", "a") + ggplot2::geom_point()
  expect_match(covered_texts(crowded, 4, 3), " / ", all = FALSE)
  wide <- new_figure(data.frame(x = 1, y = 1), gg_aes(x = "x", y = "y"), "t", "a") + ggplot2::geom_point()
  expect_identical(covered_texts(wide, 4, 3), character())
  expect_match(covered_texts(wide + ggplot2::ggtitle(strrep("wide ", 30)), 4, 3), "off the page", all = FALSE)
})

test_that("every figure of a fit of 500 sites and 500 taxa can be read, at two sizes", {
  fit <- drawn_fit(500, 500, 6, phantom = "white")
  dimnames(fit$x) <- fit$names <- list(localities = long_names(500), genera = long_names(500))
  colnames(fit$param$aspects) <- rownames(fit$param$membership) <- long_names(500)
  for (what in c("aspects", "structure", "phantom", "trace", "top", "scores")) drawn(ggplot2::autoplot(fit, what))
  drawn(ggplot2::autoplot(fit, age = 500:1, of = "site"))
  drawn(ggplot2::autoplot(false_absences(fit, 500)))
  drawn(ggplot2::autoplot(age_profile(fit, 500:1, of = "site")))
  rows <- data.frame(label = long_names(500), value = 1:500, low = 1:500 / 2, high = 1:500 * 2, other = 500:1)
  drawn(ranges_figure(rows, "A title", "Points.", "number", c(value = "expected missed", other = "found")))
  quick <- fit_control(n_start = 1, max_iter = 5, progress = FALSE)
  pca <- suppressWarnings(logistic_pca(fit$x, 2, control = quick))
  for (what in c("components", "top", "scores")) drawn(ggplot2::autoplot(pca, what))
})

test_that("components can be told in grey, from each other and from phantoms", {
  lightness <- function(colours) {
    grDevices::convertColor(t(grDevices::col2rgb(colours)) / 255, "sRGB", "Lab")[, 1L]
  }
  for (k in 2:8) {
    colours <- c(component_colours(k), phantom_colours[["white"]])
    expect_gt(min(stats::dist(lightness(colours))), if (k < 7) 7 else 4)
  }
  # of many components those beside each other
  for (k in c(9, 14, 20)) expect_gt(min(abs(diff(lightness(component_colours(k))))), 7)
})

test_that("what is known of a cell can be told in grey, from found to absent", {
  lightness <- function(colours) {
    grDevices::convertColor(t(grDevices::col2rgb(colours)) / 255, "sRGB", "Lab")[, 1L]
  }
  expect_true(all(diff(lightness(cell_colours[c("found", "missed", "undecided", "absent")])) > 12))
  expect_gt(min(stats::dist(lightness(cell_colours))), 12)
})

test_that("a map tells its components without colour", {
  composition <- rbind(a = c(0.7, 0.3), b = c(0, 1), c = c(0.2, 0.8))
  place <- cbind(lng = c(0, 40, 41), lat = c(50, 60, 60))
  rownames(place) <- rownames(composition)
  pies <- cbind(pie_polygons(place, composition, map_limits(place)), slice = "all")
  pies$component <- factor(c("A1 Canis", "A2 Felis")[pies$component], c("A1 Canis", "A2 Felis"))
  numbers <- pie_numbers(pies, levels(pies$component), component_colours(2))$data
  # Two nearby sites are merged into one pie, with their mean.
  expect_identical(numbers$number, c("1", "2"))
  expect_equal(unlist(pies[pies$piece == "2 1", c("x", "y")][1L, ], use.names = FALSE), c(40.5, 60))
  limits <- map_canvas(place, pies[c("x", "y")])
  frame <- Filter(function(part) inherits(part, "Coord"), limits)[[1L]]$limits
  expect_true(all(pies$x > frame$x[1L] & pies$x < frame$x[2L] & pies$y > frame$y[1L] & pies$y < frame$y[2L]))
})

test_that("scales of one number can be read in grey: each colour is darker than the one before", {
  light <- function(colours) {
    linear <- (grDevices::col2rgb(colours) / 255)^2.2
    as.vector(c(0.2126, 0.7152, 0.0722) %*% linear)
  }
  for (colours in list(probability_colours(), both_ways())) expect_true(all(diff(light(colours)) < 0.002))
  fits <- fits_of_all()
  figures <- list(
    ggplot2::autoplot(fits$aspect_bernoulli), ggplot2::autoplot(fits$logistic_pca), ggplot2::autoplot(fits$plsa),
    ggplot2::autoplot(fits$noisy_or), ggplot2::autoplot(fits$bmf), ggplot2::autoplot(fits$bmf, "features")
  )
  for (figure in figures) {
    scale <- figure$scales$get_scales("fill")
    limits <- scale$get_limits()
    shades <- light(scale$map(seq(limits[1L], limits[2L], length.out = 20L)))
    expect_true(all(diff(shades) < 0.002))
    # No colour of the scale resembles that of an unknown cell.
    apart <- colSums(abs(grDevices::col2rgb(scale$map(seq(limits[1L], limits[2L], length.out = 20L))) -
      as.vector(grDevices::col2rgb(scale$na.value))))
    expect_gt(min(apart), 40)
  }
})
