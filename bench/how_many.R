# nolint start: object_usage_linter. Scripts of one bench share their functions.
# Presences found by more surveys of equal effort: the curve of which_zeros() on surveys that were searched several
# times, the cases of how_many_cases(): k others found F_k presences at zeros of the one table, beside a_k B, B = F (1 -
# kappa / .91). Each survey is a family: constants are estimated with it left out in turn. Missing data are skipped with
# a message.
#   Rscript bench/how_many.R [maker ...] > how_many.out
# Makers are the names in `makers` of bench/how_many_cases.R; without any, all are used. Variables: MULTICAUSE_DATA;
# MULTICAUSE_BENCH_CACHE, a folder for archives of packages; MULTICAUSE_BENCH_ANSWERS, a folder that keeps cases and
# answers.
library(multicause)
own <- asNamespace("multicause")
here <- if (file.exists("bench/how_many_cases.R")) "bench" else "."
source(file.path(here, "how_many_cases.R"))
kept_in <- Sys.getenv("MULTICAUSE_BENCH_ANSWERS")

# The constants of the package.
searches_of_curve <- as.integer(names(own$more_surveys))
usual <- unname(own$more_surveys)
limit <- own$usual_ratio
factors <- own$usual_factor[c("alike", "unlike")]
usual_slope <- own$curve_slope
found_everywhere <- own$everywhere
cell_z <- 1.645
n_first <- 20L

# ---- Answers ----
keep <- function(name, value) {
  if (!nzchar(kept_in)) {
    return(value)
  }
  dir.create(kept_in, showWarnings = FALSE, recursive = TRUE)
  file <- file.path(kept_in, paste0(gsub("[^A-Za-z0-9]+", "_", name), ".rds"))
  if (!file.exists(file)) saveRDS(value, file)
  readRDS(file)
}

estimate <- function(x, near = list()) {
  given <- list(quick = TRUE, seed = 1, control = fit_control(n_threads = 1, progress = FALSE))
  suppressMessages(suppressWarnings(do.call(which_zeros, c(list(unname(x)), lapply(near, bare), given))))
}

# kappa and presences refer to the table without taxa that were found nearly everywhere.
answer <- function(name, x, near = list()) {
  keep(name, {
    w <- estimate(x, near)
    zero <- unname(x) == 0
    list(
      kappa = w$kappa, presences = sum(x[, colMeans(x) < found_everywhere]), probability = w$probability[zero],
      se = w$se[zero], auc = w$quality$auc[1L], auc_se = w$quality$auc_se[1L]
    )
  })
}

base_of <- function(one) one$presences * max(1 - one$kappa / limit, 0.01)

# The former extrapolation: the number from kappa divided by the table's share, and its range.
old_law <- function(one) {
  ratio <- c(law = limit, law_low = 0.63, law_high = 1.18)
  complete <- pmin(one$kappa / ratio, 0.99)
  out <- one$presences * (1 - complete) / complete
  if (one$kappa >= ratio[["law_low"]]) out[["law_low"]] <- 0
  out
}

# ---- What the others found ----
# Presences at zeros that k of the other searches found, averaged over groups of k consecutive ones.
found_by <- function(case, k) {
  n <- dim(case$others)[3L]
  if (n < k) {
    return(NA_real_)
  }
  groups <- split(seq_len(n %/% k * k), rep(seq_len(n %/% k), each = k))
  mean(vapply(groups, function(of) sum(any_of(case, of) & case$x == 0), 0))
}

any_of <- function(case, of) rowSums(case$others[, , of, drop = FALSE], dims = 2L) > 0

log_loss <- function(y, p) -mean(ifelse(y > 0, log(pmax(p, 1e-12)), log1p(-pmin(p, 1 - 1e-12))))
auc_of <- function(score, y) {
  (mean(rank(score)[y]) - (sum(y) + 1) / 2) / sum(!y)
}

# plogis(slope eta + r), with r such that they sum to `total`; log-odds are binned.
missed_of <- function(eta, total, slope = usual_slope, most = 0.95) {
  total <- min(total, most * length(eta))
  bins <- own$log_odds_bins(eta)
  above <- function(r) sum(bins$count * stats::plogis(slope * bins$eta + r)) - total
  stats::plogis(slope * eta + stats::uniroot(above, c(-5, 5), extendInt = "upX", tol = 1e-9)$root)
}

