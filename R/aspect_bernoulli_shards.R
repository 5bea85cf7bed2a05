# Aspect Bernoulli model of a table in shards (shards_fit.R): its iterations, its checks, and its methods.

fit_to_shards.aspect_bernoulli <- function(model, x, k, settings, start, control, call) {
  ab_refuse_shards(settings)
  settings <- ab_check_settings(settings)
  if (!is.null(settings$effort)) {
    settings$effort <- check_shards_effort(settings$effort, x, settings$phantom, k)
    settings$phantom <- "white"
  }
  pins <- ab_pins(settings$phantom)
  k <- check_shards_k(k, x, 1L + length(pins))
  prior <- if (settings$estimate != "ml") settings$prior
  stored <- sum(as.double(x$shards$ones) + x$shards$missing)
  has_effort <- !is.null(settings$effort)
  smooth <- check_shards_smooth(settings$smooth, x)
  has_smooth <- !is.null(smooth)
  view <- list(dim = x$dims, stored = stored)
  control$algorithm <- ab_algorithm(control, k, view, !is.null(prior), has_smooth, has_effort)
  model <- shard_model(
    "aspect_bernoulli_on_shards", k, fixed = c(rep("free", k - length(pins)), pins), prior = prior,
    estimate = settings$estimate, phantom = settings$phantom
  )
  # Effort and neighbours exclude each other, see ab_check_together().
  if (has_effort) {
    model$here <- effort_here(settings$effort, x, mode_counts(prior, model$fixed))
    class(model) <- c("effort_on_shards", class(model))
  }
  if (has_smooth) {
    model$here <- list(smooth = smooth, near = smooth_lists(smooth))
    class(model) <- c("smooth_on_shards", class(model))
  }
  objective <- c(ml = "log_likelihood", map = "log_posterior")[[settings$estimate]]
  fit_shards(x, model, smoothed_name(objective, smooth), start, control, call)
}

ab_refuse_shards <- function(settings) {
  if (settings$estimate %in% c("vb", "gibbs")) {
    stop_not_for_shards(
      sprintf("`estimate = \"%s\"`", settings$estimate), "take \"map\" or \"ml\", or fit some rows, `x[i, ]`"
    )
  }
  ab_check_together(settings$estimate, NULL, settings$smooth, settings$effort)
}

ab_check_settings <- function(settings) {
  if (settings$estimate == "ml") settings$prior <- NULL
  if (settings$estimate == "map") {
    settings$prior <- ab_check_prior(one_prior(settings$prior, "aspects = , membership = "))
  }
  settings
}

shard_kernel.aspect_bernoulli_on_shards <- function(model, view, param, control) {
  .Call(mc_c_ab_fit, view, ab_shards_param(model, param), mode_counts(model$prior, model$fixed), control)
}

# The driver has no rows, and so no memberships.
ab_shards_param <- function(model, param) {
  if (is.null(param$membership)) param$membership <- matrix(0, 0L, model$k)
  if (!is.null(param$by_row)) param$smooth <- list(pulls = param$by_row)
  c(param, list(fixed = as.integer(model$fixed != "free")))
}

shard_start.aspect_bernoulli_on_shards <- function(model, start, x) {
  wish <- "list(aspects = k x m matrix), and a n x k matrix `membership` if you like"
  start <- check_start(start, "aspects", wish, shard_names(x), x$attributes)
  aspects <- check_matrix(start$aspects, "start$aspects", model$k, x$dims[["m"]], 0, 1)
  ab_check_fixed(aspects, model$fixed)
  membership <- start$membership
  if (!is.null(membership)) membership <- check_simplex_rows(membership, "start$membership", x$dims[["n"]], model$k)
  list(shared = list(aspects = unname(aspects)), rows = membership)
}

fit_sample.aspect_bernoulli_on_shards <- function(model, rows, at, control) ab_fit_sample(model, rows, control)

ab_fit_sample <- function(model, rows, control, effort = NULL) {
  prior <- if (!is.null(model$prior)) list(prior = model$prior)
  asked <- c(list(estimate = model$estimate, phantom = model$phantom, effort = effort, control = control), prior)
  do.call(aspect_bernoulli, c(list(quote(rows), model$k), asked))
}

sampled_shared.aspect_bernoulli_on_shards <- function(model, fit, share) {
  aspects <- unname(fit$param$aspects)
  free <- model$fixed == "free"
  aspects[free, ] <- mix_shares(aspects[free, , drop = FALSE], share)
  list(aspects = aspects)
}

