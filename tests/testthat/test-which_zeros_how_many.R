# Numbers of undetected presences: the rules one by one, against the slow versions of helper-reference.R, and on tables
# with known truth. Tests R/which_zeros_how_many.R, R/which_zeros_foreseen.R, R/which_zeros_evidence.R.

skip_on_cran()

x <- simulated_sites$x[1:60, ]
ask <- function(...) suppressMessages(which_zeros(..., quick = TRUE, seed = 1))

test_that("probabilities are calibrated over presences and zeros alike", {
  set.seed(1)
  eta <- rnorm(20000, -2, 2)
  find <- rbinom(20000, 1, plogis(0.4 + 0.7 * eta)) == 1
  hidden <- sample(eta[find], sum(find) / 5)
  line <- calibrate_probabilities(log_odds_bins(eta[!find]), hidden, sum(find))
  expect_equal(line, c(0.4, 0.7), tolerance = 0.1)
  # The probabilities of all cells sum to the presences.
  whole <- calibrate_probabilities(log_odds_bins(eta[!find]), eta[find], sum(find))
  expect_equal(sum(plogis(whole[1L] + whole[2L] * eta)), sum(find), tolerance = 1e-4)
  # If learners are wrong, their order is kept.
  wrong <- calibrate_probabilities(log_odds_bins(eta[find]), eta[!find], 100)
  expect_identical(wrong[2L], least_slope)
})

test_that("no cell knows its own value where finds are foreseen", {
  set.seed(3)
  for (unknown in c(FALSE, TRUE)) {
    x <- matrix(rbinom(3000, 1, outer(runif(60), runif(50))), 60)
    x[1:2, ] <- 0 # empty sites
    if (unknown) x[cbind(5:9, 2:6)] <- NA
    near <- smooth_over(age = 60:1)
    near$bandwidth <- 4
    near$most <- 500L
    scores <- function(x) {
      fair_scores(nbm_table(x), match_smooth(near, x))
    }
    before <- scores(x)
    for (cell in sample(which(!is.na(x) & row(x) > 2), 12)) {
      flipped <- x
      flipped[cell] <- 1 - x[cell]
      after <- scores(flipped)
      # Only the density of the table depends on it, through one of 3 000 cells.
      for (each in seq_along(before)) expect_lt(abs(after[[each]][cell] - before[[each]][cell]), 0.02)
    }
  }
})

test_that("companions are those of the other presences and the other sites", {
  set.seed(4)
  x <- matrix(rbinom(120, 1, 0.4), 12)
  table <- nbm_table(x)
  p <- matrix(fair_companions(table), 12)
  for (cell in c(3, 40, 77, 110)) {
    i <- (cell - 1L) %% 12L + 1L
    j <- (cell - 1L) %/% 12L + 1L
    mean <- (sum(x[-i, j]) + 0.2) / (11 + 0.4)
    others <- setdiff(which(x[i, ] == 1), j)
    share <- vapply(others, function(k) (sum(x[-i, j] * x[-i, k]) + mean) / (max(sum(x[-i, k]), 0.5) + 1), 0)
    expect_equal(p[i, j], (sum(share) + mean) / (length(others) + 1))
  }
})

test_that("presences of a table that repeats itself are predicted, those of noise as often as they are", {
  set.seed(5)
  clear <- outer(rep(1:3, 20), rep(1:3, 8), "==") * 1
  clear[cbind(1:20, 1:20)] <- 1 - clear[cbind(1:20, 1:20)]
  expect_gt(predictability(clear, NULL)$kappa, 0.9)
  noise <- matrix(rbinom(3000, 1, 0.2), 60)
  expect_equal(predictability(noise, NULL)$kappa, 0.2, tolerance = 0.15)
  sparse <- Matrix::Matrix(clear, sparse = TRUE)
  expect_equal(predictability(as(sparse, "dgCMatrix"), NULL), predictability(clear, NULL))
})

