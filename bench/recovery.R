# Compares scores by how well they find false absences: planted omissions on the paper's table, a bird survey whose
# later visits show what the first one missed, and planted additions. Results are kept in bench/recovery.md.
#   Rscript bench/recovery.R [replicates = 10] [omissions] [birds] [additions]     (all three parts unless named)
# The recommended score was chosen on tuning replicates (seeds 1001 to 1006) and on visits 2 and 3 of the survey, in two
# rounds: the first choice was tried on seeds 2001 to 2010 and lost to an average of logistic PCA fits in pooled AUC;
# the second was chosen on the tuning replicates again and named before the replicates below (seeds from 4001 on) were
# drawn.
# The rivals' settings are those that did best on the same tuning replicates.
library(multicause)
replicates <- as.integer(c(commandArgs(TRUE), "10")[1L])
parts <- commandArgs(TRUE)[-1L]
if (!length(parts)) parts <- c("omissions", "birds", "additions")
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
shared <- function(...) file.path(folder, ...)
if (!file.exists(shared("now_2003", "g10s2_occ.csv"))) {
  message("skipped: no data in ", folder)
  quit("no")
}
hush <- function(expr) suppressWarnings(suppressMessages(expr))
light <- fit_control(n_start = 3, n_finish = 1, n_polish = 0, tol = 1e-7, progress = FALSE)
as_score <- function(fit) pmin(pmax(fitted(fit), 0), 1)
weak <- function(membership) list(aspects = c(1.2, 2), membership = membership)
both <- list(estimate = c("ml", "map"))

recommended <- function(x) ensemble(x)

first_choice <- function(x) {
  control <- fit_control(n_start = 1, n_polish = 0, max_iter = 500, tol = 1e-7)
  ensemble(x, k = c(6, 8, 10, 12, 16, 20, 24), grid = both, prior = weak(1.1), control = control)
}

# All competitors and variants, as a list of n x m score matrices.
all_scores <- function(x, age = NULL) {
  single <- hush(aspect_bernoulli(x, 4, estimate = "ml", control = fit_control(progress = FALSE)))
  cells <- getNamespace("multicause")$cell_scores(single, seq_len(nrow(x)), phantoms(single)$kind)
  best <- hush(recommended(x))
  out <- list(
    `AB ensemble (recommended)` = fitted(best),
    `AB ensemble, ML only` = fitted(hush(ensemble(x, estimate = "ml"))),
    `AB ensemble, first choice` = fitted(hush(first_choice(x))),
    `AB k = 4: probability` = cells$probability, `AB k = 4: present` = cells$present, `AB k = 4: missed` = cells$missed,
    `AB k = 4: phantom` = cells$phantom,
    `Bernoulli mixture, k = 6, MAP` = as_score(hush(bernoulli_mixture(x, 6, estimate = "map", control = light))),
    `logistic PCA, k = 8, penalty 3` = as_score(hush(logistic_pca(x, 8, penalty = 3, control = light))),
    `logistic PCA, k = 4, penalty 2` = as_score(hush(logistic_pca(x, 4, penalty = 2, control = light))),
    `logistic PCA, average of 6` = fitted(hush(ensemble(
      x, k = c(4, 8), model = logistic_pca, grid = list(penalty = 2:4), members = 1, control = light
    ))),
    `NMF, k = 5` = as_score(hush(nmf(x, 5, control = light))),
    `NMF (KL), k = 5` = as_score(hush(nmf(x, 5, loss = "kl", control = light)))
  )
  if ("plsa" %in% getNamespaceExports("multicause")) {
    out$`PLSA, k = 5` <- 1 - exp(-fitted(hush(multicause::plsa(x, 5, estimate = "ml", control = light))))
  }
  if (requireNamespace("vegan", quietly = TRUE)) {
    out$`vegan::beals` <- as.matrix(hush(vegan::beals(x, include = FALSE)))
  }
  if (!is.null(age)) out$`range-through` <- range_through(x, age, ties = "order") + 0
  out
}

measures <- c("auc", "auc_within", "ap", "ap_within", "slope", "removal", "lost")

score_table <- function(scores, truth) {
  rows <- lapply(names(scores), function(name) {
    found <- recovery(scores[[name]], truth, n = 100)
    data.frame(score = name, found$summary[measures], top100 = found$precision$precision)
  })
  do.call(rbind, rows)
}

show <- function(table) {
  table[-1L] <- lapply(table[-1L], round, 4L)
  print(table[order(-table$auc), ], row.names = FALSE)
}

