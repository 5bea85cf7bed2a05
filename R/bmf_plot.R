#' Plot a binary matrix factorization
#'
#' @description
#' Four views of a fit:
#' \describe{
#'   \item{`"data"`}{the data (left) and their posterior mean (right), rows and columns in the order of the features of
#'     `param`, so that each meeting of a row and a column feature is a block; right of each picture the row features,
#'     below it the column features, and in the corner the weights. Missing cells are grey.}
#'   \item{`"features"`}{what each row feature adds to the columns. With `shape` the columns are pixels and the features
#'     images: above, what row features add; below, the column features.}
#'   \item{`"trace"`}{log joint density, log-likelihood and numbers of features of every chain, draw by draw.}
#'   \item{`"counts"`}{posterior distributions of the numbers of row and of column features.}
#' }
#'
#' @param x a fit of [bmf()].
#' @param what which view.
#' @param shape for `"features"`: `c(height, width)` of an image whose pixels are the columns, rows of pixels from the
#'   top, one after another.
#' @param most for `"features"`: at most so many features of a side, those with most members first.
#' @param main title.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' rows <- cbind(rep(1:0, each = 15), rep(c(0, 1, 1), 10))
#' columns <- cbind(rep(1:0, 5), rep(0:1, each = 5))
#' x <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns) + rnorm(300, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' plot(fit)
#' plot(fit, "trace")
#' plot(fit, "counts")
#' @export
plot.bmf <- function(x, what = c("data", "features", "trace", "counts"), shape = NULL, most = 12, main = NULL, ...) {
  check_whole(x, "x")
  draw_view(plot_view(x, what, shape, most, main, ...))
  invisible(x)
}

#' @export
plot_view.bmf <- function(x, what = c("data", "features", "trace", "counts"), shape = NULL, most = 12, main = NULL,
                          ...) {
  what <- check_choice(what, "what", c("data", "features", "trace", "counts"))
  check_dots(...)
  most <- check_count(most, "most")
  check_title(main)
  switch(what,
    data = bmf_data_view(x, main),
    features = if (is.null(shape)) bmf_effects_view(x, most, main) else bmf_images_view(x, shape, most, main),
    trace = chain_traces_view(x, bmf_traced, main),
    counts = new_view("counts", if (is.null(main)) "How many features?" else main, trace = x$trace)
  )
}

# Items by their features, the first feature first: members of a feature stand together as far as overlaps allow.
feature_order <- function(on) {
  varying <- on[, colSums(on) > 0 & colSums(on) < nrow(on), drop = FALSE]
  if (!ncol(varying)) {
    return(seq_len(nrow(on)))
  }
  do.call(order, c(lapply(seq_len(ncol(varying)), function(c) -varying[, c]), list(seq_len(nrow(on)))))
}

# Colours from -limit to limit, or from 0 to limit where nothing is below 0.
signed_colours <- function(values) {
  if (all(values >= 0, na.rm = TRUE)) {
    return(list(limits = c(0, max(values, 1e-12, na.rm = TRUE)), colours = probability_colours()))
  }
  limit <- stats::quantile(abs(values), 0.995, na.rm = TRUE, names = FALSE)
  list(limits = c(-limit, limit), colours = grDevices::hcl.colors(101L, "Blue-Red 3"))
}

# A matrix as it is written: first row on top; NA grey.
show_matrix <- function(values, scale, grid = FALSE, asp = NA) {
  n <- nrow(values)
  m <- ncol(values)
  graphics::plot.new()
  graphics::plot.window(c(0, m), c(n, 0), xaxs = "i", yaxs = "i", asp = asp)
  if (n && m) {
    at <- (pmin(pmax(values, scale$limits[1L]), scale$limits[2L]) - scale$limits[1L]) / diff(scale$limits)
    fill <- scale$colours[1L + floor(at * (length(scale$colours) - 1L) + 0.5)]
    fill[is.na(fill)] <- "grey75"
    graphics::rasterImage(grDevices::as.raster(matrix(fill, n, m)), 0, n, m, 0, interpolate = FALSE)
    if (grid) graphics::abline(v = seq_len(m - 1L), h = seq_len(n - 1L), col = "white", lwd = 0.5)
  }
  graphics::rect(0, 0, m, n, border = "grey40")
}

