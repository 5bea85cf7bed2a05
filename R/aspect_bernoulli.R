#' Aspect Bernoulli model: which absences are false?
#'
#' `aspect_bernoulli()` explains each cell of a presence-absence table by several hidden causes, its components, one of
#' which may be a *white phantom*: a component that has (almost) only zeros and stands for whatever keeps a taxon that
#' lived there from being recorded. So absences can be false: given the model, each has a probability of being a false
#' absence, the column `missed` of [false_absences()]. (In [which_zeros()] `missed` is another quantity.
#' [multicause-glossary] explains the words.)
#' @details
#' Site \eqn{i} mixes \eqn{k} components with shares of its own, and each cell comes from one of them:
#' \deqn{P(x_{ij} = 1) = \sum_c s_{ic} a_{cj}}{P(x[i,j] = 1) = sum_c s[i,c] a[c,j]}
#' `membership` \eqn{s} (n x k) holds the shares, which sum to 1 at each site. `aspects` \eqn{a} (k x m) holds the
#' probability of a presence of each taxon in each component, which the paper calls an aspect. Unknown cells drop out.
#'
#' Separate pages explain [estimation][aspect_bernoulli_estimation] (assumptions, priors, sampling, cost),
#' [effort][aspect_bernoulli_effort], and [smoothing over neighbours][aspect_bernoulli_neighbours].
#'
#' A table alone does not show how large the phantom's share is. [identifiability()] gives bounds, which hold for one
#' fit alone. In the example below, with `set.seed(1)` before each fit, `"map"` estimates 843 false absences (outer
#' bound 1 510), `"ml"` 1 000 (1 230) and `"vb"` 2 585 (3 240). Report the number with its outer bound, `estimate` and
#' prior.
#'
#' @param x 0/1 table: sites as rows, taxa as columns, `NA` unknown. A matrix, table, sparse
#'   matrix of package Matrix, data frame (its first column may hold row names), or [shards()]. If taxa are rows, give
#'   `t(x)`; if cells are counts, `(x > 0) + 0`.
#' @param k number of components, phantoms included, at least 1.
#' @param ... must be empty.
#' @param estimate `"map"` (posterior mode), `"ml"` (maximum likelihood), `"vb"` (variational Bayes) or `"gibbs"`
#'   (Gibbs sampling); see [estimation][aspect_bernoulli_estimation].
#' @param prior `list(aspects = c(1.2, 2), membership = 1.1)`: a Beta prior of probabilities and a Dirichlet prior of
#'   memberships. `NULL` is these for `"map"`, and 0.5 each for `"vb"` and `"gibbs"`. Or `"eb"` (empirical Bayes);
#'   `"cv"` or a list of several (chosen by held-out cells); see [estimation][aspect_bernoulli_estimation].
#' @param phantom `"free"`: all components are estimated. `"white"`: the last one is fixed at 0 (absences alone),
#'   `"black"`: at 1 (presences alone), `"both"`: the last two, one at each.
#' @param smooth `NULL`, or [smooth_over()]: see [neighbours][aspect_bernoulli_neighbours].
#' @param effort `NULL`, or a number for each site, how well it was searched; for [shards()] also the name of a column:
#'   see [effort][aspect_bernoulli_effort].
#' @param start `NULL`, or `list(membership = n x k, aspects = k x m)` to start from, matched by name; components then
#'   keep their order. With `"gibbs"`: where chains begin, or a fit whose chains resume.
#' @param control [fit_control()], with `"gibbs"` [mcmc_control()]; `NULL`: its defaults.
#' @return A list of class `aspect_bernoulli`, with
#' \describe{
#'   \item{`param`}{`membership` (n x k) and `aspects` (k x m), components by falling weight, phantoms last.}
#'   \item{`objective`, `loglik`}{the maximum reached (its name says of what) and the log-likelihood, in nats.}
#'   \item{`df`, `dims`}{number of parameters that were estimated; `n`, `m`, `k`, and `observed` cells.}
#'   \item{`trace`, `starts`, `converged`}{the objective iteration by iteration; how each start ended; whether the
#'     best one met the tolerance.}
#'   \item{`fixed`}{for each component `"free"`, `"white"` or `"black"`.}
#' } With `"vb"` and `"gibbs"`, `param` holds posterior means ([more parts][aspect_bernoulli_estimation]).
#' @seealso [which_zeros()], which averages models; [visits_bernoulli()]; [false_absences()], [phantoms()], [denoise()].
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' fit <- aspect_bernoulli(early_tetrapods$x, k = 4, phantom = "white")
#' fit
#' # phantom: it made the zero; present: content would have made a presence; missed: both
#' head(false_absences(fit, by = "missed"))
#' @export
aspect_bernoulli <- function(x, k, ..., estimate = c("map", "ml", "vb", "gibbs"), prior = NULL,
                             phantom = c("free", "white", "black", "both"), effort = NULL, smooth = NULL,
                             start = NULL, control = NULL) {
  call <- drop_nulls(match.call(), list(prior = prior, control = control))
  check_dots(...)
  estimate <- check_choice(estimate)
  control <- control_by_estimate(control, estimate)
  if (is.null(prior)) prior <- ab_default_prior(estimate, !is.null(smooth))
  phantom <- check_choice(phantom)
  check_given(x, k)
  if (in_pieces(x)) {
    settings <- list(estimate = estimate, prior = prior, phantom = phantom, smooth = smooth, effort = effort)
    call <- keep_values(call, c(settings, list(start = start)))
    return(fit_pieces(x, "aspect_bernoulli", k, settings, start, control, call))
  }
  data <- check_data(x, "binary")
  k <- check_k(k, dim(data$x), 1L + length(ab_pins(phantom)))
  smooth <- check_smooth(smooth)
  if (!is.null(effort)) {
    effort <- check_effort(effort, data, phantom, k)
    phantom <- "white"
  }
  ab_check_together(estimate, prior, smooth, effort)
  empirical <- identical(prior, "eb")
  tuned <- ab_choose_prior(prior, estimate, data, k, list(phantom = phantom, effort = effort), control)
  prior <- tuned$value
  call <- keep_values(call, list(
    estimate = estimate, phantom = phantom, prior = if (empirical) "eb" else prior, effort = effort, smooth = smooth,
    start = start
  ))
  fixed <- c(rep("free", k - length(ab_pins(phantom))), ab_pins(phantom))
  fit <- if (estimate == "gibbs") {
    if (empirical) prior <- gibbs_empirical_prior(data, fixed, prior, control)
    ab_gibbs(gibbs_problem(data, fixed, prior, control), start, call)
  } else {
    ab_climb(ab_problem(data, fixed, estimate, prior, effort), start, smooth, empirical, control, call)
  }
  fit$tuning <- tuned$cv
  fit
}

