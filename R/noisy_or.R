#' Noisy-OR component analysis: several causes at once
#'
#' Explains a presence-absence table by `k` hidden components, which the paper calls sources. Any number of them may be
#' on in a site at the same time. A component that is on switches its taxa on, each with its own
#' probability, independently of the other components; a leak stands for everything else. Where a mixture or an aspect
#' model shares a site out among components, a noisy-OR lets causes pile up: a document cites the founders of
#' every field it touches.
#'
#' @details
#' **Model.** Component \eqn{c} is on in site \eqn{i} with probability `prior[c]`; given the components
#' \eqn{z_i}{z[i,]} that are on,
#' \deqn{P(x_{ij} = 0 | z_i) = (1 - \ell_j) \prod_c (1 - p_{cj})^{z_{ic}}}{P(x[i,j] = 0 | z) = (1 - leak[j]) prod_c
#' (1 - links[c,j])^z[i,c]}
#' with `links` \eqn{p} (k x m) and `leak` \eqn{\ell} (m), all probabilities. Missing cells drop out.
#'
#' **Recording.** Here a zero means that the taxon is absent. With `missed_by` a presence is on record only with a
#' chance of its site, `"site"`, or of its site times a factor of its taxon, `"both"`:
#' \deqn{P(x_{ij} = 1 | z_i) = r_i d_j (1 - (1 - \ell_j) \prod_c (1 - p_{cj})^{z_{ic}})}{P(x[i,j] = 1 | z) =
#' r[i] d[j] (1 - (1 - leak[j]) prod_c (1 - links[c,j])^z[i,c])}
#' A site's chance \eqn{r_i}{r[i]} is one of ten, 0.01, 0.04, 0.09 to 1, drawn from a distribution that is estimated,
#' so that sites with short lists are not taken at their word. A zero is then a gap in the record or an absence:
#' [false_absences()] tells the chances, [phantoms()] lists the recording as the fit's white phantom.
#'
#' **Repeated visits**, as `x`, tell what was missed. Each visit records a presence with the site's chance (times the
#' taxon's factor), all visits to a site with the same one, whatever others found. A cell of `made` visits, of which
#' `found` had a find, has
#' \deqn{P(x_{ij} | z_i) = p \rho^{found} (1 - \rho)^{made - found}\ (found > 0),\quad 1 - p + p (1 - \rho)^{made}
#' \ (found = 0),}{P(x[i,j] | z) = p rho^found (1 - rho)^(made - found) if found > 0, else 1 - p + p (1 - rho)^made,}
#' where \eqn{\rho = r_i d_j}{rho = r[i] d[j]} and \eqn{p} is the chance that the taxon is there. Inference is exact
#' (`k` up to 8, by default up to 6) or truncated, not variational. Of 600 simulated sites with two or three visits it
#' expected 0.88 to 1.03 times the false absences that there were, a table of their finds 0.73 to 0.82 times
#' (`bench/noisy_or.md` in the sources). Where chances differ from visit to visit or follow covariates, or what is found
#' by mistake matters, that is for [visits_bernoulli()].
#'
#' With `effort` the distribution follows the effort of each site, by a logistic curve as in aspect Bernoulli
#' ([effort][aspect_bernoulli_effort]): the chance is \eqn{((1 + B_i) / 10)^2}{((1 + B[i]) / 10)^2}, where
#' \eqn{9 - B_i}{9 - B[i]} is a binomial number out of 9, of log-odds \eqn{b_0 + b_1 effort_i}{b0 + b1 effort[i]}. So
#' sites of the same effort still differ. New sites, whose effort is not known, get what the fit's own sites have on
#' average. It is an assumption: where specimens of fossil sites were thinned at random, log numbers of specimens as
#' effort raised average precision and the number of false absences, which was too small, and lowered the AUC over all
#' sites (`bench/noisy_or.md` in the sources).
#'
#' **How many were missed** the data alone hardly say. Where no two components share a taxon, or never occur together,
#' or there is one component, twice the links with half the chances of recording say the same: what tells them apart is
#' that of taxa with two causes at once fewer are found than the causes add up to. Where all links are equal, the finds
#' of a site tell only the product of link and chance of recording. Nor do the data tell a taxon that is missed
#' everywhere from one that is rare, or one that is in all sites and often missed from one that is recorded for certain
#' (`"both"`), or a component that is on in all well searched sites from the search. There the priors decide. The
#' default one favours weak links, which predicts held-out cells better, but makes the number of false absences too
#' small: in simulated tables it was 0.4 to 0.8 of the true one, and 0.7 to 0.9 with `prior = noisy_or_prior(links =
#' c(1.05, 1.05))`, which ranked zeros better, too, where tables were drawn from this model (`bench/noisy_or.md` in the
#' sources).
#'
#' Where every taxon had three components, maximum likelihood said 0.71 to 1.15 of the true number in tables of 6000
#' sites by `"site"` and 0.61 to 0.98 by `"both"`, with `effort` that governs the chances 1.00 to 1.01, and of 1500
#' sites with two or three visits 0.92 to 1.02.
#'
#' The print says on how many taxa the answer rests, those with links of at least 0.05 to two components or more.
#' [identifiability()] gives a range of numbers, by the likelihood at other chances of recording and by tables drawn
#' from the model, of fits to single visits without `effort`. Repeated visits would tell.
#'
#' **Inference.** `"exact"` sums over all \eqn{2^k} states of the components (`k` up to 16) and climbs by a closed-form
#' EM step on hidden link activations, without root finding: with component and cell on, link \eqn{p_{cj}}{p[c,j]} fired
#' with probability \eqn{p_{cj} / P(x_{ij} = 1 | z_i)}{p[c,j] / P(x[i,j] = 1 | z)}. `"truncated"` keeps the 16 best
#' states of every site, found among neighbours of the best so far; its objective is a lower bound and scales to
#' a hundred components and to sparse data. `"variational"` is the algorithm of Singliar and Hauskrecht (2005) on the
#' bound of Jaakkola and Jordan (1999), in which the components are independent given the data. The paper does not say
#' where it begins. From random starts it found 1 to 7 of 8 components in 500 to 5000 sites, and the exact
#' algorithm 6 to 8 from the same starts (`data-raw/paper_noisy_or.R`). So by default it starts where a few exact or
#' truncated passes end.
#'
#' With `missed_by` the chances of recording are summed over exactly, and a zero, which mixes absent with not on
#' record, gets a bound of its own, exact where a taxon has one component (`src/noisy_or/noisy_or.h`, eq. R10). There
#' variational passes are the quick ones for many components: with `k` of 15 and 20 they took a third of the time of
#' truncated ones on `early_tetrapods` and predicted hidden cells better; on simulated tables of 400 sites by 80 taxa an
#' eighth, where they found 9 of 15 components for 11 and ranked missed presences nearly as well (`bench/noisy_or.md` in
#' the sources).
#'
#' **Estimate.** `"map"`, the default, climbs to the posterior mode under weak priors, [noisy_or_prior()]; `"ml"` is
#' maximum likelihood. The posterior mode predicts held-out cells better: on each of 8 tables with k of 3 and 6, by
#' 0.002 to 0.74 nats a cell (`bench/estimate_default.md` in the sources).
#'
#' **Starts.** A start takes `k` random rows of the data as components; use at least 10 starts. See [fit_control()] for
#' how they are screened, and `fit$starts` for what became of each. The likelihood has many local maxima. In the
#' commonest ones a component is the union of two.
#'
#' **Afterwards.** Components that end with `prior` so close to 1 that they are off in less than one site are
#' part of the leak: they are absorbed into it, reported, and the rest is fitted on. Components are put in order of the
#' number of ones they make. [sources()] tells which of them are in use. With `start` given nothing is reordered,
#' absorbed or dropped.
#'
#' **Cost** of a pass, for n sites, m taxa: exact \eqn{4 n m 2^k} operations in two matrix products, equal
#' rows counted once, and about \eqn{2^k m} doubles of memory up to 17 times (with `missed_by` 10 times as much);
#' truncated \eqn{O(k)} for every one of the data at most; variational \eqn{O(k)} logarithms for every one and step of
#' q, and `k` doubles for every one. With `missed_by` the last two visit zeros, too: truncated \eqn{10 m} operations
#' for each state looked at, variational \eqn{O(10 k m)} for every site, and `10 k` doubles. Of repeated visits exact
#' inference looks at all states likewise: with `k` of 6 and 8 a pass took 3 and 12 times as long as a truncated one,
#' whose log-likelihoods were 2 and 4 nats below the exact ones (400 simulated sites, 40 taxa).
#'
#' @param x presences and absences: n sites (or documents) as rows, m taxa (or authors) as columns,
#'   cells 0, 1 or `NA` (unknown). Matrix, table, sparse matrix of package Matrix, or data frame, whose first column may
#'   hold unique row names. Counts are refused: use `(x > 0) + 0`. Or [shards()] of a table larger than memory. Or, with
#'   `missed_by`, repeated visits in any shape that [visits_bernoulli()] takes.
#' @param k number of components, at least 1; at most 16 for exact inference, of repeated visits 8.
#' @param ... must be empty.
#' @param inference `"exact"`, `"truncated"`, `"variational"`, or `"auto"`: exact up to 12 components, with
#'   `missed_by` up to 8, of repeated visits up to 6; else truncated.
#' @param estimate `"map"` (posterior mode) or `"ml"` (maximum likelihood).
#' @param prior for `"map"`: Beta priors from [noisy_or_prior()], or a list with its names.
#' @param inner steps within a pass, at least 1. Exact and truncated: M-steps on links and leak per E-step; `NULL`
#'   adapts: one in the first passes, then several. Variational: steps of the variational parameters; `NULL` is 10.
#' @param q_rule variational: `"paper"` takes the paper's steps (monotone, but they may cycle), `"damped"` their square
#'   root (monotone and never stuck), `"alternate"` takes turns.
#' @param mask links that may exist: a k x m matrix of 0 and 1 (known structure), or `NULL` for all.
#' @param missed_by `"none"`: every presence is on record; or what the chance of a miss depends on, `"site"` or `"both"`
#'   site and taxon. Not of [shards()].
#' @param effort with `missed_by`, `NULL`, or one finite number for each site that says how well it was searched,
#'   matched by name where both have names, as in [aspect_bernoulli()]. Not of [shards()].
#' @param activation what is known of which components are on, in which sites: a matrix n x k of 1 (on), 0 (off) and
#'   `NA` (not known), sites in the order of `x` or by name. The log-likelihood is then that of `x` and of these.
#'   Components keep their order, and none is absorbed. Exact and truncated inference only, and not of [shards()].
#' @param surplus how many components to fit beyond `k` before the least useful ones are dropped, one at a time, until
#'   `k` are left: on hard problems a fit with more components may recover more of the true ones (Buhai and others
#'   2020). Not with `mask`, `activation` or `start`.
#' @param start initial values for one start: `list(prior = , links = , leak = )` of length k, k x m and length m, all
#'   in \[0, 1\]; for variational inference `q` (n x m x k, sums over components of 1 at every one), too; with
#'   `missed_by` also `recorded_share` (10, sum 1) and `recorded_taxon` (m), where they are known.
#' @param control settings from [fit_control()].
#' @return A list of class `noisy_or`, with
#' \describe{
#'   \item{`param`}{`prior` (k), `links` (k x m), `leak` (m), all probabilities, and `activation` (n x k), the posterior
#'     probability that each component is on in each site; with the names of `x`. With `start$q`, `q` as well. With
#'     `missed_by`: `recorded_share`, the distribution of sites over the ten chances of recording, its mean in each site
#'     given the data, `recorded_site` (n), and with `"both"` factors of taxa, `recorded_taxon` (m).}
#'   \item{`objective`}{the maximum reached in nats, named `log_likelihood` (exact, `"ml"`),
#'     `log_posterior` (exact, `"map"`, up to a constant) or `lower_bound` (of either; truncated, variational).}
#'   \item{`loglik`}{the log-likelihood at the estimate: exact for `k` up to 12, else its lower bound.}
#'   \item{`df`}{number of free parameters: k priors, the links that `mask` allows, m leaks; with `missed_by` 9 shares
#'     (with `effort` 2 coefficients), and m factors of taxa.}
#'   \item{`dims`}{`n`, `m`, `k` (components left) and the number of `observed` cells.}
#'   \item{`trace`, `starts`, `converged`}{the objective after every pass of the best start, since a component was last
#'     absorbed or dropped; what became of each start; whether the best one met the tolerance.}
#'   \item{`sources`}{what [sources()] gives.}
#'   \item{`absorbed`}{number of components absorbed into the leak.}
#'   \item{`known`}{with `activation`, the matrix given (integer), with names.}
#'   \item{`effort`}{with `effort`, a list of `coefficients` (`intercept` and `slope` of these log-odds of a miss) and
#'     `values`.}
#'   \item{`missed`}{with `missed_by`, how many zeros are expected to hide a presence.}
#'   \item{`visits`}{of repeated visits, the n x m x visits array; `x` is then 1 where any visit found something.}
#' }
#' @seealso [predict.noisy_or()], [sources()], [impute()], [test_loglik()]; with `missed_by` [identifiability()].
#' @references
#' Singliar T, Hauskrecht M (2005). Variational learning for noisy-OR component analysis. *Proceedings of the 2005 SIAM
#' International Conference on Data Mining*, 370-379. \doi{10.1137/1.9781611972757.33}
#'
#' Singliar T, Hauskrecht M (2006). Noisy-OR component analysis and its application to link analysis. *Journal of
#' Machine Learning Research* 7, 2189-2213. <https://www.jmlr.org/papers/v7/singliar06a.html>
#'
#' Buhai RD, Halpern Y, Kim Y, Risteski A, Sontag D (2020). Empirical study of the benefits of overparameterization in
#' learning latent variable models. *International Conference on Machine Learning*. <https://arxiv.org/abs/1907.00030>
#'
#' Jaakkola TS, Jordan MI (1999). Variational probabilistic inference and the QMR-DT network. *Journal of Artificial
#' Intelligence Research* 10, 291-322. \doi{10.1613/jair.583}
#' @examples
#' set.seed(1)
#' links <- rbind(rep(c(0.9, 0), c(4, 8)), rep(c(0, 0.9, 0), c(3, 5, 4)), rep(c(0, 0.9), c(7, 5)))
#' on <- matrix(rbinom(200 * 3, 1, 0.3), 200)
#' x <- matrix(rbinom(200 * 12, 1, 1 - exp(on %*% log(1 - links)) * 0.97), 200)
#' fit <- noisy_or(x, k = 3)
#' fit
#' round(fit$param$links, 2)
#' @export
noisy_or <- function(x, k, ..., inference = c("auto", "exact", "truncated", "variational"),
                     estimate = c("map", "ml"), prior = noisy_or_prior(), inner = NULL,
                     q_rule = c("alternate", "damped", "paper"), mask = NULL, effort = NULL,
                     missed_by = c("none", "site", "both"), activation = NULL, surplus = 0, start = NULL,
                     control = fit_control()) {
  call <- match.call()
  check_dots(...)
  estimate <- check_choice(estimate, "estimate", c("map", "ml"))
  call <- keep_values(call, list(
    inference = inference, estimate = estimate, prior = prior, inner = inner, q_rule = q_rule,
    mask = mask, effort = effort, missed_by = missed_by, activation = activation, surplus = surplus, start = start
  ))
  control <- check_control(control)
  inference <- check_choice(inference, "inference", c("auto", "exact", "truncated", "variational"))
  pseudo <- if (estimate == "map") nor_pseudo_counts(prior) else numeric(9)
  missed_by <- check_choice(missed_by, "missed_by", c("none", "site", "both"))
  if (!missing(x) && in_pieces(x)) {
    settings <- list(
      inference = inference, estimate = estimate, prior = if (estimate == "map") prior, pseudo = pseudo, inner = inner,
      mask = mask, surplus = surplus, effort = effort, missed_by = missed_by, activation = activation
    )
    return(fit_pieces(x, "noisy_or", k, settings, start, control, call))
  }
  data <- nor_check_data(x, inference, missed_by, control)
  k <- check_k(k, dim(data$x))
  surplus <- check_count(surplus, "surplus", 0L)
  inference <- nor_settle_inference(inference, k + surplus, missed_by, data)
  nor_check_size(k + surplus, inference, data, missed_by)
  model <- list(
    inference = inference, estimate = estimate, prior = if (estimate == "map") prior, pseudo = pseudo,
    mask = nor_check_mask(mask, k, ncol(data$x), colnames(data$x)),
    inner = if (is.null(inner)) 0L else check_count(inner, "inner"), q_steps = check_count(inner %||% 10L, "inner"),
    q_rule = check_choice(q_rule, "q_rule", c("alternate", "damped", "paper")), missed_by = missed_by,
    effort = nor_check_effort(effort, data, missed_by)
  )
  if (!is.null(effort)) data$effort <- scale_effort(model$effort)
  if (inference == "variational" && !is.null(activation)) {
    stop_input("`activation` goes with exact and truncated inference, not with \"variational\".")
  }
  if (surplus > 0L && !(is.null(mask) && is.null(start) && is.null(activation))) {
    stop_input("`surplus` must be 0 with `mask`, `activation` or `start`: they say what each component is.")
  }
  data$known <- nor_check_known(activation, rownames(data$x), NULL, nrow(data$x), k)
  if (!is.null(start)) start <- nor_check_start(start, data, k, model)
  fitted <- nor_fit(nor_problem(data, k, surplus, model, start, control), control)
  nor_new_fit(fitted, data, model, control, call)
}

