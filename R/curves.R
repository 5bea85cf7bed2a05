#' The expected community against age
#'
#' The probability of presence of each taxon and the share of each component against age, averaged over the sites near
#' each age. The fit must know the ages of its sites.
#' @details At an age, each site has the weight that the kernel of [smooth_over()] gives to its age alone, wherever it
#'   lies. The compositions of the sites, their memberships among the content components, are averaged:
#'   \eqn{\bar t_a = \sum_i w_i t_{ia}}{mean[a] = sum_i w[i] t[i,a]}. `present` is the probability of a
#'   presence if content makes the cell, averaged in the same way: phantoms, the gaps of the record, are left out, so it
#'   lies above the share of sites where the taxon was recorded. The bounds are two standard errors of the weighted mean
#'   to either side, from the spread of the sites alone. They are too narrow, because the components are taken as known,
#'   and smoothed neighbours as independent.
#'
#'   **Bandwidth.** If the fit was smoothed over ages alone, its bandwidth is used. A bandwidth of age that was chosen
#'   together with one of place or another distance may be wide, because sites are neighbours there only if they are
#'   near in both; along age alone it would carry taxa to times from which they are not known. For such fits the
#'   bandwidth is chosen again. The sites are dealt into ten groups in the order of their ages, and the compositions of
#'   each group are predicted from the other nine. Widths from the whole range of ages down to 1/1024 of it are tried,
#'   each half the one before. The widest whose squared error is within 1 % of the least is taken. Far from all
#'   presences of a taxon its probability stays above 0 if the components of the sites there include it.
#'
#' @param fit a fit of [aspect_bernoulli()], [bernoulli_mixture()] or [plsa()] with `smooth = smooth_over(age = )`, or
#'   an [ensemble()] of such fits, whose curves are averaged (taxa only; the bounds then have the spread of the
#'   fits, too).
#' @param of `"taxon"` or `"component"` (content components only).
#' @param at ages, finite; `NULL`: 60 from the oldest to the youngest, by mid-ages.
#' @param taxon names or numbers of the taxa wanted; `NULL` is all.
#' @param ... must be empty.
#' @param draws `NULL`, or a list of fits to data of the same shape, such as [bootstrap_draws()]: the curves of each,
#'   with the same bandwidth, show how sure the components are.
#' @param level coverage of the ends over draws, between 0 and 1.
#' @param bandwidth where the weight of a site has fallen to exp(-1), in the unit of the ages, above 0; `NULL`: see
#'   Details.
#' @return A data frame with a row for each age and taxon (component): `age`, `taxon`, `present` (within \[0, 1\]),
#'   `lower`, `upper`, `recorded` (weighted share of the sites where it was recorded, without unknown cells; `NA` if the
#'   fit was made with `keep_x = FALSE`) and `n_effective`, the number of sites it rests on, 1 / sum of squared weights.
#'   For [plsa()] `share`, the expected share of the counts, replaces `present`, and `recorded` is that of the data. For
#'   components `age`, `component`, `share`, `lower`, `upper`, `n_effective`. With draws there are also `low` and
#'   `high`, the central `level` of the curve over them. The attribute `bandwidth` is the one used (of an ensemble, that
#'   of each member). O(n m) for each age, and O(n^2 k) to choose the bandwidth, of at most 500 sites predicted. Wrong
#'   input is an error of class `multicause_input_error`.
#' @seealso [plot.aspect_bernoulli()] with `what = "curves"`.
#' @examples
#' near <- smooth_over(age = early_tetrapods$sites$age, bandwidth = 4, strength = 10)
#' few <- fit_control(n_start = 2, max_iter = 200, tol = 1e-6, progress = FALSE)
#' fit <- aspect_bernoulli(
#'   early_tetrapods$x, k = 5, estimate = "map", phantom = "white", smooth = near, control = few
#' )
#' curves(fit, at = c(310, 290, 260), taxon = "Diplocaulus")
#' plot(fit, "curves", taxon = c("Diplocaulus", "Dimetrodon"))
#' @export
curves <- function(fit, of = c("taxon", "component"), at = NULL, taxon = NULL, ..., bandwidth = NULL,
                   draws = NULL, level = 0.9) {
  check_dots(...)
  check_fit(fit, smooth_models)
  of <- check_choice(of)
  if (!is.null(bandwidth)) bandwidth <- check_number(bandwidth, "bandwidth", 0, Inf, open = TRUE)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  if (!is.null(draws)) {
    return(drawn_curves(fit, of, at, taxon, bandwidth, draws, level))
  }
  if (inherits(fit, "multicause_ensemble")) {
    return(ensemble_curves(fit, of, at, taxon, bandwidth))
  }
  ages <- smooth_ages(fit)
  if (is.null(at)) at <- seq(max(ages, na.rm = TRUE), min(ages, na.rm = TRUE), length.out = 60L)
  if (!is.numeric(at) || !length(at) || !all(is.finite(at))) {
    stop_input("`at` must be finite ages, not %s.", show_value(at))
  }
  at <- as.double(at)
  composition <- composition_of(fit)
  if (is.null(bandwidth)) bandwidth <- age_bandwidth(fit$smooth, ages, composition)
  weights <- age_weights(fit$smooth$given, at, bandwidth)
  if (of == "component") {
    return(structure(curve_frame(at, weights, composition, "component", "share"), bandwidth = bandwidth))
  }
  taxon <- unique(pick(taxon, fit$dims[["m"]], fit$names[[2L]], "taxon"))
  expected <- composition %*% content_components(fit)[, taxon, drop = FALSE]
  if (is.null(colnames(expected))) colnames(expected) <- taxon
  value <- curve_value(fit)
  out <- curve_frame(at, weights, expected, "taxon", value)
  recorded <- NA_real_
  if (!is.null(fit$x)) recorded <- as.vector(recorded_shares(fit, weights, taxon))
  out <- data.frame(out[c("age", "taxon", value, "lower", "upper")], recorded = recorded, out["n_effective"])
  structure(out, bandwidth = bandwidth)
}

