# Scores of every cell of a fit, cell by cell, by the reference. Tests also R/aspect_bernoulli_cells.R, R/base_cells.R.

skip_on_cran()

ref_table <- function(fit, kinds) {
  s <- fit$param$membership
  a <- fit$param$aspects
  cells <- expand.grid(row = seq_len(nrow(s)), column = seq_len(ncol(a)))
  scores <- mapply(function(i, j) ref_scores(s[i, ], a[, j], kinds), cells$row, cells$column)
  data.frame(cells, t(scores))
}

same_scores <- function(got, want, x, columns = c("probability", "present", "missed", "phantom")) {
  at <- cbind(match(got$site, rownames(x)), match(got$taxon, colnames(x)))
  if (is.null(rownames(x))) at <- cbind(got$site, got$taxon)
  want <- want[at[, 1] + (at[, 2] - 1) * nrow(x), ]
  expect_equal(unname(as.matrix(got[columns])), unname(as.matrix(want[names(ref_scores(1, 1, "content"))])))
}

test_that("all four numbers are those of the definition: one, two, no white phantom, a black one beside", {
  for (kinds in list(
    c("content", "content", "white"), c("white", "content", "content", "white"), c("content", "content"),
    c("content", "white", "black"), c("content", "content", "black")
  )) {
    case <- mixed_fit(kinds, 0.1)
    got <- false_absences(case$fit, n = Inf)
    expect_equal(nrow(got), sum(case$x == 0, na.rm = TRUE))
    expect_true(all(case$x[cbind(got$site, got$taxon)] == 0))
    expect_false(is.unsorted(-got$probability))
    want <- ref_table(case$fit, kinds)
    if (!any(kinds == "white")) want[c("missed", "phantom")] <- 0
    same_scores(got, want, case$x)
    expect_equal(attr(got, "expected"), sum(got$missed))
  }
})

test_that("without a phantom present is probability, exactly", {
  case <- mixed_fit(c("content", "content"))
  got <- false_absences(case$fit, n = Inf)
  expect_identical(got$present, got$probability)
  expect_identical(got$missed, 0 * got$missed)
  expect_identical(got$phantom, got$missed)
})

test_that("false presences are the mirror image", {
  case <- mixed_fit(c("content", "white", "black"))
  flipped <- fit_with(1 - case$x, case$fit$param$membership, 1 - case$fit$param$aspects)
  kinds <- c("content", "black", "white")
  ones <- false_presences(case$fit, n = Inf, by = "probability")
  zeros <- false_absences(flipped, n = Inf, kinds = kinds)
  expect_named(ones, c("site", "taxon", "probability", "absent", "added", "phantom", "added_most"))
  expect_equal(unname(as.matrix(ones)), unname(as.matrix(zeros)))
  for (by in c("added", "absent")) expect_false(is.unsorted(-false_presences(case$fit, Inf, by)[[by]]))
})

test_that("false presences are ranked by the composition of the site, with or without a black phantom", {
  for (kinds in list(c("content", "white", "black"), c("content", "content", "white"), c("content", "content"))) {
    ranked <- false_presences(mixed_fit(kinds)$fit, Inf, kinds = kinds)
    expect_identical(attr(ranked, "by"), "absent")
    expect_false(is.unsorted(-ranked$absent))
  }
})

test_that("both kinds fixed at exact 0 and 1", {
  truth <- planted(40, 12)
  set.seed(3)
  x <- pmax(truth$x, rbinom(length(truth$x), 1, 0.03))
  fit <- aspect_bernoulli(x, 4, phantom = "both", control = fit_control(n_start = 2, max_iter = 500, tol = 1e-7))
  got <- false_absences(fit, n = Inf)
  kinds <- c("content", "content", "white", "black")
  s <- fit$param$membership
  u <- s[, 1] + s[, 2]
  i <- match(got$site, rownames(x))
  expect_equal(got$phantom, unname(s[i, 3] / (1 - got$probability)))
  expect_equal(got$missed, got$phantom * got$present)
  keep <- u[i] > 1e-12
  expect_equal(got$probability[keep], unname((u * 1)[i] * got$present + s[i, 4])[keep])
  expect_true(all(got$present >= 0 & got$present <= 1 & got$missed <= 1))
})

test_that("a row that is all phantom takes the table's mean content", {
  set.seed(4)
  x <- binary(6, 5)
  x[2, ] <- 0
  s <- cbind(c(0.5, 0, 0.2, 0.3, 0.6, 0.1), c(0.3, 0, 0.5, 0.2, 0.1, 0.1), 0)
  s[, 3] <- 1 - rowSums(s)
  a <- rbind(runif(5), runif(5), 0)
  got <- false_absences(fit_with(x, s, a), n = Inf, site = 2)
  overall <- colSums(s[, 1:2]) / sum(s[, 1:2])
  expect_equal(got$present[order(got$taxon)], colSums(overall * a[1:2, ]))
  expect_equal(got$missed, got$present)
  expect_equal(got$phantom, rep(1, 5))
})

