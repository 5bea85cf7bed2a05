# Prints, predicts and fills in by PLSA fits.

model_title.plsa <- function(fit) {
  title <- if (is.null(fit$prior)) "PLSA" else "Latent Dirichlet allocation"
  if (any(fit$sparsity$given != 0)) paste(title, "with entropic prior") else title
}

found_sentences.plsa <- function(fit, digits = 4L) {
  number <- function(x) format(x, digits = 2L)
  c(
    sprintf(
      "Components per %s (effective number): median %s, range %s to %s.", singular_word(axis_words(fit)[1L]),
      number(stats::median(fit$perplexity)), number(min(fit$perplexity)), number(max(fit$perplexity))
    ),
    if (is_sampled(fit)) disagreement_sentence(fit)
  )
}

# The shares by which components are ordered: those of all counts.
component_facts.plsa <- function(fit) {
  facts <- NextMethod()
  counts <- colSums(fit$param$membership * fit$margins$row_sum)
  if (any(counts > 0)) facts$share <- sprintf("%.2f", counts / sum(counts))
  facts
}

estimator_words.plsa_gibbs <- function(fit) "Gibbs"

reached_sentence.plsa_gibbs <- function(fit, digits = 4L) sampled_sentence(fit)

detail_sentences.plsa <- function(fit, digits = 4L) {
  effective <- fit$sparsity$effective
  sides <- names(effective)[effective != 0]
  against <- c(membership = "a row's total", basis = "a component's mean total")
  n_missing <- fit$dims[["n"]] * as.double(fit$dims[["m"]]) - fit$dims[["observed"]]
  c(
    sprintf(
      "Entropic prior on the %s: effective strength %s of %s.", sides,
      vapply(effective[sides], format, "", digits = 2L), against[sides]
    ),
    if (!is.null(fit$prior)) {
      values <- function(x) paste(format(x, digits = 2L, trim = TRUE), collapse = ", ")
      sprintf("Dirichlet priors: %s for memberships, %s for the basis.", values(fit$prior$membership),
        values(fit$prior$basis))
    },
    if (n_missing > 0) sprintf("%s unknown, by the %s rule.", count_words(n_missing, "cell"), fit$missing),
    if (is_sampled(fit)) trust_sentence(fit)
  )
}