feature_scale <- list(limits = c(0, 1), colours = c("white", "grey20"))

bmf_data_view <- function(fit, main) {
  param <- fit$param
  rows <- feature_order(param$rows)
  columns <- feature_order(param$columns)
  title <- sprintf("%d row features meet %d column features", ncol(param$rows), ncol(param$columns))
  new_view(
    "bmf_data", if (is.null(main)) title else main, data = as.matrix(fit_data(fit))[rows, columns, drop = FALSE],
    mean = fit$mean[rows, columns, drop = FALSE], rows = param$rows[rows, , drop = FALSE],
    columns = param$columns[columns, , drop = FALSE], weights = param$weights
  )
}

draw_bmf_data <- function(view) {
  scale <- signed_colours(c(view$data, view$mean))
  weights <- signed_colours(view$weights)
  # layout() changes mfrow and cex: setting the first to what it is has both put back.
  local_par(mfrow = graphics::par("mfrow"), oma = c(0, 0, 2, 0), mar = c(0.3, 0.3, 1.4, 0.3))
  share <- function(k) min(0.35, max(0.13, 0.025 * k))
  wide <- c(1, share(ncol(view$rows)))
  high <- c(1, share(ncol(view$columns)))
  graphics::layout(
    rbind(c(1, 2, 0, 5, 6), c(3, 4, 0, 7, 8)),
    widths = c(wide, 0.06, wide), heights = high
  )
  for (panel in c("data", "posterior mean")) {
    show_matrix(if (panel == "data") view$data else view$mean, scale)
    graphics::title(main = panel, font.main = 1L, line = 0.3)
    show_matrix(view$rows, feature_scale)
    graphics::title(main = "row features", font.main = 1L, cex.main = 0.8, line = 0.3, xpd = NA)
    graphics::par(mar = c(1.4, 0.3, 0.3, 0.3))
    show_matrix(t(view$columns), feature_scale)
    graphics::mtext("column features", side = 1L, line = 0.2, cex = 0.7)
    show_matrix(t(view$weights), weights, grid = TRUE)
    graphics::mtext("weights", side = 1L, line = 0.2, cex = 0.6)
    graphics::par(mar = c(0.3, 0.3, 1.4, 0.3))
  }
  graphics::mtext(view$main, outer = TRUE, line = 0.4, font = 2L)
}

# What a row with this feature gets in each column, in units of the linear predictor.
bmf_effects <- function(fit) fit$param$weights %*% t(fit$param$columns)

bmf_effects_view <- function(fit, most, main) {
  effects <- bmf_effects(fit)
  effects <- effects[seq_len(min(most, nrow(effects))), , drop = FALSE]
  if (!nrow(effects)) stop_input("The fit has no row features to plot.")
  scale <- signed_colours(effects)
  order <- feature_order(fit$param$columns)
  values <- t(effects[, order, drop = FALSE])
  if (is.null(rownames(values))) rownames(values) <- order
  heat_view(
    values, scale$limits, scale$colours, if (is.null(main)) "What each row feature adds to the columns" else main,
    legend = "added to the linear predictor"
  )
}

bmf_images_view <- function(fit, shape, most, main) {
  m <- fit$dims[["m"]]
  if (!is.numeric(shape) || length(shape) != 2L || anyNA(shape) || prod(shape) != m) {
    stop_input("`shape` must be c(height, width) with height x width = %d, not %s.", m, show_value(shape))
  }
  first <- function(k) seq_len(min(most, k))
  effects <- bmf_effects(fit)[first(nrow(fit$param$weights)), , drop = FALSE]
  columns <- t(fit$param$columns)[first(ncol(fit$param$columns)), , drop = FALSE]
  title <- "What row features (R) add, and column features (C)"
  new_view("bmf_images", if (is.null(main)) title else main, effects = effects, columns = columns, shape = shape)
}

