/* The kernels of PLSA and PLCA and their numerics: no overruns, and the guarantees of their
 * headers. */
#include "check_data.h"
#include "num/lambert.h"
#include "num/poisson_newton.h"
#include "num/simplex.h"
#include "plca/plca.h"
#include "plsa/plsa.h"
#include "plsa/vb.h"

static void test_lambert(void) {
  const double excess[] = {1e-20, 1e-6, 1e-3, 0.1, 1, 5, 100, 1e10};
  for (int i = 0; i < 8; i++) {
    const double lower = num_lambert_lower(excess[i]);
    CHECK(lower >= 1);
    if (excess[i] > 1e-4) CHECK_NEAR(lower - log(lower) - 1, excess[i], 1e-11);
  }
  for (int i = 0; i < 230; i++) {
    const double log_x = -700 + 7.3 * i;
    const double w = num_lambert_exp(log_x);
    CHECK_NEAR(w + log(w), log_x, 1e-13);
  }
}

static double entropic_value(const double *counts, const double *theta, int n, double beta) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (counts[i] > 0) sum += counts[i] * log(theta[i]);
    if (theta[i] > 0) sum += beta * theta[i] * log(theta[i]);
  }
  return sum;
}

static void test_entropic(void) {
  for (int n = 1; n < 12; n++) {
    for (int b = 0; b < 10; b++) {
      const double beta = -8 + 1.7 * b;
      double *counts = exact(n), *scratch = exact(n), *best = exact(n), *step = exact(n);
      for (int i = 0; i < n; i++) counts[i] = i % 4 == 3 ? 0 : 3 * check_uniform();
      for (int i = 0; i < n; i++) step[i] = 1.0 / n;
      CHECK(num_entropic(counts, n, beta, NUM_GLOBAL, best, scratch));
      double sum = 0, before = entropic_value(counts, step, n, beta);
      for (int i = 0; i < n; i++) sum += best[i];
      CHECK_NEAR(sum, 1, 1e-14);
      for (int pass = 0; pass < 20; pass++) { /* every cheap step gains, none beyond the maximum */
        num_entropic(counts, n, beta, NUM_CCCP, step, scratch);
        const double now = entropic_value(counts, step, n, beta);
        CHECK(now >= before - 1e-12 * fabs(before));
        before = now;
      }
      CHECK(entropic_value(counts, best, n, beta) >= before - 1e-10 * fabs(before));
    }
  }
  double zero = 0, one = 0.5, spare = 0;
  CHECK(!num_entropic(&zero, 1, 1, NUM_GLOBAL, &one, &spare));
  CHECK(one == 0.5);
}

static void test_simplex_linear(void) {
  const double counts[] = {2, 0, 1}, linear[] = {0, 50, 1};
  double *theta = exact(3);
  num_simplex_linear(counts, linear, 3, theta);
  CHECK_NEAR(theta[0], 2 / 50.0, 1e-14);
  CHECK_NEAR(theta[2], 1 / 49.0, 1e-14);
  CHECK_NEAR(theta[0] + theta[1] + theta[2], 1, 1e-15);
}

/* A table of counts from a 0/1 one: every buffer of its exact size. */
static mc_data count_view(const double *x, int n, int m) {
  mc_data data = check_view(x, n, m);
  double *value = exact(data.start[n]);
  for (int e = 0; e < data.start[n]; e++) value[e] = 1 + floor(5 * check_uniform());
  data.value = value;
  return data;
}

static double *row_simplex(int k, int m) { return check_simplex(k, m); }

