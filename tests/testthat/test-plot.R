# Tests R/aspect_bernoulli_methods.R, R/bmf_methods.R, R/noisy_or_methods.R, R/plot_tools.R.

skip_on_cran()

few_sizes <- list(c(4, 3))

test_that("draws have densities, by chain, and fits without draws say so", {
  set.seed(1)
  x <- matrix(rbinom(200, 1, 0.5), 20, dimnames = list(1:20, letters[1:10]))
  brief <- mcmc_control(chains = 2, warmup = 5, draws = 20, progress = FALSE)
  fits <- suppressWarnings(list(
    bmf(x, 2, 2, family = "bernoulli", control = brief), aspect_bernoulli(x, 2, estimate = "gibbs", control = brief),
    plsa(x, 2, estimate = "gibbs", control = brief),
    noisy_or(x, 2, missed_by = "site", estimate = "gibbs", control = brief)
  ))
  for (fit in fits) {
    shown <- drawn(ggplot2::autoplot(fit, "density"), few_sizes)$data[[1L]]
    expect_true(all(shown$density >= 0))
    expect_gt(length(unique(shown$colour)), 1L)
  }
  expect_error(plot(aspect_bernoulli(x, 2, control = quiet_control(n_start = 1)), "density"), "has no draws",
    class = "multicause_input_error")
})

test_that("every view is drawn for few and many attributes, with and without names", {
  for (m in c(5, 500)) for (names in c(TRUE, FALSE)) draw_views(drawn_fit(30, m, 4, names, phantom = "white"))
})

test_that("every view is drawn for one component, and for white, black and both phantoms", {
  draw_views(drawn_fit(20, 6, 1), few_sizes)
  draw_views(drawn_fit(20, 6, 3, phantom = "black"), few_sizes)
  draw_views(drawn_fit(40, 60, 12, phantom = "both"))
})

test_that("every view is drawn for degenerate tables", {
  draw_views(drawn_fit(1, 6, 2, phantom = "white"), few_sizes)
  draw_views(drawn_fit(20, 1, 2, phantom = "white"), few_sizes)
  quick <- fit_control(n_start = 2, max_iter = 20, n_polish = 0)
  fit <- function(x, ...) suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, phantom = "white", ...)))
  x <- matrix(rep(c(0, 1, NA, 1), 6), 6, 4)
  draw_views(fit(x, control = quick), few_sizes)
  for (view in c("aspects", "structure", "phantom", "trace")) {
    drawn(ggplot2::autoplot(fit(0 * matrix(1, 6, 4), control = quick), view), few_sizes)
  }
  draw_views(fit(matrix(c(0, 1, 1), 6, 4), control = fit_control(n_start = 2, max_iter = 1)), few_sizes)
})

test_that("plot() draws the figure of autoplot(), in functions too, and returns it invisibly", {
  fit <- drawn_fit(20, 12, 3, phantom = "white")
  pages <- tempfile("page%02d", fileext = ".png")
  draw_all <- function() for (view in c("aspects", "structure", "phantom")) plot(fit, view)
  grDevices::png(pages)
  draw_all()
  shown <- withVisible(plot(fit, "trace"))
  grDevices::dev.off()
  expect_length(list.files(dirname(pages), "^page0[1-4].*[.]png$"), 4L)
  expect_false(shown$visible)
  same <- function(figure) ggplot2::ggplot_build(figure)$data
  expect_equal(same(shown$value), same(ggplot2::autoplot(fit, "trace")))
})

test_that("figures show the numbers of the fit", {
  fit <- drawn_fit(20, 12, 3, phantom = "white")
  cells <- ggplot2::autoplot(fit, order = "data")$data
  expect_equal(cells$value, as.vector(t(unname(fit$param$aspects))))
  expect_identical(levels(cells$row), rev(paste("Genus", 1:12)))
  bars <- ggplot2::layer_data(ggplot2::autoplot(fit, "structure", order = "data"))
  expect_equal(bars$ymax[bars$x == 4 & bars$group == 1] - bars$ymin[bars$x == 4 & bars$group == 1],
    unname(fit$param$membership[4, 1]))
  expect_equal(ggplot2::layer_data(ggplot2::autoplot(fit, "phantom"))$x, unname(fit$margins$row_sum))
})

