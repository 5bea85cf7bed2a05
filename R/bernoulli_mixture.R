#' Bernoulli mixture: every site from one component
#'
#' The single-cause alternative to [aspect_bernoulli()], also known as latent class analysis: each site belongs to one
#' component, whose prototype gives the probability of every taxon.
#'
#' @details
#' **Model.** \deqn{P(x_i) = \sum_c w_c \prod_j b_{cj}^{x_{ij}} (1 - b_{cj})^{1 - x_{ij}}}{
#' P(x[i,]) = sum_c w[c] prod_j b[c,j]^x[i,j] (1 - b[c,j])^(1 - x[i,j])}
#' with `weights` \eqn{w} (k, sum to 1) and `prototypes` \eqn{b} (k x m, probabilities). Missing cells drop out; a site
#' with nothing observed gets the weights as its membership and has no influence.
#'
#' **Estimation.** EM in logarithms, accelerated by default. With `estimate = "ml"` prototypes may end at exactly 0 or
#' 1; `"map"` adds a Beta prior on every probability and a symmetric Dirichlet prior on the weights, and is the default
#' because it predicts held-out cells better (by 0.004 to 1.1 nats a cell in `bench/estimate_default.md` of the sources;
#' less if probabilities are kept away from 0 and 1). Half of the starts are column means shrunk towards rows drawn at
#' random, half are random memberships; `fit$starts` shows where each ended.
#'
#' **What is assumed.** A site has one component, and given this its taxa are independent. Sites that mix two faunas
#' break this: probabilities lie between those of both, and [compare_models()] shows a smaller loss of
#' [aspect_bernoulli()] on held-out cells. Taxa that repeat each other count as separate evidence, so memberships look
#' too certain; equal columns are reported.
#'
#' **Neighbours.** With `smooth` (see [smooth_over()]) sites near each other tend to belong to the same
#' component. The memberships \eqn{q} are then fitted too, and to \eqn{\sum_i \sum_c q_{ic} \log(w_c P_c(x_i) /
#' q_{ic})}{sum q[i,c] log(w[c] P_c(x[i,]) / q[i,c])}, which at its best \eqn{q} is the log-likelihood, is added
#' \eqn{(s/2) \sum_{ij} w_{ij} \sum_c q_{ic} q_{jc}}{s/2 sum_ij w[i,j] sum_c q[i,c] q[j,c]} with \eqn{s} the `strength`
#' and \eqn{w_{ij}}{w[i,j]} the weights of neighbours: the objective of neighbourhood EM (Ambroise and Govaert 1998),
#' which no iteration lowers. A component to which all neighbours belong gains a factor of exp(`strength`) in the odds.
#' So a strength of 3 counts as much as a few clear cells, and 0 is the plain mixture. A site whose age or place is
#' unknown is by itself. The argument `recording` of [smooth_over()] has no effect here.
#'
#' **Covariates.** `membership = ~ age + lithology` makes the weights of a site a multinomial logistic model of its
#' covariates, \eqn{w_{ic} \propto \exp(z_i' \beta_c)}{w[i,c] proportional to exp(z[i]' beta[,c])}: latent class
#' regression. There is no reference component: effects of a term sum to 0 over components, so that the log-odds of
#' component 2 against 1 are \eqn{z_i' (\beta_2 - \beta_1)}{z[i]' (beta[,2] - beta[,1])}. With `"map"` effects have a
#' normal prior of mean 0 and standard deviation `prior$effects`, on covariates of mean 0 and standard deviation 1; this
#' prior replaces the Dirichlet prior of the weights. Each iteration takes one Newton step of the effects.
#' [vcov()][confint.bernoulli_mixture] and `confint()` then come from the observed information; `summary()` and
#' `tidy(fit, "log_odds")` have log-odds against the first component, as package poLCA has them, and
#' [plot(fit, "membership")][autoplot.bernoulli_mixture_regression] curves. It cannot be combined with `smooth` or
#' [shards()].
#'
#' **Shards.** `x` may be a result of [shards()], without `smooth` and `membership`; see there. The result has class
#' `bernoulli_mixture_shards`.
#'
#' **Cost.** An iteration takes O(k) per nonzero or missing cell, and O(k m); memory O(k (n + m)). One thread.
#'
#' @inheritParams aspect_bernoulli
#' @param k number of components, at least 1.
#' @param estimate `"map"` (posterior mode) or `"ml"` (maximum likelihood).
#' @param prior for `"map"`: `prototypes`, two numbers of at least 1, the Beta prior's parameters; `weights`, one number
#'   of at least 1, the Dirichlet prior's parameter; with `membership` also `effects`, a standard deviation, 1.65 where
#'   it is left out. `c(1, 1)` and `1` are flat. `"cv"`, or an unnamed list of several
#'   priors, chooses by held-out cells; the fit then has the result of [cross_validate()] as `tuning`.
#' @param membership `NULL`, or a formula of covariates of sites that memberships follow, such as `~ age`.
#' @param site_data for `membership`, a data frame with a row for each site, such as [site_table()] gives: matched by
#'   row names or a column that holds the sites' names, else taken in the order of `x`.
#' @param smooth `NULL`, or a result of [smooth_over()]: sites near each other tend to belong together; see Details.
#' @param start initial values `list(weights = k, prototypes = k x m)` for one start, and with `smooth` optionally
#'   `membership` (n x k), with covariates `effects` (terms x k); nothing is then reordered.
#' @param control settings from [fit_control()].
#' @return A list of class `bernoulli_mixture`, with the parts described in [aspect_bernoulli()] (but `certificate`,
#'   `fixed` and `expected_false`), where `param` holds
#' \describe{
#'   \item{`weights`}{k, decreasing, sum to 1.}
#'   \item{`prototypes`}{k x m, in \[0, 1\].}
#'   \item{`membership`}{n x k: the posterior probability that a site belongs to a component (with `smooth`, its
#'     approximation that the objective is made of).}
#'   \item{`effects`}{with covariates, terms x k, of the covariates as they are. `weights` are then the mean weights of
#'     the sites.}
#' }
#' With `smooth` there is also `smooth`, as in [aspect_bernoulli()]; `loglik` is the plain mixture's at the estimate.
#' With `membership` its first class is `bernoulli_mixture_regression`, and there is also `covariates`: the `formula`,
#' and what is needed for the design matrix of new sites.
#' `df` counts the k - 1 weights (or their effects, k - 1 for each term) and k m probabilities.
#' @references Ambroise C, Govaert G (1998). Convergence of an EM-type algorithm for spatial clustering. *Pattern
#'   Recognition Letters* 19, 919-927. \doi{10.1016/S0167-8655(98)00076-2}
#'
#'   Bandeen-Roche K, Miglioretti DL, Zeger SL, Rathouz PJ (1997). Latent variable regression for multiple discrete
#'   outcomes. *Journal of the American Statistical Association* 92, 1375-1386. \doi{10.1080/01621459.1997.10473658}
#'
#'   Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78, eq. (26). \doi{10.1007/s10044-007-0096-4}
#'
#'   Goodman LA (1974). Exploratory latent structure analysis using both identifiable and unidentifiable models.
#'   *Biometrika* 61, 215-231. \doi{10.1093/biomet/61.2.215}
#' @seealso [predict.bernoulli_mixture()], [compare_models()], [plsa()] for topics by covariates
#' @concept latent class analysis
#' @concept latent class regression
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, 0.6)
#' fit <- bernoulli_mixture(x, k = 2)
#' fit
#' round(coef(fit)$prototypes, 2)
#' # membership follows a covariate
#' depth <- data.frame(depth = 1:40)
#' follows <- bernoulli_mixture(x, k = 2, membership = ~depth, site_data = depth)
#' tidy(follows, "log_odds", conf.int = TRUE)
#' plot(follows, "membership", "depth")
#' @export
bernoulli_mixture <- function(x, k, ..., estimate = c("map", "ml"),
                              prior = list(prototypes = c(1.2, 2), weights = 1), membership = NULL,
                              site_data = NULL, smooth = NULL, start = NULL, control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x, k)
  control <- check_control(control)
  estimate <- check_choice(estimate)
  check_membership_data(membership, site_data, x)
  if (in_pieces(x)) {
    settings <- list(estimate = estimate, prior = prior, smooth = smooth)
    call <- keep_values(call, c(settings, list(start = start)))
    return(fit_pieces(x, "bernoulli_mixture", k, settings, start, control, call))
  }
  data <- check_data(x, "binary")
  k <- check_k(k, dim(data$x))
  smooth <- check_smooth(smooth)
  covariates <- bm_covariates(membership, site_data, data, estimate, prior, smooth)
  if (!is.null(covariates) && !is.null(names(prior))) prior <- prior[setdiff(names(prior), "effects")]
  tuned <- bm_choose_prior(prior, estimate, data, k, control)
  prior <- c(tuned$value, if (!is.null(covariates)) covariates["effects"])
  call <- keep_values(call, list(
    estimate = estimate, prior = prior, smooth = smooth, membership = membership, site_data = site_data, start = start
  ))
  problem <- bm_problem(data, k, estimate, prior, covariates)
  problem$tuning <- tuned$cv
  problem$smooth <- set_smooth(smooth, problem, control)
  problem$near <- smooth_lists(problem$smooth)
  problem$start <- if (!is.null(start)) bm_follow(bm_check_start(start, data, k, covariates), covariates)
  started <- run_starts(problem, control)
  if (is.null(start)) started <- reorder_runs(started, bm_order, bm_permute)
  bm_new_fit(started, problem, control, call)
}

