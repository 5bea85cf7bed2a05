# autoplot(): the views of plot() as ggplot2 objects. ggplot2 is only suggested: every call goes through `ggplot2::`.

# nolint start: object_name_linter.

#' Plots with ggplot2
#'
#' What the `plot()` methods of this package draw, as ggplot2 objects, to be given other themes, scales or labels. A
#' method of ggplot2's generic `autoplot()`: it is there once ggplot2 is loaded.
#'
#' @param object a fit of any model, or a result of [select_k()], [cross_validate()], [compare_models()], [recovery()],
#'   [modes()], [age_profile()], [identifiability()], [divergences()], [ensemble()] or [which_zeros()].
#' @param ... the arguments of the `plot()` method of `object`, such as `what`: [plot.aspect_bernoulli()],
#'   [plot.noisy_or()], [plot.plsa()], [plot.plca()], [plot.bmf()], [plot.multicause()].
#' @return An object of class `ggplot`; nothing is drawn before it is printed. Wrong input is an error of class
#'   `multicause_input_error`.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   set.seed(1)
#'   present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#'   x <- present * rbinom(480, 1, 0.6)
#'   fit <- aspect_bernoulli(x, k = 3, phantom = "white", control = fit_control(n_start = 3))
#'   ggplot2::autoplot(fit)
#'   ggplot2::autoplot(fit, "membership") + ggplot2::theme_classic()
#' }
#' @name autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.multicause <- function(object, ...) {
  check_whole(object, "object")
  gg_view(plot_view(object, ...))
}

#' @exportS3Method ggplot2::autoplot
autoplot.multicause_selection <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.multicause_cv <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.multicause_comparison <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.recovery <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.modes <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.age_profile <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.identifiability <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros <- autoplot.multicause
#' @exportS3Method ggplot2::autoplot
autoplot.divergences <- autoplot.multicause
# nolint end

gg_view <- function(view) {
  make <- switch(view$kind,
    heat = gg_heat, traces = gg_traces, bars = gg_bars, phantom = gg_phantom_share, curves = gg_curves, map = gg_map,
    images = gg_images, activation = gg_activation, leak = gg_leak, simplex = gg_simplex, marginals = gg_marginals,
    reconstruction = gg_reconstruction, divergences = gg_divergences, losses = gg_losses, recovery = gg_recovery,
    modes = gg_modes, bounds = gg_bounds, ages = gg_ages, bmf_data = gg_bmf_data, bmf_images = gg_bmf_images,
    chain_traces = gg_chain_traces, counts = gg_counts, ranges = gg_ranges
  )
  make(view) + ggplot2::ggtitle(view$main) + ggplot2::theme_minimal() + gg_theme(view)
}

# aes() of columns given by name.
gg_aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

gg_theme <- function(view) {
  blank <- ggplot2::element_blank()
  paper <- ggplot2::element_rect(fill = "white", colour = NA) # else a saved picture is see-through
  top <- ggplot2::theme(legend.position = "top", plot.title.position = "plot", plot.background = paper)
  if (view$kind %in% c("heat", "activation")) {
    names <- if (view$kind == "heat") {
      ggplot2::theme(axis.text.y = ggplot2::element_text(
        size = max(3, min(9, 380 / min(nrow(view$values), gg_most_rows))), face = if (view$taxa) "italic" else "plain"
      ))
    }
    plain <- ggplot2::theme(panel.grid = blank, axis.title = blank, strip.text = blank, legend.position = "bottom")
    return(top + plain + names)
  }
  if (view$kind %in% c("images", "simplex", "bmf_data", "bmf_images")) {
    return(top + ggplot2::theme(panel.grid = blank, axis.title = blank, axis.text = blank))
  }
  top + ggplot2::theme(panel.grid.minor = blank)
}

gg_fill <- function(limits, colours, title = NULL) {
  ggplot2::scale_fill_gradientn(title, colours = colours, limits = limits, na.value = "grey75")
}

gg_colours <- function(colours, title = NULL) {
  ggplot2::scale_colour_manual(title, values = colours, aesthetics = c("colour", "fill"))
}

# A matrix in long form, row labels and column labels as factors in their order, values within limits.
gg_long <- function(values, limits = range(values, na.rm = TRUE)) {
  label <- function(side, n) {
    names <- dimnames(values)[[side]]
    names <- if (is.null(names)) as.character(seq_len(n)) else make.unique(names)
    factor(names, names)
  }
  row <- label(1L, nrow(values))
  column <- label(2L, ncol(values))
  data.frame(
    row = rep(row, ncol(values)), column = rep(column, each = nrow(values)),
    value = pmin(pmax(as.vector(values), limits[1L]), limits[2L])
  )
}

