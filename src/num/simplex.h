/*
 * num/simplex.h: maxima over the probability simplex, one row at a time, and projections back into
 * it. Each maximum is a one-dimensional root found by Newton steps that cannot overshoot. Vectors
 * have n contiguous values; counts are >= 0.
 */
#ifndef MC_NUM_SIMPLEX_H
#define MC_NUM_SIMPLEX_H

#include <stddef.h>

/*
 * theta = argmax sum_i counts[i] log theta[i] + linear[i] theta[i], that is counts[i] / (mu -
 * linear[i]). linear may hold -Inf if counts is 0. Cells without counts are 0, except that the one
 * with the largest linear term (the first of several) takes the remaining mass. theta may be linear
 * itself.
 */
void num_simplex_linear(const double *counts, const double *linear, int n, double *theta);

/*
 * theta = argmax sum_i counts[i] log theta[i] - entropy theta[i] log theta[i]
 * + linear[i] theta[i], entropy > 0; linear may be NULL (all 0), or hold -Inf
 * where counts is 0. Strictly concave. theta must not overlap the others.
 */
void num_simplex_entropy(const double *counts, const double *linear, double entropy, int n,
                         double *theta);

/*
 * Moves an extrapolated point back inside: no coordinate is nearer to its bound than NUM_SHRINK
 * times the safe point's, and exact bounds of the safe point stay exact. The functions take length
 * probabilities; n rows (n x k); length numbers >= 0.
 */
#define NUM_SHRINK 0.2
void num_guard_unit(double *x, const double *safe, ptrdiff_t length);
void num_guard_simplex(double *rows, const double *safe, int n, int k);
void num_guard_positive(double *x, const double *safe, ptrdiff_t length);

#endif
