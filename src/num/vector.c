#include "num/vector.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A normal positive double is 2^(exponent - 1023) times a mantissa in [1, 2). */
#define EXPONENT_SHIFT 52
#define EXPONENT_BIAS 1023
#define MANTISSA_BITS UINT64_C(0x000fffffffffffff)
#define ONE_BITS UINT64_C(0x3ff0000000000000)
#define LOG_TWO 0.693147180559945309417232121458
#define LANES 8
#define CHUNK ((ptrdiff_t) 4 * LANES) /* values that share a division, lane by lane */
#define RUN 512                       /* mantissas per product, which stays below 2^1024 */
#define LEAST_PRODUCT 1e-290          /* a product of four values below this is not inverted */

static double invert_plainly(double *x, ptrdiff_t n) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < n; i++) {
    sum += log(x[i]);
    x[i] = 1 / x[i];
  }
  return sum;
}

/* Products of the four values in each lane; false if one is too small to be inverted. */
static NUM_INLINE bool multiply_lanes(const double *x, double *product) {
  int small = 0;
  NUM_OMP(simd)
  for (int l = 0; l < LANES; l++)
    product[l] = (x[l] * x[LANES + l]) * (x[2 * LANES + l] * x[3 * LANES + l]);
  for (int l = 0; l < LANES; l++) small |= !(product[l] > LEAST_PRODUCT);
  return !small;
}

/* 1 / a = (1 / (a b c d)) (c d) b, and likewise for b, c, d: one division for four values. */
static NUM_INLINE void invert_lanes(double *x, const double *product) {
  NUM_OMP(simd)
  for (int l = 0; l < LANES; l++) {
    const double a = x[l], b = x[LANES + l], c = x[2 * LANES + l], d = x[3 * LANES + l];
    const double inverse = 1 / product[l], ab = inverse * (c * d), cd = inverse * (a * b);
    x[l] = ab * b;
    x[LANES + l] = ab * a;
    x[2 * LANES + l] = cd * d;
    x[3 * LANES + l] = cd * c;
  }
}

/* Adds up the exponents of a chunk's products and multiplies their mantissas. */
static NUM_INLINE void take_exponents(double *product, double *mantissa, int64_t *exponent) {
  uint64_t bits[LANES];
  memcpy(bits, product, sizeof bits);
  for (int l = 0; l < LANES; l++) exponent[l] += (int64_t) (bits[l] >> EXPONENT_SHIFT);
  for (int l = 0; l < LANES; l++) bits[l] = (bits[l] & MANTISSA_BITS) | ONE_BITS;
  memcpy(product, bits, sizeof bits);
  for (int l = 0; l < LANES; l++) mantissa[l] *= product[l];
}

/* Log of the product of all lanes, each of `count` values; a single log() suffices if these are few. */
static double log_of_lanes(double *mantissa, const int64_t *exponent, ptrdiff_t count) {
  int left = LANES;
  for (ptrdiff_t bits = 2 * count; left > 1 && bits <= RUN; bits *= 2) {
    left /= 2;
    for (int l = 0; l < left; l++) mantissa[l] *= mantissa[l + left];
  }
  double sum = 0;
  int64_t power = -count * LANES * EXPONENT_BIAS;
  for (int l = 0; l < left; l++) sum += log(mantissa[l]);
  for (int l = 0; l < LANES; l++) power += exponent[l];
  return sum + (double) power * LOG_TWO;
}

NUM_HOT double num_invert_sum_log(double *x, ptrdiff_t n) {
  const ptrdiff_t whole = n - n % CHUNK, all = n > whole ? whole + CHUNK : whole;
  double last[CHUNK], sum = 0; /* the last, incomplete chunk, filled up with ones */
  for (ptrdiff_t i = 0; i < CHUNK; i++) last[i] = whole + i < n ? x[whole + i] : 1;
  for (ptrdiff_t from = 0; from < all; from += RUN * CHUNK) {
    const ptrdiff_t to = all - from < RUN * CHUNK ? all : from + RUN * CHUNK;
    double mantissa[LANES], product[LANES];
    int64_t exponent[LANES] = {0};
    ptrdiff_t chunks = 0;
    for (int l = 0; l < LANES; l++) mantissa[l] = 1;
    for (ptrdiff_t i = from; i < to; i += CHUNK) {
      double *chunk = i < whole ? x + i : last;
      if (!multiply_lanes(chunk, product)) {
        sum += invert_plainly(chunk, CHUNK);
        continue;
      }
      invert_lanes(chunk, product);
      take_exponents(product, mantissa, exponent);
      chunks++;
    }
    sum += log_of_lanes(mantissa, exponent, chunks);
  }
  for (ptrdiff_t i = whole; i < n; i++) x[i] = last[i - whole];
  return sum;
}

double num_sum_log(const double *x, int n) {
  const int whole = n - n % LANES;
  double sum = 0;
  for (int i = whole; i < n; i++) sum += log(x[i]);
  for (int from = 0; from < whole; from += RUN * LANES) {
    const int to = whole - from < RUN * LANES ? whole : from + RUN * LANES;
    double mantissa[LANES], value[LANES];
    int64_t exponent[LANES] = {0};
    for (int l = 0; l < LANES; l++) mantissa[l] = 1;
    for (int i = from; i < to; i += LANES) {
      memcpy(value, x + i, sizeof value);
      take_exponents(value, mantissa, exponent);
    }
    sum += log_of_lanes(mantissa, exponent, (to - from) / LANES);
  }
  return sum;
}

double num_log_sum_exp(const double *x, int n) {
  double top = -INFINITY, sum = 0;
  for (int i = 0; i < n; i++) top = fmax(top, x[i]);
  if (!isfinite(top)) return top;
  for (int i = 0; i < n; i++) sum += exp(x[i] - top);
  return top + log(sum);
}
