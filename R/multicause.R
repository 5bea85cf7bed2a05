# The base class: constructor, validation and the methods that serve every model.

new_multicause <- function(param, objective, loglik, df, dims, trace, starts, converged, control, call,
                           x = NULL, ..., class) {
  stopifnot(is.list(param), is.numeric(objective), is.data.frame(trace), is.data.frame(starts), is.numeric(dims))
  # A table may have more than 2^31 cells: with integers their number, and products of these, would be NA.
  storage.mode(dims) <- "double"
  structure(
    list(
      param = param, objective = objective, loglik = loglik, df = df, dims = dims, trace = trace,
      starts = starts, converged = converged, control = control, call = call, x = x, ...
    ),
    class = c(class, "multicause")
  )
}

# Has a matrix the shape that these of the fit's `dims` say?
has_dims <- function(x, fit, which) identical(as.double(dim(x)), as.double(fit$dims[which]))

# Components are named A1, A2, ... in every result.
component_names <- function(k) sprintf("A%d", seq_len(k))

# What print() and titles call a model. This and the generics like it are what a model says of itself to code that
# serves them all; CONTRIBUTING.md lists them.
model_title <- function(fit) UseMethod("model_title")

model_title.default <- function(fit) class(fit)[1L]

#' @export
print.multicause <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  write_sentences(c(found_sentences(x, digits), known_by(x), fit_sentences(x, digits)))
  invisible(x)
}

# What a fit says first, in plain words: what it found.
found_sentences <- function(fit, digits = 4L) UseMethod("found_sentences")

found_sentences.default <- function(fit, digits = 4L) NULL

# Which model it is, of what, and how it was found.
fit_sentences <- function(fit, digits = 4L) UseMethod("fit_sentences")

fit_sentences.default <- function(fit, digits = 4L) {
  guesses <- nrow(fit$starts)
  title <- sprintf("%s: %s", model_title(fit), shape_words(fit))
  if (is.na(fit$converged)) { # of posterior_draws(): a state of a chain, which is alone
    return(c(title, sprintf("One draw from the posterior; log-likelihood %s", format(fit$loglik, digits = digits))))
  }
  c(
    title,
    sprintf(
      "%s after %s over the table (%s), %s",
      if (fit$converged) "Converged" else "NOT converged", count_words(count_passes(fit), "pass"),
      if (guesses == 1L) "from one first guess" else
        sprintf("best of %d first guesses, %d finished", guesses, sum(fit$starts$finished)),
      reached_words(fit, digits)
    )
  )
}

# "smoothed_log_posterior" as people write it.
# What was climbed, or come down, and where to.
reached_words <- function(fit, digits) {
  value <- unname(fit$objective)
  if (names(fit$objective) == "minus_loss") {
    return(sprintf("loss %s; lower is better", format(-value, digits = digits)))
  }
  sprintf("%s %s; higher is better", objective_words(fit), format(value, digits = digits))
}

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

# Known cells; models whose sites are draws of their own count those.
#' @export
nobs.multicause <- function(object, ...) known_cells(object)

known_cells <- function(fit) fit$dims[["observed"]]

# Sites with a known cell; of fits from before, which have no note of them, all.
known_sites <- function(fit) as.double(fit$informative_sites %||% fit$dims[["n"]])

# Why BIC() has no meaning for a fit that maximised a likelihood or a posterior, as a clause; NULL where it has, because
# the number of parameters does not grow with that of the observations.
why_no_bic <- function(fit) UseMethod("why_no_bic")

why_no_bic.default <- function(fit) {
  "every site has parameters of its own, such as memberships, and so their number grows with the table"
}

# R's own would count cells as independent observations of all models.
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

