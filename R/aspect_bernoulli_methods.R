# R's own generics for aspect Bernoulli fits; their help page is that of predict(). Methods of class aspect_model hold
# for fits of visits_bernoulli() too, those of class aspect_bernoulli do not.

#' Predictions, and data simulated, from an aspect Bernoulli fit
#'
#' Probabilities, memberships and the causes of single cells, for the data of the fit or for new sites;
#' `simulate()` draws new tables from the fit.
#'
#' @details
#' **New sites** are folded in: the components stay as they are, and each new row gets the memberships that make its
#' observed cells likeliest (with `estimate = "map"` under the fit's Dirichlet prior on memberships). That problem is
#' concave, so a local maximum is the global one. The attribute `certificate` of the result bounds how far below it the
#' search may have stopped: `membership_gap`, an upper bound in nats over all rows together, and `worst_row`, the
#' largest relative excess of a gradient (0 is optimal). Components are kept within \[1e-10, 1 - 1e-10\] meanwhile,
#' because a row that is impossible under exact zeros and ones has no likelihood. A row with nothing observed gets the
#' mean membership of the training rows, and a message names it.
#'
#' **With neighbours** (`smooth`), a new row is shrunk towards its neighbours among the training rows, as strongly as
#' these are by theirs, or towards the average of all where `along` is unknown. The problem need not be concave then: a
#' certificate of 0 means that no small change gains, and is no bound. A row with nothing observed gets its neighbours'
#' composition and the mean share of the phantom.
#'
#' **Fits with `estimate = "vb"`** give the posterior means of the memberships, times those of the components. New rows
#' are folded in as the fit was made: their posterior is sought with the prior of the fit, and that of the components
#' stays as it is. There is no certificate (`NA`). Under a small Dirichlet prior a row may have several such optima, of
#' which one is found. Under another `phantom_convention` new rows are folded in as in other fits.
#'
#' **The data of the fit as new rows** come back as `fitted()` gives them, as far as both have converged, except where
#' the fit knew more of a row than its cells: its effort, its neighbours (it is now one of them itself) or, with
#' `"gibbs"`, the draws; where a row has several optima; and where it has nothing observed.
#'
#' **Fits with `estimate = "gibbs"`** give the posterior mean of the probabilities of the data's cells, and with
#' `level` a list of `mean`, `lower` and `upper`: the central interval of the Beta distribution with the mean and
#' standard deviation of the draws. New rows are folded in at the posterior means of the components.
#'
#' **Simulated tables** are complete, whatever was missing from the data.
#'
#' @param object a fit of [aspect_bernoulli()].
#' @param newdata new sites, in any form [aspect_bernoulli()] takes; columns are matched by name, in any order,
#'   or by place where one side has no names. Missing: the data of the fit.
#' @param type `"response"`: probability of a presence in every cell; `"membership"`: share of each component in each
#'   row; `"cell"`: posterior probability that each component made the cell, given its observed value (unknown cells:
#'   the membership).
#' @param along for a fit with `smooth`, the covariates of the new sites: a list such as `list(age = , place = )`, with
#'   the covariates of [smooth_over()] in the same forms (`distance`: new x training rows; `neighbours`: numbers or
#'   weights of training rows). Without `newdata`, of sites where nothing is recorded yet. `NULL`: unknown.
#' @param ... must be empty.
#' @param rows names or numbers of the rows wanted; `NULL` is all. A result over 1 GB is refused: choose fewer rows.
#' @param control settings from [fit_control()] for folding in new sites (see Details): `max_iter`, `tol`, `accelerate`
#'   and `n_threads` are used. Cost: O(n m k) an iteration.
#' @param x the data of the fit, for `"cell"` without `newdata` where the fit was made with `keep_x = FALSE`.
#' @param phantom_convention for `"membership"` and `"cell"`, see [false_absences()]; the `"response"` for the data of
#'   the fit is the same in all.
#' @param level for fits with `estimate = "gibbs"`, without `newdata`: `NULL`, or the probability of a central
#'   credible interval, between 0 and 1.
#' @param nsim number of tables, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @return `predict()`: a matrix rows x m (`"response"`) or rows x k (`"membership"`), or an array rows x m x k
#'   (`"cell"`), with names. `fitted()`: the first, for the data of the fit. `simulate()`: a list of `nsim` integer 0/1
#'   matrices n x m with the names of the data, and as its attribute `seed` what [stats::simulate()] promises.
#' @seealso [test_loglik()] for the held-out likelihood.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.3), 20, 10)
#' fit <- aspect_bernoulli(x, k = 2)
#' predict(fit, x[1:2, ], type = "membership")
#' @name predict.aspect_bernoulli
#' @export
predict.aspect_model <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                                 rows = NULL, along = NULL, control = fit_control(max_iter = 5000, tol = 1e-10),
                                 x = NULL, phantom_convention = c("fitted", "minimal", "maximal")) {
  check_dots(...)
  convention <- check_choice(phantom_convention)
  if (convention != "fitted") object <- use_convention(object, NULL, convention, x)$fit
  control <- check_control(control)
  type <- check_choice(type)
  is_new <- !is.null(newdata) || !is.null(along)
  if (is_new) new <- new_sites(object, newdata, along)
  names <- if (is_new) rownames(new$x) else object$names[[1L]]
  asked <- pick(rows, if (is_new) nrow(new$x) else object$dims[["n"]], names, "rows")
  rows <- unique(asked)
  width <- c(response = object$dims[["m"]], membership = object$dims[["k"]], cell = prod(object$dims[c("m", "k")]))
  refuse_large(length(asked) * width[[type]], "The prediction", "take fewer rows at a time by `rows`")
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
  out <- as_asked(out, rows, asked)
  if (type == "membership") out else in_given_order(out, newdata)
}

