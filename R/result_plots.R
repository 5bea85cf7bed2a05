# Figures of results. Those without arguments are described on the page of plot() and autoplot().

# nolint start: object_name_linter.

#' @export
plot.multicause_result <- plot.multicause

#' @export
plot.which_zeros <- plot.multicause

#' @export
plot.which_zeros_sensitivity <- plot.multicause

#' @export
plot.which_zeros_sums <- plot.multicause

#' @export
plot.which_zeros_contrast <- plot.multicause

#' @export
plot.zero_explained <- plot.multicause

#' @export
plot.false_absences <- plot.multicause

#' @export
plot.false_presences <- plot.multicause

#' @export
plot.visit_richness <- plot.multicause

# An average of fits and the neighbours' mean have no components: their figure is the table itself.
#' @exportS3Method ggplot2::autoplot
autoplot.multicause_ensemble <- function(object, ...) {
  check_dots(...)
  table_figure(object, sprintf("Average of %s", count_words(length(object$fits), "fit")))
}

#' @exportS3Method ggplot2::autoplot
autoplot.neighbours_mean <- function(object, ...) {
  check_dots(...)
  table_figure(object, "Neighbours' mean")
}

table_figure <- function(fit, title, legend = "probability of presence") {
  words <- axis_words(fit)
  heat_figure(
    fit$probability, title,
    sprintf("Heat map: the probability of a presence of each of the %s at each of the %s.", words[2L], words[1L]),
    legend = legend, sides = words, taxa = "column"
  )
}

#' @exportS3Method ggplot2::autoplot
autoplot.multicause_cv <- function(object, ...) {
  check_dots(...)
  numbers <- c("k", "loss", "se", omission_measures, "not_converged")
  label <- do.call(paste, object$results[setdiff(names(object$results), numbers)])
  panel <- loss_panel(object$results, label, criterion_words[[object$criterion]])
  losses_figure(list(panel))
}

#' @exportS3Method ggplot2::autoplot
autoplot.multicause_comparison <- function(object, ...) {
  check_dots(...)
  ggplot2::autoplot(object$cells)
}

#' @exportS3Method ggplot2::autoplot
autoplot.multicause_selection <- function(object, ...) {
  check_dots(...)
  known <- object$best$criterion[!is.na(object$best$k)]
  if (!length(known)) stop_input("`object` must hold a value to draw: all of its criteria are unknown.")
  losses_figure(lapply(known, function(criterion) {
    mine <- object$table[object$table$criterion == criterion, ]
    results <- data.frame(k = mine$k, loss = mine$value, se = mine$se)
    loss_panel(results, rep(object$model, nrow(mine)), criterion_words[[criterion]])
  }))
}

# The least loss, or each criterion's choice, in a sentence.
best_title <- function(panels) {
  chosen <- lapply(panels, function(each) each$chosen[each$chosen$choice == choice_words[1L], ])
  k <- vapply(chosen, function(each) each$k[which.min(each$loss)], 0)
  if (length(panels) > 1L) {
    each <- sub("loss per ", "", vapply(panels, `[[`, "", "panel"))
    return(paste("Least:", paste(sprintf("%s k = %g", each, k), collapse = ", ")))
  }
  best <- chosen[[1L]][which.min(chosen[[1L]]$loss), ]
  many <- nrow(chosen[[1L]]) > 1L
  sprintf("The loss is least at k = %g%s", best$k, if (many) sprintf(", of %s", best$label) else "")
}

choice_words <- c("least", "smallest k within 1 SE")

# What a panel of losses shows: those that are known, and of each label the least and the least k near it.
loss_panel <- function(results, label, ylab) {
  shown <- !is.na(results$loss)
  label <- factor(label[shown], unique(label[shown]))
  results <- data.frame(results[shown, c("k", "loss", "se")], label = label)
  results <- results[order(label, results$k), ]
  each <- lapply(split(results, results$label), function(mine) {
    # Without standard errors nothing is within one of the least.
    at <- data.frame(mine[cv_choice(mine), ], choice = choice_words, row.names = NULL)
    at[seq_len(if (anyNA(at$se)) 1L else 2L), ]
  })
  list(results = results, chosen = do.call(rbind, unname(each)), panel = ylab)
}

