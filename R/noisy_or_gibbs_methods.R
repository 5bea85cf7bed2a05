# Methods of noisy_or(estimate = "gibbs") that differ from those of modes: results are means over draws.

is_sampled.noisy_or_gibbs <- function(fit) TRUE

has_draws.noisy_or_gibbs <- function(fit) TRUE

estimator_words.noisy_or_gibbs <- function(fit) "Gibbs"

reached_sentence.noisy_or_gibbs <- function(fit, digits = 4L) sampled_sentence(fit)

found_sentences.noisy_or_gibbs <- function(fit, digits = 4L) {
  interval <- if (!is.null(fit$missed_by)) traced_interval(fit, "missed")
  zeros <- fit$dims[["observed"]] - sum(fit$margins$row_sum)
  c(
    if (is.null(interval)) NextMethod() else sprintf(
      "False absences expected: %s of %s zeros (%s).", show_expected(fit$missed), format_big(zeros), interval
    ),
    disagreement_sentence(fit)
  )
}

detail_sentences.noisy_or_gibbs <- function(fit, digits = 4L) {
  c(if (!is.null(fit$missed_by)) recorded_sentences(fit)[2L], trust_sentence(fit))
}

part_spread.noisy_or_gibbs <- function(fit, name, level = NULL) {
  if (name == "activation") fit$spread$activation <- sqrt(fit$param$activation * (1 - fit$param$activation))
  drawn_spread(fit, name, level)
}

#' @export
summary.noisy_or_gibbs <- function(object, ...) {
  check_dots(...)
  structure(
    list(
      quantities = quantity_table(object), seed = object$seed, sources = object$sources,
      screen = fit_screen(object), details = detail_sentences(object)
    ),
    class = "summary.noisy_or_gibbs"
  )
}

#' @export
print.summary.noisy_or_gibbs <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print_screen(x$screen)
  print_sampled(x, digits)
  if (length(x$details)) cat("\n")
  write_sentences(x$details)
  cat("\n")
  print(x$sources)
  invisible(x)
}

# A kept state as a fit that its parameters alone speak for.
nor_one_draw <- function(fit, state) {
  for (part in intersect(nor_gibbs_parts, names(fit$param))) fit$param[[part]][] <- state[[part]]
  fit$param$activation[] <- t(state$on)
  if (!is.null(state$grid)) fit$param$recorded_site[] <- recorded_grid_probabilities()[state$grid + 1L]
  fit$model["coef"] <- list(state$coef)
  if (!is.null(fit$effort)) fit$effort <- effort_curve(state$coef, fit$effort$values)
  fit$missed <- NULL
  without_draws(fit)
}

#' @export
posterior_draws.noisy_or_gibbs <- function(fit, nsim = 100, ...) {
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  lapply(kept_states(fit, nsim), function(state) {
    out <- nor_one_draw(fit, state)
    if (is.null(fit$x)) out$loglik <- NA_real_ else out <- with_data(out, fit$x)
    out
  })
}

with_data.noisy_or <- function(fit, x) {
  fit$x <- x
  data <- nor_rows(fit, x, seq_len(nrow(x)))
  if (!is.null(fit$param$recorded_share) && is.null(fit$param$recorded_site)) { # a start does not keep it
    site <- nor_report(data, lapply(fit$param, unname), fit$model, "site")$site
    fit$param$recorded_site <- stats::setNames(site, fit$names[[1L]])
  }
  fit$loglik <- sum(nor_report(data, lapply(fit$param, unname), fit$model, "loglik")$loglik)
  if (!is.null(fit$missed_by)) fit$missed <- nor_count_missed(fit, x)
  fit
}

prior_draw.noisy_or_gibbs <- function(fit) {
  n <- fit$dims[["n"]]
  k <- fit$dims[["k"]]
  problem <- list(dim = c(n, fit$dims[["m"]]), k = k, model = fit$model, data = list(effort = fit$effort))
  param <- nor_gibbs_prior_param(problem)
  if (!is.null(fit$model$mask)) param$links <- param$links * fit$model$mask
  on <- matrix(stats::rbinom(n * k, 1L, rep(param$prior, each = n)), k, byrow = TRUE)
  if (!is.null(fit$known)) on[!is.na(t(fit$known))] <- t(fit$known)[!is.na(t(fit$known))]
  nor_one_draw(fit, c(param, list(on = on)))
}

compared_quantities.noisy_or <- function(fit, cells) {
  at <- unique(cells[, 2L])
  off <- 1 - fit$param$prior * fit$param$links[, at, drop = FALSE]
  present <- 1 - (1 - fit$param$leak[at]) * apply(off, 2L, prod)
  c(
    stats::setNames(present, sprintf("presence[%d]", at)), `log-likelihood` = fit$loglik,
    `prior, sum` = sum(fit$param$prior), `links, sum of squares` = sum(fit$param$links^2),
    `leak, sum` = sum(fit$param$leak),
    if (!is.null(fit$missed_by)) {
      c(
        `false absences` = fit$missed,
        `probability of a record, mean` = sum(fit$param$recorded_share * recorded_grid_probabilities())
      )
    },
    if (!is.null(fit$param$recorded_taxon)) c(`recorded taxon, sum` = sum(fit$param$recorded_taxon))
  )
}

