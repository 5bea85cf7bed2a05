# Figures of fits of repeated visits, and comparisons with simulated surveys.

#' Figures of a fit of repeated visits
#'
#' How easily taxa are found, and what was there beside what was found.
#'
#' @param object a fit of [visits_bernoulli()].
#' @param what `"detection"`: the probability to find each taxon where it is against a covariate of the fit's
#'   `detection`, the others at their means, with a line for the mean coefficients over taxa (and its 90 % interval with
#'   `estimate = "gibbs"`); `"richness"`: taxa found and estimated at each site, with intervals; `"sites"`: sites of
#'   each taxon. Others as in [plot.aspect_bernoulli()]. `NULL`: `"detection"` where there is such a covariate, else
#'   `"richness"`.
#' @param covariate for `"detection"`: the name of a covariate; `NULL`: the first that is a number.
#' @param ... the other arguments of [plot.aspect_bernoulli()], for its views.
#' @param level probability of the intervals, see [occupied()].
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' date <- matrix(runif(90, 0, 2), 30)
#' present <- matrix(rbinom(150, 1, 0.6), 30)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(150, 1, plogis(date[, v] - 1)), 30))
#' fit <- visits_bernoulli(visits, 1, detection = ~date, visit_data = list(date = date))
#' plot(fit)
#' plot(fit, "richness")
#' @aliases plot.visits_bernoulli
#' @exportS3Method ggplot2::autoplot
autoplot.visits_bernoulli <- function(object, what = NULL, covariate = NULL, ..., # nolint: object_name_linter.
                                      level = 0.9) {
  # Further arguments are for figures that every fit with aspects has.
  if (is.null(what)) what <- if (...length()) "aspects" else if (has_curves(object)) "detection" else "richness"
  own <- c("detection", "richness", "sites")
  what <- check_choice(what, "what", c(own, eval(formals(autoplot.aspect_model)$what)))
  if (!what %in% own) {
    return(autoplot.aspect_model(object, what, ...))
  }
  check_dots(...)
  if (what == "detection") {
    return(detection_figure(object, covariate))
  }
  ggplot2::autoplot(occupied(object, if (what == "richness") "site" else "taxon", level = level))
}

most_lines <- 24L # so many have names at their ends

# Names at the ends of lines, where they do not cover each other. rows: at, probability, taxon (a number).
line_names <- function(rows, names, italics) {
  last <- rows[rows$at == max(rows$at), ]
  last$label <- short_labels(14L)(names[last$taxon])
  room <- ggplot2::expansion(mult = c(0.02, 0.05 + 0.02 * max(nchar(last$label))))
  list(
    ggplot2::geom_text(gg_aes(label = "label"), last, hjust = -0.1, size = 2.1, colour = "grey30", check_overlap = TRUE,
      fontface = if (italics) "italic" else "plain"),
    ggplot2::scale_x_continuous(expand = room)
  )
}

# How detection changes along a covariate: the mean of all lines, or the line of the mean taxon.
detection_title <- function(rows, of, covariate) {
  ends <- vapply(c(min, max), function(end) mean(rows$probability[rows$at == end(rows$at)]), 0)
  way <- if (abs(diff(ends)) < 0.02) "changes little" else if (diff(ends) > 0) "rises" else "falls"
  sprintf("%s %s with %s, from %.2f to %.2f", of, way, covariate, ends[1L], ends[2L])
}

has_curves <- function(fit) any(lengths(fit$detection$frame$range) > 0L)

