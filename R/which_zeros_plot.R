# Figures of an answer of which_zeros().

#' Plot which zeros are false
#'
#' @description
#' Figures of an answer of [which_zeros()]; `plot()` draws them, `autoplot()` gives them as ggplot2 objects.
#' \describe{
#'   \item{`"zeros"`}{the first zeros of the list, each with the probability that it is a false absence and its
#'     interval; where no number is estimated, with the probability of a record.}
#'   \item{`"heat"`}{sites by taxa: what was found, what was probably missed (the whole range of the chance is above
#'     `threshold`), what cannot be decided (the range holds `threshold`), and what was probably not there. Sites and
#'     taxa are in order of age where ages are known, else by their finds. Of 300 sites and more, or with `bins`, the
#'     axis has bins of age in place of their names.}
#'   \item{`"more"`}{for presence-absence data alone: presences that one to nine surveys of the effort of the table
#'     find, the table being the first, with 90 % intervals for surveys made alike and for other years or methods.
#'     Estimates of other evidence stand at the right.}
#'   \item{`"how_many"`}{undetected presences by each evidence that there is, each with its interval and the quantity it
#'     estimates.}
#'   \item{`"surveys"`}{what more surveys found beside the estimate, in 47 surveys that were repeated ([how_many]), with
#'     the 90 % intervals of both classes; the estimate of this table is a line.}
#'   \item{`"ranges"`}{a range chart: for each taxon and bin of time whether it was found, else the chance that it was
#'     missed; low tiles are outside its known range. At both sides stands the chance that it was there in an older, in
#'     a younger bin. Lines show the bounds of the ages of its first and its last find, where ages have bounds.}
#'   \item{`"time"`}{the mean number of taxa of a site in each bin of time: found, and found and missed with its range,
#'     as of [by_site()]; below, the number of sites. With `groups` a panel for each group of sites.}
#'   \item{`"map"`}{sites on a map: the expected number of undetected presences, and their share of all presences.
#'     Sites that would cover each other are one point, the sum of theirs. Where a few sites lie far from the others
#'     the map shows the nine tenths about the middle, and numbers at its edges say how many are beyond.}
#'   \item{`"sites"`, `"taxa"`}{how many were missed at those with most, with range, beside what was found: as of
#'     [by_site()] and [by_taxon()].}
#'   \item{`"table"`}{the chance of a record of every zero (finds are grey), in the order of `"heat"`.}
#'   \item{`"quality"`}{how well hidden finds were found again: the share found against the share of other zeros that
#'     stand above them, by the answer and by each simple rule (ROC); the share of hidden finds among the first zeros;
#'     and, of zeros of each chance of a record, the share that were hidden finds (90 % interval), beside what is
#'     expected of a tenth of all finds.}
#'   \item{`"learners"`}{the same of the answer, its learners and the simple rules: areas under the curve, with two
#'     standard errors.}
#' }
#' `"ranges"` and `"time"` need `age`, `"map"` needs `place` in the call of [which_zeros()]. A site is in the bin that
#' holds the middle of its age. The chance of a bin in `"ranges"` is that of the site where it is greatest, as in the
#' list of zeros. So the chance that the taxon was anywhere in the bin, or anywhere beyond the end of its range, is at
#' least as great.
#'
#' To test the chances at the sides, the finds of the first (the last) bin of a quarter of the taxa were hidden in four
#' fossil tables. Ends that were cut had larger chances than others with AUC .78; the log loss was .52, that of a
#' constant .60. Of chances below .1 a share of .09 was cut, of those up to .25, .5 and .75 shares of .25, .47 and .56;
#' of those above .75, which are too sure, .53 (`bench/which_zeros_parts.md`). How many ends are truly missing is not
#' known.
#'
#' @param object a result of [which_zeros()].
#' @param what which figure.
#' @param n how many zeros, sites or taxa.
#' @param ... must be empty.
#' @param taxon for `"ranges"`: names or numbers of taxa; `NULL`: the `n` of which most was missed.
#' @param threshold for `"heat"`: a chance between 0 and 1.
#' @param bins for `"heat"`, `"ranges"` and `"time"`: a width, breaks, or a data frame of intervals with the columns
#'   `max_ma` and `min_ma`, or `max_age` and `min_age`, and perhaps their names (`interval_name` or `name`), as packages
#'   palaeoverse and deeptime have them. `NULL`: the stages in sight where package deeptime is installed, or epochs
#'   where there are more than twenty; else bins of a round width, twenty at most. Sites outside all bins are left out;
#'   the heat map shows them as `outside`.
#' @param groups for `"time"`: the group of each site, as in [by_site()].
#' @param coast for `"map"`: the coast of the age of the sites, from a palaeogeographic map: polygons of package sf in
#'   longitude and latitude, or a data frame with the columns `lng`, `lat` and `group`, a group for each polygon. The
#'   places given to [which_zeros()] must then be those of that age, too. `NULL`: the coast of today, where package maps
#'   is installed; the figure says which it is.
#' @param unit of ages, such as `"Ma"`, `"ka"`, `"years BP"`, or `"year"` or `"CE"` for years of the calendar, which
#'   count forwards. With `"Ma"` the geological time scale is drawn where package deeptime is installed. `NULL`: none.
#'   `"guess"` is what the columns of `age` were called, as `max_ma`, `age_ka` or `bp`: say it once by such a name, as
#'   `age = data.frame(ka = ages)`. Where they told none, whole numbers from 1500 to 2100 are calendar years, and other
#'   ages have no unit.
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
#' @aliases autoplot.which_zeros
#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros <- function(object, # nolint: object_name_linter.
                                 what = c(
                                   "zeros", "heat", "more", "how_many", "surveys", "ranges", "time", "map", "sites",
                                   "taxa", "table", "quality", "learners"
                                 ), n = 20, ..., taxon = NULL, threshold = 0.5, bins = NULL, groups = NULL,
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
    table = table_figure(
      in_figure_order(object, unit), "Chance of a record", "chance of a record; finds are grey"
    ),
    quality = quality_figure(object),
    how_many = how_many_figure(object), surveys = surveys_figure(object), learners = learners_figure(object)
  )
}

