# Surveys with several searches of the same sites, for bench/how_many.R: repeated visits and samples, fossil collections
# of one place and age, years, methods, specimens dealt into parts. how_many_cases() returns cases, each a list:
#   family, name, kind  the survey, the table, and what its searches are; alike_kinds has those that are alike
#   x        sites x taxa, 0/1, of the one search; taxa without presences are excluded, empty sites are not
#   counts   the counts of the same search, if available, or NULL
#   others   sites x taxa x searches, 0/1: what each other search found
#   near     the covariates that which_zeros() gets: age, place, environment
# and random_tables() and complete_tables() tables where nothing can be estimated, or nothing is missing.
# Data sets of CRAN packages are read from source archives, which are kept in the folder that MULTICAUSE_BENCH_CACHE
# names, else in a temporary one. Missing data are skipped with a message.
common <- new.env()
sys.source(if (file.exists("bench/common.R")) "bench/common.R" else "common.R", common)
shared <- common$shared
read_fossils <- common$read_fossils

archive_folder <- function() {
  folder <- Sys.getenv("MULTICAUSE_BENCH_CACHE", file.path(tempdir(), "archives"))
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  folder
}

get_archive <- function(package) {
  kept <- list.files(archive_folder(), sprintf("^%s_.*[.]tar[.]gz$", package), full.names = TRUE)
  if (length(kept)) {
    return(kept[[1L]])
  }
  # Ignores the R version that a package requires, because only its data are read.
  listed <- utils::available.packages(type = "source", filters = "duplicates")
  got <- utils::download.packages(package, archive_folder(), available = listed, type = "source", quiet = TRUE)
  if (!nrow(got)) stop("it is not on the repositories")
  got[1L, 2L]
}

# Data set of a package from its source archive; the package and its dependencies are not installed.
from_package <- function(package, name, file = name) {
  folder <- file.path(tempdir(), "data-sets")
  archive <- get_archive(package)
  at <- grep(sprintf("^%s/data/%s[.](rda|RData)$", package, file), utils::untar(archive, list = TRUE), value = TRUE)
  if (!length(at)) stop("it has no data set ", file)
  utils::untar(archive, files = at[[1L]], exdir = folder)
  read <- new.env()
  suppressWarnings(load(file.path(folder, at[[1L]]), envir = read))
  if (is.null(read[[name]])) stop("it has no data set ", name)
  read[[name]]
}

presence <- function(y) {
  y[] <- as.double(y > 0)
  y
}

# Covariates without site names, for tables without them.
bare <- function(one) {
  if (is.data.frame(one)) rownames(one) <- NULL
  if (is.null(dim(one))) unname(one) else one
}

rows_of <- function(near, kept) {
  lapply(near, function(one) if (is.null(dim(one))) one[kept] else one[kept, , drop = FALSE])
}

# Kinds of surveys whose searches are exchangeable, in contrast to other years or methods.
alike_kinds <- c(
  "bird visits", "recordings", "samples of areas", "samples of sites", "eDNA replicates", "equal searches",
  "fossil collections", "groups of sites", "specimens dealt", "monthly censuses dealt"
)

# The case of one search, number `use`: y is sites x taxa x searches, counts, 0/1 or NA. Sites missing in any search are
# excluded.
one_search <- function(family, name, kind, y, use, near = list(), counts = FALSE) {
  made <- rowSums(apply(is.na(y), c(1L, 3L), any)) == 0
  y <- y[made, , , drop = FALSE]
  taxa <- colSums(y[, , use] > 0) > 0
  seen <- presence(y[, taxa, , drop = FALSE])
  list(
    family = family, name = name, kind = kind, x = matrix(seen[, , use], nrow(seen)),
    counts = if (counts) matrix(y[, taxa, use], nrow(seen)), others = unname(seen[, , -use, drop = FALSE]),
    near = rows_of(near, made)
  )
}

searches <- function(family, name, kind, y, uses = seq_len(dim(y)[3L]), ...) {
  lapply(uses, function(use) one_search(family, sprintf("%s, search %d", name, use), kind, y, use, ...))
}