#' Beta priors of a noisy-OR model
#'
#' Weak priors keep chances off exact 0 and 1, which helps on small tables.
#'
#' @param prior,links,leak two finite numbers of at least 1 each: the parameters of the Beta prior on the chance that a
#'   component is on, on every link, on every leak. `c(1, 1)` is flat.
#' @param recorded_taxon the same, of the factor that each taxon has in the chance of a record.
#' @param recorded_share a number of at least 1, where 1 is flat: the parameter of the Dirichlet prior on the shares of
#'   sites with each chance of a record.
#' @return A list of class `noisy_or_prior`.
#' @inherit noisy_or references
#' @examples
#' noisy_or_prior(links = c(1, 1))
#' @export
noisy_or_prior <- function(prior = c(1, 1.5), links = c(1.05, 1.5), leak = c(1.1, 2), recorded_taxon = c(4, 1.5),
                           recorded_share = 3) {
  out <- list(prior = prior, links = links, leak = leak, recorded_taxon = recorded_taxon)
  for (name in names(out)) {
    value <- out[[name]]
    if (!is.numeric(value) || length(value) != 2L || !all(is.finite(value)) || any(value < 1)) {
      stop_input("`%s` of the prior must be two finite numbers of at least 1, not %s.", name, show_value(value))
    }
  }
  out$recorded_share <- check_number(recorded_share, "recorded_share", 1, 1e6)
  structure(out, class = "noisy_or_prior")
}

