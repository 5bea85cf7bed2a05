# Long names and few or many attributes: everything is drawn, without a complaint of the device.

long_names <- function(m) {
  paste(rep_len(c("Pseudopalaeotherium longissimum", "Eryops", "Diplocaulus magnicornis var. texensis"), m), seq_len(m))
}

test_that("heat maps hold few and many rows and columns", {
  for (shape in list(c(5, 2), c(50, 5), c(500, 5), c(12, 5), c(60, 50), c(200, 500))) {
    values <- matrix(seq(0, 1, length.out = prod(shape)), shape[1L], shape[2L])
    dimnames(values) <- list(long_names(shape[1L]), long_names(shape[2L]))
    expect_silent(panels <- on_paper(heat_map(values, main = "A title")))
    # Columns that would be too narrow to see are not made narrower by panels.
    expect_true(panels == 1L || 0.4 * 6.8 / panels / shape[2L] >= 0.03 - 1e-9)
  }
})

test_that("points are named where there is room", {
  set.seed(1)
  for (m in c(5, 50, 500)) {
    x <- runif(m)
    y <- runif(m)
    on_paper({
      graphics::plot(x, y, xlim = c(0, 1), ylim = c(0, 1))
      expect_silent(label_points(x, y, long_names(m), order(-y), 1))
    })
  }
})

test_that("curves of losses with several long labels are drawn", {
  set.seed(2)
  x <- matrix(rbinom(200, 1, 0.4), 20, 10)
  few <- fit_control(n_start = 1, max_pass = 20, progress = FALSE)
  models <- list(`Bernoulli mixture with a weak prior` = bernoulli_mixture, `logistic PCA with a ridge` = logistic_pca)
  cv <- suppressWarnings(cross_validate(x, models, k = 1:2, folds = 3, control = few))
  for (width in c(4, 7, 12)) expect_silent(on_paper(plot(cv), width = width, height = 5))
})
