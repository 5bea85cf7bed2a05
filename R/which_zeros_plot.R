# Figures of an answer of which_zeros(), with R's own graphics and, by autoplot(), as ggplot2 objects.

#' Plot which zeros are false
#'
#' @param x a result of [which_zeros()].
#' @param what `"zeros"`: the likeliest false absences, each with its chance of a record and its chance of having been
#'   missed, with range; `"sites"`, `"taxa"`: how many were missed at those with most, with range, beside what was
#'   found; `"table"`: the chance of a record of every zero (finds are blank); `"quality"`: how well hidden finds were
#'   found again, and whether the chances are right, as [recovery()] shows it.
#' @param n how many zeros, sites or taxa.
#' @param main title; `NULL` for one that says what is shown.
#' @param ... must be empty.
#' @return `x`, invisibly. [autoplot.multicause()] makes the same figures with ggplot2.
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' plot(w, n = 15)
#' plot(w, "taxa", n = 15)
#' @export
plot.which_zeros <- function(x, what = c("zeros", "sites", "taxa", "table", "quality"), n = 20, main = NULL, ...) {
  check_whole(x, "x")
  draw_view(plot_view(x, what, n, main, ...))
  invisible(x)
}

#' @export
plot_view.which_zeros <- function(x, what = c("zeros", "sites", "taxa", "table", "quality"), n = 20, main = NULL,
                                  ...) {
  check_dots(...)
  what <- check_choice(what, "what", c("zeros", "sites", "taxa", "table", "quality"))
  n <- check_count(n, "n")
  check_title(main)
  view <- switch(what,
    zeros = zeros_view(x, n), sites = sums_view(by_site(x), n), taxa = sums_view(by_taxon(x), n),
    table = heat_view(t(zero_chances(x)), main = "Chance of a record", legend = "chance of a record; finds are blank"),
    quality = new_view("recovery", NULL, found = x$curve, heads = c(
      roc = sprintf("AUC %.3f", x$curve$summary$auc), pr = sprintf("Average precision %.3f", x$curve$summary$ap),
      calibration = sprintf("Calibration slope %.2f", x$curve$summary$slope)
    ))
  )
  if (!is.null(main)) view$main <- main
  view
}

zero_chances <- function(w) {
  p <- w$probability
  dimnames(p) <- list(
    label_of(seq_len(nrow(p)), w$names[[1L]]), label_of(seq_len(ncol(p)), w$names[[2L]])
  )
  p
}

zeros_view <- function(w, n) {
  cells <- as.data.frame(w, n = n)
  new_view(
    "ranges", sprintf("The %d zeros most likely to be false", nrow(cells)),
    rows = data.frame(
      label = sprintf("%s, %s", cells$taxon, cells$site), value = cells$missed, low = cells$missed_low,
      high = cells$missed_high, other = cells$chance
    ),
    xlab = "probability", limits = c(0, 1),
    words = c(value = "there, but missed", other = "chance of a record")
  )
}

sums_view <- function(sums, n) {
  shown <- utils::head(sums, n)
  new_view(
    "ranges", sprintf("Where most was missed: %s", c(site = "sites", taxon = "taxa")[[names(sums)[1L]]]),
    rows = data.frame(
      label = as.character(shown[[1L]]), value = shown$missed, low = shown$low, high = shown$high, other = shown$finds
    ),
    xlab = sprintf("number of %s", c(site = "taxa", taxon = "sites")[[names(sums)[1L]]]),
    words = c(value = "expected missed", other = "found"),
    limits = c(0, max(shown$high, shown$finds, 1))
  )
}

# Points with ranges, one below the other, and a second point beside them.
draw_ranges <- function(view) {
  rows <- view$rows
  at <- rev(seq_len(nrow(rows)))
  colours <- component_colours(2L)
  cex <- max(0.5, min(1, 18 / nrow(rows)))
  graphics::plot.new() # text can be measured now; the plot goes on in the same place
  wide <- min(0.55 * graphics::par("din")[1L], max(graphics::strwidth(rows$label, "inches", cex = cex)) + 0.25)
  labels <- fit_labels(rows$label, wide - 0.15, cex)
  local_par(new = TRUE)
  room <- legend_room(view$words, c(3.5, wide / graphics::par("csi"), 2.2, 1), c(2.2, 0.7, 0))
  graphics::plot(
    NA, xlim = view$limits, ylim = c(0.5, nrow(rows) + 0.5), yaxt = "n", ylab = "", xlab = view$xlab, bty = "n",
    las = 1L
  )
  graphics::abline(h = at, col = "grey92")
  graphics::segments(rows$low, at, rows$high, at, col = colours[1L], lwd = 2)
  graphics::points(rows$value, at, pch = 19L, col = colours[1L])
  graphics::points(rows$other, at, pch = 23L, col = colours[2L], bg = "white", lwd = 1.6)
  graphics::mtext(labels, side = 2L, at = at, las = 1L, line = 0.3, cex = cex * graphics::par("cex"))
  top_legend(room, view$main, pch = c(19L, 23L), lty = c(1L, 0L), col = colours)
}

gg_ranges <- function(view) {
  rows <- view$rows
  rows$label <- factor(rows$label, rev(unique(rows$label)))
  point <- function(value, kind) data.frame(label = rows$label, value = value, kind = kind)
  points <- rbind(point(rows$value, view$words[["value"]]), point(rows$other, view$words[["other"]]))
  points$kind <- factor(points$kind, view$words)
  ggplot2::ggplot(points, gg_aes(x = "value", y = "label")) +
    ggplot2::geom_linerange(
      gg_aes(y = "label", xmin = "low", xmax = "high"), rows, inherit.aes = FALSE, colour = component_colours(1L),
      linewidth = 0.8
    ) +
    ggplot2::geom_point(gg_aes(colour = "kind", shape = "kind"), size = 2.2) +
    gg_colours(component_colours(2L)) + ggplot2::scale_shape_manual(NULL, values = c(19L, 5L)) +
    ggplot2::coord_cartesian(xlim = view$limits) + ggplot2::labs(x = view$xlab, y = NULL)
}
