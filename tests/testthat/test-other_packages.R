# Tables in the formats of palaeoverse, divDyn, iNEXT and vegan are accepted by occurrence_matrix() and the models.

quietly <- function(x) suppressMessages(x, classes = "multicause_message")

few_starts <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)

# Columns and types as in palaeoverse::tetrapods after bin_time() and bin_space().
palaeoverse_table <- function() {
  data.frame(
    occurrence_no = c(10L, 11L, 12L, 13L, 14L, 15L), collection_no = c(1L, 1L, 2L, 2L, 3L, 3L),
    identified_name = c(
      "Eryops sp.", "Dimetrodon limbatus", "Eryops megacephalus", "Captorhinus aguti", "Dimetrodon sp.", ""
    ),
    accepted_name = c(
      "Eryops", "Dimetrodon limbatus", "Eryops megacephalus", "Captorhinus aguti", "Dimetrodon", "Reptilia"
    ),
    accepted_rank = c("genus", "species", "species", "species", "genus", "class"),
    early_interval = "Artinskian", late_interval = "", max_ma = 290.1, min_ma = 283.5,
    genus = c("Eryops", "Dimetrodon", "Eryops", "Captorhinus", "Dimetrodon", NA),
    lng = c(-98.1, -98.1, -98.4, -98.4, -100, -100), lat = c(33.6, 33.6, 33.7, 33.7, 34, 34), id = 1:6, n_bins = 1L,
    bin_assignment = 30L, overlap_percentage = 100, bin_midpoint = 286.8,
    cell_ID = c("8a", "8a", "8a", "8a", "8b", "8b"), stringsAsFactors = FALSE
  )
}

test_that("palaeoverse: occurrences, by collection or by the cell and bin it gave them", {
  table <- palaeoverse_table()
  x <- quietly(occurrence_matrix(table, "collection_no", "genus"))
  expect_identical(dimnames(x), list(c("1", "2", "3"), c("Captorhinus", "Dimetrodon", "Eryops")))
  expect_equal(unname(x[, "Dimetrodon"]), c(1, 0, 1))
  expect_identical(site_table(x)$bin_midpoint, rep(286.8, 3))
  by_cell <- quietly(occurrence_matrix(table, c("cell_ID", "bin_assignment"), "genus", count = TRUE))
  expect_identical(rownames(by_cell), c("8a, 30", "8b, 30"))
  expect_equal(by_cell["8a, 30", "Eryops"], 2)
  expect_s3_class(quietly(bernoulli_mixture(x, 1, control = few_starts)), "bernoulli_mixture")
})

# Columns as in divDyn's `corals`, with the numbers of `tens` and `stages` in `ten` and `stg`.
divdyn_table <- function() {
  data.frame(
    genus = c("Acropora", "Porites", "Acropora", "Favia", "Porites"), collection_no = c(5, 5, 6, 6, 7),
    family = "x", abund_value = c(3, NA, 2, 1, 4), abund_unit = c("specimens", NA, rep("specimens", 3)),
    reference_no = 1, lat = 10.5, lng = 100.2, paleolat = 9, paleolng = 99, period = "Neogene", stage = "Piacenzian",
    max_ma = 3.6, min_ma = 2.588, stg = c(93, 93, 93, 93, 94), ten = 48, env = "r", lith = "c",
    gensp = c("Acropora sp", "Porites a", "Acropora sp", "Favia b", "Porites a"), stringsAsFactors = TRUE
  )
}

test_that("divDyn: occurrences with factors and numbers, by collection or stage", {
  table <- divdyn_table()
  x <- quietly(occurrence_matrix(table, "collection_no", "genus"))
  expect_identical(dimnames(x), list(c("5", "6", "7"), c("Acropora", "Favia", "Porites")))
  expect_identical(site_table(x)$stg, c(93, 93, 94))
  by_stage <- quietly(occurrence_matrix(table, "stg", "genus", count = "abund_value"))
  expect_equal(by_stage["93", "Acropora"], 5)
  expect_true(is.na(by_stage["93", "Porites"])) # abundance unknown
  expect_s3_class(quietly(nmf(by_stage, 1, control = few_starts)), "nmf")
})

test_that("iNEXT: taxa by sites, turned round; incidences of sampling units", {
  # Format of iNEXT's `bird`: a data frame of counts, species in rows, sites in columns.
  bird <- data.frame(
    North.site = c(0L, 41L, 3L, 0L), South.site = c(3L, 33L, 0L, 1L),
    row.names = c("Acanthiza_lineata", "Acanthiza_nana", "Acanthiza_pusilla", "Anthochaera_chrysoptera")
  )
  fit <- plsa(t(bird), 1, control = few_starts)
  expect_identical(fit$names, list(names(bird), rownames(bird)))
  long <- as.data.frame(as.table(as.matrix(bird)), responseName = "abundance")
  x <- quietly(occurrence_matrix(long, "Var2", "Var1", count = "abundance"))
  expect_equal(x[names(bird), rownames(bird)], t(bird), ignore_attr = "sites")
  # Format of one assemblage of `ciliates`: a species by sampling units matrix of 0 and 1.
  raw <- matrix(c(1, 0, 1, 1, 0, 0, 1, 1, 0), 3, dimnames = list(paste0("sp", 1:3), paste0("x", 1:3)))
  fit <- quietly(bernoulli_mixture(t(raw), 1, control = few_starts))
  expect_identical(fit$names, list(colnames(raw), rownames(raw)))
})

