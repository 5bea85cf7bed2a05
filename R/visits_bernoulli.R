#' Repeated visits: what was there, and what the visits missed
#'
#' `visits_bernoulli()` is the aspect Bernoulli model of repeated surveys. A cell has a true state, present or absent.
#' The chance of a presence is as in [aspect_bernoulli()]. All visits to the site share that state, and each
#' visit may miss a presence. Repeated visits can separate misses from absences. One table alone cannot.
#'
#' @details
#' **Model.** \eqn{P(z_{ij} = 1) = \sum_c s_{ic} a_{cj}}{P(z[i,j] = 1) = sum_c s[i,c] a[c,j]} for the true state, with
#' `membership` \eqn{s} and `aspects` \eqn{a}. A visit misses a presence with some probability. By default it belongs
#' to the taxon and the visit, and taxa are shrunk to each other: `detection = ~visit` (`~1` where there is one visit,
#' or more than ten). With `missed_by` it belongs to the site and visit, to the taxon and visit without that pull, or to
#' the visit alone. With `detection` it follows covariates. With `added` a visit may also report an absent taxon, with a
#' probability of its own. All k components are content: the misses stand in place of the phantom of
#' [aspect_bernoulli()].
#'
#' **What is assumed.** The default takes all sites to be searched alike on a visit, up to the covariates of
#' `detection`; where they are not, more was missed than it says. `missed_by = "site"` assumes in its place that a visit
#' finds all taxa of a site equally well, which few taxa cannot tell. Of one to 20 species with four visits the default
#' expected 0.77 to 1.12 times the presences that were missed where all sites were searched alike, `"site"` up to 16
#' times as many. Where detection differed between sites alone (log-odds with a standard deviation of 1), the default
#' expected a third to a half, and `"site"` was right from eight species on (`bench/visits_occupancy.md` in the
#' sources). Beside the default the print gives what occupancy of each taxon expects, which lets finds be uneven among
#' sites. Its 90 % range held the truth in 80 to 100 % of simulated tables where sites were searched alike, in 60 to 78
#' % where they were not.
#'
#' **Detection by covariates.** `detection = ~ date + I(date^2) + effort` is a logistic model. Each taxon has an
#' intercept and slopes of its own. With `sharing = "none"` and `estimate = "ml"` they are found by maximum likelihood.
#' With `sharing = "partial"`, the default, they are pulled towards a mean over taxa, so that taxa seldom
#' found learn from the others. How strongly is estimated: coefficients among taxa are normal, on covariates of
#' mean 0 and standard deviation 1, by the Laplace approximation. One formula may hold covariates of visits, of
#' sites and of taxa, and `visit`, the number of the visit. Covariates of taxa, such as body size,
#' move the mean of the intercept. With one component, `"ml"` and `"none"` the estimates and [standard
#' errors][vcov.visits_bernoulli] are those of single-species occupancy models. Misses by visit, site or
#' taxon remain as `missed_by`.
#'
#' **Communities by covariates.** `communities = ~ elevation + forest` makes memberships a multinomial logistic model of
#' covariates of sites: \eqn{s_{ic} \propto \exp(w_i' \beta_c)}{s[i,c] proportional to exp(w[i]' beta[,c])}. No
#' component is the one that others are compared with: effects of a term sum to 0 over components. With `"map"` and
#' `"gibbs"` they are normal with mean 0 and standard deviation `prior$communities`, on covariates of mean 0 and
#' standard deviation 1. The memberships of a site then follow from its covariates alone. So there are `k`
#' times the number of terms to estimate, and not `k` times n. A table with few taxa is enough for that, and
#' [predict()][predict.visits_bernoulli] knows new sites. With `"ml"` effects may grow without bound where a
#' covariate tells components apart entirely.
#'
#' **Neighbours.** `smooth` pulls the memberships of each site towards those of its neighbours by age, place or
#' distance, as in [aspect_bernoulli()]; [smooth_over()] has the objective. Where bandwidth or strength is to be chosen,
#' whole visits are held out for it (single records where misses depend on the `"site"`). It does not go with
#' `communities` or `"gibbs"`.
#'
#' **Estimation.** EM, all updates in closed form except for a Newton step of detection's coefficients and of the
#' effects of `communities`, accelerated by default. With `detection`, and without `added` and `smooth`, Newton steps of
#' all parameters take its place for up to 12 components; `fit_control(algorithm = "em")` leaves them out. The posterior
#' mode, `"map"`, is the default: it predicts held-out records better, by 0.003 to 0.37 nats a record
#' (`bench/estimate_default.md` in the sources). A pass takes O(n m (k + visits)), with d coefficients O(n m visits
#' d^2) more, with w terms of `communities` O(n k^2 w^2), and Newton steps O(n m k^2) more.
#'
#' **Sampling.** `estimate = "gibbs"` draws true states and all parameters from the posterior (Polya-Gamma
#' augmentation), with `detection` and without `added`: memberships are Dirichlet and components Beta as `prior` says,
#' coefficients normal about means with the prior `prior$detection` and spreads with a half-Cauchy prior of scale 1.
#' With `sharing = "partial"` the Beta's parameters are drawn, too, about `prior$aspects` (their logarithms with
#' standard deviation 1): how common taxa are tells how common a rare one may be. [mcmc_control()] sets
#' up the chains, which begin near modes of their own; `summary()` has R-hat and effective sample sizes, [occupied()]
#' and [false_absences()] have intervals, as have `predict(level = )` and `confint()`. A draw takes O(n m (k +
#' visits)) and a random number for each visit to a presence; effects of `communities` are drawn together, by
#' Metropolis and Hastings, about their mode. How common a taxon is and how well it is found are moved together,
#' by a slice with the true states summed out (Neal 2003): a taxon that is seldom found has many answers, from few
#' presences that are found often to many that are found seldom. That needs an intercept in `detection`. Labels are
#' matched between chains, not within them.
#'
#' **Shapes of `x`.** A list of tables, one a visit. An array, whose sides are known by their names
#' (`names(dimnames(x))`: site or observation, species, taxon or attribute, visit or replicate) or by `sides`; one of
#' the three may have any other name. Without either it is taken as sites x taxa x visits with a message,
#' and refused where it would have more visits than taxa or sites, or more taxa than sites: it
#' may be species x sites x visits. Prints use these words. The list that package spOccupancy takes (`y`, species x
#' sites x visits, with `occ.covs` and `det.covs`), and the frames of package unmarked for one or many species, or such
#' a list (`ylist`, `siteCovs`, `obsCovs`), and what `detectionHistory()` of package camtrapR makes; the covariates come
#' along. [visits_array()] makes an array, with covariates, of a table with a row for each record.
#'
#' **One species.** A table of sites by visits is the history of one species, and a message says so, if its columns have
#' no names or those of visits (`y.1`, `visit2`, `V3`, dates), or if it holds `"."` or `"-"`. A data frame of it may
#' have a column with the names of sites, numbered columns of covariates of visits (`date.1`, `date.2`) and others of
#' the sites; or histories as text, `"01.1"`, in a column `ch`, as programs PRESENCE and MARK have them. Any other table
#' may be one of taxa, and is refused: give the history of one species as `list(y = )`. In text `"."`, `"-"` and nothing
#' stand for a visit that was not made.
#'
#' **At a bound.** Where visits found a taxon but seldom, `"ml"` may put it at all sites with a detection near 0: a rare
#' taxon would give the same visits. Where all visits to the same sites agree, detection is estimated at 1 and nothing
#' as missed. Such estimates are where the scale ends, and mean nothing. `print()`, [occupied()], [visits_needed()] and
#' [false_absences()] say for which taxa (or sites) they are.
#'
#' **Seldom found.** For a taxon that was found at fewer than `rare` sites, the data say little about
#' detection. With `missed_by = "taxon"` or `sharing = "none"` it may be "missed" at most places. A message,
#' `print()` and [false_absences()] name such taxa, and `fit$rare` flags them.
#'
#' @param x repeated surveys of the same n sites: an array of [visits_array()], a list of 0/1 tables of the same
#'   shape and names, one for each visit, an array, or what packages spOccupancy or unmarked take: see Details. `NA`
#'   where there was no visit.
#' @param k number of components, at least 1.
#' @param ... must be empty.
#' @param estimate `"map"` (posterior mode), `"ml"` (maximum likelihood) or `"gibbs"` (draws of the posterior).
#' @param prior for `"map"` and `"gibbs"`, `NULL` or a list as in [aspect_bernoulli()]: `aspects`, two numbers (`"map"`:
#'   of at least 1);
#'   `membership`, one; `detection`, the standard deviation of the normal prior of mean coefficients (with
#'   `sharing = "none"`, of each taxon's), and `communities`, that of effects on memberships, both on the scale of
#'   covariates of standard deviation 1. `NULL`: `aspects = c(1.5, 1.5)` and `membership = 1.5` (1 with `communities`)
#'   for `"map"`, `c(1.2, 2)` and 1 for `"gibbs"`, 1.65 for the others.
#' @param missed_by `NULL`, or what the chance of missing a presence depends on, besides the visit: `"site"`, `"taxon"`
#'   or, for the visit alone, `"visit"`. `NULL` without `detection`: taxon and visit, taxa shrunk to each other.
#' @param detection `NULL`, or a formula of the covariates that detection follows, in place of `missed_by`. `NULL`
#'   without `missed_by`: `~visit`.
#' @param visit_data covariates of visits. Either a named list of n x visits matrices (or of n values). Or a data frame
#'   with a column of sites, one of visits and those of the covariates. Without the columns of sites and visits its rows
#'   are the visits to the first site, then those to the second, as in package unmarked. Dates must be numbers,
#'   such as the day of the year.
#' @param site_data,taxon_data data frames with a row for each site or taxon: by row names, by a column that
#'   holds the names, else in the same order.
#' @param sharing `"partial"`: taxa' coefficients are pulled towards a common mean; `"none"`: each has its own. Of
#'   one or two taxa, `"none"`.
#' @param communities `NULL`, or a formula of covariates of sites (`site_data`) that memberships follow.
#' @param smooth `NULL`, or a result of [smooth_over()]: sites near each other share their communities.
#' @param added whether a visit may report what is absent (`TRUE`: its probability is fitted).
#' @param sides for an array, what its dimensions are, as `c("site", "visit", "species")`.
#' @param rare taxa found at fewer sites than this are flagged; 0: none.
#' @param start initial values, as in [aspect_bernoulli()]; `missed`, `detection` and `added` may come with them.
#'   With `"gibbs"`: a fit whose chains go on.
#' @param control settings from [fit_control()]; with `"gibbs"` from [mcmc_control()]. `NULL`: the defaults of the one
#'   that is needed.
#' @return A list of class `visits_bernoulli`, which is an `aspect_bernoulli` too, with the elements of such a fit and
#' \describe{
#'   \item{`param`}{also `missed`, the probabilities of missing a presence (n, m or 1 x visits), or `detection`, the
#'     coefficients (terms x m) on the covariates' own scale; `added`, of reporting an absence as present (one for
#'     each visit); and `communities`, effects on memberships (terms x k) on the covariates' own scale.}
#'   \item{`detection`}{with `detection`: `formula`, the scaled `design` and its `basis`, `mean` and `spread` of the
#'     scaled coefficients among taxa.}
#'   \item{`communities`}{with `communities`: `formula`, the scaled `design` and its `basis`.}
#'   \item{`algorithm`}{with `"ml"` and `"map"`: which passes were made, `"em"` or `"newton"`.}
#'   \item{`smooth`}{with `smooth`, the [smooth_over()] used, with numbers for its bandwidth and strength.}
#'   \item{`x`}{1 where any visit found something, 0 where none did, `NA` where there was no visit.}
#'   \item{`visits`}{the n x m x visits array (where `control` keeps the data).}
#'   \item{`draws`, `cells`, `kept`, `last`}{with `"gibbs"`: draws of `richness` (n x draws), `sites` (m x draws),
#'     `detection` (terms x m x draws) and `communities` (terms x k x draws); what [aspect_bernoulli()] has of cells;
#'     states that were kept.}
#'   \item{`rare`}{whether each taxon was found at fewer than `rare` sites.}
#' }
#' `fitted()` is the probability that the taxon is there. [false_absences()] and [by_site()] use all visits.
#' There is no certificate (`NA`).
#' @seealso [visits_array()] for the data; [occupied()] for richness and ranges, [visits_needed()],
#'   [predict.visits_bernoulli()], [vcov.visits_bernoulli()] for standard errors, [autoplot.visits_bernoulli()],
#'   [predictive_check()]; [aspect_bernoulli()], [false_absences()], [by_site()], [identifiability()],
#'   [multicause-glossary] for the words.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#'
#'   MacKenzie DI, Nichols JD, Lachman GB, Droege S, Royle JA, Langtimm CA (2002). Estimating site occupancy rates when
#'   detection probabilities are less than one. *Ecology* 83, 2248-2255.
#'
#'   Neal RM (2003). Slice sampling. *Annals of Statistics* 31, 705-767. \doi{10.1214/aos/1056562461}
#'
#'   Polson NG, Scott JG, Windle J (2013). Bayesian inference for logistic models using Polya-Gamma latent variables.
#'   *Journal of the American Statistical Association* 108, 1339-1349. \doi{10.1080/01621459.2013.829001}
#' @examples
#' set.seed(1)
#' present <- outer(1:30, 1:10, function(i, j) (i <= 15) == (j <= 5)) * rbinom(300, 1, 0.7)
#' visits <- list(first = present * rbinom(300, 1, 0.6), second = present * rbinom(300, 1, 0.6))
#' fit <- visits_bernoulli(visits, k = 2)
#' fit
#' head(false_absences(fit), 3)
#' # Detection by the date of each visit
#' date <- matrix(runif(60, 0, 2), 30)
#' seen <- lapply(1:2, function(v) present * rbinom(300, 1, plogis(date[, v] - 0.5)))
#' visits_bernoulli(seen, k = 2, detection = ~date, visit_data = list(date = date))
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
  data <- check_data(any_visit(cell), "binary", name = "x", turn = NULL)
  k <- check_k(k, dim(data$x))
  tell_many_components(data, k)
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

