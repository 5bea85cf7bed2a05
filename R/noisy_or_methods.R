# R's own generics for noisy-OR fits.

model_title.noisy_or <- function(fit) "Noisy-OR component analysis"

estimator_words.noisy_or <- function(fit) {
  if (fit$estimate == "gibbs") { # of posterior_draws()
    return(NULL)
  }
  sprintf("%s, %s", c(ml = "maximum likelihood", map = "MAP")[[fit$estimate]], fit$inference)
}

# Sites are draws from the model: sources, and the probability that a site records, are summed out.
#' @export
nobs.noisy_or <- function(object, ...) known_sites(object)

why_no_bic.noisy_or <- function(fit) NULL

#' @export
summary.noisy_or <- function(object, ...) {
  out <- NextMethod()
  out$sources <- object$sources
  class(out) <- c("summary.noisy_or", class(out))
  out
}

#' @export
print.summary.noisy_or <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  NextMethod()
  cat("\n")
  print(x$sources)
  invisible(x)
}

# On: the probability that it is at work in a site. Presences: the share of them that it made; several may have.
component_facts.noisy_or <- function(fit) {
  sources <- fit$sources
  leak <- leak_share(fit)
  ones <- sum(fit$margins$column_sum, fit$missed)
  percent <- function(share) sprintf("%.0f %%", 100 * share)
  facts <- list(
    component = c(sources$source, "leak"), `on in` = percent(c(sources$prior, 1)),
    presences = percent(c(sources$ones / max(ones, 1), leak)),
    role = c(ifelse(sources$in_use, "in use", "shut off"), "always on")
  )
  names(facts)[3L] <- "makes"
  facts
}

found_sentences.noisy_or <- function(fit, digits = 4L) {
  if (!is.null(fit$missed_by)) {
    return(recorded_sentences(fit))
  }
  sprintf(
    "Components on per %s: %s on average.", singular_word(axis_words(fit)[1L]),
    format(sum(fit$param$prior), digits = 2L)
  )
}

detail_sentences.noisy_or <- function(fit, digits = 4L) {
  words <- axis_words(fit)
  c(
    sprintf("on in: share of %s where the component is on; makes: share of presences that it explains.", words[1L]),
    sprintf("leak: presences of %s that need no component. A presence may have several causes.", words[2L]),
    if (fit$absorbed) {
      sprintf("Always on, and therefore part of the leak: %s.", count_words(fit$absorbed, "component"))
    },
    if (!is.null(fit$known)) {
      sprintf("Supplied: which components are on, %d of %.0f.", sum(!is.na(fit$known)), length(fit$known))
    },
    if (!is.null(fit$effort)) recorded_effort_sentence(fit$effort), if (!is.null(fit$missed_by)) bound_sentences(fit)
  )
}

# Computes the share of the ones (and undetected presences) at which the leak fired: at a maximum, their number is leak
# times observed cells.
leak_share <- function(fit) {
  ones <- sum(fit$margins$column_sum, fit$missed)
  if (ones == 0) 0 else sum(fit$param$leak * fit$margins$column_observed) / ones
}

