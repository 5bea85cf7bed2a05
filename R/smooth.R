# Converts smooth_over() for the kernel: covariates in the order of the rows, and neighbours.

check_smooth <- function(smooth) {
  if (!is.null(smooth) && !inherits(smooth, "smooth_over")) {
    stop_input("`smooth` must come from smooth_over() or be NULL, not %s.", show_value(smooth))
  }
  check_valid(smooth$given$neighbours, "smooth$given$neighbours")
  smooth
}

# Without names to match by, the user's argument must have as many sites as the table, of dimensions dims.
check_sites_of <- function(near, name, dims) {
  if (near$n != dims[1L] && is.null(near$names) && is.null(near$tables)) {
    stop_input(
      "`%s` must be of the %s of `x`, not of %d.%s", name, count_words(dims[1L], "site"), near$n,
      if (near$n == dims[2L]) " Columns of `x` are taxa: are these the sites? Then use `t(x)`." else ""
    )
  }
}

# Matches smooth_over() to the rows of x, by name if both have names; `name`: the argument of the user's call.
match_smooth <- function(smooth, x, name = "smooth") {
  names <- rownames(x)
  smooth <- named_by_data(smooth, names)
  numbered <- is_numbering(smooth$names, names) # dist() of a data frame numbers what has no names
  if (is.null(smooth$names) || is.null(names) || numbered) {
    if (smooth$n != nrow(x)) {
      stop_input(
        "`%s` must be of the %s of `x`, not of %s%s.", name, count_words(nrow(x), "row"),
        count_words(smooth$n, "site"),
        if (is.null(smooth$names) || numbered) " (name its covariates by the rows to use a part of them)" else ""
      )
    }
    return(smooth)
  }
  at <- match(names, smooth$names)
  if (anyNA(at)) stop_input("`%s` must have every row of `x`: it lacks %s.", name, show_names(names[is.na(at)]))
  if (identical(at, seq_len(smooth$n))) {
    return(smooth)
  }
  check_loose(smooth$given, at)
  smooth_at(smooth, at, names)
}

# Orders data frames whose rows name no site by the data, if a column or the row numbers hold the sites' names.
named_by_data <- function(smooth, labels) {
  tables <- smooth$tables
  smooth$tables <- NULL
  if (!is.null(labels)) tables <- Filter(function(table) !is.null(find_key(table, labels)), tables)
  if (is.null(labels) || !length(tables)) {
    return(smooth)
  }
  given <- smooth$given
  for (name in names(tables)) {
    key <- covariate_key(tables[[name]], name, labels)
    if (is.null(key)) next
    given[[name]] <- check_covariate(by_key_column(tables[[name]], name, labels), name)
    if (name == "environment") {
      smooth$units <- environment_units(given[[name]])
      given[[name]] <- in_units(given[[name]], smooth$units)
    }
    check_loose(given, match(labels, key$values))
  }
  check_same_sites(given)
  smooth$given <- given
  smooth["names"] <- list(covariate_names(given))
  smooth$n <- nrow(given[[1L]])
  smooth
}

# Restricts smooth_over() to these sites; names: NULL or one for each.
smooth_at <- function(smooth, at, names) {
  smooth$given[] <- Map(take_sites, smooth$given, names(smooth$given), list(at))
  smooth["names"] <- list(names)
  smooth$n <- length(at)
  smooth$lists <- NULL # of other sites
  smooth
}

# Refuses a covariate without names beside one whose names are in another order than the rows: its order is unknown.
check_loose <- function(given, at) {
  named <- !vapply(lapply(given, rownames), is.null, NA)
  if (is.unsorted(at) && any(named) && !all(named)) {
    stop_input(
      "`%s` must name the sites, as `%s` does: the names there are in another order than the rows of `x`.",
      names(given)[!named][1L], names(given)[named][1L]
    )
  }
}

