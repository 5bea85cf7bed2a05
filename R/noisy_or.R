#' Noisy-OR component analysis: several causes at once
#'
#' Explains a presence-absence table by `k` components (sources in Singliar and Hauskrecht 2006), of which any number
#' may be on at a site at the same time. A component that is on switches on each of its taxa with a probability of its
#' own, and a leak stands for everything else.
#'
#' @details
#' **Model.** Component \eqn{c} is on at site \eqn{i} with probability `prior[c]`; given the components \eqn{z_i}{z[i,]}
#' that are on,
#' \deqn{P(x_{ij} = 0 | z_i) = (1 - \ell_j) \prod_c (1 - p_{cj})^{z_{ic}}}{P(x[i,j] = 0 | z) = (1 - leak[j]) prod_c (1 -
#' links[c,j])^z[i,c]}
#' with `links` \eqn{p} (k x m) and `leak` \eqn{\ell} (m), all probabilities. In [bernoulli_mixture()] a site has one
#' component, in [aspect_bernoulli()] its components divide it; here each that is on acts in full: a document cites the
#' founders of every field it touches. Missing cells drop out.
#'
#' **What is assumed.** Components are on independently of each other, and can only add taxa. If they exclude each
#' other, or come together, the columns of `fit$param$activation` are correlated, which `cor()` shows. Use
#' [bernoulli_mixture()] for groups that exclude each other.
#'
#' **Recording.** By default a zero means that the taxon is absent. With `missed_by` a presence is on record only with a
#' probability of its site (`"site"`), or of its site times a factor of its taxon (`"both"`). [A page of its
#' own][noisy_or_recording] has that model, repeated visits, `effort`, and how far its number of false absences can be
#' trusted.
#'
#' **Estimate.** `"map"`, the default, is the posterior mode under weak priors ([noisy_or_prior()]): Beta(1, 1.5) on the
#' probability that a component is on, Beta(1.05, 1.5) on links, Beta(1.1, 2) on the leak. `"ml"` is maximum likelihood.
#' The posterior mode predicts held-out cells better: on each of 8 tables with k of 3 and 6, by 0.002 to 0.74 nats a
#' cell. Much of this comes from probabilities near 0 and 1: if these are kept between 0.01 and 0.99, the gain is at
#' most 0.20, and none in 2 of the 16 cases (`bench/estimate_default.md` in the sources).
#'
#' `"gibbs"` draws from the posterior, under `noisy_or_prior(links = c(0.5, 1.1), leak = c(1, 25))`: most links are
#' weak, some are strong, and the leak is small. With `missed_by` it gives the number missed with an interval; a
#' posterior mode usually underestimates it. A sweep draws which components are on at each site, its probability of
#' recording, the presences that zeros hide, which cause of each presence fired, and all parameters (Polya-Gamma
#' variables for `effort`). It costs O(10 n m k), without `missed_by` O(n m k). For links and probabilities of
#' recording, the effective number of draws is a tenth to a hundredth of the number of draws. See
#' [confint()][confint.multicause] and [posterior_draws()]. In 900 tables drawn from the prior, with `missed_by`, the
#' ranks of the true values among the draws did not depart from uniform, as expected of a correct sampler
#' ([calibration()]; without `missed_by` it was not run).
#'
#' **Starts.** A start takes `k` random rows of the data as components. Use at least 10 starts, because the likelihood
#' has many local maxima; in the commonest ones a component is the union of two.
#'
#' **Inference.** `"exact"` sums over all \eqn{2^k} states of the components (`k` up to 16), by EM in closed form.
#' `"truncated"` keeps the 16 best states of each site; its objective is a lower bound, and it scales to a hundred
#' components and to sparse data. `"variational"` is the algorithm of Singliar and Hauskrecht (2005) on the bound of
#' Jaakkola and Jordan (1999), in which the components are independent given the data. From random starts it found 1 to
#' 7 of 8 components, the exact algorithm 6 to 8 from the same starts (`data-raw/paper_noisy_or.R` in the sources). So
#' by default it begins with a few exact or truncated iterations.
#'
#' **Afterwards.** A component that is expected to be off at fewer than one site is part of the leak: it is absorbed
#' into it, reported, and the fit resumes without it. The others are ordered by the number of presences they make. With
#' `start` no component is reordered, absorbed or dropped. [sources()] shows which components are in use.
#'
#' **Cost** of an iteration for n sites and m taxa: exact \eqn{4 n m 2^k} operations, and memory for up to 17 arrays of
#' about \eqn{2^k m} doubles; truncated at most \eqn{O(k)} for each presence; variational \eqn{O(k)} logarithms for each
#' presence and step of `q`. `bench/noisy_or.md` has seconds.
#' @param x presences and absences: n sites (or documents) as rows, m taxa (or authors) as columns, cells 0, 1 or `NA`
#'   (unknown). Matrix, table, sparse matrix of package Matrix, data frame whose first column may hold unique row names,
#'   or [shards()]. With `missed_by` also repeated visits in any shape that [visits_bernoulli()] takes. Counts are
#'   refused: use `(x > 0) + 0`.
#' @param k number of components, at least 1; at most 16 for exact inference, of repeated visits 8.
#' @param ... must be empty.
#' @param inference `"exact"`, `"truncated"`, `"variational"`, or `"auto"`: exact up to 12 components, with
#'   `missed_by` up to 8, of repeated visits up to 6; else truncated.
#' @param estimate `"map"` (posterior mode), `"ml"` (maximum likelihood) or `"gibbs"` (draws from the posterior).
#' @param prior for `"map"` and `"gibbs"`: Beta priors from [noisy_or_prior()], or a list with its names; `NULL`: by
#'   `estimate`. Not `param$prior`, the probabilities that components are on.
#' @param inner steps within an iteration, at least 1. Exact and truncated: M-steps on links and leak per E-step; `NULL`
#'   adapts. Variational: steps of the variational parameters; `NULL` is 10.
#' @param q_rule how variational inference updates `q`, the weights of the components at each presence: `"paper"`, by
#'   the steps of Singliar and Hauskrecht (2005; the bound never falls, but `q` may cycle); `"damped"`, by steps half as
#'   long on the log scale (the bound never falls, and `q` does not cycle); `"alternate"`, the default, by both in turn.
#' @param mask links that may exist: a k x m matrix of 0 and 1 (known structure), or `NULL` for all.
#' @param missed_by `"none"`: every presence is on record; or what the probability of a miss depends on, `"site"` or
#'   `"both"` site and taxon. Not of [shards()].
#' @param effort with `missed_by`, `NULL`, or one finite number for each site, how well it was searched, matched by name
#'   where both have names. Not of [shards()].
#' @param activation which components are known to be on, at which sites: a matrix n x k of 1 (on), 0 (off) and `NA`
#'   (unknown), sites in the order of `x` or by name. The log-likelihood is then that of `x` and of these. No component
#'   is reordered or absorbed. Exact and truncated inference only, and not of [shards()].
#' @param surplus how many components to fit beyond `k` before the least useful ones are dropped, one at a time: such
#'   fits may recover more of the true ones (Buhai and others 2020). Not with `mask`, `activation` or `start`.
#' @param start initial values for one start: `list(prior = , links = , leak = )` of length k, k x m and length m, all
#'   in \[0, 1\]; for variational inference also `q` (n x m x k, sums over components of 1 at each presence); with
#'   `missed_by` also `recorded_share` (10, sum 1) and `recorded_taxon` (m), where known. With `"gibbs"` also a fit,
#'   whose chains resume.
#' @param control settings from [fit_control()], for `"gibbs"` from [mcmc_control()].
#' @return A list of class `noisy_or`, with
#' \describe{
#'   \item{`param`}{`prior` (k; the probability that a component is on at a site, not the argument `prior`, which are
#'     the Beta priors of all parameters), `links` (k x m), `leak` (m), and `activation` (n x k), the posterior
#'     probability that each component is on at each site; with the names of `x`. With `start$q`, `q` as well. With
#'     `missed_by`: `recorded_share`, the distribution of sites over ten probabilities of recording (0.01, 0.04, 0.09 to
#'     1), `recorded_site` (n), their mean at each site given the data, and with `"both"` the factors of taxa,
#'     `recorded_taxon` (m).}
#'   \item{`objective`}{the maximum reached in nats, named `log_likelihood`, `log_posterior` (up to a constant) or
#'     `lower_bound`.}
#'   \item{`loglik`}{the log-likelihood: exact with exact inference and, unless `x` has repeated visits, for `k` up to
#'     12; else its lower bound.}
#'   \item{`df`}{free parameters: k priors, the links that `mask` allows, m leaks; with `missed_by` 9 shares (with
#'     `effort` 2 coefficients), and m factors of taxa.}
#'   \item{`dims`}{`n`, `m`, `k` (components left) and the number of `observed` cells.}
#'   \item{`trace`, `starts`, `converged`}{the objective after each iteration of the best start, since a component was
#'     last absorbed or dropped; how each start ended; whether the best one met the tolerance.}
#'   \item{`sources`, `absorbed`}{the result of [sources()]; the number of components absorbed into the leak.}
#'   \item{`known`, `effort`}{the matrix `activation` (integer); the `coefficients` (`intercept` and `slope` of the
#'     log-odds of a miss) and `values` of `effort`.}
#'   \item{`missed`}{with `missed_by`, the expected number of false absences.}
#'   \item{`visits`}{of repeated visits, the array n x m x visits; the element `x` is then 1 where any of them found the
#'     taxon.}
#' }
#' With `estimate = "gibbs"` the class is `noisy_or_gibbs` before `noisy_or`; `trace` has every draw of the log joint
#' density, the log-likelihood, the number missed and some cells; `spread` holds standard deviations of `param`, `kept`
#' and `last` states of each chain. There is no `df`.
#' @seealso [Recording][noisy_or_recording], [predict.noisy_or()], [sources()], [impute()], [test_loglik()],
#'   [identifiability()].
#' @references
#' Singliar T, Hauskrecht M (2005). Variational learning for noisy-OR component analysis. *Proceedings of the 2005 SIAM
#' International Conference on Data Mining*, 370-379. \doi{10.1137/1.9781611972757.33}
#'
#' Singliar T, Hauskrecht M (2006). Noisy-OR component analysis and its application to link analysis. *Journal of
#' Machine Learning Research* 7, 2189-2213. <https://www.jmlr.org/papers/v7/singliar06a.html>
#'
#' Buhai RD, Halpern Y, Kim Y, Risteski A, Sontag D (2020). Empirical study of the benefits of overparameterization in
#' learning latent variable models. *International Conference on Machine Learning*. <https://arxiv.org/abs/1907.00030>
#'
#' Polson NG, Scott JG, Windle J (2013). Bayesian inference for logistic models using Polya-Gamma latent variables.
#' *Journal of the American Statistical Association* 108, 1339-1349. \doi{10.1080/01621459.2013.829001}
#'
#' Jaakkola TS, Jordan MI (1999). Variational probabilistic inference and the QMR-DT network. *Journal of Artificial
#' Intelligence Research* 10, 291-322. \doi{10.1613/jair.583}
#' @examples
#' fit <- noisy_or(early_tetrapods$x, k = 3)
#' fit
#' sources(fit)
#' round(fit$param$links[, c("Eryops", "Diictodon", "Lystrosaurus")], 2)
#' @export
noisy_or <- function(x, k, ..., inference = c("auto", "exact", "truncated", "variational"),
                     estimate = c("map", "ml", "gibbs"), prior = NULL, inner = NULL,
                     q_rule = c("alternate", "damped", "paper"), mask = NULL, effort = NULL,
                     missed_by = c("none", "site", "both"), activation = NULL, surplus = 0, start = NULL,
                     control = NULL) {
  call <- drop_nulls(match.call(), list(prior = prior, control = control))
  check_dots(...)
  estimate <- check_choice(estimate, "estimate", c("map", "ml", "gibbs"))
  if (is.null(prior)) prior <- nor_default_prior(estimate)
  call <- keep_values(call, list(
    inference = inference, estimate = estimate, prior = prior, inner = inner, q_rule = q_rule,
    mask = mask, effort = effort, missed_by = missed_by, activation = activation, surplus = surplus, start = start
  ))
  control <- control_by_estimate(control, estimate)
  inference <- check_choice(inference, "inference", c("auto", "exact", "truncated", "variational"))
  pseudo <- if (estimate == "ml") numeric(9) else nor_pseudo_counts(prior, estimate)
  missed_by <- check_choice(missed_by, "missed_by", c("none", "site", "both"))
  if (!missing(x) && in_pieces(x)) {
    settings <- list(
      inference = inference, estimate = estimate, prior = if (estimate != "ml") prior, pseudo = pseudo, inner = inner,
      mask = mask, surplus = surplus, effort = effort, missed_by = missed_by, activation = activation
    )
    return(fit_pieces(x, "noisy_or", k, settings, start, control, call))
  }
  data <- nor_check_data(x, inference, missed_by, control)
  k <- check_k(k, dim(data$x))
  surplus <- check_count(surplus, "surplus", 0L)
  inference <- nor_settle_inference(inference, k + surplus, missed_by, data)
  nor_check_size(k + surplus, inference, data, missed_by)
  model <- list(
    inference = inference, estimate = estimate, prior = if (estimate != "ml") prior, pseudo = pseudo,
    mask = nor_check_mask(mask, k, ncol(data$x), colnames(data$x)),
    inner = if (is.null(inner)) 0L else check_count(inner, "inner"), q_steps = check_count(inner %||% 10L, "inner"),
    q_rule = check_choice(q_rule, "q_rule", c("alternate", "damped", "paper")), missed_by = missed_by,
    effort = nor_check_effort(effort, data, missed_by)
  )
  if (!is.null(effort)) data$effort <- scale_effort(model$effort)
  nor_check_together(model, surplus, mask, start, activation)
  data$known <- nor_check_known(activation, rownames(data$x), NULL, nrow(data$x), k)
  if (estimate == "gibbs") {
    return(nor_run_sampler(data, k, model, start, control, call))
  }
  if (!is.null(start)) start <- nor_check_start(start, data, k, model)
  problem <- nor_problem(data, k, surplus, model, start, control)
  fitted <- nor_fit(problem, control)
  nor_new_fit(fitted, data, model, control, call)
}

