skip_on_cran()

case <- detected_table()
given <- list(date = case$date)
site <- data.frame(size = case$size)

detected <- function(..., k = 2, visits = case$visits, detection = ~ date + size, visit_data = given, site_data = site,
                     control = fit_control(n_start = 2)) {
  suppressMessages(suppressWarnings(visits_bernoulli(
    visits, k,
    detection = detection, visit_data = visit_data, site_data = site_data, ..., control = control
  )))
}

design_of <- function(fit) {
  d <- length(fit$detection$terms)
  aperm(array(fit$detection$design, c(d, dim(fit$visits)[c(1, 3)])), c(2, 3, 1))
}

test_that("one iteration equals the reference, with and without shrinkage", {
  set.seed(1)
  # Three blocks of rows, and of columns; three panels of 512 observations of a visit.
  for (many in list(detected_table(three_blocks(16), three_blocks(16)), detected_table(three_blocks(512), 3))) {
    n <- nrow(many$visits)
    m <- ncol(many$visits)
    start <- c(random_start(n, m, 2), list(detection = matrix(rnorm(3 * m, 0, 0.5), 3)))
    run <- function(sharing, control) {
      detected(
        estimate = "ml", sharing = sharing, visits = many$visits, visit_data = many["date"],
        site_data = data.frame(size = many$size), start = start, control = control
      )
    }
    for (sharing in c("none", "partial")) {
      fit <- run(sharing, plain(1))
      basis <- fit$detection$basis
      begin <- list(membership = start$membership, aspects = start$aspects, slopes = solve(basis, start$detection))
      ridge <- if (sharing == "none") rep(0, 3) else rep(1, 3)
      want <- ref_detected_pass(many$visits, begin, design_of(fit), matrix(0, 3, m), ridge)
      expect_equal(unname(fit$param$membership), want$membership, tolerance = 1e-10)
      expect_equal(unname(fit$param$aspects), want$aspects, tolerance = 1e-10)
      expect_equal(unname(fit$param$detection), basis %*% want$slopes, tolerance = 1e-8)
    }
    # Newton's iterations increase the likelihood of all rows and columns, both by their own sums and by those of EM.
    climb <- function(iterations) {
      run("none", fit_control(n_start = 1, max_iter = iterations, tol = 0, algorithm = "newton", accelerate = FALSE))
    }
    fit <- climb(3)
    for (iteration in 1:2) expect_equal(fit$trace$objective[iteration], climb(iteration)$objective[[1]],
      tolerance = 1e-10)
    param <- visit_param(fit)
    loglik <- vapply(seq_len(m), function(j) {
      now <- c(qlogis(param$aspects[, j]), param$slopes[, j])
      ref_detected(now, param$membership, many$visits[, j, ], design_of(fit))
    }, 0)
    expect_equal(fit$objective[[1]], sum(loglik), tolerance = 1e-8)
  }
})

test_that("likelihood, gradient and information are those of the reference", {
  set.seed(2)
  fit <- detected(estimate = "ml", sharing = "none", start = random_start(30, 5, 2), control = plain(3))
  param <- visit_param(fit)
  param$added <- c(0.05, 0, 0.02)
  now <- visits_inform(fit$visits, param, NULL)
  design <- design_of(fit)
  for (j in c(1, 4)) {
    t <- c(qlogis(param$aspects[, j]), param$slopes[, j])
    f <- function(t) ref_detected(t, param$membership, case$visits[, j, ], design, param$added)
    expect_equal(now$value[j], f(t), tolerance = 1e-10)
    h <- 1e-4
    step <- function(e) replace(numeric(5), e, h)
    gradient <- vapply(1:5, function(e) (f(t + step(e)) - f(t - step(e))) / (2 * h), 0)
    hessian <- outer(1:5, 1:5, Vectorize(function(a, b) {
      both <- step(a) + step(b)
      apart <- step(a) - step(b)
      (f(t + both) - f(t + apart) - f(t - apart) + f(t - both)) / (4 * h^2)
    }))
    expect_equal(now$gradient[, j], gradient, tolerance = 1e-5)
    expect_equal(now$information[, , j], -hessian, tolerance = 1e-4)
  }
})