# Returns covariates in the form that mc_c_neighbours() reads.
kernel_sites <- function(given) {
  place <- given$place
  plane <- if (is_plane(place)) t(unname(place))
  if (!is.null(plane)) {
    place <- NULL
  } else if (!is.null(place)) {
    lon <- place[, 1L] * pi / 180
    lat <- place[, 2L] * pi / 180
    place <- rbind(cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat))
  }
  n <- nrow(given[[1L]])
  list(
    n = n, age = if (!is.null(given$age)) unname(given$age), place = place, plane = plane,
    variables = if (!is.null(given$environment)) t(unname(given$environment)),
    distance = if (!is.null(given$distance)) t(unname(given$distance))
  )
}

smooth_reach <- -log(0.01)

# Finds neighbours of `from` among `to`: list(start, neighbour, weight), from 0; own: the position of each of `from` in
# `to`, NULL if none is there.
find_neighbours <- function(smooth, from = smooth$given, to = smooth$given, own = seq_len(smooth$n), n_threads = 1) {
  scale <- c(age = 1, place = 1, distance = 1, environment = 1)
  scale[names(smooth$bandwidth)] <- smooth$bandwidth
  own <- if (!is.null(own)) as.integer(own) - 1L
  limits <- c(smooth_reach, smooth$most %||% 30, n_threads)
  .Call(mc_c_neighbours, kernel_sites(from), kernel_sites(to), unname(scale), own, limits)
}

# Returns the same for a matrix of weights, rows scaled to sum to 1.
matrix_neighbours <- function(weights) {
  check_valid(weights, "neighbours")
  rows <- Matrix::t(weights)
  sums <- rep(Matrix::colSums(rows), diff(rows@p))
  list(start = rows@p, neighbour = rows@i, weight = rows@x / sums)
}

smoothed_name <- function(objective, lists) paste0(if (!is.null(lists)) "smoothed_", objective)

# Returns smooth_over(), with numbers for bandwidth and strength, in the kernel's form; NULL without smoothing.
smooth_lists <- function(smooth) {
  if (is.null(smooth) || smooth$strength == 0) {
    return(NULL)
  }
  lists <- smooth$lists # found before, for many fits
  if (is.null(lists)) {
    given <- smooth$given$neighbours
    lists <- if (is.null(given)) find_neighbours(smooth) else matrix_neighbours(given)
  }
  row <- rep(seq_len(smooth$n) - 1L, diff(lists$start))
  at <- order(lists$neighbour)
  c(list(strength = smooth$strength, recording = smooth$recording), lists, list(
    back_start = c(0L, cumsum(tabulate(lists$neighbour + 1L, smooth$n))), back_row = row[at],
    back_weight = lists$weight[at]
  ))
}

# Computes the composition of rows: memberships of free components, as shares of their sum.
composition_of <- function(fit) {
  content <- fit$param$membership[, free_components(fit), drop = FALSE]
  content / rowSums(content)
}

free_components <- function(fit) {
  fixed <- fixed_kinds(fit)
  if (is.null(fixed)) rep(TRUE, fit$dims[["k"]]) else unname(fixed) == "free"
}

is_smoothed <- function(fit) !is.null(fit$smooth) && fit$smooth$strength > 0

# Returns the kernel's smoothing for the fold-in of n new rows; NULL without smoothing.
smooth_given <- function(fit, n, along) {
  if (!is_smoothed(fit)) {
    return(NULL)
  }
  list(
    strength = fit$smooth$strength, recording = fit$smooth$recording, reference = smooth_reference(fit, n, along),
    common = unname(colMeans(fit$param$membership))
  )
}

# Returns neighbours as a sparse matrix of their weights; those of site i are row i.
list_weights <- function(lists, dims) {
  Matrix::sparseMatrix(
    i = rep(seq_len(dims[1L]), diff(lists$start)), j = lists$neighbour + 1L, x = lists$weight, dims = dims
  )
}

# Computes means of new rows for fold-in, k x n: the average composition of their neighbours among the training rows; if
# a covariate is unknown (`along` NULL: for every row), `other`, by default the table's average.
smooth_reference <- function(fit, n, along, other = colMeans(composition)) {
  composition <- composition_of(fit)
  free <- free_components(fit)
  mean <- matrix(other, n, sum(free), byrow = TRUE)
  if (!is.null(along)) {
    lists <- along_neighbours(fit$smooth, along)
    weights <- list_weights(lists, c(n, fit$smooth$n))
    known <- which(diff(lists$start) > 0L)
    mean[known, ] <- as.matrix(weights %*% composition)[known, ]
  }
  out <- matrix(0, length(free), n)
  out[free, ] <- t(unname(mean))
  out
}

