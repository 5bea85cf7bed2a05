# Tools of all figures: colours, theme, words for the sides of a table, labels that never overlap, heat maps. ggplot2 is
# called as `ggplot2::`, so that loading the package does not load it.

# Draws the result of autoplot(), also within loops and functions.
#' @rdname autoplot.multicause
#' @export
plot.multicause <- function(x, ...) {
  figure <- with_usual_numbers({
    figure <- ggplot2::autoplot(x, ...)
    print(figure)
  })
  invisible(figure)
}

# Formats numbers of figures and pages by R's default options: with a low `scipen` ggplot2 stops.
with_usual_numbers <- function(expr) {
  old <- options(scipen = 0, OutDec = ".", digits = 7L)
  on.exit(options(old))
  expr
}

# Hues of Okabe and Ito, safe for the colour-blind, each with its own lightness, so that components are distinct in
# grey, too; greys are reserved for phantoms. Beyond eight, adjacent components differ.
component_colours <- function(k) {
  base <- c("#00457C", "#DB9600", "#93467F", "#8CCBF2", "#009E73", "#C9510C", "#F0E442", "#000000")
  if (k <= length(base)) {
    return(base[seq_len(k)])
  }
  grDevices::hcl.colors(k, "viridis")[order(seq_len(k) %% 3L)]
}

phantom_colours <- c(white = "#EFEFEF", black = "grey20") # where each component has its colour

# Each state of a cell has one colour in all figures and in the page of explore(): from black to white, legible in grey;
# undetected presences stand out in colour.
cell_colours <- c(found = "#08306B", missed = "#D55E00", undecided = "#F6C98B", absent = "#F7F7F7", unknown = "#A6A6A6")

# From light to dark, legible in grey.
probability_colours <- function(n = 100L) grDevices::hcl.colors(n, "YlGnBu", rev = TRUE)

# Returns colours from -limit to limit, or from 0 to limit if nothing is below 0.
signed_colours <- function(values) {
  if (all(values >= 0, na.rm = TRUE)) {
    return(list(limits = c(0, max(values, 1e-12, na.rm = TRUE)), colours = probability_colours()))
  }
  limit <- stats::quantile(abs(values), 0.995, na.rm = TRUE, names = FALSE)
  list(limits = c(-1, 1) * max(limit, 1e-12), colours = both_ways())
}

# Diverging colours: orange, grey, blue, and ever darker, so that the sides are distinct in grey, too.
both_ways <- function(n = 101L) grDevices::colorRampPalette(c("#FFE3A3", "#D9CBB0", "#B5B5B5", "#5F86B0", "#08306B"))(n)

# Returns black or white, whichever is legible on a colour.
text_on <- function(colour) {
  light <- as.vector(c(0.299, 0.587, 0.114) %*% grDevices::col2rgb(colour)) > 140
  ifelse(light, "black", "white")
}

# Calls aes() with column names as text.
gg_aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Whether the items of a side are taxa, whose names are in italics: not the words of a text, nor families.
in_italics <- function(word) tolower(word) %in% c("taxa", "taxon", "genera", "genus", "species")

title_width <- 36 # characters of a title that one column of a journal, 85 mm, holds

# Lines of at most `width` characters, as few as possible and then as even as possible.
wrapped <- function(text, width) {
  if (is.null(text)) {
    return(NULL)
  }
  fill <- function(width) strwrap(unbroken(text), width)
  lines <- fill(width)
  even <- Find(function(narrow) length(fill(narrow)) == length(lines), seq_len(width))
  paste(fill(even), collapse = "\n")
}

