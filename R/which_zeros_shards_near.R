# Neighbours' mean of tables in shards. Neighbours may lie in any shard, so sites are put on a grid, and a site's
# neighbours are the squares around its own, each with the sums of its sites. If every site has its own square this is
# neighbours_mean() without similarity, with at most `least_near` neighbours each. Tests:
# test-which_zeros_shards_near.R.

# Largest number of squares: tables of squares x taxa take 200 MB, and the neighbours as much.
most_squares <- function(m) min(20000L, 2.5e7 %/% m)

# Assigns sites to squares; age, place: names of columns stored with the rows. NULL without either, else list(square =
# of each site, 0 if a covariate is unknown, near = smooth_over() of the squares, sites = their number in each, side =
# of a square, 0: each holds one place only, typical = distances in whose multiples bandwidths are).
shards_squares <- function(x, age, place, most = most_squares(x$dims[["m"]])) {
  if (is.null(age) && is.null(place)) {
    return(NULL)
  }
  given <- list(age = along_columns(x, age, "age", 1:2), place = along_columns(x, place, "place", 2L))
  given <- Filter(Negate(is.null), given)
  near <- do.call(smooth_over, c(given, list(bandwidth = "cv", strength = 0, most = least_near)), quote = TRUE)
  at <- flat_covariates(near$given)
  known <- which(rowSums(is.na(at)) == 0)
  if (!length(known)) stop_input("`age` and `place` must be known of some site: one or the other is NA in all rows.")
  typical <- typical_distance(near)
  side <- 0
  repeat {
    key <- square_key(at[known, , drop = FALSE], attr(at, "of"), side * typical)
    if (max(key) <= most) break
    side <- if (side == 0) 1 / 64 else 2 * side
  }
  square <- integer(nrow(at))
  square[known] <- key
  sites <- tabulate(key, max(key))
  near$given <- lapply(near$given, function(each) {
    means <- rowsum(each[known, , drop = FALSE], key) / sites
    rownames(means) <- NULL
    means
  })
  near$n <- length(sites)
  near["names"] <- list(NULL)
  list(square = square, near = near, sites = sites, side = side * typical, typical = typical)
}

# Returns columns stored with the rows, of all shards.
along_columns <- function(x, names, argument, wanted) {
  if (is.null(names)) {
    return(NULL)
  }
  ok <- is.character(names) && length(names) %in% wanted && all(names %in% x$along)
  if (!ok) {
    stop_input("`%s` must name %s of the shards' `site_data` (%s), not be %s.", argument,
      if (length(wanted) > 1L) "one column or two" else "two columns",
      if (length(x$along)) show_names(x$along) else "none", show_value(names))
  }
  each <- lapply(x$shards$shard, function(s) as.data.frame(read_shard_rows(x, s)$along, optional = TRUE)[names])
  out <- do.call(rbind, each)
  for (name in names) {
    if (is.logical(out[[name]]) && all(is.na(out[[name]]))) out[[name]] <- as.double(out[[name]])
    if (!is.numeric(out[[name]])) stop_input("`%s` must name columns of numbers: %s holds none.", argument, name)
  }
  as.matrix(out)
}

# Binds covariates by columns, degrees unchanged; `of`: the covariate of each column.
flat_covariates <- function(given) {
  structure(do.call(cbind, unname(given)), of = rep(names(given), vapply(given, ncol, 0L)))
}

# Numbers the squares of sites from 1; side: of squares by covariate, in km if places are degrees, 0: equal values only.
# A degree of longitude has its length in the middle of the row of squares.
square_key <- function(at, of, side) {
  if (any(side > 0)) {
    degrees <- "lat" %in% colnames(at)
    step <- side[of]
    if (degrees) {
      step[of == "place"] <- side[["place"]] / 111.195
      row <- floor(at[, "lat"] / step[colnames(at) == "lat"])
      middle <- pmin(abs((row + 0.5) * step[colnames(at) == "lat"]), 89)
      at[, "lon"] <- ((at[, "lon"] + 180) %% 360) * cos(middle * pi / 180)
    }
    at <- floor(sweep(at, 2L, step, "/"))
  }
  key <- match(at[, 1L], unique(at[, 1L]))
  for (column in seq_len(ncol(at))[-1L]) {
    value <- match(at[, column], unique(at[, column]))
    key <- (key - 1) * max(value) + value
    key <- match(key, unique(key))
  }
  key
}

# Collects what neighbours' means are computed from: presences and unknown cells of each square, and of the whole table.
squares_table <- function(x, squares) {
  n <- length(squares$sites)
  found <- unknown <- Matrix::sparseMatrix(integer(), integer(), x = numeric(), dims = c(n, x$dims[["m"]]))
  before <- 0
  for (s in x$shards$shard) {
    view <- read_shard_view(x, s)
    own <- squares$square[before + seq_len(view$dim[1L])]
    known <- which(own > 0L)
    to <- Matrix::sparseMatrix(own[known], known, x = 1, dims = c(n, view$dim[1L]))
    found <- found + to %*% view_matrix(view$start, view$column, view$dim)
    if (!is.null(view$na_start)) unknown <- unknown + to %*% view_matrix(view$na_start, view$na_column, view$dim)
    before <- before + view$dim[1L]
  }
  n_known <- x$dims[["n"]] - x$column_missing
  list(
    found = found, unknown = if (length(unknown@x)) unknown, sites = squares$sites, column_sum = x$column_sum,
    column_missing = x$column_missing, n_known = n_known, n = x$dims[["n"]], density = sum(x$column_sum) / sum(n_known)
  )
}