# Refuses arguments that exclude each other.
nor_check_together <- function(model, surplus, mask, start, activation) {
  if (model$inference == "variational" && !is.null(activation)) {
    stop_input("`activation` goes with exact and truncated inference, not with \"variational\".")
  }
  if (surplus > 0L && !(is.null(mask) && is.null(start) && is.null(activation))) {
    stop_input("`surplus` must be 0 with `mask`, `activation` or `start`: they define the components.")
  }
  if (surplus > 0L && model$estimate == "gibbs") {
    stop_input("`surplus` must be 0 with `estimate = \"gibbs\"`, not %d.", surplus)
  }
}

# Draws from the posterior; `start` is a sampled fit, initial values or NULL.
nor_run_sampler <- function(data, k, model, start, control, call) {
  if (!is.null(start) && !inherits(start, "noisy_or_gibbs")) start <- nor_check_start(start, data, k, model)
  model$mode <- nor_pseudo_counts(nor_default_prior("map"))
  nor_gibbs(nor_gibbs_problem(data, k, model, control), start, call)
}

# Fits from the best start, with at most k sources, none of them a leak.
nor_fit <- function(problem, control) {
  started <- run_starts(problem, control)
  absorbed <- 0L
  if (is.null(problem$start) && is.null(problem$model$mask) && is.null(problem$data$known)) {
    started$best <- nor_drop_surplus(started$best, problem, control)
    tidy <- nor_absorb(started$best, problem, control)
    started$best <- tidy$result
    absorbed <- tidy$absorbed
    started$best$param <- nor_reorder(started$best$param)
  }
  list(started = started, distinct = problem$distinct, absorbed = absorbed, with_q = !is.null(problem$start$q))
}

