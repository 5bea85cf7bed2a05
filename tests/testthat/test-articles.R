# The articles of the site on the papers: one for each, with results that its script made.

articles <- c(
  `paper.Rmd` = "paper_reproduction", `paper-noisy-or.Rmd` = "paper_noisy_or", `paper-sparse.Rmd` = "paper_sparse",
  `paper-plca.Rmd` = "paper_plca", `paper-bmf.Rmd` = "paper_bmf"
)
article <- function(name) test_path("..", "..", "vignettes", "articles", name)
script <- function(name) test_path("..", "..", "data-raw", paste0(name, ".R"))

test_that("each paper of the citation has an article: in short, theirs and ours, beyond, live", {
  skip_if_not(file.exists(article("paper.Rmd")), "the sources are not at hand")
  years <- vapply(utils::citation("multicause")[-1L], function(entry) entry$year, "")
  said <- lapply(names(articles), function(name) readLines(article(name), encoding = "UTF-8"))
  told <- vapply(said, function(text) {
    reference <- text[seq(max(grep("^## Reference", text)), length(text))]
    regmatches(paste(reference, collapse = " "), regexpr("(?<=[(])[0-9]{4}(?=[)])", paste(reference, collapse = " "),
      perl = TRUE
    ))
  }, "")
  expect_setequal(told, years)
  for (text in said) {
    for (head in c("^## In short", "beyond|^## Beyond", "^## (Live|The same, live)")) {
      expect_match(text, head, all = FALSE)
    }
    expect_match(paste(text, collapse = " "), "wo runs|earlier run") # how far a second run of the script may differ
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