finish_shards.aspect_bernoulli_on_shards <- function(model, fit, found, free) {
  x <- fit$shards
  fixed <- model$fixed
  k <- model$k
  labels <- component_names(k)
  whole <- list(aspects = found$aspects, shares = membership_sums(fit))
  observed <- x$dims[["n"]] - x$column_missing
  order <- seq_len(k)
  if (free) {
    own <- which(fixed == "free")
    kind <- phantom_measures(whole, fit$density, fixed, observed > 0)$kind
    order <- c(own[order(kind[own] != "content", -whole$shares$weight[own])], which(fixed != "free"))
  }
  aspects <- whole$aspects[order, , drop = FALSE]
  dimnames(aspects) <- list(labels, x$attributes)
  shares <- lapply(whole$shares, function(part) stats::setNames(part[order], labels))
  fit$param <- list(aspects = aspects)
  fit$loglik <- unname(fit$objective) - shards_log_prior(model$prior, fixed[order], aspects, shares$log)
  fit$df <- x$dims[["n"]] * (k - 1) + sum(fixed == "free") * x$dims[["m"]]
  fit[c("shares", "order", "fixed", "estimate", "prior")] <- list(
    shares[c("weight", "alone")], order, stats::setNames(fixed[order], labels), model$estimate, model$prior
  )
  class(fit) <- c("aspect_bernoulli_shards", "aspect_model_shards", class(fit))
  fit
}

# Sums over all rows: those of membership_shares(), and of logs, which a prior needs.
membership_sums <- function(fit) {
  sums <- 0
  for (s in fit$shards$shards$shard) {
    membership <- own_rows(fit, s)
    sums <- sums + cbind(
      colSums(membership), colSums(membership * (membership > 0.5)), colSums(log(membership))
    )
  }
  alone <- ifelse(sums[, 1L] > 0, sums[, 2L] / sums[, 1L], 0)
  list(weight = sums[, 1L] / fit$dims[["n"]], alone = alone, log = sums[, 3L])
}

shards_log_prior <- function(prior, fixed, aspects, log_shares) {
  counts <- mode_counts(prior, fixed)
  none <- matrix(0, 0L, length(fixed))
  own <- counts[, 3L] > 0
  sum(counts[own, 3L] * log_shares[own]) + mode_log_prior(prior, fixed, list(membership = none, aspects = aspects))
}

shard_part.aspect_bernoulli_shards <- function(fit, rows, data) {
  membership <- rows[, fit$order, drop = FALSE]
  dimnames(membership) <- list(rownames(data$x), component_names(fit$dims[["k"]]))
  list(
    param = list(membership = membership, aspects = fit$param$aspects), fixed = fit$fixed, estimate = fit$estimate,
    prior = fit$prior, density = fit$density, margins = data$margins, algorithm = fit$algorithm, shares = fit$shares,
    class = c("aspect_bernoulli", "aspect_model")
  )
}

shards_table.aspect_bernoulli_shards <- function(fit) component_facts.aspect_bernoulli(fit)

#' @export
summary.aspect_bernoulli_shards <- function(object, ...) {
  check_dots(...)
  structure(
    list(fit = object, components = phantoms(object), certificate = shards_certificate(object)),
    class = "summary.multicause_shards"
  )
}

#' @export
phantoms.aspect_bernoulli_shards <- function(fit, ..., white = 0.2, black = 0.5, min_weight = 1e-3) {
  check_dots(...)
  white <- check_share(white, "white")
  black <- check_share(black, "black")
  min_weight <- check_share(min_weight, "min_weight")
  param <- list(aspects = fit$param$aspects, shares = fit$shares)
  observed <- fit$shards$dims[["n"]] - fit$shards$column_missing > 0
  table <- phantom_table(param, fit$density, fit$fixed, observed, white, black, min_weight)
  structure(
    table,
    class = c("phantoms", "data.frame"), density = fit$density,
    rule = c(white = white, black = black, min_weight = min_weight)
  )
}

