# Variational Bayes for the aspect Bernoulli model (src/aspect_bernoulli/vb.h): aspect_bernoulli(estimate = "vb").

# A run from means, as starts are drawn (or shaken): list(param, outcome); param holds the means and the state.
ab_vb_run <- function(view, start, pinned, prior, control, fixed_aspects = FALSE) {
  state <- if (is.null(start$state)) vb_state(start, pinned, prior) else start$state
  param <- c(state, list(pinned = unname(c(free = 0L, white = -1L, black = 1L)[pinned]), fixed_aspects = fixed_aspects))
  out <- .Call(mc_c_ab_vb_fit, view, param, prior_parameters(prior, pinned), unclass(control))
  state <- out[c("membership", "one", "zero")]
  list(param = c(vb_means(state, pinned), list(state = state)), outcome = out$outcome)
}

run_start.aspect_bernoulli_vb_problem <- function(problem, start, control) {
  ab_vb_run(problem$data$view, start, problem$pinned, problem$prior, control)
}

# As if every cell had been written by the means.
vb_state <- function(start, pinned, prior) {
  weight <- colSums(start$membership)
  state <- prior_state(prior, pinned, nrow(start$membership), ncol(start$aspects))
  list(
    membership = state$membership + ncol(start$aspects) * start$membership,
    one = state$one + weight * start$aspects, zero = state$zero + weight * (1 - start$aspects)
  )
}

# Posterior means of the memberships of new rows, the posterior of the aspects held: list(param, outcome, gap).
vb_fold_in <- function(fit, data, control) {
  state <- prior_state(fit$prior, fit$pinned, nrow(data$x), ncol(data$x))
  state$membership <- state$membership + data$margins$row_observed / fit$dims[["k"]]
  state[c("one", "zero")] <- lapply(fit$posterior[c("one", "zero")], unname)
  run <- ab_vb_run(data$view, list(state = state), unname(fit$pinned), fit$prior, control, fixed_aspects = TRUE)
  check_outcome(run$outcome)
  c(run, list(gap = rep(NA_real_, 3L))) # the bound need not be concave
}

