# Pieces of plots shared by all models: colours, heat maps that stay readable, traces.

# Okabe and Ito's colours, safe for the colour-blind; grey is kept for phantoms.
component_colours <- function(k) {
  base <- c("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
  if (k <= length(base)) base[seq_len(k)] else grDevices::hcl.colors(k, "Dark 3")
}

phantom_grey <- "#B3B3B3"

probability_colours <- function(n = 100L) grDevices::hcl.colors(n, "YlGnBu", rev = TRUE)

# Sets graphical parameters and puts them back on the way out of a plotting function. Only those that were set: putting
# back all of them would also move the place of the next figure on a page of several.
local_par <- function(..., frame = parent.frame()) {
  before <- graphics::par("cex", "mar")
  old <- graphics::par(...)
  if ("mfrow" %in% names(old)) old <- c(old["mfrow"], before["cex"], old[setdiff(names(old), "mfrow")])
  # Margins in inches would not be the same lines again after another cex.
  if ("mai" %in% names(old)) old <- c(old[setdiff(names(old), "mai")], before["mar"])
  do.call(on.exit, list(as.call(list(graphics::par, old)), add = TRUE), envir = frame)
}

legend_cex <- 0.85

# Begins a plot with room above it for a legend of as many rows as its entries need; local_par() for `frame`. Returns
# the number of columns and the line of the title, for top_legend().
legend_room <- function(labels, mar, mgp = c(3, 1, 0), frame = parent.frame()) {
  local_par(mar = mar, mgp = mgp, frame = frame)
  graphics::plot.new() # text can be measured now; the plot goes on in the same place
  entry <- max(graphics::strwidth(labels, "inches", cex = legend_cex)) + 0.45
  columns <- max(1L, min(length(labels), as.integer(graphics::par("pin")[1L] %/% entry)))
  rows <- ceiling(length(labels) / columns)
  graphics::par(mar = mar + c(0, 0, rows * legend_cex * 1.1 + 0.3, 0), new = TRUE)
  list(labels = labels, columns = columns, line = rows * legend_cex * 1.1 + 0.9)
}

# The legend in the room made for it, the title above.
top_legend <- function(room, main, ...) {
  graphics::legend(
    "bottom", room$labels, ncol = room$columns, inset = c(0, 1), xpd = NA, bty = "n", cex = legend_cex, ...
  )
  graphics::title(main, line = room$line, cex.main = title_size(main, title_width()))
}

# Inches that a title may take: it is centred on the plot, which need not be in the middle of its figure.
title_width <- function() {
  centre <- graphics::par("mai")[2L] + graphics::par("pin")[1L] / 2
  2 * min(centre, graphics::par("fin")[1L] - centre)
}

# The size at which a bold title fits into a width in inches, relative to par("cex").
title_size <- function(main, width, size = 1.2) {
  min(size, 0.96 * size * width / max(graphics::strwidth(main, "inches", cex = size, font = 2L), 1e-6))
}

# Labels cut to a width in inches at a character size: dots in the middle, since ends tell names apart too. (Three dots,
# for the one sign for them is not in every device's fonts.)
fit_labels <- function(labels, width, cex) {
  fits <- function(text) graphics::strwidth(text, "inches", cex = cex, font = 3L) <= width
  vapply(labels, function(label) {
    keep <- nchar(label)
    shown <- label
    while (!fits(shown) && keep > 2L) {
      keep <- keep - 1L
      tail <- keep %/% 3L
      shown <- paste0(substr(label, 1L, keep - tail), "...", substring(label, nchar(label) - tail + 1L))
    }
    shown
  }, "", USE.NAMES = FALSE)
}

# Bars side by side, a column of `heights` each, stacked from the bottom. Every piece is painted from the ground up and
# to the right end, and the next covers what is too much of it: so no seams show between thin bars.
stacked_bars <- function(heights, colours) {
  n <- ncol(heights)
  tops <- matrix(apply(heights, 2L, cumsum), nrow(heights))
  from_top <- rev(seq_along(colours))
  left <- rep(seq_len(n) - 1L, each = length(colours))
  graphics::rect(left, 0, n, tops[from_top, ], col = colours[from_top], border = NA)
}

least_text <- 0.075 # inches a line of the smallest readable text takes

# Pieces that plot() draws with R's own graphics, by draw_view(), and autoplot() with ggplot2, by gg_view(): lists with
# their kind, what is drawn, and a title.
new_view <- function(kind, main, ...) list(kind = kind, main = main, ...)

# What a plot() method has to show, all arguments checked; its arguments are those of the method.
plot_view <- function(x, ...) UseMethod("plot_view")

draw_view <- function(view) {
  draw <- switch(view$kind,
    heat = draw_heat, traces = draw_traces, bars = draw_bars, phantom = draw_phantom_share,
    curves = function(view) plot_curves(view$fit, view$attribute, view$main),
    map = function(view) plot_map(view$fit, view$slices, view$main),
    images = draw_images, activation = draw_activation, leak = draw_leak, simplex = draw_simplex,
    marginals = draw_marginals, reconstruction = draw_reconstruction, divergences = draw_divergences,
    losses = draw_losses, recovery = draw_recovery, modes = draw_modes, ranges = draw_ranges,
    bmf_data = draw_bmf_data, bmf_images = draw_bmf_images, chain_traces = draw_chain_traces, counts = draw_bmf_counts
  )
  draw(view)
}

heat_view <- function(values, limits = c(0, 1), colours = probability_colours(), main = "", heads = NULL,
                      legend = "probability", taxa = TRUE) {
  new_view(
    "heat", main, values = values, limits = limits, colours = colours, heads = heads, legend = legend, taxa = taxa
  )
}

draw_heat <- function(view) {
  heat_map(view$values, view$limits, view$colours, view$main, view$heads, view$legend, view$taxa)
}

# A heat map of few columns and many rows, wrapped into as many panels side by side as keep its row labels readable.
#   values  rows x columns, drawn on `limits` with `colours`; row and column names are the labels
#   taxa    are rows taxa, whose names are in italics?
heat_map <- function(values, limits = c(0, 1), colours = probability_colours(), main = "", column_labels = NULL,
                     legend = "probability", taxa = TRUE) {
  rows <- nrow(values)
  labels <- if (is.null(rownames(values))) as.character(seq_len(rows)) else rownames(values)
  heads <- if (is.null(column_labels)) colnames(values) else column_labels
  panels <- heat_panels(rows, ncol(values))
  local_par(oma = c(0, 0.3, 0, 0.3), mfrow = c(1L, panels), mai = c(0, 0, 0, 0), xpd = NA)
  graphics::plot.new() # text can be measured now; the first panel goes on in the same place
  page <- heat_page(rows, panels, labels, heads, ncol(values))
  graphics::par(mai = page$margin, new = TRUE)
  for (panel in seq_len(page$panels)) {
    at <- seq_len(page$per_panel) + (panel - 1L) * page$per_panel
    at <- at[at <= rows]
    heat_panel(values[at, , drop = FALSE], labels[at], page, limits, colours, if (taxa) 3L else 1L)
  }
  size <- graphics::par("cex") * title_size(main, graphics::par("din")[1L], 1.2 / graphics::par("cex"))
  graphics::mtext(main, side = 3L, outer = TRUE, line = -2, font = 2L, cex = size)
  colour_legend(limits, colours, legend)
  invisible(page$panels)
}

heat_height <- function() max(graphics::par("din")[2L] - 1.6, 1)

least_cell <- 0.03 # inches, the narrowest column of a heat map that is wrapped

# As many panels as keep the row labels readable, and as the width of the page and of the columns allows.
heat_panels <- function(rows, columns) {
  width <- graphics::par("din")[1L] - 0.2
  most <- max(1, floor(min(width / 0.7, 0.4 * width / (least_cell * columns))))
  max(1, min(most, ceiling(rows / max(1, floor(heat_height() / least_text)))))
}

# How a heat map is laid out on the device at hand: margins in inches and the size of text (absolute, as mtext() takes
# it).
heat_page <- function(rows, panels, labels, heads, columns) {
  absolute <- 1 / graphics::par("cex")
  width <- (graphics::par("din")[1L] - 0.2) / panels
  per_panel <- ceiling(rows / panels)
  line <- heat_height() / per_panel
  cex <- max(min(1, line / 0.17), 0.4)
  room <- min(max(graphics::strwidth(labels, "inches", cex = cex * absolute, font = 3L)) + 0.1, 0.6 * width)
  cell <- (width - room - 0.1) / columns
  turned <- max(graphics::strwidth(heads, "inches", cex = 0.75 * absolute)) > 0.95 * cell
  head_cex <- if (turned) max(min(0.75, 0.75 * cell / 0.13), 0.4) else 0.75
  if (turned) heads <- thin_heads(gsub("\n", " ", heads, fixed = TRUE), cell / (head_cex * 0.17))
  if (turned) heads <- fit_labels(heads, 0.2 * graphics::par("din")[2L], head_cex * absolute)
  head_width <- max(graphics::strwidth(heads, "inches", cex = head_cex * absolute))
  top <- 0.5 + if (turned) head_width + 0.1 else 0.35
  # What the heads take is not there for the rows.
  line <- (graphics::par("din")[2L] - 0.6 - top) / per_panel
  cex <- min(cex, max(min(1, line / 0.17), 0.4))
  list(
    panels = panels, per_panel = per_panel, room = room, cex = cex, heads = heads, turned = turned,
    step = max(1L, as.integer(ceiling(least_text * 0.8 / line))),
    head_cex = head_cex, margin = c(0.6, room + 0.03, top, 0.07)
  )
}

# Heads of columns that are `lines` lines of text apart: where that is less than one, every second, third, ... stays,
# counted from the end, where the phantoms are.
thin_heads <- function(heads, lines) {
  step <- max(1L, as.integer(ceiling(1 / lines)))
  replace(heads, (length(heads) - seq_along(heads)) %% step != 0L, "")
}

heat_panel <- function(values, labels, page, limits, colours, font) {
  columns <- ncol(values)
  scaled <- (pmin(pmax(values, limits[1L]), limits[2L]) - limits[1L]) / diff(limits)
  fill <- colours[1L + floor(scaled * (length(colours) - 1L) + 0.5)]
  fill[is.na(fill)] <- "white"
  graphics::plot.new()
  graphics::plot.window(c(0, columns), c(page$per_panel, 0), xaxs = "i", yaxs = "i")
  graphics::rect(col(values) - 1, row(values) - 1, col(values), row(values), col = fill, border = NA)
  between <- seq_len(columns - 1L)
  wide <- graphics::par("pin")[1L] / columns > 0.05
  if (columns > 1L && wide) graphics::segments(between, 0, between, nrow(values), col = "white")
  graphics::rect(0, 0, columns, nrow(values), border = "grey40")
  scale <- page$cex / graphics::par("cex")
  at <- seq(1L, length(labels), by = page$step)
  shown <- fit_labels(labels[at], page$room - 0.08, scale)
  graphics::mtext(shown, side = 2L, at = at - 0.5, las = 1L, line = 0.15, cex = page$cex, font = font)
  graphics::mtext(
    page$heads, side = 3L, at = seq_len(columns) - 0.5, las = if (page$turned) 2L else 0L, line = 0.2,
    cex = page$head_cex, padj = if (page$turned) 0.5 else NA
  )
}

# A strip of colour with its scale, at the foot of the page.
colour_legend <- function(limits, colours, title) {
  graphics::par(mfrow = c(1L, 1L), oma = c(0, 0, 0, 0), mai = c(0, 0, 0, 0), new = TRUE)
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(0, 1), xaxs = "i", yaxs = "i")
  inch <- 1 / graphics::par("pin")[2L]
  left <- seq(0.35, 0.65, length.out = length(colours) + 1L)
  graphics::rect(left[-length(left)], 0.3 * inch, left[-1L], 0.42 * inch, col = colours, border = NA)
  ends <- format(limits, digits = 2L, trim = TRUE)
  graphics::text(0.34, 0.36 * inch, ends[1L], adj = c(1, 0.5), cex = 0.8)
  graphics::text(0.66, 0.36 * inch, ends[2L], adj = c(0, 0.5), cex = 0.8)
  graphics::text(0.5, 0.17 * inch, title, cex = 0.8)
}

