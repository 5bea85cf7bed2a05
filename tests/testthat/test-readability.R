# Readability for tired readers and non-native speakers: plain words, and sentences neither long nor chopped.

skip_on_cran()

# Sentences of Rd pages, without tables, code or formulas.
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

# Sentences of a text, one string each; a paragraph ends a sentence.
sentences_of <- function(text) {
  text <- gsub("\n *\n", ". ", text)
  strsplit(gsub("\\s+", " ", text), "[.!?]+[)\"]?( |$)")[[1L]]
}

words_of <- function(sentences) regmatches(sentences, gregexpr("[A-Za-z]+", sentences))

# Flesch and Kincaid's school grade.
school_grade <- function(text) {
  each <- words_of(sentences_of(text))
  words <- tolower(unlist(each))
  syllables <- unlist(sylcount::sylcount(words))
  0.39 * length(words) / sum(lengths(each) > 0L) + 11.8 * sum(syllables, na.rm = TRUE) / length(words) - 15.59
}

median_length <- function(text) stats::median(Filter(identity, lengths(words_of(sentences_of(text)))))

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
  skip_if_not_installed("sylcount")
  pages <- sources("man", "*.Rd")
  skip_if_not(length(pages) > 0L, "the sources are not at hand")
  notes <- c(sources("README.md"), sources("vignettes", "*.Rmd"), sources("vignettes", "articles", "*.Rmd"))
  text <- c(lapply(pages, prose_of_rd), lapply(notes, prose_of_markdown))
  names(text) <- basename(c(pages, notes))
  grade <- vapply(text[nchar(text) > 500L], school_grade, 0)
  expect_identical(round(grade[grade > 9], 1), stats::setNames(numeric(), character()))
})

test_that("prose flows: the median sentence of the README and of each vignette has 14 to 22 words", {
  notes <- c(sources("README.md"), sources("vignettes", "*.Rmd"))
  skip_if_not(length(notes) > 0L, "the sources are not at hand")
  expect_identical(median_length("The cat sat. It was very glad of it all. Why not?"), 3L)
  median <- stats::setNames(vapply(lapply(notes, prose_of_markdown), median_length, 0), basename(notes))
  expect_identical(median[median < 14 | median > 22], stats::setNames(numeric(), character()))
})

test_that("phrases that readers stumbled over stay away", {
  files <- c(sources("man", "*.Rd"), sources("vignettes", "*.Rmd"), sources("vignettes", "articles", "*.Rmd"),
    sources("README.md"), sources("R", "*.R"))
  skip_if_not(length(files) > 0L, "the sources are not at hand")
  files <- c(files, sources("NEWS.md"), sources("inst", "rmarkdown", "templates", "*", "skeleton", "*.Rmd"))
  gone <- c(
    "tell the same", "tells the same", "had better", "at the latest", "be they", "be it", "each is one for each"
  )
  # Documents use "again", "except", "only", and name their subjects.
  idioms <- c(
    "anew", "but for", "nothing but", "the former", "the latter", "give way", "gives way", "had the cell",
    "turned round"
  )
  # Components do not "write" cells, and each concept has one word.
  written <- "\\b(components?|aspects?|phantoms?|content|faunas?|sources?) (writes?|wrote|written)\\b"
  said <- vapply(files, function(file) {
    text <- gsub("\\s+(#'|#|%)?\\s*", " ", paste(readLines(file, encoding = "UTF-8"), collapse = " "))
    also <- if (!grepl("[.]R$", file) && grepl(written, text)) "writes"
    away <- c(gone, if (!grepl("[.]R$", file)) idioms)
    toString(c(away[vapply(sprintf("\\b%s\\b", away), grepl, NA, text, ignore.case = TRUE)], also))
  }, "")
  expect_identical(unname(sprintf("%s: %s", basename(files), said)[nzchar(said)]), character())
})

