test_that("the example of the README prints what it says", {
  skip_on_cran()
  file <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(file), "README.md is not at hand")
  blocks <- readme_blocks(readLines(file, encoding = "UTF-8"))
  kind <- RNGkind()
  set.seed(1)
  output <- readme_output(blocks$code)
  expect_identical(RNGkind(), kind)
  # What the starts took to get there differs between BLAS libraries.
  counts <- function(lines) sub("after [0-9]+ passes", "after some passes", lines)
  expect_identical(counts(output), counts(blocks$output))
})

test_that("the README names what there is", {
  file <- test_path("..", "..", c("README.md", "Makefile"))
  skip_if_not(all(file.exists(file)), "README.md is not at hand")
  text <- readLines(file[1L], encoding = "UTF-8")
  pictures <- sub(".*\\]\\(([^)]*)\\).*", "\\1", grep("\\]\\(man/", text, value = TRUE))
  expect_true(length(pictures) > 0L && all(file.exists(test_path("..", "..", pictures))))
  targets <- c(
    "demo", "test", "install", "docs", "format", "lint", "test-c", "test-san", "torture", "valgrind", "check", "bench",
    "coverage"
  )
  made <- sub(":.*", "", grep("^[a-z-]+:", readLines(file[2L]), value = TRUE))
  expect_identical(setdiff(targets, made), character())
  named <- vapply(targets, function(target) any(grepl(paste0("\\b", target, "\\b"), text)), NA)
  expect_identical(targets[!named], character())
})
