# From smooth_over() to what the kernel reads: covariates in the order of the rows, neighbour lists, and the choice of
# bandwidth and strength by held-out cells.

check_smooth <- function(smooth) {
  if (!is.null(smooth) && !inherits(smooth, "smooth_over")) {
    stop_input("`smooth` must come from smooth_over() or be NULL, not %s.", show_value(smooth))
  }
  smooth
}

# The smooth_over of the rows of x, matched by name where both have names.
match_smooth <- function(smooth, x) {
  names <- rownames(x)
  numbered <- identical(smooth$names, as.character(seq_len(smooth$n))) && !any(names %in% smooth$names)
  if (is.null(smooth$names) || is.null(names) || numbered) { # dist() of a data frame numbers what has no names
    if (smooth$n != nrow(x)) {
      stop_input(
        "`smooth` must be of the %d rows of `x`, not of %d observations%s.", nrow(x), smooth$n,
        if (is.null(smooth$names) || numbered) " (name its covariates by the rows to use a part of them)" else ""
      )
    }
    return(smooth)
  }
  at <- match(names, smooth$names)
  if (anyNA(at)) stop_input("`smooth` must have every row of `x`: it lacks %s.", show_names(names[is.na(at)]))
  if (identical(at, seq_len(smooth$n))) {
    return(smooth)
  }
  square <- names(smooth$given) %in% c("distance", "neighbours")
  smooth$given[square] <- lapply(smooth$given[square], function(each) each[at, at, drop = FALSE])
  smooth$given[!square] <- lapply(smooth$given[!square], function(each) each[at, , drop = FALSE])
  smooth$names <- names
  smooth$n <- length(at)
  smooth
}

# What mc_c_neighbours() reads of covariates.
kernel_sites <- function(given) {
  place <- given$place
  if (!is.null(place)) {
    lon <- place[, 1L] * pi / 180
    lat <- place[, 2L] * pi / 180
    place <- rbind(cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat))
  }
  n <- nrow(given[[1L]])
  list(
    n = n, age = if (!is.null(given$age)) unname(given$age), place = place,
    distance = if (!is.null(given$distance)) t(unname(given$distance))
  )
}

smooth_reach <- -log(0.01)

# list(start, neighbour, weight), from 0: neighbours of `from` among `to`.
find_neighbours <- function(smooth, from = smooth$given, to = smooth$given, own = TRUE) {
  scale <- c(age = 1, place = 1, distance = 1)
  scale[names(smooth$bandwidth)] <- smooth$bandwidth
  .Call(mc_c_neighbours, kernel_sites(from), kernel_sites(to), unname(scale), own, c(smooth_reach, smooth$most))
}

# The same of a matrix of weights, rows scaled to sum to 1.
matrix_neighbours <- function(weights) {
  rows <- Matrix::t(weights)
  sums <- rep(Matrix::colSums(rows), diff(rows@p))
  list(start = rows@p, neighbour = rows@i, weight = rows@x / sums)
}

smoothed_name <- function(objective, lists) paste0(if (!is.null(lists)) "smoothed_", objective)

# What the kernel reads of a smooth_over with numbers for bandwidth and strength; NULL where nothing is smoothed.
smooth_lists <- function(smooth) {
  if (is.null(smooth) || smooth$strength == 0) {
    return(NULL)
  }
  lists <- if (is.null(smooth$given$neighbours)) find_neighbours(smooth) else matrix_neighbours(smooth$given$neighbours)
  row <- rep(seq_len(smooth$n) - 1L, diff(lists$start))
  at <- order(lists$neighbour)
  c(list(strength = smooth$strength, recording = smooth$recording), lists, list(
    back_start = c(0L, cumsum(tabulate(lists$neighbour + 1L, smooth$n))), back_row = row[at],
    back_weight = lists$weight[at]
  ))
}

