# Tests R/visits_occupancy.R, R/visits_occupancy_methods.R, R/visits_occupancy_plot.R, R/visits_occupancy_total.R,
# R/visits_occupancy_range.R and R/base_design.R; tests/c/test_visits_occupancy.c also tests the kernel.

# Presence depends on elev, detection on day; coefficients by taxon.
planted_survey <- function(seed, n = 100, m = 20, visits = 3, slope = 0.3) {
  set.seed(seed)
  elev <- rnorm(n)
  day <- matrix(rnorm(n * visits), n)
  presence <- rbind(rnorm(m, -0.5, 1), rnorm(m, slope, 1))
  detection <- rbind(rnorm(m, -0.4, 0.8), rnorm(m, 0.3, 0.4))
  present <- matrix(rbinom(n * m, 1, plogis(cbind(1, elev) %*% presence)), n)
  y <- array(0L, c(n, m, visits), list(site = paste0("s", 1:n), species = paste0("t", 1:m), visit = NULL))
  for (v in seq_len(visits)) y[, , v] <- present * rbinom(n * m, 1, plogis(cbind(1, day[, v]) %*% detection))
  list(
    y = y, sites = data.frame(elev, row.names = rownames(y)), day = list(day = day), present = present,
    presence = presence, detection = detection, truth = present == 1 & apply(y, 1:2, max) == 0
  )
}

fit_survey <- function(case, ..., presence = ~elev, detection = ~day) {
  suppressMessages(visits_occupancy(case$y, presence, detection, site_data = case$sites, visit_data = case$day, ...))
}

small_case <- function() {
  case <- planted_survey(5, 14, 4)
  case$y[2, , 1] <- NA
  case$y[3, , ] <- NA
  case$y[4, 2, 3] <- NA
  cell <- suppressMessages(check_visits(case$y))
  by <- occupancy_designs(~elev, ~day, cell, list(visit = case$day, site = case$sites))
  rows <- occupancy_rows(cell, by)
  design <- function(v) t(by$detection$design[, (v - 1) * 14 + 1:14])
  c(case, list(cell = cell, by = by, rows = rows, x = t(by$presence$design), w = lapply(1:3, design)))
}

test_that("the likelihood and the probability of a presence equal those site by site", {
  case <- small_case()
  set.seed(2)
  theta <- matrix(rnorm(16), 4)
  for (uneven in c(0, 0.8)) {
    for (j in 1:4) {
      own <- with_uneven(case$rows, uneven)
      fast <- .Call(mc_c_occ_pointwise, own, j - 1L, theta[, j, drop = FALSE])
      slow <- ref_occupancy_sites(unclass(case$cell)[, j, ], case$x, case$w, theta[, j], uneven)
      at <- case$rows$of_cell[, j] - case$rows$first[j]
      expect_equal(fast$loglik[at], slow$loglik, tolerance = 1e-12)
      expect_equal(fast$present[at], slow$present, tolerance = 1e-12)
    }
  }
})

test_that("modes are maxima, and their precision is the curvature there", {
  case <- small_case()
  own <- with_uneven(case$rows, 0.5)
  param <- list(theta = matrix(0, 4, 4), center = c(0.1, 0.2, -0.3, 0), spread = c(1, 0.8, 0.9, 0.5))
  out <- .Call(mc_c_occ_modes, own, param)
  for (j in 1:4) {
    posterior <- function(theta) {
      each <- ref_occupancy_sites(unclass(case$cell)[, j, ], case$x, case$w, theta, 0.5)$loglik
      sum(each, na.rm = TRUE) + sum(dnorm(theta, param$center, param$spread, log = TRUE))
    }
    best <- optim(numeric(4), posterior, method = "BFGS", control = list(fnscale = -1, reltol = 1e-14), hessian = TRUE)
    expect_equal(out$theta[, j], best$par, tolerance = 1e-3)
    expect_equal(matrix(out$precision[, , j], 4), -best$hessian, tolerance = 1e-3)
    laplace <- best$value + 2 * log(2 * pi) - as.vector(determinant(-best$hessian)$modulus) / 2
    expect_equal(out$laplace[j], laplace, tolerance = 1e-5)
  }
})

