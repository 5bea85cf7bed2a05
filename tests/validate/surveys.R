# Real tables where some false absences are known (folders repeat_surveys and turkana): detection of the model of visits
# against single-species occupancy models, the first visit alone against the answer of all visits, and the calibration
# of `missed`, where a later visit, or the full sample, tells of false absences. Draws bench/calibration.png where there
# is a folder bench.
library(multicause)
Sys.setenv(NOT_CRAN = "true")
data <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
folder <- file.path(data, "repeat_surveys")
if (!dir.exists(folder)) {
  cat("repeat_surveys is not at hand: skipped\n")
  quit()
}
control <- fit_control(n_start = 3, max_iter = 2000, tol = 1e-8, progress = FALSE)
flat <- list(aspects = c(1, 1), membership = 1)
helpers <- new.env(parent = asNamespace("multicause"))
for (file in c("helper-data.R", "helper-surveys.R")) sys.source(file.path("tests", "testthat", file), helpers)
still <- function(expr) suppressWarnings(suppressMessages(expr))

# By unmarked where it is installed, else the tests' own.
occupancy <- function(y) {
  if (!requireNamespace("unmarked", quietly = TRUE)) {
    return(helpers$ref_occupancy(y))
  }
  visit <- data.frame(visit = factor(rep(seq_len(ncol(y)), nrow(y))))
  fit <- unmarked::occu(~ visit - 1 ~ 1, unmarked::unmarkedFrameOccu(y, obsCovs = visit))
  p <- plogis(unmarked::coef(fit, "det"))
  list(p = unname(p), se = unname(sqrt(diag(unmarked::vcov(fit, "det"))) * p * (1 - p)))
}

# Largest distance of each species' detection from its occupancy model's, in standard errors; species with 30 or more.
compare_detection <- function(visits, name, k) {
  common <- colnames(visits)[apply(visits, 2, sum, na.rm = TRUE) >= 30]
  reference <- lapply(setNames(nm = common), function(one) occupancy(visits[, one, ]))
  usable <- vapply(reference, function(one) all(is.finite(one$se)), NA)
  for (components in k) {
    set.seed(5)
    fit <- still(visits_bernoulli(visits, k = components, estimate = "ml", missed_by = "taxon", control = control))
    off <- vapply(common[usable], function(one) {
      max(abs(1 - fit$param$missed[one, ] - reference[[one]]$p) / reference[[one]]$se)
    }, 0)
    apart <- vapply(common[usable], function(one) max(abs(1 - fit$param$missed[one, ] - reference[[one]]$p)), 0)
    cat(sprintf(
      "| %s | %d | %d | %d | %.2f | %.2f | %.3f |\n", name, components, length(off), sum(off <= 2), median(off),
      max(off), median(apart)
    ))
  }
  cat(sprintf("| %s: no standard error | | %d | | | | |\n", name, sum(!usable)))
}

# P(present | all visits) of every cell.
visit_posterior_of <- function(fit) {
  cells <- false_absences(fit, Inf)
  out <- 1 * (apply(fit$visits, 1:2, function(v) any(v %in% 1)))
  out[cbind(match(cells$site, rownames(fit$x)), match(cells$taxon, colnames(fit$x)))] <- cells$missed
  out
}

# What the first visit missed: as all visits have it, by whose the misses are, and as that visit alone has it.
first_alone <- function(visits, name, contents) {
  made <- !is.na(visits[, 1, 1])
  x <- visits[made, , 1]
  zero <- x == 0
  later <- apply(visits[made, , -1, drop = FALSE], 1:2, function(v) if (all(is.na(v))) NA else any(v %in% 1))
  later[!zero] <- NA
  set.seed(6)
  all <- lapply(c(visit = "visit", site = "site", taxon = "taxon"), function(by) {
    fit <- still(visits_bernoulli(visits, k = contents, estimate = "ml", missed_by = by, control = control))
    visit_posterior_of(fit)[made, ]
  })
  answer <- vapply(all, function(present) sum(present[zero]), 0)
  fit <- still(aspect_bernoulli(x, contents + 1, estimate = "vb", prior = flat, phantom = "white", control = control))
  sure <- identifiability(fit, draws = posterior_draws(fit, 40), cells = TRUE)
  bound <- function(which) round(unlist(sure$expected[sure$expected$bound == which, c("least", "most")]))
  # By the phantom, by attribute, by both; the larger of the end at the estimate and over draws.
  most <- c(max(bound("outer")[2], sure$sampling$expected_most[1]), pmax(sure$unlike$most, sure$unlike$draws_most))
  cat(sprintf(
    "| %s | %d | %d of %d | %s | %.0f | %s | %.0f / %.0f / %.0f | %s |\n", name, contents, sum(later, na.rm = TRUE),
    sum(zero), paste(sprintf("%.0f", answer), collapse = " / "), summary(fit)$expected_false$absences[["expected"]],
    paste(bound("inner"), collapse = " to "), most[1], most[2], most[3],
    paste(vapply(answer, function(one) c("site", "taxon", "both")[one <= most][1], ""), collapse = " / ")
  ))
  score <- 0 * x
  at <- cbind(match(sure$cells$site, rownames(x)), match(sure$cells$taxon, colnames(x)))
  score[at] <- sure$cells$missed
  list(name = name, score = score, truth = later, present = all$taxon)
}

