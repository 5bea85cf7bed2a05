# For checks by z-scores: a table of Markdown, a row a check, and how many `failed`.
failed <- 0L
judge <- function(what, z) {
  ok <- max(abs(z)) < 4
  failed <<- failed + !ok
  cat(sprintf(
    "| %s | %d | %.2f | %.2f | %s |\n", what, length(z), max(abs(z)), sqrt(mean(z^2)), if (ok) "yes" else "NO"
  ))
}
cat("| check | statistics | largest absolute z | rms z | within |\n| --- | --- | --- | --- | --- |\n")
