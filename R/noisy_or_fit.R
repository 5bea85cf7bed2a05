# Noisy-OR: from settings and start values to a fit; the work is done by mc_c_nor_fit() in src/glue/noisy_or.c.

# One run: list(param, outcome). param$hidden is what the kernel goes on from: states listed for each row, or theta, q.
# hold: the scale of recording that is held, eq. (R6).
nor_run <- function(distinct, model, start, control, hold = NULL) {
  settings <- c(nor_settings(model, distinct), list(hold = hold))
  out <- .Call(mc_c_nor_fit, distinct$view, nor_kernel_param(start), settings, unclass(control))
  # The least finite number stands for a prior that is impossible at the start values; see nor_objective() in C.
  if (out$outcome$objective == -.Machine$double.xmax) out$outcome$objective <- -Inf
  list(param = out[setdiff(names(out), "outcome")], outcome = out$outcome)
}

# What its starts work on. Equal rows are one, unless a start has its own q for each, or more is known of each.
nor_problem <- function(data, k, surplus, model, start, control) {
  known <- data[c("known", "effort", "visits")]
  distinct <- if (is.null(start$q) && !any(lengths(known))) {
    .Call(mc_c_view_distinct, data$view)
  } else {
    c(list(view = data$view, group = seq_len(nrow(data$x)), weight = NULL), known)
  }
  if (!is.null(start$q)) start$hidden <- nor_hidden_q(start)
  if (!is.null(start)) start <- nor_first_recorded(start, ncol(data$x), model)
  if (!is.null(start)) nor_refuse_impossible(start, data, distinct, model)
  structure(
    list(data = data, distinct = distinct, k = k, surplus = surplus, model = model, start = start, control = control),
    class = c("noisy_or_problem", "multicause_problem")
  )
}

start_kinds.noisy_or_problem <- function(problem, control) rep("rows", control$n_start)

draw_start.noisy_or_problem <- function(problem, kind) {
  nor_draw(problem$data, problem$distinct, problem$k + problem$surplus, problem$model, problem$control)
}

run_start.noisy_or_problem <- function(problem, start, control) {
  nor_run(problem$distinct, problem$model, start, control)
}

shake_start.noisy_or_problem <- function(problem, param) {
  if (problem$model$inference != "variational") nor_shake(param, problem$data, problem$model)
}

# The best start, with no more than k sources, none of them a leak.
nor_fit <- function(problem, control) {
  started <- run_starts(problem, control)
  absorbed <- 0L
  if (is.null(problem$start) && is.null(problem$model$mask) && is.null(problem$data$known)) {
    started$best <- nor_drop_surplus(started$best, problem, control)
    tidy <- nor_absorb(started$best, problem, control)
    started$best <- tidy$result
    absorbed <- tidy$absorbed
    started$best$param <- nor_reorder(started$best$param)
  }
  list(started = started, distinct = problem$distinct, absorbed = absorbed, with_q = !is.null(problem$start$q))
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
      "`start` gives probability 0 to %s: %s. Move its links or leaks away from exact 0 and 1.",
      count_words(length(bad), "row"),
      paste(vapply(utils::head(bad, 5L), function(at) place_words(data$x, 1L, at), ""), collapse = ", ")
    )
  }
}

# theta = -log(1 - p) within the kernel's bounds, and q at every one. on: k x 10 n, with recording, activations given
# each chance; NULL: the prior.
nor_hidden_q <- function(param, on = NULL) {
  theta <- function(p, least) pmin(pmax(-log1p(-p), least), 30)
  list(links = theta(param$links, 0), leak = theta(param$leak, 1e-6), q = as.vector(param$q), on = on)
}