test_that("when all are phantoms nothing is known of content, and the probability of a presence still ranks", {
  x <- matrix(c(1, 1, 0, 0), 4, 3)
  fit <- fit_with(x, cbind(x[, 1], 1 - x[, 1]) * 0.9 + 0.05, rbind(rep(1, 3), 0))
  expect_equal(phantoms(fit)$kind, c("black", "white"))
  got <- false_absences(fit)
  expect_true(all(is.na(got$present)) && all(is.na(got$missed)))
  expect_equal(got$probability, rep(0.05, 6))
  expect_output(print(got), "The 6 with the highest")
  expect_error(denoise(fit), "must leave a component", class = "multicause_input_error")
})

test_that("ranks, ties, and the top of each observation and attribute", {
  case <- small_fit()
  all_zeros <- false_absences(case$fit, n = Inf)
  for (by in c("probability", "missed", "present", "phantom")) {
    top <- suppressMessages(false_absences(case$fit, n = 7, by = by))
    expect_equal(top[[by]], sort(all_zeros[[by]], decreasing = TRUE)[1:7])
  }
  for (per in c("site", "taxon")) {
    top <- false_absences(case$fit, n = 2, by = "missed", per = per)
    groups <- split(all_zeros$missed, all_zeros[[per]])
    want <- lapply(groups, function(score) sort(score, decreasing = TRUE)[seq_len(min(2, length(score)))])
    expect_equal(split(top$missed, top[[per]]), want)
  }
  expect_message(false_absences(case$fit, by = "phantom"), "poorest ones first")
  expect_silent(false_absences(case$fit, by = "phantom", per = "site"))
  # equal cells in the order of rows, then columns
  flat <- fit_with(matrix(0, 3, 4), matrix(1, 3, 1), matrix(0.5, 1, 4))
  expect_equal(false_absences(flat, n = 6)[1:2], data.frame(site = rep(1:2, c(4, 2)), taxon = c(1:4, 1:2)),
    ignore_attr = TRUE
  )
})

test_that("a table of several blocks of rows gives what its parts give", {
  set.seed(5)
  x <- binary(3000, 400, 0.1)
  start <- random_start(3000, 400, 2)
  fit <- fit_with(x, cbind(0.6 * start$membership, 0.4), rbind(start$aspects, 0))
  expect_length(row_blocks(1:3000, 400), 2L)
  score <- cell_scores(fit, 1:3000, phantoms(fit)$kind)
  zeros <- which(x == 0)
  top <- false_absences(fit, n = 50, by = "missed")
  expect_equal(top$missed, sort(score$missed[zeros], decreasing = TRUE)[1:50])
  expect_equal(score$missed[cbind(top$site, top$taxon)], top$missed)
  expect_equal(attr(top, "n_cells"), length(zeros))
  expect_equal(attr(top, "expected"), sum(score$missed[zeros]))
  best <- false_absences(fit, n = 1, per = "taxon")
  expect_equal(best$probability, apply(ifelse(x == 0, score$probability, -1), 2, max))
  missed <- ifelse(x == 0, score$missed, 0)
  by_site <- by_site(fit)
  expect_equal(by_site$missed, rowSums(missed)[by_site$site])
  by_taxon <- by_taxon(fit)
  expect_equal(by_taxon$missed, colSums(missed)[by_taxon$taxon])
  expect_equal(by_taxon$presences, colSums(x)[by_taxon$taxon])
  expect_error(false_absences(fit, n = 1e9, site = 1:3001), "from 1 to 3000", class = "multicause_input_error")
})

test_that("observations, attributes and cells can be picked", {
  case <- small_fit()
  one <- false_absences(case$fit, n = Inf, site = "site5")
  expect_equal(unique(one$site), "site5")
  expect_equal(nrow(one), sum(case$x["site5", ] == 0))
  some <- false_absences(case$fit, n = Inf, site = c(5, 3), taxon = c("genus2", "genus1"))
  expect_setequal(unique(some$taxon), c("genus1", "genus2"))
  expect_equal(attr(some, "n_cells"), sum(case$x[c(3, 5), 1:2] == 0))
  within <- case$x == 0 & row(case$x) <= 4
  inside <- false_absences(case$fit, n = Inf, within = within)
  expect_equal(nrow(inside), sum(within))
  sparse <- Matrix::Matrix(within, sparse = TRUE)
  expect_equal(false_absences(case$fit, n = Inf, within = sparse), inside)
  none <- false_absences(case$fit, within = within & FALSE)
  expect_equal(nrow(none), 0L)
  expect_output(print(none), "No absences among the requested cells")
})

