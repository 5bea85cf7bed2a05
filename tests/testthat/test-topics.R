# Terms of components, coherence, completion of documents, and data formats of text mining. Tests also
# R/base_components.R.

skip_on_cran()

set.seed(7)
planted <- local({
  basis <- rbind(rep(c(8, 1), c(10, 20)), rep(c(1, 8, 1), each = 10), rep(c(1, 8), c(20, 10)))
  basis <- basis / rowSums(basis)
  share <- matrix(rgamma(120 * 3, 0.2), 120)
  share <- share / rowSums(share)
  x <- t(apply(share %*% basis, 1L, function(p) rmultinom(1L, 60, p)))
  dimnames(x) <- list(documents = paste0("d", 1:120), terms = paste0("t", 1:30))
  list(x = x, basis = basis)
})
few <- fit_control(n_start = 3, progress = FALSE)
fit <- plsa(planted$x[1:90, ], 3, control = few)

test_that("terms have the numbers of the definitions, in the order asked for", {
  w <- fit$param$basis
  top <- top_terms(fit, 5)
  expect_identical(top_terms(fit, Inf), top_terms(fit, 1000))
  expect_identical(top$rank, rep(1:5, 3))
  for (c in 1:3) {
    mine <- top[top$component == rownames(w)[c], ]
    at <- order(-w[c, ])[1:5]
    expect_identical(mine$term, colnames(w)[at])
    expect_equal(mine$probability, unname(w[c, at]))
    expect_equal(mine$lift, unname((w[c, ] / colMeans(fit$param$membership %*% w))[at]))
    expect_equal(mine$relevance, 0.6 * log(mine$probability) + 0.4 * log(mine$lift))
    expect_equal(mine$exclusivity, unname((w[c, ] / colSums(w))[at]))
    excl <- ecdf(w[c, ] / colSums(w))(w[c, at] / colSums(w)[at])
    often <- ecdf(w[c, ])(w[c, at])
    expect_equal(mine$frex, 1 / (0.5 / excl + 0.5 / often))
  }
  for (by in c("relevance", "lift", "frex")) {
    sorted <- top_terms(fit, 30, by = by)
    for (each in split(sorted[[by]], sorted$component)) expect_false(is.unsorted(-each))
  }
  # With all weight on one criterion frex has its order.
  alone <- top_terms(fit, 30, by = "frex", weight = 0)
  expect_identical(alone$term, top_terms(fit, 30)$term)
  # Each planted component is recovered by its own ten terms.
  own <- split(top_terms(fit, 10)$term, top_terms(fit, 10)$component)
  expect_setequal(vapply(own, function(terms) length(unique((match(terms, colnames(w)) - 1) %/% 10)), 0L), 1L)
})

test_that("a phantom has no terms, and models without terms say so", {
  white <- drawn_fit(30, 12, 3, phantom = "white")
  expect_false(names(which(white$fixed == "white")) %in% top_terms(white, 3)$component)
  expect_error(top_terms(fits_of_all()$logistic_pca), "below 0", class = "multicause_input_error")
  expect_error(top_terms(fit, by = "idf"), "`by`", class = "multicause_input_error")
  expect_error(top_terms(fit, weight = 2), "`weight`", class = "multicause_input_error")
})

# Slow version: one pair of terms after another.
ref_coherence <- function(x, terms, measure) {
  held <- x[, terms] > 0
  values <- numeric()
  for (j in seq_along(terms)[-1L]) {
    for (i in seq_len(j - 1L)) {
      joint <- sum(held[, i] & held[, j])
      p <- joint / nrow(x)
      values <- c(values, if (measure == "umass") {
        log((joint + 1) / sum(held[, i]))
      } else if (joint == 0) {
        -1
      } else if (p == 1) {
        1
      } else {
        log(p / (mean(held[, i]) * mean(held[, j]))) / -log(p)
      })
    }
  }
  if (measure == "umass") sum(values) else mean(values)
}

