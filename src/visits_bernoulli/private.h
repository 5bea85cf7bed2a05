/* visits_bernoulli/private.h: access to the visits, shared by the iterations and the sampler. */
#ifndef MC_VISITS_BERNOULLI_PRIVATE_H
#define MC_VISITS_BERNOULLI_PRIVATE_H

#include <math.h>

#include "num/vector.h"
#include "visits_bernoulli/em.h"

/* 1 detected, 0 not detected, below 0: no visit. */
static inline int record(const ab_visit_data *data, int i, int j, int v) {
  return data->cell[num_at(i, j, data->n) + (ptrdiff_t) v * data->n * data->m];
}

static inline const double *design_of(const ab_visit_data *data, const ab_detection *by, int i,
                                      int v) {
  return by->design + (ptrdiff_t) by->d * num_at(i, v, data->n);
}

/* Probability of a miss from the linear predictor. */
static inline double model_missed(const ab_visit_data *data, const ab_detection *by, int i, int j,
                                  int v) {
  const double *slopes = by->slopes + num_at(0, j, by->d);
  return 1 / (1 + exp(num_dot(design_of(data, by, i, v), slopes, by->d)));
}

/* Log-density of an attribute's slopes, up to a constant. */
double ab_visits_slope_prior(const ab_detection *by, int j, const double *slopes);

/* Access to the EM workspace for other algorithms (newton.h): the prior; the design, 0 without a
 * visit; tau (n x m), the posterior probabilities of a presence that the steps of slopes use. */
const ab_prior *ab_visits_prior(const ab_visit_work *work);
const double *ab_visits_design(const ab_visit_work *work);
const double *ab_visits_squares(const ab_visit_work *work); /* products of pairs of its terms */
double *ab_visits_tau(const ab_visit_work *work);

/* Terms of the objective besides the log-likelihood; first updates memberships from covariates. */
double ab_visits_beside(const ab_visit_data *data, ab_visit_param *par, const ab_visit_work *work);

/* Takes EM's step of the slopes of attribute j. */
void ab_visits_climb_slopes(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                            int thread, int j);

#endif
