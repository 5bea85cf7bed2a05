# Calls that users of other packages type: each gives the answer, or an error of ours that leads there.

# Each call on its own, in an environment with data and fits: "answer", our sentence, or what else came of it.
outcome <- function(call, where) {
  tryCatch(
    {
      value <- suppressWarnings(suppressMessages(eval(call, where)))
      if (is.null(value)) "NULL" else "answer"
    },
    multicause_input_error = function(e) conditionMessage(e),
    error = function(e) paste("RAW:", conditionMessage(e))
  )
}

habits <- function() {
  fits <- fits_of_all()
  where <- list2env(list(
    fit = fits$aspect_bernoulli, mixture = fits$bernoulli_mixture, topics = fits$plsa, pca = fits$logistic_pca,
    surveys = fits$visits, sampled = fits$bmf, nmf_fit = fits$nmf, noisy = fits$noisy_or, x = fits$bernoulli_mixture$x,
    d = as.data.frame(fits$nmf$x), age = 20:1, few = fit_control(n_start = 1, n_polish = 0)
  ), parent = globalenv())
  answer <- quote(which_zeros(x, age = age, quick = TRUE, copies = 2, seed = 1))
  where$w <- suppressWarnings(suppressMessages(eval(answer, where)))
  where
}

calls <- list(
  poLCA = alist(
    bernoulli_mixture(cbind(taxon1, taxon2) ~ 1, d, nclass = 2),
    bernoulli_mixture(x, nclass = 2),
    bernoulli_mixture(x, 2, nrep = 5),
    bernoulli_mixture(x, 2, maxiter = 100),
    bernoulli_mixture(x, 2, graphs = TRUE),
    bernoulli_mixture(x, 2, na.rm = TRUE),
    bernoulli_mixture(x, 2, probs.start = NULL),
    bernoulli_mixture(x, 2, verbose = FALSE),
    predict(mixture, type = "posterior"),
    predict(mixture, type = "class"),
    fitted(mixture, type = "prob"),
    bernoulli_mixture(x, 2, calc.se = TRUE),
    bernoulli_mixture(d[1:3], 2),
    bernoulli_mixture(x, class = 2),
    update(mixture, nclass = 3),
    coef(summary(mixture)),
    bernoulli_mixture(x + 1, 2)
  ),
  topicmodels = alist(
    plsa(x, k = 2, method = "Gibbs"),
    plsa(x, k = 2, control = list(seed = 1)),
    plsa(x, 2, seed = 1),
    terms(topics, 5),
    predict(topics, type = "gamma"),
    generics::tidy(topics, matrix = "beta"),
    generics::tidy(topics, matrix = "gamma"),
    generics::tidy(topics, matrix = "topics"),
    logLik(topics),
    plot(topics, "terms"),
    plsa(x, 2, alpha = 0.1),
    plsa(x, k = 2, burnin = 100),
    plsa(x, k = 2:5),
    predict(topics, newdata = x),
    document_completion(topics, newdata = x),
    plsa(x, num.topics = 2),
    plsa(x, 2, nstart = 3),
    plsa(x, 2, beta = 0.1),
    plsa(x, 2, method = "VEM"),
    plsa(x, 2, control = list(alpha = 0.1)),
    predict(topics, x, type = "topics"),
    top_terms(topics, top_n = 5),
    coherence(topics, method = "umass")
  ),
  vegan = alist(
    which_zeros(comm = x),
    which_zeros(x, coords = cbind(1, 2)),
    vegan::scores(pca, display = "sites"),
    vegan::scores(pca, display = "species"),
    vegan::scores(pca, choices = 1:2, display = "taxa"),
    deficiency(fit, by = "site"),
    deficiency(fit, by = "species"),
    false_absences(fit, per = "site"),
    simulate(fit, nsim = 2, seed = 1),
    biplot(pca),
    screeplot(pca),
    plot(pca, display = "sites"),
    nmf(vegdist = x),
    weights(fit),
    which_zeros(x, r = x[1:5, ]),
    which_zeros(x, age = age, calibration = 1:3),
    smooth_over(env = data.frame(depth = age)),
    smooth_over(place = cbind(x = age, y = age)),
    vegan::vegdist(fit),
    vegan::diversity(fit),
    vegan::envfit(pca, data.frame(age), permutations = 9),
    vegan::ordiplot(pca),
    vegan::procrustes(pca, pca),
    rownames(fit),
    as.matrix(w),
    which_zeros(x, method = "beals"),
    which_zeros(x ~ age),
    plot(fit, choices = 1:2),
    vegan::scores(w),
    vegan::decostand(fit, "pa"),
    vegan::specpool(w),
    vegan::protest(pca, pca, permutations = 9),
    fit["site1", ], sum(fit), fit > 0.5,
    head(w), w[1:3, ]
  ),
  unmarked = alist(
    visits_bernoulli(list(x, x), 2, formula = ~1),
    visits_bernoulli(~1 ~ 1, list(x, x)),
    visits_bernoulli(list(x, x), 2, obsCovs = list()),
    coef(surveys, type = "det"),
    predict(surveys, type = "det"),
    predict(surveys, type = "state"),
    confint(surveys, type = "det"),
    vcov(surveys),
    occupied(surveys, n.samples = 3),
    residuals(surveys, type = "pearson"),
    visits_bernoulli(list(x, x), 2, detformula = ~1),
    visits_bernoulli(list(x, x), 2, stateformula = ~1),
    predict(surveys, newdata = data.frame(a = 1)),
    visits_bernoulli(y = list(x, x), k = 2),
    visits_bernoulli(list(x, x), 2, siteCovs = data.frame(a = 1:20)),
    visits_bernoulli(list(x, x), 2, mixture = "P"),
    predict(surveys, type = "psi"),
    predict(surveys, backTransform = TRUE),
    visits_needed(surveys, p = 0.95)
  ),
  broom = alist(
    generics::tidy(fit),
    generics::tidy(fit, conf.int = TRUE),
    generics::glance(mixture),
    generics::augment(mixture),
    generics::augment(fit, newdata = x),
    generics::tidy(w),
    generics::tidy(deficiency(fit)),
    generics::tidy(fit, exponentiate = TRUE),
    generics::augment(fit, type.predict = "response"),
    generics::tidy(mixture, conf.level = 0.9),
    generics::tidy(pca, matrix = "v"),
    generics::tidy(pca, matrix = "u"),
    data.frame(w), subset(w, chance > 0.5), sort(w)
  ),
  caret = alist(
    predict(mixture, x, type = "raw"),
    predict(mixture, x, type = "prob"),
    cross_validate(x, number = 5),
    cross_validate(x, model = bernoulli_mixture, k = 2, number = 5),
    recovery(fit, x)
  ),
  lme4 = alist(
    getExportedValue("nlme", "fixef")(fit),
    getExportedValue("nlme", "ranef")(mixture),
    getExportedValue("nlme", "VarCorr")(fit),
    sigma(fit),
    predict(mixture, re.form = NA),
    confint(fit, method = "Wald"),
    confint(mixture, method = "boot", parm = "weights[A1]", nsim = 19),
    profile(mixture)
  ),
  mgcv = alist(
    smooth_over(age = age, k = 10),
    aspect_bernoulli(x, 2, smooth = age),
    predict(fit, type = "lpmatrix"),
    curves(fit, se = TRUE),
    vcov(fit, unconditional = TRUE),
    model.matrix(fit),
    smooth_over(age = age, span = 0.3),
    smooth_over(age = age, sp = 1),
    smooth_over(lat = age, lng = age),
    smooth_over(~age)
  ),
  glm = alist(
    aspect_bernoulli(x, 2, family = binomial),
    aspect_bernoulli(x, 2, data = d),
    aspect_bernoulli(x, 2, weights = 1:20),
    aspect_bernoulli(x, 2, subset = 1:3),
    aspect_bernoulli(x, 2, na.action = na.omit),
    update(fit, . ~ .),
    anova(mixture, fit),
    vcov(fit),
    confint(mixture),
    confint(mixture, method = "profile", parm = "weights[A1]"),
    vcov(mixture),
    deviance(mixture),
    df.residual(mixture),
    residuals(mixture, type = "working"),
    residuals(mixture, "dev"),
    predict(fit, type = "link"),
    predict(fit, se.fit = TRUE),
    predict(fit, x),
    drop1(mixture),
    step(mixture),
    formula(mixture),
    model.frame(mixture),
    AIC(mixture), BIC(mixture),
    cooks.distance(fit),
    family(mixture),
    nrow(fit), dim(w),
    plot(mixture, which = 1),
    summary(fit, correlation = TRUE),
    mean(fit), quantile(fit), hist(fit), image(fit), points(pca), dist(fit), kmeans(fit, 2),
    aspect_bernoulli(x, 2, offset = 1:20),
    aspect_bernoulli(x, 2, link = "logit"),
    predict(fit, interval = "confidence"),
    confint(w), predict(w), coef(w), update(w, quick = TRUE, sites = 1)
  ),
  ggplot2 = alist(
    ggplot2::ggplot(w),
    ggplot2::fortify(fit)
  ),
  iNEXT = alist(
    which_zeros(x, q = 0),
    which_zeros(x, datatype = "incidence_raw"),
    which_zeros(x, nboot = 50),
    which_zeros(x, endpoint = 40),
    which_zeros(list(x, x))
  ),
  divDyn = alist(
    range_through(x, bin = "stg"),
    occurrence_matrix(d, tax = "genus", bin = "stg"),
    occurrence_matrix(d, "locality", "genus"),
    which_zeros(x, bin = age),
    which_zeros(x, max_ma = age, min_ma = age),
    which_zeros(x, lat = age, lng = age)
  ),
  DarkDiv = alist(
    which_zeros(x, method = "Hypergeometric"),
    false_absences(fit, threshold = 0.5),
    false_absences(w),
    phantoms(w),
    deficiency(w, "site"),
    corrupt(x, prob = 0.1)
  )
)

test_that("each habit meets the answer, or a sentence that leads there", {
  for (package in c("vegan", "nlme", "generics")) skip_if_not_installed(package)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  where <- habits()
  expect_gte(sum(lengths(calls)), 197L)
  for (package in names(calls)) {
    met <- vapply(calls[[package]], outcome, "", where)
    asked <- vapply(calls[[package]], function(call) paste(trimws(deparse(call)), collapse = " "), "")
    expect_identical(asked[met == "NULL" | startsWith(met, "RAW")], character(), info = package)
    expect_snapshot(writeLines(paste0(asked, "\n  ", met)))
  }
})
