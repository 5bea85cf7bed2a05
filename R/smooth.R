# From smooth_over() to what the kernel reads: covariates in the order of the rows, and neighbour lists.

check_smooth <- function(smooth) {
  if (!is.null(smooth) && !inherits(smooth, "smooth_over")) {
    stop_input("`smooth` must come from smooth_over() or be NULL, not %s.", show_value(smooth))
  }
  check_valid(smooth$given$neighbours, "smooth$given$neighbours")
  smooth
}

# Without names to match by, the argument of a user's call must have the sites of the table, of dimensions dims.
check_sites_of <- function(near, name, dims) {
  if (near$n != dims[1L] && is.null(near$names)) {
    stop_input(
      "`%s` must be of the %s of `x`, not of %d.%s", name, count_words(dims[1L], "site"), near$n,
      if (near$n == dims[2L]) " Columns of `x` are taxa: are these the sites? Then use `t(x)`." else ""
    )
  }
}

# The smooth_over of the rows of x, matched by name where both have names; `name`: the argument of the user's call.
match_smooth <- function(smooth, x, name = "smooth") {
  names <- rownames(x)
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

# The smooth_over of these sites; names: NULL or one for each.
smooth_at <- function(smooth, at, names) {
  smooth$given[] <- Map(take_sites, smooth$given, names(smooth$given), list(at))
  smooth["names"] <- list(names)
  smooth$n <- length(at)
  smooth$lists <- NULL # of other sites
  smooth
}

# A covariate without names beside one whose names are in another order than the rows: nobody knows in which it is.
check_loose <- function(given, at) {
  named <- !vapply(lapply(given, rownames), is.null, NA)
  if (is.unsorted(at) && any(named) && !all(named)) {
    stop_input(
      "`%s` must name the sites, as `%s` does: the names there are in another order than the rows of `x`.",
      names(given)[!named][1L], names(given)[named][1L]
    )
  }
}

# What mc_c_neighbours() reads of covariates.
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

# list(start, neighbour, weight), from 0: neighbours of `from` among `to`; own: which of these each of `from` is, NULL
# where none is.
find_neighbours <- function(smooth, from = smooth$given, to = smooth$given, own = seq_len(smooth$n), n_threads = 1) {
  scale <- c(age = 1, place = 1, distance = 1, environment = 1)
  scale[names(smooth$bandwidth)] <- smooth$bandwidth
  own <- if (!is.null(own)) as.integer(own) - 1L
  limits <- c(smooth_reach, smooth$most %||% 30, n_threads)
  .Call(mc_c_neighbours, kernel_sites(from), kernel_sites(to), unname(scale), own, limits)
}

# The same of a matrix of weights, rows scaled to sum to 1.
matrix_neighbours <- function(weights) {
  check_valid(weights, "neighbours")
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

# Lists of neighbours as a sparse matrix of their weights; list i is its row i.
list_weights <- function(lists, dims) {
  Matrix::sparseMatrix(
    i = rep(seq_len(dims[1L]), diff(lists$start)), j = lists$neighbour + 1L, x = lists$weight, dims = dims
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
    weights <- list_weights(lists, c(n, fit$smooth$n))
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
  list(x = x, along = check_along(fit, along, nrow(x), rownames(x)))
}

pick_along <- function(along, rows) {
  if (!is.null(along)) lapply(along, function(each) each[rows, , drop = FALSE])
}

# A table of unknown cells for sites of which only the covariates are known.
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

# Covariates of new rows, as smooth_over() takes them: list(age, place), or distances and weights n_new x n.
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
    stop_input("`along` must be a list of %s, as `smooth` was given: it has %s.", show_names(wanted), got)
  }
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

# Places of new rows are of the kind of those of the fit, whatever their names.
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
    return(unname(as.matrix(x)))
  }
  out <- without_slack(column_sparse(x))
  if (!all(is.finite(out@x))) stop_input("`along$neighbours` must hold finite weights.")
  out
}
