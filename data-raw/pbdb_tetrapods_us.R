# Writes inst/extdata/pbdb_tetrapods_us.csv.gz: the occurrences of tetrapod_occurrences from the United States in the
# layout of a Paleobiology Database download, for examples of read_pbdb(). To be run by Rscript from the root of the
# package.

pkgload::load_all(".", quiet = TRUE)

found <- subset(tetrapod_occurrences, cc == "US")
target <- gzfile("inst/extdata/pbdb_tetrapods_us.csv.gz", "w", compression = 9)
quoted <- function(...) paste(sprintf("\"%s\"", c(...)), collapse = ",")
writeLines(c(
  quoted("Data Provider", "The Paleobiology Database"),
  quoted("Data License", "Creative Commons CC-BY"),
  quoted("License URL", "http://creativecommons.org/licenses/by/4.0/"),
  quoted("Title", "Early tetrapods of the United States, from data set tetrapods of R package palaeoverse"),
  quoted("Records Returned", nrow(found)),
  quoted("Records:"),
  quoted(names(found))
), target)
utils::write.table(
  as.data.frame(lapply(found, as.character)), target,
  sep = ",", na = "", qmethod = "double", row.names = FALSE, col.names = FALSE
)
close(target)
