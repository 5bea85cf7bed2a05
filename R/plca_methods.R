# Prints, predicts and simulates PLCA fits.

model_title.plca <- function(fit) {
  named <- c(
    if (!is.null(fit$prior$dirichlet)) "Dirichlet priors",
    if (!is.null(fit$prior$sparsity)) "entropic priors",
    if (!is.null(fit$prior$between)) sprintf("cross-entropy prior (%s)", between_words[[fit$prior$between$method]])
  )
  if (is.null(named)) "PLCA" else paste("PLCA with", and_words(named))
}

between_words <- c(js = "Jensen-Shannon", mm = "method \"mm\"", paper = "method \"paper\"")

# The title names the priors.
estimator_words.plca <- function(fit) if (is.null(fit$prior$between)) NextMethod()

shape_words.plca <- function(fit) {
  sides <- format_big(fit$extent)
  if (!is.null(fit$labels)) sides <- paste(sides, plural_word(fit$labels))
  sprintf("array of %s, k = %s", paste(sides, collapse = " x "), format_big(fit$dims[["k"]]))
}

# The weights, and the likeliest levels of up to three dimensions.
component_facts.plca <- function(fit) {
  levels <- lapply(utils::head(fit$param$marginals, 3L), function(q) {
    if (is.null(colnames(q))) {
      return(NULL)
    }
    apply(q, 1L, function(p) {
      paste(colnames(q)[utils::head(order(-p), if (length(fit$extent) > 2L) 1L else 2L)], collapse = ", ")
    })
  })
  names(levels) <- if (is.null(fit$labels)) paste("dimension", seq_along(levels)) else utils::head(fit$labels, 3L)
  c(
    list(component = names(fit$param$weights), share = sprintf("%.2f", fit$param$weights)),
    levels[!vapply(levels, is.null, NA)]
  )
}

found_sentences.plca <- function(fit, digits = 4L) {
  if (!is.na(fit$kl)) {
    sprintf(
      "Kullback-Leibler divergence of the fit from the data: %s nats per count (0: perfect).",
      format(fit$kl, digits = digits)
    )
  }
}

detail_sentences.plca <- function(fit, digits = 4L) {
  c(
    if (!is.null(fit$prior$dirichlet)) {
      values <- vapply(fit$prior$dirichlet, function(v) paste(format(unique(v), digits = digits), collapse = ", "), "")
      sprintf("Dirichlet priors: %s for weights, %s for marginals.", values[["membership"]], values[["basis"]])
    },
    if (!is.null(fit$prior$sparsity)) {
      basis <- fit$prior$sparsity$basis * fit$dims[["k"]] / fit$total
      if (length(unique(basis)) == 1L) basis <- basis[1L]
      sprintf(
        "Entropic priors: strengths %s of the total for weights, %s of a component's mean total for marginals.",
        format(fit$prior$sparsity$membership / fit$total, digits = 2L),
        paste(vapply(basis, format, "", digits = 2L), collapse = ", ")
      )
    },
    if (!is.null(fit$prior$between)) {
      several <- !is.null(fit$prior$dirichlet) || !is.null(fit$prior$sparsity)
      sprintf(
        "The %s %s to the log-likelihood; %s largest weight is %s of the mean counts of a component.",
        if (several) "priors add" else "prior adds", format(fit$prior$value, digits = digits),
        if (several) "cross-entropy's" else "its", format(fit$prior$ratio, digits = 2L)
      )
    }
  )
}

#' @export
logLik.plca <- function(object, ...) {
  if (identical(names(object$objective), "unpenalised_log_likelihood")) {
    stop_input(
      paste(
        "This fit followed eq. (7), which maximises nothing, so logLik(), AIC() and BIC() have no meaning for it;",
        "`fit$loglik` holds the log-likelihood at the end."
      )
    )
  }
  NextMethod()
}

