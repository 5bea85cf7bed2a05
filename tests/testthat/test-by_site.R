# Sums of undetected presences: R/by_site.R.

sums_by <- list(taxon = by_taxon, site = by_site)

test_that("what is missed adds up, by attribute and by observation", {
  case <- small_fit()
  all_zeros <- false_absences(case$fit, n = Inf)
  for (by in names(sums_by)) {
    got <- sums_by[[by]](case$fit)
    expect_s3_class(got, c("which_zeros_sums", "data.frame"))
    expect_named(got, c(by, "presences", "zeros", "missed", "most", "share"))
    expect_equal(got$missed, as.vector(tapply(all_zeros$missed, all_zeros[[by]], sum)[got[[by]]]))
    ones <- if (by == "taxon") colSums(case$x) else rowSums(case$x)
    expect_identical(got[[by]], label_of(seq_along(ones), case$fit$names[[if (by == "site") 1L else 2L]]))
    expect_equal(got$presences, unname(ones))
    expect_equal(got$share, got$missed / (got$missed + got$presences))
  }
})

test_that("some sites, and zeros that can be false, are summed alone", {
  case <- small_fit()
  within <- matrix(rep_len(c(TRUE, FALSE, TRUE), length(case$x)), nrow(case$x))
  cells <- false_absences(case$fit, n = Inf, site = 2:5, within = within)
  for (by in names(sums_by)) {
    got <- sums_by[[by]](case$fit, site = 2:5, within = within)
    here <- factor(cells[[by]], got[[by]])
    expect_equal(got$missed, as.vector(tapply(cells$missed, here, sum, default = 0)))
    expect_equal(got$zeros, as.vector(table(here)))
    expect_equal(sum(got$presences), sum(case$x[2:5, ]))
    most <- as.vector(tapply(cells$missed_most, here, sum, default = 0))
    expect_equal(got$most, most)
  }
  expect_identical(got$site, label_of(2:5, case$fit$names[[1L]]))
  half <- by_site(case$fit, groups = rep_len(c("a", "b"), nrow(case$x)), site = 2:5, within = within)
  expect_equal(half$missed, as.vector(tapply(got$missed, c("b", "a", "b", "a"), sum)))
  wish <- "`within` must be a logical matrix"
  expect_error(by_taxon(case$fit, within = TRUE), wish, class = "multicause_input_error")
})

test_that("it finds planted losses", {
  truth <- planted(240, 60)
  set.seed(4)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "ml")
  sites <- by_site(fit)
  i <- match(sites$site, rownames(truth$x))
  lost <- rowSums(truth$lives - truth$x)[i] / rowSums(truth$lives)[i]
  expect_gt(cor(sites$share, lost), 0.99)
  expect_equal(sum(sites$missed), sum(truth$lives - truth$x), tolerance = 0.02)
})

test_that("unknown cells count nowhere; without presences and zeros there is no share", {
  x <- rbind(c(1, 0, NA), c(0, 1, NA), c(0, 0, NA))
  fit <- fit_with(x, matrix(c(0.7, 0.3), 3, 2, byrow = TRUE), rbind(c(0.5, 0.6, 0.5), 0))
  got <- by_taxon(fit)
  expect_equal(got$taxon[3], 3L)
  expect_equal(unlist(got[3, c("presences", "zeros", "missed")]), c(presences = 0, zeros = 0, missed = 0))
  expect_true(is.na(got$share[3]))
  expect_equal(sum(by_site(fit)$zeros), 4L)
  expect_output(print(got), "Undetected presences per taxon")
})

test_that("without a white phantom nothing is missed, and that is said", {
  fit <- aspect_bernoulli(planted(20, 6)$x, 1)
  expect_message(got <- by_taxon(fit), "no white phantom")
  expect_equal(got$missed, rep(0, 6))
})

test_that("the print sums up", {
  case <- mixed_fit(c("content", "content", "white"), named = TRUE)
  expect_snapshot(print(by_taxon(case$fit), n = 3))
})

