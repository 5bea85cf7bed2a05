# R/base_draws.R: posterior_draws(), confint(), predict(level = ) and as_draws() of all samplers.

skip_on_cran()

few_chains <- function(chains = 2, warmup = 50, draws = 100, ...) {
  mcmc_control(chains = chains, warmup = warmup, draws = draws, progress = FALSE, ...)
}

sampled_fits <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- make_sampled_fits()
    made
  }
})

make_sampled_fits <- function() {
  set.seed(1)
  x <- simulated_sites$x[rowSums(simulated_sites$x[, 1:10]) > 0, 1:10][1:30, ]
  visits <- list(x, x * matrix(stats::rbinom(300, 1, 0.7), 30))
  chains <- few_chains(keep = 20)
  suppressWarnings(suppressMessages(list(
    aspect_bernoulli = aspect_bernoulli(x, 2, phantom = "white", estimate = "gibbs", control = chains),
    plsa = plsa(3 * x, 2, estimate = "gibbs", control = chains),
    noisy_or = noisy_or(x, 2, missed_by = "site", estimate = "gibbs", control = chains),
    bmf = bmf(x, family = "bernoulli", control = few_chains(n_start = 2, n_reheat = 1, keep = 20)),
    visits_bernoulli = visits_bernoulli(visits, k = 2, estimate = "gibbs", control = chains)
  )))
}

test_that("draws of every sampler are fits whose mean is that of the fit, with a print of their own", {
  for (name in names(sampled_fits())) {
    fit <- sampled_fits()[[name]]
    draws <- with_seed(1, posterior_draws(fit, 1000))
    expect_length(draws, sum(lengths(fit$kept)))
    expect_true(inherits(draws[[1]], name))
    each <- vapply(draws, function(draw) as.vector(fitted(draw)), numeric(300))
    # Kept states are a part of all draws, so that the means differ by chance.
    far <- abs(rowMeans(each) - as.vector(fitted(fit))) / (apply(each, 1, stats::sd) + 0.01)
    expect_lt(mean(far), 0.5)
    expect_gt(min(apply(each, 1, stats::sd)), 0)
    said <- print_words(draws[[1]])
    expect_match(said, "one draw from the posterior")
    expect_false(grepl("converged|chains", said))
    expect_length(with_seed(1, posterior_draws(fit, 3)), 3L)
  }
})

test_that("confint() has quantiles of what draws record, and intervals of parameters by their spread", {
  fits <- sampled_fits()
  ab <- fits$aspect_bernoulli
  ends <- confint(ab, level = 0.8)
  expect_identical(
    rownames(ends)[1:4], c("white_share", "false_absences", "aspects[A1, taxon_01]", "aspects[A2, taxon_01]")
  )
  expect_identical(colnames(ends), c("10 %", "90 %"))
  expect_equal(ends["false_absences", ], stats::quantile(ab$trace$false_absences, c(0.1, 0.9)), ignore_attr = TRUE)
  expect_identical(rownames(confint(ab, "taxon_03")), c("aspects[A1, taxon_03]", "aspects[A2, taxon_03]"))
  expect_identical(unname(confint(ab, "aspects[A2, taxon_03]")), matrix(0, 1, 2)) # of a fixed phantom
  tidied <- tidy(ab, matrix = "aspects", conf.int = TRUE, conf.level = 0.8)
  at <- sprintf("aspects[%s, %s]", tidied$component, tidied$taxon)
  expect_equal(tidied$conf.low, unname(ends[at, 1]))

  entries <- confint(fits$bmf)
  expect_identical(rownames(entries)[1:2], c("row_features", "column_features"))
  expect_equal(entries["row_entries", ], stats::quantile(fits$bmf$trace$row_entries, c(0.025, 0.975)),
    ignore_attr = TRUE)
  expect_false(any(grepl("cell|objective|log_likelihood", rownames(entries))))

  few <- fit_control(n_start = 1, progress = FALSE)
  for (fit in list(aspect_bernoulli(ab$x, 2, estimate = "vb", control = few),
    plsa(fits$plsa$x, 2, estimate = "vb", control = few))) {
    part <- if (inherits(fit, "plsa")) "basis" else "aspects"
    ends <- confint(fit, level = 0.9)
    expect_identical(dim(ends), c(20L, 2L))
    draws <- vapply(with_seed(2, posterior_draws(fit, 2000)), function(draw) draw$param[[part]], fit$param[[part]])
    drawn <- apply(draws, 1:2, stats::quantile, c(0.05, 0.95))
    expect_lt(max(abs(as.vector(drawn[1, , ]) - ends[, 1]), abs(as.vector(drawn[2, , ]) - ends[, 2])), 0.03)
    expect_match(print_words(posterior_draws(fit, 1)[[1]]), "one draw from the posterior, log-likelihood -[0-9]")
  }
})

