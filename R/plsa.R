#' Latent Dirichlet allocation (LDA) and probabilistic latent semantic analysis (PLSA) of counts
#'
#' Explains a table of counts by `k` components, each a distribution over the taxa: latent Dirichlet allocation (also
#' known as multinomial PCA) by default, probabilistic latent semantic analysis without priors. An entropic prior, one
#' for low entropy, makes each site use few components, or each component few taxa; then there may be more components
#' than taxa.
#'
#' @details
#' **Model.** The counts of site \eqn{i} are draws from its own mixture of components:
#' \deqn{P_i(j) = \sum_c g_{ic} w_{cj}}{P_i(j) = sum_c g[i,c] w[c,j]}
#' with `membership` \eqn{g} (n x k) and `basis` \eqn{w} (k x m); the rows of both sum to 1. The log-likelihood is
#' \eqn{\sum_{ij} x_{ij} \log P_i(j)}{sum x[i,j] log P_i(j)}, without the multinomial coefficient. Row totals are fixed,
#' not modelled. `"ml"` is the matrix factorisation by the Kullback-Leibler divergence, up to the scale of rows.
#'
#' **What is assumed.** Counts are independent draws. Do not scale them: counts times five weigh as five times the data.
#' Where one find brings more of its taxon (clumped counts), intervals are too narrow. The sum of `residuals(fit,
#' "pearson")^2` is then far larger than the number of cells less that of parameters.
#'
#' **Estimate.** Memberships have a Dirichlet prior with parameters \eqn{\alpha_c}{alpha[c]} (`prior$membership`), and
#' the basis one with \eqn{\eta}{eta} for all taxa (`prior$basis`).
#' * `"map"`, the default, is the posterior mode. Without `prior` both parameters are 1.1, which adds a tenth of a count
#'   for each component and each taxon. If `x` is not of whole numbers, both parameters are 1, which is flat. With 1.1
#'   the mode predicted unseen halves of held-out sites better than maximum likelihood in 20 of 22 comparisons, on the
#'   tables by which 1.1 was chosen (`bench/lda.md` in the sources).
#' * `"gibbs"` draws from the posterior. In all of 12 fits it predicted held-out halves better than `"map"`: their
#'   perplexity was lower by 2 to 44 %. A fit takes several times as long. [confint()][confint.multicause] gives
#'   posterior intervals of the basis.
#' * `"vb"` is variational Bayes, with a lower bound of the log evidence; `prior = "eb"`, the default there and for
#'   `"gibbs"`, learns the priors from the data. Do not interpret those of `"vb"`: if both parameters were 0.5, `"vb"`
#'   learnt 1.7 to 2.2 for memberships and 0.05 to 0.07 for the basis, `"gibbs"` 0.46 to 0.59 and 0.40 to 0.53.
#' * `"ml"` is maximum likelihood, as in PLSA, KL-NMF and fastTopics. With few counts per site it predicts new sites
#'   badly.
#'
#' [How it estimates][plsa_estimation] has the algorithms, entropic priors (`sparsity`) and neighbours (`smooth`).
#'
#' **Covariates.** With `membership = ~ age + lithology` the prevalence of components follows covariates of sites:
#' \eqn{g_i \sim \mathrm{Dirichlet}(a s_i)}{g[i,] ~ Dirichlet(a s[i,])} with shares \eqn{s_{ic} \propto \exp(z_i'
#' \beta_c)}{s[i,c] proportional to exp(z[i]' beta[,c])} and one concentration \eqn{a}: a variant of
#' Dirichlet-multinomial regression (Mimno and McCallum 2008); there covariates also change the concentration, here they
#' do not. `effects` \eqn{\beta} sum to 0 over components, which makes them unique; the log-odds of the expected shares
#' of component 2 against 1 are \eqn{z_i' (\beta_2 - \beta_1)}{z[i]' (beta[,2] - beta[,1])}. Effects are drawn together
#' with the component of each count (`estimate = "gibbs"`, the default then), so their intervals include the uncertainty
#' of the components and the variation between sites of equal covariates. In simulated corpora of 150 documents each,
#' 110 corpora of 20 counts a document and 110 of 60, 95 % intervals contained 92 to 97 % of the effects. On 12 corpora
#' the root mean square error of slopes of the expected shares was 0.011, and 0.037 by package stm; but the corpora were
#' drawn from the model of `plsa()`, not of stm (`bench/membership.md` in the sources).
#'
#' **Missing cells.** With `missing = "conditional"` the observed counts of a row are multinomial, given that they fell
#' into observed cells. `"paper"` leaves missing cells out of the sum (section 4.1 of Shashanka and others 2007, as we
#' read it) and is kept for comparison: in `vignette("counts")`, with the true basis given, its mean relative error on
#' missing cells of data without noise is 22 %, that of the conditional rule less than 0.001 %. With `"gibbs"`, unknown
#' cells need `"paper"`.
#'
#' **Zeros.** A column without counts gets probability 0 with `"ml"` and flat priors. A row of zeros is an
#' error, unless it has neighbours.
#'
#' **New sites** ([predict()][predict.plsa], [document_completion()], [test_loglik()]) get memberships with the basis
#' fixed, under the same prior.
#'
#' **Cost.** An iteration takes O(k) for each nonzero cell (and each missing one with the conditional rule), and memory
#' O((n + m) k). Sparse tables are never made dense.
#' @param x counts or other non-negative values: n sites as rows, m taxa as columns; `NA` is unknown. Matrix, table,
#'   sparse matrix of package Matrix, data frame, [shards()], a document-term matrix of packages tm or slam, a dfm of
#'   quanteda, or a data frame of documents, terms and counts, as tidytext has it.
#' @param k number of components, at least 1; may exceed n and m.
#' @param ... must be empty.
#' @param sparsity strengths of entropic priors, `c(membership = , basis = )`, in place of Dirichlet priors or, with
#'   `prior`, beside them: above 0 for few large shares, below 0 for even ones. 0 is no prior: if both are 0, without
#'   `prior`, the fit is that of `"ml"`.
#' @param sparsity_scale `"relative"` to the row totals (for the basis: to the sum of all counts / k), or in `"counts"`.
#' @param missing what missing cells mean: `"conditional"` or `"paper"`; see Details.
#' @param mstep the M-step where a strength is positive: `"cccp"` (concave-convex procedure), a quick step towards the
#'   maximum, `"first"`, the maximum as in Shashanka and others (2007), or `"global"`, the best of all maxima; see [How
#'   it estimates][plsa_estimation].
#' @param fixed `"basis"` keeps the basis of `start` fixed and fits memberships only.
#' @param estimate `"map"`, `"vb"`, `"gibbs"` or `"ml"`; see Details. With `membership` it is `"gibbs"`.
#' @param prior Dirichlet priors, `list(membership = , basis = )`: for memberships a number, or one for each component;
#'   for the basis a number. `NULL`: by `estimate`, none with `sparsity`. `"eb"` (empirical Bayes), for `"vb"` and
#'   `"gibbs"`: learnt. With the argument `membership`: `list(effects = , concentration = , basis = )`, each of which
#'   may be left out: the standard deviation (default 1.65) of a normal prior of effects, with covariates scaled to
#'   standard deviation 1; the mean (default `k`) of an exponential prior of the concentration, truncated at 1000; the
#'   Dirichlet parameter of the basis (learnt by default).
#' @param membership `NULL`, or a formula of covariates of sites that memberships follow, such as `~ age`.
#' @param site_data for `membership`, a data frame with a row for each site, such as [site_table()] gives: matched by
#'   row names or a column that holds the sites' names, else taken in the order of `x`.
#' @param smooth `NULL`, or a result of [smooth_over()]: sites near each other have similar memberships.
#' @param start initial values `list(membership = n x k, basis = k x m)`, rows sum to 1, for one start; nothing is then
#'   reordered. With `fixed = "basis"`, `membership` may be left out.
#' @param control settings from [fit_control()], for `"gibbs"` from [mcmc_control()]; `NULL`: their defaults. With
#'   `"gibbs"` `start` may be a fit, whose chains resume.
#' @return A list of class `plsa` (with `"gibbs"` `plsa_gibbs` before it), with
#' \describe{
#'   \item{`param`}{`membership` (n x k) and `basis` (k x m), with the names of `x`; components in order of decreasing
#'     share of all counts, which the print has.}
#'   \item{`objective`, `loglik`}{the maximum reached, named `log_likelihood`, `log_posterior` (with `smooth`
#'     `smoothed_...`), `lower_bound` or `log_joint` (the largest of any draw); the log-likelihood of the observed
#'     cells, in nats.}
#'   \item{`df`}{free parameters: n (k - 1) + k (m - 1), or n (k - 1) with the basis fixed.}
#'   \item{`dims`}{`n`, `m`, `k` and the number of `observed` cells.}
#'   \item{`trace`, `starts`, `converged`}{the objective after each iteration of the best start (with `"gibbs"` a row
#'     for each draw); how each start ended; whether the best one met the tolerance (with `"gibbs"`: whether chains
#'     agree, `NA` for one).}
#'   \item{`estimate`, `prior`}{as requested, chosen or learnt; `prior` is `NULL` with `"ml"` and with `sparsity`
#'     alone.}
#'   \item{`spread`, `last`, `posterior`}{with `"gibbs"` the standard deviations of `param` and the last state of each
#'     chain; with `"vb"` the parameters of the Dirichlets.}
#'   \item{`sparsity`}{the strengths, as `given` on their `scale`, and `effective`: the median over rows of the
#'     memberships' strength divided by the row total, and the basis' strength divided by the sum of all counts / k.}
#'   \item{`perplexity`}{the effective number of components of each row.}
#'   \item{`covariates`, `draws`}{with `membership` (the class `plsa_regression` is then the first): `formula`, and what
#'     makes the design of new sites; draws of `effects` (terms x k x draws) and `concentration`. `param` has means of
#'     these (`effects` terms x k, of the covariates as they are), and `prior$membership` has the parameters of the
#'     Dirichlet prior of an average site: the mean concentration times the mean over sites of expected shares.}
#'   \item{`smooth`, `row_scale`}{the [smooth_over()] used; for each row the total by which its distribution is
#'     multiplied: the sum of its observed counts, divided by the probability of its observed cells.}
#' }
#' @seealso [How it estimates][plsa_estimation], [predict.plsa()], [divergences()], [plca()] for more than two
#'   dimensions and for priors between components.
#' @concept latent Dirichlet allocation
#' @concept LDA
#' @concept multinomial PCA
#' @concept topic model
#' @references Blei DM, Ng AY, Jordan MI (2003). Latent Dirichlet allocation. *Journal of Machine Learning Research* 3,
#'   993-1022.
#'
#'   Buntine W (2002). Variational extensions to EM and multinomial PCA. *Machine Learning: ECML 2002*, 23-34.
#'   \doi{10.1007/3-540-36755-1_3}
#'
#'   Hofmann T (2001). Unsupervised learning by probabilistic latent semantic analysis. *Machine Learning* 42, 177-196.
#'   \doi{10.1023/A:1007617005950}
#'
#'   Mimno D, McCallum A (2008). Topic models conditioned on arbitrary features with Dirichlet-multinomial regression.
#'   *Proceedings of the 24th Conference on Uncertainty in Artificial Intelligence*, 411-418.
#'
#'   Shashanka M, Raj B, Smaragdis P (2007). Sparse overcomplete latent variable decomposition of counts data. *Advances
#'   in Neural Information Processing Systems* 20.
#' @examples
#' set.seed(1)
#' basis <- rbind(woodland = c(5, 4, 1, 0, 0), savanna = c(0, 1, 3, 4, 2)) / 10
#' colnames(basis) <- c("deer", "boar", "hare", "oryx", "lion")
#' membership <- cbind(runif(30), 0)
#' membership[, 2] <- 1 - membership[, 1]
#' x <- t(apply(membership %*% basis, 1, function(p) rmultinom(1, 40, p)))
#' colnames(x) <- colnames(basis)
#' fit <- plsa(x, k = 2)
#' fit
#' top_terms(fit, n = 3) # columns: ?top_terms
#'
#' # draws of the posterior, with intervals of the basis
#' chains <- mcmc_control(chains = 2, warmup = 100, draws = 100, progress = FALSE)
#' confint(plsa(x, k = 2, estimate = "gibbs", control = chains))
#'
#' # prevalence by a covariate
#' depth <- data.frame(depth = membership[, 1] + rnorm(30, 0, 0.2))
#' longer <- mcmc_control(warmup = 500, draws = 1500, thin = 2, progress = FALSE)
#' follows <- plsa(x, k = 2, membership = ~depth, site_data = depth, control = longer)
#' tidy(follows, "log_odds", conf.int = TRUE) # log-odds of A2 against A1; of depth, per unit
#' plot(follows, "membership", "depth")
#'
#' # variational Bayes; more components than taxa, each site using few
#' plsa(x, k = 2, estimate = "vb")
#' plsa(x, k = 6, sparsity = c(membership = 0.1), control = fit_control(n_start = 4))
#' @export
plsa <- function(x, k, ..., sparsity = NULL, sparsity_scale = c("relative", "counts"),
                 missing = c("conditional", "paper"), mstep = c("cccp", "global", "first"), fixed = c("none", "basis"),
                 estimate = c("map", "vb", "gibbs", "ml"), prior = NULL, membership = NULL, site_data = NULL,
                 smooth = NULL, start = NULL, control = NULL) {
  call <- drop_nulls(match.call(), list(prior = prior, sparsity = sparsity, control = control))
  check_dots(...)
  if (!is.null(membership)) estimate <- regression_estimate(estimate)
  settings <- list(
    given = check_sparsity(sparsity), sparse = !is.null(sparsity),
    scale = check_choice(sparsity_scale),
    missing = check_choice(missing),
    mstep = check_choice(mstep),
    fixed = check_choice(fixed),
    estimate = check_choice(estimate)
  )
  control <- control_by_estimate(control, settings$estimate)
  check_given(x, k)
  call <- keep_values(call, c(settings[c("missing", "mstep", "fixed", "estimate")], list(
    sparsity = sparsity, sparsity_scale = settings$scale, prior = prior, membership = membership, site_data = site_data,
    smooth = check_smooth(smooth), start = start
  )))
  check_membership_data(membership, site_data, x)
  if (in_pieces(x)) {
    return(fit_pieces(x, "plsa", k, c(settings, list(prior = prior, smooth = smooth)), start, control, call))
  }
  data <- check_data(x, "nonnegative")
  if (is.null(smooth)) {
    sums <- if (inherits(x, "simple_triplet_matrix")) "slam::row_sums(x)" else "rowSums(x, na.rm = TRUE)"
    refuse_empty_rows(data$margins, rownames(data$x), sums)
  }
  k <- check_k(k, dim(data$x))
  if (settings$fixed == "basis" && is.null(start)) {
    stop_input("`fixed = \"basis\"` needs `start = list(basis = k x m matrix)`.")
  }
  if (!is.null(membership)) {
    settings <- plsa_follow(settings, membership, site_data, data, k, prior, smooth)
    return(plsa_gibbs(plsa_gibbs_problem(data, k, settings, control, "plsa_regression_problem"), start, call))
  }
  dirichlet <- plsa_settle_prior(prior, settings, k, smooth, tell_whole(data$view, prior, settings$estimate))
  settings[c("dirichlet", "learn")] <- dirichlet[c("value", "learn")]
  if (settings$estimate == "gibbs") {
    return(plsa_gibbs(plsa_gibbs_problem(data, k, settings, control), start, call))
  }
  settings$prior <- plsa_prior(settings, data$margins$row_sum, k)
  bayes <- settings$estimate == "vb"
  problem <- structure(
    list(data = data, values = "nonnegative", k = k, settings = settings),
    class = c(if (bayes) "plsa_vb_problem", "plsa_problem", "multicause_problem")
  )
  problem$start <- if (!is.null(start)) plsa_check_start(start, data, k, settings$fixed)
  smooth <- set_smooth(smooth, problem, control)
  problem$near <- settings$near <- smooth_lists(smooth)
  started <- run_starts(problem, control)
  # Components that the prior distinguishes keep its order.
  if (is.null(start) && length(unique(dirichlet$value$membership)) < 2L) {
    by_share <- function(param) order(-colSums(param$membership * data$margins$row_sum))
    started <- reorder_runs(started, by_share, if (bayes) plsa_vb_permute else plsa_permute)
  }
  plsa_new_fit(started, data, k, settings, control, call, smooth)
}

