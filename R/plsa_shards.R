# PLSA of a table in shards. Tests: test-shards_models.R.

fit_to_shards.plsa <- function(model, x, k, settings, start, control, call) {
  k <- check_shards_k(k, x)
  plsa_refuse_shards(settings)
  control <- em_on_shards(control)
  prior <- plsa_settle_prior(settings$prior, settings, k, NULL, whole = TRUE)$value
  model <- shard_model(
    "plsa_on_shards", k, missing = settings$missing, estimate = settings$estimate, prior = prior
  )
  fit_shards(x, model, if (is.null(prior)) "log_likelihood" else "log_posterior", start, control, call)
}

plsa_refuse_shards <- function(settings) {
  if (settings$estimate %in% plsa_bayes) {
    stop_not_for_shards(
      sprintf("`estimate = \"%s\"`", settings$estimate), "take \"map\" or \"ml\", or fit some rows, `x[i, ]`"
    )
  }
  refuse_smooth_shards(settings$smooth)
  if (any(settings$given != 0)) {
    stop_not_for_shards("`sparsity`", "its last iterations change the M-step of all rows; fit some rows, `x[i, ]`")
  }
  if (settings$fixed != "none") {
    stop_not_for_shards("`fixed = \"basis\"`", "predict() has memberships of new rows")
  }
}

shard_kernel.plsa_on_shards <- function(model, view, param, control) {
  param$missing <- match(model$missing, c("conditional", "paper")) - 1L
  .Call(mc_c_plsa_fit, view, param, c(plsa_kernel_prior(model$prior, model$k), rule = 0L), control)
}

shard_start.plsa_on_shards <- function(model, start, x) {
  wish <- "list(basis = k x m matrix), and a n x k matrix `membership` if you like"
  start <- check_start(start, "basis", wish, shard_names(x), x$attributes)
  basis <- check_simplex_rows(start$basis, "start$basis", model$k, x$dims[["m"]])
  membership <- start$membership
  if (!is.null(membership)) membership <- check_simplex_rows(membership, "start$membership", x$dims[["n"]], model$k)
  list(shared = list(basis = unname(basis)), rows = membership)
}

fit_sample.plsa_on_shards <- function(model, rows, at, control) {
  plsa(rows, model$k, missing = model$missing, estimate = model$estimate, prior = model$prior, control = control)
}

finish_shards.plsa_on_shards <- function(model, fit, found, free) {
  k <- model$k
  x <- fit$shards
  labels <- component_names(k)
  total <- counted <- logs <- numeric(k)
  for (s in x$shards$shard) {
    membership <- own_rows(fit, s)
    logs <- logs + colSums(log(membership))
    view <- read_shard_view(x, s)
    total <- total + colSums(membership)
    counted <- counted + colSums(membership * diff(view$start))
  }
  fit$order <- if (free) order(-counted) else seq_len(k)
  fit$param <- list(basis = structure(found$basis[fit$order, , drop = FALSE], dimnames = list(labels, x$attributes)))
  fit$shares <- list(weight = stats::setNames(total[fit$order] / x$dims[["n"]], labels))
  fit$count_share <- counted[fit$order] / sum(counted)
  added <- plsa_kernel_prior(model$prior, k)
  sum_log <- function(count, logs) sum(ifelse(count > 0, count * logs, 0))
  beside <- sum_log(added$row_added, logs) + sum_log(added$basis_added, sum(log(found$basis)))
  fit$loglik <- unname(fit$objective) - beside
  fit[c("estimate", "prior")] <- list(model$estimate, model$prior)
  fit$df <- x$dims[["n"]] * (k - 1) + k * (x$dims[["m"]] - 1)
  class(fit) <- c("plsa_shards", class(fit))
  fit
}

# The shares by which components are ordered, as in a fit in memory.
shards_table.plsa_shards <- function(fit) {
  list(component = names(fit$shares$weight), share = sprintf("%.2f", fit$count_share))
}

shard_part.plsa_shards <- function(fit, rows, data) {
  membership <- rows[, fit$order, drop = FALSE]
  dimnames(membership) <- list(rownames(data$x), component_names(fit$dims[["k"]]))
  param <- list(membership = membership, basis = fit$param$basis)
  none <- c(membership = 0, basis = 0)
  list(
    param = param, missing = fit$model$missing, mstep = "cccp", fixed = "none", estimate = fit$estimate,
    prior = fit$prior,
    sparsity = list(given = none, scale = "relative", effective = none), perplexity = perplexity(membership),
    row_scale = plsa_row_scale(data$view, param, data$margins$row_sum), margins = data$margins, shares = fit$shares,
    class = "plsa"
  )
}
