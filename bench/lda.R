# Which estimate and prior of plsa() completes unseen halves of held-out sites best, on twelve tables of counts; and
# beside latent Dirichlet allocation of package topicmodels. Results are kept in bench/lda.md.
#   Rscript bench/lda.R
library(multicause)
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
if (!dir.exists(folder)) {
  message("skipped: no data in ", folder)
  quit("no")
}
read <- function(...) utils::read.csv(file.path(folder, ...))
long <- function(i, j, value = 1) {
  j <- factor(j)
  Matrix::sparseMatrix(as.integer(factor(i)), as.integer(j), x = as.double(rep_len(value, length(j))),
    dimnames = list(NULL, levels(j)))
}
wide <- function(x) {
  x <- as.matrix(x)
  Matrix::Matrix(unname(x) * 1, sparse = TRUE, dimnames = list(NULL, colnames(x)))
}
enough <- function(x, least = 4) {
  x <- x[Matrix::rowSums(x) >= least, ]
  x[, Matrix::colSums(x) > 0]
}
some <- function(x, n) {
  set.seed(1)
  x[sort(sample(nrow(x), n)), ]
}
vegan <- function(name) {
  here <- new.env()
  utils::data(list = name, package = "vegan", envir = here)
  enough(wide(here[[name]]))
}
news <- function(name) {
  cells <- read("newsgroups4", paste0(name, "_triplets.csv.gz"))
  enough(long(cells$doc_id, cells$term_id), 5)
}
birds <- read("repeat_surveys", "mhb2014_counts.csv.gz")
birds <- birds[birds$count < 1000, ]
turkana <- read("turkana", "turkana_counts.csv")
now <- read("now_2003", "g2s2_occ.csv")
america <- read("now_2020_nam", "nam_large_occ.csv")
tables <- list(
  citations = enough(wide(read("nips_author_citations", "nips40.csv")[-(1:2)]), 2),
  news = news("ngall"), `400 posts` = news("ng400"), birds = enough(long(birds$site, birds$species, birds$count)),
  Turkana = enough(long(turkana$site_id, turkana$genus, turkana$n_specimens)),
  `NOW 2003` = enough(long(now$site_id, now$genus)),
  `NOW America` = enough(long(america$site_id, america$genus, america$n_species)),
  tetrapods = enough(wide(early_tetrapods$x)),
  digits = some(wide(read("uci_mfeat_pix", "mfeat_pix.csv.gz")[-1]), 300),
  faces = some(wide(round(as.matrix(read("cbcl_faces", "cbcl_train_faces.csv.gz")) / 32)), 200),
  trees = vegan("BCI"), mites = vegan("mite")
)

# A fifth of the sites is held out, and half of their counts is seen: the same for all.
split_of <- function(x) {
  set.seed(2)
  out <- sample(nrow(x), nrow(x) %/% 5L)
  train <- x[-out, ]
  test <- x[out, ]
  cells <- Matrix::summary(test)
  first <- stats::rbinom(nrow(cells), cells$x, 0.5)
  part <- function(value) {
    Matrix::drop0(Matrix::sparseMatrix(cells$i, cells$j, x = value, dims = dim(test), dimnames = dimnames(test)))
  }
  both <- list(seen = part(first), left = part(cells$x - first))
  used <- Matrix::rowSums(both$seen) > 0 & Matrix::rowSums(both$left) > 0
  q <- Matrix::colSums(train) + 0.5
  c(list(train = train, q = unname(q / sum(q))), lapply(both, function(half) half[used, ]))
}
perplexity <- function(split, membership, basis, background = 0.01) {
  cells <- Matrix::summary(split$left)
  p <- rowSums(membership[cells$i, , drop = FALSE] * t(basis)[cells$j, , drop = FALSE])
  exp(-sum(cells$x * log((1 - background) * p + background * split$q[cells$j])) / sum(cells$x))
}
alone <- function(split) exp(-sum(split$left %*% log(split$q)) / sum(split$left))
quiet <- function(expr) suppressMessages(suppressWarnings(expr))
fit_of <- function(split, k, ...) {
  set.seed(3)
  control <- fit_control(n_start = 3, max_pass = 1000, tol = 1e-7, progress = FALSE)
  taken <- system.time(fit <- quiet(plsa(split$train, k, ..., control = control)))
  told <- quiet(predict(fit, split$seen, type = "membership"))
  c(perplexity = perplexity(split, told, unname(fit$param$basis)), seconds = taken[[1L]] + taken[[2L]])
}
dirichlet <- function(membership, basis, estimate = "map") {
  list(estimate = estimate, prior = list(membership = membership, basis = basis))
}
arms <- list(
  ml = list(estimate = "ml"), `1.1, 1.01` = dirichlet(1.1, 1.01), `1.1, 1.1` = list(), `1.2, 1.1` = dirichlet(1.2, 1.1),
  `1.3, 1.05` = dirichlet(1.3, 1.05), `vb .5, .1` = dirichlet(0.5, 0.1, "vb"),
  `vb .6, .6` = dirichlet(0.6, 0.6, "vb"), `vb "eb"` = list(estimate = "vb")
)
row <- function(...) cat("|", paste(..., sep = " | "), "|\n")
show <- function(x) formatC(x, digits = 4, format = "fg", flag = "#")

