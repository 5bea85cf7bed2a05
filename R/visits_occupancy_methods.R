# Methods for fits of visits_occupancy(): print, intervals, predictions, figures, and generics that functions on fits
# call. Tests: test-visits_occupancy.R.

# ---- Print ----

model_title.visits_occupancy <- function(fit) paste("Occupancy of each", singular_word(axis_words(fit)[2L]))

shape_words.visits_occupancy <- function(fit) {
  visits <- length(fit$detection$made) / fit$dims[["n"]]
  paste0(table_words(fit$dims, axis_words(fit)), ", ", count_words(visits, "visit"))
}

found_sentences.visits_occupancy <- function(fit, digits = 4L) {
  total <- fit$total
  ends <- function(low, high) show_ends(total[[low]], total[[high]])
  c(
    if (all(rowSums(matrix(fit$detection$made, fit$dims[["n"]])) <= 1)) {
      sprintf(
        "No number of undetected presences: no %s was visited twice, so it would follow from the prior alone.",
        singular_word(axis_words(fit)[1L])
      )
    } else {
      sprintf(
        "Undetected presences: %s (90 %% interval %s; %s if the model holds exactly).", show_count(total[["missed"]]),
        ends("low", "high"), ends("model_low", "model_high")
      )
    },
    rare_sentence(fit)
  )
}

printed_ends.visits_occupancy <- function(fit, level) {
  if (is_ninety(level)) structure(unname(fit$total[c("model_low", "model_high")]), holds = "if the model holds exactly")
}

detail_sentences.visits_occupancy <- function(fit, digits = 4L) c(formulas_sentence(fit), uneven_sentence(fit))

# How common taxa are and how well a visit finds them.
fit_table.visits_occupancy <- function(fit, digits = 4L) {
  words <- singular_word(axis_words(fit))
  there <- colMeans(fit$cells$presence)
  found <- as.vector(detection_mean(fit, matrix(rowMeans(fit$detection$design[, fit$detection$made, drop = FALSE]))))
  names <- side_names(fit, 2L)
  end <- function(p, at) sprintf("%s (%s)", format_probability(p[at]), names[at])
  both <- list(there, found)
  list(
    probability = c(
      sprintf("%s present at %s", words[2L], indefinite(words[1L])), "detected by a visit, if present"
    ),
    mean = vapply(both, function(p) format_probability(mean(p)), ""),
    lowest = vapply(both, function(p) end(p, which.min(p)), ""),
    highest = vapply(both, function(p) end(p, which.max(p)), "")
  )
}

indefinite <- function(word) paste(if (grepl("^[aeiou]", word)) "an" else "a", word)

formulas_sentence <- function(fit) {
  depends <- function(part) {
    formula <- fit[[part]]$formula
    if (length(all.vars(formula))) paste("depends on", deparse1(formula)) else "does not depend on covariates"
  }
  sprintf(
    "Presence %s, detection %s; %s are shrunk towards their common mean.", depends("presence"), depends("detection"),
    axis_words(fit)[2L]
  )
}

uneven_sentence <- function(fit) {
  of <- fit$uneven
  if (nrow(of) > 1L && max(of$uneven) > 0 && of$weight[nrow(of)] > 0.5) {
    return(sprintf(
      "`uneven` is at the largest value tried, %s, and larger ones may fit better: try `uneven = c(%s)`.",
      format(max(of$uneven)), paste(format(max(of$uneven) * c(1, 1.5, 2), trim = TRUE), collapse = ", ")
    ))
  }
  mean <- sum(of$uneven * of$weight)
  if (mean < 0.25) {
    return(NULL)
  }
  sprintf("Detection is uneven among %s: log-odds have a standard deviation of %s.", axis_words(fit)[1L],
    format(mean, digits = 2L))
}

estimator_words.visits_occupancy <- function(fit) NULL

