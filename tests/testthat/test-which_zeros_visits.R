# Surveys in which the second half of the sites was visited late, with low detection.

skip_on_cran()

late_visits <- function() {
  set.seed(51)
  present <- outer(1:60, 1:12, function(i, j) (i %% 2 == 0) == (j <= 6)) * matrix(rbinom(720, 1, 0.7), 60)
  day <- matrix(runif(180, 0, 1), 60) + rep(c(0, 1.5), each = 30)
  cell <- array(0L, c(60, 12, 3), list(site = paste0("s", 1:60), species = paste0("t", 1:12), visit = 1:3))
  for (v in 1:3) cell[, , v] <- present * rbinom(720, 1, plogis(1.2 - 1.6 * day[, v]))
  recorded <- 1 - Reduce(`*`, lapply(1:3, function(v) 1 - plogis(1.2 - 1.6 * day[, v])))
  list(visits = cell, day = day, wet = rep(0:1, 30), recorded = recorded, present = present)
}
case <- late_visits()

test_that("what visits miss goes by covariates", {
  by_day <- which_zeros(
    visits = case$visits, detection = ~day, visit_data = list(day = case$day), presence = ~wet,
    site_data = data.frame(wet = case$wet), quick = TRUE, seed = 1
  )
  late <- rep(c("early", "late"), each = 30)
  lost <- function(w) by_site(w, groups = late)
  truth <- tapply(rowSums(case$present > apply(case$visits, 1:2, max)), late, sum)
  expect_true(in_order(lost(by_day)$low, truth, lost(by_day)$high))
  expect_gt(lost(by_day)$missed[2L], 2 * lost(by_day)$missed[1L])
  plain_answer <- which_zeros(visits = case$visits, quick = TRUE, seed = 1)
  off <- function(w) sum(abs(lost(w)$missed - truth))
  expect_lt(off(by_day), off(plain_answer))
  # A list in the format of spOccupancy includes its covariates; sites can be excluded.
  packed <- list(
    y = aperm(case$visits, c(2, 1, 3)), det.covs = list(day = case$day), occ.covs = data.frame(wet = case$wet)
  )
  short <- which_zeros(visits = packed, detection = ~day, leave_out = 1:5, quick = TRUE, seed = 1)
  expect_identical(short$dims[["n"]], 55L)
  expect_lt(cor(rowMeans(short$ratios$offset), case$recorded[-(1:5)]), -0.5)
})

# Missing visits: one at two sites, all at one, one for some taxa.
fewer_visits <- function() {
  bare <- case$visits
  bare[c("s3", "s45"), , 2L] <- NA
  bare["s5", , ] <- NA
  bare["s60", 8:12, 1L] <- NA # a visit that looked for some taxa alone
  bare
}

test_that("a zero is explained by what its visits find, every draw and node by hand", {
  bare <- fewer_visits()
  data <- list(visit = list(day = case$day), site = data.frame(wet = case$wet))
  w <- suppressMessages(which_zeros(
    visits = bare, detection = ~day, presence = ~wet, visit_data = data$visit, site_data = data$site, quick = TRUE,
    seed = 1
  ))
  cell <- suppressMessages(check_visits(bare))
  by <- occupancy_designs(~wet, ~day, cell, data)
  control <- fit_control(progress = FALSE, tol = 1e-7)
  draws <- with_seed(1L, occupancy_answer(cell, by, occupancy_uneven, control, few_occupancy_draws))$draws
  slopes <- own_coefficients(draws$theta, by, "detection")
  for (site in c("s3", "s45", "s60")) {
    taxon <- utils::tail(which(rowSums(bare[site, , ] == 1, na.rm = TRUE) == 0), 1L)
    visits <- which(!is.na(bare[site, taxon, ]))
    day <- case$day[match(site, rownames(bare)), visits]
    found <- numeric(length(visits))
    silent <- 0
    for (draw in seq_len(dim(slopes)[3L])) {
      uneven <- occupancy_uneven[draws$uneven[draw]]
      for (node in seq_along(normal_nodes$at)) {
        p <- 1 / (1 + exp(-slopes[1, taxon, draw] - slopes[2, taxon, draw] * day - uneven * normal_nodes$at[node]))
        weight <- normal_nodes$weight[node] / dim(slopes)[3L]
        found <- found + weight * p
        silent <- silent + weight * prod(1 - p)
      }
    }
    why <- explain(w, site, names(taxon))$visits
    expect_identical(why$each$visit, as.character(visits))
    expect_equal(why$each$found, found, tolerance = 1e-10)
    expect_equal(why$silent, silent, tolerance = 1e-10)
  }
})

