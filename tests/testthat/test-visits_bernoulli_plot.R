skip_on_cran()

case <- detected_table()
given <- list(date = case$date, kind = matrix(c("a", "b"), 30, 3))
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
few <- mcmc_control(chains = 2, warmup = 50, draws = 100, keep = 20, progress = FALSE)
fits <- quiet({
  set.seed(1)
  list(
    map = visits_bernoulli(case$visits, 2, detection = ~ date + kind, visit_data = given),
    gibbs = visits_bernoulli(
      case$visits, 2,
      detection = ~ date + kind, visit_data = given, estimate = "gibbs", control = few
    ),
    rates = visits_bernoulli(case$visits, 1, missed_by = "taxon", added = TRUE)
  )
})

test_that("detection of new visits is that of the coefficients, others at their means", {
  new <- data.frame(date = c(-0.5, 0.7))
  b <- fits$map$param$detection
  kind <- names(which.max(table(given$kind[apply(!is.na(case$visits), c(1, 3), any)])))
  want <- plogis(outer(new$date, b["date", ]) + rep(b["(Intercept)", ] + (kind == "b") * b["kindb", ], each = 2))
  expect_equal(unname(predict(fits$map, new, type = "detection")), unname(want), tolerance = 1e-10)
  bounds <- predict(fits$gibbs, new, type = "detection", level = 0.9)
  expect_true(all(bounds$lower <= bounds$mean & bounds$mean <= bounds$upper))
  other <- predict(fits$map, data.frame(date = 0, kind = c("a", "b")), type = "detection")
  expect_equal(qlogis(other[2, ]) - qlogis(other[1, ]), b["kindb", ])
})

test_that("the number of visits needed is that of independent visits", {
  table <- visits_needed(fits$map, 0.9)
  expect_true(all(1 - (1 - table$detection)^table$visits >= 0.9))
  expect_true(all(1 - (1 - table$detection)^(table$visits - 1) < 0.9))
  sampled <- visits_needed(fits$gibbs, newdata = data.frame(date = 1))
  expect_true(all(sampled$low <= sampled$visits & sampled$visits <= sampled$high))
})

test_that("figures are ggplot2 objects of what the tables say", {
  for (fit in fits) {
    for (what in list(NULL, "richness", "sites", "aspects", "structure", "trace")) {
      drawn <- on_paper(plot(fit, what))
      expect_s3_class(drawn, "ggplot")
      expect_true(nzchar(ggplot2::get_alt_text(drawn)))
    }
  }
  # Taxa are counted: no axis label 2.5.
  richness <- occupied(fits$map)
  expect_identical(plot(richness)$data, plot(fits$map, "richness")$data)
  expect_s3_class(plot(head(occupied(fits$map, "taxon"), 3)), "ggplot")
  counts <- ggplot2::layer_scales(plot(fits$map, "richness"))$x$get_breaks()
  expect_identical(counts, round(counts))
  lines <- ggplot2::autoplot(fits$map, "detection", "date")$data
  at <- lines$at == max(lines$at)
  expect_equal(
    lines$probability[at], as.vector(predict(fits$map, data.frame(date = max(lines$at)), type = "detection")),
    ignore_attr = TRUE
  )
  expect_snapshot(error = TRUE, {
    ggplot2::autoplot(fits$rates, "detection")
    predict(fits$map, data.frame(wind = 1), type = "detection")
    predict(fits$map, data.frame(kind = "c"), type = "detection")
    predict(fits$map, data.frame(date = NA), type = "detection")
    predict(fits$map, type = "detection", level = 0.9)
    visits_needed(fits$rates)
    visits_needed(fits$map, newdata = data.frame(date = 1:2))
  })
})

test_that("residuals are of what was found at all; simulated surveys are like the one fitted", {
  present <- fitted(fits$rates)
  silent <- all_visits(fits$rates, 1:30, function(v) visit_missed(fits$rates, v))
  false <- 1 - all_visits(fits$rates, 1:30, function(v) 1 - fits$rates$param$added[v])
  left <- residuals(fits$rates)
  expect_equal(left, fits$rates$x - present * (1 - silent) - (1 - present) * false, ignore_attr = TRUE)
  for (fit in fits) {
    check <- with_seed(1, predictive_check(fit, nsim = 60))
    expect_identical(check, with_seed(1, predictive_check(fit, nsim = 60)))
    expect_true(all(check$p[1:4] > 0.01 & check$p[1:4] < 0.99))
    expect_equal(check$observed[1:3], apply(case$visits, 3, sum, na.rm = TRUE), ignore_attr = TRUE)
  }
  expect_s3_class(glance(fits$gibbs), "data.frame")
  expect_named(augment(fits$gibbs, rows = 1:2)[1:3], c("site", "taxon", "observed"))
})

