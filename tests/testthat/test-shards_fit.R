# Common features of fits to shards, for any model. Tests also R/shards_methods.R.

skip_on_cran()

test_that("a folder that cannot be made is named with its argument", {
  x <- planted_table()
  no_folder <- file.path(tempfile(), "deeper", "still")
  shard <- shards(x, tempfile(), size = 80)
  fit <- short_fit(shard, 2, start = start_of_shards(x, 2), control = fit_control(max_iter = 2))
  expect_error(shards(x, no_folder), "`path` must be a folder that can be made.* there is no folder",
    class = "multicause_input_error")
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
    control <- fit_control(max_iter = 5, tol = 0, checkpoint = tempfile())
    aspect_bernoulli(table, 3, prior = own_prior, start = began, control = control)
  })
  expect_identical(numbers_of(update(fit)), numbers_of(fit))
  longer <- update(fit, control = fit_control(max_iter = 9, tol = 0))
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
  control <- fit_control(max_iter = 3, tol = 0, checkpoint = folder)
  plsa(shard, 2, start = start_of_counts(x, 2), control = control)
  expect_error(plsa(shard, 2, control = control), "is not of this call", class = "multicause_input_error")
  expect_error(nmf(shard, 2, loss = "kl", control = control), "is not of this call", class = "multicause_input_error")
})

test_that("predict() says what it cannot do", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  fit <- plsa(shard, 2, start = start_of_counts(x, 2), control = fit_control(max_iter = 3, tol = 0))
  expect_error(predict(fit, type = "cell"), "`type` must be", class = "multicause_input_error")
  expect_error(predict(fit, rows = 1, path = tempfile()), "do not go together", class = "multicause_input_error")
  expect_error(predict(fit, rows = "nobody"), "nobody", class = "multicause_input_error")
  expect_error(fitted(fit, path = tempfile(), format = "xls"), "`format` must be", class = "multicause_input_error")
  unlink(fit$folder, recursive = TRUE)
  expect_error(predict(fit), "has lost its memberships", class = "multicause_input_error")
})

test_that("models without iterations by rows refuse shards", {
  shard <- shards(planted_table(), tempfile())
  expect_error(bmf(shard, 2), "in shards", class = "multicause_input_error")
})

test_that("files of predictions are whole, however many rows are in memory at a time", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 200)
  fit <- short_fit(shard, 2, start = start_of_shards(x, 2), control = fit_control(max_iter = 2))
  whole <- predict(fit)
  real <- row_blocks
  bind_in_namespace("row_blocks", function(rows, m, cells) real(rows, m, 7 * m))
  for (format in c("csv", "parquet")) {
    if (format == "parquet") skip_if_not_installed("nanoparquet")
    files <- predict(fit, path = tempfile(), format = format)
    read <- if (format == "csv") utils::read.csv else nanoparquet::read_parquet
    got <- do.call(rbind, lapply(files, function(file) as.data.frame(read(file))))
    expect_identical(got$row, rownames(whole))
    expect_equal(as.matrix(got[-1L]), unname(whole), tolerance = 1e-14, ignore_attr = TRUE)
  }
})

test_that("a fit that goes on does not meet what an earlier call still writes", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  folder <- tempfile()
  run <- function(max_iter, ...) {
    short_fit(shard, 3, start = start_of_shards(x, 3), control = fit_control(max_iter = max_iter, tol = 0, ...))
  }
  whole <- run(9)
  stop_after(5, run(9, checkpoint = folder))
  iterations <- readRDS(file.path(folder, "state.rds"))$iterations
  # Files that a worker of the stopped call wrote, or will write, have the next number.
  late <- newest_version(folder) + 1L
  seen <- integer()
  scan <- scan_shards
  bind_in_namespace("scan_shards", function(job) {
    seen <<- c(seen, job$to)
    scan(job)
  })
  rest <- run(9 - iterations, checkpoint = folder)
  expect_gt(min(seen), late)
  expect_identical(rest$param, whole$param)
})

# A fit in whose folder another call starts at its first scan, and does more.
expect_overtaken <- function(more = function(folder) NULL) {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 60)
  folder <- tempfile()
  scan <- scan_shards
  bind_in_namespace("scan_shards", function(job) {
    writeLines("another", owner_file(folder))
    more(folder)
    scan(job)
  })
  expect_error(
    short_fit(shard, 3, start = start_of_shards(x, 3), control = fit_control(max_iter = 9, checkpoint = folder)),
    "another call has begun", class = "multicause_input_error"
  )
}

test_that("a call ends when another has begun in its folder", {
  expect_overtaken()
})

test_that("a call whose files another has removed says that, not what it missed", {
  expect_overtaken(function(folder) {
    unlink(list.files(folder, "^membership", full.names = TRUE))
    worker_memory$of <- NULL
  })
})

