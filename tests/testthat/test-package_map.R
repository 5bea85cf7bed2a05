# The page ?multicause names everything that users can call, and states for every model what counts as a parameter.
# Tests R/multicause-package.R.
test_that("the map of the package is complete", {
  file <- test_path("..", "..", "man", "multicause-package.Rd")
  skip_if_not(file.exists(file), "the sources of the help pages are not at hand")
  page <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  exports <- getNamespaceExports("multicause")
  linked <- function(name) {
    any(vapply(sprintf(c("link[=%s]", "link{%s}"), name), grepl, NA, page, fixed = TRUE))
  }
  of_generics <- c("tidy", "glance", "augment", "explain", "explore") # whose methods have the pages
  named <- vapply(exports, linked, NA) | exports %in% of_generics
  expect_identical(sort(exports[!named]), character())

  takes <- function(name) names(formals(getExportedValue("multicause", name)))
  models <- exports[vapply(exports, function(name) all(c("x", "k", "start", "control") %in% takes(name)), NA)]
  counted <- sub(".*What counts as a parameter", "", page)
  said <- vapply(models, grepl, NA, counted, fixed = TRUE)
  expect_identical(sort(models[!said]), character())
})
