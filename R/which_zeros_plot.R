# Figures of which_zeros() results.

#' Plot which zeros are false
#'
#' @description
#' Figures of a result of [which_zeros()]: `plot()` draws them, `autoplot()` gives them as ggplot2 objects.
#'
#' @details
#' \describe{
#'   \item{`"zeros"`}{the first zeros of the list, each with `missed` and its interval; if no number is estimated, with
#'     the probability of a record.}
#'   \item{`"heat"`}{sites by taxa: what was found, what was probably missed (the whole interval of `missed` is above
#'     `threshold`), what is undecided (the interval contains `threshold`), and the other zeros. If most zeros are
#'     undecided, `missed` is shown instead. Sites and taxa are in order of age where ages are known, else by their
#'     presences. With 300 sites or more, or with `bins`, the axis has bins of age in place of their names. Of more
#'     than 2 000 sites or taxa, equally spaced ones are drawn.}
#'   \item{`"more"`}{for presence-absence data alone: presences that one to nine surveys of the effort of the table
#'     find, the table being the first, with 90 % intervals for surveys of the same kind and for other years or methods.
#'     Estimates of other evidence stand at the right.}
#'   \item{`"how_many"`}{undetected presences by each evidence that there is, each with its interval and the quantity it
#'     estimates.}
#'   \item{`"surveys"`}{what more surveys found beside the estimate, in 47 surveys that were repeated ([how_many]), with
#'     the 90 % intervals of both classes; the estimate of this table is a line.}
#'   \item{`"ranges"`}{a range chart: for each taxon and bin of time whether it was found, else the probability that it
#'     was missed; low tiles are outside its known range. Numbers at the sides are the largest of these probabilities
#'     in older and in younger bins. Lines show the bounds of the ages of its first and its last presence, where ages
#'     have bounds.}
#'   \item{`"time"`}{the mean number of taxa of a site in each bin of time: presences, and presences plus missed with
#'     its interval, as in [by_site()]; below, the number of sites. With `groups` a panel for each group of sites.}
#'   \item{`"map"`}{sites on a map: the share of undetected presences in all presences, on a scale from the least to the
#'     largest. Sites that would cover each other are one point, whose size shows their number. Where a few sites lie
#'     far from the others the map shows the nine tenths about the middle, and numbers at its edges say how many are
#'     beyond.}
#'   \item{`"sites"`, `"taxa"`}{the sites or taxa of which most was missed, with intervals, beside their presences, as
#'     in [by_site()] and [by_taxon()].}
#'   \item{`"table"`}{the probability of a record of every zero (presences are dark blue), in the order of `"heat"`.}
#'   \item{`"quality"`}{how well held-out presences are ranked, in three panels: ROC curves of the result and of each
#'     simple rule; the share of held-out presences among the first zeros; and the share of held-out presences among
#'     zeros of each probability of a record (90 % interval), beside the expected share.}
#'   \item{`"learners"`}{AUCs of the result, of its learners and of the simple rules, with two standard errors.}
#' }
#' `"ranges"` and `"time"` need `age`, `"map"` needs `place` in the call of [which_zeros()]. A site is in the bin that
#' holds the middle of its age. The probability of a bin in `"ranges"` is that of the site where it is greatest, as in
#' the list of zeros. So the probability that the taxon was anywhere in the bin, or anywhere beyond the end of its
#' range, is at least as great.
#'
#' To test the probabilities at the sides, the presences of the first (the last) bin of a quarter of the taxa were held
#' out in four fossil tables. The AUC of these ends against others was .78; the log loss was .52, that of a constant
#' .60. Of the ends with a probability below .1, 9 % had been held out; from .1 to .25, .25 to .5 and .5 to .75, 25, 47
#' and 56 %; above .75, where probabilities are too high, 53 % (`bench/which_zeros_parts.md`). How many ends are truly
#' missing is not known.
#'
#' @param object a result of [which_zeros()].
#' @param what which figure.
#' @param n how many zeros, sites or taxa.
#' @param ... must be empty.
#' @param taxon for `"ranges"`: names or numbers of taxa; `NULL`: the `n` of which most was missed.
#' @param threshold for `"heat"`: a probability between 0 and 1.
#' @param bins for `"heat"`, `"ranges"` and `"time"`: a width, breaks, or a data frame of intervals with the columns
#'   `max_ma` and `min_ma`, or `max_age` and `min_age`, and perhaps their names (`interval_name` or `name`), as packages
#'   palaeoverse and deeptime have them. `NULL`: the stages in sight where package deeptime is installed, or epochs
#'   where there are more than twenty; else bins of a round width, twenty at most. Sites outside all bins are left out;
#'   the heat map shows them as `outside`.
#' @param groups for `"time"`: the group of each site, as in [by_site()].
#' @param coast for `"map"`: the coast of the age of the sites, from a palaeogeographic map: polygons of package sf in
#'   longitude and latitude, or a data frame with the columns `lng`, `lat` and `group`, a group for each polygon. The
#'   places given to [which_zeros()] must then be those of that age, too. `NULL`: the coast of today, where package maps
#'   is installed; the figure shows which it is.
#' @param unit of ages, such as `"Ma"`, `"ka"`, `"years BP"`, or `"year"` or `"CE"` for years of the calendar, which
#'   count forwards. With `"Ma"` the geological time scale is drawn where package deeptime is installed. `NULL`: none.
#'   `"guess"` takes it from the names of the columns of `age`, such as `max_ma`, `age_ka` or `bp`, as in `age =
#'   data.frame(ka = ages)`. If these name none, whole numbers from 1500 to 2100 are calendar years, and other ages have
#'   no unit.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' ages <- early_tetrapods$sites[c("max_ma", "min_ma")]
#' w <- which_zeros(early_tetrapods$x, age = ages, quick = TRUE, seed = 1)
#' plot(w, n = 15)
#' plot(w, "heat")
#' plot(w, "ranges", n = 12)
#' periods <- data.frame(
#'   name = c("Carboniferous", "Permian"), max_ma = c(359, 299), min_ma = c(299, 252)
#' )
#' plot(w, "time", bins = periods)
#' @name plot.which_zeros
#' @concept heat map
#' @concept range chart
#' @concept rarefaction
#' @concept species accumulation curve
#' @concept ROC curve
#' @aliases autoplot.which_zeros
#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros <- function(object, # nolint: object_name_linter.
                                 what = c(
                                   "zeros", "heat", "more", "how_many", "surveys", "ranges", "time", "map", "sites",
                                   "taxa", "table", "quality", "learners"
                                 ), n = 15, ..., taxon = NULL, threshold = 0.5, bins = NULL, groups = NULL,
                                 coast = NULL, unit = "guess") {
  check_dots(...)
  what <- check_choice(what, "what", eval(formals(autoplot.which_zeros)$what))
  n <- check_count(n, "n")
  threshold <- check_number(threshold, "threshold", 0, 1)
  check_text(unit, "unit", 1L)
  unit <- said_unit(unit, object$inputs$near)
  if (!what %in% c("zeros", "table", "quality", "learners")) need_numbers(object)
  switch(what,
    zeros = zeros_figure(object, n), more = more_figure(object), heat = state_figure(object, threshold, bins, unit),
    ranges = taxon_ranges_figure(object, taxon, n, bins, unit), time = site_time_figure(object, bins, groups, unit),
    map = missed_map_figure(object, coast, unit),
    sites = sums_figure(by_site(object), n, axis_words(object)),
    taxa = sums_figure(by_taxon(object), n, axis_words(object)),
    table = probability_figure(object, unit),
    quality = quality_figure(object),
    how_many = how_many_figure(object), surveys = surveys_figure(object), learners = learners_figure(object)
  )
}