test_that("Newton's steps of a taxon are those of the reference, and end where nothing is to be gained", {
  set.seed(1)
  fit <- detected(start = random_start(30, 5, 2), control = plain(3))
  param <- visit_param(fit, TRUE)
  param$aspects[2, 3] <- 0
  seen <- NULL
  for (turned in c(FALSE, TRUE)) {
    far <- param
    if (turned) far$aspects <- 1 - far$aspects
    far$slopes <- 2 * far$slopes + rnorm(length(far$slopes))
    once <- polish_taxa(fit$visits, far, fit$prior, 1L)
    for (j in c(1, 2, 4, 5)) {
      want <- ref_polish_step(fit$visits, far, fit$prior, j)
      seen <- rbind(seen, c(want$half, want$ridge))
      expect_equal(once$aspects[, j], want$aspects, tolerance = 1e-9)
      expect_equal(once$slopes[, j], want$slopes, tolerance = 1e-9)
    }
    # An aspect at its bound does not move. With a prior the taxon's value is not finite, and the taxon does not move.
    expect_identical(once$slopes[, 3], far$slopes[, 3])
    expect_identical(polish_taxa(fit$visits, far, NULL)$aspects[2, 3], far$aspects[2, 3])
    last <- polish_taxa(fit$visits, far, fit$prior)
    expect_lt(max(abs(visits_inform(fit$visits, last, fit$prior)$gradient[, -3])), 1e-4)
  }
  # Halved steps and ridges occur among them.
  expect_true(any(seen[, 1] > 0) && any(seen[, 2] > 1))
})

test_that("an interrupt while detection is fitted keeps the starts, and the rounds that are done", {
  cell <- check_visits(case$visits)
  settings <- list(
    estimate = "map", prior = check_visit_prior(visits_default_prior("map", FALSE), "map"), missed_by = "model",
    sharing = "partial", added = FALSE, rare = 5
  )
  settings <- suppressMessages(check_detection(~date, cell, list(visit = given), settings))
  problem <- visits_problem(cell, check_data(any_visit(cell), quiet = TRUE), 2L, settings)
  set.seed(1)
  control <- fit_control(n_start = 2, on_interrupt = "keep", progress = FALSE)
  run <- run_starts(problem, control)
  runs <- 0
  most <- Inf
  run_to_end <- checked_run
  bind_in_namespace("checked_run", function(...) {
    runs <<- runs + 1
    if (runs > most) signal_interrupt()
    run_to_end(...)
  })
  fit_until <- function(n, on_interrupt = "keep") {
    runs <<- 0
    most <<- n
    control$on_interrupt <- on_interrupt
    fit_detection(problem, run, control)
  }
  whole <- fit_until(Inf)
  expect_warning(part <- fit_until(2), class = "multicause_interrupted")
  expect_identical(part$run$starts, run$starts)
  expect_identical(part$run$best$outcome$status, "max_iter")
  # Parameters are those of the returned spread: neither its starting value nor its limit.
  problem$settings$share <- part$by$share
  again <- run_start(problem, part$run$best$param, plain(0))$outcome$objective
  expect_identical(part$run$best$outcome$objective, again)
  expect_gt(max(abs(part$by$share$spread - settings$share$spread)), 1e-3)
  expect_gt(max(abs(part$by$share$spread - whole$by$share$spread)), 1e-6)
  expect_warning(none <- fit_until(0), class = "multicause_interrupted")
  expect_identical(none$run$best$param, run$best$param)
  expect_identical(tryCatch(fit_until(0, "stop"), interrupt = function(e) "stopped"), "stopped")
})

