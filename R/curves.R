#' The expected community against age
#'
#' How likely each attribute (taxon) was present, and how much each component wrote, through time: averages over the
#' sites near each age, by a fit that knows the ages of its sites.
#'
#' @details At an age, each site weighs as its kernel of [smooth_over()] says (with the bandwidth of the fit), and the
#'   compositions of the sites are averaged: \eqn{\bar t_a = \sum_i w_i t_{ia}}{mean[a] = sum_i w[i] t[i,a]}. `present`
#'   is the chance of a presence if content writes the cell, averaged in the same way: phantoms, the gaps of the
#'   record, are left out, so it lies above the share of sites where the taxon is on record. The bounds are two
#'   standard errors of the weighted mean to either side, from the spread of the sites alone: the aspects are taken as
#'   known and the sites as independent, which neighbours that were smoothed are not. So they are too narrow. Ages are
#'   taken at the middle of their bounds where `at` is chosen.
#'
#' @param fit a fit of [aspect_bernoulli()], [bernoulli_mixture()] or [plsa()] with `smooth = smooth_over(age = )`, or
#'   an [ensemble()] of such fits, whose curves are averaged (attributes only; the bounds then have the spread of the
#'   fits, too).
#' @param of `"attribute"` or `"component"` (content components only).
#' @param at ages, finite; `NULL`: 60 from the oldest to the youngest.
#' @param attribute names or numbers of the attributes wanted; `NULL` is all.
#' @param ... must be empty.
#' @return A data frame with a row for each age and attribute (component): `age`, `attribute`, `present` (within \[0,
#'   1\]), `lower`, `upper`, `recorded` (weighted share of the sites where it is on record; unknown cells left out;
#'   `NA` where the fit was made with `keep_x = FALSE`; for [plsa()] these are `share`, of the counts, expected and as
#'   recorded) and `n_effective`, the number of sites it rests on, 1 / sum of
#'   squared weights; for components `age`, `component`, `share`, `lower`, `upper`, `n_effective`. O(n m) for each age.
#'   Wrong input is an error of class `multicause_input_error`.
#' @seealso [plot.aspect_bernoulli()] with `what = "curves"`.
#' @examples
#' near <- smooth_over(age = early_tetrapods$sites$age, bandwidth = 4, strength = 10)
#' few <- fit_control(n_start = 2, max_pass = 200, tol = 1e-6, progress = FALSE)
#' fit <- aspect_bernoulli(
#'   early_tetrapods$x, k = 5, estimate = "map", phantom = "white", smooth = near, control = few
#' )
#' curves(fit, at = c(310, 290, 260), attribute = "Diplocaulus")
#' plot(fit, "curves", attribute = c("Diplocaulus", "Dimetrodon"))
#' @export
curves <- function(fit, of = c("attribute", "component"), at = NULL, attribute = NULL, ...) {
  check_dots(...)
  check_fit(fit, smooth_models)
  of <- check_choice(of, "of", c("attribute", "component"))
  if (inherits(fit, "multicause_ensemble")) {
    return(ensemble_curves(fit, of, at, attribute))
  }
  ages <- smooth_ages(fit)
  if (is.null(at)) at <- seq(max(ages, na.rm = TRUE), min(ages, na.rm = TRUE), length.out = 60L)
  if (!is.numeric(at) || !length(at) || !all(is.finite(at))) {
    stop_input("`at` must be finite ages, not %s.", show_value(at))
  }
  weights <- age_weights(fit$smooth, at)
  composition <- composition_of(fit)
  if (of == "component") {
    return(curve_frame(at, weights, composition, "component", "share"))
  }
  attribute <- pick(attribute, fit$dims[["m"]], fit$names[[2L]], "attribute")
  expected <- composition %*% content_components(fit)[, attribute, drop = FALSE]
  if (is.null(colnames(expected))) colnames(expected) <- attribute
  value <- curve_value(fit)
  out <- curve_frame(at, weights, expected, "attribute", value)
  recorded <- NA_real_
  if (!is.null(fit$x)) recorded <- as.vector(recorded_shares(fit, weights, attribute))
  data.frame(out[c("age", "attribute", value, "lower", "upper")], recorded = recorded, out["n_effective"])
}

# Curves of an average of fits: means over its members, bounds from the spread of the sites and of the members.
ensemble_curves <- function(fit, of, at, attribute) {
  if (of == "component") {
    stop_input("`of` must be \"attribute\" for an average of fits: its members' components differ.")
  }
  each <- lapply(fit$fits, curves, at = at, attribute = attribute)
  out <- each[[1L]]
  value <- intersect(c("present", "share"), names(out))
  over <- function(column) as.vector(vapply(each, column, out[[value]]) %*% fit$weights)
  mean <- over(function(one) one[[value]])
  within <- over(function(one) ((one$upper - one$lower) / 4)^2)
  se <- sqrt(within + over(function(one) (one[[value]] - mean)^2))
  out[[value]] <- mean
  out$lower <- pmax(mean - 2 * se, 0)
  out$upper <- pmin(mean + 2 * se, 1)
  out
}

smooth_models <- c("aspect_bernoulli", "bernoulli_mixture", "plsa")

# What curves() calls its values: chances of a presence, or shares of the counts.
curve_value <- function(fit) if (inherits(fit, "plsa")) "share" else "present"

# What each component that is not pinned says of the attributes.
content_components <- function(fit) component_matrix(fit)[free_components(fit), , drop = FALSE]

# Middles of the ages the sites of a fit were smoothed by.
smooth_ages <- function(fit) {
  if (is.null(fit$smooth$given$age)) {
    stop_input("`fit` must be made with the ages of its observations, `smooth = smooth_over(age = )`.")
  }
  ages <- rowMeans(fit$smooth$given$age)
  if (all(is.na(ages))) stop_input("`fit` must have ages: those of `smooth` are all unknown.")
  ages
}

# Weights of all sites at each age, length(at) x n, sparse, rows sum to 1.
age_weights <- function(smooth, at) {
  smooth$bandwidth <- smooth$bandwidth["age"]
  smooth$most <- smooth$n
  lists <- find_neighbours(smooth, list(age = cbind(at, at)), smooth$given["age"], own = FALSE)
  Matrix::sparseMatrix(
    i = rep(seq_along(at), diff(lists$start)), j = lists$neighbour + 1L, x = lists$weight,
    dims = c(length(at), smooth$n)
  )
}

# Weighted means of the columns of `values` (n x columns) at each age, and their bounds, as one long data frame.
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

# Weighted shares of the sites where an attribute is on record, or of their counts.
recorded_shares <- function(fit, weights, attribute) {
  x <- recorded_values(fit, attribute)
  known <- !is.na(x)
  x[!known] <- 0
  as.matrix(weights %*% x) / as.matrix(weights %*% known)
}

# The data themselves, as chances or shares, of all observations.
recorded_values <- function(fit, attribute) {
  x <- dense_rows(fit$x[, attribute, drop = FALSE], seq_len(fit$dims[["n"]]))
  if (!inherits(fit, "plsa")) {
    return(x)
  }
  total <- fit$margins$row_sum
  x / ifelse(total > 0, total, NA)
}
