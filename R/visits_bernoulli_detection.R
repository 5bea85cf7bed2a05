# Detection by covariates: the design, the shrinkage of taxa and its strength, standard errors. The likelihood and its
# derivatives are in src/visits_bernoulli/em.h.

# Returns the initial shrinkage of slopes: list(mean = d + w numbers, spread = d standard deviations among taxa).
# Without sharing the mean is 0 and the spread that of the prior; Inf: no prior.
start_sharing <- function(detection, settings) {
  d <- nrow(detection$design)
  own <- if (settings$estimate == "ml") Inf else settings$prior$detection
  list(
    mean = rep(0, d + ncol(detection$taxon)),
    spread = rep(if (settings$sharing == "partial") 1 else own, d)
  )
}

visits_inform <- function(cell, param, prior) {
  .Call(mc_c_ab_visits_inform, cell, param, mode_counts(prior, rep("free", nrow(param$aspects))))
}

inner_edge <- 1e-6 # aspects nearer to 0 or 1 stay where they are, and have no standard error: AB_VISITS_EDGE in C

# Optimises each attribute with the memberships fixed, by at most `most` Newton steps.
polish_taxa <- function(cell, param, prior, most = 50L) {
  counts <- mode_counts(prior, rep("free", nrow(param$aspects)))
  out <- .Call(mc_c_ab_visits_polish, cell, param, counts, most)
  param[names(out)] <- out
  param
}

# Summarises the likelihood of each attribute's slopes, with aspects profiled out: list of precision (d x d, without the
# prior's) and shift, so that the likelihood is about exp(shift'b - b'precision b / 2).
slope_evidence <- function(cell, param, prior) {
  k <- nrow(param$aspects)
  d <- nrow(param$slopes)
  now <- visits_inform(cell, param, prior)
  ridge <- param$detection$ridge
  lapply(seq_len(ncol(param$slopes)), function(j) {
    at <- k + seq_len(d)
    free <- which(param$aspects[, j] > inner_edge & param$aspects[, j] < 1 - inner_edge)
    information <- matrix(now$information[at, at, j], d) - diag(ridge, d)
    gradient <- now$gradient[at, j] + ridge * (param$slopes[, j] - param$detection$mean[, j])
    if (length(free)) {
      cross <- matrix(now$information[at, free, j], d)
      inner <- eigen(matrix(now$information[free, free, j], length(free)), symmetric = TRUE)
      # Away from a mode the likelihood may curve upwards: with a curvature close to 0 instead, slopes have little
      # evidence, and never more than with known aspects.
      curvature <- pmax(inner$values, 1e-8 * max(abs(inner$values), 1e-300))
      reach <- cross %*% inner$vectors
      information <- information - reach %*% (t(reach) / curvature)
    }
    whole <- eigen((information + t(information)) / 2, symmetric = TRUE)
    # If the likelihood rises almost without end, its maximum is taken to be this far away.
    rise <- abs(as.vector(crossprod(whole$vectors, gradient)))
    precision <- whole$vectors %*% (pmax(whole$values, rise / far_slope, 0) * t(whole$vectors))
    list(precision = precision, shift = as.vector(precision %*% param$slopes[, j]) + gradient)
  })
}

least_spread <- 0.01
far_slope <- 3 # on the scale of the design: odds 20 times as high

# Inverts the definite matrices a[j, , ], all attributes at a time, by Gauss and Jordan.
invert_each <- function(a) {
  d <- dim(a)[2L]
  for (e in seq_len(d)) {
    scale <- 1 / a[, e, e]
    row <- matrix(a[, e, ] * scale, ncol = d)
    for (f in seq_len(d)[-e]) {
      column <- a[, f, e]
      a[, f, ] <- a[, f, ] - column * row
      a[, f, e] <- -column * scale
    }
    a[, e, ] <- row
    a[, e, e] <- scale
  }
  a
}

