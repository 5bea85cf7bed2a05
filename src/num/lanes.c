#include "num/lanes.h"

#include <stdbool.h>

/*
 * Half of the lanes. A vector type, not a loop, keeps the sums in registers; compilers without it
 * process one lane after the other.
 */
#ifdef __GNUC__
typedef double lanes __attribute__((vector_size(32)));
typedef double stored __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef double lanes, stored;
#endif

#define PARTS ((int) (NUM_LANES * sizeof(double) / sizeof(lanes)))
#define AT_ONCE 6 /* rows whose sums stay in registers: two registers each, of 16 */

static NUM_INLINE void dots(int n, int n_row, int length, const double *rows, const double *x,
                            bool square, double *sums) {
  lanes sum[AT_ONCE * PARTS];
  const stored *cell = (const stored *) x;
  stored *out = (stored *) sums;
  for (int e = 0; e < n * PARTS; e++) sum[e] = out[e];
  for (int j = 0; j < length; j++, cell += PARTS) {
    lanes at[PARTS];
    for (int p = 0; p < PARTS; p++) at[p] = cell[p];
    for (int p = 0; p < PARTS && square; p++) at[p] *= at[p];
    for (int r = 0; r < n; r++)
      for (int p = 0; p < PARTS; p++) sum[r * PARTS + p] += at[p] * rows[num_at(r, j, n_row)];
  }
  for (int e = 0; e < n * PARTS; e++) out[e] = sum[e];
}

/* Processes AT_ONCE rows at a time; the number of rows in each call is known at compile time. */
static NUM_INLINE void all_dots(int n_row, int length, const double *rows, const double *x,
                                bool square, double *sums) {
  int r = 0;
  for (; n_row - r >= AT_ONCE; r += AT_ONCE)
    dots(AT_ONCE, n_row, length, rows + r, x, square, sums + num_at(0, r, NUM_LANES));
  rows += r;
  sums += num_at(0, r, NUM_LANES);
  switch (n_row - r) {
    case 5: dots(5, n_row, length, rows, x, square, sums); break;
    case 4: dots(4, n_row, length, rows, x, square, sums); break;
    case 3: dots(3, n_row, length, rows, x, square, sums); break;
    case 2: dots(2, n_row, length, rows, x, square, sums); break;
    case 1: dots(1, n_row, length, rows, x, square, sums); break;
    default: break;
  }
}

NUM_HOT void num_lanes_dots(int n_row, int length, const double *rows, const double *x,
                            double *sums) {
  all_dots(n_row, length, rows, x, false, sums);
}

NUM_HOT void num_lanes_square_dots(int n_row, int length, const double *rows, const double *x,
                                   double *sums) {
  all_dots(n_row, length, rows, x, true, sums);
}

#define MIXED 4 /* rows at a time */

static NUM_INLINE void mix(int n, int n_row, int length, const double *rows, const double *weights,
                           bool fresh, double *out) {
  lanes weight[MIXED * PARTS];
  stored *cell = (stored *) out;
  for (int e = 0; e < MIXED * PARTS; e++)
    weight[e] = ((const stored *) weights)[e < n * PARTS ? e : 0];
  for (int j = 0; j < length; j++, cell += PARTS)
    for (int p = 0; p < PARTS; p++) {
      lanes sum = weight[p] * rows[num_at(0, j, n_row)];
      for (int r = 1; r < n; r++) sum += weight[r * PARTS + p] * rows[num_at(r, j, n_row)];
      if (!fresh) sum += cell[p];
      cell[p] = sum;
    }
}

NUM_HOT void num_lanes_mix(int n_row, int length, const double *rows, const double *weights,
                           double *out) {
  for (int r = 0; r < n_row; r += MIXED) {
    const double *w = weights + num_at(0, r, NUM_LANES);
    const bool fresh = r == 0;
    switch (n_row - r) {
      case 1: mix(1, n_row, length, rows + r, w, fresh, out); break;
      case 2: mix(2, n_row, length, rows + r, w, fresh, out); break;
      case 3: mix(3, n_row, length, rows + r, w, fresh, out); break;
      default: mix(MIXED, n_row, length, rows + r, w, fresh, out); break;
    }
  }
}
