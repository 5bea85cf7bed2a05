/*
 * visits_bernoulli/em.h: the aspect Bernoulli model of a true state that several visits share:
 *   P(z[i,j] = 1) = sum_c membership[i,c] aspects[c,j],
 *   P(x[i,j,v] = 1 | z) = 1 - missed[.,v] where z = 1, added[v] where z = 0,
 * independent given z. A visit misses by observation, by attribute, or alike for all; it adds nothing
 * unless told to. With one attribute and constant membership this is the single-species occupancy
 * model of MacKenzie et al. (2002), doi:10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2.
 */
#ifndef MC_VISITS_BERNOULLI_EM_H
#define MC_VISITS_BERNOULLI_EM_H

#include "aspect_bernoulli/em.h"

typedef enum { MISSED_BY_OBSERVATION, MISSED_BY_ATTRIBUTE, MISSED_BY_VISIT } ab_missed_by;

typedef struct {
  int n, m, n_visit;
  const int *cell; /* n x m x n_visit: 1 found, 0 not found, below 0: not visited */
} ab_visit_data;

typedef struct {
  ab_param ab;            /* membership, aspects; nothing pinned */
  ab_missed_by missed_by; /* what the rows of missed are */
  double *missed;         /* rows x n_visit, within [0, 1] */
  double *added;          /* n_visit, within [0, 1] */
  bool fit_added;         /* else added stays as it is */
} ab_visit_param;

typedef struct ab_visit_work ab_visit_work;

ab_visit_work *ab_visits_new_work(const ab_visit_data *data, const ab_visit_param *par,
                                  const ab_prior *prior, int n_threads, const mc_host *host);

/*
 * One EM pass, all updates in closed form from the posterior of z and of the component behind it.
 * Costs O(n m (k + n_visit)); allocates nothing; never lowers the objective, log-likelihood over
 * visited cells plus log-prior, which it returns for the parameters it was given (-Inf where a find
 * is impossible, NaN where the host asked to stop). What nothing was observed of stays.
 */
double ab_visits_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work);

double ab_visits_objective(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work);

/* P(z = 1 | all visits), n x m; the prior probability where there was none. */
void ab_visits_posterior(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                         double *posterior);

/* As a model for mc_fit(); blocks: membership, aspects, missed, added. */
typedef struct {
  const ab_visit_data *data;
  ab_visit_param *par;
  ab_visit_work *work;
} ab_visit_self;

mc_model ab_visits_model(ab_visit_self *self);

#endif