fold_in_rounds <- 10L

# Estimates memberships of new rows with the aspects (in variational Bayes their posterior) fixed.
fold_in <- function(fit, x, control, along = NULL) {
  data <- check_data(x, "binary", "newdata", quiet = TRUE)
  fixed <- unname(fit$fixed)
  smooth <- smooth_given(fit, nrow(data$x), along)
  run <- if (is.null(fit$posterior)) best_membership(fit, data, control, smooth) else vb_fold_in(fit, data, control)
  if (run$outcome$status != "converged") {
    warn_not_converged(
      run$outcome, "Memberships of new rows not converged",
      if (is.null(fit$posterior)) ": see the attribute `certificate`" else ""
    )
  }
  bare <- which(data$margins$row_observed == 0)
  if (length(bare) && !is.null(smooth)) {
    # Neighbours determine the composition; how well the site would be recorded is unknown, so it gets the table's mean.
    share <- colMeans(fit$param$membership)
    free <- fixed == "free"
    run$param$membership[bare, free] <- sum(share[free]) * t(smooth$reference[free, bare, drop = FALSE])
    run$param$membership[bare, !free] <- rep(share[!free], each = length(bare))
  } else if (length(bare)) {
    run$param$membership[bare, ] <- rep(mean_membership(fit), each = length(bare))
    inform(
      "The mean membership goes to %s of `newdata` with nothing observed: %s.", count_words(length(bare), "row"),
      show_names(if (is.null(rownames(data$x))) as.character(bare) else rownames(data$x)[bare])
    )
  }
  list(param = run$param, certificate = c(membership_gap = run$gap[1L], worst_row = run$gap[3L]))
}

# Computes maximum-likelihood memberships (posterior modes with a prior or neighbours): list(param, outcome, gap).
best_membership <- function(fit, data, control, smooth) {
  n <- nrow(data$x)
  k <- fit$dims[["k"]]
  aspects <- unname(pmin(pmax(fit$param$aspects, 1e-10), 1 - 1e-10))
  prior <- membership_prior(mode_prior(fit))
  fixed <- unname(fit$fixed)
  run <- list(param = list(membership = matrix(1 / k, n, k), aspects = aspects))
  # Iterations that gain little may have stalled: if the certificate shows a gap, the acceleration is restarted.
  for (round in seq_len(fold_in_rounds)) {
    run <- ab_run(data$view, run$param, fixed, prior, control, fixed_aspects = TRUE, smooth = smooth)
    check_outcome(run$outcome)
    gap <- ab_certify(data$view, run$param, fixed, prior, TRUE, smooth)
    if (run$outcome$status != "converged" || gap[1L] <= 1e-8 * sum(data$margins$row_observed)) break
  }
  c(run, list(gap = gap))
}

