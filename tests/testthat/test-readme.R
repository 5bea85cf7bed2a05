skip_on_cran()

test_that("the example of the README prints what it says", {
  file <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(file), "README.md is not at hand")
  blocks <- readme_blocks(readLines(file, encoding = "UTF-8"))
  kind <- RNGkind()
  set.seed(1)
  grDevices::pdf(NULL) # the example also draws the figure
  on.exit(grDevices::dev.off())
  output <- readme_output(blocks$code)
  expect_identical(RNGkind(), kind)
  # Rounding, which differs between processors, decides between nearly equal maxima. The ranked rows may then change
  # places, and the missed number by a few per cent; the table and the quality of the result stay.
  number <- "[0-9]+( [0-9]{3})*([.][0-9]+)?"
  words <- function(lines) gsub(" +", " ", gsub(number, "#", paste(lines, collapse = " ")))
  numbers <- function(lines) as.numeric(gsub(" ", "", unlist(regmatches(lines, gregexpr(number, lines)))))
  ranked <- function(lines) grepl("[01][.][0-9]{2} [(][01][.][0-9]{2} to [01][.][0-9]{2}[)]$", lines)
  expect_identical(output[1L], blocks$output[1L])
  # Line breaks may also differ.
  above <- function(lines) words(lines[seq_len(which(ranked(lines))[1L] - 1L)])
  expect_identical(above(output), above(blocks$output))
  expect_identical(sum(ranked(output)), sum(ranked(blocks$output)))
  good <- function(lines) numbers(grep("^  (this result|best simple rule)", lines, value = TRUE))
  expect_length(good(output), 8L)
  expect_equal(good(output), good(blocks$output), tolerance = 0.02)
})

test_that("the text of the README names the numbers of its own example", {
  file <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(file), "README.md is not at hand")
  text <- readLines(file, encoding = "UTF-8")
  shown <- paste(readme_blocks(text)$output, collapse = " ")
  said <- paste(text[seq(which(text == "## How reliable it is"), length(text))], collapse = " ")
  number <- function(text, pattern) regmatches(text, regexec(pattern, text))[[1L]][2L]
  for (pair in list(
    c("this result +([0-9.]+) ", "the AUC is ([0-9]+[.][0-9]+)"),
    c("best simple rule +([0-9.]+) ", "and ([0-9]+[.][0-9]+) for the best simple rule")
  )) {
    expect_identical(number(said, pair[2L]), number(shown, pair[1L]))
    expect_false(is.na(number(said, pair[2L])))
  }
})

test_that("all documents ask the early tetrapods' whole table in one way, so that they have one total", {
  root <- test_path("..", "..")
  files <- c("README.md", list.files(file.path(root, "vignettes"), "[.]Rmd$", recursive = TRUE))
  files <- file.path(root, c(files[1L], file.path("vignettes", files[-1L])))
  skip_if_not(all(file.exists(files)) && length(files) > 10L, "the sources are not at hand")
  flat <- function(file) gsub("\\s+", " ", paste(readLines(file, encoding = "UTF-8"), collapse = " "))
  text <- vapply(files, flat, "")
  asks <- "which_zeros\\( ?(x|counts), (age = sites[^)]*\\)\\], place = sites[^)]*\\)\\][^)]*)\\)"
  calls <- unlist(regmatches(text, gregexpr(asks, text)))
  asked <- trimws(sub(asks, "\\2", calls))
  asked <- asked[!grepl("groups = ", asked)]
  expect_gte(length(asked), 5L)
  expect_identical(unique(asked), paste(
    "age = sites[c(\"max_ma\", \"min_ma\")],", "place = sites[c(\"lng\", \"lat\")], seed = 1"
  ))
  total <- trimws(sub(".*found by 2 +([0-9]+( [0-9]{3})*) .*", "\\1", paste(readLines(files[1L]), collapse = "  ")))
  expect_match(text[[grep("one-model", files)]], paste0("gives this table another number, ", total, ","), fixed = TRUE)
})

