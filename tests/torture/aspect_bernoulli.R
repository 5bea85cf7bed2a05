# Fits, certificates and held-out likelihoods of the aspect Bernoulli model.
set.seed(2)
k <- 3L
x <- matrix(as.double(runif(48) < 0.4), 8, 6)
x[c(5, 40)] <- NA
view <- torture("mc_c_view_dense", x)
membership <- matrix(runif(8 * k), 8)
param <- list(
  membership = membership / rowSums(membership), aspects = matrix(runif(k * 6, 0.1, 0.9), k),
  pinned = c(0L, 0L, 1L), fixed_aspects = FALSE
)
plain <- list(max_pass = 3L, tol = 0, accelerate = FALSE, n_threads = 1L)
fast <- list(max_pass = 30L, tol = 1e-6, accelerate = TRUE, n_threads = 2L, on_tick = function(pass, objective) NULL)
flat <- c(0, 0, 0)

torture("mc_c_ab_fit", view, param, flat, plain)
torture("mc_c_ab_fit", view, param, c(0.2, 1, 0.5), fast)
torture("mc_c_ab_fit", view, modifyList(param, list(fixed_aspects = TRUE)), flat, fast)
torture("mc_c_ab_fit", view, modifyList(param, list(pinned = 0L)), flat, plain, error = TRUE)
torture("mc_c_ab_fit", view, param, flat, modifyList(plain, list(max_pass = -1L)), error = TRUE)
torture("mc_c_ab_certify", view, param, flat)
torture("mc_c_ab_certify", view, param, c(-1, 0, 0), error = TRUE)
torture("mc_c_ab_test_loglik", view, param, 1e-9)
torture("mc_c_ab_test_loglik", view, modifyList(param, list(aspects = diag(3))), 1e-9, error = TRUE)

white <- modifyList(param, list(coef = c(0.1, -0.3), effort = as.double(1:8) / 4))
white$aspects[3, ] <- 0
torture("mc_c_ab_effort_fit", view, white, flat, plain)
torture("mc_c_ab_effort_fit", view, white, c(0.2, 1, 0.5), fast)
torture("mc_c_ab_effort_fit", view, modifyList(white, list(coef = 1)), flat, plain, error = TRUE)