# Every figure begins here. Letters are of the size that journals print, and titles are wrapped.
new_figure <- function(data, mapping = ggplot2::aes(), title, alt, x = NULL, y = NULL, subtitle = NULL) {
  blank <- ggplot2::element_blank()
  ggplot2::ggplot(data, mapping) +
    ggplot2::labs(
      x = wrapped(x, 44), y = wrapped(y, 34), title = wrapped(title, title_width),
      subtitle = wrapped(subtitle, 50), alt = alt
    ) +
    ggplot2::theme_minimal() +
    ggplot2::theme(
      plot.title = ggplot2::element_text(size = 10, face = "bold"), plot.title.position = "plot",
      plot.subtitle = ggplot2::element_text(size = 8, colour = "grey25"), legend.position = "top",
      legend.justification = "left", legend.margin = ggplot2::margin(0, 0, 0, 0),
      legend.box.spacing = ggplot2::unit(4, "pt"), panel.grid.minor = blank,
      legend.title = ggplot2::element_text(size = 8), legend.text = ggplot2::element_text(size = 8),
      legend.key.size = ggplot2::unit(9, "pt"), legend.spacing.y = ggplot2::unit(1, "pt"),
      strip.text = ggplot2::element_text(hjust = 0, size = 8), strip.clip = "off",
      axis.title = ggplot2::element_text(size = 8.5), axis.text = ggplot2::element_text(size = 7.5),
      plot.caption = ggplot2::element_text(size = 7, colour = "grey25", hjust = 0),
      plot.caption.position = "plot",
      # Half of the last number of an axis stands beyond the panel.
      plot.margin = ggplot2::margin(5.5, 14, 5.5, 5.5),
      # Without it a saved figure is transparent.
      plot.background = ggplot2::element_rect(fill = "white", colour = NA)
    )
}

no_grid <- function() ggplot2::theme(panel.grid = ggplot2::element_blank())

# Sets values beyond the limits of a scale to its ends.
squeezed <- function(x, range) pmin(pmax(x, range[1L]), range[2L])

# If values below 0 make grey the middle of the scale, unknown values are white.
unknown_is_white <- function(limits) isTRUE(limits[1L] < 0)

fill_scale <- function(limits, colours = probability_colours(), title = NULL, ...) {
  ggplot2::scale_fill_gradientn(
    title, colours = colours, limits = limits, oob = squeezed, ...,
    na.value = if (unknown_is_white(limits)) "white" else "grey75",
    guide = ggplot2::guide_colourbar(title.position = "top", barwidth = 7, barheight = 0.4)
  )
}

# As many columns of a legend as fit into 85 mm.
legend_columns <- function(labels) max(1L, min(length(labels), 46L %/% (max(nchar(labels), 1L) + 4L)))

# Colours by label, in their order, whatever layer shows which of them first.
colour_scale <- function(colours, title = NULL, labels = names(colours), aesthetics = c("colour", "fill")) {
  ggplot2::scale_colour_manual(
    title, values = colours, aesthetics = aesthetics, limits = function(at) intersect(names(colours), at),
    labels = function(at) labels[match(at, names(colours))],
    guide = ggplot2::guide_legend(ncol = legend_columns(labels), byrow = TRUE)
  )
}

# Drops labels that would cover others when the figure is drawn, at any size.
thinned <- function(...) ggplot2::guide_axis(check.overlap = TRUE, ...)

# ggplot2 drops labels by their boxes, which include neither descenders nor a gap. So labels above each other get an
# empty line of little height before and after, and those side by side get blanks. Labels of several lines need only
# their own height.
apart_labels <- function(labels, above = TRUE) {
  pad <- if (!above) " " else if (!any(grepl("\n", labels, fixed = TRUE))) "\n" else ""
  ifelse(is.na(labels), NA, paste0(pad, labels, pad))
}
apart_height <- 0.14 # of an empty line: the box is then as high as type that is set solid

# Shortens labels to a number of characters, with dots in the middle because ends distinguish names, too. (Three dots,
# because not every device's fonts have the single sign.)
short_labels <- function(most = 28L) {
  function(labels) {
    size <- nchar(labels)
    tail <- (most - 3L) %/% 3L
    cut <- paste0(substr(labels, 1L, most - tail - 3L), "...", substring(labels, size - tail + 1L))
    ifelse(size > most, cut, labels)
  }
}