# Returns new rows of a fit with neighbours: list(x, along).
new_sites <- function(fit, newdata, along) {
  if (is.null(newdata)) newdata <- unrecorded_rows(fit, along)
  x <- new_rows(fit, newdata)
  list(x = x, along = check_along(fit, along, nrow(x), rownames(x)))
}

pick_along <- function(along, rows) {
  if (!is.null(along)) lapply(along, function(each) each[rows, , drop = FALSE])
}

# Returns a table of unknown cells for sites with covariates only.
unrecorded_rows <- function(fit, along) {
  along <- check_along(fit, along)
  matrix(NA_real_, nrow(along[[1L]]), fit$dims[["m"]], dimnames = list(rownames(along[[1L]]), fit$names[[2L]]))
}

along_neighbours <- function(smooth, along) {
  if (!is.null(along$neighbours)) {
    return(matrix_neighbours(along$neighbours))
  }
  find_neighbours(smooth, along, smooth$given, own = NULL)
}

# Checks covariates of new rows, as for smooth_over(): list(age, place), or distances and weights n_new x n.
check_along <- function(fit, along, n = NULL, sites = NULL) {
  if (is.null(along)) {
    return(NULL)
  }
  if (is.null(fit$smooth)) stop_input("`along` must be NULL: this fit was made without `smooth`.")
  wanted <- names(fit$smooth$given)
  if (!is.list(along) || is.data.frame(along)) {
    stop_input("`along` must be a list of %s, not %s.", show_names(wanted), show_value(along))
  }
  if (!setequal(names(along), wanted)) {
    got <- if (length(names(along))) show_names(names(along)) else "no names"
    stop_input("`along` must be a list of %s, as `smooth` was supplied: it has %s.", show_names(wanted), got)
  }
  frames <- vapply(along, is.data.frame, NA)
  along[frames] <- Map(
    covariate_frame_by_name, along[frames], paste0("along$", names(along)[frames]), list(labels = sites)
  )
  out <- lapply(stats::setNames(wanted, wanted), function(name) {
    switch(name,
      age = check_age_bounds(along$age, "along$age"), place = check_along_place(along$place, fit$smooth$given$place),
      environment = check_along_environment(along$environment, fit$smooth$units),
      check_along_matrix(along[[name]], name, fit$smooth$n)
    )
  })
  for (name in wanted) out[[name]] <- by_name(out[[name]], sites, paste0("along$", name))
  rows <- vapply(out, nrow, 0L)
  if (is.null(n)) n <- rows[[1L]]
  off <- which(rows != n)
  if (length(off)) {
    stop_input("`along$%s` must be of %s, not %d.", wanted[off[1L]], count_words(n, "row"), rows[off[1L]])
  }
  out
}

# Places of new rows have the kind of those of the fit, whatever their names.
check_along_place <- function(place, training) {
  check_place(place, "along$place", if (is_plane(training)) "plane" else "degrees")
}

check_along_matrix <- function(x, name, n) {
  if (is.list(x)) {
    x <- Matrix::sparseMatrix(
      i = rep(seq_along(x), lengths(x)), j = as.integer(unlist(lapply(x, pick, n, NULL, "along$neighbours"))), x = 1,
      dims = c(length(x), n)
    )
  }
  check_valid(x, paste0("along$", name))
  if (length(dim(x)) != 2L || ncol(x) != n || any(x < 0, na.rm = TRUE)) {
    stop_input("`along$%s` must have a column for each of the %d training rows, none negative.", name, n)
  }
  if (name == "distance") {
    x <- unname(as.matrix(x))
    storage.mode(x) <- "double"
    return(x)
  }
  out <- without_slack(column_sparse(x))
  if (!all(is.finite(out@x))) stop_input("`along$neighbours` must hold finite weights.")
  out
}

