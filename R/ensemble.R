#' Average several fits
#'
#' Averages the cell probabilities of fits that differ in their starts, their number of components or their model. Good
#' solutions differ in detail, and their average finds false absences better than the best of them.
#'
#' @details
#' **Members.** Given data, `members` fits are made from different starts for each `k` and setting of `grid`. Given a
#' fit with `keep_starts = TRUE` in [fit_control()], its finished starts are the members; given a list of fits to the
#' same data, these are.
#'
#' **Weights.** `"equal"`; `"held_out"`: cells are held out as in [cross_validate()], and each group of members (same
#' model, `k` and arguments) gets the weight with which the average predicts these cells best (stacking, Yao and others
#' 2018); or numbers.
#'
#' **The result.** An average of aspect Bernoulli fits is an aspect Bernoulli model itself, with the components of all
#' members. So [false_absences()], [phantoms()], [by_site()] and [denoise()] work as for a single fit. For other models
#' it has the probabilities.
#'
#' **Which average.** The default, where `model`, `grid`, `estimate` and `prior` are `NULL`, was best on tables of
#' fossils and birds with planted or known false absences: many short fits with more components than any criterion
#' selects, half by maximum likelihood, half with weak priors (`aspects = c(1.2, 2), membership = 1.03`). Each stops
#' after 50 iterations of EM, which keeps probabilities off 0 and 1. For small tables give smaller `k`.
#'
#' **Variational Bayes.** `ensemble(x, k = 2:6, estimate = "vb", phantom = "white")` fits each `k` with four priors
#' (memberships 1 or 0.3, components 1 or 0.5), with weights by held-out cells and two complete starts each. Its
#' probabilities are the best calibrated: slopes (1 is calibrated) were 0.92 to 1.14 on eight of nine kinds of simulated
#' tables, and 1.31 on narrow ranges along a gradient; slopes of single fits were 0.77 to 1.91. The 90 % intervals of
#' [by_site()] held what was missed at 87 to 98 % of the sites, and the number of the whole table in 52 of 54 tables
#' (single fits: 7 of 54). Do not trust intervals of single cells, which held 29 to 92 % of the truth: use the upper
#' ends of [identifiability()]. `print()` warns if the members disagree on the number (`bench/bayes.md` in the sources).
#'
#' **Several estimates.** `grid = list(estimate = c("ml", "map", "vb"))` with `weights = "held_out"` averages over
#' these, too. Make fits with `estimate = "gibbs"` yourself, and give all as a list. `print()` and `summary()` have the
#' weights.
#'
#' **Cost.** `members` fits for each `k` and setting of `grid`, 48 by default, and as many for each fold with
#' `"held_out"`. They run in parallel under a [future::plan()], with the same result.
#' @param x data, as [aspect_bernoulli()] takes them; a fit with kept starts; or a list of fits to the same data.
#' @param ... for data: further arguments of the model; else empty.
#' @param k numbers of components, for data.
#' @param model a model, for data, as in [cross_validate()]. `NULL`: [aspect_bernoulli()], see Details.
#' @param grid further arguments of the model to combine with every `k`, as in [cross_validate()], for data.
#' @param members fits for each `k` and setting of `grid`, from 1 to a million, for data. `NULL`: 4, or see Details.
#' @param weights `"equal"`, `"held_out"` or a number of at least 0 for every member. `NULL`: `"equal"`, or see Details.
#' @param folds number of folds for `"held_out"`, at least 2.
#' @param floor smallest probability given to a held-out cell, above 0 and at most 0.5.
#' @param control settings of each fit, for data, from [fit_control()]. `NULL` is one start and 50 iterations of EM:
#'   members should differ, and errors of single short fits average out; or see Details.
#' @return A list of class `multicause_ensemble` (and `aspect_bernoulli`, where all members are): `fits`, `weights`,
#'   `probability` (n x m, the average probability of a presence), `dims` and `names` as in a fit, with `k` the number
#'   of all components, and where members are aspect Bernoulli fits `param`. Methods: `print`, `fitted`, `predict` for
#'   new data (`along` where the members have neighbours), `residuals`; [curves()].
#' @references Yao Y, Vehtari A, Simpson D, Gelman A (2018). Using stacking to average Bayesian predictive
#'   distributions. *Bayesian Analysis* 13, 917-1007. \doi{10.1214/17-BA1091}
#' @seealso [recovery()], [modes()]
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, 0.6)
#' several <- ensemble(x, k = 2:4, members = 2)
#' several
#' head(false_absences(several), 3)
#' @export
ensemble <- function(x, ...) UseMethod("ensemble")

