#' A prior on how alike or different components are
#'
#' For pairs of components of a [plca()] fit, and for some of its dimensions, sets how strongly their marginals are made
#' different or similar.
#'
#' @details
#' The log-likelihood gains \eqn{\sum_{i<k} A_{ik} D(q_i, q_k)}{sum over pairs of A[i,k] D(q_i, q_k)} for each dimension
#' of the prior: \eqn{A > 0} rewards difference, \eqn{A < 0} similarity. `groups` and the two numbers of `strength` make
#' \eqn{A}: `between` for components of different groups, `-within` for those of the same group, as in section 4 of the
#' paper. A list of matrices gives \eqn{A} itself. Weights are in counts, and act against the counts of one component,
#' on average the sum of all counts / k; [summary()] has their ratio to it. Ratios of 0.01 to 0.05 are useful for
#' difference.
#'
#' The meaning of \eqn{D} depends on `method`:
#' \describe{
#'   \item{`"js"`}{twice the Jensen-Shannon divergence, at most 2 log 2 = 1.39. It grows with difference as
#'     cross-entropy does, but is bounded. The objective never falls.}
#'   \item{`"mm"`}{the sum of both cross-entropies, with `log(q + floor)` for `log q`. The objective never falls.}
#'   \item{`"paper"`}{the update printed as eq. (7), negative values set to 0. It does not maximise the paper's
#'     objective (eq. 7 solves eq. 6 only where a term that it treats as constant is), and the fit may get worse from
#'     iteration to iteration; the objective reported is the log-likelihood alone. Kept because it gives the paper's
#'     pictures.}
#' }
#' Two warnings about the paper's prior, cross-entropy. With \eqn{A > 0} it has no maximum: it is infinite as soon as
#' two marginals have no cell in common. With \eqn{A < 0} its maximum is not similarity: cross-entropy is entropy plus
#' divergence, so it is least where both marginals are the same single spike. `"js"` has neither problem.
#'
#' `anneal` lets the prior act while components form and then fade, as the paper advises. A number makes the multiplier
#' of the prior fall in equal steps from 1 to 0 after that many iterations. A vector gives the multiplier of each
#' iteration (the last one stays). If it ends at 0, the last iterations are maximum likelihood.
#'
#' @param groups group of each component, any vector of length k; `NULL`: each is a group of its own.
#' @param strength `c(between = , within = )`: weights of pairs in different groups, above 0 for difference, and in the
#'   same group, above 0 for similarity; one left out is 0. Or, without `groups` and `dims`, a list with a symmetric k x
#'   k matrix, or `NULL`, for each dimension; the diagonal is not used.
#' @param dims dimensions of the array that the prior is on, numbers or names; `NULL` is all.
#' @param method `"js"`, `"paper"` or `"mm"`; see Details.
#' @param floor added inside the logarithm by `"mm"`, above 0.
#' @param anneal `NULL`, a number of iterations (a whole number from 2 to 1e6), or a vector of finite multipliers of at
#'   least 0, one for each iteration.
#' @return A list of class `cross_entropy` for the argument `prior` of [plca()], or for its part `cross_entropy`.
#' @references Smaragdis P, Shashanka M, Raj B, Mysore GJ (2009). Probabilistic factorization of non-negative data with
#'   entropic co-occurrence constraints. *Independent Component Analysis and Signal Separation*, 330-337.
#'   \doi{10.1007/978-3-642-00599-2_42}
#' @examples
#' # twelve components in six groups of two, alike within and different between groups,
#' # in the second dimension
#' cross_entropy(groups = rep(1:6, each = 2), strength = c(between = 1, within = 5), dims = 2)
#' @export
cross_entropy <- function(groups = NULL, strength = c(between = 0, within = 0), dims = NULL,
                          method = c("js", "paper", "mm"), floor = 1e-4, anneal = NULL) {
  method <- check_choice(method)
  strength <- check_strength(strength)
  by_pair <- is.list(strength)
  if (!is.null(dims) && !is.numeric(dims) && !is.character(dims)) {
    stop_input("`dims` must be numbers or names of dimensions, or NULL, not %s.", show_value(dims))
  }
  if (by_pair && !(is.null(groups) && is.null(dims))) {
    stop_input("`groups` and `dims` must be left out where `strength` has a matrix for each dimension.")
  }
  if (!is.null(groups) && (!is.atomic(groups) || anyNA(groups))) {
    stop_input("`groups` must be a vector with the group of each component, without NA, not %s.", show_value(groups))
  }
  structure(
    list(
      groups = if (is.factor(groups)) as.character(groups) else groups,
      strength = strength, dims = dims, method = method, floor = check_number(floor, "floor", 0, 1, open = TRUE),
      anneal = check_anneal(anneal)
    ),
    class = "cross_entropy"
  )
}

