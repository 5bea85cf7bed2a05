# How the tools for choosing and comparing models see a fit, whatever its model: what it says of cells it has not seen,
# what it says of rows it has not seen, and the folds that are held out.

# Probability of a presence (x > 0) in every cell of the data of a fit, missing ones included, n x m.
presence_probability <- function(fit) UseMethod("presence_probability")

presence_probability.default <- function(fit) pmin(pmax(fitted(fit), 0), 1)

# Probability of a presence on record in every cell of the data of a fit, in the shape of the data. It differs from
# presence_probability() where the data are repeated records of one state.
recorded_probability <- function(fit) UseMethod("recorded_probability")

recorded_probability.default <- function(fit) presence_probability(fit)

# Log-likelihood of every new row, nats. What a cell shows has a probability of at least `floor` (a mean, of counts).
#   data    of check_data(), columns as those of the fit
#   family  "bernoulli" for tables of 0 and 1, "poisson" for counts, "multinomial" for the shares of counts, eq. (24);
#           "squared" has no likelihood
#   ...     a model's own arguments, see test_loglik()
# By default eqs. (23) to (25) of the paper: the training rows' own probabilities are equally likely components.
held_out_rows <- function(fit, data, floor, family, ...) UseMethod("held_out_rows")

held_out_rows.default <- function(fit, data, floor, family, ..., training = NULL) {
  check_dots(...)
  if (family == "squared") {
    stop_no_likelihood("Rows of numbers that are not counts have no likelihood here: hold out cells of `x`.")
  }
  trained <- trained_rows(fit, training)
  if (family == "multinomial") {
    refuse_missing_shares(data)
    trained <- trained[rowSums(fitted(fit))[trained] > 0]
  }
  mixture_loglik(data$view, row_cells(fit, family), rep(-log(length(trained)), length(trained)), floor, trained)
}

# Shares sum to 1 over all columns, so that an unknown cell cannot just be left out.
refuse_missing_shares <- function(data) {
  missing <- which(data$margins$row_observed < ncol(data$x))
  if (length(missing)) {
    stop_input(
      "`newdata` must have no missing cells where `family = \"multinomial\"`: shares are of whole rows. Missing in %s.",
      paste(vapply(utils::head(missing, 5L), function(at) place_words(data$x, 1L, at), ""), collapse = ", ")
    )
  }
}

# What training rows say of cells, as function(rows): list(one, zero), the probabilities of a presence and an absence,
# list(mean) of counts, or list(share) of a row's total; matrices rows x m.
row_cells <- function(fit, family) UseMethod("row_cells")

row_cells.default <- function(fit, family) {
  if (family == "poisson") {
    mean <- unname(fitted(fit))
    return(function(rows) list(mean = mean[rows, , drop = FALSE]))
  }
  if (family == "multinomial") {
    share <- unname(fitted(fit)) / rowSums(fitted(fit))
    return(function(rows) list(share = share[rows, , drop = FALSE]))
  }
  one <- unname(presence_probability(fit))
  function(rows) list(one = one[rows, , drop = FALSE], zero = 1 - one[rows, , drop = FALSE])
}

# What a fit's own cells are, where nothing else is said: see held_out_rows().
row_family <- function(fit) UseMethod("row_family")

row_family.default <- function(fit) "bernoulli"

row_kind <- function(fit, family) {
  kind <- data_kind(fit)
  if (family == "bernoulli") "binary" else if (is.null(kind)) "nonnegative" else kind
}

# A condition of its own: cross_validate() shows NA and says why.
stop_no_likelihood <- function(...) {
  stop(errorCondition(sprintf(...), class = c("multicause_no_likelihood", "multicause_input_error"), call = NULL))
}

# Numbers of the training rows that are components: those with something observed.
trained_rows <- function(fit, training) {
  n <- fit$dims[["n"]]
  if (!is.null(training)) {
    return(unique(pick(training, n, fit$names[[1L]], "training")))
  }
  if (!is.null(fit$margins)) {
    return(which(fit$margins$row_observed > 0))
  }
  if (is.null(fit$x)) {
    stop_input("This fit was made with `keep_x = FALSE`: name by `training` the rows that had something observed.")
  }
  which(rowSums(!is.na(dense_rows(fit_data(fit), seq_len(n)))) > 0)
}

