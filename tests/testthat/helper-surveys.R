# Repeated surveys: a real table, and the single-species model for comparison.

# n x m x 3 visits from the folder repeat_surveys.
hbef_visits <- function() {
  table <- utils::read.csv(gzfile(shared_data("repeat_surveys", "hbef2015_detections.csv.gz")))
  species <- setdiff(names(table), c("site", "visit"))
  sites <- sort(unique(table$site))
  visits <- array(NA_integer_, c(length(sites), length(species), 3), list(sites, species, NULL))
  for (v in 1:3) {
    part <- table[table$visit == v, ]
    visits[match(part$site, sites), , v] <- as.matrix(part[species])
  }
  visits
}

# Swiss birds in the same form: 266 visited sites, 145 detected species.
swiss_visits <- function() {
  counts <- utils::read.csv(gzfile(shared_data("repeat_surveys", "mhb2014_counts.csv.gz")))
  sites <- utils::read.csv(shared_data("repeat_surveys", "mhb2014_sites.csv"))
  species <- utils::read.csv(shared_data("repeat_surveys", "mhb2014_species.csv"))
  visits <- array(0L, c(nrow(sites), nrow(species), 3), list(sites$siteID, species$latabb, NULL))
  visits[cbind(match(counts$site, sites$site), match(counts$species, species$species), counts$visit)] <- 1L
  for (v in 1:3) visits[sites[[paste0("surveyed", v)]] == 0, , v] <- NA
  made <- apply(!is.na(visits[, 1, ]), 1, any)
  found <- apply(visits, 2, sum, na.rm = TRUE) > 0
  visits[made, found, ]
}

# Single-species occupancy, MacKenzie et al. (2002): p for each visit, estimates and standard errors, NA if the
# likelihood is flat.
ref_occupancy <- function(y) {
  none <- rowSums(y, na.rm = TRUE) == 0
  negative <- function(theta) {
    p <- matrix(stats::plogis(theta[-1]), nrow(y), ncol(y), byrow = TRUE)
    seen <- apply(ifelse(is.na(y), 1, ifelse(y == 1, p, 1 - p)), 1, prod)
    -sum(log(stats::plogis(theta[1]) * seen + stats::plogis(-theta[1]) * none))
  }
  fit <- stats::optim(numeric(1 + ncol(y)), negative, method = "BFGS", hessian = TRUE, control = list(maxit = 500))
  p <- stats::plogis(fit$par[-1])
  se <- tryCatch(sqrt(diag(solve(fit$hessian))[-1]), error = function(e) rep(NA_real_, ncol(y)))
  list(p = p, se = se * p * (1 - p))
}

# Counts of birds of mhb2014, n x m x 3 visits, NA without a visit; sites with all three visits.
mhb2014 <- function() {
  table <- utils::read.csv(gzfile(shared_data("repeat_surveys", "mhb2014_counts.csv.gz")))
  sites <- utils::read.csv(shared_data("repeat_surveys", "mhb2014_sites.csv"))
  counts <- array(0, c(nrow(sites), max(table$species), 3L))
  counts[cbind(match(table$site, sites$site), table$species, table$visit)] <- table$count
  whole <- rowSums(sites[paste0("surveyed", 1:3)]) == 3
  list(counts = counts[whole, , ], sites = sites[whole, ])
}
