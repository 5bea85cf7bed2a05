# Figures of which_zeros() results through time: sums of bins, and the ranges of taxa.

most_bins <- 20L # where the user does not say

# Returns bins of time, oldest first: a data frame of `name`, `from` and `to`, in the unit of the ages, from < to. bins:
# a width, breaks, or a table of intervals from packages palaeoverse and deeptime; NULL: the visible stages, or other
# divisions of the time scale, else of a round width.
time_bins <- function(bins, ages, unit) {
  told <- age_scale(ages, unit)
  range <- range(ages, na.rm = TRUE)
  table <- if (is.data.frame(bins)) {
    interval_bins(bins)
  } else if (is.null(bins)) {
    named_bins(told, range) %||% break_bins(round_breaks(range, min(most_bins, ceiling(sum(!is.na(ages)) / 3))))
  } else {
    break_bins(check_breaks(bins, range))
  }
  table <- table[order(table$from), ]
  over <- which(table$to[-nrow(table)] > table$from[-1L])
  if (length(over)) {
    stop_input("`bins` must not overlap: %s and %s do.", table$name[over[1L]], table$name[over[1L] + 1L])
  }
  table <- table[table$to >= range[1L] & table$from <= range[2L], ]
  if (!nrow(table)) stop_input("`bins` must hold the ages of the sites, %g to %g.", range[1L], range[2L])
  rownames(table) <- NULL
  if (told$forward) table else table[rev(seq_len(nrow(table))), ]
}

check_breaks <- function(bins, range) {
  if (!is.numeric(bins) || !is_line(bins) || !length(bins) || !all(is.finite(bins))) {
    stop_input("`bins` must be a width, breaks or a data frame of intervals, not %s.", show_value(bins))
  }
  if (length(bins) > 1L) {
    return(sort(unique(bins)))
  }
  least <- diff(range) / 1000
  if (bins <= 0 || bins < least) stop_input("`bins` must be a width above %g, not %g.", least, bins)
  bins * seq(floor(range[1L] / bins), floor(range[2L] / bins) + 1)
}

# Returns as many bins of a round width as possible, at most `most`.
round_breaks <- function(range, most) {
  for (number in seq(most, 1)) {
    breaks <- pretty(range, number)
    if (length(breaks) <= most + 1L) break
  }
  breaks
}

break_bins <- function(breaks) {
  from <- breaks[-length(breaks)]
  to <- breaks[-1L]
  data.frame(name = sprintf("%s to %s", format(to, trim = TRUE), format(from, trim = TRUE)), from = from, to = to)
}

interval_bins <- function(bins) {
  ends <- lapply(list(c("max_ma", "max_age"), c("min_ma", "min_age")), intersect, names(bins))
  if (!all(lengths(ends))) {
    stop_input("`bins` must have the columns \"max_ma\" and \"min_ma\", or \"max_age\" and \"min_age\": it has %s.",
      show_names(names(bins)))
  }
  ends <- lapply(ends, function(name) bins[[name[1L]]])
  known <- vapply(ends, function(end) is.numeric(end) && all(is.finite(end)), NA)
  if (!nrow(bins) || !all(known) || any(ends[[1L]] == ends[[2L]])) {
    stop_input("`bins` must have a row for each interval, with two different finite bounds.")
  }
  table <- data.frame(name = "", from = pmin(ends[[1L]], ends[[2L]]), to = pmax(ends[[1L]], ends[[2L]]))
  name <- intersect(c("interval_name", "name"), names(bins))
  table$name <- if (length(name)) as.character(bins[[name[1L]]]) else sprintf("%g to %g", table$to, table$from)
  table
}

# Returns divisions of deeptime's time scale; NULL without it, if ages are not in Ma, or if too few are visible.
named_bins <- function(told, range) {
  divisions <- if (is_geological(told, range)) geological_divisions(range, most_bins)
  seen <- divisions$share > 0
  if (sum(seen) >= 4L) {
    data.frame(name = divisions$name[seen], from = divisions$from[seen], to = divisions$to[seen])
  }
}

