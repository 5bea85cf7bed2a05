#' multicause: which zeros are real?
#'
#' [which_zeros()] estimates, for every zero of a table of sites by taxa, the probability that further surveys would
#' find the taxon there. The package also has models of presences, absences or counts, in most of which several hidden
#' causes make each row. Rows are always sites, columns taxa; `NA` is an unknown cell in every model.
#'
#' @section The result:
#' [which_zeros()] ranks the zeros by this probability, with intervals, and measures the quality of the ranking on your
#' table. It does so for tables larger than memory, too ([which_zeros_shards]). [by_site()] and [by_taxon()] sum it up,
#' [contrast()] compares groups of sites, [explain()][explain.which_zeros] gives the reasons why a zero is on the list,
#' and [sensitivity()] shows how the result changes with its assumptions. `plot()` draws the result
#' ([plot.which_zeros()]), [explore()][explore.which_zeros] makes a page to explore in a browser, and [report()] writes
#' a report. You need the rest only if you want one model or one part.
#'
#' @section From data to a table:
#' [occurrence_matrix()] makes the table from occurrences, [category_table()] one whose cells hold one of several values
#' ([indicator_matrix()] makes it 0 and 1), [site_table()] has the ages and places of its sites; [read_pbdb()] and
#' [read_now()] read exports of databases. [visits_array()] makes repeated visits from records, and [visit_table()] has
#' their covariates. [range_through()] is the classical rule for which zeros are gaps. [shards()] keeps tables that are
#' larger than memory on disk, with their [site_table()], for [aspect_bernoulli()], [bernoulli_mixture()],
#' [logistic_pca()], [nmf()] and [plsa()]; see `cluster` of [fit_control()] for several machines. [early_tetrapods],
#' [tetrapod_occurrences], [simulated_surveys] and [simulated_sites] are data for examples.
#'
#' @section Models:
#' Most are called as `model(x, k, ..., start = NULL, control = fit_control())`. Fits have the elements `param`,
#' `objective`, `loglik`, `df`, `dims`, `trace`, `starts`, `converged`, `control`, `call` and `x`; [fit_control()] sets
#' how they are run, and [set.seed()] decides what they return. `print()`, `summary()`, `plot()`, `coef()`, `fitted()`,
#' `residuals()`, `predict()`, `simulate()`, `nobs()` and `update()` work on every fit; `logLik()` and `AIC()` where the
#' likelihood, or a posterior, was maximised, `BIC()` if also the number of parameters does not grow with that of sites.
#' Figures are ggplot2 objects, by `plot()` and `autoplot()` ([autoplot.multicause]); tables come from `tidy()`,
#' `glance()` and `augment()` ([tidiers]), with package vegan also from `scores()` ([scores.multicause]).
#'
#' | model | for | what a site is |
#' | --- | --- | --- |
#' | [aspect_bernoulli()] | 0/1 | a mixture: each of its cells comes from one of its components |
#' | [visits_bernoulli()] | repeated 0/1 surveys | that mixture, and probabilities that visits missed what was there |
#' | [visits_occupancy()] | repeated 0/1 surveys | where each taxon lives and is found, by formulas of covariates |
#' | [aspect_categorical()] | one of several values | that mixture, of components with a distribution over values |
#' | [bernoulli_mixture()] | 0/1 | all from one component, unknown which |
#' | [logistic_pca()] | 0/1 | a point in a space of k dimensions, on the scale of log-odds |
#' | [neighbours_mean()] | 0/1 | the weighted mean of its neighbours in age, place and similarity of lists |
#' | [noisy_or()] | 0/1 | some of k sources, each of which is on or off and switches on taxa of its own |
#' | [nmf()] | at least 0 | a sum of non-negative components |
#' | [plsa()] | counts | draws from its own mixture of distributions over the taxa (LDA), few of them if wanted |
#' | [plca()] | arrays of counts | part of one sample from a mixture of products of distributions, one a dimension |
#' | [bmf()] | real, 0/1, counts | some of K groups of rows, which meet some of L groups of columns; sampled |
#'
#' [noisy_or_prior()] and [bmf_prior()] make priors, [mcmc_control()] sets how [bmf()] and
#' [aspect_bernoulli()] are sampled. [cross_entropy()] makes priors between the components of [plca()], [smooth_over()]
#' makes neighbours of sites, in time, place or otherwise, for [aspect_bernoulli()], [bernoulli_mixture()] and
#' [plsa()].
#'
#' @section What a fit reports:
#' [phantoms()] finds the components that have only absences (or presences). [false_absences()] and [false_presences()]
#' rank cells, and [by_site()] sums what was missed by site and by taxon. [denoise()] gives the table without its
#' phantoms, [age_profile()] dates the components, and [curves()] follows a smoothed fit through time. For repeated
#' visits, [occupied()] shows what was there, [visits_needed()] how many more visits it takes, [sample_coverage()] which
#' share of the records of the next visit will be of taxa known at the site, and [predictive_check()] whether surveys
#' simulated from the fit resemble the real one. [report()] writes all of it to one HTML file, from an R Markdown
#' document that may be your own ([report_format()] is its format). [impute()] fills unknown cells.
#'
#' Messages report what was done with the data: unknown cells (`NaN` counts as `NA`; among repeated visits and several
#' values it is an error), missing names, units and geometries that are left out, equal and inverse rows and columns;
#' `options(multicause.quiet = TRUE)` silences them. `stopifnot(!anyNA(x))` before a call refuses unknown cells. Fits
#' keep the names of rows, columns and dimensions, not other attributes of `x`: call [site_table()] of the table itself.
#' Arguments that are text, such as `estimate = "map"`, are case-sensitive. Fits and results are plain lists:
#' `saveRDS(fit, file)` keeps one, and `readRDS(file)` brings it back in another session.
#'
#' [divergences()] shows how different components are, [sources()] which are in use, and [cooccurrence()] which sites
#' have groups in common. Where components are topics, [top_terms()] lists their taxa, [coherence()] shows how often
#' these are found together, [document_completion()] is the perplexity of new documents, and [classify()] assigns sites
#' to classes.
#'
#' One fit is one of several solutions. [identifiability()] shows how much the data decide about phantoms,
#' [phantom_test()] whether there is one, [posterior_draws()] how far a posterior spreads, [calibration()] whether a
#' sampler draws from it, [bootstrap_draws()] how far chance moves a fit; [summary()][summary.aspect_bernoulli] bounds
#' what a fit could still gain; [modes()] groups the solutions that the starts found, [align_components()] puts their
#' components in one order, [ensemble()] averages them.
#'
#' @section Which model, how many components:
#' [select_k()], [cross_validate()], [compare_models()] and [test_loglik()] judge models by what they have not seen;
#' [corrupt()] plants false absences or presences and [recovery()] shows how well they are found.
#'
#' @section What counts as a parameter:
#' `df` of `logLik()`, used by `AIC()` and `BIC()`. Parameters count whether or not
#' they end at a bound, where the theory behind the criteria does not hold; fixed ones do not count.
#'
#' `BIC()` needs independent observations, and parameters whose number does not grow with theirs. The observations are
#' the sites with a known cell in [bernoulli_mixture()], [noisy_or()] and [visits_occupancy()], and in
#' [visits_bernoulli()] with one component or with `communities`. In all other models every site has parameters of its
#' own: `BIC()` is an error that gives the reason, and `NA` in tables; held-out cells choose `k` ([select_k()]).
#'
#' Where a prior, a penalty or neighbours shrink parameters (`estimate = "map"`, a ridge, `sparsity`, `smooth`),
#' `logLik()` is the log-likelihood at the estimate, without what the prior adds, as of penalised fits elsewhere. `df`
#' still counts every parameter as free, so that `AIC()` and `BIC()` penalise such fits too much: compare them among
#' fits with the same prior, not with those of another or of none. `summary()` says so, too. Where nothing that is a
#' likelihood was maximised, `logLik()` is an error that says so.
#'
#' | model | parameters | no likelihood |
#' | --- | --- | --- |
#' | [aspect_bernoulli()] | n (k - 1) memberships, m for each not fixed | `estimate` of `"vb"` or `"gibbs"` |
#' | [visits_bernoulli()] | the same, rates of misses and additions, detection | `estimate = "gibbs"` |
#' | [visits_occupancy()] | mean and spread among taxa of each coefficient, `uneven` | |
#' | [aspect_categorical()] | n (k - 1) memberships, m (values - 1) for each not fixed | `estimate = "gibbs"` |
#' | [bernoulli_mixture()] | k - 1 weights (for each term of `membership`), k m probabilities | |
#' | [logistic_pca()] | m intercepts, k (n + m - k - 1) scores and loadings up to rotation | |
#' | [neighbours_mean()] | none are counted | always: bandwidths are those of the best held-out cells |
#' | [noisy_or()] | k priors, links that `mask` allows, m leaks | inference that is not exact |
#' | [nmf()] | k (n + m - 1) | `loss = "euclidean"`; not whole numbers |
#' | [plsa()] | n (k - 1) memberships, k (m - 1) basis unless fixed | `estimate` of `"vb"` or `"gibbs"` |
#' | [plca()] | k - 1 weights, k (d - 1) for each dimension of d levels | a `prior` with `method = "paper"` |
#' | [bmf()] | none are counted | always: it is sampled |
#'
#' @section What generics of R mean here:
#' | generic | meaning |
#' | --- | --- |
#' | `coef()` | all parameters: a list |
#' | `fitted()`, `predict()` | probability or mean of each cell; memberships and the like by `type` |
#' | `residuals()` | `"response"`, `"pearson"`, `"deviance"` |
#' | `deviance()` | sum of squared deviance residuals ([deviance.multicause]) |
#' | `logLik()`, `AIC()`, `extractAIC()`, `df.residual()` | where a likelihood or posterior was maximised |
#' | `BIC()` | the same, of models in which sites have no parameters of their own |
#' | `nobs()` | sites of mixtures, [noisy_or()] and models of visits; known cells of others |
#' | `case.names()`, `variable.names()` | sites, taxa |
#' | `update()` | the call again with other arguments, by name |
#' | `simulate()` | tables as the fit makes them |
#' | `vcov()` | of models of visits and effects on memberships; over bootstrap fits of [bernoulli_mixture()] |
#' | `confint()` | of [posteriors][confint.multicause] and visits; [bootstrap][confint.bernoulli_mixture] of mixtures |
#' | `anova()` | of [bernoulli_mixture()], [noisy_or()]: k by [parametric bootstrap][anova.bernoulli_mixture] |
#'
#' A result of [which_zeros()] is a table of zeros by `as.data.frame(w)`; tables of what is missed, such as
#' [by_site()], are data frames. A fit is a list: sizes are `fit$dims`, parameters `coef(fit)`. Functions of matrices
#' take `fitted(fit)`.
#'
#' @section Learning it:
#' The vignette *Which zeros are real?* takes a table of fossils from occurrences to conclusions:
#' `vignette("which-zeros", package = "multicause")`. [multicause-glossary] explains the words of prints and help pages.
#'
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' @keywords internal
#' @importFrom methods as
#' @importFrom stats BIC anova case.names coef confint deviance df.residual extractAIC fitted logLik nobs predict
#' @importFrom stats residuals sigma simulate update variable.names vcov
#' @importFrom utils head tail
#' @useDynLib multicause, .registration = TRUE
"_PACKAGE"

