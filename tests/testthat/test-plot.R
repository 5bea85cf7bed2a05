# Of R/aspect_bernoulli_plot.R, R/bmf_plot.R, R/noisy_or_plot.R, R/plot_tools.R.

views <- c("aspects", "membership", "phantom", "trace")

test_that("every view is drawn for few and many attributes, with and without names", {
  for (m in c(5, 50, 500)) {
    for (names in c(TRUE, FALSE)) draw_views(drawn_fit(30, m, 4, names, phantom = "white"))
  }
})

test_that("every view is drawn for one component, and for white, black and both phantoms", {
  draw_views(drawn_fit(20, 6, 1))
  draw_views(drawn_fit(20, 6, 3, phantom = "black"))
  draw_views(drawn_fit(20, 6, 4, phantom = "both"))
  draw_views(drawn_fit(40, 60, 12, phantom = "both"))
})

test_that("every view is drawn for degenerate tables", {
  draw_views(drawn_fit(1, 6, 2, phantom = "white"))
  draw_views(drawn_fit(20, 1, 2, phantom = "white"))
  quick <- fit_control(n_start = 2, max_pass = 20, n_polish = 0)
  fit <- function(x, ...) suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, phantom = "white", ...)))
  x <- matrix(rep(c(0, 1, NA, 1), 6), 6, 4)
  draw_views(fit(x, control = quick))
  draw_views(fit(0 * matrix(1, 6, 4), control = quick))
  draw_views(fit(matrix(c(0, 1, 1), 6, 4), control = fit_control(n_start = 2, max_pass = 0)))
})

test_that("every view is drawn on small and on odd pages", {
  fit <- drawn_fit(30, 139, 4, phantom = "white")
  for (size in list(c(3, 3), c(12, 3.5), c(3.5, 12))) draw_views(fit, size[1], size[2])
})

test_that("long names and names beyond ASCII are drawn", {
  fit <- drawn_fit(30, 20, 3, phantom = "white")
  long <- paste0(strrep("Abcdefghij", 8), seq_len(20))
  fit$names[[2L]] <- colnames(fit$param$aspects) <- long
  draw_views(fit)
  fit$names[[2L]] <- colnames(fit$param$aspects) <- paste("\u00c5ngstr\u00f6mia", seq_len(20))
  draw_views(fit)
})

test_that("names that do not fit are cut in the middle, and only these", {
  on_paper({
    graphics::plot.new()
    labels <- c("Short", paste0("Longish", strrep("o", 60), "therium 7"))
    cut <- fit_labels(labels, 1, 1)
    expect_identical(cut[1L], "Short")
    expect_match(cut[2L], "^Lon.*[.][.][.].*7$")
    expect_lte(graphics::strwidth(cut[2L], "inches", font = 3L), 1)
  })
})

test_that("heads of narrow columns are thinned, the last one stays", {
  expect_identical(thin_heads(c("A1", "A2", "A3", "A4"), 1.5), c("A1", "A2", "A3", "A4"))
  expect_identical(thin_heads(c("A1", "A2", "A3", "A4"), 0.6), c("", "A2", "", "A4"))
  expect_identical(thin_heads(c("A1", "A2", "A3", "A4"), 0.3), c("", "", "", "A4"))
})

test_that("graphical parameters are put back", {
  fit <- drawn_fit(20, 12, 3, phantom = "white")
  watched <- c("mar", "oma", "mfrow", "cex", "mgp", "las", "xpd", "bg", "fg", "col", "font", "ps", "pty")
  on_paper({
    graphics::par(cex = 0.9)
    graphics::par(mar = c(5, 4, 1, 1), oma = c(1, 0, 0, 0), mgp = c(2, 1, 0), xpd = FALSE)
    before <- graphics::par(watched)
    for (view in views) {
      plot(fit, view)
      expect_equal(graphics::par(watched), before, info = view)
    }
  })
})

test_that("views share a page, one figure after the other", {
  fit <- drawn_fit(20, 12, 3, phantom = "white")
  on_paper({
    graphics::par(mfrow = c(2, 2))
    place <- function(view) {
      plot(fit, view)
      graphics::par("mfg")[1:2]
    }
    expect_identical(place("membership"), c(1L, 1L))
    expect_identical(place("phantom"), c(1L, 2L))
    expect_identical(place("trace"), c(2L, 1L))
  })
})