#' How an aspect Bernoulli model is estimated
#'
#' The estimates, priors and starts of [aspect_bernoulli()], further parts of a fit, its cost, and how well its
#' probabilities are calibrated.
#'
#' @section Estimates:
#' * `"map"` is the default. It adds a Beta prior on every component's probabilities and a symmetric Dirichlet prior on
#'   every site's shares, and finds the posterior mode. The weak default prior keeps probabilities off exact 0 and 1,
#'   and shares off 0. It is the default because it predicts held-out cells better than `"ml"`: on each of 8 tables with
#'   k of 3 and 6, by 0.02 to 1.4 nats a cell, and by 0.001 to 0.3 if probabilities are kept within 0.01 and 0.99
#'   (`bench/estimate_default.md` in the sources).
#' * `"ml"` maximises the likelihood, memberships first, then components. It takes Newton steps within bounds or the EM
#'   algorithm of Bingham and others (2009); `fit$algorithm` names the one used. Maximum likelihoods, the criterion of
#'   that paper (`"aic_paper"` of [select_k()]) and [phantom_test()] need `"ml"`.
#' * `"vb"` approximates the posterior under such priors by independent Dirichlets, Betas and causes of cells. It
#'   maximises a lower bound of the log evidence. `param` are its means and `posterior` its parameters.
#'   [posterior_draws()] draws from it.
#' * `"gibbs"` samples that posterior, see Sampling.
#'
#' @section Priors:
#' For `"map"`, `prior` has `aspects`, the two parameters of the Beta prior, and `membership`, the parameter of the
#' Dirichlet prior. All are at least 1; `c(1, 1)` and `1` are flat. For `"vb"` and `"gibbs"` they need only be above 0.
#' `NULL` is `list(aspects = c(1.2, 2), membership = 1.1)` for `"map"`, 0.5 each for `"vb"` and `"gibbs"`. `"ml"` has no
#' prior.
#'
#' A site with few presences carries little information on its shares. With a flat prior the shares follow these few
#' presences too closely. Held-out cells were predicted better with 1.1, the default, than with 1 in 27 of 30
#' comparisons: ten tables, with k of 4, 8 and 16. With four presences a site 1.3 and more were better still; `"cv"`
#' tries up to 1.5 (`bench/estimate_default.md` in the sources). With `smooth` the default is 1, because neighbours
#' inform the shares.
#'
#' `prior = "cv"`, or an unnamed list of several priors, chooses by held-out cells. The fit then has the result of
#' [cross_validate()] as `tuning`. With `"cv"`, `"gibbs"` takes the prior that `"vb"` would.
#'
#' `prior = "eb"` (empirical Bayes, for `"vb"` and `"gibbs"`) takes the parameters that maximise the lower bound, within
#' \[0.001, 1000\]. From the best start under the default prior, iterations and updates of the prior alternate, and
#' neither lowers the bound. The bound favours small parameters, which need not predict better: compare by
#' [cross_validate()].
#'
#' @section What is assumed:
#' Given the shares of a site, cells are independent, and a phantom takes the same share of all taxa of the site. A
#' presence is never an error, unless a black phantom makes it. Where taxa of a site are recorded unequally well, the
#' number of false absences may be far off: [summary()][summary.aspect_bernoulli] and [identifiability()] give bounds
#' with and without that assumption. Taxa that repeat each other count as separate evidence: with each of 8 columns four
#' times, the standard deviations of shares by `"gibbs"` were about half as large. Equal columns are reported.
#'
#' @section Starts: Fits start from Bernoulli mixtures (`"mixture"`), from mixtures plus a component near zero
#' (`"mixture_phantom"`) and from uniform random numbers (`"uniform"`); see [fit_control()]. The phantom of
#' `"mixture_phantom"` is a starting value, which the iterations may change. The likelihood has many local maxima and
#' its surface is flat in places: see `fit$starts`, and the certificate of [summary()][summary.aspect_bernoulli]. The
#' certificate bounds what better memberships alone, or better components alone, could still gain.
#'
#' @section Sampling:
#' `estimate = "gibbs"` samples the posterior itself. On tables of 100 x 20 its 90 % intervals held 88 and 90 % of the
#' components' probabilities (k = 2 and 4), those of `"vb"` 66 and 40 % (`bench/samplers.md` in the sources). In 900
#' tables drawn from the prior, ranks of the true values did not depart from uniform ([calibration()]). Causes of cells
#' are drawn given memberships and components, and these given the causes (Diebolt and Robert 1994). Memberships are
#' drawn from that part of a cell's probability alone in which the components differ. The rest carries no information on
#' them, because shares sum to 1, and leaving it out makes successive draws far less alike.
#'
#' Each chain of [mcmc_control()] begins at a draw from the best of `n_start` (default 4) variational fits of its own,
#' or from the prior (`init = "prior"`), or where a fit given as `start` stopped. Labels are matched to the chain's mean
#' at the end of its warm-up, and chains to one another at the end. Means and standard deviations of the cells'
#' probabilities and scores are over all draws. Each chain keeps only `keep` single states ([posterior_draws()]), so
#' memory is O(n m) whatever the number of draws. A draw takes O(n m k).
#'
#' `summary()` shows R-hat and effective sample sizes of what does not depend on the numbering of components. A
#' warning says where chains disagree. [posterior::as_draws()] and [coda::as.mcmc()] take the fit.
#'
#' @section Calibration of the probabilities: With `estimate = "vb"` and flat priors
#' (`list(aspects = c(1, 1), membership = 1)`), `missed` of [false_absences()] is better calibrated than with `"ml"`,
#' `"map"` and the default prior. On tables drawn from the model itself, with the right `k`, its calibration slope (1 is
#' right) was 0.94 to 1.08, with 0.97 to 1.41 times as many false absences expected as there were. On other tables that
#' does not hold. Where each site has one fauna, taxa follow a gradient, or `k` is off, slopes were 0.89 to 1.72 and the
#' expected number 0.71 to 1.56 times the true one. On tables *without* losses a fixed phantom called 5 to 8 % of the
#' zeros false. Intervals over posterior draws are too narrow even if the model is true: 90 % intervals held half of the
#' true probabilities, on other tables 13 to 51 %. The upper bounds by [identifiability()] over such draws covered 90
#' to 99 % of them. `bench/calibration.md` in the sources has the figures. [ensemble()] averages such fits over `k` and
#' priors by held-out cells. Its probabilities are better calibrated on such tables, and its `print()` warns where its
#' members disagree on how many zeros are false.
#'
#' @section Tables larger than memory:
#' `x` may be a result of [shards()], with `estimate` `"ml"` and `"map"`. The iterations are the same, and so is the fit
#' from the same start, to rounding. The shards are visited one after another, or by the workers of `cluster` in
#' [fit_control()], with the same result, to the last bit, for any number of workers. Without a `start` the starts of
#' `control` are run on 5000 rows drawn from all shards, and the fit of the whole table continues from the best of
#' these. `start` may have `aspects` alone: memberships are then equal shares. The result has class
#' `aspect_bernoulli_shards`, its memberships stay in files (see `checkpoint` of [fit_control()]), and
#' [predict()][predict.multicause_shards], [fitted()], [phantoms()], [false_absences()], [false_presences()],
#' [summary()][summary.aspect_bernoulli], [coef()], [logLik()] and [nobs()] accept it.
#'
#' @section Cost:
#' An iteration of EM takes \eqn{8 n m k} floating-point operations, mostly in BLAS products, and half a division a
#' cell. A Newton iteration takes \eqn{n m (8 k + 2 k^2)}{n m (8 k + 2 k^2)} and \eqn{O(k^3)} a row and column. Its
#' sparse form takes \eqn{8 n m k} and \eqn{O(k^2)} for each one and missing cell, and where zeros are not visited that
#' and \eqn{O((n + m) k^3)} alone. Memory is O((n + m) k) and one block of rows: sparse data are never made dense.
#'
#' @section Parts of a fit that depend on the estimate:
#' \describe{
#'   \item{`objective`}{is named `log_likelihood` or `log_posterior`, with `smooth` `smoothed_log_likelihood` or
#'     `smoothed_log_posterior`.}
#'   \item{`df`}{n (k - 1) + m times the components that are not fixed; with `effort` 2 in place of n shares; `NA` with
#'     `"gibbs"`.}
#'   \item{`posterior`}{with `"vb"`: Dirichlet parameters `membership` (n x k), Beta parameters `one` and `zero`
#'     (k x m).}
#'   \item{`cells`, `spread`, `kept`, `last`}{with `"gibbs"`, whose class is `aspect_bernoulli_gibbs` before
#'     `aspect_bernoulli`: `mean` and `sd` over draws of the cells' `probability` and `missed`, `mean` of `present` and
#'     `phantom` (n x m; only the first without a phantom); standard deviations of `param`, which are means; states kept
#'     of each chain and its last one. `trace` has a row for each draw, and `objective` is the largest log joint
#'     density. `converged` shows whether R-hat is at most 1.01, with 400 effective draws, for all of `trace` (`NA` for
#'     one chain, or fewer than 4 draws a chain).}
#'   \item{`algorithm`}{with `"ml"` and `"map"`: which iterations were made, `"em"`, `"newton"` or `"sparse"`.}
#'   \item{`effort`, `smooth`}{see [effort][aspect_bernoulli_effort] and [neighbours][aspect_bernoulli_neighbours].}
#'   \item{`certificate`, `expected_false`}{where `control` does not keep the data. Otherwise `print()` and
#'     [summary()][summary.aspect_bernoulli] compute them.}
#' }
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#'
#'   Diebolt J, Robert CP (1994). Estimation of finite mixture distributions through Bayesian sampling. *Journal of the
#'   Royal Statistical Society B* 56, 363-375. \doi{10.1111/j.2517-6161.1994.tb01985.x}
#' @seealso [aspect_bernoulli()]; [fit_control()] and [mcmc_control()]; [test_loglik()].
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, 0.6)
#' aspect_bernoulli(x, k = 2, estimate = "ml")
#' # Draws from the posterior; use more of them, and more chains.
#' chains <- mcmc_control(chains = 2, warmup = 200, draws = 400, n_start = 2, progress = FALSE)
#' sampled <- aspect_bernoulli(x, k = 3, estimate = "gibbs", phantom = "white", control = chains)
#' summary(sampled)
#' head(false_absences(sampled, by = "missed"))
#' @name aspect_bernoulli_estimation
NULL