# Checks strengths: two numbers by name, or a matrix of pairs for each dimension.
check_strength <- function(strength) {
  if (is.list(strength)) {
    ok <- all(vapply(strength, function(a) is.null(a) || is.matrix(a) || length(a) == 0L, NA))
    if (!ok) stop_input("`strength` must hold a k x k matrix or NULL for each dimension of the array.")
    return(strength)
  }
  all <- c(between = 0, within = 0)
  named <- is.numeric(strength) && is_named(as.list(strength)) && all(names(strength) %in% names(all))
  if (!named || !all(is.finite(strength))) {
    stop_input("`strength` must be c(between = , within = ), finite, or a list, not %s.", show_value(strength))
  }
  replace(all, names(strength), as.double(strength))
}

most_anneal <- 1e6

# Checks the multipliers by iteration; NULL is 1 throughout.
check_anneal <- function(anneal) {
  if (is.null(anneal)) {
    return(1)
  }
  ok <- is.numeric(anneal) && length(anneal) && all(is.finite(anneal)) && all(anneal >= 0)
  if (length(anneal) == 1L) ok <- ok && anneal >= 2 && anneal <= most_anneal && anneal == floor(anneal)
  if (!ok) {
    stop_input(
      "`anneal` must be NULL, a whole number of iterations from 2 to 1e6, or finite multipliers of at least 0, not %s.",
      show_value(anneal)
    )
  }
  if (length(anneal) == 1L) 1 - seq(0, anneal) / anneal else as.double(anneal)
}

#' @export
print.cross_entropy <- function(x, ...) {
  cat(sprintf("<cross_entropy> method \"%s\"%s\n", x$method, if (x$method == "mm") paste0(", floor ", x$floor) else ""))
  if (is.list(x$strength)) {
    cat("  strengths supplied for each pair\n")
  } else {
    groups <- if (is.null(x$groups)) "each component a group" else count_words(length(unique(x$groups)), "group")
    strength <- vapply(x$strength, format, "")
    cat(sprintf("  %s, between %s, within %s, on %s\n", groups, strength[["between"]], strength[["within"]],
      if (is.null(x$dims)) "all dimensions" else paste("dimension", paste(x$dims, collapse = ", "))))
  }
  if (length(x$anneal) > 1L) {
    last <- format(utils::tail(x$anneal, 1L))
    cat(sprintf("  annealed over %s to %s\n", count_words(length(x$anneal), "iteration"), last))
  }
  invisible(x)
}

cross_entropy_methods <- c("js", "paper", "mm") # as plca_method of src/plca/plca.h numbers them
by_paper <- 1L

# Converts cross_entropy(), or NULL, to the kernel's prior: list(method, floor, pairs, anneal).
#   labels  names of the dimensions, or NULL
cross_entropy_pairs <- function(prior, k, n_dim, labels) {
  if (is.null(prior)) {
    return(list(method = 0L, floor = 1, pairs = vector("list", n_dim), anneal = 1))
  }
  pairs <- if (is.list(prior$strength)) {
    given_pairs(prior$strength, k, n_dim, labels)
  } else {
    group_pairs(prior, k, n_dim, labels)
  }
  list(
    method = match(prior$method, cross_entropy_methods) - 1L, floor = prior$floor, pairs = pairs, anneal = prior$anneal
  )
}

group_pairs <- function(prior, k, n_dim, labels) {
  groups <- if (is.null(prior$groups)) seq_len(k) else prior$groups
  if (length(groups) != k) {
    stop_input("`groups` of the prior must have one value for each of the %d components, not %d.", k, length(groups))
  }
  at <- pick(prior$dims, n_dim, labels, "dims")
  same <- outer(groups, groups, "==")
  pairs <- vector("list", n_dim)
  pairs[at] <- list(ifelse(same, -prior$strength[["within"]], prior$strength[["between"]]) * (1 - diag(k)))
  pairs
}

given_pairs <- function(strength, k, n_dim, labels) {
  strength <- by_name(strength, labels, "strength")
  if (length(strength) != n_dim) {
    stop_input(
      "`strength` of the prior must be a list of length %d, one for each dimension, not %d.", n_dim, length(strength)
    )
  }
  lapply(seq_len(n_dim), function(d) {
    if (!length(strength[[d]])) {
      return(NULL)
    }
    name <- sprintf("strength[[%d]]", d)
    a <- check_matrix(strength[[d]], name, k, k, -.Machine$double.xmax, .Machine$double.xmax)
    if (!isSymmetric(unname(a))) stop_input("`%s` of the prior must be symmetric.", name)
    unname(a) * (1 - diag(k))
  })
}
