#include "num/safe_step.h"

#include <math.h>

#define ENOUGH 0.25    /* share of the rise, or of t rise, that bound() must reach */
#define PRECISION 1e-9 /* relative to a length below 1 */
#define TRIALS 60

static double bound(const num_safe_step *q, double t) {
  double sum = t * q->rise + t * q->lambda + log1p(-t * q->lambda) - t * t * q->light / 2;
  for (int i = 0; i < q->n; i++) sum += q->count[i] * (log1p(t * q->change[i]) - t * q->change[i]);
  return sum;
}

/* Derivative of bound(); curve is minus the second derivative, which is positive. */
static double bound_slope(const num_safe_step *q, double t, double *curve) {
  const double part = q->lambda / (1 - t * q->lambda);
  double sum = q->rise - t * (q->lambda * part + q->light), curvature = part * part + q->light;
  for (int i = 0; i < q->n; i++) {
    const double inverse = 1 / (1 + t * q->change[i]), share = q->change[i] * inverse;
    sum -= q->count[i] * t * q->change[i] * share;
    curvature += q->count[i] * share * share;
  }
  *curve = curvature;
  return sum;
}

/*
 * Maximises bound() on [0, most] by Newton's method, bisecting if a step leaves the bracket. It
 * starts at the maximum for all poles being as near as the nearest, at 1 / largest, which lies
 * below the root of the slope.
 */
static double best_length(const num_safe_step *q, double largest, double most) {
  double curve, low = 0, slope = bound_slope(q, 0, &curve);
  double t = fmin(slope / (curve + largest * slope), most);
  for (int trial = 0; trial < TRIALS; trial++) {
    slope = bound_slope(q, t, &curve);
    if (slope >= 0)
      low = t;
    else
      most = t;
    double next = t + slope / curve;
    if (!(next >= low && next <= most)) next = (low + most) / 2;
    if (fabs(next - t) <= PRECISION * t) return next;
    t = next;
  }
  return low;
}

double num_safe_length(const num_safe_step *q) {
  double most = q->lambda > 1 ? 1 / q->lambda : 1, largest = q->lambda, least = -1;
  for (int i = 0; i < q->n; i++) {
    if (q->change[i] < least) least = q->change[i];
    if (fabs(q->change[i]) > largest) largest = fabs(q->change[i]);
  }
  most = fmin(most, -1 / least);
  if (!(q->rise > 0)) return 0;
  if (largest < NUM_SAFE_SHORT || (most >= 1 && bound(q, 1) >= ENOUGH * q->rise)) return 1;
  if (q->n == 0) { /* root of bound_slope(): t^2 light lambda - t sum + rise = 0 */
    const double sum = q->light + q->lambda * (q->lambda + q->rise);
    const double root = sqrt(fmax(sum * sum - 4 * q->light * q->lambda * q->rise, 0));
    return fmin(2 * q->rise / (sum + root), 1);
  }
  return best_length(q, largest, most);
}

double num_safe_halving(const num_safe_step *q) {
  for (int half = 0; half < TRIALS && q->rise > 0; half++) {
    const double t = ldexp(1, -half);
    if (t * q->lambda < 1 && bound(q, t) >= ENOUGH * t * q->rise) return t;
  }
  return 0;
}
