# Users' data formats, before any model sees them.

sparse_table <- function(n = 12, m = 8) {
  set.seed(1)
  methods::as(Matrix::Matrix(matrix(rbinom(n * m, 1, 0.5), n, m) + 0, sparse = TRUE), "generalMatrix")
}

# Sets slots directly to values that no function of Matrix produces.
spoil <- function(.object, ...) {
  slots <- list(...)
  for (name in names(slots)) attr(.object, name) <- slots[[name]]
  .object
}

spoiled_columns <- function(x) {
  i <- x@i
  p <- x@p
  first_two <- if (p[2L] >= 2L) 1:2 else stop("the first column needs two entries")
  list(
    far = spoil(x, i = replace(i, 1L, 100000000L)), negative = spoil(x, i = replace(i, 1L, -100000000L)),
    missing = spoil(x, i = replace(i, 1L, NA)), unsorted = spoil(x, i = replace(i, first_two, i[rev(first_two)])),
    twice = spoil(x, i = replace(i, first_two, i[1L])), no_rows = spoil(x, i = integer()),
    wrong_type = spoil(x, i = as.double(i)), short_values = spoil(x, x = x@x[1:2]), text = spoil(x, x = "a"),
    none = spoil(x, x = NULL), short_pointer = spoil(x, p = p[1:2]), falling = spoil(x, p = replace(p, 2L, p[3L] + 1L)),
    beyond = spoil(x, p = replace(p, length(p), 100000000L)), pointer_missing = spoil(x, p = replace(p, 2L, NA)),
    larger = spoil(x, Dim = c(3L, ncol(x))), negative_size = spoil(x, Dim = c(-1L, ncol(x))),
    no_size = spoil(x, Dim = integer()), names = spoil(x, Dimnames = list("a", NULL))
  )
}

spoiled_classes <- function(x) {
  as_class <- function(class) methods::as(x, class)
  square <- Matrix::crossprod(x)
  list(
    rows = spoil(as_class("RsparseMatrix"), j = 100000000L), triplet = spoil(as_class("TsparseMatrix"), i = 100000000L),
    triplet_far = local({
      each <- as_class("TsparseMatrix")
      spoil(each, j = replace(each@j, 1L, 100000000L))
    }),
    logical = spoil(as_class("lMatrix"), i = 100000000L), pattern = spoil(as_class("nMatrix"), i = 100000000L),
    symmetric = spoil(square, i = rep(100000000L, length(square@i))), side = spoil(square, uplo = "Q"),
    dense = spoil(as_class("denseMatrix"), x = 1), diagonal = spoil(Matrix::Diagonal(8), x = 1),
    permutation = spoil(methods::as(8:1, "pMatrix"), perm = 100000000L)
  )
}

expect_invalid <- function(code, name) {
  said <- sprintf("`%s` must be a valid object of its class, \"", name)
  testthat::expect_error(code, said, class = "multicause_input_error", fixed = TRUE)
}

test_that("an object of package Matrix whose slots do not fit is refused by every model, whatever its class", {
  x <- sparse_table()
  few <- fit_control(n_start = 1, max_iter = 2)
  short <- mcmc_control(chains = 1, warmup = 1, draws = 1, n_start = 1, n_reheat = 0, start_sweeps = 2)
  models <- list(
    function(x) aspect_bernoulli(x, 2, control = few), function(x) bernoulli_mixture(x, 2, control = few),
    function(x) nmf(x, 2, control = few), function(x) plsa(x, 2, control = few),
    function(x) plca(x, 2, control = few), function(x) logistic_pca(x, 2, control = few),
    function(x) noisy_or(x, 2, control = few), function(x) bmf(x, control = short), range_through, corrupt,
    function(x) cross_validate(x, 2, nmf, control = few), function(x) select_k(x, 2, model = nmf, control = few),
    function(x) ensemble(x, 2, model = nmf, control = few)
  )
  for (model in models[1L]) {
    for (each in c(spoiled_columns(x), spoiled_classes(x))) expect_invalid(model(each), "x")
  }
  for (model in models[-1L]) expect_invalid(model(spoiled_columns(x)$far), "x")
  expect_invalid(visits_bernoulli(list(x, spoiled_columns(x)$far), k = 2, estimate = "ml"), "x[[2]]")
})