#' Effort in an aspect Bernoulli model
#'
#' `effort` of [aspect_bernoulli()] measures how well each site was searched. The phantom's share then follows it.
#'
#' @details
#' `effort` is one finite number for each site, matched by name where both have names. With it the last component is a
#' white phantom fixed at exactly 0, even if `phantom` is `"free"`; `"black"` and `"both"` are errors. The phantom's
#' share of site \eqn{i} is modelled as
#' \deqn{logit(s_{i,phantom}) = b_0 + b_1 effort_i}{logit(s[i,phantom]) = b0 + b1 effort[i]}
#' Both numbers are fitted by logistic regression within each iteration. The other components share the remainder as
#' they do without `effort`. So two numbers replace n shares, and determine what a table alone cannot (see
#' [identifiability()]), if effort governs what is missed. Supply numbers of specimens, days or publications
#' as logarithms, such as `log(specimens)`.
#'
#' For [shards()] `effort` may also be the name of a column of their `site_data`. Numbers without names are in the order
#' of [site_table()], such as `log(site_table(x)$hours)`. The curve is fitted to all rows: each iteration visits
#' the shards twice, once for the counts of the phantom and once for the rest.
#'
#' The fit has `effort`, a list of `coefficients` (`intercept` and `slope` of the log-odds of the phantom's share) and
#' the `values`.
#' @seealso [aspect_bernoulli()], [which_zeros()], which takes `effort`, too; [visits_bernoulli()] for repeated visits.
#' @examples
#' set.seed(1)
#' effort <- runif(60, -1, 2)
#' found <- rbinom(60 * 10, 1, 0.8 * plogis(effort))
#' x <- outer(1:60, 1:10, function(i, j) (i <= 30) == (j <= 5)) * found
#' fit <- aspect_bernoulli(x, k = 3, effort = effort)
#' fit
#' fit$effort$coefficients
#' @name aspect_bernoulli_effort
NULL