# Returns the row of `bins` of each age: an age on a bound belongs to the bin that begins there, counted upwards.
in_bin <- function(ages, bins) {
  up <- order(bins$from)
  at <- up[pmax(findInterval(ages, bins$from[up]), 1L)]
  ifelse(ages >= bins$from[at] & ages <= bins$to[at], at, NA)
}

# Computes means over the sites of each bin and group; NA without sites.
binned_sums <- function(w, bins, at, groups) {
  group <- wz_group(w, 1L, groups %||% rep("all", w$dims[["n"]]))
  table <- expand.grid(bin = seq_len(nrow(bins)), group = levels(group), stringsAsFactors = FALSE)
  key <- factor(paste(at, group), paste(table$bin, table$group))
  if (all(is.na(key))) stop_input("`bins` must hold the ages of the sites: none lies in one of them.")
  sums <- by_site(w, groups = key)
  sums <- sums[match(levels(key), sums$group), ]
  sites <- tabulate(key, nlevels(key))
  data.frame(
    age = (bins$from + bins$to)[table$bin] / 2, from = bins$from[table$bin], to = bins$to[table$bin],
    group = factor(table$group, levels(group)), sites = sites, found = sums$presences / sites,
    all = (sums$presences + sums$missed) / sites, low = (sums$presences + sums$low) / sites,
    high = (sums$presences + sums$high) / sites
  )
}

# Plots means over sites, not totals of bins: bins of many sites would seem rich.
site_time_figure <- function(w, bins, groups, unit) {
  ages <- need_ages(w, "time")
  bins <- time_bins(bins, ages, unit)
  at <- in_bin(ages, bins)
  table <- binned_sums(w, bins, at, groups)
  words <- axis_words(w)
  # Bars of the numbers of sites have a separate strip below 0, with an axis at the right.
  top <- max(table$high, na.rm = TRUE)
  most <- max(table$sites)
  strip <- list(foot = -0.36 * top, unit = 0.27 * top / most)
  table[c("foot", "bar")] <- list(strip$foot, strip$foot + strip$unit * table$sites)
  kinds <- c("found", "found and missed")
  line <- function(value, kind) {
    data.frame(table[c("age", "group", "low", "high")], value = table[[value]], kind = factor(kind, kinds))
  }
  lines <- rbind(line("found", kinds[1L]), line("all", kinds[2L]))
  missed <- lines[lines$kind == kinds[2L], ]
  missed$run <- paste(missed$group, cumsum(is.na(missed$low))) # no band over bins without a site
  missed <- missed[!is.na(missed$low), ]
  panels <- nlevels(table$group)
  across <- if (panels > 3L) ceiling(panels / 2) else panels
  bars <- sprintf("number of %s", words[1L])
  notes <- c(
    if (panels > 1L) paste("Grey:", bars), not_shown(ages, at, wz_scored(w), words[1L], any(table$sites == 0))
  )
  one <- singular_word(words[1L])
  joined <- if (anyDuplicated(lines[!is.na(lines$value), c("group", "kind")])) { # one bin has no line
    ggplot2::geom_line(gg_aes(linetype = "kind"), na.rm = TRUE)
  }
  new_figure(
    lines, gg_aes(x = "age", y = "value", colour = "kind"),
    time_title(table, age_scale(ages, unit)$unit, words[2L], one, age_scale(ages, unit)$forward),
    sprintf("Lines: the mean number of %s found, and of those found and missed, of the %s of each of %s.", words[2L],
      words[1L], count_words(nrow(bins), "bin")), NULL, sprintf("%s per %s", words[2L], one),
    sprintf("Band: 90 %% interval, %s", wz_words[[w$source]])
  ) + ggplot2::geom_rect(
    gg_aes(xmin = "from", xmax = "to", ymin = "foot", ymax = "bar"), table[table$sites > 0, ], inherit.aes = FALSE,
    fill = "grey80", colour = "white", linewidth = 0.2
  ) + ggplot2::geom_hline(yintercept = 0, colour = "grey60", linewidth = 0.3) +
    ggplot2::geom_ribbon(
      gg_aes(ymin = "low", ymax = "high", fill = "kind", group = "run"), missed, alpha = 0.25, colour = NA,
      show.legend = FALSE
    ) + # a bin between empty ones has no ribbon
    ggplot2::geom_linerange(gg_aes(ymin = "low", ymax = "high"), missed, alpha = 0.3, show.legend = FALSE) +
    joined + ggplot2::geom_point(gg_aes(shape = "kind"), size = 1.7, na.rm = TRUE) +
    (if (panels == 1L) strip_label(bins, -0.045 * top, bars)) +
    ggplot2::scale_shape_manual(NULL, values = c(19L, 15L), limits = kinds) +
    ggplot2::scale_linetype_manual(NULL, values = c(1L, 2L), limits = kinds) +
    colour_scale(stats::setNames(cell_colours[c("found", "missed")], kinds)) +
    ggplot2::scale_y_continuous(
      breaks = function(limits) Filter(function(at) at >= 0, pretty(c(0, limits[2L]), 4L)),
      sec.axis = ggplot2::sec_axis(
        ~ (. - strip$foot) / strip$unit, name = NULL, breaks = c(0, most - most %% 10^floor(log10(most)))
      )
    ) +
    ggplot2::labs(caption = if (length(notes)) paste(notes, collapse = ". ")) +
    time_axis(c(bins$from, bins$to), unit, across = across) +
    if (panels > 1L) ggplot2::facet_wrap("group", ncol = across)
}

