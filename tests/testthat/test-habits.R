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
  quiet <- function(expr) suppressWarnings(suppressMessages(expr))
  where$w <- quiet(eval(answer, where))
  where$places <- by_site(where$w)
  where$groups <- contrast(where$w, rep(c("a", "b"), each = 10))
  where$average <- quiet(ensemble(where$x, k = 2:3, members = 1))
  where$nowhere <- tempfile()
  known <- where$x
  known[is.na(known)] <- 0
  where$files <- quiet(shards(known, tempfile()))
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
    mcmc_control(n.thin = 2),
    mcmc_control(n.chains = 3),
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
    which_zeros(x, r = x[1:5, ]),
    which_zeros(x, age = age, calibration = 1:3),
    smooth_over(env = data.frame(depth = age)),
    smooth_over(place = cbind(x = age, y = age)),
    vegan::vegdist(fit),
    vegan::diversity(fit),
    vegan::envfit(pca, data.frame(age), permutations = 9),
    vegan::ordiplot(pca),
    vegan::procrustes(pca, pca),
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
  ),
  "vegan again" = alist(
    vegan::goodness(fit), vegan::stressplot(fit), vegan::eigenvals(pca), vegan::bstick(pca), vegan::tolerance(fit),
    vegan::permutest(fit), vegan::specnumber(fit), vegan::specnumber(w), vegan::nestednodf(w), vegan::cca(fit),
    vegan::metaMDS(fit), vegan::beals(fit), vegan::mantel(fit, fit), vegan::orditorp(pca, "sites"),
    vegan::ordispider(pca, rep(1:2, 10)), vegan::diversity(w), vegan::adonis2(fit ~ age), vegan::betadiver(fit)
  ),
  stats = alist(
    with(w, mean(chance)), subset(w, chance > 0.5, c(site, chance)), w[w$chance > 0.5, ], scale(fit), sd(fit), order(w),
    cut(w, 3), as.hclust(fit), as.dendrogram(fit), cophenetic(fit), reorder(fit, age), relevel(fit, 1), fivenum(fit),
    as.numeric(w), as.integer(fit), rbind(w, w), cbind(fit, 1), tail(w), split(w, age), by(w, age, mean),
    aggregate(fit, list(age), mean), merge(fit, d), unique(fit), duplicated(w)
  ),
  arithmetic = alist(
    w + 1, 1 - w, -w, !w, w > 0.5, w == w, log(w), round(w, 2), cumsum(w), max(w), which(w > 0.5),
    ifelse(w > 0.5, 1, 0)
  ),
  sums = alist(
    confint(places), coef(places), mean(places), hist(places), barplot(places), boxplot(places), confint(groups),
    places[places$share > 0.2, ], subset(places, share > 0.2, c(site, share)), generics::glance(places),
    generics::augment(groups), generics::tidy(groups), ggplot2::autoplot(deficiency(fit)), plot(deficiency(fit)),
    quantile(deficiency(fit))
  ),
  files = alist(
    as.matrix(files), as.data.frame(files), t(files), files + 1, log(files), sum(files), mean(files),
    apply(files, 1, mean), image(files), hist(files), summary(files), vegan::vegdist(files), head(files)
  ),
  frames = alist(
    data.frame(fit), write.csv(fit, nowhere), transform(fit, a = 1), grid::grid.draw(w), grid::grid.draw(fit),
    generics::tidy(average), generics::glance(average), predict(average, type = "membership")
  )
)
# What has no value to give.
silent <- quote(write.csv(fit, nowhere))

test_that("each habit meets the answer, or a sentence that leads there", {
  for (package in c("vegan", "nlme", "generics")) skip_if_not_installed(package)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  where <- habits()
  on.exit(unlink(c(where$files$path, where$nowhere), recursive = TRUE), add = TRUE)
  expect_gte(sum(lengths(calls)), 285L)
  for (package in names(calls)) {
    met <- vapply(calls[[package]], outcome, "", where)
    asked <- vapply(calls[[package]], function(call) paste(trimws(deparse(call)), collapse = " "), "")
    met[vapply(calls[[package]], identical, NA, silent) & met == "NULL"] <- "answer"
    expect_identical(asked[met == "NULL" | startsWith(met, "RAW")], character(), info = package)
    expect_snapshot(writeLines(paste0(asked, "\n  ", met)))
  }
})