test_that("as_draws() has all parameters of the draws that were kept, by name and chain", {
  skip_if_not_installed("posterior")
  for (name in setdiff(names(sampled_fits()), "bmf")) {
    fit <- sampled_fits()[[name]]
    drawn <- with_seed(3, posterior::as_draws(fit, parameters = TRUE))
    expect_identical(dim(drawn)[1:2], c(length(fit$kept[[1]]), length(fit$kept)))
    draws <- with_seed(3, posterior_draws(fit, sum(lengths(fit$kept))))
    part <- c(plsa = "basis", noisy_or = "links")[name]
    if (is.na(part)) part <- "aspects"
    at <- sprintf("%s[A2,taxon_04]", part)
    expect_identical(
      as.vector(drawn[, , at]), vapply(draws, function(draw) draw$param[[part]]["A2", "taxon_04"], 0, USE.NAMES = FALSE)
    )
    expect_identical(anyDuplicated(dimnames(drawn)[[3]]), 0L)
    expect_length(dimnames(drawn)[[3]], sum(lengths(fit$param)))
  }
  bmf <- sampled_fits()$bmf
  expect_error(posterior::as_draws(bmf, parameters = TRUE), "no labels", class = "multicause_input_error")
  plain <- aspect_bernoulli(sampled_fits()$aspect_bernoulli$x, 2, control = fit_control(n_start = 1, progress = FALSE))
  expect_error(posterior::as_draws(plain, parameters = TRUE), "sampled", class = "multicause_input_error")

  set.seed(4)
  present <- matrix(rbinom(200, 1, 0.6), 40, dimnames = list(NULL, letters[1:5]))
  fit <- visits_occupancy(lapply(1:3, function(v) present * matrix(rbinom(200, 1, 0.5), 40)), uneven = 0)
  drawn <- posterior::as_draws(fit)
  expect_identical(dim(drawn)[2], 1L)
  expect_identical(dimnames(drawn)[[3]], rownames(vcov(fit)))
  expect_equal(stats::cov(matrix(drawn, dim(drawn)[1])), vcov(fit), ignore_attr = TRUE)
})

test_that("predict(level = ) of sampled LDA has the moments of draws of memberships and basis", {
  fit <- sampled_fits()$plsa
  cells <- predict(fit, level = 0.9)
  expect_identical(cells$mean, fitted(fit))
  expect_true(all(cells$lower <= cells$mean & cells$mean <= cells$upper))
  set.seed(5)
  many <- replicate(100, posterior_draws(fit, 1000), simplify = FALSE)
  shares <- vapply(do.call(c, many), function(draw) draw$param$membership %*% draw$param$basis, matrix(0, 30, 10))
  error <- plsa_share_error(fit, 1:30, cells$mean / fit$row_scale)
  expect_equal(error, apply(shares, 1:2, stats::sd), tolerance = 0.02, ignore_attr = TRUE)
  expect_identical(predict(fit, rows = c(3, 1), level = 0.9)$upper, cells$upper[c(3, 1), ])
  shares <- predict(fit, type = "membership", level = 0.9)
  expect_true(all(shares$lower <= shares$mean & shares$mean <= shares$upper))
  expect_equal(shares$mean, fit$param$membership)
  for (call in list(
    quote(predict(fit, fit$x[1:2, ], level = 0.9)), quote(predict(fit, type = "cell", level = 0.9)),
    quote(predict(fit, level = 1))
  )) {
    expect_error(eval(call), "`level`", class = "multicause_input_error")
  }
})

test_that("all that a fit has is reordered with its components", {
  set.seed(1)
  x <- matrix(rbinom(360, 1, rep(c(0.2, 0.6), each = 180)), 30)
  fit <- suppressMessages(aspect_bernoulli(x, 3, estimate = "vb", control = fit_control(n_start = 2)))
  turned <- align_components(fit, fit$param$aspects[c(2, 3, 1), ])$fit
  table <- tidy(turned, conf.int = TRUE)
  expect_true(all(table$estimate >= table$conf.low & table$estimate <= table$conf.high))
  expect_equal(predict(turned, x[1:2, ], type = "membership"), predict(turned, rows = 1:2, type = "membership"),
    tolerance = 1e-4, ignore_attr = TRUE)
  control <- mcmc_control(chains = 2, warmup = 20, draws = 40)
  fit <- suppressWarnings(suppressMessages(aspect_bernoulli(x, 3, estimate = "gibbs", control = control)))
  turned <- align_components(fit, fit$param$aspects[c(2, 3, 1), ])$fit
  expect_identical(unname(turned$kept[[1L]][[1L]]$aspects), unname(fit$kept[[1L]][[1L]]$aspects[c(2, 3, 1), ]))
  known <- matrix(NA, 30, 2)
  known[1:5, 1] <- 1
  known[6:9, 2] <- 0
  fit <- suppressMessages(noisy_or(x, 2, activation = known, control = fit_control(n_start = 2)))
  turned <- align_components(fit, fit$param$links[2:1, ])$fit
  expect_equal(fitted(turned), fitted(fit))
})