# Check against occu() of package unmarked, taxon by taxon: from the fit, Newton's step to the maximum of the plain
# likelihood is less than 1e-4, and its curvature gives the standard errors.
test_that("one component and no sharing maximise the likelihood of each of 20 attributes, with its curvature", {
  large <- detected_table(120, 20)
  fit <- suppressMessages(visits_bernoulli(
    large$visits, 1,
    detection = ~ date + I(date^2) + size, visit_data = list(date = large$date),
    site_data = data.frame(size = large$size), estimate = "ml", sharing = "none",
    control = fit_control(tol = 1e-10, max_iter = 3000)
  ))
  design <- design_of(fit)
  error <- matrix(sqrt(diag(vcov(fit, "all"))), 5)
  to_own <- diag(5)
  to_own[-1, -1] <- fit$detection$basis
  for (j in 1:20) {
    f <- function(t) -ref_detected(t, fit$param$membership, large$visits[, j, ], design)
    t <- c(qlogis(fit$param$aspects[, j]), solve(fit$detection$basis, fit$param$detection[, j]))
    h <- 1e-4
    step <- function(e) replace(numeric(5), e, h)
    gradient <- vapply(1:5, function(e) (f(t + step(e)) - f(t - step(e))) / (2 * h), 0)
    covariance <- solve(optimHess(t, f))
    expect_lt(max(abs(to_own %*% covariance %*% gradient)), 1e-4)
    expect_equal(error[, j], sqrt(diag(to_own %*% covariance %*% t(to_own))), tolerance = 0.01)
  }
  fit <- detected(k = 1, estimate = "ml", sharing = "none", control = fit_control(tol = 1e-10, max_iter = 3000))
  expect_identical(dim(vcov(fit)), c(15L, 15L))
  all <- confint(fit, level = 0.9)
  expect_equal(rowMeans(all), setNames(as.vector(fit$param$detection), rownames(all)))
  expect_equal(unname(confint(fit, "t2", 0.9)), unname(all[4:6, ]))
  expect_equal(confint(fit, "t2:date"), confint(fit)["t2:date", , drop = FALSE])
})

test_that("one species with an intercept alone has the standard errors of an occupancy model", {
  set.seed(8)
  seen <- rbinom(60, 1, 0.6) * matrix(rbinom(180, 1, 0.4), 60)
  fit <- suppressMessages(visits_bernoulli(list(y = seen), k = 1, estimate = "ml", detection = ~1, sharing = "none"))
  presences <- rowSums(seen)
  loss <- function(at) {
    -sum(log(plogis(at[1]) * dbinom(presences, 3, plogis(at[2])) + plogis(-at[1]) * (presences == 0)))
  }
  best <- c(qlogis(fitted(fit)[1L]), fit$param$detection)
  reference <- solve(optimHess(best, loss, control = list(ndeps = c(1e-4, 1e-4))))
  expect_equal(c(vcov(fit)), reference[2, 2], tolerance = 1e-6)
})

test_that("standard errors take in the mean that taxa are shrunk towards", {
  many <- detected_table(60, 12)
  for (formula in list(~date, ~ date + mass)) {
    fit <- suppressMessages(visits_bernoulli(
      many$visits, 1,
      detection = formula, visit_data = list(date = many$date), taxon_data = data.frame(mass = 1:12)
    ))
    by <- fit$detection
    held <- fit
    held$detection$mean_covariance <- NULL
    more <- vcov(fit) - vcov(held)
    # Finite differences: the coefficients at a shifted mean, all else fixed.
    param <- visit_param(fit, TRUE)
    moved <- function(e, by_much) {
      share <- list(mean = replace(by$mean, e, by$mean[e] + by_much), spread = by$spread)
      param$detection <- kernel_detection(by, share)
      as.vector(by$basis %*% polish_taxa(fit$visits, param, fit$prior)$slopes)
    }
    slopes <- vapply(seq_along(by$mean), function(e) (moved(e, 0.01) - moved(e, -0.01)) / 0.02, numeric(24))
    expect_equal(unname(more), slopes %*% by$mean_covariance %*% t(slopes), tolerance = 0.01)
    width <- confint(fit, level = 0.9)
    expect_equal(unname(width[, 2] - width[, 1]), 2 * qnorm(0.95) * unname(sqrt(diag(vcov(fit)))))
  }
})

