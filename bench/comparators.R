# Comparison of models of this package and of others: two parts, each with its results in bench/comparators.md.
#   tables  all models under one protocol, compare_models(), on ten tables: held-out cells, planted omissions, seconds
#   speed   bernoulli_mixture(), logistic_pca() and nmf() beside packages of the same models: the same data, the same
#           start where the peer takes one, one thread. A peer runs to its stopping rule; ours runs to its own,
#           and is timed up to the iteration where it reached the peer's objective.
# Packages that are not installed are skipped, and so are missing tables.
#   OMP_NUM_THREADS=1 Rscript bench/comparators.R tables [model ...]
#   Rscript bench/comparators.R speed [repeats = 3]
# The tables also go to vignettes/articles/comparators.rds, for the article. Of models that are named, rows there are
# replaced or added: the cells held out do not depend on the models compared.
library(multicause)
here <- if (file.exists("bench/common.R")) "bench" else "."
common <- new.env()
sys.source(file.path(here, "common.R"), common)
recipes <- new.env()
sys.source(system.file("examples", "comparators.R", package = "multicause"), recipes)
part <- c(commandArgs(TRUE), "tables")[1L]
hush <- function(expr) suppressWarnings(suppressMessages(expr))

# Light settings for all models of this package; k is chosen by held-out cells, among the same numbers for all.
light <- fit_control(n_start = 2, n_polish = 0, max_iter = 300, tol = 1e-7, progress = FALSE)
sizes <- c(3L, 8L)
sizes_of <- list(gllvm = 3L, Hmsc = 3L) # for time: with 8 factors, a fit of gllvm takes six times as long
own <- list(
  aspect_bernoulli = aspect_bernoulli, bernoulli_mixture = bernoulli_mixture, logistic_pca = logistic_pca,
  noisy_or = noisy_or,
  `noisy_or, recorded` = function(x, k, control) noisy_or(x, k, missed_by = "site", control = control),
  plsa = plsa, `plsa, ML` = function(x, k, control) plsa(x, k, estimate = "ml", control = control), nmf = nmf,
  bmf = function(x) bmf(x, control = mcmc_control(chains = 1, warmup = 150, draws = 250, progress = FALSE)),
  neighbours_mean = function(x, control) neighbours_mean(x),
  ensemble = function(x) fitted(ensemble(x)),
  `taxon means` = function(x) matrix(colMeans(x, na.rm = TRUE), nrow(x), ncol(x), byrow = TRUE)
)
# The which_zeros() result, from the table alone. Its presences are not ranked; a taxon found at no site, which it does
# not judge, gets half a presence.
own[["which_zeros()"]] <- function(x) {
  probability <- fitted(which_zeros(x, control = fit_control(progress = FALSE)))
  replace(probability, is.na(probability), ifelse(x[is.na(probability)] %in% 1, 1, 0.5 / nrow(x)))
}
# ICA gives the same cells as PCA. DarkDiv's numbers are not probabilities of a presence, so their loss means little.
others <- c(
  pca = "PCA, ICA", lda = "LDA (topicmodels)", soft = "softImpute", reco = "recosystem", lca = "latent classes (poLCA)",
  gllvm = "gllvm", hmsc = "Hmsc", lfjsdm = "lfJSDM (spOccupancy)", beals = "beals() (vegan)",
  dark = "DarkDiv", forest = "forests (ranger)"
)
needs <- c(
  lda = "topicmodels", soft = "softImpute", reco = "recosystem", lca = "poLCA", lfjsdm = "spOccupancy", beals = "vegan",
  dark = "DarkDiv", forest = "ranger"
)

from_vegan <- function(name) {
  here <- new.env()
  utils::data(list = name, package = "vegan", envir = here)
  (as.matrix(here[[name]]) > 0) + 0
}
long_table <- function(folder, file) {
  long <- utils::read.csv(common$shared(folder, file))
  x <- matrix(0, length(unique(long[[1L]])), length(unique(long[[2L]])))
  x[cbind(match(long[[1L]], unique(long[[1L]])), match(long[[2L]], unique(long[[2L]])))] <- 1
  x
}
# At most 250 rows, evenly spaced, with the columns present in at least three of them.
in_size <- function(x) {
  x <- unname(as.matrix(x)) + 0
  x <- x[round(seq(1, nrow(x), length.out = min(nrow(x), 250L))), ]
  x <- x[, colSums(x) >= 3]
  x[rowSums(x) > 0, ]
}
tables <- list(
  `early tetrapods` = function() multicause::early_tetrapods$x,
  `mammals, g10s2` = function() common$read_fossils("g10s2")$x,
  `mammals, North America` = function() common$read_fossils("nam_large", "now_2020_nam")$x,
  Turkana = function() long_table("turkana", "turkana_counts.csv"),
  `simulated sites` = function() multicause::simulated_sites$x,
  `birds, one visit` = function() common$read_birds()$seen[, , 1L],
  dune = function() from_vegan("dune"), mites = function() from_vegan("mite"),
  `tropical trees` = function() from_vegan("BCI"),
  `100 words` = function() long_table("newsgroups4", "ng400_triplets.csv.gz")[, 1:100]
)

