# Mutants of kernels and of R code: one line changed, and the tests that must see it; about half an hour. The package
# is the one that is installed, with its objects in src/, which the mutants are linked with. A mutant runs those tests
# of its file whose names match `only`, and all of the file where these do not see it. Prints a row for each; ends with
# an error where one lives. Some only:
#   Rscript tests/validate/mutants.R [words that names of mutants have]

mutant <- function(name, file, from, to, tests, only = ".") {
  list(name = name, file = file, from = from, to = to, tests = tests, only = only)
}
no_more <- function(line) sub("+=", "+= 0 *", line, fixed = TRUE) # a sum that this part has no share in
in_c <- function(name, file, from, to = no_more(from), ...) mutant(name, file.path("src", file), from, to, ...)
in_r <- function(name, file, ...) mutant(name, file.path("R", file), ...)

source("tests/validate/mutants/tests_c.R")
source("tests/validate/mutants/tests_r.R")
wanted <- commandArgs(TRUE)
mutants <- c(c_mutants, r_mutants)
if (length(wanted)) mutants <- Filter(function(m) any(vapply(wanted, grepl, NA, m$name, fixed = TRUE)), mutants)

scratch <- tempfile("mutants")
dir.create(file.path(scratch, "lib"), recursive = TRUE)
invisible(file.copy("src", scratch, recursive = TRUE, copy.date = TRUE))
invisible(file.copy(find.package("multicause"), file.path(scratch, "lib"), recursive = TRUE))
object_of <- file.path(scratch, "lib", "multicause", "libs", paste0("multicause", .Platform$dynlib.ext))
sound <- file.path(scratch, basename(object_of))
invisible(file.copy(object_of, sound))

edited <- function(mutant) {
  text <- paste(readLines(mutant$file), collapse = "\n")
  if (!grepl(mutant$from, text, fixed = TRUE)) stop("no such line: ", mutant$name)
  strsplit(sub(mutant$from, mutant$to, text, fixed = TRUE), "\n")[[1L]]
}

# Compiles the one file that differs and links it with the others; R code is changed in the session of the tests.
build <- function(mutant) {
  if (!startsWith(mutant$file, "src/")) {
    file.copy(sound, object_of, overwrite = TRUE)
    patch <- file.path(scratch, "patch.R")
    before <- vapply(parse(mutant$file), function(e) paste(deparse(e), collapse = "\n"), "")
    now <- parse(text = edited(mutant))
    writeLines(vapply(now, function(e) paste(deparse(e), collapse = "\n"), "")[!vapply(now, function(e) {
      paste(deparse(e), collapse = "\n") %in% before
    }, NA)], patch)
    return(patch)
  }
  at <- file.path(scratch, mutant$file)
  objects <- sub("c$", "o", at)
  writeLines(edited(mutant), at)
  on.exit({
    file.copy(mutant$file, at, overwrite = TRUE)
    unlink(objects)
    file.copy(sub("c$", "o", mutant$file), objects)
  })
  unlink(objects)
  library <- file.path(scratch, "src", basename(object_of))
  unlink(library)
  old <- setwd(file.path(scratch, "src"))
  on.exit(setwd(old), add = TRUE, after = FALSE)
  said <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", basename(library), "init.c"), TRUE, TRUE)
  if (!file.exists(library)) stop("does not compile:\n", paste(utils::tail(said, 8L), collapse = "\n"))
  file.copy(library, object_of, overwrite = TRUE)
  ""
}

# Names of the tests of a file that fail, in a process of its own.
failing <- function(file, only, patch) {
  args <- shQuote(c("tests/validate/mutants/run_tests.R", file, only, patch, file.path(scratch, "lib")))
  said <- system2(file.path(R.home("bin"), "Rscript"), args, stdout = TRUE, stderr = TRUE)
  killed <- grep("^killed by: ", said, value = TRUE)
  if (!any(said == "all ran")) return("the session ends")
  sub("^killed by: ", "", killed)
}

killers <- function(mutant) {
  patch <- build(mutant)
  for (only in unique(c(mutant$only, "."))) {
    for (file in mutant$tests) {
      killed <- failing(file, only, patch)
      if (length(killed)) return(sprintf("%s: %s", file, killed[1L]))
    }
  }
  NULL
}

living <- character()
for (mutant in mutants) {
  killed <- tryCatch(killers(mutant), error = function(e) stop(mutant$name, ": ", conditionMessage(e)))
  if (is.null(killed)) living <- c(living, mutant$name)
  cat(sprintf("| %s | %s | %s |\n", mutant$name, mutant$file, if (is.null(killed)) "LIVES" else killed))
}
unlink(scratch, recursive = TRUE)
if (length(living)) stop("alive: ", paste(living, collapse = ", "))
