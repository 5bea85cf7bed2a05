/*
 * num_simplex.h: maxima over the probability simplex, one row at a time. Each
 * is a one-dimensional root found by Newton steps that cannot overshoot.
 * Vectors have n contiguous values; counts are >= 0.
 */
#ifndef MC_NUM_SIMPLEX_H
#define MC_NUM_SIMPLEX_H

#include <stdbool.h>

/*
 * theta = argmax sum_i counts[i] log theta[i] + linear[i] theta[i], that is
 * counts[i] / (mu - linear[i]). linear may hold -Inf where counts is 0. Cells
 * without counts are 0, but that the one with the largest linear term takes
 * what mass is left over (the first of several). theta may be linear itself.
 */
void num_simplex_linear(const double *counts, const double *linear, int n, double *theta);

/*
 * theta = argmax sum_i counts[i] log theta[i] - entropy theta[i] log theta[i]
 * + linear[i] theta[i], entropy > 0; linear may be NULL (all 0), or hold -Inf
 * where counts is 0. Strictly concave. theta must not overlap the others.
 */
void num_simplex_entropy(const double *counts, const double *linear, double entropy, int n,
                         double *theta);

/* How the entropic M-step is made where beta > 0. */
typedef enum {
  NUM_CCCP,   /* one step up from theta: the convex part replaced by its tangent */
  NUM_GLOBAL, /* the global maximum */
  NUM_FIRST   /* the local maximum with the smallest largest share */
} num_entropic_rule;

/*
 * The entropic M-step: theta maximises, or with NUM_CCCP and beta > 0 raises,
 *   f = sum_i counts[i] log theta[i] + beta sum_i theta[i] log theta[i];
 * Shashanka, Raj & Smaragdis (2007), eqs. (7)-(8): counts is omega or xi there.
 * beta > 0 makes theta sparse; beta < 0 makes it even, has one maximum and is
 * always solved exactly. counts * s and beta * s give the same theta, and any
 * finite magnitudes do. theta holds the old point on entry. Where no count is
 * positive it stays and false is returned. Cells with counts > 0 end above 0.
 * scratch: n values.
 */
bool num_entropic(const double *counts, int n, double beta, num_entropic_rule rule, double *theta,
                  double *scratch);

#endif
