/* smooth_inner.h: what the two forms of smooth.h share. */
#ifndef MC_SMOOTH_INNER_H
#define MC_SMOOTH_INNER_H

#include "num.h"
#include "smooth.h"

/* Only content components are held, `width` values a row: padded with zeros to whole vectors. */
struct mc_smooth {
  mc_smooth_lists lists;
  int n, k, n_content, n_share, width, n_threads;
  int *content;             /* n_content: which components */
  int *pinned;              /* n_share - 1: the others */
  bool any_alone;           /* some row has no neighbours */
  const double *membership; /* n x k, as last given */
  double *composition;      /* width x n: t */
  double *near;             /* width x n: r */
  double *ratio;            /* width x n: r / mean */
  double *pull;             /* width x n */
  double *reference;        /* width x n: the means given, or NULL */
  double *term;             /* n: each row's affinity */
  double *total;            /* width: sum of all compositions, for rows without neighbours */
  double *back_total;       /* width: sum of their ratios */
  double *share;            /* n_share x n: v */
  double *share_pull;       /* n_share x n */
  double *common;           /* n_share */
};

#define PAD 4 /* doubles a vector */

/* Compositions and shares of rows first to last, from smooth->membership. */
void mc_smooth_compose(mc_smooth *smooth, int first, int last);

/* Chunks of rows are independent: the result does not depend on the threads. */
void mc_smooth_by_chunks(mc_smooth *smooth, void (*work)(mc_smooth *, int, int));

/*
 * sum (size values, a constant of at most 3 PAD) += sum of weight[e] times the
 * first values of column which[e] of from (width x n), e from first to last.
 * The sums stay in registers; without the pragma they are unrolled before they
 * are vectors.
 */
static NUM_INLINE void add_part(double *sum, const double *from, int width, const int *which,
                                const double *weight, int first, int last, const int size) {
  double part[3 * PAD] = {0};
  for (int e = first; e < last; e++) {
    const double *x = from + (ptrdiff_t) which[e] * width;
#pragma omp simd
    for (int c = 0; c < size; c++) part[c] += weight[e] * x[c];
  }
  for (int c = 0; c < size; c++) sum[c] += part[c];
}

/* The same of whole columns: three, two or one vectors at a time. */
static NUM_INLINE void add_columns(double *sum, const double *from, int width, const int *which,
                                   const double *weight, int first, int last) {
  int at = 0;
  for (; at + 3 * PAD <= width; at += 3 * PAD)
    add_part(sum + at, from + at, width, which, weight, first, last, 3 * PAD);
  if (at + 2 * PAD == width)
    add_part(sum + at, from + at, width, which, weight, first, last, 2 * PAD);
  else if (at < width)
    add_part(sum + at, from + at, width, which, weight, first, last, PAD);
}

#endif
