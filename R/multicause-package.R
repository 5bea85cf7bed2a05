#' multicause: which zeros are real?
#'
#' Latent variable models in which several causes write each row of a table of presences, absences or counts. They
#' answer, with a probability for every cell, which absences are real and which are gaps in the record. Rows are always
#' observations (sites), columns attributes (taxa); `NA` is an unknown cell in every model.
#'
#' @section The answer:
#' [which_zeros()] says which zeros are probably false, how surely, and how good that is on the table at hand;
#' [by_site()] and [by_taxon()] sum it up, [contrast()] compares groups of sites, [explain()] says why,
#' [sensitivity()] what it rests on; `plot()` shows it ([plot.which_zeros()]), [explore()] makes a page of it to look
#' around in, and [report()] tells it all. All else is for those who want one model or one part.
#'
#' @section From data to a table:
#' [occurrence_matrix()] makes the table from occurrences, [site_table()] keeps its sites in step; [read_pbdb()] and
#' [read_now()] read exports of databases. [range_through()] is the classical answer to which zeros are gaps.
#' [early_tetrapods], [tetrapod_occurrences] and [simulated_sites] are data for examples.
#'
#' @section Models:
#' All are called as `model(x, k, ..., start = NULL, control = fit_control())` and return `param`, `objective`,
#' `loglik`, `df`, `dims`, `trace`, `starts`, `converged`, `control`, `call` and `x`; [fit_control()] says how they are
#' run, and [set.seed()] decides what they return. `print()`, `summary()`, `plot()`, `coef()`, `fitted()`,
#' `residuals()`, `predict()`, `simulate()`, `nobs()` and `update()` work on every fit; `logLik()`, `AIC()` and
#' `BIC()` where the likelihood was maximised. Figures are ggplot2 objects, by `plot()` and
#' `autoplot()` ([autoplot.multicause]). With the packages generics (or broom) and vegan come `tidy()`, `glance()` and
#' `augment()` ([tidiers]), and `scores()` ([scores.multicause]).
#'
#' | model | for | what an observation is |
#' | --- | --- | --- |
#' | [aspect_bernoulli()] | 0/1 | a mixture: each of its cells is written by one of its components |
#' | [visits_bernoulli()] | repeated 0/1 surveys | that mixture, and the chances that visits missed what was there |
#' | [bernoulli_mixture()] | 0/1 | written by one component, unknown which |
#' | [logistic_pca()] | 0/1 | a point in a space of k dimensions, on the scale of log-odds |
#' | [neighbours_mean()] | 0/1 | the weighted mean of its neighbours in age, place and likeness of lists |
#' | [noisy_or()] | 0/1 | some of k sources, each of which is on or off and switches on attributes of its own |
#' | [nmf()] | at least 0 | a sum of non-negative components |
#' | [plsa()] | counts | draws from its own mixture of distributions over the attributes, few of them if wanted |
#' | [plca()] | arrays of counts | part of one sample from a mixture of products of distributions, one a dimension |
#' | [bmf()] | real, 0/1, counts | some of K groups of rows, which meet some of L groups of columns; sampled |
#'
#' [noisy_or_prior()], [bmf_prior()] and [gamma_prior()] make priors, [mcmc_control()] says how [bmf()] and
#' [aspect_bernoulli()] are sampled. [cross_entropy()] makes priors between the components of [plca()], [smooth_over()]
#' makes neighbours of observations, in time, place or otherwise, for [aspect_bernoulli()], [bernoulli_mixture()] and
#' [plsa()].
#'
#' @section What a fit says:
#' [phantoms()] finds the components that write only absences (or presences), [false_absences()] and
#' [false_presences()] rank cells, [deficiency()] counts what is missing by taxon and by site, [occupied()] what was
#' there in a fit of repeated visits, [visits_needed()] how many more it takes, [predictive_check()] whether it makes
#' such surveys, [denoise()] gives the table without its phantoms, [age_profile()] dates the components, [curves()] follows a smoothed fit through time.
#' [report()] writes all of it to one HTML file. [impute()] fills unknown cells, [classify()] tells which of several
#' fits a row comes from, [divergences()] how different components are, [sources()] which sources are in use,
#' [cooccurrence()] which rows have groups in common.
#'
#' One fit is one of several solutions. [identifiability()] tells how much of an answer about phantoms the data decide,
#' [phantom_test()] whether there is one, [posterior_draws()] how far a posterior spreads; [certificate()] bounds what a
#' fit could still gain;
#' [modes()] groups the solutions that the starts found, [align_components()] puts their components in one order,
#' [ensemble()] averages them.
#'
#' @section Which model, how many components:
#' [select_k()], [cross_validate()], [compare_models()] and [test_loglik()] judge models by what they have not seen;
#' [corrupt()] plants false absences or presences and [recovery()] tells how well they are found.
#'
#' @section What counts as a parameter:
#' `df` of `logLik()`, used by `AIC()` and `BIC()`, whose number of observations is that of the known cells. Parameters
#' count whether or not they end at a bound, where the theory behind the criteria does not hold; pinned ones do not
#' count. Where no likelihood was maximised, `logLik()` is an error that says so.
#'
#' | model | parameters | no likelihood |
#' | --- | --- | --- |
#' | [aspect_bernoulli()] | n (k - 1) memberships, m for each not pinned | `estimate` other than `"ml"`, `smooth` |
#' | [visits_bernoulli()] | the same, rates of misses and additions, detection's coefficients | `estimate` other than `"ml"` |
#' | [bernoulli_mixture()] | k - 1 weights, k m probabilities | `estimate = "map"`, `smooth` |
#' | [logistic_pca()] | m intercepts, k (n + m - k - 1) scores and loadings up to rotation | `penalty` above 0 |
#' | [neighbours_mean()] | none are counted | always: bandwidths are those of the best hidden cells |
#' | [noisy_or()] | k priors, links that `mask` allows, m leaks | `estimate = "map"`, or inference that is not exact |
#' | [nmf()] | k (n + m - 1) | `loss = "euclidean"`; not whole numbers |
#' | [plsa()] | n (k - 1) memberships, k (m - 1) basis unless fixed | `sparsity` other than 0, `smooth` |
#' | [plca()] | k - 1 weights, k (d - 1) for each dimension of d levels | any `prior` |
#' | [bmf()] | none are counted | always: it is sampled |
#'
#' @section What generics of R mean here:
#' Those of the second table are errors that say what to use, for answers of [which_zeros()], too.
#'
#' | generic | meaning, or what to use |
#' | --- | --- |
#' | `coef()` | all parameters: a list |
#' | `fitted()`, `predict()` | chance or mean of each cell; memberships and the like by `type` |
#' | `residuals()` | `"response"`, `"pearson"`, `"deviance"` |
#' | `deviance()` | sum of squared deviance residuals ([deviance.multicause]) |
#' | `logLik()`, `AIC()`, `BIC()`, `extractAIC()`, `df.residual()` | where the likelihood was maximised |
#' | `nobs()` | known cells |
#' | `case.names()`, `variable.names()` | observations, attributes |
#' | `update()` | the call again with other arguments, by name |
#' | `simulate()` | tables as the fit makes them |
#' | `vcov()`, `confint()` | of [visits_bernoulli()] alone |
#'
#' | refused | what to use |
#' | --- | --- |
#' | `vcov()`, `confint()`, `profile()`, `sigma()` | [identifiability()], [posterior_draws()], [which_zeros()] |
#' | `anova()` | [select_k()], [compare_models()] |
#' | `add1()`, `drop1()` | [select_k()] |
#' | `formula()`, `model.frame()`, `model.matrix()`, `labels()` | no formula: `fit$x`, `coef()`, `fit$call` |
#' | `terms()` | `plot(fit, "top")`, `coef()` |
#' | `alias()`, `dummy.coef()`, `effects()`, `proj()` | no formula, too |
#' | `family()` | the table of models above |
#' | `weights()` | `coef()` |
#' | `hatvalues()`, `influence()`, `cooks.distance()`, `dfbeta()`, `dfbetas()` | [test_loglik()], [cross_validate()] |
#' | `rstandard()`, `rstudent()` | `residuals(type = "pearson")` |
#' | `biplot()` | `plot(fit, "scores")` |
#' | `screeplot()` | [select_k()] |
#'
#' @section Learning it:
#' The vignette *Which zeros are real?* takes a table of fossils from occurrences to conclusions:
#' `vignette("which-zeros", package = "multicause")`.
#'
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' @keywords internal
#' @importFrom methods as
#' @importFrom stats case.names coef confint deviance df.residual extractAIC fitted logLik nobs predict residuals simulate
#' @importFrom stats update variable.names vcov
#' @importFrom utils head
#' @useDynLib multicause, .registration = TRUE
"_PACKAGE"