# log sum_r weight_r P(row | r) for every row of a view, components by blocks.
mixture_loglik <- function(view, cells, log_weight, floor, rows = seq_along(log_weight)) {
  out <- -Inf
  for (at in row_blocks(seq_along(rows), view$dim[2L])) {
    said <- cells(rows[at])
    mixture <- c(list(log_weight = log_weight[at]), cell_terms(said, floor))
    out <- log_add(out, .Call(mc_c_row_mixture, view, mixture))
  }
  # Eq. (24) has no such factor.
  constant <- if (is.null(view$value) || !is.null(said$share)) 0 else row_constants(view)
  out + constant
}

# The one rule of the floor: what is seen in a cell, or its mean, counts as at least that. As the kernel takes it; see
# src/engine/row_mixture.h.
cell_terms <- function(cells, floor) {
  if (!is.null(cells$mean)) {
    mean <- pmax(cells$mean, floor)
    return(list(empty = -mean, slope = log(mean)))
  }
  if (!is.null(cells$share)) {
    return(list(empty = 0 * cells$share, slope = log(pmax(cells$share, floor))))
  }
  one <- log(pmax(cells$one, floor))
  zero <- log(pmax(cells$zero, floor))
  list(empty = zero, slope = ifelse(zero == -Inf, one, one - zero))
}

log_add <- function(a, b) {
  top <- pmax(a, b)
  ifelse(top == -Inf, -Inf, top + log1p(exp(pmin(a, b) - top)))
}

# The part of a Poisson likelihood that no mean changes: minus the sum of log x!.
row_constants <- function(view) {
  row <- factor(rep(seq_len(view$dim[1L]), diff(view$start)), seq_len(view$dim[1L]))
  -vapply(split(lgamma(view$value + 1), row), sum, 0, USE.NAMES = FALSE)
}

# What a held-out cell costs, nats (or squared units) each. "bernoulli" is for tables of 0 and 1, with probabilities
# kept within [floor, 1 - floor]; "poisson" for whole numbers, means at least `floor`; "squared" for the rest.
# The attribute `clipped` is how many of the cells had less than `floor`.
cell_loss <- function(fit, cells, value, family, floor) {
  said <- if (family == "bernoulli") recorded_probability(fit)[cells] else fitted(fit)[cells]
  clipped <- switch(family, bernoulli = said < floor | said > 1 - floor, poisson = said < floor, FALSE)
  structure(loss_of_mean(said, said, value, family, floor), clipped = sum(clipped))
}

# Planted omissions: 1 - AUC, with the other measures in its attribute `found`.
omission_loss <- function(fit, x, omitted) {
  truth <- matrix(FALSE, nrow(x), ncol(x))
  truth[omitted] <- TRUE
  truth[is.na(as.matrix(x)) | as.matrix(x) == 1] <- NA
  found <- recovery(unname(as.matrix(fitted(fit))), truth)$summary[omission_measures]
  structure(1 - found$auc, found = unlist(found))
}

omission_measures <- c("auc", "auc_within", "ap")

loss_of_mean <- function(presence, mean, value, family, floor) {
  if (family == "bernoulli") {
    p <- pmin(pmax(presence, floor), 1 - floor)
    return(-log(ifelse(value == 1, p, 1 - p)))
  }
  if (family == "poisson") -stats::dpois(value, pmax(mean, floor), log = TRUE) else (value - mean)^2
}

# What may be held out: list(x, family, observed), the last a logical matrix with a row for each observation. Of arrays,
# and of the tables of repeated visits, cells alone.
fold_data <- function(x) {
  if (is_table(x)) {
    data <- check_data(x, "nonnegative", quiet = TRUE)
    check_blank_cells(data)
    refuse_large(prod(dim(data$x)) / 2, "What is held out", "take fewer rows or columns")
    return(list(x = data$x, family = loss_family(data$view), observed = !is.na(as.matrix(data$x))))
  }
  if (is.list(x) || isS4(x) || says_visits(x)) x <- check_visits(x)
  flat <- check_data(matrix(x, nrow(x)), "nonnegative", quiet = TRUE)
  list(x = x, family = loss_family(flat$view), observed = !is.na(as.matrix(flat$x)))
}

