# Tests also R/bmf_methods.R, R/bmf.R, R/bmf_methods.R.

skip_on_cran()

same_draws <- function(a, b) {
  expect_identical(a$trace, b$trace)
  expect_identical(a$param, b$param)
  expect_identical(a$mean, b$mean)
}

test_that("planted blocks are recovered, missing cells predicted", {
  set.seed(1)
  data <- bmf_blocks()
  x <- data$x
  x[cbind(1:8, 1:8)] <- NA
  fit <- bmf_quietly(bmf(x, control = bmf_quick(draws = 100)))
  expect_lt(mean((fitted(fit) - data$mean)[is.na(x)]^2), 0.1)
  expect_lt(mean((fitted(fit) - data$mean)^2), 0.05)
  expect_equal(unname(fit$param$rows %*% fit$param$weights %*% t(fit$param$columns)), data$mean, tolerance = 0.2)
  missing <- predict(fit, type = "missing", level = 0.9)
  expect_identical(names(missing), c("row", "column", "mean", "lower", "upper"))
  expect_equal(nrow(missing), 8)
  expect_true(all(missing$lower <= missing$upper))
})

test_that("each family finds planted groups", {
  set.seed(2)
  u <- rep(1:0, each = 20)
  v <- rep(1:0, each = 6)
  eta <- outer(u, v)
  x <- matrix(rbinom(480, 1, plogis(-2 + 4 * eta)), 40)
  fit <- bmf_quietly(bmf(x, family = "bernoulli", control = bmf_quick()))
  expect_gt(cor(c(fitted(fit)), c(eta)), 0.9)
  expect_identical(unname(fit$param$rows[, "baseline"]), rep(1L, 40))
  x <- matrix(rpois(480, 0.1 + 5 * eta), 40)
  fit <- bmf_quietly(bmf(x, family = "poisson", control = bmf_quick()))
  expect_gt(cor(c(fitted(fit)), c(eta)), 0.95)
  expect_true(all(fit$param$weights >= 0))
})

test_that("arguments stay as they are and names travel", {
  set.seed(4)
  x <- bmf_blocks()$x
  dimnames(x) <- list(paste0("site", 1:30), letters[1:10])
  copy <- unserialize(serialize(x, NULL))
  fit <- bmf_quietly(bmf(x, control = bmf_quick()))
  expect_identical(x, copy)
  expect_identical(dimnames(fitted(fit)), dimnames(x))
  expect_identical(rownames(fit$param$rows), rownames(x))
  expect_identical(rownames(fit$param$columns), colnames(x))
  expect_identical(rownames(cooccurrence(fit)), rownames(x))
  shuffled <- x[3:1, 10:1]
  set.seed(1)
  one <- predict(fit, shuffled)
  set.seed(1)
  expect_identical(one, predict(fit, x[3:1, ])[, 10:1])
})

test_that("TRUE and FALSE are 1 and 0", {
  x <- simulated_sites$x[1:20, 1:10]
  control <- mcmc_control(chains = 1, warmup = 10, draws = 10, progress = FALSE)
  fit_of <- function(x) {
    set.seed(1)
    suppressMessages(bmf(x, 2, 2, control = control))
  }
  expect_identical(fit_of(x == 1)$trace, fit_of(x)$trace)
})

test_that("sparse and dense tables give the same chains", {
  set.seed(5)
  x <- matrix(rbinom(200, 1, 0.2), 20)
  set.seed(1)
  a <- bmf_quietly(bmf(x, family = "bernoulli", control = bmf_quick(draws = 10)))
  set.seed(1)
  b <- bmf_quietly(bmf(Matrix::Matrix(x, sparse = TRUE), family = "bernoulli", control = bmf_quick(draws = 10)))
  same_draws(a, b)
})

test_that("the seed alone decides: threads, plans, kinds of generator", {
  x <- bmf_blocks()$x
  run <- function(...) {
    set.seed(7)
    bmf_quietly(bmf(x, control = bmf_quick(draws = 10, ...)))
  }
  one <- run()
  same_draws(one, run(n_threads = 2))
  kind <- RNGkind()
  set.seed(9, kind = "Wichmann-Hill")
  on.exit(do.call(RNGkind, as.list(kind)))
  before <- runif(3)
  set.seed(9, kind = "Wichmann-Hill")
  invisible(bmf_quietly(bmf(x, control = bmf_quick(draws = 2, chains = 1))))
  expect_identical(RNGkind()[1], "Wichmann-Hill")
})

