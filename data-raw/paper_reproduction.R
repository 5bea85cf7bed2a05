# The experiments of Bingham, Kaban & Fortelius (2009) on their data, for the article "Aspect Bernoulli: the paper,
# reproduced". The data are not part of the package: MULTICAUSE_DATA says where they are. Results go beside the article.
#   OPENBLAS_NUM_THREADS=1 Rscript data-raw/paper_reproduction.R [experiment ...]  (default: all; a quarter of an hour)
# Needs the package fastICA.
library(multicause)
source("data-raw/experiments.R")
recipes <- new.env()
sys.source("inst/examples/comparators.R", recipes)
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
shared <- function(...) file.path(folder, ...)
target <- "vignettes/articles/paper_reproduction.rds"
hush <- function(expr) suppressWarnings(suppressMessages(expr))
light <- fit_control(
  n_start = 3, n_finish = 1, n_polish = 0, max_iter = 400, tol = 1e-7, progress = FALSE, algorithm = "em"
)

restarts <- fit_control(
  n_start = 30, screen = FALSE, n_polish = 0, max_iter = 1000, tol = 1e-8, init = "free", progress = FALSE,
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

# The kind of every component, in the order of the parameters.
kinds_of <- function(fit) phantoms(fit)$kind[match(rownames(fit$param$aspects), phantoms(fit)$component)]

# As the paper fits it.
ml <- function(model) function(x, k, control) model(x, k, estimate = "ml", control = control)

rows_of <- function(x, ab, mixture, pca, folds) {
  one <- function(name, model, k) {
    set.seed(2) # common folds
    cv <- hush(cross_validate(x, k, stats::setNames(list(model), name), "rows", folds = folds, control = light))
    cv$results[c("model", "k", "loss", "se")]
  }
  rbind(
    one("aspect Bernoulli", ml(aspect_bernoulli), ab), one("Bernoulli mixture", ml(bernoulli_mixture), mixture),
    one("logistic PCA", logistic_pca, pca)
  )
}

# Eq. (24): the likelihood of PLSA, of presences alone, beside aspect Bernoulli's rows under the same rule.
shares_of <- function(x, ks, folds) {
  set.seed(2)
  fold <- sample(rep_len(seq_len(folds), nrow(x)))
  rows <- lapply(ks, function(k) {
    each <- vapply(seq_len(folds), function(f) {
      fit <- hush(plsa(x[fold != f, ], k, estimate = "ml", control = light))
      -attr(hush(test_loglik(fit, x[fold == f, ], family = "multinomial")), "mean")
    }, 0)
    data.frame(model = "PLSA", k, loss = mean(each), se = stats::sd(each) / sqrt(folds))
  })
  do.call(rbind, rows)
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

entropy_path <- function(x, k, iterations) {
  set.seed(4)
  plain <- fit_control(
    n_start = 1, screen = FALSE, n_polish = 0, accelerate = FALSE, tol = 0, max_iter = 1, progress = FALSE,
    algorithm = "em"
  )
  s <- matrix(stats::runif(nrow(x) * k), nrow(x))
  now <- list(membership = s / rowSums(s), aspects = matrix(stats::runif(k * ncol(x), 0.1, 0.9), k))
  path <- data.frame(iteration = seq_len(iterations), entropy = NA, loglik = NA)
  for (iteration in seq_len(iterations)) {
    fit <- hush(aspect_bernoulli(x, k, estimate = "ml", start = now, control = plain))
    now <- lapply(fit$param, unname)
    path$entropy[iteration] <- weighted_entropy(x, now$membership, now$aspects)
    path$loglik[iteration] <- fit$loglik
  }
  path
}

# How the restarts of a fit began, and how many of each kind found a white phantom.
found_by <- function(fit) {
  began <- fit$starts$init
  data.frame(
    init = sort(unique(began)), starts = c(table(began)), found = c(tapply(fit$starts$phantom, began, sum)),
    row.names = NULL
  )
}

# Age of every genus: the mean age of its sites.
genus_age <- as.vector(now$age %*% now$x / colSums(now$x))

# Figure 2 in coarse: the share of presences in 40 x 28 blocks of sites and genera, both by age.
diagonal_of <- function() {
  block <- function(age, blocks) ceiling(rank(-age, ties.method = "first") * blocks / length(age))
  sums <- rowsum(t(rowsum(now$x, block(now$age, 40))), block(genus_age, 28))
  sizes <- outer(tabulate(block(genus_age, 28)), tabulate(block(now$age, 40)))
  round(unname(sums / sizes), 3L)
}

# Quartiles of the ages of genera weighted by a component's probabilities, and how many genera that is worth.
weighted_ages <- function(a) {
  at <- order(genus_age)
  weight <- cumsum(a[at]) / sum(a)
  c(
    genus_age[at][vapply(c(0.05, 0.25, 0.5, 0.75, 0.95), function(p) which(weight >= p)[1L], 0L)],
    size = sum(a)^2 / sum(a^2)
  )
}

# Restarts that impose no phantom, most of them from mixtures (`by_start` counts); the best one's aspects by age.
# `others`: what the same number of components of the other models are, for the question whether any of them is blank.
ages_of <- function() {
  set.seed(5)
  fit <- hush(aspect_bernoulli(now$x, 4, estimate = "ml", control = restarts))
  kind <- kinds_of(fit)
  phantom <- which(kind == "white")
  content <- setdiff(1:4, phantom)
  a <- fit$param$aspects
  s <- fit$param$membership
  # Wilcoxon's test needs groups: each genus goes to the fauna where it is likeliest.
  likeliest <- content[max.col(t(a[content, ]), "first")]
  pairs <- utils::combn(content, 2L)
  few <- fit_control(n_start = 10, progress = FALSE, algorithm = "em")
  mixture <- hush(bernoulli_mixture(now$x, 4, estimate = "ml", control = few))
  topics <- hush(plsa(now$x, 4, estimate = "ml", control = few))
  parts <- hush(nmf(now$x, 4, control = few))
  logits <- hush(logistic_pca(now$x, 4, control = few))
  others <- list(
    `Bernoulli mixture` = mixture$param$prototypes, PLSA = topics$param$basis, NMF = parts$param$basis
  )
  list(
    found = sum(fit$starts$phantom[fit$starts$finished]), starts = nrow(fit$starts), by_start = found_by(fit),
    loglik = fit$loglik, largest = max(a[phantom, ]), weight = mean(rowSums(s[, phantom, drop = FALSE])), kind = kind,
    richness = stats::cor(rowSums(s[, phantom, drop = FALSE]), rowSums(now$x)),
    ages = apply(a[content, ], 1L, weighted_ages),
    tests = apply(pairs, 2L, function(two) {
      stats::wilcox.test(genus_age[likeliest == two[1L]], genus_age[likeliest == two[2L]], exact = FALSE)$p.value
    }),
    top = apply(a[content, ], 1L, function(a) names(sort(a, decreasing = TRUE))[1:6]),
    aspects = round(a, 3L), membership = round(unname(s), 3L), site_rank = rank(now$age, ties.method = "first"),
    genus_rank = rank(genus_age, ties.method = "first"), richness_of_sites = unname(rowSums(now$x)),
    correlation = apply(s, 2L, stats::cor, rowSums(now$x)),
    others = do.call(rbind, lapply(names(others), function(model) {
      part <- others[[model]]
      data.frame(model, t(apply(part, 1L, weighted_ages)), ratio = rowMeans(part) / mean(part), row.names = NULL)
    })),
    logits = range(logits$param$loadings)
  )
}

# Eqs. (33)-(35): which component made true ones, added ones and zeros. `of(k)`: posterior of component k in every cell.
shares_by <- function(planted, k, of, mean) {
  cells <- list(true_ones = planted$x == 1 & !planted$added, added_ones = planted$added, zeros = planted$x == 0)
  sums <- vapply(seq_len(k), function(c) vapply(cells, function(at) mean(of(c)[at]), 0), numeric(3))
  each <- sums / rowSums(sums)
  data.frame(component = seq_len(k), t(each), mean, row.names = NULL)
}
likeliest_of_ten <- fit_control(n_start = 10, n_finish = 10, screen = FALSE, progress = FALSE, algorithm = "em")

shares_by_aspects <- function(planted, ab) {
  q <- predict(ab, type = "cell")
  shares_by(planted, dim(q)[3L], function(c) q[, , c], unname(rowMeans(ab$param$aspects)))
}

shares_by_mixture <- function(planted, k) {
  mixture <- hush(bernoulli_mixture(planted$x, k, estimate = "ml", control = likeliest_of_ten))
  prototypes <- mixture$param$prototypes
  whole <- matrix(1, nrow(planted$x), ncol(planted$x))
  shares <- shares_by(planted, k, function(c) mixture$param$membership[, c] * whole, unname(rowMeans(prototypes)))
  cbind(shares, smallest = unname(apply(prototypes, 1L, min)), largest = unname(apply(prototypes, 1L, max)))
}

# Of the models that give every cell a cause: aspect Bernoulli, and with as many parameters the mixture and PLSA, each
# the likeliest of ten starts.
written_of <- function(planted, k, k_mixture) {
  ab <- hush(aspect_bernoulli(planted$x, k, estimate = "ml", control = fit_control(progress = FALSE, algorithm = "em")))
  mixture <- shares_by_mixture(planted, k_mixture)
  topics <- hush(plsa(planted$x, k, estimate = "ml", control = likeliest_of_ten))
  s <- topics$param$membership
  a <- topics$param$basis
  p <- pmax(s %*% a, 1e-300)
  list(
    ones = mean(planted$x), before = mean(planted$x == 1 & !planted$added),
    kind = kinds_of(ab),
    top = apply(ab$param$aspects, 1L, function(a) names(sort(a, decreasing = TRUE))[1:6]),
    AB = shares_by_aspects(planted, ab), MB = mixture,
    PLSA = shares_by(planted, k, function(c) outer(s[, c], a[c, ]) / p, NA)
  )
}

# Ones are added to a share of the rows, Uniform[0, 0.4].
add_to_some <- function(x, rows = 0.4) {
  corrupt(x, add = ifelse(stats::runif(nrow(x)) < rows, stats::runif(nrow(x), 0, 0.4), 0))
}

additions_of <- function() {
  set.seed(6)
  written_of(add_to_some(now$x), 5, 19)
}

# "Using K = 5 in MB would not result in a white phantom or a black phantom either": the same table.
additions_few_of <- function() {
  set.seed(6)
  shares_by_mixture(add_to_some(now$x), 5)
}

# Of the posts; 23 prototypes have as many parameters as 6 aspects.
words_added_of <- function() {
  set.seed(9)
  written_of(add_to_some(news), 6, 23)
}

# Noise removal rate 1 - (fp + fn) / 2 and the share of black pixels deleted, and the rate of five disjoint sets of
# images.
removal <- function(probability, planted) {
  one <- pmin(pmax(probability, 0), 1) > 0.5
  rate <- function(rows) {
    truth <- (planted$x == 1 | planted$omitted)[rows, ]
    x <- planted$x[rows, ]
    1 - (mean(one[rows, ][x == 0 & !truth]) + mean(!one[rows, ][x == 0 & truth])) / 2
  }
  part <- rep_len(1:5, nrow(one))
  c(
    removal = rate(seq_len(nrow(one))), lost = mean(!one[planted$x == 1]),
    se = stats::sd(vapply(1:5, function(p) rate(which(part == p)), 0)) / sqrt(5)
  )
}

corroded_digits <- function() {
  set.seed(7)
  corrupt(digits$x, omit = c(0, 0.4))
}

denoising_of <- function(ks) {
  planted <- corroded_digits()
  rows <- lapply(ks, function(k) {
    message("denoising, k = ", k)
    ab <- hush(aspect_bernoulli(planted$x, k, estimate = "ml", control = light))
    clean <- hush(denoise(ab, "white", keep = "replace"))$probability
    scores <- list(
      `aspect Bernoulli, phantom removed` = clean, `aspect Bernoulli` = fitted(ab),
      `Bernoulli mixture` = fitted(hush(bernoulli_mixture(planted$x, k, estimate = "ml", control = light))),
      `logistic PCA` = fitted(hush(logistic_pca(planted$x, k, control = light))),
      NMF = fitted(hush(nmf(planted$x, k, control = light))),
      PLSA = 1 - exp(-fitted(hush(plsa(planted$x, k, estimate = "ml", control = light)))),
      PCA = recipes$comparators$pca(planted$x, k)
    )
    out <- do.call(rbind, lapply(scores, removal, planted))
    data.frame(k = k, model = rownames(out), out, white = sum(phantoms(ab)$kind == "white"), row.names = NULL)
  })
  do.call(rbind, rows)
}

best_of_ten <- fit_control(
  n_start = 10, n_finish = 1, n_polish = 0, max_iter = 400, tol = 1e-7, progress = FALSE, algorithm = "em"
)

# The 14 basis images of every model, and of six images the posterior of every aspect in every pixel.
pictures_of <- function() {
  planted <- corroded_digits()
  ab <- hush(aspect_bernoulli(planted$x, 14, estimate = "ml", control = best_of_ten))
  bases <- list(
    AB = ab$param$aspects,
    MB = hush(bernoulli_mixture(planted$x, 14, estimate = "ml", control = best_of_ten))$param$prototypes,
    LPCA = hush(logistic_pca(planted$x, 14, control = light))$param$loadings,
    PLSA = hush(plsa(planted$x, 14, estimate = "ml", control = best_of_ten))$param$basis,
    NMF = hush(nmf(planted$x, 14, control = best_of_ten))$param$basis
  )
  q <- predict(ab, type = "cell")
  # Two of each, of six digits: images that one aspect explains, that two share, and that lost much; drawn at random.
  s <- ab$param$membership
  white <- which(kinds_of(ab) == "white")
  content <- s[, -white, drop = FALSE] / pmax(rowSums(s[, -white, drop = FALSE]), 1e-9)
  share <- apply(content, 1L, max)
  loss <- rowSums(planted$omitted) / pmax(rowSums(planted$x | planted$omitted), 1)
  shown <- integer()
  for (kind in rep(list(share > 0.8 & loss < 0.05, share < 0.55 & loss < 0.05, loss > 0.35), each = 2L)) {
    shown <- c(shown, sample(which(kind & !digits$label %in% digits$label[shown]), 1L))
  }
  by_phantom <- rowSums(q[, , white, drop = FALSE], dims = 2L)
  list(
    bases = lapply(bases, function(b) round(unname(b), 2L)), white = white, shown = shown,
    images = unname(planted$x[shown, ]), label = digits$label[shown], loss = loss[shown],
    posterior = round(unname(q[shown, , ]), 2L), share = round(unname(s[shown, ]), 2L),
    # The phantom's mean posterior in pixels that were turned off and in those that were white.
    phantom = c(off = mean(by_phantom[planted$omitted]), white = mean(by_phantom[planted$x == 0 & !planted$omitted]))
  )
}

# Black pixels are added (section 3.6.2.2, "not shown"): to all images or to 40 % of them. Of six images of different
# digits with many additions the posterior of every aspect in every pixel.
added_pixels_of <- function() {
  lapply(c(all = 1, some = 0.4), function(rows) {
    set.seed(10)
    planted <- add_to_some(digits$x, rows)
    ab <- hush(aspect_bernoulli(planted$x, 14, estimate = "ml", control = best_of_ten))
    q <- predict(ab, type = "cell")
    darkest <- which.max(rowMeans(ab$param$aspects))
    gain <- rowSums(planted$added) / rowSums(1 - digits$x)
    shown <- integer()
    for (i in 1:6) shown <- c(shown, sample(which(gain > 0.25 & !digits$label %in% digits$label[shown]), 1L))
    listed <- as.data.frame(phantoms(ab))
    list(
      ones = mean(planted$x), before = mean(digits$x), kind = kinds_of(ab), darkest = darkest,
      phantoms = listed[match(rownames(ab$param$aspects), listed$component), ],
      AB = shares_by_aspects(planted, ab), bases = round(unname(ab$param$aspects), 2L), shown = shown,
      images = unname(planted$x[shown, ]), label = digits$label[shown], gain = gain[shown],
      posterior = round(unname(q[shown, , ]), 2L), share = round(unname(ab$param$membership[shown, ]), 2L),
      # The darkest aspect's mean posterior in black pixels that were added and in those of the digit.
      black = c(added = mean(q[, , darkest][planted$added]), own = mean(q[, , darkest][digits$x == 1]))
    )
  })
}

words_of <- function() {
  set.seed(8)
  fit <- hush(aspect_bernoulli(news, 5, estimate = "ml", control = restarts))
  kind <- kinds_of(fit)
  s <- fit$param$membership
  q <- predict(fit, type = "cell")
  white <- which(kind == "white")
  content <- setdiff(seq_along(kind), white)
  rich <- rowSums(news)
  # Table 2: the three documents of 8 to 15 words that topics share most evenly, of different threads (at most half of
  # the words in common).
  evenness <- apply(s[, content], 1L, function(w) -sum(ifelse(w > 0, w / sum(w) * log(w / sum(w)), 0)))
  mixed <- integer()
  for (i in order(-evenness * (rich >= 8 & rich <= 15))) {
    if (length(mixed) < 3L && all(news[mixed, , drop = FALSE] %*% news[i, ] <= rich[i] / 2)) mixed <- c(mixed, i)
  }
  causes <- lapply(mixed, function(i) {
    words <- which(news[i, ] == 1)
    data.frame(word = colnames(news)[words], round(matrix(q[i, words, ], length(words)), 2L))
  })
  # Table 3: ten documents at random; the zeros that the phantom explains with the highest probability.
  missed <- lapply(sort(sample(which(rich >= 2), 10L)), function(i) {
    absent <- which(news[i, ] == 0)
    by_phantom <- rowSums(matrix(q[i, absent, white], length(absent)))
    top <- order(-by_phantom)[1:8]
    list(
      present = colnames(news)[news[i, ] == 1],
      missed = sprintf("%s %.2f", colnames(news)[absent[top]], by_phantom[top])
    )
  })
  list(
    mass = colSums(s), kind = kind, found = sum(fit$starts$phantom), starts = nrow(fit$starts),
    by_start = found_by(fit),
    words = apply(fit$param$aspects, 1L, function(a) {
      top <- sort(a, decreasing = TRUE)[1:8]
      sprintf("%s %.2f", names(top), top)
    }),
    membership = round(unname(s), 3L), richness = rich, correlation = apply(s, 2L, stats::cor, rich),
    mixed = mixed, causes = causes, missed = missed
  )
}

# Zeros between the first and the last site of a genus, before and after rounding, by 50 starts of each model ("optimal
# among 50 random initialisations"; aspect Bernoulli from uniform random numbers): what is replaced, what is only added.
# `picked` by the objective, and by the outcome itself.
once <- fit_control(
  n_start = 1, screen = FALSE, n_polish = 0, max_iter = 2000, tol = 1e-8, progress = FALSE, algorithm = "em"
)
uniform_start <- function(x, k) {
  s <- matrix(stats::runif(nrow(x) * k), nrow(x))
  list(membership = s / rowSums(s), aspects = matrix(stats::runif(k * ncol(x)), k))
}

# 501 sites have 63 ages, so a count "in the order of age" hangs on the order of sites of one age: as they stand in the
# file, the reverse of it, or any other. `strict`: only sites of another age than the first and the last presence.
file_order <- seq_len(nrow(now$x))
reverse_ties <- order(-now$age, -file_order) # the file runs from old to young
random_ties <- local({
  set.seed(1)
  lapply(1:100, function(i) sample(nrow(now$x)))
})
count_gaps <- function(x, rows = file_order, ties = "order") sum(range_through(x[rows, ], now$age[rows], ties = ties))
gaps_before <- c(
  kept = count_gaps(now$x), reverse = count_gaps(now$x, reverse_ties), strict = count_gaps(now$x, ties = "exclude")
)
decreases <- function(one) {
  kept <- (one | now$x == 1) + 0
  data.frame(
    replaced = gaps_before[["kept"]] - count_gaps(one + 0), kept = gaps_before[["kept"]] - count_gaps(kept),
    reverse = gaps_before[["reverse"]] - count_gaps(kept, reverse_ties),
    strict = gaps_before[["strict"]] - count_gaps(kept, ties = "exclude"), deleted = sum(!one & now$x == 1)
  )
}

# `bare`: sites that the fit takes for phantom alone, which denoise() fills with the mean of the table, and how much the
# gaps decrease if these are left as they were.
gaps_without_phantom <- function(ab) {
  clean <- denoise(ab, "white", keep = "replace")
  one <- clean$probability > 0.5
  bare <- rownames(now$x) %in% clean$all_phantom
  left <- one | now$x == 1
  left[bare, ] <- now$x[bare, ] == 1
  list(one = one, bare = data.frame(
    bare = sum(bare), filled = sum(one[bare, ] & now$x[bare, ] == 0),
    unfilled = gaps_before[["kept"]] - count_gaps(left + 0)
  ))
}

gaps_of <- function(n_start = 50L) {
  best <- list() # of each model and k the reconstruction with the largest decrease
  scored <- function(model, k, start, fit, one, bare = data.frame(bare = NA, filled = NA, unfilled = NA)) {
    row <- data.frame(model, k, start, objective = fit$objective[[1L]], decreases(one), bare)
    name <- paste(model, k)
    if (is.null(best[[name]]) || best[[name]]$kept < row$kept) {
      best[[name]] <<- list(kept = row$kept, model = model, k = k, one = one)
    }
    row
  }
  as_shown <- function(fit) if (inherits(fit, "plsa")) 1 - exp(-fitted(fit)) else fitted(fit)
  models <- list(MB = ml(bernoulli_mixture), LPCA = logistic_pca, NMF = nmf, PLSA = ml(plsa))
  sizes <- list(MB = c(4, 19), LPCA = 4, NMF = 4:5, PLSA = 4:5)
  rows <- lapply(seq_len(n_start), function(start) {
    set.seed(900 + start)
    ab <- hush(aspect_bernoulli(now$x, 4, estimate = "ml", start = uniform_start(now$x, 4), control = once))
    others <- lapply(names(models), function(name) {
      lapply(sizes[[name]], function(k) {
        fit <- hush(models[[name]](now$x, k, control = once))
        scored(name, k, start, fit, as_shown(fit) > 0.5)
      })
    })
    do.call(rbind, c(list(
      if (any(phantoms(ab)$kind == "white")) {
        without <- gaps_without_phantom(ab)
        scored("AB, phantom removed", 4, start, ab, without$one, without$bare)
      },
      scored("AB", 4, start, ab, fitted(ab) > 0.5)
    ), unlist(others, FALSE)))
  })
  list(
    before = gaps_before, ages = length(unique(now$age)), starts = do.call(rbind, rows),
    random = do.call(rbind, c(lapply(best, by_order), make.row.names = FALSE))
  )
}

by_order <- function(fit) {
  kept <- (fit$one | now$x == 1) + 0
  data.frame(model = fit$model, k = fit$k, order = seq_along(random_ties),
    kept = vapply(random_ties, function(rows) count_gaps(now$x, rows) - count_gaps(kept, rows), 0L))
}

# The same of PCA, which needs no start.
gaps_pca_of <- function() {
  one <- recipes$comparators$pca(now$x, 4) > 0.5
  list(
    starts = data.frame(model = "PCA", k = 4, start = 1L, objective = 0, decreases(one), bare = NA, filled = NA,
      unfilled = NA),
    random = by_order(list(model = "PCA", k = 4, one = one))
  )
}

# Of the corroded digits: loadings of PCA, the basis images of ICA (package fastICA), by how far they spread, and the
# largest difference between what the two rebuild.
bases_pca_of <- function() {
  x <- corroded_digits()$x
  pca <- stats::prcomp(x, rank. = 14)
  set.seed(8)
  ica <- fastICA::fastICA(x, 14)
  set.seed(8)
  apart <- max(abs(recipes$comparators$pca(x, 14) - recipes$comparators$ica(x, 14)))
  scaled <- function(b) round(unname(b / apply(abs(b), 1L, max)), 2L)
  list(PCA = scaled(t(pca$rotation)), ICA = scaled(ica$A[order(-rowSums(ica$A^2)), ]), apart = apart)
}

# "Randomly initialised restarts", all from uniform random numbers: how many of 30 found a white phantom, five times.
uniform_restarts <- function() {
  found <- function(x, k) {
    vapply(1:5, function(seed) {
      set.seed(700 + seed)
      sum(replicate(30, {
        fit <- hush(aspect_bernoulli(x, k, estimate = "ml", start = uniform_start(x, k), control = once))
        any(kinds_of(fit) == "white")
      }))
    }, 0L)
  }
  list(fossils = found(now$x, 4), posts = found(news, 5))
}

# Losses of single folds about the best number of aspects of Figure 3, for three divisions into folds.
overfit_of <- function() {
  do.call(rbind, lapply(2:4, function(seed) {
    set.seed(seed)
    cv <- hush(cross_validate(
      now$x, c(8, 12, 16, 24, 32), ml(aspect_bernoulli), "rows", folds = 10, control = light
    ))
    data.frame(division = seed, k = cv$results$k[cv$folds$setting], cv$folds[c("fold", "loss")])
  }))
}

# Footnote 6: eq. (32) with the length L averaged over n to an upper limit, n the genera of the site, instead of L = n
# (`limit` 0; a limit below n leaves L = n). The probability is 1 - (1 - p)^L.
lengths_of <- function(limits = c(0, 10, 20, 30, 40, 50, 60, 80, 100, 139), n_start = 50L) {
  ones <- rowSums(now$x)
  rows <- lapply(seq_len(n_start), function(start) {
    set.seed(2000 + start)
    lapply(4:5, function(k) {
      fit <- hush(plsa(now$x, k, estimate = "ml", control = once))
      absent <- 1 - pmin(fit$param$membership %*% fit$param$basis, 1)
      each <- lapply(limits, function(limit) {
        # The mean of absent^L over L = n, ..., last.
        last <- pmax(limit, ones)
        power <- absent^ones
        mean_power <- power
        for (more in seq_len(max(last - ones))) {
          power <- power * absent
          mean_power <- mean_power + power * (ones + more <= last)
        }
        one <- 1 - mean_power / (last - ones + 1) > 0.5
        data.frame(k, start, limit, objective = fit$objective[[1L]], decreases(one))
      })
      do.call(rbind, each)
    })
  })
  do.call(rbind, unlist(rows, FALSE))
}

experiments <- list(
  rows_now = function() rows_of(now$x, c(1, 2, 3, 4, 6, 8, 12, 16, 24, 32), c(1, 2, 4, 8, 16, 32), c(1, 2, 4, 8), 10),
  rows_news = function() rows_of(news, c(1, 2, 4, 5, 6, 8, 12), c(1, 2, 4, 8, 12), c(1, 2, 4, 8), 10),
  rows_digits = function() rows_of(digits$x, c(2, 5, 10, 15, 20), c(2, 5, 10, 20, 40), c(1, 2, 5, 10), 5),
  aic_now = function() aic_of(now$x, 1:8),
  aic_news = function() aic_of(news, 1:8),
  aic_digits = function() aic_of(digits$x, c(5, 8, 10, 12, 13, 14, 15, 16, 18, 20)),
  shares_now = function() shares_of(now$x, c(1, 2, 4, 8, 16, 32), 10),
  shares_news = function() shares_of(news, c(1, 2, 4, 8, 16), 10),
  shares_digits = function() shares_of(digits$x, c(2, 5, 10, 20, 40), 5),
  entropy = function() entropy_path(now$x, 4, 150L),
  entropy_news = function() entropy_path(news, 5, 150L),
  entropy_digits = function() entropy_path(digits$x, 15, 150L),
  overfit = overfit_of, diagonal = diagonal_of, ages = ages_of, words = words_of,
  uniform_restarts = uniform_restarts, gaps = gaps_of, gaps_pca = gaps_pca_of, lengths = lengths_of,
  additions = additions_of, additions_few = additions_few_of, words_added = words_added_of,
  denoising = function() denoising_of(c(5, 10, 14, 20)), pictures = pictures_of, bases_pca = bases_pca_of,
  added_pixels = added_pixels_of
)

run_experiments(experiments, target)