# Adds intervals from draws to the curves of a fit.
drawn_curves <- function(fit, of, at, taxon, bandwidth, draws, level) {
  out <- curves(fit, of, at, taxon, bandwidth = bandwidth)
  if (!is.list(draws) || !length(draws) || inherits(draws, "multicause")) {
    stop_input("`draws` must be a list of fits, such as bootstrap_draws(fit), not %s.", show_value(draws))
  }
  value <- intersect(c("present", "share"), names(out))
  each <- vapply(draws, function(draw) {
    check_fit(draw, class(fit)[1L], "draws")
    if (any(draw$dims[c("n", "m")] != fit$dims[c("n", "m")])) {
      stop_input("`draws` must have the %.0f x %.0f cells of the fit.", fit$dims[["n"]], fit$dims[["m"]])
    }
    if (of == "component" && draw$dims[["k"]] != fit$dims[["k"]]) {
      stop_input("`draws` must have the components of the fit.")
    }
    if (!inherits(draw, "multicause_ensemble") && is.null(draw$smooth$given$age)) {
      stop_input("`draws` must be made with the ages of the sites, `smooth = smooth_over(age = )`, as `fit` was.")
    }
    curves(draw, of, at, taxon, bandwidth = attr(out, "bandwidth")[1L])[[value]]
  }, numeric(nrow(out)))
  ends <- apply(matrix(each, nrow(out)), 1L, stats::quantile, c((1 - level) / 2, (1 + level) / 2), names = FALSE)
  out[c("low", "high")] <- list(pmin(ends[1L, ], out[[value]]), pmax(ends[2L, ], out[[value]]))
  out
}

# Computes curves of an average of fits: means over its members, bounds from the spread of sites and members.
ensemble_curves <- function(fit, of, at, taxon, bandwidth) {
  if (of == "component") {
    stop_input("`of` must be \"taxon\" for an average of fits, because its members differ in their components.")
  }
  each <- lapply(fit$fits, curves, at = at, taxon = taxon, bandwidth = bandwidth)
  out <- each[[1L]]
  value <- intersect(c("present", "share"), names(out))
  over <- function(column) as.vector(vapply(each, column, out[[value]]) %*% fit$weights)
  mean <- over(function(one) one[[value]])
  within <- over(function(one) ((one$upper - one$lower) / 4)^2)
  se <- sqrt(within + over(function(one) (one[[value]] - mean)^2))
  out[[value]] <- mean
  out$lower <- pmax(mean - 2 * se, 0)
  out$upper <- pmin(mean + 2 * se, 1)
  structure(out, bandwidth = vapply(each, attr, 0, "bandwidth"))
}

