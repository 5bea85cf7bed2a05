# Standard errors and intervals of parameters, and tables of them.

# Tests whether a fit holds draws of a posterior.
is_sampled <- function(fit) UseMethod("is_sampled")

# Computes errors and intervals of probabilities with Beta posteriors of these parameters.
beta_spread <- function(one, zero, level) {
  size <- one + zero
  end <- function(p) {
    one[] <- stats::qbeta(p, one, zero) # which drops the dimensions of one number
    one
  }
  c(
    list(error = sqrt(one * zero / (size + 1)) / size),
    if (!is.null(level)) list(lower = end((1 - level) / 2), upper = end((1 + level) / 2))
  )
}

# Computes errors from draws of probabilities, and intervals of Beta distributions with the same moments.
drawn_spread <- function(fit, name, level) {
  error <- fit$spread[[name]]
  if (is.null(error)) {
    return(NULL)
  }
  c(list(error = error), if (!is.null(level)) beta_interval(fit$param[[name]], error, level))
}

# Returns the central interval of the Beta distribution with this mean and sd, the moments kept of a cell's draws.
beta_interval <- function(mean, sd, level = 0.9) {
  size <- mean * (1 - mean) / sd^2 - 1
  bound <- function(p) {
    out <- mean
    wide <- which(sd > 1e-9 & mean > 0 & mean < 1)
    # The largest possible spread is that of a coin: then the Beta distribution has its mass at both ends.
    at <- pmax(size[wide], 0.01)
    out[wide] <- beta_quantile(p, mean[wide] * at, (1 - mean[wide]) * at)
    out
  }
  list(lower = bound((1 - level) / 2), upper = bound((1 + level) / 2))
}

# Computes qbeta() without its inaccuracy near 1 and with tiny shapes, for which the distribution is that of a coin.
beta_quantile <- function(p, a, b) {
  out <- (p > b / (a + b)) + 0
  low <- which(a <= b & a >= 1e-3)
  high <- which(a > b & b >= 1e-3)
  out[low] <- stats::qbeta(p, a[low], b[low])
  out[high] <- 1 - stats::qbeta(p, b[high], a[high], lower.tail = FALSE)
  out
}

# Computes errors and intervals from draws of a part, entries x draws.
quantile_spread <- function(draws, level) {
  if (is.null(draws)) {
    return(NULL)
  }
  draws <- matrix(draws, ncol = utils::tail(dim(draws), 1L))
  end <- function(p) apply(draws, 1L, stats::quantile, p, names = FALSE)
  c(
    list(error = apply(draws, 1L, stats::sd)),
    if (!is.null(level)) list(lower = end((1 - level) / 2), upper = end((1 + level) / 2))
  )
}

# Returns the uncertainty of a part of `param`, in its shape: list(error), standard errors, with `level` also `lower`
# and `upper`, the ends of intervals; NULL if unknown.
part_spread <- function(fit, name, level = NULL) UseMethod("part_spread")

# Returns a tibble, as broom does, if package tibble is installed; it prints its first rows only.
as_tidy <- function(table) {
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(table, .name_repair = "minimal") else table
}

# Returns a row for each entry of a vector, matrix or array, the first side slowest.
long_table <- function(values, sides, name = "estimate") {
  if (length(sides) == 1L) values <- array(values, length(values), list(names(values)))
  extent <- dim(values)
  labels <- if (is.null(dimnames(values))) vector("list", length(extent)) else dimnames(values)
  at <- rev(expand.grid(lapply(rev(extent), seq_len)))
  columns <- Map(function(index, label) if (is.null(label)) index else label[index], at, labels)
  out <- stats::setNames(data.frame(columns, row.names = NULL, check.names = FALSE), sides)
  out[[name]] <- unname(as.vector(aperm(values)))
  out
}

# Selects parameters by their names or by taxa; NULL: all.
wanted_parameters <- function(parm, names, taxa) {
  if (is.null(parm)) {
    return(rep(TRUE, length(names)))
  }
  unknown <- setdiff(parm, c(names, taxa))
  if (length(unknown)) {
    stop_input("`parm` must be names of parameters, as %s, or of taxa: %s is not.",
      show_names(names[c(1L, length(names))]), show_names(as.character(unknown)))
  }
  names %in% parm | taxa %in% parm
}

# Computes the mean of some matrices, or list(mean, lower, upper).
mean_and_limits <- function(each, level, labels) {
  shape <- function(values) structure(matrix(values, nrow(each[[1L]])), dimnames = name_sides(labels))
  all <- matrix(unlist(each), length(each[[1L]]))
  mean <- shape(rowMeans(all))
  if (is.null(level)) {
    return(mean)
  }
  level <- check_number(level, "level", 0, 1, open = TRUE)
  limit <- function(p) shape(apply(all, 1L, stats::quantile, p, names = FALSE))
  list(mean = mean, lower = limit((1 - level) / 2), upper = limit((1 + level) / 2))
}

# Tests whether probabilities are at 0 or at 1: -1, 1, else 0.
edge_side <- function(p, edge = 1e-3) (p > 1 - edge) - (p < edge)
