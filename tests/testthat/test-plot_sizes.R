# Long names and few or many attributes: everything is drawn, without a complaint of the device.

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
    figure <- bars_figure(shares, "A title", "Bars.", labels, component_colours(3), c("sites", "taxa"), "")
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
  few <- fit_control(n_start = 1, max_pass = 20, progress = FALSE)
  models <- list(`Bernoulli mixture with a weak prior` = bernoulli_mixture, `logistic PCA with a ridge` = logistic_pca)
  cv <- suppressWarnings(cross_validate(x, models, k = 1:2, folds = 3, control = few))
  drawn(ggplot2::autoplot(cv))
})
