# Noisy-OR with a probability of recording (`missed_by`): held-out cells, known false zeros, and time per iteration.
# Priors were chosen on four other tables: fossil mammals g10s10, the birds' first visit, and two simulated ones.
#
#   OPENBLAS_NUM_THREADS=1 Rscript bench/noisy_or_recording.R
#
# One thread; prints a section of noisy_or.md.
library(multicause)
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
hush <- function(expr) suppressWarnings(suppressMessages(expr))
control <- fit_control(n_start = 5, progress = FALSE)
models <- list(
  `noisy-OR` = function(x, k) noisy_or(x, k, control = control),
  `by site` = function(x, k) noisy_or(x, k, missed_by = "site", control = control),
  `by both` = function(x, k) noisy_or(x, k, missed_by = "both", control = control),
  `aspect Bernoulli` = function(x, k) aspect_bernoulli(x, k, control = control)
)
area <- function(score, truth) {
  (sum(rank(score)[truth]) - sum(truth) * (sum(truth) + 1) / 2) / (sum(truth) * sum(!truth))
}
said <- function(fit) if (is.null(fit$missed)) fitted(fit) else predict(fit, type = "present")
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")

# ---- A tenth of the cells hidden, at random, three times ----------------------------------------------------------

hidden <- function(x, k, seed) {
  set.seed(seed)
  held <- sample(length(x), length(x) %/% 10)
  truth <- unname(x[held])
  x[held] <- NA
  vapply(models, function(model) {
    set.seed(seed)
    p <- pmin(pmax(fitted(hush(model(x, k)))[held], 1e-6), 1 - 1e-6)
    c(mean(ifelse(truth == 1, log(p), log1p(-p))), area(p, truth == 1))
  }, numeric(2))
}

tables <- list(`early tetrapods` = early_tetrapods$x, `simulated sites` = simulated_sites$x)
g10s2 <- file.path(folder, "now_2003", "g10s2_occ.csv")
if (file.exists(g10s2)) {
  records <- utils::read.csv(g10s2)
  x <- matrix(0, max(records$site_id), max(records$genus_id))
  x[cbind(records$site_id, records$genus_id)] <- 1
  tables$`fossil mammals, g10s2` <- x
}
for (what in 1:2) {
  cat(sprintf("\n%s\n\n", c("Log score a cell, nats", "Area under the ROC curve")[what]))
  row("table", "k", paste(names(models), collapse = " | "))
  row(paste(rep("---", 2L + length(models)), collapse = " | "))
  for (name in names(tables)) {
    for (k in c(3, 5)) {
      scores <- Reduce(`+`, lapply(1:3, function(seed) hidden(tables[[name]], k, seed))) / 3
      row(name, k, paste(sprintf(c("%.4f", "%.3f")[what], scores[what, ]), collapse = " | "))
    }
  }
}

# ---- Many components: the variational bound beside the lists of states, of hidden cells and of planted sites -------

cat("\nMany components, missed by site\n\n")
row("table", "k", "inference", "log score", "AUC", "found", "said to be missed", "missed", "seconds")
row(paste(rep("---", 9L), collapse = " | "))
several <- fit_control(n_start = 3, progress = FALSE)
timed <- function(x, k, inference) {
  seconds <- system.time(fit <- hush(noisy_or(x, k, inference = inference, missed_by = "site", control = several)))
  list(fit = fit, seconds = sum(seconds[1:2]))
}
# Number of sources matched one to one, with a correlation above 0.9.
n_found <- function(links, truth) {
  r <- suppressWarnings(stats::cor(t(links), t(truth)))
  r[is.na(r)] <- -1
  found <- 0
  while (length(r) && max(r) > 0.9) {
    at <- arrayInd(which.max(r), dim(r))
    r <- r[-at[1L], -at[2L], drop = FALSE]
    found <- found + 1
  }
  found
}
many_hidden <- function(x, k, inference, seed) {
  set.seed(seed)
  held <- sample(length(x), length(x) %/% 10)
  truth <- unname(x[held]) == 1
  x[held] <- NA
  run <- timed(x, k, inference)
  p <- pmin(pmax(fitted(run$fit)[held], 1e-6), 1 - 1e-6)
  c(mean(log(ifelse(truth, p, 1 - p))), area(p, truth), run$seconds)
}
many_planted <- function(k, inference, seed) {
  set.seed(seed)
  links <- matrix(stats::rbinom(80 * k, 1L, 0.12) * 0.85, k)
  on <- matrix(stats::rbinom(400 * k, 1L, 0.2), 400)
  present <- matrix(stats::rbinom(32000, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), 400)
  x <- present * stats::rbinom(32000, 1L, rep(stats::rbeta(400, 2, 2), 80))
  run <- timed(x, k, inference)
  zero <- x == 0
  c(
    area(said(run$fit)[zero], present[zero] == 1), n_found(run$fit$param$links, links), run$fit$missed,
    sum(present[zero]), run$seconds
  )
}
for (k in c(15, 20)) {
  for (inference in c("truncated", "variational")) {
    scores <- rowMeans(vapply(1:3, function(seed) many_hidden(early_tetrapods$x, k, inference, seed), numeric(3)))
    row("early tetrapods", k, inference, do.call(sprintf, c("%.4f | %.3f |  |  |  | %.1f", as.list(scores))))
  }
}
for (inference in c("truncated", "variational")) {
  scores <- rowMeans(vapply(1:2, function(seed) many_planted(15, inference, seed), numeric(5)))
  row("drawn, 400 x 80", 15, inference, "", do.call(sprintf, c("%.3f | %.1f | %.0f | %.0f | %.1f", as.list(scores))))
}