test_that("futures give the same chains", {
  skip_if_not_installed("future")
  x <- bmf_blocks()$x
  set.seed(7)
  one <- bmf_quietly(bmf(x, control = bmf_quick(draws = 10)))
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  set.seed(7)
  same_draws(one, bmf_quietly(bmf(x, control = bmf_quick(draws = 10))))
})

test_that("a run resumes after SIGKILL to the result it would have had", {
  skip_on_os("windows")
  set.seed(8)
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- function(name) file.path(folder, name)
  saveRDS(list(x = bmf_blocks()$x, paths = .libPaths()), file("job.rds"))
  control <- bmf_quick(draws = 1500, checkpoint = file("run"), checkpoint_seconds = 0)
  saveRDS(control, file("control.rds"))
  writeLines(c(
    sprintf("folder <- %s", deparse(folder)), "job <- readRDS(file.path(folder, 'job.rds'))",
    ".libPaths(job$paths)", "writeLines(as.character(Sys.getpid()), file.path(folder, 'pid'))", "set.seed(1)",
    "multicause::bmf(job$x, control = readRDS(file.path(folder, 'control.rds')))"
  ), file("job.R"))
  system2(file.path(R.home("bin"), "Rscript"), file("job.R"), stdout = FALSE, stderr = FALSE, wait = FALSE)
  drawn <- function() {
    job <- read_list(file("run-1.rds"), "job")$job
    if (is.null(job)) 0 else job$n_draw
  }
  for (wait in 1:600) if (drawn() < 50) Sys.sleep(0.1) else break
  tools::pskill(as.integer(readLines(file("pid"))), tools::SIGKILL)
  Sys.sleep(0.3)
  expect_gte(drawn(), 50)
  expect_lt(readRDS(file("run-2.rds"))$job$n_draw, 1500)
  x <- readRDS(file("job.rds"))$x
  resumed <- bmf_quietly(bmf(x, control = control))
  set.seed(1)
  same_draws(bmf_quietly(bmf(x, control = bmf_quick(draws = 1500))), resumed)
  expect_error(bmf(x + 1, control = control), class = "multicause_input_error")
})

test_that("an interrupt keeps the draws made so far", {
  set.seed(9)
  data <- bmf_data(bmf_blocks()$x, "gaussian")
  none <- list(rows = matrix(1, 30, 0), columns = matrix(1, 10, 0))
  problem <- bmf_problem(data, "gaussian", Inf, Inf, lapply(none, as_raw_matrix), bmf_prior(), bmf_quick(draws = 400))
  interrupt <- structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
  job <- new_job(problem, draw_streams(1)[[1]])
  job <- run_chain(job, problem, NULL, function(sweeps) if (sweeps > 300) stop(interrupt))
  expect_true(job$stopped)
  expect_warning(fit <- bmf_new_fit(list(job), problem, data, none, quote(bmf(x))), class = "multicause_interrupted")
  expect_lt(nrow(fit$trace), 400)
  expect_true(all(is.finite(fitted(fit))))
  # The same for the kernel.
  out <- with_stream(draw_streams(1)[[1]], function() {
    bmf_sweeps(problem, job$state, 1e6, on_tick = function(iteration, objective) stop(interrupt))
  })
  expect_true(out$value$stopped)
})

test_that("a start is where chains begin, and fixed features stay", {
  set.seed(10)
  data <- bmf_blocks()
  group <- rep(1:0, each = 15)
  start <- list(rows = cbind(group, data$rows), columns = data$columns, weights = matrix(0.1, 3, 2))
  fit <- bmf_quietly(bmf(data$x, fixed = list(rows = cbind(group = group)), start = start, control = bmf_quick()))
  expect_identical(unname(fit$param$rows[, "group"]), group)
  expect_identical(unique(fit$starts$init), "given")
  expect_error(predict(fit, data$x), class = "multicause_input_error")
  expect_equal(dim(predict(fit, data$x[1:2, ], fixed = c(1, 0))), c(2, 10))
  again <- bmf_quietly(update(fit, start = NULL))
  expect_s3_class(again, "bmf")
})

