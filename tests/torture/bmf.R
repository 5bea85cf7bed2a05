# Sweeps and predictions of binary matrix factorization.
set.seed(5)
x <- matrix(as.double(runif(24) < 0.4), 6, 4)
y <- replace(x, c(3, 14), NA)
model <- function(family, infinite = TRUE) {
  list(
    family = family, infinite = rep(infinite, 2), n_fixed = c(1L, 0L), beta = c(1, 1), learned = rep(TRUE, 7),
    shape = rep(2, 7), rate = rep(2, 7)
  )
}
state <- list(
  rows = matrix(as.raw(c(rep(1, 6), runif(12) < 0.5)), 6), columns = matrix(as.raw(runif(8) < 0.6), 4),
  weights = matrix(runif(6), 3), hyper = rep(1, 7)
)
plan <- list(
  n_sweep = 3L, thin = 1L, power = NULL, block = TRUE, multi = TRUE, split_merge = 1L, collapsed = FALSE,
  probe = c(0L, 1L), want_mean = TRUE, want_best = TRUE, best_joint = -Inf, n_threads = 1L, on_tick = NULL
)
views <- lapply(list(x, t(x), y, t(y)), function(cells) torture("mc_c_view_dense", cells))
for (family in 0:2) {
  torture("mc_c_bmf_run", views[[3]], views[[4]], model(family), state, plan)
  torture("mc_c_bmf_predict", views[[3]], views[[4]], model(family, FALSE), state, list(
    count = c(6L, 3L, 2L), n_extern = 6L, n_sweep = 3L
  ))
}
collapsed <- model(0L)
collapsed$learned[3] <- FALSE
zero <- state
zero$hyper[3] <- 0
torture("mc_c_bmf_run", views[[1]], views[[2]], collapsed, zero, utils::modifyList(plan, list(collapsed = TRUE)))
ramp <- utils::modifyList(plan, list(power = c(0.1, 0.5, 1), on_tick = function(iteration, objective) NULL))
torture("mc_c_bmf_run", views[[1]], views[[2]], model(0L, FALSE), state, ramp)
torture("mc_c_bmf_run", views[[1]], views[[1]], model(0L), state, plan, error = TRUE)
torture("mc_c_bmf_run", views[[1]], views[[2]], model(0L), utils::modifyList(state, list(weights = matrix(1, 2, 2))),
  plan, error = TRUE)
