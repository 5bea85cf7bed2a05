/*
 * visits_bernoulli/em.h: the aspect Bernoulli model of a true state observed by several visits:
 *   P(z[i,j] = 1) = sum_c membership[i,c] aspects[c,j],
 *   P(x[i,j,v] = 1 | z) = 1 - missed[.,v] if z = 1, added[v] if z = 0,
 * independent given z. Probabilities of a miss vary by observation, by attribute, or by visit only,
 * or follow a model,
 *   logit(1 - missed[i,j,v]) = design[i,v,] slopes[,j],  slopes[e,j] ~ N(mean[e,j], 1 / ridge[e]);
 * it adds nothing unless told to. Memberships are free, alike among neighbours (engine/smooth.h), or
 * follow covariates (num/multinomial.h). With one component and no ridge this is the single-species
 * occupancy model of MacKenzie et al. (2002),
 * doi:10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2, for each attribute.
 */
#ifndef MC_VISITS_BERNOULLI_EM_H
#define MC_VISITS_BERNOULLI_EM_H

#include "aspect_bernoulli/em.h"
#include "num/multinomial.h"

typedef enum {
  MISSED_BY_OBSERVATION,
  MISSED_BY_ATTRIBUTE,
  MISSED_BY_VISIT,
  MISSED_BY_MODEL
} ab_missed_by;

/* Detection model; slopes are parameters, everything else is constant. */
typedef struct {
  int d;                /* terms */
  const double *design; /* d x n x n_visit; finite for visits that were made */
  double *slopes;       /* d x m */
  const double *mean;   /* d x m: means of the slopes' normal prior */
  const double *ridge;  /* d: precisions of the prior; 0: flat */
} ab_detection;

typedef struct {
  int n, m, n_visit;
  const int *cell; /* n x m x n_visit: 1 detected, 0 not detected, below 0: not visited */
} ab_visit_data;

typedef struct {
  ab_param ab;        /* membership, aspects, smooth; nothing fixed. fixed_aspects: all is held
                             but memberships */
  num_multinomial by; /* by.d > 0: memberships follow from effects, without a prior of their own */
  ab_missed_by missed_by; /* what the rows of missed are */
  double *missed;         /* rows x n_visit, within [0, 1]; not by a model */
  ab_detection detection; /* of a model */
  double *added;          /* n_visit, within [0, 1] */
  bool fit_added;         /* estimate added */
} ab_visit_param;

typedef struct ab_visit_work ab_visit_work;

ab_visit_work *ab_visits_new_work(const ab_visit_data *data, const ab_visit_param *par,
                                  const ab_prior *prior, int n_threads, const mc_host *host);

/*
 * One EM iteration. All updates are in closed form, from the posterior of z and of the component
 * behind it, except that slopes take one Newton step of the expected log-likelihood, shortened so
 * that it gains. Costs O(n m (k + n_visit)), with slopes O(n m n_visit d^2) more; allocates
 * nothing. Never decreases the objective, log-likelihood over visited cells plus log-prior, whose
 * value at the supplied parameters it returns (-Inf if a detection is impossible, NaN if the host
 * requested a stop). Parameters without observations are unchanged.
 */
double ab_visits_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work);

/* Computes memberships that depend on covariates from their effects; others are unchanged. */
void ab_visits_follow(const ab_visit_data *data, ab_visit_param *par);

double ab_visits_objective(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work);

/* P(z = 1 | all visits), n x m; the prior probability in unvisited cells. */
void ab_visits_posterior(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                         double *posterior);

/* The model for mc_fit(); blocks: membership or effects, aspects, missed or slopes, added. */
typedef struct {
  const ab_visit_data *data;
  ab_visit_param *par;
  ab_visit_work *work;
} ab_visit_self;

mc_model ab_visits_model(ab_visit_self *self);

#endif