reached_sentence.visits_occupancy <- function(fit, digits = 4L) {
  rhat <- occupancy_rhat(fit$draws)
  sprintf(
    "EM: %s; then %s of one chain (R-hat of its halves at most %.2f%s); WAIC %s", ended_words(fit, digits),
    count_words(dim(fit$draws$theta)[3L], "draw"), rhat, if (rhat > 1.1) ", not yet converged" else "",
    format(fit$waic[["waic"]], digits = max(digits, 5L))
  )
}

# The largest R-hat of the total, of means and of spreads, between the halves of the draws with the value of `uneven`
# that most have.
occupancy_rhat <- function(draws) {
  same <- draws$uneven == which.max(tabulate(draws$uneven))
  values <- rbind(colSums(draws$missed), draws$center, log(draws$spread))[, same, drop = FALSE]
  max(apply(values, 1L, function(one) split_rhat(matrix(one))), na.rm = TRUE)
}

#' @export
summary.visits_occupancy <- function(object, ...) {
  check_dots(...)
  out <- NextMethod()
  out$mean <- object$mean
  out$waic <- object$waic
  out$words <- axis_words(object)
  class(out) <- c("summary.visits_occupancy", class(out))
  out
}

#' @export
print.summary.visits_occupancy <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print_screen(x$screen)
  write_sentences(x$details)
  cat(sprintf("\nCoefficients (scaled covariates): mean over %s, 90 %% interval, spread\n", x$words[2L]))
  print.data.frame(round_columns(x$mean, digits), row.names = FALSE)
  print_criteria(x, digits)
  cat(sprintf("WAIC %s (effective number of parameters %s)\n", format(x$waic[["waic"]], digits = 7L),
    format(x$waic[["p_waic"]], digits = digits)))
  invisible(x)
}

# Counts the sites visited, as other packages of occupancy do.
#' @export
nobs.visits_occupancy <- function(object, ...) {
  sum(rowSums(matrix(object$detection$made, object$dims[["n"]])) > 0)
}

# The parameters are those of the taxa's distribution, whose number does not grow with the table.
why_no_bic.visits_occupancy <- function(fit) NULL

# ---- Coefficients ----

#' @export
as.data.frame.visits_occupancy <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name_linter.
                                           ..., matrix = NULL) {
  as.data.frame(tidy(x, matrix), ...)
}

# Returns coefficients x draws, named "taxon:part:term".
coefficient_draws_of <- function(fit) {
  taxa <- side_names(fit, 2L)
  each <- lapply(c("presence", "detection"), function(part) {
    own <- own_coefficients(fit$draws$theta, fit, part)
    names <- paste(rep(taxa, each = dim(own)[1L]), part, rep(fit[[part]]$terms, length(taxa)), sep = ":")
    matrix(own, length(names), dimnames = list(names, NULL))
  })
  do.call(rbind, each)
}

#' Intervals of the coefficients of occupancy
#'
#' Intervals for a fit of [visits_occupancy()], from draws of the posterior, on the covariates' own scale. They include
#' the uncertainty of the common mean and of the spread among taxa. On simulated surveys 90 % intervals of slopes held
#' the truth in 90 to 94 % (`bench/visits_occupancy.md` in the sources).
#'
#' @param object,x a fit of [visits_occupancy()].
#' @param parm names of coefficients, `"taxon:part:term"` as `vcov()` has them, or of a part of these: `"presence"`,
#'   `"presence:elev"`, a taxon, `"taxon:presence"`. Missing: all.
#' @param level,conf.level probability of the intervals.
#' @param matrix `"presence"`, `"detection"` or, `NULL`, both.
#' @param conf.int whether to give intervals.
#' @param ... must be empty.
#' @return `confint()`: a matrix with a row for each coefficient, lower and upper end. `vcov()`: their covariance.
#'   `tidy()`: a data frame with `part`, `taxon`, `term`, `estimate`, `std.error` and, if requested, `conf.low` and
#'   `conf.high`.
#' @examples
#' set.seed(1)
#' present <- matrix(rbinom(200, 1, 0.6), 40)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(200, 1, 0.5), 40))
#' fit <- visits_occupancy(visits, uneven = 0)
#' confint(fit, "presence")
#' head(tidy(fit, conf.int = TRUE), 3)
#' @export
confint.visits_occupancy <- function(object, parm, level = 0.95, ...) {
  check_dots(...)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  draws <- coefficient_draws_of(object)
  if (!missing(parm)) draws <- draws[pick_coefficients(parm, rownames(draws)), , drop = FALSE]
  ends <- c((1 - level) / 2, (1 + level) / 2)
  out <- t(apply(draws, 1L, stats::quantile, ends, names = FALSE))
  colnames(out) <- paste(format(100 * ends, trim = TRUE, digits = 3L), "%")
  out
}