# Turkana Basin, the specimens of each site drawn down to a random share: what the full sample has and the draw lacks.
rarefied <- function(seed) {
  counts <- read.csv(file.path(data, "turkana", "turkana_counts.csv"))
  full <- unclass(xtabs(n_specimens ~ site_id + genus, counts))
  full <- full[rowSums(full) >= 20, ]
  full <- full[, colSums(full > 0) >= 5]
  set.seed(seed)
  keep <- runif(nrow(full), 0.1, 1)
  thin <- matrix(rbinom(length(full), full, keep), nrow(full), dimnames = dimnames(full))
  thin <- thin[rowSums(thin) > 0, ]
  truth <- full[rownames(thin), ] > 0
  truth[thin > 0] <- NA
  fit <- still(
    aspect_bernoulli((thin > 0) + 0, 4, estimate = "vb", prior = flat, phantom = "white", control = control)
  )
  cells <- false_absences(fit, Inf)
  score <- 0 * thin
  score[cbind(match(cells$site, rownames(thin)), match(cells$taxon, colnames(thin)))] <- cells$missed
  list(score = score, truth = truth)
}

show_calibration <- function(case) {
  found <- recovery(case$score, case$truth)
  candidate <- !is.na(case$truth)
  score <- case$score[candidate]
  group <- ceiling(10 * rank(score) / length(score))
  mean_of <- function(values) as.vector(tapply(values, group, mean))
  table <- data.frame(score = mean_of(score), known = mean_of(case$truth[candidate]))
  table$modelled <- if (is.null(case$present)) NA else mean_of(case$present[candidate])
  cat(sprintf(
    "\n%s, %d zeros: against those known to be false slope %.2f, intercept %.2f, AUC %.3f\n\n", case$name,
    sum(candidate), found$summary$slope, found$summary$intercept, found$summary$auc
  ))
  cat("| tenth of the zeros by `missed` | mean `missed` | known to be false | false by the model of all visits |\n")
  cat("| --- | --- | --- | --- |\n")
  shown <- sprintf("| %d | %.3f | %.3f | %.3f |", seq_along(table$score), table$score, table$known, table$modelled)
  writeLines(shown)
  table$name <- case$name
  table
}

draw_calibration <- function(tables) {
  if (!dir.exists("bench")) {
    return(invisible())
  }
  png("bench/calibration.png", 1000, 360, res = 110)
  par(mfrow = c(1, length(tables)), mar = c(4.2, 4.2, 2.2, 0.6), pty = "s")
  for (table in tables) {
    top <- max(table[1:3], na.rm = TRUE)
    plot(NA, xlim = c(0, top), ylim = c(0, top), xlab = "mean `missed`", ylab = "share of the zeros", las = 1)
    title(table$name[1])
    abline(0, 1, col = "grey70")
    points(table$score, table$modelled, pch = 1, col = "grey30", type = "b")
    points(table$score, table$known, pch = 19, col = "#0072B2", type = "b")
    shown <- seq_len(if (all(is.na(table$modelled))) 1 else 2)
    labels <- c("known to be false", "by all visits")[shown]
    legend("topleft", labels, pch = c(19, 1)[shown], col = c("#0072B2", "grey30")[shown], bty = "n")
  }
  dev.off()
}

surveys <- list(hbef2015 = helpers$hbef_visits(), mhb2014 = helpers$swiss_visits())
cat("Detection, species with 30 or more\n\n")
cat("| survey | k | species | within 2 s.e. | median, s.e. | most, s.e. | median distance |\n")
cat("| --- | --- | --- | --- | --- | --- | --- |\n")
compare_detection(surveys$hbef2015, "hbef2015", 1:3)
compare_detection(surveys$mhb2014, "mhb2014", c(1, 4, 8))
cat("\nFalse absences of visit 1: all visits, missed by visit / observation / attribute, against visit 1 alone\n\n")
cat("| survey | contents | found later | all visits | as fitted | inner | most, by observation / attribute / both |")
cat(" the narrowest that covers |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
cases <- unlist(lapply(names(surveys), function(name) {
  lapply(c(1, 2, 4), function(contents) first_alone(surveys[[name]], name, contents))
}), recursive = FALSE)
thinned <- lapply(1:10, rarefied)
turkana <- list(
  name = "turkana, rarefied", score = do.call(rbind, lapply(thinned, `[[`, "score")),
  truth = do.call(rbind, lapply(thinned, `[[`, "truth"))
)
shown <- lapply(list(cases[[2]], cases[[6]], turkana), show_calibration) # printed with or without a figure
draw_calibration(shown)
