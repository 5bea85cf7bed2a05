# tests/entries/entries.c, built once a session against the library that is installed: skipped where the sources are
# not at hand, as in R CMD check.
test_entry <- local({
  dll <- NULL
  function(name, ...) {
    if (is.null(dll)) {
      root <- test_path("..", "..")
      source <- file.path(root, "tests", "entries", "entries.c")
      skip_if_not(file.exists(source), "the sources are not at hand")
      skip_on_os("windows") # a library there finds no symbols of another
      dll <<- build_entries(source, normalizePath(file.path(root, "src")))
    }
    .Call(getNativeSymbolInfo(name, dll), ...)
  }
})

build_entries <- function(source, include) {
  folder <- tempfile("entries")
  dir.create(folder)
  file.copy(source, folder)
  # Linked to the library of the package, whose functions R keeps to itself.
  package <- getLoadedDLLs()[["multicause"]][["path"]]
  flags <- c(sprintf("PKG_CPPFLAGS = -I\"%s\"", include), sprintf("PKG_LIBS = \"%s\"", package))
  writeLines(flags, file.path(folder, "Makevars"))
  before <- setwd(folder)
  on.exit(setwd(before))
  built <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "entries.c"), stdout = TRUE, stderr = TRUE)
  library <- file.path(folder, paste0("entries", .Platform$dynlib.ext))
  if (!file.exists(library)) stop(paste(c("tests/entries did not build:", built), collapse = "\n"))
  dyn.load(library)
}