# ---- Effort: specimens of Turkana's sites drawn down to a random fraction, log(specimens) as effort ----------------

turkana <- file.path(folder, "turkana", "turkana_counts.csv")
rarefied <- function(full, seed) {
  set.seed(seed)
  keep <- stats::runif(nrow(full), 0.1, 1)
  thin <- matrix(stats::rbinom(length(full), full, keep), nrow(full))
  truth <- replace(full > 0, thin > 0, NA)[rowSums(thin) > 0, ]
  thin <- thin[rowSums(thin) > 0, ]
  vapply(c(`noisy-OR` = 1, `by site` = 2, `by site, effort` = 3), function(arm) {
    set.seed(seed)
    more <- list(list(), list(missed_by = "site"), list(missed_by = "site", effort = log(rowSums(thin))))[[arm]]
    fit <- hush(do.call(noisy_or, c(list((thin > 0) + 0, 5, control = several), more)))
    found <- recovery(said(fit), truth)$summary
    c(found$auc, found$auc_within, found$ap, if (arm > 1) fit$missed else NA, sum(truth, na.rm = TRUE))
  }, numeric(5))
}
if (file.exists(turkana)) {
  counts <- utils::read.csv(turkana)
  full <- unclass(stats::xtabs(n_specimens ~ site_id + genus, counts))
  full <- unname(full[rowSums(full) >= 20, ])
  full <- full[, colSums(full > 0) >= 5]
  cat("\nEffort\n\n")
  row("model", "AUC", "within sites", "average precision", "said to be missed", "missed")
  row(paste(rep("---", 6L), collapse = " | "))
  scores <- Reduce(`+`, lapply(1:5, function(seed) rarefied(full, seed))) / 5
  for (arm in colnames(scores)) {
    row(arm, do.call(sprintf, c("%.3f | %.3f | %.3f | %.0f | %.0f", as.list(scores[, arm]))))
  }
}

# ---- Zeros that are false: of the simulated sites, and of sites drawn from the model itself ------------------------

cat("\nFalse zeros\n\n")
row("table", "model", "AUC", "said to be missed", "missed")
row(paste(rep("---", 5L), collapse = " | "))
judge <- function(title, x, false, k) {
  zero <- x == 0
  arms <- c(models, list(`by site, links Beta(1.05, 1.05)` = function(x, k) {
    noisy_or(x, k, missed_by = "site", prior = noisy_or_prior(links = c(1.05, 1.05)), control = control)
  }))
  for (model in names(arms)) {
    set.seed(1)
    fit <- hush(arms[[model]](x, k))
    missed <- if (is.null(fit$missed)) "" else format(round(fit$missed))
    row(title, model, sprintf("%.3f", area(said(fit)[zero], false[zero])), missed, sum(false[zero]))
  }
}
truth <- simulated_sites$truth$present == 1
for (k in c(3, 5)) judge(sprintf("simulated sites, k = %d", k), simulated_sites$x, truth, k)
for (seed in 1:3) {
  set.seed(seed)
  links <- matrix(stats::rbinom(120, 1L, 0.35) * 0.85, 4)
  on <- matrix(stats::rbinom(1200, 1L, 0.4), 300)
  present <- matrix(stats::rbinom(9000, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), 300)
  x <- present * stats::rbinom(9000, 1L, stats::rbeta(300, 2, 2))
  judge(sprintf("of the model, %d", seed), x, present == 1, 4)
}

