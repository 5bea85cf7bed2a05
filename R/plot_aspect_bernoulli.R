#' Plot an aspect Bernoulli fit
#'
#' @description
#' Four views of a fit, after Figures 5 to 7 of the paper:
#' \describe{
#'   \item{`"aspects"`}{a heat map of the aspects' probabilities, attributes in order of age or seriated by aspect, in
#'     as many panels as keep their names readable.}
#'   \item{`"membership"`}{for each observation (a vertical bar) how much of it each aspect writes; phantoms are grey.}
#'   \item{`"phantom"`}{the phantoms' share of each observation against its richness (how many attributes it has).}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
#' }
#'
#' @param x a fit of [aspect_bernoulli()].
#' @param what which view.
#' @param age ages that order the plot: one number per observation or one per attribute. Where both numbers are the same
#'   the names decide. The age of an attribute is the mean age of the observations where it occurs. Oldest first.
#' @param order `"age"` (default where `age` is given), `"seriated"` (by main aspect, then by probability) or `"data"`.
#' @param main title.
#' @param ... must be empty.
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' fit <- aspect_bernoulli(present * rbinom(480, 1, 0.6), k = 3, phantom = "white")
#' plot(fit)
#' plot(fit, "membership")
#' plot(fit, "phantom")
#' plot(fit, "trace")
#' @export
plot.aspect_bernoulli <- function(x, what = c("aspects", "membership", "phantom", "trace"), age = NULL,
                                  order = NULL, main = NULL, ...) {
  what <- check_choice(what, "what", c("aspects", "membership", "phantom", "trace"))
  check_dots(...)
  if (!is.null(main) && (!is.character(main) || length(main) != 1L)) {
    stop_input("`main` must be one string, not %s.", show_value(main))
  }
  if (is.null(order)) order <- if (is.null(age)) "seriated" else "age"
  order <- check_choice(order, "order", c("age", "seriated", "data"))
  if (order == "age" && is.null(age)) {
    stop_input("`order = \"age\"` needs `age`: one number per observation or attribute.")
  }
  switch(what,
    aspects = plot_aspects(x, age, order, main),
    membership = plot_membership(x, age, order, main),
    phantom = plot_phantom_share(x, main),
    trace = plot_traces(x, if (is.null(main)) "Every start, pass by pass" else main)
  )
  invisible(x)
}

# Labels of components, their phantoms marked.
component_labels <- function(kinds, names, sep = "\n") {
  ifelse(kinds == "content", names, paste0(names, sep, kinds))
}

# Components by main one, then by falling probability: `weight` is components x items.
seriate <- function(weight) {
  order(max.col(t(weight), ties.method = "first"), -apply(weight, 2L, max))
}

plot_aspects <- function(fit, age, order, main) {
  aspects <- fit$param$aspects
  kinds <- phantoms(fit)$kind
  if (is.null(colnames(aspects))) colnames(aspects) <- seq_len(ncol(aspects))
  content <- kinds == "content"
  at <- switch(order,
    age = order(-attribute_ages(fit, age)),
    seriated = seriate(if (any(content)) aspects[content, , drop = FALSE] else aspects),
    data = seq_len(ncol(aspects))
  )
  how <- switch(order, age = "oldest first", seriated = "by main aspect", data = "in the order of the data")
  heat_map(
    t(aspects[, at, drop = FALSE]),
    main = if (is.null(main)) sprintf("What each aspect writes (attributes %s)", how) else main,
    column_labels = component_labels(kinds, rownames(aspects)), legend = "probability of presence"
  )
}