# Estimates mean and spread of the slopes among taxa, by EM of the normal model b_j ~ N(M_j mean, diag(spread^2)) with
# the evidence on the slopes, the mean integrated out (as in REML). M_j = (I, t_j), t_j being the covariates of taxa in
# the row of the intercept. With W = diag(1 / spread^2), V_j = (precision_j + W)^-1 and lead_j = V_j W - I, the
# remaining precision of b_j's mean is W - W V_j W = -W lead_j.
update_sharing <- function(evidence, detection, sharing, mean_sd, rounds = sharing_steps) {
  d <- nrow(detection$design)
  m <- length(evidence)
  taxon <- detection$taxon
  at <- match("(Intercept)", detection$terms)
  ridge <- if (is.finite(mean_sd)) 1 / mean_sd^2 else 1e-10
  precision <- aperm(array(unlist(lapply(evidence, `[[`, "precision")), c(d, d, m)), c(3L, 1L, 2L))
  shift <- matrix(unlist(lapply(evidence, `[[`, "shift")), m, byrow = TRUE)
  side <- function(a, e) matrix(a[, e, ], m)
  times <- function(a, b) vapply(seq_len(d), function(e) rowSums(side(a, e) * b), numeric(m))
  for (round in seq_len(rounds)) {
    before <- sharing
    weight <- 1 / sharing$spread^2
    inverse <- precision
    for (e in seq_len(d)) inverse[, e, e] <- inverse[, e, e] + weight[e]
    inverse <- invert_each(inverse)
    lead <- inverse * rep(weight, each = m * d)
    for (e in seq_len(d)) lead[, e, e] <- lead[, e, e] - 1
    drawn <- matrix(times(inverse, shift), m)
    left <- -weight * matrix(colSums(lead), d)
    right <- weight * colSums(drawn)
    if (ncol(taxon)) {
      cross <- -weight * crossprod(matrix(lead[, , at], m), taxon)
      left <- rbind(cbind(left, cross), cbind(t(cross), crossprod(taxon, -weight[at] * lead[, at, at] * taxon)))
      right <- c(right, crossprod(taxon, weight[at] * drawn[, at]))
    }
    covariance <- solve((left + t(left)) / 2 + diag(ridge, d + ncol(taxon)))
    mean <- as.vector(covariance %*% right)
    off <- drawn + matrix(times(lead, t(prior_means(detection, mean))), m)
    unsure <- vapply(seq_len(d), function(e) {
      reach <- cbind(side(lead, e), if (ncol(taxon)) lead[, e, at] * taxon)
      mean(inverse[, e, e] + rowSums((reach %*% covariance) * reach))
    }, 0)
    sharing <- list(
      mean = mean, spread = pmax(sqrt(colMeans(off^2) + unsure), least_spread), covariance = covariance
    )
    if (sharing_moved(sharing, before) < sharing_tol / 20) break
  }
  sharing
}

sharing_moved <- function(now, before) {
  max(abs(log(now$spread / before$spread)), abs(now$mean - before$mean))
}

# Checks `detection` and its covariates and returns the settings: `by` is the design, `share` the shrinkage of slopes.
check_detection <- function(formula, cell, given, settings) {
  settings$by <- detection_design(formula, cell, given)
  if (ncol(settings$by$taxon) && settings$sharing == "none") {
    stop_input("`detection` must not have covariates of taxa with `sharing = \"none\"`: each has a mean of its own.")
  }
  # One or two attributes carry no information on a spread.
  if (settings$sharing == "partial" && dim(cell)[2L] < 3L) settings$sharing <- "none"
  settings$share <- start_sharing(settings$by, settings)
  settings
}

sharing_rounds <- 12L
sharing_steps <- 20L # of update_sharing(), a round
sharing_tol <- 1e-3

# Refits the best start with slopes shrunk by the spread among taxa: alternates the model under the current mean and
# spread with their update from the evidence on the slopes. Then Newton steps to the optimum.
fit_detection <- function(problem, run, control) {
  at <- list(result = run$best, share = problem$settings$share)
  fit_rounds <- function() {
    for (round in seq_len(if (problem$settings$sharing == "partial") sharing_rounds else 0L)) {
      at <<- share_once(problem, at, control)
      if (at$settled) break
    }
    param <- detected_param(at$result$param, problem$settings$by, at$share)
    at$result$param <<- polish_taxa(problem$cell, param, problem$settings$prior)[names(at$result$param)]
  }
  if (control$max_iter > 0L && control$tol > 0) {
    keep <- identical(control$on_interrupt, "keep")
    if (keep) tryCatch(fit_rounds(), interrupt = function(e) at$result <<- cut_short(at$result)) else fit_rounds()
    at$result$outcome$objective <- detected_objective(problem, at)
    if (!any(is.finite(at$share$spread))) tell_unbounded(problem, at$result$param)
  }
  run$best <- at$result
  list(run = run, by = c(problem$settings$by, list(share = at$share)))
}

