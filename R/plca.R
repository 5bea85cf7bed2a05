#' Probabilistic latent component analysis of arrays, with priors between components
#'
#' Explains an array of counts of any order, such as sites by taxa by time, by `k` components, each the product of one
#' distribution along every dimension. Dirichlet priors keep probabilities away from 0, and another prior can make
#' chosen components alike or different.
#'
#' @details
#' **Model.** The whole array is one sample from
#' \deqn{P(x) = \sum_c P(c) \prod_d q_{dc}(x_d)}{P(x) = sum_c P(c) prod_d q[d, c](x_d)}
#' with `weights` \eqn{P(c)} and, for each dimension, `marginals` \eqn{q_d}: a row for each component, which sums to 1,
#' and a column for each level. For a matrix this is [plsa()] in another form: `membership` there is
#' `weights * marginals[[1]]`, scaled to sum to 1 for each site. In [plsa()] row totals are fixed; here they are part of
#' the model, so the log-likelihoods differ by the entropy of the row totals.
#'
#' **What is assumed.** Counts are independent draws, and within a component the dimensions are independent. If counts
#' are clumped, or multiplied by a number, the sum of `residuals(fit, "pearson")^2` is far larger than the number of
#' cells less that of parameters, and priors are too weak beside the data.
#'
#' **Dirichlet priors.** The weights are Dirichlet with parameters \eqn{\alpha_c}{alpha[c]}, `prior$membership`, and the
#' marginals of dimension d, of every component, with the same \eqn{\eta_d}{eta[d]} for all levels, `prior$basis`. The
#' fit is the posterior mode: \eqn{\alpha_c - 1}{alpha[c] - 1} and \eqn{\eta_d - 1}{eta[d] - 1}, both at least 0, are
#' added to the expected counts of EM, in each component and level; 1 adds nothing. Without `prior` all are 1.1: a tenth
#' of a count for each weight, and for each level of each component, as in [plsa()]. It predicts held-out cells of
#' sparse tables far better than maximum likelihood does (`bench/plca.md` in the sources). A prior is in counts, so if
#' `x` is not of whole numbers, there is none by default. For a matrix with n rows the mode is that of [plsa()] with
#' `prior = list(membership = a, basis = b)` where \eqn{\alpha = 1 + n (a - 1)}{alpha = 1 + n (a - 1)} and \eqn{\eta =
#' (a, b)}{eta = (a, b)}. Totals of levels are part of the model, so the prior makes them more even, too.
#'
#' **Sparsity.** Entropic priors, as in [`plsa()`][plsa_estimation], add \eqn{\beta \sum_c P(c) \log P(c)}{beta sum P(c)
#' log P(c)} for the weights (`sparsity$membership`) and \eqn{\beta_d \sum_c \sum_x q_{dc}(x) \log q_{dc}(x)}{beta[d]
#' sum q[d, c] log q[d, c]} for the marginals of dimension d (`sparsity$basis`) to the log-likelihood. Positive values
#' favour few components and few levels of each component, negative ones even distributions. The weights are those of
#' the whole array: few components for each site are the sparse memberships of `plsa()`, which do not separate from
#' weights and marginals here. With `sparsity_scale = "relative"` a strength is in proportion to the counts it acts
#' against, N (the sum of all counts) for weights and N / k for marginals; with `"counts"` it is \eqn{\beta} itself.
#' Alone they replace the default Dirichlets; with `prior` the objective has all terms, also of the same weights or
#' marginals.
#'
#' **Estimation.** EM, from random starts, accelerated by default. Each iteration has one E-step, then updates all
#' factors. With a prior between components, these are updated one after another, each given the newest marginals of the
#' others. Iterations never lower the objective with Dirichlet priors, entropic ones, `"js"` or `"mm"`, alone or
#' together: M-steps are exact, except that of marginals with cross-entropy, which maximises a bound. `"paper"` has no
#' objective (see [cross_entropy()]) and no other prior beside it. With `estimate = "ml"` there is no prior, as in the
#' paper's eqs. (1) to (4).
#'
#' **Missing cells.** Counts are conditioned on having fallen into observed cells, as by `missing = "conditional"` of
#' [plsa()].
#'
#' **Cost.** An iteration takes O(k) for each dimension and nonzero or missing cell, and O(k^2) for each level of a
#' dimension with a prior; memory O(k) for each level. Zeros cost nothing.
#'
#' @param x non-negative counts: an array with 2 to 15 dimensions (matrix, sparse matrix of package Matrix, table), or a
#'   data frame with one column for each dimension, of indices from 1 or of names, and one of counts, called `count` (or
#'   the last, where all others hold names); cells it does not name are 0. A data frame with a column for each taxon
#'   goes in as `as.matrix(x)`. `NA` counts are unknown.
#' @param k number of components, at least 1.
#' @param ... must be empty.
#' @param sparsity `NULL`, or strengths of entropic priors, of any sign, `list(membership = , basis = )` or one of them:
#'   for the weights a number, for the marginals a number, or one for each dimension, in order or by name. 0 is no
#'   prior.
#' @param sparsity_scale `"relative"` to the sum of all counts (for marginals: that sum / k), or in `"counts"`.
#' @param estimate `"map"`, the mode under `prior` and `sparsity`, or `"ml"`, maximum likelihood.
#' @param prior `NULL`: the default of Details, none with `sparsity`; Dirichlet priors, `list(membership = , basis = )`:
#'   for the weights a number, or one for each component, for the marginals a number, or one for each dimension, in
#'   order or by name, of at least 1; a prior between components, made by [cross_entropy()]; or both,
#'   `list(membership = , basis = , cross_entropy = )`, but not with its method `"paper"`.
#' @param start initial values `list(weights = k, marginals = list of k x d matrices)` for one start; nothing is then
#'   reordered.
#' @param control settings from [fit_control()].
#' @return A list of class `plca`, with
#' \describe{
#'   \item{`param`}{`weights` (k, sum to 1) and `marginals` (for each dimension a k x d matrix, rows sum to 1), with the
#'     names of `x`; unless a prior distinguishes them, components are in order of decreasing weight.}
#'   \item{`objective`, `loglik`}{the maximum reached, named `log_likelihood`, `log_posterior` or (method `"paper"`)
#'     `unpenalised_log_likelihood`, and the log-likelihood, in nats, without the multinomial coefficient.}
#'   \item{`df`}{number of free parameters: k - 1 plus k (d - 1) for each dimension.}
#'   \item{`dims`, `extent`}{`n` levels of the first dimension, `m` cells of each, `k`, cells `observed`; all extents.}
#'   \item{`prior`}{with a prior: `given`; `value`, what it adds to the log-likelihood at the end, less the constants of
#'     Dirichlet densities (with `"paper"` it may be `Inf`, or `NA` where infinities of both signs meet); its parts
#'     `dirichlet`, `between` and `sparsity` (strengths in counts); `ratio`, the largest weight of cross-entropy over
#'     the mean counts of a component.}
#'   \item{`kl`}{Kullback-Leibler divergence of the fit from the data, both scaled to sum to 1 over observed cells.}
#'   \item{`trace`, `starts`, `converged`}{as in every model.}
#' }
#' @seealso [cross_entropy()], [divergences()], [predict.plca()]
#' @inherit cross_entropy references
#' @examples
#' # two faunas, each with its own sites, taxa and time
#' set.seed(1)
#' q <- list(
#'   site = rbind(c(4, 3, 1, 0), c(0, 1, 2, 5)) / 8,
#'   taxon = rbind(c(5, 4, 1, 0, 0), c(0, 0, 1, 4, 5)) / 10,
#'   time = rbind(c(3, 1, 0), c(0, 1, 3)) / 4
#' )
#' p <- q$site[1, ] %o% q$taxon[1, ] %o% q$time[1, ] + q$site[2, ] %o% q$taxon[2, ] %o% q$time[2, ]
#' x <- array(rmultinom(1, 500, p), dim(p))
#' fit <- plca(x, k = 2)
#' fit
#' round(fit$param$marginals[[3]], 2)
#' @export
plca <- function(x, k, ..., sparsity = NULL, sparsity_scale = c("relative", "counts"), estimate = c("map", "ml"),
                 prior = NULL, start = NULL, control = fit_control()) {
  call <- drop_nulls(match.call(), list(prior = prior, sparsity = sparsity, control = control))
  check_dots(...)
  estimate <- check_choice(estimate)
  sparsity_scale <- check_choice(sparsity_scale)
  call <- keep_values(call, list(
    sparsity = sparsity, sparsity_scale = sparsity_scale, estimate = estimate, prior = prior, start = start
  ))
  control <- check_control(control)
  data <- check_cells(x)
  if (data$n_observed == 0) stop_input("`x` must have observed cells: all are NA.")
  check_blanks(data$cells$value, data$n_observed, prod(as.double(data$cells$extent)), "x")
  plca_tell_data(data)
  k <- check_k(k, data$cells$extent)
  extent <- data$cells$extent
  prior <- plca_settle_prior(prior, sparsity, estimate, is_whole(data$cells))
  priors <- plca_check_prior(prior, k, length(extent), data$labels)
  priors$sparsity <- plca_check_sparsity(sparsity, sparsity_scale, estimate, data, k)
  plca_check_together(priors)
  kernel_prior <- plca_kernel_prior(priors, k, length(extent), data$labels)
  has_pairs <- plca_has_pairs(kernel_prior)
  # Objectives of different multipliers, and likelihoods under eq. (7), are not comparable: each start runs to its end.
  if (has_pairs && (length(kernel_prior$anneal) > 1L || kernel_prior$method == by_paper)) control$screen <- FALSE
  problem <- structure(
    list(cells = data$cells, k = k, prior = kernel_prior), class = c("plca_problem", "multicause_problem")
  )
  problem$start <- if (!is.null(start)) plca_check_start(start, data, k)
  started <- run_starts(problem, control)
  # Components that a prior distinguishes keep its order.
  if (is.null(start) && plca_is_symmetric(kernel_prior) && length(unique(priors$dirichlet$membership)) < 2L) {
    started <- reorder_runs(started, function(param) order(-param$weights), plca_permute)
  }
  if (!has_pairs) priors$between <- NULL
  prior <- list(given = prior, checked = priors, kernel = kernel_prior)
  plca_new_fit(started, data, k, estimate, prior, control, call)
}

