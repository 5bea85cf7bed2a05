#' Plot a noisy-OR fit
#'
#' @description
#' Five views of a fit:
#' \describe{
#'   \item{`"links"`}{a heat map of the links, attributes seriated by their strongest source, the leak last.}
#'   \item{`"images"`}{every source, and the leak, as a picture, where the attributes are the pixels of a grid of
#'     `dim`.}
#'   \item{`"activation"`}{for each observation (a column) the probability that each source is on, ordered by the
#'     likeliest sources.}
#'   \item{`"leak"`}{the leak of each attribute against its frequency: on the diagonal no source explains it.}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
#' }
#'
#' @param x a fit of [noisy_or()].
#' @param what which view; `"images"` by default where `dim` is given.
#' @param dim for `"images"`: numbers of rows and columns of the grid, whose product is the number of attributes. Pixels
#'   go down the columns, as in a matrix.
#' @param order for `"links"`: `"seriated"`, or `"data"` for the order of the data.
#' @param main title.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' fit <- noisy_or(matrix(rbinom(900, 1, 0.3), 100, 9), k = 2)
#' plot(fit)
#' plot(fit, dim = c(3, 3))
#' plot(fit, "activation")
#' plot(fit, "leak")
#' plot(fit, "trace")
#' @export
plot.noisy_or <- function(x, what = c("links", "images", "activation", "leak", "trace"), dim = NULL,
                          order = c("seriated", "data"), main = NULL, ...) {
  check_whole(x, "x")
  draw_view(plot_view(x, if (missing(what) && !is.null(dim)) "images" else what, dim, order, main, ...))
  invisible(x)
}

#' @export
plot_view.noisy_or <- function(x, what = c("links", "images", "activation", "leak", "trace"), dim = NULL,
                               order = c("seriated", "data"), main = NULL, ...) {
  views <- c("links", "images", "activation", "leak", "trace")
  what <- if (missing(what) && !is.null(dim)) "images" else check_choice(what, "what", views)
  order <- check_choice(order, "order", c("seriated", "data"))
  check_dots(...)
  check_title(main)
  switch(what,
    links = links_view(x, order, main), images = images_view(x, check_image_dim(dim, x$dims[["m"]]), main),
    activation = activation_view(x, main), leak = leak_view(x, main), trace = trace_view(x, main)
  )
}

check_image_dim <- function(dim, m) {
  ok <- is.numeric(dim) && length(dim) == 2L && !anyNA(dim) && all(dim >= 1) && all(dim == floor(dim)) && prod(dim) == m
  if (!ok) stop_input("`dim` must be two whole numbers whose product is the %d attributes, not %s.", m, show_value(dim))
  as.integer(dim)
}

# Labels of sources with how often they are on.
source_labels <- function(fit, sep = "\n") {
  share <- ifelse(fit$param$prior < 0.001, "< 0.1", format_each(100 * fit$param$prior))
  sprintf("%s%son %s %%", names(fit$param$prior), sep, share)
}

links_view <- function(fit, order, main) {
  values <- rbind(fit$param$links, leak = fit$param$leak)
  if (is.null(colnames(values))) colnames(values) <- seq_len(ncol(values))
  at <- if (order == "data") seq_len(ncol(values)) else seriate(fit$param$links)
  how <- if (order == "data") "in the order of the data" else "by strongest source"
  heat_view(
    t(values[, at, drop = FALSE]), heads = c(source_labels(fit), "leak"),
    legend = "probability that the link fires",
    main = if (is.null(main)) sprintf("What each source switches on (attributes %s)", how) else main
  )
}

images_view <- function(fit, dim, main) {
  new_view(
    "images", if (is.null(main)) "The sources as pictures" else main,
    values = unname(rbind(fit$param$links, fit$param$leak)), labels = c(source_labels(fit, ": "), "leak"), dim = dim
  )
}