# An axis of names: short, thinned, in italics where they are taxa. Those below a figure are turned, and so are heads
# above where they are `turned`.
names_axis <- function(side, n, taxa = FALSE, position = c(x = "bottom", y = "left")[[side]], most = 28L,
                       room = if (n > 12L) 0 else 0.1, turned = side == "x" && position == "bottom") {
  scale <- switch(side, x = ggplot2::scale_x_discrete, y = ggplot2::scale_y_discrete)
  # Names of several lines are heads of few columns, side by side.
  above <- side == "y" || turned
  text <- ggplot2::element_text(
    size = if (n > 40L) 6 else if (n > if (turned) 4L else 12L) 6.5 else 7.5, face = if (taxa) "italic" else "plain",
    lineheight = if (above) apart_height, hjust = if (turned && position == "top") 0
  )
  short <- short_labels(most)
  expand <- ggplot2::expansion(add = room)
  list(
    scale(
      labels = function(at) apart_labels(short(at), above), position = position, expand = expand,
      guide = thinned(angle = if (turned) 90)
    ),
    do.call(ggplot2::theme, stats::setNames(
      list(text), paste0("axis.text.", side, if (position %in% c("top", "right")) paste0(".", position))
    ))
  )
}

# Returns a matrix in long form, with labels of rows and of columns as factors in their order.
cell_frame <- function(values) {
  label <- function(side) {
    names <- dimnames(values)[[side]]
    names <- if (is.null(names)) as.character(seq_len(dim(values)[side])) else make.unique(names)
    factor(names, names)
  }
  data.frame(
    row = rep(label(1L), ncol(values)), column = rep(label(2L), each = nrow(values)), value = as.vector(values)
  )
}

# Which component is the main one of most items; weight: components x items.
main_title <- function(weight, labels, words) {
  main <- tabulate(max.col(t(weight), ties.method = "first"), nrow(weight))
  sprintf("%s is the main component of %d of %d %s", labels[which.max(main)], max(main), ncol(weight), words)
}

most_rows <- 60L # of a heat map of few columns, in one panel

# Draws a heat map, first row on top. Many rows and few columns are wrapped into panels side by side.
heat_figure <- function(values, title, alt, limits = c(0, 1), colours = probability_colours(), legend = NULL,
                        heads = colnames(values), sides = NULL, taxa = "row", subtitle = NULL, ...) {
  colnames(values) <- heads
  table <- cell_frame(values)
  few <- ncol(values) <= 24L
  heading <- few && taxa != "column" # names of components stand above, those of taxa turned below
  # Two panels of many columns would leave no room for the heads of these.
  panels <- if (ncol(values) <= 8L) min(ceiling(nrow(values) / most_rows), 2L) else 1L
  turned <- !heading || panels * sum(nchar(heads) + 2L) > 24L
  table$panel <- (as.integer(table$row) - 1L) %/% ceiling(nrow(values) / panels)
  table$row <- factor(table$row, rev(levels(table$row)))
  tile <- if (length(values) <= 3000L) ggplot2::geom_tile else ggplot2::geom_raster
  figure <- new_figure(
    table, gg_aes(x = "column", y = "row", fill = "value"), title, alt, sides[2L], sides[1L], subtitle
  ) + tile() + fill_scale(limits, colours, legend, ...) + no_grid() +
    names_axis("x", ncol(values), taxa == "column" && in_italics(sides[2L] %||% "taxa"),
      if (heading) "top" else "bottom", if (heading) 28L else 18L, turned = turned) +
    names_axis("y", nrow(values) / panels, taxa == "row" && in_italics(sides[1L] %||% "taxa"),
      most = if (panels == 1L) 28L else 13L) +
    ggplot2::theme(legend.position = "bottom") + legend_right()
  if (panels == 1L) {
    return(figure)
  }
  figure + ggplot2::facet_wrap("panel", scales = "free_y", nrow = 1L) +
    ggplot2::theme(strip.text = ggplot2::element_blank(), panel.spacing.x = ggplot2::unit(2, "pt"))
}

