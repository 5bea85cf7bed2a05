#' The expected community against age
#'
#' How likely each attribute (taxon) was present, and how much each component wrote, through time: averages over the
#' sites near each age, by a fit that knows the ages of its sites.
#'
#' @details At an age, each site weighs as its kernel of [smooth_over()] says (with the bandwidth of the fit), and the
#'   compositions of the sites are averaged: \eqn{\bar t_a = \sum_i w_i t_{ia}}{mean[a] = sum_i w[i] t[i,a]}. `present`
#'   is the chance of a presence if content writes the cell, averaged in the same way: phantoms, the gaps of the
#'   record, are left out, so it lies above the share of sites where the taxon is on record. The bounds are two
#'   standard errors of the weighted mean to either side, from the spread of the sites alone: the aspects are taken as
#'   known and the sites as independent, which neighbours that were smoothed are not. So they are too narrow. Ages are
#'   taken at the middle of their bounds where `at` is chosen.
#'
#' @param fit a fit of [aspect_bernoulli()] with `smooth = smooth_over(age = )`.
#' @param of `"attribute"` or `"component"` (content components only).
#' @param at ages, finite; `NULL`: 60 from the oldest to the youngest.
#' @param attribute names or numbers of the attributes wanted; `NULL` is all.
#' @param ... must be empty.
#' @return A data frame with a row for each age and attribute (component): `age`, `attribute`, `present` (within \[0,
#'   1\]), `lower`, `upper`, `recorded` (weighted share of the sites where it is on record; unknown cells left out;
#'   `NA` where the fit was made with `keep_x = FALSE`) and `n_effective`, the number of sites it rests on, 1 / sum of
#'   squared weights; for components `age`, `component`, `share`, `lower`, `upper`, `n_effective`. O(n m) for each age.
#'   Wrong input is an error of class `multicause_input_error`.
#' @seealso [plot.aspect_bernoulli()] with `what = "curves"`.
#' @examples
#' near <- smooth_over(age = early_tetrapods$sites$age, bandwidth = 4, strength = 10)
#' few <- fit_control(n_start = 2, max_pass = 200, tol = 1e-6, progress = FALSE)
#' fit <- aspect_bernoulli(
#'   early_tetrapods$x, k = 5, estimate = "map", phantom = "white", smooth = near, control = few
#' )
#' curves(fit, at = c(310, 290, 260), attribute = "Diplocaulus")
#' plot(fit, "curves", attribute = c("Diplocaulus", "Dimetrodon"))
#' @export
curves <- function(fit, of = c("attribute", "component"), at = NULL, attribute = NULL, ...) {
  check_dots(...)
  check_fit(fit, "aspect_bernoulli")
  of <- check_choice(of, "of", c("attribute", "component"))
  ages <- smooth_ages(fit)
  if (is.null(at)) at <- seq(max(ages, na.rm = TRUE), min(ages, na.rm = TRUE), length.out = 60L)
  if (!is.numeric(at) || !length(at) || !all(is.finite(at))) {
    stop_input("`at` must be finite ages, not %s.", show_value(at))
  }
  weights <- age_weights(fit$smooth, at)
  composition <- composition_of(fit)
  if (of == "component") {
    return(curve_frame(at, weights, composition, "component", "share"))
  }
  attribute <- pick(attribute, fit$dims[["m"]], fit$names[[2L]], "attribute")
  present <- composition %*% fit$param$aspects[free_components(fit), attribute, drop = FALSE]
  if (is.null(colnames(present))) colnames(present) <- attribute
  out <- curve_frame(at, weights, present, "attribute", "present")
  recorded <- NA_real_
  if (!is.null(fit$x)) recorded <- as.vector(recorded_shares(weights, fit$x[, attribute, drop = FALSE]))
  data.frame(out[c("age", "attribute", "present", "lower", "upper")], recorded = recorded, out["n_effective"])
}

# Middles of the ages the sites of a fit were smoothed by.
smooth_ages <- function(fit) {
  if (is.null(fit$smooth$given$age)) {
    stop_input("`fit` must be made with the ages of its observations, `smooth = smooth_over(age = )`.")
  }
  ages <- rowMeans(fit$smooth$given$age)
  if (all(is.na(ages))) stop_input("`fit` must have ages: those of `smooth` are all unknown.")
  ages
}

