/* visits_bernoulli/private.h: what the passes and the sampler read of a visit. */
#ifndef MC_VISITS_BERNOULLI_PRIVATE_H
#define MC_VISITS_BERNOULLI_PRIVATE_H

#include <math.h>

#include "num/vector.h"
#include "visits_bernoulli/em.h"

/* 1 found, 0 not found, below 0: no visit. */
static inline int record(const ab_visit_data *data, int i, int j, int v) {
  return data->cell[num_at(i, j, data->n) + (ptrdiff_t) v * data->n * data->m];
}

static inline const double *design_of(const ab_visit_data *data, const ab_detection *by, int i,
                                      int v) {
  return by->design + (ptrdiff_t) by->d * num_at(i, v, data->n);
}

/* The linear predictor's chance of a miss. */
static inline double model_missed(const ab_visit_data *data, const ab_detection *by, int i, int j,
                                  int v) {
  const double *slopes = by->slopes + num_at(0, j, by->d);
  return 1 / (1 + exp(num_dot(design_of(data, by, i, v), slopes, by->d)));
}

/* Log-density of an attribute's slopes, but for a constant. */
double ab_visits_slope_prior(const ab_detection *by, int j, const double *slopes);

/* Of a workspace of passes, for those that take other steps (newton.h): its prior; the design, 0 where
 * there was no visit; n x m, the posterior chances of a presence that slopes go by. */
const ab_prior *ab_visits_prior(const ab_visit_work *work);
const double *ab_visits_design(const ab_visit_work *work);
const double *ab_visits_squares(const ab_visit_work *work); /* pairs of its terms */
double *ab_visits_tau(const ab_visit_work *work);

/* What the objective has beside the log-likelihood; memberships follow their covariates. */
double ab_visits_beside(const ab_visit_data *data, ab_visit_param *par, const ab_visit_work *work);

/* The step of a pass for the slopes of attribute j. */
void ab_visits_climb_slopes(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                            int thread, int j);

#endif