# Defines the problem that starts.R works on; `near`: the result of smooth_lists(), or NULL.
bm_problem <- function(data, k, estimate, prior, covariates = NULL) {
  pseudo <- c(0, 0, 0)
  if (estimate == "map") pseudo <- unlist(bm_check_prior(prior[setdiff(names(prior), "effects")]), FALSE, FALSE) - 1
  if (!is.null(covariates)) pseudo[3L] <- 0 # of the weights, which follow from effects
  structure(
    list(
      data = data, values = "binary", k = k, estimate = estimate, prior = if (estimate == "map") prior, pseudo = pseudo,
      covariates = covariates
    ),
    class = c("bernoulli_mixture_problem", "multicause_problem")
  )
}

bm_check_prior <- function(prior) check_prior(prior, c("prototypes", "weights"))

# Orders components by decreasing weight, which with covariates is that of the posterior.
bm_order <- function(param) order(-if (is.null(param$effects)) param$weights else colMeans(param$membership))

# The design of `membership`, as membership_design() has it, the standard deviation `effects` of their prior and its
# `ridge`; NULL without.
bm_covariates <- function(formula, site_data, data, estimate, prior, smooth) {
  if (is.null(formula)) {
    return(NULL)
  }
  by <- membership_covariates(formula, site_data, data$x, smooth)
  given <- if (is.list(prior)) prior$effects
  by$effects <- if (is.null(given)) 1.65 else check_number(given, "prior$effects", 1e-6, 1e6)
  by$ridge <- if (estimate == "ml") 0 else 1 / by$effects^2
  by
}

