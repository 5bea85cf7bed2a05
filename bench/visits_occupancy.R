# Occupancy of each taxon (R/visits_occupancy.R): simulated surveys with covariates beside other packages and
# visits_bernoulli(); surveys without covariates; real surveys whose third visit is the truth.
#   MULTICAUSE_DATA=... Rscript bench/visits_occupancy.R (10 minutes, one thread; results in bench/visits_occupancy.md)
#   Rscript bench/visits_occupancy.R covariates|totals|pairs|cells|taxa: one part
# Packages spOccupancy, unmarked, AHMbook and occumb are used if installed.
library(multicause)
own <- asNamespace("multicause")
Sys.setenv(NOT_CRAN = "true") # the surveys are for those who have them
helpers <- new.env(parent = own)
for (file in c("helper-data.R", "helper-surveys.R")) sys.source(file.path("tests", "testthat", file), helpers)
part <- commandArgs(TRUE)
wanted <- function(name) !length(part) || name %in% part
has <- function(package) requireNamespace(package, quietly = TRUE)
still <- function(expr) suppressWarnings(suppressMessages(expr))
as_visits <- function(y) still(own$check_visits(y, c("site", "species", "visit")))
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
number <- function(x, digits = 0) formatC(x, digits = digits, format = "f")
auc <- function(p, y) (mean(rank(p)[y == 1]) - (sum(y) + 1) / 2) / sum(y == 0)
log_loss <- function(p, y) -mean(log(ifelse(y == 1, pmax(p, 1e-6), pmax(1 - p, 1e-6))))

# ---- Covariates ----

# The design of shared/spec/occupancy.md; taxa that were never found are dropped.
simulate_survey <- function(seed, n = 100, m = 20, visits = 3) {
  set.seed(seed)
  elev <- rnorm(n)
  day <- matrix(rnorm(n * visits), n)
  b <- rbind(rnorm(m, -0.7, 1), rnorm(m, 0.3, 1))
  d <- rbind(rnorm(m, -0.6, 0.9), rnorm(m, 0.3, 0.4))
  present <- matrix(rbinom(n * m, 1, plogis(cbind(1, elev) %*% b)), n)
  y <- array(0L, c(n, m, visits))
  for (v in seq_len(visits)) y[, , v] <- present * rbinom(n * m, 1, plogis(cbind(1, day[, v]) %*% d))
  seen <- apply(y, 2, sum) > 0
  y <- y[, seen, ]
  dimnames(y) <- list(site = NULL, species = paste0("t", which(seen)), visit = NULL)
  list(y = y, elev = elev, day = day, present = present[, seen], slope = b[2, seen])
}

# One odds ratio per taxon, such that its zeros sum to its own number.
spread_by_taxon <- function(eta, zero, by_taxon) {
  ratio <- own$log_ratio_of_rows(t(replace(eta, !zero, 0)), t(zero), by_taxon)
  replace(plogis(eta + rep(ratio, each = nrow(eta))), !zero, NA)
}

# Each returns list(cells: n x m, number: draws or estimates of the number missed by taxon, m x draws, slope: m x
# estimate, low, high (90 %)).
fit_occupancy <- function(s) {
  sites <- data.frame(elev = s$elev)
  fit <- still(visits_occupancy(s$y, ~elev, ~day, site_data = sites, visit_data = list(day = s$day)))
  slope <- confint(fit, "presence:elev", level = 0.9)
  list(cells = fit$cells$present, number = own$missed_counts(fit$draws), slope = cbind(coef(fit)$presence[2, ], slope))
}

fit_bernoulli <- function(s) {
  fit <- still(visits_bernoulli(
    s$y, 3, estimate = "gibbs", detection = ~day, communities = ~elev, site_data = data.frame(elev = s$elev),
    visit_data = list(day = s$day), control = mcmc_control(chains = 1, warmup = 300, draws = 700, progress = FALSE)
  ))
  found <- colSums(apply(s$y, 1:2, max))
  list(cells = predict(fit, type = "present"), number = fit$draws$sites - found, slope = NULL)
}

