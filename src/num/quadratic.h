/* num/quadratic.h: small convex quadratic problems with bounds. */
#ifndef MC_NUM_QUADRATIC_H
#define MC_NUM_QUADRATIC_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  const double *h, *g, *low, *high; /* k x k, k, k, k */
  int k;
  bool balanced;
} num_quadratic_problem;

/*
 * d = argmin { d'H d / 2 - g'd : low <= d <= high, and sum d = 0 if balanced }, low <= 0 <= high,
 * by an active set: bounds are met exactly, and released if that lowers the objective. h is k x k,
 * symmetric, positive semidefinite; an undetermined direction gets a ridge of 1e-10 of its
 * diagonal. side (k values) becomes -1 or 1 if d is at its lower or upper bound, else 0.
 *
 * Despite rounding, d is within the bounds and no worse than 0. Returns false, and d = 0, if h or g
 * is not finite. work has num_quadratic_work(k) doubles, which = k ints. Costs O(k^3) for every
 * bound that is met or released.
 */
bool num_quadratic(const num_quadratic_problem *problem, double *d, int *side, double *work,
                   int *which);

size_t num_quadratic_work(int k);

#endif
