# Runs the example of README.md and writes its output there, into the block that follows it. Run from the root of the
# package: `Rscript data-raw/readme.R`. A test compares the two.

pkgload::load_all(".", quiet = TRUE)
source("tests/testthat/helper-readme.R")
text <- readLines("README.md", encoding = "UTF-8")
blocks <- readme_blocks(text)
output <- readme_output(blocks$code)
at <- blocks$output_lines
writeLines(c(text[seq_len(at[1] - 1L)], output, text[-seq_len(at[length(at)])]), "README.md")
