test_that("the example of the README prints what it says", {
  skip_on_cran()
  file <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(file), "README.md is not at hand")
  blocks <- readme_blocks(readLines(file, encoding = "UTF-8"))
  kind <- RNGkind()
  set.seed(1)
  grDevices::pdf(NULL) # the example draws the picture, too
  on.exit(grDevices::dev.off())
  output <- readme_output(blocks$code)
  expect_identical(RNGkind(), kind)
  # Which of several near maxima a start ends in hangs on the last places, which differ between processors: the ranked
  # rows may change places then, and what was missed a few per cent. What the table is, and how good the answers, stay.
  number <- "[0-9]+( [0-9]{3})*([.][0-9]+)?"
  words <- function(lines) gsub(" +", " ", gsub(number, "#", paste(lines, collapse = " ")))
  numbers <- function(lines) as.numeric(gsub(" ", "", unlist(regmatches(lines, gregexpr(number, lines)))))
  ranked <- function(lines) grepl("^ +[1-5] ", lines)
  expect_identical(output[1L], blocks$output[1L])
  expect_identical(words(output[2:5]), words(blocks$output[2:5]))
  expect_identical(which(ranked(output)), which(ranked(blocks$output)))
  good <- function(lines) numbers(grep("^How good|such a find|^  other zeros", lines, value = TRUE))
  expect_equal(good(output), good(blocks$output), tolerance = 0.02)
})

test_that("the text of the README names the numbers of its own example", {
  file <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(file), "README.md is not at hand")
  text <- readLines(file, encoding = "UTF-8")
  shown <- paste(readme_blocks(text)$output, collapse = " ")
  said <- paste(text[seq(which(text == "## How good it is"), length(text))], collapse = " ")
  for (pair in list(
    c("stands above ([0-9.]+) %", "ranks above ([0-9.]+) %"),
    c("rule,.*, has ([0-9.]+) and", "rule reaches ([0-9.]+) %"),
    c("\\(1 is right\\): ([0-9.]+),", "slope of ([0-9.]+) says")
  )) {
    number <- function(text, pattern) regmatches(text, regexec(pattern, text))[[1L]][2L]
    expect_identical(number(said, pair[2L]), number(shown, pair[1L]))
    expect_false(is.na(number(said, pair[2L])))
  }
})

test_that("the README names what there is", {
  file <- test_path("..", "..", c("README.md", "Makefile"))
  skip_if_not(all(file.exists(file)), "README.md is not at hand")
  text <- readLines(file[1L], encoding = "UTF-8")
  pictures <- sub(".*\\]\\(([^)]*)\\).*", "\\1", grep("\\]\\(man/", text, value = TRUE))
  expect_true(length(pictures) > 0L && all(file.exists(test_path("..", "..", pictures))))
  expect_lt(max(file.size(test_path("..", "..", pictures))), 80000)
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
  # What `make install` installs is what `make check` checks.
  rules <- grep("^(install|check-all|check-alone):", readLines(file[2L]), value = TRUE)
  expect_length(rules, 3L)
  expect_true(all(grepl("$(PACKAGE)", rules, fixed = TRUE)))
})
