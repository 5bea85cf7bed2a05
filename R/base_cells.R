# Cells, rows and columns of a table by number, name or in blocks, and results too large for memory.

# Runs of the rows given, each of at most about a million cells.
row_blocks <- function(rows, m, cells = 2^20) {
  size <- max(1L, as.integer(cells %/% m))
  unname(split(rows, (seq_along(rows) - 1L) %/% size))
}

# Rows of the data as a plain matrix of doubles.
dense_rows <- function(x, rows) {
  check_valid(x, "x")
  unname(as.matrix(x[rows, , drop = FALSE])) + 0
}

# Row or column numbers from names, numbers, or TRUE and FALSE for each, in the order asked for and as often; NULL is
# all. Numbers and flags that have names themselves, as of which(), go by them.
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

# A number that is also a name of something else.
tell_position <- function(at, names, argument) {
  if (!is.numeric(at) || !is.null(names(at))) {
    return(invisible())
  }
  named <- match(as.character(at), names)
  one <- at[!is.na(named) & named != at][1L]
  if (!is.na(one)) {
    inform(
      "`%s` = %.0f is taken for the position, which has the name %s; for the name give text, \"%.0f\".", argument, one,
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

# Numbers of sites, none of which may be meant.
pick_some <- function(which, x, argument) {
  none <- !length(which) || (is.logical(which) && length(which) == nrow(x) && !anyNA(which) && !any(which))
  if (none) integer() else unique(pick(which, nrow(x), rownames(x), argument))
}

# Results that would not fit into memory with ease are refused, with advice.
refuse_large <- function(n_double, what, advice) {
  gigabytes <- 8 * n_double / 2^30
  if (gigabytes > 1) {
    shown <- format(ceiling(10 * gigabytes) / 10, nsmall = 1L)
    stop_input("%s would take %s GB, and 1 GB is the limit: %s.", what, shown, advice)
  }
}

# A table to fill in, where it fits into memory.
dense_copy <- function(x) {
  refuse_large(prod(dim(x)), "The result", "give fewer rows at a time as `newdata`")
  as.matrix(x) + 0
}

cells_of <- function(x, cells) as.vector(x[cells])

replace_cells <- function(x, cells, value = NA) {
  x[cells] <- value
  x
}

# Held-out cells: list of `folds` index vectors over the observed cells. Cells are dealt to the folds in turn, row by
# row and in random order within a row, so that a row with two cells is never held out whole; where a fold would take
# all of a column, one of its cells, and where a row has a single cell, that one, is never held out.
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

cells_at_a_time <- 5e5 # of a shard, whose chances are in memory

tabulate_sums <- function(value, index, size) {
  out <- numeric(size)
  sums <- rowsum(value, index)
  out[as.integer(rownames(sums))] <- sums[, 1L]
  out
}

view_matrix <- function(start, column, dim) {
  Matrix::sparseMatrix(i = rep.int(seq_len(dim[1L]), diff(start)), j = column + 1L, x = 1, dims = dim)
}

central_range <- function(draws, level = 0.9) {
  stats::quantile(draws, round(c(1 - level, 1 + level) / 2, 12L), names = FALSE)
}

# A prediction, or list(mean, lower, upper), with NA in these rows, whose covariates are unknown.
unknown_rows <- function(out, rows) {
  if (is.list(out)) {
    return(lapply(out, unknown_rows, rows))
  }
  out[rows, ] <- NA
  out
}

# NULL where a matrix is singular.
or_nothing <- function(expr) catch_error(expr, function(e) NULL)

as_raw_matrix <- function(x) matrix(as.raw(x), nrow(x), ncol(x))

as_number_matrix <- function(x) matrix(as.integer(x), nrow(x), ncol(x))

# Mixtures of probabilities, which rounding may carry over 1.
mixed <- function(shares, probabilities) {
  out <- shares %*% probabilities
  if (isTRUE(max(out) <= 1)) out else pmin(out, 1)
}
