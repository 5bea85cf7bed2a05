# How many finds were missed? The totals of which_zeros() on tables whose truth is known, `full` of how_many_cases().
# Each survey is a family; constants are fitted again with one family left out in turn. What cannot be had is skipped
# with a message.
#   Rscript bench/how_many.R [maker ...] > how_many.out
# Makers are the names in `makers` of bench/how_many_cases.R; without any, all are used. Variables: MULTICAUSE_DATA;
# MULTICAUSE_BENCH_CACHE, a folder for archives of packages; MULTICAUSE_BENCH_CASES, a file that keeps the cases.
library(multicause)
own <- asNamespace("multicause")
here <- if (file.exists("bench/how_many_cases.R")) "bench" else "."
source(file.path(here, "how_many_cases.R"))
asked <- commandArgs(TRUE)
kept_in <- Sys.getenv("MULTICAUSE_BENCH_CASES")
all_cases <- if (file.exists(kept_in)) readRDS(kept_in) else how_many_cases(if (length(asked)) asked else names(makers))
if (nzchar(kept_in) && !file.exists(kept_in)) saveRDS(all_cases, kept_in)

log_loss <- function(y, p) -mean(ifelse(y > 0, log(pmax(p, 1e-12)), log1p(-pmin(p, 1 - 1e-12))))
bare <- function(one) {
  if (is.data.frame(one)) rownames(one) <- NULL
  if (is.null(dim(one))) unname(one) else one
}
answer <- function(x, near = list(), ...) {
  given <- c(list(unname(x)), lapply(near, bare), list(quick = TRUE, seed = 1, ...))
  suppressMessages(suppressWarnings(do.call(which_zeros, given)))
}

# New finds of another search of the same sites.
next_finds <- function(case) {
  if (is.null(case$visits) || length(case$visit) != 1L) {
    return(NA)
  }
  place <- function(side) {
    own <- dimnames(case$x)[[side]]
    if (is.null(own)) seq_len(dim(case$x)[side]) else match(own, dimnames(case$visits)[[side]])
  }
  sites <- place(1L)
  taxa <- place(2L)
  if (anyNA(c(sites, taxa)) || length(sites) > nrow(case$visits) || length(taxa) > ncol(case$visits)) {
    return(NA)
  }
  others <- setdiff(seq_len(dim(case$visits)[3L]), case$visit)
  mean(vapply(others, function(v) sum(case$visits[sites, taxa, v] == 1 & case$x == 0, na.rm = TRUE), 0))
}

# What one more such search finds, of counts: the series of Efron and Thisted (1976), smoothed, ten terms of it.
found_by_counts <- function(counts, last = 10L) {
  k <- seq_len(last)
  met <- tabulate(counts[counts > 0 & counts <= last], last)
  max(sum((-1)^(k + 1) * stats::pbinom(k - 1, last, 0.5, lower.tail = FALSE) * met), 0)
}

# Ranges are whole numbers, the truth need not be.
held <- function(sums, truth) mean(sums$low <= truth + 0.5 & truth - 0.5 <= sums$high)

measure <- function(case) {
  w <- answer(case$x, case$near)
  zero <- unname(case$x) == 0
  out <- data.frame(
    family = case$family, name = case$name, kind = case$kind, new = case$new, sites = nrow(case$x),
    pooled = length(case$visit),
    taxa = ncol(case$x), finds = sum(case$x), full = case$full, kappa = w$kappa, missed = w$total[["missed"]],
    low = w$total[["low"]], high = w$total[["high"]], one_more = w$one_more, found_next = next_finds(case)
  )
  if (!is.null(case$counts)) {
    counts <- unname(as.matrix(case$counts))
    out$chao <- sum(own$chao_shrunk(own$met_by_taxon(counts)))
    out$by_counts <- own$total_by_counts(counts, w$total)[["missed"]]
    out$more_by_counts <- found_by_counts(round(counts))
  }
  if (!is.null(case$there)) {
    missed <- unname(case$there) * zero
    out$sites_held <- held(by_site(w), rowSums(missed))
    out$taxa_held <- held(by_taxon(w), colSums(missed))
  }
  y <- unname(case$found)[zero]
  if (any(y > 0) && any(y == 0)) {
    eta <- stats::qlogis(w$probability[zero])
    shared <- function(total) stats::plogis(eta + own$log_ratio_of(own$log_odds_bins(eta), total))
    best <- suppressWarnings(stats::glm.fit(cbind(1, eta), y, family = stats::binomial())$fitted.values)
    out[c("constant", "best", "odds")] <- c(log_loss(y, mean(y)), log_loss(y, best), log_loss(y, shared(sum(y))))
  }
  out
}

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