start_kinds.noisy_or_problem <- function(problem, control) rep("rows", control$n_start)

draw_start.noisy_or_problem <- function(problem, kind) {
  nor_draw(problem$data, problem$distinct, problem$k + problem$surplus, problem$model, problem$control)
}

# Draws starting values of a noisy-OR model. Equal links would be a saddle that sources never leave, so each source
# starts from a row of the data. Exact zeros could not move.
nor_draw <- function(data, distinct, k, model, control) {
  n <- nrow(data$x)
  m <- ncol(data$x)
  density <- max(data_density(data), 1 / (as.double(n) * m))
  means <- (data$margins$column_sum + density) / (data$margins$column_observed + 1)
  rows <- nor_start_known(nor_start_rows(data, k, means), data)
  noise <- matrix(stats::runif(k * m), k, m)
  links <- 0.5 * rows + (0.2 + 0.6 * noise) * 0.5 * matrix(means, k, m, byrow = TRUE)
  param <- list(
    prior = rep(min(0.25, 2 / k), k), links = pmin(links, 0.95), leak = pmin(pmax(0.25 * means, 0.02 * density), 0.5)
  )
  if (!is.null(model$mask)) param$links <- param$links * model$mask
  param <- nor_first_recorded(param, m, model)
  if (model$inference == "variational") nor_warm(param, distinct, model, control) else param
}