test_that("graphical parameters are put back after an error, too", {
  fit <- drawn_fit(20, 12, 3, phantom = "white")
  fit$starts$finished <- list(stop)
  on_paper({
    before <- graphics::par("mar", "mgp")
    expect_error(plot(fit, "trace"))
    expect_identical(graphics::par("mar", "mgp"), before)
  })
})

test_that("attributes are ordered by age, by aspect or not at all", {
  aspects <- rbind(c(0.9, 0.1, 0.2, 0.7), c(0, 0.8, 0.9, 0.1))
  expect_identical(seriate(aspects), c(1L, 4L, 3L, 2L))
  fit <- drawn_fit(10, 6, 2)
  for (order in c("age", "seriated", "data")) {
    expect_silent(on_paper(plot(fit, age = 1:10, order = order)))
    expect_silent(on_paper(plot(fit, "membership", age = 1:10, order = order)))
  }
})

test_that("ages of one side give those of the other: means over the presences", {
  x <- rbind(a = c(u = 1, v = 0, w = 0), b = c(1, 1, 0), c = c(NA, 1, 0), d = c(0, 0, 0))
  quick <- fit_control(n_start = 1, max_pass = 5)
  fit <- suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, control = quick)))
  expect_equal(plot_ages(fit, 4:1, "guess", "attribute"), c(3.5, 2.5, NA))
  expect_equal(plot_ages(fit, c(w = 1, u = 10, v = 20), "guess", "observation"), c(10, 15, 20, NA))
  expect_equal(plot_ages(fit, c(10, NA, 1), "guess", "observation"), c(10, 10, NA, NA))
  expect_equal(plot_ages(fit, 4:1, "observation", "observation"), c(4, 3, 2, 1))
  sparse <- suppressMessages(suppressWarnings(
    aspect_bernoulli(Matrix::Matrix(x %in% 1 + 0, 4, 3, sparse = TRUE), 2, control = quick)
  ))
  expect_equal(plot_ages(sparse, 4:1, "guess", "attribute"), c(3.5, 2.5, NA))
  expect_equal(plot_ages(sparse, c(10, 20, 1), "guess", "observation"), c(10, 15, 20, NA))
})

test_that("the correlation of share and richness is left out where there is none", {
  expect_identical(phantom_share_labels(list(white = c(0.1, 0.5)), c(4, 2)), "white phantom: correlation -1.00")
  expect_identical(phantom_share_labels(list(white = c(0.1, 0.1), black = 1:2), c(2, 4))[1L], "white phantom")
  expect_identical(phantom_share_labels(list(black = 0.3), 4), "black phantom")
})

test_that("wrong arguments are told", {
  fit <- drawn_fit(10, 6, 2)
  square <- drawn_fit(6, 6, 2, names = FALSE)
  bare <- fit
  bare["x"] <- list(NULL)
  pdf(NULL)
  on.exit(dev.off())
  expect_snapshot(error = TRUE, {
    plot(fit, "heat")
    plot(fit, 3)
    plot(fit, col = "red")
    plot(fit, main = 1)
    plot(fit, order = "age")
    plot(fit, order = "size")
    plot(fit, age = 1:7)
    plot(fit, age = letters[1:6])
    plot(fit, age = c(1:5, Inf))
    plot(square, age = 1:6)
    plot(fit, age = c(site = 1))
    plot(bare, age = 1:10)
    plot(bare, "membership", age = 1:6)
    plot(fit, "phantom")
  })
  expect_silent(plot(square, age = 1:6, of = "attribute"))
  expect_silent(plot(bare, age = 1:6))
})

test_that("a plot leaves the graphical settings as they were", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  settings <- c("mfrow", "mar", "oma", "cex", "pty", "las", "xpd")
  before <- graphics::par(settings)
  for (name in names(fits_of_all())) {
    plot(fits_of_all()[[name]])
    expect_identical(graphics::par(settings), before, info = name)
  }
})