# ---- Ranges of identifiability(), over tables drawn from the model: links of 0 and 0.85, and of all sizes ---------

cat("\nRanges of the number of false absences\n\n")
row("links", "table", "missed", "as fitted", "likelihood", "draws", "held")
row(paste(rep("---", 7L), collapse = " | "))
planted <- function(seed, kind) {
  set.seed(seed)
  two <- kind == "two sizes"
  n <- if (two) 150 else 200
  m <- if (two) 25 else 30
  links <- matrix(if (two) stats::rbinom(3 * m, 1L, 0.35) * 0.85 else stats::rbeta(3 * m, 0.6, 1.2), 3)
  on <- matrix(stats::rbinom(n * 3, 1L, if (two) 0.4 else 0.35), n)
  present <- matrix(stats::rbinom(n * m, 1L, 1 - exp(on %*% log(1 - links)) * if (two) 0.97 else 0.95), n)
  x <- present * stats::rbinom(n * m, 1L, rep(stats::rbeta(n, if (two) 2 else 3, 2), m))
  list(x = x, missed = sum(present == 1 & x == 0))
}
for (kind in c("two sizes", "all sizes")) {
  held <- c(likelihood = 0, draws = 0)
  seeds <- 300 + seq_len(if (kind == "two sizes") 20L else 7L)
  for (seed in seeds) {
    table <- planted(seed, kind)
    fit <- hush(noisy_or(table$x, 3, missed_by = "site", control = control))
    bounds <- identifiability(fit)$expected
    inside <- table$missed >= bounds$least & table$missed <= bounds$most
    held <- held + inside[match(names(held), bounds$bound)]
    words <- sprintf("%.0f to %.0f", bounds$least, bounds$most)[match(names(held), bounds$bound)]
    row(kind, seed, table$missed, round(fit$missed), words[1L], words[2L], if (inside[2L]) "yes" else "NO")
  }
  cat(sprintf("\nheld: likelihood %d, draws %d of %d\n\n", held[1L], held[2L], length(seeds)))
}

# ---- Time -----------------------------------------------------------------------------------------------------------

cat("\nMilliseconds an iteration, 500 sites x 100 taxa, processor time\n\n")
row("k", "inference", "without", "by site", "by both")
row(paste(rep("---", 5L), collapse = " | "))
pass_time <- function(x, k, inference, by, iterations) {
  start <- list(prior = rep(0.2, k), links = matrix(stats::runif(k * 100, 0.1, 0.5), k), leak = rep(0.05, 100))
  took <- function(n) {
    control <- fit_control(n_start = 1, max_iter = n, tol = 0, accelerate = FALSE, progress = FALSE)
    run <- function() {
      hush(noisy_or(x, k, inference = inference, missed_by = by, inner = 1, start = start, control = control))
    }
    min(vapply(1:3, function(i) sum(system.time(run())[1:2]), 0))
  }
  1e3 * (took(1 + iterations) - took(1)) / iterations
}
set.seed(1)
x <- matrix(stats::rbinom(50000, 1L, 0.2), 500)
for (k in c(5, 8)) {
  for (inference in c("exact", "truncated")) {
    times <- vapply(c("none", "site", "both"), function(by) {
      pass_time(x, k, inference, by, if (inference == "exact") 20 else 3)
    }, 0)
    row(k, inference, paste(sprintf("%.1f", times), collapse = " | "))
  }
}

# ---- Repeated visits: to planted sites, what a table of the same says, and visits of two bird surveys held out ------