vb_means <- function(state, pinned) {
  aspects <- state$one / (state$one + state$zero)
  aspects[pinned == "white", ] <- 0
  aspects[pinned == "black", ] <- 1
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

# Empirical Bayes: the hyperparameters that maximise the lower bound, with everything else, from a fit on. Passes and
# hyperparameters take turns; neither lowers the bound. Returns list(run, prior), with what the passes traced added.
eb_passes <- 20L
eb_rounds <- 200L

vb_empirical <- function(run, problem, control) {
  best <- run$best
  some <- control
  some$max_pass <- eb_passes
  some$accelerate <- FALSE
  some$tol <- 0
  for (round in seq_len(eb_rounds)) {
    before <- best$outcome$objective
    problem$prior <- eb_prior(best$param$state, problem$pinned, problem$prior)
    best <- eb_continue(best, problem, some)
    if (best$outcome$objective - before < 1e-7 * abs(before)) break
  }
  run$best <- eb_continue(best, problem, control)
  list(run = run, prior = problem$prior)
}

eb_continue <- function(result, problem, control) {
  more <- checked_run(problem, result$param, control)
  more$outcome$trace <- c(result$outcome$trace, more$outcome$trace)
  more$outcome$n_pass <- result$outcome$n_pass + more$outcome$n_pass
  more
}

#' Draws from the posterior of a Bayesian fit
#'
#' Draws of the parameters from the posterior of [aspect_bernoulli()] with `estimate = "vb"` or `"gibbs"`, as fits that
#' every verb takes: for intervals of anything a fit can say, and as `draws` of [identifiability()].
#'
#' With `"gibbs"` they are states that the chains kept, evenly spaced: at most `keep` of [mcmc_control()] for each
#' chain, and the same at every call. With `"vb"` the posterior is approximated by independent Dirichlets (memberships)
#' and Betas (components). Such an approximation is narrower than the true posterior: take its intervals as the least
#' that is uncertain. Component labels are those of the fit.
#'
#' Of an [ensemble()] of such fits each draw is one of a member: so the draws differ in their number of components and
#' in their prior, too, and are not as narrow as those of any member. Members are drawn by their weights; where those
#' are by held-out cells, by their square roots: cells held out do not tell how much was missed. Memberships of `"vb"`
#' members are drawn as if the data of a site counted a quarter (a fractional posterior, Miller and Dunson 2019), since
#' the approximation takes components for known, and the model for true. The quarter was chosen on simulated tables
#' where ranges of what sites missed were too narrow. Members by `"ml"` and `"map"` have no posterior. Beside others
#' that have one, each stands for itself.
#'
#' @param fit a fit of [aspect_bernoulli()] with `estimate = "vb"` or `"gibbs"`, an [ensemble()] of such fits, or a fit
#'   of [visits_occupancy()].
#' @param nsim number of draws, at least 1.
#' @param ... must be empty.
#' @return A list of `n` fits (`"gibbs"`: of as many as were kept, if fewer) whose `param` are draws; `loglik` is that
#'   at the draw, and all else that of `fit`. Memory is that of `n` sets of parameters.
#' @references Miller JW, Dunson DB (2019). Robust Bayesian inference via coarsening. *Journal of the American
#'   Statistical Association* 114, 1113-1125. \doi{10.1080/01621459.2018.1469995}
#' @seealso [identifiability()]
#' @examples
#' set.seed(1)
#' few <- fit_control(n_start = 2)
#' fit <- aspect_bernoulli(simulated_sites$x, 4, estimate = "vb", phantom = "white", control = few)
#' draws <- posterior_draws(fit, 20)
#' quantile(vapply(draws, function(draw) mean(draw$param$membership[, 4]), 0), c(0.05, 0.95))
#' @export
posterior_draws <- function(fit, nsim = 100, ...) {
  check_given(fit)
  UseMethod("posterior_draws")
}

#' @export
posterior_draws.default <- function(fit, nsim = 100, ...) {
  check_dots(...)
  check_fit(fit, "aspect_bernoulli")
  nsim <- check_count(nsim, "nsim")
  if (inherits(fit, "multicause_ensemble")) {
    return(ensemble_draws(fit, nsim))
  }
  if (!inherits(fit, "aspect_bernoulli_gibbs")) {
    refuse_large(as.double(nsim) * sum(lengths(fit$param)), "The draws", "take fewer with `nsim`")
  }
  view <- if (!is.null(fit$x)) data_view(fit$x)
  if (inherits(fit, "aspect_bernoulli_gibbs")) {
    return(lapply(kept_states(fit, nsim), function(state) kept_draw(fit, state, view)))
  }
  if (is.null(fit$posterior)) {
    stop_input(paste(
      "`fit` must be a fit with `estimate` \"vb\" or \"gibbs\": others have no posterior.",
      "bootstrap_draws() is for those."
    ))
  }
  lapply(seq_len(nsim), function(i) draw_posterior(fit, view))
}

# Draws of the members of an average, as many of each as the weights say.
ensemble_draws <- function(fit, n) {
  if (!has_draws(fit)) {
    stop_input("`fit` must be an average with fits by `estimate` \"vb\" or \"gibbs\": others have no posterior.")
  }
  refuse_large(
    as.double(n) * max(vapply(fit$fits, function(each) sum(lengths(each$param)), 0)), "The draws", "take fewer with `n`"
  )
  member <- sort(sample.int(length(fit$fits), n, replace = TRUE, prob = fit$draw_weights))
  drawn <- lapply(unique(member), function(i) {
    one <- fit$fits[[i]]
    each <- if (has_draws(one)) posterior_draws(wider_memberships(one), sum(member == i)) else list(one)
    each[rep_len(seq_along(each), sum(member == i))] # a sampler may have kept fewer
  })
  unlist(drawn, recursive = FALSE)
}

# The variational posterior of memberships, to a power: what the data add to the prior counts as much as this. Chosen on
# gradients, mixtures and single faunas of 100 x 40, other than those of bench/bayes.md.
membership_power <- 0.25

wider_memberships <- function(fit) {
  if (is.null(fit$posterior)) {
    return(fit)
  }
  before <- prior_state(fit$prior, unname(fit$pinned), fit$dims[["n"]], fit$dims[["m"]])$membership
  now <- fit$posterior$membership
  fit$posterior$membership[] <- before + membership_power * (now - before)
  fit
}

# Whether posterior_draws() knows the fit.
has_draws <- function(fit) UseMethod("has_draws")

has_draws.default <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    return(inherits(fit, "aspect_bernoulli") && any(vapply(fit$fits, function(one) has_draws(one), NA)))
  }
  inherits(fit, "aspect_bernoulli") && (!is.null(fit$posterior) || is_sampled(fit))
}

draw_posterior <- function(fit, view) {
  free <- fit$pinned == "free"
  posterior <- fit$posterior
  membership <- fit$param$membership
  membership[] <- pmax(stats::rgamma(length(membership), posterior$membership), 1e-300)
  fit$param$membership <- membership / rowSums(membership)
  count <- sum(free) * ncol(fit$param$aspects)
  fit$param$aspects[free, ] <- stats::rbeta(count, posterior$one[free, ], posterior$zero[free, ])
  if (!is.null(view)) fit$loglik <- ab_loglik(view, lapply(fit$param, unname), unname(fit$pinned))
  fit$posterior <- NULL
  fit
}

# A kept state of a sampler as a fit of its own.
kept_draw <- function(fit, state, view) {
  # The log-likelihood of visits is not that of what they found together.
  fit$loglik <- if (!has_detection(fit) && !is.null(view)) ab_loglik(view, state, unname(fit$pinned)) else NA_real_
  for (part in names(state)) fit$param[[part]][] <- state[[part]]
  without_draws(fit)
}

# A sampled fit as one that its parameters alone speak for.
without_draws <- function(fit) {
  fit$kept <- fit$last <- fit$cells <- fit$spread <- NULL
  class(fit) <- grep("_gibbs$", class(fit), value = TRUE, invert = TRUE)
  fit
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
  fixed <- fit$pinned != "free"
  out$error[fixed, ] <- 0
  for (end in intersect(c("lower", "upper"), names(out))) out[[end]][fixed, ] <- fit$param$aspects[fixed, ]
  out
}