test_that("an iteration updates means and spreads by the modes and the curvature about them", {
  case <- small_case()
  own <- with_uneven(case$rows, 0)
  param <- list(theta = matrix(0, 4, 4), center = rep(0.1, 4), spread = rep(0.8, 4))
  modes <- .Call(mc_c_occ_modes, own, param)
  variance <- apply(modes$precision, 3L, function(precision) diag(solve(matrix(precision, 4))))
  prior <- kernel_prior(case$by)
  one <- .Call(mc_c_occ_fit, own, param, prior, unclass(fit_control(max_iter = 1, tol = 0, progress = FALSE)))
  slow <- ref_occupancy_sharing(modes$theta, variance, param$center, param$spread, prior)
  expect_equal(one$center, slow$center, tolerance = 1e-6)
  expect_equal(one$spread, slow$spread, tolerance = 1e-6)
  expect_identical(param$theta, matrix(0, 4, 4)) # arguments are not modified
})

test_that("one taxon with little shrinkage has the estimates of single-species occupancy", {
  case <- planted_survey(3, 300, 1)
  cell <- suppressMessages(check_visits(case$y))
  by <- occupancy_designs(~elev, ~day, cell, list(visit = case$day, site = case$sites))
  rows <- with_uneven(occupancy_rows(cell, by), 0)
  wide <- list(theta = matrix(0, 4, 1), center = numeric(4), spread = rep(100, 4))
  modes <- .Call(mc_c_occ_modes, rows, wide)
  negative <- function(theta) {
    design <- function(v) t(by$detection$design[, (v - 1) * 300 + 1:300])
    -sum(ref_occupancy_sites(cell[, 1, ], t(by$presence$design), lapply(1:3, design), theta)$loglik)
  }
  best <- optim(numeric(4), negative, method = "BFGS", control = list(reltol = 1e-12))
  expect_equal(modes$theta[, 1], best$par, tolerance = 0.01)
  expect_equal(modes$loglik, -best$value, tolerance = 1e-5)
})

test_that("planted slopes, numbers by taxon and the total are within their intervals", {
  skip_on_cran()
  done <- vapply(1:4, function(seed) {
    case <- planted_survey(seed)
    set.seed(seed)
    fit <- fit_survey(case)
    slopes <- confint(fit, "presence:elev", level = 0.9)
    numbers <- by_taxon(fit)
    truth <- colSums(case$truth)
    p <- fit$cells$present[fit$x == 0]
    c(
      slopes = mean(slopes[, 1] <= case$presence[2, ] & case$presence[2, ] <= slopes[, 2]),
      taxa = mean(floor(numbers$low) <= truth & truth <= ceiling(numbers$high)),
      total = fit$total[["model_low"]] <= sum(truth) && sum(truth) <= fit$total[["model_high"]],
      ratio = log(fit$total[["missed"]] / sum(truth)), rank = mean(rank(p)[case$truth[fit$x == 0]]) / length(p)
    )
  }, numeric(5))
  means <- rowMeans(done)
  expect_gte(means[["slopes"]], 0.8)
  expect_gte(means[["taxa"]], 0.8)
  expect_gte(means[["total"]], 0.75)
  expect_lt(abs(means[["ratio"]]), log(1.25))
  expect_gt(means[["rank"]], 0.65)
})

# Detection varies by taxon and, with by_site, by site; sites x taxa x 4 visits.
planted_visits <- function(seed, m, n = 100, by_site = 0) {
  set.seed(seed)
  psi <- plogis(rnorm(m, -0.3, 1))
  found <- plogis(outer(rnorm(n, 0, by_site), rnorm(m, -0.2, 0.8), "+"))
  present <- matrix(rbinom(n * m, 1, rep(psi, each = n)), n)
  cell <- array(0L, c(n, m, 4))
  for (v in 1:4) cell[, , v] <- present * rbinom(n * m, 1, found)
  list(
    cell = suppressMessages(check_visits(cell, c("site", "species", "visit"))),
    truth = sum(present == 1 & apply(cell, 1:2, max) == 0 & rep(apply(cell, 2, max), each = n) == 1)
  )
}

test_that("planted numbers are found, from one species to twenty", {
  for (m in c(1, 3, 8, 20)) {
    # For one species the truth is a few presences, so its mean over ten tables has an error of a quarter.
    done <- vapply(seq_len(if (m == 1) 30 else 10), function(seed) {
      one <- planted_visits(seed, m)
      out <- occupancy_missed(one$cell)
      c(one$truth, out$total[["missed"]], out$model[["low"]] <= one$truth && one$truth <= out$model[["high"]])
    }, numeric(3))
    expect_lt(abs(log(sum(done[2, ]) / sum(done[1, ]))), log(if (m == 1) 1.4 else 1.25))
    expect_gte(mean(done[3, ]), 0.7)
  }
})

