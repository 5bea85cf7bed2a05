#' Methods for binary matrix factorization
#'
#' @param object a fit of [bmf()].
#' @param newdata `NULL` for the rows of the fit, or new rows as in [bmf()]: columns by name, cells may be `NA`.
#' @param type `"response"`: the expected value of each cell; `"missing"`: a data frame of the missing cells.
#' @param level `NULL`, or the probability of a central credible interval of the expected values, between 0 and 1.
#' @param fixed user-fixed features of the new rows, needed where the fit has any but a baseline of ones.
#' @param nsim of `predict()`, how many kept states (of all chains together, evenly spaced) new rows and intervals use
#'   at most; of `simulate()`, the number of data sets.
#' @param n_sweep sweeps over the features of new rows for each state; the second half is averaged.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @param ... must be empty.
#' @return
#' `fitted()`: n x m, the posterior mean of the expected cells (missing ones, too), over all draws of all chains.
#'
#' `predict()`: the same for the rows of the fit; for `newdata` the mean over states, where new rows have the features
#' of the fit (features that only a new row would have are left out). With `level`, a list of matrices `mean`, `lower`
#' and `upper`, from kept states; `type = "missing"` gives a data frame `row`, `column`, `mean` and, with `level`,
#' `lower` and `upper`. Results depend on [set.seed()] for new rows.
#'
#' `sigma()`: the posterior mean of the noise's standard deviation, of Gaussian data.
#'
#' `residuals()`: observed less fitted; Pearson and deviance residuals by family.
#'
#' `simulate()`: a list of `nsim` matrices n x m from the posterior predictive distribution, and as its attribute `seed`
#' what [stats::simulate()] promises.
#'
#' `summary()`: class `summary.bmf`, with `quantities` (mean, standard deviation, 5 % and 95 % quantiles, R-hat and
#' effective sample sizes after Vehtari and others, 2021, of what does not depend on labels) and `row_features` and
#' `column_features`, the posterior distributions of their numbers.
#'
#' `print()`, if chains agree, lists three free column features of the best draw, and the print of `summary()` twelve,
#' with three characteristic taxa each: members with fewest other features, among these those with the largest expected
#' cells. Another draw has other features.
#'
#' `logLik()` is an error: nothing was maximised.
#' @references Vehtari A, Gelman A, Simpson D, Carpenter B, Buerkner P-C (2021). Rank-normalization, folding, and
#'   localization: an improved R-hat. *Bayesian Analysis* 16, 667-718. \doi{10.1214/20-BA1221}
#' @examples
#' set.seed(1)
#' rows <- cbind(rep(1:0, each = 15), rep(c(0, 1, 1), 10))
#' columns <- cbind(rep(1:0, 5), rep(0:1, each = 5))
#' x <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns) + rnorm(300, sd = 0.3)
#' x[1, 1] <- NA
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' summary(fit)
#' predict(fit, type = "missing", level = 0.9)
#' round(predict(fit, x[2:3, ]), 1)
#' @name bmf_methods
NULL

estimator_words.bmf <- function(fit) sprintf("%s, Gibbs", bmf_family_title[[fit$family]])

shape_words.bmf <- function(fit) {
  sprintf("%s, %s", table_words(fit$dims, axis_words(fit)), count_words(fit$dims[["observed"]], "observed cell"))
}

reached_sentence.bmf <- function(fit, digits = 4L) {
  sprintf("%s; best log joint density %s", sampled_sentence(fit), format(unname(fit$objective), digits = digits))
}

# The numbers of features, and on which quantities the chains agree.
fit_table.bmf <- function(fit, digits = 4L) {
  judged <- judged_draws(fit)
  rhat <- vapply(judged, function(draws) {
    each <- vapply(draws, split_rhat, 0)
    if (all(is.na(each))) NA_real_ else max(each, na.rm = TRUE)
  }, 0)
  range <- stats::setNames(rep("", length(judged)), names(judged))
  for (side in c("row", "column")) {
    values <- stats::quantile(fit$trace[[paste0(side, "_features")]], c(0.05, 0.95), type = 1, names = FALSE)
    n_fixed <- ncol(fit$fixed[[c(row = "rows", column = "columns")[[side]]]])
    range[[sprintf("number of %s features", side)]] <- paste0(
      paste(unique(format(values, trim = TRUE)), collapse = " to "), if (n_fixed) sprintf(" + %d fixed", n_fixed)
    )
  }
  groups <- paste("groups of", axis_words(fit))
  label <- names(judged)
  label <- sub("number of row features", sprintf("row features (%s)", groups[1L]), label, fixed = TRUE)
  label <- sub("number of column features", sprintf("column features (%s)", groups[2L]), label, fixed = TRUE)
  list(
    quantity = label, `90 % of draws` = unname(range),
    `R-hat` = ifelse(is.na(rhat), "-", sprintf("%.2f", rhat)),
    `below 1.1` = ifelse(is.na(rhat), "unknown", ifelse(rhat > rhat_agree, "no", "yes"))
  )
}

