/*
 * The collapsed Gibbs sampler of latent Dirichlet allocation: invariants after any sweep, for any
 * draws; the recorded sums against plain loops over the last state; fold-in where it is exact.
 */
#include "check_data.h"
#include "check_random.h"
#include "plsa/gibbs.h"

typedef struct {
  int n, m, k, n_count;
  mc_data data;
  mc_host host;
  plsa_gibbs_state state;
  plsa_gibbs_plan plan;
  plsa_gibbs_record record;
} problem;

static int cell_size(const mc_data *data, int e) { return data->value ? (int) data->value[e] : 1; }

/* Counts up to `most`; if 1, without values. Components start at random. */
static problem *new_problem(int n, int m, int k, int most, double density, double missing) {
  problem *p = check_alloc(NULL, 1, sizeof *p);
  p->n = n;
  p->m = m;
  p->k = k;
  p->data = check_view(check_table(n, m, density, missing), n, m);
  const int cells = p->data.start[n];
  if (most > 1) {
    double *value = exact(cells);
    for (int e = 0; e < cells; e++) value[e] = 1 + floor(most * check_uniform());
    p->data.value = value;
  }
  for (int e = 0; e < cells; e++) p->n_count += cell_size(&p->data, e);
  p->host = check_host();
  p->state =
      (plsa_gibbs_state){.k = k, .topic = exact_int(p->n_count), .prior = exact((ptrdiff_t) k + 1)};
  for (int t = 0; t < p->n_count; t++) p->state.topic[t] = (int) (k * check_uniform());
  for (int c = 0; c <= k; c++) p->state.prior[c] = 0.1 + check_uniform();
  int *probe = exact_int(4);
  probe[2] = n - 1;
  probe[3] = m - 1;
  p->plan = (plsa_gibbs_plan){.n_sweep = 6, .thin = 2, .n_probe = 2, .probe = probe};
  p->record = (plsa_gibbs_record){.membership = exact((ptrdiff_t) 2 * n * k),
                                  .basis = exact((ptrdiff_t) 2 * k * m),
                                  .share = exact((ptrdiff_t) 2 * k)};
  return p;
}

static mc_status run(problem *p) {
  return plsa_gibbs_run(&p->data, &p->plan, &p->state, &p->host, &p->record);
}

static void check_state(const problem *p) {
  for (int t = 0; t < p->n_count; t++) CHECK(p->state.topic[t] >= 0 && p->state.topic[t] < p->k);
}

/* Shapes from few components, all listed by every attribute, to more than an attribute has counts. */
static const int shapes[][4] = {{7, 5, 3, 4},  {1, 1, 1, 3},  {9, 4, 12, 6}, {9, 4, 13, 6},
                                {4, 9, 40, 1}, {6, 1, 15, 9}, {1, 30, 20, 2}};
#define N_SHAPE ((int) (sizeof shapes / sizeof shapes[0]))

static problem *shaped(int s, double density, double missing) {
  return new_problem(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], density, missing);
}

static void test_sweeps(void) {
  for (int s = 0; s < N_SHAPE; s++)
    for (int q = 0; q < 4; q++) {
      problem *p = shaped(s, q == 1 ? 0 : 0.6, q == 2 ? 0.3 : 0); /* q == 1: no count at all */
      double *before = exact_copy(p->state.prior, (ptrdiff_t) p->k + 1);
      p->plan.learn = q == 3;
      CHECK(run(p) == MC_MAX_PASS);
      CHECK(p->record.n_done == 6 && p->record.n_draw == 3);
      check_state(p);
      for (int c = 0; c <= p->k; c++) {
        CHECK(p->state.prior[c] >= PLSA_LEAST_PRIOR && p->state.prior[c] <= PLSA_MOST_PRIOR);
        CHECK(p->plan.learn || p->state.prior[c] == before[c]);
      }
      const double *note = p->record.note;
      for (int d = 0; d < 3; d++, note += 3) {
        CHECK(isfinite(note[0]));
        for (int e = 1; e < 3; e++) CHECK(note[e] > 0 && note[e] <= 1 + 1e-12);
      }
    }
}