# Tests whether all cells are whole numbers; reports that the default priors, which are for these, are left out.
tell_whole <- function(view, prior, estimate) {
  whole <- is_whole(view)
  if (!whole && is.null(prior) && estimate == "map") {
    inform("`x` is not of whole numbers, so the default priors, a tenth of a count, are left out.")
  }
  whole
}

# The estimate with `membership`, unless one was chosen: effects have intervals by draws alone.
regression_estimate <- function(estimate) if (identical(estimate, eval(formals(plsa)$estimate))) "gibbs" else estimate

# The composition of a row without counts is unidentified, unless it has neighbours. A fold may have held out a row's
# counts: see quiet_fit().
refuse_empty_rows <- function(margins, names, sums) {
  empty <- which(margins$row_sum == 0 & margins$row_observed > 0)
  if (!length(empty)) {
    return(invisible())
  }
  rest <- if (length(empty) == 1L) {
    sprintf("-%d", empty)
  } else if (length(empty) <= 5L) {
    sprintf("-c(%s)", paste(empty, collapse = ", "))
  } else {
    paste(sums, "> 0")
  }
  withRestarts(
    stop_input(
      "`x` must have counts in every row: %s of %d %s none, %s. Leave out what is empty, `x[%s, ]`.",
      format_big(length(empty)), length(margins$row_sum), if (length(empty) == 1L) "has" else "have",
      show_names(as.character(label_of(empty, names))), rest, class = "multicause_empty_rows"
    ),
    hidden_by_us = function() NULL
  )
}