start_kinds.plca_problem <- function(problem, control) rep_len("uniform", if (problem$k == 1L) 1L else control$n_start)

draw_start.plca_problem <- function(problem, kind) {
  k <- problem$k
  list(weights = rep(1 / k, k), marginals = lapply(problem$cells$extent, function(d) random_simplex(k, d)))
}

run_start.plca_problem <- function(problem, start, control) {
  run <- plca_run(problem$cells, start, problem$prior, control)
  # Eq. (7) sets to 0 whatever its prior exceeds, even the probability of a cell with counts.
  if (identical(run$outcome$status, "not_finite") && problem$prior$method == by_paper) {
    stop_input(
      "`prior` leaves cells with counts without any probability, which eq. (7) of the paper does not prevent: %s.",
      "lower its weights, or take `method = \"js\"`"
    )
  }
  run
}

plca_check_start <- function(start, data, k) {
  extent <- data$cells$extent
  check_start(start, c("weights", "marginals"), "list(weights = k numbers, marginals = list of k x d matrices)")
  if (!is.list(start$marginals) || length(start$marginals) != length(extent)) {
    stop_input(
      "`start$marginals` must be a list with one matrix for each of the %d dimensions, not %s.", length(extent),
      show_value(start$marginals)
    )
  }
  marginals <- by_name(start$marginals, data$labels, "start$marginals")
  list(
    weights = check_start_weights(start$weights, k),
    marginals = lapply(seq_along(extent), function(d) {
      name <- sprintf("start$marginals[[%d]]", d)
      given <- by_names(marginals[[d]], list(NULL, data$names[[d]]), name)
      unname(check_simplex_rows(given, name, k, extent[d]))
    })
  )
}

