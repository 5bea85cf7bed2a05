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

# Draws every view that the fit has, and returns it.
draw_views <- function(fit, width = 7, height = 7) {
  has_phantom <- any(phantoms(fit)$kind != "content")
  for (view in setdiff(c("aspects", "membership", "trace", "phantom"), if (!has_phantom) "phantom")) {
    testthat::expect_silent(drawn <- on_paper(withVisible(plot(fit, view)), width, height))
    testthat::expect_identical(drawn, list(value = fit, visible = FALSE))
  }
}