draw_bmf_images <- function(view) {
  effects <- view$effects
  columns <- view$columns
  image <- function(values) matrix(values, view$shape[1L], view$shape[2L], byrow = TRUE)
  per_row <- max(1L, ceiling(sqrt(max(nrow(effects), nrow(columns), 1L) * 2)))
  lines <- ceiling(c(nrow(effects), nrow(columns)) / per_row)
  local_par(oma = c(0, 0, 2, 0), mar = c(0.3, 0.3, 1.2, 0.3), mfrow = c(sum(lines), per_row))
  scale <- signed_colours(effects)
  panels <- function(values, scale, n) {
    for (f in seq_len(n * per_row)) {
      if (f > nrow(values)) {
        graphics::plot.new()
        next
      }
      show_matrix(image(values[f, ]), scale, asp = 1)
      graphics::title(main = rownames(values)[f], font.main = 1L, cex.main = 0.9, line = 0.2)
    }
  }
  panels(effects, scale, lines[1L])
  panels(columns, feature_scale, lines[2L])
  graphics::mtext(view$main, outer = TRUE, line = 0.4, font = 2L)
}

bmf_traced <- c(
  objective = "log joint density", log_likelihood = "log-likelihood", row_features = "row features",
  column_features = "column features"
)

# Four quantities of the trace; `shown`: their titles, named.
chain_traces_view <- function(fit, shown, main) {
  title <- sprintf("%d chain(s), a colour each", length(unique(fit$trace$chain)))
  new_view("chain_traces", if (is.null(main)) title else main, trace = fit$trace, shown = shown)
}

draw_chain_traces <- function(view) {
  trace <- view$trace
  chains <- split(trace, trace$chain)
  colours <- component_colours(length(chains))
  local_par(mfrow = c(2L, 2L), mar = c(4, 4.6, 1.6, 0.8), oma = c(0, 0, 2, 0))
  for (name in names(view$shown)) {
    graphics::plot(
      NA, xlim = c(1, max(trace$pass)), ylim = range(trace[[name]]), xlab = "draw", ylab = "", las = 1L,
      bty = "l", main = view$shown[[name]], font.main = 1L, yaxt = "n"
    )
    at <- graphics::axTicks(2L)
    graphics::axis(2L, if (is.integer(trace[[name]])) unique(round(at)) else at, las = 1L)
    for (c in seq_along(chains)) graphics::lines(chains[[c]]$pass, chains[[c]][[name]], col = colours[c], lwd = 0.8)
  }
  graphics::mtext(view$main, outer = TRUE, line = 0.4, font = 2L)
}

draw_bmf_counts <- function(view) {
  local_par(mfrow = c(1L, 2L), mar = c(4.2, 4.4, 2, 0.8), oma = c(0, 0, 2, 0))
  for (name in c("row_features", "column_features")) {
    counts <- view$trace[[name]]
    values <- seq(min(counts), max(counts))
    share <- tabulate(counts - min(counts) + 1L, length(values)) / length(counts)
    graphics::plot(
      NA, xlim = range(values) + c(-0.6, 0.6), ylim = c(0, max(share) * 1.05), yaxs = "i", las = 1L, bty = "l",
      xlab = sub("_", " ", name), ylab = "posterior probability", xaxt = "n"
    )
    graphics::axis(1L, if (length(values) <= 12L) values else pretty(values))
    graphics::rect(values - 0.35, 0, values + 0.35, share, col = component_colours(1L), border = NA)
  }
  graphics::mtext(view$main, outer = TRUE, line = 0.4, font = 2L)
}
