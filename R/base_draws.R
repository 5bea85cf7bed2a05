# Draws of a posterior as users get them: as fits, as intervals, and for packages posterior, coda and bayesplot.

#' Draws from the posterior of a Bayesian fit
#'
#' Draws of the parameters from the posterior of a fit with `estimate = "vb"` or `"gibbs"`, as fits. Any function of a
#' fit can be applied to each, for example to obtain intervals; [identifiability()] takes them as `draws`.
#'
#' With `"gibbs"` they are states that the chains kept, evenly spaced: at most `keep` of [mcmc_control()] for each
#' chain, and the same at every call. [plsa()] keeps at most 10 states of a chain, as counts for each component, and
#' draws memberships and basis given these. With `"vb"` the posterior is approximated by independent Dirichlets
#' (memberships) and Betas (components). Such an approximation is narrower than the true posterior: its intervals
#' understate the uncertainty. Component labels are matched to those of the fit, except for [bmf()]: its draws differ in
#' their numbers of features, whose labels mean nothing from draw to draw.
#'
#' For an [ensemble()] of such fits each draw comes from one member, so draws also differ in prior and number of
#' components, and vary more than those of one member. Members are drawn with probability proportional to their weights;
#' weights from held-out cells are replaced by their square roots, so that members differ less in weight, because
#' held-out cells do not show how much was missed. Memberships of `"vb"` members, but not of a single fit, are drawn as
#' if the data of a site counted a quarter (a fractional posterior, Miller and Dunson 2019). The approximation gives too
#' narrow a posterior: it ignores that memberships depend on the components, and that the model may be wrong. Square
#' root and quarter are not derived; they were chosen on simulated tables, for the coverage of intervals of what sites
#' and taxa missed. Members by `"ml"` and `"map"` have no posterior. Together with members that have a posterior, such a
#' member is returned as its point estimate.
#'
#' @param fit a fit of [aspect_bernoulli()] with `estimate = "vb"` or `"gibbs"`, an [ensemble()] with at least one such
#'   fit, a fit of [plsa()] with either, of [aspect_categorical()], [noisy_or()] or [visits_bernoulli()] with `"gibbs"`,
#'   of [bmf()] or of [visits_occupancy()].
#' @param nsim number of draws, at least 1.
#' @param ... must be empty.
#' @return A list of `nsim` fits (`"gibbs"`: of the kept draws, if fewer) whose `param` are draws; `loglik` is that at
#'   the draw, and all else that of `fit`. Memory is that of `nsim` sets of parameters.
#' @references Miller JW, Dunson DB (2019). Robust Bayesian inference via coarsening. *Journal of the American
#'   Statistical Association* 114, 1113-1125. \doi{10.1080/01621459.2018.1469995}
#' @seealso [identifiability()]
#' @examples
#' set.seed(1)
#' few <- fit_control(n_start = 2)
#' fit <- aspect_bernoulli(simulated_sites$x, 4, estimate = "vb", phantom = "white", control = few)
#' draws <- posterior_draws(fit, 20)
#' # Do not report this interval of the phantom's share: it depends on the prior, and is too narrow.
#' share <- vapply(draws, function(draw) mean(draw$param$membership[, 4]), 0)
#' round(quantile(share, c(0.05, 0.95)), 2)
#' # What the data leave open, over the draws as well:
#' summary(identifiability(fit, draws = draws))
#' @export
posterior_draws <- function(fit, nsim = 100, ...) {
  check_given(fit)
  UseMethod("posterior_draws")
}

#' @export
posterior_draws.default <- function(fit, nsim = 100, ...) {
  check_dots(...)
  check_fit(fit)
  stop_no_posterior()
}

# Tests whether posterior_draws() supports the fit.
has_draws <- function(fit) UseMethod("has_draws")

has_draws.default <- function(fit) is_sampled(fit) || !is.null(fit$posterior)

stop_no_posterior <- function() {
  stop_input(paste(
    "`fit` must be a fit with `estimate` \"vb\" or \"gibbs\": others have no posterior; bootstrap_draws() refits",
    "tables drawn from a fit of most models."
  ))
}

# Returns at most `most` kept states of all chains, evenly spaced.
kept_states <- function(fit, most = Inf) {
  all <- do.call(c, fit$kept)
  states <- all[unique(round(seq(1, length(all), length.out = min(most, length(all)))))]
  states
}