test_that("coefficients without a finite best value are named", {
  sure <- case$visits
  for (v in 1:3) sure[, "t2", v] <- case$present[, 2] * (case$date[, v] > 0)
  sure[is.na(case$visits)] <- NA
  fit <- function(...) {
    visits_bernoulli(sure, 1, detection = ~date, visit_data = given, control = fit_control(n_start = 1), ...)
  }
  told <- function(expr) paste(capture_messages(expr), collapse = "")
  expect_match(told(fit(estimate = "ml", sharing = "none")), "no finite best value for \"t2\":")
  expect_no_match(told(fit(estimate = "map", sharing = "none")), "no finite")
  expect_no_match(told(fit(estimate = "ml")), "no finite")
})

test_that("the objective never falls, and more threads change nothing", {
  set.seed(3)
  fit <- detected(control = fit_control(n_start = 1))
  expect_true(all(diff(fit$trace$objective) > -1e-8))
  start <- c(random_start(30, 5, 2), list(detection = matrix(0, 3, 5)))
  one <- detected(start = start, control = fit_control(n_threads = 1, max_iter = 30))
  two <- detected(start = start, control = fit_control(n_threads = 2, max_iter = 30))
  expect_identical(one$param, two$param)
})

test_that("fits that a prior keeps off the bounds are not polished", {
  iterations <- function(n_polish, ...) {
    set.seed(1)
    sum(detected(..., control = fit_control(n_start = 2, n_polish = n_polish))$starts$iterations)
  }
  expect_identical(iterations(3), iterations(0))
  expect_identical(iterations(3, communities = ~size), iterations(0, communities = ~size))
  expect_gt(iterations(3, estimate = "ml"), iterations(0, estimate = "ml"))
  expect_gt(iterations(3, prior = list(aspects = c(1, 1), membership = 1)), iterations(0))
  expect_gt(iterations(3, added = TRUE), iterations(0, added = TRUE))
})

test_that("Newton's iterations leave nothing to EM's, and are fewer", {
  tight <- function(algorithm) fit_control(n_start = 1, tol = 1e-11, max_iter = 20000, algorithm = algorithm)
  set.seed(7)
  start <- c(random_start(30, 5, 2), list(detection = matrix(0, 3, 5)))
  for (estimate in c("ml", "map")) {
    run <- function(algorithm, start) {
      detected(estimate = estimate, start = start, sharing = "none", control = tight(algorithm))
    }
    newton <- run("auto", start)
    expect_true(all(diff(newton$trace$objective) > -1e-8))
    expect_lt(nrow(newton$trace), nrow(run("em", start)$trace) / 2)
    more <- run("em", newton$param[c("membership", "aspects", "detection")])
    expect_equal(more$objective, newton$objective, tolerance = 1e-8)
  }
  # With one component there is one optimum.
  one <- function(algorithm) detected(k = 1, sharing = "none", control = tight(algorithm))
  expect_equal(one("newton")$param, one("em")$param, tolerance = 1e-4)
  made <- function(...) detected(control = fit_control(n_start = 1, max_iter = 3, tol = 0, ...))$algorithm
  expect_identical(c(made(), made(algorithm = "em"), made(accelerate = FALSE)), c("newton", "em", "em"))
  adding <- detected(added = TRUE, control = fit_control(n_start = 1, max_iter = 3, algorithm = "newton"))
  expect_identical(adding$algorithm, "em") # no Newton iterations where visits may add
})

test_that("what follows a change of the sharing is at its optimum, memberships too", {
  set.seed(8)
  fit <- detected(control = fit_control(n_start = 2, tol = 1e-10, max_iter = 5000))
  problem <- visits_problem(fit$visits, list(x = fit$x), 2L, list(
    estimate = "map", prior = fit$prior, missed_by = "model", sharing = "partial", added = FALSE,
    by = fit$detection, share = fit$detection[c("mean", "spread")]
  ))
  start <- visit_param(fit, TRUE)[c("membership", "aspects", "slopes", "added")]
  more <- run_start(problem, start, fit_control(max_iter = 500, tol = 1e-12))
  expect_equal(more$outcome$objective, unname(fit$objective), tolerance = 1e-6)
})

