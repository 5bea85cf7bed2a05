#' Predictions from a fit of repeated visits
#'
#' Probabilities of a presence in the cells of the data and at new sites, and of finding what is there on visits that
#' were not made.
#'
#' @details
#' **New sites** are described by their covariates (`site_data`, for a fit with `communities`), by their neighbours
#' (`along`, for a fit with `smooth`) or by visits to them (`newdata`, with `visit_data` and `site_data` if detection
#' depends on covariates). From covariates memberships follow by the effects of the fit. From visits the most likely
#' memberships are found (with a prior, the posterior mode), with components and detection fixed; neighbours, if
#' supplied, count as in the fit.
#'
#' **With draws.** For a fit with `estimate = "gibbs"` and `communities`, probabilities at new sites are means over the
#' draws that were kept, and can have intervals. Without `communities` memberships of new sites are found with
#' parameters fixed at their posterior means, and there are no intervals.
#'
#' @param object a fit of [visits_bernoulli()].
#' @param newdata for `"detection"`: a data frame with a row for each visit and the covariates of the fit's `detection`
#'   as columns; what is left out is at its mean (its commonest value). Else visits to new sites, in any shape
#'   that [visits_bernoulli()] takes, with the taxa of the fit; or, of a fit with `communities`, a data frame of their
#'   covariates, as package terra passes it for the cells of a raster; or `NULL`.
#' @param type `"response"`: the probability that the taxon is there, before the visits to the cell are considered;
#'   `"present"`: after them; `"found"`: that it is there and `planned` visits find it; `"membership"`, `"cell"`: as in
#'   [predict.aspect_bernoulli()], `"cell"` for the data of the fit alone. `"detection"`: the probability that a visit
#'   finds each taxon where it is.
#' @param ... for the data of the fit, as in [predict.aspect_bernoulli()].
#' @param level `NULL` or, with `estimate = "gibbs"`, the probability of an interval: the result is then a list of
#'   `mean`, `lower` and `upper`. Not for `"present"` and `"found"`.
#' @param planned for `"found"`: a data frame with a row for each visit that is planned to every site, columns as
#'   in `newdata` for `"detection"`; or their number.
#' @param visit_data,site_data covariates of new sites and of the visits to them, as in [visits_bernoulli()].
#'   With `planned`, what `site_data` has of detection's covariates belongs to the sites.
#' @param along for a fit with `smooth`, the covariates of the new sites by which they have neighbours, as in
#'   [predict.aspect_bernoulli()].
#' @param sides for an array in `newdata`, as in [visits_bernoulli()].
#' @param control settings of the search for memberships, from [fit_control()].
#' @return A matrix: rows of `newdata` x m, sites x m, or as in [predict.aspect_bernoulli()]. `NA` where a covariate of
#'   the fit is `NA`.
#' @seealso [visits_needed()]
#' @examples
#' set.seed(1)
#' date <- matrix(runif(90, 0, 2), 30)
#' present <- matrix(rbinom(150, 1, 0.6), 30)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(150, 1, plogis(date[, v] - 1)), 30))
#' fit <- visits_bernoulli(visits, 1, detection = ~date, visit_data = list(date = date))
#' predict(fit, data.frame(date = c(0, 1, 2)), type = "detection")
#'
#' # New sites by their covariates; misses depend on the visit alone
#' wet <- data.frame(wet = rep(0:1, 15))
#' follows <- visits_bernoulli(visits, 2, missed_by = "visit", communities = ~wet, site_data = wet)
#' predict(follows, data.frame(wet = c(0.2, 0.9, NA)))
#' @export
predict.visits_bernoulli <- function(object, newdata = NULL, type = c(
                                       "response", "present", "found", "membership", "cell", "detection"
                                     ), ..., level = NULL, planned = NULL, visit_data = NULL, site_data = NULL,
                                     along = NULL, sides = NULL,
                                     control = fit_control(max_iter = 5000, tol = 1e-10)) {
  type <- check_choice(type)
  if (type == "detection") {
    check_dots(...)
    return(new_detection(object, newdata, level))
  }
  # Visits are never a data frame, so this is one of covariates.
  if (is.data.frame(newdata) && is.null(site_data) && !is.null(object$communities)) {
    site_data <- newdata
    newdata <- NULL
  }
  if (xor(type == "found", !is.null(planned))) {
    stop_input("`planned` must state which visits are planned for `type = \"found\"`, and be left out else.")
  }
  if (!is.null(level) && type %in% c("present", "found")) {
    stop_input("`level` must be NULL for `type = \"%s\"`.", type)
  }
  is_new <- !is.null(newdata) || !is.null(along) || (!is.null(site_data) && type != "found") ||
    (!is.null(site_data) && !is.null(object$communities))
  if (is_new) {
    check_dots(...)
    sites <- list(visits = newdata, visit = visit_data, site = site_data, along = along, sides = sides)
    out <- predict_sites(object, sites, type, level, check_control(control))
  } else {
    out <- predict_own(object, type, level, ...)
  }
  if (type == "found") out <- out * found_on(object, planned, site_data, nrow(out), rownames(out))
  if (type == "membership") out else in_given_order(out, newdata)
}