#' @export
print.noisy_or_prior <- function(x, ...) {
  cat("<noisy_or_prior>\n")
  kind <- ifelse(lengths(x) == 2L, "Beta", "Dirichlet")
  cat(sprintf("  %s ~ %s(%s)\n", format(names(x)), kind, vapply(x, paste, "", collapse = ", ")), sep = "")
  invisible(x)
}

nor_auto_recorded <- 8L # ten times as many states
nor_auto_visits <- 6L
nor_most_visits <- 8L

nor_pseudo_counts <- function(prior) {
  if (!is_named(prior) || !all(names(prior) %in% names(formals(noisy_or_prior)))) {
    stop_input("`prior` must be noisy_or_prior() or a list with its names, not %s.", show_value(prior))
  }
  unlist(do.call(noisy_or_prior, unclass(prior), quote = TRUE), use.names = FALSE) - 1
}

nor_settle_inference <- function(inference, k, missed_by, data) {
  if (inference != "auto") {
    return(inference)
  }
  most <- if (!is.null(data$visits)) {
    nor_auto_visits
  } else if (missed_by == "none") {
    nor_auto_exact
  } else {
    nor_auto_recorded
  }
  if (k <= most) "exact" else "truncated"
}

nor_check_size <- function(k, inference, data, missed_by) {
  most <- if (is.null(data$visits)) nor_most_exact else nor_most_visits
  if (inference == "exact" && k > most) {
    stop_input("`k` must be at most %d for exact inference, not %d: use `inference = \"truncated\"`.", most, k)
  }
  gigabytes <- 2^k * (if (missed_by == "none") 1 else recorded_grid) * (ncol(data$x) + 1) * 8 / 1e9
  if (inference == "exact" && gigabytes > 2) {
    stop_input(
      "Exact inference with `k` = %d on %s needs tables of %s GB each: use `inference = \"truncated\"`.",
      k, count_words(ncol(data$x), "column"), format(gigabytes, digits = 2)
    )
  }
}

