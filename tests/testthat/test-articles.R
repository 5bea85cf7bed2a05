# Articles of the site on the papers: one for each, with results of its script.

skip_on_cran()

articles <- c(
  `paper.Rmd` = "paper_reproduction", `paper-noisy-or.Rmd` = "paper_noisy_or", `paper-sparse.Rmd` = "paper_sparse",
  `paper-plca.Rmd` = "paper_plca", `paper-bmf.Rmd` = "paper_bmf"
)
article <- function(name) test_path("..", "..", "vignettes", "articles", name)
script <- function(name) test_path("..", "..", "data-raw", paste0(name, ".R"))

# Identifies a reference by its title and location, in lower case without marks of formatting.
plain_text <- function(text) gsub("[^a-z0-9/.:_-]+", " ", tolower(paste(text, collapse = " ")))
known_by <- function(entry) {
  c(plain_text(gsub("[{}]", "", entry$title)), tolower(c(entry$doi, entry$url)), sub("--", "-", entry$pages))
}

test_that("each paper of the citation has an article: in short, theirs and ours, beyond, live", {
  skip_if_not(file.exists(article("paper.Rmd")), "the sources are not at hand")
  papers <- utils::citation("multicause")[-1L]
  said <- lapply(names(articles), function(name) readLines(article(name), encoding = "UTF-8"))
  references <- lapply(said, function(text) plain_text(text[seq(max(grep("^## Reference", text)), length(text))]))
  for (entry in papers) {
    marks <- known_by(entry)
    here <- Filter(function(reference) grepl(marks[1L], reference, fixed = TRUE), references)
    expect_length(here, 1L)
    for (mark in marks) expect_match(unlist(here), mark, fixed = TRUE)
  }
  for (text in said) {
    for (head in c("^## In short", "beyond|^## Beyond", "^## (Live|The same, live)")) {
      expect_match(text, head, all = FALSE)
    }
    expect_match(paste(text, collapse = " "), "wo runs|earlier run") # how far a second run of the script may differ
  }
})

test_that("the noisy-OR paper whose equations the code numbers is named wherever the longer one is", {
  skip_if_not(file.exists(article("paper.Rmd")), "the sources are not at hand")
  folders <- c("vignettes", "vignettes/articles", "R")
  files <- unlist(lapply(folders, function(folder) {
    list.files(test_path("..", "..", folder), "[.](Rmd|R)$", full.names = TRUE)
  }))
  texts <- lapply(files, function(file) plain_text(gsub("#'", " ", readLines(file, encoding = "UTF-8"), fixed = TRUE)))
  longer <- grepl("application to link analysis", texts, fixed = TRUE)
  expect_gte(sum(longer), 4L)
  expect_identical(longer, grepl("variational learning for noisy-or component analysis", texts, fixed = TRUE))
})

test_that("no string of an article is broken over lines", {
  skip_if_not(file.exists(article("paper.Rmd")), "the sources are not at hand")
  skip_if_not_installed("knitr")
  for (file in list.files(c(test_path("..", "..", "vignettes"), dirname(article("paper.Rmd"))), "[.]Rmd$",
    full.names = TRUE
  )) {
    code <- knitr::purl(text = readLines(file, encoding = "UTF-8"), documentation = 0L, quiet = TRUE)
    tokens <- utils::getParseData(parse(text = code, keep.source = TRUE))
    strings <- tokens$text[tokens$token == "STR_CONST"]
    expect_identical(grep("\n", strings, fixed = TRUE, value = TRUE), character(), info = basename(file))
  }
})

test_that("what an article shows is what its script computes, no more and no less", {
  skip_if_not(file.exists(article("paper.Rmd")), "the sources are not at hand")
  for (name in names(articles)) {
    code <- as.list(parse(script(articles[[name]]), keep.source = FALSE))
    made <- Filter(function(call) is.call(call) && identical(call[[2L]], quote(experiments)), code)
    stored <- names(readRDS(article(paste0(articles[[name]], ".rds"))))
    expect_identical(stored, names(as.list(made[[1L]][[3L]])[-1L]), info = name)
    expect_match(readLines(article(name), encoding = "UTF-8"), paste0("data-raw/", articles[[name]], ".R"),
      fixed = TRUE, all = FALSE, info = name
    )
  }
})
