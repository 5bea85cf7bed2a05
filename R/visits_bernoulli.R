#' Repeated visits: what was there, and what the visits missed
#'
#' `visits_bernoulli()` is the aspect Bernoulli model of repeated visits: each cell has a true state, present or
#' absent, and each visit may miss a presence. Repeated visits can separate misses from absences, which one table alone
#' cannot.
#'
#' @details
#' **Model.** \eqn{P(z_{ij} = 1) = \sum_c s_{ic} a_{cj}}{P(z[i,j] = 1) = sum_c s[i,c] a[c,j]} for the true state, with
#' `membership` \eqn{s} and `aspects` \eqn{a}. All visits to a site share that state. All k components are content:
#' misses replace the phantom of [aspect_bernoulli()].
#'
#' **What a miss depends on.** By default on taxon and visit, with taxa shrunk towards each other: `detection = ~visit`
#' (`~1` for one visit, or more than ten). `missed_by` takes the site and visit, the taxon and visit without shrinkage,
#' or the visit alone. With `added` a visit may also report an absent taxon.
#'
#' **Detection by covariates.** `detection = ~ date + I(date^2) + effort` is a logistic model with an intercept and
#' slopes for each taxon. The formula may hold covariates of visits, sites and taxa, and `visit`, a factor with a level
#' for each. With `sharing = "partial"`, the default, coefficients are shrunk towards a mean over taxa, as strongly as
#' the data suggest, so that rare taxa learn from others. With one component, `"ml"` and `"none"` this is the
#' single-species occupancy model.
#'
#' **Communities by covariates.** `communities = ~ elevation + forest` makes memberships a multinomial logistic model of
#' covariates of sites: \eqn{s_{ic} \propto \exp(w_i' \beta_c)}{s[i,c] proportional to exp(w[i]' beta[,c])}, where
#' effects of a term sum to 0. It needs few taxa, and [predict()][predict.visits_bernoulli] knows new sites. With `"ml"`
#' effects may grow without bound.
#'
#' **What is assumed.** Visits to a site meet the same taxa there, and are independent. Where taxa come and go, their
#' absences count as misses, and the number missed is too large; the visits cannot show this. The default assumes that a
#' visit searches all sites alike, up to the covariates of `detection`. If detection differs among sites, it
#' underestimates the number missed. `missed_by = "site"` assumes that a visit
#' finds all taxa of a site equally well, and needs many taxa. The number missed in the print is therefore that of
#' [visits_occupancy()], if misses depend on taxon and visit alone. Its 90 % interval held the truth in 93 to 100 % of
#' simulated surveys, also where detection differed among sites (`bench/visits_occupancy.md` in the sources).
#'
#' **When not to trust it.** A taxon that was seldom found may be estimated to be at all sites with a detection near 0,
#' or, if all visits agree, to have a detection of 1. `print()`, [occupied()], [visits_needed()] and [false_absences()]
#' name such taxa. Taxa found at fewer than `rare` sites are flagged in `fit$rare`.
#'
#' **Estimates.** `"map"`, the default, is the posterior mode; it predicted held-out records better than `"ml"`, by
#' 0.003 to 0.37 nats a record (`bench/estimate_default.md`). `"gibbs"` draws from the posterior, with `detection` and
#' without `added`. Two pages have the rest: [algorithms and sampling][visits_bernoulli_estimation], and [the shapes of
#' data][visits_bernoulli_data].
#' @param x repeated visits to the same n sites: an array of [visits_array()], a list of 0/1 tables of the same
#'   shape and names, one for each visit, an array, or what packages spOccupancy or unmarked take: see Details. `NA`
#'   where there was no visit.
#' @param k number of components, at least 1.
#' @param ... must be empty.
#' @param estimate `"map"` (posterior mode), `"ml"` (maximum likelihood) or `"gibbs"` (draws of the posterior).
#' @param prior for `"map"` and `"gibbs"`, `NULL` or a list as in [aspect_bernoulli()]: `aspects`, two numbers (`"map"`:
#'   of at least 1); `membership`, one; `detection`, the standard deviation of the normal prior of mean coefficients
#'   (with `sharing = "none"`, of each taxon's), and `communities`, that of effects on memberships, both on the scale of
#'   covariates of standard deviation 1. `NULL`: for `"map"` `aspects = c(1.5, 1.5)` and `membership = 1.5` (1 with
#'   `communities`), for `"gibbs"` `aspects = c(1.2, 2)` and `membership = 1`; `detection` and `communities` are 1.65.
#' @param missed_by `NULL`, or what the probability of missing a presence depends on, besides the visit: `"site"`,
#'   `"taxon"` or, for the visit alone, `"visit"`. `NULL` without `detection`: taxon and visit, with taxa shrunk towards
#'   each other.
#' @param detection `NULL`, or a formula of the covariates that detection follows, in place of `missed_by`. `NULL`
#'   without `missed_by`: `~visit`.
#' @param visit_data covariates of visits: a named list of n x visits matrices (or of n values), or a data frame with
#'   columns of sites, of visits and of the covariates. Without the first two its rows are the visits to the first site,
#'   then those to the second, as in package unmarked. Dates must be numbers, such as the day of the year.
#' @param site_data,taxon_data data frames with a row for each site or taxon: by row names, by a column that
#'   holds the names, else in the same order.
#' @param sharing `"partial"`: taxa' coefficients are shrunk towards a common mean; `"none"`: each has its own. Of
#'   one or two taxa, `"none"`.
#' @param communities `NULL`, or a formula of covariates of sites (`site_data`) that memberships follow.
#' @param smooth `NULL`, or a result of [smooth_over()]: sites near each other share their communities.
#' @param added whether a visit may report what is absent (`TRUE`: its probability is fitted).
#' @param sides for an array, what its dimensions are, as `c("site", "visit", "species")`.
#' @param rare taxa found at fewer sites than this are flagged; 0: none.
#' @param start initial values, as in [aspect_bernoulli()]; `missed`, `detection` and `added` may come with them.
#'   With `"gibbs"`: a fit whose chains resume.
#' @param control settings from [fit_control()]; with `"gibbs"` from [mcmc_control()]. `NULL`: the defaults of the one
#'   that is needed.
#' @return A list of class `visits_bernoulli` with the elements of a fit of [aspect_bernoulli()] and
#' \describe{
#'   \item{`param`}{also `missed`, the probabilities of missing a presence (n, m or 1 x visits), or `detection`, the
#'     coefficients (terms x m) on the covariates' own scale; `added`, of reporting an absence as present (one for
#'     each visit); and `communities`, effects on memberships (terms x k) on the covariates' own scale.}
#'   \item{`detection`}{with `detection`: `formula`, the scaled `design` and its `basis`, `mean` and `spread` of the
#'     scaled coefficients among taxa.}
#'   \item{`communities`}{with `communities`: `formula`, the scaled `design` and its `basis`.}
#'   \item{`algorithm`}{with `"ml"` and `"map"`: which iterations were made, `"em"` or `"newton"`.}
#'   \item{`smooth`}{with `smooth`, the [smooth_over()] used, with numbers for its bandwidth and strength.}
#'   \item{`x`}{1 where any visit found something, 0 where none did, `NA` where there was no visit.}
#'   \item{`visits`}{the n x m x visits array (where `control` keeps the data).}
#'   \item{`draws`, `cells`, `kept`, `last`}{with `"gibbs"`: draws of `richness` (n x draws), `sites` (m x draws),
#'     `detection` (terms x m x draws) and `communities` (terms x k x draws); what [aspect_bernoulli()] has of cells;
#'     states that were kept.}
#'   \item{`rare`}{whether each taxon was found at fewer than `rare` sites.}
#' }
#' `fitted()` is the probability that the taxon is there. [false_absences()] and [by_site()] use all visits. The
#' `certificate` of [summary()][summary.aspect_bernoulli] is `NA`.
#' @seealso [The shapes of data][visits_bernoulli_data], [visits_array()] to make them; [occupied()] for richness and
#'   numbers of sites, [visits_needed()], [predict.visits_bernoulli()], [vcov.visits_bernoulli()] for standard errors,
#'   [autoplot.visits_bernoulli()], [predictive_check()]; [aspect_bernoulli()], [false_absences()], [by_site()],
#'   [identifiability()], [multicause-glossary] for the words.
#' @concept imperfect detection
#' @concept occupancy model
#' @concept detection probability
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#'
#'   MacKenzie DI, Nichols JD, Lachman GB, Droege S, Royle JA, Langtimm CA (2002). Estimating site occupancy rates when
#'   detection probabilities are less than one. *Ecology* 83, 2248-2255.
#' @examples
#' visits <- simulated_surveys$later[, 1:15, 1:3] # 120 sites, 15 taxa, three visits
#' fit <- visits_bernoulli(visits, k = 2)
#' fit
#' head(false_absences(fit), 3)
#'
#' # detection by the date of each visit
#' date <- matrix(rep(c(120, 150, 180), each = 120), 120)
#' visits_bernoulli(visits, k = 2, detection = ~date, visit_data = list(date = date))
#' @export
visits_bernoulli <- function(x, k, ..., estimate = c("map", "ml", "gibbs"), prior = NULL, missed_by = NULL,
                             detection = NULL, sharing = c("partial", "none"), communities = NULL, visit_data = NULL,
                             site_data = NULL, taxon_data = NULL, smooth = NULL, added = FALSE, sides = NULL, rare = 5,
                             start = NULL, control = NULL) {
  call <- drop_nulls(match.call(), list(prior = prior, missed_by = missed_by, control = control))
  check_dots(...)
  check_given(x, k)
  settings <- visits_settings(estimate, missed_by, detection, sharing, added, rare)
  control <- control_by_estimate(control, settings$estimate)
  cell <- check_visits(x, sides)
  data <- check_data(any_visit(cell), "binary", name = "x", turn = NULL, merged = TRUE)
  k <- check_k(k, dim(data$x))
  tell_single_visits(cell)
  smooth <- check_smooth(smooth)
  if (is.null(prior)) prior <- visits_default_prior(settings$estimate, !is.null(communities))
  check_visit_memberships(!is.null(communities), smooth, settings$estimate, prior)
  settings$prior <- check_visit_prior(prior, settings$estimate)
  call <- keep_values(call, c(settings, list(
    detection = detection, visit_data = visit_data, site_data = site_data, taxon_data = taxon_data,
    communities = communities, smooth = smooth, start = start
  )))
  given <- list(visit = visit_data, site = site_data, taxon = taxon_data)
  settings <- visits_designs(settings, detection, communities, cell, given)
  if (settings$estimate == "gibbs") {
    tell_rare(data, settings$rare)
    return(visits_gibbs(visits_gibbs_problem(cell, data, k, settings, control), start, call))
  }
  problem <- visits_problem(cell, data, k, settings)
  if (!is.null(start)) problem$start <- check_visit_start(start, problem)
  tell_rare(data, settings$rare)
  if (!is.null(smooth)) {
    problem$smooth <- set_smooth(smooth, problem, control)
    problem$near <- smooth_lists(problem$smooth)
  }
  run <- run_starts(problem, control)
  if (settings$missed_by == "model") {
    fitted <- fit_detection(problem, run, control)
    run <- fitted$run
    problem$settings$by <- fitted$by
  }
  if (is.null(start)) run <- reorder_runs(run, function(param) order(-colMeans(param$membership)), visits_permute)
  new_visits_fit(run, problem, control, call)
}

