/* The engine, on a model whose iterations are known in closed form. */
#include "check.h"
#include "engine/fit.h"

#include <limits.h>

/* An iteration takes each coordinate a fixed share of the way to its target; objective: -distance^2. */
typedef struct {
  double *at;     /* 2 values */
  double rate[2]; /* share of the distance left after an iteration */
  double target[2];
  int iterations, bad_pass; /* iterations so far; the one whose objective is bad */
  double bad;               /* what it is */
  int stop_at, n_asked;     /* a host that says stop from this question on */
  bool asks;                /* does the objective ask, too? */
} toy;

static double toy_objective(void *self) {
  const toy *t = self;
  double sum = 0;
  for (int i = 0; i < 2; i++) sum -= (t->at[i] - t->target[i]) * (t->at[i] - t->target[i]);
  return sum;
}

static double toy_pass(void *self) {
  toy *t = self;
  const double objective = ++t->iterations == t->bad_pass ? t->bad : toy_objective(self);
  for (int i = 0; i < 2; i++) t->at[i] = t->target[i] + t->rate[i] * (t->at[i] - t->target[i]);
  return objective;
}

static void toy_feasible(void *self, const double *const *safe) {
  const toy *t = self;
  for (int i = 0; i < 2; i++)
    if (!isfinite(t->at[i])) t->at[i] = safe[i][0];
}

static int toy_tick(void *ctx, int pass, double objective) {
  toy *t = ctx;
  (void) pass;
  (void) objective;
  return ++t->n_asked >= t->stop_at;
}

/* Imitates kernels that scan rows: NaN if the host requested a stop during the scan. */
static double toy_asking_objective(void *self) {
  return toy_tick(self, 0, 0) ? NAN : toy_objective(self);
}

/* Two blocks of one value each, of their exact size. */
static mc_status run_toy(toy *t, mc_control ctl, mc_trace *trace) {
  const mc_host host = {.alloc = check_alloc, .tick = t->stop_at ? toy_tick : NULL, .ctx = t};
  mc_model model = {.n_block = 2,
                    .pass = toy_pass,
                    .objective = t->asks ? toy_asking_objective : toy_objective,
                    .feasible = toy_feasible,
                    .self = t};
  t->at = exact(2);
  for (int b = 0; b < 2; b++) {
    model.block[b] = t->at + b;
    model.length[b] = 1;
  }
  return mc_fit(&model, &ctl, &host, trace);
}

static toy new_toy(void) { return (toy){.rate = {0.5, 0.9}, .target = {1, -2}, .bad = NAN}; }

static void test_plain_makes_every_pass(void) {
  toy t = new_toy();
  mc_trace trace;
  const mc_status status = run_toy(&t, (mc_control){.max_iter = 7, .n_threads = 1}, &trace);
  CHECK(status == MC_MAX_PASS);
  CHECK(t.iterations == 7 && trace.n_iter == 7);
  CHECK_NEAR(t.at[0], 1 - pow(0.5, 7), 1e-15);
  CHECK_NEAR(t.at[1], -2 + 2 * pow(0.9, 7), 1e-15);
  for (int p = 0; p < 7; p++)
    CHECK_NEAR(trace.objective[p], -pow(0.25, p + 1) - 4 * pow(0.81, p + 1), 1e-15);
  CHECK(trace.final == trace.objective[6]);
}

static void test_no_pass(void) {
  for (int accelerate = 0; accelerate < 2; accelerate++) {
    toy t = new_toy();
    mc_trace trace;
    const mc_control ctl = {.max_iter = 0, .accelerate = accelerate, .n_threads = 1};
    CHECK(run_toy(&t, ctl, &trace) == MC_MAX_PASS);
    CHECK(trace.n_iter == 0 && t.at[0] == 0 && t.at[1] == 0);
    CHECK_NEAR(trace.final, -5, 0);
  }
}

static void test_acceleration_is_monotone_and_fast(void) {
  toy t = new_toy();
  mc_trace trace;
  const mc_control ctl = {.max_iter = 300, .tol = 1e-10, .accelerate = true, .n_threads = 1};
  t.rate[0] = 0.9;
  t.rate[1] = 0.99; /* needs over 1000 iterations without acceleration */
  run_toy(&t, ctl, &trace);
  for (int p = 1; p < trace.n_iter; p++) CHECK(trace.objective[p] >= trace.objective[p - 1]);
  CHECK(trace.final > -1e-8);
  CHECK(trace.final == trace.objective[trace.n_iter - 1]);
}

