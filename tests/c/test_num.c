/* The numerics shared by kernels, against plain loops. */
#ifndef _WIN32
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming) */
#define _POSIX_C_SOURCE 200809L /* fork() */
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <float.h>

#include "check_data.h"
#include "num/blas.h"
#include "num/lanes.h"
#include "num/log1mexp.h"
#include "num/logistic.h"
#include "num/logistic_regression.h"
#include "num/safe_step.h"
#include "num/simplex.h"
#include "num/system.h"
#include "num/threads.h"
#include "num/vector.h"

static double *uniforms(ptrdiff_t count) {
  double *x = exact(count);
  for (ptrdiff_t i = 0; i < count; i++) x[i] = check_uniform();
  return x;
}

static double element(const double *x, bool transpose, int i, int j, int n_row) {
  return transpose ? x[num_at(j, i, n_row)] : x[num_at(i, j, n_row)];
}

static void test_gemm(void) {
  const int m = 5, n = 3, k = 4;
  for (int variant = 0; variant < 8; variant++) {
    const bool ta = variant & 1, tb = variant & 2;
    const double beta = variant & 4 ? 1 : 0;
    const int lda = ta ? k : m, ldb = tb ? n : k;
    const double *a = uniforms((ptrdiff_t) m * k), *b = uniforms((ptrdiff_t) k * n);
    double *c = uniforms((ptrdiff_t) m * n);
    const double *before = exact_copy(c, (ptrdiff_t) m * n);
    num_gemm(ta, tb, m, n, k, a, lda, b, ldb, beta, c, m);
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < m; i++) {
        double want = beta * before[num_at(i, j, m)];
        for (int l = 0; l < k; l++) want += element(a, ta, i, l, lda) * element(b, tb, l, j, ldb);
        CHECK_NEAR(c[num_at(i, j, m)], want, 1e-14);
      }
    }
  }
}

static void test_lanes(void) {
  const int length = 13;
  for (int n_row = 1; n_row <= 13; n_row++) {
    const double *rows = uniforms((ptrdiff_t) n_row * length);
    const double *weights = uniforms((ptrdiff_t) NUM_LANES * n_row);
    double *mix = exact((ptrdiff_t) NUM_LANES * length),
           *dots = exact((ptrdiff_t) NUM_LANES * n_row);
    double *squares = uniforms((ptrdiff_t) NUM_LANES * n_row);
    const double *before = exact_copy(squares, (ptrdiff_t) NUM_LANES * n_row);
    memset(dots, 0, NUM_LANES * (size_t) n_row * sizeof *dots);
    num_lanes_mix(n_row, length, rows, weights, mix);
    num_lanes_dots(n_row, length, rows, mix, dots);
    num_lanes_square_dots(n_row, length, rows, mix, squares);
    for (int l = 0; l < NUM_LANES; l++) {
      for (int j = 0; j < length; j++) {
        double want = 0;
        for (int r = 0; r < n_row; r++)
          want += rows[num_at(r, j, n_row)] * weights[num_at(l, r, NUM_LANES)];
        CHECK_NEAR(mix[num_at(l, j, NUM_LANES)], want, 1e-14);
      }
      for (int r = 0; r < n_row; r++) {
        double want = 0, square = before[num_at(l, r, NUM_LANES)];
        for (int j = 0; j < length; j++) {
          const double x = mix[num_at(l, j, NUM_LANES)];
          want += rows[num_at(r, j, n_row)] * x;
          square += rows[num_at(r, j, n_row)] * x * x;
        }
        CHECK_NEAR(dots[num_at(l, r, NUM_LANES)], want, 1e-12);
        CHECK_NEAR(squares[num_at(l, r, NUM_LANES)], square, 1e-12);
      }
    }
  }
}

