# Checks parts of a which_zeros() result where the truth is known: how often contrast() finds differences
# between random groups, and whether the probabilities beyond the ends of ranges, as in plot(w, "ranges"), predict the
# ends that were cut. Seeds from 9501 on: the form was chosen with other splits of these tables.
#   Rscript bench/which_zeros_parts.R [splits = 30] > which_zeros_parts.out
library(multicause)
common <- new.env()
sys.source(if (file.exists("bench/common.R")) "bench/common.R" else "common.R", common)
splits <- as.integer(c(commandArgs(TRUE), "30")[1L])
some <- function(d, taxa = 1, sites = 1) {
  d$x <- d$x[, colSums(d$x) >= taxa]
  rows <- rowSums(d$x) >= sites
  list(x = d$x[rows, colSums(d$x[rows, ]) > 0], age = d$age[rows])
}
fossils <- list(
  tetrapods = list(x = early_tetrapods$x, age = early_tetrapods$sites[c("max_ma", "min_ma")]),
  now_g10s10 = some(common$read_fossils("g10s10")), now_g5s5 = some(common$read_fossils("g5s5")),
  now_nam = some(common$read_fossils("nam_large", "now_2020_nam"), 3, 2)
)
communities <- lapply(stats::setNames(nm = c("dune", "mite", "BCI", "varespec", "sipoo")), function(name) {
  utils::data(list = name, package = "vegan", envir = environment())
  list(x = (get(name) > 0) + 0)
})
answer <- function(d, ...) suppressMessages(which_zeros(d$x, age = d$age, quick = TRUE, seed = 9501, ...))

cat("Groups dealt at random: share of the 90 % ranges that leave out 0\n")
dealt <- lapply(c(fossils, communities), function(d) {
  w <- answer(d)
  n <- nrow(d$x)
  set.seed(9502)
  out <- replicate(splits, {
    groups <- replace(rep("rest", n), sample(n, sample(c(5, n %/% 4, n %/% 2), 1L)), "some")
    vapply(c("share", "richness"), function(of) {
      pair <- contrast(w, groups, of = of)
      pair$low > 0 || pair$high < 0
    }, NA)
  })
  data.frame(sites = n, least = unname(w$total[["low"]]), t(rowMeans(out)))
})
dealt <- do.call(rbind, dealt)
print(cbind(round(dealt[1:2]), round(dealt[3:4], 2)))
sure <- dealt$least > 0
cat(sprintf("share, total surely above 0: %.3f of %d tables; richness: %.3f of %d\n\n", mean(dealt$share[sure]),
  sum(sure), mean(dealt$richness), nrow(dealt)))

# Probability beyond the end of the range, for each taxon whose ends were cut by a quarter.
cut_ends <- function(d, seed, side) {
  set.seed(seed)
  inside <- asNamespace("multicause")
  ages <- rowMeans(as.matrix(d$age))
  bins <- inside$time_bins(NULL, ages, "guess")
  bin <- inside$in_bin(ages, bins)
  found <- d$x == 1
  at <- lapply(seq_len(ncol(found)), function(j) bin[found[, j]])
  open <- which(colSums(found) >= 3 & vapply(at, function(b) length(unique(b)) > 1L, NA))
  cut <- sample(open, ceiling(length(open) / 4))
  for (j in cut) d$x[found[, j] & bin %in% range(at[[j]])[if (side < 0) 1L else 2L], j] <- 0
  tiles <- inside$taxon_tiles(answer(d), open, bin, nrow(bins))
  tiles <- tiles[tiles$side == side & !is.na(tiles$probability), ]
  probability <- tapply(tiles$probability, tiles$taxon, max)
  data.frame(probability = as.vector(probability), cut = open[as.integer(names(probability))] %in% cut, side = side)
}
ends <- lapply(names(fossils), function(name) {
  each <- Map(function(seed, side) cut_ends(fossils[[name]], seed, side), 9503:9508, rep(c(-1, 1), 3L))
  cbind(table = name, do.call(rbind, each))
})
ends <- do.call(rbind, ends)
loss <- function(p, y) -mean(log(ifelse(y, p, 1 - p)))
auc <- function(p, y) (mean(rank(p)[y]) - (sum(y) + 1) / 2) / sum(!y)
cat("Ends of ranges, a quarter of them cut\n")
judged <- lapply(split(ends, ends[c("side", "table")]), function(d) {
  p <- pmin(pmax(d$probability, 1e-3), 1 - 1e-3)
  data.frame(
    table = d$table[1L], end = c("first", "last")[(d$side[1L] + 3) / 2], ends = nrow(d), cut = mean(d$cut),
    probability = mean(p), auc = auc(p, d$cut), loss = loss(p, d$cut), constant = loss(mean(d$cut), d$cut)
  )
})
judged <- do.call(rbind, judged)
print(cbind(judged[1:3], round(judged[4:8], 2)), row.names = FALSE)
print(colMeans(judged[4:8]), digits = 3)
step <- cut(ends$probability, c(0, 0.1, 0.25, 0.5, 0.75, 1), include.lowest = TRUE)
means <- round(tapply(ends$probability, step, mean), 2)
print(data.frame(probability = levels(step), ends = as.vector(table(step)), mean = means,
  cut = round(tapply(ends$cut, step, mean), 2)), row.names = FALSE)
