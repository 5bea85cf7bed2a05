# Fits, certificates and held-out likelihoods of the aspect Bernoulli model.
set.seed(2)
k <- 3L
x <- matrix(as.double(runif(48) < 0.4), 8, 6)
x[c(5, 40)] <- NA
view <- torture("mc_c_view_dense", x)
membership <- matrix(runif(8 * k), 8)
param <- list(
  membership = membership / rowSums(membership), aspects = matrix(runif(k * 6, 0.1, 0.9), k),
  fixed = c(0L, 0L, 1L), fixed_aspects = FALSE
)
plain <- list(max_iter = 3L, tol = 0, accelerate = FALSE, n_threads = 1L)
silent <- function(iteration, objective) NULL
fast <- list(max_iter = 8L, tol = 1e-6, accelerate = TRUE, n_threads = 2L, on_tick = silent)
alike <- function(...) matrix(c(...), k, 3, byrow = TRUE) # the prior of every component
flat <- alike(0, 0, 0)

torture("mc_c_ab_fit", view, param, flat, plain)
torture("mc_c_ab_fit", view, param, alike(0.2, 1, 0.5), fast)
torture("mc_c_ab_fit", view, modifyList(param, list(fixed_aspects = TRUE)), flat, fast)
torture("mc_c_ab_fit", view, modifyList(param, list(fixed = 0L)), flat, plain, error = TRUE)
torture("mc_c_ab_fit", view, param, flat, modifyList(plain, list(max_iter = -1L)), error = TRUE)
sites <- list(n = 8L, age = cbind(c(1:7, NA), c(2:8, NA)) + 0, place = NULL, distance = NULL,
  plane = rbind(c(1:7, NA), 8:1) + 0, variables = matrix(1:24 + 0, 3))
lists <- torture("mc_c_neighbours", sites, sites, c(1, 1, 1, 1), 0:7, c(4.6, 3, 2))
torture("mc_c_neighbours", sites, sites, 1, NULL, c(4.6, 3, 2), error = TRUE)
torture("mc_c_neighbours", sites, sites, c(1, 1, 1, 1), 0:7, c(4.6, NaN, 2), error = TRUE)
torture("mc_c_neighbours", sites, sites["n"], c(1, 1, 1, 1), 0:7, c(4.6, 3, 2), error = TRUE)
at <- order(lists$neighbour)
smooth <- c(list(strength = 5, recording = 2), lists, list(
  back_start = c(0L, cumsum(tabulate(lists$neighbour + 1L, 8L))), back_row = rep(0:7, diff(lists$start))[at],
  back_weight = lists$weight[at]
))
torture("mc_c_ab_fit", view, c(param, list(smooth = smooth)), flat, fast)
torture("mc_c_smooth_pulls", param$membership, param$fixed, smooth, 1L)
torture("mc_c_smooth_pulls", param$membership, param$fixed, NULL, 1L, error = TRUE)
torture("mc_c_smooth_pulls", param$membership, 1, smooth, 1L, error = TRUE)
wrongs <- list(neighbour = lists$neighbour + 8L, back_row = smooth$back_row - 1L, start = rev(lists$start))
for (i in seq_along(wrongs)) {
  wrong <- modifyList(smooth, wrongs[i])
  torture("mc_c_smooth_pulls", param$membership, param$fixed, wrong, 1L, error = TRUE)
}
torture("mc_c_ab_fit", view, c(param, list(smooth = modifyList(smooth, list(strength = 0)))), flat, fast, error = TRUE)
all_fixed <- c(modifyList(param, list(fixed = c(1L, 1L, 1L))), list(smooth = smooth))
torture("mc_c_ab_fit", view, all_fixed, flat, fast, error = TRUE)
labels <- list(weights = rep(1 / k, k), prototypes = param$aspects, membership = param$membership, smooth = smooth)
torture("mc_c_bm_fit", view, labels, c(0.2, 1, 0), fast)
torture("mc_c_bm_fit", view, modifyList(labels, list(membership = diag(3))), c(0, 0, 0), plain, error = TRUE)
shares <- list(
  membership = param$membership, basis = param$aspects / rowSums(param$aspects), fixed_basis = FALSE, missing = 0L,
  newton = FALSE, smooth = smooth
)
torture("mc_c_plsa_fit", view, shares, list(basis = 0, rule = 0L, basis_added = 0), fast)
torture("mc_c_ab_certify", view, param, flat)
torture("mc_c_ab_certify", view, param, c(0, 0, 0), error = TRUE)
torture("mc_c_ab_certify", view, param, alike(-1, 0, 0), error = TRUE)