#' Predictions, and data simulated, from a noisy-OR fit
#'
#' Which components are on at each site, the probability of a presence in each cell, and what explains each presence.
#'
#' @details
#' `"cell"` is the answer to "why is this taxon here?": for every 1 the posterior probability that the link of each
#' component fired there, and that the leak did. Several may have fired at once, so that the probabilities of a cell sum
#' to at least 1. Nothing fires at a 0; an unknown cell is `NA`.
#'
#' Posteriors are exact or over the best states of a row, as the fit's inference is. A variational fit has a posterior
#' of independent components for `"activation"` and `"map"`; its `"response"` and `"cell"` come from the exact posterior
#' at its parameters (up to 12 components) or the truncated one, and so does all else where `activation` is given.
#'
#' **Known components.** `activation` supplies which components are known to be on or off, and all else is estimated
#' given these and the data. With all of them known, `"response"` is the probability given these alone.
#'
#' **Reconstruction** of a table from a set of components for each site: `sources = "mode"` takes the likeliest set
#' given the site, `"drawn"` draws one from the posterior, by R's random numbers, in place of the mean over all sets.
#' Singliar and Hauskrecht take each component that is on with a probability above one half: `activation = (predict(fit,
#' type = "activation") > 0.5) + 0`. They then draw the cells, each a one with the probability of the `"response"`.
#' `predict(fit, type = "activation", sources = "drawn")` gives the sets themselves.
#'
#' Rows that are impossible under the model (a 1 that nothing can have made, or a 0 under a leak of 1) have no
#' posterior: they are `NA`, and a message names them.
#'
#' **Repeated visits.** `"response"` is the probability that any of the visits made to the cell finds the taxon, or that
#' one visit would, where none was made and at new sites, whose `newdata` is a table.
#'
#' **Draws.** Results of a fit with `estimate = "gibbs"` are means over its draws: over all of them for the data's own
#' cells, over the kept ones for new sites, for `activation` and for `"cell"`. A simulated table is drawn from one of
#' the kept draws.
#'
#' **Simulated tables** are complete, whatever was missing from the data: components are drawn again for every
#' site; known ones stay. Of a fit to repeated visits they are arrays, `NA` where no visit was made.
#'
#' @param object a fit of [noisy_or()].
#' @param newdata new sites, in any form [noisy_or()] takes; columns are matched by name, in any order, or by
#'   place where one side has no names. `NULL`: the data of the fit.
#' @param type `"response"`: mean probability of a 1 in each cell, given the row's observed cells; `"activation"`:
#'   probability that each component is on; `"map"`: the likeliest set of components, as 0/1; `"cell"`: what explains
#'   each 1; `"present"`: probability that the taxon is there, given all cells of the row: 1 at a 1, and at a 0 the
#'   probability that it was missed (0 without `missed_by`).
#' @param ... must be empty.
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused: choose fewer rows.
#' @param activation what is known of the components: a matrix of the sites (of `newdata`, or of the data) x k of 1
#'   (on), 0 (off) and `NA` (not known), matched by names where it has them. `NULL`: nothing, or, for the data of the
#'   fit, what was given to [noisy_or()].
#' @param sources `"mean"`: over all sets of components, as the posterior weighs them; `"mode"`: the likeliest set of
#'   each site alone; `"drawn"`: one set of each site, drawn from the posterior.
#' @param level of a fit with `estimate = "gibbs"`, `NULL` or the probability of intervals of the `"response"` of the
#'   data's own cells, between 0 and 1: the result is then `list(mean, lower, upper)`.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @return `predict()`: a matrix rows x m (`"response"`, `"present"`) or rows x k (`"activation"`, `"map"`), or an array
#'   rows x m x (k + 1) (`"cell"`, the leak last), probabilities or 0/1, with names. `fitted()`: `"response"` for the
#'   data of the fit. `simulate()`: a list of `nsim` integer 0/1 matrices n x m (arrays, of visits) with the names of
#'   the data, and as its attribute `seed` what [stats::simulate()] promises.
#' @inherit noisy_or references
#' @seealso [impute()] for unknown cells, [test_loglik()] for the held-out likelihood.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(400, 1, 0.3), 40, 10, dimnames = list(NULL, letters[1:10]))
#' fit <- noisy_or(x, k = 2)
#' predict(fit, x[1:2, ], type = "activation")
#' predict(fit, x[1:2, ], type = "cell")[1, , ]
#' predict(fit, x[1:2, ], activation = rbind(c(1, NA), c(0, 0)))
#' rebuilt <- predict(fit, sources = "mode")
#' mean(abs(x - rebuilt)) # share of cells that differ, on average over draws of them
#' @export
predict.noisy_or <- function(object, newdata = NULL, type = c("response", "activation", "map", "cell", "present"),
                             ..., rows = NULL, activation = NULL, sources = c("mean", "mode", "drawn")) {
  check_dots(...)
  type <- check_choice(type, "type", c("response", "activation", "map", "cell", "present"))
  sources <- check_choice(sources, "sources", c("mean", "mode", "drawn"))
  if (type == "map" && sources == "drawn") stop_input("`sources` cannot be \"drawn\" where `type` is \"map\".")
  asked <- nor_asked_rows(object, newdata, rows)
  wanted <- asked$rows
  asked$rows <- unique(wanted)
  k <- object$dims[["k"]]
  m <- object$dims[["m"]]
  width <- c(activation = k, map = k, response = m, cell = m * (k + 1), present = m)
  refuse_large(length(wanted) * width[[type]], "The prediction", "take fewer rows at a time by `rows`")
  if (type == "activation" && sources == "mean" && is.null(activation) && is.null(newdata)) {
    return(object$param$activation[wanted, , drop = FALSE])
  }
  data <- nor_asked_data(object, asked, activation)
  out <- nor_predict_rows(object, data, type, sources)
  tell_impossible(out$impossible, data, if (is.null(newdata)) "the data" else "`newdata`")
  value <- out$value
  if (type == "cell") value[rep(is.na(dense_rows(data$x, seq_along(asked$rows))), k + 1L)] <- NA
  dimnames(value) <- nor_dimnames(type, list(asked$names[asked$rows], object$names[[2L]], component_names(k)))
  value <- as_asked(value, asked$rows, wanted)
  if (type %in% c("activation", "map")) value else in_given_order(value, newdata)
}