row("table", "k", "no fit", paste(names(arms), collapse = " | "))
row("---", "---", "---", paste(rep("---", length(arms)), collapse = " | "))
logs <- list()
for (k in c(5L, 20L)) {
  for (name in names(tables)) {
    if (k == 20L && name %in% c("digits", "faces")) next # minutes each, and no prior tells them apart at k = 5
    split <- split_of(tables[[name]])
    found <- vapply(arms, function(arm) do.call(fit_of, c(list(split, k), arm))[["perplexity"]], 0)
    logs[[length(logs) + 1L]] <- log(found)
    row(name, k, show(alone(split)), paste(show(found), collapse = " | "))
  }
}
row("mean of logs, over that of 1.1, 1.1", "", "", paste(
  formatC(rowMeans(do.call(cbind, logs)) - mean(do.call(cbind, logs)["1.1, 1.1", ]), digits = 3, format = "f"),
  collapse = " | "
))

# Beside topicmodels: one run, three starts each, processor seconds.
if (requireNamespace("topicmodels", quietly = TRUE)) {
  as_terms <- function(x) {
    cells <- Matrix::summary(x)
    structure(list(
      i = cells$i, j = cells$j, v = as.integer(cells$x), nrow = nrow(x), ncol = ncol(x),
      dimnames = list(Docs = as.character(seq_len(nrow(x))), Terms = as.character(seq_len(ncol(x))))
    ), class = c("DocumentTermMatrix", "simple_triplet_matrix"), weighting = c("term frequency", "tf"))
  }
  rival <- function(split, k, method, ...) {
    settings <- list(nstart = 3, seed = 3:5, ...)
    fit_lda <- getExportedValue("topicmodels", "LDA")
    taken <- system.time(fit <- fit_lda(as_terms(split$train), k, method = method, control = settings))
    told <- getExportedValue("topicmodels", "posterior")(fit, as_terms(split$seen))$topics
    c(perplexity = perplexity(split, told, exp(fit@beta)), seconds = taken[[1L]] + taken[[2L]])
  }
  cat("\n")
  row("table", "k", "plsa()", "seconds", "\"vb\"", "seconds", "VEM", "seconds", "Gibbs", "seconds", "Gibbs, alpha .1",
    "seconds")
  row(paste(rep("---", 12), collapse = " | "))
  for (name in c("citations", "news", "400 posts", "NOW 2003", "tetrapods")) {
    for (k in c(5L, 20L)) {
      split <- split_of(tables[[name]])
      each <- list(
        fit_of(split, k), fit_of(split, k, estimate = "vb"), rival(split, k, "VEM"),
        rival(split, k, "Gibbs", iter = 500), rival(split, k, "Gibbs", iter = 500, alpha = 0.1)
      )
      row(name, k, paste(vapply(each, function(one) paste(show(one[[1L]]), "|", sprintf("%.1f", one[[2L]])), ""),
        collapse = " | "))
    }
  }

  # Samplers alone: three chains of 500 sweeps each; plsa() learns its prior in another of 250.
  sampled <- function(split, k, ...) {
    set.seed(3)
    control <- mcmc_control(chains = 3, warmup = 250, draws = 250, progress = FALSE)
    taken <- system.time(fit <- quiet(plsa(split$train, k, ..., estimate = "gibbs", control = control)))
    told <- quiet(predict(fit, split$seen, type = "membership"))
    c(perplexity = perplexity(split, told, unname(fit$param$basis)), seconds = taken[[1L]] + taken[[2L]])
  }
  cat("\n")
  row("table", "k", "plsa() \"gibbs\"", "seconds", "prior .1, .1", "seconds", "topicmodels, alpha .1", "seconds")
  row(paste(rep("---", 8), collapse = " | "))
  for (name in c("citations", "tetrapods", "NOW 2003", "400 posts", "news")) {
    for (k in c(5L, 20L, if (name == "400 posts") 100L)) {
      split <- split_of(tables[[name]])
      each <- list(
        sampled(split, k), sampled(split, k, prior = list(membership = 0.1, basis = 0.1)),
        rival(split, k, "Gibbs", iter = 500, alpha = 0.1)
      )
      row(name, k, paste(vapply(each, function(one) paste(show(one[[1L]]), "|", sprintf("%.1f", one[[2L]])), ""),
        collapse = " | "))
    }
  }
}
