#include "num/simplex.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "num/base.h"
#include "num/lambert.h"

#define MAX_STEP 100

/* Index of the first cell with the largest linear term among those with counts (or those without);
 * -1 if there is none. */
static int largest(const double *counts, const double *linear, int n, bool with_counts) {
  int best = -1;
  for (int i = 0; i < n; i++)
    if ((counts[i] > 0) == with_counts && (best < 0 || linear[i] > linear[best])) best = i;
  return best;
}

/* sum_i counts / (delta + gap), gap[i] = top - linear[i]; slope is minus its derivative. */
static double pole_sum(const double *counts, const double *linear, int n, double top, double delta,
                       double *slope) {
  double sum = 0, minus = 0;
  for (int i = 0; i < n; i++) {
    if (counts[i] <= 0) continue;
    const double inverse = 1 / (delta + (top - linear[i])), term = counts[i] * inverse;
    sum += term;
    minus += term * inverse;
  }
  *slope = minus;
  return sum;
}

/*
 * Root delta of sum_i counts / (delta + gap) = 1. The inverse of the sum is concave and increases
 * with delta, so Newton's steps on it from the left of the root stay left of it; every single pole
 * bounds the root from the left.
 */
static double solve_poles(const double *counts, const double *linear, int n, double top) {
  double delta = 0;
  for (int i = 0; i < n; i++)
    if (counts[i] > 0) delta = fmax(delta, counts[i] - (top - linear[i]));
  for (int step = 0; step < MAX_STEP; step++) {
    double slope;
    const double sum = pole_sum(counts, linear, n, top, delta, &slope);
    const double change = (sum - 1) * sum / slope;
    if (!(change > 0)) break;
    delta += change;
    if (change <= 2 * DBL_EPSILON * delta) break;
  }
  return delta;
}

void num_simplex_linear(const double *counts, const double *linear, int n, double *theta) {
  const int with = largest(counts, linear, n, true), without = largest(counts, linear, n, false);
  int rest = -1; /* the cell without counts that takes the remaining mass */
  double total = 0, delta, top = with < 0 ? 0 : linear[with], slope;
  if (with < 0) {
    rest = without;
    delta = 1;
  } else if (without >= 0 && linear[without] > top &&
             pole_sum(counts, linear, n, linear[without], 0, &slope) < 1) {
    rest = without;
    top = linear[without];
    delta = 0;
  } else {
    delta = solve_poles(counts, linear, n, top);
  }
  for (int i = 0; i < n; i++) {
    theta[i] = counts[i] > 0 ? counts[i] / (delta + (top - linear[i])) : 0;
    total += theta[i];
  }
  if (rest >= 0) {
    theta[rest] = fmax(1 - total, 0);
    total += theta[rest];
  }
  for (int i = 0; i < n; i++) theta[i] /= total;
}

/*
 * One cell of num_simplex_entropy(): log theta - a / theta = c, a = counts / entropy, is solved
 * with w = a / theta, w + log w = log a - c. slope is d theta / d c.
 */
static double entropy_cell(double count, double entropy, double c, double *slope) {
  double w = 0, theta = 0;
  if (count > 0) {
    w = num_lambert_exp(log(count) - log(entropy) - c);
    theta = w > 1 ? count / entropy / w : exp(c + w);
  } else {
    theta = exp(c);
  }
  *slope = theta / (1 + w);
  return theta;
}

static double entropy_sum(const double *counts, const double *linear, double entropy, int n,
                          double c, double *theta, double *slope) {
  double sum = 0;
  *slope = 0;
  for (int i = 0; i < n; i++) {
    double part;
    theta[i] = entropy_cell(counts[i], entropy, c + (linear ? linear[i] / entropy : 0), &part);
    sum += theta[i];
    *slope += part;
  }
  return sum;
}

/*
 * log sum theta(c) is convex and increases with c, so Newton's steps from the right of its root
 * stay right of it. No theta exceeds 1 at the root, which bounds c.
 */
void num_simplex_entropy(const double *counts, const double *linear, double entropy, int n,
                         double *theta) {
  double c = INFINITY, slope, sum = 1;
  for (int i = 0; i < n; i++)
    c = fmin(c, -counts[i] / entropy - (linear ? linear[i] / entropy : 0));
  for (int step = 0; step < MAX_STEP; step++) {
    sum = entropy_sum(counts, linear, entropy, n, c, theta, &slope);
    const double change = log(sum) * sum / slope;
    if (!(change > 2 * DBL_EPSILON * fabs(c))) break;
    c -= change;
  }
  for (int i = 0; i < n; i++) theta[i] /= sum;
}

void num_guard_unit(double *x, const double *safe, ptrdiff_t length) {
  for (ptrdiff_t i = 0; i < length; i++) {
    const double low = NUM_SHRINK * safe[i], high = 1 - NUM_SHRINK * (1 - safe[i]);
    if (safe[i] <= 0 || safe[i] >= 1)
      x[i] = safe[i];
    else
      x[i] = fmin(fmax(x[i], low), high);
  }
}

void num_guard_simplex(double *rows, const double *safe, int n, int k) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(i, c, n);
      if (safe[at] <= 0)
        rows[at] = 0;
      else
        rows[at] = fmax(rows[at], NUM_SHRINK * safe[at]);
      sum += rows[at];
    }
    for (int c = 0; c < k; c++) rows[num_at(i, c, n)] /= sum;
  }
}

void num_guard_positive(double *x, const double *safe, ptrdiff_t length) {
  for (ptrdiff_t i = 0; i < length; i++) x[i] = safe[i] <= 0 ? 0 : fmax(x[i], NUM_SHRINK * safe[i]);
}