# Checks the settings: estimate, missed_by ("model" with detection covariates), sharing, added, rare.
visits_settings <- function(estimate, missed_by, detection, sharing, added, rare) {
  if (!is.null(missed_by) && !is.null(detection)) {
    stop_input("`missed_by` must be left out with `detection`, which states what the probability of a miss depends on.")
  }
  out <- list(
    estimate = check_choice(estimate, "estimate", c("map", "ml", "gibbs")),
    missed_by = if (is.null(missed_by)) "model" else check_choice(missed_by, "missed_by", missed_choices[-4L]),
    sharing = check_choice(sharing, "sharing", c("partial", "none")), added = check_flag(added, "added"),
    rare = check_count(rare, "rare", 0L)
  )
  # The sampler supports neither rates nor additions.
  if (out$estimate == "gibbs" && out$missed_by != "model") {
    stop_input("`estimate = \"gibbs\"` needs `detection`: `~ 1` or `~ visit` where there are no covariates.")
  }
  if (out$estimate == "gibbs" && out$added) stop_input("`added` must be FALSE with `estimate = \"gibbs\"`.")
  out
}

# Adds the designs of detection and of communities, `by` and `communities`.
visits_designs <- function(settings, detection, communities, cell, given) {
  if (settings$estimate == "ml") settings$prior <- NULL
  if (settings$missed_by == "model") {
    settings <- check_detection(detection %||% default_detection(cell), cell, given, settings)
  }
  if (!is.null(communities)) settings$communities <- check_communities(communities, cell, given, settings)
  settings
}

