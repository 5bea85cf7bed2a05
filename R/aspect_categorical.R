#' Aspect model of cells with several values
#'
#' `aspect_categorical()` is [aspect_bernoulli()] for cells of more than two values, such as ratings, cover classes, or
#' certain, `cf.` and absent. Each cell comes from one of the components of its site, and a component has a
#' distribution over the values for each taxon.
#'
#' @details
#' **Model.** \deqn{P(x_{ij} = v) = \sum_c s_{ic} b_{cjv}}{P(x[i,j] = v) = sum_c s[i,c] b[c,j,v]}
#' with `membership` \eqn{s} (n x k), the shares of a site, and `profiles` \eqn{b} (k x m x values), which sum to 1 over
#' values. Hofmann and Puzicha (1999) and Marlin (2004) use it for ratings. With two values it is [aspect_bernoulli()].
#' Values have no order, but the first one has a role: functions that need presences count all other values as
#' presences. `NA` cells drop out.
#'
#' **What is assumed.** Given the shares of a site, which are the same for all features, cells are independent. Columns
#' that repeat each other count as separate evidence: with each of 8 columns four times, the standard deviations of
#' memberships by `"gibbs"` were about half as large. Equal columns are reported; leave all but one out.
#'
#' **Estimates.** `"map"`, the default, is the posterior mode, by EM, memberships before profiles, with Dirichlet priors
#' on both; `"ml"` has none. `"gibbs"` samples the posterior: components of cells, then memberships and profiles.
#' `prior` is `list(profiles = , membership = )`, the first one number or one for each value. They must be at least 1
#' for `"map"` (`NULL`: 1.2 and 1.5, chosen by held-out cells of four tables: `bench/categories.md` in the sources) and
#' above 0 for `"gibbs"` (0.5 each). In 600 tables of 8 x 5 cells drawn from the prior, ranks of the true values did not
#' depart from uniform ([calibration()]).
#'
#' **Phantoms** are components fixed at one value for all taxa. One fixed at the value for absence stands for what was
#' missed. They come last, in the order of `phantom`.
#'
#' **Cost.** An iteration takes \eqn{8 n m k} floating-point operations, memory is O((n + m L) k) for L values; a sweep
#' of `"gibbs"` twice that, and two random numbers a cell.
#'
#' @param x table of values: a matrix or data frame of text, factors or numbers, `NA` unknown; or a [category_table()].
#' @param k number of components, phantoms included, at least 1.
#' @param ... must be empty.
#' @param values the values in their order, as in [category_table()].
#' @param estimate `"map"` (posterior mode), `"ml"` (maximum likelihood) or `"gibbs"` (Gibbs sampling).
#' @param prior `NULL`, or `list(profiles = , membership = )`; see Details.
#' @param phantom `NULL`, or the values of components that are fixed, one each.
#' @param start `NULL`, or `list(membership = n x k, profiles = k x m x values)` to start from; components then keep
#'   their order. With `"gibbs"`: where chains begin, or a sampled fit, whose chains resume.
#' @param control [fit_control()], with `"gibbs"` [mcmc_control()]; `NULL`: its defaults.
#' @return A list of class `aspect_categorical`, as described in [aspect_bernoulli()], where `param` holds
#' \describe{
#'   \item{`membership`}{n x k, rows sum to 1; components by falling weight, phantoms last.}
#'   \item{`profiles`}{k x m x values, probabilities that sum to 1 over values.}
#' }
#' `values` are the values, and `fixed` has for each component `"free"` or its value. `df` counts n (k - 1) memberships
#' and m times the number of values less 1 for each free component. With `"gibbs"` the class is
#' `aspect_categorical_gibbs` before that; `param` are posterior means, `spread` standard deviations over draws, and
#' `trace` has a row for each draw. Wrong input is an error of class `multicause_input_error`.
#' @references Hofmann T, Puzicha J (1999). Latent class models for collaborative filtering. *Proceedings of the
#'   Sixteenth International Joint Conference on Artificial Intelligence*, 688-693.
#'
#'   Marlin B (2004). Modeling user rating profiles for collaborative filtering. *Advances in Neural Information
#'   Processing Systems* 16.
#'
#'   Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [predict.aspect_categorical()], [category_table()], [cross_validate()]
#' @examples
#' set.seed(1)
#' # Two faunas; half of what is there is missed, and a third of what is found is doubtful.
#' lives <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' found <- ifelse(lives & runif(480) < 0.5, ifelse(runif(480) < 1 / 3, "cf.", "certain"), "absent")
#' x <- category_table(found, values = c("absent", "cf.", "certain"))
#' fit <- aspect_categorical(x, k = 3, phantom = "absent", control = fit_control(n_start = 2))
#' fit
#' round(predict(fit, type = "response")[1, 1:3, ], 2)
#' @export
aspect_categorical <- function(x, k, ..., values = NULL, estimate = c("map", "ml", "gibbs"), prior = NULL,
                               phantom = NULL, start = NULL, control = NULL) {
  call <- drop_nulls(match.call(), list(prior = prior, control = control))
  check_dots(...)
  estimate <- check_choice(estimate)
  control <- control_by_estimate(control, estimate)
  check_given(x, k)
  if (in_pieces(x)) stop_not_for_shards("aspect_categorical()", "fit some rows, `x[i, ]`")
  data <- check_categories(x, values)
  found <- category_values(data$x)
  phantom <- ac_check_phantom(phantom, found)
  k <- check_k(k, dim(data$x), 1L + length(phantom))
  prior <- if (estimate != "ml") {
    ac_check_prior(prior %||% ac_default_prior(estimate), found, estimate == "gibbs")
  }
  call <- keep_values(call, list(
    estimate = estimate, prior = prior, values = found, phantom = phantom, start = start
  ))
  fixed <- c(rep("free", k - length(phantom)), phantom)
  if (estimate == "gibbs") {
    return(ac_gibbs(ac_gibbs_problem(data, fixed, prior, control), start, call))
  }
  problem <- ac_problem(data, fixed, estimate, prior)
  problem$start <- if (!is.null(start)) ac_check_start(start, data, k, fixed)
  started <- run_starts(problem, control)
  if (is.null(start)) started <- reorder_runs(started, function(param) ac_order(param, fixed), ac_permute)
  ac_new_fit(started, problem, control, call)
}

