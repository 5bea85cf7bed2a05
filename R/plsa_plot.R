# Plots of PLSA and PLCA fits.

#' Plot a PLSA fit
#'
#' @description
#' Six views of a fit:
#' \describe{
#'   \item{`"basis"`}{a heat map of each component's distribution over the attributes, each attribute scaled by its
#'     largest probability.}
#'   \item{`"membership"`}{for each observation (a vertical bar) how much of it each component writes, observations
#'     grouped by their main component.}
#'   \item{`"simplex"`}{for three attributes: observations and components in the triangle of distributions, with the
#'     hull of the components, as in Figure 3 of the paper.}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
#'   \item{`"curves"`, `"map"`}{for a fit with `smooth`: components and attributes through time, and on a map by slice
#'     of age, as in [plot.aspect_bernoulli()].}
#' }
#'
#' @param x a fit of [plsa()].
#' @param what which view.
#' @param main title.
#' @param attribute,slices for `"curves"` and `"map"`, as in [plot.aspect_bernoulli()].
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @inherit plsa references
#' @examples
#' set.seed(1)
#' x <- t(rmultinom(50, 30, c(5, 3, 2)))
#' fit <- plsa(x, k = 4, sparsity = c(membership = 0.05), control = fit_control(n_start = 2))
#' plot(fit, "simplex")
#' plot(fit)
#' @export
plot.plsa <- function(x, what = c("basis", "membership", "simplex", "trace", "curves", "map"), main = NULL, ...,
                      attribute = NULL, slices = 4) {
  check_whole(x, "x")
  draw_view(plot_view(x, what, main, ..., attribute = attribute, slices = slices))
  invisible(x)
}

#' @export
plot_view.plsa <- function(x, what = c("basis", "membership", "simplex", "trace", "curves", "map"), main = NULL, ...,
                           attribute = NULL, slices = 4) {
  what <- check_choice(what, "what", c("basis", "membership", "simplex", "trace", "curves", "map"))
  check_dots(...)
  check_title(main)
  title <- function(text) if (is.null(main)) text else main
  switch(what,
    basis = basis_view(x, title("What each component writes")),
    membership = shares_view(x$param$membership, title("Which components write each observation")),
    simplex = simplex_view(x, title("Observations and components")), trace = trace_view(x, main),
    curves = , map = smooth_view(x, what, attribute, slices, main)
  )
}

check_title <- function(main) if (!is.null(main)) check_label(main, "main")

check_label <- function(text, name) {
  if (!is.character(text) || length(text) != 1L) stop_input("`%s` must be one string, not %s.", name, show_value(text))
}

basis_view <- function(fit, main) {
  basis <- fit$param$basis
  if (is.null(colnames(basis))) colnames(basis) <- seq_len(ncol(basis))
  most <- apply(basis, 2L, max)
  scaled <- basis / rep(ifelse(most > 0, most, 1), each = nrow(basis))
  at <- order(max.col(t(basis), ties.method = "first"), -most)
  heat_view(t(scaled[, at, drop = FALSE]), main = main, legend = "probability over the attribute's largest")
}

shares_view <- function(membership, main) {
  main_one <- max.col(membership, ties.method = "first")
  at <- order(main_one, -membership[cbind(seq_along(main_one), main_one)])
  new_view(
    "bars", main, shares = membership[at, , drop = FALSE], labels = colnames(membership),
    colours = component_colours(ncol(membership)), xlab = "observations, by main component"
  )
}

# Distributions over three attributes as points of an equilateral triangle.
simplex_points <- function(rows) cbind(rows[, 2L] + rows[, 3L] / 2, rows[, 3L] * sqrt(3) / 2)

simplex_view <- function(fit, main) {
  if (fit$dims[["m"]] != 3L) stop_input("`what = \"simplex\"` needs a fit with 3 attributes, not %d.", fit$dims[["m"]])
  names <- fit$names[[2L]]
  shares <- matrix(0, 0L, 3L)
  if (!is.null(fit$x)) {
    counts <- dense_rows(fit$x, seq_len(fit$dims[["n"]]))
    counts <- counts[rowSums(is.na(counts)) == 0 & rowSums(counts, na.rm = TRUE) > 0, , drop = FALSE]
    shares <- counts / rowSums(counts)
  }
  basis <- simplex_points(fit$param$basis)
  new_view(
    "simplex", main, corners = simplex_points(diag(3)), names = if (is.null(names)) 1:3 else names,
    observations = simplex_points(shares), basis = basis, hull = basis[grDevices::chull(basis), , drop = FALSE]
  )
}

draw_simplex <- function(view) {
  corners <- view$corners
  local_par(mar = c(1.6, 1, 2.6, 1), xpd = NA)
  graphics::plot(corners, type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "", main = view$main)
  graphics::polygon(corners, border = "grey50")
  # Each of the lower names has half of the page.
  names <- fit_labels(as.character(view$names), 0.47 * graphics::par("fin")[1L], 1)
  inside <- graphics::par("usr")[1:2]
  half <- graphics::strwidth(names) / 2
  at <- pmin(pmax(corners[, 1L], inside[1L] + half), inside[2L] - half)
  graphics::text(at, corners[, 2L], names, pos = c(1L, 1L, 3L), offset = 0.7)
  graphics::points(view$observations, pch = 16, cex = 0.5, col = "#0072B255")
  graphics::polygon(view$hull, border = "#D55E00", lwd = 1.5)
  graphics::points(view$basis, pch = 24, bg = "#D55E00", col = "white", cex = 1.2)
  graphics::legend(
    "topright", c("observations", "components"), pch = c(16, 17), col = c("#0072B2", "#D55E00"), bty = "n"
  )
}