family_rms <- function(error, family) sqrt(mean(tapply(error^2, family, mean)))
total <- function(d, ratio) d$finds * pmax(ratio - d$kappa, 0) / d$kappa

judge <- function(d, missed = d$missed, low = d$low, high = d$high) {
  error <- log2(pmax(missed, 0.01 * d$finds) / d$full)
  data.frame(
    tables = nrow(d), rms = family_rms(error, d$family), within_1.5 = mean(abs(error) < log2(1.5)),
    within_2 = mean(abs(error) < 1), held = mean(d$full >= low & d$full <= high)
  )
}

# A factor that multiplies estimates, and one to be off by in nine of ten tables, for each family from all others.
left_out_factor <- function(d, missed) {
  error <- log(pmax(missed, 0.01 * d$finds) / d$full)
  off <- vapply(unique(d$family), function(family) {
    rest <- d$family != family
    level <- mean(tapply(error[rest], d$family[rest], mean))
    c(level, stats::quantile(abs(error[rest] - level), 0.9))
  }, numeric(2))[, match(d$family, unique(d$family)), drop = FALSE]
  data.frame(held_left_out = mean(abs(error - off[1L, ]) <= off[2L, ]), factor = exp(mean(off[2L, ])))
}

# Two of three visits, the case's own and the next one, judged by the third: what it found, and what an occupancy model
# of all three expects in cells that none found.
two_visits <- function(case) {
  y <- case$visits
  if (is.null(y) || dim(y)[3L] != 3L || length(case$visit) != 1L) {
    return(NULL)
  }
  two <- c(case$visit, case$visit %% 3L + 1L)
  y <- unname(y[rowSums(is.na(y[, 1L, two])) == 0, , ])
  here <- apply(y[, , two], 1:2, max)
  third <- y[, , -two]
  there <- occupied(y)
  given <- suppressWarnings(suppressMessages(own$check_visits(y[, , two], c("site", "species", "visit"))))
  said <- own$occupancy_total(given)
  data.frame(
    family = case$family, name = case$name, kind = case$kind, finds = sum(here),
    new = sum(third == 1 & here == 0, na.rm = TRUE), full = sum(there[here == 0]), missed = said$missed,
    low = said$low, high = said$high
  )
}

# The ratio and its ends for each family from all others.
left_out <- function(d) {
  point <- low <- high <- numeric(nrow(d))
  ratio <- d$kappa * (d$finds + d$full) / d$finds
  for (family in unique(d$family)) {
    rest <- d$family != family
    at <- stats::optimize(function(q) {
      family_rms(log2(pmax(total(d[rest, ], q), 0.01 * d$finds[rest]) / d$full[rest]), d$family[rest])
    }, c(0.5, 1.6))$minimum
    weight <- 1 / table(d$family[rest])[d$family[rest]]
    order <- order(ratio[rest])
    share <- cumsum(weight[order]) / sum(weight)
    ends <- ratio[rest][order][c(which(share >= 0.05)[1L], which(share >= 0.95)[1L])]
    point[!rest] <- at
    low[!rest] <- ends[1L]
    high[!rest] <- ends[2L]
  }
  out <- judge(d, total(d, point), total(d, low), total(d, high))
  cbind(out, ratio = sprintf("%.2f to %.2f", min(point), max(point)), ends = sprintf("%.2f, %.2f", min(low), max(high)))
}

# Omissions at rates known of each site.
planted_known <- function(x, near, seed) {
  set.seed(seed)
  known <- stats::runif(nrow(x), 0.5, 1)
  found <- x * stats::rbinom(length(x), 1, known)
  taken <- colSums(found) > 0
  w <- answer(found[, taken], near, completeness = known)
  lost <- (x - found)[, taken]
  c(
    ratio = w$total[["missed"]] / sum(lost), total = w$total[["low"]] <= sum(lost) && sum(lost) <= w$total[["high"]],
    sites = held(by_site(w), rowSums(lost)), taxa = held(by_taxon(w), colSums(lost))
  )
}

# Half of the sites of each group, judged by the other half.
halved_groups <- function(name, x, near, groups, seed) {
  set.seed(seed)
  half <- stats::ave(stats::runif(nrow(x)), groups, FUN = rank) <= stats::ave(rep(1, nrow(x)), groups, FUN = sum) / 2
  sizes <- table(groups[half])
  kept <- half & groups %in% names(sizes)[sizes > 1]
  taken <- colSums(x[kept, ]) > 0
  w <- answer(x[kept, taken], lapply(near, function(one) one[kept, , drop = FALSE]), groups = groups[kept])
  here <- rowsum(x[kept, taken], groups[kept]) > 0
  there <- rowsum(x[!half & groups %in% groups[kept], taken], groups[!half & groups %in% groups[kept]]) > 0
  new <- sum(there & !here[rownames(there), ])
  data.frame(table = name, groups = nrow(here), other_half = new, as.list(w$total))
}

