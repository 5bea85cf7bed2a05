# nolint start: object_usage_linter. Scripts of one bench share their functions.
# More surveys for bench/how_many_cases.R, which sources this file: those that the curve of further surveys was checked
# on after it was found, data sets of CRAN packages. Rules were fixed before results were seen.

# Records as sites x taxa x searches, NA at sites that a search did not visit. made: the sites of each search.
fill_records <- function(site, taxon, search, made = NULL) {
  sites <- sort(unique(site))
  taxa <- sort(unique(taxon))
  y <- array(0, c(length(sites), length(taxa), max(search)), list(sites, taxa, NULL))
  y[cbind(match(site, sites), match(taxon, taxa), search)] <- 1
  for (v in seq_along(made)) y[!sites %in% made[[v]], , v] <- NA
  y
}

# Deals the units of each site (days, hauls, collections) into searches, at first one of each.
deal_units <- function(site, unit, taxon, searches, each = 1L, ...) {
  id <- paste(site, unit)
  x <- cross(id, taxon) > 0
  deal_samples(x, site[match(rownames(x), id)], each, searches = searches, ...)
}

# Rows of a table that belong to the sites of y.
rows_at <- function(y, site, values) {
  at <- values[match(rownames(y), site), , drop = FALSE]
  rownames(at) <- NULL
  at
}

biotime <- function(study) {
  all <- from_package("BioTIMEr", "BTsubset_data")
  all <- all[all$STUDY_ID == study & all$resolution == "species", ]
  all[paste0("part", 1:4)] <- t(vapply(strsplit(all$SAMPLE_DESC, "_"), `[`, character(4), 1:4))
  all
}

# ---- surveys of the second round ----
birds_two_methods <- function() {
  all <- from_package("detect", "paired")
  none <- c("NONE", "UNKN", "RESQ", "BCFR", "WOFR")
  all <- all[all$Visit == 1 & nchar(as.character(all$SPECIES)) == 4 & !all$SPECIES %in% none, ]
  method <- match(all$SurveyType, c("ARU", "HUM"))
  site <- as.character(all$SS)
  made <- lapply(1:2, function(one) unique(site[method == one]))
  y <- fill_records(site, as.character(all$SPECIES), method, made)
  searches("boreal birds", "boreal birds, ear and recorder", "methods", y)
}

konza_birds <- function() {
  all <- biotime(333)
  all <- all[all$part2 == "6", ]
  year <- as.integer(all$part1)
  y <- deal_units(paste(all$part4, (year - 1981L) %/% 3L), year, all$valid_name, 3L)
  near <- list(age = as.numeric(sub(".* ", "", rownames(y))))
  nine <- deal_units(all$part4, year, all$valid_name, 9L)
  c(
    searches("Konza birds", "Konza birds, three years", "years", y, near = near),
    searches("Konza birds", "Konza birds, nine years", "years", nine, of_nine)
  )
}

village_birds <- function() {
  all <- biotime(372)
  month <- as.integer(all$part3)
  near <- function(y) list(place = rows_at(y, all$part1, data.frame(lng = all$LONGITUDE, lat = all$LATITUDE)))
  some <- all[all$part2 == "2011" & month %in% 4:7, ]
  day <- sprintf("%02d%02d", as.integer(some$part3), as.integer(some$part4))
  days <- unique(data.frame(site = some$part1, day = day))
  days <- days[order(days$site, days$day), ]
  days$visit <- stats::ave(seq_len(nrow(days)), days$site, FUN = seq_along)
  visit <- days$visit[match(paste(some$part1, day), paste(days$site, days$day))]
  often <- names(which(table(days$site) >= 3))
  kept <- visit <= 3 & some$part1 %in% often
  y <- fill_records(some$part1[kept], some$valid_name[kept], visit[kept])
  spring <- all[month %in% 5:6, ]
  nine <- deal_units(spring$part1, spring$SAMPLE_DESC, spring$valid_name, 9L)
  family <- "birds of Japanese villages"
  c(
    searches(family, "villages, three visits", "bird visits", y, near = near(y)),
    searches(family, "villages, nine days of several years", "years", nine, of_nine, near = near(nine))
  )
}

