# Fits of the Bernoulli mixture, logistic PCA and non-negative matrix factorisation, and the neighbours' mean.
set.seed(3)
k <- 2L
x <- matrix(as.double(runif(48) < 0.4), 8, 6)
x[c(5, 40)] <- NA
view <- torture("mc_c_view_dense", x)
plain <- list(max_iter = 3L, tol = 0, accelerate = FALSE, n_threads = 1L)
fast <- list(max_iter = 8L, tol = 1e-6, accelerate = TRUE, n_threads = 2L)

mixture <- list(weights = rep(1 / k, k), prototypes = matrix(runif(k * 6, 0.1, 0.9), k))
torture("mc_c_bm_fit", view, mixture, c(0, 0, 0), plain)
torture("mc_c_bm_fit", view, mixture, c(0.2, 1, 0.5), fast)
torture("mc_c_bm_fit", view, modifyList(mixture, list(prototypes = diag(3))), c(0, 0, 0), plain, error = TRUE)
torture("mc_c_bm_fit", view, mixture, c(-1, 0, 0), plain, error = TRUE)
torture("mc_c_bm_fit", view, c(mixture, list(held = 3)), c(0.2, 1, 0.5), fast)
torture("mc_c_bm_fit", view, c(mixture, list(held = 99)), c(0, 0, 0), plain, error = TRUE)
regression <- c(mixture, list(design = rbind(1, seq(-1, 1, length.out = 8)), effects = matrix(0, 2, k), ridge = 0.5))
torture("mc_c_bm_fit", view, regression, c(0.2, 1, 0), plain)
torture("mc_c_bm_fit", view, modifyList(regression, list(effects = diag(3))), c(0, 0, 0), plain, error = TRUE)
torture("mc_c_bm_fit", view, modifyList(regression, list(ridge = -1)), c(0, 0, 0), plain, error = TRUE)

# Fits to shards.
empty <- list(dim = c(0L, 6L), start = 0L, column = integer())
scans <- function(counts) list(steps = shard_steps(counts))
for (evaluate in c(FALSE, TRUE)) torture("mc_c_bm_fit", view, c(mixture, list(evaluate = evaluate)), c(0, 0, 0), plain)
torture("mc_c_bm_fit", empty, c(mixture, scans(1 + k + 12 * k)), c(0.2, 1, 0.5), fast)
torture("mc_c_bm_fit", empty, c(mixture, scans(3)), c(0.2, 1, 0.5), fast)

torture("mc_c_assign", matrix(c(3, 1, 2, 2, 4, 6, 5, 2, 1), 3))
torture("mc_c_assign", matrix(1, 2, 3), error = TRUE)
torture("mc_c_assign", diag(2L) > 0, error = TRUE)

logistic <- list(
  scores = matrix(rnorm(k * 8), k), loadings = matrix(rnorm((k + 1L) * 6), k + 1L), penalty = 0.1,
  fixed_loadings = FALSE
)
torture("mc_c_lp_fit", view, logistic, plain)
torture("mc_c_lp_fit", view, logistic, fast)
torture("mc_c_lp_fit", view, modifyList(logistic, list(fixed_loadings = TRUE)), fast)
torture("mc_c_lp_fit", view, modifyList(logistic, list(loadings = diag(2))), plain, error = TRUE)
torture("mc_c_lp_fit", view, modifyList(logistic, list(penalty = -1)), plain, error = TRUE)

shard <- c(logistic, list(before = logistic$scores, evaluate = FALSE))
torture("mc_c_lp_fit", view, shard, fast)
torture("mc_c_lp_fit", view, modifyList(shard, list(evaluate = TRUE)), plain)
torture("mc_c_lp_fit", view, modifyList(shard, list(before = 1)), plain, error = TRUE)
driver <- logistic[c("loadings", "penalty")]
torture("mc_c_lp_fit", empty, c(driver, scans(6 * (k + 1) * (k + 2) / 2 + 7 * (k + 1))), fast)

parts <- list(coefficients = matrix(runif(k * 8), k), basis = matrix(runif(k * 6), k), kl = FALSE, fixed_basis = FALSE)
for (kl in c(FALSE, TRUE)) {
  parts$kl <- kl
  torture("mc_c_nm_fit", view, parts, plain)
  torture("mc_c_nm_fit", view, parts, fast)
  torture("mc_c_nm_fit", view, modifyList(parts, list(fixed_basis = TRUE)), fast)
}
torture("mc_c_nm_fit", view, modifyList(parts, list(basis = diag(3))), plain, error = TRUE)
torture("mc_c_nm_fit", view, c(parts, list(multiplicative = TRUE)), fast)
parts$multiplicative <- TRUE
torture("mc_c_nm_sum", view, parts, fast)
shard <- c(parts, list(before = parts$coefficients, evaluate = FALSE))
torture("mc_c_nm_sum", view, shard, fast)
torture("mc_c_nm_sum", view, modifyList(shard, list(evaluate = TRUE)), plain)
torture("mc_c_nm_sum", view, modifyList(shard, list(basis = diag(3))), plain, error = TRUE)
torture("mc_c_nm_sum", empty, c(parts["basis"], scans(12 * k)), fast)

