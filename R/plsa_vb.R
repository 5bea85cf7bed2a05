# Variational Bayes for plsa() (src/plsa/vb.h): estimate = "vb". The state of a run is that of the kernel: the counts
# that each component is expected to have made, by row and by taxon, and the priors' parameters.

run_start.plsa_vb_problem <- function(problem, start, control) {
  plsa_vb_run(problem$data, start, problem$settings, control)
}

# A run from means, as starts are drawn, or from a state: list(param, outcome); param holds the means and the state.
plsa_vb_run <- function(data, start, settings, control) {
  fixed <- settings$fixed == "basis"
  state <- if (is.null(start$state)) plsa_vb_state(start, data, settings) else start$state
  param <- c(state, list(
    fixed_basis = fixed, learn = settings$learn, missing = match(settings$missing, c("conditional", "paper")) - 1L
  ))
  out <- .Call(mc_c_plsa_vb_fit, data$view, param, NULL, unclass(control))
  state <- out[c("rows", "basis", "prior")]
  means <- plsa_vb_posterior(state)
  basis <- if (fixed) start$basis else means$basis / rowSums(means$basis)
  list(
    param = list(membership = means$membership / rowSums(means$membership), basis = basis, state = state),
    outcome = out$outcome
  )
}

# As if every count had been made by the means; a basis that is held is known.
plsa_vb_state <- function(start, data, settings) {
  k <- nrow(start$basis)
  rows <- start$membership * data$margins$row_sum
  prior <- settings$dirichlet
  list(
    rows = rows, basis = if (settings$fixed == "basis") start$basis else colSums(rows) * start$basis,
    prior = c(rep_len(prior$membership, k), prior$basis)
  )
}

# Parameters of the Dirichlets.
plsa_vb_posterior <- function(state) {
  k <- ncol(state$rows)
  list(membership = sweep(state$rows, 2L, state$prior[seq_len(k)], "+"), basis = state$basis + state$prior[k + 1L])
}

plsa_vb_permute <- function(param, at) {
  k <- length(at)
  state <- param$state
  state <- list(
    rows = state$rows[, at, drop = FALSE], basis = state$basis[at, , drop = FALSE], prior = state$prior[c(at, k + 1L)]
  )
  c(plsa_permute(param, at), list(state = state))
}

# exp(E log basis), which new rows see of it.
plsa_vb_weights <- function(fit) {
  basis <- unname(fit$posterior$basis)
  pmax(exp(digamma(basis) - digamma(rowSums(basis))), 1e-150)
}

# Memberships of new rows, the posterior of the basis held.
plsa_vb_fold_in <- function(fit, data, control) {
  k <- fit$dims[["k"]]
  known <- fit$fixed == "basis" || is.null(fit$posterior)
  basis <- if (known) unname(fit$param$basis) else plsa_vb_weights(fit)
  settings <- list(fixed = "basis", learn = FALSE, missing = fit$missing, dirichlet = fit$prior)
  plsa_vb_run(data, list(membership = matrix(1 / k, nrow(data$x), k), basis = basis), settings, control)
}