nor_check_mask <- function(mask, k, m, taxa) {
  if (is.null(mask)) {
    return(NULL)
  }
  if (is.logical(mask)) storage.mode(mask) <- "double"
  mask <- check_matrix(by_names(mask, list(NULL, taxa), "mask"), "mask", k, m, 0, 1)
  nor_whole(mask, "mask", "0 and 1")
}

nor_whole <- function(x, name, want) {
  bad <- which(x != 0 & x != 1)
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(x))
    stop_input("`%s` must hold only %s: row %d, column %d is %s.", name, want, at[1L], at[2L], format(x[bad[1L]]))
  }
  storage.mode(x) <- "integer"
  unname(x)
}

# Sources that are known, as the kernel reads them: k x n, NA where they are not.
nor_check_known <- function(activation, sites, components, n, k) {
  if (is.null(activation)) {
    return(NULL)
  }
  if (is.data.frame(activation)) activation <- as.matrix(activation)
  if (is.logical(activation)) storage.mode(activation) <- "double"
  activation <- by_names(activation, list(sites, components), "activation")
  unknown <- is.na(activation)
  out <- check_matrix(replace(activation, unknown, 0), "activation", n, k)
  t(replace(nor_whole(out, "activation", "0, 1 and NA"), unknown, NA))
}