smooth_models <- c("aspect_bernoulli", "visits_bernoulli", "bernoulli_mixture", "plsa")

# Names the values of curves(): probabilities of a presence, or shares of the counts.
curve_value <- function(fit) UseMethod("curve_value")

curve_value.default <- function(fit) "present"

# Returns the components that are not fixed.
content_components <- function(fit) component_matrix(fit)[free_components(fit), , drop = FALSE]

# Returns the midpoints of the ages by which the sites of a fit were smoothed.
smooth_ages <- function(fit) {
  if (is.null(fit$smooth$given$age)) {
    stop_input("`fit` must be made with the ages of its sites, `smooth = smooth_over(age = )`.")
  }
  ages <- rowMeans(fit$smooth$given$age)
  if (all(is.na(ages))) stop_input("`fit` must have ages: those of `smooth` are all unknown.")
  ages
}

# Returns the bandwidth along age alone.
age_bandwidth <- function(smooth, ages, composition) {
  if (identical(names(smooth$given), "age")) {
    return(unname(smooth$bandwidth))
  }
  range <- diff(range(ages, na.rm = TRUE))
  if (range == 0) {
    return(1)
  }
  widths <- range * 2^-(0:10)
  dated <- order(ages, na.last = NA)
  group <- rep_len(seq_len(min(10L, length(dated))), length(dated))
  loss <- vapply(widths, function(width) {
    sum(vapply(unique(group), function(g) age_loss(dated, group == g, smooth$given, composition, width), 0))
  }, 0)
  # Below the distance of a few distinct ages all widths perform equally, and the curve would be a step function.
  widths[which(loss <= 1.01 * min(loss))[1L]]
}

most_predicted <- 50L # sites of a group

# Computes the squared error of the compositions of some sites, predicted from all other dated sites.
age_loss <- function(dated, mine, given, composition, width) {
  out <- dated[mine]
  out <- out[unique(round(seq(1, length(out), length.out = min(length(out), most_predicted))))]
  others <- list(age = given$age[dated[!mine], , drop = FALSE])
  weights <- age_weights(others, given$age[out, , drop = FALSE], width)
  sum((composition[out, , drop = FALSE] - as.matrix(weights %*% composition[dated[!mine], , drop = FALSE]))^2)
}

# Computes weights of sites at each age (or range of ages), length(at) x n, sparse, rows sum to 1.
age_weights <- function(given, at, bandwidth) {
  n <- nrow(given$age)
  if (is.null(dim(at))) at <- cbind(at, at)
  lists <- find_neighbours(
    list(bandwidth = c(age = bandwidth), most = n), list(age = at), given["age"], own = NULL
  )
  list_weights(lists, c(nrow(at), n))
}

# Computes weighted means of the columns of `values` (n x columns) at each age and their bounds, as one long data frame.
curve_frame <- function(at, weights, values, key, value) {
  mean <- as.matrix(weights %*% values)
  squared <- weights^2
  spread <- as.matrix(squared %*% values^2) - 2 * mean * as.matrix(squared %*% values) +
    mean^2 * Matrix::rowSums(squared)
  se <- sqrt(pmax(spread, 0))
  out <- data.frame(
    rep(at, ncol(values)), rep(colnames(values), each = length(at)), as.vector(mean), as.vector(pmax(mean - 2 * se, 0)),
    as.vector(pmin(mean + 2 * se, 1)), rep(1 / Matrix::rowSums(squared), ncol(values))
  )
  stats::setNames(out, c("age", key, value, "lower", "upper", "n_effective"))
}

# Computes weighted shares of the sites with a recorded presence of an attribute, or of their counts.
recorded_shares <- function(fit, weights, taxon) {
  x <- recorded_values(fit, taxon)
  known <- !is.na(x)
  x[!known] <- 0
  as.matrix(weights %*% x) / as.matrix(weights %*% known)
}

# Returns the data as probabilities or shares, of all observations.
recorded_values <- function(fit, taxon) UseMethod("recorded_values")

recorded_values.default <- function(fit, taxon) {
  dense_rows(fit$x[, taxon, drop = FALSE], seq_len(fit$dims[["n"]]))
}
