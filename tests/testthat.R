# CRAN allows ten minutes for the whole check, so files that take above five seconds are skipped there.
if (requireNamespace("testthat", quietly = TRUE)) {
  library(testthat)
  library(multicause)

  test_check("multicause")
}