# Selects rows of the fit's own table (newdata = NULL) or of new ones.
nor_asked_rows <- function(fit, newdata, rows) {
  x <- if (!is.null(newdata)) new_rows(fit, newdata)
  names <- if (is.null(x)) fit$names[[1L]] else rownames(x)
  n <- if (is.null(x)) fit$dims[["n"]] else nrow(x)
  list(x = x, names = names, n = n, rows = pick(rows, n, names, "rows"))
}

# Returns those rows as data, with their known activations: as supplied, else those of the fit.
nor_asked_data <- function(fit, asked, activation) {
  k <- fit$dims[["k"]]
  known <- nor_check_known(activation, asked$names, component_names(k), asked$n, k)
  is_own <- is.null(asked$x)
  if (is_own && is.null(activation) && !is.null(fit$known)) known <- unname(t(fit$known))
  x <- if (is_own) nor_own_data(fit) else asked$x
  data <- check_data(x[asked$rows, , drop = FALSE], "binary", "newdata", quiet = TRUE)
  data$known <- known[, asked$rows, drop = FALSE]
  if (is_own) nor_with_search(data, fit, asked$rows) else data
}

# labels: of rows, columns and components.
nor_dimnames <- function(type, labels) {
  switch(type,
    response = , present = name_sides(labels[1:2]), cell = list(labels[[1L]], labels[[2L]], c(labels[[3L]], "leak")),
    labels[c(1L, 3L)]
  )
}

# Predicts like nor_posterior(), with the sources summed out or set to the most likely or to drawn ones.
nor_predict_rows <- function(fit, data, type, by) {
  if (by == "mean") {
    return(nor_posterior(fit, data, type))
  }
  out <- nor_posterior(fit, data, if (by == "mode") "map" else "drawn")
  if (type %in% c("activation", "map")) {
    return(out)
  }
  known <- t(out$value)
  if (!is.null(data$known)) known[is.na(known)] <- data$known[is.na(known)] # of impossible rows
  storage.mode(known) <- "integer"
  data$known <- known
  nor_posterior(fit, data, type)
}

nor_own_data <- function(fit) {
  if (is.null(fit$x)) stop_input("This fit was made with `keep_x = FALSE`: supply the data as `newdata`.")
  fit$x
}

# Computes a part of the posterior of rows: list(value, impossible).
nor_posterior <- function(fit, data, type) {
  param <- lapply(fit$param, unname)
  if (fit$inference == "variational" && type %in% c("activation", "map", "drawn") && is.null(data$known)) {
    value <- nor_variational_activation(param, data, fit$model)
    value <- switch(type, map = (value > 0.5) + 0, drawn = (stats::runif(length(value)) < value) + 0, value)
    return(list(value = value, impossible = integer()))
  }
  out <- nor_report(data, param, fit$model, c("loglik", if (type == "present") "response" else type))
  if (type == "present") out$present <- nor_presences(out, data)
  list(value = out[[type]], impossible = which(out$loglik == -Inf))
}

# Computes activations under the bound, whose q is optimised for these rows with the parameters fixed.
nor_variational_activation <- function(param, data, model) {
  settings <- nor_settings(model, data["effort"], fixed = TRUE)
  if (!is.null(data$effort)) param$coef <- model$coef
  param$hidden <- nor_hidden_posterior(param, data, model)
  control <- fit_control(n_start = 1, max_iter = 500, tol = 1e-10, accelerate = FALSE)
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
    "No posterior for %s of %s, impossible under the model: %s.", count_words(length(rows), "row"), what,
    show_names(names)
  )
}

#' @rdname predict.noisy_or
#' @export
simulate.noisy_or <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  simulate_with(object, nsim, seed, function() nor_draw_table(object))
}

