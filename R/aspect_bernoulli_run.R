# What all estimates of aspect Bernoulli models share: starts, the choice among passes, runs, checks, order.

# How the variational fits are run that chains begin at.
gibbs_start_control <- function(control) {
  fit_control(
    n_start = if (is.null(control$n_start)) 4 else control$n_start, max_pass = 500, tol = 1e-7, n_finish = 1,
    n_polish = 0, screen = 50, n_threads = control$n_threads, progress = FALSE
  )
}

# What its starts work on; see starts.R. `near`: what smooth_lists() gives, or NULL.
ab_problem <- function(data, pinned, estimate, prior, effort = NULL) {
  kind <- c(if (estimate == "vb") "vb", if (!is.null(effort)) "effort")
  structure(
    list(
      data = data, values = "binary", pinned = pinned, estimate = estimate,
      prior = if (estimate != "ml") prior, effort = effort
    ),
    class = c(sprintf("aspect_bernoulli_%s_problem", kind), "aspect_bernoulli_problem", "multicause_problem")
  )
}

# That of a fit, with other data.
fit_problem <- function(fit, x, pinned = unname(fit$pinned)) {
  data <- check_data(x, "binary", quiet = TRUE)
  problem <- ab_problem(data, pinned, fit$estimate, fit$prior, fit$effort$values)
  problem$near <- smooth_lists(fit$smooth)
  problem
}

draw_start.aspect_bernoulli_problem <- function(problem, kind) {
  c(ab_draw(problem$data, kind, problem$pinned, problem$n_threads), drawn = TRUE)
}

run_start.aspect_bernoulli_problem <- function(problem, start, control) {
  opened <- NULL
  if (isTRUE(start$drawn) && opens_by_em(problem, control)) {
    opened <- open_by_em(problem, start[c("membership", "aspects")], control)
    start <- opened$param
    control$max_pass <- control$max_pass - opened$outcome$n_pass
  }
  run <- ab_run(problem$data$view, start, problem$pinned, problem$prior, control, smooth = problem$near)
  check_outcome(run$outcome)
  add_passes(opened, run)
}

run_start.aspect_bernoulli_effort_problem <- function(problem, start, control) {
  if (is.null(start$coef)) start <- effort_start(start)
  effort <- list(coef = start$coef, effort = scale_effort(problem$effort))
  param <- c(ab_kernel_param(start, problem$pinned), effort)
  control$algorithm <- ab_algorithm(control, ncol(start$membership), problem$data$view, FALSE, effort = TRUE)
  counts <- mode_counts(problem$prior, problem$pinned)
  out <- .Call(mc_c_ab_effort_fit, problem$data$view, param, counts, unclass(control))
  out$outcome$algorithm <- control$algorithm
  list(param = out[c("membership", "aspects", "coef")], outcome = out$outcome)
}

# Log-odds that follow the phantom's share of a start on the mean, and do not yet hang on effort.
effort_start <- function(start) {
  start$coef <- flat_curve(mean(start$membership[, ncol(start$membership)]))
  start
}

# With a prior the long Newton steps of the first passes lead drawn starts into lower optima more often than EM's do. EM
# goes on until two cycles in a row gain less than that share of the objective. Without one the best of 20 starts ended
# lower so (bench/passes.md).
em_opening <- list(max_pass = 30L, tol = 3e-3)

opens_by_em <- function(problem, control) {
  identical(control$algorithm, "auto") && !is.null(problem$prior) && algorithm_of(problem, control) == "newton"
}

open_by_em <- function(problem, start, control) {
  opening <- control
  opening[c("max_pass", "tol", "algorithm")] <- list(min(control$max_pass, em_opening$max_pass), em_opening$tol, "em")
  opened <- ab_run(problem$data$view, start, problem$pinned, problem$prior, opening, smooth = problem$near)
  check_outcome(opened$outcome)
  opened$outcome[c("status", "algorithm")] <- list("max_pass", "newton")
  opened
}

shake_start.aspect_bernoulli_problem <- function(problem, param) {
  ab_shake(param[c("membership", "aspects")], problem$pinned)
}

mark_start.aspect_bernoulli_problem <- function(problem, param) {
  list(phantom = ab_found_phantom(param, problem$data, problem$pinned))
}

# Whether a component that was not pinned ended as a phantom, by the default rule of phantoms().
ab_found_phantom <- function(param, data, pinned) {
  kind <- phantom_measures(param, data_density(data), pinned, data$margins$column_observed > 0)$kind
  any(kind[pinned == "free"] != "content")
}

ab_pins <- function(phantom) switch(phantom, free = character(), both = c("white", "black"), phantom)

tell_many_components <- function(data, k) {
  if (k > 1L && k >= nrow(data$x)) {
    inform("`k` = %d is not below the number of rows (%d): the model can repeat the data exactly.", k, nrow(data$x))
  }
}