# Chooses the prior by held-out cells if requested: list(value, cv).
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
  bm_follow(list(weights = rep(1 / k, k), prototypes = prototypes), problem$covariates)
}

# A start with effects, where memberships follow covariates: all memberships equal, if it has none of its own.
bm_follow <- function(start, covariates) {
  if (!is.null(covariates) && is.null(start$effects)) {
    start$effects <- matrix(0, length(covariates$terms), length(start$weights))
  }
  start
}

run_start.bernoulli_mixture_problem <- function(problem, start, control) {
  bm_run(problem$data$view, start, problem$pseudo, control, problem$near, problem$covariates)
}

# Labels anew: softened ones would put weight on components that cannot have written the row.
soften_start.bernoulli_mixture_problem <- function(problem, param) {
  param[intersect(c("weights", "prototypes", "effects"), names(param))]
}

# A run of the kernel. With neighbours memberships are parameters, too, and start from those of the components; with
# covariates they follow from effects. `held`: the number of a weight or prototype that keeps its value; NULL: none.
bm_run <- function(view, start, pseudo, control, smooth = NULL, covariates = NULL, held = NULL) {
  param <- c(start[c("weights", "prototypes")], list(held = held))
  if (!is.null(smooth)) {
    if (is.null(start$membership)) start$membership <- bm_labels(view, param)$param$membership
    param <- c(param, list(membership = start$membership, smooth = smooth))
  }
  if (!is.null(covariates)) param <- c(param, start["effects"], covariates[c("design", "ridge")])
  out <- .Call(mc_c_bm_fit, view, param, pseudo, unclass(control))
  fitted <- c("weights", "prototypes", "membership", if (!is.null(covariates)) "effects")
  list(param = out[fitted], outcome = out$outcome, row_loglik = out$row_loglik)
}

