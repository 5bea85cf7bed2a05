/* Occupancy of each taxon: the likelihood against sums of logs, derivatives against differences,
 * modes, draws. */
#include "check.h"
#include "check_random.h"
#include "num/base.h"
#include "visits_occupancy/sample.h"

enum { M = 3, N_ROW = 12, N_KIND = 4, N_VISIT = 3, N_NODE = 3, P = 2, D = 2, SIZE = P + D };

static occ_data new_data(void) {
  int *first = exact_int(M + 1), *kind = exact_int(N_ROW);
  int *found = exact_int((ptrdiff_t) N_ROW * N_VISIT);
  double *count = exact(N_ROW), *presence = exact((ptrdiff_t) P * N_KIND);
  double *detection = exact((ptrdiff_t) D * N_VISIT * N_KIND);
  double *node = exact(N_NODE), *weight = exact(N_NODE);
  for (int j = 0; j <= M; j++) first[j] = j * N_ROW / M;
  for (int r = 0; r < N_ROW; r++) {
    kind[r] = r % N_KIND;
    count[r] = 1 + r % 3;
    for (int v = 0; v < N_VISIT; v++) {
      const double draw = check_uniform();
      found[num_at(v, r, N_VISIT)] = r % 3 == 0   ? (draw < 0.3 ? -1 : 0)
                                     : draw < 0.2 ? -1
                                                  : draw < 0.6;
    }
  }
  for (int e = 0; e < P * N_KIND; e++) presence[e] = e % P ? 2 * check_uniform() - 1 : 1;
  for (int e = 0; e < D * N_VISIT * N_KIND; e++) detection[e] = e % D ? 2 * check_uniform() - 1 : 1;
  for (int k = 0; k < N_NODE; k++) {
    node[k] = exp(k - 1);
    weight[k] = (k + 1) / 6.0;
  }
  return (occ_data){M,    N_ROW, N_KIND, N_VISIT,  N_NODE,    P,    D,     first,
                    kind, found, count,  presence, detection, node, weight};
}

static double logistic(double eta) { return 1 / (1 + exp(-eta)); }

static double dot(const double *x, const double *b, int n) {
  double sum = 0;
  for (int e = 0; e < n; e++) sum += x[e] * b[e];
  return sum;
}

/* P(the visits of a row), eqs. (1) to (3); the term with the taxon present in *here. */
static double probability(const occ_data *d, int r, const double *theta, double *here) {
  const int s = d->kind[r];
  const double psi = logistic(dot(d->presence + num_at(0, s, P), theta, P));
  double q = 0;
  bool hit = false;
  for (int k = 0; k < N_NODE; k++) {
    double product = d->weight[k];
    for (int v = 0; v < N_VISIT; v++) {
      const int y = d->found[num_at(v, r, N_VISIT)];
      const double *w = d->detection + num_at(0, s * N_VISIT + v, D);
      const double p = logistic(dot(w, theta + P, D) + log(d->node[k]));
      if (y >= 0) product *= y ? p : 1 - p;
      if (y > 0) hit = true;
    }
    q += product;
  }
  *here = psi * q;
  return hit ? psi * q : psi * q + 1 - psi;
}

static void draw_theta(double *theta) {
  for (int e = 0; e < SIZE; e++) theta[e] = 3 * check_uniform() - 1.5;
}

static void likelihood(void) {
  const occ_data d = new_data();
  double *theta = exact(SIZE), *scratch = exact((ptrdiff_t) occ_scratch(&d));
  draw_theta(theta);
  for (int j = 0; j < M; j++) {
    const int rows = d.first[j + 1] - d.first[j];
    double *loglik = exact(rows), *present = exact(rows), sum = 0, here;
    occ_pointwise(&d, j, theta, loglik, present, scratch);
    for (int i = 0; i < rows; i++) {
      const double p = probability(&d, d.first[j] + i, theta, &here);
      CHECK_NEAR(loglik[i], log(p), 1e-12);
      CHECK_NEAR(present[i], here / p, 1e-12);
      sum += d.count[d.first[j] + i] * log(p);
    }
    CHECK_NEAR(occ_loglik(&d, j, theta, scratch), sum, 1e-12);
  }
}

static void derivatives(void) {
  const occ_data d = new_data();
  const double by = 1e-5;
  double *theta = exact(SIZE), *scratch = exact((ptrdiff_t) occ_scratch(&d));
  double *gradient = exact(SIZE), *information = exact((ptrdiff_t) SIZE * SIZE);
  double *up = exact(SIZE), *down = exact(SIZE), *other = exact((ptrdiff_t) SIZE * SIZE);
  for (int j = 0; j < M; j++) {
    draw_theta(theta);
    CHECK_NEAR(occ_inform(&d, j, theta, gradient, information, scratch),
               occ_loglik(&d, j, theta, scratch), 1e-12);
    for (int e = 0; e < SIZE; e++) {
      const double at = theta[e];
      theta[e] = at + by;
      const double high = occ_inform(&d, j, theta, up, other, scratch);
      theta[e] = at - by;
      const double low = occ_inform(&d, j, theta, down, other, scratch);
      theta[e] = at;
      CHECK_NEAR(gradient[e], (high - low) / (2 * by), 1e-7);
      for (int f = 0; f < SIZE; f++) {
        CHECK_NEAR(information[num_at(f, e, SIZE)], (down[f] - up[f]) / (2 * by), 1e-7);
        CHECK_NEAR(information[num_at(f, e, SIZE)], information[num_at(e, f, SIZE)], 1e-14);
      }
    }
  }
}

