# What fits to shards have in common, whatever the model. Also of R/shards_methods.R.

test_that("a folder that cannot be made is named with its argument", {
  x <- planted_table()
  no_folder <- file.path(tempfile(), "deeper", "still")
  shard <- shards(x, tempfile(), size = 80)
  fit <- short_fit(shard, 2, start = start_of_shards(x, 2), control = fit_control(max_pass = 2))
  expect_error(shards(x, no_folder), "`path` must be a folder that can be made", class = "multicause_input_error")
  expect_error(predict(fit, path = no_folder), "`path` must be a folder that can be made",
    class = "multicause_input_error")
  expect_error(plsa(shard, 2, control = fit_control(checkpoint = no_folder)),
    "`checkpoint` must be a folder that can be made", class = "multicause_input_error")
  full <- tempfile()
  dir.create(full)
  file.create(file.path(full, "mine.txt"))
  expect_error(plsa(shard, 2, control = fit_control(checkpoint = full)), "holds \"mine.txt\"",
    class = "multicause_input_error")
})

test_that("update() runs the call again with what is changed, whatever became of its variables", {
  x <- planted_table()
  fit <- local({
    table <- shards(x, tempfile(), size = 80)
    own_prior <- list(aspects = c(1.3, 2), membership = 1.1)
    began <- start_of_shards(x, 3)
    control <- fit_control(max_pass = 5, tol = 0, checkpoint = tempfile())
    aspect_bernoulli(table, 3, prior = own_prior, start = began, control = control)
  })
  expect_identical(numbers_of(update(fit)), numbers_of(fit))
  longer <- update(fit, control = fit_control(max_pass = 9, tol = 0))
  expect_identical(nrow(longer$trace), 9L)
  expect_identical(longer$prior, fit$prior)
  expect_identical(update(fit, phantom = "white", evaluate = FALSE)$phantom, "white")
  expect_error(update(fit, 3), "take arguments by name|takes arguments by name", class = "multicause_input_error")
  expect_null(fit$control$checkpoint)
})

test_that("what a checkpoint of another model or start holds is not taken over", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  folder <- tempfile()
  control <- fit_control(max_pass = 3, tol = 0, checkpoint = folder)
  plsa(shard, 2, start = start_of_counts(x, 2), control = control)
  expect_error(plsa(shard, 2, control = control), "is not of this call", class = "multicause_input_error")
  expect_error(nmf(shard, 2, loss = "kl", control = control), "is not of this call", class = "multicause_input_error")
})

test_that("predict() says what it cannot do", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  fit <- plsa(shard, 2, start = start_of_counts(x, 2), control = fit_control(max_pass = 3, tol = 0))
  expect_error(predict(fit, type = "cell"), "`type` must be", class = "multicause_input_error")
  expect_error(predict(fit, rows = 1, path = tempfile()), "do not go together", class = "multicause_input_error")
  expect_error(predict(fit, rows = "nobody"), "nobody", class = "multicause_input_error")
  expect_error(fitted(fit, path = tempfile(), format = "xls"), "`format` must be", class = "multicause_input_error")
  unlink(fit$folder, recursive = TRUE)
  expect_error(predict(fit), "has lost its memberships", class = "multicause_input_error")
})

test_that("models without passes by rows refuse shards", {
  shard <- shards(planted_table(), tempfile())
  expect_error(bmf(shard, 2), "in shards", class = "multicause_input_error")
})
