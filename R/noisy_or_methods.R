# What users do with a noisy-OR fit through R's own generics.

#' @export
model_title.noisy_or <- function(fit) sprintf("Noisy-OR component analysis (%s inference)", fit$inference)

#' @export
print.noisy_or <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  NextMethod()
  writeLines(source_sentences(x))
  invisible(x)
}

#' @export
summary.noisy_or <- function(object, ...) {
  out <- NextMethod()
  out$sources <- object$sources
  out$sentences <- source_sentences(object)
  class(out) <- c("summary.noisy_or", class(out))
  out
}

#' @export
print.summary.noisy_or <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  NextMethod()
  cat("\nSources\n")
  print(x$sources)
  writeLines(x$sentences)
  invisible(x)
}

source_sentences <- function(fit) {
  used <- sum(fit$sources$in_use)
  idle <- fit$sources$source[!fit$sources$in_use]
  absorbed <- fit$absorbed
  c(
    sprintf(
      "%d of %d sources in use%s; %s are on in an observation on average.", used, nrow(fit$sources),
      if (length(idle)) sprintf(" (shut off: %s)", show_names(idle)) else "", format(sum(fit$param$prior), digits = 2L)
    ),
    if (absorbed) sprintf("%d source(s) that were always on are now part of the leak.", absorbed),
    sprintf(
      "The leak, at work in every observation, fired at %s %% of the ones.", format(100 * leak_share(fit), digits = 2L)
    )
  )
}

# At how many of the ones the leak fired: at a maximum, leak times observed cells is that number.
leak_share <- function(fit) {
  ones <- sum(fit$margins$column_sum)
  if (ones == 0) 0 else sum(fit$param$leak * fit$margins$column_observed) / ones
}

#' @rdname predict.noisy_or
#' @export
fitted.noisy_or <- function(object, ...) {
  check_dots(...)
  predict(object, type = "response")
}

#' Predictions, and data simulated, from a noisy-OR fit
#'
#' Which sources are on in an observation, what they lead one to expect in each cell, and what explains each 1.
#'
#' @details
#' `"cell"` is the answer to "why is this taxon here?": for every 1 the posterior probability that the link of each
#' source fired there, and that the leak did. Several may have fired at once, so that the probabilities of a cell sum to
#' at least 1. Nothing fires at a 0; an unknown cell is `NA`.
#'
#' Posteriors are exact or over the best states of a row, as the fit's inference is. A variational fit has a posterior
#' of independent sources for `"activation"` and `"map"`; its `"response"` and `"cell"` come from the exact posterior at
#' its parameters (up to 12 sources) or the truncated one.
#'
#' Rows that the model thinks impossible (a 1 that nothing can have written, or a 0 under a leak of 1) have no
#' posterior: they are `NA`, and a message names them.
#'
#' **Simulated tables** are complete, whatever was missing from the data: sources are drawn anew for every observation.
#'
#' @param object a fit of [noisy_or()].
#' @param newdata new observations, in any form [noisy_or()] takes; columns are matched by name, in any order, or by
#'   place where one side has no names. Missing: the data of the fit.
#' @param type `"activation"`: probability that each source is on; `"map"`: the likeliest set of sources, as 0/1;
#'   `"response"`: mean probability of a 1 in each cell, given the row's observed cells; `"cell"`: what explains each 1.
#' @param ... must be empty.
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused with that advice.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to go on with the session's random numbers, or a number for [set.seed()] that leaves them as they
#'   were.
#' @return `predict()`: a matrix rows x k (`"activation"`, `"map"`) or rows x m (`"response"`), or an array rows x m x
#'   (k + 1) (`"cell"`, the leak last), probabilities or 0/1, with names. `fitted()`: `"response"` for the data of the
#'   fit. `simulate()`: a list of `nsim` integer 0/1 matrices n x m with the names of the data, and as its attribute
#'   `seed` what [stats::simulate()] promises.
#' @seealso [impute()] for unknown cells, [test_loglik()] for the held-out likelihood.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(400, 1, 0.3), 40, 10, dimnames = list(NULL, letters[1:10]))
#' fit <- noisy_or(x, k = 2)
#' predict(fit, x[1:2, ])
#' predict(fit, x[1:2, ], type = "cell")[1, , ]
#' @export
predict.noisy_or <- function(object, newdata, type = c("activation", "map", "response", "cell"), ..., rows = NULL) {
  check_dots(...)
  type <- check_choice(type, "type", c("activation", "map", "response", "cell"))
  is_new <- !missing(newdata) && !is.null(newdata)
  x <- if (is_new) new_rows(object, newdata)
  names <- if (is_new) rownames(x) else object$names[[1L]]
  rows <- pick(rows, if (is_new) nrow(x) else object$dims[["n"]], names, "rows")
  k <- object$dims[["k"]]
  width <- c(activation = k, map = k, response = object$dims[["m"]], cell = object$dims[["m"]] * (k + 1))
  refuse_large(length(rows) * width[[type]], "The prediction", "take some observations at a time by `rows`")
  labels <- list(names[rows], object$names[[2L]], component_names(k))
  if (type == "activation" && !is_new) {
    return(object$param$activation[rows, , drop = FALSE])
  }
  if (!is_new) x <- nor_own_data(object)
  data <- check_data(x[rows, , drop = FALSE], "binary", "newdata", quiet = TRUE)
  out <- nor_posterior(object, data, type)
  tell_impossible(out$impossible, data, if (is_new) "`newdata`" else "the data")
  value <- out$value
  if (type == "cell") value[rep(is.na(dense_rows(data$x, seq_along(rows))), k + 1L)] <- NA
  dimnames(value) <- switch(type,
    response = name_sides(labels[1:2]), cell = list(labels[[1L]], labels[[2L]], c(labels[[3L]], "leak")),
    labels[c(1L, 3L)]
  )
  value
}

