# Builds tests/entries/entries.c once per session with the kernels that it calls, because the installed library shows
# nothing but its entry point; skipped without the sources, as in R CMD check.
test_entry <- local({
  dll <- NULL
  function(name, ...) {
    if (is.null(dll)) {
      root <- test_path("..", "..")
      source <- file.path(root, "tests", "entries", "entries.c")
      skip_if_not(file.exists(source), "the sources are not at hand")
      dll <<- build_entries(source, normalizePath(file.path(root, "src")))
    }
    .Call(getNativeSymbolInfo(name, dll), ...)
  }
})

build_entries <- function(source, sources) {
  folder <- tempfile("entries")
  dir.create(folder)
  file.copy(c(source, file.path(sources, c("bmf", "num", "engine", "glue"))), folder, recursive = TRUE)
  unlink(dir(folder, "[.]o$", recursive = TRUE, full.names = TRUE)) # of another set of flags
  lines <- grep("^PKG_", readLines(file.path(sources, "Makevars")), value = TRUE)
  writeLines(sub("$(C_VISIBILITY) ", "", lines, fixed = TRUE), file.path(folder, "Makevars"))
  quick <- file.path(folder, "quick")
  writeLines("CFLAGS = -O0", quick)
  before <- setwd(folder)
  on.exit(setwd(before))
  kernels <- c(dir(c("bmf", "num", "engine"), "[.]c$", full.names = TRUE), "glue/glue.c", "glue/bmf.c")
  env <- if (!nzchar(Sys.getenv("R_MAKEVARS_USER"))) paste0("R_MAKEVARS_USER=", quick)
  command <- c("CMD", "SHLIB", "-o", paste0("entries", .Platform$dynlib.ext), "entries.c", kernels)
  built <- system2(file.path(R.home("bin"), "R"), command, stdout = TRUE, stderr = TRUE, env = as.character(env))
  library <- file.path(folder, paste0("entries", .Platform$dynlib.ext))
  if (!file.exists(library)) stop(paste(c("tests/entries did not build:", built), collapse = "\n"))
  dyn.load(library)
}