slopes <- c(0.6, 0.7, 0.8, 0.9, 1)
scatters <- c(0.15, 0.25, 0.4, 0.6)

# One row for each case.
measure <- function(case) {
  one <- answer(paste(case$family, case$name), case$x, case$near)
  alike <- case$kind %in% alike_kinds
  out <- data.frame(
    family = case$family, name = case$name, kind = case$kind, alike = alike, sites = nrow(case$x),
    taxa = ncol(case$x), presences = sum(case$x), kappa = one$kappa, base = base_of(one), auc = one$auc,
    auc_se = one$auc_se, as.list(old_law(one))
  )
  out[paste0("found_", searches_of_curve)] <- lapply(searches_of_curve, found_by, case = case)
  out$found_series <- if (is.null(case$counts)) NA else series_of(round(case$counts))
  out$repeated <- own$repeated_share(case$x)
  two <- seq_len(min(2L, dim(case$others)[3L]))
  out$auc_found <- auc_of(stats::qlogis(one$probability), any_of(case, two)[case$x == 0])
  if (dim(case$others)[3L] < 2L) {
    return(out)
  }
  cbind(out, measure_cells(case, one, alike), full = full_truth(case))
}

measure_cells <- function(case, one, alike) {
  zero <- case$x == 0
  y <- any_of(case, 1:2)[zero]
  eta <- stats::qlogis(one$probability)
  total <- usual[2L] * base_of(one)
  constant <- log_loss(y, mean(y))
  loss <- vapply(slopes, function(slope) log_loss(y, missed_of(eta, total, slope)), 0) / constant
  best <- suppressWarnings(stats::glm.fit(cbind(1, eta), y, family = stats::binomial())$fitted.values)
  missed <- missed_of(eta, total)
  first <- order(-eta)[seq_len(min(n_first, length(eta)))]
  ends <- cell_ends(eta, one$se, total, alike)
  held <- function(ends, at) {
    room <- 0.5 / length(at)
    mean(ends[at, 1L]) <= mean(y[at]) + room && mean(y[at]) - room <= mean(ends[at, 2L])
  }
  out <- data.frame(
    loss_best = log_loss(y, best) / constant, said_20 = mean(missed[first]),
    found_20 = mean(y[first]), held_20 = held(ends$both, first), held_20_curve = held(ends$curve, first),
    sum_probability = sum(one$probability), loss_probability = log_loss(y, one$probability) / constant
  )
  out[paste0("loss_", slopes)] <- as.list(loss)
  for (side in 1:2) {
    sums <- sums_held(case, zero, missed, y, side, alike)
    out[paste0(c("site_", "taxon_")[side], scatters)] <- as.list(sums)
  }
  out
}

# Ranges of cells: from the curve alone, and with standard errors of the log-odds.
cell_ends <- function(eta, se, total, alike) {
  factor <- factors[[if (alike) "alike" else "unlike"]]
  at <- function(total, shift) {
    plain <- missed_of(eta, total)
    stats::plogis(stats::qlogis(plain) + shift * cell_z * usual_slope * se)
  }
  list(
    curve = cbind(at(total / factor, 0), at(total * factor, 0)),
    both = cbind(at(total / factor, -1), at(total * factor, 1))
  )
}

# Share of sites or taxa whose 90 % range contains the number found: gamma-Poisson about the expected number, times the
# uncertainty of the total.
sums_held <- function(case, zero, missed, y, side, alike) {
  group <- if (side == 1L) row(case$x)[zero] else col(case$x)[zero]
  size <- dim(case$x)[side]
  expected <- numeric(size)
  found <- numeric(size)
  sums <- rowsum(cbind(missed, y), group)
  expected[as.integer(rownames(sums))] <- sums[, 1L]
  found[as.integer(rownames(sums))] <- sums[, 2L]
  spread <- log(factors[[if (alike) "alike" else "unlike"]]) / 1.645
  set.seed(1)
  relative <- exp(stats::qnorm(stats::ppoints(200L)) * spread)
  vapply(scatters, function(cv) {
    mean <- expected %*% t(relative)
    draws <- stats::rnbinom(length(mean), size = 1 / cv^2, mu = mean)
    sorted <- matrix(draws[order(row(mean), draws)], 200L)
    mean(sorted[10L, ] <= found + 0.5 & found - 0.5 <= sorted[191L, ])
  }, 0)
}