test_that("vegan: community tables as data frames, and what decostand() makes of them", {
  # Format of `dune`: counts, sites by species, row names that are numbers in text.
  dune <- data.frame(
    Achimill = c(1, 3, 0, 0, 2), Agrostol = c(0, 0, 4, 8, 0), Airaprae = c(0, 0, 0, 0, 2), Alopgeni = c(0, 2, 7, 2, 0),
    row.names = c("1", "2", "3", "4", "17")
  )
  fit <- plsa(dune, 2, control = few_starts)
  expect_identical(fit$names, list(rownames(dune), names(dune)))
  expect_error(
    aspect_bernoulli(dune, 1, control = few_starts), "(x > 0) + 0", fixed = TRUE, class = "multicause_input_error"
  )
  fit <- quietly(bernoulli_mixture((dune > 0) + 0, 1, control = few_starts))
  expect_identical(fit$names, list(rownames(dune), names(dune)))
  skip_if_not_installed("vegan")
  present <- vegan::decostand(dune, "pa")
  expect_identical(quietly(bernoulli_mixture(present, 1, control = few_starts))$param, fit$param)
  expect_identical(vegan::scores(fit, "species"), t(fit$param$prototypes))
})

# What objects of this package and of others can do, and where either is restricted.

test_that("a fit of logistic_pca() beside an object of prcomp()", {
  set.seed(1)
  x <- random_bernoulli(ifelse(outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6)), 0.8, 0.2))
  dimnames(x) <- list(paste0("s", 1:40), paste0("t", 1:12))
  ours <- quietly(logistic_pca(x, 2, control = few_starts))
  theirs <- stats::prcomp(x)
  # Both have scores of new sites without another fit.
  scores <- predict(ours, x[1:3, ], type = "scores")
  expect_gt(abs(cor(predict(ours, x, type = "scores")[, 1], predict(theirs, x)[, 1])), 0.95)
  expect_identical(dim(scores), dim(predict(theirs, x[1:3, ])[, 1:2]))
  # Ours is restricted: k is chosen before, no biplot, no other scale of columns.
  expect_length(theirs$sdev, 12L)
  expect_identical(ncol(ours$param$scores), 2L)
  expect_null(utils::getS3method("biplot", "multicause", TRUE))
  expect_error(logistic_pca(x, 2, scale. = TRUE), "scale\\.", class = "multicause_input_error")
  # Theirs is: no unknown cells, no probabilities, no likelihood, no table drawn from it.
  x[2, 3] <- NA
  expect_error(stats::prcomp(x))
  expect_false(anyNA(fitted(quietly(logistic_pca(x, 2, control = few_starts)))))
  expect_true(all(fitted(ours) > 0 & fitted(ours) < 1))
  two <- predict(theirs)[, 1:2] %*% t(theirs$rotation[, 1:2]) + rep(theirs$center, each = 40)
  expect_true(any(two < 0 | two > 1))
  for (generic in c("logLik", "simulate", "residuals", "update")) {
    expect_null(utils::getS3method(generic, "prcomp", TRUE), info = generic)
    expect_true(is.function(utils::getS3method(generic, "multicause", TRUE)) ||
      is.function(utils::getS3method(generic, "logistic_pca", TRUE)), info = generic)
  }
})

test_that("a result of which_zeros() beside that of vegan::beals()", {
  skip_if_not_installed("vegan")
  x <- simulated_sites$x
  ours <- quietly(which_zeros(x, quick = TRUE, seed = 1))
  theirs <- vegan::beals(x, include = FALSE)
  zeros <- x == 0
  expect_gt(cor(ours$probability[zeros], theirs[zeros], method = "spearman", use = "complete.obs"), 0.5)
  # Ours is restricted: presences have no value, and a table needs zeros.
  expect_true(all(is.na(ours$probability[!zeros])))
  expect_false(anyNA(theirs[!zeros]))
  # Theirs is a matrix: no measure of itself, no number, no interval, no reasons, and no unknown cells.
  expect_identical(dim(theirs), dim(x))
  expect_true(all(c("quality", "total", "more") %in% names(ours)))
  expect_s3_class(explain(ours, rownames(x)[1], colnames(x)[which(zeros[1, ])[1]]), "zero_explained")
  x[1, 1] <- NA
  expect_true(all(is.na(vegan::beals(x, include = FALSE))))
  expect_false(anyNA(quietly(which_zeros(x, quick = TRUE, seed = 1))$probability[x %in% 0]))
})