# Computes fit_certificate() by a scan of all shards.
shards_certificate <- function(fit) {
  if (!has_memberships(fit)) {
    return(no_certificate)
  }
  fixed <- unname(fit$fixed)
  prior <- fit$prior
  aspects <- unname(fit$param$aspects)
  n_shards <- nrow(fit$shards$shards)
  plain <- scan_control(fit$control, "em")
  nodes <- list()
  worst <- 0
  for (s in fit$shards$shards$shard) {
    view <- read_shard_view(fit$shards, s)
    param <- list(membership = own_rows(fit, s)[, fit$order, drop = FALSE], aspects = aspects)
    gap <- ab_certify(view, param, fixed, prior, fixed_aspects = TRUE)
    worst <- max(worst, gap[3L])
    param <- ab_kernel_param(param, fixed)
    param[c("fixed_membership", "evaluate")] <- list(TRUE, FALSE)
    sums <- .Call(mc_c_ab_fit, view, param, mode_counts(prior, fixed), plain)$sums
    nodes <- add_node(nodes, s, c(gap[1L], sums))
  }
  total <- add_nodes(nodes, n_shards)
  cells <- matrix(utils::tail(total, 2L * length(aspects)), length(aspects))
  counts <- mode_counts(prior, fixed)
  slope <- matrix(cells[, 1L] - cells[, 2L], nrow(aspects))
  push <- function(count, x) {
    out <- count / x
    out[count == 0, ] <- 0
    out
  }
  slope <- slope + push(counts[, 1L], aspects) - push(counts[, 2L], 1 - aspects)
  gain <- pmax(slope * (1 - aspects), -slope * aspects)
  out <- c(membership_gap = total[[1L]], aspects_gap = sum(gain[fixed == "free", ]), worst_row = worst)
  if (!is.null(fit$effort) || !is.null(fit$smooth)) out[c("membership_gap", "worst_row")] <- NA
  out
}

# Ranks cells for false_absences() and false_presences() over all shards: the best of each, then the best of these.
false_cells.aspect_bernoulli_shards <- function(fit, of, by, asked, site_data, kinds, x, convention) {
  check_shards_fit(fit, "fit")
  convention <- check_choice(convention, "phantom_convention", c("fitted", "minimal", "maximal"))
  if (!is.null(asked$within) || convention != "fitted" || !is.null(site_data) || !is.null(x)) {
    stop_input(paste(
      "`within`, `site_data`, `x` and `phantom_convention` do not go with a fit to shards: take a fit to some rows,",
      "`x[i, ]`; site_table() has what belongs to the sites."
    ))
  }
  kinds <- component_kinds(fit, kinds)
  score <- names(score_names[[of]])[match(by, score_names[[of]])]
  rows <- if (!is.null(asked$site)) shard_rows(fit$shards, rows_by_name(fit$shards, asked$site, "site"))
  ranked <- list(cells = NULL, n_cells = 0, expected = 0, expected_most = 0)
  for (s in fit$shards$shards$shard) {
    if (!is.null(rows) && !length(rows[[s]])) next
    part <- shard_fit(fit, s)
    wanted <- asked
    wanted["site"] <- list(rows[[s]])
    scope <- cell_scope(part, by, wanted, kinds, NULL)
    found <- rank_cells(part, scope, score, of)
    names <- part$names[[1L]]
    found$cells$name <- if (is.null(names)) character(nrow(found$cells)) else names[found$cells$row]
    found$cells$row <- row_numbers(fit$shards, s)[found$cells$row]
    sums <- c("n_cells", "expected", "expected_most")
    ranked[sums] <- Map(`+`, ranked[sums], found[sums])
    ranked$cells <- keep_best(rbind(ranked$cells, found$cells), score, scope)
    refuse_large(8 * nrow(ranked$cells), sprintf("All %s", of), "use `n`, or `site` or `taxon`")
  }
  out <- new_false_cells(
    list(names = list(NULL, fit$shards$attributes), rare = NULL), ranked, list(kinds = kinds, per = scope$per),
    by, of, NULL
  )
  if (nrow(out) && any(nzchar(ranked$cells$name))) out$site <- ranked$cells$name
  out
}

# With `effort` the driver fits the curve (src/aspect_bernoulli/effort.h): it needs the effort and the number of cells
# of each row, and two sums in each iteration. A scan needs its rows' effort.

# Returns the effort of all rows, from numbers or the name of a column of `site_data`.
check_shards_effort <- function(effort, x, phantom, k) {
  check_effort_phantom(phantom, check_count(k, "k"))
  if (is.character(effort)) {
    if (length(effort) != 1L || !effort %in% x$along) {
      stop_input("`effort` must be numbers, or the name of a column of the shards' `site_data` (%s), not %s.",
        if (length(x$along)) show_names(x$along) else "none", show_value(effort))
    }
    effort <- do.call(c, lapply(x$shards$shard, function(s) read_shard_rows(x, s)$along[[effort]]))
  }
  names <- if (!is.null(given_names(effort))) shard_names(x)
  effort <- match_effort(effort, x$dims[["n"]], names)
  check_effort_values(effort, function(row) sprintf("row %d", row))
  effort
}