plca_permute <- function(param, at) {
  list(weights = param$weights[at], marginals = lapply(param$marginals, function(q) q[at, , drop = FALSE]))
}

# Runs the kernel. fixed: dimensions whose marginals are fixed.
plca_iterations <- function(cells, start, prior, control, fixed = rep(FALSE, length(cells$extent))) {
  param <- list(weights = as.double(start$weights), marginals = lapply(start$marginals, unname), fixed = fixed)
  out <- .Call(mc_c_plca_fit, cells, param, prior, unclass(control))
  list(param = out[c("weights", "marginals")], outcome = out$outcome)
}

# Runs the annealed iterations, then those under the last multiplier, without the prior if that is 0.
plca_run <- function(cells, start, prior, control) {
  n_anneal <- length(prior$anneal)
  last <- prior
  last$anneal <- prior$anneal[n_anneal]
  if (last$anneal == 0) last$pairs <- vector("list", length(last$pairs))
  if (n_anneal == 1L) {
    return(plca_iterations(cells, start, last, control))
  }
  first <- control
  first$tol <- 0
  first$max_iter <- min(n_anneal, control$max_iter)
  result <- plca_iterations(cells, start, prior, first)
  if (result$outcome$status != "max_iter" || control$max_iter <= n_anneal) {
    return(result)
  }
  control$max_iter <- control$max_iter - n_anneal
  more <- plca_iterations(cells, result$param, last, control)
  more$outcome$trace <- c(result$outcome$trace, more$outcome$trace)
  more$outcome$n_iter <- n_anneal + more$outcome$n_iter
  more
}