# Selects the names, a:b:c, that contain some of `parm` as a run of their parts.
pick_coefficients <- function(parm, names) {
  known <- function(one) grepl(paste0(":", one, ":"), paste0(":", names, ":"), fixed = TRUE)
  bad <- if (is.character(parm)) Filter(function(one) !any(known(one)), parm)
  if (!is.character(parm) || !length(parm) || length(bad)) {
    stop_input("`parm` must be names of coefficients, as %s, or of a part of them, not %s.", show_names(names, 2L),
      if (length(bad)) show_names(bad) else show_value(parm))
  }
  Reduce(`|`, lapply(parm, known))
}

#' @rdname confint.visits_occupancy
#' @export
vcov.visits_occupancy <- function(object, ...) {
  check_dots(...)
  stats::cov(t(coefficient_draws_of(object)))
}

# nolint start: object_name_linter.
#' @rdname confint.visits_occupancy
#' @export
tidy.visits_occupancy <- function(x, matrix = NULL, ..., conf.int = FALSE, conf.level = 0.95) {
  check_dots(...)
  conf.int <- check_flag(conf.int, "conf.int")
  conf.level <- check_number(conf.level, "conf.level", 0, 1, open = TRUE)
  parts <- c("presence", "detection")
  if (!is.null(matrix)) parts <- check_choice(matrix, "matrix", parts)
  taxa <- side_names(x, 2L)
  each <- lapply(parts, function(part) {
    own <- own_coefficients(x$draws$theta, x, part)
    d <- dim(own)
    draws <- matrix(own, d[1L] * d[2L])
    out <- data.frame(
      part = part, taxon = rep(taxa, each = d[1L]), term = rep(x[[part]]$terms, d[2L]), estimate = rowMeans(draws),
      std.error = apply(draws, 1L, stats::sd)
    )
    if (!conf.int) {
      return(out)
    }
    ends <- apply(draws, 1L, stats::quantile, c(1 - conf.level, 1 + conf.level) / 2, names = FALSE)
    cbind(out, conf.low = ends[1L, ], conf.high = ends[2L, ])
  })
  as_tidy(do.call(rbind, each))
}

# nolint end

part_sides.visits_occupancy <- function(fit, name, values) c("term", "taxon")

# ---- Predictions ----

# Computes P(a visit detects | present) likewise, averaged over unevenness among sites.
detection_mean <- function(fit, design, level = NULL) {
  predicted_mean(fit, design, "detection", level, function(eta, at) detection_probability(fit, eta, at))
}

# Computes probabilities of detection by the linear predictors of the draws `at`, a column each.
detection_probability <- function(fit, eta, at) {
  for (u in unique(fit$draws$uneven[at])) {
    own <- fit$draws$uneven[at] == u
    eta[, own] <- uneven_plogis(eta[, own, drop = FALSE], fit$uneven$uneven[u])
  }
  eta
}

# Computes E(logit^-1(eta + u)), u ~ N(0, uneven^2).
uneven_plogis <- function(eta, uneven) {
  if (uneven == 0) {
    return(stats::plogis(eta))
  }
  Reduce(`+`, Map(function(at, weight) weight * stats::plogis(eta + uneven * at), normal_nodes$at, normal_nodes$weight))
}