# Merges rows of equal effort, with all their cells and pseudo-counts.
effort_here <- function(effort, x, counts) {
  cells <- unlist(lapply(x$shards$shard, function(s) observed_of_shard(x, s))) + sum(counts[, 3L])
  scaled <- scale_effort(effort)
  cells <- rowsum(cells, scaled)
  list(values = effort, scaled = scaled, effort = sort(unique(scaled)), cells = unname(cells[, 1L]))
}

# Counts the observed cells of each row of a shard.
observed_of_shard <- function(x, shard) {
  all <- rep(x$dims[["m"]], x$shards$rows[shard])
  if (x$shards$missing[shard] == 0) {
    return(all)
  }
  all - diff(read_shard_view(x, shard)$na_start)
}

known_rows.effort_on_shards <- function(model, numbers) list(effort = model$here$scaled[numbers])

settle_rows.effort_on_shards <- function(model, rows, shared, known) {
  .Call(mc_c_ab_effort_impose, rows, shared$coef, known$effort)
}

shard_kernel.effort_on_shards <- function(model, view, param, control) {
  if (is.null(param$effort)) param <- c(param, model$here[c("effort", "cells")])
  .Call(mc_c_ab_effort_fit, view, ab_shards_param(model, param), mode_counts(model$prior, model$fixed), control)
}

shard_start.effort_on_shards <- function(model, start, x) {
  out <- NextMethod()
  out$shared$coef <- flat_curve(if (is.null(out$rows)) 1 / model$k else mean(out$rows[, model$k]))
  out
}

fit_sample.effort_on_shards <- function(model, rows, at, control) {
  values <- model$here$values[at]
  ab_fit_sample(model, rows, control, effort = if (stats::sd(values) > 0) values) # else the sample's curve is flat
}

sampled_shared.effort_on_shards <- function(model, fit, share) {
  curve <- fit$effort
  if (!is.null(curve)) curve$values <- model$here$values
  coef <- if (is.null(curve)) flat_curve(mean(fit$param$membership[, model$k])) else scaled_curve(curve)
  c(NextMethod(), list(coef = coef))
}

finish_shards.effort_on_shards <- function(model, fit, found, free) {
  out <- NextMethod()
  out$df <- fit$dims[["n"]] * (model$k - 2) + 2 + (model$k - 1) * fit$dims[["m"]]
  out$effort <- effort_curve(found$coef, model$here$values)
  out
}

# With `smooth` the pull of the neighbours on a row follows from memberships alone, which the driver reads before each
# iteration. It computes the pulls of all rows as in memory (src/engine/smooth.h) and sends each shard its own.

# Checks smooth_over() for the rows of shards x; NULL without.
check_shards_smooth <- function(smooth, x) {
  smooth <- check_smooth(smooth)
  if (is.null(smooth)) {
    return(NULL)
  }
  for (what in c("bandwidth", "strength")) {
    if (!is.numeric(smooth[[what]])) {
      stop_not_for_shards(
        sprintf("`smooth` with `%s = \"cv\"`", what),
        "supply a number to smooth_over(); a fit to some rows, `x[i, ]`, chooses one"
      )
    }
  }
  names <- if (!is.null(smooth$names)) shard_names(x)
  rows <- matrix(0, x$dims[["n"]], 0L, dimnames = if (!is.null(names)) list(names, NULL))
  smooth <- match_smooth(smooth, rows)
  if (smooth$strength > 0) smooth
}

sent_rows.smooth_on_shards <- function(model, n_threads) {
  near <- model$here$near
  fixed <- as.integer(model$fixed != "free")
  function(rows) {
    found <- .Call(mc_c_smooth_pulls, rows, fixed, near, n_threads)
    list(beside = found$beside, by_row = found$pulls)
  }
}

finish_shards.smooth_on_shards <- function(model, fit, found, free) {
  out <- NextMethod()
  rows <- do.call(rbind, lapply(fit$shards$shards$shard, function(s) own_rows(fit, s)))
  out$loglik <- out$loglik - sent_rows(model, 1L)(rows)$beside
  out$smooth <- model$here$smooth
  out
}
