# Figures of smoothed fits: components and taxa through time, and the composition of sites on a map.

# Selects six attributes whose probability of presence changes most through time, one after the other: each has the most
# change that those before it do not share.
telling_attributes <- function(fit, bandwidth, n = 6L) {
  range <- range(smooth_ages(fit), na.rm = TRUE)
  all <- curves(fit, at = seq(range[1L], range[2L], length.out = 24L), bandwidth = bandwidth)
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
  # Ordered by the age at which they are most probable, oldest first.
  peak <- max.col(t(present[, chosen, drop = FALSE]), ties.method = "first")
  chosen[order(if (age_scale(smooth_ages(fit), said_unit("guess", fit$smooth))$forward) peak else -peak)]
}

# Names a component with the attribute that distinguishes it best from the rest of the table.
component_tags <- function(fit) {
  component <- content_components(fit)
  names <- component_names(fit$dims[["k"]])[free_components(fit)]
  if (is.null(fit$names[[2L]])) {
    return(names)
  }
  excess <- sweep(component, 2L, colSums(composition_of(fit) %*% component) / fit$dims[["n"]])
  sprintf("%s %s", names, fit$names[[2L]][max.col(unname(excess), ties.method = "first")])
}

# Returns the colours of the free components.
content_colours <- function(fit) component_colours(fit$dims[["k"]])[free_components(fit)]

# Bins ages in at most a dozen bins of about equal size.
age_bins <- function(ages) {
  breaks <- unique(stats::quantile(ages, seq(0, 1, length.out = 13L), na.rm = TRUE, names = FALSE))
  if (length(breaks) < 2L) {
    return(factor(ifelse(is.na(ages), NA, 1L)))
  }
  cut(ages, breaks, include.lowest = TRUE)
}

# Computes the mean of the recorded values of an attribute in each bin of ages; NULL without the data.
binned_record <- function(fit, taxon, bins) {
  if (!is.null(fit$x)) tapply(as.vector(recorded_values(fit, taxon)), bins, mean, na.rm = TRUE)
}

# Labels each band of a stacked figure at its thickest point, if it is thick enough.
band_labels <- function(shares, tags, colours) {
  heights <- matrix(shares$share, ncol = length(tags))
  age <- shares$age[seq_len(nrow(heights))]
  # The first component is on top.
  above <- heights / 2 + t(apply(heights, 1L, function(row) rev(cumsum(rev(row))) - row))
  inner <- abs(seq_along(age) - length(age) / 2) < 0.35 * length(age)
  at <- apply(heights * inner, 2L, which.max)
  each <- data.frame(
    age = age[at], share = above[cbind(at, seq_along(at))], label = tags, colour = text_on(colours),
    height = heights[cbind(at, seq_along(at))]
  )
  each[each$height > 0.09, ]
}

# Plots components' shares in the first panel, taxa in the others.
curves_figure <- function(fit, taxon) {
  check_fit(fit, smooth_models, "object")
  shares <- curves(fit, "component")
  bandwidth <- attr(shares, "bandwidth") # takes time to choose
  if (is.null(taxon)) taxon <- telling_attributes(fit, bandwidth)
  taxon <- unique(pick(taxon, fit$dims[["m"]], fit$names[[2L]], "taxon"))
  shares <- shares[stats::ave(shares$share, shares$component, FUN = max) > least_piece, ]
  shown <- unique(shares$component)
  tags <- component_tags(fit)[match(shown, component_names(fit$dims[["k"]])[free_components(fit)])]
  colours <- component_colours(fit$dims[["k"]])[match(shown, component_names(fit$dims[["k"]]))]
  shares$component <- factor(shares$component, shown)
  present <- curves(fit, taxon = taxon, bandwidth = bandwidth)
  words <- c(present = "probability of presence", share = "share of counts")[[curve_value(fit)]]
  panels <- c("components", unique(present$taxon))
  shares$panel <- factor(panels[1L], panels)
  present$panel <- factor(present$taxon, panels)
  bands <- band_labels(shares, shown, colours)
  bands$panel <- factor(rep(panels[1L], nrow(bands)), panels)
  new_figure(
    shares, gg_aes(x = "age"), curves_title(shares, tags, smooth_ages(fit), said_unit("guess", fit$smooth)),
    sprintf("Curves: each component's share of the %s, and the %s of %d %s, through time.", axis_words(fit)[1L], words,
      length(taxon), axis_words(fit)[2L]), subtitle = sprintf("%s (line), on record (points)", capital(words))
  ) + ggplot2::geom_area(gg_aes(y = "share", fill = "component"), colour = "white", linewidth = 0.3) +
    ggplot2::geom_text(gg_aes(y = "share", label = "label"), bands, colour = bands$colour, size = 2.6,
      check_overlap = TRUE) +
    ggplot2::geom_ribbon(gg_aes(ymin = "lower", ymax = "upper"), present, alpha = 0.25, fill = component_colours(1L)) +
    ggplot2::geom_line(gg_aes(y = curve_value(fit)), present, colour = component_colours(1L)) +
    ggplot2::geom_point(gg_aes(y = "share"), recorded_bins(fit, taxon, panels), size = 0.8) +
    ggplot2::facet_wrap("panel", scales = "free_y") + time_axis(
      smooth_ages(fit), said_unit("guess", fit$smooth), across = 3L
    ) + few_numbers("y") +
    colour_scale(stats::setNames(colours, shown), labels = tags) + ggplot2::expand_limits(y = 0)
}

