/* The logistic PCA kernel: its objective against plain sums; iterations never decrease it. */
#include "check_data.h"
#include "logistic_pca/mm.h"
#include "num/logistic.h"

typedef struct {
  int n, m, k;
  double *x;
  mc_data data;
  lp_param par;
  lp_work *work;
} problem;

static problem new_problem(int n, int m, int k, double missing) {
  static mc_host host; /* the work space keeps its address */
  host = check_host();
  problem p = {.n = n, .m = m, .k = k};
  p.x = check_table(n, m, 0.3, missing);
  p.data = check_view(p.x, n, m);
  p.par = (lp_param){.k = k, .penalty = 0.5};
  p.par.scores = exact((ptrdiff_t) k * n);
  p.par.loadings = exact((ptrdiff_t) (k + 1) * m);
  for (ptrdiff_t i = 0; i < (ptrdiff_t) k * n; i++) p.par.scores[i] = check_uniform() - 0.5;
  for (ptrdiff_t i = 0; i < (ptrdiff_t) (k + 1) * m; i++) p.par.loadings[i] = check_uniform() - 0.5;
  p.work = lp_new_work(&p.data, k, 1, &host);
  return p;
}

static double log_odds(const problem *p, int i, int j) {
  const double *loadings = p->par.loadings + num_at(0, j, p->k + 1);
  double sum = loadings[p->k];
  for (int c = 0; c < p->k; c++) sum += p->par.scores[num_at(c, i, p->k)] * loadings[c];
  return sum;
}

static double reference_objective(const problem *p) {
  double sum = 0;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m; j++) {
      const double x = p->x[num_at(i, j, p->n)], theta = log_odds(p, i, j);
      if (!isnan(x)) sum += x * theta - log1p(exp(theta));
    }
  for (int c = 0; c < p->k; c++) {
    for (int i = 0; i < p->n; i++)
      sum -= 0.5 * p->par.penalty * pow(p->par.scores[num_at(c, i, p->k)], 2);
    for (int j = 0; j < p->m; j++)
      sum -= 0.5 * p->par.penalty * pow(p->par.loadings[num_at(c, j, p->k + 1)], 2);
  }
  return sum;
}

static mc_model model_of(problem *p) {
  static lp_self self;
  static mc_shards sums;
  const mc_host host = check_host();
  self = (lp_self){&p->data, &p->par, p->work};
  sums = lp_model(&self);
  return mc_whole_model(&sums, &host);
}

static void climb(problem p) {
  mc_model model = model_of(&p);
  double before = -INFINITY;
  for (int pass = 0; pass < 20; pass++) {
    const double want = reference_objective(&p);
    CHECK_NEAR(model.objective(model.self), want, 1e-11);
    CHECK_NEAR(model.pass(model.self), want, 1e-11);
    CHECK(want >= before - 1e-10);
    before = want;
  }
}

static void plain_and_missing(void) {
  climb(new_problem(9, 6, 2, 0));
  climb(new_problem(9, 6, 2, 0.3));
}

static void many_blocks(void) { climb(new_problem(700, 90, 3, 0.05)); }

static void edges(void) {
  climb(new_problem(1, 1, 1, 0));
  climb(new_problem(1, 7, 3, 0.2));
  climb(new_problem(7, 1, 3, 0.2));
  climb(new_problem(5, 4, 0, 0.2));
  climb(new_problem(4, 3, 2, 1)); /* nothing observed */
}

/* At convergence the gradient of the scores, (x - p) loadings minus the ridge, is 0. */
static void stationary(void) {
  problem p = new_problem(12, 8, 2, 0.1);
  mc_model model = model_of(&p);
  for (int pass = 0; pass < 5000; pass++) model.pass(model.self);
  for (int i = 0; i < p.n; i++)
    for (int c = 0; c < p.k; c++) {
      double gradient = -p.par.penalty * p.par.scores[num_at(c, i, p.k)];
      for (int j = 0; j < p.m; j++) {
        const double x = p.x[num_at(i, j, p.n)], theta = log_odds(&p, i, j);
        if (!isnan(x)) gradient += (x - 1 / (1 + exp(-theta))) * p.par.loadings[num_at(c, j, 3)];
      }
      CHECK_NEAR(gradient, 0, 1e-6);
    }
}

static void weights(void) {
  const int n = 1000;
  double *theta = exact(n), *e = exact(n);
  double want = 0;
  for (int i = 0; i < n; i++) {
    theta[i] = 60 * (check_uniform() - 0.5) * pow(check_uniform(), 4);
    e[i] = fabs(theta[i]);
    want += log1p(exp(theta[i]));
  }
  double *copy = exact_copy(theta, n);
  CHECK_NEAR(num_logistic_weights(theta, n), want, 1e-13);
  for (int i = 0; i < n; i++)
    CHECK_NEAR(theta[i], copy[i] == 0 ? 0.25 : tanh(copy[i] / 2) / (2 * copy[i]), 1e-13);
  double *exps = exact_copy(e, n);
  num_exp_minus(exps, n);
  for (int i = 0; i < n; i++) CHECK_NEAR(exps[i] / exp(-e[i]), 1, 1e-15);
  double far[3] = {0, 700, 1e6};
  num_exp_minus(far, 3);
  CHECK_NEAR(far[0], 1, 0);
  CHECK(far[1] > 0 && far[1] < 1e-300 && far[2] >= 0 && far[2] < 1e-300);
}

int main(void) {
  RUN(plain_and_missing);
  RUN(many_blocks);
  RUN(edges);
  RUN(stationary);
  RUN(weights);
  return check_report();
}