# Titles claim no more than the number: the curve counts what further surveys find, other evidence all that was missed.
two_more_title <- "Two more surveys would find about %s more presences"
gaps_title <- "About %s presences are in gaps, or would be found elsewhere by two more surveys"

# Plots the estimate of each evidence, the one that is used first.
how_many_figure <- function(w) {
  many <- w$how_many
  rows <- data.frame(
    label = sprintf("%s: %s", many$evidence, many$of), value = many$missed, low = many$low, high = many$high
  )
  rows$label <- vapply(strwrap(rows$label, 27, simplify = FALSE), paste, "", collapse = "\n")
  rows$number <- sprintf("%s (%s)", show_count(rows$value), show_ends(rows$low, rows$high))
  ranges_figure(
    rows, sprintf(
      if (w$source != "curve") "About %s presences were not detected" else if (length(w$gaps)) gaps_title else
        two_more_title, show_count(rows$value[1L])
    ),
    sprintf("Points: estimates of how many of the %s zeros are false absences, each with its 90 %% interval.",
      format_big(sum(w$candidate))), "undetected presences", c(value = "estimate"), most = 100L,
    colours = cell_colours[["missed"]], subtitle = "Estimate and 90 % interval by each evidence"
  ) + ggplot2::geom_text(
    gg_aes(x = "middle", y = "label", label = "number"), cbind(rows, middle = (rows$low + rows$high) / 2),
    inherit.aes = FALSE, size = 2.4, vjust = -1.2, na.rm = TRUE
  ) + ggplot2::expand_limits(x = 0) +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = 7, lineheight = 0.85), legend.position = "none")
}