# The main components of the oldest and of the youngest age.
curves_title <- function(shares, tags, ages, unit) {
  ago <- years_ago(shares$age, unit)
  main <- vapply(c(max(ago), min(ago)), function(end) {
    mine <- shares[ago == end, ]
    tags[match(mine$component[which.max(mine$share)], levels(shares$component))]
  }, "")
  if (main[1L] == main[2L]) sprintf("%s is the main component throughout", main[1L]) else
    sprintf("From %s to %s: main components", main[1L], main[2L])
}

# The share of sites with a record of each attribute in bins of age; no rows without the data.
recorded_bins <- function(fit, taxon, panels) {
  if (is.null(fit$x)) {
    return(data.frame(panel = factor(character(), panels), age = numeric(), share = numeric()))
  }
  ages <- smooth_ages(fit)
  bins <- age_bins(ages)
  middle <- as.vector(tapply(ages, bins, mean))
  do.call(rbind, Map(function(at, name) {
    data.frame(panel = factor(name, panels), age = middle, share = as.vector(binned_record(fit, at, bins)))
  }, taxon, panels[-1L]))
}

# Returns limits to the east and to the north with a margin, for a single place, too; and the ratio of a unit east to a
# unit north in the middle of the map.
map_limits <- function(place) {
  plane <- is_plane(place)
  east <- range(place[, 1L])
  north <- range(place[, 2L])
  least <- if (plane) 0.03 * max(diff(east), diff(north), 1e-9) else 0.5
  widen <- function(range) range + c(-1, 1) * max(0.06 * diff(range), least)
  list(
    lon = widen(east), lat = widen(north), ratio = if (plane) 1 else max(cos(mean(north) * pi / 180), 0.05)
  )
}

# Joins places on both sides of the date line: if half of the globe holds all of them, and a map from 180 W to 180 E
# would separate them, longitudes of the western ones continue beyond 180.
one_piece <- function(place) {
  east <- sort(unique(place[, 1L]))
  gap <- diff(east)
  if (is_plane(place) || !any(gap > 180)) {
    return(place)
  }
  west <- which(place[, 1L] <= east[which.max(gap)])
  place[west, 1L] <- place[west, 1L] + 360
  place
}

# Returns the coast of the world, twice if the map extends beyond 180 E: lon, lat, NA between lines. NULL without
# package maps.
world_coast <- function(east) {
  if (!requireNamespace("maps", quietly = TRUE)) {
    return(NULL)
  }
  line <- maps::map("world", interior = FALSE, plot = FALSE)
  once <- data.frame(lon = c(line$x, NA), lat = c(line$y, NA))
  if (max(east) > 180) rbind(once, data.frame(lon = once$lon + 360, lat = once$lat)) else once
}

