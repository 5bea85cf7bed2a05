/* The sampler of binary matrix factorization: invariants after any sweep, for any draws. */
#include "bmf/private.h"
#include "check_data.h"
#include "check_random.h"
#include "num/gaussian.h"
#include "num/linalg.h"

#include <stdlib.h>

typedef struct {
  int n, m;
  mc_data data[2];
  mc_host host;
  bmf_state state;
} problem;

static double *transposed(const double *x, int n, int m) {
  double *out = exact((ptrdiff_t) n * m);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) out[num_at(j, i, m)] = x[num_at(i, j, n)];
  return out;
}

static void set_hyper(bmf_state *state) {
  for (int h = 0; h < BMF_N_HYPER; h++)
    state->hyper[h] = (bmf_hyper){.value = 1, .shape = 2, .rate = 2, .learned = true};
  state->hyper[BMF_WEIGHT_MEAN] = (bmf_hyper){.value = 0, .shape = 1, .rate = 1};
}

/* k and l random free features beside n_fixed columns of ones each. */
static problem *new_problem_with(int n_fixed, bmf_family family, int n, int m, int k, int l,
                                 bool infinite, double missing) {
  problem *p = check_alloc(NULL, 1, sizeof *p);
  double *x = check_table(n, m, 0.4, missing);
  const int size[2] = {k, l}, items[2] = {n, m};
  p->n = n;
  p->m = m;
  p->data[0] = check_view(x, n, m);
  p->data[1] = check_view(transposed(x, n, m), m, n);
  p->host = check_host();
  p->state.host = &p->host;
  p->state.family = family;
  p->state.power = 1;
  set_hyper(&p->state);
  for (int s = 0; s < 2; s++) {
    bmf_side *side = &p->state.side[s];
    p->state.data[s] = &p->data[s];
    *side = (bmf_side){.n = items[s], .infinite = infinite, .beta_off = 1, .n_fixed = n_fixed};
    side->k = n_fixed + size[s];
  }
  bmf_allocate(&p->state);
  for (int s = 0; s < 2; s++) {
    bmf_side *side = &p->state.side[s];
    for (int i = 0; i < side->n; i++)
      for (int c = 0; c < side->k; c++) bmf_item(side, i)[c] = c < n_fixed || check_uniform() < 0.5;
    bmf_count(side);
  }
  for (int c = 0; c < p->state.side[0].k; c++)
    for (int t = 0; t < p->state.side[1].k; t++) bmf_weight(&p->state, 0, c)[t] = check_uniform();
  bmf_transpose(&p->state, 0);
  for (int s = 0; s < 2; s++) bmf_drop_empty(&p->state, s);
  return p;
}

static problem *new_problem(bmf_family family, int n, int m, int k, int l, bool infinite,
                            double missing) {
  return new_problem_with(1, family, n, m, k, l, infinite, missing);
}

static void check_state(const problem *p) {
  for (int s = 0; s < 2; s++) {
    const bmf_side *side = &p->state.side[s];
    CHECK(side->k >= side->n_fixed && side->k <= side->room);
    for (int c = 0; c < side->k; c++) {
      int count = 0;
      for (int i = 0; i < side->n; i++) {
        CHECK(bmf_item(side, i)[c] <= 1);
        count += bmf_item(side, i)[c];
      }
      CHECK(count == side->count[c]);
      CHECK(count > 0 || !side->infinite);
      CHECK(c >= side->n_fixed || count == side->n);
    }
  }
  for (int c = 0; c < p->state.side[0].k; c++)
    for (int l = 0; l < p->state.side[1].k; l++) {
      const double w = bmf_weight(&p->state, 0, c)[l];
      CHECK(isfinite(w) && w == bmf_weight(&p->state, 1, l)[c]);
      CHECK(w > 0 || p->state.family != BMF_POISSON);
    }
  CHECK(!p->state.omega); /* only set during an update of the weights */
}

