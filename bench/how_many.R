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
  given <- c(list(unname(x)), lapply(near, bare), list(quick = TRUE, seed = 1, progress = FALSE, ...))
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

measure <- function(case) {
  w <- answer(case$x, case$near)
  zero <- unname(case$x) == 0
  out <- data.frame(
    family = case$family, name = case$name, kind = case$kind, new = case$new, sites = nrow(case$x),
    taxa = ncol(case$x), finds = sum(case$x), full = case$full, kappa = w$kappa, missed = w$total[["missed"]],
    low = w$total[["low"]], high = w$total[["high"]], one_more = w$one_more, found_next = next_finds(case)
  )
  if (!is.null(case$counts)) {
    counts <- unname(as.matrix(case$counts))
    out$chao <- sum(own$chao_shrunk(own$met(counts)))
    out$by_counts <- own$total_by_counts(counts, w$total)[["missed"]]
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
  sites <- by_site(w)
  taxa <- by_taxon(w)
  inside <- function(sums, truth) mean(sums$low <= truth & truth <= sums$high)
  c(
    ratio = w$total[["missed"]] / sum(lost), total = w$total[["low"]] <= sum(lost) && sum(lost) <= w$total[["high"]],
    sites = inside(sites, rowSums(lost)), taxa = inside(taxa, colSums(lost))
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
  data.frame(table = name, groups = nrow(here), other_half = new, round(as.list(w$total) |> as.data.frame()))
}

rows <- lapply(all_cases, function(case) {
  tryCatch(measure(case), error = function(e) {
    message("Skipped ", case$name, ": ", conditionMessage(e))
    NULL
  })
})
all <- bind(rows[lengths(rows) > 0])
law <- all[!all$kind %in% c("planted", "complete", "parts of one count") & all$full > 0, ]
cat("## Presences alone\n\n")
parts <- list(
  "all" = law, "surveys that the law was not found on" = law[law$new, ],
  "fossils" = law[grepl("fossil|groups", law$kind), ],
  "10 taxa and 100 finds or more" = law[law$taxa >= 10 & law$finds >= 100, ],
  "fewer" = law[law$taxa < 10 | law$finds < 100, ]
)
show(do.call(rbind, Map(function(d, name) cbind(tables_of = name, judge(d)), parts, names(parts))))
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
cat("## Where the truth is 0, or presences are random\n\n")
s <- simulated_sites
random <- answer(s$x)
others <- all[all$kind == "complete", c("name", "sites", "taxa", "finds", "full", "missed", "low", "high")]
show(rbind(others, data.frame(
  name = "simulated_sites", sites = 120, taxa = 40, finds = sum(s$x), full = sum(s$truth$present == 1 & s$x == 0),
  as.list(random$total)
)), 0)
cat("## Counts\n\n")
counted <- law[!is.na(law$chao), ]
by <- function(missed) judge(counted, missed, missed / 2.2, missed * 2.2)
show(cbind(by = c("Chao", "lists", "both"), rbind(by(counted$chao), by(counted$missed), by(counted$by_counts))))
cat("## One more search\n\n")
said <- law[!is.na(law$found_next), ]
show(do.call(rbind, lapply(split(said, said$kind), function(d) {
  data.frame(
    kind = d$kind[1L], tables = nrow(d), said_over_found = exp(mean(log(d$one_more / d$found_next))),
    within_2 = mean(abs(log2(d$one_more / d$found_next)) < 1)
  )
})))
cat("## Groups halved\n\n")
tetrapods <- early_tetrapods$sites
show(do.call(rbind, lapply(1:4, function(seed) {
  bin <- paste(floor(tetrapods$age / 8), floor(tetrapods$lng / 30))
  near <- list(age = as.matrix(tetrapods["age"]))
  halved_groups(sprintf("early_tetrapods, 8 My by 30 degrees, half %d", seed), early_tetrapods$x, near, bin, seed)
})))
cat("## Completeness known of each site\n\n")
whole <- Filter(function(case) grepl("nothing planted", case$name), all_cases)
bases <- lapply(whole, function(case) case[c("x", "near")])
names(bases) <- vapply(whole, `[[`, "", "name")
show(do.call(rbind, Map(function(base, name) {
  each <- vapply(1:10, function(seed) planted_known(base$x, base$near, seed), numeric(4))
  data.frame(table = name, replicates = 10, t(rowMeans(each)))
}, bases, names(bases))))
cat("## Cells: log loss on what others found, with their number\n\n")
known <- law[!is.na(law$constant), ]
cat(sprintf(paste(
  "Below a constant on %d of %d tables, within .02 of the best logistic of the chance on %d; means: constant %.3f,",
  "`missed` %.3f, best %.3f.\n"
), sum(known$odds < known$constant), nrow(known), sum(known$odds < known$best + 0.02), mean(known$constant),
  mean(known$odds), mean(known$best)))
