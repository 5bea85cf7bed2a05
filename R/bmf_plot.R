#' Plot a binary matrix factorization
#'
#' @description
#' Four views of a fit:
#' \describe{
#'   \item{`"data"`}{the data (left) and their posterior mean (right), rows and columns in the order of the features of
#'     `param`, so that each meeting of a row and a column feature is a block; right of each picture, in black, the
#'     members of the row features, below it those of the column features. Missing cells are grey.}
#'   \item{`"features"`}{what each row feature adds to the columns. With `shape` the columns are pixels and the features
#'     images: above, what row features add; below, the column features.}
#'   \item{`"trace"`}{log joint density, log-likelihood and numbers of features of every chain, draw by draw.}
#'   \item{`"counts"`}{posterior distributions of the numbers of row and of column features.}
#' }
#'
#' @param object a fit of [bmf()].
#' @param what which view.
#' @param shape for `"features"`: `c(height, width)` of an image whose pixels are the columns, rows of pixels from the
#'   top, one after another.
#' @param most for `"features"`: at most so many features of a side, those with most members first.
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' rows <- cbind(rep(1:0, each = 15), rep(c(0, 1, 1), 10))
#' columns <- cbind(rep(1:0, 5), rep(0:1, each = 5))
#' x <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns) + rnorm(300, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' plot(fit)
#' plot(fit, "trace")
#' plot(fit, "counts")
#' @name plot.bmf
#' @aliases autoplot.bmf
#' @exportS3Method ggplot2::autoplot
autoplot.bmf <- function(object, what = c("data", "features", "trace", "counts"), # nolint: object_name_linter.
                         shape = NULL, most = 12, ...) {
  what <- check_choice(what, "what", c("data", "features", "trace", "counts"))
  check_dots(...)
  most <- check_count(most, "most")
  switch(what,
    data = bmf_data_figure(object), counts = bmf_counts_figure(object),
    features = if (is.null(shape)) bmf_effects_figure(object, most) else bmf_images_figure(object, shape, most),
    trace = chain_traces_figure(object, bmf_traced)
  )
}

# Items by their features, the first feature first: members of a feature stand together as far as overlaps allow.
feature_order <- function(on) {
  varying <- on[, colSums(on) > 0 & colSums(on) < nrow(on), drop = FALSE]
  if (!ncol(varying)) {
    return(seq_len(nrow(on)))
  }
  do.call(order, c(lapply(seq_len(ncol(varying)), function(c) -varying[, c]), list(seq_len(nrow(on)))))
}

bmf_data_figure <- function(fit) {
  param <- fit$param
  rows <- feature_order(param$rows)
  columns <- feature_order(param$columns)
  data <- as.matrix(fit_data(fit))[rows, columns, drop = FALSE]
  scale <- signed_colours(c(data, fit$mean))
  size <- dim(data)
  # Members of features: beside the rows and below the columns, a strip each, 3 % of the picture wide.
  strip <- pmax(0.5, 0.03 * rev(size))
  members <- function(on, along, width) {
    at <- which(on == 1, arr.ind = TRUE)
    data.frame(along = at[, 1L], across = along + width * (at[, 2L] + 0.5))
  }
  beside <- members(param$rows[rows, , drop = FALSE], size[2L], strip[1L])
  below <- members(param$columns[columns, , drop = FALSE], size[1L], strip[2L])
  words <- axis_words(fit)
  figure <- picture_figure(
    list(data = data, `posterior mean` = fit$mean[rows, columns, drop = FALSE]),
    sprintf(
      "%s by %s", count_words(ncol(param$rows), "row feature"), count_words(ncol(param$columns), "column feature")
    ),
    "Pictures: the data and their posterior mean, and beside them the members of row and of column features.",
    scale$limits, scale$colours, x = words[2L], y = words[1L]
  )
  if (nrow(beside)) {
    figure <- figure + ggplot2::geom_tile(
      gg_aes(x = "across", y = "along"), beside, inherit.aes = FALSE, width = 0.85 * strip[1L], height = 1,
      fill = "grey15"
    )
  }
  if (nrow(below)) {
    figure <- figure + ggplot2::geom_tile(
      gg_aes(x = "along", y = "across"), below, inherit.aes = FALSE, height = 0.85 * strip[2L], width = 1,
      fill = "grey15"
    )
  }
  figure
}