test_that("what is told of a survey has the user's words for its sides", {
  x <- case$visits
  names(dimnames(x))[1L] <- "plot"
  told <- character()
  fit <- withCallingHandlers(
    visits_bernoulli(x, 1, detection = ~date, visit_data = given, rare = 20, control = fit_control(n_start = 1)),
    message = function(m) {
      told <<- c(told, conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  )
  expect_match(told, "fewer than 20 plots, .* Number of such species", all = FALSE)
  expect_match(told, "^[0-9]+ rows? with nothing observed", all = FALSE)
  printed <- capture.output(print(fit), print(summary(fit)))
  expect_match(printed, "Detection by a visit, if present", all = FALSE)
  expect_match(printed, "30 plots x 5 species", all = FALSE)
  expect_named(occupied(fit), c("site", "found", "expected", "median", "low", "high"))
  expect_identical(occupied(fit, "taxon"), occupied(fit, "taxon"))
  tables <- list(
    "Species per plot: found .*plot +found" = occupied(fit),
    "Plots per species: found .*species +found" = occupied(fit, "taxon"),
    "Visits until a species is found with probability 0.8.*species +detection +visits" = visits_needed(fit, 0.8),
    "species found per plot \\(sd\\).*plots found per species \\(sd\\).*species found at one plot" =
      with_seed(1, predictive_check(fit, nsim = 5))
  )
  for (want in names(tables)) expect_output(print(tables[[want]]), want)
  printed <- c(printed, unlist(lapply(tables, function(table) capture.output(print(table)))))
  expect_no_match(printed, "attribute|observation|taxa\\b|taxon\\b(?!`)|sites", perl = TRUE)
  expect_output(print(occupied(fit), n = 3), "3 of 30; as.data.frame")
  # A table that was put together anew has no words of its own.
  expect_output(print(structure(as.data.frame(occupied(fit))[1:2], class = class(occupied(fit)))), "site +found")
  detection <- ggplot2::autoplot(fit, "detection")
  expect_match(gsub("\n", " ", detection$labels$title), "^Detection of the mean species")
  # Its numbers are the ends of the thick line.
  line <- ggplot2::layer_data(detection, length(detection$layers))$y
  expect_match(gsub("\n", " ", detection$labels$title), sprintf("from %.2f to %.2f$", line[1L], line[length(line)]))
  of_sites <- ggplot2::autoplot(fit, "sites")$labels$title
  expect_match(gsub("\n", " ", of_sites), "^Mean plots per species: [0-9.]+ found, [0-9.]+ estimated$")
  by_site <- quiet(visits_bernoulli(x, 1, missed_by = "site"))
  expect_error(visits_needed(by_site), "misses by plot", class = "multicause_input_error")
})

test_that("zeros of visits are printed without the column that equals another", {
  for (fit in fits) {
    zeros <- false_absences(fit, n = 3)
    expect_identical(zeros$present, zeros$probability)
    expect_no_match(capture.output(print(zeros)), "present", fixed = TRUE)
    expect_output(print(false_absences(fit, n = 3, by = "present")), "probability +present +missed")
  }
})

test_that("sums of a fit to visits have no bound beside what the visits tell", {
  sums <- by_site(fits$gibbs)
  expect_false("most" %in% names(sums))
  expect_match(capture.output(print(sums))[3L], as.character(sums$site[which.max(sums$missed)]), fixed = TRUE)
  expect_no_match(capture.output(print(sums)), "most: the largest number")
})

test_that("a fit with covariates of detection says what visits add, too", {
  set.seed(4)
  x <- array(rbinom(400 * 3, 1, rep(ifelse(rbinom(400, 1, 0.3), 0.7, 0.05), 3)), c(80, 5, 3))
  fit <- quiet(visits_bernoulli(x, 1, detection = ~visit, added = TRUE, control = fit_control(n_start = 1)))
  expect_gt(max(fit$param$added), 0.001)
  expect_match(print_words(summary(fit)),
    "Detection by a visit.*An absence is reported as present by visit 1 with probability")
})