test_that("taxa found nearly everywhere are left out of kappa and of the presences, not out of the lists", {
  set.seed(5)
  noise <- matrix(rbinom(3000, 1, 0.2), 60)
  everywhere <- matrix(1, 60, 20)
  everywhere[cbind(1:20, 1:20)] <- 0 # at 59 of 60 sites
  both <- predictability(cbind(noise, everywhere), NULL)
  expect_equal(both$presences, sum(noise))
  expect_equal(both$kappa, predictability(noise, NULL)$kappa, tolerance = 0.2)
  part <- cbind(noise, replace(everywhere, 1:6, NA)) # of known cells
  expect_equal(predictability(part, NULL)$presences, sum(noise))
  expect_identical(predictability(everywhere, NULL), list(kappa = 1, presences = 0))
  fourth <- cbind(noise, rep(1:0, c(56, 4)))
  expect_equal(predictability(fourth, NULL)$presences, sum(noise) + 56)
})

test_that("the curve is that of ?how_many, and no more than all zeros can be found", {
  known <- list(kappa = 0.455, presences = 200)
  curve <- surveys_curve(known, 1e6, c(1, 2, 4, 8, 3))
  expect_equal(curve$missed[1:4], 100 * c(0.84, 1.36, 2.06, 2.87))
  expect_equal(curve$missed[5], 100 * exp(log(1.36) + log(2.06 / 1.36) * log(1.5) / log(2)))
  expect_equal(curve$high / curve$missed, rep(1.75, 5))
  expect_equal(curve$missed / curve$unlike_low, rep(2.8, 5))
  expect_equal(total_by_surveys(known), c(missed = 136, low = 136 / 1.75, high = 136 * 1.75))
  expect_identical(surveys_curve(known, 90)$high, rep(90, 4))
  expect_identical(surveys_curve(list(kappa = 0.95, presences = 200), 90)$missed, numeric(4))
})

test_that("no number is given where nothing is known", {
  good <- data.frame(auc = 0.8, auc_se = 0.02)
  expect_null(no_number(good, 100, c(10, 10)))
  expect_match(no_number(good, 1000, c(10, 9)), "has only 9 of the 10 taxa that are needed")
  expect_match(no_number(good, 1000, c(9, 10)), "has only 9 of the 10 sites that are needed")
  expect_match(no_number(good, 99, c(10, 10)), "has only 99 of the 100 presences that are needed")
  set.seed(1)
  small <- matrix(rbinom(48, 1, 0.5), 6, dimnames = list(plot = NULL, genus = NULL))
  small[cbind(c(1:6, 1:2), 1:8)] <- 1L
  w <- ask(small)
  said <- gsub("\\s+", " ", paste(capture.output(print(w)), collapse = " "))
  expect_match(said, sprintf(paste(
    "because the table has only 6 of the 10 plots, 8 of the 10 genera and %d of the 100 presences that are needed.",
    "More data may allow one, and so may repeated visits in `visits` or a known `completeness`."
  ), sum(small)), fixed = TRUE)
  expect_match(no_number(data.frame(auc = 0.63, auc_se = 0.02), 1000, c(50, 50)), "AUC less 1.645 SE")
  expect_match(no_number(data.frame(auc = NA_real_, auc_se = NA_real_), 1000, c(50, 50)), "AUC")
  for (seed in 1:3) {
    set.seed(seed)
    tosses <- ask(matrix(rbinom(2000, 1, 0.5), 50))
    expect_match(tosses$reason, "presences of the taxa are not surely predicted")
  }
  expect_null(ggplot2::autoplot(explain(tosses, 1, which(tosses$x[1, ] == 0)[1]))$labels$subtitle)
  expect_true(all(is.na(tosses$total)))
  expect_true(all(is.na(as.data.frame(tosses)[c("missed", "missed_low", "missed_high")])))
  expect_false(anyNA(as.data.frame(tosses)$probability))
  expect_output(print(tosses), "No number of undetected presences is estimated, because")
  expect_match(format(tosses)[["missed"]], "No number")
  expect_true(all(is.na(by_site(tosses)$missed)))
  expect_output(print(by_taxon(tosses), n = 2), "not estimated, because")
  for (verb in list(
    function(w) plot(w, "heat"), function(w) plot(w, "more"), function(w) sensitivity(w),
    function(w) contrast(w, rep(1:2, 25)), function(w) explore(w)
  )) {
    expect_error(verb(tosses), "no number of undetected presences", class = "multicause_input_error")
  }
  expect_s3_class(ggplot2::autoplot(tosses), "ggplot")
  # A known completeness gives a number.
  expect_false(anyNA(ask(matrix(rbinom(2000, 1, 0.5), 50), completeness = 0.7)$total))
})

