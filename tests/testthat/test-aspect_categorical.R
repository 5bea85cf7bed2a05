# Tests of R/aspect_categorical.R, R/aspect_categorical_run.R, R/aspect_categorical_methods.R and
# R/aspect_categorical_gibbs.R.

random_categories <- function(n, m, n_value, missing = 0) {
  x <- matrix(sample.int(n_value, n * m, TRUE) - 1L, n, m)
  x[stats::runif(n * m) < missing] <- NA
  dimnames(x) <- list(paste0("site", seq_len(n)), paste0("taxon", seq_len(m)))
  category_table(x, values = seq_len(n_value) - 1L)
}

categorical_start <- function(n, m, k, n_value) {
  profiles <- array(stats::runif(k * m * n_value, 0.1, 1), c(k, m, n_value))
  list(
    membership = random_simplex(n, k), profiles = profiles / as.vector(apply(profiles, 1:2, sum))
  )
}

# Sites of which each mixes two faunas, a third of the cells lost; values absent, rare, common.
planted_categories <- function(n = 150, m = 16) {
  profiles <- array(0.05, c(2, m, 3))
  first <- seq_len(m) <= m / 2
  for (c in 1:2) {
    lives <- if (c == 1) first else !first
    profiles[c, lives, ] <- rep(c(0.1, 0.3, 0.6), each = sum(lives))
    profiles[c, !lives, ] <- rep(c(0.9, 0.07, 0.03), each = sum(!lives))
  }
  share <- stats::runif(n)
  truth <- list(membership = cbind(share, 1 - share), profiles = profiles)
  p <- array(truth$membership %*% matrix(profiles, 2), c(n, m, 3))
  code <- apply(p, 1:2, function(p) sample.int(3, 1, prob = p) - 1L)
  list(x = category_table(code, values = 0:2), truth = truth, probability = p)
}

few_starts <- function(...) fit_control(n_start = 2, n_polish = 0, progress = FALSE, ...)
quietly_fit <- function(...) suppressMessages(aspect_categorical(...))

test_that("iterations equal the reference, with missing cells, priors and phantoms", {
  set.seed(1)
  for (n_value in c(2, 3, 5)) {
    x <- random_categories(if (n_value == 3) three_blocks(64) else 9, 6, n_value, 0.2)
    start <- categorical_start(nrow(x), 6, 3, n_value)
    value <- seq(1, 2, length.out = n_value)
    ml <- ref_categorical_pass(unclass(x), ref_categorical_pass(unclass(x), start))
    fit <- quietly_fit(x, 3, estimate = "ml", start = start, control = plain_control(2))
    expect_equal(lapply(fit$param, unname), ml, tolerance = 1e-12)
    expect_equal(fit$loglik, ref_categorical_loglik(unclass(x), ml$membership, ml$profiles), tolerance = 1e-12)
    map <- ref_categorical_pass(unclass(x), start, 0.4, value - 1)
    fit <- quietly_fit(
      x, 3, prior = list(profiles = value, membership = 1.4), start = start, control = plain_control(1)
    )
    expect_equal(lapply(fit$param, unname), map, tolerance = 1e-12)
    free <- rep(value > 1, each = 18)
    prior <- 0.4 * sum(log(map$membership)) + sum((log(map$profiles) * rep(value - 1, each = 18))[free])
    expect_equal(unname(fit$objective), fit$loglik + prior, tolerance = 1e-12)

    start$profiles[3, , ] <- rep(c(0, 1, rep(0, n_value - 2)), each = 6)
    held <- ref_categorical_pass(unclass(x), start)
    held$profiles[3, , ] <- start$profiles[3, , ]
    fit <- quietly_fit(x, 3, estimate = "ml", phantom = 1, start = start, control = plain_control(1))
    expect_equal(lapply(fit$param, unname), held, tolerance = 1e-12)
  }
})

