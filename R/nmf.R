#' Non-negative matrix factorisation
#'
#' Approximates a non-negative table by a product of two non-negative factors, under squared error or the
#' Kullback-Leibler divergence. For presences and absences it is an alternative to [aspect_bernoulli()], but its values
#' are not probabilities. Under `loss = "kl"` it is the maximum likelihood fit of Poisson counts.
#'
#' @details
#' **Model.** \deqn{x_{ij} \approx \mu_{ij} = \sum_c w_{ic} h_{cj}}{x[i,j] ~ mu[i,j] = sum_c w[i,c] h[c,j]}
#' with `coefficients` \eqn{w} (n x k) and `basis` \eqn{h} (k x m), both at least 0. Missing cells drop out of the
#' loss. No prior holds their fitted values back: with many of them and many components these can be far above all
#' values observed, so choose `k` by held-out cells.
#'
#' **What is assumed.** `"euclidean"` takes errors to be equally large in all cells, so columns in larger units decide
#' the components. When one column was multiplied by 100, the first component had more than 90 % of its basis there.
#' Bring columns to one unit first. `"kl"` takes variances to equal means, as of Poisson counts. If counts are clumped,
#' the sum of `residuals(fit, "pearson")^2` is far larger than the number of cells less `df`.
#'
#' **Estimation.** `"euclidean"` minimises half the squared error by coordinate descent on whole rows of a factor, with
#' several rounds for one set of products (accelerated HALS, Gillis and Glineur 2012); `"kl"` minimises \eqn{\sum_{ij}
#' (x_{ij} \log(x_{ij} / \mu_{ij}) - x_{ij} + \mu_{ij})}{sum (x log(x / mu) - x + mu)} by ten multiplicative updates,
#' and then in each iteration by one Newton step for every row and every column within the bounds, which cannot raise
#' the loss (Tran-Dinh and others 2015). Both are extrapolated and stop at the conditions of an optimum: the squared
#' length of the part of the gradient that could still lower the loss must be less than `tol` times that of its positive
#' part, in two successive cycles. `accelerate = FALSE` in [fit_control()] gives Lee and Seung's multiplicative updates,
#' which stop on small gains; `algorithm = "em"` gives them, under `"kl"`, with acceleration.
#'
#' **Unique form.** Rows of the basis sum to 1, so that coefficients are in the units of `x` (under `"kl"` those of a
#' site sum to its total), and components come in order of decreasing total. Nothing is scaled or reordered where
#' `start` is given.
#'
#' **Shards.** `x` may be a result of [shards()] with `loss = "kl"`, by multiplicative updates; see there. The result
#' has class `nmf_shards`.
#'
#' **Cost.** An iteration takes O(k) a nonzero cell and O(k^2) a row and column, and O(k^2) a missing cell; under
#' `"kl"` O(q^2) a nonzero cell, q being the components of its row or column that are not 0, and O(k) a missing one.
#' Sparse data are never made dense; they are held twice, by rows and by columns.
#'
#' @inheritParams aspect_bernoulli
#' @param x counts, presences or other values of at least 0: n sites as rows, m taxa as columns; `NA` is an
#'   unknown cell. Matrix, table, data frame or sparse matrix as in [aspect_bernoulli()], or [shards()].
#' @param k number of components, at least 1.
#' @param loss `"euclidean"` or `"kl"`.
#' @param start initial values `list(coefficients = n x k, basis = k x m)`, all at least 0, for one start. Under `"kl"`
#'   no observed cell above 0 may have mean 0.
#' @param control settings from [fit_control()].
#' @return A list of class `nmf`, with the parts described in [aspect_bernoulli()] (except `fixed`),
#'   where `param` holds `coefficients` (n x k) and `basis` (k x m), and `residual` the squared
#'   relative distance from the conditions of an optimum (see Estimation). The `objective` is minus the loss, or under
#'   `"kl"` for whole numbers the Poisson log-likelihood, whose `df` counts k (n + m - 1) parameters; elsewhere `loglik`
#'   is `NA`.
#' @references Lee DD, Seung HS (2001). Algorithms for non-negative matrix factorization. *Advances in Neural
#'   Information Processing Systems* 13, 556-562.
#'
#'   Gillis N, Glineur F (2012). Accelerated multiplicative updates and hierarchical ALS algorithms for nonnegative
#'   matrix factorization. *Neural Computation* 24, 1085-1105. \doi{10.1162/NECO_a_00256}
#'
#'   Tran-Dinh Q, Kyrillidis A, Cevher V (2015). Composite self-concordant minimization. *Journal of Machine Learning
#'   Research* 16, 371-416.
#' @seealso [predict.nmf()], [compare_models()]
#' @examples
#' set.seed(1)
#' faunas <- rbind(woodland = c(deer = 5, hare = 4, owl = 1, vole = 0), steppe = c(0, 3, 1, 6))
#' size <- matrix(runif(80, 0, 2), 40) # of both faunas at each site
#' x <- apply(size %*% faunas, 2, function(mean) rpois(40, mean))
#' nmf(x, k = 2, loss = "kl")
#' @export
nmf <- function(x, k, ..., loss = c("euclidean", "kl"), start = NULL, control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x, k)
  control <- check_control(control)
  loss <- check_choice(loss)
  call <- keep_values(call, list(loss = loss, start = start))
  if (in_pieces(x)) {
    return(fit_pieces(x, "nmf", k, list(loss = loss), start, control, call))
  }
  data <- check_data(x, "nonnegative")
  k <- check_k(k, dim(data$x))
  problem <- structure(list(data = data, k = k, loss = loss), class = c("nmf_problem", "multicause_problem"))
  problem$start <- if (!is.null(start)) nm_check_start(start, data, k)
  started <- run_starts(problem, control)
  if (is.null(start)) started <- reorder_runs(started, identity, function(param, scaled) nm_scale(scaled))
  nm_new_fit(started, data, k, loss, control, call)
}

