# Noisy-OR whose presences are recorded with a probability per site and a factor per taxon, which yields true and
# undetected presences. The kernel's part is in src/noisy_or/noisy_or.h, eqs. (R1) to (R5).

# Grid of a site's probabilities, as nor_probability() in C.
recorded_grid <- 10L
recorded_grid_probabilities <- function() (seq_len(recorded_grid) / recorded_grid)^2

nor_check_effort <- function(effort, data, missed_by) {
  if (is.null(effort)) {
    return(NULL)
  }
  if (missed_by == "none") stop_input("`effort` needs `missed_by`: \"site\", or \"both\".")
  check_site_effort(effort, data)
}

# Checks a table, or repeated visits: `x` is then the union of all visits, `visits` the numbers of visits to each cell
# and of those with a presence, m x n, and `cell` the array.
nor_check_data <- function(x, inference, missed_by, control) {
  if (missing(x) || is_table(x)) {
    return(check_data(x, "binary"))
  }
  cell <- check_visits(x)
  if (missed_by == "none") stop_input("`missed_by` must be \"site\" or \"both\" where `x` is of repeated visits.")
  if (inference == "variational") {
    stop_input("`inference` must be \"exact\" or \"truncated\" where `x` is of repeated visits, not \"variational\".")
  }
  if (isFALSE(control$keep_x)) {
    stop_input("`keep_x` must be TRUE where `x` is of repeated visits, which a fit needs later.")
  }
  tell_single_visits(cell)
  data <- check_data(any_visit(cell), "binary", name = "x", turn = NULL, merged = TRUE)
  c(data, list(cell = cell, visits = nor_count_visits(cell)))
}

nor_count_visits <- function(cell) {
  count <- function(of) structure(as.integer(t(rowSums(of, na.rm = TRUE, dims = 2L))), dim = dim(cell)[2:1])
  list(made = count(!is.na(cell)), found = count(cell))
}

nor_recorded_parts <- function(model) {
  by <- model$missed_by %||% "none"
  switch(by, none = NULL, site = "recorded_share", both = c("recorded_share", "recorded_taxon"))
}

# Fills in starting values that are not supplied.
nor_first_recorded <- function(param, m, model) {
  parts <- nor_recorded_parts(model)
  if ("recorded_share" %in% parts) {
    param$recorded_share <- param$recorded_share %||% rep(1 / recorded_grid, recorded_grid)
  }
  if (!is.null(model$effort)) param$coef <- param$coef %||% flat_curve(0.4)
  if ("recorded_taxon" %in% parts) param$recorded_taxon <- param$recorded_taxon %||% rep(0.8, m)
  param
}

nor_name_recorded <- function(param, distinct, names, model) {
  if (is.null(param$recorded_share)) {
    return(NULL)
  }
  site <- nor_report(distinct, param, model, "site")$site[distinct$group]
  out <- list(
    recorded_site = stats::setNames(site, names[[1L]]),
    recorded_share = stats::setNames(param$recorded_share, format(recorded_grid_probabilities()))
  )
  if (!is.null(param$recorded_taxon)) out$recorded_taxon <- stats::setNames(param$recorded_taxon, names[[2L]])
  out
}

# Computes the probability that a presence is recorded in sites with these probabilities, sites x m.
recorded_probabilities <- function(param, site) {
  outer(unname(site), if (is.null(param$recorded_taxon)) rep(1, length(param$leak)) else unname(param$recorded_taxon))
}

# Computes mean probabilities of recording, over sites and over taxa.
nor_mean_probabilities <- function(param) {
  c(site = sum(param$recorded_share * recorded_grid_probabilities()), taxon = mean(param$recorded_taxon %||% 1))
}

# Computes the mean probability that a presence is recorded, over the distribution of sites and over taxa.
nor_mean_recorded <- function(param) prod(nor_mean_probabilities(param))

# Draws probabilities of recording for n new sites, or for the fit's own effort.
draw_recorded <- function(fit, n) {
  param <- fit$param
  if (is.null(param$recorded_share)) {
    return(1)
  }
  if (!is.null(fit$effort)) {
    kept <- stats::rbinom(n, recorded_grid - 1L, 1 - effort_missed(fit$effort$coefficients, fit$effort$values))
    return(recorded_probabilities(param, recorded_grid_probabilities()[kept + 1L]))
  }
  recorded_probabilities(param, sample(recorded_grid_probabilities(), n, replace = TRUE, prob = param$recorded_share))
}