# Which places are in the smallest map that shows nine tenths of them; all, where that would not be much smaller.
within_frame <- function(place) {
  cut <- expand.grid(rep(list(seq(0, 0.1, 0.02)), 4L))
  cut <- as.matrix(cut[rowSums(cut) < 0.101, ])
  end <- function(side, share) stats::quantile(place[, side], share, names = FALSE, type = 1L)
  box <- cbind(end(1L, cut[, 1L]), end(1L, 1 - cut[, 2L]), end(2L, cut[, 3L]), end(2L, 1 - cut[, 4L]))
  margin <- 0.02 * max(box[1L, 2L] - box[1L, 1L], box[1L, 4L] - box[1L, 3L]) # sites on a line have no area
  area <- (box[, 2L] - box[, 1L] + margin) * (box[, 4L] - box[, 3L] + margin)
  best <- which.min(area)
  best <- box[if (area[best] < 0.4 * area[1L]) best else 1L, ]
  place[, 1L] >= best[1L] & place[, 1L] <= best[2L] & place[, 2L] >= best[3L] & place[, 2L] <= best[4L]
}

# Counts the places beyond each edge of a map.
beyond_frame <- function(place, limits) {
  over <- cbind(
    limits$lon[1L] - place[, 1L], place[, 1L] - limits$lon[2L], limits$lat[1L] - place[, 2L],
    place[, 2L] - limits$lat[2L]
  )
  number <- tabulate(max.col(over, "first"), 4L)
  edges <- data.frame(
    lon = c(limits$lon, rep(mean(limits$lon), 2L)), lat = c(rep(mean(limits$lat), 2L), limits$lat),
    label = sprintf("+%d", number), across = c(0, 1, 0.5, 0.5), up = c(0.5, 0.5, 0, 1)
  )
  ggplot2::geom_text(
    gg_aes(x = "lon", y = "lat", label = "label", hjust = "across", vjust = "up"), edges[number > 0, ], size = 3,
    fontface = "bold", inherit.aes = FALSE
  )
}

# Assigns places to points: places so near each other that they would overlap share one.
joined_sites <- function(place, limits, near = 0.045 * max(diff(limits$lon) * limits$ratio, diff(limits$lat))) {
  at <- cbind(place[, 1L] * limits$ratio, place[, 2L])
  spot <- apply(round(at / near * 4), 1L, paste, collapse = " ") # few enough for all distances between them
  spot <- match(spot, unique(spot))
  if (max(spot) == 1L) {
    return(spot)
  }
  middle <- rowsum(at, spot) / tabulate(spot)
  unname(stats::cutree(stats::hclust(stats::dist(middle), "average"), h = near))[spot]
}

# Returns polygons of a coast: lon, lat, group.
read_coast <- function(coast) {
  if (inherits(coast, c("sf", "sfc"))) {
    rings_of <- function(shape) {
      if (is.matrix(shape)) list(shape) else unlist(lapply(shape, rings_of), recursive = FALSE)
    }
    rings <- rings_of(unclass(sf_shapes(coast)))
    coast <- do.call(rbind, lapply(seq_along(rings), function(i) {
      data.frame(lng = rings[[i]][, 1L], lat = rings[[i]][, 2L], group = i)
    }))
  }
  lon <- intersect(c("lng", "lon", "long"), names(coast))[1L]
  known <- is.data.frame(coast) && !is.na(lon) && all(c("lat", "group") %in% names(coast))
  if (!known || !is.numeric(coast[[lon]]) || !is.numeric(coast$lat)) {
    stop_input(
      "`coast` must be polygons of package sf, or a data frame with \"lng\", \"lat\" and \"group\", not %s.",
      show_value(coast)
    )
  }
  data.frame(lon = coast[[lon]], lat = coast$lat, group = coast$group)
}

# Draws the coast of a map: today's, from package maps, or the user's.
coast_layers <- function(coast, east, ages, unit) {
  shape <- if (!is.null(coast)) {
    ggplot2::geom_polygon(
      gg_aes(x = "lon", y = "lat", group = "group"), read_coast(coast), inherit.aes = FALSE, fill = "grey95",
      colour = "grey65", linewidth = 0.3
    )
  } else if (!is.null(line <- world_coast(east))) {
    ggplot2::geom_path(
      gg_aes(x = "lon", y = "lat"), line, inherit.aes = FALSE, colour = "grey65", linewidth = 0.3, na.rm = TRUE
    )
  }
  if (!is.null(shape)) list(shape, ggplot2::labs(caption = coast_caption(coast, ages, unit)))
}

