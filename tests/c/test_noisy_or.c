/* The noisy-OR kernels against transcriptions of the model, by enumeration. */
#include "check_data.h"
#include "noisy_or/noisy_or.h"

typedef struct {
  int n, m, k;
  double *x;
  mc_data data;
  nor_param par;
  nor_settings set;
  mc_host host;
} problem;

/* Settings point into the problem, which must not move. */
static void new_problem(problem *p, int n, int m, int k, double missing) {
  memset(p, 0, sizeof *p);
  p->n = n;
  p->m = m;
  p->k = k;
  p->x = check_table(n, m, 0.35, missing);
  p->data = check_view(p->x, n, m);
  p->host = check_host();
  p->par = (nor_param){.k = k,
                       .prior = check_probabilities(k),
                       .links = check_probabilities((ptrdiff_t) k * m),
                       .leak = check_probabilities(m)};
  p->set = (nor_settings){.inner = 1, .q_steps = 3, .accelerate = true, .n_threads = 1};
  p->set.host = &p->host;
}

static void new_recorded_problem(problem *p, int n, int m, int k, double missing) {
  double sum = 0;
  new_problem(p, n, m, k, missing);
  p->par.share = check_probabilities(NOR_GRID);
  p->par.taxon = check_probabilities(m);
  for (int g = 0; g < NOR_GRID; g++) sum += p->par.share[g];
  for (int g = 0; g < NOR_GRID; g++) p->par.share[g] /= sum;
}

/* States: sets of sources, with recording those for each grid point. */
static int n_states(const problem *p) { return nor_n_grid(&p->par) << p->k; }

static double cell(const problem *p, int s, int i, int j) {
  const double x = p->x[num_at(i, j, p->n)];
  double zero = 1 - p->par.leak[j];
  if (isnan(x)) return 1;
  for (int c = 0; c < p->k; c++)
    if (s >> c & 1) zero *= 1 - p->par.links[num_at(c, j, p->k)];
  if (p->par.share) zero = 1 - nor_recorded(&p->par, s >> p->k, j) * (1 - zero);
  return x > 0 ? 1 - zero : zero;
}

static double joint(const problem *p, int s, int i) {
  double product = p->par.share ? p->par.share[s >> p->k] : 1;
  for (int c = 0; c < p->k && p->set.known; c++) /* a state that contradicts the known sources */
    if (p->set.known[num_at(c, i, p->k)] == !(s >> c & 1)) return 0;
  for (int c = 0; c < p->k; c++) product *= s >> c & 1 ? p->par.prior[c] : 1 - p->par.prior[c];
  for (int j = 0; j < p->m; j++) product *= cell(p, s, i, j);
  return product;
}

static double reference_loglik(const problem *p) {
  double loglik = 0;
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    for (int s = 0; s < n_states(p); s++) sum += joint(p, s, i);
    loglik += log(sum);
  }
  return loglik;
}

/* A link's numerator and denominator in one EM step. */
static double reference_link(const problem *p, int c, int j) {
  double fired = 0, trials = 0;
  for (int i = 0; i < p->n; i++) {
    double all = 0;
    if (isnan(p->x[num_at(i, j, p->n)])) continue;
    for (int s = 0; s < 1 << p->k; s++) all += joint(p, s, i);
    for (int s = 0; s < 1 << p->k; s++) {
      const double on = s >> c & 1 ? joint(p, s, i) / all : 0;
      trials += on;
      if (p->x[num_at(i, j, p->n)] > 0)
        fired += on * p->par.links[num_at(c, j, p->k)] / cell(p, s, i, j);
    }
  }
  return trials > 0 ? fired / trials : p->par.links[num_at(c, j, p->k)];
}

static void hold_exact_to_reference(int n, int m, int k, double missing) {
  problem p;
  new_problem(&p, n, m, k, missing);
  double *want = exact((ptrdiff_t) k * m);
  const double loglik = reference_loglik(&p);
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) want[num_at(c, j, k)] = reference_link(&p, c, j);
  mc_model model = nor_exact_model(nor_new_exact(&p.data, &p.par, &p.set));
  CHECK_NEAR(model.objective(model.self), loglik, 1e-12);
  CHECK_NEAR(model.pass(model.self), loglik, 1e-12);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) k * m; at++) CHECK_NEAR(p.par.links[at], want[at], 1e-12);
}