test_that("methods keep their promises", {
  set.seed(11)
  x <- bmf_blocks()$x
  fit <- bmf_quietly(bmf(x, control = bmf_quick()))
  expect_identical(coef(fit), fit$param)
  expect_identical(nobs(fit), 300)
  expect_equal(residuals(fit), x - fitted(fit))
  expect_error(logLik(fit), class = "multicause_input_error")
  drawn <- simulate(fit, 2, seed = 3)
  expect_identical(drawn[[1]], simulate(fit, 1, seed = 3)[[1]])
  expect_equal(dim(drawn[[2]]), dim(x))
  shared <- cooccurrence(fit, "taxon", "any", taxon = 1:4)
  expect_true(isSymmetric(shared) && all(shared >= 0 & shared <= 1))
  band <- predict(fit, level = 0.5)
  expect_true(all(band$lower <= band$upper))
  expect_identical(band$mean, fitted(fit))
  quantities <- summary(fit)$quantities
  expect_true(all(c("objective", "row_features") %in% quantities$quantity))
})

test_that("diagnostics agree with package posterior, and draws convert", {
  skip_if_not_installed("posterior")
  skip_if_not_installed("coda")
  set.seed(12)
  draws <- matrix(arima.sim(list(ar = 0.7), 800), 200)
  expect_equal(split_rhat(draws), posterior::rhat(draws), tolerance = 1e-8)
  expect_equal(bulk_ess(draws), posterior::ess_bulk(draws), tolerance = 0.02)
  expect_equal(tail_ess(draws), posterior::ess_tail(draws), tolerance = 0.05)
  fit <- bmf_quietly(bmf(bmf_blocks()$x, control = bmf_quick(draws = 10)))
  expect_equal(dim(posterior::as_draws(fit))[1:2], c(10, 2))
  expect_equal(length(coda::as.mcmc(fit)), 2)
})

test_that("a draw or two are legal, and say nothing of agreement", {
  set.seed(14)
  x <- matrix(stats::rnorm(20), 5)
  for (draws in c(1, 3)) {
    fit <- bmf(x, control = bmf_quick(draws = draws, warmup = 5))
    expect_identical(fit$converged, NA)
    expect_output(print(fit), "too few draws to judge")
    expect_identical(dim(draws_array(fit))[1:2], c(as.integer(draws), 2L))
    expect_identical(dim(draws_by_chain(fit, "objective")), c(as.integer(draws), 2L))
    expect_output(print(summary(fit)), "Number of row features")
  }
  expect_error(mcmc_control(draws = 1e6, thin = 1e4), "at most 2147483647, not 10000000000",
    class = "multicause_input_error")
})