# Plots what further surveys would find, on the axes of rarefaction and extrapolation curves (iNEXT): the table is
# survey 1. Estimates by other evidence stand at the right because they are of other quantities.
more_figure <- function(w) {
  if (w$source != "curve") {
    stop_input(
      "`what = \"more\"` needs a result from presence-absence data alone: this one rests on %s.",
      evidence_words[[w$source]]
    )
  }
  finest <- surveys_curve(
    list(kappa = 0, presences = 1), Inf, exp(seq(0, log(8), length.out = 43L)) # the shape, in multiples of one survey
  )
  scale <- w$more$missed[1L] / finest$missed[1L]
  curve <- rbind(0, finest)
  curve[-1L] <- w$presences + pmin(scale * as.matrix(curve[-1L]), sum(w$candidate))
  curve$surveys <- curve$surveys + 1
  others <- w$how_many[-1L, ]
  others <- others[!is.na(others$missed) & others$evidence != evidence_words$gaps, ]
  bands <- c("of the same kind", "other years or methods")
  band <- function(name, low, high) data.frame(curve["surveys"], low = curve[[low]], high = curve[[high]], band = name)
  ribbon <- list(band(bands[2L], "unlike_low", "unlike_high"), band(bands[1L], "low", "high")) # the wide one below
  two <- w$more[w$more$surveys == 2, ]
  out <- new_figure(
    curve, gg_aes(x = "surveys", y = "missed"),
    sprintf(two_more_title, show_count(two$missed)),
    "Curve: presences found by one to nine surveys of the effort of the table, with 90 % intervals.",
    "surveys of this effort (1: the table)", "presences", "Bands: 90 % intervals of surveys"
  ) + lapply(ribbon, function(each) {
    ggplot2::geom_ribbon(
      gg_aes(x = "surveys", ymin = "low", ymax = "high", fill = "band"), each, inherit.aes = FALSE, alpha = 0.6
    )
  }) + ggplot2::geom_line(colour = "grey15", linewidth = 0.8) +
    ggplot2::geom_point(data = data.frame(surveys = 1, missed = w$presences), size = 2.5, colour = "grey15") +
    ggplot2::scale_fill_manual(
      NULL, values = stats::setNames(unname(cell_colours[c("missed", "undecided")]), bands), breaks = bands
    ) +
    ggplot2::scale_x_continuous(breaks = c(1, 2, 3, 5, 9)) + few_numbers("y", TRUE, 5L)
  if (nrow(others)) {
    others[c("missed", "low", "high")] <- w$presences + others[c("missed", "low", "high")]
    others$at <- 9.6 + 0.5 * (seq_len(nrow(others)) - 1)
    out <- out + ggplot2::geom_pointrange(
      gg_aes(x = "at", y = "missed", ymin = "low", ymax = "high", shape = "evidence"), others, inherit.aes = FALSE,
      size = 0.35, colour = "grey35"
    ) + ggplot2::labs(shape = NULL) +
      ggplot2::guides(shape = ggplot2::guide_legend(ncol = 1L), fill = ggplot2::guide_legend(order = 1L)) +
      ggplot2::theme(legend.box = "vertical", legend.box.just = "left", legend.spacing = ggplot2::unit(0, "pt"))
  }
  out
}

# Plots the validation of such estimates: surveys_checked, with both intervals about the line of equality.
surveys_figure <- function(w) {
  class <- c("of the same kind", "other years or methods")
  table <- surveys_checked
  table$class <- factor(class[2L - table$alike], class)
  mine <- if (w$source == "curve") w$more$missed[w$more$surveys == 2]
  mine <- mine[mine > 0] # the axes are logarithmic
  ends <- range(table$estimated, table$found, mine)
  band <- function(by) {
    factor <- usual_factor[[by]]
    own <- factor(class[1L + (by != "alike")], class)
    data.frame(estimated = ends, low = ends / factor, high = ends * factor, class = own)
  }
  colours <- stats::setNames(unname(cell_colours[c("missed", "undecided")]), class)
  new_figure(
    table, gg_aes(x = "estimated", y = "found"),
    sprintf("%.0f %% of the estimates held, within their 90 %% intervals", 100 * mean(within_band(table))),
    "Points: presences that more surveys found against their estimate, one for each of 54 series of 47 surveys.",
    "presences estimated", "presences found",
    paste0("54 series of 47 surveys; bands: 90 % intervals", if (length(mine)) "; line: this table")
  ) + lapply(c("unlike", "alike"), function(by) {
    ggplot2::geom_ribbon(
      gg_aes(x = "estimated", ymin = "low", ymax = "high", fill = "class"), band(by), inherit.aes = FALSE, alpha = 0.35
    )
  }) + ggplot2::geom_abline(colour = "grey40", linetype = 2L) +
    (if (length(mine)) ggplot2::geom_vline(xintercept = mine, colour = "grey15")) +
    ggplot2::geom_point(gg_aes(fill = "class"), shape = 21L, size = 2, colour = "grey15") +
    ggplot2::scale_fill_manual(NULL, values = colours) + ggplot2::scale_x_log10() + ggplot2::scale_y_log10()
}

