# Methods of fits of aspect_categorical(), by EM and sampled.

validate_aspect_categorical <- function(fit) {
  param <- fit$param
  stopifnot(
    has_dims(param$membership, fit, c("n", "k")), all(param$membership >= 0),
    identical(dim(param$profiles), as.integer(c(fit$dims[c("k", "m")], length(fit$values)))),
    all(abs(rowSums(param$membership) - 1) < 1e-8), all(param$profiles >= 0),
    all(abs(rowSums(param$profiles, dims = 2L) - 1) < 1e-8)
  )
  fit
}

# Names the parts of `param`, or of their spread.
ac_name_param <- function(param, names, values) {
  labels <- component_names(nrow(param$profiles))
  dimnames(param$membership) <- list(names[[1L]], labels)
  dimnames(param$profiles) <- list(labels, names[[2L]], values)
  param
}

# Probabilities of all values in cells of these memberships, rows x m x L.
ac_probability <- function(membership, profiles) {
  shape <- dim(profiles)
  out <- membership %*% matrix(profiles, shape[1L])
  array(if (length(out) && max(out) > 1) pmin(out, 1) else out, c(nrow(membership), shape[-1L]))
}

# Memberships of new sites, the profiles fixed; list(membership, x).
ac_fold_in <- function(fit, newdata, control) {
  x <- read_categories(newdata, fit$values, "newdata")
  x <- match_columns(x, fit$names[[2L]], fit$dims[["m"]])
  data <- check_categories(x, fit$values, "newdata", quiet = TRUE)
  n <- nrow(x)
  k <- fit$dims[["k"]]
  profiles <- pmax(unname(fit$param$profiles), 1e-10)
  profiles <- profiles / as.vector(rowSums(profiles, dims = 2L))
  start <- list(membership = matrix(1 / k, n, k), profiles = profiles)
  prior <- ac_mode_prior(fit$prior, fit$estimate)
  if (!is.null(prior)) prior$profiles <- 1 # constant: profiles are fixed
  run <- ac_run(data$view, start, unname(fit$fixed), prior, control, fixed_profiles = TRUE)
  check_outcome(run$outcome)
  if (run$outcome$status != "converged") warn_not_converged(run$outcome, "Memberships of new rows not converged")
  membership <- run$param$membership
  bare <- which(data$margins$row_observed == 0)
  if (length(bare)) {
    membership[bare, ] <- rep(colMeans(fit$param$membership), each = length(bare))
    inform("The mean membership goes to %s of `newdata` with nothing observed.", count_words(length(bare), "row"))
  }
  list(membership = structure(membership, dimnames = list(rownames(x), component_names(k))), x = x)
}

#' Predictions and simulations of an aspect model of several values
#'
#' @param object a fit of [aspect_categorical()].
#' @param newdata new sites, as a table of the values of the fit; columns are matched by name, in any order, or by place
#'   where one side has no names. `NULL`: the data of the fit.
#' @param type `"response"`: the probability of each value in each cell; `"value"`: the most probable value;
#'   `"membership"`: the share of each component in each site; `"cell"`: the posterior probability that each component
#'   made the cell, given its value (of unknown cells: the membership).
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused: choose fewer rows.
#' @param control settings from [fit_control()] for new sites: their memberships maximise the likelihood of
#'   their cells, with the prior of a `"map"` fit, and the profiles (of a sampled fit: their means) fixed.
#' @param x the data of the fit, for `"cell"`, `residuals()` and `impute()` where it was made with `keep_x = FALSE`.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @param fit a fit of [aspect_categorical()].
#' @param ... must be empty.
#' @return `predict()`: an array rows x m x values (`"response"`, also `fitted()`; of a sampled fit's own sites the
#'   means over kept draws), a [category_table()] (`"value"`), a matrix rows x k, or an array rows x m x k (`"cell"`),
#'   with names. `residuals()`: an array rows x m x values, 1 for the value of a cell, else 0, minus its probability, or
#'   that divided by its standard deviation (`"pearson"`); or a matrix rows x m of the root of -2 times the
#'   log-probability of each cell (`"deviance"`). `impute()`: the table with unknown cells replaced by their most
#'   probable value. `simulate()`: a list of `nsim` complete category_tables, and as its attribute `seed` what
#'   [stats::simulate()] promises.
#' @examples
#' set.seed(1)
#' values <- c("no", "rare", "common")
#' x <- category_table(matrix(sample(values, 200, TRUE), 20), values = values)
#' fit <- aspect_categorical(x, k = 2, control = fit_control(n_start = 1))
#' dim(predict(fit, x[1:3, ]))
#' predict(fit, x[1:3, ], type = "value")
#' @export
predict.aspect_categorical <- function(object, newdata = NULL, type = c("response", "value", "membership", "cell"), ...,
                                       rows = NULL, control = fit_control(max_iter = 5000, tol = 1e-10), x = NULL) {
  check_dots(...)
  type <- check_choice(type)
  control <- check_control(control)
  own <- is.null(newdata)
  new <- if (!own) ac_fold_in(object, newdata, control)
  membership <- if (own) object$param$membership else new$membership
  rows <- pick(rows, nrow(membership), rownames(membership), "rows")
  m <- object$dims[["m"]]
  width <- c(response = length(object$values), value = length(object$values), membership = 1, cell = ncol(membership))
  refuse_large(length(rows) * width[[type]] * if (type == "membership") ncol(membership) else m, "The prediction",
    "take fewer rows at a time by `rows`")
  membership <- membership[rows, , drop = FALSE]
  labels <- list(rownames(membership), object$names[[2L]])
  response <- function() {
    p <- if (own) ac_own_response(object, rows) else ac_probability(membership, object$param$profiles)
    structure(p, dimnames = c(labels, list(object$values)))
  }
  out <- switch(type,
    response = response(),
    value = ac_likeliest(response()),
    membership = membership,
    cell = {
      cells <- if (own) fit_data(object, x)[rows, , drop = FALSE] else new$x[rows, , drop = FALSE]
      ac_cell_posterior(cells, membership, object$param$profiles, c(labels, list(colnames(membership))))
    }
  )
  if (type == "membership") out else in_given_order(out, newdata)
}

