/*
 * num/lanes.h: products of short matrices, with NUM_LANES units side by side in a vector register.
 * If a dimension is small, a BLAS needs more time to copy than to multiply.
 */
#ifndef MC_NUM_LANES_H
#define MC_NUM_LANES_H

#include "num/base.h"

#define NUM_LANES 8

/* out (lanes x length) = weights (lanes x n_row) rows (n_row x length) */
void num_lanes_mix(int n_row, int length, const double *rows, const double *weights, double *out);

/* sums (lanes x n_row) += x (lanes x length) rows' */
void num_lanes_dots(int n_row, int length, const double *rows, const double *x, double *sums);

/* num_lanes_dots() with x squared. */
void num_lanes_square_dots(int n_row, int length, const double *rows, const double *x,
                           double *sums);

#endif
