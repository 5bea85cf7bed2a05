skip_on_cran()

few <- function(...) {
  settings <- list(chains = 2, warmup = 50, draws = 100, keep = 20, progress = FALSE)
  do.call(mcmc_control, utils::modifyList(settings, list(...)))
}

case <- detected_table()
given <- list(date = case$date)
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
sampled <- function(..., k = 2, detection = ~date, control = few()) {
  set.seed(1)
  quiet(visits_bernoulli(
    case$visits, k,
    detection = detection, visit_data = given, estimate = "gibbs", ..., control = control
  ))
}
prior <- list(aspects = c(0.8, 1.3), membership = 0.6, detection = 0.9)

test_that("the sampler has the exact posterior of a tiny survey", {
  set.seed(1)
  cell <- array(c(1L, 0L, 0L, NA, 0L, 0L, 0L, NA, 1L, 0L, NA, NA), c(4, 1, 3))
  problem <- visits_test_problem(cell, 1, prior, "none", ~1)
  out <- visits_sweeps(problem, visits_prior_state(problem), 40000, 1L, 1L)
  chain <- rbind(
    a = as.vector(out$kept_aspects), q = plogis(as.vector(out$all_slopes)), missed = out$note[3, ],
    loglik = out$note[2, ], both = as.vector(out$kept_aspects) * plogis(as.vector(out$all_slopes))
  )
  z <- (rowMeans(chain) - visits_grid(cell, prior$aspects, prior$detection)) / batch_error(chain)
  expect_lt(max(abs(z)), 4)
  # The sums over cells have the same posterior.
  expect_equal(sum(array(out$cell, c(4, 4))[2:3, 1]) / 40000, rowMeans(chain)[["missed"]], tolerance = 0.02)
})

test_that("Geweke's joint test and simulation-based calibration, short", {
  set.seed(2)
  cell <- array(0L, c(4, 3, 2))
  cell[2, , 2] <- NA
  cell[3, 1, ] <- NA
  data <- list(date = matrix(c(-1, 0.5, 1, -0.5, 1, 0, 0.3, -1), 4))
  taxon <- data.frame(mass = c(-1, 0, 1))
  with_mass <- visits_test_problem(cell, 2, prior, "partial", ~ date + mass, data, taxon)
  alone <- visits_test_problem(cell, 2, prior, "none", ~date, data)
  expect_lt(max(abs(visits_geweke_z(with_mass, 4000))), 4)
  expect_lt(max(abs(visits_geweke_z(alone, 4000))), 4)
  p <- rank_p(visits_sbc_ranks(with_mass, n_set = 60, warmup = 100, thin = 10), 19)
  expect_gt(min(p), 1e-4 / length(p))
})

test_that("states that are summed out let go of an attribute that is seldom found", {
  set.seed(4)
  present <- rbinom(60, 1, 0.6)
  cell <- array(rbinom(180, 1, 0.15) * present, c(60, 1, 3))
  flat <- list(aspects = c(1, 1), membership = 1, detection = 1.65)
  # The same model: only an intercept with its own name is moved with states summed out.
  missed <- vapply(list(~1, ~ 0 + one), function(formula) {
    problem <- visits_test_problem(cell, 1, flat, "none", formula, list(one = matrix(1, 60, 3)))
    draws <- visits_sweeps(problem, visits_prior_state(problem), 8000, 1L)$note[3, , drop = FALSE]
    c(mean(draws), batch_error(draws))
  }, c(0, 0))
  expect_lt(missed[2, 1], 0.7 * missed[2, 2])
  expect_lt(abs(diff(missed[1, ])), 4 * sqrt(sum(missed[2, ]^2)))
})

