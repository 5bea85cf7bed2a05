# Are the probabilities that false_absences() gives, and the bounds of identifiability(), right? Simulated tables with
# planted omissions, MULTICAUSE_SETS of them (50): the calibration slope of `missed` with the truth at the convention
# under test, and how many cells' true probabilities the reported interval covers where the truth is anywhere in the
# bounds. First the same of tables that were not drawn as the model has it; MULTICAUSE_PART=others stops after them.
library(multicause)
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "50"))
part <- Sys.getenv("MULTICAUSE_PART", "all")
quick <- fit_control(n_start = 2, max_iter = 400, tol = 1e-7, progress = FALSE)
vb_prior <- function(aspects, membership) list(aspects = c(aspects, aspects), membership = membership)
estimators <- list(
  ml = list("ml"), map = list("map"), vb = list("vb"), vb_flat_aspects = list("vb", vb_prior(1, 0.5)),
  vb_flat_membership = list("vb", vb_prior(0.5, 1)), vb_flat = list("vb", vb_prior(1, 1))
)

fit_table <- function(x, estimator, k = 4) {
  arguments <- list(x, k, estimate = estimator[[1]], phantom = "white", control = quick)
  if (length(estimator) > 1) arguments$prior <- estimator[[2]]
  suppressWarnings(do.call(aspect_bernoulli, arguments))
}

# k - 1 contents and a phantom. The truth is at the maximal convention where every content aspect reaches 1 (`top` 1),
# at the minimal one where some rows are all content (`full`), and anywhere in the bounds where neither holds.
draw_set <- function(n, m, k, top, full, shape) {
  s <- matrix(rexp(n * (k - 1))^2, n)
  share <- rbeta(n, 1, 1.5)
  share[seq_len(full)] <- 0
  a <- matrix(rbeta((k - 1) * m, shape[1], shape[2]), k - 1)
  a <- (if (is.na(top)) runif(k - 1, 0.4, 1) else top) * a / apply(a, 1, max)
  present <- (s / rowSums(s)) %*% a
  planted <- corrupt(matrix(rbinom(n * m, 1, present), n), omit = share)
  p <- (1 - share) * present
  list(planted = planted, x = planted$x, missed = share * present / (1 - p))
}

missed_matrix <- function(fit, ...) {
  cells <- false_absences(fit, Inf, ...)
  out <- 0 * fitted(fit)
  out[cbind(cells$site, cells$taxon)] <- cells$missed
  out
}

calibration_of <- function(seed, setting, which = names(estimators)) {
  set.seed(seed)
  set <- do.call(draw_set, setting$draw)
  rows <- vapply(estimators[which], function(estimator) {
    fit <- fit_table(set$x, estimator, setting$draw$k)
    score <- missed_matrix(fit, phantom_convention = setting$convention)
    found <- recovery(score, set$planted)$summary
    c(slope = found$slope, intercept = found$intercept, ratio = sum(score[set$x == 0]) / found$changed, auc = found$auc)
  }, numeric(4))
  best <- recovery(set$missed, set$planted)$summary
  cbind(rows, truth = c(best$slope, best$intercept, sum(set$missed[set$x == 0]) / best$changed, best$auc))
}

show_mean <- function(values, digits = 2) {
  sprintf("%.*f (%.*f)", digits, mean(values), digits + 1, sd(values) / sqrt(length(values)))
}

report_slopes <- function(label, setting, sets = n_sets, which = names(estimators)) {
  result <- vapply(seq_len(sets), calibration_of, matrix(0, 4, length(which) + 1), setting = setting, which = which)
  cat(sprintf("\n%s: %d sets; mean (Monte Carlo error)\n\n", label, sets))
  cat("| estimate | slope | intercept | expected / true number | AUC |\n| --- | --- | --- | --- | --- |\n")
  for (name in dimnames(result)[[2]]) {
    cat(sprintf("| %s | %s |\n", name, paste(apply(result[, name, ], 1, show_mean), collapse = " | ")))
  }
  invisible(result)
}

setting <- function(convention, top, full, n = 300, m = 80, k = 4, shape = c(0.3, 0.9)) {
  list(convention = convention, draw = list(n = n, m = m, k = k, top = top, full = full, shape = shape))
}

