# What the scripts paper_*.R share. They are sourced with it from the package's folder.

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
