# Runs the example of README.md, draws its picture (man/figures/README-zeros.png) and writes what it prints into the
# block that follows it. Run from the root of the package, with the package installed: `Rscript data-raw/readme.R`. A
# test compares the printed lines. The picture is made small by fewer colours, which ImageMagick does:
# `convert X.png -strip -dither None -colors 128 PNG8:X.png`.

library(multicause)
source("tests/testthat/helper-readme.R")
text <- readLines("README.md", encoding = "UTF-8")
blocks <- readme_blocks(text)
png("man/figures/README-zeros.png", width = 1440, height = 1024, res = 176, type = "cairo")
output <- readme_output(blocks$code)
invisible(dev.off())
at <- blocks$output_lines
writeLines(c(text[seq_len(at[1] - 1L)], output, text[-seq_len(at[length(at)])]), "README.md")
