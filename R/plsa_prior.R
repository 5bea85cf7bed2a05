# Dirichlet priors of plsa(), which make it latent Dirichlet allocation (src/plsa/plsa.h). Kernels get a number for each
# component, and one for all taxa of all components.

plsa_bayes <- c("vb", "gibbs") # estimates of the whole posterior

# Without counts the size of pseudo-counts is undefined.
plsa_default_prior <- function(estimate, whole) {
  if (estimate %in% plsa_bayes) {
    return("eb")
  }
  value <- if (whole) 1.1 else 1
  list(membership = value, basis = value)
}

# Initial values of learning the prior.
plsa_eb_start <- list(membership = 0.3, basis = 0.1)

# Checks list(membership = one number or k, basis = one number); variational Bayes accepts parameters below 1.
plsa_check_prior <- function(prior, k, bayes) {
  check_prior_parts(prior, c("membership", "basis"), sprintf(
    "list(membership = a number or %s, basis = a number)%s", count_words(k, "number"), if (bayes) " or \"eb\"" else ""
  ))
  wish <- sprintf("a number, or %s,", count_words(k, "number"))
  list(
    membership = check_dirichlet(prior$membership, "prior$membership", c(1L, k), wish, bayes),
    basis = check_dirichlet(prior$basis, "prior$basis", 1L, "a number", bayes)
  )
}

# Returns the prior to use: list(value = NULL, or a checked list; learn). `whole`: whether the data are counts.
plsa_settle_prior <- function(prior, settings, k, smooth, whole) {
  estimate <- settings$estimate
  plsa_check_together(prior, settings, smooth)
  if (estimate == "ml" || settings$sparse && is.null(prior)) {
    return(list(value = NULL, learn = FALSE))
  }
  if (is.null(prior)) prior <- plsa_default_prior(estimate, whole)
  bayes <- estimate %in% plsa_bayes
  learn <- bayes && identical(prior, "eb")
  list(value = plsa_check_prior(if (learn) plsa_eb_start else prior, k, bayes), learn = learn)
}

plsa_check_together <- function(prior, settings, smooth) {
  estimate <- settings$estimate
  bayes <- estimate %in% plsa_bayes
  if (settings$sparse) check_sparse_estimate(settings$given, estimate)
  if (identical(prior, "eb") && !bayes) {
    stop_input("`prior = \"eb\"` goes with `estimate` \"vb\" and \"gibbs\", not with \"%s\".", estimate)
  }
  if (estimate == "ml" && !is.null(prior)) {
    stop_input("`estimate = \"ml\"` has no `prior`: take \"map\", \"vb\" or \"gibbs\".")
  }
  if (bayes && !is.null(smooth)) stop_input("`smooth` does not go with `estimate = \"%s\"`.", estimate)
  if (estimate == "gibbs" && settings$fixed == "basis") {
    stop_input("`fixed` does not go with `estimate = \"gibbs\"`: take \"vb\".")
  }
}

# Entropic priors have posterior modes; strengths of 0 are no prior.
check_sparse_estimate <- function(given, estimate) {
  if (estimate %in% plsa_bayes || estimate == "ml" && any(unlist(given) != 0)) {
    stop_input("`sparsity` is a prior: it goes with `estimate = \"map\"`, not with \"%s\".", estimate)
  }
}

# Returns priors in the kernel's form: strengths of sparsity, and the pseudo-counts that a Dirichlet prior adds
# to the expected counts of a posterior mode (without one NULL and 0).
plsa_kernel_prior <- function(dirichlet = NULL, k = 1L, membership = NULL, basis = 0) {
  rows <- if (!is.null(dirichlet)) rep_len(dirichlet$membership, k) - 1
  list(
    membership = membership, basis = basis,
    row_added = if (any(rows > 0)) rows, basis_added = if (is.null(dirichlet)) 0 else dirichlet$basis - 1
  )
}

plsa_is_plain <- function(prior) {
  is.null(prior$membership) && prior$basis == 0 && is.null(prior$row_added) && prior$basis_added == 0
}

