/*
 * num/poisson_newton.h: Newton's step for one row of a Poisson factorisation, the other factor
 * `held` being fixed,
 *   max_{x >= 0}  f(x) = sum_e v[e] log p[e] - sum_c linear[c] x[c],   p[e] = sum_c x[c] held[c,at[e]].
 *
 *   g = sum_e v held / p - linear,                    H = sum_e v held held' / p^2,
 *   d = argmin { d'H d / 2 - g'd : x + d >= 0 },      x <- x + t d
 *
 * No line search is needed. Let e = (change of p along d) / p, with no e below -w. A nonzero gains
 *   v log(1 + t e) >= v t e - v e^2 (-t w - log(1 - t w)) / w^2,
 * because (t e - log(1 + t e)) / e^2 decreases with e. As sum v e^2 = d'H d, the row gains at least
 *   t g'd + d'H d (t w + log(1 - t w)) / w^2.
 * As d is optimal, g'd >= d'H d: a full step increases f if w < .68, and t = s / (1 + s w), s = g'd
 * / d'H d, which maximises this bound, always does. This holds for any positive v, integer or not.
 *
 * Coordinates at 0 with a gradient that is not positive are left out of the quadratic problem;
 * because their products are not computed, a step on sparse factors is cheap. The proof holds for
 * the remaining coordinates. A coordinate re-enters when its gradient is positive. One that reaches
 * 0 is exactly 0.
 */
#ifndef MC_NUM_POISSON_NEWTON_H
#define MC_NUM_POISSON_NEWTON_H

#include "num/base.h"

typedef struct {
  const double *held;   /* k x anything */
  const double *linear; /* k, at least 0; a coordinate with 0 here (NUM_TINY) does not move */
  int k, r;             /* coordinates; nonzeros */
  const int *at;        /* r: their columns of held */
  const double *v;      /* r: their values, above 0; NULL: all 1 */
} num_poisson_row;

typedef struct {
  double *p;    /* longest row: means */
  double *pull; /* k: sum_e v held / p, the gradient without linear */
  double *rows, *change;
  double *h, *g, *low, *high, *d, *quadratic;
  int *moving, *side, *which;
} num_poisson;

/* Scratch for rows of at most `longest` nonzeros: so many doubles and 3 k ints, supplied by the caller. */
ptrdiff_t num_poisson_size(int k, int longest);
num_poisson num_new_poisson(int k, int longest, double *memory, int *whole);

/* Computes the means at x and their pull. Costs 4 k r flops and r divisions. */
void num_poisson_means(const num_poisson_row *row, const double *x, num_poisson *s);

/*
 * Takes the step after num_poisson_means() at the same x; s->p and s->pull are not updated. Never
 * decreases f, except by rounding, and moves nothing if nothing can be gained. With q movable
 * coordinates it costs q^2 r flops, r divisions and O(q^3) for every bound that is met or left.
 */
void num_poisson_newton(const num_poisson_row *row, double *x, num_poisson *s);

#endif