#' Predictions from a fit of occupancy
#'
#' Probabilities of a presence at the sites of the data and at new ones, and of finding what is there.
#'
#' @details
#' **Maps.** `predict(fit, cells)` takes a data frame of covariates with a row for each cell of a map, and returns a
#' column for each taxon; a row with an unknown covariate is `NA`. `terra::predict(raster, fit)` does the same with a
#' layer for each covariate. Covariates beyond those of the data are extrapolated.
#'
#' @param object a fit of [visits_occupancy()].
#' @param newdata,site_data a data frame with a row for each new site (of `"detection"`: for each visit) and the
#'   covariates of the formula as columns; further columns are ignored. `site_data` is another name for it. `NULL`: the
#'   sites of the data; of `"detection"`, a visit with covariates at their means.
#' @param type `"presence"`: the probability that the taxon is at a site with these covariates (`"response"` is the
#'   same); `"present"`: that it is at a site of the data, after the visits; `"detection"`: that a visit finds it where
#'   it is; `"loglik"`: the log-likelihood of the visits to each cell in each draw, draws x cells, as `loo::loo()` takes
#'   it.
#' @param ... must be empty.
#' @param level `NULL`, or the probability of an interval: the result is then a list of `mean`, `lower` and `upper`. For
#'   `"presence"` and `"detection"`.
#' @return A matrix, rows x m.
#' @examples
#' set.seed(1)
#' elev <- rnorm(60)
#' present <- sapply(c(-1, 0, 1), function(slope) rbinom(60, 1, plogis(slope * elev)))
#' visits <- lapply(1:3, function(v) present * rbinom(180, 1, 0.5))
#' fit <- visits_occupancy(visits, ~elev, site_data = data.frame(elev), uneven = 0)
#' predict(fit, data.frame(elev = c(-1, NA, 1)))
#' predict(fit, type = "detection", level = 0.9)
#' @export
predict.visits_occupancy <- function(object, newdata = NULL,
                                     type = c("response", "presence", "present", "detection", "loglik"), ...,
                                     level = NULL, site_data = NULL) {
  check_dots(...)
  type <- check_choice(type)
  if (type == "response") type <- "presence"
  if (!is.null(level)) level <- check_number(level, "level", 0, 1, open = TRUE)
  if (!is.null(newdata) && !is.null(site_data)) stop_input("Only one of `newdata` and `site_data` can be supplied.")
  name <- if (is.null(site_data)) "newdata" else "site_data"
  new <- newdata %||% site_data
  if (type %in% c("present", "loglik") && (!is.null(new) || !is.null(level))) {
    stop_input("`type = \"%s\"` is of the data of the fit: `newdata`, `site_data` and `level` must be NULL.", type)
  }
  switch(type,
    present = object$cells$present, loglik = pointwise_matrix(object),
    presence = if (is.null(new) && is.null(level)) {
      object$cells$presence
    } else {
      predict_by_covariates(object, "presence", new, name, level)
    },
    detection = predict_by_covariates(object, "detection", new, name, level)
  )
}

predict_by_covariates <- function(fit, part, new, name, level) {
  of_sites <- is.null(new) && part == "presence"
  made <- list(design = fit$presence$design, known = TRUE)
  if (!of_sites) made <- new_covariates(fit[[part]]$frame, new, name, part)
  out <- (if (part == "presence") presence_mean else detection_mean)(fit, made$design, level)
  rows <- if (of_sites) fit$names[[1L]] else if (is.data.frame(new) && .row_names_info(new) > 0L) rownames(new)
  label <- name_sides(list(rows, fit$names[[2L]]))
  finish <- function(p) {
    p[!made$known, ] <- NA
    structure(p, dimnames = label)
  }
  if (is.null(level)) finish(out) else lapply(out, finish)
}