# Limit of CPU time for all fits of one model to one table: a fit that exceeds it is an error, and the model has no
# numbers for that table. Each fit has a separate process, because some packages crash on some tables.
minutes <- 20
too_late <- "not within the time"
within_time <- function(model) {
  left <- 60 * minutes
  timed <- function(...) {
    if (left <= 0) stop(too_late)
    one <- common$measured({
      setTimeLimit(cpu = left)
      try(model(...), silent = TRUE)
    })
    if (is.null(one)) stop("its process crashed")
    left <<- left - one$seconds
    if (left <= 0) stop(too_late)
    if (inherits(one$value, "try-error")) stop(attr(one$value, "condition"))
    one$value
  }
  if ("k" %in% names(formals(model))) function(x, k) timed(x, k) else function(x) timed(x)
}

# only: names of models; none means all.
compare_on <- function(name, only) {
  x <- common$if_there(in_size(tables[[name]]()))
  if (is.null(x)) return(NULL)
  missing <- names(needs)[!vapply(needs, requireNamespace, NA, quietly = TRUE)]
  if (length(missing)) message("Skipped: ", paste(needs[missing], collapse = ", "))
  used <- others[setdiff(names(others), missing)]
  models <- c(own, lapply(stats::setNames(recipes$comparators[names(used)], used), within_time))
  if (length(only)) models <- models[only]
  set.seed(9501)
  sizes <- utils::modifyList(lapply(models, function(model) sizes), sizes_of[intersect(names(models), names(sizes_of))])
  compared <- tryCatch(
    hush(compare_models(x, sizes, models, c("cells", "omissions"), folds = 3, control = light)),
    error = function(e) message(name, ": ", conditionMessage(e))
  )
  if (is.null(compared)) return(NULL)
  message(paste(utils::capture.output(print(compared)), collapse = "\n"))
  values <- compared$table[c("model", "k", "cells", "auc", "auc_within", "ap", "seconds")]
  failed <- rbind(compared$cells$failed, compared$omissions$failed)
  values[values$model %in% failed$model[failed$message == too_late], -1L] <- NA
  data.frame(data = name, n = nrow(x), m = ncol(x), ones = mean(x), values)
}

compare_tables <- function(only) {
  file <- file.path(here, "..", "vignettes", "articles", "comparators.rds")
  all <- if (length(only)) readRDS(file)
  for (name in names(tables)) {
    new <- compare_on(name, only)
    all <- rbind(all[!(paste(all$data, all$model) %in% paste(new$data, new$model)), ], new)
    all <- all[order(match(all$data, names(tables))), ]
    saveRDS(all, file, version = 2L)
  }
  for (what in c("cells", "auc", "ap", "seconds")) {
    wide <- tapply(all[[what]], list(all$model, factor(all$data, unique(all$data))), mean)
    cat("\n", what, "\n\n", sep = "")
    wide <- cbind(wide, mean = rowMeans(wide, na.rm = TRUE))
    print(signif(wide[order(wide[, "mean"]), ], 3L))
  }
}

if (part == "tables") {
  compare_tables(commandArgs(TRUE)[-1L])
  quit("no")
}
repeats <- as.integer(c(commandArgs(TRUE)[-1L], "3")[1L])

set.seed(1)
x <- common$if_there(common$read_fossils("g10s2")$x)
if (is.null(x)) quit("no")
name <- "now_2003 g10s2"
n <- nrow(x)
m <- ncol(x)
dimnames(x) <- list(paste0("s", seq_len(n)), paste0("g", seq_len(m)))
cat(sprintf("%s: %d x %d, density %.4f; one thread; medians of %d runs\n\n", name, n, m, mean(x), repeats))
one <- fit_control(n_start = 1, screen = FALSE, n_polish = 0, progress = FALSE)

