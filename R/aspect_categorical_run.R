# What all estimates of the aspect model of several values share: prior, starts, the kernel's run, order of components.

# Defines the problem that starts.R works on. `fixed`: for each component "free" or the value that it alone has.
ac_problem <- function(data, fixed, estimate, prior) {
  structure(
    list(data = data, values = category_values(data$x), fixed = fixed, estimate = estimate, prior = prior),
    class = c("aspect_categorical_problem", "multicause_problem")
  )
}

# Checks list(profiles, membership); posteriors (`bayes`) accept parameters below 1. Named profiles are put in the order
# of the values.
ac_check_prior <- function(prior, values, bayes = FALSE) {
  n_value <- length(values)
  check_prior_parts(
    prior, c("profiles", "membership"), "list(profiles = one number or one for each value, membership = one number)"
  )
  wish <- sprintf("one number, or one for each of the %d values,", n_value)
  if (length(prior$profiles) > 1L) prior$profiles <- unname(by_name(prior$profiles, values, "prior$profiles"))
  list(
    profiles = check_dirichlet(prior$profiles, "prior$profiles", c(1L, n_value), wish, bayes),
    membership = check_dirichlet(prior$membership, "prior$membership", 1L, "one number", bayes)
  )
}

ac_default_prior <- function(estimate) {
  if (estimate == "gibbs") list(profiles = 0.5, membership = 0.5) else list(profiles = 1.2, membership = 1.5)
}

# The kernel's form of the prior: k + L numbers. A posterior mode adds the parameters less 1 to expected counts.
ac_kernel_prior <- function(prior, k, n_value, less = 1) {
  if (is.null(prior)) numeric(k + n_value) else c(rep(prior$membership, k), rep_len(prior$profiles, n_value)) - less
}

# The prior of a fit by posterior mode, otherwise NULL.
ac_mode_prior <- function(prior, estimate) if (estimate == "map") prior

# Profiles of fixed components: all the probability on their value.
ac_fixed_profiles <- function(fixed, m, values) {
  own <- fixed[fixed != "free"]
  out <- array(0, c(length(own), m, length(values)))
  for (c in seq_along(own)) out[c, , match(own[c], values)] <- 1
  out
}

# A run of the kernel: list(param = list(membership, profiles), outcome).
ac_run <- function(view, start, fixed, prior, control, fixed_profiles = FALSE) {
  shape <- dim(start$profiles)
  param <- ac_kernel_param(start, fixed, fixed_profiles)
  counts <- matrix(ac_kernel_prior(prior, shape[1L], shape[3L]))
  out <- .Call(mc_c_ac_fit, view, param, counts, unclass(control))
  list(param = list(membership = out$membership, profiles = array(out$profiles, shape)), outcome = out$outcome)
}

ac_kernel_param <- function(param, fixed, fixed_profiles = FALSE) {
  k <- nrow(param$profiles)
  list(
    membership = param$membership, profiles = matrix(param$profiles, k), fixed = as.integer(fixed != "free"),
    n_value = dim(param$profiles)[3L], fixed_profiles = fixed_profiles
  )
}

ac_loglik <- function(view, param, fixed) {
  none <- unclass(fit_control(max_iter = 0, n_start = 1))
  ac_run(view, lapply(param, unname), fixed, NULL, none)$outcome$objective
}

ac_check_start <- function(start, data, k, fixed) {
  wish <- "list(membership = n x k matrix, profiles = k x m x values array)"
  start <- check_start(start, c("membership", "profiles"), wish, rownames(data$x), colnames(data$x))
  values <- category_values(data$x)
  shape <- c(k, ncol(data$x), length(values))
  profiles <- start$profiles
  if (!is.numeric(profiles) || !identical(as.double(dim(profiles)), as.double(shape))) {
    stop_input("`start$profiles` must be an array of numbers, %s, not %s.", paste(shape, collapse = " x "),
      show_value(profiles))
  }
  profiles <- ac_check_simplex(ac_profiles_by_name(profiles, colnames(data$x), values))
  is_fixed <- fixed != "free"
  if (any(profiles[is_fixed, , , drop = FALSE] != ac_fixed_profiles(fixed, shape[2L], values))) {
    stop_input("The last %s of `start$profiles` must have a probability of 1 for the value of `phantom`.",
      count_words(sum(is_fixed), "component"))
  }
  list(
    membership = check_simplex_rows(start$membership, "start$membership", nrow(data$x), k), profiles = profiles
  )
}

# Puts taxa and values of an array in the order of the data, by name if both have names.
ac_profiles_by_name <- function(profiles, taxa, values) {
  known <- list(NULL, taxa, values)
  at <- lapply(2:3, function(side) {
    what <- c("Names of taxa", "Names of values")[side - 1L]
    at <- name_order(dimnames(profiles)[[side]], known[[side]], "start$profiles", what = what)
    at %||% seq_len(dim(profiles)[side])
  })
  unname(profiles[, at[[1L]], at[[2L]], drop = FALSE])
}