test_that("the README names what there is", {
  file <- test_path("..", "..", c("README.md", "Makefile"))
  skip_if_not(all(file.exists(file)), "README.md is not at hand")
  text <- readLines(file[1L], encoding = "UTF-8")
  pictures <- sub(".*\\]\\(([^)]*)\\).*", "\\1", grep("\\]\\(man/", text, value = TRUE))
  expect_true(length(pictures) > 0L && all(file.exists(test_path("..", "..", pictures))))
  expect_lt(max(file.size(test_path("..", "..", pictures))), 120000)
  targets <- c(
    "demo", "test", "install", "docs", "format", "lint", "test-c", "test-san", "torture", "valgrind", "check", "bench",
    "coverage"
  )
  made <- sub(":.*", "", grep("^[a-z-]+:", readLines(file[2L]), value = TRUE))
  expect_identical(setdiff(targets, made), character())
  named <- vapply(targets, function(target) any(grepl(paste0("\\b", target, "\\b"), text)), NA)
  expect_identical(targets[!named], character())
})

test_that("the tarball that users install keeps the index of its vignettes, and nothing else of build/", {
  file <- test_path("..", "..", c(".Rbuildignore", "Makefile"))
  skip_if_not(all(file.exists(file)), ".Rbuildignore is not at hand")
  patterns <- readLines(file[1L])
  dropped <- function(path) any(vapply(patterns, grepl, NA, path, perl = TRUE, ignore.case = TRUE))
  expect_false(dropped("build") || dropped("build/vignette.rds")) # a folder that is dropped takes its files along
  expect_false(dropped("inst/doc/which-zeros.html"))
  ours <- c("build/lib", "build/package.tar.gz", "build/lib/multicause/build/vignette.rds")
  expect_true(all(vapply(ours, dropped, NA)))
  # `make install-vignettes` installs what `make check` checks.
  rules <- grep("^(install-vignettes|check-all|check-alone):", readLines(file[2L]), value = TRUE)
  expect_length(rules, 3L)
  expect_true(all(grepl("$(PACKAGE)", rules, fixed = TRUE)))
})

test_that("each call of the cheat sheet is one of the package, and its pages are there", {
  script <- test_path("..", "..", "data-raw", "cheatsheet.R")
  skip_if_not(file.exists(script), "the sources are not at hand")
  where <- new.env()
  sys.source(script, where, keep.source = FALSE)
  rows <- unlist(lapply(where$sheet, unlist))
  code <- Filter(nzchar, rows[c(TRUE, FALSE)])
  expect_gt(length(code), 40L)
  called <- unique(unlist(lapply(code, function(line) setdiff(all.names(str2lang(line)), all.vars(str2lang(line))))))
  ours <- c(getNamespaceExports("multicause"), getNamespaceExports("ggplot2"))
  base <- c(
    "<-", "=", "::", ":", "~", "ggplot2", "c", "names", "names<-", "dimnames", "plot", "update", "as.data.frame",
    "citation"
  )
  expect_identical(setdiff(called, c(ours, base)), character())
  # An argument that a function lacks would be an error in the reader's first attempt.
  for (line in code) {
    call <- str2lang(line)
    if (is.call(call) && identical(call[[1L]], quote(`<-`))) call <- call[[3L]]
    name <- if (is.call(call)) as.character(call[[1L]])[1L] else ""
    if (!name %in% getNamespaceExports("multicause")) next
    known <- c("", names(formals(getExportedValue("multicause", name))))
    if (name == "ensemble") known <- c(known, "k") # of the models it fits
    expect_identical(setdiff(as.character(names(call)), known), character(), info = line)
  }
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  where$write_sheet(file)
  expect_gt(file.size(file), 10000)
})