rows <- lapply(all_cases, function(case) {
  tryCatch(measure(case), error = function(e) {
    message("Skipped ", case$name, ": ", conditionMessage(e))
    NULL
  })
})
all <- bind(rows[lengths(rows) > 0])
law <- all[!all$kind %in% c("planted", "complete") & all$full > 0, ]
cat("## Presences alone\n\n")
parts <- list(
  "all" = law, "surveys that the law was not found on" = law[law$new, ],
  "fossils" = law[grepl("fossil|groups", law$kind), ],
  "10 taxa and 100 finds or more" = law[law$taxa >= 10 & law$finds >= 100, ],
  "fewer" = law[law$taxa < 10 | law$finds < 100, ]
)
usual <- function(d) exp(mean(tapply(log(d$kappa * (d$finds + d$full) / d$finds), d$family, mean)))
show(do.call(rbind, Map(function(d, name) {
  cbind(tables_of = name, judge(d), kappa_over_share = usual(d))
}, parts, names(parts))))
cat("With the ratio and its ends (5 % and 95 % over families) from all other families:\n\n")
show(left_out(law))
ratio <- law$kappa * (law$finds + law$full) / law$finds
by_family <- do.call(rbind, lapply(split(seq_len(nrow(law)), factor(law$family, unique(law$family))), function(at) {
  cbind(
    family = law$family[at[1L]], judge(law[at, ])[c(1, 3:5)],
    estimate_over_truth = exp(mean(log(pmax(law$missed[at], 0.01 * law$finds[at]) / law$full[at]))),
    kappa_over_share = exp(mean(log(ratio[at])))
  )
}))
show(by_family)
missed_it <- law[law$full < law$low | law$full > law$high, ]
cat(sprintf("Of %d families %d have all their tables in the range. Not in it:\n", length(unique(law$family)),
  sum(by_family$held == 1)))
cat(sprintf("\n* %s: %.0f (%.0f to %.0f)", missed_it$name, missed_it$full, missed_it$low, missed_it$high), sep = "")
cat("\n\n")
cat("## Where the truth is 0, or presences are random\n\n")
s <- simulated_sites
random <- answer(s$x)
others <- all[all$kind == "complete", c("name", "sites", "taxa", "finds", "full", "missed", "low", "high")]
show(rbind(others, data.frame(
  name = "simulated_sites", sites = 120, taxa = 40, finds = sum(s$x), full = sum(s$truth$present == 1 & s$x == 0),
  as.list(random$total)
)), 0)
cat("## Planted omissions, presences alone\n\n")
planted_in <- all[all$kind == "planted", ]
planted_in$base <- sprintf("%s, nothing planted", sub(", .*", "", planted_in$name))
at_base <- planted_in[match(planted_in$base, planted_in$name), ]
planted_in$more <- planted_in$missed - at_base$missed
planted_in$held <- planted_in$full >= planted_in$low & planted_in$full <= planted_in$high
planted_in$rates <- sub(".*, ", "", planted_in$name)
of_rates <- planted_in[!is.na(planted_in$full), ]
show(do.call(rbind, lapply(split(of_rates, factor(of_rates$rates, unique(of_rates$rates))), function(d) {
  data.frame(
    planted = d$rates[1L], tables = nrow(d), deleted = paste(d$full, collapse = ", "),
    missed = paste(round(d$missed), collapse = ", "), more_than_before = paste(round(d$more), collapse = ", "),
    held = mean(d$held)
  )
})))
cat("## Counts\n\n")
counted <- law[!is.na(law$chao), ]
by_each <- function(d) list(d$chao, d$missed, d$by_counts)
by <- function(d) {
  cbind(by = c("Chao", "lists", "both"), do.call(rbind, lapply(by_each(d), function(missed) {
    judge(d, missed, missed / 2.2, missed * 2.2)
  })))
}
visited <- counted$kind %in% c("bird visits", "visits pooled")
show(rbind(
  cbind(of = "all", by(counted)), cbind(of = "one visit", by(counted[visited & counted$pooled == 1, ])),
  cbind(of = "two visits pooled", by(counted[visited & counted$pooled == 2, ]))
))
cat("With level and factor (nine of ten tables) from all other families:\n\n")
show(cbind(by = c("Chao", "lists", "both"), do.call(rbind, lapply(by_each(counted), left_out_factor, d = counted))))
cat("## Two visits, judged by the third\n\n")
pairs <- do.call(rbind, lapply(all_cases, two_visits))
pairs <- pairs[pairs$full > 0, ]
show(do.call(rbind, lapply(c(list(pairs), if (length(pairs)) split(pairs, pairs$kind)), function(d) {
  cbind(
    kind = if (nrow(d) == nrow(pairs)) "all" else d$kind[1L], families = length(unique(d$family)), judge(d),
    found_below_high = mean(d$new <= d$high), estimate_over_truth = exp(mean(log(d$missed / d$full)))
  )
})))
cat("## One more search\n\n")
said <- law[!is.na(law$found_next), ]
show(do.call(rbind, lapply(c(list(said), split(said, said$kind)), function(d) {
  data.frame(
    kind = if (nrow(d) == nrow(said)) "all" else d$kind[1L], tables = nrow(d),
    said_over_found = exp(mean(log(d$one_more / d$found_next))),
    within_2 = mean(abs(log2(d$one_more / d$found_next)) < 1)
  )
})))
others <- vapply(unique(said$family), function(family) {
  rest <- said[said$family != family, ]
  exp(mean(tapply(log(rest$found_next / rest$one_more), rest$family, mean)))
}, 0)
error <- abs(log2(said$one_more * others[said$family] / said$found_next))
cat(sprintf(
  "With the factor of all other families (%.2f to %.2f of the one used) %.2f are within 2, %.2f within 1.5.\n\n",
  min(others), max(others), mean(error < 1), mean(error < log2(1.5))
))
series <- said[!is.na(said$more_by_counts), ]
off <- function(estimate) mean(abs(log2(estimate / series$found_next)) < 1)
cat(sprintf("Of %d tables with counts %.2f are within 2 by the lists, %.2f by the series of counts.\n\n", nrow(series),
  off(series$one_more), off(series$more_by_counts)))
