# What a noisy-OR fit says of unknown cells, of new rows as a whole, and of its own sources.

#' @rdname impute
#' @param type of noisy_or(): `"probability"` of a 1 given the row's observed cells, or `"binary"`: 1 where that exceeds
#'   0.5.
#' @export
impute.noisy_or <- function(fit, newdata, ..., type = c("probability", "binary"), x = NULL) {
  check_dots(...)
  type <- check_choice(type, "type", c("probability", "binary"))
  x <- if (missing(newdata)) fit_data(fit, x) else new_rows(fit, newdata)
  out <- as.matrix(x) + 0
  unknown <- which(rowSums(is.na(out)) > 0)
  if (!length(unknown)) {
    return(out)
  }
  filled <- predict(fit, out[unknown, , drop = FALSE], "response")
  if (type == "binary") filled <- (filled > 0.5) + 0
  at <- is.na(out)
  out[unknown, ][at[unknown, ]] <- filled[at[unknown, ]]
  out
}

#' @rdname test_loglik
#' @param draws draws of a row's sources for importance sampling, at least 100; without use up to 16 sources.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @export
test_loglik.noisy_or <- function(fit, newdata, ..., floor = 1e-6, draws = 2000, seed = NULL) {
  check_dots(...)
  floor <- check_number(floor, "floor", 0, 0.5)
  draws <- check_count(draws, "draws", 100L)
  if (missing(newdata)) stop_input("`newdata` must be given: observations the model was not fitted to.")
  data <- check_newdata(fit, newdata, "binary")
  param <- nor_floored(fit, floor)
  k <- fit$dims[["k"]]
  effective <- NULL
  if (k <= nor_most_exact) {
    value <- nor_report(list(view = data$view), param, fit$model, "loglik", "exact")$loglik
  } else {
    sampled <- nor_sample(param, data, fit$model, draws, seed)
    value <- sampled$loglik
    effective <- sampled$effective
  }
  bare <- data$margins$row_observed == 0
  value[bare] <- NA
  if (any(bare)) inform("%d row(s) of `newdata` with nothing observed have no likelihood: NA.", sum(bare))
  tell_impossible(which(value == -Inf), data, "`newdata`")
  out <- structure(
    stats::setNames(value, rownames(data$x)),
    class = "test_loglik", floor = floor, total = sum(value[!bare]), mean = mean(value[!bare])
  )
  if (!is.null(effective)) attr(out, "effective") <- effective
  out
}

# For cross_validate(): see R/held_out.R.
#' @export
held_out_rows.noisy_or <- function(fit, newdata, floor) as.vector(test_loglik(fit, newdata, floor = floor))

#' @export
component_matrix.noisy_or <- function(fit) fit$param$links

# Links and leaks so near to 0 or 1 that a cell could become impossible: the leak is at least `floor`, and nothing more
# certain than 1 - floor.
nor_floored <- function(fit, floor) {
  param <- lapply(fit$param[c("prior", "links", "leak")], unname)
  param$leak <- pmin(pmax(param$leak, floor), 1 - floor)
  param$links <- pmin(param$links, 1 - floor)
  param
}

# Importance sampling from independent sources: their posterior probabilities, kept off 0 and 1.
nor_sample <- function(param, data, model, draws, seed) {
  proposal <- nor_report(list(view = data$view), param, model, "activation", "truncated")$activation
  proposal[is.na(proposal)] <- 0.5
  settings <- nor_settings(model)
  settings$inference <- 1L
  settings$proposal <- pmin(pmax(proposal, 0.02), 0.98)
  settings$n_draw <- draws
  if (!is.null(seed)) seed <- check_count(seed, "seed", -.Machine$integer.max)
  settings$seed <- if (is.null(seed)) draw_seeds(1L) else with_seed(seed, draw_seeds(1L))
  .Call(mc_c_nor_sample, data$view, nor_kernel_param(param), settings)
}

#' Sources of a noisy-OR fit, and which are in use
#'
#' One row per source: how often it is on, how strongly it acts, how many ones it writes, and whether it is in use at
#' all. Surplus sources are mostly shut off, so that the number in use is a guide to how many there are.
#'
#' @param fit a fit of [noisy_or()].
#' @param min_prior,min_link a source is in use when it is on with at least this probability and has a link at least
#'   this strong; from 0 to 1. Lower them for causes that are rare.
#' @param ... must be empty.
#' @return A data frame of class `noisy_or_sources` with `source` (name), `prior`, `on` (expected observations with the
#'   source on), `max_link`, `ones` (expected number of ones its links write), `top` (its three strongest attributes)
#'   and `in_use`.
#' @inherit noisy_or references
#' @examples
#' set.seed(1)
#' sources(noisy_or(matrix(rbinom(400, 1, 0.3), 40, 10), k = 3))
#' @export
sources <- function(fit, min_prior = 0.02, min_link = 0.2, ...) {
  check_dots(...)
  check_fit(fit, "noisy_or")
  min_prior <- check_number(min_prior, "min_prior", 0, 1)
  min_link <- check_number(min_link, "min_link", 0, 1)
  links <- fit$param$links
  attributes <- if (is.null(colnames(links))) seq_len(ncol(links)) else colnames(links)
  on <- colSums(fit$param$activation)
  strongest <- apply(links, 1L, max)
  top <- apply(links, 1L, function(p) paste(attributes[utils::head(order(-p), 3L)], collapse = ", "))
  out <- data.frame(
    source = names(fit$param$prior), prior = unname(fit$param$prior), on = unname(on), max_link = unname(strongest),
    ones = unname(on * rowSums(links)), top = unname(top),
    in_use = unname(fit$param$prior >= min_prior & strongest >= min_link)
  )
  structure(out, class = c("noisy_or_sources", "data.frame"))
}

#' @export
print.noisy_or_sources <- function(x, digits = 3L, ...) {
  print.data.frame(x, digits = digits, row.names = FALSE)
  invisible(x)
}