white <- modifyList(param, list(coef = c(0.1, -0.3), effort = as.double(1:8) / 4))
white$aspects[3, ] <- 0
torture("mc_c_ab_effort_fit", view, white, flat, plain)
torture("mc_c_ab_effort_fit", view, white, alike(0.2, 1, 0.5), fast)
torture("mc_c_ab_effort_fit", view, modifyList(white, list(coef = 1)), flat, plain, error = TRUE)

cell <- array(as.integer(runif(96) < 0.4), c(8, 6, 2))
cell[c(3, 60)] <- NA
visits <- list(
  membership = param$membership, aspects = param$aspects, missed = matrix(0.3, 8, 2), added = c(0.1, 0.2),
  missed_by = 0L, fit_added = TRUE
)
by_attribute <- modifyList(visits, list(missed = matrix(0.3, 6, 2), missed_by = 1L, fit_added = FALSE))
torture("mc_c_ab_visits_fit", cell, visits, flat, plain)
torture("mc_c_ab_visits_fit", cell, by_attribute, alike(0.2, 1, 0.5), fast)
torture("mc_c_ab_visits_fit", cell, modifyList(visits, list(missed_by = 1L)), flat, plain, error = TRUE)
torture("mc_c_ab_visits_posterior", cell, visits)
torture("mc_c_ab_visits_posterior", cell, modifyList(visits, list(added = 1)), error = TRUE)

by_model <- list(
  membership = param$membership, aspects = param$aspects, slopes = matrix(0.1, 2, 6), added = c(0, 0), missed_by = 3L,
  fit_added = FALSE, detection = list(design = rbind(1, rnorm(16)), mean = matrix(0, 2, 6), ridge = c(1, 1))
)
torture("mc_c_ab_visits_fit", cell, by_model, alike(0.2, 1, 0.5), fast)
follows <- list(effects = matrix(0.1, 2, 3), communities = list(design = rbind(1, rnorm(8)), ridge = 1))
torture("mc_c_ab_visits_fit", cell, c(by_model, follows), alike(0.2, 1, 0), fast)
torture("mc_c_ab_visits_fit", cell, c(visits, follows["communities"]), flat, plain, error = TRUE)
torture("mc_c_ab_visits_posterior", cell, by_model)
torture("mc_c_ab_visits_inform", cell, by_model, flat)
torture("mc_c_ab_visits_inform", cell, visits, flat, error = TRUE)
torture("mc_c_ab_visits_polish", cell, by_model, flat, 3L)
torture("mc_c_ab_visits_polish", cell, visits, flat, 3L, error = TRUE)
sampled <- c(by_model, list(center = c(0, 0, 0), spread = c(1, 1), beta = c(1, 1)))
sweeps <- list(
  n_sweep = 4L, thin = 2L, keep_every = 1L, on_tick = function(iteration, objective) NULL,
  sharing = list(shared = TRUE, taxon = matrix(1, 6, 1), intercept = 0L, center_sd = 1)
)
torture("mc_c_ab_visits_gibbs", cell, sampled, alike(0.5, 0.5, 1), sweeps)
torture("mc_c_ab_visits_gibbs", cell, c(sampled, follows), alike(0.5, 0.5, 1), sweeps)
torture("mc_c_ab_visits_gibbs", cell, modifyList(sampled, list(spread = 1)), alike(0.5, 0.5, 1), sweeps, error = TRUE)

