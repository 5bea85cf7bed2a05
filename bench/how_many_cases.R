# Tables whose truth is known, for bench/how_many.R: surveys with repeated visits or samples, fossil collections of one
# place and age, groups of sites, thinned specimens, complete tables and planted omissions. how_many_cases() returns a
# list of cases, each a list:
#   family, name, kind  the survey, the table, and by what its truth is known
#   new      TRUE if the survey is of a kind that the law was not found or checked on
#   x        sites x taxa, 0/1, of the one search; taxa that it did not find are not in it, empty sites are
#   counts   the counts of the same search, where there are such, or NULL
#   found    sites x taxa, 0/1: what the other searches found
#   full     how many finds of the taxa in x were truly missed: cells that other searches found and, in those that none
#            found, what an occupancy model of each taxon over all searches expects; of thinned specimens what the rest
#            holds; of planted omissions how many were deleted
#   visits   sites x taxa x visits, 0/1/NA, or NULL
#   visit    which of them x is
#   near     what which_zeros() is told: age, place, environment
#   base     of planted omissions: the table that they were planted in
# Data sets of CRAN packages are read from source archives, which are kept in the folder that MULTICAUSE_BENCH_CACHE
# names, else in a temporary one. What cannot be had is skipped with a message.
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
  # Whatever version of R a package wants: only its data are read.
  listed <- utils::available.packages(type = "source", filters = "duplicates")
  got <- utils::download.packages(package, archive_folder(), available = listed, type = "source", quiet = TRUE)
  if (!nrow(got)) stop("it is not on the repositories")
  got[1L, 2L]
}

# The data set of a package, out of its source archive: the package itself and what it depends on are not needed.
from_package <- function(package, name) {
  folder <- file.path(tempdir(), "data-sets")
  archive <- get_archive(package)
  at <- grep(sprintf("^%s/data/%s[.](rda|RData)$", package, name), utils::untar(archive, list = TRUE), value = TRUE)
  if (!length(at)) stop("it has no data set ", name)
  utils::untar(archive, files = at[[1L]], exdir = folder)
  read <- new.env()
  load(file.path(folder, at[[1L]]), envir = read)
  read[[name]]
}

# Occupancy of all taxa, y sites x taxa x visits, 0/1/NA: EM for the share of sites where a taxon is and for its
# detection in each visit. A taxon found once has no detection of its own, and without more would be everywhere: one
# site is added where it is and is found as often as, over all taxa, a visit finds what another one has found. Returns
# the chance of each cell that the taxon is there.
occupied <- function(y, passes = 500L) {
  zero <- lapply(seq_len(dim(y)[3L]), function(v) (y[, , v] %in% 0) + 0)
  made <- lapply(seq_len(dim(y)[3L]), function(v) array(!is.na(y[, , v]) + 0, dim(y)[1:2]))
  hits <- apply(y, 2:3, sum, na.rm = TRUE)
  seen <- apply(y == 1, 1:2, any, na.rm = TRUE)
  mean <- vapply(seq_len(dim(y)[3L]), function(v) {
    elsewhere <- apply(y[, , -v, drop = FALSE] == 1, 1:2, any, na.rm = TRUE)
    mean(y[, , v][elsewhere], na.rm = TRUE)
  }, 0)
  there <- 0.5 + 0.5 * seen
  for (pass in seq_len(passes)) {
    occupied <- vapply(made, function(one) colSums(there * one), numeric(ncol(y)))
    p <- pmin((hits + rep(mean, each = ncol(y))) / (occupied + 1), 1 - 1e-6)
    none <- 0 # log of the chance to find nothing of a taxon that is there
    for (v in seq_along(zero)) none <- none + zero[[v]] * rep(log1p(-p[, v]), each = nrow(y))
    odds <- exp(none) * rep(colMeans(there) / (1 - pmin(colMeans(there), 1 - 1e-9)), each = nrow(y))
    new <- ifelse(seen, 1, odds / (1 + odds))
    done <- abs(sum(new) - sum(there)) < 1e-3 && pass > 10L
    there <- new
    if (done) break
  }
  there
}

