# The priors of plca() (src/plca/plca.h): Dirichlet priors, as plsa() has them, a prior between components, or both.

# The prior that is used, of the call; without counts nothing says how much pseudo-counts are.
plca_settle_prior <- function(prior, estimate, whole) {
  if (estimate == "ml" && !is.null(prior)) stop_input("`estimate = \"ml\"` has no `prior`: take \"map\".")
  if (estimate == "map" && is.null(prior) && whole) plsa_default_prior("map", whole) else prior
}

# As given: list(dirichlet = NULL or list(membership = one number or k, basis = a number for each dimension),
# between = NULL or what cross_entropy() made).
#   labels  names of the dimensions, or NULL
plca_check_prior <- function(prior, k, n_dim, labels) {
  if (is.null(prior) || inherits(prior, "cross_entropy")) {
    return(list(dirichlet = NULL, between = prior))
  }
  between <- if (is.list(prior)) prior[["cross_entropy"]]
  parts <- c("membership", "basis", if (!is.null(between)) "cross_entropy")
  if (!is.list(prior) || !setequal(names(prior), parts) || !(is.null(between) || inherits(between, "cross_entropy"))) {
    stop_input(
      "`prior` must be NULL, cross_entropy(), or list(membership = , basis = ), also with `cross_entropy`, not %s.",
      show_value(prior)
    )
  }
  if (identical(between$method, "paper")) {
    stop_input(
      "`prior$cross_entropy` must have method \"js\" or \"mm\" beside Dirichlet priors: \"paper\" maximises nothing."
    )
  }
  wish <- function(size, what) sprintf("a number, or %s,", count_words(size, what))
  basis <- by_name(prior$basis, labels, "prior$basis")
  dirichlet <- list(
    membership = check_dirichlet(prior$membership, "prior$membership", c(1L, k), wish(k, "number")),
    basis = rep_len(check_dirichlet(basis, "prior$basis", c(1L, n_dim), wish(n_dim, "number")), n_dim)
  )
  list(dirichlet = dirichlet, between = between)
}

# A prior for the kernel, of plca_check_prior(): list(method, floor, pairs, anneal, weights_added, marginals_added).
plca_kernel_prior <- function(prior, k, n_dim, labels) {
  added <- lapply(prior$dirichlet, function(parameter) parameter - 1)
  between <- cross_entropy_pairs(prior$between, k, n_dim, labels)
  weights <- if (any(added$membership > 0)) rep_len(added$membership, k)
  c(between, list(weights_added = weights, marginals_added = if (is.null(added$basis)) numeric(n_dim) else added$basis))
}

# Maximum likelihood.
plca_no_prior <- function(k, n_dim) plca_kernel_prior(NULL, k, n_dim, NULL)

plca_has_dirichlet <- function(kernel_prior) {
  !is.null(kernel_prior$weights_added) || any(kernel_prior$marginals_added > 0)
}

plca_has_pairs <- function(kernel_prior) !all(vapply(kernel_prior$pairs, is.null, NA))

# New levels of the first dimension, beside those of the fit, whose weights they hardly move: what a Dirichlet prior
# then says of a level is that of its marginals. So memberships have eta - 1 added, for each level by itself, since
#   sum (eta - 1) log marginals[[1]][c, i] + n (eta - 1) log weights[c] = sum (eta - 1) log P(c, i).
plca_fold_in_prior <- function(fit, n) {
  n_dim <- length(fit$extent)
  k <- fit$dims[["k"]]
  none <- plca_no_prior(k, n_dim)
  added <- if (is.null(fit$prior$dirichlet)) 0 else fit$prior$dirichlet$basis[1L] - 1
  if (added > 0) {
    none$weights_added <- rep(n * added, k)
    none$marginals_added[1L] <- added
  }
  none
}