# A table, or an array of visits, at the parameters of a fit.
nor_draw_table <- function(fit) {
  n <- fit$dims[["n"]]
  k <- fit$dims[["k"]]
  # A link of exact 1 leaves nothing: its logarithm stays finite so that 0 times it is 0.
  off <- pmax(log1p(-unname(fit$param$links)), -1e6)
  on <- matrix(stats::rbinom(n * k, 1L, rep(fit$param$prior, each = n)), n)
  if (!is.null(fit$known)) on[!is.na(fit$known)] <- fit$known[!is.na(fit$known)]
  there <- 1 - exp(on %*% off) * rep(1 - unname(fit$param$leak), each = n)
  if (is.null(fit$visits)) {
    return(random_bernoulli(draw_recorded(fit, n) * there))
  }
  draw_records(fit$visits, random_bernoulli(there) * draw_recorded(fit, n))
}

# Draws an array of visits with these probabilities of a presence, n x m, without visits that the data lack.
draw_records <- function(visits, probability) {
  found <- stats::rbinom(length(visits), 1L, rep(probability, dim(visits)[3L]))
  visits[] <- ifelse(is.na(visits), NA, found)
  visits
}

# Held-out cells, held-out rows and sources of noisy-OR fits.

#' @rdname impute
#' @param type of noisy_or(): `"probability"` of a 1 given the row's observed cells, or `"binary"`: 1 where that exceeds
#'   0.5.
#' @export
impute.noisy_or <- function(fit, newdata = NULL, ..., type = c("probability", "binary"), x = NULL) {
  check_dots(...)
  type <- check_choice(type, "type", c("probability", "binary"))
  out <- dense_copy(if (is.null(newdata)) fit_data(fit, x) else new_rows(fit, newdata))
  unknown <- which(rowSums(is.na(out)) > 0)
  if (!length(unknown)) {
    return(in_given_order(out, newdata))
  }
  known <- if (is.null(newdata)) fit$known[unknown, , drop = FALSE]
  filled <- if (is.null(newdata) && !is.null(fit$x)) {
    predict(fit, rows = unknown)
  } else {
    predict(fit, out[unknown, , drop = FALSE], activation = known)
  }
  if (type == "binary") filled <- (filled > 0.5) + 0
  at <- is.na(out)
  out[unknown, ][at[unknown, ]] <- filled[at[unknown, ]]
  in_given_order(out, newdata)
}

# All states of the sources are the components, exactly up to 16 sources; beyond, draws of them.
held_out_rows.noisy_or <- function(fit, data, floor, family, ..., nsim = 2000) {
  check_dots(...)
  nsim <- check_count(nsim, "nsim", 100L, most_tasks)
  param <- lapply(fit$param, unname)
  k <- fit$dims[["k"]]
  if (k > nor_most_exact) {
    if (!is.null(fit$missed_by)) {
      stop_no_likelihood("Rows have a likelihood with `missed_by` only where `k` is at most %d.", nor_most_exact)
    }
    sampled <- nor_sample(param, data, fit$model, nsim, floor)
    return(structure(sampled$loglik, effective = sampled$effective))
  }
  on <- function(rows) outer(rows - 1, 2^(seq_len(k) - 1), bitwAnd) > 0
  # A link of exactly 1 leaves no zero: its logarithm stays finite so that 0 times it is 0.
  off <- pmax(log1p(-param$links), -1e6)
  share <- if (is.null(param$recorded_share)) 1 else param$recorded_share
  probability <- if (is.null(param$recorded_share)) 1 else recorded_grid_probabilities()
  # A component is a state of the sources and a probability of recording.
  cells <- function(rows) {
    log_zero <- sweep(on((rows - 1L) %% 2^k + 1) %*% off, 2L, pmax(log1p(-param$leak), -1e6), "+")
    recorded <- recorded_probabilities(param, probability[(rows - 1L) %/% 2^k + 1])
    list(one = recorded * -expm1(log_zero), zero = 1 - recorded + recorded * exp(log_zero))
  }
  states <- on(seq_len(2^k))
  weight <- colSums(ifelse(t(states), log(param$prior), log1p(-param$prior)))
  mixture_loglik(data$view, cells, as.vector(outer(weight, log(share), "+")), floor)
}

component_matrix.noisy_or <- function(fit) fit$param$links

component_scale.noisy_or <- function(fit) "probability"

