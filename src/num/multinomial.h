/*
 * num/multinomial.h: multinomial logistic regression, by which memberships follow covariates of the
 * observations:
 *   membership[i,c] = exp(eta[i,c]) / sum_b exp(eta[i,b]),  eta[i,c] = sum_e design[e,i] effects[e,c],
 *   effects[e,c] ~ N(0, 1 / ridge).
 * No component is a reference: effects of a term sum to 0 over components at the mode, and, without
 * a ridge, remain so if they start so.
 */
#ifndef MC_NUM_MULTINOMIAL_H
#define MC_NUM_MULTINOMIAL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int d;                /* terms; 0: memberships are free */
  const double *design; /* d x n */
  double *effects;      /* d x k */
  double ridge;         /* 0: flat */
} num_multinomial;

/* n x k, from the effects; above 0. */
void num_multinomial_share(const num_multinomial *by, int n, int k, double *membership);

/* Log-density of the effects, but for a constant. */
double num_multinomial_log_prior(const num_multinomial *by, int k);

/* Doubles of scratch that num_multinomial_climb() needs. */
size_t num_multinomial_work(int d, int k);

/*
 * Takes a Newton step of sum_i sum_c counts[i,c] log membership[i,c] plus log-prior, halved until
 * it gains; counts (n x k) are at least 0. Costs O(n k^2 d^2) and a system of order d k. Returns
 * false if no step gained.
 */
bool num_multinomial_climb(const num_multinomial *by, int n, int k, const double *counts,
                           double *work);

/*
 * The logarithm of that posterior at these effects, but for a constant; eta: k values of scratch.
 */
double num_multinomial_log_density(const num_multinomial *by, const double *effects, int n, int k,
                                   const double *counts, double *eta);

/*
 * Computes its mode, into the effects, and the lower Cholesky factor (d k x d k) of minus its
 * Hessian there. Both depend only on the counts, not on the previous effects. ridge must be above
 * 0. Returns false if minus the Hessian is not positive definite.
 */
bool num_multinomial_mode(const num_multinomial *by, int n, int k, const double *counts,
                          double *work, double *chol);

#endif
