# Required contents of every help page; a page based on a paper cites it with a DOI or another permanent address.

help_pages <- function() {
  folder <- test_path("..", "..", "man")
  skip_if_not(dir.exists(folder), "the sources of the help pages are not at hand")
  files <- dir(folder, "[.]Rd$", full.names = TRUE)
  stats::setNames(lapply(files, tools::parse_Rd), sub("[.]Rd$", "", basename(files)))
}

section <- function(page, tag) {
  at <- which(vapply(page, attr, "", "Rd_tag") == tag)
  paste(unlist(page[at]), collapse = "")
}

test_that("every page of a function says what comes back, and shows it", {
  pages <- help_pages()
  is_function <- vapply(pages, function(page) {
    nzchar(section(page, "\\usage")) && !grepl("data|package", section(page, "\\docType"))
  }, NA)
  for (tag in c("\\value", "\\examples")) {
    lacks <- !vapply(pages, function(page) grepl("[a-z]{3}", section(page, tag)), NA)
    expect_identical(names(pages)[is_function & lacks], character(), info = tag)
  }
  # No code is only shown: slow code is in \donttest{}, which checks can run.
  hidden <- vapply(pages, function(page) any(grepl("dontrun", unlist(lapply(page, attr, "Rd_tag")))), NA)
  expect_identical(names(pages)[hidden], character())
})

test_that("pages that rest on papers cite them", {
  pages <- help_pages()
  from_papers <- c(
    "aspect_bernoulli", "bernoulli_mixture", "logistic_pca", "nmf", "plsa", "plca", "noisy_or", "bmf", "fit_control",
    "mcmc_control", "bmf_prior", "noisy_or_prior", "cross_entropy", "smooth_over", "phantoms",
    "false_absences", "denoise", "by_site", "identifiability", "phantom_test", "age_profile",
    "test_loglik", "select_k", "cross_validate", "ensemble", "modes", "align_components", "corrupt", "recovery",
    "range_through", "which_zeros", "neighbours_mean", "sources", "cooccurrence",
    "read_pbdb", "read_now", "multicause-package"
  )
  expect_identical(setdiff(from_papers, names(pages)), character())
  cited <- vapply(pages[from_papers], function(page) grepl("[0-9]{4}", section(page, "\\references")), NA)
  expect_identical(from_papers[!cited], character())
  without_address <- "smooth_over" # its source of 1943 has none
  addressed <- vapply(pages[setdiff(from_papers, without_address)], function(page) {
    grepl("10[.][0-9]{4,}/|https://", section(page, "\\references"))
  }, NA)
  expect_identical(names(addressed)[!addressed], character())
})

test_that("the index of the site has every page", {
  file <- test_path("..", "..", "_pkgdown.yml")
  skip_if_not(file.exists(file), "the sources of the site are not at hand")
  # Entries are one per line after a dash, or in brackets after "contents:".
  text <- sub("#.*$", "", readLines(file))
  entries <- function(text) {
    lines <- grep("title:", grep("^ *(- |contents:)", text, value = TRUE), value = TRUE, invert = TRUE)
    gsub("[][\" ]", "", unlist(strsplit(sub("^ *(-|contents:) *", "", lines), ",")))
  }
  reference <- entries(text[seq(which(text == "reference:"), length(text))])
  starts <- sub("^starts_with[(](.*)[)]$", "\\1", grep("^starts_with", reference, value = TRUE))
  pages <- Filter(function(page) !grepl("internal", section(page, "\\keyword")), help_pages())
  pages <- names(pages)
  shown <- pages %in% reference | vapply(pages, function(page) any(startsWith(page, starts)), NA)
  expect_identical(pages[!shown], character())
  articles <- entries(text[seq(which(text == "articles:"), which(text == "reference:"))])
  vignettes <- sub("[.]Rmd$", "", dir(test_path("..", "..", "vignettes"), "[.]Rmd$"))
  expect_setequal(intersect(articles, vignettes), vignettes)
})