# What is asked for, checked: estimate, missed_by ("model" where detection is one), sharing, added, rare.
visits_settings <- function(estimate, missed_by, detection, sharing, added, rare) {
  if (!is.null(missed_by) && !is.null(detection)) {
    stop_input("`missed_by` must be left out with `detection`, which says what the chance of a miss goes by.")
  }
  out <- list(
    estimate = check_choice(estimate, "estimate", c("map", "ml", "gibbs")),
    missed_by = if (is.null(missed_by)) "model" else check_choice(missed_by, "missed_by", missed_choices[-4L]),
    sharing = check_choice(sharing, "sharing", c("partial", "none")), added = check_flag(added, "added"),
    rare = check_count(rare, "rare", 0L)
  )
  # A sampler draws no rates and no additions.
  if (out$estimate == "gibbs" && out$missed_by != "model") {
    stop_input("`estimate = \"gibbs\"` needs `detection`: `~ 1` or `~ visit` where there are no covariates.")
  }
  if (out$estimate == "gibbs" && out$added) stop_input("`added` must be FALSE with `estimate = \"gibbs\"`.")
  out
}

# With the designs of detection and of communities, `by` and `communities`.
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
    stop_input("`communities` and `smooth` cannot both be given: memberships follow covariates or neighbours.")
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

