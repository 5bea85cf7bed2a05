/* The model of visits with a detection model: iterations, derivatives and sweeps, with buffers of
 * exact size. */
#include "check_data.h"
#include "check_prior.h"
#include "check_random.h"
#include "visits_bernoulli/gibbs.h"
#include "visits_bernoulli/inform.h"
#include "visits_bernoulli/newton.h"

enum { N = 7, M = 5, V = 3, D = 2, K = 2 };

typedef struct {
  ab_visit_data data;
  ab_visit_param par;
  double *mean, *ridge;
  mc_host host;
} problem;

static double *drawn(ptrdiff_t count) {
  double *x = exact(count);
  for (ptrdiff_t i = 0; i < count; i++) x[i] = norm_rand();
  return x;
}

static problem *new_problem(double ridge) {
  problem *p = check_alloc(NULL, 1, sizeof *p);
  int *cell = exact_int((ptrdiff_t) N * M * V);
  double *design = drawn((ptrdiff_t) D * N * V);
  for (int i = 0; i < N * M * V; i++) cell[i] = i % 11 == 3 ? -1 : check_uniform() < 0.3;
  for (int v = 0; v < V; v++)
    for (int j = 0; j < M; j++) cell[num_at(2, j, N) + (ptrdiff_t) v * N * M] = -1;
  for (int i = 0; i < N * V; i++) design[(ptrdiff_t) i * D] = 1;
  p->host = check_host();
  p->mean = exact((ptrdiff_t) D * M);
  p->ridge = exact(D);
  for (int e = 0; e < D; e++) p->ridge[e] = ridge;
  p->data = (ab_visit_data){N, M, V, cell};
  p->par = (ab_visit_param){.ab = {.k = K,
                                   .membership = check_simplex(N, K),
                                   .aspects = check_probabilities((ptrdiff_t) K * M)},
                            .missed_by = MISSED_BY_MODEL,
                            .added = exact(V),
                            .detection = {D, design, drawn((ptrdiff_t) D * M), p->mean, p->ridge}};
  return p;
}

enum { W = 3 };

/* Memberships that depend on two covariates and a constant. */
static void follow_covariates(problem *p, double ridge) {
  double *design = drawn((ptrdiff_t) W * N);
  for (int i = 0; i < N; i++) design[(ptrdiff_t) i * W] = 1;
  p->par.by = (num_multinomial){W, design, exact((ptrdiff_t) W * K), ridge};
  for (int e = 0; e < W; e++) {
    p->par.by.effects[e] = norm_rand();
    p->par.by.effects[W + e] = -p->par.by.effects[e];
  }
}

static void test_followed_passes_climb(void) {
  for (int ridge = 0; ridge <= 1; ridge++) {
    problem *p = new_problem(0.5);
    const ab_prior prior = alike(K, 0.2, 1, 0);
    follow_covariates(p, ridge);
    ab_visit_work *work = ab_visits_new_work(&p->data, &p->par, &prior, 1, &p->host);
    double before = -INFINITY;
    for (int t = 0; t < 20; t++) {
      const double now = ab_visits_pass(&p->data, &p->par, work);
      CHECK(now >= before - 1e-10);
      before = now;
    }
    ab_visits_follow(&p->data, &p->par);
    for (int i = 0; i < N; i++)
      CHECK_NEAR(p->par.ab.membership[i] + p->par.ab.membership[num_at(i, 1, N)], 1, 1e-12);
    for (int e = 0; e < W; e++)
      CHECK_NEAR(p->par.by.effects[e] + p->par.by.effects[W + e], 0, 1e-8);
  }
}

/* Fixed aspects, slopes and effects are unchanged; memberships improve. */
static void test_held(void) {
  problem *p = new_problem(0.5);
  const ab_prior prior = alike(K, 0.2, 1, 0);
  const double aspect = p->par.ab.aspects[3], slope = p->par.detection.slopes[4];
  p->par.ab.fixed_aspects = true;
  ab_visit_work *work = ab_visits_new_work(&p->data, &p->par, &prior, 1, &p->host);
  const double before = ab_visits_pass(&p->data, &p->par, work);
  CHECK(ab_visits_pass(&p->data, &p->par, work) > before);
  CHECK(p->par.ab.aspects[3] == aspect && p->par.detection.slopes[4] == slope);
}

