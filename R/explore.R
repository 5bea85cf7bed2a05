# explore(): writes a which_zeros() result or a fit as one HTML page.

#' A page to explore which zeros are false
#'
#' Writes one HTML file that needs no server and no network: the table as a heat map, the list of its zeros, the sites
#' through time and on a map, all linked. Pick a site, a taxon, a cell or a component in one, and the others follow. Two
#' sliders show the result for another total or threshold. The list can be sorted, searched and downloaded as shown.
#'
#' @details
#' The page can be used by keyboard and on a telephone, and read without colour. Names are shown as they are written. It
#' holds the whole table: 500 x 140 cells take about a megabyte; above 5 MB there is a message.
#'
#' The slider of the total starts at the estimate, where probabilities are those of the result, to four digits; the ends
#' of its interval are marked. For another total the odds of all zeros, and of the ends of their intervals, are
#' multiplied by one number, so that the probabilities sum to that total. Found, probably missed, undecided and probably
#' absent are what [plot.which_zeros()] has as `"heat"`, by the interval of `missed`. For a fit of a model of one table,
#' the probability is that of [fitted()], which has no interval: nothing is undecided. The odds of a zero are then
#' multiplied by (1 - c) / c, where c is one minus the share of white phantoms at its site. Without a white phantom c is
#' 1, so only the slider makes zeros false. The address of the page stores the view, so that it can be kept or sent. The
#' page can be printed.
#'
#' @param x a result of [which_zeros()], or a fit of any model of a 0/1 table but [aspect_categorical()].
#' @param file path of the page, with `.html` added where it has no ending; `NULL`: a file of the session's own folder.
#' @param ... must be empty.
#' @param age,place ages of the sites and their places (longitude, latitude), in the order of the rows or named by them;
#'   `NULL`: those that `x` was made with, if any.
#' @param unit,coast of the ages and of the map, as in [plot.which_zeros()].
#' @param title of the page.
#' @param open show it in the browser?
#' @return The path of the page, invisibly. For tables with more than 500 000 cells the page has the sites with the most
#'   expected undetected presences, and a message reports how many. Wrong input is an error of class
#'   `multicause_input_error`.
#' @seealso [report()], which can link to the page; [plot.which_zeros()]; [explore()][explore.plsa] of topics.
#' @examplesIf requireNamespace("jsonlite", quietly = TRUE)
#' sites <- early_tetrapods$sites
#' place <- sites[c("lng", "lat")]
#' ages <- sites[c("max_ma", "min_ma")]
#' w <- which_zeros(early_tetrapods$x, age = ages, place = place, quick = TRUE, seed = 1)
#' page <- explore(w, tempfile(fileext = ".html"), open = FALSE)
#' file.size(page)
#' @aliases explore
#' @export
explore.which_zeros <- function(x, file = NULL, ..., age = NULL, place = NULL, coast = NULL, unit = "guess",
                                title = NULL, open = interactive()) {
  check_dots(...)
  check_given(x)
  check_text(unit, "unit", 1L)
  check_text(title, "title", 1L)
  write_page("explore", function() explore_data(x, age, place, coast, unit, title), file, open)
}

#' @rdname explore.which_zeros
#' @export
explore.multicause <- explore.which_zeros

# Writes a page of the folder inst/explore; data() is called after the other arguments are checked.
write_page <- function(name, data, file, open) {
  file <- if (is.null(file)) tempfile("explore", fileext = ".html") else check_report_file(file)
  open <- check_flag(open, "open")
  if (!requireNamespace("jsonlite", quietly = TRUE)) {
    stop_input("explore() needs package jsonlite: install.packages(\"jsonlite\").")
  }
  html <- charToRaw(with_usual_numbers(filled_page(name, data())))
  if (length(html) > 5e6) inform("The page is of %.1f MB: browsers may be slow with it.", length(html) / 1e6)
  write_files(stats::setNames(list(html), file))
  if (open) utils::browseURL(file)
  invisible(file)
}

