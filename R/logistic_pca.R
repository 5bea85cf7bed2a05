#' Logistic principal components: a low-rank model of log-odds
#'
#' Principal component analysis for presence-absence tables: the log-odds of every cell are an intercept for its taxon
#' plus a sum over components of score times loading. It is an alternative to [aspect_bernoulli()] for prediction; its
#' components cannot be read as causes.
#'
#' @details
#' **Model.** \deqn{\log\frac{p_{ij}}{1 - p_{ij}} = b_j + \sum_c u_{ic} v_{cj}}{
#' log(p[i,j] / (1 - p[i,j])) = b[j] + sum_c u[i,c] v[c,j]}
#' with `scores` \eqn{u} (n x k), `loadings` \eqn{v} (k x m) and `intercept` \eqn{b} (m). Missing cells drop out.
#'
#' **What is assumed.** Cells are independent given their log-odds, and a zero is an absence, however well a site was
#' searched. Uneven effort therefore becomes a component: see whether `cor(coef(fit)$scores[, 1], rowSums(x))` is near 1
#' or -1.
#'
#' **Estimation.** Maximises the log-likelihood less a ridge, `penalty / 2` times the sum of squares of scores and
#' loadings. Without one, log-odds diverge wherever ones and zeros can be separated, so `penalty = 0` is allowed but not
#' the default. The intercept is not penalised. The algorithm is alternating least squares on the quadratic lower bound
#' of every cell's log-probability (Jaakkola and Jordan 2000), and never lowers the objective.
#'
#' **Unique form.** The estimate is rotated. Scores then have mean 0 and orthogonal columns, and loadings have
#' orthogonal rows. A component's scores and loadings have equal sums of squares, and its largest loading is positive.
#' Components come in order of decreasing size. This leaves the probabilities as they are and never lowers the
#' objective. Nothing is rotated where `start` is given.
#'
#' **Shards.** `x` may be a result of [shards()], with one `penalty`; see there. The result has class
#' `logistic_pca_shards`.
#'
#' **Cost.** An iteration takes \eqn{2 n m k^2} floating-point operations in BLAS products, two exponentials a cell and
#' O((n + m) k^3); memory O(k^2 m) and a few blocks of rows. Sparse data are never made dense, and no matrix of m x m or
#' n x n is formed.
#'
#' @inheritParams aspect_bernoulli
#' @param k number of components, at least 0 (0: intercepts alone).
#' @param penalty ridge, at least 0: the larger it is, the nearer probabilities are to their taxon's mean. `"cv"`, or a
#'   vector of several values to try, chooses by held-out cells: see [cross_validate()].
#' @param start initial values `list(scores = n x k, loadings = k x m, intercept = m)` for one start.
#' @param control settings from [fit_control()].
#' @return A list of class `logistic_pca`, with the parts described in [aspect_bernoulli()] (but `certificate`, `fixed`
#'   and `expected_false`), where `param` holds `scores` (n x k), `loadings` (k x m) and `intercept` (m), on the scale
#'   of log-odds, and `penalty` the ridge; `tuning` the result of [cross_validate()] where the ridge was chosen. `df`
#'   counts free parameters without regard to the ridge: m + k (n + m - k - 1).
#' @references Schein AI, Saul LK, Ungar LH (2003). A generalized linear model for principal component analysis of
#'   binary data. *Proceedings of the Ninth International Workshop on Artificial Intelligence and Statistics*, 240-247.
#'
#'   Jaakkola TS, Jordan MI (2000). Bayesian parameter estimation via variational methods. *Statistics and Computing*
#'   10, 25-37. \doi{10.1023/A:1008932416310}
#' @seealso [predict.logistic_pca()], [compare_models()]
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, 0.6)
#' fit <- logistic_pca(x, k = 1)
#' fit
#' range(fitted(fit))
#' @export
logistic_pca <- function(x, k, ..., penalty = 2, start = NULL, control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x, k)
  control <- check_control(control)
  if (in_pieces(x)) {
    call <- keep_values(call, list(penalty = penalty, start = start))
    return(fit_pieces(x, "logistic_pca", k, list(penalty = penalty), start, control, call))
  }
  data <- check_data(x, "binary")
  k <- check_k(k, dim(data$x), 0L)
  tuned <- NULL
  if (identical(penalty, "cv") || (is.numeric(penalty) && length(penalty) > 1L)) {
    values <- if (identical(penalty, "cv")) penalty_grid else check_penalties(penalty)
    tuned <- tune_by_cells(data$x, logistic_pca, k, "penalty", values, list(), control)
    penalty <- tuned$value
  }
  penalty <- check_number(penalty, "penalty", 0, 1e6)
  call <- keep_values(call, list(penalty = penalty, start = start))
  problem <- structure(
    list(data = data, k = k, penalty = penalty), class = c("logistic_pca_problem", "multicause_problem")
  )
  problem$start <- if (!is.null(start)) lp_check_start(start, data, k)
  started <- run_starts(problem, control)
  if (is.null(start)) started <- lp_rotate_runs(started, penalty)
  lp_new_fit(started, data, k, penalty, control, call, tuned$cv)
}

