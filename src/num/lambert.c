#include "num/lambert.h"

#include <float.h>
#include <math.h>

#include <Rmath.h>

#define MAX_STEP 20
#define SERIES_EXACT 1e-5 /* below it the series is exact to double precision */

double num_excess(double y, double log_y) {
  return fabs(y - 1) < 0.5 ? -log1pmx(y - 1) : y - 1 - log_y;
}

/* Series of u - 1 in s = sqrt(2 excess), as for Stirling's formula. */
static double series(double s) {
  return s * (1 + s * (1 / 3.0 + s * (1 / 36.0 + s * (-1 / 270.0 + s * (1 / 4320.0 + s / 17010)))));
}

/* Solves v - log1p(v) = excess, v = u - 1, by Halley's method. */
static double refine(double v, double excess) {
  for (int step = 0; step < MAX_STEP; step++) {
    const double u = 1 + v, off = -log1pmx(v) - excess, slope = v / u;
    const double change = off / (slope - 0.5 * off / (slope * u * u));
    v -= change;
    if (fabs(change) <= 4 * DBL_EPSILON * fabs(v)) break;
  }
  return v;
}

double num_lambert_lower(double excess) {
  if (excess <= 0) return 1;
  if (excess < 1) {
    const double v = series(sqrt(2 * excess));
    return 1 + (excess < SERIES_EXACT ? v : refine(v, excess));
  }
  const double most = excess + 1, log_most = log(most);
  double u = most + log_most + log_most / most;
  if (!isfinite(u)) return u;
  for (int step = 0; step < MAX_STEP; step++) {
    const double change = (u - log(u) - most) * u / (u - 1);
    u -= change;
    if (fabs(change) <= 2 * DBL_EPSILON * u) break;
  }
  return u;
}

double num_lambert_exp(double log_x) {
  double w;
  if (log_x > 2)
    w = log_x - log(log_x);
  else if (log_x < -2)
    w = exp(log_x) * (1 - exp(log_x));
  else
    w = 1 + (log_x - 1) * (0.5 + (log_x - 1) / 16);
  if (log_x < -36 || !isfinite(w)) return w; /* the next term is below rounding */
  for (int step = 0; step < MAX_STEP; step++) {
    const double off = w + log(w) - log_x;
    const double change = off * w / (1 + w + 0.5 * off / (1 + w));
    w -= change;
    if (fabs(change) <= 2 * DBL_EPSILON * w) break;
  }
  return w;
}
