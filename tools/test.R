# Runs tests/testthat on the installed package and ends with the counts: those of the package's behaviour or, by an
# argument, the "long" ones, or those of the "prose" of its documents. A warning is a failure, because a test either
# expects it or the code must not raise it (a snapshot seen for the first time warns, too).

groups <- c(
  prose = "^(articles|readability|readme|spelling|words)$",
  # Documents and pictures by the dozen, folders of shards, separate processes.
  long = paste0(
    "^(report|report_files|explore|.*plot|plot_sizes|examples|edited|sensitivity|interrupt|smooth_others|checkpoint|",
    "bmf_sampler|shards_models|(aspect_bernoulli|which_zeros)_shards.*)$"
  )
)
asked <- commandArgs(TRUE)
# The sanitizers examine C and slow everything, so only files that reach kernels in a way of their own are run. Every
# entry point is also called under gctorture, and the kernels by the tests in C.
sanitized <- nzchar(Sys.getenv("MULTICAUSE_SANITIZED"))
kernels <- paste0(
  "^(aspect_bernoulli(_[a-mo-r].*|_newton|_vb)?|aspect_categorical|bernoulli_mixture|bmf.*|cell_codes|data_view|",
  "entropic|identifiability(_fits|_unlike)?|impute|logistic_pca|logistic_regression|neighbours_mean|nmf|",
  "noisy_or(_[a-q].*)?|plca.*|plsa(_gibbs|_membership|_prior|_vb)?|shards_fit|smooth|smooth_cv|test_loglik|",
  "visits_bernoulli(_[a-o].*|_predict)?|visits_occupancy|which_zeros(_shards|_visits)?)$"
)
left_out <- paste(unlist(groups), collapse = "|")

# Reports each file that took seconds when it ends, so that a stopped run shows its progress and what was slow.
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

tests <- testthat::test_dir(
  "tests/testthat",
  filter = if (sanitized) kernels else if (length(asked)) groups[[asked]] else left_out,
  invert = !sanitized && !length(asked),
  package = "multicause", load_package = "installed", reporter = reporter,
  stop_on_failure = FALSE
)
results <- as.data.frame(tests)

slow <- results[results$real > 5, ]
for (i in order(-slow$real)) {
  message(sprintf("%6.1f s  %s: %s", slow$real[i], slow$file[i], slow$test[i]))
}

# What failed stands last, where a log that is cut in its middle still shows it.
for (test in tests) {
  for (result in test$results) {
    if (!inherits(result, c("expectation_success", "expectation_skip"))) {
      cat(sprintf("FAILED %s: %s\n", test$file, test$test), paste0("  ", format(result), "\n"), sep = "")
    }
  }
}

failed <- sum(results$failed, results$error, results$warning)
cat(sprintf("= %d passed, %d failed, %d skipped\n", sum(results$passed), failed, sum(results$skipped)))
quit(status = as.integer(failed > 0 || nrow(results) == 0))