trawled_fish <- function() {
  all <- biotime(466)
  site <- paste(floor(all$LATITUDE * 2) / 2, floor(all$LONGITUDE))
  near <- function(y) {
    at <- do.call(rbind, strsplit(rownames(y), " "))
    list(place = data.frame(lng = as.numeric(at[, 2L]) + 0.5, lat = as.numeric(at[, 1L]) + 0.25))
  }
  late <- all$YEAR >= 2003
  y <- deal_units(site[late], all$SAMPLE_DESC[late], all$valid_name[late], 3L)
  nine <- deal_units(site, all$SAMPLE_DESC, all$valid_name, 9L)
  c(
    searches("Scottish trawl", "trawl, three hauls", "samples of areas", y, near = near(y)),
    searches("Scottish trawl", "trawl, nine hauls", "samples of areas", nine, of_nine, near = near(nine))
  )
}

fossil_leaves <- function() {
  all <- from_package("CoordinateCleaner", "pbdb_example")
  all$genus <- as.character(all$genus)
  all <- all[!is.na(all$genus) & nzchar(all$genus), ]
  values <- data.frame(age = (all$early_age + all$late_age) / 2, all[c("lng", "lat")])
  of <- function(name, digits, number, use) {
    site <- paste(round(all$lng, digits), round(all$lat, digits), all$early_interval)
    y <- deal_units(site, all$collection_no, all$genus, number)
    at <- rows_at(y, site, values)
    near <- list(age = at$age, place = at[c("lng", "lat")])
    searches("fossil angiosperms", name, "fossil collections", y, use, near = near)
  }
  c(of("angiosperms, three collections", 1, 3L, 1:3), of("angiosperms, nine collections", 0, 9L, of_nine))
}

# ---- surveys of the third round ----
# Nine stations of each site, one morning.
alberta_birds <- function() {
  all <- from_package("mefa4", "abmibirds")
  all <- all[all$Taxonomic.Resolution == "Species", ]
  site <- paste(all$ABMI.Site, all$Year)
  taxon <- as.character(all$Scientific.Name)
  y <- deal_units(site, all$Point.Count.Station, taxon, 3L, 3L, most = 200L)
  nine <- deal_units(site, all$Point.Count.Station, taxon, 9L, most = 200L)
  c(
    searches("Alberta birds", "Alberta birds, three stations", "samples of areas", y),
    searches("Alberta birds", "Alberta birds, nine stations", "samples of areas", nine, of_nine)
  )
}

atlas_birds <- function() {
  all <- from_package("AHMbook", "SwissAtlasHa")
  made <- which(!apply(is.na(all$counts), 1L, any))
  set.seed(1)
  made <- sort(sample(made, 300L))
  y <- aperm(all$counts[made, , ], c(1L, 3L, 2L))
  near <- list(environment = as.data.frame(all$sitecovs)[made, c("x", "y", "elevation", "forest")])
  searches("Swiss atlas birds", "Swiss atlas, hectares", "bird visits", y, near = near, counts = TRUE)
}

# Square metres of plots of 400 square metres, in late summer of three years.
desert_plants <- function() {
  all <- as.data.frame(from_package("neonPlantEcology", "D14")$div_1m2Data)
  date <- as.character(all$endDate)
  late <- substr(date, 6L, 7L) %in% c("08", "09")
  all <- all[late, ]
  year <- as.integer(substr(date[late], 1L, 4L))
  of <- function(years) {
    at <- year %in% years
    made <- lapply(years, function(one) unique(all$plotID[year == one]))
    plant <- at & all$divDataType == "plantSpecies" & !is.na(all$taxonID)
    y <- fill_records(all$plotID[plant], all$taxonID[plant], match(year[plant], years), made)
    place <- data.frame(lng = all$decimalLongitude, lat = all$decimalLatitude)
    near <- list(place = rows_at(y, all$plotID, place))
    searches("desert plants", sprintf("desert plants from %d", years[1L]), "years", y, near = near)
  }
  c(of(2016:2018), of(c(2019L, 2021L, 2022L)))
}