# Features of one draw may mislead if chains disagree: then summary() alone has them.
found_sentences.bmf <- function(fit, digits = 4L) {
  if (isFALSE(fit$converged)) disagreement_sentence(fit) else bmf_feature_lines(fit, 3L)
}

# Lists the first column features of the best draw: how many columns each has, and the `n` with fewest other features,
# among equals those with the largest expected cells.
bmf_feature_lines <- function(fit, most, n = 3L) {
  on <- fit$param$columns == 1
  on <- on[, seq_len(ncol(on)) > ncol(fit$fixed$columns), drop = FALSE]
  names <- fit$names[[2L]]
  if (!ncol(on) || is.null(names)) {
    return(NULL)
  }
  words <- axis_words(fit)[2L]
  first <- order(rowSums(on), -colMeans(abs(fit$mean)))
  shown <- seq_len(min(most, ncol(on)))
  size <- format(count_side(colSums(on), words)[shown], justify = "right")
  label <- paste0("  ", format(colnames(on)[shown]), "  ", size, ": ")
  members <- lapply(shown, function(c) names[utils::head(first[on[first, c]], n)])
  c(
    sprintf(
      "Best draw: %s, with the most characteristic %s:", if (ncol(on) > most) {
        sprintf("%d of %d column features", most, ncol(on))
      } else {
        count_words(ncol(on), "column feature")
      }, words
    ),
    paste0(label, vapply(members, listed_names, "", getOption("width") - max(nchar(label))))
  )
}

#' @rdname bmf_methods
#' @export
summary.bmf <- function(object, ...) {
  check_dots(...)
  distribution <- function(name) {
    counts <- table(object$trace[[name]])
    data.frame(features = as.integer(names(counts)), probability = as.vector(counts) / nrow(object$trace))
  }
  structure(
    list(
      fit = object, quantities = quantity_table(object), row_features = distribution("row_features"),
      column_features = distribution("column_features")
    ),
    class = "summary.bmf"
  )
}

#' @export
print.summary.bmf <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print(x$fit, digits = digits)
  cat("\nQuantities that do not depend on the numbering of features:\n")
  print_quantities(x$quantities, digits)
  for (name in c("row_features", "column_features")) {
    part <- x[[name]]
    part <- part[part$probability >= min(0.01, max(part$probability)), ]
    cat(sprintf("\nNumber of %s: ", sub("_", " ", name)))
    cat(sprintf("%d (%s)", part$features, format(round(part$probability, 2))), sep = ", ")
  }
  cat("\n")
  lines <- bmf_feature_lines(x$fit, 12L)
  if (length(lines)) write_sentences(c("", lines))
  invisible(x)
}

#' @export
logLik.bmf <- function(object, ...) {
  stop_input(paste(
    "bmf() samples a posterior and maximises nothing, so logLik(), AIC() and BIC() have no meaning for it;",
    "`fit$trace$log_likelihood` has the log-likelihood of each draw."
  ))
}

#' @rdname bmf_methods
#' @export
fitted.bmf <- function(object, ...) {
  check_dots(...)
  object$mean
}

#' @rdname bmf_methods
#' @export
predict.bmf <- function(object, newdata = NULL, type = c("response", "missing"), level = NULL, fixed = NULL,
                        nsim = 100, n_sweep = 20, ...) {
  check_dots(...)
  type <- check_choice(type, "type", c("response", "missing"))
  if (!is.null(level)) level <- check_number(level, "level", 0, 1, open = TRUE)
  kept <- kept_states(object, check_count(nsim, "nsim"))
  if (is.null(newdata)) {
    x <- fit_data(object)
    blocks <- function(rows) lapply(kept, function(state) bmf_expected(object, state, rows))
    mean <- fitted(object)
  } else {
    n_sweep <- check_count(n_sweep, "n_sweep")
    x <- new_rows(object, newdata)
    fixed <- bmf_new_fixed(object, by_name(fixed, rownames(x), "fixed"), nrow(x))
    drawn <- bmf_predict_rows(object, x, fixed, kept, n_sweep)
    blocks <- function(rows) lapply(drawn, function(cells) cells[rows, , drop = FALSE])
    mean <- Reduce(`+`, drawn) / length(drawn)
    dimnames(mean) <- list(rownames(x), object$names[[2L]])
  }
  out <- list(mean = mean)
  if (!is.null(level)) out <- c(out, bmf_intervals(blocks, mean, level))
  if (type == "missing") {
    return(bmf_missing_cells(x, out))
  }
  in_given_order(if (is.null(level)) out$mean else out, newdata)
}

