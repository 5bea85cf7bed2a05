#' Latent Dirichlet allocation (LDA) and probabilistic latent semantic analysis (PLSA) of counts
#'
#' Explains a table of counts by `k` components, each a distribution over the taxa: with Dirichlet priors, the default,
#' latent Dirichlet allocation, known as multinomial PCA, too; without, probabilistic latent semantic analysis. An
#' entropic prior in their place makes each site use few components, or the basis sparse, and allows more components
#' than there are taxa.
#'
#' @details
#' **Model.** The counts of site \eqn{i} are draws from its own mixture of components:
#' \deqn{P_i(j) = \sum_c g_{ic} w_{cj}}{P_i(j) = sum_c g[i,c] w[c,j]}
#' with `membership` \eqn{g} (n x k) and `basis` \eqn{w} (k x m), rows of both on the simplex. The log-likelihood is
#' \eqn{\sum_{ij} x_{ij} \log P_i(j)}{sum x[i,j] log P_i(j)}, without the multinomial coefficient, so real
#' non-negative data will do. Row totals are given, not modelled. This is the matrix factorisation that minimises the
#' Kullback-Leibler divergence (KL-NMF), except for scale.
#'
#' **Priors.** Each site's memberships are Dirichlet with parameters \eqn{\alpha_c}{alpha[c]}, `prior$membership`, and
#' each component's basis is Dirichlet with the same \eqn{\eta}{eta} for all taxa, `prior$basis`. `estimate` says what
#' is made of it:
#' * `"map"`, the default, climbs to the posterior mode. The prior adds \eqn{\alpha_c - 1}{alpha[c] - 1} and
#'   \eqn{\eta - 1}{eta - 1}, both at least 0, to the expected counts of EM. Without `prior` both are 1.1: a tenth of a
#'   count more for each component and taxon. On twelve tables of counts, on which it was also chosen, this predicted
#'   unseen halves of held-out sites better than maximum likelihood in 20 of 22 comparisons with k of 5 and 20, and by
#'   far where sites have few counts (`bench/lda.md` in the sources). It is the default because it is quick and takes
#'   all data and arguments, not because it is best: `"gibbs"` predicts better, and so does package stm in 8 of 12 fits.
#'   A prior is in counts: where `x` is not of whole numbers, such as shares, nothing says how much a tenth is, and the
#'   default is flat.
#' * `"vb"` is variational Bayes (Blei, Ng and Jordan 2003, section 5.4), for memberships and basis: independent
#'   Dirichlets, whose parameters are `posterior` and whose means `param`, and a lower bound of the log evidence, which
#'   is climbed. Parameters of the prior need only be above 0. `"eb"`, the default here, learns them from the data by
#'   fixed-point steps that raise the bound (Minka 2000): an \eqn{\alpha_c}{alpha[c]} for each component, so that some
#'   are in most sites and others in few (Wallach, Mimno and McCallum 2009), and one \eqn{\eta}{eta}, all within
#'   \[0.001, 1000\].
#' * `"gibbs"` draws from the posterior: the component of every single count, given those of all others, memberships
#'   and basis integrated out (Griffiths and Steyvers 2004, eq. (5)). In 11 of 12 fits the perplexity of hidden halves
#'   of sites was lower than by the default, by 3 to 42 %, most where components were most, and a fit took 3 to 5 times
#'   as long (`bench/lda.md`). `param` are means over the draws of all chains, whose components are matched, `spread`
#'   standard deviations, and [confint()][confint.plsa_gibbs] gives intervals of the basis. `control` is
#'   [mcmc_control()]. Chains begin at posterior modes of their own, or, with `init = "prior"`, at random. Whether they
#'   agree is judged by the log joint density of counts and components and by a few cells. Within a chain labels stay:
#'   where components are hardly told apart, they may swap, and means are blurred. The prior is as of `"vb"`; `"eb"`,
#'   the default, learns it by fixed-point steps between the sweeps of a first chain as long as a warm-up (Minka 2000,
#'   eq. (55)), and is then held. `x` must be whole counts, and unknown cells need `missing = "paper"`. `sparsity`,
#'   `smooth` and `fixed` do not go with it.
#' * `"ml"` has no prior: maximum likelihood, as of PLSA, KL-NMF and fastTopics. With few counts a site its memberships
#'   rest on one or two counts, and new sites are predicted badly.
#'
#' New sites ([predict()][predict.plsa], [document_completion()], [test_loglik()]) are folded in under the same prior.
#'
#' **Sparsity.** `sparsity` is another prior, in place of the Dirichlets, and goes with `"map"`. It adds \eqn{\beta
#' \sum_i \sum_c g_{ic} \log g_{ic}}{beta sum g log g}, and the same of the basis, to the log-likelihood. Positive
#' values favour few large shares, negative ones even shares. What counts is
#' \eqn{\beta} in proportion to the row total, because the prior competes with the row's counts; so with
#' `sparsity_scale = "relative"` the number given is that proportion (for the basis: in proportion to the mean total of
#' a component, N / k), and with `"counts"` it is \eqn{\beta} itself, as in the paper, which does not state the scale of
#' its data. Useful relative values lie between 0.002 and 0.1; from about 0.3 rows collapse to one component each, and a
#' warning says so. The fit prints the effective strength and the perplexity of the memberships: the number of
#' components a site uses, \eqn{\exp(-\sum_c g_{ic} \log g_{ic})}{exp(-sum g log g)}, 1 to k.
#'
#' **Estimation.** EM: one E-step for both factors, then their M-steps. With `sparsity` the M-step is one step of the
#' concave-convex procedure (`mstep = "cccp"`: the convex part is replaced by its tangent, which costs little and never
#' lowers the objective) and the exact maximum only at the end; `"global"` and `"first"` make the
#' exact step in every pass. They differ where a strength exceeds the largest of many nearly equal counts: `"first"` is
#' the paper's solution, `"global"` the better of all maxima. With `accelerate = TRUE` (see [fit_control()]) passes are
#' accelerated; with `"ml"`, and no neighbours or missing cells, those after the first 20 are, up to `k = 100`, Newton
#' passes on the equivalent Poisson factorisation: each row, then each column, takes one Newton step with its bounds
#' kept in the quadratic problem, which cannot lower the likelihood (Tran-Dinh, Kyrillidis and Cevher 2015) and makes
#' shares exactly 0; `algorithm = "em"` in [fit_control()] leaves these out. With `accelerate = FALSE` a pass is one
#' E-step and one `mstep` for both factors. Where the effective strength exceeds 0.1, every other start raises the prior
#' step by step (`init` is `"annealed"`), and the better kind wins.
#'
#' **Missing cells.** With `missing = "conditional"` the observed counts of a row are multinomial given that they fell
#' into observed cells: each cell's probability is divided by \eqn{P_i}(observed), and EM imputes the missing cells at
#' their expected counts. `missing = "paper"` is the rule of the paper's section 4.1 as we read it: missing cells are
#' left out of the sum and nothing is divided. It favours components with large probabilities in the observed cells,
#' and is biased even for data without noise. In `vignette("counts")` it misses the missing cells of such data by 22 %
#' on average, the conditional rule by less than 0.001 %. It is kept for comparison. Both rules fill missing cells by
#' the paper's formula \eqn{P_i(j) N_i / P_i}(observed).
#'
#' **Neighbours.** With `smooth` (see [smooth_over()]) sites near each other have similar memberships. To the
#' objective is added \eqn{s \sum_i \log \sum_c \sqrt{g_{ic} \bar g_{ic}}}{s sum_i log sum_c sqrt(g[i,c] mean_i[c])}
#' with \eqn{\bar g_i}{mean_i} the average of the neighbours of site i and \eqn{s} the `strength`, in counts:
#' 10 weighs little against a row total of 1000. Passes are EM passes. `recording` has no meaning here.
#'
#' **Zeros.** By maximum likelihood an exact 0 never moves under EM, so starts hold none; under Newton passes it can
#' come back. A column without counts gets probability 0. With a Dirichlet prior above 1 nothing is 0. A row of zeros
#' alone is refused, unless it has neighbours: nothing else tells what it is made of.
#'
#' **Shards.** `x` may be a result of [shards()], with `"map"` and `"ml"`, passes of EM and without `sparsity`, `smooth`
#' and `fixed`; see there. The result has class `plsa_shards`.
#'
#' **Cost.** A pass takes O(k) for each nonzero cell (and each missing one with the conditional rule), and memory
#' O((n + m) k): sparse tables are never made dense. Where more than 12 % of cells are nonzero, EM uses matrix products.
#' A sweep of `"gibbs"` costs, for each single count, as many steps as its taxon has components with counts, at most k,
#' and a few more (Yao, Mimno and McCallum 2009); a draw O(counts) more, and memory is 4 bytes a count besides.
#'
#' @param x counts or other non-negative values: n sites as rows, m taxa as columns; `NA` is unknown.
#'   Or [shards()].
#'   Matrix, table, sparse matrix of package Matrix, or data frame (see [aspect_bernoulli()]); a document-term matrix of
#'   packages tm or slam, a dfm of quanteda, or a data frame of documents, terms and counts, as tidytext has it.
#' @param k number of components, at least 1; may exceed n and m.
#' @param ... must be empty.
#' @param sparsity strengths of entropic priors, `c(membership = , basis = )`, in place of `prior`; any sign, and 0 is
#'   none: with it alone the fit is that of `"ml"`.
#' @param sparsity_scale `"relative"` to the row totals (for the basis: to N / k), or in `"counts"`.
#' @param missing what missing cells mean: `"conditional"` or `"paper"`; see Details.
#' @param mstep how the M-step is made where a strength is positive: `"cccp"`, `"global"` or `"first"`.
#' @param fixed `"basis"` holds the basis of `start` and fits memberships alone.
#' @param estimate `"map"`, `"vb"`, `"gibbs"` or `"ml"`; see Details.
#' @param prior Dirichlet priors, `list(membership = , basis = )`: for memberships a number, or one for each component;
#'   for the basis a number. `NULL`: by `estimate`. `"eb"`, for `"vb"` and `"gibbs"`: learnt.
#' @param smooth `NULL`, or a result of [smooth_over()]: sites near each other have similar memberships.
#' @param start initial values `list(membership = n x k, basis = k x m)`, rows sum to 1, for one start; nothing is then
#'   reordered. With `fixed = "basis"`, `membership` may be left out.
#' @param control settings from [fit_control()], for `"gibbs"` from [mcmc_control()]; `NULL`: their defaults. With
#'   `"gibbs"` `start` may be a fit, whose chains go on.
#' @return A list of class `plsa` (with `"gibbs"` `plsa_gibbs` before it), with
#' \describe{
#'   \item{`param`}{`membership` (n x k) and `basis` (k x m), rows sum to 1, with the names of `x`; components in
#'     order of decreasing share of the counts.}
#'   \item{`objective`, `loglik`}{the maximum reached, named `log_likelihood`, `log_posterior` (with `smooth`
#'     `smoothed_...`), `lower_bound` or `log_joint` (the largest of any draw), and the log-likelihood of the
#'     observed cells by the rule of `missing`, in nats.}
#'   \item{`df`}{number of free parameters: n (k - 1) + k (m - 1), or n (k - 1) with the basis fixed.}
#'   \item{`dims`}{`n`, `m`, `k` and the number of `observed` cells.}
#'   \item{`trace`, `starts`, `converged`}{the objective after every pass of the best start; what became of each start;
#'     whether the best one met the tolerance.}
#'   \item{`estimate`, `prior`}{as asked for, or as chosen or learnt; `prior` is `NULL` with `"ml"` and `sparsity`.}
#'   \item{`spread`, `last`}{with `"gibbs"`: standard deviations of `param`, and the last state of each chain. `trace`
#'     has a row for each draw, `converged` says whether chains agree (`NA`: a single one).}
#'   \item{`posterior`}{with `"vb"`, parameters of the Dirichlets: `membership` (n x k) and `basis` (k x m).}
#'   \item{`sparsity`}{`given`, `scale`, `effective` (median over rows of beta / row total, and alpha / (N / k)).}
#'   \item{`perplexity`}{of every membership row, named as the rows.}
#'   \item{`smooth`}{with `smooth`, the [smooth_over()] used; see [aspect_bernoulli()].}
#'   \item{`row_scale`}{for every row the total that its distribution is multiplied by: N / P(observed).}
#' }
#' @seealso [predict.plsa()], [divergences()], [plca()] for more than two dimensions
#'   and for priors between components.
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
#'   Griffiths TL, Steyvers M (2004). Finding scientific topics. *Proceedings of the National Academy of Sciences* 101,
#'   5228-5235. \doi{10.1073/pnas.0307752101}
#'
#'   Yao L, Mimno D, McCallum A (2009). Efficient methods for topic model inference on streaming document collections.
#'   *Proceedings of the 15th ACM SIGKDD International Conference on Knowledge Discovery and Data Mining*, 937-946.
#'   \doi{10.1145/1557019.1557121}
#'
#'   Asuncion A, Welling M, Smyth P, Teh YW (2009). On smoothing and inference for topic models. *Proceedings of the
#'   25th Conference on Uncertainty in Artificial Intelligence*, 27-34.
#'
#'   Minka TP (2000). Estimating a Dirichlet distribution. Technical report, Massachusetts Institute of Technology.
#'
#'   Wallach HM, Mimno D, McCallum A (2009). Rethinking LDA: why priors matter. *Advances in Neural Information
#'   Processing Systems* 22.
#'
#'   Shashanka M, Raj B, Smaragdis P (2007). Sparse overcomplete latent variable decomposition of counts
#'   data. *Advances in Neural Information Processing Systems* 20.
#'
#'   Hofmann T (2001). Unsupervised learning by probabilistic latent semantic analysis. *Machine Learning* 42, 177-196.
#'   \doi{10.1023/A:1007617005950}
#'
#'   Tran-Dinh Q, Kyrillidis A, Cevher V (2015). Composite self-concordant minimization. *Journal of Machine Learning
#'   Research* 16, 371-416.
#' @examples
#' set.seed(1)
#' basis <- rbind(woodland = c(5, 4, 1, 0, 0), savanna = c(0, 1, 3, 4, 2)) / 10
#' membership <- cbind(runif(30), 0)
#' membership[, 2] <- 1 - membership[, 1]
#' x <- t(apply(membership %*% basis, 1, function(p) rmultinom(1, 40, p)))
#' fit <- plsa(x, k = 2)
#' fit
#' round(fit$param$basis, 2)
#'
#' # variational Bayes, whose priors are learnt
#' plsa(x, k = 2, estimate = "vb")$prior
#'
#' # draws of the posterior, with intervals of the basis
#' chains <- mcmc_control(chains = 2, warmup = 100, draws = 100, progress = FALSE)
#' sampled <- plsa(x, k = 2, estimate = "gibbs", control = chains)
#' confint(sampled)
#'
#' # maximum likelihood
#' plsa(x, k = 2, estimate = "ml")
#'
#' # more components than taxa, each site using few of them
#' plsa(x, k = 6, sparsity = c(membership = 0.1), control = fit_control(n_start = 4))
#' @export
plsa <- function(x, k, ..., sparsity = NULL, sparsity_scale = c("relative", "counts"),
                 missing = c("conditional", "paper"), mstep = c("cccp", "global", "first"), fixed = c("none", "basis"),
                 estimate = c("map", "vb", "gibbs", "ml"), prior = NULL, smooth = NULL, start = NULL,
                 control = NULL) {
  call <- drop_nulls(match.call(), list(prior = prior, sparsity = sparsity, control = control))
  check_dots(...)
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
    sparsity = sparsity, sparsity_scale = settings$scale, prior = prior, smooth = check_smooth(smooth), start = start
  )))
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
  dirichlet <- plsa_settle_prior(prior, settings, k, smooth, is_whole(data$view))
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
  # Components that the prior tells apart are in its order.
  if (is.null(start) && length(unique(dirichlet$value$membership)) < 2L) {
    by_share <- function(param) order(-colSums(param$membership * data$margins$row_sum))
    started <- reorder_runs(started, by_share, if (bayes) plsa_vb_permute else plsa_permute)
  }
  plsa_new_fit(started, data, k, settings, control, call, smooth)
}

