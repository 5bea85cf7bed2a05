# The experiments of Bingham, Kaban & Fortelius (2009) on their data, for the article "The paper, reproduced". The data
# are not part of the package: MULTICAUSE_DATA says where they are. Results go beside the article.
#   Rscript data-raw/paper_reproduction.R [experiment ...]     (default: all; takes about an hour on one core)
library(multicause)
blas_serial <- getNamespace("multicause")$blas_threads(1L)
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
shared <- function(...) file.path(folder, ...)
target <- "vignettes/articles/paper_reproduction.rds"
hush <- function(expr) suppressWarnings(suppressMessages(expr))
light <- fit_control(
  n_start = 3, n_finish = 1, n_polish = 0, max_pass = 400, tol = 1e-7, progress = FALSE, algorithm = "em"
)

restarts <- fit_control(
  n_start = 30, screen = FALSE, n_polish = 0, max_pass = 1000, tol = 1e-8, init = "free", progress = FALSE,
  algorithm = "em"
)

now <- local({
  occ <- utils::read.csv(shared("now_2003", "g10s2_occ.csv"))
  sites <- utils::read.csv(shared("now_2003", "g10s2_sites.csv"))
  genera <- utils::read.csv(shared("now_2003", "g10s2_genera.csv"))
  x <- matrix(0, nrow(sites), nrow(genera), dimnames = list(make.unique(sites$site), genera$genus))
  x[cbind(occ$site_id, occ$genus_id)] <- 1
  list(x = x, age = sites$age_ma)
})

# The first 100 stems; documents without any of them are left out, as in the paper (350 remain).
news <- local({
  words <- utils::read.csv(shared("newsgroups4", "ng400_triplets.csv.gz"))
  terms <- utils::read.csv(shared("newsgroups4", "ng400_terms.csv"))
  x <- matrix(0, 400, nrow(terms), dimnames = list(NULL, terms$stem))
  x[cbind(words$doc_id, words$term_id)] <- 1
  x <- x[, 1:100]
  x[rowSums(x) > 0, ]
})

digits <- local({
  pixels <- utils::read.csv(shared("uci_mfeat_pix", "mfeat_pix.csv.gz"))
  list(x = unname(as.matrix(pixels[, -1L]) >= 4) + 0, label = pixels$label)
})

# As the paper fits it.
ml <- function(model) function(x, k, control) model(x, k, estimate = "ml", control = control)

rows_of <- function(x, ab, mixture, pca, folds) {
  one <- function(name, model, k) {
    set.seed(2) # common folds
    cv <- hush(cross_validate(x, stats::setNames(list(model), name), k, "rows", folds = folds, control = light))
    cv$results[c("model", "k", "loss", "se")]
  }
  rbind(
    one("aspect Bernoulli", ml(aspect_bernoulli), ab), one("Bernoulli mixture", ml(bernoulli_mixture), mixture),
    one("logistic PCA", logistic_pca, pca)
  )
}

aic_of <- function(x, k) {
  set.seed(3)
  chosen <- hush(select_k(x, k, aspect_bernoulli, "aic_paper", estimate = "ml", control = light))
  data.frame(k = chosen$table$k, aic_paper = chosen$table$value)
}

# Weighted entropy, eq. (31): m sum H(s) + sum over components and attributes of H(a) times the cells written.
weighted_entropy <- function(x, s, a) {
  h <- function(p) ifelse(p > 0, -p * log(p), 0)
  p <- s %*% a
  written <- a * crossprod(s, x / p) + (1 - a) * crossprod(s, (1 - x) / (s %*% (1 - a)))
  ncol(x) * sum(h(s)) + sum((h(a) + h(1 - a)) * written)
}

entropy_path <- function(x, k, passes) {
  set.seed(4)
  plain <- fit_control(
    n_start = 1, screen = FALSE, n_polish = 0, accelerate = FALSE, tol = 0, max_pass = 1, progress = FALSE,
    algorithm = "em"
  )
  s <- matrix(stats::runif(nrow(x) * k), nrow(x))
  now <- list(membership = s / rowSums(s), aspects = matrix(stats::runif(k * ncol(x), 0.1, 0.9), k))
  path <- data.frame(pass = seq_len(passes), entropy = NA, loglik = NA)
  for (pass in seq_len(passes)) {
    fit <- hush(aspect_bernoulli(x, k, estimate = "ml", start = now, control = plain))
    now <- lapply(fit$param, unname)
    path$entropy[pass] <- weighted_entropy(x, now$membership, now$aspects)
    path$loglik[pass] <- fit$loglik
  }
  path
}