visited <- function(n, seed, m = 24, visits = 3) {
  set.seed(seed)
  links <- matrix(stats::rbinom(3 * m, 1L, 0.4) * 0.8, 3)
  on <- matrix(stats::rbinom(n * 3, 1L, 0.35), n)
  present <- matrix(stats::rbinom(n * m, 1L, 1 - exp(on %*% log(1 - links)) * 0.97), n)
  probability <- outer(sample((2:9 / 10)^2, n, TRUE), stats::runif(m, 0.4, 1))
  cell <- array(stats::rbinom(n * m * visits, 1L, as.vector(present * probability)), c(n, m, visits))
  cell[seq_len(n / 3), , visits] <- NA
  list(cell = cell, present = present, probability = mean(probability))
}
cat("\nRepeated visits to planted sites\n\n")
row("sites", "model", "said to be missed over missed, five tables", "AUC", "probability of a record over the true one")
row(paste(rep("---", 5L), collapse = " | "))
arms <- list(
  `visits, noisy-OR by both` = function(cell, x) noisy_or(cell, 3, missed_by = "both", control = several),
  `table, noisy-OR by both` = function(cell, x) noisy_or(x, 3, missed_by = "both", control = several),
  `visits_bernoulli()` = function(cell, x) visits_bernoulli(cell, 3, sides = sides, control = several),
  `visits_bernoulli(), by site` = function(cell, x) {
    visits_bernoulli(cell, 3, missed_by = "site", sides = sides, control = several)
  }
)
sides <- c("site", "species", "visit")
for (n in c(150, 600)) {
  for (arm in names(arms)) {
    each <- vapply(1:5, function(seed) {
      one <- visited(n, seed)
      x <- apply(one$cell, 1:2, max, na.rm = TRUE)
      cell <- one$cell
      dimnames(cell) <- list(site = NULL, species = paste0("t", 1:24), visit = NULL)
      fit <- hush(arms[[arm]](cell, x))
      present <- predict(fit, type = "present")[x == 0]
      probability <- if (inherits(fit, "noisy_or")) mean(outer(fit$param$recorded_site,
        fit$param$recorded_taxon)) else NA
      hidden <- one$present[x == 0] == 1
      c(sum(present) / sum(hidden), area(present, hidden), probability / one$probability)
    }, numeric(3))
    row(n, arm, paste(sprintf("%.2f", each[1, ]), collapse = ", "), sprintf("%.3f", mean(each[2, ])),
      paste(sprintf("%.2f", each[3, ]), collapse = ", "))
  }
}

common <- new.env()
sys.source("bench/common.R", common)
hbef <- function() {
  table <- utils::read.csv(gzfile(common$shared("repeat_surveys", "hbef2015_detections.csv.gz")))
  species <- setdiff(names(table), c("site", "visit"))
  sites <- sort(unique(table$site))
  cell <- array(NA_integer_, c(length(sites), length(species), 3), list(site = sites, species = species, visit = NULL))
  for (v in 1:3) cell[match(table$site[table$visit == v], sites), , v] <- as.matrix(table[table$visit == v, species])
  cell
}
swiss <- function() {
  counts <- utils::read.csv(gzfile(common$shared("repeat_surveys", "mhb2014_counts.csv.gz")))
  sites <- utils::read.csv(common$shared("repeat_surveys", "mhb2014_sites.csv"))
  cell <- array(0L, c(nrow(sites), max(counts$species), 3))
  cell[cbind(match(counts$site, sites$site), counts$species, counts$visit)] <- 1L
  for (v in 1:3) cell[sites[[paste0("surveyed", v)]] == 0, , v] <- NA
  cell <- cell[apply(!is.na(cell[, 1, ]), 1, any), apply(cell, 2, sum, na.rm = TRUE) > 0, ]
  dimnames(cell) <- list(site = seq_len(nrow(cell)), species = paste0("s", seq_len(ncol(cell))), visit = NULL)
  cell
}
cat("\nVisits held out, three folds, no covariates\n\n")
row("survey", "k", "model", "loss a record", "standard error", "seconds")
row(paste(rep("---", 6L), collapse = " | "))
surveys <- list(`birds, Hubbard Brook` = common$if_there(hbef()), `birds, Switzerland` = common$if_there(swiss()))
surveyed <- list(
  `noisy-OR by site` = function(x, k) noisy_or(x, k, missed_by = "site", control = several),
  `noisy-OR by both` = function(x, k) noisy_or(x, k, missed_by = "both", control = several),
  `visits_bernoulli()` = function(x, k) visits_bernoulli(x, k, control = several),
  `visits_bernoulli(), by taxon` = function(x, k) visits_bernoulli(x, k, missed_by = "taxon", control = several)
)
for (name in names(Filter(length, surveys))) {
  for (k in c(2, 4)) {
    for (model in names(surveyed)) {
      set.seed(1)
      took <- system.time(cv <- hush(cross_validate(surveys[[name]], k, surveyed[[model]], "visits", folds = 3)))
      row(name, k, model, sprintf("%.4f | %.4f | %.0f", cv$results$loss, cv$results$se, sum(took[1:2])))
    }
  }
}