# prior: list(given, checked by plca_check_prior(), kernel).
plca_new_fit <- function(run, data, k, estimate, prior, control, call) {
  param <- run$best$param
  extent <- data$cells$extent
  labels <- component_names(k)
  names(param$weights) <- labels
  param$marginals <- Map(function(q, names) structure(q, dimnames = list(labels, names)), param$marginals, data$names)
  names(param$marginals) <- data$labels
  # The objective is that of the multiplier of the last iteration made.
  multipliers <- prior$kernel$anneal
  final <- prior$kernel$anneal <- multipliers[min(max(run$best$outcome$n_iter, 1L), length(multipliers))]
  pairs <- plca_has_pairs(prior$kernel) && final != 0
  objective <- if (pairs && prior$kernel$method == by_paper) {
    "unpenalised_log_likelihood"
  } else if (pairs || plca_has_density(prior$kernel)) {
    "log_posterior"
  } else {
    "log_likelihood"
  }
  loglik <- run$best$outcome$objective
  if (objective == "log_posterior") loglik <- plca_loglik(data$cells, param)
  data$dims <- c(n = extent[1L], m = prod(extent[-1L]), k = k, observed = data$n_observed)
  fit <- assemble_fit(
    run, data, k, objective, control, call, param = param, loglik = loglik,
    df = k - 1 + k * sum(extent - 1), class = "plca", extent = extent, labels = data$labels,
    n_observed = data$n_observed, total = sum(data$cells$value), p_observed = plca_p_observed(data$cells, param),
    estimate = estimate, kl = plca_kl(data$cells, loglik), prior = plca_prior_report(data$cells, param, prior, k)
  )
  validate_plca(fit)
}

plca_loglik <- function(cells, param) {
  none <- plca_no_prior(length(param$weights), length(cells$extent))
  plca_iterations(cells, param, none, fit_control(max_iter = 0))$outcome$objective
}

# Computes sum v log(v / p), with v the data scaled to sum to 1.
plca_kl <- function(cells, loglik) {
  total <- sum(cells$value)
  if (total == 0) {
    return(NA_real_)
  }
  (sum(cells$value * log(cells$value / total)) - loglik) / total
}