# Bandwidths to try are multiples of this: the distance that takes in about a twentieth of the others, for each
# covariate the median over (at most 500) observations; where ties make it 0, the mean distance.
typical_distance <- function(smooth) {
  some <- unique(round(seq(1, smooth$n, length.out = min(smooth$n, 500L))))
  vapply(setdiff(names(smooth$given), "neighbours"), function(name) {
    each <- smooth$given[[name]][some, , drop = FALSE]
    d <- switch(name,
      age = as.matrix(stats::dist(rowMeans(each))), place = sphere_distance(each),
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

# The smooth_over of a fit, with numbers: matched to the rows of `data`, then chosen by held-out cells where that is
# asked for. `search` is how the model is run for that:
#   what   the kind of data, as check_data() wants it
#   kinds  function(control): the kind of each start; draw(part, kind): start values for `part`, data with cells hidden
#   run    function(part, start, control, lists): list(param, outcome), as run_starts() wants it
set_smooth <- function(smooth, data, search, control) {
  if (is.null(smooth)) {
    return(NULL)
  }
  smooth <- match_smooth(smooth, data$x)
  if (is.numeric(smooth$bandwidth) && is.numeric(smooth$strength)) {
    return(smooth)
  }
  tried <- try_settings(smooth, held_out_loss(smooth, data, search, control))
  best <- which.min(vapply(tried, function(each) mean(each$loss), 0))
  smooth$bandwidth <- tried[[best]]$bandwidth
  smooth$strength <- tried[[best]]$strength
  smooth$cv <- cv_table(tried)
  smooth
}

# function(bandwidth, strength): the loss of the held-out cells of each fold. For each fold a few short starts are made
# without neighbours once, and the best of them goes on with the neighbours asked for.
held_out_loss <- function(smooth, data, search, control) {
  observed <- !is.na(as.matrix(data$x))
  if (sum(observed) < smooth$folds) {
    stop_input("`x` must have at least %d observed cells to choose `smooth` by.", smooth$folds)
  }
  control[c("n_start", "max_pass", "screen_pass", "n_finish", "n_polish", "tol")] <- list(3L, 300L, 50L, 1L, 0L, 1e-6)
  control <- inner_control(control)
  control$keep_starts <- FALSE
  family <- loss_family(data$view)
  seeds <- draw_seeds(2L)
  held <- with_seed(seeds[1L], cell_folds(observed, smooth$folds))
  parts <- lapply(held, function(cells) check_data(replace_cells(data$x, cells), search$what, quiet = TRUE))
  run <- function(part, lists) {
    one <- function(start, control) search$run(part, start, control, lists)
    function(start, control) checked_run(one, start, control)
  }
  first <- with_seed(seeds[2L], lapply(parts, function(part) {
    run_starts(search$kinds(control), function(kind) search$draw(part, kind), run(part, NULL), control)$best$param
  }))
  function(bandwidth, strength) {
    smooth[c("bandwidth", "strength")] <- list(bandwidth, strength)
    lists <- smooth_lists(smooth)
    vapply(seq_along(held), function(f) {
      start <- first[[f]]
      # Off exact bounds: what fell to 0 without neighbours may come back with them.
      start$membership <- 0.99 * start$membership + 0.01 / ncol(start$membership)
      hidden <- cell_means(run(parts[[f]], lists)(start, control)$param, parts[[f]], held[[f]])
      mean(loss_of_mean(hidden$presence, hidden$mean, cells_of(data$x, held[[f]]), family, 1e-6))
    }, 0)
  }
}

# A list of list(bandwidth, strength, loss): all bandwidths at one strength, then all strengths at the best of them.
try_settings <- function(smooth, loss) {
  setting <- function(bandwidth, strength) {
    list(bandwidth = bandwidth, strength = strength, loss = loss(bandwidth, strength))
  }
  mean_loss <- function(tried) vapply(tried, function(each) mean(each$loss), 0)
  bandwidth <- smooth$bandwidth
  strength <- if (is.numeric(smooth$strength)) smooth$strength else 10
  tried <- if (is.numeric(bandwidth)) {
    list(setting(bandwidth, strength))
  } else {
    lapply(cv_factors, function(factor) setting(factor * typical_distance(smooth), strength))
  }
  bandwidth <- tried[[which.min(mean_loss(tried))]]$bandwidth
  others <- if (is.numeric(smooth$strength)) numeric() else setdiff(cv_strengths, strength)
  c(tried, lapply(others, function(strength) setting(bandwidth, strength)))
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

# What rows are made of: memberships of the components that are not pinned, as shares of their sum.
composition_of <- function(fit) {
  content <- fit$param$membership[, free_components(fit), drop = FALSE]
  content / rowSums(content)
}

free_components <- function(fit) {
  if (is.null(fit$pinned)) rep(TRUE, fit$dims[["k"]]) else unname(fit$pinned) == "free"
}

is_smoothed <- function(fit) !is.null(fit$smooth) && fit$smooth$strength > 0

# What the kernel reads for the fold-in of n new rows; NULL where nothing is smoothed.
smooth_given <- function(fit, n, along) {
  if (!is_smoothed(fit)) {
    return(NULL)
  }
  list(
    strength = fit$smooth$strength, recording = fit$smooth$recording, reference = smooth_reference(fit, n, along),
    common = unname(colMeans(fit$param$membership))
  )
}

# Means of new rows for fold-in, k x n: the average composition of their neighbours among the training rows; where a
# covariate is unknown (`along` NULL: of every row), `other`, by default the table's average.
smooth_reference <- function(fit, n, along, other = colMeans(composition)) {
  composition <- composition_of(fit)
  free <- free_components(fit)
  mean <- matrix(other, n, sum(free), byrow = TRUE)
  if (!is.null(along)) {
    lists <- along_neighbours(fit$smooth, along)
    weights <- Matrix::sparseMatrix(
      i = rep(seq_len(n), diff(lists$start)), j = lists$neighbour + 1L, x = lists$weight, dims = c(n, fit$smooth$n)
    )
    known <- which(diff(lists$start) > 0L)
    mean[known, ] <- as.matrix(weights %*% composition)[known, ]
  }
  out <- matrix(0, length(free), n)
  out[free, ] <- t(unname(mean))
  out
}

# New rows of a fit with neighbours: list(x, along), of `rows` (names or numbers) alone.
new_sites <- function(fit, newdata, along) {
  if (is.null(newdata)) newdata <- unrecorded_rows(fit, along)
  x <- new_rows(fit, newdata)
  list(x = x, along = check_along(fit, along, nrow(x)))
}

pick_along <- function(along, rows) {
  if (!is.null(along)) lapply(along, function(each) each[rows, , drop = FALSE])
}

# A table of unknown cells for sites of which only the covariates are known.
unrecorded_rows <- function(fit, along) {
  along <- check_along(fit, along, NULL)
  matrix(NA_real_, nrow(along[[1L]]), fit$dims[["m"]], dimnames = list(rownames(along[[1L]]), fit$names[[2L]]))
}

along_neighbours <- function(smooth, along) {
  if (!is.null(along$neighbours)) {
    return(matrix_neighbours(along$neighbours))
  }
  find_neighbours(smooth, along, smooth$given, own = FALSE)
}

column_sparse <- function(x) methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")

# Covariates of new rows, as smooth_over() takes them: list(age, place), or distances and weights n_new x n.
check_along <- function(fit, along, n) {
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
    stop_input("`along` must be a list of %s, as `smooth` was given: it has %s.", show_names(wanted), got)
  }
  out <- lapply(stats::setNames(wanted, wanted), function(name) {
    switch(name,
      age = check_age_bounds(along$age, "along$age"), place = check_place(along$place, "along$place"),
      check_along_matrix(along[[name]], name, fit$smooth$n)
    )
  })
  rows <- vapply(out, nrow, 0L)
  if (is.null(n)) n <- rows[[1L]]
  off <- which(rows != n)
  if (length(off)) stop_input("`along$%s` must be of %d rows, not %d.", wanted[off[1L]], n, rows[off[1L]])
  out
}

check_along_matrix <- function(x, name, n) {
  if (is.list(x)) {
    x <- Matrix::sparseMatrix(
      i = rep(seq_along(x), lengths(x)), j = as.integer(unlist(lapply(x, pick, n, NULL, "along$neighbours"))), x = 1,
      dims = c(length(x), n)
    )
  }
  if (length(dim(x)) != 2L || ncol(x) != n || any(x < 0, na.rm = TRUE)) {
    stop_input("`along$%s` must have a column for each of the %d training rows, none negative.", name, n)
  }
  if (name == "distance") unname(as.matrix(x)) else column_sparse(x)
}