static void test_exact(void) {
  hold_exact_to_reference(7, 5, 3, 0);
  hold_exact_to_reference(9, 4, 2, 0.3);
  hold_exact_to_reference(1, 1, 1, 0);
  hold_exact_to_reference(3, 17, 5, 0.1);
}

static nor_lists new_lists(const problem *p, int size) {
  nor_lists lists = {.words = (p->k + 63) / 64, .size = size};
  const size_t listed = (size_t) p->n * (size_t) size;
  lists.state = check_alloc(NULL, listed * (size_t) lists.words, sizeof(uint64_t));
  lists.weight = exact((ptrdiff_t) listed);
  lists.n_state = exact_int(p->n);
  return lists;
}

/* Lists with room for every state. */
static void hold_truncated_to_exact(int k, int size) {
  problem p;
  new_problem(&p, 8, 6, k, 0.2);
  const double loglik = reference_loglik(&p);
  const double want = reference_link(&p, 2, 3);
  mc_model model =
      nor_truncated_model(nor_new_truncated(&p.data, &p.par, &p.set, new_lists(&p, size)));
  CHECK_NEAR(model.objective(model.self), loglik, 1e-12);
  CHECK_NEAR(model.pass(model.self), loglik, 1e-12);
  CHECK_NEAR(p.par.links[num_at(2, 3, p.k)], want, 1e-12);
}

static void test_truncated_is_exact_with_all_states(void) {
  hold_truncated_to_exact(4, NOR_LIST);
  hold_truncated_to_exact(6, 64);
}

static void run_to_the_end(mc_model model, const problem *p, double least) {
  const mc_control ctl = {.max_iter = 40, .tol = 0, .accelerate = true, .n_threads = 1};
  mc_trace trace;
  const mc_status status = mc_fit(&model, &ctl, &p->host, &trace);
  CHECK(status == MC_MAX_PASS || status == MC_CONVERGED);
  for (int pass = 1; pass < trace.n_iter; pass++)
    CHECK(trace.objective[pass] >= trace.objective[pass - 1] - 1e-9);
  CHECK(trace.final >= least);
}

static void test_objectives_rise(void) {
  for (int run = 0; run < 10; run++) {
    problem p;
    new_problem(&p, 11, 7, 3 + run, run % 2 ? 0.2 : 0);
    run_to_the_end(nor_exact_model(nor_new_exact(&p.data, &p.par, &p.set)), &p, -1e3);
    new_problem(&p, 11, 7, 3 + 10 * run, run % 2 ? 0.2 : 0); /* over a word of sources, too */
    const nor_lists lists = new_lists(&p, NOR_LIST);
    run_to_the_end(nor_truncated_model(nor_new_truncated(&p.data, &p.par, &p.set, lists)), &p,
                   -1e3);
  }
}

