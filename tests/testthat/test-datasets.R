test_that("the occurrence table is what its help page says", {
  expect_identical(dim(tetrapod_occurrences), c(5270L, 18L))
  expect_identical(sum(tetrapod_occurrences$accepted_rank == "genus"), 1016L)
  expect_identical(sum(is.na(tetrapod_occurrences$genus)), 686L)
  expect_identical(sum(is.na(tetrapod_occurrences$formation)), 1526L)
  expect_identical(sum(grepl("trace", tetrapod_occurrences$pres_mode)), 265L)
  expect_false(anyNA(tetrapod_occurrences$cc))
  expect_true(all(tetrapod_occurrences$max_ma > tetrapod_occurrences$min_ma))
  expect_false(anyDuplicated(tetrapod_occurrences$occurrence_no) > 0L)
  text <- vapply(tetrapod_occurrences, is.character, NA)
  expect_false(any(grepl("[^ -~]", unlist(tetrapod_occurrences[text]))))
})

test_that("the table of sites and genera follows from the occurrences", {
  tetrapods <- early_tetrapods
  bodies <- tetrapod_occurrences[!grepl("trace", tetrapod_occurrences$pres_mode), ]
  suppressMessages(x <- occurrence_matrix(bodies, c("formation", "early_interval"), "genus", 3, 2))
  expect_identical(x[rownames(tetrapods$x), colnames(tetrapods$x)], tetrapods$x)
  expect_identical(dim(x), dim(tetrapods$x))
  expect_identical(dim(x), c(129L, 113L))
  expect_identical(sum(x), 697L)
  expect_true(all(rowSums(x) >= 2) && all(colSums(x) >= 3))
})

test_that("its tables are in step with the matrix", {
  x <- early_tetrapods$x
  sites <- early_tetrapods$sites
  genera <- early_tetrapods$genera
  expect_identical(sites$site, rownames(x))
  expect_identical(rownames(sites), rownames(x))
  expect_identical(sites$n_taxa, as.integer(rowSums(x)))
  expect_identical(sites$site, paste(sites$formation, sites$early_interval, sep = ", "))
  expect_false(anyNA(sites))
  expect_true(all(sites$min_ma <= sites$age & sites$age <= sites$max_ma))
  expect_true(all(abs(sites$lng) <= 180) && all(abs(sites$lat) <= 90))
  expect_false(is.unsorted(-sites$age))
  expect_identical(range(sites$n_collections), c(1L, 38L))
  expect_identical(genera$genus, colnames(x))
  expect_identical(genera$n_sites, as.integer(colSums(x)))
  expect_true(all(genera$oldest_ma >= genera$youngest_ma))
})

test_that("the simulated sites have the truth they tell", {
  x <- simulated_sites$x
  truth <- simulated_sites$truth
  expect_identical(dim(x), c(120L, 40L))
  expect_true(all(x <= truth$present))
  expect_identical(sum(truth$present == 1L & x == 0L), 700L)
  expect_identical(sum(x == 0L), 4054L)
  expect_equal(rowSums(truth$membership), setNames(rep(1, 120), rownames(x)))
  expect_true(all(truth$aspects["phantom", ] == 0))
  expect_identical(dimnames(truth$membership %*% truth$aspects), dimnames(x))
  expect_identical(simulated_sites$sites$site, rownames(x))
  # x was drawn with these probabilities, except for sites excluded as too poor
  p <- truth$membership %*% truth$aspects
  expect_lt(abs(sum(x) - sum(p)), 4 * sqrt(sum(p * (1 - p))))
})

test_that("all data together are small", {
  path <- system.file("data", package = "multicause")
  skip_if_not(nzchar(path))
  expect_lt(sum(file.size(list.files(path, full.names = TRUE))), 3e5)
})
