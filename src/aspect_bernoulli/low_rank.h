/*
 * aspect_bernoulli/low_rank.h: sums over all zeros of a table without scanning them.
 *
 * If a column's probabilities are within [0, cap], 1 / (1 - p) is replaced by the parabola f that
 * equals it at the three Chebyshev points of that range (with an error of about cap^3 / 32), and
 * -log(1 - p) by its integral F. As p = s'a is bilinear, sums over cells are polynomials with
 * common coefficients; over cells with vectors a, for a unit with weights s:
 *   sum a f(s'a) = C + L s + Q (s s),      sum F(s'a) = s'(C + L s / 2 + Q (s s) / 3),
 *   C = sum c0 a,  L = sum c1 a a',  Q = sum c2 a (a a)      (pairs of components).
 */
#ifndef MC_ASPECT_BERNOULLI_LOW_RANK_H
#define MC_ASPECT_BERNOULLI_LOW_RANK_H

#include "engine/host.h"

#define AB_PARABOLA 3 /* coefficients of f, constant first; the second is 0 where there is none */

void ab_parabola(double cap, double *f);

static inline double ab_parabola_at(const double *f, double p) {
  return f[0] + p * (f[1] + p * f[2]);
}

static inline double ab_parabola_integral(const double *f, double p) {
  return p * (f[0] + p * (f[1] / 2 + p * f[2] / 3));
}

typedef struct {
  int k;
  double *constant, *linear, *square; /* C: k; L: k x k; Q: k x pairs */
  double *scaled, *products;          /* scratch of a panel */
} ab_low_rank;

ab_low_rank ab_new_low_rank(int k, const mc_host *host);

/* Number of doubles for the pairs of weights of `units` units. */
size_t ab_low_rank_room(int k, int units);

/* Computes C, L and Q of n cells, with AB_PARABOLA coefficients for each; f NULL: all 1. */
void ab_low_rank_sum(ab_low_rank *sum, int n, const double *vectors, const double *f);

/*
 * Adds sum a f to the gradients (k x b) of b units with weights (k x b), multiplied by f if
 * coefficients belong to units; returns the sum of F over their cells. room: of ab_low_rank_room(k,
 * b).
 */
double ab_low_rank_add(const ab_low_rank *sum, int b, const double *weights, const double *const *f,
                       double *gradient, double *room);

#endif