# A sampled fit as one that its parameters alone speak for.
without_draws <- function(fit) {
  if (is_sampled(fit)) fit$converged <- NA # it is that of the chains
  fit$kept <- fit$last <- fit$cells <- fit$spread <- fit$draws <- NULL
  class(fit) <- grep("_gibbs$", class(fit), value = TRUE, invert = TRUE)
  fit
}

# Simulation-based calibration (calibration.R): draws parameters from the prior of a fit, as a fit with these; gives a
# draw the data `x`, with its log-likelihood; and computes what is compared, by numbers that no relabelling of
# components changes. `cells`: i and j of some cells, counted from 1.
prior_draw <- function(fit) UseMethod("prior_draw")

with_data <- function(fit, x) UseMethod("with_data")

with_data.default <- function(fit, x) {
  fit$x <- x
  fit
}

# Makes anew what a fit has beside the parameters of one of its starts: posterior, effort, log-likelihood.
with_start <- function(fit, param) UseMethod("with_start")

with_start.default <- function(fit, param) if (is.null(fit$x)) fit else with_data(fit, fit$x)

# Gives the parts of a list the dimensions and names of those of another.
like_named <- function(values, like) {
  Map(function(value, old) {
    attributes(value) <- attributes(old)
    value
  }, values, like)
}

compared_quantities <- function(fit, cells) UseMethod("compared_quantities")

named_by_cell <- function(values, what, cells) {
  stats::setNames(values, sprintf("%s[%d,%d]", what, cells[, 1L], cells[, 2L]))
}

# Returns the parts of `param` of which confint() has posterior intervals, each with the sides that its entries go over
# ("component", "taxon"); NULL if the fit has no posterior.
interval_parts <- function(fit) UseMethod("interval_parts")

interval_parts.default <- function(fit) NULL

# Returns central posterior intervals, a matrix with a row for each parameter: of quantities of the trace by quantiles
# of their draws, of parts of `param` by their spread. Rows are named as in "basis[A1, taxon]".
#   parts  interval_parts()
posterior_intervals <- function(fit, parts, parm, level) {
  labels <- list(
    component = component_names(fit$dims[["k"]]), taxon = side_names(fit, 2L), term = fit$covariates$terms,
    value = fit$values
  )
  tables <- Map(function(part, sides) {
    at <- expand.grid(labels[sides], stringsAsFactors = FALSE)
    ends <- part_spread(fit, part, level)
    inner <- at[order(names(at) == "term")] # after the component, as in fits of bernoulli_mixture()
    data.frame(
      name = sprintf("%s[%s]", part, do.call(paste, c(unname(inner), sep = ", "))), taxon = at$taxon %||% NA_character_,
      lower = as.vector(ends$lower), upper = as.vector(ends$upper)
    )
  }, names(parts), parts)
  all <- do.call(rbind, c(list(quantity_intervals(fit, level)), unname(tables)))
  wanted <- wanted_parameters(parm, all$name, all$taxon)
  matrix(
    c(all$lower[wanted], all$upper[wanted]), ncol = 2L, dimnames = list(all$name[wanted], end_names(level))
  )
}

# Returns intervals of what each draw records beside densities and single cells.
quantity_intervals <- function(fit, level) {
  names <- if (is_sampled(fit)) setdiff(quantities(fit), c("objective", "log_likelihood"))
  names <- grep("^cell\\[", names, value = TRUE, invert = TRUE)
  ends <- vapply(names, function(name) {
    stats::quantile(fit$trace[[name]], c(1 - level, 1 + level) / 2, names = FALSE)
  }, c(0, 0))
  data.frame(name = names, taxon = rep(NA_character_, length(names)), lower = ends[1L, ], upper = ends[2L, ])
}