check_visit_memberships <- function(follows, smooth, estimate, prior) {
  if (!is.null(smooth) && estimate == "gibbs") {
    stop_input("`smooth` does not go with `estimate = \"gibbs\"`: use \"map\" or \"ml\".")
  }
  if (follows && !is.null(smooth)) {
    stop_input("`communities` and `smooth` cannot both be supplied: memberships follow covariates or neighbours.")
  }
  if (follows && is.list(prior) && !is.null(prior$membership) && !identical(as.double(prior$membership), 1)) {
    stop_input("`prior$membership` must be 1 with `communities`: memberships have no prior beside that of the effects.")
  }
}

check_visit_start <- function(start, problem) {
  out <- ab_check_start(start, problem$data, problem$k, rep("free", problem$k))
  out <- c(out, check_rates(start, problem))
  by <- problem$settings$communities
  if (!is.null(by) && !is.null(start$communities)) {
    effects <- check_matrix(start$communities, "start$communities", length(by$terms), problem$k)
    out$effects <- centred_effects(solve(by$basis, unname(effects)))
  }
  follow_start(problem, out)
}

# Chosen on simulated surveys by the number of occupied sites and by held-out visits (bench/visits.md): visits identify
# undetected presences, so the mode needs no prior that favours absence. Draws have another prior of aspects.
visits_default_prior <- function(estimate, follows) {
  sampled <- estimate == "gibbs"
  list(
    aspects = if (sampled) c(1.2, 2) else c(1.5, 1.5), membership = if (sampled || follows) 1 else 1.5,
    detection = 1.65, communities = 1.65
  )
}