# Three of nine searches.
of_nine <- c(1L, 4L, 7L)

# Lists of cases, concatenated; a case whose file or data set is missing is skipped with a message.
skip_missing <- function(...) {
  parts <- eval(substitute(alist(...)))
  env <- parent.frame()
  unlist(lapply(parts, function(part) common$if_there(eval(part, env))), recursive = FALSE)
}

# Summed counts of the visits in each group of `of`: sites x taxa x groups.
pool_visits <- function(y, of) {
  groups <- lapply(split(seq_along(of), of), function(at) apply(y[, , at, drop = FALSE], 1:2, sum))
  array(unlist(groups), c(dim(y)[1:2], length(groups)), list(rownames(y), colnames(y), NULL))
}

# Deals samples of groups into searches of `each` samples (NULL: all), at random; groups with fewer are excluded, and
# groups beyond `most`, at random. x: samples x taxa, numbers.
deal_samples <- function(x, group, each = NULL, least = 3L, seed = 1L, searches = 3L, most = 400L) {
  set.seed(seed)
  at <- split(seq_len(nrow(x)), group)
  at <- at[lengths(at) >= max(least, searches * max(each, 1L))]
  if (length(at) > most) at <- at[sort(sample.int(length(at), most))]
  out <- array(0, c(length(at), ncol(x), searches), list(names(at), colnames(x), NULL))
  for (g in seq_along(at)) {
    dealt <- at[[g]][sample.int(length(at[[g]]))]
    if (!is.null(each)) dealt <- dealt[seq_len(searches * each)]
    for (search in seq_len(searches)) {
      mine <- dealt[(seq_along(dealt) - 1L) %% searches == search - 1L]
      out[g, , search] <- colSums(x[mine, , drop = FALSE])
    }
  }
  out
}

# Converts a table of records to samples x taxa.
cross <- function(sample, taxon, number = 1) {
  sample <- as.factor(sample)
  taxon <- as.factor(taxon)
  x <- matrix(0, nlevels(sample), nlevels(taxon), dimnames = list(levels(sample), levels(taxon)))
  known <- !is.na(sample) & !is.na(taxon)
  place <- (as.integer(taxon) - 1L) * nrow(x) + as.integer(sample)
  sums <- rowsum(rep_len(number, length(sample))[known], place[known])
  x[as.integer(rownames(sums))] <- sums
  x
}

# ---- visits of surveys ----
swiss_birds <- function() {
  survey <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "mhb2014_sites.csv"))
  y <- array(0, c(nrow(sites), 158L, 3L))
  y[cbind(survey$site, survey$species, survey$visit)] <- survey$count
  for (v in 1:3) y[sites[[paste0("surveyed", v)]] != 1, , v] <- NA
  near <- list(environment = sites[c("coordx", "coordy", "elev", "forest")])
  searches("Swiss birds 2014", "mhb2014", "bird visits", y, near = near, counts = TRUE)
}

hubbard_brook <- function() {
  family <- "Hubbard Brook birds"
  skip_missing(hubbard_2015(family), hubbard_counts(family), hubbard_trends(family))
}

