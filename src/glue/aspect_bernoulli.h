/* glue/aspect_bernoulli.h: shared by the entry points of the aspect Bernoulli model and its
 * variants. */
#ifndef MC_GLUE_ASPECT_BERNOULLI_H
#define MC_GLUE_ASPECT_BERNOULLI_H

#include "aspect_bernoulli/vb.h"
#include "glue/glue.h"

/* Reads a k x 3 prior for ab_new_prior(); all values must be >= 0, or > 0 if `open`. */
ab_prior glue_ab_prior(SEXP prior, int k, bool open);

#endif
