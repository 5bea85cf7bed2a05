/* check_prior.h: priors of the aspect Bernoulli model for the tests of kernels. */
#ifndef MC_CHECK_PRIOR_H
#define MC_CHECK_PRIOR_H

#include "aspect_bernoulli/prior.h"
#include "check.h"

/* The same pseudo-counts for every component. */
static inline ab_prior alike(int k, double one, double zero, double membership) {
  double *counts = exact(3 * (ptrdiff_t) k);
  for (int c = 0; c < k; c++) {
    counts[num_at(c, 0, k)] = one;
    counts[num_at(c, 1, k)] = zero;
    counts[num_at(c, 2, k)] = membership;
  }
  return ab_new_prior(counts, k);
}

/* Different pseudo-counts for each component. */
static inline ab_prior unlike(int k) {
  double *counts = exact(3 * (ptrdiff_t) k);
  for (int i = 0; i < 3 * k; i++) counts[i] = i % 4 == 2 ? 0 : check_uniform();
  return ab_new_prior(counts, k);
}

#endif