# If nearly all cells are missing, the difference is rounding error: it is at least the total of the nonzero cells.
plca_p_observed <- function(cells, param) {
  max(1 - sum(cell_probability(param, cells$na_index + 1L)), sum(cell_probability(param, cells$index + 1L)))
}

# Computes probabilities of the cells in the columns of `index`, from 1.
cell_probability <- function(param, index) {
  p <- numeric(ncol(index))
  for (c in seq_along(param$weights)) {
    joint <- rep(param$weights[[c]], ncol(index))
    for (d in seq_along(param$marginals)) joint <- joint * unname(param$marginals[[d]][c, ])[index[d, ]]
    p <- p + joint
  }
  p
}

plca_prior_report <- function(cells, param, prior, k) {
  dirichlet <- prior$checked$dirichlet
  between <- prior$checked$between
  sparsity <- prior$checked$sparsity
  if (is.null(dirichlet) && is.null(between) && is.null(sparsity)) {
    return(NULL)
  }
  unnamed <- list(weights = unname(param$weights), marginals = unname(lapply(param$marginals, unname)))
  value <- .Call(mc_c_plca_prior, cells, unnamed, prior$kernel)
  strongest <- if (!is.null(between)) max(abs(unlist(prior$kernel$pairs)))
  list(
    given = prior$given, value = if (is.nan(value)) NA_real_ else value, dirichlet = dirichlet, between = between,
    sparsity = sparsity, ratio = if (!is.null(strongest)) strongest * k / sum(cells$value)
  )
}

validate_plca <- function(fit) {
  on_simplex <- function(q) all(q >= 0) && all(abs(rowSums(q) - 1) < 1e-8)
  stopifnot(
    abs(sum(fit$param$weights) - 1) < 1e-8, all(fit$param$weights >= 0),
    all(vapply(fit$param$marginals, on_simplex, NA)),
    identical(vapply(unname(fit$param$marginals), ncol, 0L), fit$extent)
  )
  fit
}

# Data of plca(): the nonzero and the unknown cells of an array of any order.

most_dims <- 15L

# Returns list(x, cells, names, labels, dims): cells as in plca_cells of src/plca/plca.h, names of the levels of each
# dimension (NULL without), labels of the dimensions or NULL.
check_cells <- function(x, name = "x") {
  if (missing(x)) stop_missing(name)
  if (inherits(x, "simple_triplet_matrix")) x <- slam_to_sparse(x, name)
  if (is.data.frame(x)) {
    data <- cells_of_frame(x, name)
  } else if (inherits(x, "Matrix")) {
    data <- cells_of_sparse(sparse_to_dgc(x, name), name)
  } else {
    data <- cells_of_array(x, name)
  }
  for (d in seq_along(data$names)) check_names(data$names[[d]], "Level", sprintf("`%s` in dimension %d", name, d))
  check_cell_values(data, name)
  unknown <- is.na(data$value)
  zero <- !unknown & data$value == 0
  index <- data$index
  extent <- data$extent
  list(
    x = x,
    cells = list(
      extent = extent, index = index[, !unknown & !zero, drop = FALSE], value = data$value[!unknown & !zero],
      na_index = index[, unknown, drop = FALSE]
    ),
    names = data$names, labels = full_labels(data$labels), n_observed = prod(as.double(extent)) - sum(unknown),
    n_failed = sum(is.nan(data$value))
  )
}