plot_membership <- function(fit, age, order, main) {
  membership <- fit$param$membership
  kinds <- phantoms(fit)$kind
  content <- kinds == "content"
  at <- switch(order,
    age = order(-observation_ages(fit, age)),
    seriated = seriate(t(if (any(content)) membership[, content, drop = FALSE] else membership)),
    data = seq_len(nrow(membership))
  )
  colours <- rep(phantom_grey, length(kinds))
  colours[content] <- component_colours(sum(content))
  colours[kinds == "black"] <- "grey20"
  local_par(mar = c(2.6, 4.2, 4.6, 1), mgp = c(2.6, 0.7, 0), xpd = NA)
  how <- switch(order, age = ", oldest first", seriated = ", by main aspect", data = "")
  graphics::barplot(
    t(membership[at, , drop = FALSE]), col = colours, border = NA, space = 0, names.arg = rep("", nrow(membership)),
    las = 1L, xaxs = "i", ylab = "share of the observation"
  )
  graphics::mtext(paste0("observations", how), side = 1L, line = 0.8)
  graphics::title(if (is.null(main)) "Which aspects write each observation" else main, line = 2.8)
  graphics::legend(
    "top", component_labels(kinds, colnames(membership), " "), fill = colours, border = NA, bty = "n", horiz = TRUE,
    inset = c(0, -0.1), cex = 0.85
  )
}

plot_phantom_share <- function(fit, main) {
  kinds <- phantoms(fit)$kind
  if (all(kinds == "content")) stop_input("No component of `x` is a phantom: there is no share to plot.")
  shares <- lapply(c(white = "white", black = "black"), function(kind) {
    if (any(kinds == kind)) rowSums(fit$param$membership[, kinds == kind, drop = FALSE])
  })
  shares <- Filter(Negate(is.null), shares)
  richness <- fit$margins$row_sum
  local_par(mar = c(4.2, 4.4, 3, 1))
  graphics::plot(
    range(richness), c(0, 1), type = "n", las = 1L, bty = "l", xlab = "attributes recorded (richness)",
    ylab = "share written by the phantom",
    main = if (is.null(main)) "The poorer the record, the larger the phantom?" else main
  )
  colours <- c(white = "#0072B2", black = "#D55E00")
  for (kind in names(shares)) {
    graphics::points(richness, shares[[kind]], pch = 16, col = grDevices::adjustcolor(colours[[kind]], 0.45), cex = 0.8)
  }
  correlation <- vapply(shares, function(share) {
    if (stats::sd(share) > 0 && stats::sd(richness) > 0) stats::cor(share, richness) else NA_real_
  }, 0)
  graphics::legend(
    "topright", sprintf("%s phantom: correlation %.2f", names(shares), correlation), pch = 16,
    col = colours[names(shares)], bty = "n"
  )
}

# One age per observation, or per attribute, from either.
observation_ages <- function(fit, age) {
  side <- age_side(fit, age)
  if (side == "observation") {
    return(align_ages(age, fit$names[[1L]], fit$dims[["n"]]))
  }
  weighted_ages(fit_data(fit), align_ages(age, fit$names[[2L]], fit$dims[["m"]]))
}

attribute_ages <- function(fit, age) {
  side <- age_side(fit, age)
  if (side == "attribute") {
    return(align_ages(age, fit$names[[2L]], fit$dims[["m"]]))
  }
  weighted_ages(Matrix::t(fit_data(fit)), align_ages(age, fit$names[[1L]], fit$dims[["n"]]))
}

# Which side of the table the ages belong to: by length, and where that is ambiguous by name.
age_side <- function(fit, age) {
  n <- fit$dims[["n"]]
  m <- fit$dims[["m"]]
  if (!is.numeric(age) || !length(age) %in% c(n, m)) {
    stop_input(
      "`age` must have one number per observation (%d) or per attribute (%d), not be %s.", n, m, show_value(age)
    )
  }
  if (n == m && !is.null(names(age)) && all(names(age) %in% fit$names[[2L]])) {
    return("attribute")
  }
  if (length(age) == n) "observation" else "attribute"
}

# Ages in the order of the fit: by name where both have names.
align_ages <- function(age, names, count) {
  if (!is.null(names) && !is.null(names(age))) {
    unknown <- setdiff(names, names(age))
    if (length(unknown)) stop_input("`age` has no entry for %s.", show_names(unknown))
    age <- age[names]
  }
  unname(as.double(age))
}

# Mean over the columns where a row has a one, of the columns' values.
weighted_ages <- function(x, age) {
  known <- !is.na(age)
  x <- x[, known, drop = FALSE]
  x[is.na(x)] <- 0
  as.vector(x %*% age[known]) / Matrix::rowSums(x)
}
