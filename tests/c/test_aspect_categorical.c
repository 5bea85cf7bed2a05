/* The aspect model of several values: EM against a transcription, and invariants of its sampler. */
#include "aspect_categorical/gibbs.h"
#include "check_data.h"
#include "check_random.h"

typedef struct {
  int n, m, k, n_value;
  int *x; /* n x m, values from 0; -1: missing */
  mc_data data;
  ac_param par;
  ac_prior prior;
} problem;

static problem new_problem(int n, int m, int k, int n_value, double missing) {
  problem p = {.n = n, .m = m, .k = k, .n_value = n_value};
  double *table = check_table(n, m, 0.6, missing);
  p.data = check_view(table, n, m);
  double *value = exact(p.data.start[n]);
  for (int e = 0; e < p.data.start[n]; e++) value[e] = 1 + floor((n_value - 1) * check_uniform());
  p.data.value = value;
  p.x = exact_int((ptrdiff_t) n * m);
  int *row = exact_int(m);
  for (int i = 0; i < n; i++) {
    ac_row_values(&p.data, i, row);
    for (int j = 0; j < m; j++) {
      p.x[num_at(i, j, n)] = row[j];
      CHECK((row[j] < 0) == isnan(table[num_at(i, j, n)]));
      CHECK((row[j] == 0) == (table[num_at(i, j, n)] == 0));
    }
  }
  p.par = (ac_param){.k = k, .n_value = n_value};
  p.par.membership = check_simplex(n, k);
  p.par.profiles = check_simplex(k * m, n_value);
  p.par.fixed = exact_int(k);
  p.prior = (ac_prior){exact(k), exact(n_value)};
  return p;
}

static double *profile(const problem *p, double *profiles, int c, int j, int v) {
  return profiles + c + p->k * (j + (ptrdiff_t) p->m * v);
}

/* P(x[i,j]) by memberships and profiles. */
static double cell(const problem *p, const double *membership, double *profiles, int i, int j) {
  double sum = 0;
  for (int c = 0; c < p->k; c++)
    sum += membership[num_at(i, c, p->n)] * *profile(p, profiles, c, j, p->x[num_at(i, j, p->n)]);
  return sum;
}

static double reference_loglik(const problem *p) {
  double sum = 0;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m; j++)
      if (p->x[num_at(i, j, p->n)] >= 0)
        sum += log(cell(p, p->par.membership, p->par.profiles, i, j));
  return sum;
}

/* Expected share of component c in cell (i,j). */
static double share(const problem *p, const double *s, double *b, int i, int j, int c) {
  const int v = p->x[num_at(i, j, p->n)];
  return s[num_at(i, c, p->n)] * *profile(p, b, c, j, v) / cell(p, s, b, i, j);
}

static void reference_pass(const problem *p, double *s, double *b) {
  double *before_s = exact_copy(s, (ptrdiff_t) p->n * p->k);
  double *before_b = exact_copy(b, (ptrdiff_t) p->k * p->m * p->n_value);
  for (int i = 0; i < p->n; i++) {
    double total = 0;
    for (int c = 0; c < p->k; c++) {
      double count = p->prior.membership[c];
      for (int j = 0; j < p->m; j++)
        if (p->x[num_at(i, j, p->n)] >= 0) count += share(p, before_s, before_b, i, j, c);
      s[num_at(i, c, p->n)] = count;
      total += count;
    }
    for (int c = 0; c < p->k; c++)
      s[num_at(i, c, p->n)] =
          total > 0 ? s[num_at(i, c, p->n)] / total : before_s[num_at(i, c, p->n)];
  }
  for (int c = 0; c < p->k; c++)
    for (int j = 0; j < p->m; j++) {
      double total = 0;
      if (p->par.fixed[c]) continue;
      for (int v = 0; v < p->n_value; v++) {
        double count = p->prior.values[v];
        for (int i = 0; i < p->n; i++)
          if (p->x[num_at(i, j, p->n)] == v) count += share(p, s, before_b, i, j, c);
        *profile(p, b, c, j, v) = count;
        total += count;
      }
      for (int v = 0; v < p->n_value; v++)
        *profile(p, b, c, j, v) =
            total > 0 ? *profile(p, b, c, j, v) / total : *profile(p, before_b, c, j, v);
    }
}

static void hold_to_reference(problem p, int n_threads) {
  const mc_host host = check_host();
  const ptrdiff_t rows = (ptrdiff_t) p.n * p.k, columns = (ptrdiff_t) p.k * p.m * p.n_value;
  double *s = exact_copy(p.par.membership, rows), *b = exact_copy(p.par.profiles, columns);
  ac_work *work = ac_new_work(&p.data, &p.par, &p.prior, n_threads, &host);
  for (int pass = 0; pass < 3; pass++) {
    const double want = reference_loglik(&p) + ac_log_prior(&p.prior, &p.par, p.n, p.m);
    CHECK_NEAR(ac_objective(&p.data, &p.par, work), want, 1e-12);
    CHECK_NEAR(ac_pass(&p.data, &p.par, work), want, 1e-12);
    reference_pass(&p, s, b);
    CHECK(check_distance(p.par.membership, s, rows) <= 1e-12);
    CHECK(check_distance(p.par.profiles, b, columns) <= 1e-12);
  }
}

static const int shapes[][4] = {{7, 5, 2, 3}, {1, 6, 3, 4}, {6, 1, 2, 2},
                                {1, 1, 1, 3}, {9, 4, 1, 5}, {140, 6, 3, 3}};
#define N_SHAPE ((int) (sizeof shapes / sizeof shapes[0]))