# The E-step alone: posterior memberships, and the log-likelihood of each row.
bm_labels <- function(view, param, covariates = NULL) {
  bm_run(view, param, c(0, 0, 0), fit_control(max_iter = 0, n_start = 1), NULL, covariates)
}

bm_permute <- function(param, at) {
  out <- list(
    weights = param$weights[at], prototypes = param$prototypes[at, , drop = FALSE],
    membership = param$membership[, at, drop = FALSE]
  )
  if (!is.null(param$effects)) out$effects <- param$effects[, at, drop = FALSE]
  out
}

bm_check_start <- function(start, data, k, covariates = NULL) {
  wanted <- c("weights", "prototypes", if (is.list(start) && !is.null(start$membership)) "membership")
  wish <- "list(weights = k numbers, prototypes = k x m matrix)"
  start <- check_start(start, wanted, wish, rownames(data$x), colnames(data$x))
  list(
    weights = check_start_weights(start$weights, k),
    prototypes = check_matrix(start$prototypes, "start$prototypes", k, ncol(data$x), 0, 1),
    membership = if (!is.null(start$membership)) {
      check_simplex_rows(start$membership, "start$membership", nrow(data$x), k)
    },
    effects = if (!is.null(covariates) && !is.null(start$effects)) {
      own <- check_matrix(start$effects, "start$effects", length(covariates$terms), k)
      centred_effects(solve(covariates$basis, unname(own)))
    }
  )
}