#' @rdname ensemble
#' @export
ensemble.default <- function(x, k = c(10, 12, 16, 20, 24, 32), model = NULL, ..., grid = NULL, members = NULL,
                             weights = NULL, folds = 5, floor = 1e-6, control = NULL) {
  own_choice <- is.null(model) && is.null(grid) # of what the members are: that of the package
  models <- if (is.null(model)) list(aspect_bernoulli = aspect_bernoulli) else check_models(model, substitute(model))
  if (length(models) > 1L) stop_input("`model` must be one model; for several, call ensemble() with a list of fits.")
  args <- list(...)
  if (is.null(args$prior)) args$prior <- NULL # given as NULL, which is nothing to average over
  bayesian <- own_choice && identical(args$estimate, "vb") && is.null(args$prior)
  if (bayesian) grid <- bayesian_members$grid
  members <- check_count(members %||% if (bayesian) 1L else 4L, "members", 1L, most_tasks)
  weights <- weights %||% if (bayesian) "held_out" else "equal"
  control <- check_control(control %||% if (bayesian) bayesian_members$control() else short_control(), for_many = TRUE)
  refuse_checkpoint(control)
  # Few iterations of EM yield members that differ. Models of counts, for which this was not tried, keep their default.
  if (control$algorithm == "auto" && !names(models) %in% c("plsa", "nmf")) control$algorithm <- "em"
  settings <- if (own_choice) {
    member_settings(check_counts(k, "k"), args, grid)
  } else {
    make_settings(models, check_counts(k, "k"), args, check_grid(grid))
  }
  data <- check_data(x, "nonnegative")
  fits <- fit_settings(data$x, settings, control, members = members)
  group <- rep(seq_along(settings), each = members)[is_done(fits)]
  fits <- fits[is_done(fits)]
  new_ensemble(fits, member_weights(weights, fits, group, folds, floor, data$x), by_held_out(weights))
}

# Returns the settings of members that are aspect Bernoulli models; by default all estimates found best.
member_settings <- function(k, args, grid = NULL) {
  if (!any(c("estimate", "prior") %in% names(args))) {
    grid <- recommended_members$grid
    args <- c(args, recommended_members$args)
  }
  make_settings(list(aspect_bernoulli = aspect_bernoulli), k, args, check_grid(grid))
}

# Settings for members: they should differ, because the errors of single short fits average out.
short_control <- function() fit_control(n_start = 1, n_polish = 0, max_iter = 50, tol = 1e-7)

# Settings that found planted and known false absences best (bench/recovery.md), for the default model.
recommended_members <- list(
  grid = list(estimate = c("ml", "map")), args = list(prior = list(aspects = c(1.2, 2), membership = 1.03))
)

# Settings that were calibrated most often in variational Bayes (bench/bayes.md).
bayesian_members <- list(
  grid = list(prior = list(
    list(aspects = c(1, 1), membership = 1), list(aspects = c(0.5, 0.5), membership = 1),
    list(aspects = c(1, 1), membership = 0.3), list(aspects = c(0.5, 0.5), membership = 0.3)
  )),
  control = function() fit_control(n_start = 2, n_polish = 0, max_iter = 300, tol = 1e-6)
)

#' @rdname ensemble
#' @export
ensemble.data.frame <- ensemble.default

#' @rdname ensemble
#' @export
ensemble.multicause <- function(x, ..., weights = NULL, folds = 5, floor = 1e-6) {
  check_dots(...)
  fits <- start_fits(x, "x")
  new_ensemble(fits, member_weights(weights, fits, rep(1L, length(fits)), folds, floor), by_held_out(weights))
}

#' @rdname ensemble
#' @export
ensemble.list <- function(x, ..., weights = NULL, folds = 5, floor = 1e-6) {
  check_dots(...)
  if (!length(x)) stop_input("`x` must hold at least one fit.")
  for (i in seq_along(x)) {
    check_fit(x[[i]], name = sprintf("x[[%d]]", i))
    same <- all(x[[i]]$dims[c("n", "m")] == x[[1L]]$dims[c("n", "m")]) && identical(x[[i]]$names, x[[1L]]$names)
    if (!same) {
      stop_input("Fits in `x` must be to the same data: number %d differs from the first in shape or names.", i)
    }
  }
  group <- vapply(x, member_key, "")
  new_ensemble(x, member_weights(weights, x, group, folds, floor), by_held_out(weights))
}