# Pictures of matrices, first row on top, a facet each.
gg_pictures <- function(tables, limits, colours, title = NULL) {
  each <- Map(function(values, name) {
    values <- as.matrix(values)
    data.frame(
      panel = name, row = as.vector(row(values)), column = as.vector(col(values)),
      value = pmin(pmax(as.vector(values), limits[1L]), limits[2L])
    )
  }, tables, names(tables))
  table <- do.call(rbind, unname(each))
  table$panel <- factor(table$panel, names(tables))
  ggplot2::ggplot(table, gg_aes(x = "column", y = "row", fill = "value")) +
    ggplot2::geom_raster() + ggplot2::scale_y_reverse(expand = c(0, 0)) +
    ggplot2::scale_x_continuous(expand = c(0, 0)) + gg_fill(limits, colours, title)
}

gg_most_rows <- 60L # rows of a heat map in one panel

gg_heat <- function(view) {
  values <- view$values
  if (!is.null(view$heads)) colnames(values) <- view$heads
  table <- gg_long(values, view$limits)
  panels <- ceiling(nrow(values) / gg_most_rows)
  per_panel <- ceiling(nrow(values) / panels)
  table$panel <- (as.integer(table$row) - 1L) %/% per_panel
  table$row <- factor(table$row, rev(levels(table$row)))
  ggplot2::ggplot(table, gg_aes(x = "column", y = "row", fill = "value")) + ggplot2::geom_tile() +
    ggplot2::facet_wrap("panel", scales = "free_y", nrow = 1L) + gg_fill(view$limits, view$colours, view$legend) +
    ggplot2::scale_x_discrete(position = "top", guide = ggplot2::guide_axis(check.overlap = TRUE))
}

gg_traces <- function(view) {
  passes <- lengths(view$gaps)
  table <- data.frame(
    start = rep(seq_along(passes), passes), pass = sequence(passes), gap = unlist(view$gaps),
    kind = rep(view$kinds, passes), finished = rep(view$finished, passes)
  )
  ggplot2::ggplot(
    table, gg_aes(x = "pass", y = "gap", group = "start", colour = "kind", alpha = "finished")
  ) +
    ggplot2::geom_line() + ggplot2::scale_x_log10() + ggplot2::scale_y_log10() +
    ggplot2::scale_alpha_manual(values = c(`FALSE` = 0.4, `TRUE` = 1), guide = "none") +
    gg_colours(component_colours(nlevels(view$kinds)), "start") + ggplot2::labs(y = "nats below the best")
}

gg_bars <- function(view) {
  shares <- view$shares
  dimnames(shares) <- list(NULL, view$labels)
  table <- gg_long(shares)
  table$row <- as.integer(table$row)
  ggplot2::ggplot(table, gg_aes(x = "row", y = "value", fill = "column")) +
    ggplot2::geom_col(width = 1, position = ggplot2::position_stack(reverse = TRUE)) +
    gg_colours(view$colours) + ggplot2::labs(x = view$xlab, y = "share of the observation") +
    ggplot2::scale_x_continuous(breaks = NULL) + ggplot2::coord_cartesian(expand = FALSE)
}

gg_phantom_share <- function(view) {
  table <- data.frame(
    richness = rep(view$richness, length(view$shares)), share = unlist(view$shares, use.names = FALSE),
    phantom = factor(rep(view$labels, lengths(view$shares)), view$labels)
  )
  ggplot2::ggplot(table, gg_aes(x = "richness", y = "share", colour = "phantom", shape = "phantom")) +
    ggplot2::geom_point(alpha = 0.5) + gg_colours(view$looks$colour) +
    ggplot2::scale_shape_manual(NULL, values = view$looks$pch) + ggplot2::coord_cartesian(ylim = c(0, 1)) +
    ggplot2::labs(x = "attributes recorded (richness)", y = "share written by the phantom", colour = NULL)
}