# The objective of every start against its passes, below the best one, on a log scale.
trace_view <- function(fit, main = NULL) {
  traces <- fit$start_traces
  best <- max(vapply(traces, function(trace) if (length(trace)) max(trace) else -Inf, 0))
  new_view(
    "traces", if (is.null(main)) "Every start, pass by pass" else main,
    gaps = lapply(traces, function(trace) pmax(best - trace, least_gap)),
    kinds = factor(fit$starts$init, unique(fit$starts$init)), finished = fit$starts$finished
  )
}

draw_traces <- function(view) {
  gaps <- view$gaps
  kinds <- view$kinds
  decades <- seq(log10(least_gap), ceiling(log10(max(unlist(gaps), 1))))
  colours <- component_colours(nlevels(kinds))
  room <- legend_room(levels(kinds), c(4.2, 5, 2.2, 1), c(3.6, 0.8, 0))
  graphics::plot(
    NA, xlim = c(1, max(lengths(gaps), 2L)), ylim = 10^range(decades), log = "xy", las = 1L, bty = "l", xlab = "",
    ylab = "nats below the best", yaxt = "n"
  )
  graphics::title(xlab = "pass", line = 2.6)
  labels <- format_decades(decades)
  labels[1L] <- paste("<", labels[1L])
  graphics::axis(2L, 10^decades, labels, las = 1L)
  thick <- ifelse(view$finished, 1.6, 0.6)
  for (i in which(lengths(gaps) > 0L)) {
    graphics::lines(seq_along(gaps[[i]]), gaps[[i]], col = colours[as.integer(kinds)[i]], lwd = thick[i])
  }
  top_legend(room, view$main, col = colours, lwd = 2)
}

least_gap <- 0.001 # nats; what is nearer to the best is drawn here

format_decades <- function(decades) vapply(10^decades, format, "", scientific = 9L, big.mark = "")
