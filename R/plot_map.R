# The plot of what = "map": the composition of each site where it lies, a panel for each slice of age.

plot_map <- function(fit, slices, main) {
  place <- fit$smooth$given$place
  if (is.null(place)) {
    stop_input("`x` must be made with the places of its observations, `smooth = smooth_over(place = )`.")
  }
  slice <- age_slices(fit, slices)
  composition <- composition_of(fit)
  known <- !is.na(rowSums(place))
  at <- lapply(stats::setNames(nm = levels(slice)), function(level) which(slice == level & known))
  shape <- grDevices::n2mfrow(nlevels(slice))
  n_panel <- prod(shape)
  local_par(mar = c(2, 2.6, 1.8, 0.4), mgp = c(1.6, 0.4, 0), mfrow = c(1L, 1L), las = 1L, tcl = -0.2, cex.axis = 0.8)
  panels <- rbind(matrix(seq_len(n_panel), shape[1L], shape[2L], byrow = TRUE), rep(n_panel + 1L, shape[2L]))
  drawn <- Reduce(`|`, lapply(at, function(sites) drawn_components(composition[sites, , drop = FALSE])))
  tags <- component_tags(fit)[drawn]
  legend_rows <- ceiling(length(tags) / 4)
  graphics::layout(panels, heights = c(rep(1, shape[1L]), 0.1 + 0.07 * shape[1L] * legend_rows))
  on.exit(graphics::layout(1), add = TRUE)
  limits <- map_limits(place[known, , drop = FALSE])
  for (level in levels(slice)) {
    sites <- at[[level]]
    draw_sites(place[sites, , drop = FALSE], composition[sites, , drop = FALSE], content_colours(fit), limits, level)
  }
  for (empty in seq_len(n_panel - nlevels(slice))) graphics::plot.new()
  graphics::par(mar = c(0, 0, 0, 0))
  graphics::plot.new()
  graphics::legend(
    "center", tags, fill = content_colours(fit)[drawn], border = NA, bty = "n", ncol = min(4L, length(tags)),
    title = if (is.null(main)) "Share of each component in a site's community" else main
  )
}

# Limits of longitude and latitude with a margin, for a single place, too.
map_limits <- function(place) {
  widen <- function(range) range + c(-1, 1) * max(0.06 * diff(range), 0.5)
  list(lon = widen(range(place[, 1L])), lat = widen(range(place[, 2L])))
}

most_pies <- 250L # sites in a panel that are still drawn as pies
least_slice <- 0.005 # share of a component that can be seen

# Which components can be seen in a panel of these sites.
drawn_components <- function(composition) {
  if (nrow(composition) > most_pies) {
    return(seq_len(ncol(composition)) %in% max.col(composition, ties.method = "first"))
  }
  colSums(composition > least_slice) > 0
}

draw_sites <- function(place, composition, colours, limits, title) {
  graphics::plot(
    NA, xlim = limits$lon, ylim = limits$lat, xlab = "", ylab = "",
    asp = 1 / cos(mean(limits$lat) * pi / 180), main = sprintf("%s (%d sites)", title, nrow(place)), cex.main = 1
  )
  graphics::abline(v = graphics::axTicks(1L), h = graphics::axTicks(2L), col = "grey90", lwd = 0.7)
  graphics::box()
  if (!nrow(place)) {
    return(invisible())
  }
  if (nrow(place) > most_pies) {
    main <- max.col(composition, ties.method = "first")
    graphics::points(place, pch = 21L, cex = 0.9, col = "grey30", bg = colours[main], lwd = 0.4)
    return(invisible())
  }
  # All pies together take at most an eighth of the panel.
  radius <- min(0.32 * graphics::par("cin")[2L], sqrt(prod(graphics::par("pin")) / (8 * pi * nrow(place))))
  r <- c(graphics::xinch(radius), graphics::yinch(radius))
  at <- spread_out(place, r)
  graphics::segments(place[, 1L], place[, 2L], at[, 1L], at[, 2L], col = "grey60", lwd = 0.5)
  for (i in seq_len(nrow(at))) draw_pie(at[i, ], r, composition[i, ], colours)
}

# Sites that would cover each other are pushed apart, a little at a time, until none do or time is up.
spread_out <- function(place, radius, rounds = 200L) {
  n <- nrow(place)
  turn <- seq_len(n) * pi * (3 - sqrt(5)) # sites at the same place part in different directions
  x <- place[, 1L] / radius[1L] + 0.01 * cos(turn)
  y <- place[, 2L] / radius[2L] + 0.01 * sin(turn)
  for (round in seq_len(rounds)) {
    dx <- outer(x, x, "-")
    dy <- outer(y, y, "-")
    d <- sqrt(dx^2 + dy^2) + diag(n)
    push <- pmax(2.1 - d, 0) / d / 2
    diag(push) <- 0
    if (!any(push > 0.01)) break
    step <- 2 / pmax(2, rowSums(push > 0))
    x <- x + step * rowSums(push * dx)
    y <- y + step * rowSums(push * dy)
  }
  cbind(x * radius[1L], y * radius[2L])
}

draw_pie <- function(at, radius, share, colours) {
  edge <- c(0, cumsum(share)) * 2 * pi
  for (c in which(share > least_slice)) {
    turn <- seq(edge[c], edge[c + 1L], length.out = max(3L, ceiling(40 * share[c])))
    corner <- if (share[c] < 0.995) at
    graphics::polygon(
      c(corner[1L], at[1L] + radius[1L] * sin(turn)), c(corner[2L], at[2L] + radius[2L] * cos(turn)), col = colours[c],
      border = NA
    )
  }
  turn <- seq(0, 2 * pi, length.out = 41L)
  graphics::lines(at[1L] + radius[1L] * sin(turn), at[2L] + radius[2L] * cos(turn), col = "grey30", lwd = 0.6)
}

# Slices of about equally many sites, oldest first; one where ages are unknown to the fit.
age_slices <- function(fit, slices) {
  if (is.null(fit$smooth$given$age)) {
    return(factor(rep("all ages", fit$dims[["n"]])))
  }
  ages <- smooth_ages(fit)
  breaks <- unique(stats::quantile(ages, seq(0, 1, length.out = slices + 1L), na.rm = TRUE, names = FALSE))
  if (length(breaks) < 2L) {
    return(factor(ifelse(is.na(ages), "age unknown", "one age")))
  }
  bound <- format(breaks, digits = 3L, trim = TRUE)
  label <- sprintf("%s to %s", bound[-1L], bound[-length(bound)])
  out <- label[findInterval(ages, breaks, rightmost.closed = TRUE)]
  out[is.na(out)] <- "age unknown"
  factor(out, c(rev(label), if (anyNA(ages)) "age unknown"))
}
