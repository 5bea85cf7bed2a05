# Arguments and reports of the noisy-OR kernels.

# Returns the settings in the kernel's form. `data` may hold how often each row occurs (`weight`), and which sources are
# known there (`known`, k x n, NA: unknown); if any is known, rows are not merged.
nor_settings <- function(model, data = NULL, fixed = FALSE) {
  list(
    inference = match(model$inference, c("exact", "truncated", "variational")) - 1L, prior = model$pseudo,
    allowed = model$mask, weight = data$weight, known = data$known, effort = data$effort,
    made = data$visits$made, found = data$visits$found, inner = model$inner,
    q_steps = model$q_steps, q_rule = match(model$q_rule, c("alternate", "damped", "paper")) - 1L, fixed = fixed
  )
}

nor_kernel_param <- function(param) {
  list(
    prior = as.vector(param$prior), links = unname(param$links), leak = as.vector(param$leak),
    recorded_share = as.vector(param$recorded_share), recorded_taxon = as.vector(param$recorded_taxon),
    coef = param$coef, hidden = param$hidden
  )
}

# Reports the posterior, by states enumerated or listed: see nor_report in src/noisy_or/noisy_or.h.
#   data  list(view, known): results are for every row of it; "drawn" uses R's random numbers
nor_report <- function(data, param, model, want, how = nor_posterior_kind(model$inference, length(param$prior))) {
  model$inference <- how
  param["coef"] <- list(if (!is.null(data$effort)) param$coef %||% model$coef)
  settings <- nor_settings(model, data)
  if ("drawn" %in% want) settings$uniform <- stats::runif(data$view$dim[1L])
  settings$want <- stats::setNames(as.list(rep(TRUE, length(want))), want)
  kernel <- nor_kernel_param(param)
  # Theta and q of a variational run are not lists of states.
  if (is.null(kernel$hidden$state)) kernel["hidden"] <- list(NULL)
  out <- .Call(mc_c_nor_report, data$view, kernel, settings)
  k <- length(param$prior)
  n <- data$view$dim[1L]
  m <- length(param$leak)
  shape <- list(
    activation = c(n, k), map = c(n, k), drawn = c(n, k), response = c(n, m), cell = c(n, m, k + 1L),
    present = c(n, m), missed = c(n, m), phantom = c(n, m), again = c(n, m)
  )
  for (name in names(out)[lengths(out) > 0L & names(out) %in% names(shape)]) {
    value <- out[[name]]
    value[is.nan(value)] <- NA
    out[[name]] <- array(value, shape[[name]])
  }
  if (!is.null(out$activation) && !is.null(data$known)) { # no sum of states, but what was given
    given <- which(!is.na(t(data$known)) & !is.na(out$activation))
    out$activation[given] <- t(data$known)[given]
  }
  out
}

# A variational posterior has no joint states, so they are computed from the parameters.
nor_posterior_kind <- function(inference, k) {
  if (inference != "variational") {
    return(inference)
  }
  if (k <= nor_auto_exact) "exact" else "truncated"
}

nor_auto_exact <- 12L
nor_most_exact <- 16L
