# Noisy-OR in its three forms, what it reports, and the distinct rows it works on.
set.seed(4)
x <- matrix(as.double(runif(40) < 0.4), 8, 5)
x[c(3, 17)] <- NA
x[8, ] <- x[7, ]
view <- multicause:::data_view(x)
distinct <- torture("mc_c_view_distinct", view)
torture("mc_c_view_distinct", multicause:::data_view(x * 2), error = TRUE)

param <- list(prior = c(0.3, 0.2), links = matrix(runif(10, 0.1, 0.9), 2), leak = rep(0.1, 5), hidden = NULL)
settings <- function(inference, ...) {
  list(
    inference = inference, prior = c(0, 0.5, 0.05, 0.5, 0.1, 1, 3, 0.5, 2), allowed = NULL, weight = distinct$weight,
    inner = 1L, q_steps = 2L, q_rule = 0L, fixed = FALSE, ...
  )
}
control <- list(max_iter = 4L, tol = 0, accelerate = TRUE, n_threads = 1L)
for (inference in 0:2) {
  once <- torture("mc_c_nor_fit", distinct$view, param, settings(inference), control)
  param$hidden <- once$hidden
  torture("mc_c_nor_fit", distinct$view, param, settings(inference), control)
  if (inference > 0) {
    param$hidden <- once$hidden[-3L]
    torture("mc_c_nor_fit", distinct$view, param, settings(inference), control, error = TRUE)
  }
  param["hidden"] <- list(NULL)
}
# With sources that are known.
known <- matrix(c(1L, 0L, NA, NA), 2, nrow(x))
for (inference in 0:1) {
  given <- utils::modifyList(settings(inference, known = known, uniform = runif(8)), list(weight = NULL))
  torture("mc_c_nor_fit", view, param, given, control)
  torture("mc_c_nor_report", view, param, c(given, list(want = list(drawn = TRUE, map = TRUE))))
  torture("mc_c_nor_fit", view, param, modifyList(given, list(known = known[, -1L])), control, error = TRUE)
}
# With probabilities of recording.
recorded <- c(param, list(recorded_share = rep(0.1, 10), recorded_taxon = rep(0.8, 5)))
once <- torture("mc_c_nor_fit", distinct$view, recorded, settings(2L), control)
torture("mc_c_nor_fit", distinct$view, modifyList(recorded, once["hidden"]), settings(2L), control)
torture("mc_c_nor_fit", distinct$view, recorded, settings(2L, hold = c(0.9, 1, 1)), control, error = TRUE)
once$hidden$on <- 1
torture("mc_c_nor_fit", distinct$view, modifyList(recorded, once["hidden"]), settings(2L), control, error = TRUE)
for (inference in 0:1) {
  torture("mc_c_nor_fit", distinct$view, recorded, settings(inference), control)
  torture("mc_c_nor_report", distinct$view, recorded, settings(inference, want = list(site = TRUE, response = TRUE)))
  torture("mc_c_nor_fit", distinct$view, recorded, settings(inference, hold = c(0.9, 1, 1)), control)
}
# With effort, of rows that are not merged.
searched <- c(recorded, list(coef = c(0, -0.1)))
for (inference in 0:2) {
  own <- modifyList(settings(inference, effort = as.double(1:8), want = list(site = TRUE)), list(weight = NULL))
  torture("mc_c_nor_fit", view, searched, own, control)
  if (inference < 2) torture("mc_c_nor_report", view, searched, own)
}
torture("mc_c_nor_fit", view, recorded, own, control, error = TRUE)
# With visits, of rows that are not merged.
visited <- modifyList(settings(1L, made = matrix(2L, 5, 8), found = matrix(1L, 5, 8)), list(weight = NULL))
torture("mc_c_nor_fit", view, recorded, visited, control)
torture("mc_c_nor_report", view, recorded, c(visited, list(want = list(response = TRUE, again = TRUE))))
torture("mc_c_nor_fit", view, param, visited, control, error = TRUE)
torture("mc_c_nor_fit", view, recorded, modifyList(visited, list(made = 1L)), control, error = TRUE)
torture("mc_c_nor_fit", view, recorded, modifyList(visited, list(inference = 0L)), control)
torture("mc_c_nor_fit", distinct$view, param, settings(0L, hold = c(0.9, 1, 1)), control, error = TRUE)
torture(
  "mc_c_nor_fit", distinct$view, modifyList(recorded, list(recorded_share = 1)), settings(0L), control, error = TRUE
)
# Of shards: a driver whose scans return sums of 1 after their head.
of_rows <- modifyList(settings(1L), list(weight = NULL))
shard <- c(list(listed = matrix(0, 8, 33)), param[c("prior", "links", "leak")])
torture("mc_c_nor_sum", view, c(shard, list(evaluate = FALSE)), of_rows, control)
torture("mc_c_nor_sum", view, c(shard, list(evaluate = TRUE)), of_rows, control)
torture("mc_c_nor_sum", view, modifyList(shard, list(listed = matrix(0, 8, 32))), of_rows, control, error = TRUE)
torture("mc_c_nor_sum", view, modifyList(shard, list(listed = matrix(1e6, 8, 33))), of_rows, control, error = TRUE)
torture("mc_c_nor_sum", view, shard, modifyList(of_rows, list(inference = 0L)), control, error = TRUE)
empty <- list(dim = c(0L, 5L), start = 0L, column = integer())
driver <- c(shard[-1], list(steps = shard_steps(33)))
torture("mc_c_nor_sum", empty, driver, of_rows, control)
torture("mc_c_nor_sum", empty, driver[-2], of_rows, control, error = TRUE)
for (space in c("kept", "real")) {
  torture("mc_c_shard_extrapolate", list(diag(3), diag(3), diag(3)), 2, space)
}

