# which_zeros() against a user's alternatives: time, memory and the ranking of later and of held-out presences. Every
# method gets the same table with presences held out (and ages, places or distances, if it accepts them) and ranks its
# zeros. A method without its package is skipped with a message, and so is one that is too slow for a large table.
#   Rscript bench/which_zeros_time.R [replicates = 2] [pattern: methods by name] > which_zeros_time.out
# Seeds from 9401 on, which influenced no choice. Each call has a separate process (Unix); its memory is the increase of
# its peak (VmHWM) over the process it was forked from. Settings of competitors are their defaults, or as printed here.
library(multicause)
here <- if (file.exists("bench/how_many_cases.R")) "bench" else "."
source(file.path(here, "how_many_cases.R")) # read_fossils(), common
measured <- common$measured
replicates <- as.integer(c(commandArgs(TRUE), "2")[1L])
parse_only <- function(file, names) { # some functions of another bench, without its runs
  for (part in as.list(parse(file))) {
    if (is.call(part) && identical(part[[1L]], as.name("<-")) && as.character(part[[2L]])[1L] %in% names) {
      eval(part, globalenv())
    }
  }
}
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
parse_only(file.path(here, "which_zeros.R"), c("one_visit", "damage", "large_table"))

# Covariates for models of sites: ages and places, or axes of the distances.
variables <- function(near) {
  if (!is.null(near$distance)) return(data.frame(stats::cmdscale(near$distance, 4L)))
  data.frame(c(list(age = near$age), as.list(near$place)))
}
folds <- function(n) rep_len(1:5, n)[order(stats::runif(n))]
answer <- function(x, near, ...) {
  p <- suppressMessages(do.call(which_zeros, c(list(x, seed = 1, ...), near)))$probability
  replace(p, is.na(p), 1)
}
# A two-line rule: the mean of the other sites, weighted by distance, each covariate scaled to a fifth of its spread.
weighed_mean <- function(x, near) {
  weight <- exp(-as.matrix(stats::dist(scale(variables(near)))) / 0.2)
  diag(weight) <- 0
  weight %*% x / pmax(rowSums(weight), 1e-300)
}
by_taxon_of <- function(x, fit) {
  vapply(seq_len(ncol(x)), function(j) if (all(x[, j] == x[1L, j])) x[, j] else fit(j), x[, 1L])
}
# Predictors for regressions of each taxon: axes of the table and variables of the sites.
features <- function(x, near) cbind(as.matrix(variables(near)), stats::prcomp(x)$x[, seq_len(min(6L, ncol(x)))])

methods <- list(
  `which_zeros()` = list(fit = answer),
  `which_zeros(quick = TRUE)` = list(fit = function(x, near) answer(x, near, quick = TRUE)),
  `mean weighed by distance, two lines` = list(fit = weighed_mean),
  `vegan: beals()` = list(package = "vegan", fit = function(x, near) vegan::beals(x, include = FALSE)),
  `DarkDiv, hypergeometric` = list(package = "DarkDiv", small = TRUE, fit = function(x, near) {
    colnames(x) <- seq_len(ncol(x))
    p <- as.matrix(suppressMessages(DarkDiv::DarkDiv(x, method = "Hypergeometric")$AllProbs))
    replace(p, is.na(p), 0)
  }),
  `softImpute, rank 8` = list(package = "softImpute", fit = function(x, near) {
    fit <- softImpute::softImpute(x, rank.max = 8L, lambda = 0.3 * softImpute::lambda0(x), type = "svd")
    fit$u %*% (fit$d * t(fit$v))
  }),
  `RcppML: nmf(), rank 8` = list(package = "RcppML", fit = function(x, near) {
    suppressPackageStartupMessages(library(Matrix)) # RcppML looks for its classes there
    fit <- RcppML::nmf(methods::as(x, "dgCMatrix"), 8L, seed = 1, verbose = FALSE)
    fit$w %*% (fit$d * fit$h)
  }),
  `recosystem, squared loss, 10 factors` = list(package = "recosystem", fit = function(x, near) {
    at <- which(x >= 0, arr.ind = TRUE)
    model <- recosystem::Reco()
    data <- recosystem::data_memory(at[, 1L], at[, 2L], x[at], index1 = TRUE)
    model$train(data, opts = list(
      dim = 10L, niter = 50L, costp_l2 = 0.01, costq_l2 = 0.01, lrate = 0.1, verbose = FALSE, nthread = 1L
    ))
    matrix(model$predict(data, recosystem::out_memory()), nrow(x))
  }),
  `ranger, a forest for each taxon, out of bag` = list(package = "ranger", small = TRUE, fit = function(x, near) {
    known <- data.frame(features(x, near))
    by_taxon_of(x, function(j) {
      settings <- list(x = known, y = factor(x[, j], 0:1), probability = TRUE, num.trees = 200L, num.threads = 1L)
      do.call(ranger::ranger, settings)$predictions[, "1"]
    })
  }),
  `xgboost, for each taxon, out of five folds` = list(package = "xgboost", small = TRUE, fit = function(x, near) {
    known <- features(x, near)
    by_taxon_of(x, function(j) {
      out <- numeric(nrow(x))
      fold <- folds(nrow(x))
      for (f in 1:5) {
        data <- xgboost::xgb.DMatrix(known[fold != f, ], label = x[fold != f, j])
        settings <- list(objective = "binary:logistic", max_depth = 3, eta = 0.2, nthread = 1)
        model <- xgboost::xgb.train(settings, data, nrounds = 30, verbose = 0)
        out[fold == f] <- stats::predict(model, known[fold == f, , drop = FALSE])
      }
      out
    })
  }),
  `spOccupancy: lfJSDM(), 4 factors` = list(package = "spOccupancy", small = TRUE, fit = function(x, near) {
    known <- data.frame(scale(variables(near)))
    names(known) <- paste0("v", seq_along(known))
    shape <- stats::reformulate(c(names(known), sprintf("I(%s^2)", names(known))))
    place <- jitter(as.matrix(known)[, rep_len(seq_along(known), 2L)])
    fit <- spOccupancy::lfJSDM(
      shape, data = list(y = t(x), covs = known, coords = place), n.factors = 4L, n.samples = 4000L, n.burn = 2000L,
      n.thin = 4L, verbose = FALSE
    )
    t(apply(fit$psi.samples, 2:3, mean))
  })
)

