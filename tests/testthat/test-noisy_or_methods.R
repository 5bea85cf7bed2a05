planted_fit <- function(inference = "exact", ...) {
  planted <- nor_planted(120, 1)
  set.seed(1)
  quietly(noisy_or(planted$x, 4, inference = inference, control = fit_control(n_start = 4, screen = 20), ...))
}

test_that("a fit says what it is", {
  planted <- nor_planted(120, 1)
  start <- list(prior = rep(0.2, 4), links = planted$links * 0.5 + 0.1, leak = rep(0.1, 12))
  fit <- quietly(noisy_or(planted$x, 4, start = start, control = nor_plain(5)))
  expect_snapshot(print(fit))
  expect_snapshot(summary(fit))
  truncated <- quietly(noisy_or(planted$x, 4, inference = "truncated", start = start, control = nor_plain(5)))
  expect_snapshot(print(truncated))
  expect_snapshot(print(noisy_or_prior()))
})

test_that("every type of prediction is what the equations say", {
  set.seed(2)
  p <- nor_problem(n = 9, m = 5, k = 3, missing = 0.15)
  for (inference in c("exact", "truncated")) {
    fit <- quietly(noisy_or(p$x, 3, inference = inference, start = p$start, control = nor_plain(4)))
    par <- lapply(fit$param, unname)
    posterior <- ref_nor_posterior(p$x, par)
    states <- ref_nor_states(3)
    expect_equal(unname(predict(fit, type = "activation")), unname(posterior %*% states), tolerance = 1e-6)
    expect_equal(predict(fit, p$x, "activation"), predict(fit, type = "activation"), tolerance = 1e-6)
    best <- states[apply(posterior, 1L, which.max), ]
    expect_equal(unname(predict(fit, type = "map")), unname(best), ignore_attr = TRUE)
    one <- 1 - exp(states %*% log(1 - par$links)) * rep(1 - par$leak, each = 8)
    expect_equal(unname(predict(fit, type = "response")), unname(posterior %*% one), tolerance = 1e-6)
    expect_identical(fitted(fit), predict(fit))
    cell <- predict(fit, type = "cell")
    expect_identical(dim(cell), c(9L, 5L, 4L))
    for (i in 1:9) {
      for (j in 1:5) {
        want <- if (is.na(p$x[i, j])) {
          rep(NA_real_, 4)
        } else if (p$x[i, j] == 0) {
          numeric(4)
        } else {
          c(
            vapply(1:3, function(c) sum(posterior[i, ] * states[, c] * par$links[c, j] / one[, j]), 0),
            sum(posterior[i, ] * par$leak[j] / one[, j])
          )
        }
        expect_equal(unname(cell[i, j, ]), want, tolerance = 1e-6)
      }
    }
  }
})

test_that("new rows are matched by name, and rows can be picked", {
  planted <- nor_planted(120, 1)
  fit <- planted_fit()
  new <- planted$x[5:8, 12:1]
  expect_equal(predict(fit, new, "activation"), fit$param$activation[5:8, ], tolerance = 1e-12)
  one <- predict(fit, new, "activation", rows = "site6")
  expect_equal(one, fit$param$activation["site6", , drop = FALSE], tolerance = 1e-12)
  cell <- predict(fit, type = "cell", rows = 2)
  expect_identical(dimnames(cell), list("site2", colnames(planted$x), c(component_names(4), "leak")))
  expect_identical(predict(fit, type = "activation", rows = 3:4), fit$param$activation[3:4, ])
})

test_that("a variational fit predicts its own activations", {
  planted <- nor_planted(120, 1)
  fit <- planted_fit("variational")
  expect_equal(predict(fit, planted$x, "activation"), fit$param$activation, tolerance = 1e-3)
  expect_identical(dim(predict(fit, type = "cell", rows = 1:2)), c(2L, 12L, 5L))
})

test_that("impossible rows are named and have no posterior", {
  start <- list(prior = 0.3, links = matrix(c(1, 0.5, 0), 1), leak = c(0.2, 0, 0))
  x <- rbind(a = c(1, 1, 0), b = c(0, 0, 0))
  fit <- noisy_or(x, 1, estimate = "ml", start = start, control = nor_plain(0))
  new <- rbind(fine = c(1, 0, 0), no_cause = c(0, 0, 1), sure_link = c(0, 1, 0), unknown = NA)
  for (type in c("activation", "map", "response", "cell")) {
    expect_message(out <- predict(fit, new, type = type), "no_cause\", \"sure_link\"")
    out <- array(out, c(4, length(out) / 4))
    expect_true(all(is.na(out[2:3, ])) && !any(is.nan(out)))
    if (type != "cell") expect_false(anyNA(out[c(1, 4), ]))
  }
  expect_message(expect_message(loglik <- test_loglik(fit, new, floor = 0), "impossible"), "nothing observed")
  expect_identical(unname(loglik[2:3]), c(-Inf, -Inf))
  expect_true(is.finite(loglik[["fine"]]) && is.na(loglik[["unknown"]]))
  expect_true(all(is.finite(quietly(test_loglik(fit, new))[1:3])))
})