ac_check_phantom <- function(phantom, values) {
  if (is.null(phantom)) {
    return(NULL)
  }
  text <- if (is.atomic(phantom)) as.character(phantom)
  if ("free" %in% text) stop_input("`phantom` cannot be the value \"free\": give this value another name.")
  if (!length(text) || anyDuplicated(text) || !all(text %in% values)) {
    stop_input("`phantom` must be NULL or some of the values, %s, not %s.", show_names(values, 10L),
      show_value(phantom))
  }
  text
}

ac_new_fit <- function(run, problem, control, call) {
  data <- problem$data
  fixed <- problem$fixed
  k <- length(fixed)
  param <- run$best$param[c("membership", "profiles")]
  loglik <- ac_loglik(data$view, param, fixed)
  param <- ac_name_param(param, dimnames_of(data$x), problem$values)
  objective <- if (problem$estimate == "ml") "log_likelihood" else "log_posterior"
  m <- as.double(ncol(data$x))
  fit <- assemble_fit(
    run, data, k, objective, control, call, param = param, loglik = loglik,
    df = nrow(data$x) * (k - 1) + sum(fixed == "free") * m * (length(problem$values) - 1),
    class = "aspect_categorical", fixed = stats::setNames(fixed, component_names(k)), values = problem$values,
    estimate = problem$estimate, prior = problem$prior, margins = data$margins
  )
  validate_aspect_categorical(fit)
}
