# Bernoulli mixtures of a table in shards. Rows have no parameters: their memberships follow from weights and
# prototypes. Tests: test-shards_models.R.

fit_to_shards.bernoulli_mixture <- function(model, x, k, settings, start, control, call) {
  k <- check_shards_k(k, x)
  refuse_smooth_shards(settings$smooth)
  control <- em_on_shards(control)
  prior <- NULL
  if (settings$estimate == "map") prior <- one_prior(settings$prior, "prototypes = , weights = ")
  pseudo <- if (is.null(prior)) c(0, 0, 0) else unlist(bm_check_prior(prior), use.names = FALSE) - 1
  model <- shard_model(
    "bernoulli_mixture_on_shards", k, estimate = settings$estimate, prior = prior, pseudo = pseudo, rows = NULL
  )
  objective <- if (settings$estimate == "ml") "log_likelihood" else "log_posterior"
  fit_shards(x, model, objective, start, control, call)
}

shard_kernel.bernoulli_mixture_on_shards <- function(model, view, param, control) {
  .Call(mc_c_bm_fit, view, param, model$pseudo, control)
}

shard_start.bernoulli_mixture_on_shards <- function(model, start, x) {
  m <- x$dims[["m"]]
  wish <- "list(weights = k numbers, prototypes = k x m matrix)"
  start <- check_start(start, c("weights", "prototypes"), wish, shard_names(x), x$attributes)
  weights <- check_start_weights(start$weights, model$k)
  prototypes <- check_matrix(start$prototypes, "start$prototypes", model$k, m, 0, 1)
  list(shared = list(weights = weights, prototypes = unname(prototypes)))
}

fit_sample.bernoulli_mixture_on_shards <- function(model, rows, at, control) {
  prior <- if (!is.null(model$prior)) list(prior = model$prior)
  do.call(bernoulli_mixture, c(list(quote(rows), model$k, estimate = model$estimate, control = control), prior))
}

sampled_shared.bernoulli_mixture_on_shards <- function(model, fit, share) {
  k <- model$k
  list(
    weights = 0.95 * unname(fit$param$weights) + 0.05 / k, prototypes = mix_shares(unname(fit$param$prototypes), share)
  )
}

finish_shards.bernoulli_mixture_on_shards <- function(model, fit, found, free) {
  labels <- component_names(model$k)
  order <- if (free) order(-found$weights) else seq_len(model$k)
  weights <- stats::setNames(found$weights[order], labels)
  prototypes <- structure(found$prototypes[order, , drop = FALSE], dimnames = list(labels, fit$shards$attributes))
  prior <- model$pseudo
  log_prior <- sum(ifelse(prior[1:2] > 0, prior[1:2] * c(sum(log(prototypes)), sum(log1p(-prototypes))), 0)) +
    if (prior[3L] > 0) prior[3L] * sum(log(weights)) else 0
  fit$param <- list(weights = weights, prototypes = prototypes)
  fit$loglik <- unname(fit$objective) - log_prior
  fit$shares <- list(weight = weights)
  fit$df <- model$k - 1 + model$k * fit$dims[["m"]]
  class(fit) <- c("bernoulli_mixture_shards", class(fit))
  fit
}

shard_part.bernoulli_mixture_shards <- function(fit, rows, data) {
  membership <- bm_expect(fit, data$view)$membership
  dimnames(membership) <- list(rownames(data$x), component_names(fit$dims[["k"]]))
  list(
    param = c(fit$param, list(membership = membership)), estimate = fit$model$estimate, prior = fit$model$prior,
    pseudo = fit$model$pseudo, density = fit$density, class = "bernoulli_mixture"
  )
}