#' Predict from a PLSA fit, and fill in unknown counts
#'
#' `predict()` gives the expected count of each cell, the memberships of sites or the probability that each component
#' made a cell; `fitted()` the expected counts of the training data; `impute()` the data with unknown cells at their
#' expected counts; `simulate()` draws new tables.
#'
#' New sites are folded in: their memberships are fitted with the basis held (with `"vb"`, its posterior), under the
#' Dirichlet prior of the fit if it has one, and with `smooth` shrunk towards their neighbours among the training rows,
#' or towards the average of all. So the training data come back as `fitted()` gives them, with two exceptions.
#' `sparsity` of the memberships is left out, as in Shashanka and others (2007), because it is there to find a basis,
#' and the memberships are to say what was counted: `plsa(newdata, k, sparsity = , fixed = "basis", start = list(basis =
#' fit$param$basis))` folds in with it. With `smooth` a training row comes back shrunk towards itself as well, being now
#' one of its own neighbours. With `"ml"` and `"map"`, and without `smooth`, this is a concave problem. With `"gibbs"`
#' all are means over the draws that were kept, 10 of each chain (fewer where they would take more than 100 MB), and
#' `simulate()` draws each table from one of them. Given a draw of the basis, memberships of new sites are approximate
#' posterior means: by CVB0 (Asuncion and others 2009), which is exact for a site of one count, or by variational Bayes
#' where sites have unknown cells.
#'
#' Under maximum likelihood, counts in taxa that had none in training are impossible; they are left out, with a message.
#' The expected count of a cell is \eqn{P_i(j) N_i / P_i}(observed), with \eqn{N_i} the observed total of the row,
#' whatever `missing` is. A site without counts gets the mean memberships of the training data.
#'
#' `simulate()` draws each row again from its distribution with its observed total (rounded), over its observed cells;
#' unknown cells stay `NA`.
#'
#' @param object a fit of [plsa()].
#' @param newdata new sites with the columns of the training data, in any order, matched by name; `NULL`: the training
#'   data. Columns unknown to the fit are left out, and missing columns are taken as 0, because documents list only the
#'   words that they have; a message reports both.
#' @param type `"response"`: expected counts, n x m; `"membership"`: n x k, rows sum to 1; `"cell"`: n x m x k, the
#'   probability that each component made a count in the cell, summing to 1 over components.
#' @param along for a fit with `smooth`, the covariates of the new sites, as in [predict.aspect_bernoulli()];
#'   `NULL`: unknown. Without `newdata`, of sites where nothing is counted yet: their expected counts are for a site
#'   with the mean total of the training data.
#' @param ... must be empty.
#' @param rows names or numbers of the sites wanted; `NULL` is all. A result over 1 GB is refused: choose fewer.
#' @param control settings of the fold-in, from [fit_control()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param level of a fit with `estimate = "gibbs"`, for the data's own sites: `NULL`, or the probability of a central
#'   interval of expected counts or memberships, between 0 and 1: a list of `mean`, `lower` and `upper`.
#' @param nsim number of tables.
#' @param seed a whole number, or `NULL` to use the session's random numbers.
#' @return `predict()`: a matrix or array as described under `type`; for new data with an attribute `loglik`, the
#'   log-likelihood of each row. `fitted()`: n x m. `impute()`: the data, sparse if it was. `simulate()`: a list of
#'   `nsim` matrices.
#' @inherit plsa references
#' @examples
#' set.seed(1)
#' x <- matrix(rpois(60, 3), 12, 5)
#' x[2, 3] <- NA
#' fit <- plsa(x, k = 2)
#' impute(fit)[2, ]
#' predict(fit, x[1:2, ], type = "membership")
#' @export
predict.plsa <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ..., rows = NULL,
                         along = NULL, control = fit_control(max_iter = 5000, tol = 1e-12)) {
  check_dots(...)
  control <- check_control(control)
  type <- check_choice(type)
  is_new <- !is.null(newdata) || !is.null(along)
  new <- if (is_new) new_sites(object, newdata, along)
  names <- if (is_new) rownames(new$x) else object$names[[1L]]
  asked <- pick(rows, if (is_new) nrow(new$x) else object$dims[["n"]], names, "rows")
  rows <- unique(asked)
  width <- c(response = object$dims[["m"]], membership = object$dims[["k"]], cell = prod(object$dims[c("m", "k")]))
  refuse_large(length(asked) * width[[type]], "The prediction", "take fewer rows at a time by `rows`")
  if (is_new) {
    some <- new$x[rows, , drop = FALSE]
    if (!is.null(newdata)) tell_empty_rows(some)
    folded <- plsa_fold_in(object, some, control, along = pick_along(new$along, rows))
    states <- folded$states
    scale <- if (is.null(newdata)) rep(mean(object$row_scale, na.rm = TRUE), length(rows)) else folded$row_scale
  } else {
    states <- plsa_states(object, rows)
    scale <- object$row_scale[rows]
  }
  labels <- list(names[rows], object$names[[2L]], component_names(object$dims[["k"]]))
  out <- switch(type,
    response = structure(
      unname(scale) * over_states(states, function(state) state$membership %*% state$basis),
      dimnames = name_sides(labels[1:2])
    ),
    membership = structure(
      if (is_new) over_states(states, function(state) state$membership) else
        unname(object$param$membership)[rows, , drop = FALSE],
      dimnames = labels[c(1L, 3L)]
    ),
    cell = structure(
      over_states(states, function(state) plsa_cells(state$membership, state$basis)), dimnames = labels
    )
  )
  out <- as_asked(out, rows, asked)
  if (is_new) attr(out, "loglik") <- stats::setNames(folded$loglik, labels[[1L]])[match(asked, rows)]
  if (type == "membership") out else in_given_order(out, newdata)
}