test_that("so it is as new data, scores, a region and neighbours, and inside a fit", {
  x <- sparse_table()
  far <- spoiled_columns(x)$far
  few <- fit_control(n_start = 1, max_iter = 20)
  weights <- Matrix::crossprod(Matrix::t(x))
  smooth <- smooth_over(neighbours = weights, strength = 3)
  fit <- suppressWarnings(aspect_bernoulli(x, 2, control = few, smooth = smooth))
  expect_invalid(predict(fit, far, along = list(neighbours = weights)), "newdata")
  expect_invalid(predict(fit, x, along = list(neighbours = spoiled_columns(methods::as(weights, "generalMatrix"))$far)),
    "along$neighbours")
  expect_invalid(test_loglik(fit, far), "newdata")
  expect_invalid(impute(fit, far), "newdata")
  expect_invalid(false_absences(fit, within = spoil(methods::as(x, "lMatrix"), i = 100000000L)), "within")
  expect_invalid(false_absences(fit, within = spoil(methods::as(x, "nMatrix"), i = 100000000L)), "within")
  expect_invalid(recovery(spoil(methods::as(x, "denseMatrix"), x = 1), as.matrix(x) == 1), "scores")
  expect_invalid(smooth_over(neighbours = spoil(weights, i = rep(100000000L, length(weights@i)))), "neighbours")
  smooth$given$neighbours <- spoil(smooth$given$neighbours, i = rep(100000000L, length(smooth$given$neighbours@i)))
  expect_invalid(aspect_bernoulli(x, 2, control = few, smooth = smooth), "smooth$given$neighbours")
  fit$x <- far
  for (verb in list(false_absences, denoise, residuals, impute)) expect_invalid(verb(fit), "fit$x")
  counts <- nmf(x, 2, control = few)
  counts$x <- far
  expect_invalid(residuals(counts), "fit$x")
})

test_that("weights of new rows are finite, and a dist() is whole", {
  x <- sparse_table()
  weights <- as.matrix(Matrix::crossprod(Matrix::t(x)))
  smooth <- smooth_over(neighbours = weights, strength = 3)
  control <- fit_control(n_start = 1, max_iter = 20)
  fit <- suppressWarnings(aspect_bernoulli(x, 2, control = control, smooth = smooth))
  for (bad in c(NA, NaN, Inf)) {
    expect_error(predict(fit, x, along = list(neighbours = replace(weights, 2L, bad))),
      "`along$neighbours` must hold finite weights", fixed = TRUE, class = "multicause_input_error")
  }
  expect_error(smooth_over(distance = structure(dist(1:5), Size = 4L)), "`distance` must be a valid result of dist()",
    fixed = TRUE, class = "multicause_input_error")
})

test_that("every class of Matrix gives the same data, and entries beyond the last column are none", {
  x <- sparse_table(8, 8)
  same <- function(y) expect_identical(check_data(y, "binary")$view, check_data(as.matrix(y), "binary")$view)
  slack <- spoil(x, i = c(x@i, 3L), x = c(x@x, 7))
  expect_identical(as.matrix(slack), as.matrix(x))
  same(slack)
  expect_identical(check_cells(slack)$cells, check_cells(x)$cells)
  for (class in c("dMatrix", "lMatrix", "nMatrix")) {
    for (storage in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix", "unpackedMatrix")) {
      same(methods::as(methods::as(x, class), storage))
    }
  }
  symmetric <- Matrix::forceSymmetric(x)
  for (storage in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix", "packedMatrix")) {
    same(methods::as(symmetric, storage))
    same(methods::as(Matrix::triu(x), storage))
  }
  for (each in list(Matrix::Diagonal(8), Matrix::Diagonal(8, 1), methods::as(8:1, "pMatrix"))) same(each)
})