test_that("importance sampling agrees with enumeration, whatever the number of threads", {
  fit <- planted_fit()
  new <- nor_planted(three_blocks(16), 2)$x
  new[c(2, 20, 39), c(1:4, 7:10)] <- NA
  exact <- test_loglik(fit, new)
  data <- check_data(new)
  param <- lapply(fit$param[c("prior", "links", "leak")], unname)
  sampled <- with_seed(1, nor_sample(param, data, fit$model, 4000L, 1e-6))
  expect_lt(max(abs(sampled$loglik - exact)), 0.1)
  expect_gt(min(sampled$effective), 200)
  expect_identical(with_seed(1, nor_sample(param, data, fit$model, 4000L, 1e-6)), sampled)
  set.seed(3)
  x <- matrix(stats::rbinom(60 * 20, 1, 0.2), 60)
  big <- quietly(noisy_or(x, 18, control = fit_control(n_start = 1, max_iter = 20)))
  set.seed(4)
  before <- .Random.seed
  loglik <- with_seed(7, test_loglik(big, x[1:5, ]))
  expect_identical(.Random.seed, before)
  expect_identical(loglik, with_seed(7, test_loglik(big, x[1:5, ])))
  expect_length(attr(loglik, "effective"), 5)
  expect_true(all(is.finite(loglik)))
})

test_that("unknown cells are filled in, and predicted better than by frequency", {
  planted <- nor_planted(300, 5)
  x <- planted$x
  set.seed(6)
  hidden <- sample(length(x), 300)
  x[hidden] <- NA
  fit <- quietly(noisy_or(x, 4, control = fit_control(n_start = 4, screen = 20)))
  filled <- impute(fit)
  expect_identical(filled[-hidden], x[-hidden] + 0)
  expect_equal(filled[hidden], fitted(fit)[hidden], tolerance = 1e-12)
  log_loss <- function(p) -mean(ifelse(planted$x[hidden] == 1, log(p), log(1 - p)))
  frequency <- colMeans(x, na.rm = TRUE)[col(x)[hidden]]
  expect_lt(log_loss(filled[hidden]), 0.8 * log_loss(frequency))
  expect_true(all(impute(fit, x[1:10, ], type = "binary") %in% 0:1))
  expect_identical(impute(fit, planted$x[1:3, ]), planted$x[1:3, ] + 0)
})

test_that("simulated tables have the fit's means", {
  fit <- planted_fit()
  tables <- simulate(fit, 50, seed = 1)
  expect_named(tables, paste0("sim_", 1:50))
  expect_identical(dimnames(tables[[1L]]), dimnames(nor_planted(120, 1)$x))
  absent <- apply(1 - fit$param$prior + fit$param$prior * (1 - fit$param$links), 2L, prod) * (1 - fit$param$leak)
  mean <- Reduce(`+`, lapply(tables, colMeans)) / 50
  expect_lt(max(abs(mean - (1 - absent))), 0.03)
  expect_identical(simulate(fit, 50, seed = 1), tables)
  together <- Reduce(`+`, lapply(tables, function(x) mean(x[, 1] * x[, 2]))) / 50
  expect_gt(together, mean[1] * mean[2] + 0.05)
})

test_that("logLik() is for exact inference", {
  expect_equal(as.numeric(logLik(planted_fit())), planted_fit()$loglik)
  expect_error(logLik(planted_fit("truncated", estimate = "ml")), "lower bound", class = "multicause_input_error")
  fit <- planted_fit(estimate = "ml")
  expect_equal(attr(logLik(fit), "df"), 4 + 48 + 12)
  expect_equal(as.numeric(logLik(fit)), fit$loglik)
})

test_that("print(), sources(), top_terms() and the figure name the same taxa", {
  set.seed(4)
  common <- cbind(all = 0.95, outer(1:60, 1:6, function(i, j) ifelse((i <= 30) == (j <= 3), 0.8, 0.05)))
  x <- random_bernoulli(common)
  colnames(x) <- paste0("taxon", 1:7)
  fit <- noisy_or(x, 2, inference = "exact", control = quiet_control(n_start = 3))
  lifted <- top_terms(fit, 3, by = "relevance")
  by_component <- vapply(split(lifted$term, lifted$component), paste, "", collapse = ", ")
  expect_identical(sources(fit)$top, unname(by_component))
  said <- paste(capture.output(print(fit)), collapse = " ")
  shown <- ggplot2::autoplot(fit, "top", n = 3)$data
  for (name in names(by_component)) {
    expect_match(gsub(" +", " ", said), paste0(name, " [0-9 %]+ in use ", by_component[[name]]))
    expect_identical(paste(shown$taxon[shown$component == name], collapse = ", "), by_component[[name]])
  }
})

test_that("the number of sources in use is reported", {
  fit <- planted_fit()
  expect_equal(sum(sources(fit)$in_use), 4)
  expect_equal(sum(sources(fit, min_prior = 1)$in_use), 0)
  expect_output(print(fit), "A4 .*in use")
})

test_that("fits survive saving, and update() inside a function", {
  fit <- planted_fit()
  file <- tempfile()
  saveRDS(fit, file)
  expect_equal(readRDS(file), fit)
  again <- quietly((function() {
    mine <- fit$x
    update(noisy_or(mine, 2, control = fit_control(n_start = 2, max_iter = 10)), k = 3)
  })())
  expect_equal(again$dims[["k"]], 3)
  unlink(file)
})

test_that("every plot draws and leaves the device as it was", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- planted_fit()
  before <- graphics::par(no.readonly = TRUE)
  for (what in c("links", "activation", "leak", "trace")) expect_s3_class(plot(fit, what), "ggplot")
  expect_s3_class(plot(fit, dim = c(3, 4)), "ggplot")
  plot(fit, order = "data")
  after <- graphics::par(no.readonly = TRUE)
  expect_identical(after[c("mar", "mfrow", "oma")], before[c("mar", "mfrow", "oma")])
})
