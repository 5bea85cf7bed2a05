#include "num/poisson_newton.h"

#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/quadratic.h"
#include "num/vector.h"

#define LEAST 1e-140  /* least mean in derivatives, whose squares must be finite */
#define SHRINK 0.6    /* share of a mean that a full step may remove */
#define SHORT_SUM 4e3 /* products in a Hessian below which a loop is faster than BLAS */

ptrdiff_t num_poisson_size(int k, int longest) {
  const ptrdiff_t at_nonzeros = (ptrdiff_t) longest * (k + 2);
  return at_nonzeros + (ptrdiff_t) k * (k + 5) + (ptrdiff_t) num_quadratic_work(k);
}

num_poisson num_new_poisson(int k, int longest, double *memory, int *whole) {
  num_poisson s;
  s.moving = whole;
  s.side = s.moving + k;
  s.which = s.side + k;
  s.p = memory;
  s.change = s.p + longest;
  s.rows = s.change + longest;
  s.pull = s.rows + (ptrdiff_t) longest * k;
  s.g = s.pull + k;
  s.low = s.g + k;
  s.high = s.low + k;
  s.d = s.high + k;
  s.h = s.d + k;
  s.quadratic = s.h + (ptrdiff_t) k * k;
  return s;
}

NUM_HOT void num_poisson_means(const num_poisson_row *row, const double *x, num_poisson *s) {
  const int k = row->k;
  double *pull = s->pull;
  memset(pull, 0, (size_t) k * sizeof(double));
  for (int e = 0; e < row->r; e++) {
    const double *held = row->held + num_at(0, row->at[e], k);
    double p = 0;
    NUM_OMP(simd reduction(+ : p))
    for (int c = 0; c < k; c++) p += x[c] * held[c];
    s->p[e] = p;
    const double ratio = (row->v ? row->v[e] : 1) / (p > LEAST ? p : LEAST);
    NUM_OMP(simd)
    for (int c = 0; c < k; c++) pull[c] += ratio * held[c];
  }
}

/*
 * Selects the coordinates that may move, with gradients and bounds, and returns their number. A
 * coordinate on which no nonzero depends has only a cost and becomes 0.
 */
static int choose_moving(const num_poisson_row *row, double *x, const num_poisson *s) {
  int n = 0;
  for (int c = 0; c < row->k; c++) {
    const double g = s->pull[c] - row->linear[c];
    if (row->linear[c] <= NUM_TINY) continue;
    if (s->pull[c] <= 0) x[c] = 0;
    if (x[c] <= 0 && g <= 0) continue;
    s->moving[n] = c;
    s->g[n] = g;
    s->low[n] = -x[c];
    s->high[n++] = INFINITY;
  }
  return n;
}

/* s->rows: the moving coordinates' sqrt(v) held / p. */
NUM_HOT static void gather(const num_poisson_row *row, int n, const num_poisson *s) {
  const int r = row->r;
  for (int e = 0; e < r; e++) {
    const double *held = row->held + num_at(0, row->at[e], row->k);
    const double scale = (row->v ? sqrt(row->v[e]) : 1) / (s->p[e] > LEAST ? s->p[e] : LEAST);
    for (int i = 0; i < n; i++) s->rows[num_at(e, i, r)] = scale * held[s->moving[i]];
  }
}

/* H = rows' rows */
NUM_HOT static void make_hessian(int n, int r, const num_poisson *s) {
  if ((double) r * n * n > SHORT_SUM) {
    num_gemm(true, false, n, n, r, s->rows, r, s->rows, r, 0, s->h, n);
    return;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      const double *x = s->rows + num_at(0, i, r), *y = s->rows + num_at(0, j, r);
      double sum = 0;
      NUM_OMP(simd reduction(+ : sum))
      for (int e = 0; e < r; e++) sum += x[e] * y[e];
      s->h[num_at(i, j, n)] = s->h[num_at(j, i, n)] = sum;
    }
}

/* The step length t of num/poisson_newton.h along s->d. */
static double step_length(const num_poisson_row *row, int n, const num_poisson *s) {
  const int r = row->r;
  double form = 0, most = 0; /* d'H d, w */
  memset(s->change, 0, (size_t) r * sizeof(double));
  for (int i = 0; i < n; i++)
    if (s->d[i] != 0) num_add_scaled(s->change, s->d[i], s->rows + num_at(0, i, r), r);
  for (int e = 0; e < r; e++) {
    const double change = s->change[e]; /* sqrt(v) e */
    form += change * change;
    if (change < 0) most = fmax(most, row->v ? -change / sqrt(row->v[e]) : -change);
  }
  const double rise = num_dot(s->g, s->d, n);
  if (!(rise > 0)) return 0;
  return most <= SHRINK ? 1 : fmin(1 / (form / rise + most), 1);
}

void num_poisson_newton(const num_poisson_row *row, double *x, num_poisson *s) {
  const int n = choose_moving(row, x, s);
  if (n == 0) return;
  gather(row, n, s);
  make_hessian(n, row->r, s);
  const num_quadratic_problem problem = {s->h, s->g, s->low, s->high, n, false};
  if (!num_quadratic(&problem, s->d, s->side, s->quadratic, s->which)) return;
  const double t = step_length(row, n, s);
  for (int i = 0; i < n && t > 0; i++) {
    double *value = x + s->moving[i];
    *value = t >= 1 && s->side[i] < 0 ? 0 : num_lift(fmax(*value + t * s->d[i], 0));
  }
}