desert_rodents <- function() {
  all <- as.data.frame(from_package("ratdat", "complete"))
  all <- all[all$taxa == "Rodent" & !is.na(all$taxa) & !all$species %in% c("sp.", NA), ]
  taxon <- paste(all$genus, all$species)
  some <- all$year %in% c(1981L, 1986L, 1991L, 1996L, 2001L)
  site <- paste(all$plot_id, all$year)[some]
  kind <- "monthly censuses dealt"
  y <- deal_units(site, all$month[some], taxon[some], 3L)
  nine <- deal_units(site, all$month[some], taxon[some], 9L)
  years <- c(1989L, 1990L, 1991L)
  at <- all$year %in% years
  yearly <- fill_records(as.character(all$plot_id)[at], taxon[at], match(all$year[at], years))
  c(
    searches("desert rodents", "rodents, three months of a year", kind, y),
    searches("desert rodents", "rodents, nine months of a year", kind, nine, of_nine),
    searches("desert rodents", "rodents, years from 1989", "years", yearly)
  )
}

# Plots of four years; traps, baits and litter, and searching by hand.
forest_ants <- function() {
  all <- as.data.frame(from_package("ecocomDP", "ants_L0_flat"))
  year <- as.integer(format(all$datetime, "%Y"))
  all <- all[year %in% 2003:2007 & all$taxon_rank %in% "Species", ]
  site <- paste(all$plot, format(all$datetime, "%Y"))
  method <- match(all$trap.type, c("pitfall", "hand", "bait", "litter"))
  y <- fill_records(site, all$taxon_name, pmin(method, 3L))
  searches("forest ants", "ants, three methods", "methods", y)
}

state_birds <- function() {
  years <- lapply(c("bbs1980", "bbs2000"), from_package, package = "betapart", file = "bbsData")
  y <- array(unlist(years), c(dim(years[[1L]]), 2L))
  searches("birds of US states", "birds of states, 1980 and 2000", "years", y)
}

infants_gut <- function() {
  all <- from_package("coda4microbiome", "metadata", file = "ecam_filtered")
  genera <- from_package("coda4microbiome", "x_ecam", file = "ecam_filtered")
  of <- function(months) {
    at <- which(all$mom_child == "C" & all$month %in% months)
    at <- at[!duplicated(all[at, c("studyid", "month")])]
    infant <- all$studyid[at]
    y <- array(NA_real_, c(length(unique(infant)), ncol(genera), 3L))
    for (i in seq_along(at)) y[match(infant[i], unique(infant)), , match(all$month[at[i]], months)] <- genera[at[i], ]
    searches("infants' gut bacteria", sprintf("gut genera, months from %d", months[1L]), "months", y)
  }
  c(of(2:4), of(7:9))
}

tikus_corals <- function() {
  all <- from_package("mvabund", "tikus")
  layers <- lapply(c("84", "85", "87"), function(year) {
    now <- all$x$time == year
    as.matrix(all$abund)[now, ][order(all$x$rep[now]), ]
  })
  y <- array(unlist(layers), c(dim(layers[[1L]]), 3L))
  searches("Tikus corals", "Tikus corals, three years", "years", y)
}

prairie_plots <- function() {
  all <- from_package("codyn", "pplots")
  years <- 2003:2005
  at <- all$year %in% years & all$relative_cover > 0
  y <- fill_records(as.character(all$plot)[at], as.character(all$species)[at], match(all$year[at], years))
  searches("prairie experiment", "prairie plots, three years", "years", y)
}

estuary_fish <- function() {
  all <- from_package("ade4", "baran95")
  y <- deal_samples(as.matrix(all$fau), paste(all$plan$site, all$plan$date), 1L)
  searches("estuary fish", "estuary fish, three hauls", "samples of sites", y, counts = TRUE)
}