# Names the coast, since old places do not lie on today's coast.
coast_caption <- function(coast, ages, unit) {
  if (!is.null(coast)) {
    return("Coast: as given")
  }
  of_sites <- if (identical(age_scale(ages, unit)$unit, "Ma") && max(ages, na.rm = TRUE) > 5) {
    ends <- vapply(signif(rev(range(ages, na.rm = TRUE)), 3L), format, "")
    sprintf("; the sites are of %s Ma", paste(unique(ends), collapse = " to "))
  }
  paste0("Coast: of today", of_sites)
}

# Starts a map in true proportion, zoomed to the places and whatever else is drawn at them; on the globe with a coast.
map_canvas <- function(place, drawn = NULL, coast = NULL, ages = NULL, unit = "guess") {
  limits <- map_limits(rbind(place, if (length(drawn)) as.matrix(drawn)))
  space <- ggplot2::coord_fixed(1 / map_limits(place)$ratio, limits$lon, limits$lat, expand = FALSE)
  if (is_plane(place)) {
    return(list(
      space, ggplot2::scale_x_continuous(guide = thinned()), ggplot2::scale_y_continuous(guide = thinned()),
      ggplot2::labs(x = "easting", y = "northing")
    ))
  }
  degrees <- function(words) {
    function(at) {
      at <- ifelse(at > 180, at - 360, at)
      sprintf("%g\u00b0%s", abs(at), ifelse(abs(at) %in% c(0, 180), "", words[1L + (at < 0)]))
    }
  }
  within <- function(most) function(limits) Filter(function(at) abs(at) <= most, pretty(limits, 4L))
  list(
    coast_layers(coast, limits$lon, ages, unit), space,
    ggplot2::scale_x_continuous(
      breaks = within(max(180, limits$lon)), labels = function(at) apart_labels(degrees(c("E", "W"))(at), FALSE),
      guide = thinned()
    ),
    ggplot2::scale_y_continuous(breaks = within(90), labels = degrees(c("N", "S")), guide = thinned()),
    ggplot2::labs(x = NULL, y = NULL), ggplot2::theme(plot.caption = ggplot2::element_text(size = 8, colour = "grey25"))
  )
}

map_figure <- function(fit, slices, coast) {
  check_fit(fit, smooth_models, "object")
  place <- fit$smooth$given$place
  if (is.null(place)) {
    stop_input("`object` must be made with the places of its sites, `smooth = smooth_over(place = )`.")
  }
  place <- one_piece(place)
  composition <- composition_of(fit)
  known <- which(!is.na(rowSums(place)))
  slice <- age_slices(fit, slices)
  size <- table(slice[known])
  levels(slice) <- sprintf("%s\n(%d)", levels(slice), as.integer(size[levels(slice)]))
  groups <- split(known, slice[known])
  tags <- component_tags(fit)
  limits <- map_limits(place[known, , drop = FALSE])
  pies <- do.call(rbind, lapply(names(groups)[lengths(groups) > 0L], function(name) {
    at <- groups[[name]]
    cbind(pie_polygons(place[at, , drop = FALSE], composition[at, , drop = FALSE], limits), slice = name)
  }))
  drawn <- seq_along(tags) %in% pies$component
  pies$component <- factor(tags[pies$component], tags)
  pies$slice <- factor(pies$slice, levels(slice))
  sites <- axis_words(fit)[1L]
  new_figure(
    NULL, title = made_title(composition, tags, sites), alt = sprintf(
      "Map: the share of each component in each of %d %s, a panel for each slice of age.", length(known), sites
    ), subtitle = c(
      if (nlevels(slice) > 1L) sprintf("Panels: ages (number of %s)", sites),
      sprintf("Numbers: main component; large: many %s", sites)
    )
  ) + map_canvas(
    place[known, , drop = FALSE], pies[c("x", "y")], coast, if (!is.null(fit$smooth$given$age)) smooth_ages(fit),
    said_unit("guess", fit$smooth)
  ) +
    colour_scale(stats::setNames(content_colours(fit), tags)[drawn]) +
    ggplot2::theme(
      panel.border = ggplot2::element_rect(colour = "grey80", fill = NA),
      strip.text = ggplot2::element_text(size = ggplot2::rel(0.7)) # heads of panels side by side in a small figure
    ) + legend_below() + ggplot2::geom_polygon(
      gg_aes(x = "x", y = "y", fill = "component", group = "piece"), pies, colour = "grey20", linewidth = 0.15
    ) + pie_numbers(pies, tags, content_colours(fit)) +
    if (nlevels(slice) > 1L) {
      # Tall panels stand in one row.
      tall <- diff(limits$lat) > diff(limits$lon) * limits$ratio
      ggplot2::facet_wrap("slice", drop = FALSE, nrow = if (tall && nlevels(slice) < 6L) 1L)
    }
}