# Computes P(component c wrote the cell | its value), rows x m x k, by eq. (7); the membership if the value is unknown.
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
  nsim <- check_nsim(nsim, prod(object$dims[c("n", "m")]))
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

# Title and findings of an aspect Bernoulli fit in print().

fixed_kinds.aspect_bernoulli <- function(fit) fit$fixed

model_title.aspect_bernoulli <- function(fit) "Aspect Bernoulli model"

shape_words.aspect_bernoulli <- function(fit) {
  fixed <- unname(fit$fixed)
  colours <- intersect(c("white", "black"), fixed)
  paste0(c(NextMethod(), sprintf(", %s phantom fixed", colours)), collapse = "")
}

component_facts.aspect_bernoulli <- function(fit) {
  table <- phantoms(fit)
  list(
    component = table$component, share = sprintf("%.2f", table$weight),
    role = ifelse(table$kind == "content", "content", paste(table$kind, "phantom")),
    `mean P` = sprintf("%.2f", table$mean)
  )
}

found_sentences.aspect_bernoulli <- function(fit, digits = 4L) {
  kinds <- phantoms(fit)$kind
  if (all(kinds == "content")) {
    return(c(
      "No component is a phantom, so no zero is estimated to be false (?phantoms).",
      near_phantom(phantoms(fit), axis_words(fit)[2L])
    ))
  }
  c(
    false_sentence(fit, "absences", any(kinds == "white")), false_sentence(fit, "presences", any(kinds == "black")),
    if (!is.null(fit$effort)) effort_sentence(fit)
  )
}

# How many are expected to be false, and between which ends other fits of the same probabilities put that number.
false_sentence <- function(fit, of, has_phantom) {
  said <- expected_sentence(fit, of, has_phantom)
  if (is.null(said) || !is.null(fit$effort)) {
    return(said)
  }
  bounds <- allowed_bounds(fit)
  most <- bounds$expected_most[bounds$phantom == c(absences = "white", presences = "black")[[of]]]
  if (!length(most) || anyNA(most)) {
    return(said)
  }
  sprintf("%s Bounds given the fitted probabilities: 0 to %s (identifiability()).", said, format_big(signif(most, 3L)))
}

detail_sentences.aspect_bernoulli <- function(fit, digits = 4L) {
  table <- phantoms(fit)
  phantom_sentences(fit, table)
}

# Which components are phantoms, how much of the table each makes up, and what it stands for.
phantom_sentences <- function(fit, table = phantoms(fit)) {
  describe <- function(kind, label) {
    at <- table[table$kind == kind, ]
    if (!nrow(at)) {
      return(NULL)
    }
    # A black phantom may be grey: its lowest probability is then uninformative.
    grey <- kind == "black" & at$mean < 0.9
    probability <- ifelse(grey, at$mean, if (kind == "white") at$max else at$min)
    sprintf(
      "%s is a %s phantom%s: %s %% of the table, which stands for %s (%s probability of a presence %s).",
      at$component, kind, ifelse(at$fixed, " (fixed)", ""), format_percent(at$weight),
      c(white = "gaps in the record", black = "wrong records")[[kind]], ifelse(grey, "mean", label),
      format_each(probability)
    )
  }
  c(describe("white", "highest"), describe("black", "lowest"))
}