# Identifies members that differ only in their starting values.
member_key <- function(fit) {
  call <- as.list(fit$call)
  paste(deparse(call[!names(call) %in% c("x", "k", "start", "control")]), fit$dims[["k"]], collapse = "")
}

# Returns every finished start of a fit as a fit; see usable_starts().
start_fits <- function(fit, name) {
  check_fit(fit, name = name)
  if (is.null(fit$start_params)) {
    stop_input("`%s` must be made with `keep_starts = TRUE` in fit_control().", name)
  }
  usable <- usable_starts(fit$starts)
  each <- Map(function(param, at) {
    fit$param <- start_param(fit, param)
    fit$objective[] <- fit$starts$objective[at]
    fit$loglik <- if (identical(names(fit$objective), "log_likelihood")) fit$starts$objective[at] else NA_real_
    fit <- with_start(fit, param)
    fit$converged <- fit$starts$converged[at]
    fit$starts <- fit$starts[at, ]
    fit$start_params <- fit$expected_false <- NULL
    if (!is.null(fit$certificate)) fit$certificate <- no_certificate
    fit
  }, fit$start_params, usable)
  for (i in seq_along(each)) {
    # Starts do not keep the parameters of every observation.
    if (!is.null(fit$param$activation) && !is.null(fit$x)) {
      each[[i]]$param$activation <- predict(each[[i]], newdata = fit$x, type = "activation", activation = fit$known)
    }
  }
  each
}

# Returns the parameters of one start in the form and with the names of those of the fit. Internal parts of a start are
# dropped; parts per observation that it does not keep are unknown.
start_param <- function(fit, param) {
  for (part in setdiff(names(fit$param), c("activation", "q"))) {
    value <- if (is.list(param)) param[[part]]
    if (length(value) == length(fit$param[[part]])) attributes(value) <- attributes(fit$param[[part]])
    fit$param[part] <- list(value)
  }
  fit$param$q <- NULL
  if (!is.null(fit$param$activation)) fit$param$activation[] <- NA
  fit$param
}

# Held-out cells measure predictions, not estimates of undetected presences: members that predict slightly worse are as
# plausible in that respect. Draws therefore use the square roots of such weights, which correct the intervals of
# undetected presences by site and by taxon if single faunas make a site (chosen on tables other than those of
# bench/bayes.md).
tempered <- function(weights) sqrt(weights) / sum(sqrt(weights))

by_held_out <- function(weights) identical(weights, "held_out")

member_weights <- function(weights, fits, group, folds, floor, x = NULL) {
  n <- length(fits)
  if (is.numeric(weights)) {
    if (length(weights) != n || anyNA(weights) || any(weights < 0) || sum(weights) <= 0) {
      stop_input("`weights` must hold a number of at least 0 for each member (%d), not all 0.", n)
    }
    return(weights / sum(weights))
  }
  weights <- check_choice(weights %||% "equal", "weights", c("equal", "held_out"))
  if (weights == "equal" || length(unique(group)) == 1L) {
    return(rep(1 / n, n))
  }
  group <- match(group, unique(group)) # a setting whose fits were all stopped leaves a gap
  shared <- stacking_weights(fits, group, folds, check_floor(floor), if (is.null(x)) fit_data(fits[[1L]]) else x)
  shared[group] / tabulate(group)[group]
}

# Computes the probabilities that each group's members, refitted without a fold's cells, assign to these cells; then the
# weights that maximise the likelihood of their average.
stacking_weights <- function(fits, group, folds, floor, x) {
  plan <- fold_plan(x, "cells", folds, 1)
  tasks <- expand.grid(member = seq_along(fits), fold = seq_len(plan$folds))
  tasks$seed <- draw_seeds(nrow(tasks))
  common <- list(fits = fits, x = x, held = plan$held[[1L]])
  each <- split(tasks, seq_len(nrow(tasks)))
  done <- map_tasks(each, fit_without_fold, common, "Folds", running = task_running(need_all = TRUE))
  by_member <- lapply(seq_along(fits), function(i) unlist(done[tasks$member == i]))
  by_group <- vapply(unique(group), function(g) Reduce(`+`, by_member[group == g]) / sum(group == g), by_member[[1L]])
  stack_em(pmax(by_group, floor))
}

