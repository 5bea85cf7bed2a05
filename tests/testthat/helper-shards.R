# Tables and fits for the tests of shards.

planted_table <- function(n = 240, m = 40, k = 3, missing = 60) {
  set.seed(8)
  membership <- matrix(stats::rexp(n * k)^2, n)
  probability <- (membership / rowSums(membership)) %*% matrix(stats::rbeta(k * m, 0.3, 4), k)
  x <- matrix(
    stats::rbinom(n * m, 1, probability), n, m,
    dimnames = list(sprintf("s%03d", seq_len(n)), sprintf("t%02d", seq_len(m)))
  ) + 0
  x[sample(n * m, missing)] <- NA
  x
}

# The same cells as records, in no order, some twice; a site without finds has a record, too.
as_records <- function(x) {
  at <- which(is.na(x) | x == 1, arr.ind = TRUE)
  records <- data.frame(site = rownames(x)[at[, 1L]], taxon = colnames(x)[at[, 2L]], found = x[at])
  records <- rbind(records, data.frame(site = rownames(x), taxon = NA, found = 0))
  set.seed(9)
  records <- rbind(records, records[1:20, ])
  records <- records[sample(nrow(records)), ]
  records$effort <- match(records$site, rownames(x))
  rownames(records) <- NULL
  records
}

shards_of <- function(records, ...) {
  shards(records, tempfile("shards-"), site = "site", taxon = "taxon", present = "found", along = "effort", ...)
}

start_of_shards <- function(x, k, white = FALSE) {
  set.seed(3)
  membership <- matrix(stats::runif(nrow(x) * k, 0.1, 1), nrow(x))
  aspects <- matrix(stats::runif(k * ncol(x), 0.02, 0.3), k)
  if (white) aspects[k, ] <- 0
  list(membership = membership / rowSums(membership), aspects = aspects)
}

# A fit that ends after few passes, without the warning that says so.
short_fit <- function(x, k, ...) {
  withCallingHandlers(
    aspect_bernoulli(x, k, ...), multicause_not_converged = function(w) invokeRestart("muffleWarning")
  )
}

numbers_of <- function(fit) fit[c("param", "shares", "objective", "loglik", "trace", "converged")]
