#' Repeated visits: what was there, and what the visits missed
#'
#' The aspect Bernoulli model of repeated surveys. A cell has a true state, present with the probability that
#' [aspect_bernoulli()] gives it; all visits to the observation share that state, and each may miss a presence. Repeats
#' tell misses from absences, which one table alone cannot.
#'
#' @details
#' **Model.** \eqn{P(z_{ij} = 1) = \sum_c s_{ic} a_{cj}}{P(z[i,j] = 1) = sum_c s[i,c] a[c,j]} for the true state, with
#' `membership` \eqn{s} and `aspects` \eqn{a}. A visit misses a presence with a probability that belongs to the
#' observation and visit, to the attribute and visit, or to the visit alone (`missed_by`). With `added` it reports an
#' absent attribute with a probability of its own. All k components are content: the misses are what the phantom of
#' [aspect_bernoulli()] stands for.
#'
#' **Estimation.** EM, all updates in closed form, accelerated by default. The posterior mode, `"map"`, is the default:
#' it predicts held-out records better, by 0.003 to 0.2 nats a record (`bench/estimate_default.md` in the sources). A
#' pass takes O(n m (k + visits)).
#'
#' @param x repeated surveys of the same n observations: a list of 0/1 tables of the same shape and names, one for each
#'   visit, or an n x m x visits array. `NA` where there was no visit.
#' @param k number of components, at least 1.
#' @param ... must be empty.
#' @param estimate `"map"` (posterior mode) or `"ml"` (maximum likelihood).
#' @param prior for `"map"`, as in [aspect_bernoulli()]: `aspects`, two numbers of at least 1; `membership`, one.
#' @param missed_by whose the probabilities of missing a presence are: each `"observation"`, `"attribute"` or `"visit"`
#'   has one for each visit.
#' @param added whether a visit may report what is absent (`TRUE`: its probability is fitted).
#' @param start initial values, as in [aspect_bernoulli()]; `missed` and `added` may come with them.
#' @param control settings from [fit_control()].
#' @return A list of class `visits_bernoulli`, which is an `aspect_bernoulli` too, with the elements of such a fit and
#' \describe{
#'   \item{`param`}{also `missed`, the probabilities of missing a presence (n, m or 1 x visits), and `added`, of
#'     reporting an absence as present (one for each visit).}
#'   \item{`x`}{1 where any visit found something, 0 where none did, `NA` where there was no visit.}
#'   \item{`visits`}{the n x m x visits array (where `control` keeps the data).}
#' }
#' `fitted()` is the probability that the attribute is there. [false_absences()] and [deficiency()] go by all visits.
#' There is no certificate (`NA`) and no prediction for new observations.
#' @seealso [aspect_bernoulli()], [false_absences()], [deficiency()], [identifiability()].
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' present <- outer(1:30, 1:10, function(i, j) (i <= 15) == (j <= 5)) * rbinom(300, 1, 0.7)
#' visits <- list(first = present * rbinom(300, 1, 0.6), second = present * rbinom(300, 1, 0.6))
#' fit <- visits_bernoulli(visits, k = 2, missed_by = "visit")
#' fit
#' head(false_absences(fit), 3)
#' @export
visits_bernoulli <- function(x, k, ..., estimate = c("map", "ml"),
                             prior = list(aspects = c(1.2, 2), membership = 1),
                             missed_by = c("observation", "attribute", "visit"), added = FALSE, start = NULL,
                             control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x, k)
  estimate <- check_choice(estimate, "estimate", c("map", "ml"))
  missed_by <- check_choice(missed_by, "missed_by", c("observation", "attribute", "visit"))
  added <- check_flag(added, "added")
  control <- check_control(control)
  cell <- check_visits(x)
  data <- check_data(any_visit(cell), "binary", name = "x")
  k <- check_k(k, dim(data$x))
  tell_many_components(data, k)
  if (estimate == "map") ab_check_prior(prior)
  settings <- list(estimate = estimate, prior = prior, missed_by = missed_by, added = added)
  call <- keep_values(call, c(settings, list(start = start)))
  if (estimate == "ml") settings$prior <- NULL
  problem <- structure(
    list(cell = cell, data = data, k = k, settings = settings, blank = visit_rates(cell, missed_by, added)),
    class = c("visits_bernoulli_problem", "multicause_problem")
  )
  if (!is.null(start)) {
    problem$start <- c(ab_check_start(start, data, k, rep("free", k)), check_rates(start, problem$blank))
  }
  started <- run_starts(problem, control)
  if (is.null(start)) started <- reorder_runs(started, function(param) order(-colMeans(param$membership)), ab_permute)
  new_visits_fit(started, cell, data, k, settings, control, call)
}