test_that("with two values it is the aspect Bernoulli model", {
  set.seed(2)
  x <- matrix(rbinom(three_blocks(64) * 7, 1, 0.3), ncol = 7)
  x[cbind(1:7, 1:7)] <- NA
  start <- random_start(nrow(x), 7, 3)
  profiles <- array(c(1 - start$aspects, start$aspects), c(3, 7, 2))
  same <- list(membership = start$membership, profiles = profiles)
  for (estimate in c("ml", "map")) {
    prior <- list(list(aspects = c(1.2, 2), membership = 1.1), list(profiles = c(2, 1.2), membership = 1.1))
    if (estimate == "ml") prior <- list(NULL, NULL)
    one <- suppressMessages(aspect_bernoulli(x, 3, estimate = estimate, prior = prior[[1]], start = start,
      control = plain(5)))
    other <- quietly_fit(x, 3, estimate = estimate, prior = prior[[2]], start = same, control = plain(5))
    expect_equal(other$param$membership, one$param$membership, tolerance = 1e-12)
    expect_equal(unname(other$param$profiles[, , 2]), unname(one$param$aspects), tolerance = 1e-12)
    expect_equal(unname(other$objective), unname(one$objective), tolerance = 1e-12)
    expect_equal(other$loglik, one$loglik, tolerance = 1e-12)
    expect_equal(other$df, one$df)
  }
  last <- list(membership = start$membership, aspects = rbind(start$aspects[1:2, ], 0))
  white <- suppressMessages(aspect_bernoulli(x, 3, estimate = "ml", phantom = "white", start = last,
    control = plain(5)))
  same$profiles <- array(c(1 - last$aspects, last$aspects), c(3, 7, 2))
  absent <- quietly_fit(x, 3, estimate = "ml", phantom = 0, start = same, control = plain(5))
  expect_equal(unname(absent$param$profiles[, , 2]), unname(white$param$aspects), tolerance = 1e-12)
  expect_equal(absent$df, white$df)
})

test_that("the likelihood is the sum over the components of all cells", {
  set.seed(3)
  x <- random_categories(3, 3, 3)
  x[2, 3] <- NA
  start <- categorical_start(3, 3, 3, 3)
  fit <- quietly_fit(x, 3, estimate = "ml", start = start, control = plain_control(3))
  param <- lapply(fit$param, unname)
  expect_equal(fit$loglik, ref_categorical_enumerated(unclass(x), param$membership, param$profiles), tolerance = 1e-10)
  expect_equal(unname(predict(fit, type = "cell")[1, 2, ]),
    ref_categorical_cell(unclass(x)[1, 2], param$membership[1, ], param$profiles[, 2, ]), tolerance = 1e-10)
  expect_equal(unname(predict(fit, type = "cell")[2, 3, ]), param$membership[2, ], tolerance = 1e-12)
})

test_that("draws of a chain have the exact posterior", {
  set.seed(4)
  x <- random_categories(3, 3, 3)
  x[2, 3] <- NA
  prior <- list(profiles = c(0.5, 1, 2), membership = 0.7)
  exact <- ref_categorical_posterior(unclass(x), 2, 0.7, c(0.5, 1, 2))
  chains <- mcmc_control(chains = 1, warmup = 200, draws = 20000, keep = 2000, init = "prior", progress = FALSE)
  fit <- quietly_fit(x, 2, estimate = "gibbs", prior = prior, control = chains)
  p <- vapply(posterior_draws(fit, 2000), function(draw) as.vector(fitted(draw)), numeric(27))
  error <- apply(p, 1, sd) / sqrt(400)
  expect_lt(max(abs(rowMeans(p) - as.vector(exact)) / error), 4)
  probed <- grep("^cell", names(fit$trace), value = TRUE)
  expect_equal(mean(fit$trace[["cell[site2,taxon3]"]]), 1 - exact[2, 3, 1], tolerance = 0.03)
  expect_equal(unname(fit$loglik), ref_categorical_loglik(unclass(x), unname(coef(fit)$membership),
    unname(coef(fit)$profiles)), tolerance = 1e-10)
  expect_gt(length(probed), 0)
})

test_that("one draw has no spread, and that of many is the deviation of the draws", {
  set.seed(6)
  x <- random_categories(6, 4, 3)
  sampled <- function(draws) {
    chains <- mcmc_control(chains = 1, warmup = 20, draws = draws, keep = draws, init = "prior", progress = FALSE)
    quietly_fit(x, 1, estimate = "gibbs", control = chains)
  }
  expect_lt(max(abs(sampled(1)$spread$profiles)), 1e-7)
  many <- sampled(200)
  draws <- vapply(posterior_draws(many, 200), function(draw) as.vector(draw$param$profiles), numeric(12))
  expect_equal(as.vector(many$spread$profiles), apply(draws, 1, function(v) sqrt(mean((v - mean(v))^2))),
    tolerance = 0.02)
})