# Losses against k with bars of one standard error, a line for every label, a panel for every criterion.
losses_figure <- function(panels, title = best_title(panels)) {
  bind <- function(part) do.call(rbind, lapply(panels, function(each) cbind(each[[part]], panel = each$panel)))
  results <- bind("results")
  bars <- results[!is.na(results$se), ]
  bars$lower <- bars$loss - bars$se
  bars$upper <- bars$loss + bars$se
  labels <- levels(results$label)
  several <- results[stats::ave(results$k, results$label, FUN = length) > 1, ]
  guide <- if (length(labels) > 1L) ggplot2::guide_legend(ncol = 1L) else "none"
  new_figure(
    results, gg_aes(x = "k", y = "loss", colour = "label"), title,
    "Lines: the loss against the number of components, with one standard error; a ring at the least.",
    "number of components, k", if (length(panels) == 1L) panels[[1L]]$panel
  ) + ggplot2::geom_line(gg_aes(linetype = "label"), several) +
    ggplot2::geom_point() +
    ggplot2::geom_linerange(gg_aes(ymin = "lower", ymax = "upper"), bars) +
    ggplot2::geom_point(gg_aes(shape = "choice"), bind("chosen"), size = 4, stroke = 0.9) +
    ggplot2::scale_shape_manual(NULL, values = stats::setNames(1:0, choice_words)) +
    colour_scale(stats::setNames(component_colours(length(labels)), labels)) +
    ggplot2::scale_linetype_discrete(NULL) + ggplot2::guides(colour = guide, linetype = guide, fill = "none") +
    ggplot2::theme(legend.box = "vertical", legend.box.just = "left", legend.spacing.y = ggplot2::unit(0, "pt")) +
    ggplot2::scale_x_continuous(breaks = whole_breaks) +
    (if (length(panels) > 1L) ggplot2::facet_wrap("panel", scales = "free_y", ncol = 2L))
}

#' @exportS3Method ggplot2::autoplot
autoplot.recovery <- function(object, ...) {
  check_dots(...)
  recovery_figure(object, sprintf("A changed cell outranks another with probability %.2f", object$summary$auc))
}

# Plots a ROC curve, precision against recall, and calibration over the whole range of probabilities. of: short name of
# the target; probability: meaning of the scores; rules: a named list of further ROC curves.
recovery_figure <- function(found, title, of = "changed cells", probability = "score", rules = list()) {
  s <- found$summary
  heads <- c(
    roc = "ROC: true by\nfalse positives", pr = "Precision\nby recall", calibration = "Calibration:\nshare by score"
  )
  whose <- c("this result", names(rules))
  part <- function(name, x, y, curve = found[[name]], who = whose[1L]) {
    n <- nrow(curve)
    data.frame(
      panel = factor(rep(heads[[name]], n), heads), x = curve[[x]], y = curve[[y]], of = factor(rep_len(who, n), whose)
    )
  }
  roc <- function(...) part("roc", "false_positive", "true_positive", ...)
  line <- found$calibration
  expected <- rbind(
    data.frame(panel = factor(heads[["roc"]], heads), x = 0:1, y = 0:1, of = factor(whose[1L], whose)),
    if (nrow(line)) part("calibration", "probability", "score")
  )
  observed <- part("calibration", "probability", "share")
  hits <- line$share * line$cells
  observed[c("low", "high")] <- lapply(c(0.05, 0.95), stats::qbeta, hits + 0.5, line$cells - hits + 0.5)
  guide <- if (length(rules)) ggplot2::guide_legend(ncol = legend_columns(whose), byrow = TRUE) else "none"
  new_figure(
    rbind(roc(), part("pr", "recall", "precision")), gg_aes(x = "x", y = "y"), title, paste0(
      "Three panels: share found against false alarms", if (length(rules)) ", also of each simple rule",
      "; precision against recall; share of ", of, " by their score, observed and expected."
    ), NULL, NULL, paste0(
      sprintf("AUC %.3f", s$auc), if (!is.na(s$ap)) sprintf(", average precision %.3f", s$ap),
      if (nrow(line)) sprintf(", slope %.2f", s$slope), ". Dashed: expected",
      if (nrow(line) && probability != "score") paste(". Score:", probability)
    )
  ) + ggplot2::geom_line(data = expected, colour = "grey50", linetype = 2L) +
    lapply(names(rules), function(rule) {
      ggplot2::geom_path(gg_aes(colour = "of", linetype = "of"), roc(rules[[rule]], rule), linewidth = 0.5)
    }) +
    ggplot2::geom_path(gg_aes(colour = "of", linetype = "of"), linewidth = 0.7) +
    ggplot2::geom_pointrange(gg_aes(ymin = "low", ymax = "high"), observed, size = 0.25, linewidth = 0.4) +
    # Black, and none of the colours for states of cells.
    ggplot2::scale_colour_manual(
      NULL, limits = whose, values = component_colours(8L)[c(8L, 3L, 5L, 4L, 2L)][seq_along(whose)], guide = guide
    ) + ggplot2::scale_linetype_manual(
      NULL, limits = whose, values = c(1L, 2L, 6L, 3L, 4L)[seq_along(whose)], guide = guide
    ) +
    # All are shares: one axis for the three.
    ggplot2::facet_wrap("panel", nrow = 1L) +
    ggplot2::scale_x_continuous(breaks = c(0, 0.5, 1), labels = c("0", "0.5", "1")) +
    ggplot2::expand_limits(x = 0:1, y = 0:1) +
    ggplot2::theme(strip.text = ggplot2::element_text(size = 7), panel.spacing.x = ggplot2::unit(8, "pt")) +
    legend_below()
}