# Samples by importance from independent sources with their posterior probabilities, kept off 0 and 1.
nor_sample <- function(param, data, model, nsim, floor) {
  proposal <- nor_report(list(view = data$view), param, model, "activation", "truncated")$activation
  proposal[is.na(proposal)] <- 0.5
  settings <- nor_settings(model)
  settings$inference <- 1L
  settings$proposal <- pmin(pmax(proposal, 0.02), 0.98)
  settings$n_draw <- nsim
  settings$floor <- floor
  settings$seed <- draw_seeds(1L)
  .Call(mc_c_nor_sample, data$view, nor_kernel_param(param), settings)
}

#' Components of a noisy-OR fit, and which are in use
#'
#' One row per component: how often it is on, how strongly it acts, how many ones it makes, and whether it is in use at
#' all. Components beyond those needed mostly have a small probability or weak links, so the number in use is a guide to
#' `k`.
#'
#' @param fit a fit of [noisy_or()].
#' @param min_prior,min_link a component is in use when it is on with at least this probability and has a link at least
#'   this strong; from 0 to 1. Lower them for causes that are rare.
#' @param ... must be empty.
#' @return A data frame of class `noisy_or_sources` with `source` (name), `prior`, `on` (expected sites with the
#'   component on), `max_link`, `ones` (expected number of ones its links make), `top` (the three taxa of largest
#'   relevance, see [top_terms()]) and `in_use`.
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
  source_table(fit, min_prior, min_link)
}

#' @export
print.noisy_or_sources <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  if (print_as_frame(x, digits, numbers = "in_use", others = "source")) {
    return(invisible(x))
  }
  writeLines(wrap_text(sprintf(
    "Components of a noisy-OR model: %d of %d in use. Columns: ?sources.", sum(x$in_use), nrow(x)
  ), exdent = 2))
  print_rows(round_columns(x, digits))
  invisible(x)
}

part_sides.noisy_or <- function(fit, name, values) {
  switch(name,
    activation = c("site", "component"), links = c("component", "taxon"), leak = "taxon",
    prior = "component", recorded_site = "site", recorded_taxon = "taxon", recorded_share = "probability", NextMethod()
  )
}

#' Plot a noisy-OR fit
#'
#' @description
#' Figures of a fit: `plot()` draws them, `autoplot()` gives them as ggplot2 objects.
#'
#' @details
#' \describe{
#'   \item{`"links"`}{a heat map of the links, taxa seriated by their strongest component, the leak last.}
#'   \item{`"images"`}{every component, and the leak, as a picture, where the taxa are the pixels of a grid of
#'     `dim`.}
#'   \item{`"activation"`}{for each site (a column) the probability that each component is on, ordered by the
#'     likeliest components.}
#'   \item{`"leak"`}{the leak of each taxon against its frequency: on the diagonal no component explains it.}
#'   \item{`"top"`, `"scores"`}{the characteristic taxa of each component, and the sites on two components:
#'     [plot()][autoplot.multicause].}
#'   \item{`"trace"`, `"density"`}{how far every start was below the best, iteration by iteration; of a fit that was
#'     sampled, draws of its chains and their posterior densities.}
#' }
#'
#' @param object a fit of [noisy_or()].
#' @param what which view; `"images"` by default where `dim` is given.
#' @param dim for `"images"`: numbers of rows and columns of the grid, whose product is the number of taxa. Pixels
#'   go down the columns, as in a matrix.
#' @param order for `"links"`: `"seriated"`, or `"data"` for the order of the data.
#' @param n,components as in [plot()][autoplot.multicause].
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' fit <- noisy_or(matrix(rbinom(900, 1, 0.3), 100, 9), k = 2)
#' plot(fit)
#' plot(fit, dim = c(3, 3))
#' plot(fit, "activation")
#' plot(fit, "leak")
#' plot(fit, "trace")
#' @name plot.noisy_or
#' @aliases autoplot.noisy_or
#' @exportS3Method ggplot2::autoplot
autoplot.noisy_or <- function(object, # nolint: object_name_linter.
                              what = c(
                                "links", "images", "activation", "leak", "top", "scores", "trace", "density"
                              ), dim = NULL,
                              order = c("seriated", "data"), ..., n = NULL, components = 1:2) {
  views <- c("links", "images", "activation", "leak", "top", "scores", "trace", "density")
  what <- if (missing(what) && !is.null(dim)) "images" else check_choice(what, "what", views)
  order <- check_choice(order, "order", c("seriated", "data"))
  check_dots(...)
  switch(what,
    links = links_figure(object, order), images = images_figure(object, check_image_dim(dim, object$dims[["m"]])),
    activation = activation_figure(object), leak = leak_figure(object),
    shared_figure(object, what, n = n, components = components)
  )
}

