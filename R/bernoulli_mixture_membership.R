# Latent class regression: fits of bernoulli_mixture(membership = ~ ...), of class `bernoulli_mixture_regression`. Their
# parameters besides prototypes are effects of covariates, see base_memberships.R.

# The contrasts of log_odds() of effects as a vector, d (k - 1) x d k.
log_odds_contrast <- function(d, k) {
  kronecker(cbind(rep(-1, k - 1L), diag(1, k - 1L)), diag(1, d))
}

# Draws the component of each site by its covariates.
drawn_components.bernoulli_mixture_regression <- function(fit) {
  share <- multinomial_shares(fit$covariates$design, scaled_effects(fit))
  max.col(log(share) - log(stats::rexp(length(share))), "first")
}

# Effects and prototypes by name.
regression_numbers <- function(fit) {
  prototypes <- mixture_numbers(fit$param)[-seq_len(fit$dims[["k"]])]
  effects <- fit$param$effects
  names <- sprintf("effects[%s, %s]", rep(colnames(effects), each = nrow(effects)), rownames(effects))
  c(stats::setNames(as.vector(effects), names), prototypes)
}

# The information of free effects and of the logits of prototypes `inner`, without the prior. With S_ic the score of
# site i if it is of component c, effects (e_c - w_i) z_i' and logits x_ij - b_cj, s_i = sum_c q_ic S_ic is its score.
#   "scores"    sum_i s_i s_i', as package poLCA has it
#   "curvature" minus the second derivatives (Louis 1982): the information of known components, less sum_i (sum_c q_ic
#               S_ic S_ic' - s_i s_i')
regression_information <- function(fit, cells, inner, method) {
  by <- fit$covariates
  k <- fit$dims[["k"]]
  d <- length(by$terms)
  z <- t(by$design)
  w <- multinomial_shares(by$design, scaled_effects(fit))
  b <- unname(fit$param$prototypes)
  known <- rowSums(!is.na(cells)) > 0
  q <- unname(fit$param$membership) * known
  free <- free_effects(k, d)
  component <- (inner - 1L) %% k + 1L
  taxon <- (inner - 1L) %/% k + 1L
  score_if <- function(c) {
    of_effects <- lapply(seq_len(k), function(a) ((a == c) - w[, a]) * z)
    of_logits <- matrix(0, nrow(q), length(inner))
    mine <- component == c
    of_logits[, mine] <- sweep(cells[, taxon[mine], drop = FALSE], 2L, b[inner[mine]])
    of_logits[is.na(of_logits)] <- 0
    cbind(do.call(cbind, of_effects) %*% free, of_logits)
  }
  score <- 0
  spread <- 0
  for (c in seq_len(k)) {
    each <- score_if(c)
    score <- score + q[, c] * each
    if (method == "curvature") spread <- spread + crossprod(each, q[, c] * each)
  }
  if (method == "scores") {
    return(crossprod(score))
  }
  curve <- matrix(0, d * k, d * k)
  for (a in seq_len(k)) {
    for (e in seq_len(k)) {
      at <- (a - 1L) * d + seq_len(d)
      curve[at, (e - 1L) * d + seq_len(d)] <- crossprod(z, known * w[, a] * ((a == e) - w[, e]) * z)
    }
  }
  sites <- crossprod(q, !is.na(cells))[inner] # expected sites of the component at which the taxon is known
  all <- matrix(0, ncol(score), ncol(score))
  effects <- seq_len(ncol(free))
  all[effects, effects] <- crossprod(free, curve %*% free)
  diag(all)[ncol(free) + seq_along(inner)] <- sites * (b * (1 - b))[inner]
  all - spread + crossprod(score)
}

# Products of scores are as good as second derivatives with many sites, and useless with few.
usual_information <- function(fit) if (known_sites(fit) >= 5 * fit$df) "scores" else "curvature"