# Computes the probability that the taxon is present: a one proves it, a zero makes it less likely, eq. (R1).
nor_presences <- function(out, data) {
  cells <- dense_rows(data$x, seq_len(nrow(data$x)))
  value <- if (is.null(out$present)) out$response else out$present
  value[cells %in% 0] <- if (is.null(out$missed)) 0 else out$missed[cells %in% 0]
  value[cells %in% 1 & !is.na(value)] <- 1
  value
}

# Returns rows of a fit's table with their known sources.
nor_rows <- function(fit, x, rows) {
  data <- check_data(x[rows, , drop = FALSE], "binary", quiet = TRUE)
  if (!is.null(fit$known)) data$known <- unname(t(fit$known[rows, , drop = FALSE]))
  nor_with_search(data, fit, rows)
}

# Adds the effort and the visits of these rows of the fit's table.
nor_with_search <- function(data, fit, rows) {
  if (!is.null(fit$effort)) data$effort <- scale_effort(fit$effort$values)[rows]
  if (!is.null(fit$visits)) data$visits <- nor_count_visits(fit$visits[rows, , , drop = FALSE])
  data
}

# Computes the expected number of undetected presences among the zeros.
nor_count_missed <- function(fit, x) {
  sum(vapply(row_blocks(seq_len(nrow(x)), ncol(x)), function(rows) {
    block <- nor_rows(fit, x, rows)
    missed <- nor_report(block, lapply(fit$param, unname), fit$model, "response")$missed
    sum(missed[dense_rows(x, rows) %in% 0])
  }, 0))
}

# Refuses fits without a model of recording, which have no false absences.
need_recording <- function(fit) {
  if (is.null(fit$missed_by)) {
    stop_input(paste(
      "`fit` of noisy_or() must have been made with `missed_by`, such as noisy_or(x, k, missed_by = \"site\"):",
      "without it every zero is an absence."
    ))
  }
}

cell_scores.noisy_or <- function(fit, rows, kinds, of = "absences") {
  need_recording(fit)
  if (is.null(fit$x)) stop_input("This fit was made with `keep_x = FALSE`: fit again with the data kept.")
  data <- nor_rows(fit, fit$x, rows)
  out <- nor_report(data, lapply(fit$param, unname), fit$model, "response")
  if (of == "presences") { # none is false
    none <- 0 * out$present
    return(list(probability = 1 - out$response, present = 1 - out$present, missed = none, phantom = none))
  }
  list(probability = out$response, present = out$present, missed = out$missed, phantom = out$phantom)
}

# Returns the probability of a presence in one more visit, with visits; else of a recorded one.
recorded_probability.noisy_or <- function(fit) {
  if (is.null(fit$visits)) {
    return(presence_probability(fit))
  }
  data <- nor_rows(fit, fit$x, seq_len(nrow(fit$x)))
  array(nor_report(data, lapply(fit$param, unname), fit$model, c("response", "again"))$again, dim(fit$visits))
}

check_tells_visits.noisy_or <- function(fit) {
  if (is.null(fit$visits)) NextMethod()
}

#' @rdname phantoms
#' @export
phantoms.noisy_or <- function(fit, ...) {
  check_dots(...)
  need_recording(fit)
  k <- fit$dims[["k"]]
  visits <- if (is.null(fit$visits)) 1 else t(nor_count_visits(fit$visits)$made)
  missed <- mean(((1 - recorded_probabilities(fit$param, fit$param$recorded_site))^visits)[visits > 0])
  # Several causes may act at a site, so none has a share of it. A source of weak links is no white phantom.
  shares <- list(weight = c(fit$param$prior, missed), alone = rep(NA_real_, k + 1L))
  param <- list(aspects = rbind(fit$param$links, 0), shares = shares)
  fixed <- rep(c("free", "white"), c(k, 1L))
  table <- phantom_table(param, fit$density, fixed, rep(TRUE, fit$dims[["m"]]))
  table$component[k + 1L] <- "recording"
  table$kind <- rep(c("content", "white"), c(k, 1L))
  table$alone <- NULL
  structure(table, class = c("phantoms", "data.frame"), density = fit$density)
}