static void test_passes_climb(void) {
  for (int threads = 1; threads <= 2; threads++) {
    problem *p = new_problem(0.5);
    const ab_prior prior = alike(K, 0.2, 1, 0);
    ab_visit_work *work = ab_visits_new_work(&p->data, &p->par, &prior, threads, &p->host);
    double before = -INFINITY;
    for (int t = 0; t < 20; t++) {
      const double now = ab_visits_pass(&p->data, &p->par, work);
      CHECK(now >= before - 1e-10);
      before = now;
    }
    CHECK(ab_visits_objective(&p->data, &p->par, work) >= before - 1e-10);
  }
}

/* Newton's iterations increase EM's objective, equally for any number of threads, and where EM does not. */
static void test_newton_climbs(void) {
  for (int follows = 0; follows <= 1; follows++) {
    double end[2];
    for (int threads = 1; threads <= 2; threads++) {
      check.random = 7;
      problem *p = new_problem(0.5);
      const ab_prior prior = follows ? alike(K, 0.2, 1, 0) : alike(K, 0.2, 1, 0.3);
      if (follows) follow_covariates(p, 1);
      CHECK(ab_visits_has_newton(&p->data, &p->par));
      ab_visit_newton *work = ab_visits_new_newton(&p->data, &p->par, &prior, threads, &p->host);
      ab_visit_work *em = ab_visits_new_work(&p->data, &p->par, &prior, 1, &p->host);
      double before = -INFINITY;
      for (int t = 0; t < 60; t++) {
        const double looked = ab_visits_objective(&p->data, &p->par, em);
        const double now = ab_visits_newton_pass(&p->data, &p->par, work);
        CHECK_NEAR(now, looked, 1e-9);
        CHECK(now >= before - 1e-9);
        before = now;
      }
      ab_visits_follow(&p->data, &p->par);
      for (int i = 0; i < N; i++)
        CHECK_NEAR(p->par.ab.membership[i] + p->par.ab.membership[num_at(i, 1, N)], 1, 1e-12);
      end[threads - 1] = before;
      /* EM gains almost nothing more. */
      for (int t = 0; t < 20; t++) ab_visits_pass(&p->data, &p->par, em);
      CHECK(ab_visits_objective(&p->data, &p->par, em) < before + 1e-3);
    }
    CHECK(end[0] == end[1]);
  }
}

static void test_newton_holds(void) {
  problem *p = new_problem(0.5);
  const ab_prior prior = alike(K, 0.2, 1, 0);
  const double aspect = p->par.ab.aspects[3], slope = p->par.detection.slopes[4];
  p->par.ab.fixed_aspects = true;
  ab_visit_newton *work = ab_visits_new_newton(&p->data, &p->par, &prior, 1, &p->host);
  const double before = ab_visits_newton_pass(&p->data, &p->par, work);
  CHECK(ab_visits_newton_pass(&p->data, &p->par, work) > before);
  CHECK(p->par.ab.aspects[3] == aspect && p->par.detection.slopes[4] == slope);
  p->par.added[1] = 0.1;
  CHECK(!ab_visits_has_newton(&p->data, &p->par));
}

/* The gradient equals that of the objective by differences; information is symmetric. */
static void test_derivatives(void) {
  const double h = 1e-6;
  problem *p = new_problem(0.5);
  const ab_prior prior = alike(K, 0.2, 1, 0);
  const ab_visit_information out = {exact(M), exact((ptrdiff_t) (K + D) * M),
                                    exact((ptrdiff_t) (K + D) * (K + D) * M)};
  const ab_visit_information near = {exact(M), exact((ptrdiff_t) (K + D) * M),
                                     exact((ptrdiff_t) (K + D) * (K + D) * M)};
  ab_visits_inform(&p->data, &p->par, &prior, &out, &p->host);
  for (int j = 0; j < M; j++)
    for (int e = 0; e < D; e++) {
      double *slope = p->par.detection.slopes + num_at(e, j, D);
      const double at = *slope;
      *slope = at + h;
      ab_visits_inform(&p->data, &p->par, &prior, &near, &p->host);
      const double up = near.value[j];
      *slope = at - h;
      ab_visits_inform(&p->data, &p->par, &prior, &near, &p->host);
      *slope = at;
      CHECK_NEAR(out.gradient[num_at(K + e, j, K + D)], (up - near.value[j]) / (2 * h), 1e-6);
    }
  for (int j = 0; j < M; j++)
    for (int a = 0; a < K + D; a++)
      for (int b = 0; b < a; b++) {
        const double *matrix = out.information + (ptrdiff_t) (K + D) * (K + D) * j;
        CHECK_NEAR(matrix[num_at(a, b, K + D)], matrix[num_at(b, a, K + D)], 1e-12);
      }
}