test_that("an intercept alone is a rate of each attribute, alike on all visits", {
  visits <- case$visits[-5, , ]
  visits[is.na(visits)] <- 0L
  fit <- suppressMessages(visits_bernoulli(
    visits, 1,
    detection = ~1, estimate = "ml", sharing = "none", control = fit_control(tol = 1e-10, max_iter = 3000)
  ))
  by_visit <- suppressMessages(visits_bernoulli(
    visits, 1,
    detection = ~visit, estimate = "ml", sharing = "none", control = fit_control(tol = 1e-10, max_iter = 3000)
  ))
  rates <- suppressMessages(visits_bernoulli(
    visits, 1,
    missed_by = "taxon", estimate = "ml", control = fit_control(tol = 1e-12, max_iter = 5000)
  ))
  expect_equal(by_visit$loglik, rates$loglik, tolerance = 1e-6)
  expect_equal(unname(visit_missed(by_visit, 2)[1, ]), unname(rates$param$missed[, 2]), tolerance = 1e-3)
  expect_lt(fit$loglik, by_visit$loglik)
  # The scale of a covariate is irrelevant.
  near <- detected(k = 1, estimate = "ml", sharing = "none")
  given$date <<- 1000 * given$date + 7
  far <- detected(k = 1, estimate = "ml", sharing = "none")
  given$date <<- case$date
  expect_equal(far$param$detection[2, ] * 1000, near$param$detection[2, ], tolerance = 1e-4)
  expect_equal(fitted(far), fitted(near), tolerance = 1e-5)
})

test_that("mean and spread among attributes are found, and rare ones borrow from the others", {
  set.seed(4)
  n <- 150
  m <- 40
  date <- matrix(rnorm(n * 3), n)
  slopes <- rbind(rnorm(m, 0, 0.7), rnorm(m, 0.8, 0.4))
  probability <- c(rep(0.03, 8), runif(m - 8, 0.2, 0.9))
  visits <- array(0L, c(n, m, 3))
  present <- matrix(rbinom(n * m, 1, rep(probability, each = n)), n)
  for (v in 1:3) {
    visits[, , v] <- present * rbinom(n * m, 1, plogis(outer(rep(1, n), slopes[1, ]) + outer(date[, v], slopes[2, ])))
  }
  run <- function(sharing) {
    suppressWarnings(suppressMessages(
      visits_bernoulli(visits, 1, detection = ~date, visit_data = list(date = date), sharing = sharing)
    ))
  }
  shared <- run("partial")
  own <- run("none")
  expect_equal(shared$detection$mean, c(0, 0.8), tolerance = 0.35)
  expect_equal(shared$detection$spread, c(0.7, 0.4), tolerance = 0.35)
  off <- function(fit, at) mean((fit$param$detection[, at] - slopes[, at])^2)
  expect_lt(off(shared, 1:8), off(own, 1:8))
  expect_lt(off(shared, 9:40), 1.05 * off(own, 9:40))
  expect_true(all(shared$rare[colSums(shared$x) < 5]))
})

test_that("mean and spread of slopes are those of EM attribute by attribute, with covariates of taxa and without", {
  set.seed(6)
  taxa <- matrix(stats::rnorm(14), 7, dimnames = list(NULL, c("mass", "wing")))
  evidence <- lapply(1:7, function(j) {
    a <- matrix(stats::rnorm(9), 3)
    # Some attributes have no information about a slope, or none at all.
    list(precision = crossprod(a * c(j > 1, j > 2, 1)[row(a)]), shift = if (j > 1) stats::rnorm(3) else numeric(3))
  })
  evidence[[1]]$precision[] <- 0
  for (with in 0:2) {
    taxon <- taxa[, seq_len(with), drop = FALSE]
    by <- list(design = matrix(0, 3, 1), terms = c("date", "(Intercept)", "effort"), taxon = taxon)
    means <- lapply(1:7, function(j) cbind(diag(3), matrix(rep(taxon[j, ], each = 3) * (1:3 == 2), 3)))
    start <- list(mean = numeric(3 + with), spread = c(1, 0.5, 2))
    for (sd in c(1.65, Inf)) {
      got <- update_sharing(evidence, by, start, sd, rounds = 3L)
      want <- ref_sharing(evidence, means, start, if (is.finite(sd)) 1 / sd^2 else 1e-10, 3)
      expect_equal(got, want, tolerance = 1e-8, ignore_attr = TRUE)
    }
  }
})

