/*
 * aspect_bernoulli/vb.h: variational Bayes for the aspect Bernoulli model (aspect_bernoulli/em.h)
 * with its prior (aspect_bernoulli/prior.h). The posterior is approximated by independent Dirichlets, Betas and
 * causes of cells; their updates are in closed form (Attias 1999; Blei, Ng & Jordan 2003, section 5).
 */
#ifndef MC_ASPECT_BERNOULLI_VB_H
#define MC_ASPECT_BERNOULLI_VB_H

#include "aspect_bernoulli/em.h"

/* Parameters of the approximation: starting values on entry, result on return. */
typedef struct {
  int k;
  double *membership; /* n x k, Dirichlet parameters of the rows, > 0 */
  double *one, *zero; /* k x m, Beta parameters of the aspects, > 0; not used where fixed */
  const int *fixed;   /* k: 0 free, -1 fixed at 0, 1 fixed at 1 */
  bool fixed_aspects; /* hold one and zero: fold-in of new rows */
} ab_vb_param;

typedef struct ab_vb_work ab_vb_work;

/* prior: its parameters, > 0. */
ab_vb_work *ab_vb_new_work(const mc_data *data, const ab_vb_param *par, const ab_prior *prior,
                           int n_threads, const mc_host *host);

/*
 * The model for mc_fit(); blocks: membership and, unless fixed, one and zero. An iteration updates
 * the causes of all cells, then all Dirichlets and Betas. It costs as much as ab_pass() plus three
 * special functions per parameter; allocates nothing; never decreases the lower bound of the log
 * evidence, in nats, whose value at the supplied parameters it returns; NaN if the host requested a
 * stop.
 */
typedef struct {
  const mc_data *data;
  ab_vb_param *par;
  ab_vb_work *work;
} ab_vb_self;

mc_model ab_vb_model(ab_vb_self *self);

#endif