# Chosen on simulated surveys by the number of occupied sites and by visits held out (bench/visits.md): visits tell
# what was missed, so that the mode needs no prior that favours absence. Draws have their own for aspects.
visits_default_prior <- function(estimate, follows) {
  sampled <- estimate == "gibbs"
  list(
    aspects = if (sampled) c(1.2, 2) else c(1.5, 1.5), membership = if (sampled || follows) 1 else 1.5,
    detection = 1.65, communities = 1.65
  )
}

# The prior without what only detection and communities need, or with its default.
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

# "em" or "newton"; the kernel takes EM where a part of the model has no Newton steps.
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

# Polishing frees what came to a bound: it took half of the time where a prior lets nothing come there, and changed
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
    class = c("visits_bernoulli", "aspect_bernoulli"), pinned = stats::setNames(rep("free", k), labels),
    certificate = no_certificate,
    estimate = settings$estimate, prior = settings$prior,
    density = data_density(data), margins = data$margins,
    missed_by = missed_by, visits = cell, detection = by, rare = rare_attributes(as.matrix(data$x), settings$rare),
    communities = if (!is.null(follows)) communities_answer(follows), smooth = problem$smooth,
    algorithm = run$best$outcome$algorithm
  )
  if (names(fit$objective) != "log_likelihood") {
    none <- fit_control(max_pass = 0, n_start = 1)
    fit$loglik <- visits_run(cell, visit_param(fit), NULL, none)$outcome$objective
  }
  if (!control$keep_x) {
    fit <- keep_answers(fit, data$x)
    fit$visits <- NULL
  }
  validate_aspect_bernoulli(fit)
}