start_kinds.nmf_problem <- function(problem, control) rep("uniform", control$n_start)

run_start.nmf_problem <- function(problem, start, control) nm_run(problem$data$view, start, problem$loss, control)

# Runs the kernel, which stores an observation's coefficients as a column.
nm_run <- function(view, start, loss, control, fixed_basis = FALSE) {
  param <- list(
    coefficients = t(start$coefficients), basis = start$basis, kl = loss == "kl", fixed_basis = fixed_basis,
    multiplicative = !control$accelerate || (loss == "kl" && identical(control$algorithm, "em"))
  )
  out <- if (param$kl && param$multiplicative && !fixed_basis) {
    .Call(mc_c_nm_sum, view, param, unclass(control))
  } else {
    .Call(mc_c_nm_fit, view, param, unclass(control))
  }
  list(
    param = list(coefficients = t(out$coefficients), basis = out$basis), outcome = out$outcome, residual = out$residual
  )
}

# Scale of starting values: the mean of the data.
nm_size <- function(density) if (density > 0) density else 1e-3

# Draws starting values, positive everywhere, with the mean of the data.
draw_start.nmf_problem <- function(problem, kind) {
  data <- problem$data
  k <- problem$k
  mean <- nm_size(data_density(data))
  list(
    coefficients = matrix(stats::runif(nrow(data$x) * k, 0.5, 1.5), nrow(data$x), k) * mean / k,
    basis = matrix(stats::runif(k * ncol(data$x), 0.2, 1.8), k, ncol(data$x))
  )
}

nm_check_start <- function(start, data, k) {
  wish <- "list(coefficients = n x k matrix, basis = k x m matrix)"
  start <- check_start(start, c("coefficients", "basis"), wish, rownames(data$x), colnames(data$x))
  most <- .Machine$double.xmax
  list(
    coefficients = check_matrix(start$coefficients, "start$coefficients", nrow(data$x), k, 0, most),
    basis = check_matrix(start$basis, "start$basis", k, ncol(data$x), 0, most)
  )
}

# Scales rows of the basis to sum 1 and orders components by decreasing total. An empty component keeps its zeros.
nm_scale <- function(param) {
  total <- rowSums(param$basis)
  total[total == 0] <- 1
  param$coefficients <- sweep(param$coefficients, 2L, total, "*")
  param$basis <- param$basis / total
  at <- order(-colSums(param$coefficients))
  list(coefficients = param$coefficients[, at, drop = FALSE], basis = param$basis[at, , drop = FALSE])
}

nm_new_fit <- function(run, data, k, loss, control, call) {
  param <- run$best$param
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  dimnames(param$coefficients) <- list(names[[1L]], labels)
  dimnames(param$basis) <- list(labels, names[[2L]])
  counts <- loss == "kl" && is.null(.Call(mc_c_view_range, data$view)$not_whole)
  if (counts) run <- nm_add(run, poisson_constant(data$view))
  fit <- assemble_fit(
    run, data, k, if (counts) "log_likelihood" else "minus_loss", control, call,
    param = param, loglik = if (counts) run$best$outcome$objective else NA_real_,
    df = k * (as.double(nrow(data$x)) + ncol(data$x) - 1), class = "nmf", loss = loss, residual = run$best$residual,
    density = data_density(data)
  )
  validate_nmf(fit)
}

# Computes the Poisson log-likelihood plus divergence, which does not depend on the mean.
poisson_constant <- function(view) {
  x <- if (is.null(view$value)) rep(1, length(view$column)) else view$value
  sum(x * log(x) - x - lgamma(x + 1))
}

nm_add <- function(run, constant) {
  run$best$outcome$objective <- run$best$outcome$objective + constant
  run$best$outcome$trace <- run$best$outcome$trace + constant
  run$starts$objective <- run$starts$objective + constant
  run$traces <- lapply(run$traces, function(trace) trace + constant)
  run
}

