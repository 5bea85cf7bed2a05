/*
 * visits_bernoulli/em.h: the aspect Bernoulli model of a true state that several visits share:
 *   P(z[i,j] = 1) = sum_c membership[i,c] aspects[c,j],
 *   P(x[i,j,v] = 1 | z) = 1 - missed[.,v] where z = 1, added[v] where z = 0,
 * independent given z. A visit misses by observation, by attribute, or alike for all, or by a model,
 *   logit(1 - missed[i,j,v]) = design[i,v,] slopes[,j],  slopes[e,j] ~ N(mean[e,j], 1 / ridge[e]);
 * it adds nothing unless told to. Memberships are free, alike among neighbours (engine/smooth.h), or
 * follow covariates (visits_bernoulli/communities.h). With one component and no ridge this is the single-species
 * occupancy model of MacKenzie et al. (2002),
 * doi:10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2, for each attribute.
 */
#ifndef MC_VISITS_BERNOULLI_EM_H
#define MC_VISITS_BERNOULLI_EM_H

#include "aspect_bernoulli/em.h"
#include "visits_bernoulli/communities.h"

typedef enum {
  MISSED_BY_OBSERVATION,
  MISSED_BY_ATTRIBUTE,
  MISSED_BY_VISIT,
  MISSED_BY_MODEL
} ab_missed_by;

/* How visits find what is there; slopes are parameters, the rest stays. */
typedef struct {
  int d;                /* terms */
  const double *design; /* d x n x n_visit; finite where there was a visit */
  double *slopes;       /* d x m */
  const double *mean;   /* d x m: means of the slopes' normal prior */
  const double *ridge;  /* d: its precisions; 0: flat */
} ab_detection;

typedef struct {
  int n, m, n_visit;
  const int *cell; /* n x m x n_visit: 1 found, 0 not found, below 0: not visited */
} ab_visit_data;

typedef struct {
  ab_param ab;       /* membership, aspects, smooth; nothing pinned. fixed_aspects: all is held
                             but memberships */
  ab_communities by; /* by.d > 0: memberships follow from effects, without a prior of their own */
  ab_missed_by missed_by; /* what the rows of missed are */
  double *missed;         /* rows x n_visit, within [0, 1]; not by a model */
  ab_detection detection; /* of a model */
  double *added;          /* n_visit, within [0, 1] */
  bool fit_added;         /* else added stays as it is */
} ab_visit_param;

typedef struct ab_visit_work ab_visit_work;

ab_visit_work *ab_visits_new_work(const ab_visit_data *data, const ab_visit_param *par,
                                  const ab_prior *prior, int n_threads, const mc_host *host);

/*
 * One EM pass, all updates in closed form from the posterior of z and of the component behind it,
 * but for slopes, which make one Newton step of the expected log-likelihood, shortened so that it gains.
 * Costs O(n m (k + n_visit)), with slopes O(n m n_visit d^2) more; allocates nothing;
 * never lowers the objective, log-likelihood over
 * visited cells plus log-prior, which it returns for the parameters it was given (-Inf where a find
 * is impossible, NaN where the host asked to stop). What nothing was observed of stays.
 */
double ab_visits_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work);

/* Memberships that follow covariates, as the effects have them; others stay. */
void ab_visits_follow(const ab_visit_data *data, ab_visit_param *par);

double ab_visits_objective(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work);

/* P(z = 1 | all visits), n x m; the prior probability where there was none. */
void ab_visits_posterior(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                         double *posterior);

/* As a model for mc_fit(); blocks: membership or effects, aspects, missed or slopes, added. */
typedef struct {
  const ab_visit_data *data;
  ab_visit_param *par;
  ab_visit_work *work;
} ab_visit_self;

mc_model ab_visits_model(ab_visit_self *self);

#endif
