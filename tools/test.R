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
# The sanitizers look at C and slow everything: files that reach kernels in a way of their own. The rest call nothing
# that these do not; every entry point is called under gctorture, too, and the kernels by the tests in C.
sanitized <- nzchar(Sys.getenv("MULTICAUSE_SANITIZED"))
kernels <- paste0(
  "^(aspect_bernoulli(_[a-r].*|_vb)?|bernoulli_mixture|bmf.*|bootstrap|cell_codes|counts_papers|data_view|entropic|",
  "identifiability.*|impute|logistic_pca|logistic_regression|neighbours_mean|nmf|noisy_or.*|plca.*|plsa(_gibbs|_prior|",
  "_vb)?|shards_fit|smooth|smooth_cv|test_loglik|",
  "visits_bernoulli(_[a-o].*|_predict)?|visits_occupancy|which_zeros(_shards|_visits)?)$"
)
left_out <- paste(unlist(groups), collapse = "|")

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
  filter = if (sanitized) kernels else if (length(asked)) groups[[asked]] else left_out,
  invert = !sanitized && !length(asked),
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