# Components' shares in the first panel, attributes in the others.
gg_curves <- function(view) {
  fit <- view$fit
  shares <- curves(fit, "component")
  bandwidth <- attr(shares, "bandwidth")
  attribute <- if (is.null(view$attribute)) telling_attributes(fit, bandwidth) else view$attribute
  shares <- shares[stats::ave(shares$share, shares$component, FUN = max) > least_slice, ]
  shares$component <- factor(shares$component, unique(shares$component))
  present <- curves(fit, attribute = attribute, bandwidth = bandwidth)
  first <- "share of each aspect's community"
  panels <- c(first, unique(present$attribute))
  shares$panel <- factor(first, panels)
  present$panel <- factor(present$attribute, panels)
  recorded <- recorded_bins(fit, attribute, panels)
  colours <- component_colours(fit$dims[["k"]])[match(levels(shares$component), component_names(fit$dims[["k"]]))]
  ggplot2::ggplot(shares, gg_aes(x = "age")) +
    ggplot2::geom_area(gg_aes(y = "share", fill = "component"), position = "stack") +
    ggplot2::geom_ribbon(gg_aes(ymin = "lower", ymax = "upper"), present, alpha = 0.25) +
    ggplot2::geom_line(gg_aes(y = curve_value(fit)), present) +
    ggplot2::geom_point(gg_aes(y = "share"), recorded, size = 0.8) +
    ggplot2::facet_wrap("panel", scales = "free_y") + ggplot2::scale_x_reverse() +
    gg_colours(stats::setNames(colours, levels(shares$component))) + ggplot2::labs(y = NULL)
}

# The share of sites with a record of each attribute in bins of age; no rows without the data.
recorded_bins <- function(fit, attribute, panels) {
  if (is.null(fit$x)) {
    return(data.frame(panel = factor(character(), panels), age = numeric(), share = numeric()))
  }
  ages <- smooth_ages(fit)
  bins <- age_bins(ages)
  middle <- as.vector(tapply(ages, bins, mean))
  attribute <- pick(attribute, fit$dims[["m"]], fit$names[[2L]], "attribute")
  do.call(rbind, Map(function(at, name) {
    data.frame(panel = factor(name, panels), age = middle, share = as.vector(binned_record(fit, at, bins)))
  }, attribute, panels[-1L]))
}

# Sites by their main content component; the fainter, the smaller its share.
gg_map <- function(view) {
  fit <- view$fit
  place <- fit$smooth$given$place
  if (is.null(place)) {
    stop_input("`object` must be made with the places of its observations, `smooth = smooth_over(place = )`.")
  }
  composition <- composition_of(fit)
  best <- max.col(composition, ties.method = "first")
  sites <- data.frame(
    longitude = place[, 1L], latitude = place[, 2L],
    component = factor(colnames(composition)[best], colnames(composition)),
    share = composition[cbind(seq_along(best), best)], slice = age_slices(fit, view$slices)
  )
  colours <- stats::setNames(content_colours(fit), levels(sites$component))
  ggplot2::ggplot(
    sites[!is.na(rowSums(place)), ], gg_aes(x = "longitude", y = "latitude", colour = "component", alpha = "share")
  ) +
    ggplot2::geom_point() + ggplot2::facet_wrap("slice") + gg_colours(colours) + ggplot2::coord_quickmap()
}

gg_images <- function(view) {
  tables <- lapply(seq_len(nrow(view$values)), function(i) matrix(view$values[i, ], view$dim[1L], view$dim[2L]))
  gg_pictures(stats::setNames(tables, make.unique(view$labels)), c(0, 1), probability_colours(), "the link fires") +
    ggplot2::facet_wrap("panel") + ggplot2::coord_fixed()
}

gg_activation <- function(view) {
  values <- t(view$values)
  dimnames(values) <- list(view$labels, NULL)
  table <- gg_long(values, c(0, 1))
  table$column <- as.integer(table$column)
  table$row <- factor(table$row, rev(levels(table$row)))
  ggplot2::ggplot(table, gg_aes(x = "column", y = "row", fill = "value")) + ggplot2::geom_raster() +
    gg_fill(c(0, 1), probability_colours(), "probability that the source is on") +
    ggplot2::scale_x_continuous(breaks = NULL, expand = c(0, 0))
}

gg_leak <- function(view) {
  top <- utils::head(view$points[order(-view$points$leak), ], 8L)
  ggplot2::ggplot(view$points, gg_aes(x = "frequency", y = "leak")) +
    ggplot2::geom_abline(linetype = 2L, colour = "grey60") + ggplot2::geom_point(colour = "#0072B2", alpha = 0.6) +
    ggplot2::geom_text(gg_aes(label = "attribute"), top, check_overlap = TRUE, hjust = "inward", size = 3) +
    ggplot2::labs(x = "frequency of the attribute")
}

