# The experiments of Meeds, Ghahramani, Neal & Roweis (2007) for the article "Binary matrix factorization: the paper,
# reproduced", and hidden cells of a table of the package beside its rivals. Digits are not part of the package:
# MULTICAUSE_DATA says where they are; gene expression is that of the package multtest. Results go beside the article.
#   OPENBLAS_NUM_THREADS=1 Rscript data-raw/paper_bmf.R [experiment ...]     (default: all; about ten minutes)
library(multicause)
source("data-raw/experiments.R")
target <- "vignettes/articles/paper_bmf.rds"
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
# Of aspect Bernoulli fits: shares are not shrunk towards each other.
flat_rows <- list(aspects = c(1.2, 2), membership = 1)

# ---- bars (Figures 2 and 3) ----------------------------------------------------------------------------------------

# Row features drawn from the Indian buffet: customer i takes a dish that m before had with probability m / i, and
# Poisson(alpha / i) new ones.
buffet <- function(n, alpha) {
  u <- matrix(0, n, 0)
  for (i in seq_len(n)) {
    taken <- stats::rbinom(ncol(u), 1, colSums(u) / i)
    new <- stats::rpois(1, alpha / i)
    u[i, ] <- taken
    fresh <- matrix(0, n, new)
    fresh[i, ] <- 1
    u <- cbind(u, fresh)
  }
  u
}

# 100 images of 6 x 6, column features the six rows and six columns of pixels, half of the images without their bottom
# half. Weights have a standard deviation of 1, noise of 0.5. (The paper's numbers are not legible in the copy we have.)
bars <- function(seed, n = 100, side = 6, alpha = 2) {
  set.seed(seed)
  at <- diag(side)
  columns <- cbind(
    vapply(seq_len(side), function(b) as.numeric(row(at) == b), numeric(side^2)),
    vapply(seq_len(side), function(b) as.numeric(col(at) == b), numeric(side^2))
  )
  rows <- buffet(n, alpha)
  weights <- matrix(stats::rnorm(ncol(rows) * ncol(columns)), ncol(rows))
  mean <- rows %*% weights %*% t(columns)
  x <- mean + stats::rnorm(length(mean), 0, 0.5)
  half <- sort(sample(n, n / 2))
  missing <- matrix(FALSE, n, side^2)
  missing[half, c(row(at)) > side / 2] <- TRUE
  list(
    x = replace(x, missing, NA), noisy = x, mean = mean, rows = rows, columns = columns, weights = weights,
    missing = missing, half = half
  )
}

bars_one <- function(seed) {
  message("bars, seed ", seed)
  b <- bars(seed)
  error <- function(mean) mean((mean - b$mean)[b$missing]^2)
  control <- mcmc_control(chains = 2, warmup = 200, draws = 300, progress = FALSE)
  set.seed(seed)
  fixed <- quiet(bmf(b$x, l = 0, fixed = list(columns = b$columns), control = control))
  set.seed(seed)
  free <- quiet(bmf(b$x, control = control))
  near <- nearest(b$x, b$half)
  five <- nearest(b$x, b$half, 5)
  means <- matrix(colMeans(b$x, na.rm = TRUE), nrow(b$x), ncol(b$x), byrow = TRUE)
  table <- data.frame(
    seed, features = ncol(b$rows), means = error(means), nearest = error(near), five = error(five),
    fixed = error(fitted(fixed)), free = error(fitted(free)), rows_fixed = mean(fixed$trace$row_features),
    rows_free = mean(free$trace$row_features), columns_free = mean(free$trace$column_features)
  )
  shown <- utils::head(b$half, 8L)
  list(table = table, pictures = lapply(
    list(data = b$noisy, truth = b$mean, given = b$x, mean = fitted(fixed), inferred = fitted(free), nearest = near),
    function(x) round(x[shown, ], 2L)
  ), true = list(columns = t(b$columns), basis = round(b$weights %*% t(b$columns), 2L)),
  learned = list(
    columns = unname(t(free$param$columns)), basis = round(unname(free$param$weights %*% t(free$param$columns)), 2L),
    basis_fixed = round(unname(fixed$param$weights %*% t(fixed$param$columns)), 2L)
  ))
}

bars_all <- function() {
  runs <- lapply(21:25, bars_one)
  c(list(table = do.call(rbind, lapply(runs, `[[`, "table"))), runs[[1L]][c("pictures", "true", "learned")])
}

# ---- digits (Figure 4) ---------------------------------------------------------------------------------------------