# Draws images of matrices, first row on top, one facet each.
picture_figure <- function(tables, title, alt, limits, colours = probability_colours(), legend = NULL, ...) {
  each <- Map(function(values, name) {
    values <- as.matrix(values)
    data.frame(panel = name, row = as.vector(row(values)), column = as.vector(col(values)), value = as.vector(values))
  }, tables, names(tables))
  table <- do.call(rbind, unname(each))
  table$panel <- factor(table$panel, names(tables))
  whole <- function(n) Filter(function(at) at >= 1 && at <= n, unique(round(pretty(c(1, n), 4L))))
  size <- c(max(vapply(tables, NROW, 0L)), max(vapply(tables, NCOL, 0L)))
  new_figure(table, gg_aes(x = "column", y = "row", fill = "value"), title, alt, ...) + ggplot2::geom_raster() +
    ggplot2::scale_y_reverse(expand = c(0, 0), breaks = whole(size[1L])) +
    ggplot2::scale_x_continuous(expand = c(0, 0), breaks = whole(size[2L])) +
    fill_scale(limits, colours, legend) + ggplot2::facet_wrap("panel") + no_grid()
}

# Draws an image in true proportion without axes, the legend below because panels may be narrower than the figure.
without_axes <- function() {
  blank <- ggplot2::element_blank()
  list(ggplot2::coord_fixed(clip = "off"), ggplot2::theme(axis.text = blank, axis.title = blank), legend_below())
}

# With long names at the left, the legend has its room above them.
legend_right <- function() ggplot2::theme(legend.justification = "right")

legend_below <- function() ggplot2::theme(legend.position = "bottom", legend.justification = "centre")

# Of an axis of counts.
whole_breaks <- function(range, n = 5L) unique(round(pretty(range, n)))

# Puts few numbers on the axes of small panels, without overlap; counts are `whole`.
few_numbers <- function(side, whole = FALSE, n = 3L) {
  scale <- switch(side, x = ggplot2::scale_x_continuous, y = ggplot2::scale_y_continuous)
  labels <- if (side == "x") function(at) apart_labels(format_big(at), FALSE) else ggplot2::waiver()
  breaks <- function(range) {
    # Long numbers get fewer breaks, so that those dropped from a narrow panel leave even steps.
    n <- min(n, max(2L, 8L - nchar(format_big(floor(max(abs(range)))))))
    # Takes one step finer if only two would be visible.
    for (n in n + 0:1) {
      at <- if (whole) whole_breaks(range, n) else pretty(range, n)
      if (sum(at >= range[1L] & at <= range[2L]) > 2L) break
    }
    at
  }
  scale(breaks = breaks, labels = labels, guide = thinned())
}

# Draws a bar per site, with a piece per component (the columns of `shares`), in the order of rows; adjacent sites with
# the same main component are labelled in their middle. labels: of the legend; group: of each bar, a factor; bars of a
# group stand together, with a gap to the next.
bars_figure <- function(shares, title, alt, labels, colours, xlab, group, subtitle = NULL) {
  code <- as.integer(group)
  x <- seq_along(code) + (code - 1L) * max(1, round(0.012 * length(code)))
  table <- cell_frame(unname(shares))
  table$column <- factor(labels[as.integer(table$column)], labels)
  table$row <- x[as.integer(table$row)]
  main <- max.col(shares, ties.method = "first")
  runs <- rle(paste(code, main))$lengths
  middle <- (cumsum(runs) - (runs - 1L) %/% 2L)[runs >= 0.04 * nrow(shares)]
  main <- main[middle]
  above <- vapply(seq_along(middle), function(i) {
    piece <- shares[middle[i], ]
    sum(piece[seq_along(piece) > main[i]]) + piece[main[i]] / 2
  }, 0)
  names <- data.frame(
    row = x[middle], value = above, label = colnames(shares)[main], colour = text_on(colours[main])
  )
  new_figure(table, gg_aes(x = "row", y = "value"), title, alt, xlab, "share", subtitle) +
    ggplot2::geom_col(gg_aes(fill = "column", colour = "column"), width = 1, linewidth = 0.15) +
    ggplot2::geom_text(gg_aes(label = "label"), names, colour = names$colour, check_overlap = TRUE, size = 3) +
    colour_scale(stats::setNames(colours, labels)) + ggplot2::guides(colour = "none") + no_grid() +
    groups_scale(group, x) + ggplot2::scale_y_continuous(expand = c(0, 0))
}

