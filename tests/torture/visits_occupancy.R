# Occupancy of each taxon: EM, modes, draws and pointwise sums.
set.seed(5)
rows <- list(
  first = c(0L, 3L, 5L), kind = c(0L, 1L, 2L, 0L, 2L), found = matrix(c(0L, 1L, NA, 0L, 0L, 0L, 1L, 1L, NA, 0L), 2),
  count = c(2, 1, 3, 1, 1), presence = rbind(1, rnorm(3)), detection = rbind(1, rnorm(6)), node = exp(c(-1, 0, 1)),
  weight = c(0.25, 0.5, 0.25)
)
param <- list(theta = matrix(0, 4, 2), center = numeric(4), spread = rep(1, 4))
prior <- list(center_sd = rep(1, 4), spread_prior = rep(0.5, 4), spread_sd = rep(1, 4))
plain <- list(max_iter = 3L, tol = 0, accelerate = FALSE, n_threads = 1L)
torture("mc_c_occ_fit", rows, param, prior, plain)
torture("mc_c_occ_fit", rows, param, prior[-3], plain, error = TRUE)
torture("mc_c_occ_fit", rows, modifyList(param, list(spread = numeric(4))), prior, plain, error = TRUE)
at <- torture("mc_c_occ_modes", rows, param)
torture("mc_c_occ_modes", modifyList(rows, list(kind = c(0L, 1L, 2L, 0L, 3L))), param, error = TRUE)
torture("mc_c_occ_modes", modifyList(rows, list(first = c(0L, 4L, 3L))), param, error = TRUE)
plan <- list(n_sweep = 4L, thin = 2L, mode = at$theta, precision = at$precision)
plan$on_tick <- function(iteration, objective) NULL
torture("mc_c_occ_sample", rows, param, prior, plan)
torture("mc_c_occ_sample", rows, param, prior, modifyList(plan, list(mode = 0)), error = TRUE)
torture("mc_c_occ_pointwise", rows, 1L, matrix(0, 4, 3))
torture("mc_c_occ_pointwise", rows, 2L, matrix(0, 4, 3), error = TRUE)
