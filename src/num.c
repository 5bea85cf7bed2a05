#include "num.h"

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
#define MANTISSA_BITS UINT64_C(0x000fffffffffffff)
#define ONE_BITS UINT64_C(0x3ff0000000000000)
#define LOG_TWO 0.693147180559945309417232121458
#define LANES 8
#define CHUNK ((ptrdiff_t) 4 * LANES) /* values that share a division, lane by lane */
#define RUN 512                       /* mantissas multiplied before 2^1024 comes near */
#define LEAST_PRODUCT 1e-290          /* a product of four below this is taken apart */

static double invert_plainly(double *x, ptrdiff_t n) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < n; i++) {
    sum += log(x[i]);
    x[i] = 1 / x[i];
  }
  return sum;
}

/* Products of the four values in each lane; false where one is too small to be inverted as it is. */
static NUM_INLINE bool multiply_lanes(const double *x, double *product) {
  int small = 0;
#pragma omp simd
  for (int l = 0; l < LANES; l++)
    product[l] = (x[l] * x[LANES + l]) * (x[2 * LANES + l] * x[3 * LANES + l]);
  for (int l = 0; l < LANES; l++) small |= !(product[l] > LEAST_PRODUCT);
  return !small;
}

/* 1 / a = (1 / (a b c d)) (c d) b, and so on: one division for four values. */
static NUM_INLINE void invert_lanes(double *x, const double *product) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const double a = x[l], b = x[LANES + l], c = x[2 * LANES + l], d = x[3 * LANES + l];
    const double inverse = 1 / product[l], ab = inverse * (c * d), cd = inverse * (a * b);
    x[l] = ab * b;
    x[LANES + l] = ab * a;
    x[2 * LANES + l] = cd * d;
    x[3 * LANES + l] = cd * c;
  }
}

/* Takes the exponents off a chunk's products and multiplies the mantissas up. */
static NUM_INLINE void take_exponents(double *product, double *mantissa, int64_t *exponent) {
  uint64_t bits[LANES];
  memcpy(bits, product, sizeof bits);
  for (int l = 0; l < LANES; l++) exponent[l] += (int64_t) (bits[l] >> EXPONENT_SHIFT);
  for (int l = 0; l < LANES; l++) bits[l] = (bits[l] & MANTISSA_BITS) | ONE_BITS;
  memcpy(product, bits, sizeof bits);
  for (int l = 0; l < LANES; l++) mantissa[l] *= product[l];
}

NUM_HOT double num_invert_sum_log(double *x, ptrdiff_t n) {
  const ptrdiff_t whole = n - n % CHUNK;
  double sum = invert_plainly(x + whole, n - whole);
  for (ptrdiff_t from = 0; from < whole; from += RUN * CHUNK) {
    const ptrdiff_t to = whole - from < RUN * CHUNK ? whole : from + RUN * CHUNK;
    double mantissa[LANES], product[LANES];
    int64_t exponent[LANES] = {0}, chunks = 0;
    for (int l = 0; l < LANES; l++) mantissa[l] = 1;
    for (ptrdiff_t i = from; i < to; i += CHUNK) {
      if (!multiply_lanes(x + i, product)) {
        sum += invert_plainly(x + i, CHUNK);
        continue;
      }
      invert_lanes(x + i, product);
      take_exponents(product, mantissa, exponent);
      chunks++;
    }
    int64_t power = -chunks * LANES * EXPONENT_BIAS;
    for (int l = 0; l < LANES; l++) {
      sum += log(mantissa[l]);
      power += exponent[l];
    }
    sum += (double) power * LOG_TWO;
  }
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
    int64_t power = -(int64_t) (to - from) * EXPONENT_BIAS;
    for (int l = 0; l < LANES; l++) {
      sum += log(mantissa[l]);
      power += exponent[l];
    }
    sum += (double) power * LOG_TWO;
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

/* Counts, offsets, then every cell in its place; rows come out in ascending order. */
static void transpose_cells(const int *start, const int *column, const double *value, int n, int m,
                            int *new_start, int *new_column, double *new_value) {
  memset(new_start, 0, ((size_t) m + 1) * sizeof(int));
  for (int e = 0; e < start[n]; e++) new_start[column[e] + 1]++;
  for (int j = 0; j < m; j++) new_start[j + 1] += new_start[j];
  for (int i = 0; i < n; i++) {
    for (int e = start[i]; e < start[i + 1]; e++) {
      const int at = new_start[column[e]]++;
      new_column[at] = i;
      if (value) new_value[at] = value[e];
    }
  }
  for (int j = m; j > 0; j--) new_start[j] = new_start[j - 1];
  new_start[0] = 0;
}

mc_data num_transpose(const mc_data *data, void *(*alloc)(void *, size_t, size_t), void *ctx) {
  const int n = data->n, m = data->m;
  const size_t stored = (size_t) data->start[n];
  int *start = alloc(ctx, (size_t) m + 1, sizeof(int)), *column = alloc(ctx, stored, sizeof(int));
  double *value = data->value ? alloc(ctx, stored, sizeof(double)) : NULL;
  transpose_cells(data->start, data->column, data->value, n, m, start, column, value);
  mc_data out = {.n = m, .m = n, .start = start, .column = column, .value = value};
  if (data->na_start) {
    int *na_start = alloc(ctx, (size_t) m + 1, sizeof(int));
    int *na_column = alloc(ctx, (size_t) data->na_start[n], sizeof(int));
    transpose_cells(data->na_start, data->na_column, NULL, n, m, na_start, na_column, NULL);
    out.na_start = na_start;
    out.na_column = na_column;
  }
  return out;
}

#define LOST_PIVOT 1e-13 /* of the diagonal: below it, a pivot is rounding error */

/* A = U' U; then U' y = b and U x = y. A lost pivot's unknown is held at 0 by an infinite pivot. */
bool num_solve_packed(double *a, double *b, int k) {
  for (int d = 0; d < k; d++) {
    double *column = a + d * (d + 1) / 2;
    const double diagonal = column[d];
    for (int c = 0; c < d; c++) {
      const double *other = a + c * (c + 1) / 2;
      for (int e = 0; e < c; e++) column[c] -= other[e] * column[e];
      column[c] /= other[c];
      column[d] -= column[c] * column[c];
      b[d] -= column[c] * b[c];
    }
    if (isnan(column[d])) return false;
    column[d] = column[d] > LOST_PIVOT * diagonal ? sqrt(column[d]) : INFINITY;
    b[d] /= column[d];
  }
  for (int d = k - 1; d >= 0; d--) {
    const double *column = a + d * (d + 1) / 2;
    b[d] /= column[d];
    for (int c = 0; c < d; c++) b[c] -= column[c] * b[d];
  }
  return true;
}

#define BLOCK_CELLS 24576 /* 192 kB of doubles */

int num_block_rows(int n, int m) {
  int rows = BLOCK_CELLS / (m < 1 ? 1 : m);
  if (rows < 8) rows = 8;
  if (rows > 256) rows = 256;
  return rows < n ? rows : (n < 1 ? 1 : n);
}
