# Tests also R/base_phantoms.R.

random_fit <- function(aspects, weights = rep(1 / nrow(aspects), nrow(aspects)), density = 0.5) {
  set.seed(1)
  x <- matrix(rep_len(c(1, 0), 10 * ncol(aspects)), 10)
  if (density != 0.5) x <- matrix(rep_len(c(rep(1, 10 * density), rep(0, 10 - 10 * density)), length(x)), 10)
  fit_with(x, matrix(weights, 10, length(weights), byrow = TRUE), aspects)
}

test_that("the rule is relative to the density, and every component is listed", {
  aspects <- rbind(rep(0.09, 4), rep(0.11, 4), c(0.9, 0.1, 0.5, 0.5), rep(0.91, 4))
  table <- phantoms(random_fit(aspects))
  expect_s3_class(table, c("phantoms", "data.frame"))
  expect_equal(table$component, paste0("A", 1:4))
  expect_equal(table$kind, c("white", "content", "content", "black"))
  expect_equal(table$mean, c(0.09, 0.11, 0.5, 0.91))
  expect_equal(table$min[3], 0.1)
  expect_equal(table$max[3], 0.9)
  expect_equal(table$white_ratio, table$mean / 0.5)
  expect_equal(table$black_ratio, (1 - table$mean) / 0.5)
  expect_equal(table$weight, rep(0.25, 4))
  expect_equal(table$above, c(0, 0, 0.25, 1))
  expect_equal(table$alone, rep(0, 4))
  expect_equal(phantoms(random_fit(aspects), white = 0.22)$kind[2], "white")
  expect_equal(phantoms(random_fit(aspects), white = 0.1, black = 0.1)$kind, rep("content", 4))
})

test_that("a mean at exactly the rule counts, a component that writes nothing does not", {
  aspects <- rbind(rep(0.1, 4), c(0.9, 0.1, 0.5, 0.5))
  expect_equal(phantoms(random_fit(aspects))$kind[1], "white")
  light <- random_fit(aspects, c(0.001, 0.999))
  expect_equal(phantoms(light)$kind[1], "content")
  expect_equal(phantoms(light, min_weight = 0)$kind[1], "white")
})

test_that("two white ones, fixed ones of no weight, and a sparse table's phantom with a large maximum", {
  aspects <- rbind(rep(0, 4), rep(0.01, 4), c(0.9, 0.1, 0.5, 0.5))
  expect_equal(phantoms(random_fit(aspects))$kind, c("white", "white", "content"))
  x <- matrix(rep(c(1, 1, 0, 0, 1), 4), 10, 2)
  start <- list(membership = matrix(c(1, 0), 10, 2, byrow = TRUE), aspects = rbind(c(0.6, 0.5), 0))
  fixed <- quiet(x, 2, phantom = "white", start = start, control = plain(0))
  expect_equal(phantoms(fixed)$kind, c("content", "white"))
  expect_equal(phantoms(fixed)$fixed, c(FALSE, TRUE))
})

test_that("a black phantom of a sparse table is flat and shares its observations with content; it may be grey", {
  content <- rbind(rep(c(0.9, 0), c(4, 16)), rep(c(0, 0.9, 0), c(4, 4, 12)))
  sparse <- function(grey, weights = c(0.4, 0.4, 0.2)) {
    phantoms(random_fit(rbind(content, grey), weights, density = 0.2))
  }
  flat <- sparse(rep(0.7, 20))
  expect_equal(flat$kind, c("content", "content", "black"))
  expect_equal(flat$black_ratio[3], 0.3 / 0.8)
  expect_equal(flat$above[3], 1)
  expect_equal(sparse(c(rep(0.7, 18), 0.1, 0.1))$kind[3], "content") # the taxa of a rich fauna, not all of them
  expect_equal(sparse(rep(0.59, 20))$kind[3], "content") # too pale
  expect_equal(sparse(rep(0.7, 20), c(0.2, 0.2, 0.6))$kind[3], "content") # writes most of its sites
  expect_equal(sparse(rep(0.7, 20), c(0.2, 0.2, 0.6))$alone[3], 1)
  partial <- random_fit(rbind(content, rep(c(0.7, 0.1), c(16, 4))), c(0.4, 0.4, 0.2), density = 0.2)
  expect_match(print_words(partial),
    "A3 comes near: it makes up 20 % of the table; in it 80 % of the taxa are likelier")
  ubiquitous <- sparse(c(1, 1, rep(0.1, 18)))
  expect_equal(ubiquitous$kind[3], "content")
})