# Returns list(design, known): rows of covariates, and whether all are known; those missing for detection are typical.
new_covariates <- function(frame, new, name, part) {
  if (is.matrix(new)) new <- as.data.frame(new)
  if (is.null(new)) new <- data.frame(row.names = 1L)
  if (!is.data.frame(new)) {
    stop_input("`%s` must be a data frame of covariates with a row for each site, not %s.", name, show_value(new))
  }
  new <- plain_frame(new)
  lost <- setdiff(names(frame$typical), names(new))
  if (length(lost) && part == "presence") {
    stop_input("`%s` must have the covariates of `presence`: it lacks %s.", name, show_names(lost))
  }
  values <- covariate_frame(NULL, nrow(new))
  for (one in names(frame$typical)) {
    typical <- frame$typical[[one]]
    value <- if (one %in% lost) rep(typical, nrow(new)) else new[[one]]
    if (is.factor(value)) value <- as.character(value)
    value[is.nan(value)] <- NA
    known <- !is.na(value)
    value[!known] <- if (is.factor(typical)) as.character(typical) else typical
    values[[one]] <- known_values(value, typical, frame$levels[[one]], sprintf("%s$%s", name, one))
    values[[one]][!known] <- NA
  }
  known <- stats::complete.cases(values) | !length(values)
  list(design = new_design(frame, values), known = rep_len(known, nrow(new)))
}

# Returns the log-likelihood of draws x visited cells, site by site within a taxon.
pointwise_matrix <- function(fit) {
  cell <- kept_visits(fit)
  rows <- occupancy_rows(cell, fit)
  m <- fit$dims[["m"]]
  n_draw <- dim(fit$draws$theta)[3L]
  refuse_large(as.double(n_draw) * sum(!is.na(rows$of_cell)), "The result", "use `fit$waic`")
  each <- lapply(seq_len(m), function(j) {
    at <- rows$of_cell[, j]
    made <- which(!is.na(at))
    loglik <- taxon_pointwise(rows, fit$draws, fit$uneven$uneven, j)$loglik
    names <- paste(side_names(fit, 1L)[made], rep(side_names(fit, 2L)[j], length(made)), sep = ":")
    matrix(loglik[at[made] - rows$first[j], ], length(made), n_draw, dimnames = list(names, NULL))
  })
  t(do.call(rbind, each))
}

# ---- Generics for functions on fits ----

# Held-out visits are predicted from the other visits to the site.
recorded_probability.visits_occupancy <- function(fit) {
  cell <- kept_visits(fit)
  out <- array(0, dim(cell))
  for (v in seq_len(dim(cell)[3L])) {
    for (j in seq_len(dim(cell)[2L])) {
      out[, j, v] <- rowMeans(next_of_taxon(fit$draws, fit$uneven$uneven, cell, v, fit, j))
    }
  }
  out
}

check_tells_visits.visits_occupancy <- function(fit) invisible()

# Computes P(visit v detects taxon j | the other visits of `cell`), n x draws: the ratio of likelihoods with and without
# that record. by: the designs of its visits.
next_of_taxon <- function(draws, uneven, cell, v, by, j) {
  loglik <- function(value) {
    own <- cell[, j, , drop = FALSE]
    own[, , v] <- value
    rows <- occupancy_rows(own, by)
    draws$theta <- draws$theta[, j, , drop = FALSE]
    out <- taxon_pointwise(rows, draws, uneven, 1L)$loglik[rows$of_cell[, 1L], , drop = FALSE]
    replace(out, is.na(out), 0)
  }
  exp(loglik(1L) - loglik(NA_integer_))
}

visits_decide.visits_occupancy <- function(fit) TRUE

cell_scores.visits_occupancy <- function(fit, rows, kinds, of = "absences") {
  refuse_presences(of)
  present <- fit$cells$presence[rows, , drop = FALSE]
  after <- fit$cells$present[rows, , drop = FALSE]
  dimnames(present) <- dimnames(after) <- NULL
  silent <- ifelse(present < 1, after * (1 - present) / pmax(present * (1 - after), 1e-300), 1)
  list(probability = present, present = present, missed = after, phantom = after + (1 - after) * pmin(silent, 1))
}

refuse_presences <- function(of) {
  if (of != "absences") stop_input("Visits of this model never report an absence as a presence.")
}

