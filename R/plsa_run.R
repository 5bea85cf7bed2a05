# Starting values, iterations and likelihood of all estimates of PLSA.

plsa_check_start <- function(start, data, k, fixed) {
  wanted <- if (fixed == "basis") "basis" else c("membership", "basis")
  wish <- "list(membership = n x k matrix, basis = k x m matrix)"
  start <- check_start(start, wanted, wish, rownames(data$x), colnames(data$x))
  membership <- start$membership
  if (is.null(membership)) membership <- matrix(1 / k, nrow(data$x), k)
  list(
    membership = check_simplex_rows(membership, "start$membership", nrow(data$x), k),
    basis = check_simplex_rows(start$basis, "start$basis", k, ncol(data$x))
  )
}

plsa_permute <- function(param, at) {
  list(membership = param$membership[, at, drop = FALSE], basis = param$basis[at, , drop = FALSE])
}

perplexity <- function(rows) {
  exp(-rowSums(ifelse(rows > 0, rows * log(rows), 0)))
}

plsa_loglik <- function(view, param, settings) {
  settings$near <- NULL
  none <- fit_control(max_iter = 0)
  plsa_iterations(view, lapply(param, unname), settings, none, prior = plsa_kernel_prior())$outcome$objective
}

validate_plsa <- function(fit) {
  membership <- fit$param$membership
  basis <- fit$param$basis
  stopifnot(
    has_dims(membership, fit, c("n", "k")), has_dims(basis, fit, c("k", "m")),
    all(membership >= 0), all(abs(rowSums(membership) - 1) < 1e-8), all(basis >= 0), all(abs(rowSums(basis) - 1) < 1e-8)
  )
  fit
}

# Runs the kernel with this prior and rule: list(param, outcome).
plsa_iterations <- function(view, start, settings, control, prior = settings$prior, rule = settings$mstep) {
  plain <- plsa_is_plain(prior) && is.null(settings$near) && is.null(view$na_start)
  asked <- if (is.null(control$algorithm)) "auto" else control$algorithm
  few <- nrow(start$basis) <= plsa_newton_components || asked == "newton"
  param <- list(
    membership = start$membership, basis = start$basis, fixed_basis = settings$fixed == "basis",
    missing = match(settings$missing, c("conditional", "paper")) - 1L,
    newton = control$accelerate && plain && few && asked != "em", smooth = settings$near
  )
  rule <- match(rule, c("cccp", "global", "first")) - 1L # num_entropic_rule in src/num/entropic.h
  out <- .Call(mc_c_plsa_fit, view, param, c(prior, rule = rule), unclass(control))
  list(param = out[c("membership", "basis")], outcome = out$outcome)
}

# Up to this k Newton iterations are at least as fast as EM's, in fits and for new rows (bench/plsa.md).
plsa_newton_components <- 100L

# What predictions are means over: list(membership, basis) of these rows, one of a mode, several of a sampler.
plsa_states <- function(fit, rows = seq_len(fit$dims[["n"]])) UseMethod("plsa_states")

plsa_states.default <- function(fit, rows = seq_len(fit$dims[["n"]])) {
  list(list(membership = unname(fit$param$membership)[rows, , drop = FALSE], basis = unname(fit$param$basis)))
}

# The mean over states of what each says.
over_states <- function(states, of) Reduce(`+`, lapply(states, of)) / length(states)

# P(j | i) at cells given by row and column.
plsa_shares_at <- function(states, row, column) {
  over_states(states, function(state) {
    rowSums(state$membership[row, , drop = FALSE] * t(state$basis[, column, drop = FALSE]))
  })
}

# Row totals over the mean probability of what is observed.
plsa_mean_scale <- function(view, states, total) {
  if (length(states) == 1L) {
    return(plsa_row_scale(view, states[[1L]], total))
  }
  total / over_states(states, function(state) 1 / plsa_row_scale(view, state, rep(1, length(total))))
}