test_that("detection that is uneven among sites is seen by four visits to many taxa, not by two", {
  one <- planted_visits(3, 20, by_site = 1)
  set.seed(1)
  fit <- visits_occupancy(one$cell)
  expect_lt(fit$uneven$weight[1], 0.05)
  expect_lt(abs(log(fit$total[["missed"]] / one$truth)), log(1.5))
  two <- suppressMessages(visits_occupancy(one$cell[, , 1:2], sides = c("site", "species", "visit")))
  expect_gt(two$uneven$weight[1], 0.3)
})

test_that("an answer is coherent, needs no random numbers of the session and takes what is degenerate", {
  cell <- small_case()$cell
  set.seed(1)
  before <- .Random.seed
  out <- occupancy_missed(cell)
  expect_identical(before, .Random.seed)
  expect_identical(out, occupancy_missed(cell))
  expect_equal(sum(out$by_taxon), out$total[["missed"]])
  expect_equal(colSums(out$cells, na.rm = TRUE), out$by_taxon)
  expect_identical(is.na(unname(out$cells)), !(any_visit(cell) %in% 0) |> matrix(14))
  ends <- c(out$years[["low"]], out$total[["low"]], out$model, out$total[["high"]], out$years[["high"]])
  expect_false(is.unsorted(ends))
  # Nothing found, one visit, one site, all found.
  expect_identical(occupancy_missed(0L * cell)$total[["missed"]], 0)
  expect_true(is.finite(occupancy_missed(cell[, , 1, drop = FALSE])$total[["high"]]))
  expect_true(is.finite(occupancy_missed(cell[1, , , drop = FALSE])$total[["missed"]]))
  expect_identical(occupancy_missed(replace(0L * cell, TRUE, 1L))$total[["missed"]], 0)
  unseen <- cell
  unseen[, 2, ] <- 0L
  expect_identical(occupancy_missed(unseen)$by_taxon[["t2"]], 0)
})

test_that("of the birds of two visits, what the third found is within the range", {
  birds <- swiss_visits()
  cell <- suppressMessages(check_visits(birds, c("site", "species", "visit")))
  two <- cell[, , 1:2]
  new <- any_visit(two) %in% 0 & any_visit(cell) %in% 1
  listed <- rep(colSums(any_visit(two), na.rm = TRUE) > 0, each = nrow(two))
  expect_identical(sum(new & listed), 702L)
  out <- occupancy_missed(two)
  expect_true(out$total[["low"]] <= 702 && 702 <= out$total[["high"]])
})

case <- planted_survey(11, 60, 6, slope = 1.2)
set.seed(1)
fit <- fit_survey(case)

test_that("estimates, intervals and tables agree with the draws", {
  expect_identical(dim(coef(fit)$presence), c(2L, 6L))
  ends <- confint(fit, level = 0.9)
  all <- tidy(fit, conf.int = TRUE, conf.level = 0.9)
  expect_identical(nrow(all), 24L)
  expect_true(all(ends[, 1] < ends[, 2]))
  expect_equal(sort(all$conf.low), sort(unname(ends[, 1])))
  expect_equal(sqrt(diag(vcov(fit))), stats::setNames(all$std.error, rownames(ends)))
  expect_equal(rownames(confint(fit, "t2:presence")), c("t2:presence:(Intercept)", "t2:presence:elev"))
  expect_identical(tidy(fit, "detection")$part, rep("detection", 12))
  # On the covariates' own scale: probabilities equal those from the design.
  eta <- rep(coef(fit)$presence[1, ], each = 60) + outer(case$sites$elev, coef(fit)$presence[2, ])
  expect_gt(cor(as.vector(plogis(eta)), as.vector(predict(fit))), 0.99)
})

test_that("WAIC and the pointwise log-likelihood agree, and the right formula is preferred", {
  each <- predict(fit, type = "loglik")
  made <- sum(!is.na(any_visit(case$y)))
  expect_identical(dim(each), c(1000L, made))
  lppd <- sum(log(colMeans(exp(each))))
  expect_equal(fit$waic[["p_waic"]], sum(apply(each, 2, var)))
  expect_equal(fit$waic[["waic"]], -2 * (lppd - fit$waic[["p_waic"]]))
  flat <- suppressMessages(update(fit, presence = ~1))
  expect_lt(AIC(fit), AIC(flat))
  expect_lt(fit$waic[["waic"]], flat$waic[["waic"]])
  expect_identical(nobs(fit), 60L)
  expect_identical(attr(logLik(fit), "df"), 9)
})