nor_check_start <- function(start, data, k, model) {
  names <- c("prior", "links", "leak")
  start <- check_start(
    start, names, "list(prior = k, links = k x m, leak = m)", rownames(data$x), colnames(data$x)
  )
  recorded <- nor_recorded_parts(model)
  unknown <- setdiff(names(start), c(names, recorded, "q", "activation", if (length(recorded)) "recorded_site"))
  if (length(unknown)) stop_input("`start` has unknown parts: %s.", show_names(unknown))
  m <- ncol(data$x)
  param <- list(
    prior = check_unit_vector(start$prior, "start$prior", k),
    links = unname(check_matrix(start$links, "start$links", k, m, 0, 1)),
    leak = check_unit_vector(start$leak, "start$leak", m)
  )
  for (part in intersect(recorded, names(start))) {
    length <- if (part == "recorded_share") recorded_grid else m
    param[[part]] <- check_unit_vector(start[[part]], paste0("start$", part), length)
  }
  if (!is.null(param$recorded_share) && abs(sum(param$recorded_share) - 1) > 1e-6) {
    stop_input("`start$recorded_share` must sum to 1, not to %s.", format(sum(param$recorded_share)))
  }
  if (!is.null(model$mask) && any(param$links[model$mask == 0L] != 0)) {
    stop_input("`start$links` must be 0 wherever `mask` is.")
  }
  if (!is.null(start$q)) {
    if (model$inference != "variational") stop_input("`start$q` is for `inference = \"variational\"` only.")
    param$q <- nor_check_q(start$q, data, k)
  }
  param
}

nor_check_q <- function(q, data, k) {
  want <- c(dim(data$x), k)
  if (!is.numeric(q) || !identical(dim(q), as.integer(want))) {
    stop_input("`start$q` must be a numeric array of %s.", paste(want, collapse = " x "))
  }
  q <- nor_q_at_ones(q, as.matrix(data$x))
  if (anyNA(q) || any(q < 0) || any(abs(colSums(q) - 1) > 1e-6)) {
    stop_input("`start$q` must be at least 0 and sum to 1 over the components at every one of `x`.")
  }
  q
}
