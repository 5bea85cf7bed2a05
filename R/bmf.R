#' Binary matrix factorization: overlapping groups of rows and of columns
#'
#' Explains a table by overlapping groups (features) of its rows and of its columns: each pair of a row feature and a
#' column feature has a weight, which is added to the cells that have both. The numbers of features are learned, too,
#' and the model is sampled by Markov chain Monte Carlo.
#' @details
#' **Model.** With binary `rows` \eqn{U} (n x K), `columns` \eqn{V} (m x L) and `weights` \eqn{W} (K x L),
#' \deqn{\eta = U W V'}{eta = U W V'}
#' and \eqn{x_{ij} \sim N(\eta_{ij}, 1/\lambda)}{x[i,j] ~ N(eta[i,j], 1/lambda)} (`"gaussian"`), \eqn{P(x_{ij} = 1) = 1
#' / (1 + \exp(-\eta_{ij}))}{P(x[i,j] = 1) = 1 / (1 + exp(-eta[i,j]))} (`"bernoulli"`), or \eqn{x_{ij} \sim Poisson(r +
#' \eta_{ij})}{x[i,j] ~ Poisson(r + eta[i,j])} with weights above 0 and a background rate \eqn{r} (`"poisson"`). Weights
#' are Gaussian (Poisson: Gamma); features have Indian buffet process priors (distributions over binary matrices with
#' any number of columns), or Beta-Bernoulli priors if their number is fixed by `k` or `l`. By default their
#' concentrations have Gamma priors of shape 1 and rate 1, and the precisions of weights and noise of shape 1 and, as
#' rate, the variance of `x` (Bernoulli: 1; Poisson: see [bmf_prior()]). Missing cells drop out and are predicted.
#'
#' **What is assumed.** Cells are independent given their expectation, to which weights add up. The Gaussian family has
#' one variance of errors for all cells and one of weights, so columns must have one unit. When one of ten columns was
#' multiplied by 100, all features described that column, and the expected cells of the others hardly differed. Compare
#' the standard deviations of the columns of `fitted(fit)` with those of `x`.
#'
#' **Sampling.** A sweep draws, in this order,
#' 1. every entry of both binary matrices given the rest,
#' 2. features of a single row or column, with their weights integrated out (Gaussian, and Bernoulli by Polya-Gamma
#'    variables),
#' 3. all weights jointly,
#' 4. the hyperparameters that are learned: concentrations, precisions and the background rate, which all cells or
#'    features share ([bmf_prior()]).
#'
#' It also recodes pairs of groups, with weights to match, so that no cell's expectation changes and the prior alone
#' decides: if one group contains the other, their difference may replace either; if they have no member in common,
#' their union may. So a chain alternates between codings that fit equally well, such as a group and its complement if
#' there is a baseline, and [cooccurrence()] averages over these. But it rarely leaves the mode where it begins, the
#' best of several annealed starts. For convergence do what the print advises; for predictions alone, more chains help
#' more than longer ones ([mcmc_control()]).
#'
#' **What has a meaning.** Features can trade places from draw to draw, so averages of `rows`, `columns` or `weights`
#' over draws mean nothing. Only what does not depend on labels is averaged: the expected cells ([fitted()],
#' [predict()]), the numbers of features, [cooccurrence()]; `param` is one state, the draw of the largest log joint
#' density, for plots. [summary()] gives R-hat and effective sample sizes; where chains disagree, a warning says so. In
#' 900 tables drawn from the prior, the ranks of true cells, numbers of features and hyperparameters among the draws did
#' not depart from uniform, as expected of a correct sampler ([calibration()]).
#'
#' **Cost.** A sweep takes O(n m (K + L)) operations for the Bernoulli family (multiplications; exponentials and
#' Polya-Gamma variables are O(n m)), O(c (K + L)) for Poisson with c cells above 0, and O(n m + (n + m) K L) for
#' complete Gaussian data. Memory is O(n m) for the predictive mean and, for each kept state, O(n K + m L) bytes. The
#' number of features grows during a chain. With 150 x 256 black and white pixels the four chains of the defaults took
#' 509 s of processor time for 14 480 sweeps in all, had 25 to 47 features a side and did not agree. Eight short chains
#' predicted missing pixels better (`bench/bmf.md` in the sources).
#'
#' @param x the data: n rows and m columns, real numbers (`"gaussian"`), 0 and 1 (`"bernoulli"`) or counts
#'   (`"poisson"`), `NA` where unknown. Matrix, table, sparse matrix of package Matrix, or data frame, whose
#'   first column may hold unique row names.
#' @param k,l number of row features and of column features, besides user-fixed ones: a whole number of at least 0.
#'   `Inf`: the number is learned.
#' @param ... must be empty.
#' @param family the distribution of a cell: `"gaussian"`, `"bernoulli"` or `"poisson"`. `NULL`: `"bernoulli"` for
#'   tables of 0 and 1, `"gaussian"` for all others, counts included.
#' @param fixed user-fixed binary features, such as known groups, which are part of the model as they are:
#'   `list(rows = n x f, columns = m x g)`, or one of them. `NULL`: none, except that the Bernoulli family has a column
#'   of ones on each side, so that there is a baseline. To have no baseline, give matrices without columns.
#' @param prior from [bmf_prior()].
#' @param start a state to begin with, `list(rows = , columns = , weights = )` as in `param`, user-fixed features first;
#'   every chain begins there. Or a fit to the same data, whose chains resume from their last states, as in `update(fit,
#'   start = fit)`. `NULL`: annealed starts.
#' @param control from [mcmc_control()].
#' @return A list of class `bmf`, with
#' \describe{
#'   \item{`param`}{the draw of the largest log joint density: `rows` (n x K, 0 or 1), `columns` (m x L), `weights`
#'     (K x L); user-fixed features first, then by falling number of members; and `hyper`, the hyperparameters.}
#'   \item{`objective`, `loglik`}{its log joint density, for features in a given order (add log(k! l!) if order is
#'     ignored); and its log-likelihood.}
#'   \item{`dims`}{`n`, `m`, features `k` and `l` of `param` (without user-fixed ones), `observed` cells.}
#'   \item{`trace`}{a row for every draw of every chain: `chain`, `iteration`, `objective` (log joint),
#'     `log_likelihood`, `row_features`, `column_features`, `row_entries`, `column_entries` (ones in the free features),
#'     the learned hyperparameters, and the expected value of a few cells (`cell[row,column]`; missing ones where there
#'     are any).}
#'   \item{`mean`}{n x m, the posterior mean of the expected cells over all draws.}
#'   \item{`kept`}{states of each chain, evenly spaced.}
#'   \item{`starts`}{what every annealed start reached.}
#'   \item{`converged`}{`TRUE` where the chains have converged: R-hat (rank-normalised, of halves of chains) at most
#'     1.01 and at least 400 effective draws (Vehtari and others 2021) for the log-likelihood, the numbers of features,
#'     a few cells, and the features that a few pairs of rows and pairs of columns share. With R-hat up to 1.1 the print
#'     says "nearly converged"; above, a warning names what they differ in. `NA` for one chain, or fewer than 4 draws a
#'     chain.}
#' }
#' @seealso [bmf_methods] for what can be done with a fit, [bmf_prior()], [mcmc_control()], [cooccurrence()].
#' @inherit bmf_prior references
#' @examples
#' set.seed(1)
#' rows <- cbind(rep(1:0, each = 15), rep(c(0, 1, 1), 10))
#' columns <- cbind(rep(1:0, 5), rep(0:1, each = 5))
#' x <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns) + rnorm(300, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' fit
#' @export
bmf <- function(x, k = Inf, l = Inf, ..., family = NULL, fixed = NULL, prior = bmf_prior(), start = NULL,
                control = mcmc_control()) {
  call <- drop_nulls(match.call(), list(family = family))
  check_dots(...)
  control <- check_mcmc_control(control)
  family <- check_choice(family %||% bmf_family(x), "family", c("gaussian", "bernoulli", "poisson"))
  call <- keep_values(call, list(
    family = family, fixed = fixed, start = start, prior = prior
  ))
  k <- check_features(k, "k")
  l <- check_features(l, "l")
  data <- bmf_data(x, family)
  check_bmf_size(c(k, l), dim(data$x))
  if (!is.null(fixed) && !(is_named(fixed) && all(names(fixed) %in% c("rows", "columns")))) {
    stop_input("`fixed` must be list(rows = , columns = ), one of them, or NULL, not %s.", show_value(fixed))
  }
  fixed <- list(
    rows = bmf_check_fixed(fixed$rows, "fixed$rows", nrow(data$x), rownames(data$x), family),
    columns = bmf_check_fixed(fixed$columns, "fixed$columns", ncol(data$x), colnames(data$x), family)
  )
  problem <- bmf_problem(data, family, k, l, lapply(fixed, as_raw_matrix), prior, control)
  bmf_check_moves(problem, data)
  states <- if (!is.null(start)) bmf_first_states(start, problem, data)
  long <- tell_long_run(family, dim(data$x), control)
  streams <- draw_streams(control$chains)
  first <- if (long) function(job) tell_first_answer(job$state, problem$n_fixed, colnames(data$x))
  jobs <- run_chains(problem, streams, states, first)
  fit <- bmf_new_fit(jobs, problem, data, fixed, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# Returns the default family for the data, whose values are checked when they are read.
bmf_family <- function(x) {
  if (missing(x)) stop_missing("x")
  x <- suppressMessages(catch_error(as_plain_matrix(x, "x"), function(e) NULL))
  values <- if (inherits(x, "dgCMatrix")) x@x else x
  if (!is.null(x) && all(values %in% c(0, 1, NA))) {
    return("bernoulli")
  }
  if (is.numeric(values) && all(values >= 0 & values == floor(values), na.rm = TRUE)) {
    inform("`x` holds whole numbers, which are fitted as real ones; `family = \"poisson\"` is for counts.")
  }
  "gaussian"
}

long_run <- 2e7 # cells times sweeps over all chains, about half a minute

# Reports a long run with ways to shorten it; returns whether it is long.
tell_long_run <- function(family, shape, control) {
  sweeps <- control$warmup + as.double(control$draws) * control$thin
  if (prod(as.double(shape)) * sweeps * control$chains < long_run) {
    return(FALSE)
  }
  inform(
    paste(
      "Sampling %d x %d cells (%s family): %s of %s, after their annealed starts. An interrupt keeps",
      "the draws made so far. For a first look: `control = mcmc_control(chains = 1, warmup = 100, draws = 200,",
      "n_start = 4, n_reheat = 2)`."
    ), shape[1L], shape[2L], bmf_family_title[[family]], count_words(control$chains, "chain"),
    count_words(sweeps, "sweep")
  )
  TRUE
}

# Describes the state after a chain's first start, seconds after the call: a preview, not the result.
tell_first_answer <- function(state, n_fixed, names) {
  free <- function(features, fixed) features[, seq_len(ncol(features)) > fixed, drop = FALSE] == 1
  rows <- free(state$rows, n_fixed[[1L]])
  columns <- free(state$columns, n_fixed[[2L]])
  sizes <- function(features) {
    if (!ncol(features)) return("none")
    paste(utils::head(sort(colSums(features), decreasing = TRUE), 4L), collapse = ", ")
  }
  at <- if (ncol(columns)) which(columns[, which.max(colSums(columns))])
  inform(
    paste(
      "A first answer, of one start of one chain: %s of rows (the largest have %s), %s of columns",
      "(%s)%s. The chains continue from the best of many such starts."
    ), count_words(ncol(rows), "group"), sizes(rows), count_words(ncol(columns), "group"), sizes(columns),
    if (length(at)) sprintf(", the largest of %s", show_names(as.character(label_of(at, names)))) else ""
  )
}

# Returns a matrix of numbers from a vector, matrix or data frame.
as_features <- function(features, name) {
  if (is.data.frame(features) || (is_plain(features) && is.null(dim(features)))) features <- as.matrix(features)
  if (!is_plain(features) || length(dim(features)) != 2L) {
    stop_input("`%s` must be a vector or matrix of 0 and 1, not %s.", name, show_value(features))
  }
  features
}

bmf_check_fixed <- function(features, name, n, known, family) {
  if (is.null(features)) {
    ones <- matrix(1, n, if (family == "bernoulli") 1L else 0L)
    if (ncol(ones)) colnames(ones) <- "baseline"
    return(ones)
  }
  features <- as_features(by_name(features, known, name), name)
  values <- check_binary(features + 0, name, n)
  matrix(as.integer(values), n, ncol(features), dimnames = list(NULL, colnames(features)))
}

# Refuses moves that these data or this family do not allow.
bmf_check_moves <- function(problem, data) {
  moves <- problem$control$moves
  if ("split_merge" %in% moves && problem$family == "poisson") {
    stop_input("Move \"split_merge\" is for the Gaussian and the Bernoulli family: leave it out of `moves`.")
  }
  if ("collapsed" %in% moves) {
    complete <- is.null(data$view$na_start)
    if (problem$family != "gaussian" || !complete || !identical(problem$prior$weight_mean, 0)) {
      stop_input("Move \"collapsed\" needs the Gaussian family, no missing cell and `weight_mean = 0`.")
    }
  }
}

# The state that each chain begins with: one for all, or of a fit the last one that each of its chains kept.
bmf_first_states <- function(start, problem, data) {
  if (!inherits(start, "bmf")) {
    return(rep(list(bmf_check_start(start, problem, data)), problem$control$chains))
  }
  if (!identical(start$family, problem$family) || !identical(unname(start$dims[c("n", "m")]), dim(data$x) + 0)) {
    stop_input("`start` must be a fit to data of the same family and size: it is %s.", paste(
      bmf_family_title[[start$family]], paste(start$dims[c("n", "m")], collapse = " x ")
    ))
  }
  last <- lapply(start$kept, function(states) states[[length(states)]])
  states <- lapply(last, function(state) {
    sides <- Map(function(features, names) {
      features <- as_number_matrix(features)
      rownames(features) <- names
      features
    }, state[c("rows", "columns")], start$names)
    own <- c(
      sides, state["weights"],
      stats::setNames(as.list(unname(state$hyper)), bmf_hyper_names)
    )
    bmf_check_start(own[!vapply(own, function(part) length(part) == 1L && is.na(part), NA)], problem, data)
  })
  rep_len(states, problem$control$chains)
}

bmf_check_start <- function(start, problem, data) {
  if (is.list(start) && is.null(start$fixed)) start <- start[setdiff(names(start), "hyper")]
  state <- bmf_check_state(start, data, problem$prior, problem$family)
  for (s in 1:2) {
    name <- c("rows", "columns")[s]
    n_fixed <- problem$n_fixed[[s]]
    if (ncol(state[[name]]) < n_fixed ||
      !identical(unname(state[[name]][, seq_len(n_fixed), drop = FALSE]), unname(problem$fixed[[s]]))) {
      stop_input("`start$%s` must begin with the user-fixed features: %s.", name, count_words(n_fixed, "column"))
    }
    if (is.finite(problem$size[s]) && ncol(state[[name]]) != n_fixed + problem$size[s]) {
      stop_input("`start$%s` must have %s, not %d.", name, count_words(n_fixed + problem$size[s], "column"),
        ncol(state[[name]]))
    }
  }
  state[c("rows", "columns", "weights", "hyper")]
}

# Builds the fit of bmf() from its chains.

# One chain of bmf(): starts, warm-up, draws, in steps that can be saved and resumed.

bmf_power_low <- 0.05 # of the likelihood, where annealing begins
bmf_settle <- 30L # sweeps with the number of features free, before starts are compared
bmf_steady <- 50L # sweeps of warm-up with the concentrations held
bmf_segment <- 25L # sweeps of warm-up between two looks
bmf_reheat_power <- c(0.05, 0.1, 0.2, 0.4)
bmf_reheat_more <- 2L # features that a reheat adds
bmf_group_power <- c(0.2, 1, 0.5) # of the likelihood, where annealing from groups begins

# Collects what all chains share: data, model, prior, settings.
bmf_problem <- function(data, family, k, l, fixed, prior, control) {
  prior <- bmf_scale_prior(prior, family, data)
  n_fixed <- vapply(fixed, ncol, 0L)
  n_cell <- as.double(nrow(data$x)) * ncol(data$x)
  fewer <- function(most) max(2L, min(most, as.integer(most * sqrt(1e5 / n_cell))))
  if (is.null(control$n_start)) control$n_start <- fewer(8L)
  if (is.null(control$n_reheat)) control$n_reheat <- fewer(12L)
  problem <- list(
    x = data$x, view = data$view, transposed = data$transposed, dim = dim(data$x), family = family, size = c(k, l),
    fixed = fixed, n_fixed = n_fixed, prior = prior, model = bmf_kernel_model(family, prior, k, l, n_fixed),
    control = control, probe = probe_cells(data$x)
  )
  structure(problem, class = "bmf_problem")
}

# Runs the kernel from a state.
#   heat     for starts and warm-up: list(power, size, hold): powers of the likelihood, one per sweep; numbers of
#   features
#            other than the model's; whether concentrations are fixed
#   record   what to keep of the sweeps: list(thin, best_joint): every how many sweeps to draw; with `best_joint` also
#   the
#            mean of draws, and the best state if it exceeds that
bmf_sweeps <- function(problem, state, n_sweep, heat = list(), record = list(), on_tick = NULL) {
  model <- problem$model
  model$infinite <- is.infinite(if (is.null(heat$size)) problem$size else heat$size)
  if (isTRUE(heat$hold)) model$learned[1:2] <- FALSE
  control <- problem$control
  wanted <- !is.null(record$best_joint)
  plan <- list(
    n_sweep = as.integer(n_sweep), thin = as.integer(if (is.null(record$thin)) n_sweep else record$thin),
    power = heat$power, block = "block" %in% control$moves, multi = "multi" %in% control$moves,
    split_merge = if ("split_merge" %in% control$moves) control$tries else 0L,
    collapsed = "collapsed" %in% control$moves && is.null(heat$power), probe = problem$probe, want_mean = wanted,
    want_best = wanted, best_joint = if (wanted) record$best_joint else -Inf, n_threads = control$n_threads,
    on_tick = on_tick
  )
  .Call(mc_c_bmf_run, problem$view, problem$transposed, model, state, plan)
}

# Returns features of one side: the fixed ones and k random ones.
bmf_random_features <- function(fixed, k, probability = 0.5) {
  cbind(fixed, as_raw_matrix(matrix(stats::runif(nrow(fixed) * k) < probability, nrow(fixed), k)))
}

bmf_random_weights <- function(problem, n_row, n_column, hyper) {
  draws <- if (problem$family == "poisson") {
    stats::rgamma(n_row * n_column, hyper[6L], hyper[4L])
  } else {
    stats::rnorm(n_row * n_column, hyper[3L], 1 / sqrt(hyper[4L]))
  }
  matrix(draws, n_row, n_column)
}

# Draws a state with k and l free features; learned concentrations are 1.
bmf_random_state <- function(problem, k, l, probability = 0.5) {
  hyper <- unname(bmf_first_hyper(problem$prior))
  hyper[1:2][problem$model$learned[1:2]] <- 1
  rows <- bmf_random_features(problem$fixed$rows, k, probability)
  columns <- bmf_random_features(problem$fixed$columns, l, probability)
  list(rows = rows, columns = columns, weights = bmf_random_weights(problem, ncol(rows), ncol(columns), hyper),
    hyper = hyper)
}

# Anneals from a state with a finite number of features, then frees that number.
bmf_anneal <- function(problem, state, low, n_sweep, on_tick) {
  size <- c(ncol(state$rows), ncol(state$columns)) - problem$n_fixed
  ramp <- exp(seq(log(low), 0, length.out = n_sweep))
  out <- bmf_sweeps(problem, state, n_sweep, list(power = ramp, size = size, hold = TRUE), on_tick = on_tick)
  if (out$stopped) {
    return(out)
  }
  bmf_sweeps(problem, out$state, bmf_settle, list(hold = TRUE), list(thin = bmf_settle %/% 3L), on_tick)
}

# Every other start anneals random features from high temperature; the others start from groups at lower temperature.
bmf_first_start <- function(problem, at, on_tick) {
  features <- problem$control$start_features
  size <- ifelse(is.finite(problem$size), problem$size, features[sample.int(length(features), 2L, TRUE)])
  random <- at %% 2L == 0L || any(size == 0)
  state <- bmf_random_state(problem, size[1L], size[2L])
  if (!random) state <- bmf_group_state(problem, state, size)
  low <- if (random) bmf_power_low else bmf_group_power[1L + (at %/% 2L) %% length(bmf_group_power)]
  bmf_anneal(problem, state, low, problem$control$start_sweeps, on_tick)
}

# Replaces the features of a random state by groups of similar rows and of similar columns, and the weights by their
# expected cells on the scale of the linear predictor.
bmf_group_state <- function(problem, state, size) {
  cells <- bmf_filled_cells(problem)
  state$rows <- bmf_group_features(problem$fixed$rows, cells, size[1L])
  state$columns <- bmf_group_features(problem$fixed$columns, t(cells), size[2L])
  left <- as_number_matrix(state$rows)
  right <- as_number_matrix(state$columns)
  if (problem$family == "bernoulli") cells <- 4 * cells - 2 # the logit at 1/2, in its linear part
  inverse <- function(features) solve(crossprod(features) + diag(0.5, ncol(features)))
  state$weights <- inverse(left) %*% (t(left) %*% cells %*% right) %*% inverse(right)
  if (problem$family == "poisson") state$weights <- pmax(state$weights, 0.01 * max(mean(cells), 1e-3))
  state
}

# Fills missing cells with additive expectations from rows and columns.
bmf_filled_cells <- function(problem) {
  x <- as.matrix(problem$x)
  missing <- is.na(x)
  if (!any(missing)) {
    return(x)
  }
  means <- function(by) ifelse(is.finite(by), by, 0)
  additive <- outer(means(rowMeans(x, na.rm = TRUE)), means(colMeans(x, na.rm = TRUE)), `+`) -
    means(mean(x, na.rm = TRUE))
  x[missing] <- additive[missing]
  x
}

# Returns the fixed features and k clusters of items: each with the nearest of k items, then with the nearest mean.
bmf_group_features <- function(fixed, items, k) {
  centres <- items[sample.int(nrow(items), min(k, nrow(items))), , drop = FALSE]
  for (iteration in 1:4) {
    nearness <- 2 * tcrossprod(items, centres) - rep(rowSums(centres^2), each = nrow(items))
    group <- max.col(nearness, "first")
    centres <- rowsum(items, group) / tabulate(group)[sort(unique(group))]
  }
  on <- outer(group, seq_len(k), `==`)
  cbind(fixed, as_raw_matrix(on + 0))
}

# Reheats the best start with a few additional features.
bmf_reheat <- function(problem, state, at, on_tick) {
  more <- ifelse(is.finite(problem$size), 0L, bmf_reheat_more)
  k <- ncol(state$rows)
  l <- ncol(state$columns)
  state$rows <- bmf_random_features(state$rows, more[1L], 0)
  state$columns <- bmf_random_features(state$columns, more[2L], 0)
  weights <- bmf_random_weights(problem, k + more[1L], l + more[2L], state$hyper)
  weights[seq_len(k), seq_len(l)] <- state$weights
  state$weights <- weights
  low <- bmf_reheat_power[1L + at %% length(bmf_reheat_power)]
  bmf_anneal(problem, state, low, ceiling(0.6 * problem$control$start_sweeps), on_tick)
}

new_job.bmf_problem <- function(problem, stream, state = NULL) {
  list(
    stream = stream, phase = if (is.null(state)) "start" else "warmup", at = 0L, state = state, start_joint = -Inf,
    starts = NULL, n_warm = 0L, n_draw = 0L, note = NULL, mean = NULL, kept = list(), best = NULL, best_joint = -Inf,
    stopped = FALSE, sweeps = 0
  )
}

step_job.bmf_problem <- function(problem, job, on_tick = NULL) {
  switch(job$phase,
    start = bmf_step_start(job, problem, on_tick),
    warmup = warm_up(job, problem$control, bmf_segment, function(job, n) {
      hold <- list(hold = job$n_warm < bmf_steady)
      bmf_sweeps(problem, job$state, n, hold, list(thin = warmup_noted), on_tick)
    }),
    draws = bmf_step_draws(job, problem, on_tick)
  )
}

bmf_step_start <- function(job, problem, on_tick) {
  control <- problem$control
  if (control$init == "prior") {
    size <- ifelse(is.finite(problem$size), problem$size, 1L + stats::rpois(2L, log(problem$dim + 1)))
    job$state <- bmf_random_state(problem, size[1L], size[2L])
    job$phase <- "warmup"
    return(job)
  }
  job$at <- job$at + 1L
  first <- job$at <= control$n_start
  out <- if (first) bmf_first_start(problem, job$at, on_tick) else bmf_reheat(problem, job$state, job$at, on_tick)
  job$stopped <- out$stopped
  if (out$stopped) {
    return(job)
  }
  joint <- mean(out$note[1L, ])
  job$starts <- rbind(job$starts, data.frame(
    start = job$at, init = if (first) "anneal" else "reheat", objective = joint,
    row_features = ncol(out$state$rows) - problem$n_fixed[[1L]],
    column_features = ncol(out$state$columns) - problem$n_fixed[[2L]]
  ))
  if (is.null(job$state) || joint > job$start_joint) {
    job$state <- out$state
    job$start_joint <- joint
  }
  job$sweeps <- job$sweeps + if (first) control$start_sweeps else ceiling(0.6 * control$start_sweeps)
  if (job$at == control$n_start + control$n_reheat) job$phase <- "warmup"
  job
}

# Makes as many draws as lie between two kept states.
bmf_step_draws <- function(job, problem, on_tick) {
  control <- problem$control
  n <- min(ceiling(control$draws / control$keep), control$draws - job$n_draw)
  record <- list(thin = control$thin, best_joint = job$best_joint)
  out <- bmf_sweeps(problem, job$state, n * control$thin, record = record, on_tick = on_tick)
  job <- after_sweeps(job, out)
  job$note <- append_notes(job$note, job$n_draw, out$note)
  job$n_draw <- job$n_draw + out$n_draw
  job$mean <- if (is.null(job$mean)) out$mean else job$mean + out$mean
  job$best_joint <- out$best_joint
  if (!is.null(out$best)) job$best <- out$best
  if (out$n_draw) job$kept <- c(job$kept, list(out$state))
  if (job$n_draw == control$draws) job$phase <- "done"
  job
}

total_sweeps.bmf_problem <- function(problem, started) {
  control <- problem$control
  start <- if (started || control$init == "prior") {
    0
  } else {
    control$n_start * control$start_sweeps + control$n_reheat * ceiling(0.6 * control$start_sweeps)
  }
  start + NextMethod()
}

bmf_note_names <- c(
  "objective", "log_likelihood", "row_features", "column_features", "row_entries", "column_entries"
)

bmf_new_fit <- function(jobs, problem, data, fixed, call) {
  jobs <- drawn_jobs(jobs)
  best <- jobs[[which.max(vapply(jobs, function(job) job$best_joint, 0))]]
  names <- dimnames_of(data$x)
  trace <- bmf_trace(jobs, problem, names)
  param <- bmf_param(best$best, fixed, names)
  mean <- Reduce(`+`, lapply(jobs, function(job) job$mean)) / nrow(trace$draws)
  dimnames(mean) <- if (!is.null(unlist(names))) names
  fit <- new_multicause(
    param = param, objective = c(log_joint = best$best_joint),
    loglik = trace$draws$log_likelihood[which.max(trace$draws$objective)], df = NA_real_,
    dims = c(
      n = nrow(data$x), m = ncol(data$x), k = ncol(param$rows) - problem$n_fixed[[1L]],
      l = ncol(param$columns) - problem$n_fixed[[2L]], observed = sum(data$margins$row_observed)
    ),
    trace = trace$draws, warmup = trace$warmup,
    starts = bmf_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    family = problem$family, size = problem$size, prior = problem$prior, fixed = fixed, mean = mean,
    kept = lapply(jobs, function(job) job$kept), names = names, class = "bmf"
  )
  fit$converged <- chains_agree(fit)
  validate_bmf(fit)
}

validate_bmf <- function(fit) {
  d <- fit$dims
  stopifnot(
    nrow(fit$param$rows) == d[["n"]], nrow(fit$param$columns) == d[["m"]],
    identical(dim(fit$param$weights), c(ncol(fit$param$rows), ncol(fit$param$columns))),
    all(fit$param$rows %in% 0:1), all(fit$param$columns %in% 0:1), has_dims(fit$mean, fit, c("n", "m"))
  )
  fit
}

bmf_trace <- function(jobs, problem, names) {
  hyper <- bmf_hyper_names[problem$model$learned]
  at <- c(seq_along(bmf_note_names), length(bmf_note_names) + which(problem$model$learned))
  probes <- ncol(problem$probe)
  at <- c(at, length(bmf_note_names) + length(bmf_hyper_names) + seq_len(probes))
  columns <- c(bmf_note_names, hyper, probe_names(problem$probe, names))
  note_frames(jobs, at, columns)
}

bmf_starts <- function(jobs) {
  frames <- Map(function(job, chain) {
    if (is.null(job$starts)) {
      return(NULL)
    }
    best <- max(job$starts$objective)
    cbind(chain = chain, job$starts, reached_best = job$starts$objective >= best - 1)
  }, jobs, seq_along(jobs))
  out <- do.call(rbind, frames)
  if (is.null(out)) data.frame(chain = seq_along(jobs), start = 1L, init = "given") else out
}

# Returns a state for users: named, with free features by decreasing number of members.
bmf_param <- function(state, fixed, names) {
  rows <- bmf_sorted(state$rows, fixed$rows, "R", names[[1L]])
  columns <- bmf_sorted(state$columns, fixed$columns, "C", names[[2L]])
  weights <- state$weights[rows$order, columns$order, drop = FALSE]
  dimnames(weights) <- list(colnames(rows$features), colnames(columns$features))
  list(
    rows = rows$features, columns = columns$features, weights = weights,
    hyper = stats::setNames(state$hyper, bmf_hyper_names)
  )
}

bmf_sorted <- function(on, fixed, letter, names) {
  features <- as_number_matrix(on)
  n_fixed <- ncol(fixed)
  free <- setdiff(seq_len(ncol(features)), seq_len(n_fixed))
  order <- c(seq_len(n_fixed), free[order(-colSums(features[, free, drop = FALSE]))])
  features <- features[, order, drop = FALSE]
  given <- if (is.null(colnames(fixed))) sprintf("fixed%d", seq_len(n_fixed)) else colnames(fixed)
  dimnames(features) <- list(names, c(given, sprintf("%s%d", letter, seq_along(free))))
  list(features = features, order = order)
}

# States of bmf(): the user's form and the kernel's.

# Returns the data in both orientations, as the kernel reads them.
bmf_data <- function(x, family, quiet = FALSE) {
  data <- check_data(x, bmf_data_kind(family), quiet = quiet)
  # Larger values would overflow in squares and their products.
  values <- if (inherits(data$x, "dgCMatrix")) data$x@x else data$x
  largest <- max(abs(range(values, 0, na.rm = TRUE)))
  if (largest > 1e100) {
    stop_input("`x` must lie within -1e100 and 1e100, or be rescaled: it has %s.", format(largest))
  }
  transposed <- if (inherits(data$x, "dgCMatrix")) Matrix::t(data$x) else t(data$x)
  data$transposed <- data_view(transposed)
  data
}

bmf_data_kind <- function(family) switch(family, gaussian = "real", bernoulli = "binary", poisson = "count")

# Checks a number of features: a whole one, or Inf.
check_features <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1L || !isTRUE(x >= 0 && x == floor(x))) {
    stop_input("`%s` must be a whole number of at least 0, or Inf, not %s.", name, show_value(x))
  }
  as.double(x)
}

