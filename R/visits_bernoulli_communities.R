# Memberships of visits_bernoulli() that follow covariates of the observations, `communities = ~ ...`: a multinomial
# logistic model, see base_memberships.R.

# Returns list(design = d x n, basis, terms, frame, formula, ridge), as detection_design() does; effects on the
# covariates' scale are basis %*% those of the design.
check_communities <- function(formula, cell, given, settings) {
  found <- visit_variables(formula, cell, given, "communities")
  other <- names(found$level)[found$level != "site"]
  if (length(other)) {
    stop_input(
      "`communities` must depend on covariates of sites (`site_data`): %s is of %s.", other[1L],
      if (found$level[[other[1L]]] == "taxon") "taxa" else "visits"
    )
  }
  n <- dim(cell)[1L]
  by <- membership_design(formula, lapply(found$values, utils::head, n), n, dimnames(cell)[[1L]], "communities")
  by$ridge <- if (settings$estimate == "ml") 0 else 1 / settings$prior$communities^2
  by
}

# A start whose memberships follow covariates, where they do.
follow_start <- function(problem, start) {
  by <- problem$settings$communities
  if (is.null(by)) {
    return(start)
  }
  if (is.null(start$effects)) start$effects <- start_effects(by, start$membership)
  start$membership <- multinomial_shares(by$design, start$effects)
  start
}

visits_permute <- function(param, at) {
  param <- ab_permute(param, at)
  if (!is.null(param$effects)) param$effects <- param$effects[, at, drop = FALSE]
  param
}

drawn_effects_covariance <- function(fit) {
  need_communities(fit)
  draws <- fit$draws$communities
  names <- paste(rep(component_names(dim(draws)[2L]), each = dim(draws)[1L]), fit$communities$terms, sep = ":")
  out <- stats::cov(t(matrix(draws, length(names))))
  structure(out, dimnames = list(names, names))
}

need_communities <- function(fit) {
  if (is.null(fit$communities)) stop_input("This is for fits with `communities`: memberships of this one are free.")
}

# Returns the parts of the communities that a fit keeps.
communities_answer <- function(by) by[c("formula", "terms", "design", "basis", "frame", "ridge")]

# Computes the covariance of the effects, component by component, on the covariates' scale: aspects and detection are
# fixed, and effects of a term sum to 0. With q the posterior of a cell's component, an observation's information on its
# eta is the sum over its cells of (diag(s) - s s') - (diag(q) - q q').
effects_covariance <- function(fit) {
  need_communities(fit)
  by <- fit$communities
  k <- fit$dims[["k"]]
  d <- length(by$terms)
  s <- unname(fit$param$membership)
  information <- matrix(0, d * k, d * k)
  posterior <- cell_components(fit)
  made <- apply(!is.na(fit$visits), 1:2, any)
  for (a in seq_len(k)) {
    for (b in seq_len(a)) {
      qa <- posterior[[a]]
      curve <- rowSums(made) * (s[, a] * (a == b) - s[, a] * s[, b]) -
        rowSums(made * (qa * (a == b) - qa * posterior[[b]]))
      block <- by$design %*% (curve * t(by$design))
      at <- (a - 1L) * d + seq_len(d)
      other <- (b - 1L) * d + seq_len(d)
      information[at, other] <- block
      information[other, at] <- t(block)
    }
  }
  free <- free_effects(k, d)
  inverse <- or_nothing(solve(crossprod(free, information %*% free) + diag(by$ridge, ncol(free))))
  own <- kronecker(diag(1, k), by$basis)
  out <- if (is.null(inverse)) NA * information else own %*% free %*% inverse %*% t(free) %*% t(own)
  names <- paste(rep(component_names(k), each = d), by$terms, sep = ":")
  structure(out, dimnames = list(names, names))
}

# Computes P(component | visits) of every cell, a list of n x m matrices.
cell_components <- function(fit) {
  after <- visit_posterior(fit, seq_len(fit$dims[["n"]]))
  s <- unname(fit$param$membership)
  a <- unname(fit$param$aspects)
  p <- mixed(s, a)
  one <- ifelse(p > 0, after / p, 0)
  zero <- ifelse(p < 1, (1 - after) / (1 - p), 0)
  lapply(seq_len(ncol(s)), function(c) {
    aspect <- matrix(a[c, ], nrow(s), ncol(a), byrow = TRUE)
    s[, c] * (one * aspect + zero * (1 - aspect))
  })
}
