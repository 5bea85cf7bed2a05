# Repeated visits: intervals of visits_bernoulli(estimate = "gibbs") on simulated communities whose truth is known, and
# held-out visits of two bird surveys against occupancy models of one species at a time (package unmarked) and of many
# (package spOccupancy, msPGOcc and lfMsPGOcc), time side by side. Packages and data that are not there are skipped.
#   Rscript bench/visits.R [simulated] [surveys] > bench/visits.md     (about half an hour, one thread)
library(multicause)
only <- commandArgs(TRUE)
wanted <- function(part) !length(only) || part %in% only
scale <- as.numeric(Sys.getenv("MULTICAUSE_BENCH_SCALE", "1"))
still <- function(expr) suppressWarnings(suppressMessages(expr))
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
rule <- function(n) cat("|", paste(rep("---", n), collapse = " | "), "|\n")
number <- function(x, digits = 3) formatC(x, digits = digits, format = "f")

cat("# Repeated visits\n\n")
cat(sprintf("`Rscript bench/visits.R`, %s, %s, one thread.\n", format(Sys.Date()), R.version.string))

# 100 sites x 50 taxa x 3 visits. "communities": what the model holds. "factors": presence is logistic in a gradient,
# two latent factors and a mean of each taxon, which no mixture of communities is.
simulate_survey <- function(kind, n = 100, m = 50, visits = 3) {
  if (kind == "communities") {
    s <- matrix(rgamma(n * 3, 0.5), n)
    p <- (s / rowSums(s)) %*% matrix(rbeta(3 * m, 0.4, 0.8), 3)
  } else {
    p <- plogis(outer(rep(1, n), rnorm(m, -1, 1.2)) + matrix(rnorm(n * 3), n) %*% matrix(rnorm(3 * m, 0, 0.8), 3))
  }
  date <- matrix(rnorm(n * visits), n)
  slopes <- rbind(rnorm(m, -0.3, 0.8), rnorm(m, 0.4, 0.4))
  present <- matrix(rbinom(n * m, 1, p), n)
  cell <- array(0L, c(n, m, visits))
  for (v in seq_len(visits)) {
    chance <- plogis(outer(rep(1, n), slopes[1, ]) + outer(date[, v], slopes[2, ]))
    cell[, , v] <- present * rbinom(n * m, 1, chance)
  }
  keep <- apply(cell, 2, sum) > 0
  list(cell = cell[, keep, ], date = date, slopes = slopes[, keep], present = present[, keep])
}

judge_survey <- function(one, k) {
  x <- apply(one$cell, 1:2, max)
  rare <- colSums(x) < 5
  made <- mcmc_control(chains = 2, warmup = 400, draws = 600, progress = FALSE)
  sides <- c("site", "species", "visit")
  seconds <- system.time(fit <- still(visits_bernoulli(
    one$cell, k,
    detection = ~date, visit_data = list(date = one$date), estimate = "gibbs", sides = sides, control = made
  )))[["elapsed"]]
  map_seconds <- system.time(map <- still(visits_bernoulli(
    one$cell, k,
    detection = ~date, visit_data = list(date = one$date), sides = sides, control = fit_control(n_start = 1)
  )))[["elapsed"]]
  inside <- function(truth, low, high) truth >= low & truth <= high
  total <- sum(one$present[x == 0])
  ends <- quantile(fit$trace$missed, c(0.05, 0.95))
  site <- occupied(fit)
  taxon <- occupied(fit, "attribute")
  slope <- confint(fit, level = 0.9)[seq(2, 2 * ncol(x), 2), ]
  plug <- occupied(map)
  plug_slope <- confint(map, level = 0.9)[seq(2, 2 * ncol(x), 2), ]
  sites <- colSums(one$present)
  rarer <- if (any(rare)) 1 else NA
  c(
    missed = inside(total, ends[[1]], ends[[2]]), richness = mean(inside(rowSums(one$present), site$low, site$high)),
    slope = mean(inside(one$slopes[2, ], slope[, 1], slope[, 2])[!rare]),
    slope_rare = rarer * mean(inside(one$slopes[2, ], slope[, 1], slope[, 2])[rare]),
    sites = mean(inside(sites, taxon$low, taxon$high)[!rare]),
    sites_rare = rarer * mean(inside(sites, taxon$low, taxon$high)[rare]),
    bias = sum(taxon$expected[!rare]) / sum(sites[!rare]) - 1,
    bias_rare = rarer * (sum(taxon$expected[rare]) / sum(sites[rare]) - 1),
    map_richness = mean(inside(rowSums(one$present), plug$low, plug$high)),
    map_slope = mean(inside(one$slopes[2, ], plug_slope[, 1], plug_slope[, 2])[!rare], na.rm = TRUE),
    map_bias = sum(occupied(map, "attribute")$expected[!rare]) / sum(sites[!rare]) - 1,
    naive_bias = sum(x[, !rare]) / sum(sites[!rare]) - 1, rare = sum(rare), taxa = ncol(x),
    agree = isTRUE(fit$converged), seconds = seconds, map_seconds = map_seconds
  )
}

if (wanted("simulated")) {
  n_set <- ceiling(c(50, 20) * scale)
  cat(sprintf(
    paste0(
      "\n## Simulated communities, 100 sites x 50 taxa x 3 visits, %d and %d sets\n\nDetection: intercepts N(-0.3, 0.8), slopes of a ",
      "standardised date N(0.4, 0.4) among taxa. `gibbs`: 2 chains, 400 + 600 sweeps. Coverage is of 90 %% intervals; rare taxa ",
      "were found at fewer than 5 sites. Bias is that of the number of occupied sites, all taxa together.\n\n"
    ), n_set[1], n_set[2]
  ))
  labels <- c(
    missed = "coverage: total of missed cells", richness = "coverage: richness of a site",
    slope = "coverage: slope of detection", slope_rare = "the same, rare taxa",
    sites = "coverage: number of sites of a taxon", sites_rare = "the same, rare taxa",
    bias = "bias of occupied sites", bias_rare = "the same, rare taxa",
    map_richness = "coverage by `map`, richness (plug-in)", map_slope = "coverage by `map`, slope of detection",
    map_bias = "bias of occupied sites by `map`", naive_bias = "bias of what was found", rare = "rare taxa",
    taxa = "taxa found", agree = "chains agree", seconds = "seconds, gibbs", map_seconds = "seconds, map"
  )
  kinds <- list(c("communities", 3), c("factors", 3))
  results <- Map(function(kind, n) {
    set.seed(2026)
    one <- function(i) judge_survey(simulate_survey(kind[1]), as.integer(kind[2]))[names(labels)]
    vapply(seq_len(n), one, c(lengths(labels) + 0))
  }, kinds, n_set)
  row("mean over sets", paste(vapply(kinds, function(kind) sprintf("%s, k = %s", kind[1], kind[2]), ""), collapse = " | "))
  rule(1 + length(kinds))
  for (name in names(labels)) {
    row(labels[[name]], paste(vapply(results, function(r) number(mean(r[name, ], na.rm = TRUE)), ""), collapse = " | "))
  }
}
