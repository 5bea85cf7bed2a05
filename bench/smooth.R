# Do neighbours help to find false absences? Planted omissions (deleted with a rate of its own in each site, uniform on
# [0, 0.4]) in three fossil tables, and birds found on a later visit; smoothed and unsmoothed fits against
# vegan::beals(), the age kernel and the other models. All settings were fixed on replicates with other seeds.
# MULTICAUSE_REPLICATES (default 10) shortens it. Results are kept in bench/smooth.md.
library(multicause)
n_replicate <- as.integer(Sys.getenv("MULTICAUSE_REPLICATES", "10"))
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
has_beals <- requireNamespace("vegan", quietly = TRUE)
short <- fit_control(n_start = 1, n_polish = 0, max_pass = 500, tol = 1e-7, progress = FALSE)
brief <- fit_control(n_start = 1, n_polish = 0, max_pass = 60, tol = 1e-5, progress = FALSE)
weak <- list(aspects = c(1.2, 2), membership = 1)

read_now_set <- function(set, name) {
  file <- file.path(folder, set, sprintf("%s_%s.csv", name, c("occ", "sites")))
  if (!all(file.exists(file))) {
    return(NULL)
  }
  occ <- utils::read.csv(file[1L])
  x <- matrix(0, max(occ$site_id), max(occ$genus_id))
  x[cbind(occ$site_id, occ$genus_id)] <- 1
  list(x = x, sites = utils::read.csv(file[2L]))
}

