# Fits of PLSA and PLCA, the entropic M-step and the Lambert W function.
set.seed(3)
k <- 3L
x <- matrix(as.double(rpois(48, 1.5)), 8, 6)
full <- torture("mc_c_view_dense", x)
x[c(5, 40)] <- NA
holed <- torture("mc_c_view_dense", x)
simplex <- function(n, m) {
  rows <- matrix(runif(n * m, 0.1, 1.1), n)
  rows / rowSums(rows)
}
plain <- list(max_pass = 3L, tol = 0, accelerate = FALSE, n_threads = 1L)
fast <- list(max_pass = 30L, tol = 1e-6, accelerate = TRUE, n_threads = 2L, on_tick = function(pass, objective) NULL)

param <- list(
  membership = simplex(8, k), basis = simplex(k, 6), fixed_basis = FALSE, missing = 0L, newton = FALSE
)
none <- list(membership = NULL, basis = 0, rule = 0L, row_added = NULL, basis_added = 0)
added <- modifyList(none, list(row_added = rep(0.1, 3), basis_added = 0.2))
sparse <- modifyList(none, list(membership = rep(0.4, 8), basis = -0.2, rule = 1L))
torture("mc_c_plsa_fit", holed, param, none, plain)
torture("mc_c_plsa_fit", holed, param, sparse, fast)
torture("mc_c_plsa_fit", holed, param, added, fast)
torture("mc_c_plsa_fit", holed, param, modifyList(added, list(row_added = 0.1)), plain, error = TRUE)
torture("mc_c_plsa_fit", holed, param, modifyList(added, list(basis_added = -1)), plain, error = TRUE)
state <- list(rows = 5 * param$membership, basis = 9 * param$basis, prior = rep(0.5, k + 1L))
state <- c(state, list(fixed_basis = FALSE, learn = TRUE, missing = 0L))
torture("mc_c_plsa_vb_fit", holed, state, NULL, fast)
torture("mc_c_plsa_vb_fit", full, modifyList(state, list(fixed_basis = TRUE, learn = FALSE)), NULL, plain)
torture("mc_c_plsa_vb_fit", full, modifyList(state, list(prior = 1)), NULL, plain, error = TRUE)
paper <- modifyList(param, list(missing = 1L, fixed_basis = TRUE))
torture("mc_c_plsa_fit", holed, paper, modifyList(sparse, list(rule = 2L)), fast)
torture("mc_c_plsa_fit", full, modifyList(param, list(newton = TRUE)), none, fast)
torture("mc_c_plsa_fit", holed, modifyList(param, list(newton = TRUE)), none, fast, error = TRUE)
torture("mc_c_plsa_fit", full, modifyList(param, list(basis = diag(k))), none, plain, error = TRUE)
torture("mc_c_plsa_fit", full, param, modifyList(none, list(rule = 3L)), plain, error = TRUE)

shard <- c(param, list(before = param$membership))
torture("mc_c_plsa_shard", holed, shard, added, fast)
torture("mc_c_plsa_shard", holed, modifyList(shard, list(look = TRUE)), none, plain)
torture("mc_c_plsa_shard", holed, modifyList(shard, list(before = 1)), none, plain, error = TRUE)
torture("mc_c_plsa_shard", holed, modifyList(shard, list(basis = diag(k))), none, plain, error = TRUE)
empty <- list(dim = c(0L, 6L), start = 0L, column = integer())
driver <- c(param[c("basis", "missing")], list(scan = function(what, value, more) {
  switch(what, pass = c(-10, rep(0, 6), rep(1, 18)), objective = c(-10, rep(0, 6)), NULL)
}))
torture("mc_c_plsa_shards_fit", empty, driver, none, fast)
torture("mc_c_plsa_shards_fit", empty, modifyList(driver, list(missing = 7L)), none, fast, error = TRUE)
stopped <- list(go_on = list(cycles = c(-20, -30, 4, 0), shared = param["basis"]))
torture("mc_c_plsa_shards_fit", empty, c(driver, stopped), none, fast)
stopped$go_on$cycles <- 1
torture("mc_c_plsa_shards_fit", empty, c(driver, stopped), none, fast, error = TRUE)

at <- arrayInd(which(x > 0), dim(x))
cells <- list(
  extent = dim(x), index = t(at) - 1L, value = x[at], na_index = t(arrayInd(which(is.na(x)), dim(x))) - 1L
)
param <- list(weights = rep(1 / k, k), marginals = list(simplex(k, 8), simplex(k, 6)), fixed = c(FALSE, FALSE))
pairs <- matrix(c(0, 2, -1, 2, 0, 1, -1, 1, 0), 3)
prior <- list(method = 0L, floor = 1e-4, pairs = list(NULL, pairs), anneal = 1)
torture("mc_c_plca_fit", cells, param, replace(prior, "pairs", list(list(NULL, NULL))), plain)
for (method in 0:2) torture("mc_c_plca_fit", cells, param, modifyList(prior, list(method = method)), fast)
torture("mc_c_plca_fit", cells, param, modifyList(prior, list(anneal = c(1, 0.5, 0))), plain)
torture("mc_c_plca_fit", cells, modifyList(param, list(fixed = c(FALSE, TRUE))), prior, fast)
torture("mc_c_plca_fit", modifyList(cells, list(index = cells$index + 1L)), param, prior, plain, error = TRUE)
torture("mc_c_plca_fit", cells, param, replace(prior, "pairs", list(list(diag(2), NULL))), plain, error = TRUE)
torture("mc_c_plca_prior", cells, param, prior)
torture("mc_c_plca_prior", cells, param, modifyList(prior, list(method = 3L)), error = TRUE)