# Updates mean and spread from the evidence on the slopes, then fits the model under these.
share_once <- function(problem, at, control) {
  settings <- problem$settings
  mean_sd <- if (settings$estimate == "map") settings$prior$detection else Inf
  param <- detected_param(at$result$param, settings$by, at$share)
  evidence <- slope_evidence(problem$cell, param, settings$prior)
  problem$settings$share <- update_sharing(evidence, settings$by, at$share, mean_sd)
  more <- checked_run(problem, at$result$param, control)
  list(
    # Each round has another prior and so another objective: that of the round before does not rank parameters.
    result = replace(add_iterations(at$result, more), "param", list(more$param)), share = problem$settings$share,
    settled = sharing_moved(problem$settings$share, at$share) < sharing_tol
  )
}

detected_objective <- function(problem, at) {
  problem$settings$share <- at$share
  run_start(problem, at$result$param, fit_control(max_iter = 0, n_start = 1))$outcome$objective
}

# Returns parameters with a detection model in the kernel's form.
detected_param <- function(param, by, share) {
  c(param, list(missed_by = 3L, fit_added = FALSE, detection = kernel_detection(by, share)))
}

cut_short <- function(result) {
  warning(warningCondition(
    "Interrupted while detection was fitted: the starts are kept, and what was done of it.",
    class = "multicause_interrupted", call = NULL
  ))
  result$outcome$status <- "max_iter"
  result
}

# Without a prior: reports taxa for which some covariate separates detections from misses, or which no visit or every
# visit detected where they may be.
tell_unbounded <- function(problem, param) {
  far <- which(colSums(abs(param$slopes) > unbounded_slope) > 0)
  if (!length(far)) {
    return(invisible())
  }
  names <- colnames(problem$data$x)
  inform(
    "Coefficients of detection have no finite best value for %s: %s. Of these numbers read the sign alone, %s.",
    show_names(if (is.null(names)) as.character(far) else names[far]),
    "detection is estimated at a bound, without error",
    "or take `estimate = \"map\"` or `sharing = \"partial\"`"
  )
}

unbounded_slope <- 10 # on the scale of the design: odds 22026 times as high

# Returns the parts of the detection model that a fit keeps.
detection_answer <- function(by, settings) {
  share <- by$share
  if (is.null(share)) share <- settings$share
  c(by[c("formula", "terms", "design", "basis", "taxon", "taxon_scale", "frame", "level", "made")], list(
    sharing = settings$sharing, mean = share$mean, spread = share$spread,
    mean_covariance = share$covariance
  ))
}

# How easily taxa are found, at the mean of the covariates over the visits made.
detection_sentence <- function(fit) {
  by <- fit$detection
  slopes <- solve(by$basis, fit$param$detection)
  rates <- colMeans(stats::plogis(crossprod(by$design[, by$made, drop = FALSE], slopes)))
  seen <- !fit$rare
  rates <- if (any(seen)) rates[seen] else rates
  sprintf(
    "Detection by a visit, if present: mean %s, %s %s to %s%s.", format_probability(mean(rates)),
    axis_words(fit)[2L], format_probability(min(rates)), format_probability(max(rates)),
    if (identical(by$formula[[2L]], 1)) "" else paste(", depends on", deparse1(by$formula))
  )
}

sharing_sentence <- function(fit) {
  words <- axis_words(fit)
  shrunk <- fit$detection$sharing == "partial"
  sprintf(
    "Detection: %s %s%s.", words[2L],
    if (shrunk) "are shrunk towards their common mean" else "have coefficients of their own",
    if (goes_by_visit(fit)) sprintf("; all %s are assumed to be searched alike", words[1L]) else ""
  )
}

# Standard errors, from the observed information on an attribute's aspects and coefficients with the memberships fixed.

