# Tests also R/visits_bernoulli_param.R.

# Repeated visits to a table with known presences; every tenth observation has fewer visits, one has none.
visited_table <- function(n = 60, m = 16, n_visit = 3, added = 0) {
  set.seed(7)
  s <- matrix(stats::rexp(n * 2), n)
  probability <- (s / rowSums(s)) %*% matrix(stats::rbeta(2 * m, 0.4, 0.6), 2)
  present <- matrix(stats::rbinom(n * m, 1L, probability), n)
  missed <- matrix(stats::runif(n * n_visit, 0.1, 0.7), n)
  visits <- array(0L, c(n, m, n_visit), list(paste0("s", 1:n), paste0("t", 1:m), paste0("v", 1:n_visit)))
  for (v in 1:n_visit) visits[, , v] <- stats::rbinom(n * m, 1L, ifelse(present == 1, 1 - missed[, v], added))
  visits[seq_len(n) %% 10 == 0, , n_visit] <- NA
  visits[5, , ] <- NA
  visits[6, 2, 1] <- NA
  all_missed <- matrix(1, n, m)
  for (v in 1:n_visit) all_missed <- all_missed * ifelse(is.na(visits[, , v]), 1, missed[, v])
  list(visits = visits, present = present, missed = missed, probability = probability, all_missed = all_missed)
}

# One iteration cell by cell: the posterior of presence and of the component, then all updates in closed form.
ref_visit_pass <- function(x, par, by) {
  s <- par$membership
  a <- par$aspects
  counts <- 0 * s
  ones <- zeros <- 0 * a
  present <- miss <- 0 * par$missed
  absent <- add <- 0 * par$added
  loglik <- 0
  for (i in seq_len(nrow(x))) {
    for (j in seq_len(ncol(x))) {
      made <- which(!is.na(x[i, j, ]))
      if (!length(made)) next
      at <- c(i, j, 1)[by + 1]
      found <- x[i, j, made] == 1
      given_one <- prod(ifelse(found, 1 - par$missed[at, made], par$missed[at, made]))
      given_zero <- prod(ifelse(found, par$added[made], 1 - par$added[made]))
      joint_one <- s[i, ] * a[, j] * given_one
      joint_zero <- s[i, ] * (1 - a[, j]) * given_zero
      total <- sum(joint_one + joint_zero)
      loglik <- loglik + log(total)
      counts[i, ] <- counts[i, ] + (joint_one + joint_zero) / total
      ones[, j] <- ones[, j] + joint_one / total
      zeros[, j] <- zeros[, j] + joint_zero / total
      tau <- sum(joint_one) / total
      present[at, made] <- present[at, made] + tau
      miss[at, made] <- miss[at, made] + tau * !found
      absent[made] <- absent[made] + 1 - tau
      add[made] <- add[made] + (1 - tau) * found
    }
  }
  seen <- rowSums(counts) > 0
  s[seen, ] <- (counts / rowSums(counts))[seen, ]
  known <- present > 0
  missed <- par$missed
  missed[known] <- (miss / present)[known]
  list(membership = s, aspects = ones / (ones + zeros), missed = missed, added = add / absent, loglik = loglik)
}

test_that("a fit has the class of what it shares with aspect_bernoulli(), and none of its phantoms", {
  fit <- fits_of_all()$visits
  expect_s3_class(fit, c("visits_bernoulli", "aspect_model", "multicause"), exact = TRUE)
  expect_null(fixed_kinds(fit))
  expect_error(identifiability(fit), "repeated visits", class = "multicause_input_error")
  expect_error(phantom_test(fit), "a fit of aspect_bernoulli", class = "multicause_input_error")
  expect_null(allowed_bounds(fit))
  expect_false("missed_most" %in% names(false_absences(fit, 3)))
  expect_true(has_noise(fit, rep("content", 2), "absences"))
})

test_that("one iteration equals the reference, whoever misses", {
  case <- visited_table(three_blocks(16), three_blocks(16))
  rows <- c(site = three_blocks(16), taxon = three_blocks(16), visit = 1)
  set.seed(1)
  start <- random_start(rows[["site"]], rows[["taxon"]], 2)
  for (by in names(rows)) {
    missed <- matrix(stats::runif(rows[[by]] * 3, 0.2, 0.6), rows[[by]])
    begin <- c(start, list(missed = missed, added = c(0.1, 0.05, 0.2)))
    fit <- suppressMessages(
      visits_bernoulli(
        case$visits, k = 2, estimate = "ml", missed_by = by, added = TRUE, start = begin, control = plain(1)
      )
    )
    want <- ref_visit_pass(case$visits, begin, match(by, names(rows)) - 1)
    expect_equal(lapply(fit$param, unname), want[1:4], tolerance = 1e-12)
    expect_equal(ref_visit_pass(case$visits, lapply(fit$param, unname), match(by, names(rows)) - 1)$loglik, fit$loglik)
  }
})

