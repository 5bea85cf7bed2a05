# visits_occupancy(): occupancy of each taxon with covariates. The likelihood, its derivatives, the EM and the sampler
# are in src/visits_occupancy/; a fit's reports are in R/visits_occupancy_methods.R, undetected presences in
# R/visits_occupancy_total.R.

#' Occupancy of each taxon, with covariates
#'
#' `visits_occupancy()` fits the multi-species occupancy model to repeated visits. One formula is for where taxa live,
#' another for how well visits find them; coefficients of taxa are shrunk towards their common mean. The fit estimates
#' how many presences no visit found, and predicts presence at new sites.
#'
#' @details
#' **Model** (MacKenzie and others 2002; Dorazio and Royle 2005). Taxon \eqn{j} is at site \eqn{i} with probability
#' \eqn{\psi_{ij}}, \eqn{\mathrm{logit}\,\psi_{ij} = x_i' b_j}{logit psi[i,j] = x[i]' b[j]}. Visit \eqn{v} finds a
#' presence with probability \eqn{p_{ijv}}, \eqn{\mathrm{logit}\,p_{ijv} = w_{iv}' d_j + u_{ij}}{logit p[i,j,v] =
#' w[i,v]' d[j] + u[i,j]}, and never reports an absence as a presence. Each coefficient is normal among taxa, with a
#' mean and a standard deviation of its own, so that taxa that are seldom found learn from the others. `u` is normal,
#' independent by site and taxon, with standard deviation `uneven`: a taxon is found more easily at some sites, for
#' example where it is abundant.
#'
#' **What is assumed.** The taxa at a site are the same on all its visits, which are independent, and no record is an
#' error. Where taxa come and go, their absences count as misses. In simulated surveys with other taxa at
#' each visit, the fit estimated many presences as missed, although none was. The visits cannot show this;
#' [which_zeros()] widens the interval where visits are years. [predictive_check()] compares the fit with the visits in
#' other respects.
#'
#' **Estimation.** EM with a Laplace approximation for each taxon gives starting values. Then means, standard deviations
#' and coefficients are drawn from the posterior by Metropolis-Hastings, with presences summed out. Estimates are means
#' and intervals are quantiles of 1000 draws. R-hat compares the halves of this one chain; above 1.1 the print reports
#' "not yet converged". This is enough here, where [visits_bernoulli()] uses 1.01: in three simulated surveys with R-hat
#' up to 1.04 the number missed varied between runs by only 4 to 6 % of its posterior standard deviation. The prior of
#' mean coefficients is normal with standard deviation .7 (intercepts) and 1.65 (slopes of covariates of standard
#' deviation 1); the variance among taxa is inverse Gamma(1/2, 1/2) for the intercept of presence and (1/2, 1/20) for
#' the others, multiplied by a half-normal density (scale 1) of the standard deviation.
#'
#' **`uneven = NULL`** averages the results for 0, .5, 1 and 1.5, weighted by their maximum likelihood and a half-normal
#' prior (standard deviation .4). Few visits or taxa hardly identify `uneven`, two visits not at all: fixed at 0 it
#' gives too few undetected presences, and estimated freely too many. Keep the average, and see in `fit$uneven` how much
#' the number missed depends on it.
#'
#' **How many were missed.** The print gives the expected number of presences at visited sites that no visit found, with
#' two 90 % intervals. The first allows for errors of the model in real surveys: a factor of 1.9 each way, combined with
#' the model's variance on the log scale (`bench/visits_occupancy.md` in the sources). The second assumes that the model
#' is true. For visits that are years ([visits_array()] can make years sites instead), between which taxa come and go,
#' the factor is 3 (not the 2.8 of [how_many], which is for further surveys). `fit$total` has that interval, and
#' [which_zeros()] reports it if the dimension of visits is named `year` or all visits are named as years (`2015`).
#' [by_taxon()], [by_site()] and [false_absences()] give the numbers by taxon, by site and by cell. [sample_coverage()]
#' gives the share of the records of the next visit that will be of taxa known at the site.
#'
#' **Comparing formulas.** `AIC()` compares fits to the same visits; its likelihood has the coefficients of taxa
#' integrated out, so that parameters are means and standard deviations among taxa. `fit$waic` is the widely applicable
#' criterion over cells (Watanabe 2010), and `predict(fit, type = "loglik")` is what `loo::loo()` takes. A comparison by
#' held-out visits assumes least:
#' `cross_validate(x, 0, visits_occupancy, "visits", grid = list(presence = list(~1, ~elev)), site_data = sites)`.
#' The 0 is the number of components, which this model does not have.
#'
#' **Cost** is O(n m visits) a draw; sites with equal covariates and equal history of a taxon are computed together.
#'
#' @param x repeated visits to the same n sites, which looked for m taxa: the result of [visits_array()], a list of
#'   tables (one for each visit), an array, or data of package unmarked, as [visits_bernoulli()] takes them; `NA` where
#'   there was no visit. Taxa that were looked for and never found stay, as columns of zeros; leave out those that were
#'   not looked for.
#' @param presence,detection formulas of the probability that a taxon is there (covariates of sites), and that a visit
#'   finds it (covariates of visits and sites). `detection` may use `visit`, a factor with a level for each visit.
#'   `detection = NULL` is `~visit`, or `~1` if there is one visit or more than ten. The first level of a factor is its
#'   reference.
#' @param ... must be empty.
#' @param visit_data,site_data their covariates, as in [visits_bernoulli()]. They must be known for every visit that was
#'   made, and every site that was visited.
#' @param uneven the standard deviation (log-odds) of a random effect on detection for each site and taxon: numbers from
#'   0 to 5, whose results are averaged; 0: no such effect. For `NULL` see Details.
#' @param sides for an array, what its dimensions are, as `c("site", "visit", "species")`.
#' @param rare taxa found at fewer sites than this are flagged; 0: none.
#' @param control settings from [fit_control()]: `max_iter` and `tol` of the EM, `keep_x`.
#' @return A list of class `visits_occupancy` with the elements of every fit (`k` is 0) and
#' \describe{
#'   \item{`param`}{`presence` and `detection`: coefficients on the covariates' own scale, terms x m.}
#'   \item{`mean`}{a data frame with the mean of each coefficient over taxa and its standard deviation among taxa, on
#'     covariates of mean 0 and standard deviation 1: `part`, `term`, `mean`, `low`, `high` (90 %), `spread`.}
#'   \item{`total`}{`missed`, `low`, `high` (surveys as they are), `model_low`, `model_high` (if the model holds),
#'     `years_low`, `years_high` (if visits are years).}
#'   \item{`cells`}{n x m: `presence`, the occupancy probability before the visits are considered, and `present`, the
#'     same given the visits (1 where found, elsewhere `missed` of [false_absences()], whose `present` is `presence`
#'     here).}
#'   \item{`uneven`}{a data frame of its values, their weights and the number missed given each (`NA` where the
#'     weight is negligible).}
#'   \item{`waic`}{`waic`, `elpd`, `p_waic`, sums over cells that were visited.}
#'   \item{`draws`}{`theta`, coefficients of the scaled covariates (terms x m x draws), and `center` and `spread`, their
#'     means and standard deviations among taxa.}
#'   \item{`x`, `visits`, `rare`}{as in [visits_bernoulli()].}
#' }
#' `coef()`, [confint()][confint.visits_occupancy], `vcov()`, `tidy(fit, conf.int = TRUE)`,
#' [predict()][predict.visits_occupancy], [plot()][autoplot.visits_occupancy], `simulate()`, `logLik()`, `nobs()` (sites
#' visited) and what all fits have. Wrong input is an error of class `multicause_input_error`.
#' @concept imperfect detection
#' @concept occupancy model
#' @concept detection probability
#' @concept site occupancy
#' @references
#' Dorazio RM, Royle JA (2005). Estimating size and composition of biological communities by modeling the occurrence of
#' species. *Journal of the American Statistical Association* 100, 389-398. \doi{10.1198/016214505000000015}
#'
#' MacKenzie DI, Nichols JD, Lachman GB, Droege S, Royle JA, Langtimm CA (2002). Estimating site occupancy rates when
#' detection probabilities are less than one. *Ecology* 83, 2248-2255.
#'
#' Watanabe S (2010). Asymptotic equivalence of Bayes cross validation and widely applicable information criterion in
#' singular learning theory. *Journal of Machine Learning Research* 11, 3571-3594.
#' @seealso [visits_array()] for the data; [which_zeros()] for the ranking of zeros by all that is known.
#' @examples
#' set.seed(1)
#' elev <- rnorm(60)
#' day <- matrix(rnorm(180), 60)
#' present <- sapply(c(-1, -0.5, 0, 0.5, 1), function(slope) rbinom(60, 1, plogis(slope * elev)))
#' visits <- lapply(1:3, function(v) present * rbinom(300, 1, plogis(0.5 * day[, v])))
#' fit <- visits_occupancy(
#'   visits, presence = ~elev, detection = ~day,
#'   site_data = data.frame(elev), visit_data = list(day = day)
#' )
#' fit
#' confint(fit, "presence:elev")
#' predict(fit, data.frame(elev = c(-1, 0, 1)))
#' @export
visits_occupancy <- function(x, presence = ~1, detection = NULL, ..., visit_data = NULL, site_data = NULL,
                             uneven = NULL, sides = NULL, rare = 5, control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x)
  control <- check_control(control)
  uneven <- check_uneven(uneven)
  rare <- check_count(rare, "rare", 0L)
  cell <- check_visits(x, sides)
  data <- check_data(any_visit(cell), "binary", name = "x", merged = TRUE)
  tell_single_visits(cell)
  by <- occupancy_designs(presence, detection, cell, list(visit = visit_data, site = site_data))
  tell_rare(data, rare)
  call <- keep_values(call, list(
    presence = presence, detection = detection, visit_data = visit_data, site_data = site_data, uneven = uneven,
    rare = rare
  ))
  seed <- session_state()
  own <- draw_seeds(1L) # of the session, whose generator goes on
  answer <- with_seed(own, occupancy_answer(cell, by, uneven, control, most_occupancy_draws))
  new_occupancy_fit(answer, list(cell = cell, data = data, by = by, rare = rare, seed = seed), control, call)
}

