# Readers are tired, and English is not their first language: sentences are short, words plain.

# What Rd pages say in sentences: no tables, code or formulas.
prose_of_rd <- function(file) {
  said <- function(node) {
    tag <- attr(node, "Rd_tag")
    if (is.null(tag)) tag <- ""
    if (tag %in% c("TEXT", "RCODE", "VERB")) {
      return(as.character(node))
    }
    switch(tag,
      "\\tabular" = , "\\preformatted" = , "\\deqn" = , "\\out" = , "\\url" = , "COMMENT" = "",
      "\\code" = , "\\eqn" = , "\\doi" = "name", "\\item" = c(unlist(lapply(node, said)), "\n\n"),
      "\\section" = unlist(lapply(node[[2L]], said)), "\\href" = unlist(lapply(node[[2L]], said)),
      unlist(lapply(node, said))
    )
  }
  page <- tools::parse_Rd(file)
  tags <- vapply(page, attr, "", "Rd_tag")
  wanted <- page[tags %in% c("\\description", "\\details", "\\section", "\\arguments", "\\value")]
  paste(unlist(lapply(wanted, function(section) c(said(section), "\n\n"))), collapse = "")
}

prose_of_markdown <- function(file) {
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  without <- c("(?s)\\A---\n.*?\n---\n", "(?s)```.*?```", "(?s)\\$\\$.*?\\$\\$", "(?s)!\\[.*?\\]\\(.*?\\)",
    "(?m)^\\|.*$", "(?m)^#+ .*$", "\\]\\([^)]*\\)", "<[^>]*>")
  for (pattern in without) text <- gsub(pattern, "", text, perl = TRUE)
  gsub("(?m)^ *([-*]|[0-9]+[.]) ", "\n", gsub("`[^`]*`|\\$[^$\n]*\\$", "name", text), perl = TRUE)
}

# Flesch and Kincaid's school grade of a text; a paragraph ends a sentence.
school_grade <- function(text) {
  text <- gsub("\n *\n", ". ", text)
  sentences <- strsplit(gsub("\\s+", " ", text), "[.!?]+[)\"]?( |$)")[[1L]]
  words <- tolower(unlist(regmatches(sentences, gregexpr("[A-Za-z]+", sentences))))
  syllables <- unlist(sylcount::sylcount(words))
  0.39 * length(words) / sum(grepl("[A-Za-z]", sentences)) + 11.8 * sum(syllables, na.rm = TRUE) / length(words) - 15.59
}

sources <- function(...) Sys.glob(test_path("..", "..", ...))

test_that("the grade knows easy from hard", {
  skip_if_not_installed("sylcount")
  easy <- "The cat sat on the mat. It was glad. We saw it sit there in the sun."
  hard <- paste(
    "Notwithstanding considerable methodological heterogeneity, identifiability considerations necessitate",
    "distributional assumptions concerning unobserved preservation probabilities."
  )
  expect_lt(school_grade(easy), 3)
  expect_gt(school_grade(hard), 15)
})

test_that("documents are at grade 9 or lower", {
  skip_on_cran()
  skip_if_not_installed("sylcount")
  pages <- sources("man", "*.Rd")
  skip_if_not(length(pages) > 0L, "the sources are not at hand")
  notes <- c(sources("README.md"), sources("vignettes", "*.Rmd"), sources("vignettes", "articles", "*.Rmd"))
  text <- c(lapply(pages, prose_of_rd), lapply(notes, prose_of_markdown))
  names(text) <- basename(c(pages, notes))
  grade <- vapply(text[nchar(text) > 500L], school_grade, 0)
  expect_identical(round(grade[grade > 9], 1), stats::setNames(numeric(), character()))
})

test_that("phrases that readers stumbled over stay away", {
  skip_on_cran()
  files <- c(sources("man", "*.Rd"), sources("vignettes", "*.Rmd"), sources("vignettes", "articles", "*.Rmd"),
    sources("README.md"), sources("R", "*.R"))
  skip_if_not(length(files) > 0L, "the sources are not at hand")
  gone <- c("tell the same", "tells the same", "had better", "at the latest", "be they", "each is one for each")
  said <- vapply(files, function(file) {
    text <- gsub("\\s+(#'|#|%)?\\s*", " ", paste(readLines(file, encoding = "UTF-8"), collapse = " "))
    toString(gone[vapply(gone, grepl, NA, text, ignore.case = TRUE)])
  }, "")
  expect_identical(unname(sprintf("%s: %s", basename(files), said)[nzchar(said)]), character())
})
