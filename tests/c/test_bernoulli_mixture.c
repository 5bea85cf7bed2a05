/* The Bernoulli mixture kernel against a transcription of its EM. */
#include "bernoulli_mixture/em.h"
#include "check_data.h"

typedef struct {
  int n, m, k;
  double *x;
  mc_data data;
  bm_param par;
  bm_work *work;
} problem;

static problem new_problem(int n, int m, int k, double missing) {
  static mc_host host; /* the work space keeps its address */
  host = check_host();
  problem p = {.n = n, .m = m, .k = k};
  p.x = check_table(n, m, 0.3, missing);
  p.data = check_view(p.x, n, m);
  p.par = (bm_param){.k = k};
  const bm_prior flat = {0};
  p.par.weights = check_simplex(1, k);
  p.par.prototypes = check_probabilities((ptrdiff_t) k * m);
  p.work = bm_new_work(&p.data, &flat, &p.par, 1, &host);
  return p;
}

/* Joint probability of row i and component c, over observed cells. */
static double joint(const problem *p, int i, int c) {
  double product = p->par.weights[c];
  for (int j = 0; j < p->m; j++) {
    const double x = p->x[num_at(i, j, p->n)], one = p->par.prototypes[num_at(c, j, p->k)];
    if (!isnan(x)) product *= x > 0 ? one : 1 - one;
  }
  return product;
}

/* The E-step in plain products: the posterior, n x k, and the log-likelihood. */
static double reference_posterior(const problem *p, double *posterior) {
  double loglik = 0;
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    for (int c = 0; c < p->k; c++) sum += posterior[num_at(i, c, p->n)] = joint(p, i, c);
    for (int c = 0; c < p->k; c++) posterior[num_at(i, c, p->n)] /= sum;
    loglik += log(sum);
  }
  return loglik;
}

static double reference_prototype(const problem *p, const double *posterior, int c, int j) {
  double ones = 0, observed = 0;
  for (int i = 0; i < p->n; i++) {
    const double x = p->x[num_at(i, j, p->n)], weight = posterior[num_at(i, c, p->n)];
    if (isnan(x)) continue;
    ones += weight * x;
    observed += weight;
  }
  if (observed <= 0) return p->par.prototypes[num_at(c, j, p->k)];
  return ones / observed;
}

static mc_model model_of(problem *p) {
  static bm_self self;
  static mc_shards sums;
  const mc_host host = check_host();
  self = (bm_self){&p->data, &p->par, p->work};
  sums = bm_model(&self);
  return mc_whole_model(&sums, &host);
}

static void hold_to_reference(problem p) {
  double *posterior = exact((ptrdiff_t) p.n * p.k), *want = exact((ptrdiff_t) p.k * p.m);
  mc_model model = model_of(&p);
  for (int pass = 0; pass < 3; pass++) {
    const double loglik = reference_posterior(&p, posterior);
    for (int j = 0; j < p.m; j++)
      for (int c = 0; c < p.k; c++)
        want[num_at(c, j, p.k)] = reference_prototype(&p, posterior, c, j);
    CHECK_NEAR(model.objective(model.self), loglik, 1e-12);
    CHECK_NEAR(model.pass(model.self), loglik, 1e-12);
    CHECK(check_distance(bm_posterior(p.work), posterior, (ptrdiff_t) p.n * p.k) <= 1e-12);
    CHECK(check_distance(p.par.prototypes, want, (ptrdiff_t) p.k * p.m) <= 1e-12);
    int seen = 0; /* rows with nothing observed leave no trace in the weights */
    for (int i = 0; i < p.n; i++) seen += data_n_observed(&p.data, i) > 0;
    for (int c = 0; c < p.k && seen > 0; c++) {
      double mean = 0;
      for (int i = 0; i < p.n; i++)
        if (data_n_observed(&p.data, i) > 0) mean += posterior[num_at(i, c, p.n)] / seen;
      CHECK_NEAR(p.par.weights[c], mean, 1e-13);
    }
  }
}

static void test_pass_equals_reference(void) {
  const int shapes[][3] = {{7, 5, 2}, {1, 6, 3}, {6, 1, 2}, {1, 1, 1}, {9, 4, 1}, {40, 15, 5}};
  for (int s = 0; s < 6; s++) {
    hold_to_reference(new_problem(shapes[s][0], shapes[s][1], shapes[s][2], 0));
    hold_to_reference(new_problem(shapes[s][0], shapes[s][1], shapes[s][2], 0.3));
  }
}

static void test_never_lowers_the_objective(void) {
  problem p = new_problem(60, 10, 4, 0.1);
  mc_model model = model_of(&p);
  double before = -INFINITY;
  for (int pass = 0; pass < 100; pass++) {
    const double now = model.pass(model.self);
    CHECK(now >= before - 1e-9);
    before = now;
  }
}

static void test_unobserved_column_keeps_its_values(void) {
  problem p = new_problem(6, 4, 2, 0);
  for (int i = 0; i < p.n; i++) p.x[num_at(i, 2, p.n)] = NAN;
  p.data = check_view(p.x, p.n, p.m);
  const double before = p.par.prototypes[num_at(1, 2, p.k)];
  mc_model model = model_of(&p);
  model.pass(model.self);
  CHECK(p.par.prototypes[num_at(1, 2, p.k)] == before);
}

static void test_engine_runs_the_model(void) {
  problem p = new_problem(60, 10, 3, 0.1);
  const mc_host host = check_host();
  mc_model model = model_of(&p);
  mc_trace trace;
  const mc_control fast = {.max_iter = 2000, .tol = 1e-10, .accelerate = true, .n_threads = 1};
  CHECK(mc_fit(&model, &fast, &host, &trace) == MC_CONVERGED);
  for (int t = 1; t < trace.n_iter; t++) CHECK(trace.objective[t] >= trace.objective[t - 1]);
}

int main(void) {
  RUN(test_pass_equals_reference);
  RUN(test_never_lowers_the_objective);
  RUN(test_unobserved_column_keeps_its_values);
  RUN(test_engine_runs_the_model);
  return check_report();
}