/* Computes n[i,c] and n[c,j] of the state. */
static void count_state(const problem *p, double *rows, double *columns) {
  const int *topic = p->state.topic;
  for (int i = 0; i < p->n; i++)
    for (int e = p->data.start[i]; e < p->data.start[i + 1]; e++)
      for (int t = cell_size(&p->data, e); t > 0; t--, topic++) {
        rows[num_at(i, *topic, p->n)]++;
        columns[num_at(*topic, p->data.column[e], p->k)]++;
      }
}

/* Eqs. (2) and (3). */
static double log_joint(const problem *p, const double *rows, const double *columns) {
  const double *alpha = p->state.prior, eta = alpha[p->k];
  double sum = 0, alpha_total = 0;
  for (int c = 0; c < p->k; c++) alpha_total += alpha[c];
  for (int i = 0; i < p->n; i++) {
    double total = 0;
    for (int c = 0; c < p->k; c++) {
      total += rows[num_at(i, c, p->n)];
      sum += lgamma(alpha[c] + rows[num_at(i, c, p->n)]) - lgamma(alpha[c]);
    }
    sum += lgamma(alpha_total) - lgamma(alpha_total + total);
  }
  for (int c = 0; c < p->k; c++) {
    double total = 0;
    for (int j = 0; j < p->m; j++) {
      total += columns[num_at(c, j, p->k)];
      sum += lgamma(eta + columns[num_at(c, j, p->k)]) - lgamma(eta);
    }
    sum += lgamma(p->m * eta) - lgamma(p->m * eta + total);
  }
  return sum;
}

/* P(cell i, j | components), with the parameters integrated out. */
static double cell_probability(const problem *p, const double *rows, const double *columns, int i,
                               int j) {
  const double *alpha = p->state.prior, eta = alpha[p->k];
  double sum = 0, total = 0;
  for (int c = 0; c < p->k; c++) {
    double b = p->m * eta;
    for (int l = 0; l < p->m; l++) b += columns[num_at(c, l, p->k)];
    const double of_row = alpha[c] + rows[num_at(i, c, p->n)];
    sum += of_row * (eta + columns[num_at(c, j, p->k)]) / b;
    total += of_row;
  }
  return sum / total;
}

/* One draw, recorded after the last sweep, is that of the final state. */
static void test_notes(void) {
  for (int s = 0; s < N_SHAPE; s++) {
    problem *p = shaped(s, 0.7, s % 2 ? 0.2 : 0);
    const int n = p->n, m = p->m, k = p->k;
    double *rows = exact((ptrdiff_t) n * k), *columns = exact((ptrdiff_t) k * m);
    p->plan.thin = p->plan.n_sweep;
    CHECK(run(p) == MC_MAX_PASS && p->record.n_draw == 1);
    count_state(p, rows, columns);
    CHECK_NEAR(p->record.note[0], log_joint(p, rows, columns), 1e-10);
    CHECK_NEAR(p->record.note[1], cell_probability(p, rows, columns, 0, 0), 1e-10);
    CHECK_NEAR(p->record.note[2], cell_probability(p, rows, columns, n - 1, m - 1), 1e-10);
    for (ptrdiff_t e = 0; e < (ptrdiff_t) n * k; e++) {
      CHECK(p->record.membership[e] == rows[e]);
      CHECK(p->record.membership[e + (ptrdiff_t) n * k] == rows[e] * rows[e]);
    }
    const double eta = p->state.prior[k];
    for (int c = 0; c < k; c++) {
      double b = m * eta;
      for (int j = 0; j < m; j++) b += columns[num_at(c, j, k)];
      CHECK_NEAR(p->record.share[c], 1 / b, 1e-10);
      CHECK_NEAR(p->record.share[k + c], 1 / (b * (b + 1)), 1e-10);
      for (int j = 0; j < m; j++) {
        const double count = columns[num_at(c, j, k)];
        CHECK_NEAR(p->record.basis[num_at(c, j, k)], count / b, 1e-10);
        CHECK_NEAR(p->record.basis[num_at(c, j + (ptrdiff_t) m, k)],
                   count * (count + 2 * eta + 1) / (b * (b + 1)), 1e-10);
      }
    }
  }
}

