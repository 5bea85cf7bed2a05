# The aspect Bernoulli model of repeated visits (src/model_ab_visits.h): aspect_bernoulli(visits = ).

visits_bernoulli <- function(visits, k, estimate, prior, missed_by, added, start, control, call) {
  check_given(k)
  added <- check_flag(added, "added")
  cell <- check_visits(visits)
  data <- check_data(any_visit(cell), "binary", name = "visits")
  k <- check_count(k, "k")
  pseudo <- if (estimate == "map") pseudo_counts(prior, c("aspects", "membership")) else c(0, 0, 0)
  tell_many_components(data, k)
  pinned <- rep("free", k)
  fixed <- list(missed_by = match(missed_by, c("observation", "attribute", "visit")) - 1L, fit_added = added)
  run <- function(start, control) {
    out <- .Call(mc_c_ab_visits_fit, cell, c(start, fixed), pseudo, unclass(control))
    list(param = out$param[c("membership", "aspects", "missed", "added")], outcome = out$outcome)
  }
  blank <- visit_rates(cell, missed_by, added)
  if (is.null(start)) {
    kinds <- if (k == 1L) "uniform" else rep_len(c("mixture", "mixture", "uniform"), control$n_start)
    shake <- function(param) c(ab_shake(param[1:2], pinned), param[3:4])
    started <- run_starts(kinds, function(kind) c(ab_draw(data, kind, pinned), blank), run, control, shake)
    order_of <- function(param) order(-colMeans(param$membership))
    started <- reorder_runs(started, order_of, ab_permute)
  } else {
    start <- c(ab_check_start(start, data, k, pinned), check_rates(start, blank))
    started <- run_given(start, run, control)
  }
  new_visits_fit(started, cell, data, k, pseudo, missed_by, added, estimate, prior, control, call)
}

# What is other in a visit's table than in the first one's: its shape, a name it lacks, or their order.
unlike_first <- function(table, first) {
  if (!identical(dim(table), dim(first))) {
    shape <- function(x) paste(dim(x), collapse = " x ")
    return(sprintf("is %s, not %s as the first", shape(table), shape(first)))
  }
  for (side in 1:2) {
    lacks <- setdiff(dimnames(first)[[side]], dimnames(table)[[side]])
    if (length(lacks)) {
      return(sprintf("lacks %s %s of the first", c("row", "column")[side], show_names(lacks[1L])))
    }
  }
  "has its rows or columns in another order, or under names that the first lacks"
}

# An n x m x visits integer array with names.
check_visits <- function(visits) {
  if (is.list(visits) && !is.data.frame(visits)) {
    if (!length(visits)) stop_input("`visits` must hold at least one table, not none.")
    tables <- lapply(seq_along(visits), function(v) {
      as.matrix(check_data(visits[[v]], "binary", sprintf("visits[[%d]]", v), quiet = TRUE)$x)
    })
    for (v in seq_along(tables)) {
      if (!identical(attributes(tables[[v]]), attributes(tables[[1L]]))) {
        stop_input(
          "`visits` must hold tables of the same shape and names: number %d %s.", v,
          unlike_first(tables[[v]], tables[[1L]])
        )
      }
    }
    label <- if (is.null(dimnames(tables[[1L]]))) list(NULL, NULL) else dimnames(tables[[1L]])
    visits <- array(unlist(tables), c(dim(tables[[1L]]), length(tables)), c(label, list(names(visits))))
  }
  ok <- (is.numeric(visits) || is.logical(visits)) && length(dim(visits)) == 3L && all(dim(visits) > 0L)
  if (!ok) {
    stop_input(
      "`visits` must be a list of tables or an array of observations x attributes x visits, not %s.", show_value(visits)
    )
  }
  bad <- which(!visits %in% c(0, 1, NA))
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(visits))
    stop_input(
      "`visits` must hold only 0, 1 or NA: row %d, column %d, visit %d is %s.", at[1L], at[2L], at[3L],
      format(visits[bad[1L]])
    )
  }
  storage.mode(visits) <- "integer"
  visits
}

# 1 where any visit found something, 0 where none did, NA where there was none.
any_visit <- function(cell) {
  out <- suppressWarnings(apply(cell, 1:2, max, na.rm = TRUE))
  out[!is.finite(out)] <- NA
  dimnames(out) <- if (!all(vapply(dimnames(cell)[1:2], is.null, NA))) dimnames(cell)[1:2]
  out
}

# Start values of the rates: alike, and no additions unless they are fitted.
visit_rates <- function(cell, missed_by, added) {
  rows <- switch(missed_by, observation = dim(cell)[1L], attribute = dim(cell)[2L], visit = 1L)
  visits <- dim(cell)[3L]
  list(missed = matrix(0.4, rows, visits), added = rep(if (added) 0.01 else 0, visits))
}

check_rates <- function(start, blank) {
  if (!is.null(start$missed)) {
    blank$missed <- check_matrix(start$missed, "start$missed", nrow(blank$missed), ncol(blank$missed), 0, 1)
  }
  if (!is.null(start$added)) {
    blank$added <- as.vector(check_matrix(t(start$added), "start$added", 1L, length(blank$added), 0, 1))
  }
  blank
}