test_that("sites that repeat each other are warned of, others are not", {
  table <- unname(early_tetrapods$x)
  expect_lt(repeated_share(table), 0.25)
  expect_warning(
    twice <- ask(rbind(table, table)), "repeat the list of another site", class = "multicause_repeated_sites"
  )
  expect_match(twice$reason, "^the sites predict each other too well \\(predictability 0\\.9")
  expect_true(all(is.na(twice$total)))
  expect_null(nothing_missed(0.9, usual_ratio))
  expect_identical(repeated_share(table[1:19, ]), NA_real_)
  set.seed(1)
  often <- matrix(rbinom(4000, 1, 0.9), 500) == 1
  expect_lt(abs(repeated_share(often)), 0.1) # of 8 taxa many lists are equal by chance
  drawn <- independent_rows(often)
  expect_identical(tabulate(rowSums(drawn), 8L), tabulate(rowSums(often), 8L))
  expect_lt(max(abs(colMeans(drawn) - colMeans(often))), 0.08) # six standard errors
})

test_that("Chao's bound, shrunk, is what it says", {
  counts <- cbind(c(1, 1, 1, 2, 0), c(2, 2, 0, 5, NA), c(0, 0, 1, 0, 0))
  expect_equal(chao_shrunk(met_by_taxon(counts)), reference_chao_shrunk(counts))
  expect_equal(total_by_counts(counts)[["missed"]], sum(reference_chao_shrunk(counts)))
  set.seed(1)
  cell <- array(rbinom(240, 1, 0.3), c(10, 8, 3))
  times <- t(apply(cell, 1:2, sum)) # sites as columns
  expect_equal(total_by_chao(cell)[["missed"]], sum(reference_chao_shrunk(times)))
})

test_that("one ratio shares a total out, over the table and by site", {
  set.seed(1)
  eta <- matrix(rnorm(4000, -2, 2), 40)
  zero <- matrix(runif(4000) < 0.9, 40)
  zero[2, ] <- FALSE
  bins <- log_odds_bins(eta[zero])
  for (total in c(1, 300, 3000)) {
    expect_equal(sum(plogis(eta[zero] + log_ratio_of(bins, total))), total, tolerance = 1e-4)
  }
  expect_identical(log_ratio_of(bins, 0), -Inf)
  expect_equal(sum(plogis(eta[zero] + log_ratio_of(bins, 1e6))), 0.95 * sum(zero), tolerance = 1e-4)
  wanted <- seq(0, 39)
  ratio <- log_ratio_of_rows(eta, zero, wanted)
  expect_equal(rowSums(plogis(eta + ratio) * zero), replace(wanted, 2, 0))
  numbers <- missed_numbers(plogis(eta[1, ]), rep(0.5, 100), matrix(c(0.5, 0, 1), 100, 3, byrow = TRUE), 0.8)
  expect_equal(numbers$missed, plogis(0.8 * eta[1, ] + 0.5))
  expect_equal(numbers$missed_low, pmin(plogis(0.8 * (eta[1, ] - 1.645 * 0.5)), numbers$missed))
  expect_equal(numbers$missed_high, plogis(0.8 * (eta[1, ] + 1.645 * 0.5) + 1))
  expect_true(in_order(0, numbers$missed_low, numbers$missed, numbers$missed_high, 1))
  none <- missed_numbers(0.4, 0.1, matrix(c(0, -Inf, 1), 1))
  expect_identical(none$missed_low, 0)
})