# Selects k different rows with at least one 1, if there are so many; unknown cells get the mean of their column.
nor_start_rows <- function(data, k, means) {
  with_one <- which(data$margins$row_sum > 0)
  if (!length(with_one)) with_one <- seq_len(nrow(data$x))
  at <- with_one[sample.int(length(with_one), k, replace = k > length(with_one))]
  rows <- dense_rows(data$x, at)
  means <- matrix(means, k, ncol(rows), byrow = TRUE)
  rows[is.na(rows)] <- means[is.na(rows)]
  rows
}

# A source known to be on somewhere starts from the presences there.
nor_start_known <- function(rows, data) {
  for (c in seq_len(nrow(rows))) {
    on <- which(data$known[c, ] == 1L)
    if (!length(on)) next
    means <- colMeans(dense_rows(data$x, on), na.rm = TRUE)
    rows[c, !is.na(means)] <- means[!is.na(means)]
  }
  rows
}

nor_warm_iterations <- 20L

# Starts the bound from a few exact or truncated iterations, because its own starting values lead to poor maxima.
nor_warm <- function(param, distinct, model, control) {
  model$inference <- nor_posterior_kind("variational", length(param$prior))
  control$max_iter <- nor_warm_iterations
  warm <- nor_run(distinct, model, param, control)
  check_outcome(warm$outcome)
  param <- nor_take_sources(warm$param, seq_along(param$prior))
  param$hidden <- nor_hidden_posterior(param, distinct, model)
  param
}