cell_scores.visits_bernoulli <- function(fit, rows, kinds, of = "absences") {
  present <- mixed(fit$param$membership[rows, , drop = FALSE], fit$param$aspects)
  after <- visit_posterior(fit, rows)
  # The visits wrote the value on record if it is false or if they would have written it over a true one as well.
  if (of == "presences") {
    clean <- all_visits(fit, rows, function(v) 1 - fit$param$added[v])
    return(list(probability = 1 - present, present = 1 - present, missed = 1 - after, phantom = 1 - after * clean))
  }
  silent <- chance_of_silence(fit, rows)
  list(probability = present, present = present, missed = after, phantom = after + (1 - after) * silent)
}

# A visit's own record is told by the other visits to the cell where it is held out.
recorded_probability.visits_bernoulli <- function(fit) {
  present <- visit_posterior(fit, seq_len(fit$dims[["n"]]))
  each <- lapply(seq_along(fit$param$added), function(v) {
    present * (1 - visit_missed(fit, v)) + (1 - present) * fit$param$added[v]
  })
  array(unlist(each), dim(fit$visits))
}

# Sites are surveyed independently of each other.
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

largest_missed.visits_bernoulli <- function(fit, scores, observed, kinds, of) scores$missed

model_title.visits_bernoulli <- function(fit) {
  visits <- length(fit$param$added)
  paste("Aspect Bernoulli model of", count_words(visits, "visit"))
}