# Reports a component that narrowly fails the rule: it may be a partial phantom.
near_phantom <- function(table, taxa) {
  flat <- table$black_ratio <= 0.6 & table$above >= 0.75 & table$alone <= black_alone
  ratio <- pmin(table$white_ratio, ifelse(flat, table$black_ratio, NA), na.rm = TRUE)
  near <- which((ratio <= 0.5 | flat) & table$weight > 0.1)
  if (!length(near)) {
    return(NULL)
  }
  at <- near[which.min(ratio[near])]
  if (flat[at] %in% TRUE) {
    return(sprintf(
      "%s comes near: it makes up %s %% of the table; in it %s %% of the %s are likelier (black phantom: 95 %%).",
      table$component[at], format_percent(table$weight[at]), format_percent(table$above[at]), taxa
    ))
  }
  sprintf(
    paste(
      "%s comes near: it makes up %s %% of the table, with %s of the table's density of presences",
      "(a phantom: at most 0.2)."
    ),
    table$component[at], format_percent(table$weight[at]), format_each(ratio[at])
  )
}

# Computes -L + P, eq. (27) of Bingham, Kaban & Fortelius (2009), in nats: half of AIC().
aic_paper <- function(fit) {
  check_fit(fit, c("aspect_bernoulli", "visits_bernoulli"))
  likelihood <- logLik(fit)
  attr(likelihood, "df") - as.numeric(likelihood)
}

#' Summary of an aspect Bernoulli fit
#'
#' Criteria, phantoms, how the starts ended, and how near the fit is to a maximum.
#'
#' @details
#' **Certificate.** The objective is concave in the memberships with the components fixed, and in the components with
#' the memberships fixed. A bound of 0 means that the fit is the maximum of that problem. The joint problem is not
#' concave: other starts may lead higher. The parts that concern memberships are `NA` with `smooth`, where the objective
#' is not concave in them, and with `effort`, where they are not free. Fits with `estimate` `"vb"` or `"gibbs"` and
#' those of [visits_bernoulli()] have no certificate. Cost: that of an iteration, over all [shards()] where the fit is
#' to those.
#'
#' @param object a fit of [aspect_bernoulli()].
#' @param ... must be empty.
#' @return A list of class `summary.aspect_bernoulli`:
#' \describe{
#'   \item{`fit`}{title, dimensions, convergence and objective, as printed.}
#'   \item{`criteria`}{`loglik`, `df`, `AIC`, `BIC` (always `NA`: `no_bic` gives the reason), `AIC_paper` (\eqn{-L + P},
#'     eq. 27 of Bingham and others 2009), in nats; `NA` where they have no meaning, as for variational fits.
#'     `criteria_note` explains them where a prior or neighbours shrink parameters.}
#'   \item{`phantoms`}{see [phantoms()].}
#'   \item{`expected_false`}{numbers of absences and presences, and how many of each are expected to be false.}
#'   \item{`allowed`}{for each phantom of the fit, the outer bounds of its mean share and of the number of false
#'     absences (presences). No decomposition with the same probabilities and an equally white (black) phantom lies
#'     outside them, see [identifiability()]. `NULL` without a phantom or without data.}
#'   \item{`free_starts`}{of the finished starts that impose no phantom, their number and how many `found` one.}
#'   \item{`starts`}{by kind of start: number, finished, reached the best, best objective.}
#'   \item{`certificate`}{how much the fit could still gain, upper bounds: `membership_gap` and `aspects_gap`, by better
#'     memberships alone and better components alone, in nats of the log-likelihood (`"map"`: log-posterior);
#'     `worst_row`, the relative excess of the largest gradient of a row's memberships over its value at the optimum (0
#'     is optimal).}
#'   \item{`seed`}{state of the generator before the first start, see [summary.multicause()].}
#'   \item{`n_missing`}{number of unknown cells; `unobserved`, rows and columns with nothing observed.}
#' }
#' For a fit with `estimate = "gibbs"`, which maximises nothing, the class is `summary.aspect_bernoulli_gibbs`, and
#' `quantities`, a data frame as in [summary.bmf()][bmf_methods], stands in place of `criteria`, `free_starts`,
#' `starts`, `certificate` and `unobserved`. For a fit to [shards()] it is `summary.multicause_shards`, with
#' `components` (see [phantoms()]) and `certificate` (`NA` where its memberships are lost).
#' @inherit aspect_bernoulli references
#' @examples
#' set.seed(1)
#' summary(aspect_bernoulli(matrix(rbinom(200, 1, 0.3), 20, 10), k = 2))
#' @name summary.aspect_bernoulli
#' @export
summary.aspect_model <- function(object, ...) {
  check_dots(...)
  d <- object$dims
  no_criteria <- why_no_criteria(object)
  structure(
    list(
      fit = object[c("dims", "objective", "converged", "starts", "trace", "names", "estimate")], seed = object$seed,
      criteria = c(fit_criteria(object), AIC_paper = if (is.null(no_criteria)) aic_paper(object) else NA_real_),
      no_criteria = no_criteria,
      no_bic = why_no_bic(object), criteria_note = criteria_note(object),
      phantoms = summarised_phantoms(object), expected_false = expected_numbers(object),
      free_starts = count_free_starts(object$starts), starts = summarise_starts(object$starts),
      certificate = fit_certificate(object), n_missing = d[["n"]] * d[["m"]] - d[["observed"]],
      unobserved = c(rows = sum(object$margins$row_observed == 0), columns = sum(object$margins$column_observed == 0)),
      allowed = allowed_bounds(object), screen = fit_screen(object), details = detail_sentences(object)
    ),
    class = "summary.aspect_bernoulli"
  )
}

