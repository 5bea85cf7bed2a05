# Repeated visits: intervals of visits_bernoulli(estimate = "gibbs") on simulated communities whose truth is known, and
# held-out visits of two bird surveys against occupancy models of one species at a time (package unmarked) and of many
# (package spOccupancy, msPGOcc and lfMsPGOcc), time side by side. Missing packages and data are skipped.
#   Rscript bench/visits.R [simulated] [single] [communities] [factors] [covariates] [surveys]
# 40 minutes, one thread. "simulated" includes "single" to "covariates". MULTICAUSE_BENCH_SEED: the seed before that of
# the first simulated set, for other sets. Results are kept in bench/visits.md.
library(multicause)
common <- new.env()
sys.source("bench/common.R", common)
only <- commandArgs(TRUE)
wanted <- function(part) !length(only) || part %in% only
scale <- as.numeric(Sys.getenv("MULTICAUSE_BENCH_SCALE", "1"))
first_seed <- as.numeric(Sys.getenv("MULTICAUSE_BENCH_SEED", "2026"))
still <- function(expr) suppressWarnings(suppressMessages(expr))
processor <- function(expr) sum(system.time(expr)[c("user.self", "sys.self")])
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
rule <- function(n) cat("|", paste(rep("---", n), collapse = " | "), "|\n")
number <- function(x, digits = 3) formatC(x, digits = digits, format = "f")

# 100 sites x 50 taxa x 3 visits. "single": one community, k = 1. "communities": the model's assumptions. "factors":
# presence is logistic in a gradient, two latent factors and a taxon mean, which no mixture of communities represents.
# "covariates": communities depend on two covariates of sites.
simulate_survey <- function(kind, n = 100, m = 50, visits = 3) {
  site <- if (kind == "covariates") data.frame(elev = rnorm(n), forest = rnorm(n))
  if (kind == "covariates") {
    s <- exp(cbind(1, site$elev, site$forest) %*% matrix(rnorm(9), 3))
    p <- (s / rowSums(s)) %*% matrix(rbeta(3 * m, 0.4, 0.8), 3)
  } else if (kind == "communities") {
    s <- matrix(rgamma(n * 3, 0.5), n)
    p <- (s / rowSums(s)) %*% matrix(rbeta(3 * m, 0.4, 0.8), 3)
  } else if (kind == "single") {
    p <- matrix(rbeta(m, 0.4, 0.8), n, m, byrow = TRUE)
  } else {
    p <- plogis(outer(rep(1, n), rnorm(m, -1, 1.2)) + matrix(rnorm(n * 3), n) %*% matrix(rnorm(3 * m, 0, 0.8), 3))
  }
  date <- matrix(rnorm(n * visits), n)
  slopes <- rbind(rnorm(m, -0.3, 0.8), rnorm(m, 0.4, 0.4))
  present <- matrix(rbinom(n * m, 1, p), n)
  cell <- array(0L, c(n, m, visits))
  for (v in seq_len(visits)) {
    probability <- plogis(outer(rep(1, n), slopes[1, ]) + outer(date[, v], slopes[2, ]))
    cell[, , v] <- present * rbinom(n * m, 1, probability)
  }
  keep <- apply(cell, 2, sum) > 0
  list(cell = cell[, keep, ], date = date, slopes = slopes[, keep], present = present[, keep], site = site)
}

fit_survey <- function(one, k, estimate, control, ...) {
  follows <- if (!is.null(one$site)) ~ elev + forest
  still(visits_bernoulli(
    one$cell, k,
    detection = ~date, visit_data = list(date = one$date), estimate = estimate, communities = follows,
    site_data = one$site, sides = c("site", "species", "visit"), control = control, ...
  ))
}
inside <- function(truth, low, high) truth >= low & truth <= high
# The few rare taxa of a set have a small sum, so overestimates weigh more than underestimates: even if every
# expectation is right, the mean of ratios exceeds 1. The ratio of sums over all sets does not.
ratio_of_sums <- function(above, below) {
  left_out <- vapply(seq_along(above), function(i) sum(above[-i]) / sum(below[-i]), 0)
  n <- length(above)
  error <- sqrt((n - 1) / n * sum((left_out - mean(left_out))^2))
  sprintf("%s (%s)", number(sum(above) / sum(below) - 1), number(error))
}

