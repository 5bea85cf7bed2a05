# States of bmf(): what users give and see, and what the kernel takes.

# The data in both orientations, as the kernel reads them.
bmf_data <- function(x, family, quiet = FALSE) {
  data <- check_data(x, bmf_data_kind(family), quiet = quiet)
  # Beyond, squares and their products overflow.
  values <- if (inherits(data$x, "dgCMatrix")) data$x@x else data$x
  largest <- max(abs(range(values, 0, na.rm = TRUE)))
  if (largest > 1e100) {
    stop_input("`x` must lie within -1e100 and 1e100, or be rescaled: it has %s.", format(largest))
  }
  transposed <- if (inherits(data$x, "dgCMatrix")) Matrix::t(data$x) else t(data$x)
  data$transposed <- data_view(transposed)
  data
}

bmf_data_kind <- function(family) switch(family, gaussian = "real", bernoulli = "binary", poisson = "count")

# A number of features: a whole one, or Inf.
check_features <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1L || !isTRUE(x >= 0 && x == floor(x))) {
    stop_input("`%s` must be a whole number of at least 0, or Inf, not %s.", name, show_value(x))
  }
  as.double(x)
}

check_binary <- function(x, name, n_row, n_column = ncol(x)) {
  x <- check_matrix(x, name, n_row, n_column, 0, 1)
  if (any(x != 0 & x != 1)) {
    at <- arrayInd(which(x != 0 & x != 1)[1L], dim(x))
    stop_input("`%s` must hold only 0 and 1: row %d, column %d is %s.", name, at[1L], at[2L], format(x[at]))
  }
  as_raw_matrix(x)
}

as_raw_matrix <- function(x) matrix(as.raw(x), nrow(x), ncol(x))

as_number_matrix <- function(x) matrix(as.integer(x), nrow(x), ncol(x))

# A user's state as the kernel's: a list of `rows` (n x K, 0 or 1), `columns` (m x L), `weights` (K x L), the current
# values of what the family learns, each taken from `prior` where it is not given, and `fixed`, how many leading columns
# of `rows` and of `columns` are user-fixed. Features become raw matrices, values `hyper`, as bmf_hyper_names.
bmf_check_state <- function(state, data, prior, family) {
  need <- c("rows", "columns", "weights")
  part <- function(what) paste0("start$", what)
  if (!is.list(state) || !all(need %in% names(state))) {
    stop_input("`start` must be a list with %s, not %s.", show_names(need), show_value(state))
  }
  known <- c(need, bmf_hyper_names, "fixed")
  unknown <- setdiff(names(state), known)
  if (length(unknown)) stop_input("`start` has unknown parts: %s.", show_names(unknown))
  rows <- by_name(state$rows, rownames(data$x), part("rows"))
  rows <- check_binary(rows, part("rows"), nrow(data$x), ncol_of(rows))
  columns <- by_name(state$columns, colnames(data$x), part("columns"))
  columns <- check_binary(columns, part("columns"), ncol(data$x), ncol_of(columns))
  least <- if (family == "poisson") 0 else -.Machine$double.xmax
  weights <- check_matrix(state$weights, part("weights"), ncol(rows), ncol(columns), least, .Machine$double.xmax)
  hyper <- bmf_first_hyper(prior)
  for (given in intersect(bmf_hyper_names, names(state))) {
    check <- if (given == "weight_mean") check_finite else check_positive
    hyper[[given]] <- check(state[[given]], part(given))
  }
  fixed <- check_n_fixed(state$fixed, part("fixed"), c(ncol(rows), ncol(columns)))
  list(rows = rows, columns = columns, weights = weights, hyper = unname(hyper), fixed = fixed)
}

# How many leading columns are user-fixed, on each side.
check_n_fixed <- function(fixed, name, most) {
  if (is.null(fixed)) {
    return(c(0L, 0L))
  }
  if (!is.numeric(fixed) || length(fixed) != 2L || anyNA(fixed) || any(fixed < 0 | fixed > most)) {
    stop_input("`%s` must be two whole numbers, up to the features of rows and of columns.", name)
  }
  as.integer(fixed)
}

ncol_of <- function(x) if (length(dim(x)) == 2L) ncol(x) else 0L