test_that("maps: a row for each cell, NA where a covariate is unknown", {
  cells <- data.frame(elev = c(-1, NA, 0.5, -1), other = "a")
  map <- predict(fit, cells)
  expect_identical(dim(map), c(4L, 6L))
  expect_true(all(is.na(map[2, ])) && !anyNA(map[-2, ]))
  expect_identical(unname(map[1, ]), unname(map[4, ]))
  expect_equal(predict(fit, site_data = cells), map)
  range <- predict(fit, cells, level = 0.9)
  expect_true(all(range$lower <= range$mean & range$mean <= range$upper, na.rm = TRUE))
  expect_equal(range$mean, map)
  expect_equal(predict(fit, site_data = case$sites), fitted(fit), ignore_attr = TRUE)
  late <- predict(fit, data.frame(day = c(0, 2)), type = "detection")
  expect_identical(colnames(late), paste0("t", 1:6))
  present <- predict(fit, type = "present")
  expect_true(all(present[apply(case$y, 1:2, max) == 1] == 1))
})

test_that("numbers missed by cell, site and taxon sum to the total", {
  total <- fit$total[["missed"]]
  expect_equal(sum(fit$cells$present[fit$x == 0]), total)
  for (sums in list(by_taxon(fit), by_site(fit))) {
    expect_equal(sum(sums$missed), total)
    expect_true(all(sums$low <= sums$missed & sums$missed <= sums$high))
  }
  expect_equal(sum(false_absences(fit, n = 1000)$missed), total, tolerance = 1e-8)
})

test_that("draws go to packages posterior and coda", {
  skip_if_not_installed("coda")
  chains <- coda::as.mcmc(fit)
  expect_identical(coda::nvar(chains), dim(draws_array(fit))[3L])
  expect_true(all(is.finite(coda::autocorr.diag(fit)[2L, ])))
})

test_that("sample coverage is the share of the next visit's records that are of taxa known there", {
  whole <- sample_coverage(fit, groups = rep("all", 60))
  expect_true(whole$low <= whole$coverage && whole$coverage <= whole$high)
  each <- sample_coverage(fit)
  expect_equal(sum(each$new), whole$new)
  expect_equal(sum(each$records), whole$records)
  # The true detections of one more visit to these presences.
  set.seed(9)
  day <- rowMeans(case$day$day)
  records <- case$present * plogis(cbind(1, day) %*% case$detection)
  known <- apply(case$y, 1:2, max) == 1
  expect_lt(abs(whole$coverage - sum(records[known]) / sum(records)), 0.1)
})

test_that("a visit that is held out is foreseen by the others, and formulas are compared by it", {
  held <- case$y
  held[1:30, , 2] <- NA
  set.seed(1)
  part <- fit_survey(modifyList(case, list(y = held)), uneven = 0)
  p <- recorded_probability(part)
  expect_identical(dim(p), dim(case$y))
  foreseen <- p[1:30, , 2]
  expect_equal(mean(foreseen), mean(case$y[1:30, , 2]), tolerance = 0.25)
  slow <- part$cells$present[1, ] * predict(part, data.frame(day = case$day$day[1, 2]), type = "detection")[1, ]
  expect_equal(foreseen[1, ], unname(slow), tolerance = 0.1)
  cv <- suppressMessages(cross_validate(
    case$y, 0, visits_occupancy, "visits", grid = list(presence = list(~1, ~elev)), detection = ~day, folds = 2,
    site_data = case$sites, visit_data = case$day, uneven = 0
  ))
  expect_lt(cv$results$loss[2], cv$results$loss[1])
})

test_that("surveys drawn from a fit have its shape, and the fit makes such surveys", {
  drawn <- simulate(fit, 2, seed = 1)
  expect_identical(dim(drawn[[1]]), dim(case$y))
  expect_identical(drawn, simulate(fit, 2, seed = 1))
  set.seed(1)
  check <- predictive_check(fit, nsim = 40)
  expect_true(all(check$p > 0.01 & check$p < 0.99))
  expect_true(all(is.finite(residuals(fit, "deviance"))))
})

