# Judges a finished R CMD check: every finding must match an allowed one word for word, and the installed package must
# have every vignette, under the name for vignette().
#
# Usage: Rscript check.R FOLDER.Rcheck ALLOWED. The second file's blocks, separated by blank lines, hold the title and
# then the text of a finding; lines that begin with # are comments.

args <- commandArgs(TRUE)
log <- file.path(args[1], "00check.log")
text <- readLines(log)
if (!any(grepl("^Status: ", text))) stop("the check did not finish", call. = FALSE)

# Normalises quotes, which depend on the locale, and drops blank lines.
as_block <- function(lines) {
  lines <- trimws(gsub("[\u2018\u2019]", "'", enc2utf8(lines)))
  paste(lines[nzchar(lines)], collapse = "\n")
}

read_blocks <- function(file) {
  lines <- grep("^#", readLines(file, encoding = "UTF-8"), invert = TRUE, value = TRUE)
  blocks <- split(lines, cumsum(!nzchar(trimws(lines))))
  setdiff(vapply(blocks, as_block, ""), "")
}

findings <- tools::check_packages_in_dir_details(logs = log, drop_ok = TRUE)
findings <- findings[findings$Status %in% c("ERROR", "WARNING", "NOTE"), ]
blocks <- mapply(
  function(check, output) as_block(c(check, strsplit(output, "\n")[[1]])), findings$Check, findings$Output
)
# Examples are slow by their own CPU seconds, because other processes add to elapsed time.
only_clock <- function(block) {
  lines <- strsplit(block, "\n")[[1]]
  if (!grepl("^examples\\b", lines[1]) || !any(grepl("elapsed time > 5s", lines))) return(FALSE)
  seconds <- utils::read.table(text = lines[-(1:which(grepl("^user +system +elapsed$", lines)))])
  all(seconds[[2]] + seconds[[3]] <= 5)
}
clock <- vapply(blocks, only_clock, NA)
new <- findings$Status != "NOTE" | !(blocks %in% read_blocks(args[2]) | clock)

for (block in blocks[!new]) cat("allowed: ", block, "\n", sep = "")
for (i in which(new)) cat("NOT ALLOWED, ", findings$Status[i], ": ", blocks[i], "\n", sep = "")
cat(sprintf("%d findings, %d of them not allowed\n", nrow(findings), sum(new)))

# `make install-vignettes` installs this tarball, and the README begins with a vignette.
vignettes <- tools::file_path_sans_ext(dir("vignettes", "[.]Rmd$"))
found <- if (dir.exists(file.path(args[1], "multicause", "Meta"))) {
  utils::vignette(package = "multicause", lib.loc = args[1])$results[, "Item"]
}
lost <- setdiff(vignettes, found)
if (length(lost)) cat("NOT FOUND by vignette(): ", paste(lost, collapse = ", "), "\n", sep = "")

quit(status = as.integer(any(new) || length(lost) > 0))