check_binary <- function(x, name, n_row, n_column = ncol(x)) {
  as_raw_matrix(check_zero_one(check_matrix(x, name, n_row, n_column, 0, 1), name))
}

# Converts a user's state to the kernel's: a list of `rows` (n x K, 0 or 1), `columns` (m x L), `weights` (K x L), the
# current values of learned hyperparameters (by default from `prior`), and `fixed`, how many leading columns of `rows`
# and of `columns` are user-fixed. Features become raw matrices, values `hyper`, as bmf_hyper_names.
bmf_check_state <- function(state, data, prior, family) {
  need <- c("rows", "columns", "weights")
  part <- function(what) paste0("start$", what)
  if (!is.list(state) || !all(need %in% names(state))) {
    stop_input("`start` must be a list with %s, not %s.", show_names(need), show_value(state))
  }
  known <- c(need, bmf_hyper_names, "fixed")
  unknown <- setdiff(names(state), known)
  if (length(unknown)) stop_input("`start` has unknown parts: %s.", show_names(unknown))
  rows <- by_name(state$rows, rownames(data$x), part("rows"))
  rows <- check_binary(rows, part("rows"), nrow(data$x), ncol_of(rows))
  columns <- by_name(state$columns, colnames(data$x), part("columns"))
  columns <- check_binary(columns, part("columns"), ncol(data$x), ncol_of(columns))
  least <- if (family == "poisson") 0 else -.Machine$double.xmax
  weights <- check_matrix(state$weights, part("weights"), ncol(rows), ncol(columns), least, .Machine$double.xmax)
  hyper <- bmf_first_hyper(prior)
  for (given in intersect(bmf_hyper_names, names(state))) {
    check <- if (given == "weight_mean") check_finite else check_positive
    hyper[[given]] <- check(state[[given]], part(given))
  }
  fixed <- check_n_fixed(state$fixed, part("fixed"), c(ncol(rows), ncol(columns)))
  list(rows = rows, columns = columns, weights = weights, hyper = unname(hyper), fixed = fixed)
}