presence <- function(y) {
  y[] <- as.double(y > 0)
  y
}

rows_of <- function(near, kept) {
  lapply(near, function(one) if (is.null(dim(one))) one[kept] else one[kept, , drop = FALSE])
}

# One search of several: y is sites x taxa x visits, counts, 0/1 or NA; `use` are the visits that x is the union of.
one_search <- function(family, name, kind, y, use, near = list(), new = FALSE, counts = FALSE) {
  made <- apply(!is.na(y), c(1L, 3L), all)
  kept <- rowSums(made[, use, drop = FALSE]) == length(use) & rowSums(made[, -use, drop = FALSE]) > 0
  y <- y[kept, , , drop = FALSE]
  for (v in seq_len(dim(y)[3L])) y[!made[kept, v], , v] <- NA
  numbers <- apply(y[, , use, drop = FALSE], 1:2, sum)
  taxa <- colSums(numbers > 0) > 0
  numbers <- numbers[, taxa, drop = FALSE]
  seen <- presence(y[, taxa, , drop = FALSE])
  x <- presence(numbers)
  found <- presence(apply(seen[, , -use, drop = FALSE], 1:2, max, na.rm = TRUE))
  there <- occupied(seen)
  list(
    family = family, name = name, kind = kind, new = new, x = x, counts = if (counts) numbers, found = found,
    there = there, full = sum(there[x == 0]), visits = seen, visit = use, near = rows_of(near, kept)
  )
}

searches <- function(family, name, kind, y, uses = seq_len(dim(y)[3L]), ...) {
  lapply(uses, function(use) {
    one_search(family, sprintf("%s, search %s", name, paste(use, collapse = " and ")), kind, y, use, ...)
  })
}

# Counts of all visits of which each number of `of` is made, added up: sites x taxa x groups.
pool_visits <- function(y, of) {
  groups <- lapply(split(seq_along(of), of), function(at) apply(y[, , at, drop = FALSE], 1:2, sum))
  array(unlist(groups), c(dim(y)[1:2], length(groups)), list(rownames(y), colnames(y), NULL))
}

# Samples of groups dealt into three searches of so many samples each (NULL: all of them), at random; groups with
# fewer are left out. x: samples x taxa, numbers.
deal_samples <- function(x, group, each = NULL, least = 3L, seed = 1L) {
  set.seed(seed)
  at <- split(seq_len(nrow(x)), group)
  at <- at[lengths(at) >= max(least, 3L * max(each, 1L))]
  out <- array(0, c(length(at), ncol(x), 3L), list(names(at), colnames(x), NULL))
  for (g in seq_along(at)) {
    dealt <- at[[g]][sample.int(length(at[[g]]))]
    if (!is.null(each)) dealt <- dealt[seq_len(3L * each)]
    for (search in 1:3) {
      mine <- dealt[(seq_along(dealt) - 1L) %% 3L == search - 1L]
      out[g, , search] <- colSums(x[mine, , drop = FALSE])
    }
  }
  out
}

# What a table of records holds, as samples x taxa.
cross <- function(sample, taxon, number = 1) {
  x <- tapply(rep_len(number, length(sample)), list(sample, taxon), sum)
  x[is.na(x)] <- 0
  unclass(x)
}

# ---- visits of surveys ----
swiss_birds <- function() {
  survey <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "mhb2014_sites.csv"))
  y <- array(0, c(nrow(sites), 158L, 3L))
  y[cbind(survey$site, survey$species, survey$visit)] <- survey$count
  for (v in 1:3) y[sites[[paste0("surveyed", v)]] != 1, , v] <- NA
  near <- list(environment = sites[c("coordx", "coordy", "elev", "forest")])
  c(
    searches("Swiss birds 2014", "mhb2014", "bird visits", y, near = near, counts = TRUE),
    searches("Swiss birds 2014", "mhb2014", "visits pooled", y, list(1:2), near = near, counts = TRUE)
  )
}

