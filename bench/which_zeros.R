# Quality of which_zeros() and of each of its learners on tables that influenced no choice. Presences are held out with
# different rates by site (or taxon), uniform on [0, 0.4], or a single visit of a bird survey is used and the truth is
# any visit. All choices were made with other seeds, or on other tables.
#   Rscript bench/which_zeros.R [replicates = 2] [answers] [comparisons] [ranking] [large]
# All parts but `ranking` (comparisons without the other models) and `large` unless named.
# Results are kept in bench/which_zeros.md.
library(multicause)
common <- new.env()
sys.source("bench/common.R", common)
replicates <- as.integer(c(commandArgs(TRUE), "2")[1L])
parts <- commandArgs(TRUE)[-1L]
if (!length(parts)) parts <- c("answers", "comparisons")

# Returns one visit, and which of its zeros another visit found.
one_visit <- function(birds, visit = 1L) {
  used <- colSums(birds$seen[, , visit]) > 0 # others are not judged
  truth <- apply(birds$seen[, used, ], 1:2, any)
  truth[birds$seen[, used, visit]] <- NA
  list(x = birds$seen[, used, visit] + 0, truth = truth, distance = stats::dist(scale(birds$sites)))
}

measure <- function(w, scores, truth) {
  each <- lapply(names(scores), function(name) {
    found <- recovery(scores[[name]], truth)$summary
    data.frame(score = name, found[c("auc", "auc_within", "ap", "slope")])
  })
  do.call(rbind, each)
}

# Scores of all learners and of the result itself, n x m.
scores_of <- function(w) {
  answer <- w$probability
  answer[is.na(answer)] <- 0
  learners <- intersect(names(w$odds), rownames(w$weights))
  c(list(`the answer` = unname(answer)), stats::setNames(w$odds[learners], w$weights[learners, "learner"]))
}

show <- function(title, all, self, seconds, totals) {
  cat("\n##", title, "\n\n")
  means <- stats::aggregate(all[-1L], all["score"], mean)
  means[-1L] <- lapply(means[-1L], round, 3L)
  print(means[order(-means$auc), ], row.names = FALSE)
  cat(sprintf("\nself-assessment, AUC: %.3f; processor seconds a call: %.0f\n", mean(self), mean(seconds)))
  if (length(totals)) print(round(do.call(rbind, totals)), row.names = FALSE)
}

planted <- function(title, x, ...) {
  parts <- lapply(seq_len(replicates), function(r) {
    set.seed(7000 + r)
    gone <- corrupt(x, omit = c(0, 0.4))
    seconds <- system.time(w <- which_zeros(gone$x, ..., seed = r))
    again <- suppressMessages(which_zeros(
      gone$x, ..., seed = r, quick = TRUE, completeness = 1 - gone$rates$omit
    ))
    list(
      all = measure(w, scores_of(w), gone), self = w$quality["stack", "auc"], seconds = sum(seconds[1:2]),
      total = c(planted = sum(gone$omitted), again$total)
    )
  })
  show(
    sprintf("%s, %d replicates", title, replicates), do.call(rbind, lapply(parts, `[[`, "all")),
    vapply(parts, `[[`, 0, "self"), vapply(parts, `[[`, 0, "seconds"), lapply(parts, `[[`, "total")
  )
}

answers <- function() {
  cat("Totals: held-out presences, and how many were missed by the answer, with its ends. Slopes: of the answer.\n")
  g5s5 <- common$if_there(common$read_fossils("g5s5"))
  if (!is.null(g5s5)) planted("European mammals, g5s5", g5s5$x, age = g5s5$age)
  planted("Simulated sites", unname(multicause::simulated_sites$x))
  birds <- common$if_there(common$read_birds())
  if (!is.null(birds)) {
    by <- paste(names(birds$sites), collapse = ", ")
    birds <- one_visit(birds)
    seconds <- system.time(w <- which_zeros(birds$x, distance = birds$distance, seed = 1))
    title <- paste("Swiss birds: first visit fitted, truth any visit; distance of", by)
    show(title, measure(w, scores_of(w), birds$truth), w$quality["stack", "auc"], sum(seconds[1:2]), list(
      c(`found later` = sum(birds$truth, na.rm = TRUE), w$total)
    ))
  }
}