# Chooses bandwidth and strength of smooth_over() by held-out cells.

# Computes the unit of bandwidths to try: the distance that includes about a twentieth of the others, for each covariate
# the median over (at most 500) observations; if ties make it 0, the mean distance.
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
    out <- stats::median(row_quantiles(d, 0.05), na.rm = TRUE)
    if (is.na(out) || out <= 0) out <- mean(d, na.rm = TRUE)
    if (is.na(out) || out <= 0) 1 else out
  }, 0)
}

# stats::quantile() of what is known of each row, which are sorted at once.
row_quantiles <- function(x, probability) {
  sorted <- matrix(x[order(row(x), x)], ncol(x))
  at <- 1 + pmax(rowSums(!is.na(x)) - 1, 0) * probability
  value <- function(place) sorted[cbind(place, seq_len(nrow(x)))]
  value(floor(at)) + (at - floor(at)) * (value(ceiling(at)) - value(floor(at)))
}

sphere_distance <- function(place) {
  at <- kernel_sites(list(place = place))$place
  2 * 6371.0088 * asin(pmin(as.matrix(stats::dist(t(at))) / 2, 1))
}

cv_factors <- c(1, 2, 4, 8)
cv_strengths <- c(0, 3, 10, 30)
cv_wider <- 6L # values tried beyond each end of these

# Returns the smooth_over() of a fit with numbers: matched to the rows of the data, and chosen by held-out cells if
# requested. The problem's `values` is the kind of its data, as in check_data().
set_smooth <- function(smooth, problem, control) {
  if (is.null(smooth)) {
    return(NULL)
  }
  smooth <- match_smooth(smooth, problem$data$x)
  if (is.numeric(smooth$bandwidth) && is.numeric(smooth$strength)) {
    return(smooth)
  }
  loss <- held_out_loss(problem, smooth, control)
  take_best(smooth, try_settings(smooth, loss))
}

# Moves starting values off exact bounds before smoothing, since what fell to 0 without neighbours may return.
soften_start <- function(problem, param) UseMethod("soften_start")

soften_start.default <- function(problem, param) {
  param$membership <- 0.99 * param$membership + 0.01 / ncol(param$membership)
  param
}

# Returns smooth_over() with the best setting tried, and warns of a choice at the end of a grid.
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

# Returns function(bandwidth, strength): the loss of the held-out cells of each fold. For each fold a few short starts
# run once without neighbours, and the best of them continues with the neighbours.
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
  check_held(held)
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

# Returns the function of held_out_loss(): the best start of each part continues with the neighbours, and
# judge(parameters, number of the part) is its loss.
smoothed_losses <- function(smooth, parts, first, control, judge) {
  function(bandwidth, strength) {
    smooth[c("bandwidth", "strength")] <- list(bandwidth, strength)
    lists <- smooth_lists(smooth)
    vapply(seq_along(parts), function(f) {
      part <- parts[[f]]
      part$near <- lists
      param <- checked_run(part, soften_start(part, first[[f]]), control)$param
      judge(param, f)
    }, 0)
  }
}

short_starts <- function(control) {
  refuse_checkpoint(control)
  control[c("n_start", "max_iter", "screen", "n_finish", "n_polish", "tol")] <- list(3L, 300L, 50L, 1L, 0L, 1e-6)
  control <- inner_control(control)
  control$keep_starts <- FALSE
  control
}

# Evaluates settings, a list of list(bandwidth, strength, loss): all bandwidths at one strength, then all strengths at
# the best bandwidth. Each grid is extended while its best value is at an end. Attribute at_edge: the grids whose best
# value still is at an end, and which end, "least" or "most".
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

# Evaluates all values, then values beyond the end at which the best one is, until it is at none: `further(value, sign)`
# is the next above (sign 1) or below (-1). A 0 is no end. Returns list(tried, at_edge), the latter "least", "most" or
# NA.
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

# Computes means of single cells, and their probabilities of a presence, for a model with memberships.
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

# Tabulates losses, and the paired difference from no smoothing if that was tried.
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