# Computes the expected cells of some rows at one state.
bmf_expected <- function(fit, state, rows) {
  eta <- as_number_matrix(state$rows[rows, , drop = FALSE]) %*% state$weights %*% t(as_number_matrix(state$columns))
  switch(fit$family, gaussian = eta, bernoulli = stats::plogis(eta), poisson = state$hyper[7L] + eta)
}

# Computes quantiles over states, in blocks of rows to save memory.
bmf_intervals <- function(blocks, mean, level) {
  lower <- upper <- mean
  probs <- c((1 - level) / 2, (1 + level) / 2)
  size <- max(1L, as.integer(2e6 / (length(blocks(1L)) * ncol(mean))))
  for (rows in split(seq_len(nrow(mean)), (seq_len(nrow(mean)) - 1L) %/% size)) {
    cells <- vapply(blocks(rows), as.vector, numeric(length(rows) * ncol(mean)))
    at <- apply(matrix(cells, length(rows) * ncol(mean)), 1L, stats::quantile, probs, names = FALSE)
    lower[rows, ] <- at[1L, ]
    upper[rows, ] <- at[2L, ]
  }
  list(lower = lower, upper = upper)
}

bmf_missing_cells <- function(x, cells) {
  at <- which(is.na(as.matrix(x)), arr.ind = TRUE)
  label <- function(side) if (is.null(dimnames(x)[[side]])) at[, side] else dimnames(x)[[side]][at[, side]]
  data.frame(
    row = label(1L), column = label(2L), lapply(cells, function(matrix) matrix[at]), row.names = NULL
  )
}

# Returns the user-fixed features of new rows; by default those of the fit if they are all ones.
bmf_new_fixed <- function(fit, features, n) {
  fixed <- fit$fixed$rows
  if (is.null(features)) {
    if (any(fixed != 1L)) stop_input("`fixed` is needed: the fit has user-fixed features of its rows.")
    return(matrix(as.raw(1L), n, ncol(fixed)))
  }
  check_binary(as_features(features, "fixed") + 0, "fixed", n, ncol(fixed))
}

# Computes the expected cells of new rows at each state: features are drawn given columns, weights and old rows.
bmf_predict_rows <- function(fit, x, fixed, states, n_sweep) {
  data <- bmf_data(x, fit$family, quiet = TRUE)
  n_fixed <- vapply(fit$fixed, ncol, 0L)
  model <- bmf_kernel_model(fit$family, fit$prior, fit$size[1L], fit$size[2L], n_fixed)
  lapply(states, function(state) {
    count <- colSums(as_number_matrix(state$rows))
    state$rows <- cbind(fixed, matrix(raw(1L), nrow(x), ncol(state$rows) - ncol(fixed)))
    plan <- list(count = as.integer(count), n_extern = fit$dims[["n"]], n_sweep = n_sweep)
    .Call(mc_c_bmf_predict, data$view, data$transposed, model, state, plan)
  })
}

#' @rdname bmf_methods
#' @export
simulate.bmf <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  nsim <- check_nsim(nsim, 2 * prod(object$dims[c("n", "m")]))
  draw <- function() {
    lapply(seq_len(nsim), function(sim) {
      states <- do.call(c, object$kept)
      state <- states[[sample.int(length(states), 1L)]]
      mean <- bmf_expected(object, state, seq_len(object$dims[["n"]]))
      x <- switch(object$family,
        gaussian = stats::rnorm(length(mean), mean, 1 / sqrt(state$hyper[5L])),
        bernoulli = stats::rbinom(length(mean), 1L, mean), poisson = stats::rpois(length(mean), mean)
      )
      matrix(x, nrow(mean), dimnames = dimnames(object$mean))
    })
  }
  drawn <- draw_seeded(draw, seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

residual_matrix.bmf <- function(fit, x, mean, type) {
  if (fit$family == "bernoulli" || type == "response") {
    return(residual_matrix.default(fit, x, mean, type))
  }
  if (fit$family == "gaussian") {
    return((x - mean) * sqrt(mean(vapply(do.call(c, fit$kept), function(state) state$hyper[5L], 0))))
  }
  if (type == "pearson") {
    return((x - mean) / sqrt(mean))
  }
  sign(x - mean) * sqrt(2 * pmax(0, ifelse(x > 0, x * log(x / mean), 0) - (x - mean)))
}

#' @rdname bmf_methods
#' @export
sigma.bmf <- function(object, ...) {
  if (object$family != "gaussian") {
    return(NextMethod())
  }
  mean(vapply(do.call(c, object$kept), function(state) 1 / sqrt(state$hyper[5L]), 0))
}

model_title.bmf <- function(fit) "Binary matrix factorization"

#' @export
update.bmf <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  call <- object$call
  extra <- named_changes(match.call(expand.dots = FALSE)$...)
  # The prior is not passed on because its defaults depend on data and family, which may have changed.
  known <- list(x = object$x, control = object$control, k = object$size[1L], l = object$size[2L])
  for (name in setdiff(names(known), names(extra))) call[[name]] <- known[[name]]
  call[names(extra)] <- extra # an argument may be NULL
  if (evaluate) eval(find_model(call, object, parent.frame()), parent.frame()) else call
}

