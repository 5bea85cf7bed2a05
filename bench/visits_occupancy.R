# How many presences no visit found: occupancy of each taxon (R/visits_occupancy.R) and the defaults of
# visits_bernoulli(), on simulated surveys and on pairs of visits whose truth a third tells.
#   MULTICAUSE_DATA=... Rscript bench/visits_occupancy.R (10 minutes, one thread; results in bench/visits_occupancy.md)
# Hubbard Brook and the Swiss tits are in package AHMbook, hbefTrends in spOccupancy; what is not there is
# skipped.
library(multicause)
own <- asNamespace("multicause")
Sys.setenv(NOT_CRAN = "true") # the surveys are for those who have them
helpers <- new.env(parent = own)
for (file in c("helper-data.R", "helper-surveys.R")) sys.source(file.path("tests", "testthat", file), helpers)
still <- function(expr) suppressWarnings(suppressMessages(expr))
as_visits <- function(y) still(own$check_visits(y, c("site", "species", "visit")))
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
number <- function(x, digits = 0) formatC(x, digits = digits, format = "f")

# 100 sites, 4 visits. "alike": a chance of .45 throughout; "taxon": log-odds differ by taxon (.8); "site": by site (1).
# Taxa differ among visits (.2).
simulate_visits <- function(kind, m, seed, n = 100) {
  set.seed(seed)
  psi <- plogis(rnorm(m, -0.3, 1))
  by_taxon <- rnorm(m, -0.2, if (kind == "taxon") 0.8 else 0)
  by_site <- if (kind == "site") rnorm(n, 0, 1) else numeric(n)
  present <- matrix(rbinom(n * m, 1, rep(psi, each = n)), n)
  y <- array(0L, c(n, m, 4))
  for (v in 1:4) {
    chance <- plogis(outer(by_site, by_taxon, "+") + rep(rnorm(m, 0, 0.2), each = n))
    y[, , v] <- present * rbinom(n * m, 1, chance)
  }
  list(cell = as_visits(y), truth = sum(present == 1 & apply(y, 1:2, max) == 0))
}

expected_missed <- function(cell, ...) {
  fit <- still(visits_bernoulli(cell, 1, ...))
  sum(predict(fit, type = "present")[fit$x %in% 0])
}

cat("# Presences that no visit found\n\n## Simulated: 100 sites x 4 visits, means over seeds\n\n")
cat("Occupancy: 40 seeds. Fits of `visits_bernoulli(k = 1)`: the first ten.\n\n")
row("detection", "species", "truth", "occupancy", "within the model's 90 %", "within the range printed", "truth, ten",
  "default", "missed_by = site", "taxon", "visit")
row("---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---")
for (kind in c("alike", "taxon", "site")) {
  for (m in c(1, 3, 5, 8, 10, 20)) {
    each <- vapply(1:40, function(seed) {
      one <- simulate_visits(kind, m, seed)
      total <- own$occupancy_total(one$cell)
      fits <- rep(NA, 5)
      if (seed <= 10) {
        fits <- c(one$truth, expected_missed(one$cell), vapply(c("site", "taxon", "visit"), function(by) {
          expected_missed(one$cell, missed_by = by)
        }, 0))
      }
      c(one$truth, total$missed, total$model_low <= one$truth && one$truth <= total$model_high,
        total$low <= one$truth && one$truth <= total$high, fits)
    }, numeric(9))
    mean_of <- rowMeans(each, na.rm = TRUE)
    row(kind, m, number(mean_of[1], 1), number(mean_of[2], 1), number(mean_of[3], 2),
      number(mean_of[4], 2), paste(number(mean_of[5:9], 1), collapse = " | "))
  }
}

surveys <- list(mhb2014 = helpers$swiss_visits(), hbef2015 = helpers$hbef_visits())
if (requireNamespace("AHMbook", quietly = TRUE)) {
  utils::data("HubbardBrook", "SwissTits", package = "AHMbook", envir = environment())
  counts <- function(x, year) 1 * (aperm(x$counts, c(1, 4, 2, 3))[, , , year] > 0)
  for (year in c(1, 10, 20)) surveys[[paste("Hubbard Brook, year", year)]] <- counts(HubbardBrook, year)
  for (year in c(1, 9)) surveys[[paste("Swiss tits, year", year)]] <- counts(SwissTits, year)
}

if (requireNamespace("spOccupancy", quietly = TRUE)) {
  utils::data("hbefTrends", package = "spOccupancy", envir = environment())
  surveys[["hbefTrends, year 5"]] <- aperm(hbefTrends$y, c(2, 1, 4, 3))[, , , 5]
}
cat("\n## Two visits of three, judged by the third\n\nFull: new on the third, and what all missed as the model expects",
  "it with finds even among sites.\n\n")
row("survey", "visits", "new", "full", "estimate", "90 % of the model", "as surveys are", "full within")
row("---", "---", "---", "---", "---", "---", "---", "---")
for (name in names(surveys)) {
  for (rest in 3:1) {
    y <- surveys[[name]]
    y <- y[rowSums(is.na(y[, 1, ])) == 0, , ]
    y <- y[, colSums(apply(y[, , -rest], 1:2, max)) > 0, ]
    new <- sum(apply(y, 1:2, max)) - sum(apply(y[, , -rest], 1:2, max))
    total <- own$occupancy_total(as_visits(y[, , -rest]))
    full <- new + own$visits_occupancy(as_visits(y), uneven = 0)$missed
    row(name, paste(setdiff(1:3, rest), collapse = ", "), new, number(full), number(total$missed),
      paste(total$model_low, "to", total$model_high), paste(total$low, "to", total$high),
      if (full < total$low || full > total$high) {
        "no"
      } else if (full < total$model_low || full > total$model_high) {
        "as surveys are"
      } else {
        "both"
      })
  }
}