# Which of the repeated surveys found a number within the interval of their class.
within_band <- function(table) {
  factor <- usual_factor[ifelse(table$alike, "alike", "unlike")]
  table$found >= table$estimated / factor & table$found <= table$estimated * factor
}

zero_states <- function(w, threshold) {
  out <- matrix(5L, w$dims[["n"]], w$dims[["m"]], dimnames = w$names)
  out[as.matrix(w$x) %in% 1] <- 1L
  scan_zeros(w, function(cells) {
    out[cbind(cells$row, cells$column)] <<- states_of(cells$missed_low, cells$missed_high, threshold)
  }, numbers = wz_missed)
  out
}

# Computes the mean age of the sites at which each taxon was found, NaN if it was at none; found: n x m, logical.
found_ages <- function(found, ages) {
  known <- !is.na(ages)
  colSums(found[known, , drop = FALSE] * ages[known]) / colSums(found[known, , drop = FALSE])
}

# Returns by_site() with `NA` for reference sites.
sites_in_order <- function(w) {
  sums <- by_site(w)
  sums[match(label_of(seq_len(w$dims[["n"]]), w$names[[1L]]), sums$site), ]
}

# Orders sites from the youngest down, taxa from that of the oldest presences on; without ages, most presences first.
# ago: from years_ago().
figure_order <- function(found, ago) {
  list(
    rows = order(if (is.null(ago)) -rowSums(found) else ago),
    columns = order(if (is.null(ago)) -colSums(found) else -found_ages(found, ago))
  )
}

most_drawn <- 2000L # sites or taxa of a heat map: a page has no more rows of dots

# The order of a heat map: of more sites or taxa than a page has dots for, equally spaced ones.
drawn_order <- function(found, ago) {
  lapply(figure_order(found, ago), function(order) {
    if (length(order) <= most_drawn) order else order[round(seq(1, length(order), length.out = most_drawn))]
  })
}

# Numbers of zeros as a heat map of the whole table; presences have the colour that they have where states are shown,
# and 0 is nearly white. value: n x m, NA where nothing is asked; rows, columns: their order.
zeros_heat_figure <- function(w, value, title, legend, unit, subtitle, ylab, axis = NULL) {
  ages <- answer_ages(w)
  found <- array(as.matrix(w$x) %in% 1, dim(w$x))
  at <- drawn_order(found, if (!is.null(ages)) years_ago(ages, unit))
  value[found] <- NA
  dimnames(value) <- w$names
  table <- cell_frame(value[at$rows, at$columns, drop = FALSE])
  table$row <- factor(table$row, rev(levels(table$row)))
  table$kind <- "found"
  words <- axis_words(w)
  new_figure(
    table, gg_aes(x = "column", y = "row", fill = "value"), title,
    sprintf("Heat map of %d %s by %d %s: %s.", w$dims[["n"]], words[1L], w$dims[["m"]], words[2L], legend),
    words[2L], ylab, subtitle
  ) + ggplot2::geom_raster() +
    ggplot2::geom_tile(
      gg_aes(x = "column", y = "row", alpha = "kind"), table[as.vector(found[at$rows, at$columns]), ],
      inherit.aes = FALSE, fill = cell_colours[["found"]]
    ) + ggplot2::scale_alpha_manual(NULL, values = c(found = 1)) +
    fill_scale(c(0, 1), unname(cell_colours[c("absent", "undecided", "missed")]), legend, breaks = c(0, 0.5, 1)) +
    no_grid() + names_axis("x", length(at$columns), in_italics(words[2L]), most = 18L) + legend_right() +
    (axis %||% names_axis("y", length(at$rows))) +
    ggplot2::theme(panel.border = ggplot2::element_rect(colour = "grey60", fill = NA))
}

probability_figure <- function(w, unit) {
  p <- w$probability
  p[!w$candidate] <- NA
  zeros_heat_figure(
    w, p, sprintf("%.0f %% of the zeros have a probability of a record below .05", 100 * mean(p < 0.05, na.rm = TRUE)),
    "probability of a record", unit, heat_order_words(w), axis_words(w)[1L]
  )
}

heat_order_words <- function(w) {
  words <- axis_words(w)
  order <- if (is.null(answer_ages(w))) "By number of presences" else
    sprintf("Youngest %s on top, oldest %s left", words[1L], words[2L])
  thinned <- which(w$dims[c("n", "m")] > most_drawn)
  some <- sprintf("; %s of %s %s", format_big(most_drawn), format_big(w$dims[thinned]), words[thinned])
  paste0(c(order, some, if (length(thinned)) ", equally spaced"), collapse = "")
}