# What the strip below the lines shows, at its upper edge.
strip_label <- function(bins, y, label) {
  ggplot2::geom_text(
    gg_aes(x = "age", y = "value", label = "label"),
    data.frame(age = mean(range(bins$from, bins$to)), value = y, label = label), inherit.aes = FALSE, size = 2.3,
    colour = "grey30"
  )
}

# The bin of most taxa per site.
time_title <- function(table, unit, words, one, forward) {
  best <- which.max(table$all)
  ends <- range(table$from[best], table$to[best])
  if (!forward) ends <- rev(ends)
  when <- paste(c(sprintf("%g to %g", ends[1L], ends[2L]), if (!forward) unit), collapse = " ")
  sprintf("Most %s per %s at %s: %s, found and missed", words, one, when, show_count(table$all[best]))
}

# Which sites a figure through time lacks, in words, and whether bins are empty; NULL where it has all. at: the bin of
# each.
not_shown <- function(ages, at, scored, words, gaps = FALSE) {
  lost <- c(sum(is.na(ages) & scored), sum(!is.na(ages) & is.na(at) & scored))
  lost_words <- paste(count_side(lost, words), c("without an age", "outside the bins"))[lost > 0]
  text <- c(
    if (gaps) sprintf("Gaps: bins without %s", words),
    if (length(lost_words)) paste("Not shown:", paste(lost_words, collapse = ", "))
  )
  if (length(text)) paste(text, collapse = "\n")
}

# Returns an axis of many rows, first on top, labelled by the bins of their ages, with lines between bins.
binned_axis <- function(ages, bins, rows) {
  name <- bins$name[in_bin(ages, bins)]
  runs <- rle(ifelse(is.na(unname(ages)), "unknown", ifelse(is.na(name), "outside", name)))
  last <- cumsum(runs$lengths)
  list(
    ggplot2::geom_hline(yintercept = length(rows) + 0.5 - last[-length(last)], colour = "grey50", linewidth = 0.2),
    ggplot2::scale_y_discrete(
      breaks = rows[last - runs$lengths %/% 2L], labels = apart_labels(runs$values), expand = ggplot2::expansion(0),
      guide = thinned()
    ), ggplot2::theme(axis.text.y = ggplot2::element_text(size = 7.5, lineheight = apart_height))
  )
}

