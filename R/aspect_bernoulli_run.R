# What all estimates of aspect Bernoulli models share: the problem, the choice of iterations, the kernel's run, checks,
# the order of components, random starting values.

# Settings of the variational fits from which chains start.
gibbs_start_control <- function(control) {
  fit_control(
    n_start = if (is.null(control$n_start)) 4 else control$n_start, max_iter = 500, tol = 1e-7, n_finish = 1,
    n_polish = 0, screen = 50, n_threads = control$n_threads, progress = FALSE
  )
}

# Defines the problem that starts.R works on. `near`: the result of smooth_lists(), or NULL.
ab_problem <- function(data, fixed, estimate, prior, effort = NULL) {
  kind <- c(if (estimate == "vb") "vb", if (!is.null(effort)) "effort")
  structure(
    list(
      data = data, values = "binary", fixed = fixed, estimate = estimate,
      prior = if (estimate != "ml") prior, effort = effort
    ),
    class = c(sprintf("aspect_bernoulli_%s_problem", kind), "aspect_bernoulli_problem", "multicause_problem")
  )
}

# Rebuilds the problem of a fit for other data.
fit_problem <- function(fit, x, fixed = unname(fit$fixed)) {
  data <- check_data(x, "binary", quiet = TRUE)
  problem <- ab_problem(data, fixed, fit$estimate, fit$prior, fit$effort$values)
  problem$near <- smooth_lists(fit$smooth)
  problem
}

ab_pins <- function(phantom) switch(phantom, free = character(), both = c("white", "black"), phantom)

# A run of the kernel, without a prior for the likelihood: list(param = list(membership, aspects), outcome).
ab_run <- function(view, start, fixed, prior, control, fixed_aspects = FALSE, smooth = NULL) {
  control$algorithm <- ab_algorithm(
    control, ncol(start$membership), view, !is.null(prior) && !fixed_aspects, !is.null(smooth)
  )
  param <- ab_kernel_param(start, fixed, fixed_aspects, smooth)
  out <- .Call(mc_c_ab_fit, view, param, mode_counts(prior, fixed), unclass(control))
  out$outcome$algorithm <- control$algorithm
  list(param = out[c("membership", "aspects")], outcome = out$outcome)
}

# Bounds what memberships, aspects and single rows could still gain, see fit_certificate().
ab_certify <- function(view, param, fixed, prior, fixed_aspects = FALSE, smooth = NULL) {
  .Call(mc_c_ab_certify, view, ab_kernel_param(param, fixed, fixed_aspects, smooth), mode_counts(prior, fixed))
}

newton_columns <- 40L # with a prior, fewer columns are not worth a Newton step of each row
newton_components <- c(ml = 16L, map = 12L, sparse = 16L, most = 1000L) # AB_NEWTON_MOST of newton.h is the last
sparse_cells <- c(most = 0.03, component = 0.005) # share of cells that are ones or missing: at most; for each component
sparse_size <- c(cells = 1e5, components = 4L)

# Chooses the iterations, "em", "newton" or "sparse", by bench/iterations.md. Newton iterations save more up to k = 16;
# with 32 and 64 components single starts ended lower in 3 of 4, and with a prior more starts ended lower with 16. With
# neighbours they are no faster and end lower: a membership that reaches 0 early is no longer smoothed. With effort,
# memberships by EM set the pace. The sparse form costs most at stored cells, the dense one at products of components,
# in tables of some size.
ab_algorithm <- function(control, k, view, prior, smooth = FALSE, effort = FALSE) {
  asked <- if (is.null(control$algorithm)) "auto" else control$algorithm
  if (asked == line_iterations && !effort) {
    return(asked)
  }
  if (asked %in% c("em", line_iterations) || k > newton_components[["most"]]) {
    return("em")
  }
  if (asked != "auto") {
    return(if (smooth || effort) "newton" else asked)
  }
  if (isTRUE(control$accelerate) && !smooth && !effort) quickest_iterations(k, view, prior) else "em"
}

algorithm_of <- function(problem, control) {
  ab_algorithm(
    control, length(problem$fixed), problem$data$view, !is.null(problem$prior), !is.null(problem$near),
    !is.null(problem$effort)
  )
}