# Fills the page with its script and data. "<" is escaped in the data because it could end the script.
filled_page <- function(name, data) {
  part <- function(name) {
    lines <- readLines(system.file("explore", name, package = "multicause"), encoding = "UTF-8")
    paste(lines, collapse = "\n")
  }
  json <- jsonlite::toJSON(data, auto_unbox = TRUE, null = "null", na = "null", digits = 5L)
  json <- gsub("<", "\\u003c", json, fixed = TRUE)
  page <- paste(part("head.html"), part(paste0(name, ".html")), sep = "\n")
  # All marks are looked up in the template only, so that inserted text is not searched for further marks.
  put <- c(
    "@TITLE@" = html_escape(data$title), "@STYLE@" = part("explore.css"), "@SCRIPT@" = part(paste0(name, ".js")),
    "@DATA@" = json
  )
  at <- gregexpr(paste(names(put), collapse = "|"), page)
  regmatches(page, at) <- list(unname(put[regmatches(page, at)[[1L]]]))
  enc2utf8(page)
}

explore_data <- function(x, age, place, coast, unit, title) {
  is_answer <- inherits(x, "which_zeros")
  # The page's script would treat NaN as a value and show a page without zeros.
  if (is_answer) need_numbers(x)
  cells <- if (is_answer) answer_probabilities(x) else fit_probabilities(x)
  rows <- cells$kept
  near <- if (is_answer) x$inputs$near else x$smooth
  given <- near$given
  ages <- if (is.null(age)) given$age else smooth_for(x, age = age)$age
  places <- if (is.null(place)) given$place else smooth_for(x, place = place)$place
  if (!is.null(ages)) ages <- as.matrix(ages)[rows, , drop = FALSE]
  if (!is.null(places)) places <- one_piece(places)[rows, , drop = FALSE]
  found <- cells$found
  middle <- if (!is.null(ages)) unname(rowMeans(ages))
  unit <- said_unit(unit, if (is.null(age)) near else list(age_unit = unit_of_ages(age)))
  ago <- if (!is.null(middle)) years_ago(middle, unit)
  at <- figure_order(found, ago)
  told <- age_scale(middle, unit)
  lines <- if (!is.null(places)) coast_lines(places, coast)
  list(
    title = title %||% "Which zeros are false absences?", words = axis_words(x), colours = as.list(cell_colours),
    unit = age_words(told), forward = told$forward,
    sites = I(page_names(x, 1L)[rows]), taxa = I(page_names(x, 2L)), age = if (!is.null(middle)) I(round(middle, 3L)),
    lon = if (!is.null(places)) I(unname(places[, 1L])), lat = if (!is.null(places)) I(unname(places[, 2L])),
    coast = lines, coast_words = if (!is.null(lines)) coast_caption(coast, middle, unit), plane = is_plane(places),
    probability = I(as.vector(t(cells$probability))),
    ratio = I(pmin(pmax(cells$ratio, -690), 690)), slope = cells$slope, side = cells$side,
    offset = if (!is.null(cells$offset)) I(round(as.vector(t(ifelse(is.na(cells$offset), 0, cells$offset))), 3L)),
    total = if (!is.null(cells$total)) I(cells$total),
    gaps = if (length(cells$gaps)) I(cells$gaps),
    low = cells$low, high = cells$high, said = cells$said, quality = cells$quality,
    assumption = cells$assumption,
    rows = I(at$rows - 1L), columns = I(at$columns - 1L),
    components = if (!is_answer) explore_components(x, rows)
  )
}

# Selects the sites of a page: of a large table those with the most expected undetected presences, because a browser
# cannot hold millions of cells.
most_on_page <- 5e5
page_rows <- function(x, expected) {
  n <- x$dims[["n"]]
  size <- max(1, most_on_page %/% x$dims[["m"]])
  if (n <= size) {
    return(seq_len(n))
  }
  most <- expected()
  words <- axis_words(x)
  inform(
    "The page has %s of which most is expected, of %s: `plot()` and `as.data.frame()` have all.",
    count_words(size, singular_word(words[1L])), format_big(n)
  )
  sort(order(-most)[seq_len(size)])
}

page_names <- function(x, side) {
  without_controls(as_utf8(enc2utf8(as.character(label_of(seq_len(x$dims[[side]]), x$names[[side]])))))
}

