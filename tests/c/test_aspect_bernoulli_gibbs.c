/* The Gibbs sampler of the aspect Bernoulli model: invariants after any sweep, for any draws. */
#include "aspect_bernoulli/gibbs.h"
#include "check_data.h"
#include "check_prior.h"
#include "check_random.h"
#include "num/assign.h"

/* The next permutation of 0 .. k - 1 in lexicographic order; false after the last. */
static bool next_order(int k, int *order) {
  int at = k - 2, other = k - 1;
  while (at >= 0 && order[at] > order[at + 1]) at--;
  if (at < 0) return false;
  while (order[other] < order[at]) other--;
  for (int left = at, right = other; left < right; right = k - 1 - (left - at - 1)) {
    const int keep = order[left];
    order[left] = order[right];
    order[right] = keep;
    left++;
  }
  return true;
}

/* The least cost over all permutations. */
static double best_cost(int k, const double *cost, int *order) {
  double best = INFINITY;
  for (int c = 0; c < k; c++) order[c] = c;
  do {
    double sum = 0;
    for (int c = 0; c < k; c++) sum += cost[num_at(c, order[c], k)];
    best = fmin(best, sum);
  } while (next_order(k, order));
  return best;
}

static void test_assign(void) {
  for (int k = 1; k <= 6; k++) {
    for (int trial = 0; trial < 20; trial++) {
      double *cost = exact((ptrdiff_t) k * k), *work = exact(3 * ((ptrdiff_t) k + 1)), sum = 0;
      int *column = exact_int(k), *index = exact_int(3 * ((ptrdiff_t) k + 1)),
          *order = exact_int(k);
      for (int e = 0; e < k * k; e++)
        cost[e] = trial % 2 ? check_uniform() : floor(4 * check_uniform());
      num_assign(k, cost, column, work, index);
      int taken = 0;
      for (int c = 0; c < k; c++) {
        CHECK(column[c] >= 0 && column[c] < k);
        taken |= 1 << column[c];
        sum += cost[num_at(c, column[c], k)];
      }
      CHECK(taken == (1 << k) - 1);
      CHECK_NEAR(sum, best_cost(k, cost, order), 1e-12);
    }
  }
}

typedef struct {
  int n, m;
  mc_data data;
  mc_host host;
  ab_gibbs_state state;
  ab_gibbs_plan plan;
  ab_gibbs_record record;
} problem;

static problem *new_problem(int n, int m, int k, int white, int black, double missing) {
  problem *p = check_alloc(NULL, 1, sizeof *p);
  int *fixed = exact_int(k), *kind = exact_int(k), *probe = exact_int(2);
  const ptrdiff_t rows = (ptrdiff_t) n * k, columns = (ptrdiff_t) k * m;
  p->n = n;
  p->m = m;
  p->data = check_view(check_table(n, m, 0.4, missing), n, m);
  p->host = check_host();
  p->state = (ab_gibbs_state){k, exact(rows), exact(columns), fixed};
  for (ptrdiff_t e = 0; e < rows; e++) p->state.membership[e] = 1.0 / k;
  for (ptrdiff_t e = 0; e < columns; e++) p->state.aspects[e] = 0.1 + 0.8 * check_uniform();
  for (int c = k - white - black; c < k; c++) {
    fixed[c] = c < k - black ? -1 : 1;
    kind[c] = c < k - black ? AB_WHITE : AB_BLACK;
    for (int j = 0; j < m; j++) p->state.aspects[num_at(c, j, k)] = fixed[c] > 0;
  }
  double *reference = exact(columns);
  memcpy(reference, p->state.aspects, (size_t) columns * sizeof(double));
  probe[0] = n - 1;
  probe[1] = m - 1;
  p->plan = (ab_gibbs_plan){.n_sweep = 6,
                            .thin = 2,
                            .keep_every = 1,
                            .reference = reference,
                            .kind = kind,
                            .n_probe = 1,
                            .probe = probe};
  p->record = (ab_gibbs_record){.n_stat = white + black > 0 ? AB_GIBBS_SCORES : AB_GIBBS_PLAIN,
                                .membership = exact(2 * rows),
                                .aspects = exact(2 * columns)};
  p->record.cell = exact((ptrdiff_t) n * m * p->record.n_stat);
  return p;
}