fit_ms <- function(s) {
  data <- list(y = aperm(s$y, c(2, 1, 3)), occ.covs = data.frame(elev = s$elev), det.covs = list(day = s$day))
  fit <- still(spOccupancy::msPGOcc(~elev, ~day, data, n.samples = 1000, n.burn = 500, n.thin = 1, n.chains = 1,
    verbose = FALSE))
  found <- colSums(apply(s$y, 1:2, max))
  z <- fit$z.samples
  slopes <- fit$beta.samples[, grep("elev", colnames(fit$beta.samples))]
  list(
    cells = t(apply(z, 2:3, mean)), number = t(apply(z, 1:2, sum)) - found,
    slope = cbind(colMeans(slopes), t(apply(slopes, 2, quantile, c(0.05, 0.95))))
  )
}

fit_unmarked <- function(s) {
  each <- lapply(seq_len(dim(s$y)[2]), function(j) {
    frame <- unmarked::unmarkedFrameOccu(s$y[, j, ], data.frame(elev = s$elev), list(day = s$day))
    fit <- still(unmarked::occu(~day ~ elev, frame))
    z <- unmarked::bup(unmarked::ranef(fit))
    b <- unmarked::coef(fit)[2]
    se <- still(sqrt(diag(unmarked::vcov(fit))[2]))
    list(z = z, slope = c(b, b - 1.645 * se, b + 1.645 * se))
  })
  cells <- vapply(each, `[[`, numeric(dim(s$y)[1]), "z")
  none <- apply(s$y, 1:2, max) == 0
  list(cells = cells, number = matrix(colSums(cells * none)), slope = t(vapply(each, `[[`, numeric(3), "slope")))
}

judge <- function(s, fit) {
  none <- apply(s$y, 1:2, max) == 0
  truth <- colSums(s$present * none)
  p <- fit$cells[none]
  z <- s$present[none]
  ends <- t(apply(fit$number, 1, quantile, c(0.05, 0.95), type = 1))
  held <- if (ncol(fit$number) > 1) mean(ends[, 1] <= truth & truth <= ends[, 2]) else NA
  slope <- fit$slope
  c(
    ratio = sum(p) / sum(truth), auc = auc(p, z), loss = log_loss(p, z),
    error = sqrt(mean((rowMeans(fit$number) - truth)^2)), held = held,
    slope = if (is.null(slope)) NA else sqrt(mean((slope[, 1] - s$slope)^2)),
    slope_held = if (is.null(slope)) NA else mean(slope[, 2] <= s$slope & s$slope <= slope[, 3], na.rm = TRUE)
  )
}

if (wanted("covariates")) {
  cat("## Covariates on both: 100 sites x 20 taxa x 3 visits, means over six seeds\n\n")
  row("", "missed / truth", "AUC", "log loss", "rms error by taxon", "90 % held", "rms error of slopes", "90 % held",
    "processor s")
  row("---", "---", "---", "---", "---", "---", "---", "---", "---")
  models <- list(
    `visits_occupancy()` = fit_occupancy, `visits_bernoulli(k = 3, "gibbs")` = fit_bernoulli,
    `spOccupancy::msPGOcc` = if (has("spOccupancy")) fit_ms, `unmarked::occu` = if (has("unmarked")) fit_unmarked
  )
  surveys <- lapply(201:206, simulate_survey)
  for (name in names(Filter(Negate(is.null), models))) {
    each <- vapply(surveys, function(s) {
      time <- system.time(fit <- models[[name]](s))
      c(judge(s, fit), time = time[["user.self"]] + time[["sys.self"]])
    }, numeric(8))
    means <- rowMeans(each, na.rm = TRUE)
    row(name, number(means[1], 2), number(means[2], 3), number(means[3], 3), number(means[4], 1), number(means[5], 2),
      number(means[6], 2), number(means[7], 2), number(means[8], 1))
  }
}

# ---- Totals, without covariates ----

# 100 sites, 4 visits. "alike": detection probability .45 throughout; "taxon": log-odds vary by taxon (.8); "site": by
# site (1). Taxa vary among visits (.2).
simulate_visits <- function(kind, m, seed, n = 100) {
  set.seed(seed)
  psi <- plogis(rnorm(m, -0.3, 1))
  by_taxon <- rnorm(m, -0.2, if (kind == "taxon") 0.8 else 0)
  by_site <- if (kind == "site") rnorm(n, 0, 1) else numeric(n)
  present <- matrix(rbinom(n * m, 1, rep(psi, each = n)), n)
  y <- array(0L, c(n, m, 4))
  for (v in 1:4) {
    p <- plogis(outer(by_site, by_taxon, "+") + rep(rnorm(m, 0, 0.2), each = n))
    y[, , v] <- present * rbinom(n * m, 1, p)
  }
  list(cell = as_visits(y), present = present, truth = sum(present == 1 & apply(y, 1:2, max) == 0))
}