state_figure <- function(w, threshold, bins, unit) {
  state <- zero_states(w, threshold)
  title <- state_title(state)
  given <- answer_ages(w)
  ages <- if (!is.null(given)) years_ago(given, unit)
  words <- axis_words(w)
  found <- state == 1L
  at <- drawn_order(found, ages)
  table <- cell_frame(state[at$rows, at$columns, drop = FALSE])
  table$value <- factor(cell_states[table$value], cell_states)
  table$row <- factor(table$row, rev(levels(table$row)))
  colours <- stats::setNames(cell_colours, cell_states)
  binned <- !is.null(ages) && (nrow(state) >= 300L || !is.null(bins))
  axis <- if (binned) binned_axis(given[at$rows], time_bins(bins, given, unit), rev(levels(table$row)))
  subtitle <- paste0(heat_order_words(w), if (binned) sprintf(". Height of a bin: its number of %s", words[1L]))
  ylab <- if (binned) age_words(age_scale(given, unit)) else words[1L]
  asked <- state %in% 2:4
  if (mean(state[asked] == 3L) > 0.5) {
    # A map of one colour would not report anything.
    value <- matrix(NA_real_, nrow(state), ncol(state))
    scan_zeros(w, function(cells) value[cbind(cells$row, cells$column)] <<- cells$missed)
    return(zeros_heat_figure(w, value, title, missed_event(w), unit, subtitle, ylab, axis))
  }
  new_figure(
    table, gg_aes(x = "column", y = "row", fill = "value"), title,
    sprintf(
      "Heat map of %d %s by %d %s: %s.", w$dims[["n"]], words[1L], w$dims[["m"]], words[2L],
      paste(tabulate(state, 5L)[1:4], cell_states[1:4], collapse = ", ")
    ), words[2L],
    ylab,
    subtitle
  ) + ggplot2::geom_raster() + colour_scale(colours[unique(as.character(sort(table$value)))]) + no_grid() +
    names_axis("x", length(at$columns), in_italics(words[2L]), most = 18L) + legend_right() +
    (axis %||% names_axis("y", length(at$rows))) + ggplot2::theme(legend.key = ggplot2::element_rect(colour = "grey60"))
}

state_title <- function(state) {
  number <- format_big(sum(state == 2L))
  zeros <- if (number == "1") "zero is a" else "zeros are"
  presences <- if (number == "1") "presence" else "presences"
  sprintf("%s %s probable undetected %s, %s undecided", number, zeros, presences, format_big(sum(state == 3L)))
}

missed_map_figure <- function(w, coast, unit) {
  place <- w$inputs$near$given$place
  if (is.null(place)) stop_input("`what = \"map\"` needs the places of the sites: which_zeros(place = ).")
  sums <- sites_in_order(w)
  known <- which(!is.na(rowSums(place) + sums$missed))
  place <- one_piece(place)[known, , drop = FALSE]
  sums <- sums[known, ]
  words <- axis_words(w)
  core <- place[within_frame(place), , drop = FALSE]
  limits <- map_limits(core)
  inside <- place[, 1L] >= limits$lon[1L] & place[, 1L] <= limits$lon[2L] & place[, 2L] >= limits$lat[1L] &
    place[, 2L] <= limits$lat[2L]
  seen <- place[inside, , drop = FALSE]
  point <- joined_sites(seen, limits)
  each <- function(value, f = sum) as.vector(tapply(value, point, f))
  sums$there <- sums$missed + sums$presences
  of_all <- sum(sums$missed) / max(sum(sums$there), 1e-12)
  sums <- sums[inside, ]
  table <- data.frame(
    lon = each(seen[, 1L], mean), lat = each(seen[, 2L], mean), missed = each(sums$missed),
    share = each(sums$missed) / pmax(each(sums$there), 1e-12), sites = tabulate(point)
  )
  range <- range(table$share)
  # Shares that hardly differ have the middle of their colours.
  limits_of <- range + c(-1, 1) * max(0, 0.02 - diff(range)) / 2
  joined <- nrow(table) < nrow(seen)
  size <- list(breaks = function(limits) {
    Filter(function(at) at > 0 && at <= limits[2L], whole_breaks(c(0, limits[2L]), 3L))
  })
  new_figure(
    table[order(-table$sites), ], gg_aes(x = "lon", y = "lat"),
    sprintf(
      if (w$source == "curve") "After two more surveys %.0f %% of the presences at the %s would be new" else
        "%.0f %% of the presences at the %s were not detected", 100 * of_all, words[1L]
    ),
    sprintf("Map of %d %s: the share of all presences that was not detected.", nrow(place), words[1L]),
    subtitle = capital(paste(c(
      wz_words[[w$source]], if (joined) sprintf("circles join %s", words[1L]),
      if (!all(inside)) sprintf("+: %s beyond the edge", words[1L])
    ), collapse = "; "))
  ) + map_canvas(core, NULL, coast, answer_ages(w), unit) + ggplot2::geom_point(
    gg_aes(size = "sites", fill = "share"), shape = 21L, colour = "grey25", stroke = 0.3, alpha = 0.85
  ) + (if (!all(inside)) beyond_frame(place[!inside, , drop = FALSE], limits)) +
    ggplot2::scale_size_area(if (joined) words[1L] else NULL, max_size = if (joined) 6 else 3, breaks = size$breaks,
      guide = if (joined) ggplot2::guide_legend(title.position = "top") else "none") +
    fill_scale(limits_of, unname(cell_colours[c("absent", "undecided", "missed")]), "share undetected",
      n.breaks = 4L) +
    ggplot2::guides(fill = ggplot2::guide_colourbar(title.position = "top", barwidth = 6, barheight = 0.4)) +
    legend_below()
}

