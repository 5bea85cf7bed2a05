# Noisy-OR of repeated visits, eq. (R16) of src/noisy_or/noisy_or.h, and its slow version, visit by visit.

skip_on_cran()

# Probabilities of the detections v of a cell if the taxon is present and if it is absent, and the probability that a
# visit records it.
ref_nor_cell <- function(v, r, taxon) {
  v <- v[!is.na(v)]
  rho <- r * taxon
  through <- ifelse(v == 1, 1, taxon * (1 - r) / (1 - rho))
  c(there = prod(ifelse(v == 1, rho, 1 - rho)), absent = prod(v == 0), made = length(v), through = sum(through))
}

# list(loglik, present, site, param): the parameters after an iteration from par, and the expectations before it.
ref_nor_visits_pass <- function(cell, par, pseudo = numeric(9)) {
  d <- dim(cell)
  states <- ref_nor_states(length(par$prior))
  there <- ref_nor_there(par)
  probability <- (1:10 / 10)^2
  prior <- apply(states, 1L, function(z) prod(par$prior^z * (1 - par$prior)^(1 - z)))
  on <- numeric(ncol(states))
  links <- trials <- 0 * par$links
  leak <- seen <- all <- through <- numeric(d[2])
  share <- numeric(10)
  present <- again <- matrix(0, d[1], d[2])
  loglik <- site <- numeric(d[1])
  for (i in seq_len(d[1])) {
    joint <- outer(prior, par$recorded_share)
    parts <- list()
    for (g in 1:10) {
      parts[[g]] <- sapply(seq_len(d[2]), function(j) ref_nor_cell(cell[i, j, ], probability[g], par$recorded_taxon[j]))
      for (j in seq_len(d[2])) {
        of <- parts[[g]][, j]
        joint[, g] <- joint[, g] * (there[, j] * of[["there"]] + (1 - there[, j]) * of[["absent"]])
      }
    }
    loglik[i] <- log(sum(joint))
    joint <- joint / sum(joint)
    share <- share + colSums(joint)
    site[i] <- sum(t(joint) * probability)
    on <- on + colSums(rowSums(joint) * states)
    for (j in seq_len(d[2])) {
      for (g in 1:10) {
        of <- parts[[g]][, j]
        hidden <- there[, j] * of[["there"]]
        hidden <- joint[, g] * hidden / (hidden + (1 - there[, j]) * of[["absent"]])
        present[i, j] <- present[i, j] + sum(hidden)
        again[i, j] <- again[i, j] + sum(hidden) * probability[g] * par$recorded_taxon[j]
        if (of[["made"]] == 0) next
        links[, j] <- links[, j] + colSums(hidden / there[, j] * states) * par$links[, j]
        leak[j] <- leak[j] + sum(hidden / there[, j]) * par$leak[j]
        all[j] <- all[j] + sum(hidden) * of[["made"]]
        through[j] <- through[j] + sum(hidden) * of[["through"]]
      }
      if (of[["made"]] == 0) next
      trials[, j] <- trials[, j] + colSums(rowSums(joint) * states)
      seen[j] <- seen[j] + 1
    }
  }
  share_of <- function(one, all, at) (one + pseudo[at]) / (all + pseudo[at] + pseudo[at + 1])
  par <- list(
    prior = share_of(on, d[1], 1), links = share_of(links, trials, 3), leak = share_of(leak, seen, 5),
    recorded_share = (share + pseudo[9]) / (d[1] + 10 * pseudo[9]), recorded_taxon = share_of(through, all, 7)
  )
  list(loglik = loglik, present = present, again = again, site = site, param = par)
}

# Visits to random sites, some of them not made, and starting values.
visited_problem <- function(n = 7, m = 4, k = 2, visits = 3) {
  p <- recorded_problem("both", n = n, m = m, k = k)
  cell <- array(stats::rbinom(n * m * visits, 1L, 0.3), c(n, m, visits))
  cell[1, , 2:3] <- NA
  cell[2, 1, ] <- NA
  cell[3, 2, 1] <- NA
  dimnames(cell) <- list(site = paste0("s", 1:n), species = paste0("t", 1:m), visit = NULL)
  list(cell = cell, start = p$start)
}