# Estimates of the mode, with intervals that treat it as true.
judge_mode <- function(one, fit) {
  x <- apply(one$cell, 1:2, max)
  rare <- colSums(x) < 5
  sites <- colSums(one$present)
  plug <- occupied(fit)
  slope <- confint(fit, level = 0.9)[seq(2, 2 * ncol(x), 2), ]
  taxon <- occupied(fit, "taxon")
  expected <- taxon$expected
  c(
    map_sites = mean(inside(sites, taxon$low, taxon$high)[!taxon$bound]),
    map_richness = mean(inside(rowSums(one$present), plug$low, plug$high)),
    map_slope = mean(inside(one$slopes[2, ], slope[, 1], slope[, 2])[!rare], na.rm = TRUE),
    map_bias = sum(expected[!rare]) / sum(sites[!rare]) - 1,
    map_expected_rare = sum(expected[rare]), sites_of_rare = sum(sites[rare])
  )
}

judge_survey <- function(one, k) {
  x <- apply(one$cell, 1:2, max)
  rare <- colSums(x) < 5
  made <- mcmc_control(chains = 2, warmup = 400, draws = 600, progress = FALSE)
  seconds <- processor(fit <- fit_survey(one, k, "gibbs", made))
  map_seconds <- processor(map <- fit_survey(one, k, "map", fit_control(n_start = 1)))
  total <- sum(one$present[x == 0])
  ends <- quantile(fit$trace$missed, c(0.05, 0.95))
  site <- occupied(fit)
  range <- apply(fit$draws$richness, 1, quantile, c(0.05, 0.95), type = 1)
  taxon <- occupied(fit, "taxon")
  slope <- confint(fit, level = 0.9)[seq(2, 2 * ncol(x), 2), ]
  sites <- colSums(one$present)
  rarer <- if (any(rare)) 1 else NA
  c(
    missed = inside(total, ends[[1]], ends[[2]]), missed_z = (total - mean(fit$trace$missed)) / sd(fit$trace$missed),
    richness = mean(inside(rowSums(one$present), site$low, site$high)),
    by_quantiles = mean(inside(rowSums(one$present), range[1, ], range[2, ])),
    slope = mean(inside(one$slopes[2, ], slope[, 1], slope[, 2])[!rare]),
    sites = mean(inside(sites, taxon$low, taxon$high)[!rare]),
    sites_rare = rarer * mean(inside(sites, taxon$low, taxon$high)[rare]),
    bias = sum(taxon$expected[!rare]) / sum(sites[!rare]) - 1,
    judge_mode(one, map), expected_rare = sum(taxon$expected[rare]),
    naive_bias = sum(x[, !rare]) / sum(sites[!rare]) - 1,
    agree = isTRUE(fit$converged), seconds = seconds, map_seconds = map_seconds
  )
}

kinds <- list(c("single", 1), c("communities", 3), c("factors", 3), c("covariates", 3))
chosen <- vapply(kinds, function(kind) wanted("simulated") || wanted(kind[1]), NA)
if (any(chosen)) {
  kinds <- kinds[chosen]
  n_set <- ceiling(c(50, 50, 20, 50)[chosen] * scale)
  cat(sprintf("\n## Simulated communities, %s sets\n\n", paste(n_set, collapse = ", ")))
  labels <- c(
    missed = "coverage: total of missed cells",
    missed_z = "true total less the posterior's mean, in its standard deviations",
    richness = "coverage: richness of a site", by_quantiles = "coverage: richness, by quantiles of the same draws",
    slope = "coverage: slope of detection", sites = "coverage: number of sites of a taxon",
    sites_rare = "the same, rare taxa", bias = "bias of occupied sites",
    map_richness = "coverage by `map`, richness", map_sites = "coverage by `map`, number of sites of a taxon",
    map_slope = "coverage by `map`, slope of detection",
    map_bias = "bias of occupied sites by `map`", naive_bias = "bias of what was found",
    expected_rare = "", map_expected_rare = "", sites_of_rare = "", agree = "chains agree",
    seconds = "seconds, gibbs", map_seconds = "seconds, map"
  )
  results <- Map(function(kind, n) {
    # One seed per set, so that a selection of sets is unchanged.
    one <- function(i) {
      set.seed(first_seed + i)
      judge_survey(simulate_survey(kind[1]), as.integer(kind[2]))[names(labels)]
    }
    vapply(seq_len(n), one, c(lengths(labels) + 0))
  }, kinds, n_set)
  heads <- vapply(kinds, function(kind) sprintf("%s, k = %s", kind[1], kind[2]), "")
  row("mean over sets (standard error)", paste(heads, collapse = " | "))
  rule(1 + length(kinds))
  mean_and_error <- function(x) {
    x <- x[!is.na(x)]
    sprintf("%s (%s)", number(mean(x)), number(sd(x) / sqrt(length(x))))
  }
  summed <- c(expected_rare = "gibbs", map_expected_rare = "map")
  shown <- setdiff(names(labels), c(names(summed), "sites_of_rare"))
  for (name in shown) {
    row(labels[[name]], paste(vapply(results, function(r) mean_and_error(r[name, ]), ""), collapse = " | "))
  }
  for (name in names(summed)) {
    ratio <- vapply(results, function(r) ratio_of_sums(r[name, ], r["sites_of_rare", ]), "")
    label <- sprintf("bias of occupied sites of rare taxa by `%s`, sum over all sets", summed[[name]])
    row(label, paste(ratio, collapse = " | "))
  }
}