test_that("axes speak the words of the data", {
  fit <- drawn_fit(20, 12, 3, phantom = "white")
  expect_identical(axis_words(fit), c("sites", "taxa"))
  names(dimnames(fit$x)) <- c("localities", "genera")
  expect_identical(axis_words(fit), c("localities", "genera"))
  expect_match(ggplot2::autoplot(fit, "structure")$labels$x, "^localities")
  expect_match(ggplot2::autoplot(fit, "phantom")$labels$x, "^genera")
  names(dimnames(fit$x)) <- c("collection_no", "taxon.name")
  expect_identical(axis_words(fit), c("collections", "taxa"))
  names(dimnames(fit$x)) <- c("", NA)
  expect_identical(axis_words(fit), c("sites", "taxa"))
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(beds = NULL, species = NULL))
  quick <- fit_control(n_start = 1, max_iter = 5)
  for (data in list(x, Matrix::Matrix(x, sparse = TRUE))) {
    expect_identical(axis_words(suppressWarnings(aspect_bernoulli(data, 2, control = quick))), c("beds", "species"))
  }
})

test_that("long names are cut in the middle, and only these; names beyond ASCII are drawn", {
  expect_identical(short_labels(12L)(c("Short", "Longishtherium 7")), c("Short", "Longis...m 7"))
  fit <- drawn_fit(30, 20, 3, phantom = "white")
  fit$names[[2L]] <- colnames(fit$param$aspects) <- paste0(strrep("Abcdefghij", 8), seq_len(20))
  built <- drawn(ggplot2::autoplot(fit))
  expect_true(all(nchar(axis_labels(built, "y")) <= 28L))
  fit$names[[2L]] <- colnames(fit$param$aspects) <- paste("\u00c5ngstr\u00f6mia", seq_len(20))
  drawn(ggplot2::autoplot(fit))
})

test_that("labels that would cover others are left out: 500 at two sizes", {
  fit <- drawn_fit(30, 500, 4, phantom = "white")
  figure <- ggplot2::autoplot(fit)
  expect_identical(max(figure$data$panel), 1)
  axis <- figure$scales$get_scales("y")$guide
  expect_true(if (is.list(axis) && !is.null(axis$check.overlap)) axis$check.overlap else axis$params$check.overlap)
})

test_that("the top of a component is by relevance: not by its own maximum, nor by the rarest of taxa", {
  fit <- drawn_fit(30, 6, 3)
  aspects <- rbind(c(0.9, 0.3, 0.01, 0, 0, 0), c(0.8, 0, 0, 0.5, 0, 0), c(0.001, 0, 0, 0, 0, 0))
  fit$param$aspects[] <- aspects
  fit$param$membership[] <- rep(c(0.5, 0.5, 0), each = 30)
  top <- top_taxa(fit, 2L)
  expect_identical(as.character(top$component), c("A1", "A1", "A2", "A2")) # A3 writes next to nothing
  # Genus 4 is rarer than Genus 1 and occurs only in A2; A1 has too little of Genus 2.
  expect_identical(top$taxon, c("Genus 1", "Genus 2", "Genus 4", "Genus 1"))
  expect_equal(top$everywhere, c(0.85, 0.15, 0.25, 0.85))
})

test_that("scores are those of the ordination", {
  fit <- fits_of_all()$logistic_pca
  figure <- ggplot2::autoplot(fit, "scores", components = 2:1, n = 3)
  expect_equal(figure$data$x, unname(fit$param$scores[, 2]))
  expect_equal(nrow(ggplot2::layer_data(figure, 2L)), 3L)
  expect_error(ggplot2::autoplot(fit, "scores", components = 1), "`components`", class = "multicause_input_error")
})

test_that("attributes are ordered by age, by aspect or not at all", {
  aspects <- rbind(c(0.9, 0.1, 0.2, 0.7), c(0, 0.8, 0.9, 0.1))
  expect_identical(seriate(aspects), c(1L, 4L, 3L, 2L))
  fit <- drawn_fit(10, 6, 2)
  for (order in c("age", "seriated", "data")) {
    drawn(ggplot2::autoplot(fit, age = 1:10, order = order), few_sizes)
    drawn(ggplot2::autoplot(fit, "structure", age = 1:10, order = order), few_sizes)
  }
  rows <- levels(ggplot2::autoplot(fit, age = c(3, 1, 2, 6, 5, 4))$data$row)
  expect_identical(rows, paste("Genus", c(2, 3, 1, 6, 5, 4)))
})