# Puts ages or places in the order of the rows.
smooth_for <- function(x, ...) {
  near <- smooth_over(..., strength = 1)
  check_sites_of(near, names(list(...)), c(x$dims[["n"]], x$dims[["m"]]))
  data <- matrix(0, x$dims[["n"]], 1L, dimnames = list(x$names[[1L]], NULL))
  match_smooth(near, data)$given
}

# Codes probabilities in 1 / 10000; -1 for a presence, -2 for a cell without an estimate.
coded_probabilities <- function(p, found, asked) {
  out <- round(1e4 * p)
  out[] <- pmin(pmax(out, 0), 9999)
  out[!asked] <- -2
  out[found] <- -1
  storage.mode(out) <- "integer"
  unname(out)
}

# The ends of `missed` of an answer in 1 / 10000, rounded up, so that they are above the same thresholds (of whole per
# cents) as the ends themselves; row by row, 0 where nothing is asked.
coded_ranges <- function(w, rows) {
  w$candidate[!seq_len(w$dims[["n"]]) %in% rows, ] <- FALSE
  cells <- wz_missed(w)
  by_row <- function(value) {
    out <- matrix(0L, w$dims[["m"]], length(rows))
    out[cbind(cells$column, match(cells$row, rows))] <- as.integer(value)
    I(as.vector(out))
  }
  list(
    low = by_row(ceiling(1e4 * cells$missed_low)), high = by_row(ceiling(1e4 * cells$missed_high)),
    missed = sum(cells$missed)
  )
}

answer_probabilities <- function(w) {
  rows <- page_rows(w, function() {
    sums <- numeric(w$dims[["n"]])
    scan_zeros(w, function(cells) sums <<- sums + tabulate_sums(cells$missed, cells$row, length(sums)))
    sums
  })
  found <- matrix(dense_rows(w$x, rows) %in% 1, length(rows))
  said <- answer_sentences(w)
  others <- setdiff(names(said), c("table", "decided")) # the page counts by its own threshold
  gaps <- arrayInd(w$gaps, dim(w$candidate))
  gaps <- cbind(match(gaps[, 1L], rows), gaps[, 2L])[gaps[, 1L] %in% rows, , drop = FALSE]
  ranges <- coded_ranges(w, rows)
  part <- if (length(rows) < w$dims[["n"]]) ranges$missed / max(w$total[["missed"]], 1e-12) else 1
  c(ranges[c("low", "high")], list(
    probability = coded_probabilities(w$probability[rows, , drop = FALSE], found, w$candidate[rows, , drop = FALSE]),
    found = found, kept = rows, slope = w$ratios$slope, side = w$ratios$side,
    offset = w$ratios$offset[rows, , drop = FALSE],
    total = unname(part * w$total),
    ratio = if (w$ratios$side == 1L) w$ratios$log[rows, 1L] else w$ratios$log[, 1L],
    gaps = if (length(gaps)) (gaps[, 1L] - 1L) * ncol(found) + gaps[, 2L] - 1L,
    assumption = wz_words[[w$source]],
    said = unbroken(paste0(said[["table"]], ". ", paste(said[others], collapse = " "))),
    quality = paste(quality_sentences(w), collapse = " ")
  ))
}

fit_probabilities <- function(fit) {
  x <- if (length(dim(fit_data(fit))) == 2L) dense_rows(fit_data(fit), seq_len(fit$dims[["n"]]))
  if (is.null(x) || any(x > 1, na.rm = TRUE)) {
    stop_input("`x` must be a fit of plsa(), or one to a 0/1 table of two dimensions.")
  }
  p <- presence_probability(fit)
  rows <- page_rows(fit, function() rowSums(p * (x %in% 0)))
  x <- x[rows, , drop = FALSE]
  found <- matrix(x %in% 1, length(rows))
  # An average has no phantom of its own.
  white <- if (!is.null(fixed_kinds(fit)) && is.null(fit$fits)) phantoms(fit)$kind == "white"
  gaps <- if (any(white)) rowSums(fit$param$membership[rows, white, drop = FALSE]) else rep(0, length(rows))
  complete <- unname(pmax(1 - gaps, 1e-3))
  list(
    probability = coded_probabilities(p[rows, , drop = FALSE], found, matrix(x %in% 0, length(rows))),
    found = found, kept = rows,
    ratio = log1p(-pmin(complete, 1 - 1e-12)) - log(complete), slope = 1, side = 1L,
    assumption = if (any(white)) wz_words$phantom else "the fit has no phantom: all that was there is on record"
  )
}