# Short names of simple rules: five fit in a legend 4 inches wide.
rule_words <- c(
  near = "neighbours", near_alike = "similar neighbours", alike = "similar sites", companions = "companions"
)

# Plots the means over copies that print() shows.
quality_figure <- function(w) {
  curve <- w$curve
  curve$summary[c("auc", "ap")] <- w$quality["stack", c("auc", "ap")]
  rules <- curve$rules
  recovery_figure(
    curve, sprintf("A held-out presence outranks other zeros with probability %.2f", curve$summary$auc),
    "held-out presences", "probability of a record",
    stats::setNames(rules, unname(rule_words[names(rules)]))
  )
}

learners_figure <- function(w) {
  q <- w$quality
  name <- q$learner
  best <- name[which.max(q$auc)]
  wrapped <- vapply(name, function(one) paste(strwrap(one, 24), collapse = "\n"), "")
  low <- q$auc - 2 * q$auc_se
  ranges_figure(
    data.frame(label = wrapped, value = q$auc, low, high = pmin(q$auc + 2 * q$auc_se, 1), other = q$auc_within),
    sprintf("%s ranks held-out presences best", capital(best)),
    "Points: AUC over held-out presences, of the result and of each of its learners.", "AUC",
    c(value = "AUC, 2 SE", other = sprintf("within %s", axis_words(w)[1L])),
    c(NA, NA), most = 60L, subtitle = "AUC: how often a held-out presence outranks another zero"
  ) + ggplot2::theme(axis.text.y = ggplot2::element_text(size = 6.5, lineheight = 0.85))
}

zeros_figure <- function(w, n) {
  cells <- as.data.frame(w, n = n)
  cut <- short_labels(16L)
  rows <- data.frame(
    label = make.unique(sprintf("%s, %s", cut(as.character(cells$taxon)), cut(as.character(cells$site)))),
    value = cells$missed, low = cells$missed_low, high = cells$missed_high
  )
  event <- if (is.null(w$reason)) missed_event(w) else "record"
  words <- c(value = if (is.null(w$reason)) paste0(event, ", with 90 % interval") else "probability of a record")
  if (!is.null(w$reason)) rows[c("value", "low", "high")] <- cells$probability
  ranges_figure(
    rows, zeros_title(rows$value, event), sprintf(
      "Points: the probability of each of the first %s, with its interval.", count_words(nrow(cells), "zero")
    ),
    "probability", words, c(NA, 1), most = 60L, colours = cell_colours[["missed"]]
  ) + ggplot2::theme(axis.text.y = ggplot2::element_text(size = 6))
}

zeros_title <- function(value, event) {
  ends <- unique(sprintf("%.2f", range(value)))
  first <- count_words(length(value), "zero")
  sprintf("The first %s: %s with probability %s", first, event, paste(ends, collapse = " to "))
}

sums_figure <- function(sums, n, words = c("sites", "taxa")) {
  of <- c(intersect(names(sums), c("site", "taxon", "group")), "site")[1L]
  need_drawn_columns(sums, c(of, "missed", "presences"))
  if (!any(!is.na(sums$missed))) stop_input("`object` has no numbers of undetected presences to draw.")
  has_range <- all(c("low", "high") %in% names(sums)) # those of a fit without draws have none
  if (!has_range) sums[c("low", "high")] <- sums$missed
  shown <- utils::head(in_shown_order(sums), n)
  many <- c(site = words[1L], taxon = words[2L], group = "groups")[[of]]
  assumed <- attr(sums, "assumption")
  most <- which.max(sums$missed)
  level <- format(100 * (attr(sums, "level") %||% 0.9))
  ranges_figure(
    data.frame(label = as.character(shown[[of]]), value = shown$missed, low = shown$low, high = shown$high,
      other = shown$presences),
    sums_title(as.character(sums[[of]][most]), sums$missed[most],
      c(site = words[1L], taxon = words[2L], group = "group")[[of]]),
    sprintf("Points: the %s with most undetected presences,%s and what was found there.", many,
      if (has_range) " with its range," else ""),
    sprintf("%s, found or expected undetected", c(site = words[2L], taxon = words[1L], group = "presences")[[of]]),
    c(value = if (has_range) sprintf("undetected, %s %% interval", level) else "undetected", other = "found"),
    taxa = of == "taxon" && in_italics(words[2L]), most = 20L,
    colours = unname(cell_colours[c("missed", "found")]),
    subtitle = paste(c(
      if (!is.null(assumed)) capital(assumed), if (of != "group") "most undetected on top"
    ), collapse = "; ")
  )
}