test_that("ages of one side give those of the other: means over the presences", {
  x <- rbind(a = c(u = 1, v = 0, w = 0), b = c(1, 1, 0), c = c(NA, 1, 0), d = c(0, 0, 0))
  quick <- fit_control(n_start = 1, max_iter = 5)
  fit <- suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, control = quick)))
  expect_equal(plot_ages(fit, 4:1, "guess", "taxon"), c(3.5, 2.5, NA))
  expect_equal(plot_ages(fit, c(w = 1, u = 10, v = 20), "guess", "site"), c(10, 15, 20, NA))
  expect_equal(plot_ages(fit, c(10, NA, 1), "guess", "site"), c(10, 10, NA, NA))
  expect_equal(plot_ages(fit, 4:1, "site", "site"), c(4, 3, 2, 1))
  sparse <- suppressMessages(suppressWarnings(
    aspect_bernoulli(Matrix::Matrix(x %in% 1 + 0, 4, 3, sparse = TRUE), 2, control = quick)
  ))
  expect_equal(plot_ages(sparse, 4:1, "guess", "taxon"), c(3.5, 2.5, NA))
  expect_equal(plot_ages(sparse, c(10, 20, 1), "guess", "site"), c(10, 15, 20, NA))
})

test_that("the correlation of share and richness is left out where there is none", {
  expect_identical(phantom_share_label("white", c(0.1, 0.5), c(4, 2)), "white phantom, r = -1.00")
  expect_identical(phantom_share_label("white", c(0.1, 0.1), c(2, 4)), "white phantom")
  expect_identical(phantom_share_label("black", 0.3, 4), "black phantom")
})

test_that("wrong arguments are told", {
  fit <- drawn_fit(10, 6, 2)
  square <- drawn_fit(6, 6, 2, names = FALSE)
  bare <- fit
  bare["x"] <- list(NULL)
  pdf(NULL)
  on.exit(dev.off())
  expect_snapshot(error = TRUE, {
    plot(fit, order = "age")
    plot(square, age = 1:6)
    plot(bare, age = 1:10)
    plot(bare, "structure", age = 1:6)
    plot(fit, "phantom")
  })
  expect_silent(plot(square, age = 1:6, of = "taxon"))
  expect_silent(plot(bare, age = 1:6))
})

test_that("a plot leaves the graphical settings as they were", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  before <- graphics::par(no.readonly = TRUE)
  plot(fits_of_all()$aspect_bernoulli)
  expect_identical(graphics::par(no.readonly = TRUE)[c("mfrow", "mar", "cex")], before[c("mfrow", "mar", "cex")])
})

test_that("the session's options of numbers do not break figures", {
  old <- options(scipen = -5, OutDec = ",")
  on.exit(options(old))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off(), add = TRUE)
  expect_no_error(plot(fits_of_all()$aspect_bernoulli))
  expect_identical(options("scipen", "OutDec"), list(scipen = -5, OutDec = ","))
})

test_that("titles have as few lines as fit, all about as long", {
  wrap <- function(text, width = 36) strsplit(multicause:::wrapped(text, width), "\n")[[1]]
  expect_identical(wrap("taxon_03 is most characteristic of A1"), c("taxon_03 is most", "characteristic of A1"))
  title <- "Mean taxa per site: 15 found, 17 estimated"
  expect_identical(wrap(title), c("Mean taxa per site: 15", "found, 17 estimated"))
  expect_identical(wrap("Half of all taxa"), "Half of all taxa")
  expect_null(multicause:::wrapped(NULL, 36))
  for (width in 12:40) {
    text <- "The mean of what was found is below that of what was there at nine of ten sites"
    expect_identical(paste(wrap(text, width), collapse = " "), text)
    expect_length(wrap(text, width), length(strwrap(text, width)))
    expect_true(all(nchar(wrap(text, width)) < width))
  }
})

test_that("a fit without iterations has no trace to draw", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1, 2, 0), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- plsa(x, 2, control = fit_control(n_start = 1, max_iter = 0))
  expect_error(ggplot2::autoplot(fit, "trace"), "`object` has no iterations to draw.", fixed = TRUE,
    class = "multicause_input_error")
})
