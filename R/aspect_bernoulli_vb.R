# Variational Bayes for the aspect Bernoulli model (src/aspect_bernoulli/vb.h): aspect_bernoulli(estimate = "vb").

# Runs from means, as starting values are drawn (or perturbed): list(param, outcome); param holds means and state.
ab_vb_run <- function(view, start, fixed, prior, control, fixed_aspects = FALSE) {
  state <- if (is.null(start$state)) vb_state(start, fixed, prior) else start$state
  param <- c(state, list(fixed = unname(c(free = 0L, white = -1L, black = 1L)[fixed]), fixed_aspects = fixed_aspects))
  out <- .Call(mc_c_ab_vb_fit, view, param, prior_parameters(prior, fixed), unclass(control))
  state <- out[c("membership", "one", "zero")]
  list(param = c(vb_means(state, fixed), list(state = state)), outcome = out$outcome)
}

run_start.aspect_bernoulli_vb_problem <- function(problem, start, control) {
  ab_vb_run(problem$data$view, start, problem$fixed, problem$prior, control)
}

# Returns the posterior as if every cell had been written by the means.
vb_state <- function(start, fixed, prior) {
  weight <- colSums(start$membership)
  state <- prior_state(prior, fixed, nrow(start$membership), ncol(start$aspects))
  list(
    membership = state$membership + ncol(start$aspects) * start$membership,
    one = state$one + weight * start$aspects, zero = state$zero + weight * (1 - start$aspects)
  )
}

# Computes posterior mean memberships of new rows with the posterior of the aspects fixed: list(param, outcome, gap).
vb_fold_in <- function(fit, data, control) {
  state <- prior_state(fit$prior, fit$fixed, nrow(data$x), ncol(data$x))
  state$membership <- state$membership + data$margins$row_observed / fit$dims[["k"]]
  state[c("one", "zero")] <- lapply(fit$posterior[c("one", "zero")], unname)
  run <- ab_vb_run(data$view, list(state = state), unname(fit$fixed), fit$prior, control, fixed_aspects = TRUE)
  check_outcome(run$outcome)
  c(run, list(gap = rep(NA_real_, 3L))) # the bound need not be concave
}

vb_means <- function(state, fixed) {
  aspects <- state$one / (state$one + state$zero)
  aspects[fixed == "white", ] <- 0
  aspects[fixed == "black", ] <- 1
  list(membership = state$membership / rowSums(state$membership), aspects = aspects)
}

vb_permute <- function(param, at) {
  state <- param$state
  state <- list(
    membership = state$membership[, at, drop = FALSE], one = state$one[at, , drop = FALSE],
    zero = state$zero[at, , drop = FALSE]
  )
  c(ab_permute(param[c("membership", "aspects")], at), list(state = state))
}

# Empirical Bayes: maximises the lower bound over the hyperparameters and everything else, starting at a fit. Iterations
# and hyperparameter updates alternate; neither lowers the bound. Returns list(run, prior), with their traces joined.
eb_iterations <- 20L
eb_rounds <- 200L

vb_empirical <- function(run, problem, control) {
  best <- run$best
  some <- control
  some$max_iter <- eb_iterations
  some$accelerate <- FALSE
  some$tol <- 0
  for (round in seq_len(eb_rounds)) {
    before <- best$outcome$objective
    problem$prior <- eb_prior(best$param$state, problem$fixed, problem$prior)
    best <- eb_continue(best, problem, some)
    if (best$outcome$objective - before < 1e-7 * abs(before)) break
  }
  run$best <- eb_continue(best, problem, control)
  list(run = run, prior = problem$prior)
}

eb_continue <- function(result, problem, control) {
  more <- checked_run(problem, result$param, control)
  more$outcome$trace <- c(result$outcome$trace, more$outcome$trace)
  more$outcome$n_iter <- result$outcome$n_iter + more$outcome$n_iter
  more
}