# Labels each group below its middle, if there are several.
groups_scale <- function(group, x) {
  if (nlevels(group) < 2L) {
    return(ggplot2::scale_x_continuous(breaks = NULL, expand = c(0, 0)))
  }
  many <- nlevels(group) > 8L
  ggplot2::scale_x_continuous(
    breaks = as.vector(tapply(x, group, mean)), labels = apart_labels(short_labels(16L)(levels(group)), FALSE),
    guide = thinned(angle = if (many) 90, n.dodge = if (many) 1L else 2L), expand = c(0, 0)
  )
}

# Puts similar rows next to each other within groups, in the order of the leaves of average linkage.
similar_rows <- function(values, group) {
  each <- split(seq_len(nrow(values)), group)
  unlist(lapply(unname(each), function(at) {
    if (length(at) < 3L) at else at[stats::hclust(stats::dist(values[at, , drop = FALSE]), "average")$order]
  }))
}

# Draws points with ranges, one below the other, and a second kind of point beside them. rows: label, value, low, high,
# other; words: names of the two points, with their colours: black and purple unless they are presences or undetected
# ones.
ranges_figure <- function(rows, title, alt, xlab, words, limits = c(0, NA), taxa = FALSE, subtitle = NULL,
                          most = 28L, whole = FALSE, colours = component_colours(8L)[c(8L, 3L)]) {
  rows$label <- factor(rows$label, rev(unique(rows$label)))
  many <- nrow(rows) > 60L
  points <- lapply(names(words), function(kind) {
    data.frame(label = rows$label, value = rows[[kind]], kind = factor(words[[kind]], words))
  })
  colours <- stats::setNames(colours[seq_along(words)], words)
  new_figure(do.call(rbind, points), gg_aes(x = "value", y = "label"), title, alt, xlab, NULL, subtitle) +
    ggplot2::geom_linerange(
      gg_aes(y = "label", xmin = "low", xmax = "high"), rows, inherit.aes = FALSE, colour = colours[[1L]],
      linewidth = if (many) 0.25 else 0.8, na.rm = TRUE
    ) +
    ggplot2::geom_point(
      gg_aes(colour = "kind", shape = "kind"), size = if (many) 0.9 else 2, stroke = 0.8, na.rm = TRUE
    ) +
    colour_scale(colours) + ggplot2::scale_shape_manual(
      NULL, values = c(19L, 5L), guide = ggplot2::guide_legend(ncol = legend_columns(words), byrow = TRUE)
    ) +
    ggplot2::coord_cartesian(xlim = limits, clip = "off") + names_axis("y", nrow(rows), taxa, most = most, room = 0.6) +
    few_numbers("x", whole, 4L) + legend_right() +
    # The names leave a narrow panel: a long title of the axis has its room at the left.
    ggplot2::theme(
      panel.grid.major.y = ggplot2::element_line(colour = "grey94"), axis.title.x = ggplot2::element_text(hjust = 1)
    )
}

# Orders items by main component, then by decreasing probability: `weight` is components x items.
seriate <- function(weight) {
  order(max.col(t(weight), ties.method = "first"), -apply(weight, 2L, max))
}

# Returns an axis on which time passes to the right, or upwards, with the geological time scale if ages are in Ma and
# package deeptime is installed. `across`: how many panels share the width.
time_axis <- function(ages, unit = "guess", side = "x", across = 1L) {
  told <- age_scale(ages, unit)
  range <- range(ages, na.rm = TRUE)
  scale <- switch(side,
    x = if (told$forward) ggplot2::scale_x_continuous else ggplot2::scale_x_reverse,
    y = if (told$forward) ggplot2::scale_y_continuous else ggplot2::scale_y_reverse
  )
  list(
    scale(n.breaks = 5L, guide = thinned()),
    do.call(ggplot2::labs, stats::setNames(list(age_words(told)), side)),
    if (is_geological(told, range)) {
      divisions <- geological_divisions(range)
      deeptime::coord_geo(
        pos = c(x = "bottom", y = "left")[[side]], dat = divisions$of, height = ggplot2::unit(1, "line"),
        rot = if (side == "y") 90 else 0, size = 2.5, abbrv = TRUE,
        # A name needs room; at the ends only the visible part of a division counts.
        skip = divisions$name[divisions$share < 0.055 * across], center_end_labels = TRUE, expand = TRUE
      )
    }
  )
}

