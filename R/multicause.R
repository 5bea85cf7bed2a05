# Base class of fits: constructor, validation and the methods that serve every model.

new_multicause <- function(param, objective, loglik, df, dims, trace, starts, converged, control, call,
                           x = NULL, ..., class) {
  stopifnot(is.list(param), is.numeric(objective), is.data.frame(trace), is.data.frame(starts), is.numeric(dims))
  # A table may have more than 2^31 cells: as integers their number, and products of these, would be NA.
  storage.mode(dims) <- "double"
  structure(
    list(
      param = param, objective = objective, loglik = loglik, df = df, dims = dims, trace = trace,
      starts = starts, converged = converged, control = control, call = call, x = x, ...
    ),
    class = c(class, "multicause")
  )
}

# Tests whether a matrix has the shape of these entries of the fit's `dims`.
has_dims <- function(x, fit, which) identical(as.double(dim(x)), as.double(fit$dims[which]))

# Names components A1, A2, ... in every result.
component_names <- function(k) sprintf("A%d", seq_len(k))

# Returns the name of a model in print() and titles. Generics of this kind describe a model to code that serves them
# all; CONTRIBUTING.md lists them.
model_title <- function(fit) UseMethod("model_title")

model_title.default <- function(fit) class(fit)[1L]

#' @export
print.multicause <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  print_screen(fit_screen(x, check_digits(digits)))
  invisible(x)
}

# What print() shows of a fit: the model and how the fit ended, a table, at most two sentences.
fit_screen <- function(fit, digits = 4L) {
  list(
    title = c(fit_title(fit), reached_sentence(fit, digits)), table = fit_table(fit, digits),
    notes = found_sentences(fit, digits)
  )
}

print_screen <- function(screen, most = shown_components) {
  write_sentences(screen$title)
  if (length(screen$table)) {
    cat("\n")
    print_fit_table(screen$table, most)
  }
  if (length(screen$notes)) {
    cat("\n")
    write_sentences(screen$notes)
  }
}

# The model, how it was estimated, and the size of its data.
fit_title <- function(fit) {
  by <- estimator_words(fit)
  sprintf("%s%s: %s", model_title(fit), if (is.null(by)) "" else sprintf(" (%s)", by), shape_words(fit))
}

# NULL where the model has one estimate alone.
estimator_words <- function(fit) UseMethod("estimator_words")

estimator_words.default <- function(fit) {
  if (is.na(fit$converged)) {
    return(NULL)
  }
  by <- c(
    log_likelihood = "maximum likelihood", log_posterior = "MAP", lower_bound = "variational Bayes",
    penalised_log_likelihood = "penalised likelihood", smoothed_log_likelihood = "maximum likelihood, smoothed",
    smoothed_log_posterior = "MAP, smoothed"
  )[names(fit$objective)]
  if (anyNA(by) || !length(by)) NULL else unname(by)
}

# "90 % interval 826 to 1 363" of a number that each draw of a sampled fit records; NULL if draws do not record it.
traced_interval <- function(fit, name) {
  if (is_sampled(fit) && !all(is.na(fit$trace[[name]]))) {
    ends <- format_big(round(stats::quantile(fit$trace[[name]], c(0.05, 0.95), names = FALSE, na.rm = TRUE)))
    sprintf("90 %% interval %s to %s", ends[1L], ends[2L])
  }
}

# The table of a print: of components, or what a model has instead. A list of columns, or NULL.
fit_table <- function(fit, digits = 4L) UseMethod("fit_table")

fit_table.default <- function(fit, digits = 4L) if (fit$dims[["k"]] > 0) component_table(fit)

# At most two sentences: what follows from the fit.
found_sentences <- function(fit, digits = 4L) UseMethod("found_sentences")

found_sentences.default <- function(fit, digits = 4L) NULL

# What summary() reports beside these.
detail_sentences <- function(fit, digits = 4L) UseMethod("detail_sentences")

detail_sentences.default <- function(fit, digits = 4L) NULL

# How the fit ended: the objective, the iterations and the starts.
reached_sentence <- function(fit, digits = 4L) UseMethod("reached_sentence")