# Computes outer bounds for phantoms as white (black) as those of the fit, at the cost of the fitted values.
allowed_bounds <- function(fit) UseMethod("allowed_bounds")

allowed_bounds.default <- function(fit) NULL

allowed_bounds.aspect_bernoulli <- function(fit) {
  colours <- intersect(c("white", "black"), phantoms(fit)$kind)
  if (!length(colours) || is.null(fit$x)) {
    return(NULL)
  }
  bounds <- lapply(colours, function(colour) {
    outer <- outer_bounds(fit, fit$x, colour, most_written(fit, phantoms(fit)$kind, colour))
    best <- list(n = 1L, per = "table")
    ranked <- if (colour == "white") {
      false_cells(fit, "absences", "probability", best, NULL, NULL, NULL, "fitted")
    } else {
      false_cells(fit, "presences", "absent", best, NULL, NULL, NULL, "fitted")
    }
    data.frame(
      phantom = colour, share_least = 0, share_most = mean(1 - outer$top), expected_least = 0,
      expected_most = attr(ranked, "expected_most")
    )
  })
  do.call(rbind, bounds)
}

allowed_sentences <- function(allowed) {
  sprintf(
    "Given the fitted probabilities the %s phantom makes up at most %s %% of the table, with at most %s false %s.",
    allowed$phantom, format_percent(allowed$share_most), format_big(signif(allowed$expected_most, 3L)),
    vapply(allowed$phantom, false_of, "")
  )
}

count_free_starts <- function(starts) {
  if (is.null(starts$phantom)) {
    return(c(finished = 0L, found = 0L))
  }
  free <- starts$finished & starts$init %in% c("mixture", "uniform")
  c(finished = sum(free), found = sum(starts$phantom[free]))
}

# Prints the certificate without unknown bounds; `objective`: the name of what was maximised.
print_certificate <- function(certificate, objective) {
  gap <- vapply(certificate[c("membership_gap", "aspects_gap")], format, "", digits = 2L)
  known <- !is.na(certificate[["membership_gap"]])
  if (!is.na(certificate[["aspects_gap"]])) {
    write_sentences(sprintf(
      "Largest possible gain in %s: %s%s by other probabilities of the components.", sub("_", "-", objective),
      if (known) paste0(gap[[1L]], " by other memberships alone, ") else "", gap[[2L]]
    ))
  }
}

