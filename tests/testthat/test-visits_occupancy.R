small_visits <- function() {
  case <- detected_table(12, 3, 3)
  suppressMessages(check_visits(case$visits, c("site", "species", "visit")))
}

a_state <- function(rows) {
  state <- occupancy_start(rows)
  state$center[] <- c(0.2, 0.1, 0, -0.3, -0.2, 0.3)
  state$about <- c(0.9, 0.7)
  state$shift[] <- c(0.1, -0.2, 0.3, 0, 0.2, -0.4, -0.1, 0.2, 0.1)
  state$mean[] <- c(0.5, 0, -0.5, 0.2, 0.1, -0.4)
  state
}

test_that("sums over the grids equal those cell by cell", {
  cell <- small_visits()
  rows <- occupancy_rows(cell, NULL)
  state <- a_state(rows)
  for (uneven in c(0, 0.8)) {
    fast <- occupancy_answer(rows, state, uneven)
    slow <- ref_occupancy_sums(unclass(cell), state, uneven)
    expect_equal(fast$by_taxon, slow$missed, tolerance = 1e-8)
    expect_equal(fast$profile, slow$profile, tolerance = 1e-8)
    expect_equal(unname(fast$cells), slow$present, tolerance = 1e-8)
    # Sites of which some are found well vary more together, never less.
    expect_gte(fast$variance, slow$variance - 1e-8)
  }
})

test_that("covariates move the chances of their cells", {
  cell <- small_visits()
  set.seed(5)
  given <- list(found = array(rnorm(length(cell)), dim(cell)), present = matrix(rnorm(36), 12))
  rows <- occupancy_rows(cell, given)
  expect_identical(length(rows$found), sum(rowSums(!is.na(cell), dims = 2) > 0))
  state <- a_state(rows)
  fast <- occupancy_answer(rows, state, 0.8)
  slow <- ref_occupancy_sums(unclass(cell), state, 0.8, given$found, array(given$present, dim(cell)))
  expect_equal(fast$by_taxon, slow$missed, tolerance = 1e-8)
  expect_equal(unname(fast$cells), slow$present, tolerance = 1e-8)
})

test_that("detection by visit makes a Newton step of its expected log-likelihood", {
  cell <- small_visits()
  rows <- occupancy_rows(cell, NULL)
  state <- a_state(rows)
  at <- occupancy_posterior(rows, state, 0)
  present <- occupancy_present(rows, at)
  expected <- function(shift) {
    total <- -sum((shift - rep(state$visit, each = 3))^2) / (2 * state$spread_visit^2)
    for (r in seq_along(rows$found)) {
      for (v in which(!is.na(rows$histories$found[, r]))) {
        p <- plogis(at$u[rows$taxon[r], ] + shift[rows$taxon[r], v])
        total <- total + rows$count[r] * sum(present[r, ] * log(if (rows$histories$found[v, r] == 1) p else 1 - p))
      }
    }
    total
  }
  near <- function(e, by) expected(replace(state$shift, e, state$shift[e] + by))
  step <- vapply(1:9, function(e) {
    (near(e, 1e-3) - near(e, -1e-3)) / 2e-3 / -((near(e, 1e-3) + near(e, -1e-3) - 2 * near(e, 0)) / 1e-6)
  }, 0)
  moved <- update_shift(rows, at, state, present)
  # The level of all visits goes to u.
  off <- moved$shift - (state$shift + step)
  expect_equal(as.vector(off), rep(mean(off), 9), tolerance = 1e-4)
  expect_equal(sum(moved$visit), 0)
})

# Detection by taxon; sites x taxa x 4 visits.
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

test_that("each taxon is drawn towards the others, not to itself", {
  state <- list(center = matrix(0, 3, 2), spread = c(1, 1), about = c(1, 1))
  known <- list(mean = c(-1, 0, 3), variance = c(0.1, 0.2, 0.3))
  out <- share_taxa(state, known, 2)
  tight <- out$spread[2]^2 / center_prior^2
  expect_equal(out$center[, 2], c(3, 2, -1) / (2 + tight))
  expect_equal(out$about[2], out$spread[2] * sqrt(1 + 1 / (2 + tight)))
  expect_identical(out$center[, 1], numeric(3))
  # Alone it has the prior: that of the center and that of taxa about it.
  one <- share_taxa(
    list(center = matrix(0, 1, 2), spread = c(1, 1), about = c(1, 1)), list(mean = 2, variance = 0.1), 1
  )
  expect_identical(one$center[1, 1], 0)
  expect_equal(one$about[1], sqrt(one$spread[1]^2 + center_prior^2))
})

