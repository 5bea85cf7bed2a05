#' Does the sampler draw from the posterior that it should?
#'
#' Simulation-based calibration of a sampled fit: parameters are drawn from its prior and a table of its size given
#' these, the model is fitted to each with the same settings, and the true values are ranked among the draws. If the
#' sampler is right and its chains are long enough, ranks are uniform.
#'
#' Parameters are drawn from the prior of the fit (a prior learned from the data is kept as it is), then a table with
#' the unknown cells, row totals, effort or visits of the original one. The true value is ranked among 19 kept draws of
#' each refit, evenly spaced over all chains; ties are broken at random. Uniformity of the ranks is judged by a
#' Kolmogorov-Smirnov test and a chi-square test of five classes; `p` is twice the smaller of the two p-values, at most
#' 1, and is not adjusted for the number of quantities.
#'
#' What is compared does not depend on the numbering of components: probabilities of some cells, the log-likelihood,
#' sums over parameters. If chains are too short, ranks pile up at both ends; a wrong prior or likelihood usually shifts
#' them towards one end.
#'
#' Ranks did not depart from uniform in [aspect_bernoulli()], [plsa()], [noisy_or()] with `missed_by`,
#' [visits_bernoulli()] and [bmf()]. Tables were of 8 x 4 to 25 x 8, 300 of each size (`bench/samplers.md` in the
#' sources). Planted mistakes were detected. Of [aspect_categorical()] tables of 8 x 5 were tried
#' (`bench/categories.md`). Few tables miss small mistakes: by 103, taxa in another order were not detected in
#' [visits_bernoulli()]. Uniform ranks do not show that the model fits the data: see [predictive_check()] and
#' [cross_validate()].
#'
#' Other packages have samplers of some of these models. We compared [plsa()] with topicmodels and `text2vec`
#' (`bench/lda.md`), [visits_bernoulli()] and [visits_occupancy()] with spOccupancy (`bench/visits.md`,
#' `bench/visits_occupancy.md`). We know of none for [aspect_bernoulli()], [aspect_categorical()], [noisy_or()] and
#' [bmf()]. In its place the tests of this package compare their draws with exact posteriors of small tables. Those of
#' [noisy_or()] compare single sweeps with the equations.
#'
#' @param fit a fit with `estimate = "gibbs"` of [aspect_bernoulli()], [aspect_categorical()], [plsa()], [noisy_or()] or
#'   [visits_bernoulli()], or a fit of [bmf()].
#' @param nsim number of tables, at least 10. Cost: as many fits.
#' @param ... must be empty.
#' @param quantity `NULL`, or a function that takes a fit, such as one of [posterior_draws()], and returns a named
#'   vector of numbers that do not depend on the numbering of components.
#' @return A list of class `calibration`: `table`, a data frame with `quantity`, the mean `rank` (0.5 if uniform) and
#'   `p`; `ranks`, a matrix of tables x quantities with the ranks as shares between 0 and 1; `disagree`, the number of
#'   fits whose chains had not converged; and `dims`, the size of the tables. It has `print` and `plot` methods. Refits
#'   run in parallel where a [future::plan()] is set, with the same result.
#' @references Talts S, Betancourt M, Simpson D, Vehtari A, Gelman A (2018). Validating Bayesian inference algorithms
#'   with simulation-based calibration. \doi{10.48550/arXiv.1804.06788}
#' @seealso [posterior_draws()]
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(48, 1, 0.4), 8)
#' few <- mcmc_control(chains = 2, warmup = 50, draws = 100, init = "prior", progress = FALSE)
#' fit <- suppressWarnings(aspect_bernoulli(x, 2, estimate = "gibbs", control = few))
#' calibration(fit, nsim = 20)
#' @export
calibration <- function(fit, nsim = 100, ..., quantity = NULL) {
  check_dots(...)
  check_fit(fit)
  nsim <- check_count(nsim, "nsim", 10L, most_tasks)
  if (!is.null(quantity) && !is.function(quantity)) {
    stop_input("`quantity` must be NULL or a function of a fit, not %s.", show_value(quantity))
  }
  if (!is_sampled(fit)) {
    stop_input("`fit` must be sampled, with `estimate = \"gibbs\"` or by bmf(): this one %s.", what_it_did(fit))
  }
  fit$control$progress <- FALSE
  fit$control["checkpoint"] <- list(NULL)
  unknown <- unknown_cells(fit, fit_data(fit))
  # A prior that was learnt from the table is held, since it is the one that tables are drawn from.
  common <- list(fit = fit, unknown = unknown, quantity = quantity, cells = spaced_cells(fit$dims, 4L))
  done <- map_tasks(draw_seeds(nsim), calibrate_table, common, "Tables", function(i) sprintf("table %d", i))
  done <- done[is_done(done)]
  ranks <- do.call(rbind, lapply(done, `[[`, "rank"))
  p <- apply(ranks, 2L, uniform_p)
  structure(
    list(
      table = data.frame(quantity = colnames(ranks), rank = colMeans(ranks), p = p, row.names = NULL), ranks = ranks,
      disagree = sum(vapply(done, `[[`, NA, "disagree")), dims = fit$dims, title = model_title(fit),
      words = axis_words(fit)
    ),
    class = c("calibration", "multicause_result")
  )
}