#' Standard errors and intervals of detection coefficients
#'
#' For fits of [visits_bernoulli()] with `detection`: the inverse of the observed information of each taxon's
#' coefficients and of the log-odds of its components; with `estimate = "gibbs"` covariances and quantiles of the draws.
#'
#' @details
#' With one component and `estimate = "ml"`, `sharing = "none"`, this is what `occu()` of package unmarked gives, taxon
#' by taxon. With `sharing = "partial"` the uncertainty of the common mean is included. The spread among taxa and, with
#' more components, the memberships are taken as known, so intervals are too narrow; those of `estimate = "gibbs"`
#' include this uncertainty, too. Probabilities of components at 0 or 1 are fixed and have no standard error (`NA`).
#'
#' @param object a fit of [visits_bernoulli()] with `detection`.
#' @param parm names of coefficients, `"taxon:term"` as `vcov()` has them, or of taxa; missing: all.
#' @param level probability of the intervals.
#' @param what `"detection"`; `"all"`: the log-odds of the components, too; or `"communities"`: the effects of
#'   covariates on memberships, by component, with components and detection taken as known.
#' @param ... must be empty.
#' @return `vcov()`: a symmetric matrix, 0 between taxa that share no mean. `confint()`: a matrix with a row for each
#'   coefficient and columns of the lower and the upper end.
#' @examples
#' set.seed(1)
#' date <- matrix(runif(90, 0, 2), 30)
#' present <- matrix(rbinom(150, 1, 0.6), 30)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(150, 1, plogis(date[, v] - 1)), 30))
#' fit <- visits_bernoulli(visits, 1, detection = ~date, visit_data = list(date = date))
#' confint(fit)
#' @export
vcov.visits_bernoulli <- function(object, what = c("detection", "all", "communities"), ...) {
  check_dots(...)
  what <- check_choice(what)
  if (what == "communities") {
    return(effects_covariance(object))
  }
  blocks <- lapply(coefficient_blocks(object), function(block) {
    kept <- if (what == "all") seq_len(nrow(block$reach)) else block$slope
    list(covariance = block$covariance[kept, kept, drop = FALSE], reach = block$reach[kept, , drop = FALSE])
  })
  names <- unlist(lapply(blocks, function(block) rownames(block$covariance)))
  out <- tcrossprod(do.call(rbind, lapply(blocks, `[[`, "reach")))
  dimnames(out) <- list(names, names)
  at <- 0L
  for (block in blocks) {
    here <- at + seq_len(nrow(block$reach))
    out[here, here] <- out[here, here] + block$covariance
    at <- at + nrow(block$reach)
  }
  out
}

#' @rdname vcov.visits_bernoulli
#' @export
confint.visits_bernoulli <- function(object, parm, level = 0.95, ...) {
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  ends <- c((1 - level) / 2, (1 + level) / 2)
  out <- coefficient_limits(object, ends)
  colnames(out) <- paste(format(100 * ends, trim = TRUE, digits = 3L), "%")
  taxon <- rep(side_names(object, 2L), each = length(object$detection$terms))
  if (missing(parm)) {
    return(out)
  }
  if (!is.character(parm) || !all(parm %in% c(rownames(out), taxon))) {
    stop_input("`parm` must be names of coefficients, as %s, or of taxa, not %s.", show_names(rownames(out), 2L),
      if (is.character(parm)) show_names(setdiff(parm, c(rownames(out), taxon))) else show_value(parm))
  }
  out[rownames(out) %in% parm | taxon %in% parm, , drop = FALSE]
}

# Returns limits of coefficients x 2, named as in vcov().
coefficient_limits <- function(fit, ends) UseMethod("coefficient_limits")

coefficient_limits.default <- function(fit, ends) {
  error <- unlist(lapply(coefficient_blocks(fit), function(block) {
    sqrt(diag(block$covariance) + rowSums(block$reach^2))[block$slope]
  }))
  out <- as.vector(fit$param$detection) + outer(error, stats::qnorm(ends))
  rownames(out) <- names(error)
  out
}

# Standard errors on the scale of `param`; intervals of components' probabilities by their log-odds.
part_spread.visits_bernoulli <- function(fit, name, level = NULL) {
  error <- switch(name,
    detection = , aspects = if (identical(fit$missed_by, "model") && !is.null(fit$visits)) {
      each <- vapply(coefficient_blocks(fit), function(block) {
        sqrt(diag(block$covariance) + rowSums(block$reach^2))
      }, numeric(fit$dims[["k"]] + length(fit$detection$terms)))
      components <- seq_len(fit$dims[["k"]])
      matrix(each, ncol = fit$dims[["m"]])[if (name == "aspects") components else -components, , drop = FALSE]
    },
    communities = if (!is.null(fit$communities) && !is.null(fit$visits)) {
      matrix(sqrt(pmax(diag(effects_covariance(fit)), 0)), nrow(fit$param$communities))
    }
  )
  if (is.null(error)) {
    return(NULL)
  }
  value <- unname(fit$param[[name]])
  by_odds <- name == "aspects"
  at <- if (by_odds) stats::qlogis(value) else value
  own <- if (by_odds) stats::plogis else identity
  reach <- if (!is.null(level)) stats::qnorm((1 + level) / 2) * error
  c(
    list(error = if (by_odds) error * value * (1 - value) else error),
    if (!is.null(level)) list(lower = own(at - reach), upper = own(at + reach))
  )
}

