# The path of reference data that is not part of the package: from MULTICAUSE_DATA, else beside the checkout.
# A test that needs it skips where it is absent.
shared_data <- function(...) {
  root <- Sys.getenv("MULTICAUSE_DATA", file.path("..", "..", "..", "shared", "data"))
  path <- file.path(root, ...)
  testthat::skip_if_not(all(file.exists(path)), sprintf("reference data %s absent", file.path(...)[1L]))
  path
}

# A matrix of package data now_2003: sites in the order of the file, old to young.
now_2003 <- function(set) {
  file <- shared_data("now_2003", sprintf("%s_%s.csv", set, c("occ", "sites", "genera")))
  table <- lapply(file, utils::read.csv)
  x <- matrix(0L, nrow(table[[2L]]), nrow(table[[3L]]), dimnames = list(table[[2L]]$site, table[[3L]]$genus))
  x[cbind(table[[1L]]$site_id, table[[1L]]$genus_id)] <- 1L
  list(x = x, sites = table[[2L]])
}