test_that("a covariate of taxa moves the mean of the intercept", {
  set.seed(5)
  n <- 100
  m <- 30
  mass <- data.frame(mass = rnorm(m, 100, 20))
  visits <- array(0L, c(n, m, 3))
  present <- matrix(rbinom(n * m, 1, 0.6), n)
  probability <- plogis((mass$mass - 100) / 20 + rnorm(m, 0, 0.2))
  for (v in 1:3) visits[, , v] <- present * rbinom(n * m, 1, rep(probability, each = n))
  fit <- suppressMessages(visits_bernoulli(visits, 1, detection = ~mass, taxon_data = mass))
  expect_equal(fit$detection$mean, c(0, 1), tolerance = 0.3)
  expect_lt(fit$detection$spread, 0.5)
  expect_error(
    suppressMessages(visits_bernoulli(visits, 1, detection = ~mass, taxon_data = mass, sharing = "none")),
    "covariates of taxa", class = "multicause_input_error"
  )
})

test_that("verbs take such fits", {
  fit <- detected()
  alike <- suppressWarnings(update(fit, detection = ~1, control = fit_control(max_iter = 2, n_start = 1)))
  expect_match(print_words(alike), "Detection by a visit, if present: mean [0-9.]+, species [0-9.]+ to [0-9.]+[.]")
  expect_output(print(fit), "depends on\\s+~date \\+ size")
  expect_identical(dim(simulate(fit, seed = 1)[[1]]), c(30L, 5L, 3L))
  zeros <- false_absences(fit, Inf)
  expect_equal(zeros$missed, zeros$phantom * zeros$present) # as in the other models of visits
  again <- suppressMessages(suppressWarnings(update(fit, k = 1)))
  expect_identical(again$detection$terms, fit$detection$terms)
  expect_s3_class(by_taxon(fit), "data.frame")
  held <- suppressMessages(suppressWarnings(cross_validate(
    case$visits, 1:2, visits_bernoulli,
    detection = ~ date + size, visit_data = given, site_data = site, folds = 2, control = fit_control(n_start = 1)
  )))
  expect_true(all(is.finite(held$results$loss)))
  expect_identical(names(tidy(fit, matrix = "detection")), c("term", "taxon", "estimate", "std.error"))
})

test_that("what cannot be is refused", {
  run <- function(detection = ~date, ..., visit_data = given) {
    suppressMessages(visits_bernoulli(case$visits, 1, detection = detection, ..., visit_data = visit_data))
  }
  expect_snapshot(error = TRUE, {
    run(~ date + wind)
    run("date")
    run(y ~ date)
    run(visit_data = list(date = case$date[-1, ]))
    run(visit_data = list(date = replace(case$date, 3, NA)))
    run(missed_by = "visit")
    run(~ date * mass, taxon_data = data.frame(mass = 1:5))
    run(~mass, taxon_data = data.frame(mass = 1:4))
    vcov(visits_bernoulli(case$visits, 1, missed_by = "site"))
    confint(run(), "t9")
  })
})