test_that("the objective never falls; one visit that misses nothing is the plain model", {
  case <- visited_table()
  once <- fit_control(n_start = 1)
  for (estimate in c("ml", "map")) {
    set.seed(2)
    fit <- suppressMessages(suppressWarnings(
      visits_bernoulli(case$visits, k = 2, estimate = estimate, missed_by = "site", added = TRUE, control = once)
    ))
    expect_true(all(diff(fit$trace$objective) > -1e-8))
  }
  x <- case$visits[-5, , 1]
  x[is.na(x)] <- 0L
  start <- random_start(nrow(x), ncol(x), 2)
  single <- array(x, c(dim(x), 1), c(dimnames(x), list(NULL)))
  sure <- c(start, list(missed = matrix(0, nrow(x), 1), added = 0))
  repeated <- visits_bernoulli(single, k = 2, estimate = "ml", missed_by = "site", start = sure, control = plain(0))
  expect_equal(repeated$loglik, fit_with(x, start$membership, start$aspects)$loglik)
  expect_equal(fitted(repeated), fitted(fit_with(x, start$membership, start$aspects)))
})

test_that("planted misses are recovered, and what was missed is found", {
  case <- visited_table(150, 40)
  set.seed(3)
  fit <- suppressMessages(suppressWarnings(
    visits_bernoulli(case$visits, k = 2, estimate = "ml", missed_by = "site", control = fit_control(n_start = 3))
  ))
  made <- !is.na(case$visits[, 1, ])
  expect_gt(cor(fit$param$missed[made], case$missed[made]), 0.75)
  zeros <- which(fit$x == 0)
  expected <- by_site(fit)
  expect_equal(sum(expected$missed), sum(case$present[zeros]), tolerance = 0.25)
  # Between the AUC from the true rates of missing alone, equal for all taxa of a site, and that from the full truth.
  truth <- case$present == 1
  truth[!fit$x %in% 0] <- NA
  all_missed <- case$all_missed
  best <- case$probability * all_missed / (1 - case$probability + case$probability * all_missed)
  auc <- function(score) recovery(score, truth)$summary$auc
  found <- auc(visit_posterior(fit, 1:150))
  expect_gt(found, auc(matrix(rowMeans(all_missed), 150, 40)))
  expect_lt(found, auc(best))
  expect_equal(fit$df, 150 * 1 + 2 * 40 + 150 * 3)
})

# All combinations of a cell's state, misses and additions that yield its record: the probability that the record is
# false, and that the visits caused it.
ref_cell_causes <- function(p, missed, added, found) {
  state <- expand.grid(rep(list(0:1), 1 + 2 * length(missed)))
  lives <- state[[1]]
  fails <- as.matrix(state[1 + seq_along(missed)])
  adds <- as.matrix(state[1 + length(missed) + seq_along(added)])
  probability <- ifelse(lives == 1, p, 1 - p)
  for (v in seq_along(missed)) {
    probability <- probability * ifelse(fails[, v] == 1, missed[v], 1 - missed[v])
    probability <- probability * ifelse(adds[, v] == 1, added[v], 1 - added[v])
  }
  record <- lives * (1 - fails) + (1 - lives) * adds
  probability <- probability * (rowSums(record != rep(found, each = length(lives))) == 0)
  of_visits <- if (any(found == 1)) rowSums(adds) > 0 else rowSums(fails) == length(missed)
  false <- lives != any(found == 1)
  c(false = sum(probability[false]), phantom = sum(probability[false | of_visits])) / sum(probability)
}

test_that("the probabilities of a cell agree with each other and with an enumeration of its causes", {
  case <- visited_table(20, 6, added = 0.1)
  set.seed(3)
  few <- fit_control(n_start = 1, max_iter = 30, n_polish = 0)
  for (by in c("site", "taxon", "visit")) {
    fit <- suppressMessages(suppressWarnings(
      visits_bernoulli(case$visits, k = 2, estimate = "ml", missed_by = by, added = TRUE, control = few)
    ))
    tables <- list(false_absences(fit, Inf, "missed"), false_presences(fit, Inf, "added"))
    for (table in tables) {
      at <- cbind(match(table$site, rownames(fit$x)), match(table$taxon, colnames(fit$x)))
      want <- vapply(seq_len(nrow(at)), function(r) {
        made <- !is.na(case$visits[at[r, 1], at[r, 2], ])
        row <- c(site = at[r, 1], taxon = at[r, 2], visit = 1)[[by]]
        ref_cell_causes(
          fitted(fit)[at[r, , drop = FALSE]], fit$param$missed[row, made], fit$param$added[made],
          case$visits[at[r, 1], at[r, 2], made]
        )
      }, c(0, 0))
      expect_equal(table[[intersect(c("missed", "added"), names(table))]], want[1, ])
      expect_equal(table$phantom, want[2, ])
      expect_true(all(table$phantom >= want[1, ] - 1e-12))
    }
  }
  expect_match(print_words(tables[[1]]), "Columns: [?]false_absences")
  expect_match(print_words(head(tables[[2]][-1], 3)), "Columns: [?]false_presences")
})