# Returns so many cells, i and j, evenly spaced by columns.
spaced_cells <- function(d, count) {
  at <- unique(round(seq(1, d[["n"]] * d[["m"]], length.out = count + 2L)))
  at <- if (length(at) > count) at[1L + seq_len(count)] else at
  cbind((at - 1) %% d[["n"]] + 1, (at - 1) %/% d[["n"]] + 1)
}

calibration_draws <- 19L # draws of a refit that the truth is ranked among

# Returns list(rank, disagree): the ranks, as shares, of the truth of one table, and whether chains of its fit disagree.
calibrate_table <- function(seed, common, tick) {
  with_seed(seed, {
    fit <- common$fit
    truth <- prior_draw(fit)
    x <- stats::simulate(truth)[[1L]]
    if (!is.null(common$unknown)) x[common$unknown] <- NA
    disagree <- FALSE
    again <- withCallingHandlers(
      quiet_fit(stats::update(fit, x = x, prior = fit$prior, start = NULL, control = fit$control))$value,
      multicause_chains_disagree = function(w) {
        disagree <<- TRUE
        invokeRestart("muffleWarning")
      }
    )
    draws <- posterior_draws(again, calibration_draws)
    of <- common$quantity %||% function(fit) compared_quantities(fit, common$cells)
    want <- of(with_data(truth, x))
    if (is.null(names(want))) names(want) <- paste("quantity", seq_along(want))
    drawn <- matrix(vapply(draws, of, want), length(want))
    near <- 1e-9 * pmax(1, abs(want))
    below <- rowSums(drawn < want - near) + stats::runif(length(want)) * (rowSums(abs(drawn - want) <= near) + 1)
    list(rank = stats::setNames(below / (length(draws) + 1), names(want)), disagree = disagree)
  })
}

# Computes twice the smaller p of two tests of uniformity.
uniform_p <- function(ranks) {
  smooth <- stats::ks.test(ranks, "punif")$p.value
  counts <- tabulate(pmin(floor(5 * ranks), 4) + 1, 5L)
  min(1, 2 * min(smooth, suppressWarnings(stats::chisq.test(counts)$p.value)))
}

#' @export
print.calibration <- function(x, digits = 2L, ...) {
  digits <- check_digits(digits)
  n <- nrow(x$ranks)
  write_sentences(sprintf(
    "Calibration by simulation: %s drawn from the prior (%s, %s) and refitted", count_words(n, "table"),
    x$title, table_words(x$dims, x$words)
  ))
  cat("\n")
  print.data.frame(round_columns(x$table, digits), row.names = FALSE)
  cat("\n")
  write_sentences(c(
    calibration_sentence(x),
    sprintf("%s show departures of more than %.2f alone.", capital(count_words(n, "table")), least_departure(n)),
    if (x$disagree > 0L) {
      sprintf("Chains of %s did not agree: their ranks may be of chains that are too short.",
        count_words(x$disagree, "fit"))
    }
  ))
  invisible(x)
}

# Tells whether the ranks of some quantity are not uniform, by Bonferroni's rule at 5 %.
any_uneven <- function(x) min(x$table$p) < 0.05 / nrow(x$table)

# The distance from uniform ranks that Kolmogorov's test sees at 5 % in n tables.
least_departure <- function(n) 1.358 / sqrt(n)

calibration_sentence <- function(x) {
  p <- x$table$p
  worst <- which.min(p)
  sprintf(
    "%s: the smallest p of %d is %s (%s); below %s it would be a sign of a mistake, or of chains that are too short.",
    if (any_uneven(x)) "Ranks are not uniform" else "Ranks are as uniform as chance lets them be",
    length(p), format(signif(p[worst], 2L)), x$table$quantity[worst], format(signif(0.05 / length(p), 1L))
  )
}

#' @exportS3Method ggplot2::autoplot
autoplot.calibration <- function(object, ...) { # nolint: object_name_linter.
  check_dots(...)
  n <- nrow(object$ranks)
  at <- seq(0, 1, length.out = 101L)
  table <- do.call(rbind, lapply(colnames(object$ranks), function(name) {
    data.frame(quantity = name, at = at, apart = stats::ecdf(object$ranks[, name])(at) - at)
  }))
  reach <- least_departure(n)
  new_figure(
    table, gg_aes(x = "at", y = "apart", group = "quantity"),
    sprintf(
      if (any_uneven(object)) "Ranks of the truth are not uniform in %s" else "No departure from uniform ranks in %s",
      count_words(n, "table")
    ),
    "Lines: the share of ranks up to a value, less that value, for each quantity.", "rank of the true value",
    "share of tables, less the rank", sprintf("%s; grey: 95 %% of lines, if uniform", count_words(n, "table"))
  ) + ggplot2::annotate("rect", xmin = 0, xmax = 1, ymin = -reach, ymax = reach, fill = "grey90") +
    ggplot2::geom_hline(yintercept = 0, colour = "grey60") + ggplot2::geom_line(colour = "#08306B", alpha = 0.6)
}