test_that("planted numbers are found, from one species to twenty", {
  for (m in c(1, 3, 8, 20)) {
    # Of one species the truth is a few presences, and its mean over ten tables is unsure by a quarter.
    done <- vapply(seq_len(if (m == 1) 30 else 10), function(seed) {
      one <- planted_visits(seed, m)
      out <- visits_occupancy(one$cell)
      c(one$truth, out$missed, out$model_low <= one$truth & one$truth <= out$model_high)
    }, numeric(3))
    expect_lt(abs(log(sum(done[2, ]) / sum(done[1, ]))), log(if (m == 1) 1.4 else 1.25))
    expect_gte(mean(done[3, ]), 0.7)
  }
})

test_that("a fit of visits prints one number to quote", {
  fit <- suppressMessages(visits_bernoulli(planted_visits(1, 6)$cell, 1))
  expect_match(
    print_words(fit), "^Expected missed: [0-9]+ \\(.*own chances, which sum to [0-9.]+: quote the number above"
  )
  by_site <- suppressMessages(update(fit, missed_by = "site"))
  expect_match(print_words(by_site), "^Of [0-9]+ absences about [0-9.]+ .* expected to be false")
})

test_that("finds that are uneven among sites are told by four visits to many taxa, not by two", {
  one <- planted_visits(3, 20, by_site = 1)
  out <- visits_occupancy(one$cell)
  expect_lt(out$uneven$weight[1], 0.05)
  expect_lt(abs(log(out$missed / one$truth)), log(1.5))
  two <- one$cell[, , 1:2]
  expect_gt(visits_occupancy(two)$uneven$weight[1], 0.3)
})

test_that("an answer is coherent, needs no random numbers and takes what is degenerate", {
  cell <- small_visits()
  set.seed(1)
  before <- .Random.seed
  out <- occupancy_total(cell)
  expect_identical(before, .Random.seed)
  expect_identical(out, occupancy_total(cell))
  expect_equal(sum(out$by_taxon), out$missed)
  expect_true(out$low <= out$model_low && out$model_high <= out$high)
  expect_named(out$by_taxon, paste0("t", 1:3))
  whole <- visits_occupancy(cell)
  expect_equal(colSums(whole$cells, na.rm = TRUE), whole$by_taxon)
  # Nothing found, one visit, one site, all found.
  expect_identical(occupancy_total(0L * cell)$missed, 0)
  expect_true(is.finite(occupancy_total(cell[, , 1, drop = FALSE])$high))
  expect_true(is.finite(occupancy_total(cell[1, , , drop = FALSE])$missed))
  expect_identical(occupancy_total(replace(0L * cell, TRUE, 1L))$missed, 0)
  unseen <- cell
  unseen[, 2, ] <- 0L
  expect_identical(occupancy_total(unseen)$by_taxon[["t2"]], 0)
})

test_that("formulas of detection and communities go through a fit, which draws no number of the session", {
  case <- detected_table(40, 4, 3)
  cell <- suppressMessages(check_visits(case$visits, c("site", "species", "visit")))
  model <- list(
    detection = ~date, communities = ~size, visit_data = list(date = case$date),
    site_data = data.frame(size = case$size)
  )
  set.seed(1)
  before <- .Random.seed
  out <- occupancy_total(cell, model)
  expect_identical(before, .Random.seed)
  found <- any_visit(case$visits)
  truth <- sum(case$present[!is.na(found) & found == 0])
  expect_true(out$low <= truth && truth <= out$high)
})

test_that("of the birds of two visits, what the third found is within the range", {
  birds <- swiss_visits()
  cell <- suppressMessages(check_visits(birds, c("site", "species", "visit")))
  two <- cell[, , 1:2]
  new <- any_visit(two) %in% 0 & any_visit(cell) %in% 1
  listed <- rep(colSums(any_visit(two), na.rm = TRUE) > 0, each = nrow(two))
  expect_identical(sum(new & listed), 702L)
  out <- occupancy_total(two)
  expect_true(out$low <= 702 && 702 <= out$high)
  # With what all three visits are expected to have missed.
  full <- 702 + visits_occupancy(cell, uneven = 0)$missed
  expect_true(out$low <= full && full <= out$high)
})
