# Maximum likelihood or posterior mode: which predicts held-out cells better? The models that have both, on real and
# simulated tables; the arms have the same folds, starts and iterations. The default of `estimate` is chosen by the
# result.
#   Rscript bench/estimate_default.R > build/estimate_default.md     (about a minute, one thread)
library(multicause)
ns <- getNamespace("multicause")
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
shared <- function(...) file.path(folder, ...)
if (!file.exists(shared("now_2003", "g10s2_occ.csv"))) {
  message("skipped: no data in ", folder)
  quit("no")
}
floors <- c(1e-6, 1e-3, 1e-2)
control <- fit_control(
  n_start = 2, screen = FALSE, n_polish = 0, max_iter = 100, tol = 0, n_threads = 1, progress = FALSE
)

occurrences <- function(set) {
  table <- lapply(shared("now_2003", sprintf("%s_%s.csv", set, c("occ", "sites"))), utils::read.csv)
  x <- matrix(0, nrow(table[[2L]]), max(table[[1L]]$genus_id))
  x[cbind(table[[1L]]$site_id, table[[1L]]$genus_id)] <- 1
  x
}

bird_visits <- function() {
  survey <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "mhb2014_sites.csv"))
  visits <- array(0L, c(nrow(sites), 158L, 3L))
  visits[cbind(survey$site, survey$species, survey$visit)] <- 1L
  for (v in 1:3) visits[sites[[paste0("surveyed", v)]] != 1, , v] <- NA
  visits[, apply(visits, 2L, sum, na.rm = TRUE) > 0, ]
}

forest_visits <- function() {
  table <- utils::read.csv(shared("repeat_surveys", "hbef2015_detections.csv.gz"))
  species <- setdiff(names(table), c("site", "visit"))
  sites <- sort(unique(table$site))
  visits <- array(NA_integer_, c(length(sites), length(species), 3L))
  for (v in 1:3) {
    part <- table[table$visit == v, ]
    visits[match(part$site, sites), , v] <- as.matrix(part[species])
  }
  visits
}

draw <- function(p) matrix(stats::rbinom(length(p), 1L, p), nrow(p))
set.seed(1)
aspects <- function(n, m) {
  share <- matrix(stats::rgamma(n * 4L, 0.4), n)
  draw((share / rowSums(share)) %*% rbind(matrix(stats::rbeta(3L * m, 0.3, 0.7), 3L), 0))
}
mixture <- function(n, m) draw(matrix(stats::rbeta(3L * m, 0.3, 0.9), 3L)[sample.int(3L, n, TRUE), ])
causes <- function(n, m) {
  on <- matrix(stats::rbinom(n * 4L, 1L, 0.25), n)
  links <- matrix(stats::rbinom(4L * m, 1L, 0.3) * 0.8, 4L)
  draw(1 - 0.97 * exp(on %*% log1p(-links)))
}
surveys <- function(n, m) {
  there <- aspects(n, m)
  array(stats::rbinom(3L * n * m, 1L, 0.6) * as.vector(there), c(n, m, 3L))
}

birds <- bird_visits()
tables <- list(
  `fossil mammals, g10s10` = occurrences("g10s10"), `fossil mammals, g10s2` = occurrences("g10s2"),
  `birds, first visit` = birds[!is.na(birds[, 1L, 1L]), , 1L], simulated_sites = simulated_sites$x,
  `aspects, 60 x 20` = aspects(60L, 20L), `aspects, 300 x 60` = aspects(300L, 60L),
  `mixture, 60 x 20` = mixture(60L, 20L), `several causes, 100 x 20` = causes(100L, 20L)
)
visits <- list(
  `birds, 3 visits` = birds, `forest birds, 3 visits` = forest_visits(), `simulated visits, 60 x 20` = surveys(60L, 20L)
)

# Loss of every held-out cell's fold under each floor: folds x floors.
losses <- function(x, model, k, estimate) {
  set.seed(7) # the same folds and starts in both arms
  plan <- ns$fold_plan(x, "cells", 3L, 1L)
  t(vapply(seq_len(3L), function(fold) {
    held <- plan$held[[1L]][[fold]]
    fit <- ns$quiet_fit(model(ns$replace_cells(plan$x, held), k, estimate = estimate, control = control))$value
    value <- ns$cells_of(plan$x, held)
    vapply(floors, function(floor) mean(ns$cell_loss(fit, held, value, plan$family, floor)), 0)
  }, floors))
}

compare <- function(name, model, x, k) {
  ml <- losses(x, model, k, "ml")
  map <- losses(x, model, k, "map")
  gain <- ml - map
  data.frame(
    model = name, k = k, ml = colMeans(ml)[1L], map = colMeans(map)[1L], t(colMeans(gain)),
    se = stats::sd(gain[, 1L]) / sqrt(3)
  )
}

models <- list(
  aspect_bernoulli = aspect_bernoulli, bernoulli_mixture = bernoulli_mixture, noisy_or = noisy_or,
  visits_bernoulli = visits_bernoulli
)
began <- proc.time()[["user.self"]]
out <- do.call(rbind, lapply(names(models), function(name) {
  mine <- if (name == "visits_bernoulli") visits else tables
  do.call(rbind, lapply(names(mine), function(table) {
    do.call(rbind, lapply(c(3L, 6L), function(k) {
      row <- compare(name, models[[name]], mine[[table]], k)
      message(name, ", ", table, ", k = ", k)
      cbind(table = table, row)
    }))
  }))
}))
cat("# Maximum likelihood or posterior mode: loss per held-out cell\n\n")
cat(sprintf("`Rscript bench/estimate_default.R`, %s, R %s.\n\n", format(Sys.Date(), "%d %B %Y"), getRversion()))
cat("Nats a cell, mean of 3 folds; both arms with the default priors, the same folds, 2 starts and 100 iterations.\n")
cat("`ml`, `map`: losses with probabilities kept within [1e-6, 1 - 1e-6]. Gain of `map` over `ml` under three such\n")
cat("bounds, with the standard error over folds of the first. Above 0: the posterior mode predicts better.\n\n")
cat("| model | table | k | ml | map | gain, 1e-6 | gain, 1e-3 | gain, 1e-2 | se |\n")
cat("|", strrep("---|", 9L), "\n", sep = "")
cat(sprintf(
  "| %s | %s | %d | %.4f | %.4f | %.4f | %.4f | %.4f | %.4f |\n", out$model, out$table, out$k, out$ml, out$map,
  out$X1, out$X2, out$X3, out$se
), sep = "")
for (at in 1:3) {
  gain <- out[[paste0("X", at)]]
  cat(sprintf(
    "\nBound %g: `map` is better in %s.", floors[at], paste(vapply(split(gain, factor(out$model, names(models))),
      function(g) sprintf("%d of %d", sum(g > 0), length(g)), ""), names(models), collapse = ", ")
  ))
}
cat(sprintf("\n\n%.0f s of processor time.\n", proc.time()[["user.self"]] - began))