# Returns the condition of refuse_empty_rows() for a table of many fits, NULL if no row is empty. Fits of plsa() are
# refused at once; a user's function that calls it is refused only when it does, see quiet_fit().
own_empty_rows <- function(x, settings) {
  if (!is_table(x) || !(inherits(x, "dgCMatrix") || is.matrix(x) && is_plain(x))) {
    return(NULL)
  }
  sums <- row_sums(x, na.rm = TRUE)
  margins <- list(row_sum = sums, row_observed = ncol(x) - row_sums(is.na(x)))
  refusal <- tryCatch(refuse_empty_rows(margins, rownames(x), "rowSums(x, na.rm = TRUE)"),
    multicause_empty_rows = identity)
  refuses <- function(setting) identical(setting$model, plsa) && is.null(setting$args$smooth)
  if (!is.null(refusal) && any(vapply(settings, refuses, NA))) stop(refusal)
  refusal
}

check_sparsity <- function(sparsity) {
  if (is.null(sparsity)) sparsity <- c(membership = 0)
  known <- c("membership", "basis")
  ok <- is.numeric(sparsity) && length(sparsity) && all(is.finite(sparsity)) && all(names(sparsity) %in% known) &&
    length(names(sparsity)) == length(sparsity) && !anyDuplicated(names(sparsity))
  if (!ok) {
    stop_input(
      "`sparsity` must be finite numbers named \"membership\", \"basis\" or both, not %s.", show_value(sparsity)
    )
  }
  out <- c(membership = 0, basis = 0)
  out[names(sparsity)] <- sparsity
  out
}

