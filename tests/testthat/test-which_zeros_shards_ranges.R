# How many zeros of shards are false, against the formulas of which_zeros() on the table as a whole.

# What which_zeros() makes of the learners of shards, had it the table in memory; completeness: n x 2 or NULL.
in_memory <- function(x, learners, stack, judged, completeness) {
  n <- nrow(x)
  m <- ncol(x)
  eta <- se <- matrix(0, n, m)
  visit_open_cells(learners, function(cells) {
    at <- cbind(cells$rows[cells$i], cells$j)
    eta[at] <<- stack_odds(stack, cells$z)
    se[at] <<- odds_se(cells$z, stack)
  })
  zero <- x == 0 & !is.na(x)
  open <- is.na(x) | x == 0
  odds <- exp(eta) * zero
  finds <- rowSums(x == 1, na.rm = TRUE)
  shift <- log(sum(finds) / sum(odds))
  # Hidden finds stand in finds of their sites.
  hidden <- hidden_of_sites(judged, stack)
  nth <- ave(hidden$site, hidden$site, FUN = seq_along)
  hidden$at <- vapply(seq_along(nth), function(e) {
    i <- hidden$site[e]
    i + (which(x[i, ] == 1)[nth[e]] - 1) * n
  }, 0)
  poor <- wz_poor(rowSums(odds) * exp(shift), finds, completeness)
  hidden$p <- scale_odds(hidden$p, poor[hidden$site])
  least <- wz_least(scale_odds(stats::plogis(eta + shift - 1.645 * se), poor), open, hidden)
  unlike <- wz_unlike(stats::plogis(eta + shift + 1.645 * se), open, zero)
  site <- if (is.null(completeness)) {
    wz_completeness(matrix(1, n, 2L), NULL, least)
  } else {
    wz_completeness(completeness, NULL, least)
  }
  richness <- if (is.null(completeness)) {
    list(factor = rep(1, n))
  } else {
    wz_richness(odds * exp(shift), finds, site$estimate, rep(1, n))
  }
  stack$intercept <- stack$intercept + shift
  w <- list(
    probability = stats::plogis(eta + shift), se = se, candidate = zero, dims = c(n = n, m = m), x = x, stack = stack,
    completeness = data.frame(site[c("estimate", "low", "high")], least = least, surest = 1, factor = richness$factor)
  )
  z <- array(0, c(n, m, length(stack$weights)))
  visit_open_cells(learners, function(cells) {
    for (l in seq_len(dim(z)[3L])) z[cbind(cells$rows[cells$i], cells$j, l)] <<- cells$z[, l]
  })
  planes <- lapply(seq_len(dim(z)[3L]), function(l) z[, , l])
  w$draws <- if (!is.null(completeness)) with_seed(1, wz_draws(w, planes, site$draws, richness))
  list(w = w, cells = wz_missed(w), unlike = unlike, least = least)
}

begin_answer <- function(x) {
  shard <- shards(x, tempfile(), size = 80)
  quick <- fit_control(n_start = 1, n_polish = 0, max_pass = 20, tol = 0)
  seeds <- list(deal = 1:99, fit = 1:3, judge = 4:5)
  judged <- lapply(1:2, function(copy) judge_shards_copy(shard, copy, c(2, 3), seeds, quick))
  learners <- shards_learners(shard, c(2, 3), 3, quick)
  stack <- fit_stack(judged)
  list(learners = learners, judged = judged, stack = stack, survey = survey_shards(learners, stack))
}

score <- function(begun, completeness = NULL, seed = 7, path = NULL) {
  known <- know_shards(begun$survey, begun$stack, begun$judged, completeness)
  score_all_shards(begun$learners, begun$stack, known, 1e5, path, 0, "csv", seed)
}

planted <- function() {
  x <- planted_table()
  x[5, ] <- 0
  x
}

test_that("bounds by site, by taxon and in all are those of the table in memory", {
  x <- planted()
  begun <- begin_answer(x)
  bind_in_namespace("cells_at_a_time", 300)
  there <- score(begun)
  here <- in_memory(x, begun$learners, begun$stack, begun$judged, NULL)
  cells <- here$cells
  expect_equal(there$sites$least, here$least, tolerance = 1e-9)
  expect_equal(there$total[["most"]], sum(cells$missed_most), tolerance = 1e-9)
  expect_equal(there$total[["unlike"]], max(here$unlike, sum(cells$missed_most)), tolerance = 1e-9)
  expect_identical(is.na(there$total), c(missed = TRUE, low = TRUE, high = TRUE, most = FALSE, unlike = FALSE))
  expect_equal(there$sites$most, as.vector(tapply(cells$missed_most, factor(cells$row, 1:240), sum)), tolerance = 1e-9)
  expect_equal(there$taxa$most, as.vector(tapply(cells$missed_most, factor(cells$column, 1:40), sum)), tolerance = 1e-9)
  expect_equal(there$expected, sum(cells$chance), tolerance = 1e-9)
  at <- match(paste(there$zeros$site, there$zeros$taxon), paste(rownames(x)[cells$row], colnames(x)[cells$column]))
  expect_equal(there$zeros$missed_most, cells$missed_most[at], tolerance = 1e-9)
  expect_equal(there$zeros$chance, cells$chance[at], tolerance = 1e-9)
  # The intercept is such that the odds of zeros sum to the finds.
  expect_equal(sum(cells$chance / (1 - cells$chance)), sum(x, na.rm = TRUE), tolerance = 1e-9)
})

