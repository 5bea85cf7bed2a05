# The base class: constructor, validation and the methods that serve every model.

new_multicause <- function(param, objective, loglik, df, dims, trace, starts, converged, control, call,
                           x = NULL, ..., class) {
  stopifnot(is.list(param), is.numeric(objective), is.data.frame(trace), is.data.frame(starts), is.integer(dims))
  structure(
    list(
      param = param, objective = objective, loglik = loglik, df = df, dims = dims, trace = trace,
      starts = starts, converged = converged, control = control, call = call, x = x, ...
    ),
    class = c(class, "multicause")
  )
}

# Components are named A1, A2, ... in every result.
component_names <- function(k) sprintf("A%d", seq_len(k))

model_title <- function(fit) UseMethod("model_title")

#' @export
model_title.default <- function(fit) class(fit)[1L]

#' @export
print.multicause <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  d <- x$dims
  cat(sprintf(
    "%s: %d observations x %d attributes, %d component%s\n", model_title(x), d[["n"]], d[["m"]], d[["k"]],
    if (d[["k"]] == 1L) "" else "s"
  ))
  finished <- sum(x$starts$finished)
  cat(sprintf(
    "%s after %d passes (%s), %s %s\n", if (x$converged) "Converged" else "NOT converged", nrow(x$trace),
    if (nrow(x$starts) == 1L) "one start" else sprintf("best of %d starts, %d finished", nrow(x$starts), finished),
    objective_words(x), format(unname(x$objective), digits = digits)
  ))
  invisible(x)
}

# "smoothed_log_posterior" as people write it.
objective_words <- function(fit) gsub("_", " ", sub("log_", "log-", names(fit$objective), fixed = TRUE), fixed = TRUE)

#' @export
coef.multicause <- function(object, ...) {
  check_dots(...)
  object$param
}

#' @export
nobs.multicause <- function(object, ...) object$dims[["observed"]]

#' @export
logLik.multicause <- function(object, ...) {
  if (!identical(names(object$objective), "log_likelihood")) {
    is_loss <- names(object$objective) == "minus_loss"
    stop_input(
      "This fit %s, not its likelihood, so logLik(), AIC() and BIC() have no meaning for it%s.",
      if (is_loss) "minimised its loss" else paste("maximised its", objective_words(object)),
      if (is.na(object$loglik)) "" else "; `fit$loglik` holds the log-likelihood at the estimate"
    )
  }
  structure(object$loglik, df = object$df, nobs = nobs(object), class = "logLik")
}

#' @export
residuals.multicause <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  type <- check_choice(type, "type", c("response", "pearson", "deviance"))
  check_dots(...)
  object$x <- fit_data(object, x)
  mean <- fitted(object)
  x <- dense_rows(object$x, seq_len(object$dims[["n"]]))
  dimnames(x) <- dimnames(mean)
  residual_matrix(object, x, mean, type)
}

# Residuals of a model whose cells are Bernoulli; other families have their own.
residual_matrix <- function(fit, x, mean, type) UseMethod("residual_matrix")

#' @export
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
  fit$x
}

# Data that a user says are those of the fit, in its order: of its shape, names and kind of values, and as many of them.
check_own_data <- function(fit, x) {
  if (inherits(fit, "plca")) {
    data <- match_cells(check_cells(x), fit, "x", seq_along(fit$extent))
    x <- array(cell_array(data), fit$extent, name_sides(stats::setNames(fit$names, fit$labels)))
    observed <- sum(!is.na(x))
  } else {
    data <- check_data(match_data(as_plain_matrix(x, "x"), fit), data_kind(fit), quiet = TRUE)
    x <- data$x
    observed <- sum(data$margins$row_observed)
  }
  if (observed != nobs(fit)) {
    stop_input(
      "`x` must be the data of the fit, which have %.0f observed cells: here are %.0f.", nobs(fit), observed
    )
  }
  x
}

# The kind of values a fit is to, as check_data() wants it.
data_kind <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    return(data_kind(fit$fits[[1L]]))
  }
  if (inherits(fit, "bmf")) {
    return(bmf_data_kind(fit$family))
  }
  if (inherits(fit, c("nmf", "plsa"))) "nonnegative" else "binary"
}

# The parts of a fit that every model fills in the same way from a run of its starts.
assemble_fit <- function(run, data, k, objective, control, call, ...) {
  outcome <- run$best$outcome
  converged <- outcome$status == "converged"
  if (!converged && control$max_pass > 0L && control$tol > 0) {
    warning(warningCondition(
      sprintf("Not converged after %d passes: raise `max_pass` in fit_control() for a firmer answer.", outcome$n_pass),
      class = "multicause_not_converged", call = NULL
    ))
  }
  new_multicause(
    objective = stats::setNames(outcome$objective, objective),
    dims = if (is.null(data$dims)) {
      c(n = nrow(data$x), m = ncol(data$x), k = k, observed = as.integer(sum(data$margins$row_observed)))
    } else {
      data$dims
    },
    trace = trace_frame(outcome), starts = run$starts, converged = converged, control = control, call = call,
    x = if (control$keep_x) data$x, names = if (is.null(data$names)) dimnames_of(data$x) else data$names,
    start_params = run$params,
    start_traces = run$traces, ...
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

#' @export
update.multicause <- function(object, ..., evaluate = TRUE) {
  call <- object$call
  extra <- as.list(match.call(expand.dots = FALSE)$...)
  for (name in names(extra)) call[[name]] <- extra[[name]]
  if (!evaluate) {
    return(call)
  }
  # The data and settings the fit was made from may be gone or changed where update() is called.
  known <- list(
    x = if (is.null(object$visits)) object$x, visits = object$visits, control = object$control, k = object$dims[["k"]]
  )
  for (name in setdiff(names(known), names(extra))) if (!is.null(known[[name]])) call[[name]] <- known[[name]]
  eval(find_model(call, object, parent.frame()), parent.frame())
}

# The call with a function that is there: a fit may have been made under a name that is known elsewhere only.
find_model <- function(call, fit, where) {
  found <- tryCatch(is.function(eval(call[[1L]], where)), error = function(e) FALSE)
  if (!found) call[[1L]] <- call("::", quote(multicause), as.name(intersect(class(fit), model_names)[1L]))
  call
}

model_names <- c(
  "aspect_bernoulli", "bernoulli_mixture", "logistic_pca", "nmf", "plsa", "plca", "noisy_or", "bmf"
)
