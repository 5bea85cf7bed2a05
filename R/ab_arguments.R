# Arguments of aspect_bernoulli() that depend on one another.

ab_check_control <- function(control, default, estimate) {
  if (estimate != "gibbs") {
    return(check_control(control))
  }
  if (default) mcmc_control() else check_mcmc_control(control)
}

ab_check_visits_alone <- function(x_given, estimate, phantom, smooth, effort) {
  if (x_given) stop_input("Give either `x` or `visits`, not both: what was found is taken from `visits`.")
  if (!is.null(effort) || !is.null(smooth) || phantom != "free" || estimate %in% c("vb", "gibbs")) {
    stop_input("`effort`, `smooth`, `phantom` and `estimate` \"vb\" and \"gibbs\" do not go with `visits`.")
  }
}

ab_check_together <- function(estimate, prior, smooth, effort) {
  bayes <- estimate %in% c("vb", "gibbs")
  if (bayes && !is.null(effort)) {
    stop_input("`effort` goes with `estimate` \"ml\" and \"map\", not with \"%s\".", estimate)
  }
  if (!is.null(smooth) && (bayes || !is.null(effort))) {
    stop_input("`smooth` does not go with `effort`, `visits` or `estimate` \"vb\" and \"gibbs\".")
  }
  if (identical(prior, "eb") && !bayes) {
    stop_input("`prior = \"eb\"` goes with `estimate` \"vb\" and \"gibbs\", not with \"%s\".", estimate)
  }
}

# The prior, by held-out cells where that is asked for: list(value, cv). What variational Bayes would choose is chosen
# for the sampler, too.
ab_choose_prior <- function(prior, default, estimate, data, k, same, control) {
  bayes <- estimate %in% c("vb", "gibbs")
  if (estimate == "gibbs") control <- gibbs_start_control(control)
  tuned <- choose_prior(
    prior, if (bayes) "vb" else estimate, data$x, aspect_bernoulli, k, c("aspects", "membership"), same, control
  )
  if (bayes) tuned$value <- vb_prior(tuned$value, !default)
  tuned
}