# Nothing tells what a row without counts is made of, unless it has neighbours. A fold may have hidden those of a row:
# see quiet_fit().
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

# What refuse_empty_rows() says of a table that is given to many fits, as a condition, NULL where no row is empty. Fits
# of plsa() itself are refused at once; a function of the user's that calls it is when it does, see quiet_fit().
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

# Strengths in counts: one for every row (none where the prior is 0) and one for all components. And what a Dirichlet
# prior adds.
plsa_prior <- function(settings, row_total, k) {
  relative <- settings$scale == "relative"
  given <- settings$given
  plsa_kernel_prior(
    if (settings$estimate == "map") settings$dirichlet, k,
    membership = if (given[["membership"]] != 0) given[["membership"]] * if (relative) row_total else 1 + 0 * row_total,
    basis = given[["basis"]] * if (relative) sum(row_total) / k else 1
  )
}

# Strengths in proportion to what they compete with.
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

# A prior past its use: rows that are each one component.
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

# How plsa() runs: kinds of starts, the kernel, the exact M-step at the end, annealing.

# A cold start falls into the nearest sparse solution where the prior is strong.
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

# Passes to convergence; where they made the cheap M-step, an exact one at the end, and on from there if that moved.
plsa_run <- function(view, start, settings, control) {
  if (isTRUE(start$anneal)) start <- plsa_anneal(view, start, settings, control)
  result <- plsa_passes(view, start, settings, control)
  prior <- settings$prior
  cheap <- settings$mstep == "cccp" && (any(prior$membership > 0) || prior$basis > 0)
  if (!cheap || !control$accelerate) {
    return(result)
  }
  further <- function(result, control, rule) {
    more <- plsa_passes(view, result$param, settings, control, rule = rule)
    check_outcome(more$outcome)
    add_passes(result, more)
  }
  one <- control
  one[c("max_pass", "accelerate")] <- list(1L, FALSE)
  most <- control$max_pass
  while (result$outcome$status == "converged" && most - result$outcome$n_pass > 1L) {
    before <- result$outcome$objective
    result <- further(result, one, "global")
    if (result$outcome$objective - before <= control$tol * abs(before)) {
      result$outcome$status <- "converged"
      break
    }
    result$outcome$status <- "max_pass"
    control$max_pass <- most - result$outcome$n_pass
    result <- further(result, control, settings$mstep)
  }
  result
}

# The prior raised from 0 to its strength over 100 plain passes.
plsa_anneal <- function(view, start, settings, control) {
  control$accelerate <- FALSE
  control$tol <- 0
  control$max_pass <- 5L
  for (share in seq(0, 0.95, 0.05)) {
    prior <- lapply(settings$prior, function(strength) share * strength)
    result <- plsa_passes(view, start, settings, control, prior = prior)
    check_outcome(result$outcome)
    start <- result$param
  }
  start
}
