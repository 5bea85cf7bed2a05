# What users do with an aspect Bernoulli fit through R's own generics; the help page is that of predict().

#' @rdname predict.aspect_bernoulli
#' @export
fitted.aspect_bernoulli <- function(object, ...) {
  check_dots(...)
  predict(object)
}

#' Predictions, and data simulated, from an aspect Bernoulli fit
#'
#' Probabilities, memberships and the causes of single cells, for the data of the fit or for new observations;
#' `simulate()` draws new tables from the fit.
#'
#' @details
#' **New observations** are folded in: the aspects stay as they are, and each new row gets the memberships that make its
#' observed cells likeliest (with the fit's Dirichlet prior on memberships, if it has one). That problem is concave, so
#' its maximum is unique; the result carries how far from it the search may have stopped as its attribute
#' `certificate`: `membership_gap`, an upper bound in nats over all rows together, and `worst_row`, the largest relative
#' excess of a gradient (0 is optimal). Aspects are kept within \[1e-10, 1 - 1e-10\] meanwhile, because a row that is
#' impossible under exact zeros and ones has no likelihood. A row with nothing observed says nothing about its
#' memberships; it gets the mean membership of the training rows, and a message names it.
#'
#' **With neighbours** (`smooth`), a new row is pulled towards its neighbours among the training rows, as strongly as
#' these are by theirs, or towards the average of all where `along` does not tell. The problem need not be concave
#' then, and its certificate is 0 where no small change gains, but no bound. A row with nothing
#' observed gets its neighbours' composition and the mean share of the phantom.
#'
#' **Fits with `estimate = "gibbs"`** give the posterior mean of the probabilities of the data's cells, and with
#' `interval` a list of `mean`, `lower` and `upper`: the central interval of the Beta distribution with the mean and
#' standard deviation of the draws. New rows are folded in at the posterior means of the aspects.
#'
#' **Simulated tables** are complete, whatever was missing from the data.
#'
#' @param object a fit of [aspect_bernoulli()].
#' @param newdata new observations, in any form [aspect_bernoulli()] takes; columns are matched by name, in any order,
#'   or by place where one side has no names. Missing: the data of the fit.
#' @param type `"response"`: probability of a presence in every cell; `"membership"`: share of each component in each
#'   row; `"cell"`: posterior probability that each component wrote the cell, given its observed value (unknown cells:
#'   the membership).
#' @param along for a fit with `smooth`, the covariates of the new observations: a list such as
#'   `list(age = , place = )` with what [smooth_over()] was given, in the same forms (`distance`: new x training rows;
#'   `neighbours`: numbers or weights of training rows). Without `newdata`, of sites where nothing is recorded yet.
#'   `NULL`: unknown.
#' @param ... must be empty.
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused with that advice.
#' @param control settings of the fold-in from [fit_control()], of which `max_pass`, `tol`, `accelerate` and `n_threads`
#'   count. Cost: O(n m k) a pass.
#' @param x the data of the fit, for `"cell"` without `newdata` where the fit was made with `keep_x = FALSE`.
#' @param phantom_convention for `"membership"` and `"cell"`, see [false_absences()]; the `"response"` for the data of
#'   the fit is the same in all.
#' @param interval for fits with `estimate = "gibbs"`, without `newdata`: `NULL`, or the probability of a central
#'   credible interval, between 0 and 1.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to go on with the session's random numbers, or a number for [set.seed()] that leaves them as they
#'   were.
#' @return `predict()`: a matrix rows x m (`"response"`) or rows x k (`"membership"`), or an array rows x m x k
#'   (`"cell"`), with names. `fitted()`: the first, for the data of the fit. `simulate()`: a list of `nsim` integer 0/1
#'   matrices n x m with the names of the data, and as its attribute `seed` what [stats::simulate()] promises.
#' @seealso [test_loglik()] for the held-out likelihood.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.3), 20, 10)
#' fit <- aspect_bernoulli(x, k = 2)
#' predict(fit, x[1:2, ], type = "membership")
#' @export
predict.aspect_bernoulli <- function(object, newdata, type = c("response", "membership", "cell"), ..., rows = NULL,
                                     along = NULL, control = fit_control(max_pass = 5000, tol = 1e-10), x = NULL,
                                     phantom_convention = c("fitted", "minimal", "maximal")) {
  check_dots(...)
  if (!missing(phantom_convention)) object <- use_convention(object, NULL, phantom_convention, x)$fit
  check_control(control)
  type <- check_choice(type, "type", c("response", "membership", "cell"))
  is_new <- (!missing(newdata) && !is.null(newdata)) || !is.null(along)
  if (is_new) new <- new_sites(object, if (!missing(newdata)) newdata, along)
  names <- if (is_new) rownames(new$x) else object$names[[1L]]
  rows <- pick(rows, if (is_new) nrow(new$x) else object$dims[["n"]], names, "rows")
  width <- c(response = object$dims[["m"]], membership = object$dims[["k"]], cell = prod(object$dims[c("m", "k")]))
  refuse_large(length(rows) * width[[type]], "The prediction", "take some observations at a time by `rows`")
  if (is_new) {
    new <- list(x = new$x[rows, , drop = FALSE], along = pick_along(new$along, rows))
    folded <- fold_in(object, new$x, control, new$along)
    param <- folded$param
  } else {
    param <- list(membership = object$param$membership[rows, , drop = FALSE], aspects = object$param$aspects)
  }
  labels <- list(names[rows], object$names[[2L]], component_names(object$dims[["k"]]))
  out <- switch(type,
    response = structure(mixed(param$membership, param$aspects), dimnames = name_sides(labels[1:2])),
    membership = structure(param$membership, dimnames = labels[c(1L, 3L)]),
    cell = {
      x <- if (is_new) dense_rows(new$x, seq_along(rows)) else dense_rows(fit_data(object, x), rows)
      array(cell_posterior(x, param), c(dim(x), length(labels[[3L]])), labels)
    }
  )
  if (is_new) attr(out, "certificate") <- folded$certificate
  out
}