results <- NULL
# peer(): its objective (larger is better); ours(): a fit whose trace is on the same scale.
race <- function(package, task, ours, peer) {
  if (!requireNamespace(package, quietly = TRUE)) {
    message(package, " is not installed: skipped")
    return(invisible())
  }
  clock <- function(f) {
    runs <- lapply(seq_len(repeats), function(i) {
      time <- sum(system.time(value <- hush(f()))[1:2]) # CPU time: the machine may be busy
      list(time = time, value = value)
    })
    list(time = stats::median(vapply(runs, function(r) r$time, 0)), value = runs[[1L]]$value)
  }
  theirs <- clock(peer)
  mine <- clock(ours)
  trace <- mine$value$trace$objective
  # Other starting values may lead to another optimum that never reaches the peer's: then our whole run counts.
  hit <- which(trace >= theirs$value - 1e-9 * abs(theirs$value))[1L]
  if (is.na(hit)) hit <- length(trace)
  to_theirs <- mine$time * hit / length(trace)
  results <<- rbind(results, data.frame(
    package, task, peer_objective = theirs$value, our_objective = unname(mine$value$objective),
    peer_seconds = theirs$time, our_seconds = mine$time, seconds_to_theirs = to_theirs,
    times_faster = theirs$time / to_theirs, times_faster_converged = theirs$time / mine$time
  ))
}

# Bernoulli mixtures, k = 4, from the same memberships.
k <- 4L
soft <- matrix(stats::rexp(n * k), n, k)
soft <- soft / rowSums(soft)
mixture <- list(weights = colMeans(soft), prototypes = t(soft) %*% x / colSums(soft))
fit_mixture <- function() bernoulli_mixture(x, k, estimate = "ml", start = lapply(mixture, unname), control = one)
race("flexmix", "Bernoulli mixture, k = 4", fit_mixture, function() {
  data <- list(x = x)
  control <- list(iter.max = 2000, minprior = 0, tolerance = 1e-8)
  model <- flexmix::FLXMCmvbinary()
  fit <- flexmix::flexmix(x ~ 1, data = data, k = k, cluster = soft, model = model, control = control)
  as.numeric(flexmix::logLik(fit))
})
race("poLCA", "Bernoulli mixture, k = 4", fit_mixture, function() {
  data <- as.data.frame(x + 1)
  f <- stats::as.formula(sprintf("cbind(%s) ~ 1", paste(names(data), collapse = ", ")))
  start <- lapply(seq_len(m), function(j) cbind(1 - mixture$prototypes[, j], mixture$prototypes[, j]))
  fit <- poLCA::poLCA(
    f, data, nclass = k, maxiter = 5000, tol = 1e-8, probs.start = start, calc.se = FALSE, verbose = FALSE
  )
  fit$llik
})

# Logistic PCA, k = 2, unpenalised as in logisticSVD, from the same scores and loadings.
pca <- list(
  scores = matrix(stats::rnorm(n * 2, sd = 0.1), n), loadings = matrix(stats::rnorm(2 * m, sd = 0.1), 2),
  intercept = unname(stats::qlogis(colMeans(x)))
)
loglik <- function(p) sum(log(ifelse(x == 1, p, 1 - p)))
race("logisticPCA", "logistic PCA (logisticSVD), k = 2, no ridge", function() {
  logistic_pca(x, 2, penalty = 0, start = pca, control = fit_control(
    n_start = 1, screen = FALSE, max_iter = 3000, progress = FALSE
  ))
}, function() {
  fit <- logisticPCA::logisticSVD(
    x, k = 2, max_iters = 2000, conv_criteria = 1e-6, start_A = pca$scores, start_B = t(pca$loadings),
    start_mu = pca$intercept
  )
  loglik(stats::fitted(fit, type = "response"))
})

# Non-negative factors, k = 5, from the same factors.
k <- 5L
start <- list(coefficients = matrix(stats::runif(n * k), n) * mean(x), basis = matrix(stats::runif(k * m), k))
squares <- function(w, h) -sum((x - w %*% h)^2) / 2
fit_nmf <- function() nmf(x, k, start = start, control = one)
race("RcppML", "NMF, Euclidean, k = 5", fit_nmf, function() {
  RcppML::setRcppMLthreads(1)
  fit <- RcppML::nmf(x, k, tol = 1e-6, maxit = 5000, verbose = FALSE, seed = 1) # takes no start
  squares(fit$w %*% diag(fit$d), fit$h)
})
race("NMF", "NMF, Euclidean (lee), k = 5", fit_nmf, function() {
  suppressPackageStartupMessages(loadNamespace("NMF"))
  seed <- NMF::nmfModel(W = start$coefficients, H = start$basis)
  fit <- NMF::nmf(x, k, method = "lee", seed = seed, .stop = "stationary", .opt = "-p")
  squares(NMF::basis(fit), NMF::coef(fit))
})
# (NMF's KL method, brunet, ends in NaN on this table.)
results[-(1:2)] <- lapply(results[-(1:2)], signif, 4L)
print(results, row.names = FALSE, width = 250)
