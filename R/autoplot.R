# Figures that several models share, and the page of plot() and autoplot().

# nolint start: object_name_linter.

#' Figures
#'
#' `autoplot()` makes a figure of a fit or a result, a ggplot2 object, to be given other labels, scales or themes and to
#' be saved with [ggplot2::ggsave()]. `plot()` draws the same figure, in loops and functions too, and returns it
#' invisibly.
#'
#' @details
#' Axes have the user's words, `names(dimnames(x))` where the data have them, such as `c("localities", "genera")`, else
#' sites and taxa. Long names are cut in the middle, and where names would cover each other some are left out, at
#' whatever size the figure is drawn. Colours can be distinguished by the colour-blind, and scales of one quantity
#' remain readable in grey: they get darker from the least to the largest. Every figure has an alternative text,
#' [ggplot2::get_alt_text()]. Time passes to the right, or upwards. An axis of ages has the unit that was supplied or
#' guessed, see `unit` of [plot.which_zeros()]; in Ma it carries the geological time scale where package deeptime is
#' installed.
#'
#' Views of any fit; models with pages of their own have others: [plot.aspect_bernoulli()], [plot.noisy_or()],
#' [plot.plsa()], [plot.plca()], [plot.bmf()], and so have the result of [which_zeros()], [plot.which_zeros()], and its
#' parts.
#' \describe{
#'   \item{`"components"`}{a heat map of the components: their probabilities, loadings or weights of the taxa.}
#'   \item{`"top"`}{for each component the `n` taxa of largest relevance (see [top_terms()]): their values in the
#'     component, as bars, beside those in all sites together, as marks (for [logistic_pca()] the loadings, largest
#'     first).}
#'   \item{`"scores"`}{an ordination: the sites on two components, with the most characteristic taxa as arrows (a
#'     biplot); for memberships, the share of each component, with these taxa on its axis. See
#'     [scores.multicause()] for the numbers.}
#'   \item{`"structure"`}{for fits with memberships: a bar for each site, with a piece for each component. Sites with
#'     similar memberships stand beside each other (the order of average linkage), within each of the `groups`. Of more
#'     sites than 2000, 2000 are drawn, evenly spaced, and the figure reports it. The structure plot of Rosenberg et al.
#'     (2002), as package fastTopics has it.}
#'   \item{`"trace"`}{how far every start was below the best, iteration by iteration; of a fit that was sampled, up to
#'     four quantities of every chain, draw by draw; left of a vertical line, in the warm-up, where values far from the
#'     draws are left out, as are quantities of phantoms, which are chosen at its end.}
#'   \item{`"density"`}{of a fit that was sampled, the posterior densities of these quantities, by chain.}
#'   \item{`"curves"`, `"map"`}{for fits with `smooth`: as in [plot.aspect_bernoulli()].}
#' }
#'
#' @param object,x a fit of any model, or a result of [which_zeros()] and its verbs, [false_absences()], [select_k()],
#'   [cross_validate()], [compare_models()], [recovery()], [modes()], [age_profile()], [identifiability()],
#'   [divergences()] or [ensemble()].
#' @param what which view.
#' @param order of taxa: `"seriated"` (by main component, then by strength) or `"data"`.
#' @param ... the arguments of the `autoplot()` method of `x`, such as `what`; in an `autoplot()` method it must be
#'   empty.
#' @param taxon,slices,coast for `"curves"` and `"map"`, as in [plot.aspect_bernoulli()].
#' @param n for `"top"`: taxa of a component, `NULL`: eight, and fewer if the components are more than four; for
#'   `"scores"`: arrows, `NULL`: eight.
#' @param components for `"scores"`: two components, numbers or names.
#' @param groups for `"structure"`: a group for each site, in the order of the sites or named by them; those without
#'   (`NA`) are left out.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly. Wrong input is an error of class
#'   `multicause_input_error`.
#' @references Rosenberg NA, Pritchard JK, Weber JL, Cann HM, Kidd KK, Zhivotovsky LA, Feldman MW (2002). Genetic
#'   structure of human populations. *Science* 298, 2381-2385. \doi{10.1126/science.1078311}
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(480, 1, 0.6)
#' dimnames(x) <- list(site = paste("Site", 1:40), genus = paste("Genus", 1:12))
#' fit <- aspect_bernoulli(x, k = 3, phantom = "white", control = fit_control(n_start = 3))
#' plot(fit)
#' plot(fit, "top", n = 4)
#' ggplot2::autoplot(fit, "structure") + ggplot2::labs(title = "My sites") + ggplot2::theme_classic()
#' plot(logistic_pca(x, k = 2), "scores")
#' @name autoplot.multicause
#' @aliases autoplot plot.multicause plot.false_absences plot.false_presences
#' @order 1
#' @exportS3Method ggplot2::autoplot
autoplot.multicause <- function(object,
                                what = c(
                                  "components", "top", "scores", "structure", "trace", "density", "curves", "map"
                                ),
                                order = c("seriated", "data"), ..., taxon = NULL, slices = 4, coast = NULL, n = NULL,
                                components = 1:2, groups = NULL) {
  check_dots(...)
  what <- check_choice(what)
  order <- check_choice(order)
  shared_figure(object, what, taxon, slices, coast, n, components, groups) %||% components_figure(object, order)
}