static void run(problem *p, bmf_moves moves, int n_sweep) {
  const int probe[] = {0, 0};
  const bmf_plan plan = {
      .n_sweep = n_sweep, .thin = 1, .moves = moves, .n_threads = 2, .n_probe = 1, .probe = probe};
  bmf_state best = p->state;
  bmf_allocate(&best);
  bmf_record record = {.best = &best, .best_joint = -INFINITY};
  record.mean = exact((ptrdiff_t) p->n * p->m);
  CHECK(bmf_run(&p->state, &plan, &record) == MC_MAX_PASS);
  CHECK(record.n_done == n_sweep && record.n_draw == n_sweep && record.best_found);
  for (ptrdiff_t e = 0; e < (ptrdiff_t) p->n * p->m; e++) CHECK(isfinite(record.mean[e]));
  for (ptrdiff_t e = 0; e < (ptrdiff_t) n_sweep * (BMF_NOTE_PROBE + 1); e++)
    CHECK(isfinite(record.note[e]));
  check_state(p);
}

static void test_every_family(void) {
  const bmf_moves plain = {0}, all = {.block = true, .multi = true, .split_merge = 1};
  for (int family = BMF_GAUSSIAN; family <= BMF_POISSON; family++) {
    run(new_problem((bmf_family) family, 9, 6, 3, 2, false, 0.1), plain, 10);
    run(new_problem((bmf_family) family, 9, 6, 3, 2, true, 0.1), all, 10);
  }
}

static void test_complete_and_collapsed(void) {
  const bmf_moves collapsed = {.collapsed = true}, block = {.block = true};
  run(new_problem(BMF_GAUSSIAN, 9, 6, 3, 2, true, 0), block, 10);
  run(new_problem(BMF_GAUSSIAN, 9, 6, 3, 2, true, 0), collapsed, 8);
  run(new_problem(BMF_GAUSSIAN, 9, 6, 3, 2, false, 0), collapsed, 8);
}

static void test_small_sides(void) {
  const bmf_moves all = {.block = true, .multi = true, .split_merge = 1};
  for (int family = BMF_GAUSSIAN; family <= BMF_POISSON; family++) {
    run(new_problem((bmf_family) family, 1, 1, 1, 1, true, 0), all, 10);
    run(new_problem((bmf_family) family, 1, 5, 0, 0, true, 0), all, 10);
    run(new_problem((bmf_family) family, 5, 1, 0, 2, false, 0.2), all, 10);
  }
}

/* No features on one side, or on both: empty arrays have no memory. */
static void run_without(bmf_family family, double missing, bmf_moves moves) {
  run(new_problem_with(0, family, 7, 4, 3, 0, false, missing), moves, 10);
  run(new_problem_with(0, family, 7, 4, 0, 3, false, missing), moves, 10);
  run(new_problem_with(0, family, 7, 4, 0, 0, true, missing), moves, 10);
}
static const bmf_moves every_move = {.block = true, .multi = true, .split_merge = 3};
static void test_no_features_gaussian(void) { run_without(BMF_GAUSSIAN, 0.1, every_move); }
static void test_no_features_bernoulli(void) { run_without(BMF_BERNOULLI, 0.1, every_move); }
static void test_no_features_poisson(void) { run_without(BMF_POISSON, 0.1, every_move); }
static void test_no_features_complete(void) { run_without(BMF_GAUSSIAN, 0, every_move); }
static void test_no_features_collapsed(void) {
  run_without(BMF_GAUSSIAN, 0, (bmf_moves){.collapsed = true});
}

/* Many features: rows grow, and weights are drawn by feature. */
static void test_many_features(void) {
  const bmf_moves block = {.block = true};
  run(new_problem(BMF_GAUSSIAN, 12, 10, 26, 26, false, 0.1), block, 2);
  run(new_problem(BMF_BERNOULLI, 12, 10, 26, 26, false, 0.1), block, 2);
}

/* New features replace an item's own, also if more memory is needed. */
static void test_births_replace(bmf_family family) {
  problem *p = new_problem_with(0, family, 1, 3, 200, 2, true, 0);
  bmf_side *rows = &p->state.side[0];
  const bmf_moves plain = {0};
  const double weight[2] = {0.5, 0.5};
  while (rows->k < rows->room) {
    const int c = bmf_add_feature(&p->state, 0, weight);
    bmf_item(rows, 0)[c] = 1;
    rows->count[c] = 1;
  }
  bmf_transpose(&p->state, 0);
  p->state.power = 1e-12; /* no likelihood: every proposal is accepted */
  p->state.hyper[BMF_ALPHA_ROWS].value = 30;
  bmf_update_side(bmf_new_workspace(&p->state, 0), &p->state, 0, &plain);
  CHECK(rows->k > 0 && rows->k < 80); /* Poisson(30) */
  check_state(p);
}
static void test_births_replace_gaussian(void) { test_births_replace(BMF_GAUSSIAN); }
static void test_births_replace_poisson(void) { test_births_replace(BMF_POISSON); }

