# Fits to draw: a planted table of n observations and m attributes, a white phantom for each observation.
drawn_fit <- function(n, m, k, names = TRUE, ...) {
  set.seed(3)
  home <- rep_len(seq_len(max(k - 1L, 1L)), n)
  share <- runif(n, 0.3, 1)
  x <- outer(home, rep_len(seq_len(max(k - 1L, 1L)), m), `==`) * share
  x[] <- rbinom(n * m, 1L, pmin(x + 0.05, 1))
  if (names) dimnames(x) <- list(paste("Site", seq_len(n)), paste("Genus", seq_len(m)))
  quick <- fit_control(n_start = 2, max_pass = 60, screen_pass = 10, n_polish = 0)
  suppressMessages(suppressWarnings(aspect_bernoulli(x, k, ..., control = quick)))
}

# Draws on a device that keeps nothing; what `code` returns.
on_paper <- function(code, width = 7, height = 7) {
  grDevices::pdf(NULL, width = width, height = height)
  on.exit(grDevices::dev.off())
  force(code)
}

# Draws a figure without a word, at two sizes: it has data, a title, words for those who cannot see it, and a paper.
# Returns what was built.
drawn <- function(figure, sizes = list(c(4, 3), c(9, 6))) {
  testthat::expect_s3_class(figure, "ggplot")
  built <- ggplot2::ggplot_build(figure)
  testthat::expect_gt(sum(vapply(built$data, nrow, 0L)), 0L)
  testthat::expect_true(nzchar(figure$labels$title))
  testthat::expect_true(nzchar(ggplot2::get_alt_text(figure)))
  for (size in sizes) testthat::expect_silent(on_paper(print(figure), size[1L], size[2L]))
  invisible(built)
}

# Draws every view of its own that the fit has.
draw_views <- function(fit, ...) {
  has_phantom <- any(phantoms(fit)$kind != "content")
  for (view in setdiff(c("aspects", "membership", "trace", "phantom", "top"), if (!has_phantom) "phantom")) {
    drawn(ggplot2::autoplot(fit, view), ...)
  }
}

# The labels of a discrete axis, in the order of its breaks.
axis_labels <- function(built, side) built$layout$panel_params[[1L]][[side]]$get_labels()