# Checks that an array is of probabilities that sum to 1 over its third side.
ac_check_simplex <- function(profiles) {
  total <- rowSums(profiles, dims = 2L)
  odd <- which(!is.finite(total) | abs(total - 1) > 1e-6 | rowSums(profiles < 0, dims = 2L) > 0, arr.ind = TRUE)
  if (length(odd)) {
    at <- odd[1L, ]
    stop_input("`start$profiles` must be probabilities that sum to 1 over values, unlike %s of component %d, taxon %d.",
      paste(signif(profiles[at[1L], at[2L], ], 3L), collapse = ", "), at[1L], at[2L])
  }
  profiles
}

# Orders components by decreasing weight; fixed ones, already last, keep their places.
ac_order <- function(param, fixed) {
  free <- which(fixed == "free")
  c(free[order(-colMeans(param$membership)[free])], which(fixed != "free"))
}

ac_permute <- function(param, at) {
  list(membership = param$membership[, at, drop = FALSE], profiles = param$profiles[at, , , drop = FALSE])
}

# Starting values. "mixture": shares and frequencies of a few iterations of latent classes; "uniform": random numbers.
# Fixed components get half of every site.

start_kinds.aspect_categorical_problem <- function(problem, control) {
  if (sum(problem$fixed == "free") < 2L) "uniform" else rep_len(c("mixture", "mixture", "uniform"), control$n_start)
}

draw_start.aspect_categorical_problem <- function(problem, kind) {
  data <- problem$data
  values <- problem$values
  fixed <- problem$fixed
  free <- sum(fixed == "free")
  m <- ncol(data$x)
  content <- if (kind == "mixture") {
    ac_mixture_start(data$x, free, values)
  } else {
    list(
      membership = random_simplex(nrow(data$x), free),
      profiles = array(random_simplex(free * m, length(values)), c(free, m, length(values)))
    )
  }
  n_fixed <- length(fixed) - free
  if (!n_fixed) {
    return(content)
  }
  profiles <- array(0, c(length(fixed), m, length(values)))
  profiles[seq_len(free), , ] <- content$profiles
  profiles[free + seq_len(n_fixed), , ] <- ac_fixed_profiles(fixed, m, values)
  list(membership = cbind(content$membership / 2, matrix(0.5 / n_fixed, nrow(data$x), n_fixed)), profiles = profiles)
}

# Latent classes of k components, 15 iterations from random sites, in R: the start alone needs them.
ac_mixture_start <- function(x, k, values) {
  n <- nrow(x)
  m <- ncol(x)
  indicators <- ac_indicators(x, length(values))
  known <- Reduce(`+`, indicators)
  means <- lapply(indicators, function(cells) (colSums(cells) + 1) / (colSums(known) + length(values)))
  rows <- sample.int(n, k, replace = k > n)
  profiles <- Map(function(cells, mean) {
    own <- cells[rows, , drop = FALSE]
    base <- matrix(mean, k, m, byrow = TRUE)
    0.5 * base + 0.3 * ifelse(known[rows, , drop = FALSE] > 0, own, base) + 0.2 * base * stats::runif(k * m)
  }, indicators, means)
  posterior <- NULL
  for (iteration in 1:15) {
    total <- Reduce(`+`, profiles)
    profiles <- lapply(profiles, function(p) p / total)
    score <- Reduce(`+`, Map(function(cells, p) tcrossprod(cells, log(p)), indicators, profiles))
    if (!is.null(posterior)) score <- sweep(score, 2L, log(colMeans(posterior)), "+")
    posterior <- exp(score - apply(score, 1L, max))
    posterior <- posterior / rowSums(posterior)
    profiles <- Map(function(cells, mean) crossprod(posterior, cells) + rep(mean, each = k), indicators, means)
  }
  total <- Reduce(`+`, profiles)
  list(
    membership = 0.6 * posterior + 0.4 / k,
    profiles = array(unlist(lapply(profiles, function(p) p / total)), c(k, m, length(values)))
  )
}

# For each value a matrix n x m: 1 where a cell has it, else 0.
ac_indicators <- function(x, n_value) {
  code <- matrix(as.vector(x), nrow(x), ncol(x))
  lapply(seq_len(n_value) - 1L, function(value) (code %in% value) + 0 * is.na(code))
}

run_start.aspect_categorical_problem <- function(problem, start, control) {
  ac_run(problem$data$view, start, problem$fixed, ac_mode_prior(problem$prior, problem$estimate), control)
}

shake_start.aspect_categorical_problem <- function(problem, param) {
  free <- problem$fixed == "free"
  shape <- dim(param$profiles)
  param$membership <- 0.8 * param$membership + 0.2 * random_simplex(nrow(param$membership), length(free))
  if (any(free)) {
    noise <- array(random_simplex(sum(free) * shape[2L], shape[3L]), c(sum(free), shape[-1L]))
    param$profiles[free, , ] <- 0.8 * param$profiles[free, , , drop = FALSE] + 0.2 * noise
  }
  param
}
