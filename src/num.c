#include "num.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <R_ext/BLAS.h>
#ifndef FCONE
#define FCONE
#endif

void num_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const double *a, int lda,
              const double *b, int ldb, double beta, double *c, int ldc) {
  const double one = 1;
  if (m <= 0 || n <= 0) return;
  F77_CALL(dgemm)
  (transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c,
   &ldc FCONE FCONE);
}

void num_guard_unit(double *x, const double *safe, ptrdiff_t length, double tau) {
  for (ptrdiff_t i = 0; i < length; i++) {
    const double low = tau * safe[i], high = 1 - tau * (1 - safe[i]);
    if (safe[i] <= 0 || safe[i] >= 1)
      x[i] = safe[i];
    else
      x[i] = fmin(fmax(x[i], low), high);
  }
}

void num_guard_simplex(double *rows, const double *safe, int n, int k, double tau) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(i, c, n);
      if (safe[at] <= 0)
        rows[at] = 0;
      else
        rows[at] = fmax(rows[at], tau * safe[at]);
      sum += rows[at];
    }
    for (int c = 0; c < k; c++) rows[num_at(i, c, n)] /= sum;
  }
}

/* A normal positive double is 2^(exponent - 1023) times a mantissa in [1, 2). */
#define EXPONENT_SHIFT 52
#define EXPONENT_BIAS 1023
#define EXPONENT_INFINITY 2047
#define MANTISSA_BITS UINT64_C(0x000fffffffffffff)
#define ONE_BITS UINT64_C(0x3ff0000000000000)
#define LOG_TWO 0.693147180559945309417232121458
#define LANES 8
#define LANE_RUN 512 /* mantissas in a lane's product before 2^1024 comes near */

static double sum_log_plainly(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    if (x[i] <= DBL_MAX) sum += log(x[i]);
  return sum;
}

/* n <= LANES * LANE_RUN cells, n a multiple of LANES; low counts zeros and denormals. */
static double sum_log_lanes(const double *x, int n, int64_t *low) {
  double product[LANES];
  int64_t exponent[LANES] = {0}, infinite[LANES] = {0}, small[LANES] = {0};
  for (int l = 0; l < LANES; l++) product[l] = 1;
  for (int i = 0; i < n; i += LANES) {
    uint64_t bits[LANES];
    double mantissa[LANES];
    memcpy(bits, x + i, sizeof bits);
    for (int l = 0; l < LANES; l++) exponent[l] += (int64_t) (bits[l] >> EXPONENT_SHIFT);
    for (int l = 0; l < LANES; l++) bits[l] = (bits[l] & MANTISSA_BITS) | ONE_BITS;
    memcpy(mantissa, bits, sizeof mantissa);
    for (int l = 0; l < LANES; l++) product[l] *= mantissa[l];
    for (int l = 0; l < LANES; l++) infinite[l] += x[i + l] > DBL_MAX;
    for (int l = 0; l < LANES; l++) small[l] += x[i + l] < DBL_MIN;
  }
  int64_t power = -(int64_t) n * EXPONENT_BIAS;
  double sum = 0;
  for (int l = 0; l < LANES; l++) {
    sum += log(product[l]);
    power += exponent[l] - infinite[l] * (EXPONENT_INFINITY - EXPONENT_BIAS);
    *low += small[l];
  }
  return sum + (double) power * LOG_TWO;
}

double num_sum_log(const double *x, int n) {
  const int whole = n - n % LANES;
  int64_t low = 0;
  double sum = sum_log_plainly(x + whole, n - whole);
  for (int from = 0; from < whole; from += LANES * LANE_RUN) {
    const int left = whole - from;
    sum += sum_log_lanes(x + from, left < LANES * LANE_RUN ? left : LANES * LANE_RUN, &low);
  }
  return low ? sum_log_plainly(x, n) : sum;
}

double num_log_sum_exp(const double *x, int n) {
  double top = -INFINITY, sum = 0;
  for (int i = 0; i < n; i++) top = fmax(top, x[i]);
  if (!isfinite(top)) return top;
  for (int i = 0; i < n; i++) sum += exp(x[i] - top);
  return top + log(sum);
}

#define BLOCK_CELLS 24576 /* 192 kB of doubles */

int num_block_rows(int n, int m) {
  int rows = BLOCK_CELLS / (m < 1 ? 1 : m);
  if (rows < 8) rows = 8;
  if (rows > 256) rows = 256;
  return rows < n ? rows : (n < 1 ? 1 : n);
}