# Features of bmf(), two sides of them: on the rows and on the columns, with weights and products of both.
check_bmf_size <- function(size, extent) {
  free <- ifelse(is.finite(size), size, 0)
  cells <- prod(as.double(extent))
  for (side in 1:2) {
    if (free[side] > max(enough_components, cells)) {
      stop_input("`%s` must be at most %.0f for a table of %d x %d, or Inf, not %.0f.", c("k", "l")[side],
        max(enough_components, cells), extent[1L], extent[2L], free[side])
    }
  }
  bytes <- sum(free * extent) + 8 * (2 * prod(free) + 4 * sum(free^2))
  check_memory(bytes, sprintf("`k` = %.0f and `l` = %.0f, for a table of %d x %d,", size[1L], size[2L], extent[1L],
    extent[2L]))
  for (side in 1:2) tell_many_components(free[side], extent, c("k", "l")[side])
}

# Checks the number of leading user-fixed columns on each side.
check_n_fixed <- function(fixed, name, most) {
  if (is.null(fixed)) {
    return(c(0L, 0L))
  }
  if (!is.numeric(fixed) || length(fixed) != 2L || anyNA(fixed) || any(fixed < 0 | fixed > most)) {
    stop_input("`%s` must be two whole numbers, up to the features of rows and of columns.", name)
  }
  as.integer(fixed)
}

ncol_of <- function(x) if (length(dim(x)) == 2L) ncol(x) else 0L

bmf_family_title <- c(gaussian = "Gaussian", bernoulli = "Bernoulli", poisson = "Poisson")