# Checks the prior and drops what only detection and communities need, or fills in its default.
check_visit_prior <- function(prior, estimate) {
  if (!is.list(prior)) ab_check_prior(prior)
  own <- c("detection", "communities")
  scale <- lapply(stats::setNames(nm = own), function(name) {
    if (is.null(prior[[name]])) 1.65 else check_number(prior[[name]], paste0("prior$", name), 0, open = TRUE)
  })
  if (estimate != "ml") prior <- ab_check_prior(prior[!names(prior) %in% own], bayes = estimate == "gibbs")
  prior[own] <- scale
  prior
}

start_kinds.visits_bernoulli_problem <- function(problem, control) {
  if (problem$k == 1L) "uniform" else rep_len(c("mixture", "mixture", "uniform"), control$n_start)
}

draw_start.visits_bernoulli_problem <- function(problem, kind) {
  follow_start(problem, c(ab_draw(problem$data, kind, rep("free", problem$k), problem$n_threads), problem$blank))
}

run_start.visits_bernoulli_problem <- function(problem, start, control) {
  settings <- problem$settings
  by <- match(settings$missed_by, missed_choices) - 1L
  param <- c(start, list(missed_by = by, fit_added = settings$added))
  if (settings$missed_by == "model") {
    param$detection <- kernel_detection(settings$by, settings$share)
  }
  param$communities <- settings$communities[c("design", "ridge")]
  param$smooth <- problem$near
  control$algorithm <- visits_algorithm(control, problem$k)
  out <- visits_run(problem$cell, param, settings$prior, control)
  out$outcome$algorithm <- out$algorithm
  list(param = out$param[names(start)], outcome = out$outcome)
}

# Returns "em" or "newton"; the kernel uses EM for parts of the model without Newton steps.
visits_algorithm <- function(control, k) {
  asked <- if (is.null(control$algorithm)) "auto" else control$algorithm
  if (asked == "auto") asked <- if (isTRUE(control$accelerate) && k <= newton_components[["map"]]) "newton" else "em"
  if (asked == "em") "em" else "newton"
}

shake_start.visits_bernoulli_problem <- function(problem, param) {
  if (stays_off_bounds(problem$settings)) {
    return(NULL)
  }
  others <- param[setdiff(names(param), c("membership", "aspects", "effects"))]
  follow_start(problem, c(ab_shake(param[c("membership", "aspects")], rep("free", problem$k)), others))
}

# Polishing frees parameters at a bound. If the prior keeps all off their bounds, it took half of the time and changed
# nothing (`bench/visits.md`). Rates of misses and additions have no prior.
stays_off_bounds <- function(settings) {
  settings$missed_by == "model" && !settings$added && !is.null(settings$prior) && all(settings$prior$aspects > 1) &&
    (!is.null(settings$communities) || settings$prior$membership > 1)
}

