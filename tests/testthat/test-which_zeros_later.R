# A result compared with later surveys: recovery(w, later).

gradient_visits <- function(n = 60, m = 25, visits = 3) {
  set.seed(8)
  there <- outer(runif(n), runif(m), function(site, taxon) abs(site - taxon) < 0.2)
  array(as.vector(there) * stats::rbinom(n * m * visits, 1, 0.6), c(n, m, visits),
    list(site = paste0("s", seq_len(n)), species = paste0("t", seq_len(m)), NULL))
}

test_that("numbers are those of the zeros that later surveys looked at", {
  visits <- gradient_visits()
  x <- visits[, , 1]
  w <- which_zeros(x, quick = TRUE, seed = 1)
  later <- visits[, , 2:3]
  later["s3", "t4", ] <- NA
  out <- recovery(w, later)
  zero <- x == 0
  zero["s3", "t4"] <- FALSE
  found <- apply(later, 1:2, max, na.rm = FALSE)[zero] == 1
  missed <- as.data.frame(w, n = Inf)
  missed <- missed$missed[match(paste(row(x), col(x))[zero],
    paste(match(missed$site, rownames(x)), match(missed$taxon, colnames(x))))]
  expect_identical(out$later$gained, sum(found))
  pairs <- outer(missed[found], missed[!found], function(a, b) (a > b) + (a == b) / 2)
  expect_equal(out$later$auc, mean(pairs))
  expect_equal(out$later$held_out_auc, w$quality["stack", "auc"])
  expect_identical(c(out$later$sites, out$later$taxa, out$later$surveys), c(60L, 25L, 2L))
  first <- utils::head(order(-missed), 20)
  expect_equal(unlist(out$first, use.names = FALSE), c(20, mean(missed[first]), mean(found[first])))
  expect_identical(out$curve$surveys, c(1, 2, 4, 8))
  part <- sum(missed) / sum(as.data.frame(w, n = Inf)$missed)
  expect_equal(unlist(out$curve[2L, c("missed", "low", "high")]), part * w$total[c("missed", "low", "high")])
  expect_false(is.unsorted(out$curve$missed, strictly = TRUE))
})

test_that("sites and taxa are matched by name, and those that one table lacks are not compared", {
  visits <- gradient_visits()
  w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
  later <- visits[, , 2]
  expect_equal(recovery(w, later[60:1, 25:1]), recovery(w, later))
  expect_equal(recovery(w, as.data.frame(later)), recovery(w, later))
  expect_message(part <- recovery(w, later[1:40, 3:25]), "not compared: 20 of 60 sites", fixed = TRUE)
  expect_identical(c(part$later$sites, part$later$taxa), c(40L, 23L))
  expect_equal(part$later$gained, sum(visits[1:40, 3:25, 1] == 0 & later[1:40, 3:25] == 1))
  expect_error(recovery(w, unname(later)[1:40, ]), "`truth` must have names of its sites", fixed = TRUE)
  expect_error(recovery(w, `rownames<-`(later, paste0("u", 1:60))), "none of their names")
  expect_error(recovery(w, visits[, , 1]), "must hold presences at zeros", class = "multicause_input_error")
  expect_error(recovery(w, -later), "below 0", class = "multicause_input_error")
  expect_error(recovery(w, "later"), "a later table of sites by taxa", class = "multicause_input_error")
  expect_error(recovery(w), "`truth` must be supplied", class = "multicause_input_error")
})

test_that("an answer without numbers is compared by its ranking alone", {
  visits <- gradient_visits(m = 8)
  w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
  expect_false(is.null(w$reason))
  out <- recovery(w, visits[, , 2:3])
  expect_null(out$curve)
  expect_null(out$first)
  expect_true(out$later$auc > 0.5)
  expect_output(print(out), "because the table has only 8 of")
})

test_that("the print has what was found beside what was expected", {
  visits <- gradient_visits()
  w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
  out <- recovery(w, visits[, , 2:3])
  lines <- capture.output(print(out))
  expect_match(lines[1L], "^What later surveys found: ")
  gained <- grep("Presences gained", lines, value = TRUE)
  expect_match(gained, sprintf("gained: %d ", out$later$gained))
  expect_match(lines, "First 20 zeros: mean `missed` 0", all = FALSE)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(out), "ggplot")
})