static void test_recording(void) {
  problem p;
  new_recorded_problem(&p, 9, 6, 3, 0.2);
  const double loglik = reference_loglik(&p);
  nor_report report[2];
  for (int r = 0; r < 2; r++) {
    report[r] = (nor_report){.loglik = exact(p.n), .site = exact(p.n)};
    double **const table[] = {&report[r].response, &report[r].present, &report[r].missed,
                              &report[r].phantom};
    for (int t = 0; t < 4; t++) *table[t] = exact((ptrdiff_t) p.n * p.m);
  }
  CHECK(nor_report_exact(&p.data, &p.par, &p.set, &report[0]));
  CHECK(nor_report_truncated(&p.data, &p.par, &p.set, new_lists(&p, NOR_LIST), &report[1]));
  for (int i = 0; i < p.n; i++) CHECK_NEAR(report[1].site[i], report[0].site[i], 1e-12);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.n * p.m; at++) {
    CHECK_NEAR(report[1].missed[at], report[0].missed[at], 1e-12);
    CHECK_NEAR(report[1].phantom[at], report[0].phantom[at], 1e-12);
    CHECK(report[0].missed[at] <= report[0].present[at] + 1e-12);
  }
  mc_model truncated =
      nor_truncated_model(nor_new_truncated(&p.data, &p.par, &p.set, new_lists(&p, NOR_LIST)));
  CHECK_NEAR(truncated.objective(truncated.self), loglik, 1e-12);
  mc_model model = nor_exact_model(nor_new_exact(&p.data, &p.par, &p.set));
  CHECK_NEAR(model.objective(model.self), loglik, 1e-12);
  run_to_the_end(model, &p, loglik);
  CHECK_NEAR(model.objective(model.self), reference_loglik(&p), 1e-10);
  run_to_the_end(truncated, &p, loglik);
  p.set.hold = (nor_hold){.sum = 0.5, .share = 1, .taxon = 0.7};
  nor_impose_scale(&p.set, &p.par, p.m);
  run_to_the_end(model, &p, -1e3);
  double scale = 0;
  for (int g = 0; g < NOR_GRID; g++) scale += p.par.share[g] * nor_probability(g);
  for (int j = 0; j < p.m; j++) scale += 0.7 * p.par.taxon[j] / p.m;
  CHECK_NEAR(scale, 0.5, 1e-10);
}

/* Sources 1 and 2 are known in some rows: all states, those listed, and states drawn. */
static void hold_known_to_reference(problem *p) {
  int *known = exact_int((ptrdiff_t) p->n * p->k);
  for (int at = 0; at < p->n * p->k; at++) known[at] = at % p->k < 2 ? at % 3 - 1 : -1;
  p->set.known = known;
  const double loglik = reference_loglik(p);
  mc_model model = nor_exact_model(nor_new_exact(&p->data, &p->par, &p->set));
  CHECK_NEAR(model.objective(model.self), loglik, 1e-12);
  mc_model listed =
      nor_truncated_model(nor_new_truncated(&p->data, &p->par, &p->set, new_lists(p, NOR_LIST)));
  CHECK_NEAR(listed.objective(listed.self), loglik, 1e-12);
  double *uniform = exact(p->n);
  for (int i = 0; i < p->n; i++) uniform[i] = (i + 0.5) / p->n;
  for (int r = 0; r < 2; r++) {
    double *drawn = exact((ptrdiff_t) p->n * p->k);
    nor_report report = {.drawn = drawn, .uniform = uniform};
    CHECK(r ? nor_report_truncated(&p->data, &p->par, &p->set, new_lists(p, NOR_LIST), &report)
            : nor_report_exact(&p->data, &p->par, &p->set, &report));
    for (int i = 0; i < p->n; i++)
      for (int c = 0; c < p->k; c++) {
        const int given = known[num_at(c, i, p->k)];
        CHECK(given < 0 || drawn[num_at(i, c, p->n)] == given);
      }
  }
  run_to_the_end(model, p, loglik);
  run_to_the_end(listed, p, loglik);
}

static void test_known_sources(void) {
  problem p;
  new_problem(&p, 8, 5, 4, 0.2);
  hold_known_to_reference(&p);
  new_recorded_problem(&p, 8, 5, 3, 0.2);
  hold_known_to_reference(&p);
}

static void hold_variational(void (*make)(problem *p, int n, int m, int k, double missing)) {
  problem p;
  make(&p, 10, 6, 3, 0.1);
  const int n_one = p.data.start[p.n];
  const ptrdiff_t n_on = (ptrdiff_t) p.k * NOR_GRID * p.n;
  nor_theta var = {exact((ptrdiff_t) p.k * p.m), exact(p.m), exact((ptrdiff_t) p.k * n_one), NULL};
  if (p.par.share) var.on = exact(n_on);
  for (ptrdiff_t at = 0; var.on && at < n_on; at++) var.on[at] = 0.5;
  nor_to_theta(&p.par, p.m, &p.set, &var);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.k * n_one; at++) var.q[at] = 1. / p.k;
  nor_variational *work = nor_new_variational(&p.data, &p.par, &var, &p.set);
  mc_model model = nor_variational_model(work);
  const double bound = model.objective(model.self);
  CHECK(bound <= reference_loglik(&p));
  run_to_the_end(model, &p, bound);
  nor_from_theta(&var, p.m, &p.par);
  CHECK(model.objective(model.self) <= reference_loglik(&p) + 1e-9);
  double *activation = exact((ptrdiff_t) p.n * p.k), *rows = exact(p.n), sum = 0;
  nor_variational_rows(work, activation, rows);
  for (int i = 0; i < p.n; i++) sum += rows[i];
  CHECK_NEAR(sum, model.objective(model.self), 1e-12);
}

