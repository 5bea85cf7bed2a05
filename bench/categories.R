# Held-out cells of tables of several values: aspect_categorical() beside latent classes (poLCA) and the frequencies of
# each taxon, on four real tables. Results: bench/categories.md. Missing packages are skipped.
#   Rscript bench/categories.R [losses [model ...]]   losses by model and number of components
#   Rscript bench/categories.R prior                  losses of aspect_categorical() by its prior
library(multicause)
part <- c(commandArgs(TRUE), "losses")[1L]
options(multicause.quiet = TRUE)
light <- fit_control(n_start = 4, n_polish = 0, max_iter = 1000, tol = 1e-7, progress = FALSE)
floor <- 1e-6
n_fold <- 5L

from_package <- function(name, package) {
  here <- new.env()
  utils::data(list = name, package = package, envir = here)
  here[[name]]
}
classes <- function(x, breaks) matrix(findInterval(as.matrix(x), breaks) - 1L, nrow(x))
# Ratings of two candidates by 1785 voters, four values; cover of dune plants, 0 to 9; abundance of trees and mites in
# classes. Taxa found at fewer than three sites are left out.
tables <- list(
  election = function() {
    x <- from_package("election", "poLCA")
    sapply(x[1:12], as.integer) - 1L
  },
  dune = function() as.matrix(from_package("dune", "vegan")),
  BCI = function() classes(from_package("BCI", "vegan"), c(0, 1, 2, 6)),
  mite = function() classes(from_package("mite", "vegan"), c(0, 1, 4, 16))
)
read_table <- function(name) {
  x <- tryCatch(tables[[name]](), error = function(e) NULL)
  if (is.null(x)) {
    message("Skipped: ", name)
    return(NULL)
  }
  x <- unname(x[, colSums(x > 0, na.rm = TRUE) >= 3])
  category_table(x)
}

# Each model returns probabilities n x m x L of a table of codes with NA.
aspects <- function(...) function(x, k) fitted(suppressWarnings(aspect_categorical(x, k, ..., control = light)))
sampled <- function(x, k) {
  chains <- mcmc_control(chains = 2, warmup = 300, draws = 300, keep = 50, n_start = 2, progress = FALSE)
  fit <- suppressWarnings(aspect_categorical(x, k, estimate = "gibbs", control = chains))
  Reduce(`+`, lapply(posterior_draws(fit, 100), fitted)) / 100 # the mean of products is not that of means
}
# poLCA stops with an error where a class dies out, so that the best of up to 4 starts of 20 is taken.
best_classes <- function(shape, frame, k) {
  best <- NULL
  done <- 0L
  for (start in 1:20) {
    lca <- tryCatch(
      poLCA::poLCA(shape, frame, nclass = k, na.rm = FALSE, calc.se = FALSE, verbose = FALSE),
      error = function(e) conditionMessage(e)
    )
    if (is.character(lca)) next
    done <- done + 1L
    if (is.null(best) || lca$llik > best$llik) best <- lca
    if (done == 4L) break
  }
  if (is.null(best)) stop(lca, " (20 of 20 starts)", call. = FALSE)
  best
}
# Latent classes by maximum likelihood; added: pseudo-counts of each value in each class, in one more M-step.
latent_classes <- function(added) {
  function(x, k) {
    n_value <- length(attr(x, "values"))
    code <- matrix(as.vector(x), nrow(x)) + 1L
    varied <- apply(code, 2L, function(column) length(unique(column[!is.na(column)])) > 1L)
    frame <- as.data.frame(code[, varied, drop = FALSE])
    shape <- stats::as.formula(sprintf("cbind(%s) ~ 1", paste(names(frame), collapse = ", ")))
    lca <- best_classes(shape, frame, k)
    posterior <- lca$posterior
    size <- colSums(posterior)
    p <- array(0, c(nrow(x), ncol(x), n_value))
    for (j in seq_len(ncol(x))) {
      profile <- matrix(0, k, n_value)
      if (varied[j]) {
        each <- lca$probs[[paste0("V", match(j, which(varied)))]]
        profile[, seq_len(ncol(each))] <- each
      } else {
        profile[, stats::na.omit(code[, j])[1L]] <- 1
      }
      profile <- (profile * size + added) / (size + n_value * added)
      p[, j, ] <- posterior %*% profile
    }
    p
  }
}
held_out_loss <- function(model, x, k, seed = 1) {
  set.seed(seed)
  folds <- multicause:::cell_folds(matrix(!is.na(x), nrow(x)), n_fold)
  each <- vapply(folds, function(held) {
    train <- x
    train[held] <- NA
    p <- matrix(model(train, k), length(x))
    mean(-log(pmax(p[cbind(held, x[held] + 1L)], floor)))
  }, 0)
  c(mean(each), stats::sd(each) / sqrt(n_fold))
}
# A failure is part of the result, and printed whole.
try_loss <- function(model, x, k) {
  tryCatch(held_out_loss(model, x, k), error = function(e) {
    message(sprintf("FAILED, k = %d: %s", k, conditionMessage(e)))
    c(NA, NA)
  })
}

if (part == "prior") {
  grid <- expand.grid(profiles = c(1, 1.05, 1.2, 1.5, 2), membership = c(1, 1.1, 1.5))
  for (name in names(tables)) {
    x <- read_table(name)
    if (is.null(x)) next
    for (k in c(2L, 4L)) {
      loss <- apply(grid, 1L, function(prior) try_loss(aspects(prior = as.list(prior)), x, k)[1L])
      cat(sprintf("\n%s, k = %d: rows membership 1, 1.1, 1.5; columns profiles 1, 1.05, 1.2, 1.5, 2\n", name, k))
      print(round(matrix(loss, 3L, byrow = TRUE), 4))
    }
  }
} else {
  models <- list(
    `aspects, MAP` = aspects(), `aspects, ML` = aspects(estimate = "ml"), `aspects, Gibbs` = sampled,
    `latent classes (poLCA)` = latent_classes(0), `the same, smoothed` = latent_classes(0.2)
  )
  if (!requireNamespace("poLCA", quietly = TRUE)) models <- models[1:3]
  wanted <- commandArgs(TRUE)[-1L]
  if (length(wanted)) models <- models[wanted]
  for (name in names(tables)) {
    x <- read_table(name)
    if (is.null(x)) next
    cat(sprintf(
      "\n%s: %d x %d, %d values, %.1f %% unknown; taxa's frequencies: %.4f\n", name, nrow(x), ncol(x),
      length(attr(x, "values")), 100 * mean(is.na(x)), try_loss(aspects(), x, 1L)[1L]
    ))
    for (model in names(models)) {
      seconds <- system.time(loss <- vapply(2:6, function(k) try_loss(models[[model]], x, k), c(0, 0)))[["user.self"]]
      cat(sprintf(
        "%-24s k = 2 to 6: %s; SE at the best %.4f; %.0f s\n", model,
        paste(sprintf("%.4f", loss[1L, ]), collapse = " "),
        c(loss[2L, which.min(loss[1L, ])], NA)[1L], seconds
      ))
    }
  }
}
