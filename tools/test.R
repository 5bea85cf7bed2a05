# Runs tests/testthat on the installed package and ends with the counts: those of what the package does or, by the
# argument "prose", those of its documents' words. A warning is a failure: a test expects it or the code does not raise
# it (a snapshot seen for the first time warns, too).

prose <- "^(articles|readability|readme|spelling|words)$"
of_prose <- identical(commandArgs(TRUE), "prose")
# The sanitizers look at C and slow everything: pictures and documents call nothing that other tests do not.
sanitized <- nzchar(Sys.getenv("MULTICAUSE_SANITIZED"))
left_out <- if (sanitized) paste0(prose, "|plot|^(help|report|report_files|source_layout|tasks)$") else prose

# Each file that took seconds is told when it ends: a run that is stopped says how far it came, and what was slow.
FileTimes <- R6::R6Class("FileTimes", # nolint: object_name_linter. As other reporters are named.
  inherit = testthat::Reporter,
  public = list(
    file = NULL, begun = NULL,
    start_file = function(name) {
      self$file <- name
      self$begun <- proc.time()
    },
    end_file = function() {
      took <- proc.time() - self$begun
      if (took[["elapsed"]] > 2) {
        message(sprintf("%6.1f s, %5.1f s of the processor: %s", took[["elapsed"]], sum(took[-3L]), self$file))
      }
    }
  )
)
reporter <- testthat::MultiReporter$new(list(testthat::CheckReporter$new(), FileTimes$new()))

results <- testthat::test_dir(
  "tests/testthat",
  filter = if (of_prose) prose else left_out, invert = !of_prose,
  package = "multicause", load_package = "installed", reporter = reporter,
  stop_on_failure = FALSE
)
results <- as.data.frame(results)

slow <- results[results$real > 5, ]
for (i in order(-slow$real)) {
  message(sprintf("%6.1f s  %s: %s", slow$real[i], slow$file[i], slow$test[i]))
}

failed <- sum(results$failed, results$error, results$warning)
cat(sprintf("= %d passed, %d failed, %d skipped\n", sum(results$passed), failed, sum(results$skipped)))
quit(status = as.integer(failed > 0 || nrow(results) == 0))
