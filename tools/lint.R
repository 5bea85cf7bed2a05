# Lints every R file (.lintr), and the size of files and functions: one that is too long holds two ideas.

max_file <- 350
max_function <- 80

folders <- c("R", "tests", "tools", "bench", "data-raw", "inst", "vignettes")
files <- dir(folders, pattern = "[.](R|Rmd)$", recursive = TRUE, full.names = TRUE)

too_long <- function(file) {
  lines <- length(readLines(file))
  found <- if (lines > max_file) sprintf("%s: %d lines", file, lines)
  if (!grepl("[.]R$", file)) {
    return(NULL)
  }
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

# A method of a generic of ours that is not exported: lintr takes it for a name with a dot.
is_method <- function(lint) {
  generic <- sub("^([a-z0-9_]+)[.].*", "\\1", lint$line)
  lint$linter == "object_name_linter" && exists(generic, package, mode = "function") &&
    utils::isS3stdGeneric(get(generic, package))
}

# Test helpers use each other across files, which lintr does not see.
is_helper <- function(lint) lint$linter == "object_usage_linter" && grepl("tests/", lint$filename)

package <- loadNamespace("multicause")
lints <- Filter(function(lint) !is_method(lint) && !is_helper(lint), do.call(c, lapply(files, lintr::lint)))
long <- unlist(lapply(files, too_long))
for (lint in lints) print(lint)
writeLines(as.character(long))
bad <- length(lints) + length(long)
cat(sprintf("%d R files, %d findings\n", length(files), bad))
quit(status = as.integer(bad > 0))