# Sites with varying search effort, taxa with varying detectability.
visited_planted <- function(n = 150, m = 24, seed = 1, visits = 3) {
  set.seed(seed)
  links <- matrix(stats::rbinom(3 * m, 1L, 0.4) * 0.8, 3)
  on <- matrix(stats::rbinom(n * 3, 1L, 0.35), n)
  present <- matrix(stats::rbinom(n * m, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), n)
  site <- sample((2:9 / 10)^2, n, TRUE)
  taxon <- stats::runif(m, 0.4, 1)
  cell <- array(stats::rbinom(n * m * visits, 1L, as.vector(present * outer(site, taxon))), c(n, m, visits))
  cell[seq_len(n / 3), , visits] <- NA
  dimnames(cell) <- list(site = NULL, species = paste0("t", 1:m), visit = NULL)
  list(cell = cell, present = present, site = site, taxon = taxon)
}

test_that("an iteration over repeated visits, and what it says of cells, equal the transcription", {
  set.seed(1)
  map <- unlist(noisy_or_prior(), use.names = FALSE) - 1
  for (k in c(1, 2, 5)) {
    p <- visited_problem(k = k)
    for (estimate in c("ml", "map")) {
      pseudo <- if (estimate == "map") map else numeric(9)
      fit <- function(iterations) {
        quietly(noisy_or(
          p$cell, k, estimate = estimate, missed_by = "both", inner = 1, start = p$start,
            control = nor_plain(iterations)
        ))
      }
      want <- ref_nor_visits_pass(p$cell, p$start, pseudo)
      before <- fit(0)
      expect_close(before$loglik, sum(want$loglik), 1e-10)
      expect_close(before$param$recorded_site, want$site, 1e-10)
      made <- !is.na(before$x)
      expect_close(predict(before, type = "present")[made], want$present[made], 1e-10)
      expect_close(multicause:::recorded_probability(before)[, , 3], want$again, 1e-10)
      after <- fit(1)
      for (part in names(want$param)) expect_close(after$param[[part]], want$param[[part]], 1e-10)
    }
  }
})

test_that("lists of states bound the likelihood of visits, and end at it with all states", {
  set.seed(4)
  p <- visited_problem(n = 12, m = 10, k = 6)
  loglik <- function(k, inference) {
    start <- p$start
    start$prior <- start$prior[seq_len(k)]
    start$links <- start$links[seq_len(k), ]
    quietly(noisy_or(
      p$cell, k, inference = inference, missed_by = "both", start = start, control = nor_plain(0)
    ))$loglik
  }
  expect_equal(loglik(4, "truncated"), loglik(4, "exact"), tolerance = 1e-12)
  expect_lt(loglik(6, "truncated"), loglik(6, "exact"))
})

test_that("visits that are one each are a table, and a visit that was not made changes nothing", {
  set.seed(2)
  p <- visited_problem(n = 12, m = 6, k = 3)
  fit <- function(x) {
    quietly(noisy_or(
      x, 3, inference = "truncated", missed_by = "both", start = p$start, control = nor_plain(15)
    ))
  }
  table <- p$cell[, , 1]
  one <- replace(p$cell, seq_along(p$cell) > length(table), NA)
  expect_equal(fit(one)$param, fit(table)$param, tolerance = 1e-12)
  expect_equal(fitted(fit(one)), fitted(fit(table)), tolerance = 1e-12)
  all <- fit(p$cell)
  expect_equal(fit(p$cell[, , c(3, 1, 2)])$param, all$param, tolerance = 1e-12)
  unseen <- array(NA, dim(p$cell), dimnames(p$cell))
  more <- array(c(p$cell, unseen), c(12, 6, 6), dimnames(p$cell))
  expect_equal(fit(more)$param, all$param, tolerance = 1e-12)
  tables <- lapply(1:3, function(v) p$cell[, , v])
  expect_equal(unname(fit(tables)$objective), unname(all$objective))
  expect_identical(update(all, control = nor_plain(15, n_threads = 2))$param, all$param)
})