gg_simplex <- function(view) {
  frame <- function(points) stats::setNames(as.data.frame(unname(points)), c("x", "y"))
  corners <- frame(view$corners)
  ggplot2::ggplot(mapping = gg_aes(x = "x", y = "y")) +
    ggplot2::geom_polygon(data = corners, fill = NA, colour = "grey50") +
    ggplot2::geom_text(gg_aes(label = "label"), data.frame(corners, label = view$names), vjust = c(1.5, 1.5, -0.5)) +
    ggplot2::geom_point(data = frame(view$observations), colour = "#0072B2", alpha = 0.35, size = 0.8) +
    ggplot2::geom_polygon(data = frame(view$hull), fill = NA, colour = "#D55E00") +
    ggplot2::geom_point(data = frame(view$basis), colour = "#D55E00", shape = 17L, size = 2.5) +
    ggplot2::coord_fixed(clip = "off")
}

gg_marginals <- function(view) {
  each <- Map(function(q, title) {
    table <- gg_long(q)
    data.frame(component = table$row, level = as.integer(table$column), probability = table$value, dimension = title)
  }, view$marginals, view$titles)
  table <- do.call(rbind, unname(each))
  table$dimension <- factor(table$dimension, view$titles)
  ggplot2::ggplot(table, gg_aes(x = "level", y = "probability", colour = "component")) + ggplot2::geom_line() +
    ggplot2::geom_point(size = 0.7) + ggplot2::facet_wrap("dimension", scales = "free", ncol = 1L) +
    gg_colours(component_colours(nlevels(table$component)))
}

gg_reconstruction <- function(view) {
  gg_pictures(view$tables, range(unlist(view$tables)), probability_colours(), "square root") +
    ggplot2::facet_wrap("panel") + ggplot2::labs(x = view$titles[2L], y = view$titles[1L])
}

gg_divergences <- function(view) {
  most <- max(unlist(lapply(view$tables, function(d) d[is.finite(d)])), 1e-12)
  gg_pictures(view$tables, c(0, most), probability_colours(), "nats") + ggplot2::facet_wrap("panel") +
    ggplot2::labs(x = "component q", y = "component p")
}

# The views of results, and those of bmf(), as ggplot2 objects: the other half of gg_view() in autoplot.R.

gg_losses <- function(view) {
  bind <- function(part) {
    do.call(rbind, lapply(view$panels, function(panel) cbind(panel[[part]], panel = panel$ylab)))
  }
  results <- bind("results")
  bars <- results[!is.na(results$se), ]
  bars$lower <- bars$loss - bars$se
  bars$upper <- bars$loss + bars$se
  ggplot2::ggplot(results, gg_aes(x = "k", y = "loss", colour = "label")) + ggplot2::geom_line() +
    ggplot2::geom_point() + ggplot2::geom_linerange(gg_aes(ymin = "lower", ymax = "upper"), bars) +
    ggplot2::geom_point(gg_aes(shape = "choice"), bind("chosen"), size = 4, stroke = 0.9) +
    ggplot2::scale_shape_manual(NULL, values = c(least = 1L, `within one s.e.` = 0L)) +
    ggplot2::facet_wrap("panel", scales = "free_y") + gg_colours(component_colours(nlevels(results$label))) +
    ggplot2::scale_x_continuous(breaks = unique(results$k)) +
    ggplot2::labs(x = "number of components, k", y = NULL)
}

gg_recovery <- function(view) {
  part <- function(name, x, y) {
    data.frame(panel = view$heads[[name]], x = view$found[[name]][[x]], y = view$found[[name]][[y]])
  }
  lines <- rbind(
    part("roc", "false_positive", "true_positive"), part("pr", "recall", "precision"),
    if (nrow(view$found$calibration)) part("calibration", "score", "share")
  )
  lines$panel <- factor(lines$panel, unname(view$heads))
  ggplot2::ggplot(lines, gg_aes(x = "x", y = "y")) + ggplot2::geom_abline(colour = "grey80") +
    ggplot2::geom_path(colour = component_colours(1L)) + ggplot2::facet_wrap("panel", scales = "free") +
    ggplot2::labs(
      x = "false positive rate; recall; mean score", y = "true positive rate; precision; share of changed cells"
    )
}

gg_modes <- function(view) {
  ggplot2::ggplot(view$modes, gg_aes(x = "distance", y = "behind", size = "starts")) +
    ggplot2::geom_point(colour = component_colours(1L)) +
    ggplot2::geom_text(gg_aes(label = "mode"), size = 3, vjust = -1.2) +
    ggplot2::labs(x = "distance of the cells from the best solution", y = "objective below the best")
}

