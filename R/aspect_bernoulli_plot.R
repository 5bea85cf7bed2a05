#' Plot an aspect Bernoulli fit
#'
#' @description
#' Six views of a fit, after Figures 5 to 7 of the paper:
#' \describe{
#'   \item{`"aspects"`}{a heat map of the aspects' probabilities, attributes in order of age or seriated by aspect, in
#'     as many panels as keep their names readable.}
#'   \item{`"membership"`}{for each observation (a vertical bar) how much of it each aspect writes; phantoms are grey.}
#'   \item{`"phantom"`}{the phantoms' share of each observation against its richness (the number of attributes
#'     recorded).}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass; of a fit with `estimate = "gibbs"`, log
#'     joint density, log-likelihood and shares of phantoms of every chain, draw by draw.}
#'   \item{`"curves"`}{for a fit with `smooth = smooth_over(age = )`: the components' shares and the chance of presence
#'     of some attributes through time, see [curves()]; points are the share of sites with a record, in a dozen bins of
#'     age. Components are named with the attribute that most tells them from the rest of the table.}
#'   \item{`"map"`}{for a fit with `smooth = smooth_over(place = )`: the composition of each site as a pie where it
#'     lies, a panel for each slice of age. Pies that would cover each other are moved apart, with a line to their
#'     place; of more than 250 sites in a panel dots show the main component.}
#' }
#'
#' @param x a fit of [aspect_bernoulli()].
#' @param what which view.
#' @param age,of ages that order the plot, one for each observation or for each attribute, and whose they are, as in
#'   [age_profile()]. The age of an attribute is the mean age of the observations where it occurs, and the other way
#'   round. Oldest first, those without an age last.
#' @param order `"age"` (default where `age` is given), `"seriated"` (by main aspect, then by probability) or `"data"`.
#' @param main title.
#' @param attribute names or numbers of the attributes for `"curves"`; `NULL`: six that change much through time, each
#'   in its own way.
#' @param slices number of slices of age for `"map"`, at least 1; they hold about equally many sites.
#' @param ... must be empty.
#' @details
#' The heat map takes a page of its own; the other views are ordinary figures, which may share one (`par(mfrow = )`).
#' On a page too small for them, names of attributes are shortened in the middle and some names of aspects left out: 500
#' attributes are readable at about 7 x 7 inches with 6 aspects, and want 10 x 14 with 12.
#' @return `x`, invisibly. Wrong input, and `what = "phantom"` for a fit without phantom, are errors of class
#'   `multicause_input_error`.
#' @seealso [aspect_bernoulli()], [phantoms()], [age_profile()] for the ages of the aspects.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' fit <- aspect_bernoulli(present * rbinom(480, 1, 0.6), k = 3, phantom = "white")
#' plot(fit)
#' plot(fit, "membership")
#' plot(fit, "phantom")
#' plot(fit, "trace")
#' @export
plot.aspect_bernoulli <- function(x, what = c("aspects", "membership", "phantom", "trace", "curves", "map"), age = NULL,
                                  of = c("guess", "attribute", "observation"), order = NULL, main = NULL, ...,
                                  attribute = NULL, slices = 4) {
  check_whole(x, "x")
  draw_view(plot_view(x, what, age, of, order, main, ..., attribute = attribute, slices = slices))
  invisible(x)
}

#' @export
plot_view.aspect_bernoulli <- function(x, what = c("aspects", "membership", "phantom", "trace", "curves", "map"),
                                       age = NULL, of = c("guess", "attribute", "observation"), order = NULL,
                                       main = NULL, ..., attribute = NULL, slices = 4) {
  what <- check_choice(what, "what", c("aspects", "membership", "phantom", "trace", "curves", "map"))
  check_dots(...)
  check_title(main)
  of <- check_choice(of, "of", c("guess", "attribute", "observation"))
  if (is.null(order)) order <- if (is.null(age)) "seriated" else "age"
  order <- check_choice(order, "order", c("age", "seriated", "data"))
  if (order == "age" && is.null(age)) {
    stop_input("`order = \"age\"` needs `age`: one number per observation or attribute.")
  }
  switch(what,
    aspects = aspects_view(x, age, of, order, main),
    membership = membership_view(x, age, of, order, main),
    phantom = phantom_share_view(x, main),
    trace = if (inherits(x, "aspect_bernoulli_gibbs")) {
      chain_traces_view(x, gibbs_shown(x), main)
    } else {
      trace_view(x, main)
    },
    curves = , map = smooth_view(x, what, attribute, slices, main)
  )
}

# Labels of components, their phantoms marked.
component_labels <- function(kinds, names, sep = "\n") {
  ifelse(kinds == "content", names, paste0(names, sep, kinds))
}

# Components by main one, then by falling probability: `weight` is components x items.
seriate <- function(weight) {
  order(max.col(t(weight), ties.method = "first"), -apply(weight, 2L, max))
}