# Reports what is unknown, nameless or alike in the data, and what cannot be learnt from them.
plca_tell_data <- function(data, name = "x") {
  extent <- data$cells$extent
  if (tell_unlearnable(data$cells$value, data$n_observed, extent, name)) {
    return(invisible())
  }
  missing <- ncol(data$cells$na_index) - data$n_failed
  tell_unknown_values(rep(c(NA, NaN), c(missing, data$n_failed)), extent, 0, name)
  x <- if (inherits(data$x, "Matrix")) sparse_to_dgc(data$x, name) else data$x
  if (length(extent) > 2L) {
    tell_alike_levels(x, data$names, data$labels, name)
  } else if (!is.data.frame(x)) {
    tell_alike_lines(x, name)
  }
  sides <- if (length(extent) == 2L) c("rows", "columns") else paste("dimension", seq_along(extent))
  tell_nameless(data$names, data$labels %||% sides, name)
}

# Fills in labels of the dimensions, which table() leaves empty if its arguments have no names.
full_labels <- function(labels) {
  empty <- is.na(labels) | labels == ""
  if (all(empty)) {
    return(NULL)
  }
  labels[empty] <- paste("dimension", which(empty))
  make.unique(labels)
}

cells_of_array <- function(x, name) {
  refuse_shards(x, name)
  if (!is_plain_number(x) || length(dim(x)) < 2L) {
    stop_input(
      "`%s` must be a numeric array with two or more dimensions, or a data frame of indices and counts, not %s.%s",
      name, show_value(x), number_advice(x, name)
    )
  }
  if (length(dim(x)) > most_dims) {
    stop_input("`%s` must have at most %s, not %d.", name, count_words(most_dims, "dimension"), length(dim(x)))
  }
  if (any(dim(x) == 0L)) stop_input("`%s` must have no dimension of length 0.", name)
  names <- dimnames(x)
  at <- which(is.na(x) | x != 0)
  index <- t(arrayInd(at, dim(x), useNames = FALSE)) - 1L
  labels <- if (is.null(names(names))) names(dim(x)) else names(names)
  list(
    extent = unname(dim(x)), index = index, value = as.double(x[at]),
    names = if (is.null(names)) vector("list", length(dim(x))) else unname(names), labels = labels
  )
}

cells_of_sparse <- function(x, name) {
  if (!inherits(x, "dgCMatrix")) {
    return(cells_of_array(x, name))
  }
  list(
    extent = dim(x), index = rbind(x@i, rep(seq_len(ncol(x)), diff(x@p)) - 1L), value = x@x,
    names = if (is.null(dimnames(x))) list(NULL, NULL) else unname(dimnames(x)), labels = NULL
  )
}

# Reads one column of indices (whole numbers from 1, or names) per dimension, then one of counts.
cells_of_frame <- function(x, name) {
  at <- match("count", names(x), nomatch = ncol(x))
  if (ncol(x) < 3L || ncol(x) > most_dims + 1L || nrow(x) == 0L || !is_plain_number(x[[at]])) {
    stop_input(
      paste(
        "`%s` must have a row or more, columns of indices or names (2 to %d), one for each dimension, and a numeric",
        "column of counts, called \"count\" or the last."
      ), name, most_dims
    )
  }
  if (!"count" %in% names(x)) refuse_wide(x, at, name)
  sides <- Map(function(column, label) frame_side(column, label, name), as.list(x)[-at], names(x)[-at])
  index <- do.call(rbind, lapply(unname(sides), `[[`, "index"))
  extent <- vapply(unname(sides), `[[`, 0L, "extent")
  check_once(index, extent, name)
  list(
    extent = extent, index = index - 1L, value = as.double(x[[at]]),
    names = lapply(unname(sides), `[[`, "names"), labels = names(x)[-at]
  )
}

# Checks that no cell occurs twice: cells are numbered, as far as doubles allow, else compared index by index.
check_once <- function(index, extent, name) {
  step <- c(1, cumprod(as.double(extent)))
  place <- if (step[length(step)] < 2^53) colSums((index - 1) * step[-length(step)]) else asplit(index, 2L)
  twice <- anyDuplicated(place)
  if (!twice) {
    return(invisible())
  }
  first <- which(colSums(index != index[, twice]) == 0)[1L]
  stop_input("`%s` must name each cell once: rows %d and %d are the same cell. Add them up first.", name, first, twice)
}