#' Predict from a PLCA fit
#'
#' Expected counts of all cells, memberships along the first dimension, or the probability that each component made a
#' cell; new sites (levels of the first dimension) are folded in with the other marginals fixed.
#'
#' @details
#' The memberships of a new site depend on its own cells alone, not on other new sites. The Dirichlet prior of the first
#' dimension, `prior$basis`, applies to new sites as in training; `prior$membership`, `sparsity` and [cross_entropy()]
#' concern all sites together and do not. A site without counts has equal memberships under that prior, and without a
#' prior the fit's weights. Where all cells of a site are unknown, so are its expected counts: `NA`.
#'
#' @param object a fit of [plca()].
#' @param newdata an array like the training data except for its first dimension, its other levels in any order where
#'   they have names; or a data frame of its indices and counts; `NULL`: the training data.
#' @param type `"response"`: expected counts, an array like the data; `"membership"`: n x k, P(component | level of
#'   the first dimension), rows sum to 1; `"cell"`: the data's dimensions x k, the probability that each component made
#'   a count in the cell. A result over 1 GB is refused.
#' @param ... must be empty.
#' @param control settings of the fold-in, from [fit_control()].
#' @param nsim number of arrays.
#' @param seed a whole number, or `NULL` to use the session's random numbers.
#' @return `predict()`, `fitted()`: as described under `type`. `simulate()`: a list of `nsim` arrays with the total of
#'   the data (rounded), divided by P(observed) where cells are unknown. `residuals()`: an array.
#' @examples
#' set.seed(1)
#' x <- array(rpois(4 * 5 * 3, 2), c(4, 5, 3))
#' fit <- plca(x, k = 2)
#' dim(fitted(fit))
#' predict(fit, x[1:2, , ], type = "membership")
#' @export
predict.plca <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                         control = fit_control(max_iter = 5000, tol = 1e-12)) {
  check_dots(...)
  control <- check_control(control)
  type <- check_choice(type)
  param <- object$param
  names <- object$names
  scale <- object$total / object$p_observed
  if (!is.null(newdata)) {
    data <- match_cells(check_cells(newdata, "newdata"), object)
    folded <- plca_fold_in(object, data, control)
    param <- folded$param
    names[1L] <- data$names[1L]
    scale <- folded$total
  }
  extent <- vapply(param$marginals, ncol, 0L, USE.NAMES = FALSE)
  if (type == "membership") {
    joint <- param$weights * param$marginals[[1L]]
    share <- t(joint) / colSums(joint)
    empty <- which(colSums(joint) == 0)
    if (length(empty)) share[empty, ] <- rep(param$weights, each = length(empty))
    return(structure(share, dimnames = list(names[[1L]], component_names(object$dims[["k"]]))))
  }
  labels <- stats::setNames(names, object$labels)
  if (type == "response") {
    refuse_large(2 * prod(extent), "The prediction", "use fewer rows at a time as `newdata`")
    return(in_given_order(array(scale * joint_array(param), extent, name_sides(labels)), newdata))
  }
  n_value <- 2 * prod(extent) * object$dims[["k"]]
  refuse_large(n_value, "The prediction", "use fewer rows at a time as `newdata`")
  parts <- vapply(seq_along(param$weights), function(c) {
    one <- list(weights = param$weights[c], marginals = lapply(param$marginals, `[`, c, , drop = FALSE))
    as.vector(joint_array(one))
  }, numeric(prod(extent)))
  total <- rowSums(parts)
  parts <- parts / total
  impossible <- which(total == 0)
  parts[impossible, ] <- rep(param$weights, each = length(impossible))
  in_given_order(array(parts, c(extent, ncol(parts)), c(labels, list(component_names(ncol(parts))))), newdata)
}

# Computes P of every cell, as a matrix of the first dimension by all others.
joint_array <- function(param) {
  rest <- unname(param$marginals[[2L]])
  for (q in param$marginals[-(1:2)]) {
    width <- ncol(rest)
    slow <- rep(seq_len(ncol(q)), each = width)
    rest <- rest[, rep(seq_len(width), ncol(q)), drop = FALSE] * unname(q)[, slow, drop = FALSE]
  }
  crossprod(unname(param$weights) * unname(param$marginals[[1L]]), rest)
}

