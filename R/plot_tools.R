# What all figures share: colours, theme, words for the sides of a table, labels that never cover each other, heat maps.
# ggplot2 is called as `ggplot2::`, so that loading the package does not load it.

# Draws what autoplot() makes: in loops and functions, too.
#' @rdname autoplot.multicause
#' @export
plot.multicause <- function(x, ...) {
  figure <- with_usual_numbers({
    figure <- ggplot2::autoplot(x, ...)
    print(figure)
  })
  invisible(figure)
}

# Numbers of figures and pages are written by R's own rules, whatever the session's are: with a low `scipen` ggplot2
# does not even draw.
with_usual_numbers <- function(expr) {
  old <- options(scipen = 0, OutDec = ".", digits = 7L)
  on.exit(options(old))
  expr
}

# Hues of Okabe and Ito, safe for the colour-blind, each with a lightness of its own, so that components can be told in
# grey, too; greys are kept for phantoms. Of more than eight, those beside each other differ.
component_colours <- function(k) {
  base <- c("#00457C", "#DB9600", "#93467F", "#8CCBF2", "#009E73", "#C9510C", "#F0E442", "#000000")
  if (k <= length(base)) {
    return(base[seq_len(k)])
  }
  grDevices::hcl.colors(k, "viridis")[order(seq_len(k) %% 3L)]
}

phantom_colours <- c(white = "#EFEFEF", black = "grey20") # where each component has its colour

# What is known of a cell has one colour in all figures and in the page of explore(): from black to white, so that it
# can be read in grey; what was missed stands out for those who see colours.
cell_colours <- c(found = "#08306B", missed = "#D55E00", undecided = "#F6C98B", absent = "#F7F7F7", unknown = "#A6A6A6")

# Light to dark, so that they can be read in grey.
probability_colours <- function(n = 100L) grDevices::hcl.colors(n, "YlGnBu", rev = TRUE)

# Colours from -limit to limit, or from 0 to limit where nothing is below 0.
signed_colours <- function(values) {
  if (all(values >= 0, na.rm = TRUE)) {
    return(list(limits = c(0, max(values, 1e-12, na.rm = TRUE)), colours = probability_colours()))
  }
  limit <- stats::quantile(abs(values), 0.995, na.rm = TRUE, names = FALSE)
  list(limits = c(-1, 1) * max(limit, 1e-12), colours = both_ways())
}

# From below to above a middle: orange, grey, blue, and ever darker, so that the sides can be told in grey, too.
both_ways <- function(n = 101L) grDevices::colorRampPalette(c("#FFE3A3", "#D9CBB0", "#B5B5B5", "#5F86B0", "#08306B"))(n)

# Black or white, whichever can be read on a colour.
text_on <- function(colour) {
  light <- as.vector(c(0.299, 0.587, 0.114) %*% grDevices::col2rgb(colour)) > 140
  ifelse(light, "black", "white")
}

# aes() of columns given by name.
gg_aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Every figure begins here. Titles are wrapped: at 4 inches a line holds about 38 characters.
new_figure <- function(data, mapping = ggplot2::aes(), title, alt, x = NULL, y = NULL, subtitle = NULL) {
  wrapped <- function(text, width) if (!is.null(text)) paste(strwrap(text, width), collapse = "\n")
  blank <- ggplot2::element_blank()
  ggplot2::ggplot(data, mapping) +
    ggplot2::labs(
      x = wrapped(x, 44), y = wrapped(y, 34), title = wrapped(title, 38), subtitle = wrapped(subtitle, 55), alt = alt
    ) +
    ggplot2::theme_minimal() +
    ggplot2::theme(
      plot.title = ggplot2::element_text(size = 12, face = "bold"), plot.title.position = "plot",
      plot.subtitle = ggplot2::element_text(size = 9.5, colour = "grey25"), legend.position = "top",
      legend.justification = "left", legend.margin = ggplot2::margin(0, 0, 0, 0), panel.grid.minor = blank,
      legend.title = ggplot2::element_text(size = 9), legend.text = ggplot2::element_text(size = 9),
      strip.text = ggplot2::element_text(hjust = 0, size = 9), strip.clip = "off",
      axis.title = ggplot2::element_text(size = 10),
      # Half of the last number of an axis stands beyond the panel.
      plot.margin = ggplot2::margin(5.5, 14, 5.5, 5.5),
      # else a saved picture is see-through
      plot.background = ggplot2::element_rect(fill = "white", colour = NA)
    )
}