# Restarts that impose no phantom, half from mixtures and half from random numbers; the best one's aspects by age.
ages_of <- function() {
  set.seed(5)
  fit <- hush(aspect_bernoulli(now$x, 4, estimate = "ml", control = restarts))
  phantom <- which(phantoms(fit)$kind[order(phantoms(fit)$component)] == "white")
  genus_age <- as.vector(now$age %*% now$x / colSums(now$x))
  ages <- vapply(setdiff(1:4, phantom), function(c) {
    at <- order(genus_age)
    weight <- cumsum(fit$param$aspects[c, at]) / sum(fit$param$aspects[c, ])
    genus_age[at][vapply(c(0.25, 0.5, 0.75), function(p) which(weight >= p)[1L], 0L)]
  }, numeric(3))
  share <- rowSums(fit$param$membership[, phantom, drop = FALSE])
  list(
    found = sum(fit$starts$phantom[fit$starts$finished]), starts = nrow(fit$starts), loglik = fit$loglik,
    largest = max(fit$param$aspects[phantom, ]), weight = mean(share),
    richness = stats::cor(share, rowSums(now$x)), ages = ages,
    top = apply(fit$param$aspects[setdiff(1:4, phantom), ], 1L, function(a) names(sort(a, decreasing = TRUE))[1:6])
  )
}

# Eqs. (33)-(35): which component wrote true ones, added ones and zeros.
additions_of <- function() {
  set.seed(6)
  rate <- ifelse(stats::runif(501) < 0.4, stats::runif(501, 0, 0.4), 0)
  planted <- corrupt(now$x, add = rate)
  control <- fit_control(progress = FALSE, algorithm = "em")
  fit <- hush(aspect_bernoulli(planted$x, 5, estimate = "ml", control = control))
  q <- predict(fit, type = "cell")
  share <- function(cells) {
    each <- vapply(1:5, function(c) mean(q[, , c][cells]), 0)
    each / sum(each)
  }
  kinds <- phantoms(fit)
  list(
    ones = mean(planted$x), kind = kinds$kind[order(kinds$component)],
    mean = unname(rowMeans(fit$param$aspects)), true_ones = share(planted$x == 1 & !planted$added),
    added_ones = share(planted$added), zeros = share(planted$x == 0)
  )
}

removal <- function(probability, planted) {
  found <- recovery(pmin(pmax(probability, 0), 1), planted)$summary
  c(removal = found$removal, lost = found$lost)
}

denoising_of <- function(ks) {
  set.seed(7)
  planted <- corrupt(digits$x, omit = c(0, 0.4))
  rows <- lapply(ks, function(k) {
    message("denoising, k = ", k)
    ab <- hush(aspect_bernoulli(planted$x, k, estimate = "ml", control = light))
    clean <- hush(denoise(ab, "white", "replace"))$probability
    scores <- list(
      `aspect Bernoulli, phantom removed` = clean, `aspect Bernoulli` = fitted(ab),
      `Bernoulli mixture` = fitted(hush(bernoulli_mixture(planted$x, k, estimate = "ml", control = light))),
      `logistic PCA` = fitted(hush(logistic_pca(planted$x, k, control = light))),
      NMF = fitted(hush(nmf(planted$x, k, control = light))),
      PLSA = 1 - exp(-fitted(hush(plsa(planted$x, k, control = light))))
    )
    out <- do.call(rbind, lapply(scores, removal, planted))
    data.frame(k = k, model = rownames(out), out, white = sum(phantoms(ab)$kind == "white"), row.names = NULL)
  })
  do.call(rbind, rows)
}

bases_of <- function() {
  set.seed(7)
  planted <- corrupt(digits$x, omit = c(0, 0.4))
  ab <- hush(aspect_bernoulli(planted$x, 14, estimate = "ml", control = light))
  round(rbind(
    ab$param$aspects, bernoulli_mixture(planted$x, 14, estimate = "ml", control = light)$param$prototypes
  ), 3L)
}