test_that("what the kernel sums up is what plain R makes of the states", {
  # Without sharing and intercept no move precedes the states, which are drawn first in a sweep.
  problem <- visits_test_problem(case$visits, 2, prior, "none", ~ 0 + date + late, c(given, list(late = given$date^2)))
  set.seed(3)
  out <- visits_sweeps(problem, visits_prior_state(problem), 12, 2L, 3L)
  expect_identical(c(out$n_done, out$n_draw, out$n_kept), c(12L, 6L, 2L))
  expect_identical(out$all_slopes[, 6], as.vector(out$slopes))
  expect_identical(out$kept_aspects[, 2], as.vector(out$aspects))
  expect_identical(colSums(out$richness), colSums(out$sites))
  visited <- apply(!is.na(case$visits), 1:2, any)
  found <- apply(case$visits, 1:2, function(v) any(v %in% 1))
  # One sweep's log-likelihood is that of its starting state.
  state <- out$state
  one <- visits_sweeps(problem, state, 1, 1L)
  design <- aperm(array(problem$settings$by$design, c(2, 30, 3)), c(2, 3, 1))
  loglik <- sum(vapply(1:5, function(j) {
    ref_detected(c(qlogis(state$aspects[, j]), state$slopes[, j]), state$membership, case$visits[, j, ], design)
  }, 0))
  expect_equal(one$note[2, 1], loglik, tolerance = 1e-8)
  p <- state$membership %*% state$aspects
  cell <- array(one$cell, c(30, 5, 4))
  expect_equal(cell[, , 3], p, tolerance = 1e-12)
  expect_true(all(cell[, , 1][found] == 1))
  expect_equal(cell[, , 1][!visited], p[!visited])
  expect_equal(cell[, , c(2, 4)], cell[, , c(1, 3)]^2)
  expect_identical(one$note[4, 1], sum(one$richness))
  expect_identical(one$note[4, 1] - one$note[3, 1] - sum(found), sum(one$richness[rowSums(visited) == 0, 1]))
})

test_that("a fit says what it knows, and how sure it is", {
  fit <- sampled(control = few(warmup = 200, draws = 400))
  expect_s3_class(fit, c("visits_bernoulli_gibbs", "visits_bernoulli"), exact = FALSE)
  expect_named(fit$trace, c(
    "chain", "iteration", "objective", "log_likelihood", "missed", "presences", "mean[(Intercept)]", "mean[date]",
    "spread[(Intercept)]", "spread[date]"
  ))
  expect_output(print(summary(fit)), "ess_bulk")
  zeros <- false_absences(fit, Inf)
  expect_true(all(zeros$missed_low <= zeros$missed & zeros$missed <= zeros$missed_high))
  expect_equal(attr(zeros, "expected"), mean(fit$trace$missed), tolerance = 0.05)
  rows <- occupied(fit)
  expect_equal(rows$expected, rowMeans(fit$draws$richness), tolerance = 0.1)
  expect_true(all(rows$low >= rows$found & rows$low <= rows$high))
  expect_identical(rows$median, apply(fit$draws$richness, 1, quantile, 0.5, type = 1, names = FALSE))
  expect_true(all(rows$low <= rows$median & rows$median <= rows$high))
  taxa <- occupied(fit, "taxon", level = 0.5)
  expect_true(all(taxa$high - taxa$low <= with(occupied(fit, "taxon"), high - low)))
  map <- quiet(visits_bernoulli(case$visits, 2, detection = ~date, visit_data = given))
  expect_equal(colMeans(fitted(map)), colMeans(fitted(fit)), tolerance = 0.2)
  expect_gt(cor(as.vector(map$param$detection), as.vector(fit$param$detection)), 0.8)
  wide <- confint(fit, level = 0.9)
  expect_identical(dimnames(wide), dimnames(confint(map, level = 0.9)))
  expect_equal(wide[4, ], quantile(fit$draws$detection[2, 2, ], c(0.05, 0.95)), ignore_attr = TRUE)
  expect_equal(sqrt(diag(vcov(fit))), apply(fit$draws$detection, 1:2, sd) |> as.vector(),
    ignore_attr = TRUE)
  bounds <- predict(fit, level = 0.9)
  expect_true(all(bounds$lower <= bounds$mean & bounds$mean <= bounds$upper))
  draws <- posterior_draws(fit, 4)
  expect_length(draws, 4)
  expect_identical(class(draws[[1]])[1], "visits_bernoulli")
  expect_error(logLik(fit), class = "multicause_input_error")
  held <- quiet(cross_validate(
    case$visits, 1, function(x, k, control) {
      visits_bernoulli(x, k, detection = ~date, visit_data = given, estimate = "gibbs", control = few(chains = 1))
    },
    folds = 2
  ))
  expect_true(all(is.finite(held$results$loss)))
})