test_that("figures are drawn", {
  expect_s3_class(ggplot2::autoplot(fit, "presence", "elev"), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit, "detection"), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit, "presence", taxon = c("t1", "t3")), "ggplot")
  expect_s3_class(ggplot2::autoplot(fit, "taxa"), "ggplot")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (what in c("presence", "detection", "taxa", "trace")) expect_no_error(plot(fit, what))
})

test_that("the same seed gives the same fit, and a fit without data says so", {
  set.seed(1)
  again <- fit_survey(case)
  expect_identical(again$draws, fit$draws)
  bare <- fit_survey(case, control = fit_control(keep_x = FALSE), uneven = 0)
  expect_null(bare$visits)
  expect_error(predict(bare, type = "loglik"), "keep_x", class = "multicause_input_error")
  expect_identical(dim(predict(bare, data.frame(elev = 0))), c(1L, 6L))
})

test_that("prints and errors", {
  # Draws differ between linear algebra libraries.
  expect_snapshot(
    {
      print(fit)
      summary(fit)
    },
    transform = function(lines) gsub(" +", " ", gsub("-?[0-9][0-9.]*", "#", lines))
  )
  expect_snapshot(error = TRUE, {
    fit_survey(case, presence = ~height)
    fit_survey(case, presence = ~day)
    fit_survey(case, presence = y ~ elev)
    fit_survey(case, presence = ~ elev + (1 | species))
    fit_survey(case, uneven = -1)
    fit_survey(modifyList(case, list(sites = transform(case$sites, elev = replace(elev, 7, NA)))))
    predict(fit, data.frame(height = 1))
    predict(fit, data.frame(elev = "high"))
    predict(fit, data.frame(elev = 1), type = "present")
    confint(fit, "elevation")
    plot(fit, "presence", "day")
    by_site(fit, draws = list(1))
    sample_coverage(1)
  })
})

test_that("edges: no numbers to plot against, a taxon without a visit, no new row, factors with NA, the generator", {
  set.seed(31)
  visits <- array(rbinom(60, 1, 0.5), c(6, 5, 2), list(site = paste0("s", 1:6), taxon = paste0("t", 1:5), visit = 1:2))
  set.seed(1)
  fit <- suppressMessages(visits_occupancy(visits, uneven = 0))
  again <- suppressMessages(visits_occupancy(visits, uneven = 0))
  expect_false(identical(fit$draws$theta, again$draws$theta))
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
  expect_error(plot(fit, "presence"), "has no numeric covariate of `presence` to draw a curve against \\(factors",
    class = "multicause_input_error")
  expect_error(sample_coverage(fit, groups = rep(NA, 6)), "must have a site", class = "multicause_input_error")
  unseen <- visits
  unseen[, 2, ] <- NA
  loglik <- predict(suppressMessages(visits_occupancy(unseen, uneven = 0)), type = "loglik")
  expect_identical(ncol(loglik), 24L)
  sites <- data.frame(x = 1:6, h = factor(rep(c("u", "v"), 3)))
  fit <- suppressMessages(visits_occupancy(visits, ~ x + h, site_data = sites, uneven = 0))
  expect_identical(dim(predict(fit, sites[0, ])), c(0L, 5L))
  expect_silent(p <- predict(fit, data.frame(x = 1:2, h = factor(c("v", NA)))))
  expect_identical(unname(is.na(p[, 1])), c(FALSE, TRUE))
  expect_equal(count_range(0.04, 0.05), c(0, 1))
  expect_error(visits_occupancy(list()), "at least one table", class = "multicause_input_error")
})