found_sentences.visits_bernoulli <- function(fit, digits = 4L) {
  total <- occupancy_sentence(fit)
  c(
    total, if (is.null(total)) expected_sentence(fit, "absences", TRUE) else own_chances_sentence(fit),
    if (any(fit$param$added > 0)) expected_sentence(fit, "presences", TRUE), bound_sentences(fit),
    if (!is.null(fit$communities)) sprintf("Memberships go by %s.", deparse1(fit$communities$formula)),
    if (fit$missed_by == "model") detection_sentences(fit) else missed_sentences(fit),
    if (any(fit$param$added > 0)) {
      sprintf("An absence is reported as present by %s.", chances_by_visit(fit$param$added, names(fit$param$added)))
    },
    if (any(fit$rare)) {
      sprintf(
        "Found too seldom to say much of: %s (of %d %s).", show_names(side_names(fit, 2L)[fit$rare]), fit$dims[["m"]],
        axis_words(fit)[2L]
      )
    }
  )
}

# Before what a fit by taxon and visit expects, which takes finds for even among sites: the number of
# which_zeros(visits = ), where that takes seconds at most.
occupancy_sentence <- function(fit) {
  plain <- goes_by_visit(fit) && is.null(fit$communities) && !any(fit$param$added > 0) && !is_sampled(fit)
  if (!plain || is.null(fit$visits) || length(fit$visits) > 2e5) {
    return(NULL)
  }
  total_sentence(occupancy_total(fit$visits), "visits", NULL, axis_words(fit))
}

# The sum of the fit's own chances beside the number to quote.
own_chances_sentence <- function(fit) {
  total <- expected_numbers(fit)[["absences"]]
  if (!is.null(total) && !anyNA(total)) {
    sprintf(
      "false_absences() ranks the %s absences by this fit's own chances, which sum to %s: quote the number above.",
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
    ), chances_by_visit(colMeans(fit$param$missed), colnames(fit$param$missed))
  )
}

# "visit 1 with probability 0.3, visit 2 with probability 0.4".
chances_by_visit <- function(chance, label) {
  if (length(chance) > 10L) {
    return(sprintf(
      "a visit with probability %s (%s)", paste(unique(format_chance(range(chance))), collapse = " to "),
      count_words(length(chance), "visit")
    ))
  }
  if (is.null(label)) label <- seq_along(chance)
  label <- ifelse(grepl("^[0-9]+$", label), paste("visit", label), label)
  paste(sprintf("%s with probability %s", label, format_chance(chance)), collapse = ", ")
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
    "A fit of repeated visits has no likelihood for new sites, whose visits it does not know:",
    "fit them together with the others, or hold out cells by cross_validate()."
  ))
}

part_sides.visits_bernoulli <- function(fit, name, values) {
  switch(name,
    missed = c(if (nrow(values) > 1L) fit$missed_by, "visit"), added = "visit", detection = c("term", "taxon"),
    communities = c("term", "component"), NextMethod()
  )
}

has_detection.visits_bernoulli <- function(fit) TRUE