predict_own <- function(fit, type, level, ...) {
  if (type %in% c("present", "found")) {
    check_dots(...)
    after <- if (is_sampled(fit)) fit$cells$missed$mean else visit_posterior(fit, seq_len(fit$dims[["n"]]))
    return(structure(after, dimnames = name_sides(fit$names)))
  }
  if (is_sampled(fit)) {
    return(predict.aspect_model_gibbs(fit, type = type, ..., level = level))
  }
  if (is.null(level)) predict.aspect_model(fit, type = type, ...) else
    predict.aspect_model(fit, type = type, ..., level = level)
}

# Predicts new observations: their covariates, then their memberships, then the requested quantity.
predict_sites <- function(fit, sites, type, level, control) {
  if (type == "cell") stop_input("`type` must not be \"cell\" for new sites.")
  if (!is.null(level) && (is.null(fit$communities) || !is_sampled(fit))) {
    stop_input("`level` for new sites is for fits with `estimate = \"gibbs\"` and `communities`.")
  }
  cell <- new_cell(fit, sites)
  along <- if (!is.null(sites$along)) check_along(fit, sites$along, if (!is.null(cell)) nrow(cell), rownames(cell))
  if (is.null(fit$communities)) {
    if (is.null(cell) && is.null(along)) {
      stop_input(
        "New sites must be known by visits to them (`newdata`)%s: this fit has no `communities`.",
        if (is.null(fit$smooth)) "" else " or their neighbours (`along`)"
      )
    }
    shares <- list(new_membership(fit, cell, along, sites, control))
  } else {
    shares <- followed_membership(fit, cell, sites$site)
  }
  param <- if (length(shares) > 1L) kept_states(fit) else list(fit$param)
  named <- if (!is.null(cell)) cell else if (!is.null(along)) along[[1L]] else shares[[1L]]
  label <- rownames(named)
  each <- Map(function(share, param) {
    if (type == "membership") {
      return(share)
    }
    before <- mixed(share, unname(param$aspects))
    if (type == "response" || is.null(cell)) {
      return(before)
    }
    .Call(mc_c_ab_visits_posterior, cell, new_visit_param(fit, cell, sites, share, param))
  }, shares, param)
  columns <- if (type == "membership") component_names(fit$dims[["k"]]) else fit$names[[2L]]
  unknown_rows(mean_and_limits(each, level, list(label, columns)), attr(shares, "unknown"))
}