check_uneven <- function(uneven) {
  if (is.null(uneven)) {
    return(occupancy_uneven)
  }
  ok <- is.numeric(uneven) && length(uneven) && all(is.finite(uneven)) && all(uneven >= 0 & uneven <= 5) &&
    !anyDuplicated(uneven)
  if (!ok) stop_input("`uneven` must be NULL or different numbers from 0 to 5, not %s.", show_value(uneven))
  sort(as.double(uneven))
}

# Computes modes, draws and their summaries: list(rows, fits, weight, draws, sums, uneven).
occupancy_answer <- function(cell, by, uneven, control, n_draw) {
  rows <- occupancy_rows(cell, by)
  fits <- occupancy_fits(rows, by, uneven, control)
  weight <- occupancy_weights(vapply(fits, `[[`, 0, "profile"), uneven)
  draws <- occupancy_draws(rows, by, fits, weight, uneven, n_draw)
  list(
    rows = rows, fits = fits, weight = weight, draws = draws, sums = occupancy_sums(rows, draws, uneven),
    uneven = uneven
  )
}

new_occupancy_fit <- function(answer, about, control, call) {
  best <- answer$fits[[which.max(answer$weight)]]
  outcome <- best$outcome
  converged <- outcome$status == "converged"
  if (!converged && control$max_iter > 0L && control$tol > 0) {
    warn_not_converged(outcome, advice = ": raise `max_iter` in fit_control() for a firmer answer")
  }
  data <- about$data
  by <- about$by
  draws <- answer$draws
  size <- dim(draws$theta)[1L]
  names <- dimnames_of(data$x)
  fit <- new_multicause(
    param = occupancy_means(draws$theta, by, names[[2L]]), objective = c(log_posterior = outcome$objective),
    loglik = sum(best$laplace), df = 2 * size + (length(answer$uneven) > 1L),
    dims = c(n = nrow(data$x), m = ncol(data$x), k = 0, observed = sum(data$margins$row_observed)),
    trace = trace_frame(outcome), starts = occupancy_starts(outcome, converged), converged = converged,
    control = control, call = call, x = if (control$keep_x) data$x, names = names, seed = about$seed,
    class = "visits_occupancy", start_traces = list(outcome$trace), density = data_density(data),
    margins = data$margins, missed_by = "model", visits = about$cell, presence = by$presence,
    detection = by$detection, mean = sharing_table(draws, by),
    draws = draws[c("theta", "center", "spread", "uneven")], total = occupancy_range(answer, data$x),
    uneven = uneven_table(answer), waic = waic_of(answer), rare = rare_attributes(as.matrix(data$x), about$rare)
  )
  fit$draws[c("missed", "variance")] <- answer$sums[c("missed", "variance")]
  fit$cells <- presence_cells(fit, matrix(answer$sums$after[answer$rows$of_cell], nrow(data$x)))
  if (!control$keep_x) fit["visits"] <- list(NULL)
  fit
}