/* Adding and dropping features keeps members and weights together. */
static void test_add_and_drop(void) {
  problem *p = new_problem(BMF_GAUSSIAN, 4, 3, 2, 2, true, 0);
  double weight[3] = {7, 8, 9};
  for (int t = 0; t < 40; t++) {
    const int c = bmf_add_feature(&p->state, 0, weight);
    bmf_item(&p->state.side[0], t % 4)[c] = 1;
    p->state.side[0].count[c] = 1;
  }
  bmf_drop_feature(&p->state, 0, 1); /* the last one, with these weights, takes its place */
  while (p->state.side[0].k > 2) bmf_drop_feature(&p->state, 0, p->state.side[0].k - 1);
  bmf_transpose(&p->state, 0);
  CHECK(bmf_weight(&p->state, 0, 1)[0] == 7);
  check_state(p);
}

/* A stop, also within a sweep, leaves a complete state. */
static void test_stops(bmf_family family, bmf_moves moves, int n, int m, double missing) {
  int whole = 0, most = 0;
  for (int asked = 0; asked < 40; asked += 6) {
    problem *p = new_problem(family, n, m, 2, 2, true, missing);
    const bmf_plan plan = {.n_sweep = 2, .thin = 1, .moves = moves, .n_threads = 1};
    bmf_record record = {.n_draw = 0};
    p->host.tick = check_stop_later;
    check.questions_left = asked;
    const mc_status status = bmf_run(&p->state, &plan, &record);
    CHECK(status == (check.questions_left < 0 ? MC_STOPPED : MC_MAX_PASS));
    CHECK(record.n_draw == record.n_done && record.n_done <= 2);
    check_state(p);
    whole += status == MC_STOPPED && record.n_done == 0;
    most = record.n_done > most ? record.n_done : most;
  }
  CHECK(whole > 0 && most > 0);
}
static const bmf_moves splits = {.split_merge = 1};
static void test_stops_gaussian(void) { test_stops(BMF_GAUSSIAN, splits, 9, 7000, 0.1); }
static void test_stops_complete(void) { test_stops(BMF_GAUSSIAN, splits, 9, 7000, 0); }
static void test_stops_bernoulli(void) { test_stops(BMF_BERNOULLI, splits, 9, 7000, 0.1); }
static void test_stops_poisson(void) { test_stops(BMF_POISSON, splits, 9, 7000, 0.1); }
static void test_stops_collapsed(void) {
  test_stops(BMF_GAUSSIAN, (bmf_moves){.collapsed = true}, 9, 6, 0);
}

/*
 * Two equal features share a sum s of weights; a prior precision far below the rounding errors of
 * the cells' information about s must not freeze them.
 */
static problem *same_twice(bmf_family family, double missing, double precision, int n_feature) {
  problem *p = new_problem_with(0, family, 30, 8, n_feature, 1, false, missing);
  for (int s = 0; s < 2; s++) {
    bmf_side *side = &p->state.side[s];
    for (int i = 0; i < side->n; i++)
      for (int c = 0; c < side->k; c++) bmf_item(side, i)[c] = i % 3 != 0;
    bmf_count(side);
  }
  p->state.hyper[BMF_WEIGHT_PRECISION].value = precision;
  return p;
}