# Tests whether the geological time scale applies to ages of this range.
is_geological <- function(told, range) {
  identical(told$unit, "Ma") && all(range >= 0 & range <= 541) && diff(range) > 0 &&
    requireNamespace("deeptime", quietly = TRUE)
}

# Finds the finest division of the time scale with at most `most` units visible, and each unit's share of the range.
geological_divisions <- function(range, most = 12L) {
  for (of in c("stages", "epochs", "periods", "eras")) {
    all <- deeptime::get_scale_data(of)
    share <- (pmin(all$max_age, range[2L]) - pmax(all$min_age, range[1L])) / diff(range)
    if (sum(share > 0) <= most) break
  }
  list(of = of, name = all$name, share = pmax(share, 0), from = all$min_age, to = all$max_age)
}

# Users may have dropped columns or rows of tables.
need_drawn_columns <- function(object, columns) {
  lost <- setdiff(columns, names(object))
  if (length(lost)) stop_input("`object` must have the columns %s: it lacks %s.", show_names(columns), show_names(lost))
  if (!nrow(object)) stop_input("`object` must hold a row to draw: it has none.")
}

# Draws the composition of each site. ordered: list(at, words), for an order other than by similarity; alike: the
# components that define similarity.
structure_figure <- function(fit, groups = NULL, labels = colnames(fit$param$membership),
                             colours = component_colours(length(labels)), ordered = NULL, alike = TRUE) {
  membership <- fit$param$membership
  if (is.null(membership)) stop_input("`what = \"structure\"` needs a fit with memberships in memory.")
  n <- nrow(membership)
  group <- if (is.null(groups)) factor(rep(1L, n)) else group_factor(groups, n, 1L, rep(TRUE, n), fit$names[[1L]])
  at <- ordered$at %||% seriate(t(membership))
  at <- at[order(group[at], na.last = NA)]
  if (!length(at)) stop_input("`groups` must name a group: all are NA.")
  all <- length(at)
  if (all > most_bars) at <- at[round(seq(1, all, length.out = most_bars))]
  if (is.null(ordered)) at <- at[similar_rows(unname(membership[at, alike, drop = FALSE]), group[at])]
  k <- ncol(membership)
  top <- top_names(fit, if (k > 4L) 1L else 3L, short_labels(10L))
  words <- axis_words(fit)[1L]
  shares <- membership[at, , drop = FALSE]
  # What has no share in any of them needs no colour.
  seen <- apply(shares, 2L, max) > least_piece
  bars_figure(
    shares[, seen, drop = FALSE], made_title(shares, labels, words),
    sprintf("Bars: how much of each of the %s each component makes up.", words),
    paste0(labels, ifelse(nzchar(top), ": ", ""), top)[seen], colours[seen],
    paste0(words, ", ", ordered$words %||% "similar ones beside each other"), droplevels(group[at]),
    paste(c(
      if (all > length(at)) sprintf("%s of the %s %s, evenly out of all", format_big(length(at)), format_big(all),
        words),
      if (!all(seen)) sprintf("No share anywhere: %s", paste(labels[!seen], collapse = ", "))
    ), collapse = ". ")
  )
}

least_piece <- 0.005 # share of a component that can be seen

# The component with the largest mean share, in a sentence.
made_title <- function(shares, labels, words) {
  mean <- colMeans(shares)
  sprintf("%s has the largest mean share of the %s, %.0f %%", labels[which.max(mean)], words, 100 * max(mean))
}

most_bars <- 2000L # no page is wider, and the order takes the distances of all pairs

