# Fits to draw: a planted table of n observations and m attributes, a white phantom for each observation.
drawn_fit <- function(n, m, k, names = TRUE, ...) {
  set.seed(3)
  home <- rep_len(seq_len(max(k - 1L, 1L)), n)
  share <- runif(n, 0.3, 1)
  x <- outer(home, rep_len(seq_len(max(k - 1L, 1L)), m), `==`) * share
  x[] <- rbinom(n * m, 1L, pmin(x + 0.05, 1))
  if (names) dimnames(x) <- list(paste("Site", seq_len(n)), paste("Genus", seq_len(m)))
  quick <- fit_control(n_start = 2, max_pass = 60, screen = 10, n_polish = 0)
  suppressMessages(suppressWarnings(aspect_bernoulli(x, k, ..., control = quick)))
}

# Draws on a device that keeps nothing; what `code` returns.
on_paper <- function(code, width = 7, height = 7) {
  grDevices::pdf(NULL, width = width, height = height)
  on.exit(grDevices::dev.off())
  force(code)
}

# Every text of a figure as it comes out on a page of this size: the text, its font size, and its box, in points.
text_boxes <- function(figure, width, height) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, width = width, height = height, compress = FALSE, useKerning = FALSE)
  suppressWarnings(print(figure)) # letters beyond Latin have no place in this encoding
  drawn <- "/F[0-9]+ 1 Tf +([-0-9.]+) ([-0-9.]+) ([-0-9.]+) ([-0-9.]+) ([-0-9.]+) ([-0-9.]+) Tm \\((.*)\\) Tj"
  grDevices::dev.off()
  lines <- readLines(file, encoding = "latin1", warn = FALSE)
  found <- regmatches(lines, regexec(drawn, lines, useBytes = TRUE))
  found <- do.call(rbind, found[lengths(found) > 0L])
  at <- matrix(as.numeric(found[, 2:7]), ncol = 6L)
  size <- sqrt(at[, 1L]^2 + at[, 2L]^2)
  text <- gsub("\\\\([()\\\\])", "\\1", found[, 8L])
  # As wide as narrow letters at least; from the foot of the letters to the top of small ones.
  wide <- suppressWarnings(on_paper(vapply(seq_along(text), function(i) {
    grid::convertWidth(grid::stringWidth(text[i]), "points", valueOnly = TRUE) / grid::get.gpar()$fontsize
  }, 0))) * size * 0.95
  turned <- abs(at[, 2L]) > abs(at[, 1L])
  box <- data.frame(text, size, turned, left = at[, 5L], right = at[, 5L] + wide, low = at[, 6L] - 0.1 * size,
    high = at[, 6L] + 0.55 * size)
  box[turned, c("left", "right", "low", "high")] <- data.frame(
    at[, 5L] - 0.55 * size, at[, 5L] + 0.1 * size, at[, 6L], at[, 6L] + wide
  )[turned, ]
  box[!trimws(text) %in% c("", "|"), ] # a bar is a point, not a text
}

# Pairs of texts that cover each other, and texts that run off the page.
covered_texts <- function(figure, width, height) {
  box <- text_boxes(figure, width, height)
  over <- function(low, high) outer(low, high, "<")
  covers <- over(box$left, box$right) & t(over(box$left, box$right)) & over(box$low, box$high) &
    t(over(box$low, box$high))
  pairs <- which(covers & upper.tri(covers), arr.ind = TRUE)
  off <- box$left < -1 | box$right > 72 * width + 1 | box$low < -1 | box$high > 72 * height + 1
  c(sprintf("%s / %s", box$text[pairs[, 1L]], box$text[pairs[, 2L]]), sprintf("off the page: %s", box$text[off]))
}

# Draws a figure without a word, at two sizes: it has data, a title, words for those who cannot see it, and a paper, and
# no text covers another. Returns what was built.
drawn <- function(figure, sizes = list(c(4, 3), c(9, 6))) {
  testthat::expect_s3_class(figure, "ggplot")
  built <- ggplot2::ggplot_build(figure)
  testthat::expect_gt(sum(vapply(built$data, nrow, 0L)), 0L)
  testthat::expect_true(nzchar(figure$labels$title))
  testthat::expect_true(nzchar(ggplot2::get_alt_text(figure)))
  for (size in sizes) {
    testthat::expect_silent(on_paper(print(figure), size[1L], size[2L]))
    testthat::expect_identical(covered_texts(figure, size[1L], size[2L]), character())
  }
  invisible(built)
}

# Draws every view of its own that the fit has.
draw_views <- function(fit, ...) {
  has_phantom <- any(phantoms(fit)$kind != "content")
  for (view in setdiff(c("aspects", "structure", "trace", "phantom", "top"), if (!has_phantom) "phantom")) {
    drawn(ggplot2::autoplot(fit, view), ...)
  }
}

# The labels of a discrete axis, in the order of its breaks.
axis_labels <- function(built, side) trimws(built$layout$panel_params[[1L]][[side]]$get_labels())