# Where most presences are undetected; a number alone is no name.
sums_title <- function(name, missed, words) {
  if (reads_as_number(name)) name <- paste(capital(singular_word(words)), name)
  sprintf("%s: most undetected presences, about %s", short_labels(22L)(name), show_count(missed))
}

# nolint start: object_name_linter.

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_sums <- function(object, n = 15, ...) {
  check_dots(...)
  sums_figure(object, check_count(n, "n"), attr(object, "words") %||% c("sites", "taxa"))
}

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_contrast <- function(object, ...) {
  check_dots(...)
  need_drawn_columns(object, c("group", "other", "difference", "low", "high"))
  of <- c(share = "share undetected", missed = "undetected presences",
    richness = "taxa per site, undetected ones added")
  apart <- sum(object$low > 0 | object$high < 0, na.rm = TRUE)
  label <- sprintf("%s minus %s", interval_words(object$group), interval_words(object$other))
  label <- vapply(strwrap(label, 26, simplify = FALSE), paste, "", collapse = "\n")
  ranges_figure(
    data.frame(label = label, value = object$difference, low = object$low, high = object$high),
    sprintf("%d of %s of groups %s", apart, count_words(nrow(object), "pair"),
      if (apart == 1L) "differs" else "differ"),
    "Points: the difference of each pair of groups, with its 90 % interval.",
    sprintf("difference: %s", of[[attr(object, "of")]]), c(value = "difference, 90 % interval"), NULL,
    most = 60L, subtitle = if (!is.null(attr(object, "assumption"))) capital(attr(object, "assumption"))
  ) + ggplot2::geom_vline(xintercept = 0, linetype = 2L, colour = "grey40") +
    ggplot2::theme(axis.text.y = ggplot2::element_text(lineheight = 0.85))
}

# Groups that cut() made, as people write intervals: "240-252" for "(240,252]".
interval_words <- function(group) {
  number <- "(-?[0-9.]+(?:e[-+]?[0-9]+)?)"
  sub(sprintf("^[[(]%s,%s[])]$", number, number), "\\1-\\2", as.character(group), perl = TRUE)
}

#' @exportS3Method ggplot2::autoplot
autoplot.zero_explained <- function(object, ...) {
  check_dots(...)
  cell <- object$cell
  panels <- c("contribution to the log-odds", "neighbours: weight", "companions: share with it")
  part <- function(panel, label, value, speaks) {
    data.frame(panel = factor(rep(panels[panel], length(label)), panels), label = as.character(label), value, speaks)
  }
  near <- utils::head(object$neighbours, object$n)
  with <- utils::head(object$companions, object$n)
  score <- if (!is.null(object$score)) few_parts(object$score, object$n)
  bars <- rbind(
    if (!is.null(score)) part(1L, score$part, score$log_odds, score$log_odds > 0),
    part(2L, near$site, near$weight, near$found), part(3L, with$taxon, with$share, with$share > with$rate)
  )
  bars$speaks <- factor(ifelse(bars$speaks, "for a presence", "against"), c("for a presence", "against"))
  bars$number <- ifelse(bars$panel == panels[1L], sprintf("%+.1f", bars$value), sprintf("%.2f", bars$value))
  bars$key <- factor(seq_len(nrow(bars)), rev(seq_len(nrow(bars))))
  cut <- short_labels(35L)
  new_figure(
    bars, gg_aes(x = "value", y = "key", fill = "speaks"), explained_title(cell, object$event),
    sprintf("Bars: what speaks for and against %s at %s: learners, neighbours, companions.", cell$taxon, cell$site),
    subtitle = if (!is.na(cell$missed)) sprintf(
      "90 %% interval %.2f to %.2f; probability of a record %.2f", cell$missed_low, cell$missed_high, cell$probability
    )
  ) + ggplot2::geom_col(width = 0.75, colour = "grey25", linewidth = 0.2) +
    ggplot2::geom_text(gg_aes(x = "foot", label = "number"), cbind(bars, foot = pmax(bars$value, 0)), size = 2,
      hjust = -0.2) +
    ggplot2::facet_wrap("panel", scales = "free", ncol = 1L) +
    ggplot2::scale_y_discrete(
      labels = function(key) apart_labels(cut(bars$label[as.integer(key)])), guide = thinned()
    ) +
    colour_scale(stats::setNames(cell_colours[c("missed", "unknown")], levels(bars$speaks))) +
    # Numbers stand at the bars.
    ggplot2::scale_x_continuous(breaks = NULL, expand = ggplot2::expansion(mult = c(0.02, 0.2))) +
    # so low that no name is left out in one column
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(size = 5.6, lineheight = apart_height),
      legend.margin = ggplot2::margin(), axis.title = ggplot2::element_blank(),
      strip.text = ggplot2::element_text(size = 7, margin = ggplot2::margin(1, 0, 1, 0)),
      panel.spacing.y = ggplot2::unit(1, "pt")
    )
}