# The log-likelihood at a maximum: of itself, or of a posterior or penalised likelihood, as of penalised fits elsewhere.
#' @export
logLik.multicause <- function(object, ...) {
  if (!has_likelihood(object)) {
    stop_input(
      "This fit %s, not its likelihood, so logLik(), AIC() and BIC() have no meaning for it%s.", what_it_did(object),
      if (is.na(object$loglik)) "" else "; `fit$loglik` holds the log-likelihood at the estimate"
    )
  }
  # Without a number of observations R makes no BIC of it, nor compares it with that of other models.
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

# Objectives that are the log-likelihood and a term that holds parameters back, with what does so.
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

# Residuals of a model whose cells are Bernoulli; other families have their own.
residual_matrix <- function(fit, x, mean, type) UseMethod("residual_matrix")

residual_matrix.default <- function(fit, x, mean, type) {
  switch(type,
    response = x - mean,
    pearson = ifelse(x == mean, 0, (x - mean) / sqrt(mean * (1 - mean))),
    deviance = ifelse(x == 1, 1, -1) * sqrt(-2 * log(ifelse(x == 1, mean, 1 - mean)))
  )
}

# The data of a fit, or those given in their place.
fit_data <- function(fit, x = NULL) {
  if (!is.null(x)) {
    return(check_own_data(fit, x))
  }
  if (is.null(fit$x)) {
    stop_input("This fit was made with `keep_x = FALSE`: give the data as `x`.")
  }
  if (isS4(fit$x)) loadNamespace("Matrix") # R would attach it, of a fit that was read from a file
  kind <- data_kind(fit) # they may have been changed since
  if (!is.null(kind)) check_data(fit$x, kind, "fit$x", quiet = TRUE)
  check_valid(fit$x, "fit$x")
}

# The kind of values a fit is to, as check_data() wants it; NULL: they are checked as they are read.
data_kind <- function(fit) UseMethod("data_kind")

data_kind.default <- function(fit) "binary"

# Data that a user says are those of the fit, in its order: of its shape, names and kind of values, and as many of them.
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

# list(x, observed): the data in the form and order of the fit's, and the number of observed cells.
own_data <- function(fit, x) UseMethod("own_data")

own_data.default <- function(fit, x) {
  data <- check_data(match_data(as_plain_matrix(x, "x"), fit), data_kind(fit), quiet = TRUE)
  list(x = data$x, observed = sum(data$margins$row_observed))
}

# The parts of a fit that every model fills in the same way from a run of its starts.
assemble_fit <- function(run, data, k, objective, control, call, ...) {
  outcome <- run$best$outcome
  converged <- outcome$status == "converged"
  if (!converged && control$max_pass > 0L && control$tol > 0) {
    warn_not_converged(outcome, advice = ": raise `max_pass` in fit_control() for a firmer answer")
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

# Arguments given by name of a variable, replaced by their values: update() may be called where it is gone.
keep_values <- function(call, values) {
  # A start that is a fit, whose chains go on, would grow the fit by all fits before it.
  if (inherits(values$start, "multicause")) values$start <- NULL
  given <- intersect(names(values), names(call))
  call[given] <- values[given]
  call
}

# A call without arguments that were given as NULL: what stands for it depends on others, which update() may change.
drop_nulls <- function(call, values) {
  call[names(Filter(is.null, values))] <- NULL
  call
}

#' @export
update.multicause <- function(object, ..., evaluate = TRUE) {
  evaluate <- check_flag(evaluate, "evaluate")
  changes <- named_changes(match.call(expand.dots = FALSE)$...)
  # The data and settings the fit was made from may be gone or changed where update() is called.
  known <- list(x = if (is.null(object$visits)) object$x else object$visits, control = object$control)
  if ("k" %in% names(object$call)) known$k <- object$dims[["k"]]
  updated_call(object, changes, known, evaluate, parent.frame())
}

# The call of a fit with changes, a list by name, evaluated, with what is `known` of the rest.
updated_call <- function(object, changes, known, evaluate, where) {
  call <- object$call
  for (name in names(changes)) call[[name]] <- changes[[name]]
  if (!evaluate) {
    return(call)
  }
  # Settings that were left to the model are left to it again: another estimate may have others.
  if (is.null(object$call$control)) known$control <- NULL
  for (name in setdiff(names(known), names(changes))) if (!is.null(known[[name]])) call[[name]] <- known[[name]]
  eval(find_model(call, object, where), where)
}

# What update() is to change, by name: a formula would be evaluated as some other argument.
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

# The call with a function that is there: a fit may have been made under a name that is known elsewhere only.
find_model <- function(call, fit, where) {
  found <- catch_error(is.function(eval(call[[1L]], where)), function(e) FALSE)
  if (!found) call[[1L]] <- call("::", quote(multicause), as.name(model_name(fit)))
  call
}

# What serves every model: new data, simulation, summary, plot, and the few generics by which the tools for choosing and
# comparing models see a fit.

# Whether new rows are documents, which list the words that they have.
is_of_documents <- function(fit) UseMethod("is_of_documents")

is_of_documents.default <- function(fit) FALSE

# New rows, their columns matched to the training attributes: as check_data() gives it.
check_newdata <- function(fit, newdata, kind) {
  check_data(new_rows(fit, newdata), kind, "newdata", quiet = TRUE)
}

# A prediction, or a list of them, with its taxa in the order in which the new data have them: kernels have the fit's.
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
    # Arrays of counts have names on every side, visits theirs in any order: the side that has all of these.
    holds <- Filter(function(names) !is.null(label) && all(label %in% names), sides)
    at <- if (length(holds)) match(intersect(holds[[1L]], label), label)
    if (is.unsorted(at)) out <- take_side(out, side, at)
  }
  out
}

# An answer for these rows as they were asked for, some perhaps more than once.
as_asked <- function(out, rows, asked) if (identical(rows, asked)) out else take_side(out, 1L, match(asked, rows))

# Some of the rows, columns or other levels of an array, which keeps its attributes.
take_side <- function(x, side, at) {
  index <- rep(list(TRUE), length(dim(x)))
  index[[side]] <- at
  out <- do.call(`[`, c(list(x), index, drop = FALSE))
  others <- setdiff(names(attributes(x)), c("dim", "dimnames"))
  attributes(out)[others] <- attributes(x)[others]
  out
}

# nsim data sets from draw(), with the names of the fit's data, as stats::simulate() asks.
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

# A number of tables to draw that fit into memory, of so many cells each.
check_nsim <- function(nsim, n_cell) {
  nsim <- check_count(nsim, "nsim")
  refuse_large(nsim * n_cell / 2, "The result", "draw fewer tables at a time")
  nsim
}

# One draw of a multinomial distribution. Totals that are no integers of R's are shared out to parts of the cells first.
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
#' What every model has to say of itself; [aspect_bernoulli()] has its own, [summary.aspect_bernoulli()].
#'
#' @details
#' **Random numbers.** `fit$seed` holds the state of R's generator before the starts were drawn, as the attribute `seed`
#' of [stats::simulate()] does: after `assign(".Random.seed", fit$seed, globalenv())`, `update(fit)` gives the same fit
#' again. (A prior that held-out cells chose is part of the call by then. Bandwidths of `smooth` that they chose are
#' not: give `smooth = fit$smooth`.) It is `NULL` where `start` was given: nothing is drawn then.
#'
#' @param object a fit of any model of this package.
#' @param ... must be empty.
#' @return A list of class `summary.multicause` with `title`, `criteria` (`loglik`, `df`, `AIC`, `BIC`, in nats; `NA`
#'   where they have no meaning, and `no_criteria`, or `no_bic`, gives the reason; `criteria_note` explains them
#'   where a prior, a penalty or neighbours hold parameters back), `starts` (by kind of start: number, finished, reached
#'   the best, best objective), `n_missing`, the number of unknown cells, and `seed`, `fit$seed`.
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
      title = c(found_sentences(object), known_by(object), fit_sentences(object)),
      criteria = fit_criteria(object), no_criteria = why_no_criteria(object), no_bic = why_no_bic(object),
      criteria_note = criteria_note(object),
      starts = summarise_starts(object$starts), n_missing = d[["n"]] * d[["m"]] - d[["observed"]], seed = object$seed
    ),
    class = "summary.multicause"
  )
}