#' Neighbours in an aspect Bernoulli model
#'
#' With `smooth` of [aspect_bernoulli()], sites that are near each other in age, place or otherwise share their faunas.
#'
#' @details
#' `smooth` shrinks the shares of each site towards those of its neighbours. [smooth_over()] defines neighbours and the
#' objective. Smoothing works best with `phantom = "white"` and `estimate = "map"`. With it memberships have no
#' certificate (`NA`, see [summary()][summary.aspect_bernoulli]), because the objective is not concave in them.
#'
#' The fit has `smooth`, the [smooth_over()] that was used, with numbers for its bandwidth and strength. Where they were
#' chosen by held-out cells it has the table `cv`: the `loss` of each setting in nats a cell, and its `gain` over no
#' smoothing, with its standard error over folds.
#'
#' **Tables in [shards()].** `bandwidth` and `strength` must be numbers then, and covariates are those of all rows,
#' matched by name or in the order of [site_table()]. Before each iteration the leading process reads all memberships,
#' computes the contribution of neighbours to every row, and sends each shard its part. So it holds all neighbours and
#' several numbers for each membership: a million rows with 30 neighbours and 10 components took at most 2.9 GB. Without
#' a `start` the starts are run on some rows, without neighbours. New rows cannot be predicted from such a fit.
#' @seealso [aspect_bernoulli()], [smooth_over()], [curves()] and the views `"curves"` and `"map"` of
#'   [plot.aspect_bernoulli()]; [neighbours_mean()] for a model of neighbours alone.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, 0.6)
#' near <- smooth_over(age = 40:1, bandwidth = c(age = 3), strength = 5)
#' fit <- aspect_bernoulli(x, k = 3, phantom = "white", smooth = near)
#' head(curves(fit, "component"))
#' @name aspect_bernoulli_neighbours
NULL