test_that("the probability that all visits missed a taxon is the one that the zero rests on", {
  cell <- case$visits
  dimnames(cell)[[2L]][3L] <- "nowhere"
  cell[, 3L, ] <- 0L
  names(dimnames(cell))[1L] <- "plot"
  w <- suppressMessages(which_zeros(visits = cell, quick = TRUE, seed = 1))
  zeros <- as.data.frame(w, n = 40)
  silent <- mapply(function(site, taxon) explain(w, site, taxon)$visits$silent, zeros$site, zeros$taxon)
  offset <- w$ratios$offset[cbind(match(zeros$site, rownames(cell)), match(zeros$taxon, colnames(cell)))]
  expect_equal(log(unname(silent)), offset, tolerance = 0.1)
  # Computed from the corresponding fit available to users, with other draws.
  fit <- suppressMessages(visits_occupancy(cell[, -3L, ]))
  first <- explain(w, zeros$site[1L], zeros$taxon[1L])
  own <- predict(fit, type = "detection", site_data = data.frame(visit = factor(1:3)))[, zeros$taxon[1L]]
  expect_equal(first$visits$each$found, unname(own), tolerance = 0.1)
  said <- gsub("\\s+", " ", paste(capture.output(print(first)), collapse = " "))
  expect_match(said, sprintf(
    "Visits: 3 to this plot. Where the species is, a visit finds it with probability %s, and all miss it with %s %.2f.",
    paste(sprintf("%.2f \\(%d\\)", first$visits$each$found, 1:3), collapse = ", "), "probability",
    first$visits$silent
  ))
  expect_null(explain(which_zeros(apply(cell, 1:2, max)[, -3L], quick = TRUE, seed = 1), zeros$site[1L],
    zeros$taxon[1L])$visits)
})

test_that("visits that look like years are said to be less alike", {
  named <- function(visit) {
    labels <- c(dimnames(case$visits)[1:2], visit)
    suppressMessages(which_zeros(visits = `dimnames<-`(case$visits, labels), quick = TRUE, seed = 1))
  }
  plain <- named(list(visit = 1:3))
  expect_null(plain$visits$years)
  expect_no_match(format(plain), "years")
  for (visit in list(list(visit = 2001:2003), list(year = c("a", "b", "c")))) {
    w <- named(visit)
    expect_match(format(w)[["years"]], sprintf("^Visits look like years \\(%s\\)", toString(visit[[1L]])))
    expect_output(print(w), "look like years")
    expect_identical(w$total, plain$total)
    expect_lt(w$visits$years[["low"]], w$total[["low"]])
    expect_gt(w$visits$years[["high"]], w$total[["high"]])
  }
})

test_that("covariates without visits, or without a formula, are refused", {
  x <- apply(case$visits, 1:2, max)
  expect_snapshot(error = TRUE, {
    which_zeros(x, detection = ~day)
    which_zeros(x, site_data = data.frame(wet = case$wet))
    which_zeros(visits = case$visits, visit_data = list(day = case$day))
    which_zeros(visits = case$visits, detection = ~night, visit_data = list(day = case$day))
    which_zeros(visits = case$visits, presence = ~day, visit_data = list(day = case$day))
  })
})

test_that("how visits are taken is said of them, and advises no argument that is not there", {
  visits <- unname(case$visits)
  dimnames(visits) <- NULL
  said <- tryCatch(which_zeros(visits = visits, quick = TRUE), message = conditionMessage)
  expect_match(said, "`visits` is taken as 60 sites x 12 taxa x 3 visits")
  expect_match(said, "names(dimnames(visits))", fixed = TRUE)
  expect_no_match(said, "`sides", fixed = TRUE)
})

test_that("visits are matched to a table by name, with their covariates", {
  x <- apply(case$visits, 1:2, max)
  turned <- list(site = 60:1, taxon = c(7:12, 1:6))
  given <- list(detection = ~day, quick = TRUE, seed = 1)
  ask <- function(...) do.call(which_zeros, c(list(...), given))
  plain <- ask(x, visits = case$visits, visit_data = list(day = case$day))
  # Covariates without names are in the order of the visits.
  moved <- ask(x, visits = case$visits[turned$site, turned$taxon, ], visit_data = list(day = case$day[turned$site, ]))
  expect_identical(dimnames(moved$probability), dimnames(plain$probability))
  expect_equal(moved$total[["missed"]], plain$total[["missed"]], tolerance = 0.01)
  expect_equal(by_site(moved)$missed, by_site(plain)$missed, tolerance = 0.1)
  expect_identical(visit_order(x[5:1, ], case$visits)[[1]], 5:1)
  expect_snapshot(error = TRUE, {
    which_zeros(replace(x, 3, 1 - x[3]), visits = case$visits)
    which_zeros(x[1:3, ] |> `rownames<-`(c("s1", "s2", "z")), visits = case$visits)
    which_zeros(unname(x)[1:30, ], visits = case$visits)
  })
})

test_that("sites without a visit are taken", {
  bare <- case$visits
  bare[2:3, , ] <- NA
  w <- suppressMessages(which_zeros(visits = bare, detection = ~day, visit_data = list(day = case$day), quick = TRUE,
    seed = 1))
  expect_identical(w$dims[["n"]], 60L)
  # A table of all presences has 0 where nobody searched.
  x <- ifelse(is.na(any_visit(suppressMessages(check_visits(bare)))), 0L, apply(case$visits, 1:2, max))
  expect_identical(wz_found(x, bare), any_visit(bare))
})