static void test_guard_unit(void) {
  double *x = exact(5), *safe = exact(5);
  const double from[] = {-3, 2, 0.4, 0.5, 0.5}, inside[] = {0.5, 0.5, 0.5, 0, 1};
  memcpy(x, from, sizeof from);
  memcpy(safe, inside, sizeof inside);
  num_guard_unit(x, safe, 5);
  const double want[] = {0.1, 0.9, 0.4, 0, 1}; /* exact bounds stay exact */
  for (int i = 0; i < 5; i++) CHECK_NEAR(x[i], want[i], 1e-15);
}

static void test_guard_simplex(void) {
  const int n = 4, k = 3;
  double *safe = check_simplex(n, k), *rows = uniforms((ptrdiff_t) n * k);
  safe[num_at(2, 0, n)] = 0;
  rows[num_at(1, 1, n)] = -7;
  num_guard_simplex(rows, safe, n, k);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int c = 0; c < k; c++) {
      sum += rows[num_at(i, c, n)];
      CHECK(rows[num_at(i, c, n)] >= 0);
    }
    CHECK_NEAR(sum, 1, 1e-15);
  }
  CHECK(rows[num_at(2, 0, n)] == 0);
  CHECK(rows[num_at(1, 1, n)] > 0);
}

static void check_inverses(const double *from, ptrdiff_t n) {
  double *x = exact_copy(from, n), want = 0;
  for (ptrdiff_t i = 0; i < n; i++) want += log(from[i]);
  const double sum = num_invert_sum_log(x, n);
  CHECK_NEAR(sum, want, 1e-13);
  for (ptrdiff_t i = 0; i < n; i++) {
    const double inverse = 1 / from[i];
    CHECK(x[i] == inverse || fabs(x[i] - inverse) <= 8 * DBL_EPSILON * inverse);
  }
}

static void test_invert_sum_log(void) {
  const double odd[] = {1, 0, NUM_TINY, 1e-300, DBL_MIN, 1 - DBL_EPSILON, 0.5, 0};
  for (int n = 0; n < 40; n++) check_inverses(uniforms(n), n);
  check_inverses(uniforms(9001), 9001); /* products that would underflow */
  for (int place = 0; place < 12; place++) {
    for (int which = 0; which < 8; which++) {
      double *x = uniforms(12);
      x[place] = odd[which];
      check_inverses(x, 12);
    }
  }
  double *tiny = exact(100);
  for (int i = 0; i < 100; i++) tiny[i] = NUM_TINY;
  check_inverses(tiny, 100);
}

static void test_log_sum_exp(void) {
  double *x = exact(3);
  x[0] = x[1] = x[2] = -2000;
  CHECK_NEAR(num_log_sum_exp(x, 3), -2000 + log(3), 1e-15);
  x[0] = 2000;
  CHECK_NEAR(num_log_sum_exp(x, 3), 2000, 1e-15);
  x[0] = x[1] = x[2] = -INFINITY;
  CHECK(num_log_sum_exp(x, 3) == -INFINITY);
  CHECK(num_log_sum_exp(x, 0) == -INFINITY);
}

static void test_block_rows(void) {
  const int sizes[] = {0, 1, 7, 139, 5000, 2000000};
  for (int a = 0; a < 6; a++) {
    for (int b = 0; b < 6; b++) {
      const int rows = num_block_rows(sizes[a], sizes[b]);
      CHECK(rows >= 1 && rows <= (sizes[a] < 1 ? 1 : sizes[a]));
    }
  }
}

static void test_threads(void) {
  CHECK(num_threads(1) == 1 && num_threads(0) == 1 && num_threads(-3) == 1);
  CHECK(num_threads(2) >= 1 && num_threads(2) <= 2);
  CHECK(num_thread() == 0);
  const int before = num_blas_threads();
  num_set_blas_threads(1);
  CHECK(num_blas_threads() <= 1);
  num_set_blas_threads(before);
  CHECK(num_blas_threads() == before);
}