# Expected number of new presences in one more survey, from counts: the series of Efron and Thisted (1976), smoothed,
# ten terms.
series_of <- function(counts, last = 10L) {
  k <- seq_len(last)
  met <- tabulate(counts[counts > 0 & counts <= last], last)
  max(sum((-1)^(k + 1) * stats::pbinom(k - 1, last, 0.5, lower.tail = FALSE) * met), 0)
}

# Truth of the former extrapolation: presences found by the others, plus those that an occupancy model of each taxon
# over all searches expects in cells without presences. EM for the share of sites occupied by a taxon and for its
# detection in each search; one site is added where it is present and found with the mean repeat rate over all taxa.
full_truth <- function(case, iterations = 500L) {
  n <- dim(case$others)[3L] + 1L
  y <- array(c(case$x, case$others), c(dim(case$x), n))
  hits <- apply(y, 3L, colSums)
  mean <- vapply(seq_len(n), function(v) mean(y[, , v][rowSums(y[, , -v, drop = FALSE], dims = 2L) > 0]), 0)
  unseen <- colSums(rowSums(y, dims = 2L) == 0)
  there <- rep(0.5, ncol(y)) # the probability of the taxon where no search found it
  for (iteration in seq_len(iterations)) {
    sites <- nrow(y) - unseen + unseen * there
    p <- pmin((hits + rep(mean, each = ncol(y))) / (sites + 1), 1 - 1e-6)
    odds <- exp(rowSums(log1p(-p))) * sites / pmax(nrow(y) - sites, 1e-9)
    before <- there
    there <- odds / (1 + odds)
    if (sum(unseen * abs(there - before)) < 1e-3 && iteration > 10L) break
  }
  sum(any_of(case, seq_len(n - 1L)) & case$x == 0) + sum(unseen * there)
}

# ---- Judging ----
bind <- function(rows) {
  columns <- unique(unlist(lapply(rows, names)))
  do.call(rbind, lapply(rows, function(row) {
    row[setdiff(columns, names(row))] <- NA
    row[columns]
  }))
}

show <- function(d, digits = 2) {
  if (!NROW(d)) {
    return(invisible(d))
  }
  numbers <- vapply(d, is.numeric, NA)
  d[numbers] <- lapply(d[numbers], round, digits)
  cat("|", paste(names(d), collapse = " | "), "|\n")
  cat("|", strrep(" --- |", ncol(d)), "\n", sep = "")
  for (i in seq_len(nrow(d))) cat("|", paste(vapply(d[i, ], format, ""), collapse = " | "), "|\n")
  cat("\n")
}

by_family <- function(value, family) mean(tapply(value, family, mean, na.rm = TRUE), na.rm = TRUE)
within <- function(error, factor) mean(abs(error) <= log(factor) + 1e-9)
found_log <- function(found, said) log(pmax(found, 0.5) / said)

# Summary of log(found / estimate): the mean over surveys, its scatter, how often it is small, by table and by survey.
summarise <- function(error, family) {
  each <- tapply(error, family, mean)
  whole <- tapply(abs(error), family, max)
  data.frame(
    surveys = length(each), tables = length(error), found_over_estimate = exp(mean(each)), sd_log = stats::sd(each),
    rms_log2 = sqrt(mean(tapply(error^2, family, mean))) / log(2), within_1.5 = within(error, 1.5),
    within_2 = within(error, 2), held_1.75 = within(error, 1.75), held_2.8 = within(error, 2.8),
    surveys_1.75 = mean(abs(each) <= log(1.75)), whole_1.75 = mean(whole <= log(1.75)),
    whole_2.8 = mean(whole <= log(2.8)),
    factor_90 = exp(stats::quantile(abs(error), 0.9, names = FALSE))
  )
}