#' @rdname predict.noisy_or
#' @export
predict.noisy_or_gibbs <- function(object, newdata = NULL,
                                   type = c("response", "activation", "map", "cell", "present"), ..., rows = NULL,
                                   activation = NULL, sources = c("mean", "mode", "drawn"), level = NULL) {
  check_dots(...)
  type <- check_choice(type)
  sources <- check_choice(sources)
  own <- is.null(newdata) && is.null(activation) && sources == "mean"
  if (!is.null(level)) {
    level <- check_number(level, "level", 0, 1, open = TRUE)
    if (!own || type != "response") {
      stop_input(
        "`level` is for the probabilities of the data's own cells: without `newdata`, `type = \"response\"`."
      )
    }
  }
  if (!own || type == "cell") {
    return(nor_mean_prediction(object, newdata, type, rows, activation, sources))
  }
  at <- pick(rows, object$dims[["n"]], object$names[[1L]], "rows")
  if (type %in% c("activation", "map")) {
    on <- object$param$activation[at, , drop = FALSE]
    return(if (type == "map") (on > 0.5) + 0 else on)
  }
  labels <- name_sides(list(object$names[[1L]][at], object$names[[2L]]))
  part <- function(values) if (!is.null(values)) structure(values[at, , drop = FALSE], dimnames = labels)
  if (type == "present") {
    cells <- lapply(object$cells, function(of) part(of$mean))
    cells$response <- cells$probability
    return(nor_presences(cells, list(x = nor_own_data(object)[at, , drop = FALSE])))
  }
  cells <- lapply(object$cells$probability, part)
  if (is.null(level)) cells$mean else c(cells["mean"], beta_interval(cells$mean, cells$sd, level))
}

# The mean over the states that were kept; of drawn sources by one of them.
nor_mean_prediction <- function(fit, newdata, type, rows, activation, sources) {
  states <- kept_states(fit)
  if (sources == "drawn") states <- states[sample.int(length(states), 1L)]
  total <- NULL
  for (state in states) {
    one <- predict.noisy_or(
      nor_one_draw(fit, state), newdata, if (type == "map") "activation" else type, rows = rows,
      activation = activation, sources = sources
    )
    total <- if (is.null(total)) one else total + one
  }
  out <- total / length(states)
  if (type == "map") out[] <- (out > 0.5) + 0
  out
}

interval_parts.noisy_or_gibbs <- function(fit) {
  sides <- list(prior = "component", leak = "taxon", recorded_taxon = "taxon", links = c("component", "taxon"))
  sides[intersect(names(sides), names(fit$spread))]
}

#' @export
simulate.noisy_or_gibbs <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  states <- kept_states(object)
  simulate_with(object, nsim, seed, function() {
    nor_draw_table(nor_one_draw(object, states[[sample.int(length(states), 1L)]]))
  })
}

# Takes them from the sums over all draws.
cell_scores.noisy_or_gibbs <- function(fit, rows, kinds, of = "absences") {
  need_recording(fit)
  part <- function(name) fit$cells[[name]]$mean[rows, , drop = FALSE]
  if (of == "presences") { # none is false
    none <- 0 * part("present")
    return(list(probability = 1 - part("probability"), present = 1 - part("present"), missed = none, phantom = none))
  }
  lapply(stats::setNames(nm = c("probability", "present", "missed", "phantom")), part)
}

score_spread.noisy_or_gibbs <- function(fit, rows, kinds, of) {
  if (!is.null(fit$missed_by) && of == "absences") fit$cells$missed$sd[rows, , drop = FALSE]
}

recorded_probability.noisy_or_gibbs <- function(fit) {
  if (is.null(fit$visits)) {
    return(presence_probability(fit))
  }
  states <- kept_states(fit)
  Reduce(`+`, lapply(states, function(state) recorded_probability(nor_one_draw(fit, state)))) / length(states)
}

# The mean of the likelihoods under the draws, of at most so many.
held_out_rows.noisy_or_gibbs <- function(fit, data, floor, family, ..., nsim = 2000) {
  each <- vapply(kept_states(fit, 100L), function(state) {
    as.vector(held_out_rows.noisy_or(nor_one_draw(fit, state), data, floor, family, ..., nsim = nsim))
  }, numeric(data$view$dim[1L]))
  each <- matrix(each, data$view$dim[1L])
  top <- apply(each, 1L, max)
  top + log(rowMeans(exp(each - top)))
}

check_bounds.noisy_or_gibbs <- function(fit) {
  if (is.null(fit$missed_by)) NextMethod()
  stop_input("`fit` must have another `estimate` than \"gibbs\", whose confint(fit, \"missed\") is from its draws.")
}

bound_sentences.noisy_or_gibbs <- function(fit, ...) {
  sprintf("Number of false absences: %s.", traced_interval(fit, "missed"))
}
