/*
 * aspect_bernoulli/line.h: iterations of EM that do not visit zeros.
 *
 * At zeros 1 / (1 - p) is replaced by the line f(p) = c0 + c1 p that equals it at the two Chebyshev
 * points of [0, .4], and -log(1 - p) by its integral F. As p = s'a is bilinear, sums over all cells
 * are products with tables of k x k, of which ones and missing cells are taken out one by one:
 *   sum_j a f(p) = c0 A + c1 D s,  A = sum_j a,  D = sum_j a a',
 *   sum_i s f(p) = c0 B + c1 E a,  B = sum_i s,  E = sum_i s s'.
 * Both halves of such a pass have the fixed points of sum_ones log p - sum_zeros F(p), which is a
 * model of its own where f is no longer near 1 / (1 - p), above .6 or so.
 */
#ifndef MC_ASPECT_BERNOULLI_LINE_H
#define MC_ASPECT_BERNOULLI_LINE_H

#include "engine/data.h"

typedef struct {
  int k;
  double *sum, *square; /* A: k; D: k x k */
  double *caps;         /* m times the end of that range, as engine/shards.h wants them */
  int *zeros;           /* m: zeros of each column */
} ab_line;

ab_line ab_new_line(int k, const mc_data *data, const mc_host *host);

/* A and D of all columns. */
void ab_line_columns(ab_line *line, int m, const double *aspects);

/*
 * Of b rows from first on, memberships `rows` (k x b): returns sum_ones log p - sum_zeros F(p), and
 * fills counts (k x b), unless want_counts is false, with the expected cells of each component over
 * its membership. Those of a row, times memberships, add up to its observed cells.
 */
double ab_line_counts(const ab_line *line, const mc_data *data, const double *aspects, int first,
                      int b, const double *rows, bool want_counts, double *counts);

/* Doubles of what strips add up of their rows: B, then E. */
static inline ptrdiff_t ab_line_moments(int k) { return k + (ptrdiff_t) k * k; }

/* Adds the moments of those rows, and what their ones and missing cells have in one and zero (k x m each). */
void ab_line_add_rows(const mc_data *data, int k, const double *aspects, int first, int b,
                      const double *rows, double *moments, double *one, double *zero);

/* Adds what all cells have in zero, given the moments of all rows; 0 in columns without zeros. */
void ab_line_add_all(const ab_line *line, int m, const double *aspects, const double *moments,
                     double *zero);

#endif