default_parts.visits_bernoulli <- function(fit, parts) intersect(c("aspects", "detection"), parts)

# Computes for each attribute the covariance of its aspects' log-odds and its coefficients, by name, conditional on the
# mean that these are shrunk towards; NA if there is none. The uncertainty of the mean adds reach %*% t(reach), also
# between attributes: with V the covariance on the scale of the design, they move by V W M_j times the move of the mean,
# see update_sharing().
coefficient_blocks <- function(fit) {
  need_detection(fit)
  by <- fit$detection
  k <- fit$dims[["k"]]
  d <- length(by$terms)
  prior <- if (fit$estimate == "ml") NULL else fit$prior
  now <- visits_inform(kept_visits(fit), visit_param(fit, TRUE), prior)
  taxa <- side_names(fit, 2L)
  to_own <- diag(1, k + d)
  to_own[k + seq_len(d), k + seq_len(d)] <- by$basis
  unsure <- if (!is.null(by$mean_covariance)) t(chol(by$mean_covariance))
  pull <- apply(unsure %||% matrix(0, length(by$mean)), 2L, function(mean) prior_means(by, mean) / by$spread^2)
  pull <- matrix(pull, d * length(taxa)) # apply() makes a vector of a single row
  lapply(seq_along(taxa), function(j) {
    aspect <- fit$param$aspects[, j]
    free <- c(which(aspect > inner_edge & aspect < 1 - inner_edge), k + seq_len(d))
    out <- matrix(NA_real_, k + d, k + d)
    reach <- matrix(0, k + d, ncol(pull))
    inverse <- or_nothing(solve(matrix(now$information[free, free, j], length(free))))
    if (!is.null(inverse) && all(diag(inverse) > 0)) {
      move <- to_own[free, free, drop = FALSE]
      out[free, free] <- move %*% inverse %*% t(move)
      own_pull <- pull[(j - 1L) * d + seq_len(d), , drop = FALSE]
      reach[free, ] <- move %*% inverse[, free > k, drop = FALSE] %*% own_pull
    }
    names <- paste(taxa[j], c(component_names(k), by$terms), sep = ":")
    dimnames(out) <- list(names, names)
    list(covariance = out, reach = reach, slope = k + seq_len(d))
  })
}

# Computes detection probabilities of present taxa on visits with these covariates; `level` as in predict().
new_detection <- function(fit, newdata, level = NULL) {
  need_detection(fit)
  if (!is.null(level) && !is_sampled(fit)) stop_input("`level` is for fits with `estimate = \"gibbs\"`.")
  values <- fill_covariates(fit$detection$frame, newdata)
  design <- new_design(fit$detection$frame, values)
  labels <- list(if (is.data.frame(newdata) && nrow(newdata) > 1L) rownames(newdata), fit$names[[2L]])
  to_scaled <- solve(fit$detection$basis)
  own <- if (is_sampled(fit)) asplit(unname(fit$draws$detection), 3L) else list(unname(fit$param$detection))
  each <- lapply(own, function(slopes) stats::plogis(crossprod(design, to_scaled %*% slopes)))
  unknown_rows(mean_and_limits(each, level, labels), rows_with_na(values))
}

