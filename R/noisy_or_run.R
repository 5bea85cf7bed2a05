# Noisy-OR: from settings and start values to a fit; the work is done by mc_c_nor_fit() in src/glue_nor.c.

# Settings as the kernel reads them. `distinct` holds each different row of the data once, and how often it stands
# there.
nor_settings <- function(model, weight = NULL, fixed = FALSE) {
  list(
    inference = match(model$inference, c("exact", "truncated", "variational")) - 1L, prior = model$pseudo,
    allowed = model$mask, weight = weight, inner = model$inner, q_steps = model$q_steps,
    q_rule = match(model$q_rule, c("alternate", "damped", "paper")) - 1L, fixed = fixed
  )
}

nor_kernel_param <- function(param) {
  list(
    prior = as.vector(param$prior), links = unname(param$links), leak = as.vector(param$leak), hidden = param$hidden
  )
}

# One run: list(param, outcome). param$hidden is what the kernel goes on from: states listed for each row, or theta, q.
nor_run <- function(distinct, model, start, control) {
  out <- .Call(
    mc_c_nor_fit, distinct$view, nor_kernel_param(start), nor_settings(model, distinct$weight), unclass(control)
  )
  # The least finite number stands for a prior that is impossible at the start values; see nor_objective() in C.
  if (out$outcome$objective == -.Machine$double.xmax) out$outcome$objective <- -Inf
  list(param = out[c("prior", "links", "leak", "hidden", "activation", "bound")], outcome = out$outcome)
}

nor_fit_starts <- function(data, k, surplus, model, control) {
  distinct <- .Call(mc_c_view_distinct, data$view)
  run <- function(start, control) nor_run(distinct, model, start, control)
  draw <- function(kind) nor_draw(data, distinct, k + surplus, model, control)
  shake <- if (model$inference != "variational") function(param) nor_shake(param, data, model)
  started <- run_starts(rep("rows", control$n_start), draw, run, control, shake)
  absorbed <- 0L
  if (is.null(model$mask)) {
    started$best <- nor_drop_surplus(started$best, k, data, model, run, control)
    tidy <- nor_absorb(started$best, data, run, control)
    started$best <- tidy$result
    absorbed <- tidy$absorbed
    started$best$param <- nor_reorder(started$best$param, distinct, model)
  }
  list(started = started, distinct = distinct, absorbed = absorbed)
}

nor_fit_start <- function(start, data, model, control) {
  # Equal rows may have different q.
  distinct <- if (is.null(start$q)) {
    .Call(mc_c_view_distinct, data$view)
  } else {
    list(view = data$view, group = seq_len(nrow(data$x)), weight = NULL)
  }
  if (!is.null(start$q)) start$hidden <- nor_hidden_q(start)
  nor_refuse_impossible(start, data, distinct, model)
  control$screen <- FALSE
  run <- function(start, control) nor_run(distinct, model, start, control)
  started <- run_starts("given", function(kind) start, run, control)
  list(started = started, distinct = distinct, absorbed = 0L, with_q = !is.null(start$q))
}

# A start that gives some row probability zero: named, as far as that can be found out.
nor_refuse_impossible <- function(start, data, distinct, model) {
  if (model$inference == "variational") {
    return(invisible())
  }
  loglik <- nor_report(distinct, start, model, "loglik")$loglik
  bad <- which(loglik[distinct$group] == -Inf)
  if (length(bad)) {
    stop_input(
      "`start` gives probability 0 to %d row(s): %s. Move its links or leaks away from exact 0 and 1.", length(bad),
      paste(vapply(utils::head(bad, 5L), function(at) place(data$x, 1L, at), ""), collapse = ", ")
    )
  }
}

# theta = -log(1 - p) within the kernel's bounds, and q at every one.
nor_hidden_q <- function(param) {
  theta <- function(p, least) pmin(pmax(-log1p(-p), least), 30)
  list(links = theta(param$links, 0), leak = theta(param$leak, 1e-6), q = as.vector(param$q))
}

# Start values of q for parameters that are good already: who explains a one, by the posterior of the sources at hand.
# The bound has several maxima in q and the activations; uniform q often leads to a poor one.
nor_posterior_q <- function(param, data, model) {
  on <- nor_report(data, param, model, "activation")$activation
  on[is.na(on)] <- 0.5
  row <- rep(seq_len(nrow(on)), diff(data$view$start))
  q <- t(on[row, , drop = FALSE] + 0.01) * (nor_hidden_q(param)$links[, data$view$column + 1L, drop = FALSE] + 1e-8)
  q / rep(colSums(q), each = nrow(q))
}

# q (n x m x k) at the ones of x, row by row as in the data view: k x number of ones; and back.
nor_q_at_ones <- function(q, x) {
  at <- which(t(x) == 1, arr.ind = TRUE)[, 2:1, drop = FALSE]
  t(vapply(seq_len(dim(q)[3L]), function(c) q[cbind(at, c)], numeric(nrow(at))))
}

nor_q_array <- function(q, x, k) {
  at <- which(t(x) == 1, arr.ind = TRUE)[, 2:1, drop = FALSE]
  out <- array(NA_real_, c(dim(x), k))
  for (c in seq_len(k)) out[cbind(at, c)] <- q[c, ]
  out
}