test_that("ranks of the truth among draws are uniform", {
  set.seed(5)
  x <- random_categories(8, 5, 3)
  x[2, 3] <- NA
  chains <- mcmc_control(chains = 2, warmup = 100, draws = 300, thin = 5, keep = 20, init = "prior", progress = FALSE)
  fit <- suppressWarnings(quietly_fit(x, 3, phantom = 0, estimate = "gibbs", control = chains,
    prior = list(profiles = c(0.5, 1, 2), membership = 0.7)))
  ranks <- suppressMessages(calibration(fit, nsim = 20))
  expect_identical(dim(ranks$ranks), c(20L, nrow(ranks$table)))
  expect_gt(min(ranks$table$p), 1e-3)
})

test_that("the objective never falls, and threads do not change a bit", {
  set.seed(6)
  x <- random_categories(three_blocks(64), 8, 4, 0.1)
  for (estimate in c("ml", "map")) {
    fits <- lapply(1:2, function(threads) {
      set.seed(7)
      quietly_fit(x, 3, estimate = estimate, control = few_starts(screen = FALSE, n_threads = threads, tol = 1e-6))
    })
    expect_gte(min(diff(fits[[1]]$trace$objective)), -1e-9)
    expect_true(fits[[1]]$converged)
    expect_identical(fits[[1]]$param, fits[[2]]$param)
  }
})

test_that("planted components are found", {
  set.seed(8)
  planted <- planted_categories(400)
  fit <- quietly_fit(planted$x, 2, control = few_starts())
  at <- match_components(matrix(fit$param$profiles, 2), matrix(planted$truth$profiles, 2))
  expect_lt(sqrt(mean((fit$param$profiles[at, , ] - planted$truth$profiles)^2)), 0.06)
  expect_gt(cor(fit$param$membership[, at[1]], planted$truth$membership[, 1]), 0.9)
  expect_lt(sqrt(mean((fitted(fit) - planted$probability)^2)), 0.1)
  chosen <- suppressMessages(select_k(planted$x, 1:3, aspect_categorical, folds = 3, control = few_starts()))
  expect_equal(chosen$best$k[1], 2L)
})

test_that("one class a site is latent class analysis, as poLCA has it", {
  set.seed(9)
  class <- rep(1:2, c(60, 40))
  m <- 8
  p <- list(c(0.96, 0.03, 0.01), c(0.02, 0.08, 0.9))
  code <- t(vapply(class, function(c) sample.int(3, m, TRUE, p[[c]]), integer(m))) - 1L
  x <- suppressMessages(category_table(code, values = 0:2))
  frequency <- array(0, c(2, m, 3))
  for (c in 1:2) for (v in 0:2) frequency[c, , v + 1] <- colMeans(code[class == c, ] == v)
  # Memberships of exactly 0 and 1 stay: profiles are then frequencies of the classes.
  start <- list(membership = cbind(class == 1, class == 2) + 0, profiles = (frequency + 0.01) / 1.03)
  fit <- quietly_fit(x, 2, estimate = "ml", start = start, control = plain_control(1))
  expect_equal(unname(fit$param$membership), start$membership)
  expect_equal(unname(fit$param$profiles), frequency, tolerance = 1e-12)
  skip_if_not_installed("poLCA")
  frame <- as.data.frame(code + 1L)
  peer <- function(k) {
    getExportedValue("poLCA", "poLCA")(
      cbind(V1, V2, V3, V4, V5, V6, V7, V8) ~ 1, frame,
      nclass = k, nrep = 5, verbose = FALSE, tol = 1e-13, maxiter = 5000
    )
  }
  two <- peer(2)
  expect_equal(two$predclass == two$predclass[1], class == 1)
  probs <- vapply(two$probs, function(p) p[c(two$predclass[1], 3 - two$predclass[1]), ], matrix(0, 2, 3))
  expect_equal(aperm(unname(probs), c(1, 3, 2)), frequency, tolerance = 1e-6)
  one <- quietly_fit(x, 1, estimate = "ml", control = few_starts())
  expect_equal(one$loglik, peer(1)$llik, tolerance = 1e-8)
})

