# plsa() beside latent Dirichlet allocation of package topicmodels and the topic model of package fastTopics (maximum
# likelihood of the same model as plsa(), by other passes), where it is installed, at equal k: held-out perplexity by
# document completion, coherence on the held-out documents, seconds. Results are kept in bench/topics.md.
#   Rscript bench/topics.R
library(multicause)
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
if (!dir.exists(folder) || !requireNamespace("topicmodels", quietly = TRUE)) {
  message("skipped: needs the data in ", folder, " and package topicmodels")
  quit("no")
}
lda_of <- getExportedValue("topicmodels", "LDA")
posterior_of <- getExportedValue("topicmodels", "posterior")

newsgroups <- local({
  read <- function(part) utils::read.csv(file.path(folder, "newsgroups4", part))
  cells <- read("ngall_triplets.csv.gz")
  stems <- read("ngall_terms.csv")$stem
  x <- Matrix::sparseMatrix(i = cells$doc_id, j = cells$term_id, x = 1, dimnames = list(NULL, stems))
  x[Matrix::rowSums(x) >= 5, ]
})
nips <- local({
  x <- utils::read.csv(file.path(folder, "nips_author_citations", "nips40.csv"))
  x <- Matrix::Matrix(as.matrix(x[-(1:2)]), sparse = TRUE)
  x[Matrix::rowSums(x) >= 2, ]
})

# What topicmodels takes: a simple_triplet_matrix of counts.
as_terms <- function(x) {
  cells <- Matrix::summary(x)
  structure(list(
    i = cells$i, j = cells$j, v = as.integer(cells$x), nrow = nrow(x), ncol = ncol(x),
    dimnames = list(Docs = as.character(seq_len(nrow(x))), Terms = colnames(x))
  ), class = c("DocumentTermMatrix", "simple_triplet_matrix"), weighting = c("term frequency", "tf"))
}

# The same halves of the held-out documents and the same background for all.
halves <- function(x) {
  set.seed(1)
  cells <- Matrix::summary(x)
  first <- stats::rbinom(nrow(cells), cells$x, 0.5)
  part <- function(value) {
    Matrix::drop0(Matrix::sparseMatrix(cells$i, cells$j, x = value, dims = dim(x), dimnames = dimnames(x)))
  }
  both <- list(seen = part(first), left = part(cells$x - first))
  used <- Matrix::rowSums(both$seen) > 0 & Matrix::rowSums(both$left) > 0
  lapply(both, function(half) half[used, ])
}
perplexity <- function(membership, basis, left, q, background = 0.01) {
  cells <- Matrix::summary(left)
  p <- rowSums(membership[cells$i, , drop = FALSE] * t(basis)[cells$j, , drop = FALSE])
  exp(-sum(cells$x * log((1 - background) * p + background * q[cells$j])) / sum(cells$x))
}

judge <- function(name, x, k) {
  set.seed(2)
  out <- sample(nrow(x), nrow(x) %/% 5L)
  train <- x[-out, ]
  test <- x[out, ]
  half <- halves(test)
  q <- (Matrix::colSums(train) + 0.5) / sum(Matrix::colSums(train) + 0.5)
  row <- function(method, seconds, fit, membership, basis, of_train = NULL) {
    shell <- fit
    if (!inherits(fit, "plsa")) {
      start <- list(membership = of_train, basis = basis)
      shell <- suppressWarnings(plsa(train, k, start = start, control = fit_control(max_pass = 0)))
    }
    found <- coherence(shell, 10, x = test)
    cat(sprintf(
      "| %s | %d | %s | %.2f | %.3f | %.3f | %.1f |\n", name, k, method, perplexity(membership, basis, half$left, q),
      mean(found$coherence, na.rm = TRUE), mean(found$exclusivity), seconds
    ))
  }
  one <- function(method, ...) {
    set.seed(3)
    taken <- system.time({
      fit <- suppressWarnings(plsa(train, k, ..., control = fit_control(n_start = 3, progress = FALSE)))
    })
    row(method, taken[[1L]], fit, predict(fit, half$seen, type = "membership"), unname(fit$param$basis))
  }
  one("plsa()")
  one("plsa(), sparsity 0.02", sparsity = c(membership = 0.02))
  one("plsa(), sparsity -0.02", sparsity = c(membership = -0.02))
  # Three starts, as above; Gibbs sampling by its default, alpha = 50 / k, and with a prior for few topics a document.
  lda <- function(method, label, ...) {
    settings <- list(nstart = 3, seed = 3:5, ...)
    taken <- system.time(fit <- lda_of(as_terms(train), k, method = method, control = settings))
    membership <- posterior_of(fit, as_terms(half$seen))$topics
    row(label, taken[[1L]], fit, membership, exp(fit@beta), posterior_of(fit)$topics)
  }
  lda("VEM", "LDA, VEM")
  lda("Gibbs", "LDA, Gibbs", iter = 500)
  lda("Gibbs", "LDA, Gibbs, alpha 0.1", iter = 500, alpha = 0.1)
  if (requireNamespace("fastTopics", quietly = TRUE)) {
    # One start, as it has one kind of start only; it takes no empty columns. Its own number of passes.
    used <- Matrix::colSums(train) > 0
    set.seed(3)
    taken <- system.time(
      fit <- getExportedValue("fastTopics", "fit_topic_model")(train[, used], k, verbose = "none")
    )
    basis <- matrix(0, k, ncol(train))
    basis[, used] <- t(fit$F)
    shares <- function(l) unname(l / rowSums(l))
    seen <- half$seen[, used]
    membership <- matrix(1 / k, nrow(seen), k)
    known <- Matrix::rowSums(seen) > 0
    utils::capture.output(membership[known, ] <- shares(stats::predict(fit, seen[known, ])))
    row("fastTopics", taken[[1L]], fit, membership, basis, shares(fit$L))
  }
  alone <- exp(-sum(half$left %*% log(q)) / sum(half$left))
  cat(sprintf("| %s | | shares in training alone | %.2f | | | |\n", name, alone))
}

cat("| documents | k | method | perplexity | NPMI | exclusivity | seconds |\n")
cat("| --- | --- | --- | --- | --- | --- | --- |\n")
for (k in c(5L, 10L)) judge("nips_author_citations", nips, k)
for (k in c(4L, 10L)) judge("newsgroups4", newsgroups, k)