hubbard_brook <- function() {
  long <- utils::read.csv(shared("repeat_surveys", "hbef2015_detections.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "hbef2015_sites.csv"))
  species <- setdiff(names(long), c("site", "visit"))
  y <- array(NA_real_, c(nrow(sites), length(species), 3L))
  for (s in seq_along(species)) y[cbind(long$site, s, long$visit)] <- long[[species[s]]]
  near <- list(environment = sites[c("x", "y", "elevation")])
  family <- "Hubbard Brook birds"
  out <- c(
    searches(family, "hbef2015", "bird visits", y, near = near),
    searches(family, "hbef2015", "visits pooled", y, list(1:2), near = near)
  )
  birds <- from_package("AHMbook", "HubbardBrook")
  at <- birds$sitecov[c("Longitude", "Latitude", "Elev")]
  known <- rowSums(is.na(at)) == 0
  for (year in c("1999", "2008", "2018")) {
    y <- aperm(birds$counts[known, , year, ], c(1L, 3L, 2L))
    near <- list(environment = at[known, ])
    out <- c(
      out, searches(family, paste("Hubbard Brook", year), "bird visits", y, near = near, counts = TRUE),
      if (year == "1999") {
        searches(family, paste("Hubbard Brook", year), "visits pooled", y, list(1:2), near = near, counts = TRUE)
      }
    )
  }
  trends <- from_package("spOccupancy", "hbefTrends")
  near <- list(environment = data.frame(trends$coords, elev = trends$occ.covs$elev))
  for (year in c(1L, 5L, 9L)) {
    y <- aperm(trends$y[, , year, ], c(2L, 1L, 3L))
    out <- c(out, searches(family, sprintf("hbefTrends year %d", year), "bird visits", y, 3L, near = near))
  }
  out
}

finnmark <- function() {
  birds <- from_package("AHMbook", "Finnmark")
  near <- list(environment = birds$sites[c("area", "edge", "height", "density")])
  out <- list()
  for (year in dimnames(birds$counts)$years) {
    made <- if (year == "2005") 1:5 else 1:3
    y <- aperm(birds$counts[, made, year, ], c(1L, 3L, 2L))
    name <- paste("Finnmark", year)
    out <- c(
      out, searches("Finnmark birds", name, "bird visits", y, 1:3, near = near, counts = TRUE),
      searches("Finnmark birds", name, "visits pooled", y, list(1:2), near = near, counts = TRUE)
    )
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

# Recordings of a minute or three by automatic recorders: three of one time of the year, and all in three equal parts.
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
    out <- c(out, searches("recorded birds", name, "recordings", y, if (each == 1L) 1:3 else 1L, new = TRUE))
  }
  out
}

# Point counts of a survey area as searches of its birds.
oil_sands <- function() {
  survey <- from_package("detect", "josm")
  stations <- survey$surveys
  birds <- cross(factor(survey$counts$SiteID, levels(stations$SiteID)), droplevels(survey$counts$SpeciesID))
  birds <- birds[match(stations$SiteID, levels(stations$SiteID)), ]
  place <- stats::aggregate(stations[c("Longitude", "Latitude")], list(area = stations$SurveyArea), mean)
  unlist(lapply(c(1L, 2L, 5L), function(each) {
    y <- deal_samples(birds, droplevels(stations$SurveyArea), each)
    at <- place[match(rownames(y), place$area), ]
    near <- list(place = data.frame(lng = at$Longitude, lat = at$Latitude))
    searches("oil sands birds", sprintf("areas, %d counts", each), "samples of areas", y, 1:2, near = near)
  }), recursive = FALSE)
}

# Three samples of water of each site, sequenced; a find has reads.
river_fish <- function() {
  fish <- from_package("occumb", "fish_raw")
  y <- aperm(fish$y, c(2L, 1L, 3L))
  near <- list(environment = data.frame(bank = as.integer(fish$riverbank)))
  searches("river fish, eDNA", "fish", "eDNA replicates", y, near = near, new = TRUE)
}

# Emergence traps along a brook, ten periods of a summer: of the same days of it, in turn, and three that follow.
caddisflies <- function() {
  all <- from_package("adespatial", "trichoptera")
  y <- array(0, c(22L, 56L, 10L))
  for (d in 1:10) y[, , d] <- as.matrix(all[all$Date == d, -(1:2)][order(all$Site[all$Date == d]), ])
  near <- list(environment = data.frame(along = 1:22))
  c(
    searches("caddisflies", "traps, periods in turn", "equal searches", pool_visits(y[, , 1:9], rep(1:3, 3)),
      near = near, new = TRUE, counts = TRUE),
    searches("caddisflies", "traps, periods 5 to 7", "trap periods", y[, , 5:7], near = near, new = TRUE, counts = TRUE)
  )
}

# Two methods at each sample.
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
  searches("snails of dolinas", "dolinas, methods", "two methods", y, near = near, counts = TRUE)
}

# Records of cameras in three periods of the same length.
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
      out <- c(out, searches("Ruaha cameras", name, "camera periods", y, c(1L, 3L), new = TRUE))
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
    searches("Lama cameras", sprintf("Lama forest, %d days", days), "camera periods", y, near = near, new = TRUE)
  }), recursive = FALSE)
}

