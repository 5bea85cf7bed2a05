# Reference results of bmf() and plain R transcriptions of its kernels' full conditionals.

bmf_golden_cases <- c(
  "case1_gaussian_inf_inf", "case2_gaussian_fin_fixedcol", "case3_logistic_inf_fin", "case4_poisson_inf_inf"
)

# Converts a JSON matrix, with nulls as NA.
golden_matrix <- function(x) {
  if (is.matrix(x)) {
    return(x + 0)
  }
  do.call(rbind, lapply(x, function(row) vapply(row, function(v) if (is.null(v)) NA_real_ else as.numeric(v), 0)))
}

# list(golden, x, family, prior, state, k, l) of a reference case.
bmf_golden <- function(name) {
  g <- golden(file.path("bmf", name))
  family <- switch(g$likelihood, logistic = "bernoulli", g$likelihood)
  prior <- bmf_prior(
    alpha = list(
      rows = c(shape = g$prior_U$a_alpha, rate = g$prior_U$b_alpha),
      columns = c(shape = g$prior_V$a_alpha, rate = g$prior_V$b_alpha)
    ),
    beta = c(rows = g$prior_U$beta, columns = g$prior_V$beta), weight_mean = g$w0,
    weight_precision = c(shape = g$a_phi, rate = g$b_phi), noise_precision = c(shape = g$a_lambda, rate = g$b_lambda),
    weight_shape = g$aw, background = g$r0
  )
  state <- list(
    rows = golden_matrix(g$U), columns = golden_matrix(g$V), weights = golden_matrix(g$W), alpha_rows = g$alphaU,
    alpha_columns = g$alphaV, weight_precision = g$phi, fixed = c(g$prior_U$nfix, g$prior_V$nfix)
  )
  if (family == "gaussian") state$noise_precision <- g$lambda
  size <- function(p, features) if (p$type == "infinite") Inf else ncol(features) - p$nfix
  list(
    golden = g, x = golden_matrix(g$X), family = family, prior = prior, state = state,
    k = size(g$prior_U, state$rows), l = size(g$prior_V, state$columns)
  )
}

# Terms of the log density that bmf() samples, in nats, at one state: data, features (labelled), weights and estimated
# quantities, and their sum `total`.
bmf_log_density <- function(x, state, family = "gaussian", prior = bmf_prior(), k = Inf, l = Inf) {
  given <- bmf_given(x, state, family, prior, k, l)
  out <- do.call(test_entry, c("test_bmf_density", given))
  parts <- c("rows", "columns", "weights", "likelihood")
  out <- stats::setNames(out, c(parts, bmf_hyper_names))[c(rep(TRUE, length(parts)), given$model$learned)]
  c(out, total = sum(out))
}

# A state with its data and settings in the kernel's format.
bmf_given <- function(x, state, family, prior, k, l) {
  data <- bmf_data(x, family, quiet = TRUE)
  prior <- bmf_scale_prior(prior, family, data)
  state <- bmf_check_state(state, data, prior, family)
  list(
    view = data$view, transposed = data$transposed, model = bmf_kernel_model(family, prior, k, l, state$fixed),
    state = state[c("rows", "columns", "weights", "hyper")]
  )
}

# Full conditionals of the kernel at a state. item: the item of the births; omega: Polya-Gamma variables; added: sum of
# the weights of proposed births (Poisson).
bmf_look <- function(x, state, family, prior, k, l, item = 1, omega = NULL, added = NULL) {
  given <- bmf_given(x, state, family, prior, k, l)
  do.call(test_entry, c("test_bmf_look", given, list(as.integer(item), omega, added)))
}

# A recoding of features a and b of a side (1 rows, 2 columns) of a state: list(log_ratio, state, count), or NULL.
bmf_recoded <- function(x, state, family, prior, k, l, side, a, b, kind = c("shift", "complement")) {
  given <- bmf_given(x, state, family, prior, k, l)
  which <- as.integer(c(side, a, b, match(match.arg(kind), c("shift", "complement"))) - 1L)
  out <- do.call(test_entry, c("test_bmf_recode", given, list(which)))
  if (is.null(out)) {
    return(NULL)
  }
  state[[c("rows", "columns")[side]]] <- out$on
  state$weights <- if (side == 1) out$weights else t(out$weights)
  list(log_ratio = out$log_ratio, state = state, count = out$count)
}

# A symmetric matrix from its lower triangle.
whole <- function(q) {
  q[upper.tri(q)] <- t(q)[upper.tri(q)]
  q
}

# log p(x | rows, columns) of observed cells with the weights integrated out, from the kernel's Q and h.
bmf_log_marginal <- function(case, state) {
  look <- bmf_look(case$x, state, "gaussian", case$prior, case$k, case$l)
  hyper <- bmf_check_state(state, bmf_data(case$x, "gaussian", quiet = TRUE), case$prior, "gaussian")$hyper
  cells <- case$x[!is.na(case$x)]
  size <- length(look$weight_h)
  out <- length(cells) / 2 * log(hyper[5] / (2 * pi)) - hyper[5] / 2 * sum(cells^2)
  if (size == 0) {
    return(out)
  }
  root <- chol(whole(look$weight_q))
  pull <- backsolve(root, look$weight_h, transpose = TRUE)
  out + size / 2 * (log(hyper[4]) - hyper[4] * hyper[3]^2) - sum(log(diag(root))) + sum(pull^2) / 2
}

# Runs short chains for tests.
bmf_quick <- function(...) {
  settings <- list(chains = 2, warmup = 20, draws = 40, n_start = 3, n_reheat = 1, start_sweeps = 40, progress = FALSE)
  do.call(mcmc_control, utils::modifyList(settings, list(...)))
}

bmf_quietly <- function(expr) {
  withCallingHandlers(expr, multicause_chains_disagree = function(w) invokeRestart("muffleWarning"))
}

bmf_blocks <- function(n = 30, m = 10, sd = 0.3) {
  rows <- cbind(rep(1:0, length.out = n), rep(c(0, 1, 1), length.out = n))
  columns <- cbind(rep(1:0, each = m / 2), rep(c(0, 1, 1), length.out = m))
  mean <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns)
  list(rows = rows, columns = columns, mean = mean, x = mean + rnorm(n * m, sd = sd))
}
