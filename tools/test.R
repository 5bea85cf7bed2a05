# Runs tests/testthat on the installed package and ends with the counts: those of what the package does or, by an
# argument, those that take "long", or those of the "prose" of its documents. A warning is a failure: a test expects it
# or the code does not raise it (a snapshot seen for the first time warns, too).

groups <- c(
  prose = "^(articles|readability|readme|spelling|words)$",
  # Documents and pictures by the dozen, folders of shards, processes of their own.
  long = paste0(
    "^(report|report_files|explore|.*plot|plot_sizes|examples|edited|sensitivity|interrupt|smooth_others|checkpoint|",
    "bmf_sampler|shards_models|(aspect_bernoulli|which_zeros)_shards.*)$"
  )
)
asked <- commandArgs(TRUE)
# The sanitizers look at C and slow everything: pictures and documents call nothing that other tests do not.
sanitized <- nzchar(Sys.getenv("MULTICAUSE_SANITIZED"))
no_code <- "plot|^(help|report|report_files|source_layout|tasks)$"
left_out <- paste(c(groups[["prose"]], if (sanitized) no_code else groups[["long"]]), collapse = "|")

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
  filter = if (length(asked)) groups[[asked]] else left_out, invert = !length(asked),
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