detection_figure <- function(fit, covariate) {
  need_detection(fit)
  covariate <- check_numeric_covariate(fit$detection$frame, "detection", covariate)
  grid <- stats::setNames(
    data.frame(seq(fit$detection$frame$range[[covariate]][1L], fit$detection$frame$range[[covariate]][2L],
      length.out = 101L)), covariate
  )
  probability <- unname(new_detection(fit, grid))
  m <- ncol(probability)
  taxa <- axis_words(fit)[2L]
  kinds <- c(taxa, "too rare to estimate")
  rows <- data.frame(
    at = rep(grid[[1L]], m), probability = as.vector(probability), taxon = rep(seq_len(m), each = 101L),
    rare = factor(rep(kinds[1L + fit$rare], each = 101L), kinds)
  )
  design <- new_design(fit$detection$frame, fill_covariates(fit$detection$frame, grid))
  d <- nrow(design)
  figure <- new_figure(
    rows, gg_aes(x = "at", y = "probability", group = "taxon"), detection_title(rows, "Mean detection", covariate),
    sprintf("Lines: probability that a visit finds each of %d %s where it is, against %s.", m, taxa, covariate),
    covariate, "detection per visit"
  ) +
    (if (m <= most_lines) line_names(rows, side_names(fit, 2L), in_italics(taxa))) +
    ggplot2::geom_line(gg_aes(linetype = "rare"), colour = "grey55", alpha = min(0.8, 0.3 + 8 / m), linewidth = 0.35) +
    ggplot2::scale_linetype_manual(
      NULL, values = stats::setNames(c(1L, 3L), kinds),
      guide = ggplot2::guide_legend(override.aes = list(alpha = 1, linewidth = 0.6))
    ) +
    ggplot2::coord_cartesian(ylim = c(0, min(1, 1.05 * max(rows$probability))), clip = "off")
  if (fit$detection$sharing != "partial") {
    return(figure)
  }
  mean <- data.frame(at = grid[[1L]], taxon = 0L)
  draws <- if (is_sampled(fit)) as.matrix(fit$trace[sprintf("mean[%s]", fit$detection$terms)])
  centre <- if (is.null(draws)) matrix(fit$detection$mean[seq_len(d)], 1L) else draws
  each <- stats::plogis(centre %*% design)
  mean$probability <- colMeans(each)
  if (!is.null(draws)) {
    mean$low <- apply(each, 2L, stats::quantile, 0.05)
    mean$high <- apply(each, 2L, stats::quantile, 0.95)
    ends <- gg_aes(ymin = "low", ymax = "high")
    figure <- figure + ggplot2::geom_ribbon(ends, mean, alpha = 0.25, fill = component_colours(1L))
  }
  title <- detection_title(mean, paste("Detection of the mean", singular_word(taxa)), covariate)
  figure + ggplot2::geom_line(data = mean, colour = component_colours(1L), linewidth = 1.1) +
    ggplot2::labs(title = wrapped(title, title_width), subtitle = sprintf(
      "Thick line: the mean %s%s", singular_word(taxa), if (is.null(draws)) "" else ", with its 90 % interval"
    ))
}

#' @exportS3Method ggplot2::autoplot
autoplot.visit_richness <- function(object, ...) { # nolint: object_name_linter.
  check_dots(...)
  need_drawn_columns(object, c("found", "expected", "low", "high"))
  taxa <- "taxon" %in% names(object)
  table <- object[order(-object$expected), ]
  rows <- data.frame(
    label = as.character(table[[1L]]), value = table$expected, low = table$low, high = table$high, other = table$found
  )
  level <- attr(object, "level") %||% 0.9
  words <- c(value = sprintf("estimated, with %s %% interval", format(100 * level)), other = "found")
  side <- kept_words(object)
  many <- side[if (taxa) 1L else 2L]
  one <- singular_word(side)[if (taxa) 2L else 1L]
  title <- sprintf("Mean %s per %s: %s found, %s estimated", many, one,
    show_count(mean(rows$other)), show_count(mean(rows$value)))
  if (nrow(rows) > most_ranges) {
    return(richness_counts(rows, title, one, many, side[if (taxa) 2L else 1L]))
  }
  alt <- sprintf("Points with ranges: %s, estimated and found, of %s.", title, count_words(nrow(rows), "row"))
  ranges_figure(rows, title, alt, many, words, taxa = taxa && in_italics(side[2L]), whole = TRUE, most = 20L,
    colours = unname(cell_colours[c("missed", "found")]))
}

most_ranges <- 60L # of more, ranges beside each other are a block of one colour

# How many sites have how many taxa: found, and estimated.
richness_counts <- function(rows, title, one, many, of) {
  kinds <- c("found", "estimated")
  value <- list(rows$other, round(rows$value))
  table <- do.call(rbind, lapply(1:2, function(i) {
    number <- table(value[[i]])
    data.frame(at = as.numeric(names(number)), sites = as.vector(number), kind = factor(kinds[i], kinds))
  }))
  new_figure(
    table, gg_aes(x = "at", y = "sites"), title,
    sprintf("Bars: how many have each number of %s, found and estimated.", many), sprintf("%s per %s", many, one),
    paste("number of", of), sprintf("All %s %s", format_big(nrow(rows)), of)
  ) + ggplot2::geom_col(gg_aes(fill = "kind"), position = ggplot2::position_dodge(preserve = "single"), width = 0.85) +
    ggplot2::scale_x_continuous(breaks = whole_breaks) +
    colour_scale(stats::setNames(unname(cell_colours[c("found", "missed")]), kinds))
}

