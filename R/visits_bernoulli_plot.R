# Figures of fits of repeated visits, and what simulated surveys say of a fit.

#' Figures of a fit of repeated visits
#'
#' How easily taxa are found, and what was there beside what was found.
#'
#' @param object a fit of [visits_bernoulli()].
#' @param what `"detection"`: the chance to find each taxon where it is against a covariate of the fit's `detection`,
#'   the others at their means, with the taxon of mean coefficients on top (with `estimate = "gibbs"` and its 90 %
#'   interval); `"richness"`: taxa found and estimated at each site, with intervals; `"sites"`: sites of each taxon.
#'   Others as in [plot.aspect_bernoulli()]. `NULL`: `"detection"` where there is such a covariate, else `"richness"`.
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
  numeric <- numeric_covariates(object)
  # What else is given is for a figure that every fit of the aspects has.
  if (is.null(what)) what <- if (...length()) "aspects" else if (length(numeric)) "detection" else "richness"
  own <- c("detection", "richness", "sites")
  what <- check_choice(what, "what", c(own, eval(formals(autoplot.aspect_bernoulli)$what)))
  if (!what %in% own) {
    class(object) <- setdiff(class(object), c("visits_bernoulli_gibbs", "visits_bernoulli"))
    return(ggplot2::autoplot(object, what, ...))
  }
  check_dots(...)
  if (what == "detection") {
    return(detection_figure(object, covariate, numeric))
  }
  ggplot2::autoplot(occupied(object, if (what == "richness") "site" else "taxon", level = level))
}

numeric_covariates <- function(fit) {
  typical <- fit$detection$frame$typical
  names(typical)[vapply(typical, is.numeric, NA)]
}