occupancy_starts <- function(outcome, converged) {
  data.frame(
    start = 1L, init = "zero", objective = outcome$objective, iterations = outcome$n_iter, finished = TRUE,
    converged = converged, reached_best = TRUE
  )
}

# Returns the rows of theta for presence or for detection.
theta_rows <- function(by, part) {
  p <- length(by$presence$terms)
  if (part == "presence") seq_len(p) else p + seq_along(by$detection$terms)
}

# Converts coefficients to the covariates' scale, terms x taxa x draws.
own_coefficients <- function(theta, by, part, taxa = NULL) {
  rows <- theta_rows(by, part)
  d <- dim(theta)
  own <- by[[part]]$basis %*% matrix(theta[rows, , ], length(rows))
  array(own, c(length(rows), d[2:3]), list(by[[part]]$terms, taxa, NULL))
}

occupancy_means <- function(theta, by, taxa) {
  parts <- c("presence", "detection")
  lapply(stats::setNames(nm = parts), function(part) rowMeans(own_coefficients(theta, by, part, taxa), dims = 2L))
}

sharing_table <- function(draws, by) {
  ends <- apply(draws$center, 1L, stats::quantile, c(0.05, 0.95), names = FALSE)
  parts <- rep(c("presence", "detection"), c(length(by$presence$terms), length(by$detection$terms)))
  data.frame(
    part = parts, term = c(by$presence$terms, by$detection$terms), mean = rowMeans(draws$center), low = ends[1L, ],
    high = ends[2L, ], spread = apply(draws$spread, 1L, stats::median)
  )
}