#' Draws of a sampled fit for packages posterior, coda and bayesplot
#'
#' The label-invariant quantities of `fit$trace`, as draws objects of these packages. Package bayesplot takes the fit
#' itself: `bayesplot::mcmc_trace(fit)`.
#'
#' @details
#' Fits that are not sampled have no draws, and are refused. So are functions that need a formula or a
#' posterior predictive distribution of responses: those of package insight, and `bayesplot::pp_check()`.
#' [tidy()][tidiers] has the parameters of a fit, [simulate()] draws tables, and [predictive_check()] compares them with
#' the data.
#'
#' @param x a fit of [bmf()], of [visits_occupancy()], or of [aspect_bernoulli()], [aspect_categorical()], [plsa()],
#'   [noisy_or()] or [visits_bernoulli()] with `estimate = "gibbs"`. For [visits_occupancy()] the quantities are the
#'   coefficients. Its draws are independent and form one chain.
#' @param ... must be empty.
#' @param parameters `TRUE`: all parameters by name, such as `aspects[A1,taxon]`, at the draws that were kept (see
#'   [posterior_draws()]), in place of the quantities at all draws. [bmf()] has none: its features have no labels that
#'   hold from draw to draw.
#' @return For [posterior::as_draws()] a `draws_array` (iterations x chains x quantities), for [coda::as.mcmc()] and
#'   [coda::as.mcmc.list()] an `mcmc.list`, for `as.array()` and `as.matrix()` an array (iterations x chains x
#'   quantities) or a matrix (draws x quantities). Chains of unequal length, after an interrupt, are cut to the
#'   shortest.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60), 10)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 20, draws = 20, n_start = 2, n_reheat = 1, progress = FALSE
#' )
#' fit <- suppressWarnings(bmf(x, k = 1, l = 1, control = quick))
#' if (requireNamespace("posterior", quietly = TRUE)) posterior::as_draws(fit)
#' if (requireNamespace("coda", quietly = TRUE)) summary(coda::as.mcmc(fit))$statistics
#' @name bmf_draws
NULL

#' @rdname bmf_draws
#' @exportS3Method posterior::as_draws
as_draws.multicause <- function(x, ..., parameters = FALSE) { # nolint: object_name_linter.
  check_dots(...)
  parameters <- check_flag(parameters, "parameters")
  posterior::as_draws_array(if (parameters && is_sampled(x)) parameter_array(x) else draws_array(x))
}

#' @rdname bmf_draws
#' @exportS3Method posterior::as_draws_array
as_draws_array.multicause <- as_draws.multicause # nolint: object_name_linter.

#' @rdname bmf_draws
#' @exportS3Method coda::as.mcmc
as.mcmc.multicause <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  draws <- draws_array(x)
  chains <- lapply(seq_len(dim(draws)[2L]), function(chain) {
    values <- matrix(draws[, chain, ], dim(draws)[1L], dimnames = dimnames(draws)[c(1L, 3L)])
    coda::mcmc(values, thin = x$control$thin %||% 1)
  })
  coda::as.mcmc.list(chains)
}

#' @rdname bmf_draws
#' @exportS3Method coda::as.mcmc.list
as.mcmc.list.multicause <- as.mcmc.multicause # nolint: object_name_linter.

# Generics of these packages without a default, or with a default whose message is misleading.

#' @exportS3Method coda::HPDinterval
HPDinterval.multicause <- function(obj, ...) { # nolint: object_name_linter.
  coda::HPDinterval(as.mcmc.multicause(obj), ...)
}

#' @exportS3Method coda::autocorr.diag
autocorr.diag.multicause <- function(mcmc.obj, ...) { # nolint: object_name_linter.
  coda::autocorr.diag(as.mcmc.multicause(mcmc.obj), ...)
}

#' @exportS3Method coda::rejectionRate
rejectionRate.multicause <- function(x) coda::rejectionRate(as.mcmc.multicause(x)) # nolint: object_name_linter.

# nolint start: object_name_linter. Methods of other packages' generics.
#' @exportS3Method posterior::niterations
niterations.multicause <- function(x) posterior::niterations(as_draws.multicause(x))

#' @exportS3Method posterior::nchains
nchains.multicause <- function(x) posterior::nchains(as_draws.multicause(x))

#' @exportS3Method posterior::nvariables
nvariables.multicause <- function(x, ...) posterior::nvariables(as_draws.multicause(x), ...)

#' @exportS3Method posterior::variables
variables.multicause <- function(x, ...) posterior::variables(as_draws.multicause(x), ...)

#' @exportS3Method posterior::subset_draws
subset_draws.multicause <- function(x, ...) {
  posterior::subset_draws(as_draws.multicause(x), ...)
}

# Returns the R-hat of each quantity, by name: both packages have such a generic.
#' @exportS3Method posterior::rhat
#' @rawNamespace S3method(bayesplot::rhat, multicause)
rhat.multicause <- function(x, ...) {
  table <- drawn_quantities(x)
  stats::setNames(table$rhat, table$quantity)
}