test_that("covariates that would be no number, or one value alone, are refused with what to do", {
  day <- as.Date("2021-05-01") + round(30 * as.vector(case$date))
  long <- data.frame(site = rep(rownames(case$visits), 3), visit = rep(1:3, each = 30), date = day)
  visits <- case$visits
  visits[2, , 2] <- NA
  run <- function(detection = ~date, visit_data = long) {
    suppressMessages(visits_bernoulli(
      visits, 1, detection = detection, visit_data = visit_data, control = fit_control(n_start = 1)
    ))
  }
  refused <- function(expr, text) expect_error(expr, text, class = "multicause_input_error", fixed = TRUE)
  refused(run(), "put the day of the year into the data, as.POSIXlt(date)$yday")
  refused(run(visit_data = transform(long, date = as.POSIXct(date))), "not dates")
  refused(run(visit_data = transform(long, date = as.character(date))), "as.POSIXlt(as.Date(date, format = ))$yday")
  refused(run(visit_data = transform(long, date = format(date, "%d.%m.%y"))), "not dates")
  rounds <- run(visit_data = transform(long, date = factor(c("2021-05-01", "2021-06-01", "2021-07-01")[visit])))
  expect_length(rounds$detection$terms, 3)
  long$day <- as.numeric(day) - min(as.numeric(day), na.rm = TRUE)
  long$observer <- "Ann"
  refused(run(~ day + observer), "Covariate `observer` is \"Ann\" throughout: leave it out of `detection`.")
  refused(run(~ log(day)), "the term log(day), which has no finite value for 1 of 86 visits")
  refused(run(detection ~ day), "presence and detection have a formula each")
  of_taxa <- function(by, ...) visits_bernoulli(visits, 1, detection = by, taxon_data = data.frame(...))
  refused(of_taxa(~guild, guild = rep("a", 5)), "Covariate `guild` is \"a\" throughout")
  refused(of_taxa(~ log(mass), mass = 0:4), "the term log(mass), which has no finite value for 1 of 5 taxa")
  long$visit <- paste0("v", long$visit)
  refused(run(), "`visit` is \"v1\", \"v2\" and 1 more for visits")
})

test_that("a term without a finite value is refused of new visits, and passed over where no visit was", {
  visits <- case$visits
  lag <- ifelse(is.na(case$date), -1, case$date + 1)
  fit <- suppressWarnings(suppressMessages(
    visits_bernoulli(visits, 1, detection = ~ log(lag), visit_data = list(lag = lag))
  ))
  expect_true(all(is.finite(fit$detection$design)))
  expect_identical(fit$detection$design[1, ], rep(1, 90)) # the intercept, also where nothing else is known
  expect_error(
    suppressWarnings(predict(fit, data.frame(lag = c(1, -1)), type = "detection")),
    "Covariates must be finite for log(lag): row 2 is not", class = "multicause_input_error", fixed = TRUE
  )
})

test_that("where no site was visited twice a message says what that means", {
  alone <- case$visits[, , 1, drop = FALSE]
  one <- function(...) visits_bernoulli(alone, 1, ..., rare = 0, control = fit_control(n_start = 1))
  expect_message(fit <- one(detection = ~1), "No site was visited twice")
  expect_match(model_title(fit), "of 1 visit$")
})

test_that("of a taxon that every visit finds, what the data say of detection has a top, and not far away", {
  always <- detected_table()
  always$visits[, 1, ][!is.na(always$visits[, 1, ])] <- 1L
  always$visits[, 2, ][!is.na(always$visits[, 2, ])] <- 0L
  fit <- suppressMessages(suppressWarnings(visits_bernoulli(
    always$visits, 2,
    detection = ~ date + I(date^2), visit_data = list(date = always$date), control = fit_control(n_start = 2)
  )))
  expect_true(all(is.finite(fit$param$detection)) && all(fit$detection$spread < 5))
  evidence <- slope_evidence(fit$visits, visit_param(fit, TRUE), fit$prior)
  slopes <- solve(fit$detection$basis, fit$param$detection)
  for (j in 1:5) {
    curve <- eigen(evidence[[j]]$precision, symmetric = TRUE)
    rise <- evidence[[j]]$shift - evidence[[j]]$precision %*% slopes[, j]
    expect_true(all(curve$values >= -1e-9))
    expect_true(all(abs(crossprod(curve$vectors, rise)) <= 3 * pmax(curve$values, 0) + 1e-8))
  }
})

