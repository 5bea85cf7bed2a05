# Does noisy_or() find what is there? The image problem (eight overlapping 8 x 8 shapes and a leak) for the three
# inferences, against the number of pictures and of sources; then author citations, and held-out cells of the paper's
# table beside aspect Bernoulli; and tables with a probability of recording, of the model itself. Results are kept in
# bench/noisy_or.md. Parts: images, citations, cells, recording.
library(multicause)
parts <- commandArgs(TRUE)
wanted <- function(part) !length(parts) || part %in% parts
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
seconds <- function(expr) sum(system.time(expr)[1:2])
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
head_row <- function(...) {
  row(...)
  row(rep("---", length(c(...))))
}

# The column assigned to each row: one to one, with the largest sum.
assigned <- function(r) {
  cost <- matrix(0, max(dim(r)), max(dim(r)))
  cost[seq_len(nrow(r)), seq_len(ncol(r))] <- -r
  .Call(multicause:::mc_c_assign, cost)[seq_len(nrow(r))]
}

# One-to-one: the largest number of shapes with a source of their own that correlates above `least`.
n_found <- function(links, shapes, least = 0.9) {
  r <- suppressWarnings(stats::cor(t(shapes), t(links)))
  r[is.na(r) | r < 0] <- 0
  match <- assigned(r)
  own <- match <= ncol(r)
  sum(r[cbind(which(own), match[own])] > least)
}

images <- function() {
  file <- file.path("tests", "testthat", "golden", "noisy_or", "patterns.csv")
  patterns <- as.matrix(utils::read.csv(file))
  leak <- ifelse(patterns[patterns[, 1] == 0, -1] == 1, 0.3, 0.02)
  shapes <- patterns[patterns[, 1] > 0, -1]
  draw <- function(n, seed) {
    set.seed(seed)
    on <- matrix(stats::rbinom(n * 8, 1, 0.15), n)
    matrix(stats::rbinom(n * 64, 1, 1 - exp(on %*% log(1 - 0.9 * shapes)) * rep(1 - leak, each = n)), n)
  }
  # Share of pixels that come out wrong when a picture is drawn again from its likeliest sources.
  error <- function(fit, x) {
    on <- predict(fit, x, type = "map")
    absent <- exp(on %*% log1p(-pmin(fit$param$links, 1 - 1e-9))) * rep(1 - fit$param$leak, each = nrow(x))
    mean(ifelse(x == 1, absent, 1 - absent))
  }
  one <- function(n, k, seed, inference) {
    x <- draw(n, seed)
    set.seed(seed)
    control <- fit_control(progress = FALSE)
    time <- seconds(fit <- noisy_or(x, k, inference = inference, control = control))
    c(found = n_found(fit$param$links, shapes), error = error(fit, x), seconds = time)
  }
  several <- function(n, k, seeds, inference) sapply(seeds, function(seed) one(n, k, seed, inference))
  line <- function(n, k, seeds, inference) {
    out <- several(n, k, seeds, inference)
    row(
      inference, n, k, length(seeds), sum(out["found", ] == 8), sprintf("%.1f", mean(out["found", ])),
      sprintf("%.4f", mean(out["error", ])), sprintf("%.2f", stats::median(out["seconds", ]))
    )
  }
  cat("\n## Eight shapes\n\nDefaults throughout. Found: of 8 shapes, matched one to one with correlation above .9.\n\n")
  head_row("inference", "n", "k", "data sets", "all 8 found", "found, mean", "error", "seconds, median")
  for (n in c(50, 100, 200, 500)) line(n, 8, 1:10, "exact")
  for (n in c(1000, 2000, 5000)) line(n, 8, 1:3, "exact")
  line(500, 8, 1:10, "truncated")
  line(500, 8, 1:5, "variational")
  cat("\n## Reconstruction against k, n = 500\n\n")
  head_row("inference", "n", "k", "data sets", "all 8 found", "found, mean", "error", "seconds, median")
  for (k in c(2, 4, 6, 7, 8, 9, 10, 12, 15)) line(500, k, 1:2, if (k > 10) "truncated" else "exact")
}

citations <- function() {
  x <- utils::read.csv(file.path(folder, "nips_author_citations", "nips40.csv"), check.names = FALSE)
  x <- as.matrix(x[, -(1:2)])
  set.seed(1)
  fit <- noisy_or(x, 5, control = fit_control(progress = FALSE))
  cat("\n## Five sources of author citations (NIPS 1987 to 1999, 1084 papers x 40 authors)\n\n")
  cat(sprintf("log-likelihood %.1f, %d of 10 starts reached the best\n\n", fit$loglik, sum(fit$starts$reached_best)))
  head_row("source", "prior", "authors with the largest links")
  for (s in seq_len(5)) {
    top <- order(-fit$param$links[s, ])[1:6]
    shown <- sprintf("%s %.2f", colnames(x)[top], fit$param$links[s, top])
    row(s, sprintf("%.3f", fit$param$prior[s]), toString(shown))
  }
}