no_grid <- function() ggplot2::theme(panel.grid = ggplot2::element_blank())

# Values beyond the limits of a scale take its ends.
squeezed <- function(x, range) pmin(pmax(x, range[1L]), range[2L])

# Where values below 0 make grey the middle of the scale, what is unknown is white.
unknown_is_white <- function(limits) isTRUE(limits[1L] < 0)

fill_scale <- function(limits, colours = probability_colours(), title = NULL, ...) {
  ggplot2::scale_fill_gradientn(
    title, colours = colours, limits = limits, oob = squeezed, ...,
    na.value = if (unknown_is_white(limits)) "white" else "grey75",
    guide = ggplot2::guide_colourbar(title.position = "top", barwidth = 10, barheight = 0.5)
  )
}

# Colours by label, in their order, whatever layer shows which of them first; the legend has as many columns as fit into
# 4 inches.
colour_scale <- function(colours, title = NULL, labels = names(colours), aesthetics = c("colour", "fill")) {
  columns <- max(1L, min(length(labels), 54L %/% (max(nchar(labels), 1L) + 6L)))
  ggplot2::scale_colour_manual(
    title, values = colours, aesthetics = aesthetics, limits = function(at) intersect(names(colours), at),
    labels = function(at) labels[match(at, names(colours))],
    guide = ggplot2::guide_legend(ncol = columns, byrow = TRUE)
  )
}

# Labels of which those that would cover others are left out when the figure is drawn, at whatever size that is.
thinned <- function(...) ggplot2::guide_axis(check.overlap = TRUE, ...)

# What is left out is decided by the boxes of the labels, which hold nothing below their baseline and no gap. So labels
# that stand above each other get an empty line before and after, of little height, and those side by side get blanks.
# Labels of several lines need the height of their own.
apart_labels <- function(labels, above = TRUE) {
  pad <- if (!above) " " else if (!any(grepl("\n", labels, fixed = TRUE))) "\n" else ""
  ifelse(is.na(labels), NA, paste0(pad, labels, pad))
}
apart_height <- 0.14 # of an empty line: the box is then as high as type that is set solid

# Labels cut to a number of characters: dots in the middle, since ends tell names apart, too. (Three dots, for the one
# sign for them is not in every device's fonts.)
short_labels <- function(most = 28L) {
  function(labels) {
    size <- nchar(labels)
    tail <- (most - 3L) %/% 3L
    cut <- paste0(substr(labels, 1L, most - tail - 3L), "...", substring(labels, size - tail + 1L))
    ifelse(size > most, cut, labels)
  }
}