test_that("coherence is that of the definitions, dense and sparse, and by k", {
  for (measure in c("npmi", "umass")) {
    got <- coherence(fit, 6, measure)
    expect_equal(got$coherence, vapply(split(top_terms(fit, 6)$term, top_terms(fit, 6)$component), function(terms) {
      ref_coherence(planted$x[1:90, ], terms, measure)
    }, 0), ignore_attr = TRUE)
    sparse <- plsa(Matrix::Matrix(planted$x[1:90, ], sparse = TRUE), 3, control = few)
    sparse$param <- fit$param
    expect_equal(coherence(sparse, 6, measure)$coherence, got$coherence)
  }
  expect_equal(sum(coherence(fit)$share), 1)
  w <- fit$param$basis
  expect_equal(coherence(fit, 4)$exclusivity[1L], mean((w[1L, ] / colSums(w))[order(-w[1L, ])[1:4]]))
  # Planted components are more coherent than mixtures of them.
  mixed <- fit
  mixed$param$basis[] <- rbind(w[1, ] + w[2, ], w[2, ] + w[3, ], w[3, ] + w[1, ]) / 2
  expect_gt(min(coherence(fit)$coherence), max(coherence(mixed)$coherence))
  expect_gt(min(coherence(fit)$exclusivity), max(coherence(mixed)$exclusivity))
  # Other documents with the same terms, in any order of the columns.
  expect_equal(
    coherence(fit, x = planted$x[91:120, 30:1])$coherence, coherence(fit, x = planted$x[91:120, ])$coherence
  )
  several <- coherence(list(fit, plsa(planted$x[1:90, ], 2, control = few)), 5)
  expect_identical(several$k, c(3, 3, 3, 2, 2))
  expect_output(print(several), "k = 3: mean coherence.*k = 2: mean coherence")
  expect_error(coherence(list()), "`fit`", class = "multicause_input_error")
  expect_error(coherence(fit, 1), "`n`", class = "multicause_input_error")
})

test_that("perplexity by completion: planted documents, bounds, and the right k is better", {
  new <- planted$x[91:120, ]
  done <- with_seed(1, document_completion(fit, new))
  expect_equal(done$perplexity, exp(-sum(done$loglik) / sum(done$counts)))
  expect_true(all(done$counts <= rowSums(new)))
  expect_lt(done$perplexity, done$background_alone)
  expect_lt(done$background_alone, 30 + 1)
  poor <- plsa(planted$x[1:90, ], 1, control = few)
  expect_lt(done$perplexity, with_seed(1, document_completion(poor, new))$perplexity)
  # All background means the shares of training alone; the seed decides and the session's generator is unchanged.
  alone <- with_seed(1, document_completion(fit, new, background = 1))
  expect_equal(alone$perplexity, alone$background_alone)
  set.seed(3)
  before <- .Random.seed
  expect_identical(with_seed(1, document_completion(fit, new)), done)
  expect_identical(.Random.seed, before)
  expect_equal(with_seed(1, document_completion(fit, Matrix::Matrix(new, sparse = TRUE))), done)
  # Computed in plain R, from the halves drawn with the seed.
  set.seed(1)
  at <- which(new > 0)
  first <- replace(0 * new, at, rbinom(length(at), new[at], 0.5))
  membership <- predict(fit, first, type = "membership")
  p <- membership %*% fit$param$basis
  q <- (colSums(planted$x[1:90, ]) + 0.5) / sum(colSums(planted$x[1:90, ]) + 0.5)
  left <- new - first
  expected <- rowSums(left * log(0.99 * p + 0.01 * rep(q, each = 30)))
  expect_equal(done$loglik, expected, tolerance = 1e-5)
  expect_error(document_completion(fit, new / 2), "whole", class = "multicause_input_error")
  expect_error(document_completion(fit, new, seen = 1), "`seen`", class = "multicause_input_error")
  expect_error(document_completion(fit, 0 * new), "both parts", class = "multicause_input_error")
  expect_error(document_completion(drawn_fit(12, 6, 2), new), class = "multicause_input_error")
  # An error about `x` keeps its class when raised through package Matrix.
  unkept <- plsa(planted$x[1:90, ], 2, control = quiet_control(n_start = 1, keep_x = FALSE))
  expect_error(document_completion(unkept, new, x = list(1)), "^`x` must be", class = "multicause_input_error")
  expect_output(print(done), "Perplexity")
})