bm_new_fit <- function(run, problem, control, call) {
  data <- problem$data
  k <- problem$k
  param <- run$best$param
  row_loglik <- if (is.null(problem$near)) run$best$row_loglik else bm_labels(data$view, param)$row_loglik
  by <- problem$covariates
  objective <- if (problem$estimate == "ml") "log_likelihood" else "log_posterior"
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  if (!is.null(by)) {
    param$weights <- colMeans(multinomial_shares(by$design, param$effects))
    param$effects <- structure(by$basis %*% centred_effects(param$effects), dimnames = list(by$terms, labels))
  }
  names(param$weights) <- labels
  dimnames(param$prototypes) <- list(labels, names[[2L]])
  dimnames(param$membership) <- list(names[[1L]], labels)
  fit <- assemble_fit(
    run, data, k, smoothed_name(objective, problem$near), control, call,
    param = param, loglik = sum(row_loglik), df = (k - 1) * max(length(by$terms), 1) + k * as.double(ncol(data$x)),
    class = c(if (!is.null(by)) c("bernoulli_mixture_regression", "membership_regression"), "bernoulli_mixture"),
    estimate = problem$estimate, prior = problem$prior, pseudo = problem$pseudo, tuning = problem$tuning,
    smooth = problem$smooth, density = data_density(data),
    covariates = by[c("formula", "terms", "design", "basis", "frame", "ridge", "effects")]
  )
  if (is.null(by)) fit$covariates <- NULL
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
bm_expect <- function(fit, view, floor = 1e-6, design = NULL) {
  param <- lapply(fit$param[c("weights", "prototypes")], unname)
  by <- if (!is.null(design)) list(design = design, ridge = 0)
  if (!is.null(by)) param$effects <- scaled_effects(fit)
  out <- bm_labels(view, param, by)
  if (any(out$row_loglik == -Inf)) {
    param$prototypes <- pmin(pmax(param$prototypes, floor), 1 - floor)
    floored <- bm_labels(view, param, by)
    off <- out$row_loglik == -Inf
    out$param$membership[off, ] <- floored$param$membership[off, ]
    out$row_loglik[off] <- floored$row_loglik[off]
  }
  list(membership = out$param$membership, row_loglik = out$row_loglik)
}

# Posterior memberships of new rows, neighbours among the training rows included: those count as for a training row
# whom its neighbours look at, too.
bm_fold_in <- function(fit, data, along, design = NULL) {
  membership <- bm_expect(fit, data$view, design = design)$membership
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
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused: choose fewer rows.
#' @param along for a fit with `smooth`, the covariates of the new sites, as in [predict.aspect_bernoulli()];
#'   `NULL`: unknown, and neighbours are then ignored. Without `newdata`, of sites where nothing is recorded yet.
#' @param site_data for a fit with `membership`, a data frame of the new sites' covariates; `NULL`: unknown, and the
#'   mean weights take their place. A site with an unknown covariate gets `NA`. Without `newdata`, of sites where
#'   nothing is recorded yet.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @param ... must be empty.
#' @return `predict()`: a matrix rows x m (`"response"`) or rows x k (`"membership"`), or an array rows x m x k
#'   (`"cell"`), with names. For a site that is impossible under every component, probabilities are kept 1e-6 away from
#'   0 and 1. `fitted()`: the first, for the data of the fit, missing cells included. `simulate()`: a list of `nsim`
#'   complete 0/1 matrices n x m, in which sites keep their membership, with an attribute `seed` as [stats::simulate()]
#'   has it.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.4), 20, 10)
#' fit <- bernoulli_mixture(x, k = 2)
#' dim(predict(fit, x[1:3, ], type = "membership"))
#' @export
predict.bernoulli_mixture <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                                      rows = NULL, along = NULL, site_data = NULL) {
  check_dots(...)
  type <- check_choice(type)
  new <- !is.null(newdata) || !is.null(along) || !is.null(site_data)
  membership <- if (new) bm_new_memberships(object, newdata, along, site_data) else object$param$membership
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
  if (type == "membership") out else in_given_order(out, newdata)
}

bm_new_memberships <- function(fit, newdata, along, site_data) UseMethod("bm_new_memberships")

bm_new_memberships.bernoulli_mixture <- function(fit, newdata, along, site_data) {
  if (!is.null(site_data)) {
    stop_input("`site_data` is of fits with `membership`: memberships of this one follow no covariates.")
  }
  new <- new_sites(fit, newdata, along)
  bm_fold_in(fit, check_data(new$x, "binary", "newdata", quiet = TRUE), new$along)
}

# Draws the components of as many new sites as the fit has.
drawn_components <- function(fit) UseMethod("drawn_components")

drawn_components.bernoulli_mixture <- function(fit) {
  sample.int(fit$dims[["k"]], fit$dims[["n"]], replace = TRUE, prob = fit$param$weights)
}

# Returns weights and prototypes as one named vector.
mixture_numbers <- function(param) {
  components <- component_names(length(param$weights))
  taxa <- as.character(label_of(seq_len(ncol(param$prototypes)), colnames(param$prototypes)))
  stats::setNames(c(param$weights, param$prototypes), c(
    sprintf("weights[%s]", components),
    sprintf("prototypes[%s, %s]", rep(components, length(taxa)), rep(taxa, each = length(components)))
  ))
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

# Eq. (26): the mixture's components.
held_out_rows.bernoulli_mixture <- function(fit, data, floor, family, ...) {
  check_dots(...)
  one <- unname(fit$param$prototypes)
  cells <- function(rows) list(one = one[rows, , drop = FALSE], zero = 1 - one[rows, , drop = FALSE])
  mixture_loglik(data$view, cells, log(unname(fit$param$weights)), floor)
}