# An axis of names: short, thinned, in italics where they are taxa.
names_axis <- function(side, n, taxa = FALSE, position = c(x = "bottom", y = "left")[[side]], most = 28L,
                       room = if (n > 12L) 0 else 0.1) {
  scale <- switch(side, x = ggplot2::scale_x_discrete, y = ggplot2::scale_y_discrete)
  turned <- side == "x" && position == "bottom"
  # Names of several lines are heads of few columns, side by side.
  above <- side == "y" || turned
  text <- ggplot2::element_text(
    size = if (n > 40L) 6.5 else if (n > if (turned) 8L else 12L) 7.5 else 9, face = if (taxa) "italic" else "plain",
    lineheight = if (above) apart_height
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

# A matrix in long form, labels of rows and of columns as factors in their order.
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

most_rows <- 60L # of a heat map of few columns, in one panel

# A heat map, first row on top. One of many rows and few columns is wrapped into panels side by side.
heat_figure <- function(values, title, alt, limits = c(0, 1), colours = probability_colours(), legend = NULL,
                        heads = colnames(values), sides = NULL, taxa = "row", subtitle = NULL, ...) {
  colnames(values) <- heads
  table <- cell_frame(values)
  few <- ncol(values) <= 24L
  heading <- few && taxa != "column" # names of components stand above, those of taxa turned below
  panels <- if (few) min(ceiling(nrow(values) / most_rows), 2L) else 1L
  table$panel <- (as.integer(table$row) - 1L) %/% ceiling(nrow(values) / panels)
  table$row <- factor(table$row, rev(levels(table$row)))
  tile <- if (length(values) <= 3000L) ggplot2::geom_tile else ggplot2::geom_raster
  figure <- new_figure(
    table, gg_aes(x = "column", y = "row", fill = "value"), title, alt, sides[2L], sides[1L], subtitle
  ) + tile() + fill_scale(limits, colours, legend, ...) + no_grid() +
    names_axis("x", ncol(values), taxa == "column", if (heading) "top" else "bottom", if (heading) 28L else 18L) +
    names_axis("y", nrow(values) / panels, taxa == "row", most = if (panels == 1L) 28L else 15L) +
    ggplot2::theme(legend.position = "bottom") + legend_right()
  if (panels == 1L) {
    return(figure)
  }
  figure + ggplot2::facet_wrap("panel", scales = "free_y", nrow = 1L) +
    ggplot2::theme(strip.text = ggplot2::element_blank())
}

# Pictures of matrices, first row on top, a facet each.
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

# A picture in true proportion without axes. Its panels may be narrower than the figure: the legend stands below them.
without_axes <- function() {
  blank <- ggplot2::element_blank()
  list(ggplot2::coord_fixed(clip = "off"), ggplot2::theme(axis.text = blank, axis.title = blank), legend_below())
}

# Where long names stand at the left, a legend has its room above them.
legend_right <- function() ggplot2::theme(legend.justification = "right")

legend_below <- function() ggplot2::theme(legend.position = "bottom", legend.justification = "centre")

# Its middle at a place within the figure, as shares of width and height.
legend_inside <- function(at) {
  place <- if (utils::packageVersion("ggplot2") < "3.5.0") {
    list(legend.position = at)
  } else {
    list(legend.position = "inside", legend.position.inside = at)
  }
  do.call(ggplot2::theme, c(place, list(legend.justification = c(0.5, 0.5))))
}

# Of an axis of counts.
whole_breaks <- function(range, n = 5L) unique(round(pretty(range, n)))

# Few numbers on the axes of small panels, none over another; counts are `whole`.
few_numbers <- function(side, whole = FALSE, n = 3L) {
  scale <- switch(side, x = ggplot2::scale_x_continuous, y = ggplot2::scale_y_continuous)
  labels <- if (side == "x") function(at) apart_labels(format_big(at), FALSE) else ggplot2::waiver()
  breaks <- function(range) {
    # Long numbers are fewer, so that those left out of a narrow panel do not leave uneven steps.
    n <- min(n, max(2L, 8L - nchar(format_big(floor(max(abs(range)))))))
    # One step finer, where two would be all that are in sight.
    for (n in n + 0:1) {
      at <- if (whole) whole_breaks(range, n) else pretty(range, n)
      if (sum(at >= range[1L] & at <= range[2L]) > 2L) break
    }
    at
  }
  scale(breaks = breaks, labels = labels, guide = thinned())
}

# A bar for each site, a piece for each component (the columns of `shares`), in the order given; sites beside each other
# that share their main component are named in their middle. labels: of the legend; group: of each bar, a factor; bars
# of a group stand together, with a gap to the next.
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

# Below the middle of each group its name, where there is more than one.
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

# Rows of like numbers beside each other, group by group: in the order of the leaves of average linkage.
similar_rows <- function(values, group) {
  each <- split(seq_len(nrow(values)), group)
  unlist(lapply(unname(each), function(at) {
    if (length(at) < 3L) at else at[stats::hclust(stats::dist(values[at, , drop = FALSE]), "average")$order]
  }))
}

# Points with ranges, one below the other, and a second kind of point beside them. rows: label, value, low, high, other;
# words: what the two points are, with their colours: black and purple where these say nothing of what was found or
# missed.
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
      NULL, values = c(19L, 5L), guide = ggplot2::guide_legend(ncol = max(1L, 54L %/% (max(nchar(words)) + 4L)))
    ) +
    ggplot2::coord_cartesian(xlim = limits) + names_axis("y", nrow(rows), taxa, most = most, room = 0.6) +
    few_numbers("x", whole, 5L) + legend_right() +
    # The names leave a narrow panel: a long title of the axis has its room at the left.
    ggplot2::theme(
      panel.grid.major.y = ggplot2::element_line(colour = "grey94"), axis.title.x = ggplot2::element_text(hjust = 1)
    )
}