test_that("plots draw", {
  set.seed(13)
  fit <- bmf_quietly(bmf(bmf_blocks()$x, control = bmf_quick(draws = 10)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (what in c("data", "features", "trace", "counts")) expect_s3_class(plot(fit, what), "ggplot")
  title <- sprintf("Best draw: %s by %s", count_words(fit$dims[["k"]], "row feature"),
    count_words(fit$dims[["l"]], "column feature"))
  figure <- plot(fit, "data")
  expect_identical(gsub("\n", " ", figure$labels$title), title)
  expect_s3_class(ggplot2::calc_element("axis.text.x", figure$theme), "element_blank")
  expect_identical(figure$scales$get_scales("fill")$name, "value")
  expect_match(gsub("\n", " ", plot(posterior_draws(fit, 1)[[1L]], "data")$labels$title), "^One draw: ")
  expect_s3_class(plot(fit, "features", shape = c(2, 5)), "ggplot")
  expect_error(plot(fit, "features", shape = c(3, 5)), class = "multicause_input_error")
})

test_that("print and errors are as they were", {
  set.seed(14)
  x <- bmf_blocks()$x
  fit <- bmf_quietly(bmf(x, control = bmf_quick(draws = 10)))
  expect_snapshot(print(bmf_prior()))
  expect_snapshot(error = TRUE, {
    bmf(x, k = -1)
    bmf(x, l = 1.5)
    bmf(x, family = "binomial")
    bmf(x, family = "bernoulli")
    bmf(x, family = "poisson")
    bmf(matrix(0.5), family = "poisson")
    bmf(x, prior = list())
    bmf(x, control = fit_control())
    bmf(x, fixed = list(rows = matrix(2, 30, 1)))
    bmf(x, fixed = list(rows = matrix(1, 3, 1)))
    bmf(x, start = list(rows = 1))
    bmf(x, speed = 2)
    bmf(replace(x, 3, NA), control = mcmc_control(moves = "collapsed"))
    bmf(abs(round(x)), family = "poisson", control = mcmc_control(moves = "split_merge"))
    mcmc_control(moves = "jump")
    mcmc_control(draws = 0)
    mcmc_control(start_features = 0)
    mcmc_control(checkpoint = 3)
    bmf_prior(alpha = c(shape = 0, rate = 1))
    bmf_prior(alpha = c(1, 2))
    bmf_prior(beta = 1)
    bmf_prior(alpha = -1)
    cooccurrence(fit, site = 99)
    predict(fit, x[, 1:3])
    predict(fit, level = 2)
    logLik(fit)
  })
})

test_that("the table of quantities fits a line of 80 characters", {
  table <- data.frame(
    quantity = "cell[site_003,taxon_04]", mean = -203.94567, sd = 11.6012345, q5 = -2.22765e2, q95 = 0.000123456,
    rhat = 1.0912345, ess_bulk = 1234.5, ess_tail = NA
  )
  lines <- capture.output(print_quantities(table, 4))
  expect_length(lines, 2)
  expect_lte(max(nchar(lines)), 80)
  expect_match(lines[2], "-203.9 +11.6 +-222.8 +0.00012 +1.091")
})

test_that("the family follows the data where none is given, and long runs say what they do", {
  x <- matrix(rep(c(1, 0, 0, 1, 1, 0), 10), 10)
  expect_identical(bmf_family(x), "bernoulli")
  expect_identical(bmf_family(replace(x, 3, NA)), "bernoulli")
  expect_identical(bmf_family(Matrix::Matrix(x, sparse = TRUE)), "bernoulli")
  expect_identical(bmf_family(x > 0), "bernoulli")
  for (other in list(2 * x, x - 0.5, x + 1)) expect_identical(bmf_family(other), "gaussian")
  fit <- bmf_quietly(bmf(x, control = bmf_quick(chains = 1, draws = 5, warmup = 5)))
  expect_identical(fit$family, "bernoulli")
  given <- bmf_quietly(bmf(x, family = "gaussian", control = bmf_quick(chains = 1, draws = 5)))
  expect_identical(given$family, "gaussian")
  expect_message(tell_long_run("bernoulli", c(129, 113), mcmc_control()), "129 x 113.*first look")
  expect_message(told <- tell_long_run("bernoulli", c(129, 113), mcmc_control()))
  expect_true(told)
  expect_silent(told <- tell_long_run("bernoulli", c(20, 10), mcmc_control()))
  expect_false(told)
})

test_that("a long run has a first answer after one start, and the draws of a silent one", {
  x <- early_tetrapods$x
  chains <- mcmc_control(
    chains = 2, warmup = 5, draws = 10, keep = 5, n_start = 2, n_reheat = 1, start_sweeps = 10, progress = FALSE
  )
  said <- function(least) {
    messages <- character()
    bind_in_namespace("long_run", least)
    set.seed(3)
    fit <- withCallingHandlers(suppressWarnings(bmf(x, control = chains)), message = function(m) {
      messages <<- c(messages, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    list(fit = fit, messages = messages)
  }
  long <- said(0)
  expect_match(long$messages[1], "Sampling 129 x 113 cells (Bernoulli family)", fixed = TRUE)
  expect_match(long$messages[2], "A first answer, .* groups of rows")
  short <- said(Inf)
  expect_length(short$messages, 0L)
  expect_identical(long$fit$trace, short$fit$trace)
  state <- list(rows = matrix(as.raw(1), 4, 1), columns = matrix(as.raw(1), 3, 1), weights = matrix(0, 1, 1))
  expect_message(tell_first_answer(state, c(1L, 1L), NULL), "0 groups of rows")
  state$columns <- cbind(state$columns, as.raw(c(0, 1, 1)))
  expect_message(tell_first_answer(state, c(1L, 1L), c("a", "b", "c")), "the largest of \"b\", \"c\"")
})

test_that("print() says on what chains agree, on what not, and what to do", {
  fit <- fits_of_all()$bmf
  said <- function(fit) gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
  n <- nrow(fit$trace) / 2
  set.seed(1)
  fit$trace$chain <- rep(1:2, each = n)
  for (name in setdiff(names(fit$trace), c("chain", "iteration"))) fit$trace[[name]] <- stats::rnorm(2 * n)
  fit$kept <- lapply(fit$kept, `[`, 1L) # of which there is no R-hat
  # The log joint density is not judged, because it has terms for labels.
  fit$trace$objective <- stats::rnorm(2 * n, rep(c(0, 30), each = n))
  expect_length(rhat_apart(fit), 0)
  cell <- grep("^cell", names(fit$trace), value = TRUE)[1]
  fit$trace[[cell]] <- stats::rnorm(2 * n, rep(c(0, 1.5), each = n))
  fit$converged <- FALSE
  expect_match(said(fit), "expected cells +[0-9.]+ +no")
  expect_match(said(fit), "Chains have not converged: R-hat above 1.1 for 1 of 5 quantities", fixed = TRUE)
  fewest <- bulk_ess(draws_by_chain(fit, cell))
  expect_match(said(fit), sprintf("fewest effective draws %.0f).", fewest), fixed = TRUE)
  longer <- max(1000, round_up(n * 400 / fewest))
  expect_match(said(fit), sprintf("draws = %.0f))", longer), fixed = TRUE)
  fit$control$thin <- 3L # a new control would have 1, so that the run would be shorter
  expect_match(said(fit), sprintf("draws = %.0f, thin = 3))", longer), fixed = TRUE)
  fit$control$thin <- 1L
  expect_identical(round_up(1040.5), 1100)
  expect_identical(round_up(7.2), 8)
  fit$trace[[cell]] <- stats::rnorm(2 * n, rep(c(0, 1e3), each = n), 1e-3)
  fit$trace[[cell]][1:2] <- 0
  fit$trace$row_features <- rep(1:2, each = n)
  expect_match(said(fit), "different solutions, where longer chains would stay. Run more starts")
  n_start <- fit$control$n_start
  n_reheat <- fit$control$n_reheat
  expect_match(said(fit), sprintf("chains = 4, .*, n_start = %d, n_reheat = %d\\)\\)", 2 * n_start, 2 * n_reheat))
  fit$starts$init <- "given"
  expect_match(said(fit), "mcmc_control(chains = 8, ", fixed = TRUE)
  fit$converged <- TRUE
  expect_match(said(fit), "converged; best")
  expect_no_match(said(fit), "update")
})

test_that("chains have converged by R-hat of 1.01 and 400 effective draws, and disagree from 1.1 on", {
  fit <- fits_of_all()$bmf
  fit$kept <- lapply(fit$kept, `[`, 1L)
  drawn <- function(n, apart) {
    fit$trace <- fit$trace[rep(1L, 2 * n), ]
    fit$trace$chain <- rep(1:2, each = n)
    set.seed(1)
    for (name in setdiff(names(fit$trace), c("chain", "iteration"))) fit$trace[[name]] <- stats::rnorm(2 * n)
    cell <- grep("^cell", names(fit$trace), value = TRUE)[1L]
    fit$trace[[cell]] <- fit$trace[[cell]] + rep(c(0, apart), each = n)
    fit$converged <- suppressWarnings(chains_agree(fit))
    fit
  }
  said <- function(fit) gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
  expect_true(drawn(1000, 0)$converged)
  expect_silent(chains_agree(drawn(1000, 0.3)))
  near <- drawn(1000, 0.3)
  expect_false(near$converged)
  expect_match(said(near),
    "nearly converged; .*largest R-hat 1.0[1-3][0-9]* \\(.*at most 1\\.01\\), .*\\(at least 400\\)\\. Run longer")
  few <- drawn(100, 0) # fewer than 400 draws in all
  expect_false(few$converged)
  expect_warning(chains_agree(drawn(1000, 2)), class = "multicause_chains_disagree")
  expect_match(said(drawn(1000, 2)), "NOT converged; .*have not converged: R-hat above 1\\.1 for 1 of 5 quantities")
})

test_that("a fit as start goes on from the last states of its chains", {
  set.seed(5)
  x <- matrix(rnorm(96), 12, dimnames = list(letters[1:12], LETTERS[1:8]))
  short <- function(...) mcmc_control(warmup = 0, draws = 6, n_start = 2, n_reheat = 1, progress = FALSE, ...)
  quietly <- function(expr) suppressWarnings(suppressMessages(expr))
  of_family <- list(gaussian = x, bernoulli = (x > 0) + 0, poisson = round(abs(3 * x)))
  for (family in names(of_family)) {
    fit <- quietly(bmf(of_family[[family]], 2, 2, family = family, control = short(chains = 2)))
    expect_identical(unique(quietly(update(fit, start = fit, control = short(chains = 3)))$starts$init), "given")
    last <- lapply(fit$kept, function(states) states[[length(states)]])
    data <- bmf_data(of_family[[family]], family, quiet = TRUE)
    prior <- bmf_scale_prior(bmf_prior(), family, data)
    problem <- bmf_problem(data, family, 2, 2, lapply(fit$fixed, as_raw_matrix), prior, short(chains = 3))
    first <- bmf_first_states(fit, problem, data)
    for (part in c("rows", "columns", "weights")) {
      expect_equal(lapply(first, `[[`, part), lapply(last[c(1, 2, 1)], `[[`, part), ignore_attr = TRUE)
    }
    # Sites in another order are found by their names.
    turned <- bmf_data(of_family[[family]][12:1, ], family, quiet = TRUE)
    at <- bmf_first_states(fit, problem, turned)
    expect_equal(lapply(at, `[[`, "rows"), lapply(first, function(state) state$rows[12:1, , drop = FALSE]),
      ignore_attr = TRUE)
  }
  expect_error(quietly(bmf(x[1:6, ], 2, 2, start = fit)), "of the same family and size: it is Poisson 12 x 8",
    class = "multicause_input_error")
})

test_that("chains whose sites share other features disagree, and pairs are counted right", {
  one <- fits_of_all()$bmf
  n_fixed <- ncol(one$fixed$rows)
  state <- one$kept[[1]][[1]]
  on <- as_number_matrix(state$rows)[, -seq_len(n_fixed), drop = FALSE]
  items <- unique(round(seq(1, nrow(on), length.out = 8)[2:7]))
  draws <- bmf_pair_draws(one, "rows")
  pairs <- utils::combn(items, 2)
  shared <- apply(pairs, 2, function(pair) sum(on[pair[1], ] * on[pair[2], ]))
  expect_identical(vapply(draws, function(d) d[1, 1], 0), as.numeric(shared))
  expect_true(length(unique(shared)) > 1)
  one$kept <- list(one$kept[[1]][1:4], lapply(one$kept[[1]][1:4], function(state) {
    state$rows[] <- as.raw(1)
    state
  }))
  expect_true("co-occurrence of sites" %in% names(rhat_apart(one)))
  one$kept <- lapply(one$kept, `[`, 1L)
  expect_false("co-occurrence of sites" %in% names(rhat_apart(one)))
})

test_that("starts from groups put like rows and like columns together", {
  set.seed(31)
  group <- rep(1:3, length.out = 24)
  x <- c(0, 5, 9)[group] * matrix(1, 24, 8) + rep(c(0, 20), each = 24 * 4) + rnorm(192, sd = 0.1)
  x[c(1, 30, 77)] <- NA
  for (cells in list(x, replace(x, cbind(2, 1:8), NA), x * 1e50)) {
    problem <- bmf_problem(bmf_data(cells, "gaussian", quiet = TRUE), "gaussian", Inf, Inf,
      list(rows = matrix(raw(), 24, 0), columns = matrix(raw(), 8, 0)), bmf_prior(), bmf_quick())
    filled <- bmf_filled_cells(problem)
    expect_true(all(is.finite(filled)))
    state <- bmf_group_state(problem, bmf_random_state(problem, 8, 5), c(8, 5))
    on <- as_number_matrix(state$rows)
    expect_identical(rowSums(on), rep(1, 24))
    expect_true(all(colSums(on)[-seq_len(max(which(colSums(on) > 0)))] == 0))
    expect_identical(dim(state$weights), c(8L, 5L))
    expect_true(all(is.finite(state$weights)))
    expect_gt(stats::cor(c(bmf_eta(state)[-2, ]), c(filled[-2, ])), 0.9)
  }
  expect_identical(dim(bmf_group_features(matrix(raw(), 24, 0), matrix(1, 24, 3), 4)), c(24L, 4L))
})

test_that("starts from groups take what chains take", {
  set.seed(32)
  x <- matrix(rbinom(60, 1, 0.4), 10)
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  quick <- bmf_quick(warmup = 5, draws = 10, n_start = 4, start_sweeps = 10)
  for (family in c("bernoulli", "poisson")) {
    set.seed(33)
    dense <- bmf_quietly(bmf(x, family = family, control = quick))
    set.seed(33)
    expect_equal(bmf_quietly(bmf(sparse, family = family, control = quick))$trace, dense$trace)
  }
  expect_no_error(bmf_quietly(bmf(matrix(0, 6, 5), family = "poisson", control = quick)))
  expect_no_error(bmf_quietly(bmf(x, 0, 2, control = quick)))
  expect_no_error(bmf_quietly(bmf(x, 12, 9, control = quick)))
  expect_no_error(bmf_quietly(bmf(x[, 1, drop = FALSE], control = quick)))
})

test_that("what packages posterior, coda, bayesplot and insight ask of a fit is answered, or refused in words", {
  skip_if_not_installed("coda")
  skip_if_not_installed("posterior")
  fits <- fits_of_all()
  fit <- fits$bmf
  draws <- posterior::as_draws_array(fit)
  expect_equal(as.array(fit), unclass(draws), ignore_attr = TRUE)
  expect_equal(as.matrix(fit)[, "objective"], as.vector(draws[, , "objective"]), ignore_attr = TRUE)
  expect_identical(posterior::rhat(fit), with(tidy(fit, "quantities"), setNames(rhat, quantity)))
  expect_identical(names(posterior::ess_bulk(fit)), posterior::variables(fit))
  expect_identical(posterior::niterations(fit), 40L)
  expect_identical(posterior::nchains(fit), 2L)
  expect_s3_class(posterior::subset_draws(fit, variable = "objective"), "draws_array")
  expect_s3_class(coda::as.mcmc.list(fit), "mcmc.list")
  expect_equal(coda::HPDinterval(fit), coda::HPDinterval(coda::as.mcmc(fit)))
  verbs <- list(
    posterior::as_draws, posterior::as_draws_df, posterior::as_draws_rvars, posterior::summarise_draws,
    posterior::rhat, posterior::ess_bulk, posterior::ess_tail, posterior::niterations, posterior::nchains,
    posterior::nvariables, posterior::variables, posterior::subset_draws, coda::as.mcmc, coda::as.mcmc.list,
    coda::effectiveSize, coda::gelman.diag, coda::geweke.diag, coda::heidel.diag, coda::raftery.diag,
    coda::HPDinterval, coda::autocorr.diag, coda::rejectionRate, coda::crosscorr, as.array, as.matrix,
    pp_check.multicause, get_parameters.multicause, get_statistic.multicause, get_predicted.multicause,
    get_priors.multicause, get_modelmatrix.multicause, find_parameters.multicause
  )
  others <- c(fits[c("aspect_bernoulli", "nmf", "plca", "visits")], list(ensemble(fits[c("vb", "aspect_bernoulli")])))
  for (one in others) for (verb in verbs) expect_error(verb(one), class = "multicause_input_error")
})

test_that("counts without a family are fitted as real numbers, and this is told", {
  expect_message(expect_identical(bmf_family(matrix(0:5, 2)), "gaussian"), 'family = "poisson"')
  expect_no_message(bmf_family(matrix(c(0.5, 2, 3, 1), 2)))
  expect_no_message(bmf_family(matrix(0:1, 2, 2)))
})

test_that("the print lists the free column features of the best draw, three taxa each", {
  set.seed(15)
  x <- bmf_blocks()$x
  dimnames(x) <- list(NULL, paste0("t", seq_len(ncol(x))))
  fit <- bmf_quietly(bmf(x, fixed = list(columns = matrix(1, ncol(x), 1)), control = bmf_quick(draws = 10)))
  on <- fit$param$columns[, -1L, drop = FALSE]
  lines <- bmf_feature_lines(fit, 12L)
  expect_true(all(lines %in% utils::capture.output(print(summary(fit)))))
  expect_match(lines[1L], "^Best draw: [0-9]+ column features?, with the most characteristic taxa:$")
  fit$converged <- FALSE
  expect_no_match(print_words(fit), "Best draw")
  fit$converged <- TRUE
  expect_true(all(bmf_feature_lines(fit, 3L) %in% utils::capture.output(print(fit))))
  expect_match(bmf_feature_lines(fit, 1L)[1L], sprintf("1 of %d column features,", ncol(on)))
  for (c in seq_len(ncol(on))) {
    parts <- strsplit(trimws(lines[c + 1L]), ": ")[[1L]]
    shown <- strsplit(parts[2L], ", ")[[1L]]
    members <- rownames(on)[on[, c] == 1]
    expect_match(parts[1L], sprintf("^%s +%d tax", colnames(on)[c], length(members)))
    expect_true(all(shown %in% members))
    expect_length(shown, min(3L, length(members)))
    # Those that are left out have as many features, or more.
    others <- rowSums(on[setdiff(members, shown), , drop = FALSE])
    expect_true(!length(others) || max(rowSums(on[shown, , drop = FALSE])) <= min(others))
  }
  fit$names[2L] <- list(NULL)
  expect_null(bmf_feature_lines(fit, 3L))
})

test_that("what does not fit the user's features, the table or the draws is named", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  few <- mcmc_control(chains = 1, warmup = 2, draws = 4, n_start = 1, start_sweeps = 2, progress = FALSE)
  of_rows <- list(rows = cbind(rep(0:1, 5)))
  fit <- suppressWarnings(bmf(x, 2, fixed = of_rows, control = few))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(predict(fit, x[1:2, ]), "`fixed` is needed: the fit has user-fixed features of its rows.")
  start <- fit$param
  start$rows <- 1 - start$rows
  refused(bmf(x, 2, fixed = of_rows, start = start, control = few),
    "`start$rows` must begin with the user-fixed features: 1 column.")
  refused(cooccurrence(fit, of = "site", taxon = 1), "`taxon` goes with `of = \"taxon\"`.")
  refused(cooccurrence(fit, of = "taxon", site = 1), "`site` goes with `of = \"site\"`.")
  refused(ggplot2::autoplot(fit, "features", shape = c(2, 2)),
    "`shape` must be c(height, width) with height x width = 6, not c(2, 2).")
  refused(ggplot2::autoplot(posterior_draws(fit, 1)[[1]], "density"),
    "`what = \"density\"` is for fits that were sampled: this one has no draws.")
  refused(bmf(x * 1e101, 2, family = "gaussian", control = few),
    "`x` must lie within -1e100 and 1e100, or be rescaled: it has 1e+101.")
  expect_error(bmf(x * 1.5, 2, family = "gaussian", prior = bmf_prior(weight_precision = 1e-40), control = few),
    "^`weight_precision` must be at least [0-9.e-]+ here, not 1e-40: weights would have no digit left[.]$",
    class = "multicause_input_error")
})

test_that("a fit without features of its rows has none to draw", {
  few <- mcmc_control(chains = 1, warmup = 2, draws = 2, n_start = 1, start_sweeps = 2, progress = FALSE)
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- suppressWarnings(bmf(x, 0, fixed = list(rows = matrix(0, 10, 0)), control = few))
  expect_error(ggplot2::autoplot(fit, "features"), "The fit has no row features to plot.", fixed = TRUE,
    class = "multicause_input_error")
})

test_that("features of the user and hyperparameters have the shapes that are told", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(bmf(x, 2, fixed = list(1)), "`fixed` must be list(rows = , columns = ), one of them, or NULL, not ")
  refused(bmf_prior(alpha = list(1)), "`alpha` must be one for both sides, or list(rows = , columns = ).")
})