#' @export
print.summary.aspect_bernoulli <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  print_screen(x$screen, Inf)
  write_sentences(c(x$details, if (!is.null(x$allowed)) allowed_sentences(x$allowed)))
  if (x$n_missing > 0) {
    write_sentences(sprintf(
      "%s unknown; %s and %s with nothing observed", count_words(x$n_missing, "cell"),
      count_words(x$unobserved[["rows"]], "row"), count_words(x$unobserved[["columns"]], "column")
    ))
  }
  print_criteria(x, digits)
  print_certificate(x$certificate, names(x$fit$objective))
  print_starts(x$starts, digits)
  if (x$free_starts[["finished"]] > 0 && !any(x$phantoms$fixed)) {
    write_sentences(sprintf(
      "A phantom was found by %d of the %d finished starts that did not begin with one.", x$free_starts[["found"]],
      x$free_starts[["finished"]]
    ))
  }
  print_phantoms_below(x)
  invisible(x)
}

summarised_phantoms <- function(fit) if (!visits_decide(fit)) phantoms(fit)

print_phantoms_below <- function(x) {
  if (!is.null(x$phantoms)) {
    cat("\n")
    print(x$phantoms)
  }
}

# Sums 1 - p as S (1 - A), because 1 - (S A) loses small values.
row_cells.aspect_model <- function(fit, family) {
  membership <- unname(fit$param$membership)
  aspects <- unname(fit$param$aspects)
  function(rows) {
    share <- membership[rows, , drop = FALSE]
    list(one = share %*% aspects, zero = share %*% (1 - aspects))
  }
}

component_matrix.aspect_model <- function(fit) fit$param$aspects

component_scale.aspect_model <- function(fit) "probability"

part_sides.aspect_model <- function(fit, name, values) {
  switch(name,
    aspects = c("component", "taxon"), NextMethod()
  )
}

param_parts.aspect_bernoulli <- function(fit) {
  c(NextMethod(), if (!is.null(fit$effort)) list(effort = fit$effort$coefficients))
}

# Adds the probability that the recorded value is false, for fits with phantoms.
augment_scores.aspect_model <- function(fit, rows, observed) {
  kinds <- component_kinds(fit, NULL)
  of_zeros <- cell_scores(fit, rows, kinds, "absences")
  of_ones <- cell_scores(fit, rows, kinds, "presences")
  false <- ifelse(observed == 1, of_ones$missed, of_zeros$missed)
  list(.present = of_zeros$present, .false = false)
}