bound_sentences.noisy_or <- function(fit, ...) {
  if (!is.null(fit$visits)) {
    return("The number of false absences is estimated from the repeated visits, taken as equally thorough at a site.")
  }
  several <- sum(apply(fit$param$links, 2L, function(links) sum(links >= nor_least_cause) > 1L))
  words <- axis_words(fit)[2L]
  c(
    if (fit$dims[["k"]] == 1L) {
      "One component does not distinguish false absences from rarity, so the prior decides their number."
    } else if (diff(range(fit$param$links)) < nor_least_cause) {
      "All links are about equal, so the prior decides the number of false absences."
    } else if (several == 0L) {
      sprintf("No two components share %s, so the prior decides the number of false absences.", words)
    } else {
      sprintf(
        "The number of false absences depends on %s of several components (%d of %d) and on the prior (?noisy_or).",
        words, several, fit$dims[["m"]]
      )
    },
    if (is.null(fit$effort)) {
      "Other numbers may fit as well: `estimate = \"gibbs\"` and identifiability() give ranges."
    } else {
      "The number depends on effort, by a logistic curve; identifiability() of a fit without effort shows how much."
    }
  )
}

nor_least_cause <- 0.05 # the least link that counts as a cause in what is said

recorded_sentences <- function(fit) {
  recorded <- recorded_probabilities(fit$param, fit$param$recorded_site)
  words <- axis_words(fit)
  ends <- sprintf("%.2f", range(rowMeans(recorded)))
  zeros <- fit$dims[["observed"]] - sum(fit$margins$row_sum)
  c(
    sprintf(
      "False absences expected: %s of %s zeros (%s %%)%s.", show_expected(fit$missed), format_big(zeros),
      format_percent(fit$missed / max(1, zeros)),
      if (is_probably_low(fit)) low_words(fit) else if (is.null(fit$visits) && is.null(fit$effort)) {
        "; other numbers may fit as well (identifiability())"
      } else {
        ""
      }
    ),
    sprintf(
      "A presence is recorded%s with probability %.2f on average (%s %s to %s).",
      if (is.null(fit$visits)) "" else " by a visit", nor_mean_recorded(fit$param), words[1L], ends[1L],
      ends[2L]
    )
  )
}

# Tests for a mode under a prior, where only the table informs about what was missed: its number is usually too low.
is_probably_low <- function(fit) identical(fit$estimate, "map") && is.null(fit$visits) && is.null(fit$effort)

low_words <- function(fit) {
  why <- if (favours_weak_links(fit)) ": the prior favours weak links" else " (?noisy_or_recording)"
  paste0(", probably too low", why)
}

favours_weak_links <- function(fit) {
  links <- fit$prior$links
  identical(fit$estimate, "map") && length(links) == 2L && links[2L] > links[1L]
}

recorded_effort_sentence <- function(effort) {
  at <- stats::quantile(effort$values, c(0.1, 0.9), names = FALSE)
  kept <- 1 - effort_missed(effort$coefficients, at)
  most <- recorded_grid - 1L
  probability <- ((1 + most * kept)^2 + most * kept * (1 - kept)) / recorded_grid^2
  sprintf(
    "The probability of a record follows effort: %s at an effort of %s, %s at %s.", format(round(probability[1L], 2L)),
    format_each(at[1L]), format(round(probability[2L], 2L)), format_each(at[2L])
  )
}

has_noise.noisy_or <- function(fit, kinds, of) of == "absences" && !is.null(fit$missed_by) || NextMethod()