words_of <- function() {
  set.seed(8)
  fit <- hush(aspect_bernoulli(news, 5, estimate = "ml", control = restarts))
  list(
    mass = colSums(fit$param$membership), kind = phantoms(fit)$kind[order(phantoms(fit)$component)],
    found = sum(fit$starts$phantom), starts = nrow(fit$starts),
    words = apply(fit$param$aspects, 1L, function(a) {
      top <- sort(a, decreasing = TRUE)[1:8]
      sprintf("%s %.2f", names(top), top)
    })
  )
}

# Zeros between the first and the last site of a genus, before and after rounding, by 50 starts of each model ("optimal
# among 50 random initialisations"; aspect Bernoulli from uniform random numbers): what is replaced, what is only added.
# `picked` by the objective, and by the outcome itself.
gaps_of <- function(n_start = 50L) {
  once <- fit_control(
    n_start = 1, screen = FALSE, n_polish = 0, max_pass = 2000, tol = 1e-8, progress = FALSE, algorithm = "em"
  )
  uniform <- function(k) {
    s <- matrix(stats::runif(nrow(now$x) * k), nrow(now$x))
    list(membership = s / rowSums(s), aspects = matrix(stats::runif(k * ncol(now$x)), k))
  }
  gaps <- function(x) sum(range_through(x, now$age, ties = "order"))
  before <- gaps(now$x)
  scored <- function(model, k, start, fit, p) {
    data.frame(
      model, k, start, objective = fit$objective[[1L]], replaced = before - gaps((p > 0.5) + 0),
      kept = before - gaps(((p > 0.5) | now$x == 1) + 0), deleted = sum(p <= 0.5 & now$x == 1)
    )
  }
  as_shown <- function(fit) if (inherits(fit, "plsa")) 1 - exp(-fitted(fit)) else fitted(fit)
  models <- list(MB = bernoulli_mixture, LPCA = logistic_pca, NMF = nmf, PLSA = plsa)
  sizes <- list(MB = c(4, 19), LPCA = 4, NMF = 4:5, PLSA = 4:5)
  rows <- lapply(seq_len(n_start), function(start) {
    set.seed(900 + start)
    ab <- hush(aspect_bernoulli(now$x, 4, estimate = "ml", start = uniform(4), control = once))
    others <- lapply(names(models), function(name) {
      lapply(sizes[[name]], function(k) {
        fit <- hush(models[[name]](now$x, k, control = once))
        scored(name, k, start, fit, as_shown(fit))
      })
    })
    do.call(rbind, c(list(
      if (any(phantoms(ab)$kind == "white")) {
        scored("AB, phantom removed", 4, start, ab, denoise(ab, "white", "replace")$probability)
      },
      scored("AB", 4, start, ab, fitted(ab))
    ), unlist(others, FALSE)))
  })
  list(before = before, starts = do.call(rbind, rows))
}

experiments <- list(
  rows_now = function() rows_of(now$x, c(1, 2, 3, 4, 6, 8, 12, 16, 24, 32), c(1, 2, 4, 8, 16, 32), c(1, 2, 4, 8), 10),
  rows_news = function() rows_of(news, c(1, 2, 4, 5, 6, 8, 12), c(1, 2, 4, 8, 12), c(1, 2, 4, 8), 10),
  rows_digits = function() rows_of(digits$x, c(2, 5, 10, 15, 20), c(2, 5, 10, 20, 40), c(1, 2, 5, 10), 5),
  aic_now = function() aic_of(now$x, 1:8),
  aic_news = function() aic_of(news, 1:8),
  aic_digits = function() aic_of(digits$x, c(5, 8, 10, 12, 13, 14, 15, 16, 18, 20)),
  entropy = function() entropy_path(now$x, 4, 150L),
  ages = ages_of, additions = additions_of, denoising = function() denoising_of(c(5, 10, 14, 20)), bases = bases_of,
  words = words_of, gaps = gaps_of
)

wanted <- commandArgs(TRUE)
if (!length(wanted)) wanted <- names(experiments)
results <- if (file.exists(target)) readRDS(target) else list()
dir.create(dirname(target), showWarnings = FALSE, recursive = TRUE)
for (name in wanted) {
  time <- system.time(results[[name]] <- experiments[[name]]())[["elapsed"]]
  message(sprintf("%s: %.0f s", name, time))
  saveRDS(results, target, version = 2L)
}