# Weights of all sites at each age, length(at) x n, sparse, rows sum to 1.
age_weights <- function(smooth, at) {
  smooth$bandwidth <- smooth$bandwidth["age"]
  smooth$most <- smooth$n
  lists <- find_neighbours(smooth, list(age = cbind(at, at)), smooth$given["age"], own = FALSE)
  Matrix::sparseMatrix(
    i = rep(seq_along(at), diff(lists$start)), j = lists$neighbour + 1L, x = lists$weight, dims = c(length(at), smooth$n)
  )
}

# Weighted means of the columns of `values` (n x columns) at each age, and their bounds, as one long data frame.
curve_frame <- function(at, weights, values, key, value) {
  mean <- as.matrix(weights %*% values)
  squared <- weights^2
  spread <- as.matrix(squared %*% values^2) - 2 * mean * as.matrix(squared %*% values) +
    mean^2 * Matrix::rowSums(squared)
  se <- sqrt(pmax(spread, 0))
  out <- data.frame(
    rep(at, ncol(values)), rep(colnames(values), each = length(at)), as.vector(mean), as.vector(pmax(mean - 2 * se, 0)),
    as.vector(pmin(mean + 2 * se, 1)), rep(1 / Matrix::rowSums(squared), ncol(values))
  )
  stats::setNames(out, c("age", key, value, "lower", "upper", "n_effective"))
}

recorded_shares <- function(weights, x) {
  x <- dense_rows(x, seq_len(nrow(x)))
  known <- !is.na(x)
  x[!known] <- 0
  as.matrix(weights %*% x) / as.matrix(weights %*% known)
}

# The plots of what = "curves": component shares above, attributes below, with the data.
plot_curves <- function(fit, attribute, main) {
  ages <- smooth_ages(fit)
  if (is.null(attribute)) attribute <- telling_attributes(fit)
  attribute <- pick(attribute, fit$dims[["m"]], fit$names[[2L]], "attribute")
  shown <- curves(fit, attribute = attribute)
  rows <- ceiling(length(attribute) / 3)
  columns <- min(3L, length(attribute))
  local_par(mar = c(3.6, 4, 2, 0.8), mgp = c(2.4, 0.7, 0), mfrow = c(1L, 1L), las = 1L)
  panels <- matrix(seq_len(rows * columns) + 1L, rows, columns, byrow = TRUE)
  graphics::layout(rbind(rep(1L, columns), panels))
  on.exit(graphics::layout(1), add = TRUE)
  plot_component_curves(fit, ages, if (is.null(main)) "Share of each aspect's community through time" else main)
  bins <- age_bins(ages)
  for (name in unique(shown$attribute)) {
    plot_attribute_curve(shown[shown$attribute == name, ], ages, fit, name, bins)
  }
}

# The six whose chance of presence changes most through time.
telling_attributes <- function(fit) {
  range <- range(smooth_ages(fit), na.rm = TRUE)
  all <- curves(fit, at = seq(range[1L], range[2L], length.out = 12L))
  spread <- tapply(all$present, factor(all$attribute, unique(all$attribute)), function(p) diff(range(p)))
  utils::head(order(-spread), 6L)
}

plot_component_curves <- function(fit, ages, main) {
  shares <- curves(fit, "component")
  names <- unique(shares$component)
  heights <- matrix(shares$share, ncol = length(names))
  age <- unique(shares$age)
  below <- cbind(0, t(apply(heights, 1L, cumsum)))
  if (length(names) == 1L) below <- cbind(0, heights)
  colours <- component_colours(fit$dims[["k"]])[match(names, component_names(fit$dims[["k"]]))]
  graphics::plot(
    NA, xlim = rev(range(age)), ylim = c(0, 1), xaxs = "i", yaxs = "i", xlab = "age", ylab = "share", main = main
  )
  for (i in seq_along(names)) {
    edge <- c(below[, i], rev(below[, i + 1L]))
    graphics::polygon(c(age, rev(age)), edge, col = colours[i], border = "white", lwd = 0.5)
    widest <- which.max(heights[, i] * (abs(seq_along(age) - length(age) / 2) < 0.47 * length(age)))
    graphics::text(age[widest], (below[widest, i] + below[widest, i + 1L]) / 2, names[i], cex = 0.8)
  }
  graphics::rug(ages, quiet = TRUE)
}