# The constant and the factor that covers nine of ten tables, each survey from all others of its class.
left_out <- function(d, found) {
  if (length(unique(d$family)) < 2L) {
    return(NULL)
  }
  error <- found_log(found, d$base)
  each <- vapply(unique(d$family), function(family) {
    rest <- d$family != family
    level <- mean(tapply(error[rest], d$family[rest], mean))
    c(level, stats::quantile(abs(error[rest] - level), 0.9))
  }, numeric(2))[, match(d$family, unique(d$family)), drop = FALSE]
  off <- error - each[1L, ]
  data.frame(
    a = exp(mean(tapply(error, d$family, mean))), a_low = exp(min(each[1L, ])), a_high = exp(max(each[1L, ])),
    rms_log2 = sqrt(mean(tapply(off^2, d$family, mean))) / log(2), within_1.5 = within(off, 1.5),
    within_2 = within(off, 2), factor = exp(mean(each[2L, ])), held = mean(abs(off) <= each[2L, ])
  )
}

classes <- function(d) list(alike = d$alike, unlike = !d$alike, all = rep(TRUE, nrow(d)))
for_classes <- function(d, measure) {
  parts <- Filter(any, classes(d))
  do.call(rbind, Map(function(kept, name) {
    out <- measure(d[kept, ])
    if (!is.null(out)) cbind(searches = name, out)
  }, parts, names(parts)))
}

show_curve <- function(d) {
  cat("## The curve\n\nlog of what k others found over a_k B, a =", usual, "\n\n")
  for (i in seq_along(searches_of_curve)) {
    found <- d[[paste0("found_", searches_of_curve[i])]]
    known <- !is.na(found)
    cat(sprintf("%d more:\n\n", searches_of_curve[i]))
    show(for_classes(d[known, ], function(d) {
      summarise(found_log(d[[paste0("found_", searches_of_curve[i])]], usual[i] * d$base), d$family)
    }))
    cat("Constant and factor from the other surveys:\n\n")
    show(for_classes(d[known, ], function(d) left_out(d, d[[paste0("found_", searches_of_curve[i])]])))
  }
  cat("Surveys of nine searches, the constants alone:\n\n")
  nine <- d[!is.na(d$found_8), ]
  show(for_classes(nine, function(d) {
    a <- lapply(searches_of_curve, function(k) {
      exp(mean(tapply(found_log(d[[paste0("found_", k)]], d$base), d$family, mean)))
    })
    data.frame(surveys = length(unique(d$family)), stats::setNames(a, paste0("a_", searches_of_curve)))
  }))
}

show_law <- function(d) {
  cat("## The law before beside it\n\n")
  d <- d[!is.na(d$full) & d$full > 0, ]
  show(for_classes(d, function(d) {
    cbind(
      estimate = c("two more, found", "law before, its own truth", "law before, found by two"),
      rbind(
        summarise(found_log(d$found_2, usual[2L] * d$base), d$family),
        summarise(found_log(d$full, pmax(d$law, 1)), d$family),
        summarise(found_log(d$found_2, pmax(d$law, 1)), d$family)
      ), held_by_range = c(NA, mean(d$full >= d$law_low & d$full <= d$law_high), NA)
    )
  }))
  counted <- d[!is.na(d$found_series) & !is.na(d$found_1), ]
  cat("One more, of tables with counts: the curve, and the series of counts:\n\n")
  show(cbind(by = c("curve", "series"), rbind(
    summarise(found_log(counted$found_1, usual[1L] * counted$base), counted$family),
    summarise(found_log(counted$found_1, pmax(counted$found_series, 1)), counted$family)
  )))
}