static int stop_at_last(void *left) { return --*(int *) left < 0; }

/* Two coefficients, cases in two strips: the gradient is 0 at the estimate, and H equals the loops' result. */
static void test_logistic_regression(void) {
  const int n = 300, l = 2;
  double *design = uniforms((ptrdiff_t) n * l), *y = exact(n), *b = exact(l);
  const double *offset = uniforms(n), *weight = uniforms(n);
  double *penalty = exact((ptrdiff_t) l * l), *hessian = exact((ptrdiff_t) l * l),
         *scratch = exact(num_regression_size(l));
  for (int i = 0; i < n; i++) {
    design[i] = 1;
    y[i] = check_uniform() < design[n + i];
  }
  penalty[0] = penalty[3] = 0.5;
  num_regression data = {n, l, design, y, offset, weight, penalty, NULL, NULL, 1};
  CHECK(num_logistic_regression(&data, 50, b, hessian, scratch));
  for (int c = 0; c < l; c++) {
    double g = 0, h = 0;
    for (int i = 0; i < n; i++) {
      const double p = 1 / (1 + exp(-(b[0] + b[1] * design[n + i] + offset[i])));
      g += weight[i] * (y[i] - p) * design[num_at(i, c, n)];
      h += weight[i] * p * (1 - p) * design[i] * design[num_at(i, c, n)];
    }
    for (int d = 0; d < l; d++) {
      g -= penalty[num_at(c, d, l)] * b[d];
      if (d == 0) h += penalty[num_at(c, d, l)];
    }
    CHECK(fabs(g) < 1e-4);
    CHECK(fabs(h - hessian[c]) < 1e-9);
  }
  int left = 3;
  data.stop = stop_at_last;
  data.asked = &left;
  CHECK(!num_logistic_regression(&data, 50, b, hessian, scratch));
}

/* bound(t) of num/safe_step.h, and the gain of the logs: changes e of those in lambda, n of the others. */
static double safe_bound(const num_safe_step *q, double t) {
  double sum = t * (q->rise + q->lambda) + log1p(-t * q->lambda) - t * t * q->light / 2;
  for (int i = 0; i < q->n; i++) sum += q->count[i] * (log1p(t * q->change[i]) - t * q->change[i]);
  return sum;
}

static double gain_of(const num_safe_step *q, const double *e, int n_e, double t) {
  double sum = 0;
  for (int i = 0; i < n_e; i++) sum += log1p(t * e[i]);
  for (int i = 0; i < q->n; i++) sum += q->count[i] * log1p(t * q->change[i]);
  return sum;
}

static void test_safe_step(void) {
  for (int trial = 0; trial < 400; trial++) {
    const int n_e = 1 + trial % 4, n = trial % 3;
    const double size = ldexp(1, trial % 6 - 3);
    double e[4], change[2], count[2], rise = 0, square = 0;
    for (int i = 0; i < n_e; i++) {
      e[i] = fmax(size * (3 * check_uniform() - 1), -1);
      rise += e[i];
      square += e[i] * e[i];
    }
    for (int i = 0; i < n; i++) {
      change[i] = fmax(size * (3 * check_uniform() - 1), -1);
      rise += (count[i] = check_uniform()) * change[i];
    }
    const double light = trial % 2 ? rise * check_uniform() : 0;
    const num_safe_step q = {rise, sqrt(square), fmax(light, 0), n, count, change};
    const double t = num_safe_length(&q), half = num_safe_halving(&q);
    if (!(rise > 0)) {
      CHECK(t == 0 && half == 0);
      continue;
    }
    CHECK(t > 0 && t <= 1 && half > 0);
    CHECK(t == 1 || safe_bound(&q, t) > 0);
    for (int part = 1; part < 50 && t < 1; part++) /* no t has a larger bound */
      CHECK(!(safe_bound(&q, part / 50.) > safe_bound(&q, t) + 1e-9));
    CHECK(safe_bound(&q, half) >= half * rise / 4);
    CHECK(half == 1 || !(safe_bound(&q, 2 * half) >= half * rise / 2));
    CHECK(gain_of(&q, e, n_e, half) >= safe_bound(&q, half) - 1e-12);
  }
}