test_that("sums hold their totals, and draws scatter about them", {
  set.seed(1)
  missed <- matrix(runif(600, 0, 0.4), 30)
  relative <- matrix(c(0.5, 1, 1.5), 1, 2000 * 3)
  drawn <- draw_sums(missed, 0 * missed, relative)
  expect_equal(rowMeans(drawn$sites), rowSums(missed), tolerance = 0.05)
  expect_equal(rowMeans(drawn$taxa), colSums(missed), tolerance = 0.05)
  cv <- apply(drawn$taxa[, relative == 1], 1, sd) / colSums(missed)
  expect_equal(mean(cv), sqrt(0.25^2 + 1 / mean(colSums(missed))), tolerance = 0.05)
  gaps <- 0 * missed
  gaps[1, ] <- 1
  expect_true(all(draw_sums(0 * missed, gaps, relative)$sites[1, ] == 20))
})

test_that("evidence is taken in order, and what else there is stands beside it", {
  w <- ask(x)
  expect_identical(w$source, "curve")
  expect_identical(rownames(w$how_many), "curve")
  expect_equal(sum(as.data.frame(w)$missed), w$more$missed[w$more$surveys == 2], tolerance = 1e-4)
  counts <- x * rbinom(length(x), 3, 0.4)
  said <- function(x) tryCatch(counted_data(x), multicause_message = conditionMessage)
  expect_match(said(counts), "holds counts, up to 3: .* If these are classes, such as of cover")
  expect_no_match(said(11 * counts), "classes")
  expect_error(ask(replace(x, 1, 9)), "0, 1 or NA", class = "multicause_input_error")
  counted <- ask(counts)
  expect_identical(rownames(counted$how_many), c("curve", "counts"))
  expect_equal(counted$how_many["counts", "high"] / counted$how_many["counts", "missed"], 3.6)
  expect_identical(counted$probability, ask(1 * (counts > 0))$probability)
  known <- ask(counts, completeness = 0.7)
  expect_identical(rownames(known$how_many), c("completeness", "counts"))
  expect_null(known$more)
  expect_identical(ask(x, assume = "phantom")$source, "phantom")
  expect_error(ask(x, assume = "phantom", completeness = 1), "Only one of", class = "multicause_input_error")
  expect_error(ask(x, assume = "effort"), "`assume`", class = "multicause_input_error")
  expect_output(print(counted), "Chao's estimate, from counts")
  expect_match(format(counted)[["other"]], "Other evidence, which estimates another quantity")
})

test_that("sites of a group are samples of its fauna", {
  set.seed(2)
  group <- rep(sprintf("g%02d", 1:12), each = 5)
  w <- ask(x, age = 60:1, groups = group)
  expect_identical(w$dims, c(n = 12L, m = 40L))
  expect_identical(w$names[[1L]], sprintf("g%02d", 1:12))
  found <- rowsum(x, group)
  expect_identical(is.na(w$probability), found > 0 | rep(colSums(found) == 0, each = 12)) # or found nowhere
  expect_equal(w$total[["missed"]], sum(reference_chao_shrunk(cbind(t(found)))), tolerance = 1e-4)
  expect_equal(answer_ages(w), tapply(60:1, group, mean), ignore_attr = TRUE)
  expect_output(print(w, n = 0), "at none of a group's sites, by Chao")
  expect_match(format(w)[["table"]], "^12 groups x 40 taxa, [0-9 ]+ presences, [0-9 ]+ zeros$")
  known <- structure(x, sites = data.frame(formation = group, row.names = rownames(x)))
  expect_identical(ask(known, age = 60:1, groups = "formation")$total, w$total)
  expect_error(ask(known, groups = "member"), "has no \"member\"", class = "multicause_input_error")
  rules <- ask(x, age = 60:1, groups = list(age = 6))
  expect_identical(rules$dims[["n"]], 11L)
  expect_identical(update(w, seed = 2)$dims, w$dims)
  expect_error(ask(x, groups = rep(1:2, 30)), "at least 5 groups", class = "multicause_input_error")
  expect_error(ask(x, groups = "formation"), "no site table", class = "multicause_input_error")
  expect_error(ask(x, groups = 1:60), "two sites", class = "multicause_input_error")
  expect_error(ask(x, groups = list(age = 6)), "needs `age`", class = "multicause_input_error")
  expect_error(ask(x, age = 1:60, groups = list(age = 0)), "width above 0", class = "multicause_input_error")
  expect_error(ask(x, groups = list(depth = 1)), "widths `age` and `place`", class = "multicause_input_error")
})