# A run of the kernel, without a prior for the likelihood: list(param = list(membership, aspects), outcome).
ab_run <- function(view, start, pinned, prior, control, fixed_aspects = FALSE, smooth = NULL) {
  control$algorithm <- ab_algorithm(
    control, ncol(start$membership), view, !is.null(prior) && !fixed_aspects, !is.null(smooth)
  )
  param <- ab_kernel_param(start, pinned, fixed_aspects, smooth)
  out <- .Call(mc_c_ab_fit, view, param, mode_counts(prior, pinned), unclass(control))
  out$outcome$algorithm <- control$algorithm
  list(param = out[c("membership", "aspects")], outcome = out$outcome)
}

# What memberships, aspects and single rows could still gain, as fit_certificate() has it.
ab_certify <- function(view, param, pinned, prior, fixed_aspects = FALSE, smooth = NULL) {
  .Call(mc_c_ab_certify, view, ab_kernel_param(param, pinned, fixed_aspects, smooth), mode_counts(prior, pinned))
}

newton_columns <- 40L # with a prior, fewer columns are not worth a Newton step of each row
newton_components <- c(ml = 16L, map = 12L, sparse = 16L, most = 1000L) # AB_NEWTON_MOST of newton.h is the last
sparse_cells <- c(most = 0.03, component = 0.005) # share of cells that are ones or missing: at most; for each component
sparse_size <- c(cells = 1e5, components = 4L)

# Which passes a fit has: "em", "newton" or "sparse", from what bench/passes.md has found. Newton passes save more up
# to k = 16; with 32 and 64 components single starts ended lower in 3 of 4, and with a prior more starts ended lower
# with 16. With neighbours they are no faster, and end lower: a membership that reaches 0 early feels no pull any more.
# With effort memberships by EM set the pace. The sparse form costs most at cells that are stored, the dense one at
# products of components, on tables of some size.
ab_algorithm <- function(control, k, view, prior, smooth = FALSE, effort = FALSE) {
  asked <- if (is.null(control$algorithm)) "auto" else control$algorithm
  if (asked == "em" || k > newton_components[["most"]]) {
    return("em")
  }
  if (asked != "auto") {
    return(if (smooth || effort) "newton" else asked)
  }
  if (isTRUE(control$accelerate) && !smooth && !effort) quickest_passes(k, view, prior) else "em"
}

algorithm_of <- function(problem, control) {
  ab_algorithm(
    control, length(problem$pinned), problem$data$view, !is.null(problem$prior), !is.null(problem$near),
    !is.null(problem$effort)
  )
}

quickest_passes <- function(k, view, prior) {
  if (k <= newton_components[["sparse"]] && sparse_pays(view, k)) {
    return("sparse")
  }
  if (prior && view$dim[[2L]] < newton_columns) {
    return("em")
  }
  if (k <= newton_components[[if (prior) "map" else "ml"]]) "newton" else "em"
}

sparse_pays <- function(view, k) {
  cells <- prod(as.double(view$dim))
  stored <- if (is.null(view$stored)) length(view$column) + length(view$na_column) else view$stored
  few <- min(sparse_cells[["most"]], sparse_cells[["component"]] * k)
  stored <= few * cells && cells >= sparse_size[["cells"]] && k >= sparse_size[["components"]]
}

# Newton passes come near an end soon, and the Newton decrement says when: the best of 20 starts was nearly always the
# same (bench/passes.md).
newton_screening <- list(max_pass = 50L, tol = 1e-5)

screening.aspect_bernoulli_problem <- function(problem, control) {
  first <- NextMethod()
  if (problem$estimate == "vb" || algorithm_of(problem, control) == "em") {
    return(first)
  }
  if (isTRUE(control$screen)) first$max_pass <- newton_screening$max_pass
  if (control$tol > 0) first$tol <- max(control$tol, newton_screening$tol)
  first
}

ab_kernel_param <- function(param, pinned, fixed_aspects = FALSE, smooth = NULL) {
  list(
    membership = param$membership, aspects = param$aspects, pinned = as.integer(pinned != "free"),
    fixed_aspects = fixed_aspects, smooth = smooth
  )
}

ab_check_start <- function(start, data, k, pinned) {
  wish <- "list(membership = n x k matrix, aspects = k x m matrix)"
  start <- check_start(start, c("membership", "aspects"), wish, rownames(data$x), colnames(data$x))
  membership <- check_simplex_rows(start$membership, "start$membership", nrow(data$x), k)
  aspects <- check_matrix(start$aspects, "start$aspects", k, ncol(data$x), 0, 1)
  ab_check_pinned(aspects, pinned)
  list(membership = membership, aspects = aspects)
}

ab_check_pinned <- function(aspects, pinned) {
  for (c in which(pinned != "free")) {
    want <- if (pinned[c] == "white") 0 else 1
    if (any(aspects[c, ] != want)) {
      stop_input(
        "Row %d of `start$aspects` must be all %d: it is the %s phantom, which is held there.", c, want, pinned[c]
      )
    }
  }
}

