/* glue/aspect_bernoulli.h: what the entry points of the aspect Bernoulli model and its kin share. */
#ifndef MC_GLUE_ASPECT_BERNOULLI_H
#define MC_GLUE_ASPECT_BERNOULLI_H

#include "aspect_bernoulli/vb.h"
#include "glue/glue.h"

/* k x 3, as ab_new_prior() takes it; every number at least 0 or, where open, above. */
ab_prior glue_ab_prior(SEXP prior, int k, bool open);

#endif