fit_criteria <- function(fit) {
  likely <- is.null(why_no_criteria(fit))
  c(
    loglik = fit$loglik, df = fit$df, AIC = if (likely) stats::AIC(fit) else NA_real_,
    BIC = if (likely && is.null(why_no_bic(fit))) stats::BIC(fit) else NA_real_
  )
}

# Why AIC and BIC have no meaning for a fit: NULL where they have.
why_no_criteria <- function(fit) {
  if (!has_likelihood(fit)) {
    "it was not maximised"
  } else if (fit$dims[["observed"]] == 0) {
    "no cell is known"
  }
}

# What AIC and BIC mean where something holds the parameters back that they count as free: NULL where nothing does.
criteria_note <- function(fit) {
  if (is.null(why_no_criteria(fit)) && !is_maximum_likelihood(fit)) {
    by <- held_back_by[[names(fit$objective)]]
    both <- is.null(why_no_bic(fit))
    sprintf(
      "%s every parameter as free, although the %s %s them back, and so %s: compare them among fits with the same %s.",
      if (both) "AIC and BIC count" else "AIC counts", by, if (grepl(" and ", by)) "hold" else "holds",
      if (both) "are too hard on this fit" else "is too hard on such fits", by
    )
  }
}

print_criteria <- function(x, digits) {
  shown <- vapply(x$criteria, format, "", digits = max(digits, 7L))
  if (is.null(x$no_criteria)) {
    paper <- if ("AIC_paper" %in% names(shown)) paste("; the paper's -L + P, half of AIC,", shown[["AIC_paper"]])
    write_sentences(c("", sprintf(
      "Log-likelihood %s%s with %s parameters; AIC %s%s%s",
      if (is.null(x$criteria_note)) "" else "at the estimate ", shown[["loglik"]], shown[["df"]], shown[["AIC"]],
      if (is.null(x$no_bic)) paste0(", BIC ", shown[["BIC"]]) else "", paste0("", paper)
    )))
    if (!is.null(x$no_bic)) write_sentences(sprintf("No BIC: %s", x$no_bic))
    if (!is.null(x$criteria_note)) writeLines(wrap_text(x$criteria_note, exdent = 2L))
  } else if (!is.na(x$criteria[["loglik"]])) {
    write_sentences(c(
      "", sprintf("Log-likelihood at the estimate %s; no AIC or BIC, as %s", shown[["loglik"]], x$no_criteria)
    ))
  }
}

