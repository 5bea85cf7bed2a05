# Fits for plots: a planted table of n observations and m attributes, with a white phantom share for each observation.
drawn_fit <- function(n, m, k, names = TRUE, ...) {
  set.seed(3)
  home <- rep_len(seq_len(max(k - 1L, 1L)), n)
  share <- runif(n, 0.3, 1)
  x <- outer(home, rep_len(seq_len(max(k - 1L, 1L)), m), `==`) * share
  x[] <- rbinom(n * m, 1L, pmin(x + 0.05, 1))
  if (names) dimnames(x) <- list(paste("Site", seq_len(n)), paste("Genus", seq_len(m)))
  quick <- fit_control(n_start = 2, max_iter = 60, screen = 10, n_polish = 0)
  suppressMessages(suppressWarnings(aspect_bernoulli(x, k, ..., control = quick)))
}

# Evaluates code with a null device; returns its value.
on_paper <- function(code, width = 7, height = 7) {
  grDevices::pdf(NULL, width = width, height = height)
  on.exit(grDevices::dev.off())
  force(code)
}

# Every text of a figure on a page of this size: the text, its font size and its box, in points.
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
  # At least as wide as narrow letters; from the base of the letters to the top of small ones.
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

# Pairs of overlapping texts, and texts that run off the page.
covered_texts <- function(figure, width, height) {
  box <- text_boxes(figure, width, height)
  over <- function(low, high) outer(low, high, "<")
  covers <- over(box$left, box$right) & t(over(box$left, box$right)) & over(box$low, box$high) &
    t(over(box$low, box$high))
  pairs <- which(covers & upper.tri(covers), arr.ind = TRUE)
  off <- box$left < -1 | box$right > 72 * width + 1 | box$low < -1 | box$high > 72 * height + 1
  c(sprintf("%s / %s", box$text[pairs[, 1L]], box$text[pairs[, 2L]]), sprintf("off the page: %s", box$text[off]))
}

# Draws a figure silently at two sizes and checks that it has data, a title, alternative text and a paper, and that no
# texts overlap. Returns the built plot.
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

# Draws every view specific to the fit.
draw_views <- function(fit, ...) {
  has_phantom <- any(phantoms(fit)$kind != "content")
  for (view in setdiff(c("aspects", "structure", "trace", "phantom", "top"), if (!has_phantom) "phantom")) {
    drawn(ggplot2::autoplot(fit, view), ...)
  }
}

# Labels of a discrete axis, in the order of its breaks.
axis_labels <- function(built, side) trimws(built$layout$panel_params[[1L]][[side]]$get_labels())

# The panels of a figure as they come out on a page of this size: their width and height together, as shares of the
# page, side by side and one below the other; and the least width and height of a single one, in mm.
panel_room <- function(figure, width, height) {
  grDevices::pdf(NULL, width = width, height = height)
  on.exit(grDevices::dev.off())
  suppressWarnings(print(figure))
  layout <- ggplot2::ggplotGrob(figure)$layout
  layout <- layout[grepl("^panel", layout$name), ]
  names <- sprintf("%s.%d-%d-%d-%d", layout$name, layout$t, layout$r, layout$b, layout$l)
  each <- vapply(names, function(name) {
    grid::seekViewport(name)
    at <- grid::deviceLoc(grid::unit(0:1, "npc"), grid::unit(0:1, "npc"))
    grid::upViewport(0L)
    as.vector(vapply(at, grid::convertUnit, numeric(2L), "mm", valueOnly = TRUE))
  }, numeric(4L))
  side <- function(low, high) sum((high - low)[!duplicated(round(low))])
  c(
    wide = side(each[1L, ], each[2L, ]) / (25.4 * width), high = side(each[3L, ], each[4L, ]) / (25.4 * height),
    width = min(each[2L, ] - each[1L, ]), height = min(each[4L, ] - each[3L, ])
  )
}

journal_column <- c(85, 75) / 25.4 # inches

# A figure can be printed as wide as one column of a journal: its panels have their share of the page and nothing is
# cut or covered. Panels in true proportion, as maps, may be lower or narrower than the room they have.
fits_column <- function(figure, info, true_proportion = FALSE) {
  room <- suppressMessages(panel_room(figure, journal_column[1L], journal_column[2L]))
  testthat::expect_gt(room[["wide"]], 0.4 - 0.1 * true_proportion, label = paste(info, "width of panels"))
  testthat::expect_gt(room[["high"]], if (true_proportion) 0.2 else 0.3, label = paste(info, "height of panels"))
  testthat::expect_gt(room[["width"]], 10, label = paste(info, "width of each panel"))
  testthat::expect_gt(room[["height"]], 5, label = paste(info, "height of each panel"))
  covered <- covered_texts(figure, journal_column[1L], journal_column[2L])
  testthat::expect_identical(covered, character(), info = info)
}