data_kind.bmf <- function(fit) bmf_data_kind(fit$family)

part_sides.bmf <- function(fit, name, values) {
  switch(name,
    effects = c("component", "taxon"), rows = c("site", "row_feature"),
    columns = c("taxon", "column_feature"), weights = c("row_feature", "column_feature"), NextMethod()
  )
}

param_parts.bmf <- function(fit) c(list(effects = bmf_effects(fit)), NextMethod())

is_sampled.bmf <- function(fit) TRUE

#' @export
posterior_draws.bmf <- function(fit, nsim = 100, ...) { # nolint: object_name_linter.
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  states <- kept_states(fit, nsim)
  refuse_large(length(states) * prod(fit$dims[c("n", "m")]), "The draws", "take fewer with `nsim`")
  lapply(states, function(state) bmf_one_draw(fit, state))
}

# A state as a fit.
bmf_one_draw <- function(fit, state) {
  fit$param <- bmf_param(state, fit$fixed, fit$names)
  fit$mean[] <- bmf_expected(fit, state, seq_len(fit$dims[["n"]]))
  fit$dims[c("k", "l")] <- dim(fit$param$weights) - vapply(fit$fixed, ncol, 0L)
  fit$kept <- list(list(state))
  fit$objective[] <- NA
  fit$loglik <- bmf_draw_loglik(fit)
  class(fit) <- c("bmf_draw", class(fit))
  fit
}

# The log-likelihood of a draw, NA without the data.
bmf_draw_loglik <- function(fit) {
  if (is.null(fit$x)) {
    return(NA_real_)
  }
  x <- dense_rows(fit$x, seq_len(fit$dims[["n"]]))
  each <- switch(fit$family,
    bernoulli = stats::dbinom(x, 1L, fit$mean, log = TRUE), poisson = stats::dpois(x, fit$mean, log = TRUE),
    gaussian = stats::dnorm(x, fit$mean, 1 / sqrt(fit$param$hyper[["noise_precision"]]), log = TRUE)
  )
  sum(each[!is.na(x)])
}

# Parameters of the prior that are learnt are drawn, then features of both sides, then weights.
prior_draw.bmf <- function(fit) {
  law <- unclass(fit$prior)[bmf_hyper_names]
  hyper <- vapply(law, function(of) if (is_law(of)) stats::rgamma(1L, of[["shape"]], of[["rate"]]) else of, 0)
  side <- function(s) {
    name <- c("rows", "columns")[s]
    free <- draw_buffet(
      fit$dims[[c("n", "m")[s]]], fit$size[[s]], hyper[[paste0("alpha_", name)]], fit$prior$beta[[name]]
    )
    cbind(as_number_matrix(fit$fixed[[name]]), free)
  }
  rows <- side(1L)
  columns <- side(2L)
  size <- ncol(rows) * ncol(columns)
  weights <- if (fit$family == "poisson") {
    stats::rgamma(size, hyper[["weight_shape"]], hyper[["weight_precision"]])
  } else {
    stats::rnorm(size, hyper[["weight_mean"]], 1 / sqrt(hyper[["weight_precision"]]))
  }
  state <- list(
    rows = as_raw_matrix(rows), columns = as_raw_matrix(columns),
    weights = matrix(weights, ncol(rows), ncol(columns)), hyper = unname(hyper)
  )
  bmf_one_draw(fit, state)
}

