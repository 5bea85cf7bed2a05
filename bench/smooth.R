# Do neighbours help to find false absences? Planted omissions (deleted with a rate of its own in each site, uniform on
# [0, 0.4]) in three fossil tables, and birds found on a later visit; smoothed and unsmoothed fits against
# vegan::beals(), the age kernel and the other models. All settings were fixed on replicates with other seeds.
# MULTICAUSE_REPLICATES (default 10) shortens it. Results are kept in bench/smooth.md.
library(multicause)
common <- new.env()
sys.source("bench/common.R", common)
n_replicate <- as.integer(Sys.getenv("MULTICAUSE_REPLICATES", "10"))
has_beals <- requireNamespace("vegan", quietly = TRUE)
short <- fit_control(n_start = 1, n_polish = 0, max_iter = 500, tol = 1e-7, progress = FALSE)
brief <- fit_control(n_start = 1, n_polish = 0, max_iter = 60, tol = 1e-5, progress = FALSE)
weak <- list(aspects = c(1.2, 2), membership = 1)

tables <- function() {
  near <- function(table, columns, ...) {
    over <- list(age = table$sites[columns], place = table$place, bandwidth = c(...), strength = 10)
    c(table[c("x", "age")], list(near = do.call(smooth_over, Filter(length, over))))
  }
  europe <- common$if_there(near(common$read_fossils("g10s2"), "age_ma", age = 1))
  america <- common$if_there(
    near(common$read_fossils("nam_large", "now_2020_nam"), c("max_age", "min_age"), age = 1, place = 1000)
  )
  early <- near(common$read_tetrapods(), c("max_ma", "min_ma"), age = 4, place = 1000)
  birds <- common$if_there(first_visit())
  Filter(length, list(g10s2 = europe, nam_large = america, early_tetrapods = early, mhb2014 = birds))
}

# Birds: the first visit is fitted; a zero is false where a later visit found the species. 25 km apart counts as much as
# 200 m of height.
first_visit <- function() {
  birds <- common$read_birds()
  seen <- birds$seen[, colSums(birds$seen[, , 1L]) > 0, ]
  truth <- apply(seen, 1:2, any)
  truth[seen[, , 1L]] <- NA
  apart <- stats::dist(birds$sites[c("coordx", "coordy")]) / 25000 + stats::dist(birds$sites$elev) / 200
  list(x = seen[, , 1L] + 0, truth = truth, near = smooth_over(distance = apart, bandwidth = 1, strength = 10))
}

# Genus frequency in an exponential kernel of age, the site itself left out.
age_kernel <- function(x, age, bandwidth = 1) {
  w <- exp(-abs(outer(age, age, "-")) / bandwidth)
  diag(w) <- 0
  (w / rowSums(w)) %*% x
}

smoothed <- function(x, near) {
  k <- c(8, 12, 16, 20, 24)
  ensemble(x, k = k, members = 2, estimate = "map", phantom = "white", smooth = near, control = short)
}

# The unsmoothed ensemble that ?ensemble recommends, one member for each k and estimate.
unsmoothed <- function(x) {
  ensemble(x, grid = list(estimate = c("ml", "map")), prior = list(aspects = c(1.2, 2), membership = 1.1), members = 1)
}

one_fit <- function(x, near = NULL) {
  suppressWarnings(
    aspect_bernoulli(x, 13, estimate = "map", prior = weak, phantom = "white", smooth = near, control = short)
  )
}

cell_missed <- common$in_package(function(fit) cell_scores(fit, seq_len(nrow(fit$x)), phantoms(fit)$kind)$missed)

scores_of <- function(x, near, age) {
  quiet <- function(expr) suppressMessages(suppressWarnings(expr))
  both <- list(without = quiet(one_fit(x)), with = quiet(one_fit(x, near)))
  missed <- lapply(both, cell_missed)
  c(
    list(
      `smoothed ensemble` = fitted(quiet(smoothed(x, near))), `unsmoothed ensemble` = fitted(quiet(unsmoothed(x))),
      `one fit, smoothed` = fitted(both$with), `one fit, unsmoothed` = fitted(both$without),
      `one fit, smoothed: missed` = missed$with, `one fit, unsmoothed: missed` = missed$without
    ),
    if (has_beals) list(`vegan::beals` = suppressMessages(vegan::beals(x, include = FALSE))),
    if (!is.null(age)) list(`age kernel` = age_kernel(x, age)),
    quiet(others(x, near))
  )
}

# The other models, and two of them with neighbours: in a mixture strength is in log-odds. A Poisson mean stands for the
# probability of at least one.
others <- function(x, near) {
  mixture <- function(...) fitted(bernoulli_mixture(x, 12, ..., estimate = "map", control = short))
  # plsa() takes no site without counts: such a site has the mean of the others.
  kept <- rowSums(x) > 0
  counts <- function(...) {
    fit <- plsa(x[kept, ], 6, estimate = "ml", ..., control = short)
    out <- matrix(colMeans(1 - exp(-fitted(fit))), nrow(x), ncol(x), byrow = TRUE)
    out[kept, ] <- 1 - exp(-fitted(fit))
    out
  }
  labels <- near
  labels$strength <- 5
  list(
    `logistic_pca, k = 2` = fitted(logistic_pca(x, 2, control = short)),
    `bernoulli_mixture, k = 12, map` = mixture(), `bernoulli_mixture, k = 12, map, smoothed` = mixture(smooth = labels),
    `nmf (euclidean), k = 6` = fitted(nmf(x, 6, control = short)),
    `plsa, k = 6` = counts(), `plsa, k = 6, smoothed` = counts(smooth = of_sites(near, kept)),
    `noisy_or, k = 6` = fitted(noisy_or(x, 6, inference = "truncated", control = brief))
  )
}

