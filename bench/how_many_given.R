# nolint start: object_usage_linter. Scripts of one bench share their functions.
# Numbers of undetected presences if more is known than presences: the completeness of each site, or groups whose sites
# are samples of one fauna. Tables are those of bench/how_many_cases.R.
#   Rscript bench/how_many_given.R > how_many_given.out
# Variables: MULTICAUSE_DATA.
library(multicause)
here <- if (file.exists("bench/how_many_cases.R")) "bench" else "."
source(file.path(here, "how_many_cases.R"))

estimate <- function(x, near, ...) {
  given <- c(list(unname(x)), lapply(near, bare), list(quick = TRUE, seed = 1, ...))
  suppressMessages(suppressWarnings(do.call(which_zeros, given)))
}

# Allows for rounding: ranges are whole numbers, the truth need not be.
held <- function(sums, truth) mean(sums$low <= truth + 0.5 & truth - 0.5 <= sums$high)

# Omissions at known rates of the sites.
planted_known <- function(x, near, seed) {
  set.seed(seed)
  known <- stats::runif(nrow(x), 0.5, 1)
  found <- x * stats::rbinom(length(x), 1, known)
  taken <- colSums(found) > 0
  w <- estimate(found[, taken], near, completeness = known)
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
  w <- estimate(x[kept, taken], rows_of(near, kept), groups = groups[kept])
  here <- rowsum(x[kept, taken], groups[kept]) > 0
  there <- rowsum(x[!half & groups %in% groups[kept], taken], groups[!half & groups %in% groups[kept]]) > 0
  data.frame(
    table = name, groups = nrow(here), other_half = sum(there & !here[rownames(there), ]), as.list(w$total)
  )
}

show <- function(d) {
  numbers <- vapply(d, is.numeric, NA)
  d[numbers] <- lapply(d[numbers], round, 2)
  cat("|", paste(names(d), collapse = " | "), "|\n")
  cat("|", strrep(" --- |", ncol(d)), "\n", sep = "")
  for (i in seq_len(nrow(d))) cat("|", paste(vapply(d[i, ], format, ""), collapse = " | "), "|\n")
  cat("\n")
}

sources <- list(
  `early tetrapods` = old_tetrapods, `European mammals` = european_mammals, `North American mammals` = american_mammals,
  `Turkana mammals` = turkana_mammals
)
tables <- lapply(sources, function(read) common$if_there(read()))
tables <- lapply(tables[lengths(tables) > 0], function(one) replace(one, "x", list(presence(unname(one$x)))))
cat("## Groups halved\n\nMeans of four halves. The other half found at least what was missed, not all of it.\n\n")
show(do.call(rbind, lapply(names(tables), function(name) {
  one <- tables[[name]]
  age <- list(age = one$near$age)
  each <- do.call(rbind, lapply(1:4, function(seed) halved_groups(name, one$x, age, one$group, seed)))
  data.frame(table = name, t(round(colMeans(each[-1L]))), found_below_high = mean(each$other_half <= each$high))
})))
cat("## Completeness known of each site\n\n")
show(do.call(rbind, lapply(names(tables), function(name) {
  one <- tables[[name]]
  each <- vapply(1:10, function(seed) planted_known(one$x, one$near, seed), numeric(4))
  data.frame(table = name, replicates = 10, t(rowMeans(each)))
})))
# nolint end