new_visits_fit <- function(run, problem, control, call) {
  cell <- problem$cell
  data <- problem$data
  settings <- problem$settings
  k <- problem$k
  follows <- settings$communities
  missed_by <- settings$missed_by
  param <- own_visit_param(run$best$param, problem)
  if (!is.null(run$params)) run$params <- lapply(run$params, own_visit_param, problem)
  by <- if (missed_by == "model") detection_answer(settings$by, settings)
  labels <- component_names(k)
  smoothed <- is_smoothed(problem)
  shares <- if (is.null(follows)) nrow(data$x) else length(follows$terms)
  objective <- smoothed_name(visit_objective(settings), if (smoothed) problem$smooth)
  fit <- assemble_fit(
    run, data, k, objective, control, call,
    param = param, loglik = run$best$outcome$objective,
    df = shares * (k - 1) + k * as.double(ncol(data$x)) + length(param$missed) + length(param$detection) +
      settings$added * length(param$added),
    class = c("visits_bernoulli", "aspect_model"), fixed = stats::setNames(rep("free", k), labels),
    certificate = no_certificate,
    estimate = settings$estimate, prior = settings$prior,
    density = data_density(data), margins = data$margins,
    missed_by = missed_by, visits = cell, detection = by, rare = rare_attributes(as.matrix(data$x), settings$rare),
    communities = if (!is.null(follows)) communities_answer(follows), smooth = problem$smooth,
    algorithm = run$best$outcome$algorithm
  )
  if (names(fit$objective) != "log_likelihood") {
    none <- fit_control(max_iter = 0, n_start = 1)
    fit$loglik <- visits_run(cell, visit_param(fit), NULL, none)$outcome$objective
  }
  if (!control$keep_x) {
    fit <- keep_answers(fit, data$x)
    fit$visits <- NULL
  }
  validate_aspect_bernoulli(fit)
}

visits_decide.visits_bernoulli <- function(fit) TRUE

cell_scores.visits_bernoulli <- function(fit, rows, kinds, of = "absences") {
  present <- mixed(fit$param$membership[rows, , drop = FALSE], fit$param$aspects)
  after <- visit_posterior(fit, rows)
  # The visits wrote the recorded value if it is false, or if they would have written it over a true one as well.
  if (of == "presences") {
    clean <- all_visits(fit, rows, function(v) 1 - fit$param$added[v])
    return(list(probability = 1 - present, present = 1 - present, missed = 1 - after, phantom = 1 - after * clean))
  }
  silent <- probability_of_silence(fit, rows)
  list(probability = present, present = present, missed = after, phantom = after + (1 - after) * silent)
}

# Predicts each visit's record; a held-out one is predicted from the other visits to the cell.
recorded_probability.visits_bernoulli <- function(fit) {
  present <- visit_posterior(fit, seq_len(fit$dims[["n"]]))
  each <- lapply(seq_along(fit$param$added), function(v) {
    present * (1 - visit_missed(fit, v)) + (1 - present) * fit$param$added[v]
  })
  array(unlist(each), dim(fit$visits))
}

# Counts sites, which are surveyed independently of each other.
#' @export
nobs.visits_bernoulli <- function(object, ...) known_sites(object)

why_no_bic.visits_bernoulli <- function(fit) {
  if (fit$missed_by == "site") {
    "every site has misses of its own, and so the number of parameters grows with that of sites"
  } else if (is_smoothed(fit)) {
    "sites near each other share their memberships, and so are no independent observations"
  } else if (fit$dims[["k"]] > 1 && is.null(fit$communities)) {
    "every site has memberships of its own, and so the number of parameters grows with that of sites"
  }
}

model_title.visits_bernoulli <- function(fit) {
  visits <- length(fit$param$added)
  paste("Aspect Bernoulli model of", count_words(visits, "visit"))
}

found_sentences.visits_bernoulli <- function(fit, digits = 4L) {
  c(
    occupancy_sentence(fit) %||% expected_sentence(fit, "absences", TRUE),
    if (any(fit$param$added > 0)) expected_sentence(fit, "presences", TRUE), bound_sentences(fit),
    if (fit$missed_by == "model") detection_sentence(fit) else missed_sentences(fit), rare_sentence(fit),
    if (is_sampled(fit)) disagreement_sentence(fit)
  )
}