#' @export
posterior_draws.aspect_model <- function(fit, nsim = 100, ...) {
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  # The log-likelihood of visits differs from that of their union, which is `x`.
  view <- if (is.null(fit$visits) && !is.null(fit$x)) data_view(fit$x)
  if (is_sampled(fit)) {
    return(lapply(kept_states(fit, nsim), function(state) kept_draw(fit, state, view)))
  }
  if (is.null(fit$posterior)) stop_no_posterior()
  refuse_large(as.double(nsim) * sum(lengths(fit$param)), "The draws", "take fewer with `nsim`")
  lapply(seq_len(nsim), function(i) draw_posterior(fit, view))
}

# Draws from the members of an average, in proportion to their weights.
#' @export
posterior_draws.multicause_ensemble <- function(fit, nsim = 100, ...) { # nolint: object_name_linter.
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  if (!has_draws(fit)) {
    stop_input("`fit` must be an average with fits by `estimate` \"vb\" or \"gibbs\": others have no posterior.")
  }
  size <- as.double(nsim) * max(vapply(fit$fits, function(each) sum(lengths(each$param)), 0))
  refuse_large(size, "The draws", "take fewer with `nsim`")
  member <- sort(sample.int(length(fit$fits), nsim, replace = TRUE, prob = fit$draw_weights))
  drawn <- lapply(unique(member), function(i) {
    one <- fit$fits[[i]]
    each <- if (has_draws(one)) posterior_draws(wider_memberships(one), sum(member == i)) else list(one)
    each[rep_len(seq_along(each), sum(member == i))] # a sampler may have kept fewer
  })
  unlist(drawn, recursive = FALSE)
}

# Power of the variational posterior of memberships: data and prior counts are weighted by it. Chosen on gradients,
# mixtures and single faunas of 100 x 40, other than those of bench/bayes.md.
membership_power <- 0.25

wider_memberships <- function(fit) {
  if (is.null(fit$posterior)) {
    return(fit)
  }
  before <- prior_state(fit$prior, unname(fit$fixed), fit$dims[["n"]], fit$dims[["m"]])$membership
  now <- fit$posterior$membership
  fit$posterior$membership[] <- before + membership_power * (now - before)
  fit
}

has_draws.multicause_ensemble <- function(fit) {
  inherits(fit, "aspect_model") && any(vapply(fit$fits, function(one) has_draws(one), NA))
}

draw_posterior <- function(fit, view) {
  free <- fit$fixed == "free"
  posterior <- fit$posterior
  fit$param$membership[] <- draw_dirichlet(posterior$membership)
  count <- sum(free) * ncol(fit$param$aspects)
  fit$param$aspects[free, ] <- stats::rbeta(count, posterior$one[free, ], posterior$zero[free, ])
  if (!is.null(view)) fit$loglik <- ab_loglik(view, lapply(fit$param, unname), unname(fit$fixed))
  fit$posterior <- NULL
  fit$converged <- NA # it is that of the approximation
  fit
}

# Returns a kept state of a sampler as a fit.
kept_draw <- function(fit, state, view) {
  fit$loglik <- if (is.null(view)) NA_real_ else ab_loglik(view, state, unname(fit$fixed))
  fit$objective[] <- NA_real_ # that of the chains' best draw
  for (part in names(state)) fit$param[[part]][] <- state[[part]]
  without_draws(fit)
}

# Of independent Dirichlets and Betas; components that are fixed are known.
part_spread.aspect_bernoulli <- function(fit, name, level = NULL) {
  now <- fit$posterior
  if (is.null(now) || !name %in% c("membership", "aspects")) {
    return(NULL)
  }
  if (name == "membership") {
    return(beta_spread(now$membership, rowSums(now$membership) - now$membership, level))
  }
  out <- beta_spread(now$one, now$zero, level)
  fixed <- fit$fixed != "free"
  out$error[fixed, ] <- 0
  for (end in intersect(c("lower", "upper"), names(out))) out[[end]][fixed, ] <- fit$param$aspects[fixed, ]
  out
}