state <- list(
  membership = 1 + 6 * param$membership, one = 1 + param$aspects, zero = 2 - param$aspects, fixed = c(0L, 0L, -1L),
  fixed_aspects = FALSE
)
torture("mc_c_ab_vb_fit", view, state, alike(0.5, 0.5, 1), plain)
torture("mc_c_ab_vb_fit", view, state, alike(0.5, 0.5, 1), fast)
torture("mc_c_ab_vb_fit", view, modifyList(state, list(fixed_aspects = TRUE)), alike(0.5, 0.5, 1), fast)
torture("mc_c_ab_vb_fit", view, state, alike(0, 0.5, 1), plain, error = TRUE)

chain <- list(membership = param$membership, aspects = param$aspects, fixed = c(0L, 0L, -1L))
chain$aspects[3, ] <- 0
plan <- list(
  n_sweep = 4L, thin = 2L, keep_every = 1L, reference = chain$aspects[c(2, 1, 3), ], kind = c(0L, 0L, 1L),
  probe = c(0L, 1L), n_stat = 6L, on_tick = function(iteration, objective) NULL
)
torture("mc_c_ab_gibbs_run", view, chain, alike(0.5, 0.5, 1), plan)
torture("mc_c_ab_gibbs_run", view, chain, alike(0.5, 0.5, 1), utils::modifyList(plan, list(thin = 0L, n_stat = 0L)))
torture("mc_c_ab_gibbs_run", view, chain, alike(0.5, 0.5, 1), utils::modifyList(plan, list(kind = 0L)), error = TRUE)
torture("mc_c_ab_gibbs_run", view, chain, alike(0.5, 0, 1), plan, error = TRUE)

shard <- c(param, list(evaluate = FALSE, before = param$membership))
for (algorithm in c("em", "newton", "sparse")) {
  torture("mc_c_ab_fit", view, shard, flat, modifyList(plain, list(algorithm = algorithm)))
}
torture("mc_c_ab_fit", view, modifyList(shard, list(evaluate = TRUE)), flat, plain)
torture("mc_c_ab_fit", view, modifyList(shard, list(before = 1)), flat, plain, error = TRUE)
for (space in c("simplex", "positive", "real")) {
  torture("mc_c_shard_extrapolate", rep(list(param$membership), 3), 2, space)
}
torture("mc_c_shard_extrapolate", list(param$membership, 1, 1), 2, "simplex", error = TRUE)
driver <- modifyList(param, list(membership = matrix(0, 0, ncol(param$membership))))
counts <- length(param$aspects)
driver$steps <- shard_steps(2 * counts)
empty <- list(dim = c(0L, ncol(param$aspects)), start = 0L, column = integer())
torture("mc_c_ab_fit", empty, driver, flat, fast)
lost <- modifyList(driver, list(steps = list(iteration = function(...) stop("lost"))))
torture("mc_c_ab_fit", empty, lost, flat, fast, error = TRUE)
lost$steps["save"] <- list("no function")
torture("mc_c_ab_fit", empty, lost, flat, fast, error = TRUE)
followed <- c(white, list(evaluate = FALSE, before = white$membership))
for (algorithm in c("em", "newton")) {
  torture("mc_c_ab_effort_fit", view, followed, flat, modifyList(plain, list(algorithm = algorithm)))
}
torture("mc_c_ab_effort_fit", view, modifyList(followed, list(evaluate = TRUE)), flat, plain)
torture("mc_c_ab_effort_fit", view, modifyList(followed, list(effort = 1)), flat, plain, error = TRUE)
torture("mc_c_ab_effort_impose", white$membership, white$coef, white$effort)
torture("mc_c_ab_effort_impose", white$membership, 1, white$effort, error = TRUE)
curve <- modifyList(driver, list(coef = white$coef, effort = c(-1, 0.5), cells = c(2, 4), aspects = white$aspects))
torture("mc_c_ab_effort_fit", empty, curve, flat, modifyList(fast, list(max_iter = 4L)))
torture("mc_c_ab_effort_fit", empty, modifyList(curve, list(cells = 1)), flat, fast, error = TRUE)