check_image_dim <- function(dim, m) {
  ok <- is.numeric(dim) && length(dim) == 2L && !anyNA(dim) && all(dim >= 1) && all(dim == floor(dim)) && prod(dim) == m
  if (!ok) {
    stop_input("`dim` must be two whole numbers with product %d, as there are columns, not %s.", m, show_value(dim))
  }
  as.integer(dim)
}

# Labels sources with their prior probability.
source_labels <- function(fit, sep = "\n") {
  share <- ifelse(fit$param$prior < 0.001, "< 0.1", format_each(100 * fit$param$prior))
  sprintf("%s%son %s %%", names(fit$param$prior), sep, share)
}

links_figure <- function(fit, order) {
  values <- rbind(fit$param$links, leak = fit$param$leak)
  if (is.null(colnames(values))) colnames(values) <- seq_len(ncol(values))
  at <- if (order == "data") seq_len(ncol(values)) else seriate(fit$param$links)
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(values[, at, drop = FALSE]), main_title(fit$param$links, names(fit$param$prior), taxa),
    sprintf(
      "Heat map: the probability that each component, or the leak, switches on each of %d %s.",
      ncol(values), taxa
    ),
    legend = "probability that it switches the cell on", heads = c(source_labels(fit, " "), "leak"),
    sides = c(taxa, ""),
    subtitle = paste(capital(taxa), if (order == "data") "in the order of the data" else "by strongest component")
  )
}

images_figure <- function(fit, dim) {
  values <- unname(rbind(fit$param$links, fit$param$leak))
  tables <- lapply(seq_len(nrow(values)), function(i) matrix(values[i, ], dim[1L], dim[2L]))
  names(tables) <- make.unique(c(source_labels(fit, ": "), "leak"))
  picture_figure(
    tables, "The components as pictures", "Pictures: what each component, and the leak, switches on.", c(0, 1),
    legend = "probability that it switches the cell on"
  ) + without_axes()
}

activation_figure <- function(fit) {
  activation <- fit$param$activation
  at <- do.call(base::order, c(as.data.frame(-(activation > 0.5)), as.data.frame(-activation)))
  sites <- axis_words(fit)[1L]
  values <- t(activation[at, , drop = FALSE])
  rownames(values) <- source_labels(fit, " ")
  heat_figure(
    values, sprintf(
      "On average %.1f of %d components are on in a %s", mean(rowSums(activation)), ncol(activation),
      singular_word(sites)
    ),
    sprintf("Heat map: the probability that each component is on in each of %d %s.", nrow(activation), sites),
    legend = "probability that the component is on", heads = NULL, taxa = "none",
    sides = c("", sprintf("%d %s, by likeliest components", nrow(activation), sites))
  ) + ggplot2::theme(axis.text.x = ggplot2::element_blank(), axis.text.x.top = ggplot2::element_blank())
}

leak_figure <- function(fit) {
  leak <- fit$param$leak
  points <- data.frame(
    taxon = as.character(label_of(seq_along(leak), names(leak))),
    frequency = fit$margins$column_sum / pmax(fit$margins$column_observed, 1), leak = unname(leak)
  )
  top <- utils::head(points[order(-points$leak), ], 8L)
  top$taxon <- short_labels()(top$taxon)
  taxa <- axis_words(fit)[2L]
  new_figure(
    points, gg_aes(x = "frequency", y = "leak"), sprintf(
      "The leak alone would make %.0f %% of the presences", 100 * sum(points$leak) / max(sum(points$frequency), 1e-12)
    ),
    sprintf("Points: the leak of each of the %s against its frequency.", taxa), sprintf("frequency of the %s", taxa),
    "leak", "On the dashed line no component explains it"
  ) + ggplot2::geom_abline(linetype = 2L, colour = "grey60") +
    ggplot2::geom_point(colour = component_colours(1L), alpha = 0.6) +
    ggplot2::geom_text(
      gg_aes(label = "taxon"), top, check_overlap = TRUE, hjust = "inward", vjust = -0.6, size = 2.5,
      fontface = if (in_italics(taxa)) "italic" else "plain"
    ) + ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0.05, 0.12)))
}