# Converts strengths to counts: one for every row (none if the prior is 0) and one for all components; adds the
# pseudo-counts of a Dirichlet prior.
plsa_prior <- function(settings, row_total, k) {
  relative <- settings$scale == "relative"
  given <- settings$given
  plsa_kernel_prior(
    if (settings$estimate == "map") settings$dirichlet, k,
    membership = if (given[["membership"]] != 0) given[["membership"]] * if (relative) row_total else 1 + 0 * row_total,
    basis = given[["basis"]] * if (relative) sum(row_total) / k else 1
  )
}

# Computes strengths relative to the counts that they compete with.
effective_sparsity <- function(prior, row_total, k) {
  share <- prior$membership[row_total > 0] / row_total[row_total > 0]
  c(
    membership = if (length(share)) stats::median(share) else 0,
    basis = if (prior$basis == 0) 0 else prior$basis / (sum(row_total) / k)
  )
}

strong_sparsity <- 0.1 # effective strength above which annealed starts are worth their time

plsa_new_fit <- function(run, data, k, settings, control, call, smooth = NULL) {
  param <- run$best$param
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  dimnames(param$membership) <- list(names[[1L]], labels)
  dimnames(param$basis) <- list(labels, names[[2L]])
  prior <- settings$prior
  state <- param$state
  param$state <- NULL
  plain <- plsa_is_plain(prior) && is.null(state)
  near <- settings$near
  loglik <- if (plain && is.null(near)) run$best$outcome$objective else plsa_loglik(data$view, param, settings)
  free <- nrow(data$x) * (k - 1)
  objective <- if (!is.null(state)) "lower_bound" else if (plain) "log_likelihood" else "log_posterior"
  if (!is.null(state)) {
    posterior <- plsa_vb_posterior(state)
    if (settings$fixed == "basis") posterior$basis <- NULL
    for (part in names(posterior)) dimnames(posterior[[part]]) <- dimnames(param[[part]])
    if (settings$learn) {
      settings$dirichlet <- list(membership = state$prior[seq_len(k)], basis = state$prior[k + 1L])
    }
  }
  fit <- assemble_fit(
    run, data, k, smoothed_name(objective, near), control, call,
    param = param, loglik = loglik, posterior = if (!is.null(state)) posterior, estimate = settings$estimate,
    prior = settings$dirichlet, df = free + if (settings$fixed == "basis") 0 else k * (ncol(data$x) - 1),
    class = "plsa", missing = settings$missing, mstep = settings$mstep, fixed = settings$fixed,
    sparsity = list(
      given = settings$given, scale = settings$scale, effective = effective_sparsity(prior, data$margins$row_sum, k)
    ),
    perplexity = perplexity(param$membership), row_scale = plsa_row_scale(data$view, param, data$margins$row_sum),
    margins = data$margins, smooth = smooth
  )
  warn_collapse(fit)
  validate_plsa(fit)
}

