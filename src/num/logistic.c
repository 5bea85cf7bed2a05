#include "num/logistic.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "num/exp.h"

#define FURTHEST 700.0 /* exp(-700) is still a normal number */
#define TILE 64

/* exp(-x) = 2^p exp(r). p is written into the exponent bits in a separate loop, so that both vectorise. */
static NUM_INLINE void exp_tile(double *x, int n) {
  double rounded[TILE] = {0};
  uint64_t bits[TILE];
  NUM_OMP(simd)
  for (int i = 0; i < n; i++) {
    const double y = x[i] > FURTHEST ? -FURTHEST : -x[i]; /* NaN stays */
    const double p = y * NUM_LOG2_E + NUM_ROUNDER;
    const double whole = p - NUM_ROUNDER;
    rounded[i] = p;
    const double r = (y - whole * NUM_LN2_HIGH) - whole * NUM_LN2_LOW;
    x[i] = 1 + r * num_exp_ratio(r);
  }
  memcpy(bits, rounded, (size_t) n * sizeof(double));
  for (int i = 0; i < n; i++) bits[i] = (bits[i] + 1023) << 52;
  memcpy(rounded, bits, (size_t) n * sizeof(double));
  NUM_OMP(simd)
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
    NUM_OMP(simd)
    for (int i = 0; i < length; i++) x[from + i] = (x[from + i] < 0 ? e[i] : 1) / (1 + e[i]);
  }
}

#define NEAR_ZERO 1e-3 /* below it, the series 1/4 - theta^2 / 48 is exact to rounding */
#define LOG_TWO 0.693147180559945309417232121458

#define LANES 8
/* Tiles multiplied within a lane: the product of RUN TILE / LANES halves is a normal number. */
#define RUN 15

/*
 * Replaces a tile of theta by weights, multiplies (1 + exp(-|theta|)) / 2, which is in (1/2, 1],
 * into the products of its lanes, and returns the sum of the positive theta.
 */
static NUM_INLINE double weigh_tile(double *theta, int n, double *product) {
  double e[TILE], factor[TILE], above = 0;
  for (int i = 0; i < TILE; i++) factor[i] = 1;
  NUM_OMP(simd reduction(+ : above))
  for (int i = 0; i < n; i++) {
    above += theta[i] > 0 ? theta[i] : 0;
    theta[i] = e[i] = fabs(theta[i]);
  }
  exp_tile(e, n);
  NUM_OMP(simd)
  for (int i = 0; i < n; i++) {
    const double t = theta[i];
    const double far = (1 - e[i]) / (2 * (1 + e[i]) * (t + (t < NEAR_ZERO)));
    theta[i] = t < NEAR_ZERO ? 0.25 - t * t / 48 : far;
    factor[i] = (1 + e[i]) / 2;
  }
  for (int i = 0; i < TILE; i += LANES)
    for (int l = 0; l < LANES; l++) product[l] *= factor[i + l];
  return above;
}

NUM_HOT double num_logistic_weights(double *theta, ptrdiff_t n) {
  double sum = (double) n * LOG_TWO;
  const ptrdiff_t length = (ptrdiff_t) RUN * TILE;
  for (ptrdiff_t run = 0; run < n; run += length) {
    const ptrdiff_t end = n - run < length ? n : run + length;
    double product[LANES];
    for (int l = 0; l < LANES; l++) product[l] = 1;
    for (ptrdiff_t from = run; from < end; from += TILE)
      sum += weigh_tile(theta + from, (int) (end - from < TILE ? end - from : TILE), product);
    for (int l = 0; l < LANES; l++) sum += log(product[l]);
  }
  return sum;
}

double num_log_odds(double p, double least) {
  const double within = p < least ? least : p > 1 - least ? 1 - least : p;
  return log(within / (1 - within));
}
