#' Binary matrix factorization: overlapping groups of rows and of columns
#'
#' Explains a table by groups of its rows and groups of its columns. Groups may overlap: every row has some of the row
#' features, and every column some of the column features. Each pair of features has a weight, which is added to the
#' cells that have both. The number of features is learned, too. The model is sampled by Markov chain Monte Carlo.
#'
#' @details
#' **Model.** With binary `rows` \eqn{U} (n x K), `columns` \eqn{V} (m x L) and `weights` \eqn{W} (K x L),
#' \deqn{\eta = U W V'}{eta = U W V'}
#' and \eqn{x_{ij} \sim N(\eta_{ij}, 1/\lambda)}{x[i,j] ~ N(eta[i,j], 1/lambda)} (`"gaussian"`), \eqn{P(x_{ij} = 1) = 1
#' / (1 + \exp(-\eta_{ij}))}{P(x[i,j] = 1) = 1 / (1 + exp(-eta[i,j]))} (`"bernoulli"`), or \eqn{x_{ij} \sim Poisson(r +
#' \eta_{ij})}{x[i,j] ~ Poisson(r + eta[i,j])} with weights above 0 and a background rate \eqn{r} (`"poisson"`). Weights
#' are Gaussian (Poisson: Gamma); features have the priors of [bmf_prior()]: so many features (`k`, `l` a number) or as
#' many as the data need (`Inf`). Missing cells drop out and are predicted.
#'
#' **Sampling.** A sweep draws every entry of both binary matrices given the rest, features that a single row or column
#' has (their weights integrated out: Gaussian, and Bernoulli with Polya-Gamma variables), all weights jointly, and what
#' is learned. It also recodes: a group becomes its complement within another that has all its members, or its sum with
#' one that has none of them, or the difference, and the weights follow, so that no cell's expectation changes and the
#' prior alone decides. Groups that fit alike so take turns, in [cooccurrence()], too: with a baseline, a group and its
#' complement do. Chains begin at the best of several annealed starts. The result depends much on them: see
#' [mcmc_control()].
#'
#' **What has a meaning.** Features can trade places from draw to draw, so averages of `rows`, `columns` or `weights`
#' over draws mean nothing. Only what does not depend on labels is averaged: the expected cells ([fitted()],
#' [predict()]), the numbers of features, [cooccurrence()]; `param` is one state, the draw of the largest log joint
#' density, for plots. [summary()] gives R-hat and effective sample sizes; where chains disagree, a warning says so.
#'
#' **Cost.** A sweep takes O(n m (K + L)) operations for the Bernoulli family (multiplications; exponentials and
#' Polya-Gamma variables are O(n m)), O(counts above 0 times K + L) for Poisson, and O(n m + (n + m) K L) for complete
#' Gaussian data. Memory is O(n m) for the predictive mean and, for each kept state, O(n K + m L) bytes. Features come
#' in as a chain goes on: four chains by defaults of 150 x 256 black and white pixels, 14 480 sweeps, took 509 s of the
#' processor, ended with 25 to 47 features a side and did not agree. Eight short chains predicted missing pixels better
#' (`bench/bmf.md` in the sources).
#'
#' @param x the data: n rows and m columns, real numbers (`"gaussian"`), 0 and 1 (`"bernoulli"`) or counts
#'   (`"poisson"`), `NA` where unknown. Matrix, table, sparse matrix of package Matrix, or data frame, whose
#'   first column may hold unique row names.
#' @param k,l number of row features and of column features, besides user-fixed ones: a whole number of at least 0, or
#'   `Inf`.
#' @param ... must be empty.
#' @param family the distribution of a cell: `"gaussian"`, `"bernoulli"` or `"poisson"`. `NULL`: `"bernoulli"` for
#'   tables of 0 and 1, `"gaussian"` for all others.
#' @param fixed user-fixed binary features, such as known groups, which are part of the model as they are:
#'   `list(rows = n x f, columns = m x g)`, or one of them. `NULL`: none, except that the Bernoulli family has a column
#'   of ones on each side, so that there is a baseline; a matrix without columns is really none.
#' @param prior from [bmf_prior()].
#' @param start a state to begin with, `list(rows = , columns = , weights = )` as in `param`, user-fixed features first;
#'   every chain begins there. `NULL`: annealed starts.
#' @param control from [mcmc_control()].
#' @return A list of class `bmf`, with
#' \describe{
#'   \item{`param`}{the draw of the largest log joint density: `rows` (n x K, 0 or 1), `columns` (m x L), `weights`
#'     (K x L); user-fixed features first, then by falling number of members; and `hyper`, the learned quantities.}
#'   \item{`objective`, `loglik`}{its log joint density, with features in uniformly random order, and its
#'     log-likelihood.}
#'   \item{`dims`}{`n`, `m`, features `k` and `l` of `param` (without user-fixed ones), `observed` cells.}
#'   \item{`trace`}{a row for every draw of every chain: `chain`, `pass`, `objective` (log joint), `log_likelihood`,
#'     `row_features`, `column_features`, `row_entries`, `column_entries` (ones in the free features), what is learned,
#'     and the expected value of a few cells (`cell[row,column]`; missing ones where there are any).}
#'   \item{`mean`}{n x m, the posterior mean of the expected cells over all draws.}
#'   \item{`kept`}{states of each chain, evenly spaced.}
#'   \item{`starts`}{what every annealed start reached.}
#'   \item{`converged`}{`TRUE` where the chains agree: R-hat (rank-normalised, of halves of chains) at most 1.1 for the
#'     log-likelihood, the numbers of features, a few cells, and the features that a few pairs of rows and pairs of
#'     columns share; `NA` for one chain, or fewer than 4 draws a chain.}
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
  state <- if (!is.null(start)) bmf_check_start(start, problem, data)
  long <- tell_long_run(family, dim(data$x), control)
  streams <- draw_streams(control$chains)
  first <- if (long) function(job) tell_first_answer(job$state, problem$n_fixed, colnames(data$x))
  jobs <- run_chains(problem, streams, if (!is.null(state)) rep(list(state), control$chains), first)
  fit <- bmf_new_fit(jobs, problem, data, fixed, call)
  fit$seed <- attr(streams, "seed")
  fit
}