test_that("draws of a posterior give intervals, the same each time, and leave the session's numbers alone", {
  set.seed(6)
  truth <- planted(60, 20)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "vb", phantom = "white", control = fit_control(n_start = 3))
  set.seed(8)
  before <- .Random.seed
  for (by in names(sums_by)) {
    got <- sums_by[[by]](fit)
    expect_true(all(got$low <= got$missed & got$missed <= got$high & got$high <= got$zeros + 3))
    expect_equal(got$share_low, got$low / (got$low + got$presences))
    expect_identical(sums_by[[by]](fit), got)
    expect_named(sums_by[[by]](fit, draws = 0), c(by, "presences", "zeros", "missed", "most", "share"))
  }
  expect_identical(.Random.seed, before)
  # Computed by hand: means of draws, and the randomness of the number.
  draws <- with_seed(1, posterior_draws(fit, 100))
  missed <- vapply(draws, function(draw) {
    cells <- false_absences(draw, n = Inf)
    sum(cells$missed[cells$taxon == colnames(truth$x)[1]])
  }, 0)
  row <- by_taxon(fit, draws = draws)
  row <- row[row$taxon == colnames(truth$x)[1], ]
  expect_true(row$low <= quantile(missed, 0.25) && row$high >= quantile(missed, 0.75))
  wide <- by_taxon(fit, level = 0.99)
  expect_true(all(wide$high >= by_taxon(fit)$high & wide$low <= by_taxon(fit)$low))
  expect_output(print(wide), "99 %\\s+intervals")
  plain <- aspect_bernoulli(truth$x, 3, control = fit_control(n_start = 2))
  expect_error(by_taxon(plain, draws = 5), "`draws`", class = "multicause_input_error")
  expect_error(by_taxon(plain, draws = list(1)), "`draws`", class = "multicause_input_error")
  chains <- mcmc_control(chains = 2, warmup = 50, draws = 60, keep = 20, progress = FALSE)
  sampled <- suppressWarnings(aspect_bernoulli(truth$x, 3, estimate = "gibbs", phantom = "white", control = chains))
  expect_true(all(c("low", "high", "share_low", "share_high") %in% names(by_taxon(sampled))))
  ages <- age_profile(sampled, seq_len(60), of = "site")$aspects
  expect_true(all(ages$median_low <= ages$median_high))
  expect_null(age_profile(plain, seq_len(60), of = "site")$aspects$median_low)
})

test_that("the total's ends are of the same draws, by site or by taxon", {
  set.seed(6)
  truth <- planted(60, 20)
  fit <- aspect_bernoulli(truth$x, 3, estimate = "vb", phantom = "white", control = fit_control(n_start = 3))
  draws <- with_seed(1L, posterior_draws(fit, 100))
  total <- vapply(draws, function(draw) sum(false_absences(draw, Inf, kinds = phantoms(fit)$kind)$missed), 0)
  for (by in names(sums_by)) {
    got <- sums_by[[by]](fit)
    ends <- attr(got, "total")
    expect_lt(ends[1], sum(got$missed))
    expect_gt(ends[2], sum(got$missed))
    expect_lt(ends[1], quantile(total, 0.1)) # wider than the draws of probabilities
    expect_gt(ends[2], quantile(total, 0.9))
    expect_output(print(got), "In all: [0-9 ]+ to [0-9 ]+ \\(90 % interval\\)")
  }
})