# Components by main one, then by falling probability: `weight` is components x items.
seriate <- function(weight) {
  order(max.col(t(weight), ties.method = "first"), -apply(weight, 2L, max))
}

# An axis on which time passes to the right, or upwards, with the geological time scale where ages are in Ma and package
# deeptime is there. `across`: how many panels share the width.
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
        # A name needs room; what is left of a division at the ends counts.
        skip = divisions$name[divisions$share < 0.055 * across], center_end_labels = TRUE, expand = TRUE
      )
    }
  )
}

# Whether the geological time scale is there for ages of this range.
is_geological <- function(told, range) {
  identical(told$unit, "Ma") && all(range >= 0 & range <= 541) && diff(range) > 0 &&
    requireNamespace("deeptime", quietly = TRUE)
}

# The finest division of the time scale of which so many at most are in sight, and how much of the range each takes.
geological_divisions <- function(range, most = 12L) {
  for (of in c("stages", "epochs", "periods", "eras")) {
    all <- deeptime::get_scale_data(of)
    share <- (pmin(all$max_age, range[2L]) - pmax(all$min_age, range[1L])) / diff(range)
    if (sum(share > 0) <= most) break
  }
  list(of = of, name = all$name, share = pmax(share, 0), from = all$min_age, to = all$max_age)
}

# Users pick columns of tables.
need_drawn_columns <- function(object, columns) {
  lost <- setdiff(columns, names(object))
  if (length(lost)) stop_input("`object` must have the columns %s: it lacks %s.", show_names(columns), show_names(lost))
  if (!nrow(object)) stop_input("`object` must hold a row to draw: it has none.")
}

# What each site is made of. ordered: list(at, words), where another order than that by similarity is asked for;
# alike: the components by which sites are like each other.
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
  top <- top_names(fit, if (k > 6L) 1L else 3L, short_labels(12L))
  words <- axis_words(fit)[1L]
  bars_figure(
    membership[at, , drop = FALSE], sprintf("What the %s are made of", words),
    sprintf("Bars: how much of each of the %s each component makes up.", words),
    paste0(labels, ifelse(nzchar(top), ": ", ""), top), colours,
    paste0(words, ", ", ordered$words %||% "like beside like"), droplevels(group[at]),
    if (all > length(at)) sprintf("%s of the %s %s, evenly out of all", format_big(length(at)), format_big(all), words)
  )
}

most_bars <- 2000L # no page is wider, and the order takes the distances of all pairs

# The objective of every start against its passes, below the best one, on a log scale.
trace_figure <- function(fit) {
  traces <- fit$start_traces
  best <- max(vapply(traces, function(trace) if (length(trace)) max(trace) else -Inf, 0))
  passes <- lengths(traces)
  table <- data.frame(
    start = rep(seq_along(passes), passes), pass = sequence(passes), gap = pmax(best - unlist(traces), least_gap),
    kind = factor(rep(fit$starts$init, passes), unique(fit$starts$init)), finished = rep(fit$starts$finished, passes)
  )
  decades <- function(range) 10^seq(floor(log10(range[1L])), ceiling(log10(range[2L])))
  words <- function(at) {
    ifelse(at <= least_gap, paste("<", least_gap), vapply(at, format, "", scientific = 9L, big.mark = " "))
  }
  new_figure(
    table, gg_aes(x = "pass", y = "gap", group = "start", colour = "kind", linetype = "kind", alpha = "finished"),
    "Every start, pass by pass", "Lines: how far each start was below the best one, pass by pass.", "pass",
    "log-likelihood below the best"
  ) + ggplot2::geom_line(data = table[rep(passes, passes) > 1L, ]) +
    ggplot2::geom_point(data = table[rep(passes, passes) == 1L, ]) +
    ggplot2::scale_x_log10() + ggplot2::scale_y_log10(breaks = decades, labels = words) +
    colour_scale(stats::setNames(component_colours(nlevels(table$kind)), levels(table$kind))) +
    ggplot2::scale_linetype_discrete(NULL) +
    ggplot2::scale_alpha_manual(values = c(`FALSE` = 0.4, `TRUE` = 1), guide = "none")
}

least_gap <- 0.001 # nats; what is nearer to the best is drawn here