methods <- methods[grepl(c(commandArgs(TRUE)[-1L], ".")[1L], names(methods))]

judge <- function(name, case, large = FALSE) {
  used <- colSums(case$x) > 0
  x <- unname(as.matrix(case$x))[, used] + 0
  truth <- unname(as.matrix(case$truth))[, used]
  do.call(rbind, lapply(names(methods), function(method) {
    m <- methods[[method]]
    if (!is.null(m$package) && !requireNamespace(m$package, quietly = TRUE)) {
      message("Skipped ", method, ": no package ", m$package)
      return(NULL)
    }
    if (large && isTRUE(m$small)) return(NULL)
    out <- measured({
      set.seed(1)
      unname(as.matrix(m$fit(x, case$near)))
    })
    if (inherits(out, "try-error")) {
      message(method, " on ", name, ": ", conditionMessage(attr(out, "condition")))
      return(NULL)
    }
    found <- recovery(out$value, truth)$summary
    data.frame(table = name, method, seconds = out$seconds, memory = out$memory, found[c("auc", "auc_within", "ap")])
  }))
}

known <- multicause::early_tetrapods$sites
fossils <- list(
  `early tetrapods, 129 x 113` = list(
    x = unname(as.matrix(multicause::early_tetrapods$x) + 0), age = known$age, place = known[c("lng", "lat")]
  ),
  `g10s2, 501 x 139` = read_fossils("g10s2", "now_2003"),
  `nam_large, 377 x 152` = read_fossils("nam_large", "now_2020_nam")
)
each <- NULL
for (name in names(fossils)) {
  one <- fossils[[name]]
  if (is.null(one$age)) one$age <- one$sites[[intersect(c("age_ma", "mid_age"), names(one$sites))]]
  if (is.null(one$place) && "long" %in% names(one$sites)) {
    one$place <- stats::setNames(one$sites[c("long", "lat")], c("lng", "lat"))
  }
  for (r in seq_len(replicates)) {
    gone <- damage(one$x, "sites", 9400 + r)
    each <- rbind(each, judge(name, c(gone, list(near = Filter(length, one[c("age", "place")])))))
  }
}
birds <- common$read_birds(TRUE)
for (visit in seq_len(min(replicates, 3L))) {
  one <- one_visit(birds, visit)
  case <- list(x = one$x, truth = one$truth, near = list(distance = one$distance))
  each <- rbind(each, judge("mhb2014, one visit of three", case))
}
large <- large_table(2000L, 500L)
gone <- damage(as.matrix(large$x), "sites", 9401)
case <- c(gone, list(near = large[c("age", "place")]))
each <- rbind(each, judge("simulated, 2 000 x 500, 2 % found", case, large = TRUE))

means <- stats::aggregate(each[-(1:2)], each[c("method", "table")], mean)
for (name in unique(each$table)) {
  cat(sprintf("\n## %s\n\n| method | processor seconds | MB | AUC | within sites | average precision |\n", name))
  cat("| --- | --- | --- | --- | --- | --- |\n")
  one <- means[means$table == name, ]
  one <- one[order(-one$auc), ]
  row <- "| %s | %.2f | %.0f | %.3f | %.3f | %.3f |\n"
  cat(sprintf(row, one$method, one$seconds, one$memory, one$auc, one$auc_within, one$ap), sep = "")
}