# Writes the number of the largest component in each pie, legible without colour.
pie_numbers <- function(pies, tags, colours) {
  main <- pies[pies$main & !duplicated(paste(pies$slice, pies$piece)), ]
  main$number <- sub("^[^0-9]*([0-9]+).*", "\\1", main$component)
  ggplot2::geom_text(
    gg_aes(x = "at_x", y = "at_y", label = "number"), main, colour = text_on(colours[match(main$component, tags)]),
    size = 1.8, check_overlap = TRUE
  )
}

# Returns pies as polygons in units of the map. Pies of sites that would overlap become one, of their mean, larger for
# more sites.
pie_polygons <- function(place, composition, limits) {
  most <- 0.035 * max(diff(limits$lon) * limits$ratio, diff(limits$lat))
  pie <- joined_sites(place, limits, 2 * most)
  size <- tabulate(pie)
  at <- rowsum(place, pie) / size
  composition <- rowsum(composition, pie) / size
  pieces <- lapply(seq_len(nrow(at)), function(i) {
    r <- most * (0.6 + 0.4 * sqrt(size[i] / max(size))) / c(limits$ratio, 1)
    edge <- c(0, cumsum(composition[i, ])) * 2 * pi
    do.call(rbind, lapply(which(composition[i, ] > least_piece), function(c) {
      turn <- seq(edge[c], edge[c + 1L], length.out = max(3L, ceiling(40 * composition[i, c])))
      middle <- composition[i, c] < 0.995
      inward <- if (middle) 0.55 * (1 - max(composition[i, c] - 0.5, 0)) else 0
      half <- (edge[c] + edge[c + 1L]) / 2
      data.frame(
        x = c(if (middle) at[i, 1L], at[i, 1L] + r[1L] * sin(turn)),
        y = c(if (middle) at[i, 2L], at[i, 2L] + r[2L] * cos(turn)), component = c, piece = paste(i, c),
        main = c == which.max(composition[i, ]), at_x = at[i, 1L] + inward * r[1L] * sin(half),
        at_y = at[i, 2L] + inward * r[2L] * cos(half), row.names = NULL
      )
    }))
  })
  do.call(rbind, pieces)
}

# Cuts sites into slices of about equal numbers, oldest first; one slice without ages.
age_slices <- function(fit, slices) {
  if (is.null(fit$smooth$given$age)) {
    return(factor(rep("all ages", fit$dims[["n"]])))
  }
  ages <- smooth_ages(fit)
  breaks <- unique(stats::quantile(ages, seq(0, 1, length.out = slices + 1L), na.rm = TRUE, names = FALSE))
  if (length(breaks) < 2L) {
    return(factor(ifelse(is.na(ages), "age unknown", "one age")))
  }
  bound <- vapply(signif(breaks, 3L), format, "")
  label <- sprintf("%s to %s", bound[-1L], bound[-length(bound)])
  out <- label[findInterval(ages, breaks, rightmost.closed = TRUE)]
  out[is.na(out)] <- "age unknown"
  forward <- age_scale(ages, said_unit("guess", fit$smooth))$forward
  factor(out, c(if (forward) label else rev(label), if (anyNA(ages)) "age unknown"))
}