# A table in any class, or what its own check refuses; no array and no repeated visits, which come as plain lists and as
# objects with parts of certain names.
is_table <- function(x) {
  if (isS4(x)) {
    return(!any(packed_names %in% methods::slotNames(x)))
  }
  is.data.frame(x) || if (is.list(x)) is.object(x) && !any(packed_names %in% names(x)) else length(dim(x)) <= 2L
}

# Rows and omissions are of tables only.
check_table_scheme <- function(x, scheme) {
  if (!any(c("rows", "omissions") %in% scheme)) {
    return(invisible())
  }
  refuse_shards(x, "x")
  if (!is_table(x)) {
    stop_input(
      "%s a table only: of arrays hold out cells, of repeated visits those or whole visits.",
      if ("rows" %in% scheme) "Rows can be held out of" else "Omissions can be planted in"
    )
  }
}

# Finds to be deleted, as corrupt(x, omit = c(0, 0.4)) deletes them, in as many tables as there are folds.
omission_folds <- function(x, folds) {
  lapply(seq_len(folds), function(fold) {
    omitted <- which(corrupt(x, omit = omission_rates)$omitted)
    if (!length(omitted)) stop_input("`x` has too few finds for planted omissions.")
    omitted
  })
}

omission_rates <- c(0, 0.4)

# The same of repeated visits for whole visits: `observed` says which were made, n x visits.
visit_fold_data <- function(x) {
  if (is_table(x)) stop_input("`x` must be repeated visits where visits are held out, not a table: hold out cells.")
  cell <- check_visits(x)
  list(x = cell, family = "bernoulli", observed = visits_made(cell))
}

# Whether a fit tells something of a visit that it has not seen; else an error.
check_tells_visits <- function(fit) UseMethod("check_tells_visits")

check_tells_visits.default <- function(fit) {
  stop_input(
    "Visits can be held out of fits of visits_bernoulli() and visits_occupancy() only, not of %s().", model_name(fit)
  )
}

loss_family <- function(view) {
  range <- .Call(mc_c_view_range, view)
  if (is.null(range$not_binary)) "bernoulli" else if (is.null(range$not_whole)) "poisson" else "squared"
}

# Held-out cells: list of `folds` index vectors over the observed cells. Cells are dealt to the folds in turn, row by
# row and in random order within a row, so that a row with two cells is never held out whole; where a fold would take
# all of a column, one of its cells, and where a row has a single cell, that one, is never held out.
cell_folds <- function(observed, folds) {
  n <- nrow(observed)
  cells <- which(observed)
  row <- (cells - 1L) %% n + 1L
  at <- order(row, stats::runif(length(cells)))
  cells <- cells[at]
  row <- row[at]
  fold <- (sample.int(folds, 1L) + seq_along(row)) %% folds + 1L
  counts <- tabulate(row, n)
  fold[counts[row] == 1L] <- NA
  column <- (cells - 1L) %/% n + 1L
  for (j in which(colSums(observed) > 0)) {
    mine <- which(column == j)
    if (!anyNA(fold[mine]) && length(unique(fold[mine])) == 1L) fold[mine[sample.int(length(mine), 1L)]] <- NA
  }
  unname(lapply(seq_len(folds), function(f) sort(cells[which(fold == f)])))
}

# Held-out rows, rows with nothing observed never.
row_folds <- function(observed, folds) {
  rows <- which(rowSums(observed) > 0)
  rows <- rows[sample.int(length(rows))]
  unname(lapply(split(rows, rep_len(seq_len(folds), length(rows))), sort))
}