test_that("tables of text miners are taken as they are", {
  x <- planted$x[1:20, ]
  want <- Matrix::Matrix(x, sparse = TRUE)
  at <- which(x > 0, arr.ind = TRUE)
  same <- function(given, names = dimnames(x)) {
    got <- as_plain_matrix(given, "x")
    expect_s4_class(got, "dgCMatrix")
    expect_identical(as.vector(class(got)), "dgCMatrix")
    expect_identical(dimnames(got), names)
    expect_equal(unname(as.matrix(got)), unname(x))
  }
  # Format of packages tm and slam.
  terms <- structure(
    list(i = at[, 1L], j = at[, 2L], v = x[at], nrow = 20L, ncol = 30L,
      dimnames = list(Docs = rownames(x), Terms = colnames(x))),
    class = c("DocumentTermMatrix", "simple_triplet_matrix"), weighting = c("term frequency", "tf")
  )
  same(terms, list(Docs = rownames(x), Terms = colnames(x)))
  set.seed(1)
  one <- plsa(terms, 2, control = few)
  set.seed(1)
  expect_equal(one$param, plsa(want, 2, control = few)$param)
  expect_identical(axis_words(one), c("Docs", "Terms"))
  refuses <- function(x, word) expect_error(as_plain_matrix(x, "x"), word, class = "multicause_input_error")
  refuses(structure(terms, class = c("TermDocumentMatrix", "simple_triplet_matrix")), "t\\(x\\)")
  broken <- terms
  broken$i[1L] <- 21L
  refuses(broken, "whole object")
  broken$i <- terms$i[-1L]
  refuses(broken, "whole object")
  twice <- terms
  twice[c("i", "j")] <- list(rep(1L, nrow(at)), rep(1L, nrow(at)))
  refuses(twice, "once")
  # Format of package quanteda: a separate class on a sparse matrix.
  methods::setClass("dfm_like", contains = "dgCMatrix", representation(meta = "list"), where = environment())
  on.exit(methods::removeClass("dfm_like", where = environment()))
  dfm <- methods::new("dfm_like", methods::as(want, "generalMatrix"), meta = list(1))
  same(dfm)
  # Triplets, as in package tidytext.
  long <- data.frame(document = rownames(x)[at[, 1L]], term = colnames(x)[at[, 2L]], n = x[at])
  got <- suppressMessages(as_plain_matrix(long, "x"))
  expect_equal(as.matrix(got)[rownames(x), colnames(x)], unclass(x), ignore_attr = TRUE)
  expect_message(as_plain_matrix(long, "x"), "triplets", class = "multicause_message")
  numbered <- transform(long, document = as.integer(sub("d", "", document)))
  expect_setequal(rownames(suppressMessages(as_plain_matrix(numbered, "x"))), as.character(1:20))
  refuses(rbind(long, long[1L, ]), "repeats")
  refuses(replace(long, "term", replace(long$term, 2L, NA)), "empty name")
})

test_that("every verb takes tables of text miners, and fits the same table", {
  x <- planted$x[1:24, 1:8]
  x <- x[rowSums(x) > 0, ]
  n <- nrow(x)
  at <- which(x > 0, arr.ind = TRUE)
  terms <- structure(
    list(i = unname(at[, 1L]), j = unname(at[, 2L]), v = x[at], nrow = nrow(x), ncol = 8L,
      dimnames = list(Docs = rownames(x), Terms = colnames(x))),
    class = c("DocumentTermMatrix", "simple_triplet_matrix"), weighting = c("term frequency", "tf")
  )
  dimnames(x) <- terms$dimnames
  own <- function(x) {
    stopifnot(is.matrix(x) || inherits(x, "dgCMatrix"))
    matrix(mean(as.matrix(x), na.rm = TRUE), nrow(x), ncol(x))
  }
  verbs <- list(
    function(x) select_k(x, 1:2, model = plsa, criterion = c("cells", "rows", "aic"), folds = 2, control = few)$table,
    function(x) cross_validate(x, 2, plsa, folds = 2, control = few)$results,
    function(x) cross_validate(x, 2, plsa, "rows", folds = 2, control = few)$results,
    function(x) compare_models(x, 2, list(plsa = plsa, own = own), folds = 2, control = few)$table[1:4],
    function(x) fitted(ensemble(x, 2, model = plsa, control = few)),
    function(x) as.matrix(range_through(x, seq_len(n))),
    function(x) coherence(fit, x = x)
  )
  fit <- plsa(x, 2, control = few)
  for (verb in verbs) {
    out <- lapply(list(terms, x), function(x) {
      set.seed(1)
      suppressWarnings(suppressMessages(verb(x)))
    })
    expect_equal(out[[1L]], out[[2L]], ignore_attr = TRUE)
  }
  corpus <- structure(list("a"), class = c("VCorpus", "Corpus"))
  for (text in list(corpus, rep("many words that nobody counted yet", 9))) {
    for (verb in verbs) expect_error(verb(text), "must be a table of counts.*tm::Doc", class = "multicause_input_error")
    expect_error(predict(fit, text), "`newdata` must be a table of counts", class = "multicause_input_error")
  }
})