# Expected counts, or memberships, with their intervals.
#' @rdname predict.plsa
#' @export
predict.plsa_gibbs <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ..., rows = NULL,
                               level = NULL) {
  type <- check_choice(type)
  mean <- predict.plsa(object, newdata, type, ..., rows = rows)
  if (is.null(level)) {
    return(mean)
  }
  if (!is_sampled(object)) stop_input("`level` goes with a sampled fit: one draw of it has no intervals.")
  level <- check_number(level, "level", 0, 1, open = TRUE)
  if (!is.null(newdata) || !is.null(list(...)$along) || type == "cell") {
    stop_input(
      "`level` is for the data's own sites: without `newdata`, `type = \"response\"` or \"membership\"."
    )
  }
  at <- pick(rows, object$dims[["n"]], object$names[[1L]], "rows")
  if (type == "membership") {
    error <- unname(object$spread$membership)[at, , drop = FALSE]
    return(c(list(mean = mean), beta_interval(mean, error, level)))
  }
  scale <- unname(object$row_scale)[at]
  share <- mean / scale
  ends <- beta_interval(share, plsa_share_error(object, at, share), level)
  c(list(mean = mean), lapply(ends, function(end) end * scale))
}

#' @rdname predict.plsa
#' @param site_data for a fit with `membership`, a data frame of covariates of sites without counts, in place of
#'   `newdata`: their expected memberships, means over draws. A site with an unknown covariate gets `NA`.
#' @export
predict.plsa_regression <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                                    rows = NULL, level = NULL, site_data = NULL) {
  type <- check_choice(type)
  if (is.null(site_data)) {
    return(predict.plsa_gibbs(object, newdata, type, ..., rows = rows, level = level))
  }
  check_dots(...)
  if (!is.null(newdata) || !is.null(level) || type == "cell") {
    stop_input("`site_data` goes with `type` \"response\" and \"membership\", without `newdata` and `level`.")
  }
  design <- new_membership_design(object$covariates, site_data, "membership")
  membership <- over_effects(object, function(effects) multinomial_shares(design, effects))
  labels <- if (.row_names_info(site_data) > 0L) rownames(site_data)
  dimnames(membership) <- list(labels, component_names(object$dims[["k"]]))
  membership <- unknown_rows(membership, attr(design, "unknown"))
  membership <- membership[pick(rows, nrow(membership), labels, "rows"), , drop = FALSE]
  if (type == "membership") membership else mean(object$row_scale, na.rm = TRUE) * membership %*% object$param$basis
}

is_of_documents.plsa <- function(fit) TRUE

# Reports new rows without counts, such as documents that share no word with the training data.
tell_empty_rows <- function(x) {
  empty <- which(row_sums(x, na.rm = TRUE) == 0)
  if (length(empty)) {
    inform(
      "%s of `newdata` without counts, set to the mean membership: %s.", capital(count_words(length(empty), "row")),
      show_names(as.character(label_of(empty, rownames(x))))
    )
  }
}

# Computes P(component | cell), n x m x k; the membership if the cell is impossible.
plsa_cells <- function(membership, basis) {
  p <- membership %*% basis
  out <- vapply(seq_len(nrow(basis)), function(c) {
    joint <- outer(membership[, c], basis[c, ])
    ifelse(p > 0, joint / p, membership[, c])
  }, matrix(0, nrow(membership), ncol(basis)))
  array(out, c(nrow(membership), ncol(basis), nrow(basis)))
}

# Returns some rows of the result of check_data().
rows_of_data <- function(data, rows) {
  if (all(rows)) {
    return(data)
  }
  x <- data$x[rows, , drop = FALSE]
  view <- data_view(x)
  list(x = x, view = view, margins = .Call(mc_c_view_margins, view))
}