reached_sentence.default <- function(fit, digits = 4L) {
  if (is.na(fit$converged)) { # of posterior_draws(): a state of a chain, which is alone
    return(sprintf("one draw from the posterior, log-likelihood %s", format(fit$loglik, digits = digits)))
  }
  starts <- nrow(fit$starts)
  finished <- sum(fit$starts$finished)
  sprintf(
    "%s (%s)", ended_words(fit, digits),
    if (starts == 1L) "one start" else
      sprintf("best of %d starts%s", starts, if (finished < starts) sprintf(", %d finished", finished) else "")
  )
}

# "log-posterior -1622 after 69 iterations, converged".
ended_words <- function(fit, digits) {
  value <- unname(fit$objective)
  is_loss <- names(fit$objective) == "minus_loss"
  sprintf(
    "%s %s after %s, %s", if (is_loss) "loss" else objective_words(fit),
    format(if (is_loss) -value else value, digits = digits), count_words(count_iterations(fit), "iteration"),
    if (fit$converged) "converged" else "NOT converged"
  )
}

# "smoothed_log_posterior" as people write it.
objective_words <- function(fit) gsub("_", " ", sub("log_", "log-", names(fit$objective), fixed = TRUE), fixed = TRUE)

#' @export
coef.multicause <- function(object, ...) {
  check_dots(...)
  object$param
}

#' @export
fitted.multicause <- function(object, ...) {
  check_dots(...)
  predict(object)
}

# Counts the observed cells; models whose sites are independent draws count sites.
#' @export
nobs.multicause <- function(object, ...) known_cells(object)

known_cells <- function(fit) fit$dims[["observed"]]

# Counts the sites with a known cell; all sites in a fit without that number.
known_sites <- function(fit) as.double(fit$informative_sites %||% fit$dims[["n"]])

# Returns the reason, as a clause, why BIC() has no meaning for a fit that maximised a likelihood or a posterior; NULL
# if it has, because the number of parameters does not grow with that of the observations.
why_no_bic <- function(fit) UseMethod("why_no_bic")

why_no_bic.default <- function(fit) {
  "every site has parameters of its own, such as memberships, and so their number grows with the table"
}

# The default would count cells as independent observations in all models.
#' @export
BIC.multicause <- function(object, ...) {
  for (fit in list(object, ...)) {
    logLik(fit)
    why <- if (inherits(fit, c("multicause", "multicause_shards"))) why_no_bic(fit)
    if (!is.null(why)) {
      stop_input(
        "BIC() has no meaning for this fit of %s(): %s. Held-out cells choose the number of components: select_k().",
        model_name(fit), why
      )
    }
  }
  NextMethod()
}

# Returns the log-likelihood at its maximum, or at that of a posterior or penalised likelihood, as for penalised fits.
#' @export
logLik.multicause <- function(object, ...) {
  if (!has_likelihood(object)) {
    stop_input(
      "This fit %s, not its likelihood, so logLik(), AIC() and BIC() have no meaning for it%s.", what_it_did(object),
      if (is.na(object$loglik)) "" else "; `fit$loglik` holds the log-likelihood at the estimate"
    )
  }
  # Without a number of observations R computes no BIC and does not compare it with that of other models.
  n <- if (is.null(why_no_bic(object))) nobs(object) else NA_real_
  structure(object$loglik, df = object$df, nobs = as.double(n), class = "logLik")
}

what_it_did <- function(fit) {
  if (is_sampled(fit)) {
    "sampled its posterior"
  } else if (is.null(fit$objective)) {
    "maximised nothing"
  } else if (identical(names(fit$objective), "minus_loss")) {
    "minimised its loss"
  } else {
    paste("maximised its", objective_words(fit))
  }
}

# Objectives that add a shrinking term to the log-likelihood, with the name of that term.
held_back_by <- c(
  log_posterior = "prior", penalised_log_likelihood = "penalty", smoothed_log_likelihood = "smoothing",
  smoothed_log_posterior = "prior and smoothing"
)

is_maximum_likelihood <- function(fit) identical(names(fit$objective), "log_likelihood")

has_likelihood <- function(fit) {
  isTRUE(names(fit$objective) %in% c("log_likelihood", names(held_back_by)) && !is.na(fit$loglik))
}

