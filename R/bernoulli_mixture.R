#' Bernoulli mixture: every site from one component
#'
#' The single-cause rival of [aspect_bernoulli()], known to ecologists and social scientists as latent class analysis:
#' each site belongs to one component, whose prototype gives the probability of every taxon.
#'
#' @details
#' **Model.** \deqn{P(x_i) = \sum_c w_c \prod_j b_{cj}^{x_{ij}} (1 - b_{cj})^{1 - x_{ij}}}{
#' P(x[i,]) = sum_c w[c] prod_j b[c,j]^x[i,j] (1 - b[c,j])^(1 - x[i,j])}
#' with `weights` \eqn{w} (k, sum to 1) and `prototypes` \eqn{b} (k x m, probabilities). Missing cells drop out; an
#' site with nothing observed gets the weights as its membership and has no influence.
#'
#' **Estimation.** EM in logarithms, accelerated by default. With `estimate = "ml"` prototypes may end at exactly 0 or
#' 1; `"map"` adds a Beta prior on every probability and a symmetric Dirichlet prior on the weights, and is the default
#' because it predicts held-out cells better (by 0.004 to 1.1 nats a cell in `bench/estimate_default.md` of the
#' sources). Half of the starts are pulled towards rows drawn at random, half are random memberships; `fit$starts` says
#' which of them reached the best.
#'
#' **Neighbours.** With `smooth` (see [smooth_over()]) sites near each other tend to belong to the same
#' component. The memberships \eqn{q} are then fitted too, and to \eqn{\sum_i \sum_c q_{ic} \log(w_c P_c(x_i) /
#' q_{ic})}{sum q[i,c] log(w[c] P_c(x[i,]) / q[i,c])}, which at its best \eqn{q} is the log-likelihood, is added
#' \eqn{(s/2) \sum_{ij} w_{ij} \sum_c q_{ic} q_{jc}}{s/2 sum_ij w[i,j] sum_c q[i,c] q[j,c]} with \eqn{s} the `strength`
#' and \eqn{w_{ij}}{w[i,j]} the weights of neighbours: the objective of neighbourhood EM (Ambroise and Govaert 1998),
#' which no pass lowers. A component to which all neighbours belong gains a factor of exp(`strength`) in the odds. So a
#' strength of 3 counts as much as a few clear cells, and 0 is the plain mixture. A site whose age or place is unknown
#' is by itself. `recording` has no meaning here.
#'
#' **Shards.** `x` may be a result of [shards()], without `smooth`; see there. The result has class
#' `bernoulli_mixture_shards`.
#'
#' **Cost.** A pass takes O(k) a nonzero or missing cell and O(k m); memory O(k (n + m)). One thread.
#'
#' @inheritParams aspect_bernoulli
#' @param k number of components, at least 1.
#' @param estimate `"map"` (posterior mode) or `"ml"` (maximum likelihood).
#' @param prior for `"map"`: `prototypes`, two numbers of at least 1, the Beta prior's parameters; `weights`, one number
#'   of at least 1, the Dirichlet prior's parameter. `c(1, 1)` and `1` are flat. `"cv"`, or an unnamed list of several
#'   priors, chooses by held-out cells; the fit then has the result of [cross_validate()] as `tuning`.
#' @param smooth `NULL`, or a result of [smooth_over()]: sites near each other tend to belong together; see Details.
#' @param start initial values `list(weights = k, prototypes = k x m)` for one start, and with `smooth` optionally
#'   `membership` (n x k); nothing is then reordered.
#' @param control settings from [fit_control()].
#' @return A list of class `bernoulli_mixture`, with the parts described in [aspect_bernoulli()] (but `certificate`,
#'   `pinned` and `expected_false`), where `param` holds
#' \describe{
#'   \item{`weights`}{k, decreasing, sum to 1.}
#'   \item{`prototypes`}{k x m, in \[0, 1\].}
#'   \item{`membership`}{n x k: the posterior probability that a site belongs to a component (with `smooth`, its
#'     approximation that the objective is made of).}
#' }
#' With `smooth` there is also `smooth`, as in [aspect_bernoulli()]; `loglik` is the plain mixture's at the estimate.
#' `df` counts the k - 1 weights and k m probabilities.
#' @references Ambroise C, Govaert G (1998). Convergence of an EM-type algorithm for spatial clustering. *Pattern
#'   Recognition Letters* 19, 919-927. \doi{10.1016/S0167-8655(98)00076-2}
#'
#'   Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78, eq. (26). \doi{10.1007/s10044-007-0096-4}
#'
#'   Goodman LA (1974). Exploratory latent structure analysis using both identifiable and unidentifiable models.
#'   *Biometrika* 61, 215-231. \doi{10.1093/biomet/61.2.215}
#' @seealso [predict.bernoulli_mixture()], [compare_models()]
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, 0.6)
#' fit <- bernoulli_mixture(x, k = 2)
#' fit
#' round(coef(fit)$prototypes, 2)
#' @export
bernoulli_mixture <- function(x, k, ..., estimate = c("map", "ml"),
                              prior = list(prototypes = c(1.2, 2), weights = 1), smooth = NULL,
                              start = NULL, control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x, k)
  control <- check_control(control)
  estimate <- check_choice(estimate)
  if (in_pieces(x)) {
    settings <- list(estimate = estimate, prior = prior, smooth = smooth)
    call <- keep_values(call, c(settings, list(start = start)))
    return(fit_pieces(x, "bernoulli_mixture", k, settings, start, control, call))
  }
  data <- check_data(x, "binary")
  k <- check_k(k, dim(data$x))
  smooth <- check_smooth(smooth)
  tuned <- bm_choose_prior(prior, estimate, data, k, control)
  prior <- tuned$value
  call <- keep_values(call, list(estimate = estimate, prior = prior, smooth = smooth, start = start))
  problem <- bm_problem(data, k, estimate, prior)
  problem$tuning <- tuned$cv
  problem$smooth <- set_smooth(smooth, problem, control)
  problem$near <- smooth_lists(problem$smooth)
  problem$start <- if (!is.null(start)) bm_check_start(start, data, k)
  started <- run_starts(problem, control)
  if (is.null(start)) started <- reorder_runs(started, function(param) order(-param$weights), bm_permute)
  bm_new_fit(started, problem, control, call)
}