# Refits a member without the cells of a fold and returns the probabilities of their values.
fit_without_fold <- function(task, common, tick) {
  held <- common$held[[task$fold]]
  fit <- common$fits[[task$member]]
  x <- replace_cells(common$x, held)
  again <- with_seed(task$seed, quiet_fit(stats::update(fit, x = x, control = judging_control(fit$control)))$value)
  p <- presence_probability(again)[held]
  ifelse(cells_of(common$x, held) == 1, p, 1 - p)
}

# Estimates the weights of a mixture with known components by EM: cells x groups of probabilities.
stack_em <- function(p, iterations = 2000L) {
  w <- rep(1 / ncol(p), ncol(p))
  for (iteration in seq_len(iterations)) {
    share <- sweep(p, 2L, w, "*")
    new <- colMeans(share / rowSums(share))
    if (max(abs(new - w)) < 1e-8) break
    w <- new
  }
  new / sum(new)
}

# Sums weighted matrices matrix_of(1), matrix_of(2), ..., one at a time because they may be large.
weighed_sum <- function(weights, matrix_of) {
  sum <- 0
  for (i in which(weights != 0)) sum <- sum + weights[[i]] * matrix_of(i)
  sum
}

new_ensemble <- function(fits, weights, stacked = FALSE) {
  first <- fits[[1L]]
  aspects <- all(vapply(fits, inherits, NA, "aspect_model"))
  dims <- first$dims
  dims[["k"]] <- sum(vapply(fits, function(fit) fit$dims[["k"]], 0))
  out <- list(
    fits = fits, weights = unname(weights), draw_weights = unname(if (stacked) tempered(weights) else weights),
    probability = NULL, dims = dims, names = first$names, x = first$x
  )
  if (aspects) out <- c(out, stack_aspects(fits, weights, dims[["k"]]))
  # One product if fitted() of all members is such: n x m matrices may be large.
  mixtures <- all(vapply(fits, function(fit) class(fit)[1L] == "aspect_bernoulli", NA))
  out$probability <- if (mixtures) {
    structure(mixed(out$param$membership, out$param$aspects), dimnames = name_sides(first$names))
  } else {
    weighed_sum(weights, function(i) presence_probability(fits[[i]]))
  }
  structure(out, class = c("multicause_ensemble", if (aspects) c("aspect_bernoulli", "aspect_model"), "multicause"))
}

# Stacks the components of all members into one aspect Bernoulli model.
stack_aspects <- function(fits, weights, k) {
  labels <- component_names(k)
  membership <- do.call(cbind, Map(function(fit, w) w * fit$param$membership, fits, weights))
  aspects <- do.call(rbind, lapply(fits, function(fit) fit$param$aspects))
  colnames(membership) <- rownames(aspects) <- labels
  fixed <- stats::setNames(unlist(lapply(fits, function(fit) unname(fit$fixed))), labels)
  first <- fits[[1L]]
  list(
    param = list(membership = membership, aspects = aspects), fixed = fixed, density = first$density,
    margins = first$margins
  )
}

#' @export
print.multicause_ensemble <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  k <- vapply(x$fits, function(fit) fit$dims[["k"]], 0)
  titles <- unique(vapply(x$fits, function(fit) model_title(fit), ""))
  write_sentences(sprintf(
    "Average of %s (%s): %s", count_words(length(x$fits), "fit"), paste(titles, collapse = ", "),
    table_words(x$dims, axis_words(x))
  ))
  by <- data.frame(estimate = member_estimates(x), k = k)
  if (all(is.na(by$estimate))) by$estimate <- NULL
  each <- interaction(by, drop = TRUE)
  first <- by[match(levels(each), each), , drop = FALSE]
  table <- c(
    if (!is.null(first$estimate)) list(estimate = first$estimate),
    list(
      k = format_big(first$k), fits = format(as.vector(table(each))),
      weight = sprintf("%.*f", digits, tapply(x$weights, each, sum))
    )
  )
  cat("\n")
  print_aligned(lapply(table, `[`, order(first$k)), left = which(names(table) == "estimate"))
  unready <- sum(vapply(x$fits, function(fit) isFALSE(fit$converged), NA))
  notes <- c(if (unready) {
    sprintf(
      "Stopped before convergence: %s, as the default `control` does to keep probabilities off 0 and 1.",
      count_words(unready, "fit")
    )
  }, members_sentence(x))
  if (length(notes)) write_sentences(c("", notes))
  invisible(x)
}