aspects_view <- function(fit, age, of, order, main) {
  aspects <- fit$param$aspects
  kinds <- phantoms(fit)$kind
  if (is.null(colnames(aspects))) colnames(aspects) <- seq_len(ncol(aspects))
  content <- kinds == "content"
  at <- switch(order,
    age = order(-plot_ages(fit, age, of, "attribute")),
    seriated = seriate(if (any(content)) aspects[content, , drop = FALSE] else aspects),
    data = seq_len(ncol(aspects))
  )
  how <- switch(order, age = "oldest first", seriated = "by main aspect", data = "in the order of the data")
  heat_view(
    t(aspects[, at, drop = FALSE]),
    main = if (is.null(main)) sprintf("What each aspect writes (attributes %s)", how) else main,
    heads = component_labels(kinds, rownames(aspects)), legend = "probability of presence"
  )
}

membership_view <- function(fit, age, of, order, main) {
  membership <- fit$param$membership
  kinds <- phantoms(fit)$kind
  content <- kinds == "content"
  at <- switch(order,
    age = order(-plot_ages(fit, age, of, "observation")),
    seriated = seriate(t(if (any(content)) membership[, content, drop = FALSE] else membership)),
    data = seq_len(nrow(membership))
  )
  colours <- component_colours(length(kinds))
  colours[kinds == "white"] <- phantom_grey
  colours[kinds == "black"] <- "grey20"
  how <- switch(order, age = ", oldest first", seriated = ", by main aspect", data = "")
  new_view(
    "bars", if (is.null(main)) "Which aspects write each observation" else main,
    shares = membership[at, , drop = FALSE],
    labels = component_labels(kinds, colnames(membership), " "), colours = colours, xlab = paste0("observations", how)
  )
}

# A vertical bar for each observation, a piece for each component.
draw_bars <- function(view) {
  room <- legend_room(view$labels, c(2.6, 4.2, 2.2, 1), c(2.8, 0.7, 0))
  graphics::plot.new()
  graphics::plot.window(c(0, nrow(view$shares)), c(0, 1), xaxs = "i", yaxs = "i")
  stacked_bars(t(view$shares), view$colours)
  graphics::axis(2L, las = 1L)
  graphics::title(ylab = "share of the observation")
  graphics::title(xlab = view$xlab, line = 0.9)
  top_legend(room, view$main, fill = view$colours, border = NA)
}

phantom_share_view <- function(fit, main) {
  kinds <- phantoms(fit)$kind
  if (all(kinds == "content")) stop_input("No component of `x` is a phantom: there is no share to plot.")
  shares <- lapply(c(white = "white", black = "black"), function(kind) {
    if (any(kinds == kind)) rowSums(fit$param$membership[, kinds == kind, drop = FALSE])
  })
  shares <- Filter(Negate(is.null), shares)
  richness <- fit$margins$row_sum
  new_view(
    "phantom", if (is.null(main)) "The poorer the record, the larger the phantom?" else main, shares = shares,
    richness = richness, labels = phantom_share_labels(shares, richness), looks = phantom_looks[names(shares), ]
  )
}

draw_phantom_share <- function(view) {
  richness <- view$richness
  looks <- view$looks
  room <- legend_room(view$labels, c(4.2, 4.4, 2.2, 1))
  graphics::plot(
    range(richness), c(0, 1), type = "n", las = 1L, bty = "l", xlab = "attributes recorded (richness)",
    ylab = "share written by the phantom", xaxt = "n"
  )
  graphics::axis(1L, unique(round(pretty(range(richness)))))
  for (i in seq_along(view$shares)) {
    graphics::points(
      richness, view$shares[[i]], pch = looks$pch[i], col = grDevices::adjustcolor(looks$colour[i], 0.45), cex = 0.8
    )
  }
  top_legend(room, view$main, pch = looks$pch, col = looks$colour)
}

phantom_looks <- data.frame(pch = c(16, 17), colour = c("#0072B2", "#D55E00"), row.names = c("white", "black"))

# Each kind of phantom with the correlation of its share and the richness, where both vary.
phantom_share_labels <- function(shares, richness) {
  vapply(names(shares), function(kind) {
    both <- cbind(shares[[kind]], richness)
    varies <- nrow(both) > 1L && all(apply(both, 2L, stats::sd) > 0)
    paste0(kind, " phantom", if (varies) sprintf(": correlation %.2f", stats::cor(both)[1L, 2L]))
  }, "", USE.NAMES = FALSE)
}

# An age for each `wanted`, "observation" or "attribute", from the ages of either: the mean over the presences.
plot_ages <- function(fit, age, of, wanted) {
  given <- whose_age(age, of, fit)
  side <- if (given == "observation") 1L else 2L
  age <- match_age(age, fit$names[[side]], fit$dims[[side]], given)
  if (given == wanted) {
    return(age)
  }
  if (is.null(fit$x)) {
    stop_input(
      "`age` must be of the %ss here: from ages of %ss they follow by the data, and the fit has `keep_x = FALSE`.",
      wanted, given
    )
  }
  if (wanted == "attribute") attribute_age(fit, age) else observation_age(fit, age)
}

# Mean age of the attributes that occur in each observation.
observation_age <- function(fit, age) {
  dated <- !is.na(age)
  unlist(lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    found <- is_found(dense_rows(fit$x, rows)[, dated, drop = FALSE])
    ifelse(rowSums(found) > 0, as.vector(found %*% age[dated]) / rowSums(found), NA)
  }))
}
