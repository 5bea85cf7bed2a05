/*
 * visits_bernoulli/communities.h: memberships that follow covariates of the observations, a
 * multinomial logistic model:
 *   membership[i,c] = exp(eta[i,c]) / sum_b exp(eta[i,b]),  eta[i,c] = sum_e design[e,i] effects[e,c],
 *   effects[e,c] ~ N(0, 1 / ridge).
 * No component is the one that others are compared with: effects of a term sum to 0 over components
 * at the mode, and stay so where they begin so and there is no ridge.
 */
#ifndef MC_VISITS_BERNOULLI_COMMUNITIES_H
#define MC_VISITS_BERNOULLI_COMMUNITIES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int d;                /* terms; 0: memberships are free */
  const double *design; /* d x n */
  double *effects;      /* d x k */
  double ridge;         /* 0: flat */
} ab_communities;

/* n x k, from the effects; above 0. */
void ab_communities_share(const ab_communities *by, int n, int k, double *membership);

/* Log-density of the effects, but for a constant. */
double ab_communities_prior(const ab_communities *by, int k);

/* Doubles of scratch that ab_communities_climb() needs. */
size_t ab_communities_work(int d, int k);

/*
 * A Newton step of sum_i sum_c counts[i,c] log membership[i,c] plus log-prior, halved until it
 * gains; counts (n x k) are at least 0. Costs O(n k^2 d^2) and a system of order d k. False where
 * no step gained.
 */
bool ab_communities_climb(const ab_communities *by, int n, int k, const double *counts,
                          double *work);

/*
 * The logarithm of that posterior at these effects, but for a constant; eta: k values of scratch.
 */
double ab_communities_value(const ab_communities *by, const double *effects, int n, int k,
                            const double *counts, double *eta);

/*
 * Its mode, into the effects, and the lower Cholesky factor (d k x d k) of minus its Hessian there: of the counts
 * alone, whatever the effects were. ridge must be above 0. False where the Hessian is not definite.
 */
bool ab_communities_mode(const ab_communities *by, int n, int k, const double *counts, double *work,
                         double *chol);

#endif