# Checks penalties, possibly several.
check_penalties <- function(penalty) {
  bad <- which(is.na(penalty) | penalty < 0 | penalty > 1e6)
  if (length(bad)) {
    stop_input("`penalty` must hold numbers between 0 and 1e+06: number %d is %s.", bad[1L], format(penalty[bad[1L]]))
  }
  if (anyDuplicated(penalty)) {
    stop_input("`penalty` must hold each number once: %s comes twice.", format(penalty[anyDuplicated(penalty)]))
  }
  as.vector(penalty)
}

# Runs the kernel, which stores an observation's scores, and an attribute's loadings and intercept, as columns.
lp_run <- function(view, start, penalty, control, fixed_loadings = FALSE) {
  param <- list(
    scores = t(start$scores), loadings = rbind(start$loadings, start$intercept), penalty = penalty,
    fixed_loadings = fixed_loadings
  )
  out <- .Call(mc_c_lp_fit, view, param, unclass(control))
  k <- nrow(out$scores)
  list(
    param = list(
      scores = t(out$scores), loadings = out$loadings[seq_len(k), , drop = FALSE], intercept = out$loadings[k + 1L, ]
    ),
    outcome = out$outcome
  )
}

start_kinds.logistic_pca_problem <- function(problem, control) {
  if (problem$k == 0L) "random" else rep("random", control$n_start)
}

# Draws starting values: intercepts at the attributes' log-odds, small random scores and loadings.
draw_start.logistic_pca_problem <- function(problem, kind) {
  data <- problem$data
  k <- problem$k
  mean <- (data$margins$column_sum + data_density(data)) / (data$margins$column_observed + 1)
  mean <- pmin(pmax(mean, 1e-3), 1 - 1e-3)
  list(
    scores = matrix(stats::rnorm(nrow(data$x) * k, sd = 0.5), nrow(data$x), k),
    loadings = matrix(stats::rnorm(k * ncol(data$x), sd = 0.5), k, ncol(data$x)), intercept = stats::qlogis(mean)
  )
}

run_start.logistic_pca_problem <- function(problem, start, control) {
  lp_run(problem$data$view, start, problem$penalty, control)
}

lp_check_start <- function(start, data, k) {
  wish <- "list(scores = n x k matrix, loadings = k x m matrix, intercept = m numbers)"
  start <- check_start(start, c("scores", "loadings", "intercept"), wish, rownames(data$x), colnames(data$x))
  intercept <- check_matrix(matrix(start$intercept, 1L), "start$intercept", 1L, ncol(data$x))
  list(
    scores = check_matrix(start$scores, "start$scores", nrow(data$x), k),
    loadings = check_matrix(start$loadings, "start$loadings", k, ncol(data$x)), intercept = as.vector(intercept)
  )
}

lp_rotate_runs <- function(run, penalty) {
  size <- function(param) penalty / 2 * (sum(param$scores^2) + sum(param$loadings^2))
  before <- size(run$best$param)
  run$best$param <- lp_rotate(run$best$param)
  gain <- before - size(run$best$param)
  run$best$outcome$objective <- run$best$outcome$objective + max(gain, 0)
  if (!is.null(run$params)) run$params <- lapply(run$params, lp_rotate)
  run
}

# Rotates to the unique form by singular values of a k x k matrix: scores = U sqrt(D), loadings = sqrt(D) V'.
lp_rotate <- function(param) {
  k <- ncol(param$scores)
  if (k == 0L) {
    return(param)
  }
  centre <- colMeans(param$scores)
  intercept <- param$intercept + as.vector(centre %*% param$loadings)
  left <- qr(sweep(param$scores, 2L, centre), LAPACK = TRUE)
  right <- qr(t(param$loadings), LAPACK = TRUE)
  core <- svd(qr_r(left) %*% t(qr_r(right)))
  kept <- seq_len(min(k, length(core$d)))
  root <- sqrt(core$d[kept])
  scores <- matrix(0, nrow(param$scores), k)
  loadings <- matrix(0, k, ncol(param$loadings))
  scores[, kept] <- qr.Q(left) %*% core$u[, kept, drop = FALSE] %*% diag(root, length(kept))
  loadings[kept, ] <- diag(root, length(kept)) %*% t(qr.Q(right) %*% core$v[, kept, drop = FALSE])
  sign <- lp_sign(loadings)
  list(scores = sweep(scores, 2L, sign, "*"), loadings = loadings * sign, intercept = intercept)
}

# Returns the signs that make the largest loading of each row positive.
lp_sign <- function(loadings) apply(loadings, 1L, function(row) if (row[which.max(abs(row))] < 0) -1 else 1)

# Returns R of a pivoted QR with columns in the original order.
qr_r <- function(x) qr.R(x)[, order(x$pivot), drop = FALSE]