show_surveys <- function(d) {
  cat("## By survey\n\n")
  d$seen <- ifelse(is.na(d$found_2), d$found_1, d$found_2)
  d$said <- ifelse(is.na(d$found_2), usual[1L], usual[2L]) * d$base
  d$error <- found_log(d$seen, d$said)
  d$factor <- factors[ifelse(d$alike, "alike", "unlike")]
  known_mean <- function(x) if (all(is.na(x))) NA else mean(x, na.rm = TRUE)
  rows <- lapply(split(d, paste(d$family, d$alike, is.na(d$found_2))), function(d) {
    data.frame(
      survey = d$family[1L], searches = if (d$alike[1L]) "alike" else "unlike", kind = d$kind[1L], tables = nrow(d),
      more = if (is.na(d$found_2[1L])) 1L else 2L, estimated = round(exp(mean(log(d$said)))),
      found = round(exp(mean(log(pmax(d$seen, 0.5))))), ratio = exp(mean(-d$error)),
      held = mean(abs(d$error) <= log(d$factor)), auc = mean(d$auc), auc_found = mean(d$auc_found),
      first_20 = known_mean(d$said_20), first_20_found = known_mean(d$found_20), loss = known_mean(d$loss_0.8)
    )
  })
  rows <- do.call(rbind, rows)
  show(rows[order(rows$searches, rows$kind), ])
  fails <- d[abs(d$error) > log(d$factor), ]
  cat(sprintf("Not in the interval of its class, %d of %d tables:\n", nrow(fails), nrow(d)))
  cat(sprintf(
    "* %s, %s: %.0f found, %.0f estimated (%.0f to %.0f), %d taxa, %.0f presences\n", fails$family, fails$name,
    fails$seen, fails$said, fails$said / fails$factor, fails$said * fails$factor, fails$taxa, fails$presences
  ), sep = "")
  cat("\n")
}

show_cells <- function(d) {
  show_auc(d)
  d <- d[!is.na(d$loss_best), ]
  cat("## Cells: log loss over a constant's, `missed` with its own total\n\n")
  show(for_classes(d, function(d) {
    each <- lapply(d[c(paste0("loss_", slopes), "loss_best", "loss_probability")], by_family, family = d$family)
    data.frame(
      surveys = length(unique(d$family)), tables = nrow(d), each, better_than_constant = sum(d$loss_0.8 < 1),
      surveys_better = sum(tapply(d$loss_0.8, d$family, mean) < 1)
    )
  }), 3)
  cat("Slope that is best by the other surveys, and its loss:\n\n")
  show(for_classes(d, function(d) {
    if (length(unique(d$family)) < 2L) {
      return(NULL)
    }
    loss <- as.matrix(stats::aggregate(d[paste0("loss_", slopes)], list(d$family), mean)[-1L])
    chosen <- vapply(seq_len(nrow(loss)), function(i) which.min(colMeans(loss[-i, , drop = FALSE])), 0L)
    data.frame(slopes = paste(sort(unique(slopes[chosen])), collapse = ", "), loss = mean(loss[cbind(seq_along(chosen),
      chosen)]))
  }), 3)
  cat("The first", n_first, "zeros; sum of the probabilities over what two others found:\n\n")
  show(for_classes(d, function(d) {
    data.frame(
      estimated = by_family(d$said_20, d$family), found = by_family(d$found_20, d$family),
      within_.1 = mean(abs(tapply(d$said_20 - d$found_20, d$family, mean)) < 0.1),
      held = by_family(d$held_20, d$family), held_by_curve_alone = by_family(d$held_20_curve, d$family),
      sum_over_found = exp(by_family(log(d$sum_probability / pmax(d$found_2, 0.5)), d$family))
    )
  }))
  cat("Sums by site and taxon, held by ranges of 90 % with these scatters:\n\n")
  show(for_classes(d, function(d) {
    sums <- function(of) vapply(paste0(of, scatters), function(name) by_family(d[[name]], d$family), 0)
    data.frame(scatter = scatters, sites = sums("site_"), taxa = sums("taxon_"), row.names = NULL)
  }))
}

show_auc <- function(d) {
  cat("## AUC by held-out presences, and by what two others (or the one) found\n\n")
  show(for_classes(d, function(d) {
    lower <- tapply(d$auc - d$auc_found, d$family, mean)
    data.frame(
      surveys = length(lower), promised = by_family(d$auc, d$family), found = by_family(d$auc_found, d$family),
      lower = mean(lower), sd = stats::sd(lower), too_high = sum(d$auc > d$auc_found), tables = nrow(d)
    )
  }), 3)
}