nor_own_data <- function(fit) {
  if (is.null(fit$x)) stop_input("This fit was made with `keep_x = FALSE`: give the data as `newdata`.")
  fit$x
}

# A part of the posterior of rows: list(value, impossible).
nor_posterior <- function(fit, data, type) {
  param <- lapply(fit$param, unname)
  if (fit$inference == "variational" && type %in% c("activation", "map")) {
    value <- nor_variational_activation(param, data, fit$model)
    return(list(value = if (type == "map") (value > 0.5) + 0 else value, impossible = integer()))
  }
  out <- nor_report(list(view = data$view), param, fit$model, c("loglik", type))
  list(value = out[[type]], impossible = which(out$loglik == -Inf))
}

# Activations under the bound, whose q is found for the rows at hand; parameters are held.
nor_variational_activation <- function(param, data, model) {
  settings <- nor_settings(model, fixed = TRUE)
  param$q <- nor_posterior_q(param, data, model)
  param$hidden <- nor_hidden_q(param)
  control <- fit_control(n_start = 1, max_pass = 500, tol = 1e-10, accelerate = FALSE)
  out <- .Call(mc_c_nor_fit, data$view, nor_kernel_param(param), settings, unclass(control))
  check_outcome(out$outcome)
  out$activation
}

tell_impossible <- function(rows, data, what) {
  if (!length(rows)) {
    return(invisible())
  }
  names <- if (is.null(rownames(data$x))) as.character(rows) else rownames(data$x)[rows]
  inform(
    "%d row(s) of %s are impossible under the model and have no posterior: %s.", length(rows), what, show_names(names)
  )
}

#' @rdname predict.noisy_or
#' @export
simulate.noisy_or <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  n <- object$dims[["n"]]
  k <- object$dims[["k"]]
  # A link of exact 1 leaves nothing: its logarithm stays finite so that 0 times it is 0.
  off <- pmax(log1p(-unname(object$param$links)), -1e6)
  leak <- unname(object$param$leak)
  simulate_with(object, nsim, seed, function() {
    on <- matrix(stats::rbinom(n * k, 1L, rep(object$param$prior, each = n)), n)
    random_bernoulli(1 - exp(on %*% off) * rep(1 - leak, each = n))
  })
}