# Draws features of n items: of `size` many, or, if infinite, by the Indian buffet.
draw_buffet <- function(n, size, alpha, beta) {
  if (is.finite(size)) {
    share <- stats::rbeta(size, alpha / size, beta)
    return(matrix(stats::rbinom(n * size, 1L, rep(share, each = n)), n))
  }
  out <- matrix(0, n, 0L)
  for (i in seq_len(n)) {
    out[i, ] <- stats::rbinom(ncol(out), 1L, colSums(out) / (beta + i - 1))
    new <- matrix(0, n, stats::rpois(1L, alpha / (beta + i - 1)))
    new[i, ] <- 1
    out <- cbind(out, new)
  }
  out
}

compared_quantities.bmf <- function(fit, cells) {
  hyper <- fit$param$hyper[vapply(unclass(fit$prior)[bmf_hyper_names], is_law, NA)]
  used <- switch(fit$family,
    gaussian = 1:5, bernoulli = 1:4, poisson = c(1:2, 4L, 6:7)
  )
  c(
    named_by_cell(fit$mean[cells], "cell", cells),
    `row features` = fit$dims[["k"]], `column features` = fit$dims[["l"]],
    hyper[intersect(names(hyper), bmf_hyper_names[used])]
  )
}

is_sampled.bmf_draw <- function(fit) FALSE

reached_sentence.bmf_draw <- function(fit, digits = 4L) {
  sprintf(
    "one draw from the posterior: %s, %s", count_words(fit$dims[["k"]], "row feature"),
    count_words(fit$dims[["l"]], "column feature")
  )
}

fit_table.bmf_draw <- function(fit, digits = 4L) NULL

found_sentences.bmf_draw <- function(fit, digits = 4L) NULL

interval_parts.bmf <- function(fit) if (is_sampled(fit)) list() # quantities of the trace alone: features have no labels

# Quantities by which convergence is judged: the log joint density is unsuitable because its terms for labels and
# features of single items differ when all of these agree. The log-likelihood represents the cells that no draw records.
judged_draws.bmf <- function(fit) {
  draws <- function(names) lapply(names, draws_by_chain, fit = fit)
  cells <- grep("^cell\\[", quantities(fit), value = TRUE)
  shared <- Map(bmf_pair_draws, list(fit), c("rows", "columns"))
  c(
    list(
      `expected cells` = draws(c("log_likelihood", cells)), `number of row features` = draws("row_features"),
      `number of column features` = draws("column_features")
    ),
    stats::setNames(shared, paste("co-occurrence of", axis_words(fit)))
  )
}

# Counts the free features that pairs of a few evenly spaced items share in the kept states: kept x chains per pair.
bmf_pair_draws <- function(fit, side, most = 6L) {
  n_items <- nrow(fit$param[[side]])
  items <- unique(round(seq(1, n_items, length.out = most + 2L)[-c(1L, most + 2L)]))
  free <- -seq_len(ncol(fit$fixed[[side]]))
  n_kept <- min(lengths(fit$kept))
  shared <- lapply(fit$kept, function(states) {
    vapply(states[seq_len(n_kept)], function(state) {
      on <- as_number_matrix(state[[side]][items, , drop = FALSE])
      if (length(free)) on <- on[, free, drop = FALSE]
      together <- tcrossprod(on)
      together[lower.tri(together)]
    }, numeric(length(items) * (length(items) - 1) / 2))
  })
  lapply(seq_len(choose(length(items), 2)), function(pair) {
    matrix(vapply(shared, function(chain) matrix(chain, ncol = n_kept)[pair, ], numeric(n_kept)), n_kept)
  })
}

presence_probability.bmf <- function(fit, mean = fitted(fit)) {
  if (fit$family == "poisson") 1 - exp(-mean) else presence_probability.default(fit, mean)
}

row_family.bmf <- function(fit) if (fit$family == "gaussian") "squared" else fit$family

held_out_rows.bmf <- function(fit, data, floor, family, ...) {
  if (fit$family == "gaussian") {
    stop_no_likelihood(
      "Real numbers have no likelihood of rows here: hold out cells, or fit 0/1 tables with `family = \"bernoulli\"`."
    )
  }
  NextMethod()
}