# Roots of mangroves, eight samples a site.
epibionts <- function() {
  all <- from_package("SSP", "epibionts")
  group <- paste(all$sector, all$site)
  unlist(lapply(1:2, function(each) {
    y <- deal_samples(as.matrix(all[-(1:2)]), group, each)
    near <- list(environment = data.frame(sector = match(substr(rownames(y), 1L, 1L), c("E", "M", "I"))))
    name <- sprintf("mangrove roots, %d samples", each)
    searches("marine epibionts", name, "samples of sites", y, near = near, new = TRUE, counts = TRUE)
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

# Plants of permanent plots in three years that follow.
prairie_plants <- function() {
  all <- from_package("codyn", "knz_001d")
  unlist(lapply(c(1990L, 2000L), function(from) {
    layers <- lapply(from + 0:2, function(year) {
      now <- all[all$year == year, ]
      cross(now$subplot, now$species, now$abundance)
    })
    y <- array(unlist(layers), c(dim(layers[[1L]]), 3L))
    searches("prairie plants", sprintf("Konza plots from %d", from), "years", y, c(1L, 3L), new = TRUE)
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

# Logs of a reserve as searches of its fungi.
wood_fungi <- function() {
  all <- from_package("gllvm", "fungi")
  y <- deal_samples(as.matrix(all$Y), all$X$RESERVE, 5L)
  more <- deal_samples(as.matrix(all$Y), all$X$RESERVE, NULL, 9L)
  c(
    searches("wood fungi", "reserves, 5 logs", "samples of areas", y, 1:2, new = TRUE),
    searches("wood fungi", "reserves, a third of logs", "samples of areas", more, 1:2, new = TRUE)
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
# Collections of one place and age as searches of one fauna: one each, and all of them in three equal parts.
most_places <- 400L
fossil_searches <- function(family, collection, taxon, place, age, at) {
  x <- cross(collection, taxon) > 0
  first <- match(rownames(x), collection)
  group <- paste(place, age)[first]
  unlist(lapply(list(1L, NULL), function(each) {
    y <- deal_samples(x, group, each)
    if (nrow(y) > most_places) {
      set.seed(2)
      y <- y[sort(sample.int(nrow(y), most_places)), , ]
    }
    here <- at[match(rownames(y), paste(place, age)), ]
    name <- sprintf("%s, %s", family, if (is.null(each)) "a third of collections" else "one collection")
    searches(family, name, "fossil collections", y, 1:2, near = list(age = here$age, place = here[c("lng", "lat")]))
  }), recursive = FALSE)
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
  c(each("occSilur", "Silurian collections"), each("bivalves", "Pliocene bivalve collections"))
}

# ---- groups of fossil sites ----
fossil_groups <- function() {
  europe <- read_fossils("g10s2", "now_2003")
  america <- read_fossils("nam_large", "now_2020_nam")
  turkana <- read_turkana()
  early <- multicause::early_tetrapods
  group_cases <- function(family, x, group, near) {
    y <- deal_samples(x, group)
    first <- match(rownames(y), group)
    searches(family, paste(family, "in thirds"), "groups of sites", y, 1:2, near = rows_of(near, first))
  }
  of <- america$sites
  region <- paste(round(of$mid_age / 1.5), round(of$lat / 6), round(of$long / 8))
  old <- early$sites
  c(
    group_cases("European mammals by MN unit", europe$x, as.character(europe$sites$mn),
      list(age = europe$sites$age_ma)),
    group_cases("North American mammals by region", america$x, region, list(
      age = of$mid_age, place = data.frame(lng = of$long, lat = of$lat)
    )),
    group_cases("Turkana mammals by member", presence(turkana$counts), turkana$sites$member,
      list(age = turkana$sites$age)),
    group_cases("early tetrapods by region", as.matrix(early$x) + 0,
      paste(round(old$age / 8), round(old$lat / 10), round(old$lng / 10)),
      list(age = old$age, place = old[c("lng", "lat")]))
  )
}

# ---- thinned specimens ----
read_turkana <- function() {
  long <- utils::read.csv(shared("turkana", "turkana_counts.csv"))
  sites <- utils::read.csv(shared("turkana", "turkana_sites.csv"))
  counts <- cross(factor(long$site_id, sites$site_id), long$genus, long$n_specimens)
  list(counts = counts, sites = sites)
}

groups_of_shared <- function() {
  america <- read_fossils("nam_large", "now_2020_nam")
  europe <- read_fossils("g10s2", "now_2003")
  turkana <- read_turkana()
  of <- america$sites
  list(
    `Turkana mammals by member` = list(
      unname(presence(turkana$counts)), as.matrix(turkana$sites["age"]), turkana$sites$member
    ),
    `European mammals by MN unit` = list(
      europe$x, as.matrix(europe$sites["age_ma"]), as.character(europe$sites$mn)
    ),
    `North American mammals by region` = list(
      america$x, as.matrix(of["mid_age"]), paste(round(of$mid_age / 1.5), round(of$lat / 6), round(of$long / 8))
    )
  )
}

thinned <- function(family, counts, shares, near = list(), seed = 1L) {
  lapply(shares, function(share) {
    set.seed(seed)
    left <- matrix(stats::rbinom(length(counts), counts, share), nrow(counts))
    taxa <- colSums(left) > 0
    x <- presence(left[, taxa])
    found <- presence((counts - left)[, taxa])
    list(
      family = family, name = sprintf("%s, %g of specimens", family, share), kind = "thinned counts", new = FALSE,
      x = x, counts = left[, taxa], found = found, there = found, full = sum(found[x == 0]), visits = NULL,
      visit = NULL, near = near
    )
  })
}

vegan_data <- function(name) {
  if (!requireNamespace("vegan", quietly = TRUE)) stop("it is not installed")
  read <- new.env()
  utils::data(list = name, package = "vegan", envir = read)
  unname(as.matrix(read[[name]]))
}

thinned_counts <- function() {
  turkana <- read_turkana()
  large <- turkana$sites$n_specimens >= 20
  counts <- turkana$counts[large, colSums(turkana$counts[large, ] > 0) >= 5]
  c(
    thinned("Turkana mammals", counts, c(0.5, 0.2), list(age = turkana$sites$age[large])),
    thinned("tropical trees", vegan_data("BCI"), c(0.5, 0.2, 0.05)),
    thinned("mites", vegan_data("mite"), c(0.5, 0.2, 0.05))
  )
}

complete_tables <- function() {
  lapply(c("BCI", "mite", "dune", "sipoo", "varespec"), function(name) {
    counts <- vegan_data(name)
    x <- presence(counts)
    list(
      family = paste("complete", name), name = paste("complete", name), kind = "complete", new = FALSE, x = x,
      counts = if (name != "sipoo") counts, found = 0 * x, full = 0, visits = NULL, visit = NULL, near = list()
    )
  })
}

# ---- planted omissions ----
# Rates of sites, of taxa, of both, one for all, and rates that fall with the chance of a record.
planted <- function() {
  europe <- read_fossils("g5s5", "now_2003")
  america <- read_fossils("nam_large", "now_2020_nam")
  early <- multicause::early_tetrapods
  of <- america$sites
  sites <- early$sites
  bases <- list(
    `European mammals` = list(x = europe$x, near = list(age = europe$sites$age_ma)),
    `North American mammals` = list(
      x = america$x, near = list(age = of$mid_age, place = data.frame(lng = of$long, lat = of$lat))
    ),
    `early tetrapods` = list(
      x = unname(as.matrix(early$x) + 0),
      near = list(age = sites$age, place = data.frame(lng = sites$lng, lat = sites$lat))
    )
  )
  unlist(lapply(names(bases), function(name) plant_all(name, bases[[name]])), recursive = FALSE)
}

plant_all <- function(name, base) {
  n <- nrow(base$x)
  m <- ncol(base$x)
  set.seed(11)
  likely <- outer(rowSums(base$x) + 1, colSums(base$x) + 1)
  likely <- likely / max(likely)
  rates <- list(
    `by site` = matrix(stats::runif(n, 0, 0.6), n, m), `by taxon` = matrix(stats::runif(m, 0, 0.6), n, m, byrow = TRUE),
    `by site and taxon` = 1 - outer(stats::runif(n, 0.4, 1), stats::runif(m, 0.4, 1)), `the same` = matrix(0.3, n, m),
    `where unlikely` = 0.6 * (1 - likely)^3
  )
  base_case <- function(x, full, found, label) {
    taxa <- colSums(x) > 0
    list(
      family = paste("planted,", name), name = paste0(name, ", ", label), kind = "planted", new = FALSE,
      x = x[, taxa], counts = NULL, found = found[, taxa], full = full(taxa), visits = NULL, visit = NULL,
      near = base$near, base = paste0(name, ", nothing planted")
    )
  }
  c(
    list(base_case(base$x, function(taxa) NA_real_, 0 * base$x, "nothing planted")),
    lapply(names(rates), function(how) {
      gone <- base$x == 1 & matrix(stats::runif(n * m), n) < rates[[how]]
      base_case(base$x * !gone, function(taxa) sum(gone[, taxa]), gone + 0, paste("rates", how))
    })
  )
}

makers <- list(
  mhb2014 = swiss_birds, HubbardBrook = hubbard_brook, Finnmark = finnmark, SwissTits = swiss_tits,
  birdrec = recorded_birds, josm = oil_sands, fish_raw = river_fish, trichoptera = caddisflies,
  dolina = snails, cameratrap = ruaha_cameras, lama = lama_cameras, epibionts = epibionts, northsea = north_sea,
  kelpforest = kelp_forest, knz_001d = prairie_plants, Skabbholmen = shore_plants, fungi = wood_fungi,
  pyrifos = ditches, tetrapods = tetrapods, corals = corals, `occSilur and bivalves` = shells, groups = fossil_groups,
  thinned = thinned_counts, complete = complete_tables, planted = planted
)

how_many_cases <- function(which = names(makers)) {
  out <- lapply(which, function(name) {
    tryCatch(makers[[name]](), error = function(e) {
      message("Skipped ", name, ": ", conditionMessage(e))
      NULL
    })
  })
  unlist(out, recursive = FALSE)
}
