# How many finds were missed? The law T = F (q - kappa) / kappa on tables whose truth is known: F finds, kappa the mean
# chance by which finds are foreseen, q the usual ratio of kappa and completeness. Each survey is a family; constants
# are fitted with one family left out in turn. Whatever cannot be had is skipped with a message.
#   Rscript bench/how_many.R [maker ...] > how_many.out
# Makers are the names in `makers` of bench/how_many_cases.R; without any, all are used. Variables: MULTICAUSE_DATA;
# MULTICAUSE_BENCH_CACHE, a folder for archives of packages; MULTICAUSE_BENCH_CASES, a file for the cases.
library(multicause)
here <- if (file.exists("bench/how_many_cases.R")) "bench" else "."
source(file.path(here, "how_many_cases.R"))
source(file.path(here, "how_many_foreseen.R"))
asked <- commandArgs(TRUE)
all_cases <- how_many_cases(if (length(asked)) asked else names(makers))
kept_in <- Sys.getenv("MULTICAUSE_BENCH_CASES")
if (nzchar(kept_in)) saveRDS(all_cases, kept_in)

ends <- c(narrow_low = 0.63, narrow_high = 1.18, wide_low = 0.5, wide_high = 1.25)
total <- function(finds, kappa, q) finds * pmax(q - kappa, 0) / kappa
log_loss <- function(y, p) -mean(ifelse(y > 0, log(pmax(p, 1e-12)), log1p(-pmin(p, 1 - 1e-12))))

# Log loss of `missed` on what others found: odds of the chance times one ratio, which sum to a total.
missed_loss <- function(eta, y, missed) {
  t <- shift_to(function(t) sum(stats::plogis(eta + t)), min(max(missed, 1), 0.95 * length(y)))
  log_loss(y, stats::plogis(eta + t))
}

measure <- function(case) {
  x <- unname(case$x)
  near <- lapply(case$near, function(one) if (is.data.frame(one)) unname_rows(one) else unname(one))
  zero <- x == 0
  finds <- sum(x)
  out <- data.frame(
    family = case$family, name = case$name, kind = case$kind, new = case$new, sites = nrow(x), taxa = ncol(x), finds,
    found = sum(case$found[zero]), full = case$full
  )
  out$left_out_seconds <- sum(system.time(p <- left_out_chances(x, near))[1:2])
  out$left_out <- sum(p^2) / sum(p)
  out$learnt_seconds <- sum(system.time(learnt <- learnt_odds(x, near))[1:2])
  out$copies <- kappa_hidden(learnt, zero, finds)
  out$whole <- kappa_hidden(learnt, zero, finds, within = FALSE)
  y <- case$found[zero]
  if (!any(y > 0)) {
    return(out)
  }
  eta <- calibrated_zeros(learnt, zero, finds)
  best <- suppressWarnings(stats::glm.fit(cbind(1, eta), y, family = stats::binomial())$fitted.values)
  out$constant <- log_loss(y, rep(mean(y), length(y)))
  out$best <- log_loss(y, best)
  out$odds <- missed_loss(eta, y, sum(y))
  out$law <- missed_loss(eta, y, total(finds, out$left_out, 0.91))
  out
}

unname_rows <- function(d) {
  rownames(d) <- NULL
  d
}

bind <- function(rows) {
  columns <- unique(unlist(lapply(rows, names)))
  do.call(rbind, lapply(rows, function(row) {
    row[setdiff(columns, names(row))] <- NA
    row[columns]
  }))
}

family_rms <- function(error, family) sqrt(mean(tapply(error^2, family, mean)))

# A constant for each family from all others.
left_out_constants <- function(d, kappa) {
  vapply(unique(d$family), function(out) {
    rest <- d$family != out
    stats::optimize(function(q) {
      family_rms(log2(pmax(total(d$finds, d[[kappa]], q), 0.01 * d$finds) / d$full)[rest], d$family[rest])
    }, c(0.5, 1.6))$minimum
  }, 0)
}

judge <- function(d, kappa) {
  error <- function(q) log2(pmax(total(d$finds, d[[kappa]], q), 0.01 * d$finds) / d$full)
  held <- function(low, high) {
    mean(d$full >= total(d$finds, d[[kappa]], low) & d$full <= total(d$finds, d[[kappa]], high))
  }
  constants <- if (length(unique(d$family)) > 1L) left_out_constants(d, kappa) else NA
  ratio <- tapply(log(d[[kappa]] * (d$finds + d$full) / d$finds), d$family, mean)
  refitted <- error(constants[d$family])
  data.frame(
    kappa, tables = nrow(d), rms = family_rms(error(0.91), d$family), within_1.5 = mean(abs(error(0.91)) < log2(1.5)),
    within_2 = mean(abs(error(0.91)) < 1), narrow = held(ends[["narrow_low"]], ends[["narrow_high"]]),
    wide = held(ends[["wide_low"]], ends[["wide_high"]]), ratio = exp(mean(ratio)), spread = stats::sd(ratio),
    least = min(constants), most = max(constants), rms_refitted = family_rms(refitted, d$family)
  )
}

show <- function(d, digits = 2) {
  numbers <- vapply(d, is.numeric, NA)
  d[numbers] <- lapply(d[numbers], round, digits)
  print(d, row.names = FALSE)
}

options(width = 160)
rows <- lapply(all_cases, function(case) {
  tryCatch(measure(case), error = function(e) {
    message("Skipped ", case$name, ": ", conditionMessage(e))
    NULL
  })
})
all <- bind(rows[lengths(rows) > 0])
law <- all[!all$kind %in% c("planted", "complete", "parts of one count") & all$full > 0, ]
cat("## Tables\n\n")
show(transform(all[c("name", "sites", "taxa", "finds", "found", "full", "left_out", "copies")],
  law = round(total(all$finds, all$left_out, 0.91)), low = round(total(all$finds, all$left_out, 0.63)),
  high = round(total(all$finds, all$left_out, 1.18))))
cat("\n## Measures of kappa, over families\n\n")
measures <- c("left_out", "copies", "whole")
show(do.call(rbind, lapply(measures, function(kappa) judge(law, kappa))))
for (new in unique(law$new)) {
  cat("\nNew surveys:", new, "\n")
  show(do.call(rbind, lapply(measures, function(kappa) judge(law[law$new == new, ], kappa))))
}
cat("\n## By family, leave-one-out chances\n\n")
by_family <- do.call(rbind, lapply(unique(law$family), function(family) {
  cbind(family = family, judge(law[law$family == family, ], "left_out")[c(2:8)])
}))
show(by_family)
cat("\n## Cells: log loss on what others found, means by family\n\n")
losses <- c("constant", "best", "odds", "law")
show(stats::aggregate(law[losses], law["family"], mean), 3L)
cat("\n")
known <- law[!is.na(law$constant), ]
cat(sprintf(paste(
  "`odds`, with the number that others found, is below a constant on %d of %d tables, and within .02 of the best",
  "logistic on %d.\n"
), sum(known$odds < known$constant), nrow(known), sum(known$odds < known$best + 0.02)))
cat(sprintf(paste(
  "Processor seconds a table, median and most: left out %.1f and %.1f,",
  "learners and two copies %.1f and %.1f.\n"
), stats::median(all$left_out_seconds), max(all$left_out_seconds), stats::median(all$learnt_seconds),
  max(all$learnt_seconds)))