measure <- function(scores, truth) {
  do.call(rbind, lapply(names(scores), function(name) {
    s <- recovery(scores[[name]], truth)$summary
    data.frame(score = name, s[c("auc", "auc_within", "ap", "slope")])
  }))
}

# Means, and the smoothed ensemble's lead over each in standard errors of the paired difference.
table_of <- function(all) {
  best <- all[all$score == "smoothed ensemble", ]
  best <- best[order(best$replicate), ]
  cat("| score | AUC | lead (se) | AUC within sites | lead (se) | average precision | calibration slope |\n")
  cat("|---|---|---|---|---|---|---|\n")
  for (name in unique(all$score)) {
    mine <- all[all$score == name, ]
    mine <- mine[order(mine$replicate), ]
    lead <- function(column) {
      d <- best[[column]] - mine[[column]]
      if (name == "smoothed ensemble") "" else sprintf("%.4f (%.4f)", mean(d), stats::sd(d) / sqrt(length(d)))
    }
    cat(sprintf(
      "| %s | %.4f | %s | %.4f | %s | %.3f | %.2f |\n", name, mean(mine$auc), lead("auc"), mean(mine$auc_within),
      lead("auc_within"), mean(mine$ap), mean(mine$slope)
    ))
  }
  cat("\n")
}

# Calibration slopes: of a logistic regression of the truth on the log-odds. For `missed` the truth is what was planted;
# for cells it is their own value, hidden from the fit.
calibration_of <- function(all, x, near) {
  set.seed(78)
  held <- multicause:::cell_folds(matrix(TRUE, nrow(x), ncol(x)), 5)
  hidden <- vapply(list(NULL, near), function(near) {
    p <- x
    for (each in held) p[each] <- fitted(suppressMessages(one_fit(replace(x, each, NA), near)))[each]
    odds <- stats::qlogis(pmin(pmax(p, 1e-6), 1 - 1e-6))
    stats::glm.fit(cbind(1, as.vector(odds)), as.vector(x), family = stats::binomial())$coefficients[[2L]]
  }, 0)
  missed <- vapply(c("unsmoothed", "smoothed"), function(how) {
    mean(all$slope[all$score == sprintf("one fit, %s: missed", how)])
  }, 0)
  cat(sprintf("Calibration slopes without and with neighbours: `missed` %.2f and %.2f, hidden cells %.2f and %.2f\n\n",
    missed[1L], missed[2L], hidden[1L], hidden[2L]))
}

# The neighbours of some of the sites, in their order.
of_sites <- function(near, at) {
  at <- seq_len(near$n)[at]
  near$given <- lapply(stats::setNames(names(near$given), names(near$given)), function(name) {
    if (name == "distance") near$given[[name]][at, at] else near$given[[name]][at, , drop = FALSE]
  })
  near$n <- length(at)
  near
}

# The same ages and places, dealt to other sites: what is gained without any real neighbour.
shuffled <- function(near) of_sites(near, sample.int(near$n))

held_out <- function(x, near) {
  set.seed(79)
  tried <- list(without = NULL, with = near, shuffled = shuffled(near), free = replace(near, "recording", 0))
  set.seed(77)
  cv <- suppressWarnings(cross_validate(
    x, k = 13, aspect_bernoulli, estimate = "map", prior = weak, phantom = "white", folds = 5, control = short,
    grid = list(smooth = tried)
  ))
  loss <- split(cv$folds$loss, cv$folds$setting)
  gain <- lapply(loss, function(each) loss[[1L]] - each)
  said <- c("without", "with neighbours", "with ages and places shuffled", "with neighbours, recording = 0")
  cat("Held-out cells, nats a cell (5 folds, k = 13), and gain over none (se over folds):\n\n")
  cat("| | loss | gain |\n|---|---|---|\n")
  for (i in seq_along(said)) {
    cat(sprintf(
      "| %s | %.5f | %.5f (%.5f) |\n", said[i], mean(loss[[i]]), mean(gain[[i]]), stats::sd(gain[[i]]) / sqrt(5)
    ))
  }
  cat("\n")
}

for (name in names(found <- tables())) {
  table <- found[[name]]
  n <- if (length(table$truth)) min(n_replicate, 3L) else n_replicate # of the birds starts alone differ
  cat(sprintf("## %s, %d x %d, %d replicates\n\n", name, nrow(table$x), ncol(table$x), n))
  all <- do.call(rbind, lapply(seq_len(n), function(replicate) {
    set.seed((if (length(table$truth)) 2000 else 1000) + replicate)
    planted <- if (length(table$truth)) table else corrupt(table$x, omit = c(0, 0.4))
    truth <- if (length(table$truth)) table$truth else planted
    data.frame(replicate = replicate, measure(scores_of(planted$x, table$near, table$age), truth))
  }))
  table_of(all)
  held_out(table$x, table$near)
  calibration_of(all, table$x, table$near)
}