digits <- function() {
  images <- utils::read.csv(gzfile(file.path(folder, "usps", "usps_train.csv.gz")))
  set.seed(31)
  rows <- unlist(lapply(1:3, function(d) sample(which(images[[1L]] == d), 50)))
  truth <- (unname(as.matrix(images[rows, -1L])) >= 128) + 0
  half <- sort(sample(150, 20))
  x <- truth
  x[half, 129:256] <- NA
  hidden <- is.na(x)
  control <- mcmc_control(
    chains = 4, warmup = 100, draws = 200, n_start = 4, n_reheat = 2, start_sweeps = 60, progress = FALSE
  )
  set.seed(32)
  fit <- quiet(bmf(x, family = "bernoulli", control = control))
  set.seed(33)
  few <- fit_control(progress = FALSE, n_start = 5)
  guesses <- list(
    `pixel means` = matrix(colMeans(x, na.rm = TRUE), 150, 256, byrow = TRUE), `nearest neighbour` = nearest(x, half),
    `mean of 5 nearest` = nearest(x, half, 5), `bmf()` = fitted(fit),
    `aspect_bernoulli(), k = 10` = fitted(quiet(aspect_bernoulli(x, 10, prior = flat_rows, control = few))),
    `bernoulli_mixture(), k = 20` = fitted(quiet(bernoulli_mixture(x, 20, control = few))),
    `logistic_pca(), k = 5` = fitted(quiet(logistic_pca(x, 5, control = few)))
  )
  score <- function(p) {
    y <- truth[hidden]
    p <- p[hidden]
    clipped <- pmin(pmax(p, 0.005), 0.995)
    c(mean(y * log(clipped) + (1 - y) * log(1 - clipped)), mean((p - y)^2), 100 * mean((p > 0.5) != y))
  }
  table <- t(vapply(guesses, score, numeric(3)))
  colnames(table) <- c("log_score", "squared_error", "wrong")
  shown <- utils::head(half, 12L)
  u <- fit$param$rows
  list(
    table = table, row_features = mean(fit$trace$row_features), column_features = mean(fit$trace$column_features),
    # The digits themselves have no licence: what the model makes of them is shown alone.
    pictures = lapply(list(mean = fitted(fit), mode = (fitted(fit) > 0.5) + 0), function(p) {
      round(unname(p[shown, ]), 2L)
    }),
    averages = round(unname(crossprod(u, replace(truth, hidden, 0)) / crossprod(u, !hidden)), 2L),
    basis = round(unname(fit$param$weights %*% t(fit$param$columns)), 2L), columns = unname(t(fit$param$columns))
  )
}

# ---- gene expression (Figure 5) ------------------------------------------------------------------------------------

genes <- function() {
  loaded <- new.env()
  utils::data("golub", package = "multtest", envir = loaded)
  golub <- loaded$golub
  leukaemia <- loaded$golub.cl
  x <- golub[order(-apply(golub, 1L, stats::sd))[1:300], ]
  x <- (x - rowMeans(x)) / apply(x, 1L, stats::sd)
  control <- mcmc_control(chains = 2, warmup = 200, draws = 200, n_start = 8, n_reheat = 8, progress = FALSE)
  set.seed(3)
  fit <- quiet(bmf(unname(x), 10, 6, control = control))
  agree <- apply(fit$param$columns, 2L, function(v) max(sum(v == leukaemia), sum(v != leukaemia)))
  # The same question to features that know nothing: patients in random order.
  set.seed(4)
  by_chance <- replicate(2000, {
    y <- sample(leukaemia)
    max(apply(fit$param$columns, 2L, function(v) max(sum(v == y), sum(v != y))))
  })
  list(
    rows = unname(fit$param$rows), columns = unname(fit$param$columns), weights = round(unname(fit$param$weights), 2L),
    # The expression values themselves have no licence.
    fitted = round(unname(fitted(fit)), 1L), class = leukaemia, agree = agree,
    probability = stats::quantile(by_chance, c(0.5, 0.95, 1)), patients = ncol(x),
    row_features = mean(fit$trace$row_features), column_features = mean(fit$trace$column_features)
  )
}

# ---- hidden cells of early tetrapods, beside rivals ------------------------------------------------------------------

# The tenth of the cells that data-raw/overlapping_groups.R hides, whose stored scores hold bmf()'s. Rivals with
# `picked` had their number of components chosen by hidden cells within the visible ones.
hidden_cells <- function() {
  x <- multicause::early_tetrapods$x
  sites <- multicause::early_tetrapods$sites
  few <- fit_control(progress = FALSE)
  set.seed(1)
  hidden <- sort(sample(length(x), round(0.1 * length(x))))
  masked <- replace(x, hidden, NA)
  y <- x[hidden]
  near <- smooth_over(
    age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")], bandwidth = "cv", strength = "cv"
  )
  pick <- function(model, ks, ...) {
    chosen <- quiet(cross_validate(masked, ks, model, "cells", folds = 5, ..., control = few))$results
    quiet(model(masked, chosen$k[which.min(chosen$loss)], ..., control = few))
  }
  makers <- list(
    `ensemble()` = function() ensemble(masked),
    `aspect_bernoulli(), smoothed over age and place` = function() {
      aspect_bernoulli(masked, 6, prior = flat_rows, phantom = "white", smooth = near, control = few)
    },
    `aspect_bernoulli(), k picked` = function() pick(aspect_bernoulli, 2:8, prior = flat_rows),
    `logistic_pca(), k picked` = function() pick(logistic_pca, 1:4),
    `noisy_or(), k picked` = function() pick(noisy_or, c(4, 6, 8)),
    `rows and columns alone` = function() {
      outer(rowMeans(masked, na.rm = TRUE), colMeans(masked, na.rm = TRUE)) / mean(masked, na.rm = TRUE)
    }
  )
  rows <- lapply(names(makers), function(name) {
    set.seed(2)
    time <- system.time(fit <- quiet(makers[[name]]()))[["elapsed"]]
    p <- if (is.matrix(fit)) fit else fitted(fit)
    p <- pmin(pmax(p[hidden], 1e-4), 1 - 1e-4)
    ranks <- rank(p)
    auc <- (sum(ranks[y == 1]) - sum(y) * (sum(y) + 1) / 2) / (sum(y) * sum(1 - y))
    message(name, ": ", format(mean(y * log(p) + (1 - y) * log(1 - p))), ", ", round(time), " s")
    data.frame(model = name, log_score = mean(y * log(p) + (1 - y) * log(1 - p)), auc)
  })
  stored <- readRDS("vignettes/articles/overlapping-groups.rds")$held_out["bmf()", ]
  rbind(data.frame(model = "bmf()", log_score = stored[["log_score"]], auc = stored[["auc"]]), do.call(rbind, rows))
}

experiments <- list(bars = bars_all, digits = digits, genes = genes, hidden_cells = hidden_cells)

run_experiments(experiments, target)
