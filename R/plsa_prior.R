# The Dirichlet priors of plsa(), which make it latent Dirichlet allocation (src/plsa/plsa.h). Kernels get a number for
# each component, and one for all taxa of all components.

plsa_bayes <- c("vb", "gibbs") # estimates of the whole posterior

# Without counts nothing says how much pseudo-counts are.
plsa_default_prior <- function(estimate, whole) {
  if (estimate %in% plsa_bayes) {
    return("eb")
  }
  value <- if (whole) 1.1 else 1
  list(membership = value, basis = value)
}

# Where learning begins.
plsa_eb_start <- list(membership = 0.3, basis = 0.1)

# As given: list(membership = one number or k, basis = one number); variational Bayes takes parameters below 1, too.
plsa_check_prior <- function(prior, k, bayes) {
  if (!is.list(prior) || !setequal(names(prior), c("membership", "basis"))) {
    stop_input(
      "`prior` must be list(membership = a number or %s, basis = a number)%s, not %s.", count_words(k, "number"),
      if (bayes) " or \"eb\"" else "", show_value(prior)
    )
  }
  wish <- sprintf("a number, or %s,", count_words(k, "number"))
  list(
    membership = check_dirichlet(prior$membership, "prior$membership", c(1L, k), wish, bayes),
    basis = check_dirichlet(prior$basis, "prior$basis", 1L, "a number", bayes)
  )
}

# The prior that is used, of the call: list(value = NULL, or a checked list; learn). `whole`: are the data counts?
plsa_settle_prior <- function(prior, settings, k, smooth, whole) {
  estimate <- settings$estimate
  plsa_check_together(prior, settings, smooth)
  if (estimate == "ml" || settings$sparse) {
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
  if (settings$sparse && !is.null(prior)) {
    stop_input("`sparsity` and `prior` are priors of the same parameters: give one.")
  }
  if (settings$sparse && (bayes || estimate == "ml" && any(settings$given != 0))) {
    stop_input("`sparsity` is a prior: it goes with `estimate = \"map\"`, not with \"%s\".", estimate)
  }
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

# As kernels have priors: strengths of sparsity (none), and what a Dirichlet prior adds to the expected counts of a
# posterior mode (without one NULL and 0).
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