test_that("new documents lack words and have others: these are 0 and left out, with a message", {
  x <- planted$x[1:24, 1:8]
  x <- x[rowSums(x) > 0, ]
  fit <- plsa(x, 2, control = few)
  new <- cbind(x[1:3, 6:1], other = 1)
  want <- cbind(x[1:3, 1:6], 0, 0)
  dimnames(want) <- list(rownames(x)[1:3], colnames(x))
  member <- function(x) suppressMessages(predict(fit, x, type = "membership"))
  for (form in list(new, as.data.frame(new), Matrix::Matrix(new, sparse = TRUE))) {
    expect_equal(member(form), member(want), ignore_attr = TRUE)
  }
  expect_message(predict(fit, new), paste(
    "`newdata` has 1 column unknown to the fit, left out: \"other\"; it lacks 2 columns of the training data, taken as",
    "0: \"t7\", \"t8\""
  ), class = "multicause_message")
  none <- cbind(new[, 7, drop = FALSE], t1 = 0)
  expect_message(predict(fit, none), "3 rows of `newdata` without counts, set to the mean")
  expect_error(predict(fit, new[, 7, drop = FALSE]), "lacks 8 columns", class = "multicause_input_error")
  # In a table of sites a missing taxon may be present: other models refuse.
  present <- 1 * (x > 0)
  fit <- bernoulli_mixture(present, 1, control = few)
  expect_error(predict(fit, 1 * (new > 0)), "lacks 2 columns", class = "multicause_input_error")
})

test_that("packages of text miners give what is expected of their classes", {
  skip_if_not_installed("slam")
  triplets <- getExportedValue("slam", "as.simple_triplet_matrix")(planted$x)
  expect_equal(as.matrix(as_plain_matrix(triplets, "x")), planted$x, ignore_attr = TRUE)
  skip_if_not_installed("tm")
  corpus <- getExportedValue("tm", "VCorpus")(getExportedValue("tm", "VectorSource")(c("a lion sees a tiger", "of")))
  expect_error(plsa(corpus, 1), "Text is counted first", class = "multicause_input_error")
  expect_error(plsa(getExportedValue("tm", "DocumentTermMatrix")(corpus), 1), "1 of 2 has none, \"2\"",
    class = "multicause_input_error")
})

test_that("tidy() speaks as tidytext does where it is asked so", {
  beta <- tidy(fit, matrix = "beta")
  expect_identical(names(beta), c("topic", "term", "beta"))
  expect_identical(as.data.frame(fit, matrix = "beta"), as.data.frame(beta))
  expect_equal(beta$beta[beta$topic == 2L & beta$term == "t5"], fit$param$basis[2L, "t5"], ignore_attr = TRUE)
  gamma <- tidy(fit, matrix = "gamma")
  expect_identical(names(gamma), c("document", "topic", "gamma"))
  expect_equal(gamma$gamma[gamma$document == "d4" & gamma$topic == 3L], fit$param$membership["d4", 3L],
    ignore_attr = TRUE)
  expect_identical(names(tidy(fit)), c("component", "taxon", "estimate"))
})