#' @export
residuals.multicause <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  type <- check_choice(type)
  check_dots(...)
  object$x <- fit_data(object, x)
  mean <- fitted(object)
  x <- dense_rows(object$x, seq_len(object$dims[["n"]]))
  dimnames(x) <- dimnames(mean)
  residual_matrix(object, x, mean, type)
}

# Computes residuals of a model with Bernoulli cells; other families have their own methods.
residual_matrix <- function(fit, x, mean, type) UseMethod("residual_matrix")

residual_matrix.default <- function(fit, x, mean, type) {
  if (type == "response") {
    return(x - mean)
  }
  mean[] <- pmin(pmax(mean, 0), 1) # sums of probabilities exceed 1 by rounding
  switch(type,
    pearson = ifelse(x == mean, 0, (x - mean) / sqrt(mean * (1 - mean))),
    deviance = ifelse(x == 1, 1, -1) * sqrt(-2 * log(ifelse(x == 1, mean, 1 - mean)))
  )
}

# Returns the data of a fit, or those supplied in their place.
fit_data <- function(fit, x = NULL) {
  if (!is.null(x)) {
    return(check_own_data(fit, x))
  }
  if (is.null(fit$x)) stop_no_data(fit)
  if (isS4(fit$x)) loadNamespace("Matrix") # R would attach it, of a fit that was read from a file
  kind <- data_kind(fit) # they may have been changed since
  if (!is.null(kind)) check_data(fit$x, kind, "fit$x", quiet = TRUE)
  check_valid(fit$x, "fit$x")
}

# Tells that a fit has no data any more, and what helps.
stop_no_data <- function(fit) UseMethod("stop_no_data")

stop_no_data.default <- function(fit) {
  stop_input("This fit was made with `keep_x = FALSE`: supply the data as `x`, or fit again with the data kept.")
}

# Returns the kind of values of a model for check_data(); NULL if they are checked when read.
data_kind <- function(fit) UseMethod("data_kind")

data_kind.default <- function(fit) "binary"

data_kind.user_model <- function(fit) "real" # what it was given, the verb has checked

# Checks that the user's data are those of the fit (shape, names, kind, number of observed cells) and orders them alike.
check_own_data <- function(fit, x) {
  own <- own_data(fit, x)
  if (own$observed != known_cells(fit)) {
    stop_input(
      "`x` must be the data of the fit, which have %s: here are %.0f.", count_words(known_cells(fit), "observed cell"),
      own$observed
    )
  }
  own$x
}

# Returns list(x, observed): the data in the form and order of the fit's, and the number of observed cells.
own_data <- function(fit, x) UseMethod("own_data")

own_data.default <- function(fit, x) {
  data <- check_data(match_data(as_plain_matrix(x, "x"), fit), data_kind(fit), quiet = TRUE)
  list(x = data$x, observed = sum(data$margins$row_observed))
}

# Assembles the parts of a fit that every model derives alike from a run of its starts.
assemble_fit <- function(run, data, k, objective, control, call, ...) {
  outcome <- run$best$outcome
  converged <- outcome$status == "converged"
  if (!converged && control$max_iter > 0L && control$tol > 0) {
    warn_not_converged(outcome, advice = ": raise `max_iter` in fit_control() for a firmer answer")
  }
  new_multicause(
    objective = stats::setNames(outcome$objective, objective),
    dims = if (is.null(data$dims)) {
      c(n = nrow(data$x), m = ncol(data$x), k = k, observed = sum(data$margins$row_observed))
    } else {
      data$dims
    },
    informative_sites = if (!is.null(data$margins)) sum(data$margins$row_observed > 0),
    trace = trace_frame(outcome), starts = run$starts, converged = converged, control = control, call = call,
    x = if (control$keep_x) data$x, names = if (is.null(data$names)) dimnames_of(data$x) else data$names,
    start_params = run$params,
    start_traces = run$traces, seed = run$seed, ...
  )
}

dimnames_of <- function(x) if (is.null(dimnames(x))) list(NULL, NULL) else unname(dimnames(x))