static void test_same_features(bmf_family family, double missing, int n_feature) {
  problem *p = same_twice(family, missing, 1e-25, n_feature);
  bmf_workspace *ws[2] = {bmf_new_workspace(&p->state, 0), bmf_new_workspace(&p->state, 1)};
  double before = bmf_weight(&p->state, 0, 0)[0], mean = 0, square = 0;
  const int n_draw = 300;
  for (int t = 0; t < n_draw; t++) {
    double sum = 0;
    bmf_update_weights(ws, &p->state);
    for (int c = 0; c < n_feature; c++) sum += bmf_weight(&p->state, 0, c)[0];
    CHECK(isfinite(sum) && bmf_weight(&p->state, 0, 0)[0] != before);
    before = bmf_weight(&p->state, 0, 0)[0];
    mean += sum / n_draw;
    square += sum * sum / n_draw;
  }
  if (family != BMF_GAUSSIAN) return;
  /* The cells' own mean, and its error: noise precision 1, about 100 cells; weights near 1e12 have
   * lost the fourth digit of their sum. */
  CHECK(fabs(mean - 0.4) < 0.2);
  CHECK(square - mean * mean > 0.002 && square - mean * mean < 0.05);
}
static void test_same_features_missing(void) { test_same_features(BMF_GAUSSIAN, 0.05, 2); }
static void test_same_features_complete(void) { test_same_features(BMF_GAUSSIAN, 0, 2); }
static void test_same_features_bernoulli(void) { test_same_features(BMF_BERNOULLI, 0.05, 2); }

/* The sum s of two equal features is distributed as a single feature's weight with half the precision. */
static void test_same_features_collapsed(void) {
  const double precision[] = {1, 1e-6, 1e-12, 1e-18, 1e-24};
  for (int t = 0; t < 5; t++) {
    problem *two = same_twice(BMF_GAUSSIAN, 0, precision[t], 2);
    check.random = 1;
    problem *one = same_twice(BMF_GAUSSIAN, 0, precision[t] / 2, 1);
    two->data[0] = one->data[0];
    two->data[1] = one->data[1];
    for (int s = 0; s < 2; s++) {
      const double got = bmf_log_marginal(bmf_new_workspace(&two->state, s), &two->state, s);
      const double want = bmf_log_marginal(bmf_new_workspace(&one->state, s), &one->state, s);
      CHECK_NEAR(got, want, 1e-9);
    }
  }
}

/* Both methods agree: if a Cholesky factor exists, the eigendecomposition gives the same result. */
static void test_gaussian_roads(void) {
  const int n = 3;
  const double s[] = {4, 2, 2, 2, 3, 1, 2, 1, 5}, g[] = {1, -2, 3};
  double *work = exact((ptrdiff_t) num_gaussian_work(n));
  double log_of[2];
  for (int road = 0; road < 2; road++) {
    /* The larger system has a direction without data, in which only the prior matters. */
    const int size = n + road;
    const num_ridge prior = {road ? 1e-30 : 0.5, 2};
    double *q = exact((ptrdiff_t) size * size), *h = exact(size), *draw = exact(size);
    work = exact((ptrdiff_t) num_gaussian_work(size));
    for (int i = 0; i < n; i++) {
      h[i] = g[i];
      for (int j = 0; j < n; j++) q[num_at(i, j, size)] = s[3 * i + j];
    }
    for (int i = 0; i < size; i++) {
      q[num_at(i, i, size)] += prior.ridge + (i < n && road ? 0.5 : 0);
      h[i] += prior.ridge * prior.mean + (i < n && road ? 1 : 0);
    }
    double *copy = exact_copy(q, (ptrdiff_t) size * size), *copy_h = exact_copy(h, size);
    log_of[road] = num_log_gaussian(q, h, size, prior, work);
    CHECK(num_draw_gaussian(copy, copy_h, size, prior, draw, work));
    for (int i = 0; i < size; i++) CHECK(isfinite(draw[i]));
  }
  /* The direction adds -1/2 log ridge + 1/2 ridge mean^2. */
  CHECK_NEAR(log_of[1] + 0.5 * log(1e-30), log_of[0], 1e-12);
  double q[1] = {NAN}, h[1] = {0}, draw[1];
  CHECK(!num_draw_gaussian(q, h, 1, (num_ridge){1, 0}, draw, work));
  CHECK(isnan(num_log_gaussian(q, h, 1, (num_ridge){1, 0}, work)));
}