# Puts the dimensions of new data in the order of a fit's, where both have the same names.
turn_cells <- function(data, labels) {
  at <- match(labels, data$labels)
  if (is.null(labels) || length(at) != length(data$labels) || anyNA(at) || !is.unsorted(at)) {
    return(data)
  }
  data$cells$extent <- data$cells$extent[at]
  data$cells$index <- data$cells$index[at, , drop = FALSE]
  data$cells$na_index <- data$cells$na_index[at, , drop = FALSE]
  data$names <- data$names[at]
  data$labels <- labels
  data
}

# Matches the levels of new data to those of a fit, in all dimensions but, for new data, the first.
match_cells <- function(data, fit, name = "newdata", sides = seq_along(fit$extent)[-1L]) {
  n_dim <- length(data$cells$extent)
  if (n_dim != length(fit$extent)) {
    stop_input("`%s` must have the %s of the training data, not %d.", name,
      count_words(length(fit$extent), "dimension"), n_dim)
  }
  data <- turn_cells(data, fit$labels)
  for (d in sides) {
    known <- fit$names[[d]]
    names <- data$names[[d]]
    if (!is.null(known) && !is.null(names)) {
      check_levels(names, known, d, name, all_there = !is.data.frame(data$x))
      at <- match(names, known) - 1L
      data$cells$index[d, ] <- at[data$cells$index[d, ] + 1L]
      data$cells$na_index[d, ] <- at[data$cells$na_index[d, ] + 1L]
    } else {
      got <- data$cells$extent[d]
      if (got > fit$extent[d] || (got < fit$extent[d] && !is.data.frame(data$x))) {
        stop_input(
          "Dimension %d of `%s` must have the %s of the training data, not %d.", d, name,
          count_words(fit$extent[d], "level"), got
        )
      }
    }
    data$cells$extent[d] <- fit$extent[d]
  }
  data
}

# A data frame holds only what was counted; an array covers every level that was looked for.
check_levels <- function(names, known, d, name, all_there) {
  unknown <- setdiff(names, known)
  if (length(unknown)) {
    stop_input(
      "`%s` has %s of dimension %d unknown to the fit: %s.", name, count_words(length(unknown), "level"), d,
      show_names(unknown)
    )
  }
  missing <- setdiff(known, names)
  if (all_there && length(missing)) {
    stop_input(
      "`%s` lacks %s of dimension %d of the training data: %s.", name, count_words(length(missing), "level"), d,
      show_names(missing)
    )
  }
  twice <- names[duplicated(names)]
  if (length(twice)) {
    stop_input("Levels of dimension %d of `%s` must be unique: %s is there twice.", d, name, show_names(twice[1L]))
  }
}

# Estimates memberships of new levels of the first dimension, each by its own cells, with the other marginals fixed:
# list(param: memberships in place of weights and first marginals, total: expected counts of each level, NA if nothing
# was observed).
plca_fold_in <- function(fit, data, control) {
  cells <- only_possible(data$cells, fit$param)
  n <- cells$extent[1L]
  k <- fit$dims[["k"]]
  level <- function(index) split(seq_len(ncol(index)), factor(index[1L, ] + 1L, seq_len(n)))
  counted <- level(cells$index)
  unknown <- level(cells$na_index)
  prior <- plca_fold_in_prior(fit, 1L)
  param <- list(weights = rep(1, k), marginals = c(list(matrix(1, k, n)), unname(fit$param$marginals[-1L])))
  nothing <- if (is.null(prior$weights_added)) unname(fit$param$weights) else rep(1 / k, k)
  total <- numeric(n)
  outcomes <- vector("list", n)
  for (i in seq_len(n)) {
    own <- one_level(cells, counted[[i]], unknown[[i]])
    param$marginals[[1L]][, i] <- nothing
    if (length(own$value)) {
      start <- list(weights = rep(1 / k, k), marginals = c(list(matrix(1, k, 1L)), param$marginals[-1L]))
      run <- plca_iterations(own, start, prior, control, rep(TRUE, length(cells$extent)))
      outcomes[[i]] <- check_outcome(run$outcome)
      param$marginals[[1L]][, i] <- run$param$weights
      total[i] <- sum(own$value) / plca_p_observed(own, run$param)
    } else if (ncol(own$na_index) == prod(as.double(cells$extent[-1L]))) {
      total[i] <- NA
    }
  }
  slow <- Filter(function(outcome) !outcome$status %in% "converged", Filter(Negate(is.null), outcomes))
  if (length(slow)) warn_fold_in(slow[[1L]])
  list(param = param, total = total)
}

