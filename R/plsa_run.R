# How plsa() runs: kinds of starts, the kernel, the exact M-step at the end, annealing.

# A cold start falls into the nearest sparse solution where the prior is strong.
plsa_kinds <- function(settings, k, control) {
  if (k == 1L) {
    return("uniform")
  }
  strong <- settings$scale == "counts" || any(settings$given > strong_sparsity)
  kinds <- if (strong && any(settings$given > 0)) c("uniform", "annealed") else "uniform"
  rep_len(kinds, control$n_start)
}

plsa_draw <- function(data, k, kind) {
  list(
    membership = random_simplex(nrow(data$x), k), basis = random_simplex(k, ncol(data$x)),
    anneal = kind == "annealed"
  )
}

# A run of the kernel with the given prior and rule: list(param, outcome).
plsa_passes <- function(view, start, settings, control, prior = settings$prior, rule = settings$mstep) {
  plain <- is.null(prior$membership) && prior$basis == 0 && is.null(settings$near)
  param <- list(
    membership = start$membership, basis = start$basis, fixed_basis = settings$fixed == "basis",
    mask = match(settings$mask, c("conditional", "paper")) - 1L,
    coordinate_descent = control$accelerate && plain && is.null(view$na_start), smooth = settings$near
  )
  out <- .Call(mc_c_plsa_fit, view, param, c(prior, rule = entropic_rule(rule)), unclass(control))
  list(param = out[c("membership", "basis")], outcome = out$outcome)
}

# Passes to convergence; where they made the cheap M-step, an exact one at the end, and on from there if that moved.
plsa_run <- function(view, start, settings, control) {
  if (isTRUE(start$anneal)) start <- plsa_anneal(view, start, settings, control)
  passes <- function(start, control) plsa_passes(view, start, settings, control)
  result <- passes(start, control)
  prior <- settings$prior
  cheap <- settings$mstep == "cccp" && (any(prior$membership > 0) || prior$basis > 0)
  if (!cheap || !control$accelerate) {
    return(result)
  }
  one_exact <- function(start, control) {
    control$max_pass <- 1L
    control$accelerate <- FALSE
    plsa_passes(view, start, settings, control, rule = "global")
  }
  while (result$outcome$status == "converged" && control$max_pass - result$outcome$n_pass > 1L) {
    before <- result$outcome$objective
    result <- continue(result, result$param, one_exact, control)
    if (result$outcome$objective - before <= control$tol * abs(before)) {
      result$outcome$status <- "converged"
      break
    }
    result$outcome$status <- "max_pass"
    result <- continue(result, result$param, passes, control)
  }
  result
}

# The prior raised from 0 to its strength over 100 plain passes.
plsa_anneal <- function(view, start, settings, control) {
  control$accelerate <- FALSE
  control$tol <- 0
  control$max_pass <- 5L
  for (share in seq(0, 0.95, 0.05)) {
    prior <- lapply(settings$prior, function(strength) share * strength)
    result <- plsa_passes(view, start, settings, control, prior = prior)
    check_outcome(result$outcome)
    start <- result$param
  }
  start
}