#' Plot a binary matrix factorization
#'
#' @description
#' Four figures of a fit: `plot()` draws them, `autoplot()` gives them as ggplot2 objects.
#'
#' @details
#' \describe{
#'   \item{`"data"`}{the data (left) and their posterior mean (right), rows and columns in the order of the features of
#'     `param`, so that the cells of a row feature and a column feature form a block; right of each picture, in black,
#'     the members of the row features, below it those of the column features. Missing cells are grey.}
#'   \item{`"features"`}{what each row feature adds to the columns. With `shape` the columns are pixels and the features
#'     images: above, what row features add; below, the column features.}
#'   \item{`"trace"`, `"density"`}{log joint density, log-likelihood and numbers of features of every chain, draw by
#'     draw (left of a vertical line, of the warm-up), and their posterior densities.}
#'   \item{`"counts"`}{posterior distributions of the numbers of row and of column features.}
#' }
#'
#' @param object a fit of [bmf()].
#' @param what which view.
#' @param shape for `"features"`: `c(height, width)` of an image whose pixels are the columns, rows of pixels from the
#'   top, one after another.
#' @param most for `"features"`: how many row features and column features are shown at most, those with most members
#'   first.
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' rows <- cbind(rep(1:0, each = 15), rep(c(0, 1, 1), 10))
#' columns <- cbind(rep(1:0, 5), rep(0:1, each = 5))
#' x <- rows %*% matrix(c(3, 0, -2, 2), 2) %*% t(columns) + rnorm(300, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' plot(fit)
#' plot(fit, "trace")
#' plot(fit, "counts")
#' @name plot.bmf
#' @aliases autoplot.bmf
#' @exportS3Method ggplot2::autoplot
autoplot.bmf <- function(object, # nolint: object_name_linter.
                         what = c("data", "features", "trace", "counts", "density"), shape = NULL, most = 12, ...) {
  what <- check_choice(what)
  check_dots(...)
  most <- check_count(most, "most")
  switch(what,
    data = bmf_data_figure(object), counts = bmf_counts_figure(object),
    features = if (is.null(shape)) bmf_effects_figure(object, most) else bmf_images_figure(object, shape, most),
    trace = chain_traces_figure(object, bmf_traced), density = chain_densities_figure(object, bmf_traced)
  )
}

# Orders items by their features, the first feature first: members of a feature are adjacent as far as overlaps allow.
feature_order <- function(on) {
  varying <- on[, colSums(on) > 0 & colSums(on) < nrow(on), drop = FALSE]
  if (!ncol(varying)) {
    return(seq_len(nrow(on)))
  }
  do.call(order, c(lapply(seq_len(ncol(varying)), function(c) -varying[, c]), list(seq_len(nrow(on)))))
}

bmf_data_figure <- function(fit) {
  param <- fit$param
  rows <- feature_order(param$rows)
  columns <- feature_order(param$columns)
  data <- as.matrix(fit_data(fit))[rows, columns, drop = FALSE]
  scale <- signed_colours(c(data, fit$mean))
  size <- dim(data)
  # Members of features are shown beside the rows and below the columns, as strips of 3 % of the figure's width.
  strip <- pmax(0.5, 0.03 * rev(size))
  members <- function(on, along, width) {
    at <- which(on == 1, arr.ind = TRUE)
    data.frame(along = at[, 1L], across = along + width * (at[, 2L] + 0.5))
  }
  beside <- members(param$rows[rows, , drop = FALSE], size[2L], strip[1L])
  below <- members(param$columns[columns, , drop = FALSE], size[1L], strip[2L])
  words <- axis_words(fit)
  n_fixed <- vapply(fit$fixed, ncol, 0L)
  blank <- ggplot2::element_blank() # numbers would be places after sorting
  figure <- picture_figure(
    list(data = data, `posterior mean` = fit$mean[rows, columns, drop = FALSE]),
    sprintf(
      "%s: %s by %s", if (is_sampled(fit)) "Best draw" else "One draw",
      count_words(ncol(param$rows) - n_fixed[1L], "row feature"),
      count_words(ncol(param$columns) - n_fixed[2L], "column feature")
    ),
    "Pictures: the data and their posterior mean, and beside them the members of row and of column features.",
    scale$limits, scale$colours, c(gaussian = "value", bernoulli = "probability", poisson = "count")[[fit$family]],
    x = sprintf("%s, by feature", words[2L]), y = sprintf("%s, by feature", words[1L]),
    subtitle = paste0(
      "Black bars: members of a feature", if (any(n_fixed > 0L)) " (fixed ones first)",
      if (anyNA(data)) sprintf("; %s: unknown", if (unknown_is_white(scale$limits)) "white" else "grey")
    )
  )
  if (nrow(beside)) {
    figure <- figure + ggplot2::geom_tile(
      gg_aes(x = "across", y = "along"), beside, inherit.aes = FALSE, width = 0.85 * strip[1L], height = 1,
      fill = "grey15"
    )
  }
  if (nrow(below)) {
    figure <- figure + ggplot2::geom_tile(
      gg_aes(x = "along", y = "across"), below, inherit.aes = FALSE, height = 0.85 * strip[2L], width = 1,
      fill = "grey15"
    )
  }
  figure + ggplot2::theme(axis.text = blank, axis.ticks = blank)
}