if (wanted("totals")) {
  cat("\n## Without covariates: 100 sites x 4 visits, means over 40 seeds\n\n")
  row("detection", "species", "truth", "occupancy", "within the model's 90 %", "within the range printed")
  row("---", "---", "---", "---", "---", "---")
  for (kind in c("alike", "taxon", "site")) {
    for (m in c(1, 3, 5, 8, 10, 20)) {
      each <- vapply(1:40, function(seed) {
        one <- simulate_visits(kind, m, seed)
        out <- own$occupancy_missed(one$cell)
        within <- function(ends) ends[["low"]] <= one$truth && one$truth <= ends[["high"]]
        c(one$truth, out$total[["missed"]], within(out$model), within(out$total))
      }, numeric(4))
      means <- rowMeans(each)
      row(kind, m, number(means[1], 1), number(means[2], 1), number(means[3], 2), number(means[4], 2))
    }
  }
}

# ---- Real surveys ----

surveys <- list(mhb2014 = helpers$swiss_visits(), hbef2015 = helpers$hbef_visits())
if (has("AHMbook")) {
  utils::data("HubbardBrook", "SwissTits", "Finnmark", package = "AHMbook", envir = environment())
  counts <- function(x, year) 1 * (aperm(x$counts, c(1, 4, 2, 3))[, , , year] > 0)
  for (year in c(1, 10, 20)) surveys[[paste("Hubbard Brook, year", year)]] <- counts(HubbardBrook, year)
  for (year in c(1, 9)) surveys[[paste("Swiss tits, year", year)]] <- counts(SwissTits, year)
  for (year in 1:4) surveys[[paste("Finnmark, year", year)]] <- counts(Finnmark, year)[, , 1:3]
}
if (has("spOccupancy")) {
  utils::data("hbefTrends", package = "spOccupancy", envir = environment())
  for (year in c(2, 5, 8)) surveys[[paste("hbefTrends, year", year)]] <- aperm(hbefTrends$y, c(2, 1, 4, 3))[, , , year]
}
if (has("occumb")) {
  utils::data("fish", package = "occumb", envir = environment())
  surveys[["fish, replicates of eDNA"]] <- 1 * (aperm(fish@y, c(2, 1, 3)) > 0)
}
two_of_three <- function(y, rest) {
  y <- y[rowSums(is.na(y[, 1, ])) == 0, , ]
  y[, colSums(apply(y[, , -rest], 1:2, max)) > 0, ]
}

if (wanted("pairs")) {
  cat("\n## Two visits of three, judged by the third\n\nFull: new on the third, and what all missed as the model",
    "expects it with sites searched alike.\n\n")
  row("survey", "visits", "new", "full", "estimate", "90 % of the model", "as surveys are", "full within")
  row("---", "---", "---", "---", "---", "---", "---", "---")
  for (name in names(surveys)) {
    for (rest in 3:1) {
      y <- two_of_three(surveys[[name]], rest)
      new <- sum(apply(y, 1:2, max)) - sum(apply(y[, , -rest], 1:2, max))
      out <- own$occupancy_missed(as_visits(y[, , -rest]))
      set.seed(1)
      full <- new + still(visits_occupancy(as_visits(y), uneven = 0))$total[["missed"]]
      within <- function(ends) ends[["low"]] <= full && full <= ends[["high"]]
      row(name, paste(setdiff(1:3, rest), collapse = ", "), new, number(full), number(out$total[["missed"]]),
        paste(out$model, collapse = " to "), paste(out$total[-1], collapse = " to "),
        if (within(out$model)) "both" else if (within(out$total)) "as surveys are" else "no")
    }
  }
}

named <- function(y) {
  if (is.null(dimnames(y)[[1]])) dimnames(y)[[1]] <- paste(seq_len(nrow(y)))
  y
}

# P(missed) of each zero in a result, n x m, 0 elsewhere.
missed_cells <- function(w, y) {
  each <- as.data.frame(w)
  at <- cbind(match(each$site, rownames(y)), match(each$taxon, colnames(y)))
  replace(matrix(0, nrow(y), ncol(y)), at, each$missed)
}