#' @exportS3Method ggplot2::autoplot
autoplot.modes <- function(object, ...) {
  check_dots(...)
  table <- object$modes
  table$label <- sprintf("%d (%d)", table$mode, table$starts)
  new_figure(
    table, gg_aes(x = "distance", y = "behind"), sprintf(
      "%s found the best of %s", count_words(table$starts[which.min(table$behind)], "start"),
      count_words(nrow(table), "solution")
    ),
    "Points: how far each solution is from the best, in its cells and in its objective.",
    "distance of the cells from the best solution", "objective below the best", "Number of the solution (its starts)"
  ) + ggplot2::geom_point(gg_aes(size = "starts"), colour = component_colours(1L), show.legend = FALSE) +
    ggplot2::geom_text(gg_aes(label = "label"), size = 3, vjust = -1.1, hjust = "inward", check_overlap = TRUE) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0.08, 0.15)))
}

#' @exportS3Method ggplot2::autoplot
autoplot.age_profile <- function(object, ..., unit = "guess") {
  check_dots(...)
  check_text(unit, "unit", 1L)
  unit <- said_unit(unit, list(age_unit = attr(object, "unit")))
  boxes <- object$aspects
  boxes$component <- factor(boxes$component, unique(boxes$component))
  at <- match(levels(boxes$component), component_names(object$k))
  new_figure(
    boxes, gg_aes(x = "component"), sprintf("%s is the oldest component", oldest_component(boxes, unit)),
    "Box plots: the ages of what each component holds, older below.", NULL, NULL,
    sprintf("Box: middle half; whiskers: 90 %%; n: effective %s", kept_words(object)[2L])
  ) + ggplot2::geom_boxplot(
    gg_aes(ymin = "lower", lower = "q1", middle = "median", upper = "q3", ymax = "upper", fill = "component"),
    stat = "identity", show.legend = FALSE, width = 0.6, alpha = 0.6
  ) + colour_scale(stats::setNames(component_colours(object$k)[at], levels(boxes$component))) +
    ggplot2::scale_x_discrete(
      labels = stats::setNames(sprintf("%s\nn = %.0f", boxes$component, boxes$n_effective), boxes$component),
      guide = thinned()
    ) + time_axis(unlist(boxes[c("lower", "upper")]), unit, "y")
}

oldest_component <- function(boxes, unit) {
  ago <- years_ago(boxes$median, unit)
  as.character(boxes$component[which.max(ago)])
}