# Warns of a prior so strong that each row is one component.
warn_collapse <- function(fit) {
  counted <- fit$margins$row_sum > 0
  single <- mean(fit$perplexity[counted] < 1.01)
  if (fit$dims[["k"]] == 1L || fit$sparsity$given[["membership"]] <= 0 || !any(counted) || single <= 0.9) {
    return(invisible())
  }
  warning(warningCondition(
    sprintf(
      paste(
        "The prior has collapsed %.0f %% of the rows to one component each (effective strength %s of the row total):",
        "a smaller `sparsity` lets them mix."
      ),
      100 * single, format(fit$sparsity$effective[["membership"]], digits = 2L)
    ),
    class = "multicause_collapse", call = NULL
  ))
}

# Runs plsa(): kinds of starts, the kernel, the exact M-step at the end, annealing.

# With a strong prior a start without annealing ends in the nearest sparse solution.
start_kinds.plsa_problem <- function(problem, control) {
  if (problem$k == 1L) {
    return("uniform")
  }
  given <- problem$settings$given
  strong <- problem$settings$scale == "counts" || any(given > strong_sparsity)
  rep_len(if (strong && any(given > 0)) c("uniform", "annealed") else "uniform", control$n_start)
}

draw_start.plsa_problem <- function(problem, kind) {
  size <- dim(problem$data$x)
  list(
    membership = random_simplex(size[1L], problem$k), basis = random_simplex(problem$k, size[2L]),
    anneal = kind == "annealed"
  )
}