test_that("with completeness all numbers of a zero, sums and ranges are those of the table in memory", {
  x <- planted()
  begun <- begin_answer(x)
  each <- cbind(seq(0.3, 0.7, length.out = 240), seq(0.5, 0.9, length.out = 240))
  for (completeness in list(matrix(0.6, 240, 2), cbind(rep(0.4, 240), 0.8), each)) {
    there <- score(begun, completeness)
    here <- in_memory(x, begun$learners, begun$stack, begun$judged, completeness)
    cells <- here$cells
    at <- match(paste(there$zeros$site, there$zeros$taxon), paste(rownames(x)[cells$row], colnames(x)[cells$column]))
    for (name in c("present", "missed", "missed_low", "missed_high", "missed_most")) {
      expect_equal(there$zeros[[name]], cells[[name]][at], tolerance = 1e-8)
    }
    expect_equal(there$sites$missed, as.vector(tapply(cells$missed, factor(cells$row, 1:240), sum)), tolerance = 1e-8)
    expect_equal(there$taxa$missed, as.vector(tapply(cells$missed, factor(cells$column, 1:40), sum)), tolerance = 1e-8)
    expect_equal(there$total[["missed"]], sum(cells$missed), tolerance = 1e-8)
    expect_equal(there$total[["most"]], sum(cells$missed_most), tolerance = 1e-8)
    # Ranges are of other draws of the same law, 200 of each (n_draws()): their ends vary a little.
    width <- function(low, high) mean(high - low)
    drawn <- here$w$draws
    of_taxa <- ends_of_draws(drawn$taxa)
    expect_equal(width(there$taxa$low, there$taxa$high), width(of_taxa[, 1], of_taxa[, 2]), tolerance = 0.15)
    of_sites <- ends_of_draws(drawn$sites)
    expect_equal(width(there$sites$low, there$sites$high), width(of_sites[, 1], of_sites[, 2]), tolerance = 0.15)
    middle <- mean(drawn$total)
    expect_lt(there$total[["low"]], middle)
    expect_gt(there$total[["high"]], middle)
  }
})

test_that("known completeness gives back the number of finds that were deleted", {
  set.seed(4)
  whole <- planted_table(n = 900, m = 50, missing = 0)
  x <- whole
  gone <- which(x == 1)[stats::runif(sum(x)) > 0.6]
  x[gone] <- 0
  w <- answer(shards(x, tempfile(), size = 600), completeness = 0.6)
  expect_lt(abs(w$total[["missed"]] - length(gone)), 0.1 * length(gone))
  expect_lt(w$total[["low"]], length(gone))
  expect_gt(w$total[["high"]], length(gone))
})

test_that("by_site(), by_taxon(), the print and files have the numbers; workers and runs of rows change nothing", {
  x <- planted()
  shard <- shards(x, tempfile(), size = 80)
  folder <- tempfile()
  w <- answer(shard, n = 20, completeness = c(0.5, 0.7), path = folder, least = 0)
  sites <- by_site(w)
  taxa <- by_taxon(w)
  expect_s3_class(sites, "which_zeros_sums")
  expect_equal(sum(sites$missed), w$total[["missed"]])
  expect_equal(sum(taxa$most), w$total[["most"]])
  expect_identical(sites$finds, unname(rowSums(x, na.rm = TRUE)[sites$site]))
  expect_identical(taxa$zeros, unname(colSums(x == 0, na.rm = TRUE)[taxa$taxon]))
  expect_identical(taxa$taxon, colnames(x))
  expect_identical(sites$site, rownames(x))
  expect_coherent(w)
  all <- do.call(rbind, lapply(w$files, utils::read.csv))
  expect_true(in_order(all$chance, all$present))
  expect_equal(sum(all$missed), w$total[["missed"]], tolerance = 1e-9)
  expect_identical(names(all), names(w$zeros))
  expect_output(print(w), "if completeness is as you gave it")
  expect_output(print(sites), "if completeness is as you gave it")
  bare <- answer(shard, n = 20)
  expect_identical(bare$zeros$chance, w$zeros$chance)
  expect_output(print(bare), "was not given")
  expect_output(print(by_taxon(bare)), "was not given")
  printed <- utils::capture.output(print(by_taxon(bare), n = 1))
  expect_match(printed[2L], by_taxon(bare)$taxon[which.max(by_taxon(bare)$most)], fixed = TRUE)
  expect_true(all(is.na(by_site(bare)$missed)))
  expect_error(by_site(w, groups = rep(1, 240)), "`groups` does not go with shards", class = "multicause_input_error")
  bind_in_namespace("cells_at_a_time", 200)
  parts <- answer(shard, n = 20, completeness = c(0.5, 0.7))
  expect_equal(parts$total[c("missed", "most", "unlike")], w$total[c("missed", "most", "unlike")], tolerance = 1e-9)
})

test_that("a completeness below what the table allows is raised, with a message", {
  expect_message(w <- answer(shards(planted(), tempfile(), size = 80), completeness = 0.01),
    "below what the table allows at [0-9]+ site")
  expect_true(all(w$sites$estimate >= w$sites$least))
})