test_that("site tables are joined by row names, by a column, or by place", {
  case <- small_fit()
  ages <- data.frame(age = 24:1, phantom = letters[1:24], row.names = rownames(case$x))[24:1, ]
  got <- false_absences(case$fit, n = 5, site_data = ages)
  expect_equal(got$age, ages[got$site, "age"])
  expect_equal(got$site_phantom, ages[got$site, "phantom"])
  keyed <- data.frame(nr = 1:24, name = rownames(case$x), age = 24:1)
  expect_message(got <- false_absences(case$fit, n = 5, site_data = keyed), "matched by its column \"name\"")
  expect_equal(got$age, keyed$age[match(got$site, keyed$name)])
  expect_false("name" %in% names(got))
  fit <- fit_with(unname(case$x), case$fit$param$membership, case$fit$param$aspects)
  got <- false_absences(fit, n = 5, site_data = data.frame(age = 24:1))
  expect_equal(got$age, (24:1)[got$site])
})

test_that("the data are asked for where the fit has none, and can be sparse", {
  case <- small_fit()
  bare <- update(case$fit, control = fit_control(n_start = 4, keep_x = FALSE))
  expect_error(false_absences(bare), "keep_x = FALSE", class = "multicause_input_error")
  set.seed(11)
  kept <- update(bare, x = case$x, control = fit_control(n_start = 4, keep_x = FALSE))
  expect_null(kept$x)
  expect_equal(false_absences(kept, x = case$x[, 8:1]), false_absences(case$fit))
  sparse <- case$fit
  sparse$x <- Matrix::Matrix(case$x, sparse = TRUE)
  expect_equal(false_absences(sparse, n = Inf), false_absences(case$fit, n = Inf))
  expect_equal(denoise(sparse), denoise(case$fit))
})

test_that("prints say what the numbers are", {
  case <- mixed_fit(c("content", "content", "white"), named = TRUE)
  expect_snapshot({
    false_absences(case$fit, n = 4)
    false_absences(case$fit, n = 1, by = "missed", per = "site", site = 1:3)
    false_presences(case$fit, n = 3)
    print(false_absences(case$fit, n = 30), n = 2)
    head(false_absences(case$fit), 2)
  })
})

test_that("of a part of a ranking, its header says that it is one", {
  case <- mixed_fit(c("content", "content", "white"), named = TRUE)
  whole <- false_absences(case$fit, n = 10)
  first_lines <- function(x, n) capture.output(print(x))[seq_len(n)]
  title <- first_lines(whole, 1L)
  expect_match(title, "^False absences: [0-9.]+ of 54 expected")
  expect_identical(first_lines(whole, 2L)[2L], "The 10 with the highest `probability`:")
  for (part in list(head(whole, 3), whole[c(2, 7, 9), ], whole[whole$probability < whole$probability[7], ])) {
    expect_identical(first_lines(part, 2L), c(title, "3 of the 10 returned, by `probability`:"))
  }
  expect_match(first_lines(whole[0, ], 2L)[2L], "^0 of the 10 returned, by")
  expect_match(first_lines(whole[order(whole$missed), ], 2L)[2L], "^The 10 with the highest")
  expect_match(first_lines(subset(whole, missed > 0), 2L)[2L], "^The 10 with the highest")
  expect_identical(first_lines(rbind(whole, whole), 1L), "False absences") # more than the ranking
  by_site <- false_presences(case$fit, n = 2, per = "site")
  expect_match(first_lines(tail(by_site, 2), 2L)[2L], "^2 of the [0-9]+ returned, by .* within each site:$")
})

test_that("where nothing is left to rank, that is said; a sparse pattern will do", {
  case <- small_fit()
  expect_output(print(false_absences(case$fit, within = case$x > 1)), "No absences among the requested cells")
  zeros <- Matrix::Matrix(case$x == 0, sparse = TRUE)
  pattern <- methods::as(zeros, "nMatrix")
  expect_equal(false_absences(case$fit, within = pattern), false_absences(case$fit, within = zeros))
})

test_that("sites that lack a row are told by the column that names the others", {
  x <- matrix(rep(0:1, 6), 4, dimnames = list(letters[1:4], NULL))
  fit <- suppressWarnings(aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 5)))
  sites <- data.frame(age = 1:4, name = letters[1:4])
  expect_error(
    false_absences(fit, site_data = sites[-3, ]), "column \"name\" lacks \"c\"", class = "multicause_input_error"
  )
})

test_that("sites of observations that are named by numbers are matched by their column, not by the row's number", {
  x <- matrix(rep(0:1, 6), 4, dimnames = list(4:1, NULL))
  fit <- suppressWarnings(aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 5)))
  sites <- data.frame(visits = c(1:4, 1), site_id = c(2L, 4L, 1L, 3L, 9L), age = c(20, 40, 10, 30, 90))
  expect_message(got <- false_absences(fit, site_data = sites), "matched by its column \"site_id\"")
  expect_identical(got$age, 10 * as.numeric(got$site))
  expect_message(got <- false_absences(fit, site_data = sites["age"]), "matched by their numbers")
  expect_identical(got$age, sites$age[as.integer(got$site)])
  rownames(sites) <- c("4", "3", "2", "1", "other") # names that were given come first
  expect_silent(got <- false_absences(fit, site_data = sites))
  expect_identical(got$age, sites[got$site, "age"])
})
