# Builds tetrapod_occurrences and early_tetrapods. To be run by Rscript from the root of the package.
#
# Source: data set `tetrapods` of the CRAN package palaeoverse, from its source archive; the package itself and its
# dependencies are not needed.

pkgload::load_all(".", quiet = TRUE)

folder <- tempfile()
dir.create(folder)
archive <- download.packages("palaeoverse", folder, type = "source", quiet = TRUE)
if (!nrow(archive)) {
  stop("palaeoverse is not on the repositories in getOption(\"repos\").")
}
untar(archive[1L, 2L], files = "palaeoverse/data/tetrapods.rda", exdir = folder)
source_data <- new.env()
load(file.path(folder, "palaeoverse", "data", "tetrapods.rda"), envir = source_data)

# The columns that matter here. Names of formations lose their accents, so that every locale can show them.
tetrapod_occurrences <- source_data$tetrapods[c(
  "occurrence_no", "collection_no", "accepted_name", "accepted_rank", "class", "order", "family", "genus",
  "early_interval", "late_interval", "max_ma", "min_ma", "lng", "lat", "cc", "formation", "environment", "pres_mode"
)]
tetrapod_occurrences$formation <- iconv(tetrapod_occurrences$formation, "UTF-8", "ASCII//TRANSLIT")
for (column in c("occurrence_no", "collection_no")) {
  tetrapod_occurrences[[column]] <- as.integer(tetrapod_occurrences[[column]])
}
# The code of Namibia, NA, was read as a missing value on the way; all of these are there.
namibia <- is.na(tetrapod_occurrences$cc)
with(tetrapod_occurrences[namibia, ], stopifnot(lng > 11.7, lng < 25.3, lat > -29, lat < -16.9))
tetrapod_occurrences$cc[namibia] <- "NA"
row.names(tetrapod_occurrences) <- NULL
text <- vapply(tetrapod_occurrences, is.character, NA)
stopifnot(
  nrow(tetrapod_occurrences) == 5270L,
  !grepl("?", setdiff(tetrapod_occurrences$formation, source_data$tetrapods$formation), fixed = TRUE),
  !vapply(tetrapod_occurrences[text], function(v) any(grepl("[^ -~]", v)), NA)
)

# Body fossils only: a track is a genus of its own that no body can have. A site is a formation within one interval.
bodies <- tetrapod_occurrences[!grepl("trace", tetrapod_occurrences$pres_mode), ]

# The middle of the collections of a site on the sphere: longitudes do not average across 180 degrees.
middle <- function(rows) {
  rows <- rows[!duplicated(rows$collection_no), ]
  lng <- rows$lng * pi / 180
  lat <- rows$lat * pi / 180
  at <- c(mean(cos(lat) * cos(lng)), mean(cos(lat) * sin(lng)), mean(sin(lat)))
  c(lng = atan2(at[2L], at[1L]), lat = atan2(at[3L], sqrt(at[1L]^2 + at[2L]^2))) * 180 / pi
}

x <- occurrence_matrix(
  bodies[c("formation", "early_interval", "genus", "collection_no", "max_ma", "min_ma", "lng", "lat")],
  site = c("formation", "early_interval"), taxon = "genus",
  min_sites = 3, min_taxa = 2,
  summarise = list(
    age = function(rows) {
      rows <- rows[!duplicated(rows$collection_no), ]
      median((rows$max_ma + rows$min_ma) / 2)
    },
    max_ma = max,
    min_ma = min,
    lng = function(lng) NA_real_, # set below, with lat
    lat = function(lat) NA_real_,
    n_collections = function(rows) length(unique(rows$collection_no))
  )
)
sites <- site_table(x)
key <- paste(bodies$formation, bodies$early_interval, sep = ", ")
sites[c("lng", "lat")] <- round(t(vapply(sites$site, function(site) middle(bodies[key == site, ]), c(0, 0))), 4)

# Taxa, as the database places them, and the ages of their oldest and youngest site.
taxa <- unique(bodies[bodies$genus %in% colnames(x), c("genus", "class", "order", "family")])
stopifnot(!anyDuplicated(taxa$genus))
taxa[-1L] <- lapply(taxa[-1L], function(name) replace(name, grepl("^NO_.*_SPECIFIED$", name), NA))
genera <- taxa[match(colnames(x), taxa$genus), ]
genera$n_sites <- as.integer(colSums(x))
genera$oldest_ma <- apply(x == 1L, 2L, function(found) max(sites$age[found]))
genera$youngest_ma <- apply(x == 1L, 2L, function(found) min(sites$age[found]))
row.names(genera) <- genera$genus

# Sites from old to young, genera by the mean age of their sites, so that the matrix can be looked at as it is.
by_age <- order(-sites$age, -sites$max_ma, sites$site, method = "radix")
by_mean <- order(-drop(sites$age %*% x) / colSums(x), colnames(x), method = "radix")
early_tetrapods <- list(
  x = x[by_age, by_mean],
  sites = sites[by_age, ],
  genera = genera[by_mean, ]
)
str(early_tetrapods)

save(tetrapod_occurrences, file = "data/tetrapod_occurrences.rda", compress = "xz", version = 2)
save(early_tetrapods, file = "data/early_tetrapods.rda", compress = "xz", version = 2)