# What its starts work on; see starts.R. `near`: what smooth_lists() gives, or NULL.
bm_problem <- function(data, k, estimate, prior) {
  pseudo <- if (estimate == "map") unlist(bm_check_prior(prior), use.names = FALSE) - 1 else c(0, 0, 0)
  structure(
    list(
      data = data, values = "binary", k = k, estimate = estimate, prior = if (estimate == "map") prior, pseudo = pseudo
    ),
    class = c("bernoulli_mixture_problem", "multicause_problem")
  )
}

bm_check_prior <- function(prior) check_prior(prior, c("prototypes", "weights"))

# By held-out cells where that is asked for: list(value, cv).
bm_choose_prior <- function(prior, estimate, data, k, control) {
  if (estimate == "ml") {
    return(list(value = prior, cv = NULL))
  }
  choose_prior(prior, prior_grid(c("prototypes", "weights")), bm_check_prior, function(tried) {
    tune_by_cells(data$x, bernoulli_mixture, k, "prior", tried, list(estimate = estimate), control)
  })
}

start_kinds.bernoulli_mixture_problem <- function(problem, control) {
  if (problem$k == 1L) "rows" else rep_len(c("rows", "uniform"), control$n_start)
}

draw_start.bernoulli_mixture_problem <- function(problem, kind) {
  k <- problem$k
  data <- problem$data
  prototypes <- if (kind == "rows") mixture_prototypes(data, k) else random_unit(k, ncol(data$x))
  list(weights = rep(1 / k, k), prototypes = prototypes)
}

run_start.bernoulli_mixture_problem <- function(problem, start, control) {
  bm_run(problem$data$view, start, problem$pseudo, control, problem$near)
}

# Labels anew: softened ones would put weight on components that cannot have written the row.
soften_start.bernoulli_mixture_problem <- function(problem, param) param[c("weights", "prototypes")]