# New rows: list(states, as plsa_states() has them, row_scale, loglik by row).
plsa_fold_in <- function(fit, x, control, along = NULL) {
  bases <- lapply(plsa_states(fit, 0L), function(state) state$basis)
  basis <- bases[[1L]]
  impossible <- which(colSums(basis) == 0)
  if (length(impossible)) x <- leave_out_columns(x, impossible, fit$names[[2L]])
  data <- check_data(x, "nonnegative", "newdata", quiet = TRUE)
  settings <- list(missing = fit$missing, fixed = "basis", mstep = "cccp")
  settings$prior <- plsa_kernel_prior(if (identical(fit$estimate, "map")) fit$prior, nrow(basis))
  settings$prior$basis_added <- 0 # of a basis that is held it is no matter
  settings$near <- smooth_given(fit, nrow(data$x), along)
  bare <- which(data$margins$row_sum == 0)
  others <- if (is.null(settings$near)) mean_membership(fit) else settings$near$reference[, bare]
  states <- lapply(bases, function(basis) {
    membership <- plsa_fold_into(fit, data, basis, settings, control)
    if (length(bare)) membership[bare, ] <- matrix(others, length(bare), ncol(membership), byrow = TRUE)
    list(membership = membership, basis = basis)
  })
  row_scale <- plsa_mean_scale(data$view, states, data$margins$row_sum)
  list(states = states, row_scale = row_scale, loglik = plsa_row_loglik(data, states, row_scale, fit$missing))
}

# Memberships of new rows, this basis held.
plsa_fold_into <- function(fit, data, basis, settings, control) {
  membership <- matrix(1 / nrow(basis), nrow(data$x), nrow(basis))
  # Rows of which all is known have their posterior means, whichever rows come along.
  whole <- is_sampled(fit) & data$margins$row_observed == ncol(data$x)
  if (any(whole)) membership[whole, ] <- plsa_gibbs_fold_in(fit, rows_of_data(data, whole), basis)
  if (any(!whole)) {
    rest <- rows_of_data(data, !whole)
    start <- list(membership = membership[!whole, , drop = FALSE], basis = basis)
    bayes <- fit$estimate %in% plsa_bayes
    run <- if (bayes) plsa_vb_fold_in(fit, rest, control, basis) else plsa_iterations(rest$view, start, settings,
      control)
    check_outcome(run$outcome)
    warn_fold_in(run$outcome)
    membership[!whole, ] <- run$param$membership
  }
  membership
}

warn_fold_in <- function(outcome) {
  if (outcome$status != "converged") warn_not_converged(outcome, "Memberships of new rows not converged")
}

# Sets counts that no component can write to unknown.
leave_out_columns <- function(x, impossible, names) {
  at <- which(Matrix::colSums(x[, impossible, drop = FALSE], na.rm = TRUE) > 0)
  if (!length(at)) {
    return(x)
  }
  shown <- if (is.null(names)) as.character(impossible[at]) else names[impossible[at]]
  inform("Left out %s without counts in training: %s.", count_words(length(at), "column"), show_names(shown))
  x[, impossible[at]] <- NA
  x
}

# sum x log P over the observed cells of each row, over P(observed) where that is the rule.
plsa_row_loglik <- function(data, states, row_scale, rule) {
  view <- data$view
  row <- rep(seq_len(nrow(data$x)), diff(view$start))
  value <- if (is.null(view$value)) rep(1, length(row)) else view$value
  out <- numeric(nrow(data$x))
  for (at in split(seq_along(row), (seq_along(row) - 1L) %/% 2^17)) {
    p <- plsa_shares_at(states, row[at], view$column[at] + 1L)
    out <- out + tabulate_sums(value[at] * log(p), row[at], length(out))
  }
  total <- data$margins$row_sum
  counted <- total > 0
  if (rule == "conditional") out[counted] <- out[counted] + (total * log(row_scale / total))[counted]
  out
}

#' @rdname impute
#' @export
impute.plsa <- function(fit, newdata = NULL, ..., x = NULL) {
  if (!is.null(newdata)) {
    return(NextMethod())
  }
  check_dots(...)
  x <- fit_data(fit, x)
  view <- data_view(x)
  if (is.null(view$na_start)) {
    return(x)
  }
  row <- rep(seq_len(nrow(x)), diff(view$na_start))
  column <- view$na_column + 1L
  p <- numeric(length(row))
  states <- plsa_states(fit)
  for (at in split(seq_along(row), (seq_along(row) - 1L) %/% 2^17)) {
    p[at] <- plsa_shares_at(states, row[at], column[at])
  }
  x[cbind(row, column)] <- unname(fit$row_scale)[row] * p
  x
}