# Other models, by averages of a few fits, and the first recommendation for a single model.
models <- list(
  `aspect Bernoulli, one fit` = function(x) aspect_bernoulli(x, 8, estimate = "map"),
  `Bernoulli mixtures` = function(x) ensemble(x, model = bernoulli_mixture, k = c(8, 16), members = 2, control = few),
  `noisy-OR` = function(x) ensemble(x, model = noisy_or, k = c(8, 16), members = 2, control = few),
  PLSA = function(x) of_finds(x, function(x) plsa(x, 12, estimate = "ml", control = few)),
  NMF = function(x) of_finds(x, function(x) nmf(x, 12, control = few))
)
# Models of counts accept no sites without presences; there a taxon's probability is its share of all sites.
of_finds <- function(x, fit) {
  some <- rowSums(x) > 0
  out <- matrix(colMeans(x), nrow(x), ncol(x), byrow = TRUE)
  out[some, ] <- fitted(fit(x[some, ]))
  out
}
few <- fit_control(n_start = 1, n_polish = 0, max_iter = 100, tol = 1e-6, progress = FALSE)
measures <- c("auc", "auc_within", "ap")

# Evaluates one table with presences held out: measures of the result, its learners and the other models; slope and
# self-assessment.
compare_one <- function(x, truth, near, seed, others) {
  used <- colSums(x, na.rm = TRUE) > 0 # as a user has it: without taxa that lost all presences
  x <- x[, used]
  truth <- truth[, used]
  seconds <- system.time(
    w <- suppressMessages(do.call(which_zeros, c(list(x, seed = seed), near)))
  )[[1L]]
  fits <- lapply(others, function(fit) {
    set.seed(seed)
    made <- suppressWarnings(suppressMessages(fit(x)))
    unname(if (is.matrix(made)) made else fitted(made))
  })
  scores <- c(scores_of(w), fits)
  each <- t(vapply(scores, function(score) unlist(recovery(score, truth)$summary[c(measures, "slope")]), numeric(4)))
  list(each = each, self = w$quality["stack", "auc"], seconds = seconds)
}

# Compares the result with the best of all others, by paired differences over replicates.
verdicts <- function(title, runs) {
  all <- simplify2array(lapply(runs, function(run) run$each[, measures]))
  for (what in measures) {
    mean <- rowMeans(all[, what, , drop = FALSE])
    best <- names(which.max(mean[-1L]))
    gain <- all[1L, what, ] - all[best, what, ]
    se <- stats::sd(gain) / sqrt(length(gain))
    verdict <- if (mean(gain) > 2 * se) "above" else if (mean(gain) < -se) "BELOW" else "level"
    cat(sprintf("| %s | %s | %.4f | %.4f, %s | %+.4f (%.4f) | %s |\n", title, what, mean[[1L]], mean[[best]], best,
      mean(gain), se, verdict))
  }
  one <- function(run) c(run$self - run$each[1L, "auc"], run$each[1L, "slope"], run$seconds)
  rest <- vapply(runs, one, numeric(3))
  cat(
    sprintf("| %s | self-assessment less truth, AUC: median %+.4f, of sizes %.4f;", title, stats::median(rest[1L, ]),
      stats::median(abs(rest[1L, ]))),
    sprintf("slope %.2f (%.2f to %.2f); %.0f s |\n", mean(rest[2L, ]), min(rest[2L, ]), max(rest[2L, ]),
      mean(rest[3L, ]))
  )
  rest[1L, ]
}

