# Real data and reference answers that are not part of the package: the folder in the environment
# variable MULTICAUSE_DATA, or shared/data beside any folder above this one. Where there is none,
# and on CRAN, the test that asks for them is skipped.

find_shared <- function(folder = getwd()) {
  data <- Sys.getenv("MULTICAUSE_DATA")
  if (nzchar(data)) {
    return(dirname(normalizePath(data, mustWork = FALSE)))
  }
  while (dirname(folder) != folder) {
    shared <- file.path(folder, "shared")
    if (dir.exists(file.path(shared, "data"))) {
      return(shared)
    }
    folder <- dirname(folder)
  }
  ""
}

shared_file <- function(...) {
  testthat::skip_on_cran()
  path <- file.path(find_shared(), ...)
  testthat::skip_if_not(file.exists(path), sprintf("%s is not at hand", file.path(...)))
  path
}

# The path of a file of real data: its folder and name in shared/data.
shared_data <- function(...) shared_file("data", ...)

# The path of a reference answer: the model and the file in shared/golden.
shared_golden <- function(...) shared_file("golden", ...)

# A reference answer as R reads it.
golden <- function(...) {
  testthat::skip_if_not_installed("jsonlite")
  jsonlite::fromJSON(shared_golden(...))
}
