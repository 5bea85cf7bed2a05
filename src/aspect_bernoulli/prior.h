/*
 * aspect_bernoulli/prior.h: the prior of the aspect Bernoulli model, a Beta on every aspect that is
 * not pinned and a Dirichlet on every row's membership. Each component has its own numbers, so what
 * a caller asks of phantoms or of single components is a matter of how it fills them in.
 */
#ifndef MC_ASPECT_BERNOULLI_PRIOR_H
#define MC_ASPECT_BERNOULLI_PRIOR_H

#include "engine/host.h"

/*
 * What is added to the expected counts of a component: for a posterior mode the densities'
 * parameters less 1 (all 0: maximum likelihood); for variational Bayes and Gibbs sampling the
 * parameters themselves.
 */
typedef struct {
  int k;
  const double *one, *zero; /* k: to the ones and zeros of each column, unless pinned */
  const double *membership; /* k: to the cells of each row */
  double row;               /* what a row gets of all components together */
} ab_prior;

/* counts: k x 3, ones, zeros and cells of a row; not copied. */
ab_prior ab_new_prior(const double *counts, int k);

/* Nothing is added. */
ab_prior ab_no_prior(int k, const mc_host *host);

/* Is every number at least 0 (where open: above 0)? */
bool ab_prior_is_valid(const ab_prior *prior, bool open);

/* Log-density of a posterior mode's prior, up to a constant; pinned as in ab_param. */
double ab_log_prior(const ab_prior *prior, const int *pinned, int n, int m,
                    const double *membership, const double *aspects);

/* Log of the constant of a row's Dirichlet density, of its parameters. */
double ab_log_dirichlet_constant(const ab_prior *prior);

#endif
