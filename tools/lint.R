# Lints every R file (.lintr), the size of functions (one that is too long holds two ideas; it bounds their branches,
# too, which cyclocomp takes half of the time to count), and that a model's class is
# tested only in its own files: elsewhere a method states the difference.

max_function <- 60

folders <- c("R", "tests", "tools", "bench", "data-raw", "inst", "vignettes")
files <- dir(folders, pattern = "[.](R|Rmd)$", recursive = TRUE, full.names = TRUE)

too_long <- function(file) {
  if (!grepl("[.]R$", file)) {
    return(NULL)
  }
  found <- NULL
  code <- parse(file, keep.source = TRUE)
  for (i in seq_along(code)) {
    is_function <- is.call(code[[i]]) && length(code[[i]]) == 3 && is.call(code[[i]][[3]]) &&
      identical(code[[i]][[3]][[1]], as.name("function"))
    where <- as.integer(attr(code, "srcref")[[i]])
    if (is_function && where[3] - where[1] >= max_function) {
      found <- c(found, sprintf("%s:%d: a function of %d lines", file, where[1], where[3] - where[1] + 1))
    }
  }
  found
}

models <- intersect(dir("src"), getNamespaceExports("multicause")) # a folder of kernels each

# Exceptions in which a model's class may be tested, with reasons.
allowed_class_tests <- c(
  "R/ensemble.R" = "an average is an aspect Bernoulli model itself where all of its members are"
)

# Whether a file belongs to a model, by its stem; files of aspect_bernoulli also belong to models whose names begin with
# it.
is_own_file <- function(file, model) {
  stem <- sub("[.]R$", "", basename(file))
  own <- models[startsWith(stem, models)]
  length(own) > 0L && startsWith(model, own[which.max(nchar(own))])
}

# Finds tests for classes of models: inherits(fit, "nmf"), switch(class(fit)[1], nmf = ), "nmf" %in% class(fit).
class_tests <- function(code, file) {
  is_call_of <- function(x, name) is.call(x) && identical(x[[1]], as.name(name))
  asks <- function(x) is_call_of(x, "class") || ((is_call_of(x, "[") || is_call_of(x, "[[")) && asks(x[[2]]))
  strings <- function(x) if (is.character(x)) x else if (is.call(x)) unlist(lapply(as.list(x)[-1], strings))
  if (!is.call(code)) {
    return(NULL)
  }
  # An empty argument, as in x[, 1], is a name without letters.
  parts <- Filter(function(part) !is.name(part) || nzchar(part), as.list(code))
  is_test <- any(vapply(parts, function(part) asks(part) || identical(part, as.name("inherits")), NA))
  named <- intersect(c(unlist(lapply(parts, strings)), if (is_call_of(code, "switch")) names(code)), models)
  foreign <- Filter(function(model) !is_own_file(file, model), named)
  found <- if (is_test && length(foreign)) substr(paste(deparse(code), collapse = " "), 1, 80)
  c(found, unlist(lapply(parts, class_tests, file)))
}

find_class_tests <- function() {
  files <- dir("R", pattern = "[.]R$", full.names = TRUE)
  found <- lapply(stats::setNames(files, files), function(file) unlist(lapply(parse(file), class_tests, file)))
  found <- Filter(length, found)
  bad <- found[setdiff(names(found), names(allowed_class_tests))]
  idle <- setdiff(names(allowed_class_tests), names(found))
  c(
    sprintf("%s: a model's class is asked for outside its files: %s", rep(names(bad), lengths(bad)), unlist(bad)),
    sprintf("%s: allowed to ask for a model's class, but does not", idle)
  )
}

# A method of an internal generic, which lintr takes for a name with a dot.
is_method <- function(lint) {
  generic <- sub("^([a-z0-9_]+)[.].*", "\\1", lint$line)
  lint$linter %in% c("object_name_linter", "object_length_linter") && exists(generic, package, mode = "function") &&
    "UseMethod" %in% all.names(body(get(generic, package))) # also after a check
}

# Test helpers use each other across files, and scripts what they source, which lintr does not see.
is_helper <- function(lint) {
  if (lint$linter != "object_usage_linter") {
    return(FALSE)
  }
  lines <- readLines(lint$filename)
  calls <- regmatches(lines, regexpr('(?<=^source\\(")[^"]+', lines, perl = TRUE))
  name <- sub(".*global function definition for .(.*).$", "\\1", lint$message)
  grepl("tests/", lint$filename) || any(startsWith(unlist(lapply(calls, readLines)), paste(name, "<- function")))
}

package <- loadNamespace("multicause")
lints <- Filter(function(lint) !is_method(lint) && !is_helper(lint), do.call(c, lapply(files, lintr::lint)))
long <- unlist(lapply(files, too_long))
for (lint in lints) print(lint)
tests_of_class <- find_class_tests()
writeLines(as.character(c(long, tests_of_class)))
bad <- length(lints) + length(long) + length(tests_of_class)
cat(sprintf("%d R files, %d findings\n", length(files), bad))
quit(status = as.integer(bad > 0))