test_that("occupied() of a mode takes in its standard errors: gradients, and the share of taxa it holds", {
  fit <- detected(k = 2, start = NULL)
  probability <- function(fit) visit_posterior(fit, 1:30)
  odds <- function(fit) qlogis(probability(fit))
  each <- presence_gradients(fit)
  j <- 3
  silent <- rowSums(fit$visits[, j, ] == 1, na.rm = TRUE) == 0
  moved <- function(part, at, by) {
    value <- fit$param[[part]][at, j]
    fit$param[[part]][at, j] <- if (part == "aspects") plogis(qlogis(value) + by) else value + by
    odds(fit)[silent, j]
  }
  h <- 1e-5
  slope <- function(part, at) (moved(part, at, h) - moved(part, at, -h)) / (2 * h)
  numeric <- cbind(slope("aspects", 1), slope("aspects", 2), slope("detection", 1), slope("detection", 2),
    slope("detection", 3))
  expect_equal(each[[j]]$gradient[silent, ], numeric, tolerance = 1e-5, ignore_attr = TRUE)
  # The variance of a taxon's number is that of its presences plus g' V g.
  p <- probability(fit)
  steps <- sum_steps(fit, p, 2L)
  v <- vcov(fit, "all")
  of <- grep(sprintf("^%s:", colnames(fit$param$aspects)[j] %||% j), rownames(v))
  g <- colSums((p[, j] * (1 - p[, j]))[silent] * numeric)
  by_step <- sum((p * (1 - p) * steps)[, j])
  expect_equal(by_step^2, as.vector(g %*% v[of, of] %*% g), tolerance = 1e-4)
  wide <- sum_limits(p[, j], 0.9, steps[, j])
  plain <- sum_limits(p[, j], 0.9, 0 * steps[, j])
  expect_gt(wide[["high"]] - wide[["low"]], plain[["high"]] - plain[["low"]])
  table <- occupied(fit, "taxon")
  expect_equal(c(table$low[j], table$high[j]), unname(wide[c("low", "high")]))
  # Without standard errors, or at a bound, there is no interval.
  rates <- suppressMessages(visits_bernoulli(case$visits, 1, missed_by = "taxon", control = fit_control(n_start = 1)))
  expect_true(all(is.na(occupied(rates)$low)) && all(is.na(occupied(rates, "taxon")$high)))
  expect_output(print(occupied(rates)), "no standard errors")
})

test_that("intervals of the number of sites hold what they should, where plug-in ones held two thirds", {
  held <- vapply(1:6, function(seed) {
    set.seed(seed)
    there <- matrix(rbinom(80 * 20, 1, rep(rbeta(20, 1, 1.5), each = 80)), 80)
    found <- rep(plogis(rnorm(20, -0.5, 0.8)), each = 80)
    visits <- lapply(1:3, function(v) there * rbinom(1600, 1, found))
    keep <- colSums(Reduce(`+`, visits)) > 0
    visits <- lapply(visits, function(x) x[, keep])
    fit <- suppressMessages(visits_bernoulli(visits, 1, detection = ~1, control = fit_control(n_start = 1)))
    table <- occupied(fit, "taxon")
    sites <- colSums(there[, keep])
    plain <- apply(visit_posterior(fit, 1:80), 2, function(p) sum_limits(p, 0.9, 0 * p))
    c(
      taxa = mean((table$low <= sites & sites <= table$high)[!table$bound]),
      plain = mean((plain["low", ] <= sites & sites <= plain["high", ])[!table$bound]),
      sites = mean(with(occupied(fit), low <= rowSums(there) & rowSums(there) <= high))
    )
  }, c(taxa = 0, plain = 0, sites = 0))
  held <- rowMeans(held)
  expect_gt(held[["taxa"]], 0.83)
  expect_lt(held[["plain"]], 0.8)
  expect_gt(held[["sites"]], 0.83)
})

test_that("covariates of taxa are refused where each taxon has its own mean", {
  x <- array(rep_len(c(0, 1, 1, 0, 0), 9 * 5 * 3), c(9, 5, 3),
    list(site = letters[1:9], taxon = LETTERS[1:5], visit = 1:3))
  expect_error(visits_bernoulli(x, 1, detection = ~size, sharing = "none", taxon_data = data.frame(size = 1:5)),
    "`detection` must not have covariates of taxa with `sharing = \"none\"`: each has a mean of its own.",
    fixed = TRUE, class = "multicause_input_error")
})
