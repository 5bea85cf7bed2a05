# `write`: regenerates man/ and NAMESPACE in place. `check`: fails where they are out of date.
# Both work from the roxygen comments in R/.

up_to_date <- function(copy) {
  files <- c("NAMESPACE", file.path("man", union(dir("man"), dir(file.path(copy, "man")))))
  read <- function(file) if (file.exists(file)) readLines(file, encoding = "UTF-8")
  stale <- files[!vapply(files, function(f) identical(read(f), read(file.path(copy, f))), NA)]
  for (file in stale) message("out of date: ", file)
  length(stale) == 0
}

if (identical(commandArgs(TRUE), "check")) {
  copy <- tempfile()
  utils::untar("build/multicause.tar.gz", exdir = copy)
  copy <- file.path(copy, "multicause")
  utils::capture.output(suppressMessages(roxygen2::roxygenise(copy, load_code = "installed")))
  if (!up_to_date(copy)) stop("run `make docs` and commit what it writes", call. = FALSE)
} else {
  roxygen2::roxygenise()
  # Compiled for debugging: an ordinary installation must not reuse them.
  file.remove(dir("src", pattern = "[.](o|so)$", full.names = TRUE))
}