# Runs `expr`, keeping what a fit has to tell to itself: list(value, converged).
quiet_fit <- function(expr) {
  converged <- TRUE
  value <- withCallingHandlers(
    expr,
    multicause_message = function(m) invokeRestart("muffleMessage"),
    multicause_no_zero = function(e) invokeRestart("hidden_by_us"),
    multicause_empty_rows = function(e) invokeRestart("hidden_by_us"),
    multicause_not_converged = function(w) {
      converged <<- FALSE
      invokeRestart("muffleWarning")
    }
  )
  list(value = value, converged = converged)
}

# One fold of one setting: the loss of each unit held out.
#   setting  list(name, model, k, args): a function and its name, the number of components, further arguments
#   held     indices of cells, or of rows
hold_out <- function(x, setting, scheme, held, family, floor, control) {
  train <- switch(scheme,
    rows = x[-held, , drop = FALSE], omissions = replace_cells(x, held, 0), replace_cells(x, held)
  )
  fit <- quiet_fit(call_model(setting, train, control, if (scheme != "omissions") family))
  if (scheme == "visits") check_tells_visits(fit$value)
  loss <- switch(scheme,
    rows = row_losses(fit$value, x[held, , drop = FALSE], family, floor),
    omissions = omission_loss(fit$value, train, held),
    cell_loss(fit$value, held, cells_of(x, held), family, floor)
  )
  out <- c(
    loss = mean(loss), n = length(held), converged = fit$converged, components = fit$value$dims[["k"]],
    spread = if (length(loss) > 1L) stats::sd(loss) else NA, clipped = attr(loss, "clipped"), attr(loss, "found")
  )
  structure(out, why = attr(loss, "why"))
}

# Minus the log-likelihood of rows; NA, with its attribute `why`, where the model has none.
row_losses <- function(fit, x, family, floor) {
  tryCatch(
    -as.vector(held_out_rows(fit, check_newdata(fit, x, row_kind(fit, family)), floor, family)),
    multicause_no_likelihood = function(e) structure(NA_real_, why = conditionMessage(e))
  )
}

# The fit's call names the data and the model instead of holding them, so that update() and print() can use it. Of the
# family of cells, where it is given, a model that is not of this package must give chances.
call_model <- function(setting, x, control, family = NULL) {
  given <- list(k = setting$k, control = quote(control))
  given <- given[vapply(names(given), function(name) takes(setting$model, name), NA)]
  fit <- do.call(setting$model, c(list(quote(x)), given, setting$args))
  if (!inherits(fit, "multicause")) {
    return(user_model(fit, x, setting, family))
  }
  check_fit(fit, name = "model(x, k)")
  if (is.function(fit$call[[1L]])) fit$call[[1L]] <- as.name(model_name(fit))
  fit
}

# Does a function take an argument of that name? `...` of models here must be empty.
takes <- function(f, name) {
  known <- names(formals(args(f)))
  name %in% known || ("..." %in% known && !identical(environment(f), topenv()))
}

replace_cells <- function(x, cells, value = NA) {
  x[cells] <- value
  x
}

cells_of <- function(x, cells) as.vector(x[cells])

