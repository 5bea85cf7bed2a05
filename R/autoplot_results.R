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