uneven_table <- function(answer) {
  used <- answer$draws$uneven
  total <- colSums(answer$sums$missed)
  data.frame(
    uneven = answer$uneven, weight = answer$weight,
    missed = vapply(seq_along(answer$uneven), function(u) if (any(used == u)) mean(total[used == u]) else NA, 0)
  )
}

# Computes the WAIC over visited cells, Watanabe (2010), with the variance of the log-likelihood.
waic_of <- function(answer) {
  count <- answer$rows$count
  p <- sum(count * answer$sums$p_waic)
  elpd <- sum(count * answer$sums$lppd) - p
  c(waic = -2 * elpd, elpd = elpd, p_waic = p)
}

# Computes mean probabilities of a presence before and after the visits, n x m. after: NA without a visit.
presence_cells <- function(fit, after) {
  label <- name_sides(fit$names)
  before <- presence_mean(fit, fit$presence$design)
  after[is.na(after)] <- before[is.na(after)]
  list(presence = structure(before, dimnames = label), present = structure(after, dimnames = label))
}

# ---- Settings ----

occupancy_uneven <- c(0, 0.5, 1, 1.5)
uneven_prior <- 0.4 # `uneven` is half-normal

# Prior standard deviations of the mean coefficients, and variances of the spread's prior, which counts as one further
# taxon: of intercepts on the log-odds scale, of slopes for covariates of standard deviation 1.
occupancy_prior <- list(
  presence = list(intercept = c(center = 0.7, spread = 1), slope = c(center = 1.65, spread = 0.1)),
  detection = list(intercept = c(center = 0.7, spread = 0.1), slope = c(center = 1.65, spread = 0.1))
)