tables <- function() {
  out <- list()
  g10s2 <- read_now_set("now_2003", "g10s2")
  if (!is.null(g10s2)) {
    near <- smooth_over(age = g10s2$sites$age_ma, bandwidth = 1, strength = 10)
    out$g10s2 <- list(x = g10s2$x, near = near, age = g10s2$sites$age_ma)
  }
  nam <- read_now_set("now_2020_nam", "nam_large")
  if (!is.null(nam)) {
    near <- smooth_over(
      age = nam$sites[c("max_age", "min_age")], place = nam$sites[c("long", "lat")],
      bandwidth = c(age = 1, place = 1000), strength = 10
    )
    out$nam_large <- list(x = nam$x, near = near, age = nam$sites$mid_age)
  }
  sites <- multicause::early_tetrapods$sites
  near <- smooth_over(
    age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")], bandwidth = c(age = 4, place = 1000),
    strength = 10
  )
  out$early_tetrapods <- list(x = unname(multicause::early_tetrapods$x), near = near, age = sites$age)
  out
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

scores_of <- function(x, near, age) {
  quiet <- function(expr) suppressMessages(suppressWarnings(expr))
  both <- list(without = quiet(one_fit(x)), with = quiet(one_fit(x, near)))
  missed <- lapply(both, function(fit) multicause:::cell_scores(fit, seq_len(nrow(x)), phantoms(fit)$kind)$missed)
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
# chance of at least one.
others <- function(x, near) {
  mixture <- function(..., estimate = "ml") fitted(bernoulli_mixture(x, 12, ..., estimate = estimate, control = short))
  least_one <- function(fit) 1 - exp(-fitted(fit))
  labels <- near
  labels$strength <- 5
  list(
    `logistic_pca, k = 2` = fitted(logistic_pca(x, 2, control = short)),
    `bernoulli_mixture, k = 12` = mixture(), `bernoulli_mixture, k = 12, map` = mixture(estimate = "map"),
    `bernoulli_mixture, k = 12, map, smoothed` = mixture(estimate = "map", smooth = labels),
    `nmf (kl), k = 6` = least_one(nmf(x, 6, loss = "kl", control = short)),
    `nmf (euclidean), k = 6` = fitted(nmf(x, 6, control = short)),
    `plsa, k = 6` = least_one(plsa(x, 6, estimate = "ml", control = short)),
    `plsa, k = 6, smoothed` = least_one(plsa(x, 6, estimate = "ml", smooth = near, control = short)),
    `noisy_or, k = 6` = fitted(noisy_or(x, 6, inference = "truncated", control = brief))
  )
}

measure <- function(scores, truth) {
  do.call(rbind, lapply(names(scores), function(name) {
    s <- recovery(scores[[name]], truth)$summary
    data.frame(score = name, s[c("auc", "auc_within", "ap", "slope", "intercept")])
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

# Calibration: slope and intercept of a logistic regression of the truth on the log-odds. For `missed` the truth is what
# was planted, beside which there is what was missing before: the intercept is then below 0 for a true score, too. For
# cells it is their own value, hidden from the fit.
calibration_of <- function(all, x, near) {
  line <- function(score) {
    mine <- all[all$score == score, ]
    c(slope = mean(mine$slope), intercept = mean(mine$intercept))
  }
  set.seed(78)
  held <- multicause:::cell_folds(matrix(TRUE, nrow(x), ncol(x)), 5)
  cells <- function(near) {
    p <- x
    for (each in held) p[each] <- fitted(suppressMessages(one_fit(replace(x, each, NA), near)))[each]
    odds <- stats::qlogis(pmin(pmax(p, 1e-6), 1 - 1e-6))
    line <- stats::glm.fit(cbind(1, as.vector(odds)), as.vector(x), family = stats::binomial())$coefficients
    c(slope = line[[2L]], intercept = line[[1L]], expected = mean(p), found = mean(x))
  }
  both <- list(without = cells(NULL), with = cells(near))
  missed <- list(without = line("one fit, unsmoothed: missed"), with = line("one fit, smoothed: missed"))
  cat("Calibration, logistic regression of the truth on the log-odds:\n\n")
  heads <- c(
    "one fit, k = 13", "`missed`: slope", "intercept", "hidden cells: slope", "intercept", "mean probability",
    "share found"
  )
  cat("|", paste(heads, collapse = " | "), "|\n")
  cat("|---|---|---|---|---|---|---|\n")
  for (name in names(both)) {
    cat(sprintf(
      "| %s neighbours | %.2f | %.2f | %.2f | %.2f | %.4f | %.4f |\n", name, missed[[name]][["slope"]],
      missed[[name]][["intercept"]], both[[name]][["slope"]], both[[name]][["intercept"]], both[[name]][["expected"]],
      both[[name]][["found"]]
    ))
  }
  cat("\n")
}

# The same ages and places, dealt to other sites: what is gained without any real neighbour.
shuffled <- function(near) {
  at <- with(near, sample.int(n))
  near$given <- lapply(stats::setNames(names(near$given), names(near$given)), function(name) {
    if (name == "distance") near$given[[name]][at, at] else near$given[[name]][at, , drop = FALSE]
  })
  near
}

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
  cat(sprintf("## %s, %d x %d, %d replicates\n\n", name, nrow(table$x), ncol(table$x), n_replicate))
  all <- do.call(rbind, lapply(seq_len(n_replicate), function(replicate) {
    set.seed(1000 + replicate)
    planted <- corrupt(table$x, omit = c(0, 0.4))
    data.frame(replicate = replicate, measure(scores_of(planted$x, table$near, table$age), planted))
  }))
  table_of(all)
  held_out(table$x, table$near)
  calibration_of(all, table$x, table$near)
}

# Birds: the first visit is fitted; a zero is false where a later visit found the species.
read_birds <- function() {
  file <- file.path(folder, "repeat_surveys", c("mhb2014_counts.csv.gz", "mhb2014_sites.csv"))
  if (!all(file.exists(file))) {
    return(NULL)
  }
  counts <- utils::read.csv(file[1L])
  sites <- utils::read.csv(file[2L])
  found <- lapply(1:3, function(visit) {
    seen <- matrix(0, nrow(sites), max(counts$species))
    mine <- counts[counts$visit == visit, ]
    seen[cbind(mine$site, mine$species)] <- 1
    seen
  })
  use <- which(sites$surveyed1 == 1 & sites$surveyed2 == 1)
  any <- (found[[1L]] + found[[2L]] + found[[3L]] > 0)[use, ]
  species <- which(colSums(found[[1L]][use, ]) > 0)
  list(x = found[[1L]][use, species], any = any[, species], sites = sites[use, ])
}

birds <- read_birds()
if (!is.null(birds)) {
  cat(sprintf("## mhb2014, first visit, %d x %d\n\n", nrow(birds$x), ncol(birds$x)))
  # 25 km apart counts as much as 200 m of height.
  apart <- stats::dist(birds$sites[c("coordx", "coordy")]) / 25000 + stats::dist(birds$sites$elev) / 200
  near <- smooth_over(distance = apart, bandwidth = 1, strength = 10)
  truth <- birds$any & birds$x == 0
  truth[birds$x == 1] <- NA
  all <- do.call(rbind, lapply(seq_len(min(n_replicate, 3L)), function(replicate) {
    set.seed(2000 + replicate)
    data.frame(replicate = replicate, measure(scores_of(birds$x, near, NULL), truth))
  }))
  cat("Replicates differ in their starts only: standard errors are of these, not of the data.\n\n")
  table_of(all)
  held_out(birds$x, near)
  calibration_of(all, birds$x, near)
}

# Cost of a pass, CPU time, without and with neighbours.
pass_cost <- function(model, x, near, k = 13) {
  seconds <- function(smooth, n) {
    plain <- fit_control(
      n_start = 1, n_polish = 0, max_pass = n, tol = 0, accelerate = FALSE, progress = FALSE, screen = FALSE
    )
    set.seed(5)
    system.time(suppressWarnings(model(x, k, smooth = smooth, control = plain)))[["user.self"]]
  }
  a_pass <- function(smooth) (seconds(smooth, 420) - seconds(smooth, 20)) / 0.4
  ms <- replicate(5, c(a_pass(NULL), a_pass(near)))
  apply(ms, 1L, stats::median)
}

cat("## Cost\n\n")
if (!is.null(found$g10s2)) {
  cat("A pass at 501 x 139, k = 13, one thread, 37 neighbours a site, ms (medians of 5):\n\n")
  cat("| model | without | with | ratio |\n|---|---|---|---|\n")
  for (name in c("aspect_bernoulli", "bernoulli_mixture", "plsa")) {
    ms <- pass_cost(get(name), found$g10s2$x, found$g10s2$near)
    cat(sprintf("| `%s()` | %.3f | %.3f | %.2f |\n", name, ms[1L], ms[2L], ms[2L] / ms[1L]))
  }
}
set.seed(6)
n <- 20000
age <- stats::runif(n, 0, 20)
big <- methods::as(Matrix::rsparsematrix(n, 100, 0.05, rand.x = function(n) rep(1, n)), "CsparseMatrix")
place <- cbind(lng = stats::runif(n, -10, 40), lat = stats::runif(n, 35, 60))
near <- smooth_over(age = age, place = place, bandwidth = c(age = 0.5, place = 300), strength = 10)
control <- fit_control(n_start = 1, max_pass = 20, tol = 0, progress = FALSE, screen = FALSE, n_polish = 0)
time <- system.time(suppressWarnings(
  aspect_bernoulli(big, 8, estimate = "map", phantom = "white", smooth = near, control = control)
))
cat(sprintf(
  "\n20 000 sites x 100, k = 8, age and place, 20 passes, neighbour lists included: %.1f s CPU\n", time[["user.self"]]
))