typedef struct {
  occ_param par;
  occ_prior prior;
} setting;

static setting new_setting(void) {
  double *theta = exact((ptrdiff_t) SIZE * M), *center = exact(SIZE), *spread = exact(SIZE);
  double *center_sd = exact(SIZE), *spread_prior = exact(SIZE), *spread_sd = exact(SIZE);
  for (int e = 0; e < SIZE; e++) {
    center[e] = 0.1 * e;
    spread[e] = 0.8;
    center_sd[e] = 0.7;
    spread_prior[e] = 0.5;
    spread_sd[e] = 1;
  }
  return (setting){{theta, center, spread}, {center_sd, spread_prior, spread_sd}};
}

static void modes(void) {
  const occ_data d = new_data();
  const setting s = new_setting();
  const mc_host host = check_host();
  double *gradient = exact(SIZE), *information = exact((ptrdiff_t) SIZE * SIZE);
  double *precision = exact((ptrdiff_t) SIZE * SIZE), laplace;
  double *scratch = exact((ptrdiff_t) occ_scratch(&d));
  occ_work *work = occ_new_work(&d, &host);
  for (int j = 0; j < M; j++) {
    const double *theta = s.par.theta + num_at(0, j, SIZE);
    const double loglik = occ_mode(&d, &s.par, j, precision, &laplace, work);
    CHECK_NEAR(occ_inform(&d, j, theta, gradient, information, scratch), loglik, 1e-12);
    for (int e = 0; e < SIZE; e++) {
      const double ridge = 1 / (0.8 * 0.8);
      CHECK_NEAR(gradient[e], ridge * (theta[e] - s.par.center[e]), 1e-4);
      CHECK_NEAR(precision[num_at(e, e, SIZE)], information[num_at(e, e, SIZE)] + ridge, 1e-12);
    }
    CHECK(laplace < loglik);
  }
}

static void iterations_settle(void) {
  const occ_data d = new_data();
  setting s = new_setting();
  const mc_host host = check_host();
  occ_self self = {&d, &s.par, &s.prior, occ_new_work(&d, &host)};
  mc_model model = occ_model(&self);
  const mc_control ctl = {.max_iter = 500, .tol = 1e-12, .n_threads = 1};
  mc_trace trace = {0};
  CHECK(mc_fit(&model, &ctl, &host, &trace) == MC_CONVERGED);
  double *before = exact_copy(s.par.spread, SIZE);
  model.pass(&self);
  for (int e = 0; e < SIZE; e++) CHECK_NEAR(s.par.spread[e], before[e], 1e-4);
}

/* Without rows the posterior is the prior of eqs. (4) and (5). */
static void draws_of_the_prior(void) {
  occ_data d = new_data();
  int *first = exact_int(M + 1);
  d.first = first;
  d.n_row = 0;
  setting s = new_setting();
  const mc_host host = check_host();
  enum { N_DRAW = 20000 };
  double *shape = exact((ptrdiff_t) SIZE * SIZE * M), *mode = exact((ptrdiff_t) SIZE * M);
  for (int j = 0; j < M; j++)
    for (int e = 0; e < SIZE; e++) shape[num_at(e, e, SIZE) + (ptrdiff_t) j * SIZE * SIZE] = 1.5;
  const occ_plan plan = {2 * N_DRAW, 2, mode, shape};
  occ_record record = {.theta = exact((ptrdiff_t) SIZE * M * N_DRAW),
                       .center = exact((ptrdiff_t) SIZE * N_DRAW),
                       .spread = exact((ptrdiff_t) SIZE * N_DRAW)};
  CHECK(occ_sample(&d, &s.par, &s.prior, &plan, &host, &record) == MC_MAX_PASS);
  CHECK(record.n_draw == N_DRAW);
  double square = 0, wide = 0;
  for (int e = 0; e < SIZE * N_DRAW; e++) {
    square += record.center[e] * record.center[e] / (SIZE * N_DRAW);
    wide += (record.spread[e] > 1) / (double) (SIZE * N_DRAW);
  }
  CHECK_NEAR(square, 0.49, 0.06);
  /* The density of the spread s is s^-2 exp(-0.25 / s^2 - s^2 / 2), up to a constant. */
  double above = 0, all = 0;
  for (int i = 1; i <= 6000; i++) {
    const double at = i / 1000.0, density = exp(-0.25 / (at * at) - at * at / 2) / (at * at);
    all += density;
    if (at > 1) above += density;
  }
  CHECK_NEAR(wide, above / all, 0.03);
}

int main(void) {
  RUN(likelihood);
  RUN(derivatives);
  RUN(modes);
  RUN(iterations_settle);
  RUN(draws_of_the_prior);
  return check_report();
}