test_that("the same seed gives the same chains; those of a fit go on", {
  expect_identical(sampled()$trace, sampled()$trace)
  fit <- sampled()
  more <- sampled(start = fit, control = few(warmup = 0))
  expect_identical(nrow(more$trace), 200L)
  expect_false(identical(more$trace, fit$trace))
  prior_start <- sampled(control = few(init = "prior"))
  expect_s3_class(prior_start, "visits_bernoulli_gibbs")
  alone <- sampled(sharing = "none", k = 1)
  expect_named(alone$trace, c("chain", "iteration", "objective", "log_likelihood", "missed", "presences"))
})

test_that("intervals of a plug-in fit are those of independent trials", {
  p <- c(0.2, 0.5, 1, 0)
  count <- rowSums(matrix(rbinom(4 * 20000, 1, rep(p, each = 20000)), 20000))
  share <- tabulate(count, 3) / 20000 # 1, 2 or 3, with 0.4, 0.5, 0.1
  expect_equal(share, c(0.4, 0.5, 0.1), tolerance = 0.05)
  expect_identical(sum_limits(p, 0.89), c(low = 1, median = 2, high = 2))
  expect_identical(sum_limits(p, 0.91), c(low = 1, median = 2, high = 3))
  fit <- quiet(visits_bernoulli(case$visits, 1))
  rows <- occupied(fit)
  expect_true(all(rows$low <= rows$expected + 1 & rows$high >= rows$expected - 1))
  expect_equal(sum(rows$expected), sum(occupied(fit, "taxon")$expected))
})

test_that("an interval of whole numbers is the shortest that holds its share, and no more than it must", {
  limits <- function(mass, interval = 0.9) unname(whole_limits(mass, 3, interval))
  expect_identical(limits(1), c(3, 3, 3))
  # Quantiles would be 3 and 5.
  expect_identical(limits(c(0.06, 0.88, 0.06)), c(3, 4, 4))
  expect_identical(limits(c(0.01, 0.9, 0.09)), c(4, 4, 4))
  # A long tail is cut on its side only.
  tail <- dgeom(0:60, 0.4)
  expect_identical(limits(tail)[c(1, 3)], c(3, 3 + qgeom(0.9, 0.4)))
  set.seed(1)
  for (i in 1:20) {
    mass <- rgamma(12, 0.3)
    mass <- mass / sum(mass)
    pairs <- subset(expand.grid(low = 1:12, high = 1:12), low <= high)
    held <- with(pairs, mapply(function(low, high) sum(mass[low:high]), low, high))
    ok <- held >= 0.9
    width <- with(pairs, high - low)
    best <- pairs[ok & width == min(width[ok]), ]
    at <- limits(mass)[c(1, 3)] - 2
    expect_true(any(best$low == at[1] & best$high == at[2]))
    expect_equal(sum(mass[at[1]:at[2]]), max(held[ok & width == min(width[ok])]))
  }
  fit <- sampled()
  rows <- occupied(fit)
  held <- rowMeans(fit$draws$richness >= rows$low & fit$draws$richness <= rows$high)
  expect_true(all(held >= 0.9))
  ends <- apply(fit$draws$richness, 1, quantile, c(0.05, 0.95), type = 1)
  expect_lt(sum(rows$high - rows$low), sum(ends[2, ] - ends[1, ]))
})

test_that("chains that disagree say on what", {
  expect_warning(
    visits_bernoulli(
      case$visits, 2, detection = ~date, visit_data = given, estimate = "gibbs", rare = 0,
      control = few(warmup = 0, draws = 20, keep = 2, init = "prior")
    ),
    "do not agree \\(R-hat above 1.1\\) on [^\"]+ \\([1-8] of 8 quantities\\)[.] Mean log joint density of each: ",
    class = "multicause_chains_disagree"
  )
})

test_that("what a sampler cannot do is refused", {
  expect_snapshot(error = TRUE, {
    visits_bernoulli(case$visits, 1, estimate = "gibbs", missed_by = "site")
    visits_bernoulli(case$visits, 1, estimate = "gibbs", detection = ~1, added = TRUE)
    sampled(start = list(1))
    sampled(start = sampled(k = 1))
    vcov(sampled(), "all")
    occupied(aspect_bernoulli(matrix(0:1, 4, 4), 1))
  })
})