# Returns the cells of one level of the first dimension, by their numbers, as an array of that level.
one_level <- function(cells, counted, unknown) {
  index <- function(of, at) {
    of <- of[, at, drop = FALSE]
    of[1L, ] <- 0L
    of
  }
  list(
    extent = replace(cells$extent, 1L, 1L), index = index(cells$index, counted), value = cells$value[counted],
    na_index = index(cells$na_index, unknown)
  )
}

# Sets counts that no component can make to unknown.
only_possible <- function(cells, param) {
  possible <- rep(TRUE, ncol(cells$index))
  for (d in seq_along(cells$extent)[-1L]) {
    possible <- possible & colSums(param$marginals[[d]])[cells$index[d, ] + 1L] > 0
  }
  if (!all(possible)) {
    inform("Left out %s of levels without counts in training.", count_words(sum(!possible), "cell"))
    cells$na_index <- cbind(cells$na_index, cells$index[, !possible, drop = FALSE])
    cells$index <- cells$index[, possible, drop = FALSE]
    cells$value <- cells$value[possible]
  }
  cells
}

# Returns the data of a fit as a full array.
data_array <- function(x) cell_array(check_cells(x))

unknown_cells.plca <- function(fit, x) is.na(data_array(x))

cell_array <- function(data) {
  refuse_large(prod(data$cells$extent), "The data as an array", "take some of the data at a time")
  out <- array(0, data$cells$extent)
  out[t(data$cells$index) + 1L] <- data$cells$value
  out[t(data$cells$na_index) + 1L] <- NA
  out
}

#' @rdname predict.plca
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @export
residuals.plca <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  type <- check_choice(type)
  check_dots(...)
  mean <- fitted(object)
  out <- poisson_residuals(data_array(fit_data(object, x)), mean, type)
  dimnames(out) <- dimnames(mean)
  out
}

