#include "num/logistic.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "num/exp.h"
#include "num/vector.h"

#define FURTHEST 700.0 /* exp(-700) is still a normal number */
#define TILE 64

/* exp(-x) = 2^p exp(r): p goes into the exponent's bits, which need a loop of their own. */
static NUM_INLINE void exp_tile(double *x, int n) {
  double rounded[TILE] = {0};
  uint64_t bits[TILE];
#pragma omp simd
  for (int i = 0; i < n; i++) {
    const double y = x[i] < FURTHEST ? -x[i] : -FURTHEST;
    const double p = y * NUM_LOG2_E + NUM_ROUNDER;
    const double whole = p - NUM_ROUNDER;
    rounded[i] = p;
    const double r = (y - whole * NUM_LN2_HIGH) - whole * NUM_LN2_LOW;
    x[i] = 1 + r * num_exp_ratio(r);
  }
  memcpy(bits, rounded, (size_t) n * sizeof(double));
  for (int i = 0; i < n; i++) bits[i] = (bits[i] + 1023) << 52;
  memcpy(rounded, bits, (size_t) n * sizeof(double));
#pragma omp simd
  for (int i = 0; i < n; i++) x[i] *= rounded[i];
}

NUM_HOT void num_exp_minus(double *x, ptrdiff_t n) {
  for (ptrdiff_t from = 0; from < n; from += TILE)
    exp_tile(x + from, (int) (n - from < TILE ? n - from : TILE));
}

NUM_HOT void num_logistic(double *x, ptrdiff_t n) {
  double e[TILE];
  for (ptrdiff_t from = 0; from < n; from += TILE) {
    const int length = (int) (n - from < TILE ? n - from : TILE);
    for (int i = 0; i < length; i++) e[i] = fabs(x[from + i]);
    exp_tile(e, length);
#pragma omp simd
    for (int i = 0; i < length; i++) x[from + i] = (x[from + i] < 0 ? e[i] : 1) / (1 + e[i]);
  }
}

#define NEAR_ZERO 1e-3 /* below it, the series 1/4 - theta^2 / 48 is exact to rounding */
#define LOG_TWO 0.693147180559945309417232121458

NUM_HOT double num_logistic_weights(double *theta, double *scratch, ptrdiff_t n) {
  double above = 0;
#pragma omp simd reduction(+ : above)
  for (ptrdiff_t i = 0; i < n; i++) {
    above += theta[i] > 0 ? theta[i] : 0;
    theta[i] = fabs(theta[i]);
  }
  memcpy(scratch, theta, (size_t) n * sizeof(double));
  num_exp_minus(scratch, n);
#pragma omp simd
  for (ptrdiff_t i = 0; i < n; i++) {
    const double e = scratch[i], t = theta[i];
    const double far = (1 - e) / (2 * (1 + e) * (t + (t < NEAR_ZERO)));
    theta[i] = t < NEAR_ZERO ? 0.25 - t * t / 48 : far;
    scratch[i] = (1 + e) / 2; /* within (1/2, 1], as num_invert_sum_log() wants it */
  }
  return above + num_invert_sum_log(scratch, n) + (double) n * LOG_TWO;
}

void num_log_odds(double *p, ptrdiff_t n, double least) {
  for (ptrdiff_t i = 0; i < n; i++) {
    const double within = p[i] < least ? least : p[i] > 1 - least ? 1 - least : p[i];
    p[i] = log(within / (1 - within));
  }
}