/* Allowed iterations need no memory, only those that are made. */
static size_t largest;
static void *weighing_alloc(void *ctx, size_t count, size_t size) {
  if (count * size > largest) largest = count * size;
  CHECK(count * size < 100000);
  return count * size < 100000 ? check_alloc(ctx, count, size) : NULL;
}
static void test_a_trace_grows(void) {
  const mc_host host = {.alloc = weighing_alloc};
  int room = 0;
  double *columns = NULL;
  largest = 0;
  for (int t = 0; t < 1000; t++) {
    columns = mc_grow(&host, columns, t, 1001, 3, &room);
    for (ptrdiff_t e = 0; e < 3; e++) columns[e + (ptrdiff_t) 3 * t] = t;
    CHECK(room > t && room <= 1001);
  }
  for (ptrdiff_t t = 0; t < 1000; t++)
    CHECK(columns[3 * t] == (double) t && columns[3 * t + 2] == (double) t);
  CHECK(largest <= (size_t) 1001 * 3 * sizeof(double));
  largest = room = 0;
  CHECK(mc_grow(&host, NULL, 0, INT_MAX, 1000, &room) != NULL);
  CHECK(room == 1 && largest == 1000 * sizeof(double));
  toy t = new_toy();
  t.at = exact(2);
  mc_model model = {.n_block = 1,
                    .block = {t.at},
                    .length = {2},
                    .pass = toy_pass,
                    .objective = toy_objective,
                    .feasible = toy_feasible,
                    .self = &t};
  const mc_control ctl = {.max_iter = INT_MAX, .tol = 1e-9, .accelerate = true, .n_threads = 1};
  mc_trace trace;
  CHECK(mc_fit(&model, &ctl, &host, &trace) == MC_CONVERGED);
}

static void test_any_number_of_iterations_fits_the_trace(void) {
  for (int most = 1; most <= 10; most++) {
    toy t = new_toy();
    mc_trace trace;
    const mc_control ctl = {.max_iter = most, .accelerate = true, .n_threads = 1};
    run_toy(&t, ctl, &trace);
    CHECK(trace.n_iter <= most && t.iterations == trace.n_iter);
    CHECK_NEAR(trace.final, toy_objective(&t), 0);
  }
}

static void test_fixed_point_converges(void) {
  toy t = new_toy();
  mc_trace trace;
  t.target[0] = t.target[1] = 0;
  const mc_control ctl = {.max_iter = 50, .accelerate = true, .n_threads = 1};
  CHECK(run_toy(&t, ctl, &trace) == MC_CONVERGED);
  CHECK(trace.n_iter <= 3);
}

/* Stopped in iteration p: the blocks are an accepted point, consistent with the trace. */
static void test_stop_leaves_an_accepted_point(void) {
  for (int accelerate = 0; accelerate < 2; accelerate++) {
    for (int stop = 1; stop <= 8; stop++) {
      toy t = new_toy();
      mc_trace trace;
      const mc_control ctl = {.max_iter = 50, .accelerate = accelerate, .n_threads = 1};
      t.stop_at = stop;
      CHECK(run_toy(&t, ctl, &trace) == MC_STOPPED);
      CHECK(trace.n_iter == stop);
      CHECK(trace.final >= -5);
      CHECK(trace.final == toy_objective(&t));
    }
  }
}

/* A stop in the last objective is a stop, not a failure. */
static void test_stop_in_the_last_objective(void) {
  for (int accelerate = 0; accelerate < 2; accelerate++) {
    for (int max_iter = 0; max_iter <= 4; max_iter++) {
      toy t = new_toy();
      mc_trace trace;
      const mc_control ctl = {.max_iter = max_iter, .accelerate = accelerate, .n_threads = 1};
      t.asks = true;
      t.stop_at = max_iter + 1;
      CHECK(run_toy(&t, ctl, &trace) == MC_STOPPED);
      CHECK(trace.n_iter == max_iter);
    }
  }
}

static void test_not_finite(void) {
  for (int accelerate = 0; accelerate < 2; accelerate++) {
    for (int bad = 1; bad <= 2; bad++) {
      toy t = new_toy();
      mc_trace trace;
      const mc_control ctl = {.max_iter = 50, .accelerate = accelerate, .n_threads = 1};
      t.bad_pass = bad;
      const mc_status status = run_toy(&t, ctl, &trace);
      CHECK(status == (bad == 1 ? MC_ERR_NOT_START : MC_ERR_NOT_FINITE));
      CHECK(isfinite(t.at[0]) && isfinite(t.at[1]));
    }
  }
}

/* A bad objective after an extrapolation is not a failure: the cycle falls back to its plain iteration. */
static void test_bad_extrapolation_falls_back(void) {
  const double bad[] = {NAN, -INFINITY, INFINITY};
  for (int b = 0; b < 3; b++) {
    toy t = new_toy();
    mc_trace trace;
    const mc_control ctl = {.max_iter = 400, .tol = 1e-12, .accelerate = true, .n_threads = 1};
    t.bad_pass = 3;
    t.bad = bad[b];
    CHECK(run_toy(&t, ctl, &trace) >= 0);
    for (int p = 1; p < trace.n_iter; p++) CHECK(trace.objective[p] >= trace.objective[p - 1]);
    for (int p = 0; p < trace.n_iter; p++) CHECK(isfinite(trace.objective[p]));
    CHECK(trace.final > -1e-8);
  }
}

int main(void) {
  RUN(test_plain_makes_every_pass);
  RUN(test_no_pass);
  RUN(test_acceleration_is_monotone_and_fast);
  RUN(test_a_trace_grows);
  RUN(test_any_number_of_iterations_fits_the_trace);
  RUN(test_fixed_point_converges);
  RUN(test_stop_leaves_an_accepted_point);
  RUN(test_stop_in_the_last_objective);
  RUN(test_not_finite);
  RUN(test_bad_extrapolation_falls_back);
  return check_report();
}