run_start.noisy_or_problem <- function(problem, start, control) {
  nor_run(problem$distinct, problem$model, start, control)
}

# Runs the kernel: list(param, outcome). A run resumes from param$hidden: states listed for each row, or theta, q. hold:
# the fixed scale of recording, eq. (R6).
nor_run <- function(distinct, model, start, control, hold = NULL) {
  settings <- c(nor_settings(model, distinct), list(hold = hold))
  out <- .Call(mc_c_nor_fit, distinct$view, nor_kernel_param(start), settings, unclass(control))
  # The least finite number stands for a prior that is impossible at the starting values; see nor_objective() in C.
  if (out$outcome$objective == -.Machine$double.xmax) out$outcome$objective <- -Inf
  list(param = out[setdiff(names(out), "outcome")], outcome = out$outcome)
}

shake_start.noisy_or_problem <- function(problem, param) {
  if (problem$model$inference != "variational") nor_shake(param, problem$data, problem$model)
}

# Perturbs a solution, whose most common fault is one source for the union of two beside an idle one: the least useful
# source (or, for variety, a random one) restarts from a row of the data.
nor_shake <- function(param, data, model) {
  k <- length(param$prior)
  if (k == 1L) {
    return(nor_take_sources(param, 1L))
  }
  useful <- param$prior * rowSums(param$links)
  c <- if (stats::runif(1L) < 0.5) which.min(useful) else sample.int(k, 1L)
  density <- max(data_density(data), 1 / length(data$x))
  means <- (data$margins$column_sum + density) / (data$margins$column_observed + 1)
  row <- nor_start_rows(data, 1L, means)
  links <- 0.5 * row + (0.2 + 0.6 * stats::runif(ncol(row))) * 0.5 * means
  if (!is.null(model$mask)) links <- links * model$mask[c, ]
  param <- nor_take_sources(param, seq_len(k))
  param$links[c, ] <- pmin(links, 0.95)
  param$prior[c] <- min(0.25, 2 / k)
  param
}

# Drops the source whose removal costs least, one at a time, until k are left.
nor_drop_surplus <- function(result, problem, control) {
  brief <- control
  brief$max_iter <- 10L
  while (length(result$param$prior) > problem$k) {
    candidates <- lapply(seq_along(result$param$prior), function(c) {
      checked_run(problem, nor_take_sources(result$param, -c), brief)
    })
    best <- candidates[[which.max(objectives(candidates))]]
    best$outcome$n_iter <- result$outcome$n_iter + best$outcome$n_iter
    result <- continue_without(best, best$param, problem, control)
  }
  result
}

