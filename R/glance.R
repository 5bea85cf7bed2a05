# One row a fit, one row a cell, and the ordination of vegan: glance(), augment(), scores().

glance_fit <- function(x) {
  d <- x$dims
  likely <- identical(names(x$objective), "log_likelihood")
  number <- function(value) if (is.null(value)) NA_real_ else unname(as.double(value))
  data.frame(
    model = class(x)[1L], n = d[["n"]], m = d[["m"]], k = d[["k"]], nobs = as.double(nobs(x)),
    objective = if (is.null(x$objective)) NA_character_ else names(x$objective), value = number(x$objective),
    logLik = number(x$loglik), df = number(x$df), AIC = if (likely) stats::AIC(x) else NA_real_,
    BIC = if (likely) stats::BIC(x) else NA_real_, converged = if (is.null(x$converged)) NA else x$converged,
    passes = if (is.null(x$trace)) NA_integer_ else nrow(x$trace),
    starts = if (is.null(x$starts)) NA_integer_ else nrow(x$starts),
    reached_best = if (is.null(x$starts$reached_best)) NA_integer_ else sum(x$starts$reached_best)
  )
}

# Methods of generics that lintr does not know.
# nolint start: object_name_linter.

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.multicause <- function(x, ...) {
  check_dots(...)
  glance_fit(x)
}

#' @exportS3Method generics::glance
glance.multicause_selection <- function(x, ...) {
  check_dots(...)
  data.frame(model = x$model, x$best[1L, ], folds = x$n_folds, replicates = x$replicates, row.names = NULL)
}

#' @exportS3Method generics::glance
glance.multicause_cv <- function(x, ...) {
  check_dots(...)
  best <- x$results[cv_choice(x$results)[["best"]], , drop = FALSE]
  if (!nrow(best)) best <- x$results[NA_integer_, ][1L, ]
  data.frame(best, scheme = x$scheme, family = x$family, folds = x$n_folds, replicates = x$replicates, row.names = NULL)
}

#' @exportS3Method generics::glance
glance.multicause_comparison <- function(x, ...) {
  check_dots(...)
  data.frame(x$table[which.min(x$table$cells), ], models = nrow(x$table), row.names = NULL)
}

#' @exportS3Method generics::glance
glance.recovery <- function(x, ...) {
  check_dots(...)
  x$summary
}

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.multicause <- function(x, data = NULL, ..., rows = NULL) {
  check_dots(...)
  if (inherits(x, "plca")) {
    if (!is.null(rows)) stop_input("`rows` must be NULL for a fit of plca(), whose data are an array.")
    return(augment_array(x, data))
  }
  rows <- pick(rows, x$dims[["n"]], x$names[[1L]], "rows")
  m <- x$dims[["m"]]
  refuse_large(7 * as.double(length(rows)) * m, "The result", "take some observations at a time by `rows`")
  x$x <- fit_data(x, data)
  observed <- dense_rows(x$x, rows)
  mean <- unname(fitted(x)[rows, , drop = FALSE])
  name <- function(side, at) if (is.null(x$names[[side]])) at else x$names[[side]][at]
  out <- data.frame(
    observation = rep(name(1L, rows), each = m), attribute = rep(name(2L, seq_len(m)), length(rows)),
    observed = as.vector(t(observed)), .fitted = as.vector(t(mean)), .resid = as.vector(t(observed - mean))
  )
  scores <- augment_scores(x, rows, observed)
  for (score in names(scores)) out[[score]] <- as.vector(t(scores[[score]]))
  out
}

augment_array <- function(fit, data) {
  refuse_large((length(fit$extent) + 3) * prod(fit$extent), "The result", "sum over some dimensions first")
  fit$x <- fit_data(fit, data)
  mean <- fitted(fit)
  values <- data_array(fit$x)
  titles <- dimension_names(fit$labels, seq_along(fit$extent))
  titles <- make.unique(c("observed", titles))[-1L]
  out <- long_table(array(values, dim(mean), dimnames(mean)), titles, "observed")
  out$.fitted <- as.vector(aperm(mean))
  out$.resid <- out$observed - out$.fitted
  out
}

# What a model says of a cell beside its mean: for phantoms, whether the value on record is false.
augment_scores <- function(fit, rows, observed) {
  if (!inherits(fit, "aspect_bernoulli")) {
    return(list())
  }
  kinds <- component_kinds(fit, NULL)
  of_zeros <- cell_scores(fit, rows, kinds, "absences")
  of_ones <- cell_scores(fit, rows, kinds, "presences")
  false <- ifelse(observed == 1, of_ones$missed, of_zeros$missed)
  list(.present = of_zeros$present, .false = false)
}

#' Scores for ordination diagrams of vegan
#'
#' Methods for the generic `scores()` of package vegan: where each site and each species stands on the components.
#'
#' @param x a fit of any model with components over attributes; for [plca()] sites and species are the first two
#'   dimensions.
#' @param display `"sites"`, `"species"` or both.
#' @param choices names or numbers of components; `NULL`: all.
#' @param ... must be empty.
#' @return A matrix of n x k (sites: memberships, scores, coefficients or activations) or m x k (species: what each
#'   component says of them, on the scale of `coef(x)`), or, for both, a list of `sites` and `species`. For [plca()]:
#'   the share of each component in each level.
#' @examples
#' set.seed(1)
#' fit <- logistic_pca(matrix(rbinom(200, 1, 0.4), 20, 10), k = 2)
#' if (requireNamespace("vegan", quietly = TRUE)) {
#'   print(head(vegan::scores(fit, display = "sites")))
#'   str(vegan::scores(fit))
#' }
#' @exportS3Method vegan::scores
scores.multicause <- function(x, display = c("sites", "species"), choices = NULL, ...) {
  check_dots(...)
  known <- c("sites", "species")
  if (!is.character(display) || !length(display) || !all(display %in% known)) {
    stop_input("`display` must hold some of %s, not %s.", show_names(known), show_value(display))
  }
  both <- ordination(x)
  choices <- pick(choices, ncol(both$sites), colnames(both$sites), "choices")
  both <- lapply(both[unique(display)], function(part) part[, choices, drop = FALSE])
  if (length(both) == 1L) both[[1L]] else both
}

# nolint end

# list(sites = n x k, species = m x k)
ordination <- function(fit) {
  if (inherits(fit, "plca")) {
    shares <- lapply(fit$param$marginals[1:2], function(q) {
      joint <- t(fit$param$weights * q)
      joint / pmax(rowSums(joint), .Machine$double.xmin)
    })
    return(stats::setNames(shares, c("sites", "species")))
  }
  parts <- param_parts(fit)
  if (is.null(names(parts))) {
    stop_input("`x` has no components of its own: it is an average of fits, `x$fits`.")
  }
  sites <- parts[[intersect(c("membership", "scores", "coefficients", "activation", "rows"), names(parts))[1L]]]
  list(sites = sites, species = t(parts[[1L]]))
}
