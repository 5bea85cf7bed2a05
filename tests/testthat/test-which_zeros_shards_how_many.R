# Numbers of false zeros in shards, against the formulas of which_zeros() for the whole table.

skip_on_cran()

# The which_zeros() result from the learners of shards, with the table in memory; completeness: n x 2 or NULL.
in_memory <- function(x, learners, stack, judged, completeness) {
  eta <- matrix(0, nrow(x), ncol(x))
  for (s in learners$x$shards$shard) {
    eta <- scan_open_rows(learners, s, eta, function(eta, cells) {
      eta[cbind(cells$rows[cells$i], cells$j)] <- stack_odds(stack, cells$z)
      eta
    })
  }
  zero <- x == 0 & !is.na(x)
  presences <- sum(x, na.rm = TRUE)
  of_copies <- lapply(judged, function(copy) stack_odds(stack, copy$odds[!copy$deleted, ]))
  count <- rep(1 / vapply(judged, `[[`, 0, "fraction") / length(judged), lengths(of_copies))
  line <- calibrate_probabilities(list(eta = unlist(of_copies), count = count), hidden_log_odds(judged, stack),
    presences)
  eta <- line[1L] + line[2L] * eta
  known <- list(
    x = x, found = found_table(x), eta = eta, zero = zero, bins = log_odds_bins(eta[zero]),
    all_bins = log_odds_bins(eta[zero]), presences = presences,
    kappa = 1 - sum(count * plogis(line[1L] + line[2L] * unlist(of_copies))) / presences
  )
  bind_in_namespace("usual_ratio", shards_ratio)
  many <- how_many(known, list(completeness = completeness), NULL)
  at <- which(zero)
  ratios <- ratios_at(many$ratios, (at - 1L) %% nrow(x) + 1L)
  cells <- missed_numbers(plogis(eta[at]), 0 * at, ratios, many$ratios$slope)
  list(many = many, cells = data.frame(row = (at - 1L) %% nrow(x) + 1L, column = (at - 1L) %/% nrow(x) + 1L, cells))
}

begin_answer <- function(x) {
  shard <- shards(x, tempfile(), size = 80)
  quick <- fit_control(n_start = 1, n_polish = 0, max_iter = 20, tol = 0)
  seeds <- list(deal = 1:99, fit = 1:3, judge = 4:5)
  judged <- lapply(1:2, function(copy) judge_shards_copy(shard, copy, c(2, 3), seeds, quick))
  learners <- shards_learners(shard, c(2, 3), 3, quick)
  list(learners = learners, judged = judged, stack = fit_stack(judged))
}

score <- function(begun, completeness = NULL, seed = 7, path = NULL) {
  known <- know_shards(begun$learners, begun$stack, begun$judged, completeness)
  score_all_shards(begun$learners, known, 1e5, path, 0, "csv", seed, taxa_of(begun$learners$x), fit_control())
}

planted <- function() {
  x <- planted_table()
  x[5, ] <- 0
  x
}

test_that("all numbers of a zero, and sums, are those of the table in memory", {
  x <- planted()
  begun <- begin_answer(x)
  bind_in_namespace("cells_at_a_time", 300)
  each <- cbind(seq(0.3, 0.7, length.out = 240), seq(0.5, 0.9, length.out = 240))
  for (completeness in list(NULL, matrix(0.6, 240, 2), each)) {
    there <- score(begun, completeness)
    here <- in_memory(x, begun$learners, begun$stack, begun$judged, completeness)
    cells <- here$cells
    at <- match(paste(there$zeros$site, there$zeros$taxon), paste(rownames(x)[cells$row], colnames(x)[cells$column]))
    # Bins of log-odds are those of batches of rows, merged.
    for (name in c("probability", "missed")) {
      expect_equal(there$zeros[[name]], cells[[name]][at], tolerance = 1e-4)
    }
    expect_equal(there$sites$missed, as.vector(tapply(cells$missed, factor(cells$row, 1:240), sum)), tolerance = 1e-4)
    expect_equal(there$taxa$missed, as.vector(tapply(cells$missed, factor(cells$column, 1:40), sum)), tolerance = 1e-4)
    expect_equal(there$total[["missed"]], here$many$estimates$missed[1L], tolerance = 1e-4)
    if (is.null(completeness)) {
      expect_equal(there$total, unlist(here$many$estimates[1L, c("missed", "low", "high")]), tolerance = 1e-4)
    }
    expect_equal(there$expected, sum(cells$probability), tolerance = 1e-4)
  }
})

test_that("known completeness gives back the number of presences that were deleted", {
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
  bare <- answer(shard, n = 20)
  for (each in list(w, bare)) {
    sites <- by_site(each)
    taxa <- by_taxon(each)
    expect_s3_class(sites, "which_zeros_sums")
    expect_equal(sum(sites$missed), each$total[["missed"]], tolerance = 1e-4)
    expect_equal(sum(taxa$missed), each$total[["missed"]], tolerance = 1e-4)
    expect_identical(sites$presences, unname(rowSums(x, na.rm = TRUE)[sites$site]))
    expect_identical(taxa$zeros, unname(colSums(x == 0, na.rm = TRUE)[taxa$taxon]))
    expect_identical(taxa$taxon, colnames(x))
    expect_identical(sites$site, rownames(x))
    expect_coherent(each)
  }
  all <- do.call(rbind, lapply(w$files, utils::read.csv))
  expect_equal(sum(all$missed), w$total[["missed"]], tolerance = 1e-9)
  expect_identical(names(all), names(w$zeros))
  expect_output(print(w), "if completeness is as supplied")
  expect_output(print(by_site(w)), "if completeness is as supplied")
  expect_identical(bare$zeros$probability, w$zeros$probability)
  expect_output(print(bare), "found by 1 more survey of equal effort")
  expect_equal(bare$more$missed[2L], bare$total[["missed"]])
  printed <- utils::capture.output(print(by_taxon(bare), n = 1))
  expect_match(printed[4L], by_taxon(bare)$taxon[which.max(by_taxon(bare)$missed)], fixed = TRUE)
  expect_error(by_site(w, groups = rep(1, 240)), "`groups` does not go with shards", class = "multicause_input_error")
  bind_in_namespace("cells_at_a_time", 200)
  parts <- answer(shard, n = 20, completeness = c(0.5, 0.7))
  expect_equal(parts$total[["missed"]], w$total[["missed"]], tolerance = 1e-9)
})