quickest_iterations <- function(k, view, prior) {
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

# Newton iterations soon come near an optimum, which the Newton decrement shows: the best of 20 starts was nearly always
# the same (bench/iterations.md).
newton_screening <- list(max_iter = 50L, tol = 1e-5)

screening.aspect_bernoulli_problem <- function(problem, control) {
  first <- NextMethod()
  if (problem$estimate == "vb" || algorithm_of(problem, control) == "em") {
    return(first)
  }
  if (isTRUE(control$screen)) first$max_iter <- newton_screening$max_iter
  if (control$tol > 0) first$tol <- max(control$tol, newton_screening$tol)
  first
}

ab_kernel_param <- function(param, fixed, fixed_aspects = FALSE, smooth = NULL) {
  list(
    membership = param$membership, aspects = param$aspects, fixed = as.integer(fixed != "free"),
    fixed_aspects = fixed_aspects, smooth = smooth
  )
}

ab_check_start <- function(start, data, k, fixed) {
  wish <- "list(membership = n x k matrix, aspects = k x m matrix)"
  start <- check_start(start, c("membership", "aspects"), wish, rownames(data$x), colnames(data$x))
  membership <- check_simplex_rows(start$membership, "start$membership", nrow(data$x), k)
  aspects <- check_matrix(start$aspects, "start$aspects", k, ncol(data$x), 0, 1)
  ab_check_fixed(aspects, fixed)
  list(membership = membership, aspects = aspects)
}

ab_check_fixed <- function(aspects, fixed) {
  for (c in which(fixed != "free")) {
    want <- if (fixed[c] == "white") 0 else 1
    if (any(aspects[c, ] != want)) {
      stop_input(
        "Row %d of `start$aspects` must be all %d: it is the %s phantom, which is fixed.", c, want, fixed[c]
      )
    }
  }
}

# Orders components: phantoms last, the others by decreasing weight; fixed ones, already last, keep their places.
ab_order <- function(param, fixed, data) {
  free <- which(fixed == "free")
  kind <- phantom_measures(param, data_density(data), fixed, data$margins$column_observed > 0)$kind
  c(free[order(kind[free] != "content", -colMeans(param$membership)[free])], which(fixed != "free"))
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

ab_loglik <- function(view, param, fixed) {
  none <- unclass(fit_control(max_iter = 0, n_start = 1))
  ab_run(view, param, fixed, NULL, none)$outcome$objective
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

# Draws starting values, exact 0 or 1 only in a fixed phantom because such values cannot move.
ab_draw <- function(data, kind, fixed, n_threads = 1L) {
  k <- length(fixed)
  n_fixed <- sum(fixed != "free")
  n_blank <- n_fixed + (kind == "mixture_phantom")
  content <- if (kind == "uniform") {
    list(membership = random_simplex(nrow(data$x), k - n_blank), aspects = random_unit(k - n_blank, ncol(data$x)))
  } else {
    mixture_start(data, k - n_blank, n_threads = n_threads)
  }
  if (kind == "mixture_phantom") content <- add_aspect(content, 0.001)
  for (pin in fixed[fixed != "free"]) content <- add_aspect(content, if (pin == "white") 0 else 1)
  content
}

# Adds an aspect, constant over attributes, with half of every row.
add_aspect <- function(start, probability) {
  share <- if (probability == 1) 0.1 else 0.5
  list(
    membership = cbind((1 - share) * start$membership, share),
    aspects = rbind(start$aspects, probability)
  )
}

mixture_start <- function(data, k, n_iter = 15L, n_threads = 1L) {
  plain <- list(max_iter = n_iter, tol = 0, accelerate = FALSE, n_threads = n_threads)
  param <- list(weights = rep(1 / k, k), prototypes = mixture_prototypes(data, k))
  fit <- .Call(mc_c_bm_fit, data$view, param, c(0, 0, 0), plain)
  list(
    membership = 0.6 * fit$membership + 0.4 / k,
    aspects = pmin(pmax(2 * fit$prototypes, 0.01), 0.95)
  )
}

# Replaces a fifth of a solution's parameters by random numbers, low ones for the aspects; fixed ones are unchanged.
ab_shake <- function(param, fixed, share = 0.2) {
  free <- fixed == "free"
  noise <- random_simplex(nrow(param$membership), length(fixed))
  param$membership <- (1 - share) * param$membership + share * noise
  param$aspects[free, ] <- (1 - share) * param$aspects[free, ] +
    share * 0.1 * random_unit(sum(free), ncol(param$aspects))
  param
}

no_certificate <- c(membership_gap = NA_real_, aspects_gap = NA_real_, worst_row = NA_real_)
