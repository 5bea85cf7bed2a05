# Figures of PLCA.

#' Plot a PLCA fit
#'
#' @description
#' Four figures of a fit: `plot()` draws them, `autoplot()` gives them as ggplot2 objects.
#'
#' @details
#' \describe{
#'   \item{`"marginals"`}{the components' distributions along each dimension, a panel each: bars with their names where
#'     levels have names, lines along levels that have none, or whose names are numbers, such as ages.}
#'   \item{`"reconstruction"`}{the data and the fit side by side, summed over all dimensions but two.}
#'   \item{`"divergences"`}{the divergences of all pairs of components, see [divergences()].}
#'   \item{`"trace"`}{how far every start was below the best, iteration by iteration.}
#' }
#'
#' @param object a fit of [plca()].
#' @param what which view.
#' @param dims dimensions shown, numbers or names; `NULL`: all, or for the reconstruction the first two.
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' fit <- plca(array(rpois(6 * 8 * 4, 2), c(site = 6, taxon = 8, time = 4)), k = 2)
#' plot(fit)
#' plot(fit, "reconstruction")
#' @name plot.plca
#' @aliases autoplot.plca
#' @exportS3Method ggplot2::autoplot
autoplot.plca <- function(object, # nolint: object_name_linter.
                          what = c("marginals", "reconstruction", "divergences", "trace"), dims = NULL, ...) {
  what <- check_choice(what)
  check_dots(...)
  at <- unique(pick(dims, length(object$extent), object$labels, "dims"))
  switch(what,
    marginals = marginals_figure(object, at), trace = trace_figure(object),
    reconstruction = reconstruction_figure(object, if (is.null(dims)) at[1:2] else at),
    divergences = ggplot2::autoplot(divergences(object, dims = at))
  )
}

few_levels <- 12L # a dimension of at most so many has points on its lines
most_levels <- 16L # that are drawn of a dimension with names; bars of more would be a pixel wide

# Draws named levels as labelled bars and numeric levels as lines. Each panel has one dimension, and all share an axis
# on which each dimension has its own stretch.
marginals_figure <- function(fit, at) {
  titles <- dimension_names(fit$labels[at], at)
  marginals <- unname(fit$param$marginals[at])
  sizes <- vapply(marginals, ncol, 0L)
  marginals <- lapply(marginals, largest_levels)
  cut <- vapply(marginals, ncol, 0L) < sizes
  titles[cut] <- sprintf("%s: %d of %d, the most probable", titles[cut], most_levels, sizes[cut])
  stretches <- level_stretches(marginals)
  each <- Map(function(q, title, stretch) {
    table <- cell_frame(q)
    data.frame(
      component = table$row, at = stretch$at[as.integer(table$column)], probability = table$value, dimension = title,
      named = !is.null(stretch$names), few = ncol(q) <= few_levels
    )
  }, marginals, titles, stretches)
  table <- do.call(rbind, unname(each))
  table$dimension <- factor(table$dimension, titles)
  lines <- table[!table$named, ]
  drawn <- c(if (any(table$named)) "bars", if (nrow(lines)) "lines")
  colours <- component_colours(nlevels(table$component))
  figure <- new_figure(
    table, gg_aes(x = "at", y = "probability"), marginals_title(marginals, titles),
    sprintf(
      "%s: each component's distribution along %s.", capital(paste(drawn, collapse = " and ")),
      paste(titles, collapse = ", ")
    ), if (!any(table$named)) "level", "probability"
  ) + ggplot2::facet_wrap("dimension", scales = "free", ncol = 1L) + few_numbers("y") + level_scale(stretches) +
    colour_scale(stats::setNames(colours, levels(table$component)))
  if (any(table$named)) {
    # An explicit width avoids warnings of newer versions of ggplot2 about panels of lines alone.
    bars <- table[table$named, ]
    figure <- figure + ggplot2::geom_col(gg_aes(fill = "component"), bars, position = "dodge", width = 0.9)
  }
  if (!nrow(lines)) {
    return(figure)
  }
  figure + ggplot2::geom_line(gg_aes(colour = "component", linetype = "component"), lines) +
    ggplot2::geom_point(gg_aes(colour = "component"), lines[lines$few, ], size = 1.4) +
    ggplot2::scale_linetype_manual(NULL, values = rep_len(1:6, nlevels(table$component)))
}

