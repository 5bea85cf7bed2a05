#' Plot a noisy-OR fit
#'
#' @description
#' Views of a fit:
#' \describe{
#'   \item{`"links"`}{a heat map of the links, taxa seriated by their strongest component, the leak last.}
#'   \item{`"images"`}{every component, and the leak, as a picture, where the taxa are the pixels of a grid of
#'     `dim`.}
#'   \item{`"activation"`}{for each site (a column) the probability that each component is on, ordered by the
#'     likeliest components.}
#'   \item{`"leak"`}{the leak of each taxon against its frequency: on the diagonal no component explains it.}
#'   \item{`"top"`, `"scores"`}{the taxa that tell each component, and the sites by two of them:
#'     [plot()][autoplot.multicause].}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
#' }
#'
#' @param object a fit of [noisy_or()].
#' @param what which view; `"images"` by default where `dim` is given.
#' @param dim for `"images"`: numbers of rows and columns of the grid, whose product is the number of taxa. Pixels
#'   go down the columns, as in a matrix.
#' @param order for `"links"`: `"seriated"`, or `"data"` for the order of the data.
#' @param n,components as in [plot()][autoplot.multicause].
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' fit <- noisy_or(matrix(rbinom(900, 1, 0.3), 100, 9), k = 2)
#' plot(fit)
#' plot(fit, dim = c(3, 3))
#' plot(fit, "activation")
#' plot(fit, "leak")
#' plot(fit, "trace")
#' @name plot.noisy_or
#' @aliases autoplot.noisy_or
#' @exportS3Method ggplot2::autoplot
autoplot.noisy_or <- function(object, # nolint: object_name_linter.
                              what = c("links", "images", "activation", "leak", "top", "scores", "trace"), dim = NULL,
                              order = c("seriated", "data"), ..., n = 8, components = 1:2) {
  views <- c("links", "images", "activation", "leak", "top", "scores", "trace")
  what <- if (missing(what) && !is.null(dim)) "images" else check_choice(what, "what", views)
  order <- check_choice(order, "order", c("seriated", "data"))
  check_dots(...)
  switch(what,
    links = links_figure(object, order), images = images_figure(object, check_image_dim(dim, object$dims[["m"]])),
    activation = activation_figure(object), leak = leak_figure(object),
    shared_figure(object, what, n = n, components = components)
  )
}

check_image_dim <- function(dim, m) {
  ok <- is.numeric(dim) && length(dim) == 2L && !anyNA(dim) && all(dim >= 1) && all(dim == floor(dim)) && prod(dim) == m
  if (!ok) {
    stop_input("`dim` must be two whole numbers with product %d, as there are columns, not %s.", m, show_value(dim))
  }
  as.integer(dim)
}

# Labels of sources with how often they are on.
source_labels <- function(fit, sep = "\n") {
  share <- ifelse(fit$param$prior < 0.001, "< 0.1", format_each(100 * fit$param$prior))
  sprintf("%s%son %s %%", names(fit$param$prior), sep, share)
}

links_figure <- function(fit, order) {
  values <- rbind(fit$param$links, leak = fit$param$leak)
  if (is.null(colnames(values))) colnames(values) <- seq_len(ncol(values))
  at <- if (order == "data") seq_len(ncol(values)) else seriate(fit$param$links)
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(values[, at, drop = FALSE]), "What each component switches on",
    sprintf("Heat map: the chance that each component, or the leak, switches on each of %d %s.", ncol(values), taxa),
    legend = "chance that it switches the cell on", heads = c(source_labels(fit), "leak"),
    subtitle = paste(capital(taxa), if (order == "data") "in the order of the data" else "by strongest component")
  )
}

images_figure <- function(fit, dim) {
  values <- unname(rbind(fit$param$links, fit$param$leak))
  tables <- lapply(seq_len(nrow(values)), function(i) matrix(values[i, ], dim[1L], dim[2L]))
  names(tables) <- make.unique(c(source_labels(fit, ": "), "leak"))
  picture_figure(
    tables, "The components as pictures", "Pictures: what each component, and the leak, switches on.", c(0, 1),
    legend = "chance that it switches the cell on"
  ) + without_axes()
}

activation_figure <- function(fit) {
  activation <- fit$param$activation
  at <- do.call(base::order, c(as.data.frame(-(activation > 0.5)), as.data.frame(-activation)))
  sites <- axis_words(fit)[1L]
  values <- t(activation[at, , drop = FALSE])
  rownames(values) <- source_labels(fit, " ")
  heat_figure(
    values, sprintf("Which components are on in the %s", sites),
    sprintf("Heat map: the chance that each component is on in each of %d %s.", nrow(activation), sites),
    legend = "chance that the component is on", heads = NULL, taxa = "none",
    sides = c("", sprintf("%d %s, by likeliest components", nrow(activation), sites))
  ) + ggplot2::theme(axis.text.x = ggplot2::element_blank(), axis.text.x.top = ggplot2::element_blank())
}

leak_figure <- function(fit) {
  leak <- fit$param$leak
  points <- data.frame(
    taxon = as.character(label_of(seq_along(leak), names(leak))),
    frequency = fit$margins$column_sum / pmax(fit$margins$column_observed, 1), leak = unname(leak)
  )
  top <- utils::head(points[order(-points$leak), ], 8L)
  top$taxon <- short_labels()(top$taxon)
  taxa <- axis_words(fit)[2L]
  new_figure(
    points, gg_aes(x = "frequency", y = "leak"), "What the components leave unexplained",
    sprintf("Points: the leak of each of the %s against its frequency.", taxa), sprintf("frequency of the %s", taxa),
    "leak", "On the dashed line no component explains it"
  ) + ggplot2::geom_abline(linetype = 2L, colour = "grey60") +
    ggplot2::geom_point(colour = component_colours(1L), alpha = 0.6) +
    ggplot2::geom_text(
      gg_aes(label = "taxon"), top, check_overlap = TRUE, hjust = "inward", vjust = -0.6, size = 3,
      fontface = "italic"
    ) + ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0.05, 0.12)))
}
