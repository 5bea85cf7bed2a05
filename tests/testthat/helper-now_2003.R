# A table of NOW, release of 2003, as list(x, sites): sites in the order of the file, old to young.
now_2003 <- function(set) {
  part <- c("occ", "sites", "genera")
  table <- lapply(sprintf("%s_%s.csv", set, part), function(file) utils::read.csv(shared_data("now_2003", file)))
  x <- matrix(0L, nrow(table[[2L]]), nrow(table[[3L]]), dimnames = list(table[[2L]]$site, table[[3L]]$genus))
  x[cbind(table[[1L]]$site_id, table[[1L]]$genus_id)] <- 1L
  list(x = x, sites = table[[2L]])
}