# What a row with this feature gets in each column, in units of the linear predictor.
bmf_effects <- function(fit) fit$param$weights %*% t(fit$param$columns)

bmf_effects_figure <- function(fit, most) {
  effects <- bmf_effects(fit)
  effects <- effects[seq_len(min(most, nrow(effects))), , drop = FALSE]
  if (!nrow(effects)) stop_input("The fit has no row features to plot.")
  scale <- signed_colours(effects)
  order <- feature_order(fit$param$columns)
  values <- t(effects[, order, drop = FALSE])
  if (is.null(rownames(values))) rownames(values) <- order
  heat_figure(
    values, "What each row feature adds", "Heat map: what each row feature adds to each column.", scale$limits,
    scale$colours, "added to the linear predictor"
  )
}

bmf_images_figure <- function(fit, shape, most) {
  m <- fit$dims[["m"]]
  if (!is.numeric(shape) || length(shape) != 2L || anyNA(shape) || prod(shape) != m) {
    stop_input("`shape` must be c(height, width) with height x width = %d, not %s.", m, show_value(shape))
  }
  first <- function(k) seq_len(min(most, k))
  effects <- bmf_effects(fit)[first(nrow(fit$param$weights)), , drop = FALSE]
  scale <- signed_colours(effects)
  columns <- t(fit$param$columns)[first(ncol(fit$param$columns)), , drop = FALSE] * scale$limits[2L]
  both <- rbind(effects, columns)
  tables <- lapply(seq_len(nrow(both)), function(i) matrix(both[i, ], shape[1L], shape[2L], byrow = TRUE))
  names(tables) <- make.unique(rownames(both))
  picture_figure(
    tables, "Row features (R), column features (C)", "Pictures of the features.", scale$limits,
    scale$colours, "added to the linear predictor"
  ) + without_axes()
}

bmf_traced <- c(
  objective = "log joint density", log_likelihood = "log-likelihood", row_features = "row features",
  column_features = "column features"
)

# Quantities of the trace; `shown`: their titles, named.
chain_traces_figure <- function(fit, shown) {
  each <- lapply(names(shown), function(name) {
    data.frame(
      chain = factor(fit$trace$chain), draw = fit$trace$pass, value = fit$trace[[name]], quantity = shown[[name]]
    )
  })
  table <- do.call(rbind, each)
  table$quantity <- factor(table$quantity, shown)
  new_figure(
    table, gg_aes(x = "draw", y = "value", colour = "chain", linetype = "chain"),
    count_words(nlevels(table$chain), "chain"),
    sprintf("Lines: %s of every chain, draw by draw.", paste(shown, collapse = ", ")), "draw"
  ) + ggplot2::geom_line(linewidth = 0.3) + ggplot2::facet_wrap("quantity", scales = "free_y") +
    ggplot2::scale_linetype_manual("chain", values = rep_len(1:6, nlevels(table$chain))) +
    colour_scale(stats::setNames(component_colours(nlevels(table$chain)), levels(table$chain)), "chain")
}

bmf_counts_figure <- function(fit) {
  each <- lapply(c("row_features", "column_features"), function(name) {
    share <- table(fit$trace[[name]]) / nrow(fit$trace)
    data.frame(features = as.integer(names(share)), probability = as.vector(share), side = sub("_", " ", name))
  })
  table <- do.call(rbind, each)
  table$side <- factor(table$side, unique(table$side))
  new_figure(
    table, gg_aes(x = "features", y = "probability"), "How many features?",
    "Bars: posterior probabilities of the numbers of row and of column features.", NULL, "posterior probability"
  ) + ggplot2::geom_col(fill = component_colours(1L), width = 0.7) + ggplot2::facet_wrap("side", scales = "free_x") +
    ggplot2::scale_x_continuous(breaks = whole_breaks)
}
