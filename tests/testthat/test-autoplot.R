# Every view of plot() as a ggplot2 object that can be drawn. Tests also R/result_plots.R.

skip_on_cran()

test_that("autoplot() has the views of plot(), for every model", {
  fits <- fits_of_all()
  for (name in names(fits)) {
    views <- views_of(fits[[name]])
    expect_gt(length(views), 1L)
    for (what in views) expect_s3_class(ggplot2::autoplot(fits[[name]], what), "ggplot") # drawn by test-plot.R
  }
  drawn(ggplot2::autoplot(fits$aspect_bernoulli, "phantom"))
  drawn(ggplot2::autoplot(fits$noisy_or, dim = c(2, 4)))
  drawn(ggplot2::autoplot(fits$bmf, "features", shape = c(2, 4)))
  drawn(ggplot2::autoplot(fits$aspect_bernoulli, age = stats::setNames(1:8, paste0("taxon", 1:8))))
  expect_error(ggplot2::autoplot(fits$nmf, "aspects"), "`what`", class = "multicause_input_error")
  expect_error(ggplot2::autoplot(fits$nmf, color = 1), "color", class = "multicause_input_error")
})

test_that("axes say share of shares alone: what sums to 1 over the taxa", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), c("bmf", "plca"))) {
    said <- ggplot2::autoplot(fits[[name]], "top")$labels$x
    total <- rowSums(component_matrix(fits[[name]]))
    expect_identical(grepl("share", said), all(abs(total - 1) < 1e-6), info = name)
  }
  for (name in c("aspect_bernoulli", "effort", "visits", "vb", "bernoulli_mixture", "noisy_or")) {
    expect_match(ggplot2::autoplot(fits[[name]], "top")$labels$x, "^probability", info = name)
  }
})

test_that("saved pictures have a background", {
  set.seed(1)
  fit <- quietly(nmf(matrix(rpois(60, 2), 10), 2, control = fit_control(n_start = 1, progress = FALSE)))
  expect_identical(ggplot2::autoplot(fit)$theme$plot.background$fill, "white")
})

test_that("a selection without any value is told", {
  set.seed(1)
  x <- matrix(rbinom(200, 1, 0.4), 20, 10)
  few <- fit_control(n_start = 1, max_iter = 20, n_polish = 0, progress = FALSE)
  unknown <- suppressWarnings(select_k(x, 1:2, criterion = "aic", estimate = "vb", control = few))
  expect_error(plot(unknown), "all of its criteria are unknown", class = "multicause_input_error")
})

# Data of a figure's layer; each test below fails if a figure shows other numbers than its object has.
layer <- function(figure, i = 1L) ggplot2::layer_data(figure, i)

