# Fits and draws of the aspect model of several values.
set.seed(8)
k <- 2L
x <- matrix(sample(0:2, 48, TRUE), 8, 6)
x[c(5, 40)] <- NA
view <- torture("mc_c_view_dense", x)
profiles <- array(runif(k * 6 * 3, 0.1, 1), c(k, 6, 3))
profiles <- profiles / as.vector(apply(profiles, 1:2, sum))
param <- list(
  membership = matrix(1 / k, 8, k), profiles = matrix(profiles, k), fixed = c(0L, 0L), n_value = 3L,
  fixed_profiles = FALSE
)
plain <- list(max_iter = 3L, tol = 0, accelerate = FALSE, n_threads = 1L)
fast <- list(max_iter = 8L, tol = 1e-6, accelerate = TRUE, n_threads = 2L)
none <- matrix(0, k + 3)
torture("mc_c_ac_fit", view, param, none, plain)
torture("mc_c_ac_fit", view, param, none + 0.2, fast)
torture("mc_c_ac_fit", view, modifyList(param, list(fixed_profiles = TRUE)), none, fast)
torture("mc_c_ac_fit", view, modifyList(param, list(fixed = c(0L, 1L))), none, fast)
torture("mc_c_ac_fit", view, modifyList(param, list(n_value = 2L)), none, plain, error = TRUE)
torture("mc_c_ac_fit", view, modifyList(param, list(membership = diag(3))), none, plain, error = TRUE)
torture("mc_c_ac_fit", view, param, none - 1, plain, error = TRUE)
torture("mc_c_ac_fit", view, param, matrix(0, 3), plain, error = TRUE)
two <- torture("mc_c_view_dense", x %/% 2L)
torture("mc_c_ac_fit", two, modifyList(param, list(profiles = matrix(0.5, k, 12), n_value = 2L)), matrix(0, 4), plain)
torture("mc_c_ac_fit", view, modifyList(param, list(profiles = matrix(0.5, k, 12), n_value = 2L)), matrix(0, 4), plain,
  error = TRUE)

plan <- list(
  n_sweep = 4L, thin = 2L, keep_every = 1L, probe = c(0L, 1L), on_tick = function(iteration, objective) NULL
)
torture("mc_c_ac_gibbs_run", view, param, none + 0.5, plan)
torture("mc_c_ac_gibbs_run", view, modifyList(param, list(fixed = c(0L, 1L))), none + 0.5, plan)
torture("mc_c_ac_gibbs_run", view, param, none + 0.5, modifyList(plan, list(thin = 0L)))
torture("mc_c_ac_gibbs_run", view, param, none, plan, error = TRUE)
torture("mc_c_ac_gibbs_run", view, param, none + 0.5, modifyList(plan, list(n_sweep = -1L)), error = TRUE)