test_that("additions are found where there are some", {
  case <- visited_table(120, 20, 4, added = 0.05)
  set.seed(4)
  fit <- suppressMessages(suppressWarnings(visits_bernoulli(
    case$visits, k = 2, estimate = "ml", missed_by = "visit", added = TRUE, control = fit_control(n_start = 3)
  )))
  expect_equal(unname(fit$param$added), rep(0.05, 4), tolerance = 0.5)
  wrong <- false_presences(fit, 20, "added")
  at <- cbind(match(wrong$site, rownames(fit$x)), match(wrong$taxon, colnames(fit$x)))
  expect_lt(mean(case$present[at]), mean(case$present[which(fit$x == 1)]) - 0.4)
  expect_match(print_words(summary(fit)), "An absence is reported as present by v1")
})

test_that("hbef2015: detection agrees with single-species occupancy models", {
  visits <- hbef_visits()
  species <- colnames(visits)
  quick <- fit_control(n_start = 2, max_iter = 1500, tol = 1e-8)
  common <- species[apply(visits, 2, sum, na.rm = TRUE) >= 30]
  reference <- lapply(stats::setNames(nm = common), function(one) ref_occupancy(visits[, one, ]))
  off <- function(k) {
    set.seed(5)
    fit <- suppressWarnings(suppressMessages(
      visits_bernoulli(visits, k = k, estimate = "ml", missed_by = "taxon", control = quick)
    ))
    vapply(common, function(one) {
      max(abs(1 - fit$param$missed[one, ] - reference[[one]]$p) / reference[[one]]$se)
    }, 0)
  }
  expect_length(common, 9)
  expect_lt(max(off(1)), 0.01) # one aspect: the same model, species by species
  # Two aspects: equal except for one species, which the single-species model estimates as ubiquitous but rarely
  # detected.
  two <- off(2)
  expect_identical(names(which(two > 2)), "BHVI")
})

test_that("hbef2015: the first visit alone leaves open what all visits decide", {
  visits <- hbef_visits()
  quick <- fit_control(n_start = 2, max_iter = 1500, tol = 1e-8)
  set.seed(6)
  fit <- suppressWarnings(suppressMessages(
    visits_bernoulli(visits, k = 1, estimate = "ml", missed_by = "visit", control = quick)
  ))
  made <- which(!is.na(visits[, 1, 1]))
  answer <- sum(visit_posterior(fit, made)[visits[made, , 1] == 0])
  alone <- suppressWarnings(
    aspect_bernoulli(visits[made, , 1], 2, estimate = "ml", phantom = "white", control = quick)
  )
  bound <- identifiability(alone)
  expect_false(bound$decided)
  outer <- bound$expected[bound$expected$bound == "outer", ]
  expect_true(outer$least <= answer && answer <= outer$most)
})

test_that("hbef2015: with two communities, too, where misses may differ by species and site", {
  visits <- hbef_visits()
  quick <- fit_control(n_start = 2, max_iter = 1500, tol = 1e-8)
  made <- which(!is.na(visits[, 1, 1]))
  answer <- vapply(c("visit", "site", "taxon"), function(by) {
    set.seed(6)
    fit <- suppressWarnings(suppressMessages(
      visits_bernoulli(visits, k = 2, estimate = "ml", missed_by = by, control = quick)
    ))
    sum(visit_posterior(fit, made)[visits[made, , 1] == 0])
  }, 0)
  set.seed(6)
  alone <- suppressWarnings(aspect_bernoulli(visits[made, , 1], 3, phantom = "white", control = quick))
  bound <- identifiability(alone)
  phantom <- bound$expected$most[bound$expected$bound == "outer"]
  expect_true(all(answer > phantom)) # birds differ in how easily they are found
  expect_true(all(answer <= bound$unlike$most[bound$unlike$missed_by == "both"]))
  expect_lt(bound$unlike$most[2], 0.9 * bound$unlike$n_cells[2]) # and yet not everything is possible
})