#' @export
residuals.visits_bernoulli <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  check_dots(...)
  type <- check_choice(type)
  # Residuals of the union of all visits: detected or not, minus the probability of a detection.
  kept_visits(object)
  object$x <- fit_data(object, x)
  rows <- seq_len(object$dims[["n"]])
  present <- fitted(object)
  silent <- probability_of_silence(object, rows)
  false <- 1 - all_visits(object, rows, function(v) 1 - object$param$added[v])
  mean <- present * (1 - silent) + (1 - present) * false
  observed <- dense_rows(object$x, rows)
  dimnames(observed) <- dimnames(mean)
  residual_matrix(object, observed, mean, type)
}

#' Does the fit make surveys like the real one?
#'
#' Compares the data with surveys simulated from a fit of [visits_bernoulli()] or [visits_occupancy()], from its
#' posterior if it has one: a posterior predictive check.
#'
#' @param fit a fit of [visits_bernoulli()] or [visits_occupancy()].
#' @param nsim number of surveys to draw.
#' @param ... must be empty.
#' @return A data frame of class `predictive_check` with a row for each statistic: `statistic`, `observed`,
#'   `expected`, `low`, `high` (the central 90 % of surveys) and `p`, the share of surveys above the observed value
#'   (ties count half). Statistics: presences on each visit; cells found at all, and on more than one visit; the
#'   standard deviations (`sd`) of the numbers of taxa found per site and of sites per taxon; taxa found at one site
#'   alone. Their names have the words of the data (`names(dimnames(x))`), else sites and taxa.
#' @examples
#' set.seed(1)
#' present <- matrix(rbinom(200, 1, 0.6), 20)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(200, 1, 0.5), 20))
#' predictive_check(visits_bernoulli(visits, 1, missed_by = "visit"), nsim = 50)
#' @export
predictive_check <- function(fit, nsim = 200, ...) {
  check_dots(...)
  check_fit(fit, c("visits_bernoulli", "visits_occupancy"))
  nsim <- check_nsim(nsim, 1)
  words <- axis_words(fit)
  observed <- survey_statistics(kept_visits(fit), words)
  members <- if (is_sampled(fit)) posterior_draws(fit, nsim) else list(fit)
  drawn <- vapply(seq_len(nsim), function(s) {
    survey_statistics(draw_visits(members[[(s - 1L) %% length(members) + 1L]]), words)
  }, observed)
  out <- data.frame(
    statistic = names(observed), observed = unname(observed), expected = rowMeans(drawn),
    low = apply(drawn, 1L, stats::quantile, 0.05, names = FALSE),
    high = apply(drawn, 1L, stats::quantile, 0.95, names = FALSE),
    p = rowMeans(drawn > observed) + rowMeans(drawn == observed) / 2, row.names = NULL
  )
  structure(out, class = c("predictive_check", "data.frame"), nsim = nsim)
}

#' @export
print.predictive_check <- function(x, digits = 3L, ...) {
  shown <- x
  digits <- check_digits(digits)
  number <- vapply(shown, is.numeric, NA)
  shown[number] <- lapply(shown[number], function(values) vapply(signif(values, digits), format_big, ""))
  title <- "Predictive check: the data, and the mean and 90 % range of surveys drawn from the fit"
  print_visit_table(shown, digits, max(1L, nrow(x)), title, c(
    p = "p: share of drawn surveys above the data, ties counted half; near 0 or 1 the fit does not describe the data"
  ))
  invisible(x)
}

survey_statistics <- function(cell, words) {
  times <- rowSums(cell == 1, na.rm = TRUE, dims = 2L)
  by_visit <- apply(cell == 1, 3L, sum, na.rm = TRUE)
  label <- dimnames(cell)[[3L]] %||% seq_along(by_visit)
  c(
    stats::setNames(by_visit, sprintf("presences on visit %s", label)), `cells found` = sum(times > 0),
    `cells found more than once` = sum(times > 1),
    stats::setNames(
      c(spread_of(rowSums(times > 0)), spread_of(colSums(times > 0)), sum(colSums(times > 0) == 1)),
      sprintf(
        c("%2$s found per %3$s (sd)", "%1$s found per %4$s (sd)", "%2$s found at one %3$s"), words[1L], words[2L],
        singular_word(words[1L]), singular_word(words[2L])
      )
    )
  )
}

spread_of <- function(x) if (length(x) > 1L) stats::sd(x) else 0