#' @export
start_kinds.visits_bernoulli_problem <- function(problem, control) {
  if (problem$k == 1L) "uniform" else rep_len(c("mixture", "mixture", "uniform"), control$n_start)
}

#' @export
draw_start.visits_bernoulli_problem <- function(problem, kind) {
  c(ab_draw(problem$data, kind, rep("free", problem$k)), problem$blank)
}

#' @export
run_start.visits_bernoulli_problem <- function(problem, start, control) {
  settings <- problem$settings
  by <- match(settings$missed_by, c("observation", "attribute", "visit")) - 1L
  param <- c(start, list(missed_by = by, fit_added = settings$added))
  out <- visits_run(problem$cell, param, settings$prior, control)
  list(param = out$param[c("membership", "aspects", "missed", "added")], outcome = out$outcome)
}

visits_run <- function(cell, param, prior, control) {
  pinned <- rep("free", nrow(param$aspects))
  .Call(mc_c_ab_visits_fit, cell, param, mode_counts(prior, pinned), unclass(control))
}

#' @export
shake_start.visits_bernoulli_problem <- function(problem, param) {
  c(ab_shake(param[1:2], rep("free", problem$k)), param[3:4])
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
    if (!length(visits)) stop_input("`x` must hold at least one table, not none.")
    tables <- lapply(seq_along(visits), function(v) {
      as.matrix(check_data(visits[[v]], "binary", sprintf("x[[%d]]", v), quiet = TRUE)$x)
    })
    for (v in seq_along(tables)) {
      if (!identical(attributes(tables[[v]]), attributes(tables[[1L]]))) {
        stop_input(
          "`x` must hold tables of the same shape and names: number %d %s.", v,
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
      "`x` must be a list of tables or an array of observations x attributes x visits, not %s.", show_value(visits)
    )
  }
  bad <- which(!visits %in% c(0, 1, NA))
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(visits))
    stop_input(
      "`x` must hold only 0, 1 or NA: row %d, column %d, visit %d is %s.", at[1L], at[2L], at[3L],
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

new_visits_fit <- function(run, cell, data, k, settings, control, call) {
  missed_by <- settings$missed_by
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
    run, data, k, if (settings$estimate == "ml") "log_likelihood" else "log_posterior", control, call,
    param = param, loglik = run$best$outcome$objective,
    df = n * (k - 1) + k * as.double(ncol(data$x)) + length(param$missed) + settings$added * length(param$added),
    class = c("visits_bernoulli", "aspect_bernoulli"), pinned = stats::setNames(rep("free", k), labels),
    certificate = no_certificate,
    estimate = settings$estimate, prior = settings$prior,
    density = data_density(data), margins = data$margins,
    missed_by = missed_by, visits = cell
  )
  if (any(mode_counts(settings$prior, fit$pinned) > 0)) {
    none <- fit_control(max_pass = 0, n_start = 1)
    fit$loglik <- visits_run(cell, visit_param(fit), NULL, none)$outcome$objective
  }
  if (!control$keep_x) {
    fit <- keep_answers(fit, data$x)
    fit$visits <- NULL
  }
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
  # The visits wrote the value on record if it is false or if they would have written it over a true one as well.
  if (of == "presences") {
    clean <- all_visits(fit, rows, function(v) 1 - fit$param$added[v])
    return(list(probability = 1 - present, present = 1 - present, missed = 1 - after, phantom = 1 - after * clean))
  }
  silent <- all_visits(fit, rows, function(v) visit_missed(fit, v)[rows, , drop = FALSE])
  list(probability = present, present = present, missed = after, phantom = after + (1 - after) * silent)
}

# A visit's own record is told by the other visits to the cell where it is held out.
#' @export
recorded_probability.visits_bernoulli <- function(fit) {
  present <- visit_posterior(fit, seq_len(fit$dims[["n"]]))
  each <- lapply(seq_along(fit$param$added), function(v) {
    present * (1 - visit_missed(fit, v)) + (1 - present) * fit$param$added[v]
  })
  array(unlist(each), dim(fit$visits))
}

# The product over the visits that there were to each cell of some rows of a chance by visit.
all_visits <- function(fit, rows, chance) {
  out <- matrix(1, length(rows), fit$dims[["m"]])
  for (v in seq_len(dim(fit$visits)[3L])) {
    made <- !is.na(fit$visits[rows, , v])
    out[made] <- (out * chance(v))[made]
  }
  out
}

# The chance that a visit misses a presence, n x m.
visit_missed <- function(fit, v) {
  n <- fit$dims[["n"]]
  m <- fit$dims[["m"]]
  missed <- unname(fit$param$missed[, v])
  switch(fit$missed_by,
    observation = matrix(missed, n, m), attribute = matrix(missed, n, m, byrow = TRUE), visit = matrix(missed, n, m)
  )
}

#' @export
largest_missed.visits_bernoulli <- function(fit, scores, observed, kinds, of) scores$missed

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
  check_whole(object, "object")
  if (!missing(newdata) && !is.null(newdata)) {
    stop_input("A fit of repeated visits has no prediction for new observations: fit them together with the others.")
  }
  NextMethod()
}

