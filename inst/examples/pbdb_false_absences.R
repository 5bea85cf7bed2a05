# From a download of the Paleobiology Database to ranked false absences and a report.
library(multicause)
file <- system.file("extdata", "pbdb_tetrapods_us.csv.gz", package = "multicause") # put your own download here
bodies <- subset(read_pbdb(file), !grepl("trace", pres_mode)) # tracks and burrows have names of their own
x <- occurrence_matrix(
  bodies, site = c("formation", "early_interval"), taxon = "genus", min_sites = 3, min_taxa = 2,
  summarise = list(
    age = function(rows) median((rows$max_ma + rows$min_ma) / 2),
    collections = function(rows) length(unique(rows$collection_no))
  )
)
sites <- site_table(x)[c("age", "collections")]
set.seed(1)
fit <- aspect_bernoulli(x, k = 3, phantom = "white", estimate = "map")
fit
ranked <- false_absences(fit, n = Inf, within = range_through(x, sites$age), site_data = sites)
head(ranked, 10)
write.csv(ranked, "false_absences.csv", row.names = FALSE)
report(fit, "report.html", age = sites$age, site_data = sites, title = "Early tetrapods of the United States")