# Two surveys, list(cell, visit = list of matrices, site = data frame, x, y).
read_surveys <- function() {
  file <- function(name) common$shared("repeat_surveys", name)
  counts <- read.csv(file("mhb2014_counts.csv.gz"))
  sites <- read.csv(file("mhb2014_sites.csv"))
  species <- read.csv(file("mhb2014_species.csv"))
  cell <- array(0L, c(nrow(sites), nrow(species), 3), list(sites$siteID, species$latabb, NULL))
  cell[cbind(match(counts$site, sites$site), match(counts$species, species$species), counts$visit)] <- 1L
  for (v in 1:3) cell[sites[[paste0("surveyed", v)]] == 0, , v] <- NA
  standard <- function(x) (x - mean(x, na.rm = TRUE)) / sd(x, na.rm = TRUE)
  each <- function(table, name) standard(as.matrix(table[paste0(name, 1:3)]))
  date <- each(sites, "date")
  length <- each(sites, "dur")
  for (v in 1:3) {
    unknown <- !is.na(cell[, 1, v]) & is.na(date[, v] + length[, v])
    cell[unknown, , v] <- NA
  }
  rows <- apply(!is.na(cell[, 1, ]), 1, all)
  columns <- apply(cell[rows, , ], 2, sum) > 0
  mhb <- list(
    cell = cell[rows, columns, ], visit = list(date = date[rows, ], dur = length[rows, ]),
    site = data.frame(elev = standard(sites$elev), forest = standard(sites$forest))[rows, ],
    place = as.matrix(sites[rows, c("coordx", "coordy")]) / 1e5, detection = ~ date + I(date^2) + dur,
    presence = ~ elev + I(elev^2) + forest
  )
  table <- read.csv(file("hbef2015_detections.csv.gz"))
  sites <- read.csv(file("hbef2015_sites.csv"))
  species <- setdiff(names(table), c("site", "visit"))
  cell <- array(NA_integer_, c(nrow(sites), length(species), 3), list(sites$site, species, NULL))
  for (v in 1:3) {
    part <- table[table$visit == v, ]
    cell[match(part$site, sites$site), , v] <- as.matrix(part[species])
  }
  date <- each(sites, "day")
  for (v in 1:3) cell[is.na(date[, v]), , v] <- NA
  rows <- apply(!is.na(cell[, 1, ]), 1, all)
  hbef <- list(
    cell = cell[rows, , ], visit = list(date = date[rows, ]),
    site = data.frame(elev = standard(sites$elevation))[rows, , drop = FALSE],
    place = as.matrix(sites[rows, c("x", "y")]) / 1e3, detection = ~ date + I(date^2), presence = ~ elev + I(elev^2)
  )
  list(hbef2015 = hbef, mhb2014 = mhb)
}

recorded <- common$in_package(function(fit) recorded_probability(fit))

# Each method is a function of a survey and the held-out visit; returns P(found on it), n x m.
by_visits <- function(k, estimate = "map", follow = FALSE) {
  function(survey, v) {
    cell <- survey$cell
    cell[, , v] <- NA
    control <- if (estimate == "map") fit_control(n_start = 2) else mcmc_control(chains = 1, warmup = 500, draws = 500)
    control$progress <- FALSE
    fit <- still(visits_bernoulli(
      cell, k,
      detection = survey$detection, visit_data = survey$visit, site_data = survey$site, estimate = estimate,
      communities = if (follow) survey$presence, sides = c("site", "species", "visit"), control = control
    ))
    known <- if (estimate == "gibbs") summary(fit)$quantities
    ess <- known$ess_bulk[match("presences", known$quantity)]
    structure(recorded(fit)[, , v], ess = ess)
  }
}