test_that("verbs, names, update and simulate go with visits; what cannot be is refused", {
  case <- visited_table(30, 8)
  tables <- list(first = case$visits[, , 1], second = case$visits[, , 2])
  set.seed(8)
  quick <- fit_control(n_start = 1, max_iter = 60, n_polish = 0)
  run <- function(...) suppressMessages(suppressWarnings(visits_bernoulli(..., estimate = "ml", control = quick)))
  fit <- run(tables, k = 2, missed_by = "site")
  expect_equal(dimnames(fit$param$missed), list(rownames(tables[[1]]), c("first", "second")))
  expect_equal(fit$x, any_visit(case$visits[, , 1:2]))
  expect_named(false_absences(fit, 3), c("site", "taxon", "probability", "present", "missed", "phantom"))
  zero <- false_absences(fit, Inf, "missed")
  expect_equal(zero$missed, with(zero, phantom * present)) # nothing is added, so only the visits can have failed
  expect_s3_class(suppressMessages(suppressWarnings(update(fit, k = 3))), "visits_bernoulli")
  expect_equal(dim(simulate(fit, seed = 1)[[1]]), c(30L, 8L, 2L))
  expect_output(print(summary(fit)), "A presence is missed, on average over sites, by first")
  expect_silent(on_paper(plot(fit)))
  expect_snapshot(error = TRUE, {
    visits_bernoulli(tables[[1]], k = 2, estimate = "ml")
    visits_bernoulli(list(tables[[1]], tables[[2]][, -1]), k = 2, estimate = "ml")
    visits_bernoulli(case$visits * 2L, k = 2, estimate = "ml")
    identifiability(fit)
    predict(fit, tables[[1]])
    false_absences(run(tables, k = 2), phantom_convention = "minimal")
  })
})

test_that("hundreds of visits, which are less likely than the least number, are no impossible start", {
  set.seed(6)
  visits <- array(rbinom(6 * 4 * 600, 1, 0.9), c(6, 4, 600))
  visits[1, 1, ] <- c(1L, rep(0L, 599))
  start <- c(random_start(6, 4, 2), list(missed = matrix(0.1, 1, 600)))
  fit <- suppressMessages(
    visits_bernoulli(visits, k = 2, estimate = "ml", missed_by = "visit", start = start, control = plain(0),
    sides = c("site", "species", "visit"))
  )
  found <- apply(visits, 1:2, sum)
  p <- start$membership %*% start$aspects
  expect_equal(fit$loglik, sum(log(p) + found * log(0.9) + (600 - found) * log(0.1)), tolerance = 1e-12)
  expect_equal(visit_posterior(fit, 1:6), matrix(1, 6, 4))
})

test_that("rates next to nothing do not overflow where a cell has but one state", {
  visits <- array(0L, c(2, 2, 2))
  visits[1, 1, ] <- NA
  start <- list(membership = diag(2), aspects = matrix(1, 2, 2), missed = matrix(1e-160, 1, 2), added = c(0.3, 0.3))
  fit <- suppressMessages(visits_bernoulli(
    visits, k = 2, estimate = "ml", missed_by = "visit", added = TRUE, start = start, control = plain(2)
  ))
  expect_equal(unname(fit$param$missed), matrix(1, 1, 2))
})

test_that("visits are called visits, and probabilities of next to nothing are not spelled out", {
  set.seed(2)
  one <- matrix(rbinom(60, 1, 0.5), 10)
  fit <- visits_bernoulli(
    list("1" = one, "2" = one), k = 2, estimate = "ml", missed_by = "site", control = fit_control(n_start = 1)
  )
  expect_match(print_words(fit), "by visit 1 with probability below 0.001, visit 2 with probability below 0.001")
})

test_that("hundreds of visits that found nothing before the first that did leave a number", {
  n_visit <- 1500L
  found <- rep(0L, n_visit)
  found[n_visit] <- 1L
  set.seed(3)
  often <- function() stats::rbinom(n_visit, 1L, 0.5)
  x <- aperm(array(c(found, often(), often(), often(), often(), 0L * found), c(n_visit, 2L, 3L)), 3:1)
  dimnames(x) <- list(site = paste0("s", 1:3), taxon = c("a", "b"), visit = seq_len(n_visit))
  fit <- visits_bernoulli(x, 1, missed_by = "taxon")
  log_present <- matrix(0, 3, 2) # log P(visits | present), in logs throughout
  for (v in seq_len(n_visit)) {
    missed <- rep(fit$param$missed[, v], each = 3L)
    log_present <- log_present + log(ifelse(x[, , v] == 1, 1 - missed, missed))
  }
  p <- fitted(fit)
  loglik <- ifelse(rowSums(x, dims = 2L) > 0, log(p) + log_present, log(p * exp(log_present) + 1 - p))
  expect_true(all(is.finite(loglik)))
  expect_equal(as.numeric(logLik(fit)), sum(loglik), tolerance = 1e-10)
})
