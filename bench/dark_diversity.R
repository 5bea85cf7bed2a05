# which_zeros() beside the methods of dark diversity: those of package DarkDiv (hypergeometric, Beals' index, raw and
# with thresholds, favourability) and vegan's beals(), at finding finds that were deleted and species that later visits
# found. They know the table alone; so does the first row of each table here. The second is told ages and places, or
# distances, or variables of the sites (`environment`), too. So are the last two: favourability as Real, Barbosa and
# Vargas (2006) defined it, from a logistic regression of each species on the sites' variables (linear and squared, one
# by one), F = odds / (odds + finds / zeros), doi:10.1007/s10651-005-0003-3, and the chance of that regression itself.
# Nothing was chosen on these tables' seeds. Results are kept in bench/dark_diversity.md.
# which_zeros() is asked for its first look (`quick`): the whole answer takes longer and is better.
#   Rscript bench/dark_diversity.R [replicates = 3] [tables, by number: all]
library(multicause)
replicates <- as.integer(c(commandArgs(TRUE), "3")[1L])
chosen <- as.integer(commandArgs(TRUE)[-1L])
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
if (!requireNamespace("DarkDiv", quietly = TRUE) || !requireNamespace("vegan", quietly = TRUE)) {
  message("skipped: needs packages DarkDiv and vegan")
  quit("no")
}
dark_diversity <- getExportedValue("DarkDiv", "DarkDiv")

# Scores on the columns that a method keeps; a species without a find has 0, a site without finds the means of the rest.
of_dark_diversity <- function(x, method) {
  found <- as.matrix(suppressWarnings(suppressMessages(dark_diversity(x, method = method)$AllProbs)))
  unknown <- which(is.na(found), arr.ind = TRUE)
  found[unknown] <- colMeans(found, na.rm = TRUE)[unknown[, 2L]]
  out <- matrix(0, nrow(x), ncol(x), dimnames = dimnames(x))
  out[, colnames(found)] <- found
  unname(out)
}
of_answer <- function(w) {
  p <- w$probability
  p[is.na(p)] <- 0
  unname(p)
}

# The chance of each species by its own regression on the sites' variables; without a variable's value, its mean.
of_regressions <- function(x, variables, favourable) {
  values <- scale(as.matrix(variables))
  values[is.na(values)] <- 0
  design <- cbind(1, values, values^2)
  score <- apply(x, 2L, function(found) {
    known <- !is.na(found)
    if (length(unique(found[known])) < 2L) return(rep(mean(found[known]), nrow(x)))
    fit <- suppressWarnings(stats::glm.fit(design[known, ], found[known], family = stats::binomial()))
    effects <- ifelse(is.na(fit$coefficients), 0, fit$coefficients)
    odds <- exp(pmin(pmax(design %*% effects, -30), 30))
    ratio <- if (favourable) sum(found[known]) / sum(1 - found[known]) else 1
    odds / (odds + ratio)
  })
  unname(score)
}

methods <- list(
  "which_zeros(), the table alone" = function(x, near, variables, r) {
    of_answer(which_zeros(x, seed = r, quick = TRUE))
  },
  "which_zeros(), with neighbours" = function(x, near, variables, r) {
    of_answer(do.call(which_zeros, c(list(x, seed = r, quick = TRUE), near)))
  },
  "DarkDiv, hypergeometric" = function(x, near, variables, r) of_dark_diversity(x, "Hypergeometric"),
  "DarkDiv, Beals' index" = function(x, near, variables, r) of_dark_diversity(x, "RawBeals"),
  "DarkDiv, Beals' index with thresholds" = function(x, near, variables, r) of_dark_diversity(x, "ThresholdBeals"),
  "DarkDiv, favourability" = function(x, near, variables, r) of_dark_diversity(x, "Favorability"),
  "vegan, beals(), the cell left out" = function(x, near, variables, r) {
    unname(vegan::beals(x, include = FALSE, type = 0))
  },
  "regressions, favourability" = function(x, near, variables, r) of_regressions(x, variables, TRUE),
  "regressions, chance" = function(x, near, variables, r) of_regressions(x, variables, FALSE)
)