test_that("predictions, residuals and simulations agree with the parameters", {
  set.seed(10)
  x <- random_categories(30, 6, 3, 0.1)
  fit <- quietly_fit(x, 2, control = few_starts(tol = 1e-12))
  p <- fitted(fit)
  expect_identical(dimnames(p), c(dimnames(x), list(c("0", "1", "2"))))
  expect_equal(unname(rowSums(p, dims = 2)), matrix(1, 30, 6))
  expect_equal(p[3, 2, 2], sum(fit$param$membership[3, ] * fit$param$profiles[, 2, 2]))
  expect_equal(predict(fit, x[5:1, 6:1]), p[5:1, 6:1, ], tolerance = 1e-5)
  likeliest <- predict(fit, type = "value", rows = c("site2", "site5"))
  expect_s3_class(likeliest, "category_table")
  expect_equal(as.vector(likeliest), as.vector(apply(p[c(2, 5), , ], 1:2, which.max) - 1L))
  expect_equal(-2 * fit$loglik, sum(residuals(fit, "deviance")^2, na.rm = TRUE))
  apart <- residuals(fit)
  expect_equal(apart[1, 1, x[1, 1]], 1 - p[1, 1, x[1, 1]])
  expect_identical(is.na(apart[, , 1]), is.na(matrix(as.vector(x), 30, dimnames = dimnames(x))))
  filled <- impute(fit)
  expect_false(anyNA(filled))
  expect_identical(filled[!is.na(x)], x[!is.na(x)])
  drawn <- simulate(fit, 200, seed = 1)
  expect_identical(dimnames(drawn[[1]]), dimnames(x))
  expect_equal(mean(vapply(drawn, function(d) d[4, 3] == 2, NA)), p[4, 3, 3], tolerance = 0.35)
  expect_message(bare <- predict(fit, replace(x[1, , drop = FALSE], 1:6, NA), type = "membership"), "mean membership")
  expect_equal(unname(bare[1, ]), unname(colMeans(fit$param$membership)))
  expect_equal(update(fit, k = 3)$dims[["k"]], 3)
})

test_that("all verbs take a fit, or say why not", {
  set.seed(11)
  x <- random_categories(20, 6, 3, 0.1)
  x[, 1] <- rep(0:1, 10)
  few <- few_starts(keep_starts = TRUE)
  quick <- mcmc_control(chains = 2, warmup = 20, draws = 40, keep = 10, n_start = 1, progress = FALSE)
  fits <- list(quietly_fit(x, 2, control = few), suppressWarnings(quietly_fit(x, 2, phantom = 0, estimate = "gibbs",
    control = quick)))
  verbs <- list(
    print, summary, coef, fitted, residuals, simulate, tidy, glance, augment,
    function(fit) augment(fit, newdata = x[1:3, ]), function(fit) tidy(fit, "membership"),
    function(fit) test_loglik(fit, x), function(fit) align_components(fit, fit),
    impute, function(fit) plot(fit), function(fit) plot(fit, "top"), function(fit) plot(fit, "scores"),
    function(fit) plot(fit, "structure"), function(fit) plot(fit, "trace"), deviance, nobs
  )
  why_not <- list(phantoms, false_absences, denoise, by_taxon, identifiability, curves, cooccurrence, BIC)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (fit in fits) {
    for (verb in verbs) expect_error(utils::capture.output(suppressMessages(verb(fit))), NA)
    for (verb in why_not) expect_error(suppressMessages(verb(fit)), class = "multicause_input_error")
  }
  expect_equal(nrow(tidy(fits[[1]])), 2 * 6 * 3)
  expect_true(all(c("observed", ".fitted", ".probability") %in% names(augment(fits[[1]]))))
  expect_s3_class(modes(fits[[1]]), "modes")
  expect_error(logLik(fits[[2]]), "sampled its posterior")
  ends <- confint(fits[[2]])
  expect_equal(nrow(ends), 36L)
  expect_true(all(ends[, 1] <= ends[, 2]))
  expect_length(posterior_draws(fits[[2]], 7), 7L)
  again <- suppressWarnings(quietly_fit(x, 2, phantom = 0, estimate = "gibbs", start = fits[[2]], control = quick))
  expect_equal(nrow(again$trace), 80L)
  skip_if_not_installed("posterior")
  expect_equal(dim(posterior::as_draws(fits[[2]], parameters = TRUE)), c(10L, 2L, 40L + 36L))
})

