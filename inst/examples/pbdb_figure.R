# From a download of the Paleobiology Database to two figures for a paper, in ten lines: the ranges of the genera, and
# what was found and missed in each bin of time.
library(multicause)
file <- system.file("extdata", "pbdb_tetrapods_us.csv.gz", package = "multicause") # put your own download here
bodies <- subset(read_pbdb(file), !grepl("trace", pres_mode))
middle <- function(rows) median((rows$max_ma + rows$min_ma) / 2)
x <- occurrence_matrix(
  bodies, "formation", "genus", min_sites = 3, min_taxa = 2, summarise = list(age = middle)
)
names(dimnames(x)) <- c("formations", "genera")
w <- which_zeros(x, age = site_table(x)$age, seed = 1, quick = TRUE) # leave out `quick` for the paper
ggplot2::ggsave("ranges.pdf", ggplot2::autoplot(w, "ranges", n = 15), width = 7, height = 5)
ggplot2::ggsave("time.pdf", ggplot2::autoplot(w, "time", bins = 5), width = 7, height = 5)