# Probabilities of the values in the fit's own cells; of a sampled fit their means over kept draws, because the mean of
# a product is not the product of means.
ac_own_response <- function(fit, rows) {
  states <- if (is_sampled(fit)) kept_states(fit) else list(fit$param)
  over_states(states, function(state) ac_probability(state$membership[rows, , drop = FALSE], state$profiles))
}

# The most probable value of each cell, the first of several, as a category_table.
ac_likeliest <- function(p) {
  shape <- dim(p)
  code <- max.col(matrix(p, shape[1L] * shape[2L]), "first") - 1L
  new_category_table(matrix(code, shape[1L], shape[2L]), dimnames(p)[[3L]], name_sides(dimnames(p)[1:2]))
}

# P(component c wrote the cell | its value), rows x m x k; the membership where the value is unknown.
ac_cell_posterior <- function(x, membership, profiles, labels) {
  n <- nrow(x)
  k <- ncol(membership)
  code <- as.vector(x)
  column <- rep(seq_len(ncol(x)), each = n)
  each <- vapply(seq_len(k), function(c) {
    wrote <- profiles[cbind(c, column, code + 1L)]
    membership[, c] * ifelse(is.na(code), 1, wrote)
  }, numeric(length(code)))
  array(matrix(each, length(code)) / rowSums(matrix(each, length(code))), c(n, ncol(x), k), labels)
}

# The probability of the value that each cell has; NA where unknown.
ac_own_probability <- function(p, code) {
  matrix(matrix(p, length(code))[cbind(seq_along(code), as.vector(code) + 1L)], nrow(code), ncol(code))
}

#' @rdname predict.aspect_categorical
#' @export
residuals.aspect_categorical <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  type <- check_choice(type)
  check_dots(...)
  x <- fit_data(object, x)
  p <- fitted(object)
  if (type == "deviance") {
    return(structure(sqrt(-2 * log(ac_own_probability(p, x))), dimnames = name_sides(dimnames(p)[1:2])))
  }
  indicators <- outer(unclass(x), seq_along(object$values) - 1L, `==`)
  apart <- array(as.vector(indicators) + 0, dim(p), dimnames(p)) - p
  if (type == "response") apart else apart / ifelse(apart == 0, 1, sqrt(p * (1 - p)))
}

#' @rdname predict.aspect_categorical
#' @export
impute.aspect_categorical <- function(fit, newdata = NULL, ..., x = NULL) {
  check_dots(...)
  own <- is.null(newdata)
  out <- if (own) fit_data(fit, x) else read_categories(newdata, fit$values, "newdata")
  if (anyNA(out)) {
    answer <- predict(fit, newdata, type = "value")
    out[is.na(out)] <- category_text(answer)[is.na(out)]
  }
  out
}

