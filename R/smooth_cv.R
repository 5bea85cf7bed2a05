# The choice of bandwidth and strength of smooth_over() by held-out cells.

# Bandwidths to try are multiples of this: the distance that takes in about a twentieth of the others, for each
# covariate the median over (at most 500) observations; where ties make it 0, the mean distance.
typical_distance <- function(smooth) {
  some <- unique(round(seq(1, smooth$n, length.out = min(smooth$n, 500L))))
  vapply(setdiff(names(smooth$given), "neighbours"), function(name) {
    each <- smooth$given[[name]][some, , drop = FALSE]
    d <- switch(name,
      age = as.matrix(stats::dist(rowMeans(each))),
      place = if (is_plane(each)) as.matrix(stats::dist(each)) else sphere_distance(each),
      environment = as.matrix(stats::dist(each)),
      distance = each[, some, drop = FALSE]
    )
    diag(d) <- NA
    near <- apply(d, 1L, stats::quantile, probs = 0.05, na.rm = TRUE, names = FALSE)
    out <- stats::median(near, na.rm = TRUE)
    if (is.na(out) || out <= 0) out <- mean(d, na.rm = TRUE)
    if (is.na(out) || out <= 0) 1 else out
  }, 0)
}

sphere_distance <- function(place) {
  at <- kernel_sites(list(place = place))$place
  2 * 6371.0088 * asin(pmin(as.matrix(stats::dist(t(at))) / 2, 1))
}

cv_factors <- c(1, 2, 4, 8)
cv_strengths <- c(0, 3, 10, 30)
cv_wider <- 6L # values tried beyond each end of these

# The smooth_over of a fit, with numbers: matched to the rows of the data, then chosen by held-out cells where that is
# asked for. The problem's `values` is the kind of its data, as check_data() wants it.
set_smooth <- function(smooth, problem, control) {
  if (is.null(smooth)) {
    return(NULL)
  }
  smooth <- match_smooth(smooth, problem$data$x)
  if (is.numeric(smooth$bandwidth) && is.numeric(smooth$strength)) {
    return(smooth)
  }
  take_best(smooth, try_settings(smooth, held_out_loss(problem, smooth, control)))
}

# Where a start goes on whose neighbours are to be heard: off exact bounds, as what fell to 0 without them may come
# back.
soften_start <- function(problem, param) UseMethod("soften_start")

soften_start.default <- function(problem, param) {
  param$membership <- 0.99 * param$membership + 0.01 / ncol(param$membership)
  param
}

# The smooth_over with the best of the settings tried, and what there is to say of it.
take_best <- function(smooth, tried) {
  best <- best_setting(tried)
  smooth$bandwidth <- tried[[best]]$bandwidth
  smooth$strength <- tried[[best]]$strength
  smooth$cv <- cv_table(tried)
  at_edge <- attr(tried, "at_edge")
  if (smooth$strength == 0 || !length(at_edge)) {
    return(smooth)
  }
  smooth$at_edge <- at_edge
  for (which in names(at_edge)) {
    end <- list(least = c("smallest", "smaller"), most = c("largest", "larger"))[[at_edge[[which]]]]
    inform("By held-out cells the %s %s that was tried is best: a %s one may be better still.", end[1L], which, end[2L])
  }
  smooth
}

# function(bandwidth, strength): the loss of the held-out cells of each fold. For each fold a few short starts are made
# without neighbours once, and the best of them goes on with the neighbours asked for.
held_out_loss <- function(problem, smooth, control) UseMethod("held_out_loss")

held_out_loss.default <- function(problem, smooth, control) {
  data <- problem$data
  observed <- !is.na(as.matrix(data$x))
  if (sum(observed) < smooth$folds) {
    stop_input("`x` must have at least %s to choose `smooth` by.", count_words(smooth$folds, "observed cell"))
  }
  control <- short_starts(control)
  family <- loss_family(data$view)
  seeds <- draw_seeds(2L)
  held <- with_seed(seeds[1L], cell_folds(observed, smooth$folds))
  parts <- lapply(held, function(cells) {
    problem$data <- check_data(replace_cells(data$x, cells), problem$values, quiet = TRUE)
    problem["near"] <- list(NULL)
    problem
  })
  first <- with_seed(seeds[2L], lapply(parts, function(part) run_starts(part, control)$best$param))
  smoothed_losses(smooth, parts, first, control, function(param, f) {
    hidden <- cell_means(param, parts[[f]]$data, held[[f]])
    mean(loss_of_mean(hidden$presence, hidden$mean, cells_of(data$x, held[[f]]), family, 1e-6))
  })
}

