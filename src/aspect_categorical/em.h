/*
 * aspect_categorical/em.h: the aspect model of cells with several values, each written by one
 * component: Hofmann & Puzicha (1999), Marlin (2004),
 *   P(x[i,j] = v) = sum_c membership[i,c] profiles[c,j,v].
 * With two values it is the aspect Bernoulli model (aspect_bernoulli/em.h).
 */
#ifndef MC_ASPECT_CATEGORICAL_EM_H
#define MC_ASPECT_CATEGORICAL_EM_H

#include "engine/data.h"
#include "engine/fit.h"

/* Parameters: starting values on entry, estimates on return. Values of cells are 0 .. n_value - 1;
 * data->value NULL: 0 and 1. */
typedef struct {
  int k, n_value;
  double *membership;  /* n x k, rows on the simplex */
  double *profiles;    /* k x m x n_value, for each component and column on the simplex */
  const int *fixed;    /* k: nonzero if a component's profiles are fixed (a phantom) */
  bool fixed_profiles; /* fixes all profiles: fold-in, a concave problem in membership */
} ac_param;

/* Pseudo-counts of Dirichlet priors, parameters less 1; all 0 is maximum likelihood. For the
 * sampler (aspect_categorical/gibbs.h) the parameters themselves, > 0. */
typedef struct {
  const double *membership; /* k */
  const double *values;     /* n_value */
} ac_prior;

typedef struct ac_work ac_work;

/* Scratch for iterations: O(k m n_value) a strip of rows, O(m + k) a thread. */
ac_work *ac_new_work(const mc_data *data, const ac_param *par, const ac_prior *prior, int n_threads,
                     const mc_host *host);

/*
 * Values of row i, m, from 0; -1: missing. O(m).
 */
void ac_row_values(const mc_data *data, int i, int *value);

/*
 * One EM iteration, memberships, then profiles given the new memberships, as ab_pass() does. Costs
 * 8 k flops and two divisions an observed cell; allocates nothing. Never decreases the objective:
 * log-likelihood of the observed cells plus log-prior. Rows and columns without observed cells and
 * components that explain no cell of a column are unchanged where they have no prior.
 *
 * Returns the objective, in nats, at the supplied parameters: -Inf if an observed cell is
 * impossible, NaN if the host requested a stop.
 */
double ac_pass(const mc_data *data, ac_param *par, ac_work *work);

/* Computes only the objective. Costs 2 n m k flops. */
double ac_objective(const mc_data *data, const ac_param *par, ac_work *work);

/* The log-density of the prior up to a constant. */
double ac_log_prior(const ac_prior *prior, const ac_param *par, int n, int m);

/* The model for mc_fit(); blocks: membership and, unless fixed, profiles. */
typedef struct {
  const mc_data *data;
  ac_param *par;
  ac_work *work;
} ac_self;

mc_model ac_model(ac_self *self);

#endif