# Replaces variables in the call by their values: update() may be called where they do not exist.
keep_values <- function(call, values) {
  # A fit as starting values, whose chains are resumed, would enlarge this fit by all fits before it.
  if (inherits(values$start, "multicause")) values$start <- NULL
  given <- intersect(names(values), names(call))
  call[given] <- values[given]
  call
}

# Drops arguments supplied as NULL from the call: their defaults depend on others, which update() may change.
drop_nulls <- function(call, values) {
  call[names(Filter(is.null, values))] <- NULL
  call
}

#' @export
update.multicause <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  changes <- named_changes(match.call(expand.dots = FALSE)$...)
  # Data and settings of the fit may be gone or changed where update() is called.
  known <- list(x = if (is.null(object$visits)) object$x else object$visits, control = object$control)
  if ("k" %in% names(object$call)) known$k <- object$dims[["k"]]
  updated_call(object, changes, known, evaluate, parent.frame())
}

# Evaluates the call of a fit with changes, a list by name, and the `known` values of other arguments.
updated_call <- function(object, changes, known, evaluate, where) {
  call <- object$call
  call[names(changes)] <- changes # an argument may be NULL
  if (!evaluate) {
    return(call)
  }
  # Settings left to the model stay so: another estimate may have other defaults.
  if (is.null(object$call$control)) known$control <- NULL
  for (name in setdiff(names(known), names(changes))) if (!is.null(known[[name]])) call[[name]] <- known[[name]]
  check_call_names(call, where)
  eval(find_model(call, object, where), where)
}

# Checks that the objects which a call names are still there; names within an argument may be columns.
check_call_names <- function(call, where) {
  for (name in setdiff(names(call), "")) {
    used <- call[[name]]
    if (is.name(used) && nzchar(used) && !exists(as.character(used), where)) {
      stop_input("`%s` of the call is `%s`, which is not known here: give it, as in `update(object, %s = ...)`.",
        name, as.character(used), name)
    }
  }
}

# Returns the changes of update() by name: a formula would be matched to some other argument.
named_changes <- function(dots) {
  extra <- as.list(dots)
  if (length(extra) && (is.null(names(extra)) || !all(nzchar(names(extra))))) {
    stop_input(paste(
      "Models here have no formula: update() takes arguments by name, as `update(fit, k = 3)` or `update(fit, x = x)`;",
      "select_k() chooses the number of components."
    ))
  }
  extra
}

# Returns the call with the model of the fit: the name it was made under may be unknown here, or that of another one.
find_model <- function(call, fit, where) {
  name <- model_name(fit)
  own <- if (!is.na(name)) get0(name, topenv(), mode = "function") # NULL of a model that is not of this package
  found <- catch_error({
    here <- eval(call[[1L]], where)
    if (is.null(own)) is.function(here) else identical(here, own)
  }, function(e) FALSE)
  if (!found) call[[1L]] <- call("::", quote(multicause), as.name(model_name(fit)))
  call
}

# Serves every model: new data, simulation, summary, plot, and the generics used to choose and compare models.

# Tests whether new rows are documents, which list only the words they have.
is_of_documents <- function(fit) UseMethod("is_of_documents")

is_of_documents.default <- function(fit) FALSE

# Matches the columns of new rows to the training attributes and returns the result of check_data().
check_newdata <- function(fit, newdata, kind, name = "newdata") {
  check_data(new_rows(fit, newdata, name), kind, name, quiet = TRUE)
}

# Puts the taxa of a prediction, or of a list of them, in the order of the new data: kernels use the fit's.
in_given_order <- function(out, newdata) {
  if (is.null(newdata)) {
    return(out)
  }
  if (is.list(out)) {
    return(lapply(out, in_given_order, newdata))
  }
  given <- if (is.list(newdata) && !is.data.frame(newdata)) newdata[[1L]] else newdata
  sides <- if (is.data.frame(given)) list(names(given)) else dimnames(given)[-1L]
  for (side in seq_along(dim(out))[-1L]) {
    label <- dimnames(out)[[side]]
    # Arrays of counts have names on every side, visits in any order: the side that contains all of these is theirs.
    holds <- Filter(function(names) !is.null(label) && all(label %in% names), sides)
    at <- if (length(holds)) match(intersect(holds[[1L]], label), label)
    if (is.unsorted(at)) out <- take_side(out, side, at)
  }
  out
}