test_that("numbers within factor() are levels, in the fit and in predictions", {
  set.seed(8)
  h <- rep(1:2, 30)
  y <- array(0L, c(60, 5, 3), list(site = paste0("s", 1:60), taxon = paste0("t", 1:5), visit = NULL))
  there <- matrix(rbinom(300, 1, ifelse(h == 1, 0.9, 0.1)), 60)
  for (v in 1:3) y[, , v] <- there * rbinom(300, 1, 0.7)
  fit <- function(formula, ...) suppressMessages(visits_occupancy(y, formula, site_data = data.frame(...), rare = 0))
  number <- fit(~ factor(h), h)
  text <- fit(~ h, h = c("low", "other")[h])
  expect_equal(number$presence$design, text$presence$design)
  expect_equal(AIC(number), AIC(text))
  p <- predict(number, data.frame(h = 1:2))
  expect_gt(min(p[1, ]), 0.7)
  expect_lt(max(p[2, ]), 0.3)
  expect_error(predict(number, data.frame(h = 3)), "must have levels of the fit: factor\\(h\\) is \"3\" in row 1",
    class = "multicause_input_error")
  # A covariate beside it stays in the design; between levels there is no curve.
  z <- rnorm(60)
  both <- fit(~ z + factor(h), z, h)
  expect_equal(unname(both$presence$design[2, ]), (z - mean(z)) / sd(z))
  expect_error(ggplot2::autoplot(both, "presence", "h"), "must be one of \"z\"", class = "multicause_input_error")
  # The first level is the reference, in the order that the factor has.
  expect_identical(fit(~k, k = factor(c("low", "high")[h], c("low", "high")))$presence$terms, c("(Intercept)", "khigh"))
  # Breaks that depend on the rows.
  expect_identical(sort(unique(colSums(fit(~ cut(z, 3), z)$presence$design != 0))), 3)
  expect_error(fit(~0, h), "must have an intercept or a term", class = "multicause_input_error")
  expect_true(all(c("presence", "detection") %in% as.data.frame(number)$part))
  expect_equal(residuals(number, x = apply(y, 1:2, max)), residuals(number))
  bare <- suppressMessages(visits_occupancy(y, rare = 0, control = fit_control(keep_x = FALSE)))
  expect_error(false_absences(bare), "fit again with the visits kept", class = "multicause_input_error")
})

test_that("the mean curve of detection has the unevenness of the sites, as those of taxa have", {
  set.seed(3)
  uneven <- matrix(rnorm(720, 0, 2), 60)
  day <- matrix(runif(240, -1, 1), 60)
  y <- array(0L, c(60, 12, 4), list(site = paste0("s", 1:60), taxon = paste0("t", 1:12), visit = NULL))
  there <- matrix(rbinom(720, 1, 0.7), 60)
  for (v in 1:4) y[, , v] <- there * rbinom(720, 1, plogis(-2 + uneven + day[, v]))
  fit <- suppressMessages(visits_occupancy(y, ~1, ~day, visit_data = list(day = day), rare = 0))
  lines <- ggplot2::ggplot_build(ggplot2::autoplot(fit, "detection"))$data
  middle <- lines[[1L]]$x[51L]
  taxa <- lines[[1L]]$y[abs(lines[[1L]]$x - middle) < 1e-9]
  mean <- lines[[3L]]$y[51L]
  expect_gt(mean, min(taxa) - 0.02)
  expect_lt(mean, max(taxa) + 0.02)
})

test_that("sums and print give one interval of the whole table", {
  set.seed(3)
  y <- lapply(1:3, function(v) matrix(rbinom(240, 1, 0.3), 30))
  fit <- suppressMessages(visits_occupancy(y))
  ends <- unname(fit$total[c("model_low", "model_high")])
  expect_identical(as.vector(attr(by_site(fit), "total")), ends)
  expect_identical(as.vector(attr(by_taxon(fit), "total")), ends)
  expect_lt(attr(by_site(fit, site = 1:10), "total")[2], ends[2])
})

test_that("the interval of the print is that of a level of 90 %, however the level was computed", {
  set.seed(8)
  x <- lapply(1:2, function(v) matrix(rbinom(120, 1, 0.4), 20, dimnames = list(1:20, letters[1:6])))
  fit <- suppressWarnings(suppressMessages(visits_occupancy(x, control = fit_control(n_start = 1, progress = FALSE))))
  ends <- printed_ends(fit, 0.9)
  expect_equal(as.vector(ends), as.vector(fit$total[c("model_low", "model_high")]))
  expect_false(0.3 * 3 == 0.9)
  expect_identical(printed_ends(fit, 0.3 * 3), ends)
  expect_null(printed_ends(fit, 0.8))
  expect_equal(suppressMessages(by_site(fit, level = 0.3 * 3)), suppressMessages(by_site(fit, level = 0.9)))
})

test_that("few iterations are told, with what to raise", {
  x <- array(rep_len(c(0, 1, 1, 0, 0, 0, 1), 9 * 5 * 3), c(9, 5, 3),
    list(site = letters[1:9], taxon = LETTERS[1:5], visit = 1:3))
  suppressMessages(expect_warning(visits_occupancy(x, control = fit_control(n_start = 1, max_iter = 1)),
    "Not converged after 1 iteration: raise `max_iter` in fit_control() for a firmer answer.", fixed = TRUE,
    class = "multicause_not_converged"))
})