/* The scratch agrees with its header, however the item's gram was computed. */
static void test_seen(void) {
  problem *p = new_problem(BMF_GAUSSIAN, 9, 6, 3, 2, false, 0.2);
  bmf_workspace *ws = bmf_new_workspace(&p->state, 0);
  int n_partial = 0;
  bmf_workspace_begin(ws, &p->state, 0);
  for (int i = 0; i < p->n; i++) {
    const int n_missing = data_n_missing(ws->data, i);
    double n_seen = 0;
    bmf_row_begin(ws, i);
    if (n_missing == 0) continue;
    for (int j = 0; j < p->m; j++) n_seen += ws->at.seen[j];
    CHECK(n_seen == p->m - n_missing);
    for (int e = 0; e < n_missing; e++)
      CHECK(ws->at.seen[ws->data->na_column[ws->data->na_start[i] + e]] == 0);
    n_partial += n_missing < p->m / 2.;
  }
  CHECK(n_partial > 0);
}

/* An attempt on a table with many rows, or features, asks the host, and a stop leaves no trace. */
static int n_questions;
static int count_questions(void *ctx, int pass, double objective) {
  n_questions++;
  return check_stop_later(ctx, pass, objective);
}
static void test_split_merge_asks(void) {
  problem *p = new_problem(BMF_GAUSSIAN, 4000, 3, 2, 6, false, 0);
  const int n_free = 12; /* some without members, to split into */
  p->host.tick = count_questions;
  check.questions_left = 1000000;
  n_questions = 0;
  for (int t = 0; t < n_free; t++)
    bmf_split_merge(bmf_new_workspace(&p->state, 0), &p->state, 0, 1);
  CHECK(n_questions > 3 * n_free);
  check.questions_left = 2;
  n_questions = 0;
  bmf_split_merge(bmf_new_workspace(&p->state, 0), &p->state, 0, 50);
  CHECK(n_questions < 10);
  check_state(p);
}

/* Many weights of a 0/1 table: the variables of all cells need at most one number each. */
static size_t most_bytes;
static void *count_bytes(void *ctx, size_t count, size_t size) {
  most_bytes = count * size > most_bytes ? count * size : most_bytes;
  return check_alloc(ctx, count, size);
}
static void test_memory_of_many_weights(void) {
  problem *p = new_problem(BMF_BERNOULLI, 300, 200, 25, 25, false, 0);
  bmf_workspace *ws[] = {bmf_new_workspace(&p->state, 0), bmf_new_workspace(&p->state, 1)};
  p->host.alloc = count_bytes;
  most_bytes = 0;
  bmf_update_weights(ws, &p->state);
  CHECK(most_bytes == 60000 * sizeof(double));
  check_state(p);
}

/* Without a mean the evaluation of all cells ends when the host requests it; with one it is completed. */
static void test_measure_asks(void) {
  problem *p = new_problem(BMF_BERNOULLI, 300, 4, 2, 2, false, 0);
  bmf_measure_work work = bmf_new_measure(&p->state, 1);
  double *mean = exact((ptrdiff_t) 300 * 4);
  const double whole = bmf_measure(&p->state, &work, NULL).log_lik;
  p->host.tick = check_stop_later;
  check.questions_left = 3;
  CHECK(isnan(bmf_measure(&p->state, &work, NULL).log_lik));
  CHECK(bmf_measure(&p->state, &work, mean).log_lik == whole && mean[1199] > 0);
}

int main(void) {
  RUN(test_every_family);
  RUN(test_complete_and_collapsed);
  RUN(test_small_sides);
  RUN(test_no_features_gaussian);
  RUN(test_no_features_bernoulli);
  RUN(test_no_features_poisson);
  RUN(test_no_features_complete);
  RUN(test_no_features_collapsed);
  RUN(test_many_features);
  RUN(test_births_replace_gaussian);
  RUN(test_births_replace_poisson);
  RUN(test_add_and_drop);
  RUN(test_same_features_missing);
  RUN(test_same_features_complete);
  RUN(test_same_features_bernoulli);
  RUN(test_same_features_collapsed);
  RUN(test_gaussian_roads);
  RUN(test_seen);
  RUN(test_split_merge_asks);
  RUN(test_measure_asks);
  RUN(test_memory_of_many_weights);
  RUN(test_stops_gaussian);
  RUN(test_stops_complete);
  RUN(test_stops_bernoulli);
  RUN(test_stops_poisson);
  RUN(test_stops_collapsed);
  return check_report();
}