detection_figure <- function(fit, covariate, numeric) {
  need_detection(fit)
  if (is.null(covariate)) covariate <- numeric[1L]
  if (!is.character(covariate) || length(covariate) != 1L || !covariate %in% numeric) {
    known <- if (length(numeric)) show_names(numeric) else "the covariates that are numbers, of which there are none"
    stop_input("`covariate` must be one of %s, not %s.", known, show_value(covariate))
  }
  grid <- stats::setNames(
    data.frame(seq(fit$detection$frame$range[[covariate]][1L], fit$detection$frame$range[[covariate]][2L],
      length.out = 101L)), covariate
  )
  chance <- unname(new_detection(fit, grid))
  m <- ncol(chance)
  taxa <- axis_words(fit)[2L]
  kinds <- c(taxa, "found too seldom to say much")
  rows <- data.frame(
    at = rep(grid[[1L]], m), chance = as.vector(chance), taxon = rep(seq_len(m), each = 101L),
    rare = factor(rep(kinds[1L + fit$rare], each = 101L), kinds)
  )
  design <- new_design(fit$detection$frame, fill_covariates(fit$detection$frame, grid))
  d <- nrow(design)
  figure <- new_figure(
    rows, gg_aes(x = "at", y = "chance", group = "taxon"), sprintf("How easily %s are found", taxa),
    sprintf("Lines: chance that a visit finds each of %d %s where it is, against %s.", m, taxa, covariate), covariate,
    "chance that a visit finds what is there"
  ) +
    ggplot2::geom_line(gg_aes(linetype = "rare"), colour = "grey55", alpha = min(0.8, 0.3 + 8 / m), linewidth = 0.35) +
    ggplot2::scale_linetype_manual(
      NULL, values = stats::setNames(c(1L, 3L), kinds),
      guide = ggplot2::guide_legend(override.aes = list(alpha = 1, linewidth = 0.6))
    ) +
    ggplot2::coord_cartesian(ylim = c(0, 1))
  if (fit$detection$sharing != "partial") {
    return(figure)
  }
  mean <- data.frame(at = grid[[1L]], taxon = 0L)
  draws <- if (is_sampled(fit)) as.matrix(fit$trace[sprintf("mean[%s]", fit$detection$terms)])
  centre <- if (is.null(draws)) matrix(fit$detection$mean[seq_len(d)], 1L) else draws
  each <- stats::plogis(centre %*% design)
  mean$chance <- colMeans(each)
  if (!is.null(draws)) {
    mean$low <- apply(each, 2L, stats::quantile, 0.05)
    mean$high <- apply(each, 2L, stats::quantile, 0.95)
    ends <- gg_aes(ymin = "low", ymax = "high")
    figure <- figure + ggplot2::geom_ribbon(ends, mean, alpha = 0.25, fill = component_colours(1L))
  }
  figure + ggplot2::geom_line(data = mean, colour = component_colours(1L), linewidth = 1.1) +
    ggplot2::labs(subtitle = sprintf(
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
  title <- if (taxa) paste(capital(side[1L]), "of", side[2L]) else paste("Richness of", side[1L])
  alt <- sprintf("Points with ranges: %s, estimated and found, of %s.", title, count_words(nrow(rows), "row"))
  ranges_figure(rows, title, alt, side[if (taxa) 1L else 2L], words, taxa = taxa, whole = TRUE,
    colours = unname(cell_colours[c("missed", "found")]))
}

#' @export
residuals.visits_bernoulli <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  check_dots(...)
  type <- check_choice(type)
  # What any visit found, less its chance to be found by any.
  object$x <- fit_data(object, x)
  rows <- seq_len(object$dims[["n"]])
  present <- fitted(object)
  silent <- chance_of_silence(object, rows)
  false <- 1 - all_visits(object, rows, function(v) 1 - object$param$added[v])
  mean <- present * (1 - silent) + (1 - present) * false
  observed <- dense_rows(object$x, rows)
  dimnames(observed) <- dimnames(mean)
  residual_matrix(object, observed, mean, type)
}

#' Does the fit make surveys like the real one?
#'
#' Surveys drawn from a fit of [visits_bernoulli()] or [visits_occupancy()], from its posterior where it has one, beside
#' the data: a posterior predictive check.
#'
#' @param fit a fit of [visits_bernoulli()] or [visits_occupancy()].
#' @param nsim number of surveys to draw.
#' @param ... must be empty.
#' @return A data frame of class `predictive_check` with a row for each statistic: `statistic`, `observed`, `expected`,
#'   `low`, `high` (the central 90 % of surveys) and `p`, the share of surveys at or above the observed value (ties
#'   count half). Statistics: finds on each visit; cells found at all, and on more than one visit; the standard
#'   deviation of the number of taxa found among sites, and of sites among taxa; taxa found at one site alone. Their
#'   names have the words of the data (`names(dimnames(x))`), else sites and taxa.
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
  print_visit_table(x, digits, max(1L, nrow(x)), c(
    observed = "observed: in the data",
    expected = "expected: mean of surveys drawn from the fit", low = "low, high: 90 % of these surveys",
    p = "p: share of these surveys at or above the data; near 0 or 1 the fit does not make such data"
  ))
}

survey_statistics <- function(cell, words) {
  times <- rowSums(cell == 1, na.rm = TRUE, dims = 2L)
  by_visit <- apply(cell == 1, 3L, sum, na.rm = TRUE)
  label <- dimnames(cell)[[3L]] %||% seq_along(by_visit)
  c(
    stats::setNames(by_visit, sprintf("finds on visit %s", label)), `cells found` = sum(times > 0),
    `cells found more than once` = sum(times > 1),
    stats::setNames(
      c(spread_of(rowSums(times > 0)), spread_of(colSums(times > 0)), sum(colSums(times > 0) == 1)),
      sprintf(
        c("sd of %2$s found among %1$s", "sd of %1$s found among %2$s", "%2$s found at one %3$s"), words[1L], words[2L],
        singular_word(words[1L])
      )
    )
  )
}

spread_of <- function(x) if (length(x) > 1L) stats::sd(x) else 0
