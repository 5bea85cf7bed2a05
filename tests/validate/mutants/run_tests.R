# Some tests of a file with a library that has a mutant: file, pattern of the tests' names, patch of R code ("": none),
# library. Called by mutants.R.

args <- commandArgs(TRUE)
root <- normalizePath(".")
.libPaths(c(args[4L], .libPaths()))
library(testthat)
data <- Sys.getenv("MULTICAUSE_DATA", file.path(dirname(root), "shared", "data"))
Sys.setenv(NOT_CRAN = "true", MULTICAUSE_DATA = data)

# A copy of the tests, as those that are left out would have their snapshots deleted.
run <- tempfile("run")
dir.create(file.path(run, "tests", "testthat"), recursive = TRUE)
for (part in setdiff(dir(root), c("tests", "build"))) file.symlink(file.path(root, part), file.path(run, part))
for (part in setdiff(dir(file.path(root, "tests")), "testthat")) {
  file.symlink(file.path(root, "tests", part), file.path(run, "tests", part))
}
here <- file.path(root, "tests", "testthat")
beside <- c("_snaps", "exports", dir(here, "^helper-"))
file.copy(file.path(here, beside), file.path(run, "tests", "testthat"), recursive = TRUE)
code <- parse(file.path(here, paste0("test-", args[1L], ".R")), keep.source = TRUE)
is_out <- vapply(code, function(e) {
  is.call(e) && identical(e[[1L]], quote(test_that)) && !grepl(args[2L], as.character(e[[2L]])[1L])
}, NA)
test <- file.path(run, "tests", "testthat", paste0("test-", args[1L], ".R"))
writeLines(unlist(lapply(attr(code, "srcref")[!is_out], as.character)), test)

# What was changed takes the place of what it was, also where it is a method.
space <- asNamespace("multicause")
changed <- if (nzchar(args[3L])) parse(args[3L])
for (e in changed) {
  name <- as.character(e[[2L]])
  value <- eval(e[[3L]], space)
  unlockBinding(name, space)
  assign(name, value, space)
  tables <- lapply(loadedNamespaces(), function(package) asNamespace(package)[[".__S3MethodsTable__."]])
  for (table in Filter(Negate(is.null), tables)) if (exists(name, table, inherits = FALSE)) assign(name, value, table)
}

setwd(run)
told <- as.data.frame(test_file(
  test, package = "multicause", load_package = "installed", reporter = "silent", stop_on_failure = FALSE
))
bad <- told$failed > 0 | told$error
cat("", sprintf("killed by: %s", told$test[bad]), "all ran", sep = "\n")
