#' How different are the components?
#'
#' Kullback-Leibler divergences between the distributions of all pairs of components: the matrices of Figures 3.2 and
#' 4.3 of the paper on cross-entropy priors.
#'
#' \eqn{KL(p, q) = \sum_x p \log(p / (q + floor))}{KL(p, q) = sum p log(p / (q + floor))}, terms with p = 0 being 0, cut
#' at 0 below. The floor keeps it finite where q is 0; without it (`floor = 0`) it may be `Inf`.
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

# What each component distributes over: k x levels, by the name of the dimension.
distributions <- function(fit) UseMethod("distributions")

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

dimension_names <- function(names, at) if (is.null(names)) paste("dimension", at) else names

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