/* With covariates: records are those of the last state, memberships are on the simplex. */
static void test_regression(void) {
  for (int s = 0; s < N_SHAPE; s++) {
    problem *p = shaped(s, s == 5 ? 0 : 0.7, s % 2 ? 0.2 : 0);
    const int n = p->n, k = p->k, d = 2;
    double *design = exact((ptrdiff_t) d * n), *effects = exact((ptrdiff_t) d * k);
    for (int i = 0; i < n; i++) {
      design[num_at(0, i, d)] = 1;
      design[num_at(1, i, d)] = check_uniform() - 0.5;
    }
    for (int a = 0; a < d * k; a++) effects[a] = 0;
    p->state.by = (num_multinomial){d, design, effects, 0.4};
    p->state.concentration = exact(1);
    *p->state.concentration = 1.5;
    p->state.rate = 0.5;
    CHECK(run(p) == MC_MAX_PASS);
    CHECK(p->record.n_draw == 3);
    check_state(p);
    const double *last = p->record.regression + 2 * ((ptrdiff_t) d * k + 1);
    for (int a = 0; a < d * k; a++) CHECK(last[a] == effects[a] && isfinite(effects[a]));
    CHECK(last[(ptrdiff_t) d * k] == *p->state.concentration);
    CHECK(*p->state.concentration >= PLSA_LEAST_PRIOR);
    for (ptrdiff_t t = 0; t < 3; t++) CHECK(isfinite(p->record.note[3 * t]));
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int c = 0; c < k; c++) sum += p->record.membership[num_at(i, c, n)];
      CHECK_NEAR(sum, 3, 1e-10);
    }
  }
}

/* A stop, also within a sweep, leaves a complete state. */
static void test_stops(void) {
  for (int asked = 0; asked < 12; asked++) {
    problem *p = new_problem(50, 1000, 3 + 20 * (asked % 2), 1, 1, 0); /* 50000 counts */
    p->plan.n_probe = 0;
    p->host.tick = check_stop_later;
    check.questions_left = asked;
    CHECK(run(p) == MC_STOPPED);
    /* asked at 0, 20000 and 40000 counts, and after the sweep, which is then complete */
    CHECK(p->record.n_done == (asked + 1) / 4);
    CHECK(p->record.n_draw == p->record.n_done / p->plan.thin);
    check_state(p);
  }
}

/* Rows with one count or none are exact; all others are on the simplex. */
static void test_fold_in(void) {
  for (int s = 0; s < N_SHAPE; s++) {
    problem *p = shaped(s, 0.6, 0.1);
    const int n = p->n, k = p->k;
    double *basis = check_probabilities((ptrdiff_t) k * p->m),
           *membership = exact((ptrdiff_t) n * k);
    double *alpha = exact_copy(p->state.prior, k), alpha_total = 0;
    for (int c = 0; c < k; c++) alpha_total += alpha[c];
    CHECK(plsa_gibbs_fold_in(&p->data, k, basis, alpha, &p->host, membership) == MC_CONVERGED);
    for (int i = 0; i < n; i++) {
      const int begin = p->data.start[i], end = p->data.start[i + 1];
      double sum = 0, cell_sum = 0;
      for (int c = 0; c < k; c++) {
        sum += membership[num_at(i, c, n)];
        cell_sum += end > begin ? alpha[c] * basis[num_at(c, p->data.column[begin], k)] : 0;
      }
      CHECK_NEAR(sum, 1, 1e-12);
      for (int c = 0; c < k; c++) {
        const double got = membership[num_at(i, c, n)];
        CHECK(got > 0);
        if (end == begin) CHECK_NEAR(got, alpha[c] / alpha_total, 1e-12);
        if (end - begin != 1 || cell_size(&p->data, begin) != 1) continue;
        const double g = alpha[c] * basis[num_at(c, p->data.column[begin], k)] / cell_sum;
        CHECK_NEAR(got, (g + alpha[c]) / (1 + alpha_total), 1e-12);
      }
    }
  }
}

int main(void) {
  RUN(test_sweeps);
  RUN(test_notes);
  RUN(test_regression);
  RUN(test_stops);
  RUN(test_fold_in);
  return check_report();
}