#' @export
print.summary.multicause <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  write_sentences(x$title)
  unknown <- paste(count_words(x$n_missing, "cell"), "unknown")
  if (x$n_missing > 0 && !any(startsWith(x$title, unknown))) writeLines(unknown)
  print_criteria(x, digits)
  print_starts(x$starts, digits)
  invisible(x)
}

print_starts <- function(starts, digits) {
  write_sentences(c(
    "", "Starts: first guesses of each kind, how many were run to the end, and how many came near the best"
  ))
  print.data.frame(starts, row.names = FALSE, digits = max(digits, 7L))
}

# What the numbers of component_matrix() are, for the legend of their picture.
component_scale <- function(fit) UseMethod("component_scale")

component_scale.default <- function(fit) {
  total <- rowSums(component_matrix(fit))
  if (all(abs(total - 1) < 1e-6 | total == 0)) "share of the component" else "weight"
}

# New data as a matrix whose columns are those of the fit. Documents list the words that they have.
new_rows <- function(fit, newdata) {
  listed <- is_of_documents(fit) || inherits(newdata, c("simple_triplet_matrix", "dfm")) || is_triplets(newdata)
  newdata <- as_plain_matrix(newdata, "newdata")
  check_dimnames(newdata, "newdata")
  match_columns(newdata, fit$names[[2L]], fit$dims[["m"]], "newdata", listed)
}

stop_lacks <- function(fit, generic, instead) {
  stop_input("%s() is not there for a fit of %s(): %s", generic, model_name(fit), instead)
}