validate_nmf <- function(fit) {
  stopifnot(
    has_dims(fit$param$coefficients, fit, c("n", "k")), all(fit$param$coefficients >= 0),
    has_dims(fit$param$basis, fit, c("k", "m")), all(fit$param$basis >= 0)
  )
  fit
}

#' Predictions and simulations of a non-negative matrix factorisation
#'
#' @param object a fit of [nmf()].
#' @param newdata new sites, columns matched by name, in any order, or by place where one side has no names; cells may
#'   be `NA`. `NULL`: the data of the fit. New coefficients minimise the same loss with the basis fixed, a convex
#'   problem.
#' @param type `"response"`: the mean of each cell, which may exceed 1 for 0/1 data, too; `"coefficients"`.
#' @param nsim number of data sets to simulate, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @param ... must be empty.
#' @return `predict()`: an n x m or n x k matrix, with the names of the data. `fitted()`: the `"response"` of the
#'   training data, missing cells included. `simulate()`: a list of n x m matrices of Poisson counts; an error for
#'   `loss = "euclidean"`, which names no distribution.
#' @examples
#' set.seed(1)
#' x <- matrix(rpois(200, 2), 20, 10)
#' fit <- nmf(x, k = 2, loss = "kl")
#' predict(fit, x[1:3, ], type = "coefficients")
#' @export
predict.nmf <- function(object, newdata = NULL, type = c("response", "coefficients"), ...) {
  check_dots(...)
  type <- check_choice(type)
  coefficients <- if (is.null(newdata)) object$param$coefficients else nm_new_coefficients(object, newdata)
  if (type == "coefficients") {
    return(coefficients)
  }
  refuse_large(nrow(coefficients) * object$dims[["m"]], "The prediction", "use fewer rows at a time as `newdata`")
  in_given_order(coefficients %*% object$param$basis, newdata)
}

nm_new_coefficients <- function(fit, newdata) {
  data <- check_newdata(fit, newdata, "nonnegative")
  # Components get a common size. A share close to 0 is rounding error: if all else that a component writes is missing,
  # only an enormous coefficient could write with it.
  basis <- unname(fit$param$basis)
  total <- rowSums(basis)
  total[total == 0] <- 1
  basis <- basis / total
  basis[basis < 1e-12] <- 0
  # A cell above 0 whose attribute no component writes does not inform the coefficients, but makes KL infinite.
  written <- colSums(basis) > 0
  view <- data$view
  if (fit$loss == "kl" && any(written) && !all(written)) {
    view <- data_view(data$x[, written, drop = FALSE])
    basis <- basis[, written, drop = FALSE]
  }
  start <- list(coefficients = matrix(nm_size(fit$density), nrow(data$x), fit$dims[["k"]]), basis = basis)
  firm <- fit_control(max_iter = 10000L, tol = 1e-14, n_threads = fit$control$n_threads, progress = FALSE)
  done <- nm_run(view, start, fit$loss, firm, fixed_basis = TRUE)
  check_outcome(done$outcome)
  coefficients <- sweep(done$param$coefficients, 2L, total, "/")
  dimnames(coefficients) <- list(rownames(data$x), rownames(fit$param$basis))
  coefficients
}

#' @rdname predict.nmf
#' @export
simulate.nmf <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  if (object$loss == "euclidean") {
    stop_input("A Euclidean fit names no distribution to simulate from: use `loss = \"kl\"`.")
  }
  mean <- fitted(object)
  simulate_with(object, nsim, seed, function() matrix(stats::rpois(length(mean), mean), nrow(mean), ncol(mean)))
}

residual_matrix.nmf <- function(fit, x, mean, type) {
  if (fit$loss == "euclidean" || type == "response") {
    return(x - mean)
  }
  log_ratio <- ifelse(x > 0, x * log(x / mean), 0)
  switch(type,
    pearson = ifelse(x == mean, 0, (x - mean) / sqrt(mean)),
    deviance = sign(x - mean) * sqrt(2 * pmax(log_ratio - (x - mean), 0))
  )
}

model_title.nmf <- function(fit) sprintf("NMF (%s)", fit$loss)

data_kind.nmf <- function(fit) "nonnegative"

component_matrix.nmf <- function(fit) fit$param$basis

part_sides.nmf <- function(fit, name, values) {
  switch(name,
    coefficients = c("site", "component"), NextMethod()
  )
}

# The probability of at least one count under the Poisson means.
presence_probability.nmf <- function(fit, mean = fitted(fit)) {
  if (fit$loss == "kl") 1 - exp(-mean) else presence_probability.default(fit, mean)
}

row_family.nmf <- function(fit) if (fit$loss == "kl") "poisson" else "squared"

held_out_rows.nmf <- function(fit, data, floor, family, ...) {
  if (fit$loss != "kl") {
    stop_no_likelihood("Squared error is no likelihood of rows: use `loss = \"kl\"`, or hold out cells.")
  }
  NextMethod()
}