# A table with its truth for each replicate: list(x, truth, near, variables).
planted <- function(x, near = NULL, variables = NULL) {
  function(r) {
    set.seed(4600 + r)
    gone <- corrupt(x, omit = c(0, 0.4))
    list(x = gone$x, truth = gone, near = near, variables = variables)
  }
}
of_vegan <- function(community, variables, names) {
  held <- new.env()
  utils::data(list = c(community, variables), package = "vegan", envir = held)
  given <- held[[variables]][names]
  planted((as.matrix(held[[community]]) > 0) + 0, list(environment = given), given)
}
# One visit, whose truth is what the others found.
one_visit <- function(seen, near, variables) {
  function(r) {
    visit <- (r - 1L) %% 3L + 1L
    truth <- apply(seen, 1:2, any)
    truth[seen[, , visit]] <- NA
    list(x = seen[, , visit] + 0, truth = truth, near = near, variables = variables)
  }
}
breeding_birds <- function() {
  path <- function(name) file.path(folder, "repeat_surveys", name)
  if (!file.exists(path("mhb2014_counts.csv.gz"))) return(NULL)
  long <- utils::read.csv(path("mhb2014_counts.csv.gz"))
  sites <- utils::read.csv(path("mhb2014_sites.csv"))
  species <- sort(unique(long$species))
  seen <- array(FALSE, c(nrow(sites), length(species), 3L), list(NULL, species, NULL))
  seen[cbind(match(long$site, sites$site), match(long$species, species), long$visit)] <- long$count > 0
  visited <- rowSums(sites[paste0("surveyed", 1:3)] == 1) == 3
  variables <- sites[visited, c("elev", "forest")]
  one_visit(seen[visited, , ], list(environment = variables), variables)
}
later_visits <- function() {
  path <- function(name) file.path(folder, "repeat_surveys", name)
  if (!file.exists(path("hbef2015_detections.csv.gz"))) return(NULL)
  long <- utils::read.csv(path("hbef2015_detections.csv.gz"))
  sites <- utils::read.csv(path("hbef2015_sites.csv"))
  species <- setdiff(names(long), c("site", "visit"))
  seen <- array(NA, c(nrow(sites), length(species), 3L), list(NULL, species, NULL))
  for (s in seq_along(species)) seen[cbind(long$site, s, long$visit)] <- long[[species[s]]] == 1
  visited <- !apply(is.na(seen), 1L, any)
  seen <- seen[visited, , ]
  variables <- sites[visited, c("x", "y", "elevation")]
  one_visit(seen, list(distance = stats::dist(scale(variables))), variables)
}

sites <- early_tetrapods$sites
tables <- list(
  "early tetrapods, planted omissions" =
    planted(early_tetrapods$x, list(age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")]),
      cbind(age = (sites$max_ma + sites$min_ma) / 2, sites[c("lng", "lat")])),
  "simulated sites, planted omissions" = planted(simulated_sites$x),
  "forest birds (hbef2015), one visit, found on others" = later_visits(),
  "oribatid mites (vegan), planted omissions, environment: density and water of the substrate" =
    of_vegan("mite", "mite.env", c("SubsDens", "WatrCont")),
  "lichen pastures (vegan), planted omissions, environment: bare soil, humus depth, pH" =
    of_vegan("varespec", "varechem", c("Baresoil", "Humdepth", "pH")),
  "breeding birds (mhb2014), one visit, found on others, environment: elevation and forest" = breeding_birds()
)
tables <- Filter(Negate(is.null), tables)
if (length(chosen)) tables <- tables[chosen]

shown <- function(values, digits = 3L) {
  sprintf("%.*f (%.*f)", digits, mean(values), digits, stats::sd(values) / sqrt(length(values)))
}
cat(sprintf("`Rscript bench/dark_diversity.R %d`, %s, %s, DarkDiv %s, vegan %s.\n", replicates, Sys.Date(),
  R.version.string, utils::packageVersion("DarkDiv"), utils::packageVersion("vegan")))
for (name in names(tables)) {
  bare <- is.null(tables[[name]](1L)$near)
  used <- if (bare) grep("neighbours|regressions", names(methods), value = TRUE, invert = TRUE) else names(methods)
  found <- lapply(seq_len(replicates), function(r) {
    table <- tables[[name]](r)
    vapply(used, function(method) {
      time <- system.time(score <- methods[[method]](table$x, table$near, table$variables, r))
      s <- recovery(score, table$truth)$summary
      c(auc = s$auc, within = s$auc_within, ap = s$ap, seconds = sum(time[1:2]))
    }, numeric(4L))
  })
  all <- simplify2array(found)
  cat(sprintf("\n## %s\n\n", name))
  cat("| method | AUC | within sites | average precision | first row less this one, AUC | processor seconds |\n")
  cat(strrep("| --- ", 6), "|\n", sep = "")
  for (method in used) {
    of <- all[, method, ]
    less <- all["auc", used[1L], ] - of["auc", ]
    cat(sprintf("| %s | %s | %s | %s | %s | %.1f |\n", method, shown(of["auc", ]), shown(of["within", ]),
      shown(of["ap", ]), if (method == used[1L]) "" else shown(less), mean(of["seconds", ])))
  }
}