# Of many levels with names those that a component makes most probable, in their order.
largest_levels <- function(q) {
  named <- !is.null(colnames(q)) && anyNA(suppressWarnings(as.numeric(colnames(q))))
  if (!named || ncol(q) <= most_levels) {
    return(q)
  }
  q[, sort(order(-apply(q, 2L, max))[seq_len(most_levels)]), drop = FALSE]
}

# The dimension along which the components differ most, by the mean spread of their probabilities.
marginals_title <- function(marginals, titles) {
  if (length(marginals) == 1L) {
    return(sprintf("The distribution of each component over %s", sub(":.*", "", titles)))
  }
  spread <- vapply(marginals, function(q) sum(apply(q, 2L, max)), 0)
  sprintf("The components differ most in %s", sub(":.*", "", titles[which.max(spread)]))
}

# For each dimension where its levels stand on the common axis, `at`, and their `names`, or what to take off for their
# numbers, `shift`. Names that are all numbers, such as ages, are numbers.
level_stretches <- function(marginals) {
  from <- 0
  out <- list()
  for (q in marginals) {
    names <- colnames(q)
    value <- if (is.null(names)) seq_len(ncol(q)) else suppressWarnings(as.numeric(names))
    named <- anyNA(value) || anyDuplicated(value) > 0L
    if (named) value <- seq_len(ncol(q))
    shift <- from - min(value)
    stretch <- list(at = value + shift, shift = shift, names = if (named) names)
    out <- c(out, list(stretch))
    # The gap keeps each panel, with its margins, out of the next stretch.
    from <- max(stretch$at) + 10 * max(1, diff(range(value)))
  }
  out
}

level_scale <- function(stretches) {
  middle <- vapply(stretches, function(stretch) mean(range(stretch$at)), 0)
  of <- function(at) stretches[[which.min(abs(middle - mean(range(at, na.rm = TRUE))))]]
  breaks <- function(limits) {
    stretch <- of(limits)
    if (!is.null(stretch$names)) {
      return(stretch$at)
    }
    whole <- all(stretch$at - stretch$shift == round(stretch$at - stretch$shift))
    (if (whole) whole_breaks else pretty)(range(stretch$at) - stretch$shift) + stretch$shift
  }
  short <- short_labels(11L)
  labels <- function(at) {
    stretch <- of(at)
    if (is.null(stretch$names)) {
      return(format(signif(at - stretch$shift, 10L), trim = TRUE))
    }
    apart_labels(short(stretch$names[match(at, stretch$at)]))
  }
  named <- any(vapply(stretches, function(stretch) !is.null(stretch$names), NA))
  list(
    ggplot2::scale_x_continuous(breaks = breaks, labels = labels, guide = thinned(angle = if (named) 90)),
    if (named) {
      ggplot2::theme(
        axis.text.x = ggplot2::element_text(size = 6, lineheight = apart_height)
      )
    }
  )
}

reconstruction_figure <- function(fit, at) {
  if (length(at) != 2L) stop_input("`dims` must name two dimensions for the reconstruction, not %d.", length(at))
  data <- data_array(fit_data(fit))
  data[is.na(data)] <- 0
  # Square roots, because a few large counts would leave the others one colour.
  tables <- lapply(list(data = data, fit = fitted(fit)), function(values) sqrt(apply(values, at, sum)))
  titles <- dimension_names(fit$labels[at], at)
  picture_figure(
    tables, "The fit beside the data", "Pictures: the data and the fit side by side.",
    range(unlist(tables)), legend = "square root", x = titles[2L], y = titles[1L],
    subtitle = sprintf("The fit is off by %s a count (Kullback-Leibler divergence, nats)", format(fit$kl, digits = 2L))
  )
}