# Mixtures of probabilities, which rounding may carry over 1.
mixed <- function(shares, probabilities) pmin(shares %*% probabilities, 1)

name_sides <- function(names) if (all(vapply(names, is.null, NA))) NULL else names

# New data as a matrix whose columns are those of the fit.
new_rows <- function(fit, newdata) {
  newdata <- as_plain_matrix(newdata, "newdata")
  check_dimnames(newdata, "newdata")
  match_columns(newdata, fit$names[[2L]], fit$dims[["m"]], "newdata")
}

fold_in_rounds <- 10L

# Memberships of new rows, aspects held.
fold_in <- function(fit, x, control, along = NULL) {
  data <- check_data(x, "binary", "newdata", quiet = TRUE)
  n <- nrow(data$x)
  k <- fit$dims[["k"]]
  aspects <- unname(pmin(pmax(fit$param$aspects, 1e-10), 1 - 1e-10))
  pseudo <- c(0, 0, fit$pseudo[3L])
  pinned <- unname(fit$pinned)
  smooth <- smooth_given(fit, n, along)
  run <- list(param = list(membership = matrix(1 / k, n, k), aspects = aspects))
  # A start that gains little may only crawl: the certificate tells, and a fresh acceleration goes on.
  for (round in seq_len(fold_in_rounds)) {
    run <- ab_run(data$view, run$param, pinned, pseudo, control, fixed_aspects = TRUE, smooth = smooth)
    check_outcome(run$outcome)
    gap <- .Call(mc_c_ab_certify, data$view, ab_kernel_param(run$param, pinned, TRUE, smooth), pseudo)
    if (run$outcome$status != "converged" || gap[1L] <= 1e-8 * sum(data$margins$row_observed)) break
  }
  if (run$outcome$status != "converged") {
    warning(warningCondition(
      sprintf("Fold-in not converged after %d passes: see the attribute `certificate`.", run$outcome$n_pass),
      class = "multicause_not_converged", call = NULL
    ))
  }
  bare <- which(data$margins$row_observed == 0)
  if (length(bare) && !is.null(smooth)) {
    # Neighbours tell the composition; how well the site would be recorded nobody can, so it is the table's mean.
    share <- colMeans(fit$param$membership)
    free <- pinned == "free"
    run$param$membership[bare, free] <- sum(share[free]) * t(smooth$reference[free, bare, drop = FALSE])
    run$param$membership[bare, !free] <- rep(share[!free], each = length(bare))
  } else if (length(bare)) {
    run$param$membership[bare, ] <- rep(colMeans(fit$param$membership), each = length(bare))
    inform(
      "%d row(s) of `newdata` with nothing observed get the mean membership: %s.", length(bare),
      show_names(if (is.null(rownames(data$x))) as.character(bare) else rownames(data$x)[bare])
    )
  }
  list(
    param = run$param, certificate = c(membership_gap = gap[1L], worst_row = gap[3L]),
    loglik = run$outcome$objective
  )
}

# P(component c wrote the cell | its value), rows x m x k; eq. (7) and the membership where the value is unknown.
cell_posterior <- function(x, param) {
  p_one <- param$membership %*% param$aspects
  p_zero <- param$membership %*% (1 - param$aspects)
  vapply(seq_len(nrow(param$aspects)), function(c) {
    s <- matrix(param$membership[, c], nrow(x), ncol(x))
    a <- matrix(param$aspects[c, ], nrow(x), ncol(x), byrow = TRUE)
    ifelse(is.na(x), s, ifelse(x == 1, s * a / p_one, s * (1 - a) / p_zero))
  }, array(0, dim(x)))
}

#' @rdname predict.aspect_bernoulli
#' @export
simulate.aspect_bernoulli <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  nsim <- check_count(nsim, "nsim", 1L)
  probability <- pmin(pmax(fitted(object), 0), 1) # sums may leave [0, 1] by rounding
  draw <- function() {
    replicate(nsim, simplify = FALSE, {
      x <- probability
      storage.mode(x) <- "integer"
      x[] <- stats::rbinom(length(x), 1L, probability)
      x
    })
  }
  drawn <- draw_seeded(draw, seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

# Evaluates draw() as stats::simulate() asks: under the seed given, and then the session's generator is as it was, or
# from the session's own. The seed returned reproduces the draw.
draw_seeded <- function(draw, seed) {
  current <- function() get0(".Random.seed", globalenv(), inherits = FALSE)
  if (is.null(current())) stats::runif(1L)
  before <- current()
  if (is.null(seed)) {
    return(list(value = draw(), seed = before))
  }
  on.exit(assign(".Random.seed", before, globalenv()))
  set.seed(check_count(seed, "seed", -.Machine$integer.max))
  list(value = draw(), seed = structure(seed, kind = as.list(RNGkind())))
}