# Lists for each component the taxa of largest relevance and the sites of which it writes most.
explore_components <- function(fit, rows) {
  components <- if (is.null(fit$fits)) catch_error(component_matrix(fit), function(e) NULL)
  if (!NROW(components)) {
    return(NULL)
  }
  top <- top_taxa(fit, 12L)
  sites <- ordination(fit)$sites
  names <- as.character(label_of(seq_len(fit$dims[["m"]]), fit$names[[2L]]))
  lapply(levels(top$component), function(name) {
    share <- sites[, match(name, component_names(fit$dims[["k"]]))]
    list(
      name = name, top = I(match(top$taxon[top$component == name], names) - 1L),
      sites = I(which(share[rows] >= 0.25 * max(share)) - 1L)
    )
  })
}

# Returns coastlines near the places, each a list of points; NULL in the plane, and without package maps.
coast_lines <- function(place, coast) {
  limits <- page_frame(place[!is.na(rowSums(place)), , drop = FALSE])
  line <- if (!is_plane(place)) if (is.null(coast)) world_coast(limits$lon) else closed_lines(read_coast(coast))
  if (is.null(line)) {
    return(NULL)
  }
  inside <- !is.na(line$lon) & line$lon >= limits$lon[1L] & line$lon <= limits$lon[2L] & line$lat >= limits$lat[1L] &
    line$lat <= limits$lat[2L]
  part <- cumsum(!inside)[inside]
  points <- unname(cbind(line$lon[inside], line$lat[inside]))
  each <- lapply(unname(split(seq_along(part), part)), function(at) {
    own <- points[at, , drop = FALSE]
    pixel <- round(own / limits$pixel) # one point in each pixel of the map is enough
    round(if (length(at) > 1L) own[c(TRUE, rowSums(abs(diff(pixel))) > 0), , drop = FALSE] else own, 3L)
  })
  Filter(function(own) nrow(own) > 1L, each)
}

# What the map of the page shows, of 640 x 400 pixels with the places in its middle (`map()` of explore.js), and how
# many degrees a pixel has.
page_frame <- function(place) {
  ends <- apply(place, 2L, range)
  ratio <- map_limits(place)$ratio
  pixel <- 1.12 * max(diff(ends[, 1L]) * ratio / 640, diff(ends[, 2L]) / 400, 0.005)
  around <- function(side, pixels) mean(ends[, side]) + c(-0.5, 0.5) * pixels
  list(lon = around(1L, 640 * pixel / ratio), lat = around(2L, 400 * pixel), pixel = pixel)
}

# Returns polygons as lon, lat, with NA between their closed lines.
closed_lines <- function(polygons) {
  each <- split(polygons[c("lon", "lat")], polygons$group)
  do.call(rbind, lapply(each, function(ring) rbind(ring, ring[1L, ], NA)))
}

# explore() for a fit of plsa(): writes its topics as one HTML page.

