/*
 * num/poisson_descent.h: coordinate descent for one row of a Poisson factorisation,
 *   max_{x >= 0}  sum_e v[e] log(sum_c x[c] g[c,e]) - sum_c linear[c] x[c].
 */
#ifndef MC_NUM_POISSON_DESCENT_H
#define MC_NUM_POISSON_DESCENT_H

#include "num/base.h"

typedef struct {
  double *gathered;   /* k x r, by component: the held factor at the row's nonzeros */
  double *p, *q, *vq; /* r: mean, its inverse, v / mean */
} num_poisson;

/* Scratch for rows of at most `longest` nonzeros lies in so many doubles of the caller's. */
ptrdiff_t num_poisson_size(int k, int longest);
num_poisson num_new_poisson(int k, int longest, double *memory);

/* Gathers the columns `at` (r of them) of g, k x anything, and makes the means s->p at x. */
void num_poisson_gather(const double *g, const double *x, int k, const int *at, int r,
                        num_poisson *s);

/*
 * One step of every coordinate in turn, after num_poisson_gather(); s->p is kept up. v NULL: all 1.
 * Never lowers the objective; no positive coordinate becomes 0, and none whose linear term is not
 * positive moves. Costs about 10 k r flops and at most as many divisions as k r.
 */
void num_poisson_sweep(double *x, const double *linear, int k, const double *v, int r,
                       num_poisson *s);

#endif
