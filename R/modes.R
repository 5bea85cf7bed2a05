#' Match the components of two fits
#'
#' Puts the components of a fit in the order of those of a reference, because two fits may number the same components
#' differently. It takes the pairs whose squared distances have the least sum.
#' @details
#' Components hold a number for each taxon: a probability, a loading or a share. The distance of two components is
#' the root of the mean squared difference of these numbers. The pairs are found exactly, by Kuhn's method. If one
#' side has more components, some stay without a partner. Those of `fit` then come last.
#'
#' @param fit a fit with components over taxa.
#' @param reference another such fit to the same taxa (matched by name), or a matrix of k x m.
#' @param ... must be empty.
#' @return A list of class `alignment`. `fit` is the fit with its components in the order of the reference.
#'   `permutation` is the old number of each. `match` is a data frame with `reference`, `component` (the old name,
#'   `NA` where there is none), `distance` and `correlation`.
#' @references Kuhn HW (1955). The Hungarian method for the assignment problem. *Naval Research Logistics Quarterly* 2,
#'   83-97. \doi{10.1002/nav.3800020109}
#' @seealso [modes()]
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(400, 1, 0.4), 40, 10)
#' few <- fit_control(n_start = 2)
#' one <- bernoulli_mixture(x, 2, control = few)
#' align_components(bernoulli_mixture(x, 2, control = few), one)
#' @export
align_components <- function(fit, reference, ...) {
  check_dots(...)
  check_fit(fit)
  mine <- component_matrix(fit)
  theirs <- reference_matrix(reference, fit)
  matched <- match_components(mine, theirs)
  permutation <- c(matched[!is.na(matched)], setdiff(seq_len(nrow(mine)), matched))
  names <- rownames(theirs)
  pair <- function(f) {
    vapply(seq_along(matched), function(r) if (is.na(matched[r])) NA_real_ else f(theirs[r, ], mine[matched[r], ]), 0)
  }
  table <- data.frame(
    reference = if (is.null(names)) component_names(nrow(theirs)) else names, component = rownames(mine)[matched],
    distance = pair(function(a, b) sqrt(mean((a - b)^2))),
    correlation = pair(function(a, b) if (isTRUE(stats::sd(a) > 0 && stats::sd(b) > 0)) stats::cor(a, b) else NA_real_)
  )
  structure(
    list(fit = reorder_components(fit, permutation), permutation = permutation, match = table),
    class = c("alignment", "multicause_result")
  )
}

reference_matrix <- function(reference, fit) {
  if (missing(reference)) stop_missing("reference")
  out <- if (inherits(reference, "multicause")) component_matrix(reference) else reference
  if (!is.matrix(out) || !is.numeric(out) || anyNA(out)) {
    stop_input(
      "`reference` must be a fit or a numeric matrix of components x taxa, not %s.", show_value(reference)
    )
  }
  unname_rows <- rownames(out)
  out <- match_columns(out, fit$names[[2L]], fit$dims[["m"]], "reference")
  rownames(out) <- unname_rows
  out
}

# Reorders and renames the components of a fit.
reorder_components <- function(fit, at) {
  labels <- component_names(length(at))
  k <- fit$dims[["k"]]
  fit$param <- lapply(fit$param, function(part) {
    if (is.matrix(part) && nrow(part) == k && ncol(part) == fit$dims[["m"]] && identical(rownames(part), labels)) {
      part[] <- part[at, ]
    } else if (length(dim(part)) == 3L && identical(rownames(part), labels)) {
      part[] <- part[at, , ]
    } else if (is.matrix(part) && identical(colnames(part), labels)) {
      part[] <- part[, at]
    } else if (!is.matrix(part) && length(part) == k && identical(names(part), labels)) {
      part[] <- part[at]
    }
    part
  })
  if (!is.null(fixed_kinds(fit))) fit$fixed[] <- fit$fixed[at]
  reorder_beside(fit, at)
}

# Parts of states whose rows, or columns, are the components.
by_components <- list(
  rows = c("aspects", "one", "zero", "links", "on", "basis", "profiles", "prototypes"),
  columns = c("membership", "effects", "communities")
)

# Reorders what a fit has beside its parameters: a posterior, its spread and draws, sources known or masked.
reorder_beside <- function(fit, at) {
  turn <- function(parts) {
    for (name in seq_along(parts)) {
      part <- parts[[name]]
      label <- names(parts)[name] %||% ""
      if (is.list(part)) {
        parts[[name]] <- turn(part)
      } else if (length(dim(part)) > 1L && label %in% by_components$rows) {
        parts[[name]][] <- take_side(part, 1L, at)
      } else if (length(dim(part)) > 1L && label %in% by_components$columns) {
        parts[[name]][] <- take_side(part, 2L, at)
      } else if (label == "prior" && length(part) == length(at)) {
        parts[[name]][] <- part[at] # of the sources of noisy-OR
      }
    }
    parts
  }
  for (part in c("posterior", "spread", "kept", "last")) if (is.list(fit[[part]])) fit[[part]] <- turn(fit[[part]])
  if (!is.null(fit$known)) fit$known[] <- fit$known[, at]
  if (!is.null(fit$model$mask)) fit$model$mask[] <- fit$model$mask[at, ]
  fit
}

