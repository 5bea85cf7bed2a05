/* The aspect Bernoulli kernel with a phantom that depends on effort. */
#include "aspect_bernoulli/effort.h"
#include "check_data.h"
#include "check_prior.h"

#define N 23
#define M 7
#define K 3

static ab_prior none(int k) { return alike(k, 0, 0, 0); }

static ab_prior prior; /* of the last problem */

static ab_effort new_problem(double missing, ab_prior (*new_prior)(int k)) {
  static mc_data data;
  static ab_param par;
  static mc_host host;
  data = check_view(check_table(N, M, 0.3, missing), N, M);
  host = check_host();
  prior = new_prior(K);
  par = (ab_param){.k = K};
  par.membership = check_simplex(N, K);
  par.aspects = check_probabilities((ptrdiff_t) K * M);
  int *fixed = check_alloc(NULL, K, sizeof *fixed);
  fixed[K - 1] = 1;
  par.fixed = fixed;
  for (int j = 0; j < M; j++) par.aspects[num_at(K - 1, j, K)] = 0;
  double *coef = exact(2), *effort = exact(N);
  for (int i = 0; i < N; i++) effort[i] = (i - 0.5 * N) / 5;
  const ab_effort out = {{&data, &par, ab_new_work(&data, &prior, 1, &host)},
                         coef,
                         effort,
                         ab_effort_cells(&data, &prior, &host),
                         NULL};
  return out;
}

static void check_shares(const ab_effort *p) {
  for (int i = 0; i < N; i++) {
    const double odds = p->coef[0] + p->coef[1] * p->effort[i];
    double sum = 0;
    for (int c = 0; c < K; c++) sum += p->ab.par->membership[num_at(i, c, N)];
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_NEAR(p->ab.par->membership[num_at(i, K - 1, N)], 1 / (1 + exp(-odds)), 1e-12);
  }
}

static void never_lowers_the_objective(bool newton, ab_prior (*new_prior)(int k)) {
  ab_effort p = new_problem(0.1, new_prior);
  const mc_host host = check_host();
  if (newton) p.newton = ab_new_newton(p.ab.data, &prior, false, 1, &host);
  ab_effort_impose(&p);
  double before = -INFINITY;
  for (int pass = 0; pass < 50; pass++) {
    const double now = ab_effort_pass(&p);
    CHECK(now >= before - 1e-10);
    check_shares(&p);
    before = now;
  }
  for (int j = 0; j < M; j++) CHECK(p.ab.par->aspects[num_at(K - 1, j, K)] == 0);
}

static void test_never_lowers_the_objective(void) {
  never_lowers_the_objective(false, none);
  never_lowers_the_objective(true, none);
  never_lowers_the_objective(false, unlike);
  never_lowers_the_objective(true, unlike);
}

/* The slope is 0 at the maximum, also far from 0, and with rows of equal effort merged. */
static void test_curve_is_at_its_maximum(void) {
  double *effort = exact(N), *cells = exact(N), *coef = exact(2);
  for (int round = 0; round < 6; round++) {
    double slope[2] = {0, 0};
    ab_curve curve = {.n = N, .effort = effort, .cells = cells, .count = {0, 0}};
    coef[0] = round < 3 ? 0 : 20;
    coef[1] = round % 3 ? -15 : 1;
    for (int i = 0; i < N; i++) {
      effort[i] = (i - 0.5 * N) / 5;
      cells[i] = 1 + i % 4;
      const double count = cells[i] * (i % 5 + 0.5) / 6;
      curve.count[0] += count;
      curve.count[1] += count * effort[i];
    }
    ab_curve_fit(&curve, coef);
    for (int i = 0; i < N; i++) {
      const double mu = 1 / (1 + exp(-coef[0] - coef[1] * effort[i]));
      slope[0] += cells[i] * mu;
      slope[1] += cells[i] * mu * effort[i];
    }
    CHECK_NEAR(slope[0], curve.count[0], 1e-9);
    CHECK_NEAR(slope[1], curve.count[1], 1e-9);
  }
}

/* Odds beyond the range of a share leave rows on the simplex, and no share at 0. */
static void test_impose_keeps_shares_above_zero(void) {
  ab_effort p = new_problem(0, none);
  p.coef[1] = 400;
  ab_effort_impose(&p);
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int c = 0; c < K; c++) {
      sum += p.ab.par->membership[num_at(i, c, N)];
      CHECK(p.ab.par->membership[num_at(i, c, N)] > 0);
    }
    CHECK_NEAR(sum, 1, 1e-12);
  }
}

static void test_engine_runs_the_model(void) {
  ab_effort p = new_problem(0, none);
  ab_effort_impose(&p);
  const mc_host host = check_host();
  const mc_control fast = {.max_iter = 500, .tol = 1e-8, .accelerate = true, .n_threads = 1};
  mc_trace trace;
  mc_model model = ab_effort_model(&p);
  CHECK(mc_fit(&model, &fast, &host, &trace) >= 0);
  for (int t = 1; t < trace.n_iter; t++) CHECK(trace.objective[t] >= trace.objective[t - 1]);
  check_shares(&p);
}

int main(void) {
  RUN(test_never_lowers_the_objective);
  RUN(test_curve_is_at_its_maximum);
  RUN(test_impose_keeps_shares_above_zero);
  RUN(test_engine_runs_the_model);
  return check_report();
}