by_occu <- function(survey, v) {
  rest <- setdiff(1:3, v)
  obs <- lapply(survey$visit, function(x) x[, rest])
  new <- model.matrix(survey$detection, as.data.frame(lapply(survey$visit, function(x) x[, v])))
  formula <- as.formula(paste(deparse(survey$detection), deparse(survey$presence)))
  vapply(seq_len(dim(survey$cell)[2]), function(j) {
    y <- survey$cell[, j, rest]
    frame <- still(unmarked::unmarkedFrameOccu(y, siteCovs = survey$site, obsCovs = obs))
    fit <- tryCatch(still(unmarked::occu(formula, frame, se = FALSE)), error = function(e) NULL)
    if (is.null(fit)) {
      return(rep(mean(y), nrow(y)))
    }
    psi <- plogis(as.vector(model.matrix(survey$presence, survey$site) %*% unmarked::coef(fit, "state")))
    p <- plogis(as.vector(new %*% unmarked::coef(fit, "det")))
    before <- vapply(rest, function(w) {
      plogis(as.vector(model.matrix(survey$detection, as.data.frame(lapply(survey$visit, function(x) x[, w]))) %*%
        unmarked::coef(fit, "det")))
    }, p)
    silent <- psi * apply(1 - before, 1, prod)
    ifelse(rowSums(y) > 0, 1, silent / (silent + 1 - psi)) * p
  }, numeric(nrow(survey$site)))
}

by_spoccupancy <- function(factors, batches = 40) {
  function(survey, v) {
    rest <- setdiff(1:3, v)
    data <- list(
      y = aperm(survey$cell[, , rest], c(2, 1, 3)), occ.covs = survey$site,
      det.covs = lapply(survey$visit, function(x) x[, rest]), coords = survey$place
    )
    n_sample <- 25 * batches
    common <- list(
      occ.formula = survey$presence, det.formula = survey$detection, data = data, n.samples = n_sample,
      n.burn = n_sample / 2, n.thin = 1, n.chains = 1, verbose = FALSE
    )
    fit <- still(if (factors) {
      do.call(spOccupancy::lfMsPGOcc, c(common, list(n.factors = factors)))
    } else {
      do.call(spOccupancy::msPGOcc, common)
    })
    new <- model.matrix(survey$detection, as.data.frame(lapply(survey$visit, function(x) x[, v])))
    m <- dim(survey$cell)[2]
    kept <- nrow(fit$alpha.samples)
    total <- 0
    for (s in seq_len(kept)) {
      p <- plogis(new %*% t(matrix(fit$alpha.samples[s, ], m)))
      total <- total + t(fit$z.samples[s, , ]) * p
    }
    ess <- coda::effectiveSize(apply(fit$z.samples, 1, sum))
    structure(total / kept, ess = as.vector(ess))
  }
}

if (wanted("surveys") && length(surveys <- common$if_there(read_surveys()))) {
  cat("\n## A visit held out, each in turn: log loss of its detections, nats a record\n\n")
  row("survey", "model", "log loss", "its standard error", "seconds", "effective draws a second")
  rule(6)
  has <- function(package) requireNamespace(package, quietly = TRUE)
  arms <- c(
    lapply(stats::setNames(c(1, 2, 4), sprintf("visits_bernoulli, map, k = %d", c(1, 2, 4))), by_visits),
    list(
      `visits_bernoulli, map, k = 2, communities by covariates` = by_visits(2, follow = TRUE),
      `visits_bernoulli, map, k = 4, communities by covariates` = by_visits(4, follow = TRUE),
      `visits_bernoulli, gibbs, k = 4` = by_visits(4, "gibbs"),
      `visits_bernoulli, gibbs, k = 4, communities by covariates` = by_visits(4, "gibbs", TRUE)
    ),
    if (has("unmarked")) list(`unmarked, occu, one species at a time` = by_occu),
    if (has("spOccupancy")) {
      list(`spOccupancy, msPGOcc` = by_spoccupancy(0), `spOccupancy, lfMsPGOcc, 4 factors` = by_spoccupancy(4))
    }
  )
  for (name in names(surveys)) {
    survey <- surveys[[name]]
    for (arm in names(arms)) {
      set.seed(7)
      loss <- seconds <- ess <- NULL
      for (v in 1:3) {
        if (scale < 1 && v > 1) break
        time <- processor(p <- arms[[arm]](survey, v))
        x <- survey$cell[, , v]
        q <- pmin(pmax(p, 1e-6), 1 - 1e-6)
        loss <- rbind(loss, rowMeans(-log(ifelse(x == 1, q, 1 - q))))
        seconds <- c(seconds, time)
        ess <- c(ess, attr(p, "ess") / time)
      }
      row(
        name, arm, number(mean(loss), 4), number(sd(colMeans(loss)) / sqrt(ncol(loss)), 4), number(mean(seconds), 1),
        if (length(ess)) number(mean(ess), 1) else ""
      )
    }
  }
}