#' How LDA and PLSA are estimated: priors, sparsity, iterations, neighbours
#'
#' Details of the arguments `estimate`, `prior`, `sparsity`, `mstep` and `smooth` of [plsa()], whose own page has the
#' call.
#'
#' @details
#' **Posterior mode.** The priors add \eqn{\alpha_c - 1}{alpha[c] - 1} and \eqn{\eta - 1}{eta - 1}, both at least 0, to
#' the expected counts of EM. A prior is in counts, so it is flat by default if `x` is not of whole numbers, such as
#' shares. `"map"` is the default because it is quick and takes all data and arguments. Other packages predicted better
#' in 9 of 12 fits, package stm in 8 of these (`bench/lda.md` in the sources).
#'
#' **Variational Bayes** (Blei and others 2003, section 5.4) has independent Dirichlets for memberships and basis, whose
#' parameters are `posterior` and whose means are `param`. With `"eb"` fixed-point steps that raise the bound learn an
#' \eqn{\alpha_c}{alpha[c]} for each component and one \eqn{\eta}{eta}, within \[0.001, 1000\] (Minka 2000; Wallach and
#' others 2009).
#'
#' **Sampling.** `"gibbs"` draws the component of each single count, with memberships and basis integrated out
#' (Griffiths and Steyvers 2004, eq. (5); sparse sums as Yao and others 2009). `param` are means over the draws of all
#' chains, whose components are matched. Chains begin at posterior modes of their own, or, with `init = "prior"` in
#' [mcmc_control()], at random; the log joint density and a few cells decide whether they agree. Components that are
#' hardly distinct may swap within a chain, which blurs means. With `"eb"` the prior is learnt in a first chain and then
#' fixed. `x` must be whole counts, unknown cells need `missing = "paper"`, and `sparsity`, `smooth` and `fixed` do not
#' go with it. In 900 tables drawn from the prior, the ranks of the true values among the draws did not depart from
#' uniform, as expected of a correct sampler ([calibration()]).
#'
#' **Covariates.** With `membership` each sweep also draws the concentration, by slice sampling given the components of
#' the counts, and the effects. Given the numbers of tables of Chinese restaurants, one for each site and component, at
#' which these counts sit, effects have the likelihood of a multinomial logistic regression; they are drawn together, by
#' Metropolis-Hastings about its mode. So a sweep takes O(n k^2 d^2) more for d terms. The prior of the basis is learnt
#' in a first chain without covariates.
#'
#' **Sparsity** is an entropic prior and goes with `"map"`. It adds \eqn{\beta \sum_i \sum_c g_{ic} \log g_{ic}}{beta
#' sum g log g}, and the same of the basis, to the log-likelihood. Positive values favour few large shares, negative
#' ones even shares. Alone it replaces the default Dirichlets. With `prior` the objective has both, and M-steps are
#' those of sparsity with the Dirichlets' pseudo-counts: `sparsity = c(membership = 0.05), prior = list(membership = 1,
#' basis = 1.1)` has sparse memberships and a basis without zeros. With `sparsity_scale = "relative"` the number given
#' is \eqn{\beta} in proportion to the row total (for the basis: to the sum of all counts / k); with `"counts"` it is
#' \eqn{\beta} itself, as in Shashanka and others (2007). Useful relative values lie between 0.002 and 0.1; from about
#' 0.3 rows collapse to one component each, with a warning. The perplexity of the memberships, \eqn{\exp(-\sum_c g_{ic}
#' \log g_{ic})}{exp(-sum g log g)}, is the effective number of components of a site.
#'
#' **Iterations.** EM: one E-step for both factors, then their M-steps. With `sparsity` `mstep = "cccp"` takes one step
#' of the concave-convex procedure and the exact maximum at the end only; `"first"` (the solution of Shashanka and
#' others) and `"global"` (the best of all maxima) take exact steps throughout. With `"ml"`, `accelerate = TRUE` and no
#' neighbours or missing cells, iterations after the first 20 are Newton's up to `k = 100` (Tran-Dinh and others 2015);
#' they make shares exactly 0, which EM cannot. `algorithm = "em"` in [fit_control()] leaves them out. Where the
#' effective strength exceeds 0.1, every other start raises it step by step (`init` is `"annealed"`), and the best fit
#' of both kinds is kept.
#'
#' **Neighbours.** With `smooth` the objective gains \eqn{s \sum_i \log \sum_c \sqrt{g_{ic} \bar g_{ic}}}{s sum_i log
#' sum_c sqrt(g[i,c] mean_i[c])}, with \eqn{\bar g_i}{mean_i} the average of the neighbours of site i and \eqn{s} the
#' `strength` in counts: 10 weighs little against a row total of 1000. Iterations are EM.
#'
#' **Shards.** `x` may be a result of [shards()], with `"map"` and `"ml"`, EM, and without `sparsity`, `smooth` and
#' `fixed`.
#'
#' @name plsa_estimation
#' @seealso [plsa()], [fit_control()], [mcmc_control()]
#' @references Griffiths TL, Steyvers M (2004). Finding scientific topics. *Proceedings of the National Academy of
#'   Sciences* 101, 5228-5235. \doi{10.1073/pnas.0307752101}
#'
#' Blei DM, Ng AY, Jordan MI (2003). Latent Dirichlet allocation. *Journal of Machine Learning Research* 3, 993-1022.
#'
#' Minka TP (2000). Estimating a Dirichlet distribution. Technical report, Massachusetts Institute of Technology.
#'
#' Shashanka M, Raj B, Smaragdis P (2007). Sparse overcomplete latent variable decomposition of counts data. *Advances
#' in Neural Information Processing Systems* 20.
#'
#' Tran-Dinh Q, Kyrillidis A, Cevher V (2015). Composite self-concordant minimization. *Journal of Machine Learning
#' Research* 16, 371-416.
#'
#' Wallach HM, Mimno D, McCallum A (2009). Rethinking LDA: why priors matter. *Advances in Neural Information Processing
#' Systems* 22.
#'
#' Yao L, Mimno D, McCallum A (2009). Efficient methods for topic model inference on streaming document collections.
#' *Proceedings of the 15th ACM SIGKDD International Conference on Knowledge Discovery and Data Mining*, 937-946.
#' \doi{10.1145/1557019.1557121}
#' @examples
#' counts <- rbind(a = c(9, 5, 0, 1), b = c(4, 6, 1, 0), c = c(0, 1, 7, 8), d = c(1, 0, 5, 9))
#' few <- fit_control(n_start = 3)
#' plsa(counts, k = 2, control = few)$param$membership
#' plsa(counts, k = 2, sparsity = c(membership = 0.02), control = few)$param$membership
NULL