draw_images <- function(view) {
  values <- view$values
  labels <- view$labels
  dim <- view$dim
  size <- graphics::par("din")
  panels <- nrow(values)
  columns <- seq_len(panels)
  # The layout whose pictures come out largest.
  width <- pmin((size[1L] - 0.4) / columns / dim[2L], (size[2L] - 1.3) / ceiling(panels / columns) / dim[1L])
  columns <- which.max(width)
  local_par(
    mfrow = c(ceiling(panels / columns), columns), mar = c(0.4, 0.4, 1.8, 0.4), oma = c(3.2, 0, 2.4, 0)
  )
  colours <- probability_colours()
  for (i in seq_len(panels)) {
    picture <- matrix(values[i, ], dim[1L], dim[2L])
    graphics::image(
      t(picture[rev(seq_len(dim[1L])), , drop = FALSE]), zlim = c(0, 1), col = colours, axes = FALSE,
      asp = dim[1L] / dim[2L], main = labels[i], cex.main = 1, font.main = 1
    )
  }
  graphics::mtext(view$main, side = 3L, outer = TRUE, line = 0.8, font = 2L)
  colour_legend(c(0, 1), colours, "probability that the link fires")
}

activation_view <- function(fit, main) {
  activation <- fit$param$activation
  at <- do.call(base::order, c(as.data.frame(-(activation > 0.5)), as.data.frame(-activation)))
  new_view(
    "activation", if (is.null(main)) "Which sources are on in each observation" else main,
    values = activation[at, , drop = FALSE], labels = source_labels(fit, "\n")
  )
}

draw_activation <- function(view) {
  activation <- view$values
  k <- ncol(activation)
  local_par(mar = c(4.6, 5.6, 3, 1))
  graphics::image(
    seq_len(nrow(activation)), seq_len(k), activation[, rev(seq_len(k)), drop = FALSE], zlim = c(0, 1),
    col = probability_colours(), axes = FALSE, xlab = "", ylab = "", useRaster = nrow(activation) > 200L,
    main = view$main
  )
  graphics::axis(2L, seq_len(k), rev(view$labels), las = 1L, tick = FALSE, cex.axis = 0.8)
  graphics::abline(h = seq_len(k - 1L) + 0.5, col = "white")
  graphics::box(col = "grey40")
  graphics::mtext(sprintf("%d observations, by likeliest sources", nrow(activation)), side = 1L, line = 0.6)
  colour_legend(c(0, 1), probability_colours(), "probability that the source is on")
}

leak_view <- function(fit, main) {
  leak <- fit$param$leak
  new_view(
    "leak", if (is.null(main)) "What the sources leave unexplained" else main,
    points = data.frame(
      attribute = if (is.null(names(leak))) as.character(seq_along(leak)) else names(leak),
      frequency = fit$margins$column_sum / pmax(fit$margins$column_observed, 1), leak = unname(leak)
    )
  )
}

# Names at most eight points of those in `order`, at their left or right; a name that would lie on another, on a point
# or outside 0 to `right` is left out.
label_points <- function(x, y, labels, order, right, cex = 0.8) {
  height <- graphics::strheight("M", cex = cex) * 1.4
  gap <- graphics::strwidth("M", cex = cex) * 0.6
  width <- graphics::strwidth(labels, cex = cex)
  taken <- matrix(numeric(), 0L, 3L) # from, to, height above 0
  for (i in utils::head(order, 40L)) {
    if (nrow(taken) == 8L) break
    for (from in c(x[i] - gap - width[i], x[i] + gap)) {
      to <- from + width[i]
      on_point <- any(x[-i] > from - gap & x[-i] < to + gap & abs(y[-i] - y[i]) < height * 0.7)
      on_label <- any(taken[, 1L] < to & taken[, 2L] > from & abs(taken[, 3L] - y[i]) < height)
      if (from < 0 || to > right * 1.04 || on_point || on_label) next
      graphics::text(from, y[i], labels[i], adj = c(0, 0.5), cex = cex)
      taken <- rbind(taken, c(from, to, y[i]))
      break
    }
  }
}

draw_leak <- function(view) {
  frequency <- view$points$frequency
  leak <- view$points$leak
  labels <- view$points$attribute
  local_par(mar = c(4.2, 4.4, 3, 1), xpd = NA)
  top <- max(frequency, leak) * 1.05
  graphics::plot(
    frequency, leak, xlim = c(0, top), ylim = c(0, top), pch = 16, las = 1L, bty = "l",
    col = grDevices::adjustcolor("#0072B2", 0.6), xlab = "frequency of the attribute", ylab = "leak",
    main = view$main
  )
  graphics::segments(0, 0, top, top, col = "grey60", lty = 2L)
  label_points(frequency, leak, labels, order(-leak), top)
  graphics::legend("topleft", "no source explains it", lty = 2L, col = "grey60", bty = "n", cex = 0.85)
}