static void test_variational_bound(void) {
  hold_variational(new_problem);
  hold_variational(new_recorded_problem);
}

/* Reports of both posteriors for rows and cells. */
static void test_reports(void) {
  problem p;
  new_problem(&p, 6, 5, 3, 0.2);
  nor_report report[2];
  for (int r = 0; r < 2; r++) {
    report[r] = (nor_report){.loglik = exact(p.n),
                             .activation = exact((ptrdiff_t) p.n * p.k),
                             .map = exact((ptrdiff_t) p.n * p.k),
                             .response = exact((ptrdiff_t) p.n * p.m),
                             .cell = exact((ptrdiff_t) p.n * p.m * (p.k + 1))};
  }
  CHECK(nor_report_exact(&p.data, &p.par, &p.set, &report[0]));
  CHECK(nor_report_truncated(&p.data, &p.par, &p.set, new_lists(&p, NOR_LIST), &report[1]));
  for (int i = 0; i < p.n; i++) {
    double sum = 0, on = 0;
    for (int s = 0; s < 1 << p.k; s++) sum += joint(&p, s, i);
    for (int s = 0; s < 1 << p.k; s++) on += s & 1 ? joint(&p, s, i) / sum : 0;
    for (int r = 0; r < 2; r++) {
      CHECK_NEAR(report[r].loglik[i], log(sum), 1e-12);
      CHECK_NEAR(report[r].activation[i], on, 1e-12);
    }
  }
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.n * p.m * (p.k + 1); at++)
    CHECK_NEAR(report[1].cell[at], report[0].cell[at], 1e-12);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.n * p.m; at++)
    CHECK_NEAR(report[1].response[at], report[0].response[at], 1e-12);
}

static void test_importance_sampling(void) {
  problem p;
  new_problem(&p, 5, 6, 3, 0.2);
  double *proposal = exact((ptrdiff_t) p.n * p.k), *loglik = exact(p.n), *effective = exact(p.n);
  double total = 0;
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.n * p.k; at++) proposal[at] = 0.5;
  const nor_draws draws = {proposal, 20000, 1, 0};
  CHECK(nor_sample_loglik(&p.data, &p.par, &p.set, &draws, loglik, effective));
  for (int i = 0; i < p.n; i++) {
    total += loglik[i];
    CHECK(effective[i] > 100 && effective[i] <= 20000);
  }
  CHECK_NEAR(total, reference_loglik(&p), 0.02);
}

static void test_equal_rows(void) {
  double *x = exact(10);
  const double cells[] = {1, 0, 1, NAN, 1, 0, 0, 0, 0, 0}; /* column by column */
  memcpy(x, cells, sizeof cells);
  const mc_data data = check_view(x, 5, 2);
  const mc_host host = check_host();
  int *group = exact_int(5);
  CHECK(mc_group_rows(&data, &host, group) == 3);
  const int want[] = {0, 1, 0, 2, 0};
  for (int i = 0; i < 5; i++) CHECK(group[i] == want[i]);
}

int main(void) {
  RUN(test_exact);
  RUN(test_truncated_is_exact_with_all_states);
  RUN(test_objectives_rise);
  RUN(test_recording);
  RUN(test_known_sources);
  RUN(test_variational_bound);
  RUN(test_reports);
  RUN(test_importance_sampling);
  RUN(test_equal_rows);
  return check_report();
}
