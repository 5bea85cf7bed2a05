# The plot of what = "curves": component shares above, attributes below, with the data.

smooth_view <- function(fit, what, attribute, slices, main) {
  check_fit(fit, smooth_models, "x")
  if (what == "curves") {
    return(new_view("curves", main, fit = fit, attribute = attribute))
  }
  new_view("map", main, fit = fit, slices = check_count(slices, "slices"))
}

plot_curves <- function(fit, attribute, main) {
  ages <- smooth_ages(fit)
  if (is.null(attribute)) attribute <- telling_attributes(fit)
  attribute <- pick(attribute, fit$dims[["m"]], fit$names[[2L]], "attribute")
  shown <- curves(fit, attribute = attribute)
  rows <- ceiling(length(attribute) / 3)
  columns <- min(3L, length(attribute))
  local_par(mar = c(3.6, 4.4, 2, 0.8), mgp = c(2.3, 0.7, 0), mfrow = c(1L, 1L), las = 1L)
  panels <- matrix(seq_len(rows * columns) + 1L, rows, columns, byrow = TRUE)
  graphics::layout(rbind(rep(1L, columns), panels), heights = c(1.25, rep(1, rows)))
  on.exit(graphics::layout(1), add = TRUE)
  plot_component_curves(fit, ages, if (is.null(main)) "Share of each component's community through time" else main)
  bins <- age_bins(ages)
  for (name in unique(shown$attribute)) {
    plot_attribute_curve(shown[shown$attribute == name, ], ages, fit, name, bins)
  }
}

# Six attributes whose chance of presence changes most through time, and each in its own way: one after the other, the
# one with most change that those before it do not share.
telling_attributes <- function(fit, n = 6L) {
  range <- range(smooth_ages(fit), na.rm = TRUE)
  all <- curves(fit, at = seq(range[1L], range[2L], length.out = 24L))
  present <- matrix(all[[curve_value(fit)]], nrow = 24L)
  left <- sweep(present, 2L, colMeans(present))
  change <- sqrt(colSums(left^2))
  chosen <- integer()
  for (i in seq_len(min(n, ncol(present)))) {
    alike <- vapply(chosen, function(j) colSums(left * left[, j]) / (change * change[j] + 1e-300), numeric(ncol(left)))
    worth <- change * (1 - apply(cbind(0, alike), 1L, max)^2)
    worth[chosen] <- -1
    chosen <- c(chosen, which.max(worth))
  }
  # In order of when they were most likely, oldest first.
  chosen[order(-max.col(t(present[, chosen, drop = FALSE]), ties.method = "first"))]
}

# A component's name with the attribute that tells it best from the rest of the table.
component_tags <- function(fit) {
  component <- content_components(fit)
  names <- component_names(fit$dims[["k"]])[free_components(fit)]
  if (is.null(fit$names[[2L]])) {
    return(names)
  }
  excess <- sweep(component, 2L, colSums(composition_of(fit) %*% component) / fit$dims[["n"]])
  sprintf("%s %s", names, fit$names[[2L]][max.col(unname(excess), ties.method = "first")])
}

# Colours of the components that are not pinned.
content_colours <- function(fit) component_colours(fit$dims[["k"]])[free_components(fit)]

plot_component_curves <- function(fit, ages, main) {
  shares <- curves(fit, "component")
  names <- unique(shares$component)
  heights <- matrix(shares$share, ncol = length(names))
  age <- unique(shares$age)
  below <- cbind(0, heights)
  for (i in seq_along(names)) below[, i + 1L] <- below[, i] + heights[, i]
  colours <- content_colours(fit)
  graphics::plot(
    NA, xlim = rev(range(age)), ylim = c(0, 1), xaxs = "i", yaxs = "i", xlab = "age (older to the left)",
    ylab = "share", main = main
  )
  for (i in seq_along(names)) {
    edge <- c(below[, i], rev(below[, i + 1L]))
    graphics::polygon(c(age, rev(age)), edge, col = colours[i], border = "white", lwd = 0.8)
  }
  tags <- component_tags(fit)
  for (i in seq_along(names)) label_band(age, below[, i], heights[, i], tags[i], names[i], colours[i])
  graphics::rug(ages, quiet = TRUE)
}

# The longer of two labels that fits where the band is thickest; none in a thin band.
label_band <- function(age, below, height, long, short, colour) {
  at <- which.max(height * (abs(seq_along(age) - length(age) / 2) < 0.47 * length(age)))
  if (height[at] < 1.3 * graphics::strheight(short, cex = 0.8)) {
    return(invisible())
  }
  thick <- range(age[height > 0.4 * height[at] & abs(age - age[at]) < diff(range(age)) / 3])
  limits <- range(age)
  for (label in unique(c(long, short))) {
    wide <- abs(graphics::strwidth(label, cex = 0.8))
    x <- min(max(age[at], limits[1L] + 0.55 * wide), limits[2L] - 0.55 * wide)
    if (wide < diff(thick) || label == short) break
  }
  y <- stats::approx(age, below + height / 2, x)$y
  graphics::text(x, y, label, cex = 0.8, col = text_on(colour))
}

# Black or white, whichever can be read on a colour.
text_on <- function(colour) {
  light <- as.vector(c(0.299, 0.587, 0.114) %*% grDevices::col2rgb(colour)) > 140
  ifelse(light, "black", "white")
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
  value <- curve_value(fit)
  graphics::plot(
    NA, xlim = rev(range(curve$age)), ylim = c(0, max(curve$upper, curve$recorded, 0.05, na.rm = TRUE)), xlab = "age",
    ylab = "", main = name, font.main = 3L, cex.main = 1, bty = "l"
  )
  graphics::title(ylab = c(present = "chance of presence", share = "share of counts")[[value]], line = 3)
  graphics::polygon(
    c(curve$age, rev(curve$age)), c(curve$lower, rev(curve$upper)), border = NA,
    col = grDevices::adjustcolor(colour, 0.25)
  )
  graphics::lines(curve$age, curve[[value]], col = colour, lwd = 2)
  if (is.null(fit$x)) {
    return(invisible())
  }
  at <- if (is.null(fit$names[[2L]])) as.integer(name) else match(name, fit$names[[2L]])
  share <- tapply(as.vector(recorded_values(fit, at)), bins, mean, na.rm = TRUE)
  graphics::points(tapply(ages, bins, mean), share, pch = 21L, cex = 0.9, col = "white", bg = "grey30", lwd = 0.5)
}
