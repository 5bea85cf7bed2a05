# The views that several models share, and the page of plot() and autoplot().

# nolint start: object_name_linter.

#' Figures
#'
#' `autoplot()` makes a figure of a fit or a result, a ggplot2 object, to be given other labels, scales or themes and to
#' be saved with [ggplot2::ggsave()]. `plot()` draws the same figure, in loops and functions too, and returns it
#' invisibly.
#'
#' @details
#' Axes speak the user's words: those of `names(dimnames(x))` where the data have them, such as
#' `c("localities", "genera")`, else sites and taxa. Long names are cut in the middle, and where names would cover each
#' other some are left out, at whatever size the figure is drawn. Colours can be told apart by the colour-blind, and
#' scales of one number read in grey: they get darker from the least to the largest. Every figure has an alternative
#' text, [ggplot2::get_alt_text()]. Time passes to the right, or upwards. An axis of ages says the unit it is told or
#' can guess, see `unit` of [plot.which_zeros()]; in Ma it carries the geological time scale where package deeptime is
#' installed.
#'
#' Views of any fit; models with pages of their own have others: [plot.aspect_bernoulli()], [plot.noisy_or()],
#' [plot.plsa()], [plot.plca()], [plot.bmf()], and so have the answer of [which_zeros()], [plot.which_zeros()], and its
#' parts.
#' \describe{
#'   \item{`"components"`}{a heat map of what the components say of the taxa.}
#'   \item{`"top"`}{for each component the `n` taxa of largest relevance (see [top_terms()]): what it says of them, as
#'     bars, beside what all sites together say, as marks (for [logistic_pca()] the loadings, largest first).}
#'   \item{`"scores"`}{an ordination: the sites on two components, with the taxa that tell most as arrows (a biplot);
#'     for memberships, the share of each component. See [scores.multicause()] for the numbers.}
#'   \item{`"structure"`}{for fits with memberships: a bar for each site, with a piece for each component. Sites with
#'     like memberships stand beside each other (the order of average linkage), within each of the `groups`. Of more
#'     than 2000 sites so many are drawn, evenly out of all, and the figure says so. The structure plot of Rosenberg
#'     et al. (2002), as package fastTopics has it.}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
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
#' @param n for `"top"`: taxa of a component; for `"scores"`: arrows.
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
                                what = c("components", "top", "scores", "structure", "trace", "curves", "map"),
                                order = c("seriated", "data"), ..., taxon = NULL, slices = 4, coast = NULL, n = 8,
                                components = 1:2, groups = NULL) {
  check_dots(...)
  what <- check_choice(what)
  order <- check_choice(order)
  shared_figure(object, what, taxon, slices, coast, n, components, groups) %||% components_figure(object, order)
}

# nolint end

shared_figure.multicause <- function(fit, what, taxon = NULL, slices = 4, coast = NULL, n = 8, components = 1:2,
                                     groups = NULL, ...) {
  switch(what,
    top = top_figure(fit, check_count(n, "n")), scores = scores_figure(fit, components, check_count(n, "n", 0L)),
    trace = if (is_sampled(fit)) chain_traces_figure(fit, gibbs_shown(fit)) else trace_figure(fit),
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
  heat_figure(
    t(components), model_title(fit),
    sprintf("Heat map: what each of %s says of each of the %s.", count_words(nrow(components), "component"),
      axis_words(fit)[2L]),
    scale$limits, scale$colours, component_scale(fit), sides = c(axis_words(fit)[2L], "")
  )
}

top_figure <- function(fit, n) {
  top <- top_taxa(fit, n)
  signed <- any(component_matrix(fit) < 0)
  top$key <- factor(paste(top$component, top$taxon, sep = "\r"), rev(paste(top$component, top$taxon, sep = "\r")))
  cut <- short_labels(15L)
  new_figure(
    top, gg_aes(x = "value", y = "key"), sprintf("The %s that tell each component", axis_words(fit)[2L]),
    sprintf("Bars: the %d %s that each component is known by.", n, axis_words(fit)[2L]),
    paste0(component_scale(fit), if (!signed) sprintf(" (marks: in all %s)", axis_words(fit)[1L]))
  ) +
    ggplot2::geom_col(fill = component_colours(1L), width = 0.7) +
    (if (!signed) ggplot2::geom_point(gg_aes(x = "everywhere"), shape = 124L, size = 3, colour = "grey65")) +
    ggplot2::facet_wrap("component", scales = "free_y") + few_numbers("x") +
    ggplot2::scale_y_discrete(labels = function(key) apart_labels(cut(sub("^.*\r", "", key))), guide = thinned()) +
    ggplot2::labs(y = NULL) +
    ggplot2::theme(axis.text.y = ggplot2::element_text(face = "italic", size = 7, lineheight = apart_height))
}

# Sites on two components and the taxa that tell most, as arrows.
scores_figure <- function(fit, components, n) {
  both <- ordination(fit)
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
  if (all(both$species >= 0)) {
    # What is common to all components tells nothing: arrows are what each has above the mean of the two.
    middle <- (taxa$x + taxa$y) / 2
    taxa[c("x", "y")] <- list(pmax(taxa$x - middle, 0), pmax(taxa$y - middle, 0))
  }
  size <- sqrt(taxa$x^2 + taxa$y^2)
  taxa <- utils::head(taxa[order(-size), ], n)
  scale <- 0.85 * max(abs(both$sites[, at]), 1e-12) / max(size, 1e-12)
  taxa[c("x", "y")] <- list(taxa$x * scale, taxa$y * scale)
  words <- axis_words(fit)
  figure <- new_figure(
    sites, gg_aes(x = "x", y = "y"), sprintf("%s on two components", capital(words[1L])),
    sprintf("Points: %s by their scores on two components; arrows: %s that tell most.", words[1L], words[2L]),
    colnames(both$sites)[at[1L]], colnames(both$sites)[at[2L]]
  ) + ggplot2::geom_point(
    colour = component_colours(1L), alpha = if (nrow(sites) > 200L) 0.3 else 0.6,
    size = if (nrow(sites) > 200L) 1 else 1.6
  )
  if (!nrow(taxa)) {
    return(figure)
  }
  origin <- data.frame(taxa, x0 = 0, y0 = 0)
  # Names go on from the tips of their arrows, for which their side has room.
  taxa$hjust <- ifelse(taxa$x >= 0, -0.05, 1.05)
  taxa$vjust <- ifelse(taxa$y >= 0, -0.2, 1.2)
  room <- c(if (any(taxa$x < 0)) 0.4 else 0.05, if (any(taxa$x >= 0)) 0.4 else 0.05)
  figure + ggplot2::geom_segment(
    gg_aes(x = "x0", y = "y0", xend = "x", yend = "y"), origin, colour = component_colours(6L)[6L],
    arrow = ggplot2::arrow(length = ggplot2::unit(0.06, "inches"))
  ) + ggplot2::geom_text(
    gg_aes(label = "label", hjust = "hjust", vjust = "vjust"), taxa, check_overlap = TRUE, size = 3, fontface = "italic"
  ) + ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = room)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = 0.1)) + ggplot2::coord_cartesian(clip = "off")
}