test_that("edges of an answer: bare sites, one site of interest, dates as groups, counts, changes without a number", {
  make <- function(seed, n = 20, m = 25, p = 0.3) {
    set.seed(seed)
    a <- matrix(rnorm(n * 2), n)
    b <- matrix(rnorm(m * 2), m)
    x <- (matrix(runif(n * m), n) < plogis(1.2 * a %*% t(b) + qlogis(p))) + 0
    dimnames(x) <- list(paste0("s", seq_len(n)), paste0("t", seq_len(m)))
    x
  }
  quick <- function(...) suppressMessages(suppressWarnings(which_zeros(..., quick = TRUE, seed = 1)))
  x <- make(1)
  bare <- x
  bare[3, ] <- 0
  expect_output(print(explain(quick(bare), "s3", "t1")), "against")
  days <- as.Date("2020-01-01") + rep(0:1, 10)
  w <- quick(x)
  expect_setequal(by_site(w, groups = days)[[1]], c("2020-01-01", "2020-01-02"))
  counted <- quick(x * matrix(rep(1:2, length.out = 500), 20))
  expect_identical(suppressMessages(update(counted))$how_many, counted$how_many)
  pool <- quick(make(1, 30, 60, 0.5), reference = 2:30)
  expect_identical(nrow(by_taxon(pool)), 60L)
  twice <- x
  rownames(twice)[2] <- "s1"
  expect_error(recovery(w, twice), "\"s1\" comes twice", class = "multicause_input_error")
  changed <- suppressMessages(sensitivity(w))
  changed$table[2, c("missed", "low", "high")] <- NA
  expect_output(print(changed), "no number")
  expect_match(format(changed), "Undetected presences")
})

test_that("gaps of a series are certain, and no survey's factor is theirs", {
  set.seed(1)
  x <- early_tetrapods$x
  w <- suppressMessages(which_zeros(x, age = early_tetrapods$sites$age, series = TRUE, quick = TRUE, seed = 1))
  later <- replace(x, sample(which(x == 0), 300), 1)
  curve <- recovery(w, later)$curve
  expect_equal(curve$missed[match(c(1, 2, 8), curve$surveys)],
    length(w$gaps) + w$more$missed[match(c(1, 2, 8), w$more$surveys)], tolerance = 1e-6)
  expect_match(format(w)[["missed"]], "are in gaps between presences of a taxon, or would be found elsewhere")
  expect_match(gsub("\n", " ", ggplot2::autoplot(w, "how_many")$labels$title), "are in gaps")
})

test_that("what was gained is compared with the interval for as many surveys", {
  curve <- data.frame(surveys = c(1, 2), missed = c(10, 20), low = c(6, 12), high = c(18, 35))
  said <- function(gained, surveys = 2) gained_sentence(list(gained = gained, surveys = surveys), curve)
  expect_identical(said(11), "11 gained is below the interval for 2 more surveys.")
  expect_match(said(12), "within")
  expect_match(said(36), "above")
  expect_null(said(11, surveys = 3))
})

test_that("later tables without zeros, with negative values or with fewer sites are told", {
  visits <- gradient_visits()
  w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
  later <- visits[, , 2]
  refused <- function(truth, text) {
    expect_error(recovery(w, truth), text, fixed = TRUE, class = "multicause_input_error")
  }
  refused(replace(later, TRUE, 1), "`truth` must hold zeros at zeros of the result, too.")
  refused(replace(later, 1, -1), "`truth` must hold 0/1 or counts: it has a value below 0.")
  expect_message(recovery(w, later[1:50, ]), "Not in the later table, and not compared: 10 of 60 sites.", fixed = TRUE,
    class = "multicause_message")
})

test_that("names of a later table are unique", {
  visits <- gradient_visits()
  w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
  twice <- visits[c(1, 1:59), , 2]
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(recovery(w, twice),
    "`truth` must have unique names of its sites: \"s1\" comes twice. Surveys are a third dimension.")
})
