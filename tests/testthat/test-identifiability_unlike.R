# Misses that differ among attributes: bounds by attribute, and by attribute and observation.

largest_other <- function(p, observed, i, j) {
  p[!observed] <- 0
  c(row = max(p[i, -j], 0), column = max(p[-i, j], 0))
}

table_with_gaps <- function(n, m, k = 2, missing = 0.1) {
  content <- random_simplex(n, k + 1)
  x <- binary(n, m)
  x[sample.int(n * m, missing * n * m)] <- NA
  fit_with(x, content, rbind(random_unit(k, m), 0), phantom = "white")
}

test_that("the bounds are those of their definition, in blocks of rows as well", {
  set.seed(1)
  fit <- table_with_gaps(13, 6)
  p <- fitted(fit)
  observed <- !is.na(fit$x)
  sure <- identifiability(fit, cells = TRUE)
  top <- apply(replace(p, !observed, 0), 2, max)
  at <- cbind(match(sure$cells$site, rownames(p)), match(sure$cells$taxon, colnames(p)))
  if (anyNA(at)) at <- cbind(sure$cells$site, sure$cells$taxon)
  missed <- function(p, scale) (p / scale - p) / (1 - p)
  expect_equal(sure$cells$missed_taxon_most, missed(p[at], top[at[, 2]]))
  product <- apply(at, 1, function(cell) prod(largest_other(p, observed, cell[1], cell[2])))
  expect_equal(sure$cells$missed_both_most, missed(p[at], pmax(p[at], product)))
  expect_equal(sure$unlike$most, c(sum(sure$cells$missed_taxon_most), sum(sure$cells$missed_both_most)))
  expect_equal(sure$unlike$n_cells, rep(sum(fit$x == 0, na.rm = TRUE), 2))
  expect_equal(sure$taxa$missed_most, unname(1 - top))
  many <- table_with_gaps(3000, 400, 1, 0)
  expect_gt(length(row_blocks(1:3000, 400)), 1)
  p <- unname(fitted(many))
  whole <- column_tops(many, many$x, "white")
  expect_equal(whole$top, apply(p, 2, max))
  expect_equal(whole$at, apply(p, 2, which.max))
  expect_equal(whole$second, apply(p, 2, function(column) sort(column, decreasing = TRUE)[2]))
})

test_that("no decomposition with rates by attribute and observation lies outside, and one attains the bound", {
  set.seed(2)
  for (trial in 1:40) {
    present <- matrix(stats::rbeta(24, 0.7, 0.7), 6)
    rate <- list(site = stats::runif(6, 0.3, 1), taxon = stats::runif(4, 0.3, 1))
    of <- list(taxon = matrix(rate$taxon, 6, 4, byrow = TRUE))
    of$both <- rate$site * of$taxon
    for (by in names(of)) {
      p <- present * of[[by]]
      seen <- list(p = p, observed = matrix(TRUE, 6, 4))
      most <- unlike_missed(seen, 1:6, two_tops(t(p), t(seen$observed)))[[by]]
      expect_true(all((present - p) / (1 - p) <= most + 1e-12))
    }
    # The bound of one cell has only the misses that it requires.
    i <- sample.int(6, 1)
    j <- sample.int(4, 1)
    other <- largest_other(p, seen$observed, i, j)
    d <- replace(rep(1, 4), j, max(other[["column"]], p[i, j]))
    e <- replace(rep(1, 6), i, max(other[["row"]], p[i, j] / d[j]))
    attained <- p / outer(e, d)
    expect_true(all(attained <= 1 + 1e-12))
    expect_equal((attained[i, j] - p[i, j]) / (1 - p[i, j]), most[i, j])
  }
})

test_that("the bounds contain each other, also for black phantoms and over draws", {
  set.seed(3)
  fit <- table_with_gaps(12, 7)
  sure <- identifiability(fit, cells = TRUE, nsim = 4)
  cells <- sure$cells
  expect_true(all(cells$missed_both_most >= pmax(cells$missed_taxon_most, cells$missed_outer_most) - 1e-12))
  expect_true(all(sure$unlike$draws_most > 0))
  expect_match(print_words(summary(sure)), "each taxon is missed at a rate of its own, up to [0-9]+ of [0-9]+ zeros")
  black <- fit_with(1 - fit$x, fit$param$membership, 1 - fit$param$aspects, phantom = "black")
  other <- identifiability(black, cells = TRUE)
  expect_equal(other$cells$added_both_most, cells$missed_both_most)
  expect_output(print(summary(other)), "ones may\\s+be false")
  both <- fit_with(fit$x, random_simplex(12, 4), rbind(random_unit(2, 7), 0, 1), phantom = "both")
  expect_equal(nrow(identifiability(both)$unlike), 4)
  expect_equal(nrow(as.data.frame(sure, table = "unlike")), 2)
})

test_that("an attribute or observation that nobody recorded bounds nothing", {
  set.seed(4)
  x <- binary(8, 5)
  x[, 2] <- 0
  x[3, ] <- NA
  fit <- fit_with(x, random_simplex(8, 3), rbind(random_unit(2, 5), 0), phantom = "white")
  fit$param$aspects[, 2] <- 0
  sure <- identifiability(fit, cells = TRUE)
  expect_identical(sure$taxa$missed_most[2], 1)
  expect_identical(sure$taxa$site[2], sure$taxa$site[0][1])
  bare <- sure$cells$taxon %in% c(2, colnames(x)[2])
  expect_true(all(sure$cells$missed_taxon_most[bare] == 1))
})