# Computes the effect of each row feature on each column, in units of the linear predictor.
bmf_effects <- function(fit) fit$param$weights %*% t(fit$param$columns)

bmf_effects_figure <- function(fit, most) {
  effects <- bmf_effects(fit)
  effects <- effects[seq_len(min(most, nrow(effects))), , drop = FALSE]
  if (!nrow(effects)) stop_input("The fit has no row features to plot.")
  scale <- signed_colours(effects)
  order <- feature_order(fit$param$columns)
  values <- t(effects[, order, drop = FALSE])
  if (is.null(rownames(values))) rownames(values) <- order
  heat_figure(
    values, sprintf("%s adds most to a column", rownames(effects)[which.max(apply(abs(effects), 1L, max))]),
    "Heat map: what each row feature adds to each column.", scale$limits,
    scale$colours, "added to the linear predictor", sides = c(axis_words(fit)[2L], "")
  )
}

bmf_images_figure <- function(fit, shape, most) {
  m <- fit$dims[["m"]]
  if (!is.numeric(shape) || length(shape) != 2L || anyNA(shape) || prod(shape) != m) {
    stop_input("`shape` must be c(height, width) with height x width = %d, not %s.", m, show_value(shape))
  }
  first <- function(k) seq_len(min(most, k))
  effects <- bmf_effects(fit)[first(nrow(fit$param$weights)), , drop = FALSE]
  scale <- signed_colours(effects)
  columns <- t(fit$param$columns)[first(ncol(fit$param$columns)), , drop = FALSE] * scale$limits[2L]
  both <- rbind(effects, columns)
  tables <- lapply(seq_len(nrow(both)), function(i) matrix(both[i, ], shape[1L], shape[2L], byrow = TRUE))
  names(tables) <- make.unique(rownames(both))
  picture_figure(
    tables, "Row features (R), column features (C)", "Pictures of the features.", scale$limits,
    scale$colours, "added to the linear predictor"
  ) + without_axes()
}

bmf_traced <- c(
  objective = "log joint density", log_likelihood = "log-likelihood", row_features = "row features",
  column_features = "column features"
)

# Returns quantities of the trace, a row for each draw; `shown`: their titles, named.
traced_draws <- function(trace, shown) {
  each <- lapply(names(shown), function(name) {
    data.frame(chain = factor(trace$chain), draw = trace$iteration, value = trace[[name]], quantity = shown[[name]])
  })
  table <- do.call(rbind, each)
  table$quantity <- factor(table$quantity, shown)
  table
}

# Returns the same of the warm-up, whose last sweep is draw 0. Far from its draws a quantity is left out: its draws
# would become a flat line.
traced_warmup <- function(fit, shown) {
  trace <- fit$warmup
  trace$iteration <- (trace$iteration - fit$control$warmup) / fit$control$thin
  for (name in names(shown)) {
    drawn <- range(fit$trace[[name]])
    far <- abs(trace[[name]] - mean(drawn)) > 1.5 * diff(drawn)
    trace[[name]][diff(drawn) > 0 & far] <- NA
  }
  table <- traced_draws(trace, shown)
  table[!is.na(table$value), ]
}

# Draws the posterior density of the same quantities, by chain.
chain_densities_figure <- function(fit, shown) {
  if (!is_sampled(fit)) stop_input("`what = \"density\"` is for fits that were sampled: this one has no draws.")
  table <- traced_draws(fit$trace, shown)
  table <- table[!is.na(table$value), ]
  new_figure(
    table, gg_aes(x = "value", colour = "chain", linetype = "chain"),
    sprintf("%s of %s draws", count_words(nlevels(table$chain), "chain"), format_big(max(table$draw))),
    sprintf("Lines: posterior density of %s, by chain.", paste(shown, collapse = ", ")), NULL, "density"
  ) + ggplot2::geom_density(linewidth = 0.3) + ggplot2::facet_wrap("quantity", scales = "free", ncol = 2L) +
    few_numbers("x") +
    ggplot2::scale_linetype_manual("chain", values = rep_len(1:6, nlevels(table$chain))) +
    colour_scale(stats::setNames(component_colours(nlevels(table$chain)), levels(table$chain)), "chain")
}