#' Plot an aspect Bernoulli fit
#'
#' @description
#' Figures of a fit, after Figures 5 to 7 of Bingham and others (2009): `plot()` draws them, `autoplot()` gives them as
#' ggplot2 objects. Sites, taxa and components have the names of the fit.
#'
#' @details
#' The figure is named by `what`:
#' \describe{
#'   \item{`"aspects"`}{a heat map of the components' probabilities, taxa in order of age or seriated by component, in
#'     panels side by side where they are many.}
#'   \item{`"structure"`}{for each site (a vertical bar) the shares of the components, as in
#'     [plot()][autoplot.multicause]; phantoms are grey.}
#'   \item{`"phantom"`}{the phantoms' share of each site against its richness (the number of taxa recorded).}
#'   \item{`"trace"`}{how far every start was below the best, iteration by iteration; of a fit with `estimate =
#'     "gibbs"`, log joint density, log-likelihood and shares of phantoms of every chain, draw by draw; left of
#'     a vertical line, of the warm-up.}
#'   \item{`"density"`}{of a fit with `estimate = "gibbs"`, the posterior densities of these quantities, by chain.}
#'   \item{`"top"`, `"scores"`}{the characteristic taxa of each component, and the sites on two components:
#'     [plot()][autoplot.multicause].}
#'   \item{`"curves"`}{for a fit with `smooth = smooth_over(age = )`: the components' shares and the probability of
#'     presence of some taxa through time, see [curves()]; points are the share of sites with a record, in a dozen bins
#'     of age. Components are named with their most characteristic taxon.}
#'   \item{`"map"`}{for a fit with `smooth = smooth_over(place = )`: the composition of each site as a pie where it
#'     lies, a panel for each slice of age. Pies that would overlap are merged into one, the mean of their sites, larger
#'     for more sites.}
#' }
#'
#' @param object a fit of [aspect_bernoulli()].
#' @param what which view.
#' @param age,of ages that order the plot, one for each site or for each taxon, and whose they are, as in
#'   [age_profile()]. The age of a taxon is the mean age of the sites where it occurs, that of a site the mean age of
#'   its taxa. Oldest first, those without an age last.
#' @param order `"age"` (default where `age` is given), `"seriated"` (taxa by main component, then by probability; sites
#'   with similar memberships beside each other) or `"data"`.
#' @param taxon names or numbers of the taxa for `"curves"`; `NULL`: six that change much through time, in different
#'   ways.
#' @param slices number of slices of age for `"map"`, at least 1; they hold about equally many sites.
#' @param coast for `"map"`: the coast of the age of the sites, as in [plot.which_zeros()].
#' @inheritParams autoplot.multicause
#' @param ... must be empty.
#' @return An object of class `ggplot`. Wrong input, and `what = "phantom"` for a fit without phantom, are errors of
#'   class `multicause_input_error`.
#' @inherit aspect_bernoulli references
#' @seealso [aspect_bernoulli()], [phantoms()], [age_profile()] for the ages of the components.
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' fit <- aspect_bernoulli(present * rbinom(480, 1, 0.6), k = 3, phantom = "white")
#' plot(fit)
#' plot(fit, "structure")
#' plot(fit, "phantom")
#' plot(fit, "trace")
#' @name plot.aspect_bernoulli
#' @aliases autoplot.aspect_bernoulli
#' @exportS3Method ggplot2::autoplot
autoplot.aspect_model <- function(object, # nolint: object_name_linter.
                                  what = c(
                                    "aspects", "structure", "phantom", "trace", "density", "top", "scores", "curves",
                                    "map"
                                  ), age = NULL, of = c("guess", "taxon", "site"), order = NULL, ...,
                                  taxon = NULL, slices = 4, coast = NULL, n = NULL, components = 1:2,
                                  groups = NULL) {
  what <- check_choice(what)
  check_dots(...)
  of <- check_choice(of)
  if (is.null(order)) order <- if (is.null(age)) "seriated" else "age"
  order <- check_choice(order, "order", c("age", "seriated", "data"))
  if (order == "age" && is.null(age)) {
    stop_input("`order = \"age\"` needs `age`: one number for each site or for each taxon.")
  }
  switch(what,
    aspects = aspects_figure(object, age, of, order), phantom = phantom_share_figure(object),
    structure = aspect_structure(object, age, of, order, groups),
    shared_figure(object, what, taxon, slices, coast, n, components)
  )
}

# Labels of components, their phantoms marked.
component_labels <- function(kinds, names) {
  ifelse(kinds == "content", names, paste(names, kinds))
}

# Orders the items of one side by their columns of `weight` (components x items), with the order in words.
aspect_order <- function(fit, age, of, order, wanted, weight) {
  content <- phantoms(fit)$kind == "content"
  switch(order,
    age = list(
      at = order(-years_ago(plot_ages(fit, age, of, wanted), unit_of_ages(age) %||% "guess")), words = "oldest first"
    ),
    seriated = list(at = seriate(if (any(content)) weight[content, , drop = FALSE] else weight),
      words = "by main component"),
    data = list(at = seq_len(ncol(weight)), words = "in the order of the data")
  )
}

aspects_figure <- function(fit, age, of, order) {
  aspects <- fit$param$aspects
  if (is.null(colnames(aspects))) colnames(aspects) <- seq_len(ncol(aspects))
  ordered <- aspect_order(fit, age, of, order, "taxon", aspects)
  kinds <- phantoms(fit)$kind
  content <- kinds == "content" | all(kinds != "content")
  taxa <- axis_words(fit)[2L]
  heat_figure(
    t(aspects[, ordered$at, drop = FALSE]),
    main_title(aspects[content, , drop = FALSE], rownames(aspects)[content], taxa),
    sprintf("Heat map: the probability of a presence of each of %d %s in each of %s.", ncol(aspects), taxa,
      count_words(nrow(aspects), "component")),
    legend = "probability of presence", heads = component_labels(kinds, rownames(aspects)),
    sides = c(taxa, ""), subtitle = sprintf("%s %s", capital(taxa), ordered$words)
  )
}