test_that("additions to fossil-like sites are a black phantom, and the added cells rank high", {
  set.seed(31)
  sites <- rep(1:3, c(50, 50, 50))
  fauna <- outer(1:3, rep(1:3, each = 20), "==") * rbeta(180, 1, 2)
  fauna[, 60] <- 0.9 # a taxon found nearly everywhere
  clean <- bernoulli_table(fauna[sites, ] * runif(150, 0.3, 1))
  planted <- corrupt(clean, add = figure_8_rates$some(nrow(clean)))
  control <- fit_control(n_start = 5, n_polish = 0, tol = 1e-7, progress = FALSE)
  without <- suppressWarnings(aspect_bernoulli(clean, 5, estimate = "ml", control = control))
  expect_false("black" %in% phantoms(without)$kind)
  fit <- suppressWarnings(aspect_bernoulli(planted$x, 5, estimate = "ml", control = control))
  expect_equal(sum(phantoms(fit)$kind == "black"), 1)
  ranked <- false_presences(fit, Inf)
  expect_identical(attr(ranked, "by"), "absent")
  added <- planted$added[cbind(ranked$site, ranked$taxon)]
  expect_gt(rank_auc(ranked$added, added), 0.8)
  expect_gt(rank_auc(ranked$absent, added), rank_auc(ranked$probability, added) + 0.1)
  expect_match(denoise(fit, "black", keep = "replace")$dropped, "^A[1-5]$")
  expect_match(print_words(summary(fit)), "is a black phantom: .* \\(mean probability of a presence 0.[5-9]")
})

test_that("no black phantom is claimed on tables to which nothing was added", {
  control <- fit_control(n_start = 3, n_polish = 0, max_iter = 500, tol = 1e-7, progress = FALSE)
  for (draw in tables_without) {
    set.seed(11)
    x <- draw()
    for (k in c(3, 6)) {
      fit <- suppressMessages(suppressWarnings(aspect_bernoulli(x, k, estimate = "ml", control = control)))
      expect_false("black" %in% phantoms(fit)$kind)
    }
  }
})

test_that("now_2003: the paper's additions, by three readings", {
  now <- now_2003("g10s2")$x
  control <- fit_control(n_start = 3, n_polish = 0, max_iter = 1000, tol = 1e-7, progress = FALSE)
  found <- vapply(figure_8_rates, function(rates) {
    set.seed(12)
    planted <- corrupt(unname(now), add = rates(501))
    fit <- suppressWarnings(aspect_bernoulli(planted$x, 5, estimate = "ml", control = control))
    ranked <- false_presences(fit, Inf)
    added <- planted$added[cbind(ranked$site, ranked$taxon)]
    auc <- function(by) rank_auc(ranked[[by]], added)
    kinds <- phantoms(fit)$kind
    c(black = sum(kinds == "black"), white = sum(kinds == "white"), auc = auc(attr(ranked, "by")))
  }, numeric(3))
  expect_equal(found["black", ], c(scaled = 0, some = 1, all = 0)) # the others have no component that writes additions
  expect_equal(found["white", ], c(scaled = 1, some = 1, all = 1))
  expect_true(all(found["auc", ] > c(0.75, 0.8, 0.65)))
})

test_that("attributes with nothing observed do not count", {
  set.seed(2)
  x <- cbind(matrix(rep_len(c(1, 0), 40), 10), NA)
  aspects <- rbind(c(rep(0.05, 4), 0.95), rep(0.5, 5))
  fit <- fit_with(x, matrix(0.5, 10, 2), aspects)
  expect_equal(phantoms(fit)$kind, c("white", "content"))
  expect_equal(phantoms(fit)$max[1], 0.05)
})

test_that("starts tell which of them found a phantom", {
  truth <- planted(60, 16)
  set.seed(3)
  fit <- aspect_bernoulli(truth$x, 3, control = fit_control(n_start = 5, n_finish = 2))
  expect_type(fit$starts$phantom, "logical")
  expect_equal(is.na(fit$starts$phantom), !fit$starts$finished)
  expect_true(any(fit$starts$phantom, na.rm = TRUE))
  fixed <- aspect_bernoulli(truth$x, 4, phantom = "white", control = fit_control(n_start = 1, max_iter = 400))
  expect_false(fixed$starts$phantom) # only what was not fixed is found
})

test_that("other models are told why not, and print says the rule", {
  expect_error(phantoms(1), "must be a model of this package", class = "multicause_input_error")
  other <- structure(list(), class = c("nmf", "multicause"))
  expect_error(phantoms(other), "components can be phantoms.*not of nmf", class = "multicause_input_error")
  expect_snapshot(phantoms(random_fit(rbind(rep(0.0912345, 4), c(0.9, 0.1, 0.5, 0.5)))))
})

test_that("columns of large and small numbers are printed written out", {
  shown <- round_columns(data.frame(a = c(34213.4, 0.00041, NA), b = c(1.23456, 2, 3), c = 1:3), 3L)
  expect_identical(shown, data.frame(a = c("34200", "0.0004", "NA"), b = c(1.23, 2, 3), c = 1:3))
  expect_no_match(utils::capture.output(print(shown)), "e+", fixed = TRUE)
})

test_that("a noisy-OR fit without `missed_by` is refused with the way out", {
  fit <- fits_of_all()$noisy_or
  for (verb in list(phantoms, false_absences)) {
    expect_error(verb(fit), "must have been made with `missed_by`, such as noisy_or(x, k, missed_by = \"site\")",
      fixed = TRUE, class = "multicause_input_error")
  }
})