#' @export
simulate.visits_bernoulli <- function(object, nsim = 1, seed = NULL, ...) {
  check_whole(object, "object")
  check_dots(...)
  nsim <- check_nsim(nsim, as.double(length(object$visits)))
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
    found <- random_bernoulli(ifelse(present, 1 - visit_missed(fit, v), fit$param$added[v]))
    out[, , v] <- ifelse(is.na(out[, , v]), NA, found)
  }
  out
}

#' @export
held_out_rows.visits_bernoulli <- function(fit, data, floor, family, ...) {
  stop_no_likelihood(paste(
    "A fit of repeated visits has no likelihood for new observations, whose visits it does not know:",
    "fit them together with the others, or hold out cells by cross_validate()."
  ))
}

#' @export
part_sides.visits_bernoulli <- function(fit, name, values) {
  switch(name,
    missed = c(if (nrow(values) > 1L) fit$missed_by, "visit"), added = "visit", NextMethod()
  )
}

#' @export
fit_rules.visits_bernoulli <- function(fit) {
  rules <- NextMethod()
  rules$missed_by <- rule_choice(c("observation", "attribute", "visit"))
  c(rules, visit_rules(fit, fit$dims[["n"]], fit$dims[["m"]]))
}

visit_rules <- function(fit, n, m) {
  at <- if (is.list(fit$param)) length(fit$param$added) else 0L
  rows <- if (identical(fit$missed_by, "observation")) n else if (identical(fit$missed_by, "attribute")) m else 1L
  list(
    param = list(missed = rule_matrix(rows, at, 0, 1), added = rule_numbers(max(at, 1L), 0, 1)),
    visits = or_null(function(x) {
      if (!is_plain(x) || length(dim(x)) != 3L || any(dim(x) != c(n, m, at))) {
        sprintf("NULL or an array of %s", show_size(n, m, at))
      }
    })
  )
}
