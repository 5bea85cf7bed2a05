# Judges a finished R CMD check: every finding must stand, word for word, among the allowed ones.
#
# Usage: Rscript check.R FOLDER.Rcheck ALLOWED. The second file's blocks, set apart by blank lines, hold the
# title and then the text of a finding; lines that begin with # are comments.

args <- commandArgs(TRUE)
log <- file.path(args[1], "00check.log")
text <- readLines(log)
if (!any(grepl("^Status: ", text))) stop("the check did not finish", call. = FALSE)

read_blocks <- function(file) {
  lines <- grep("^#", readLines(file), invert = TRUE, value = TRUE)
  blocks <- split(lines, cumsum(!nzchar(trimws(lines))))
  blocks <- lapply(blocks, function(block) trimws(block[nzchar(trimws(block))]))
  vapply(Filter(length, blocks), paste, "", collapse = "\n")
}

findings <- tools::check_packages_in_dir_details(logs = log, drop_ok = TRUE)
findings <- findings[findings$Status %in% c("ERROR", "WARNING", "NOTE"), ]
as_block <- function(check, output) paste(trimws(c(check, strsplit(output, "\n")[[1]])), collapse = "\n")
blocks <- mapply(as_block, findings$Check, findings$Output)
new <- findings$Status != "NOTE" | !blocks %in% read_blocks(args[2])

for (block in blocks[!new]) cat("allowed: ", block, "\n", sep = "")
for (i in which(new)) cat("NOT ALLOWED, ", findings$Status[i], ": ", blocks[i], "\n", sep = "")
cat(sprintf("%d findings, %d of them not allowed\n", nrow(findings), sum(new)))
quit(status = as.integer(any(new)))