# Fits from the best start, or from `start`; `empirical`: then estimates the prior.
ab_climb <- function(problem, start, smooth, empirical, control, call) {
  fixed <- problem$fixed
  problem$smooth <- set_smooth(smooth, problem, control)
  problem$near <- smooth_lists(problem$smooth)
  problem$start <- if (!is.null(start)) ab_check_start(start, problem$data, length(fixed), fixed)
  started <- run_starts(problem, control)
  if (empirical) {
    found <- vb_empirical(started, problem, control)
    started <- found$run
    problem$prior <- found$prior
  }
  if (is.null(start)) {
    permute <- if (problem$estimate == "vb") vb_permute else ab_permute
    started <- reorder_runs(started, function(param) ab_order(param, fixed, problem$data), permute)
  }
  ab_new_fit(started, problem, control, call)
}

# Kinds of starting values. "mixture": a few EM steps of a Bernoulli mixture; "mixture_phantom": the same with one
# component fewer plus an aspect near zero; "uniform": random numbers, as in the paper.
start_kinds.aspect_bernoulli_problem <- function(problem, control) {
  k <- length(problem$fixed)
  if (k == 1L) {
    return("uniform")
  }
  free <- any(problem$fixed != "free") || control$init == "free" || k == 2L
  cycle <- if (free) {
    c("mixture", "mixture", "uniform")
  } else {
    c("mixture", "mixture_phantom", "mixture", "mixture_phantom", "uniform")
  }
  rep_len(cycle, control$n_start)
}

