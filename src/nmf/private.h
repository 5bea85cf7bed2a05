/* nmf/private.h: shared by the two losses: half an iteration, with one factor fixed. */
#ifndef MC_NMF_PRIVATE_H
#define MC_NMF_PRIVATE_H

#include "nmf/nmf.h"
#include "num/blocks.h"
#include "num/poisson_newton.h"

#define NM_CANCELLED 1e-4 /* share of a sum left by a subtraction below which it is recomputed */

typedef struct {
  double loss, off, size; /* off and size: numerator and denominator of nm_residual() */
} row_sum;

typedef struct {
  double *slope;       /* k x b: products of the rows' values with the fixed factor, Euclidean */
  double *gram;        /* k x k: of one row with missing cells */
  double *sums;        /* k: sums of the fixed factor over the row's observed cells */
  double *step;        /* k: gradient at the row */
  num_poisson poisson; /* KL */
  double *dense;       /* m x b; NULL: x is sparse */
} block_scratch;

struct nm_work {
  const mc_host *host;
  mc_data transposed;
  num_strips rows, columns;
  double *gram;  /* k x k, of the fixed factor */
  double *total; /* k: its sums */
  double *scale; /* k: makes a coefficient comparable to its gradient */
  row_sum strip[NUM_MAX_STRIP];
  block_scratch *scratch;
  row_sum last[2]; /* of coefficients, of basis */
  int iterations;
  double objective; /* of the last iteration, reported to the host */
};

/* Half an iteration: updates the factor of the rows of a view, with the other factor fixed. */
typedef struct {
  const mc_data *data; /* the view whose rows the free factor describes */
  const double *held;  /* k x m */
  double *free;        /* k x n */
  const nm_param *par;
  nm_work *work;
  bool update;
  double *pull, *seen; /* k x n: numerator and denominator of a multiplicative step, recorded
                          instead of taking it; or NULL */
} factor;

static inline double value_at(const mc_data *data, int e) {
  return data->value ? data->value[e] : 1;
}

static inline void add_residual(const factor *h, const double *free, const double *gradient,
                                const double *size, row_sum *sum) {
  for (int c = 0; c < h->par->k; c++) {
    const double off = fmin(free[c] * h->work->scale[c], gradient[c]);
    sum->off += off * off;
    sum->size += size[c] * size[c];
  }
}

/* Processes one row under the Kullback-Leibler divergence: adds to the sums, then updates it. */
void nm_kl_row(const factor *h, int i, block_scratch *s, row_sum *sum);

#endif