# Resumes with fewer sources: the trace restarts, as the objective does, but not the count of iterations.
continue_without <- function(result, param, problem, control) {
  spent <- result$outcome$n_iter
  control$max_iter <- max(control$max_iter - spent, 1L)
  out <- checked_run(problem, param, control)
  out$outcome$n_iter <- spent + out$outcome$n_iter
  out
}

# Merges sources that are off in less than one observation with the leak and refits the others. The last source stays.
nor_absorb <- function(result, problem, control) {
  absorbed <- 0L
  repeat {
    param <- result$param
    constant <- which(param$prior > 1 - 1 / nrow(problem$data$x))
    if (!length(constant) || length(param$prior) == 1L) break
    c <- constant[1L]
    param$leak <- 1 - (1 - param$leak) * (1 - param$links[c, ])
    result <- continue_without(result, nor_take_sources(param, -c), problem, control)
    absorbed <- absorbed + 1L
  }
  list(result = result, absorbed = absorbed)
}

nor_new_fit <- function(fitted, data, model, control, call) {
  param <- fitted$started$best$param
  distinct <- fitted$distinct
  k <- length(param$prior)
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  activation <- if (model$inference == "variational") {
    param$activation
  } else {
    nor_report(distinct, param, model, "activation")$activation
  }
  loglik <- nor_fit_loglik(fitted$started$best, distinct, model)
  out <- list(
    prior = stats::setNames(param$prior, labels),
    links = structure(param$links, dimnames = list(labels, names[[2L]])),
    leak = stats::setNames(param$leak, names[[2L]]),
    activation = structure(activation[distinct$group, , drop = FALSE], dimnames = list(names[[1L]], labels))
  )
  if (isTRUE(fitted$with_q)) out$q <- nor_q_array(matrix(param$hidden$q, k), as.matrix(data$x), k)
  out <- c(out, nor_name_recorded(param, distinct, names, model))
  links <- if (is.null(model$mask)) k * as.double(ncol(data$x)) else sum(model$mask)
  model$coef <- param$coef
  shares <- if (is.null(model$effort)) max(0L, length(out$recorded_share) - 1L) else 2L
  recorded <- shares + length(out$recorded_taxon)
  fit <- assemble_fit(
    fitted$started, data, k, nor_objective_name(model), control, call,
    param = out, loglik = loglik, df = k + links + ncol(data$x) + recorded, class = "noisy_or",
    missed_by = if (model$missed_by != "none") model$missed_by, inference = model$inference,
    estimate = model$estimate, prior = model$prior, model = model,
    absorbed = fitted$absorbed, effort = if (!is.null(model$effort)) effort_curve(param$coef, model$effort),
    density = data_density(data), margins = data$margins, visits = data$cell
  )
  if (!is.null(data$known)) fit$known <- structure(t(data$known), dimnames = dimnames(out$activation))
  if (recorded) fit$missed <- nor_count_missed(fit, data$x)
  fit$sources <- source_table(fit)
  validate_noisy_or(fit)
}

nor_objective_name <- function(model) {
  if (model$inference != "exact") {
    return("lower_bound")
  }
  if (model$estimate == "map") "log_posterior" else "log_likelihood"
}

# Computes the log-likelihood exactly if the fit was exact or if that is cheap (not with visits), else the lower bound
# without its prior.
nor_fit_loglik <- function(best, distinct, model) {
  weight <- tabulate(distinct$group)
  cheap <- is.null(distinct$visits) && length(best$param$prior) <= nor_auto_exact
  how <- if (cheap || model$inference == "exact") "exact" else "truncated"
  sum(weight * nor_report(distinct, best$param, model, "loglik", how)$loglik)
}

# Converts q (n x m x k) to its values at the ones of x, row by row as in the data view, k x number of ones; and back.
nor_q_at_ones <- function(q, x) {
  at <- which(t(x) == 1, arr.ind = TRUE)[, 2:1, drop = FALSE]
  k <- dim(q)[3L]
  t(matrix(vapply(seq_len(k), function(c) q[cbind(at, c)], numeric(nrow(at))), nrow(at), k))
}