# A run of the kernel. With neighbours memberships are parameters, too, and start from those of the components.
bm_run <- function(view, start, pseudo, control, smooth = NULL) {
  param <- start[c("weights", "prototypes")]
  if (!is.null(smooth)) {
    if (is.null(start$membership)) start$membership <- bm_labels(view, param)$param$membership
    param <- c(param, list(membership = start$membership, smooth = smooth))
  }
  out <- .Call(mc_c_bm_fit, view, param, pseudo, unclass(control))
  list(param = out[c("weights", "prototypes", "membership")], outcome = out$outcome, row_loglik = out$row_loglik)
}

# The E-step alone: posterior memberships, and the log-likelihood of each row.
bm_labels <- function(view, param) bm_run(view, param, c(0, 0, 0), fit_control(max_pass = 0, n_start = 1))

bm_permute <- function(param, at) {
  list(
    weights = param$weights[at], prototypes = param$prototypes[at, , drop = FALSE],
    membership = param$membership[, at, drop = FALSE]
  )
}

bm_check_start <- function(start, data, k) {
  wanted <- c("weights", "prototypes", if (is.list(start) && !is.null(start$membership)) "membership")
  wish <- "list(weights = k numbers, prototypes = k x m matrix)"
  start <- check_start(start, wanted, wish, rownames(data$x), colnames(data$x))
  list(
    weights = check_start_weights(start$weights, k),
    prototypes = check_matrix(start$prototypes, "start$prototypes", k, ncol(data$x), 0, 1),
    membership = if (!is.null(start$membership)) {
      check_simplex_rows(start$membership, "start$membership", nrow(data$x), k)
    }
  )
}

bm_new_fit <- function(run, problem, control, call) {
  data <- problem$data
  k <- problem$k
  param <- run$best$param
  row_loglik <- if (is.null(problem$near)) run$best$row_loglik else bm_labels(data$view, param)$row_loglik
  objective <- if (problem$estimate == "ml") "log_likelihood" else "log_posterior"
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  names(param$weights) <- labels
  dimnames(param$prototypes) <- list(labels, names[[2L]])
  dimnames(param$membership) <- list(names[[1L]], labels)
  fit <- assemble_fit(
    run, data, k, smoothed_name(objective, problem$near), control, call,
    param = param, loglik = sum(row_loglik), df = k - 1 + k * as.double(ncol(data$x)), class = "bernoulli_mixture",
    estimate = problem$estimate, prior = problem$prior, pseudo = problem$pseudo, tuning = problem$tuning,
    smooth = problem$smooth, density = data_density(data)
  )
  validate_bernoulli_mixture(fit)
}

validate_bernoulli_mixture <- function(fit) {
  param <- fit$param
  stopifnot(
    has_dims(param$prototypes, fit, c("k", "m")), all(param$weights >= 0),
    has_dims(param$membership, fit, c("n", "k")), abs(sum(param$weights) - 1) < 1e-8,
    all(param$prototypes >= 0), all(param$prototypes <= 1), all(abs(rowSums(param$membership) - 1) < 1e-8)
  )
  fit
}

# The E-step on new rows, by themselves: posterior membership and log-likelihood of each row's observed cells. A row
# that every component excludes is judged with probabilities kept within [floor, 1 - floor].
bm_expect <- function(fit, view, floor = 1e-6) {
  param <- lapply(fit$param[c("weights", "prototypes")], unname)
  out <- bm_labels(view, param)
  if (any(out$row_loglik == -Inf)) {
    param$prototypes <- pmin(pmax(param$prototypes, floor), 1 - floor)
    floored <- bm_labels(view, param)
    off <- out$row_loglik == -Inf
    out$param$membership[off, ] <- floored$param$membership[off, ]
    out$row_loglik[off] <- floored$row_loglik[off]
  }
  list(membership = out$param$membership, row_loglik = out$row_loglik)
}

# Posterior memberships of new rows, neighbours among the training rows included: those count as for a training row
# whom its neighbours look at, too.
bm_fold_in <- function(fit, data, along) {
  membership <- bm_expect(fit, data$view)$membership
  if (is_smoothed(fit) && !is.null(along)) {
    odds <- fit$smooth$strength * t(smooth_reference(fit, nrow(membership), along, other = 0))
    membership <- membership * exp(odds - apply(odds, 1L, max))
    membership <- membership / rowSums(membership)
  }
  dimnames(membership) <- list(rownames(data$x), colnames(fit$param$membership))
  membership
}