#' Plot a PLCA fit
#'
#' @description
#' Four views of a fit:
#' \describe{
#'   \item{`"marginals"`}{the components' distributions along each dimension: lines where its levels are many, else a
#'     picture.}
#'   \item{`"reconstruction"`}{the data and the fit side by side, summed over all dimensions but two.}
#'   \item{`"divergences"`}{the divergences of all pairs of components, see [divergences()].}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
#' }
#'
#' @param x a fit of [plca()].
#' @param what which view.
#' @param dims dimensions shown, numbers or names; `NULL`: all, or for the reconstruction the first two.
#' @param main title.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' fit <- plca(array(rpois(6 * 8 * 4, 2), c(site = 6, taxon = 8, time = 4)), k = 2)
#' plot(fit)
#' plot(fit, "reconstruction")
#' @export
plot.plca <- function(x, what = c("marginals", "reconstruction", "divergences", "trace"), dims = NULL, main = NULL,
                      ...) {
  check_whole(x, "x")
  draw_view(plot_view(x, what, dims, main, ...))
  invisible(x)
}

#' @export
plot_view.plca <- function(x, what = c("marginals", "reconstruction", "divergences", "trace"), dims = NULL,
                           main = NULL, ...) {
  what <- check_choice(what, "what", c("marginals", "reconstruction", "divergences", "trace"))
  check_dots(...)
  check_title(main)
  at <- pick(dims, length(x$extent), x$labels, "dims")
  switch(what,
    marginals = marginals_view(x, at, main),
    reconstruction = reconstruction_view(x, if (is.null(dims)) at[1:2] else at, main),
    divergences = plot_view(divergences(x, dims = at)), trace = trace_view(x, main)
  )
}

few_levels <- 12L # a dimension with more is drawn as lines

marginals_view <- function(fit, at, main) {
  new_view("marginals", main, marginals = unname(fit$param$marginals[at]), titles = dimension_names(fit$labels[at], at))
}

draw_marginals <- function(view) {
  local_par(mfrow = c(length(view$titles), 1L), mar = c(3.6, 4, 2.4, 0.8), mgp = c(2.4, 0.6, 0),
    oma = c(0, 0, if (is.null(view$main)) 0 else 2, 0))
  for (i in seq_along(view$titles)) {
    q <- view$marginals[[i]]
    if (ncol(q) > few_levels) marginal_lines(q, view$titles[i]) else marginal_image(q, view$titles[i])
  }
  if (!is.null(view$main)) graphics::mtext(view$main, outer = TRUE, font = 2L)
}

# One line a component, each on its own base, scaled to its largest value.
marginal_lines <- function(q, title) {
  k <- nrow(q)
  colours <- component_colours(k)
  graphics::plot(
    NA, xlim = c(1, ncol(q)), ylim = c(k + 0.1, 0), yaxt = "n", bty = "n", xlab = title, ylab = "",
    main = "each on the scale of its maximum", font.main = 1L, cex.main = 0.9
  )
  for (c in seq_len(k)) {
    height <- 0.92 * q[c, ] / max(q[c, ])
    fill <- grDevices::adjustcolor(colours[c], 0.5)
    graphics::polygon(c(1, seq_len(ncol(q)), ncol(q)), c(c, c - height, c), border = NA, col = fill)
    graphics::lines(seq_len(ncol(q)), c - height, col = colours[c])
  }
  graphics::axis(2L, seq_len(k), rownames(q), las = 1L, lwd = 0, line = -0.8, cex.axis = max(0.5, min(1, 12 / k)))
}

marginal_image <- function(q, title) {
  head <- sprintf("at most %s", format(max(q), digits = 2L))
  image_matrix(q, c(0, max(q)), head, title, "component", labels = colnames(q))
}

reconstruction_view <- function(fit, at, main) {
  if (length(at) != 2L) stop_input("`dims` must name two dimensions for the reconstruction, not %d.", length(at))
  data <- data_array(fit_data(fit))
  data[is.na(data)] <- 0
  tables <- lapply(list(data = data, fit = fitted(fit)), function(values) {
    # Square roots: a few large counts would leave the rest one colour.
    sqrt(apply(values, at, sum))
  })
  heads <- c("data (square roots)", sprintf("fit, %s nats a count off", format(fit$kl, digits = 2L)))
  new_view(
    "reconstruction", main, tables = stats::setNames(tables, heads), titles = dimension_names(fit$labels[at], at)
  )
}

draw_reconstruction <- function(view) {
  top <- if (is.null(view$main)) 0 else 2
  local_par(mfrow = c(1L, 2L), mar = c(3.6, 4, 2.4, 0.8), mgp = c(2.4, 0.6, 0), oma = c(0, 0, top, 0))
  limits <- range(unlist(view$tables))
  for (head in names(view$tables)) image_matrix(view$tables[[head]], limits, head, view$titles[2L], view$titles[1L])
  if (!is.null(view$main)) graphics::mtext(view$main, outer = TRUE, font = 2L)
}