chain_traces_figure <- function(fit, shown) {
  table <- traced_draws(fit$trace, shown)
  warm <- !is.null(fit$warmup)
  chains <- new_figure(
    if (warm) rbind(traced_warmup(fit, shown), table) else table,
    gg_aes(x = "draw", y = "value", colour = "chain", linetype = "chain"),
    sprintf("%s of %s draws", count_words(nlevels(table$chain), "chain"), format_big(max(table$draw))),
    paste0(
      sprintf("Lines: %s of every chain, draw by draw", paste(shown, collapse = ", ")),
      if (warm) "; left of the vertical line the warm-up, which is not used, where it is near the draws", "."
    ), if (warm) "draw (left of the line: warm-up)" else "draw"
  )
  if (warm) chains <- chains + ggplot2::geom_vline(xintercept = 0, linewidth = 0.3, colour = "grey50")
  chains + ggplot2::geom_line(linewidth = 0.3) + ggplot2::facet_wrap("quantity", scales = "free_y", ncol = 2L) +
    few_numbers("x") +
    ggplot2::scale_linetype_manual("chain", values = rep_len(1:6, nlevels(table$chain))) +
    colour_scale(stats::setNames(component_colours(nlevels(table$chain)), levels(table$chain)), "chain")
}

bmf_counts_figure <- function(fit) {
  each <- lapply(c("row_features", "column_features"), function(name) {
    share <- table(fit$trace[[name]]) / nrow(fit$trace)
    data.frame(features = as.integer(names(share)), probability = as.vector(share), side = sub("_", " ", name))
  })
  table <- do.call(rbind, each)
  table$side <- factor(table$side, unique(table$side))
  new_figure(
    table, gg_aes(x = "features", y = "probability"), sprintf("Most probable: %s", paste(vapply(
      split(table, table$side), function(one) {
        sprintf("%d %s", one$features[which.max(one$probability)], one$side[1L])
      }, ""
    ), collapse = ", ")),
    "Bars: posterior probabilities of the numbers of row and of column features.", NULL, "posterior probability"
  ) + ggplot2::geom_col(fill = component_colours(1L), width = 0.7) + ggplot2::facet_wrap("side", scales = "free_x") +
    ggplot2::scale_x_continuous(breaks = whole_breaks)
}

# Co-occurrence of items, which does not depend on the labels of features.

#' How often rows, or columns, have features in common
#'
#' Averages over the draws of a fit, which do not depend on the labels of features.
#'
#' @param fit a fit of [bmf()].
#' @param of `"site"` (the rows) or `"taxon"` (the columns).
#' @param what `"shared"`: the mean number of features that two of them share (on the diagonal: that one has);
#'   `"any"`: the posterior probability that they share at least one.
#' @param ... must be empty.
#' @param site,taxon which sites (which taxa), by number or name, if `of` is these; `NULL`: all.
#' @param nsim how many kept states are used at most, evenly spaced over all chains.
#' @return A symmetric matrix of those sites or taxa, user-fixed features left out. Over 1 GB is refused: choose some.
#' @inherit bmf_prior references
#' @examples
#' set.seed(1)
#' x <- outer(rep(1:0, each = 10), rep(c(2, 0), 4)) + rnorm(160, sd = 0.3)
#' quick <- mcmc_control(
#'   chains = 2, warmup = 50, draws = 100, n_start = 4, n_reheat = 2, progress = FALSE
#' )
#' fit <- bmf(x, control = quick)
#' round(cooccurrence(fit, "taxon"), 2)
#' @export
cooccurrence <- function(fit, of = c("site", "taxon"), what = c("shared", "any"), ..., nsim = 400, site = NULL,
                         taxon = NULL) {
  check_dots(...)
  check_fit(fit, "bmf")
  of <- check_choice(of)
  what <- check_choice(what)
  s <- match(of, c("site", "taxon"))
  chosen <- list(site = site, taxon = taxon)
  if (!is.null(chosen[[3L - s]])) stop_input("`%1$s` goes with `of = \"%1$s\"`.", names(chosen)[3L - s])
  names <- fit$names[[s]]
  items <- pick(chosen[[s]], fit$dims[[c("n", "m")[s]]], names, of)
  refuse_large(as.double(length(items))^2, "The result", sprintf("choose some with `%s`", of))
  n_fixed <- ncol(fit$fixed[[s]])
  total <- 0
  kept <- kept_states(fit, check_count(nsim, "nsim"))
  for (state in kept) {
    on <- as_number_matrix(state[[c("rows", "columns")[s]]][items, , drop = FALSE])
    shared <- tcrossprod(on[, seq_len(ncol(on)) > n_fixed, drop = FALSE])
    total <- total + if (what == "any") shared > 0 else shared
  }
  out <- total / length(kept)
  dimnames(out) <- if (!is.null(names)) list(names[items], names[items])
  out
}