# Other ways a table may come about. Each returns planted, x and the true probabilities, as draw_set() does; `present`
# is what would be recorded without losses, `share` of each site's presences are lost.
lose <- function(present, share) {
  planted <- corrupt(matrix(rbinom(length(present), 1, present), nrow(present)), omit = share)
  p <- (1 - share) * present
  list(planted = planted, x = planted$x, missed = share * present / (1 - p))
}

mixed_faunas <- function(n, m, shape = c(0.3, 0.9), k = 3) {
  s <- matrix(rexp(n * k)^2, n)
  a <- matrix(rbeta(k * m, shape[1], shape[2]), k)
  (s / rowSums(s)) %*% (a / apply(a, 1, max))
}

one_fauna <- function(n, m, shape = c(0.3, 0.9), k = 3) {
  a <- matrix(rbeta(k * m, shape[1], shape[2]), k)
  (a / apply(a, 1, max))[sample(k, n, TRUE), ]
}

# Each taxon is commonest somewhere along a gradient of length 1, which its range of 2 `width` crosses.
gradient <- function(n, m, width) {
  at <- runif(n)
  top <- runif(m, -0.1, 1.1)
  sweep(exp(-outer(at, top, "-")^2 / (2 * width^2)), 2, runif(m, 0.3, 1), "*")
}

uneven <- function(n) rbeta(n, 1, 1.5)
some_lost <- function(n) ifelse(runif(n) < 0.5, 0, rbeta(n, 4, 2))
n <- 150
m <- 40
others <- list(
  "mixed faunas (the model itself)" = list(k = 4, draw = function() lose(mixed_faunas(n, m), uneven(n))),
  "mixed faunas, half of the sites complete" = list(k = 4, draw = function() lose(mixed_faunas(n, m), some_lost(n))),
  "mixed faunas, k one too small" = list(k = 3, draw = function() lose(mixed_faunas(n, m), uneven(n))),
  "mixed faunas, k two too large" = list(k = 6, draw = function() lose(mixed_faunas(n, m), uneven(n))),
  "one fauna a site" = list(k = 4, draw = function() lose(one_fauna(n, m), uneven(n))),
  "one fauna a site, denser" = list(k = 4, draw = function() lose(one_fauna(n, m, c(1, 1)), uneven(n))),
  "one fauna a site, half of the sites complete" = list(k = 4, draw = function() lose(one_fauna(n, m), some_lost(n))),
  "gradient, wide ranges" = list(k = 4, draw = function() lose(gradient(n, m, 0.3), uneven(n))),
  "gradient, narrow ranges" = list(k = 4, draw = function() lose(gradient(n, m, 0.1), uneven(n))),
  "gradient, narrow ranges, k = 7" = list(k = 7, draw = function() lose(gradient(n, m, 0.1), uneven(n))),
  "no losses, mixed faunas" = list(k = 4, draw = function() lose(mixed_faunas(n, m), numeric(n))),
  "no losses, one fauna a site" = list(k = 4, draw = function() lose(one_fauna(n, m), numeric(n))),
  "no losses, gradient, narrow ranges" = list(k = 4, draw = function() lose(gradient(n, m, 0.1), numeric(n)))
)

# inside: of the zeros, those whose true probability is in the central 90 % of `missed` over 20 posterior draws; below:
# those whose true probability is at most the upper 95 % quantile of `missed_most`, as identifiability() gives it.
other_set <- function(seed, other) {
  set.seed(seed)
  set <- other$draw()
  fit <- fit_table(set$x, estimators$vb_flat, other$k)
  score <- missed_matrix(fit)
  kinds <- c(rep("content", other$k - 1), "white")
  zero <- set$x == 0
  at <- which(zero, arr.ind = TRUE)
  drawn <- vapply(posterior_draws(fit, 20), function(draw) {
    cells <- false_absences(draw, Inf, kinds = kinds, x = set$x)
    as.matrix(cells[order(cells$taxon, cells$site), c("missed", "missed_most")])
  }, matrix(0, sum(zero), 2))
  ends <- apply(drawn[, 1, ], 1, quantile, c(0.05, 0.95), type = 8)
  true <- set$missed[at]
  lost <- sum(set$planted$omitted[zero])
  found <- if (lost > 0) recovery(score, set$planted)$summary else list(slope = NA, intercept = NA, auc = NA)
  c(
    slope = found$slope, intercept = found$intercept, auc = found$auc, lost = lost, expected = sum(score[zero]),
    zeros = sum(zero), inside = mean(true >= ends[1, ] - 1e-9 & true <= ends[2, ] + 1e-9),
    below = mean(true <= apply(drawn[, 2, ], 1, quantile, 0.95, type = 8) + 1e-9)
  )
}