# Plots the objective of every start against its iterations, as the distance to the best one, on a log scale.
trace_figure <- function(fit) {
  traces <- fit$start_traces
  if (!length(unlist(traces))) stop_input("`object` has no iterations to draw.")
  best <- max(vapply(traces, function(trace) if (length(trace)) max(trace) else -Inf, 0))
  iterations <- lengths(traces)
  table <- data.frame(
    start = rep(seq_along(iterations), iterations), iteration = sequence(iterations),
    gap = pmax(best - unlist(traces), least_gap),
    kind = factor(rep(fit$starts$init, iterations), unique(fit$starts$init)),
    finished = rep(fit$starts$finished, iterations)
  )
  decades <- function(range) 10^seq(floor(log10(range[1L])), ceiling(log10(range[2L])))
  words <- function(at) {
    ifelse(at <= least_gap, paste("<", least_gap), vapply(at, format, "", scientific = 9L, big.mark = " "))
  }
  last <- vapply(traces[iterations > 0L], function(trace) best - trace[length(trace)], 0)
  new_figure(
    table, gg_aes(x = "iteration", y = "gap", group = "start", colour = "kind", linetype = "kind", alpha = "finished"),
    sprintf("%d of %s end within %g of the best", sum(last < near_gap), count_words(length(last), "start"), near_gap),
    "Lines: how far each start was below the best one, iteration by iteration.", "iteration",
    "gap to the best log-likelihood (nats)"
  ) + ggplot2::geom_line(data = table[rep(iterations, iterations) > 1L, ]) +
    ggplot2::geom_point(data = table[rep(iterations, iterations) == 1L, ]) +
    ggplot2::scale_x_log10() + ggplot2::scale_y_log10(breaks = decades, labels = words) +
    colour_scale(stats::setNames(component_colours(nlevels(table$kind)), levels(table$kind))) +
    ggplot2::scale_linetype_discrete(NULL) +
    ggplot2::scale_alpha_manual(values = c(`FALSE` = 0.4, `TRUE` = 1), guide = "none")
}

least_gap <- 0.001 # nats; what is nearer to the best is drawn here
near_gap <- 0.1 # nats; starts that end so near found the same solution

# The component that changes most, of those whose intervals at both ends are apart.
membership_title <- function(curve, covariate, labels) {
  end <- nrow(curve$mean)
  change <- curve$mean[end, ] - curve$mean[1L, ]
  clear <- curve$lower[end, ] > curve$upper[1L, ] | curve$upper[end, ] < curve$lower[1L, ]
  if (!any(clear)) {
    return(sprintf("No clear change of memberships with %s", covariate))
  }
  most <- which.max(abs(change) * clear)
  sprintf(
    "Component %s %s with %s, from %.2f to %.2f", labels[most], if (change[most] > 0) "rises" else "falls", covariate,
    curve$mean[1L, most], curve$mean[end, most]
  )
}

# Expected memberships against a covariate; `by` as of membership_design().
membership_figure <- function(fit, covariate, level, ...) {
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  by <- fit$covariates
  covariate <- check_numeric_covariate(by$frame, "membership", covariate)
  along <- design_along(by$frame, covariate)
  curve <- membership_curve(fit, along$design, level)
  k <- fit$dims[["k"]]
  labels <- component_names(k)
  points <- length(along$values)
  rows <- data.frame(
    at = rep(along$values, k), component = factor(rep(labels, each = points), labels),
    membership = as.vector(curve$mean), low = as.vector(curve$lower), high = as.vector(curve$upper)
  )
  title <- membership_title(curve, covariate, labels)
  alt <- sprintf("Lines: expected membership of %s, against %s.", count_words(k, "component"), covariate)
  new_figure(rows, gg_aes(x = "at", y = "membership"), title, alt, covariate, "expected membership",
    sprintf("With %s %% intervals", format(100 * level))) +
    ggplot2::geom_ribbon(gg_aes(ymin = "low", ymax = "high", fill = "component"), alpha = 0.25) +
    ggplot2::geom_line(gg_aes(colour = "component"), linewidth = 0.8) +
    colour_scale(stats::setNames(component_colours(k), labels)) +
    ggplot2::coord_cartesian(ylim = c(0, 1))
}