static void test_pass_equals_reference(void) {
  for (int s = 0; s < N_SHAPE; s++)
    for (int missing = 0; missing < 2; missing++) {
      const int *d = shapes[s];
      hold_to_reference(new_problem(d[0], d[1], d[2], d[3], 0.3 * missing), 1);
      problem p = new_problem(d[0], d[1], d[2], d[3], 0.3 * missing);
      double *row = exact(p.k), *value = exact(p.n_value);
      for (int c = 0; c < p.k; c++) row[c] = 0.3;
      for (int v = 0; v < p.n_value; v++) value[v] = 0.1 * (v + 1);
      p.prior = (ac_prior){row, value};
      hold_to_reference(p, 2);
    }
}

/* A phantom of value 0 stays, and the objective never falls. */
static void test_phantom_stays(void) {
  const mc_host host = check_host();
  problem p = new_problem(60, 8, 3, 3, 0.1);
  int *fixed = exact_int(p.k);
  fixed[2] = 1;
  p.par.fixed = fixed;
  for (int j = 0; j < p.m; j++)
    for (int v = 0; v < p.n_value; v++) *profile(&p, p.par.profiles, 2, j, v) = v == 0;
  ac_self self = {&p.data, &p.par, ac_new_work(&p.data, &p.par, &p.prior, 1, &host)};
  mc_model model = ac_model(&self);
  mc_trace trace;
  const mc_control fast = {.max_iter = 3000, .tol = 1e-9, .accelerate = true, .n_threads = 1};
  CHECK(mc_fit(&model, &fast, &host, &trace) == MC_CONVERGED);
  for (int t = 1; t < trace.n_iter; t++) CHECK(trace.objective[t] >= trace.objective[t - 1]);
  for (int j = 0; j < p.m; j++) CHECK(*profile(&p, p.par.profiles, 2, j, 0) == 1);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.k * p.m; at++) {
    double sum = 0;
    for (int v = 0; v < p.n_value; v++) sum += p.par.profiles[at + v * (ptrdiff_t) p.k * p.m];
    CHECK_NEAR(sum, 1, 1e-12);
  }
}

static void test_fixed_profiles_stay(void) {
  const mc_host host = check_host();
  problem p = new_problem(9, 5, 2, 3, 0);
  p.par.fixed_profiles = true;
  double *before = exact_copy(p.par.profiles, (ptrdiff_t) p.k * p.m * p.n_value);
  ac_pass(&p.data, &p.par, ac_new_work(&p.data, &p.par, &p.prior, 1, &host));
  CHECK(check_distance(before, p.par.profiles, (ptrdiff_t) p.k * p.m * p.n_value) == 0);
}

/* States stay on the simplex, and the sums are those of the kept states. */
static void test_sampler(void) {
  for (int s = 0; s < N_SHAPE; s++) {
    const int *d = shapes[s];
    const mc_host host = check_host();
    problem p = new_problem(d[0], d[1], d[2], d[3], 0.2);
    double *row = exact(p.k), *value = exact(p.n_value);
    for (int c = 0; c < p.k; c++) row[c] = 0.5;
    for (int v = 0; v < p.n_value; v++) value[v] = 0.5 + v;
    p.prior = (ac_prior){row, value};
    const ptrdiff_t rows = (ptrdiff_t) p.n * p.k, columns = (ptrdiff_t) p.k * p.m * p.n_value;
    int *probe = exact_int(2);
    probe[0] = p.n - 1;
    const ac_gibbs_plan plan = {6, 2, 1, 1, probe};
    ac_gibbs_record record = {.membership = exact(2 * rows), .profiles = exact(2 * columns)};
    CHECK(ac_gibbs_run(&p.data, &p.prior, &plan, &p.par, &host, &record) == MC_MAX_PASS);
    CHECK(record.n_done == 6 && record.n_draw == 3 && record.n_kept == 3);
    for (ptrdiff_t e = 0; e < rows; e++) {
      double sum = 0;
      for (int t = 0; t < 3; t++) sum += record.kept_membership[t * rows + e];
      CHECK_NEAR(record.membership[e], sum, 1e-12);
    }
    for (ptrdiff_t e = 0; e < columns; e++)
      CHECK(record.kept_profiles[2 * columns + e] == p.par.profiles[e]);
    const double *last = record.note + (ptrdiff_t) 2 * (AC_NOTE_PROBE + 1);
    CHECK_NEAR(last[AC_NOTE_LIK], reference_loglik(&p), 1e-10);
    CHECK(last[AC_NOTE_PROBE] > 0 && last[AC_NOTE_PROBE] < 1);
    for (int i = 0; i < p.n; i++) {
      double sum = 0;
      for (int c = 0; c < p.k; c++) sum += p.par.membership[num_at(i, c, p.n)];
      CHECK_NEAR(sum, 1, 1e-12);
    }
  }
}

static void test_sampler_stops(void) {
  problem p = new_problem(20, 6, 2, 3, 0);
  mc_host host = check_host();
  host.tick = check_stop_later;
  check.questions_left = 3;
  double *row = exact(p.k), *value = exact(p.n_value);
  row[0] = row[1] = value[0] = value[1] = value[2] = 1;
  p.prior = (ac_prior){row, value};
  const ac_gibbs_plan plan = {.n_sweep = 50, .thin = 1};
  ac_gibbs_record record = {.membership = exact((ptrdiff_t) 2 * p.n * p.k),
                            .profiles = exact((ptrdiff_t) 2 * p.k * p.m * p.n_value)};
  CHECK(ac_gibbs_run(&p.data, &p.prior, &plan, &p.par, &host, &record) == MC_STOPPED);
  CHECK(record.n_draw < 50 && record.n_draw == record.n_done);
}

int main(void) {
  RUN(test_pass_equals_reference);
  RUN(test_phantom_stays);
  RUN(test_fixed_profiles_stay);
  RUN(test_sampler);
  RUN(test_sampler_stops);
  return check_report();
}