# Returns results for rows in the requested order, with repeats.
as_asked <- function(out, rows, asked) if (identical(rows, asked)) out else take_side(out, 1L, match(asked, rows))

# Selects rows, columns or other levels of an array and keeps its attributes.
take_side <- function(x, side, at) {
  index <- rep(list(TRUE), length(dim(x)))
  index[[side]] <- at
  out <- do.call(`[`, c(list(x), index, drop = FALSE))
  others <- setdiff(names(attributes(x)), c("dim", "dimnames"))
  attributes(out)[others] <- attributes(x)[others]
  out
}

# Simulates nsim data sets by draw(), with the names of the fit's data, as stats::simulate() requires.
simulate_with <- function(object, nsim, seed, draw) {
  nsim <- check_nsim(nsim, prod(object$dims[c("n", "m")]))
  drawn <- draw_seeded(function() {
    lapply(seq_len(nsim), function(i) {
      out <- draw()
      if (length(dim(out)) == 2L) dimnames(out) <- name_sides(object$names)
      out
    })
  }, seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

# Checks that so many tables of this size fit into memory.
check_nsim <- function(nsim, n_cell) {
  nsim <- check_count(nsim, "nsim")
  refuse_large(nsim * n_cell / 2, "The result", "draw fewer tables at a time")
  nsim
}

# Draws from a multinomial distribution. Totals beyond R's integers are first divided among parts of the cells.
draw_multinomial <- function(total, p) {
  if (total == 0) {
    return(integer(length(p)))
  }
  if (total <= .Machine$integer.max) {
    return(as.vector(stats::rmultinom(1L, total, p)))
  }
  if (length(p) == 1L) {
    return(total)
  }
  part <- seq_len(length(p) %/% 2L)
  first <- stats::rbinom(1L, total, sum(p[part]) / sum(p))
  c(draw_multinomial(first, p[part]), draw_multinomial(total - first, p[-part]))
}

random_bernoulli <- function(p) {
  matrix(stats::rbinom(length(p), 1L, pmin(pmax(p, 0), 1)), nrow(p), ncol(p))
}

#' Summary of any fit
#'
#' The summary of a fit of any model; [aspect_bernoulli()] has its own, [summary.aspect_bernoulli()].
#'
#' @details
#' **Random numbers.** `fit$seed` holds the state of R's generator before the starts were drawn, as the attribute `seed`
#' of [stats::simulate()] does: after `assign(".Random.seed", fit$seed, globalenv())`, `update(fit)` gives the same fit
#' again. (A prior that was chosen by held-out cells is part of `fit$call`. Bandwidths of `smooth` are not: supply
#' `smooth = fit$smooth`.) It is `NULL` where `start` was given: nothing is drawn then.
#'
#' @param object a fit of any model of this package.
#' @param ... must be empty.
#' @return A list of class `summary.multicause` with `screen` (`title`, `table` and `notes`, which `print()` shows of
#'   the fit), `details` (sentences), `criteria` (`loglik`, `df`, `AIC`, `BIC`, in nats; `NA` where they have no
#'   meaning, and `no_criteria`, or `no_bic`, gives the reason; `criteria_note` explains them where a prior, a penalty
#'   or neighbours shrink parameters), `starts` (by kind of start: number, finished, reached the best, best objective),
#'   `n_missing`, the number of unknown cells, and `seed`, `fit$seed`.
#' @seealso [plot()][autoplot.multicause]
#' @examples
#' set.seed(1)
#' fit <- bernoulli_mixture(matrix(rbinom(200, 1, 0.3), 20, 10), k = 2)
#' summary(fit)
#' @export
summary.multicause <- function(object, ...) {
  check_dots(...)
  d <- object$dims
  structure(
    list(
      screen = fit_screen(object), details = detail_sentences(object),
      criteria = fit_criteria(object), no_criteria = why_no_criteria(object), no_bic = why_no_bic(object),
      criteria_note = criteria_note(object),
      starts = summarise_starts(object$starts), n_missing = d[["n"]] * d[["m"]] - d[["observed"]], seed = object$seed
    ),
    class = "summary.multicause"
  )
}

fit_criteria <- function(fit) {
  counted <- is.null(why_no_criteria(fit)) && is.null(why_no_bic(fit))
  c(
    loglik = fit$loglik, df = fit$df, AIC = if (counted) stats::AIC(fit) else NA_real_,
    BIC = if (counted) stats::BIC(fit) else NA_real_
  )
}

# Returns the reason why AIC and BIC have no meaning for a fit; NULL if they have.
why_no_criteria <- function(fit) {
  if (!has_likelihood(fit)) {
    "it was not maximised"
  } else if (fit$dims[["observed"]] == 0) {
    "no cell is known"
  }
}

# Explains AIC and BIC for parameters that count as free although they are shrunk; NULL if none are.
criteria_note <- function(fit) {
  if (is.null(why_no_criteria(fit)) && !is_maximum_likelihood(fit)) {
    by <- held_back_by[[names(fit$objective)]]
    paste0(
      "AIC and BIC count every parameter as free, although the ", by, if (grepl(" and ", by)) " hold" else " holds",
      " them back, and so are too hard on this fit: compare them among fits with the same ", by, "."
    )
  }
}

print_criteria <- function(x, digits) {
  shown <- vapply(x$criteria, format, "", digits = max(digits, 7L))
  if (is.null(x$no_criteria)) {
    counted <- is.null(x$no_bic)
    write_sentences(c("", sprintf(
      "Log-likelihood %s%s with %s parameters%s", if (is.null(x$criteria_note)) "" else "at the estimate ",
      shown[["loglik"]], shown[["df"]], if (counted) sprintf("; AIC %s, BIC %s", shown[["AIC"]], shown[["BIC"]]) else ""
    )))
    if (!counted) {
      write_sentences(sprintf("%s: select_k() compares fits by held-out cells, not by AIC.", capital(x$no_bic)))
    } else if (!is.null(x$criteria_note)) {
      writeLines(wrap_text(x$criteria_note, exdent = 2L))
    }
  } else if (!is.na(x$criteria[["loglik"]])) {
    write_sentences(c(
      "", sprintf("Log-likelihood at the estimate %s; no AIC or BIC, as %s", shown[["loglik"]], x$no_criteria)
    ))
  }
}

#' @export
print.summary.multicause <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print_screen(x$screen, Inf)
  unknown <- paste(count_words(x$n_missing, "cell"), "unknown")
  if (x$n_missing > 0 && !any(startsWith(as.character(x$details), unknown))) writeLines(unknown)
  write_sentences(x$details)
  print_criteria(x, digits)
  print_starts(x$starts, digits)
  invisible(x)
}

print_starts <- function(starts, digits) {
  write_sentences(c(
    "", "Starts of each kind: how many, how many were run to the end, how many came near the best"
  ))
  print.data.frame(starts, row.names = FALSE, digits = max(digits, 7L))
}

# New data as a matrix whose columns are those of the fit. Documents list the words that they have.
new_rows <- function(fit, newdata, name = "newdata") {
  listed <- is_of_documents(fit) || inherits(newdata, c("simple_triplet_matrix", "dfm")) || is_triplets(newdata)
  newdata <- as_plain_matrix(newdata, name)
  check_dimnames(newdata, name)
  match_columns(newdata, fit$names[[2L]], fit$dims[["m"]], name, listed)
}

stop_lacks <- function(fit, generic, instead) {
  if (generic == "confint" && can_sample(fit)) {
    instead <- sub("[.]$", "; or fit with `estimate = \"gibbs\"`, whose draws have intervals.", instead)
  }
  stop_input("%s() is not there for a fit of %s(): %s", generic, model_name(fit), instead)
}

# Tests whether the fit's model could also be sampled as it was called.
can_sample <- function(fit) {
  model <- get0(model_name(fit), topenv(), mode = "function")
  inherits(fit, "multicause") && is.null(fit$smooth) && !is_sampled(fit) && !is.null(model) &&
    "gibbs" %in% eval(formals(model)$estimate)
}