test_that("classify() finds the class whose fit explains a site best, taxa unknown to a class included", {
  set.seed(8)
  few <- fit_control(n_start = 1, progress = FALSE)
  shares <- list(a = c(6, 4, 2, 1, 0), b = c(0, 1, 2, 4, 6)) # each lacks a taxon
  draw <- function(class, n) {
    matrix(t(rmultinom(n, 25, shares[[class]])), n, dimnames = list(paste0(class, seq_len(n)), paste0("t", 1:5)))
  }
  fits <- lapply(stats::setNames(nm = names(shares)), function(class) {
    plsa(draw(class, 40), 2, estimate = "ml", control = few)
  })
  new <- rbind(draw("a", 20), draw("b", 20))
  got <- classify(fits, new)
  expect_identical(rownames(got), rownames(new))
  expect_identical(names(got), c("class", "margin", "a", "b"))
  expect_identical(got$class, rep(c("a", "b"), each = 20))
  expect_equal(got$margin, abs(got$a - got$b))
  # The log-likelihood by hand: the best memberships, the basis with a millionth of the uniform distribution.
  basis <- (1 - 1e-6) * fits$b$param$basis + 1e-6 / 5
  by_share <- function(share) sum(new[1, ] * log(share * basis[1, ] + (1 - share) * basis[2, ]))
  expect_equal(got$b[1], stats::optimize(by_share, 0:1, maximum = TRUE, tol = 1e-10)$objective, tolerance = 1e-6)
  expect_identical(classify(fits, new[, 5:1])$class, got$class)
  expect_identical(suppressMessages(classify(fits, 0 * new[1:2, ]))$class, c(NA_character_, NA))
  for (call in list(
    quote(classify(fits[1], new)), quote(classify(unname(fits), new)), quote(classify(fits$a, new)),
    quote(classify(list(a = fits$a, b = 1), new)), quote(classify(fits)), quote(classify(fits, new, 3)),
    quote(classify(list(a = fits$a, b = plsa(draw("b", 20)[, -1], 2, control = few)), new))
  )) {
    expect_error(eval(call), class = "multicause_input_error")
  }
})

test_that("unknown cells of new documents, and fits whose taxa differ in order, are refused where they would mislead", {
  set.seed(7)
  x <- matrix(rpois(72, 3), 12, 6, dimnames = list(NULL, paste0("A", 1:6)))
  control <- fit_control(n_start = 2)
  fit <- suppressMessages(plsa(x, 3, control = control))
  expect_error(document_completion(fit, replace(x[1:3, ], 1, NA)), "no unknown cells", class = "multicause_input_error")
  other <- suppressMessages(plsa(x[, 6:1], 3, control = control))
  both <- list(a = fit, b = other)
  expect_error(classify(both, unname(x[1:2, ])), "names of columns", class = "multicause_input_error")
  # Taxa that are called like components do not turn these.
  expect_identical(colnames(predict(fit, x[1:2, 6:1], type = "membership")), component_names(3))
  expect_message(coherence(fit, x = x[, 1:4]), "`x` lacks 2 columns|it lacks 2 columns", class = "multicause_message")
  one <- suppressMessages(plsa(x, 1, control = control))
  expect_error(plot(one, "scores"), "two components", class = "multicause_input_error")
})

test_that("a fit without components over the columns, or with negative ones, has no terms", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 5, tol = 0)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  array <- suppressMessages(plca(array(rpois(24, 3) + 1, 4:2), 2, control = brief))
  for (verb in list(top_terms, coherence)) {
    refused(verb(array), "`fit` must be of a model whose components go over the columns, not of plca().")
    refused(verb(logistic_pca(x, 2, control = brief)),
      "`fit` must be of a model whose components are not below 0, not of logistic_pca().")
  }
  whole <- plsa(x, 2, control = brief)
  refused(classify(list(class = whole, b = whole), x),
    "`fits` must have other names than \"class\", which the result has.")
  refused(classify(list(a = whole, b = plsa(x[, -1], 2, control = brief)), x),
    "`fits` must be of the same taxa: those of \"b\" differ.")
})

test_that("a fit without components has no terms", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  brief <- fit_control(n_start = 1, max_iter = 2, tol = 0)
  fit <- logistic_pca(x, 0, control = brief)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(coherence(fit), "`fit` has no components: k is 0.")
})