# nolint end
#' @exportS3Method posterior::ess_bulk
ess_bulk.multicause <- function(x, ...) { # nolint: object_name_linter.
  table <- drawn_quantities(x)
  stats::setNames(table$ess_bulk, table$quantity)
}

#' @exportS3Method posterior::ess_tail
ess_tail.multicause <- function(x, ...) { # nolint: object_name_linter.
  table <- drawn_quantities(x)
  stats::setNames(table$ess_tail, table$quantity)
}

drawn_quantities <- function(fit) {
  check_sampled(fit)
  quantity_table(fit)
}

# Package bayesplot requires the array.
#' @rdname bmf_draws
#' @export
as.array.multicause <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  draws_array(x)
}

#' @rdname bmf_draws
#' @export
as.matrix.multicause <- function(x, ...) { # nolint: object_name_linter.
  draws <- as.array(x, ...)
  matrix(draws, ncol = dim(draws)[3L], dimnames = list(NULL, dimnames(draws)[[3L]]))
}

#' @exportS3Method bayesplot::pp_check
pp_check.multicause <- function(object, ...) { # nolint: object_name_linter.
  stop_lacks(object, "pp_check", "simulate() draws tables, and predictive_check() compares surveys with the data.")
}

# Package insight requires a formula and one vector of coefficients.
no_formula <- function(generic) {
  force(generic)
  function(x, ...) {
    stop_lacks(x, generic, "it has no formula and no vector of coefficients; tidy() has its parameters.")
  }
}

#' @exportS3Method insight::get_parameters
get_parameters.multicause <- no_formula("get_parameters") # nolint: object_name_linter.

#' @exportS3Method insight::get_statistic
get_statistic.multicause <- no_formula("get_statistic") # nolint: object_name_linter.

#' @exportS3Method insight::get_predicted
get_predicted.multicause <- no_formula("get_predicted") # nolint: object_name_linter.

#' @exportS3Method insight::get_priors
get_priors.multicause <- no_formula("get_priors") # nolint: object_name_linter.

#' @exportS3Method insight::get_modelmatrix
get_modelmatrix.multicause <- no_formula("get_modelmatrix") # nolint: object_name_linter.

#' @exportS3Method insight::find_parameters
find_parameters.multicause <- no_formula("find_parameters") # nolint: object_name_linter.

# Returns draws as iterations x chains x quantities, with names.
draws_array <- function(fit) UseMethod("draws_array")

draws_array.default <- function(fit) {
  check_sampled(fit)
  names <- quantities(fit)
  parts <- lapply(names, function(name) draws_by_chain(fit, name))
  array(
    unlist(parts), c(dim(parts[[1L]]), length(names)),
    dimnames = list(iteration = NULL, chain = NULL, variable = names)
  )
}

# Returns all parameters at the draws that were kept, likewise; chains are cut to the shortest.
parameter_array <- function(fit) {
  parts <- names(interval_parts(fit))
  if (!length(parts)) {
    stop_input("`parameters` must be FALSE for a fit of %s(): its features have no labels.", model_name(fit))
  }
  kept <- lengths(fit$kept)
  draws <- posterior_draws(fit, sum(kept))
  names <- unlist(Map(function(part, values) {
    if (is.null(dim(values))) values <- array(values, length(values), list(names(values)))
    sprintf("%s[%s]", part, do.call(paste, c(expand.grid(side_labels(values)), sep = ",")))
  }, names(fit$param), fit$param))
  numbers <- lapply(draws, function(draw) unlist(lapply(draw$param, as.vector), use.names = FALSE))
  values <- matrix(unlist(numbers), length(names))
  rows <- seq_len(min(kept))
  of_chain <- lapply(cumsum(kept) - kept, function(before) t(values[, before + rows, drop = FALSE]))
  out <- array(unlist(of_chain), c(length(rows), length(names), length(kept)))
  structure(aperm(out, c(1L, 3L, 2L)), dimnames = list(iteration = NULL, chain = NULL, variable = unname(names)))
}

check_sampled <- function(fit) {
  if (!is_sampled(fit)) {
    stop_input("`x` must be a sampled fit, of bmf() or with `estimate = \"gibbs\"`: this one %s.", what_it_did(fit))
  }
}
