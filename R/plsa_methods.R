# How a PLSA fit presents itself, predicts and fills in.

model_title.plsa <- function(fit) {
  if (!is.null(fit$prior)) {
    return("Latent Dirichlet allocation")
  }
  if (any(fit$sparsity$given != 0)) "PLSA with entropic prior" else "PLSA"
}

found_sentences.plsa <- function(fit, digits = 4L) {
  number <- function(x) format(x, digits = 2L)
  sprintf(
    "A %s uses %s of %s (median of their effective number, the perplexity; range %s to %s)",
    singular_word(axis_words(fit)[1L]), number(stats::median(fit$perplexity)),
    count_words(fit$dims[["k"]], "component"), number(min(fit$perplexity)), number(max(fit$perplexity))
  )
}

fit_sentences.plsa <- function(fit, digits = 4L) {
  effective <- fit$sparsity$effective
  sides <- names(effective)[effective != 0]
  against <- c(membership = "a row's total", basis = "a component's mean total")
  n_missing <- fit$dims[["n"]] * as.double(fit$dims[["m"]]) - fit$dims[["observed"]]
  c(
    if (is_sampled(fit)) sampled_sentences(fit) else NextMethod(),
    sprintf(
      "Entropic prior on the %s: effective strength %s of %s", sides,
      vapply(effective[sides], format, "", digits = 2L), against[sides]
    ),
    if (!is.null(fit$prior)) {
      values <- function(x) paste(format(x, digits = 2L, trim = TRUE), collapse = ", ")
      sprintf("Dirichlet priors: %s for memberships, %s for the basis", values(fit$prior$membership),
        values(fit$prior$basis))
    },
    if (n_missing > 0) sprintf("%s unknown, by the %s rule", count_words(n_missing, "cell"), fit$missing)
  )
}

#' Predict from a PLSA fit, and fill in unknown counts
#'
#' `predict()` gives the expected count of each cell, the memberships of sites or the chance that each component
#' made a cell; `fitted()` the expected counts of the training data; `impute()` the data with unknown cells at their
#' expected counts; `simulate()` draws new tables.
#'
#' New sites are folded in: their memberships are fitted with the basis held (with `"vb"`, its posterior), under the
#' Dirichlet prior of the fit if it has one, and with `smooth` pulled towards their neighbours among the training rows,
#' or towards the average of all. So the training data come back as `fitted()` gives them, with two exceptions.
#' `sparsity` of the memberships is left out, as in the paper, because it is there to find a basis, and the memberships
#' are to say what was counted: `plsa(newdata, k, sparsity = , fixed = "basis", start = list(basis = fit$param$basis))`
#' folds in with it. With `smooth` a training row comes back pulled towards itself as well, being now one of its own
#' neighbours. With `"ml"` and `"map"`, and without `smooth`, this is a concave problem. With `"gibbs"` memberships are
#' approximate posterior means given the mean basis: by CVB0 (Asuncion and others 2009), which is exact for a site of
#' one count, or by variational Bayes where sites have unknown cells. Those of the data themselves are means over draws.
#'
#' By maximum likelihood counts in taxa that had none in training are impossible under the fit and left out, of which a
#' message tells. The expected count of a cell is \eqn{P_i(j) N_i / P_i}(observed), with \eqn{N_i} the observed total of
#' the row, whatever the rule of `missing`. A site with nothing counted has no memberships of its own and gets
#' the
#' mean of the training data.
#'
#' `simulate()` draws each row again from its distribution with its observed total (rounded), over its observed cells;
#' unknown cells stay `NA`.
#'
#' **Classification by likelihood**, as in section 4.2 of the paper: a site belongs to the class whose fit explains it
#' best, by the attribute `loglik` of its prediction. The fits must be of the same taxa, and the more components a fit
#' has, the better it explains anything. A taxon that a class never had would be left out of its likelihood: mix a
#' little of the uniform distribution into each basis first, as the example does.
#'
#' @concept classification by likelihood
#' @param object a fit of [plsa()].
#' @param newdata new sites with the columns of the training data, in any order, matched by name; `NULL`: the
#'   training data. Columns that the fit does not know are left out and those that are lacking are 0, as documents list
#'   the words that they have; a message says so.
#' @param type `"response"`: expected counts, n x m; `"membership"`: n x k, rows sum to 1; `"cell"`: n x m x k, the
#'   chance that each component made a count in the cell, summing to 1 over components.
#' @param along for a fit with `smooth`, the covariates of the new sites, as in [predict.aspect_bernoulli()];
#'   `NULL`: unknown. Without `newdata`, of sites where nothing is counted yet: their expected counts are for a site
#'   with the mean total of the training data.
#' @param ... must be empty.
#' @param rows names or numbers of the sites wanted; `NULL` is all. A result over 1 GB is refused with that
#'   advice.
#' @param control settings of the fold-in, from [fit_control()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param nsim number of tables.
#' @param seed a whole number, or `NULL` to go on with the session's generator.
#' @return `predict()`: a matrix or array as said under `type`; for new data with an attribute `loglik`, the
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
#'
#' # Which of two classes is a new site of?
#' fits <- list(low = fit, high = plsa(x * 1:12, k = 2))
#' loglik <- sapply(fits, function(fit) {
#'   fit$param$basis <- (1 - 1e-6) * fit$param$basis + 1e-6 / ncol(x)
#'   attr(predict(fit, x[3:4, ]), "loglik")
#' })
#' colnames(loglik)[max.col(loglik)]
#' @export
predict.plsa <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ..., rows = NULL,
                         along = NULL, control = fit_control(max_pass = 5000, tol = 1e-12)) {
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
    membership <- folded$membership
    scale <- if (is.null(newdata)) rep(mean(object$row_scale, na.rm = TRUE), length(rows)) else folded$row_scale
  } else {
    membership <- object$param$membership[rows, , drop = FALSE]
    scale <- object$row_scale[rows]
  }
  labels <- list(names[rows], object$names[[2L]], component_names(object$dims[["k"]]))
  out <- switch(type,
    response = structure(unname(scale) * unname(membership %*% object$param$basis), dimnames = name_sides(labels[1:2])),
    membership = structure(membership, dimnames = labels[c(1L, 3L)]),
    cell = structure(plsa_cells(unname(membership), unname(object$param$basis)), dimnames = labels)
  )
  out <- as_asked(out, rows, asked)
  if (is_new) attr(out, "loglik") <- stats::setNames(folded$loglik, labels[[1L]])[match(asked, rows)]
  in_given_order(out, newdata)
}