test_that("figures of models show their parameters", {
  fits <- fits_of_all()
  heat <- function(fit, ...) ggplot2::autoplot(fit, ..., order = "data")$data$value
  expect_equal(heat(fits$bernoulli_mixture), as.vector(t(fits$bernoulli_mixture$param$prototypes)))
  expect_equal(heat(fits$nmf), as.vector(t(component_matrix(fits$nmf))))
  expect_equal(heat(fits$logistic_pca), as.vector(t(fits$logistic_pca$param$loadings)))
  noisy <- fits$noisy_or
  expect_setequal(round(heat(noisy, "links"), 10), round(c(noisy$param$links, noisy$param$leak), 10))
  expect_equal(sort(ggplot2::autoplot(noisy, "activation")$data$value), sort(as.vector(noisy$param$activation)))
  leak <- ggplot2::autoplot(noisy, "leak")$data
  expect_equal(leak$leak, unname(noisy$param$leak))
  expect_equal(leak$frequency, unname(noisy$margins$column_sum / noisy$margins$column_observed))
  bmf <- fits$bmf
  counts <- ggplot2::autoplot(bmf, "counts")$data
  expect_equal(as.vector(tapply(counts$probability, counts$side, sum)), c(1, 1))
  expect_equal(sum(counts$features * counts$probability),
    mean(bmf$trace$row_features) + mean(bmf$trace$column_features))
  cells <- ggplot2::autoplot(bmf, "data")$data
  expect_equal(sort(cells$value[cells$panel == "posterior mean"]), sort(as.vector(bmf$mean)))
  chains <- ggplot2::autoplot(bmf, "trace")$data
  expect_equal(chains$value[chains$quantity == "log-likelihood" & chains$draw > 0], bmf$trace$log_likelihood)
  plsa <- ggplot2::autoplot(fits$plsa, "structure")
  expect_equal(sum(layer(plsa)$ymax - layer(plsa)$ymin), 20)
  marginals <- ggplot2::autoplot(fits$plca, "marginals")$data
  expect_equal(as.vector(tapply(marginals$probability, marginals[c("component", "dimension")], sum)), rep(1, 6))
  fit <- ggplot2::autoplot(fits$plca, "reconstruction")$data
  expect_equal(sum(fit$value[fit$panel == "data"]^2), sum(fits$plca$x))
  visits <- fits$visits
  sums <- occupied(visits, "site")
  expect_setequal(layer(ggplot2::autoplot(visits, "richness"))$xmax, sums$high)
  expect_setequal(layer(ggplot2::autoplot(visits, "sites"))$xmax, occupied(visits, "taxon")$high)
  gaps <- ggplot2::autoplot(fits$aspect_bernoulli, "trace")$data
  expect_equal(nrow(gaps), sum(lengths(fits$aspect_bernoulli$start_traces)))
  expect_equal(min(gaps$gap), least_gap)
})

test_that("figures of results show their tables", {
  set.seed(2)
  x <- outer(1:30, 1:8, function(i, j) (i <= 15) == (j <= 4)) * matrix(stats::rbinom(240, 1, 0.7), 30)
  few <- fit_control(n_start = 3, n_polish = 0, progress = FALSE, keep_starts = TRUE, screen = FALSE)
  figure <- function(result) drawn(ggplot2::autoplot(result))$plot
  cv <- cross_validate(x, 1:2, bernoulli_mixture, folds = 2, control = few)
  expect_equal(figure(cv)$data$loss, cv$results$loss)
  chosen <- select_k(x, 1:2, bernoulli_mixture, c("aic", "cells"), folds = 2, control = few)
  expect_setequal(figure(chosen)$data$loss, stats::na.omit(chosen$table$value))
  both <- compare_models(x, 1, list(a = bernoulli_mixture, b = logistic_pca), folds = 2, control = few)
  expect_setequal(figure(both)$data$loss, both$cells$results$loss)
  planted <- corrupt(x, omit = c(0, 0.3))
  found <- recovery(fitted(bernoulli_mixture(planted$x, 2, control = few)), planted)
  expect_equal(layer(figure(found), 3L)$y, found$calibration$share)
  fit <- aspect_bernoulli(x, 3, phantom = "white", control = few)
  solutions <- modes(fit)
  expect_equal(layer(figure(solutions))$y, solutions$modes$behind)
  bounds <- identifiability(fit)
  boxes <- layer(figure(bounds))
  expect_equal(sort(boxes$ymax[1:30]), sort(bounds$sites$outer_most))
  ages <- age_profile(fit, age = 8:1, of = "taxon")
  expect_equal(layer(figure(ages))$middle, -ages$aspects$median)
  unlike <- divergences(fits_of_all()$plca)
  expect_equal(figure(unlike)$data$value, unlist(lapply(unclass(unlike), as.vector), use.names = FALSE))
  average <- ensemble(x, k = 2, members = 2)
  expect_equal(figure(average)$data$value, as.vector(average$probability))
  near <- suppressMessages(neighbours_mean(x, smooth = smooth_over(age = 1:30)))
  expect_equal(figure(near)$data$value, as.vector(near$probability))
})

