# The aspect Bernoulli model of a table in shards (aspect_bernoulli_shards.R) with `effort`. The driver fits the curve
# (src/aspect_bernoulli/effort.h): of the rows it needs their effort and how many cells stand behind it, and two sums
# in each pass. A visit needs its rows' effort. Tests: test-aspect_bernoulli_shards_effort.R.

# Effort of all rows: numbers, or the name of what goes `along`.
check_shards_effort <- function(effort, x, phantom, k) {
  check_effort_phantom(phantom, check_count(k, "k"))
  if (is.character(effort)) {
    if (length(effort) != 1L || !effort %in% x$along) {
      stop_input("`effort` must be numbers, or the name of what goes `along` with the shards (%s), not %s.",
        if (length(x$along)) show_names(x$along) else "nothing does", show_value(effort))
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

known_rows.ab_effort_on_shards <- function(model, numbers) list(effort = model$here$scaled[numbers])

settle_rows.ab_effort_on_shards <- function(model, rows, shared, known) {
  .Call(mc_c_ab_effort_impose, rows, shared$coef, known$effort)
}

sample_model.ab_effort_on_shards <- function(model, numbers) {
  model$here$values <- model$here$values[numbers]
  model
}

shard_visit.ab_effort_on_shards <- function(model, view, rows, shared, asked, control) {
  param <- ab_kernel_param(list(membership = rows, aspects = shared$aspects), model$pinned)
  .Call(mc_c_ab_effort_shard, view, c(param, shared["coef"], asked), mode_counts(model$prior, model$pinned), control)
}

shard_driver.ab_effort_on_shards <- function(model, empty, param, control) {
  none <- list(membership = matrix(0, 0L, model$k), aspects = param$aspects)
  of_curve <- c(param["coef"], model$here[c("effort", "cells")])
  param <- c(ab_kernel_param(none, model$pinned), of_curve, param[c("visit", "go_on")])
  out <- .Call(mc_c_ab_effort_shards_fit, empty, param, mode_counts(model$prior, model$pinned), control)
  out$outcome$algorithm <- control$algorithm
  out
}

check_shards_start.ab_effort_on_shards <- function(model, start, x) {
  out <- NextMethod()
  out$shared$coef <- flat_curve(if (is.null(out$rows)) 1 / model$k else mean(out$rows[, model$k]))
  out
}

fit_sample.ab_effort_on_shards <- function(model, rows, control) {
  differ <- stats::sd(model$here$values) > 0 # else the sample's curve is flat
  fit_sample.ab_on_shards(model, rows, control, effort = if (differ) model$here$values)
}

sampled_shared.ab_effort_on_shards <- function(model, fit, share) {
  out <- NextMethod()
  own <- list(coefficients = fit$effort$coefficients, values = model$here$values)
  missed <- mean(fit$param$membership[, model$k])
  c(out, list(coef = if (is.null(fit$effort)) flat_curve(missed) else scaled_curve(own)))
}

finish_shards_fit.ab_effort_on_shards <- function(model, fit, found, free) {
  out <- NextMethod()
  out$df <- fit$dims[["n"]] * (model$k - 2) + 2 + (model$k - 1) * fit$dims[["m"]]
  out$effort <- effort_curve(found$coef, model$here$values)
  out
}