detail_sentences.visits_bernoulli <- function(fit, digits = 4L) {
  c(
    if (!is.null(occupancy_sentence(fit))) own_probabilities_sentence(fit),
    if (!is.null(fit$communities)) sprintf("Memberships depend on %s.", deparse1(fit$communities$formula)),
    if (fit$missed_by == "model") sharing_sentence(fit),
    if (any(fit$param$added > 0)) {
      sprintf(
        "An absence is reported as present by %s.", probabilities_by_visit(fit$param$added, names(fit$param$added))
      )
    },
    if (is_sampled(fit)) trust_sentence(fit)
  )
}

# Reports the number of which_zeros(visits = ), if it takes seconds at most, before that of a fit by taxon and visit,
# which assumes that presences are even among sites.
occupancy_sentence <- function(fit) {
  plain <- goes_by_visit(fit) && is.null(fit$communities) && !any(fit$param$added > 0) && !is_sampled(fit)
  if (!plain || is.null(fit$visits) || length(fit$visits) > 2e5) {
    return(NULL)
  }
  total <- occupancy_total(fit$visits)
  sprintf(
    "Undetected presences: %s (90 %% interval %s), from the occupancy of each %s.", show_count(total[["missed"]]),
    show_ends(total[["low"]], total[["high"]]), singular_word(axis_words(fit)[2L])
  )
}

# Compares the sum of the fit's probabilities with the number to quote.
own_probabilities_sentence <- function(fit) {
  total <- expected_numbers(fit)[["absences"]]
  if (!is.null(total) && !anyNA(total)) {
    sprintf(
      "false_absences() ranks the %s zeros by this fit's own probabilities, which sum to %s.",
      format_big(total[["cells"]]), format_big(signif(total[["expected"]], 3L))
    )
  }
}

missed_sentences <- function(fit) {
  sprintf(
    "A presence is missed%s by %s.",
    switch(fit$missed_by,
      site = sprintf(", on average over %s,", axis_words(fit)[1L]),
      taxon = sprintf(", on average over %s,", axis_words(fit)[2L]), visit = ""
    ), probabilities_by_visit(colMeans(fit$param$missed), colnames(fit$param$missed))
  )
}

# Words "visit 1 with probability 0.3, visit 2 with probability 0.4".
probabilities_by_visit <- function(probability, label) {
  if (length(probability) > 10L) {
    return(sprintf(
      "a visit with probability %s (%s)", paste(unique(format_probability(range(probability))), collapse = " to "),
      count_words(length(probability), "visit")
    ))
  }
  if (is.null(label)) label <- seq_along(probability)
  label <- ifelse(grepl("^[0-9]+$", label), paste("visit", label), label)
  paste(sprintf("%s with probability %s", label, format_probability(probability)), collapse = ", ")
}

#' @export
simulate.visits_bernoulli <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  nsim <- check_nsim(nsim, as.double(length(object$visits)))
  drawn <- draw_seeded(function() lapply(seq_len(nsim), function(i) draw_visits(object)), seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

draw_visits.visits_bernoulli <- function(fit) {
  out <- kept_visits(fit)
  present <- random_bernoulli(fitted(fit)) == 1
  for (v in seq_len(dim(out)[3L])) {
    found <- random_bernoulli(ifelse(present, 1 - visit_missed(fit, v), fit$param$added[v]))
    out[, , v] <- ifelse(is.na(out[, , v]), NA, found)
  }
  out
}

held_out_rows.visits_bernoulli <- function(fit, data, floor, family, ...) {
  stop_no_likelihood(paste(
    "A fit of repeated visits has no likelihood for new sites, whose visits are unknown to it:",
    "fit them together with the others, or hold out cells by cross_validate()."
  ))
}

part_sides.visits_bernoulli <- function(fit, name, values) {
  switch(name,
    missed = c(if (nrow(values) > 1L) fit$missed_by, "visit"), added = "visit", detection = c("term", "taxon"),
    communities = c("term", "component"), NextMethod()
  )
}

has_noise.visits_bernoulli <- function(fit, kinds, of) TRUE

check_bounds.visits_bernoulli <- function(fit) {
  stop_input("`fit` has repeated visits, which estimate what was missed. Fit one visit alone for bounds.")
}