lists <- list(start = c(0L, 2L, 2L, 3L), neighbour = c(1L, 7L, 0L), weight = c(0.7, 0.3, 1))
some <- torture("mc_c_view_dense", x[c(1, 5, 8), ])
torture("mc_c_neighbours_mean", view, view, 0:7, NULL, c(2, 0.05, 2))
torture("mc_c_neighbours_mean", view, view, 0:7, c(1, 3, 1, 1, 2, 1, 1, 1), c(2, 0.05, 2))
torture("mc_c_neighbours_mean", view, view, 0:7, c(1, 3), c(2, 0.05, 2), error = TRUE)
torture("mc_c_neighbours_mean", view, some, c(0L, 4L, 7L), lists, c(1, 0.05, 1))
torture("mc_c_neighbours_mean", view, some, NULL, lists, c(0.5, 0.05, 1))
torture("mc_c_neighbours_mean", view, some, 0:1, lists, c(1, 0.05, 1), error = TRUE)
torture("mc_c_neighbours_mean", view, some, NULL, lists[1:2], c(1, 0.05, 1), error = TRUE)
torture("mc_c_neighbours_mean", view, some, c(0L, 4L, 8L), lists, c(1, 0.05, 1), error = TRUE)
torture("mc_c_neighbours_mean", view, some, NULL, modifyList(lists, list(neighbour = c(1L, 8L, 0L))), c(1, 0.05, 1),
  error = TRUE
)

design <- cbind(1, x[, 1:2])
cases <- cbind(x[, 3], 0, 1)
torture("mc_c_equal_spread", x[, 1:2] + 0, 2)
torture("mc_c_equal_spread", x[, 1:2] > 0, 2, error = TRUE)
torture("mc_c_logistic_regression", design, cases, diag(3), matrix(0, 3), c(5L, 2L))
torture("mc_c_logistic_regression", design, cases[-1, ], diag(3), matrix(0, 3), c(5L, 2L), error = TRUE)
torture("mc_c_logistic_regression", design, cases, diag(2), matrix(0, 3), c(5L, 2L), error = TRUE)
torture("mc_c_logistic_regression", design, cases, diag(3), matrix(0, 2), c(5L, 2L), error = TRUE)
torture("mc_c_logistic_regression", design[0, ], cases[0, ], diag(3), matrix(0, 3), c(5L, 2L), error = TRUE)
torture("mc_c_logistic_regression", design, cases, diag(3), matrix(0, 3), 5L, error = TRUE)

scores <- c(0.3, 0.9, 0.3, 0.1)
torture("mc_c_neighbours_loglik", matrix(0.3, nrow(x), ncol(x)), view, 2)
torture("mc_c_neighbours_loglik", matrix(0.3, 2, 2), view, 1, error = TRUE)

probabilities <- matrix(c(0, 0.3, 1, NA), 2)
torture("mc_c_score_odds", probabilities, NULL, c(1e-4, 0, 1))
torture("mc_c_score_odds", probabilities, c(4, 1), c(1e-4, 1, 2))
torture("mc_c_score_odds", probabilities, 5, c(1e-4, 1, 2), error = TRUE)
torture("mc_c_score_odds", 1L, NULL, c(1e-4, 0, 1), error = TRUE)
odds <- list(probabilities, matrix(1:4, 2), c(0.5, 1))
torture("mc_c_stack_cells", odds, c(0, 1, 2, 3), NULL, 1)
torture("mc_c_stack_cells", odds, c(0, 1, 2, 3), diag(4), 2)
torture("mc_c_stack_cells", odds, c(0, 1, 2), NULL, 1, error = TRUE)
torture("mc_c_stack_cells", odds[c(1, 3, 3)], c(0, 1, 2, 3), diag(3), 1, error = TRUE)
hits <- c(TRUE, FALSE, FALSE, TRUE)
pair <- cbind(scores, -scores)
torture("mc_c_ranking", pair, hits, c(1L, 1L, 2L, 2L), 2L, 2L)
torture("mc_c_ranking", pair, replace(hits, 2, NA), c(1L, 1L, 2L, 2L), 2L, 1L, error = TRUE)
torture("mc_c_ranking", pair, hits, c(1L, 1L, 2L, 3L), 2L, 1L, error = TRUE)
torture("mc_c_ranking", pair, hits, c(1L, 1L, 2L, 2L), 2L, 0L, error = TRUE)
torture("mc_c_descend", pair, hits, 2L)
torture("mc_c_descend", scores, hits, 1L, error = TRUE)
torture("mc_c_view_pairs", view)
torture("mc_c_view_times", view, diag(ncol(x)), 2L)
torture("mc_c_view_times", view, diag(ncol(x) + 1), 1L, error = TRUE)