# The covariance of effects and prototypes, or the logits of these: the inverse of the information, that of the prior
# included. Prototypes of 0 or 1 are fixed.
regression_covariance <- function(fit, x, method = NULL, logits = FALSE) {
  method <- method %||% usual_information(fit)
  by <- fit$covariates
  k <- fit$dims[["k"]]
  d <- length(by$terms)
  cells <- dense_rows(fit_data(fit, x), seq_len(fit$dims[["n"]]))
  b <- unname(fit$param$prototypes)
  inner <- which(edge_side(b, 1e-4) == 0)
  free <- free_effects(k, d)
  slope <- (b * (1 - b))[inner]
  prior <- c(rep(by$ridge, ncol(free)), sum(fit$pseudo[1:2]) * slope)
  information <- regression_information(fit, cells, inner, method) + diag(prior, length(prior))
  inverse <- or_nothing(solve(information))
  if (is.null(inverse)) inverse <- NA * information
  names <- names(regression_numbers(fit))
  to_own <- matrix(0, length(names), ncol(inverse))
  to_own[seq_len(d * k), seq_len(ncol(free))] <- kronecker(diag(1, k), by$basis) %*% free
  to_own[cbind(d * k + inner, ncol(free) + seq_along(inner))] <- if (logits) 1 else slope
  structure(to_own %*% inverse %*% t(to_own), dimnames = list(names, names))
}

# Wald intervals, of prototypes on the logit scale: error of each estimate, and its ends.
regression_spread <- function(fit, level, method = NULL, x = NULL) {
  estimate <- regression_numbers(fit)
  error <- sqrt(pmax(diag(regression_covariance(fit, x, method, logits = TRUE)), 0))
  is_effect <- seq_along(estimate) <= length(fit$param$effects)
  middle <- estimate
  middle[!is_effect] <- stats::qlogis(estimate[!is_effect])
  back <- function(value) ifelse(is_effect, value, stats::plogis(value))
  wide <- stats::qnorm((1 + level) / 2) * error
  list(
    error = ifelse(is_effect, error, error * estimate * (1 - estimate)), lower = back(middle - wide),
    upper = back(middle + wide)
  )
}

# Error, and with `level` ends, of all effects and prototypes, or of a part of them.
part_spread.bernoulli_mixture_regression <- function(fit, name, level = NULL) {
  effects <- fit$param$effects
  if (name == "log_odds") {
    return(log_odds_spread(fit, level))
  }
  if (!name %in% c("effects", "prototypes") || is.null(fit$x)) {
    return(NULL)
  }
  at <- if (name == "effects") seq_along(effects) else length(effects) + seq_along(fit$param$prototypes)
  spread <- regression_spread(fit, level %||% 0.95)
  lapply(spread[c("error", if (!is.null(level)) c("lower", "upper"))], function(value) {
    array(value[at], dim(fit$param[[name]]))
  })
}

log_odds_spread <- function(fit, level = NULL) {
  effects <- fit$param$effects
  if (is.null(fit$x) || ncol(effects) == 1L) {
    return(NULL)
  }
  to_odds <- log_odds_contrast(nrow(effects), ncol(effects))
  at <- seq_along(effects)
  covariance <- regression_covariance(fit, NULL)[at, at]
  estimate <- log_odds(effects)
  error <- array(sqrt(pmax(rowSums((to_odds %*% covariance) * to_odds), 0)), dim(estimate))
  wide <- if (!is.null(level)) stats::qnorm((1 + level) / 2) * error
  c(list(error = error), if (!is.null(level)) list(lower = estimate - wide, upper = estimate + wide))
}

check_information <- function(fit, method) {
  if (is.null(method)) usual_information(fit) else check_choice(method, "method", c("scores", "curvature"))
}

#' @rdname confint.bernoulli_mixture
#' @export
confint.bernoulli_mixture_regression <- function(object, parm, level = 0.95, ..., method = NULL, x = NULL) {
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  method <- check_information(object, method)
  names <- names(regression_numbers(object))
  n_effects <- length(object$param$effects)
  taxa <- c(rep(NA, n_effects), rep(variable.names(object), each = object$dims[["k"]]))
  wanted <- wanted_parameters(if (!missing(parm)) parm, names, taxa)
  spread <- regression_spread(object, level, method, x)
  structure(
    cbind(spread$lower, spread$upper)[wanted, , drop = FALSE], dimnames = list(names[wanted], end_names(level)),
    method = sprintf("observed information (%s); prototypes on the logit scale", method)
  )
}

#' @rdname confint.bernoulli_mixture
#' @export
vcov.bernoulli_mixture_regression <- function(object, ..., method = NULL, x = NULL) {
  check_dots(...)
  method <- check_information(object, method)
  structure(
    regression_covariance(object, x, method), method = sprintf("inverse of the observed information (%s)", method)
  )
}

