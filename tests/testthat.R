library(testthat)
library(multicause)

test_check("multicause")