test_that("by_site(), by_taxon() and contrast() sum a fit's draws", {
  fits <- fits_of_all()
  fit <- fits$aspect_bernoulli
  draws <- with_seed(1, bootstrap_draws(fit, 30))
  for (side in 1:2) {
    sums <- sums_by[[c("site", "taxon")[side]]](fit, draws = draws)
    drawn <- missed_draws(
      lapply(draws, function(draw) list(fit = draw, kinds = draw_kinds(draw, component_kinds(fit, NULL)))), fit$x,
      c("site", "taxon")[side]
    )
    ends <- apply(pmax(drawn, 0), 1L, quantile, c(0.05, 0.95))
    expect_equal(sums$low, pmin(ends[1L, ], sums$missed))
    # Ranges end at the bound, if there is one.
    expect_equal(sums$high, pmin(pmax(ends[2L, ], sums$missed), pmax(sums$most, sums$missed)))
    expect_equal(sums$share_high, sums$high / (sums$high + sums$presences))
    cells <- false_absences(fit, Inf)
    most <- tapply(cells$missed_most, cells[[c("site", "taxon")[side]]], sum)
    expect_equal(sums$most, as.vector(most[as.character(sums[[1]])]))
  }
  groups <- rep(c("old", "young"), each = 10)
  both <- by_site(fit, groups = groups, draws = draws)
  expect_setequal(both$group, groups)
  expect_equal(sum(both$missed), sum(by_taxon(fit)$missed))
  differ <- contrast(fit, groups, of = "missed", draws = draws)
  expect_equal(differ$difference, both$missed[both$group == "old"] - both$missed[both$group == "young"])
  expect_true(differ$low <= differ$difference && differ$difference <= differ$high)
  expect_output(print(both), "if the phantom is")
  expect_null(by_site(fit)$low)
  expect_output(print(by_site(fit)), "Undetected presences per site")
  expect_error(contrast(fit, groups), "bootstrap_draws", class = "multicause_input_error")
  expect_error(by_site(fits$plsa), "phantoms", class = "multicause_input_error")
  expect_error(contrast(fits$nmf, groups), "phantoms", class = "multicause_input_error")
  expect_error(by_taxon(fit$x), "which_zeros", class = "multicause_input_error")
})

test_that("sums have the names of their rows, and parts of them are drawn", {
  truth <- planted(30, 8)
  set.seed(1)
  fit <- aspect_bernoulli(truth$x, 3, phantom = "white", control = fit_control(n_start = 2, progress = FALSE))
  sums <- by_site(fit)
  expect_identical(rownames(sums), as.character(sums$site))
  last <- as.character(sums$site[30L])
  expect_equal(sums[last, "missed"], sums$missed[30L])
  expect_identical(by_site(fit, site = c(2, 9))["site9", "missed"], sums["site9", "missed"])
  expect_identical(rownames(by_site(fit, groups = rep(c("old", "young"), 15))), c("old", "young"))
  # Without draws there are no ranges.
  for (part in list(sums, sums[3:5, ], head(sums, 2), subset(sums, missed > 0))) expect_s3_class(plot(part), "ggplot")
  expect_error(plot(sums[0, ]), "must hold a row to draw", class = "multicause_input_error")
  expect_error(plot(sums[c("site", "zeros")]), "lacks \"missed\", \"presences\"", class = "multicause_input_error")
  expect_output(print(sums, digits = 4), sprintf("%.4f", max(sums$share)), fixed = TRUE)
})

test_that("sums of an answer are those of its cells, whatever is in memory at a time", {
  x <- simulated_sites$x[1:40, ]
  w <- suppressMessages(which_zeros(x, age = 40:1, series = TRUE, quick = TRUE, seed = 1))
  expect_gt(length(w$gaps), 0L)
  all <- as.data.frame(w)
  whole <- list(by_site(w), by_taxon(w), zero_states(w, 0.5), missed_inside(w))
  bind_in_namespace("cells_at_a_time", 3 * 40)
  expect_equal(list(by_site(w), by_taxon(w), zero_states(w, 0.5), missed_inside(w)), whole, tolerance = 1e-12)
  sums <- tapply(all$missed, factor(all$site, rownames(x)), sum, default = 0)
  expect_equal(by_site(w)$missed, as.vector(sums), tolerance = 1e-12)
  expect_equal(by_taxon(w)$zeros, as.vector(table(factor(all$taxon, colnames(x)))))
  for (by in c("probability", "missed")) for (n in c(1, 7, 300)) {
    expect_identical(as.data.frame(w, n = n, by = by), utils::head(as.data.frame(w, by = by), n))
  }
})