# nolint end

shared_figure.multicause <- function(fit, what, taxon = NULL, slices = 4, coast = NULL, n = NULL, components = 1:2,
                                     groups = NULL, ...) {
  switch(what,
    top = top_figure(fit, if (!is.null(n)) check_count(n, "n")),
    scores = scores_figure(fit, components, check_count(n %||% 8, "n", 0L)),
    trace = if (is_sampled(fit)) chain_traces_figure(fit, gibbs_shown(fit)) else trace_figure(fit),
    density = chain_densities_figure(fit, if (is_sampled(fit)) gibbs_shown(fit)),
    structure = structure_figure(fit, groups), curves = curves_figure(fit, taxon),
    map = map_figure(fit, check_count(slices, "slices"), coast)
  )
}

components_figure <- function(fit, order) {
  components <- component_matrix(fit)
  if (nrow(components) == 0L) stop_input("`object` has no components to plot.")
  if (is.null(colnames(components))) colnames(components) <- seq_len(ncol(components))
  if (order == "seriated") components <- components[, seriate(abs(components)), drop = FALSE]
  scale <- signed_colours(components)
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(components), if (all(components >= 0)) main_title(components, rownames(components), taxa) else model_title(fit),
    sprintf("Heat map: the value of each of the %s in each of %s.", taxa, count_words(nrow(components), "component")),
    scale$limits, scale$colours, component_scale(fit), sides = c(taxa, "")
  )
}

# Taxa of a component by default: as many as have their names in one column of a journal.
usual_top <- function(k) if (k <= 4L) 8L else if (k <= 6L) 6L else if (k <= 8L) 4L else 3L

top_figure <- function(fit, n) {
  components <- component_matrix(fit)
  if (nrow(components) == 0L) stop_input("`object` has no components to plot.")
  if (is.null(n)) n <- usual_top(nrow(components))
  top <- top_taxa(fit, n)
  signed <- any(components < 0)
  taxa <- axis_words(fit)[2L]
  top$key <- factor(paste(top$component, top$taxon, sep = "\r"), rev(paste(top$component, top$taxon, sep = "\r")))
  cut <- short_labels(if (nrow(components) > 8L) 10L else 13L)
  new_figure(
    top, gg_aes(x = "value", y = "key"),
    sprintf("%s is most characteristic of %s", top$taxon[1L], top$component[1L]),
    sprintf("Bars: the %d %s that are most characteristic of each component.", n, taxa),
    paste0(component_scale(fit), if (!signed) sprintf(" (marks: in all %s)", axis_words(fit)[1L]))
  ) +
    ggplot2::geom_col(fill = component_colours(1L), width = 0.7) +
    (if (!signed) ggplot2::geom_point(gg_aes(x = "everywhere"), shape = 124L, size = 2.5,
      colour = component_colours(2L)[2L])) +
    # Two columns of panels, whose heads stand at their left, since heads above would take the room of names.
    ggplot2::facet_wrap("component", scales = "free_y", ncol = 2L, strip.position = "left") + few_numbers("x") +
    ggplot2::scale_y_discrete(labels = function(key) apart_labels(cut(sub("^.*\r", "", key))), guide = thinned()) +
    ggplot2::labs(y = NULL) +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(
        face = if (in_italics(taxa)) "italic" else "plain", size = 6, lineheight = apart_height
      ),
      strip.placement = "outside", strip.text.y.left = ggplot2::element_text(angle = 0, vjust = 1),
      panel.spacing = ggplot2::unit(3, "pt")
    )
}