# Half-normal prior of the spread among taxa, which bounds it if a covariate separates taxa entirely.
largest_spread <- 1
most_occupancy_draws <- 1000L # of a fit; for which_zeros() see few_occupancy_draws
occupancy_warmup <- 200L
least_uneven_weight <- 0.02

# Nodes and weights of Gauss-Hermite quadrature for the normal distribution.
normal_nodes <- list(
  at = c(-3.7504397177257425, -2.3667594107345415, -1.1544053947399682, 0, 1.1544053947399682, 2.3667594107345415,
    3.7504397177257425),
  weight = c(0.00054826885597222, 0.030757123967586, 0.24012317860501, 0.45714285714286, 0.24012317860501,
    0.030757123967586, 0.00054826885597222)
)

# Builds the designs of both formulas, list(presence, detection), as detection_design() does.
occupancy_designs <- function(presence, detection, cell, given) {
  list(
    presence = presence_design(presence, cell, given),
    detection = detection_design(detection %||% default_detection(cell), cell, given[c("visit", "site")])
  )
}

presence_design <- function(formula, cell, given) {
  found <- visit_variables(formula, cell, given[c("visit", "site")], "presence")
  other <- names(found$level)[found$level != "site"]
  if (length(other)) {
    stop_input("`presence` must depend on covariates of sites (`site_data`): %s is of visits.", other[1L])
  }
  if (length(attr(stats::terms(formula), "offset"))) stop_input("`presence` cannot have an offset().")
  n <- dim(cell)[1L]
  values <- covariate_frame(lapply(found$values, utils::head, n), n)
  label <- dimnames(cell)[[1L]]
  made <- rowSums(visits_made(cell)) > 0
  check_covariates(values, made, "site that was visited", function(bad) {
    if (is.null(label)) paste("number", bad) else dQuote(label[bad], FALSE)
  })
  by <- covariate_design(formula, values, made, "presence")
  by$formula <- formula
  by
}

# Returns the prior in the kernel's form, list(center_sd, spread_prior), a number for each coefficient.
kernel_prior <- function(by) {
  each <- lapply(c("presence", "detection"), function(part) {
    kind <- ifelse(by[[part]]$terms == "(Intercept)", "intercept", "slope")
    vapply(occupancy_prior[[part]][kind], identity, c(center = 0, spread = 0))
  })
  both <- do.call(cbind, each)
  list(
    center_sd = unname(both["center", ]), spread_prior = unname(both["spread", ]),
    spread_sd = rep(largest_spread, ncol(both))
  )
}

# Numbers the distinct rows of a matrix, from 1, by first appearance.
row_groups <- function(x) {
  key <- do.call(paste, lapply(seq_len(ncol(x)), function(column) x[, column]))
  match(key, unique(key))
}

# Returns the data in the form of src/visits_occupancy/taxon.h: sites of a taxon with equal covariates and history are
# one row. of_cell, n x m: each cell's row, NA without a visit; hit: whether visits of the row detected the taxon.
occupancy_rows <- function(cell, by) {
  d <- dim(cell)
  made <- visits_made(cell)
  p <- nrow(by$detection$design)
  detection <- array(by$detection$design, c(p, d[1L], d[3L])) * rep(1 * made, each = p)
  wide <- cbind(t(by$presence$design), matrix(aperm(detection, c(2L, 1L, 3L)), d[1L]))
  kind <- row_groups(if (ncol(wide)) wide else matrix(0, d[1L], 1L))
  one <- which(!duplicated(kind))
  y <- matrix(cell, d[1L] * d[2L], d[3L])
  taxon <- rep(seq_len(d[2L]), each = d[1L])
  used <- which(rowSums(!is.na(y)) > 0)
  group <- row_groups(cbind(taxon, kind[rep(seq_len(d[1L]), d[2L])], y)[used, , drop = FALSE])
  first <- used[!duplicated(group)]
  of_cell <- matrix(NA_integer_, d[1L], d[2L])
  of_cell[used] <- group
  list(
    first = c(0L, cumsum(tabulate(taxon[first], d[2L]))), kind = kind[(first - 1L) %% d[1L] + 1L] - 1L,
    found = unname(t(y[first, , drop = FALSE])), count = as.double(tabulate(group, length(first))),
    presence = by$presence$design[, one, drop = FALSE],
    detection = matrix(aperm(detection[, one, , drop = FALSE], c(1L, 3L, 2L)), p),
    of_cell = of_cell, hit = rowSums(y[first, , drop = FALSE] == 1L, na.rm = TRUE) > 0
  )
}