#' Predictions and simulations of a Bernoulli mixture
#'
#' @param object a fit of [bernoulli_mixture()].
#' @param newdata new sites, columns matched by name, in any order, or by place where one side has no names;
#'   cells may be `NA`. `NULL`: the data of the fit.
#' @param type `"response"`: the probability of each cell; `"membership"`: the posterior of each component; `"cell"`:
#'   the posterior that each component made the cell, which is the same for all cells of a site.
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused with that advice.
#' @param along for a fit with `smooth`, the covariates of the new sites, as in [predict.aspect_bernoulli()];
#'   `NULL`: unknown, and neighbours then have no say. Without `newdata`, of sites where nothing is recorded yet.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to go on with the session's random numbers, or a number for [set.seed()] that leaves them as they
#'   were.
#' @param ... must be empty.
#' @return `predict()`: a matrix rows x m (`"response"`) or rows x k (`"membership"`), or an array rows x m x k
#'   (`"cell"`), with names. A site that no component can have made is judged with probabilities kept 1e-6
#'   away from 0 and 1. `fitted()`: the first, for the data of the fit, missing cells included. `simulate()`: a list of
#'   `nsim` complete 0/1 matrices n x m, observations keeping their membership, and as its attribute `seed` what
#'   [stats::simulate()] promises.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.4), 20, 10)
#' fit <- bernoulli_mixture(x, k = 2)
#' dim(predict(fit, x[1:3, ], type = "membership"))
#' @export
predict.bernoulli_mixture <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                                      rows = NULL, along = NULL) {
  check_dots(...)
  type <- check_choice(type)
  membership <- object$param$membership
  if (!is.null(newdata) || !is.null(along)) {
    new <- new_sites(object, newdata, along)
    membership <- bm_fold_in(object, check_data(new$x, "binary", "newdata", quiet = TRUE), new$along)
  }
  rows <- pick(rows, nrow(membership), rownames(membership), "rows")
  membership <- membership[rows, , drop = FALSE]
  m <- object$dims[["m"]]
  k <- object$dims[["k"]]
  width <- c(response = m, membership = k, cell = m * k)[[type]]
  refuse_large(length(rows) * width, "The prediction", "take fewer rows at a time by `rows`")
  labels <- list(rownames(membership), object$names[[2L]], colnames(membership))
  out <- switch(type,
    response = mixed(membership, object$param$prototypes),
    membership = membership,
    cell = array(membership[rep(seq_along(rows), m), ], c(length(rows), m, k), labels)
  )
  in_given_order(out, newdata)
}

#' @rdname predict.bernoulli_mixture
#' @export
simulate.bernoulli_mixture <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  membership <- object$param$membership
  simulate_with(object, nsim, seed, function() {
    # The largest of log(membership) + Gumbel noise is a draw from the membership.
    component <- max.col(log(membership) - log(stats::rexp(length(membership))), "first")
    random_bernoulli(object$param$prototypes[component, , drop = FALSE])
  })
}

model_title.bernoulli_mixture <- function(fit) "Bernoulli mixture"

# Sites are draws from the mixture.
#' @export
nobs.bernoulli_mixture <- function(object, ...) known_sites(object)

why_no_bic.bernoulli_mixture <- function(fit) {
  if (is_smoothed(fit)) "sites near each other share their memberships, and so are no independent observations"
}

component_matrix.bernoulli_mixture <- function(fit) fit$param$prototypes

component_scale.bernoulli_mixture <- function(fit) "probability"

part_sides.bernoulli_mixture <- function(fit, name, values) {
  switch(name,
    prototypes = c("component", "taxon"), NextMethod()
  )
}

# Eq. (26): the mixture's own components.
held_out_rows.bernoulli_mixture <- function(fit, data, floor, family, ...) {
  check_dots(...)
  one <- unname(fit$param$prototypes)
  cells <- function(rows) list(one = one[rows, , drop = FALSE], zero = 1 - one[rows, , drop = FALSE])
  mixture_loglik(data$view, cells, log(unname(fit$param$weights)), floor)
}