new_visits_fit <- function(run, cell, data, k, pseudo, missed_by, added, estimate, prior, control, call) {
  param <- run$best$param
  labels <- component_names(k)
  names <- dimnames_of(data$x)
  dimnames(param$membership) <- list(names[[1L]], labels)
  dimnames(param$aspects) <- list(labels, names[[2L]])
  rows <- switch(missed_by, observation = names[[1L]], attribute = names[[2L]])
  visit_names <- dimnames(cell)[[3L]]
  if (!is.null(rows) || !is.null(visit_names)) dimnames(param$missed) <- list(rows, visit_names)
  names(param$added) <- visit_names
  n <- nrow(data$x)
  fit <- assemble_fit(
    run, data, k, if (estimate == "ml") "log_likelihood" else "log_posterior", control, call,
    param = param, loglik = run$best$outcome$objective,
    df = n * (k - 1) + k * ncol(data$x) + length(param$missed) + added * length(param$added),
    class = c("visits_bernoulli", "aspect_bernoulli"), pinned = stats::setNames(rep("free", k), labels),
    certificate = c(membership_gap = NA_real_, aspects_gap = NA_real_, worst_row = NA_real_), estimate = estimate,
    prior = if (estimate == "map") prior, pseudo = pseudo, density = data_density(data), margins = data$margins,
    missed_by = missed_by, visits = cell
  )
  if (any(pseudo > 0)) {
    none <- unclass(fit_control(max_pass = 0, n_start = 1))
    fit$loglik <- .Call(mc_c_ab_visits_fit, cell, visit_param(fit), c(0, 0, 0), none)$outcome$objective
  }
  kinds <- rep("content", k)
  fit$expected_false <- list(
    absences = expected_false(fit, data$x, kinds), presences = expected_false(fit, data$x, kinds, "presences")
  )
  if (!control$keep_x) fit$visits <- NULL
  validate_aspect_bernoulli(fit)
}

visit_param <- function(fit) {
  fixed <- list(missed_by = match(fit$missed_by, c("observation", "attribute", "visit")) - 1L, fit_added = FALSE)
  c(lapply(fit$param[c("membership", "aspects", "missed", "added")], unname), fixed)
}

# P(present | all visits) of every cell of some rows.
visit_posterior <- function(fit, rows) {
  cell <- fit$visits[rows, , , drop = FALSE]
  if (is.null(cell)) stop_input("This fit was made with `keep_x = FALSE`: fit again with the visits kept.")
  param <- visit_param(fit)
  param$membership <- param$membership[rows, , drop = FALSE]
  if (fit$missed_by == "observation") param$missed <- param$missed[rows, , drop = FALSE]
  .Call(mc_c_ab_visits_posterior, cell, param)
}

#' @export
cell_scores.visits_bernoulli <- function(fit, rows, kinds, of = "absences") {
  present <- mixed(fit$param$membership[rows, , drop = FALSE], fit$param$aspects)
  after <- visit_posterior(fit, rows)
  if (of == "presences") {
    return(list(probability = 1 - present, present = 1 - present, missed = 1 - after, phantom = 1 - after))
  }
  # Where nothing was found, the odds of a presence fall from p / (1 - p) by the chance that all visits missed it.
  odds <- after / (1 - after) * (1 - present) / present
  list(probability = present, present = present, missed = after, phantom = ifelse(is.finite(odds), pmin(odds, 1), 0))
}

#' @export
largest_missed.visits_bernoulli <- function(fit, scores, observed) scores$missed

#' @export
model_title.visits_bernoulli <- function(fit) sprintf("Aspect Bernoulli model of %d visits", length(fit$param$added))

visit_sentences <- function(fit) {
  missed <- fit$param$missed
  label <- if (is.null(colnames(missed))) seq_len(ncol(missed)) else colnames(missed)
  label <- ifelse(grepl("^[0-9]+$", label), paste("visit", label), label)
  c(
    sprintf(
      "A presence is missed%s by %s.",
      switch(fit$missed_by,
        observation = ", on the mean over observations,", attribute = ", on the mean over attributes,", visit = ""
      ),
      paste(sprintf("%s with probability %s", label, format_chance(colMeans(missed))), collapse = ", ")
    ),
    if (any(fit$param$added > 0)) {
      sprintf(
        "An absence is reported as present by %s.",
        paste(sprintf("%s with probability %s", label, format_chance(fit$param$added)), collapse = ", ")
      )
    },
    expected_sentence(fit, "absences", TRUE), if (any(fit$param$added > 0)) expected_sentence(fit, "presences", TRUE)
  )
}

#' @export
predict.visits_bernoulli <- function(object, newdata, ...) {
  if (!missing(newdata) && !is.null(newdata)) {
    stop_input("A fit with `visits` has no prediction for new observations: fit them together with the others.")
  }
  NextMethod()
}

#' @export
simulate.visits_bernoulli <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  nsim <- check_count(nsim, "nsim", 1L)
  drawn <- draw_seeded(function() lapply(seq_len(nsim), function(i) draw_visits(object)), seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

# One array of visits; no visit where the data have none.
draw_visits <- function(fit) {
  if (is.null(fit$visits)) stop_input("This fit was made with `keep_x = FALSE`: fit again with the visits kept.")
  out <- fit$visits
  present <- random_bernoulli(fitted(fit)) == 1
  for (v in seq_len(dim(out)[3L])) {
    missed <- switch(fit$missed_by,
      observation = matrix(fit$param$missed[, v], nrow(out), ncol(out)),
      attribute = matrix(fit$param$missed[, v], nrow(out), ncol(out), byrow = TRUE),
      visit = matrix(fit$param$missed[1L, v], nrow(out), ncol(out))
    )
    found <- random_bernoulli(ifelse(present, 1 - missed, fit$param$added[v]))
    out[, , v] <- ifelse(is.na(out[, , v]), NA, found)
  }
  out
}
