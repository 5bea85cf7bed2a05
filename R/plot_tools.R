# Pieces of plots shared by all models: colours, heat maps that stay readable, traces.

# Okabe and Ito's colours, safe for the colour-blind; grey is kept for phantoms.
component_colours <- function(k) {
  base <- c("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
  if (k <= length(base)) base[seq_len(k)] else grDevices::hcl.colors(k, "Dark 3")
}

phantom_grey <- "#B3B3B3"

probability_colours <- function(n = 100L) grDevices::hcl.colors(n, "YlGnBu", rev = TRUE)

# Restores graphical parameters on the way out of a plotting function.
local_par <- function(..., frame = parent.frame()) {
  old <- graphics::par(no.readonly = TRUE)
  graphics::par(...)
  restore <- as.call(list(graphics::par, old[setdiff(names(old), c("new", "page"))]))
  do.call(on.exit, list(restore, add = TRUE), envir = frame)
}

# Labels cut to a width in inches at a character size, with an ellipsis where something is missing.
fit_labels <- function(labels, width, cex) {
  fits <- function(text) graphics::strwidth(text, "inches", cex = cex) <= width
  vapply(labels, function(label) {
    while (!fits(label) && nchar(label) > 2L) label <- paste0(substr(label, 1L, nchar(label) - 2L), "\u2026")
    label
  }, "", USE.NAMES = FALSE)
}

least_text <- 0.075 # inches a line of the smallest readable text takes

# A heat map of few columns and many rows, wrapped into as many panels side by side as keep its row labels readable.
#   values  rows x columns, drawn on `limits` with `colours`; row and column names are the labels
heat_map <- function(values, limits = c(0, 1), colours = probability_colours(), main = "", column_labels = NULL,
                     legend = "probability") {
  rows <- nrow(values)
  columns <- ncol(values)
  size <- graphics::par("din")
  height <- max(size[2L] - 1.6, 1)
  panels <- ceiling(rows / max(1, floor(height / least_text)))
  panels <- max(1L, min(panels, floor((size[1L] - 0.6) / 0.7)))
  per_panel <- ceiling(rows / panels)
  panel_width <- (size[1L] - 0.6) / panels
  line <- height / per_panel
  cex <- max(min(1, line / 0.17), 0.3)
  labels <- if (is.null(rownames(values))) as.character(seq_len(rows)) else rownames(values)
  local_par(oma = c(3, 0.5, 3.2, 0.5), mfrow = c(1L, panels), xpd = NA)
  room <- NULL
  for (panel in seq_len(panels)) {
    graphics::par(mai = c(0, 0.05, 0.45, 0.05))
    graphics::plot.new()
    if (is.null(room)) {
      room <- min(max(graphics::strwidth(labels, "inches", cex = cex / graphics::par("cex"))) + 0.08, 0.6 * panel_width)
    }
    graphics::par(mai = c(0, room + 0.05, 0.45, 0.05), new = TRUE)
    at <- seq_len(per_panel) + (panel - 1L) * per_panel
    at <- at[at <= rows]
    heat_panel(values[at, , drop = FALSE], labels[at], per_panel, limits, colours, column_labels, room, cex)
  }
  graphics::mtext(main, side = 3L, outer = TRUE, line = 1.2, font = 2L)
  colour_legend(limits, colours, legend)
  invisible(panels)
}

heat_panel <- function(values, labels, lines, limits, colours, column_labels, room, cex) {
  columns <- ncol(values)
  scaled <- (pmin(pmax(values, limits[1L]), limits[2L]) - limits[1L]) / diff(limits)
  fill <- colours[1L + floor(scaled * (length(colours) - 1L) + 0.5)]
  fill[is.na(fill)] <- "white"
  graphics::plot.window(c(0, columns), c(lines, 0), xaxs = "i", yaxs = "i")
  graphics::rect(col(values) - 1, row(values) - 1, col(values), row(values), col = fill, border = NA)
  graphics::rect(0, 0, columns, nrow(values), border = "grey40")
  if (columns > 1L) graphics::segments(seq_len(columns - 1L), 0, seq_len(columns - 1L), nrow(values), col = "white")
  scale <- cex / graphics::par("cex")
  graphics::text(
    0, seq_along(labels) - 0.5, fit_labels(labels, room - 0.05, scale), adj = c(1.05, 0.5), cex = scale, font = 3L
  )
  heads <- if (is.null(column_labels)) colnames(values) else column_labels
  turned <- max(graphics::strwidth(heads)) > 0.95
  graphics::text(
    seq_len(columns) - 0.5, -graphics::strheight("M"), heads, srt = if (turned) 90 else 0,
    adj = if (turned) c(0, 0.5) else c(0.5, 0), cex = min(0.8, 0.8 / graphics::par("cex"))
  )
}

# A strip of colour with its scale, at the foot of the page.
colour_legend <- function(limits, colours, title) {
  graphics::par(mfrow = c(1L, 1L), oma = c(0, 0, 0, 0), mai = c(0, 0, 0, 0), new = TRUE)
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(0, 1), xaxs = "i", yaxs = "i")
  inch <- 1 / graphics::par("pin")[2L]
  left <- seq(0.35, 0.65, length.out = length(colours) + 1L)
  graphics::rect(left[-length(left)], 0.28 * inch, left[-1L], 0.4 * inch, col = colours, border = NA)
  ends <- format(limits, digits = 2L)
  graphics::text(c(0.345, 0.655), 0.34 * inch, ends, adj = c(1, 0.5), cex = 0.8)
  graphics::text(c(0.655, 0.345)[1L], 0.34 * inch, ends[2L], adj = c(0, 0.5), cex = 0.8, col = NA)
  graphics::text(0.5, 0.16 * inch, title, cex = 0.8)
}

# The objective of every start against its passes, below the best one, on a log scale.
plot_traces <- function(fit, main = "Every start") {
  traces <- fit$start_traces
  best <- max(vapply(traces, function(trace) if (length(trace)) max(trace) else -Inf, 0))
  gaps <- lapply(traces, function(trace) pmax(best - trace, 1e-3))
  longest <- max(lengths(gaps), 2L)
  local_par(mar = c(4.2, 4.4, 2.6, 1))
  graphics::plot(
    NA, xlim = c(1, longest), ylim = range(unlist(gaps), 1), log = "xy", las = 1L, bty = "l", main = main,
    xlab = "pass", ylab = "nats below the best", yaxt = "n"
  )
  ticks <- 10^pretty(log10(range(unlist(gaps), 1)))
  graphics::axis(2L, ticks, format(ticks, scientific = FALSE, drop0trailing = TRUE, trim = TRUE), las = 1L)
  kinds <- factor(fit$starts$init)
  colours <- component_colours(nlevels(kinds))[as.integer(kinds)]
  for (i in seq_along(gaps)) {
    if (length(gaps[[i]])) {
      graphics::lines(seq_along(gaps[[i]]), gaps[[i]], col = colours[i], lwd = if (fit$starts$finished[i]) 1.6 else 0.6)
    }
  }
  graphics::legend("bottomleft", levels(kinds), col = component_colours(nlevels(kinds)), lwd = 2, bty = "n", cex = 0.85)
  invisible(fit)
}
