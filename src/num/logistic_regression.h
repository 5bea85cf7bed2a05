/*
 * num/logistic_regression.h: logistic regression with a quadratic penalty,
 *   max_b  f(b) = sum_i w[i] (y[i] eta[i] - log(1 + exp(eta[i]))) - b'P b / 2,   eta = X b + offset,
 * by Newton's method with halved steps. With p = logistic(eta)
 *   g = X'(w (y - p)) - P b,    H = X' diag(w p (1 - p)) X + P,    b <- b + t H^-1 g.
 */
#ifndef MC_NUM_LOGISTIC_REGRESSION_H
#define MC_NUM_LOGISTIC_REGRESSION_H

#include <stdbool.h>

#include "num/base.h"

typedef struct {
  int n, l;                          /* cases; coefficients */
  const double *design;              /* n x l: X */
  const double *y, *offset, *weight; /* n each; y within [0, 1] */
  const double *penalty;             /* l x l: P */
  int (*stop)(void *asked);          /* nonzero stops the fit, and then stays nonzero; or NULL */
  void *asked;
  int n_threads; /* results do not depend on it */
} num_regression;

/* even = (z - centre) / spread: mean 0 and standard deviation 1; a spread below 1e-8 is set to Inf. */
void num_even(const double *z, int n, double *centre, double *spread, double *even);

/* Doubles of scratch for l coefficients. */
ptrdiff_t num_regression_size(int l);

/*
 * b holds the starting values, then the estimate; hessian (l x l) is H at the estimate. Makes at
 * most `iterations` iterations, fewer if one gains less than 1e-8 of |f| + 1 or if H is not
 * positive definite. An iteration costs n l (l + 6) flops, n exponentials and n logarithms. Returns
 * false if `stop` was nonzero.
 */
bool num_logistic_regression(const num_regression *data, int iterations, double *b, double *hessian,
                             double *scratch);

#endif