# Shares of taxa, cell by cell: each taxon's number from occupancy, times what the mean of two ratios (its own, at which
# its zeros sum to what occupancy expects of the next visit, and one for all taxa) expects there, over that.
shares_by_hand <- function(eta, zero, taxa, ahead) {
  ratio <- function(eta, total) {
    stats::uniroot(function(r) sum(plogis(eta + r)) - total, c(-30, 30), tol = 1e-12)$root
  }
  common <- ratio(eta[zero], sum(ahead))
  share <- taxa
  for (j in which(ahead > 0)) {
    own <- ratio(eta[zero[, j], j], ahead[j])
    share[j] <- taxa[j] * sum(plogis(eta[zero[, j], j] + (own + common) / 2)) / ahead[j]
  }
  share / sum(share)
}

test_that("zeros of each taxon sum to its own number, moved half-way to the ranking's", {
  cell <- suppressMessages(check_visits(case$visits))
  zero <- any_visit(cell) == 0
  set.seed(3)
  eta <- matrix(rnorm(720), 60)
  known <- list(eta = eta, zero = zero)
  missed <- function(visits, end = 1L) {
    found <- one_ratio(known, visits$total, 0, visits)$ratios
    offset <- if (is.null(found$offset)) 0 else found$offset
    replace(plogis(found$slope * eta + offset + rep(found$log[, end], each = 60)), !zero, NA)
  }
  plain <- total_by_visits(list(cell = cell))
  expect_null(plain$present)
  p <- missed(plain)
  wanted <- plain$total[["missed"]] * shares_by_hand(eta, zero, plain$taxa, plain$ahead)
  expect_equal(unname(colSums(p, na.rm = TRUE)), wanted, tolerance = 1e-6)
  expect_equal(sum(missed(plain, 2L), na.rm = TRUE), plain$total[["low"]], tolerance = 1e-6)
  # One ratio per taxon: without covariates its order is that of the log-odds.
  for (j in 1:12) expect_false(is.unsorted(p[zero[, j], j][order(eta[zero[, j], j])]))
  model <- list(presence = ~wet, site_data = data.frame(wet = case$wet))
  follows <- total_by_visits(list(cell = cell, visit_model = model))
  p <- missed(follows)
  expect_equal(sum(p, na.rm = TRUE), follows$total[["missed"]], tolerance = 1e-6)
  own <- follows$present + follows$silent
  expect_gt(cor(p[zero], own[zero]), cor(missed(plain)[zero], own[zero]))
})

test_that("taxa that the next visit finds as the ranking expects keep their numbers, others lie between", {
  set.seed(5)
  eta <- matrix(rnorm(120), 20)
  zero <- matrix(runif(120) < 0.8, 20)
  known <- list(eta = eta, zero = zero)
  ahead <- colSums(plogis(eta - 1) * zero)
  taxa <- 2 * ahead * c(1, 3, 1, 2, 1, 1)
  expect_equal(taxa_by_both(known, list(taxa = taxa, ahead = ahead)), taxa / sum(taxa), tolerance = 1e-7)
  more <- replace(ahead, 2, 2 * ahead[2])
  share <- taxa_by_both(known, list(taxa = replace(taxa, 2, 2 * taxa[2]), ahead = more))
  expect_gt(share[2] / share[1], taxa[2] / taxa[1])
  expect_lt(share[2] / share[1], 2 * taxa[2] / taxa[1])
  expect_identical(taxa_by_both(known, list(taxa = numeric(6), ahead = numeric(6))), numeric(6))
})

test_that("finds of the next visit are those of sample coverage", {
  fit <- suppressMessages(visits_occupancy(case$visits))
  draws <- fit$draws[c("theta", "uneven")]
  ahead <- finds_ahead(kept_visits(fit), draws, fit[c("presence", "detection")])
  some <- sample_coverage(fit)
  expect_length(ahead, 12L)
  expect_equal(sum(ahead), sum(some$new), tolerance = 0.05)
})

test_that("a taxon that no visit found takes nothing from the result, and one visit gives no estimate of Chao's", {
  visits <- case$visits
  visits[, 4, ] <- 0L
  w <- suppressMessages(which_zeros(visits = visits, quick = TRUE, seed = 1))
  expect_error(plot(w, "surveys"), NA)
  expect_error(plot(w, "sites"), NA)
  expect_s3_class(contrast(w, rep(c("a", "b"), 30)), "which_zeros_contrast")
  expect_s3_class(suppressMessages(sensitivity(w)), "which_zeros_sensitivity")
  one <- suppressWarnings(suppressMessages(
    which_zeros(visits = case$visits[, , 1, drop = FALSE], quick = TRUE, seed = 1)
  ))
  expect_false("chao" %in% one$estimates$source)
  expect_null(total_by_chao(case$visits[, , 1, drop = FALSE]))
  mixed <- case$visits
  mixed[31:60, , 2:3] <- NA
  expect_equal(total_by_chao(mixed)[[1]], 2 * total_by_chao(mixed[1:30, , ])[[1]])
})