# Returns for each of the taxa `at` and each bin with a site: whether it was found there, else the largest probability
# over the bin's sites that it was missed, a lower bound for the bin. Bins are counted from the oldest; `side` is -1
# before the first bin with a presence, 1 after the last, 0 between.
taxon_tiles <- function(w, at, bin, n_bins) {
  cells <- list()
  scan_zeros(w, function(some) cells[[length(cells) + 1L]] <<- some[c("row", "column", "missed")], sort(unique(at)))
  cells <- do.call(rbind, cells)
  cells <- cells[!is.na(bin[cells$row]), ]
  by_bin <- function(taxon, bin) list(factor(taxon, seq_along(at)), factor(bin, seq_len(n_bins)))
  probability <- tapply(cells$missed, by_bin(match(cells$column, at), bin[cells$row]), max)
  presences <- which(as.matrix(w$x)[, at, drop = FALSE] == 1, arr.ind = TRUE)
  found <- unclass(table(by_bin(presences[, 2L], bin[presences[, 1L]]))) > 0
  before <- t(apply(found, 1L, cumsum)) == 0
  after <- t(apply(found, 1L, function(row) rev(cumsum(rev(row))))) == 0
  tiles <- data.frame(
    taxon = as.vector(row(found)), bin = as.vector(col(found)), found = as.vector(found),
    probability = as.vector(probability),
    side = as.vector(after - before)
  )
  tiles$probability[tiles$found] <- NA
  tiles[tiles$found | !is.na(tiles$probability), ]
}

# Returns the first and the last presence of each of the taxa: ages, and their bounds.
taxon_ends <- function(w, at, ages, forward) {
  bounds <- as.matrix(w$inputs$near$given$age)
  ends <- lapply(seq_along(at), function(i) {
    presences <- which(as.matrix(w$x)[, at[i]] == 1 & !is.na(ages))
    presences <- presences[order(if (forward) ages[presences] else -ages[presences])]
    row <- c(utils::head(presences, 1L), utils::tail(presences, 1L))
    data.frame(
      taxon = rep(i, length(row)), end = c("first", "last")[seq_along(row)], age = ages[row],
      low = apply(bounds[row, , drop = FALSE], 1L, min), high = apply(bounds[row, , drop = FALSE], 1L, max)
    )
  })
  do.call(rbind, ends)
}

taxon_ranges_figure <- function(w, taxon, n, bins, unit) {
  ages <- need_ages(w, "ranges")
  all <- label_of(seq_len(w$dims[["m"]]), w$names[[2L]])
  at <- if (is.null(taxon)) {
    utils::head(match(most_first(by_taxon(w))$taxon, all), n)
  } else {
    unique(pick(taxon, w$dims[["m"]], w$names[[2L]], "taxon"))
  }
  ends <- taxon_ends(w, at, ages, age_scale(ages, unit)$forward)
  # Taxa that appeared first are lowest.
  ago <- function(end) years_ago(ends$age, unit)[match(paste(seq_along(at), end), paste(ends$taxon, ends$end))]
  rank <- order(-ago("first"), -ago("last"))
  ends$taxon <- match(ends$taxon, rank)
  bins <- time_bins(bins, ages, unit)
  bin <- in_bin(ages, bins)
  tiles <- taxon_tiles(w, at[rank], bin, nrow(bins))
  tiles[c("from", "to")] <- bins[tiles$bin, c("from", "to")]
  words <- axis_words(w)
  gaps <- if (!all(seq_len(nrow(bins)) %in% bin)) sprintf("; gaps: bins without %s", words[1L])
  range_chart_figure(tiles, ends, factor(all[at[rank]], all[at[rank]]), bins, unit, words, w$source == "curve", gaps) +
    ggplot2::labs(caption = not_shown(ages, bin, wz_scored(w), words[1L]))
}

ends_words <- "ages of first, last"

# Heads of the numbers at both sides, above the uppermost taxon.
side_heads_layer <- function(edge, n) {
  heads <- data.frame(x = edge, y = n + 1, label = c("earlier", "later"), hjust = c(0.8, 0.2))
  ggplot2::geom_text(
    gg_aes(x = "x", y = "y", label = "label", hjust = "hjust"), heads, inherit.aes = FALSE, size = 2,
    fontface = "bold"
  )
}

# How many taxa are probably to be found at some single site beyond their known range; `further`: by two more surveys.
ranges_title <- function(beyond, n, words, further) {
  sprintf(
    if (further) "%d of %d %s have a zero beyond their range that two more surveys would probably fill" else
      "%d of %d %s were probably at a site beyond their known range",
    length(unique(beyond$taxon[which(beyond$probability > 0.5)])), n, words
  )
}