explained_title <- function(cell, event) {
  cut <- short_labels(26L)
  what <- if (is.na(cell$missed)) sprintf("recorded with probability %.2f", cell$probability) else
    sprintf("%s with probability %.2f", event, cell$missed)
  sprintf("%s at %s: %s", cut(as.character(cell$taxon)), cut(as.character(cell$site)), what)
}

# The smallest of more than n parts are one: what they say together.
few_parts <- function(score, n) {
  if (nrow(score) <= n) {
    return(score)
  }
  small <- rank(abs(score$log_odds), ties.method = "first") <= nrow(score) - n + 1L
  rbind(
    score[!small, c("part", "log_odds")],
    data.frame(part = sprintf("%d others", sum(small)), log_odds = sum(score$log_odds[small]))
  )
}

#' @exportS3Method ggplot2::autoplot
autoplot.false_absences <- function(object, ...) false_cells_figure(object, "absences", ...)

#' @exportS3Method ggplot2::autoplot
autoplot.false_presences <- function(object, ...) false_cells_figure(object, "presences", ...)

# Draws the ranked cells as a heat map of their sites by their taxa, coloured by the score.
false_cells_figure <- function(cells, of, ...) {
  check_dots(...)
  if (!nrow(cells)) stop_input("`object` must hold a cell to draw: it has none.")
  by <- attr(cells, "by") %||% "probability"
  need_drawn_columns(cells, c("site", "taxon", by))
  words <- attr(cells, "words") %||% c("sites", "taxa")
  table <- data.frame(
    row = as.character(cells$site), column = as.character(cells$taxon), value = cells[[by]]
  )
  by_number <- function(labels) names(sort(table(labels), decreasing = TRUE))
  table$row <- factor(table$row, rev(by_number(table$row)))
  table$column <- factor(table$column, by_number(table$column))
  new_figure(
    table, gg_aes(x = "column", y = "row", fill = "value"), sprintf(
      "%d of the %d likeliest false %s are of %s", sum(table$column == levels(table$column)[1L]), nrow(cells), of,
      levels(table$column)[1L]
    ),
    sprintf("Heat map of %d %s by %d %s: %s of the likeliest false %s.", nlevels(table$row), words[1L],
      nlevels(table$column), words[2L], by, of), words[2L], words[1L]
  ) + ggplot2::geom_tile(colour = "white") + fill_scale(c(0, 1), title = by) + legend_right() +
    names_axis("x", nlevels(table$column), in_italics(words[2L]), most = 18L) + names_axis("y", nlevels(table$row)) +
    ggplot2::theme(panel.grid.major = ggplot2::element_line(colour = "grey95"))
}

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_sensitivity <- function(object, ...) {
  check_dots(...)
  table <- object$table
  same <- seq_len(nrow(table)) > 1L & signif(table$missed, 3L) == signif(table$missed[1L], 3L)
  shown <- table[!same %in% TRUE, ]
  ends <- range(shown$missed, na.rm = TRUE)
  label <- sprintf("%s (%.0f)", shown$change, shown$kept)
  ranges_figure(
    data.frame(
      label = vapply(strwrap(label, 27, simplify = FALSE), paste, "", collapse = "\n"), value = shown$missed,
      low = shown$low, high = shown$high
    ),
    sprintf("By assumption %s presences are undetected", show_ends(ends[1L], ends[2L])),
    "Points: the undetected presences expected under each change of assumption, with their 90 % intervals.",
    "undetected presences", c(value = "estimate, 90 % interval"), most = 60L, colours = cell_colours[["missed"]],
    subtitle = paste(c(
      sprintf("(): how many of the first %s stay", count_words(object$n, "zero")),
      if (any(same %in% TRUE)) {
        sprintf("The number does not depend on %s", count_words(sum(same, na.rm = TRUE), "other change"))
      }
    ), collapse = ". ")
  ) + ggplot2::geom_vline(xintercept = table$missed[1L], linetype = 2L, colour = "grey40") +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = 7, lineheight = 0.85))
}

# nolint end
