# How the tools for choosing and comparing models see a fit, whatever its model: what it says of cells it has not seen,
# what it says of rows it has not seen, and the folds that are held out.

# Probability of a presence (x > 0) in every cell of the data of a fit, missing ones included, n x m.
presence_probability <- function(fit) UseMethod("presence_probability")

#' @export
presence_probability.default <- function(fit) pmin(pmax(fitted(fit), 0), 1)

# Poisson means: the chance of at least one.
#' @export
presence_probability.nmf <- function(fit) {
  if (fit$loss == "kl") 1 - exp(-fitted(fit)) else presence_probability.default(fit)
}

#' @export
presence_probability.plsa <- function(fit) 1 - exp(-fitted(fit))

# Log-likelihood of every new row, -Inf never, or NULL for a model that has none comparable over 0/1 rows. By default
# the fitted probabilities of the training rows are equally likely components, as in eqs. (23) and (25) of the paper.
held_out_rows <- function(fit, newdata, floor) UseMethod("held_out_rows")

#' @export
held_out_rows.default <- function(fit, newdata, floor) {
  trained <- rowSums(!is.na(dense_rows(fit_data(fit), seq_len(fit$dims[["n"]])))) > 0
  mixture_loglik(fitted(fit)[trained, , drop = FALSE], dense_rows(newdata, seq_len(nrow(newdata))), floor)
}

# Eq. (26): the mixture's own components.
#' @export
held_out_rows.bernoulli_mixture <- function(fit, newdata, floor) {
  data <- check_newdata(fit, newdata, "binary")
  fit$param$prototypes <- pmin(pmax(fit$param$prototypes, floor), 1 - floor)
  as.vector(bm_expect(fit, data$view)$row_loglik)
}

# Zeros do not count in a multinomial's likelihood, and squared error has none.
#' @export
held_out_rows.nmf <- function(fit, newdata, floor) NULL

#' @export
held_out_rows.plsa <- function(fit, newdata, floor) NULL

# log of the mean over the rows of `p` of the probability of a row of x, by blocks of rows.
mixture_loglik <- function(p, x, floor) {
  p <- pmin(pmax(p, floor), 1 - floor)
  one <- t(log(p))
  zero <- t(log(1 - p))
  out <- numeric(nrow(x))
  for (rows in row_blocks(seq_len(nrow(x)), nrow(p))) {
    block <- x[rows, , drop = FALSE]
    ones <- ifelse(is.na(block), 0, block)
    zeros <- ifelse(is.na(block), 0, 1 - block)
    each <- ones %*% one + zeros %*% zero
    top <- apply(each, 1L, max)
    out[rows] <- top + log(rowMeans(exp(each - top)))
  }
  out
}

# What a held-out cell costs, nats (or squared units) each. "bernoulli" is for tables of 0 and 1, with probabilities
# kept within [floor, 1 - floor]; "poisson" for whole numbers, means at least `floor`; "squared" for the rest.
cell_loss <- function(fit, cells, value, family, floor) {
  binary <- family == "bernoulli"
  loss_of_mean(if (binary) presence_probability(fit)[cells], if (!binary) fitted(fit)[cells], value, family, floor)
}

loss_of_mean <- function(presence, mean, value, family, floor) {
  if (family == "bernoulli") {
    p <- pmin(pmax(presence, floor), 1 - floor)
    return(-log(ifelse(value == 1, p, 1 - p)))
  }
  if (family == "poisson") -stats::dpois(value, pmax(mean, floor), log = TRUE) else (value - mean)^2
}

loss_family <- function(view) {
  range <- .Call(mc_c_view_range, view)
  if (is.null(range$not_binary)) "bernoulli" else if (is.null(range$not_whole)) "poisson" else "squared"
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

# Held-out rows, rows with nothing observed never.
row_folds <- function(observed, folds) {
  rows <- which(rowSums(observed) > 0)
  rows <- rows[sample.int(length(rows))]
  unname(lapply(split(rows, rep_len(seq_len(folds), length(rows))), sort))
}

# Runs `expr`, keeping what a fit has to tell to itself: list(value, converged).
quiet_fit <- function(expr) {
  converged <- TRUE
  value <- withCallingHandlers(
    expr,
    multicause_message = function(m) invokeRestart("muffleMessage"),
    multicause_not_converged = function(w) {
      converged <<- FALSE
      invokeRestart("muffleWarning")
    }
  )
  list(value = value, converged = converged)
}

# One fold of one setting: the loss of each unit held out.
#   setting  list(model, k, args): a function, the number of components, further arguments
#   held     indices of cells, or of rows
hold_out <- function(x, setting, scheme, held, family, floor, control) {
  train <- if (scheme == "cells") replace_cells(x, held) else x[-held, , drop = FALSE]
  fit <- quiet_fit(call_model(setting, train, control))
  loss <- if (scheme == "cells") {
    cell_loss(fit$value, held, cells_of(x, held), family, floor)
  } else {
    rows <- held_out_rows(fit$value, x[held, , drop = FALSE], floor)
    if (is.null(rows)) NA_real_ else -rows
  }
  c(
    loss = mean(loss), n = length(held), converged = fit$converged, components = fit$value$dims[["k"]],
    spread = if (length(loss) > 1L) stats::sd(loss) else NA
  )
}

# The fit's call names the data and the model instead of holding them, so that update() and print() can use it.
call_model <- function(setting, x, control) {
  fit <- do.call(setting$model, c(list(quote(x), setting$k), setting$args, list(control = quote(control))))
  check_fit(fit, name = "model(x, k)")
  if (is.function(fit$call[[1L]])) fit$call[[1L]] <- as.name(class(fit)[1L])
  fit
}

replace_cells <- function(x, cells) {
  x[cells] <- NA
  x
}

cells_of <- function(x, cells) as.vector(x[cells])