lp_new_fit <- function(run, data, k, penalty, control, call, tuning = NULL) {
  param <- run$best$param
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  dimnames(param$scores) <- list(names[[1L]], labels)
  dimnames(param$loadings) <- list(labels, names[[2L]])
  names(param$intercept) <- names[[2L]]
  loglik <- run$best$outcome$objective + penalty / 2 * (sum(param$scores^2) + sum(param$loadings^2))
  fit <- assemble_fit(
    run, data, k, if (penalty > 0 && k > 0L) "penalised_log_likelihood" else "log_likelihood", control, call,
    param = param, loglik = loglik, df = ncol(data$x) + k * (as.double(nrow(data$x)) + ncol(data$x) - k - 1),
    class = "logistic_pca", penalty = penalty, tuning = tuning, density = data_density(data)
  )
  validate_logistic_pca(fit)
}

validate_logistic_pca <- function(fit) {
  stopifnot(
    has_dims(fit$param$scores, fit, c("n", "k")), all(is.finite(fit$param$scores)),
    has_dims(fit$param$loadings, fit, c("k", "m")), all(is.finite(fit$param$loadings)),
    length(fit$param$intercept) == fit$dims[["m"]], all(is.finite(fit$param$intercept))
  )
  fit
}

#' Predictions and simulations of logistic principal components
#'
#' @param object a fit of [logistic_pca()].
#' @param newdata new sites, columns matched by name, in any order, or by place where one side has no names; cells may
#'   be `NA`. `NULL`: the data of the fit. New scores maximise the same penalised likelihood with the loadings and
#'   intercepts fixed, a concave problem.
#' @param type `"response"`: the probability of each cell; `"link"`: its log-odds; `"scores"`.
#' @param nsim number of data sets to simulate, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @param ... must be empty.
#' @return `predict()`: an n x m or n x k matrix, with the names of the data. `fitted()`: the `"response"` of the
#'   training data, missing cells included. `simulate()`: a list of n x m 0/1 matrices.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.4), 20, 10)
#' fit <- logistic_pca(x, k = 2)
#' predict(fit, x[1:3, ], type = "scores")
#' @export
predict.logistic_pca <- function(object, newdata = NULL, type = c("response", "link", "scores"), ...) {
  check_dots(...)
  type <- check_choice(type)
  scores <- if (is.null(newdata)) object$param$scores else lp_new_scores(object, newdata)
  if (type == "scores") {
    return(scores)
  }
  refuse_large(nrow(scores) * object$dims[["m"]], "The prediction", "use fewer rows at a time as `newdata`")
  link <- cbind(scores, 1, deparse.level = 0L) %*% rbind(object$param$loadings, object$param$intercept)
  in_given_order(if (type == "link") link else stats::plogis(link), newdata)
}

lp_new_scores <- function(fit, newdata) {
  data <- check_newdata(fit, newdata, "binary")
  start <- lapply(fit$param, unname)
  start$scores <- matrix(0, nrow(data$x), fit$dims[["k"]])
  firm <- fit_control(max_iter = 10000L, tol = 1e-13, n_threads = fit$control$n_threads, progress = FALSE)
  done <- lp_run(data$view, start, fit$penalty, firm, fixed_loadings = TRUE)
  check_outcome(done$outcome)
  scores <- done$param$scores
  dimnames(scores) <- list(rownames(data$x), rownames(fit$param$loadings))
  scores
}

#' @rdname predict.logistic_pca
#' @export
simulate.logistic_pca <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  p <- fitted(object)
  simulate_with(object, nsim, seed, function() random_bernoulli(p))
}

model_title.logistic_pca <- function(fit) "Logistic PCA"

component_matrix.logistic_pca <- function(fit) fit$param$loadings

component_scale.logistic_pca <- function(fit) "loading (log-odds)"

part_sides.logistic_pca <- function(fit, name, values) {
  switch(name,
    scores = c("site", "component"), loadings = c("component", "taxon"), intercept = "taxon",
    NextMethod()
  )
}

# Computes lp_rotate() from sums over rows: `squares` of the centred scores. Scores become (scores - centre) %*% turn.
lp_turn <- function(squares, centre, param) {
  k <- length(centre)
  own <- eigen(squares, symmetric = TRUE)
  kept <- own$values > 1e-12 * max(own$values, 0)
  root_of <- ifelse(kept, sqrt(pmax(own$values, 0)), 0)
  right <- qr(t(param$loadings), LAPACK = TRUE)
  core <- svd((root_of * t(own$vectors)) %*% t(qr_r(right)))
  at <- seq_len(min(k, length(core$d)))
  root <- sqrt(core$d[at])
  turn <- matrix(0, k, k)
  loadings <- matrix(0, k, ncol(param$loadings))
  inverse <- own$vectors %*% (ifelse(kept, 1 / root_of, 0) * core$u[, at, drop = FALSE])
  turn[, at] <- inverse %*% diag(root, length(at))
  loadings[at, ] <- diag(root, length(at)) %*% t(qr.Q(right) %*% core$v[, at, drop = FALSE])
  sign <- lp_sign(loadings)
  list(
    centre = centre, turn = sweep(turn, 2L, sign, "*"), loadings = loadings * sign,
    intercept = param$intercept + as.vector(centre %*% param$loadings)
  )
}