# Start values for parameters that are good already: who explains a one, by the posterior of the sources at hand.
# The bound has several maxima in q and the activations; uniform q often leads to a poor one.
nor_hidden_posterior <- function(param, data, model) {
  on <- nor_report(data, param, model, "activation")$activation
  on[is.na(on)] <- 0.5
  row <- rep(seq_len(nrow(on)), diff(data$view$start))
  q <- t(on[row, , drop = FALSE] + 0.01) * (nor_hidden_q(param)$links[, data$view$column + 1L, drop = FALSE] + 1e-8)
  param$q <- q / rep(colSums(q), each = nrow(q))
  each <- if (!is.null(param$recorded_share)) as.vector(t(on)[, rep(seq_len(nrow(on)), each = recorded_grid)])
  nor_hidden_q(param, each)
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

# Sources off in less than one observation are part of the leak; what is left is fitted on. The last one stays.
nor_absorb <- function(result, problem, control) {
  absorbed <- 0L
  repeat {
    param <- result$param
    constant <- which(param$prior > 1 - 1 / nrow(problem$data$x))
    if (!length(constant) || length(param$prior) == 1L) break
    c <- constant[1L]
    param$leak <- 1 - (1 - param$leak) * (1 - param$links[c, ])
    result <- continue_without(result, nor_take_sources(param, -c), problem, control)
    absorbed <- absorbed + 1L
  }
  list(result = result, absorbed = absorbed)
}

# Drops the source whose loss costs least, one at a time, until k are left.
nor_drop_surplus <- function(result, problem, control) {
  brief <- control
  brief$max_pass <- 10L
  while (length(result$param$prior) > problem$k) {
    candidates <- lapply(seq_along(result$param$prior), function(c) {
      checked_run(problem, nor_take_sources(result$param, -c), brief)
    })
    best <- candidates[[which.max(objectives(candidates))]]
    best$outcome$n_pass <- result$outcome$n_pass + best$outcome$n_pass
    result <- continue_without(best, best$param, problem, control)
  }
  result
}

# Goes on with fewer sources: the trace starts anew, as the objective does, but not the count of passes.
continue_without <- function(result, param, problem, control) {
  spent <- result$outcome$n_pass
  control$max_pass <- max(control$max_pass - spent, 1L)
  out <- checked_run(problem, param, control)
  out$outcome$n_pass <- spent + out$outcome$n_pass
  out
}

nor_take_sources <- function(param, which) {
  list(
    prior = param$prior[which], links = param$links[which, , drop = FALSE], leak = param$leak,
    recorded_share = param$recorded_share, recorded_taxon = param$recorded_taxon, coef = param$coef
  )
}

# By the expected number of ones a source writes, most first.
nor_reorder <- function(param) {
  at <- order(-param$prior * rowSums(param$links))
  if (!is.null(param$activation)) param$activation <- param$activation[, at, drop = FALSE]
  param <- utils::modifyList(param, nor_take_sources(param, at))
  param["hidden"] <- list(NULL) # what runs went on from knows components by number
  param
}

nor_new_fit <- function(fitted, data, model, control, call) {
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
  loglik <- nor_fit_loglik(fitted$started$best, distinct, model)
  out <- list(
    prior = stats::setNames(param$prior, labels),
    links = structure(param$links, dimnames = list(labels, names[[2L]])),
    leak = stats::setNames(param$leak, names[[2L]]),
    activation = structure(activation[distinct$group, , drop = FALSE], dimnames = list(names[[1L]], labels))
  )
  if (isTRUE(fitted$with_q)) out$q <- nor_q_array(matrix(param$hidden$q, k), as.matrix(data$x), k)
  out <- c(out, nor_name_recorded(param, distinct, names, model))
  links <- if (is.null(model$mask)) k * as.double(ncol(data$x)) else sum(model$mask)
  model$coef <- param$coef
  shares <- if (is.null(model$effort)) max(0L, length(out$recorded_share) - 1L) else 2L
  recorded <- shares + length(out$recorded_taxon)
  fit <- assemble_fit(
    fitted$started, data, k, nor_objective_name(model), control, call,
    param = out, loglik = loglik, df = k + links + ncol(data$x) + recorded, class = "noisy_or",
    missed_by = if (model$missed_by != "none") model$missed_by, inference = model$inference,
    estimate = model$estimate, prior = model$prior, model = model,
    absorbed = fitted$absorbed, effort = if (!is.null(model$effort)) effort_curve(param$coef, model$effort),
    density = data_density(data), margins = data$margins, visits = data$cell
  )
  if (!is.null(data$known)) fit$known <- structure(t(data$known), dimnames = dimnames(out$activation))
  if (recorded) fit$missed <- nor_count_missed(fit, data$x)
  fit$sources <- source_table(fit)
  validate_noisy_or(fit)
}

nor_objective_name <- function(model) {
  if (model$inference != "exact") {
    return("lower_bound")
  }
  if (model$estimate == "map") "log_posterior" else "log_likelihood"
}

# Exact where that is cheap, of visits as they were fitted; else the lower bound without its prior.
nor_fit_loglik <- function(best, distinct, model) {
  weight <- tabulate(distinct$group)
  cheap <- if (is.null(distinct$visits)) length(best$param$prior) <= nor_auto_exact else model$inference == "exact"
  how <- if (cheap) "exact" else "truncated"
  sum(weight * nor_report(distinct, best$param, model, "loglik", how)$loglik)
}

validate_noisy_or <- function(fit) {
  p <- fit$param
  d <- fit$dims
  inside <- function(x) all(x >= 0 & x <= 1)
  stopifnot(
    length(p$prior) == d[["k"]], has_dims(p$links, fit, c("k", "m")), length(p$leak) == d[["m"]],
    has_dims(p$activation, fit, c("n", "k")), inside(p$prior), inside(p$links), inside(p$leak),
    inside(p$activation), inside(c(p$recorded_site, p$recorded_share, p$recorded_taxon))
  )
  fit
}

# Initial values of a noisy-OR model. All links equal would be a saddle from which sources never part, so each source
# starts from a row of the data. Exact zeros could not move.

nor_draw <- function(data, distinct, k, model, control) {
  n <- nrow(data$x)
  m <- ncol(data$x)
  density <- max(data_density(data), 1 / (as.double(n) * m))
  means <- (data$margins$column_sum + density) / (data$margins$column_observed + 1)
  rows <- nor_start_known(nor_start_rows(data, k, means), data)
  noise <- matrix(stats::runif(k * m), k, m)
  links <- 0.5 * rows + (0.2 + 0.6 * noise) * 0.5 * matrix(means, k, m, byrow = TRUE)
  param <- list(
    prior = rep(min(0.25, 2 / k), k), links = pmin(links, 0.95), leak = pmin(pmax(0.25 * means, 0.02 * density), 0.5)
  )
  if (!is.null(model$mask)) param$links <- param$links * model$mask
  param <- nor_first_recorded(param, m, model)
  if (model$inference == "variational") nor_warm(param, distinct, model, control) else param
}

# k different rows with at least one 1, where there are that many; unknown cells get the mean of their column.
nor_start_rows <- function(data, k, means) {
  with_one <- which(data$margins$row_sum > 0)
  if (!length(with_one)) with_one <- seq_len(nrow(data$x))
  at <- with_one[sample.int(length(with_one), k, replace = k > length(with_one))]
  rows <- dense_rows(data$x, at)
  means <- matrix(means, k, ncol(rows), byrow = TRUE)
  rows[is.na(rows)] <- means[is.na(rows)]
  rows
}

# A source that is known to be on somewhere starts from what is found there.
nor_start_known <- function(rows, data) {
  for (c in seq_len(nrow(rows))) {
    on <- which(data$known[c, ] == 1L)
    if (!length(on)) next
    means <- colMeans(dense_rows(data$x, on), na.rm = TRUE)
    rows[c, !is.na(means)] <- means[!is.na(means)]
  }
  rows
}

nor_warm_passes <- 20L

# The bound's own starts lead to poor maxima: start where a few exact or truncated passes end.
nor_warm <- function(param, distinct, model, control) {
  model$inference <- nor_posterior_kind("variational", length(param$prior))
  control$max_pass <- nor_warm_passes
  warm <- nor_run(distinct, model, param, control)
  check_outcome(warm$outcome)
  param <- nor_take_sources(warm$param, seq_along(param$prior))
  param$hidden <- nor_hidden_posterior(param, distinct, model)
  param
}

# A solution's commonest fault is one source for the union of two, and another that is idle: the least useful source
# (or, to try others as well, a random one) starts again from a row of the data.
nor_shake <- function(param, data, model) {
  k <- length(param$prior)
  if (k == 1L) {
    return(nor_take_sources(param, 1L))
  }
  useful <- param$prior * rowSums(param$links)
  c <- if (stats::runif(1L) < 0.5) which.min(useful) else sample.int(k, 1L)
  density <- max(data_density(data), 1 / length(data$x))
  means <- (data$margins$column_sum + density) / (data$margins$column_observed + 1)
  row <- nor_start_rows(data, 1L, means)
  links <- 0.5 * row + (0.2 + 0.6 * stats::runif(ncol(row))) * 0.5 * means
  if (!is.null(model$mask)) links <- links * model$mask[c, ]
  param <- nor_take_sources(param, seq_len(k))
  param$links[c, ] <- pmin(links, 0.95)
  param$prior[c] <- min(0.25, 2 / k)
  param
}

source_table <- function(fit, min_prior = 0.02, min_link = 0.2) {
  links <- fit$param$links
  on <- colSums(fit$param$activation)
  strongest <- apply(links, 1L, max)
  out <- data.frame(
    source = names(fit$param$prior), prior = unname(fit$param$prior), on = unname(on), max_link = unname(strongest),
    ones = unname(on * rowSums(links)), top = unname(top_names(fit)),
    in_use = unname(fit$param$prior >= min_prior & strongest >= min_link)
  )
  structure(out, class = c("noisy_or_sources", "data.frame"))
}