# What the posterior says, by states enumerated or listed: see nor_report in src/model_nor.h.
#   data  list(view, group): results are given for every row of the data
nor_report <- function(data, param, model, want, how = nor_posterior_kind(model$inference, length(param$prior))) {
  model$inference <- how
  settings <- nor_settings(model)
  settings$want <- stats::setNames(as.list(rep(TRUE, length(want))), want)
  kernel <- nor_kernel_param(param)
  # Theta and q of a variational run are not lists of states.
  if (is.null(kernel$hidden$state)) kernel["hidden"] <- list(NULL)
  out <- .Call(mc_c_nor_report, data$view, kernel, settings)
  k <- length(param$prior)
  n <- length(out[[want[1L]]]) / c(loglik = 1, activation = k, map = k, response = length(param$leak),
    cell = length(param$leak) * (k + 1))[[want[1L]]]
  shape <- list(activation = c(n, k), map = c(n, k), response = c(n, length(param$leak)),
    cell = c(n, length(param$leak), k + 1L))
  for (name in intersect(want, names(shape))) {
    value <- out[[name]]
    value[is.nan(value)] <- NA
    out[[name]] <- array(value, shape[[name]])
  }
  out[want]
}

# A variational posterior has no joint states: theirs come from the parameters.
nor_posterior_kind <- function(inference, k) {
  if (inference != "variational") {
    return(inference)
  }
  if (k <= nor_auto_exact) "exact" else "truncated"
}

# Sources off in less than one observation are part of the leak; what is left is fitted on. The last one stays.
nor_absorb <- function(result, data, run, control) {
  absorbed <- 0L
  repeat {
    param <- result$param
    constant <- which(param$prior > 1 - 1 / nrow(data$x))
    if (!length(constant) || length(param$prior) == 1L) break
    c <- constant[1L]
    param$leak <- 1 - (1 - param$leak) * (1 - param$links[c, ])
    result <- continue_without(result, nor_take_sources(param, -c), run, control)
    absorbed <- absorbed + 1L
  }
  list(result = result, absorbed = absorbed)
}

# Drops the source whose loss costs least, one at a time, until k are left.
nor_drop_surplus <- function(result, k, data, model, run, control) {
  brief <- control
  brief$max_pass <- 10L
  while (length(result$param$prior) > k) {
    candidates <- lapply(seq_along(result$param$prior), function(c) {
      checked_run(run, nor_take_sources(result$param, -c), brief)
    })
    best <- candidates[[which.max(objectives(candidates))]]
    result <- continue_without(result, best$param, run, control)
  }
  result
}

# Goes on with fewer sources: the trace starts anew, as the objective does.
continue_without <- function(result, param, run, control) {
  spent <- result$outcome$n_pass
  control$max_pass <- max(control$max_pass - spent, 1L)
  checked_run(run, param, control)
}

nor_take_sources <- function(param, which) {
  list(prior = param$prior[which], links = param$links[which, , drop = FALSE], leak = param$leak)
}

# By the expected number of ones a source writes, most first.
nor_reorder <- function(param, distinct, model) {
  at <- order(-param$prior * rowSums(param$links))
  if (!is.null(param$activation)) param$activation <- param$activation[, at, drop = FALSE]
  hidden <- param$hidden
  param <- utils::modifyList(param, nor_take_sources(param, at))
  if (!is.null(hidden$q)) {
    hidden$links <- hidden$links[at, , drop = FALSE]
    hidden$q <- as.vector(matrix(hidden$q, length(at))[at, ])
  }
  # Listed states are sets of sources by number: they would have to be renumbered, and are found again at once.
  param$hidden <- if (is.null(hidden$q)) NULL else hidden
  param
}

nor_new_fit <- function(fitted, data, model, prior, control, call) {
  param <- fitted$started$best$param
  distinct <- fitted$distinct
  k <- length(param$prior)
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  activation <- if (model$inference == "variational") {
    param$activation
  } else {
    nor_report(distinct, param, model, "activation")$activation
  }
  loglik <- nor_fit_loglik(fitted$started$best, distinct, model, data)
  out <- list(
    prior = stats::setNames(param$prior, labels),
    links = structure(param$links, dimnames = list(labels, names[[2L]])),
    leak = stats::setNames(param$leak, names[[2L]]),
    activation = structure(activation[distinct$group, , drop = FALSE], dimnames = list(names[[1L]], labels))
  )
  if (isTRUE(fitted$with_q)) out$q <- nor_q_array(matrix(param$hidden$q, k), as.matrix(data$x), k)
  links <- if (is.null(model$mask)) k * ncol(data$x) else sum(model$mask)
  fit <- assemble_fit(
    fitted$started, data, k, nor_objective_name(model), control, call,
    param = out, loglik = loglik, df = k + links + ncol(data$x), class = "noisy_or",
    inference = model$inference, prior = prior, model = model, absorbed = fitted$absorbed,
    density = data_density(data), margins = data$margins
  )
  fit$sources <- sources(fit)
  validate_noisy_or(fit)
}

nor_objective_name <- function(model) {
  if (model$inference != "exact") {
    return("lower_bound")
  }
  if (any(model$pseudo > 0)) "log_posterior" else "log_likelihood"
}

# Exact where that is cheap, else the lower bound without its prior.
nor_fit_loglik <- function(best, distinct, model, data) {
  weight <- tabulate(distinct$group)
  how <- if (length(best$param$prior) <= nor_auto_exact) "exact" else "truncated"
  sum(weight * nor_report(distinct, best$param, model, "loglik", how)$loglik)
}

validate_noisy_or <- function(fit) {
  p <- fit$param
  d <- fit$dims
  inside <- function(x) all(x >= 0 & x <= 1)
  stopifnot(
    length(p$prior) == d[["k"]], identical(dim(p$links), unname(d[c("k", "m")])), length(p$leak) == d[["m"]],
    identical(dim(p$activation), unname(d[c("n", "k")])), inside(p$prior), inside(p$links), inside(p$leak),
    inside(p$activation)
  )
  fit
}