nor_q_array <- function(q, x, k) {
  at <- which(t(x) == 1, arr.ind = TRUE)[, 2:1, drop = FALSE]
  out <- array(NA_real_, c(dim(x), k))
  for (c in seq_len(k)) out[cbind(at, c)] <- q[c, ]
  out
}

# Computes hidden variables for parameters that are good already, by the posterior of the sources. The bound has several
# maxima in q and the activations; uniform q often leads to a poor one.
nor_hidden_posterior <- function(param, data, model) {
  on <- nor_report(data, param, model, "activation")$activation
  on[is.na(on)] <- 0.5
  row <- rep(seq_len(nrow(on)), diff(data$view$start))
  q <- t(on[row, , drop = FALSE] + 0.01) * (nor_hidden_q(param)$links[, data$view$column + 1L, drop = FALSE] + 1e-8)
  param$q <- q / rep(colSums(q), each = nrow(q))
  each <- if (!is.null(param$recorded_share)) as.vector(t(on)[, rep(seq_len(nrow(on)), each = recorded_grid)])
  nor_hidden_q(param, each)
}

#' Beta priors of a noisy-OR model
#'
#' The defaults are the weak priors of `estimate = "map"`, which keep probabilities off exact 0 and 1, and whose
#' parameters must be at least 1. Without `prior`, `"gibbs"` has others: see [noisy_or()].
#'
#' @param prior,links,leak two finite numbers above 0 each: the parameters of the Beta prior on the probability
#'   that a component is on, on every link, on every leak. `c(1, 1)` is flat.
#' @param recorded_taxon the same, of the factor that each taxon has in the probability of a record.
#' @param recorded_share a number above 0, where 1 is flat: the parameter of the Dirichlet prior on the shares of
#'   sites with each probability of a record.
#' @return A list of class `noisy_or_prior`.
#' @inherit noisy_or references
#' @examples
#' noisy_or_prior(links = c(1, 1))
#' @export
noisy_or_prior <- function(prior = c(1, 1.5), links = c(1.05, 1.5), leak = c(1.1, 2), recorded_taxon = c(4, 1.5),
                           recorded_share = 3) {
  out <- list(prior = prior, links = links, leak = leak, recorded_taxon = recorded_taxon)
  for (name in names(out)) {
    value <- out[[name]]
    if (!is.numeric(value) || length(value) != 2L || !all(is.finite(value)) || any(value <= 0)) {
      stop_input("`%s` of the prior must be two finite numbers above 0, not %s.", name, show_value(value))
    }
  }
  out$recorded_share <- check_number(recorded_share, "recorded_share", 1e-6, 1e6)
  structure(out, class = "noisy_or_prior")
}

#' @export
print.noisy_or_prior <- function(x, ...) {
  cat("<noisy_or_prior>\n")
  kind <- ifelse(lengths(x) == 2L, "Beta", "Dirichlet")
  cat(sprintf("  %s ~ %s(%s)\n", format(names(x)), kind, vapply(x, paste, "", collapse = ", ")), sep = "")
  invisible(x)
}

nor_auto_recorded <- 8L # ten times as many states
nor_auto_visits <- 6L
nor_most_visits <- 8L

# Of modes; of a posterior: most links and leaks are weak, some are strong.
nor_default_prior <- function(estimate) {
  if (estimate == "gibbs") noisy_or_prior(links = c(0.5, 1.1), leak = c(1, 25)) else noisy_or_prior()
}

# Less 1. Below that a density has no mode but at an edge.
nor_pseudo_counts <- function(prior, estimate = "map") {
  check_prior_parts(prior, names(formals(noisy_or_prior)), "noisy_or_prior() or a list with its names", NULL)
  prior <- do.call(noisy_or_prior, unclass(prior), quote = TRUE)
  low <- names(Filter(function(value) any(value < 1), prior))
  if (estimate != "gibbs" && length(low)) {
    stop_input("`%s` of the prior must be at least 1 with `estimate = \"%s\"`, not %s.", low[1L], estimate,
      show_value(prior[[low[1L]]]))
  }
  unlist(prior, use.names = FALSE) - 1
}

