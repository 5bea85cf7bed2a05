/* num/log1mexp.c: vectorised log(x), log(1 - exp(-y)) and its derivative. */
#include "num/log1mexp.h"

#include <stdint.h>
#include <string.h>

#include "num/exp.h"

#define TILE 64
#define MANTISSA_BITS 52
#define BITS_OF_ONE 0x3ff0000000000000u
#define BITS_OF_ROOT_HALF 0x3fe6a09e00000000u /* nearly */

/* log(m) for m in [sqrt(1/2), sqrt(2)): 2 atanh(z), z = (m - 1) / (m + 1), |z| < 0.172. */
static NUM_INLINE double log_near_one(double m) {
  const double z = (m - 1) / (m + 1), w = z * z;
  const double v = w * w;
  double even = 1.0 / 21, odd = 1.0 / 19;
  even = even * v + 1.0 / 17;
  odd = odd * v + 1.0 / 15;
  even = even * v + 1.0 / 13;
  odd = odd * v + 1.0 / 11;
  even = even * v + 1.0 / 9;
  odd = odd * v + 1.0 / 7;
  even = even * v + 1.0 / 5;
  odd = odd * v + 1.0 / 3;
  return 2 * z * (even * v + odd * w + 1);
}

/*
 * Computes slope and on = 1 - exp(-y) without branches, in separate loops over numbers and over
 * bits so that each is vectorised. exp(-y) = 2^p (1 + part), and on = (1 - 2^p) - 2^p part does not
 * cancel.
 */
static NUM_INLINE void slopes(const double *y, double *on, double *slope, int n) {
  double power[TILE] = {0};
  uint64_t bits[TILE];
  for (int i = 0; i < n; i++) {
    const double p = -y[i] * NUM_LOG2_E + NUM_ROUNDER, whole = p - NUM_ROUNDER;
    const double r = (-y[i] - whole * NUM_LN2_HIGH) - whole * NUM_LN2_LOW;
    power[i] = p;
    on[i] = r * num_exp_ratio(r);
  }
  memcpy(bits, power, (size_t) n * sizeof *bits);
  for (int i = 0; i < n; i++) bits[i] = (bits[i] << MANTISSA_BITS) + BITS_OF_ONE;
  memcpy(power, bits, (size_t) n * sizeof *bits);
  for (int i = 0; i < n; i++) {
    const double off = power[i] + power[i] * on[i];
    on[i] = (1 - power[i]) - power[i] * on[i];
    slope[i] = off / on[i];
  }
}

/* log(on) from its exponent and a mantissa near 1. */
static NUM_INLINE void logs(double *on, double *f, int n) {
  double exponent[TILE];
  uint64_t bits[TILE];
  memcpy(bits, on, (size_t) n * sizeof *bits);
  for (int i = 0; i < n; i++) {
    const uint64_t moved = bits[i] + (BITS_OF_ONE - BITS_OF_ROOT_HALF);
    const uint64_t mantissa = moved & (((uint64_t) 1 << MANTISSA_BITS) - 1);
    bits[i] = mantissa + BITS_OF_ROOT_HALF;
    exponent[i] = (int) (moved >> MANTISSA_BITS) - (int) (BITS_OF_ONE >> MANTISSA_BITS);
  }
  memcpy(on, bits, (size_t) n * sizeof *bits);
  for (int i = 0; i < n; i++)
    f[i] = exponent[i] * (NUM_LN2_HIGH + NUM_LN2_LOW) + log_near_one(on[i]);
}

NUM_HOT void num_log1mexp(const double *y, double *f, double *slope, ptrdiff_t n) {
  double on[TILE] = {0};
  for (ptrdiff_t from = 0; from < n; from += TILE) {
    const int size = (int) (n - from < TILE ? n - from : TILE);
    slopes(y + from, on, slope + from, size);
    logs(on, f + from, size);
  }
}

NUM_HOT void num_logs(double *x, ptrdiff_t n) {
  double part[TILE] = {0};
  for (ptrdiff_t from = 0; from < n; from += TILE) {
    const int size = (int) (n - from < TILE ? n - from : TILE);
    memcpy(part, x + from, (size_t) size * sizeof *part);
    logs(part, x + from, size);
  }
}

NUM_HOT void num_log1mexp_slope(const double *y, double *slope, ptrdiff_t n) {
  double on[TILE] = {0};
  for (ptrdiff_t from = 0; from < n; from += TILE)
    slopes(y + from, on, slope + from, (int) (n - from < TILE ? n - from : TILE));
}
