# Parameters of visits_bernoulli() in the kernel's form, and the probabilities of cells.

missed_choices <- c("site", "taxon", "visit", "model")

# Returns what misses depend on, in the user's words.
missed_word <- function(fit) if (fit$missed_by == "visit") "visit" else side_word(fit, fit$missed_by)

# Tests whether the model treats all sites as searched equally.
goes_by_visit <- function(fit) fit$missed_by == "model" && all(all.vars(fit$detection$formula) == "visit")

# Returns the detection model in the kernel's form.
kernel_detection <- function(detection, sharing) {
  list(design = detection$design, mean = prior_means(detection, sharing$mean), ridge = 1 / sharing$spread^2)
}

# Computes each attribute's mean coefficients, with the effects of taxon covariates on the intercept: d x m.
prior_means <- function(detection, mean) {
  d <- nrow(detection$design)
  out <- matrix(mean[seq_len(d)], d, nrow(detection$taxon))
  at <- which(detection$terms == "(Intercept)")
  if (ncol(detection$taxon)) out[at, ] <- out[at, ] + detection$taxon %*% mean[-seq_len(d)]
  out
}

# Returns the parameters in the kernel's form, with the prior of slopes only if requested.
visit_param <- function(fit, prior = FALSE) {
  param <- lapply(fit$param[c("membership", "aspects", "missed", "added")], unname)
  param <- c(param, list(missed_by = match(fit$missed_by, missed_choices) - 1L, fit_added = FALSE))
  if (fit$missed_by == "model") {
    by <- fit$detection
    param$slopes <- unname(solve(by$basis, fit$param$detection))
    share <- if (prior) by[c("mean", "spread")] else list(mean = 0 * by$mean, spread = rep(Inf, length(by$spread)))
    param$detection <- kernel_detection(by, share)
  }
  param
}

# Computes P(present | all visits) of every cell of some rows.
visit_posterior <- function(fit, rows) {
  cell <- kept_visits(fit)[rows, , , drop = FALSE]
  param <- visit_param(fit)
  param$membership <- param$membership[rows, , drop = FALSE]
  if (fit$missed_by == "site") param$missed <- param$missed[rows, , drop = FALSE]
  if (fit$missed_by == "model") {
    d <- c(nrow(param$slopes), fit$dims[["n"]], dim(cell)[3L])
    param$detection$design <- as.vector(array(fit$detection$design, d)[, rows, , drop = FALSE])
  }
  .Call(mc_c_ab_visits_posterior, cell, param)
}

# Multiplies a probability by visit over the visits made to each cell of some rows.
all_visits <- function(fit, rows, probability) {
  out <- matrix(1, length(rows), fit$dims[["m"]])
  for (v in seq_len(dim(fit$visits)[3L])) {
    made <- !is.na(fit$visits[rows, , v])
    out[made] <- (out * probability(v))[made]
  }
  out
}

# Computes the probability that all visits miss a presence, for some rows.
probability_of_silence <- function(fit, rows) {
  all_visits(fit, rows, function(v) visit_missed(fit, v)[rows, , drop = FALSE])
}

# Computes the probability that a visit misses a presence, n x m.
visit_missed <- function(fit, v) {
  n <- fit$dims[["n"]]
  m <- fit$dims[["m"]]
  if (fit$missed_by == "model") {
    slopes <- solve(fit$detection$basis, unname(fit$param$detection))
    return(stats::plogis(-crossprod(fit$detection$design[, (v - 1L) * n + seq_len(n), drop = FALSE], slopes)))
  }
  missed <- unname(fit$param$missed[, v])
  switch(fit$missed_by,
    site = matrix(missed, n, m), taxon = matrix(missed, n, m, byrow = TRUE), visit = matrix(missed, n, m)
  )
}