nor_settle_inference <- function(inference, k, missed_by, data) {
  if (inference != "auto") {
    return(inference)
  }
  most <- if (!is.null(data$visits)) {
    nor_auto_visits
  } else if (missed_by == "none") {
    nor_auto_exact
  } else {
    nor_auto_recorded
  }
  if (k <= most) "exact" else "truncated"
}

nor_check_size <- function(k, inference, data, missed_by) {
  most <- if (is.null(data$visits)) nor_most_exact else nor_most_visits
  if (inference == "exact" && k > most) {
    stop_input("`k` must be at most %d for exact inference, not %d: use `inference = \"truncated\"`.", most, k)
  }
  gigabytes <- 2^k * (if (missed_by == "none") 1 else recorded_grid) * (ncol(data$x) + 1) * 8 / 1e9
  if (inference == "exact" && gigabytes > 2) {
    stop_input(
      "Exact inference with `k` = %d on %s needs tables of %s GB each: use `inference = \"truncated\"`.",
      k, count_words(ncol(data$x), "column"), format(gigabytes, digits = 2)
    )
  }
}

nor_check_mask <- function(mask, k, m, taxa) {
  if (is.null(mask)) {
    return(NULL)
  }
  if (is.logical(mask)) storage.mode(mask) <- "double"
  mask <- check_matrix(by_names(mask, list(NULL, taxa), "mask"), "mask", k, m, 0, 1)
  whole_numbers(check_zero_one(mask, "mask"))
}

whole_numbers <- function(x) {
  storage.mode(x) <- "integer"
  unname(x)
}

# Returns the known sources in the kernel's form: k x n, NA if unknown.
nor_check_known <- function(activation, sites, components, n, k) {
  if (is.null(activation)) {
    return(NULL)
  }
  if (is.data.frame(activation)) activation <- as.matrix(activation)
  if (is.logical(activation)) storage.mode(activation) <- "double"
  activation <- by_names(activation, list(sites, components), "activation")
  unknown <- is.na(activation)
  if (any(unknown)) activation[unknown] <- 0
  out <- check_matrix(activation, "activation", n, k)
  t(replace(whole_numbers(check_zero_one(out, "activation", "0, 1 and NA")), unknown, NA))
}

nor_check_start <- function(start, data, k, model) {
  names <- c("prior", "links", "leak")
  start <- check_start(
    start, names, "list(prior = k, links = k x m, leak = m)", rownames(data$x), colnames(data$x)
  )
  recorded <- nor_recorded_parts(model)
  unknown <- setdiff(names(start), c(names, recorded, "q", "activation", if (length(recorded)) "recorded_site"))
  if (length(unknown)) stop_input("`start` has unknown parts: %s.", show_names(unknown))
  m <- ncol(data$x)
  param <- list(
    prior = check_unit_vector(start$prior, "start$prior", k),
    links = unname(check_matrix(start$links, "start$links", k, m, 0, 1)),
    leak = check_unit_vector(start$leak, "start$leak", m)
  )
  for (part in intersect(recorded, names(start))) {
    length <- if (part == "recorded_share") recorded_grid else m
    param[[part]] <- check_unit_vector(start[[part]], paste0("start$", part), length)
  }
  if (!is.null(param$recorded_share) && abs(sum(param$recorded_share) - 1) > 1e-6) {
    stop_input("`start$recorded_share` must sum to 1, not to %s.", format(sum(param$recorded_share)))
  }
  if (!is.null(model$mask) && any(param$links[model$mask == 0L] != 0)) {
    stop_input("`start$links` must be 0 wherever `mask` is.")
  }
  if (!is.null(start$q)) {
    if (model$inference != "variational") stop_input("`start$q` is for `inference = \"variational\"` only.")
    param$q <- nor_check_q(start$q, data, k)
  }
  param
}

nor_check_q <- function(q, data, k) {
  want <- c(dim(data$x), k)
  if (!is.numeric(q) || !identical(dim(q), as.integer(want))) {
    stop_input("`start$q` must be a numeric array of %s.", paste(want, collapse = " x "))
  }
  q <- nor_q_at_ones(q, as.matrix(data$x))
  if (anyNA(q) || any(q < 0) || any(abs(colSums(q) - 1) > 1e-6)) {
    stop_input("`start$q` must be at least 0 and sum to 1 over the components at every one of `x`.")
  }
  q
}