# Mean differences between the recommended score and each other one, with standard errors over replicates.
paired <- function(all, measure) {
  wide <- tapply(all[[measure]], list(all$replicate, all$score), mean)
  difference <- wide[, "AB ensemble (recommended)"] - wide
  data.frame(
    score = colnames(wide), difference = round(colMeans(difference), 4L),
    se = round(apply(difference, 2L, stats::sd) / sqrt(nrow(wide)), 4L)
  )
}

now_table <- function() {
  occ <- utils::read.csv(shared("now_2003", "g10s2_occ.csv"))
  sites <- utils::read.csv(shared("now_2003", "g10s2_sites.csv"))
  x <- matrix(0, nrow(sites), max(occ$genus_id))
  x[cbind(occ$site_id, occ$genus_id)] <- 1
  list(x = x, age = sites$age_ma)
}

now <- now_table()

omissions <- function() {
  cat("## Planted omissions on g10s2, Uniform[0, 0.4] per site,", replicates, "replicates: means\n\n")
  all <- do.call(rbind, lapply(seq_len(replicates), function(r) {
    set.seed(4000 + r)
    planted <- corrupt(now$x, omit = c(0, 0.4))
    cbind(replicate = r, score_table(all_scores(planted$x, now$age), planted))
  }))
  show(stats::aggregate(all[c(measures, "top100")], all["score"], mean, na.action = stats::na.pass))
  for (measure in c("auc", "auc_within", "ap")) {
    cat("\nRecommended score minus each other one,", measure, "\n\n")
    print(paired(all, measure), row.names = FALSE)
  }
}

birds <- function() {
  cat("\n## Swiss breeding birds (mhb2014): fitted to visit 1, truth is any visit\n\n")
  survey <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
  visited <- utils::read.csv(shared("repeat_surveys", "mhb2014_sites.csv"))$surveyed1 == 1
  seen <- array(FALSE, c(length(visited), 158L, 3L))
  seen[cbind(survey$site, survey$species, survey$visit)] <- TRUE
  known <- apply(seen, 2L, any)
  first <- seen[visited, known, 1L]
  truth <- apply(seen[visited, known, ], 1:2, any)
  truth[first] <- NA
  set.seed(1)
  scores <- all_scores(first + 0)
  show(score_table(scores, truth))
  cat("\nCalibration of the recommended score: mean score and share found in a later visit, by tenths of the zeros\n\n")
  print(round(recovery(scores[[1L]], truth)$calibration, 4L), row.names = FALSE)
}

additions <- function() {
  cat("\n## Planted additions on g10s2, aspect Bernoulli with k = 5\n\n")
  cat("Black phantom: (1 - mean of the aspect) / (1 - density) at most 0.5; white: mean / density at most 0.2.\n")
  cat("at_added, at_true: posterior of the aspect with the highest mean at added and at true ones.\n\n")
  readings <- list(
    `rates scaled to 12.5 % ones` = function() c(0, 0.1563),
    `40 % of the sites at U[0, .4]` = function() ifelse(stats::runif(501) < 0.4, stats::runif(501, 0, 0.4), 0),
    `all sites at U[0, .4]` = function() c(0, 0.4)
  )
  table <- do.call(rbind, lapply(names(readings), function(reading) {
    do.call(rbind, lapply(seq_len(replicates), function(r) {
      set.seed(3000 + r)
      planted <- corrupt(now$x, add = readings[[reading]]())
      fit <- hush(aspect_bernoulli(planted$x, 5, estimate = "ml", control = fit_control(progress = FALSE)))
      kinds <- phantoms(fit, black = 0.5)
      blackest <- which.max(rowMeans(fit$param$aspects))
      wrote <- predict(fit, type = "cell")[, , blackest]
      data.frame(
        reading, ones = mean(planted$x), white = sum(kinds$kind == "white"), black = sum(kinds$kind == "black"),
        blackest_mean = mean(fit$param$aspects[blackest, ]),
        at_added = mean(wrote[planted$added]), at_true = mean(wrote[planted$x == 1 & !planted$added])
      )
    }))
  }))
  table$ratio <- table$at_added / table$at_true
  means <- stats::aggregate(table[-1L], table["reading"], mean)
  means[-1L] <- lapply(means[-1L], signif, 3L)
  print(means, row.names = FALSE)
  cat("\nRatio over replicates: least, median, greatest\n\n")
  print(stats::aggregate(table["ratio"], table["reading"], function(r) signif(stats::quantile(r, c(0, 0.5, 1)), 3L)))
}

for (part in parts) get(part)()