#' @rdname predict.aspect_categorical
#' @export
simulate.aspect_categorical <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  p <- fitted(object)
  shape <- dim(p)
  flat <- matrix(p, shape[1L] * shape[2L])
  simulate_with(object, nsim, seed, function() {
    # The largest of log(p) + Gumbel noise is a draw from p.
    code <- max.col(log(flat) - log(stats::rexp(length(flat))), "first") - 1L
    new_category_table(matrix(code, shape[1L], shape[2L]), object$values)
  })
}

model_title.aspect_categorical <- function(fit) "Aspect model of several values"

shape_words.aspect_categorical <- function(fit) {
  fixed <- fit$fixed[fit$fixed != "free"]
  sprintf("%s, %s%s", NextMethod(), count_words(length(fit$values), "value"),
    if (length(fixed)) sprintf(", phantom of %s fixed", show_names(unname(fixed))) else "")
}

# Shares, and the mean over taxa of the probability of each value.
component_facts.aspect_categorical <- function(fit) {
  mean <- apply(fit$param$profiles, c(1L, 3L), mean)
  shown <- seq_len(min(length(fit$values), most_shown_values))
  c(
    list(component = rownames(fit$param$profiles)), two_decimals("share", unname(colMeans(fit$param$membership))),
    if (any(fit$fixed != "free")) list(role = unname(ifelse(fit$fixed == "free", "content", "phantom"))),
    do.call(c, lapply(shown, function(v) two_decimals(sprintf("P(%s)", fit$values[v]), unname(mean[, v]))))
  )
}

most_shown_values <- 5L

data_kind.aspect_categorical <- function(fit) NULL

own_data.aspect_categorical <- function(fit, x) {
  x <- match_data(read_categories(x, fit$values), fit)
  list(x = x, observed = sum(!is.na(x)))
}

fixed_kinds.aspect_categorical <- function(fit) fit$fixed

# P(any value but the first), k x m.
component_matrix.aspect_categorical <- function(fit) {
  first <- fit$param$profiles[, , 1L]
  1 - matrix(first, fit$dims[["k"]], dimnames = dimnames(fit$param$profiles)[1:2])
}

component_scale.aspect_categorical <- function(fit) sprintf("probability of more than %s", fit$values[1L])

ordination.aspect_categorical <- function(fit) {
  list(sites = fit$param$membership, species = t(component_matrix(fit)))
}

part_sides.aspect_categorical <- function(fit, name, values) {
  if (name == "profiles") c("component", "taxon", "value") else NextMethod()
}

default_parts.aspect_categorical <- function(fit, parts) "profiles"

presence_probability.aspect_categorical <- function(fit, mean = fitted(fit)) {
  p <- mean
  1 - matrix(p[, , 1L], dim(p)[1L], dim(p)[2L], dimnames = name_sides(dimnames(p)[1:2]))
}

# Held-out cells: minus the log of the probability of their value. Tables of numbers are taken for counts elsewhere.
cell_loss.aspect_categorical <- function(fit, cells, value, family, floor, loss = NULL) {
  if (family == "bernoulli") {
    return(NextMethod())
  }
  ac_needs_categories(family)
  if (!is.null(loss)) stop_input("`loss` must be NULL for a category_table().")
  p <- matrix(fitted(fit), prod(fit$dims[c("n", "m")]))[cbind(cells, value + 1L)]
  structure(-log(pmax(p, floor)), clipped = sum(p < floor))
}

ac_needs_categories <- function(family) {
  if (family != "categorical") {
    stop_input(
      "`x` must be a category_table() for aspect_categorical(): else numbers are counts, and 0 and 1 presences."
    )
  }
}

row_family.aspect_categorical <- function(fit) "categorical"

new_row_data.aspect_categorical <- function(fit, newdata, family) {
  x <- match_columns(read_categories(newdata, fit$values, "newdata"), fit$names[[2L]], fit$dims[["m"]])
  check_categories(x, fit$values, "newdata", quiet = TRUE)
}

# Training rows as a mixture, eq. (23) of Bingham and others (2009).
held_out_rows.aspect_categorical <- function(fit, data, floor, family, ..., training = NULL) {
  check_dots(...)
  trained <- trained_rows(fit, training)
  p <- log(pmax(fitted(fit)[trained, , , drop = FALSE], floor))
  indicators <- ac_indicators(data$x, length(fit$values))
  score <- Reduce(`+`, lapply(seq_along(indicators), function(v) {
    tcrossprod(indicators[[v]], matrix(p[, , v], length(trained)))
  }))
  top <- apply(score, 1L, max)
  top + log(rowMeans(exp(score - top)))
}