test_that("first screens have no jargon", {
  first <- c(sources("README.md"), sources("vignettes", "which-zeros.Rmd"))
  skip_if_not(length(first) == 2L, "the sources are not at hand")
  screens <- lapply(first, function(file) utils::head(strsplit(prose_of_markdown(file), "\n")[[1L]], 40L))
  shown <- function(page) {
    parts <- tools::parse_Rd(sources("man", page))
    wanted <- vapply(parts, attr, "", "Rd_tag") %in% c("\\title", "\\description")
    paste(unlist(parts[wanted]), collapse = "")
  }
  screens <- c(screens, lapply(c("which_zeros.Rd", "multicause-package.Rd"), shown))
  jargon <- "\\b(aspects?|phantoms?|fixed|iterations|nats|starts finished|decompositions?|posterior|outer bound)\\b"
  jargon <- gsub("aspects?", "aspects?(?! Bernoulli)", jargon, fixed = TRUE)
  for (screen in screens) expect_no_match(paste(screen, collapse = " "), jargon, perl = TRUE)
})

test_that("the first vignette is read aloud in a quarter of an hour, and has three exercises with solutions", {
  file <- sources("vignettes", "which-zeros.Rmd")
  skip_if_not(length(file) == 1L, "the sources are not at hand")
  words <- strsplit(trimws(prose_of_markdown(file)), "\\s+")[[1L]]
  expect_gt(length(words), 500L)
  expect_lte(length(words), 15 * 130) # words a minute
  text <- readLines(file, encoding = "UTF-8")
  expect_length(grep("^[*][*][123][.]", text), 3L)
  expect_length(grep("<summary>Solution</summary>", text, fixed = TRUE), 3L)
})

test_that("articles and vignettes say component, but for the article on the paper that says aspect", {
  files <- c(sources("vignettes", "*.Rmd"), sources("vignettes", "articles", "*.Rmd"), sources("README.md"))
  skip_if_not(length(files) > 0L, "the sources are not at hand")
  said <- vapply(files, prose_of_markdown, "")
  said <- gsub("[Aa]spect\\s+(Bernoulli|model)|the paper calls them aspects", "", said)
  expect_identical(basename(files)[grepl("\\b[Aa]spects?\\b", said)], "paper.Rmd")
})

test_that("each vignette and article has a sentence for the index of the site", {
  files <- c(sources("vignettes", "*.Rmd"), sources("vignettes", "articles", "*.Rmd"))
  skip_if_not(length(files) > 0L, "the sources are not at hand")
  said <- vapply(files, function(file) any(grepl('^description: ".*[.]"$', readLines(file, 5L))), NA)
  expect_identical(basename(files)[!said], character())
})

test_that("news tell what there is, not what states that nobody saw were like", {
  file <- sources("NEWS.md")
  skip_if_not(length(file) == 1L, "the sources are not at hand")
  text <- readLines(file, encoding = "UTF-8")
  past <- c(
    "no longer", "used to", "formerly", "the former", "any more", "; it was", "; they were", "are gone", "is gone",
    "was renamed", "fixed a", "before, they", "they failed", "stopped with the message", "rounding made", "EM crept"
  )
  past <- sprintf("(%s)\\b", paste(past, collapse = "|"))
  expect_identical(grep(past, text, value = TRUE), character())
  entries <- substr(grep("^- ", text, value = TRUE), 1L, 60L)
  expect_identical(entries[duplicated(entries)], character())
})

test_that("the first page of the model is three screens at most", {
  page <- sources("man", "aspect_bernoulli.Rd")
  skip_if_not(length(page) > 0L, "the sources are not at hand")
  out <- tempfile()
  on.exit(unlink(out))
  tools::Rd2txt(page, out = out)
  expect_lte(length(readLines(out)), 120L)
  for (own in c("estimation", "effort", "neighbours")) {
    expect_length(sources("man", sprintf("aspect_bernoulli_%s.Rd", own)), 1L)
  }
})

test_that("help says component, and aspect only where the model's paper is named", {
  pages <- sources("man", "*.Rd")
  skip_if_not(length(pages) > 0L, "the sources are not at hand")
  said <- vapply(pages, prose_of_rd, "")
  said <- gsub("[Aa]spect\\s+(Bernoulli|model)|\\baspects = ", "", said)
  with_aspect <- basename(pages)[grepl("\\b[Aa]spects?\\b", said)]
  # The page of the model uses the paper's word once, and the glossary explains it.
  expect_identical(setdiff(with_aspect, c("aspect_bernoulli.Rd", "multicause-glossary.Rd")), character())
  once <- lengths(regmatches(said, gregexpr("\\baspects?\\b", said)))
  expect_lte(once[basename(pages) == "aspect_bernoulli.Rd"], 1L)
})
