# Real data that are not part of the package: the folder in the environment variable MULTICAUSE_DATA, or shared/data
# beside any folder above this one (data-raw/SOURCES.md). Where there is none, and on CRAN, the test that asks for them
# is skipped.

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
  testthat::skip_if_not(all(file.exists(path)), sprintf("%s is not at hand", file.path(...)[1L]))
  path
}

# Path of a file of real data: its folder and name in shared/data.
shared_data <- function(...) shared_file("data", ...)

# A matrix of the data now_2003: sites in the order of the file, old to young, and the table of sites.
now_2003 <- function(set) {
  file <- shared_data("now_2003", sprintf("%s_%s.csv", set, c("occ", "sites", "genera")))
  table <- lapply(file, utils::read.csv)
  x <- matrix(0L, nrow(table[[2L]]), nrow(table[[3L]]), dimnames = list(table[[2L]]$site, table[[3L]]$genus))
  x[cbind(table[[1L]]$site_id, table[[1L]]$genus_id)] <- 1L
  list(x = x, sites = table[[2L]])
}

# A golden case (golden/README.md), `name` being the folder and the file without its ending.
golden <- function(name, ...) {
  testthat::skip_if_not_installed("jsonlite")
  jsonlite::fromJSON(testthat::test_path("golden", paste0(name, ".json")), ...)
}