# The cells of augment(): what was seen, the most probable value, and the probability of what was seen.
augment_means.aspect_categorical <- function(fit, observed, mean) {
  mean <- structure(mean, dimnames = list(NULL, NULL, fit$values))
  text <- function(code) matrix(fit$values[as.vector(code) + 1L], nrow(code))
  list(
    observed = text(observed), .fitted = text(ac_likeliest(mean)), .probability = ac_own_probability(mean, observed)
  )
}

new_observed.aspect_categorical <- function(fit, newdata) {
  x <- new_row_data(fit, newdata, "categorical")$x
  matrix(as.vector(x), nrow(x), dimnames = list(rownames(x), fit$names[[2L]]))
}

#' Plot an aspect model of several values
#'
#' `plot()` draws figures of a fit of [aspect_categorical()], `autoplot()` gives them as ggplot2 objects.
#'
#' @param object a fit of [aspect_categorical()].
#' @param what `"profiles"`: for each component and taxon a bar, divided by the probabilities of the values; the others
#'   as in [plot()][autoplot.multicause], where the value of a component is its probability of any but the first value.
#' @param order of the taxa in `"profiles"`: by main component, or as in the data.
#' @param n,components,groups as in [plot()][autoplot.multicause].
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' set.seed(1)
#' values <- c("no", "rare", "common")
#' x <- category_table(matrix(sample(values, 200, TRUE), 20), values = values)
#' plot(aspect_categorical(x, k = 2, control = fit_control(n_start = 1)))
#' @name plot.aspect_categorical
#' @aliases autoplot.aspect_categorical
#' @exportS3Method ggplot2::autoplot
autoplot.aspect_categorical <- function(object, # nolint: object_name_linter.
                                        what = c("profiles", "top", "scores", "structure", "trace", "density"),
                                        order = c("seriated", "data"), ..., n = NULL, components = 1:2,
                                        groups = NULL) {
  check_dots(...)
  what <- check_choice(what)
  order <- check_choice(order)
  if (what == "profiles") {
    return(profiles_figure(object, order))
  }
  shared_figure(object, what, n = n, components = components, groups = groups)
}

profiles_figure <- function(fit, order) {
  profiles <- unname(fit$param$profiles)
  at <- if (order == "seriated") seriate(unname(component_matrix(fit))) else seq_len(dim(profiles)[2L])
  taxa <- as.character(label_of(seq_len(dim(profiles)[2L]), fit$names[[2L]]))
  words <- axis_words(fit)[2L]
  table <- long_table(profiles, c("component", "taxon", "value"))
  table$component <- factor(component_names(dim(profiles)[1L])[table$component], component_names(dim(profiles)[1L]))
  table$taxon <- factor(taxa[table$taxon], rev(taxa[at]))
  table$value <- factor(fit$values[table$value], fit$values)
  colours <- stats::setNames(
    c("#F0F0F0", probability_colours(length(fit$values) + 1L)[-(1:2)]), fit$values
  )
  new_figure(
    table, gg_aes(x = "estimate", y = "taxon", fill = "value"),
    profiles_title(profiles, fit$names[[2L]], words),
    sprintf("Bars: the probabilities of %d values, for each of the %s in each component.", length(fit$values), words),
    "probability"
  ) + ggplot2::geom_col(position = ggplot2::position_stack(reverse = TRUE), width = 0.9) +
    ggplot2::facet_wrap("component", nrow = 1L) + colour_scale(colours) + few_numbers("x") +
    ggplot2::scale_y_discrete(labels = short_labels(20L), guide = thinned()) + ggplot2::labs(y = NULL) + no_grid() +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(face = if (in_italics(words)) "italic" else "plain", size = 7),
      panel.spacing.x = ggplot2::unit(14, "pt") # numbers of neighbouring panels stay apart
    )
}

# Names the taxon whose distributions over values differ most among components.
profiles_title <- function(profiles, taxa, words) {
  apart <- apply(profiles, 2L, function(each) sum(apply(each, 2L, max) - apply(each, 2L, min)))
  if (dim(profiles)[1L] == 1L || max(apart) < 1e-6) {
    return(sprintf("Values of the %s in each component", words))
  }
  at <- which.max(apart)
  sprintf("Components differ most in %s", if (is.null(taxa)) paste(singular_word(words), at) else taxa[at])
}