#' Held-out likelihood of new sites
#'
#' Log-likelihood of each new site under a fitted model: how well the model predicts rows it has not seen.
#'
#' @details
#' This is eq. (23) of the paper: the training rows serve as equally likely components, each with the probabilities that
#' the fit gives its cells, and the likelihood of a new row's observed cells is averaged over them (in logarithms,
#' without underflow). Nothing is fitted to the new row. [cross_validate()] with `criterion = "rows"` sums the same
#' numbers. Two models have components of their own in place of the training rows: [bernoulli_mixture()] its own (eq.
#' 26), and [noisy_or()] the states of its sources, summed out exactly up to 16 sources and beyond by importance
#' sampling.
#'
#' The probability that a component gives to what is seen in a cell, whether 1 or 0, counts as at least `floor`: maximum
#' likelihood puts cells at exact 0 or 1, and one impossible cell would make the whole row impossible. The value depends
#' on the floor, which is why it is printed: compare models under the same one.
#'
#' Models of counts ([nmf()] with `loss = "kl"`, [plsa()], [plca()] of a matrix, [bmf()] with `family = "poisson"`) give
#' Poisson probabilities with the means of the training rows, at least `floor`; with `family = "bernoulli"` they are
#' judged as the others, by the chance of at least one. With `family = "multinomial"` they are judged as in eq. (24), by
#' the share that each column has in a row's mean: the likelihood is the product of the shares of the presences (of a
#' count, to its power), without a factor for their order. Zeros do not count there, so the value cannot be compared
#' with that of another family. A training row without any count is no component, and `newdata` may have no `NA`.
#'
#' A fit of [visits_bernoulli()], of [nmf()] by squared error, of [plca()] to an array, and of [bmf()] with `family =
#' "gaussian"` has no such likelihood: an error says what to use instead.
#'
#' Cost: O(m) for each component, and O(number of ones) for each pair of a component and a new row; O(k m) more for each
#' training row of [aspect_bernoulli()]. Components are \eqn{2^k} states of a [noisy_or()]; by importance sampling it
#' takes O(k m) a draw.
#'
#' @param fit a fit of a model of this package.
#' @param newdata new sites, columns matched by name or by place, `NA` allowed.
#' @param ... arguments of the model:
#' \describe{
#'   \item{`training`}{(where training rows are the components) their names or numbers; `NULL` is all but those with
#'     nothing observed, whose memberships are those of the start.}
#'   \item{`nsim`}{(`noisy_or()` with more than 16 sources) draws of a row's sources, at least 100; default 2000.}
#' }
#' @param floor number from 0 to 0.5, the least probability of what is seen in a cell, see Details; 0 is the model as it
#'   is.
#' @param family `NULL`: the model's own. `"bernoulli"` judges models of counts by 0/1 rows, `"multinomial"` by the
#'   shares of columns, see Details.
#' @return A numeric vector of class `test_loglik`: nats for each row, with row names, `NA` for rows with nothing
#'   observed. Attributes `floor`, `total` (sum over rows) and `mean` (per row, as in the paper's Fig. 3), both without
#'   those rows; where rows were sampled also `effective`, the effective number of draws of each.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(600, 1, 0.3), 60, 10)
#' fit <- aspect_bernoulli(x[1:50, ], k = 2)
#' test_loglik(fit, x[51:60, ])
#' @export
test_loglik <- function(fit, newdata, ..., family = NULL, floor = 1e-6) {
  check_fit(fit)
  floor <- check_number(floor, "floor", 0, 0.5)
  if (missing(newdata)) stop_input("`newdata` must be given: rows that the model was not fitted to.")
  own <- row_family(fit)
  known <- unique(c(own, "bernoulli", if (own == "poisson") "multinomial"))
  family <- if (is.null(family)) own else check_choice(family, "family", known)
  # Evaluated late: a model without a likelihood says so whatever the new data are.
  delayedAssign("data", check_newdata(fit, newdata, row_kind(fit, family)))
  value <- held_out_rows(fit, data, floor, family, ...)
  effective <- attr(value, "effective")
  bare <- data$margins$row_observed == 0
  value[bare] <- NA
  if (any(bare)) {
    inform("No likelihood (NA) for %s of `newdata` with nothing observed.", count_words(sum(bare), "row"))
  }
  never <- sum(value == -Inf, na.rm = TRUE)
  if (never) inform("-Inf for %s of `newdata`, impossible under the model.", count_words(never, "row"))
  structure(
    stats::setNames(as.vector(value), rownames(data$x)),
    class = "test_loglik", floor = floor, total = sum(value[!bare]), mean = mean(value[!bare]), effective = effective
  )
}

#' @export
print.test_loglik <- function(x, digits = max(3L, getOption("digits") - 3L), n = 10L, ...) {
  digits <- check_digits(digits)
  n <- check_shown(n)
  write_sentences(sprintf(
    "Log-likelihood of %d new rows: %s in all, %s a row; higher is better (chances are at least %s)", sum(!is.na(x)),
    format(attr(x, "total"), digits = digits), format(attr(x, "mean"), digits = digits), format(attr(x, "floor"))
  ))
  values <- stats::setNames(as.vector(x), names(x))
  print(utils::head(values, n), digits = digits)
  if (length(values) > n) cat(sprintf("... and %d more\n", length(values) - n))
  invisible(x)
}