test_that("curves and maps show the numbers of curves() and of the composition", {
  set.seed(1)
  x <- outer(1:30, 1:6, function(i, j) (i <= 15) == (j <= 3)) * matrix(stats::rbinom(180, 1, 0.7), 30)
  place <- cbind(lng = stats::runif(30, 10, 20), lat = stats::runif(30, 40, 50))
  near <- smooth_over(age = 30:1, place = place, strength = 5)
  quick <- fit_control(n_start = 1, max_iter = 50, tol = 1e-4, progress = FALSE)
  fit <- aspect_bernoulli(x, 2, estimate = "map", smooth = near, control = quick)
  figure <- drawn(ggplot2::autoplot(fit, "curves", taxon = 2))$plot
  expect_equal(figure$data$share, curves(fit, "component")$share)
  expect_equal(layer(figure, 4L)$y, curves(fit, taxon = 2)$present)
  figure <- drawn(ggplot2::autoplot(fit, "map", slices = 1))$plot
  kinds <- vapply(figure$layers, function(layer) class(layer$geom)[1L], "") # without package maps there is no coast
  pies <- layer(figure, which(kinds == "GeomPolygon"))
  expect_lte(max(pies$x), 21) # zoomed to the sites, in degrees
  square <- data.frame(lng = c(0, 20, 20, 0), lat = c(40, 40, 50, 50), group = 1)
  expect_identical(ggplot2::autoplot(fit, "map", coast = square)$labels$caption, "Coast: as given")
  point <- joined_sites(place, map_limits(place), 0.07 * diff(map_limits(place)$lat))
  expect_equal(length(unique(pies$group)), sum(rowsum(fit$param$membership, point) / tabulate(point) > least_piece))
})

test_that("every figure has an alternative text of its own", {
  body_of <- function(name) paste(deparse(get(name, asNamespace("multicause"))), collapse = " ")
  makers <- grep("_figure([.][a-z_]+)?$", ls(asNamespace("multicause")), value = TRUE)
  makers <- makers[!grepl("UseMethod", vapply(makers, body_of, ""), fixed = TRUE)] # its methods make figures
  expect_gt(length(makers), 25L)
  expect_error(new_figure(data.frame(x = 1), title = "t"), "alt") # none is made without
  # A figure starts from new_figure(), or from one that does.
  own <- c(makers, "new_figure")
  for (name in setdiff(makers, "new_figure")) {
    expect_match(body_of(name), paste(paste0("\\b", setdiff(own, name), "\\("), collapse = "|"), info = name)
  }
})

test_that("time axes have the geological scale where its package is there", {
  plain <- function(...) !any(vapply(time_axis(...), inherits, NA, "Coord"))
  expect_true(plain(c(0, 600)))
  expect_true(plain(c(1, 10), NULL))
  expect_true(plain(c(1, 10), "ka"))
  expect_true(plain(c(5, 5)))
  skip_if_not_installed("deeptime")
  expect_false(plain(c(245, 320)))
  for (range in list(c(245, 320), c(10, 300), c(0.1, 2), c(0, 541), c(12, 15))) {
    divisions <- geological_divisions(range)
    seen <- divisions$share > 0
    expect_true(sum(seen) >= 1L && sum(seen) <= 12L)
    expect_equal(sum(divisions$share), 1, tolerance = 1e-6)
  }
  expect_setequal(
    with(geological_divisions(c(245, 320)), name[share > 0]),
    c("Middle Triassic", "Early Triassic", "Lopingian", "Guadalupian", "Cisuralian", "Pennsylvanian")
  )
  x <- matrix(rbinom(200, 1, 0.4), 20)
  w <- suppressMessages(which_zeros(x, age = seq(250, 320, length.out = 20), quick = TRUE, seed = 1))
  for (what in c("ranges", "time")) drawn(ggplot2::autoplot(w, what))
})