#' Noisy-OR with presences that were not recorded
#'
#' With `missed_by`, [noisy_or()] estimates a probability of recording for each site, so that a zero is either an
#' absence or a gap in the record. This page has the model, its form for repeated visits, and how far its number of
#' false absences can be trusted.
#'
#' @details
#' **Model.** With `missed_by = "site"` (\eqn{d_j = 1}{d[j] = 1}) or `"both"`,
#' \deqn{P(x_{ij} = 1 | z_i) = r_i d_j (1 - (1 - \ell_j) \prod_c (1 - p_{cj})^{z_{ic}})}{P(x[i,j] = 1 | z) = r[i] d[j]
#' (1 - (1 - leak[j]) prod_c (1 - links[c,j])^z[i,c])}
#' A site's probability \eqn{r_i}{r[i]} is one of ten, 0.01, 0.04, 0.09 to 1, drawn from a distribution that is
#' estimated. The print and [identifiability()] give the mean of this
#' distribution, times the mean factor of taxa, and the print the range of the sites' own probabilities.
#' [false_absences()] ranks the zeros, and [phantoms()] lists the recording as the fit's white phantom.
#'
#' **The number missed** is poorly identified from one table. If no two components share a taxon, or there is one
#' component, twice the links with half the probabilities of recording fit as well. Only taxa with two causes at once
#' distinguish the two: the print shows how many of them there are (links of at least 0.05 to two components or more).
#' If there are few, the priors decide. [identifiability()] gives a range. In most simulated tables the default priors
#' of `"map"` gave 0.2 to 0.9 of the true number, and `prior = noisy_or_prior(links = c(1.05, 1.05))` 0.4 to 0.9. For
#' tables of 6000 sites in which each taxon had three components, maximum likelihood gave 0.71 to 1.15 of the true
#' number with `"site"` and 0.61 to 0.98 with `"both"` (`bench/noisy_or.md` in the sources).
#'
#' **Repeated visits**, as `x`, decide more. Each visit records a presence with the same probability, \eqn{\rho = r_i
#' d_j}{rho = r[i] d[j]}. Of a cell with `made` visits, `found` of them with a presence,
#' \deqn{P(x_{ij} | z_i) = p \rho^{found} (1 - \rho)^{made - found}\ (found > 0),\quad 1 - p + p (1 - \rho)^{made} \
#' (found = 0),}{P(x[i,j] | z) = p rho^found (1 - rho)^(made - found) if found > 0, else 1 - p + p (1 - rho)^made,}
#' where \eqn{p} is the probability that the taxon is there. Inference is exact (`k` up to 8, by default up to 6) or
#' truncated. For 600 simulated sites with two or three visits the expected false absences were 0.88 to 1.03 times the
#' true number; from one table of the same presences they were 0.73 to 0.82 times. If probabilities differ between
#' visits or follow covariates, or if visits record taxa by mistake, use [visits_bernoulli()].
#'
#' **Effort.** With `effort` the probability is \eqn{((1 + B_i) / 10)^2}{((1 + B[i]) / 10)^2}, where \eqn{9 - B_i}{9 -
#' B[i]} is binomial out of 9 with log-odds \eqn{b_0 + b_1 effort_i}{b0 + b1 effort[i]}, so sites of the same effort
#' still differ. New sites get the average of the fit's own. That misses follow effort in this way is an assumption: on
#' thinned fossil sites, log numbers of specimens raised average precision and lowered the AUC over all sites
#' (`bench/noisy_or.md`).
#'
#' **Inference.** The probabilities of recording are summed over exactly. With many components variational iterations
#' are faster: with `k` of 15 and 20 they took a third of the time of truncated ones on [early_tetrapods] and predicted
#' held-out cells better. On simulated tables they recovered 9 of 15 components, truncated ones 11. Exact inference
#' needs 10 times the memory of fits without `missed_by`.
#'
#' @name noisy_or_recording
#' @seealso [noisy_or()] for the call, [identifiability()], [visits_bernoulli()].
#' @references Singliar T, Hauskrecht M (2006). Noisy-OR component analysis and its application to link analysis.
#'   *Journal of Machine Learning Research* 7, 2189-2213. <https://www.jmlr.org/papers/v7/singliar06a.html>
#'
#' Singliar T, Hauskrecht M (2005). Variational learning for noisy-OR component analysis. *Proceedings of the 2005 SIAM
#' International Conference on Data Mining*, 370-379. \doi{10.1137/1.9781611972757.33}
#' @examples
#' set.seed(1)
#' fit <- noisy_or(simulated_sites$x, k = 3, missed_by = "site", control = fit_control(n_start = 3))
#' fit
#' false_absences(fit, n = 5)
NULL