#' Words that the package prints
#'
#' @description
#' The words of the help pages and prints, in plain English. A table has *sites* in its rows and *taxa* in its columns
#' (models take any others, such as documents and words); a *presence* is a 1 of the table, a *zero* a 0, and `NA` an
#' unknown cell.
#' @section The question:
#' \describe{
#'   \item{absence, presence}{A zero of the table; a 1.}
#'   \item{true absence}{A zero of a taxon that was not there.}
#'   \item{false absence}{A zero of a taxon that was there. It was not preserved, not found, or not named. See
#'     [false_absences()].}
#'   \item{missed, undetected presence}{Of a zero in a result of [which_zeros()] from presence-absence data alone: the
#'     probability that at least one of two more surveys of equal effort would find the taxon there. By other evidence,
#'     or by the phantom of a fit: the probability that the taxon was there (by visits: and that such visits could find
#'     it). The sum over zeros is the number missed.}
#'   \item{present, phantom}{Columns of [false_absences()]: the probability of a presence if no phantom made the cell,
#'     and the probability that a phantom made the zero.}
#'   \item{probably missed, undecided}{A zero whose whole interval of `missed` is above one half, or whose interval
#'     contains one half.}
#'   \item{missed most}{Of a fit: the largest `missed` of a zero in other fits that describe the table equally well. If
#'     it is small, the model takes the absence as true, however large the phantom is.}
#'   \item{evidence}{What the number missed is estimated from: a known completeness, repeated visits, groups of sites,
#'     or presence-absence data alone. Each estimates another quantity, so they need not agree.}
#'   \item{survey of equal effort}{A further survey of the same sites with the effort of the whole table. What one, two
#'     or eight of them find can be checked. They do not show how thorough the table is.}
#'   \item{predictability}{The mean, over the presences, of the probability that the rest of the table gives to each,
#'     \eqn{\kappa}{kappa}. Where much was missed, it is low.}
#'   \item{occupancy}{The share of the sites at which a taxon lived. Models of repeated visits estimate it.}
#'   \item{Chao's estimate}{An estimate of how many were never found, from how many were found exactly once and twice.}
#'   \item{probability of a record}{The column `probability`: the probability that the cell is a presence in this table,
#'     as predicted from the other cells. It needs no assumption about completeness, and is tested on held-out
#'     presences.}
#'   \item{completeness}{The probability that a taxon that was there was recorded. A completeness of 0.4 means that 4 of
#'     10 taxa that were there are presences. No table of presences shows how complete it is: see [which_zeros()].}
#'   \item{effort}{How well a site was searched, such as its number of collections.}
#'   \item{visit}{One survey of a site. Several visits to one site show what a single one misses: see
#'     [visits_bernoulli()].}
#'   \item{detection}{The probability that one visit finds a taxon that is there.}
#'   \item{recorded equally well}{At a site, completeness is the same for all taxa. The bounds of a fit state whether
#'     they assume this.}
#'   \item{within known ranges}{A zero between the oldest and the youngest presence of its taxon: see [range_through()].
#'     Before or after them the taxon may not have lived.}
#' }
#'
#' @section In the words of community ecology:
#' \describe{
#'   \item{species pool}{The taxa that could live at a site: its presences, and zeros with a high probability of a
#'     record.}
#'   \item{dark diversity}{The part of the species pool that was not found at a site. It holds two kinds of zeros: taxa
#'     that are there and were missed, and taxa that could be there and are not. `missed` of [which_zeros()] concerns
#'     the first kind alone: those that two more surveys would find. `probability` ranks zeros as measures of dark
#'     diversity do.}
#'   \item{Beals smoothing}{The probability of a taxon from its companions, `beals()` of package vegan. It is one of the
#'     learners of [which_zeros()], and one of the simple rules it is measured against.}
#'   \item{favourability}{A probability with the taxon's prevalence taken out of its odds, so that rare and common taxa
#'     compare.}
#'   \item{ordination}{Sites as points on a few axes: `plot(fit, "scores")` and `scores()` ([scores.multicause]).}
#' }
#'
#' @section The models:
#' \describe{
#'   \item{component}{One of the hidden causes of a table: a list of probabilities, one for each taxon. A fauna is
#'     one. `k` is the number of components.}
#'   \item{aspect}{A component of [aspect_bernoulli()], by the word of its paper. `fit$param$aspects` holds them.}
#'   \item{source}{A component of [noisy_or()], by the word of its paper. Several can be on at one site, each in full.
#'     [sources()] lists them.}
#'   \item{membership}{The shares of the components at a site. They sum to 1. Each cell of the site comes from one of
#'     the components, and the share is the probability that it comes from this one.}
#'   \item{phantom}{A component that has no taxa of its own. A *white* phantom has (almost) only zeros: it stands
#'     for what is not recorded. A *black* phantom has (almost) only presences: it stands for wrong records. See
#'     [phantoms()].}
#'   \item{content}{A component that is not a phantom, so a fauna. Of a fit, the part of a probability that comes from
#'     these components.}
#'   \item{role}{Of a component in a print: content or phantom; of a noisy-OR component, in use, shut off, or always on
#'     (the leak).}
#'   \item{share, mean P}{Of a component in a print: its mean membership over the sites (of [plsa()] and [plca()]: its
#'     share of all counts), and the mean over the taxa of its probabilities of a presence.}
#'   \item{characteristic taxa}{The taxa of largest relevance in a component.}
#'   \item{on in, makes}{Of a noisy-OR component: the share of the sites in which it is on, and the share of the
#'     presences that it explains. A presence may have several causes.}
#'   \item{equally good fits}{Other decompositions with the same probabilities, which the table cannot distinguish from
#'     the fit: see [identifiability()].}
#'   \item{outer bound}{A number that no decomposition with the probabilities of the fit, and with the phantom that the
#'     page states, exceeds; it may be that none attains it.}
#'   \item{fixed}{Held at a value that is not estimated. A fixed white phantom has a probability of exactly 0 for
#'     every taxon. Fixed values do not count as parameters.}
#'   \item{free}{Estimated. A free phantom is one that the fit found by itself.}
#'   \item{prior}{What is believed of the parameters before the table is seen. A weak prior keeps probabilities off 0
#'     and 1.}
#'   \item{Beta, Dirichlet}{Distributions of a probability, and of shares that sum to 1, by which priors are stated.
#'     Larger parameters keep estimates further from 0 and 1.}
#'   \item{maximum likelihood, MAP}{The parameters that make the table most likely; the same with a prior (`"ml"`,
#'     `"map"`).}
#'   \item{variational Bayes, Gibbs}{Two ways to the posterior, the distribution of the parameters given the table and
#'     the prior: an approximation with a *lower bound* of the likelihood (`"vb"`), and a sampler (`"gibbs"`).}
#'   \item{log-odds}{Another scale for probabilities, on which reasons add up: the logarithm of \eqn{p / (1 - p)}. 0 is
#'     a probability of one half, 3 for 0.95, -3 for 0.05.}
#'   \item{log-likelihood}{The logarithm of the probability of the table under the fit, the higher the better. It is
#'     measured in nats. One more is a probability 2.7 times as large.}
#'   \item{AIC}{A criterion for choosing between fits: minus twice the log-likelihood, plus twice the number of
#'     parameters. Lower is better. In *BIC* a parameter costs the more, the more sites there are. *WAIC* is
#'     such a criterion, computed from draws of a posterior.}
#'   \item{bootstrap}{Fits to many tables that are simulated from a fit. Their spread shows how far chance moves it.}
#'   \item{EM, Newton}{Two kinds of iterations. EM shares each cell out among the components and then fits each
#'     component to its shares. Newton iterations use the curvature of the objective and need fewer.}
#'   \item{deviance}{Twice the log-likelihood that a fit lacks of one which repeats the table. *Deviance residuals* are
#'     each cell's part of it.}
#'   \item{leak}{In [noisy_or()]: what is found without any of its components.}
#'   \item{lift}{How many times as likely a taxon is in a component as in all sites together.}
#'   \item{relevance}{A compromise between the probability of a taxon in a component and its lift: the taxa of largest
#'     relevance characterise the component.}
#'   \item{perplexity}{An effective number: 2 where two components have equal shares, near 1 where one has almost all.
#'     Of held-out counts, the number of equally likely choices that would be as hard to guess.}
#'   \item{density}{The share of presences among the known cells of a table.}
#'   \item{neighbours}{Sites that are near in age, in place or otherwise: see [smooth_over()].}
#' }
#'
#' @section How a fit is found:
#' \describe{
#'   \item{start, starting values}{Random values of the parameters, from which a fit is improved. The best of several
#'     starts is kept. Different starts can end in different solutions.}
#'   \item{iteration}{One round of improvement, over all cells of the table.}
#'   \item{finished, reached the best}{Most starts are dropped early. Those that were run to their end are finished.
#'     Of these, some reach the same best fit. If few do, use more starts: see [fit_control()].}
#'   \item{converged}{More iterations would change the fit by less than the tolerance.}
#'   \item{seed}{A whole number that makes random numbers, and so a result, the same again.}
#'   \item{chain, R-hat, effective sample size}{A chain is one run of a sampler. R-hat compares chains (of each its
#'     two halves); near 1 they agree. The effective sample size is the number of independent draws that a chain is
#'     worth. See [mcmc_control()].}
#'   \item{warm-up}{The first steps of a chain. No result uses them, because they still depend on its start.}
#'   \item{draw}{One set of parameters that is plausible given the table. Intervals are made from many draws.}
#' }
#'
#' @section How good an answer is:
#' \describe{
#'   \item{learner}{One of the rules and models that [which_zeros()] weighs against each other. Each gives every zero
#'     a probability of a record. The *weight* of a learner shows what it is worth on your table.}
#'   \item{simple rule}{A learner that fits no model, such as the mean of the neighbours.}
#'   \item{companions}{Of a zero: the taxa found at its site, and how often its taxon is found with them elsewhere.}
#'   \item{held-out presence}{A presence that is turned into a zero on purpose, to see whether it is found again. A
#'     table with presences held out is a *copy*.}
#'   \item{AUC}{The area under the ROC curve: the probability that a held-out presence ranks above another zero. 0.5 is
#'     no better than tossing a coin, 1 is perfect. *Within sites* means that only zeros of one site are compared.}
#'   \item{calibration slope}{Whether probabilities are calibrated. 1 is calibrated. Below 1 they are too extreme: large
#'     ones too large, small ones too small. Above 1 they are too cautious.}
#'   \item{SE}{Standard error: how far a number would vary over other held-out presences.}
#'   \item{90 % interval}{Of what further surveys find: a factor of 1.75 each way, or of 2.8 for other years or methods.
#'     In repeated surveys these held the number found on 99 % and 95 % of the tables ([how_many]). Of one zero: it
#'     combines that of the total with the standard error of the zero's probability. Of a known completeness, and of
#'     assumptions: the middle 90 % of draws, if the assumption holds.}
#'   \item{quick}{A result with `quick = TRUE`: few fits, few copies, for a first look.}
#'   \item{share}{Of a site or taxon: what was missed, divided by all that was there (missed and presences). Of a
#'     learner: its part of the spread of the result. Of a component: see *The models*.}
#'   \item{average precision}{The share of held-out presences among the zeros ranked first, averaged over all ranks that
#'     hold one.}
#'   \item{loss, held-out cell}{A cell is held out and then predicted. The loss is minus the logarithm of the
#'     probability given to its true value; smaller is better.}
#'   \item{cross-validation, fold}{The cells or sites are split into parts, the folds. Each is held out in turn and
#'     predicted from the others.}
#'   \item{quantile}{The value below which a given share of the draws lies; a *percentile* if the share is in percent.}
#'   \item{p-value}{The probability of a statistic at least as large as the observed one if the simpler model holds.}
#'   \item{divergence}{How far two sets of probabilities are apart (by Kullback and Leibler). 0 means that they are
#'     equal.}
#' }
#'
#' @seealso [which_zeros()], [false_absences()], [multicause-package] for the map of the package.
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' w # every word of this print is on this page
#' @name multicause-glossary
#' @aliases glossary dark_diversity species_pool
#' @concept dark diversity
#' @concept species pool
#' @concept Beals smoothing
NULL
