# Shared functions of these scripts.

# Sets the function's environment to the package, where methods of its internal generics are found.
in_package <- function(f) {
  environment(f) <- asNamespace("multicause")
  f
}

# Evaluates in a separate process, with the session's random numbers; returns the value, its CPU seconds, and the
# increase of peak memory in MB. NULL if the process crashed.
measured <- function(make) {
  memory <- function(what) {
    line <- grep(paste0("^", what), readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
  }
  invisible(gc())
  job <- parallel::mcparallel({
    before <- memory("VmRSS")
    seconds <- system.time(value <- make)
    list(value = value, seconds = sum(seconds[1:2]), memory = memory("VmHWM") - before)
  }, mc.set.seed = FALSE)
  parallel::mccollect(job)[[1L]]
}

# Tables of sites and taxa from the folder MULTICAUSE_DATA. A missing file is an error, which if_there() turns into a
# message and NULL.
shared <- function(...) {
  file <- file.path(Sys.getenv("MULTICAUSE_DATA", "../shared/data"), ...)
  if (!file.exists(file)) stop("MULTICAUSE_DATA has no ", file.path(...))
  file
}

if_there <- function(table) {
  tryCatch(table, error = function(e) message("Skipped: ", conditionMessage(e)))
}

read_fossils <- function(name, folder = "now_2003") {
  occ <- utils::read.csv(shared(folder, paste0(name, "_occ.csv")))
  sites <- utils::read.csv(shared(folder, paste0(name, "_sites.csv")))
  x <- matrix(0, nrow(sites), max(occ[[2L]]))
  x[cbind(occ[[1L]], occ[[2L]])] <- 1
  list(
    x = x, sites = sites, age = sites[[intersect(c("age_ma", "mid_age"), names(sites))]],
    place = if ("long" %in% names(sites)) stats::setNames(sites[c("long", "lat")], c("lng", "lat"))
  )
}

# Early tetrapods in the same form; they are part of the package.
read_tetrapods <- function() {
  sites <- multicause::early_tetrapods$sites
  list(
    x = unname(as.matrix(multicause::early_tetrapods$x) + 0), sites = sites, age = sites$age,
    place = sites[c("lng", "lat")]
  )
}

# Swiss birds of 2014: presences of each visit, and variables of the sites; sites with all visits, or with the first
# one.
read_birds <- function(all_visits = FALSE) {
  survey <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "mhb2014_sites.csv"))
  visited <- if (all_visits) rowSums(sites[paste0("surveyed", 1:3)] == 1) == 3 else sites$surveyed1 == 1
  seen <- array(FALSE, c(nrow(sites), 158L, 3L))
  seen[cbind(survey$site, survey$species, survey$visit)] <- TRUE
  numbers <- names(sites)[grepl("^(elev|forest|coordx|coordy)", names(sites))]
  list(seen = seen[visited, apply(seen[visited, , ], 2L, any), ], sites = sites[visited, numbers])
}

# Birds of Hubbard Brook in 2015, sites with all visits.
read_forest_birds <- function() {
  long <- utils::read.csv(shared("repeat_surveys", "hbef2015_detections.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "hbef2015_sites.csv"))
  species <- setdiff(names(long), c("site", "visit"))
  seen <- array(NA, c(nrow(sites), length(species), 3L))
  for (s in seq_along(species)) seen[cbind(long$site, s, long$visit)] <- long[[species[s]]] == 1
  visited <- !apply(is.na(seen), 1L, any)
  list(seen = seen[visited, , ], sites = sites[visited, c("x", "y", "elevation")])
}