draw_start.aspect_bernoulli_problem <- function(problem, kind) {
  c(ab_draw(problem$data, kind, problem$fixed, problem$n_threads), drawn = TRUE)
}

run_start.aspect_bernoulli_problem <- function(problem, start, control) {
  opened <- NULL
  if (isTRUE(start$drawn) && opens_by_em(problem, control)) {
    opened <- open_by_em(problem, start[c("membership", "aspects")], control)
    start <- opened$param
    control$max_iter <- control$max_iter - opened$outcome$n_iter
  }
  run <- ab_run(problem$data$view, start, problem$fixed, problem$prior, control, smooth = problem$near)
  check_outcome(run$outcome)
  add_iterations(opened, run)
}

# With a prior, the long Newton steps of the first iterations lead random starts to lower optima more often than EM
# does, so EM comes first, until two cycles in a row gain less than that share of the objective. Without a prior the
# best of 20 starts ended lower that way (bench/iterations.md).
em_opening <- list(max_iter = 30L, tol = 3e-3)

opens_by_em <- function(problem, control) {
  identical(control$algorithm, "auto") && !is.null(problem$prior) && algorithm_of(problem, control) == "newton"
}

open_by_em <- function(problem, start, control) {
  opening <- control
  opening[c("max_iter", "tol", "algorithm")] <- list(min(control$max_iter, em_opening$max_iter), em_opening$tol, "em")
  opened <- ab_run(problem$data$view, start, problem$fixed, problem$prior, opening, smooth = problem$near)
  check_outcome(opened$outcome)
  opened$outcome[c("status", "algorithm")] <- list("max_iter", "newton")
  opened
}