hubbard_2015 <- function(family) {
  long <- utils::read.csv(shared("repeat_surveys", "hbef2015_detections.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "hbef2015_sites.csv"))
  species <- setdiff(names(long), c("site", "visit"))
  y <- array(NA_real_, c(nrow(sites), length(species), 3L))
  for (s in seq_along(species)) y[cbind(long$site, s, long$visit)] <- long[[species[s]]]
  searches(family, "hbef2015", "bird visits", y, near = list(environment = sites[c("x", "y", "elevation")]))
}

hubbard_counts <- function(family) {
  birds <- from_package("AHMbook", "HubbardBrook")
  at <- birds$sitecov[c("Longitude", "Latitude", "Elev")]
  known <- rowSums(is.na(at)) == 0
  near <- list(environment = at[known, ])
  unlist(lapply(c("1999", "2008", "2018"), function(year) {
    y <- aperm(birds$counts[known, , year, ], c(1L, 3L, 2L))
    searches(family, paste("Hubbard Brook", year), "bird visits", y, near = near, counts = TRUE)
  }), recursive = FALSE)
}

hubbard_trends <- function(family) {
  trends <- from_package("spOccupancy", "hbefTrends")
  near <- list(environment = data.frame(trends$coords, elev = trends$occ.covs$elev))
  unlist(lapply(c(1L, 5L, 9L), function(year) {
    y <- aperm(trends$y[, , year, ], c(2L, 1L, 3L))
    searches(family, sprintf("hbefTrends year %d", year), "bird visits", y, 3L, near = near)
  }), recursive = FALSE)
}

finnmark <- function() {
  birds <- from_package("AHMbook", "Finnmark")
  near <- list(environment = birds$sites[c("area", "edge", "height", "density")])
  out <- list()
  for (year in dimnames(birds$counts)$years) {
    y <- aperm(birds$counts[, 1:3, year, ], c(1L, 3L, 2L))
    out <- c(out, searches("Finnmark birds", paste("Finnmark", year), "bird visits", y, near = near, counts = TRUE))
  }
  out
}

swiss_tits <- function() {
  birds <- from_package("AHMbook", "SwissTits")
  near <- list(environment = birds$sites[c("coordx", "coordy", "elev", "forest")])
  unlist(lapply(c("2004", "2008", "2012"), function(year) {
    y <- aperm(birds$counts[, , year, ], c(1L, 3L, 2L))
    searches("Swiss tits", paste("Swiss tits", year), "bird visits", y, c(1L, 3L), near = near, counts = TRUE)
  }), recursive = FALSE)
}

# Recordings of one or three minutes by automatic recorders: three of one season, and all in three equal parts.
recorded_birds <- function() {
  songs <- from_package("opticut", "birdrec")
  x <- songs$xtab
  colnames(x) <- songs$taxa$Species
  birds <- songs$taxa$Class == "Aves"
  samples <- songs$samp
  some <- samples$TOY %in% c("Mid4", "Mid5", "Mid6", "Mid7") & samples$TOD == "Morning"
  out <- list()
  for (each in 1:3) {
    which <- if (each == 1L) some else rep(TRUE, nrow(x))
    y <- deal_samples(x[which, birds], droplevels(samples$POINT[which]), each)
    name <- sprintf("recorders, %d recordings", each)
    out <- c(out, searches("recorded birds", name, "recordings", y, if (each == 1L) 1:3 else 1L))
  }
  y <- deal_samples(x[, birds], droplevels(samples$POINT), 1L, searches = 9L)
  c(out, searches("recorded birds", "recorders, nine recordings", "recordings", y, of_nine))
}

# Point counts of a survey area, as searches for its birds.
oil_sands <- function() {
  survey <- from_package("detect", "josm")
  stations <- survey$surveys
  birds <- cross(factor(survey$counts$SiteID, levels(stations$SiteID)), droplevels(survey$counts$SpeciesID))
  birds <- birds[match(stations$SiteID, levels(stations$SiteID)), ]
  place <- stats::aggregate(stations[c("Longitude", "Latitude")], list(area = stations$SurveyArea), mean)
  dealt <- function(name, use, ...) {
    y <- deal_samples(birds, droplevels(stations$SurveyArea), ...)
    at <- place[match(rownames(y), place$area), ]
    near <- list(place = data.frame(lng = at$Longitude, lat = at$Latitude))
    searches("oil sands birds", name, "samples of areas", y, use, near = near)
  }
  c(
    dealt("areas, 1 count", 1:2, 1L), dealt("areas, 2 counts", 1:2, 2L), dealt("areas, 5 counts", 1:2, 5L),
    dealt("areas, nine counts", of_nine, 1L, searches = 9L)
  )
}

# Three sequenced water samples per site; a presence has reads.
river_fish <- function() {
  fish <- from_package("occumb", "fish_raw")
  y <- aperm(fish$y, c(2L, 1L, 3L))
  near <- list(environment = data.frame(bank = as.integer(fish$riverbank)))
  searches("river fish, eDNA", "fish", "eDNA replicates", y, near = near)
}

# Emergence traps along a brook, ten periods of a summer: dealt in turn, and three consecutive ones.
caddisflies <- function() {
  all <- from_package("adespatial", "trichoptera")
  y <- array(0, c(22L, 56L, 10L))
  for (d in 1:10) y[, , d] <- as.matrix(all[all$Date == d, -(1:2)][order(all$Site[all$Date == d]), ])
  near <- list(environment = data.frame(along = 1:22))
  c(
    searches("caddisflies", "traps, periods in turn", "equal searches", pool_visits(y[, , 1:9], rep(1:3, 3)),
      near = near, counts = TRUE),
    searches("caddisflies", "traps, nine periods", "trap periods", y[, , 1:9], 4:6, near = near),
    searches("caddisflies", "traps, periods 5 to 7", "trap periods", y[, , 5:7], near = near, counts = TRUE)
  )
}

# Two methods for each sample.
snails <- function() {
  all <- from_package("opticut", "dolina")
  y <- array(0, c(256L, ncol(all$xtab), 2L))
  for (v in 1:2) {
    at <- which(all$samp$method == c("Q", "T")[v])
    y[, , v] <- all$xtab[at[match(levels(all$samp$sample), all$samp$sample[at])], ]
  }
  first <- all$samp[match(levels(all$samp$sample), all$samp$sample), ]
  near <- list(environment = data.frame(
    stats::model.matrix(~ microhab + as.integer(stratum) + lmoist + lthick, first)[, -1L]
  ))
  searches("snails of dolinas", "dolinas, methods", "methods", y, near = near, counts = TRUE)
}

# Camera records in three periods of equal length.
camera_periods <- function(station, species, time, start, days) {
  period <- floor(as.numeric(difftime(time, start, units = "days")) / days) + 1
  kept <- !is.na(period) & period >= 1 & period <= 3
  station <- factor(station)
  species <- factor(species)
  y <- array(0, c(nlevels(station), nlevels(species), 3L), list(levels(station), levels(species), NULL))
  hits <- unique(cbind(as.integer(station), as.integer(species), period)[kept, ])
  y[hits] <- 1
  y
}

ruaha_cameras <- function() {
  all <- from_package("datana", "cameratrap")
  time <- as.POSIXct(all$date.time, "%d/%m/%Y %H:%M", tz = "UTC")
  out <- list()
  for (season in c("D", "W")) {
    at <- all$season == season & time > as.POSIXct("2013-09-01", tz = "UTC")
    first <- tapply(time[at], all$station[at], min)
    last <- tapply(time[at], all$station[at], max)
    for (days in c(4, 10)) {
      long <- names(first)[(last - first) / 86400 >= 3 * days]
      mine <- at & all$station %in% long
      start <- as.POSIXct(first[all$station[mine]], origin = "1970-01-01", tz = "UTC")
      y <- camera_periods(all$station[mine], all$specie[mine], time[mine], start, days)
      name <- sprintf("Ruaha, season %s, %d days", season, days)
      out <- c(out, searches("Ruaha cameras", name, "camera periods", y, c(1L, 3L)))
    }
  }
  out
}

lama_cameras <- function() {
  all <- from_package("ct", "lama")
  cameras <- all$deployment
  unlist(lapply(c(10, 58), function(days) {
    y <- camera_periods(
      factor(all$observation$camera, cameras$camera), all$observation$species, all$observation$datetime,
      as.POSIXct("2024-07-07", tz = "UTC"), days
    )
    near <- list(environment = as.data.frame(cameras[c("x", "y")]))
    searches("Lama cameras", sprintf("Lama forest, %d days", days), "camera periods", y, near = near)
  }), recursive = FALSE)
}

# Roots of mangroves, eight samples per site.
epibionts <- function() {
  all <- from_package("SSP", "epibionts")
  group <- paste(all$sector, all$site)
  unlist(lapply(1:2, function(each) {
    y <- deal_samples(as.matrix(all[-(1:2)]), group, each)
    near <- list(environment = data.frame(sector = match(substr(rownames(y), 1L, 1L), c("E", "M", "I"))))
    name <- sprintf("mangrove roots, %d samples", each)
    searches("marine epibionts", name, "samples of sites", y, near = near, counts = TRUE)
  }), recursive = FALSE)
}

# Bottom samples of the same 100 stations in three years.
north_sea <- function() {
  all <- as.data.frame(from_package("benthos", "northsea"))
  year <- as.integer(format(all$DATE, "%Y"))
  stations <- sort(unique(all$SAMPLEID))
  taxa <- sort(unique(all$TAXON))
  first <- all[match(stations, all$SAMPLEID), ]
  near <- list(place = data.frame(lng = first$LONG, lat = first$LAT))
  unlist(lapply(c(2000L, 2007L), function(from) {
    y <- array(NA_real_, c(length(stations), length(taxa), 3L))
    for (v in 1:3) {
      now <- all[year == from + v - 1L, ]
      x <- cross(factor(now$SAMPLEID, stations), factor(now$TAXON, taxa), now$VALUE)
      y[stations %in% now$SAMPLEID, , v] <- x[stations %in% now$SAMPLEID, ]
    }
    searches("North Sea benthos", sprintf("stations from %d", from), "years", y, c(1L, 3L), near = near, counts = TRUE)
  }), recursive = FALSE)
}

kelp_forest <- function() {
  all <- from_package("gllvm", "kelpforest")
  transect <- paste(all$X$SITE, all$X$TRANSECT)
  sites <- sort(unique(transect))
  near <- list(environment = data.frame(site = stats::model.matrix(~ 0 + sub(" .*", "", sites))))
  y <- array(NA_real_, c(length(sites), ncol(all$Y), 3L))
  for (v in 1:3) {
    at <- which(all$X$YEAR == 2009 + v)
    y[match(transect[at], sites), , v] <- as.matrix(all$Y)[at, ]
  }
  searches("kelp forest", "transects from 2010", "years", y, c(1L, 3L), near = near)
}

# Plants of permanent plots in three consecutive years.
prairie_plants <- function() {
  all <- from_package("codyn", "knz_001d")
  unlist(lapply(c(1990L, 2000L), function(from) {
    layers <- lapply(from + 0:2, function(year) {
      now <- all[all$year == year, ]
      cross(now$subplot, now$species, now$abundance)
    })
    y <- array(unlist(layers), c(dim(layers[[1L]]), 3L))
    searches("prairie plants", sprintf("Konza plots from %d", from), "years", y, c(1L, 3L))
  }), recursive = FALSE)
}

shore_plants <- function() {
  all <- from_package("gllvm", "Skabbholmen")
  spot <- paste(all$X$transectID, all$X$Elevation)
  sites <- sort(unique(spot))
  y <- array(NA_real_, c(length(sites), ncol(all$Y), 2L))
  for (v in 1:2) {
    at <- which(all$X$Year == c(1978, 1984)[v])
    y[match(spot[at], sites), , v] <- all$Y[at, ]
  }
  near <- list(environment = data.frame(elevation = as.numeric(sub(".* ", "", sites))))
  searches("shore plants", "Skabbholmen, six years apart", "years", y, near = near)
}

# Logs of a reserve, as searches for its fungi.
wood_fungi <- function() {
  all <- from_package("gllvm", "fungi")
  y <- deal_samples(as.matrix(all$Y), all$X$RESERVE, 5L)
  more <- deal_samples(as.matrix(all$Y), all$X$RESERVE, NULL, 9L)
  nine <- deal_samples(as.matrix(all$Y), all$X$RESERVE, 1L, searches = 9L)
  c(
    searches("wood fungi", "reserves, nine logs", "samples of areas", nine, of_nine),
    searches("wood fungi", "reserves, 5 logs", "samples of areas", y, 1:2),
    searches("wood fungi", "reserves, a third of logs", "samples of areas", more, 1:2)
  )
}

ditches <- function() {
  if (!requireNamespace("vegan", quietly = TRUE)) stop("it is not installed")
  read <- new.env()
  utils::data("pyrifos", package = "vegan", envir = read)
  y <- aperm(array(as.matrix(read$pyrifos), c(12L, 11L, 178L)), c(1L, 3L, 2L))
  searches("ditch invertebrates", "ditches, weeks 15 to 24", "visits of ditches", y[, , 9:11])
}

# ---- fossil collections ----
# Collections of one place and age as searches of one fauna: one each, and all in three and in nine equal parts.
fossil_searches <- function(family, collection, taxon, place, age, at) {
  x <- cross(collection, taxon) > 0
  first <- match(rownames(x), collection)
  group <- paste(place, age)[first]
  dealt <- function(name, use, ...) {
    y <- deal_samples(x, group, ...)
    here <- at[match(rownames(y), paste(place, age)), ]
    near <- list(age = here$age, place = here[c("lng", "lat")])
    searches(family, paste0(family, ", ", name), "fossil collections", y, use, near = near)
  }
  c(
    dealt("one collection", 1:2, 1L), dealt("a third of collections", 1:2),
    dealt("a ninth of collections", of_nine, searches = 9L, least = 9L)
  )
}

round_place <- function(lng, lat, to) paste(round(lng / to) * to, round(lat / to) * to)

tetrapods <- function() {
  all <- from_package("palaeoverse", "tetrapods")
  all <- all[!is.na(all$genus) & nzchar(all$genus), ]
  at <- data.frame(age = (all$max_ma + all$min_ma) / 2, all[c("lng", "lat")])
  fossil_searches("tetrapod collections", all$collection_no, all$genus, round_place(all$lng, all$lat, 0.5),
    paste(all$early_interval, all$late_interval), at)
}

corals <- function() {
  all <- from_package("divDyn", "corals")
  all <- all[!is.na(all$stg) & nzchar(all$genus) & !is.na(all$lng), ]
  at <- data.frame(age = (all$max_ma + all$min_ma) / 2, all[c("lng", "lat")])
  fossil_searches("coral collections", all$collection_no, all$genus, round_place(all$lng, all$lat, 0.5), all$stg, at)
}

shells <- function() {
  each <- function(name, family) {
    all <- from_package("divvy", name)
    all <- all[!is.na(all$genus) & nzchar(all$genus) & !is.na(all$paleolng), ]
    at <- data.frame(age = (all$max_ma + all$min_ma) / 2, lng = all$paleolng, lat = all$paleolat)
    fossil_searches(family, all$collection_no, all$genus, round_place(at$lng, at$lat, 1),
      paste(all$max_ma, all$min_ma), at)
  }
  skip_missing(each("occSilur", "Silurian collections"), each("bivalves", "Pliocene bivalve collections"))
}

# ---- groups of fossil sites ----
group_cases <- function(family, x, group, near) {
  y <- deal_samples(x, group)
  near <- rows_of(near, match(rownames(y), group))
  searches(family, paste(family, "in thirds"), "groups of sites", y, 1:2, near = near)
}

fossil_groups <- function() {
  of_table <- function(family, one) group_cases(family, presence(one$x), one$group, one$near)
  skip_missing(
    of_table("European mammals by MN unit", european_mammals()),
    of_table("North American mammals by region", american_mammals()),
    of_table("Turkana mammals by member", turkana_mammals()), of_table("early tetrapods by region", old_tetrapods())
  )
}

# Each function returns list(x, near, group).
european_mammals <- function() {
  europe <- read_fossils("g10s2", "now_2003")
  list(x = europe$x, near = list(age = europe$sites$age_ma), group = as.character(europe$sites$mn))
}

american_mammals <- function() {
  america <- read_fossils("nam_large", "now_2020_nam")
  of <- america$sites
  list(
    x = america$x, near = list(age = of$mid_age, place = data.frame(lng = of$long, lat = of$lat)),
    group = paste(round(of$mid_age / 1.5), round(of$lat / 6), round(of$long / 8))
  )
}

turkana_mammals <- function() {
  long <- utils::read.csv(shared("turkana", "turkana_counts.csv"))
  sites <- utils::read.csv(shared("turkana", "turkana_sites.csv"))
  counts <- cross(factor(long$site_id, sites$site_id), long$genus, long$n_specimens)
  list(x = counts, near = list(age = sites$age), group = sites$member)
}

old_tetrapods <- function() {
  early <- multicause::early_tetrapods
  old <- early$sites
  list(
    x = as.matrix(early$x) + 0, near = list(age = old$age, place = old[c("lng", "lat")]),
    group = paste(round(old$age / 8), round(old$lat / 10), round(old$lng / 10))
  )
}

# ---- specimens dealt into equal parts ----
# Counts dealt into `parts` at random; rows with fewer than `least` are excluded.
deal_specimens <- function(counts, parts, least = 2 * parts, seed = 1L) {
  set.seed(seed)
  counts <- counts[rowSums(counts) >= least, ]
  y <- array(0, c(dim(counts), parts), list(rownames(counts), colnames(counts), NULL))
  for (i in which(counts > 0)) y[row(counts)[i], col(counts)[i], ] <- stats::rmultinom(1, counts[i], rep(1, parts))
  y
}

specimens <- function(family, counts, near = list(), least = c(6L, 18L)) {
  kind <- "specimens dealt"
  of <- function(y) rows_of(near, match(rownames(y), rownames(counts)))
  if (is.null(rownames(counts))) rownames(counts) <- seq_len(nrow(counts))
  third <- deal_specimens(counts, 3L, least[1L])
  ninth <- deal_specimens(counts, 9L, least[2L])
  c(
    searches(family, paste(family, "in thirds"), kind, third, near = of(third), counts = TRUE),
    searches(family, paste(family, "in ninths"), kind, ninth, of_nine, near = of(ninth), counts = TRUE)
  )
}

dealt_specimens <- function() {
  turkana <- function() {
    all <- turkana_mammals()
    specimens("Turkana mammals", all$x, all["near"][[1L]])
  }
  skip_missing(
    turkana(), specimens("tropical trees", vegan_data("BCI")), specimens("mites", vegan_data("mite")),
    specimens("sherds of pueblos", as.matrix(from_package("folio", "zuni")), least = c(3L, 18L))
  )
}

vegan_data <- function(name) {
  if (!requireNamespace("vegan", quietly = TRUE)) stop("it is not installed")
  read <- new.env()
  utils::data(list = name, package = "vegan", envir = read)
  unname(as.matrix(read[[name]]))
}

# ---- where nothing is missing, and where nothing can be estimated ----
complete_tables <- function() {
  lapply(stats::setNames(nm = c("BCI", "mite", "dune", "sipoo", "varespec")), function(name) {
    presence(vegan_data(name))
  })
}

# Coin tosses with one probability, and random presences of taxa with different frequencies.
random_tables <- function(seeds = 1:8) {
  unlist(lapply(seeds, function(seed) {
    set.seed(seed)
    tables <- list(
      matrix(stats::rbinom(2000, 1, 0.2), 50), matrix(stats::rbinom(6000, 1, 0.05), 100),
      matrix(stats::rbinom(1800, 1, rep(stats::rbeta(30, 0.6, 2.4), each = 60)), 60)
    )
    stats::setNames(tables, paste(c("toss of .2", "toss of .05", "taxa unequal"), seed))
  }), recursive = FALSE)
}

source(if (file.exists("bench/how_many_surveys.R")) "bench/how_many_surveys.R" else "how_many_surveys.R")

makers <- c(list(
  mhb2014 = swiss_birds, HubbardBrook = hubbard_brook, Finnmark = finnmark, SwissTits = swiss_tits,
  birdrec = recorded_birds, josm = oil_sands, fish_raw = river_fish, trichoptera = caddisflies,
  dolina = snails, cameratrap = ruaha_cameras, lama = lama_cameras, epibionts = epibionts, northsea = north_sea,
  kelpforest = kelp_forest, knz_001d = prairie_plants, Skabbholmen = shore_plants, fungi = wood_fungi,
  pyrifos = ditches, tetrapods = tetrapods, corals = corals, `occSilur and bivalves` = shells, groups = fossil_groups,
  specimens = dealt_specimens
), more_makers)

how_many_cases <- function(which = names(makers)) {
  out <- lapply(which, function(name) {
    tryCatch(makers[[name]](), error = function(e) {
      message("Skipped ", name, ": ", conditionMessage(e))
      NULL
    })
  })
  unlist(out, recursive = FALSE)
}