# Holds out presences with rates by site, or by taxon.
damage <- function(x, by, seed) {
  set.seed(seed)
  if (by == "sites") {
    gone <- corrupt(x, omit = c(0, 0.4))
    x <- gone$x
    truth <- gone$omitted
  } else {
    gone <- corrupt(t(x), omit = c(0, 0.4))
    x <- t(gone$x)
    truth <- t(gone$omitted)
  }
  truth[is.na(x) | x == 1] <- NA
  list(x = x, truth = truth)
}

comparisons <- function(others = models, first_seed = 8600) {
  cat("\n## The answer against the best of its learners, the simple rules and the other models\n\n")
  cat("| table | measure | answer | best other | difference (standard error) | |\n")
  cat("| --- | --- | --- | --- | --- | --- |\n")
  fossils <- list(
    `early tetrapods` = common$read_tetrapods(), g10s2 = common$if_there(common$read_fossils("g10s2")),
    nam_large = common$if_there(common$read_fossils("nam_large", "now_2020_nam"))
  )
  off <- NULL
  for (name in names(Filter(length, fossils))) {
    for (by in c("sites", "taxa")) {
      runs <- lapply(seq_len(replicates), function(r) {
        gone <- damage(fossils[[name]]$x, by, first_seed + r)
        compare_one(gone$x, gone$truth, fossils[[name]][c("age", "place")], r, others)
      })
      off <- c(off, verdicts(paste0(name, ", rates of ", by), runs))
    }
  }
  surveys <- list(
    mhb2014 = common$if_there(common$read_birds(TRUE)), hbef2015 = common$if_there(common$read_forest_birds())
  )
  for (name in names(Filter(length, surveys))) {
    runs <- lapply(1:3, function(visit) {
      one <- one_visit(surveys[[name]], visit)
      compare_one(one$x, one$truth, list(distance = one$distance), visit, others)
    })
    off <- c(off, verdicts(paste0(name, ", one visit of three"), runs))
  }
  cat(sprintf("\nSelf-assessment less truth, AUC, all tables: median %+.4f, of sizes %.4f\n", stats::median(off),
    stats::median(abs(off))))
}

# A large sparse table: six communities, each with its own time and places, 2 % of cells found.
large_table <- function(n, m) {
  set.seed(1)
  of <- sample.int(6L, n, TRUE)
  taste <- matrix(stats::rbeta(6L * m, 0.3, 4), 6L)
  share <- matrix(stats::rexp(6L * n)^2, n)
  share[cbind(seq_len(n), of)] <- share[cbind(seq_len(n), of)] + 8
  share <- share / rowSums(share) * stats::runif(n, 0.3, 1)
  by <- 0.02 * n * m / sum(share %*% taste)
  column <- lapply(seq_len(m), function(j) which(stats::runif(n) < by * drop(share %*% taste[, j])))
  list(
    x = Matrix::sparseMatrix(unlist(column), rep(seq_len(m), lengths(column)), x = 1, dims = c(n, m)),
    age = 10 * of + stats::rnorm(n, 0, 4),
    place = data.frame(lng = 40 * of - 140 + stats::rnorm(n, 0, 15), lat = 20 + stats::rnorm(n, 0, 10))
  )
}

# CPU seconds of a result with default settings, and its peak R memory in GB.
large <- function(n = 20000L, m = 500L, ...) {
  table <- large_table(n, m)
  invisible(gc(reset = TRUE))
  seconds <- system.time(
    w <- which_zeros(table$x, age = table$age, place = table$place, seed = 1, ...)
  )
  cat(sprintf("| %d x %d, %.0f finds | %.0f s of processor time | %.1f GB at most | AUC it expects %.3f |\n", n, m,
    sum(table$x), sum(seconds[1:2]), sum(gc()[, 6L]) / 1024, w$quality["stack", "auc"]))
}

if ("answers" %in% parts) answers()
if ("comparisons" %in% parts) comparisons()
if ("ranking" %in% parts) comparisons(list())
if ("large" %in% parts) {
  large(2000L, 500L, quick = TRUE)
  large()
}
