# Functions shared by the scripts paper_*.R and bench/bmf_experiments.R, which are run from the package's folder.

# Runs the experiments that the command line names (all, if none) and stores each result in `target` as soon as it is
# there.
run_experiments <- function(experiments, target, wanted = commandArgs(TRUE)) {
  if (!length(wanted)) wanted <- names(experiments)
  for (name in wanted) {
    time <- system.time(result <- experiments[[name]]())[["elapsed"]]
    message(sprintf("%s: %.0f s", name, time))
    # Read again: another run may have stored other experiments meanwhile.
    results <- if (file.exists(target)) readRDS(target) else list()
    results[[name]] <- result
    saveRDS(results[intersect(names(experiments), names(results))], target, version = 2L, compress = "xz")
  }
}

# Fills unknown cells of rows by the mean of the k complete rows nearest in the observed cells.
nearest <- function(x, rows, k = 1) {
  whole <- setdiff(seq_len(nrow(x)), rows)
  out <- x
  for (i in rows) {
    seen <- !is.na(x[i, ])
    distance <- colSums((t(x[whole, seen, drop = FALSE]) - x[i, seen])^2)
    out[i, !seen] <- colMeans(x[whole[order(distance)[seq_len(k)]], !seen, drop = FALSE])
  }
  out
}