# The family of data for which none is given; what they are otherwise is checked where they are read.
bmf_family <- function(x) {
  if (missing(x)) stop_missing("x")
  x <- suppressMessages(catch_error(as_plain_matrix(x, "x"), function(e) NULL))
  values <- if (inherits(x, "dgCMatrix")) x@x else x
  if (!is.null(x) && all(values %in% c(0, 1, NA))) "bernoulli" else "gaussian"
}

long_run <- 2e7 # cells times sweeps over all chains, about half a minute

# What takes its time, and how to have less of it; says whether it is long.
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

# What a chain has after its first start, seconds after the call: not yet the answer, but what it will be like.
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
      "(%s)%s. The chains go on from many such starts."
    ), count_words(ncol(rows), "group"), sizes(rows), count_words(ncol(columns), "group"), sizes(columns),
    if (length(at)) sprintf(", the largest of %s", show_names(as.character(label_of(at, names)))) else ""
  )
}

# A matrix of numbers from a vector, matrix or data frame.
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

# Moves that these data or this family do not allow.
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

# From chains to a fit of bmf().

bmf_note_names <- c(
  "objective", "log_likelihood", "row_features", "column_features", "row_entries", "column_entries"
)

bmf_new_fit <- function(jobs, problem, data, fixed, call) {
  jobs <- drawn_jobs(jobs)
  best <- jobs[[which.max(vapply(jobs, function(job) job$best_joint, 0))]]
  names <- dimnames_of(data$x)
  trace <- bmf_trace(jobs, problem, names)
  param <- bmf_param(best$best, fixed, names)
  mean <- Reduce(`+`, lapply(jobs, function(job) job$mean)) / nrow(trace)
  dimnames(mean) <- if (!is.null(unlist(names))) names
  fit <- new_multicause(
    param = param, objective = c(log_joint = best$best_joint),
    loglik = trace$log_likelihood[which.max(trace$objective)], df = NA_real_,
    dims = c(
      n = nrow(data$x), m = ncol(data$x), k = ncol(param$rows) - problem$n_fixed[[1L]],
      l = ncol(param$columns) - problem$n_fixed[[2L]], observed = sum(data$margins$row_observed)
    ),
    trace = trace, starts = bmf_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
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
  note_frame(jobs, at, columns)
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

# A state as users see it: named, free features by falling number of members.
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

# States of bmf(): what users give and see, and what the kernel takes.

# The data in both orientations, as the kernel reads them.
bmf_data <- function(x, family, quiet = FALSE) {
  data <- check_data(x, bmf_data_kind(family), quiet = quiet)
  # Beyond, squares and their products overflow.
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

# A number of features: a whole one, or Inf.
check_features <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1L || !isTRUE(x >= 0 && x == floor(x))) {
    stop_input("`%s` must be a whole number of at least 0, or Inf, not %s.", name, show_value(x))
  }
  as.double(x)
}

check_binary <- function(x, name, n_row, n_column = ncol(x)) {
  x <- check_matrix(x, name, n_row, n_column, 0, 1)
  if (any(x != 0 & x != 1)) {
    at <- arrayInd(which(x != 0 & x != 1)[1L], dim(x))
    stop_input("`%s` must hold only 0 and 1: row %d, column %d is %s.", name, at[1L], at[2L], format(x[at]))
  }
  as_raw_matrix(x)
}

# A user's state as the kernel's: a list of `rows` (n x K, 0 or 1), `columns` (m x L), `weights` (K x L), the current
# values of what the family learns, each taken from `prior` where it is not given, and `fixed`, how many leading columns
# of `rows` and of `columns` are user-fixed. Features become raw matrices, values `hyper`, as bmf_hyper_names.
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

# How many leading columns are user-fixed, on each side.
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