test_that("each draw has the log-likelihood of its own table and parameters", {
  set.seed(2)
  x <- matrix(rbinom(300, 1, 0.4), 30)
  sum_of <- function(x, p) sum(dbinom(x, 1, p, log = TRUE))
  fit <- suppressMessages(aspect_bernoulli(x, 2, control = fit_control(n_start = 2)))
  for (draw in bootstrap_draws(fit, nsim = 2)) {
    expect_equal(draw$loglik, sum_of(draw$x, fitted(draw)))
    expect_equal(draw$density, mean(draw$x))
    expect_true(is.na(draw$objective))
  }
  control <- mcmc_control(chains = 1, warmup = 20, draws = 20)
  fit <- suppressWarnings(suppressMessages(bmf(x, 2, 2, control = control)))
  for (draw in posterior_draws(fit, 3)) expect_equal(draw$loglik, sum_of(x, fitted(draw)))
})

test_that("a start of noisy-OR with recording is a fit as the best one is", {
  set.seed(3)
  x <- matrix(rbinom(300, 1, 0.4), 30)
  control <- fit_control(n_start = 3, keep_starts = TRUE)
  fit <- suppressMessages(noisy_or(x, 2, missed_by = "site", control = control))
  each <- modes(fit)$fits
  expect_output(print(each[[1L]]), "Noisy-OR")
  expect_equal(by_site(each[[1L]])$missed, by_site(fit)$missed, tolerance = 0.02)
})

# The sweeps of a chain that continues are the same whether they are warm-up or draws.
continued <- function(fit, warmup, draws) {
  set.seed(4)
  suppressWarnings(suppressMessages(update(fit, start = fit, control = few_chains(warmup = warmup, draws = draws))))
}

test_that("the warm-up of a fit has the quantities of every fifth sweep", {
  for (fit in sampled_fits()) {
    expect_named(fit$warmup, names(fit$trace))
    expect_identical(fit$warmup$iteration, rep(seq(5L, 50L, 5L), 2))
    expect_identical(fit$warmup$chain, rep(1:2, each = 10))
    expect_true(all(is.finite(fit$warmup$objective)))
  }
  phantoms <- c("white_share", "false_absences")
  expect_true(all(is.na(sampled_fits()$aspect_bernoulli$warmup[phantoms])))
  for (fit in sampled_fits()[c("plsa", "noisy_or", "visits_bernoulli")]) {
    all <- continued(fit, 0, 30)
    later <- continued(fit, 12, 18)
    expect_null(all$warmup)
    rownames(all$trace) <- rownames(later$warmup) <- rownames(later$trace) <- NULL
    expect_equal(later$warmup, all$trace[all$trace$iteration %in% c(5, 10), ], ignore_attr = "row.names")
    drawn <- all$trace[all$trace$iteration > 12, ]
    drawn$iteration <- drawn$iteration - 12L
    expect_equal(later$trace, drawn, ignore_attr = "row.names")
  }
})

test_that("the trace shows the warm-up before draw 1, but not its values far from the draws", {
  fit <- sampled_fits()$noisy_or
  shown <- ggplot2::autoplot(fit, "trace")$data
  likelihood <- shown[shown$quantity == "log-likelihood", ]
  expect_identical(range(likelihood$draw), c(-45, 100))
  expect_equal(likelihood$value[likelihood$draw > 0], fit$trace$log_likelihood)
  fit$warmup$log_likelihood[1:3] <- -1e6
  without <- ggplot2::autoplot(fit, "trace")$data
  expect_identical(nrow(shown) - nrow(without), 3L)
  fit$warmup <- NULL
  expect_true(all(ggplot2::autoplot(fit, "trace")$data$draw > 0))
  expect_identical(ggplot2::autoplot(fit, "trace")$labels$x, "draw")
})

test_that("what other packages may ask, and a fit has not, is refused with what to use instead", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 0))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(pp_check.multicause(fit), paste(
    "pp_check() is not there for a fit of aspect_bernoulli(): simulate() draws tables, and predictive_check() compares",
    "surveys with the data."
  ))
  refused(get_parameters.multicause(fit), paste(
    "get_parameters() is not there for a fit of aspect_bernoulli(): it has no formula and no vector of coefficients;",
    "tidy() has its parameters."
  ))
  skip_if_not_installed("posterior")
  few <- mcmc_control(chains = 1, warmup = 2, draws = 4, n_start = 1, start_sweeps = 2, progress = FALSE)
  sampled <- suppressWarnings(bmf(x, 2, control = few))
  refused(posterior::as_draws_array(sampled, parameters = TRUE),
    "`parameters` must be FALSE for a fit of bmf(): its features have no labels.")
})