test_that("in a series a taxon found before and after was there", {
  bins <- x[seq(1, 60, 2), ]
  w <- ask(bins, age = 30:1, series = TRUE)
  gaps <- range_through(bins, 30:1)
  expect_gt(w$total[["missed"]], sum(gaps))
  expect_gt(w$total[["low"]], sum(gaps))
  expect_gt(w$total[["high"]], w$total[["missed"]])
  # Elsewhere, as many as the two surveys find there.
  cells <- as.data.frame(ask(bins, age = 30:1))
  elsewhere <- !gaps[cbind(match(cells$site, rownames(bins)), match(cells$taxon, colnames(bins)))]
  expect_equal(w$total[["missed"]], sum(gaps) + sum(cells$missed[elsewhere]), tolerance = 1e-4)
  expect_output(print(w, n = 0), sprintf("in gaps between presences of a taxon, certain +%d", sum(gaps)))
  expect_match(format(w)[["gaps"]], sprintf("Undetected for certain: %d, in gaps", sum(gaps)))
  cells <- as.data.frame(w, by = "missed")
  first <- utils::head(cells, sum(gaps))
  expect_true(all(first[c("missed_low", "missed", "missed_high")] == 1))
  expect_false(is.unsorted(-cells$missed))
  expect_equal(sum(by_taxon(w)$missed), w$total[["missed"]])
  expect_true(all(by_taxon(w)$low >= colSums(gaps)))
  expect_coherent(w)
  expect_true("gaps" %in% rownames(w$how_many))
  expect_error(ask(bins, series = TRUE), "needs `age`", class = "multicause_input_error")
})

test_that("what lies outside the known ages of a taxon is told", {
  sites <- early_tetrapods$sites
  w <- ask(early_tetrapods$x, age = sites$age)
  inside <- missed_inside(w)
  expect_equal(sum(inside[c("inside", "outside", "undated")]), w$total[["missed"]])
  expect_output(print(w, n = 0), "Of the [0-9 ]+, within known age ranges: [0-9]+ %")
  cells <- as.data.frame(w)
  age <- sites$age[match(cells$site, rownames(early_tetrapods$x))]
  found <- apply(early_tetrapods$x == 1, 2, function(at) range(sites$age[at]))[, cells$taxon]
  out <- which(age < found[1, ] | age > found[2, ])[1]
  expect_output(print(explain(w, cells$site[out], cells$taxon[out])), "Outside the known ages")
  expect_null(explain(w, cells$site[-out][1], cells$taxon[-out][1])$ages[out])
})

test_that("with known completeness sums are right, and ranges hold them", {
  set.seed(4)
  there <- early_tetrapods$x
  each <- vapply(1:6, function(seed) {
    known <- with_seed(seed, runif(nrow(there), 0.5, 1))
    found <- there * with_seed(seed, rbinom(length(there), 1, known))
    w <- ask(found, completeness = known, age = early_tetrapods$sites$age)
    taxa <- by_taxon(w)
    lost <- colSums(there) - colSums(found)
    c(w$total[["missed"]] / sum(lost), w$total[["low"]] <= sum(lost) && sum(lost) <= w$total[["high"]],
      mean(taxa$low <= lost & lost <= taxa$high))
  }, numeric(3))
  expect_equal(mean(each[1, ]), 1, tolerance = 0.1)
  expect_gte(sum(each[2, ]), 4)
  expect_gt(mean(each[3, ]), 0.8)
})

test_that("later visits to the birds of one visit lie within the range", {
  birds <- mhb2014()
  found <- 1 * (birds$counts > 0)
  some <- colSums(found[, , 1L]) > 0
  first <- found[, some, 1L]
  others <- pmax(found[, some, 2L], found[, some, 3L])
  w <- ask(first, place = birds$sites[c("coordx", "coordy")], environment = birds$sites[c("elev", "forest")])
  new <- sum(others == 1 & first == 0)
  expect_lt(abs(log2(w$total[["missed"]] / new)), log2(1.5))
  expect_true(in_order(w$total[["low"]], new, w$total[["high"]]))
  one <- mean(c(sum(found[, some, 2L] > first), sum(found[, some, 3L] > first)))
  expect_lt(abs(log2(w$more$missed[1L] / one)), log2(1.5))
  cells <- as.data.frame(w)
  y <- (others > first)[cbind(cells$site, cells$taxon)]
  loss <- function(p) -mean(ifelse(y, log(p), log1p(-p)))
  expect_lt(loss(cells$missed), loss(mean(y)))
  best <- glm(y ~ qlogis(cells$probability), family = binomial())
  expect_lt(loss(cells$missed), loss(fitted(best)) + 0.02)
})