#' @rdname predict.plca
#' @export
simulate.plca <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  nsim <- check_nsim(nsim, prod(object$extent))
  total <- round(object$total / object$p_observed)
  labels <- name_sides(stats::setNames(object$names, object$labels))
  p <- as.vector(joint_array(object$param))
  drawn <- draw_seeded(function() {
    replicate(nsim, array(draw_multinomial(total, p), object$extent, labels), simplify = FALSE)
  }, seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

#' @rdname impute
#' @export
impute.plca <- function(fit, newdata = NULL, ..., x = NULL) {
  check_dots(...)
  if (is.null(newdata)) {
    x <- data_array(fit_data(fit, x))
    answer <- fitted(fit)
  } else {
    data <- match_cells(check_cells(newdata, "newdata"), fit)
    x <- cell_array(data)
    dimnames(x) <- name_sides(stats::setNames(c(data$names[1L], fit$names[-1L]), fit$labels))
    answer <- predict(fit, x)
  }
  out <- ifelse(is.na(x), answer, x)
  in_given_order(array(out, dim(answer), dimnames(answer)), newdata)
}

data_kind.plca <- function(fit) NULL

own_data.plca <- function(fit, x) {
  data <- match_cells(check_cells(x), fit, "x", seq_along(fit$extent))
  x <- array(cell_array(data), fit$extent, name_sides(stats::setNames(fit$names, fit$labels)))
  list(x = x, observed = sum(!is.na(x)))
}

part_sides.plca <- function(fit, name, values) {
  if (name == "marginals") c("component", "level") else NextMethod()
}

tidy_part.plca <- function(fit, name, values, level) {
  if (name == "marginals" && is.null(level)) long_marginals(values) else NextMethod()
}

long_marginals <- function(marginals) {
  titles <- dimension_names(names(marginals), seq_along(marginals))
  each <- Map(function(q, title) {
    out <- long_table(q, c("component", "level"))
    data.frame(out["component"], dimension = title, level = as.character(out$level), out["estimate"])
  }, marginals, titles)
  do.call(rbind, unname(each))
}

#' @export
augment.plca <- function(x, data = NULL, newdata = NULL, ..., rows = NULL) { # nolint: object_name_linter.
  check_dots(...)
  if (!is.null(newdata)) {
    stop_input("`newdata` must be NULL for a fit of plca(): predict(fit, newdata) has expected counts of new sites.")
  }
  if (!is.null(rows)) stop_input("`rows` must be NULL for a fit of plca(), whose data are an array.")
  as_tidy(augment_array(x, data))
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

ordination.plca <- function(fit) {
  shares <- lapply(fit$param$marginals[1:2], function(q) {
    joint <- t(fit$param$weights * q)
    joint / pmax(rowSums(joint), .Machine$double.xmin)
  })
  stats::setNames(shares, c("sites", "species"))
}

distributions.plca <- function(fit) fit$param$marginals

# The probability of at least one count under the Poisson means.
presence_probability.plca <- function(fit, mean = fitted(fit)) 1 - exp(-mean)

row_family.plca <- function(fit) "poisson"

held_out_rows.plca <- function(fit, data, floor, family, ...) {
  if (length(fit$extent) > 2L || is.data.frame(fit$x)) {
    stop_no_likelihood("Rows have a likelihood here where plca() was fitted to a matrix: of an array hold out cells.")
  }
  NextMethod()
}

#' How different are the components?
#'
#' Kullback-Leibler divergences between the distributions of all pairs of components: the matrices of Figures 3.2 and
#' 4.3 of the paper on cross-entropy priors.
#'
#' \eqn{KL(p, q) = \sum_x p \log(p / (q + floor))}{KL(p, q) = sum p log(p / (q + floor))}, where terms with p = 0 are 0
#' and a sum below 0 is set to 0. The floor keeps it finite where q is 0; without it (`floor = 0`) it may be `Inf`.
#'
#' @param fit a fit of [plca()] (all its dimensions) or [plsa()] (its basis).
#' @param dims dimensions wanted, numbers or names; `NULL` is all.
#' @param ... must be empty.
#' @param floor added to q, at least 0.
#' @return A list of class `divergences` with a k x k matrix for each dimension, in nats: row p, column q. It can be
#'   printed and plotted.
#' @inherit cross_entropy references
#' @examples
#' set.seed(1)
#' x <- array(rpois(4 * 5 * 3, 2), c(site = 4, taxon = 5, time = 3))
#' divergences(plca(x, k = 2), dims = 2)
#' @export
divergences <- function(fit, dims = NULL, ..., floor = 1e-6) {
  check_dots(...)
  floor <- check_number(floor, "floor", 0)
  check_fit(fit, c("plca", "plsa"))
  marginals <- distributions(fit)
  at <- unique(pick(dims, length(marginals), names(marginals), "dims"))
  structure(
    lapply(marginals[at], kl_matrix, floor = floor), class = c("divergences", "multicause_result"), floor = floor,
    at = at
  )
}

kl_matrix <- function(q, floor) {
  own <- rowSums(ifelse(q > 0, q * log(q), 0))
  cross <- vapply(seq_len(nrow(q)), function(i) {
    logs <- log(q[i, ] + floor)
    drop(ifelse(q > 0, q, 0) %*% ifelse(is.finite(logs), logs, 0)) +
      ifelse(rowSums(q[, !is.finite(logs), drop = FALSE]) > 0, -Inf, 0)
  }, numeric(nrow(q)))
  out <- matrix(pmax(own - cross, 0), nrow(q), dimnames = rep(list(rownames(q)), 2L))
  diag(out) <- 0
  out
}

#' @export
print.divergences <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  titles <- dimension_names(names(x), attr(x, "at"))
  for (i in seq_along(x)) {
    pairs <- x[[i]][row(x[[i]]) != col(x[[i]])]
    average <- if (length(pairs)) sprintf("; mean %s", format(mean(pairs), digits = digits)) else ""
    cat(sprintf("Kullback-Leibler divergence between components, %s (nats%s)\n", titles[i], average))
    print(round(x[[i]], digits))
  }
  invisible(x)
}