# What held_out_loss() returns: the best start of each part goes on with the neighbours asked for, and
# judge(parameters, number of the part) is its loss.
smoothed_losses <- function(smooth, parts, first, control, judge) {
  function(bandwidth, strength) {
    smooth[c("bandwidth", "strength")] <- list(bandwidth, strength)
    lists <- smooth_lists(smooth)
    vapply(seq_along(parts), function(f) {
      part <- parts[[f]]
      part$near <- lists
      judge(checked_run(part, soften_start(part, first[[f]]), control)$param, f)
    }, 0)
  }
}

short_starts <- function(control) {
  refuse_checkpoint(control)
  control[c("n_start", "max_pass", "screen", "n_finish", "n_polish", "tol")] <- list(3L, 300L, 50L, 1L, 0L, 1e-6)
  control <- inner_control(control)
  control$keep_starts <- FALSE
  control
}

# A list of list(bandwidth, strength, loss): all bandwidths at one strength, then all strengths at the best of them.
# Each grid goes on where its best is at an end. Attribute at_edge: the grids whose best is at an end all the same, and
# which end, "least" or "most".
try_settings <- function(smooth, loss) {
  setting <- function(bandwidth, strength) {
    list(bandwidth = bandwidth, strength = strength, loss = loss(bandwidth, strength))
  }
  bandwidth <- smooth$bandwidth
  strength <- if (is.numeric(smooth$strength)) smooth$strength else 10
  at_edge <- character()
  if (is.numeric(bandwidth)) {
    tried <- list(setting(bandwidth, strength))
  } else {
    typical <- typical_distance(smooth)
    searched <- search_grid(cv_factors, function(at, sign) at * 2^sign, function(factor) {
      setting(factor * typical, strength)
    })
    tried <- searched$tried
    at_edge["bandwidth"] <- searched$at_edge
  }
  if (!is.numeric(smooth$strength)) {
    first <- tried[[best_setting(tried)]]
    searched <- search_grid(cv_strengths, function(at, sign) signif(at * (10 / 3)^sign, 1L), function(strength) {
      if (strength == first$strength) first else setting(first$bandwidth, strength)
    })
    tried <- c(tried, Filter(function(each) each$strength != first$strength, searched$tried))
    at_edge["strength"] <- searched$at_edge
  }
  structure(tried, at_edge = at_edge[!is.na(at_edge)])
}

best_setting <- function(tried) which.min(vapply(tried, function(each) mean(each$loss), 0))

# Tries all values, then values beyond the end at which the best one is, until it is at none: `further(value, sign)` is
# the next above (sign 1) or below (-1). A 0 is no end. Returns list(tried, at_edge), the latter "least", "most" or NA.
search_grid <- function(values, further, judge) {
  tried <- lapply(values, judge)
  for (more in 0:cv_wider) {
    best <- values[best_setting(tried)]
    at_edge <- if (best == max(values)) "most" else if (best == min(values) && best > 0) "least" else NA_character_
    if (is.na(at_edge) || more == cv_wider) break
    values <- c(values, further(best, if (at_edge == "most") 1 else -1))
    tried <- c(tried, list(judge(values[length(values)])))
  }
  list(tried = tried, at_edge = at_edge)
}

# Means of single cells, and their chances of a presence, from the parameters of a model with memberships.
cell_means <- function(param, part, cells) {
  n <- nrow(param$membership)
  row <- (cells - 1L) %% n + 1L
  column <- (cells - 1L) %/% n + 1L
  component <- param[[intersect(c("aspects", "prototypes", "basis"), names(param))]]
  p <- rowSums(param$membership[row, , drop = FALSE] * t(component)[column, , drop = FALSE])
  if (is.null(param$basis)) {
    return(list(mean = p, presence = p))
  }
  mean <- unname(plsa_row_scale(part$view, param, part$margins$row_sum))[row] * p
  list(mean = mean, presence = 1 - exp(-mean))
}

# Losses, and the paired difference from no smoothing where that was tried.
cv_table <- function(tried) {
  none <- Filter(function(each) each$strength == 0, tried)
  bandwidths <- do.call(rbind, lapply(tried, function(each) each$bandwidth))
  out <- data.frame(
    strength = vapply(tried, function(each) each$strength, 0), loss = vapply(tried, function(each) mean(each$loss), 0)
  )
  if (length(none)) {
    gain <- lapply(tried, function(each) none[[1L]]$loss - each$loss)
    out$gain <- vapply(gain, mean, 0)
    out$gain_se <- vapply(gain, function(g) stats::sd(g) / sqrt(length(g)), 0)
  }
  if (!length(bandwidths)) {
    return(out)
  }
  data.frame(stats::setNames(as.data.frame(bandwidths), paste0("bandwidth_", colnames(bandwidths))), out)
}