test_that("held-out cells and rows are judged by the probability of their value", {
  set.seed(12)
  planted <- planted_categories(60, 10)
  cv <- suppressMessages(cross_validate(planted$x, 1:2, aspect_categorical, folds = 3, control = few_starts()))
  expect_identical(cv$family, "categorical")
  expect_lt(cv$results$loss[2], cv$results$loss[1])
  expect_match(print_words(cv), "mean negative log-likelihood of a held-out cell")
  # One component is the smoothed frequency of each taxon.
  fit <- quietly_fit(planted$x, 1, control = few_starts())
  expect_equal(unname(fit$param$profiles[1, 3, ]), (tabulate(unclass(planted$x)[, 3] + 1, 3) + 0.2) / 60.6)
  rows <- suppressMessages(cross_validate(planted$x, 1:2, aspect_categorical, "rows", folds = 3,
    control = few_starts()))
  expect_lt(rows$results$loss[2], rows$results$loss[1])
  expect_equal(unname(test_loglik(fit, planted$x[1, , drop = FALSE])[[1]]),
    sum(log(fit$param$profiles[cbind(1, 1:10, unclass(planted$x)[1, ] + 1)])))
  counts <- matrix(as.vector(planted$x), 60)
  expect_error(suppressMessages(cross_validate(counts, 2, aspect_categorical, folds = 2, control = few_starts())),
    "category_table", class = "multicause_input_error")
  expect_error(cross_validate(planted$x, 2, aspect_bernoulli, folds = 2, control = few_starts()), "several values",
    class = "multicause_input_error")
  two <- category_table((counts > 0) + 0)
  zero_one <- suppressMessages(cross_validate((counts > 0) + 0, 2, aspect_categorical, folds = 2,
    control = few_starts()))
  expect_identical(zero_one$family, "bernoulli")
  expect_equal(unname(presence_probability(quietly_fit(two, 1, control = few_starts()))[1, 1]),
    (sum(counts[, 1] > 0) + 0.2) / 60.4)
})

test_that("degenerate tables are legal", {
  set.seed(13)
  x <- random_categories(6, 4, 3)
  expect_equal(unname(quietly_fit(x, 1, estimate = "ml", control = few_starts())$param$profiles[1, 2, ]),
    tabulate(unclass(x)[, 2] + 1, 3) / 6, tolerance = 1e-9)
  gaps <- x
  gaps[2, ] <- NA
  gaps[, 3] <- NA
  expect_message(fit <- aspect_categorical(gaps, 2, control = few_starts()), "nothing observed")
  expect_false(anyNA(fitted(fit)))
  one <- category_table(matrix(0, 4, 3), values = 0:2)
  expect_message(aspect_categorical(one, 1, control = few_starts()), "Nothing can be learnt.*known cells are \"0\"")
  expect_message(aspect_categorical(replace(x, 1:3, NA), 1, control = few_starts()), "3 of 24 cells of `x` are unknown")
  expect_equal(quietly_fit(one, 2, estimate = "ml", control = few_starts())$loglik, 0, tolerance = 1e-6)
  expect_error(quietly_fit(x[1, , drop = FALSE], 2, control = few_starts()), NA)
  expect_error(quietly_fit(x[, 1, drop = FALSE], 2, phantom = c(0, 2), control = few_starts()), "k")
})

test_that("the default control serves one component, one free component and one taxon", {
  set.seed(15)
  x <- random_categories(20, 6, 3)
  polished <- fit_control(n_start = 2, max_iter = 50, progress = FALSE)
  frequency <- tabulate(unclass(x)[, 2] + 1, 3) / 20
  one <- quietly_fit(x, 1, estimate = "ml", control = polished)
  expect_equal(unname(one$param$profiles[1, 2, ]), frequency, tolerance = 1e-6)
  expect_identical(unname(quietly_fit(x, 2, phantom = 0, control = polished)$fixed), c("free", "0"))
  expect_identical(dim(quietly_fit(x[, 1, drop = FALSE], 2, control = polished)$param$profiles), c(2L, 1L, 3L))
})

