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

#endif