#' @export
summary.multicause_ensemble <- function(object, ...) {
  check_dots(...)
  k <- vapply(object$fits, function(fit) fit$dims[["k"]], 0)
  data.frame(
    member = seq_along(k), model = vapply(object$fits, function(fit) class(fit)[1L], ""),
    estimate = member_estimates(object), k = k, weight = object$weights, missed = members_missed(object),
    objective = vapply(object$fits, function(fit) unname(fit$objective), 0),
    converged = vapply(object$fits, function(fit) fit$converged, NA)
  )
}

# Returns the estimator of each member; NA for models with one.
member_estimates <- function(object) {
  vapply(object$fits, function(fit) if (is.character(fit$estimate)) fit$estimate[[1L]] else NA_character_, "")
}

# If members of sufficient weight expect numbers of false absences this far apart, probabilities of the average are
# unreliable; intervals of sums keep their coverage: bench/bayes.md.
most_apart <- 0.45 # standard deviation over members of the log of that number
least_counted <- 0.01 # weight of a member

members_apart <- function(object) {
  used <- object$weights >= least_counted
  if (sum(used) < 2L) {
    return(NULL)
  }
  object$fits <- object$fits[used]
  weights <- object$weights[used] / sum(object$weights[used])
  missed <- members_missed(object)
  if (anyNA(missed)) {
    return(NULL)
  }
  size <- log(pmax(missed, 1))
  list(missed = range(missed), spread = sqrt(sum(weights * (size - sum(weights * size))^2)))
}

members_sentence <- function(object) {
  # Equal weights carry no information on which members describe the table.
  if (length(unique(object$weights)) < 2L || !has_draws(object)) {
    return(NULL)
  }
  apart <- members_apart(object)
  if (is.null(apart)) {
    return(NULL)
  }
  said <- sprintf(
    "The members estimate %s to %s zeros to be false", show_count(apart$missed[1L]), show_count(apart$missed[2L])
  )
  if (apart$spread <= most_apart) {
    return(paste0(said, "."))
  }
  c(
    sprintf("Warning: %s, so the number depends on k and the prior.", sub("^T", "t", said)),
    "Probabilities of single cells may be far off; the intervals of by_site() include that disagreement."
  )
}

# Computes the expected number of false absences of each member; NA without a white phantom.
members_missed <- function(object) {
  vapply(object$fits, function(fit) {
    if (!inherits(fit, "aspect_model") || is.null(fit$x)) {
      return(NA_real_)
    }
    kinds <- draw_kinds(fit)
    if (has_noise(fit, kinds, "absences")) expected_false(fit, fit$x, kinds)[["expected"]] else NA_real_
  }, 0)
}

presence_probability.multicause_ensemble <- function(fit, mean = fit$probability) mean

#' @export
predict.multicause_ensemble <- function(object, newdata = NULL, type = "response", ..., along = NULL) {
  check_dots(...)
  check_choice(type, "type", "response")
  if (is.null(newdata) && is.null(along)) {
    return(object$probability)
  }
  given <- c(list(newdata), if (!is.null(along)) list(along = along))
  weighed_sum(object$weights, function(i) {
    mean <- do.call(stats::predict, c(list(object$fits[[i]]), given), quote = TRUE)
    probability <- presence_probability(object$fits[[i]], mean)
    attributes(probability) <- attributes(probability)[c("dim", "dimnames")]
    probability
  })
}

#' @export
logLik.multicause_ensemble <- function(object, ...) {
  stop_input("An average of fits maximised no likelihood, so logLik(), AIC() and BIC() have no meaning for it.")
}

#' @export
update.multicause_ensemble <- function(object, ...) {
  stop_input("An average of fits cannot be updated: update its members and average them again.")
}

data_kind.multicause_ensemble <- function(fit) data_kind(fit$fits[[1L]])