# Ages in at most a dozen bins of about equal size.
age_bins <- function(ages) {
  breaks <- unique(stats::quantile(ages, seq(0, 1, length.out = 13L), na.rm = TRUE, names = FALSE))
  if (length(breaks) < 2L) {
    return(factor(ifelse(is.na(ages), NA, 1L)))
  }
  cut(ages, breaks, include.lowest = TRUE)
}

plot_attribute_curve <- function(curve, ages, fit, name, bins) {
  colour <- "#0072B2"
  graphics::plot(
    NA, xlim = rev(range(curve$age)), ylim = c(0, max(curve$upper, curve$recorded, 0.05, na.rm = TRUE)), xlab = "age",
    ylab = "chance of presence", main = name, font.main = 3L, cex.main = 1, bty = "l"
  )
  graphics::polygon(
    c(curve$age, rev(curve$age)), c(curve$lower, rev(curve$upper)), border = NA,
    col = grDevices::adjustcolor(colour, 0.25)
  )
  graphics::lines(curve$age, curve$present, col = colour, lwd = 2)
  if (is.null(fit$x)) {
    return(invisible())
  }
  at <- if (is.null(fit$names[[2L]])) as.integer(name) else match(name, fit$names[[2L]])
  found <- as.vector(dense_rows(fit$x[, at, drop = FALSE], seq_along(ages)))
  share <- tapply(found, bins, mean, na.rm = TRUE)
  graphics::points(tapply(ages, bins, mean), share, pch = 16L, cex = 0.8, col = "grey30")
}

# Sites on longitude and latitude, a panel for each slice of age, coloured by their main content component; the fainter,
# the smaller its share.
plot_map <- function(fit, slices, main) {
  place <- fit$smooth$given$place
  if (is.null(place)) {
    stop_input("`x` must be made with the places of its observations, `smooth = smooth_over(place = )`.")
  }
  free <- free_components(fit)
  composition <- composition_of(fit)
  best <- max.col(composition, ties.method = "first")
  share <- composition[cbind(seq_along(best), best)]
  colours <- component_colours(fit$dims[["k"]])[free]
  slice <- age_slices(fit, slices)
  local_par(mfrow = grDevices::n2mfrow(nlevels(slice) + 1L), mar = c(3.4, 3.6, 2, 0.6), mgp = c(2.2, 0.6, 0), las = 1L)
  known <- !is.na(rowSums(place))
  for (level in levels(slice)) {
    mine <- which(slice == level & known)
    graphics::plot(
      NA, xlim = range(place[known, 1L]), ylim = range(place[known, 2L]), xlab = "longitude", ylab = "latitude",
      asp = 1 / cos(mean(range(place[known, 2L])) * pi / 180), main = level
    )
    graphics::points(
      place[mine, 1L], place[mine, 2L], pch = 21L, cex = 1.1, col = "grey40",
      bg = mapply(grDevices::adjustcolor, colours[best[mine]], 0.15 + 0.85 * share[mine])
    )
  }
  graphics::plot.new()
  graphics::legend(
    "center", colnames(composition), pt.bg = colours, pch = 21L, bty = "n", ncol = ceiling(sum(free) / 12),
    title = if (is.null(main)) "Main aspect of each site" else main
  )
}

# Slices of about equally many sites, oldest first; one where ages are unknown to the fit.
age_slices <- function(fit, slices) {
  if (is.null(fit$smooth$given$age)) {
    return(factor(rep("all sites", fit$dims[["n"]])))
  }
  ages <- smooth_ages(fit)
  breaks <- unique(stats::quantile(ages, seq(0, 1, length.out = slices + 1L), na.rm = TRUE, names = FALSE))
  if (length(breaks) < 2L) {
    return(factor(ifelse(is.na(ages), "age unknown", "one age")))
  }
  bound <- format(breaks, digits = 4L, trim = TRUE)
  label <- sprintf("age %s to %s", bound[-1L], bound[-length(bound)])
  out <- label[findInterval(ages, breaks, rightmost.closed = TRUE)]
  out[is.na(out)] <- "age unknown"
  factor(out, c(rev(label), if (anyNA(ages)) "age unknown"))
}