# Phantoms last, the others by decreasing weight; pinned ones, which are last already, stay where they are.
ab_order <- function(param, pinned, data) {
  free <- which(pinned == "free")
  kind <- phantom_measures(param, data_density(data), pinned, data$margins$column_observed > 0)$kind
  c(free[order(kind[free] != "content", -colMeans(param$membership)[free])], which(pinned != "free"))
}

ab_permute <- function(param, at) {
  param$membership <- param$membership[, at, drop = FALSE]
  param$aspects <- param$aspects[at, , drop = FALSE]
  param
}

ab_check_together <- function(estimate, prior, smooth, effort) {
  bayes <- estimate %in% c("vb", "gibbs")
  if (bayes && !is.null(effort)) {
    stop_input("`effort` goes with `estimate` \"ml\" and \"map\", not with \"%s\".", estimate)
  }
  if (!is.null(smooth) && (bayes || !is.null(effort))) {
    stop_input("`smooth` does not go with `effort` or `estimate` \"vb\" and \"gibbs\".")
  }
  if (identical(prior, "eb") && !bayes) {
    stop_input("`prior = \"eb\"` goes with `estimate` \"vb\" and \"gibbs\", not with \"%s\".", estimate)
  }
}

ab_loglik <- function(view, param, pinned) {
  none <- unclass(fit_control(max_pass = 0, n_start = 1))
  ab_run(view, param, pinned, NULL, none)$outcome$objective
}

validate_aspect_bernoulli <- function(fit) {
  membership <- fit$param$membership
  aspects <- fit$param$aspects
  stopifnot(
    has_dims(membership, fit, c("n", "k")), has_dims(aspects, fit, c("k", "m")),
    all(membership >= 0), all(abs(rowSums(membership) - 1) < 1e-8), all(aspects >= 0), all(aspects <= 1)
  )
  fit
}

# Initial values of the aspect Bernoulli model. "mixture": a few EM steps of a Bernoulli mixture; "mixture_phantom":
# the same with one component fewer plus an aspect near zero; "uniform": random numbers, the paper's way.

start_kinds.aspect_bernoulli_problem <- function(problem, control) {
  k <- length(problem$pinned)
  if (k == 1L) {
    return("uniform")
  }
  free <- any(problem$pinned != "free") || control$init == "free" || k == 2L
  cycle <- if (free) {
    c("mixture", "mixture", "uniform")
  } else {
    c("mixture", "mixture_phantom", "mixture", "mixture_phantom", "uniform")
  }
  rep_len(cycle, control$n_start)
}

# Never exact 0 or 1 but in a pinned phantom: those values could not move.
ab_draw <- function(data, kind, pinned, n_threads = 1L) {
  k <- length(pinned)
  n_pinned <- sum(pinned != "free")
  n_blank <- n_pinned + (kind == "mixture_phantom")
  content <- if (kind == "uniform") {
    list(membership = random_simplex(nrow(data$x), k - n_blank), aspects = random_unit(k - n_blank, ncol(data$x)))
  } else {
    mixture_start(data, k - n_blank, n_threads = n_threads)
  }
  if (kind == "mixture_phantom") content <- add_aspect(content, 0.001)
  for (pin in pinned[pinned != "free"]) content <- add_aspect(content, if (pin == "white") 0 else 1)
  content
}

# Half of every row goes to one more aspect, constant over attributes.
add_aspect <- function(start, probability) {
  share <- if (probability == 1) 0.1 else 0.5
  list(
    membership = cbind((1 - share) * start$membership, share),
    aspects = rbind(start$aspects, probability)
  )
}

mixture_start <- function(data, k, n_pass = 15L, n_threads = 1L) {
  plain <- list(max_pass = n_pass, tol = 0, accelerate = FALSE, n_threads = n_threads)
  param <- list(weights = rep(1 / k, k), prototypes = mixture_prototypes(data, k))
  fit <- .Call(mc_c_bm_fit, data$view, param, c(0, 0, 0), plain)
  list(
    membership = 0.6 * fit$membership + 0.4 / k,
    aspects = pmin(pmax(2 * fit$prototypes, 0.01), 0.95)
  )
}

# A solution with a fifth of its parameters replaced by random numbers, low ones for the aspects; pinned ones stay.
ab_shake <- function(param, pinned, share = 0.2) {
  free <- pinned == "free"
  noise <- random_simplex(nrow(param$membership), length(pinned))
  param$membership <- (1 - share) * param$membership + share * noise
  param$aspects[free, ] <- (1 - share) * param$aspects[free, ] +
    share * 0.1 * random_unit(sum(free), ncol(param$aspects))
  param
}

no_certificate <- c(membership_gap = NA_real_, aspects_gap = NA_real_, worst_row = NA_real_)