cells <- function() {
  occ <- utils::read.csv(file.path(folder, "now_2003", "g10s2_occ.csv"))
  x <- matrix(0L, max(occ$site_id), max(occ$genus_id))
  x[cbind(occ$site_id, occ$genus_id)] <- 1L
  control <- fit_control(n_start = 5, screen = 30, n_finish = 1, n_polish = 0, max_iter = 1000, progress = FALSE)
  ab_map <- function(x, k, control) aspect_bernoulli(x, k, estimate = "map", control = control)
  models <- list(`AB, ML` = aspect_bernoulli, `AB, MAP` = ab_map, `noisy-OR` = noisy_or)
  k <- list(`AB, ML` = 3:4, `AB, MAP` = c(4, 6, 8, 13), `noisy-OR` = c(4, 6, 8, 10))
  set.seed(1)
  out <- compare_models(x, k, models, folds = 5, criterion = "cells", control = control)
  cat("\n## Held-out cells of g10s2, five folds\n\n```\n")
  print(out)
  print(out$cells$results)
  cat("```\n")
}

# A table of the model, and its truth.
recorded_table <- function(n, m, k, arm, seed) {
  set.seed(seed)
  truth <- list(
    prior = c(0.3, 0.4, 0.5), links = matrix(stats::runif(k * m, 0.1, 0.9), k), leak = rep(0.03, m),
    recorded_share = c(1, 2, 3, 4, 5, 4, 3, 2, 1, 1) / 26
  )
  if (grepl("both", arm)) truth$recorded_taxon <- stats::runif(m, 0.4, 0.95)
  effort <- if (arm == "effort") stats::rnorm(n)
  at <- if (is.null(effort)) {
    sample(10L, n, TRUE, truth$recorded_share)
  } else {
    1L + stats::rbinom(n, 9L, stats::plogis(0.2 + 0.8 * effort))
  }
  on <- matrix(stats::rbinom(n * k, 1L, rep(truth$prior, each = n)), n)
  there <- matrix(stats::rbinom(n * m, 1L, 1 - 0.97 * exp(on %*% log1p(-truth$links))), n)
  rho <- outer((at / 10)^2, if (is.null(truth$recorded_taxon)) rep(1, m) else truth$recorded_taxon)
  visits <- if (grepl("visits", arm)) 3L else 1L
  cell <- array(stats::rbinom(n * m * visits, 1L, there * as.vector(rho)), c(n, m, visits))
  if (visits == 1L) cell <- cell[, , 1L] else cell[seq_len(n / 3), , 3L] <- NA
  x <- if (visits == 1L) cell else apply(cell, 1:2, max, na.rm = TRUE)
  list(cell = cell, truth = truth, effort = effort, missed = sum(there[x == 0]), recorded = mean(rho), at = at)
}

# Recording: all parameters inside their ranges, and every taxon of three components, so that larger tables must tell
# the probabilities. 2 (l(estimate) - l(truth)) should be about as large as the number of parameters.
recording <- function() {
  k <- 3L
  m <- 30L
  arms <- list(
    site = list(missed_by = "site"), both = list(missed_by = "both"), effort = list(missed_by = "site"),
    `visits, site` = list(missed_by = "site"), `visits, both` = list(missed_by = "both")
  )
  one <- function(n, arm, seed) {
    d <- recorded_table(n, m, k, arm, seed)
    fit <- function(...) {
      more <- c(arms[[arm]], list(...))
      if (arm == "effort") more$effort <- d$effort
      suppressWarnings(suppressMessages(do.call(noisy_or, c(list(d$cell, k, estimate = "ml"), more))))
    }
    most <- if (grepl("visits",
      arm)) 500 else 8000 # single visits tell the probabilities in one direction hardly, and slowly
    control <- fit_control(n_start = 2, max_iter = most, tol = 1e-10, progress = FALSE)
    time <- seconds(best <- fit(control = control))
    # The truth's own probabilities under effort are not a start value: these are where it is compared from.
    at <- fit_control(n_start = 1, max_iter = 0, accelerate = FALSE, progress = FALSE)
    gain <- if (arm == "effort") NA else 2 * (best$loglik - fit(start = d$truth, control = at)$loglik) / best$df
    own <- assigned(suppressWarnings(stats::cor(t(d$truth$links), t(best$param$links))))
    taxon <- if (is.null(best$param$recorded_taxon)) 1 else best$param$recorded_taxon
    c(
      links = sqrt(mean((best$param$links[own, ] - d$truth$links)^2)),
      recorded = mean(best$param$recorded_site) * mean(taxon) / d$recorded, missed = best$missed / d$missed,
      gain = gain, slope = if (arm == "effort") best$effort$coefficients[["slope"]] else NA, seconds = time
    )
  }
  cat("\n## Tables of the model with recording, maximum likelihood\n\n")
  head_row(
    "missed by", "n", "error of links", "recorded over true", "missed over true", "2 (l - l at truth) over df",
    "slope of effort (-0.8)", "seconds, median"
  )
  for (arm in names(arms)) {
    for (n in if (grepl("visits", arm)) c(300, 1500) else c(600, 6000)) {
      out <- sapply(1:5, function(seed) one(n, arm, seed))
      ends <- function(what) {
        if (anyNA(out[what, ])) "" else paste(sprintf("%.2f", range(out[what, ])), collapse = " to ")
      }
      row(
        arm, n, sprintf("%.3f", mean(out["links", ])), ends("recorded"), ends("missed"), ends("gain"),
        ends("slope"), sprintf("%.1f", stats::median(out["seconds", ]))
      )
    }
  }
}

if (wanted("recording")) recording()
if (!file.exists(file.path(folder, "now_2003", "g10s2_occ.csv"))) {
  cat("no data in", folder, ": skipped\n")
} else {
  for (part in c("images", "citations", "cells")) if (wanted(part)) get(part)()
}