cat(sprintf("Other tables, %d x %d, vb_flat: %d sets each; mean (Monte Carlo error)\n\n", n, m, n_sets))
cat("| tables | slope | intercept | AUC | lost | expected | expected / lost | in the interval | below the end |\n")
cat(strrep("| --- ", 9), "|\n", sep = "")
for (name in names(others)) {
  found <- vapply(seq_len(n_sets), other_set, numeric(8), other = others[[name]])
  shown <- function(values, digits = 2) if (all(is.finite(values))) show_mean(values, digits) else ""
  cat(sprintf(
    "| %s | %s | %s | %s | %.0f of %.0f | %.0f | %s | %s | %s |\n", name, shown(found["slope", ]),
    shown(found["intercept", ]), shown(found["auc", ]), mean(found["lost", ]), mean(found["zeros", ]),
    mean(found["expected", ]), shown(found["expected", ] / found["lost", ]), shown(found["inside", ]),
    shown(found["below", ], 3)
  ))
}
if (part == "others") quit()

slopes <- report_slopes("Truth and answer at the maximal convention, 300 x 80, k = 4", setting("maximal", 1, 0))
report_slopes("Truth and answer at the minimal convention, 300 x 80, k = 4", setting("minimal", NA, 15))
few <- max(2, n_sets %/% 5)
report_slopes("Truth at both, answer as fitted, 300 x 80, k = 4", setting("fitted", 1, 15), few)
report_slopes("Denser aspects, Beta(1, 1), maximal", setting("maximal", 1, 0, shape = c(1, 1)), few)
report_slopes("Sparser aspects, Beta(0.2, 2), maximal", setting("maximal", 1, 0, shape = c(0.2, 2)), few)
report_slopes("Small tables, 80 x 30, k = 3, maximal", setting("maximal", 1, 0, n = 80, m = 30, k = 3), few)
report_slopes("Large tables, 600 x 200, k = 6, maximal", setting("maximal", 1, 0, n = 600, m = 200, k = 6), few)

# Coverage of every zero's true probability by [0, upper end]; the lower end is that there is no phantom.
cover <- function(seed) {
  set.seed(seed)
  set <- draw_set(300, 80, 4, NA, 0, c(0.3, 0.9))
  covered <- function(sure, column) {
    at <- cbind(sure$cells$site, sure$cells$taxon)
    mean(sure$cells[[column]] >= set$missed[at] - 1e-9)
  }
  ml <- identifiability(fit_table(set$x, estimators$ml), nsim = 20, cells = TRUE)
  fit <- fit_table(set$x, estimators$vb_flat)
  vb <- identifiability(fit, draws = posterior_draws(fit, 40), cells = TRUE)
  c(
    ml_estimate = covered(ml, "missed_outer_most"), ml_bootstrap = covered(ml, "draws_most"),
    vb_estimate = covered(vb, "missed_outer_most"), vb_draws = covered(vb, "draws_most"),
    ml_end = mean(ml$cells$draws_most), vb_end = mean(vb$cells$draws_most), true = mean(set$missed[set$x == 0])
  )
}
coverage <- vapply(seq_len(n_sets), cover, numeric(7))
cat(sprintf(
  "\nTruth anywhere in the bounds, 300 x 80, k = 4: %d sets; share of zeros whose true probability is at most\n\n",
    n_sets
))
cat("| upper end | mean (Monte Carlo error) | least of a set |\n| --- | --- | --- |\n")
means <- apply(coverage, 1, show_mean, 3)
cat(sprintf("| %s | %s | %.3f |\n", rownames(coverage), means, apply(coverage, 1, min))[1:4], sep = "")
shown <- paste(c("ml over bootstrap", "vb_flat over draws", "truth"), means[5:7], collapse = ", ")
cat("\nMean over the zeros:", shown, "\n")

slope <- slopes["slope", "vb_flat", ]
good <- c(slope = abs(mean(slope) - 1) < 0.1, coverage = mean(coverage["vb_draws", ]) >= 0.9)
cat(sprintf("\n= %d passed, %d failed, 0 skipped\n", sum(good), sum(!good)))
stopifnot(good)