#' @export
plot_view.identifiability <- function(x, main = NULL, ...) {
  check_dots(...)
  check_title(main)
  rows <- x$observations[order(x$observations$share), ]
  bounds <- data.frame(at = seq_len(nrow(rows)), share = rows$share, outer = rows$outer_most)
  ends <- intersect(c("reached", "search", "inner"), sub("_most$", "", names(rows)))
  if (length(ends)) {
    bounds$least <- rows[[paste0(ends[1L], "_least")]]
    bounds$most <- rows[[paste0(ends[1L], "_most")]]
  }
  new_view(
    "bounds", if (is.null(main)) "What the data allow" else main, bounds = bounds,
    ylab = sprintf("share of the %s phantom", x$share$phantom[1L])
  )
}

gg_bounds <- function(view) {
  rows <- view$bounds
  fill <- function(name) c(outer = "grey88", found = "#9ECAE1", fitted = "#0072B2")[[name]]
  out <- ggplot2::ggplot(rows, gg_aes(x = "at")) +
    ggplot2::geom_col(gg_aes(y = "outer"), fill = fill("outer"), width = 1)
  if (!is.null(rows$most)) {
    out <- out + ggplot2::geom_linerange(gg_aes(ymin = "least", ymax = "most"), colour = fill("found"))
  }
  out + ggplot2::geom_line(gg_aes(y = "share"), colour = fill("fitted")) +
    ggplot2::labs(
      x = "observations, by the share as fitted", y = view$ylab,
      subtitle = "line: as fitted; blue: attained; grey: no decomposition beyond"
    ) + ggplot2::coord_cartesian(ylim = c(0, 1))
}

gg_ages <- function(view) {
  ggplot2::ggplot(view$boxes, gg_aes(x = "component")) +
    ggplot2::geom_boxplot(
      gg_aes(ymin = "lower", lower = "q1", middle = "median", upper = "q3", ymax = "upper", fill = "component"),
      stat = "identity", show.legend = FALSE
    ) +
    gg_colours(view$colours) + ggplot2::scale_y_reverse() + ggplot2::labs(x = NULL, y = "Age")
}

gg_bmf_data <- function(view) {
  scale <- signed_colours(c(view$data, view$mean))
  gg_pictures(list(data = view$data, `posterior mean` = view$mean), scale$limits, scale$colours) +
    ggplot2::facet_wrap("panel")
}

gg_bmf_images <- function(view) {
  image <- function(values) matrix(values, view$shape[1L], view$shape[2L], byrow = TRUE)
  scale <- signed_colours(view$effects)
  both <- rbind(view$effects, view$columns * scale$limits[2L])
  tables <- lapply(seq_len(nrow(both)), function(i) image(both[i, ]))
  names(tables) <- make.unique(rownames(both))
  gg_pictures(tables, scale$limits, scale$colours) + ggplot2::facet_wrap("panel") + ggplot2::coord_fixed()
}

gg_chain_traces <- function(view) {
  each <- lapply(names(view$shown), function(name) {
    data.frame(
      chain = factor(view$trace$chain), draw = view$trace$pass, value = view$trace[[name]],
      quantity = view$shown[[name]]
    )
  })
  table <- do.call(rbind, each)
  table$quantity <- factor(table$quantity, view$shown)
  ggplot2::ggplot(table, gg_aes(x = "draw", y = "value", colour = "chain")) + ggplot2::geom_line(linewidth = 0.3) +
    ggplot2::facet_wrap("quantity", scales = "free_y") + gg_colours(component_colours(nlevels(table$chain)), "chain") +
    ggplot2::labs(y = NULL)
}

gg_counts <- function(view) {
  each <- lapply(c("row_features", "column_features"), function(name) {
    share <- table(view$trace[[name]]) / nrow(view$trace)
    data.frame(features = as.integer(names(share)), probability = as.vector(share), side = sub("_", " ", name))
  })
  table <- do.call(rbind, each)
  table$side <- factor(table$side, unique(table$side))
  ggplot2::ggplot(table, gg_aes(x = "features", y = "probability")) +
    ggplot2::geom_col(fill = component_colours(1L), width = 0.7) + ggplot2::facet_wrap("side", scales = "free_x") +
    ggplot2::labs(x = NULL, y = "posterior probability")
}
