# Which estimate and prior of plsa() completes unseen halves of held-out sites best, on twelve tables of counts; and
# beside the topic models of other packages, with time and memory. Results are kept in bench/lda.md.
#   Rscript bench/lda.R [estimates | others [model ...] | learnt]
library(multicause)
common <- new.env()
sys.source("bench/common.R", common)
part <- c(commandArgs(TRUE), "both")[1L]
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

# Holds out a fifth of the sites, with half of their counts visible, identical for all models.
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
# fit: list(membership, basis), or of ours list(shares), predicted for all cells.
perplexity <- function(split, fit, background = 0.01) {
  cells <- Matrix::summary(split$left)
  p <- if (!is.null(fit$shares)) fit$shares[cbind(cells$i, cells$j)] else
    rowSums(fit$membership[cells$i, , drop = FALSE] * t(fit$basis)[cells$j, , drop = FALSE])
  exp(-sum(cells$x * log((1 - background) * p + background * split$q[cells$j])) / sum(cells$x))
}
alone <- function(split) exp(-sum(split$left %*% log(split$q)) / sum(split$left))
quiet <- function(expr) suppressMessages(suppressWarnings(expr))
ours <- function(split, k, ..., control = fit_control(n_start = 3, max_iter = 1000, tol = 1e-7, progress = FALSE)) {
  set.seed(3)
  fit <- quiet(plsa(split$train, k, ..., control = control))
  list(shares = unname(quiet(predict(fit, split$seen))) / Matrix::rowSums(split$seen))
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

estimates <- function() {
  row("table", "k", "no fit", paste(names(arms), collapse = " | "))
  row("---", "---", "---", paste(rep("---", length(arms)), collapse = " | "))
  logs <- list()
  for (k in c(5L, 20L)) {
    for (name in names(tables)) {
      if (k == 20L && name %in% c("digits", "faces")) next # minutes each, and no prior tells them apart at k = 5
      split <- split_of(tables[[name]])
      found <- vapply(arms, function(arm) perplexity(split, do.call(ours, c(list(split, k), arm))), 0)
      logs[[length(logs) + 1L]] <- log(found)
      row(name, k, show(alone(split)), paste(show(found), collapse = " | "))
    }
  }
  row("mean of logs, over that of 1.1, 1.1", "", "", paste(
    formatC(rowMeans(do.call(cbind, logs)) - mean(do.call(cbind, logs)["1.1, 1.1", ]), digits = 3, format = "f"),
    collapse = " | "
  ))
}

# Other packages: three starts or chains each (fastTopics has a single start of its own), 500 sweeps for samplers.
from <- getExportedValue
of_topicmodels <- function(split, k, method, ...) {
  as_terms <- function(x) slam::as.simple_triplet_matrix(as.matrix(x))
  fit <- from("topicmodels", "LDA")(as_terms(split$train), k, method, list(nstart = 3, seed = 3:5, ...))
  list(membership = from("topicmodels", "posterior")(fit, as_terms(split$seen))$topics, basis = exp(fit@beta))
}
# Extends the basis to taxa absent from training, which stay at 0.
wide_again <- function(basis, split, has) {
  out <- matrix(0, nrow(basis), ncol(split$train))
  out[, has] <- basis
  out
}
of_text2vec <- function(split, k, alpha, eta) {
  general <- function(x) methods::as(x, "RsparseMatrix")
  fits <- lapply(3:5, function(seed) {
    set.seed(seed)
    model <- text2vec::LDA$new(k, doc_topic_prior = alpha, topic_word_prior = eta)
    draw <- model$fit_transform(general(split$train), n_iter = 500, convergence_tol = -Inf, progressbar = FALSE)
    list(model = model, loglik = utils::tail(attr(draw, "likelihood")$loglikelihood, 1L))
  })
  best <- fits[[which.max(vapply(fits, `[[`, 0, "loglik"))]]$model
  # Shares of counts of a draw, to which the prior is added; ten draws are averaged.
  told <- lapply(1:10, function(i) {
    best$transform(general(split$seen), n_iter = 50, convergence_tol = -Inf, progressbar = FALSE)
  })
  n <- Matrix::rowSums(split$seen)
  list(membership = (n * Reduce(`+`, told) / 10 + alpha) / (n + k * alpha), basis = best$topic_word_distribution)
}
of_fasttopics <- function(split, k) {
  has <- Matrix::colSums(split$train) > 0
  fit <- fastTopics::fit_topic_model(split$train[, has], k, verbose = "none")
  told <- stats::predict(fit, split$seen[, has], verbose = "none")
  list(membership = told, basis = wide_again(t(fit$F), split, has))
}
# A logistic normal prior, because there are no covariates. Its default spectral initialisation is a single start.
of_stm <- function(split, k) {
  has <- Matrix::colSums(split$train) > 0
  documents <- function(x) {
    lapply(split(Matrix::summary(x[, has]), Matrix::summary(x[, has])$i), function(cells) {
      rbind(cells$j, cells$x, deparse.level = 0)
    })
  }
  fit <- from("stm", "stm")(documents(split$train), paste(which(has)), k, seed = 3, verbose = FALSE)
  seen <- documents(split$seen)
  told <- matrix(1 / k, nrow(split$seen), k) # where no taxon of training is seen
  told[as.integer(names(seen)), ] <- from("stm", "fitNewDocuments")(fit, seen, verbose = FALSE)$theta
  list(membership = told, basis = wide_again(exp(fit$beta$logbeta[[1L]]), split, has))
}
models <- list(
  `plsa()` = ours,
  `plsa(estimate = "gibbs")` = function(split, k) {
    ours(split, k, estimate = "gibbs", control = mcmc_control(chains = 3, warmup = 250, draws = 250, progress = FALSE))
  },
  `topicmodels, VEM` = function(split, k) of_topicmodels(split, k, "VEM"),
  `topicmodels, Gibbs` = function(split, k) of_topicmodels(split, k, "Gibbs", iter = 500, alpha = 0.1),
  `text2vec, .1, .1` = function(split, k) of_text2vec(split, k, 0.1, 0.1),
  `text2vec, .1, .01` = function(split, k) of_text2vec(split, k, 0.1, 0.01),
  fastTopics = of_fasttopics, stm = of_stm
)

# only: names of models; empty means all.
others <- function(only) {
  if (length(only)) models <- models[only]
  package <- ifelse(startsWith(names(models), "plsa"), "multicause", sub(",.*", "", names(models)))
  models <- models[vapply(package, requireNamespace, NA, quietly = TRUE)]
  row("table", "k", paste(names(models), collapse = " | "))
  row(paste(rep("---", length(models) + 2L), collapse = " | "))
  for (name in c("citations", "tetrapods", "NOW 2003", "400 posts", "news")) {
    split <- split_of(tables[[name]])
    for (k in c(5L, 20L, if (name %in% c("400 posts", "NOW 2003")) 100L)) {
      row(name, k, paste(vapply(models, function(model) {
        one <- common$measured({
          set.seed(3)
          quiet(model(split, k))
        })
        if (inherits(one, "try-error")) return("failed")
        sprintf("%s, %.1f s, %.0f MB", show(perplexity(split, one$value)), one$seconds, one$memory)
      }, ""), collapse = " | "))
    }
  }
}

# What is learnt of priors of .5 and .5.
learnt <- function() {
  share <- function(n, k) {
    drawn <- matrix(stats::rgamma(n * k, 0.5), n)
    drawn / rowSums(drawn)
  }
  row("seed", "vb: memberships", "basis", "gibbs: memberships", "basis")
  row("---", "---", "---", "---", "---")
  for (seed in 1:5) {
    set.seed(seed)
    p <- share(200, 5) %*% share(5, 40)
    x <- t(apply(p, 1L, function(q) stats::rmultinom(1L, 50, q)))
    fits <- list(
      plsa(x, 5, estimate = "vb", control = fit_control(n_start = 3, progress = FALSE)),
      quiet(plsa(x, 5, estimate = "gibbs", control = mcmc_control(1, 300, 50, progress = FALSE)))
    )
    row(seed, paste(vapply(fits, function(fit) {
      sprintf("%.2f | %.2f", mean(fit$prior$membership), fit$prior$basis)
    }, ""), collapse = " | "))
  }
}

if (part %in% c("estimates", "both")) estimates()
if (part == "learnt") learnt()
if (part %in% c("others", "both")) others(commandArgs(TRUE)[-1L])
