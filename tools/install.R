# Installs R packages by name from the user's repositories (R's first mirror where none is set), or
# one source tarball, into the first library that can be written to.
#
# Usage: Rscript tools/install.R NAME... | FILE.tar.gz

what <- commandArgs(TRUE)
lib <- .libPaths()[file.access(.libPaths(), mode = 2) == 0][1]
if (is.na(lib)) {
  lib <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1]][1]
  dir.create(lib, recursive = TRUE, showWarnings = FALSE)
  .libPaths(c(lib, .libPaths()))
}

if (length(what) == 1 && file.exists(what)) {
  utils::install.packages(what, lib = lib, repos = NULL, type = "source")
} else {
  repos <- getOption("repos")
  unset <- repos == "@CRAN@"
  repos[unset] <- utils::getCRANmirrors(local.only = TRUE)$URL[1]
  utils::install.packages(what, lib = lib, repos = repos, Ncpus = parallel::detectCores())
}
