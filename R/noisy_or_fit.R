# Noisy-OR: from settings and start values to a fit; the work is done by mc_c_nor_fit() in src/glue/noisy_or.c.

# Settings as the kernel reads them. `data` may say how often each of its rows stands there (`weight`), and which
# sources are known there (`known`, k x n, NA: not known); where any is, rows are not merged.
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

# What the posterior says, by states enumerated or listed: see nor_report in src/noisy_or/noisy_or.h.
#   data  list(view, known): results are given for every row of it; "drawn" draws from R's random numbers
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

# A variational posterior has no joint states: theirs come from the parameters.
nor_posterior_kind <- function(inference, k) {
  if (inference != "variational") {
    return(inference)
  }
  if (k <= nor_auto_exact) "exact" else "truncated"
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

# Truncated noisy-OR of a table in shards (shards_fit.R). What a row has of its own are its best states, listed as
# numbers. Tests: test-shards_models.R.

nor_fit_shards <- function(x, k, settings, start, control, call) {
  k <- check_shards_k(k, x)
  nor_refuse_shards(settings)
  control <- em_on_shards(control)
  model <- shard_model(
    "noisy_or_on_shards", k, rows = "listed", space = "kept", first = 0,
    inference = "truncated", estimate = settings$estimate, prior = settings$prior, pseudo = settings$pseudo,
    mask = nor_check_mask(settings$mask, k, x$dims[["m"]], x$attributes),
    inner = 1L, q_steps = 10L, q_rule = "alternate"
  )
  fit_shards(x, model, "lower_bound", start, control, call)
}

nor_refuse_shards <- function(settings) {
  if (settings$missed_by != "none") {
    stop_input("`missed_by` must be \"none\" for shards(), not %s.", show_value(settings$missed_by))
  }
  if (!is.null(settings$effort)) stop_input("`effort` must be NULL for shards().")
  if (!is.null(settings$activation)) stop_input("`activation` must be NULL for shards().")
  if (!settings$inference %in% c("auto", "truncated")) {
    stop_not_for_shards(
      sprintf("`inference = \"%s\"`", settings$inference), "take \"truncated\", or fit some rows, `x[i, ]`"
    )
  }
  if (!is.null(settings$inner) && check_count(settings$inner, "inner") != 1L) {
    stop_not_for_shards("`inner` above 1", "each step more would be a scan of all shards; leave it out")
  }
  if (check_count(settings$surplus, "surplus", 0L) > 0L) {
    stop_not_for_shards("`surplus`", "a start may come from a fit to some rows, `x[i, ]`, which takes it")
  }
}

rows_extent.noisy_or_on_shards <- function(model, n) c(n, 1L + 32L * as.integer(ceiling(model$k / 64)))

# How many states are listed, and these in halves of 32 bits, none of a component that there is not.
are_rows.noisy_or_on_shards <- function(model, rows) {
  halves <- 2L * as.integer(ceiling(model$k / 64))
  listed <- (ncol(rows) - 1L) %/% halves
  bits <- pmin(pmax(model$k - 32L * (seq_len(halves) - 1L), 0L), 32L)
  below <- rep(c(listed + 1, rep(2^bits, listed)), each = nrow(rows))
  all(is.finite(rows) & rows >= 0 & rows < below & rows == floor(rows))
}

shard_kernel.noisy_or_on_shards <- function(model, view, param, control) {
  .Call(mc_c_nor_sum, view, param, nor_settings(model), control)
}

shard_start.noisy_or_on_shards <- function(model, start, x) {
  none <- matrix(0, 0L, x$dims[["m"]], dimnames = if (!is.null(x$attributes)) list(NULL, x$attributes))
  list(shared = nor_check_start(start, list(x = none), model$k, model))
}

fit_sample.noisy_or_on_shards <- function(model, rows, at, control) {
  prior <- if (!is.null(model$prior)) list(prior = model$prior)
  asked <- list(inference = "truncated", estimate = model$estimate, mask = model$mask, control = control)
  do.call(noisy_or, c(list(quote(rows), model$k), asked, prior))
}

# Components that became part of the leak in the sample get another chance: weak ones that follow the taxa's shares.
sampled_shared.noisy_or_on_shards <- function(model, fit, share) {
  param <- lapply(fit$param[c("prior", "links", "leak")], unname)
  lost <- model$k - length(param$prior)
  weak <- matrix(rep(pmin(share, 0.5), each = lost), lost, length(share)) * ifelse(seq_len(lost) %% 2L, 1, 0.5)
  links <- rbind(mix_shares(param$links, share), weak)
  if (!is.null(model$mask)) links <- links * model$mask
  list(
    prior = pmax(c(param$prior, rep(0.01, lost)), 1e-4), links = links,
    leak = as.vector(mix_shares(matrix(param$leak, 1L), 0.1 * share))
  )
}

finish_shards.noisy_or_on_shards <- function(model, fit, found, free) {
  x <- fit$shards
  k <- model$k
  labels <- component_names(k)
  order <- if (free && is.null(model$mask)) order(-found$prior * rowSums(found$links)) else seq_len(k)
  param <- nor_take_sources(found, order)
  fit$loglik <- nor_shards_loglik(fit, param)
  fit$param <- list(
    prior = stats::setNames(param$prior, labels),
    links = structure(param$links, dimnames = list(labels, x$attributes)),
    leak = stats::setNames(param$leak, x$attributes)
  )
  fit$shares <- list(weight = fit$param$prior)
  links <- if (is.null(model$mask)) k * as.double(x$dims[["m"]]) else sum(model$mask)
  fit$df <- k + links + as.integer(x$dims[["m"]])
  class(fit) <- c("noisy_or_shards", class(fit))
  fit
}

# Exact where that is cheap, else the lower bound without its prior, as nor_fit_loglik(): that is of the states listed,
# which stay in the files; searched anew they would give another.
nor_shards_loglik <- function(fit, param) {
  model <- fit$model
  x <- fit$shards
  if (model$k > nor_auto_exact) {
    return(unname(fit$objective) - nor_log_prior(model, param))
  }
  sum(vapply(x$shards$shard, function(s) {
    view <- read_shard_view(x, s)
    sum(nor_report(list(view = view), param, model, "loglik", "exact")$loglik)
  }, 0))
}

nor_log_prior <- function(model, param) {
  counts <- matrix(model$pseudo[1:6], 2L)
  if (!is.null(model$mask)) param$links <- param$links[model$mask != 0L]
  sum(mapply(function(value, count) {
    (if (count[1L] > 0) count[1L] * sum(log(value)) else 0) + (if (count[2L] > 0) count[2L] * sum(log1p(-value)) else 0)
  }, param[c("prior", "links", "leak")], split(counts, col(counts))))
}

# Activations are of states that are searched anew, with all components at hand, not of those listed.
shard_part.noisy_or_shards <- function(fit, rows, data) {
  param <- fit$param
  activation <- nor_report(list(view = data$view), param, fit$model, "activation")$activation
  param$activation <- structure(activation, dimnames = list(rownames(data$x), names(param$prior)))
  list(
    param = param, inference = "truncated", estimate = fit$model$estimate, prior = fit$model$prior,
    model = unclass(fit$model), absorbed = 0L, density = fit$density, margins = data$margins,
    sources = source_table(structure(list(param = param, names = dimnames_of(data$x)), class = "noisy_or")),
    class = "noisy_or"
  )
}

shard_types.noisy_or_shards <- function(fit) c(response = "m", activation = "k", map = "k")
