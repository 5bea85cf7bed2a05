#' Plot an aspect Bernoulli fit
#'
#' @description
#' Views of a fit, after Figures 5 to 7 of the paper; `plot()` draws them, `autoplot()` gives them as ggplot2 objects:
#' \describe{
#'   \item{`"aspects"`}{a heat map of the components' probabilities, taxa in order of age or seriated by component, in
#'     panels side by side where they are many.}
#'   \item{`"structure"`}{for each site (a vertical bar) how much of it each component makes up, as
#'     [plot()][autoplot.multicause] has it; phantoms are grey.}
#'   \item{`"phantom"`}{the phantoms' share of each site against its richness (the number of taxa recorded).}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass; of a fit with `estimate = "gibbs"`, log
#'     joint density, log-likelihood and shares of phantoms of every chain, draw by draw.}
#'   \item{`"top"`, `"scores"`}{the taxa that tell each component, and the sites on two of them:
#'     [plot()][autoplot.multicause].}
#'   \item{`"curves"`}{for a fit with `smooth = smooth_over(age = )`: the components' shares and the chance of presence
#'     of some taxa through time, see [curves()]; points are the share of sites with a record, in a dozen bins of age.
#'     Components are named with the taxon that most tells them from the rest of the table.}
#'   \item{`"map"`}{for a fit with `smooth = smooth_over(place = )`: the composition of each site as a pie where it
#'     lies, a panel for each slice of age. Pies that would cover each other are one, the mean of their sites, the
#'     larger the more these are.}
#' }
#'
#' @param object a fit of [aspect_bernoulli()].
#' @param what which view.
#' @param age,of ages that order the plot, one for each site or for each taxon, and whose they are, as in
#'   [age_profile()]. The age of a taxon is the mean age of the sites where it occurs, and the other way round. Oldest
#'   first, those without an age last.
#' @param order `"age"` (default where `age` is given), `"seriated"` (taxa by main component, then by probability;
#'   sites of like memberships beside each other) or `"data"`.
#' @param taxon names or numbers of the taxa for `"curves"`; `NULL`: six that change much through time, each in its
#'   own way.
#' @param slices number of slices of age for `"map"`, at least 1; they hold about equally many sites.
#' @param coast for `"map"`: the coast of the age of the sites, as in [plot.which_zeros()].
#' @inheritParams autoplot.multicause
#' @param ... must be empty.
#' @return An object of class `ggplot`. Wrong input, and `what = "phantom"` for a fit without phantom, are errors of
#'   class `multicause_input_error`.
#' @seealso [aspect_bernoulli()], [phantoms()], [age_profile()] for the ages of the components.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' fit <- aspect_bernoulli(present * rbinom(480, 1, 0.6), k = 3, phantom = "white")
#' plot(fit)
#' plot(fit, "structure")
#' plot(fit, "phantom")
#' plot(fit, "trace")
#' @name plot.aspect_bernoulli
#' @aliases autoplot.aspect_bernoulli
#' @exportS3Method ggplot2::autoplot
autoplot.aspect_bernoulli <- function(object, # nolint: object_name_linter.
                                      what = c(
                                        "aspects", "structure", "phantom", "trace", "top", "scores", "curves", "map"
                                      ), age = NULL, of = c("guess", "taxon", "site"), order = NULL, ...,
                                      taxon = NULL, slices = 4, coast = NULL, n = 8, components = 1:2,
                                      groups = NULL) {
  what <- check_choice(what)
  check_dots(...)
  of <- check_choice(of)
  if (is.null(order)) order <- if (is.null(age)) "seriated" else "age"
  order <- check_choice(order, "order", c("age", "seriated", "data"))
  if (order == "age" && is.null(age)) {
    stop_input("`order = \"age\"` needs `age`: one number for each site or for each taxon.")
  }
  switch(what,
    aspects = aspects_figure(object, age, of, order), phantom = phantom_share_figure(object),
    structure = aspect_structure(object, age, of, order, groups),
    shared_figure(object, what, taxon, slices, coast, n, components)
  )
}

# Labels of components, their phantoms marked.
component_labels <- function(kinds, names, sep = "\n") {
  ifelse(kinds == "content", names, paste0(names, sep, kinds))
}

