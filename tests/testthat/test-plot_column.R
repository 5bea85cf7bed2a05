# Every figure as wide as one column of a journal, 85 x 75 mm, where names and legends easily squeeze panels out.

skip_on_cran()

test_that("a panel that is squeezed out, and a title that is cut, are found", {
  rows <- data.frame(x = 1:3, y = strrep(letters[1:3], 50))
  narrow <- new_figure(rows, gg_aes(x = "x", y = "y"), "A title", "alt") + ggplot2::geom_point()
  expect_lt(panel_room(narrow, journal_column[1L], journal_column[2L])[["wide"]], 0.3)
  plain <- new_figure(data.frame(x = 1, y = 1), gg_aes(x = "x", y = "y"), "A title", "alt") + ggplot2::geom_point()
  expect_gt(panel_room(plain, journal_column[1L], journal_column[2L])[["wide"]], 0.8)
  both <- plain + ggplot2::facet_wrap("x") # one panel: the same
  expect_equal(panel_room(both, 3, 3)[["wide"]], panel_room(plain, 3, 3)[["wide"]], tolerance = 0.1)
})

test_that("every view of every model fits one column", {
  fits <- fits_of_all()
  for (name in names(fits)) {
    for (what in views_of(fits[[name]])) fits_column(ggplot2::autoplot(fits[[name]], what), paste(name, what))
  }
  fits_column(ggplot2::autoplot(calibration(fits$bmf, 10)), "calibration")
  for (what in c("richness", "sites")) fits_column(ggplot2::autoplot(fits$visits, what), what)
})

test_that("figures of many components, sites and taxa with long names fit one column", {
  names <- c("Pseudopalaeotherium", "Eryops", "Diplocaulus magnicornis", "Merycochoerus", "Australopithecus")
  fit <- drawn_fit(300, 60, 12, phantom = "white")
  dimnames(fit$x) <- fit$names <- list(site = paste("Central Great Plains CP", 1:300), genus = paste(names, 1:60))
  colnames(fit$param$aspects) <- fit$names[[2L]]
  rownames(fit$param$membership) <- fit$names[[1L]]
  for (what in c("aspects", "structure", "phantom", "trace", "top", "scores")) {
    fits_column(ggplot2::autoplot(fit, what), paste("12 components:", what))
  }
  # Every component has its head.
  drawn <- trimws(text_boxes(ggplot2::autoplot(fit, "aspects"), journal_column[1L], journal_column[2L])$text)
  expect_true(all(paste0("A", 1:12) %in% sub(",? .*", "", drawn)))
})

test_that("every figure of a result of which_zeros() fits one column", {
  sites <- early_tetrapods$sites
  w <- suppressMessages(which_zeros(
    early_tetrapods$x, age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")], quick = TRUE, seed = 1
  ))
  for (what in eval(formals(autoplot.which_zeros)$what)) fits_column(ggplot2::autoplot(w, what), what, what == "map")
  first <- as.data.frame(w, n = 1)
  fits_column(ggplot2::autoplot(explain(w, first$site, first$taxon)), "explain")
  fits_column(ggplot2::autoplot(contrast(w, cut(sites$age, c(240, 273, 300, 340)))), "contrast")
  fits_column(ggplot2::autoplot(sensitivity(w)), "sensitivity")
})

test_that("figures of other results fit one column", {
  set.seed(2)
  x <- outer(1:30, 1:8, function(i, j) (i <= 15) == (j <= 4)) * matrix(stats::rbinom(240, 1, 0.7), 30)
  few <- fit_control(n_start = 3, n_polish = 0, progress = FALSE, keep_starts = TRUE, screen = FALSE)
  both <- list(`aspect Bernoulli` = aspect_bernoulli, `logistic PCA` = logistic_pca)
  fits_column(ggplot2::autoplot(cross_validate(x, 1:2, both, folds = 2, control = few)), "cross_validate")
  chosen <- select_k(x, 1:2, bernoulli_mixture, c("aic", "cells", "rows"), folds = 2, control = few)
  fits_column(ggplot2::autoplot(chosen), "select_k")
  planted <- corrupt(x, omit = c(0, 0.3))
  found <- recovery(fitted(bernoulli_mixture(planted$x, 2, control = few)), planted)
  fits_column(ggplot2::autoplot(found), "recovery")
  fit <- aspect_bernoulli(x, 3, phantom = "white", control = few)
  fits_column(ggplot2::autoplot(modes(fit)), "modes")
  fits_column(ggplot2::autoplot(identifiability(fit)), "identifiability")
  fits_column(ggplot2::autoplot(age_profile(fit, age = 8:1, of = "taxon")), "age_profile")
  fits_column(ggplot2::autoplot(divergences(fits_of_all()$plca)), "divergences")
  fits_column(ggplot2::autoplot(ensemble(x, k = 2, members = 2)), "ensemble")
  fits_column(ggplot2::autoplot(false_absences(fit, 20)), "false_absences")
})
