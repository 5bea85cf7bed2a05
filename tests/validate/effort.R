# Does effort help to tell what a rarefied site misses? Turkana Basin: specimens of each site are drawn down to a random
# fraction; genera of the full sample that are gone are the false absences. With and without log(specimens) as effort.
library(multicause)
folder <- file.path(Sys.getenv("MULTICAUSE_DATA", "../shared/data"), "turkana")
if (!dir.exists(folder)) {
  cat("turkana is not at hand: skipped\n")
  quit()
}
counts <- read.csv(file.path(folder, "turkana_counts.csv"))
full <- xtabs(n_specimens ~ site_id + genus, counts)
full <- unclass(full)[rowSums(full) >= 20, ]
full <- full[, colSums(full > 0) >= 5]
quick <- fit_control(n_start = 3, max_iter = 800, tol = 1e-7, progress = FALSE)
score <- function(seed) {
  set.seed(seed)
  keep <- runif(nrow(full), 0.1, 1)
  thin <- matrix(rbinom(length(full), full, keep), nrow(full), dimnames = list(rownames(full), colnames(full)))
  thin <- thin[rowSums(thin) > 0, ]
  truth <- full[rownames(thin), ] > 0 & thin == 0
  truth[thin > 0] <- NA
  effort <- log(rowSums(thin))
  x <- (thin > 0) + 0
  fits <- list(
    without = aspect_bernoulli(x, 4, phantom = "white", estimate = "map", control = quick),
    with = aspect_bernoulli(x, 4, effort = effort, estimate = "map", control = quick)
  )
  unlist(lapply(fits, function(fit) {
    cells <- false_absences(fit, Inf)
    each <- function(what) {
      out <- matrix(0, nrow(x), ncol(x), dimnames = dimnames(x))
      out[cbind(cells$site, cells$taxon)] <- cells[[what]]
      found <- recovery(out, truth)$summary
      c(auc = found$auc, auc_within = found$auc_within, ap = found$ap, slope = found$slope)
    }
    c(missed = each("missed"), probability = each("probability"))
  }))
}
result <- suppressWarnings(vapply(1:10, score, numeric(16)))
cat(sprintf("turkana, %d x %d, 10 rarefactions: mean (s.e. of the mean)\n", nrow(full), ncol(full)))
cat(sprintf("%-26s %.3f (%.3f)\n", rownames(result), rowMeans(result), apply(result, 1, sd) / sqrt(10)), sep = "")
gain <- function(what) {
  each <- result[paste0("with.missed.", what), ] - result[paste0("without.missed.", what), ]
  cat(sprintf("gain of effort in %s of `missed`: %.3f (s.e. %.3f)\n", what, mean(each), sd(each) / sqrt(10)))
  each
}
gains <- lapply(c("auc", "ap"), gain)
good <- mean(gains[[1]]) > 2 * sd(gains[[1]]) / sqrt(10)
cat(sprintf("= %d passed, %d failed, 0 skipped\n", as.integer(good), as.integer(!good)))
stopifnot(good)