test_that("a column that numbers the rows of counts is told of, with gaps or without", {
  counts <- data.frame(fox = c(0, 2, 1, 0, 3, 1), owl = c(1, 0, 0, 2, 1, 4))
  told <- function(x, message) {
    expect_message(check_data(x, "nonnegative"), message, fixed = TRUE, class = "multicause_message")
  }
  told(cbind(first = c(1, 4, 17, 90, 91, 4837), counts), paste(
    "The first column of `x`, \"first\", holds 1 to 4837 in ascending order and is taken for a taxon. If it numbers",
    "the rows, leave it out: `x[, colnames(x) != \"first\"]`."
  ))
  told(data.frame(name = letters[1:6], first = 2:7, counts), "\"first\", holds 2 to 7")
  told(unname(as.matrix(cbind(2:7, counts))), "leave it out: `x[, -1]`.")
  # Neither in order nor first, but named like an identifier.
  told(cbind(counts, plot_id = c(40, 12, 800, 7, 13, 7)), "Taken for a taxon found at every site: \"plot_id\".")
  expect_no_message(check_data(counts, "nonnegative"))
  expect_no_message(check_data(cbind(pine = c(60, 31, 54, 90, 17, 44), counts), "nonnegative"))
})

test_that("what describes the sites is told from taxa found everywhere", {
  core <- data.frame(pine = c(1, 0, 1, 1, 0), oak = 1, `Depth (cm)` = 1, Age = 1, check.names = FALSE)
  expect_message(check_data(core, "binary"), "Taken for taxa found at every site: \"Depth (cm)\", \"Age\".",
    fixed = TRUE, class = "multicause_message")
  expect_no_message(check_data(core[c("pine", "oak")], "binary"))
  expect_no_message(check_data(data.frame(Agelas = rep(1, 5), idae = 1, Depth = c(0, 1, 1, 1, 1)), "binary"))
})

test_that("taxa in rows are told by the form of their names, with code that turns this kind of table", {
  x <- matrix(c(1, 0, 1, 1, 0, 1), 3)
  named <- function(rows, columns = c("S1", "S2")) `dimnames<-`(x, list(rows, columns))
  told <- function(rows, ...) {
    expect_message(check_data(named(rows, ...), "binary"), "If they are taxa, use `t(x)`.", fixed = TRUE,
      class = "multicause_message")
  }
  told(c("OTU_4272", "OTU_236", "OTU_1"))
  told(c("Acer rubrum", "Quercus cf. alba", "Carex sp."))
  told(c("Acanthiza_lineata", "Anthochaera_chrysoptera", "Corvus_corax"), NULL)
  told(c("Rana.temporaria", "Bufo.bufo", "Hyla.arborea"), c("plot1", "plot2"))
  told(c("oak", "pine", "birch"), c("site_1", "site_2")) # by the names of the others
  quiet <- function(rows, columns) expect_no_message(check_data(named(rows, columns), "binary"))
  quiet(c("OTU_1", "Pond", "Mere"), c("S1", "S2"))
  quiet(c("Cedar creek", "Green lake", "Blue hill"), c("a", "b"))
  quiet(c("Lake Superior", "Lake Erie", "Lake Huron"), c("Rana temporaria", "Bufo bufo"))
  quiet(c("site1", "site2", "site3"), c("plot1", "plot2"))
  quiet(c("Rana temporaria", "Bufo bufo", "Hyla arborea"), c("Carex nigra", "Carex flava")) # hosts and plants
  turn <- "t(data.frame(x[-1], row.names = x[[1]]))"
  for (frame in list(data.frame(Species = c("a", "b", "c"), x), data.frame(name = c("Rana arvalis", "Bufo bufo",
    "Hyla arborea"), x))) {
    for (read in list(function(x) check_data(x, "binary"), function(x) wz_data(x, NULL))) {
      expect_message(read(frame), sprintf("If they are taxa, use `%s`.", turn), fixed = TRUE)
    }
    expect_identical(dim(eval(str2lang(turn), list(x = frame))), 2:3)
  }
  # An array has no t().
  visits <- array(x, c(3, 2, 2), list(c("Acer rubrum", "Carex nigra", "Rana temporaria"), c("a", "b"), NULL))
  expect_message(turned <- check_visits(visits), "taken as 3 species x 2 sites x 2 visits", fixed = TRUE)
  expect_identical(rownames(turned), c("a", "b"))
  colnames(visits) <- c("Vulpes vulpes", "Corvus corax")
  expect_message(check_visits(visits), "taken as 3 sites", fixed = TRUE)
  tables <- rep(list(named(c("Acer rubrum", "Carex nigra", "Rana temporaria"))), 2L)
  expect_message(check_visits(tables, name = "visits"), "use `lapply(visits, t)`.", fixed = TRUE)
  expect_no_message(check_visits(tables), message = "t\\(x")
})