has_draws.visits_occupancy <- function(fit) TRUE

draws_array.visits_occupancy <- function(fit) {
  draws <- t(coefficient_draws_of(fit))
  array(draws, c(nrow(draws), 1L, ncol(draws)),
    dimnames = list(iteration = NULL, chain = NULL, variable = colnames(draws)))
}

#' @export
posterior_draws.visits_occupancy <- function(fit, nsim = 100, ...) { # nolint: object_name_linter.
  check_dots(...)
  nsim <- check_count(nsim, "nsim")
  d <- fit$dims
  refuse_large(2 * as.double(nsim) * d[["n"]] * d[["m"]], "The draws", "take fewer with `nsim`")
  n_draw <- dim(fit$draws$theta)[3L]
  at <- sort(sample.int(n_draw, nsim, replace = nsim > n_draw))
  draws <- list(theta = fit$draws$theta[, , at, drop = FALSE], uneven = fit$draws$uneven[at])
  rows <- occupancy_rows(kept_visits(fit), fit)
  after <- lapply(seq_len(d[["m"]]), function(j) {
    taxon_pointwise(rows, draws, fit$uneven$uneven, j)$present[rows$of_cell[, j] - rows$first[j], , drop = FALSE]
  })
  lapply(seq_len(nsim), function(s) {
    fit$draws <- list(theta = draws$theta[, , s, drop = FALSE], uneven = draws$uneven[s])
    fit$param <- occupancy_means(fit$draws$theta, fit, fit$names[[2L]])
    present <- vapply(after, function(p) p[, s], numeric(d[["n"]]))
    fit$cells <- presence_cells(fit, matrix(present, d[["n"]]))
    fit
  })
}

#' @export
simulate.visits_occupancy <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  nsim <- check_nsim(nsim, as.double(length(object$visits)))
  drawn <- draw_seeded(function() lapply(seq_len(nsim), function(i) draw_visits(object)), seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

# Simulates presences and visits from one draw of the posterior.
draw_visits.visits_occupancy <- function(fit) {
  out <- kept_visits(fit)
  d <- dim(out)
  s <- sample.int(dim(fit$draws$theta)[3L], 1L)
  theta <- matrix(fit$draws$theta[, , s], ncol = d[2L])
  part <- function(name) theta[theta_rows(fit, name), , drop = FALSE]
  present <- random_bernoulli(stats::plogis(crossprod(fit$presence$design, part("presence"))))
  uneven <- fit$uneven$uneven[fit$draws$uneven[s]] * stats::rnorm(d[1L] * d[2L])
  for (v in seq_len(d[3L])) {
    design <- fit$detection$design[, (v - 1L) * d[1L] + seq_len(d[1L]), drop = FALSE]
    found <- present * random_bernoulli(stats::plogis(crossprod(design, part("detection")) + uneven))
    out[, , v] <- ifelse(is.na(out[, , v]), NA, found)
  }
  out
}

#' @export
residuals.visits_occupancy <- function(object, type = c("response", "pearson", "deviance"), ..., x = NULL) {
  check_dots(...)
  type <- check_choice(type)
  object$x <- fit_data(object, x)
  # Residuals of the union of all visits: detected or not, minus the probability of a detection.
  cell <- kept_visits(object)
  none <- cell
  none[!is.na(cell)] <- 0L
  rows <- occupancy_rows(none, object)
  mean <- vapply(seq_len(object$dims[["m"]]), function(j) {
    silent <- rowMeans(exp(taxon_pointwise(rows, object$draws, object$uneven$uneven, j)$loglik))
    1 - silent[rows$of_cell[, j] - rows$first[j]]
  }, numeric(object$dims[["n"]]))
  mean <- matrix(mean, object$dims[["n"]], dimnames = name_sides(object$names))
  observed <- dense_rows(object$x, seq_len(object$dims[["n"]]))
  dimnames(observed) <- dimnames(mean)
  residual_matrix(object, observed, mean, type)
}