# Columns of numbers without one called "count" may be indices, or each the counts of a taxon.
refuse_wide <- function(x, at, name) {
  number <- vapply(x, is.numeric, NA)
  if (!any(number[-at])) {
    return(invisible())
  }
  taxa <- if (all(number)) name else sprintf("%s[%s]", name, deparse1(unname(-which(!number))))
  stop_input(
    paste(
      "`%s` may be a list of cells or a table with a column for each taxon: call the counts of a list \"count\",",
      "or use a table, `as.matrix(%s)`."
    ), name, taxa
  )
}

frame_side <- function(column, label, name) {
  unknown <- which(is.na(column))
  if (length(unknown)) {
    stop_input("Column %s of `%s` must not be NA: row %d is.", dQuote(label, FALSE), name, unknown[1L])
  }
  if (is.character(column)) column <- fixed_factor(column)
  if (is.factor(column)) {
    return(list(index = as.integer(column), extent = nlevels(column), names = levels(column)))
  }
  if (!is.numeric(column) || any(column < 1 | column != floor(column) | column > .Machine$integer.max)) {
    stop_input("Column %s of `%s` must hold whole numbers from 1, or names.", dQuote(label, FALSE), name)
  }
  list(index = as.integer(column), extent = as.integer(max(column)), names = NULL)
}

check_cell_values <- function(data, name) {
  bad <- which(!is.na(data$value) & (data$value < 0 | is.infinite(data$value)))
  if (length(bad)) {
    stop_input(
      "`%s` must hold finite values of at least 0, or NA: cell (%s) is %s.", name,
      paste(data$index[, bad[1L]] + 1L, collapse = ", "), format(data$value[bad[1L]])
    )
  }
  check_magnitude(data$value, name)
}

# Priors of plca() (src/plca/plca.h): Dirichlet and entropic priors, as in plsa(), and a prior between components, in
# any combination.

# Returns the prior to use; without counts the size of pseudo-counts is undefined.
plca_settle_prior <- function(prior, sparsity, estimate, whole) {
  if (estimate == "ml" && !is.null(prior)) stop_input("`estimate = \"ml\"` has no `prior`: take \"map\".")
  if (estimate == "map" && is.null(prior) && is.null(sparsity) && whole) plsa_default_prior("map", whole) else prior
}

# Checks the user's prior: list(dirichlet = NULL or list(membership = one number or k, basis = a number for each
# dimension), between = NULL or the result of cross_entropy()).
#   labels  names of the dimensions, or NULL
plca_check_prior <- function(prior, k, n_dim, labels) {
  if (is.null(prior) || inherits(prior, "cross_entropy")) {
    return(list(dirichlet = NULL, between = prior))
  }
  between <- if (is.list(prior)) prior[["cross_entropy"]]
  wanted <- "NULL, cross_entropy(), or list(membership = , basis = ), also with `cross_entropy`"
  check_prior_parts(prior, c("membership", "basis", "cross_entropy"), wanted, c("membership", "basis"))
  if (!(is.null(between) || inherits(between, "cross_entropy"))) {
    stop_input("`prior$cross_entropy` must come from cross_entropy(), not %s.", show_value(between))
  }
  wish <- function(size, what) sprintf("a number, or %s,", count_words(size, what))
  basis <- by_name(prior$basis, labels, "prior$basis")
  dirichlet <- list(
    membership = check_dirichlet(prior$membership, "prior$membership", c(1L, k), wish(k, "number")),
    basis = rep_len(check_dirichlet(basis, "prior$basis", c(1L, n_dim), wish(n_dim, "number")), n_dim)
  )
  list(dirichlet = dirichlet, between = between)
}

