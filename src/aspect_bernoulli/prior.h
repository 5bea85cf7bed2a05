/*
 * aspect_bernoulli/prior.h: the prior of the aspect Bernoulli model, a Beta on every aspect that is
 * not fixed and a Dirichlet on every row's membership. Each component has its own parameters, so a
 * caller can treat phantoms or single components separately.
 */
#ifndef MC_ASPECT_BERNOULLI_PRIOR_H
#define MC_ASPECT_BERNOULLI_PRIOR_H

#include "engine/host.h"

/*
 * Counts added to the expected counts of a component: for a posterior mode the densities'
 * parameters minus 1 (all 0: maximum likelihood); for variational Bayes and Gibbs sampling the
 * parameters themselves.
 */
typedef struct {
  int k;
  const double *one, *zero; /* k: to the ones and zeros of each column, unless fixed */
  const double *membership; /* k: to the cells of each row */
  double row;               /* sum of membership over components */
} ab_prior;

/* counts: k x 3, ones, zeros and cells of a row; not copied. */
ab_prior ab_new_prior(const double *counts, int k);

/* A prior that adds nothing. */
ab_prior ab_no_prior(int k, const mc_host *host);

/* Returns whether every number is at least 0 (above 0 if open). */
bool ab_prior_is_valid(const ab_prior *prior, bool open);

/* Log-density of a posterior mode's prior, up to a constant; fixed as in ab_param. */
double ab_log_prior(const ab_prior *prior, const int *fixed, int n, int m, const double *membership,
                    const double *aspects);

/* Log of the normalising constant of a row's Dirichlet density with these parameters. */
double ab_log_dirichlet_constant(const ab_prior *prior);

#endif