run_start.plsa_problem <- function(problem, start, control) {
  settings <- problem$settings
  settings$near <- problem$near
  plsa_run(problem$data$view, start, settings, control)
}

# Iterates to convergence; after the approximate M-step an exact one follows, and iterations resume if it moved.
plsa_run <- function(view, start, settings, control) {
  if (isTRUE(start$anneal)) start <- plsa_anneal(view, start, settings, control)
  result <- plsa_iterations(view, start, settings, control)
  prior <- settings$prior
  cheap <- settings$mstep == "cccp" && (any(prior$membership > 0) || prior$basis > 0)
  if (!cheap || !control$accelerate) {
    return(result)
  }
  further <- function(result, control, rule) {
    more <- plsa_iterations(view, result$param, settings, control, rule = rule)
    check_outcome(more$outcome)
    add_iterations(result, more)
  }
  one <- control
  one[c("max_iter", "accelerate")] <- list(1L, FALSE)
  most <- control$max_iter
  while (result$outcome$status == "converged" && most - result$outcome$n_iter > 1L) {
    before <- result$outcome$objective
    result <- further(result, one, "global")
    if (result$outcome$objective - before <= control$tol * abs(before)) {
      result$outcome$status <- "converged"
      break
    }
    result$outcome$status <- "max_iter"
    control$max_iter <- most - result$outcome$n_iter
    result <- further(result, control, settings$mstep)
  }
  result
}

# Raises the prior from 0 to its strength over 100 plain iterations.
plsa_anneal <- function(view, start, settings, control) {
  control$accelerate <- FALSE
  control$tol <- 0
  control$max_iter <- 5L
  for (share in seq(0, 0.95, 0.05)) {
    prior <- lapply(settings$prior, function(strength) share * strength)
    result <- plsa_iterations(view, start, settings, control, prior = prior)
    check_outcome(result$outcome)
    start <- result$param
  }
  start
}
