# Selects cells, rows and columns of a table by number, name or in blocks, and refuses results too large for memory.

# Splits row numbers into runs of at most about a million cells.
row_blocks <- function(rows, m, cells = 2^20) {
  size <- max(1L, as.integer(cells %/% m))
  unname(split(rows, (seq_along(rows) - 1L) %/% size))
}

# Which cells of a table hold 0, or 1: n x m, unknown ones FALSE. A sparse table is not made dense for it.
cells_that_hold <- function(x, value) {
  if (!inherits(x, "dgCMatrix")) {
    x <- unname(as.matrix(x))
    return(!is.na(x) & x == value)
  }
  out <- matrix(value == 0, nrow(x), ncol(x))
  out[cbind(x@i + 1L, rep.int(seq_len(ncol(x)), diff(x@p)))] <- !is.na(x@x) & x@x == value
  out
}

# Rows of the data as a plain matrix of doubles.
dense_rows <- function(x, rows) {
  check_valid(x, "x")
  unname(as.matrix(x[rows, , drop = FALSE])) + 0
}

# Returns row or column numbers for names, numbers, or TRUE and FALSE for each, in the order requested and with repeats;
# NULL selects all. Named numbers and flags, such as those of which(), are matched by name.
pick <- function(which, n, names, argument) {
  if (is.null(which)) {
    return(seq_len(n))
  }
  if (is.logical(which)) which <- which_true(which, n, names, argument)
  if (is.factor(which)) which <- as.character(which)
  if (is.numeric(which) && !is.null(names) && !is.null(names(which))) which <- names(which)
  if (is.character(which) && !is.null(names)) {
    unknown <- setdiff(which, names)
    if (length(unknown)) {
      stop_input(
        "`%s` must hold names that are in the data, and %s is not%s", argument, show_names(unknown),
        meant_words(unknown[1L], names)
      )
    }
    which <- match(which, names)
  }
  ok <- is.numeric(which) && length(which) && !anyNA(which) && all(which == floor(which) & which >= 1 & which <= n)
  if (!ok) {
    stop_input("`%s` must hold names or whole numbers from 1 to %d, not %s.", argument, n, show_value(which))
  }
  as.integer(which)
}

# Reports a number that is also the name of another row or column.
tell_position <- function(at, names, argument) {
  if (!is.numeric(at) || !is.null(names(at))) {
    return(invisible())
  }
  named <- match(as.character(at), names)
  one <- at[!is.na(named) & named != at][1L]
  if (!is.na(one)) {
    inform(
      "`%s` = %.0f is read as the position, whose name is %s; for the name use text, \"%.0f\".", argument, one,
      dQuote(names[one], FALSE), one
    )
  }
}

which_true <- function(flags, n, names, argument) {
  flags <- by_name(flags, names, argument)
  if (!is_line(flags) || length(flags) != n || anyNA(flags) || !any(flags)) {
    stop_input("`%s` must be TRUE or FALSE for each of the %d, and TRUE for some, not %s.", argument, n,
      if (anyNA(flags)) "NA" else show_value(flags))
  }
  unname(which(as.vector(flags)))
}

# Returns numbers of sites, possibly none.
pick_some <- function(which, x, argument) {
  none <- !length(which) || (is.logical(which) && length(which) == nrow(x) && !anyNA(which) && !any(which))
  if (none) integer() else unique(pick(which, nrow(x), rownames(x), argument))
}

# Refuses results that would not easily fit into memory, with advice.
refuse_large <- function(n_double, what, advice) {
  gigabytes <- 8 * n_double / 2^30
  if (gigabytes > 1) {
    shown <- format(ceiling(10 * gigabytes) / 10, nsmall = 1L)
    stop_input("%s would take %s GB, and 1 GB is the limit: %s.", what, shown, advice)
  }
}

# Returns the table as a matrix to fill in, if it fits into memory.
dense_copy <- function(x) {
  refuse_large(prod(dim(x)), "The result", "use fewer rows at a time as `newdata`")
  as.matrix(x) + 0
}

# Values of cells, which are codes in a table of several values.
cells_of <- function(x, cells) as.vector(if (isS4(x)) x[cells] else unclass(x)[cells])

replace_cells <- function(x, cells, value = NA) {
  x[cells] <- value
  x
}

# Assigns observed cells to held-out sets: a list of `folds` index vectors. Cells are dealt to the folds in turn, row by
# row and in random order within a row, so that a row with two cells is never held out whole. One cell is never held out
# if a fold would take all of a column, or if it is the only cell of its row.
cell_folds <- function(observed, folds) {
  n <- nrow(observed)
  cells <- which(observed)
  row <- (cells - 1L) %% n + 1L
  at <- order(row, stats::runif(length(cells)))
  cells <- cells[at]
  row <- row[at]
  fold <- (sample.int(folds, 1L) + seq_along(row)) %% folds + 1L
  counts <- tabulate(row, n)
  fold[counts[row] == 1L] <- NA
  column <- (cells - 1L) %/% n + 1L
  for (j in which(colSums(observed) > 0)) {
    mine <- which(column == j)
    if (!anyNA(fold[mine]) && length(unique(fold[mine])) == 1L) fold[mine[sample.int(length(mine), 1L)]] <- NA
  }
  unname(lapply(seq_len(folds), function(f) sort(cells[which(fold == f)])))
}

cells_at_a_time <- 5e5 # of a shard, whose probabilities are in memory

tabulate_sums <- function(value, index, size) {
  out <- numeric(size)
  sums <- rowsum(value, index)
  out[as.integer(rownames(sums))] <- sums[, 1L]
  out
}

# Sums runs of values whose lengths are `each`, as columns of a sparse matrix; rows: increasing within a run, up to m.
run_sums <- function(value, rows, each, m) {
  loadNamespace("Matrix") # has the class
  columns <- methods::new("dgCMatrix",
    i = as.integer(rows) - 1L, p = as.integer(cumsum(c(0, each))), x = value, Dim = c(as.integer(m), length(each))
  )
  Matrix::colSums(columns)
}

view_matrix <- function(start, column, dim) {
  Matrix::sparseMatrix(i = rep.int(seq_len(dim[1L]), diff(start)), j = column + 1L, x = 1, dims = dim)
}

central_range <- function(draws, level = 0.9) {
  stats::quantile(draws, round(c(1 - level, 1 + level) / 2, 12L), names = FALSE)
}

# Sets a prediction, or list(mean, lower, upper), to NA in these rows, whose covariates are unknown.
unknown_rows <- function(out, rows) {
  if (is.list(out)) {
    return(lapply(out, unknown_rows, rows))
  }
  out[rows, ] <- NA
  out
}

# Returns NULL if evaluation fails, as for a singular matrix.
or_nothing <- function(expr) catch_error(expr, function(e) NULL)

as_raw_matrix <- function(x) matrix(as.raw(x), nrow(x), ncol(x))

as_number_matrix <- function(x) matrix(as.integer(x), nrow(x), ncol(x))

# Mixes probabilities and corrects rounding above 1.
mixed <- function(shares, probabilities) {
  out <- shares %*% probabilities
  if (isTRUE(max(out) <= 1)) out else pmin(out, 1)
}