with_uneven <- function(rows, uneven) {
  nodes <- if (uneven > 0) normal_nodes else list(at = 0, weight = 1)
  c(rows, list(node = exp(uneven * nodes$at), weight = nodes$weight))
}

# ---- Estimation ----

occupancy_start <- function(rows, by) {
  prior <- kernel_prior(by)
  size <- length(prior$center_sd)
  list(
    theta = matrix(0, size, length(rows$first) - 1L), center = numeric(size),
    spread = unname(pmax(sqrt(prior$spread_prior), 0.7))
  )
}

# Finds the modes of all taxa, their common mean and spread, for each value of `uneven`: a list of list(theta, center,
# spread, outcome, loglik, laplace, precision, profile), see occ_fit() and occ_modes() of the glue.
occupancy_fits <- function(rows, by, uneven, control, start = occupancy_start(rows, by)) {
  prior <- kernel_prior(by)
  fits <- vector("list", length(uneven))
  for (u in seq_along(uneven)) {
    own <- with_uneven(rows, uneven[u])
    out <- .Call(mc_c_occ_fit, own, start[c("theta", "center", "spread")], prior, unclass(control))
    start <- out[c("theta", "center", "spread")]
    at <- .Call(mc_c_occ_modes, own, start)
    top <- .Call(mc_c_occ_modes, own, c(start[c("theta", "center")], list(spread = profile_width * start$spread)))
    fits[[u]] <- c(at, out["outcome"], list(profile = sum(top$loglik)))
  }
  fits
}

# Weights by the likelihood maximised over coefficients that are practically free. With two visits it is flat; that with
# taxa integrated out is not, because it relies on normal taxa, and would triple the expected total of the birds.
occupancy_weights <- function(profile, uneven) {
  log_weight <- profile - uneven^2 / (2 * uneven_prior^2)
  weight <- exp(log_weight - max(log_weight))
  weight / sum(weight)
}
profile_width <- 4

# ---- The posterior ----

# Draws conditional on each value of `uneven`, in numbers proportional to its weight: list(theta = size x m x draws,
# center, spread = size x draws, uneven = the number of the value of each draw, accepted).
occupancy_draws <- function(rows, by, fits, weight, uneven, n_draw) {
  prior <- kernel_prior(by)
  weight[weight < least_uneven_weight] <- 0
  share <- diff(c(0, round(cumsum(weight / sum(weight)) * n_draw)))
  each <- lapply(which(share > 0), function(u) {
    at <- fits[[u]]
    own <- with_uneven(rows, uneven[u])
    plan <- list(mode = at$theta, precision = at$precision)
    state <- at[c("theta", "center", "spread")]
    warm <- .Call(mc_c_occ_sample, own, state, prior, c(plan, list(n_sweep = occupancy_warmup, thin = 0L)))
    state <- warm[c("theta", "center", "spread")]
    thin <- 2L
    .Call(mc_c_occ_sample, own, state, prior, c(plan, list(n_sweep = as.integer(thin * share[u]), thin = thin)))
  })
  d <- dim(each[[1L]]$all_theta)
  all <- function(name) do.call(cbind, lapply(each, `[[`, name))
  list(
    theta = array(unlist(lapply(each, `[[`, "all_theta")), c(d[1:2], sum(share))), center = all("all_center"),
    spread = all("all_spread"), uneven = rep(seq_along(share), share), accepted = lapply(each, `[[`, "accepted")
  )
}