static void check_state(const problem *p) {
  const int k = p->state.k;
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    for (int c = 0; c < k; c++) {
      const double s = p->state.membership[num_at(i, c, p->n)];
      CHECK(s > 0 && s <= 1);
      sum += s;
    }
    CHECK_NEAR(sum, 1, 1e-12);
  }
  for (int j = 0; j < p->m; j++)
    for (int c = 0; c < k; c++) {
      const double a = p->state.aspects[num_at(c, j, k)];
      if (p->state.fixed[c])
        CHECK(a == (p->state.fixed[c] > 0));
      else
        CHECK(a > 0 && a < 1);
    }
}

static void test_sweeps(void) {
  const double priors[][3] = {{0.5, 0.5, 0.5}, {2, 1, 3}, {0.01, 0.02, 0.001}};
  const int shapes[][5] = {
      {7, 5, 3, 0, 0}, {1, 1, 1, 0, 0}, {9, 4, 4, 1, 1}, {3, 8, 2, 1, 0}, {6, 1, 3, 0, 1}};
  for (int s = 0; s < 5; s++)
    for (int q = 0; q < 3; q++) {
      problem *p = new_problem(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], shapes[s][4],
                               q == 1 ? 0.3 : 0);
      const ab_prior prior = alike(p->state.k, priors[q][0], priors[q][1], priors[q][2]);
      const mc_status status =
          ab_gibbs_run(&p->data, &prior, &p->plan, &p->state, &p->host, &p->record);
      CHECK(status == MC_MAX_PASS);
      CHECK(p->record.n_done == 6 && p->record.n_draw == 3 && p->record.n_kept == 3);
      check_state(p);
      for (int e = 0; e < 3 * (AB_NOTE_PROBE + 1); e++) CHECK(isfinite(p->record.note[e]));
      for (ptrdiff_t e = 0; e < (ptrdiff_t) p->n * p->m * p->record.n_stat; e++)
        CHECK(p->record.cell[e] >= 0 && p->record.cell[e] <= 3 + 1e-12);
    }
}

static void test_no_notes(void) {
  problem *p = new_problem(5, 4, 2, 0, 0, 0.1);
  const ab_prior prior = alike(2, 1, 1, 1);
  ab_gibbs_record none = {0};
  p->plan.thin = p->plan.keep_every = 0;
  CHECK(ab_gibbs_run(&p->data, &prior, &p->plan, &p->state, &p->host, &none) == MC_MAX_PASS);
  CHECK(none.n_done == 6 && none.n_draw == 0);
  check_state(p);
}

/* A stop, also within a sweep, leaves a complete state. */
static void test_stops(void) {
  const ab_prior prior = alike(2, 1, 1, 1);
  for (int asked = 0; asked < 24; asked += 3) {
    problem *p = new_problem(5, 110000, 2, 0, 0, 0.1);
    p->host.tick = check_stop_later;
    check.questions_left = asked;
    CHECK(ab_gibbs_run(&p->data, &prior, &p->plan, &p->state, &p->host, &p->record) == MC_STOPPED);
    CHECK(p->record.n_done == asked / 12); /* 5 rows twice, then twice between sweeps */
    CHECK(p->record.n_draw == p->record.n_done / p->plan.thin);
    check_state(p);
  }
}

/* A record that was stopped is not counted, nor is its sweep. */
static void test_stops_of_notes(void) {
  const ab_prior prior = alike(2, 1, 1, 1);
  for (int asked = 23; asked <= 28; asked++) {
    problem *p = new_problem(5, 110000, 2, 0, 0, 0.1);
    p->record.cell = NULL;
    p->record.n_stat = 0;
    p->host.tick = check_stop_later;
    check.questions_left = asked;
    CHECK(ab_gibbs_run(&p->data, &prior, &p->plan, &p->state, &p->host, &p->record) == MC_STOPPED);
    CHECK(p->record.n_done == (asked < 28 ? 1 : 2));
    CHECK(p->record.n_draw == (asked < 28 ? 0 : 1));
    for (int e = 0; e < 10 && asked < 28; e++) CHECK(p->record.membership[e] == 0);
    check_state(p);
  }
}

int main(void) {
  RUN(test_assign);
  RUN(test_sweeps);
  RUN(test_no_notes);
  RUN(test_stops);
  RUN(test_stops_of_notes);
  return check_report();
}