#' @rdname predict.plsa
#' @export
simulate.plsa <- function(object, nsim = 1, seed = NULL, ..., x = NULL) {
  check_dots(...)
  check_nsim(nsim, prod(object$dims[c("n", "m")]))
  states <- plsa_states(object)
  n <- object$dims[["n"]]
  unknown <- if (object$dims[["observed"]] < n * object$dims[["m"]]) is.na(dense_rows(fit_data(object, x), seq_len(n)))
  total <- round(object$margins$row_sum)
  simulate_with(object, nsim, seed, function() {
    state <- if (length(states) == 1L) states[[1L]] else states[[sample.int(length(states), 1L)]]
    p <- state$membership %*% state$basis
    if (!is.null(unknown)) p[unknown] <- 0
    x <- matrix(0L, nrow(p), ncol(p))
    for (i in which(total > 0)) x[i, ] <- draw_multinomial(total[i], p[i, ])
    if (!is.null(unknown)) x[unknown] <- NA
    x
  })
}

# Residuals of counts as Poisson variables, which they are conditional on their row totals.
residual_matrix.plsa <- function(fit, x, mean, type) poisson_residuals(x, mean, type)

poisson_residuals <- function(x, mean, type) {
  switch(type,
    response = x - mean,
    pearson = ifelse(x == mean, 0, (x - mean) / sqrt(mean)),
    deviance = sign(x - mean) * sqrt(pmax(2 * (ifelse(x > 0, x * log(x / mean), 0) - (x - mean)), 0))
  )
}

data_kind.plsa <- function(fit) "nonnegative"

component_matrix.plsa <- function(fit) fit$param$basis

curve_value.plsa <- function(fit) "share"

recorded_values.plsa <- function(fit, taxon) {
  total <- fit$margins$row_sum
  NextMethod() / ifelse(total > 0, total, NA)
}

distributions.plsa <- function(fit) list(basis = fit$param$basis)

# The probability of at least one count under the Poisson means.
presence_probability.plsa <- function(fit, mean = fitted(fit)) 1 - exp(-mean)

# Training conditions on row totals: a row's means are its total times its distribution.
row_family.plsa <- function(fit) "poisson"

# Figures of PLSA fits.

#' Plot a PLSA fit
#'
#' @description
#' Figures of a fit: `plot()` draws them, `autoplot()` gives them as ggplot2 objects.
#'
#' @details
#' \describe{
#'   \item{`"basis"`}{a heat map of lifts: how many times as likely a taxon is in a component as in all sites together.
#'     Taxa are ordered by the component of their largest lift.}
#'   \item{`"top"`, `"scores"`}{the taxa of largest relevance in each component, and the sites on two components:
#'     [plot()][autoplot.multicause].}
#'   \item{`"structure"`}{for each site (a vertical bar) the shares of the components: [plot()][autoplot.multicause].}
#'   \item{`"simplex"`}{for three taxa: sites and components in the triangle of distributions, with the hull of the
#'     components, as in Figure 3 of Shashanka and others (2007).}
#'   \item{`"trace"`, `"density"`}{how far every start was below the best, iteration by iteration; of a fit that was
#'     sampled, draws of its chains and their posterior densities.}
#'   \item{`"curves"`, `"map"`}{for a fit with `smooth`: components and taxa through time, and on a map by slice
#'     of age, as in [plot.aspect_bernoulli()].}
#' }
#'
#' @param object a fit of [plsa()].
#' @param what which view.
#' @param taxon,slices,coast for `"curves"` and `"map"`, as in [plot.aspect_bernoulli()].
#' @param n,components,groups as in [plot()][autoplot.multicause].
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @inherit plsa references
#' @examples
#' set.seed(1)
#' x <- t(rmultinom(50, 30, c(5, 3, 2)))
#' fit <- plsa(x, k = 4, sparsity = c(membership = 0.05), control = fit_control(n_start = 2))
#' plot(fit, "simplex")
#' plot(fit)
#' @name plot.plsa
#' @aliases autoplot.plsa
#' @exportS3Method ggplot2::autoplot
autoplot.plsa <- function(object, # nolint: object_name_linter.
                          what = c(
                            "basis", "structure", "simplex", "top", "scores", "trace", "density", "curves", "map"
                          ), ..., taxon = NULL, slices = 4, coast = NULL, n = NULL, components = 1:2, groups = NULL) {
  what <- check_choice(what)
  check_dots(...)
  switch(what,
    basis = lift_figure(object), simplex = simplex_figure(object),
    shared_figure(object, what, taxon, slices, coast, n, components, groups)
  )
}