#' A page to explore topics
#'
#' Writes one HTML file that needs no server and no network, in the manner of LDAvis (Sievert and Shirley 2014): the
#' components of a fit of [plsa()] on a plane, and the characteristic taxa and main sites of the selected component. A
#' slider goes from the taxa of largest lift to those of largest probability.
#'
#' @details
#' Components are discs whose area is their share of all counts. Their distances are the square roots of the
#' Jensen-Shannon divergences of their distributions, drawn by classical scaling. The taxa of a component are those of
#' largest relevance \eqn{\lambda \log w_{cj} + (1 - \lambda) \log}{lambda log w[c,j] + (1 - lambda) log} of the lift
#' ([top_terms()]), with \eqn{\lambda} on the slider, .6 at first. A bar is the count of a taxon in the whole table, its
#' dark part the count expected from the component. Pick a taxon, and the area of each disc is the share of that
#' component in it. The page can be used by keyboard.
#'
#' @param x a fit of [plsa()], of any estimate.
#' @param n number of taxa and sites shown for each component.
#' @inheritParams explore.which_zeros
#' @return The path of the page, invisibly. Wrong input is an error of class `multicause_input_error`.
#' @references Sievert C, Shirley KE (2014). LDAvis: a method for visualizing and interpreting topics. *Proceedings of
#'   the Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70.
#'   \doi{10.3115/v1/W14-3110}
#' @seealso [top_terms()], [coherence()], and [explore()][explore.which_zeros] of which zeros are false.
#' @examplesIf requireNamespace("jsonlite", quietly = TRUE)
#' set.seed(1)
#' counts <- cbind(matrix(rpois(60, 4), 20), matrix(rpois(60, 1), 20))
#' counts <- rbind(counts, counts[, 6:1])
#' colnames(counts) <- c("bone", "tooth", "skull", "leaf", "seed", "pollen")
#' fit <- plsa(counts, k = 2, control = fit_control(n_start = 2))
#' page <- explore(fit, tempfile(fileext = ".html"), open = FALSE)
#' file.size(page)
#' @export
explore.plsa <- function(x, file = NULL, ..., n = 30, title = NULL, open = interactive()) {
  check_dots(...)
  n <- check_count(n, "n")
  check_text(title, "title", 1L)
  write_page("topics", function() topics_data(x, n, title), file, open)
}

topics_data <- function(fit, n, title) {
  counts <- fit_data(fit)
  w <- said_of_terms(fit)
  everywhere <- overall_probability(fit, w)
  length <- row_sums(counts, na.rm = TRUE)
  written <- fit$param$membership * length
  size <- colSums(written)
  tops <- lapply(seq_len(nrow(w)), function(c) terms_of_any_weight(w[c, ], everywhere, n))
  terms <- sort(unique(unlist(tops)))
  place <- topic_places(w)
  names <- page_names(fit, 2L)
  list(
    title = title %||% "Topics", words = axis_words(fit), n = n, names = I(component_names(nrow(w))),
    share = I(unname(size / sum(size))), x = I(place[, 1L]), y = I(place[, 2L]),
    terms = I(names[terms]), count = I(unname(column_sums(counts, na.rm = TRUE)[terms])),
    log_lift = I(unname(log(w[, terms, drop = FALSE]) - rep(log(everywhere[terms]), each = nrow(w)))),
    log_share = I(unname(log(w[, terms, drop = FALSE]))), written = I(unname(w[, terms, drop = FALSE] * size)),
    tops = lapply(tops, function(top) I(match(top, terms) - 1L)),
    sites = lapply(seq_len(nrow(w)), function(c) {
      at <- utils::head(order(-written[, c]), n)
      at <- at[written[at, c] > 0]
      list(
        names = I(page_names(fit, 1L)[at]), share = I(unname(fit$param$membership[at, c])),
        written = I(unname(written[at, c]))
      )
    })
  )
}

# Selects the terms that are among the first n for some weight of relevance.
terms_of_any_weight <- function(values, everywhere, n) {
  told <- which(is_characteristic(values))
  each <- lapply(seq(0, 1, 0.05), function(weight) {
    relevance <- drop(relevance_of(t(values[told]), everywhere[told], weight))
    told[utils::head(order(-relevance, -values[told]), n)]
  })
  unique(unlist(each))
}

# Places points in a plane such that distances approximate the square roots of Jensen-Shannon divergences, a metric.
topic_places <- function(w) {
  p <- w / rowSums(w)
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  own <- apply(p, 1L, entropy)
  distance <- function(a, b) sqrt(pmax(entropy((p[a, ] + p[b, ]) / 2) - (own[a] + own[b]) / 2, 0))
  between <- outer(seq_len(nrow(p)), seq_len(nrow(p)), Vectorize(distance))
  axes <- if (nrow(p) > 1L) suppressWarnings(stats::cmdscale(between, min(2L, nrow(p) - 1L)))
  unname(cbind(axes, matrix(0, nrow(p), 2L))[, 1:2, drop = FALSE])
}