# The order of the items of one side, by their columns of `weight` (components x items), and what it is in words.
aspect_order <- function(fit, age, of, order, wanted, weight) {
  content <- phantoms(fit)$kind == "content"
  switch(order,
    age = list(
      at = order(-years_ago(plot_ages(fit, age, of, wanted), unit_of_ages(age) %||% "guess")), words = "oldest first"
    ),
    seriated = list(at = seriate(if (any(content)) weight[content, , drop = FALSE] else weight),
      words = "by main component"),
    data = list(at = seq_len(ncol(weight)), words = "in the order of the data")
  )
}

aspects_figure <- function(fit, age, of, order) {
  aspects <- fit$param$aspects
  if (is.null(colnames(aspects))) colnames(aspects) <- seq_len(ncol(aspects))
  ordered <- aspect_order(fit, age, of, order, "taxon", aspects)
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(aspects[, ordered$at, drop = FALSE]), "What each component holds",
    sprintf("Heat map: the chance of a presence of each of %d %s in each of %s.", ncol(aspects), taxa,
      count_words(nrow(aspects), "component")),
    legend = "probability of presence", heads = component_labels(phantoms(fit)$kind, rownames(aspects)),
    subtitle = sprintf("%s %s", capital(taxa), ordered$words)
  )
}

aspect_structure <- function(fit, age, of, order, groups) {
  kinds <- phantoms(fit)$kind
  colours <- component_colours(length(kinds))
  colours[kinds == "white"] <- phantom_grey
  colours[kinds == "black"] <- "grey20"
  ordered <- if (order != "seriated") aspect_order(fit, age, of, order, "site", t(fit$param$membership))
  structure_figure(
    fit, groups, component_labels(kinds, colnames(fit$param$membership), " "), colours, ordered, kinds == "content"
  )
}

phantom_share_figure <- function(fit) {
  kinds <- phantoms(fit)$kind
  if (all(kinds == "content")) stop_input("No component of `object` is a phantom: there is no share to plot.")
  richness <- fit$margins$row_sum
  words <- axis_words(fit)
  shares <- lapply(intersect(c("white", "black"), kinds), function(kind) {
    share <- rowSums(fit$param$membership[, kinds == kind, drop = FALSE])
    data.frame(richness, share, kind = phantom_share_label(kind, share, richness), row.names = NULL)
  })
  table <- do.call(rbind, shares)
  table$kind <- factor(table$kind, unique(table$kind))
  new_figure(
    table, gg_aes(x = "richness", y = "share", colour = "kind", shape = "kind"),
    "The poorer the record, the larger the phantom?",
    sprintf("Points: the phantom's share of each of the %s against the number of %s recorded.", words[1L], words[2L]),
    sprintf("%s recorded (richness)", words[2L]), "share of the phantom"
  ) + ggplot2::geom_point(alpha = 0.55, size = 1.8) + ggplot2::ylim(0, 1) +
    ggplot2::scale_x_continuous(breaks = whole_breaks) +
    colour_scale(stats::setNames(component_colours(6L)[c(1L, 6L)][seq_along(shares)], levels(table$kind))) +
    ggplot2::scale_shape_manual(NULL, values = c(16L, 17L), guide = ggplot2::guide_legend(ncol = 1L))
}

# A kind of phantom with the correlation of its share and the richness, where both vary.
phantom_share_label <- function(kind, share, richness) {
  varies <- length(share) > 1L && stats::sd(share) > 0 && stats::sd(richness) > 0
  paste0(kind, " phantom", if (varies) sprintf(": correlation %.2f", stats::cor(share, richness)))
}

# An age for each `wanted`, "site" or "taxon", from the ages of either: the mean over the presences.
plot_ages <- function(fit, age, of, wanted) {
  age <- middle_ages(age)
  given <- whose_age(age, of, fit)
  side <- if (given == "site") 1L else 2L
  age <- match_age(age, fit$names[[side]], fit$dims[[side]], given)
  if (given == wanted) {
    return(age)
  }
  if (is.null(fit$x)) {
    stop_input(
      "`age` must be of the %s here: from ages of %s they follow by the data, and the fit has `keep_x = FALSE`.",
      plural_word(side_word(fit, wanted)), plural_word(side_word(fit, given))
    )
  }
  if (wanted == "taxon") taxon_age(fit, age) else site_age(fit, age)
}

# Mean age of the attributes that occur in each observation.
site_age <- function(fit, age) {
  dated <- !is.na(age)
  unlist(lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    found <- is_found(dense_rows(fit$x, rows)[, dated, drop = FALSE])
    ifelse(rowSums(found) > 0, as.vector(found %*% age[dated]) / rowSums(found), NA)
  }))
}