lift_figure <- function(fit) {
  basis <- fit$param$basis
  if (is.null(colnames(basis))) colnames(basis) <- seq_len(ncol(basis))
  all <- pmax(colMeans(fit$param$membership %*% basis), 1e-300)
  lift <- log2(pmax(sweep(basis, 2L, all, "/"), 1))
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(lift[, seriate(lift), drop = FALSE]), main_title(lift, rownames(lift), taxa),
    sprintf("Heat map: how many times as likely each component makes each of %d %s.", ncol(basis), taxa), c(0, 3),
    legend = "lift: times as likely as in all", breaks = 0:3, labels = c("up to 1", "2", "4", "8"), sides = c(taxa, "")
  )
}

# Maps distributions over three attributes to points of an equilateral triangle.
simplex_points <- function(rows) cbind(rows[, 2L] + rows[, 3L] / 2, rows[, 3L] * sqrt(3) / 2)

simplex_figure <- function(fit) {
  if (fit$dims[["m"]] != 3L) stop_input("`what = \"simplex\"` needs a fit to 3 columns, not %d.", fit$dims[["m"]])
  names <- fit$names[[2L]]
  shares <- matrix(0, 0L, 3L)
  if (!is.null(fit$x)) {
    counts <- dense_rows(fit$x, seq_len(fit$dims[["n"]]))
    counts <- counts[rowSums(is.na(counts)) == 0 & rowSums(counts, na.rm = TRUE) > 0, , drop = FALSE]
    shares <- counts / rowSums(counts)
  }
  frame <- function(rows) stats::setNames(as.data.frame(unname(simplex_points(rows))), c("x", "y"))
  corners <- frame(diag(3))
  basis <- frame(fit$param$basis)
  colours <- component_colours(6L)[c(1L, 6L)]
  points <- rbind(frame(shares), basis)
  words <- axis_words(fit)
  kinds <- c(words[1L], "components")
  points$kind <- factor(rep(kinds, c(nrow(shares), nrow(basis))), kinds)
  new_figure(
    points, gg_aes(x = "x", y = "y"), sprintf("%s and components", capital(words[1L])),
    sprintf("Triangle: where %s and components stand between three %s, with the hull of the components.", words[1L],
      words[2L])
  ) + ggplot2::geom_polygon(data = corners, fill = NA, colour = "grey50") +
    ggplot2::geom_polygon(data = basis[grDevices::chull(basis), ], fill = NA, colour = colours[2L]) +
    ggplot2::geom_point(gg_aes(colour = "kind", shape = "kind", size = "kind")) +
    ggplot2::geom_text(
      gg_aes(label = "label", hjust = "side"),
      data.frame(corners, label = short_labels(20L)(as.character(names %||% 1:3)), side = c(0.2, 0.8, 0.5)),
      vjust = c(1.6, 1.6, -0.6), size = 3.3
    ) +
    colour_scale(stats::setNames(colours, kinds)) +
    ggplot2::scale_shape_manual(NULL, values = c(16L, 17L)) + ggplot2::scale_size_manual(NULL, values = c(1, 2.6)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = 0.12)) +
    no_grid() + without_axes()
}