test_that("tables of sequencing are turned where they say that their taxa are rows", {
  here <- environment()
  define <- function(class, ...) suppressMessages(methods::setClass(class, ..., where = here))
  on.exit(for (class in c("phyloseq", "otu_table", "SummarizedExperiment")) methods::removeClass(class, where = here))
  otu <- define("otu_table", methods::representation(taxa_are_rows = "logical"), contains = "matrix")
  experiment <- define("phyloseq", methods::representation(otu_table = "otu_table"))
  x <- matrix(c(1, 0, 1, 1, 0, 1), 2, dimnames = list(c("s1", "s2"), c("a", "b", "c")))
  turned <- otu(t(x), taxa_are_rows = TRUE)
  expect_message(data <- check_data(turned, "binary"), "`x` was transposed", class = "multicause_message")
  expect_identical(data$x, x)
  expect_no_message(data <- check_data(otu(x, taxa_are_rows = FALSE), "binary"))
  expect_identical(data$x, x)
  whole <- experiment(otu_table = turned)
  expect_message(fit <- bernoulli_mixture(whole, 1, control = fit_control(n_start = 1)), "was transposed")
  expect_identical(fit$names, dimnames(x))
  other <- define("SummarizedExperiment", methods::representation(assays = "list"))
  told <- function(x, pattern) {
    expect_error(check_data(x, "binary"), pattern, fixed = TRUE, class = "multicause_input_error")
  }
  told(other(assays = list(t(x))), "It has taxa as rows: use `t(SummarizedExperiment::assay(x))`.")
  told(structure(list(1), class = "biom"), "use `Matrix::t(biomformat::biom_data(x))`.")
  told(list(a = x, b = x), "package iNEXT, `t(x[[1]])`; tables of repeated visits go into which_zeros(visits = ).")
})

test_that("columns of lists are refused by name", {
  x <- data.frame(a = c(0, 1, 1), b = c(1, 0, 1))
  x$b <- as.list(x$b)
  expect_error(aspect_bernoulli(x, 1), "column \"b\" is list", class = "multicause_input_error")
  expect_error(nmf(x, 1), "column \"b\" is list", class = "multicause_input_error")
})

test_that("tables of other packages that are turned or hold cells twice say so", {
  brief <- fit_control(n_start = 1, max_iter = 0)
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  turned <- structure(t(x), class = "otu_table", taxa_are_rows = TRUE)
  expect_message(fit <- aspect_bernoulli(turned, 2, control = brief),
    "`x` was transposed, because its taxa are rows, by its slot `taxa_are_rows`.", fixed = TRUE,
    class = "multicause_message")
  expect_identical(fit$names[[1]], rownames(x))
  refused <- function(x, text) {
    expect_error(plsa(x, 1, control = brief), text, fixed = TRUE, class = "multicause_input_error")
  }
  refused(data.frame(document = c("a", "", "b"), term = c("u", "v", "u"), count = 1:3),
    "Column \"document\" of `x` must have no empty name: row 2 has.")
  slam <- function(i, j, ...) {
    structure(list(i = i, j = j, v = c(1, 2), nrow = 2L, ncol = 2L, dimnames = NULL),
      class = c(..., "simple_triplet_matrix"))
  }
  refused(slam(1:2, 1:2, "TermDocumentMatrix"),
    "`x` must have documents as rows: it has terms as rows, so use `t(x)`.")
  refused(slam(c(1L, 1L), c(2L, 2L)), "`x` must hold each of its cells once.")
})