test_that("files of a fit that hold other numbers are named and not followed", {
  x <- planted_table(60, 20)
  shard <- shards(x, tempfile(), size = 100)
  control <- function(folder) fit_control(n_start = 1, max_iter = 2, tol = 0, checkpoint = folder)
  models <- list(
    function(folder) short_fit(shard, 2, control = control(folder)),
    function(folder) suppressWarnings(noisy_or(shard, 2, control = control(folder)))
  )
  for (model in models) {
    folder <- tempfile()
    set.seed(1)
    fit <- model(folder)
    file <- membership_file(folder, 1L, fit$version)
    rows <- read_vectors(file, 1L)[[1L]]
    n <- shard$shards$rows[1]
    for (wrong in list(
      replace(rows, 1, NaN), replace(rows, 1, -1), replace(rows, 1, 1e6), replace(rows, n + 1L, 1e15), rows[-1],
      replace(rows, n + 1L, 0.3), as.integer(rows)
    )) {
      write_vectors(list(wrong), file)
      expect_error(predict(fit, rows = 1), basename(file), class = "multicause_input_error")
      set.seed(1)
      expect_error(model(folder), basename(file), class = "multicause_input_error")
    }
    write_vectors(list(rows), file)
  }
})

test_that("workers do not remember what a folder held before it was deleted", {
  skip_if_not_installed_here()
  shard <- shards(planted_table(), tempfile(), size = 60)
  folder <- tempfile()
  cluster <- parallel::makePSOCKcluster(1, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster))
  run <- function(seed, ...) {
    unlink(folder, recursive = TRUE)
    set.seed(seed)
    control <- fit_control(n_start = 1, max_iter = 2, tol = 0, checkpoint = folder, ...)
    numbers_of(short_fit(shard, 3, control = control))
  }
  run(1, cluster = cluster)
  expect_identical(run(2, cluster = cluster), run(2))
})

test_that("a table small enough is read once a fit, a larger one every iteration, with the same numbers", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  reads <- 0L
  read <- multicause:::read_shard_view
  bind_in_namespace("read_shard_view", function(...) {
    reads <<- reads + 1L
    read(...)
  })
  fit <- function() short_fit(shard, 3, start = start_of_shards(x, 3), control = fit_control(max_iter = 6, tol = 0))
  kept <- fit()
  n_shards <- nrow(shard$shards)
  expect_identical(reads, n_shards)
  expect_identical(ls(multicause:::worker_memory), character())
  bind_in_namespace("kept_bytes", 0)
  reads <- 0L
  every <- fit()
  expect_gt(reads, 5L * n_shards)
  expect_identical(numbers_of(every), numbers_of(kept))
})

test_that("the folder of a fit goes with the fit, and no sooner", {
  few <- fit_control(n_start = 1, n_polish = 0, max_iter = 3, tol = 0, progress = FALSE)
  x <- shards(planted_table(), tempfile(), size = 80)
  fit <- quiet_fit(aspect_bernoulli(x, 2, control = few))$value
  folder <- as.vector(fit$folder)
  again <- list(fit)
  rm(fit)
  gc()
  expect_true(dir.exists(folder))
  expect_identical(dim(fitted(again[[1L]], rows = 1:3)), c(3L, 40L))
  rm(again)
  gc()
  expect_false(dir.exists(folder))
  kept <- tempfile()
  fit <- quiet_fit(aspect_bernoulli(x, 2, control = replace_part(few, "checkpoint", kept)))$value
  rm(fit)
  gc()
  expect_true(dir.exists(kept))
})

test_that("files of a prediction have all rows, and few iterations are told", {
  x <- shards(planted_table(30, 8, missing = 0), tempfile(), size = 100)
  expect_warning(fit <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 2)),
    "Not converged after 2 iterations: raise `max_iter` in fit_control(), or resume from `checkpoint`.", fixed = TRUE,
    class = "multicause_not_converged")
  expect_error(predict(fit, rows = 1, path = tempfile()),
    "`rows` and `path` do not go together: files have all rows.", fixed = TRUE, class = "multicause_input_error")
})

test_that("memberships of another fit, or that are none, are not followed", {
  x <- shards(planted_table(30, 8, missing = 0), tempfile(), size = 100)
  fit <- short_fit(x, 2, control = fit_control(n_start = 1, max_iter = 2, checkpoint = tempfile()))
  file <- membership_file(fit$folder, x$shards$shard[1], fit$version)
  values <- read_vectors(file, 1L)[[1]]
  refused <- function(values, text) {
    write_vectors(list(values), file)
    expect_error(predict(fit, type = "membership"), text, fixed = TRUE, class = "multicause_shard_damaged")
  }
  refused(values[-1], "is not of this fit: make the shards, or the fit, anew.")
  refused(2 * values, "has the right checksum, but holds no parameters of rows: make the shards, or the fit, anew.")
})

test_that("Parquet is refused without its package", {
  x <- shards(planted_table(30, 8, missing = 0), tempfile(), size = 100)
  fit <- short_fit(x, 2, control = fit_control(n_start = 1, max_iter = 2))
  without_packages("nanoparquet")
  expect_error(predict(fit, path = tempfile(), format = "parquet"),
    "`format = \"parquet\"` needs package nanoparquet.", fixed = TRUE, class = "multicause_input_error")
})
