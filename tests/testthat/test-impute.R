# impute(): what every model puts into unknown cells.

test_that("unknown cells get the fit's answer, observed ones stay, for every model", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), c("plca", "plsa"))) {
    fit <- fits[[name]]
    x <- fit_data(fit)
    filled <- impute(fit)
    known <- which(!is.na(x))
    expect_identical(dim(filled), dim(x), info = name)
    expect_equal(filled[known], x[known] + 0, info = name)
    expect_equal(filled[-known], fitted(fit)[-known], info = name)
  }
})

test_that("new observations are folded in; columns are matched by name", {
  fits <- fits_of_all()
  for (name in setdiff(names(fits), c("plca", "visits", "effort"))) {
    fit <- fits[[name]]
    new <- fit_data(fit)[c(1, 12), , drop = FALSE]
    new[1, 5] <- NA
    set.seed(1)
    answer <- predict(fit, new)
    set.seed(1)
    filled <- impute(fit, new)
    expect_identical(which(is.na(new)), 9L)
    expect_equal(filled[9], answer[9], info = name)
    expect_equal(filled[-9], unname(new[-9] + 0), info = name)
    set.seed(1)
    expect_equal(impute(fit, new[, 8:1])[, colnames(new)], filled, info = name, tolerance = 1e-6)
  }
})

test_that("what cannot be filled in is refused", {
  fit <- fits_of_all()$nmf
  fit["x"] <- list(NULL)
  expect_error(impute(fit), "keep_x", class = "multicause_input_error")
  expect_error(impute(fit, type = "mean"), "type", class = "multicause_input_error")
  expect_error(impute(list()), "`fit`", class = "multicause_input_error")
})