is_of_documents.plsa <- function(fit) TRUE

# New rows without counts, as of documents that share no word with the training data.
tell_empty_rows <- function(x) {
  empty <- which(row_sums(x, na.rm = TRUE) == 0)
  if (length(empty)) {
    inform("%s of `newdata` without counts, given the mean membership: %s.", capital(count_words(length(empty), "row")),
      show_names(as.character(label_of(empty, rownames(x)))))
  }
}

# P(component | cell), n x m x k; where the cell is impossible, the membership.
plsa_cells <- function(membership, basis) {
  p <- membership %*% basis
  out <- vapply(seq_len(nrow(basis)), function(c) {
    joint <- outer(membership[, c], basis[c, ])
    ifelse(p > 0, joint / p, membership[, c])
  }, matrix(0, nrow(membership), ncol(basis)))
  array(out, c(nrow(membership), ncol(basis), nrow(basis)))
}

# Some rows of what check_data() returned.
rows_of_data <- function(data, rows) {
  if (all(rows)) {
    return(data)
  }
  x <- data$x[rows, , drop = FALSE]
  view <- data_view(x)
  list(x = x, view = view, margins = .Call(mc_c_view_margins, view))
}

# Memberships of new rows: list(membership, row_scale, loglik by row).
plsa_fold_in <- function(fit, x, control, along = NULL) {
  basis <- unname(fit$param$basis)
  impossible <- which(colSums(basis) == 0)
  if (length(impossible)) x <- leave_out_columns(x, impossible, fit$names[[2L]])
  data <- check_data(x, "nonnegative", "newdata", quiet = TRUE)
  k <- nrow(basis)
  settings <- list(missing = fit$missing, fixed = "basis", mstep = "cccp")
  settings$prior <- plsa_kernel_prior(if (identical(fit$estimate, "map")) fit$prior, k)
  settings$prior$basis_added <- 0 # of a basis that is held it is no matter
  settings$near <- smooth_given(fit, nrow(data$x), along)
  membership <- matrix(1 / k, nrow(data$x), k)
  # Rows of which all is known have their posterior means, whichever rows come along.
  whole <- is_sampled(fit) & data$margins$row_observed == ncol(data$x)
  if (any(whole)) membership[whole, ] <- plsa_gibbs_fold_in(fit, rows_of_data(data, whole), basis)
  if (any(!whole)) {
    rest <- rows_of_data(data, !whole)
    start <- list(membership = membership[!whole, , drop = FALSE], basis = basis)
    bayes <- fit$estimate %in% plsa_bayes
    run <- if (bayes) plsa_vb_fold_in(fit, rest, control) else plsa_passes(rest$view, start, settings, control)
    check_outcome(run$outcome)
    warn_fold_in(run$outcome)
    membership[!whole, ] <- run$param$membership
  }
  param <- list(membership = membership, basis = basis)
  bare <- which(data$margins$row_sum == 0)
  others <- if (is.null(settings$near)) mean_membership(fit) else settings$near$reference[, bare]
  if (length(bare)) param$membership[bare, ] <- matrix(others, length(bare), k, byrow = TRUE)
  row_scale <- plsa_row_scale(data$view, param, data$margins$row_sum)
  list(
    membership = param$membership, row_scale = row_scale,
    loglik = plsa_row_loglik(data, param, row_scale, fit$missing)
  )
}