/* Steps increase the value, and end when nothing can be gained; a stopped result is no worse. */
static void test_polish(void) {
  problem *p = new_problem(0.5);
  const ab_prior prior = alike(K, 0.2, 1, 0);
  const ab_visit_information out = {exact(M), exact((ptrdiff_t) (K + D) * M),
                                    exact((ptrdiff_t) (K + D) * (K + D) * M)};
  double before[M];
  ab_visits_inform(&p->data, &p->par, &prior, &out, &p->host);
  for (int most = 1; most <= 50; most += 49) {
    memcpy(before, out.value, sizeof before);
    ab_visits_polish(&p->data, &p->par, &prior, most, &p->host);
    ab_visits_inform(&p->data, &p->par, &prior, &out, &p->host);
    for (int j = 0; j < M; j++) CHECK(out.value[j] >= before[j]);
  }
  for (int j = 0; j < M; j++)
    for (int e = 0; e < D; e++) CHECK_NEAR(out.gradient[num_at(K + e, j, K + D)], 0, 1e-4);
}

static ab_visit_record new_record(int n_draw, int w) {
  return (ab_visit_record){.thin = 2,
                           .keep_every = 2,
                           .note = exact((ptrdiff_t) (AB_VISIT_NOTE_CENTER + 2 * D + w) * n_draw),
                           .richness = exact((ptrdiff_t) N * n_draw),
                           .sites = exact((ptrdiff_t) M * n_draw),
                           .slopes = exact((ptrdiff_t) D * M * n_draw),
                           .effects = exact((ptrdiff_t) W * K * n_draw),
                           .cell = exact((ptrdiff_t) N * M * 4),
                           .membership = exact((ptrdiff_t) N * K),
                           .aspects = exact((ptrdiff_t) K * M),
                           .kept_membership = exact((ptrdiff_t) N * K * (n_draw / 2)),
                           .kept_aspects = exact((ptrdiff_t) K * M * (n_draw / 2))};
}

static ab_visit_state new_state(problem *p, bool shared) {
  ab_visit_state state = {.par = &p->par,
                          .mean = p->mean,
                          .ridge = p->ridge,
                          .shared = shared,
                          .center = exact(D + 1),
                          .spread = exact(D),
                          .shape = exact(2),
                          .w = 1,
                          .intercept = 0,
                          .taxon = drawn(M),
                          .center_sd = 1.5};
  for (int e = 0; e < D; e++) state.spread[e] = 1;
  state.shape[0] = state.shape[1] = 1;
  return state;
}

static void test_sweeps(void) {
  for (int shared = 0; shared < 2; shared++) {
    problem *p = new_problem(1);
    if (shared) follow_covariates(p, 1);
    const ab_prior prior = alike(K, 1.2, 2, 1);
    ab_visit_state state = new_state(p, shared == 1);
    ab_visit_record record = new_record(10, 1);
    CHECK(ab_visits_gibbs(&p->data, &prior, &state, 20, &p->host, &record) == MC_MAX_PASS);
    CHECK(record.n_done == 20 && record.n_draw == 10 && record.n_kept == 5);
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int c = 0; c < K; c++) sum += p->par.ab.membership[num_at(i, c, N)];
      CHECK_NEAR(sum, 1, 1e-12);
    }
    for (int t = 0; t < 10; t++) {
      double rows = 0, columns = 0;
      for (int i = 0; i < N; i++) rows += record.richness[num_at(i, t, N)];
      for (int j = 0; j < M; j++) columns += record.sites[num_at(j, t, M)];
      CHECK(rows == columns);
    }
    for (int e = 0; e < D * M; e++) CHECK(isfinite(p->par.detection.slopes[e]));
  }
}

static void test_stops(void) {
  problem *p = new_problem(1);
  const ab_prior prior = alike(K, 1.2, 2, 1);
  ab_visit_state state = new_state(p, true);
  ab_visit_record record = new_record(10, 1);
  p->host.tick = check_stop_later;
  check.questions_left = 5;
  CHECK(ab_visits_gibbs(&p->data, &prior, &state, 20, &p->host, &record) == MC_STOPPED);
  CHECK(record.n_done == 6 && record.n_draw == 3);
}

int main(void) {
  RUN(test_passes_climb);
  RUN(test_followed_passes_climb);
  RUN(test_held);
  RUN(test_newton_climbs);
  RUN(test_newton_holds);
  RUN(test_derivatives);
  RUN(test_polish);
  RUN(test_sweeps);
  RUN(test_stops);
  return check_report();
}