# Returns visits to new observations with attributes in the order of the fit's; NULL if there are none.
new_cell <- function(fit, sites) {
  if (is.null(sites$visits)) {
    return(NULL)
  }
  x <- sites$visits
  if (is.data.frame(x)) {
    stop_input(paste(
      "`newdata` must be visits to new sites, not a data frame: use covariates of new sites with a fit with",
      "`communities`, those of visits with `type = \"detection\"`."
    ))
  }
  sides <- sites$sides
  # The number of taxa is known here, and may exceed that of new sites.
  if (is.null(sides) && length(dim(x)) == 3L && !says_visits(x) && dim(x)[2L] == fit$dims[["m"]]) sides <- visit_sides
  cell <- check_visits(x, sides, "newdata")
  own <- matrix(seq_len(dim(cell)[2L]), 1L, dimnames = list(NULL, dimnames(cell)[[2L]]))
  at <- as.vector(match_columns(own, fit$names[[2L]], fit$dims[["m"]]))
  out <- cell[, at, , drop = FALSE]
  attr(out, "covariates") <- attr(cell, "covariates")
  attr(out, "sides") <- visit_sides
  if (fit$missed_by == "site") {
    stop_input(paste(
      "`newdata` must be NULL: misses of this fit depend on %s, which is unknown for new ones. Use `detection`",
      "or another `missed_by`."
    ), side_word(fit, "site"))
  }
  if ((fit$missed_by != "model" || any(fit$param$added > 0)) && dim(out)[3L] != length(fit$param$added)) {
    stop_input(
      "`newdata` must have the %s of the fit, whose misses depend on the visit, not %d.",
      count_words(length(fit$param$added), "visit"),
      dim(out)[3L]
    )
  }
  out
}

new_observed.visits_bernoulli <- function(fit, newdata) {
  if (!is.data.frame(newdata)) any_visit(new_cell(fit, list(visits = newdata)))
}

# Computes memberships of new observations by their covariates, a list: one for a fit, one for each kept state of a
# sampled fit. Its attribute `unknown`: rows with an unknown covariate.
followed_membership <- function(fit, cell, site_data) {
  by <- fit$communities
  if (!is.null(cell) && is.data.frame(site_data)) {
    site_data <- as.data.frame(side_values(site_data, nrow(cell), rownames(cell), "site_data", c("site", "sites")))
  }
  design <- new_membership_design(by, site_data, "communities")
  states <- if (is_sampled(fit)) kept_states(fit) else list(fit$param)
  shares <- lapply(states, function(state) {
    out <- multinomial_shares(design, solve(by$basis, unname(state$communities)))
    if (.row_names_info(site_data) > 0L) rownames(out) <- rownames(site_data)
    out
  })
  structure(shares, unknown = attr(design, "unknown"))
}

# Returns parameters for new observations in the kernel's form.
new_visit_param <- function(fit, cell, sites, membership, param) {
  out <- visit_param(fit)
  d <- dim(cell)
  out$membership <- unname(membership)
  out$aspects <- unname(pmin(pmax(param$aspects, 1e-10), 1 - 1e-10))
  if (d[3L] != length(out$added)) out$added <- rep(0, d[3L])
  if (fit$missed_by == "model") {
    wanted <- names(fit$detection$frame$typical)
    known <- known_covariates(cell, sites[c("visit", "site")])$values
    lost <- setdiff(wanted, names(known))
    if (length(lost)) {
      stop_input("`visit_data` and `site_data` lack %s, on which `detection` depends.", show_names(lost))
    }
    values <- covariate_frame(known[wanted], d[1L] * d[3L])
    check_visit_covariates(values, as.vector(visits_made(cell)), cell)
    for (name in wanted) {
      if (!is.numeric(values[[name]]) && is.numeric(fit$detection$frame$typical[[name]])) {
        stop_input("Covariate `%s` must be numbers, as in the data of the fit.", name)
      }
    }
    values[] <- lapply(values, function(x) if (is.numeric(x)) x else as.character(x))
    if (length(values)) values[!as.vector(visits_made(cell)), ] <- NA # whose levels nobody needs
    out$slopes <- solve(fit$detection$basis, unname(param$detection))
    out$detection$design <- new_design(fit$detection$frame, values)
  }
  out
}