# Computes the log-likelihood of each row of taxon j and P(present | visits), rows x draws.
taxon_pointwise <- function(rows, draws, uneven, j) {
  out <- lapply(unique(draws$uneven), function(u) {
    theta <- draws$theta[, j, draws$uneven == u]
    .Call(mc_c_occ_pointwise, with_uneven(rows, uneven[u]), j - 1L, matrix(theta, dim(draws$theta)[1L]))
  })
  bind <- function(name) do.call(cbind, lapply(out, `[[`, name))
  list(loglik = bind("loglik"), present = bind("present"))
}

# Sums over all draws: list(after: P(present | visits) of each row; missed, variance: expected undetected presences of
# each taxon in each draw and their variance given the draw, m x draws; lppd, waic: sums for each row; influence)
occupancy_sums <- function(rows, draws, uneven) {
  m <- length(rows$first) - 1L
  n_row <- length(rows$kind)
  out <- list(
    after = numeric(n_row), lppd = numeric(n_row), p_waic = numeric(n_row), influence = numeric(n_row),
    missed = matrix(0, m, length(draws$uneven))
  )
  out$variance <- out$missed
  for (j in which(diff(rows$first) > 0)) {
    at <- (rows$first[j] + 1L):rows$first[j + 1L]
    each <- taxon_pointwise(rows, draws, uneven, j)
    open <- (rows$count * !rows$hit)[at]
    out$after[at] <- rowMeans(each$present)
    out$missed[j, ] <- open %*% each$present
    out$variance[j, ] <- open %*% (each$present * (1 - each$present))
    top <- apply(each$loglik, 1L, max)
    out$lppd[at] <- top + log(rowMeans(exp(each$loglik - top)))
    mean <- rowMeans(each$loglik)
    out$p_waic[at] <- rowSums((each$loglik - mean)^2) / (ncol(each$loglik) - 1)
    out$influence[at] <- (each$loglik - mean) %*% (out$missed[j, ] - mean(out$missed[j, ])) / ncol(each$loglik)
  }
  out
}

most_mean_values <- 2e7 # probabilities that a mean over draws is made of, where fewer draws will do

# Returns numbers of draws, evenly spaced, such that so many values of each stay within bounds.
spaced_draws <- function(fit, values) {
  n <- dim(fit$draws$theta)[3L]
  unique(round(seq(1, n, length.out = min(n, max(least_draws, most_mean_values %/% max(1, values))))))
}
least_draws <- 100L

# Computes P(present) for the columns of a design, columns x m: the mean over draws, or list(mean, lower, upper).
presence_mean <- function(fit, design, level = NULL) {
  predicted_mean(fit, design, "presence", level, function(eta, at) stats::plogis(eta))
}

predicted_mean <- function(fit, design, part, level, probability) {
  # Equal rows are computed once.
  group <- if (ncol(design)) row_groups(t(rbind(0, design))) else integer()
  one <- design[, !duplicated(group), drop = FALSE]
  m <- fit$dims[["m"]]
  at <- spaced_draws(fit, if (is.null(level)) as.double(ncol(one)) * m else 0)
  rows <- theta_rows(fit, part)
  out <- array(0, c(ncol(one), m, if (is.null(level)) 1L else 3L))
  for (block in row_blocks(seq_len(ncol(one)), length(at), 2^22)) {
    for (j in seq_len(m)) {
      theta <- matrix(fit$draws$theta[rows, j, at], length(rows))
      p <- probability(crossprod(one[, block, drop = FALSE], theta), at)
      out[block, j, 1L] <- rowMeans(p)
      if (!is.null(level)) {
        out[block, j, 2:3] <- t(apply(p, 1L, stats::quantile, c(1 - level, 1 + level) / 2, names = FALSE))
      }
    }
  }
  slice <- function(part) matrix(out[group, , part], length(group), m)
  if (is.null(level)) slice(1L) else list(mean = slice(1L), lower = slice(2L), upper = slice(3L))
}

has_noise.visits_occupancy <- function(fit, kinds, of) of == "absences"