# Families by interval of time, worldwide.
brachiopods <- function() {
  all <- from_package("fossilbrush", "brachios")
  all <- all[!is.na(all$family) & nzchar(all$family) & !grepl("^NO_", all$family), ]
  time <- paste(all$max_ma, all$min_ma)
  of <- function(name, number, each, use) {
    y <- deal_units(time, all$collection_no, all$family, number, each)
    age <- vapply(strsplit(rownames(y), " "), function(ends) mean(as.numeric(ends)), 0)
    searches("brachiopod families", name, "fossil collections", y, use, near = list(age = age))
  }
  c(of("brachiopods, 10 collections", 3L, 10L, 1:2), of("brachiopods, nine times 5 collections", 9L, 5L, of_nine))
}

steppe_plants <- function() {
  all <- biotime(18)
  year <- as.integer(all$part1)
  of <- function(years) {
    at <- year %in% years
    made <- lapply(years, function(one) unique(all$part2[year == one]))
    y <- fill_records(all$part2[at], all$valid_name[at], match(year[at], years), made)
    searches("steppe plants", sprintf("steppe quadrats from %d", years[1L]), "years", y, c(1L, 3L))
  }
  c(of(1936:1938), of(1950:1952))
}

# ---- surveys above, in other years or by another method ----
birds_of_years <- function() skip_missing(hubbard_of_years(), finnmark_of_years())

hubbard_of_years <- function() {
  hubbard <- from_package("AHMbook", "HubbardBrook")
  at <- hubbard$sitecov[c("Longitude", "Latitude", "Elev")]
  known <- rowSums(is.na(at)) == 0
  y <- aperm(hubbard$counts[known, 1L, c("1999", "2008", "2018"), ], c(1L, 3L, 2L))
  near <- list(environment = at[known, ])
  searches("Hubbard Brook birds", "Hubbard Brook, visit 1 of three years", "years", y, near = near, counts = TRUE)
}

finnmark_of_years <- function() {
  finnmark <- from_package("AHMbook", "Finnmark")
  last <- utils::tail(dimnames(finnmark$counts)$years, 3L)
  y <- aperm(finnmark$counts[, 1L, last, ], c(1L, 3L, 2L))
  near <- list(environment = finnmark$sites[c("area", "edge", "height", "density")])
  searches("Finnmark birds", "Finnmark, visit 1 of three years", "years", y, near = near, counts = TRUE)
}

# Sites that were visited in two years, nine stations each.
alberta_years <- function() {
  all <- from_package("mefa4", "abmibirds")
  all <- all[all$Taxonomic.Resolution == "Species", ]
  order <- unique(data.frame(site = all$ABMI.Site, year = all$Year))
  order <- order[order(order$site, order$year), ]
  order$visit <- stats::ave(order$year, order$site, FUN = seq_along)
  visit <- order$visit[match(paste(all$ABMI.Site, all$Year), paste(order$site, order$year))]
  again <- all$ABMI.Site %in% order$site[order$visit == 2] & visit <= 2
  y <- fill_records(as.character(all$ABMI.Site)[again], as.character(all$Scientific.Name)[again], visit[again])
  searches("Alberta birds", "Alberta birds, two years", "years", y)
}

# At each station a camera on a trail and one at random, two seasons.
ruaha_placement <- function() {
  all <- from_package("datana", "cameratrap")
  unlist(lapply(c("D", "W"), function(season) {
    at <- all$season == season
    placement <- match(all$placement[at], sort(unique(all$placement)))
    station <- as.character(all$station)[at]
    made <- lapply(1:2, function(one) unique(station[placement == one]))
    y <- fill_records(station, as.character(all$specie)[at], placement, made)
    searches("Ruaha cameras", sprintf("Ruaha, season %s, trail and random", season), "methods", y)
  }), recursive = FALSE)
}

more_makers <- list(
  paired = birds_two_methods, konza = konza_birds, satoyama = village_birds, trawl = trawled_fish,
  leaves = fossil_leaves, abmibirds = alberta_birds, SwissAtlasHa = atlas_birds, D14 = desert_plants,
  ratdat = desert_rodents, ants = forest_ants, bbsData = state_birds, ecam = infants_gut, tikus = tikus_corals,
  pplots = prairie_plots, baran95 = estuary_fish, brachios = brachiopods, sagebrush = steppe_plants,
  `birds of years` = birds_of_years, `abmibirds of years` = alberta_years, placement = ruaha_placement
)
# nolint end