# How much two components have to do with each other at the sites.
scores_title <- function(sites, words, names) {
  varies <- nrow(sites) > 2L && stats::sd(sites$x) > 0 && stats::sd(sites$y) > 0
  sprintf("%s on %s and %s%s", capital(words), names[1L], names[2L],
    if (varies) sprintf(" (r = %.2f)", round(stats::cor(sites$x, sites$y), 2L) + 0) else "")
}

# Plots sites on two components and the most characteristic taxa as arrows.
scores_figure <- function(fit, components, n) {
  both <- ordination(fit)
  if (ncol(both$sites) < 2L) stop_input("`object` must have two components for `what = \"scores\"`.")
  at <- unique(pick(components, ncol(both$sites), colnames(both$sites), "components"))
  if (length(at) != 2L) stop_input("`components` must be two, not %d.", length(at))
  part <- function(values, names) {
    values <- values[, at, drop = FALSE]
    data.frame(
      x = unname(values[, 1L]), y = unname(values[, 2L]),
      label = short_labels(16L)(as.character(label_of(seq_len(nrow(values)), names)))
    )
  }
  sites <- part(both$sites, fit$names[[1L]])
  taxa <- part(both$species, fit$names[[2L]])
  axes <- colnames(both$sites)[at]
  if (all(both$species >= 0)) {
    # Arrows would all lie on the axes: names of taxa stand there.
    top <- top_names(fit, min(n, 3L), short_labels(12L))[axes]
    axes <- paste0(axes, ifelse(is.na(top) | !nzchar(top), "", ": "), ifelse(is.na(top), "", top))
    n <- 0L
  }
  size <- sqrt(taxa$x^2 + taxa$y^2)
  taxa <- utils::head(taxa[order(-size), ], n)
  scale <- 0.85 * max(abs(both$sites[, at]), 1e-12) / max(size, 1e-12)
  taxa[c("x", "y")] <- list(taxa$x * scale, taxa$y * scale)
  words <- axis_words(fit)
  figure <- new_figure(
    sites, gg_aes(x = "x", y = "y"), scores_title(sites, words[1L], colnames(both$sites)[at]),
    sprintf("Points: %s by their scores on two components; arrows: %s that tell most.", words[1L], words[2L]),
    axes[1L], axes[2L]
  ) + ggplot2::geom_point(
    colour = component_colours(1L), alpha = if (nrow(sites) > 200L) 0.3 else 0.6,
    size = if (nrow(sites) > 200L) 1 else 1.6
  )
  if (!nrow(taxa)) {
    return(figure)
  }
  origin <- data.frame(taxa, x0 = 0, y0 = 0)
  # Names extend from the tips of their arrows, so that side needs room.
  taxa$hjust <- ifelse(taxa$x >= 0, -0.05, 1.05)
  taxa$vjust <- ifelse(taxa$y >= 0, -0.2, 1.2)
  room <- c(if (any(taxa$x < 0)) 0.4 else 0.05, if (any(taxa$x >= 0)) 0.4 else 0.05)
  figure + ggplot2::geom_segment(
    gg_aes(x = "x0", y = "y0", xend = "x", yend = "y"), origin, colour = component_colours(6L)[6L],
    arrow = ggplot2::arrow(length = ggplot2::unit(0.06, "inches"))
  ) + ggplot2::geom_text(
    gg_aes(label = "label", hjust = "hjust", vjust = "vjust"), taxa, check_overlap = TRUE, size = 2.5,
    fontface = if (in_italics(words[2L])) "italic" else "plain"
  ) + ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = room)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = 0.1)) + ggplot2::coord_cartesian(clip = "off")
}