# Detection by taxon and visit. A single visit has no term, and each of many visits, such as collections at a site,
# carries little information.
default_detection <- function(cell) {
  n_visits <- sum(colSums(!is.na(cell), dims = 2L) > 0)
  if (n_visits > 1L && n_visits <= most_visit_terms) ~visit else ~1
}
most_visit_terms <- 10L

# Defines the problem that starts.R works on. `near`: the result of smooth_lists(), or NULL.
visits_problem <- function(cell, data, k, settings) {
  structure(
    list(cell = cell, data = data, k = k, settings = settings, blank = visit_rates(cell, settings)),
    class = c("visits_bernoulli_problem", "multicause_problem")
  )
}

# Returns starting values of the rates: equal, and no additions unless they are fitted.
visit_rates <- function(cell, settings) {
  visits <- dim(cell)[3L]
  added <- rep(if (settings$added) 0.01 else 0, visits)
  if (settings$missed_by == "model") {
    return(list(slopes = matrix(0, nrow(settings$by$design), dim(cell)[2L]), added = added))
  }
  rows <- switch(settings$missed_by, site = dim(cell)[1L], taxon = dim(cell)[2L], visit = 1L)
  list(missed = matrix(0.4, rows, visits), added = added)
}

check_rates <- function(start, problem) {
  blank <- problem$blank
  if (!is.null(start$detection) && !is.null(blank$slopes)) {
    slopes <- check_matrix(start$detection, "start$detection", nrow(blank$slopes), ncol(blank$slopes))
    blank$slopes <- solve(problem$settings$by$basis, unname(slopes))
  }
  if (!is.null(start$missed) && !is.null(blank$missed)) {
    side <- match(problem$settings$missed_by, c("site", "taxon"))
    known <- if (!is.na(side)) dimnames(problem$data$x)[[side]]
    missed <- by_name(start$missed, known, "start$missed")
    blank$missed <- check_matrix(missed, "start$missed", nrow(blank$missed), ncol(blank$missed), 0, 1)
  }
  if (!is.null(start$added)) {
    blank$added <- as.vector(check_matrix(t(start$added), "start$added", 1L, length(blank$added), 0, 1))
  }
  blank
}

visits_run <- function(cell, param, prior, control) {
  fixed <- rep("free", nrow(param$aspects))
  .Call(mc_c_ab_visits_fit, cell, param, mode_counts(prior, fixed), unclass(control))
}

# Names a kernel's parameters and converts coefficients to the covariates' scale.
own_visit_param <- function(param, problem) {
  settings <- problem$settings
  by <- settings$by
  follows <- settings$communities
  labels <- component_names(problem$k)
  names <- dimnames_of(problem$data$x)
  visits <- dimnames(problem$cell)[[3L]]
  out <- list(
    membership = structure(param$membership, dimnames = list(names[[1L]], labels)),
    aspects = structure(param$aspects, dimnames = list(labels, names[[2L]]))
  )
  if (settings$missed_by == "model") {
    out$detection <- structure(by$basis %*% param$slopes, dimnames = list(by$terms, names[[2L]]))
  } else {
    out$missed <- param$missed
    rows <- switch(settings$missed_by, site = names[[1L]], taxon = names[[2L]])
    if (!is.null(rows) || !is.null(visits)) dimnames(out$missed) <- list(rows, visits)
  }
  out$added <- stats::setNames(as.vector(param$added), visits)
  if (!is.null(follows)) {
    effects <- follows$basis %*% centred_effects(param$effects)
    out$communities <- structure(effects, dimnames = list(follows$terms, labels))
  }
  out
}

# Slopes that are shrunk towards a mean turn any likelihood into a posterior.
visit_objective <- function(settings) {
  shrunken <- settings$missed_by == "model" && any(is.finite(settings$share$spread))
  if (settings$estimate == "ml" && !shrunken) "log_likelihood" else "log_posterior"
}

need_detection <- function(fit) {
  if (!identical(fit$missed_by, "model")) {
    stop_input("This is for fits with `detection`: this one has rates of misses by %s.", missed_word(fit))
  }
}