# The estimate of each evidence; the one that is used stands first.
how_many_figure <- function(w) {
  many <- w$how_many
  rows <- data.frame(
    label = sprintf("%s: %s", many$evidence, many$of), value = many$missed, low = many$low, high = many$high
  )
  rows$label <- vapply(strwrap(rows$label, 34, simplify = FALSE), paste, "", collapse = "\n")
  ranges_figure(
    rows, "Undetected presences, by each evidence",
    sprintf("Points: estimates of how many of the %s zeros are false absences, each with its 90 %% interval.",
      format_big(sum(w$candidate))), "undetected presences", c(value = "estimate"), most = 100L,
    colours = cell_colours[["missed"]]
  ) + ggplot2::theme(axis.text.y = ggplot2::element_text(size = 8, lineheight = 0.85), legend.position = "none")
}

# What further surveys would find, on the axes of rarefaction and extrapolation curves (iNEXT): the table is survey 1.
# Estimates of other evidence stand at the right, since they are of other quantities.
more_figure <- function(w) {
  if (w$source != "curve") {
    stop_input(
      "`what = \"more\"` needs an answer from presence-absence data alone: this one rests on %s.",
      evidence_words[[w$source]]
    )
  }
  finest <- surveys_curve(
    list(kappa = 0, presences = 1), Inf, exp(seq(0, log(8), length.out = 43L)) # the shape, in multiples of one survey
  )
  scale <- w$more$missed[1L] / finest$missed[1L]
  curve <- rbind(0, finest)
  curve[-1L] <- w$finds + pmin(scale * as.matrix(curve[-1L]), sum(w$candidate))
  curve$surveys <- curve$surveys + 1
  others <- w$how_many[-1L, ]
  others <- others[!is.na(others$missed) & others$evidence != evidence_words$gaps, ]
  bands <- c("surveys alike", "other years or methods")
  band <- function(name, low, high) data.frame(curve["surveys"], low = curve[[low]], high = curve[[high]], band = name)
  ribbon <- list(band(bands[2L], "unlike_low", "unlike_high"), band(bands[1L], "low", "high")) # the wide one below
  two <- w$more[w$more$surveys == 2, ]
  out <- new_figure(
    curve, gg_aes(x = "surveys", y = "missed"),
    sprintf("Two more surveys would find about %s more presences", show_count(two$missed)),
    "Curve: presences found by one to nine surveys of the effort of the table, with 90 % intervals.",
    "surveys of this effort (1: the table)", "presences", "Bands: 90 % intervals"
  ) + lapply(ribbon, function(each) {
    ggplot2::geom_ribbon(
      gg_aes(x = "surveys", ymin = "low", ymax = "high", fill = "band"), each, inherit.aes = FALSE, alpha = 0.6
    )
  }) + ggplot2::geom_line(colour = "grey15", linewidth = 0.8) +
    ggplot2::geom_point(data = data.frame(surveys = 1, missed = w$finds), size = 2.5, colour = "grey15") +
    ggplot2::scale_fill_manual(
      NULL, values = stats::setNames(unname(cell_colours[c("missed", "undecided")]), bands), breaks = bands
    ) +
    ggplot2::scale_x_continuous(breaks = c(1, 2, 3, 5, 9)) + few_numbers("y", TRUE, 5L)
  if (nrow(others)) {
    others[c("missed", "low", "high")] <- w$finds + others[c("missed", "low", "high")]
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

# The record of such estimates: surveys_checked, with the intervals of both classes about the line of equality.
surveys_figure <- function(w) {
  class <- c("surveys alike", "other years or methods")
  table <- surveys_checked
  table$class <- factor(class[2L - table$alike], class)
  ends <- range(table$estimated, table$found, w$total[["missed"]])
  band <- function(by) {
    factor <- usual_factor[[by]]
    own <- factor(class[1L + (by != "alike")], class)
    data.frame(estimated = ends, low = ends / factor, high = ends * factor, class = own)
  }
  colours <- stats::setNames(unname(cell_colours[c("missed", "undecided")]), class)
  new_figure(
    table, gg_aes(x = "estimated", y = "found"), "What more surveys found, beside the estimate",
    "Points: presences that more surveys found against their estimate, one for each of 54 series of 47 surveys.",
    "presences estimated", "presences found", "Bands: 90 % intervals of either class; line: this table"
  ) + lapply(c("unlike", "alike"), function(by) {
    ggplot2::geom_ribbon(
      gg_aes(x = "estimated", ymin = "low", ymax = "high", fill = "class"), band(by), inherit.aes = FALSE, alpha = 0.35
    )
  }) + ggplot2::geom_abline(colour = "grey40", linetype = 2L) +
    (if (w$source == "curve") ggplot2::geom_vline(xintercept = w$total[["missed"]], colour = "grey15")) +
    ggplot2::geom_point(gg_aes(fill = "class"), shape = 21L, size = 2, colour = "grey15") +
    ggplot2::scale_fill_manual(NULL, values = colours) + ggplot2::scale_x_log10() + ggplot2::scale_y_log10()
}

# What is known of each cell: n x m, a factor.
cell_states <- c("found", "probably missed", "undecided", "probably absent", "not asked or unknown")

zero_states <- function(w, threshold) {
  out <- matrix(5L, w$dims[["n"]], w$dims[["m"]], dimnames = w$names)
  out[as.matrix(w$x) %in% 1] <- 1L
  scan_zeros(w, function(cells) {
    out[cbind(cells$row, cells$column)] <<- states_of(cells$missed_low, cells$missed_high, threshold)
  }, numbers = wz_missed)
  out
}

# Means of the ages of the sites at which each taxon was found, NaN where it was at none; found: n x m, logical.
found_ages <- function(found, ages) {
  known <- !is.na(ages)
  colSums(found[known, , drop = FALSE] * ages[known]) / colSums(found[known, , drop = FALSE])
}

# by_site() with `NA` for sites that are for reference.
sites_in_order <- function(w) {
  sums <- by_site(w)
  sums[match(label_of(seq_len(w$dims[["n"]]), w$names[[1L]]), sums$site), ]
}

# Sites from the youngest down, taxa from that of the oldest finds on; without ages, most finds first. ago: years_ago().
figure_order <- function(found, ago) {
  list(
    rows = order(if (is.null(ago)) -rowSums(found) else ago),
    columns = order(if (is.null(ago)) -colSums(found) else -found_ages(found, ago))
  )
}

in_figure_order <- function(w, unit) {
  ages <- answer_ages(w)
  at <- figure_order(array(as.matrix(w$x) %in% 1, dim(w$x)), if (!is.null(ages)) years_ago(ages, unit))
  w$probability <- w$probability[at$rows, at$columns, drop = FALSE]
  w
}

state_figure <- function(w, threshold, bins, unit) {
  state <- zero_states(w, threshold)
  given <- answer_ages(w)
  ages <- if (!is.null(given)) years_ago(given, unit)
  words <- axis_words(w)
  found <- state == 1L
  at <- figure_order(found, ages)
  table <- cell_frame(state[at$rows, at$columns, drop = FALSE])
  table$value <- factor(cell_states[table$value], cell_states)
  table$row <- factor(table$row, rev(levels(table$row)))
  colours <- stats::setNames(cell_colours, cell_states)
  binned <- !is.null(ages) && (nrow(state) >= 300L || !is.null(bins))
  shown <- table$value %in% cell_states[1:4]
  new_figure(
    table, gg_aes(x = "column", y = "row", fill = "value"), "Found, missed, or not there",
    sprintf(
      "Heat map of %d %s by %d %s: %s.", w$dims[["n"]], words[1L], w$dims[["m"]], words[2L],
      paste(table(table$value[shown])[1:4], cell_states[1:4], collapse = ", ")
    ), words[2L],
    if (binned) age_words(age_scale(given, unit)) else words[1L],
    if (is.null(ages)) "By number of finds" else sprintf("Youngest %s on top, oldest %s left", words[1L], words[2L])
  ) + ggplot2::geom_raster() + colour_scale(colours[unique(as.character(sort(table$value)))]) + no_grid() +
    names_axis("x", ncol(state), TRUE, most = 18L) + legend_right() + (if (binned) {
      bins <- time_bins(bins, given, unit)
      binned_axis(given[at$rows], bins, rev(levels(table$row)))
    } else {
      names_axis("y", nrow(state))
    }) +
    ggplot2::theme(
      legend.key = ggplot2::element_rect(colour = "grey60"), legend.key.size = ggplot2::unit(9, "pt")
    )
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
  sums <- cbind(sums, there = sums$missed + sums$finds)[inside, ]
  table <- data.frame(
    lon = each(seen[, 1L], mean), lat = each(seen[, 2L], mean), missed = each(sums$missed),
    share = each(sums$missed) / each(sums$there)
  )
  signs <- c("near ones are one point", "+: beyond the edge")[c(nrow(table) < nrow(seen), !all(inside))]
  new_figure(
    table[order(-table$missed), ], gg_aes(x = "lon", y = "lat"), "Where most was missed",
    sprintf("Map of %d %s: the expected number of undetected presences, and their share of all presences.", nrow(place),
      words[1L]),
    subtitle = capital(c(wz_words[[w$source]], if (length(signs)) paste(signs, collapse = "; ")))
  ) + map_canvas(core, NULL, coast, answer_ages(w), unit) + ggplot2::geom_point(
    gg_aes(size = "missed", fill = "share"), shape = 21L, colour = "grey25", stroke = 0.3, alpha = 0.85
  ) + (if (!all(inside)) beyond_frame(place[!inside, , drop = FALSE], limits)) +
    ggplot2::scale_size_area(
      "undetected presences", max_size = 6,
      breaks = function(limits) Filter(function(at) at > 0 && at <= limits[2L], pretty(c(0, limits[2L]), 3L))
    ) + fill_scale(c(0, 1), unname(cell_colours[c("absent", "undecided", "missed")]), "share missed",
      breaks = c(0, 0.5, 1)) +
    ggplot2::guides(fill = ggplot2::guide_colourbar(title.position = "top", barwidth = 5, barheight = 0.5),
      size = ggplot2::guide_legend(title.position = "top")) + legend_below()
}

# Simple rules in a few letters: five names stand in a legend 4 inches wide.
rule_words <- c(near = "neighbours", near_alike = "alike neighbours", alike = "alike lists", companions = "companions")

# With the means over copies that the print has.
quality_figure <- function(w) {
  curve <- w$curve
  curve$summary[c("auc", "ap")] <- w$quality["stack", c("auc", "ap")]
  rules <- curve$rules
  recovery_figure(
    curve, "How well hidden finds are found again", "hidden finds", "chance of a record",
    stats::setNames(rules, unname(rule_words[names(rules)]))
  )
}

learners_figure <- function(w) {
  q <- w$quality
  wrapped <- vapply(q$learner, function(name) paste(strwrap(name, 26), collapse = "\n"), "")
  ranges_figure(
    data.frame(label = wrapped, value = q$auc, low = q$auc - 2 * q$auc_se, high = pmin(q$auc + 2 * q$auc_se, 1),
      other = q$auc_within),
    "The answer, and each rule alone",
    "Points: the chance that a hidden find stands above another zero, of the answer and each of its learners.",
    "AUC: chance that a hidden find stands above another zero", c(value = "in the table", other = "within its site"),
    c(NA, 1), most = 60L
  ) + ggplot2::theme(axis.text.y = ggplot2::element_text(size = 8, lineheight = 0.85))
}

zeros_figure <- function(w, n) {
  cells <- as.data.frame(w, n = n)
  cut <- short_labels(24L)
  rows <- data.frame(
    label = make.unique(sprintf("%s, %s", cut(as.character(cells$taxon)), cut(as.character(cells$site)))),
    value = cells$missed, low = cells$missed_low, high = cells$missed_high
  )
  words <- c(value = "false absence, 90 % interval")
  if (!is.null(w$reason)) {
    rows[c("value", "low", "high")] <- cells$probability
    words <- c(value = "probability of a record")
  }
  ranges_figure(
    rows, "Where a presence was most probably missed", sprintf(
      "Points: the probability of each of the first %s, with its interval.", count_words(nrow(cells), "zero")
    ),
    "probability", words, c(0, 1), most = 60L, colours = cell_colours[["missed"]]
  )
}

sums_figure <- function(sums, n, words = c("sites", "taxa")) {
  of <- c(intersect(names(sums), c("site", "taxon", "group")), "site")[1L]
  need_drawn_columns(sums, c(of, "missed", "finds"))
  has_range <- all(c("low", "high") %in% names(sums)) # those of a fit without draws have none
  if (!has_range) sums[c("low", "high")] <- sums$missed
  shown <- utils::head(in_shown_order(sums), n)
  many <- c(site = words[1L], taxon = words[2L], group = "groups")[[of]]
  assumed <- attr(sums, "assumption")
  ranges_figure(
    data.frame(label = as.character(shown[[of]]), value = shown$missed, low = shown$low, high = shown$high,
      other = shown$finds),
    sprintf("Where most was missed: %s", many),
    sprintf("Points: the %s with most missed,%s and what was found there.", many,
      if (has_range) " with its range," else ""),
    sprintf("number of %s", c(site = words[2L], taxon = words[1L], group = "presences")[[of]]),
    c(value = "expected missed", other = "found"), taxa = of == "taxon",
    colours = unname(cell_colours[c("missed", "found")]),
    subtitle = if (!is.null(assumed)) capital(assumed)
  )
}

# nolint start: object_name_linter.

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_sums <- function(object, n = 20, ...) {
  check_dots(...)
  sums_figure(object, check_count(n, "n"), attr(object, "words") %||% c("sites", "taxa"))
}

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_contrast <- function(object, ...) {
  check_dots(...)
  need_drawn_columns(object, c("group", "other", "difference", "low", "high"))
  of <- c(share = "share missed", missed = "number missed", richness = "taxa a site, missed ones added")
  ranges_figure(
    data.frame(label = sprintf("%s less %s", object$group, object$other), value = object$difference,
      low = object$low, high = object$high),
    "Differences between groups", "Points: the difference of each pair of groups, with its 90 % range.",
    sprintf("difference: %s", of[[attr(object, "of")]]), c(value = "difference, with its 90 % range"), NULL,
    most = 44L, subtitle = if (!is.null(attr(object, "assumption"))) capital(attr(object, "assumption"))
  ) + ggplot2::geom_vline(xintercept = 0, linetype = 2L, colour = "grey40")
}

#' @exportS3Method ggplot2::autoplot
autoplot.zero_explained <- function(object, ...) {
  check_dots(...)
  cell <- object$cell
  panels <- c("log-odds, a part each", "neighbours, weight", "companions, share with it")
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
  bars$speaks <- factor(ifelse(bars$speaks, "for it", "against it"), c("for it", "against it"))
  bars$key <- factor(seq_len(nrow(bars)), rev(seq_len(nrow(bars))))
  cut <- short_labels(35L)
  new_figure(
    bars, gg_aes(x = "value", y = "key", fill = "speaks"), sprintf("%s at %s", cell$taxon, cell$site),
    sprintf("Bars: what speaks for and against %s at %s: learners, neighbours, companions.", cell$taxon, cell$site),
    subtitle = paste0(
      sprintf("Probability of a record %.2f", cell$probability),
      if (!is.na(cell$missed)) sprintf("; missed %.2f (%.2f to %.2f)", cell$missed, cell$missed_low, cell$missed_high)
    )
  ) + ggplot2::geom_col(width = 0.75, colour = "grey25", linewidth = 0.2) +
    ggplot2::facet_wrap("panel", scales = "free", ncol = 1L) +
    ggplot2::scale_y_discrete(
      labels = function(key) apart_labels(cut(bars$label[as.integer(key)])), guide = thinned()
    ) +
    colour_scale(c(`for it` = component_colours(3L)[3L], `against it` = component_colours(4L)[4L])) + few_numbers("x") +
    # so low that no name is left out at 4 inches
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(size = 6.3, lineheight = apart_height),
      legend.key.size = ggplot2::unit(9, "pt"), legend.margin = ggplot2::margin(),
      panel.spacing.y = ggplot2::unit(2, "pt")
    )
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

# The cells of a list as a heat map of their sites by their taxa, of the score they are ranked by.
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
    table, gg_aes(x = "column", y = "row", fill = "value"), sprintf("The %d likeliest false %s", nrow(cells), of),
    sprintf("Heat map of %d %s by %d %s: %s of the likeliest false %s.", nlevels(table$row), words[1L],
      nlevels(table$column), words[2L], by, of), words[2L], words[1L]
  ) + ggplot2::geom_tile(colour = "white") + fill_scale(c(0, 1), title = by) +
    names_axis("x", nlevels(table$column), TRUE, most = 18L) + names_axis("y", nlevels(table$row)) +
    ggplot2::theme(panel.grid.major = ggplot2::element_line(colour = "grey95"))
}

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_sensitivity <- function(object, ...) {
  check_dots(...)
  table <- object$table
  ranges_figure(
    data.frame(
      label = sprintf("%s (%.0f of %.0f)", table$change, table$kept, object$n), value = table$missed,
      low = table$low, high = table$high, other = table$missed[1L]
    ),
    "What the answer depends on", "Points: the expected number missed under each change of assumption, with its range.",
    "number missed", c(value = "with the change", other = "as it is"), most = 60L,
    colours = c(cell_colours[["missed"]], "black"),
    subtitle = sprintf("In brackets: how many of the first %s stay", count_words(object$n, "zero"))
  )
}

# nolint end
