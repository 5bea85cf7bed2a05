# Logistic PCA of a table in shards. Tests: test-shards_models.R.

fit_to_shards.logistic_pca <- function(model, x, k, settings, start, control, call) {
  penalty <- settings$penalty
  k <- check_shards_k(k, x)
  control <- em_on_shards(control)
  if (!is.numeric(penalty) || length(penalty) != 1L) {
    stop_input("`penalty` of a fit to shards must be one number, not %s: choose by some rows, `x[i, ]`.",
      show_value(penalty))
  }
  penalty <- check_number(penalty, "penalty", 0, 1e6)
  model <- shard_model(
    "logistic_pca_on_shards", k, penalty = penalty, rows = "scores", space = "real", first = 0, turned = TRUE
  )
  objective <- if (penalty > 0) "penalised_log_likelihood" else "log_likelihood"
  fit_shards(x, model, objective, start, control, call)
}

shard_kernel.logistic_pca_on_shards <- function(model, view, param, control) {
  .Call(mc_c_lp_fit, view, c(param, list(penalty = model$penalty)), control)
}

shard_start.logistic_pca_on_shards <- function(model, start, x) {
  m <- x$dims[["m"]]
  wish <- "list(loadings = k x m matrix, intercept = m numbers), and a n x k matrix `scores` if you like"
  start <- check_start(start, c("loadings", "intercept"), wish, shard_names(x), x$attributes)
  loadings <- check_matrix(start$loadings, "start$loadings", model$k, m)
  intercept <- check_matrix(matrix(start$intercept, 1L), "start$intercept", 1L, m)
  scores <- start$scores
  if (!is.null(scores)) scores <- check_matrix(scores, "start$scores", x$dims[["n"]], model$k)
  list(shared = list(loadings = unname(rbind(loadings, intercept))), rows = scores)
}

fit_sample.logistic_pca_on_shards <- function(model, rows, at, control) {
  logistic_pca(rows, model$k, penalty = model$penalty, control = control)
}

sampled_shared.logistic_pca_on_shards <- function(model, fit, share) {
  list(loadings = unname(rbind(fit$param$loadings, fit$param$intercept)))
}

finish_shards.logistic_pca_on_shards <- function(model, fit, found, free) {
  k <- model$k
  x <- fit$shards
  labels <- component_names(k)
  total <- numeric(k)
  squares <- matrix(0, k, k)
  for (s in x$shards$shard) {
    scores <- own_rows(fit, s)
    total <- total + colSums(scores)
    squares <- squares + crossprod(scores)
  }
  n <- x$dims[["n"]]
  raw <- found$loadings[seq_len(k), , drop = FALSE]
  half <- model$penalty / 2
  fit$loglik <- unname(fit$objective) + half * (sum(diag(squares)) + sum(raw^2))
  unturned <- list(centre = numeric(k), turn = diag(k), loadings = raw, intercept = found$loadings[k + 1L, ])
  form <- if (free) lp_turn(squares - outer(total, total) / n, total / n, unturned) else unturned
  if (free) {
    scores_size <- sum(diag(crossprod(form$turn, squares - outer(total, total) / n) %*% form$turn))
    after <- fit$loglik - half * (scores_size + sum(form$loadings^2))
    fit$objective[] <- max(fit$objective, after)
  }
  fit$param <- list(
    loadings = structure(form$loadings, dimnames = list(labels, x$attributes)),
    intercept = stats::setNames(form$intercept, x$attributes)
  )
  fit$form <- form[c("centre", "turn")]
  fit$df <- x$dims[["m"]] + k * (n + x$dims[["m"]] - k - 1)
  class(fit) <- c("logistic_pca_shards", class(fit))
  fit
}

shard_part.logistic_pca_shards <- function(fit, rows, data) {
  scores <- sweep(rows, 2L, fit$form$centre) %*% fit$form$turn
  dimnames(scores) <- list(rownames(data$x), component_names(fit$dims[["k"]]))
  list(
    param = c(list(scores = scores), fit$param), penalty = fit$model$penalty, density = fit$density,
    class = "logistic_pca"
  )
}

shard_types.logistic_pca_shards <- function(fit) c(response = "m", link = "m", scores = "k")