# Sums over the neighbours of some squares, with the weights of a bandwidth: list(found, unknown = squares x m or NULL,
# total, squares, self = the weight of a site of the square in its own sums). The last row is for sites whose place is
# unknown, or which have no neighbour: all others weigh the same.
sums_of_squares <- function(table, near, of = seq_along(table$sites)) {
  n <- length(table$sites)
  # A site alone in its square is not among its neighbours; in shared squares it is subtracted later.
  alone <- table$sites[of] == 1L
  from <- lapply(near$given, function(each) each[of, , drop = FALSE])
  lists <- find_neighbours(near, from, near$given, own = ifelse(alone, of, 0L))
  weights <- list_weights(lists, c(length(of), n))
  self <- ifelse(alone, 0, weights[cbind(seq_along(of), of)])
  none <- diff(lists$start) == 0L
  all_rows <- function(value) matrix(value, sum(none) + 1L, length(value), byrow = TRUE)
  sums <- function(part, all) {
    out <- matrix(0, length(of) + 1L, ncol(part))
    # Multiplies some rows at a time, because the whole product would exist beside its dense copy.
    for (at in row_blocks(seq_along(of), ncol(part), cells_at_a_time)) {
      out[at, ] <- as.matrix(weights[at, , drop = FALSE] %*% part)
    }
    out[c(none, TRUE), ] <- all_rows(all)
    out
  }
  with_all <- function(value, all) {
    value <- c(value, 0)
    value[c(none, TRUE)] <- all
    value
  }
  list(
    found = sums(table$found, table$column_sum),
    unknown = if (any(table$column_missing > 0)) {
      sums(if (is.null(table$unknown)) 0 * table$found else table$unknown, table$column_missing)
    },
    total = with_all(as.vector(weights %*% table$sites), table$n),
    squares = with_all(as.vector(weights^2 %*% table$sites), table$n), self = with_all(self, 1)
  )
}

# Computes probabilities of cells by the neighbours' mean, as src/neighbours_mean/mean.h; at: the row of sums of each
# cell, j: its taxon; one, unknown: its own value, which is excluded from its probability.
near_probabilities <- function(table, sums, at, j, one = 0, unknown = 0) {
  self <- sums$self[at]
  total <- pmax(sums$total[at] - self, 1e-300)
  worth <- total^2 / pmax(sums$squares[at] - self^2, 1e-300)
  found <- sums$found[cbind(at, j)] - self * one
  known <- total
  if (!is.null(sums$unknown)) known <- total - (sums$unknown[cbind(at, j)] - self * unknown)
  others <- table$n_known[j] - (1 - unknown)
  rate <- (table$column_sum[j] + table$density - one) / (others + 1)
  found <- pmax(found, 0)
  (worth * found / total + rate) / (worth * pmax(known, found) / total + 1)
}

# Returns the learner: list(table, sums, at = the row of sums of each site, bandwidth).
shards_near <- function(x, squares) {
  if (is.null(squares)) {
    return(NULL)
  }
  table <- squares_table(x, squares)
  near <- near_tuned(x, squares, table)
  at <- squares$square
  at[at == 0L] <- length(squares$sites) + 1L
  list(table = table, sums = sums_of_squares(table, near), at = at, bandwidth = near$bandwidth)
}

# Tunes bandwidths as nbm_tune() does: by some rows, evenly spaced, with each cell held out in turn.
near_tuned <- function(x, squares, table) {
  n <- x$dims[["n"]]
  rows <- unique(round(seq(1, n, length.out = min(n, nbm_most_judged))))
  rows <- rows[squares$square[rows] > 0L]
  if (!length(rows)) {
    return(nbm_at(squares$near, squares$typical))
  }
  judged <- nbm_table(x[rows, ])
  found <- as.matrix(judged$found)
  gone <- is.na(as.matrix(x[rows, ])) + 0
  of <- unique(squares$square[rows])
  at <- match(squares$square[rows], of)
  j <- as.vector(col(found))
  judge <- function(near) {
    sums <- sums_of_squares(table, near, of)
    p <- near_probabilities(table, sums, at[as.vector(row(found))], j, as.vector(found), as.vector(gone))
    nbm_objective(matrix(p, nrow(found)), judged$view)
  }
  first <- stats::setNames(rep(1, length(squares$typical)), names(squares$typical)) # as nbm_tune() begins
  nbm_climb(squares$near, squares$typical, first, judge)$near
}