#' @exportS3Method ggplot2::autoplot
autoplot.identifiability <- function(object, ...) {
  check_dots(...)
  if (!is.null(object$profile)) {
    return(profile_figure(object))
  }
  rows <- object$sites[order(object$sites$share), ]
  rows$at <- seq_len(nrow(rows))
  colours <- stats::setNames(c("grey85", "#7FB6DB", "#08306B"), bound_words)
  bound <- function(name, low, high) {
    data.frame(from = rows$at - 0.5, to = rows$at + 0.5, low = low, high = high, bound = factor(name, names(colours)))
  }
  boxes <- rbind(
    bound(bound_words[1L], 0, rows$outer_most),
    if (!is.null(rows$inner_least)) {
      bound(bound_words[2L], rows$inner_least, pmax(rows$inner_most, rows$inner_least + 0.004))
    },
    bound(bound_words[3L], pmax(rows$share - 0.006, 0), pmin(rows$share + 0.006, 1))
  )
  new_figure(
    boxes, gg_aes(xmin = "from", xmax = "to", ymin = "low", ymax = "high", fill = "bound"),
    sprintf("The phantom may be up to %.0f %% of a site", 100 * max(rows$outer_most)),
    sprintf("Bars: the bounds of the %s phantom's share of each site, and its share as fitted.",
      object$share$phantom[1L]), "sites, in order of the share as fitted", sprintf("share of the %s phantom",
      object$share$phantom[1L])
  ) + ggplot2::geom_rect() +
    ggplot2::scale_fill_manual(NULL, values = colours) +
    ggplot2::scale_x_continuous(breaks = whole_breaks, expand = c(0, 0)) +
    ggplot2::guides(fill = ggplot2::guide_legend(ncol = 1L)) +
    ggplot2::coord_cartesian(ylim = c(0, 1), expand = FALSE) + no_grid()
}

bound_words <- c("possible at most", "attained by fits as good", "as fitted")

#' @exportS3Method ggplot2::autoplot
autoplot.divergences <- function(object, ...) {
  check_dots(...)
  tables <- stats::setNames(unclass(object), dimension_names(names(object), attr(object, "at")))
  most <- max(unlist(lapply(tables, function(d) d[is.finite(d)])), 1e-12)
  figure <- picture_figure(
    lapply(tables, unname),
    sprintf("The components differ most in %s", names(tables)[which.max(vapply(tables, mean, 0))]),
    "Pictures: divergences of all pairs of components.",
    c(0, most), legend = "Kullback-Leibler divergence (nats)", x = "component q", y = "component p"
  )
  if (nrow(tables[[1L]]) > 6L) {
    return(figure)
  }
  # Few are read as numbers.
  figure$data$number <- ifelse(figure$data$row == figure$data$column, "",
    vapply(signif(figure$data$value, 2L), format, ""))
  figure$data$ink <- ifelse(figure$data$value > most / 2, "white", "black")
  figure + ggplot2::geom_text(gg_aes(label = "number"), figure$data, colour = figure$data$ink, size = 2)
}

# nolint end

profile_figure <- function(object) {
  ends <- object$expected
  ends$bound <- factor(profile_names[ends$bound], rev(profile_names))
  new_figure(
    ends, gg_aes(xmin = "least", xmax = "most", y = "bound"),
    sprintf("%s false absences, as fitted and in tables like it", show_ends(min(ends$least), max(ends$most))),
    "Bars: numbers of false absences, as fitted and within the bounds.", "false absences", NULL
  ) + ggplot2::geom_errorbar(orientation = "y", width = 0.2) + ggplot2::geom_point(gg_aes(x = "least")) +
    ggplot2::geom_point(gg_aes(x = "most"))
}

profile_names <- c(
  fitted = "as fitted", likelihood = "log-likelihood lower by at most 2", draws = "of tables drawn alike"
)

# Objects that have no picture of their own say where theirs are: R's default would look for coordinates in them.

#' @export
plot.smooth_over <- function(x, ...) {
  stop_input("Neighbours have no plot: see plot(fit, \"curves\") of a fit with `smooth`, or print() them.")
}

#' @export
plot.shards <- function(x, ...) {
  stop_input("Shards have no plot: plot a fit to them, a result of which_zeros(), or a table of some rows, `x[i, ]`.")
}

#' @export
plot.phantoms <- function(x, ...) {
  stop_input("What phantoms() says is a table: plot(fit) shows the components that it is about.")
}

#' @export
plot.denoised <- function(x, ...) {
  stop_input("denoise() returns the tables `x` and `probability`: plot(fit) draws the components behind them.")
}

#' @export
plot.corruption <- function(x, ...) {
  stop_input("corrupt() returns the tables `x` and `original`: plot(recovery(fit, x)) draws how well a fit finds them.")
}

#' @export
plot.coherence <- function(x, ...) {
  stop_input("coherence() returns a table: plot(fit, \"top\") draws the components that it is about.")
}
