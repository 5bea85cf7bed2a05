# Truncated noisy-OR of a table in shards. Each row keeps its best states, listed as numbers. Tests:
# test-shards_models.R.

fit_to_shards.noisy_or <- function(model, x, k, settings, start, control, call) {
  k <- check_shards_k(k, x)
  nor_refuse_shards(settings)
  control <- em_on_shards(control)
  model <- shard_model(
    "noisy_or_on_shards", k, rows = "listed", space = "kept", first = 0,
    inference = "truncated", estimate = settings$estimate, prior = settings$prior, pseudo = settings$pseudo,
    mask = nor_check_mask(settings$mask, k, x$dims[["m"]], x$attributes),
    inner = 1L, q_steps = 10L, q_rule = "alternate"
  )
  fit_shards(x, model, "lower_bound", start, control, call)
}

nor_refuse_shards <- function(settings) {
  if (settings$estimate == "gibbs") {
    stop_not_for_shards("`estimate = \"gibbs\"`", "take \"map\" or \"ml\", or fit some rows, `x[i, ]`")
  }
  if (settings$missed_by != "none") {
    stop_input("`missed_by` must be \"none\" for shards(), not %s.", show_value(settings$missed_by))
  }
  if (!is.null(settings$effort)) stop_input("`effort` must be NULL for shards().")
  if (!is.null(settings$activation)) stop_input("`activation` must be NULL for shards().")
  if (!settings$inference %in% c("auto", "truncated")) {
    stop_not_for_shards(
      sprintf("`inference = \"%s\"`", settings$inference), "take \"truncated\", or fit some rows, `x[i, ]`"
    )
  }
  if (!is.null(settings$inner) && check_count(settings$inner, "inner") != 1L) {
    stop_not_for_shards("`inner` above 1", "each step more would be a scan of all shards; leave it out")
  }
  if (check_count(settings$surplus, "surplus", 0L) > 0L) {
    stop_not_for_shards("`surplus`", "a start may come from a fit to some rows, `x[i, ]`, which takes it")
  }
}

rows_extent.noisy_or_on_shards <- function(model, n) c(n, 1L + 32L * as.integer(ceiling(model$k / 64)))

# Checks rows: the number of listed states, and these in halves of 32 bits, without components that do not exist.
are_rows.noisy_or_on_shards <- function(model, rows) {
  halves <- 2L * as.integer(ceiling(model$k / 64))
  listed <- (ncol(rows) - 1L) %/% halves
  bits <- pmin(pmax(model$k - 32L * (seq_len(halves) - 1L), 0L), 32L)
  below <- rep(c(listed + 1, rep(2^bits, listed)), each = nrow(rows))
  all(is.finite(rows) & rows >= 0 & rows < below & rows == floor(rows))
}

shard_kernel.noisy_or_on_shards <- function(model, view, param, control) {
  .Call(mc_c_nor_sum, view, param, nor_settings(model), control)
}

shard_start.noisy_or_on_shards <- function(model, start, x) {
  none <- matrix(0, 0L, x$dims[["m"]], dimnames = if (!is.null(x$attributes)) list(NULL, x$attributes))
  list(shared = nor_check_start(start, list(x = none), model$k, model))
}

fit_sample.noisy_or_on_shards <- function(model, rows, at, control) {
  prior <- if (!is.null(model$prior)) list(prior = model$prior)
  asked <- list(inference = "truncated", estimate = model$estimate, mask = model$mask, control = control)
  do.call(noisy_or, c(list(quote(rows), model$k), asked, prior))
}

# Components that became part of the leak in the sample get another probability: weak links in proportion to the taxa's
# shares.
sampled_shared.noisy_or_on_shards <- function(model, fit, share) {
  param <- lapply(fit$param[c("prior", "links", "leak")], unname)
  lost <- model$k - length(param$prior)
  weak <- matrix(rep(pmin(share, 0.5), each = lost), lost, length(share)) * ifelse(seq_len(lost) %% 2L, 1, 0.5)
  links <- rbind(mix_shares(param$links, share), weak)
  if (!is.null(model$mask)) links <- links * model$mask
  list(
    prior = pmax(c(param$prior, rep(0.01, lost)), 1e-4), links = links,
    leak = as.vector(mix_shares(matrix(param$leak, 1L), 0.1 * share))
  )
}

finish_shards.noisy_or_on_shards <- function(model, fit, found, free) {
  x <- fit$shards
  k <- model$k
  labels <- component_names(k)
  order <- if (free && is.null(model$mask)) order(-found$prior * rowSums(found$links)) else seq_len(k)
  param <- nor_take_sources(found, order)
  fit$loglik <- nor_shards_loglik(fit, param)
  fit$param <- list(
    prior = stats::setNames(param$prior, labels),
    links = structure(param$links, dimnames = list(labels, x$attributes)),
    leak = stats::setNames(param$leak, x$attributes)
  )
  fit$shares <- list(weight = fit$param$prior)
  links <- if (is.null(model$mask)) k * as.double(x$dims[["m"]]) else sum(model$mask)
  fit$df <- k + links + as.integer(x$dims[["m"]])
  class(fit) <- c("noisy_or_shards", class(fit))
  fit
}

# Computes the log-likelihood exactly if that is cheap, else the lower bound without its prior, as nor_fit_loglik(). The
# bound belongs to the states listed, which stay in the files; a new search would give another.
nor_shards_loglik <- function(fit, param) {
  model <- fit$model
  x <- fit$shards
  if (model$k > nor_auto_exact) {
    return(unname(fit$objective) - nor_log_prior(model, param))
  }
  sum(vapply(x$shards$shard, function(s) {
    view <- read_shard_view(x, s)
    sum(nor_report(list(view = view), param, model, "loglik", "exact")$loglik)
  }, 0))
}

nor_log_prior <- function(model, param) {
  counts <- matrix(model$pseudo[1:6], 2L)
  if (!is.null(model$mask)) param$links <- param$links[model$mask != 0L]
  sum(mapply(function(value, count) {
    (if (count[1L] > 0) count[1L] * sum(log(value)) else 0) + (if (count[2L] > 0) count[2L] * sum(log1p(-value)) else 0)
  }, param[c("prior", "links", "leak")], split(counts, col(counts))))
}

# Activations come from a new search of states with all components, not from the states listed.
shard_part.noisy_or_shards <- function(fit, rows, data) {
  param <- fit$param
  activation <- nor_report(list(view = data$view), param, fit$model, "activation")$activation
  param$activation <- structure(activation, dimnames = list(rownames(data$x), names(param$prior)))
  list(
    param = param, inference = "truncated", estimate = fit$model$estimate, prior = fit$model$prior,
    model = unclass(fit$model), absorbed = 0L, density = fit$density, margins = data$margins,
    sources = source_table(structure(list(param = param, names = dimnames_of(data$x)), class = "noisy_or")),
    class = "noisy_or"
  )
}

shard_types.noisy_or_shards <- function(fit) c(response = "m", activation = "k", map = "k")