#' How many visits are needed?
#'
#' The number of visits after which a taxon that is there has been found with a stated probability.
#'
#' @param fit a fit of [visits_bernoulli()] with `detection`.
#' @param probability the probability of at least one record, between 0 and 1.
#' @param ... must be empty.
#' @param newdata a data frame of one row with the covariates of such a visit; what is left out is at its mean.
#' @param level if `fit` was made with `estimate = "gibbs"`, the probability of the interval of the number.
#' @return A data frame of class `visits_needed` with a row for each taxon: `taxon`, `detection` (the probability that
#'   one visit finds it), `visits`, and with `"gibbs"` `low` and `high`; `rare`, whether it was found too seldom for a
#'   reliable estimate of its own; and `bound`, whether its estimate is at a bound and must not be used. With `"gibbs"`
#'   `detection` is the mean over draws and `visits` the median, so that one need not follow from the other.
#' @seealso [predict.visits_bernoulli()]
#' @examples
#' set.seed(1)
#' date <- matrix(runif(90, 0, 2), 30)
#' present <- matrix(rbinom(150, 1, 0.6), 30)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(150, 1, plogis(date[, v] - 1)), 30))
#' fit <- visits_bernoulli(visits, 1, detection = ~date, visit_data = list(date = date))
#' visits_needed(fit)
#' visits_needed(fit, newdata = data.frame(date = 2))
#' @export
visits_needed <- function(fit, probability = 0.95, ..., newdata = NULL, level = 0.9) {
  check_dots(...)
  check_fit(fit, "visits_bernoulli")
  need_detection(fit)
  probability <- check_number(probability, "probability", 0, 1, open = TRUE)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  if (is.data.frame(newdata) && nrow(newdata) != 1L) {
    stop_input("`newdata` must have one row, for one kind of visit, not %d.", nrow(newdata))
  }
  p <- as.vector(new_detection(fit, newdata))
  needed <- function(p) ceiling(log(1 - probability) / log1p(-pmin(p, 1 - 1e-15)) - 1e-9)
  out <- data.frame(taxon = fit$names[[2L]] %||% seq_along(p), detection = p, visits = needed(p))
  if (is_sampled(fit)) {
    # The number decreases with the probability, so its quantiles are those of the probability, mirrored.
    limits <- new_detection(fit, newdata, level)
    out$visits <- needed(as.vector(new_detection(fit, newdata, 1e-6)$lower))
    out$low <- needed(as.vector(limits$upper))
    out$high <- needed(as.vector(limits$lower))
  }
  out$rare <- unname(fit$rare)
  out$bound <- bound_taxa(visit_bounds(fit), nrow(out))
  structure(
    out, class = c("visits_needed", "data.frame"), probability = probability, level = level, words = axis_words(fit)
  )
}

#' @export
print.visits_needed <- function(x, digits = 3L, n = 20L, ...) {
  probability <- attr(x, "probability")
  title <- sprintf(
    "Visits until a %s is found with probability %s%s", singular_word(kept_words(x)[2L]),
    if (is.null(probability)) "as requested" else probability,
    if ("low" %in% names(x)) sprintf(" (low, high: %s %% interval)", format(100 * (attr(x, "level") %||% 0.9))) else ""
  )
  print_visit_table(x, digits, n, title, visit_legend)
}

#' Shapes of data with repeated visits
#'
#' Which tables, arrays and objects of other packages [visits_bernoulli()], [visits_occupancy()] and [which_zeros()]
#' take as repeated visits. [visits_array()] makes such an array, with covariates, from a table with a row for each
#' record.
#'
#' @details
#' **Lists and arrays.** A list of 0/1 tables, one for each visit, or an array. The names of its dimensions
#' (`names(dimnames(x))`: site or observation, species, taxon or attribute, visit or replicate) or `sides` identify
#' them; one of the three may have any other name. Without either an array is taken as sites x taxa x visits, with a
#' message. It is refused if it would then have more visits than taxa or sites, or more taxa than sites, since it may be
#' species x sites x visits. `NA` means that there was no visit.
#'
#' **Other packages.** The list that spOccupancy takes (`y`, species x sites x visits, with `occ.covs` and `det.covs`),
#' the frames of unmarked for one or many species, a list with `ylist`, `siteCovs` and `obsCovs`, and the result of
#' `detectionHistory()` of camtrapR. Covariates come along.
#'
#' **One species.** A table of sites by visits is the history of one species, and a message says so, if its columns have
#' no names or those of visits (`y.1`, `visit2`, `V3`, dates), or if it holds `"."` or `"-"`. A data frame may also have
#' a column with the names of sites, numbered covariates of visits (`date.1`, `date.2`) and covariates of sites, or
#' histories as text, `"01.1"`, in a column `ch`, as programs PRESENCE and MARK have them. In text `"."`, `"-"` and
#' nothing stand for a visit that was not made. Any other table may be one of taxa and is refused: give the history of
#' one species as `list(y = )`.
#'
#' @name visits_bernoulli_data
#' @seealso [visits_array()], [visits_bernoulli()], [visits_occupancy()]
#' @examples
#' # one species, three visits to each of four sites, the second one not made at site b
#' history <- data.frame(
#'   site = c("a", "b", "c", "d"), y.1 = c(1, 0, 0, 1), y.2 = c(1, NA, 0, 0), y.3 = c(0, 0, 0, 1)
#' )
#' visits_array(history)
NULL