test_that("sums are of the expected numbers of zeros, without the ranges of single ones", {
  x <- simulated_sites$x[1:60, ]
  age <- cbind(seq_len(60) + 1, seq_len(60))
  same <- function(w) {
    all <- wz_missed(w)
    some <- NULL
    scan_zeros(w, function(cells) some <<- rbind(some, cells), c(1L, 3L))
    expect_equal(
      some[c("row", "column", "missed")], all[all$column %in% c(1L, 3L), c("row", "column", "missed")],
      ignore_attr = TRUE
    )
    bind_in_namespace("missed_numbers", function(...) stop("no ranges"))
    expect_equal(by_site(w)$missed, as.vector(tapply(all$missed, factor(all$row, 1:60), sum, default = 0)))
  }
  same(which_zeros(x, quick = TRUE, seed = 1))
  same(which_zeros(x, completeness = seq(0.3, 0.8, length.out = 60), quick = TRUE, seed = 1))
  same(quietly(which_zeros(x, age = age, series = TRUE, quick = TRUE, seed = 1)))
})

test_that("ends of many rows of draws are those of each, without a call for each", {
  draws <- with_seed(1, rbind(matrix(rpois(41 * 30, 3), 41), rnorm(30)))
  ends <- lapply(c(0.5, 0.8, 0.9), function(level) t(apply(draws, 1L, central_range, level)))
  bind_in_namespace("central_range", function(...) stop("one at a time"))
  bind_in_namespace("cells_at_a_time", 90)
  expect_identical(lapply(c(0.5, 0.8, 0.9), function(level) ends_of_draws(draws, level)), ends)
  expect_identical(ends_of_draws(draws[42, , drop = FALSE]), ends[[3L]][42, , drop = FALSE])
  expect_identical(ends_of_draws(draws[0, ]), matrix(0, 0, 2))
})

test_that("sums of a table without content, and of few zeros, stay within what can be", {
  set.seed(72)
  x <- matrix(1, 12, 6)
  x[cbind(c(1, 4, 7), c(2, 3, 3))] <- 0
  sums <- by_site(suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, estimate = "vb", phantom = "white"))))
  expect_lte(attr(sums, "total")[2], 3)
  set.seed(1)
  x <- matrix(rbinom(72, 1, 0.5), 12)
  x[cbind(1:5, 1:5)] <- NA
  fit <- suppressMessages(suppressWarnings(aspect_bernoulli(x, 2, estimate = "vb", prior = "eb", phantom = "white")))
  if (!any(phantoms(fit)$kind == "content")) expect_true(all(is.na(by_site(fit)$missed)))
  one <- suppressMessages(aspect_bernoulli(matrix(rbinom(12, 1, 0.5)), 1, estimate = "vb"))
  expect_identical(nrow(confint(one)), 1L)
})

test_that("the figure of groups names the one with most, and the level that was asked for", {
  w <- suppressMessages(which_zeros(early_tetrapods$x, quick = TRUE, seed = 1))
  sums <- by_site(w, groups = cut(early_tetrapods$sites$age, 3))
  figure <- ggplot2::autoplot(sums)
  most <- as.character(sums$group[which.max(sums$missed)])
  expect_true(startsWith(gsub("\n", " ", figure$labels$title), most))
  expect_no_match(figure$labels$subtitle, "on top")
  expect_no_match(paste(utils::capture.output(print(sums, n = 1)), collapse = " "), "most undetected first")
  none <- suppressMessages(which_zeros(simulated_sites$x[1:9, ], quick = TRUE, seed = 1))
  expect_error(plot(by_site(none)), "no numbers of undetected presences", class = "multicause_input_error")
})

test_that("a fit without a phantom of absences is told", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, phantom = "black", control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  expect_message(by_site(fit), "The fit has no white phantom: nothing is expected to be missed.", fixed = TRUE,
    class = "multicause_message")
})