static void run_plsa(double density, double missing, plsa_missing rule, double beta, bool by_newton,
                     int n_threads) {
  const int n = 90, m = 7, k = 3;
  const mc_host host = check_host();
  const mc_data data = count_view(check_table(n, m, density, missing), n, m);
  double *strength = exact(n);
  for (int i = 0; i < n; i++) strength[i] = beta;
  const plsa_prior prior = {
      .membership = beta != 0 ? strength : NULL, .basis = -beta / 2, .rule = NUM_CCCP};
  plsa_param par = {k, check_simplex(n, k), row_simplex(k, m), false, NULL};
  plsa_work *work = plsa_new_work(&data, &prior, rule, k, n_threads, &host);
  plsa_newton *newton = by_newton ? plsa_new_newton(&data, k, n_threads, &host) : NULL;
  double before = -INFINITY;
  for (int pass = 0; pass < 12; pass++) {
    const double now =
        newton ? plsa_newton_pass(&data, &par, newton) : plsa_pass(&data, &par, work);
    CHECK(isfinite(now) && now >= before - 1e-12 * fabs(now));
    before = now;
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int c = 0; c < k; c++) sum += par.membership[num_at(i, c, n)];
      CHECK_NEAR(sum, 1, 1e-13);
    }
  }
  CHECK(plsa_objective(&data, &par, work) >= before - 1e-12 * fabs(before));
}

/* Dirichlet priors: iterations to the mode, and of variational Bayes with estimated priors. */
static void run_lda(double density, double missing, bool bayes, bool fixed, int n_threads) {
  const int n = 90, m = 7, k = 3;
  const mc_host host = check_host();
  const mc_data data = count_view(check_table(n, m, density, missing), n, m);
  double *added = exact(k), *prior = exact(k + 1);
  for (int c = 0; c <= k; c++) prior[c] = 0.1 + c;
  for (int c = 0; c < k; c++) added[c] = 0.3 * c;
  const plsa_prior mode = {.row_added = added, .basis_added = 0.1};
  plsa_param par = {k, check_simplex(n, k), row_simplex(k, m), fixed, NULL};
  plsa_vb_param state = {k, par.membership, par.basis, prior, fixed, true};
  plsa_vb_self self = {&data, &state,
                       plsa_vb_new_work(&data, PLSA_CONDITIONAL, &state, n_threads, &host)};
  const mc_model model = plsa_vb_model(&self);
  plsa_work *work = plsa_new_work(&data, &mode, PLSA_CONDITIONAL, k, n_threads, &host);
  double before = -INFINITY;
  for (int pass = 0; pass < 12; pass++) {
    const double now = bayes ? model.pass(model.self) : plsa_pass(&data, &par, work);
    CHECK(isfinite(now) && now >= before - 1e-12 * fabs(now));
    before = now;
  }
  const double now = bayes ? model.objective(model.self) : plsa_objective(&data, &par, work);
  CHECK(now >= before - 1e-12 * fabs(before));
}

static void test_plsa(void) {
  const double densities[] = {0.05, 0.6};
  for (int d = 0; d < 2; d++) {
    run_plsa(densities[d], 0, PLSA_CONDITIONAL, 0, false, 1);
    run_plsa(densities[d], 0, PLSA_CONDITIONAL, 0, true, 2);
    run_plsa(densities[d], 0.1, PLSA_CONDITIONAL, 0.3, false, 2);
    run_plsa(densities[d], 0.1, PLSA_PAPER, -0.3, false, 1);
    for (int kind = 0; kind < 4; kind++) run_lda(densities[d], 0.1, kind & 1, kind & 2, 1 + d);
  }
}

static void run_plca(plca_method method, double a, bool dirichlet, double beta) {
  enum { N_DIM = 3, CELLS = 40, MISSING = 3, K = 3 };
  static const int extent[N_DIM] = {5, 4, 3};
  const mc_host host = check_host();
  int *index = exact_int((ptrdiff_t) N_DIM * CELLS);
  int *na_index = exact_int((ptrdiff_t) N_DIM * MISSING);
  double *value = exact(CELLS), *pairs = exact((ptrdiff_t) K * K), *added = exact(K);
  for (int e = 0; e < CELLS + MISSING; e++) { /* cells 0 .. 42 of 60 */
    int *at = e < CELLS ? index + num_at(0, e, N_DIM) : na_index + num_at(0, e - CELLS, N_DIM);
    at[0] = e % 5;
    at[1] = e / 5 % 4;
    at[2] = e / 20;
  }
  for (int e = 0; e < CELLS; e++) value[e] = 1 + floor(9 * check_uniform());
  for (int i = 0; i < K * K; i++) pairs[i] = a;
  for (int c = 0; c < K; c++) added[c] = c;
  const plca_cells cells = {N_DIM, extent, CELLS, index, value, MISSING, na_index};
  plca_prior prior = {.method = method, .floor = 1e-4, .pairs = {NULL, pairs, NULL}};
  if (dirichlet) prior.weights_added = added;
  for (int d = 0; d < N_DIM && dirichlet; d++) prior.marginals_added[d] = d;
  prior.weights_sparsity = beta;
  for (int d = 0; d < N_DIM; d++) prior.marginals_sparsity[d] = d * beta;
  plca_param par = {.k = K, .weights = check_simplex(1, K)};
  for (int d = 0; d < N_DIM; d++) par.marginals[d] = row_simplex(K, extent[d]);
  plca_work *work = plca_new_work(&cells, &prior, K, 2, &host);
  double before = -INFINITY;
  for (int pass = 0; pass < 20; pass++) {
    const double now = plca_pass(&cells, &par, work);
    CHECK(isfinite(now));
    if (method != PLCA_PAPER) CHECK(now >= before - 1e-12 * fabs(now));
    before = now;
  }
  CHECK(!isnan(plca_objective(&cells, &par, work)));
}