# Checks strengths of entropic priors: NULL without any, else list(membership = a number, basis = a number for each
# dimension), in counts.
plca_check_sparsity <- function(sparsity, scale, estimate, data, k) {
  if (is.null(sparsity)) {
    return(NULL)
  }
  n_dim <- length(data$cells$extent)
  given <- replace(list(membership = 0, basis = 0), names(sparsity), as.list(sparsity))
  given$basis <- by_name(given$basis, data$labels, "sparsity$basis")
  is_strength <- function(value, lengths) is.numeric(value) && length(value) %in% lengths && all(is.finite(value))
  ok <- is_named(as.list(sparsity)) && length(given) == 2L && is_strength(given$membership, 1L) &&
    is_strength(given$basis, c(1L, n_dim))
  if (!ok) {
    stop_input(
      paste(
        "`sparsity` must be list(membership = a finite number, basis = a finite number, or %s), or one of them,",
        "not %s."
      ), count_words(n_dim, "number"), show_value(sparsity)
    )
  }
  check_sparse_estimate(given, estimate)
  total <- if (scale == "relative") sum(data$cells$value) else 1
  share <- if (scale == "relative") k else 1
  out <- list(membership = total * given$membership, basis = rep_len(total / share * as.double(given$basis), n_dim))
  if (any(unlist(out) != 0)) out
}

# Eq. (7) of the paper maximises nothing: no density can be added to its objective.
plca_check_together <- function(priors) {
  beside <- c(if (!is.null(priors$dirichlet)) "Dirichlet priors", if (!is.null(priors$sparsity)) "`sparsity`")
  if (length(beside) && identical(priors$between$method, "paper")) {
    stop_input(
      "`cross_entropy()` must have method \"js\" or \"mm\" beside %s: \"paper\" maximises nothing.",
      and_words(beside)
    )
  }
}

# Converts the result of plca_check_prior() and plca_check_sparsity() for the kernel: list(method, floor, pairs, anneal,
# weights_added, marginals_added, weights_sparsity, marginals_sparsity).
plca_kernel_prior <- function(prior, k, n_dim, labels) {
  added <- lapply(prior$dirichlet, function(parameter) parameter - 1)
  none <- list(membership = 0, basis = numeric(n_dim))
  sparsity <- if (is.null(prior$sparsity)) none else prior$sparsity
  c(cross_entropy_pairs(prior$between, k, n_dim, labels), list(
    weights_added = if (any(added$membership > 0)) rep_len(added$membership, k),
    marginals_added = if (is.null(added$basis)) none$basis else added$basis,
    weights_sparsity = sparsity$membership, marginals_sparsity = sparsity$basis
  ))
}

# Prior of maximum likelihood.
plca_no_prior <- function(k, n_dim) plca_kernel_prior(NULL, k, n_dim, NULL)

# Tests for Dirichlet or entropic priors: densities that no multiplier fades.
plca_has_density <- function(kernel_prior) {
  !is.null(kernel_prior$weights_added) || any(kernel_prior$marginals_added > 0) ||
    kernel_prior$weights_sparsity != 0 || any(kernel_prior$marginals_sparsity != 0)
}

plca_has_pairs <- function(kernel_prior) !all(vapply(kernel_prior$pairs, is.null, NA))

# Tests whether the prior between components is the same of all pairs.
plca_is_symmetric <- function(kernel_prior) {
  all(vapply(kernel_prior$pairs, function(a) is.null(a) || length(unique(a[row(a) != col(a)])) < 2L, NA))
}

# Prior of new levels of the first dimension beside those of the fit, whose weights they hardly move: a Dirichlet prior
# then has the terms of its marginals. Memberships have eta - 1 added, for each level separately, since
#   sum (eta - 1) log marginals[[1]][c, i] + n (eta - 1) log weights[c] = sum (eta - 1) log P(c, i).
plca_fold_in_prior <- function(fit, n) {
  n_dim <- length(fit$extent)
  k <- fit$dims[["k"]]
  none <- plca_no_prior(k, n_dim)
  added <- if (is.null(fit$prior$dirichlet)) 0 else fit$prior$dirichlet$basis[1L] - 1
  if (added > 0) {
    none$weights_added <- rep(n * added, k)
    none$marginals_added[1L] <- added
  }
  none
}
