# The result of aspect_bernoulli() by maximum likelihood, posterior mode or variational Bayes.

ab_new_fit <- function(run, data, k, pinned, pseudo, estimate, prior, control, call, effort = NULL, smooth = NULL,
                       lists = NULL) {
  param <- run$best$param[c("membership", "aspects")]
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  dimnames(param$membership) <- list(names[[1L]], labels)
  dimnames(param$aspects) <- list(labels, names[[2L]])
  gap <- .Call(mc_c_ab_certify, data$view, ab_kernel_param(param, pinned, smooth = lists), pseudo)
  # With neighbours the problem of the memberships is not concave; with effort they are not free.
  if (!is.null(lists) || !is.null(effort)) gap[c(1L, 3L)] <- NA
  if (estimate == "vb") gap[] <- NA # it is not the likelihood that was maximised
  loglik <- run$best$outcome$objective
  if (estimate != "ml" || !is.null(lists)) loglik <- ab_loglik(data$view, param, pinned)
  objective <- c(ml = "log_likelihood", map = "log_posterior", vb = "lower_bound")[[estimate]]
  shares <- if (is.null(effort)) nrow(data$x) * (k - 1) else nrow(data$x) * (k - 2) + 2
  fit <- assemble_fit(
    run, data, k, smoothed_name(objective, lists), control, call,
    param = param, loglik = loglik, posterior = run$best$param$state,
    df = shares + sum(pinned == "free") * ncol(data$x), class = "aspect_bernoulli",
    certificate = c(membership_gap = gap[1L], aspects_gap = gap[2L], worst_row = gap[3L]),
    pinned = stats::setNames(pinned, labels), estimate = estimate, prior = if (estimate != "ml") prior,
    effort = if (!is.null(effort)) effort_curve(run$best$param$coef, effort), pseudo = pseudo, smooth = smooth,
    density = data_density(data), margins = data$margins
  )
  kinds <- phantoms(fit)$kind
  fit$expected_false <- list(
    absences = expected_false(fit, data$x, kinds), presences = expected_false(fit, data$x, kinds, "presences")
  )
  validate_aspect_bernoulli(fit)
}

ab_loglik <- function(view, param, pinned) {
  none <- unclass(fit_control(max_pass = 0, n_start = 1))
  ab_run(view, param, pinned, c(0, 0, 0), none)$outcome$objective
}

validate_aspect_bernoulli <- function(fit) {
  membership <- fit$param$membership
  aspects <- fit$param$aspects
  stopifnot(
    identical(dim(membership), unname(fit$dims[c("n", "k")])), identical(dim(aspects), unname(fit$dims[c("k", "m")])),
    all(membership >= 0), all(abs(rowSums(membership) - 1) < 1e-8), all(aspects >= 0), all(aspects <= 1)
  )
  fit
}