# Zeros of two visits, judged by whether the third found the taxon. All scores are P(the next visit finds the taxon),
# with the same sum: of occupancy; of the probability of a record, moved to that sum; of the ratio of each taxon with
# which its zeros sum to what occupancy expects of it; and of the result, whose P(missed) is multiplied by what
# occupancy expects of the taxon on the next visit for each presence missed.
if (wanted("cells")) {
  cat("\n## Zeros of two visits, and what the third found there\n\n")
  order <- c("occupancy", "plain", "ratio", "result")
  titles <- c("occupancy", "probability", "one ratio a taxon", "result")
  row("survey", "new", paste("AUC:", titles, collapse = " | "), paste("log loss:", titles, collapse = " | "))
  row(paste(rep("---", 10), collapse = " | "))
  sums <- 0
  for (name in names(surveys)) {
    y <- two_of_three(surveys[[name]], 3)
    if (dim(y)[2] < 5) next
    y <- named(y)
    two <- as_visits(y[, , 1:2])
    w <- still(which_zeros(visits = two, quick = TRUE, seed = 1))
    fit <- still(visits_occupancy(two))
    zero <- apply(y[, , 1:2], 1:2, max) == 0
    seen <- y[, , 3][zero]
    next_of <- own$next_visit(own$kept_visits(fit), fit$draws, fit, fit$uneven$uneven)
    ahead <- vapply(seq_len(ncol(zero)), function(j) rowMeans(next_of(j)), numeric(nrow(zero)))
    expected <- colSums(ahead * zero)
    total <- sum(expected)
    to_total <- function(eta) stats::plogis(eta + uniroot(function(r) sum(plogis(eta + r)) - total, c(-30, 30))$root)
    eta <- pmin(pmax(qlogis(w$probability), -30), 30)
    own_number <- own$occupancy_missed(two)
    again <- own_number$ahead / pmax(own_number$by_taxon, 1e-12)
    by_visit <- missed_cells(w, y) * rep(again, each = nrow(zero))
    scores <- list(
      occupancy = ahead[zero], plain = to_total(eta[zero]), ratio = spread_by_taxon(eta, zero, expected)[zero],
      result = to_total(qlogis(pmin(pmax(by_visit[zero], 1e-12), 1 - 1e-9)))
    )
    each <- c(vapply(scores[order], auc, 0, seen), vapply(scores[order], log_loss, 0, seen))
    row(name, sum(seen), paste(number(each[1:4], 3), collapse = " | "), paste(number(each[5:8], 4), collapse = " | "))
    sums <- rbind(sums, each)
  }
  means <- colMeans(sums[-1, ])
  row("mean", "", paste(number(means[1:4], 4), collapse = " | "), paste(number(means[5:8], 4), collapse = " | "))
}

# Simulated truth without the covariates: the result beside one ratio a taxon with occupancy's own numbers.
if (wanted("taxa")) {
  cat("\n## Numbers of taxa, simulated truth, means over eight seeds\n\n")
  row("detection", "AUC: one ratio a taxon", "result", "log loss: one ratio", "result", "rms error by taxon: occupancy",
    "result")
  row(paste(rep("---", 7), collapse = " | "))
  for (kind in c("covariates", "alike", "taxon", "site")) {
    each <- vapply(421:428, function(seed) {
      one <- if (kind == "covariates") simulate_survey(seed) else simulate_visits(kind, 20, seed)
      y <- if (kind == "covariates") one$y else unclass(one$cell)[, , 1:2]
      seen <- apply(y, 2, sum) > 0
      y <- y[, seen, ]
      dimnames(y) <- list(site = paste(seq_len(nrow(y))), species = paste0("t", seq_len(ncol(y))), visit = NULL)
      present <- if (kind == "covariates") one$present else one$present[, seen]
      visits <- as_visits(y)
      w <- still(which_zeros(visits = visits, quick = TRUE, seed = 1))
      zero <- apply(y, 1:2, max) == 0
      number <- own$occupancy_missed(visits)$by_taxon
      ratio <- spread_by_taxon(qlogis(fitted(w)), zero, number)[zero]
      missed <- missed_cells(w, y)
      truth <- colSums(present * zero)
      rms <- function(number) sqrt(mean((number - truth)^2))
      z <- present[zero]
      c(auc(ratio, z), auc(missed[zero], z), log_loss(ratio, z), log_loss(missed[zero], z), rms(number),
        rms(colSums(missed)))
    }, numeric(6))
    means <- rowMeans(each)
    row(kind, paste(number(means[1:4], 3), collapse = " | "), paste(number(means[5:6], 1), collapse = " | "))
  }
}