aspect_structure <- function(fit, age, of, order, groups) {
  kinds <- phantoms(fit)$kind
  colours <- component_colours(length(kinds))
  for (kind in names(phantom_colours)) colours[kinds == kind] <- phantom_colours[[kind]]
  ordered <- if (order != "seriated") aspect_order(fit, age, of, order, "site", t(fit$param$membership))
  structure_figure(
    fit, groups, component_labels(kinds, colnames(fit$param$membership)), colours, ordered, kinds == "content"
  )
}

phantom_share_figure <- function(fit) {
  kinds <- phantoms(fit)$kind
  if (all(kinds == "content")) stop_input("No component of `object` is a phantom: there is no share to plot.")
  richness <- fit$margins$row_sum
  words <- axis_words(fit)
  shares <- lapply(intersect(c("white", "black"), kinds), function(kind) {
    share <- rowSums(fit$param$membership[, kinds == kind, drop = FALSE])
    data.frame(richness, share, kind = phantom_share_label(kind, share, richness), row.names = NULL)
  })
  table <- do.call(rbind, shares)
  table$kind <- factor(table$kind, unique(table$kind))
  new_figure(
    table, gg_aes(x = "richness", y = "share", colour = "kind", shape = "kind"),
    phantom_title(table, words[1L]),
    sprintf("Points: the phantom's share of each of the %s against the number of %s recorded.", words[1L], words[2L]),
    sprintf("%s recorded (richness)", words[2L]), "share of the phantom"
  ) + ggplot2::geom_point(alpha = 0.55, size = 1.8) + ggplot2::ylim(0, 1) +
    ggplot2::scale_x_continuous(breaks = whole_breaks) +
    colour_scale(stats::setNames(component_colours(6L)[c(1L, 6L)][seq_along(shares)], levels(table$kind))) +
    ggplot2::scale_shape_manual(NULL, values = c(16L, 17L), guide = ggplot2::guide_legend(ncol = 1L))
}

# Whether the share of the white phantom, or of the only one, is the larger the fewer were found.
phantom_title <- function(table, sites) {
  mine <- table[table$kind == levels(table$kind)[1L], ]
  varies <- stats::sd(mine$share) > 0 && stats::sd(mine$richness) > 0
  r <- if (isTRUE(varies)) stats::cor(mine$share, mine$richness) else 0
  how <- if (r < -0.3) "larger" else if (r > 0.3) "smaller" else "as large"
  sprintf("The phantom is %s at %s with a poor record", how, sites)
}

# A kind of phantom with the correlation of its share and the richness, where both vary.
phantom_share_label <- function(kind, share, richness) {
  varies <- length(share) > 1L && stats::sd(share) > 0 && stats::sd(richness) > 0
  paste0(kind, " phantom", if (varies) sprintf(", r = %.2f", stats::cor(share, richness)))
}

# Returns an age for each `wanted`, "site" or "taxon", from the ages of either: the mean over the presences.
plot_ages <- function(fit, age, of, wanted) {
  age <- middle_ages(age)
  given <- whose_age(age, of, fit)
  side <- if (given == "site") 1L else 2L
  age <- match_age(age, fit$names[[side]], fit$dims[[side]], given)
  if (given == wanted) {
    return(age)
  }
  if (is.null(fit$x)) {
    stop_input(
      "`age` must be of the %s here: from ages of %s they follow by the data, and the fit has `keep_x = FALSE`.",
      plural_word(side_word(fit, wanted)), plural_word(side_word(fit, given))
    )
  }
  if (wanted == "taxon") taxon_age(fit, age) else site_age(fit, age)
}

# Computes the mean age of the attributes that occur in each observation.
site_age <- function(fit, age) {
  dated <- !is.na(age)
  unlist(lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    found <- is_found(dense_rows(fit$x, rows)[, dated, drop = FALSE])
    ifelse(rowSums(found) > 0, as.vector(found %*% age[dated]) / rowSums(found), NA)
  }))
}
