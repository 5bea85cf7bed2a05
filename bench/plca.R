# Which Dirichlet priors of plca() tell hidden cells best, on tables of two and three dimensions. Results are kept in
# bench/plca.md.
#   Rscript bench/plca.R
library(multicause)
source(file.path(if (dir.exists("bench")) "bench" else ".", "common.R"))
least <- function(x, d, n) {
  at <- rep(list(TRUE), length(dim(x)))
  at[[d]] <- apply(x, d, sum) >= n
  unname(do.call(`[`, c(list(x), at, drop = FALSE)))
}
turkana <- utils::read.csv(shared("turkana", "turkana_counts.csv"))
birds <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
birds <- birds[birds$count < 1000, ]
america <- utils::read.csv(shared("now_2020_nam", "nam_large_occ.csv"))
presences <- tetrapod_occurrences[!is.na(tetrapod_occurrences$genus), ]
numbers <- as.matrix(utils::read.csv(shared("uci_mfeat_pix", "mfeat_pix.csv.gz"))[-1L])
faces <- as.matrix(utils::read.csv(shared("cbcl_faces", "cbcl_train_faces.csv.gz")))
tables <- list(
  `Turkana` = unclass(xtabs(n_specimens ~ site_id + genus, turkana)),
  `NOW America` = least(unclass(xtabs(n_species ~ site_id + genus, america)), 1L, 4),
  `citations` = least(unname(as.matrix(utils::read.csv(shared("nips_author_citations", "nips40.csv"))[-(1:2)])), 1L, 3),
  `mites` = unname(as.matrix(local({
    utils::data("mite", package = "vegan", envir = environment())
    mite
  }))),
  `birds by visit` = least(unclass(xtabs(count ~ site + species + visit, birds)), 2L, 20),
  `tetrapods by stage, country, genus` = least(unclass(table(presences$early_interval, presences$cc,
    presences$genus)), 3L, 5),
  `digits by row, column` = array(numbers[seq(1L, 2000L, 20L), ], c(100L, 15L, 16L)),
  `faces by row, column` = array(round(faces[seq(1L, 2400L, 40L), ] / 32), c(60L, 19L, 19L))
)
priors <- list(
  ml = c(1, 1), `1, 1.01` = c(1, 1.01), `1.1, 1.01` = c(1.1, 1.01), `1.1, 1.1` = c(1.1, 1.1), `1, 1.3` = c(1, 1.3),
  `1.1, 1.3` = c(1.1, 1.3), `1.1, 1.7` = c(1.1, 1.7)
)

# A tenth of the cells is hidden. Their Poisson loss, beyond that of the true count as the mean, for each count.
loss_of <- function(x, holes, mean) {
  v <- x[holes]
  mean <- 0.99 * mean[holes] + 0.01 * sum(x[-holes]) / (length(x) - length(holes))
  sum(mean - v + ifelse(v > 0, v * log(v / mean), 0)) / sum(v)
}
hidden <- function(x, k, prior) {
  set.seed(2)
  holes <- sample(length(x), length(x) %/% 10L)
  set.seed(3)
  given <- list(membership = prior[1L], basis = prior[2L]) # 1 and 1 are maximum likelihood
  control <- fit_control(n_start = 3, max_iter = 1000, tol = 1e-7, progress = FALSE)
  fit <- suppressMessages(suppressWarnings(plca(replace(x, holes, NA), k, prior = given, control = control)))
  loss_of(x, holes, fitted(fit))
}
line <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
line("table", "cells", "counts", "k", names(priors))
line(rep("---", 4L + length(priors)))
ratios <- list()
for (k in c(5L, 20L)) {
  for (name in names(tables)) {
    x <- tables[[name]] + 0
    dimnames(x) <- NULL
    loss <- vapply(priors, function(prior) hidden(x, k, prior), 0)
    ratios <- c(ratios, list(log(loss / loss[["ml"]])))
    line(name, paste(dim(x), collapse = " x "), sum(x), k, vapply(loss, format, "", digits = 4L))
  }
}
line("mean of logs, over that of ml", "", "", "", sprintf("%.3f", colMeans(do.call(rbind, ratios))))