# ---- Where nothing can be estimated ----
withheld <- function(auc, auc_se, sites, taxa, presences) {
  c(auc = auc - 1.645 * auc_se <= 0.6 | is.na(auc), taxa = taxa < 10, sites = sites < 10, presences = presences < 100)
}

show_refusals <- function(d) {
  cat("## No number where nothing is known: tables withheld by each rule\n\n")
  rules <- function(d) {
    out <- vapply(seq_len(nrow(d)), function(i) {
      withheld(d$auc[i], d$auc_se[i], d$sites[i], d$taxa[i], d$presences[i])
    }, logical(4))
    data.frame(tables = nrow(d), t(rowSums(out)), any = sum(colSums(out) > 0))
  }
  random <- random_tables()
  random <- bind(lapply(names(random), function(name) describe(paste("random", name), random[[name]])))
  tosses <- grepl("toss", random$name)
  complete <- complete_tables()
  complete <- bind(lapply(names(complete), function(name) describe(paste("complete", name), complete[[name]])))
  show(rbind(
    cbind(of = "surveys", rules(d)), cbind(of = "coin tosses", rules(random[tosses, ])),
    cbind(of = "random, taxa unequal", rules(random[!tosses, ])), cbind(of = "complete", rules(complete))
  ))
  small <- d$taxa < 10 | d$sites < 10 | d$presences < 100
  cat("Small tables (fewer than 10 taxa, 10 sites or 100 presences) and all others:\n\n")
  known <- !is.na(d$loss_best)
  for (kept in list(small & known, !small & known)) if (any(kept)) {
    show(cbind(better_than_constant = mean(d$loss_0.8[kept] < 1), summarise(
      found_log(d$found_2[kept], usual[2L] * d$base[kept]), d$family[kept])))
  }
  cat("Complete tables: what two more surveys would find, where nothing is missing:\n\n")
  show(complete[c("name", "sites", "taxa", "presences", "kappa", "two_more", "auc", "repeated")])
  show_repeated(d)
}

describe <- function(name, x) {
  one <- answer(name, x)
  data.frame(
    name = name, sites = nrow(x), taxa = ncol(x), presences = sum(x), kappa = one$kappa,
    two_more = usual[2L] * base_of(one), auc = one$auc, auc_se = one$auc_se, repeated = own$repeated_share(x)
  )
}

show_repeated <- function(d) {
  cat(sprintf("Repeated rows: in %d tables of surveys the largest share is %.2f; above .2: %s.\n\n",
    sum(!is.na(d$repeated)), max(d$repeated, na.rm = TRUE), paste(d$name[which(d$repeated > 0.2)],
      collapse = "; ")))
  twice <- function(name, x, share) {
    set.seed(2)
    both <- rbind(x, x[sample.int(nrow(x), round(share * nrow(x))), , drop = FALSE])
    cbind(describe(sprintf("%s, %.0f %% of sites twice", name, 100 * share), both), before = usual[2L] *
      base_of(answer(name, x)))
  }
  tables <- c(complete_tables()[c("mite", "BCI")], list(early_tetrapods = unname(as.matrix(early_tetrapods$x) + 0)))
  rows <- do.call(rbind, lapply(names(tables), function(name) {
    rbind(twice(name, tables[[name]], 1), twice(name, tables[[name]], 0.1))
  }))
  show(rows[c("name", "sites", "presences", "before", "two_more", "repeated")])
}

# ---- Run ----
asked <- commandArgs(TRUE)
asked <- if (length(asked)) asked else names(makers)
cases <- unlist(lapply(asked, function(name) keep(paste("cases", name), how_many_cases(name))), recursive = FALSE)
rows <- lapply(cases, function(case) {
  tryCatch(measure(case), error = function(e) {
    message("Skipped ", case$name, ": ", conditionMessage(e))
    NULL
  })
})
all <- bind(rows[lengths(rows) > 0])
cat(sprintf("%d tables of %d surveys, %d of them with nine searches.\n\n", nrow(all), length(unique(all$family)),
  length(unique(all$family[!is.na(all$found_8)]))))
show_curve(all)
show_law(all)
show_cells(all)
show_refusals(all)
show_surveys(all)
if (nzchar(kept_in)) saveRDS(all, file.path(kept_in, "all_rows.rds"))
# nolint end