write_and_read <- function(fit) {
  file <- tempfile()
  on.exit(unlink(file))
  utils::write.csv(fit, file, row.names = FALSE)
  utils::read.csv(file)
}

test_that("what answers is right", {
  where <- habits()
  on.exit(unlink(where$files$path, recursive = TRUE))
  frame <- as.data.frame(where$w)
  expect_identical(with(where$w, chance), frame$chance)
  half <- 0.5
  expect_identical(with(where$w, mean(chance > half)), mean(frame$chance > half))
  expect_identical(subset(where$w, chance > half, c(site, chance)), subset(frame, chance > half, c(site, chance)))
  expect_identical(tail(where$w, 3), tail(frame, 3))
  expect_identical(data.frame(where$fit), as.data.frame(where$fit))
  # Text has 15 digits.
  expect_equal(write_and_read(where$fit)$estimate, as.data.frame(where$fit)$estimate, tolerance = 1e-13)
})

test_that("what a fit is does not depend on who asks", {
  fit <- fits_of_all()$aspect_bernoulli
  for (name in names(fit)) expect_identical(do.call("$", list(fit, name)), unclass(fit)[[name]], info = name)
  for (caller in list(globalenv(), asNamespace("stats"))) {
    inside <- list2env(list(fit = fit), parent = caller)
    for (call in expression(fit$aspects, levels(fit), dim(fit), weights(fit))) expect_null(eval(call, inside))
    expect_identical(eval(quote(c(fit, list(1))), inside), c(unclass(fit), list(1)))
  }
})

test_that("verbs of data frames do on an answer what they do on its data frame", {
  w <- habits()$w
  method <- of_frame(function(.data, ..., n = 2) subset(.data[seq_len(n), ], ...))
  expect_identical(names(formals(method)), c(".data", "..."))
  expect_identical(method(w, chance > 0.1, n = 5), subset(as.data.frame(w)[1:5, ], chance > 0.1))
  skip_if_not_installed("dplyr")
  from_dplyr <- function(verb) getExportedValue("dplyr", verb)
  frame <- as.data.frame(w)
  least <- 0.5
  expect_identical(from_dplyr("filter")(w, chance > least), from_dplyr("filter")(frame, chance > least))
  expect_identical(from_dplyr("pull")(w, chance), frame$chance)
  expect_identical(from_dplyr("count")(w, taxon), from_dplyr("count")(frame, taxon))
  fit <- fits_of_all()$aspect_bernoulli
  expect_error(from_dplyr("mutate")(fit, a = 1), "tidy\\(fit\\)", class = "multicause_input_error")
})

test_that("methods wait for a package that is not there yet", {
  met <- character()
  for (package in c("stats", "never.there")) when_loaded(package, function(package) met <<- c(met, package))
  expect_identical(met, "stats")
  hooks <- getHook(packageEvent("never.there", "onLoad"))
  on.exit(setHook(packageEvent("never.there", "onLoad"), NULL, "replace"))
  hooks[[length(hooks)]]()
  expect_identical(met, c("stats", "never.there"))
})

test_that("some rows of a table of what is missed print, and are drawn, as the table is", {
  where <- habits()
  tables <- list(
    absences = false_absences(where$fit, n = 20), sums = where$places, groups = where$groups,
    presences = false_presences(aspect_bernoulli(where$x, 3, phantom = "both", control = where$few))
  )
  for (name in names(tables)) {
    table <- tables[[name]]
    some <- table[seq_len(nrow(table)) <= 2, ]
    for (part in list(subset(table, seq_len(nrow(table)) <= 2), some[names(table)], some[, names(table)])) {
      expect_identical(attributes(part), attributes(some)[names(attributes(part))], info = name)
      expect_setequal(names(attributes(part)), names(attributes(table)))
      expect_identical(capture.output(print(part)), capture.output(print(some)), info = name)
      expect_s3_class(ggplot2::autoplot(part), "ggplot")
    }
    expect_identical(table[, names(table)[3L]], table[[3L]])
  }
  for (part in list(
    tables$absences[c("observation", "attribute", "missed")], tables$sums["missed"], tables$sums[c("site", "missed")],
    tables$groups[c("group", "other")]
  )) {
    expect_error(ggplot2::autoplot(part), "must have the columns .*: it lacks", class = "multicause_input_error")
  }
})
