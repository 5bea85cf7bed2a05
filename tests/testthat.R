if (requireNamespace("testthat", quietly = TRUE)) {
  library(testthat)
  library(multicause)

  test_check("multicause")
}