test_that("starting values and priors are matched by name", {
  set.seed(16)
  x <- random_categories(20, 6, 3)
  fit <- quietly_fit(x, 2, control = few_starts())
  none <- fit_control(max_iter = 0, n_start = 1)
  again <- quietly_fit(x[, 6:1], 2, start = fit$param, control = none)
  expect_equal(again$loglik, fit$loglik)
  turned <- category_table(category_text(x), values = 2:0)
  expect_equal(quietly_fit(turned, 2, start = fit$param, control = none)$loglik, fit$loglik)
  odd <- fit$param
  dimnames(odd$profiles)[[2]][1] <- "other"
  expect_error(quietly_fit(x, 2, start = odd), "Names of taxa", class = "multicause_input_error")
  prior <- function(profiles) list(profiles = profiles, membership = 1.5)
  expect_identical(
    quietly_fit(x, 2, prior = prior(c(`2` = 2, `0` = 1.1, `1` = 1.3)), control = none)$prior,
    prior(c(1.1, 1.3, 2))
  )
  expect_error(quietly_fit(x, 2, prior = prior(c(a = 2, b = 1, c = 1))), "must be those of the data",
    class = "multicause_input_error")
  held <- category_table(matrix(c("free", "held"), 4, 3), values = c("free", "held"))
  expect_error(quietly_fit(held, 2, phantom = "free"), "another name", class = "multicause_input_error")
})

test_that("fitted() of a sampled fit is the mean over draws, and a value that is certain has no residual", {
  set.seed(17)
  x <- random_categories(12, 5, 3, 0.1)
  chains <- mcmc_control(chains = 2, warmup = 20, draws = 100, keep = 100, init = "prior", progress = FALSE)
  fit <- suppressWarnings(quietly_fit(x, 2, estimate = "gibbs", control = chains))
  each <- lapply(posterior_draws(fit, 1e4), fitted)
  expect_equal(fitted(fit), Reduce(`+`, each) / length(each), tolerance = 1e-12)
  expect_equal(predict(fit, rows = 3:2), fitted(fit)[3:2, , ], tolerance = 1e-12)
  x[, 1] <- 0
  ml <- quietly_fit(x, 2, estimate = "ml", control = few_starts())
  expect_equal(unname(residuals(ml, "pearson")[, 1, 1]), numeric(12), tolerance = 1e-6)
})

test_that("messages", {
  set.seed(14)
  x <- random_categories(6, 4, 3)
  expect_snapshot(error = TRUE, {
    aspect_categorical(x, 2, phantom = "absent")
    aspect_categorical(x, 1, phantom = "0")
    aspect_categorical(x, 2, prior = list(profiles = c(1, 2), membership = 1))
    aspect_categorical(x, 2, prior = list(aspects = 1))
    aspect_categorical(x, 2, start = list(membership = matrix(0.5, 6, 2), profiles = matrix(1, 2, 4)))
    aspect_categorical(x, 2, estimate = "vb")
    aspect_bernoulli(x, 2)
  })
  start <- lapply(categorical_start(6, 4, 3, 3), round, 8)
  fit <- suppressMessages(aspect_categorical(x, 3, phantom = NULL, estimate = "ml", control = plain_control(2),
    start = list(membership = matrix(c(0.5, 0.25, 0.25), 6, 3, byrow = TRUE), profiles = array(1 / 3, c(3, 4, 3)))))
  expect_snapshot(print(fit))
})

test_that("answers with codes of each column's own are numbered by the way out that is told", {
  x <- data.frame(lapply(stats::setNames(1:20, paste0("q", 1:20)), function(j) 100 * j + rep(1:5, 4)))
  said <- tryCatch(category_table(x), error = conditionMessage)
  eval(str2lang(sub("^.*`(x\\[\\].*)`[.]$", "\\1", said)))
  expect_identical(unname(as.matrix(x)), matrix(rep(1:5, 4), 20, 20))
  expect_s3_class(category_table(x), "category_table")
})

test_that("the title of the profiles names a taxon, by its number with the user's noun", {
  profiles <- array(c(0.5, 0.5, 0.1, 0.9, 0.5, 0.5, 0.9, 0.1), c(2, 2, 2))
  expect_identical(profiles_title(profiles, NULL, "taxa"), "Components differ most in taxon 2")
  expect_identical(profiles_title(profiles, NULL, "Genera"), "Components differ most in Genus 2")
  expect_identical(profiles_title(profiles, c("a", "b"), "taxa"), "Components differ most in b")
})

test_that("no value of a phantom may be called free", {
  x <- category_table(matrix(c("free", "b", "b", "free", "b", "free"), 3), values = c("b", "free"))
  expect_error(suppressMessages(aspect_categorical(x, 2, phantom = "free")),
    "`phantom` cannot be the value \"free\": give this value another name.", fixed = TRUE,
    class = "multicause_input_error")
})