test_that("zeros of undated sites are told apart, by the middles of ages where these have bounds", {
  ages <- replace(60:1, 1:15, NA)
  w <- ask(x, age = ages)
  told <- missed_inside(w)
  expect_equal(told[["undated"]], sum(missed_cells(w, w$candidate)[1:15, ]))
  expect_equal(sum(told[c("inside", "outside", "undated")]), w$total[["missed"]])
  percent <- sprintf("%.0f %%%% at sites without an age", 100 * told[["undated"]] / w$total[["missed"]])
  expect_match(format(w)[["inside"]], sprintf(percent))
  bounds <- ask(x, age = cbind(61:2, 60:1))
  expect_match(format(bounds)[["inside"]], "[0-9]+ % by mid-ages, [0-9]+ % for certain")
  inside <- range_through(x, cbind(61:2, 60:1))
  expect_equal(missed_inside(bounds)[["sure"]], sum(missed_cells(bounds, inside)))
  expect_no_match(format(ask(x, age = 60:1))[["inside"]], "mid-ages|without an age")
  expect_error(ask(x, age = rep(NA_real_, 60)), "`age` must be known of some site", class = "multicause_input_error")
})

test_that("numbers that are names, groups without a name and columns without zeros are told", {
  named <- x
  rownames(named) <- 60:1
  w <- ask(named, age = 60:1)
  at <- which(w$candidate[2, ])[1L]
  expect_message(explain(w, 2, at), "position, whose name is \"59\"", class = "multicause_message")
  expect_no_message(explain(w, "59", at))
  blank <- by_site(w, groups = rep(c("a", "", "b"), 20))
  expect_identical(blank, by_site(w, groups = rep(c("a", NA, "b"), 20)))
  counts <- cbind(bed = 1:3, x * 2)
  expect_message(tell_everywhere(counts), "\"bed\" is above 0 at every site", class = "multicause_message")
  expect_no_message(tell_everywhere(x))
  expect_no_message(tell_everywhere(cbind(unknown = NA, x)))
})

test_that("completeness of a sparse table, and groups that tell of nothing missed, have answers", {
  sparse <- methods::as(Matrix::Matrix(x, sparse = TRUE), "dMatrix")
  expect_equal(ask(sparse, completeness = 0.8)$total, ask(x, completeness = 0.8)$total)
  expect_no_warning(twice <- ask(unname(rbind(x, x)), groups = rep(c("b", "B", 1:58), 2)))
  expect_identical(twice$total, c(missed = 0, low = 0, high = 0))
  expect_false(anyNA(unlist(twice$draws)))
  # The order does not depend on the session's locale.
  expect_identical(rownames(twice$x)[59:60], c("B", "b"))
})

test_that("groups need what they are made of, and no visits or distances beside them", {
  refused <- function(text, ...) expect_error(ask(x, ...), text, fixed = TRUE, class = "multicause_input_error")
  refused("`groups` by `age` needs `age` of the sites.", groups = list(age = 1))
  refused("`distance` is between sites, not between `groups`: leave it out, or use `age` and `place`.",
    groups = rep(1:20, 3), distance = dist(1:60))
  expect_error(which_zeros(visits = list(x, x), groups = rep(1:20, 3)),
    "Only one of `groups` and `visits` can be supplied.", fixed = TRUE, class = "multicause_input_error")
})

test_that("widths of groups are numbers above 0", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(ask(x, age = 1:60, groups = list(width = 1)),
    "`groups` must be a group for each site, or a list of widths `age` and `place`, not ")
  refused(ask(x, age = 1:60, groups = list(age = -1)),
    "`groups$age` must be a width above 0, or two for places, not -1.")
})