#ifndef _WIN32
/* A forked process has its parent's list of threads, but not the threads. */
static void test_a_fork_has_one_thread(void) {
  CHECK(num_watch_forks());
  const int before = num_threads(2);
  const pid_t child = fork();
  if (child == 0) _exit(num_threads(2));
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1);
  CHECK(num_threads(2) == before);
}
#endif

/* The clock advances, and never goes back. */
static void test_clock(void) {
  const double first = num_seconds();
  double last = first;
  while (last - first < 1e-3) {
    const double now = num_seconds();
    CHECK(now >= last);
    last = now;
  }
  CHECK(last - first < 60);
}

static void test_memory(void) {
  const double bytes = num_memory();
  CHECK(bytes == 0 || (bytes > 1e6 && bytes < 1e18));
}

/* Against the C library, over all magnitudes and around the joins of the series. */
static void test_log_on(void) {
  enum { N = 4000 };
  double *y = exact(N), *f = exact(N), *slope = exact(N);
  for (int i = 0; i < N; i++) y[i] = exp(log(1e-9) + i * (log(700) - log(1e-9)) / (N - 1));
  y[1] = log(2) / 2;
  y[2] = nextafter(y[1], 1);
  y[3] = log(2);
  num_log1mexp(y, f, slope, N);
  for (int i = 0; i < N; i++) {
    CHECK_NEAR(f[i], log(-expm1(-y[i])), 2e-15);
    CHECK_NEAR(slope[i] * expm1(y[i]), 1, 1e-14);
  }
}

/* Numbers from the least normal to the largest, and near 1, where a log is small. */
static void test_logs(void) {
  enum { COUNT = 200 };
  double *x = exact(COUNT), *want = exact(COUNT);
  for (int i = 0; i < COUNT; i++) {
    x[i] = i < 100 ? exp(-700 + 14.0 * i) : 0.9 + 0.002 * (i - 100);
    want[i] = log(x[i]);
  }
  num_logs(x, COUNT);
  for (int i = 0; i < COUNT; i++) CHECK_NEAR(x[i], want[i], 2e-15);
}

/* NaN stays NaN, so that a likelihood computed from it is NaN. */
static void test_exponentials_of_no_number(void) {
  double minus[] = {0, NAN, 1, 701, INFINITY}, odds[] = {-INFINITY, NAN, 0, INFINITY};
  double theta[] = {NAN, 1};
  num_exp_minus(minus, 5);
  CHECK(minus[0] == 1 && isnan(minus[1]));
  CHECK_NEAR(minus[2], exp(-1), 1e-15);
  CHECK(minus[3] == minus[4]);
  CHECK_NEAR(minus[4] / exp(-700), 1, 1e-15);
  num_logistic(odds, 4);
  CHECK(odds[0] > 0 && odds[0] < 1e-300 && isnan(odds[1]) && odds[2] == 0.5 && odds[3] == 1);
  CHECK(isnan(num_logistic_weights(theta, 2)));
}

int main(void) {
  RUN(test_log_on);
  RUN(test_logs);
  RUN(test_exponentials_of_no_number);
  RUN(test_gemm);
  RUN(test_lanes);
  RUN(test_guard_unit);
  RUN(test_guard_simplex);
  RUN(test_invert_sum_log);
  RUN(test_log_sum_exp);
  RUN(test_block_rows);
  RUN(test_threads);
#ifndef _WIN32
  RUN(test_a_fork_has_one_thread);
#endif
  RUN(test_safe_step);
  RUN(test_logistic_regression);
  RUN(test_clock);
  RUN(test_memory);
  return check_report();
}
