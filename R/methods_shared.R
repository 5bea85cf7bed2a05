# What the methods of several models share: new data, cells, simulation, and the summary every model prints.

# New rows, their columns matched to the training attributes: as check_data() gives it.
check_newdata <- function(fit, newdata, kind) {
  x <- match_columns(as_plain_matrix(newdata, "newdata"), fit$names[[2L]], fit$dims[["m"]])
  check_data(x, kind, "newdata", quiet = TRUE)
}

# Rows of a matrix by number, name or logical index; all of them for NULL.
pick_rows <- function(x, rows) {
  if (is.null(rows)) {
    return(x)
  }
  known <- if (is.character(rows)) {
    rows %in% rownames(x)
  } else if (is.logical(rows)) {
    rep(length(rows) == nrow(x) && !anyNA(rows), length(rows))
  } else {
    is.numeric(rows) & rows %in% seq_len(nrow(x))
  }
  if (!length(rows) || !all(known)) {
    stop_input("`rows` must be row numbers, row names or a logical vector over the %d rows.", nrow(x))
  }
  x[rows, , drop = FALSE]
}

# Refuses a result of more than 1 GB.
check_cell_size <- function(n, m, k) {
  size <- 8 * n * m * k
  if (size > 1e9) {
    stop_input("`type = \"cell\"` would take %.1f GB: pick observations with `rows`.", size / 1e9)
  }
}

# nsim data sets from draw(), with the names of the fit's data, under `seed` where one is given.
simulate_with <- function(object, nsim, seed, draw) {
  nsim <- check_count(nsim, "nsim")
  if (!is.null(seed)) seed <- check_count(seed, "seed", -.Machine$integer.max)
  named <- function(i) {
    out <- draw()
    dimnames(out) <- if (!all(vapply(object$names, is.null, NA))) object$names
    out
  }
  if (is.null(seed)) lapply(seq_len(nsim), named) else with_seed(seed, lapply(seq_len(nsim), named))
}

random_bernoulli <- function(p) {
  matrix(stats::rbinom(length(p), 1L, pmin(pmax(p, 0), 1)), nrow(p), ncol(p))
}