static void test_plca(void) {
  const plca_method methods[] = {PLCA_JS, PLCA_PAPER, PLCA_MM};
  for (int m = 0; m < 3; m++)
    for (int a = -20; a <= 20; a += 8)
      for (int dirichlet = 0; dirichlet < 2; dirichlet++)
        if (!dirichlet || methods[m] != PLCA_PAPER) run_plca(methods[m], a, dirichlet, 0);
}

static void test_plca_sparse(void) {
  for (int a = -20; a <= 20; a += 20)
    for (int beta = -8; beta <= 8; beta += 16)
      for (int dirichlet = 0; dirichlet < 2; dirichlet++) {
        run_plca(PLCA_JS, a, dirichlet, beta);
        run_plca(PLCA_MM, a, dirichlet, beta);
      }
}

/* Newton's steps of one row: none decreases the objective, the last has nothing to gain. */
static void run_poisson(int k, int r, bool counts) {
  const mc_host host = check_host();
  double *held = check_probabilities((ptrdiff_t) k * r), *x = check_probabilities(k);
  double *linear = check_probabilities(k), *v = exact(r), before = -INFINITY;
  int *at = exact_int(r);
  for (int e = 0; e < r; e++) at[e] = e;
  for (int e = 0; e < r; e++) v[e] = 0.01 + 4 * check_uniform();
  for (int e = 0; e < k * r; e += 3) held[e] = 0;
  for (int e = 0; e < r; e++) held[num_at(e % k, e, k)] = 0.5;
  const num_poisson_row row = {held, linear, k, r, at, counts ? v : NULL};
  num_poisson s = num_new_poisson(k, r, mc_doubles(&host, num_poisson_size(k, r), 1),
                                  exact_int(3 * (ptrdiff_t) k));
  for (int round = 0; round < 60; round++) {
    num_poisson_means(&row, x, &s);
    double value = 0;
    for (int e = 0; e < r; e++) value += (counts ? v[e] : 1) * log(s.p[e]);
    for (int c = 0; c < k; c++) value -= linear[c] * x[c];
    CHECK(value >= before - 1e-12 * (fabs(value) + 1));
    before = value;
    num_poisson_newton(&row, x, &s);
  }
  num_poisson_means(&row, x, &s);
  for (int c = 0; c < k; c++) {
    CHECK(x[c] >= 0);
    if (linear[c] > 0) CHECK(s.pull[c] - linear[c] < 1e-6 * (linear[c] + s.pull[c]));
    if (linear[c] > 0 && x[c] > 1e-6)
      CHECK(fabs(s.pull[c] - linear[c]) < 1e-6 * (linear[c] + s.pull[c]));
  }
}

static void test_poisson(void) {
  for (int k = 1; k <= 9; k++)
    for (int r = 1; r <= 40; r += 13) {
      run_poisson(k, r, false);
      run_poisson(k, r, true);
    }
  run_poisson(30, 200, true); /* the Hessian by BLAS */
}

int main(void) {
  RUN(test_lambert);
  RUN(test_entropic);
  RUN(test_simplex_linear);
  RUN(test_poisson);
  RUN(test_plsa);
  RUN(test_plca);
  RUN(test_plca_sparse);
  return check_report();
}