run_start.aspect_bernoulli_effort_problem <- function(problem, start, control) {
  if (is.null(start$coef)) start <- effort_start(start)
  effort <- list(coef = start$coef, effort = scale_effort(problem$effort))
  param <- c(ab_kernel_param(start, problem$fixed), effort)
  control$algorithm <- ab_algorithm(control, ncol(start$membership), problem$data$view, FALSE, effort = TRUE)
  counts <- mode_counts(problem$prior, problem$fixed)
  out <- .Call(mc_c_ab_effort_fit, problem$data$view, param, counts, unclass(control))
  out$outcome$algorithm <- control$algorithm
  list(param = out[c("membership", "aspects", "coef")], outcome = out$outcome)
}

# Starts the curve of log-odds at the phantom's mean share, with slope 0 in effort.
effort_start <- function(start) {
  start$coef <- flat_curve(mean(start$membership[, ncol(start$membership)]))
  start
}

shake_start.aspect_bernoulli_problem <- function(problem, param) {
  ab_shake(param[c("membership", "aspects")], problem$fixed)
}

mark_start.aspect_bernoulli_problem <- function(problem, param) {
  list(phantom = ab_found_phantom(param, problem$data, problem$fixed))
}

# Tests whether a free component ended as a phantom, by the default rule of phantoms().
ab_found_phantom <- function(param, data, fixed) {
  kind <- phantom_measures(param, data_density(data), fixed, data$margins$column_observed > 0)$kind
  any(kind[fixed == "free"] != "content")
}

# Constructs the result of aspect_bernoulli() by maximum likelihood, posterior mode or variational Bayes.
ab_new_fit <- function(run, problem, control, call) {
  data <- problem$data
  fixed <- problem$fixed
  effort <- problem$effort
  k <- length(fixed)
  param <- run$best$param[c("membership", "aspects")]
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  dimnames(param$membership) <- list(names[[1L]], labels)
  dimnames(param$aspects) <- list(labels, names[[2L]])
  smoothed <- is_smoothed(problem)
  loglik <- if (smoothed || problem$estimate == "vb") {
    ab_loglik(data$view, param, fixed)
  } else {
    run$best$outcome$objective - mode_log_prior(problem$prior, fixed, param)
  }
  objective <- c(ml = "log_likelihood", map = "log_posterior", vb = "lower_bound")[[problem$estimate]]
  shares <- if (is.null(effort)) nrow(data$x) * (k - 1) else nrow(data$x) * (k - 2) + 2
  fit <- assemble_fit(
    run, data, k, smoothed_name(objective, if (smoothed) problem$smooth), control, call,
    param = param, loglik = loglik, posterior = run$best$param$state,
    df = shares + sum(fixed == "free") * as.double(ncol(data$x)), class = c("aspect_bernoulli", "aspect_model"),
    fixed = stats::setNames(fixed, labels), estimate = problem$estimate,
    prior = problem$prior, effort = if (!is.null(effort)) effort_curve(run$best$param$coef, effort),
    smooth = problem$smooth, density = data_density(data), margins = data$margins,
    algorithm = run$best$outcome$algorithm
  )
  if (!control$keep_x) fit <- keep_answers(fit, data$x)
  validate_aspect_bernoulli(fit)
}

# Chooses the prior, by held-out cells if requested: list(value, cv). The Gibbs sampler uses that of variational Bayes.
ab_choose_prior <- function(prior, estimate, data, k, same, control) {
  bayes <- estimate %in% c("vb", "gibbs")
  if (estimate == "gibbs") control <- gibbs_start_control(control)
  if (estimate == "ml") {
    # Maximum likelihood has no prior, but averages over estimates may supply one.
    if (!wants_tuning(prior)) ab_check_prior(prior, bayes = TRUE)
    return(list(value = prior, cv = NULL))
  }
  args <- c(list(estimate = if (bayes) "vb" else estimate), same)
  check <- function(value) ab_check_prior(if (bayes && identical(value, "eb")) vb_default_prior else value, bayes)
  tune <- function(tried) tune_by_cells(data$x, aspect_bernoulli, k, "prior", tried, args, control)
  rows <- if (bayes) 1 else c(1, 1.03, 1.1, 1.1, 1.3, 1.5)
  tuned <- choose_prior(prior, prior_grid(c("aspects", "membership"), rows), check, tune)
  checked <- check(tuned$value)
  if (bayes) tuned$value <- checked
  tuned
}