warn_fold_in <- function(outcome) {
  if (outcome$status != "converged") warn_not_converged(outcome, "Memberships of new rows not converged")
}

# Counts that no component can write are made unknown.
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
plsa_row_loglik <- function(data, param, row_scale, rule) {
  view <- data$view
  row <- rep(seq_len(nrow(data$x)), diff(view$start))
  value <- if (is.null(view$value)) rep(1, length(row)) else view$value
  out <- numeric(nrow(data$x))
  for (at in split(seq_along(row), (seq_along(row) - 1L) %/% 2^17)) {
    p <- rowSums(param$membership[row[at], , drop = FALSE] * t(param$basis[, view$column[at] + 1L, drop = FALSE]))
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
  for (c in seq_len(fit$dims[["k"]])) {
    p <- p + fit$param$membership[cbind(row, c)] * fit$param$basis[cbind(c, column)]
  }
  x[cbind(row, column)] <- unname(fit$row_scale)[row] * p
  x
}

#' @rdname predict.plsa
#' @export
simulate.plsa <- function(object, nsim = 1, seed = NULL, ..., x = NULL) {
  check_dots(...)
  check_nsim(nsim, prod(object$dims[c("n", "m")]))
  p <- object$param$membership %*% object$param$basis
  unknown <- if (object$dims[["observed"]] < length(p)) is.na(dense_rows(fit_data(object, x), seq_len(nrow(p))))
  if (!is.null(unknown)) p[unknown] <- 0
  total <- round(object$margins$row_sum)
  simulate_with(object, nsim, seed, function() {
    x <- matrix(0L, nrow(p), ncol(p))
    for (i in which(total > 0)) x[i, ] <- draw_multinomial(total[i], p[i, ])
    if (!is.null(unknown)) x[unknown] <- NA
    x
  })
}

# Counts about their means: as of Poisson variables, which given their row totals they are.
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

# Poisson means: the chance of at least one.
presence_probability.plsa <- function(fit) 1 - exp(-fitted(fit))

# Row totals are given in training: a row's means are its total times its distribution.
row_family.plsa <- function(fit) "poisson"

# Figures of PLSA fits.

#' Plot a PLSA fit
#'
#' @description
#' Views of a fit:
#' \describe{
#'   \item{`"basis"`}{a heat map of lifts: how many times as likely each component makes a taxon as all
#'     components together do. Taxa are by the component that lifts them most.}
#'   \item{`"top"`, `"scores"`}{the taxa that each component lifts most, and the sites on two components:
#'     [plot()][autoplot.multicause].}
#'   \item{`"structure"`}{for each site (a vertical bar) how much of it each component makes up:
#'     [plot()][autoplot.multicause].}
#'   \item{`"simplex"`}{for three taxa: sites and components in the triangle of distributions, with the
#'     hull of the components, as in Figure 3 of the paper.}
#'   \item{`"trace"`}{how far every start was below the best, pass by pass.}
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
                          what = c("basis", "structure", "simplex", "top", "scores", "trace", "curves", "map"), ...,
                          taxon = NULL, slices = 4, coast = NULL, n = 8, components = 1:2, groups = NULL) {
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
  lift <- log2(pmax(sweep(basis, 2L, all, "/"), 1 / 8))
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(lift[, seriate(lift), drop = FALSE]), "What each component makes likelier",
    sprintf("Heat map: how many times as likely each component makes each of %d %s.", ncol(basis), taxa), c(-3, 3),
    both_ways(), "lift: times as likely as in the whole table", breaks = -3:3,
    labels = c("1/8", "1/4", "1/2", "1", "2", "4", "8")
  )
}

# Distributions over three attributes as points of an equilateral triangle.
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