torture("mc_c_nor_fit", distinct$view, param[-2], settings(0L), control, error = TRUE)
torture("mc_c_nor_fit", distinct$view, param, settings(3L), control, error = TRUE)

want <- list(loglik = TRUE, activation = TRUE, map = TRUE, response = TRUE, cell = TRUE)
all_rows <- utils::modifyList(settings(0L, want = want), list(weight = NULL))
torture("mc_c_nor_report", view, param, all_rows)
all_rows$inference <- 1L
torture("mc_c_nor_report", view, param, all_rows)
torture("mc_c_nor_report", view, param[-1], all_rows, error = TRUE)

draws <- utils::modifyList(settings(1L), list(
  weight = NULL, proposal = matrix(0.5, 8, 2), n_draw = 20L, seed = 1, floor = 1e-6
))
torture("mc_c_nor_sample", view, param, draws)
draws$proposal <- matrix(0.5, 7, 2)
torture("mc_c_nor_sample", view, param, draws, error = TRUE)

# Draws: without recording, with both parts of it and sources that are known, with effort, of visits.
chain <- list(
  prior = c(0.3, 0.2), links = param$links, leak = param$leak, recorded_share = NULL, recorded_taxon = NULL,
  coef = NULL, on = matrix(0:1, 2, 8), grid = NULL
)
sampler <- function(...) utils::modifyList(settings(1L, ...), list(weight = NULL, prior = c(0, 0.5, -0.5, rep(0.1, 6))))
plan <- list(n_sweep = 4L, thin = 2L, probe = matrix(c(0L, 1L), 2, 1))
torture("mc_c_nor_gibbs", view, chain, sampler(), plan)
torture("mc_c_nor_gibbs", view, chain, sampler(), modifyList(plan, list(thin = 0L)))
found <- modifyList(chain, list(recorded_share = rep(0.1, 10), recorded_taxon = rep(0.8, 5), grid = rep(0:3, 2)))
torture("mc_c_nor_gibbs", view, found, sampler(known = known), plan)
made <- matrix(2L, 5, 8)
torture("mc_c_nor_gibbs", view, found, sampler(made = made, found = matrix(as.integer(t(x) %in% 1), 5)), plan)
curve <- modifyList(found, list(coef = c(0, 0.1)))
torture("mc_c_nor_gibbs", view, curve, sampler(effort = seq(-1, 1, length.out = 8)), plan)
torture("mc_c_nor_gibbs", view, modifyList(found, list(grid = rep(10L, 8))), sampler(), plan, error = TRUE)
torture("mc_c_nor_gibbs", view, modifyList(chain, list(on = matrix(2L, 2, 8))), sampler(), plan, error = TRUE)
torture("mc_c_nor_gibbs", view, chain, sampler(), modifyList(plan, list(n_sweep = -1L)), error = TRUE)