# Estimates memberships of new observations, all else fixed; without visits, those of neighbours, or the mean.
new_membership <- function(fit, cell, along, sites, control) {
  smooth <- if (is_smoothed(fit)) smooth_given(fit, if (is.null(cell)) nrow(along[[1L]]) else nrow(cell), along)
  if (is.null(cell)) {
    return(t(smooth$reference))
  }
  n <- nrow(cell)
  k <- fit$dims[["k"]]
  param <- new_visit_param(fit, cell, sites, matrix(1 / k, n, k), fit$param)
  param$fixed <- TRUE
  param$smooth <- smooth
  prior <- membership_prior(mode_prior(fit))
  run <- visits_run(cell, param, prior, control)
  check_outcome(run$outcome)
  out <- run$param$membership
  bare <- which(rowSums(!is.na(cell)) == 0)
  if (length(bare)) {
    common <- colMeans(fit$param$membership)
    out[bare, ] <- if (is.null(smooth)) rep(common, each = length(bare)) else t(smooth$reference[, bare, drop = FALSE])
  }
  out
}

# Computes the probability that at least one planned visit detects a present taxon, n x m.
found_on <- function(fit, planned, site_data, n, labels) {
  need_detection(fit)
  if (is.numeric(planned) && length(planned) == 1L) {
    planned <- data.frame(row.names = seq_len(check_count(planned, "planned", 1L)))
  }
  if (!is.data.frame(planned) || !nrow(planned)) {
    stop_input("`planned` must be a number or a data frame with a row for each visit, not %s.", show_value(planned))
  }
  if (is.data.frame(site_data)) site_data <- plain_frame(site_data)
  of_site <- intersect(setdiff(names(fit$detection$frame$typical), names(planned)), names(site_data))
  if (length(of_site)) {
    site_data <- as.data.frame(side_values(site_data, n, labels, "site_data", c("site", "sites")), optional = TRUE)
  }
  missed <- 1
  for (v in seq_len(nrow(planned))) {
    one <- planned[rep(v, if (length(of_site)) n else 1L), , drop = FALSE]
    if (length(of_site)) one <- cbind(one, site_data[of_site])
    probability <- unname(new_detection(fit, one))
    missed <- missed * (1 - probability[if (length(of_site)) seq_len(n) else rep(1L, n), , drop = FALSE])
  }
  1 - missed
}

# Held-out visits: all records of a visit to an observation at a time, predicted from the other visits to it. Tests:
# test-visits_bernoulli_held_out.R.

check_tells_visits.visits_bernoulli <- function(fit) {
  if (fit$missed_by == "site") {
    stop_input(paste(
      "`missed_by = \"site\"` has no estimate for a held-out visit: use `missed_by = \"taxon\"`,",
      "`missed_by = \"visit\"` or `detection`, or hold out cells."
    ))
  }
}

# Computes the losses of held_out_loss() for visits; if misses depend on observation, which predicts nothing for an
# unseen visit, single records are held out.
held_out_loss.visits_bernoulli_problem <- function(problem, smooth, control) {
  cell <- problem$cell
  seeds <- draw_seeds(2L)
  control <- short_starts(control)
  held <- with_seed(seeds[1L], if (problem$settings$missed_by == "site") {
    cell_folds(matrix(!is.na(cell), nrow(cell)), smooth$folds)
  } else {
    visit_folds(cell, smooth$folds)
  })
  parts <- lapply(held, function(at) {
    problem$cell <- replace_cells(cell, at)
    problem$data <- check_data(any_visit(problem$cell), "binary", quiet = TRUE)
    problem["near"] <- list(NULL)
    problem
  })
  first <- with_seed(seeds[2L], lapply(parts, function(part) run_starts(part, control)$best$param))
  smoothed_losses(smooth, parts, first, control, function(param, f) {
    probability <- recorded_probability(bare_visits_fit(parts[[f]], param))[held[[f]]]
    mean(loss_of_mean(probability, NULL, cell[held[[f]]], "bernoulli", 1e-6))
  })
}

# Returns the parts of a fit that recorded_probability() needs.
bare_visits_fit <- function(problem, param) {
  settings <- problem$settings
  by <- settings$by
  d <- dim(problem$cell)
  fit <- list(
    param = own_visit_param(param, problem), missed_by = settings$missed_by, visits = problem$cell,
    detection = if (!is.null(by)) detection_answer(by, settings), dims = c(n = d[1L], m = d[2L], k = problem$k)
  )
  structure(fit, class = c("visits_bernoulli", "aspect_model", "multicause"))
}