# Errors are those of the log-odds of the share, by the delta method.
membership_curve.bernoulli_mixture_regression <- function(fit, design, level) {
  k <- fit$dims[["k"]]
  at <- seq_along(fit$param$effects)
  to_design <- kronecker(diag(1, k), solve(fit$covariates$basis))
  covariance <- to_design %*% regression_covariance(fit, NULL)[at, at] %*% t(to_design)
  share <- multinomial_shares(design, scaled_effects(fit))
  error <- vapply(seq_len(k), function(c) {
    slope <- -share / pmax(rowSums(share[, -c, drop = FALSE]), 1e-300)
    slope[, c] <- 1
    gradient <- do.call(cbind, lapply(seq_len(k), function(b) slope[, b] * t(design)))
    sqrt(pmax(rowSums((gradient %*% covariance) * gradient), 0))
  }, numeric(ncol(design)))
  wide <- stats::qnorm((1 + level) / 2) * matrix(error, ncol(design))
  middle <- stats::qlogis(share)
  list(mean = share, lower = stats::plogis(middle - wide), upper = stats::plogis(middle + wide))
}

# Memberships of new sites by their covariates, and by what was found there, if anything is known of that.
bm_new_memberships.bernoulli_mixture_regression <- function(fit, newdata, along, site_data) {
  by <- fit$covariates
  if (is.null(site_data)) {
    return(NextMethod())
  }
  if (is.null(newdata)) {
    design <- new_membership_design(by, site_data, "membership")
    membership <- multinomial_shares(design, scaled_effects(fit))
    labels <- if (.row_names_info(site_data) > 0L) rownames(site_data)
    dimnames(membership) <- list(labels, component_names(fit$dims[["k"]]))
  } else {
    new <- new_rows(fit, newdata)
    values <- side_values(site_data, nrow(new), rownames(new), "site_data", c("site", "sites"))
    design <- new_membership_design(by, covariate_frame(values, nrow(new)), "membership")
    membership <- bm_fold_in(fit, check_data(new, "binary", "newdata", quiet = TRUE), NULL, design)
  }
  unknown_rows(membership, attr(design, "unknown"))
}

#' Figures of memberships that follow covariates
#'
#' How memberships depend on a covariate, for a fit of [bernoulli_mixture()] or [plsa()] with `membership`.
#'
#' @param object a fit of [bernoulli_mixture()] or [plsa()] with `membership`.
#' @param what `"membership"`: the expected membership of each component against a covariate, with intervals, the other
#'   covariates at their means (or most frequent values); other views as in [plot()][autoplot.multicause].
#' @param covariate for `"membership"`: the name of a covariate that is a number; `NULL`: the first.
#' @param ... the other arguments of [plot()][autoplot.multicause], for its views.
#' @param level probability of the intervals.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @aliases plot.bernoulli_mixture_regression
#' @examples
#' set.seed(1)
#' depth <- data.frame(depth = 1:60)
#' group <- 1 + rbinom(60, 1, plogis((depth$depth - 30) / 8))
#' x <- matrix(rbinom(600, 1, c(0.2, 0.7)[group]), 60)
#' fit <- bernoulli_mixture(x, k = 2, membership = ~depth, site_data = depth)
#' summary(fit)
#' plot(fit, "membership", "depth")
#' @exportS3Method ggplot2::autoplot
autoplot.bernoulli_mixture_regression <- function(object, # nolint: object_name_linter.
                                                  what = c(
                                                    "components", "membership", "top", "scores", "structure", "trace",
                                                    "density", "curves", "map"
                                                  ), covariate = NULL, ..., level = 0.95) {
  if (check_choice(what) == "membership") membership_figure(object, covariate, level, ...) else NextMethod()
}

# Sites have weights by their own covariates, which `site_data` of the call must hold by name.
held_out_rows.bernoulli_mixture_regression <- function(fit, data, floor, family, ...) {
  check_dots(...)
  by <- fit$covariates
  labels <- rownames(data$x)
  site_data <- eval(fit$call$site_data)
  values <- if (!is.null(labels)) {
    catch_error(side_values(site_data, length(labels), labels, "site_data", c("site", "sites")), function(e) NULL)
  }
  if (is.null(values)) {
    stop_no_likelihood(paste(
      "Held-out rows need their covariates: name the rows of `x`, and have rows of these names in `site_data`,",
      "or hold out cells."
    ))
  }
  design <- new_membership_design(by, covariate_frame(values, length(labels)), "membership")
  prototypes <- pmin(pmax(unname(fit$param$prototypes), floor), 1 - floor)
  param <- list(weights = unname(fit$param$weights), prototypes = prototypes, effects = scaled_effects(fit))
  bm_labels(data$view, param, list(design = design, ridge = 0))$row_loglik
}
