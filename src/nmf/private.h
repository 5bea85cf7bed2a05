/* nmf/private.h: what the two losses of nmf/descent.c share: half a pass, one factor held. */
#ifndef MC_NMF_PRIVATE_H
#define MC_NMF_PRIVATE_H

#include "nmf/nmf.h"
#include "num/blocks.h"
#include "num/poisson_newton.h"

#define NM_CANCELLED 1e-4 /* share of a sum left by a subtraction below which it is summed anew */

typedef struct {
  double loss, off, size; /* off and size: numerator and denominator of nm_residual() */
} row_sum;

typedef struct {
  double *slope;       /* k x b: products of the rows' values with the held factor, Euclidean */
  double *gram;        /* k x k: of one row with missing cells */
  double *sums;        /* k: of the held factor over the row's observed cells */
  double *step;        /* k: gradient at the row */
  num_poisson poisson; /* KL */
  double *dense;       /* m x b; NULL: x is sparse */
} block_scratch;

struct nm_work {
  const mc_host *host;
  mc_data transposed;
  num_strips rows, columns;
  double *gram;  /* k x k of the held factor */
  double *total; /* k: its sums */
  double *scale; /* k: makes a coefficient comparable to its gradient */
  row_sum strip[NUM_MAX_STRIP];
  block_scratch *scratch;
  row_sum last[2]; /* of coefficients, of basis */
  int passes;
  double objective; /* of the last pass, for the host's eyes */
};

/* One of the two halves of a pass: the rows of a view, one factor free, the other held. */
typedef struct {
  const mc_data *data; /* the view whose rows the free factor describes */
  const double *held;  /* k x m */
  double *free;        /* k x n */
  const nm_param *par;
  nm_work *work;
  bool update;
  double *pull, *seen; /* k x n: what a multiplicative step is made of, instead of it; or NULL */
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

/* One row under the Kullback-Leibler divergence: its share of the sums, then its update. */
void nm_kl_row(const factor *h, int i, block_scratch *s, row_sum *sum);

#endif