test_that("the objective of visits never falls", {
  set.seed(3)
  for (run in 1:16) {
    k <- sample(5, 1)
    p <- visited_problem(sample(4:20, 1), sample(3:8, 1), k)
    fit <- quietly(noisy_or(
      p$cell, k, estimate = if (run %% 2) "ml" else "map", missed_by = "both", start = p$start,
      inference = if (run %% 4 < 2) "exact" else "truncated",
      control = fit_control(n_start = 1, max_iter = 30, tol = 0, accelerate = run %% 3 == 0)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-10 * max(1, abs(fit$objective)))
  }
})

test_that("visits to planted sites tell what was missed, and how much", {
  p <- visited_planted(400, 16)
  set.seed(1)
  control <- fit_control(n_start = 2)
  fit <- quietly(noisy_or(p$cell, 3, missed_by = "both", control = control))
  table <- quietly(noisy_or(fit$x, 3, missed_by = "both", control = control))
  zero <- fit$x == 0
  hidden <- p$present[zero] == 1
  auc <- function(fit) rank_auc(predict(fit, type = "present")[zero], hidden)
  expect_gt(auc(fit), auc(table) + 0.01)
  expect_lt(abs(fit$missed / sum(hidden) - 1), 0.1)
  expect_gt(stats::cor(fit$param$recorded_site, p$site), stats::cor(table$param$recorded_site, p$site))
  recorded <- mean(outer(fit$param$recorded_site, fit$param$recorded_taxon))
  expect_equal(recorded, mean(outer(p$site, p$taxon)), tolerance = 0.1)
})

test_that("verbs know what visits are", {
  p <- visited_planted(60, 12, 2)
  set.seed(1)
  fit <- quietly(noisy_or(p$cell, 2, missed_by = "site", control = fit_control(n_start = 2)))
  cells <- false_absences(fit, n = Inf, by = "missed")
  expect_equal(attr(cells, "expected"), fit$missed, tolerance = 1e-12)
  expect_equal(cells$missed, predict(fit, type = "present")[cbind(cells$site, match(cells$taxon, fit$names[[2]]))])
  expect_true(all(cells$phantom >= cells$missed))
  expect_snapshot(print(fit))
  expect_snapshot(print(utils::head(cells, 3)))
  expect_snapshot(phantoms(fit))
  drawn <- simulate(fit, 40, seed = 1)
  expect_identical(is.na(drawn[[1]]), is.na(p$cell))
  expect_equal(mean(unlist(drawn), na.rm = TRUE), mean(p$cell, na.rm = TRUE), tolerance = 0.1)
  cv <- quietly(cross_validate(p$cell, 1:2, noisy_or, "visits", missed_by = "site", folds = 2))
  expect_true(all(is.finite(cv$results$loss)))
  expect_identical(update(fit)$dims, fit$dims)
})

test_that("what visits do not go with is refused", {
  p <- visited_problem()
  expect_error(noisy_or(p$cell, 2), "missed_by")
  expect_error(noisy_or(p$cell, 2, missed_by = "site", inference = "variational"), "inference")
  expect_error(noisy_or(p$cell, 9, missed_by = "site", inference = "exact"), "at most 8")
  expect_error(noisy_or(p$cell, 2, missed_by = "site", control = fit_control(keep_x = FALSE)), "keep_x")
  fit <- quietly(noisy_or(p$cell, 2, missed_by = "site", control = fit_control(n_start = 1)))
  expect_error(identifiability(fit), "single visits")
  table <- quietly(noisy_or(fit$x, 2, missed_by = "site", control = fit_control(n_start = 1)))
  expect_error(cross_validate(p$cell, 2, function(x, k, ...) table, "visits", folds = 2), "visits_bernoulli")
})