cat("## Groups halved\n\n")
cat("Means of four halves. What the other half found is at least what was missed, not all of it.\n\n")
tetrapods <- early_tetrapods$sites
grouped <- c(
  list(`early tetrapods, 8 My by 30 degrees` = list(
    early_tetrapods$x, as.matrix(tetrapods["age"]), paste(floor(tetrapods$age / 8), floor(tetrapods$lng / 30))
  )),
  tryCatch(groups_of_shared(), error = function(e) message("Skipped groups: ", conditionMessage(e)))
)
show(do.call(rbind, Map(function(one, name) {
  each <- do.call(rbind, lapply(1:4, function(seed) {
    halved_groups(name, one[[1L]], list(age = unname(one[[2L]])), one[[3L]], seed)
  }))
  data.frame(table = name, t(round(colMeans(each[-1L]))), found_below_high = mean(each$other_half <= each$high))
}, grouped, names(grouped))))
cat("## Completeness known of each site\n\n")
whole <- Filter(function(case) grepl("nothing planted", case$name), all_cases)
bases <- lapply(whole, function(case) case[c("x", "near")])
names(bases) <- sub(", nothing planted", "", vapply(whole, `[[`, "", "name"))
by_member <- grouped[["Turkana mammals by member"]]
if (length(by_member)) {
  bases[["Turkana mammals"]] <- list(x = by_member[[1L]], near = list(age = as.vector(by_member[[2L]])))
}
bases[["simulated_sites"]] <- list(x = unname(as.matrix(s$x) + 0), near = list())
show(do.call(rbind, Map(function(base, name) {
  each <- vapply(1:10, function(seed) planted_known(base$x, base$near, seed), numeric(4))
  data.frame(table = name, replicates = 10, t(rowMeans(each)))
}, bases, names(bases))))
cat("## Sums by site and by taxon\n\n")
summed <- law[!is.na(law$sites_held), ]
show(do.call(rbind, lapply(c(list(summed), split(summed, summed$kind)), function(d) {
  data.frame(
    kind = if (nrow(d) == nrow(summed)) "all" else d$kind[1L], tables = nrow(d), sites_held = mean(d$sites_held),
    taxa_held = mean(d$taxa_held)
  )
})))
cat("## Cells: log loss on what others found, with their number\n\n")
known <- law[!is.na(law$constant), ]
cat(sprintf(paste(
  "Below a constant on %d of %d tables, within .02 of the best logistic of the chance on %d; means: constant %.3f,",
  "`missed` %.3f, best %.3f.\n"
), sum(known$odds < known$constant), nrow(known), sum(known$odds < known$best + 0.02), mean(known$constant),
  mean(known$odds), mean(known$best)))