#' @exportS3Method ggplot2::autoplot
autoplot.alignment <- function(object, ...) { # nolint: object_name_linter.
  stop_input("An alignment has no figure: `plot(object$fit)` draws the fit with its components in the new order.")
}

#' @export
print.alignment <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  cat(sprintf("Components matched: %d of %d\n", sum(!is.na(x$match$component)), nrow(x$match)))
  print_rows(round_columns(x$match, digits))
  invisible(x)
}

#' The different solutions that the starts of a fit found
#'
#' Puts finished starts of a fit into one group, a solution, if they give the cells the same probabilities. The result
#' reports the distances between solutions and the differences of their likelihoods.
#' @details
#' Each start gives every cell a probability (or a mean). The distance of two starts is the root of the mean squared
#' difference of these. Groups are made by complete linkage: no two starts of a group are further apart than
#' `tol`. Some solutions are far apart and nearly as likely. Then the data do not decide between them: use
#' [ensemble()], and trust no detail of a single solution.
#'
#' @param fit a fit made with `keep_starts = TRUE` in [fit_control()].
#' @param tol largest distance of two starts of one solution, above 0, on the scale of the cells.
#' @param ... must be empty.
#' @return A list of class `modes`. `modes` is a data frame with a row for each solution, the best first. Its columns
#'   are `mode`, `starts` (how many), `objective` (of the best of them), `behind` (how far below the best of all, in
#'   nats), `distance` (from the best solution), `largest` (largest difference of a cell) and `component` (largest
#'   distance of a component from its partner). `starts` is a data frame with `start` and `mode`. `distances` are those
#'   between all starts. `fits` has the best fit of each solution, with components in the order of the best. There are
#'   `print` and `plot` methods.
#' @inherit align_components references
#' @seealso [align_components()], [ensemble()]
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(400, 1, 0.4), 40, 10)
#' fit <- bernoulli_mixture(x, 2, control = fit_control(keep_starts = TRUE, screen = FALSE))
#' modes(fit)
#' @export
modes <- function(fit, tol = 0.02, ...) {
  check_dots(...)
  fits <- start_fits(fit, "fit")
  tol <- check_number(tol, "tol", 0)
  if (tol <= 0) stop_input("`tol` must be above 0.")
  cells <- lapply(fits, fitted)
  distances <- pair_distances(cells)
  group <- if (length(fits) > 1L) {
    stats::cutree(stats::hclust(stats::as.dist(distances), "complete"), h = tol)
  } else {
    1L
  }
  objective <- vapply(fits, function(each) unname(each$objective), 0)
  best_of <- vapply(split(seq_along(fits), group), function(at) at[which.max(objective[at])], 0L)
  best_of <- unname(best_of[order(-objective[best_of])])
  mode <- match(group, group[best_of])
  best <- fits[[best_of[1L]]]
  aligned <- lapply(fits[best_of], align_components, best)
  difference <- function(f) vapply(best_of, function(at) f(abs(cells[[at]] - cells[[best_of[1L]]])), 0)
  structure(
    list(
      modes = data.frame(
        mode = seq_along(best_of), starts = tabulate(mode, length(best_of)), objective = objective[best_of],
        behind = objective[best_of[1L]] - objective[best_of], distance = distances[best_of, best_of[1L]],
        largest = difference(max), component = vapply(aligned, function(a) max(a$match$distance), 0)
      ),
      starts = data.frame(start = usable_starts(fit$starts), mode = mode), distances = distances,
      fits = lapply(aligned, function(a) a$fit), tol = tol, objective = names(fit$objective)
    ),
    class = c("modes", "multicause_result")
  )
}

pair_distances <- function(cells) {
  n <- length(cells)
  out <- matrix(0, n, n)
  for (i in seq_len(n)) for (j in seq_len(i - 1L)) out[i, j] <- out[j, i] <- sqrt(mean((cells[[i]] - cells[[j]])^2))
  out
}

#' @export
print.modes <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  write_sentences(sprintf(
    "Solutions: %d among %s (distance above %s)", nrow(x$modes), count_words(nrow(x$starts), "finished start"),
    format(x$tol)
  ))
  shown <- x$modes
  shown$objective <- format(shown$objective, digits = max(digits, 7L))
  print_rows(round_columns(shown, digits))
  write_sentences("Distances from mode 1: root mean square and largest over cells, largest over components (?modes).")
  invisible(x)
}