# Tiles of the known range are high, those outside it low. At both sides stand the greatest probabilities of the low
# tiles: before the first presence of a taxon, and after its last. `further`: these are of two more surveys.
range_chart_figure <- function(tiles, ends, label, bins, unit, words, further, gaps = NULL) {
  high <- ifelse(tiles$side == 0, 0.4, 0.14)
  tiles[c("low", "high", "kind")] <- list(tiles$taxon - high, tiles$taxon + high, "found")
  ends$foot <- ends$taxon - 0.46
  many <- length(label) > 40L
  beyond <- tiles[tiles$side != 0 & tiles$taxon %in% ends$taxon & !many, ]
  # aggregate() fails on an empty table, which occurs if all taxa were found in the first and in the last bin.
  probabilities <- beyond
  if (nrow(beyond)) probabilities <- stats::aggregate(beyond["probability"], beyond[c("taxon", "side")], max)
  probabilities$label <- sub("^0", "", sprintf("%.2f", probabilities$probability))
  edge <- range(bins$from, bins$to)
  if (!age_scale(edge, unit)$forward) edge <- rev(edge)
  probabilities$x <- edge[1L + (probabilities$side > 0)]
  probabilities$hjust <- ifelse(probabilities$side > 0, -0.3, 1.3)
  new_figure(
    data.frame(taxon = label), gg_aes(y = "taxon"), ranges_title(beyond, length(label), words[2L], further),
    sprintf(
      "Range chart of %d %s through time: found, expected with its probability, and the probabilities at both ends.",
      length(label), words[2L]
    ),
    subtitle = paste0("Low tiles: outside the known range", gaps)
  ) + ggplot2::geom_blank() + ggplot2::geom_rect(
    gg_aes(xmin = "from", xmax = "to", ymin = "low", ymax = "high", fill = "probability"), tiles[!tiles$found, ],
    inherit.aes = FALSE, colour = "grey70", linewidth = 0.1
  ) + ggplot2::geom_rect(
    gg_aes(xmin = "from", xmax = "to", ymin = "low", ymax = "high", alpha = "kind"), tiles[tiles$found, ],
    inherit.aes = FALSE, fill = cell_colours[["found"]], colour = "grey70", linewidth = 0.1
  ) + ggplot2::geom_linerange( # bounds of the ages of the first and the last presence
    gg_aes(xmin = "low", xmax = "high", y = "foot", linetype = "key"),
    cbind(ends, key = rep(ends_words, nrow(ends))), linewidth = if (many) 0.15 else 0.35,
    show.legend = any(ends$low < ends$high)
  ) + ggplot2::scale_linetype_manual(NULL, values = stats::setNames(1L, ends_words)) +
    ggplot2::geom_text(
    gg_aes(x = "x", y = "taxon", label = "label", hjust = "hjust"), probabilities, size = 1.9, check_overlap = TRUE
  ) +
    (if (nrow(probabilities)) side_heads_layer(edge, length(label))) +
    ggplot2::scale_alpha_manual(NULL, values = c(found = 1)) +
    fill_scale(c(0, 1), unname(cell_colours[c("absent", "undecided", "missed")]), "p(undetected)",
      breaks = c(0, 0.5, 1)) + ggplot2::guides(
      fill = ggplot2::guide_colourbar(title.position = "top", barwidth = 4, barheight = 0.4, order = 1L),
      alpha = ggplot2::guide_legend(order = 2L), linetype = ggplot2::guide_legend(order = 3L)
    ) + names_axis("y", length(label), in_italics(words[2L]), room = c(0.6, 1.6)) + legend_right() + ggplot2::theme(
      legend.spacing.x = ggplot2::unit(3, "pt"), legend.text = ggplot2::element_text(size = 7),
      panel.grid.major.y = ggplot2::element_blank(),
      # so small that none of two dozen names is left out at 4 inches
      axis.text.y = ggplot2::element_text(size = if (length(label) > 12L) 5.6)
    ) + time_axis(edge, unit) + ggplot2::expand_limits(x = edge + c(-0.1, 0.1) * diff(edge))
}
