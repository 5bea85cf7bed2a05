# The aspect Bernoulli model of a table in shards (aspect_bernoulli_shards.R) with `effort`. The driver fits the curve
# (src/aspect_bernoulli/effort.h): of the rows it needs their effort and how many cells stand behind it, and two sums
# in each pass. A scan needs its rows' effort. Tests: test-aspect_bernoulli_shards_effort.R.

# Effort of all rows: numbers, or the name of a column of `site_data`.
check_shards_effort <- function(effort, x, phantom, k) {
  check_effort_phantom(phantom, check_count(k, "k"))
  if (is.character(effort)) {
    if (length(effort) != 1L || !effort %in% x$along) {
      stop_input("`effort` must be numbers, or the name of a column of the shards' `site_data` (%s), not %s.",
        if (length(x$along)) show_names(x$along) else "none", show_value(effort))
    }
    effort <- unlist(lapply(x$shards$shard, function(s) read_shard_rows(x, s)$along[[effort]]))
  }
  names <- if (!is.null(given_names(effort))) shard_names(x)
  effort <- match_effort(effort, x$dims[["n"]], names)
  check_effort_values(effort, function(row) sprintf("row %d", row))
  effort
}

# Rows of the same effort are one, with all their cells and pseudo-counts.
effort_here <- function(effort, x, counts) {
  cells <- unlist(lapply(x$shards$shard, function(s) observed_of_shard(x, s))) + sum(counts[, 3L])
  scaled <- scale_effort(effort)
  cells <- rowsum(cells, scaled)
  list(values = effort, scaled = scaled, effort = sort(unique(scaled)), cells = unname(cells[, 1L]))
}

# Observed cells of each of its rows.
observed_of_shard <- function(x, shard) {
  all <- rep(x$dims[["m"]], x$shards$rows[shard])
  if (x$shards$missing[shard] == 0) {
    return(all)
  }
  all - diff(read_shard_view(x, shard)$na_start)
}

ab_effort_known_rows <- function(model, numbers) list(effort = model$here$scaled[numbers])

ab_effort_settle_rows <- function(model, rows, shared, known) {
  .Call(mc_c_ab_effort_impose, rows, shared$coef, known$effort)
}

ab_effort_sample_model <- function(model, numbers) {
  model$here$values <- model$here$values[numbers]
  model
}

ab_effort_shard_scan <- function(model, view, rows, shared, asked, control) {
  param <- ab_kernel_param(list(membership = rows, aspects = shared$aspects), model$pinned)
  .Call(mc_c_ab_effort_shard, view, c(param, shared["coef"], asked), mode_counts(model$prior, model$pinned), control)
}

ab_effort_shard_driver <- function(model, empty, param, control) {
  param <- c(param, model$here[c("effort", "cells")])
  ab_shard_driver(model, empty, param, control, effort = TRUE)
}

ab_effort_check_shards_start <- function(model, start, x) {
  out <- ab_check_shards_start(model, start, x)
  out$shared$coef <- flat_curve(if (is.null(out$rows)) 1 / model$k else mean(out$rows[, model$k]))
  out
}

ab_effort_fit_sample <- function(model, rows, control) {
  differ <- stats::sd(model$here$values) > 0 # else the sample's curve is flat
  ab_fit_sample(model, rows, control, effort = if (differ) model$here$values)
}

ab_effort_sampled_shared <- function(model, fit, share) {
  out <- ab_sampled_shared(model, fit, share)
  own <- list(coefficients = fit$effort$coefficients, values = model$here$values)
  missed <- mean(fit$param$membership[, model$k])
  c(out, list(coef = if (is.null(fit$effort)) flat_curve(missed) else scaled_curve(own)))
}

ab_effort_finish_shards_fit <- function(model, fit, found, free) {
  out <- ab_finish_shards_fit(model, fit, found, free)
  out$df <- fit$dims[["n"]] * (model$k - 2) + 2 + (model$k - 1) * fit$dims[["m"]]
  out$effort <- effort_curve(found$coef, model$here$values)
  out
}

ab_effort_on_shards <- list(
  known_rows = ab_effort_known_rows, settle_rows = ab_effort_settle_rows, sample_model = ab_effort_sample_model,
  rows = ab_effort_shard_scan, shared = ab_effort_shard_driver, start = ab_effort_check_shards_start,
  fit_sample = ab_effort_fit_sample, sampled_shared = ab_effort_sampled_shared, finish = ab_effort_finish_shards_fit
)
