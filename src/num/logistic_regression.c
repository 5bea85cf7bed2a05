#include "num/logistic_regression.h"

#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/linalg.h"
#include "num/logistic.h"
#include "num/vector.h"

#define STRIP 256 /* cases at a time */
#define ENOUGH 1e-8
#define LEAST_STEP 1e-10
#define RIDGE 1e-9 /* added to a Hessian before it is inverted */

static ptrdiff_t strip_size(int l) { return 4 * STRIP + 1 + (ptrdiff_t) l * (l + 1); }

ptrdiff_t num_regression_size(int l) {
  return NUM_MAX_STRIP * strip_size(l) + (ptrdiff_t) l * (l + 3);
}

/* Adds the contributions of `size` cases from `first` to f, g and H (upper triangle); strip: 4 STRIP. */
NUM_HOT static double add_strip(const num_regression *data, int first, int size, const double *b,
                                double *g, double *hessian, double *strip) {
  const int n = data->n, l = data->l;
  const double *y = data->y + first, *weight = data->weight + first;
  double *eta = strip, *p = eta + STRIP, *pull = p + STRIP, *scaled = pull + STRIP, sum = 0;
  memcpy(eta, data->offset + first, (size_t) size * sizeof(double));
  for (int c = 0; c < l; c++) num_add_scaled(eta, b[c], data->design + num_at(first, c, n), size);
  memcpy(p, eta, (size_t) size * sizeof(double));
  num_logistic(p, size);
  for (int i = 0; i < size; i++) { /* log(1 + exp(-|eta|)) = -log max(p, 1 - p) */
    sum += weight[i] * (y[i] * eta[i] - fmax(eta[i], 0) + log(fmax(p[i], 1 - p[i])));
    pull[i] = weight[i] * (y[i] - p[i]);
    p[i] *= weight[i] * (1 - p[i]);
  }
  for (int c = 0; c < l; c++) {
    const double *x = data->design + num_at(first, c, n);
    g[c] += num_dot(x, pull, size);
    for (int i = 0; i < size; i++) scaled[i] = p[i] * x[i];
    for (int d = 0; d <= c; d++)
      hessian[num_at(d, c, l)] += num_dot(data->design + num_at(first, d, n), scaled, size);
  }
  return sum;
}

static bool stopped(const num_regression *data) { return data->stop && data->stop(data->asked); }

typedef struct {
  const num_regression *data;
  const double *b;
  double *sums; /* for each strip: f, g and H, and scratch of 4 STRIP */
} evaluation;

static int stop_scan(void *asked) { return stopped(((const evaluation *) asked)->data); }

static void scan(void *ctx, int strip, int thread, int first, int size) {
  const evaluation *e = ctx;
  const int l = e->data->l;
  double *sum = e->sums + strip_size(l) * strip, *g = sum + 1, *hessian = g + l;
  (void) thread;
  *sum += add_strip(e->data, first, size, e->b, g, hessian, hessian + (ptrdiff_t) l * l);
}

/* Computes f at b, its gradient and its Hessian; meaningless if stopped. */
static double evaluate(const num_regression *data, const double *b, double *g, double *hessian,
                       double *sums) {
  const int l = data->l;
  const num_strips strips = num_new_strips(data->n, STRIP, data->n_threads);
  evaluation e = {data, b, sums};
  double sum = 0;
  memset(g, 0, (size_t) l * sizeof(double));
  memset(hessian, 0, (size_t) l * l * sizeof(double));
  for (int strip = 0; strip < strips.n_strip; strip++)
    memset(sums + strip_size(l) * strip, 0, (size_t) (1 + l + l * l) * sizeof(double));
  if (!num_scan(&strips, scan, &e, stop_scan, &e, NULL)) return sum;
  for (int strip = 0; strip < strips.n_strip; strip++) {
    const double *part = sums + strip_size(l) * strip;
    sum += part[0];
    num_add_scaled(g, 1, part + 1, l);
    num_add_scaled(hessian, 1, part + 1 + l, (ptrdiff_t) l * l);
  }
  for (int c = 0; c < l; c++) {
    const double pull = num_dot(data->penalty + num_at(0, c, l), b, l);
    sum -= b[c] * pull / 2;
    g[c] -= pull;
  }
  for (int c = 0; c < l; c++)
    for (int d = 0; d <= c; d++) {
      hessian[num_at(d, c, l)] += data->penalty[num_at(d, c, l)];
      hessian[num_at(c, d, l)] = hessian[num_at(d, c, l)];
    }
  return sum;
}

static double largest(const double *x, int n) {
  double most = 0;
  for (int c = 0; c < n; c++) most = fmax(most, fabs(x[c]));
  return most;
}

/* Computes step = H^-1 g; returns false if H is not positive definite. */
static bool newton_step(const double *g, const double *hessian, int l, double *step, double *chol) {
  memcpy(chol, hessian, (size_t) l * l * sizeof(double));
  for (int c = 0; c < l; c++) chol[num_at(c, c, l)] += RIDGE;
  if (!num_chol(chol, l)) return false;
  memcpy(step, g, (size_t) l * sizeof(double));
  num_chol_forward(chol, l, step);
  num_chol_backward(chol, l, step);
  return true;
}

void num_even(const double *z, int n, double *centre, double *spread, double *even) {
  long double sum = 0, squares = 0; /* long double, as in R's colMeans() and sum() */
  for (int i = 0; i < n; i++) sum += z[i];
  *centre = (double) (sum / n);
  for (int i = 0; i < n; i++) {
    even[i] = z[i] - *centre;
    squares += even[i] * even[i];
  }
  *spread = sqrt((double) squares / (n - 1));
  if (*spread < 1e-8) *spread = INFINITY;
  for (int i = 0; i < n; i++) even[i] /= *spread;
}

bool num_logistic_regression(const num_regression *data, int iterations, double *b, double *hessian,
                             double *scratch) {
  const int l = data->l;
  double *g = scratch, *step = g + l, *trial = step + l, *chol = trial + l,
         *sums = chol + (ptrdiff_t) l * l;
  double now = evaluate(data, b, g, hessian, sums);
  for (int pass = 0; pass < iterations; pass++) {
    if (stopped(data)) return false;
    if (!newton_step(g, hessian, l, step, chol)) return true;
    double next, length = 1;
    const double longest = largest(step, l);
    while (true) {
      for (int c = 0; c < l; c++) trial[c] = b[c] + length * step[c];
      next = evaluate(data, trial, g, hessian, sums);
      if (stopped(data)) return false;
      if (next >= now || length * longest <= LEAST_STEP) break;
      length /= 2;
    }
    if (!(next >= now)) return true;
    memcpy(b, trial, (size_t) l * sizeof(double));
    if (next - now < ENOUGH * (fabs(next) + 1)) return true;
    now = next;
  }
  return !stopped(data);
}