test_that("the gallery has every view of every model and of every result", {
  page <- test_path("..", "..", "vignettes", "articles", "gallery.Rmd")
  skip_if_not(file.exists(page), "the sources are not at hand")
  lines <- readLines(page)
  methods <- grep("^S3method[(]ggplot2::autoplot,", readLines(test_path("..", "..", "NAMESPACE")), value = TRUE)
  classes <- sub("[)]$", "", sub(".*,", "", methods))
  for (class in setdiff(classes, "alignment")) { # which has no figure, and says so
    method <- getS3method("autoplot", class, envir = asNamespace("ggplot2"))
    # Classes without views are drawn from the call that makes them.
    views <- if (class == "visits_bernoulli") c("detection", "richness", "sites") else eval(formals(method)$what)
    maker <- c(which_zeros_sums = "by_taxon", which_zeros_contrast = "contrast", zero_explained = "explain",
      multicause_cv = "cross_validate", multicause_comparison = "compare_models", multicause_selection = "select_k",
      multicause_ensemble = "ensemble", which_zeros_sensitivity = "sensitivity", visit_richness = "occupied",
      which_zeros_later = "recovery(which_zeros")
    words <- if (is.null(views)) sprintf("%s(", if (class %in% names(maker)) maker[[class]] else class)
    first <- views %in% c("zeros", "aspects") # drawn by plot() by default
    for (word in c(words, sprintf("\"%s\"", views[!first]))) {
      expect_true(any(grepl(word, lines, fixed = TRUE)), info = paste(class, word))
    }
  }
})

test_that("the structure has sites of like memberships beside each other, group by group", {
  set.seed(11)
  x <- matrix(stats::rpois(60 * 9, 1 + 6 * outer(1:60, 1:9, function(i, j) i %% 3 == j %% 3)), 60)
  dimnames(x) <- list(paste0("site", 1:60), paste0("taxon", 1:9))
  fit <- plsa(x, 3, control = quiet_control(n_start = 2))
  fit$param$membership[] <- prop.table(matrix(stats::rexp(180), 60), 1L)
  drawn_rows <- function(...) {
    figure <- ggplot2::autoplot(fit, "structure", ...)
    drawn(figure)
    shares <- unname(as.matrix(stats::xtabs(value ~ row + column, figure$data)))
    row <- apply(shares, 1L, function(one) which(rowSums(abs(sweep(fit$param$membership, 2L, one))) < 1e-8))
    list(row = row, at = sort(unique(figure$data$row)), figure = figure)
  }
  along <- function(row) sum(abs(diff(fit$param$membership[row, ])))
  all <- drawn_rows()
  expect_setequal(all$row, 1:60)
  expect_lt(along(all$row), along(seriate(t(fit$param$membership)))) # as the plot was ordered before
  expect_match(levels(all$figure$data$column)[1L], "^A1: taxon[0-9], taxon[0-9], taxon[0-9]$")
  groups <- stats::setNames(rep(c("north", "south", NA), c(25, 30, 5)), rownames(x))
  within <- drawn_rows(groups = rev(groups)) # matched by name
  expect_identical(unname(groups[within$row]), rep(c("north", "south"), c(25, 30)))
  expect_identical(which(diff(within$at) > 1), 25L)
  labels <- ggplot2::ggplot_build(within$figure)$layout$panel_params[[1L]]$x$get_labels()
  expect_identical(trimws(labels), c("north", "south"))
  expect_error(plot(fit, "structure", groups = 1:3), "group of each of the 60 sites", class = "multicause_input_error")
  expect_error(plot(fit, "structure", groups = rep(NA, 60)), "all are NA", class = "multicause_input_error")
  pca <- fits_of_all()$logistic_pca
  expect_error(plot(pca, "structure"), "needs a fit with memberships", class = "multicause_input_error")
  fit$param$membership <- fit$param$membership[rep(1:60, 40), ]
  many <- ggplot2::autoplot(fit, "structure")
  expect_identical(many$labels$subtitle, "2\u00a0000 of the 2\u00a0400 sites, evenly out of all")
  expect_identical(nrow(many$data), 6000L)
})

test_that("scores are drawn on two components, neither fewer nor more", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 0)
  refused <- function(fit, text, ...) {
    expect_error(ggplot2::autoplot(fit, "scores", ...), text, fixed = TRUE, class = "multicause_input_error")
  }
  refused(bernoulli_mixture(x, 1, control = brief), "`object` must have two components for `what = \"scores\"`.")
  refused(bernoulli_mixture(x, 3, control = brief), "`components` must be two, not 1.", components = 2)
})
