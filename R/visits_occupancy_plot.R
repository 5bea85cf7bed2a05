# Figures of fits of visits_occupancy(). Tests: test-visits_occupancy.R.

#' Figures of a fit of occupancy
#'
#' How presence and detection follow a covariate, and how many sites each taxon has.
#'
#' @param object a fit of [visits_occupancy()].
#' @param what `"presence"`: the probability that each taxon is at a site, against a covariate, the others at their
#'   means; `"detection"`: that a visit finds it where it is; `"taxa"`: sites at which each taxon was found and is
#'   expected, with intervals, the default if no covariate of `presence` is a number. `"trace"`: the iterations of
#'   the fit.
#' @param covariate the name of a covariate of that formula; `NULL`: the first that is a number.
#' @param ... must be empty.
#' @param taxon names or numbers of taxa, each with a ribbon of its own; `NULL`: all as lines, and the mean of
#'   coefficients over taxa with its ribbon.
#' @param level probability of the intervals.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @aliases plot.visits_occupancy
#' @examples
#' set.seed(1)
#' elev <- rnorm(60)
#' present <- sapply(c(-1, 0, 1), function(slope) rbinom(60, 1, plogis(slope * elev)))
#' visits <- lapply(1:3, function(v) present * rbinom(180, 1, 0.5))
#' fit <- visits_occupancy(visits, ~elev, site_data = data.frame(elev), uneven = 0)
#' plot(fit, "presence", "elev")
#' plot(fit, "presence", "elev", taxon = c(1, 3))
#' plot(fit, "taxa")
#' @exportS3Method ggplot2::autoplot
autoplot.visits_occupancy <- function(object, # nolint: object_name_linter.
                                      what = c("presence", "detection", "taxa", "trace"), covariate = NULL, ...,
                                      taxon = NULL, level = 0.9) {
  check_dots(...)
  # Without a covariate that is a number there is no curve to draw.
  is_number <- lengths(object$presence$frame$range) > 0L
  what <- if (missing(what) && is.null(covariate) && !any(is_number)) "taxa" else check_choice(what)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  taxon <- if (!is.null(taxon)) pick(taxon, object$dims[["m"]], object$names[[2L]], "taxon")
  switch(what,
    taxa = taxa_figure(object, taxon %||% seq_len(object$dims[["m"]]), level),
    trace = shared_figure(object, "trace"),
    response_figure(object, what, check_numeric_covariate(object[[what]]$frame, what, covariate), taxon, level)
  )
}

response_figure <- function(fit, part, covariate, taxon, level) {
  frame <- fit[[part]]$frame
  along <- design_along(frame, covariate)
  values <- along$values
  design <- along$design
  words <- axis_words(fit)
  y <- c(presence = "probability of a presence", detection = "detection per visit")[[part]]
  shown <- taxon %||% seq_len(fit$dims[["m"]])
  p <- (if (part == "presence") presence_mean else detection_mean)(fit, design, if (!is.null(taxon)) level)
  long <- function(p) as.vector(p[, shown])
  names <- side_names(fit, 2L)[shown]
  rows <- data.frame(at = rep(values, length(shown)), taxon = factor(rep(names, each = 101L), unique(names)))
  rows$probability <- long(if (is.null(taxon)) p else p$mean)
  line <- if (is.null(taxon)) mean_response(fit, part, design, level)
  mean <- if (is.null(taxon)) line$probability else tapply(rows$probability, rows$at, mean)
  ends <- mean[c(1L, length(mean))]
  of <- c(presence = "Occupancy", detection = "Detection")[[part]]
  by_taxon <- matrix(rows$probability, length(values))
  change <- by_taxon[nrow(by_taxon), ] - by_taxon[1L, ]
  title <- if (length(shown) > 1L) {
    sprintf(
      "%s rises with %s in %d of %d %s and falls in %d", of, covariate, sum(change > 0.02), length(shown), words[2L],
      sum(change < -0.02)
    )
  } else {
    sprintf("%s %s with %s, from %.2f to %.2f", of, if (change > 0) "rises" else "falls", covariate, ends[1L], ends[2L])
  }
  alt <- sprintf("Lines: %s of %d %s, against %s.", y, length(shown), words[2L], covariate)
  ribbon <- sprintf("%s %% interval", format(100 * level))
  if (is.null(taxon)) {
    figure <- new_figure(rows, gg_aes(x = "at", y = "probability"), title, alt, covariate, y,
      sprintf("Thick line: the average %s, with its %s", singular_word(words[2L]), ribbon)) +
      ggplot2::geom_line(gg_aes(group = "taxon"), colour = "grey55", alpha = min(0.8, 0.3 + 8 / length(shown)),
        linewidth = 0.35) +
      ggplot2::geom_ribbon(gg_aes(ymin = "low", ymax = "high"), data.frame(at = values, line), alpha = 0.25,
        fill = component_colours(1L)) +
      ggplot2::geom_line(data = data.frame(at = values, line), colour = component_colours(1L), linewidth = 1.1)
  } else {
    rows$low <- long(p$lower)
    rows$high <- long(p$upper)
    aes <- gg_aes(x = "at", y = "probability")
    figure <- new_figure(rows, aes, title, alt, covariate, y, sprintf("With %ss", ribbon)) +
      ggplot2::geom_ribbon(gg_aes(ymin = "low", ymax = "high"), alpha = 0.25, fill = component_colours(1L)) +
      ggplot2::geom_line(colour = component_colours(1L), linewidth = 0.8) +
      ggplot2::facet_wrap("taxon")
  }
  figure + ggplot2::coord_cartesian(ylim = c(0, 1))
}

# Computes the response of a taxon with mean coefficients: probability, low, high for each column of a design.
mean_response <- function(fit, part, design, level) {
  eta <- crossprod(design, fit$draws$center[theta_rows(fit, part), , drop = FALSE])
  p <- if (part == "detection") detection_probability(fit, eta, seq_len(ncol(eta))) else stats::plogis(eta)
  ends <- apply(p, 1L, stats::quantile, c(1 - level, 1 + level) / 2, names = FALSE)
  data.frame(probability = rowMeans(p), low = ends[1L, ], high = ends[2L, ])
}

taxa_figure <- function(fit, taxon, level) {
  table <- taxon_numbers(fit, level)[taxon, ]
  table <- table[order(-table$expected), ]
  rows <- data.frame(
    label = table$taxon, value = table$expected, low = table$low, high = table$high, other = table$found
  )
  side <- axis_words(fit)
  words <- c(value = sprintf("expected, with %s %% interval", format(100 * level)), other = "found")
  title <- sprintf("Mean %s per %s: %s found, %s expected", side[1L], singular_word(side[2L]),
    show_count(mean(rows$other)), show_count(mean(rows$value)))
  alt <- sprintf("Points with ranges: %s, expected and found, of %s.", title, count_words(nrow(rows), "row"))
  ranges_figure(rows, title, alt, side[1L], words, taxa = in_italics(side[2L]), whole = TRUE, most = 20L,
    colours = unname(cell_colours[c("missed", "found")]))
}
