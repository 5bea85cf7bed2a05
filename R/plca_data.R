# What plca() reads: the cells of an array of any order that are not zero, and those that are unknown.

most_dims <- 15L

# list(x, cells, names, labels, dims): cells as in plca_cells of src/model_plca.h, names of the levels of each
# dimension (NULL where it has none), labels of the dimensions or NULL.
check_cells <- function(x, name = "x") {
  if (missing(x)) stop_missing(name)
  if (is.data.frame(x)) {
    data <- cells_of_frame(x, name)
  } else if (inherits(x, "Matrix")) {
    data <- cells_of_sparse(sparse_to_dgc(x))
  } else {
    data <- cells_of_array(x, name)
  }
  check_cell_values(data, name)
  unknown <- is.na(data$value)
  zero <- !unknown & data$value == 0
  index <- data$index
  extent <- data$extent
  list(
    x = x,
    cells = list(
      extent = extent, index = index[, !unknown & !zero, drop = FALSE], value = data$value[!unknown & !zero],
      na_index = index[, unknown, drop = FALSE]
    ),
    names = data$names, labels = full_labels(data$labels), n_observed = prod(as.double(extent)) - sum(unknown)
  )
}

# Labels of the dimensions, as table() leaves them empty where its arguments have no names.
full_labels <- function(labels) {
  empty <- is.na(labels) | labels == ""
  if (all(empty)) {
    return(NULL)
  }
  labels[empty] <- paste("dimension", which(empty))
  make.unique(labels)
}

cells_of_array <- function(x, name) {
  if (!is.numeric(x) && !is.logical(x) || length(dim(x)) < 2L) {
    stop_input(
      "`%s` must be a numeric array with two or more dimensions, or a data frame of indices and counts, not %s.", name,
      show_value(x)
    )
  }
  if (length(dim(x)) > most_dims) {
    stop_input("`%s` must have at most %d dimensions, not %d.", name, most_dims, length(dim(x)))
  }
  if (any(dim(x) == 0L)) stop_input("`%s` must have no dimension of length 0.", name)
  names <- dimnames(x)
  at <- which(is.na(x) | x != 0)
  index <- t(arrayInd(at, dim(x), useNames = FALSE)) - 1L
  labels <- if (is.null(names(names))) names(dim(x)) else names(names)
  list(
    extent = unname(dim(x)), index = index, value = as.double(x[at]),
    names = if (is.null(names)) vector("list", length(dim(x))) else unname(names), labels = labels
  )
}

cells_of_sparse <- function(x) {
  if (!inherits(x, "dgCMatrix")) {
    return(cells_of_array(x, "x"))
  }
  list(
    extent = dim(x), index = rbind(x@i, rep(seq_len(ncol(x)), diff(x@p)) - 1L), value = x@x,
    names = if (is.null(dimnames(x))) list(NULL, NULL) else unname(dimnames(x)), labels = NULL
  )
}

# One column of indices (whole numbers from 1, or names) for each dimension, then one of counts.
cells_of_frame <- function(x, name) {
  at <- match("count", names(x), nomatch = ncol(x))
  if (ncol(x) < 3L || ncol(x) > most_dims + 1L || nrow(x) == 0L || !is.numeric(x[[at]])) {
    stop_input(
      paste(
        "`%s` must have a row or more, two to %d columns of indices or names, one for each dimension, and a numeric",
        "column of counts, called \"count\" or the last."
      ), name, most_dims
    )
  }
  sides <- Map(function(column, label) frame_side(column, label, name), as.list(x)[-at], names(x)[-at])
  index <- do.call(rbind, lapply(unname(sides), `[[`, "index"))
  extent <- vapply(unname(sides), `[[`, 0L, "extent")
  check_once(index, extent, name)
  list(
    extent = extent, index = index - 1L, value = as.double(x[[at]]),
    names = lapply(unname(sides), `[[`, "names"), labels = names(x)[-at]
  )
}

# Each cell once: cells are numbered, as far as doubles can, else compared index by index.
check_once <- function(index, extent, name) {
  step <- c(1, cumprod(as.double(extent)))
  place <- if (step[length(step)] < 2^53) colSums((index - 1) * step[-length(step)]) else asplit(index, 2L)
  twice <- anyDuplicated(place)
  if (!twice) {
    return(invisible())
  }
  first <- which(colSums(index != index[, twice]) == 0)[1L]
  stop_input("`%s` must name each cell once: rows %d and %d are the same cell. Add them up first.", name, first, twice)
}

frame_side <- function(column, label, name) {
  unknown <- which(is.na(column))
  if (length(unknown)) {
    stop_input("Column %s of `%s` must not be NA: row %d is.", dQuote(label, FALSE), name, unknown[1L])
  }
  if (is.character(column)) column <- factor(column)
  if (is.factor(column)) {
    return(list(index = as.integer(column), extent = nlevels(column), names = levels(column)))
  }
  if (!is.numeric(column) || any(column < 1 | column != floor(column) | column > .Machine$integer.max)) {
    stop_input("Column %s of `%s` must hold whole numbers from 1, or names.", dQuote(label, FALSE), name)
  }
  list(index = as.integer(column), extent = as.integer(max(column)), names = NULL)
}

check_cell_values <- function(data, name) {
  bad <- which(!is.na(data$value) & (data$value < 0 | is.infinite(data$value)))
  if (length(bad)) {
    stop_input(
      "`%s` must hold finite values of at least 0, or NA: cell (%s) is %s.", name,
      paste(data$index[, bad[1L]] + 1L, collapse = ", "), format(data$value[bad[1L]])
    )
  }
}
