# NMF of a table in shards, by multiplicative iterations. Tests: test-shards_models.R.

fit_to_shards.nmf <- function(model, x, k, settings, start, control, call) {
  loss <- settings$loss
  k <- check_shards_k(k, x)
  if (loss != "kl") stop_not_for_shards("`loss = \"euclidean\"`", "take `loss = \"kl\"`, or fit some rows, `x[i, ]`")
  control <- em_on_shards(control)
  density <- sum(x$column_sum) / max(1, prod(x$dims) - sum(x$column_missing))
  model <- shard_model(
    "nmf_on_shards", k, loss = loss, rows = "coefficients", space = "positive", first = nm_size(density), turned = TRUE
  )
  fit_shards(x, model, "log_likelihood", start, control, call)
}

shard_kernel.nmf_on_shards <- function(model, view, param, control) {
  .Call(mc_c_nm_sum, view, c(param, list(kl = TRUE, multiplicative = TRUE)), control)
}

shard_start.nmf_on_shards <- function(model, start, x) {
  wish <- "list(basis = k x m matrix), and a n x k matrix `coefficients` if you like"
  start <- check_start(start, "basis", wish, shard_names(x), x$attributes)
  most <- .Machine$double.xmax
  basis <- check_matrix(start$basis, "start$basis", model$k, x$dims[["m"]], 0, most)
  coefficients <- start$coefficients
  if (!is.null(coefficients)) {
    coefficients <- check_matrix(coefficients, "start$coefficients", x$dims[["n"]], model$k, 0, most)
  }
  list(shared = list(basis = unname(basis)), rows = coefficients)
}

fit_sample.nmf_on_shards <- function(model, rows, at, control) nmf(rows, model$k, loss = "kl", control = control)

finish_shards.nmf_on_shards <- function(model, fit, found, free) {
  k <- model$k
  x <- fit$shards
  labels <- component_names(k)
  scale <- rep(1, k)
  order <- seq_len(k)
  total <- 0
  for (s in x$shards$shard) total <- total + colSums(own_rows(fit, s))
  if (free) {
    scale <- rowSums(found$basis)
    scale[scale == 0] <- 1
    order <- order(-total * scale)
  }
  basis <- (found$basis / scale)[order, , drop = FALSE]
  fit$param <- list(basis = structure(basis, dimnames = list(labels, x$attributes)))
  fit[c("order", "scale")] <- list(order, scale[order])
  fit$shares <- list(weight = stats::setNames((total * scale)[order] / sum(total * scale), labels))
  # Poisson log-likelihood plus divergence: for presences, -1 each.
  constant <- -sum(as.double(x$shards$ones))
  fit$objective <- fit$objective + constant
  fit$trace$objective <- fit$trace$objective + constant
  fit$loglik <- unname(fit$objective)
  fit$df <- k * (x$dims[["n"]] + x$dims[["m"]] - 1)
  class(fit) <- c("nmf_shards", class(fit))
  fit
}

shard_part.nmf_shards <- function(fit, rows, data) {
  coefficients <- sweep(rows[, fit$order, drop = FALSE], 2L, fit$scale, "*")
  dimnames(coefficients) <- list(rownames(data$x), component_names(fit$dims[["k"]]))
  list(
    param = list(coefficients = coefficients, basis = fit$param$basis), loss = "kl", residual = NA_real_,
    density = fit$density, class = "nmf"
  )
}

shard_types.nmf_shards <- function(fit) c(response = "m", coefficients = "k")