test_that("the calls of the cheat sheet run, one after the other", {
  script <- test_path("..", "..", "data-raw", "cheatsheet.R")
  skip_if_not(file.exists(script), "the sources are not at hand")
  skip_if_not_installed("jsonlite")
  skip_if_not_installed("maps")
  skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not at hand")
  sheet <- new.env()
  sys.source(script, sheet, keep.source = FALSE)
  rows <- unlist(lapply(sheet$sheet, unlist))
  code <- Filter(nzchar, rows[c(TRUE, FALSE)])
  # Objects that a reader has, small enough to be fast.
  faunas <- c("Arroyo", "Vale", "Cutler", "Belle Plains", "Waggoner Ranch", "Admiral", "San Angelo", "Archer City",
    "Wellington", "Abo", "Nocona", "Petrolia", "Choza", "Hennessey", "Moran", "Putnam", "Clyde", "Lueders")
  genera <- c("Dimetrodon", "Diplocaulus", "Eryops", "Ophiacodon", "Diadectes", "Trimerorhachis", "Captorhinus",
    "Edaphosaurus", "Archeria", "Seymouria")
  at <- new.env(parent = globalenv())
  at$d <- tetrapod_occurrences[tetrapod_occurrences$formation %in% faunas & tetrapod_occurrences$genus %in% genera, ]
  some <- suppressMessages(
    occurrence_matrix(at$d, "formation", "genus", summarise = list(max_ma = max, lng = mean, lat = mean))
  )
  known <- site_table(some)
  n <- nrow(some)
  at$a <- at$age <- known$max_ma
  at$p <- known[c("lng", "lat")]
  at$slices <- rep(c("old", "young"), length.out = n)
  at$visits <- list(some, some)
  at$later <- 1 * (some > 0 | row(some) %% 7 == col(some) %% 7)
  at$counts <- some * 3
  at$cube <- array(some, c(dim(some), 1))[, , c(1, 1), drop = FALSE]
  at$score <- matrix(seq_along(some) / length(some), n, dimnames = dimnames(some))
  at$models <- list(mixture = bernoulli_mixture, `logistic PCA` = logistic_pca)
  at$folder <- tempfile("shards")
  at$near <- smooth_over(age = at$a, place = at$p, bandwidth = c(age = 5, place = 500), strength = 5)
  at$file <- system.file("extdata", "pbdb_tetrapods_us.csv.gz", package = "multicause")
  few <- fit_control(n_start = 2, max_iter = 30, n_polish = 0, progress = FALSE, keep_starts = TRUE)
  short <- mcmc_control(chains = 1, warmup = 5, draws = 10, n_start = 1, n_reheat = 0, progress = FALSE)
  with_few <- function(f, control = few) {
    force(f)
    function(...) f(..., control = control)
  }
  for (name in c(
    "aspect_bernoulli", "visits_bernoulli", "logistic_pca", "noisy_or", "plsa", "nmf", "plca", "select_k",
    "cross_validate", "compare_models", "ensemble"
  )) {
    at[[name]] <- with_few(getExportedValue("multicause", name))
  }
  at$bmf <- with_few(bmf, short)
  at$sensitivity <- function(w) sensitivity(w)
  pages <- tempfile("pages")
  dir.create(pages)
  here <- setwd(pages)
  grDevices::pdf(NULL)
  on.exit({
    grDevices::dev.off()
    setwd(here)
    unlink(c(pages, at$folder), recursive = TRUE)
  })
  own <- grepl("^read_now", code) # the package contains no export of that database
  failed <- vapply(code[!own], function(line) {
    tryCatch(
      {
        suppressWarnings(suppressMessages(utils::capture.output(eval(str2lang(line), at))))
        ""
      },
      error = function(e) paste0(line, ": ", conditionMessage(e))
    )
  }, "")
  expect_identical(unname(failed[nzchar(failed)]), character())
  expect_true(all(file.exists(file.path(pages, c("page.html", "answer.html")))))
})
